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
    from .axioms.auditing import audit
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
    from .model.allocation import Allocation, Certificate
    from .model.instance import Instance
    from .model.machine import Machine
    from .model.organisation import Group, Organisation
    from .model.task_types import TaskType
    from .solving.allocating import solve
    from .solving.batches.batch import solve_many
    from .solving.comparing import compare
    from .solving.crosschecking import crosscheck
    from .solving.scheduling import schedule

__all__ = [
    "Allocation",
    "Certificate",
    "CertificateError",
    "DrfoptError",
    "EngineError",
    "FormulationError",
    "Group",
    "Instance",
    "InstanceError",
    "Machine",
    "Organisation",
    "PolicyError",
    "SolverError",
    "TaskType",
    "TimeLimitError",
    "audit",
    "compare",
    "crosscheck",
    "schedule",
    "solve",
    "solve_many",
]

__version__ = "0.1.0"

lead("instance files", "drfopt.io.instance_files")
lead("scenario files", "drfopt.simulation.scenario_files")

_HOMES = {
    "Allocation": "model.allocation",
    "Certificate": "model.allocation",
    "Group": "model.organisation",
    "Instance": "model.instance",
    "Machine": "model.machine",
    "Organisation": "model.organisation",
    "TaskType": "model.task_types",
    "audit": "axioms.auditing",
    "compare": "solving.comparing",
    "crosscheck": "solving.crosschecking",
    "schedule": "solving.scheduling",
    "solve": "solving.allocating",
    "solve_many": "solving.batches.batch",
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
