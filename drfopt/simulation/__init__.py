"""Schedulers simulated: machines, users with jobs of tasks that end, a rule that decides, and what becomes of it."""

from .draws import Draw
from .pace import Slowdown
from .rule import Rule
from .run import Run, simulate
from .scenario import Job, Outage, Scenario, Stage, User

__all__ = ["Draw", "Job", "Outage", "Rule", "Run", "Scenario", "Slowdown", "Stage", "User", "simulate"]
