"""The cheapest purchase that meets targets: a search over purchases, linear programs that bound it, and judgement."""

from .search import Search, Trial

__all__ = ["Search", "Trial"]
