"""Envy is looked for among few pairs, and found where all pairs would show it."""

import importlib

import numpy as np
import pytest

from drfopt.axioms.auditing import audit
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine

# The package's `audit` is the function of that name.
envy = importlib.import_module("drfopt.axioms.properties.envy_freeness")


def drawn(seed):
    """Return a small pool or cluster with zero demands, weights and limits."""
    random = np.random.default_rng(seed)
    demands = random.integers(0, 3, (5, 3))
    demands[~demands.any(axis=1), 0] = 1
    rest = {"weights": random.integers(1, 3, 5), "max_tasks": [None, None, 3, 1, 0]}
    if seed % 2:
        return Instance(demands, machines=[Machine("a", [9, 6, 9], 2), Machine("b", [5, 9, 4])], **rest)
    return Instance(demands, random.integers(6, 20, 3), **rest)


@pytest.mark.parametrize("policy", ["drf", "asset", "throughput"])
@pytest.mark.parametrize("integer", [False, True])
def test_the_verdict_and_the_witness_are_those_of_all_pairs(policy, integer, monkeypatch):
    verdicts = set()
    for seed in range(4):
        instance = drawn(seed)
        (few,) = audit(instance, policy, ["envy-freeness"], integer=integer).results
        with monkeypatch.context() as patch:
            patch.setattr(envy, "_for_weight", lambda audit_case: [])
            (every,) = audit(instance, policy, ["envy-freeness"], integer=integer).results
        assert few == every
        verdicts.add(few.verdict)
    assert ("fails" if policy == "throughput" else "holds") in verdicts


def test_under_drf_no_pair_is_looked_at(monkeypatch):
    """So the time grows with the number of users, and not with its square."""
    random = np.random.default_rng(0)
    demands = random.integers(1, 9, (60, 3)) * (random.random((60, 3)) < 0.6)
    demands[~demands.any(axis=1), 0] = 1
    asked = []
    monkeypatch.setattr(envy.AuditCase, "of_another", lambda *pair: asked.append(pair))
    (found,) = audit(Instance(demands, [100, 120, 140]), "drf", ["envy-freeness"]).results
    assert found.verdict == "holds" and not asked
