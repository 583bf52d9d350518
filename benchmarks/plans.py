"""Questions about planning: prices of every unit of a cluster, and what-ifs, beside dividing again and again.

And what the planner's commands take as a whole, on a cluster read from its file.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from drfopt import Prices, WhatIf, price, what_if
from drfopt.base.errors import DrfoptError
from drfopt.io.readers.asking import read
from drfopt.model.instance import Instance
from drfopt.planning.pricing.units import Unit, grown, units_of
from drfopt.solving.allocating import solve

from .clusters import FILES, data_folder
from .measure import Absent, Bench, Case, Failure, ProcessorTime, Row, Verdict, Way, proven
from .organisations import departments, teams

__all__ = ["commands", "prices", "whatifs"]

STEP = 1e-3
"""Part of a unit's amount by which a finite difference goes up and down."""

LOOKED_AT = 12
"""Units whose prediction is held against dividing again."""

CHANGES = ["add 10*T4-96cpu-384GiB-4gpu", "remove 50*G2-96cpu-384GiB-8gpu"]
"""What is asked of openb: ten machines more of what is scarce, fifty less of what is not."""

FOR_SALE = ("T4", "G3", "G2", "V100")
"""What names of machine classes that `size` may buy begin with."""

LAID_OVER: dict[str, Callable[[Instance], Instance]] = {
    "as it is": lambda cluster: cluster,
    "ten departments": departments,
    "45 teams": teams,
}
"""What openb is asked as: its users by themselves, in groups, or as the task types of teams."""


def commands(bench: Bench, laid: str) -> list[Row]:
    """Measure the planner's commands on openb with something laid over it, as processes of their own."""
    name = "planning-commands"
    files = [data_folder() / "openb" / file for file in FILES]
    if not all(file.is_file() for file in files):
        return bench.measure(name, Case("openb", laid, 0, lambda: None, (Way("openb", "drfopt", _missing),)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openb.toml"
        cluster = LAID_OVER[laid](read("openb", files).instance)
        cluster.save(path)
        costs = ",".join(f"{name}=30" for name in cluster.machine_names if name.startswith(FOR_SALE))
        bought, sold = (change.split() for change in CHANGES)
        asked = {
            "explain": [],
            "whatif": [f"--{bought[0]}", bought[1], f"--{sold[0]}", sold[1]],
            "price": [],
            "report": ["-o", str(Path(folder) / "page.html")],
            "size": ["--target", "*>=60%", "--cost", costs],
        }
        reading = [sys.executable, "-c", "import sys, drfopt; drfopt.Instance.load(sys.argv[1])", str(path)]
        ways = [Way("reading", "yardstick", lambda _: _cpu(reading, bench.limit))]
        for command, words in asked.items():
            line = [sys.executable, "-m", "drfopt", command, str(path), *words]
            ways.append(Way(command, "drfopt", lambda _, line=line: _cpu(line, bench.limit)))
        case = Case("openb", laid, cluster.n, lambda: cluster, tuple(ways), yardstick="reading")
        return bench.measure(name, case)


def _cpu(words: list[str], seconds: float) -> ProcessorTime:
    """Run a program to its end; return the seconds of processor time it took."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begun = spent()
    done = subprocess.run(words, capture_output=True, text=True, timeout=10 * seconds, check=False)
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    return ProcessorTime(spent() - begun)


def prices(bench: Bench, policy: str) -> list[Row]:
    """Measure the prices of every resource, class and cell of openb, on both sides."""
    return bench.measure("price-openb", _case(f"price, {policy}", _price_ways(policy), "one solve a side and unit"))


def whatifs(bench: Bench, policy: str) -> list[Row]:
    """Measure before and after on openb."""
    ways = (
        Way("two solves", "yardstick", lambda i: [solve(i, policy), solve(i, policy)]),
        Way("whatif", "drfopt", lambda i: what_if(i, CHANGES, policy), _both_proven),
        Way("whatif, in fractions", "drfopt", lambda i: what_if(i, CHANGES, policy, exact=True), _both_proven),
    )
    return bench.measure(
        "whatif-openb", _case(f"whatif, {policy}", ways if policy == "drf" else ways[:2], "two solves")
    )


def _case(group: str, ways: tuple[Way, ...], yardstick: str) -> Case:
    files = [data_folder() / "openb" / name for name in FILES]
    if not all(file.is_file() for file in files):
        return Case(group, "openb", 0, lambda: None, (Way("openb", "drfopt", _missing),))
    whole = read("openb", files).instance
    reference = "dividing again" if group.startswith("price") else ""
    return Case(group, "openb", whole.n, lambda: whole, ways, reference, yardstick=yardstick)


def _missing(instance: None) -> None:
    raise Absent("the trace is not there: set DRFOPT_DATA to the folder that has openb/")


def _price_ways(policy: str) -> tuple[Way, ...]:
    return (
        Way("finite differences", "yardstick", lambda i: [_differences(i, policy, unit) for unit in units_of(i)]),
        Way("price", "drfopt", lambda i: price(i, policy), _predicted),
    )


def _differences(instance: Instance, policy: str, unit: Unit) -> list[np.ndarray]:
    """Return the tasks with a little more and a little less of a unit, where tasks then fit as they do now."""
    found = []
    for step in (STEP, -STEP):
        amount = unit.now * (1 + step)
        if unit.least <= amount < unit.most:
            cluster, times = grown(instance, unit, step * unit.now)
            found.append(solve(cluster, policy).tasks / times)
    return found


def _predicted(instance: Instance, found: Prices) -> Verdict:
    """Hold the tasks predicted for a little more of the units that matter against dividing again."""
    mattering = [worth for worth in found.units if worth.more is not None and worth.matters][:LOOKED_AT]
    off, curved = 0.0, found.policy == "ceei"
    for worth in mattering:
        if worth.more is None or worth.more.tasks is None:
            continue
        end = worth.now * 1.1 if worth.more.until is None else min(worth.now * 1.1, worth.more.until)
        step = (end - worth.now) / 2
        if worth.kind == "machine":
            step = round(step * 1000) / 1000
        if curved:
            # To the first order only: a small step.
            step = STEP * worth.now
        cluster, times = grown(instance, worth.unit, step)
        truth = solve(cluster, found.policy).tasks / times
        said = found.allocation.tasks + step * worth.more.tasks if curved else worth.tasks_at(worth.now + step)
        off = max(off, float((np.abs(said - truth) / np.maximum(truth, 1.0)).max()))
    if not mattering:
        raise DrfoptError("no unit matters: there is nothing to predict")
    note = f"{len(found.units)} units, {len(mattering)} looked at" + (", first order" if curved else "")
    return Verdict(error=off, proof="valid", note=note)


def _both_proven(instance: Instance, found: WhatIf) -> Verdict:
    verdict = proven(found.after.certificate)
    valid = bool(found.before.certificate.valid and found.after.certificate.valid)
    note = f"{len(found.winners)} win, {len(found.losers)} lose"
    return Verdict(verdict.error, "valid" if valid else "invalid", verdict.violation, verdict.gap, note)
