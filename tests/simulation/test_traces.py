"""Public traces: what is read is what is there, what is drawn is as stated, and a bad line is named."""

import numpy as np
import pytest

from drfopt.base.errors import InstanceError
from drfopt.simulation.traces import batch2018, swim
from drfopt.simulation.traces.swim import replay

HEADER = ",submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk\n"
SIZES = swim.Sizes({"cpu": 1, "memory": 2}, steps={"cpu": 0.25, "memory": 0.5}, seconds=30)


@pytest.fixture
def hadoop(data_folder):
    return swim.read(data_folder / "swim" / "FB-2010_samples_24_times_1hr_0.tsv")


@pytest.fixture
def batch(data_folder):
    return batch2018.read(data_folder / "batch2018" / "jobs.csv")


def written(tmp_path, text):
    path = tmp_path / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_batch2018_is_read_whole(batch):
    assert len(batch.cpu) == 31_756 and len(np.unique(batch.job)) == 5_216
    assert batch.tasks.sum() == 2_551_075
    assert (batch.cpu.max(), batch.memory.max()) == (3.0, pytest.approx(0.07432, rel=1e-5))


def test_figures_1_and_2_count_every_task(batch):
    found = batch2018.regions(batch)
    assert found.tasks.sum() == batch.tasks.sum()
    assert (found.tasks > 0).all()
    for resource in ("cpu", "memory"):
        ratios, part = batch2018.slot_ratios(batch, resource, 48)
        assert (np.diff(ratios) > 0).all() and (np.diff(part) > 0).all() and part[-1] == 1
        below = (batch.demand(resource) * 48 <= batch2018.MACHINE[resource]) @ batch.tasks / batch.tasks.sum()
        assert part[ratios <= 1][-1] == pytest.approx(below)


def test_a_resource_that_the_trace_lacks_is_refused(batch):
    with pytest.raises(InstanceError, match="no 'gpu': it has cpu and memory"):
        batch2018.slot_ratios(batch, "gpu", 4)


def test_swim_is_read_whole(hadoop):
    assert len(hadoop.submit) == 24_442
    assert (np.diff(hadoop.submit) >= 0).all()
    first = hadoop.between(3600, 7200, every=2)
    assert len(first.submit) == 800 and first.submit.min() >= 0 and first.submit.max() < 3600


def test_a_scenario_has_a_map_for_every_block_and_a_reduce_for_every_part(hadoop):
    part = hadoop.between(0, 600)
    made = swim.scenario(part, SIZES, machines=3)
    assert len(made.users) == len(part.submit)
    for user, read, shuffled in zip(made.users, part.read, part.shuffled, strict=True):
        (job,) = user.jobs
        counts = [stage.tasks for stage in job.stages]
        assert counts[0] == max(1, -(-int(read) // 256_000_000))
        assert sum(counts[1:]) == -(-int(shuffled) // 1_000_000_000)
        for stage in job.stages:
            assert stage.demand["cpu"] * 4 == int(stage.demand["cpu"] * 4) and 0 < stage.demand["cpu"] <= 16
            assert stage.demand["memory"] * 2 == int(stage.demand["memory"] * 2) and 0 < stage.demand["memory"] <= 32
    again = swim.scenario(part, SIZES, machines=3)
    assert [user.jobs for user in again.users] == [user.jobs for user in made.users]


def test_typical_demands_are_medians(hadoop):
    made = swim.scenario(
        hadoop.between(0, 7200), swim.Sizes({"cpu": 1, "memory": 2}, steps={"cpu": 0.01, "memory": 0.01})
    )
    rows = [stage.demand for user in made.users for stage in user.jobs[0].stages]
    assert np.median([float(row["cpu"]) for row in rows]) == pytest.approx(1, rel=0.05)
    assert np.median([float(row["memory"]) for row in rows]) == pytest.approx(2, rel=0.05)


def test_a_replay_runs_the_same_work_under_both_rules(hadoop):
    found = replay(hadoop.between(0, 900, every=3), SIZES, machines=10)
    first, second = found.runs
    assert first.ended == second.ended == found.tasks.sum()
    assert sum(row.jobs for row in found.reductions()) == len(found.tasks)
    assert first.work.sum() > 0
    (everything,) = found.reductions([1])
    assert everything.reduction == pytest.approx(1 - found.times[0].mean() / found.times[1].mean())
    assert all((part <= 1).all() for part in found.utilization(900.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "column 'submit_time' is missing"),
        (HEADER, "there are no rows"),
        (HEADER + "0,1,2,x,4,5,6,7,8\n", r"line 2: cpu is 'x': write a number, 0 or more"),
        (HEADER + "0,1,nan,1,4,5,6,7,8\n", r"line 2: duration is 'nan'"),
        (HEADER + "0,1,2,-1,4,5,6,7,8\n", r"line 2: cpu is '-1'"),
        (HEADER + "0,1,2\n", r"line 2: there are 3 columns: 9 were expected"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, words):
    with pytest.raises(InstanceError, match=words):
        batch2018.read(written(tmp_path, text))


def test_a_bad_line_of_swim_is_named(tmp_path):
    with pytest.raises(InstanceError, match="line 1: read is 'many'"):
        swim.read(written(tmp_path, "job0\t1\t1\tmany\t0\t0\n"))


def test_figures_1_and_2_are_drawn(batch):
    pytest.importorskip("vl_convert")
    from drfopt.reporting.simulations import plot_demands, plot_slot_ratios

    bubbles, found = plot_demands(batch), batch2018.regions(batch)
    (panel,) = bubbles.spec["concat"]
    assert [row["tasks"] for row in panel["data"]["values"]] == found.tasks.tolist()
    assert bubbles.svg()
    ratios = plot_slot_ratios(batch, 48)
    assert '["cpu", "memory"]' in str(ratios.spec)
    assert ratios.svg()
