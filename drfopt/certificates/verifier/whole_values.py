"""Sums, Nash products and alpha fairness of whole tasks: a tree of prices that bound what tasks can be worth.

Of tiers that are served in turn each has a tree of its own: among all that is worth no less to those before it, nothing
is worth more to it.  What the tiers before it are worth counts in a leaf with weights h >= 0 that the file gives, which
bounds its own part V by  V + sum_s h_s (V_s - what the file's tasks are worth to s).
"""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from operator import mul
from typing import Any

from .alpha_utility import AlphaUtility
from .branches import Bounds, Tree, Undecided, leaves
from .claims import Claim
from .reading import number
from .trees import CELLS_A_STEP, Carried, Scale, price_of, scale_of
from .whole_levels import whole_promises
from .work import bits, spend

__all__ = ["ValueProof", "value_refuted"]

DIGITS = 40
"""Decimals of a logarithm beyond those of the product."""

LONGEST = 4_000
"""Bits of a product that is compared exactly."""


class Value:
    """What tasks are worth to user i, as integers, known from below and from above; more is better.

    Of each tier that is served in turn `tiers` has the places of its users, and `turns` its turn; `least` is what the
    file's tasks are worth to it at least, `margin` by how much any that are worth more exceed that.
    """

    def __init__(self, claim: Claim, cluster: Carried):
        self.users, self.own = cluster.users, [int(claim.x[i]) for i in cluster.users]
        self.turns = sorted({claim.turns[i] for i in self.users})
        self.tiers = [[p for p, i in enumerate(self.users) if claim.turns[i] == turn] for turn in self.turns]
        self.most = {i: 0 if i in claim.barred else cluster.alone(claim, i) for i in self.users}
        self.curved, self.serving = claim.objective == "alpha", claim.objective == "alpha" and claim.alpha >= 1
        self.utility = AlphaUtility(claim.alpha) if self.curved and claim.alpha != 1 else None
        self.known: dict[Any, int] = {}
        if self.utility is not None:
            self.utilities(claim, self.utility)
        elif self.curved:
            self.logarithms(claim)
        else:
            self.unit = math.lcm(*(claim.r[i].denominator for i in self.users))
            self.rate, self.margin = {i: int(claim.r[i] * self.unit) for i in self.users}, [1] * len(self.tiers)
        self.least = [sum(self.low(self.users[p], self.own[p]) for p in mine) for mine in self.tiers]

    def utilities(self, claim: Claim, utility: AlphaUtility) -> None:
        """Prepare for alpha fairness: tasks are worth a power of levels; above 1, whoever is served counts first."""
        # Who may have nothing may also need nothing that counts: any level of a task says that it has none.
        self.weight, self.rates = {i: claim.income[i] for i in self.users}, {i: claim.r[i] for i in self.users}
        self.rates |= dict.fromkeys(claim.barred, Fraction(1))
        if idle := [i for i in self.users if not self.rates[i]]:
            raise Undecided(f"the level of {claim.c.users[idle[0]]} is 0 whatever it has, and has no utility")
        log10, b, power = utility.log10, utility.power, float(utility.power)
        steps = (
            log10(self.weight[i]) + power * log10(self.rates[i]) - float(claim.alpha) * math.log10(most or 1)
            for i, most in self.most.items()
        )
        digits = max(DIGITS - math.floor(min(steps)), 1)
        # Where values have a short common denominator, another one is larger by no less than its part.
        whole, top = 0, max(self.most.values())
        if utility.rational and 2 * top * abs(b) <= LONGEST:
            spend(abs(int(b)) * max(map(bits, self.rates.values())), len(self.users))
            parts = (self.weight[i] * self.rates[i] ** int(b) / b for i in self.users)
            whole = math.lcm(*(part.denominator for part in parts)) * math.lcm(*range(1, top + 1)) ** abs(int(b))
            digits += len(str(whole))
        if digits > LONGEST:
            raise Undecided(f"levels to the power {b} are too far apart")
        self.unit = 10**digits
        self.margin = [self.unit // whole if whole else 0] * len(self.tiers)
        self.served = 0
        if self.serving:
            ends = ((i, x) for i, most in self.most.items() for x in (1, most) if x)
            self.served = self.unit + 2 * sum(abs(self.low(i, x)) + 3 for i, x in ends)
            self.known.clear()

    def logarithms(self, claim: Claim) -> None:
        """Prepare for products: whoever is served counts more than all products, and then logarithms are added."""
        weights = [claim.income[i] for i in self.users]
        unit = math.lcm(*(w.denominator for w in weights))
        common = math.gcd(*(int(w * unit) for w in weights))
        self.power = {i: int(w * unit) // common for i, w in zip(self.users, weights, strict=True)}
        exact = sum(w * self.most[i].bit_length() for i, w in self.power.items()) <= LONGEST
        # Another product of integers is larger by a part of itself that is no smaller than this.
        self.whole = [self.product(self.own, mine) if exact else 0 for mine in self.tiers]
        digits = DIGITS + len(str(max(self.whole)))
        self.unit, self.context = 10**digits, Context(prec=digits + 20)
        self.margin = [self.unit // (whole + 1) if exact else 0 for whole in self.whole]
        self.served = self.unit + sum(w * (self.log(self.most[i] or 1) + 3) for i, w in self.power.items())

    def log(self, x: int) -> int:
        """Return the logarithm in units, rounded down: the true one is at most two units above."""
        if x not in self.known:
            spend(0, 20 + self.unit.bit_length() // 20)
            logarithm = self.context.multiply(self.context.ln(Decimal(x)), Decimal(self.unit))
            self.known[x] = int(logarithm.to_integral_value(ROUND_FLOOR)) - 1
        return self.known[x] if x > 1 else 0

    def low(self, i: int, x: int) -> int:
        """Return what x tasks are worth at least."""
        if not self.curved:
            return self.rate[i] * x
        if not x:
            return 0
        if self.utility is None:
            return self.served + self.power[i] * self.log(x)
        if (i, x) not in self.known:
            self.known[i, x] = self.served + self.utility.units(self.weight[i], self.rates[i] * x, self.unit)
        return self.known[i, x]

    def high(self, i: int, x: int) -> int:
        """Return what x tasks are worth at most."""
        if self.utility is not None:
            return self.low(i, x) + 2 * bool(x)
        return self.low(i, x) + (3 * self.power[i] if self.curved and x > 1 else 0)

    def best(self, i: int, cost: int, low: int, high: int, parts: int) -> int:
        """Return a bound of what tasks between two numbers are worth in parts beyond their cost, which is concave."""
        near = {low, high, min(max(low, 1), high)}
        if self.curved and cost and parts:
            if self.utility is None:
                top = parts * self.power[i] * self.unit // cost
                chosen = range(top, top + 2)
            else:
                each = Fraction(cost, parts * self.unit)
                top = self.utility.chosen(self.weight[i], self.rates[i], each, self.most[i])
                chosen = range(top - 1, top + 3)
            near |= {min(max(x, low), high) for x in chosen}
        return max(parts * self.high(i, x) - cost * x for x in near)

    def product(self, tasks: list[int], mine: list[int]) -> int:
        """Return the product of the tasks of those of some users who have any."""
        return math.prod(tasks[p] ** self.power[self.users[p]] for p in mine if tasks[p])

    def better(self, tasks: list[int], tiers: int | None = None) -> bool | None:
        """Say whether tasks are worth more than the file's to the first tier that they are not worth the same to.

        Of so many tiers, or all; None where that is not known.
        """
        last = (len(self.tiers) if tiers is None else tiers) - 1
        for t in range(last + 1):
            if (sign := self.compared(tasks, t, self.margin[t] if t == last else 0)) != 0:
                return None if sign is None else sign > 0
        return False

    def compared(self, tasks: list[int], t: int, margin: int = 0) -> int | None:
        """Return the sign of what tasks are worth to a tier more than the file's, None where that is not known.

        What is worth less than the margin more is called worse.
        """
        mine = self.tiers[t]
        most = sum(self.high(self.users[p], tasks[p]) for p in mine)
        if most < self.least[t] + margin:
            return -1
        served = sum(bool(tasks[p]) - bool(self.own[p]) for p in mine)
        if not self.curved or (self.serving and served):
            more = served if self.curved else most - self.least[t]
            return (more > 0) - (more < 0)
        if self.utility is not None:
            least = sum(self.low(self.users[p], tasks[p]) for p in mine)
            if least > sum(self.high(self.users[p], self.own[p]) for p in mine):
                return 1
            return self.utility.sign(
                (sign * self.weight[self.users[p]], self.rates[self.users[p]] * row[p])
                for sign, row in ((1, tasks), (-1, self.own))
                for p in mine
                if row[p]
            )
        one, other = (sorted((self.power[self.users[p]], row[p]) for p in mine) for row in (tasks, self.own))
        if one == other:
            return 0
        if not self.whole[t]:
            least = sum(self.low(self.users[p], tasks[p]) for p in mine)
            return 1 if least > sum(self.high(self.users[p], self.own[p]) for p in mine) else None
        product = self.product(tasks, mine)
        return (product > self.whole[t]) - (product < self.whole[t])


class ValueProof:
    """What a tree has to refute for no sum, or product or alpha fairness after users served, to be larger to a tier.

    By any prices, what tasks are worth is at most what all that can be run costs, and what each user's tasks within its
    bounds can be worth beyond their cost.  Where all promises are kept, whatever is better keeps them too.
    """

    def __init__(self, claim: Claim):
        self.cluster = Carried(claim)
        self.value = Value(claim, self.cluster)
        promised = whole_promises(claim)
        self.floor = {i: promised[i] for i in self.cluster.users}
        if broken := [i for i, promise in self.floor.items() if claim.x[i] < promise]:
            raise Undecided(f"{claim.c.users[broken[0]]} has less than it is promised, which comes before all else")

    def key(self, node: dict[str, Any]) -> Any:
        """Return what a branch is about."""
        return self.cluster.key(node) if "class" in node else ("user", self.cluster.at[node["user"]])

    def free(self, what: Any) -> tuple[int, int]:
        """Return its bounds where nothing is branched upon."""
        if what[0] == "user":
            return self.floor[what[1]], self.value.most[what[1]]
        return 0, self.cluster.count[what[0]]

    def bound(self, t: int, leaf: dict[str, Any], bounds: Bounds) -> Fraction | None:
        """Return by how much what is within bounds is worth more to a tier at most; None where nothing is."""
        cluster, value = self.cluster, self.value
        ends = [bounds.get(("user", i), (self.floor[i], value.most[i])) for i in cluster.users]
        spend(value.unit.bit_length(), len(ends))
        if any(low > high for low, high in ends):
            return None
        if all(low == high for low, high in ends) and value.better([low for low, _ in ends], t + 1) is False:
            return None
        integer, counts = self.scaled(t, leaf)
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            return None
        costs, most = found
        for count, mine in zip(counts, value.tiers, strict=True):
            most += sum(self.best(cluster.users[p], costs, *ends[p], count) for p in mine)
        least = sum(map(mul, counts, value.least))
        return None if most < least + counts[t] * value.margin[t] else Fraction(most - least, counts[t])

    def scaled(self, t: int, leaf: dict[str, Any]) -> tuple[Scale, list[int]]:
        """Return what makes the prices of a leaf integers, and how often it counts what each tier's tasks are worth.

        Prices are of units in which tasks are worth integers; of sums also in parts of them.
        """
        value, held = self.value, {int(turn): number(weight) for turn, weight in leaf.get("held", {}).items()}
        unit = math.lcm(*(weight.denominator for weight in held.values()))
        integer: Scale = (lambda p: math.floor(number(p) * unit * value.unit)) if value.curved else scale_of(leaf)
        parts = unit if value.curved else integer(1)
        before = [price_of(held.get(turn, 0), lambda h: int(h * parts)) for turn in value.turns[:t]]
        return integer, [*before, parts, *(0 for _ in value.turns[t + 1 :])]

    def best(self, i: int, costs: list[int], low: int, high: int, parts: int) -> int:
        """Return a bound of what so many of a user's tasks are worth beyond their cost: of types, number by number."""
        if len(self.cluster.goods[i]) == 1:
            return self.value.best(i, costs[self.cluster.goods[i][0]], low, high, parts)
        mine, started = [costs[good] for good in self.cluster.goods[i]], self.cluster.table(i)
        spend(0, 1 + (high - low) * len(mine) // CELLS_A_STEP)
        return max(parts * self.value.high(i, x) - sum(map(mul, mine, started[x])) for x in range(low, high + 1))


def value_refuted(claim: Claim, trees: list[Tree]) -> str:
    """Return why trees, one of each tier, do not prove that no sum, product or utility is larger; "" where they do."""
    proof = ValueProof(claim)
    for tier in range(len(proof.value.tiers)):
        tree = trees[tier] if tier < len(trees) else []
        for leaf, bounds in leaves(tree, proof.key, proof.free):
            if (more := proof.bound(tier, leaf, bounds)) is not None:
                return f"a leaf leaves room for {float(more / proof.value.unit):.6g} more"
    return ""
