"""Of the mutants of the verifier none is left that is neither caught nor told to be equivalent: a sample is run."""

import ast
import os
import subprocess
import sys

import pytest
from mutants import HERE, Case, Judge, Loaded, apart, equivalent, lines_of, mutants

from drfopt.certificates.verifier import number, reading

CATCHING = (
    "arithmetic", "audits", "audits_forged", "branches", "claim_mutants", "clock", "comparisons", "fair", "fillings",
    "instances", "leaves", "limits", "order", "parts", "possible", "proof_mutants", "rounding", "search", "stops",
    "tightening", "trees", "values", "whole", "whole_groups", "whole_levels",
)  # fmt: skip
"""The tests that catch them."""


def test_what_is_told_to_be_equivalent_is_a_mutant():
    known = equivalent()
    assert set(known) <= {str(one) for file in {line.split()[0] for line in known} for one in mutants(file)}
    assert all(known.values())


def test_a_mutant_of_a_function_within_a_decorator_is_loaded():
    mutant = next(one for one in mutants("reading.py") if str(one).endswith("with_long: without KNOWN.reset(token)"))

    def left():
        with reading.with_long({"n": 1}):
            pass
        return reading.KNOWN.get({})

    with Loaded(mutant):
        assert apart(left) == {"n": 1}
    assert not apart(left)


def test_a_mutant_and_what_it_leaves_are_gone_with_its_process():
    """As pytest keeps a fixture half made that is ended, and a cache what is false."""
    mutant = next(one for one in mutants("reading.py") if "without raise" in str(one) and "beyond" in str(one))
    kept = list[object]()

    def leaving():
        Loaded(mutant).__enter__()
        kept.append(number("1e999"))
        return kept

    assert apart(leaving)
    assert not kept
    with pytest.raises(ValueError, match="beyond the range"):
        number("1e999")


def test_a_mutant_that_asks_no_base_class_is_loaded():
    mutant = next(one for one in mutants("reading.py") if "without super().__init__(names)" in str(one))
    with Loaded(mutant):
        assert reading.Numbered("class", "ab") == []
    assert reading.Numbered("class", "ab") == ["a", "b"]


def test_whatever_is_judged_otherwise_is_suspected_though_many_before_it_fail_no_test(monkeypatch):
    """Which come first follows from how long they take: a mutant must not live on some days."""
    monkeypatch.setattr(Judge, "verdict", lambda *_: (False, [("limits", False, "A")]))
    cases = [Case(b"", (True, [("limits", True, "")]), 0.0, set(), [k]) for k in range(1000)]
    assert set(Judge([], None).suspects(cases)) == set(range(1000))


@pytest.mark.parametrize("end", [lambda: 1 // 0, lambda: os._exit(0)])
def test_a_process_that_gives_no_answer_proves_nothing(end, capfd):
    with pytest.raises(SystemExit, match="nothing is proven"):
        apart(end)


def test_lines_of_a_condition_are_those_of_what_is_asked():
    branch = next(one for one in mutants("powers.py") if isinstance(one.node, ast.If))
    assert lines_of(branch) == {branch.node.lineno}


@pytest.mark.slow
def test_a_sample_of_mutants_is_caught():
    tests = [str(HERE / f"test_verifier_{name}.py") for name in CATCHING]
    how = [sys.executable, str(HERE / "mutants.py"), "--sample", "60", "--tests", *tests]
    found = subprocess.run(how, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
