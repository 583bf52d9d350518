"""From what the user typed for SCENARIO to the scenario; and ``drfopt scenarios``, ``drfopt rules``: what there is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.errors import InstanceError, suggestion
from ..base.tables import Column, Sheet
from . import options
from .output import Output
from .working import working

if TYPE_CHECKING:
    from ..simulation import Scenario

__all__ = ["ScenarioName", "read", "rules", "scenarios"]


def _names(incomplete: str) -> list[str]:
    from ..simulation.scenario_files import names

    return options.matching(incomplete, names())


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A file, - for standard input, or the name of a library scenario (see 'drfopt scenarios').",
        autocompletion=_names,
        show_default=False,
    ),
]


def read(text: str) -> "Scenario":
    """Return the scenario: ``-`` is standard input, a path that exists wins over a library name.

    Raises
    ------
    InstanceError
        When it is neither, with the nearest name, or when the file is at fault.
    """
    from ..simulation import Scenario
    from ..simulation.scenario_files import names

    if text == "-" or (text and Path(text).exists()):
        with working(f"reading {text}"):
            return Scenario.load(text)
    if text in names():
        return Scenario.library(text)
    near = suggestion(text, names())
    raise InstanceError(f"{text!r} is neither a file nor a library scenario{near} (see 'drfopt scenarios')")


def scenarios(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the scenarios that are shipped with the package.

    Example: drfopt scenarios
    """
    out = Output.from_options(format, json, output)
    from ..simulation.scenario_files import library, names

    columns = (
        Column("scenario"),
        Column("users", number=True),
        Column("machines", number=True),
        Column("resources"),
        Column("title"),
        Column("source"),
    )
    rows: list[tuple] = []
    for name in names():
        found = library(name)
        machines = sum(machine.count for machine in found.machines)
        rows.append((name, len(found.users), machines, ", ".join(found.resources), found.name, found.source))
    out.write(Sheet("scenarios", columns, rows), rows=len(rows))


def rules(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the rules by which 'drfopt simulate' schedules, and where each comes from.

    Example: drfopt rules
    """
    out = Output.from_options(format, json, output)
    from ..simulation.rules.table import RULES

    columns = tuple(map(Column, ("rule", "what it is", "source")))
    rows: list[tuple] = [(row.name, row.title, row.source) for row in RULES]
    out.write(Sheet("rules", columns, rows), rows=len(rows))
