"""``drfopt solve FOLDER``: users in Parquet on the command line, its files, its one-line errors."""

import json

import pyarrow
import pytest
from pyarrow import parquet


@pytest.fixture
def users(tmp_path):
    folder = tmp_path / "users"
    folder.mkdir()
    parquet.write_table(pyarrow.table({"cpu": [1, 3], "memory": [4, 1]}), folder / "a.parquet")
    (tmp_path / "cluster.toml").write_text("[capacity]\ncpu = 9\nmemory = 18\n")
    return folder


def test_a_folder_is_divided(drfopt, users):
    ran = drfopt("solve", users, "--cluster", users.parent / "cluster.toml", "--json")
    assert (ran.status, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert found["schema"] == "drfopt partitioned-allocation 1"
    assert found["certificate"]["valid"] and found["users"] == 2
    answer = users.parent / "users-drf"
    assert found["folder"] == str(answer)
    written = json.loads((answer / "certificate.json").read_text())
    assert found.pop("version") and written == found
    assert parquet.read_table(answer / "a.parquet")["tasks"].to_pylist() == pytest.approx([3, 2], rel=1e-12)
    again = drfopt("solve", users, "--cluster", users.parent / "cluster.toml")
    assert (again.status, again.out) == (2, "")
    assert again.err == f"error: {answer} exists already: remove it, or name another folder for the answer\n"


@pytest.mark.parametrize("named", ["users/", "users/."])
def test_the_answer_lies_beside_the_users_however_they_are_written(drfopt, users, named):
    ran = drfopt(
        "solve", f"{users.parent}/{named}", "--cluster", users.parent / "cluster.toml", "--json", "--jobs", "1"
    )
    assert json.loads(ran.out)["folder"] == str(users.parent / "users-drf")


def test_the_table_has_a_row_a_resource(drfopt, users):
    cluster, answer = users.parent / "cluster.toml", users.parent / "answer"
    ran = drfopt("solve", users, "--cluster", cluster, "-p", "asset", "--answer", answer, "--jobs", "1")
    assert ran.status == 0
    assert "asset, by saturation" in ran.out and "2 users in 1 partition; levels proven to" in ran.out
    assert (answer / "a.parquet").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("{users}",), "with users only: say --cluster FILE"),
        (
            ("nsdi2011", "--cluster", "{cluster}"),
            "--cluster, --answer and --few-classes go with a folder of Parquet files",
        ),
        (("{users}", "--cluster", "{cluster}", "--integer"), "--integer is not built for users in Parquet"),
        (("{users}", "--cluster", "{cluster}", "-p", "utilitarian"), "utilitarian is not built for users in tables"),
        (("{users}", "--cluster", "{users}/a.parquet"), "a.parquet"),
        (("{users}", "--cluster", "none.toml"), "none.toml: there is no such file"),
    ],
)
def test_what_cannot_be_is_one_line(drfopt, users, arguments, message):
    given = [text.format(users=users, cluster=users.parent / "cluster.toml") for text in arguments]
    ran = drfopt("solve", *given)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err and ran.err.count("\n") == 1
    assert {path.name for path in users.parent.iterdir()} == {"users", "cluster.toml"}
