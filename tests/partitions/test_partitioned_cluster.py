"""Users in Parquet files and frames on real Dask workers: the answers of one process, with a worker killed as well."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from distributed import Client, LocalCluster
from partition_files import answer, awkward_cluster, awkward_pool, write

from drfopt import InstanceError, SolverError, solve_partitions
from drfopt.base import partitions
from drfopt.base.partitions import Partitions
from drfopt.base.progress import reporting
from drfopt.io.user_tables import rows
from drfopt.solving import partitioned

pytestmark = pytest.mark.slow


def two_workers():
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as made:
        yield made


@pytest.fixture
def mortal():
    """Two workers of its own for a test that kills one."""
    with two_workers() as made:
        yield made


@pytest.fixture
def users(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "PART", 2_000)
    columns, capacity = awkward_pool(4, 40_000)
    return write(tmp_path / "users", columns, files=4, group=2_000), capacity


def one_of(cluster):
    """Return the process of a worker that runs: one that was killed has none until it is started again."""
    return next(pid for worker in cluster.workers.values() if (pid := worker.pid))


def alone(users, tmp_path, policy="drf"):
    return answer(solve_partitions(*users, policy, output=tmp_path / f"alone-{policy}", jobs=1).folder)


def test_workers_give_the_answer_of_one_process(cluster, users, tmp_path):
    found = solve_partitions(*users, dask=cluster.scheduler_address)
    assert found.partitions == 20
    np.testing.assert_allclose(answer(found.folder)["tasks"], alone(users, tmp_path)["tasks"], rtol=1e-12)


def test_a_cluster_of_this_machine_is_started_and_ended(users, tmp_path):
    found = solve_partitions(*users, jobs=2)
    np.testing.assert_allclose(answer(found.folder)["tasks"], alone(users, tmp_path)["tasks"], rtol=1e-12)


def test_a_script_that_workers_would_run_again_is_told(users, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import drfopt\ndrfopt.solve_partitions({str(users[0])!r}, {users[1]!r}, jobs=2)\n")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1
    said = 'where a script asks for them, put what it does under if __name__ == "__main__":, which lets them read it'
    assert ended.stderr.splitlines()[-1].endswith(said)
    assert {path.name for path in tmp_path.iterdir()} == {"users", "script.py"}


def children():
    """Return the processes that this one has started for workers."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = place.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"spawn_main" in place.joinpath("cmdline").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
@pytest.mark.parametrize("moment", ["as it starts", "as it is asked whether it is there"])
def test_a_worker_killed_at_the_start_changes_nothing(users, tmp_path, monkeypatch, moment):
    before, killed = set(children()), []

    def kill():
        mine = set(children()) - before
        if mine and not killed:
            killed.append(min(mine))
            os.kill(killed[0], signal.SIGKILL)

    def watch():
        while not killed:
            kill()
            time.sleep(0.01)

    if moment == "as it starts":
        Thread(target=watch, daemon=True).start()
    else:
        honest = Client.run
        monkeypatch.setattr(Client, "run", lambda *given, **more: kill() or honest(*given, **more))
    found = solve_partitions(*users, jobs=2, output=tmp_path / "answer")
    assert killed
    np.testing.assert_allclose(answer(found.folder)["tasks"], alone(users, tmp_path)["tasks"], rtol=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("moment", "policy"),
    [
        ("taking a sample", "drf"),
        ("adding up", "drf"),
        ("settling limits", "drf"),
        ("writing", "drf"),
        ("proof", "ceei"),
    ],
)
def test_a_worker_killed_in_the_middle_changes_nothing(mortal, users, tmp_path, monkeypatch, moment, policy):
    monkeypatch.setattr("drfopt.engines.leximin.saturation.SAMPLE", 1_000)
    monkeypatch.setattr("drfopt.engines.leximin.saturation.MANY", 10_000)
    killed = []

    def kill(text):
        if text.startswith(moment) and not killed:
            killed.append(one_of(mortal))
            os.kill(killed[0], signal.SIGKILL)

    with reporting(kill):
        found = solve_partitions(*users, policy, dask=mortal.scheduler_address)
    assert killed
    np.testing.assert_allclose(answer(found.folder)["tasks"], alone(users, tmp_path, policy)["tasks"], rtol=1e-12)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("moment", "kept", "policy"),
    [
        ("round 1, iteration 3", "memory", "drf"),
        ("round 2", "files", "drf"),
        ("writing", "memory", "drf"),
        ("proof", "files", "drf"),
        ("iteration 5, gap", "memory", "ceei"),
        ("digits, guess 1, step 2", "files", "ceei"),
    ],
)
def test_a_worker_killed_in_mid_iteration_changes_nothing(mortal, tmp_path, monkeypatch, moment, kept, policy):
    """Its parts are made again by another, pass by pass from the files."""
    monkeypatch.setattr(rows, "PAIRS", 900)
    monkeypatch.setattr(partitions, "GROUPS", 1)  # a worker's two parts are one task
    if kept == "files":
        monkeypatch.setattr(partitioned, "KEPT", 0.0)
    columns, machines = awkward_cluster(2, 600, k=6, open_to=0.5, limited=0.3)
    users = write(tmp_path / "users", columns, files=4)
    expected = answer(solve_partitions(users, machines, policy, output=tmp_path / "alone", jobs=1).folder)
    said, killed = [], []

    def kill(text):
        said.append(text)
        if text.startswith(moment) and " of 4 " in text and not killed:
            killed.append(one_of(mortal))
            os.kill(killed[0], signal.SIGKILL)

    with reporting(kill):
        found = solve_partitions(users, machines, policy, dask=mortal.scheduler_address)
    assert killed and found.partitions == 4
    assert any("iteration" in text and "gap" in text and "of 4 partitions" in text for text in said)
    np.testing.assert_allclose(answer(found.folder)["level"], expected["level"], rtol=1e-11)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def with_worker(part):
    from distributed import get_worker

    return get_worker().address, os.urandom(4), part


def where(part):
    return (part[0],)


def tuple_of(part):
    return (part,)


def odd_and_counted(part):
    return (part, 1) if part % 2 else None


def test_parts_are_dealt_out_evenly_and_are_few_tasks(cluster, monkeypatch):
    """19 parts in eight groups: each worker makes nine or ten, holds what it has made, and adds up what it holds."""
    sent, honest = [], Client.map
    monkeypatch.setattr(Client, "map", lambda *given, **more: sent.extend(given[2]) or honest(*given, **more))
    with partitions.place(2, cluster.scheduler_address) as there:
        held = Partitions(range(19), (), there).then(with_worker).kept()
        assert len(sent) == 2 * partitions.GROUPS
        made = held.each(tuple)
        assert [part for *_, part in made] == list(range(19))
        owners = [owner for owner, *_ in made]
        assert sorted(owners.count(worker) for worker in set(owners)) == [9, 10]
        assert len(sent) == 4 * partitions.GROUPS
        # Some of them, those that are not held as well, and in an order of their own.
        mixed = Partitions([*held.some(5).sources[::-1], *made[:3]], (), there)
        expected = [*(made[q * 19 // 5] for q in range(5))][::-1]
        assert mixed.each(tuple) == [*expected, *made[:3]]
        plain = Partitions(range(40), (), there)
        assert plain.each(tuple_of) == [(q,) for q in range(40)] and [len(some) for some in sent[-10:]] == [4] * 10
        plain = Partitions(range(19), (), there)
        assert plain.total(odd_and_counted) == [81, 9] == Partitions(range(19)).total(odd_and_counted)
        assert Partitions([0, 2], (), there).total(odd_and_counted) == [] == Partitions([], (), there).total(where)


def test_a_fault_crosses_the_wire(cluster, tmp_path):
    columns, capacity = awkward_pool(4, 1_000)
    columns["cpu"][700] = np.nan
    with pytest.raises(InstanceError, match=r"part-1.parquet: column 'cpu', row 200 is nan"):
        solve_partitions(write(tmp_path / "users", columns), capacity, dask=cluster.scheduler_address)


def test_a_frame_is_an_instance_too(cluster, tmp_path):
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    columns, capacity = awkward_pool(4, 3_000)
    frame = dataframe.from_pandas(pandas.DataFrame(columns), npartitions=5)
    found = solve_partitions(frame, capacity, output=tmp_path / "frame", dask=cluster.scheduler_address)
    expected = solve_partitions(write(tmp_path / "users", columns), capacity, jobs=1)
    np.testing.assert_allclose(answer(found.folder)["tasks"], answer(expected.folder)["tasks"], rtol=1e-12)
    with pytest.raises(InstanceError, match="give output, the folder to make"):
        solve_partitions(frame, capacity)
    few = frame[frame["cpu"] >= columns["cpu"].max()]
    with pytest.raises(InstanceError, match=r"partition \d+: has no rows: .* 'repartition'"):
        solve_partitions(few, capacity, output=tmp_path / "few", jobs=1)


def test_workers_that_see_other_files_are_told(cluster, users, tmp_path):
    def forget():
        os.chdir("/")

    with Client(cluster.scheduler_address) as client:
        client.run(forget)
    # Names are made absolute before they travel.
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        found = solve_partitions("users", users[1], output="here", dask=cluster.scheduler_address)
    finally:
        os.chdir(before)
    assert (tmp_path / "here" / "certificate.json").exists() and found.certificate.valid


def test_no_cluster_is_one_line(users, monkeypatch):
    monkeypatch.setattr("drfopt.base.parallel.PATIENCE", 1)
    with pytest.raises(SolverError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        solve_partitions(*users, dask="tcp://127.0.0.1:9")


@pytest.mark.usefixtures("hears_control_c")
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    columns, capacity = awkward_pool(4, 400_000, limited=False)
    users = write(tmp_path / "users", columns, files=40)
    room = "\n".join(f"{name} = {amount}" for name, amount in capacity.items())
    (tmp_path / "cluster.toml").write_text(f"[capacity]\n{room}\n")
    before = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, "-m", "drfopt", "solve", str(users), "--cluster", str(tmp_path / "cluster.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and {path.name for path in tmp_path.iterdir()} == before:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130 and "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == before
