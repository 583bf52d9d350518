"""Strict priorities in Mesos: an allocation module that serves roles by priority, and by share only inside one.

A role of a lower priority is offered only what no role of a higher one takes, however much the higher ones hold:
nothing keeps the lower from starving.  Mesos leaves the order of roles to an allocation module of one's own; this is
the simplest that operators write.

Source: the allocation modules that Apache Mesos documents (docs/allocation-module.md), with priorities for the order.
"""

from collections.abc import Collection, Mapping

from .amounts import Amount, Amounts
from .mesos import Client, order

__all__ = ["priority_order"]


def priority_order(
    total: Amounts,
    clients: Mapping[str, Client],
    priorities: Mapping[str, int],
    weights: Mapping[str, Amount] | None = None,
    excluded: Collection[str] = (),
) -> list[str]:
    """Return the paths of the clients by priority, higher first (0 where there is none), and then as `mesos.order`.

    >>> held = {"a": Client({"cpus": 9}), "b": Client({"cpus": 1})}
    >>> priority_order({"cpus": 10}, held, {"a": 1})
    ['a', 'b']
    """
    return sorted(order(total, clients, weights, excluded), key=lambda path: -priorities.get(path, 0))
