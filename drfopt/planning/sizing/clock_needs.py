"""How many tasks others have at least when a user has what it needs, under guarantees, tiers, groups and ceilings.

Let the clock of `drfopt.model.hierarchy` run, and take the moment at which user i has the tasks that it needs.  User l
who is not stopped before i (`drfopt.planning.sizing.needs`) is at her limit, or rising.  Then, while guarantees are
being kept, she has as large a part of hers as i.  Afterwards she has hers, and going up the tree from i, at each node v
beside which l or a group of hers is a child h of the same parent:

    h is served before v    l is at her limit, for v rises
    h is served after v     nothing more is said
    of the same rank        level(h)  >=  level(v)  >=  level of what the members of v have at least

Going down from h to l the children c of a group on her way are of different ranks too.  With y the level of the one
that l is in, the others hold at most

    served before           their limits
    of the same rank        what makes them y high, or what they are promised
    served after            what they are promised

so y is at least where all of that comes to the level of the group.  A ceiling of a group on the way stops l where it is
full, and no earlier: so y is at least that, or where all of it fills the ceiling.  Levels are as guarantees mean them:
of what is held, above what is promised, or in parts of what is promised.  They are counted in parts of the capacity of
one resource; those of the others lie between bounds, and an amount that does not change counts as one more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...model.hierarchy.tree import members_of
from ...model.instance import Instance
from ...model.organisation import Group
from ...model.policies import Policy
from .rates import FROM_DEMANDS, weights_of

__all__ = ["ClockNeeds", "clock_needs", "guaranteed_tasks", "past_ceilings"]

ROUNDED = 1 - 1e-10
"""What a lower bound is multiplied by after sums over many users in floats."""


Lines = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of each row what is held at level 0 and for a level, in a line, at the least and at the most: (rows, columns)."""


@dataclass(frozen=True, eq=False)
class _Node:
    """A group, or the root: its rank among siblings, who is in it, and how what they hold makes its level.

    Of column c that is ``(part[c] * use - offset[c]) / capacity[c]``.  `ceilings` (m,) is inf where there is none.
    """

    rank: int
    users: np.ndarray
    groups: "tuple[_Node, ...]"
    everyone: np.ndarray
    part: np.ndarray
    offset: np.ndarray
    ceilings: np.ndarray


@dataclass(frozen=True, eq=False)
class ClockNeeds:
    """Who rises with whom.

    Attributes
    ----------
    root : _Node
    rank : int array (n,)
        Of each user among its siblings; lower ones are served first.
    demands : array (n, m)
    use : array (n, columns)
        What one task uses of each column that is counted.
    part, offset : arrays (n, columns)
        With x tasks the level is the largest, or the sum, of ``(part[i] * x - offset[i]) / capacity``.
    of : int array (columns,)
        The resource whose capacity that is; m for an amount that does not change.
    limits, least, most : arrays (n,)
        Limits, and what guarantees are worth at the least and at the most.
    summed, fixed, unchanging : bool
        Whether levels are sums and not the largest; whether no capacity is in them, or some column has none.
    """

    root: _Node
    rank: np.ndarray
    demands: np.ndarray
    use: np.ndarray
    part: np.ndarray
    offset: np.ndarray
    of: np.ndarray
    limits: np.ndarray
    least: np.ndarray
    most: np.ndarray
    summed: bool
    fixed: bool
    unchanging: bool

    def raised(
        self,
        who: np.ndarray,
        able: np.ndarray,
        capped: np.ndarray,
        least: np.ndarray,
        quotients: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
    ) -> np.ndarray:
        """Return the least tasks (n,) that follow for everybody; inf of whom nothing stops and who is served before.

        Parameters
        ----------
        who : int array (users,)
            Users i.
        able : array of bool (users, n)
            Who is not stopped before each of them, but by ceilings.
        capped : array of bool (users, n)
            Whom ceilings may stop that do not stop the user.
        least : array (n,)
            The least tasks as far as is known.
        quotients : array (m, m)
            ``C[g] / C[j]`` is at least ``quotients[j, g]``.
        low, high : arrays (m,)
            Ends of the capacity of the whole cluster.
        """
        found = least.copy()
        wanted, most = least[who], self.most[who]
        some = (most > 0) & (wanted > 0)
        part = np.divide(wanted, most, where=some & np.isfinite(most), out=np.zeros(len(who)))
        part = np.minimum(np.where(most > 0, part, 1.0), 1.0)[:, None]
        np.maximum(found, np.where(able, part * self.least, 0.0).max(axis=0, initial=0.0) * ROUNDED, out=found)
        later = wanted > most
        who, able = who[later], able[later]
        if not len(who):
            return found
        for ends in self._capacities(quotients, low, high):
            np.maximum(found, _Moment(self, who, able, capped[later], least, high, *ends).needs(), out=found)
        return found

    def at_level(self, i: int, level: float, low: np.ndarray) -> float:
        """Return the tasks that a user has at least at a level, in clusters of the capacity `low (m,)` or more."""
        ends = np.append(low, 1.0)[self.of] if not self.fixed else np.ones(1)
        return float(self.tasks(np.array([i]), np.array([level]), ends, np.full(len(ends), np.inf))[0, 0])

    def _capacities(self, quotients: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Return between what the capacity of each column is, in units of one resource after the other."""
        if self.fixed:
            return [(np.ones(1), np.ones(1))]
        m = len(low)
        whole = np.ones((m + 1, m + 1))
        whole[:m, :m], whole[m, :m] = quotients, low
        with np.errstate(divide="ignore"):
            whole[:m, m] = 1 / high
            over = 1 / whole
        rows = range(m + 1 if self.unchanging else m)
        return [(whole[r][self.of], over[:, r][self.of]) for r in rows]

    def level(self, amounts: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the least level (rows,) of amounts (rows, columns), what is promised taken off; 0 says nothing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(amounts > 0, amounts / high, np.where(amounts < 0, amounts / low, 0.0))
        found = shares.sum(axis=-1) if self.summed else shares.max(axis=-1, initial=0.0)
        return np.asarray(np.maximum(found, 0.0))

    def tasks(self, users: np.ndarray, level: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the least tasks (rows, users) at levels (rows,), up to limits; of levels up to 0 nothing is known."""
        part, offset = self.part[users], self.offset[users]
        at = level[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.summed:
                known = np.where(low > 0, offset / high, 0.0).sum(axis=-1)
                slow = np.where(part > 0, part / low, 0.0).sum(axis=-1)
                found = np.where(slow > 0, (at + known) / slow, 0.0)
            else:
                found = np.full((len(at), len(users)), np.inf)
                for c in range(len(low)):
                    way = np.where(low[c] > 0, at * low[c], 0.0) + offset[:, c]
                    np.minimum(found, np.where(part[:, c] > 0, way / part[:, c], np.inf), out=found)
                found[:, ~(part > 0).any(axis=1)] = 0.0
        found = np.minimum(np.where(at > 0, np.nan_to_num(found, nan=0.0, posinf=np.inf), 0.0), self.limits[users])
        return np.where(np.isfinite(found), found, 0.0)

    def risen(self, users: np.ndarray, level: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the same of users who have what they are promised in any case."""
        return np.maximum(self.tasks(users, level, low, high), self.least[users])


class _Moment:
    """What everybody has at least when users have what they need, capacities lying between two ends (columns,)."""

    def __init__(
        self,
        rules: ClockNeeds,
        who: np.ndarray,
        able: np.ndarray,
        capped: np.ndarray,
        least: np.ndarray,
        top: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
    ):
        self.rules, self.who, self.able, self.known, self.low, self.high = rules, who, able, least, low, high
        self.capped, self.top = capped, top
        # A row a user who has what it needs: what the others have unless they were stopped before.
        self.has = np.tile(rules.least, (len(who), 1))
        self.has[np.arange(len(who)), who] = least[who]
        self.certain = able.copy()
        self.certain[np.arange(len(who)), who] = True
        self.full = np.where(np.isfinite(rules.limits), rules.limits, rules.least)
        self.endless = np.zeros(len(rules.limits), dtype=bool)

    def needs(self) -> np.ndarray:
        """Return the least tasks of everybody (n,)."""
        self._climb(self.rules.root)
        found = np.where(self.able, self.has, 0.0).max(axis=0, initial=0.0) * ROUNDED
        return np.where(self.endless, np.inf, found)

    def _before(self, rows: np.ndarray, users: np.ndarray) -> None:
        """Note who of users served before those of rows would have to be at limits that they have not."""
        able = (self.able & ~self.capped)[np.ix_(rows, users)].any(axis=0)
        self.endless[users] |= able & np.isinf(self.rules.limits[users])

    def _climb(self, node: _Node) -> tuple[np.ndarray, np.ndarray]:
        """Fill in what those below a node have whose rows are of others below it; return these rows and its level."""
        rules, who = self.rules, self.who
        level, rank = np.zeros(len(who)), np.zeros(len(who), dtype=int)
        direct = np.isin(who, node.users)
        amounts = rules.part[who] * self.known[who][:, None] - rules.offset[who]
        level[direct] = rules.level(amounts, self.low, self.high)[direct]
        rank[direct] = rules.rank[who[direct]]
        inside = [direct]
        for group in node.groups:
            rows, above = self._climb(group)
            level[rows], rank[rows] = above[rows], group.rank
            inside.append(rows)
        below = np.logical_or.reduce(inside)
        rows = np.flatnonzero(below)
        if not len(rows):
            return below, level
        if len(node.users):
            users = node.users
            risen = rules.risen(users, level[rows] * ROUNDED, self.low, self.high)
            others = rules.rank[users][None, :]
            risen = np.where(others == rank[rows, None], risen, rules.least[users])
            risen = np.where(others < rank[rows, None], self.full[users], risen)
            for i in np.unique(rank[rows]).tolist():
                self._before(rows[rank[rows] == i], users[rules.rank[users] < i])
            risen[who[rows][:, None] == users] = self.known[who[rows[np.isin(who[rows], users)]]]
            self.has[np.ix_(rows, users)] = risen
        for group, own in zip(node.groups, inside[1:], strict=True):
            others = np.flatnonzero(below & ~own)
            before = others[group.rank < rank[others]]
            self._descend(group, before, np.full(len(before), np.inf))
            self._before(before, group.everyone)
            same = others[group.rank == rank[others]]
            self._descend(group, same, level[same] * ROUNDED)
        if node is not self.rules.root:
            held = np.where(self.certain[rows], self.has[rows], np.minimum(self.has[rows], self.known))
            use = held[:, node.everyone] @ rules.use[node.everyone]
            level[rows] = rules.level(use * node.part - node.offset, self.low, self.high)
        return below, level

    def _descend(self, node: _Node, rows: np.ndarray, level: np.ndarray) -> None:
        """Fill in what those in a group have that is at least at a level (rows,), or stopped by a ceiling."""
        if not len(rows):
            return
        rules, ranks = self.rules, self.rules.rank[node.users]
        for rank in sorted({*ranks.tolist(), *(group.rank for group in node.groups)}):
            inner, full = (found * ROUNDED for found in self._inner(node, rank, level))
            users = node.users[ranks == rank]
            risen = rules.risen(users, inner, self.low, self.high)
            for j in np.flatnonzero(np.isfinite(full)):
                some = rules.demands[users, j] > 0
                stopped = rules.risen(users[some], np.minimum(inner, full[j]), self.low, self.high)
                risen[:, some] = np.minimum(risen[:, some], stopped)
            self.has[np.ix_(rows, users)] = risen
            for group in (group for group in node.groups if group.rank == rank):
                used = rules.demands[group.everyone].any(axis=0)
                self._descend(group, rows, np.minimum(inner, full[used].min(initial=np.inf)))

    def _inner(self, node: _Node, rank: int, reached: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the level of the children of a rank at which their group may come to a level (rows,), and from which
        on it may fill its ceilings (m,); inf for never.

        What all hold at the most is a line between any two of the levels at which somebody begins or comes to an end.
        """
        rules, ranks = self.rules, self.rules.rank[node.users]
        same = [group for group in node.groups if group.rank == rank]
        others = [(node.users[ranks < rank], rules.limits), (node.users[ranks > rank], rules.most)]
        others += [(g.everyone, rules.limits if g.rank < rank else rules.most) for g in node.groups if g.rank != rank]
        fixed = np.sum([self._added(node, users, tasks).sum(axis=0) for users, tasks in others], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            taken = np.where(node.offset > 0, node.offset / self.high, 0.0)
        lines = [self._lines(node, node.users[ranks == rank]), *(self._group_line(node, group) for group in same)]
        begin, slope, start, most = (np.concatenate(parts) for parts in zip(*lines, strict=True))
        known = np.isfinite(fixed) & np.isfinite([begin, slope, start]).all(axis=(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            bends = np.concatenate([((end - begin) / slope)[:, known].ravel() for end in (start, most)])
            bends = np.unique(np.concatenate([[0.0], bends[np.isfinite(bends) & (bends > 0)]]))
            bends = np.append(bends, 2 * bends[-1] + 1)
            risen = begin + slope * bends[:, None, None]
            each = np.minimum(np.maximum(risen, start), most).sum(axis=1) + fixed
        m = len(self.top)
        each[:, :-m] -= taken.sum(keepdims=True) if rules.summed else taken
        ways = [
            _first(bends, values, reached) if so else np.zeros(len(reached))
            for values, so in zip(each[:, :-m].T, known[:-m], strict=True)
        ]
        full = np.zeros(m)
        for j in np.flatnonzero(known[-m:]):
            full[j] = _first(bends, each[:, j - m], np.ones(1))[0]
        full[~(node.ceilings < self.top)] = np.inf
        return np.where(np.isinf(reached), np.inf, np.min(ways, axis=0)), full

    def _added(self, node: _Node, users: np.ndarray, tasks: np.ndarray) -> np.ndarray:
        """Return what tasks (n,) of users add to the level of a group at the most, by column or as a sum, and to parts
        of its ceilings that are full, (users, columns or 1, and m)."""
        rules = self.rules
        with np.errstate(divide="ignore", invalid="ignore"):
            held = np.where((rules.use[users] > 0) & (node.part > 0), rules.use[users] * node.part / self.low, 0.0)
            held = held.sum(axis=1, keepdims=True) if rules.summed else held
            held = np.concatenate([held, rules.demands[users] / node.ceilings], axis=1)
            return np.asarray(np.where(held > 0, held * tasks[users][:, None], 0.0))

    def _lines(self, node: _Node, users: np.ndarray) -> Lines:
        """Return what users (users, columns) add to their group: at level 0, for a level, and from and up to where."""
        rules = self.rules
        part, offset, each = rules.part[users], rules.offset[users], np.arange(len(users))
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(part > 0, part / self.high, 0.0)
            if rules.summed:
                rate = rates.sum(axis=1)
                begin = np.where(offset > 0, offset / self.low, 0.0).sum(axis=1) / rate
            else:
                rate, most = rates.max(axis=1, initial=0.0), rates.argmax(axis=1)
                begin = offset[each, most] / part[each, most]
            # Of whom no rate is known her limit alone is.
            known = (rate > 0) & np.isfinite(begin)
            begin, slope = np.where(known, begin, 0.0), np.where(known, 1 / rate, 0.0)
        start = np.where(known, np.minimum(rules.most[users], rules.limits[users]), rules.limits[users])
        ends = np.zeros(len(rules.limits))
        found = []
        for tasks in (begin, slope, start, rules.limits[users]):
            ends[users] = tasks
            found.append(self._added(node, users, ends))
        return found[0], found[1], found[2], found[3]

    def _group_line(self, node: _Node, group: _Node) -> Lines:
        """Return the same of a group in a group: of anything it holds what makes it so high, or what was promised."""
        rules = self.rules
        held, most = (self._added(node, group.everyone, tasks).sum(axis=0) for tasks in (rules.most, rules.limits))
        with np.errstate(divide="ignore", invalid="ignore"):
            if rules.summed:
                # Where all parts are by weight alone, sums of shares differ by these.
                over = np.full(1, np.inf if rules.unchanging else node.part.max() / group.part.max())
                begin = over * np.where(group.offset > 0, group.offset / self.low, 0.0).sum()
            else:
                over = np.where(node.part > 0, node.part / group.part, 0.0)
                begin = np.where(group.offset > 0, over * group.offset / self.low, 0.0)
            # Of a resource it holds no more than is its level, unless that leaves out what is promised.
            m, per_task = len(self.top), rules.demands[group.everyone].max(axis=0, initial=0.0)
            held_so_high = per_task / group.part if rules.fixed else self.high[:m] / group.part[:m]
            filling = np.where(np.isfinite(node.ceilings), held_so_high / node.ceilings, 0.0)
            over = np.concatenate([over, np.where(group.offset.any(), np.inf, filling)])
            begin = np.concatenate([begin.reshape(-1), np.zeros(m)])
        known = np.isfinite(over) & np.isfinite(begin)
        rows = (np.where(known, begin, 0.0), np.where(known, over, 0.0), np.where(known, held, most), most)
        return rows[0][None], rows[1][None], rows[2][None], rows[3][None]


def clock_needs(instance: Instance, policy: Policy, limits: np.ndarray) -> ClockNeeds | None:
    """Return who rises with whom under the rules of an instance; None where there are none, or levels are unknown."""
    rules = instance.organisation
    pool = policy.measure == "alone" and instance.machines is None and instance.task_types is None
    if rules is None or rules.only_ceilings or not (policy.measure in FROM_DEMANDS or (pool and not rules.groups)):
        return None
    n, m, fixed = instance.n, instance.m, policy.measure == "tasks"
    summed, over = policy.measure == "asset", weights_of(instance, policy)
    width = 1 if fixed else 2 * m if rules.meaning == "normalised" else m
    counted = np.array(instance.counted)
    if policy.measure == "single":
        counted = counted & (np.arange(m) == instance.resources.index(policy.argument))
    demands = np.ones((n, 1)) if fixed else np.where(counted, instance.demands, 0.0)
    column = {name: j for j, name in enumerate(instance.resources) if counted[j]}

    def measured(guarantee: Mapping[str, Fraction], weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return parts and offsets (columns,) of a node with this guarantee and weights (columns of it or 1,)."""
        part, offset = np.zeros(width), np.zeros(width)
        part[: demands.shape[1]] = np.where(fixed | counted, 1.0, 0.0) if not fixed else 1.0
        part[: demands.shape[1]] /= weight
        for j, amount in ((column[r], float(amount)) for r, amount in guarantee.items() if r in column and amount):
            if rules.meaning == "normalised":
                part[j], part[m + j] = 0.0, part[j] / amount
            elif rules.meaning == "surplus":
                offset[j] = amount * part[j]
        return part, offset

    use = np.tile(demands, 1 if width <= m else 2)
    rows = [measured(guarantee, weight) for guarantee, weight in zip(rules.guarantees, over, strict=True)]
    part = np.array([row[0] for row in rows]) * use
    offset = np.array([row[1] for row in rows])
    if not summed:
        offset = np.where(use > 0, offset, 0.0)
    ranks = list(zip((-tier for tier in rules.tiers), rules.last, strict=True))
    order = sorted({*ranks, *((-group.tier, not group.weight) for group in rules.groups)})
    rank = np.array([order.index(one) for one in ranks], dtype=int)
    below = members_of(rules, n)

    def node(name: str, own: Group) -> _Node:
        users = np.flatnonzero([path == name for path in rules.paths])
        groups = tuple(node(group.name, group) for group in rules.groups if group.parent == name)
        parts = measured(own.guarantee, np.array(float(own.weight or 1)))
        most = np.array([float(own.ceiling.get(resource, np.inf)) for resource in instance.resources])
        return _Node(order.index((-own.tier, not own.weight)) if name else 0, users, groups, below[name], *parts, most)

    root = node("", Group("", 1))
    least, most = guaranteed_tasks(instance)
    of = np.concatenate([np.arange(min(width, m)), np.full(width - min(width, m), m)])
    needs = np.array(instance.demands)
    return ClockNeeds(root, rank, needs, use, part, offset, of, limits, least, most, summed, fixed, width > m)


def _first(bends: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return where a line that never falls, through values at bends, comes to what is wanted; inf for never."""
    at = np.clip(np.searchsorted(values, wanted, "left") - 1, 0, len(bends) - 2)
    rise, step = values[at + 1] - values[at], bends[at + 1] - bends[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        way = np.where(rise > 0, (wanted - values[at]) / rise * step, np.inf)
    end = np.where(at < len(bends) - 2, bends[at + 1], np.inf)
    return np.where(wanted <= max(values[0], 0.0), 0.0, np.minimum(bends[at] + np.maximum(way, 0.0), end))


def guaranteed_tasks(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """Return how many tasks guarantees are worth to each user at the least and at the most, (n,).

    What those of groups are worth depends on what there is: to a member no more than uses one of them up alone, or its
    limit where it needs nothing of them.
    """
    rules, limits = instance.organisation, instance.limits
    if rules is None:
        return np.zeros(instance.n), np.zeros(instance.n)

    def alone(guarantee: Mapping[str, Fraction]) -> np.ndarray:
        found = np.full(instance.n, np.inf)
        for resource, amount in guarantee.items():
            demands = instance.demands[:, instance.resources.index(resource)]
            np.minimum(
                found, np.divide(float(amount), demands, where=demands > 0, out=np.full(len(found), np.inf)), out=found
            )
        return found

    own = np.zeros(instance.n)
    for i in (i for i, guarantee in enumerate(rules.guarantees) if guarantee):
        found = alone(rules.guarantees[i])[i]
        own[i] = min(found, limits[i]) if np.isfinite(found) else 0.0
    most, below = own.copy(), members_of(rules, instance.n)
    for group in (group for group in rules.groups if group.guarantee):
        users = below[group.name]
        most[users] = np.maximum(most[users], np.minimum(alone(group.guarantee), limits)[users])
    return own * ROUNDED, most / ROUNDED


def past_ceilings(instance: Instance, who: np.ndarray) -> list[tuple[int, float, np.ndarray, np.ndarray, bool]]:
    """Return what ceilings of groups may stop whom from using what users (users,) could give up.

    Of each that its members could ever reach: the resource, the amount, who uses it, of whom that is said, bool
    (users, n), and whether they may be there while guarantees are being kept.
    Where there is no more of the resource than that, it stops nobody before the cluster does.
    """
    rules, found = instance.organisation, list[tuple[int, float, np.ndarray, np.ndarray, bool]]()
    below, promised = members_of(rules, instance.n), guaranteed_tasks(instance)[1]
    for group in () if rules is None else rules.groups:
        inside = np.isin(np.arange(instance.n), below[group.name])
        for resource, amount in group.ceiling.items():
            j = instance.resources.index(resource)
            users = np.flatnonzero(inside & (instance.demands[:, j] > 0))
            if (instance.limits[users] * instance.demands[users, j]).sum() < float(amount) * ROUNDED:
                continue
            stopped = np.outer(~inside[who], np.isin(np.arange(instance.n), users))
            early = not promised[users] @ instance.demands[users, j] < float(amount) * ROUNDED
            found.append((j, float(amount), users, stopped, early))
    return found
