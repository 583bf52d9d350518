"""What to buy so that the fair allocation gives users what they need: the cheapest purchase, or how near it is."""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...base.deadline import Deadline
from ...base.errors import InstanceError, PolicyError, SolverError, TimeLimitError, checked_flags
from ...base.numbers.shown import counted, not_below, percent, tenths
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...base.tolerances import FILE_ERROR
from ...model.allocation import Allocation
from ...model.instance import FEATURES, Instance
from ...model.naming import some
from ...model.policies import AnyPolicy, policy_on
from .branch_and_bound import PurchaseSearch
from .concessions import Concession, concessions
from .judging import Trial
from .offers import Shop, shop
from .targets import Target, check_tiers, targets_of

__all__ = ["Purchase", "size"]

FAR = 10**6
"""Costs so many times as large are named where the search fails."""

PATIENCE = 20.0
"""Seconds of search, without a limit of one's own, among amounts that may be any number: there the last gap may never
close."""

ANY_AMOUNT = "amounts that may be any number leave a gap: sell them in pieces (--unit), or search longer (--time-limit)"


@dataclass(frozen=True, eq=False)
class Purchase(Result):
    """What to buy, what it costs, what every purchase costs at least, and the fair allocation afterwards.

    Attributes
    ----------
    instance : Instance
        The cluster before.
    policy : str
    targets : tuple of Target
    shop : Shop
        What was for sale.
    counts : tuple of Fraction or None
        Steps bought of each offer; None where nothing that meets the targets is known.
    cost : Fraction or None
    bound : Fraction
        No purchase that meets the targets costs less.
    status : str
        ``optimal``, ``time_limit`` (the time was up, of the search or of whole tasks of cheaper purchases: a purchase
        that suffices, and a bound), or ``infeasible``.
    allocation : Allocation or None
        Of the cluster after the purchase, certified; where nothing meets the targets that of the purchase that came
        nearest of those that were judged.
    impatient : bool
        Whether a search without a limit was stopped, as its amounts may be any number.
    nearest : dict or None
        Where nothing meets the targets: amounts of the purchase that came nearest of those that were judged.
    concessions : Concession or None
        Where nothing meets the targets: by how much they must come down at the least.
    judged, parts : int
        Purchases whose fair allocation was computed, and linear programs solved.
    undecided : int
        Cheaper ones that were judged by whole tasks which are not proven the best: those may meet the targets.
    seconds : float
    """

    _schema = "drfopt purchase 1"
    _rows = "buy"

    instance: Instance
    policy: str
    targets: tuple[Target, ...]
    shop: Shop
    counts: tuple[Fraction, ...] | None
    cost: Fraction | None
    bound: Fraction
    status: str
    allocation: Allocation | None
    impatient: bool = False
    nearest: dict[str, Fraction] | None = None
    concessions: Concession | None = None
    judged: int = 0
    parts: int = 0
    undecided: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def bought(self) -> dict[str, Fraction]:
        """Machines, or units, of each offer; empty where nothing meets the targets."""
        return {} if self.counts is None else self.shop.amounts(self.counts)

    @property
    def gap(self) -> float | None:
        """By how much of its cost the purchase may be too dear; None where there is none."""
        if self.cost is None:
            return None
        return float((self.cost - self.bound) / self.cost) if self.cost else 0.0

    @property
    def cluster(self) -> Instance | None:
        """The cluster after the purchase."""
        return None if self.counts is None else self.shop.after(self.counts)

    def named(self) -> dict[str, Any]:
        """Return the amounts bought, by offer."""
        return dict(self.bought)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt size --json`` prints; costs and amounts as numbers, or fractions as text."""
        document: dict[str, Any] = {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "status": self.status,
            "cost": None if self.cost is None else _plain(self.cost),
            "bound": _plain(self.bound),
            "gap": self.gap,
            "from_nothing": self.shop.empty,
            "buy": [
                {
                    "name": offer.name,
                    "cost": _plain(offer.cost),
                    "most": None if offer.most is None else _plain(offer.most),
                    "amount": _plain(self.bought[offer.name]) if self.bought else None,
                }
                for offer in self.shop.offers
            ],
            "targets": [
                {
                    "user": target.name,
                    "measure": target.measure,
                    "least": _plain(target.least),
                    "reached": None if got is None else _plain(got),
                    "met": None if got is None else target.met(got, self._claimed),
                }
                for target, got in self._reached()
            ],
            "judged": self.judged,
            "programs": self.parts,
            "seconds": self.seconds,
        }
        if self.concessions is not None:
            document["concessions"] = self.concessions.to_dict()
        if self.nearest is not None:
            document["nearest"] = {name: _plain(amount) for name, amount in self.nearest.items()}
        if self.allocation is not None:
            document["allocation"] = self.allocation.to_dict(instance=False)
        return document

    def sheet(self) -> Sheet:
        """Return the table: a row an offer, and below it what that does for the targets."""
        amounts = self.bought or self.nearest or {}
        rows = [
            (
                offer.name,
                _cell(offer.cost),
                None if offer.most is None else _cell(offer.most),
                _cell(self._before(offer.name)),
                _cell(amounts[offer.name]) if amounts else None,
                _cell(amounts[offer.name] * offer.cost) if amounts else None,
            )
            for offer in self.shop.offers
        ]
        columns = (
            Column("machine class" if self.instance.machines is not None else "resource"),
            *(Column(heading, number=True) for heading in ("cost", "most", "there", "buy", "for")),
        )
        title = f"{self.policy}, what to buy" + (f" - {self.instance.name}" if self.instance.name else "")
        return Sheet(title, columns, rows, tuple(self._notes()), document=self.to_dict)

    def _before(self, name: str) -> Fraction:
        if self.shop.empty:
            return Fraction(0)
        if self.instance.machines is None:
            return self.instance.exact_capacity[self.instance.resources.index(name)]
        return Fraction(self.instance.machines[self.instance.machine_names.index(name)].count)

    @property
    def _claimed(self) -> bool:
        """Whether the allocation is a formulation file's own claim."""
        return self.allocation is not None and self.allocation.status == "solved"

    def _reached(self) -> list[tuple[Target, Any]]:
        return [(t, None if self.allocation is None else t.reached(self.allocation)) for t in self.targets]

    def _proof(self) -> str:
        """Say what is known of cheaper purchases."""
        gap = not_below(self.gap or 0.0, 2)
        if self.status == "optimal":
            cheaper = f" by more than {gap:.2g} of it" if gap else ""
            return f"no purchase is cheaper{cheaper} (gap {gap:.2g})"
        return (
            f"meets the targets, but is not proven the cheapest: none costs less than {_text(self.bound)}, so at most "
            f"{percent(gap)} of it could be saved (gap {gap:.2g})"
        )

    def _notes(self) -> list[str]:
        notes = []
        if self.cost is None:
            notes.append(
                "nothing that may be bought meets the targets"
                + (f"; above is what came nearest of {counted(self.judged, 'purchase')} judged" if self.nearest else "")
            )
            if self.concessions is not None:
                notes.extend(self.concessions.sentences())
        else:
            notes.append(f"cost {_text(self.cost)}: {self._proof()}")
            if self.undecided:
                are = "1 cheaper one was" if self.undecided == 1 else f"{self.undecided:,} cheaper ones were"
                notes.append(f"{are} judged by whole tasks that are not proven the best, and may meet the targets")
            if self.allocation is not None and not self.allocation.finished:
                why = self.allocation.certificate.reason or self.allocation.status
                notes.append(f"what meets the targets is not proven the best, and the best may miss one: {why}")
            if self.impatient:
                notes.append(f"stopped after {PATIENCE:g} s: {ANY_AMOUNT}")
        reached = [(target, got) for target, got in self._reached() if got is not None]
        reached.sort(key=lambda pair: float(pair[1]) / float(pair[0].least))
        missed = sum(not target.met(got, self._claimed) for target, got in reached)
        if reached:
            shown = ", ".join(f"{target} has {_text(got)}" for target, got in reached[:5])
            more = f" and {len(reached) - 5} more" if len(reached) > 5 else ""
            notes.append(f"targets missed: {missed} of {len(reached)}; nearest to it: {shown}{more}")
        if self.allocation is not None:
            fair = self.allocation.certificate
            how = "in fractions" if self.allocation.exact else f"to {fair.violation:.1e}"
            notes.append(f"fair allocation afterwards: certificate ({fair.kind}) {_verdict(fair.valid)}, {how}")
            if self._claimed:
                notes.append(
                    "what a purchase brings is the formulation file's own claim, to the digits of its solver: a target "
                    f"counts as met from {FILE_ERROR:g} of it below"
                )
            whose = {target.name for target in self.targets}
            if nobodys := [user for user in self.allocation.unplaced if user not in whose]:
                notes.append("unplaced (a task fits on nothing open to it), without a target: " + some(nobodys))
        its = "its" if self.judged == 1 else "their"
        notes.append(
            f"{self.status}; {counted(self.judged, 'purchase')} judged by {its} fair allocation, "
            f"{counted(self.parts, 'linear program')}, "
            f"{self.seconds:.3g} s"
        )
        return notes


def size(
    instance: Instance,
    targets: str | Iterable[str | Target],
    costs: Mapping[str, Any],
    *,
    policy: AnyPolicy = "drf",
    most: Mapping[str, Any] | None = None,
    steps: Mapping[str, Any] | None = None,
    from_nothing: bool = False,
    integer: bool = False,
    time_limit: float | None = None,
) -> Purchase:
    """Return the cheapest purchase after which the fair allocation meets the targets.

    Parameters
    ----------
    instance : Instance
    targets : str or several
        ``A>=100`` tasks, ``A.share>=1/5``, ``A.level>=0.1``, ``*>=50%`` of the limit (or of what a
        ceiling allows) of all who can run a task and are not named.
    costs : mapping from machine class, or from resource of a pool, to number
        What is for sale, and what one machine or unit costs.
    policy : str, Policy or function
    most : mapping from name to number, optional
        The most that may be bought.
    steps : mapping from resource to number, optional
        Amounts in which a resource of a pool is sold; any amount by default.
    from_nothing : bool
        The machines of the instance are not there yet: build the cluster of what is bought alone.
    integer : bool
        Judge by whole tasks.
    time_limit : float, optional
        Seconds.  Without it the search ends when it is done, but among amounts that may be any number after 20 s.

    Returns
    -------
    Purchase
        Its allocation is certified. ``optimal`` says that all cheaper purchases were refuted or judged.

    Raises
    ------
    InstanceError, PolicyError
        When a target, an offer or the policy does not suit the instance.
    TimeLimitError
        When the time is up before any purchase was found that meets the targets.

    Notes
    -----
    Of whole tasks and of sums several allocations may be best.  The one that `solve` returns is judged: that is what
    "no cheaper purchase meets the targets" is about, and another as good may meet or miss them.

    Examples
    --------
    >>> cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    >>> size(cluster, "A>=5", {"cpu": 1, "memory": 1}, steps={"cpu": 2, "memory": 4}).status
    'optimal'
    """
    begun = time.perf_counter()
    checked_flags(from_nothing=from_nothing, integer=integer)
    chosen = policy_on(policy, instance)
    if chosen.path is not None:
        raise PolicyError(f"{chosen.name}: how much to buy is not known of levels along a path: use drf")
    chosen.check(instance, integer, knows=FEATURES)
    deadline = Deadline.asked(time_limit)
    sale = shop(instance, costs, most, steps, from_nothing)
    wanted = targets_of(targets, instance, integer)
    if chosen.objective in ("leximin", "servers"):
        check_tiers(instance, wanted, integer)
    endless = time_limit is None and not all(sale.whole)
    search = PurchaseSearch(sale, chosen, wanted, integer, Deadline.after(PATIENCE) if endless else deadline)
    homeless = search.relaxation.homeless(integer)
    for target in wanted:
        if homeless[target.user]:
            raise InstanceError(
                f"target {str(target)!r}: a task of user {target.name!r} fits on no machine that is there or for sale: "
                "sell one that it fits on, or ask for nothing of its own"
            )
    _run(search, sale)
    best, nearest = search.best, search.judge.nearest
    open_ = search.judge.undecided
    done, bound = search.done and not open_, min([search.bound, *(trial.cost for trial in open_)])
    if best is None and not done:
        came = (
            "" if nearest is None else f", the nearest that was judged reaches {tenths(nearest.worst)} of some target"
        )
        raise TimeLimitError(_none_found(search, endless), f"none costs less than {_text(bound)}{came}")
    trial = best or nearest
    return Purchase(
        instance=instance,
        policy=chosen.name,
        targets=wanted,
        shop=sale,
        counts=None if best is None else best.counts,
        cost=None if best is None else best.cost,
        bound=bound,
        status="infeasible" if best is None else "optimal" if done else "time_limit",
        allocation=None if trial is None else trial.allocation,
        impatient=endless and best is not None and not search.done,
        nearest=_amounts(sale, nearest) if best is None else None,
        concessions=concessions(search) if best is None else None,
        judged=len(search.judge.trials),
        undecided=len(open_),
        parts=search.solved,
        seconds=time.perf_counter() - begun,
    )


def _run(search: PurchaseSearch, sale: Shop) -> None:
    """Search, and name the costs where the solver does not weigh them."""
    try:
        search.run()
    except TimeLimitError:
        raise
    except SolverError as error:
        dear, cheap = (way(sale.offers, key=lambda offer: offer.cost) for way in (max, min))
        if dear.cost < FAR * cheap.cost:
            raise
        raise SolverError(
            f"the cheapest purchase is not found: one {dear.name} costs {_text(dear.cost)} and one {cheap.name} "
            f"{_text(cheap.cost)}, further apart than a solver weighs: give costs that are nearer to each other, or "
            "say how many of each may be bought at most (--max)"
        ) from error


def _none_found(search: PurchaseSearch, endless: bool) -> str:
    """Return why the search ended without a purchase that meets the targets, and what helps."""
    none = "no purchase that meets the targets was found"
    if search.done:
        undecided = counted(len(search.judge.undecided), "purchase")
        return (
            f"{none}, and of {undecided} that missed them the whole tasks are not proven the best: give them longer "
            "(--time-limit)"
        )
    if search.vain:
        return f"{none} in {search.solved:,} linear programs: say how much may be bought at the most (--max)"
    if endless:
        return f"{none} in {PATIENCE:g} s; {ANY_AMOUNT}"
    return "the time limit ran out before a purchase was found that meets the targets"


def _amounts(sale: Shop, trial: Trial | None) -> dict[str, Fraction] | None:
    return None if trial is None else sale.amounts(trial.counts)


def _verdict(valid: bool | None) -> str:
    return {True: "valid", False: "NOT valid", None: "not proven"}[valid]


def _plain(value: Any) -> int | float | str:
    """Return a whole number as int, a fraction that is a short decimal as float, and any other as text."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return value.numerator
        near = float(value)
        return near if Fraction(repr(near)) == value else str(value)
    return value if isinstance(value, int) else float(value)


def _cell(value: Fraction) -> int | float:
    """Return a number as a table shows it."""
    return value.numerator if value.denominator == 1 else float(value)


def _text(value: Any) -> str:
    return f"{float(value):.10g}" if not math.isinf(float(value)) else str(value)
