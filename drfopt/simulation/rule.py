"""What a rule is: a scheduler's way of deciding which waiting task starts where.

The simulator handles, for every moment in which something happens, first everything that happens in it (tasks end,
machines are lost or come back, users leave, stages end, jobs come), then calls ``rule.dispatch(cluster)`` once.  There
the rule starts what it wants to be started.  It reads the cluster (`drfopt.simulation.state.Cluster`) and acts on it
by three calls only:

    cluster.start(user, kind, machine)    start the user's next waiting task of a kind on a machine
    cluster.revoke(batch, count)          stop running tasks, which go back to where they waited
    cluster.wake(time)                    be called again at a moment to come though nothing may happen in it

What it reads, with users, kinds of tasks and machines by their numbers, amounts in integers (``cluster.plan.units``),
times in seconds:

    cluster.now
    cluster.plan                   .scenario, .kinds, .classes (of machines), .capacities (of classes), .weights
    cluster.totals (m,)            capacity of the machines that are up
    cluster.used[user] (m,)        what the user holds
    cluster.running[user]          tasks that run
    cluster.waiting[user]          tasks that wait
    cluster.wanted[user] (m,)      what all of them need that run or wait
    cluster.queues[user]           {kind: deque of lots that wait}; a lot is the tasks of one stage of one job
    cluster.askers[kind]           the users who have waiting tasks of a kind: a dict, whose values are the rule's own
    cluster.free[machine]          what is free on it, in the rule's own terms (see `Rule.room`)
    cluster.fits(kind, machine)    whether the machine may run the kind, is up, and has room in the rule's own terms
    cluster.able[kind]             machines that may run a kind and are large enough
    cluster.on[machine]            {number: batch} of what runs there; a batch is like tasks started together
    cluster.freed                  machines on which something became free since the last dispatch (a set)
    cluster.opened                 kinds for which somebody asks since the last dispatch, and nobody did before (a dict)
    cluster.moved                  users who hold something else, or ask for it, since the last dispatch (a dict)

After a dispatch `freed`, `opened` and `moved` are emptied.  Numbers are those of the scenario.  A rule must decide
by nothing but what it reads here and randomness of its own from ``cluster.stream(name)``: then the same seed gives the
same bytes.  Most rules serve, as long as anything fits, the user who is lowest by some measure: these derive from
`drfopt.simulation.turns.LowestFirst` and say only which measure.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..base.errors import PolicyError

if TYPE_CHECKING:
    from .plan import Plan
    from .state import ClusterState

__all__ = ["Rule"]


class Rule:
    """A scheduler; an instance is used for one run at a time, and `begin` makes it forget the one before.

    Attributes
    ----------
    name : str
    oversubscribes : bool
        Whether it may start tasks whose demands together exceed a machine; they are then slowed down.
    """

    name = "rule"
    oversubscribes = False

    def prepare(self, plan: "Plan") -> None:
        """Look at the scenario before anything else, and refuse what the rule cannot take (see `refuse`)."""

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Return what the rule counts on a machine of this capacity: by default all resources; slots, say, are one."""
        return capacity

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Return what a task of this demand takes of a machine's room."""
        return demand

    def begin(self, cluster: "ClusterState") -> None:
        """Make ready for a run; nothing has come yet."""

    def resized(self, cluster: "ClusterState") -> None:
        """Hear what there is in all: after `begin`, and whenever machines were lost or have come back."""

    def dispatch(self, cluster: "ClusterState") -> None:
        """Start what should be started now."""
        raise NotImplementedError

    def standing(self, cluster: "ClusterState", user: int, used: list[int], running: int) -> Any:
        """Return how high a user would stand who held so much and ran so many tasks; revocation takes from the highest.

        By default it is her weighted dominant share.
        """
        parts = zip(used, cluster.totals, strict=True)
        return (
            max(Fraction(held, total) if total else Fraction(0) for held, total in parts) / cluster.plan.weights[user]
        )

    def refuse(self, reason: str) -> PolicyError:
        """Return the error that this rule cannot take a scenario."""
        return PolicyError(f"the rule {self.name} {reason}")
