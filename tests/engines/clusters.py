"""Random clusters for engines, degenerate on purpose: ties, identical users, zero demands, limits of 0."""

import numpy as np
from hypothesis import strategies as st

from drfopt.model.instance import Instance
from drfopt.model.machine import Machine

AMOUNTS = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5])
ROOMS = st.sampled_from([0.0, 1.0, 2.0, 4.0, 7.0])
WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 0.5])
LIMITS = st.sampled_from([np.inf, np.inf, 0.0, 0.5, 1.0, 3.0])


@st.composite
def rows(draw, n: int, m: int) -> np.ndarray:
    kinds = draw(st.lists(st.lists(AMOUNTS, min_size=m, max_size=m).filter(any), min_size=1, max_size=3))
    return np.array([draw(st.sampled_from(kinds)) for _ in range(n)])


@st.composite
def clusters(draw, most_users: int = 6) -> Instance:
    """Return machines with counts and eligibility."""
    n, m, k = draw(st.integers(1, most_users)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    machines = [
        Machine(f"c{i}", np.array(draw(st.lists(ROOMS, min_size=m, max_size=m))), draw(st.integers(1, 3)))
        for i in range(k)
    ]
    eligible = np.array(draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=n, max_size=n)))
    return Instance(draw(rows(n, m)), machines=machines, eligible=eligible, **draw(wishes(n)))


@st.composite
def pools(draw, most_users: int = 8) -> Instance:
    n, m = draw(st.integers(1, most_users)), draw(st.integers(1, 4))
    return Instance(draw(rows(n, m)), np.array(draw(st.lists(ROOMS, min_size=m, max_size=m))), **draw(wishes(n)))


@st.composite
def wishes(draw, n: int) -> dict:
    return {
        "weights": np.array(draw(st.lists(WEIGHTS, min_size=n, max_size=n))),
        "max_tasks": np.array(draw(st.lists(LIMITS, min_size=n, max_size=n))),
    }
