"""Of several best divisions the same one comes in every process, however slow it is: no clock says which."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from whole_pools import tied, tiny

from drfopt import Instance, solve

HERE = Path(__file__)
POLICIES = ("drf", "ceei", "alpha:2", "utilitarian")
SLOWER = 5_000
"""Times that the clock is faster than it is, as to a process that hardly gets a turn: a minute is 12 ms."""


def _clusters(seed: int) -> list[Instance]:
    return [tied(4 + seed % 5, seed), tiny(seed), tiny(seed, True)]


def _divided(seed: int) -> list[list]:
    found = [solve(one, name, integer=True) for one in _clusters(seed) for name in POLICIES]
    return [[one.status, one.tasks.tolist()] for one in found]


def _elsewhere(seed: int, times: int, hashes: int) -> list[list]:
    """Return the same of a fresh process with a clock so many times as fast, and with other hashes of texts."""
    told = [sys.executable, "-m", HERE.stem, str(seed), str(times)]
    environment = os.environ | {"PYTHONHASHSEED": str(hashes)}
    done = subprocess.run(told, cwd=HERE.parent, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(12))
def test_the_same_division_comes_of_a_process_that_is_slow(seed):
    here, quick, slow = _divided(seed), _elsewhere(seed, 1, 1), _elsewhere(seed, SLOWER, 2)
    assert any(status == "optimal" for status, _ in here)
    for one, *others in zip(here, quick, slow, strict=True):
        for other in others:
            assert {one[0], other[0]} != {"optimal"} or one[1] == other[1]
    assert quick == here


if __name__ == "__main__":
    import time

    real, times = time.monotonic, int(sys.argv[2])
    begun = real()
    time.monotonic = lambda: begun + times * (real() - begun)
    print(json.dumps(_divided(int(sys.argv[1]))))
