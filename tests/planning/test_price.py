"""Prices and slopes against dividing the changed cluster again: inside their range, at its ends, and just beyond."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drfopt import Organisation, TaskType, explain, price, what_if
from drfopt.base.errors import DrfoptError, InstanceError, PolicyError, SolverError
from drfopt.io.readers.asking import read
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import MEASURES, policy_named
from drfopt.planning.pricing import unit_price
from drfopt.planning.pricing.feasible_growth import SLOPES, Grown, slopes_of_rates
from drfopt.planning.pricing.price_table import Prices, Worth
from drfopt.planning.pricing.units import grown, units_named, units_of
from drfopt.solving.allocating import solve

PAPER = Instance.library("nsdi2011")
SERVERS = Instance.library("drfh-two-servers")

SAME = 1e-6
"""Relative distance of what was predicted and what dividing again gives."""


def again(instance: Instance, policy: str, worth: Worth, amount: float) -> np.ndarray:
    cluster, times = grown(instance, worth.unit, amount - worth.now)
    return solve(cluster, policy).tasks / times


def near(a: np.ndarray, b: np.ndarray, tolerance: float = SAME) -> bool:
    return bool(np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max()))


# ---- by hand --------------------------------------------------------------------------------------------------


TINY = Instance({"A": {"cpu": 8, "io": 7}, "B": {"io": 8}, "C": {"cpu": "1e9", "io": 4}}, {"cpu": 9, "io": 20})


def test_a_price_whose_end_the_solver_sees_dimly():
    """With all but 3.6e-8 of the io gone C still fills the cpu, and the sum there is known to 4e-8 only."""
    found = price(TINY)["io"]
    assert not found.unknown and found.less.total_price == pytest.approx(0.05)
    assert found.more.tasks == pytest.approx([0, 1 / 8, 0])
    assert "B: 1 more of io (now 20) would give it 2.13281 tasks" in str(explain(TINY, user="B"))


def test_what_is_not_known_is_not_said_to_be_of_no_help(monkeypatch):
    def failed(*_):
        raise SolverError("100 programs do not tell")

    side = unit_price.Sums.side
    monkeypatch.setattr(
        unit_price.Sums, "side", lambda it, unit, *of: failed() if unit.name == "io" else side(it, unit, *of)
    )
    said = str(explain(TINY, user="B"))
    assert "B: what a little more of io gives it is not known: compare two clusters with whatif" in said


def test_the_paper_by_hand():
    """Levels l = 4 x / 18 = 3 y / c and x + 3 y = c: l = c / (c + 9/2), until memory is full, at c = 9 sqrt 3."""
    cpu, memory = price(PAPER).units
    assert cpu.more.price == pytest.approx(1 / 13.5)
    assert cpu.more.lowest_level == cpu.less.lowest_level == pytest.approx(4.5 / 13.5**2)
    assert cpu.more.sum_of_shares == pytest.approx(9 / 13.5**2)
    assert cpu.more.tasks == pytest.approx([1 / 9, 8 / 27])
    assert (cpu.more.until, cpu.less.until) == (pytest.approx(9 * 3**0.5, rel=1e-12), 0.0)
    assert memory.more.price == 0
    assert memory.more.lowest_level < 0 < memory.more.tasks[0]
    assert (memory.more.until, memory.less.until) == (None, pytest.approx(18 / 3**0.5, rel=1e-12))
    assert cpu.tasks_at(12.0) == pytest.approx([36 / 11, 32 / 11])


def test_the_largest_sum_by_hand():
    """Both are full: prices solve  p + 4 q = 1,  3 p + q = 1  until one user is squeezed out."""
    cpu, memory = price(PAPER, "throughput").units
    assert (cpu.more.price, memory.more.price) == (pytest.approx(3 / 11), pytest.approx(2 / 11))
    assert (cpu.less.until, cpu.more.until) == (pytest.approx(4.5), pytest.approx(54))
    assert cpu.more.tasks is None and cpu.more.lowest_level is None


@pytest.mark.parametrize("policy, each", [("throughput", 3 / 11), ("tasks", 1 / 4)])
def test_a_price_in_tasks_says_so(policy, each):
    found = price(Instance.library("nsdi2011"), policy)
    assert found["cpu"].more.price == pytest.approx(each)
    assert ", in tasks" in str(found) and "in shares of the cluster" not in str(found)


def test_a_market_by_hand():
    """With x = 1 / (p + 4 q) and y = 1 / (3 p + q) at prices 1/5 and 1/90 the slopes are those of both rows full."""
    cpu, memory = price(PAPER, "ceei").units
    assert (cpu.more.price, memory.more.price) == (pytest.approx(1 / 5), pytest.approx(1 / 90))
    # Both resources are used up: x + 3 y = cpu, 4 x + y = memory.
    assert cpu.more.tasks == pytest.approx([-1 / 11, 4 / 11])
    assert memory.more.tasks == pytest.approx([3 / 11, -1 / 11])


def test_sides_that_differ_in_the_sum_of_shares_alone_are_told():
    """Of etl, which is at its limit, the share is of what there is less of: of cpu below 32, and of mem below 32."""
    users = {"web": {"cpu": 4, "mem": 8}, "etl": {"cpu": 2, "mem": 2}}
    found = price(Instance(users, {"cpu": 32, "mem": 32}, max_tasks={"etl": 4}))
    assert "a unit less is not the reverse of a unit more (--json has both sides): cpu, mem" in str(found)
    assert [unit.less.sum_of_shares for unit in found.units] == [pytest.approx(-1 / 128), pytest.approx(0)]


def test_two_servers_have_two_sides():
    found = price(SERVERS)
    rich = found["memory-rich"]
    assert rich.kind == "machine"
    assert not near(rich.more.tasks, rich.less.tasks)
    assert found["memory-rich/cpu"].more.until == pytest.approx(7.35755975068581)
    assert "a unit less is not the reverse of a unit more" in str(found)


# ---- random clusters ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """What random clusters are drawn from: ties, identical users, zero demands, limits that bind exactly."""

    demands = (0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5)
    rooms = (1.0, 2.0, 4.0, 7.0, 3.5)
    weights = (1.0, 1.0, 2.0, 0.5)
    limits = (np.inf, np.inf, np.inf, 0.0, 0.5, 1.0, 3.0)


def wishes(random: np.random.Generator) -> tuple[np.ndarray, dict]:
    n, m = int(random.integers(1, 6)), int(random.integers(1, 4))
    kinds = random.choice(Drawn.demands, (3, m))
    kinds[~kinds.any(axis=1)] = 1.0
    rows = kinds[random.integers(0, 3, n)]
    if random.random() < 0.4:
        rows = rows * random.uniform(0.5, 2, rows.shape)
    return rows, {"weights": random.choice(Drawn.weights, n), "max_tasks": random.choice(Drawn.limits, n)}


def pool(random: np.random.Generator) -> Instance:
    rows, rest = wishes(random)
    return Instance(rows, random.choice(Drawn.rooms, rows.shape[1]), **rest)


def machines(random: np.random.Generator) -> Instance:
    rows, rest = wishes(random)
    k = int(random.integers(1, 4))
    classes = [
        Machine(f"c{i}", random.choice([0.0, *Drawn.rooms], rows.shape[1]), int(random.integers(1, 4)))
        for i in range(k)
    ]
    return Instance(rows, machines=classes, eligible=random.random((len(rows), k)) < 0.7, **rest)


def check_links(instance: Instance, policy: str, found: Prices) -> None:
    """Hold every side of every unit against dividing again."""
    for worth in found.units:
        for side, sign in ((worth.more, 1), (worth.less, -1)):
            if side is None:
                continue
            reach = abs((10 * worth.now if side.until is None else side.until) - worth.now)
            for part in (1e-3, 0.5, 0.999):
                amount = worth.now + sign * reach * part
                if worth.kind == "machine":
                    amount = worth.now + round((amount - worth.now) * 10_000) / 10_000
                if amount > 0 and amount != worth.now:
                    assert near(again(instance, policy, worth, amount), worth.tasks_at(amount)), (worth.name, amount)
            step = 1e-7 * reach
            room = instance.room
            ahead, here = (side.held.at(room + sign * s * worth.unit.growth).tasks for s in (step, 0.0))
            assert near((ahead - here) / (sign * step), side.tasks, 1e-4), worth.name


@given(st.integers(0, 10**6), st.sampled_from(["drf", "asset", "tasks"]))
@settings(max_examples=30)
def test_pools_against_dividing_again(seed, policy):
    instance = pool(np.random.default_rng(seed))
    check_links(instance, policy, price(instance, policy))


@given(st.integers(0, 10**6), st.sampled_from(["drf", "asset"]))
@settings(max_examples=40)
def test_slopes_of_level_and_sum_against_dividing_again(seed, policy):
    instance = pool(np.random.default_rng(seed))
    found = price(instance, policy)
    for worth in found.units:
        for side, sign in ((worth.more, 1), (worth.less, -1)):
            reach = abs((10 * worth.now if side.until is None else side.until) - worth.now)
            step = sign * 1e-5 * min(reach, worth.now)
            after = solve(grown(instance, worth.unit, step)[0], policy)
            shares = (after.dominant_shares.sum() - found.allocation.dominant_shares.sum()) / step
            assert shares == pytest.approx(side.sum_of_shares, rel=1e-3, abs=1e-6), worth.name
            if side.lowest_level is not None:
                low = Prices(instance, policy, after, ()).lowest_level
                slope = (low - found.lowest_level) / step
                assert slope == pytest.approx(side.lowest_level, rel=1e-3, abs=1e-6), worth.name


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["drf", "tsf"]))
@settings(max_examples=12)
def test_machines_against_dividing_again(seed, policy):
    instance = machines(np.random.default_rng(seed))
    assume(_solvable(instance, policy))
    check_links(instance, policy, price(instance, policy))


def _solvable(instance: Instance, policy: str) -> bool:
    try:
        solve(instance, policy)
    except DrfoptError:
        return False
    return True


def test_an_end_is_an_end():
    random = np.random.default_rng(7)
    known = ends = 0
    for instance in (pool(random) for _ in range(40)):
        for worth in price(instance).units:
            for side in worth.one_sided:
                known += bool(side.until)
                beyond = worth.now + 1.03 * ((side.until or worth.now) - worth.now)
                if side.until and max(worth.unit.least, 0.0) < beyond < worth.unit.most:
                    said = side.held.at(instance.room + (beyond - worth.now) * worth.unit.growth).tasks
                    ends += not near(again(instance, "drf", worth, beyond), said, 1e-9)
    assert ends >= 0.95 * known > 50


@given(st.integers(0, 10**6), st.sampled_from(["ceei", "alpha:2", "alpha:0.5"]))
@settings(max_examples=30)
def test_markets_against_dividing_again(seed, policy):
    instance = pool(np.random.default_rng(seed))
    base = solve(instance, policy).tasks
    for worth in price(instance, policy).units:
        for side, sign in ((worth.more, 1), (worth.less, -1)):
            h = sign * 1e-4 * worth.now
            once, twice = (again(instance, policy, worth, worth.now + times * h) for times in (1, 2))
            # A difference of the second order, one-sided.
            slope = (4 * once - twice - 3 * base) / (2 * h)
            assert near(slope, side.tasks, 1e-3), worth.name


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=20)
def test_sums_against_solving_again(seed, on_machines):
    random = np.random.default_rng(seed)
    instance = machines(random) if on_machines else pool(random)
    base = solve(instance, "throughput").tasks.sum()
    for worth in price(instance, "throughput").units:
        for side, sign in ((worth.more, 1), (worth.less, -1)):
            if side is None:
                continue
            end = 10 * worth.now if side.until is None else side.until
            # A concave sum that is on the line at both ends is on it between them.
            amount = worth.now + 0.99 * (end - worth.now)
            if worth.kind == "machine":
                amount = worth.now + round((amount - worth.now) * 10_000) / 10_000
            if amount > 0:
                total = again(instance, "throughput", worth, amount).sum()
                assert total == pytest.approx(base + side.price * (amount - worth.now), rel=1e-7, abs=1e-9)
            beyond = worth.now + sign * abs(end - worth.now) * 1.05
            if side.until and max(worth.unit.least, 0.0) < beyond < worth.unit.most and worth.kind != "machine":
                # A concave sum falls below the line.
                total = again(instance, "throughput", worth, beyond).sum()
                assert total < base + side.price * (beyond - worth.now) - 1e-9 * base


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_a_price_is_a_dual(seed):
    """In shares of the cluster as it is the lowest level is concave: slopes of both sides have the price between."""
    instance = pool(np.random.default_rng(seed))
    found = price(instance)
    rates = found.allocation.levels / np.where(found.allocation.tasks > 0, found.allocation.tasks, 1.0)
    assume((rates > 0).all() and found.lowest_level is not None)
    # Tasks over 1 / rate are levels measured on the cluster as it is, whatever it becomes.
    lowest = found.units[0].more.held.rounds[0].finished

    def level(worth: Worth, amount: float) -> float:
        cluster, _ = grown(instance, worth.unit, amount - worth.now)
        fixed = Instance(cluster.demands, cluster.capacity, weights=1 / rates, max_tasks=cluster.limits)
        return float(solve(fixed, "tasks").levels[lowest].min())

    for worth in found.units:
        h = 1e-5 * worth.now
        here, above, below = (level(worth, worth.now + step) for step in (0.0, h, -h))
        slack = 1e-6 * max(1.0, here) + 1e-3 * abs(worth.more.price)
        assert (above - here) / h - slack <= worth.more.price <= (here - below) / h + slack, worth.name


# ---- manners --------------------------------------------------------------------------------------------------


def test_what_one_machine_more_gives_is_what_whatif_says():
    found = price(SERVERS, units=units_named(SERVERS, "memory-rich"))
    after = what_if(SERVERS, ["add 1*memory-rich"]).after
    assert [float(x) for x in after.tasks] == pytest.approx(found["memory-rich"].tasks_at(2.0).tolist(), rel=1e-9)


def test_whoever_is_at_her_limit_waits_for_nothing():
    found = price(Instance([[1.0]], [9.0], max_tasks=[3]))
    (worth,) = found.units
    assert (worth.more.price, worth.more.lowest_level, found.lowest_level) == (0, None, None)
    assert not worth.more.tasks.any()
    assert worth.less.until == pytest.approx(3)
    assert "everybody is at its limit or ceiling, or runs nothing" in str(found)


def test_who_is_at_its_ceiling_below_its_limit_is_not_among_the_lowest():
    rules = Organisation(ceilings={"d": {"mem": 8}})
    pool = Instance(
        {"b": {"cpu": 3, "mem": 1}, "d": {"mem": 5}}, {"cpu": 12, "mem": 24}, max_tasks=[6, 3], organisation=rules
    )
    assert "below their limits and ceilings: 1" in str(price(pool))


def test_nobody_placed():
    found = price(Instance([[2.0]], machines=[Machine("small", [1.0])]))
    assert not any(worth.matters for worth in found.units)
    assert found["small/r1"].more.until == pytest.approx(2.0)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "single:cpu", "tsf", "ceei", "alpha:2", "utilitarian"])
@pytest.mark.parametrize("instance", [PAPER, SERVERS], ids=["pool", "machines"])
def test_the_document_and_the_table(instance, policy):
    found = price(instance, policy)
    document = found.to_dict()
    assert [unit["name"] for unit in document["units"]] == [unit.name for unit in units_of(instance)]
    assert all(unit["more"] and unit["less"] for unit in document["units"] if unit["kind"] == "resource")
    assert "what one more is worth" in str(found)


def test_what_has_no_price():
    def own(data, held):
        return None

    with pytest.raises(PolicyError, match=r"own has no prices: .* see what a change does, by whatif"):
        price(SERVERS, own)
    with pytest.raises(InstanceError, match=r"the cluster has no 'cpus': it has cpu, memory: did you mean 'cpu'\?"):
        units_named(PAPER, "cpus")
    with pytest.raises(InstanceError, match="beyond what is known"):
        price(PAPER)["cpu"].tasks_at(100.0)
    with pytest.raises(InstanceError, match="beyond what is known"):
        price(PAPER, "ceei")["cpu"].tasks_at(10.0)


@pytest.mark.parametrize("seed", range(8))
def test_machines_by_themselves_have_the_slopes_of_dividing_them_again(seed):
    """Of each unit, on both sides: tasks, the lowest level and the sum of shares, a little way off; and to its end."""
    chance = np.random.default_rng(seed)
    n, k = int(chance.integers(2, 5)), int(chance.integers(1, 4))
    demands = chance.integers(0, 4, (n, 2)) + chance.random((n, 2)).round(3) * (chance.random((n, 2)) < 0.8)
    demands[demands.sum(axis=1) == 0] = 1
    machines = [Machine(f"m{q}", (chance.integers(5, 20, 2) + chance.random(2)).tolist(), q + 1) for q in range(k)]
    tiers = {"u1": 1} if seed % 2 else {}
    instance = Instance(demands, machines=machines, weights=chance.integers(1, 4, n), organisation=None)
    if tiers:
        instance = Instance(**(instance.parts() | {"organisation": Organisation(tiers=tiers)}))
    found = price(instance, "per-server")
    for worth in found.units:
        for sign, side in ((1, worth.more), (-1, worth.less)):
            if side is None:
                continue
            step = 1e-6 * worth.now if worth.kind != "machine" else 1e-4
            cluster, times = grown(instance, worth.unit, sign * step)
            there = solve(cluster, "per-server")
            slopes = (there.tasks / float(times) - found.allocation.tasks) / (sign * step)
            scale = max(1.0, np.abs(slopes).max())
            assert side.tasks == pytest.approx(slopes, abs=2e-3 * scale)
            shares = (there.dominant_shares.sum() - found.allocation.dominant_shares.sum()) / (sign * step)
            assert side.sum_of_shares == pytest.approx(shares, abs=2e-3 * max(1.0, abs(shares)))
            if worth.kind == "machine" and side.until is not None:
                assert (side.until, tiers) == (0, {}) or tiers


def test_one_more_machine_by_itself_brings_what_one_of_them_brings():
    """By hand: a machine of 4 CPU gives A and B two tasks each, and shares of 1/2; C has one by itself."""
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 1, "gpu": 1}}
    machines = [Machine("a", {"cpu": 4}, 3), Machine("b", {"cpu": 4, "gpu": 1})]
    eligible = [[True, False], [True, False], [True, True]]
    cluster = Instance(users, machines=machines, eligible=eligible)
    found = price(cluster, "per-server")
    assert found["a"].more.tasks.tolist() == [2, 2, 0] and found["b"].more.tasks.tolist() == [0, 0, 1]
    assert (found["a"].less.until, found["a"].more.until) == (0, None)
    # In shares of the cluster as it is the lowest level on the three rises by 1/2 of a third.
    assert found["a"].more.price == pytest.approx(1 / 6) and found["a/cpu"].more.price == pytest.approx(1 / 24)
    assert found["b/cpu"].more.tasks.tolist() == [0, 0, 0] and found["b/gpu"].more.tasks == pytest.approx([0, 0, 1])
    assert "the lowest levels that a capacity holds, one on each class, added up" in str(found)


def test_what_is_not_known_of_a_class_is_not_known_of_what_it_is_part_of(monkeypatch):
    def unsure(allocation, totals):
        look = by_links(allocation, totals)

        def failing(unit, more):
            if allocation.instance.capacity[0] == 2 and unit.name == "cpu":
                raise SolverError("it cannot be told")
            return look(unit, more)

        return failing

    by_links = unit_price.LOOKS["leximin"]
    monkeypatch.setitem(unit_price.LOOKS, "leximin", unsure)
    found = price(SERVERS, "per-server")
    assert {worth.name for worth in found.units if worth.unknown} == {"cpu", "memory-rich", "memory-rich/cpu"}
    assert found["cpu-rich"].more.tasks == pytest.approx([1, 5])


def test_every_measure_has_a_slope():
    assert set(SLOPES) == set(MEASURES)


@pytest.mark.slow
def test_openb(data_folder):
    folder = data_folder / "openb"
    openb = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance
    found = price(openb)
    worth = found["T4-96cpu-384GiB-4gpu"]
    assert (worth.less.until, worth.more.until) == (pytest.approx(10.02), pytest.approx(35.52))
    for count in (11, 18, 35):
        after = what_if(openb, [f"set-count {worth.name}={count}"]).after.tasks
        assert near(after, worth.tasks_at(float(count)))
    for count in (9, 37):
        after = what_if(openb, [f"set-count {worth.name}={count}"]).after.tasks
        side = worth.more if count > worth.now else worth.less
        assert not near(after, side.held.at(openb.room + (count - worth.now) * worth.unit.growth).tasks)


def test_a_resource_and_a_class_of_one_name_are_both_priced():
    machines = [Machine("gpu", {"cpu": 4, "gpu": 2}), Machine("plain", {"cpu": 8, "gpu": 0})]
    found = price(Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}, machines=machines), units=["gpu"])
    assert [(unit.kind, unit.name) for unit in found.units] == [("resource", "gpu"), ("machine", "gpu")]


def test_classes_that_limits_fill_are_closed_to_who_is_above_them():
    """B fills m1 with its one task, so that A, and C if there is one, pay on m2 alone."""
    machines = [Machine("m1", {"cpu": 3}), Machine("m2", {"cpu": 9})]
    users, only = {"A": {"cpu": 1}, "C": {"cpu": 1}, "B": {"cpu": 3}}, {"B": ["m1"], "C": ["m2"]}
    found = price(Instance(users, machines=machines, eligible=only, max_tasks={"B": 1}))
    assert found["m2"].more.tasks == pytest.approx([4.5, 4.5, 0]) and found["m1"].more.until == pytest.approx(4)
    assert found["m2"].less.until == pytest.approx(2 / 3), "there A and C are down to the level of B"
    two = Instance({"A": {"cpu": 1}, "B": {"cpu": 3}}, machines=machines, eligible={"B": ["m1"]}, max_tasks={"B": 1})
    assert price(two)["m2"].more.tasks == pytest.approx([9, 0])


def test_a_unit_of_which_nothing_is_proven_leaves_the_others(monkeypatch):
    def failing(allocation, totals, those=("memory",)):
        look = looked_at(allocation, totals)

        def one(unit, more):
            if unit.name in those:
                raise SolverError(f"no division is proven near {unit.name}")
            return look(unit, more)

        return one

    looked_at = unit_price.LOOKS["leximin"]
    monkeypatch.setitem(unit_price.LOOKS, "leximin", failing)
    found = price(PAPER)
    assert found["cpu"].more.price > 0
    assert (found["memory"].more, found["memory"].unknown) == (None, "no division is proven near memory")
    assert "memory is not known: no division is proven near memory" in str(found)
    assert [row["unknown"] for row in found.to_dict()["units"]] == [None, "no division is proven near memory"]
    with pytest.raises(SolverError, match="no division is proven near memory"):
        price(PAPER, units=["memory"])


def test_what_types_could_run_alone_turns_on_each_side_as_its_program_does():
    chance, step, kinked = np.random.default_rng(3), 1e-5, 0
    for _ in range(30):
        k, m = int(chance.integers(1, 4)), 2
        machines = [Machine(f"m{c}", chance.integers(1, 6, m).tolist(), int(chance.integers(1, 3))) for c in range(k)]
        rows = [chance.integers(0, 3, m) + np.eye(m, dtype=int)[chance.integers(m)] for _ in range(3)]
        kinds = [TaskType(row.tolist(), int(chance.integers(1, 4))) for row in rows[: chance.integers(1, 4)]]
        instance, tsf = Instance({"A": kinds, "B": [1, 1]}, machines=machines), policy_named("tsf")
        kinked += not instance.alone[0].unique
        for cell, more in itertools.product(np.eye(k * m).reshape(-1, k, m), (True, False)):
            sign = step if more else -step
            drawn = (tsf.rates(Grown(instance, instance.room + sign * cell)) - tsf.rates(instance)) / sign
            assert slopes_of_rates(tsf, instance, cell, more) == pytest.approx(drawn, abs=1e-4)
    assert kinked > 1


def test_what_is_asked_for_by_name_has_a_row() -> None:
    instance = Instance({"u": {"cpu": 1, "mem": 4}}, machines=[Machine("a", {"cpu": 8, "mem": 16})])
    assert [row[0] for row in price(instance, units=["a/cpu"]).sheet().rows] == ["a/cpu"]
    every = price(instance).sheet()
    assert "a/cpu" not in [row[0] for row in every.rows]
    assert any("1 resource of single classes is left out here" in note for note in every.notes)


def test_whose_tasks_are_few_because_they_are_large_gains_by_its_share():
    found = price(Instance({"A": {"cpu": 10**12}, "B": {"cpu": 1}}, {"cpu": 1})).units[0].more
    assert found.tasks.tolist() == pytest.approx([5e-13, 0.5])
    assert found.sum_of_shares == pytest.approx(0, abs=1e-12)
    small = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 1}, weights={"A": 1e-12, "B": 1})
    for policy in ("drf", "ceei"):
        assert price(small, policy).units[0].more.tasks.tolist() == pytest.approx([1e-12, 1])


def test_a_line_too_steep_to_be_seen_at_its_root_is_followed_to_it():
    """The sum of shares falls by 2.8e7 for each io less where there is next to none: its price was not known."""
    users = {"A": {"cpu": 8, "io": 7}, "B": {"io": 8}, "C": {"cpu": 10**9, "io": 4}}
    cluster = Instance(users, {"cpu": 9, "io": 20})
    io = price(cluster)["io"]
    assert not io.unknown and io.more.tasks.tolist() == pytest.approx([0, 1 / 8, 0])
    assert "1 more of io (now 20) would give it 2.13281 tasks instead of 2.00781" in explain(cluster).users[1].remedy


def test_who_is_short_of_less_than_a_ten_millionth_gains_by_one_more():
    cluster = Instance([[1], [1]], [20000001], max_tasks=[10000001] * 2)
    cpu = price(cluster).units[0].more
    assert cpu.tasks.tolist() == [0.5, 0.5] and cpu.until == pytest.approx(20000002)
    assert cpu.price == pytest.approx(1 / 40000002) and cpu.total_price == pytest.approx(1 / 20000001)
