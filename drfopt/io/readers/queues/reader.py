"""What the queue readers share: nodes and pods as Kubernetes has them, and users that are queues."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...text.input import File
from ..contents import Asked, Contents, named
from ..conversion import Notes
from ..kubernetes import eligibility
from ..kubernetes.nodes import machines_of, tasks
from ..kubernetes.objects import Objects
from ..kubernetes.pods import Pod, pods
from ..kubernetes.reader import SOURCE
from .tree import QueueNode, organised

__all__ = ["System"]


@dataclass(frozen=True)
class System:
    """A scheduler with queues.

    Parameters
    ----------
    name : str
        As ``--from`` says it.
    queues : callable (Objects, Notes) -> list of QueueNode
    queue_of : callable (Objects) -> callable (Pod) -> name of its queue, or None when it is in none
    loose : bool
        Whether it has files that are no objects of Kubernetes.
    waiting : callable (Objects, list of Pod, Notes) -> list of Pod
        What else waits beside the pods and their owners.
    pool : callable (Objects) -> mapping or None
        What the queues' objects say that the whole cluster has, where no node is listed.
    """

    name: str
    queues: Callable[[Objects, Notes], list[QueueNode]]
    queue_of: Callable[[Objects], Callable[[Pod], str | None]]
    loose: bool = False
    waiting: Callable[[Objects, list[Pod], Notes], list[Pod]] = lambda objects, found, notes: []
    pool: Callable[[Objects], Mapping[str, Fraction] | None] = lambda objects: None

    def read(self, files: Sequence[File], asked: Asked) -> Contents:
        """Read nodes, pods and queues.

        Raises
        ------
        InstanceError
            With file and place.
        """
        notes = Notes()
        objects = Objects(files, notes)
        if not self.loose:
            objects.refuse_loose()
        queues = self.queues(objects, notes)
        queue_of = self.queue_of(objects)
        found: list[Pod] = []
        users: dict[int, str] = {}
        listed = pods(objects, notes)
        for pod in [*listed, *self.waiting(objects, listed, notes)]:
            queue = None if pod.fixed else queue_of(pod)
            found.append(pod if queue is not None else replace(pod, fixed=True))
            if queue is not None:
                users[id(found[-1])] = queue
        bounds = [amounts for queue in queues for amounts in (queue.minimum, queue.maximum)]
        machines, asked = machines_of(objects, found, bounds, asked, notes)
        pool = asked.pool
        if not machines and pool is None:
            pool = self.pool(objects)
            if pool is not None:
                notes.assumed("no node is listed: what the queues say that the cluster has is one pool")
        objects.tell_rest()
        groups, members = organised(queues, dict.fromkeys(users.values()), notes)
        return Contents(
            f"{self.name}, {files[0].stem}",
            SOURCE.format(
                what=self.name, pods=sum(pod.count for pod in found), nodes=len(machines), files=named(files)
            ),
            machines,
            tasks(found, users),
            notes,
            eligibility.allows,
            pool=pool,
            groups=groups,
            members=members,
            shape=asked.shape,
            wants=lambda queue: eligibility.ANYWHERE,
            missing=eligibility.missing,
        )
