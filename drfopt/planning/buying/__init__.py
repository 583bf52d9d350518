"""The cheapest purchase that meets targets: a search over purchases, linear programs that bound it, and judgement."""

from .judging import Trial
from .search import Search

__all__ = ["Search", "Trial"]
