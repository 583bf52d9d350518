"""Exact fair division of a cluster, with a proof beside every answer.

    from drfopt import Instance, solve

    cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    print(solve(cluster, "drf"))

A name is looked up in its module when it is first used, so that importing the package costs nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .allocation import Allocation, Certificate
    from .audit import audit
    from .batch import solve_many
    from .compare import compare
    from .crosscheck import crosscheck
    from .errors import (
        CertificateError,
        DrfoptError,
        EngineError,
        FormulationError,
        InstanceError,
        PolicyError,
        SolverError,
        TimeLimitError,
    )
    from .instance import Instance
    from .machine import Machine
    from .organisation import Group, Organisation
    from .schedule import schedule
    from .solve import solve
    from .task_types import TaskType

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

_HOMES = {
    "Allocation": "allocation",
    "Certificate": "allocation",
    "Group": "organisation",
    "Instance": "instance",
    "Machine": "machine",
    "Organisation": "organisation",
    "TaskType": "task_types",
    "audit": "audit",
    "compare": "compare",
    "crosscheck": "crosscheck",
    "schedule": "schedule",
    "solve": "solve",
    "solve_many": "batch",
}
"""The module of each public name; all others are errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES.get(name, 'errors')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Package(ModuleType):
    """The type of this package: ``drfopt.solve`` is the function, whoever imported the module ``drfopt.solve``.

    Importing a submodule binds it to its name in the package.  Where a function of the same name is public, the
    function is bound instead; the module is still there for ``from drfopt.solve import solve``.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in __all__ and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
