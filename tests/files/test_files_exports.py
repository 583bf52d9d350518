"""Exporters: what is written is what was divided, never adds up to more than there is, and the readers read it back."""

import csv
import io
import json
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from kubernetes_objects import node, pod, write

from drfopt import Instance, Machine, solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.io.readers.conversion import Notes
from drfopt.io.readers.kubernetes.objects import Objects
from drfopt.io.readers.queues.kueue.quotas import quotas
from drfopt.io.readers.yarn.queues import read_queues
from drfopt.io.text.files import read_file
from drfopt.io.text.yaml_xml import root
from drfopt.io.writers.amounts import TargetName, quantity, rounded
from drfopt.io.writers.exports import EXPORTS, export
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType

GIB = 2**30
GIBS = {"memory": "memory:Gi"}


def cluster(**rest) -> Instance:
    demands = {"Ann": {"cpu": 1, "memory": 4}, "Bob": {"cpu": 3, "memory": 1}}
    return Instance(demands, {"cpu": 9, "memory": 18}, name="two", **rest)


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# ---- rounding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_the_sum_never_exceeds_the_capacity(seed: int) -> None:
    state = random.Random(seed)
    n, m = state.randint(1, 12), state.randint(1, 3)
    steps = [
        TargetName("r", Fraction(state.choice([1, 2**20])), state.choice([Fraction(1), Fraction(1, 1000)]))
        for _ in range(m)
    ]
    capacity = [Fraction(state.choice([0, 1, 7, 10**6, Fraction(1, 3)])) for _ in range(m)]
    split = [[state.choice([0, 1, 2, 5]) for _ in range(m)] for _ in range(n)]
    total = [sum(row[j] for row in split) or 1 for j in range(m)]
    # Shares of everything, a hair too large each, as floats may be.
    amounts = [
        [Fraction(row[j], total[j]) * capacity[j] * (1 + Fraction(1, 10**10)) for j in range(m)] for row in split
    ]
    found = rounded(amounts, capacity, steps)
    for j, target in enumerate(steps):
        assert sum(row[j] for row in found) * target.step <= capacity[j] * target.scale
        for row, own in zip(amounts, found, strict=True):
            assert own[j] >= 0
            assert own[j] * target.step <= row[j] * target.scale * (1 + Fraction(1, 10**9))
    lost = [sum(row[j] for row in found) * t.step - capacity[j] * t.scale for j, t in enumerate(steps)]
    assert all(
        loss >= -(n + 1) * target.step or not any(row[j] for row in split)
        for j, (loss, target) in enumerate(zip(lost, steps, strict=True))
    )


def test_what_is_no_allocation_is_told() -> None:
    with pytest.raises(InstanceError, match="export takes an Allocation, not str: give what solve returns"):
        export("nsdi2011", "csv")  # type: ignore[arg-type]


def test_a_hair_below_a_step_is_the_step() -> None:
    target = TargetName("cpu", step=Fraction(1, 1000))
    assert rounded([[Fraction(2.9999999999999996)]], [Fraction(9)], [target]) == [[3000]]
    assert rounded([[Fraction(2.9999)]], [Fraction(9)], [target]) == [[2999]]


def test_quantities() -> None:
    cpu, memory = TargetName("cpu", step=Fraction(1, 1000)), TargetName("memory")
    assert [quantity(steps, cpu) for steps in (0, 2000, 2250)] == ["0", "2", "2250m"]
    assert [quantity(steps, memory) for steps in (0, 5, 2**10, 3 * GIB, 3 * GIB + 1)] == [
        "0",
        "5",
        "1Ki",
        "3Gi",
        f"{3 * GIB + 1}",
    ]


# ---- round trips -------------------------------------------------------------------------------------------


def test_a_resource_quota_is_read_back_as_the_ceiling(tmp_path: Path) -> None:
    quotas_file = saved(tmp_path / "quotas.yaml", export(solve(cluster()), "resourcequota", GIBS))
    pods = [pod("p", "ann", cpu="1", memory="4Gi"), pod("q", "bob", cpu="3", memory="1Gi")]
    found = read(
        "kubernetes", [quotas_file, write(tmp_path / "l.json", node("n", cpu="9", memory="18Gi"), *pods)]
    ).instance
    assert found.organisation.ceilings == ({"cpu": 3, "memory": 12 * GIB}, {"cpu": 6, "memory": 2 * GIB})


def test_cluster_queues_are_read_back_as_nominal_quotas(tmp_path: Path) -> None:
    text = export(solve(cluster(weights={"Ann": Fraction(1, 3)})), "kueue", GIBS)
    forest = quotas(Objects([read_file(saved(tmp_path / "queues.yaml", text))], Notes()), Notes())
    assert set(forest.queues) == {"ann", "bob"}
    total = forest.all_of(forest.cohorts["fair"])
    assert total["default-flavor", "cpu"] <= 9
    assert total["default-flavor", "memory"] <= 18 * GIB
    assert forest.queues["ann"].weight == Fraction(333, 1000)
    assert "weights are rounded to steps of 0.001" in text
    assert read("kueue", [tmp_path / "queues.yaml"]).instance.users == ("ann", "bob")


def test_fair_scheduler_is_read_back_as_weights_and_minima(tmp_path: Path) -> None:
    text = export(solve(cluster(weights={"Ann": 2})), "fair-scheduler", GIBS)
    whole = {"vcores": Fraction(9), "memory-mb": Fraction(18432)}
    queues = {
        queue.name: queue
        for queue in read_queues(root(read_file(saved(tmp_path / "fs.xml", text))), "", whole, Notes())
    }
    allocation = solve(cluster(weights={"Ann": 2}))
    assert queues["Ann"].weight == 2
    for user, (cpu, memory) in zip(("Ann", "Bob"), allocation.usage, strict=True):
        assert queues[user].minimum["vcores"] == int(cpu + 1e-6)
        assert queues[user].minimum["memory-mb"] == int(memory * 1024 + 1e-6)


def test_groups_are_queues_around_their_members(tmp_path: Path) -> None:
    groups = [Group("eng", 3), Group("eng/dev", 2)]
    organisation = Organisation(paths={"Ann": "eng/dev"}, groups=groups)
    instance = cluster(organisation=organisation, weights={"Bob": 0})
    plain = solve(cluster())
    allocation = type(plain)(instance, "drf", plain.tasks, plain.levels, plain.certificate)
    text = export(allocation, "fair-scheduler", GIBS)
    found = {
        queue.name: queue for queue in read_queues(root(read_file(saved(tmp_path / "fs.xml", text))), "", {}, Notes())
    }
    assert found["eng"].weight == 3
    assert (found["eng.dev"].weight, found["eng.dev"].parent) == (2, "eng")
    assert found["eng.dev.Ann"].parent == "eng.dev"
    assert found["Bob"].weight == 0


def test_groups_are_cohorts(tmp_path: Path) -> None:
    organisation = Organisation(paths={"Ann": "eng/dev"}, groups=[Group("eng", 3), Group("eng/dev", 0)])
    text = export(solve(cluster(organisation=organisation, weights={"Bob": 0})), "kueue", GIBS)
    forest = quotas(Objects([read_file(saved(tmp_path / "queues.yaml", text))], Notes()), Notes())
    assert {name: (one.parent, one.weight) for name, one in forest.cohorts.items()} == {
        "fair": ("", 1),
        "eng": ("fair", 3),
        "eng-dev": ("eng", 0),
    }
    assert forest.queues["ann"].parent == "eng-dev"
    assert forest.queues["bob"].weight == 0


def test_ceilings_are_what_may_be_borrowed_beyond_the_quota(tmp_path: Path) -> None:
    groups = [Group("eng", 3, ceiling={"cpu": 7}), Group("eng/dev", 1, ceiling={"memory": 9})]
    organisation = Organisation(paths={"Ann": "eng/dev"}, groups=groups, ceilings={"Bob": {"cpu": 4}})
    lines: list[str] = []
    text = export(solve(cluster(organisation=organisation)), "kueue", GIBS, lines=lines)
    assert not [line for line in lines if "not written" in line]
    found = read("kueue", [saved(tmp_path / "queues.yaml", text)], saturate=True).instance
    ceilings = {group.name.rpartition("/")[2]: dict(group.ceiling) for group in found.organisation.groups}
    assert ceilings == {"eng": {"cpu": 7}, "eng-dev": {"memory": 9 * GIB}}
    assert found.organisation.ceilings[found.users.index("bob")] == {"cpu": 4}


def test_a_resource_may_be_called_as_a_column_that_the_table_does_not_have() -> None:
    found = solve(Instance({"A": {"class": 1, "tasks": 1}}, {"class": 2, "tasks": 2}))
    with pytest.raises(InstanceError, match="a resource and another column would be called 'tasks' there"):
        export(found, "csv")
    assert export(found, "csv", leave_out="tasks").splitlines()[0] == "user,tasks,class"


def test_percent_of_the_whole_tell_that_they_have_no_names() -> None:
    lines: list[str] = []
    export(solve(cluster()), "capacity-scheduler", GIBS, lines=lines)
    assert any("memory is not called memory:Gi here" in line for line in lines)


def test_csv_has_a_row_for_each_user_and_class() -> None:
    machines = [Machine("big", {"cpu": 8, "memory": 32}, 2), Machine("small", {"cpu": 3, "memory": 5})]
    instance = Instance({"a": {"cpu": 1, "memory": 3}, "b": {"cpu": 7, "memory": 1}}, machines=machines)
    rows = list(csv.DictReader(io.StringIO(export(solve(instance), "csv"))))
    assert list(rows[0]) == ["user", "class", "tasks", "cpu", "memory"]
    for resource, capacity in (("cpu", 19), ("memory", 69)):
        assert sum(Fraction(row[resource]) for row in rows) <= capacity
    for name, room in (("big", (16, 64)), ("small", (3, 5))):
        held = [sum(Fraction(row[r]) for row in rows if row["class"] == name) for r in ("cpu", "memory")]
        assert all(amount <= most for amount, most in zip(held, room, strict=True))
    pool = list(csv.DictReader(io.StringIO(export(solve(cluster()), "csv"))))
    assert pool == [
        {"user": "Ann", "tasks": "3.0", "cpu": "3", "memory": "12"},
        {"user": "Bob", "tasks": "2.0", "cpu": "6", "memory": "2"},
    ]


def test_csv_tells_task_types_apart() -> None:
    machines = [Machine("big", {"cpu": 8, "memory": 32}, 2), Machine("small", {"cpu": 3, "memory": 5})]
    types = [TaskType({"cpu": 1, "memory": 3}, 4, None, "eval"), TaskType({"cpu": 4, "memory": 1}, 2, ["big"], "train")]
    instance = Instance({"a": types, "b": {"cpu": 7, "memory": 1}}, machines=machines)
    rows = list(csv.DictReader(io.StringIO(export(solve(instance), "csv"))))
    assert list(rows[0]) == ["user", "type", "class", "tasks", "cpu", "memory"]
    train = [row for row in rows if row["type"] == "train"]
    assert {row["class"] for row in train} == {"big"}
    assert sum(Fraction(row["cpu"]) for row in train) == pytest.approx(4 * sum(float(row["tasks"]) for row in train))


@pytest.mark.parametrize("row", EXPORTS, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", range(6))
def test_degenerate_instances(row, seed: int) -> None:
    state = random.Random(seed)
    n = state.randint(1, 6)
    demands = {
        f"user {i}": {"cpu": state.choice([0, 1, "1/3"]), "memory": state.choice([1, 7]), "gpu": state.choice([0, 1])}
        for i in range(n)
    }
    limits = [state.choice([None, 0, 1, 3]) for _ in range(n)]
    instance = Instance(demands, {"cpu": 10, "memory": 1000, "gpu": state.choice([0, 3])}, max_tasks=limits)
    text = export(solve(instance), row.name, {} if row.name == "csv" else GIBS)
    assert text.endswith("\n")
    if row.name in ("resourcequota", "kueue"):
        assert sum(one["kind"] != "ResourceFlavor" for one in yaml.safe_load_all(text)) == n


def test_names_are_escaped_and_collisions_refused() -> None:
    odd = Instance({'<&">': {"cpu": 1}, "no": {"cpu": 1}, "x: y #": {"cpu": 1}}, {"cpu": 3}, name="-- # <a>\n---")
    with pytest.raises(InstanceError, match="has no letter of a to z and no digit for namespace"):
        export(solve(odd), "resourcequota")
    text = export(solve(odd), "fair-scheduler")
    assert "&lt;&amp;" in text
    named = Instance({"no": {"cpu": 1}, "x: y #": {"cpu": 1}}, {"cpu": 3}, name="-- # <a>\n---\nkind: Evil")
    documents = list(yaml.safe_load_all(export(solve(named), "resourcequota")))
    assert [one["metadata"]["annotations"]["drfopt/user"] for one in documents] == ["no", "x: y #"]
    alike = Instance({"A b": {"cpu": 1}, "a-B": {"cpu": 1}}, {"cpu": 3})
    with pytest.raises(InstanceError, match="users 'A b' and 'a-B' would both be namespace 'a-b'"):
        export(solve(alike), "resourcequota")


WRONG = {
    "unit of memory": ("kueue", {}, "memory of the whole cluster is 18, which cannot be bytes"),
    "unit of memory in yarn": ("fair-scheduler", {}, "say its unit, --resource memory=memory:Gi"),
    "no such resource": ("kueue", {"memry": "memory"}, "the cluster has no 'memry', it has cpu, memory: did you mean"),
    "bad unit": ("kueue", {"memory": "memory:gigs"}, "'gigs' is no unit"),
    "empty unit": ("kueue", {"memory": "memory:"}, "'' is no unit"),
    "unknown name": ("resourcequota", {"memory": "ram:Gi"}, "resource 'memory' has no name there"),
    "same name": ("kueue", {"memory": "cpu"}, "two resources would be called 'cpu' there: give other names"),
    "same name in csv": ("csv", {"memory": "cpu"}, "two resources would be called 'cpu' there: give other names"),
    "column of csv": ("csv", {"memory": "user"}, "a resource and another column would be called 'user' there"),
    "no name of slurm": ("slurm", {"memory": "gres/a,b"}, "resource 'memory' has no name there"),
    "no pages": ("kueue", {"memory": "hugepages-2Mi, 3"}, "resource 'memory' has no name there"),
    "unit in csv": ("csv", {"memory": "memory:Gi"}, "leave the unit out"),
    "format": ("kubernets", {}, r"there is no export 'kubernets' .known: csv, resourcequota, kueue, fair-scheduler"),
}


@pytest.mark.parametrize(("to", "names", "pattern"), WRONG.values(), ids=WRONG)
def test_refused(to: str, names: dict, pattern: str) -> None:
    with pytest.raises(InstanceError, match=pattern):
        export(solve(cluster()), to, names)


@pytest.mark.parametrize("word", ["memory", "mem", "memory-mb"])
@pytest.mark.parametrize(
    ("to", "written"), [("slurm", "mem=12288"), ("mesos", '"mem": 12288.0'), ("resourcequota", "12Gi")]
)
def test_a_unit_of_memory_is_one_of_bytes_by_whatever_name(to: str, written: str, word: str) -> None:
    assert written in export(solve(cluster()), to, {"memory": f"{word}:Gi"})


@pytest.mark.parametrize(
    ("resource", "to", "words"),
    [
        ("my cpu", "fair-scheduler", "--resource 'my cpu'=NAME, .*such as example.com/name, or .*-out 'my cpu',"),
        ("процессор", "resourcequota", "such as example.com/name"),
    ],
)
def test_names_that_are_offered_will_do(resource: str, to: str, words: str) -> None:
    allocation = solve(Instance({"a": {"cpu": 1, resource: 4}}, {"cpu": 9, resource: 18}))
    with pytest.raises(InstanceError, match=words):
        export(allocation, to)
    assert "example.com/name" in export(allocation, to, {resource: "example.com/name"})
    with pytest.raises(InstanceError, match="has no name there"):
        export(allocation, to, {resource: f"example.com/{resource}"})


def test_the_unit_is_asked_for_under_the_name_it_has_there() -> None:
    with pytest.raises(InstanceError, match="say its unit, --resource mem=memory:Gi"):
        export(solve(Instance({"a": {"cpu": 1, "mem": 4}}, {"cpu": 9, "mem": 18})), "kueue")


@pytest.mark.parametrize("word", ["memory", "mem"])
def test_the_unit_is_asked_for_in_words_that_will_do(word: str) -> None:
    allocation = solve(Instance({"a": {"cpu": 1, "ram": 4}}, {"cpu": 9, "ram": 18}))
    with pytest.raises(InstanceError, match=f"say its unit, --resource ram={word}:Gi"):
        export(allocation, "slurm", {"ram": word})
    assert "mem=18432" in export(allocation, "slurm", {"ram": f"{word}:Gi"})


def test_openb_is_exported(data_folder: Path) -> None:
    folder = data_folder / "openb"
    instance = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_default.csv"]).instance
    allocation = solve(instance)
    text = export(allocation, "resourcequota", GIBS)
    assert "rounded down to steps of 1: nvidia.com/gpu of" in text
    documents = list(yaml.safe_load_all(text))
    assert len(documents) == instance.n
    assert sum(int(one["spec"]["hard"]["requests.nvidia.com/gpu"]) for one in documents) <= instance.exact_capacity[2]


# ---- every scheduler that is read is written ---------------------------------------------------------------


def company(**rest) -> Instance:
    """Two teams in a group, one beside it; the names are those that the readers give."""
    demands = {
        "eng.dev": {"cpu": 1, "memory": 4 * GIB},
        "eng.ops": {"cpu": 3, "memory": GIB},
        "sci": {"cpu": 1, "memory": GIB},
    }
    organisation = Organisation(
        paths={"eng.dev": "eng", "eng.ops": "eng"},
        groups=[Group("eng", 3)],
        ceilings={"sci": {"cpu": 12}},
        tiers={"eng.ops": 0},
    )
    capacity = {"cpu": 64, "memory": 160 * GIB}
    return Instance(demands, capacity, weights={"eng.ops": 2}, organisation=organisation, name="company", **rest)


ROUND_TRIPS = {
    "yunikorn": ("yunikorn", {}, ("eng.dev", "eng.ops", "sci"), ("cpu", "memory")),
    "volcano": ("volcano", {}, ("eng-dev", "eng-ops", "sci"), ("cpu", "memory")),
    "kai": ("kai", {}, ("eng-dev", "eng-ops", "sci"), ("cpu", "memory")),
    "koordinator": ("koordinator", {}, ("eng-dev", "eng-ops", "sci"), ("cpu", "memory")),
    "fair-scheduler": ("yarn", {}, ("eng.dev", "eng.ops", "sci"), ("vcores", "memory-mb")),
    "capacity-scheduler": ("yarn", {}, ("eng.dev", "eng.ops", "sci"), ("vcores", "memory-mb")),
    "slurm": ("slurm", {}, ("dev", "ops", "account sci"), ("cpu", "mem")),
    "slurm-accounts": ("slurm", {"user_by": "account"}, ("dev", "ops", "sci"), ("cpu", "mem")),
    "mesos": ("mesos", {}, ("eng/dev", "eng/ops", "sci"), ("cpus", "mem")),
}


@pytest.mark.parametrize("to", ROUND_TRIPS)
def test_what_is_exported_is_read_back_by_its_own_reader(tmp_path: Path, to: str) -> None:
    kind, options, users, (cpu, memory) = ROUND_TRIPS[to]
    instance = company()
    allocation = solve(instance)
    lines: list[str] = []
    written = saved(tmp_path / "written", export(allocation, to, lines=lines))
    machines = saved(tmp_path / "c.toml", '[[machines]]\nname = "all"\ncapacity = { cpu = 64, memory = "160Gi" }\n')
    found = read(kind, written, machines=machines, saturate=True, **options)
    assert sorted(found.instance.users) == sorted(users)
    order = [found.instance.users.index(user) for user in users]
    organisation = found.instance.organisation
    assert [organisation.paths[i] != "" for i in order] == [True, True, False]
    (group,) = organisation.groups
    unit = 2**20 if memory != "memory" else 1
    given = [{cpu: Fraction(u[0]), memory: Fraction(u[1]) / unit} for u in allocation.usage.tolist()]
    bounds = organisation.ceilings if kind == "slurm" else organisation.guarantees
    bound = [bounds[i] for i in order]
    total = {cpu: Fraction(64), memory: Fraction(160 * GIB, unit)}
    if to == "capacity-scheduler":
        shares = [max(own[r] / total[r] for r in total) for own in given]
        told = [one[cpu] / total[cpu] for one in bound]
        assert sum(told) == 1, "percent that add up"
        both = max(sum(own[r] for own in given[:2]) / total[r] for r in total)
        assert float(told[2]) == pytest.approx(float(shares[2] / (both + shares[2])), abs=1e-4)
        assert float(told[0] / told[1]) == pytest.approx(float(shares[0] / shares[1]), rel=1e-3)
        assert any("of a queue's dominant share at least" in line for line in lines)
    else:
        for own, exact in zip(bound, given, strict=True):
            for resource, amount in exact.items():
                # Cut to the target's steps: whole MB and cores at the most, 10^6 bytes in KAI.
                least = Fraction(10**6 if to == "kai" else 1) if resource == memory else Fraction(1)
                assert amount - least - Fraction(1, 10**6) <= own[resource] <= amount * (1 + Fraction(1, 10**8))
        together = group.ceiling if kind == "slurm" else group.guarantee
        if to != "fair-scheduler":
            assert together == {r: bound[0][r] + bound[1][r] for r in bound[0]}
    weights = [found.instance.exact_weights[i] for i in order]
    if to not in ("yunikorn", "capacity-scheduler"):
        assert weights[1] / weights[0] == 2
        assert group.weight / weights[2] == 3
    if to in ("yunikorn", "volcano", "kai", "koordinator", "fair-scheduler", "mesos"):
        assert organisation.ceilings[2][cpu] == 12
    if to == "capacity-scheduler":
        # One number for all resources, which is no less than what the queue is guaranteed.
        (most,) = {organisation.ceilings[2][r] / total[r] for r in total}
        assert float(most) == pytest.approx(max(12 / 64, float(told[2])), abs=1e-6)
        assert any("a ceiling bounds all resources alike" in line for line in lines)
    assert solve(found.instance).certificate.valid


@pytest.mark.parametrize("to", ["yunikorn", "volcano", "kai"])
def test_tiers_come_back(tmp_path: Path, to: str) -> None:
    """Beside a queue that says nothing of it, whatever the program takes that for."""
    rules = Organisation(tiers={"high": 2, "low": -1})
    cluster = Instance({"high": {"cpu": 1}, "low": {"cpu": 1}, "none": {"cpu": 1}}, {"cpu": 9}, organisation=rules)
    written = saved(tmp_path / "written", export(solve(cluster), to))
    machines = saved(tmp_path / "c.toml", '[[machines]]\nname = "all"\ncapacity = { cpu = 9 }\n')
    found = read(to, written, machines=machines, saturate=True).instance
    assert dict(zip(found.users, found.organisation.tiers, strict=True)) == {"high": 2, "low": -1, "none": 0}


def test_koordinator_is_given_whole_weights_above_0(tmp_path: Path) -> None:
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}, {"cpu": 9}, weights=["1/3", 0, "1/2"])
    lines: list[str] = []
    written = saved(tmp_path / "written", export(solve(cluster), "koordinator", lines=lines))
    assert "a weight of 0 is written as 1, and the least of the others as 2,000" in lines
    machines = saved(tmp_path / "c.toml", '[[machines]]\nname = "all"\ncapacity = { cpu = 9 }\n')
    first, second, third = read("koordinator", written, machines=machines, saturate=True).instance.exact_weights
    assert (first / second, third / second) == (2000, 3000)


def test_what_has_no_name_there_is_left_out_or_refused(tmp_path: Path) -> None:
    instance = Instance({"a": {"cpu": 1, "licence": 1}, "b": {"cpu": 2, "licence": 0}}, {"cpu": 9, "licence": 3})
    allocation = solve(instance)
    for row in EXPORTS:
        if row.name in ("csv", "kueue", "capacity-scheduler"):  # any name will do in Kueue, percent have none
            continue
        with pytest.raises(InstanceError, match="or leave it out with --leave-out licence"):
            export(allocation, row.name)
        lines: list[str] = []
        text = export(allocation, row.name, leave_out=["licence"], lines=lines)
        assert "licence is left out" in lines
        assert "licence is left out" in text, "a comment says it too"
    assert export(allocation, "csv", leave_out="licence").splitlines()[0] == "user,tasks,cpu"
    with pytest.raises(InstanceError, match=r"the cluster has no 'licences'.*did you mean 'licence'"):
        export(allocation, "kai", leave_out=["licences"])
    with pytest.raises(InstanceError, match="'licence' is given a name and left out"):
        export(allocation, "kueue", {"licence": "example.com/licence"}, ["licence"])
    with pytest.raises(InstanceError, match="every resource is left out"):
        export(allocation, "slurm", leave_out=["licence", "cpu"])


@pytest.mark.parametrize("row", [row for row in EXPORTS if row.name != "csv"], ids=lambda row: row.name)
def test_no_name_changes_in_silence(row) -> None:
    demands = {"Team A.b": {"cpus": 1, "gpus": 1}, "c": {"cpus": 2, "gpus": 0}}
    lines: list[str] = []
    text = export(solve(Instance(demands, {"cpus": 9, "gpus": 4})), row.name, lines=lines)
    # KAI and Slurm call them gpu and gres/gpu, Kubernetes nvidia.com/gpu, YARN yarn.io/gpu; Kueue takes any name, and
    # gpus is the word of Mesos, and percent have no names.
    nameless = row.name in ("mesos", "capacity-scheduler")
    assert nameless or any(line.startswith(("gpus is called ", "gpus keeps its name")) for line in lines)
    assert any(line.startswith("'Team A.b' is called ") for line in lines)
    assert all(line in text or line.replace("--", "- -") in text for line in lines)
    assert (row.name in ("kueue", "mesos")) == (
        "gpus" in "".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "<!--")))
    )


def test_a_group_and_a_user_of_one_name_are_refused() -> None:
    organisation = Organisation(paths={"a": "b"}, groups=[Group("b", 1)])
    instance = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 9}, organisation=organisation)
    for to in ("volcano", "kai", "koordinator", "yunikorn"):
        with pytest.raises(InstanceError, match="a group and a user would both be queue 'b'"):
            export(solve(instance), to)


def test_a_group_is_not_called_a_user() -> None:
    organisation = Organisation(paths={"a": "Eng Dept"}, groups=[Group("Eng Dept", 1)])
    instance = Instance({"a": {"cpu": 1}, "eng-dept": {"cpu": 1}}, {"cpu": 9}, organisation=organisation)
    with pytest.raises(InstanceError, match="group 'Eng Dept' and user 'eng-dept' would both be queue 'eng-dept'"):
        export(solve(instance), "kai")


def test_the_cohort_above_all_has_a_name_of_its_own() -> None:
    organisation = Organisation(paths={"a": "fair"}, groups=[Group("fair", 1)])
    instance = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 9}, organisation=organisation)
    text = export(solve(instance), "kueue")
    assert "parentName: fair-all" in text or "parent: fair-all" in text, text


@pytest.mark.parametrize("to", [row.name for row in EXPORTS if row.name not in ("kai", "koordinator")])
def test_who_does_not_know_weights_by_resource_says_so(to: str) -> None:
    weights = {"a": {"cpu": 2, "memory": 1}, "b": {"cpu": 1, "memory": 1}}
    task = {"cpu": 1, "memory": "1Gi"}
    instance = Instance({"a": task, "b": task}, {"cpu": 10, "memory": "10Gi"}, weights=weights)
    lines: list[str] = []
    export(solve(instance), to, lines=lines)
    assert any("weights" in line for line in lines), lines


def test_numbers_of_yarn_have_the_unit_of_their_type() -> None:
    note = "YARN reads ex/disk in the unit of its type there, which is taken to have none"
    for resource, told in (("ex/disk", True), ("yarn.io/gpu", False)):
        lines: list[str] = []
        export(
            solve(Instance({"a": {"vcores": 1, resource: 1}}, {"vcores": 2, resource: 9})),
            "fair-scheduler",
            lines=lines,
        )
        assert (note in lines) == told


def test_yunikorn_takes_the_file() -> None:
    task = {"cpu": 1, "memory": "1Gi"}
    with pytest.raises(InstanceError, match="user 'Web' and user 'web' would both be queue 'web': rename one of them"):
        export(solve(Instance({"Web": task, "web": task}, {"cpu": 10, "memory": "10Gi"})), "yunikorn")
    organisation = Organisation(
        paths={"a": "g"}, groups=[Group("g", 1, ceiling={"cpu": 4})], ceilings={"a": {"cpu": 20, "memory": "5Gi"}}
    )
    instance = Instance({"a": task, "c": task}, {"cpu": 10, "memory": "10Gi"}, organisation=organisation)
    lines: list[str] = []
    text = export(solve(instance), "yunikorn", lines=lines)
    assert 'vcore: "20"' not in text and text.count('vcore: "4"') >= 2
    assert "ceilings above that of a group around them count as that: 1 queue" in lines


def test_quotas_that_mesos_refuses_are_told() -> None:
    task = {"cpus": 1, "mem": 512}
    organisation = Organisation(paths={"dev": "eng"}, groups=[Group("eng", 1)])
    instance = Instance({"*": task, "dev": task, "ops": task}, {"cpus": 10, "mem": 10240}, organisation=organisation)
    lines: list[str] = []
    export(solve(instance), "mesos", lines=lines)
    assert "UPDATE_QUOTA takes no quota of * or of a role in another: 2 roles" in lines


def test_a_role_in_another_goes_back_as_that(tmp_path: Path) -> None:
    """A dot is part of a name of Mesos."""
    task = {"name": "t", "state": "TASK_RUNNING", "slave_id": "S0", "resources": {"cpus": 1}}
    roles = {"a.b": 3, "a.b/dev": 2, "web": 1}
    state = {"slaves": [{"id": "S0", "resources": {"cpus": 9}}]}
    state["frameworks"] = [{"name": role, "tasks": [task | {"role": role}]} for role in ("a.b/dev", "web")]
    state["roles"] = [{"name": role, "weight": weight} for role, weight in roles.items()]
    lines: list[str] = []
    found = read("mesos", saved(tmp_path / "state.json", json.dumps(state))).instance
    written = json.loads(export(solve(found), "mesos", lines=lines))
    assert {role["name"]: role["weight"] for role in written["roles"]} == roles
    assert not any("is called" in line for line in lines)


def test_csv_tells_what_is_called_otherwise_and_left_out() -> None:
    lines: list[str] = []
    instance = Instance({"A": {"cpu": 1, "mem": 2, "pods": 1}}, {"cpu": 3, "mem": 9, "pods": 9})
    export(solve(instance), "csv", {"mem": "RAM"}, leave_out="pods", lines=lines)
    assert lines == ["mem is called RAM here", "pods is left out"]


def test_types_of_devices_go_to_slurm_and_come_back(tmp_path: Path) -> None:
    typed = {"gres/gpu": 1, "gres/gpu:A": 1}
    instance = Instance(
        {"ann": {"cpu": 1, **typed}, "bob": {"cpu": 1, "gres/gpu": 3}}, {"cpu": 8, "gres/gpu": 4} | typed
    )
    text = export(solve(instance, integer=True), "slurm")
    assert ":GrpTRES=cpu=1,gres/gpu=1,gres/gpu:A=1" in text
    nodes = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|8|512000|gpu:A:1,gpu:3|p|idle\n"
    jobs = (
        "JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE\n1|x|ann|p|PENDING|1|1|0|gres/gpu:A:1\n"
    )
    files = [saved(tmp_path / name, one) for name, one in (("nodes", nodes), ("jobs", jobs), ("dump", text))]
    found = read("slurm", files, "account").instance
    assert found.organisation.ceilings == ({"cpu": 1, **typed},)


def test_weights_that_are_no_whole_numbers_are_scaled() -> None:
    instance = Instance(
        {"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 9}, weights={"a": Fraction(3, 2), "b": Fraction(1, 4)}
    )
    documents = list(yaml.safe_load_all(export(solve(instance), "volcano")))
    assert [one["spec"]["weight"] for one in documents] == [6, 1]
    assert "Fairshare=6" in export(solve(instance), "slurm")


def test_percent_ask_for_no_unit_and_no_name() -> None:
    allocation = solve(Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}))
    lines: list[str] = []
    text = export(allocation, "capacity-scheduler", lines=lines)
    assert re.findall(r"[.]capacity</name>\s*<value>(.+)</value>", text) == ["50", "50"]
    assert lines == ["percent of all resources alike guarantee 0.75 of a queue's dominant share at least"]
    with pytest.raises(InstanceError, match="say its unit"):
        export(allocation, "fair-scheduler")


def test_percent_of_nothing_add_up_too() -> None:
    instance = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}, {"cpu": 9}, max_tasks=[0, 0, 0])
    text = export(solve(instance), "capacity-scheduler")
    settings = dict(re.findall(r"<name>yarn.scheduler.capacity.root.(.+)</name>\s*<value>(.+)</value>", text))
    assert [float(settings[f"{user}.capacity"]) for user in "abc"] == [33.334, 33.333, 33.333]
    # A queue of one user would be kept at its capacity by YARN: three times 33.334 are all there is, 33.333 are not.
    assert [settings[f"{user}.user-limit-factor"] for user in "abc"] == ["3", "4", "4"]


def test_kueue_keeps_the_names_that_it_takes(tmp_path: Path) -> None:
    instance = Instance({"a": {"cpu": 1, "gpu": 1, "cpu_credits": 1}}, {"cpu": 9, "gpu": 4, "cpu_credits": 5})
    path = saved(tmp_path / "q.yaml", export(solve(instance), "kueue"))
    assert read("kueue", path).instance.resources == ("cpu", "gpu", "cpu_credits")
    assert "nvidia.com/gpu" in export(solve(instance), "kueue", {"gpu": "nvidia.com/gpu"})


def test_slurm_gets_back_the_names_that_its_reader_made(tmp_path: Path) -> None:
    shares = "Account|User|RawShares\nroot||1\n bio||2\n  bio|ann|3\n phys||1\n  phys|ann|1\n empty||1\n"
    nodes = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn|8|16000||p|idle\n"
    paths = [saved(tmp_path / "sshare", shares), saved(tmp_path / "sinfo", nodes)]
    instance = read("slurm", paths, saturate=True).instance
    assert instance.users == ("ann (bio)", "ann (phys)", "account empty")
    back = saved(tmp_path / "load.cfg", export(solve(instance), "slurm"))
    assert read("slurm", [back, paths[1]], saturate=True).instance.users == ("account empty", "ann (bio)", "ann (phys)")


def test_below_a_ceiling_of_0_queues_have_none():
    rules = Organisation(groups=[Group("a", ceiling={"cpu": 0}), Group("a/b")], paths={"A": "a/b"})
    instance = Instance({"A": {"cpu": 1, "memory": 1}, "B": {"cpu": 1, "memory": 1}}, {"cpu": 4, "memory": 4},
                        organisation=rules)  # fmt: skip
    written = export(solve(instance), "capacity-scheduler")
    assert "root.a.maximum-capacity</name>\n    <value>0</value>" in written
    assert "root.a.b.maximum-capacity" not in written


@pytest.mark.parametrize(
    "to", ["slurm", "slurm-accounts", "yunikorn", "volcano", "kai", "fair-scheduler", "capacity-scheduler"]
)
def test_nothing_is_called_as_what_is_above_all(to):
    for top, other in (("root", "g"), ("b", "root")):
        rules = Organisation(groups=(Group(other),), paths={"x": other})
        allocation = solve(Instance({top: {"cpu": 1}, "x": {"cpu": 1}}, {"cpu": 90}, organisation=rules))
        with pytest.raises(InstanceError, match="would be called 'root', as the one above all is: rename it"):
            export(allocation, to)


def test_csv_writes_three_tasks_as_three():
    # In floats 0.3 / 0.1 is 2.9999999999999996.
    allocation = solve(Instance({"A": {"cpu": 0.1}}, {"cpu": 0.3}))
    assert export(allocation, "csv").splitlines()[1] == "A,3.0,0.3"


def test_csv_keeps_whole_units():
    allocation = solve(Instance({"A": {"memory": "1Gi"}}, {"memory": "128Gi"}))
    assert export(allocation, "csv").splitlines()[1] == f"A,128.0,{128 * 2**30}"


@pytest.mark.parametrize("to", ["kueue", "volcano", "kai", "koordinator", "fair-scheduler", "slurm", "mesos"])
def test_that_queues_know_no_classes_of_machines_is_told(to):
    machines = [Machine("a", {"cpu": 8}, 2), Machine("b", {"cpu": 8}, 2)]
    instance = Instance({"u": {"cpu": 1}, "v": {"cpu": 1}}, machines=machines, eligible={"u": ["a"]})
    lines: list[str] = []
    export(solve(instance), to, lines=lines)
    told = "on which classes of machines the amounts are, which classes may run tasks of u"
    assert any(line == f"not written: {told}" for line in lines), lines


def test_what_is_called_mem_and_written_with_its_unit_is_in_bytes():
    instance = Instance({"a": {"cpu": 1, "mem": "1Gi"}}, {"cpu": 8, "mem": "16Gi"})
    found = solve(instance)
    assert "requests.memory: 8Gi" in export(found, "resourcequota")
    assert "mem=8192" in export(found, "slurm")
    numbers = solve(Instance({"a": {"cpu": 1, "mem": 1024}}, {"cpu": 8, "mem": 16384}))
    assert "requests.memory: 8Gi" in export(numbers, "resourcequota")


def test_one_amount_with_its_unit_says_that_mem_is_in_bytes():
    # So many MiB as 128Mi are bytes no machine has, so the 8Mi and 64Mi beside it are bytes too.
    rooms = {"machines": [Machine("m", {"cpu": 8, "mem": "128Mi"}, 8)]}
    for cluster in (rooms, {"capacity": {"cpu": 8, "mem": "16Gi"}}):
        small = solve(Instance({"a": {"cpu": 1, "mem": "8Mi"}}, **cluster, max_tasks=[8]))
        assert "requests.memory: 64Mi" in export(small, "resourcequota")
    pool = Instance({"a": {"cpu": 1, "mem": 1024}}, {"cpu": 10**6, "mem": 2 * 10**8})  # 190 TiB
    assert '"mem": 200000000.0' in export(solve(pool), "mesos")


GROUPED = """
[capacity]
cpu = 10
memory = "10Gi"
[[groups]]
name = "eng"
weight = 2
[[users]]
name = "a"
group = "eng"
demand = { cpu = 1, memory = "1/3" }
weight = { cpu = 2, memory = "1/3" }
[[users]]
name = "c"
demand = { cpu = 3, memory = "1Gi" }
max_tasks = 1
"""


@pytest.mark.parametrize("to", ["slurm", "mesos", "fair-scheduler", "volcano", "kueue"])
def test_where_weights_of_users_are_lost_those_of_groups_are_kept(tmp_path: Path, to: str) -> None:
    lines: list[str] = []
    text = export(solve(Instance.load(saved(tmp_path / "x.toml", GROUPED))), to, lines=lines)
    assert any(line.endswith("does not know: every user counts with 1") for line in lines)
    assert any(f"{words}2" in text for words in ("Fairshare=", '"weight": ', "<weight>", "weight: ", 'weight: "'))


def test_a_role_of_weight_0_is_written_as_1() -> None:
    lines: list[str] = []
    text = export(
        solve(Instance({"a": {"cpu": 1}, "c": {"cpu": 3}}, {"cpu": 9}, weights={"a": 0, "c": 1})), "mesos", lines=lines
    )
    assert json.loads(text)["roles"][0]["weight"] == 1
    assert "a weight of 0 is written as 1: a role's is above 0" in lines


def test_whom_rounding_takes_something_is_counted_however_much_he_has() -> None:
    capacity = {"memory": 2**40}
    demands = {"a": {"memory": "1/3"}, "b": {"memory": 2**36 + Fraction(1, 3)}}
    lines: list[str] = []
    export(solve(Instance(demands, capacity, max_tasks=[1, 1]), exact=True), "resourcequota", lines=lines)
    assert "rounded down to steps of 1: memory of 2 users, 0.6667 in all" in lines


@pytest.mark.parametrize("users", [3, 7])
def test_what_percent_guarantee_is_rounded_down(users: int) -> None:
    lines: list[str] = []
    export(solve(Instance([[1]] * users, [1000])), "capacity-scheduler", lines=lines)
    assert lines == ["percent of all resources alike guarantee 0.999 of a queue's dominant share at least"]


@pytest.mark.parametrize(
    "to, step, texts",
    [
        ("fair-scheduler", "0.000001", ["<weight>0.142857</weight>", "<weight>0.000001</weight>"]),
        ("kueue", "0.001", ['weight: "0.143"', 'weight: "0.001"']),
    ],
)
def test_rounded_weights_are_told_and_none_becomes_0(to: str, step: str, texts: list[str]) -> None:
    weights = {"a": Fraction(1, 7), "b": Fraction(1, 10**7)}
    lines: list[str] = []
    text = export(solve(Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 9}, weights=weights)), to, lines=lines)
    assert f"weights are rounded to steps of {step}" in lines
    assert all(one in text for one in texts)


@pytest.mark.parametrize(
    "to, words", [("fair-scheduler", "1: vcores of 1 queue"), ("slurm", None), ("kueue", "0.001: cpu of 1 queue")]
)
def test_a_ceiling_that_is_rounded_is_told(to: str, words: str | None) -> None:
    rules = Organisation(ceilings={"a": {"cpu": "2.0005"}})
    lines: list[str] = []
    export(solve(Instance({"a": {"cpu": 1}, "b": {"cpu": 3}}, {"cpu": 9}, organisation=rules)), to, lines=lines)
    assert [line for line in lines if line.startswith("ceilings")] == (
        [f"ceilings rounded down to steps of {words}"] if words else []
    )


def test_tasks_of_csv_add_up_to_no_more_than_there_is():
    three = solve(Instance({user: {"cpu": 1} for user in "ABC"}, {"cpu": 2}))
    tasks = [Fraction(row["tasks"]) for row in csv.DictReader(io.StringIO(export(three, "csv")))]
    assert 2 - Fraction(1, 10**9) < sum(tasks) <= 2


@pytest.mark.parametrize("target", ["csv", "resourcequota"])
def test_weights_that_a_target_has_no_place_for_are_named(target):
    lines: list[str] = []
    export(solve(Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 3}, weights={"a": 2})), target, lines=lines)
    assert "not written: weights" in lines
    alike: list[str] = []
    export(solve(Instance({"a": {"cpu": 1}}, {"cpu": 3})), target, lines=alike)
    assert alike == []
