"""What the queue readers share: nodes and pods as Kubernetes has them, and users that are queues."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...text.input import File
from ..assembly import assemble, named
from ..contents import Contents
from ..conversion import Conversion, Notes
from ..kubernetes import eligibility
from ..kubernetes.nodes import nodes, tasks
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
    """

    name: str
    queues: Callable[[Objects, Notes], list[QueueNode]]
    queue_of: Callable[[Objects], Callable[[Pod], str | None]]
    loose: bool = False

    def read(self, files: Sequence[File], user_by: None = None) -> Conversion:
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
        for pod in pods(objects, notes):
            queue = None if pod.fixed else queue_of(pod)
            found.append(pod if queue is not None else replace(pod, fixed=True))
            if queue is not None:
                users[id(found[-1])] = queue
        machines = nodes(objects, found, notes)
        objects.tell_rest()
        groups, members = organised(queues, dict.fromkeys(users.values()), notes)
        return assemble(
            Contents(
                f"{self.name}, {files[0].stem}",
                SOURCE.format(
                    what=self.name,
                    pods=sum(pod.count for pod in found),
                    nodes=len(machines),
                    files=named(files),
                ),
                machines,
                tasks(found, users),
                notes,
                eligibility.allows,
                groups=groups,
                members=members,
            )
        )
