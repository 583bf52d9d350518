"""The page of published numbers, each computed anew as the manual is built: source, place, published, ours, how.

The numbers are those that the tests hold, in ``tests/facts``; nothing of ours is written here, only how it is found.
"""

import json
import logging
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from drfopt import Instance, Machine, audit, schedule, solve
from drfopt.axioms.claims import claim_for
from drfopt.base.numbers.enclosures import Enclosure
from drfopt.base.numbers.quantities import exact
from drfopt.model.policies import policy_named
from drfopt.simulation.rules import dynamic, karma, mesos_order, yarn

REPOSITORY = Path(__file__).resolve().parents[2]
FACTS = REPOSITORY / "tests" / "facts"

PROPERTIES = {
    "SI": "sharing-incentive",
    "SP": "strategy-proofness",
    "EF": "envy-freeness",
    "PE": "pareto-efficiency",
    "SRF": "single-resource-fairness",
    "BF": "bottleneck-fairness",
    "PM": "population-monotonicity",
    "RM": "resource-monotonicity",
}
ACCURATE = 1e-9
"""Relative error of an answer beside a number that is published as a decimal, being irrational."""


class Row(NamedTuple):
    """A published number: what it is called, whose it is and where it stands, both numbers, how ours is found."""

    id: str
    source: str
    place: str
    published: Any
    ours: Any
    how: str

    @property
    def agrees(self) -> bool:
        """Whether they are the same: decimals to `ACCURATE`, all else exactly."""
        return _same(self.published, self.ours)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        alike = isinstance(other, list | tuple) and len(one) == len(other)
        return alike and all(_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) or isinstance(other, float):
        a, b = (value if isinstance(value, float) else float(exact(str(value))) for value in (one, other))
        return abs(a - b) <= ACCURATE * max(abs(a), abs(b))
    return _plain(one) == _plain(other)


def _plain(value: Any) -> Any:
    """Return a value as it is written in the files of facts: numbers as text."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bool | str):
        return value
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def load(name: str) -> list[dict[str, Any]]:
    """Return a file of facts."""
    return json.loads((FACTS / f"{name}.json").read_text(encoding="utf-8"))


# ---- what policies answer, and what audits find ------------------------------------------------------------------


def instance_of(given: dict[str, Any]) -> Instance:
    """Return the instance of a fact, in which users have names or not."""
    demands, resources = given["demands"], given.get("resources")
    if not isinstance(demands, dict):
        demands = {f"u{i}": row for i, row in enumerate(demands, start=1)}
    names = resources or [f"r{j}" for j in range(1, len(next(iter(demands.values()))) + 1)]

    def named(row: list) -> dict[str, Any]:
        return dict(zip(names, row, strict=True))

    rows = given.get("machines") or []
    machines = [
        Machine(m["name"], named(m["capacity"]), m.get("count", 1))
        if isinstance(m, dict)
        else Machine(f"m{k}", named(m))
        for k, m in enumerate(rows, start=1)
    ]
    weights = given.get("weights") or {}
    if not isinstance(weights, dict):
        weights = dict(zip(demands, weights, strict=True))
    return Instance(
        {user: named(row) for user, row in demands.items()},
        capacity=None if machines else named(given["capacity"]),
        machines=machines or None,
        weights={user: named(w) if isinstance(w, list) else w for user, w in weights.items()} or None,
        max_tasks=given.get("limits") or None,
        eligible=given.get("eligible"),
    )


def answers() -> list[Row]:
    """Return the allocations: tasks, and shares and prices where they are printed; whole tasks by their levels."""
    found = []
    for fact in load("published"):
        instance, policy, whole = instance_of(fact["instance"]), fact["policy"], fact["integer"]
        rational = not whole and policy_named(policy).alpha != 0.5 and policy != "per-server"
        allocation = solve(instance, policy, integer=whole, exact=rational)
        published: dict[str, Any] = {"tasks": fact["tasks"]}
        ours: dict[str, Any] = {
            "tasks": [float(x) if isinstance(x, Enclosure) else x for x in allocation.tasks.tolist()]
        }
        if not rational and not whole:
            published["tasks"] = [float(exact(x)) for x in fact["tasks"]]
        if whole and not _same(fact["tasks"], ours["tasks"]):
            # Another optimum, as good: what is compared is the sorted levels, or the sum, or the product.
            published["score"], ours["score"] = (
                score(allocation, x) for x in (fact["tasks"], allocation.tasks.tolist())
            )
            del published["tasks"], ours["tasks"]
        for name, value in (("shares", "dominant_shares"), ("prices", "prices")):
            if name in fact:
                published[name], ours[name] = fact[name], getattr(allocation, value).tolist()
        if not fact["tasks"]:
            del published["tasks"], ours["tasks"]
        if "welfare" in fact:
            best = solve(instance, "utilitarian", exact=True)
            published["welfare"] = fact["welfare"]
            ours["welfare"] = [sum(a.dominant_shares.tolist()) for a in (allocation, best)]
        options = ", integer=True" if whole else ", exact=True" if rational else ""
        found.append(Row(fact["id"], *placed(fact["source"]), published, ours, f'solve(..., "{policy}"{options})'))
    return found


def score(allocation: Any, tasks: list) -> Any:
    """Return what makes whole tasks an optimum of their policy, exactly."""
    policy = policy_named(allocation.policy)
    rates = policy.exact_rates(allocation.instance)
    levels = sorted(rate * exact(x) for rate, x in zip(rates, tasks, strict=True))
    if policy.objective == "leximin":
        return levels
    if policy.objective == "sum":
        return sum(levels)
    product = Fraction(1)
    for level in levels:
        product *= level
    return product


def properties() -> list[Row]:
    """Return the verdicts on properties, each audited with its witness."""
    found = []
    for fact in load("properties"):
        instance, published, ours = instance_of(fact["instance"]), {}, {}
        names = list(fact.get("verdicts", ()))
        if "tasks" in fact:
            allocation = solve(instance, fact["policy"], integer=fact["integer"], exact=not fact["integer"])
            published["tasks"], ours["tasks"] = fact["tasks"], allocation.tasks.tolist()
        told = fact.get("witness", {})
        if names:
            results = audit(instance, fact["policy"], names, integer=fact["integer"]).results
            published |= {name: "holds" if holds else "fails" for name, holds in fact["verdicts"].items()}
            ours |= {result.property: result.verdict for result in results}
            for result in results:
                if result.property == told.get("property"):
                    keys = [key for key in told if key != "property"]
                    published |= {key: told[key] for key in keys}
                    ours |= {key: getattr(result.witness, key) for key in keys}
        if published:
            how = f'audit(..., "{fact["policy"]}")' if names else f'solve(..., "{fact["policy"]}")'
            found.append(Row(fact["id"], *placed(fact["source"]), published, ours, how))
    return found


# ---- the rest, each in a way of its own --------------------------------------------------------------------------


def traced(given: dict, expect: dict) -> dict:
    """Algorithm 1 task by task, serving first of equals whom the paper serves first."""
    instance = instance_of(given)
    steps = schedule(instance, ties=expect["order"][:1]).trace
    last, total = steps[-1], instance.exact_capacity
    found = {
        "order": [instance.users[step.user] for step in steps],
        "dominant_shares": [step.dominant_shares for step in steps],
        "used_fraction": [[u / c for u, c in zip(step.used, total, strict=True)] for step in steps],
        "final_tasks": schedule(instance, ties=expect["order"][:1]).tasks.tolist(),
        "cpu_used": last.used[0] / total[0],
        "mem_used": last.used[1] / total[1],
    }
    return {key: found[key] for key in expect}


def two_tasks(given: dict, expect: dict) -> dict:
    """Two tasks of each user, as shares of what they use most."""
    instance = instance_of(given)
    (cpu, _), (_, memory) = (
        [2 * d / c for d, c in zip(row, instance.exact_capacity, strict=True)] for row in instance.exact_demands
    )
    return dict(zip(expect, (cpu, memory), strict=True))


def slots(given: dict, expect: dict) -> dict:
    """Slots shared equally, and what tasks in them use."""
    instance = instance_of(given)
    each = solve(Instance([[1]] * instance.n, [expect["slots_total"]]), "tasks", exact=True).tasks[0]
    usage = [each * sum(row[j] for row in instance.exact_demands) for j in range(instance.m)]
    over = [u > c for u, c in zip(usage, instance.exact_capacity, strict=True)]
    return {"slots_total": expect["slots_total"], "tasks_each": each, "usage": usage, "overcommitted": over}


def largest_task_first_out(instance: Instance) -> tuple[list[int], list[Fraction]]:
    """Return tasks and what is left on one machine by the algorithm in the proof of Theorem 7.

    The lowest share is served, until the largest task of every resource might not fit any more.
    """
    left, tasks = list(instance.exact_capacity), [0] * instance.n
    rates = policy_named("drf").exact_rates(instance)
    most = [max(row[j] for row in instance.exact_demands) for j in range(instance.m)]
    while all(room >= need for room, need in zip(left, most, strict=True)):
        i = min(range(instance.n), key=lambda i: (rates[i] * tasks[i], i))
        tasks[i] += 1
        left = [room - need for room, need in zip(left, instance.exact_demands[i], strict=True)]
    return tasks, left


def theorem7(given: dict, expect: dict) -> dict:
    """The algorithm in the proof of Theorem 7, and leximin of divisible tasks."""
    instance = instance_of(given | {"machines": None})
    tasks, left = largest_task_first_out(instance)
    rates = policy_named("drf").exact_rates(instance)
    shares = [rate * x for rate, x in zip(rates, tasks, strict=True)]
    level = solve(instance, "drf", exact=True).levels[0]
    found = {"tasks": tasks, "shares": shares, "left": left, "discrete_tasks": tasks, "discrete_shares": shares}
    return {key: (found | {"continuous_share": level, "max_task_share": max(rates)})[key] for key in expect}


def three_machines(given: dict, expect: dict) -> dict:
    """Leximin of divisible tasks, and the most whole tasks there can be."""
    instance = instance_of(given)
    tasks = solve(instance, "drf", exact=True).tasks.tolist()
    most = int(solve(instance, "throughput", integer=True).tasks.sum())
    return dict(zip(expect, (tasks, most, (sum(tasks) - most) / 2), strict=True))


def passing_over(given: dict, expect: dict) -> dict:
    """Algorithm 1, who does not fit being passed over."""
    instance = instance_of(given | {"machines": None})
    found, rates = schedule(instance), policy_named("drf").exact_rates(instance)
    return dict(zip(expect, (found.tasks.tolist(), found.trace[-1].dominant_shares, max(rates)), strict=True))


def pairwise(given: dict, expect: dict) -> dict:
    """300 random clusters under Algorithm 1 as printed: shares further apart than the largest task."""
    draw, beyond = Random(7), 0
    for _ in range(300):
        n, m = draw.randint(2, 4), draw.randint(1, 3)
        demands = [[draw.randint(1, 6) for _ in range(m)] for _ in range(n)]
        instance = Instance(demands, [draw.randint(6, 30) for _ in range(m)])
        rates = policy_named("drf").exact_rates(instance)
        tasks = schedule(instance, when_full="stop", trace=False).tasks.tolist()
        shares = [rate * x for rate, x in zip(rates, tasks, strict=True)]
        beyond += max(shares) - min(shares) > max(rates)
    return {"violations": beyond}


def closed_form(given: dict, expect: dict) -> dict:
    """Leximin in fractions on 200 random pools, beside the formula lambda = 1 / max_j sum_i w_i d_ij / (c_j mu_i)."""
    draw, wrong = Random(13), 0
    for _ in range(200):
        n, m = draw.randint(1, 5), draw.randint(1, 4)
        demands = [[draw.randint(1, 9) for _ in range(m)] for _ in range(n)]
        weights, capacity = [draw.randint(1, 4) for _ in range(n)], [draw.randint(5, 50) for _ in range(m)]
        mu = [max(Fraction(d, c) for d, c in zip(row, capacity, strict=True)) for row in demands]
        level = 1 / max(
            sum(w * Fraction(row[j], capacity[j]) / u for w, row, u in zip(weights, demands, mu, strict=True))
            for j in range(m)
        )
        tasks = solve(Instance(demands, capacity, weights=weights), "drf", exact=True).tasks.tolist()
        wrong += tasks != [w * level / u for w, u in zip(weights, mu, strict=True)]
    return dict.fromkeys(expect, wrong)


def one_at_a_time(rule: str) -> Callable[[dict, dict], dict]:
    """Return how a rule of whole tasks is asked: the truth, what each could run alone on a half, a report."""

    def found(given: dict, expect: dict) -> dict:
        instance = instance_of(given)
        tasks = schedule(instance, rule=rule).tasks.tolist()
        (room,), needs = instance.exact_capacity, [row[0] for row in instance.exact_demands]
        own = [x >= (room / instance.n) // need for x, need in zip(tasks, needs, strict=True)]
        answer = {"tasks": tasks, "truth": tasks, "SI_floor": all(own)}
        if "report" in given:
            told = instance_of(given | {"demands": given["demands"] | {"u1": given["report"]}})
            answer["outcome"] = schedule(told, rule=rule).tasks.tolist()
            answer["true_tasks_after"] = answer["outcome"][0] * told.exact_demands[0][0] // needs[0]
        if "EF1_remove_own_bundle" in expect:
            # u2 looks at what u1 holds, without as much as a task of its own, or one of u1's.
            held = tasks[0] * needs[0]
            answer["EF1_remove_own_bundle"] = (held - needs[1]) // needs[1] <= tasks[1]
            answer["EF1_remove_their_bundle"] = (held - needs[0]) // needs[1] <= tasks[1]
        if "skip_variant" in expect:
            answer["tasks"] = schedule(instance, rule=rule, when_full="stop").tasks.tolist()
            answer["skip_variant"] = tasks
        return {key: answer[key] for key in expect}

    found.__doc__ = f"schedule(..., rule={rule!r})"
    return found


def library(name: str) -> Callable[[dict, dict], dict]:
    """Return how a library instance is solved."""

    def found(given: dict, expect: dict) -> dict:
        allocation = solve(Instance.library(name), "drf", exact=True)
        return {user: allocation[user].tasks for user in expect}

    found.__doc__ = f'solve(Instance.library("{name}"), "drf", exact=True)'
    return found


def dynamic_drf(given: dict, expect: dict) -> dict:
    """The rule dynamic, user after user."""
    rows = [[exact(value) for value in row] for row in given["demands"].values()]
    steps = dynamic.arrivals(rows, [exact(value) for value in given["capacity"]])
    return {"step_dominant_shares": [list(shares) for shares in steps]}


def queue(row: dict, name: str = "") -> yarn.YarnQueue:
    """Return a queue of YARN's comparator."""
    used, minimum = (dict(zip(("memory", "cores"), row.get(key, ()), strict=False)) for key in ("u", "min"))
    return yarn.YarnQueue(used, row.get("w", 1), minimum, row.get("t", 0), name)


def compared(one: dict, other: dict, cluster: list, faults: tuple = ()) -> int:
    """Return the sign of YARN's comparison."""
    value = yarn.compare(
        queue(one, "1"), queue(other, "2"), dict(zip(("memory", "cores"), cluster, strict=True)), faults
    )
    return (value > 0) - (value < 0)


def yarn_cases(given: dict, expect: dict) -> dict:
    """The rule yarn's comparator."""
    return {"compare_sign": [compared(case["s1"], case["s2"], case["cluster"]) for case in given["cases"]]}


def yarn_cycle(given: dict, expect: dict) -> dict:
    """The rule yarn's comparator with the fault nan-ties."""
    return {pair: compared(given[pair[0]], given[pair[2]], given["cluster"], ("nan-ties",)) < 0 for pair in expect}


def yarn_second(given: dict, expect: dict) -> dict:
    """The rule yarn's comparator, with and without the fault yarn-11482."""
    one, other, cluster, fault = given["s1"], given["s2"], given["cluster"], ("yarn-11482",)
    pairs = ((one, other, ()), (one, other, fault), (other, one, fault))
    return dict(zip(expect, (compared(a, b, cluster, faults) for a, b, faults in pairs), strict=True))


def yarn_idle(given: dict, expect: dict) -> dict:
    """The rule yarn's comparator with the faults tie-to-last (as posted) and tie-to-first: who is served first."""
    found = {}
    for version, fault in (("as_posted", "tie-to-last"), ("comparator2", "tie-to-first")):
        needs = {
            "mem_only_minshare_needy": {"min": [10, 0], "t": 2},
            "cpu_only_minshare_needy": {"min": [0, 10], "t": 2},
        }
        found[version] = {key: compared(row, {"t": 1}, given["cluster"], (fault,)) < 0 for key, row in needs.items()}
    return found


def yarn_clock(given: dict, expect: dict) -> dict:
    """The rule yarn's comparator with the fault start-overflow."""
    rows, cluster = ({"t": 0}, {"t": 30 * 86_400_000}), {"memory": 1, "cores": 1}
    return dict.fromkeys(expect, yarn.compare(*map(queue, rows), cluster, ("start-overflow",)))


def mesos(given: dict, expect: dict) -> dict:
    """The rule mesos's sorter, event after event."""
    held = {path: list(row) for path, row in given["alloc"].items()}
    weights = {path: exact(w) for path, w in given.get("weights", {}).items()}
    events: dict[str, Callable[[], Any]] = {
        "order": dict,
        "after_b_minus_4_a_removed": lambda: (held.update(b=[2, 2]), held.pop("a")),
        "total_50_100_e_1_5": lambda: (given.update(total=[50, 100]), held.update(e=[1, 5])),
        "total_50_200_f_5_1_c_1_16": lambda: (given.update(total=[50, 200]), held.update(f=[5, 1], c=[1, 16])),
        "d_plus_10_25_b_removed_e_1_1_w0.1": lambda: (
            held.update(d=[held["d"][0] + 10, held["d"][1] + 25], e=[1, 1]),
            held.pop("b"),
            weights.update(e=Fraction(1, 10)),
        ),
    }
    found = {}
    for event in expect:
        events[event]()
        clients = {path: mesos_order.Client(dict(zip(("cpu", "mem"), row, strict=True))) for path, row in held.items()}
        total = dict(zip(("cpu", "mem"), given["total"], strict=True))
        found[event] = mesos_order.order(total, clients, {p: w for p, w in weights.items() if p in clients})
    return found


def karma_slices(given: dict, expect: dict) -> dict:
    """The rule karma, slice after slice."""
    found, credits = karma.karma(
        given["demands"],
        given["total"],
        public=given["public"],
        credits=given["init_credits"],
        inflation=given["inflation"],
    )
    totals = {user: sum(row) for user, row in found.items()}
    return dict(zip(expect, (found, totals, credits), strict=True))


def rounded(given: dict, expect: dict) -> dict:
    """Optima of divisible tasks rounded down, beside those of whole tasks."""
    instance = instance_of(given)
    found = {}
    for key in expect:
        kind, name = key.split("_")
        policy = {"nash": "ceei"}.get(name, name)
        tasks = solve(instance, policy, integer=kind == "int", exact=kind != "int").tasks.tolist()
        found[key] = [x // 1 for x in tasks] if kind == "floor" else tasks
    return found


def discriminating(given: dict, expect: dict) -> dict:
    """solve, whole and divisible, and the product of whole tasks."""
    found = rounded(given, {key: None for key in expect if "product" not in key})
    x, y, z = found["int_nash"]
    return {key: found.get(key, x * y * z) for key in expect}


def no_complaint(given: dict, expect: dict) -> dict:
    """The definitions, on the allocation that is given."""
    demands, tasks = instance_of(given).exact_demands, [exact(x) for x in given["tasks"]]
    bundles = [[x * d for d in row] for x, row in zip(tasks, demands, strict=True)]
    full = [sum(bundle[j] for bundle in bundles) == 1 for j in range(2)]
    content = all(any(full[j] and bundle[j] >= Fraction(1, 3) for j in range(2)) for bundle in bundles)

    def worth(i: int, k: int) -> Fraction:
        return min(b / d for b, d in zip(bundles[k], demands[i], strict=True) if d)

    envies = any(worth(i, k) > tasks[i] for i in range(3) for k in range(3))
    return {"BBF": content, "EF": not envies}


def table(given: dict, expect: dict) -> dict:
    """The table of claims, each with its proof or its instance (drfopt theorems)."""
    domain = given["domain"]
    cells = {p: {short: claim_for(p, PROPERTIES[short], domain) for short in row} for p, row in expect.items()}
    return {
        p: {short: None if c is None else c.verdict == "holds" for short, c in row.items()} for p, row in cells.items()
    }


def notebook6(text: str, pattern: str) -> list[tuple[str, ...]]:
    """Return what the notebook on section 7 printed, as it is committed."""
    cells = json.loads((REPOSITORY / "notebooks" / "06-section-7.ipynb").read_text(encoding="utf-8"))["cells"]
    said = [
        "".join(o.get("text", ())) for c in cells for o in c.get("outputs", ()) if text in "".join(o.get("text", ()))
    ]
    return re.findall(pattern, said[0], re.MULTILINE)


def large_jobs(given: dict, expect: dict) -> dict:
    """Notebook 6, overloaded memory slowing machines down by the power 4; durations are assumed."""
    rows = notebook6("large jobs", r"^e = 4.*\n((?:.+\n){6})")[0]
    bars = dict(re.findall(r"^(\S+(?: \S+)?) +(\d+) ", rows if isinstance(rows, str) else rows[0], re.MULTILINE))
    return {"large jobs completed": {name: int(jobs) for name, jobs in bars.items()}}


def sooner(given: dict, expect: dict) -> dict:
    """Notebook 6, another trace of the same company; sizes and durations of tasks are assumed."""
    rows = notebook6("jobs of up to 500 tasks", r"^(.+?)  +cpu.*tasks ([+-]\d+)%, larger ones ([+-]\d+)%")
    return {name: {"small jobs sooner, %": int(a), "large jobs sooner, %": int(b)} for name, a, b in rows}


WAYS: dict[str, Callable[[dict, dict], dict]] = {
    "trace-": traced,
    "mesos-10-20-trace": traced,
    "mesos-hetero": two_tasks,
    "sec7.2-slots": slots,
    "sec7.2-fig9": large_jobs,
    "sec7.3": sooner,
    "thm7-pairwise": pairwise,
    "thm7-deviation-false-K3": three_machines,
    "thm7-skip": passing_over,
    "thm7-": theorem7,
    "int-smm": one_at_a_time("sequential-min-max"),
    "int-list": one_at_a_time("algorithm-1"),
    "int-alg1": one_at_a_time("algorithm-1"),
    "hdrf-rescaling": library("hdrf-rescaling"),
    "hdrf-blocking": library("hdrf-blocking"),
    "dynamic": dynamic_drf,
    "yarn-unit": yarn_cases,
    "yarn-nan": yarn_cycle,
    "yarn-11482": yarn_second,
    "yarn-zero": yarn_idle,
    "yarn-start": yarn_clock,
    "mesos-": mesos,
    "thm13": closed_form,
    "table2": table,
    "property-matrix": table,
    "karma": karma_slices,
    "int-rounding": rounded,
    "disc30": discriminating,
    "bbf": no_complaint,
}
"""How each fact of ``more.json`` is found, by how its name begins."""

MEASURED = {
    "sec7.2-fig9": "their machines, their durations: which scheme wins depends on what overload costs",
    "sec7.3-params": "their trace is not public: the sign and the size depend on what tasks need of a slot",
}
"""Measurements that no computation can repeat, and why ours differ."""


def others() -> list[Row]:
    """Return the facts of ``more.json``."""
    found = []
    for fact in load("more"):
        way = next(way for begins, way in WAYS.items() if fact["id"].startswith(begins))
        how = (way.__doc__ or "").splitlines()[0].rstrip(".")
        ours = way(json.loads(json.dumps(fact["instance"])), fact["expect"])
        found.append(Row(fact["id"], *placed(fact["source"]), fact["expect"], ours, how))
    return found


def placed(source: str) -> tuple[str, str]:
    """Return a citation's work, up to its year, and the place in it."""
    work, year, place = re.match(r"(.*?)((?:19|20)\d\d\b|$)(.*)", source).groups()
    return (work + year or source), place.strip(" ,")


def rows() -> list[Row]:
    """Return all of them, computed now, without a word on the way."""
    logging.getLogger("drfopt").setLevel(logging.WARNING)
    return [*answers(), *properties(), *others()]


SHOWN = {
    "Table 1": ("trace-table1",),
    "Table 2": ("table2",),
    "Figures 3 and 4": ("drf-4.1", "asset-4.1", "ceei-4.1"),
    "Figure 5": ("thm1-asset-SI",),
    "Figure 6": ("thm4-ceei-truth", "thm4-ceei-lie"),
    "Figure 7": ("thm5-ceei-3users", "thm5-ceei-user3-leaves"),
    "Figure 8": ("sec7.1-phase1-nodes", "sec7.1-phase2-nodes", "sec7.1-phase3-nodes"),
    "Figure 9": ("sec7.2-fig9",),
    "Figures 13 and 14": ("sec7.3-params",),
}
"""The tables and figures of the DRF paper that have numbers, and the facts below that are theirs."""


def page() -> str:
    """Return the page; a number that differs and is no measurement is an error."""
    found = rows()
    wrong = [row for row in found if not row.agrees and row.id not in MEASURED]
    if wrong:
        raise RuntimeError(f"{wrong[0].id}: published {wrong[0].published}, computed {wrong[0].ours}")
    lines = [
        "# Published numbers, computed anew\n",
        f"{len({row.id for row in found})} facts of papers, posts and schedulers' own tests, each computed as this",
        f"page was built, in fractions where the answer is one: {len(found)} lines, of which",
        f"{len(found) - len(MEASURED)} come",
        "out as published (as corrected, where the source is wrong and says so), and the others are measurements on",
        "machines or traces that nobody else has.",
        f"More numbers of schedulers' tests, {len(load('schedulers'))} vectors, are the simulator's tests.\n",
        "The DRF paper's tables and figures: "
        + "; ".join(f"{name}: {', '.join(f'`{fact}`' for fact in facts)}" for name, facts in SHOWN.items())
        + ". Figures 1 and 2 show a trace that is not public, and of Figures 10 to 12 no numbers are printed:",
        "what stands in for them is drawn in [notebook 6](notebooks/06-section-7.ipynb).\n",
        "| fact | source | place | published | ours | how |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in found:
        ours = words(row.ours) if row.id in MEASURED else "the same" if len(words(row.ours)) > 60 else words(row.ours)
        note = f"; {MEASURED[row.id]}" if row.id in MEASURED else ""
        cells = (row.id, row.source, row.place, words(row.published), ours, row.how + note)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def words(value: Any) -> str:
    """Return published or computed values as they are read."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        inner = [words(part) for part in value]
        return ", ".join(
            f"({part})" if isinstance(item, list | tuple) else part for item, part in zip(value, inner, strict=True)
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(_plain(value))
