"""Verdicts on outcomes: against definitions computed another way, on allocations that are wrong, and as text."""

import random
from dataclasses import asdict, replace
from fractions import Fraction

import pytest

from drfopt import Instance, Machine, PolicyError, TaskType, TimeLimitError, audit, verify
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import cluster_of, shown, side_by_side
from drfopt.axioms.outcomes import Outcome
from drfopt.axioms.properties import monotonicity
from drfopt.axioms.properties.property_table import EIGHT, PROPERTIES, findings, properties_named
from drfopt.axioms.verdicts import FAILS, HOLDS, UNDECIDED
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

SI, SP, EF, PE, SRF, BF, PM, RM = (row.name for row in EIGHT)
BY_NAME = {row.name: row for row in PROPERTIES}


def judged(case, tasks, name, policy="drf"):
    """Return the finding on an allocation that no policy gave."""
    audit_case = AuditCase(case.cluster(), policy_named(policy))
    audit_case.truth = Outcome(tuple(Fraction(x) for x in tasks))
    return BY_NAME[name].check(audit_case)


def shares(case):
    (capacity,) = case.rooms
    return [[Fraction(d, c) for d, c in zip(user.demand, capacity, strict=True)] for user in case.users]


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_on_any_allocation_are_the_definitions(seed, draw):
    case = draw(seed, users=(2, 4), limits=True)
    n, m = len(case.users), len(case.rooms[0])
    per_task = shares(case)
    weights = [user.weight for user in case.users]
    whole = sum(weights)
    # Half of what everybody could have alone, by turns: mostly unfair, sometimes wasteful.
    tasks = []
    left = [Fraction(1)] * m
    for i, user in enumerate(case.users):
        most = min(left[j] / per_task[i][j] for j in range(m) if per_task[i][j])
        tasks.append(min(most / (1 + (seed + i) % 3), Fraction(user.limit) if user.limit else most))
        left = [left[j] - tasks[i] * per_task[i][j] for j in range(m)]

    def worth(i, bundle):
        value = min(bundle[j] / per_task[i][j] for j in range(m) if per_task[i][j])
        return min(value, case.users[i].limit) if case.users[i].limit else value

    alone = [worth(i, [Fraction(weights[i], whole)] * m) for i in range(n)]
    incentive = all(x >= a for x, a in zip(tasks, alone, strict=True))
    envy = any(
        worth(i, [tasks[k] * per_task[k][j] * weights[i] / weights[k] for j in range(m)]) > tasks[i]
        for i in range(n)
        for k in range(n)
    )
    efficient = all(
        (user.limit and x == user.limit) or any(per_task[i][j] and left[j] == 0 for j in range(m))
        for i, (user, x) in enumerate(zip(case.users, tasks, strict=True))
    )
    assert (judged(case, tasks, SI).verdict == HOLDS) == incentive
    assert (judged(case, tasks, EF).verdict == FAILS) == envy
    assert (judged(case, tasks, PE).verdict == HOLDS) == efficient


@pytest.mark.parametrize("seed", range(25))
def test_drf_keeps_its_theorems_with_weights_limits_and_zero_demands(seed, draw):
    case = draw(seed, users=(2, 4), limits=True)
    found = audit(case.cluster().instance(), "drf", [SI, SP, EF, PE])
    assert [finding.verdict for finding in found.results] == [HOLDS] * 4
    assert all(finding.exact for finding in found.results)


@pytest.mark.parametrize("seed", range(10))
def test_the_market_keeps_its_theorems_with_weights_and_zero_demands(seed, draw):
    case = draw(seed, users=(2, 4), resources=(1, 2))
    names = [SI, EF, PE, SRF, BF, "no-justified-complaints"]
    found = audit(case.cluster().instance(), "ceei", names)
    assert {finding.verdict for finding in found.results} == {HOLDS}


@pytest.mark.parametrize("seed", range(10))
def test_monotonicity_is_what_solving_again_gives(seed, draw):
    case = draw(seed, users=(2, 3), resources=(2, 2))
    instance = case.cluster().instance()
    truth = solve(instance, "drf", exact=True).tasks
    found = audit(instance, "drf", [PM, RM])
    for leaver in range(instance.n):
        rest = replace(case, users=case.users[:leaver] + case.users[leaver + 1 :])
        after = solve(rest.cluster().instance(), "drf", exact=True).tasks
        before = [x for i, x in enumerate(truth) if i != leaver]
        if any(y < x for x, y in zip(before, after, strict=True)):
            assert found[PM].verdict == FAILS
            break
    else:
        assert found[PM].verdict == HOLDS
    if found[RM].verdict == FAILS:
        witness = found[RM].witness
        grown = [
            witness.raised if r == witness.resource else c for r, c in zip(("r1", "r2"), case.rooms[0], strict=True)
        ]
        again = Instance([u.demand for u in case.users], grown, weights=[u.weight for u in case.users])
        i = int(witness.user[1:]) - 1
        assert solve(again, "drf", exact=True).tasks[i] == witness.after < truth[i] == witness.tasks


@pytest.mark.parametrize("seed", range(8))
def test_resource_monotonicity_is_decided_where_it_says_so(seed, draw):
    # Between the few capacities that decide, many more are tried here.
    case = draw(seed, users=(2, 3), resources=(2, 2), zero=False)
    audit_case = AuditCase(case.cluster(), policy_named("drf"))
    finding = BY_NAME[RM].check(audit_case)
    assert finding.verdict in (HOLDS, FAILS)
    for j in range(2):
        for step in range(1, 60 if finding.verdict == HOLDS else 0):
            raised = audit_case.cluster.pool[j] * (1 + Fraction(step, 12))
            after = audit_case.run(audit_case.cluster.with_capacity(j, raised)).tasks
            assert all(y >= x for x, y in zip(audit_case.truth.tasks, after, strict=True))


@pytest.mark.parametrize("policy", ["drf", "ceei", "asset", "throughput", "tasks"])
def test_units_do_not_matter(policy):
    mega = audit(Instance([[1, 4000], [3, 1000]], [9, 18000]), policy)
    giga = audit(Instance([[1, 4], [3, 1]], [9, 18]), policy)
    assert [f.verdict for f in mega.results] == [f.verdict for f in giga.results]


def test_one_user_one_resource_nothing_to_say():
    found = audit(Instance([[2]], [1]), "drf")
    assert {finding.verdict for finding in found.results} == {HOLDS}


def test_who_is_unplaced_or_has_a_limit_of_0_does_not_count_as_hurt():
    instance = Instance([[1, 1], [0, 1], [0, 1]], [0, 10], max_tasks=[None, 0, None])
    for policy in ("drf", "ceei", "asset"):
        found = audit(instance, policy)
        assert {f.verdict for f in found.results if f.property not in (RM, SP)} == {HOLDS}, policy


def test_whole_tasks_say_when_a_tie_was_broken():
    found = audit(Instance([[1], [1]], [3]), "drf", [EF, PE, "envy-up-to-one-task"], integer=True)
    assert [f.verdict for f in found.results] == [FAILS, HOLDS, HOLDS]
    assert all(f.tied for f in found.results)
    assert "other divisions may be as good" in str(found)


def test_whole_tasks_on_machines():
    instance = Instance([[1], [1]], machines=[Machine("a", [Fraction(19, 10)], 3)])
    found = audit(instance, "drf", [SI, PE, PM, RM], integer=True)
    assert found[PE].verdict == HOLDS
    assert found[SI].verdict == HOLDS


def test_machines_the_drfh_example_breaks_sharing_incentive():
    # The library has it with machines of half the size, on one of which u2's task would not fit.
    machines = [Machine("m1", [2, 4]), Machine("m2", [4, 2])]
    found = audit(Instance([[1, 1], [1, 2]], machines=machines), "drf", [SI, EF, PE])
    assert found[SI].verdict == FAILS
    assert found[SI].witness.tasks == Fraction(4, 3)
    assert found[SI].witness.alone == Fraction(3, 2)
    assert found[SI].exact
    assert found[PE].verdict == HOLDS


def test_machines_on_which_a_task_does_not_fit_are_no_part_of_her_share():
    instance = Instance([[2]], machines=[Machine("m1", [1]), Machine("m2", [2])])
    assert audit(instance, "drf", SI).results[0].verdict == HOLDS


def test_machines_waste_is_found():
    audit_case = AuditCase(
        cluster_of(Instance.library("drfh-two-servers")),
        policy_named("drf"),
    )
    audit_case.truth = replace(audit_case.truth, tasks=tuple(Fraction(x) for x in (6, 6)))
    finding = BY_NAME[PE].check(audit_case)
    assert finding.verdict == FAILS
    assert float(finding.witness.possible) > 6


def test_machines_pareto_efficiency_is_decided_in_fractions():
    cluster = Instance([[1, 2], [2, 1], [1, 1]], machines=[Machine("a", [3, 4]), Machine("b", [4, 3], 2)])
    found = audit(cluster, "drf", PE).results[0]
    assert (found.verdict, found.exact) == (HOLDS, True)
    audit_case = AuditCase(cluster_of(cluster), policy_named("drf"))
    # A part in a billion less is waste, and is seen.
    less = tuple(x * (1 - Fraction(1, 10**9)) for x in audit_case.truth.tasks)
    audit_case.truth = replace(audit_case.truth, tasks=less)
    finding = BY_NAME[PE].check(audit_case)
    assert (finding.verdict, finding.exact) == (FAILS, True)


def test_machines_whole_tasks_are_compared_machine_by_machine():
    # One task of u1 on either machine is of no use to u2, who needs both halves on one.
    cluster = Instance([[1], [2]], machines=[Machine("a", [2], 2)])
    audit_case = AuditCase(cluster_of(cluster), policy_named("drf"), integer=True)
    audit_case.given = Outcome((Fraction(2), Fraction(0)), packing=((0, 2, {0: 1}),))
    assert audit_case.limited(1, audit_case.of_another(1, 0)) == 0
    audit_case.given = Outcome((Fraction(2), Fraction(0)), packing=((0, 1, {0: 2}),))
    assert audit_case.limited(1, audit_case.of_another(1, 0)) == 1
    found = audit(cluster, "drf", [EF, "envy-up-to-one-task"], integer=True)
    assert all(f.verdict in (HOLDS, FAILS) and f.tied and "packed" in f.note for f in found.results)


@pytest.mark.parametrize("seed", range(12))
def test_machines_by_themselves_are_filled_exactly(seed):
    dice = random.Random(seed)
    rows = [[dice.randint(0, 3), dice.randint(1, 3)] for _ in range(dice.randint(1, 4))]
    machines = [Machine(f"m{k}", [dice.randint(1, 4), dice.randint(1, 4)], dice.randint(1, 2)) for k in range(3)]
    cluster = Instance(rows, machines=machines)
    audit_case = AuditCase(cluster_of(cluster), policy_named("per-server"))
    assert [float(x) for x in audit_case.truth.tasks] == pytest.approx(solve(cluster, "per-server").tasks)
    finding = BY_NAME[SP].check(audit_case)
    assert (finding.verdict, finding.exact) == (HOLDS, True)


def test_a_user_of_several_types_is_one_of_their_average_in_a_pool():
    kinds = [TaskType({"cpu": 1}, 2), TaskType({"cpu": 3, "memory": 4}, 2)]
    pool = Instance({"A": kinds, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    average = {"A": {"cpu": 2, "memory": 2}, "B": {"cpu": 3, "memory": 1}}
    mean = Instance(average, {"cpu": 9, "memory": 18}, max_tasks={"A": 4})
    assert [f.verdict for f in audit(pool).results] == [f.verdict for f in audit(mean).results]
    # Whole tasks of two kinds are no whole tasks of their mean: A may run two of one kind and one of the other.
    whole = audit(pool, integer=True)
    assert {f.verdict for f in whole.results} <= {"holds", "no violation found"}
    assert "fails" in {f.verdict for f in audit(mean, integer=True).results}
    assert "single-resource-fairness, bottleneck-fairness" in whole.undefined


def test_a_formulation_file_is_audited_like_a_policy(tmp_path):
    notion = tmp_path / "first_come.py"
    notion.write_text(
        '"""Most for the first: the first user counts a hundred times."""\n'
        "from typing import NamedTuple\nimport cvxpy as cp\nimport numpy as np\n"
        "class Model(NamedTuple):\n    problem: object\n    tasks: object\n    levels: object\n"
        "def build(data, held):\n"
        "    x = cp.Variable(len(data.demands), nonneg=True)\n"
        "    worth = np.ones(len(data.demands))\n    worth[0] = 100\n"
        "    rows = [data.demands.T @ x <= data.capacity]\n"
        "    return Model(cp.Problem(cp.Maximize(worth @ x), rows), x, None)\n"
    )
    found = audit(Instance([[1, 1], [1, 2]], [4, 4]), str(notion), [SI, EF, PE])
    assert [f.verdict for f in found.results] == [FAILS, FAILS, UNDECIDED]
    assert "user u2" in str(found[SI].witness)


def test_every_witness_is_a_sentence_and_plain_data():
    shown = [
        ("thm1", "asset", SI, "user u2 runs 12 tasks, but 15 alone in its part of every resource"),
        ("thm4", "ceei", SP, "user u1 reports (16, 32/3) instead of (16, 1) and runs 75/16 tasks instead of 100/31"),
        ("min-tasks", "tasks", EF, "user u1 runs 1/3 tasks, but would run 2/3 with what user u2 holds"),
        ("thm2", "asset", BF, "user u1 holds 3/7 of r1 and could use more, while user u2 holds 4/7"),
        ("thm5", "ceei", PM, "user u3 leaves, and user u2 runs 100/21 tasks instead of 5.35137"),
        ("thm6", "drf", RM, "r1 grows from 1 to 2, and user u2 runs 1/4 tasks instead of 1/3"),
        ("nsdi2011", "drf", "no-justified-complaints", "user A holds 1/3 of cpu and no more of any resource"),
    ]
    for name, policy, property, text in shown:
        finding = audit(Instance.library(name), policy, property).results[0]
        assert str(finding.witness).startswith(text)
        document = finding.to_dict()
        assert document["witness"]["text"] == str(finding.witness)
        assert set(document["witness"]) == {"text", *asdict(finding.witness)}
        assert document["verdict"] == FAILS
        assert document["exact"] is True


@pytest.mark.parametrize(
    "one, other, texts",
    [
        (Fraction(1, 3), Fraction(1, 2), ("1/3", "1/2")),
        (Fraction(1, 2), Fraction(1, 2), ("1/2", "1/2")),
        (Fraction(1, 6_000_000), Fraction(1, 6_000_001), ("1.66666667e-7", "1.66666639e-7")),
        (Fraction(1), 1 + Fraction(1, 10**30), ("1", "1.000000000000000000000000000001")),
    ],
)
def test_numbers_of_a_sentence_that_differ_look_different(one, other, texts):
    assert side_by_side(one, other) == texts


def test_a_small_loss_is_seen_in_its_sentence():
    tiny = Fraction(1, 10**12)
    harmed = monotonicity.Harmed("A", "B", Fraction(1, 2) + tiny, Fraction(1, 2))
    assert str(harmed) == "user B leaves, and user A runs 0.5 tasks instead of 0.500000000001"


def test_groups_are_tried():
    name = "group-strategy-proofness"
    found = audit(Instance.library("thm5"), "ceei", name).results[0]
    assert found.verdict == FAILS
    assert " and user u3 reports " in str(found.witness)
    quiet = audit(Instance.library("nsdi2011"), "drf", name).results[0]
    assert (quiet.verdict, quiet.exact) == (HOLDS, True)
    quiet = audit(Instance([[1], [1]], [2]), "ceei", name).results[0]
    assert quiet.verdict == UNDECIDED
    assert quiet.trials > 0


def test_an_unknown_property_or_policy_is_told_with_the_nearest():
    instance = Instance.library("nsdi2011")
    with pytest.raises(PolicyError, match="did you mean 'envy-freeness'"):
        audit(instance, "drf", "envy-freenes")
    with pytest.raises(PolicyError, match="no policy 'dfr'"):
        audit(instance, "dfr")
    with pytest.raises(PolicyError, match="no properties"):
        audit(instance, "drf", [])
    with pytest.raises(PolicyError, match="takes an Instance"):
        audit([[1]], "drf")
    with pytest.raises(PolicyError, match="time limit"):
        audit(instance, "drf", time_limit=0)
    with pytest.raises(PolicyError, match="compares shares"):
        audit(Instance([[1, 0], [0, 1]], [1, 1], resources=["a", "b"]), "single:a")


def test_what_was_found_before_the_time_ran_out_is_kept(monkeypatch):
    row = BY_NAME[SP]

    def too_long(audit_case):
        raise TimeLimitError("the time limit ran out in the audit")

    slow = replace(row, check=too_long)
    cluster = cluster_of(Instance.library("nsdi2011"))
    found = findings(cluster, policy_named("drf"), (slow, BY_NAME[SI], BY_NAME[PE]))
    assert [f.verdict for f in found] == [UNDECIDED, HOLDS, HOLDS]
    assert [f.cut_short for f in found] == [True, False, False]
    assert found[0].note == "the time limit ran out"
    with pytest.raises(TimeLimitError):
        findings(cluster, policy_named("drf"), (slow,))


def test_a_time_limit_ends_it():
    with pytest.raises(TimeLimitError, match="audit"):
        audit(Instance([[1 + i % 7, 1 + i % 5] for i in range(60)], [100, 100]), "drf", SP, time_limit=1e-9)


def test_the_table_of_properties():
    assert [row.short for row in EIGHT] == ["SI", "SP", "EF", "PE", "SRF", "BF", "PM", "RM"]
    assert properties_named(None) == EIGHT
    assert len({row.name for row in PROPERTIES}) == len(PROPERTIES) == 11


def test_more_of_what_is_not_used_up_changes_no_market():
    held = audit(Instance([[0, 2], [1, 2]], [3, 6], max_tasks=[1, 1]), "ceei", "resource-monotonicity").results[0]
    assert (held.verdict, held.exact) == ("holds", True)
    # There is nothing of cpu, and more than nothing is not tried: what is known without asking is counted.
    open_yet = audit(Instance([[1, 2], [0, 3]], [0, 6], max_tasks=[None, 1]), "ceei", "resource-monotonicity").results[
        0
    ]
    assert (open_yet.verdict, open_yet.trials > 0) == ("no violation found", True)


@pytest.mark.parametrize("seed", range(12))
def test_resource_monotonicity_of_sums_of_shares_is_decided_by_polynomials(seed, draw):
    case = draw(seed, users=(2, 3), resources=(2, 2), zero=False)
    audit_case = AuditCase(case.cluster(), policy_named("asset"))
    finding = BY_NAME[RM].check(audit_case)
    assert finding.verdict in (HOLDS, FAILS)
    assert finding.exact
    for j in range(2):
        for step in range(1, 60 if finding.verdict == HOLDS else 0):
            raised = audit_case.cluster.pool[j] * (1 + Fraction(step, 12))
            after = audit_case.run(audit_case.cluster.with_capacity(j, raised)).tasks
            assert all(y >= x for x, y in zip(audit_case.truth.tasks, after, strict=True))


def test_a_loss_that_no_listed_multiple_shows_is_found_by_polynomials(monkeypatch):
    from drfopt.axioms.properties import monotonicity

    monkeypatch.setattr(monotonicity, "FACTORS", ())
    monkeypatch.setattr(monotonicity, "_switches", lambda cluster, j: [])
    found = audit(Instance([[1, 1], [1, 2]], [1, 1]), "asset", RM).results[0]
    assert found.verdict == FAILS
    assert found.exact
    assert found.witness.after < found.witness.tasks


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "single:r1", "tsf"])
def test_who_leaves_a_pool_that_everybody_needs_harms_nobody(policy, monkeypatch):
    """The theorem says what removing one after the other says, and is not asked where somebody does without."""
    dice = random.Random(5)
    for positive in (True, False):
        for _ in range(6):
            rows = [[dice.randint(1, 4), dice.randint(positive, 2) or dice.randint(0, 1)] for _ in range(4)]
            most = [dice.choice([0, 1, 2, float("inf")]) for _ in rows]
            instance = Instance(rows, [dice.randint(3, 9), dice.randint(3, 9)], resources=["r1", "r2"], max_tasks=most)
            found = audit(instance, policy, PM).results[0]
            with monkeypatch.context() as patch:
                patch.setattr(monotonicity, "_rise_together", lambda case: False)
                assert audit(instance, policy, PM).results[0].verdict == found.verdict
            if all(map(all, rows)):
                assert found.verdict == HOLDS and found.exact


def test_of_several_optima_the_one_that_solve_gives_is_judged():
    instance = Instance({"u1": {"cpu": 3}, "u2": {"cpu": 1}}, {"cpu": 3})
    assert solve(instance, integer=True).tasks.tolist() == [0, 3]
    found = audit(instance, "drf", ["sharing-incentive", "envy-freeness"], integer=True)
    assert found["sharing-incentive"].verdict == HOLDS
    assert str(found["envy-freeness"].witness) == "user u1 runs 0 tasks, but would run 1 with what user u2 holds"
    document = found.certificate()
    assert verify(document).valid


def test_a_limit_is_of_the_true_tasks():
    instance = Instance({"u1": {"cpu": 1}, "u2": {"cpu": 4}}, {"cpu": 4}, max_tasks=[1, 1])
    found = audit(instance, "drf", ["strategy-proofness", "envy-up-to-one-task"], integer=True)
    assert "u1 reports (1) and no limit (it has one of 1) instead of (1)" in str(found["strategy-proofness"].witness)
    assert found["strategy-proofness"].witness.to_dict()["limit"] == "1"
    # With one of its tasks taken, what u2 holds still carries three of u1's, of which it has no use for two.
    assert str(found["envy-up-to-one-task"].witness).startswith("user u1 runs 0 tasks, but would run 1 with")
    assert verify(found.certificate()).valid


def test_resources_that_grow_together_are_another_question():
    """No resource takes from anybody as it grows alone, and two take from u1 and u3."""
    cluster = Instance([[3, 2, 3], [2, 3, 1], [1, 3, 3]], [1, 1, 1])
    alone = audit(cluster, "drf", "resource-monotonicity").results[0]
    assert (alone.verdict, alone.exact) == (HOLDS, True)
    grown = Instance(cluster.exact_demands, [2, 4, 1])
    assert solve(cluster, exact=True).tasks.tolist() == [Fraction(1, 8)] * 3
    assert solve(grown, exact=True).tasks.tolist() == [Fraction(1, 9), Fraction(1, 3), Fraction(1, 9)]


@pytest.mark.parametrize("cluster", [{"capacity": {"cpu": 2}}, {"machines": [Machine("m", {"cpu": 2})]}])
def test_who_fits_nowhere_envies_nobody(cluster):
    """By its weight B would have 6 cpu, two tasks, of a cluster of 2; of parts of tasks a pool has enough."""
    instance = Instance({"A": {"cpu": 1}, "B": {"cpu": 3}}, weights={"A": "1/3", "B": 1}, **cluster)
    found = audit(instance, "drf", ["envy-freeness", "envy-up-to-one-task"], integer=True)
    assert [one.verdict for one in found.results] == [HOLDS, HOLDS]
    assert verify(found.certificate()).valid


def test_uneven_whole_shares_are_told_by_weight():
    """Half of the CPUs was said to be held by who held all of them, at weight 2."""
    cluster = Instance([[1], [1], [2]], [8], weights=[1, "1/3", 2], users=["a", "b", "c"], resources=["cpu"])
    found = audit(cluster, "utilitarian", integer=True, properties=["single-resource-fairness"])
    told = (
        "shares of cpu, each divided by the user's weight, are (0, 0, 1/2), the lowest first, but (1/4, 3/8, 3/8) are"
    )
    assert told in str(found["single-resource-fairness"].witness)


def test_numbers_of_sentences_are_exact_where_they_are_short():
    """(1.0000003, 1) was told as (1, 1), and 7584742.2 as 7.58474e+06."""
    assert [shown(Fraction(text)) for text in ("1.0000003", "12345671", "1/3", "123/1000000")] == [
        "1.0000003", "12345671", "1/3", "123/1000000",
    ]  # fmt: skip
    assert shown(Fraction(35135354176481, 4632373)) == "7584742" and shown(Fraction(10**12, 7)) == "142857142857"
