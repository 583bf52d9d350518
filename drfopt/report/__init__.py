"""Pictures of allocations, for who has matplotlib (``pip install "drfopt[plot]"``)."""

from typing import Any

__all__ = ["plot_comparison", "plot_shares"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import plots

        return getattr(plots, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
