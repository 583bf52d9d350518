"""What one more unit is worth: shadow prices of resources and machines, who gains by them, and how far that holds.

Two questions that are easily taken for one:

- A *shadow price* is the dual of a program: what its value gains by one unit when shares go on being shares of the
  cluster as it is.  It is 0 where something is left over.
- *Slopes* say what happens when the cluster is really enlarged and divided again.  Then every share is a share of a
  larger whole: who needs most of what was added has a smaller share than before, and is given more tasks to make up
  for it.  So a unit that nobody waits for can still move tasks from one user to another.

Both are of one side: a unit more may be worth less than what a unit less costs.  Slopes of a leximin come from the
links that hold the users (`drfopt.planning.pricing.binding_rounds`), and `until` says how far the same links do.
"""

from collections.abc import Iterable

from ...base.errors import PolicyError
from ...base.progress import report
from ...model.instance import Instance
from ...model.policies import AnyPolicy, policy_named
from ...solving.allocating import solve
from .one_sided import LOOKS, TOTAL
from .price_table import Prices
from .sums import Sums
from .units import Unit, unit_named, units_of
from .worth import Worth

__all__ = ["price"]


def price(instance: Instance, policy: AnyPolicy = "drf", *, units: Iterable[str | Unit] | None = None) -> Prices:
    """Return what one more unit of every resource and machine class is worth, and to whom.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        A leximin, a market or a sum, of divisible tasks.
    units : iterable of str, optional
        Those to look at: resources, machine classes, ``CLASS/RESOURCE``; by default all of the cluster.

    Returns
    -------
    Prices

    Raises
    ------
    PolicyError
        When the policy's optimum has no prices.
    InstanceError
        When there is no such unit.

    Examples
    --------
    >>> found = price(Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}))
    >>> round(found["cpu"].more.price, 4)
    0.0741
    """
    chosen = policy_named(policy)
    if chosen.objective not in LOOKS:
        raise PolicyError(
            f"{chosen.name} has no prices: they are known of {', '.join(LOOKS)} policies, drf for example"
        )
    chosen.check(instance)
    allocation = solve(instance, chosen)
    totals = Sums(instance, TOTAL)
    look = LOOKS[chosen.objective](allocation, totals)
    named = units_of(instance) if units is None else units
    wanted = [unit if isinstance(unit, Unit) else unit_named(instance, unit) for unit in named]
    worths = []
    for done, unit in enumerate(wanted):
        report(f"{done} of {len(wanted)} units priced, now {unit.name}")
        more, less = (look(unit, more) for more in (True, False))
        worths.append(Worth(unit, more, less))
    return Prices(instance, chosen.name, allocation, tuple(worths))
