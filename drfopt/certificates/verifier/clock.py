"""Groups that decide who rises with whom: the clock of their rules, run again with the amounts of the file.

Before all else everybody rises to what it is promised, all to the same part of it.  Then at every node of the tree
those rise together who come first (by tier, weights of 0 last in theirs): all have one level, whoever has a higher one
waits, whoever is at its limit stays behind; the level of a group is what all its users hold, as the policy measures it.
Where a group's level stands still while its users rise, all groups that do so at once gain the same: the sum of shares
of all resources, by their weights.  So a node has a *path*: what its users have as its level grows, on straight pieces.
The clock stops at the last moment before something is more than used up; whoever needs that is finished, and the others
go on.

In a pool that is computed from the instance alone.  On machines the file says at which prices a stop was made: there
all money is spent, P = sum_i q_i x_i(t), and what can be seen before it was possible, since in the end everybody has
more; so whoever pays can have no more while nobody has less.  What the clock leaves everybody with is the answer.

A file of floats has all but all money spent.  There a round stops whom the file says, if it pays a price that is no
rounding and could not rise on what is left by more than the accuracy; whoever else pays has not more than at the stop.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .claims import Claim
from .groups import TreeNode, tree
from .order import BEYOND, ROUNDING, Round, could_rise
from .paths import Knot, Path, Tasks, at_level, bent, between, counted, first, last
from .reading import number, total

__all__ = ["RuleClock", "by_the_clock"]


class RuleClock:
    """The rules of one claim: what everybody is promised, and the paths of all groups."""

    def __init__(self, claim: Claim):
        self.claim, self.c, self.root = claim, (c := claim.c), tree(claim.c)
        self.plays = [i for i in claim.n if claim.plays[i]]
        alone = {i: min(r / d for r, d in zip(c.cluster, c.d[i], strict=True) if d) * BEYOND for i in self.plays}
        self.most = {i: x if (u := claim.u[i]) is None else min(u, x) for i, x in alone.items()}
        self.shares = {i: total(d / r for d, r in zip(c.d[i], c.cluster, strict=True) if r) for i in self.plays}
        self.promised = {i: c.floor[i] for i in self.plays}
        for group in reversed(list(self.root.nodes())):
            if group.given.get("guarantee"):
                self.promised |= self.worth(group)

    # ---- paths ----------------------------------------------------------------------------------------------------

    def rows(self, group: TreeNode) -> list[tuple[Tasks, Fraction]]:
        """Return what a task of each user counts in the level of a group, row by row, and what is taken off."""
        c, (word, _, argument) = self.c, self.claim.policy.partition(":")
        weight, promise = group.weight or number(1), group.given.get("guarantee", {})
        mine = [i for i in group.everyone() if i in self.most]
        if word in ("tasks", "tsf", "throughput"):
            counts = {i: number(1) if word == "throughput" else c.w[i][0] for i in mine}
            return [({i: max(self.claim.by_weight[i])[0] * counts[i] / weight for i in mine}, number(0))]
        found = []
        for j, (name, room) in enumerate(zip(c.resources, c.cluster, strict=True)):
            if room and j not in c.excluded and (word != "single" or name == argument):
                own = number(promise.get(name, 0))
                unit = (own if own and c.meaning == "normalised" else room) * weight
                row = {i: c.d[i][j] / unit for i in mine}
                found.append((row, own / unit if c.meaning == "surplus" else number(0)))
        if word == "asset":
            columns = {i: total(row[i] for row, _ in found) for i in mine}
            return [(columns, total(offset for _, offset in found))]
        return found or [({}, number(0))]

    def leaf(self, i: int, has: Fraction, most: Fraction, lines: list[tuple[Fraction, Fraction]]) -> Path:
        """Return the path of one user: it bends where another resource counts."""
        rows = [({i: slope}, offset) for slope, offset in lines]
        return list(bent([{i: has}, {i: most}], rows))

    def path(self, group: TreeNode, has: Tasks, most: Tasks) -> Path:
        """Return the path of a group whose users have something and may rise to what they have at most."""
        return list(bent([knot.tasks for knot in self.inner(group, has, most)], self.rows(group)))

    def inner(self, group: TreeNode, has: Tasks, most: Tasks) -> Path:
        """Return what the users of a group have as the level of those in it grows, rank by rank."""
        ranks: dict[Any, list[tuple[Path, Fraction]]] = {}
        for i in group.users:
            if i in most and has[i] < most[i]:
                own = self.leaf(i, has[i], most[i], self.claim.by_weight[i])
                ranks.setdefault(self.c.rank[i], []).append((own, number(1)))
        for child in group.groups:
            if any(i in most and has[i] < most[i] for i in child.everyone()):
                weighted = self.path(child, has, most), child.weight or number(1)
                ranks.setdefault(child.rank, []).append(weighted)
        return self.together(
            [ranks[rank] for rank in sorted(ranks)], {i: has[i] for i in group.everyone() if i in most}
        )

    def together(self, ranks: list[list[tuple[Path, Fraction]]], base: Tasks) -> Path:
        """Return the path of those who rise at one level, by path and weight, each rank after the one before."""
        found: Path = []
        for paths in ranks:
            for level in sorted({knot.level for path, _ in paths for knot in path}):
                jumps = [[knot.tasks for knot in path if knot.level == level] for path, _ in paths]
                gained = [self.gained(jump, weight) for jump, (_, weight) in zip(jumps, paths, strict=True)]
                for gain in sorted({number(0), *(gain for each in gained for gain in each)}):
                    tasks = dict(base)
                    for (path, _), jump, gains in zip(paths, jumps, gained, strict=True):
                        tasks |= self.having_gained(gain, jump, gains) if jump else at_level(path, level)
                    found.append(Knot(level, tasks))
            base = found[-1].tasks
        return found

    def gained(self, jump: list[Tasks], weight: Fraction) -> list[Fraction]:
        """Return what is gained at each point of a jump, in shares by weight."""
        if len(jump) <= 1:
            return [number(0) for _ in jump]
        held = [total(self.shares[i] * x for i, x in tasks.items()) / weight for tasks in jump]
        return [each - held[0] for each in held]

    def having_gained(self, gain: Fraction, jump: list[Tasks], gains: list[Fraction]) -> Tasks:
        """Return the point of a jump with this gain, or its end where it gains less."""
        after = next((at for at, each in enumerate(gains) if each >= gain), len(jump))
        if not after or after == len(jump):
            return jump[min(after, len(jump) - 1)]
        return between(jump[after - 1], jump[after], (gain - gains[after - 1]) / (gains[after] - gains[after - 1]))

    # ---- promises -------------------------------------------------------------------------------------------------

    def worth(self, group: TreeNode) -> Tasks:
        """Return what a group's guarantee promises its users: what they have when, by themselves, one of it is used up.

        Where nobody who uses one of it can rise any more it ends as well.
        """
        c, u = self.c, self.claim.u
        room = {c.resources.index(r): number(v) for r, v in group.given["guarantee"].items()}
        most, using = dict(self.most), set[int]()
        for i in self.plays:
            alone = [v / c.d[i][j] for j, v in room.items() if c.d[i][j]]
            using |= {i} if alone else set()
            most[i] = min([*alone, *([] if u[i] is None else [u[i]])], default=most[i])
        mine, has = [i for i in group.everyone() if i in self.most], self.promised
        counts = [counted([row[j] for row in c.d]) for j in room]
        before = zip([count({i: has[i] for i in mine}) for count in counts], room.values(), strict=True)
        if not any(i in using and has[i] < most[i] for i in mine) or any(used >= amount for used, amount in before):
            return {}
        self.let_rise(group, most, using)
        path = [knot.tasks for knot in self.inner(group, has, most)]
        every = counted([total(row[j] for j in room) for row in c.d])
        amounts = [*zip(counts, room.values(), strict=True), (every, every(path[-1]))]
        return min(end for count, amount in amounts if (end := first(path, count, amount))).tasks

    def let_rise(self, group: TreeNode, most: Tasks, using: set[int]) -> Fraction | None:
        """Let who uses nothing of a guarantee come to where its users end; return that level of the group, or None.

        At the level of siblings who use it nobody has more than her own line, or one of her group, allows by itself.
        """
        ranks: dict[Any, list[tuple[list[tuple[Tasks, Fraction]], Fraction | None]]] = {}
        for i in group.users:
            if i in most:
                rows = [({i: slope}, offset) for slope, offset in self.claim.by_weight[i]]
                own = max(slope * most[i] - offset for slope, offset in self.claim.by_weight[i])
                ranks.setdefault(self.c.rank[i], []).append((rows, own if i in using else None))
        for child in group.groups:
            end = self.let_rise(child, most, using)
            ranks.setdefault(child.rank, []).append((self.rows(child), end))
        for members in ranks.values():
            ends = [end for _, end in members if end is not None]
            for rows, _ in members if ends else ():
                for i in (i for i in rows[0][0] if i not in using and self.claim.u[i] is None):
                    far = min((max(ends) + offset) / row[i] for row, offset in rows if row.get(i))
                    most[i] = max(most[i], far)
        if using.isdisjoint(group.everyone()):
            return None
        return max(total(x * most[i] for i, x in row.items()) - offset for row, offset in self.rows(group))

    # ---- the clock ------------------------------------------------------------------------------------------------

    def onward(self, has: Tasks, done: set[int], promising: bool) -> list[Tasks]:
        """Return what everybody has from here on until all are at their limits, or have what they are promised."""
        most = self.promised if promising else self.most
        free = {i: has[i] if i in done else x for i, x in most.items()}
        rising = [i for i in free if has[i] < free[i]]
        if not rising:
            return []
        if not promising:
            return [knot.tasks for knot in self.inner(self.root, has, free)]
        ones = [self.leaf(i, has[i], free[i], [(1 / free[i], number(0))]) for i in rising]
        return [knot.tasks for knot in self.together([[(one, number(1)) for one in ones]], has)]

    def stops(self, rounds: list[Round]) -> Iterator[str]:
        """Run the clock; yield what is wrong with a stop of the file, and how what it leaves differs from the tasks."""
        claim, has, done = self.claim, dict.fromkeys(self.plays, number(0)), set[int]()
        given = [claim.market(*each)[:2] for each in rounds]
        for promising in (True, False):
            while path := self.onward(has, done, promising):
                ends = [(end, q) for q, money in given if (end := last(path, counted(q), money))]
                stop = min((end for end, _ in ends), default=None)
                has |= path[-1] if stop is None else stop.tasks
                done |= {i for i in has if any(q[i] for end, q in ends if end == stop)}
        yield from claim.names((i for i in self.plays if not claim.near(claim.x[i], has[i])), claim.x, has)

    def near_stops(self, rounds: list[Round], sound: bool) -> Iterator[str]:
        """Run the clock of machines and floats, stop by stop as the file lists them; yield what is wrong."""
        claim, has, done = self.claim, dict.fromkeys(self.plays, number(0)), set[int]()
        x, e, at = claim.x, claim.report.accuracy, {name: i for i, name in enumerate(claim.c.users)}
        off = {i: max(e * x[i], ROUNDING * most) for i, most in self.most.items()}
        named = [{at[u] for u in step["finished"]} & has.keys() for step in claim.proof.get("rounds") or []]
        waiting = list(zip(named, rounds, strict=True))
        yield from () if sound else ["some price is negative"]
        for promising in (True, False):
            while path := self.onward(has, done, promising):
                stop = None
                if waiting:
                    finished, each = waiting[0]
                    q, money, unspent = claim.market(*each)
                    stop = last(path, counted(q), money * (1 + ROUNDING))
                if stop is None:
                    has |= path[-1]
                    break
                waiting.pop(0)
                has |= stop.tasks
                wrong = {i for i in has if q[i] and x[i] > has[i] + off[i]}
                wrong |= {i for i in finished if not q[i] or x[i] < has[i] - off[i]}
                wrong |= {i for i in finished if could_rise(claim, i, q, money, unspent)}
                yield from claim.names(sorted(wrong), x, q)
                done |= finished
                has |= {i: x[i] for i in finished}
        yield from claim.names((i for i in self.plays if abs(x[i] - has[i]) > off[i]), x, has)


def by_the_clock(claim: Claim, rounds: list[Round]) -> None:
    """Everybody has what the clock leaves it with."""
    if flat := [i for i in claim.n if claim.plays[i] and not claim.r[i]]:
        return claim.report.add("everybody has a level", [], f"that of {claim.c.users[flat[0]]} is 0 whatever it has")
    clock, near = RuleClock(claim), claim.report.accuracy and not claim.c.pool
    sound = [each for each in rounds if min([*map(min, each[0]), *each[1]]) >= 0]
    faults = clock.near_stops(rounds, len(sound) == len(rounds)) if near else clock.stops(sound)
    return claim.report.add("everybody has what the clock of the rules leaves it", faults)
