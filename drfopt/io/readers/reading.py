"""Read a cluster's own files into an `Instance`, whatever their format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...base.errors import InstanceError, checked_flags, suggestion
from ...base.numbers.quantities import amount
from ..text.files import read_file
from .asking import machines_in, saturated
from .assembly import assemble
from .conversion import Contents, Conversion, ReadOptions, places
from .formats import FORMATS

__all__ = ["read"]


def read(
    format: str,
    files: Sequence[str | Path] | str | Path,
    user_by: str | None = None,
    *,
    saturate: bool = False,
    shape: Mapping[str, Any] | None = None,
    machines: str | Path | None = None,
) -> Conversion:
    """Read a cluster's own files: the instance, what was not used, and what runs where today.

    Parameters
    ----------
    format : str
        The name of one of `FORMATS` (``drfopt formats`` lists them): ``kubernetes``, ``slurm``, ``yarn``, ``csv`` ...
    files : path, or several
        In any order: what a file holds is found out from it; ``-`` is standard input.
    user_by : str, optional
        What makes a user, one of the format's `users`.
    saturate : bool
        Whether queues without tasks want everything: of each kind of machines tasks of their mean shape.
    shape : mapping from resource to number or quantity, optional
        What a task of such a queue needs instead, ``{"cpu": 1, "memory": "4Gi"}``.
    machines : path, optional
        The cluster: an instance file, of which only the machines or the pool are read, a table of machines as of
        format ``csv``, or one more file of the format.

    Returns
    -------
    Conversion
        Its ``instance``, ``notes`` on what was not used or was assumed, and ``current()``, what runs where today.

    Raises
    ------
    InstanceError
        On an unknown format, or files that are not what the format says.

    Examples
    --------
    >>> found = read("csv", ["machines.csv", "tasks.csv"])  # doctest: +SKIP
    >>> found.instance, [str(note) for note in found.notes]  # doctest: +SKIP
    """
    checked_flags(saturate=saturate)
    known = FORMATS.named(format)
    if user_by is not None and user_by.partition(":")[0] not in {user.partition(":")[0] for user in known.users}:
        ways = f"use {', '.join(known.users)}" if known.users else "leave it out"
        raise InstanceError(f"{format}: users by {user_by!r}: {ways}{suggestion(user_by, known.users)}")
    for option, given, can in (("--saturate", saturate, known.queues), ("--machines", machines, known.machines)):
        if given and not can:
            some = ", ".join(row.name for row in FORMATS if (row.queues if option == "--saturate" else row.machines))
            raise InstanceError(f"{format}: has no use for {option}: leave it out ({some} have)")
    if shape and not saturate:
        raise InstanceError(f"{format}: --shape is of tasks that --saturate makes: say that too, or leave it out")
    paths = [files] if isinstance(files, str | Path) else list(files)
    if not paths:
        raise InstanceError(f"{format}: no files are given: name {known.files}")
    asked = ReadOptions(user_by, saturate, {r: amount(value, f"--shape: {r}") for r, value in (shape or {}).items()})
    if shape and not any(asked.shape.values()):
        raise InstanceError("--shape: the task needs nothing: give it some of a resource, such as cpu=1,memory=4Gi")
    opened = [read_file(path) for path in paths]
    if machines is not None:
        file = read_file(machines)
        nodes, pool = machines_in(file)
        asked = replace(asked, machines=nodes, pool=pool)
        if not asked.given:
            opened.append(file)  # in the format's own words
    found: Contents | Conversion = FORMATS.implementation(known)(opened, asked)
    if isinstance(found, Conversion):
        return found
    found = replace(found, place=places(opened))
    return assemble(saturated(found) if saturate else found)
