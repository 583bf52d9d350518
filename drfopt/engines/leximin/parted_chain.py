"""Leximin on machines of users who lie in parts: the chain of `interior_chain`, every pass of it a sum over the parts.

Who owns a part keeps its users' levels, what they have on each class and which classes are still open to them; prices,
and what rows (class, resource) have, are all that travels.  Users who have no capacity in common with each other are
told apart by the rows that they enter, so a round is of the users of some rows.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...base.deadline import Deadline
from ...base.errors import UNRESOLVED, SolverError
from ...base.progress import report
from ...base.states import PartStates
from ...base.tolerances import LEVEL, SAME
from ...certificates.chain import CERTAIN, DEARER
from ...certificates.level_errors import ROUNDINGS
from ...model.evidence import Round
from ..interior_point import LevelMethod
from ..level_part import Cap, LevelPart
from ..pair_layout import Layout, table_layout
from ..problem import Problem
from .interior_chain import raised
from .lp_chain import CAPPED
from .lp_round import TIED

__all__ = ["ChainPart", "chain"]

EPSILON = float(np.finfo(float).eps)


class _Limits(Cap):
    """Limits of some users of a part, who are groups of one."""

    def __init__(self, weights: np.ndarray, held: np.ndarray, tops: np.ndarray):
        limited = np.flatnonzero((weights > 0) & np.isfinite(tops))
        self.users = limited[np.argsort(tops[limited], kind="stable")]
        self.tops = tops[self.users]
        self.weights, self.held, self.done = weights, held, 0

    def due(self, level: float) -> bool:
        return self.done < len(self.tops) and bool(self.tops[self.done] <= level)

    def meet(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        met = int(np.searchsorted(self.tops, level, side="right"))
        users = self.users[self.done : met]
        weights, held = self.weights.copy(), self.held.copy()
        held[users] += weights[users] * self.tops[self.done : met]
        weights[users] = 0
        self.weights, self.held, self.done = weights, held, met
        return weights, held

    @property
    def met(self) -> np.ndarray:
        """Who is at its limit by now."""
        return self.users[: self.done]


class ChainPart:
    """The users of a part who take part; everything is in their order.

    A user's amount is what it takes of the resource of which it takes most, as in `symmetry`.

    Parameters
    ----------
    problem : Problem
    number : int
        Which part it is.
    """

    def __init__(self, problem: Problem, number: int = 0):
        instance, self.number = problem.instance, number
        self.total, self.members, self.room = instance.n, problem.members, instance.room
        self.unplaced = int(np.count_nonzero(problem.unplaced))
        demands = instance.demands[self.members]
        largest = demands.max(axis=1, initial=0.0)
        self.need = demands / largest[:, None]
        self.rates, self.limits = problem.rates, problem.limits
        self.tops = self.limits * self.rates
        self.scale = largest / self.rates
        fits = instance.fits[self.members]
        self.open = None if fits.all() else fits
        self.levels = np.full(len(self.members), np.nan)
        self.reached: np.ndarray | None = None
        self.program: LevelPart | None = None
        self.index = self.kinds = np.zeros(0, dtype=np.intp)
        self.told: tuple | None = None

    # ---- who shares capacity with whom -------------------------------------------------------------------------------

    def joined(self) -> tuple[np.ndarray, int, bool]:
        """Return which rows users hold together, bool (k m, k m), how many take part, and whether one has a limit."""
        (k, m), uses = self.room.shape, self.need > 0
        edges = np.zeros((k * m, k * m), dtype=bool)
        first, anchor = self._first(), self._anchor()
        for j in range(m):
            here = uses[:, j]
            edges[anchor[here], first[here] * m + j] = True
            for f in np.unique(first[here]).tolist():
                rows = here & (first == f)
                edges[f * m + j, np.arange(k) * m + j] |= True if self.open is None else self.open[rows].any(axis=0)
        return edges, len(self.need), bool(np.isfinite(self.limits).any())

    def counted(self, labels: np.ndarray, parts: int) -> tuple[np.ndarray]:
        """Return how many users rise in each part of the cluster, whose rows have `labels` (k m,)."""
        rising = np.isnan(self.levels)
        return (np.bincount(labels[self._anchor()[rising]], minlength=parts),)

    def _first(self) -> np.ndarray:
        """Return the first class that is open to each user."""
        return np.zeros(len(self.need), dtype=np.intp) if self.open is None else self.open.argmax(axis=1)

    def _anchor(self) -> np.ndarray:
        """Return a row that each user enters."""
        return self._first() * self.need.shape[1] + (self.need > 0).argmax(axis=1)

    # ---- a round -----------------------------------------------------------------------------------------------------

    def enter(self, labels: np.ndarray, chosen: int, kinds: np.ndarray) -> tuple | None:
        """Begin a round of the users of a part of the cluster, with its classes; return how many have nothing yet."""
        self.index = np.flatnonzero(labels[self._anchor()] == chosen)
        self.kinds, self.program = kinds, None
        if not self.index.size:
            return None
        levels, scale = self.levels[self.index], self.scale[self.index]
        rising = np.isnan(levels)
        weights, held = np.where(rising, scale, 0.0), np.where(rising, 0.0, scale * levels)
        self.program = LevelPart(self._layout(), weights, held, _Limits(weights, held, self._tops()))
        if self.reached is None:
            return (len(self.index),)
        return (int(np.count_nonzero(self.reached[self.index][:, kinds].sum(axis=1) == 0)),)

    def passed(self, what: str, told: tuple) -> tuple | None:
        """Return what a pass of the round's program returns."""
        with np.errstate(all="ignore"):
            return None if self.program is None else getattr(self.program, what)(*told) or None

    def start(self, again: bool, level: float) -> tuple | None:
        """Begin where the round before ended, or spread over all open classes."""
        if self.program is None:
            return None
        layout, amounts = self.program.layout, None
        if again and self.reached is not None:
            table = self.reached[self.index][:, self.kinds]
            opened = self._open()
            amounts = layout.laid(table.ravel() if opened is None else table[opened], 0.0)
        return self.passed("start", (amounts, level))

    def growth(self) -> tuple | None:
        """Return what users of one class take of it for a unit of the level, and what they hold, (m,)."""
        if self.program is None:
            return None
        need = self.need[self.index]
        return self.program.weights @ need, self.program.held @ need

    def leave(self, level: float, t: float | None) -> tuple | None:
        """End the program at a level: who has reached its limit is finished; return whether some were below the level.

        `t` is the level in units of the program; None where it was one of a single class.
        """
        program = self.program
        if program is None:
            return None
        if t is None:
            amounts = (program.weights * level + program.held)[:, None]
        else:
            program.settle(t)
            amounts = np.concatenate([program.layout.table(b, program.x[b.pairs]) for b in program.layout.blocks()])
        shape = (len(self.need), len(self.room))
        if amounts.shape == shape and self._everybody():
            self.reached = amounts
        else:
            self.reached = np.zeros(shape) if self.reached is None else self.reached
            self.reached[np.ix_(self.index, self.kinds)] = amounts
        layout, weights, held = self._layout(), program.weights, program.held
        if isinstance(program.cap, _Limits):
            met = self.index[program.cap.met]
            self.levels[met] = self.tops[met]
        capped = np.isnan(self.levels[self.index]) & (self._tops() <= level * (1 + CAPPED))
        self.levels[self.index[capped]] = tops = self._tops()[capped]
        self.program = LevelPart(layout, weights, held)
        return (bool((tops < level * (1 - CAPPED)).any()), int(capped.sum()))

    def bound(self, prices: np.ndarray) -> tuple | None:
        """Return what the multipliers that prices (k, m) allow are worth by weight, and to who holds something."""
        if self.program is None:
            return None
        multipliers = _multipliers(self.program.layout, prices)
        # Of a million users nobody is proven finished where this is off by more than a few roundings.
        worth = (multipliers * values for values in (self.program.weights, self.program.held))
        by_weight, holding = (math.fsum(each.tolist()) for each in worth)
        return by_weight, holding

    def finish(self, prices: np.ndarray, level: float, left: float) -> tuple | None:
        """Finish at a level whom the prices hold there, and close pairs that are too dear; return how many it is."""
        program = self.program
        if program is None:
            return None
        multipliers = _multipliers(program.layout, prices)
        amounts = program.weights * level + program.held
        proven = (multipliers > 0) & (multipliers * amounts * CERTAIN * LEVEL >= left) & (program.weights > 0)
        finished = proven & np.isnan(self.levels[self.index])
        self.levels[self.index[finished]] = level
        opened = self._open()
        opened = np.ones((len(self.index), len(self.kinds)), dtype=bool) if opened is None else opened.copy()
        dearer = np.zeros_like(opened)
        for block in program.layout.blocks():
            cost = program.layout.cost(block, prices)
            dear = cost - program.layout.spread(block, multipliers[block.groups]) > DEARER * cost
            dearer[block.groups] = program.layout.table(block, dear)
        dearer &= opened
        if dearer.any():
            if self.open is None:
                self.open = np.ones((len(self.need), len(self.room)), dtype=bool)
            here = np.ix_(self.index, self.kinds)
            self.open[here] = opened & ~dearer
            if self.reached is not None:
                self.reached[here] = np.where(dearer, 0.0, self.reached[here])
        self.program = None
        return (int(finished.sum()),)

    # ---- the end -----------------------------------------------------------------------------------------------------

    def tasks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return tasks, levels (n,) and the placement (n, k) of all users of the part.

        Raises
        ------
        SolverError
            When a user has tasks and no place.
        """
        tasks, levels = np.zeros(self.total), np.zeros(self.total)
        placement = np.zeros((self.total, len(self.room)))
        if not self.members.size:
            return tasks, levels, placement
        mine = np.where(self.levels >= self.tops, self.limits, self.levels / self.rates)
        table = np.zeros((len(mine), len(self.room))) if self.reached is None else self.reached
        has = table.sum(axis=1)
        if ((has == 0) & (mine > 0)).any():
            raise SolverError(f"a user has a level and no place: {UNRESOLVED}")
        tasks[self.members], levels[self.members] = mine, self.rates * mine
        placement[self.members] = table * (mine / np.where(has > 0, has, 1.0))[:, None]
        return tasks, levels, placement

    # ---- what they are made of ---------------------------------------------------------------------------------------

    def _everybody(self) -> bool:
        return len(self.index) == len(self.need)

    def _open(self) -> np.ndarray | None:
        """Return which classes of the round are open to its users; None where all are."""
        if self.open is None:
            return None
        opened = self.open[self.index][:, self.kinds]
        return None if opened.all() else opened

    def _layout(self) -> Layout:
        need = self.need if self._everybody() else self.need[self.index]
        return table_layout(need, self.room[self.kinds], self._open())

    def _tops(self) -> np.ndarray:
        return self.tops[self.index]


def _multipliers(layout: Layout, prices: np.ndarray) -> np.ndarray:
    """Return what a unit of each group costs where that is cheapest at prices (k, m), (g,)."""
    return np.concatenate([layout.cheapest(block, layout.cost(block, prices)) for block in layout.blocks()])


@dataclass
class _Passes:
    """The program of a round, as `interior_point` is told of its parts."""

    states: PartStates

    def look(self, what: str, *told: object) -> list:
        return self.states.look("passed", what, told)

    def change(self, what: str, *told: object) -> list:
        return self.states.change("start", *told) if what == "start" else self.states.change("passed", what, told)

    def keep(self) -> None:
        self.states.keep()

    def back(self) -> None:
        self.states.back()


@dataclass
class _Known:
    """What is known of the rows (k m,): levels that their users have reached, and rounds behind them."""

    level: np.ndarray
    rounds: np.ndarray
    links: list[tuple[tuple[float, int, int], Round]] = field(default_factory=list)


def chain(states: PartStates, room: np.ndarray, deadline: Deadline) -> list[Round]:
    """Finish everybody; return the rounds that prove it, in the order of their levels.

    Parameters
    ----------
    states : PartStates of ChainPart
    room : array (k, m)
    deadline : Deadline

    Raises
    ------
    SolverError, TimeLimitError
    """
    known = _Known(np.zeros(room.size), np.zeros(room.size, dtype=int))
    while True:
        states.said = f"round {len(known.links) + 1}: who shares capacity"
        told = states.look("joined")
        if not told:
            break
        edges, users, limited = told
        _, labels = connected_components(coo_array(edges), directed=False)
        parts = int(labels.max()) + 1
        rising = states.look("counted", labels, parts)[0]
        if not rising.any():
            break
        known_so_far = f"{users - int(rising.sum()):,} of {users:,} users finished"
        report(f"round {len(known.links) + 1}: {known_so_far}")
        _round(states, room, known, labels, int(rising.argmax()), bool(limited), deadline)
    return [link for _, link in sorted(known.links, key=lambda found: found[0])]


def _round(
    states: PartStates,
    room: np.ndarray,
    known: _Known,
    labels: np.ndarray,
    chosen: int,
    limited: bool,
    deadline: Deadline,
) -> None:
    """Solve the part of the cluster with a label for its next level, and finish who is finished there."""
    (k, m), number = room.shape, len(known.links) + 1
    mine = labels == chosen
    rows = np.flatnonzero(mine)
    kinds = np.unique(rows // m)
    states.said = f"round {number}: beginning"
    without = states.change("enter", labels, chosen, kinds)[0]
    reached = float(known.level[rows].max())
    before = [
        table
        for _, link in known.links
        if (table := np.where(mine, link.prices.ravel(), 0.0).reshape(k, m)[kinds]).any()
    ]
    t: float | None = None
    prices: np.ndarray | None
    if len(kinds) == 1:
        growth, holding = states.look("growth")
        level, prices = _filled(growth, holding, room[kinds[0]])
    else:
        tight = np.zeros((len(kinds), m), dtype=bool)
        for table in before:
            tight |= table > 0

        def watch(state: str) -> None:
            states.said = f"round {number}, {state}"
            deadline.check("a round of the chain", state)

        begin = True if reached > 0 and not without else None
        method = LevelMethod(_Passes(states), tight)
        start = reached if begin else method.spread()
        with np.errstate(all="ignore"):
            level, prices = method.solve(begin, start, limited, watch)
        t = level / start
        if prices is not None:
            prices = raised(prices.ravel(), [table.ravel() for table in before], deadline).reshape(len(kinds), m)
    states.said = f"round {number}: level {level:.4g}"
    early, capped = states.change("leave", level, t)
    if prices is None or early:
        return
    mass, holding = states.look("bound", prices)
    total = float(prices.sum())
    if mass > 0:
        proven = (total - holding) / mass
        # The bound holds whatever the program found.
        level = proven if proven <= level * (1 + SAME) else level
    left = max(total - holding - mass * level - ROUNDINGS * EPSILON * total, 0.0)
    finished = states.change("finish", prices, level, left)[0]
    if not finished and not capped:
        raise SolverError(
            f"the prices of the round at level {level:.6g} prove no user finished to 1e-9: the instance is too badly "
            "scaled for floats"
        )
    table = np.zeros((k, m))
    table[kinds] = prices
    behind = int(known.rounds[rows].max())
    reached = max(level, reached)
    known.links.append(((reached, behind, int(rows[0])), Round(level, np.zeros(0, dtype=np.intp), None, table)))
    known.level[rows], known.rounds[rows] = reached, behind + 1


def _filled(growth: np.ndarray, holding: np.ndarray, room: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the level at which the first resource of a single class is full, and the prices (1, m)."""
    growth = np.divide(growth, room, where=room > 0, out=np.zeros_like(growth))
    left = 1 - np.divide(holding, room, where=room > 0, out=np.zeros_like(holding))
    reach = np.divide(left, growth, where=growth > 0, out=np.full(len(left), np.inf))
    level = float(reach.min())
    full = reach <= level * (1 + TIED)
    return level, np.divide(full, growth, where=full, out=np.zeros(len(left)))[None, :]
