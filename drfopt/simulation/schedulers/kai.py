"""NVIDIA's KAI scheduler: one resource divided among queues, mostly in whole units.

Everybody first gets what she deserves and asks for.  What is left goes to one class of priority after the other,
higher first; inside a class it is shared by weight, round after round, among those who still ask: whoever asks for no
more than her part gets it all, the others their part rounded down.  Units lost to rounding go, one each, to the largest
remainders; of equals to the queue that was created first.  Every resource is divided on its own.

Left out is the term that lowers the weight of queues by their past usage, which is off by default.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/resource_division, and its test.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from .amounts import Amount

__all__ = ["Queue", "divide"]


@dataclass(frozen=True)
class Queue:
    """What a queue deserves and requests of one resource, the most it may have, and how it shares in the rest."""

    deserved: Amount
    request: Amount
    most: Amount | None = None
    weight: Amount = 1
    priority: int = 0
    created: int = 0

    @property
    def wanted(self) -> Fraction:
        """The request, as far as it is allowed."""
        return Fraction(self.request if self.most is None else min(self.request, self.most))


def divide(total: Amount, queues: Mapping[str, Queue]) -> tuple[dict[str, Fraction], Fraction]:
    """Return the fair share of every queue, and what nobody gets.

    >>> shares, _ = divide(11, {"a": Queue(2, 10, weight=1), "b": Queue(2, 10, weight=4)})
    >>> {name: int(share) for name, share in shares.items()}
    {'a': 3, 'b': 8}
    """
    shares = {name: min(Fraction(queue.deserved), queue.wanted) for name, queue in queues.items()}
    rest = max(Fraction(0), total - sum(shares.values(), Fraction(0)))
    classes = [
        {name: queue for name, queue in queues.items() if queue.priority == priority}
        for priority in sorted({queue.priority for queue in queues.values()}, reverse=True)
    ]
    remainders: list[dict[str, Fraction]] = []
    for members in classes:
        rest, left = _rounds(rest, members, shares)
        remainders.append(left)
    for left in remainders:
        for name in sorted(left, key=lambda name: (-left[name], queues[name].created, name)):
            unit = min(Fraction(1), rest)
            shares[name] += unit
            rest -= unit
    return shares, rest


def _rounds(
    rest: Fraction, members: Mapping[str, Queue], shares: dict[str, Fraction]
) -> tuple[Fraction, dict[str, Fraction]]:
    """Share what is left inside a class; return what then is left, and the fractions that rounding took."""
    lost: dict[str, Fraction] = {}
    while rest:
        asking = {name: queue for name, queue in members.items() if queue.weight and shares[name] < queue.wanted}
        weight = sum((Fraction(queue.weight) for queue in asking.values()), Fraction(0))
        pot, again = rest, False
        for name, queue in asking.items():
            part, missing = pot * Fraction(queue.weight) / weight, queue.wanted - shares[name]
            given = missing if missing <= part else Fraction(math.floor(part))
            lost.pop(name, None)
            if given < missing and given < part:
                lost[name] = part - given
            shares[name] += given
            rest -= given
            again = again or missing < part
        if not again:
            break
    return rest, lost
