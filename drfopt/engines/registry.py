"""Engines: one algorithm a file, each a pure function from a `Problem` to an `Answer`, and the table that lists them.

An engine declares what it can take; ``auto`` is the first row of the table that takes the problem.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import EngineError, PolicyError
from ..base.parallel import one_thread
from ..base.registry import Registry
from ..base.solvers.table import DIRECT, SOLVERS
from ..model.instance import Instance
from .problem import Answer, Problem

__all__ = ["ENGINES", "Answer", "Engine", "Problem", "engine_for", "engines_for", "others"]


@dataclass(frozen=True)
class Engine:
    """A row of the table: an algorithm and what it takes.

    Attributes
    ----------
    name, summary : str
    objectives : frozenset of str
        ``leximin``, ``alpha``, ``sum``, ``formulation``.
    clusters : frozenset of str
        ``pool``, ``machines``.
    integer : bool
        Whether it is for whole tasks (otherwise for divisible ones).
    exact : bool
        Whether it computes in rational numbers.
    heuristic : bool
        Whether it does not claim the optimum; the certificate says how near it is.
    largest : int or None
        Columns of its program of whole tasks on machines beyond which ``auto`` passes it over.
    programs : bool
        Whether it is integer programs, so that it matters which solver is asked.
    organised : bool
        Whether it is for instances with guarantees, tiers or groups, which the others know nothing of.
    divides : bool
        Whether it can give parts of the problem to other processes.
    plain : bool
        Whether one that is organised takes task types on machines without such rules as well.
    values : bool
        Whether rules are values of whole tasks to it, so that it takes instances with and without them; groups that
        decide who rises with whom are not.
    unpromised : bool
        Whether it takes rules in which no amounts are promised or forbidden: an order, a tree, excluded resources.
    types : bool
        Whether it takes users with several task types on machines.
    devices : bool
        Whether it takes machines with devices, of which a task has a part of one or whole ones.
    crowded : tuple of int or None
        Pairs (user, class); pairs beyond one for each user, by cell (class, resource); and cells: ``auto`` passes it
        over where there are fewer of the first two or more of the last. One factorisation of the cells is shared by
        all users, and the second says how many rounds ask for it: where users have a choice, many are finished at once.
    most : int or None
        Users beyond whom it is too slow to be asked where another failed, or beside another.
    then : tuple of str
        Engines that are asked, in this order, where this one fails or its answer is not proven.
    """

    name: str
    module: str
    summary: str
    objectives: frozenset[str]
    clusters: frozenset[str]
    integer: bool = False
    exact: bool = False
    heuristic: bool = False
    largest: int | None = None
    programs: bool = False
    organised: bool = False
    plain: bool = False
    values: bool = False
    unpromised: bool = False
    divides: bool = False
    types: bool = False
    devices: bool = True
    crowded: tuple[int, int, int] | None = None
    most: int | None = None
    then: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """What the engine declares, in one line."""
        tasks = "whole tasks" if self.integer else "divisible tasks"
        if "formulation" in self.objectives:
            tasks = "divisible and whole tasks"
        exact = ", in rational numbers" if self.exact else ""
        objectives, clusters = "/".join(sorted(self.objectives)), " and ".join(sorted(self.clusters, reverse=True))
        if self.integer:
            objectives = objectives.replace("alpha", "ceei/alpha")
        found = ", not always the optimum" if self.heuristic else ""
        rules = " under rules of an organisation" if self.organised else ""
        rules = rules or (" under guarantees, tiers and ceilings as well" if self.values else "")
        return f"{objectives} on {clusters}, {tasks}{exact}{found}{rules}"

    def can_take(self, problem: Problem, exact: bool = False) -> bool:
        """Say whether the declarations cover the problem."""
        cluster = "pool" if problem.instance.machines is None else "machines"
        objective = problem.policy.objective
        if objective not in self.objectives or cluster not in self.clusters or self.exact != exact:
            return False
        tasks = objective == "formulation" or self.integer == problem.integer
        if not tasks or (problem.solver != DIRECT and not self.programs):
            return False
        organisation = problem.instance.organisation
        rules = organisation is not None and "organisation" in problem.instance.features
        # A file is asked what it makes of an organisation.
        known = (
            objective == "formulation"
            or (self.organised == rules and not (self.organised and self.integer and _one_group(problem)))
            or (
                self.values
                and organisation is not None
                and not (problem.instance.several_groups and objective == "leximin")
            )
            or (self.unpromised and organisation is not None and not organisation.amounts)
            or (self.plain and problem.instance.type_table is not None)
        )
        # Divisible tasks of several types in a pool are all alike; whole ones are not.
        several = problem.instance.task_types if problem.integer else problem.instance.type_table
        alike = self.types or several is None
        alike = alike and (self.devices or not problem.instance.has_devices)
        return known and alike

    def solve(self, problem: Problem) -> Answer:
        """Run the algorithm; its module is imported now, and its solver with it."""
        if problem.integer:
            _countable(problem.instance)
        run: Callable[[Problem], Answer] = ENGINES.implementation(self)
        with one_thread():
            return run(problem)


def _countable(instance: Instance) -> None:
    """Refuse whole tasks of which somebody could run more than an integer of 64 bits counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(instance.demands > 0, instance.capacity / instance.demands, np.inf).min(axis=1, initial=np.inf)
    most = np.where(instance.unplaced(integer=True), 0, np.minimum(alone, instance.whole_limits))
    if (most >= UNCOUNTABLE).any():
        i = int(most.argmax())
        raise PolicyError(
            f"user {instance.users[i]!r} could run about {most[i]:.0e} tasks, more than can be counted: give "
            "it a limit, or demands in larger units"
        )


UNCOUNTABLE = float(2**63)
"""Whole tasks from which on an integer of 64 bits does not hold them."""

UNLIKE = 0.25
"""Part of those pairs that is enough for an engine where users need different resources: there simplex goes from one
degenerate vertex to the next.  4 for each cell told the quicker way in 16 of 17 sparse clusters of 400 to 3,000 users;
with 3 of them rounds are many and small (1,200 users on 200 classes: 132 rounds, 52 s inside, 15 by simplex), with 7
few and hard (1,500 on 100: ten rounds, 1.6 and 15 s)."""

NEEDED = 0.63
"""Part of the demands that are above 0 below which users need different resources; of linked regions, where simplex
goes on from the round before in a third of the time, it is two thirds."""

POOL = frozenset({"pool"})
MACHINES = frozenset({"machines"})
ANYWHERE = POOL | MACHINES
LEXIMIN, ALPHA, SUM, SERVERS, PATH, FILE = (
    frozenset({word}) for word in ("leximin", "alpha", "sum", "servers", "path", "formulation")
)

ENGINES = Registry(
    Engine(
        "filling",
        "leximin.filling",
        "progressive filling from saturation to saturation",
        LEXIMIN,
        POOL,
        then=("rational",),
    ),
    Engine(
        "interior-chain",
        "leximin.interior_chain",
        "leximin round by round, by an interior point method that factorises the classes only",
        LEXIMIN,
        MACHINES,
        divides=True,
        types=True,
        crowded=(1_000, 16, 4_000),
        then=("lp-chain", "rational-chain"),
    ),
    Engine(
        "lp-chain",
        "leximin.lp_chain",
        "leximin by linear programs over HiGHS; duals tell who is finished",
        LEXIMIN,
        ANYWHERE,
        divides=True,
        types=True,
        then=("rational-chain", "interior-chain"),
    ),
    Engine(
        "newton",
        "nash.newton",
        "Newton's method on the prices, in a few passes over the users",
        ALPHA,
        POOL,
        then=("barrier", "decimal-barrier", "enclosure", "conic"),
    ),
    Engine(
        "barrier",
        "nash.barrier",
        "primal-dual interior point that factorises the classes only, then Newton to 32 digits",
        ALPHA,
        ANYWHERE,
        then=("decimal-barrier", "enclosure", "conic"),
    ),
    Engine(
        "decimal-barrier",
        "nash.decimal_barrier",
        "the interior point method in decimals, for users who differ by more than floats",
        ALPHA,
        ANYWHERE,
        most=200,
    ),
    Engine(
        "conic", "nash.conic", "conic program through cvxpy and Clarabel, then the same Newton steps", ALPHA, ANYWHERE
    ),
    Engine(
        "bounded-barrier",
        "nash.bounded",
        "interior point with floors, ceilings of groups and task types, then Newton on what binds",
        ALPHA,
        ANYWHERE,
        organised=True,
        plain=True,
        types=True,
        then=("bounded-enclosure",),
    ),
    Engine("lp", "sums", "one linear program over HiGHS", SUM, ANYWHERE, types=True, then=("rational-lp",)),
    Engine(
        "bounded-lp",
        "sums",
        "the same with guarantees as floors, and ceilings of groups",
        SUM,
        ANYWHERE,
        types=True,
        organised=True,
        then=("bounded-rational-lp",),
    ),
    Engine(
        "rational",
        "leximin.filling:solve_exactly",
        "progressive filling in rational numbers",
        LEXIMIN,
        POOL,
        exact=True,
        most=20_000,
    ),
    Engine(
        "rational-chain",
        "leximin.rational_chain",
        "HiGHS's bases round by round, solved in rational numbers",
        LEXIMIN,
        MACHINES,
        exact=True,
        types=True,
        most=1_000,
    ),
    Engine(
        "rational-lp",
        "sums:solve_exactly",
        "HiGHS's basis, solved in rational numbers",
        SUM,
        ANYWHERE,
        exact=True,
        types=True,
        most=1_000,
    ),
    Engine(
        "bounded-rational-lp",
        "sums:solve_exactly",
        "the same with guarantees as floors, and ceilings of groups",
        SUM,
        ANYWHERE,
        exact=True,
        organised=True,
        types=True,
        most=1_000,
    ),
    Engine(
        "enclosure",
        "nash.enclosure",
        "Newton to many digits, then rational bounds of every user",
        ALPHA,
        ANYWHERE,
        exact=True,
        most=200,
    ),
    Engine(
        "bounded-enclosure",
        "nash.bounded_enclosure",
        "the same with floors, ceilings of groups and task types",
        ALPHA,
        ANYWHERE,
        exact=True,
        organised=True,
        plain=True,
        types=True,
        most=200,
    ),
    Engine(
        "frontier",
        "whole.frontier",
        "all ways to stop the fewest, swept upwards",
        LEXIMIN,
        POOL,
        integer=True,
        values=True,
        types=True,
    ),
    Engine(
        "load-prices",
        "whole.load_prices",
        "machines as a pool whose resources are prices of their loads",
        LEXIMIN,
        MACHINES,
        integer=True,
        values=True,
        types=True,
        devices=False,
    ),
    Engine(
        "leximin-milp",
        "whole.leximin_milp",
        "counting programs over HiGHS, by level",
        LEXIMIN,
        ANYWHERE,
        integer=True,
        largest=20_000,
        programs=True,
        values=True,
        types=True,
    ),
    Engine(
        "group-sweep",
        "whole.frontier:solve_groups",
        "guarantees, tiers and groups of whole tasks: all best ways to choose who stops, swept together",
        LEXIMIN,
        ANYWHERE,
        integer=True,
        organised=True,
        types=True,
    ),
    Engine(
        "rounding",
        "whole.rounding",
        "continuous optimum rounded and packed",
        LEXIMIN,
        MACHINES,
        integer=True,
        heuristic=True,
        values=True,
        types=True,
    ),
    Engine(
        "nash-halves",
        "whole.totals:solve_by_halves",
        "Nash product and alpha fairness by exact search near a bound by prices",
        ALPHA,
        POOL,
        integer=True,
        then=("climbing",),
    ),
    Engine(
        "priced-halves",
        "whole.load_prices:solve_product",
        "the same on machines, as a pool whose resources are prices of their loads",
        ALPHA,
        MACHINES,
        integer=True,
        devices=False,
        then=("nash-milp", "climbing"),
    ),
    Engine(
        "nash-milp",
        "whole.totals:solve_product",
        "Nash product and alpha fairness over HiGHS, utilities by their chords between integers",
        ALPHA,
        ANYWHERE,
        integer=True,
        programs=True,
        values=True,
        types=True,
        then=("climbing",),
    ),
    Engine(
        "climbing",
        "whole.climbing",
        "alpha fairness from the leximin on, by branch and bound on prices",
        ALPHA,
        ANYWHERE,
        integer=True,
        heuristic=True,
        values=True,
        types=True,
    ),
    Engine(
        "sum-milp",
        "whole.totals",
        "one integer program over HiGHS",
        SUM,
        ANYWHERE,
        integer=True,
        programs=True,
        values=True,
        types=True,
    ),
    Engine("path-filling", "leximin.rational_path:solve_rounded", "the same as rational-path, rounded", PATH, POOL),
    Engine(
        "rational-path",
        "leximin.rational_path",
        "filling along a path of bundles, from saturation to saturation, in rational numbers",
        PATH,
        POOL,
        exact=True,
    ),
    Engine(
        "servers",
        "leximin.filling:solve_servers",
        "progressive filling of every machine by itself",
        SERVERS,
        MACHINES,
        unpromised=True,
        then=("rational-servers",),
    ),
    Engine(
        "rational-servers",
        "leximin.filling:solve_servers_exactly",
        "the same in rational numbers",
        SERVERS,
        MACHINES,
        exact=True,
        unpromised=True,
        most=20_000,
    ),
    Engine(
        "whole-servers",
        "whole.each_machine",
        "leximin of whole tasks on one machine of each class by itself",
        SERVERS,
        MACHINES,
        integer=True,
        programs=True,
        unpromised=True,
    ),
    Engine(
        "tree-filling",
        "hierarchy:solve_pool",
        "guarantees, tiers and groups: filling from stop to stop",
        LEXIMIN,
        POOL,
        organised=True,
        then=("rational-tree",),
    ),
    Engine(
        "tree-chain",
        "hierarchy:solve_machines",
        "guarantees, tiers and groups: stops by linear programs",
        LEXIMIN,
        MACHINES,
        types=True,
        organised=True,
        then=("rational-tree",),
    ),
    Engine(
        "rational-tree",
        "hierarchy:solve_exactly",
        "the same in rational numbers",
        LEXIMIN,
        ANYWHERE,
        exact=True,
        organised=True,
        types=True,
        most=1_000,
    ),
    Engine(
        "formulation", "formulation.rounds", "a user's file, solved through cvxpy or PuLP", FILE, ANYWHERE, types=True
    ),
    what="engine",
    error=EngineError,
    package=__package__,
    function="solve",
    also="auto",
)


def engines_for(problem: Problem, exact: bool = False) -> tuple[Engine, ...]:
    """Return every engine that declares to take the problem, the preferred one first."""
    return tuple(engine for engine in ENGINES if engine.can_take(problem, exact))


def engine_for(name: str, problem: Problem, exact: bool = False) -> Engine:
    """Return the engine of that name, or for ``auto`` the first that takes the problem and is not too slow for it.

    Raises
    ------
    EngineError
        When there is none of that name, or it cannot take the problem.
    """
    if isinstance(name, str) and name == "auto":
        # One after the other: a small pool is solved in the time in which all are asked whether they can.
        first = None
        for engine in ENGINES:
            if engine.can_take(problem, exact):
                if _suits(engine, problem):
                    return engine
                first = first or engine
        if first is None:
            others_do = problem.solver != DIRECT and engines_for(replace(problem, solver=DIRECT), exact)
            raise EngineError(f"no engine takes {_what(problem, exact)}{': leave the solver out' if others_do else ''}")
        return first
    chosen = ENGINES.named(name)
    if not chosen.can_take(problem, exact):
        listed = ", ".join(engine.name for engine in engines_for(problem, exact)) or "none"
        raise EngineError(
            f"engine {name!r} takes {chosen.takes}, not {_what(problem, exact, chosen)}: engines that do: {listed}"
        )
    return chosen


def others(engine: Engine, problem: Problem) -> tuple[Engine, ...]:
    """Return the engines to ask where this one failed, in this order: those of its row that take the problem."""
    rows = [ENGINES.named(name) for name in engine.then]
    return tuple(
        row for row in rows if row.can_take(problem, row.exact) and (row.most is None or problem.n <= row.most)
    )


def _suits(engine: Engine, problem: Problem) -> bool:
    """Say whether the size of the problem is one at which the engine is quick."""
    if problem.instance.machines is None:
        return True
    if engine.crowded is not None:
        pairs, each, cells = engine.crowded
        demands = problem.instance.demands
        cells_here = problem.k * problem.m
        choice = each * cells_here * (UNLIKE if np.count_nonzero(demands) < NEEDED * demands.size else 1.0)
        there = int(np.count_nonzero(problem.instance.fits[problem.members]))
        return there >= max(pairs, problem.n + choice) and cells_here <= cells
    if engine.largest is None:
        return True
    from .whole.milp import columns

    return columns(problem) <= engine.largest


def _one_group(problem: Problem) -> bool:
    """Say whether everybody who can have a whole task is in the same group, and the clock is not asked who is due."""
    rules = problem.instance.organisation
    return rules is not None and any(rules.paths) and not problem.instance.several_groups


def _what(problem: Problem, exact: bool, engine: Engine | None = None) -> str:
    """Return what is asked, in words; of its rules not those that an engine takes."""
    tasks = "whole tasks" if problem.integer else "divisible tasks"
    cluster = "a pool" if problem.instance.machines is None else "machines"
    if problem.instance.type_table is not None:
        cluster += " with several task types of one user"
    organisation = problem.instance.organisation
    if organisation is not None and "organisation" in problem.instance.features:
        rules = organisation.rules
        if engine is not None and (engine.values or engine.organised):
            several = engine.values and problem.policy.objective == "leximin" and problem.instance.several_groups
            alone = engine.organised and problem.integer and _one_group(problem)
            rules = "several groups" if several else "one group of everybody" if alone else ""
        cluster += f" with {rules}" if rules else ""
    called = next((solver.name for solver in SOLVERS if problem.solver in solver.interfaces), problem.solver)
    solver = "" if problem.solver == DIRECT else f" by integer programs of solver {called!r}"
    return f"{problem.policy.name} on {cluster} with {tasks}{', exactly' if exact else ''}{solver}"
