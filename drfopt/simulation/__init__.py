"""Schedulers simulated: machines, users with jobs of tasks that end, a rule that decides, and what becomes of it."""

from .draws import Draw
from .pace import Slowdown
from .preemption import Preemption
from .run import Run, simulate
from .scenario import Job, Outage, Scenario, Stage, User
from .trials import Trials, simulate_each
from .turns import Rule

__all__ = [
    "Draw",
    "Job",
    "Outage",
    "Preemption",
    "Rule",
    "Run",
    "Scenario",
    "Slowdown",
    "Stage",
    "Trials",
    "User",
    "simulate",
    "simulate_each",
]
