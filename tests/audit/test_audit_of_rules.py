"""Audits where there are rules, or task types on machines: what is defined is decided, and what fails has a witness."""

from pathlib import Path

import pytest

from drfopt import FormulationError, Group, Instance, Machine, Organisation, PolicyError, TaskType, audit, solve

FILES = Path(__file__).resolve().parents[2] / "formulations"
USERS = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "memory": 1}}


def pool(**rules):
    return Instance(USERS, {"cpu": 9, "memory": 18}, organisation=Organisation(**rules))


def machines():
    kinds = [TaskType({"cpu": 2, "gpu": 1}, 60), TaskType({"cpu": 4}, 30, ["cpu"])]
    classes = [Machine("cpu", {"cpu": 16}, 2), Machine("gpu", {"cpu": 8, "gpu": 4}, 2)]
    return Instance({"team": kinds, "batch": {"cpu": 1}, "gpus": {"cpu": 1, "gpu": 1}}, machines=classes)


def test_what_compares_divisions_is_decided_under_rules():
    found = audit(pool(guarantees={"A": {"cpu": 4}}))
    assert {f.property: f.verdict for f in found.results} == {
        "strategy-proofness": "no violation found",
        "pareto-efficiency": "holds",
        "population-monotonicity": "holds",
        "resource-monotonicity": "no violation found",
    }
    assert "not defined under guarantees: sharing-incentive, envy-freeness" in str(found)
    with pytest.raises(PolicyError, match="envy-freeness is not defined under guarantees: defined are"):
        audit(pool(guarantees={"A": {"cpu": 4}}), properties="envy-freeness")


def test_a_formulation_file_is_audited_under_the_rules_it_asks_for():
    """One that states the same notion has the same verdicts; who demands a rule it never names is told so."""
    of_file, of_drf = (audit(pool(tiers={"A": 1}), name) for name in (f"{FILES}/guarantees.py", "drf"))
    assert [(f.property, f.verdict) for f in of_file.results] == [(f.property, f.verdict) for f in of_drf.results]
    with pytest.raises(FormulationError, match=r"makes no use of the instance's tiers, or weights of 0"):
        audit(pool(tiers={"A": 1}), f"{FILES}/drf.py")


def test_more_of_a_resource_may_cost_a_group_at_its_ceiling():
    """A's share of a larger cluster is smaller than B's, so that the ceiling they share goes to B; read off by hand."""
    instance = pool(paths={"A": "g", "B": "g"}, groups=[Group("g", 2, ceiling={"cpu": 3})])
    found = audit(instance, properties="resource-monotonicity")["resource-monotonicity"]
    assert found.verdict == "fails"
    after = Instance(**(instance.parts() | {"capacity": [9.9, 18]}))
    assert solve(after).tasks[0] == pytest.approx(found.witness.tasks)
    assert solve(instance).tasks[0] == pytest.approx(found.witness.instead)


def test_what_the_error_of_others_leaves_is_no_waste():
    """A has nothing, and 2e-9 of a gpu were called waste: for who has nothing, a part of it is no tolerance."""
    rules = Organisation(guarantees={"B": {"gpu": 9}, "C": {"gpu": 6}})
    cluster = Instance({"A": {"gpu": 1}, "B": {"gpu": 3}, "C": {"gpu": 2}}, {"gpu": 11}, organisation=rules)
    for policy in ("drf", "ceei", "utilitarian"):
        assert audit(cluster, policy, "pareto-efficiency")["pareto-efficiency"].verdict == "holds"


def test_pareto_efficiency_can_fail(monkeypatch):
    """An allocation that leaves something is found: the check is not a mirror of the certificate."""
    from drfopt.axioms import ruled

    class Less(ruled._RuledCase):
        def __init__(self, *given):
            super().__init__(*given)
            self.tasks = self.tasks * [1, 0.9, 1]

    monkeypatch.setattr(ruled, "_RuledCase", Less)
    found = audit(pool(guarantees={"A": {"cpu": 4}}), properties="pareto-efficiency")["pareto-efficiency"]
    assert found.verdict == "fails"


def test_types_on_machines_have_a_part_of_their_own_and_envy():
    found = audit(machines())
    assert found["sharing-incentive"].verdict == "holds"
    assert found["envy-freeness"].verdict == "holds"
    kinds = [TaskType({"cpu": 2}, 60), TaskType({"cpu": 4}, 30)]
    greedy = audit(Instance({"team": kinds, "small": {"cpu": 1}}, machines=[Machine("m", {"cpu": 8}, 2)]), "throughput")
    assert {"sharing-incentive", "envy-freeness"} <= {f.property for f in greedy.failed}
    # All 16 cpu are small's: they would carry 6 average tasks of 8/3, and half of them 3.
    assert greedy["envy-freeness"].witness.instead == pytest.approx(6)
    assert greedy["sharing-incentive"].witness.instead == pytest.approx(3)


def test_two_together():
    found = audit(pool(guarantees={"A": {"cpu": 4}}), properties="group-strategy-proofness").results[0]
    assert found.verdict == "no violation found"
    assert found.trials > 0
