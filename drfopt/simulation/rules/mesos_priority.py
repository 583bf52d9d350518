"""Mesos with strict priorities: a role of a higher tier is offered every machine before any of a lower one.

However much the higher ones hold, nothing keeps the lower from starving.  Mesos leaves the order of roles to an
allocation module of the operator's; this is the simplest that is written.

Source: the allocation modules that Apache Mesos documents (docs/allocation-module.md), with priorities for the order.
"""

from .mesos import Mesos

__all__ = ["build"]


def build(argument: str = "") -> Mesos:
    """Return the rule."""
    return Mesos(priorities=True)
