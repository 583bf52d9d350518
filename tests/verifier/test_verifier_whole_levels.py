"""What whole tasks are worth on the way to a leximin, and what guarantees are worth in whole tasks, by enumeration."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of
from test_verifier_values import claimed

from drfopt import Group, Instance, Organisation
from drfopt.certificates.verifier import whole_levels
from drfopt.certificates.verifier.branches import Undecided, rounded, tightened
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.whole_levels import LevelProof, Scale, whole_promises

UNIT = 6
LINES = {
    "one": [(F(1, 2), F(0))],
    "one, and others below it": [(F(1, 2), F(0)), (F(1, 3), F(0)), (F(1, 2), F(1, 6)), (F(1, 3), F(1, 2))],
    "two": [(F(1, 3), F(0)), (F(1), F(3, 2))],
    "two above nothing": [(F(1, 3), F(1, 2)), (F(1), F(3))],
    "steep": [(F(5, 6), F(1, 3))],
}


def scale(lines, most=7, rank=(1, 0), promise=0, parts=24, place=0):
    cluster = SimpleNamespace(rank=[rank], users=["A"])
    claim = SimpleNamespace(sequences=[SimpleNamespace(most=most)], lines=[lines], c=cluster)
    return Scale(claim, 0, UNIT, promise, parts, place)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(("promise", "place"), [(0, 0), (1, 0), (3, 0), (3, 1), (4, 1), (8, 1)])
def test_tasks_are_worth_their_part_of_a_promise_and_then_their_level(name, promise, place):
    mine = scale(LINES[name], promise=promise, place=place)

    def worth(x):
        if x < promise:
            return (0,), 24 // promise * x + place
        return (1, (1, 0)), max(UNIT * (slope * x - offset) for slope, offset in LINES[name])

    every = [worth(x) for x in range(200)]
    assert [mine.value(x) for x in range(200)] == every
    asked = itertools.product([(0,), (1, (0, 5)), (1, (1, 0)), (1, (1, 1))], range(-30, 50))
    for value in asked:
        least = mine.least(value)
        if value[0] == (1, (1, 1)):  # Nothing is worth so much.
            assert least > 7 and mine.at(value) is None
            continue
        assert least == next(x for x, of in enumerate(every) if of >= value)
        assert mine.at(value) == (least if least <= 7 and every[least] == value else None)


def test_alike_are_those_whose_levels_rise_alike():
    alike = {name: scale(lines).alike for name, lines in LINES.items()}
    assert alike["one"] == alike["one, and others below it"]
    assert len(set(alike.values())) == len(LINES) - 1
    for other in ({"most": 8}, {"rank": (1, 1)}, {"promise": 2}):
        assert scale(LINES["two"], **other).alike != alike["two"]


def test_without_a_level_nothing_is_said():
    with pytest.raises(Undecided, match="the level of A is 0 whatever it has"):
        scale([(F(0), F(0))])


ROWS = {"A": {"a": 1}, "B": {"a": 2}}
SIX = {"groups": [Group("g", guarantee={"a": 6})], "paths": {"A": "g", "B": "g"}}

PROMISES = [
    # Of 6 together, what each has when all have as much by weight; of shares, or of tasks.
    ("drf", ROWS, {"weights": [2, 1]}, SIX, [4, 1]),
    ("ceei", ROWS, {"weights": [2, 1]}, SIX, [4, 1]),
    ("utilitarian", ROWS, {"weights": [2, 1]}, SIX, [3, 1]),
    ("alpha:0", ROWS, {"weights": [2, 1]}, SIX, [3, 1]),
    ("alpha:2", ROWS, {"weights": [2, 1]}, SIX, [4, 1]),
    ("tasks", ROWS, {"weights": [2, 1]}, SIX, [3, 1]),
    ("throughput", ROWS, {"weights": [2, 1]}, SIX, [2, 2]),
    ("drf", ROWS, {"max_tasks": [F(5, 2), None]}, SIX, [2, 1]),
    ("drf", ROWS, {}, {"guarantees": {"A": {"a": 3}, "B": {"a": 5}}}, [3, 2]),
    ("drf", ROWS, {"max_tasks": [0, None]}, {"guarantees": {"A": {"a": 3}, "B": {"a": 5}}}, [0, 2]),
]


@pytest.mark.parametrize(("policy", "rows", "more", "rules", "promised"), PROMISES)
def test_a_promise_is_worth_what_divisible_tasks_are_rounded_down(policy, rows, more, rules, promised):
    found = file_of(Instance(rows, {"a": 30}, organisation=Organisation(**rules), **more), policy, integer=True)
    assert whole_promises(Claim(Cluster(found["instance"]), found)) == promised


# ---- leaves ------------------------------------------------------------------------------------------------------


def drawn(chance, ranks=1):
    """A claim of a pool, of users some of whom are alike, with limits and promises; their order, and nothing else."""
    rows = [{"a": 1}, {"a": 1, "b": 2}, {"b": 1}, {"a": 2, "b": 1}]
    users = {}
    for name in "ABCD":
        users[name] = said = {"demand": dict(chance.choice(rows)), "tier": chance.randrange(ranks)}
        if chance.random() < 0.3:
            said["max_tasks"] = chance.randint(1, 3)
        if chance.random() < 0.3:
            said["guarantee"] = dict.fromkeys(said["demand"], chance.randint(1, 4))
    own = [chance.randint(0, said.get("max_tasks", 3)) for said in users.values()]
    return claimed("drf", users, {"a": 7, "b": 9}, own)


class Chosen:
    """Who may choose what, user by user: the most that a leaf leaves is its least over all that they choose."""

    def __init__(self, proof, options, allowed, fixed=()):
        self.proof, self.allowed, self.fixed = proof, allowed, list(fixed)
        self.options, self.rows = options, []
        self.base = {i: said[-1][0] for i, said in options.items() if said}

    def costs(self, leaf):
        """Return what is left before anybody chooses, and what each option costs."""
        rows, room = self.proof.cluster.rows[0]
        prices, counts = [F(leaf["prices"][r]) for r in "ab"], [F(v) for v in leaf["levels"]]

        def cost(i, x):
            (good,) = self.proof.cluster.goods[i]
            return x * sum(p * row for p, row in zip(prices, rows[self.proof.cluster.shape_of[good]], strict=True))

        left = sum(p * c for p, c in zip(prices, room, strict=True)) - sum(cost(i, x) for i, x in self.fixed)
        left += sum(c * n for c, n in zip(counts, self.allowed, strict=True))
        each = {(i, x): cost(i, x) + (0 if r is None else counts[r]) for i, o in self.options.items() for x, r in o}
        for times, (most, row) in zip(map(F, leaf.get("rounds", ())), self.rows, strict=False):
            left += times * most
            each = {option: price + times * row[option] for option, price in each.items()}
        return left, each

    def add(self, node):
        """Add a rounded row: what all pay more than at its base, that of the row before but for whom it names."""
        left, each = self.costs(node)
        kinds = {self.proof.alike[self.proof.cluster.at[name]]: x for name, x in node["base"].items()}
        base = self.base
        base |= {i: kinds[self.proof.alike[i]] for i in base if self.proof.alike[i] in kinds}
        most, divisor = left - sum(each[i, x] for i, x in base.items()), int(node["divisor"])
        row = {(i, x): rounded(int(price - each[i, base[i]]), int(most), divisor) for (i, x), price in each.items()}
        self.rows.append((rounded(int(most), int(most), divisor), row))

    def left(self, leaf, bounds=()):
        """Return what is left where all choose what costs least within bounds; below 0 that refutes it."""
        left, each = self.costs(leaf)
        return left - min((sum(map(each.get, way)) for way in self.ways(bounds)), default=left + 1)

    def ways(self, bounds):
        """Yield what all may choose: least and most of those who are alike take an option that has bounds."""
        alike = self.proof.alike
        for way in itertools.product(*([(i, x) for x, _ in said] for i, said in self.options.items())):
            taken = Counter((alike[i], x) for i, x in way)
            if all(low <= taken[what] <= high for what, (low, high) in dict(bounds).items()):
                yield way

    def tightened(self, leaf, bounds):
        """Return the bounds of all options beyond which more than what is left would be paid."""
        left, (_, each) = self.left(leaf, bounds), self.costs(leaf)
        if left < 0:
            return bounds
        found, number = {}, Counter(self.proof.alike[i] for i in self.options)
        for i, said in self.options.items():
            kind, n = self.proof.alike[i], number[self.proof.alike[i]]
            ends = [bounds.get((kind, x), (0, n)) for x, _ in said]
            new = tightened([each[i, x] for x, _ in said], ends, n, math.floor(left))
            found |= {(kind, x): both for (x, _), both in zip(said, new, strict=True)}
        return found


def told(left):
    return "" if left < 0 else f"tasks cost no more than all that can be run is worth: {left} less"


def priced(chance, levels, rounds=0):
    leaf = {"prices": {r: str(chance.randint(0, 4)) for r in "ab"}}
    leaf["levels"] = [str(chance.randint(0, 9)) for _ in range(levels)]
    return leaf | ({"rounds": [str(chance.randint(0, 2)) for _ in range(rounds)]} if rounds else {})


def stages(claim):
    """Yield a proof level by level, with who stops at which of those before, surely or not; its level and count."""
    proof = LevelProof(claim)
    waiting, fixed, stops = list(proof.cluster.users), [], []
    for level, count in proof.own:
        yield proof, waiting, fixed, stops, level, count
        proof._settle(level, count)
        may = [i for i in waiting if proof.scale[i].at(level) is not None]
        earlier = {i for i in may for at, _ in stops if proof.scale[i].at(at) is not None}
        must = [i for i in may if proof.scale[i].at(level) == claim.sequences[i].most and i not in earlier]
        surely = next((those for those in (may, must) if len(those) == count), [])
        fixed = fixed + [(i, proof.scale[i].at(level)) for i in surely]
        waiting = [i for i in waiting if i not in surely]
        stops = stops if surely else [*stops, (level, count)]


def stays(proof, users, rows):
    """Return the tasks at which users may stop at a level of which there may be some, by its row."""
    return {
        i: [(x, row) for row, (level, n) in enumerate(rows) if n and (x := proof.scale[i].at(level)) is not None]
        for i in users
    }


def above(proof, i, level):
    """Return the fewest tasks of a user that are worth more."""
    found = (x for x in range(proof.scale[i].most + 1) if proof.scale[i].value(x) > level)
    return [(x, None) for x in itertools.islice(found, 1)]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_leaf_leaves_of_a_level_what_all_who_choose_at_least_cost_pay(ranks):
    met = Counter()
    for seed in range(120):
        chance = random.Random(seed)
        for proof, waiting, fixed, stops, level, count in stages(drawn(chance, ranks)):
            rows = [*stops, (level, count - 1)]
            options = {i: said + above(proof, i, level) for i, said in stays(proof, waiting, rows).items()}
            chosen, tree = Chosen(proof, options, [n for _, n in rows], fixed), []
            able = [i for i in waiting if options[i]]
            for at in range(chance.randint(0, 2)):
                node = priced(chance, len(rows), at) | {"divisor": str(chance.randint(1, 4))}
                named = chance.sample(able, min(len(able), chance.randint(0, 2)))
                node["base"] = {"ABCD"[i]: chance.choice(options[i])[0] for i in named}
                tree.append(node)
                chosen.add(node)
            met["rounded"] += bool(tree)
            leaves = [priced(chance, len(rows), len(tree)) for _ in range(2)]
            if chance.random() < 0.3 or not waiting or not all(options.values()):
                met["leaf"] += 1
                assert proof._fewer(level, count, [*tree, leaves[0]]) == told(chosen.left(leaves[0]))
                continue
            who = chance.choice(waiting)
            (x, _), most = chance.choice(options[who]), chance.randint(0, 1)
            tree.append({"user": "ABCD"[who], "tasks": x, "most": most})
            low, high = ({(proof.alike[who], x): both} for both in ((0, most), (most + 1, 4)))
            if chance.random() < 0.5:
                nodes = [priced(chance, len(rows), len(chosen.rows)) for _ in range(4)]
                node = min(nodes, key=lambda node, low=low: abs(chosen.left(node, low)))  # Little is left of it.
                tree.append(node | {"tightens": True})
                closer = chosen.tightened(node, low)
                met["tightened" if closer != low else "not tightened"] += 1
                low = closer
            met["branch"] += 1
            whole = told(chosen.left(leaves[0], low)) or told(chosen.left(leaves[1], high))
            assert proof._fewer(level, count, [*tree, *leaves]) == whole
    assert min(met.values()) > 20, met


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_leaf_leaves_of_a_bound_what_all_but_those_before_it_pay(ranks):
    """Who is spared runs the fewest tasks of the first level that is not proven, unless these exceed the bound."""
    met = Counter()
    for seed in range(80):
        chance = random.Random(seed)
        for known, (proof, waiting, fixed, stops, here, _) in enumerate(stages(drawn(chance, ranks))):
            unproven = proof.own[known:]
            for place in range(len(unproven)):
                before = sum(count for _, count in unproven[: place + 1]) - 1 if place else 0
                who, tasks = chance.randrange(4), chance.randint(0, 4)
                said = {"most": {"user": "ABCD"[who], "tasks": tasks}}
                most, options = proof.scale[who].value(tasks), stays(proof, waiting, stops)
                if most < unproven[place][0]:
                    with pytest.raises(Undecided, match="a bound is below the level"):
                        proof._bound(unproven, place, said)
                    met["below its level"] += 1
                    continue
                for i, stay in options.items():
                    least = next((x for x in range(proof.scale[i].most + 1) if proof.scale[i].value(x) >= here), None)
                    over = above(proof, i, most)
                    spare = before > 0 and least is not None and over != [(least, None)]
                    met["spared" if spare else "not spared"] += 1
                    options[i] = [*stay, *([(least, len(stops))] if spare else []), *over]
                leaf = priced(chance, len(stops) + 1)
                chosen = Chosen(proof, options, [*(n for _, n in stops), before], fixed)
                assert proof._bound(unproven, place, said | {"tree": [leaf]}) == told(chosen.left(leaf))
                # With a branch on some tasks: who runs so many has one option.
                if waiting and all(options.values()):
                    what = proof.alike[waiting[0]], (x := chance.choice(options[waiting[0]])[0])
                    low, high = (chosen.left(leaf, {what: both}) for both in ((0, 0), (1, 4)))
                    branch = {"user": "ABCD"[waiting[0]], "tasks": x, "most": 0}
                    found = proof._bound(unproven, place, said | {"tree": [branch, leaf, leaf]})
                    assert found == (told(low) or told(high))
                    met["branch"] += 1
    assert min(met.values()) > 60, met


PAIR = {"A": {"demand": {"a": 1}}, "B": {"demand": {"a": 1}, "weight": 2}}


def leveled(own, room=4, users=PAIR, **more):
    return LevelProof(claimed("drf", users, {"a": room}, own, **more))


def leaf(price, *levels, **more):
    return {"prices": {"a": str(price)}, "levels": list(map(str, levels)), **more}


def test_what_is_proven_and_bounded_is_told_level_by_level():
    """Of 4 A has 2, worth 1/2, and B 2, worth 1/4: there A could be as well, so that it has a multiplier later on."""
    trees = [[leaf(1, 0)], [leaf(1, 2, 0)]]
    assert (proof := leveled((2, 2))).fault(trees, []) == ""
    assert (proof.proven, proof.bounded) == ([(F(1, 4), 1), (F(1, 2), 1)], [])
    assert leveled((2, 2)).fault(trees[:1], []) == "1 levels, of 1 users, are proven, and 0 of the 1 above are bounded"
    bound = {"most": {"user": "A", "tasks": 2}, "tree": trees[1]}
    proof = leveled((2, 2))
    assert proof.fault(trees[:1], [bound]) == "1 levels, of 1 users, are proven, and 1 of the 1 above are bounded"
    assert (proof.proven, proof.bounded) == ([(F(1, 4), 1)], [(F(1, 2), 1, F(1, 2))])
    proof, bound = leveled((2, 2)), {"most": {"user": "A", "tasks": 1}, "tree": [leaf(0, 0)]}
    assert proof.fault([], [bound]) == "tasks cost no more than all that can be run is worth: 0 less"
    assert (proof.proven, proof.bounded) == ([], [])
    proof = leveled((2, 2))
    free = "tasks cost no more than all that can be run is worth: 0 less, at level 1/4"
    assert proof.fault([[leaf(0, 0)]], []) == free
    assert proof.proven == []


def test_no_bound_is_below_what_the_file_has_itself():
    """Who stops at its first task and is above the bound with it would have one option twice, and no way to take it."""
    branch, none = {"user": "A", "tasks": 1, "most": 0}, leaf(0, 0, 0)
    bound = {"most": {"user": "B", "tasks": 1}, "tree": [branch, none, none]}
    with pytest.raises(Undecided, match="a bound is below the level 1/2 that it is of"):
        leveled((2, 2)).fault([[leaf(1, 0)]], [bound])


def test_below_a_promise_a_level_is_told_by_the_part_of_it():
    """Of two ranks the place of each is within its part, which is no part of what is told."""
    users = {"A": {"demand": {"a": 1}, "guarantee": {"a": 3}, "tier": 1}, "B": {"demand": {"a": 1}}}
    users["C"] = {"demand": {"a": 1}, "guarantee": {"a": 2}}
    proof = leveled((2, 5, 1), 9, users)
    assert [proof.shown(level) for level, _ in proof.own] == [F(1, 2), F(2, 3), F(5, 9)]
    assert [proof.shown(proof.scale[i].value(x)) for i, x in ((0, 0), (0, 3), (2, 0))] == [0, F(1, 3), 0]


def test_a_leaf_has_multipliers_of_all_levels_and_of_no_row_that_is_not_there():
    proof = leveled((2, 2))
    for levels in ((), (1, 1)):
        with pytest.raises(Undecided, match=f"a leaf has {len(levels)} multipliers of 1 levels"):
            proof.fault([[leaf(1, *levels)]], [])
    row = leaf(1, 0, divisor="2")
    with pytest.raises(Undecided, match="a leaf has 2 multipliers of 1 rounded rows"):
        proof.fault([[row, leaf(1, 0, rounds=["1", "0"])]], [])
    assert leveled((2, 2)).fault([[row, leaf(1, 0, rounds=["1"])], [leaf(1, 2, 0)]], []) == ""
    for divisor in ("0", "-1", "1/2"):
        with pytest.raises(Undecided, match="a row is divided by nothing"):
            proof.fault([[row | {"divisor": divisor}, leaf(1, 0)]], [])
    assert leveled((2, 2)).fault([[row | {"divisor": "1"}, leaf(1, 0)], [leaf(1, 2, 0)]], []) == ""


def racked(own, room, count=2):
    """Some machines, and users of whom B needs half as much."""
    rows = [{"name": "A", "demand": {"a": 2}}, {"name": "B", "demand": {"a": 1}}]
    said = [{"name": name, "tasks": x} for name, x in zip("AB", own, strict=True)]
    cluster = Cluster({"machines": [{"name": "m", "capacity": {"a": room}, "count": count}], "users": rows})
    return LevelProof(Claim(cluster, {"policy": "drf", "integer": True, "users": said}))


@pytest.mark.parametrize(("own", "room", "branches", "left"), [
    # On a machine are (1, 1), worth 5, or (0, 3), worth 6; to be above 1/3 costs 12, and one may be there for 5 less.
    ((1, 2), 3, [{"class": "m", "load": {"B": 3}, "most": 0}], 3),
    ((1, 2), 3, [{"class": "m", "load": {"B": 3}, "most": 1}], 4),
    ((2, 2), 3, [{"class": "m", "load": {"B": 3}, "most": 0}], 0),
    ((1, 2), 3, [{"user": "A", "tasks": 2, "most": 0}], 5),
    ((1, 2), 3, [{"user": "A", "tasks": 1, "most": 0}], 2),
    # On a machine are (2, 0), (1, 2) or (0, 4), worth 6, 7 and 8: no load is on less than no machine.
    ((1, 2), 4, [{"class": "m", "load": {"A": 2}, "most": 0}, {"class": "m", "load": {"A": 1, "B": 2}, "most": 1}], 9),
])  # fmt: skip
def test_a_branch_is_about_users_or_about_loads_of_a_class(own, room, branches, left):
    proof, leaf = racked(own, room), {"tasks": {"A": "3", "B": "2"}, "levels": ["0"]}
    assert proof._fewer(*proof.own[0], [*branches, *[leaf] * (len(branches) + 1)]) == told(left)


def test_a_row_is_rounded_of_whole_room():
    """Three machines are worth 27/2, and who is above its level pays 9: 4 is left, and what less tasks cost is less."""
    row = {"tasks": {"A": "3", "B": "1"}, "classes": {"m": {"a": "1"}}, "levels": ["0"], "divisor": "1"}
    proof = racked((1, 2), 3, 3)
    assert proof._fewer(*proof.own[0], [row, {"levels": ["0"], "rounds": ["1"]}]) == told(4 + 3 + 1)


def test_nobody_is_spared_beyond_what_it_can_run():
    """A can run one task: it is at the first level for certain, who else is not, and of others one is spared."""
    users = {"A": {"demand": {"a": 1}, "max_tasks": 1}, **{name: {"demand": {"a": 1}} for name in "BCD"}}
    proof = leveled((1, 1, 2, 3), 7, users)
    proof._settle(*proof.own[0])
    assert proof.stops == proof.own[:1]
    bound = {"most": {"user": "D", "tasks": 3}, "tree": [leaf(1, 9, 0)]}
    assert proof._bound(proof.own[1:], 1, bound) == told(7 + 2 * 9 - (1 + 9) - 3 * 2)


# ---- what a level asks -----------------------------------------------------------------------------------------------


def may_choose(asked, tasks):
    """Say whether everybody runs what is fixed, or an option, or more, with no more at a level than may be there."""
    _, _, options, _, allowed, fixed, alike, _ = asked
    ways = [Counter()]
    for kind in set(alike.values()):
        has = [x for i, x in tasks.items() if alike[i] == kind]
        sure = [x for (i, x), n in fixed.items() if alike[i] == kind for _ in range(n)]
        orders = {way for way in itertools.permutations(has) if all(map(int.__ge__, way, sure))}
        each = [[[row for x, row in options[kind] if x <= y] for y in way[len(sure) :]] for way in orders]
        mine = {tuple(sorted(map(str, way))) for rows in each for way in itertools.product(*rows)}
        ways = [way + Counter(more) for way in ways for more in mine]
    return any(all(way[str(row)] <= n for row, n in enumerate(allowed)) for way in ways)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_better_is_among_what_all_may_choose(seed, monkeypatch):
    """As long as nothing is better at lower levels; and of a bound that is too low all that exceed it are."""
    asked = []
    monkeypatch.setattr(whole_levels, "_level", lambda *said: asked.append(said) or "")
    chance = random.Random(seed)
    claim = drawn(chance, chance.choice([1, 1, 2]))
    first = LevelProof(claim)
    each = {i: range(first.scale[i].most + 1) for i in first.cluster.users}
    columns = list(zip(*claim.c.d, strict=True))

    def runs(x):
        used = (sum(map(math.prod, zip(x, column, strict=True))) for column in columns)
        return all(have <= room for have, room in zip(used, claim.c.cluster, strict=True))

    every, met = [x for x in itertools.product(*each.values()) if runs(x)], 0
    worth = {x: sorted(first.scale[i].value(n) for i, n in enumerate(x)) for x in every}
    best = max(worth.values())
    for own in chance.sample(every, 4) + [x for x in every if worth[x] == best]:
        claim.x = list(map(F, own))
        proof, before = LevelProof(claim), 0
        for known, (level, count) in enumerate(proof.own):
            same = [x for x in every if worth[x][:before] == worth[own][:before]]
            better = [x for x in same if worth[x][before] >= level and worth[x][before + count - 1] > level]
            proof._fewer(level, count, [])
            assert all(may_choose(asked[-1], dict(enumerate(x))) for x in better)
            reach = [x for x in every if worth[x] >= worth[own]]
            for place, (least, _) in enumerate(proof.own[known:]):
                at = before if place == 0 else before + sum(n for _, n in proof.own[known : known + place + 1]) - 1
                for who, x in ((who, x) for who, numbers in each.items() for x in numbers):
                    if (most := first.scale[who].value(x)) >= least:
                        bound = {"most": {"user": "ABCD"[who], "tasks": x}, "tree": []}
                        proof._bound(proof.own[known:], place, bound)
                        over = [x for x in reach if worth[x][at] > most]
                        assert all(may_choose(asked[-1], dict(enumerate(x))) for x in over)
                        met += len(over)
            if better:
                break
            proof._settle(level, count)
            before += count
    assert met


# ---- types that fit nowhere ------------------------------------------------------------------------------------------


def promised(types, policy="drf", pool=False, **more):
    """What guarantees are worth to A, of types, and to B beside it, on 9 and 8."""
    room = {"capacity": {"a": 9, "b": 8}}
    users = [{"name": "A", "tasks": types}, {"name": "B", "demand": {"a": 1}}]
    users = [user | more.get(user["name"], {}) for user in users]
    instance = {
        "users": users,
        "groups": more.get("groups", []),
        **(room if pool else {"machines": [room | {"name": "m"}]}),
    }
    rows = [{"name": user["name"], "tasks": 0} for user in users]
    return whole_promises(Claim(Cluster(instance), {"policy": policy, "integer": True, "users": rows}))


FITS, MISFIT, ELSEWHERE = ({"demand": {"a": 1, "b": b}, "count": 4} for b in (2, 12, 24))


@pytest.mark.parametrize("pool", [False, True])
def test_promises_are_worth_tasks_of_the_types_that_fit(pool):
    of_b, of_a = {"guarantee": {"b": 8}}, {"guarantee": {"a": 9}}
    assert promised([FITS, MISFIT], pool=pool, A=of_b) == [4, 0]
    assert promised([MISFIT, FITS], pool=pool, A=of_a) == [4, 0]
    assert promised([FITS, FITS], pool=pool, A=of_a) == [8, 0]
    group, own = [{"name": "g", "guarantee": {"a": 6}}], {"group": "g"}
    # Levels count the average of all types, 7/8 of b: 6 a are used up by less than one task of A.
    assert promised([FITS, MISFIT], pool=pool, A=own, B=own, groups=group) == [0, 5]
    assert promised([FITS], pool=pool, A=own, B=own, groups=group) == [1, 4]


def test_of_whom_no_type_fits_nothing_is_promised_on_machines():
    assert promised([MISFIT, ELSEWHERE], A={"guarantee": {"b": 40}}) == [0, 0]
