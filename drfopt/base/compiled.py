"""Compiled loops over large tables for whoever has numba, ``pip install 'drfopt[fast]'``; all works without."""

from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["compiled"]

NUMBERS = 1 << 22
"""Numbers of a table from which on its loops are compiled: to load them takes a process half a second, once."""


def compiled(table: np.ndarray, by_rows: bool = False) -> Any:
    """Return the module of loops for a table of floats that is in memory column by column, or row by row.

    None where it is not, where the table is small, and where numba is not there.
    """
    there = table.flags.c_contiguous if by_rows else table.flags.f_contiguous
    return _loops() if table.size >= NUMBERS and there and table.dtype == np.float64 else None


@lru_cache(maxsize=1)
def _loops() -> Any:
    try:
        from . import loops
    except (ImportError, RuntimeError, AttributeError):
        # A numpy or a coverage that numba does not know, or no place to keep what is compiled.
        return None
    return loops
