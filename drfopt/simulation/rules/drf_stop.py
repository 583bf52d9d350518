"""DRF as Algorithm 1 is printed: whoever is lowest is served next, and nobody before her, though others' tasks may fit.

Machines are left idle until there is room for her.  Where she is passed over instead (the rule ``drf``) small tasks
take every gap before it can grow large enough for hers, and she stays below her share as long as there are any.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1.
"""

from .drf import Drf

__all__ = ["build"]


class DrfStop(Drf):
    """Serve the lowest weighted dominant share, and nobody before."""

    name = "drf-stop"

    def __init__(self) -> None:
        super().__init__("stop")


def build(argument: str = "") -> DrfStop:
    """Return the rule."""
    return DrfStop()
