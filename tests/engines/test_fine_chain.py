"""Chains to 32 digits: what floats cannot prove of many rounds, and points that are none."""

from dataclasses import replace

import numpy as np
import pytest
from test_interior_chain import uneven_cluster

from drfopt import Instance, Machine, solve
from drfopt.base.errors import CertificateError
from drfopt.base.numbers.double_double import DoubleDouble
from drfopt.certificates import chain, chain_point
from drfopt.engines.leximin import fine_chain, interior_chain, lp_chain
from drfopt.engines.leximin.fine_chain import finer
from drfopt.engines.problem import Problem
from drfopt.model.policies import policy_named
from drfopt.solving import allocating


def limited(seed):
    """The same cluster with a limit for every third user."""
    plain = uneven_cluster(seed, 24, 5, 0.4)
    most = np.where(np.arange(24) % 3 == 0, 1.7, np.inf)
    return Instance(plain.demands, machines=plain.machines, eligible=plain.eligible, max_tasks=most)


def decimals(seed):
    """Demands and machines that no float names."""
    plain = uneven_cluster(seed, 24, 5, 0.4)
    machines = [Machine(one.name, [c / 10 for c in one.capacity], one.count) for one in plain.machines]
    return Instance(plain.demands / 10, machines=machines, eligible=plain.eligible, weights=np.arange(1, 25) / 10)


def fine(instance, engine=lp_chain):
    """The answer of an engine to 32 digits, and what the certificate says of it or of changes to it."""
    problem = Problem(instance, policy_named("drf"))
    found = finer(problem, engine.solve(problem))

    def judged(point=None, rounds=None, tasks=None):
        own = np.zeros(instance.n)
        own[problem.members] = found.tasks
        return chain_point.certify(
            instance,
            problem.policy,
            own if tasks is None else tasks,
            problem.placement(found.amounts),
            found.evidence.rounds if rounds is None else rounds,
            found.chain_point if point is None else point,
        )

    return found, judged


@pytest.mark.parametrize("engine", [lp_chain, interior_chain])
@pytest.mark.parametrize("build", [lambda seed: uneven_cluster(seed, 24, 5, 0.4), limited, decimals])
def test_the_levels_are_those_of_fractions_to_the_last_digits(engine, build):
    for seed in range(3):
        instance = build(seed)
        found, judged = fine(instance, engine)
        exact = solve(instance, exact=True)
        assert judged().valid and judged().violation < 1e-15
        assert found.tasks == pytest.approx(exact.tasks.astype(float), rel=3e-16)
        known = {float(link.level): link.level for link in exact.certificate.evidence.rounds}
        for r, level in enumerate(found.chain_point.levels.high.tolist()):
            near = min(known, key=lambda one, level=level: abs(one - level))
            assert abs(found.chain_point.levels.fraction(r) / known[near] - 1) < 1e-27


def test_a_proof_that_floats_do_not_make_is_made_to_32_digits(monkeypatch):
    instance = uneven_cluster(1, 24, 5, 0.4)
    plain = solve(instance, engine="lp-chain")
    monkeypatch.setattr(chain, "ROUNDED", 1e-8)
    asked = []
    monkeypatch.setattr(fine_chain, "settled", lambda *given: asked.append(1) or lp_chain.settled(*given))
    found = solve(instance, engine="lp-chain")
    assert asked and found.certificate.valid and found.certificate.violation < 1e-15 and found.engine == "lp-chain"
    assert found.levels == pytest.approx(plain.levels, rel=1e-13)
    monkeypatch.setattr(fine_chain, "MOST", 1)
    with pytest.raises(CertificateError):
        solve(instance, engine="lp-chain")


def changed(values, at, factor):
    """The same numbers but for one."""
    found = DoubleDouble(values.high.copy(), values.low.copy())
    found[at] = found[at] * factor
    return found


def test_points_that_are_none_are_refused():
    instance = uneven_cluster(1, 24, 5, 0.4)
    found, judged = fine(instance)
    point = found.chain_point
    for p in range(len(point.amounts.high)):
        for factor in (1 + 1e-6, -1.0):
            assert not judged(replace(point, amounts=changed(point.amounts, p, factor))).valid
    for r in range(len(point.prices)):
        assert not judged(replace(point, levels=changed(point.levels, r, 1 + 1e-6))).valid
    fits = instance.fits
    p, k = next((p, int(np.flatnonzero(~row)[0])) for p, row in enumerate(fits[point.users]) if not row.all())
    classes = point.classes.copy()
    classes[p] = k
    assert not judged(replace(point, classes=classes)).valid


def test_prices_tasks_and_rounds_that_are_none_are_refused():
    instance = uneven_cluster(1, 24, 5, 0.4)
    found, judged = fine(instance)
    point, rounds = found.chain_point, found.evidence.rounds
    refused = 0
    for r, table in enumerate(point.prices):
        cells = list(zip(*np.nonzero(table.high), strict=True))
        for cell in cells if len(cells) > 1 else []:
            prices = [*point.prices[:r], changed(table, cell, 1.01), *point.prices[r + 1 :]]
            refused += not judged(replace(point, prices=prices)).valid
    assert refused > 5
    for i in range(instance.n):
        tasks = found.tasks.copy()
        tasks[i] *= 1 + 1e-6
        assert not judged(tasks=tasks).valid
    for r, link in enumerate(rounds):
        without = [*rounds[:r], replace(link, finished=link.finished[1:]), *rounds[r + 1 :]]
        assert not judged(rounds=without).valid


def test_pools_have_no_such_point():
    pool = Problem(Instance([[1, 2], [2, 1]], [9, 9]), policy_named("drf"))
    assert lp_chain.solve(pool).finer is None


def degenerate(seed):
    """A small cluster with ties, classes that hold nothing of something, limits of 0 and users who fit nowhere."""
    rng = np.random.default_rng(seed)
    n, k, m = rng.integers(1, 6), rng.integers(1, 4), rng.integers(1, 4)
    demands = rng.choice([0, 1, 1, 2, 3, 1e-6, 1e6], (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rooms = rng.choice([0, 1, 2, 5, 1e6], (k, m), p=[0.1, 0.2, 0.3, 0.3, 0.1])
    limits = rng.choice([np.inf, 0, 1, 2.5, 100], n)
    return Instance(
        demands, machines=rooms + (rooms.sum(axis=0) == 0), eligible=rng.random((n, k)) < 0.6, max_tasks=limits
    )


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_what_can_be_computed_again_is_proven_and_nothing_else_is_returned(policy):
    proven = 0
    for seed in range(40):
        problem = Problem(degenerate(seed), policy_named(policy))
        if not problem.n:
            continue
        found = finer(problem, lp_chain.solve(problem))
        if found is not None:
            *_, proof = allocating._judged(problem, found, False)
            assert proof.valid, (seed, proof.reason)
            proven += 1
    assert proven > 15
