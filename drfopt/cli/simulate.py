"""``drfopt simulate``: schedulers at work, with tasks that end and users that come and go; and what there is.

``drfopt scenarios``, ``drfopt rules``: the scenarios and the schedulers that it knows.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.errors import InstanceError, suggestion
from ..base.tables import Column, Sheet
from . import options
from .output import Output, check
from .status import USAGE_ERROR
from .working import working

if TYPE_CHECKING:
    from ..simulation import Scenario

__all__ = ["rules", "scenarios", "simulate"]


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

    columns = tuple(map(Column, ("rule", "what it is", "looks at", "source")))
    rows: list[tuple] = [(row.name, row.title, ", ".join(row.regards), row.source) for row in RULES]
    out.write(Sheet("rules", columns, rows), rows=len(rows))


def _rules(incomplete: str) -> list[str]:
    from ..simulation.rules.table import RULES

    return options.matching(incomplete, (row.name for row in RULES))


def _exponents(text: str | None) -> dict[str, float]:
    """Return what ``memory=4,cpu=1`` says."""
    found = {}
    for part in (text or "").split(","):
        name, sign, value = part.partition("=")
        if not part.strip():
            continue
        if name.strip() in found:
            raise USAGE_ERROR(f"--slowdown: {name.strip()!r} is given twice: give it once")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign or not value.isascii():
            raise USAGE_ERROR(f"--slowdown has {part.strip()!r}: write resources and exponents, such as memory=4,cpu=1")
    return found


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise typer.BadParameter(f"{text!r} is not a number of seconds")
    return seconds


def _grace(text: str) -> float:
    if not (seconds := _moment(text)):
        raise typer.BadParameter("0 is no time to end in: write a positive number of seconds")
    return seconds


def simulate(
    scenario: ScenarioName,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            "-r",
            metavar="A,B",
            help="One rule or several (see 'drfopt rules'), separated by commas or given again.",
            autocompletion=_rules,
            show_default="drf",
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option("--until", metavar="S", parser=_moment, help="Stop at S seconds.", show_default="scenario"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all that is drawn.")] = 0,
    replications: Annotated[
        int, typer.Option("--replications", metavar="N", min=1, help="Drawings, the same under every rule.")
    ] = 1,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="Measure the distance from the fair optimum of each sample.")
    ] = False,
    slowdown: Annotated[
        str | None,
        typer.Option(
            "--slowdown",
            metavar="R=E,...",
            help="Exponents by which a machine slows down when a resource is oversubscribed.",
            show_default="1 each",
        ),
    ] = None,
    grace: Annotated[
        float | None,
        options.valued(
            "--preempt",
            "S",
            "Revoke tasks for users below their share (under rules of groups the dominant one), S seconds after a "
            "warning; not under fifo and dynamic.",
            parser=_grace,
        ),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="S",
            parser=_moment,
            help="Seconds between samples; 0 for every event.",
            show_default="every event, of many about 500",
        ),
    ] = None,
    records: Annotated[
        Path | None,
        options.valued("--records", "FILE", "Write a row a job, as .csv or .parquet."),
    ] = None,
    timeline: Annotated[
        Path | None,
        options.valued("--timeline", "FILE", "Write a row a sample and user, as .csv or .parquet."),
    ] = None,
    plot: Annotated[
        Path | None,
        options.valued("--plot", "FILE", "Draw shares over time, with --optimum distances too: .png, .svg, .pdf."),
    ] = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Let schedulers work: tasks end, users and machines come and go.

    Example: drfopt simulate two-users --rule drf,fifo
    """
    out = Output.from_options(format, json, output)
    names = options.listed(rule, "drf", "--rule", "rule")
    told, exponents = ",".join(names), _exponents(slowdown)
    found = read(scenario)
    from ..simulation import Slowdown, simulate_each
    from ..simulation.preemption import Preemption
    from ..simulation.records import checked_suffix, job_table, timeline_table, write_table
    from ..simulation.rules.table import rule_named

    if grace is not None and not any(rule_named(name).revokes for name in names):
        raise USAGE_ERROR(f"--preempt is for users below their share, of which {told} knows none: leave it out")
    if exponents and not any(rule_named(name).oversubscribes for name in names):
        raise USAGE_ERROR(
            f"--slowdown is of machines that are overloaded, which {told} does to none: leave it out, or simulate "
            "slots:K or single:RESOURCE as well"
        )

    for path in (records, timeline):
        if path is not None:
            checked_suffix(path)
            check(path)
    if plot is not None:
        from ..reporting.charts import checked_picture

        check(checked_picture(plot))
    with working(f"simulating {told}"):
        trials = simulate_each(
            found,
            names,
            replications=replications,
            seed=seed,
            until=until,
            every=every,
            slowdown=Slowdown(exponents),
            preemption=None if grace is None else Preemption(grace),
            optimum=optimum,
            jobs=jobs,
            dask=dask,
        )
        runs = [run for row in trials.runs for run in row]
        if records is not None:
            write_table(records, job_table(runs))
        if timeline is not None:
            write_table(timeline, timeline_table(runs))
        if plot is not None:
            from ..reporting.simulations import save_runs

            save_runs([row[0] for row in trials.runs], plot, optimum)
    alone = len(runs) == 1 and not optimum
    result = runs[0] if alone else trials
    out.write(result.sheet(), result.to_dict)
