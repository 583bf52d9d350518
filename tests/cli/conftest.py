from dataclasses import dataclass

import pytest

from drfopt.cli import main

TWO_USERS = """\
[capacity]
cpu = 9
memory = 18

[[users]]
name = "A"
demand = { cpu = 1, memory = 4 }

[[users]]
name = "B"
demand = { cpu = 3, memory = 1 }
"""


@dataclass(frozen=True)
class Ran:
    """What one run of the command line left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def drfopt(capsys):
    """Run the command line in this process."""

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(end.value.code or 0, out, err)

    return run


@pytest.fixture
def cluster(tmp_path):
    """The example of NSDI 2011, section 4.1, as a file without a name."""
    path = tmp_path / "cluster.toml"
    path.write_text(TWO_USERS)
    return path


@pytest.fixture
def refused():
    """Check that a run was refused as it should be: one line, status 2, nothing on standard output."""

    def check(ran, *words):
        assert ran.status == 2, ran
        assert ran.out == ""
        assert ran.err.startswith("error: ")
        assert ran.err.count("\n") == 1
        assert ran.err.endswith("\n")
        for word in words:
            assert word in ran.err

    return check
