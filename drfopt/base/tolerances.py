"""The accuracies that are promised, and those that all certificates and linear programs share, each with its reason.

A constant of one algorithm stands at the top of its module.
"""

__all__ = [
    "CAPACITY",
    "DUAL_POSITIVE",
    "FIRST_ORDER",
    "GAP",
    "LEVEL",
    "LEVEL_CEEI",
    "SOLVER_FEASIBILITY",
]

CAPACITY = 1e-9
"""No capacity may be exceeded by more than this fraction of it: far above rounding, far below any real task."""

LEVEL = 1e-9
"""Relative error a certificate may leave in the level of a continuous leximin."""

LEVEL_CEEI = 1e-8
"""Relative error of levels allowed to the Nash product and alpha fairness, whose optimum is irrational."""

GAP = 1e-9
"""Largest duality gap, per unit of weight; a gap of e bounds level errors by sqrt(e) only: not enough alone."""

FIRST_ORDER = 1e-9
"""Largest relative error of a user's first-order condition and of the clearing of a priced resource."""

DUAL_POSITIVE = 1e-7
"""Smallest price, as a fraction of the largest, that counts in the proof of a round: a thousand times what the
solver's feasibility tolerance lets a zero price drift; whom only smaller ones hold is finished by a later program."""

SOLVER_FEASIBILITY = 1e-10
"""Primal and dual feasibility asked of HiGHS, the tightest it takes; rows and levels are scaled near 1."""
