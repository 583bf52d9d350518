"""Which values of Python's and NumPy's are real numbers; without NumPy, which a command's help must not wait for."""

from decimal import Decimal
from numbers import Real
from typing import Any

__all__ = ["is_real"]


def is_real(value: Any) -> bool:
    """Say whether a value is a real number: one of Python's or NumPy's, or a `Decimal`, and neither a flag nor NaN."""
    if isinstance(value, Decimal):
        return not value.is_nan()
    return isinstance(value, Real) and not isinstance(value, bool) and bool(value == value)  # NaN is not
