"""The same question many times: instances one after the other, or one cluster with more or less of something.

The instances are independent, so they may be divided among processes or over a Dask cluster; the answers are those of
a loop, in its order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from .allocation import Allocation
from .errors import InstanceError, suggestion
from .instance import Instance
from .machine import Machine
from .parallel import spread
from .policies import Policy, policy_named
from .quantities import exact
from .solve import solve
from .tables import Column, Sheet

__all__ = ["Sweep", "solve_each", "sweep", "with_more"]


def solve_each(
    instances: Iterable[Instance],
    policy: str | Policy = "drf",
    *,
    jobs: int | None = None,
    dask: str | None = None,
    **how: Any,
) -> Iterator[Allocation]:
    """Yield what `solve` returns for every instance, in order; an error comes when its instance's turn has come.

    Parameters
    ----------
    instances : iterable of Instance
        Taken as workers get free.
    policy : str or Policy
    jobs, dask : int, str
        Processes (by default one a core; 1 works in this one), or the address of a Dask scheduler.
    **how
        ``integer``, ``engine``, ``exact``, ``time_limit`` of `solve`.
    """
    return spread(partial(_solved, policy_named(policy), how), instances, jobs=jobs, dask=dask, what="instances")


def _solved(policy: Policy, how: dict[str, Any], instance: Instance) -> Allocation:
    return solve(instance, policy, **how)


def with_more(instance: Instance, factor: Fraction | float | str, resource: str | None = None) -> Instance:
    """Return the instance with every capacity of a resource, or of all, multiplied by a positive factor, exactly."""
    if resource is not None and resource not in instance.resources:
        raise InstanceError(
            f"the cluster has no resource {resource!r}: it has {', '.join(instance.resources)}"
            f"{suggestion(resource, instance.resources)}"
        )
    times = exact(factor)
    if not times > 0:
        raise InstanceError(f"a capacity cannot be multiplied by {factor}: give a positive number")

    def more(row: Sequence[Fraction]) -> list[Fraction]:
        named = zip(instance.resources, row, strict=True)
        return [value * times if resource in (None, name) else value for name, value in named]

    parts = instance.parts()
    if instance.machines is None:
        return Instance(**(parts | {"capacity": more(instance.exact_capacity)}))
    machines = [Machine(machine.name, more(machine.capacity), machine.count) for machine in parts["machines"]]
    return Instance(**(parts | {"machines": machines}))


@dataclass(frozen=True, eq=False)
class Sweep:
    """Allocations of one cluster with its capacities multiplied, `factors` and `allocations` in the same order."""

    instance: Instance
    policy: str
    resource: str | None
    factors: tuple[Fraction, ...]
    allocations: tuple[Allocation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt sweep --json`` prints."""
        return {
            "instance": self.instance.name,
            "policy": self.policy,
            "resource": self.resource,
            "factors": [str(factor) for factor in self.factors],
            "allocations": [allocation.to_dict() for allocation in self.allocations],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a factor."""
        columns = (
            Column("times", number=True),
            Column("lowest level", number=True),
            Column("sum of dominant shares", number=True),
            Column("tasks", number=True),
            *(Column(f"{name} used", number=True) for name in self.instance.resources),
        )
        rows = [
            (
                str(factor),
                f"{float(min(found.levels)):.6g}",
                f"{float(sum(found.dominant_shares)):.6g}",
                f"{float(sum(found.tasks)):.6g}",
                *(f"{float(used):.1%}" for used in found.utilization),
            )
            for factor, found in zip(self.factors, self.allocations, strict=True)
        ]
        what = "every capacity" if self.resource is None else f"the capacity of {self.resource}"
        title = f"{self.policy}, {what} multiplied, {self.instance.n} users"
        return Sheet(title, columns, rows, (), document=self.to_dict())

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def sweep(
    instance: Instance,
    factors: Iterable[Fraction | float | str],
    *,
    resource: str | None = None,
    policy: str | Policy = "drf",
    jobs: int | None = None,
    dask: str | None = None,
    **how: Any,
) -> Sweep:
    """Return what a policy does with a cluster that has more or less of a resource, or of everything.

    Parameters
    ----------
    instance : Instance
    factors : iterable of positive numbers or strings such as ``"3/2"``
    resource : str, optional
        The resource whose capacities are multiplied; by default all.
    policy, jobs, dask, **how
        As in `solve_each`.
    """
    times = tuple(exact(factor) for factor in factors)
    chosen = policy_named(policy)
    clusters = [with_more(instance, factor, resource) for factor in times]
    found = tuple(solve_each(clusters, chosen, jobs=jobs, dask=dask, **how))
    return Sweep(instance, chosen.name, resource, times, found)
