"""ResourceQuota: the most that a namespace may use of a resource."""

from fractions import Fraction

from ..conversion import Notes
from .objects import Objects, name, namespace

__all__ = ["ceilings"]

PREFIX = "requests."
PLAIN = ("cpu", "memory", "ephemeral-storage", "pods")
"""Resources that may stand without the prefix."""


def ceilings(objects: Objects, notes: Notes) -> dict[str, dict[str, Fraction]]:
    """Return the ceilings of each namespace with a quota; of several quotas on a resource the lowest counts."""
    found: dict[str, dict[str, Fraction]] = {}
    for item in objects.take("ResourceQuota"):
        told = f"{namespace(item)}/{name(item)}"
        if item["spec"]["scopes"] or item["spec"]["scopeSelector"]:
            notes.unused("quota for some of the pods only (it has scopes)", told)
            continue
        for key, part in item["spec"]["hard"].pairs():
            resource = key.removeprefix(PREFIX)
            if not key.startswith(PREFIX) and key not in PLAIN:
                notes.unused(f"quota on {key}", told)
                continue
            ceiling = found.setdefault(namespace(item), {})
            ceiling[resource] = min(part.amount(), ceiling.get(resource, part.amount()))
    return found
