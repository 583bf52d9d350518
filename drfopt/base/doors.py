"""Doors of upper rooms that a class below offers as methods: `Instance.load` reads files, and the model knows no file.

The package's face says once where each door leads (`lead`), before anything else of the package is imported; whoever
is asked for it opens it when it is needed (`door`).  So a class offers what its users expect of it, and no module
imports from above.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["door", "lead"]

_LEADS: dict[str, str] = {}


def lead(name: str, module: str) -> None:
    """Say which module is behind the door of that name."""
    _LEADS[name] = module


def door(name: str) -> ModuleType:
    """Return the module behind the door of that name, imported now."""
    return import_module(_LEADS[name])
