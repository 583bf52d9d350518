"""Leximin of whole tasks: one tree for each level that somebody has."""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Any

from .claims import Claim
from .reading import shown
from .trees import CELLS_A_STEP, Carried, Tree, Undecided, cheapest, leaves, price_of, scale_of
from .work import spend

__all__ = ["levels_refuted"]


def levels_refuted(claim: Claim, trees: list[Tree]) -> Iterator[tuple[Fraction, str]]:
    """Yield every level that somebody has, from the lowest, with why its tree does not prove it; "" where it does.

    Sorted levels are the best when at none of them fewer users can be: with at most as many at each lower one, and all
    others above.  Everybody then chooses one of a few numbers of tasks.  Where all who could be at a lower level are
    there, they are known to be.
    """
    cluster = Carried(claim)
    unit = math.lcm(*(claim.r[i].denominator for i in cluster.users))
    rate, tasks = {i: int(claim.r[i] * unit) for i in cluster.users}, {i: int(claim.x[i]) for i in cluster.users}
    alike = {i: (cluster.shape[i], rate[i], cluster.alone(claim, i)) for i in cluster.users}
    waiting, own = Counter(alike.values()), Counter(rate[i] * tasks[i] for i in cluster.users)
    stops: list[tuple[int, int]] = []
    fixed = [0] * len({*cluster.shape.values()})
    given = iter(trees)
    for level, count in sorted(own.items()):
        rows = [*stops, (level, count - 1)]
        options: dict[Any, list[tuple[int, int | None]]] = {}
        for kind in waiting:
            _, r, most = kind
            spend(0, 1 + len(rows))
            stay = [(at // r, row) for row, (at, n) in enumerate(rows) if n and at % r == 0 and at // r <= most]
            above = level // r + 1
            options[kind] = [*stay, *([(above, None)] if above <= most else [])]
        tree = next(given, [])
        yield Fraction(level, unit), _level(cluster, tree, options, waiting, rows, fixed, alike)
        may = {kind: n for kind, n in waiting.items() if level % kind[1] == 0 and level // kind[1] <= kind[2]}
        if sum(may.values()) == count:
            for kind, n in may.items():
                fixed[kind[0]] += n * (level // kind[1])
                del waiting[kind]
        else:
            stops.append((level, count))


def _level(
    cluster: Carried,
    tree: Tree,
    options: dict[Any, list[tuple[int, int | None]]],
    number_of: Counter[Any],
    rows: list[tuple[int, int]],
    fixed: list[int],
    alike: dict[int, Any],
) -> str:
    def key(node: dict[str, Any]) -> Any:
        return cluster.key(node) if "class" in node else ("user", alike[cluster.at[node["user"]]], int(node["tasks"]))

    def free(what: Any) -> tuple[int, int]:
        return 0, number_of[what[1]] if what[0] == "user" else cluster.count[what[0]]

    for leaf, bounds in leaves(tree, key, free):
        integer = scale_of(leaf)
        counts = [price_of(v, integer) for v in leaf.get("levels", ())]
        if len(counts) != len(rows):
            raise Undecided(f"a leaf has {len(counts)} multipliers of {len(rows)} levels")
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            continue
        costs, worth = found
        worth += sum(p * n for p, (_, n) in zip(counts, rows, strict=True))
        asked = [sum(map(mul, costs, fixed))]
        for kind, mine in options.items():
            each = [costs[kind[0]] * x + (0 if row is None else counts[row]) for x, row in mine]
            spend(0, 1 + len(each) // CELLS_A_STEP)
            n = number_of[kind]
            cost = cheapest(each, [bounds.get(("user", kind, x), (0, n)) for x, _ in mine], n)
            if cost is None:  # Nobody can choose so.
                break
            asked.append(cost)
        else:
            if sum(asked) <= worth:
                return f"tasks cost {shown(sum(asked))} at least, and all that can be run is worth {shown(worth)}"
    return ""
