"""The accuracies that are promised, and the tolerances that several algorithms share, each with its reason.

A tolerance of one algorithm stands at the top of its module, with its reason; none stands in the midst of code, and
none has two homes.  The verifier, which imports nothing, has those of its own.
"""

__all__ = [
    "AT_LIMIT",
    "CAPACITY",
    "CONIC",
    "DUAL_POSITIVE",
    "EXACT",
    "FILE_ERROR",
    "FILE_TASKS",
    "FIRST_ORDER",
    "GAP",
    "LEVEL",
    "LEVEL_CEEI",
    "NOTICED",
    "RATIOS",
    "RIDGE",
    "ROUNDING",
    "SAME",
    "SMALLEST_FLOAT",
    "SOLVER_FEASIBILITY",
    "SPARE",
    "TINY",
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

CONIC = 1e-12
"""Gap and feasibility asked of Clarabel: at its default of 1e-8 tasks are off by 1e-5, and "optimal" all the same."""

SPARE = 2e-10
"""By how much who is finished, or has a floor, may fall in a later program, so that rounding makes no contradiction of
it: twice what the solver is asked for, a fifth of what a capacity may be exceeded by when it is made good."""

AT_LIMIT = 1e-12
"""Relative distance from a limit or a floor at which somebody counts as at it: a few roundings."""

NOTICED = 1e-6
"""Relative difference of tasks or levels that no error is which certified floats may have: a hundred times the largest
of those."""

FILE_ERROR = 1e-6
"""Relative error granted to a user's formulation: it is solved as it is written, in its own units."""

FILE_TASKS = 1e-4
"""Relative error granted to its tasks where a verdict rests on them: a conic solver may stop at a gap of 1e-8, and an
optimum is flat, so that tasks are off by the root of that."""

SAME = 1e-8
"""Relative distance that a solver's tolerance may leave between its level and the one its prices prove."""

ROUNDING = 1e-14
"""What sums of products near 1 may be off by: far more than they are."""

EXACT = 1e-15
"""Relative error of equations and sums at which there is nothing left to gain."""

RIDGE = 1e-14
"""Added to, or left of, a diagonal in units in which it is 1: what rounding leaves singular stays where it is."""

RATIOS = (1e-150, 1e150)
"""Demands by capacities that floats can work with: squares of them are floats."""

TINY = 1e-300
"""Stands for 0 where something is divided by it."""

SMALLEST_FLOAT = 5e-324
"""What is above 0 is at least this; two exact numbers that differ by less of themselves still differ."""
