"""Section 7.1 of the DRF paper: two jobs on 48 machines whose demands change every two minutes (Figure 8).

Given by the paper: the machines, and what a task of each job needs in each of three phases.  Assumed: how long tasks
run (5 to 15 seconds, so that a phase is some twelve tasks long), and that either job has tasks without end.

How Algorithm 1 treats a user whose next task fits nowhere decides what is seen.  As printed, nobody is served before
her (the rule ``drf-stop``), and the two jobs are level in the second phase, as in the paper's figure.  Where she is
passed over (``drf``), the small tasks of the other job take every gap before it is large enough for hers.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 7.1.
"""

from typing import Any

import numpy as np

from ..run import Run
from ..scenario import Scenario
from ..trials import Trials, simulate_each

__all__ = ["PHASES", "RULES", "phase_shares", "run_rules"]

RULES = ("drf-stop", "drf")
"""Algorithm 1 as printed, and passing over whoever does not fit."""

PHASES = ((0.0, 120.0), (120.0, 240.0), (240.0, 360.0))
"""Seconds from which and up to which demands are the same."""

SETTLED = 20.0
"""Seconds after which the last task of the phase before has ended: tasks run 15 at most."""


def run_rules(seed: int = 0, replications: int = 1, **how: Any) -> Trials:
    """Return the runs of the experiment under either reading of Algorithm 1."""
    return simulate_each(
        Scenario.library("sec71"), RULES, seed=seed, replications=replications, **{"every": 1.0, **how}
    )


def phase_shares(run: Run) -> np.ndarray:
    """Return the mean dominant share of each job in each phase, once it has settled, (phases, jobs)."""
    times, shares = run.samples.times, run.samples.dominant_shares
    return np.array([shares[(times >= begins + SETTLED) & (times < ends)].mean(axis=0) for begins, ends in PHASES])
