"""Kueue: ``kubectl get clusterqueues,cohorts,localqueues,workloads,resourceflavors -A -o json``, v1beta1 or v1beta2.

What is divided are the quotas: a cohort with all below it is a pool, of one class for each flavor where queues have
several flavors of a resource (named ``cohort/flavor-size``). A ClusterQueue is a user and a Cohort a group; with
``--user-by localqueue`` a LocalQueue is a user and its ClusterQueue a group.

    nominalQuota                    guarantee, summed over the flavors
    nominalQuota + borrowingLimit   ceiling; of a queue without cohort its nominal quota
    fairSharing.weight              weight
    Workloads                       tasks: one type a pod set; pods that are admitted are the current allocation

Without Workloads, pods that name their LocalQueue, or whose owner does (Job, JobSet, RayJob ...), are the tasks;
without these either, a queue wants ever more of what it uses, or of its quota, flavor by flavor. Where the status tells
a weighted share, it is computed again and a difference is noted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from .....base.errors import InstanceError
from ....text.files import File
from ....writers.amounts import KUBERNETES
from ...conversion import Contents, ListedMachine, Notes, ReadOptions, Task, named
from ...kubernetes.eligibility import Features, PodNeeds, allows, features_of, missing, needs_of
from ...kubernetes.objects import Objects, name, tell_unused
from ..tree import QueueNode, organised
from .quotas import API, Key, QuotaNode, Quotas, quotas
from .workloads import PODS, QueueNeeds, local_queues, tasks

__all__ = ["read"]

Class = tuple[str, str]
"""A root and a flavor; the flavor is empty where all flavors of a root are one."""


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read queues, cohorts and workloads.

    Raises
    ------
    InstanceError
        With file and place.
    """
    notes = Notes()
    objects = Objects(files, notes)
    objects.refuse_loose()
    forest = quotas(objects, notes)
    if not forest.queues:
        places = ", ".join(file.place for file in files)
        raise InstanceError(f"{places}: no ClusterQueue is listed: give 'kubectl get clusterqueues -o json' too")
    rooms = {} if asked.given else _rooms(forest, notes)
    called = {room: "/".join(part for part in room if part) for room in rooms}
    pool = next(iter(rooms.values())) if len(rooms) == 1 else None
    local = local_queues(objects, asked.user_by == "localqueue", notes)
    homes = {key: called.get(key, called.get((key[0], ""), "")) for key in _classes(forest)} if rooms else {}
    wanted, endless = tasks(objects, forest, homes, local, asked.saturate, notes)
    roots = {root for root, _ in rooms}
    if any(task.needs.uncovered or forest.root(forest.queues[task.needs.queue]).name not in roots for task in wanted):
        pool = None  # tasks of a queue without quota are not of the pool
    # Who has no task keeps what is not lent; saturated queues have.
    idle = set() if asked.saturate else forest.queues.keys() - {local.queue_of(task.user) for task in wanted}
    _keep_unlent(rooms, forest, idle, notes)
    flavors = _flavors(objects, notes)
    bounds = {resource for quota in forest.queues.values() for _, resource in quota.nominal}
    asked = asked.called(KUBERNETES, bounds | {r for t in wanted for r in t.demand}, notes)
    nodes = [
        ListedMachine(called[room], amounts, called[room], features=(room, flavors.get(room[1])))
        for room, amounts in rooms.items()
    ]
    nodes = asked.nodes(nodes, lambda called, labels: (None, features_of(labels, (), labels)), notes)
    counting: Collection[str] = [q for q, quota in forest.queues.items() if PODS in _by_resource(quota.nominal)]
    if asked.given and any(PODS in one for one in [*(n.capacity for n in nodes), asked.pool or {}]):
        counting = forest.queues
    wanted = [task if task.needs.queue in counting else _podless(task) for task in wanted]
    _check_shares(forest, notes)
    if objects.take("Node"):
        divided = "the cluster is that of machines" if asked.given else "quotas are divided, not machines"
        notes.unused(f"node: {divided}", count=len(objects.take("Node")))
    objects.tell_rest()
    queues = _queues(forest, idle, notes, asked.given)
    if local.users:
        queues += [
            QueueNode(local.user(queue, *key), queue, weight, label="|".join(key))
            for key, (queue, weight) in local.queues.items()
            if queue in forest.queues
        ]
    groups, members = organised(queues, dict.fromkeys(task.user for task in wanted), notes, surplus=True)

    def why(needs: QueueNeeds, features: tuple[Class | None, Features | None]) -> list[str]:
        queue, asked_of = forest.queues[needs.queue], needs.pod
        if needs.uncovered:
            return [f"is of no use to {queue.name}, which has no quota of {' and '.join(needs.uncovered)}"]
        room, there = features
        if room is None:
            # A machine of another file: one of the flavors of the queue has to be of its kind.
            wanted: list[str] = []
            for flavor in dict.fromkeys(key[0] for key in queue.nominal):
                kind = flavors.get(flavor)
                if kind is None or set(kind.labels) <= set(there.labels if there else ()):
                    return missing(_of_flavor(asked_of, there), there) if there else []
                wanted.append(" and ".join(f"{label}={value}" for label, value in kind.labels))
            return [f"is of no flavor of {queue.name}, whose nodes have {' or '.join(wanted)}"]
        root, flavor = room
        if forest.root(queue).name != root or (flavor and all(key[0] != flavor for key in queue.nominal)):
            return [f"is not of the quota of {queue.name}"]
        return [] if there is None else missing(_of_flavor(asked_of, there), there)

    return Contents(
        f"kueue, {files[0].stem}",
        f"Kueue ({named(files)}): quotas of queues, {len(forest.queues):,}; cpu in cores, memory in bytes",
        [] if pool is not None else nodes,
        wanted,
        notes,
        lambda needs, features: not why(needs, features),
        pool=pool if pool is not None else asked.pool,
        groups=groups,
        members=members,
        endless=endless,
        shape=asked.shape,
        wants=lambda queue: QueueNeeds(local.queue_of(queue)),
        usable=lambda queue: frozenset(key[1] for key in forest.queues[local.queue_of(queue)].nominal),
        missing=why,
    )


def _podless(task: Task) -> Task:
    return replace(task, demand={r: d for r, d in task.demand.items() if r != PODS})


def _classes(forest: Quotas) -> list[Class]:
    """Return every root with each of its flavors."""
    return [(forest.root(queue).name, key[0]) for queue in forest.queues.values() for key in queue.nominal]


def _rooms(forest: Quotas, notes: Notes) -> dict[Class, dict[str, Fraction]]:
    """Return what each class of quotas has: one a root, or one for each of its flavors."""
    rooms: dict[Class, dict[str, Fraction]] = {}
    roots = {forest.root(queue).name: forest.root(queue) for queue in forest.queues.values()}
    for root in roots.values():
        everything = forest.all_of(root)
        apart = forest.apart(root)
        if forest.several(root) and not apart:
            notes.assumed("flavors are added up: queues have several resource groups", root.name)
        for (flavor, resource), amount in everything.items():
            room = rooms.setdefault((root.name, flavor if apart else ""), {})
            room[resource] = room.get(resource, Fraction(0)) + amount
    return rooms


def _keep_unlent(rooms: dict[Class, dict[str, Fraction]], forest: Quotas, idle: Collection[str], notes: Notes) -> None:
    """Take out of the rooms, where there are any, what queues without tasks do not lend: nobody can use it."""
    for quota in [*forest.queues.values(), *forest.cohorts.values()]:
        if not quota.lending:
            continue
        if not quota.parent or quota.name not in idle or quota.name in forest.cohorts:
            notes.unused("lendingLimit: the whole quota is lent while its queue does not need it", quota.name)
            continue
        root = forest.root(quota).name
        for (flavor, resource), amount in forest.unlent(quota).items() if rooms else ():
            rooms[(root, flavor) if (root, flavor) in rooms else (root, "")][resource] -= amount
        notes.assumed("quota that a queue without tasks does not lend is left out", quota.name)


def _queues(forest: Quotas, idle: Collection[str], notes: Notes, given: bool) -> list[QueueNode]:
    """Return queues and cohorts; a root that is the whole cluster is no group.

    Where the cluster is `given` beside the files it is another, of which all below a root use what their quotas say.
    """
    found = []
    for quota in forest.queues.values():
        nominal = _by_resource(quota.nominal)
        promised, ceiling = (nominal, _ceiling(quota, quota.nominal, notes)) if quota.parent else ({}, nominal)
        if quota.parent and len(nominal) < len(quota.nominal):
            what = "quotas and limits of the flavors of a resource are added up: of one of them it may use more"
            notes.assumed(what, quota.name)
        if given and quota.parent:
            everything = forest.all_of(forest.root(quota), idle)
            whole, reach = _by_resource(everything), _by_resource({k: everything[k] for k in quota.nominal})
            # Of flavors that it has no quota of it borrows nothing.
            ceiling |= {r: min(ceiling.get(r, most), most) for r, most in reach.items() if most < whole[r]}
        found.append(QueueNode(quota.name, _group(quota.parent), quota.weight, promised, ceiling))
    for quota in forest.cohorts.values():
        everything = forest.all_of(quota, idle)
        own = everything if quota.parent else {}
        ceiling = _ceiling(quota, own, notes) if quota.parent else _by_resource(everything) if given else {}
        found.append(
            QueueNode(
                _group(quota.name),
                _group(quota.parent),
                quota.weight,
                _by_resource(own),
                ceiling,
                label=quota.name,
                group=True,
            )
        )
    roots = [quota for quota in forest.cohorts.values() if not quota.parent]
    if not given and len(roots) == 1 and all(queue.parent for queue in forest.queues.values()):
        return [
            replace(queue, parent="" if queue.parent == _group(roots[0].name) else queue.parent)
            for queue in found
            if queue.name != _group(roots[0].name)
        ]
    return found


def _group(cohort: str) -> str:
    """Return a name for a cohort that no queue has."""
    return f"cohort {cohort}" if cohort else ""


def _ceiling(quota: QuotaNode, own: Mapping[Key, Fraction], notes: Notes) -> dict[str, Fraction]:
    """Return what a queue or a cohort may use, its own and what it may borrow, where that is bounded.

    What the members of a cohort do not lend they may use beside what the cohort borrows.
    """
    unbounded = {key[1] for key in own if key not in quota.borrowing}
    limits = {key: limit for key, limit in quota.borrowing.items() if key[1] not in unbounded}
    if len(limits) < len(quota.borrowing):
        notes.unused("borrowingLimit of one flavor: another has none, so that the sum is not bounded", quota.name)
    return _by_resource({key: own.get(key, Fraction(0)) + limit for key, limit in limits.items()})


def _by_resource(amounts: Mapping[Key, Fraction]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for (_, resource), amount in amounts.items():
        total[resource] = total.get(resource, Fraction(0)) + amount
    return total


def _flavors(objects: Objects, notes: Notes) -> dict[str, Features]:
    """Return labels and taints of the nodes of each flavor that says them; whom it lets in tolerates what it says."""
    found = {}
    for item in objects.take("ResourceFlavor", API):
        spec = item["spec"]
        tell_unused(spec, ("nodeLabels", "nodeTaints", "tolerations"), "a ResourceFlavor", name(item), notes)
        labels = {key: part.text() for key, part in spec["nodeLabels"].pairs()}
        there, own = features_of(labels, spec["nodeTaints"].each(), labels), needs_of(spec)
        kept = tuple(taint for taint in there.taints if not allows(own, Features(taints=(taint,))))
        found[name(item)] = Features(there.labels, kept)
    return found


def _of_flavor(needs: PodNeeds, features: Features) -> PodNeeds:
    """Return what concerns a flavor: only the labels that it names are compared."""
    known = {label for label, _ in features.labels}
    selector = tuple(one for one in needs.selector if one[0] in known)
    terms = needs.terms
    if terms is not None:
        kept = tuple(tuple(one for one in term if one[0] in known) for term in terms)
        terms = kept if all(kept) else None
    return PodNeeds(selector, terms, needs.tolerations)


def _check_shares(forest: Quotas, notes: Notes) -> None:
    """Note every weighted share in the status that these quotas do not give."""
    for quota in [*forest.queues.values(), *forest.cohorts.values()]:
        if quota.reported is None:
            continue
        share = forest.share(quota)
        # Older versions cut it to a whole number, newer ones round it up; an infinite one is the largest integer.
        if share is None or quota.reported in (int(share), -int(-share // 1)):
            continue
        notes.assumed(
            "weighted share in the status is not what these quotas give: is all of the cohort listed?",
            f"{quota.name}: {quota.reported}, computed {float(share):g}",
        )
