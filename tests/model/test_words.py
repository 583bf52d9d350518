"""Refusals say what is so: the reason that applies, and no remedy that does not."""

from pathlib import Path

import pytest

from drfopt import Instance, InstanceError, PolicyError, solve
from drfopt.base.errors import suggestion

FORMULATIONS = Path(__file__).parents[2] / "formulations"


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("gpu", ("cpu", "memory"), ""),
        ("gpus", ("cpu", "memory"), ""),
        ("gpus", ("cpu", "gpu"), ": did you mean 'gpu'?"),
        ("cup", ("cpu", "memory"), ": did you mean 'cpu'?"),
        ("mem", ("cpu", "memory"), ": did you mean 'memory'?"),
        ("Memory", ("cpu", "memory"), ": did you mean 'memory'?"),
        ("xavy-freeness", ("envy-freeness",), ""),
        ("nvy-freeness", ("envy-freeness",), ": did you mean 'envy-freeness'?"),
    ],
)
def test_what_is_missing_is_not_taken_for_a_slip(word, known, near):
    assert suggestion(word, known) == near


def test_a_weight_of_0_beside_weights_per_resource():
    demands = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    with pytest.raises(InstanceError, match=r"'A' has weight 0, .* others have weights per resource"):
        Instance(demands, {"cpu": 9}, weights={"A": 0, "B": {"cpu": 2}})
    with pytest.raises(InstanceError, match=r"'B': weight of 'cpu' is 0: .* write weight = 0"):
        Instance(demands, {"cpu": 9}, weights={"A": {"cpu": 1}, "B": {"cpu": 0}})


@pytest.mark.parametrize("what", ["limit", "ceiling"])
def test_per_server_names_what_it_does_not_know(what, tmp_path):
    line = {"limit": "max_tasks = 2", "ceiling": "ceiling = { cpu = 2 }"}[what]
    file = tmp_path / "cluster.toml"
    file.write_text(
        f'[[machines]]\nname = "m"\ncapacity = {{ cpu = 4 }}\n[[users]]\nname = "A"\ndemand = {{ cpu = 1 }}\n{line}\n',
        encoding="utf-8",
    )
    with pytest.raises(PolicyError, match=f"knows no {what} on all of them, .*: leave {what}s out"):
        solve(Instance.load(file), "per-server")


def test_what_a_formulation_calls_optimal_is_not_printed_as_ours():
    text = str(solve(Instance.library("nsdi2011"), FORMULATIONS / "drf.py"))
    assert "solved; certificate (feasibility) feasible, and what is best is the file's own claim" in text
