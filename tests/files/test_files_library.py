"""The shipped instances: every one loads, says where it comes from and what to expect, and is there once."""

import re
from fractions import Fraction

import pytest

from drfopt.base.errors import InstanceError
from drfopt.io import library
from drfopt.io.native import reading, writing
from drfopt.io.native import writing as writer
from drfopt.model.instance import Instance


@pytest.mark.parametrize("name", library.names())
def test_every_instance(name: str) -> None:
    instance = Instance.library(name)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert instance.name
    assert instance.source
    assert library.text(name).startswith("# Expect: ")
    assert reading.loads(writer.dumps(instance, "yaml"), "yaml") == instance


def test_no_instance_is_there_twice() -> None:
    contents = {}
    for name in library.names():
        one = library.load(name)
        eligible = None if one.eligible is None else one.eligible.tobytes()
        counts = None if one.counts is None else one.counts.tobytes()
        room = one.exact_machine_capacity or one.exact_capacity
        content = (
            one.exact_demands,
            room,
            counts,
            one.exact_weights,
            one.exact_limits,
            eligible,
            str(one.organisation),
        )
        assert content not in contents, f"{name} is {contents.get(content)}"
        contents[content] = name
    assert len({library.load(name).name for name in library.names()}) == len(library.names())


def test_section_4_1() -> None:
    instance = library.load("nsdi2011")
    assert instance.name == "NSDI 2011, section 4.1"
    assert instance.source == "Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 4.1"
    assert (instance.users, instance.resources) == (("A", "B"), ("cpu", "memory"))
    assert instance.exact_demands == ((1, 4), (3, 1))
    assert instance.exact_capacity == (9, 18)
    assert instance.weights.tolist() == [1, 1]
    assert instance.exact_limits == (None, None)


def test_what_the_others_must_have() -> None:
    phases = [library.load(f"sec71-phase{phase}") for phase in (1, 2, 3)]
    assert all(phase.exact_capacity == (192, 672) and phase.counts.tolist() == [48] for phase in phases)
    assert library.load("sec72").exact_capacity == (384, 288)
    assert library.load("mm-weighted-16").exact_weights == (Fraction(5, 2), 4, Fraction(1, 2), 1)
    assert library.load("nsdi2011-limit").exact_limits == (2, None)
    assert library.load("vector-weights").weights_per_resource
    assert library.load("edge-zero-capacity").unplaced().tolist() == [True, False]
    assert library.load("cmmf-nested").eligible.sum(axis=1).tolist() == [1, 2, 3]
    assert library.load("appendix-excess-demand").n == 10


def test_summaries() -> None:
    assert tuple(summary.name for summary in library.summaries()) == library.names()
    by_name = {summary.name: summary for summary in library.summaries()}
    assert by_name["nsdi2011"].title == "NSDI 2011, section 4.1"
    assert by_name["nsdi2011"].expect.startswith("drf gives 3 and 2 tasks")
    assert all(summary.expect.isprintable() and summary.source for summary in library.summaries())


def test_unknown_names() -> None:
    with pytest.raises(
        InstanceError, match=r"no library instance 'nsdi2012': did you mean 'nsdi2011'\? .known: .*thm5"
    ):
        Instance.library("nsdi2012")
    for strange in ("../nsdi2011", "", "nsdi2011.toml", "NSDI2011"):
        with pytest.raises(InstanceError):
            library.load(strange)


def test_template() -> None:
    instance = reading.loads(writing.text(), "toml")
    assert instance.resources == ("cpu", "memory", "gpu")
    assert instance.exact_demands[1] == (Fraction(3, 2), 8 * 2**30, 1)
    assert instance.exact_weights == (1, 2, 1)
    assert instance.exact_limits == (None, None, 10)
    assert not instance.unplaced().any()


def test_the_part_of_the_template_that_is_commented_out() -> None:
    lines = writing.text().splitlines()
    first = lines.index("# [[machines]]")
    machines = [line.removeprefix("# ") for line in lines[first:] if re.match(r"# (\[\[|name|count|capacity)", line)]
    last = next(line.removeprefix("# ") for line in lines if line.startswith("# machines ="))
    pool = lines.index("[capacity]")
    users = lines[lines.index("[[users]]") : first - 2]
    instance = reading.loads("\n".join([*lines[:pool], *users, last, *machines]), "toml")
    assert instance.machine_names == ("cpu-node", "gpu-node")
    assert instance.eligible[2].tolist() == [True, False]
