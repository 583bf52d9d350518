"""Scenarios from files and from instances: what `Scenario.load`, `Scenario.library` and `Scenario.of` open."""

from .of_instance import scenario_of
from .packaged import load as library
from .reading import load

__all__ = ["library", "load", "scenario_of"]
