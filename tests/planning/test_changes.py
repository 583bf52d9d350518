"""Changes to a cluster: what they make of it, that they keep the rest, and what they refuse."""

from fractions import Fraction as F

import pytest

from drfopt import solve
from drfopt.base.errors import InstanceError
from drfopt.io.native.reading import loads
from drfopt.io.native.writing import dumps
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.planning.changes import KINDS, Change, changed

PAPER = Instance.library("nsdi2011")


@pytest.fixture(scope="module")
def cluster():
    return Instance(
        {"A": {"cpu": "1/7"}, "b.c=d": {"cpu": 1, "nvidia.com/gpu": 2}},
        machines=[
            Machine("v100", {"cpu": "1/3", "nvidia.com/gpu": 2}, 3),
            Machine("a/b", {"cpu": 4, "nvidia.com/gpu": 1}),
        ],
        weights={"A": {"cpu": 1, "nvidia.com/gpu": 2}, "b.c=d": {"cpu": 1, "nvidia.com/gpu": "1/3"}},
        max_tasks={"A": 4},
        eligible={"A": ["v100"]},
        name="two",
        source="nowhere",
    )


def test_no_change_is_the_same_cluster(cluster):
    assert changed(cluster, []) == cluster
    assert changed(PAPER, []) == PAPER


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ("add 2*v100", (5, 1)),
        ("add v100", (4, 1)),
        ("add 10 * a/b", (3, 11)),
        ("remove 2*v100", (1, 1)),
        ("set-count v100=7", (7, 1)),
        ("set-count v100=3", (3, 1)),
        ("remove 3*v100", (1,)),
        ("set-count v100=0", (1,)),
        ("add 2*new{cpu=64,nvidia.com/gpu=256Mi}", (3, 1, 2)),
    ],
)
def test_machines_come_and_go(cluster, change, counts):
    assert tuple(changed(cluster, [change]).counts) == counts


def test_who_was_given_a_list_of_classes_does_not_get_a_new_one(cluster):
    after = changed(cluster, ["add new{cpu=1}"])
    assert after.eligible.tolist() == [[True, False, False], [True, True, True]]
    assert after.exact_machine_capacity[2] == (1, 0)


def test_the_last_class_of_a_user_leaves_her_unplaced(cluster):
    after = changed(cluster, ["remove 3*v100"])
    assert after.unplaced().tolist() == [True, True]


@pytest.mark.parametrize(
    ("change", "capacity"),
    [
        ("set-capacity v100/cpu=1/2", (F(1, 2), 2)),
        ("set-capacity v100/nvidia.com/gpu=+1", (F(1, 3), 3)),
        ("set-capacity v100/nvidia.com/gpu=-50%", (F(1, 3), 1)),
        ("scale cpu=3/2", (F(1, 2), 2)),
        ("scale all=2", (F(2, 3), 4)),
    ],
)
def test_capacities_of_machines(cluster, change, capacity):
    assert changed(cluster, [change]).exact_machine_capacity[0] == capacity


@pytest.mark.parametrize(
    ("change", "capacity"),
    [
        ("set-capacity cpu=100", (100, 18)),
        ("set-capacity memory=+10%", (9, F(99, 5))),
        ("add 1/3*cpu", (F(28, 3), 18)),
        ("remove 9*cpu", (0, 18)),
        ("scale memory=0.5", (9, 9)),
    ],
)
def test_capacities_of_a_pool(change, capacity):
    assert changed(PAPER, [change]).exact_capacity == capacity


@pytest.mark.parametrize(
    "pool",
    [
        Instance([[1, "1/3"], [0.1, 4]], [9, 18], weights=[1, 2], max_tasks=["7/2", None], name="limits"),
        loads(
            """
            name = "rules"
            capacity = { cpu = 4, memory = "1/30" }
            [[users]]
            name = "A"
            tasks = [{ demand = { cpu = 1 }, count = 3 }, { demand = { memory = 1e-2 }, count = 2 }]
            [[users]]
            name = "B"
            demand = { cpu = 2, memory = 0.1 }
            guarantee = { cpu = "1/2" }
            ceiling = { cpu = 5 }
            group = "a"
            """,
            "toml",
        ),
    ],
    ids=lambda pool: pool.name,
)
def test_a_pool_of_another_size_is_what_its_file_would_say(pool):
    """Users are not written and read again, and nothing stays of what was found out about the other size."""
    first, second = pool.resources
    solved = solve(pool)
    assert "room" in vars(pool)
    made = changed(pool, [f"scale {first}=4/3", f"add 0.01*{second}", f"set-capacity {second}=+10%"])
    again = loads(dumps(made), "toml")
    assert made == again and made.capacity.tolist() == again.capacity.tolist() != pool.capacity.tolist()
    assert made.room.tolist() == again.room.tolist()
    assert solve(made).tasks.tolist() == solve(again).tasks.tolist() != solved.tasks.tolist()
    with pytest.raises(InstanceError, match=r"^after the changes: demands of .* beyond 1e-150 to 1e150"):
        changed(pool, [f"set-capacity {first}=1e-200"])
    with pytest.raises(AttributeError):
        made.capacity = None


def test_machines_are_not_resized(cluster):
    with pytest.raises(InstanceError, match=r"^the cluster has machines: change their capacity$"):
        cluster.resized({"cpu": 1})


def test_users(cluster):
    after = changed(
        cluster,
        [
            "set-demand b.c=d.nvidia.com/gpu=5",
            "set-demand A.cpu=+100%",
            "set-limit A=none",
            "set-limit b.c=d=5/2",
            "set-weight b.c=d=3",
            "add-user new{cpu=2;weight=2;max_tasks=9;machines=v100|a/b}",
        ],
    )
    assert after.exact_demands == ((F(2, 7), 0), (1, 5), (2, 0))
    assert after.exact_limits == (None, F(5, 2), 9)
    assert after.exact_weights[1:] == ((3, 3), (2, 2))
    assert after.name == "two"
    assert changed(after, ["remove-user A"]).users == ("b.c=d", "new")


def test_promises():
    after = changed(PAPER, ["set-guarantee A.cpu=2", "set-ceiling B.memory=5/2", "set-guarantee A.cpu=+1"])
    assert after.organisation.guarantees[0] == {"cpu": 3}
    assert after.organisation.ceilings[1] == {"memory": F(5, 2)}
    assert changed(after, ["set-guarantee A.cpu=none", "set-ceiling B.memory=none"]) == PAPER


def test_a_sign_means_the_same_everywhere(cluster):
    """A limit of 4 and "+2" were a limit of 2, where "+2" of a capacity is two more."""
    after = changed(cluster, ["set-limit A=+2", "set-count v100=-1"])
    assert (after.max_tasks[0], after.counts.tolist()) == (6, [2, 1])
    assert changed(PAPER, ["set-weight A=+50%"]).exact_weights[0] == F(3, 2)


def test_a_change_can_be_written_in_two_ways():
    assert Change.of("--set-weight A=2") == Change.of(" set-weight  A=2") == Change("set-weight", "A=2")
    assert str(Change("set-weight", "A=2")) == "set-weight A=2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("set-wieght A=2", r"no change 'set-wieght': did you mean 'set-weight'\?"),
        ("add 2*v10", r"add 2\*v10: there is no machine class 'v10': did you mean 'v100'\?"),
        ("add 1/2*v100", "1/2 machines cannot be: write a whole number"),
        ("add 0*v100", "how many must be positive"),
        ("add -1*v100", "how many must be positive"),
        ("add v100{cpu=1}", "there is a machine class 'v100' already"),
        ("add new{cpus=1}", r"no resource 'cpus': did you mean 'cpu'\?"),
        ("add new{cpu}", "'cpu' cannot be read: write resource=amount"),
        ("add {cpu=1}", "cannot be read"),
        ("remove 4*v100", "4 machines of class 'v100' cannot be removed: it has 3"),
        ("remove v100{cpu=1}", r"write 3\*CLASS"),
        ("set-count v100=-4", "-4 of 3 leaves -1: an amount must not be negative"),
        ("set-count v100=1.5", "3/2 machines cannot be"),
        ("set-count a/b=3.5", "7/2 machines cannot be"),
        ("set-capacity cpu=3", "write CLASS/cpu=3 for each machine of a class"),
        ("set-capacity v100/cpus=3", r"no resource 'cpus': did you mean 'cpu'\?"),
        ("set-capacity v10/cpu=3", r"no class 'v10': did you mean 'v100'\?"),
        ("set-capacity v100/cpu=-1", "an amount must not be negative"),
        ("set-capacity v100/cpu=", "cannot be read"),
        ("scale cpu=0", "cannot be multiplied by 0"),
        ("scale cpu=nan", "'nan' is not a number"),
        ("scale disk=2", "no resource 'disk'"),
        ("add-user A{cpu=1}", "there is a user 'A' already"),
        ("add-user X{cpu=1;wieght=2}", r"no property of a user 'wieght': did you mean 'weight'\?"),
        ("add-user X", "cannot be read"),
        ("add-user X{}", "demands nothing"),
        ("add-user X{cpu=1;machines=v10}", r"did you mean 'v100'\?"),
        ("remove-user B", "there is no user 'B'"),
        ("set-weight A=-1", "weight of 'cpu' is 0: weights per resource must be positive"),
        ("set-limit b.c=d=+1", "and there is none: write what it shall be, 0 or more, unsigned"),
        ("set-ceiling A.cpu=+10%", "an amount, and there is none"),
        ("set-limit A=inf", "'inf' is not a number"),
        ("set-demand A.cpus=1", r"no resource 'cpus': did you mean 'cpu'\?"),
        ("set-demand A=1", "write USER.RESOURCE"),
        ("set-demand A.cpu=0", "demands nothing"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(cluster, change, message):
    with pytest.raises(InstanceError, match=message) as error:
        changed(cluster, [change])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("change", ["remove-user A", "remove-user B"])
def test_somebody_and_something_must_be_left(change):
    with pytest.raises(InstanceError, match="no user would be left"):
        changed(PAPER, ["remove-user A", "remove-user B"])
    with pytest.raises(InstanceError, match="no machine would be left"):
        changed(Instance.library("drfh-two-servers"), ["remove memory-rich", "remove cpu-rich"])
    with pytest.raises(InstanceError, match="the cluster is one pool"):
        changed(PAPER, ["set-count cpu=2"])


def test_every_kind_is_different_and_says_what_it_is():
    assert len({row.name for row in KINDS}) == len(KINDS)
    assert all(row.grammar and row.summary for row in KINDS)


def test_a_weight_by_resource_is_changed_in_each():
    """Where somebody's weight was by resource, 2 of another was said to be no amount."""
    cluster = Instance([[1], [1]], [10], weights=[[3], [2]], users=["a", "b"], resources=["cpu"])
    assert changed(cluster, ["set-weight b=-1"]).weights.tolist() == [[3], [1]]
    assert changed(cluster, ["set-weight b=+50%"]).weights.tolist() == [[3], [3]]


def test_machines_are_added_before_others_are_removed_on_the_command_line():
    names = [row.name for row in KINDS]
    assert names.index("add") < names.index("remove")
