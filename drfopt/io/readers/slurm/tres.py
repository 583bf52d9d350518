"""Slurm's ways to write amounts, sets of hosts and sets of array jobs."""

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache

from ....base.errors import InstanceError
from ....base.numbers.quantities import only_digits, parse
from ...text.files import failure, shown

__all__ = ["PLAIN", "array_size", "cut_off", "gres", "hosts", "read_count", "read_memory", "tres"]

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
    return _scaled(text, COUNTS)


def read_memory(text: str) -> Fraction | None:
    """Return the MiB of memory as commands print it, ``64G`` or ``4Gc``; None where it is none."""
    return _scaled(text, SCALES)


def _scaled(text: str, scales: Mapping[str, Fraction]) -> Fraction | None:
    match = AMOUNT.fullmatch(text)
    try:
        return _read(match["digits"]) * scales[match["unit"].upper()] if match else None
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
        if "=" not in entry:
            raise failure(
                place, f"{shown(text)} ends in {shown(name)} without an amount: it is cut off, print it in full width"
            )
        if name in PLAIN or not value:
            continue
        amount = read_memory(value) if name == "mem" else read_count(value)
        if amount is None:
            raise failure(place, f"{shown(entry)} is no resource and amount: write cpu=8 or mem=64G")
        found[name] = amount
    return found


def gres(text: str, place: str, besides: Collection[str] = ()) -> dict[str, Fraction]:
    """Return the amounts in ``gpu:a100:4(S:0-1),shard:8`` or ``gres/gpu:a100=4``, of any type and of each type.

    ``(null)`` is nothing, and entries named `besides` are left out.

    Raises
    ------
    InstanceError
        When an amount is none.
    """
    found: dict[str, Fraction] = {}
    for entry in re.sub(r"\([^)]*\)", "", text).split(","):
        words = re.sub("^gres[/:]", "", entry.strip()).replace("=", ":").split(":")
        parts = [part for part in words if part != "no_consume"]
        if not parts or parts[0] in ("", "null", "N/A", *besides):
            continue
        amount = read_count(parts[-1] if len(parts) > 1 else "1")
        if amount is None:
            raise failure(place, f"gres {shown(entry.strip())}: write gpu:a100:4")
        for name in (f"gres/{parts[0]}", *([f"gres/{parts[0]}:{parts[1]}"] if len(parts) > 2 else [])):
            found[name] = found.get(name, Fraction(0)) + amount
    return found


def cut_off(text: str) -> bool:
    """Return whether a list of hosts ends inside its brackets, as a narrow column leaves it."""
    return bool(re.search(r"[\[\]]", RANGES.sub("", text)))


def hosts(text: str, place: str) -> list[str]:
    """Return the hosts that ``node[01-03,07],login`` stands for.

    Raises
    ------
    InstanceError
        When brackets or ranges are not what they should be.
    """
    found: list[str] = []
    if cut_off(text):
        raise failure(place, f"{shown(text)} is no list of hosts: write both brackets, as in node[01-03,07]")
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
        if not all(only_digits(word) and len(word) < 10 for word in (low, high if dash else "0", step or "1")):
            raise failure(place, f"{shown(part)} is no range of numbers: write 1-8")
        last = int(high) if dash else int(low)
        if last < int(low):
            raise failure(place, f"{shown(part)} is a range from the higher to the lower: write {high}-{low}")
        if last - int(low) >= MOST_HOSTS or int(step or 1) == 0:
            raise failure(place, f"{shown(part)} is no range of at most {MOST_HOSTS:,} numbers")
        found += [str(number).zfill(len(low)) for number in range(int(low), last + 1, int(step or 1))]
    return found
