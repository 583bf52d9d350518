"""Scenario files: what is written is what is simulated, and what is wrong is said in one line."""

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, InstanceError, Machine
from drfopt.simulation import Draw, Job, Outage, Preemption, Scenario, Slowdown, Stage, User, simulate
from drfopt.simulation.scenario_files import library, loads, names

HEAD = '[capacity]\ncpu = 4\nmemory = "8Gi"\n'
USER = '[[users]]\nname = "A"\n'


def test_every_key_is_read():
    scenario = loads(
        """
        name = "all keys"
        source = "here"
        until = 100
        groups = [{ name = "eng", weight = 2 }]

        [[machines]]
        name = "xl"
        count = 3
        capacity = { cpu = 4, memory = "1/3" }

        [[users]]
        name = "A"
        weight = 0.1
        guarantee = { cpu = 1 }
        group = "eng"
        tier = 2
        leaves = 50

        [[users.jobs]]
        name = "build"
        arrival = 1
        count = "endless"
        every = { distribution = "exponential", mean = 5 }
        stages = [
            { demand = { cpu = 1 }, tasks = 2, duration = [1, 2], machines = ["xl"] },
            { demand = { cpu = 2 }, tasks = "endless", duration = 1, lasts = 4 },
        ]

        [[outages]]
        machines = "xl"
        at = 10
        count = 2
        lasts = 5
        """,
        "toml",
    )
    assert scenario == Scenario(
        (Machine("xl", {"cpu": Fraction(4), "memory": Fraction(1, 3)}, 3),),
        (
            User(
                "A",
                (
                    Job(
                        (
                            Stage({"cpu": 1}, 2, (1.0, 2.0), machines=("xl",)),
                            Stage({"cpu": 2}, None, 1.0, lasts=4),
                        ),
                        1,
                        None,
                        Draw("exponential", mean=5),
                        "build",
                    ),
                ),
                Fraction(1, 10),
                {"cpu": 1},
                "eng",
                2,
                50,
            ),
        ),
        (Outage("xl", 10, 2, 5),),
        100,
        {"eng": 2},
        "all keys",
        "here",
    )


def test_toml_json_and_yaml_say_the_same():
    toml = HEAD + USER + "jobs = [{ tasks = 3, demand = { cpu = 1 }, duration = 2.5 }]\n"
    document = {
        "capacity": {"cpu": 4, "memory": "8Gi"},
        "users": [{"name": "A", "jobs": [{"tasks": 3, "demand": {"cpu": 1}, "duration": 2.5}]}],
    }
    yaml = (
        "capacity: {cpu: 4, memory: 8Gi}\nusers:\n- name: A\n  jobs:\n  - {tasks: 3, demand: {cpu: 1}, duration: 2.5}\n"
    )
    assert loads(toml) == loads(json.dumps(document)) == loads(yaml)


JOB = "jobs = [{{ demand = {{ cpu = 1 }}, duration = 1, {} }}]"


@pytest.mark.parametrize(
    ("job", "until", "told"),
    [
        ('count = "endless"', None, "user 'A': a job comes without end: say until when, or how often"),
        ("count = 1e18", None, "1e+18 times: say until when"),
        ('count = "endless", every = 1e-9', 3, "about 3e+09 times in the 3 s until the end: stop earlier"),
        ('count = "endless"', 3, ""),
        ('count = "endless", every = 1', 3, ""),
        ("count = 1e18", 3, ""),
    ],
)
def test_a_job_may_come_without_end_where_the_run_has_one(job, until, told):
    scenario = loads(HEAD + USER + JOB.format(job), "toml", "mine.toml")
    if told:
        with pytest.raises(InstanceError) as caught:
            simulate(scenario, until=until)
        assert told in str(caught.value)
    else:
        assert simulate(scenario, until=until).seconds == until


@pytest.mark.parametrize("name", names())
def test_every_shipped_scenario_says_what_to_expect_and_runs(name):
    from drfopt.simulation.scenario_files import text

    scenario = library(name)
    assert text(name).startswith("# Expect: ")
    assert scenario.name
    assert scenario.source
    assert simulate(scenario, until=60, checked=True).started


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("[]", "the file is a list: write a table"),
        (HEAD, "the key 'users' is missing"),
        ("users = 3\n" + HEAD, "users is 3: write a list of tables"),
        ("users = []\n" + HEAD, "the scenario has no users"),
        (USER + "jobs = []", "needs either [capacity] (one machine) or [[machines]]"),
        (HEAD + USER, "users[0] ('A'): the key 'jobs' is missing"),
        (HEAD + USER + "demand = { cpu = 1 }", "has a demand and no jobs, as in an instance: write jobs"),
        (HEAD + USER + "jobs = []\nweigth = 2", "unknown key 'weigth'"),
        (HEAD + USER + "jobs = []\nweight = 0", "user 'A': weight is 0: write a number above 0"),
        (HEAD + USER + "jobs = []\nweight = -1", "user 'A': weight is -1: write a number above 0"),
        (HEAD + USER + "jobs = []\ntier = 1.5", "tier is 1.5: write a whole number"),
        (
            HEAD + USER + "jobs = [{ demand = { cpu = 1 }, tasks = 0 }]",
            "jobs[0]: tasks is 0: write a whole number, 1 or",
        ),
        (HEAD + USER + "jobs = [{ demand = { cpu = 0 } }]", "a task demands nothing"),
        (
            HEAD + USER + "jobs = [{ demand = { cpus = 1 } }]",
            "the cluster has no 'cpus': it has cpu, memory: did you mean",
        ),
        (HEAD + USER + "jobs = [{ demand = { cpu = -1 } }]", "demand of 'cpu' is -1"),
        (HEAD + USER + 'jobs = [{ demand = { cpu = "many" } }]', "'many' is not a number"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, duration = 0 }]", "duration is 0.0: write a positive number"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, duration = nan }]", "duration is wrong"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, duration = 1e308 }]", "a positive number of at most 1e+100"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, tasks = 2, duration = [1] }]", "there are 1 times for 2 tasks"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, duration = { mean = 2 } }]", "without a distribution"),
        (
            HEAD + USER + 'jobs = [{ demand = { cpu = 1 }, duration = { distribution = "exponental", mean = 2 } }]',
            "did you mean 'exponential'?",
        ),
        (
            HEAD + USER + 'jobs = [{ demand = { cpu = 1 }, duration = { distribution = "uniform", low = 2 } }]',
            "uniform is given low: it takes low and high",
        ),
        (
            HEAD
            + USER
            + 'jobs = [{ demand = { cpu = 1 }, duration = { distribution = "uniform", low = 2, high = 1 } }]',
            "swap them",
        ),
        (HEAD + USER + 'jobs = [{ demand = { cpu = 1 }, tasks = "endless" }]', "tasks without end need an end"),
        (HEAD + USER + 'jobs = [{ demand = { cpu = 1 }, machines = ["x"] }]', "no machine class 'x': there is pool"),
        (HEAD + USER + "jobs = [{ stages = [] }]", "a job has no stages"),
        (HEAD + USER + "jobs = [{ stages = [{ demand = { cpu = 1 }, task = 1 }] }]", "stages[0]: unknown key 'task'"),
        (HEAD + USER + "jobs = []\n" + USER + "jobs = []", "user 'A' is listed twice"),
        (HEAD + USER + 'jobs = []\n[[outages]]\nmachines = "pol"\nat = 1', "did you mean 'pool'?"),
        (HEAD + USER + 'jobs = []\n[[outages]]\nmachines = "pool"\nat = 1\ncount = 2', "are lost, but it has 1"),
        (HEAD + USER + 'jobs = []\n[[outages]]\nmachines = "pool"\nat = -1', "outages[0]: at is -1.0"),
        (
            HEAD + USER + "jobs = [{ demand = { cpu = 1 }, tasks = 1e18, duration = 1 }]",
            "tasks is 1e+18: write at most",
        ),
        (
            HEAD
            + USER
            + 'jobs = [{ demand = { cpu = 1 }, tasks = 1e9, duration = { distribution = "exponential", mean = 1 } }]',
            "write at most 100,000,000",
        ),
        ("[[machines]]\nname = 'a'\ncapacity = { cpu = 1 }\ncount = 1e9\n" + USER + "jobs = []", "1e+09 machines"),
        (HEAD + USER + 'jobs = []\ngroup = "lab"\n[[groups]]\nname = "labs"', "'labs': users are in lab: did you mean"),
        (HEAD + USER + 'jobs = []\n[[groups]]\nname = "lab"', "nobody is in group 'lab': no user has a group"),
        ('groups = [{ name = "a" }, { name = "a" }]\n' + HEAD + USER + "jobs = []", "of group 'a' is there twice"),
        ("until = 0\n" + HEAD + USER + "jobs = []", "until is 0"),
        ("until = -1\n" + HEAD + USER + "jobs = []", "until is -1.0: write a number of seconds, above 0"),
        ("until = 2020-01-01\n" + HEAD + USER + "jobs = []", "until is 2020-01-01: write a number"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, tasks = true }]", "tasks is true: write a number"),
        (HEAD + USER + "jobs = [{ demand = { cpu = true } }]", "demand of 'cpu' is true: write a number"),
        (HEAD + USER + "jobs = [{ demand = { cpu = 1 }, machines = [1] }]", "machines of 1: write names of machine"),
        (
            HEAD + USER + "jobs = [{ demand = { cpu = 1 }, every = [1], count = 2 }]",
            "every is a list: write one time, or a distribution",
        ),
        (HEAD + USER + "jobs = []\nguarantee = { cpu = -1 }", "guarantee of 'cpu' is -1: it must not be negative"),
        (HEAD + USER + 'jobs = []\ngroup = "a//b"', "the group of user 'A' is called 'a//b': write its path"),
        ("[capacity]\n" + USER + "jobs = [{ demand = { cpu = 1 } }]", "has no 'cpu': its machines have nothing"),
        ("[[machines]]\nname = 'a'\ncapacity = { cpu = 1 }\ncount = 0\n" + USER + "jobs = []", "count is 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, told):
    with pytest.raises(InstanceError) as caught:
        loads(text, "json" if text == "[]" else "toml", "mine.toml")
    message = str(caught.value)
    assert told in message
    assert message.startswith("mine.toml: ")
    assert "\n" not in message


def test_an_empty_file_is_told_of_a_scenario_to_start_from(tmp_path):
    for name, data in (("empty.toml", b""), ("blank.yaml", b" \n")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InstanceError, match="is empty: see 'drfopt new --scenario'"):
            Scenario.load(tmp_path / name)


def test_distributions_have_the_means_they_claim():
    import numpy as np

    from drfopt.simulation.draws import DISTRIBUTIONS

    given = {"low": 1, "high": 3, "mean": 2, "median": 2, "sigma": 0.5, "scale": 2, "shape": 1.5, "least": 1, "tail": 4}
    random = np.random.default_rng(1)
    for law in DISTRIBUTIONS:
        draw = Draw(law.name, **{name: given[name] for name in law.parameters})
        numbers = draw.numbers(random, 200_000)
        assert (numbers > 0).all()
        assert numbers.mean() == pytest.approx(draw.mean, rel=0.02)
    assert Draw("pareto", least=1, tail=1).mean == math.inf


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("duration", "1e400", "duration is '1e400', outside the range of floats"),
        ("tasks", "1e400", "tasks is '1e400', outside"),
        ("arrival", "1e-400", "arrival is '1e-400', outside"),
        ("demand", {"cpu": "1e400"}, "demand of 'cpu' is '1e400', outside"),
        (
            "duration",
            {"distribution": "lognormal", "median": 1, "sigma": 1000},
            "median 1, sigma 1000 has a mean beyond",
        ),
        ("duration", {"distribution": "weibull", "scale": 1, "shape": 0.001}, "scale 1, shape 0.001 has a mean beyond"),
    ],
)
def test_numbers_out_of_range_are_named(key, value, told):
    job = {"tasks": 4, "demand": {"cpu": 1}, "duration": 5} | {key: value}
    with pytest.raises(InstanceError, match=re.escape(told)):
        loads(json.dumps({"capacity": {"cpu": 4}, "users": [{"name": "A", "jobs": [job]}]}))


A = User("A", ())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Scenario(3, (A,)), "machines is 3: give a list of Machine"),
        (lambda: Scenario((3,), (A,)), "machines has 3: give Machine only"),
        (lambda: Scenario({"cpu": 1}, 3), "users is 3: give a list of User"),
        (lambda: Scenario({"cpu": 1}, (A,), outages=(3,)), "outages has 3: give Outage only"),
        (lambda: Scenario({"cpu": 1}, (A,), groups=3), "group weight is 3: give amounts by name"),
        (lambda: Scenario.of(3), "made of an instance, not of 3"),
        (lambda: Scenario.of(Instance([[1]], [1]), tasks=0), "tasks is 0: write a whole number, 1 or more"),
        (lambda: User("A", (3,)), "user 'A': jobs has 3: give Job only"),
        (lambda: User("A", (), guarantee=3), "user 'A': guarantee is 3: give amounts"),
        (lambda: Job("build"), "stages is 'build': give a list of Stage"),
        (lambda: Stage([1]), "demand is [1]: give amounts by name"),
        (lambda: Stage({"cpu": 1}, machines="xl"), "machines is 'xl': give a list of str"),
        (lambda: Slowdown(3), "a slowdown has 3: give exponents by resource"),
        (lambda: simulate(Scenario({"cpu": 1}, (A,)), preemption=3), "preemption is 3: give a Preemption"),
        (lambda: simulate(Scenario({"cpu": 1}, (A,)), every=True), "every is True: give the seconds"),
    ],
)
def test_parts_of_a_wrong_kind_are_named(make, told):
    with pytest.raises(InstanceError, match=re.escape(told)):
        make()


def test_a_whole_number_of_numpy_is_one():
    def made(whole):
        jobs = (Job((Stage({"cpu": 1}, whole(2), 3.0),), count=whole(2)),)
        users = (User("A", jobs, tier=whole(1)),)
        return Scenario((Machine("m", {"cpu": 2}, whole(2)),), users, (Outage("m", 1, whole(1), 2),))

    assert repr(made(np.int64)) == repr(made(int))
    assert simulate(made(np.int64), preemption=Preemption(np.int64(1))) == simulate(made(int), preemption=Preemption(1))
    cluster = Instance([[1]], [4])
    assert Scenario.of(cluster, 1, np.int64(3)) == Scenario.of(cluster, 1, 3)


@pytest.mark.parametrize("rule", ["karma:cpu", "dynamic"])
def test_rules_of_equal_parts_take_no_other_weights(rule):
    """Weights were passed over in silence; alike ones are equal parts, whatever they are."""
    from drfopt.base.errors import PolicyError
    from drfopt.simulation import Job, Stage, User, simulate

    def scenario(weight):
        job = Job(Stage({"cpu": 1}, tasks=2, duration=1))
        return Scenario({"cpu": 2}, (User("A", job, weight=2), User("B", job, weight=weight)))

    with pytest.raises(
        PolicyError, match=r"'A' has weight 2 and 'B' 1: give all the same weight, or use another rule$"
    ):
        simulate(scenario(1), rule)
    assert simulate(scenario(2), rule).ended == 4
