"""The one line that a bad file raises."""

from collections.abc import Callable
from pathlib import Path

import pytest

from drfopt import cli
from drfopt.base.errors import InstanceError
from drfopt.model.instance import Instance


@pytest.fixture
def error_of() -> Callable[[str | Path], str]:
    """A function that loads a file and returns the error, one short line, that this raises."""

    def load(path: str | Path) -> str:
        with pytest.raises(InstanceError) as raised:
            Instance.load(path)
        message = str(raised.value)
        assert message.isprintable()
        assert len(message) < 1000
        return message

    return load


@pytest.fixture
def invoke(capsys) -> Callable[..., tuple[int, str, str]]:
    """A function that runs the command line in this process: exit status, and what was written where."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(list(arguments))
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run
