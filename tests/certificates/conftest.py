import pytest

from drfopt.model.instance import Instance


@pytest.fixture(scope="session")
def paper() -> Instance:
    """The instance of NSDI 2011, section 4.1."""
    return Instance.library("nsdi2011")
