"""The program ``drfopt`` and its commands."""

from typing import Annotated

import typer

from .audit import audit, search
from .compare import compare, crosscheck, verify
from .convert import convert
from .explain import explain, price
from .export import export
from .listing import engines, formats, library, new, policies, schema, theorems
from .output import versions
from .report import report
from .simulate import rules, scenarios, simulate
from .size import rebalance, size
from .solve import schedule, solve
from .status import Command, Program
from .whatif import sweep, whatif

__all__ = ["app", "program"]

app = typer.Typer(
    cls=Program,
    invoke_without_command=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(versions())
        raise typer.Exit


@app.callback()
def drfopt(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Exact fair division of a cluster, with what is proven of it beside every answer.

    Example: drfopt solve nsdi2011
    """
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


for command in (
    solve,
    compare,
    crosscheck,
    verify,
    audit,
    search,
    theorems,
    schedule,
    simulate,
    explain,
    whatif,
    price,
    sweep,
    size,
    rebalance,
    report,
    convert,
    export,
    new,
    engines,
    policies,
    library,
    formats,
    rules,
    scenarios,
    schema,
):
    app.command(cls=Command)(command)

program = typer.main.get_command(app)
"""Of `app`, made once: calling `app` itself reads the options of every command again each time."""
