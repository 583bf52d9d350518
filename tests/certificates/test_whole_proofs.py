"""Proofs of whole tasks: multipliers that anybody can check, trees of them, and searches that miss nothing."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from drfopt.base.deadline import NEVER, Deadline
from drfopt.certificates import branch_and_cut, meet_in_the_middle, whole
from drfopt.certificates.branch_and_cut import Better, Inconclusive
from drfopt.certificates.claim_options import Bounds, ClaimOptions, OptionNeeds
from drfopt.certificates.claim_points import ClaimPoints
from drfopt.certificates.claim_program import ClaimProgram, Unsolved
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.level_claims import ABOVE, ClaimList, claims
from drfopt.certificates.meet_in_the_middle import MeetInTheMiddle, TooManyChoices
from drfopt.certificates.packing_bound import worth_of
from drfopt.certificates.refutation import Refutation, holds
from drfopt.certificates.utility_losses import BITS
from drfopt.engines.whole.totals import greedily, nearest
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.packings import split
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers
from drfopt.solving.allocating import solve
from drfopt.solving.verifying import verify


def stated(instance):
    users = WholeUsers(instance, policy_named("drf"), playing(instance))
    return worth_of(users)


def pool(seed, n=6):
    rng = np.random.default_rng(seed)
    return Instance(rng.integers(1, 4, (n, 3)), rng.integers(3 * n, 6 * n, 3))


def test_the_papers_example_by_hand():
    # A has 3 tasks of (1 CPU, 4 GB), B 2 of (3, 1): at 2/3 both must stop, for one of them more is 10 CPUs or 20 GB.
    instance, policy = Instance.library("nsdi2011"), policy_named("drf")
    worth = stated(instance)
    (claim,) = claims(WholeUsers(instance, policy, playing(instance)), [3, 2])
    assert claim.value == Fraction(2, 3)
    assert claim.count == 2
    assert claim.allowed == (1,)
    options = [choice.options for choice in claim.choices]
    assert options == [((3, 0), (4, ABOVE)), ((2, 0), (3, ABOVE))]
    # In CPUs: stopping saves A 1 of 13 and B 3; with a price of 1 and 3 for stopping, 3 + 9 ... at least 13 - 3 > 9.
    assert holds(claim, worth, Refutation(((1, 0),), (3,)))
    assert not holds(claim, worth, Refutation(((0, 0),), (3,))), "nothing is short of nothing"
    assert not holds(claim, worth, Refutation(((-1, 0),), (3,))), "multipliers are not negative"
    assert holds(claim, worth, branch_and_cut.refute(claim, worth))


def test_without_time_machines_are_priced_by_their_resources():
    instance = Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 2}}, machines=[Machine("m", {"cpu": 4, "gpu": 2}, 3)])
    users = WholeUsers(instance, policy_named("drf"), [0, 1])
    late, listed = worth_of(users, Deadline.after(0)), worth_of(users)
    assert late.loads == [None]
    assert listed.loads == [[(0, 2), (2, 1)]]
    best = solve(instance, integer=True).tasks.tolist()
    for claim in claims(users, best):
        proof = branch_and_cut.refute(claim, late)
        assert holds(claim, late, proof)
        assert holds(claim, listed, proof), "loads are worth no more than resources say"


@pytest.mark.parametrize("seed", range(12))
def test_every_other_allocation_is_rejected(seed):
    instance, policy = pool(seed, 3), policy_named("drf")
    best = solve(instance, integer=True)
    own = whole.score(instance, policy, best.tasks.tolist())
    for tasks in product(*(range(int(x) + 3) for x in best.tasks)):
        proof = whole.certify(instance, policy, np.array(tasks), None)
        feasible = (np.array(tasks) @ instance.demands <= instance.capacity).all()
        assert proof.valid == (feasible and whole.score(instance, policy, list(tasks)) == own)


@pytest.mark.parametrize("seed", range(8))
def test_a_proof_is_of_one_claim(seed):
    instance, policy = pool(seed), policy_named("drf")
    tasks = solve(instance, integer=True).tasks.tolist()
    worth = stated(instance)
    for claim in claims(WholeUsers(instance, policy, playing(instance)), tasks):
        proof = branch_and_cut.refute(claim, worth)
        assert holds(claim, worth, proof)
        # With one more user allowed to stop, what is at hand satisfies the claim: nothing can refute it.
        loose = replace(claim, allowed=(*claim.allowed[:-1], claim.allowed[-1] + 1))
        wider = next(
            c for c in claims(WholeUsers(instance, policy, playing(instance)), tasks) if c.level == claim.level
        )
        if all(choice.options == other.options for choice, other in zip(loose.choices, wider.choices, strict=True)):
            assert claim.allowed[-1] == 0 or not holds(loose, worth, proof)


def test_branches_are_checked_leaf_by_leaf():
    # Two tasks of 2 in 3 units: half a task each would do, so that no multipliers refute it, but a tree does.
    instance, policy = Instance([[2, 1], [2, 1], [2, 1]], [5, 9]), policy_named("drf")
    worth = stated(instance)
    tasks = solve(instance, integer=True).tasks.tolist()
    assert sorted(tasks) == [0, 1, 1]
    claim = next(claims(WholeUsers(instance, policy, playing(instance)), tasks))
    proof = branch_and_cut.refute(claim, worth)
    assert holds(claim, worth, proof)
    tree = Refutation(column=0, most=0, low=proof, high=Refutation(worth.free, (0,)))
    assert not holds(replace(claim, allowed=(2,)), worth, tree), "one leaf refutes nothing"
    assert holds(claim, worth, Refutation(column=0, most=0, low=proof, high=proof))
    assert Refutation(column=0, most=0, low=proof, high=proof).leaves == 2


def test_something_better_is_found_and_not_refuted():
    instance, policy = Instance.library("nsdi2011"), policy_named("drf")
    worth = stated(instance)
    claim = next(claims(WholeUsers(instance, policy, playing(instance)), [2, 2]))
    with pytest.raises(Better):
        branch_and_cut.refute(claim, worth)


def test_a_wrong_claim_is_answered_with_the_fewest():
    # For second tasks of all 10 of the first resource is missing: one of those who need 10 is enough.
    instance, policy = Instance([[10, 1]] * 6 + [[1, 10]] * 6, [122, 132]), policy_named("tasks")
    users = WholeUsers(instance, policy, playing(instance))
    with pytest.raises(Better) as better:
        branch_and_cut.refute(ClaimList(users).claim(users.unit, 9), worth_of(users))
    found = ClaimOptions(ClaimList(users).claim(users.unit, 9))
    assert np.array(better.value.numbers)[found.row == 0].sum() == 1


def test_something_better_is_told_where_a_solver_does_not_say_how_few(monkeypatch):
    def unsolved(program):
        raise Unsolved

    monkeypatch.setattr(ClaimProgram, "fewest", unsolved)
    instance, policy = Instance([[10, 1]] * 6 + [[1, 10]] * 6, [122, 132]), policy_named("tasks")
    users = WholeUsers(instance, policy, playing(instance))
    with pytest.raises(Better) as better:
        branch_and_cut.refute(ClaimList(users).claim(users.unit, 9), worth_of(users))
    assert better.value.proof is None


@pytest.mark.parametrize("seed", range(8))
def test_an_allocation_near_a_solution_is_the_best_of_all_ways(seed):
    # Users who are divided take one of their parts: of all ways that fit, one at which the fewest stop.
    rng = np.random.default_rng(seed)
    instance = Instance(rng.integers(1, 6, (6, 2)), rng.integers(40, 60, 2))
    users = WholeUsers(instance, policy_named("tasks"), playing(instance))
    claims_of = ClaimList(users)
    claims_of.record(users.unit, 2)
    claim = claims_of.claim(2 * users.unit, 4)
    options, fitting = ClaimOptions(claim), 0
    points = ClaimPoints(options, OptionNeeds.of(options, worth_of(users)))
    own = options.row == len(claim.allowed) - 1
    for divided in (0, 2, len(options.number)):
        values, parts = np.zeros(len(options.choice)), []
        for k, (a, b) in enumerate(zip(options.first[:-1], options.first[1:], strict=True)):
            if k < divided:
                values[a:b] = options.number[k] / (b - a)
                parts += [range(a, b)] * int(options.number[k])
            else:
                values[b - 1] = options.number[k]
        ways = []
        for way in product(*parts) if (options.number[:divided] == 1).all() else ():
            numbers = np.floor(values + 1e-6).astype(np.int64)
            np.add.at(numbers, list(way), 1)
            ways += [numbers[own].sum()] if points.satisfies(numbers) else []
        found = points.near(values)
        assert (None if found is None else found[own].sum()) == min(ways, default=None)
        fitting += bool(ways)
    assert fitting or seed, "some fit"


@pytest.mark.parametrize("seed", range(8))
def test_options_of_single_users_cost_what_those_of_several_do(seed):
    rng = np.random.default_rng(seed)
    users = WholeUsers(pool(1), policy_named("tasks"), playing(pool(1)))
    claims_of = ClaimList(users)
    claims_of.record(users.unit, 2)
    claim = claims_of.claim(2 * users.unit, 3)
    options, other = ClaimOptions(claim), ClaimOptions(claim)
    assert options.single
    other.single = False
    low, high = np.zeros(len(options.choice), dtype=np.int64), options.free.high.copy()
    for a, b in zip(options.first[:-1], options.first[1:], strict=True):
        forced = rng.integers(3) == 0
        (low if forced else high)[rng.integers(a, b)] = int(forced)
    bounds, prices = Bounds(low, high), rng.integers(0, 4, len(low))
    cost, taken = options.least(prices, bounds)
    assert cost == other.least(prices, bounds)[0] == int(prices @ taken)
    assert taken.tolist() == other.least(prices, bounds)[1].tolist()
    assert options.least(prices.astype(object), bounds)[0] == cost


def test_one_resource_refutes_without_a_program(monkeypatch):
    # The second tasks of eight of 3 to 10 are 40 beyond the 12 that are left: no fewer than five give theirs up.
    instance, policy = Instance([[d] for d in range(3, 11)], [52 + 12]), policy_named("tasks")
    users = WholeUsers(instance, policy, playing(instance))
    monkeypatch.setattr(branch_and_cut, "_Tree", None)
    claim = ClaimList(users).claim(users.unit, 5)
    assert holds(claim, worth_of(users), branch_and_cut.refute(claim, worth_of(users)))
    with pytest.raises(TypeError):
        branch_and_cut.refute(ClaimList(users).claim(users.unit, 6), worth_of(users))


def test_multipliers_of_one_claim_tighten_the_next_before_a_program_is_asked(monkeypatch):
    rows = [[10, 7, 0], [0, 10, 0], [4, 10, 0], [3, 10, 2], [6, 2, 10], [1, 0, 10], [4, 0, 10], [2, 5, 10]]
    instance, sizes = Instance(rows, [154] * 3), []
    begin = branch_and_cut._Tree._begin

    def watched(tree):
        begin(tree)
        sizes.append((len(tree.options.choice), tree.size))

    monkeypatch.setattr(branch_and_cut._Tree, "_begin", watched)
    assert solve(instance, "drf", integer=True).certificate.rigorous
    assert any(size < whole for size, whole in sizes)
    users, learned = WholeUsers(instance, policy_named("drf"), playing(instance)), branch_and_cut.Learned()
    for claim in claims(users, solve(instance, "drf", integer=True).tasks.tolist()):
        assert holds(claim, worth_of(users), branch_and_cut.refute(claim, worth_of(users), learned=learned))


@pytest.mark.parametrize("large", [1, 10**25])
@pytest.mark.parametrize("seed", range(6))
def test_columns_are_what_choices_say(seed, large):
    instance, policy = pool(seed), policy_named("drf")
    demands = [[int(d) * large + j for j, d in enumerate(row)] for row in instance.demands]
    room, limits = [int(c) * large for c in instance.capacity], [None, 2, None, 1, None, None]
    large_one = Instance(demands, room, max_tasks=limits)
    users = WholeUsers(large_one, policy, playing(large_one))
    for claim in claims(users, solve(large_one, integer=True).tasks.tolist()):
        one, other = ClaimOptions(claim), ClaimOptions(replace(claim, choices=tuple(claim.choices)))
        for name in ("choice", "first", "good", "number", "option", "row", "starts", "tasks"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
        assert (one.largest, one.stuck) == (other.largest, other.stuck)


def test_loads_are_what_machines_can_carry():
    instance = Instance([[1, 7], [1, 4]], machines=[Machine("node", [4, 14], 3)])
    worth = stated(instance)
    assert set(worth.loads[0]) == {(0, 3), (1, 1), (2, 0)}
    costs, total = worth.priced(((7, 4), ()))
    assert costs == [7, 4]
    assert total == 3 * 14, "two large ones are worth 14, one of each 11, three small ones 12"


def test_a_class_with_too_many_loads_is_priced_by_its_resources(monkeypatch):
    from drfopt.certificates import packing_bound as module

    monkeypatch.setattr(module, "LOADS", 0)
    instance = Instance.library("sec72")
    worth = stated(instance)
    assert worth.loads == [None]
    costs, total = worth.priced(((1, 2), (2, 0)))
    assert costs == [1, 2]
    assert total == 48 * 8, "a CPU costs 2 here, but a task of one CPU only 1"
    assert worth.priced(((1, 2), (0, 0))) is None
    allocation = solve(instance, integer=True)
    assert allocation.certificate.evidence.judge == "multipliers"


def test_raised_claims_bound_a_level():
    instance, policy = Instance.library("nsdi2011"), policy_named("drf")
    worth = stated(instance)
    claim = next(claims(WholeUsers(instance, policy, playing(instance)), [2, 2]))
    unit = WholeUsers(instance, policy, playing(instance)).unit
    for level in range(claim.level, 3 * unit):
        raised = claim.raised(level)
        try:
            branch_and_cut.refute(raised, worth, branch=False)
            reachable = False
        except (Better, Inconclusive):
            reachable = True
        assert reachable or level > Fraction(2, 3) * unit


# ---- halves -----------------------------------------------------------------------------------------------------


NEAR_A_BOUND = ("ceei", "alpha:2", "alpha:0.5", "alpha:20", "alpha:1.5")


@pytest.mark.parametrize("seed", range(20))
def test_halves_miss_nothing(seed):
    rng, policy = np.random.default_rng(seed), policy_named(NEAR_A_BOUND[seed % 5])
    instance = Instance(rng.integers(1, 6, (4, 2)), rng.integers(20, 40, 2), weights=rng.integers(1, 4, 4))
    found = MeetInTheMiddle(WholeUsers(instance, policy, range(4)))
    rows = np.array(found.rows)
    every = [
        tasks
        for tasks in product(*(range(found.least, min(most, 12) + 1) for most in found.most))
        if (np.array(tasks) @ rows <= found.room).all()
    ]
    if not every:
        assert not found.fit
        return
    best = max(map(found.value, every))
    least = min(found.loss(tasks) for tasks in every if found.value(tasks) == best)
    assert all(found.loss(tasks) >= 0 for tasks in every)
    assert found.value(found.within(least)[0]) == best
    assert found.within(least - 2 * found.margin - 1) == []
    some = found.within(3 * least + 2**BITS // 20, ways=5)
    assert found.value(some[0]) == best
    # Of who is alike the first have more, by one task at most.
    dealt = [t for t in every if all(t[a] - t[b] in (0, 1) for kind in found.kinds for a, b in combinations(kind, 2))]
    first = sorted(map(found.value, dealt), reverse=True)[: len(some)]
    assert list(map(found.value, some)) == first[: len(some)]


@pytest.mark.parametrize("policy", NEAR_A_BOUND)
def test_users_alike_are_searched_together(policy):
    n, room = 15, [71, 83]
    instance = Instance([[3, 1], [1, 4], [2, 3]] * (n // 3), room)
    found = MeetInTheMiddle(WholeUsers(instance, policy_named(policy), range(n)))
    tasks = nearest(found, greedily(found), NEVER)[0]
    assert sorted(map(len, found.kinds)) == [n // 3] * 3

    def dealt(*together):
        return [together[p % 3] // (n // 3) + (p // 3 < together[p % 3] % (n // 3)) for p in range(n)]

    low = found.least * (n // 3)
    every = [
        dealt(x, y, z)
        for x in range(low, room[0] // 3 + 1)
        for y in range(low, (room[0] - 3 * x) + 1)
        if (z := min((room[0] - 3 * x - y) // 2, (room[1] - x - 4 * y) // 3)) >= low
    ]
    assert found.value(tasks) == max(map(found.value, every))


def test_a_loss_is_rounded_up_and_its_terms_down():
    rng = np.random.default_rng(5)
    instance = Instance(rng.integers(1, 60, (6, 3)), rng.integers(900, 1400, 3), weights=[1, 2, 3, "1/3", "0.7", 1])
    for policy in map(policy_named, NEAR_A_BOUND):
        found = MeetInTheMiddle(WholeUsers(instance, policy, range(6)))
        tasks = found.within(2**BITS // 50)[0]
        windows = [dict(zip(*map(np.ndarray.tolist, found.window([p], 2**56)), strict=True)) for p in range(6)]
        left = np.array(found.room) - np.array(tasks) @ np.array(found.rows)
        terms = sum(window[x] for window, x in zip(windows, tasks, strict=True)) + int(left @ np.array(found.prices))
        assert 0 <= found.loss(tasks) - terms <= found.margin
        assert all(2**56 > term >= 0 for window in windows for term in window.values())


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_numbers_beyond_those_of_numpy_are_not_searched_near_a_bound(policy):
    far = Instance([[1, 1], [1, 2]], [2**54, 2**55])
    with pytest.raises(TooManyChoices):
        MeetInTheMiddle(WholeUsers(far, policy_named(policy), range(2)))
    with pytest.raises(TooManyChoices):
        MeetInTheMiddle(WholeUsers(pool(1, 4), policy_named(policy), range(4))).within(2**62)


def test_halves_give_up_where_there_are_too_many(monkeypatch):
    found = MeetInTheMiddle(WholeUsers(pool(1, 12), policy_named("ceei"), range(12)))
    monkeypatch.setattr(meet_in_the_middle, "CHOICES", 10)
    with pytest.raises(TooManyChoices):
        found.within(2**BITS)


# ---- packings ---------------------------------------------------------------------------------------------------


def test_tasks_of_one_shape_are_handed_to_their_owners():
    packing = [(0, 3, {5: 2, 9: 1}), (1, 1, {5: 1}), (0, 1, {9: 4})]
    handed = split(packing, 5, [(5, 3), (6, 0), (7, 4)])
    totals = {}
    for _, count, pattern in handed:
        for user, x in pattern.items():
            totals[user] = totals.get(user, 0) + count * x
    assert totals == {5: 3, 7: 4, 9: 7}
    assert sum(count for k, count, _ in handed if k == 0) == 4
    for k, _, pattern in handed:
        assert pattern.get(5, 0) + pattern.get(7, 0) in ((2, 0) if k == 0 else (1,))


def test_who_has_her_limit_closes_a_level_that_others_could_stop_at():
    """Users at their limits below the first who is not are proven one by one, by counting, in a file as well."""
    limits = {f"u{i}": i + 1 for i in range(20)}
    users = {name: {"cpu": 1} for name in [*limits, "A", "B"]}
    instance = Instance(users, machines=[Machine("m", {"cpu": 13}, 20)], max_tasks=limits)
    found = solve(instance, integer=True)
    whole_users = WholeUsers(instance, policy_named("drf"), playing(instance))
    known = list(claims(whole_users, found.tasks.tolist()))
    assert [(len(claim.allowed), len(claim.choices)) for claim in known] == [(1, 21 - i) for i in range(20)] + [(1, 1)]
    assert found.tasks.tolist() == [*range(1, 21), 25, 25] and found.certificate.valid
    assert verify(found).valid is True


def test_what_follows_a_contradiction_is_left_out():
    # A file's reader goes through all of a tree: what is below bounds that nobody can keep says nothing there.
    instance, policy = Instance.library("nsdi2011"), policy_named("drf")
    users = WholeUsers(instance, policy, playing(instance))
    worth = worth_of(users)
    claim = next(claims(users, solve(instance, integer=True).tasks.tolist()))
    leaf = branch_and_cut.refute(claim, worth)
    longer = replace(leaf, then=Refutation(worth.free, (0,) * len(claim.allowed)))
    assert holds(claim, worth, longer) and not holds(claim, worth, longer.then)
    assert branch_and_cut.refute(claim, worth, known=[longer]).then is None


def test_what_says_that_no_fewer_stop_refutes_the_next_claim(monkeypatch):
    # Of six who need 10 one is enough, and that no fewer are is said by the program that finds the one.
    instance, policy = Instance([[10, 1]] * 6 + [[1, 10]] * 6, [122, 132]), policy_named("tasks")
    users = WholeUsers(instance, policy, playing(instance))
    with pytest.raises(Better) as better:
        branch_and_cut.refute(ClaimList(users).claim(users.unit, 9), worth_of(users))
    claim = ClaimList(users).claim(users.unit, 1)
    assert better.value.proof is not None and holds(claim, worth_of(users), better.value.proof)
    monkeypatch.setattr(branch_and_cut, "_Tree", None)
    assert branch_and_cut.refute(claim, worth_of(users), known=[better.value.proof]).leaves == 1
