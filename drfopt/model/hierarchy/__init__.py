"""How the users of an organisation rise together: the definition of what is fair under guarantees, tiers and groups.

A clock runs, and at each of its moments every user has a number of tasks that the rules below say.  Her number never
falls.  The clock stops at the last moment at which all this is possible: whatever placement is chosen, capacities,
limits and ceilings hold.  Whoever cannot have more without somebody else having less than at this moment is *finished*
with what she has, and the clock goes on for the others until nobody is left.  The outcome is unique, since each stop
follows from those before it.

Guarantees   Before all else, the part of her guarantee that she has rises for everybody together, from 0 to 1.  A
             user's guarantee is worth the tasks at which she uses up the first of the resources it lists; a group's
             is worth the tasks that its members have when, rising by themselves, they use up the first of its own,
             or nobody who uses one can rise any more (who comes before them by tier, uses none and has no limit rises
             to twice what she could run alone).  Limits of users hold in this, ceilings of groups do not: what
             a ceiling then leaves of a promise is not kept by others, and the result says that it is broken.  What is
             promised may be more than the cluster has, or than a user could run alone: what counts is the part.

Levels       A node of the tree is a user or a group.  Its level is what all its users hold together, finished ones
             and guarantees included, as the policy measures it (the largest share for drf, the sum of all for asset,
             one share for single, a number of tasks for tasks), divided by its weight.  Excluded resources are not
             measured.  A *surplus* measures of each resource what is above the node's guarantee, below 0 where
             less of it is held; *normalised* measures a resource in guarantees instead of capacities where the node
             has a guarantee of it.

Rising       At each node those children rise together whose tier is highest, those of weight 0 after all others of
             their tier: all have the same level, but whoever has more than that already waits, and whoever is
             finished or at her limit stays behind.  Their common level is as high as the level of their parent
             allows.  The level of the whole cluster is the clock; it starts anew with each tier.

Jumps        Where members rise without their group's level rising (they use nothing of what their group has most of),
             no time passes for others.  Groups that jump at one moment do so together: all have gained the same since
             they came to their level, or since the clock last stopped, in shares of all resources together, by their
             weights; who has less to gain waits at the end of its jump.

Without an organisation this is progressive filling, and the outcome the policy's leximin.  With guarantees as floors
it is the leximin of all allocations that keep them; tiers make it lexicographic; a tree over one resource makes it
max-min fair over the groups, then within each.  Over several resources it is hierarchical DRF: a finished member is
counted with what it has, the others rise at one level, so that no member is starved by what a sibling gets of another
resource.

Source: A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, Hierarchical scheduling for
diverse datacenter workloads, SoCC 2013 (groups); for guarantees the rules of YARN's fair scheduler (a part of the
minimum first), Kueue (the share above nominal quota) and YuniKorn (shares of the guarantee).
"""

from .clock import Breakpoint, Clock, SettledState, Trajectory
from .service_order import TreeLine, broken, stages
from .tree import BranchPoint, Node, members_of

__all__ = [
    "BranchPoint",
    "Breakpoint",
    "Clock",
    "Node",
    "SettledState",
    "Trajectory",
    "TreeLine",
    "broken",
    "members_of",
    "stages",
]
