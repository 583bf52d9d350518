"""``drfopt new``: an instance file to begin with, or a scenario."""

from typing import Annotated

import typer

from . import options
from .output import check, deliver

__all__ = ["new"]


def new(
    scenario: Annotated[bool, typer.Option("--scenario", help="A scenario to simulate instead.")] = False,
    output: options.OutputFile = None,
) -> None:
    """Print a commented instance file that solves as it is.

    Example: drfopt new -o cluster.toml
    """
    if output is not None:
        check(output)
    from ..io.native import template
    from ..simulation import scenario_files

    deliver(scenario_files.template() if scenario else template.text(), output)
