"""The one door: an instance and a policy go in, an allocation with its certificate comes out, or an exception."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import (
    CertificateError,
    EngineError,
    InstanceError,
    PolicyError,
    SolverError,
    TimeLimitError,
    checked_flags,
)
from ..base.numbers.enclosures import Enclosure
from ..base.numbers.quantities import amount
from ..base.parallel import Workers, one_thread
from ..base.solvers.table import DIRECT, interface
from ..base.tolerances import CAPACITY
from ..certificates import bottleneck, bounds, chain, chain_point, duals, prices, stops, whole, whole_servers
from ..certificates import exact as exactly
from ..certificates.exact import certify_filling, certify_rounded
from ..certificates.feasibility import infeasibility
from ..engines.placing import fewest
from ..engines.problem import Answer, Problem, in_floats
from ..engines.registry import Engine, engine_for, others
from ..model.allocation import Allocation
from ..model.certificate import Certificate, Kind
from ..model.evidence import (
    BoundsEvidence,
    ChainEvidence,
    EachStopsEvidence,
    Evidence,
    PriceEvidence,
    StopEvidence,
    Unrounded,
    WholeEvidence,
)
from ..model.hierarchy import Clock, broken
from ..model.hierarchy.market import market_rules
from ..model.instance import FEATURES, Instance
from ..model.organisation import Broken
from ..model.policies import AnyPolicy, policy_named, policy_on
from ..model.whole_values import WholeUsers

__all__ = ["allocated", "in_whole_tasks", "settled", "solve"]

FILLING = 0.2
"""Part of the time that is left in which an answer that is not proven is filled up one by one."""

FILLED = ("leximin", "alpha", "sum")
"""Objectives of whole tasks that grow with anybody's tasks; single machines are filled up one by one."""

BETTER = 50
"""Times that what a proof meets, and is better, takes the place of an answer."""

CLIMBING = "climbing"
"""The engine that answers are of which a proof came upon."""

PRECISION = Fraction(1, 10**30)
WIDTHS = "a relative width such as 1e-30, above 0 and below 1"
"""Relative width of enclosures where none is asked for."""

Judged = tuple[Answer, np.ndarray, np.ndarray | None, Certificate]
"""An engine's answer, the tasks of all users, their placement, and what the certificate says."""


def solve(
    instance: Instance,
    policy: AnyPolicy = "drf",
    *,
    integer: bool = False,
    engine: str = "auto",
    solver: str = DIRECT,
    exact: bool = False,
    time_limit: float | None = None,
    precision: Any = None,
    jobs: int | None = 1,
    dask: str | None = None,
) -> Allocation:
    """Return the allocation of the instance under the policy, proven.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        A name of the table, which ``drfopt policies`` prints (``drf``, ``ceei``, ``single:cpu``, ``alpha:2`` ...), the
        path of a formulation file (``*.py``), or a function ``build(data, held)`` of such a file.
    integer : bool
        Whole tasks instead of divisible ones. A formulation file whose tasks are integer variables is of whole tasks
        at any rate.
    engine : str
        A name of ``drfopt.engines.registry.ENGINES``; ``auto`` takes the first that can, and where it
        fails those that its row names, which the result says.
    solver : str
        Who is asked integer programs, with ``integer=True``: ``highs``, ``cbc``, ``gurobi`` ..., a name of
        ``drfopt.base.solvers.table.SOLVERS`` or of ``pulp.listSolvers()``; all but ``highs`` through PuLP.
    exact : bool
        Compute in rational numbers; tasks and levels are fractions; of CEEI and alpha, where they are not known
        to be rational, enclosures.
    time_limit : float, optional
        Seconds, the proof included.
    precision : number
        Largest relative width of an `Enclosure`, for ``exact=True``; 1e-30 where none is given.
    jobs, dask : int or None, str
        Processes (None for one a core) or the address of a Dask scheduler, among which parts of a cluster of machines
        that have no capacity in common are divided.

    Returns
    -------
    Allocation
        Its certificate holds (for a user's formulation file: the allocation is feasible). Whole tasks are not always
        proven to be best, and not every proof is in exact numbers: ``status``, ``certificate.valid`` and
        ``certificate.rigorous`` say so.

    Raises
    ------
    PolicyError, EngineError
        The policy or the engine is unknown or cannot take the instance; or another argument is none of those above.
    FormulationError
        A formulation file is at fault.
    SolverError, TimeLimitError
        The solver ended without an optimum.
    CertificateError
        An answer was found that could not be proven; it is not returned.
    """
    begun = time.perf_counter()
    checked_flags(integer=integer, exact=exact)
    chosen = policy_on(policy, instance)
    chosen.check(instance, integer, FEATURES)
    deadline = Deadline.asked(time_limit)
    asked = interface(solver)
    if solver != DIRECT and not integer:
        raise EngineError(f"solver {solver!r} is one of integer programs: ask for whole tasks with it, or drop it")
    problem = Problem(
        instance,
        chosen,
        integer,
        deadline,
        _width(precision, exact),
        Workers(jobs, dask),
        asked,
    )
    if chosen.objective == "formulation":
        if exact:
            raise EngineError(f"{chosen.name} is solved as it is written, in floats: drop exact=True (--exact)")
        problem = _as_stated(problem)
        # Tasks that are whole by themselves are refused what --integer is refused.
        chosen.check(instance, problem.integer, FEATURES)
    runner = engine_for(engine, problem, exact and not integer)
    if problem.workers.several and not (runner.divides and instance.machines is not None):
        raise EngineError(
            f"engine {runner.name!r} has nothing here to divide among processes, lp-chain has on machines: "
            "leave jobs and dask out"
        )
    return allocated(problem, _proven(problem, runner, exact, next_ones=engine == "auto"), begun, solver)


def allocated(problem: Problem, judged: Judged, begun: float, solver: str = DIRECT) -> Allocation:
    """Return what was answered and judged, with all that is told of it; it began at that `time.perf_counter`."""
    answer, tasks, placement, proof = judged
    instance, chosen = problem.instance, problem.policy
    # Of a policy of single machines the placement is the answer, and nobody's to change.
    placed = (
        partial(_as_it_is, placement) if chosen.objective == "servers" else partial(fewest, instance, tasks, placement)
    )
    return Allocation(
        instance=instance,
        policy=chosen.name,
        tasks=tasks,
        leveled=_leveled(problem, tasks, answer),
        certificate=proof,
        placed=placed,
        placed_by_type=None if instance.type_table is None else placement,
        prices=_reported(problem, answer),
        unplaced=tuple(instance.users[i] for i in np.flatnonzero(problem.unplaced)),
        integer=problem.integer,
        engine=answer.engine,
        solver="" if solver == DIRECT else solver,
        status=_status(proof, answer),
        seconds=time.perf_counter() - begun,
    )


def _as_it_is(found: Any) -> Any:
    """Return what was found (a function with a name, so that an allocation can be pickled)."""
    return found


def in_whole_tasks(instance: Instance, policy: AnyPolicy, integer: bool = False) -> bool:
    """Say whether tasks are whole: where that is asked for, and where a formulation file's are integer variables."""
    chosen = policy_named(policy)
    if integer or chosen.objective != "formulation":
        return integer
    return _as_stated(Problem(instance, chosen)).integer


def _as_stated(problem: Problem) -> Problem:
    """Return the problem of a formulation file in the tasks that it states: whole ones or divisible ones."""
    from ..engines.formulation.rounds import as_stated

    return as_stated(problem)


def _proven(problem: Problem, runner: Engine, exact: bool, next_ones: bool) -> Judged:
    """Return an engine's answer, tasks, placement and a certificate that holds.

    Where the engine fails, or its answer is not proven, those that its row names are asked one after the other, and the
    result says so.

    Raises
    ------
    SolverError, CertificateError
        The error of the first, when none succeeds.
    """
    try:
        return _attempt(problem, runner, exact)
    except TimeLimitError:
        raise
    except (SolverError, CertificateError) as error:
        for other in others(runner, problem) if next_ones and problem.n else ():
            try:
                answer, tasks, placement, proof = _attempt(problem, other, exact)
            except TimeLimitError:
                raise
            except (EngineError, PolicyError, SolverError, CertificateError):
                continue
            return replace(answer, engine=f"{answer.engine} after {runner.name}"), tasks, placement, proof
        raise error


@one_thread()
def _attempt(problem: Problem, runner: Engine, exact: bool) -> Judged:
    """Return an engine's answer, tasks, placement and certificate, which holds: otherwise that is an error."""
    answer = runner.solve(problem) if problem.n else _nothing(problem, exact)
    if runner.exact and not exact:
        answer = in_floats(answer)
    if not answer.engine:
        answer = replace(answer, engine=runner.name)
    return settled(problem, answer, exact)


def settled(problem: Problem, answer: Answer, exact: bool = False) -> Judged:
    """Return the answer, or what its proof meets and is better, with tasks, placement and certificate, which holds.

    Whole tasks whose search was cut short are filled up before they are judged, and those after whose proof somebody
    still had room.
    """
    answer, tasks, placement, proof = _judged(problem, _filled(problem, answer), exact)
    if proof.valid is False and answer.finer is not None and (found := answer.finer()) is not None:
        answer, tasks, placement, proof = _judged(problem, replace(found, engine=answer.engine), exact)
    # Who calls optimal what is not is found out; whose time is up is helped.
    with suppress(TimeLimitError, SolverError):
        for _ in range(BETTER if answer.status != "optimal" else 0):
            if not (isinstance(proof.evidence, WholeEvidence) and proof.evidence.better):
                break
            above = _filled(problem, _climbed(problem, answer, proof.evidence.better))
            higher, placed = _spread(problem, above, exact), _placed(problem, above)
            proof = _prove(problem, higher, placed, above)
            answer, tasks, placement = above, higher, placed
    if proof.valid is None and isinstance(proof.evidence, WholeEvidence) and proof.evidence.maximal is False:
        fuller = _filled(problem, replace(answer, status="feasible"))
        if fuller.tasks.tolist() != answer.tasks.tolist():
            answer, tasks, placement, proof = _judged(problem, fuller, exact)
    if answer.status != "optimal" and proof.valid is False and not proof.violation:
        # Something better exists, and the engine did not say otherwise.
        proof = replace(proof, valid=None)
    if answer.whole_part is not None:
        below = _below_continuous(problem, answer.tasks, answer.whole_part)
        proof = replace(proof, evidence=replace(proof.evidence, below_continuous=below))
    if proof.valid is False or proof.violation > CAPACITY:
        raise CertificateError(
            f"engine {answer.engine!r} found an allocation that its certificate ({proof.kind}) does not prove: "
            f"{proof.reason}"
        )
    return answer, tasks, placement, proof


def _judged(problem: Problem, answer: Answer, exact: bool) -> tuple:
    """Return the answer, its tasks, its placement and what the certificate says of them."""
    tasks = _spread(problem, answer, exact)
    placement = None if answer.amounts is None else problem.by_type.placement(answer.amounts)
    return answer, tasks, placement, _prove(problem, tasks, placement, answer)


def _filled(problem: Problem, answer: Answer) -> Answer:
    """Return whole tasks that are not said to be best with all more that there is room for, in the policy's order."""
    if not problem.integer or answer.status == "optimal" or problem.policy.objective not in FILLED:
        return answer
    from ..engines.whole.filling_up import filled

    return filled(replace(problem, deadline=problem.deadline.part(FILLING)), answer)


def _climbed(problem: Problem, answer: Answer, better: list[int]) -> Answer:
    """Return the tasks (n,) that the proof of an answer met and that are better, packed where there are machines."""
    from ..engines.whole.frontier import packed_as

    own = [better[i] for i in problem.members.tolist()]
    engine = answer.engine if answer.engine.startswith(CLIMBING) else f"{CLIMBING} after {answer.engine}"
    if problem.instance.machines is None:
        return Answer(np.array(own, dtype=np.int64), status="feasible", engine=engine)
    users = problem.whole_users
    return replace(packed_as(problem, users, own), engine=engine)


def _width(precision: Any, exact: bool) -> Fraction:
    if precision is not None and not exact:
        raise PolicyError(f"the precision {precision} is that of enclosures: ask for exact=True (--exact) with it")
    try:
        width = PRECISION if precision is None else amount(precision, "the precision (--precision)", WIDTHS)
    except InstanceError as error:  # an amount, but none of the cluster's
        raise PolicyError(str(error)) from None
    if not 0 < width < 1:
        raise PolicyError(f"the precision (--precision) is {precision}: write {WIDTHS}")
    return width


def _status(proof: Certificate, answer: Answer) -> str:
    """Return ``optimal`` where that is proven, though the engine may not have known; else what the engine says.

    What it calls optimal and nobody proves is ``time_limit`` where the proof wanted time, or else ``feasible``.
    A formulation's answer is ``solved``: what is best is the file's own claim.
    """
    if proof.valid:
        return "optimal"
    if proof.kind != "bound" or answer.status != "optimal":
        return answer.status
    return "time_limit" if proof.proof(WholeEvidence).late else "feasible"


def _below_continuous(problem: Problem, tasks: np.ndarray, whole_part: np.ndarray) -> list[tuple[str, int, int]]:
    """Return who has less than the whole part of her continuous optimum: name, tasks and that whole part."""
    rows = zip(problem.members.tolist(), tasks.tolist(), whole_part.tolist(), strict=True)
    return [(problem.instance.users[i], x, promised) for i, x, promised in rows if x < promised]


def _nothing(problem: Problem, exact: bool) -> Answer:
    """Return the only allocation there is when nobody can run anything."""
    none = np.zeros(0, dtype=object if exact else float)
    pool = problem.instance.machines is None
    prices = None
    if problem.policy.objective not in ("leximin", "path"):
        prices = np.full((problem.k, problem.m), Fraction(0) if exact else 0.0, dtype=none.dtype)
    proof: Evidence = ChainEvidence(packing=[])
    if prices is not None:
        proof = PriceEvidence(packing=[], prices=prices)
    elif "organisation" in problem.instance.features:
        proof = StopEvidence(packing=[])
    return Answer(none, amounts=None if pool else none, prices=prices, evidence=proof)


def _spread(problem: Problem, answer: Answer, exact: bool) -> np.ndarray:
    """Return the tasks of all users of the instance, (n,); who does not take part has 0."""
    n = problem.instance.n
    if exact:
        tasks = np.full(n, Fraction(0), dtype=object)
        tasks[problem.members] = [x if isinstance(x, Enclosure) else Fraction(x) for x in answer.tasks.tolist()]
        return tasks
    dtype: Any = np.int64 if problem.integer else np.float64
    if problem.everyone:
        return np.asarray(answer.tasks, dtype=dtype)
    tasks = np.zeros(n, dtype=dtype)
    tasks[problem.members] = answer.tasks
    return tasks


def _leveled(problem: Problem, tasks: np.ndarray, answer: Answer) -> Callable[[], np.ndarray]:
    """Return who returns the levels: of a market of many users nobody needs rates but who asks for levels."""
    if answer.exact is None and tasks.dtype != object and _market(problem):
        return partial(problem.policy.levels, problem.instance, tasks)
    return partial(_as_it_is, _levels(problem, tasks, answer))


def _market(problem: Problem) -> bool:
    """Say whether this is a market of divisible tasks in a pool whose incomes are spent whatever the rates are."""
    plain = problem.instance.machines is None and "organisation" not in problem.instance.features
    return plain and not problem.integer and problem.policy.objective == "alpha" and problem.policy.alpha == 1


def _levels(problem: Problem, tasks: np.ndarray, answer: Answer) -> np.ndarray:
    if answer.exact is not None:
        # Rates that floats hold badly would spoil levels that floats hold well.
        exact = _levels(problem, _spread(problem, answer.exact, exact=True), answer.exact)
        try:
            return exact.astype(np.float64)
        except OverflowError:
            raise SolverError("the levels are beyond the range of floats: use exact=True, or change weights") from None
    if problem.integer and problem.policy.objective == "leximin" and "organisation" in problem.instance.features:
        users = problem.whole_users
        levels = np.zeros(problem.instance.n)
        levels[problem.members] = [float(users.level(p, int(tasks[i]))) for p, i in enumerate(users.members)]
        return levels
    if problem.integer and problem.policy.objective in ("alpha", "sum") and "organisation" in problem.instance.features:
        return np.where(problem.playing, market_rules(problem.instance, problem.policy).rates * tasks, 0.0)
    if answer.levels is not None:
        levels = np.zeros(problem.instance.n) if tasks.dtype != object else tasks * 0
        levels[problem.members] = answer.levels
        return levels
    if tasks.dtype == object or problem.policy.path is not None:
        return problem.policy.levels(problem.instance, tasks)
    return problem.all_rates * tasks


def _reported(problem: Problem, answer: Answer) -> np.ndarray | None:
    if answer.prices is None:
        return None
    return answer.prices[0] if problem.instance.machines is None else answer.prices


def _prove(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Return the certificate that belongs to what was asked for: one row of the table below."""
    return PROOFS[_kind(problem, placement is None, tasks.dtype == object)](problem, tasks, placement, answer)


def _kind(problem: Problem, pool: bool, exact: bool) -> str:
    """Return the row of the table of proofs that belongs to what was asked for."""
    objective = problem.policy.objective
    kind = ("whole servers" if objective == "servers" else "whole") if problem.integer else objective
    if kind == "leximin":
        kind += " pool" if pool else " machines"
    if exact and kind in EXACT:
        kind = EXACT[kind]
    bounded = "organisation" in problem.instance.features and problem.policy.objective != "servers"
    if problem.policy.objective in ("alpha", "sum") and not problem.integer:
        # Types on machines have no prices of their own in a market; sums with them have.
        typed = problem.policy.objective == "alpha" and problem.instance.type_table is not None
        kind = ("exact bounds" if exact else "bounds") if bounded or typed else kind
    elif bounded and not problem.integer:
        kind = "organisation"
    return "formulation" if problem.policy.objective == "formulation" else kind


def _bottlenecks(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify a pool by its bottlenecks: those of the fractions, where the tasks are fractions that were rounded."""
    if answer.exact is not None:
        exact = _spread(problem, answer.exact, exact=True)
        levels = _levels(problem, tasks, answer)
        return certify_rounded(problem.instance, problem.policy, exact, tasks, levels)
    return bottleneck.certify(problem.instance, problem.policy, tasks, problem.all_rates)


def _chain(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify a leximin on machines by its rounds."""
    if answer.exact is not None:
        return _rounded(problem, tasks, placement, answer.exact)
    rounds = _of(ChainEvidence, answer).rounds
    if answer.chain_point is not None:
        return chain_point.certify(problem.instance, problem.policy, tasks, placement, rounds, answer.chain_point)
    return chain.certify(problem.instance, problem.policy, tasks, placement, rounds)


def _prices(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify a market by its prices."""
    if answer.exact is not None:
        return _rounded(problem, tasks, placement, answer.exact)
    fine, priced = answer.fine, _priced(answer)
    rates = None if problem.policy.alpha == 1 else problem.all_rates
    return prices.certify(problem.instance, problem.policy, tasks, placement, priced, rates, fine)


def _duals(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify a sum by its prices."""
    if answer.exact is not None:
        return _rounded(problem, tasks, placement, answer.exact)
    return duals.certify(problem.instance, problem.policy, tasks, placement, _priced(answer))


def _rounded(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, found: Answer) -> Certificate:
    """Certify fractions or enclosures, and how far off them the floats are."""
    exact, placed = _spread(problem, found, exact=True), _placed(problem, found)
    proof = exactly.certify(problem.instance, problem.policy, exact, placed, found.evidence)
    return exactly.rounded(proof, problem.instance, problem.policy, exact, tasks, placement)


def _bounds(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify a market or sum under rules by its prices: in fractions, where the tasks are fractions that were rounded.

    What is a rounding of some may be all that others have, so that of rounded tasks nothing is proven by themselves.
    """
    instance, policy, found = problem.instance, problem.policy, answer.exact
    if found is None:
        proof = bounds.certify(instance, policy, tasks, placement, _priced(answer), _bounded(answer))
        return _read(problem, tasks, placement, proof)
    if ((np.asarray(_priced(found)) > 0) & (_priced(answer) == 0)).any():
        raise SolverError("what users pay is beyond the range of floats: use exact=True, or take other weights")
    exact, placed = _spread(problem, found, exact=True), _placed(problem, found)
    proof = bounds.certify_exactly(instance, policy, exact, placed, _bounded(found))
    one = Unrounded(exact, _levels(problem, exact, found), placed, proof.evidence)
    said = replace(_bounded(answer), prices=answer.prices, broken=_in_floats(proof.evidence.broken))
    said = replace(said, unpriced=proof.evidence.unpriced, unrounded=one)
    return replace(exactly.rounded(proof, instance, policy, exact, tasks, placement), evidence=said)


def _read(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, proof: Certificate) -> Certificate:
    """Return a certificate of floats that its own verifier does not refuse, nor leaves open what fractions decide."""
    if not proof.valid or problem.n > bounds.FRACTIONS:
        return proof
    instance, unmeasured = problem.instance, [None] * len(tasks)
    # As it is told: on few classes, or by type.
    placed = fewest(instance, tasks, placement) if instance.type_table is None else placement
    valid, fault = exactly.verified(instance, problem.policy, tasks, unmeasured, placed, proof.evidence)
    # Of a sum there is always an answer in fractions, of a market not.
    refused = not valid if problem.policy.objective == "sum" else valid is False
    return replace(proof, valid=False, reason=fault) if refused else proof


def _placed(problem: Problem, found: Answer) -> np.ndarray | None:
    return None if found.amounts is None else problem.by_type.placement(found.amounts)


def _servers(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify every machine by itself."""
    instance, found = problem.instance, answer.exact
    stopped = (found or answer).evidence
    given = stopped.classes if isinstance(stopped, EachStopsEvidence) else {}
    if found is None:
        return bottleneck.certify_servers(instance, tasks, placement, given)
    exact = _spread(problem, found, exact=True)
    proof = bottleneck.certify_servers(instance, exact, _placed(problem, found), given)
    return exactly.rounded(proof, instance, problem.policy, exact, tasks, placement)


def _feasible(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify feasibility only: what a user's notion calls optimal is hers to define."""
    ruled = "organisation" in problem.instance.features
    lost: tuple = ()
    # What is promised and forbidden has nothing to do with the notion: no shares are compared here.
    if problem.integer:
        users = WholeUsers(problem.instance, policy_named("drf"), problem.members.tolist())
        whole_tasks = [int(x) for x in tasks.tolist()]
        fault = whole.impossible(users, whole_tasks, None if placement is None else answer.evidence.packing)
        violation, lost = float("inf") if fault else 0.0, users.broken(whole_tasks)
    else:
        violation, fault = infeasibility(problem.instance, tasks, placement)
        if ruled:
            clock = Clock(problem.instance, policy_named("drf"))
            fault, lost = stops.exceeded(clock, tasks, placement), broken(clock, tasks)
    if fault and ruled:
        raise CertificateError(f"{problem.policy.name} gave an allocation that is not possible: {fault}")
    reason = fault or answer.reason
    valid = False if violation > CAPACITY else None
    return Certificate(
        "feasibility", valid, violation, gap=None, evidence=replace(answer.evidence, broken=lost), reason=reason
    )


def _stops(problem: Problem, tasks: np.ndarray, placement: np.ndarray | None, answer: Answer) -> Certificate:
    """Certify an organisation's division by the stops of its clock."""
    instance, policy, found = problem.instance, problem.policy, answer.exact
    if found is None:
        clock = Clock(instance, policy, exact=tasks.dtype == object)
        proof = stops.certify(clock, tasks, placement, _of(StopEvidence, answer).breakpoints)
        return replace(proof, evidence=replace(proof.evidence, broken=broken(clock, tasks)))
    clock, exact = Clock(instance, policy, exact=True), _spread(problem, found, exact=True)
    proof = stops.certify(clock, exact, _placed(problem, found), _of(StopEvidence, found).breakpoints)
    proof = exactly.rounded(proof, instance, policy, exact, tasks, placement)
    return replace(proof, evidence=replace(proof.evidence, broken=_in_floats(broken(clock, exact))))


def _in_floats(lost: Iterable[Broken]) -> tuple[Broken, ...]:
    """Return guarantees that do not fit together, their amounts rounded."""
    return tuple(replace(one, held=float(one.held), promised=float(one.promised)) for one in lost)


def _said(answer: Answer) -> list[tuple[Fraction, int, Any]]:
    """Return what an engine says of the levels of a leximin."""
    return answer.evidence.claims if isinstance(answer.evidence, WholeEvidence) else []


def _of(kind: type[Kind], answer: Answer) -> Kind:
    """Return what an engine gives as evidence, which has to be of the kind that the proof needs."""
    if not isinstance(answer.evidence, kind):
        raise CertificateError(f"engine {answer.engine!r} gave no {kind.__name__}, and without it there is no proof")
    return answer.evidence


def _priced(answer: Answer) -> np.ndarray:
    if answer.prices is None:
        raise CertificateError("the engine returned no prices, and without them there is no proof")
    return answer.prices


def _bounded(answer: Answer) -> BoundsEvidence:
    """Return the prices of ceilings, and the breakpoints that keep the guarantees; none where nothing is promised."""
    if answer.exact is not None and isinstance(answer.exact.evidence, BoundsEvidence):
        # What fractions prove of guarantees is kept; prices are rounded as tasks are.
        exact = answer.exact.evidence
        tiers = [tier.in_floats for tier in exact.tiers]
        return replace(exact, bounds=np.asarray(exact.bounds, dtype=np.float64), point=None, tiers=tiers)
    return answer.evidence if isinstance(answer.evidence, BoundsEvidence) else BoundsEvidence()


Proof = Callable[[Problem, np.ndarray, np.ndarray | None, Answer], Certificate]

PROOFS: dict[str, Proof] = {
    "leximin pool": _bottlenecks,
    "exact filling": lambda p, x, z, a: certify_filling(p.instance, p.policy, x),
    "exact prices": lambda p, x, z, a: exactly.certify(p.instance, p.policy, x, z, a.evidence),
    "leximin machines": _chain,
    "alpha": _prices,
    "sum": _duals,
    "whole": lambda p, x, z, a: whole.certify(
        p.instance,
        p.policy,
        x,
        a.evidence.packing,
        p.deadline,
        whole.Finder(a.engine, p.solver, _said(a)),
        p.whole_users,
    ),
    "bounds": _bounds,
    "exact bounds": lambda p, x, z, a: bounds.certify_exactly(p.instance, p.policy, x, z, _bounded(a)),
    "whole servers": lambda p, x, z, a: whole_servers.certify(
        p.instance, x, a.evidence.packing, p.deadline, whole.Finder(a.engine, p.solver)
    ),
    "servers": _servers,
    # Where nobody plays no engine was asked, and nothing was rounded.
    "path": lambda p, x, z, a: (
        _bottlenecks(p, x, z, a) if p.n else exactly.certify_filling(p.instance, p.policy, np.full(len(x), Fraction(0)))
    ),
    "formulation": _feasible,
    "organisation": _stops,
}
"""The certificate of each kind of answer."""

EXACT = {
    "leximin pool": "exact filling",
    "path": "exact filling",
    "leximin machines": "exact prices",
    "sum": "exact prices",
    "alpha": "exact prices",
}
"""The certificate of an answer in rational numbers, by that of the same in floats."""
