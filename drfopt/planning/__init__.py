"""What planners of a cluster ask: why is it so, what if, what is one more unit worth, what to buy, what to move."""

from .before_and_after import WhatIf, what_if
from .changes import Change
from .explaining.explanation import Explanation, explain
from .pricing.price_table import Prices
from .pricing.unit_price import price
from .rebalancing.rebalancing import Rebalancing, rebalance
from .sizing.purchase import Purchase, size

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
    "what_if",
]
