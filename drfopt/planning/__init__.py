"""What planners of a cluster ask: why is it so, what if, what is one more unit worth, what to buy, what to move."""

from .changes import Change
from .explain import Explanation, explain
from .price import price
from .prices import Prices
from .rebalance import Rebalancing, rebalance
from .size import Purchase, size
from .whatif import WhatIf, whatif

__all__ = [
    "Change",
    "Explanation",
    "Prices",
    "Purchase",
    "Rebalancing",
    "WhatIf",
    "explain",
    "price",
    "rebalance",
    "size",
    "whatif",
]
