"""Leximin as a chain of linear programs over HiGHS, for pools and machines.

A round maximises the common level t of the users still rising, the others held at theirs with ``>=``.  No limit enters
a program: with everybody rising past her limit, the level a program reaches is a lower bound of the next saturation,
so all users whose limit lies at or below it are finished at their limits at once, and the program is solved again.
Only when there is none do the prices name the saturated: who must pay on every class is at this level in every
optimum.  The interior point method ends inside the optimal face, where prices name everybody who is finished; at a
vertex, where simplex ends, some may be left to a later program at the same level.

Prices say more: in every optimum nobody is on a class that is dearer to her than her cheapest.  Such pairs are closed,
and what is left falls apart into *parts* that have no capacity in common; who is finished takes no room from the
rising but on classes that both still use.  So only the first program has the size of the cluster.  A part of one class
needs no program at all.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...base.errors import UNRESOLVED, SolverError
from ...base.parallel import ALONE
from ...base.progress import report
from ...certificates.chain import DEARER, Round, firm
from ...model.evidence import ChainEvidence
from ..level_part import Cap
from ..problem import Answer, ByType, Problem
from ..symmetry import Merged
from .fine_chain import finer
from .lp_round import LastBasis, RoundPart, RoundProgram
from .vertices import settled

__all__ = ["solve", "solve_by"]

BUNDLES = 64
"""Into so many bundles the parts of a cluster are put when there are workers, so that the slowest matters little."""

CANCELS = 100.0
"""Times the money of who is finished by a round that all prices are, from which on its level has lost digits."""

CAPPED = 1e-12
"""Relative distance of a limit above the level of a program that its tolerance accounts for."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation, with the chain of rounds that proves it."""
    return solve_by(problem, RoundProgram)


def solve_by(problem: Problem, program: Callable[..., RoundProgram]) -> Answer:
    """Return the same with rounds of some kind."""
    by_type = problem.by_type
    chain = _Chain(by_type, program)
    parts = chain.parts()
    if problem.workers.several and len(parts) > 1:
        alone = replace(by_type, workers=ALONE)
        bundles = _bundled(parts)
        for found in problem.workers.spread(
            partial(_finished, alone, program), bundles, "bundles of independent parts"
        ):
            chain.take(*found)
    else:
        chain.finish(parts)
    chain.settle()
    levels, tops = chain.levels, chain.tops
    tasks = np.where(levels >= tops, by_type.limits, levels / by_type.rates)
    amounts = chain.merged.amounts(by_type, chain.reached, tasks)
    rounds = [link for _, link in sorted(chain.rounds, key=itemgetter(0))]
    if isinstance(by_type, ByType):
        tasks, rounds = _of_users(by_type, levels, tops), [_round_of_users(by_type, link) for link in rounds]
    answer = Answer(tasks, amounts=amounts, evidence=ChainEvidence(rounds=rounds))
    if isinstance(by_type, ByType) or problem.instance.machines is None:
        return answer
    return replace(answer, finer=partial(finer, problem, answer))


def _of_users(types: ByType, levels: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """Return the tasks of users (n,) from the levels of their types, which are equal."""
    problem = types.whole
    first = np.flatnonzero(np.diff(types.user, prepend=-1))
    return np.where(levels[first] >= tops[first], problem.limits, levels[first] / problem.rates)


def _round_of_users(types: ByType, link: Round) -> Round:
    """Return a round in terms of users: a user's multiplier is the sum of those of her types."""
    table = types.whole.instance.type_table
    return Round(link.level, np.unique(types.owner[link.finished]), table.summed(link.multipliers), link.prices)


Found = tuple[tuple[float, int, int], Round]
"""A round behind its place in the chain, which does not depend on who found it: its level, or that of the round before
where rounding made it less; how many rounds its part has behind it, which closed classes that it builds on; a group."""


def _finished(
    problem: Problem, program: Callable[..., RoundProgram], parts: list[RoundPart]
) -> tuple[np.ndarray, np.ndarray, list[Found]]:
    """Return levels (n,), NaN elsewhere, amounts (pairs,) and rounds of some parts."""
    chain = _Chain(problem, program)
    chain.finish(parts)
    return chain.levels, chain.reached, chain.rounds


def _bundled(parts: list[RoundPart]) -> list[list[RoundPart]]:
    """Return the parts in bundles of about equal size, so that none is too small to be handed over."""
    least = sum(len(part.pairs) for part in parts) / BUNDLES
    bundles: list[list[RoundPart]] = []
    size = np.inf
    for part in parts:
        if size >= least:
            bundles.append([])
            size = 0
        bundles[-1].append(part)
        size += len(part.pairs)
    return bundles


class _Chain:
    """The state of the chain: levels of the users, amounts of the pairs, and who waits."""

    def __init__(self, problem: Problem, program: Callable[..., RoundProgram]):
        self.problem, self.program = problem, program
        self.merged = Merged.of(problem)
        self.tops = problem.limits * problem.rates
        self.owner = None
        if isinstance(problem, ByType):
            self.owner = problem.owner[problem.members]
            # Of all types of a user the same number, to the last digit.
            self.tops = problem.whole.instance.limits[self.owner] * problem.whole.all_rates[self.owner]
        self.levels = np.full(problem.n, np.nan)
        self.reached = np.zeros(len(self.merged.owner))
        self.rounds: list[Found] = []
        self.basis = LastBasis.of(self.merged)

    def parts(self) -> list[RoundPart]:
        """Return what has no capacity in common to begin with."""
        return self._split(RoundPart(np.arange(self.merged.groups), np.arange(len(self.merged.owner))))

    def finish(self, parts: list[RoundPart]) -> None:
        """Finish everybody in some parts."""
        waiting = list(parts)
        while waiting:
            waiting.extend(self._round(waiting.pop()))

    def settle(self) -> None:
        """Solve the equations of all rounds at once: everybody has what its level takes, rows with a price are full.

        A round after the other each leaves its own rounding.  Amounts move as little as can be, levels as they must;
        where that fits no better, nothing does.
        """
        merged, links = self.merged, [link for _, link in self.rounds]
        if self.owner is not None or not any(map(_cancels, links)):
            return
        round_of = np.full(self.problem.instance.n, -1)
        priced = np.zeros((len(merged.room) + 1, self.problem.m), dtype=bool)
        for r, link in enumerate(links):
            round_of[link.finished] = r
            np.logical_or.at(priced, merged.kind, firm(link.prices) > 0)
        round_of = round_of[self.problem.members]
        moving, places = round_of >= 0, np.flatnonzero(self.reached)
        rows, matrix = merged.rows(places)
        full = priced.ravel()[rows]
        held, has = (self.summed(who, merged.scale * self.levels) for who in (~moving, np.ones_like(moving)))
        taking = sparse.csr_array(
            (-merged.scale[moving], (merged.group[moving], round_of[moving])), shape=(merged.groups, len(links))
        )
        adding = sparse.csr_array((np.ones(len(places)), (merged.owner[places], np.arange(len(places)))))
        share = sparse.diags_array(1 / has)
        equations = sparse.block_array([[share @ adding, share @ taking], [matrix.tocsr()[full], None]], format="csr")
        right = np.concatenate([held / has, np.ones(full.sum())])
        start = np.concatenate([self.reached[places], [link.level for link in links]])
        found = settled(equations, start, np.arange(len(start)) >= len(places), lambda x: right - equations @ x)

        def missed(x: np.ndarray) -> float:
            return float(max(np.abs(right - equations @ x).max(), (matrix @ x[: len(places)]).max() - 1))

        if (found > 0).all() and missed(found) < missed(start):
            self.reached[places], levels = np.split(found, [len(places)])
            self.levels[moving] = levels[round_of[moving]]
            self.rounds = [
                (place, replace(link, level=level))
                for (place, link), level in zip(self.rounds, levels.tolist(), strict=True)
            ]

    def take(self, levels: np.ndarray, reached: np.ndarray, rounds: list[Found]) -> None:
        """Take over what was found for other parts."""
        self.levels = np.where(np.isnan(levels), self.levels, levels)
        self.reached += reached
        self.rounds.extend(rounds)

    def _round(self, part: RoundPart) -> list[RoundPart]:
        """Solve a part for its next level, finish who is finished there, and return what is left of it."""
        merged = self.merged
        known = (
            f"{int((~np.isnan(self.levels)).sum())} of {self.problem.n} users are finished, "
            f"the lowest levels of {len(self.rounds)} parts proven"
        )
        report(f"round {len(self.rounds) + 1}: {known}")
        rising = np.isnan(self.levels)
        inside = np.zeros(merged.groups, dtype=bool)
        inside[part.groups] = True
        here = rising & inside[merged.group]
        program = self.program(merged, part, self.summed(rising, merged.scale), self.holding(rising), self.basis)
        if self.owner is None and (not part.tried or 2 * len(program.kinds) <= part.tried):
            if self._pooled(part, program, np.flatnonzero(here), known):
                return []
            part = replace(part, tried=len(program.kinds))
        level, amounts, prices = program.solve(self.problem, known, self.reached[part.pairs], self._cap(part, here))
        self.reached[part.pairs] = amounts
        here &= np.isnan(self.levels)
        capped = here & (self.tops <= level * (1 + CAPPED))
        self.levels[capped] = self.tops[capped]
        here &= ~capped
        if prices is None or (self.levels[capped] < level * (1 - CAPPED)).any():
            return self._split(part)
        # Who is at its limit just there is finished by it, and the others by the prices.
        level, multipliers, proven = program.proven(level, prices)
        finished = here & np.isin(merged.group, part.groups[proven])
        if not finished.any() and not capped.any():
            raise SolverError(
                f"the prices of the round at level {level:.6g} prove no user finished to 1e-9: {UNRESOLVED}"
            )
        if self.owner is not None:
            finished |= here & np.isin(self.owner, self.owner[finished])
        reached = self._finish(finished, level, part, program, prices, multipliers)
        costs = program.costs(prices)
        dearer = costs - multipliers[program.owner] > DEARER * costs
        if np.isnan(self.levels[inside[merged.group]]).any():
            # What a solver leaves there would be taken along; with nobody to rise it is part of what fits.
            self.reached[part.pairs[dearer]] = 0
        priced = (*part.priced, (program.rows, prices))
        pairs = part.pairs[~dearer] if dearer.any() else part.pairs
        return self._split(RoundPart(part.groups, pairs, True, reached, part.rounds + 1, priced, part.tried))

    def _pooled(self, part: RoundPart, program: RoundProgram, users: np.ndarray, known: str) -> bool:
        """Finish the rising users (u,) of a part as those of one pool; return whether it is one."""
        merged = self.merged
        group, tops = np.searchsorted(part.groups, merged.group[users]), self.tops[users]
        found = program.as_pool(self.problem, known, group, merged.scale[users], tops)
        if found is None:
            return False
        levels = np.full(len(users), np.nan)
        for turn in found.rounds:
            met = np.isnan(levels) & (tops <= turn.level)
            levels[met] = tops[met]
            finished = np.isnan(levels) & turn.proven[group]
            levels[finished] = turn.level
            reached = self._finish(users[finished], turn.level, part, program, turn.prices, turn.multipliers)
            part = replace(part, level=reached, rounds=part.rounds + 1)
        self.levels[users] = np.where(np.isnan(levels), tops, levels)
        self.reached[part.pairs] = found.amounts
        return True

    def _finish(
        self,
        finished: np.ndarray,
        level: float,
        part: RoundPart,
        program: RoundProgram,
        prices: np.ndarray,
        multipliers: np.ndarray,
    ) -> float:
        """Note the round that finishes some users; return the level that its part has reached."""
        link = self._of_instance(level, finished, part, program, prices, multipliers)
        reached = max(level, part.level)
        self.rounds.append(((reached, part.rounds, int(part.groups[0])), link))
        self.levels[finished] = level
        return reached

    def _cap(self, part: RoundPart, here: np.ndarray) -> "_PartCap | None":
        """Return who of a part is held at its limit when a level reaches it; None where nobody has any."""
        limited = np.flatnonzero(here & np.isfinite(self.tops))
        return _PartCap(self, part, limited) if limited.size else None

    def summed(self, chosen: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Add up values (n,) of the chosen users of each group, (groups,)."""
        return np.bincount(self.merged.group[chosen], weights=values[chosen], minlength=self.merged.groups)

    def holding(self, rising: np.ndarray) -> np.ndarray:
        """Return the amounts that finished users hold, (groups,)."""
        return self.summed(~rising, self.merged.scale * self.levels)

    def _split(self, part: RoundPart) -> list[RoundPart]:
        """Return the parts of a part that have no capacity in common and somebody who rises."""
        merged, groups = self.merged, self.merged.groups
        edges, row = merged.joined(part.pairs, part.groups)
        if self.owner is not None:
            # The types of who rises are one part.
            place = np.full(groups, -1)
            place[part.groups] = row
            rising = np.flatnonzero(np.isnan(self.levels))
            ends = place[merged.group[rising]]
            same = (np.diff(self.owner[rising]) == 0) & (ends[1:] >= 0) & (ends[:-1] >= 0)
            edges = np.concatenate([edges, [ends[1:][same], ends[:-1][same]]], axis=1)
        size = merged.room.size
        graph = sparse.coo_array((np.ones(edges.shape[1]), edges), shape=(size, size))
        _, of_row = connected_components(graph, directed=False)
        label = np.full(groups, -1)
        label[part.groups] = of_row[row]
        rises = np.isin(np.arange(groups), merged.group[np.isnan(self.levels)])
        alive = np.unique(label[part.groups][rises[part.groups]])
        of_group, of_pair = label[part.groups], label[merged.owner[part.pairs]]
        if len(alive) == 1 and (of_group == alive[0]).all():
            return [part]
        return [
            replace(
                part,
                groups=part.groups[mine],
                pairs=part.pairs[theirs],
                tight=part.tight and not rises[part.groups[mine]].all(),
            )
            for mine, theirs in zip(_places(of_group, alive), _places(of_pair, alive), strict=True)
        ]

    def _of_instance(
        self,
        level: float,
        finished: np.ndarray,
        part: RoundPart,
        program: RoundProgram,
        prices: np.ndarray,
        mine: np.ndarray,
    ) -> Round:
        """Return the round in the letters of the instance."""
        problem, merged = self.problem, self.merged
        of_groups = np.zeros(merged.groups)
        of_groups[part.groups] = mine
        multipliers = np.zeros(problem.instance.n)
        multipliers[problem.members] = of_groups[merged.group] * merged.scale
        return Round(
            level, problem.members[finished], multipliers, merged.prices(program.rows, prices, problem.k, problem.m)
        )


class _PartCap(Cap):
    """Users of a part (l,) who have limits."""

    def __init__(self, chain: _Chain, part: RoundPart, limited: np.ndarray):
        self.chain, self.part = chain, part
        self.users = limited[np.argsort(chain.tops[limited], kind="stable")]
        self.tops = chain.tops[self.users]
        self.done = 0

    def due(self, level: float) -> bool:
        return self.done < len(self.tops) and bool(self.tops[self.done] <= level)

    def meet(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        met = int(np.searchsorted(self.tops, level, side="right"))
        self.chain.levels[self.users[self.done : met]] = self.tops[self.done : met]
        self.done = met
        rising, groups = np.isnan(self.chain.levels), self.part.groups
        return self.chain.summed(rising, self.chain.merged.scale)[groups], self.chain.holding(rising)[groups]


def _cancels(link: Round) -> bool:
    """Return whether a round's level is a small difference of large sums, which is what later rounds live on."""
    paid = 0.0 if link.multipliers is None else float(link.multipliers[link.finished].sum())
    return float(link.prices.sum()) > CANCELS * link.level * paid


def _places(labels: np.ndarray, wanted: np.ndarray) -> list[np.ndarray]:
    """Return where each wanted label stands in `labels`, in order."""
    order = np.argsort(labels, kind="stable")
    begins = np.searchsorted(labels[order], wanted)
    ends = np.searchsorted(labels[order], wanted, side="right")
    return [order[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
