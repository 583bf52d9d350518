"""``drfopt new``: an instance file to begin with."""

from . import options
from .output import check, deliver

__all__ = ["new"]


def new(output: options.OutputFile = None) -> None:
    """Print a commented instance file that solves as it is.

    Example: drfopt new -o cluster.toml
    """
    if output is not None:
        check(output)
    from ..writers import template

    deliver(template.text(), output)
