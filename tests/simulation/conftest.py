import pytest

from drfopt.simulation import Job, Scenario, Stage, User


@pytest.fixture
def two_users() -> Scenario:
    """The paper's example with tasks of ten seconds, twelve of each user."""
    a = User("A", Job(Stage({"cpu": 1, "memory": 4}, tasks=12, duration=10)))
    b = User("B", Job(Stage({"cpu": 3, "memory": 1}, tasks=12, duration=10)))
    return Scenario({"cpu": 9, "memory": 18}, (a, b))
