"""Of the mutants of the verifier none is left that is neither caught nor told to be equivalent: a sample is run."""

import subprocess
import sys
from contextvars import copy_context

import pytest
from mutants import HERE, Loaded, equivalent, mutants

from drfopt.certificates.verifier import reading

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
        assert copy_context().run(left) == {"n": 1}
    assert not copy_context().run(left)


@pytest.mark.slow
def test_a_sample_of_mutants_is_caught():
    tests = [str(HERE / f"test_verifier_{name}.py") for name in CATCHING]
    how = [sys.executable, str(HERE / "mutants.py"), "--sample", "60", "--tests", *tests]
    found = subprocess.run(how, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
