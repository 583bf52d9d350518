"""Searches: every case counted once whatever happens, the smallest counterexamples found without being told."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from pathlib import Path

import pytest

from drfopt import Instance, InstanceError, PolicyError, audit
from drfopt.axioms.counterexamples import searching
from drfopt.axioms.counterexamples import space as space_module
from drfopt.axioms.counterexamples.searching import search
from drfopt.axioms.counterexamples.space import Case, Question, Space, SpaceUser, smaller, smallest
from drfopt.axioms.verdicts import FAILS, HOLDS

REPOSITORY = Path(__file__).resolve().parents[2]
SP, PM = "strategy-proofness", "population-monotonicity"


@pytest.mark.parametrize(
    ("space", "total"),
    [
        (Space(3, 2, 4, 4, zero_demands=True), 41_600),
        (Space(2, 2, 4, 4), 16 * math.comb(17, 2)),
        (Space(2, 1, 3, 2), 2 * 6),
        (Space(2, 2, 2, 2, max_weight=2, max_limit=1), 4 * math.comb(4 * 2 * 2 + 1, 2)),
        (Space(2, 1, 2, 3, machines=2), 6 * 3),
        (Space(3, 2, 9, 9, sample=120), 120),
    ],
)
def test_the_count_is_the_closed_form(space, total):
    assert space.total == total
    if total < 3000:
        seen = [case for unit in range(space.units) for case in space.cases(unit)]
        assert len(seen) == total
        assert space.sample or len(set(seen)) == total


def test_one_stands_for_all_that_differ_by_symmetry():
    space = Space(2, 2, 3, 3, zero_demands=True)
    every = [case for unit in range(space.units) for case in space.cases(unit)]
    standing = {case for case in every if space.stands_for_itself(case)}
    for case in every:
        assert _reduced(case) in standing


def _reduced(case):
    """Return the case after dividing out what symmetry divides, resources in their smallest order."""
    (capacity,), rows = case.rooms, [list(user.demand) for user in case.users]
    capacity, before = list(capacity), None
    while before != (capacity, rows):
        before = (list(capacity), [list(row) for row in rows])
        rows = [[d // math.gcd(*row) for d in row] for row in rows]
        for j in range(len(capacity)):
            step = math.gcd(capacity[j], *(row[j] for row in rows))
            capacity[j] //= step
            for row in rows:
                row[j] //= step
    forms = [
        (tuple(capacity[j] for j in order), tuple(sorted(SpaceUser(tuple(row[j] for j in order)) for row in rows)))
        for order in permutations(range(len(capacity)))
    ]
    room, users = min(forms)
    return Case((room,), users)


def test_symmetry_changes_no_verdict():
    whole = Space(2, 2, 2, 3)
    question = Question("ceei", (SP, PM), replace(whole, sizes_matter=False))
    by_form = {}
    for unit in range(whole.units):
        for case in whole.cases(unit):
            verdicts = tuple(finding.verdict for finding in question.findings(case))
            by_form.setdefault(_reduced(case), set()).add(verdicts)
    assert all(len(verdicts) == 1 for verdicts in by_form.values())


@pytest.mark.parametrize(
    ("policy", "property", "space", "found"),
    [
        ("ceei", SP, Space(2, 2, 3, 3), "(1, 1) for (1, 2), (2, 1)"),
        ("ceei", PM, Space(3, 2, 3, 2), "(1, 1) for (1, 1), (1, 2), (3, 1)"),
        ("drf", PM, Space(3, 2, 2, 2, zero_demands=True), "(1, 1) for (0, 1), (1, 0), (1, 2)"),
        ("asset", "sharing-incentive", Space(2, 2, 3, 3), "(1, 1) for (1, 1), (1, 2)"),
        ("tasks", "envy-freeness", Space(3, 2, 2, 2), "(1) for (1), (2)"),
    ],
)
def test_the_smallest_counterexamples_of_the_literature_are_found(policy, property, space, found):
    result = search(policy, property, space)
    assert result.complete
    (counterexample,) = result.counterexamples
    assert result.sheet().rows[0][-1].startswith(found)
    assert counterexample.finding.verdict == FAILS
    assert counterexample.finding.exact


@pytest.mark.parametrize(("policy", "names"), [("drf", 7), ("asset", 5), ("single:r1", 6)])
def test_what_holds_survives(policy, names):
    result = search(policy, None, Space(3, 2, 2, 2))
    survivors = [name for name, count in result.verdicts.items() if not count[FAILS]]
    assert len(survivors) >= names
    assert all(result.verdicts[name][HOLDS] == result.audited for name in survivors[:5])


def test_a_counterexample_is_made_small_in_every_way():
    case = Case(((4, 6, 9),), tuple(sorted(SpaceUser(row, 2) for row in ((1, 2, 3), (3, 4, 1), (4, 1, 2), (2, 2, 2)))))
    question = Question("asset", ("sharing-incentive",), Space(4, 3))
    assert question.fails("sharing-incentive", case)
    small = smallest(case, lambda c: question.fails("sharing-incentive", c))
    assert small.size[:3] == (2, 2, 7)
    assert not any(question.fails("sharing-incentive", c) for c in smaller(small))
    assert all(c.size < case.size for c in smaller(case))


def test_large_numbers_are_made_small_in_few_moves():
    case = Case(((10**9 - 3, 10**8 + 7),), (SpaceUser((5**9, 3**17)), SpaceUser((7**8, 2**26 + 1))))
    question = Question("asset", ("sharing-incentive",), Space(2, 2))
    assert question.fails("sharing-incentive", case) and len(list(smaller(case))) < 400
    assert smallest(case, lambda c: question.fails("sharing-incentive", c)).size[:3] == (2, 2, 7)


def test_limits_weights_and_machines_are_searched():
    limited = search("drf", ["sharing-incentive", SP], Space(2, 1, 2, 2, max_weight=2, max_limit=1))
    assert all(count[FAILS] == 0 and count[HOLDS] for count in limited.verdicts.values())
    machines = search("drf", "sharing-incentive", Space(2, 2, 2, 2, machines=2, sample=10))
    assert machines.seen == machines.audited == 10


def test_what_fails_by_a_tie_only_is_no_counterexample():
    """Two users of one task each: utilitarian may give either of them all, or each a half."""
    result = search("utilitarian", ["envy-freeness"], Space(2, 1, 1, 1))
    assert result.verdicts["envy-freeness"][FAILS] and not result.counterexamples
    assert any("one of several, of which the others are not asked" in note for note in result.sheet().notes)
    assert result.sheet().rows[0][-1] == "none: it fails by a tie only"


def test_whole_tasks_are_searched():
    result = search("drf", ["sharing-incentive", "pareto-efficiency"], Space(2, 1, 3, 4), integer=True)
    (counterexample,) = result.counterexamples
    assert counterexample.instance.exact_capacity == (4,)
    assert counterexample.instance.exact_demands == ((1,), (3,))


def test_a_sample_depends_on_its_seed_only():
    one, same = (search("ceei", SP, Space(2, 2, 9, 9, sample=60, seed=4)) for _ in range(2))
    assert one.to_dict() == same.to_dict()
    other = search("ceei", SP, Space(2, 2, 9, 9, sample=60, seed=5))
    assert other.verdicts != one.verdicts or other.to_dict() != one.to_dict()


def test_all_that_is_drawn_is_audited():
    result = search("drf", "resource-monotonicity", Space(4, 4, 9, 9, sample=30))
    assert result.seen == result.audited == sum(result.verdicts["resource-monotonicity"].values()) == 30


def test_a_space_too_large_to_list_is_counted_sampled_and_not_enumerated():
    space = Space(5, 12, 9, 9)
    assert space.total == 9**12 * math.comb(9**12 + 4, 5)
    assert search("drf", "sharing-incentive", Space(5, 12, 9, 9, sample=3)).audited == 3
    with pytest.raises(InstanceError, match="too many to look at: draw a sample"):
        search("drf", "sharing-incentive", space)


def test_what_only_another_optimum_as_good_would_bring_is_no_violation():
    result = search("drf", [SP, "pareto-efficiency"], Space(2, 2, 2, 2), integer=True)
    assert not result.verdicts[SP][FAILS] and not result.counterexamples


def test_first_stops_early():
    result = search("ceei", SP, Space(2, 2, 4, 4), first=True)
    assert not result.complete
    assert len(result.counterexamples) == 1
    assert "stopped before the end" in str(result)


@pytest.mark.slow
def test_two_workers_find_the_same():
    space = Space(2, 2, 3, 3, zero_demands=True)
    assert search("drf", None, space, jobs=2).to_dict() == search("drf", None, space, jobs=1).to_dict()


# ---- interruption --------------------------------------------------------------------------------------------------

SPACE = Space(2, 2, 3, 3)


def answer(result):
    return result.to_dict(), result.verdicts, [c.story for c in result.counterexamples]


def test_a_search_goes_on_from_its_log(tmp_path):
    log, straight = tmp_path / "search.log", search("ceei", SP, SPACE)
    cut = search("ceei", SP, SPACE, first=True, checkpoint=log)
    assert 0 < cut.seen < straight.seen
    done = len(log.read_text().splitlines())
    on = search("ceei", SP, SPACE, checkpoint=log)
    assert answer(on) == answer(straight)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    units = Counter(line["unit"] for line in lines[1:])
    assert set(units.values()) == {1}
    assert len(lines) == 1 + SPACE.units > done
    again = search("ceei", SP, SPACE, checkpoint=log)
    assert answer(again) == answer(straight)
    assert len(log.read_text().splitlines()) == len(lines)


@pytest.mark.parametrize("kept", [0, 1, 40, 400, 2000])
def test_a_log_cut_anywhere_loses_and_doubles_nothing(tmp_path, kept):
    log = tmp_path / "search.log"
    straight = search("ceei", SP, SPACE, checkpoint=log)
    whole = log.read_bytes()
    log.write_bytes(whole[:kept])
    assert answer(search("ceei", SP, SPACE, checkpoint=log)) == answer(straight)
    assert sorted(log.read_bytes().splitlines()) == sorted(whole.splitlines())
    log.write_bytes(whole + whole[whole.index(b"\n") + 1 :])
    assert answer(search("ceei", SP, SPACE, checkpoint=log)) == answer(straight)


@pytest.mark.slow
def test_a_search_gets_on_however_short_its_time_is(tmp_path):
    """A unit that is cut short is gone on with where it was left, and what was audited of it counts."""
    question, log = Question("ceei", (SP,), SPACE, False), tmp_path / "log"
    straight = search("ceei", SP, SPACE, checkpoint=log)
    heading, first, *others = log.read_text().splitlines()
    parts = [searching._audited(question, 0, None, ends=0)]
    while parts[-1]["left"]:
        parts.append(searching._audited(question, 0, parts[-1], ends=0))
    assert [part["audited"] for part in parts] == list(range(1, len(parts) + 1)) and len(parts) > 1
    assert [part["seen"] for part in parts] == sorted(part["seen"] for part in parts)
    assert parts[-1] == json.loads(first) == searching._audited(question, 0, None, ends=math.inf)
    log.write_text("\n".join([heading, json.dumps(parts[0]), *others, ""]))
    assert answer(search("ceei", SP, SPACE, checkpoint=log)) == answer(straight)


def test_a_killed_search_goes_on(tmp_path):
    log = tmp_path / "search.log"
    space = Space(3, 2, 3, 3, zero_demands=True)
    code = (
        "from drfopt.axioms.counterexamples.searching import search, Space; "
        f"search('drf', None, Space(3, 2, 3, 3, zero_demands=True), checkpoint={str(log)!r})"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, cwd=tmp_path
    )
    while running.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") > 5):
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert log.read_bytes().count(b"\n") > 5
    assert answer(search("drf", None, space, checkpoint=log)) == answer(search("drf", None, space, jobs=2))


def test_the_log_of_another_search_is_refused(tmp_path):
    log = tmp_path / "search.log"
    search("ceei", SP, Space(2, 1, 2, 2), checkpoint=log)
    with pytest.raises(InstanceError, match="log of another search"):
        search("drf", SP, Space(2, 1, 2, 2), checkpoint=log)
    log.write_text("not a log\n")
    with pytest.raises(InstanceError, match="not the log of a search"):
        search("drf", SP, Space(2, 1, 2, 2), checkpoint=log)


def test_the_log_of_a_formulation_is_of_what_it_says(tmp_path):
    log, path = tmp_path / "log", tmp_path / "mine.py"
    text = (Path(__file__).parents[2] / "formulations" / "efficient_sharing.py").read_text()
    path.write_text(text)
    space = Space(2, 1, 1, 1)
    search(str(path), "sharing-incentive", space, checkpoint=log)
    path.write_text(text.replace("x >= r", "x >= 0 * r"))
    with pytest.raises(InstanceError, match=r"another search \(text of the formulation differs\)"):
        search(str(path), "sharing-incentive", space, checkpoint=log)


# ---- what is written -----------------------------------------------------------------------------------------------


def test_a_counterexample_is_written_with_its_story_and_read_again(tmp_path):
    (found,) = search("ceei", SP, Space(2, 2, 2, 2)).counterexamples
    path = found.save(tmp_path)
    assert path.name == "ceei-strategy-proofness.toml"
    assert path.read_text().startswith("# Expect: ceei: user u1 reports (4/3, 2) instead of (1, 2) and runs 3/8 tasks")
    again = audit(Instance.load(path), "ceei", SP).results[0]
    assert again.witness.instead == Fraction(3, 8)


def test_a_notion_of_ones_own_is_refuted(tmp_path):
    notion = tmp_path / "half_each.py"
    notion.write_text(
        '"""Half each: nobody takes more than half of a resource."""\n'
        "from typing import NamedTuple\nimport cvxpy as cp\n"
        "class Model(NamedTuple):\n    problem: object\n    tasks: object\n    levels: object\n"
        "def build(data, held):\n"
        "    x = cp.Variable(len(data.demands), nonneg=True)\n"
        "    rows = [data.demands.T @ x <= data.capacity]\n"
        "    rows += [cp.multiply(data.demands[i], x[i]) <= data.capacity / 2 for i in range(len(data.demands))]\n"
        "    return Model(cp.Problem(cp.Maximize(cp.sum(x)), rows), x, None)\n"
    )
    result = search(str(notion), "pareto-efficiency", Space(1, 1, 1, 2))
    assert result.verdicts["pareto-efficiency"][FAILS] == 2
    (found,) = result.counterexamples
    assert found.instance.exact_capacity == (1,)
    assert not found.finding.exact


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"users": 0}, "users of the search is 0"),
        ({"max_demand": 0}, "max_demand"),
        ({"machines": -1}, "machines"),
        ({"sample": -3}, "sample"),
    ],
)
def test_a_space_that_is_none_is_refused(wrong, match):
    with pytest.raises(InstanceError, match=match):
        Space(**wrong)


def test_a_policy_of_one_resource_names_one_of_the_search():
    with pytest.raises(PolicyError, match="the resources of a search are r1, r2"):
        search("single:cpu", SP, Space(2, 2, 1, 1))
    result = search("single:r2", "pareto-efficiency", Space(2, 2, 1, 1, zero_demands=True))
    assert result.audited == sum(1 for rows in product([(0, 1), (1, 1)], repeat=2) if rows[0] <= rows[1])


# ---- workers -------------------------------------------------------------------------------------------------------


def dies_once(folder, here, handful, question, ends, units):
    """Do a handful, but take down the first worker that is given one; this process waits until that has happened."""
    died = folder / "died"
    if os.getpid() != here and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    until = time.monotonic() + 120
    while not died.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return handful(question, ends, units)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_no_case(tmp_path, monkeypatch):
    log, space = tmp_path / "search.log", Space(2, 2, 3, 3, zero_demands=True)
    straight = answer(search("drf", None, space))
    monkeypatch.setattr(searching, "_handful", partial(dies_once, tmp_path, os.getpid(), searching._handful))
    assert answer(search("drf", None, space, checkpoint=log, jobs=2)) == straight
    assert (tmp_path / "died").exists()
    monkeypatch.undo()
    assert answer(search("drf", None, space, checkpoint=log)) == straight


@pytest.mark.slow
def test_a_dask_cluster_finds_the_same():
    from distributed import LocalCluster

    space = Space(2, 2, 3, 3)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        there = search("ceei", SP, space, dask=cluster.scheduler_address)
    assert answer(there) == answer(search("ceei", SP, space))


def test_a_piece_of_work_is_small_however_many_users_there_are(monkeypatch):
    monkeypatch.setattr(space_module, "CASES_OF_A_UNIT", 4)
    space = Space(users=4, resources=1, max_demand=3, max_capacity=2)
    units = [list(space.cases(unit)) for unit in range(space.units)]
    assert max(map(len, units)) <= 4
    assert len({case for cases in units for case in cases}) == sum(map(len, units)) == space.total
    with pytest.raises(InstanceError, match="too many to look at"):
        search("drf", space=Space(users=30, resources=4))


def test_what_a_policy_does_not_take_is_not_searched():
    with pytest.raises(PolicyError, match="is not defined for whole tasks"):
        search("path:1:1", space=Space(), integer=True)
    with pytest.raises(InstanceError, match="give a Space"):
        search("drf", "envy-freeness", 5)
