"""Which ceilings of groups an allocation has filled, whatever else is used up at the same point."""

from ..base.tolerances import LEVEL
from ..model.allocation import Allocation
from ..model.hierarchy.tree import members_of

__all__ = ["full_ceilings"]


def full_ceilings(allocation: Allocation) -> dict[int, list[str]]:
    """Return the full ceilings of groups above each user, of what it needs: such as ``eng ceiling of cpu``.

    Users below none are left out.
    """
    instance, found = allocation.instance, dict[int, list[str]]()
    rules = instance.organisation
    below = members_of(rules, instance.n)
    for group in rules.groups if rules is not None else ():
        members = below[group.name]
        for resource, most in group.ceiling.items():
            j = instance.resources.index(resource)
            if float(allocation.usage[members, j].sum()) < float(most) * (1 - LEVEL):
                continue
            for i in members[instance.demands[members, j] > 0].tolist():
                found.setdefault(i, []).append(f"{group.name} ceiling of {resource}")
    return found
