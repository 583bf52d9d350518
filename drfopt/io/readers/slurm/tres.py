"""Slurm's ways to write amounts, sets of hosts and sets of array jobs."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ....base.errors import InstanceError
from ....base.numbers.quantities import only_digits, parse
from ...text.files import failure, shown

__all__ = ["PLAIN", "array_size", "gres", "hosts", "memory_of", "read_count", "tres"]

SCALES = {"": Fraction(1)} | {unit: Fraction(1024) ** power for power, unit in enumerate("KMGTPE", start=-1)}
"""MiB in a unit of memory; the unit that is not written is M."""

COUNTS = {"": Fraction(1)} | {unit: Fraction(1024) ** power for power, unit in enumerate("KMGTPE", start=1)}

AMOUNT = re.compile(r"(?P<digits>[0-9.]{1,40})(?P<unit>[KMGTPE]?)[nc]?", re.IGNORECASE)
PLAIN = ("billing", "node", "energy", "pages", "vmem")
"""Entries that are no resources of a node to divide."""

MOST_HOSTS = 10**6
"""Hosts that one expression may stand for; beyond it is a mistake, and would fill the memory."""

RANGES = re.compile(r"\[([^\]]*)\]")


@lru_cache(maxsize=1 << 14)
def _read(digits: str) -> Fraction:
    """Return a number; the jobs of a cluster ask for few different ones."""
    return parse(digits)


def read_count(text: str) -> Fraction | None:
    """Return a count as commands print it, ``2K`` for 2048; None where it is none."""
    return _in_units(text, COUNTS)


def _in_units(text: str, units: Mapping[str, Fraction]) -> Fraction | None:
    match = AMOUNT.fullmatch(text)
    try:
        return _read(match["digits"]) * units[match["unit"].upper()] if match else None
    except InstanceError:
        return None


def tres(text: str, place: str) -> dict[str, Fraction]:
    """Return the amounts in ``cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=64G``, each by its name there.

    Raises
    ------
    InstanceError
        When an entry is no name and amount.
    """
    found: dict[str, Fraction] = {}
    for entry in filter(None, text.split(",")):
        name, _, value = (part.strip() for part in entry.partition("="))
        if name in PLAIN or not value:
            continue
        amount = _in_units(value, SCALES if name == "mem" else COUNTS)
        if amount is None:
            raise failure(place, f"{shown(entry)} is no resource and amount: write cpu=8 or mem=64G")
        found[name] = amount
    return found


def memory_of(text: str, place: str) -> Fraction:
    """Return the MiB in ``64G`` or ``4Gc``.

    Raises
    ------
    InstanceError
        When it is no amount.
    """
    amount = _in_units(text, SCALES)
    if amount is None:
        raise failure(place, f"the memory of a job is {shown(text)}: write a number, 0 or more, such as 64G")
    return amount


def gres(text: str, place: str) -> dict[str, Fraction]:
    """Return the amounts in ``gpu:a100:4(S:0-1),shard:8``, of any type and of each type; ``(null)`` is nothing."""
    found: dict[str, Fraction] = {}
    for entry in re.sub(r"\([^)]*\)", "", text).split(","):
        parts = [part for part in entry.strip().split(":") if part != "no_consume"]
        if not parts[0] or parts[0] in ("null", "N/A"):
            continue
        count = parts[-1] if len(parts) > 1 else "1"
        match = AMOUNT.fullmatch(count)
        if match is None:
            raise failure(place, f"gres {shown(entry)}: write gpu:a100:4")
        amount = _read(match["digits"]) * COUNTS[match["unit"].upper()]
        for name in (f"gres/{parts[0]}", *([f"gres/{parts[0]}:{parts[1]}"] if len(parts) > 2 else [])):
            found[name] = found.get(name, Fraction(0)) + amount
    return found


def hosts(text: str, place: str) -> list[str]:
    """Return the hosts that ``node[01-03,07],login`` stands for.

    Raises
    ------
    InstanceError
        When brackets or ranges are not what they should be.
    """
    found: list[str] = []
    for one in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        match = RANGES.search(one)
        if match is None:
            found.append(one.strip())
            continue
        tail = one[match.end() :]
        names = [f"{one[: match.start()]}{number}" for number in _numbers(match[1], place)]
        found += [name + end for name in names for end in (hosts(tail, place) if RANGES.search(tail) else [tail])]
        if len(found) > MOST_HOSTS:
            raise failure(place, f"{shown(text)} is more than {MOST_HOSTS:,} hosts")
    return [host for host in found if host and host not in ("None", "(null)", "None assigned")]


def array_size(job: str, place: str) -> int:
    """Return how many jobs an identifier stands for: 3 for ``1003_[1-2,7%2]``, otherwise 1."""
    match = RANGES.search(job)
    return len(_numbers(match[1].partition("%")[0], place)) if match else 1


def _numbers(text: str, place: str) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        high, _, step = high.partition(":")
        if not all(only_digits(word) and len(word) < 10 for word in (low, high or "0", step or "1")):
            raise failure(place, f"{shown(part)} is no range of numbers: write 1-8")
        last = int(high) if dash else int(low)
        if last < int(low):
            raise failure(place, f"{shown(part)} is no range of numbers, from a lower one to a higher: write 1-8")
        if last - int(low) >= MOST_HOSTS or int(step or 1) == 0:
            raise failure(place, f"{shown(part)} is no range of at most {MOST_HOSTS:,} numbers")
        found += [str(number).zfill(len(low)) for number in range(int(low), last + 1, int(step or 1))]
    return found
