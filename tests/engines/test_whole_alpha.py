"""Alpha fairness of whole tasks: engines, proofs and enumeration agree, and sums of roots are compared exactly."""

import itertools
import json
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from whole_pools import tied
from whole_reference import awkward, equal

from drfopt import CertificateError, Instance, Machine, PolicyError, SolverError, TaskType, crosscheck, solve, verify
from drfopt.base.deadline import Deadline
from drfopt.base.errors import TimeLimitError
from drfopt.certificates import exhaustive_search, price_tree, whole
from drfopt.certificates.document import certificate_document
from drfopt.certificates.exhaustive_search import playing, worth
from drfopt.certificates.objective_bound import told
from drfopt.certificates.verifier.alpha_utility import AlphaUtility
from drfopt.engines.problem import Answer, Problem
from drfopt.engines.whole import climbing, filling_up, frontier, totals
from drfopt.model.organisation import Group, Organisation
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

ALPHAS = ("alpha:2", "alpha:0.5", "alpha:3", "alpha:1.5", "alpha:0.3", "alpha:7")
KINDS = {
    "pool": {"rules": False},
    "machines": {"rules": False, "machines": True},
    "rules": {},
    "rules on machines": {"machines": True},
    "types": {"types": True, "rules": False},
    "types on machines": {"types": True, "rules": False, "machines": True},
    "types under rules": {"types": True},
    "types under rules on machines": {"types": True, "machines": True},
}
HALF = Fraction(1, 2)


def compared(kind: str, seeds: range) -> int:
    """Compare answers with enumeration; return how many instances could be taken."""
    drawn = {seed: awkward(seed, **KINDS[kind], market=True) for seed in seeds}
    return sum(equal(instance, ALPHAS[seed % len(ALPHAS)], (kind, seed)) for seed, instance in drawn.items())


@pytest.mark.parametrize("kind", KINDS)
def test_answers_equal_enumeration(kind):
    assert compared(kind, range(6)) > 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_answers_equal_enumeration_at_length(kind, some):
    assert compared(kind, range(100, 100 + some(300))) > some(250)


@pytest.mark.parametrize("seed", [3611, 5789])
def test_utilities_too_uneven_for_a_solver_are_climbed_to_under_rules(seed):
    assert equal(awkward(seed, market=True), "alpha:7", seed)


def test_what_the_definition_says():
    # One task of A is a third of the cluster, of B a half: at alpha = 2 both are served, and A has the rest.
    users = {"A": [1, 0], "B": [0, 3], "C": [2, 1]}
    for policy, tasks in (("alpha:2", [1, 1, 1]), ("alpha:0.5", [1, 1, 1]), ("alpha:0", [3, 2, 0])):
        assert solve(Instance(users, [3, 6]), policy, integer=True).tasks.tolist() == tasks
    # Whoever needs everything leaves the others nothing: above 1 as many as possible have a task.
    users = {"all": [6], "A": [3], "B": [3]}
    assert solve(Instance(users, [6]), "alpha:2", integer=True).tasks.tolist() == [0, 1, 1]
    # Below 1 nothing is worth 0: one user with all of it has sqrt(1), two with a half 2 sqrt(1/2).
    assert solve(Instance(users, [6]), "alpha:0.5", integer=True).tasks.tolist() == [0, 1, 1]


@pytest.mark.parametrize("policy", ["alpha:2", "alpha:0.5", "alpha:20"])
@pytest.mark.parametrize("machines", [False, True])
def test_a_file_proves_it_and_other_tasks_it_does_not(policy, machines):
    cluster = {"machines": [Machine("m", [4, 7], 2), Machine("n", [5, 5])]} if machines else {"capacity": [13, 19]}
    instance = Instance({"A": [1, 4], "B": [3, 1], "C": [2, 2]}, **cluster, weights={"A": 1, "B": 2, "C": 1})
    found = solve(instance, policy, integer=True)
    assert (found.status, found.certificate.rigorous) == ("optimal", True)
    text = json.dumps(certificate_document(found))
    assert verify(json.loads(text)).valid
    for i, more in ((0, 1), (1, 1), (0, -1), (2, -1)):
        other = json.loads(text)
        other["users"][i]["tasks"] += more
        assert not verify(other).valid


def test_all_methods_agree():
    for instance in (Instance({"A": [1, 4], "B": [3, 1]}, [9, 18]), tied(3, 1)):
        for policy in ("alpha:2", "alpha:0.5"):
            found = crosscheck(instance, policy, integer=True)
            assert found.agree is True
            assert len(found.methods) == 4


@pytest.mark.parametrize("policy", ["alpha:0.5", "alpha:2", "alpha:5", "alpha:20"])
def test_twenty_users_of_a_pool_are_proven_in_integers(policy, monkeypatch):
    """Neither chords nor a tree of prices ended there within a minute."""
    random = np.random.default_rng(20)
    instance = Instance(random.integers(1, 101, (20, 4)), [40 * 1000] * 4)
    monkeypatch.setattr(price_tree, "NODES", 40)
    found = solve(instance, policy, integer=True)
    assert (found.engine, found.status) == ("nash-halves", "optimal")
    chosen = policy_named(policy)
    value = worth(WholeUsers(instance, chosen, range(20)))
    best = value(found.tasks.tolist())
    used = found.tasks @ np.array(instance.demands)
    for i, j in itertools.permutations(range(20), 2):
        # One task of somebody against as many as fit of somebody else.
        other = found.tasks.copy()
        other[i] -= 1
        free = instance.capacity - used + instance.demands[i]
        other[j] += int((free // instance.demands[j]).min())
        assert not value(other.tolist()) > best


def test_what_solvers_do_not_tell_apart_is_climbed_to():
    instance = Instance(np.random.default_rng(3).integers(1, 100, (12, 3)), [1200] * 3)
    with pytest.raises(SolverError, match="times apart, which no solver tells apart"):
        solve(instance, "alpha:20", integer=True, engine="nash-milp")
    found = solve(instance, "alpha:20", integer=True, engine="climbing")
    assert (found.status, found.certificate.rigorous) == ("optimal", True)
    near = solve(instance, "alpha:20", integer=True)
    assert near.engine == "nash-halves"
    assert near.tasks.tolist() == found.tasks.tolist()
    start = solve(instance, "drf", integer=True)
    assert price_tree.search(instance, policy_named("alpha:20"), start.tasks.tolist(), nodes=2).trees is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_wants_time_has_a_bound_that_nothing_exceeds(kind):
    for seed in range(4):
        instance, policy = awkward(seed, **KINDS[kind], market=True), policy_named(ALPHAS[seed])
        best = solve(instance, policy, integer=True)
        late = whole.certify(instance, policy, best.tasks, best.certificate.evidence.packing, Deadline.after(-1))
        if late.valid is None and late.evidence.bound is not None:
            assert late.evidence.bound >= late.evidence.level
            assert 0 <= late.gap <= 1


def test_a_bound_is_told_in_means_of_levels():
    instance, policy = Instance({"A": [1, 4], "B": [3, 1]}, [9, 18]), policy_named("alpha:2")
    users = WholeUsers(instance, policy, [0, 1])
    # Harmonic means: of levels 4/9 and 2/3 it is 8/15, of the best 2/3 (utility -3.75 and -3), of all alone 16/17.
    thirds, alone = (2 / 3, "0.666667"), (16 / 17, "0.941177")
    for more, (most, rounded_up) in ((Fraction(3, 4), thirds), (Fraction(10), alone), (None, thirds)):
        found = told(users, [2, 2], more)
        assert float(found.value) == pytest.approx(8 / 15)
        assert float(found.bound) == pytest.approx(most)
        assert f"the power mean of levels is 0.533333 and can be {rounded_up} at most" == found.words
    assert told(users, [2, 0], None) is None or "users have a task" in told(users, [2, 0], None).words


def test_sums_of_roots_that_are_equal_are_known_to_be():
    root = AlphaUtility(HALF)
    # sqrt 8 = 2 sqrt 2, sqrt 1/8 = sqrt 2 / 4, and sqrt 2 + sqrt 3 is no multiple of either.
    assert root.sign([(Fraction(1), Fraction(8)), (Fraction(-2), Fraction(2))]) == 0
    assert root.sign([(Fraction(4), Fraction(1, 8)), (Fraction(-1), Fraction(2))]) == 0
    assert root.sign([(Fraction(1), Fraction(2)), (Fraction(-1), Fraction(3))]) == -1
    # A near miss: sqrt 10 + sqrt 11 and sqrt 5 + sqrt 18 + 1e-20 apart is told by more digits.
    near = [(Fraction(1), Fraction(10**40 + 1)), (Fraction(-1), Fraction(10**40))]
    assert root.sign(near) == 1
    assert AlphaUtility(Fraction(3, 2)).sign(near) == 1
    cubes = AlphaUtility(Fraction(2, 3))
    assert cubes.sign([(Fraction(1), Fraction(27, 8)), (Fraction(-3, 2), Fraction(1))]) == 0
    assert AlphaUtility(Fraction(3)).sign([(Fraction(4), Fraction(2)), (Fraction(-1), Fraction(1))]) == 0


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(3, 2), Fraction(2), Fraction(1, 10)])
def test_utilities_in_units_are_at_most_two_below(alpha):
    utility, chance = AlphaUtility(alpha), np.random.default_rng(5)
    for _ in range(40):
        weight, level = (Fraction(int(a), int(b)) for a, b in chance.integers(1, 10**6, (2, 2)))
        unit = 10 ** int(chance.integers(0, 30))
        low = utility.units(weight, level, unit)
        assert utility.sign([(weight, level)]) == (1 if alpha < 1 else -1)
        for shift, more in ((0, -1), (2, 1)):
            # The true value is between low and low + 2: compared with a level of which that many units is the utility.
            assert more * (weight * utility.about(level, 60) / utility.power * unit - low - shift) <= 0


def test_ties_between_roots_are_ties():
    # 1 and 4 tasks of one are worth what 2 of the other are, several times over.
    users = WholeUsers(
        Instance({"A": [1], "B": [1]}, [18], max_tasks={"A": 8, "B": 8}), policy_named("alpha:0.5"), [0, 1]
    )
    value = worth(users)
    assert value([8, 2]) == value([2, 8])
    assert value([8, 0]) > value([7, 0])
    assert pickle.loads(pickle.dumps(value([8, 2]))) == value([2, 8])


def test_who_needs_only_what_is_excluded_is_refused_where_one_type_fits():
    kinds = [TaskType([0, 1], 2), TaskType([0, 3], 1)]
    instance = Instance(
        {"A": [3, 3], "B": kinds},
        machines=[Machine("m", [3, 2])],
        organisation=Organisation(ceilings={"B": {"r2": 4}}, excluded=["r2"]),
    )
    assert playing(instance)
    for policy in ("drf", "asset", "alpha:2", "utilitarian"):
        with pytest.raises(PolicyError, match="'B' uses only resources that are excluded"):
            solve(instance, policy, integer=True)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "throughput"])
@pytest.mark.parametrize("machines", [False, True])
def test_what_a_proof_meets_that_is_better_is_the_answer(policy, machines, monkeypatch):
    cluster = {"machines": [Machine("m", [9, 9], 2), Machine("n", [5, 5])]} if machines else {"capacity": [23, 29]}
    instance = Instance({"A": [1, 4], "B": [3, 1], "C": [2, 2]}, **cluster)
    best, all_to_b = solve(instance, policy, integer=True), [1, 7, 0] if machines else [2, 7, 0]
    for status in ("time_limit", "optimal"):

        def poor(problem, status=status):
            own = list(all_to_b)  # Nothing fits beside that.
            users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
            found = frontier.packed_as(problem, users, own) if machines else Answer(np.array(own))
            return replace(found, status=status)

        monkeypatch.setattr(totals, "solve", poor)
        monkeypatch.setattr(totals, "solve_product", poor)
        name = "sum-milp" if policy == "throughput" else "nash-milp"
        if status == "optimal":
            with pytest.raises(CertificateError, match="finds a strictly better allocation"):
                solve(instance, policy, integer=True, engine=name)
            continue
        found = solve(instance, policy, integer=True, engine=name)
        assert (found.status, found.engine) == ("optimal", f"climbing after {name}")
        assert found.certificate.evidence.score == best.certificate.evidence.score


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_exponents_beyond_floats_are_answered(machines):
    # What tasks are worth is a thousandth power: the answer is the leximin's, proven in a pool, feasible on machines.
    demands = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}
    room = {"cpu": 9, "memory": 18}
    instance = Instance(demands, machines=[Machine("m", room, 2)]) if machines else Instance(demands, room)
    found = solve(instance, "alpha:1000", integer=True)
    assert found.tasks.tolist() == ([6, 4] if machines else [3, 2])
    assert found.certificate.valid or machines
    rows = crosscheck(instance, "alpha:1000", integer=True).to_dict()["engines"]
    assert not any("fault" in str(row) for row in rows)


def test_what_an_exact_search_finds_better_is_the_answer():
    """Numbers too far apart for solvers: of climbing's end the certificate's search says that it is not the best."""
    rules = Organisation(
        guarantees={"u2": {"r1": 1}, "u3": {"r0": "4/3", "r1": 5}},
        paths={"u0": "a", "u1": "a", "u3": "a/x"},
        groups=[Group("a", "1/3", guarantee={"r0": 2}), Group("a/x", ceiling={"r0": "4/3", "r1": 2})],
    )
    instance = Instance(
        {"u0": {"r0": 0.3, "r1": 0.5}, "u1": {"r1": 1}, "u2": {"r0": 1, "r1": 0.5}, "u3": {"r0": 0.5, "r1": 0.5}},
        machines=[Machine("c0", {"r0": "7/3", "r1": 2}, 2)],
        weights={"u0": 0.5, "u1": 1, "u2": 3, "u3": 3},
        organisation=rules,
    )
    found = solve(instance, "alpha:7", integer=True)
    assert found.status == "optimal" and found.tasks.tolist() == [1, 1, 3, 2]


def test_bounds_of_large_exponents_are_near_what_there_is():
    """One task is worth 5^19 times less than five: beside that a program in floats sees none of the others."""
    instance, policy = Instance([[1], [1]], [11]), policy_named("alpha:20")
    found = told(WholeUsers(instance, policy, [0, 1]), [5, 6], None)
    assert found.gap < 1e-6 and found.bound >= found.value
    assert whole._bounded(instance, policy, [5, 6], Fraction(10**60)).gap < 1e-6, "whatever a tree says"


def test_where_time_runs_out_leximin_is_the_answer_if_it_is_worth_more(monkeypatch):
    def no_time(*arguments, **options):
        raise TimeLimitError("the time limit ran out", "nothing is known")

    monkeypatch.setattr(totals, "nearest", no_time)
    problem = Problem(Instance([[1, 2], [5, 2]], [28, 28]), policy_named("alpha:20"), True)
    greedy = totals.greedily(totals.MeetInTheMiddle(problem.whole_users))
    found = totals.solve_by_halves(problem)
    assert found.status == "time_limit" and (greedy, found.tasks.tolist()) == ([11, 3], [8, 4])


def test_what_is_climbed_from_on_many_machines_is_packed_in_bulk(monkeypatch):
    """Task by task four thousand machines took longer than all that follows, and were not full when time ran out."""
    problem = Problem(Instance([[2, 1], [1, 3]], machines=[Machine("m", [7, 8], 30)]), policy_named("ceei"), True)
    best = solve(problem.instance, "ceei", integer=True).tasks.tolist()
    monkeypatch.setattr(filling_up, "TaskByTask", None)
    found = climbing.solve(problem)
    assert found.status == "feasible" and found.tasks.tolist() == best


def test_a_program_of_products_ends_after_so_many_nodes_and_the_proof_goes_on(monkeypatch):
    machines = [Machine("m", [156], 1), Machine("n", ["273/2"], 2)]
    allowed = [[True, False], [True, True], [False, True], [False, True]]
    instance = Instance([["0.7"], ["1"], ["1"], ["0.7"]], machines=machines, eligible=allowed)
    problem = Problem(instance, policy_named("alpha:5/2"), integer=True)
    monkeypatch.setattr(totals, "WORK", 0)
    for nodes in (1, 300):
        monkeypatch.setattr(totals, "FEWEST", nodes)
        try:
            # What has ended early does not call itself optimal, nor late: there is no time limit.
            assert totals.solve_product(problem).status == "feasible"
        except SolverError as error:
            assert f"not solved after {nodes} nodes of branching" in str(error)


def test_a_second_solver_that_calls_optimal_what_is_worse_is_no_judge(monkeypatch):
    instance = Instance([[2, 3], [3, 2], [5, 4]], [97, 89])
    best = solve(instance, "alpha:3", integer=True)
    monkeypatch.setattr(price_tree, "NODES", 1)
    monkeypatch.setattr(whole.MeetInTheMiddle, "within", lambda *_, **__: (_ for _ in ()).throw(whole.TooManyChoices))
    monkeypatch.setattr(exhaustive_search, "NODES", 1)
    monkeypatch.setattr(whole.second_solver, "optimum", lambda *_: [1, 1, 1])
    found = whole.certify(instance, policy_named("alpha:3"), best.tasks, None)
    assert found.valid is None and "CBC calls optimal what is worth less" in found.reason


def test_where_marginal_utility_is_a_cost_floats_tell_as_decimals_do():
    chance = np.random.default_rng(7)
    for alpha in (Fraction(1), Fraction(5, 2), Fraction(20)):
        utility = AlphaUtility(alpha)
        for _ in range(200):
            weight, rate = (Fraction(int(chance.integers(1, 10**6)), int(chance.integers(1, 10**6))) for _ in range(2))
            x = int(chance.integers(1, 10**8 - 2))
            # The cost at which so many tasks are the best, a little more or less than whole.
            cost = weight * rate * Fraction(float(rate) * (x + 0.5)).limit_denominator(10**9) ** -int(alpha // 1)
            found = utility.chosen(weight, rate, cost, 10**8 - 1)
            slow = utility.chosen(weight, rate, cost, 10**8)
            assert abs(found - min(slow, 10**8 - 1)) <= 1
