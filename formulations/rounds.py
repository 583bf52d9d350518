"""The loop around the files beside this one, with cvxpy or PuLP alone, and what each of them prints when it is run.

Given    build(data, h)  the program of a round, or of a notion that is solved once; not solved
         data            its arrays, in the letters of README.md
         h[i]            level at which user i is held, NaN while it rises                       (n,)

Divisible tasks:

    h[i] = NaN for every user i
    repeat until nobody rises
        solve build(data, h); of all optima the one with the least `ties`, where the round has them
        y[i]  the dual of its row (level), the first of its rows
        h[i] = s[i] for every user i who rises and has y[i] > 0, or whom the round calls `finished`

Somebody always is finished, as the y[i] of those who rise sum to 1.

Whole tasks: a round settles its level t alone, and who stays there can be a choice. For every user i who rises:
h[i] = t, and so on until everybody is held; the way whose sorted levels are lexicographically highest is the optimum.
That is a way for every order of the users: for worked examples, not for clusters. A round that says
itself who is `finished` is followed by the next one only, and once all are held by a last program.

Run      python drf.py [--data FILE.json]   the file holds the arrays by their names in `data`; null is no limit
Use      steps = rounds.steps(drf.build, rounds.read("cluster.json")); steps[-1].tasks
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pulp

POSITIVE = 1e-7  # a dual below it is 0: HiGHS decides on duals to 1e-7, and those of a round are near 1 / n
NEAR = 1e-6  # part of a row that a solver leaves open where the row is full
GAPS = ("gap_abs", "gap_rel", "feas")
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "mip_feasibility_tolerance": 1e-9}
CONIC = {f"{kind}{what}": tol for kind, tol in (("tol_", 1e-12), ("reduced_tol_", 1e-8)) for what in GAPS}

PAPER = {"demands": [[1, 4], [3, 1]], "capacity": [9, 18], "users": ["A", "B"], "resources": ["cpu", "memory"]}
"""The example of the paper's section 4.1: 9 CPU and 18 GB."""

ARRAYS = {
    "demands": 2, "capacity": 1, "machines": 2, "counts": 1, "eligible": 2, "weights": 2, "limits": 1,
    "promised": 1, "units": 2, "counted": 1, "tiers": 1, "grouped": 2, "ceilings": 2,
    "parent": 1, "group_parent": 1, "group_weights": 1, "group_tiers": 1,
    "kind_demands": 2, "kind_eligible": 2, "kind_parts": 2, "kinds": 2,
}  # fmt: skip
"""The dimensions of what `data` may have."""


class Data:
    """The arrays of an instance as attributes; it remembers which were read."""

    def __init__(self, **arrays: Any):
        self.arrays, self.seen = arrays, set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.arrays:
            raise AttributeError(name)
        self.seen.add(name)
        return self.arrays[name]


class Step(NamedTuple):
    """A round that was solved: levels are None of a notion solved once; `duals` by the names of the rows."""

    tasks: np.ndarray
    levels: np.ndarray | None
    finished: np.ndarray
    duals: list[np.ndarray]
    why: str


# ---- the loop ----------------------------------------------------------------------------------------------------


def solve(program: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Solve a program; return tasks and levels, each (n,). Raise ValueError where there is no optimum."""
    problem = program.problem
    if isinstance(problem, pulp.LpProblem):
        problem.solve(pulp.HiGHS(msg=False, gapRel=0.0, gapAbs=0.0))  # left alone it stops within 1e-4
        if problem.status != pulp.LpStatusOptimal or problem.sol_status != pulp.LpSolutionOptimal:
            raise ValueError(f"the program has no optimum: {pulp.LpStatus[problem.status].lower()}")
        tasks = np.array([x.value() for x in program.tasks])
        if (abs(tasks - tasks.round()) > NEAR).any():
            raise ValueError("the program of whole tasks ended with parts of them")
        return tasks.round().astype(int), None if program.levels is None else np.array(
            [s.value() for s in program.levels]
        )
    optimum(problem)
    if (ties := getattr(program, "ties", None)) is not None:
        best = problem.objective.expr >= problem.objective.expr.value  # to the solver's tolerance
        optimum(cp.Problem(cp.Minimize(ties), [*problem.constraints, best]))
    return program.tasks.value, None if program.levels is None else program.levels.value


def optimum(problem: cp.Problem) -> None:
    """Solve a program of cvxpy: a linear one, whole numbers or not, by HiGHS, any other by Clarabel."""
    linear = problem.is_qp() or problem.is_mixed_integer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CONIC asks for more than Clarabel may reach
        problem.solve(**({"solver": cp.HIGHS} | TIGHT if linear else {"solver": cp.CLARABEL} | CONIC))
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise ValueError(f"the program has no optimum: {problem.status}")


def steps(build: Callable, data: Any) -> list[Step]:
    """Return the rounds until everybody is held; the last one's tasks are the answer."""
    held = np.full(len(data.demands), np.nan)
    program = build(data, held)
    if program.levels is None:
        tasks, _ = solve(program)
        return [Step(tasks, None, np.isnan(held), duals(program), "")]
    if isinstance(program.problem, pulp.LpProblem) and getattr(program, "finished", None) is None:
        return whole(build, data, held)
    return list(one_by_one(build, data, held))


def one_by_one(build: Callable, data: Any, h: np.ndarray) -> Iterator[Step]:
    """Yield the rounds of a leximin, whoever is finished being held from then on; the last one tells whole tasks."""
    while np.isnan(h).any():
        program, rises = build(data, h), np.isnan(h)
        tasks, levels = solve(program)
        if (says := getattr(program, "finished", None)) is not None:
            finished, why = rises & says(), (says.__doc__ or "the round says so").rstrip(".").lower()
        else:
            y = np.where(rises, program.problem.constraints[0].dual_value, 0.0)
            finished, why = y > min(POSITIVE, y.max() / 2), "a positive dual: it has this level in every optimum"
        if not finished.any():
            raise ValueError("a round finished nobody")
        yield Step(tasks, levels, finished, duals(program), why)
        h = np.where(finished, levels, h)
    if isinstance(program.problem, pulp.LpProblem):
        tasks, levels = solve(build(data, h))
        yield Step(tasks, levels, np.zeros(len(h), dtype=bool), [], "")


def whole(build: Callable, data: Any, h: np.ndarray, known: dict | None = None) -> list[Step]:
    """Return the rounds of a leximin of whole tasks, every choice of who stays at a round's level tried."""
    known = {} if known is None else known  # the same users held at the same levels need no second look
    if h.tobytes() in known:
        return known[h.tobytes()]
    tasks, levels = solve(build(data, h))
    rises = np.flatnonzero(np.isnan(h))
    if not len(rises):
        return [Step(tasks, levels, np.zeros(len(h), dtype=bool), [], "")]
    t = levels[rises].min()
    ways = {i: whole(build, data, np.where(np.arange(len(h)) == i, t, h), known) for i in rises}
    ends = {i: sorted((way[-1].levels / t if t else way[-1].levels).round(9)) for i, way in ways.items()}
    best = max(ways, key=lambda i: (ends[i], levels[i] == t, -i))
    others = sum(ends[i] == ends[best] for i in rises) - 1
    also = f"; as high with {others} other{'s' * (others > 1)} held in its place" if others else ""
    why = f"held here, the others end highest{also}" if len(rises) > 1 else "nobody else rises"
    known[h.tobytes()] = [Step(tasks, levels, np.arange(len(h)) == best, [], why), *ways[best]]
    return known[h.tobytes()]


def duals(program: Any) -> list[np.ndarray]:
    """Return the duals of the rows in their order; none where the program has whole numbers."""
    problem = program.problem
    if isinstance(problem, pulp.LpProblem) or problem.is_mixed_integer():
        return []
    return [np.asarray(row.dual_value) for row in problem.constraints]


# ---- the numbers -------------------------------------------------------------------------------------------------


def arrays(given: dict) -> tuple[Data, list[str], list[str]]:
    """Return `data`, and the names of users and resources, from lists by the names of the arrays."""
    given = dict(given)
    users, resources = given.pop("users", None), given.pop("resources", None)
    if unknown := given.keys() - ARRAYS.keys():
        raise ValueError(f"{sorted(unknown)[0]!r} is no array: there are {', '.join(ARRAYS)}; users, resources (names)")
    if "demands" not in given or ("capacity" in given) == ("machines" in given):
        raise ValueError("give demands, and either capacity (of a pool) or machines")
    try:
        a = {name: np.array(values, dtype=float) for name, values in given.items()}
    except (TypeError, ValueError):
        raise ValueError("every array is a list of numbers, or of lists of numbers of one length") from None
    a = {name: np.where(np.isnan(values), np.inf, values) for name, values in a.items()}
    n, m = a["demands"].shape if a["demands"].ndim == 2 else (0, 0)
    a.setdefault("weights", np.ones((n, m)))
    if a["weights"].shape == (n,):
        a["weights"] = np.tile(a["weights"][:, None], (1, m))
    a.setdefault("limits", np.full(n, np.inf))
    a |= {
        name: a[name].astype(int)
        for name in ("counts", "tiers", "parent", "group_parent", "group_tiers", "kinds")
        if name in a
    }
    if "machines" in a:
        a.setdefault("counts", np.ones(len(a["machines"]), dtype=int))
        open_to = a.get("eligible", 1.0) > 0
        a["capacity"] = a["counts"] @ a["machines"]
        a["eligible"] = open_to & (a["demands"][:, None, :] <= a["machines"]).all(axis=2)
        room = a["eligible"].any(axis=1)
    else:
        a |= dict.fromkeys(("machines", "counts", "eligible"))
        room = ((a["demands"] == 0) | (a["capacity"] > 0)).all(axis=1)
    users = users or [f"user {i + 1}" for i in range(n)]
    resources = resources or [f"resource {j + 1}" for j in range(m)]
    shapes = {"demands": (len(users), len(resources)), "capacity": (m,), "weights": (n, m), "limits": (n,)}
    for name, shape in shapes.items():
        if a[name].shape != shape or not shape[0]:
            raise ValueError(f"{name} has shape {a[name].shape}, and {shape} is needed")
    for name, dimensions in ARRAYS.items():
        if a.get(name) is not None and a[name].ndim != dimensions:
            raise ValueError(f"{name} has {a[name].ndim} dimensions, and {dimensions} are needed")
    wrong = ~room | ~(a["demands"] > 0).any(axis=1) | (a["demands"] < 0).any(axis=1)
    if wrong.any():
        raise ValueError(f"{users[int(wrong.argmax())]!r} cannot run a task, or needs nothing: leave it out")
    return Data(**a), users, resources


def read(path: str | Path) -> Data:
    """Return the `data` that a JSON file holds."""
    return arrays(json.loads(Path(path).read_text(encoding="utf-8")))[0]


# ---- what is printed ---------------------------------------------------------------------------------------------


def show(build: Callable, words: str, program: str, rows: str = "", **example: Any) -> None:
    """Solve the example, or the arrays of `--data`, and print it round by round.

    Parameters
    ----------
    words : the file's docstring, whose first line is its title
    program : the program in one line
    rows : the names of its constraints, in their order
    example : what the notion's example has beside the paper's
    """
    parser = argparse.ArgumentParser(description=words.splitlines()[0])
    parser.add_argument("--data", metavar="FILE.json", help="other numbers: the arrays by their names in `data`")
    path = parser.parse_args().data
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8")) if path else PAPER | example
        if not isinstance(given, dict):
            raise ValueError("it must be an object of arrays by their names")
        data, users, resources = arrays(given)
        lines = told(build, data, users, resources, rows.split())
    except (OSError, ValueError, cp.SolverError, pulp.PulpError) as error:
        sys.exit(f"error: {path or Path(sys.argv[0]).name}: {error}")
    print(words.splitlines()[0], program, "", *lines, sep="\n")  # noqa: T201


def told(build: Callable, data: Data, users: list[str], resources: list[str], rows: list[str]) -> list[str]:
    """Return the lines of all rounds, and of tasks and shares."""
    d, c = data.demands, data.capacity
    lines = [
        f"capacity   {named(c, resources)}" + ("" if data.machines is None else f"   ({len(data.counts)} classes)")
    ]
    lines += [f"{user} needs {named(d[i], resources)} a task" for i, user in enumerate(users)]
    found = steps(build, data)
    if unused := data.arrays.keys() - data.seen - {"counts", "eligible", "weights", "limits"}:
        unused = {name for name in unused if data.arrays[name] is not None}
        if unused:
            raise ValueError(f"this notion makes no use of {', '.join(sorted(unused))}: leave it out")
    for number, step in enumerate(found, start=1):
        if not step.finished.any():
            continue  # the last program of whole tasks, with everybody held
        out = [users[i] for i in np.flatnonzero(step.finished)]
        if step.levels is None:
            lines += ["", "solved once"]
        else:
            level = sorted({f"{level:.6g}" for level in step.levels[step.finished]})
            lines += ["", f"round {number}    level {', '.join(level)}"]
        labels = dict.fromkeys(("level", "limit", "equality", "sharing", "promise"), users) | {"capacity": resources}
        for name, dual in zip(rows, step.duals, strict=False):
            shown = in_words(dual, labels.get(name))
            if shown:
                lines.append(f"  dual of {name:<9} {shown}")
        if not step.duals:
            lines.append("  duals             none: the program has whole numbers")
        if step.levels is not None:
            lines.append(f"  finished          {', '.join(out)}: {step.why}")
            stops = [
                f"{users[i]} by {by}"
                for i in np.flatnonzero(step.finished)
                if (by := stopped_by(data, step.tasks, i, resources))
            ]
            lines += [f"  stopped           {'; '.join(stops)}"] if stops else []
    tasks = found[-1].tasks
    used = tasks @ d
    width = max(map(len, [*users, "used"]))
    lines += ["", f"{'':<{width}}  {'tasks':>10}" + "".join(f"  {name + ' share':>14}" for name in resources)]
    share = np.divide(d * tasks[:, None], c, out=np.zeros_like(d), where=c > 0)
    for i, user in enumerate(users):
        lines.append(f"{user:<{width}}  {tasks[i]:>10.6g}" + "".join(f"  {share[i, j]:>14.6g}" for j in range(len(c))))
    parts = np.divide(used, c, out=np.zeros_like(c), where=c > 0)
    return [*lines, f"{'used':<{width}}  {'':>10}" + "".join(f"  {part:>14.6g}" for part in parts)]


def named(amounts: np.ndarray, names: list[str]) -> str:
    """Return amounts that are not 0 with what they are of."""
    return ", ".join(f"{amount:g} {name}" for amount, name in zip(amounts, names, strict=True) if amount)


def in_words(dual: np.ndarray, labels: list[str] | None) -> str:
    """Return the duals that are not 0, each with whose it is."""
    flat = np.atleast_1d(dual)
    if flat.ndim == 2 and flat.shape[0] == 1:
        flat = flat[0]
    places = [place for place in np.ndindex(flat.shape) if abs(flat[place]) > POSITIVE]

    def name(place: tuple) -> str:
        last = labels[place[-1]] if labels and len(labels) == flat.shape[-1] else str(place[-1] + 1)
        return last if len(place) == 1 else f"class {place[0] + 1} {last}"

    return ", ".join(f"{name(place)} {abs(flat[place]):.6g}" for place in places)


def stopped_by(data: Data, tasks: np.ndarray, i: int, resources: list[str]) -> str:
    """Return what keeps user i from more: its limit, or in a pool the resources that are used up."""
    if tasks[i] >= data.limits[i] * (1 - NEAR):
        return "its limit"
    if data.machines is not None:
        return ""
    left, d = data.capacity - tasks @ data.demands, data.demands[i]
    full = left < d if tasks.dtype == int else left <= NEAR * data.capacity
    return ", ".join(name for name, stops in zip(resources, full & (d > 0), strict=True) if stops)
