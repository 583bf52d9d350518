"""From a file of ``drfopt solve --json`` back to the allocation, as far as its tasks go.

Only the tasks and the placement are taken; what follows from them is computed again, and an allocation that is not
possible is refused. Whether it is fair is a question for ``drfopt verify``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InstanceError, suggestion

if TYPE_CHECKING:
    import numpy as np

    from ..io.text.parts import TreePart
    from ..model.allocation import Allocation
    from ..model.instance import Instance

__all__ = ["read"]


def read(instance: "Instance", path: Path) -> "Allocation":
    """Return the allocation that a file holds.

    Raises
    ------
    InstanceError
        When it is no answer, not one for this instance, or not possible.
    """
    import numpy as np

    from ..certificates.feasibility import infeasibility
    from ..io.text.input import read_file
    from ..io.text.parts import parts
    from ..model.allocation import Allocation, Certificate

    found = parts(read_file(path))
    if len(found) != 1 or not isinstance(found[0].value, dict) or "users" not in found[0]:
        raise InstanceError(f"{path}: is no answer: give what 'drfopt solve --json' wrote")
    document = found[0]
    tasks = np.zeros(instance.n)
    index = {user: i for i, user in enumerate(instance.users)}
    for entry in document["users"].each():
        tasks[_index(index, entry["name"].text(), entry)] = _tasks(entry["tasks"])
    if instance.machines is None:
        placement, by_type = None, None
    else:
        placement = np.zeros((instance.n, instance.k))
        by_type = None if instance.type_table is None else np.zeros(instance.type_table.fits.shape)
        classes = {name: k for k, name in enumerate(instance.machine_names)}
        for user, row in document["placement"].pairs():
            for name, held in row.pairs():
                placement[_index(index, user, row), _index(classes, name, row)] = _tasks(held)
        if by_type is not None:
            by_type[:] = _by_type(instance, document, placement, index, classes)
    _, reason = infeasibility(instance, tasks, placement if by_type is None else by_type)
    if reason:
        raise InstanceError(f"{path}: {reason}: it is no answer for this instance")
    return Allocation(
        instance,
        document["policy"].text("drf"),
        tasks,
        np.zeros(instance.n),
        Certificate("none", None, 0.0),
        placed=lambda: placement,
        placed_by_type=by_type,
        integer=document["integer"].true(),
        status=document["status"].text("optimal"),
    )


def _tasks(part: "TreePart") -> float:
    """Return a number of tasks; an enclosure counts with its lower end."""
    return float((part["lower"] if isinstance(part.value, dict) else part).number())


def _index(known: dict[str, int], name: str, part: "TreePart") -> int:
    if name not in known:
        raise InstanceError(f"{part.place}: {name!r} is not in this instance{suggestion(name, known)}")
    return known[name]


def _by_type(
    instance: "Instance", document: "TreePart", placement: "np.ndarray", index: dict[str, int], classes: dict[str, int]
) -> "np.ndarray":
    """Return what runs of each type, (q, k); users with one type have it in their placement."""
    import numpy as np

    table = instance.type_table
    placed = np.zeros(table.fits.shape)
    first = np.searchsorted(table.owner, np.arange(instance.n))
    for i, kinds in enumerate(instance.task_types or ()):
        if kinds is None:
            placed[first[i]] = placement[i]
    for user, listed in document["types"].pairs():
        i = _index(index, user, listed)
        kinds = (instance.task_types or ())[i] or ()
        for t, entry in enumerate(listed.each()):
            if t >= len(kinds):
                raise InstanceError(f"{listed.place}: user {user!r} has {len(kinds)} task types in this instance")
            for name, held in entry["placement"].pairs():
                placed[first[i] + t, _index(classes, name, entry)] = _tasks(held)
    return placed
