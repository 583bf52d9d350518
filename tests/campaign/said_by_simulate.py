"""What `simulate` says, judged by a simulation of its own: of plain rules, moment by moment, in fractions."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sayings import NUMBER, Book, Template, agrees, close, number

from drfopt import Instance, Machine
from drfopt.simulation import Job, Scenario, Stage, User, simulate, simulate_each

__all__ = ["BOOK", "Told", "judged", "worked"]

RULES = ("drf", "asset", "sequential-min-max", "drf-stop", "fifo")


class Work(NamedTuple):
    """A job in plain numbers."""

    user: int
    index: int
    demand: tuple[int, ...]
    tasks: int
    duration: int | None
    arrival: int
    classes: tuple[int, ...] | None


class Event(NamedTuple):
    """What is so from a moment on: what users hold (n, m), tasks running and waiting (n,), sums of demands (n, m)."""

    at: int
    held: list[list[int]]
    running: list[int]
    waiting: list[int]
    wanted: list[list[int]]


class Told:
    """A scenario, and what became of it by our own account."""

    def __init__(self, machines: list, weights: list, works: list[Work], rule: str, until: int | None):
        self.machines, self.weights, self.works, self.rule, self.until = machines, weights, works, rule, until
        self.guarantees: list[dict[int, int]] = []
        self.n, self.m = len(weights), len(machines[0][0])
        self.total = [sum(row[j] * count for row, count in machines) for j in range(self.m)]
        self.events: list[Event] = []
        self.finished: dict[int, int] = {}
        self.done = [0] * len(works)
        self.end = 0
        self._run()

    def able(self, at: int) -> bool:
        """Say whether a task of a job fits on some machine that may run it."""
        work = self.works[at]
        return any(
            (work.classes is None or k in work.classes) and all(d <= c for d, c in zip(work.demand, row, strict=True))
            for k, (row, _) in enumerate(self.machines)
        )

    def _measure(self, held: Sequence[int], user: int, at: int) -> Any:
        work = self.works[at]
        if self.rule == "fifo":
            return (work.arrival,)
        more = work.demand if self.rule == "sequential-min-max" else (0,) * self.m
        shares = [
            Fraction(h + d, c) / self.weights[user] if c else Fraction(0)
            for h, d, c in zip(held, more, self.total, strict=True)
        ]
        return sum(shares) if self.rule == "asset" else max(shares)

    def _turn(self, held: list[list[int]], at: int) -> tuple:
        work = self.works[at]
        return self._measure(held[work.user], work.user, at), work.user, work.arrival, work.index

    def _run(self) -> None:
        free = [(k, list(row)) for k, (row, count) in enumerate(self.machines) for _ in range(count)]
        held = [[0] * self.m for _ in range(self.n)]
        waiting = [0] * len(self.works)
        running: list[tuple[int, int, int]] = []  # end, job, machine
        forever: list[tuple[int, int]] = []
        now, came = 0, [False] * len(self.works)
        while True:
            moments = [end for end, _, _ in running]
            moments += [w.arrival for at, w in enumerate(self.works) if not came[at]]
            if not moments or (self.until is not None and min(moments) > self.until):
                self.end = self.until if self.until is not None else now
                return
            now = min(moments)
            for one in [one for one in running if one[0] == now]:
                running.remove(one)
                _, at, machine = one
                self.done[at] += 1
                for j, d in enumerate(self.works[at].demand):
                    held[self.works[at].user][j] -= d
                    free[machine][1][j] += d
                if self.done[at] == self.works[at].tasks:
                    self.finished[at] = now
            for at, work in enumerate(self.works):
                if not came[at] and work.arrival == now:
                    came[at], waiting[at] = True, work.tasks
            out: set[int] = set()
            while asking := [at for at, x in enumerate(waiting) if x and at not in out and self.able(at)]:
                at = min(asking, key=lambda at: self._turn(held, at))
                work = self.works[at]
                place = next(
                    (
                        p
                        for p, (k, room) in enumerate(free)
                        if (work.classes is None or k in work.classes)
                        and all(d <= c for d, c in zip(work.demand, room, strict=True))
                    ),
                    None,
                )
                if place is None:
                    if self.rule == "drf-stop":
                        break
                    out.add(at)
                    continue
                waiting[at] -= 1
                for j, d in enumerate(work.demand):
                    held[work.user][j] += d
                    free[place][1][j] -= d
                if work.duration is None:
                    forever.append((at, place))
                else:
                    running.append((now + work.duration, at, place))
            self._note(now, held, running, forever, waiting)

    def _note(self, now: int, held: list, running: list, forever: list, waiting: list) -> None:
        runs, waits = [0] * self.n, [0] * self.n
        wanted = [[0] * self.m for _ in range(self.n)]
        for at in [at for _, at, _ in running] + [at for at, _ in forever]:
            runs[self.works[at].user] += 1
            for j, d in enumerate(self.works[at].demand):
                wanted[self.works[at].user][j] += d
        for at, x in enumerate(waiting):
            waits[self.works[at].user] += x
            for j, d in enumerate(self.works[at].demand):
                wanted[self.works[at].user][j] += d * x
        self.events.append(Event(now, [list(row) for row in held], runs, waits, wanted))

    # ---- what follows ---------------------------------------------------------------------------------------------

    def spans(self) -> Iterator[tuple[Event, int]]:
        """Yield what was so, and for how long."""
        ends = [event.at for event in self.events[1:]] + [self.end]
        for event, after in zip(self.events, ends, strict=False):  # of no events there is one end
            yield event, after - event.at

    def share(self, i: int, j: int) -> Fraction:
        """Return the mean share of a resource."""
        if not self.total[j]:
            return Fraction(0)
        if not self.end:
            return Fraction(self.events[-1].held[i][j], self.total[j]) if self.events else Fraction(0)
        return Fraction(sum(event.held[i][j] * span for event, span in self.spans()), self.total[j] * self.end)

    def responses(self, users: Sequence[int]) -> list[int]:
        """Return seconds from arrival to end of jobs that are done."""
        return [t - self.works[at].arrival for at, t in self.finished.items() if self.works[at].user in users]

    def under_way(self, i: int) -> int:
        """Return jobs that came and did not end."""
        return sum(
            w.user == i and at not in self.finished and (self.until is None or w.arrival <= self.until)
            for at, w in enumerate(self.works)
        )

    def unplaced(self) -> list[int]:
        """Return users with tasks that no machine can run."""
        return sorted({w.user for at, w in enumerate(self.works) if not self.able(at)})


# ---- the optimum of a moment -----------------------------------------------------------------------------------------


def _distances(case: Told, event: Event) -> dict[str, Fraction] | None:
    """Return how far a moment is from its leximin optimum in one pool of all machines."""
    there = [i for i in range(case.n) if event.running[i] + event.waiting[i]]
    if not there:
        return None
    limits = {i: event.running[i] + event.waiting[i] for i in there}
    demand = {i: [Fraction(w, limits[i]) for w in event.wanted[i]] for i in there}
    able = [i for i in there if all(c or not d for d, c in zip(demand[i], case.total, strict=True))]
    rate = {i: max(d / c for d, c in zip(demand[i], case.total, strict=True) if c) / case.weights[i] for i in able}
    tasks, rising = dict.fromkeys(able, Fraction(0)), set(able)
    while rising:
        moments: list[tuple[Fraction, set[int]]] = [(limits[i] * rate[i], {i}) for i in rising]
        for j, c in enumerate(case.total):
            users = {i for i in rising if demand[i][j]}
            if users:
                left = c - sum(demand[i][j] * tasks[i] for i in able if i not in rising)
                moments.append((left / sum(demand[i][j] / rate[i] for i in users), users))
        now = min(at for at, _ in moments)
        stopped = set().union(*(users for at, users in moments if at == now))
        for i in stopped & rising:
            tasks[i] = now / rate[i]
        rising -= stopped
    levels = {
        i: max(Fraction(h, c) for h, c in zip(event.held[i], case.total, strict=True) if c) / case.weights[i]
        for i in able
    }
    fair = {i: tasks[i] * rate[i] for i in able}
    found = {"shortfall": max([max(fair[i] - levels[i], Fraction(0)) for i in able], default=Fraction(0))}
    best = min(fair.values(), default=Fraction(0))
    found["lowest level"] = min(levels.values()) / best if best else Fraction(1)
    used = [
        (Fraction(sum(row[j] for row in event.held)) - sum(demand[i][j] * tasks[i] for i in able)) / c
        if c
        else Fraction(0)
        for j, c in enumerate(case.total)
    ]
    found["utilization"] = sum(used) / case.m
    envies = [Fraction(0)]
    for i in able:
        for k in range(case.n):
            if k != i:
                room = min(
                    Fraction(event.held[k][j]) / d for j, d in enumerate(demand[i]) if d
                ) * case.weights[i] / case.weights[k]  # fmt: skip
                whole = min(room, Fraction(limits[i])) * rate[i] * case.weights[i]
                envies.append(whole - levels[i] * case.weights[i])
    found["envy"] = max(envies)
    return found


def _mean_distances(case: Told) -> dict[str, Fraction]:
    sums: dict[str, Fraction] = {}
    time = 0
    for event, span in case.spans():
        found = _distances(case, event)
        if found is not None:
            time += span
            for name, value in found.items():
                sums[name] = sums.get(name, Fraction(0)) + value * span
    return {name: value / time for name, value in sums.items()} if time else {}


# ---- sayings ---------------------------------------------------------------------------------------------------------


def _done(case: Told, tasks: str, seconds: str, used: str) -> str | None:
    if number(tasks) != sum(case.done) or not agrees(seconds, case.end):
        return f"{sum(case.done)} in {case.end} s"
    for j, part in enumerate(used.split(", ")):
        name, _, text = part.rpartition(" ")
        should = sum(case.share(i, j) for i in range(case.n))
        if name != f"r{j}" or abs(Fraction(text.removesuffix("%")) / 100 - should) > Fraction(51, 10**5):
            return f"r{j}: {float(should)}"
    return None


def _jobs(case: Told, counts: str) -> str | None:
    should = ", ".join(f"u{i} {case.under_way(i)}" for i in range(case.n) if case.under_way(i))
    return None if counts == should else f"they are {should}"


def _unplaced(case: Told, names: str) -> str | None:
    should = ", ".join(f"u{i}" for i in case.unplaced())
    return None if names == should else f"they are {should}"


def _promised(case: Told, amounts: str) -> str | None:
    rows = [(sum(g.get(j, 0) for g in case.guarantees), c, j) for j, c in enumerate(case.total)]
    should = ", ".join(f"{promised} of {c} r{j}" for promised, c, j in rows if promised > c)
    return None if amounts == should else f"they are {should}"


def _disregarded(case: "Told | Sides", rule: str, what: str) -> str | None:
    mine = case if isinstance(case, Told) else case.told[rule]
    apart = {"weights": rule == "fifo" and len(set(mine.weights)) > 1, "guarantees": any(mine.guarantees)}
    should = ", ".join(name for name, there in apart.items() if there)
    return None if (mine.rule, what) == (rule, should) else f"{mine.rule}: {should}"


class Sides:
    """Rules side by side, and what each comes to."""

    def __init__(self, told: dict[str, Told], replications: int):
        self.told, self.replications = told, replications


def _apart(case: Sides, base: str, others: str) -> str | None:
    """Compare what is said to differ with what does, where no times are drawn."""
    mine = {name: _plain_measures(one) for name, one in case.told.items()}
    if base not in mine:
        return f"{base} was not simulated"
    found = dict(part.split(": ") for part in others.split("; ")) if others != "none" else {}
    for name, values in mine.items():
        # What is not measured under both is no difference.
        known = [key for key, value in values.items() if None not in (value, mine[base][key])]
        apart = {key for key in known if values[key] != mine[base][key]}
        told = {key for key in found.get(name, "").split(", ") if key in values}
        if apart != told:
            return f"{name} differs in {sorted(apart)}"
    return None


def _plain_measures(case: Told) -> dict[str, Any]:
    responses = case.responses(range(case.n))
    return {
        "jobs done": len(case.finished),
        "jobs under way": sum(case.under_way(i) for i in range(case.n)),
        "tasks done": sum(case.done),
        "seconds": case.end,
        "mean response": Fraction(sum(responses), len(responses)) if responses else None,
    }


BOOK = Book(
    (
        Template(
            "done",
            rf"(?P<tasks>{NUMBER}) tasks? done in (?P<seconds>{NUMBER}) s; mean utilization: (?P<used>.*)",
            _done,
        ),
        Template("under way", r"jobs still under way, which have no response time: (?P<counts>.*)", _jobs),
        Template("disregarded", r"(?P<rule>\S+) does not look at (?P<what>.+)", _disregarded),
        Template("promised", r"guarantees are more than there is: (?P<amounts>.*)", _promised),
        Template(
            "replications",
            r"means of (?P<count>\d+) replications, \+- half a 95% confidence interval",
            lambda case, count: None if int(count) == case.replications > 1 else f"{case.replications}",
        ),
        Template(
            "apart",
            r"on the same random numbers the 95% interval of the difference from (?P<base>\S+) leaves out 0: "
            "(?P<others>.*)",
            _apart,
        ),
        Template(
            "unplaced", r"unplaced \(some task fits on no machine that it may use\): (?P<names>.*)", _unplaced
        ),
    )
)  # fmt: skip


def worked(chance: random.Random) -> tuple[Told, Scenario]:
    """Return a random scenario, and what becomes of it under a plain rule."""
    m, n, k = chance.choice((1, 2, 2, 3)), chance.choice((1, 2, 3, 3)), chance.choice((1, 1, 2))
    machines = [
        (
            [0 if chance.random() < 0.04 else chance.choice((1, 2, 3, 4, 6, 9)) for _ in range(m)],
            chance.choice((1, 1, 2)),
        )
        for _ in range(k)
    ]
    if not any(any(row) for row, _ in machines):
        machines[0][0][0] = 4
    rule = chance.choice(RULES)
    weights = [chance.choice((1, 1, 1, 2, 3)) for _ in range(n)]
    works = []
    for i in range(n):
        for index in range(1 if rule in ("drf-stop", "fifo") else chance.choice((1, 1, 2))):
            demand = [chance.choice((0, 1, 1, 2, 3)) for _ in range(m)]
            if not any(demand):
                demand[chance.randrange(m)] = 1
            arrival, tasks = chance.choice((0, 0, 0, 1, 3, 5)), chance.choice((1, 2, 3, 5, 8))
            duration = None if chance.random() < 0.05 else chance.choice((1, 2, 3, 5, 10))
            classes = None if chance.random() < 0.8 else (chance.randrange(k),)
            works.append(Work(i, index, tuple(demand), tasks, duration, arrival, classes))
    until = chance.choice((None, None, 2, 5, 7))
    guarantees = [{j: chance.choice((1, 2, 4)) for j in range(m) if chance.random() < 0.2} for _ in range(n)]
    names = [f"r{j}" for j in range(m)]
    scenario = Scenario(
        tuple(Machine(f"c{c}", dict(zip(names, row, strict=True)), count) for c, (row, count) in enumerate(machines)),
        tuple(
            User(
                f"u{i}",
                tuple(
                    Job(
                        Stage(dict(zip(names, w.demand, strict=True)), w.tasks, w.duration,
                              machines=None if w.classes is None else tuple(f"c{c}" for c in w.classes)),
                        arrival=w.arrival,
                    )
                    for w in works
                    if w.user == i
                ),
                weights[i],
                {f"r{j}": amount for j, amount in guarantees[i].items()},
            )
            for i in range(n)
        ),
        until=until,
    )  # fmt: skip
    told = Told(machines, weights, works, rule, until)
    told.guarantees = guarantees
    return told, scenario


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Simulate a scenario and return what is false of what is said."""
    case, scenario = worked(chance)
    run = simulate(scenario, case.rule)
    sheet, wrong = run.sheet(), []
    wrong += BOOK.told("title", None if sheet.title == f"{case.rule}, simulated" else sheet.title)
    headings = [column.heading for column in sheet.columns]
    document = run.to_dict()
    for i, row in enumerate(sheet.rows):
        told = dict(zip(headings, row, strict=True))
        for heading, cell in told.items():
            kind = "mean share" if heading.startswith("mean share") else heading
            wrong += [f"u{i}, {heading}: {w}" for w in BOOK.told(f"column: {kind}", _cell(case, i, heading, cell))]
        wrong += BOOK.told("json: user", _entry(case, i, document["users"][i], told))
    wrong += BOOK.judged(case, sheet.notes)
    if chance.random() < 0.5:
        wrong += _beside(case, scenario, chance)
    return wrong


def _cell(case: Told, i: int, heading: str, cell: Any) -> str | None:
    last = case.events[-1] if case.events else None
    mine = case.responses([i])
    should: Any = {
        "user": f"u{i}",
        "jobs done": len(mine),
        "tasks done": sum(x for x, w in zip(case.done, case.works, strict=True) if w.user == i),
        "running": last.running[i] if last else 0,
        "waiting": last.waiting[i] if last else 0,
    }.get(heading)
    if heading == "mean response":
        if not mine or cell is None:
            return None if not mine and cell is None else f"{mine}"
        return None if close(cell, Fraction(sum(mine), len(mine)), Fraction(1, 10**9)) else f"{mine}"
    if heading.startswith("mean share of "):
        share = case.share(i, int(heading.removeprefix("mean share of r")))
        return None if abs(Fraction(cell) - share) <= Fraction(51, 10**6) else f"{float(share)}"
    return None if cell == should else f"{cell} is {should}"


def _entry(case: Told, i: int, row: dict[str, Any], told: dict[str, Any]) -> str | None:
    if (row["jobs"], row["tasks"], row["running"], row["waiting"], row["response"]) != tuple(
        told[k] for k in ("jobs done", "tasks done", "running", "waiting", "mean response")
    ):
        return f"{row} beside {told}"
    if row["jobs_under_way"] != case.under_way(i) or row["jobs_closed"]:
        return f"{case.under_way(i)} are under way"
    for j in range(case.m):
        if not close(row["mean_shares"][f"r{j}"], case.share(i, j), Fraction(1, 10**9)):
            return f"r{j}: {float(case.share(i, j))}"
    return None


def _beside(case: Told, scenario: Scenario, chance: random.Random) -> list[str]:
    """Judge rules side by side, and how far they are from the optimum of every moment."""
    other = chance.choice([rule for rule in RULES if rule != case.rule])
    count = chance.choice((1, 1, 2))
    trials = simulate_each(scenario, [case.rule, other], optimum=True, replications=count)
    told = {case.rule: case, other: Told(case.machines, case.weights, case.works, other, case.until)}
    told[other].guarantees = case.guarantees
    several = len({w.user for w in case.works}) < len(case.works) and {case.rule, other} & {"fifo", "drf-stop"}
    wrong = [] if several else BOOK.judged(Sides(told, count), trials.sheet().notes)
    for entry in trials.to_dict()["rules"]:
        mine = told[entry["rule"]]
        if len({w.user for w in mine.works}) < len(mine.works) and entry["rule"] in ("fifo", "drf-stop"):
            continue
        distances = _mean_distances(mine)
        for name, values in entry["measures"].items():
            wrong += [
                f"{entry['rule']}, {name}: {w}"
                for w in BOOK.told(
                    f"measure: {name.replace('r0', 'r').replace('r1', 'r').replace('r2', 'r')}",
                    _measure(mine, name, values["mean"], distances),
                )
            ]
    return wrong


def _measure(case: Told, name: str, mean: float, distances: dict[str, Fraction]) -> str | None:
    responses = case.responses(range(case.n))
    should: Any = {
        "jobs done": len(case.finished),
        "jobs cut short": 0,
        "jobs under way": sum(case.under_way(i) for i in range(case.n)),
        "tasks done": sum(case.done),
        "tasks revoked": 0,
        "seconds": case.end,
        "mean response": Fraction(sum(responses), len(responses)) if responses else None,
    }
    if name.endswith(" used"):
        should[name] = sum(case.share(i, int(name[1])) for i in range(case.n))
    elif name in distances:
        should[name] = distances[name]
    elif name not in should:
        return None
    value = should[name]
    if value is None:
        return None if mean != mean else f"{mean} of nothing"
    return None if close(mean, value, Fraction(1, 10**7)) else f"{mean} is {float(value)}"
