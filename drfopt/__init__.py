"""Exact fair division of a cluster, with a proof beside every answer.

    from drfopt import Instance, solve

    cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    print(solve(cluster, "drf"))

A name is looked up in its module when it is first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base.registry import lead

if TYPE_CHECKING:
    from .axioms.auditing import Audit, audit
    from .axioms.counterexamples.searching import Search, search
    from .axioms.counterexamples.space import Space
    from .base.errors import (
        CertificateError,
        DrfoptError,
        EngineError,
        FormulationError,
        InstanceError,
        PolicyError,
        SolverError,
        TimeLimitError,
    )
    from .base.progress import show_progress
    from .io.documents.published import schema
    from .io.readers.asking import read
    from .io.readers.conversion import Conversion
    from .io.writers.exports import export
    from .model.allocation import Allocation, Portion
    from .model.certificate import Certificate
    from .model.instance import Instance
    from .model.machine import Machine
    from .model.organisation import Group, Organisation
    from .model.users import TaskType
    from .planning.before_and_after import WhatIf, what_if
    from .planning.explaining.explanation import Explanation, explain
    from .planning.pricing.price_table import Prices
    from .planning.pricing.unit_price import price
    from .planning.rebalancing.rebalancing import Rebalancing, rebalance
    from .planning.sizing.purchase import Purchase, size
    from .planning.sweeping import Sweep, sweep
    from .reporting.pages import Page, report
    from .simulation.run import Run, simulate
    from .simulation.scenario import Scenario
    from .simulation.trials import Trials, simulate_each
    from .solving.allocating import solve
    from .solving.batches.batch import Solutions, solve_many
    from .solving.batches.named import PoolSolution
    from .solving.comparing import Comparison, compare
    from .solving.crosschecking import CrossCheck, crosscheck
    from .solving.partitioned import PartitionedAllocation, solve_partitions
    from .solving.scheduling import Schedule, schedule
    from .solving.verifying import Verification, verify

__all__ = [
    "Allocation",
    "Audit",
    "Certificate",
    "CertificateError",
    "Comparison",
    "Conversion",
    "CrossCheck",
    "DrfoptError",
    "EngineError",
    "Explanation",
    "FormulationError",
    "Group",
    "Instance",
    "InstanceError",
    "Machine",
    "Organisation",
    "Page",
    "PartitionedAllocation",
    "PolicyError",
    "PoolSolution",
    "Portion",
    "Prices",
    "Purchase",
    "Rebalancing",
    "Run",
    "Scenario",
    "Schedule",
    "Search",
    "Solutions",
    "SolverError",
    "Space",
    "Sweep",
    "TaskType",
    "TimeLimitError",
    "Trials",
    "Verification",
    "WhatIf",
    "audit",
    "compare",
    "crosscheck",
    "explain",
    "export",
    "price",
    "read",
    "rebalance",
    "report",
    "schedule",
    "schema",
    "search",
    "show_progress",
    "simulate",
    "simulate_each",
    "size",
    "solve",
    "solve_many",
    "solve_partitions",
    "sweep",
    "verify",
    "what_if",
]

__version__ = "0.1.0"

lead("instance files", "drfopt.io.instance_files")
lead("scenario files", "drfopt.simulation.scenario_files")
lead("answers", "drfopt.solving.answers")

_HOMES = {
    "Allocation": "model.allocation",
    "Audit": "axioms.auditing",
    "Certificate": "model.certificate",
    "Comparison": "solving.comparing",
    "Conversion": "io.readers.conversion",
    "CrossCheck": "solving.crosschecking",
    "Explanation": "planning.explaining.explanation",
    "Group": "model.organisation",
    "Instance": "model.instance",
    "Machine": "model.machine",
    "Organisation": "model.organisation",
    "Page": "reporting.pages",
    "PartitionedAllocation": "solving.partitioned",
    "PoolSolution": "solving.batches.batch",
    "Portion": "model.allocation",
    "Prices": "planning.pricing.price_table",
    "Purchase": "planning.sizing.purchase",
    "Rebalancing": "planning.rebalancing.rebalancing",
    "Run": "simulation.run",
    "Scenario": "simulation.scenario",
    "Schedule": "solving.scheduling",
    "Search": "axioms.counterexamples.searching",
    "Solutions": "solving.batches.batch",
    "Space": "axioms.counterexamples.space",
    "Sweep": "planning.sweeping",
    "TaskType": "model.users",
    "Trials": "simulation.trials",
    "Verification": "solving.verifying",
    "WhatIf": "planning.before_and_after",
    "audit": "axioms.auditing",
    "compare": "solving.comparing",
    "crosscheck": "solving.crosschecking",
    "explain": "planning.explaining.explanation",
    "export": "io.writers.exports",
    "price": "planning.pricing.unit_price",
    "read": "io.readers.asking",
    "rebalance": "planning.rebalancing.rebalancing",
    "report": "reporting.pages",
    "schedule": "solving.scheduling",
    "schema": "io.documents.published",
    "search": "axioms.counterexamples.searching",
    "show_progress": "base.progress",
    "simulate": "simulation.run",
    "simulate_each": "simulation.trials",
    "size": "planning.sizing.purchase",
    "solve": "solving.allocating",
    "solve_many": "solving.batches.batch",
    "solve_partitions": "solving.partitioned",
    "sweep": "planning.sweeping",
    "verify": "solving.verifying",
    "what_if": "planning.before_and_after",
}
"""The module of each public name; all others are errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES.get(name, 'base.errors')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
