"""Linear programs for HiGHS from rows of terms, as counting programs and their refutations write them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["program"]


def program(
    cost: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    rows: Sequence[tuple[float, float, Mapping[int, float]]],
) -> Any:
    """Return the `HighsLp` of columns (n,) between bounds and of rows ``low <= sum of factor * column <= high``."""
    import highspy

    starts: list[int] = [0]
    index: list[int] = []
    values: list[float] = []
    for _, _, terms in rows:
        index.extend(terms)
        values.extend(terms.values())
        starts.append(len(index))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(low), len(rows)
    model.col_cost_, model.col_lower_, model.col_upper_ = (np.array(v, dtype=float) for v in (cost, low, high))
    model.row_lower_ = np.array([least for least, _, _ in rows], dtype=float)
    model.row_upper_ = np.array([most for _, most, _ in rows], dtype=float)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array(starts, dtype=np.int32)
    model.a_matrix_.index_ = np.array(index, dtype=np.int32)
    model.a_matrix_.value_ = np.array(values, dtype=np.float64)
    return model
