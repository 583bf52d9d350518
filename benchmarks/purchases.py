"""Questions about purchases and moves: the openb trace with five classes for sale, and made clusters to tidy up."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drfopt.io.readers.asking import read
from drfopt.model.instance import Instance, Machine
from drfopt.planning.changes import changed
from drfopt.planning.rebalancing.current import Current
from drfopt.planning.rebalancing.rebalancing import Rebalancing, rebalance
from drfopt.planning.sizing.purchase import Purchase, size

from .clusters import FILES, data_folder
from .measure import Absent, Bench, Case, Row, Verdict, Way

__all__ = ["COSTS", "Order", "Tidy", "moves", "openb_purchase"]

COSTS = {
    "V100M32-96cpu-768GiB-8gpu": 150,
    "G2-96cpu-384GiB-8gpu": 60,
    "T4-96cpu-384GiB-4gpu": 40,
    "V100M16-32cpu-128GiB-4gpu": 70,
    "96cpu-512GiB": 15,
}
"""Five classes of the trace and invented costs, in thousands a machine."""

METHODS = 120.0
"""In which the cheapest purchase is to be proven, or its gap known."""


@dataclass(frozen=True)
class Order:
    """A target for the openb trace with so many percent more pods, bought besides what is there or from nothing."""

    target: str
    growth: int = 0
    from_nothing: bool = False
    seconds: float = METHODS


def openb_purchase(bench: Bench, order: Order) -> list[Row]:
    """Measure a purchase for the openb trace, read before the clock starts."""
    files = [data_folder() / "openb" / name for name in FILES]
    what = "from nothing" if order.from_nothing else "besides what is there"
    name = f"{order.target}, {order.growth:+}% pods, {what}"
    here = all(file.is_file() for file in files)

    def build() -> Instance | None:
        return grown(read("openb", files).instance, order.growth) if here else None

    def run(instance: Instance | None) -> Purchase:
        if instance is None:
            raise Absent("the trace is not there: set DRFOPT_DATA to the folder that has openb/")
        return size(instance, order.target, COSTS, from_nothing=order.from_nothing, time_limit=order.seconds)

    def judge(instance: Instance, found: Purchase) -> Verdict:
        bought = ", ".join(f"{int(count)} {machine}" for machine, count in found.bought.items() if count)
        met = all(target.reached(found.allocation) >= target.least for target in found.targets)
        note = f"cost {found.cost}: {bought or 'nothing'}; {found.judged} judged, {found.parts} programs"
        return Verdict(proof="valid" if met and found.status == "optimal" else "feasible", gap=found.gap, note=note)

    case = Case("size", name, 457, build, (Way("size", "drfopt", run, judge),), yardstick="")
    return bench.measure("purchases", case)


def grown(instance: Instance, percent: int) -> Instance:
    """Return the instance with so many percent more tasks of everybody, rounded up."""
    limits = zip(instance.users, instance.exact_limits, strict=True)
    more = [f"set-limit {user}={math.ceil(most * (100 + percent) / 100)}" for user, most in limits if most is not None]
    return changed(instance, more) if percent else instance


@dataclass(frozen=True)
class Tidy:
    """A made cluster filled at random: users, machines of two classes, and the most moves, None for the optimum."""

    n: int
    machines: int
    moves: int | None = None


def moves(bench: Bench, tidy: Tidy) -> list[Row]:
    """Measure the fewest moves to the optimum, or the fairest with a few, class by class and machine by machine."""
    ways = tuple(Way(name, "drfopt", _rebalanced(bench, tidy, named), _judged) for name, named in PLACES.items())
    asked = "to the optimum" if tidy.moves is None else f"at most {tidy.moves} moves"
    case = Case("rebalance", f"{tidy.n} users, {tidy.machines} machines, {asked}", tidy.n, lambda: made(tidy), ways)
    return bench.measure("moves", case)


PLACES = {"classes": False, "machines": True}


def made(tidy: Tidy) -> Instance:
    """Return the same cluster every time."""
    random = np.random.default_rng([2026, tidy.n, tidy.machines])
    half = tidy.machines // 2
    return Instance(
        random.integers(1, 9, size=(tidy.n, 2)),
        machines=[Machine("small", [16, 16], half), Machine("large", [32, 24], tidy.machines - half)],
    )


def today(instance: Instance, named: bool) -> Current:
    """Return what runs on every machine, or in every class, when machines are filled at random, first come first."""
    random = np.random.default_rng(7)
    places = [(k, q) for k, machine in enumerate(instance.machines or ()) for q in range(machine.count)]
    tasks = np.zeros((instance.n, len(places)), dtype=np.int64)
    for p, (k, _) in enumerate(places):
        left = instance.machine_capacity[k].copy()
        for i in random.permutation(np.repeat(np.arange(instance.n), 2)):
            if (instance.demands[i] <= left).all():
                left -= instance.demands[i]
                tasks[i, p] += 1
    classes = [k for k, _ in places]
    if named:
        names = tuple(f"{instance.machine_names[k]}-{q}" for k, q in places)
        return Current(names, tuple(classes), tasks, machines=True)
    together = np.stack([tasks[:, np.array(classes) == k].sum(axis=1) for k in range(instance.k)], axis=1)
    return Current(instance.machine_names, tuple(range(instance.k)), together)


def _rebalanced(bench: Bench, tidy: Tidy, named: bool) -> Callable[[Instance], Rebalancing]:
    return lambda instance: rebalance(instance, today(instance, named), moves=tidy.moves, time_limit=bench.limit)


def _judged(instance: Instance, found: Rebalancing) -> Verdict:
    counted = f"{found.count('move')} moves, {found.count('evict')} evictions, {found.count('start')} starts"
    lowest = f"lowest level {float(min(found.before)):.4g} to {float(min(found.levels)):.4g}"
    proven = f"{found.decided} of {instance.n} levels proven" if not found.fairest else "levels proven"
    few = "" if found.fewest else ", fewer moves may do"
    return Verdict(
        proof="valid" if found.status == "optimal" else "feasible", note=f"{counted}; {lowest}; {proven}{few}"
    )
