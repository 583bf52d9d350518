"""Small pools in `Fraction`s, degenerate on purpose: ties, identical users, zero demands, limits of 0."""

from fractions import Fraction as F

from hypothesis import strategies as st

from drfopt.model.instance import Instance

AMOUNTS = st.sampled_from([F(0), F(0), F(1), F(1), F(2), F(3), F(1, 2), F(7, 3)])
ROOMS = st.sampled_from([F(0), F(1), F(1), F(2), F(6), F(7, 2)])
WEIGHTS = st.sampled_from([F(1), F(1), F(2), F(1, 3)])
LIMITS = st.sampled_from([None, None, None, F(0), F(1, 2), F(1), F(5, 2)])


@st.composite
def demand_rows(draw, n: int, m: int) -> list[list[F]]:
    """Return n rows of m, drawn from at most three different ones, so that identical users are common."""
    kinds = draw(st.lists(st.lists(AMOUNTS, min_size=m, max_size=m).filter(any), min_size=1, max_size=3))
    return [draw(st.sampled_from(kinds)) for _ in range(n)]


@st.composite
def pools(draw) -> Instance:
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    return Instance(
        draw(demand_rows(n, m)),
        draw(st.lists(ROOMS, min_size=m, max_size=m)),
        weights=draw(st.lists(WEIGHTS, min_size=n, max_size=n)),
        max_tasks=draw(st.lists(LIMITS, min_size=n, max_size=n)),
    )
