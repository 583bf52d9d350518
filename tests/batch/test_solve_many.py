"""Many pools at once: each is what `solve` returns for it, degenerate or not, and wrong answers are not proven."""

from fractions import Fraction

import numpy as np
import pytest

from drfopt import CertificateError, Instance, InstanceError, PolicyError, SolverError, solve, solve_many
from drfopt.base.tolerances import FIRST_ORDER, GAP, LEVEL, LEVEL_CEEI
from drfopt.certificates import prices as by_prices
from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.policies import policy_named
from drfopt.solving.batches import pool_proofs
from drfopt.solving.batches.batch import fill
from drfopt.solving.batches.equilibrium import clear
from drfopt.solving.batches.pool_proofs import bottlenecks, clearing
from drfopt.solving.batches.pools import batch_of

NSDI = {"demands": [[[1, 4], [3, 1]]], "capacity": [9, 18]}
SHAPES = ((1, 1), (1, 3), (3, 1), (2, 2), (3, 3), (5, 4))
LEXIMIN = ("drf", "asset", "single:r1", "tsf", "tasks")


def amounts(random, b, n, m):
    demands = random.choice([0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5], (b, n, m))
    demands[~demands.any(axis=2), 0] = 1.0
    return demands


def plain(random, b, n, m):
    return amounts(random, b, n, m), random.choice([1.0, 2.0, 4.0, 7.0], (b, m)), {}


def weighted(random, b, n, m):
    return *plain(random, b, n, m)[:2], {"weights": random.choice([1.0, 1.0, 2.0, 0.5], (b, n))}


def limited(random, b, n, m):
    return *plain(random, b, n, m)[:2], {"limits": random.choice([np.inf, np.inf, 0.0, 0.5, 1.0, 3.0], (b, n))}


def everything(random, b, n, m):
    demands, capacity, weights = weighted(random, b, n, m)
    return demands, capacity, weights | limited(random, b, n, m)[2]


def identical(random, b, n, m):
    demands, capacity, rest = everything(random, b, n, m)
    return np.repeat(demands[:, :1], n, axis=1), capacity, {"limits": rest["limits"]}


def lacking(random, b, n, m):
    demands, capacity, rest = everything(random, b, n, m)
    return demands, capacity * random.choice([0.0, 1.0, 1.0], (b, m)), rest


def binding(random, b, n, m):
    """Limits that are met exactly where a resource runs out."""
    demands, capacity, _ = plain(random, b, n, m)
    met = solve_many(demands, capacity).tasks
    return demands, capacity, {"limits": np.where(random.random((b, n)) < 0.5, met, np.inf)}


def ill_scaled(random, b, n, m):
    demands, capacity, _ = plain(random, b, n, m)
    units = 10.0 ** random.integers(-9, 10, (b, 1, m))
    return demands * units * 10.0 ** random.integers(-9, 10, (b, n, 1)), capacity * units[:, 0], {}


def shared(random, b, n, m):
    """One capacity, one vector of weights and one of limits for all."""
    demands, capacity, rest = everything(random, b, n, m)
    return demands, capacity[0], {name: values[0] for name, values in rest.items()}


FAMILIES = (plain, weighted, limited, everything, identical, lacking, binding, ill_scaled, shared)


def singles(demands, capacity, rest):
    """Yield the pools of a batch as instances."""
    rows = {name: np.broadcast_to(values, demands.shape[:2]) for name, values in rest.items()}
    for i, row in enumerate(demands):
        room = np.broadcast_to(capacity, (len(demands), demands.shape[2]))[i]
        names = {"weights": "weights", "limits": "max_tasks"}
        yield Instance(row, room, **{names[name]: values[i] for name, values in rows.items()})


def takes(policy, demands):
    return not policy.startswith("single") or demands[..., 0].all()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("policy", LEXIMIN)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_leximin_is_the_reference(family, policy):
    for shape in SHAPES:
        demands, capacity, rest = family(np.random.default_rng([*shape, 7]), 40, *shape)
        if policy.startswith("single"):
            demands[..., 0] = np.maximum(demands[..., 0], np.where(demands[..., 0] == 0, 1.0, 0.0))
        found = solve_many(demands, capacity, policy, **rest)
        for i, instance in enumerate(singles(demands, capacity, rest)):
            exact = reference(instance, policy)
            assert found.tasks[i] == pytest.approx(exact, rel=1e-12, abs=0)
            assert found.levels[i] == pytest.approx(policy_named(policy).rates(instance) * exact, rel=1e-12, abs=0)
            assert found.unplaced[i].tolist() == instance.unplaced().tolist()
        assert found.violation.max() <= LEVEL
        assert not found.gap.any()
        assert found.prices is None


def reference(instance, policy):
    rates = policy_named(policy).exact_rates(instance)
    tasks = progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)
    return np.array([float(x) for x in tasks])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_ceei_is_what_solve_returns(family):
    for shape in SHAPES:
        demands, capacity, rest = family(np.random.default_rng([*shape, 8]), 15, *shape)
        found = solve_many(demands, capacity, "ceei", **rest)
        for i, instance in enumerate(singles(demands, capacity, rest)):
            single = solve(instance, "ceei")
            assert found.tasks[i] == pytest.approx(single.tasks, rel=1e-8, abs=0)
            assert found.levels[i] == pytest.approx(single.levels, rel=1e-8, abs=0)
            assert found.unplaced[i].tolist() == instance.unplaced().tolist()
        assert found.violation.max() <= FIRST_ORDER
        # Where limits are met exactly, what floats hold does not always say who gives way.
        assert not found.singly.any() or family is binding


@pytest.mark.parametrize("policy", [*LEXIMIN[:2], pytest.param("ceei", marks=pytest.mark.slow)])
def test_a_long_batch_is_all_proven_at_once(policy):
    random = np.random.default_rng(5)
    for family in (plain, everything, identical, lacking):
        demands, capacity, rest = family(random, 30_000, 4, 3)
        found = solve_many(demands, capacity, policy, **rest)
        # Two resources filled by one user and by others' limits tell nothing of prices: the bound is then of fractions.
        assert found.singly.mean() <= (0.01 if policy == "ceei" and "limits" in rest else 0)
        assert np.isfinite(found.tasks).all() and (found.tasks >= 0).all()
        assert (found.gap <= 1e-12).all()


@pytest.mark.slow
def test_the_poor_are_priced_like_the_rich():
    random = np.random.default_rng(6)
    demands, capacity, _ = plain(random, 20_000, 2, 2)
    weights = 10.0 ** random.integers(-9, 10, (20_000, 2))
    found = solve_many(demands, capacity, "ceei", weights=weights)
    # Of what others have, rounding is more than all that some have.
    assert found.singly.mean() <= 0.05
    assert (found.tasks > 0).all()
    for i in [*np.flatnonzero(found.singly)[:10], *range(40)]:
        best = solve(Instance(demands[i], capacity[i], weights=weights[i]), "ceei", exact=True).tasks.astype(float)
        assert found.tasks[i] == pytest.approx(best, rel=1e-8, abs=0)
    weights = 10.0 ** random.integers(-9, 10, (100, 3))
    alone = solve_many(np.full((100, 3, 1), 2.0), [7.0], "ceei", weights=weights)
    assert alone.tasks == pytest.approx(3.5 * weights / weights.sum(axis=1, keepdims=True), rel=1e-12)


@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_the_block_a_pool_is_in_changes_nothing(policy):
    demands, capacity, rest = everything(np.random.default_rng(3), 3_000, 3, 3)
    whole = solve_many(demands, capacity, policy, **rest)
    rows = {name: values[2_000:2_007] for name, values in rest.items()}
    few = solve_many(demands[2_000:2_007], capacity[2_000:2_007], policy, **rows)
    assert few.tasks == pytest.approx(whole.tasks[2_000:2_007], rel=1e-12)


def test_the_papers_example():
    assert solve_many(**NSDI).tasks[0] == pytest.approx([3, 2], rel=1e-15)
    assert solve_many(**NSDI, policy="asset").tasks[0] == pytest.approx([63 / 25, 54 / 25], rel=1e-14)
    market = solve_many(**NSDI, policy="ceei")
    assert market.tasks[0] == pytest.approx([45 / 11, 18 / 11], rel=1e-14)
    assert market.prices[0] == pytest.approx([1 / 5, 1 / 90], rel=1e-13)
    named = solve_many(**NSDI, policy="single:cpu", resources=["cpu", "memory"])
    assert named.tasks[0] == pytest.approx(solve(Instance.library("nsdi2011"), "single:cpu").tasks)


def test_weights_per_resource():
    demands, weights = (
        np.array([[[1, 4], [3, 1]]] * 3),
        np.array([[[1, 2], [3, 1]], [[1, 1], [1, 1]], [[2, 2], [1, 1]]]),
    )
    for given in (weights, weights[:1]):
        found = solve_many(demands, [9, 18], weights=given)
        for i in range(3):
            single = solve(Instance([[1, 4], [3, 1]], [9, 18], weights=given[i % len(given)].tolist()))
            assert found.tasks[i] == pytest.approx(single.tasks, rel=1e-13)


def test_a_user_left_out_by_a_limit_of_0():
    demands = np.array([[[1, 4], [3, 1], [2, 2]]] * 2, dtype=float)
    for policy in ("drf", "ceei"):
        found = solve_many(demands, [9, 18], policy, limits=[[np.inf, np.inf, 0], [np.inf] * 3])
        assert found.tasks[0] == pytest.approx([*solve_many(**NSDI, policy=policy).tasks[0], 0])
        assert found.tasks[1, 2] > 0
        assert not found.unplaced.any()


def test_an_empty_batch():
    found = solve_many(np.zeros((0, 2, 3)), [1, 1, 1], "ceei")
    assert len(found) == 0
    assert found.tasks.shape == (0, 2) and found.prices.shape == (0, 3) and found.violation.shape == (0,)


# ---- what is not proven --------------------------------------------------------------------------------------------


def blocks(policy):
    for family in FAMILIES:
        demands, capacity, rest = family(np.random.default_rng(11), 200, 3, 2)
        batch = batch_of(demands, capacity, policy, rest.get("weights"), rest.get("limits"), None)
        yield batch.block(0, 200)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
@pytest.mark.parametrize("change", [1e-6, -1e-6, -1.0])
def test_the_bottleneck_proof_rejects(policy, change):
    for block in blocks(policy):
        tasks = fill(block)
        proven = bottlenecks(block, tasks) <= LEVEL
        for i in range(len(tasks)):
            wrong = tasks.copy()
            wrong[i] *= 1 + change
            moved = (wrong[i] != tasks[i]) & proven
            assert (bottlenecks(block, wrong)[moved] > LEVEL).all()
        assert moved.any()


@pytest.mark.parametrize("change", [1e-6, -1e-6, -1.0])
def test_the_proof_by_prices_rejects(change):
    for block in blocks("ceei"):
        tasks, prices = clear(block)
        assert (clearing(block, tasks, prices)[0] <= FIRST_ORDER).all()
        for i in range(len(tasks)):
            wrong = tasks.copy()
            wrong[i] *= 1 + change
            moved = wrong[i] != tasks[i]
            violation, gap, _ = clearing(block, wrong, prices)
            assert ((violation > FIRST_ORDER) | (gap > 1e-9))[moved].all()


def test_prices_of_the_wrong_size_or_sign_prove_nothing():
    block = batch_of(*NSDI.values(), "ceei", None, None, None).block(0, 1)
    tasks, prices = clear(block)
    for wrong in (prices * (1 + 1e-6), prices * [[1], [1 + 1e-6]], prices * 0, -prices, prices * np.nan):
        violation, gap, _ = clearing(block, tasks, wrong)
        assert violation > FIRST_ORDER and not np.isnan(gap)


@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize("entry", [np.nan, np.inf, -1.0])
def test_what_is_no_number_of_tasks_proves_nothing(policy, entry):
    for block in blocks(policy):
        tasks, prices = (fill(block), None) if policy == "drf" else clear(block)
        tasks[1, 7] = entry
        violation = bottlenecks(block, tasks) if prices is None else clearing(block, tasks, prices)[0]
        assert violation[7] == np.inf or entry == -1.0
        assert violation[7] > LEVEL
        assert np.isfinite(np.delete(violation, 7)).any()


@pytest.mark.slow
def test_weights_beyond_floats_are_refused_and_not_waited_for():
    demands = np.array([[[1e-100, 1.0], [1.0, 1e-100]]])
    for weights in ([1e-300, 1e300], [1e300, 1e300], [1e-300, 1e-300]):
        for policy in ("asset", "drf", "ceei"):
            for limits in (None, [1.0, 2.0]):
                try:
                    found = solve_many(demands, [1.0, 1e9], policy, weights=weights, limits=limits)
                except (InstanceError, SolverError, CertificateError, PolicyError):
                    continue
                assert np.isfinite(found.tasks).all()


def test_what_rounding_would_decide_is_finished_in_fractions():
    # Of r1 the second user holds 1e-12 of what the first does: her level is what a rounding of the first leaves.
    demands = np.array([[[1.0, 3.0], [1e-12, 0.0]]])
    rooms = [[0.3, 1.0], [0.1 + 1e-9, 0.3], [1.0, 9.0]]
    found = solve_many(np.repeat(demands, 3, axis=0), rooms, "tasks")
    assert found.singly.any()
    for i, room in enumerate(rooms):
        exact = reference(Instance(demands[0], room), "tasks")
        assert found.tasks[i] == pytest.approx(exact, rel=1e-12)
    assert found.violation.max() <= LEVEL


def test_a_pool_that_nobody_solves_is_named(monkeypatch):
    def lost(pools):
        tasks, prices = clear(pools)
        tasks[:, 4] = np.nan
        return tasks, prices

    def refuses(*_, **__):
        raise SolverError("no optimum")

    demands, capacity, rest = plain(np.random.default_rng(2), 6, 2, 2)
    monkeypatch.setattr("drfopt.solving.batches.batch.clear", lost)
    found = solve_many(demands, capacity, "ceei", **rest)
    assert found.singly.tolist() == [False] * 4 + [True, False]
    assert np.isfinite(found.tasks).all()
    monkeypatch.setattr("drfopt.solving.batches.batch.solve", refuses)
    with pytest.raises(SolverError, match="instance 4: no optimum"):
        solve_many(demands, capacity, "ceei", **rest)


# ---- bad input -----------------------------------------------------------------------------------------------------

GOOD = np.ones((3, 2, 2))


def spoiled(place, value, shape=(3, 2, 2)):
    values = np.ones(shape)
    values[place] = value
    return values


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"demands": np.ones((2, 2))}, r"demands have shape \(2, 2\): an array \(b, n, m\)"),
        ({"demands": np.ones((2, 0, 2))}, "every pool needs a user and a resource"),
        ({"demands": [[["a"]]]}, "demands are of type <U1: give an array of floats or integers"),
        ({"demands": [[[1, 2], [1]]]}, "demands are rows of different lengths"),
        ({"demands": [[[Fraction(1, 3)] * 2]]}, "demands are of type object"),
        ({"demands": GOOD > 0}, "demands are of type bool"),
        ({"demands": spoiled((2, 1, 0), np.nan)}, r"demands\[2, 1, 0\] is nan: write a finite number"),
        ({"demands": spoiled((1, 0, 1), np.inf)}, r"demands\[1, 0, 1\] is inf"),
        ({"demands": spoiled((1, 0, 1), -2.0)}, r"demands\[1, 0, 1\] is -2: it must not be negative"),
        ({"demands": spoiled((1, 1), 0.0)}, r"demands\[1, 1\] are all 0: give the user a positive demand"),
        ({"demands": spoiled((1, 1), 0.0), "limits": [1, 0]}, r"demands\[1, 1\] are all 0: give .*, and a limit of 0"),
        ({"demands": spoiled((1, 1, 0), 1e-200)}, "in instance 1 demands of 'r1' are beyond 1e-150 to 1e150"),
        ({"demands": spoiled((0, 1, 1), 1e200)}, "in instance 0 demands of 'r2' are beyond"),
        ({"capacity": [1, 1, 1]}, r"capacity have shape \(3,\), but \(m,\) = \(2,\) or \(b, m\) = \(3, 2\) is needed"),
        ({"capacity": spoiled((2, 1), np.nan, (3, 2))}, r"capacity\[2, 1\] is nan"),
        ({"capacity": [1, -1]}, r"capacity\[0, 1\] is -1: it must not be negative"),
        ({"weights": np.ones((2, 3))}, r"weights have shape \(2, 3\)"),
        ({"weights": spoiled((2, 0), 0.0, (3, 2))}, r"weights\[2, 0\] is 0: it must be positive"),
        ({"weights": spoiled(1, -1.0, (2,))}, r"weights\[0, 1\] is -1: it must be positive"),
        ({"weights": [1, np.inf]}, r"weights\[0, 1\] is inf"),
        ({"limits": np.ones((4, 2))}, r"limits have shape \(4, 2\)"),
        ({"limits": spoiled((2, 0), np.nan, (3, 2))}, r"limits\[2, 0\] is nan"),
        ({"limits": [1, -3]}, r"limits\[0, 1\] is -3"),
        ({"resources": ["a"]}, "the resources are a: 2 different names are needed"),
        ({"resources": ["a", "a"]}, "2 different names"),
    ],
)
def test_bad_input_is_one_sentence_that_names_the_entry(arguments, message):
    with pytest.raises(InstanceError, match=message) as caught:
        solve_many(**{"demands": GOOD, "capacity": [1, 1]} | arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "arguments", "message"),
    [
        ("utilitarian", {}, r"batches are solved for drf, asset, ceei, .*tasks, not for utilitarian: use solve"),
        ("alpha:2", {}, "not for alpha:2: use solve"),
        ("single:gpu", {}, "single:gpu names a resource that the pools do not have: they have r1, r2"),
        ("drff", {}, "there is no policy 'drff': did you mean 'drf'"),
        ("ceei", {"weights": np.ones((3, 2, 2))}, "ceei takes one weight a user"),
        (
            "single:r2",
            {"demands": spoiled((2, 1, 1), 0.0)},
            r"the user of demands\[2, 1\] demands none of it: give the user some, and a limit",
        ),
    ],
)
def test_policies_that_cannot(policy, arguments, message):
    with pytest.raises(PolicyError, match=message):
        solve_many(**{"demands": GOOD, "capacity": [1, 1], "policy": policy} | arguments)


def test_who_is_left_out_under_one_resource_demands_some_of_it_and_has_a_limit_of_0():
    batch = solve_many([[[1, 1], [3, 1]]], [9, 18], "single:r1", limits=[[0, np.inf]])
    assert batch.tasks.tolist() == [[0, 3]]


def test_a_bad_entry_in_a_later_block_is_named_by_its_place_in_the_batch(monkeypatch):
    monkeypatch.setattr("drfopt.solving.batches.batch.ENTRIES", 8)
    with pytest.raises(InstanceError, match=r"demands\[7, 1, 0\] is nan"):
        solve_many(spoiled((7, 1, 0), np.nan, (9, 2, 2)), [1, 1])
    with pytest.raises(InstanceError, match=r"weights\[7, 1\] is 0: it must be"):
        solve_many(np.ones((9, 2, 2)), [1, 1], weights=spoiled((7, 1), 0, (9, 2)))


def test_what_was_given_is_not_touched():
    demands, capacity, rest = lacking(np.random.default_rng(1), 50, 3, 3)
    arrays = (demands, capacity, *rest.values())
    before = [values.copy() for values in arrays]
    for policy in ("drf", "ceei"):
        solve_many(demands, capacity, policy, **rest)
    assert all((values == kept).all() for values, kept in zip(arrays, before, strict=True))


def test_integers_and_short_floats_are_numbers():
    for kind in (np.int32, np.uint8, np.float32):
        demands = np.array(NSDI["demands"], dtype=kind)
        assert solve_many(demands, np.array([9, 18], dtype=kind)).tasks[0] == pytest.approx([3, 2])


def test_letters_of_a_block_are_those_of_its_instances():
    for family in FAMILIES:
        demands, capacity, rest = family(np.random.default_rng(4), 20, 3, 2)
        for policy in ("drf", "asset", "tasks", "ceei"):
            batch = batch_of(demands, capacity, policy, rest.get("weights"), rest.get("limits"), None)
            block = batch.block(0, 20)
            for i, instance in enumerate(singles(demands, capacity, rest)):
                assert block.rates[:, i] == pytest.approx(policy_named(policy).rates(instance), rel=1e-15)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_bound_of_pools_with_ties_is_that_of_one_alone(family):
    """Of prices as they are found, and of prices that were moved."""
    random = np.random.default_rng(12)
    demands, capacity, rest = family(random, 100, 3, 3)
    block = batch_of(demands, capacity, "ceei", rest.get("weights"), rest.get("limits"), None).block(0, 100)
    tasks, prices = clear(block)
    compared = 0
    for part in (0.0, 3e-10):
        moved = prices * (1 + part * random.standard_normal(prices.shape))
        weights = np.ones((1, 1)) if block.weights is None else block.weights
        with np.errstate(divide="ignore", invalid="ignore"):
            off = tasks * (block.demands * moved[:, None]).sum(axis=0) / weights - 1
            bound = pool_proofs._tied_error(block, tasks, moved, off, np.arange(100))
        violation, gap, error = clearing(block, tasks, moved)
        for i, instance in enumerate(singles(demands, capacity, rest)):
            alone = by_prices.certify(instance, policy_named("ceei"), tasks[:, i], None, moved[:, i][None])
            assert alone.valid or not (violation[i] <= FIRST_ORDER and gap[i] <= GAP and error[i] <= LEVEL_CEEI)
            if np.isfinite(bound[i]) and np.isfinite(alone.evidence.error):
                assert bound[i] == pytest.approx(alone.evidence.error, rel=0.05, abs=1e-13)
                compared += 1
            elif violation[i] <= FIRST_ORDER:
                # With exact numbers more can be told, and never less.
                assert np.isinf(bound[i])
    assert compared > 40
