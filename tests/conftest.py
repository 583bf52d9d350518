"""What all tests share: hypothesis without chance, and the folder of the public traces."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("drfopt", derandomize=True, deadline=None)
settings.load_profile("drfopt")

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the traces, from DRFOPT_DATA; absent it is a reason to skip, and under CI a failure."""
    folder = Path(os.environ.get("DRFOPT_DATA") or REPOSITORY / "../shared/data").resolve()
    if not folder.is_dir():
        reason = f"the folder of traces {folder} is missing: set DRFOPT_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
