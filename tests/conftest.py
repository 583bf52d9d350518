"""What all tests share: hypothesis without chance, the cores, and the folder of the public traces."""

import gc
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import joblib
import pytest
from hypothesis import settings

settings.register_profile("drfopt", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("drfopt")

if (found := find_spec("coverage")) and found.origin is None:
    # numba looks for the package of that name, and would take the folder of tests for it.
    sys.modules["coverage"] = None

REPOSITORY = Path(__file__).resolve().parent.parent

WORKERS = 8
"""At most: each takes up to a gigabyte."""


def pytest_addoption(parser):
    parser.addoption("--every-case", action="store_true", help="slow tests: all of their cases, not a sample of them")


@pytest.fixture
def some(request):
    """Return how many of the cases of a slow test are run: a tenth, or with ``--every-case`` all."""
    return (lambda cases: cases) if request.config.getoption("--every-case") else (lambda cases: cases // 10)


@pytest.fixture
def hears_control_c():
    """SIGINT heard here and in every child, though a shell's background job, and what it starts, ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Spread the suite over the cores, if pytest-xdist is there; what is named runs here, where a debugger reaches.

    Not ``-n auto`` in the settings: that counts no hyperthreads, costs each single test two starts, and
    cannot be without the plugin.
    """
    config.option.all_of_it = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if hasattr(config, "workerinput"):
        return
    ours = getattr(config.option, "numprocesses", 0) is None and config.option.dist == "no"
    if ours and config.option.all_of_it and not config.option.usepdb:
        config.option.numprocesses, config.option.dist = min(joblib.cpu_count(), WORKERS), "worksteal"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave about one case in so many of a test marked ``sampled`` to the ordinary run; of the others a third is slow.

    Chosen by a checksum of its name: every k-th would be the same value of a parameter that has k of them.  Those left
    are for ``--every-case``, and for who names the file.
    """
    left = set()
    for item in items:
        mark = item.get_closest_marker("sampled")
        turn, ordinary = divmod(crc32(item.nodeid.encode()), mark.args[0]) if mark else (0, 0)
        if ordinary:
            item.add_marker(pytest.mark.slow)
            if turn % 3 and config.option.all_of_it and not config.option.every_case:
                left.add(item)
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the traces that DRFOPT_DATA names; without one tests are skipped, a wrong one fails under CI."""
    named = os.environ.get("DRFOPT_DATA")
    if not named:
        pytest.skip("no folder of traces: set DRFOPT_DATA")
    folder = Path(named).resolve()
    if not folder.is_dir():
        reason = f"the folder of traces {folder} is missing: set DRFOPT_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without looking for garbage, and leave what stays to the end out of every later search for it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
