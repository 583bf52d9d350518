"""Named scenarios, shipped as files in the library's folder ``scenarios``."""

from importlib.resources import files

from ..io import library
from ..io.library.packaged import Shelf
from . import reading
from .scenario import Scenario

__all__ = ["load", "names", "template", "text"]

SHELF = Shelf("scenario", files(library) / "scenarios")

names, text = SHELF.names, SHELF.text
"""The names, in alphabetical order, and the file of one."""


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
    return reading.loads(text(name), "toml", SHELF.title(name))
