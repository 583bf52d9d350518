"""Whole tasks: feasible in exact arithmetic, and nothing strictly better is.

Feasibility is decided in integers, machine by machine. Leximin is a list of claims, a level each, and a claim is
proven by a tree of multipliers that anybody can check in integers (`claims`, `refute`). Sums and products are bounded
by prices, box by box, in integers (`price_tree`), tier after tier where they are served in turn. Both trees are what
a certificate file has. Where one grows too large, small sums and products of a pool are searched exhaustively
(`exhaustive_search`; under rules or of several types, on machines too), and then a second solver is asked for
something better on a program of its own (`second_solver`), and its answer is compared in exact numbers: CBC, or HiGHS
where CBC was the first.

A product or alpha utility of a pool whose tree grows too large is searched near a bound, in integers
(`meet_in_the_middle`), which is also what the engine ``nash-halves`` does.  Of its answers that search, run again, is
then all that says that they are best: nothing was refuted by a second author, and the certificate says so.

Of whole tasks in several groups the verifier's clock decides, by counting and multipliers (`group_stops`).

When time runs out, what was proven until then is said: levels from the lowest up, and how much higher the first level
that is not proven, the sum or the mean of a product could be at most; and whether nobody has room for one task more.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from ..base.deadline import NEVER, PAST, Deadline
from ..base.errors import InstanceError, SolverError, TimeLimitError
from ..base.numbers.shown import and_at_most, counted
from ..base.progress import report
from ..model.certificate import Certificate
from ..model.evidence import WholeEvidence
from ..model.instance import Instance
from ..model.packings import Packing
from ..model.policies import Policy
from ..model.whole_values import WholeUsers
from . import exhaustive_search, group_stops, price_tree, second_solver
from .branch_and_cut import Better, Inconclusive, Learned, refute
from .document import bound_trees, level_trees
from .exhaustive_search import exactly
from .feasibility import exactly_feasible
from .level_bounds import level_bounds
from .level_claims import LevelClaim, claims
from .meet_in_the_middle import MeetInTheMiddle, TooManyChoices
from .objective_bound import ObjectiveBound, told
from .packable import Packable
from .packing_bound import worth_of
from .priced_halves import PricedHalves
from .refutation import Refutation
from .remaining_room import room_for_more
from .second_solver import TooLargeToAsk
from .sequence_bound import most_served, room_above

__all__ = ["AGAIN", "Finder", "certify", "impossible", "score"]

PATIENCE = 60.0
"""Seconds for which a second solver is asked about one level where nobody set a limit: it may never end."""

NO_TIME = "the allocation is feasible, and there was no time to prove its objective"

AGAIN = "the same search, run again"
"""The judge where nobody but the finder says that nothing is worth more."""

HALVES = "a search near a bound"
"""The judge of what somebody else found: all that could be better is listed, in integers."""

LOADS = "a search near a bound by loads of machines"
"""The same on machines; what loads are worth is searched in floats, within a margin."""

BOXES = "branch and bound on prices"
"""The judge of sums and products: in integers, and by another method than any that finds them."""

SMALL = 12
"""Users up to whom a tree of prices is let grow to its end: with more it may be hopeless, which its pace tells."""

BOXES_WITHOUT_RULES = 200
"""Boxes that are looked at for the bound of a sum or product under rules: it is only as good as rules matter little."""

EXACT = ("multipliers", "exact search", HALVES, BOXES, "nobody to judge")
"""Judges that decide in integers; of a mixture with a solver's word the whole is no more than that."""

Score = tuple
"""What is compared, larger is better: sorted levels; (users served, product); or the sum. Exact numbers only."""


@dataclass(frozen=True)
class Finder:
    """Who found the tasks: an engine, whom it asked its integer programs, by PuLP's name, and what it says of levels.

    `proofs` are levels of a leximin, from the lowest, with how many stop there and a refutation that is to be checked,
    None where others are to find one.
    """

    engine: str = ""
    solver: str = ""
    proofs: Sequence[tuple[Fraction, int, Any]] = ()

    @property
    def second(self) -> str:
        """Who is asked for something better: never whom the finder asked."""
        return "HiGHS" if "CBC" in self.solver or "COIN" in self.solver else "CBC"


def score(instance: Instance, policy: Policy, tasks: list[int]) -> Score:
    """Return the exact objective of whole tasks (n,), users who take part only."""
    playing = exhaustive_search.playing(instance)
    if policy.objective == "leximin":
        return _leximin(WholeUsers(instance, policy, playing), tasks)
    return exhaustive_search.worth(WholeUsers(instance, policy, playing))([tasks[i] for i in playing])


def _leximin(users: WholeUsers, tasks: list[int]) -> Score:
    # Who rises with whom in groups depends on who stopped before: there is no number for that.
    return () if users.branches else users.score(tasks)


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    packing: list[Packing] | None,
    deadline: Deadline = NEVER,
    finder: Finder | None = None,
    users: WholeUsers | None = None,
) -> Certificate:
    """Return the certificate of whole tasks (n,), on machines with the packing that places them.

    It is valid when the optimum is proven, invalid when something better is known, and None when time ran out.
    `users` are those who take part, where what their tasks are worth is known.
    """
    counts = [int(x) for x in tasks.tolist()]
    wrong = (
        "" if all(x == y for x, y in zip(counts, tasks.tolist(), strict=True)) else "some number of tasks is not whole"
    )
    users = users or WholeUsers(instance, policy, exhaustive_search.playing(instance))
    wrong = wrong or impossible(users, counts, packing if instance.machines is not None else None)
    if wrong:
        return Certificate("bound", False, float("inf"), gap=None, reason=wrong)
    begun = time.perf_counter()
    finder = Finder() if finder is None else finder
    if policy.objective == "leximin" and users.branches:
        found = group_stops.certify(users, counts, deadline)
    elif policy.objective == "leximin":
        found = _Levels(users, counts, deadline, finder).certificate()
    else:
        ask = _largest_under_rules if instance.features else _largest
        found = ask(instance, policy, counts, deadline, finder)
    if found.valid is not True:
        found = _with_room(users, counts, packing, found)
    evidence = replace(
        found.proof(WholeEvidence),
        score=_leximin(users, counts) if policy.objective == "leximin" else score(instance, policy, counts),
        broken=users.broken(counts),
        packing=packing,
        seconds=time.perf_counter() - begun,
    )
    # What only a solver or a search in floats says is no theorem, and a finder is no judge of itself.
    certain = evidence.judge in EXACT and found.valid is not None
    if policy.alpha == 1 and evidence.judge != BOXES:
        certain = certain and exactly(users.incomes)
    return replace(found, evidence=evidence, rigorous=certain)


def _with_room(users: WholeUsers, tasks: list[int], packing: list[Packing] | None, found: Certificate) -> Certificate:
    """Return what is known of tasks that are not proven to be best, and whether they are at least maximal."""
    pool = users.instance.machines is None
    maximal = not room_for_more(users, tasks, None if pool else packing)
    reason = found.reason
    if maximal and reason:
        reason += "; nobody has room for one task more" + ("" if pool else " beside those that run, as they are packed")
    return replace(found, evidence=replace(found.proof(WholeEvidence), maximal=maximal), reason=reason)


def impossible(users: WholeUsers, tasks: list[int], packing: list[Packing] | None) -> str:
    """Return the first constraint that whole tasks (n,) break, in words; types, and rules of groups, included."""
    instance = users.instance
    most = users.spread(users.most)
    unplaced = instance.unplaced(integer=True)
    for i, x in enumerate(tasks):
        if x and unplaced[i]:
            return "an unplaced user has tasks"
        if instance.task_types is not None and instance.task_types[i] is not None and not 0 <= x <= most[i]:
            return f"user {instance.users[i]!r} has {x} tasks, outside 0 to {most[i]}"
    if wrong := exactly_feasible(users.cluster, users.counts(tasks), packing):
        return wrong
    for inside, j, amount in users.ceilings:
        used = sum((users.use(p, tasks[users.members[p]], j) for p in inside), Fraction(0))
        if used > amount:
            return f"a group uses {used} of {instance.resources[j]!r}, of which its ceiling is {amount}"
    return ""


class _Levels:
    """The proof of a leximin, level after level; evidence: (level, users at it, refutation) of what is proven."""

    def __init__(self, users: WholeUsers, tasks: list[int], deadline: Deadline, finder: Finder):
        self.tasks, self.deadline, self.said, self.second = tasks, deadline, finder.proofs, finder.second
        self.whole = users
        self.users = [rows[0] for rows in self.whole.shapes]
        self.worth, self.learned = worth_of(self.whole, deadline), Learned()
        self.proven: list[tuple[Fraction, int, Any]] = []
        self.stated: list[LevelClaim] = []
        self.judges: dict[str, None] = {}

    def certificate(self) -> Certificate:
        """Prove as many levels as there is time for."""
        for claim in claims(self.whole, self.tasks):
            report(f"proof: {len(self.proven)} levels proven")
            try:
                proof = self._proof(claim)
                if isinstance(proof, list) and not _can_run(self.whole, proof, self.deadline):
                    return self._partly(claim, _beyond(self.second))
            except Better:
                return self._beaten("multipliers", claim)
            except TimeLimitError:
                return self._partly(claim, "time ran out", late=True)
            except TooLargeToAsk:
                why = f"multipliers did not suffice, and the program is too large for {self.second}"
                return self._partly(claim, why)
            if isinstance(proof, list):
                return self._beaten(self.second, claim)
            self.proven.append((claim.value, claim.count, proof))
            self.stated.append(claim)
        judge = " and ".join(self.judges) or "nobody to judge"
        evidence = WholeEvidence(claims=self.proven, judge=judge, trees=self._trees)
        return Certificate("bound", True, 0.0, gap=0.0, evidence=evidence)

    def _proof(self, claim: LevelClaim) -> Any:
        """Return a refutation, None when a second solver finds nothing better, or the tasks that it finds."""
        try:
            known = self._known(claim)
            proof = refute(claim, self.worth, self.deadline, known=known, learned=self.learned)
            self.judges["multipliers"] = None
            return proof
        except Inconclusive:
            self.judges[self.second] = None
            deadline = self.deadline.sooner(PATIENCE)
            return second_solver.fewer(self.whole, self.tasks, claim.level, deadline, self.second)

    def _known(self, claim: LevelClaim) -> list[Refutation]:
        """Return what may refute a claim: the finder's of this level, where all before are its too; that before."""
        place = len(self.proven)
        before = [proof for _, _, proof in self.proven[-1:] if proof is not None and proof.alone]
        self.said = self.said if place < len(self.said) and self.said[place][:2] == (claim.value, claim.count) else ()
        return [*(said[2] for said in self.said[place : place + 1] if said[2] is not None), *before]

    def _beaten(self, judge: str, claim: LevelClaim) -> Certificate:
        why = f"{judge} finds a strictly better allocation, with fewer users at level {float(claim.value):.6g}"
        return replace(self._partly(claim, why, above=False), valid=False)

    def _partly(self, claim: LevelClaim, why: str, *, late: bool = False, above: bool = True) -> Certificate:
        """Return what is proven, and a bound for the first level that is not; for those above it, if they are asked."""
        below = sum(count for _, count, _ in self.proven)
        told = self.whole.told
        first, *others = found = level_bounds(self.whole, self.tasks, claim, self.worth, self.deadline, above)
        bound = told(first.bound)
        gap = float(1 - claim.value / bound) if bound else 0.0
        reason = (
            f"{why}: {counted(len(self.proven), 'level')} ({counted(below, 'user')}) proven; "
            f"the next is {and_at_most(float(claim.value), float(bound))}"
        )
        if others:
            apart, number = max(one.apart for one in others), sum(one.count for one in others)
            reason += f"; the {number} above can be {apart} task{'s' * (apart != 1)} higher at most"
        evidence = WholeEvidence(
            claims=self.proven,
            judge="nobody",
            level=claim.value,
            bound=bound,
            above=[(told(one.level), one.count, told(one.bound)) for one in others],
            late=late,
            trees=self._trees,
            bounds=partial(bound_trees, self.whole, self.worth, found) if self._all_refuted else list,
        )
        return Certificate("bound", None, 0.0, gap=gap, evidence=evidence, reason=reason)

    @property
    def _all_refuted(self) -> bool:
        """Whether multipliers prove every level that is proven."""
        return all(proof is not None for _, _, proof in self.proven)

    def _trees(self) -> list[Any]:
        """Return the trees of the lowest levels, as many as multipliers prove one after the other."""
        proofs = (proof for _, _, proof in self.proven)
        refuted = takewhile(lambda one: one[1] is not None, zip(self.stated, proofs, strict=True))
        return level_trees(self.whole, self.worth, list(refuted))


def _largest(instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline, finder: Finder) -> Certificate:
    """Search for a larger product or sum: by prices, and where their tree grows too large by what else there is."""
    members = exhaustive_search.playing(instance)
    if not members:
        return Certificate("bound", True, 0.0, gap=0.0, evidence=WholeEvidence(judge="nobody to judge"))
    bound: Fraction | None = None
    own = [tasks[i] for i in members]
    halves, priced, slow = None, None, False
    if policy.objective == "alpha" and (all(own) or policy.alpha < 1):
        with contextlib.suppress(TooManyChoices, TimeLimitError):
            users = WholeUsers(instance, policy, members)
            if instance.machines is None:
                halves = MeetInTheMiddle(users, deadline=deadline)
            elif not instance.has_devices:
                priced = PricedHalves(users, deadline)
                bound = priced.halves.room_above(own)

    def by_boxes(impatient: bool) -> Certificate | None:
        nonlocal bound, slow
        with contextlib.suppress(price_tree.Undecided):
            outcome = price_tree.search(instance, policy, tasks, deadline.sooner(PATIENCE), impatient=impatient)
            if outcome.better is not None:
                return _beaten(instance, policy, tasks, outcome.better, outcome.more)
            if outcome.trees is not None:
                return _verdict(BOXES, [], WholeEvidence(judge=BOXES, trees=partial(list, outcome.trees)))
            bound = outcome.more if bound is None else min(bound, outcome.more)
            slow = outcome.slow
        return None

    if verdict := by_boxes(priced is not None or (halves is not None and len(members) > SMALL)):
        return verdict
    try:
        judge, better, spread = "exact search", None, WholeUsers(instance, policy, members).spread
        if priced is not None:
            judge = AGAIN if finder.engine == "priced-halves" else LOADS
            with contextlib.suppress(TooManyChoices, exhaustive_search.SearchTooLong):
                above = priced.better(own)
                if above is None:
                    return _verdict(judge, [], WholeEvidence(judge=judge))
            if slow and (verdict := by_boxes(False)):
                return verdict
        if instance.machines is None:
            if halves is not None:
                judge = AGAIN if finder.engine == "nash-halves" else HALVES
                better = _larger_product(halves, own, deadline)
            if better is None:
                judge = "exact search"
                better = exhaustive_search.better(instance, policy, tasks, deadline)
        better = better and spread(better)
        if better is None:
            judge = finder.second
            found = second_solver.optimum(instance, policy, tasks, deadline, judge)
            theirs, ours = score(instance, policy, found), score(instance, policy, tasks)
            better = found if theirs > ours else []
            if better and not _can_run(WholeUsers(instance, policy, members), found, deadline):
                return _bounded(instance, policy, tasks, bound, _beyond(judge))
            if theirs < ours:
                return _bounded(instance, policy, tasks, bound, _worse(judge))
    except TimeLimitError:
        return _bounded(instance, policy, tasks, bound, late=True)
    except TooLargeToAsk:
        return _bounded(instance, policy, tasks, bound, _too_large(judge))
    return _verdict(judge, better, WholeEvidence(judge=judge))


def _largest_under_rules(
    instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline, finder: Finder
) -> Certificate:
    """Search for a larger sum or product under rules, or of several types: by prices, exactly, by a second solver."""
    users = WholeUsers(instance, policy, exhaustive_search.playing(instance))
    own = [tasks[i] for i in users.members]
    judge, several = "exact search" if own else "nobody to judge", len(users.tiers) > 1
    most, tier = None, 0
    with contextlib.suppress(price_tree.Undecided):
        limit = deadline.sooner(PATIENCE)
        outcome = price_tree.search(instance, policy, tasks, limit, impatient=len(own) > SMALL)
        if outcome.trees is not None:
            return _verdict(BOXES, [], WholeEvidence(judge=BOXES, trees=partial(list, outcome.trees)))
        most, tier = outcome.more, outcome.tier
        if outcome.better is not None:
            more = min(most, room_above(users, own, tier))
            return _beaten(instance, policy, tasks, outcome.better, more, tier)

    def bounded(reason: str = NO_TIME, *, late: bool = False) -> Certificate:
        if several:
            # Where a tier begins that is not proven, prices of all that there is may say more than a tree cut short.
            above = room_above(users, own, tier)
            more = above if most is None else min(above, most)
            return _bounded(instance, policy, tasks, more, reason, late=late, users=users, tier=tier, deadline=deadline)
        return _bounded_without_rules(users, tasks, deadline, reason, late=late, known=most)

    try:
        found = exhaustive_search.better_under_rules(users, own, deadline)
        found = found and users.spread(found)
        if found is None:
            judge = finder.second
            other = second_solver.larger(users, tasks, deadline.sooner(PATIENCE), judge)
            theirs, ours = score(instance, policy, other), score(instance, policy, tasks)
            found = other if theirs > ours else []
            if found and not _can_run(users, other, deadline):
                return bounded(_beyond(judge))
            if theirs < ours:
                return bounded(_blurred(judge) if several else _worse(judge))
    except TimeLimitError:
        return bounded(late=True)
    except TooLargeToAsk:
        return bounded(_too_large(judge))
    return _verdict(judge, found, WholeEvidence(judge=judge))


def _bounded_without_rules(
    users: WholeUsers,
    tasks: list[int],
    deadline: Deadline,
    reason: str = NO_TIME,
    *,
    late: bool = False,
    known: Fraction | None = None,
) -> Certificate:
    """Return what is known of a sum or product under rules or of several types: what nothing exceeds without them.

    Where it keeps every guarantee and nothing exceeds it even without rules, it is the best.
    """
    instance, policy, own = users.instance, users.policy, [tasks[i] for i in users.members]
    more = room_above(users, own)
    more = more if known is None else min(more, known)
    with contextlib.suppress(price_tree.Undecided, InstanceError):
        instance = _without_rules(users)
        rates = None if policy.alpha == 1 else policy.exact_rates(instance)
        theirs = users.rates if policy.objective == "sum" else users.market_rates
        # A product is of tasks, whatever they are measured by; all else has to be of the same shares.
        if rates is None or [rates[i] for i in users.members] == theirs:
            found = price_tree.search(instance, policy, tasks, deadline.sooner(PATIENCE), BOXES_WITHOUT_RULES)
            if found.trees is not None and users.kept(tasks):
                return _verdict(BOXES, [], WholeEvidence(judge=BOXES))
            more = min(more, found.more)
    # What is said of all in which as many users have a task is no proof that no more can.
    if more == 0 and users.kept(tasks) and (not users.serving or most_served(users, own) <= sum(map(bool, own))):
        return _verdict(BOXES, [], WholeEvidence(judge=BOXES))
    return _bounded(users.instance, users.policy, tasks, more, reason, late=late, users=users, deadline=deadline)


def _without_rules(users: WholeUsers) -> Instance:
    """Return an instance in which whatever is possible is possible as well, without rules.

    A task of several types needs of each resource what the least of them needs, and runs where one of them does.

    Raises
    ------
    InstanceError
        When that is nothing, or somebody has no income.
    """
    instance, parts = users.instance, users.instance.parts()
    changed: dict[str, Any] = {"organisation": None}
    if users.policy.objective != "sum":  # In a sum weights play no part.
        weights = changed["weights"] = [Fraction(1)] * instance.n
        for i, income in zip(users.members, users.incomes, strict=True):
            weights[i] = income
        if not all(weights):
            raise InstanceError("somebody has no income")
    if instance.task_types is not None:
        changed["demands"] = [
            [min(kind.demand[j] for kind in kinds) for j in range(instance.m)] if kinds else row
            for kinds, row in zip(instance.task_types, parts["demands"], strict=True)
        ]
        changed["max_tasks"] = users.spread(users.most)
        if instance.machines is not None:
            fits = instance.type_fits
            changed["eligible"] = np.array(
                [fits[i].any(axis=0) if i in fits else row for i, row in enumerate(instance.fits)]
            )
    return Instance(**(parts | changed))


def _can_run(users: WholeUsers, tasks: list[int], deadline: Deadline) -> bool:
    """Say whether what a second solver finds (n,) is known to fit: its tolerance hides a task among many."""
    try:
        return Packable(users, deadline).fits([tasks[i] for i in users.members])
    except Inconclusive:
        return False


def _beyond(solver: str) -> str:
    return f"what {solver} finds is more than the cluster is known to run, so that it is no judge here"


def _worse(solver: str) -> str:
    return f"{solver} calls optimal what is worth less than the allocation at hand, so that it is no judge here"


def _blurred(solver: str) -> str:
    return f"{solver} lets the tiers before it have less than they have, so that it is no judge of the last"


def _too_large(solver: str) -> str:
    return (
        f"the allocation is feasible, and the program of something better is beyond {solver}, too large or too uneven"
    )


def _beaten(
    instance: Instance, policy: Policy, tasks: list[int], better: list[int], more: Fraction, tier: int = 0
) -> Certificate:
    known = _bounded(instance, policy, tasks, more, tier=tier)
    reason = f"{BOXES} finds a strictly better allocation"
    evidence = replace(known.proof(WholeEvidence), judge=BOXES, better=better)
    return replace(known, valid=False, reason=reason, evidence=evidence)


def _verdict(judge: str, better: list[int], proof: WholeEvidence) -> Certificate:
    """Return that nothing is better than what is certified, or that these tasks (n,) are."""
    reason = f"{judge} finds a strictly better allocation" if better else ""
    evidence = replace(proof, better=better)
    return Certificate("bound", not better, 0.0, gap=None if better else 0.0, evidence=evidence, reason=reason)


def _bounded(
    instance: Instance,
    policy: Policy,
    tasks: list[int],
    more: Fraction | None,
    reason: str = NO_TIME,
    *,
    late: bool = False,
    users: WholeUsers | None = None,
    tier: int = 0,
    deadline: Deadline = PAST,
) -> Certificate:
    """Return what is known of a sum, product or utility that is not proven: how much larger another can be.

    Of the first tier of which it is not; before all that, how much more can be kept of guarantees that are not.
    """
    users = users or WholeUsers(instance, policy, exhaustive_search.playing(instance))
    own = [tasks[i] for i in users.members]
    if more is not None:
        # The farther apart tasks, or utilities of a large alpha, are, the less prices of a tree in floats may say.
        more = min(more, room_above(users, own, tier))
    found = _parts_bound(users, tasks, deadline) or told(users, own, more, tier)
    evidence = WholeEvidence(judge="nobody", level=found.value, bound=found.bound, late=late)
    return Certificate("bound", None, 0.0, gap=found.gap, evidence=evidence, reason=f"{reason}: {found.words}")


def _parts_bound(users: WholeUsers, tasks: list[int], deadline: Deadline) -> ObjectiveBound | None:
    """Return how much of a guarantee could be kept where least of one is; None where that is no more, or all are kept.

    More of it would be better than any sum or product.
    """
    if users.kept(tasks):
        return None
    fair = WholeUsers(users.instance, replace(users.policy, objective="leximin"), users.members)
    first = next(claims(fair, tasks))
    if first.level >= fair.first_level:
        return None
    (lowest,) = level_bounds(fair, tasks, first, worth_of(fair, deadline), deadline, above=False)
    value, bound = fair.told(lowest.level), Fraction(1)
    if lowest.bound < fair.first_level:
        bound = fair.told(lowest.bound)
    if bound == value:
        return None
    words = f"the smallest part of a guarantee is {and_at_most(float(value), float(bound))}"
    return ObjectiveBound(value, bound, words, float(1 - value / bound))


def _larger_product(halves: MeetInTheMiddle, own: list[int], deadline: Deadline) -> list[int] | None:
    """Return members' tasks that are worth more; [] for none, None where there are too many allocations to list."""
    try:
        found = halves.within(halves.loss(own), deadline)
    except (TooManyChoices, exhaustive_search.SearchTooLong):
        return None
    if not found:
        raise SolverError("the search of halves does not find the allocation at hand: it is not believed")
    return found[0] if halves.value(found[0]) > halves.value(own) else []
