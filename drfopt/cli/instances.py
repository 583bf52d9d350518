"""From what the user typed for INSTANCE to the instance."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InstanceError, suggestion
from .working import working

if TYPE_CHECKING:
    from ..model.instance import Instance

__all__ = ["read", "title"]

NEIGHBOURS = 1000
"""Files of a folder that are looked at for the nearest name."""

SUFFIXES = (".toml", ".json", ".yaml", ".yml")


def read(text: str) -> "Instance":
    """Return the instance: ``-`` is standard input, a path that exists wins over a library name.

    Raises
    ------
    InstanceError
        When it is neither, with the nearest name, or when the file is at fault.
    """
    from ..model.instance import Instance

    if text == "-":
        return Instance.load(text)
    if text and Path(text).exists():
        with working(f"reading {text}"):
            return Instance.load(text)
    from ..io.library import names

    known = tuple(names())
    if text in known:
        return Instance.library(text)
    near = suggestion(text, (*known, *_neighbours(text)))
    raise InstanceError(f"{text!r} is neither a file nor a library instance{near} (see 'drfopt library')")


def title(instance: "Instance", text: str) -> str:
    """Return the instance's name, or the stem of its file when it has none."""
    return instance.name or ("stdin" if text == "-" else Path(text).stem)


def _neighbours(text: str) -> list[str]:
    path = Path(text)
    try:
        beside = [entry for entry, _ in zip(path.parent.iterdir(), range(NEIGHBOURS), strict=False)]
    except OSError:
        return []
    return [str(entry) for entry in beside if entry.is_file() and entry.suffix in SUFFIXES]
