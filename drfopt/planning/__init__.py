"""Questions of whoever plans a cluster: why is it so, what would happen if, what is one more unit worth."""

from .changes import Change
from .explain import Explanation, explain
from .price import Prices, price
from .whatif import WhatIf, whatif

__all__ = ["Change", "Explanation", "Prices", "WhatIf", "explain", "price", "whatif"]
