"""Questions about machines at scale: complete leximin and CEEI on a thousand users and more."""

from dataclasses import dataclass, replace

import numpy as np

from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

from . import peers
from .families import cluster, regions, uneven
from .measure import Bench, Case, Row, Verdict, Way, proven
from .pools import engine_way, levels_of, lowest_level, market, one_lp
from .reference import attempt, off

__all__ = ["Scale", "Uneven", "many_users", "scale"]

FIRST = "one LP, a row a user, no crossover"
"""The ruler: the first program of a chain, where interior point ends."""

MINUTES = 600.0
"""Seconds that the largest cluster may take."""

MARKETS = 1_000
"""Users up to which CEEI is asked as well."""

ONE_LP_A_USER, WATER, CVXPY = 300, 1_000, 40
"""Users up to which the peers are asked; each was seen to take more than a minute on the next size."""

SAME = 1e-9
"""Relative distance of levels that are one level."""


@dataclass(frozen=True)
class Scale:
    """A cluster: users, classes, the part of the classes open to a user, or the regions it falls into, nearly."""

    n: int
    k: int
    open_to: float = 0.3
    regions: int = 0

    def build(self) -> Instance:
        """Make it."""
        if self.regions:
            return regions(self.n, self.k, self.regions)
        return cluster(self.n, self.k, limited=False, open_to=self.open_to)

    def __str__(self) -> str:
        where = f"{self.regions} regions" if self.regions else f"{self.open_to:.0%} open"
        return f"{self.n:,} x {self.k}, {where}"


def scale(bench: Bench, size: Scale) -> list[Row]:
    """Measure complete DRF, and CEEI where it is not too large."""
    rows = bench.measure("machines-at-scale", _leximin(bench, size))
    return rows + bench.measure("machines-at-scale", _market(bench, size)) if size.n <= MARKETS else rows


@dataclass(frozen=True)
class Uneven:
    """A cluster of several levels: users, classes, part of the classes open to a user; capacities maybe log-normal."""

    n: int
    k: int
    open_to: float = 1.0
    scattered: bool = False
    limited: bool = False

    def build(self) -> Instance:
        """Make it."""
        return uneven(self.n, self.k, open_to=self.open_to, scattered=self.scattered, limited=self.limited)

    def __str__(self) -> str:
        scattered = ", scattered capacities" if self.scattered else ""
        limited = ", half with limits" if self.limited else ""
        return f"{self.n:,} x {self.k}, {self.open_to:.0%} open{scattered}{limited}"


OTHERS, RULER, DECOMPOSED = 1_000, 10_000, 40
"""Users up to which conic solvers are asked, HiGHS for one program, and dede: beyond, minutes and gigabytes."""

WHY = "it takes minutes"

OWN_PYTHON = "dede 0.1.6 in a Python of its own, whose start and ray's are in the seconds; it ended by its own rule"

CONIC = {"one LP, cvxpy + Clarabel": "CLARABEL", "one LP, cvxpy + SCS": "SCS"}
"""The same program by conic solvers."""


def many_users(bench: Bench, size: Uneven | Scale) -> list[Row]:
    """Measure complete DRF with its proof against one program of HiGHS, and CEEI against conic solvers."""
    bench = replace(bench, limit=MINUTES)
    levels = solve(size.build(), "drf").levels if size.n <= OTHERS else None
    ruler = one_lp(FIRST, MINUTES, levels)
    leximin = _case(
        "drf",
        size,
        "complete leximin, proven",
        "the first LP",
        _chain("auto", None),
        replace(ruler, largest=RULER, why=WHY),
        *(_conic(label, solver, levels, OTHERS) for label, solver in CONIC.items()),
        _conic("one LP, dede", "dede", levels, DECOMPOSED, OWN_PYTHON),
    )
    tasks = attempt(lambda: solve(size.build(), "ceei", engine="barrier").tasks) if size.n <= OTHERS else None
    conic = (market("CLARABEL", "yardstick", MINUTES, tasks), market("SCS", "peer", MINUTES, tasks))
    nash = _case(
        "ceei",
        size,
        "the interior point, to 32 digits",
        "cvxpy + Clarabel",
        engine_way("ceei", "barrier", MINUTES),
        *(replace(way, largest=OTHERS, why=WHY) for way in conic),
    )
    return bench.measure("many-users-on-machines", leximin) + bench.measure("many-users-on-machines", nash)


def _conic(label: str, solver: str, levels: np.ndarray | None, largest: int, note: str = "") -> Way:
    way = lowest_level(label, "peer", lambda instance: peers.lowest_level(instance, solver, MINUTES), levels, note)
    return replace(way, largest=largest, why=WHY)


def _case(group: str, size: Scale | Uneven, reference: str, yardstick: str, *ways: Way) -> Case:
    """Return what is measured of one cluster under one policy."""
    return Case(group, str(size), size.n, size.build, ways, reference, yardstick)


def _chain(engine: str, levels: np.ndarray | None) -> Way:
    return Way(
        f"drfopt {engine}",
        "drfopt",
        lambda instance: solve(instance, "drf", engine=engine, time_limit=MINUTES),
        lambda instance, allocation: _verdict(allocation, levels),
    )


def _leximin(bench: Bench, size: Scale) -> Case:
    slow = size.n <= ONE_LP_A_USER
    levels = attempt(lambda: peers.one_lp_a_user(size.build())) if slow else None
    return _case(
        "drf",
        size,
        "the chain with one LP a user",
        "the first LP",
        _chain("interior-chain", levels),
        _chain("lp-chain", levels),
        one_lp(FIRST, MINUTES, levels),
        levels_of("one LP a user", peers.one_lp_a_user, None, ONE_LP_A_USER, "thousands of programs"),
        levels_of(
            "water-filling, one MILP a level",
            lambda instance: peers.water_filling(instance, bench.limit),
            levels,
            WATER,
            "a MILP takes minutes",
        ),
        levels_of(
            "cvxpy-leximin saturation",
            lambda instance: peers.leximin_cvxpy(instance, "saturation"),
            levels,
            CVXPY,
            "it takes minutes",
        ),
    )


def _verdict(allocation: Allocation, levels: np.ndarray | None) -> Verdict:
    reached = np.sort([link.level for link in allocation.certificate.evidence.rounds])
    count = 1 + int((np.diff(reached) > SAME * reached[1:]).sum())
    several = int((np.count_nonzero(allocation.placement, axis=1) > 1).sum())
    note = f"levels: {count}, by {allocation.engine}; users on several classes: {several}"
    return proven(allocation.certificate, off(allocation.levels, levels), note)


def _market(bench: Bench, size: Scale) -> Case:
    tasks = attempt(lambda: solve(size.build(), "ceei", engine="conic").tasks)
    return _case(
        "ceei",
        size,
        "the conic engine, polished",
        "cvxpy + Clarabel",
        engine_way("ceei", "barrier", MINUTES, lambda allocation: off(allocation.tasks, tasks)),
        market("CLARABEL", "yardstick", MINUTES, tasks),
        market("SCS", "peer", MINUTES, tasks),
    )
