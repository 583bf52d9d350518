"""Readers: a cluster's own files into an `Instance`; `FORMATS` lists what ``drfopt convert`` takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InstanceError, suggestion

if TYPE_CHECKING:
    from ..instance import Instance

__all__ = ["FORMATS", "Format", "convert"]


@dataclass(frozen=True)
class Format:
    """A format of files that a cluster already has.

    Parameters
    ----------
    name : str
        What ``--from`` calls it.
    summary : str
        One line on what it is.
    files : str
        The files it is read from, as a usage line shows them.
    read : callable from paths to Instance
    """

    name: str
    summary: str
    files: str
    read: Callable[[Sequence[str | Path]], "Instance"]


def _openb(paths: Sequence[str | Path]) -> "Instance":
    from . import openb

    return openb.read(paths)


FORMATS = (
    Format(
        "openb",
        "node and pod lists of the openb GPU cluster traces (Weng et al., USENIX ATC 2023)",
        "NODES.csv PODS.csv",
        _openb,
    ),
)


def convert(format_name: str, paths: Sequence[str | Path]) -> "Instance":
    """Read a cluster's own files.

    Parameters
    ----------
    format_name : str
        The name of one of `FORMATS`.
    paths : sequence of str or Path

    Raises
    ------
    InstanceError
        On an unknown format, or files that are not what the format says.
    """
    for known in FORMATS:
        if known.name == format_name:
            return known.read(paths)
    names = [known.name for known in FORMATS]
    raise InstanceError(f"unknown format {format_name!r}: use {', '.join(names)}{suggestion(str(format_name), names)}")
