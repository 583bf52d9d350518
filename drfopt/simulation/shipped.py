"""Named scenarios, shipped as files in the library's folder ``scenarios``."""

from functools import cache
from importlib.resources import files

from .. import library
from ..errors import InstanceError, suggestion
from . import reading
from .scenario import Scenario

__all__ = ["load", "names", "template", "text"]

FOLDER = "scenarios"
SUFFIX = ".toml"


@cache
def names() -> tuple[str, ...]:
    """Return the names of the shipped scenarios, in alphabetical order."""
    entries = (entry.name for entry in (files(library) / FOLDER).iterdir())
    return tuple(sorted(entry.removesuffix(SUFFIX) for entry in entries if entry.endswith(SUFFIX)))


def text(name: str) -> str:
    """Return the file of a shipped scenario.

    Raises
    ------
    InstanceError
        When there is none of that name.
    """
    if name not in names():
        near = suggestion(str(name), names()) or "."
        raise InstanceError(f"there is no library scenario {name!r}{near} The library has {', '.join(names())}")
    return (files(library) / FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def template() -> str:
    """Return a scenario file with every key explained, which can be simulated as it is."""
    return files(__package__).joinpath("template.toml").read_text(encoding="utf-8")


def load(name: str) -> Scenario:
    """Return a shipped scenario.

    Raises
    ------
    InstanceError
        When there is none of that name.
    """
    return reading.loads(text(name), "toml", f"library scenario {name!r}")
