"""What every result offers: a table, HTML, LaTeX, data, a frame, parts by name, equality, pickling."""

import copy
import importlib
import inspect
import json
import pickle
import pkgutil
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import drfopt
from drfopt import (
    Instance,
    Machine,
    Scenario,
    Space,
    TaskType,
    audit,
    compare,
    crosscheck,
    explain,
    price,
    read,
    rebalance,
    report,
    schedule,
    search,
    simulate,
    simulate_each,
    size,
    solve,
    solve_many,
    solve_partitions,
    sweep,
    verify,
    what_if,
)
from drfopt.axioms.claims import audit_policy
from drfopt.base.results import Result
from drfopt.simulation.section7 import region

NSDI = Instance.library("nsdi2011")
RACK = Instance(
    {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}},
    machines=[Machine("small", {"cpu": 9, "memory": 4}), Machine("large", {"cpu": 9, "memory": 14}, 2)],
)
TODAY = {"placement": {"A": {"small": 1}, "B": {"large": 2}}}


def partitioned():
    with tempfile.TemporaryDirectory() as folder:
        columns = {"cpu": [1.0, 3.0], "memory": [4.0, 1.0]}
        parquet.write_table(pyarrow.table(columns), Path(folder, "users.parquet"))
        return solve_partitions(
            Path(folder, "users.parquet"), {"cpu": 9, "memory": 18}, output=Path(folder, "answer"), jobs=1
        )


def converted():
    tables = {
        "machines": "machine,count,cpu\nbig,2,8\n",
        "tasks": "user,count,machine,cpu\nA,3,big,2\nB,1,,1\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tables.items():
            Path(folder, f"{name}.csv").write_text(text, encoding="utf-8")
        return read("csv", [Path(folder, f"{name}.csv") for name in tables])


POOLS = ([[[1, 4], [3, 1]], [[1, 1], [3, 1]]], [9, 18], "ceei")

RESULTS = {
    "Allocation": (lambda: solve(NSDI), "A"),
    "Comparison": (lambda: compare(NSDI), "ceei"),
    "CrossCheck": (lambda: crosscheck(NSDI), "filling"),
    "Schedule": (lambda: schedule(NSDI), "A"),
    "Audit": (lambda: audit(NSDI, properties="envy-freeness"), "envy-freeness"),
    "Search": (
        lambda: search("ceei", "strategy-proofness", Space(users=2, resources=2, max_demand=2, max_capacity=2)),
        None,
    ),
    "Explanation": (lambda: explain(NSDI), "A"),
    "WhatIf": (lambda: what_if(NSDI, ["set-weight A=2"]), "A"),
    "Prices": (lambda: price(NSDI), "cpu"),
    "Purchase": (lambda: size(NSDI, "A>=5", {"cpu": 1, "memory": 1}, steps={"cpu": 2, "memory": 4}), "cpu"),
    "Rebalancing": (lambda: rebalance(RACK, TODAY), "A"),
    "Sweep": (lambda: sweep(NSDI, ["1", "3/2"], jobs=1), "3/2"),
    "Run": (lambda: simulate(Scenario.library("two-users")), None),
    "Verification": (lambda: verify(solve(NSDI, exact=True)), None),
    "PartitionedAllocation": (partitioned, "cpu"),
    "Solutions": (lambda: solve_many(*POOLS), 1),
    "PoolSolution": (lambda: solve_many(*POOLS)[0], "u2"),
    "Conversion": (converted, "A"),
    "Page": (lambda: report(NSDI), "ceei"),
    "AssumptionRegion": (lambda: region((10.0,), (1.0,), (0.0,), seconds=30.0), "3 slots"),
    "Trials": (lambda: simulate_each(Scenario.library("two-users"), ["drf", "fifo"], replications=2), "fifo"),
}


@pytest.fixture(scope="module")
def results():
    return {name: make() for name, (make, _) in RESULTS.items()}


def kinds():
    """Return every kind of result that some module of the package defines."""
    for found in pkgutil.walk_packages(drfopt.__path__, "drfopt."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    waiting, known = [Result], set()
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        known |= set(below)
    return {kind for kind in known if kind.__module__.startswith("drfopt.")}


def test_every_kind_of_result_is_tried():
    assert {kind.__name__ for kind in kinds()} == set(RESULTS)


def test_nobody_says_again_what_the_base_says():
    said = {"__str__", "_repr_html_", "__getitem__", "to_latex"}
    again = {(kind.__name__, name) for kind in kinds() for name in said & vars(kind).keys()}
    # A page is HTML itself, with a style of its own that must not become the notebook's.
    assert again == {("Page", "_repr_html_")}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_shown_and_written(results, name):
    found = results[name]
    assert str(found) == found.sheet().text()
    assert found._repr_html_().startswith("<iframe" if name == "Page" else "<table>")
    assert found.to_latex().startswith(r"\begin{tabular}")
    assert json.loads(json.dumps(found.to_dict())) == json.loads(found.sheet().json()) or name == "Allocation"


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_equal_to_its_pickled_self_and_to_itself_computed_again(results, name):
    found = results[name]
    kept = pickle.loads(pickle.dumps(found))
    assert kept == found
    assert str(kept) == str(found)
    assert RESULTS[name][0]() == found
    assert found != "something else"


OF_WHOLE_TASKS = {
    **{policy: lambda it, policy=policy: solve(it, policy, integer=True) for policy in ("drf", "ceei", "per-server")},
    "exact": lambda it: solve(it, exact=True, integer=True),
    "compare": lambda it: compare(it, ["drf"], integer=True),
    "crosscheck": lambda it: crosscheck(it, integer=True),
    "explain": lambda it: explain(it, integer=True),
    "what_if": lambda it: what_if(it, ["set-weight A=2"], integer=True),
    "sweep": lambda it: sweep(it, ["1", "3/2"], jobs=1, integer=True),
    "schedule": lambda it: schedule(it, optimum=True),
    "schedule without its steps": lambda it: schedule(it, optimum=True, trace=False),
}


@pytest.mark.parametrize(
    "name, cluster",
    [(name, cluster) for name in OF_WHOLE_TASKS for cluster in (NSDI, RACK) if cluster is RACK or name != "per-server"],
)
def test_results_of_whole_tasks_are_equal_to_their_copies_and_to_themselves_computed_again(name, cluster):
    found = OF_WHOLE_TASKS[name](cluster)
    for kept in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert kept == found
        assert str(kept) == str(found) and kept.to_dict() == found.to_dict()
    assert OF_WHOLE_TASKS[name](cluster) == found


def test_a_pickled_allocation_of_whole_tasks_still_has_its_proof():
    kept = pickle.loads(pickle.dumps(solve(RACK, integer=True)))
    assert verify(kept).valid and verify(kept) == verify(solve(RACK, integer=True))


def test_schedules_with_other_optima_are_not_equal():
    one, other = (schedule(NSDI, optimum=optimum) for optimum in (True, False))
    assert one != other


@pytest.mark.parametrize("name", RESULTS)
def test_a_frame_has_rows(results, name):
    pytest.importorskip("pandas")
    assert len(results[name].to_frame())


@pytest.mark.parametrize("name", RESULTS)
def test_parts_are_asked_for_by_name(results, name):
    found, part = results[name], RESULTS[name][1]
    part = next(iter(found.named())) if part is None else part
    assert part in found and np.all(found[part] == found.named()[part])
    with pytest.raises(
        KeyError, match=r"has no part 'nobody is called so'.*: (did you mean|named\(\) has all of them)"
    ):
        found["nobody is called so"]
    with pytest.raises(TypeError):
        iter(found)


def test_the_nearest_name_is_told():
    with pytest.raises(KeyError, match="did you mean 'envy-freeness'"):
        audit(NSDI, properties="envy-freeness")["envy-freenes"]


def test_equal_results_are_one_member_of_a_set():
    cluster = Instance([[1, 4], [3, 1]], [9, 18])
    assert len({solve(cluster), solve(cluster), solve(cluster, "asset")}) == 2


def test_other_answers_are_not_equal():
    assert solve(NSDI) != solve(NSDI, "asset")
    assert solve(NSDI) == solve(NSDI)
    other = Instance(NSDI.demands, NSDI.capacity, users=["A", "C"], resources=NSDI.resources)
    assert solve(NSDI) != solve(other)


def test_what_one_user_has():
    portion = solve(RACK, exact=True)["A"]
    assert isinstance(portion.tasks, Fraction) and sum(portion.placement.values()) == portion.tasks
    assert portion.usage == {"cpu": portion.tasks, "memory": 4 * portion.tasks}
    assert solve(NSDI)["A"].bottleneck == solve(NSDI).certificate.bottlenecks[0]


def test_the_base_is_abstract():
    assert inspect.isabstract(Result)


@pytest.mark.parametrize(
    "ask",
    [
        solve,
        compare,
        crosscheck,
        lambda name: audit(name, "drf"),
        schedule,
        explain,
        price,
        lambda name: size(name, "A>=4", {"cpu": 1}),
        lambda name: rebalance(name, {"tasks": {}}),
        report,
        simulate,
        lambda name: simulate_each(name, ["drf"]),
    ],
)
def test_a_name_is_no_instance(ask):
    with pytest.raises(drfopt.DrfoptError, match=r"takes an? (Instance|Scenario), not str: build one"):
        ask("nsdi2011")


ARRAY = np.array([1, 2])


def ruled(cluster, **rules):
    return Instance(**(cluster.parts() | {"organisation": drfopt.Organisation(**rules)}))


PIECES = Instance([[1]], machines=[Machine("m", {"r1": 2}, 3)])

WRONG = {
    "a page by number": (lambda it: report(it, ["drf"]).save(3), "a file is named by a int: give its path as text"),
    "a picture by number": (
        lambda it: drfopt.reporting.plot_shares(solve(it)).save(3),
        "a file is named by a int: give its path as text",
    ),
    "an instance saved by number": (lambda it: it.save(3), "a file is named by a int: give its path as text"),
    "a precision of nothing": (
        lambda it: drfopt.solve(it, "ceei", exact=True, precision=float("nan")),
        r"the precision \(--precision\): nan is not finite: write a finite number",
    ),
    "a precision in a list": (
        lambda it: drfopt.solve(it, "ceei", exact=True, precision=[1]),
        r"the precision \(--precision\): \[1\] is not a number: write a relative width such as 1e-30",
    ),
    "a sweep over nothing": (
        lambda it: drfopt.sweep(it, [float("nan")]),
        r"factors to sweep over \(--factors\): nan is not finite: write a finite number",
    ),
    "a sweep over words": (lambda it: drfopt.sweep(it, "cpu=one"), "values to sweep over: 'one' is not a number"),
    "devices where none are": (
        lambda it: drfopt.explain(it, fragmentation=True),
        "no machine has devices: say how many each machine of a class has, such as 8 of gpu$",
    ),
    "nothing for sale": (
        lambda it: drfopt.size(it, "A>=5", {}),
        "nothing is for sale: give the cost of a resource, such as 10 for cpu$",
    ),
    "less than nothing at a time": (
        lambda it: drfopt.size(it, "A>=5", {"cpu": 1}, steps={"cpu": -1}),
        r"unit \(steps\) of 'cpu' is -1: give a positive number",
    ),
    "machines in pieces": (
        lambda it: drfopt.size(PIECES, "u1>=7", {"m": 1}, steps={"m": 2}),
        r"machines are bought one by one: leave the unit \(steps\) out",
    ),
    "none of the files": (lambda it: drfopt.read("csv", []), r"csv: no files are given: name them \("),
    "a unit in a table": (
        lambda it: drfopt.export(solve(it), "csv", names={"memory": "mem:Gi"}),
        "resource 'memory' is called 'mem:Gi': CSV keeps the amounts of the instance: leave the unit out",
    ),
    "no unit": (
        lambda it: drfopt.export(solve(it), "kueue", names={"memory": "memory:Q"}),
        "resource 'memory' is called 'memory:Q': 'Q' is no unit",
    ),
    "bytes without a unit": (
        lambda it: drfopt.export(solve(it), "kueue"),
        r"--resource memory=memory:Gi, in Python names=\{'memory': 'memory:Gi'\}$",
    ),
    "a limit in words": (lambda it: drfopt.solve(it, time_limit="3"), r"the time limit is '3': give a positive number"),
    "a yes as a limit": (
        lambda it: drfopt.solve(it, time_limit=True),
        "the time limit is True: give",
    ),
    "no limit of a decimal": (
        lambda it: drfopt.solve(it, time_limit=Decimal("nan")),
        r"limit is Decimal\('NaN'\): give",
    ),
    "less than no precision": (
        lambda it: drfopt.solve(it, exact=True, precision=-1),
        r"\(--precision\) is -1: write a relative width such as 1e-30, above 0 and below 1$",
    ),
    "no limit of a policy": (
        lambda it: audit_policy("drf", "envy-freeness", time_limit=-1),
        "limit is -1: give",
    ),
    "no limit at all": (lambda it: drfopt.audit(it, time_limit=0), "the time limit is 0: give a positive number"),
    "no policies": (lambda it: drfopt.compare(it, None), "policies are of type NoneType: give a list of them"),
    "pages of nothing": (lambda it: drfopt.report(it, None), "policies are of type NoneType: give a list of them"),
    "a property by number": (lambda it: drfopt.audit(it, "drf", 0), "properties are of type int: give a list of them"),
    "a user by number": (lambda it: drfopt.explain(it, user=0), "there is no user 0"),
    "an engine in a list": (lambda it: drfopt.solve(it, engine=[]), r"there is no engine '\[\]'"),
    "a rule in a list": (lambda it: drfopt.schedule(it, rule=[]), r"rule is \[\]"),
    "changes of nothing": (lambda it: drfopt.what_if(it, None), "changes are of type NoneType: give a list of them"),
    "a unit in a list": (lambda it: drfopt.price(it, units=[[]]), r"the cluster has no \[\]"),
    "nothing to verify": (lambda it: drfopt.verify(None), "a file is named by a NoneType: give its path as text"),
    "nothing to move": (lambda it: drfopt.rebalance(it, None), "a file is named by a NoneType: give its path as text"),
    "a flag in words": (lambda it: drfopt.solve(it, exact="no"), "exact is 'no': give True or False"),
    "a flag of nothing": (lambda it: drfopt.compare(it, integer=None), "integer is None: give True or False"),
    "an answer by number": (
        lambda it: drfopt.price(it, allocation=0),
        "is not what solve gives for this instance under",
    ),
    "an answer of whole tasks": (
        lambda it: drfopt.price(it, "ceei", allocation=solve(it, "ceei", integer=True)),
        "the allocation is of whole tasks, and prices are those of divisible tasks in floats: leave it out",
    ),
    "an answer of enclosures": (
        lambda it: drfopt.price(it, "alpha:2", allocation=solve(it, "alpha:2", exact=True)),
        "the allocation is in fractions",
    ),
    "an answer alone": (
        lambda it: drfopt.verify(solve(it).to_dict(instance=False)),
        "an answer without its instance: name its instance, too$",
    ),
    "no answer to verify": (
        lambda it: drfopt.verify({}),
        "it has no 'instance': give what 'solve --json'",
    ),
    "an answer and its instance": (lambda it: drfopt.verify(it, solve(it)), "the answer comes first"),
    "what runs in no pool": (
        lambda it: drfopt.rebalance(it, {"placement": {}}),
        "the current allocation: has no 'tasks', and the cluster is one pool",
    ),
    "values of nothing": (
        lambda it: drfopt.sweep(it, "zz=1,2"),
        r"nothing called 'zz' to sweep over \(there are cpu, memory, ",
    ),
    "an answer of another": (lambda it: drfopt.price(it, allocation=solve(it, "ceei")), "under drf: leave it out"),
    "a space of words": (lambda it: drfopt.Space("2"), "users of the search is '2': give a number, 1 or more"),
    "a flag of a space in words": (lambda it: drfopt.Space(zero_demands="yes"), "zero_demands of the search is 'yes'"),
    "a space without end": (
        lambda it: drfopt.Space(max_demand=10**400),
        "max_demand of the search has 401 digits: give 1000000000000000000 or less",
    ),
    "names by number": (lambda it: Instance([[1]], [3], users=2), "users are 2: give a list of names"),
    "resources by number": (lambda it: drfopt.solve_many([[[1]]], [1], resources=2), "resources are 2: give a list"),
    "machines by number": (lambda it: Instance([[1]], machines=3), "machines are of type int: give a list"),
    "rows of two lengths": (
        lambda it: Instance([[1], [2]], machines=[[1], [2]], eligible=[[1], [2, 3]]),
        r"eligible has rows of different lengths: give bool of shape \(2, 2\)",
    ),
    "a class by number": (
        lambda it: Instance({"A": {"cpu": 1}}, machines=[Machine("m", {"cpu": 3})], eligible={"A": 1}),
        "user 'A': machines are of type int",
    ),
    "rules as a table": (lambda it: Instance([[1]], [3], organisation={"tiers": {"A": 1}}), "give an Organisation"),
    "devices by number": (
        lambda it: Instance({"A": {"gpu": 1}}, machines=[Machine("m", {"gpu": 3}, devices=2)]),
        "machine class 'm': devices are 2: give a table",
    ),
    "one amount of a type": (lambda it: Instance({"A": [TaskType(3, 1)]}, [3]), "the amounts of a demand are of type"),
    "no groups": (
        lambda it: Instance([[1]], [3], organisation=drfopt.Organisation(groups=None)),
        "groups are of type None",
    ),
    "rows for a frame": (lambda it: Instance.from_frame([[1, 2]], [1]), "from_frame takes a pandas frame, not list"),
    "the name of an instance": (lambda it: drfopt.verify(solve(it), "nsdi2011"), "the instance is 'nsdi2011': build"),
    "nothing to change": (lambda it: drfopt.what_if(None, ["set-weight A=2"]), "what is to be changed is None"),
    "nothing to sweep": (lambda it: drfopt.sweep(None, "cpu=9"), "a sweep is of an Instance, not None"),
    "processes in words": (
        lambda it: drfopt.sweep(it, "cpu=9", jobs="2"),
        "jobs is '2': give a whole number, 1 or more",
    ),
    "a scheduler by number": (lambda it: drfopt.sweep(it, "cpu=9", dask=3), "dask is 3: give the address"),
    "a scheduler by no address": (lambda it: drfopt.solve(it, dask="foo"), "dask is 'foo': give the address of a sch"),
    "a checkpoint by number": (
        lambda it: drfopt.search("drf", "envy-freeness", drfopt.Space(), checkpoint=3),
        "checkpoint is 3: give the path of a file",
    ),
    "a time in words": (
        lambda it: drfopt.search("drf", "envy-freeness", drfopt.Space(), time_limit="5"),
        "time limit is '5'",
    ),
    "a target by number": (lambda it: drfopt.size(it, [1], {"cpu": 1}), "1 is no target: write for example"),
    "a cost without a name": (lambda it: drfopt.size(it, "A>=4", 1), "costs are 1: give a table"),
    "moments in words": (
        lambda it: drfopt.simulate(drfopt.Scenario.library("two-users"), "drf", every="1"),
        "every is '1': give the seconds",
    ),
    "a slowdown by number": (
        lambda it: drfopt.simulate(drfopt.Scenario.library("two-users"), "drf", slowdown=1),
        "slowdown is 1: give a Slowdown",
    ),
    "no rules": (
        lambda it: drfopt.simulate_each(drfopt.Scenario.library("two-users"), None),
        "rules are of type NoneType",
    ),
    "a limit that is no number": (
        lambda it: Instance([[1]], [3], max_tasks=np.array([float("nan")])),
        "0 or more, or inf or None where there is no limit",
    ),
    "no files": (lambda it: drfopt.read("csv", None), "csv: files are of type NoneType: give a list"),
    "users by number": (lambda it: drfopt.read("csv", "a.csv", user_by=5), "csv: user_by is 5: give it as text"),
    "a name by number": (lambda it: drfopt.export(solve(it), "csv", names={"cpu": 1}), "give a table from resource to"),
    "nothing left out": (lambda it: drfopt.export(solve(it), "csv", leave_out=None), "resources to leave out are of"),
    "no answer": (lambda it: drfopt.Allocation.from_dict(None), "the answer is a NoneType: give what"),
    "an answer of a name": (
        lambda it: drfopt.Allocation.from_dict(solve(it).to_dict(), "nsdi2011"),
        "the instance is 'nsdi2011': build an Instance",
    ),
    "a machine as cluster": (
        lambda it: drfopt.solve_partitions("f", Machine("m", {"cpu": 1})),
        "the cluster is a Machine: give the path",
    ),
    "an array of engines": (lambda it: solve(it, engine=np.array([1, 2])), "there is no engine"),
    "an array of users": (lambda it: drfopt.explain(it, user=np.array([1, 2])), "there is no user"),
    "an array as title": (lambda it: drfopt.report(it, title=ARRAY), r"title is array\(\[1, 2\]\): give it as text"),
    "an array as space": (lambda it: drfopt.search("drf", space=ARRAY), "the space of a search is array"),
    "an array of jobs": (lambda it: drfopt.search("drf", jobs=ARRAY), "jobs is array"),
    "an array as shape": (lambda it: drfopt.read("mesos", "a.json", shape=ARRAY), "shape is array.* give a table"),
    "an array as machines": (lambda it: drfopt.read("mesos", "a.json", machines=ARRAY), "machines is array.* the path"),
    "an array as group": (lambda it: ruled(it, paths={"A": ARRAY}), r"the group of user 'A'.* array\(\[1, 2\]\)"),
    "arrays that are excluded": (lambda it: ruled(it, excluded=np.array([[1, 2]])), "but the cluster has"),
    "groups in no dimension": (lambda it: ruled(it, groups=np.array(3)), "groups are of type ndarray: give a list"),
    "an array of names": (lambda it: Instance.library(np.array([1, 2])), "there is no library instance"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_of_the_wrong_type_is_named(what):
    call, message = WRONG[what]
    with pytest.raises(drfopt.DrfoptError, match=message):
        call(Instance.library("nsdi2011"))


def test_one_name_is_a_list_of_one_and_a_limit_may_be_huge():
    instance = Instance.library("nsdi2011")
    assert drfopt.compare(instance, "drf").policies == ("drf",)
    assert drfopt.crosscheck(instance, time_limit=10**400).agree


def test_whether_others_may_give_the_same_tasks():
    racks = [Machine("m", [4, 4]), Machine("n", [4, 4])]
    for users, eligible, more, expected in (
        ({"A": [1, 1]}, None, {}, True),
        ({"A": [1, 1]}, {"A": ["m"]}, {}, False),
        # Who could choose has nothing, by its limit.
        ({"A": [1, 1], "B": [1, 1]}, {"A": ["m"]}, {"max_tasks": {"B": 0}}, False),
        ({"A": [TaskType([1, 1], 1), TaskType([1, 0], 1, machines=["m"])]}, None, {}, True),
        ({"A": [TaskType([1, 1], 1, machines=["n"]), TaskType([1, 0], 1, machines=["m"])]}, None, {}, False),
    ):
        for whole in (False, True):
            found = solve(Instance(users, machines=racks, eligible=eligible, **more), integer=whole)
            assert found.other_placements is expected
            assert found.to_dict()["other_placements"] is expected
    pool = solve(Instance({"A": [1, 1]}, [4, 4]))
    assert not pool.other_placements
    assert "other_placements" not in pool.to_dict()


@pytest.mark.parametrize("limit", [Decimal(5), Fraction(5), np.float32(5), Decimal("Infinity"), 10**400])
def test_every_real_number_is_a_time_limit(limit):
    assert solve(Instance([[1]], [1]), time_limit=limit).tasks.tolist() == [1]
    space = drfopt.Space(users=2, resources=1, max_demand=1, max_capacity=1)
    assert drfopt.search("drf", "envy-freeness", space, jobs=1, time_limit=limit).complete
