"""Parts that change from pass to pass, and what passes over all of them add up to.

A change makes a new state of what was there before and what it is told, and nothing else: a state that is lost with its
worker is made again from the one before, back to where the part was read.  What has no room in memory lies in a file of
the worker that owns it.
"""

import mmap
import pickle
import secrets
import weakref
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from .errors import InstanceError
from .partitions import Partitions

__all__ = ["First", "Most", "OnDisk", "OnePart", "PartStates", "SummedParts", "Worst"]

ALIGNED = 64
"""Bytes to a multiple of which arrays in a file are moved."""


class Worst:
    """The largest of some numbers, and whose it is: what remains where two are added."""

    def __init__(self, value: float, *whose: Any):
        self.value, self.whose = value, whose

    def __add__(self, other: "Worst") -> "Worst":
        return other if other.value > self.value else self


class First:
    """What all parts know alike: one of them is enough."""

    def __init__(self, first: Any):
        self.first = first

    def __add__(self, other: "First") -> "First":
        return self


class Most:
    """The largest of numbers, place by place: what remains where two arrays of them are added."""

    def __init__(self, values: Any):
        self.values = np.asarray(values, dtype=float)

    def __add__(self, other: "Most") -> "Most":
        return Most(np.maximum(self.values, other.values))


class SummedParts(Protocol):
    """What lies in one part or in many; what a pass returns is added up over all of them."""

    def look(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of a pass that changes nothing: the name of a method and what it is told."""

    def change(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of a pass that changes its part."""


class OnePart:
    """What is in memory, and changes in place."""

    def __init__(self, part: Any):
        self.part = part

    def look(self, what: str, *told: Any) -> list[Any]:
        """Return what a method returns that changes nothing."""
        return list(getattr(self.part, what)(*told) or ())

    def change(self, what: str, *told: Any) -> list[Any]:
        """Return what a method returns that changes the part."""
        return self.look(what, *told)


class PartStates:
    """States of many parts, wherever these are.

    Parameters
    ----------
    parts : Partitions
        Of objects, or of such `OnDisk`; methods return tuples, or None where a part has nothing to say.
    """

    def __init__(self, parts: Partitions):
        self.parts = parts.kept()
        self._before: Partitions | None = None
        self._kept = False
        self.said = "partitions"

    def look(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of what a method returns that changes nothing."""
        return self.parts.total(_looked, what, told, what=self.said)

    def change(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of what a method returns that changes its part."""
        if not self._kept:
            self._before = None
        self._kept = False
        self.parts = self.parts.then(_changed, what, told).kept()
        return self.parts.total(_told, what=self.said)

    def keep(self) -> None:
        """Be ready to come back from the next change to how the parts are now."""
        self._before, self._kept = self.parts, True

    def back(self) -> None:
        """Come back to how they were."""
        self.parts = self.parts if self._before is None else self._before


def _looked(state: Any, what: str, told: tuple) -> Any:
    part = state.open() if isinstance(state, OnDisk) else state
    return getattr(part, what)(*told)


def _changed(state: Any, what: str, told: tuple) -> Any:
    on_disk = isinstance(state, OnDisk)
    part = state.open() if on_disk else deepcopy(state)
    part.told = getattr(part, what)(*told)
    return OnDisk(part, state.folder) if on_disk else part


def _told(state: Any) -> Any:
    return state.told


class OnDisk:
    """An object whose arrays are in a file, which goes when nobody holds it any more.

    Parameters
    ----------
    part : object
    folder : str
        Where the file is; a worker of Dask has a place of its own.
    """

    def __init__(self, part: Any, folder: str):
        buffers: list[pickle.PickleBuffer] = []
        self.folder, self.told = folder, getattr(part, "told", None)
        self.written = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
        self.path = Path(_place(folder), f".{secrets.token_hex(8)}.state")
        self.gone = weakref.finalize(self, _unlink, str(self.path))
        self.sizes = []
        try:
            with opened_for_writing(self.path) as file:
                for buffer in buffers:
                    raw = buffer.raw()
                    file.write(raw)
                    file.write(bytes(-raw.nbytes % ALIGNED))
                    self.sizes.append(raw.nbytes)
                file.write(bytes(ALIGNED))
        except OSError as error:
            self.gone()
            raise InstanceError(
                f"{self.path.parent}: no partition can be put there ({error.strerror or error}): make room, or start "
                "workers with more memory or another local directory"
            ) from None

    def open(self) -> Any:
        """Return the object; its arrays are read when they are looked at, and what is written to them is lost."""
        with self.path.open("rb") as file:
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        begin, buffers = 0, []
        for size in self.sizes:
            buffers.append(view[begin : begin + size])
            begin += size + -size % ALIGNED
        return pickle.loads(self.written, buffers=buffers)

    def __reduce__(self) -> tuple[Callable[..., "OnDisk"], tuple]:
        return OnDisk, (self.open(), self.folder)


def opened_for_writing(path: Path) -> BinaryIO:
    """Open a file."""
    return path.open("wb")


def _place(folder: str) -> str:
    """Return the folder of the worker that this is, if it is one and has any."""
    try:
        from distributed import get_worker

        return str(get_worker().local_directory or folder)
    except (ImportError, ValueError):
        return folder


def _unlink(path: str) -> None:
    Path(path).unlink(missing_ok=True)
