"""NVIDIA's KAI scheduler: one resource divided among queues, mostly in whole units.

Everybody first gets what she deserves and asks for.  What is left goes to one class of priority after the other,
higher first; inside a class it is shared by weight, round after round, among those who still ask: whoever asks for no
more than her part gets it all, the others their part rounded down.  Units lost to rounding go, one each, to the largest
remainders; of equals to the queue that was created first.  Every resource is divided on its own.

Left out is the term that lowers the weight of queues by their past usage, which is off by default.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/resource_division, and its test.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from .amounts import Amount

__all__ = ["KaiQueue", "divide"]

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class KaiQueue:
    """What a queue deserves and requests of one resource, the most it may have, and how it shares in the rest."""

    deserved: Amount
    request: Amount
    most: Amount | None = None
    weight: Amount = 1
    priority: int = 0
    created: int = 0

    @property
    def wanted(self) -> Amount:
        """The request, as far as it is allowed."""
        return self.request if self.most is None else min(self.request, self.most)


def divide(total: Amount, queues: Mapping[Name, KaiQueue], unit: int = 1) -> tuple[dict[Name, Amount], Amount]:
    """Return the fair share of every queue, and what nobody gets.

    Parameters
    ----------
    total : Amount
    queues : mapping from name to KaiQueue
    unit : int
        Of so much a part is rounded down to multiples.

    >>> shares, _ = divide(11, {"a": Queue(2, 10, weight=1), "b": Queue(2, 10, weight=4)})
    >>> {name: int(share) for name, share in shares.items()}
    {'a': 3, 'b': 8}
    """
    wanted = {name: queue.wanted for name, queue in queues.items()}
    if (spare := total - sum(wanted.values())) >= 0 and all(queue.weight for queue in queues.values()):
        # Round after round would come to the same: while anybody lacks something, somebody's part is more than enough.
        return wanted, spare
    shares = {name: min(queue.deserved, wanted[name]) for name, queue in queues.items()}
    rest = max(0, total - sum(shares.values()))
    classes = [
        {name: queue for name, queue in queues.items() if queue.priority == priority}
        for priority in sorted({queue.priority for queue in queues.values()}, reverse=True)
    ]
    remainders: list[dict[Name, Amount]] = []
    for members in classes:
        rest, left = _rounds(rest, members, shares, wanted, unit)
        remainders.append(left)
    for left in remainders:
        for name in sorted(left, key=lambda name: (-left[name], queues[name].created, name)):
            given = min(unit, rest)
            shares[name] += given
            rest -= given
    return shares, rest


def _rounds(
    rest: Amount,
    members: Mapping[Name, KaiQueue],
    shares: dict[Name, Amount],
    wanted: Mapping[Name, Amount],
    unit: int,
) -> tuple[Amount, dict[Name, Amount]]:
    """Share what is left inside a class; return what then is left, and what rounding took, times the weight of all."""
    lost: dict[Name, Amount] = {}
    asking = [(name, queue.weight) for name, queue in members.items() if queue.weight and shares[name] < wanted[name]]
    while rest and asking:
        weight, pot, again = sum(part for _, part in asking), rest, False
        lost.clear()
        for name, own in asking:
            # Parts, pot * own / weight, are compared and rounded without a fraction.
            part, missing = pot * own, wanted[name] - shares[name]
            if missing * weight <= part:
                given, again = missing, again or missing * weight < part
            else:
                given = part // (weight * unit) * unit
                if given * weight < part:
                    lost[name] = part - given * weight
            shares[name] += given
            rest -= given
        if not again:
            break
        asking = [(name, own) for name, own in asking if shares[name] < wanted[name]]
    return rest, lost
