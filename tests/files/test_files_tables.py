"""Mesos, plain CSV, and the traces of Google and Alibaba."""

import gzip
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt import solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read


def saved(folder: Path, **files: object) -> list[Path]:
    paths = []
    for name, content in files.items():
        paths.append(folder / name)
        paths[-1].write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return paths


def told(found) -> str:
    return "\n".join(map(str, found.notes))


# ---- Mesos -------------------------------------------------------------------------------------------------


def agent(name: str, active: bool = True, **reserved) -> dict:
    resources = {"cpus": 4.0, "mem": 14861.0, "disk": 4968.0, "gpus": 1.0, "ports": "[31000-32000]"}
    return {"id": name, "active": active, "resources": resources, "reserved_resources": reserved}


def task(name: str, cpus: float, on: str, role: str = "eng", state: str = "TASK_RUNNING") -> dict:
    resources = {"cpus": cpus, "mem": 512.0, "disk": 0.0, "gpus": 0.0, "ports": "[31001-31001]"}
    return {"id": name, "name": name, "slave_id": on, "role": role, "state": state, "resources": resources}


STATE = {
    "slaves": [agent("S0", eng={"cpus": 1.0}), agent("S1"), agent("S2", active=False)],
    "frameworks": [
        {
            "name": "marathon",
            "roles": ["eng", "sci/bio"],
            "active": True,
            "tasks": [
                task("t1", 0.5, "S0"),
                task("t2", 0.5, "S1"),
                task("t3", 1, "S1"),
                task("t4", 2, "S1", "sci/bio"),
                task("t5", 1, "S1", state="TASK_FAILED"),
            ],
        },
        {"name": "idle", "role": "x", "active": True, "tasks": []},
    ],
}
ROLES = {
    "roles": [
        {"name": "eng", "weight": 2.0, "quota": {"guarantee": {"cpus": 2.0, "mem": 0}, "limit": {"cpus": 10.0}}},
        {"name": "sci", "weight": 3.0},
        {"name": "sci/bio", "weight": 1.0},
    ]
}


def test_mesos(tmp_path: Path) -> None:
    found = read("mesos", saved(tmp_path, roles=ROLES, state=STATE))
    instance, organisation = found.instance, found.instance.organisation
    assert instance.users == ("eng", "sci/bio")
    assert instance.counts.tolist() == [2]
    assert instance.resources == ("cpus", "mem")
    small, large = instance.task_types[0]
    assert (small.count, large.count) == (small.count, small.count // 2), (
        "the mix of today, as often as anybody could run"
    )
    assert sum(one.count * one.demand[0] for one in (small, large)) > 8
    assert instance.exact_limits[1] is None
    assert instance.exact_weights == (2, 1)
    assert organisation.guarantees == ({"cpus": 2}, {})
    assert organisation.ceilings == ({"cpus": 10}, {})
    assert [(group.name, group.weight) for group in organisation.groups] == [("sci", 3)]
    assert found.placement == {"eng": {"4cpu-14.513GiB": 3}, "sci/bio": {"4cpu-14.513GiB": 1}}
    notes = told(found)
    for line in (
        "agent that is not active (S2)",
        "reservation for a role: its resources are shared here (eng on S0)",
        "task that does not run (t5, TASK_FAILED)",
        "framework without tasks: what it wants is not known (idle)",
        "Mesos does not know what frameworks want",
    ):
        assert line in notes, notes
    assert read("mesos", saved(tmp_path, state=STATE), "framework").instance.users == ("marathon",)
    several = [STATE["frameworks"][0] | {"id": id} for id in ("F1", "F2")]
    twins = read("mesos", saved(tmp_path, state=STATE | {"frameworks": several}), "framework")
    assert twins.instance.users == ("marathon (F1)", "marathon (F2)")
    assert "2 x framework with the name of another: its user bears its id too (such as marathon)" in told(twins)
    with pytest.raises(InstanceError, match="has neither slaves, frameworks nor roles"):
        read("mesos", saved(tmp_path, other={"a": 1}))


def test_counts_of_a_table_with_gaps(tmp_path: Path) -> None:
    text = {"machines": "machine,count,cpu\nm,2.0,4\n", "tasks": "user,count,cpu\na,3.0,1\n"}
    found = read("csv", saved(tmp_path, **text)).instance
    assert (found.counts.tolist(), found.max_tasks) == ([2], (3,))


# ---- plain CSV ---------------------------------------------------------------------------------------------

MACHINES = "# a comment\nmachine,count,cpu,memory,label:model\nbig,2,32,128,A100\nsmall-1,,8,16Gi,\nsmall-2,1,8,16Gi,\n"
MACHINES = MACHINES.replace("128", "128Gi")
TASKS = """\
user,task,count,machine,weight,group,cpu,memory,label:model
ann,train,3,,2,lab/x,4,8Gi,A100|H100
ann,eval,2,big,2,lab/x,1,500M,
bob,serve,1,small-1,,,1/3,1Gi,
bob,serve,4,,,,1/3,1Gi,
"""


def test_csv(tmp_path: Path) -> None:
    found = read("csv", saved(tmp_path, tasks=TASKS, machines=MACHINES))
    instance = found.instance
    assert instance.machine_names == ("32cpu-128GiB", "8cpu-16GiB")
    assert instance.counts.tolist() == [2, 2]
    assert [(one.name, one.count, one.machines) for one in instance.task_types[0]] == [
        ("train", 3, ("32cpu-128GiB",)),
        ("eval", 2, None),
    ]
    assert instance.exact_demands[1] == (Fraction(1, 3), 2**30)
    assert instance.exact_limits == (5, 5)
    assert instance.exact_weights == (2, 1)
    assert instance.organisation.paths == ("lab/x", "")
    assert found.placement == {"ann": {"32cpu-128GiB": 2}, "bob": {"8cpu-16GiB": 1}}


def test_csv_is_solved(tmp_path: Path) -> None:
    tasks = "user,count,cpu,memory\nA,100,1,4\nB,100,3,1\n"
    instance = read("csv", saved(tmp_path, machines="machine,cpu,memory\npool,9,18\n", tasks=tasks)).instance
    assert solve(instance).tasks.tolist() == pytest.approx([3, 2])


def test_csv_packed_with_gzip(tmp_path: Path) -> None:
    plain = saved(tmp_path, machines=MACHINES, tasks=TASKS)
    packed = []
    for path in plain:
        packed.append(path.with_suffix(".csv.gz"))
        packed[-1].write_bytes(gzip.compress(path.read_bytes()))
    assert read("csv", packed).instance.exact_demands == read("csv", plain).instance.exact_demands
    packed[0].write_bytes(packed[0].read_bytes()[:-20])
    with pytest.raises(InstanceError, match=r"is a damaged gzip file"):
        read("csv", packed)


BAD = {
    "semicolons": (
        "machines",
        "machine;count;cpu\nm;2;8\n",
        r"line 1: is separated by ';': separate the columns by com",
    ),
    "tabs": ("tasks", "# ours\nuser\tcpu\na\t1\n", r"line 2: is separated by tabs"),
    "neither": (
        "tasks",
        "users,cpu\na,1\n",
        r"has neither a column 'machine' nor 'user': write 'user' for 'users' in line 1",
    ),
    "capital": ("tasks", "User,cpu\na,1\n", r"nor 'user': write 'user' for 'User' in line 1$"),
    "capital count": (
        "machines",
        "machine,Count,cpu\nm,4,8\n",
        r"the header has a column 'Count': write 'count' for it",
    ),
    "capital label": ("machines", "machine,cpu,Label:Zone\nm,8,a\n", r"'Label:Zone': write 'label:Zone' for it"),
    "how many by another name": (
        "tasks",
        "user,tasks,cpu\na,100,1\n",
        r"tasks have a column 'tasks', machines have cpu, memory: did you mean 'count'",
    ),
    "resource": (
        "tasks",
        "user,cpus\na,1\n",
        r"tasks have a column 'cpus', machines have cpu, memory: did you mean 'cpu'",
    ),
    "number": ("tasks", "user,cpu\na,many\n", r"line 2: cpu: 'many' is not a number"),
    "negative": ("tasks", "user,cpu\na,-1\n", r"line 2: cpu is '-1': write 0 or more"),
    "huge": ("tasks", "user,cpu\na," + "9" * 10**5 + "\n", r"line 2: cpu: '9+\.\.\.' is too long"),
    "count": ("tasks", "user,count,cpu\na,1.5,1\n", r"line 2: count is '1.5': write a whole number"),
    "digits": (
        "tasks",
        f"user,count,cpu\na,1{'0' * 15},1\n",
        r"write a whole number, 0 or more and of at most 15 digits$",
    ),
    "machines below 0": (
        "machines",
        "machine,count,cpu\nm,-2,4\n",
        r"line 2: machine 'm': count is '-2': write a whole number, 1 or more$",
    ),
    "no machines": ("machines", "machine,count,cpu\nm,0,4\n", r"line 2: machine 'm': count is '0': .*, 1 or more$"),
    "weights": ("tasks", "user,weight,cpu\na,1,1\na,2,1\n", r"line 3: weight of 'a' is '2', and '1' above"),
    "no user": ("tasks", "user,cpu\n,1\n", r"line 2: the task has no user"),
    "no machine": ("machines", "machine,cpu\n,1\n", r"line 2: the machine has no name"),
    "machine twice": ("machines", "machine,cpu\na,1\na,2\n", r"machine 'a' is listed twice: keep one of them"),
    "no resource": ("tasks", "user,cpu,machines\na,1,m\n", r"'m' is not .* is a resource, but for user, task, .*KEY\)"),
    "misspelt": ("tasks", "user,cpu,wieght\na,1,2\n", r"column 'wieght', .*: did you mean 'weight'"),
    "twice": ("machines", "machine,cpu,cpu\na,1,1\n", r"line 1: the column 'cpu' is there twice"),
    "header only": ("machines", "machine,cpu\n", r"has a header and no rows"),
    "short": ("machines", "machine,cpu\na\n", r"line 2: has 1 columns, but the header has 2"),
    "all zero": (
        "tasks",
        "user,cpu\na,0\n",
        r"is waiting or running \(not used: task that demands nothing .*\): list a task that demands something, with a "
        r"count of 1 or more$",
    ),
}


@pytest.mark.parametrize(
    ("format", "files", "reason"),
    [
        (
            "alibaba2018",
            {"machines": "m_1,0,1,2,96,100,USING\n", "containers": "c_1,m_1,0,app,stopped,400,400,1.5\n"},
            r"no task .* running \(not used: container that has ended \(c_1\)\)",
        ),
        (
            "alibaba2018",
            {"machines": "m_1,0,1,2,96,100,OFF\n", "containers": "c_1,m_1,0,app,started,400,400,1.5\n"},
            r"no machine to run on \(not used: machine that is OFF \(m_1\)\)",
        ),
    ],
    ids=["task", "machine"],
)
def test_where_no_task_or_no_machine_is_left_the_first_that_is_none_is_named(tmp_path, format, files, reason):
    with pytest.raises(InstanceError, match=reason):
        read(format, saved(tmp_path, **files))


@pytest.mark.parametrize(("which", "content", "pattern"), BAD.values(), ids=BAD)
def test_bad_csv(tmp_path: Path, which: str, content: str, pattern: str) -> None:
    files = {"machines": "machine,cpu,memory\na,1,1\n", "tasks": "user,cpu\na,1\n"} | {which: content}
    with pytest.raises(InstanceError) as raised:
        read("csv", saved(tmp_path, **files))
    message = str(raised.value)
    assert message.isprintable()
    assert re.search(pattern, message), message


# ---- traces ------------------------------------------------------------------------------------------------


def test_google_2011(tmp_path: Path) -> None:
    machines = "0,5,0,Plat,0.5,0.25\n0,6,0,Plat,0.5,0.25\n0,7,0,Plat,1,1\n9,7,1,Plat,1,1\n0,8,0,Plat,,\n"

    def event(job: int, kind: int, on: str = "", user: str = "ann", cpu: str = "0.125", memory: str = "0.25") -> str:
        return f"0,,{job},0,{on},{kind},{user},3,9,{cpu},{memory},0.1,0\n"

    tasks = event(1, 0) + event(1, 1, "5") + event(2, 0) + event(2, 7, cpu="0.25") + event(3, 0) + event(3, 4)
    tasks += event(4, 5) + event(5, 0, cpu="", memory="") + event(6, 1, "7", user="bob")
    found = read("google2011", saved(tmp_path, tasks=tasks, machines=machines))
    assert found.instance.counts.tolist() == [2]
    assert found.instance.users == ("ann", "bob")
    assert [tuple(one.demand) for one in found.instance.task_types[0]] == [
        (Fraction(1, 8), Fraction(1, 4)),
        (Fraction(1, 4), Fraction(1, 4)),
    ]
    assert found.placement == {"ann": {"Plat-0.5cpu-0.25memory": 1}}
    notes = told(found)
    for line in (
        "task that has ended (3/0)",
        "end of a task that the files do not begin (4/0)",
        "task without amounts (5/0)",
        "machine event without amounts (8)",
        "its machine is not in use or not listed (bob/job 6 on 7)",
    ):
        assert line in notes, notes
    later = "7,,1,0,5,4,ann,3,9,0.1,0.1,0,0\n7,,2,0,5,4,ann,3,9,0.1,0.1,0,0\n"
    parts = saved(tmp_path, b_later=later, tasks=tasks, machines=machines)
    assert read("google2011", parts).instance.users == ("bob",), "the parts are followed in the order of time"
    with pytest.raises(InstanceError, match="has 3 columns: machine_events has 6, task_events 13"):
        read("google2011", saved(tmp_path, odd="1,2,3\n"))


def test_of_google_2011_tasks_are_counted_and_not_their_ends(tmp_path: Path) -> None:
    def event(task: int, kind: int) -> str:
        return f"0,,7,{task},,{kind},alice,0,9,0.1,0.1,,\n"

    # Evicted and submitted again, and evicted twice for good.
    tasks = event(0, 0) + event(0, 2) + event(0, 0) + event(1, 0) + event(1, 2) + event(1, 0) + event(1, 2)
    found = read("google2011", saved(tmp_path, tasks=tasks, machines="0,m1,0,P,0.5,0.5\n"))
    assert found.instance.limits.tolist() == [1]
    assert "task that has ended (7/1)" in told(found)


def test_alibaba_2018(tmp_path: Path) -> None:
    machines = "m_1,0,1,2,96,100,USING\nm_2,0,1,2,96,100,USING\nm_2,9,1,2,96,100,OFFLINE\n"
    batch = "t1,10,j_1,1,Running,0,0,50,0.5\nt2,5,j_1,1,Waiting,0,0,100,0.25\nt3,5,j_2,1,Terminated,0,0,100,0.25\n"
    containers = (
        "c_1,m_1,0,app_1,started,400,400,1.56\nc_1,m_1,5,app_1,started,800,800,3.13\nc_2,m_1,5,app_1,stopped,8,8,1\n"
    )
    found = read("alibaba2018", saved(tmp_path, containers=containers, batch=batch, machines=machines))
    assert found.instance.users == ("job j_1", "app_1")
    assert found.instance.exact_limits == (15, 1)
    assert found.instance.exact_demands[1] == (8, Fraction(313, 100))
    assert found.instance.counts.tolist() == [1]
    assert sum(found.placement["app_1"].values()) == 1
    assert "batch task that has ended (t3)" in told(found)
    for kind in (
        "failure domains of machines",
        "start, end, type and dependencies (in their names) of batch tasks: they are there at once",
        "limit of cpu of containers",
    ):
        assert f"not used: {kind} (" in told(found)
    only_ended = saved(tmp_path, batch=batch.splitlines()[2] + "\n", machines=machines)
    assert read("alibaba2018", only_ended).instance.users == ("job j_2",)
    with pytest.raises(InstanceError, match="has 2 columns: machine_meta has 7, batch_task 9, container_meta 8"):
        read("alibaba2018", saved(tmp_path, odd="1,2\n"))


def test_a_class_is_named_in_the_unit_that_is_written(tmp_path: Path) -> None:
    for memory in ("16Gi", "16384"):
        files = saved(tmp_path, machines=f"machine,cpu,mem\nm,8,{memory}\n", tasks="user,count,cpu,mem\na,1,1,1\n")
        assert read("csv", files).instance.machines[0].name == "8cpu-16GiB"
    tasks = "user,count,cpu,mem\na,1,1,64Mi\na,1,1,2Gi\n"
    files = saved(tmp_path, machines="machine,cpu,mem\nm,8,16Gi\n", tasks=tasks)
    assert [kind.name for kind in read("csv", files).instance.task_types[0]] == ["1cpu-64MiB", "1cpu-2GiB"]


def test_of_traces_what_is_empty_or_of_no_instances_is_told(tmp_path: Path) -> None:
    machines = "m_1,0,1,2,96,100,USING\nm_2,0,1,2,96,,USING\n"
    batch = "t1,1,j_1,1,Running,0,0,,0.5\nt2,0,j_2,1,Running,0,0,100,0.25\n"
    said = told(read("alibaba2018", saved(tmp_path, batch=batch, machines=machines)))
    for line in (
        "memory of a machine is empty: it counts as 0 (m_2)",
        "cpu of a batch task is empty: it counts as 0 (t1)",
        "batch task of no instances (t2)",
    ):
        assert line in said
    events = saved(tmp_path, tasks="0,,7,1,,0,alice,0,9,,0.1,,\n", machines="0,m1,0,P,0.5,0.5\n")
    assert "cpu of a task is empty: it counts as 0 (7/1)" in told(read("google2011", events))


def test_tasks_of_one_role_hint_at_the_frameworks(tmp_path: Path) -> None:
    task = {"id": "t", "state": "TASK_RUNNING", "slave_id": "s", "resources": {"cpus": 1, "mem": 10}}
    state = {
        "slaves": [{"id": "s", "resources": {"cpus": 8, "mem": 80}}],
        "frameworks": [{"name": name, "role": "*", "tasks": [task]} for name in ("chronos", "marathon")],
    }
    path = tmp_path / "state.json"
    path.write_text(json.dumps(state), encoding="utf-8")
    assert "all tasks are of one role, '*', so there is nobody to divide with: user_by framework (--user-by)" in told(
        read("mesos", path)
    )
    assert read("mesos", path, "framework").instance.users == ("chronos", "marathon")
    # Who runs nothing would be no user of that either.
    state["frameworks"][1]["tasks"] = []
    path.write_text(json.dumps(state), encoding="utf-8")
    assert "nobody to divide with" not in told(read("mesos", path))


def test_what_of_mesos_is_no_amount_or_of_nobody_is_told(tmp_path: Path) -> None:
    needs = {"cpus": 1, "ports": "[31000-31100]"}
    one = {"id": "t", "state": "TASK_RUNNING", "resources": needs, "slave_id": "s"}
    framework = {"name": "m", "tasks": [one], "unreachable_tasks": [one, one]}
    state = {
        "slaves": [{"id": "s", "resources": {"cpus": 4, "ports": "[31000-32000]"}}],
        "frameworks": [framework],
        "orphan_tasks": [one],
        "unregistered_frameworks": ["F9"],
        "recovered_slaves": [{"id": "S4"}],
    }
    notes = told(read("mesos", saved(tmp_path, state=state)))
    for line in (
        "2 x ports: a range or set, no amount to divide (such as s)",
        "2 x task that cannot be reached (such as m)",
        "task without a framework (orphan_tasks)",
        "framework that is not registered (unregistered_frameworks)",
        "agent that has not come back (recovered_slaves)",
    ):
        assert line in notes, notes


def test_mesos_offers_agents_with_gpus_to_who_takes_gpus(tmp_path: Path) -> None:
    """Unless its flag is off, or the state does not tell what frameworks can do."""

    def eligible(able: object = (), **state: object) -> list:
        task = {"name": "t", "state": "TASK_RUNNING", "resources": {"cpus": 1}}
        slaves = [{"id": "S0", "resources": {"cpus": 4, "gpus": 2}}, {"id": "S1", "resources": {"cpus": 8, "gpus": 0}}]
        one = {"name": "x", "tasks": [task | {"role": "a"}]} | ({} if able is None else {"capabilities": list(able)})
        other = {"name": "y", "capabilities": ["GPU_RESOURCES"]}
        other["tasks"] = [task | {"role": "b", "resources": {"cpus": 1, "gpus": 1}}]
        state |= {"slaves": slaves, "frameworks": [one, other]}
        return read("mesos", saved(tmp_path, state=state)).instance.eligible.tolist()

    assert eligible() == [[False, True], [True, True]]
    everywhere = [[True, True], [True, True]]
    assert eligible(["GPU_RESOURCES"]) == eligible(None) == everywhere
    assert eligible(flags={"filter_gpu_resources": "false"}) == everywhere


def test_what_executors_of_mesos_hold_is_told(tmp_path: Path) -> None:
    task = {"id": "t", "state": "TASK_RUNNING", "resources": {"cpus": 1}, "slave_id": "s"}
    state = {
        "slaves": [{"id": "s", "resources": {"cpus": 4}}],
        "frameworks": [{"name": "storm", "used_resources": {"cpus": 1.5}, "tasks": [task]}],
    }
    assert "what executors hold beside tasks: a task is what it needs itself (storm: 0.5 cpus)" in told(
        read("mesos", saved(tmp_path, state=state))
    )
    state["frameworks"][0].pop("tasks")
    with pytest.raises(InstanceError, match=r"no task of a user .* framework without tasks: .* \(storm\)"):
        read("mesos", saved(tmp_path, state=state))
