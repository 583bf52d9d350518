"""Which ceilings of groups an allocation has filled, whatever else is used up at the same point."""

from ..base.tolerances import LEVEL
from ..model.allocation import Allocation
from ..model.hierarchy.tree import members_of

__all__ = ["full_ceilings"]


def full_ceilings(allocation: Allocation, i: int) -> list[str]:
    """Return the full ceilings of groups above user i, of what it needs: such as ``eng ceiling of cpu``."""
    instance, found = allocation.instance, list[str]()
    rules = instance.organisation
    below = members_of(rules, instance.n)
    for group in rules.groups if rules is not None else ():
        if i not in below[group.name]:
            continue
        for resource, most in group.ceiling.items():
            j = instance.resources.index(resource)
            used = float(allocation.usage[below[group.name], j].sum())
            if instance.demands[i, j] and used >= float(most) * (1 - LEVEL):
                found.append(f"{group.name} ceiling of {resource}")
    return found
