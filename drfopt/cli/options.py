"""From what the user typed for INSTANCE to the instance.

Arguments and options that several commands share, with their completions.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.errors import InstanceError, suggestion
from ..base.tables import FORMATS
from .status import USAGE_ERROR
from .working import working

__all__ = [
    "COMPARED",
    "CertificateFile",
    "Dask",
    "EngineName",
    "Exact",
    "FormatName",
    "InstanceName",
    "Jobs",
    "Json",
    "OutputFile",
    "PolicyName",
    "PolicyNames",
    "Precision",
    "SolverName",
    "TimeLimit",
    "WholeTasks",
    "library_names",
    "listed",
    "matching",
    "read",
    "title",
    "valued",
]


if TYPE_CHECKING:
    from ..model.instance import Instance


NEIGHBOURS = 1000
"""Files of a folder that are looked at for the nearest name."""


def read(text: str) -> "Instance":
    """Return the instance: ``-`` is standard input, a path that exists wins over a library name.

    Raises
    ------
    InstanceError
        When it is neither, with the nearest name, or when the file is at fault.
    """
    from ..model.instance import Instance

    if text == "-":
        return Instance.load(text)
    if text and Path(text).exists():
        with working(f"reading {text}"):
            return Instance.load(text)
    from ..io.library import names

    known = tuple(names())
    if text in known:
        return Instance.library(text)
    near = suggestion(text, (*known, *_neighbours(text)))
    raise InstanceError(f"{text!r} is neither a file nor a library instance{near} (see 'drfopt library')")


def listed(texts: list[str] | None, usual: str, flag: str, what: str) -> list[str]:
    """Return what is separated by commas, or given one after the other; `usual` where nothing was asked for.

    Raises
    ------
    USAGE_ERROR
        Where that is nothing.
    """
    found = [part.strip() for text in texts or [usual] for part in text.split(",") if part.strip()]
    if not found:
        raise USAGE_ERROR(f"{flag} names no {what}: write for example {flag} {usual}")
    return found


def written(context: typer.Context, name: str) -> bool:
    """Say whether a parameter stands on the command line, whatever its value."""
    said = context.get_parameter_source(name)
    return said is not None and said.name == "COMMANDLINE"


def valued(flag: str, metavar: str, help: str, *short: str, **rest: Any) -> Any:
    """Return an option that takes a value, and has no default that could be shown."""
    return typer.Option(flag, *short, metavar=metavar, help=help, show_default=False, **rest)


def title(instance: "Instance", text: str) -> str:
    """Return the instance's name, or the stem of its file when it has none."""
    return instance.name or ("stdin" if text == "-" else Path(text).stem)


def _neighbours(text: str) -> list[str]:
    from ..io.text.files import FORMATS as SYNTAXES

    path = Path(text)
    try:
        beside = [entry for entry, _ in zip(path.parent.iterdir(), range(NEIGHBOURS), strict=False)]
    except OSError:
        return []
    return [str(entry) for entry in beside if entry.is_file() and entry.suffix.lower() in SYNTAXES]


def matching(prefix: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with what was typed so far."""
    return [name for name in names if name.startswith(prefix)]


def library_names(incomplete: str) -> list[str]:
    """Return the library instances that begin with what was typed so far."""
    from ..io.library import names

    return matching(incomplete, names())


def _policies(incomplete: str) -> list[str]:
    from ..model.policies import POLICIES

    # A name in capitals stands for an argument: the shell completes what comes before it.
    return matching(incomplete, (row.name.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for row in POLICIES))


def _engines(incomplete: str) -> list[str]:
    from ..engines.registry import ENGINES

    return matching(incomplete, ("auto", *(engine.name for engine in ENGINES)))


def _solvers(incomplete: str) -> list[str]:
    from ..base.solvers.table import SOLVERS

    return matching(incomplete, (solver.name for solver in SOLVERS))


def _formats(incomplete: str) -> list[str]:
    return matching(incomplete, FORMATS)


def _known_format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(FORMATS)}{suggestion(name, FORMATS)}")
    return name


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise typer.BadParameter(f"{text!r} is not a positive number of seconds")
    return seconds


def _processes(text: str) -> int:
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is not a number of processes, 1 or more")
    return int(text)


def _file(path: Path | None) -> Path | None:
    return None if path is not None and str(path) == "-" else path


InstanceName = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="A file, - for standard input, or the name of a library instance (see 'drfopt library').",
        autocompletion=library_names,
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        "-p",
        metavar="POLICY",
        help="A policy (see 'drfopt policies'), or a *.py file.",
        autocompletion=_policies,
    ),
]
ProvenPolicy = Annotated[
    str,
    typer.Option(
        "--policy",
        "-p",
        metavar="POLICY",
        help="A policy (see 'drfopt policies') of which this is known; others are refused.",
        autocompletion=_policies,
    ),
]
COMPARED = "drf,asset,ceei"
"""Policies that are put side by side where none is named."""

PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        "--policies", "-p", metavar="A,B,C", help="Policies, separated by commas or given again.", show_default=COMPARED
    ),
]
WholeTasks = Annotated[bool, typer.Option("--integer", help="Whole tasks instead of divisible ones.")]
EngineName = Annotated[
    str,
    typer.Option("--engine", metavar="ENGINE", help="An engine (see 'drfopt engines').", autocompletion=_engines),
]
SolverName = Annotated[
    str,
    typer.Option(
        "--solver",
        metavar="SOLVER",
        help="Who is asked integer programs, with --integer: highs, or through PuLP cbc, gurobi, cplex ...",
        autocompletion=_solvers,
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Compute in fractions and print them.")]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="WIDTH",
        help="Relative width of what --exact can only enclose.",
        show_default="1e-30",
    ),
]
CertificateFile = Annotated[
    Path | None,
    valued(
        "--certificate",
        "FILE",
        "Write the answer and its proof to FILE, for 'drfopt verify' and for whoever does not believe it.",
    ),
]
TimeLimit = Annotated[
    float | None,
    valued("--time-limit", "S", "Stop after S seconds.", parser=_seconds),
]
Jobs = Annotated[
    int | None,
    valued(
        "--jobs",
        "N",
        "Work in N processes; by default 1 for one answer or little work, else a core each.",
        parser=_processes,
    ),
]
Dask = Annotated[
    str | None,
    valued("--dask", "ADDRESS", "Work on a Dask cluster, tcp://host:port."),
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"How to write it: {', '.join(FORMATS)}.",
        callback=_known_format,
        autocompletion=_formats,
        show_default="table, or what FILE ends in",
    ),
]
OutputFile = Annotated[
    Path | None,
    valued(
        "--output",
        "FILE",
        "Write to FILE, whole or not at all; a file that is there is replaced.",
        "-o",
        callback=_file,
    ),
]
