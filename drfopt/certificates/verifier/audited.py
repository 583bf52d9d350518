"""Verdicts on fairness properties, decided from answers that are proven like any other.

A file of an audit has the answer (`truth`), a document as any other, and for every property a verdict; where another
cluster is compared, its answer is a document of its own (`after`).  `fails` names who loses, and the amounts are found
here; `holds` is decided where there are finitely many comparisons.  What no file can settle is left undecided.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from .answers import Answered, Asked, Ends, Open, Verdict
from .possible import PossibleClaim
from .reading import Report, number, shown, total
from .work import spend

__all__ = ["AUDITS", "verdicts"]

AUDITS = "drfopt audit-certificate 1"

Proven = Callable[[dict[str, Any]], PossibleClaim]
"""How a document is read, and all its checks made."""


def _envied(asking: Verdict, less: int = 0) -> Iterator[Asked]:
    """Everybody with what every other holds, scaled to its weight, but for so many tasks."""
    told = asking.truth
    for i in range(len(told.c.d)):
        for k, other in enumerate(told.c.d):
            if i != k:
                scaled = [a / b * e for a, b, e in zip(told.c.w[i], told.c.w[k], other, strict=True)]
                instead = told.carried(i, told.per_task(i, scaled), told, k, less)
                yield (told.c.users[i], told.c.users[k]), told.ends[i], instead


def _envied_up_to_one(asking: Verdict) -> Iterator[Asked]:
    return _envied(asking, 1)


def _alone(asking: Verdict) -> Iterator[Asked]:
    """Everybody with its part of every machine on which it can run."""
    told, c = asking.truth, asking.truth.c
    whole = [total(column) for column in zip(*c.w, strict=True)]
    for i, name in enumerate(c.users):
        part = [w / all_of for w, all_of in zip(c.w[i], whole, strict=True)]
        machines = [told.per_task(i, [p * x for p, x in zip(part, c.C[k], strict=True)]) for k in told.claim.fits[i]]
        each = [number(math.floor(x)) for x in machines] if told.claim.whole else machines
        alone = total(c.count[k] * x for k, x in zip(told.claim.fits[i], each, strict=True))
        yield (name,), told.ends[i], told.useful(i, alone, alone)


def _uneven(asking: Verdict) -> Iterator[Asked]:
    """Everybody below its limit, in shares of a resource that all need most, beside every other."""
    told, c = asking.truth, asking.truth.c
    if not c.pool or not all(c.cluster) or (asking.finding["property"] == "single-resource-fairness" and c.C[0][1:]):
        return
    shares = [[d / size for d, size in zip(row, c.cluster, strict=True)] for row in c.d]
    for j in (j for j in range(len(c.resources)) if all(row[j] == max(row) for row in shares)):
        rates = [row[j] / w[j] for row, w in zip(shares, c.w, strict=True)]
        if told.claim.whole:
            yield from _fairer(asking, rates)
            continue
        held = [(rate * low, rate * high) for rate, (low, high) in zip(rates, told.ends, strict=True)]
        for i, most in enumerate(told.claim.u):
            if most is None or told.ends[i][0] < most:
                sure = most is None or told.ends[i][1] < most
                for k, (low, high) in enumerate(held):
                    if i != k:
                        yield (c.users[i], c.users[k]), held[i], (low if sure else number(0), high)


def _fairer(asking: Verdict, rates: Sequence[Fraction]) -> Iterator[Asked]:
    """Of whole tasks, whoever is lower in a sorted list of shares than somebody is there in another division."""
    if not asking.fails:
        raise Open("that no division of whole tasks is fairer is not decided here")
    after = asking.only()
    asking.same(after)
    mine, more = (
        sorted((rate * low, name) for rate, (low, _), name in zip(rates, one.ends, one.c.users, strict=True))
        for one in (asking.truth, after)
    )
    first = next(((a, b) for a, b in zip(mine, more, strict=True) if a[0] != b[0]), None)
    if first is not None:
        (low, name), (high, _) = first
        yield (name,), (low, low), (high, high)


def _complaints(asking: Verdict) -> Iterator[Asked]:
    """Everybody below its limit: of what is used up, the largest share it holds, in parts of what is its by weight."""
    c, claim = asking.truth.c, asking.truth.claim
    if not c.pool or claim.enclosed:
        raise Open("what is used up is known in a pool and in fractions only")
    full = [j for j, room in enumerate(c.room[0]) if room and claim.used(0, j) == room]
    for i in sorted(claim.below()):
        parts = (c.d[i][j] * claim.x[i] / c.room[0][j] * total(w[j] for w in c.w) / c.w[i][j] for j in full)
        most = max(parts, default=number(0))
        yield (c.users[i],), (most, most), (number(1), number(1))


def _lied(asking: Verdict) -> Iterator[Asked]:
    """Everybody who reports something else, with what that brings it, by its true demand."""
    if not asking.fails:
        raise Open("that no report brings more is for a theorem to say")
    told, after = asking.truth, asking.only()
    if asking.finding["property"] == "strategy-proofness" and len(asking.who) > 1:
        raise ValueError("of strategy-proofness one user reports what is not true")
    reports = {user["name"]: user for user in after.instance["users"] if user["name"] in asking.who}
    users = []
    for user in told.instance["users"]:
        kept = {key: value for key, value in user.items() if key not in ("demand", "max_tasks")}
        said = {key: v for key, v in reports.get(user["name"], {}).items() if key in ("demand", "max_tasks")}
        users.append(kept | said if user["name"] in reports else user)
    asking.same(after, users=users)
    for name in asking.who:
        i = told.at[name]
        yield (name,), told.ends[i], told.carried(i, told.per_task(i, after.c.d[i]), after, i)


def _left(asking: Verdict) -> Iterator[Asked]:
    """Everybody after another has left, beside what it had before."""
    told = asking.truth
    gone = []
    for after in asking.after:
        leaver = next(iter(set(told.at) - set(after.at)), None)
        if leaver is None:
            raise ValueError("nobody has left")
        users = [user for user in told.instance["users"] if user["name"] != leaver]
        asking.same(after, users=users)
        gone.append(leaver)
        yield from (((name, leaver), after.ends[k], told.ends[told.at[name]]) for name, k in after.at.items())
    if not asking.fails and len(told.at) > 1 and set(told.at) != set(gone):
        raise Open(f"the file has no answer without {min(set(told.at) - set(gone))}")


def _grown(asking: Verdict) -> Iterator[Asked]:
    """Everybody after the cluster has grown, beside what it had before."""
    if not asking.fails:
        raise Open("that no growth takes anything is for a theorem to say")
    told, after = asking.truth, asking.only()
    c, more = told.c, after.c
    room = "capacity" if c.pool else "machines"
    asking.same(after, **{room: after.instance[room]})
    less = any(x > y for row, other in zip(c.C, more.C, strict=True) for x, y in zip(row, other, strict=True))
    if less or c.classes != more.classes or any(x > y for x, y in zip(c.count, more.count, strict=True)):
        raise ValueError("the other cluster has less of something")
    yield from (((name,), after.ends[i], told.ends[i]) for name, i in told.at.items())


def _wasted(asking: Verdict) -> Iterator[Asked]:
    """Everybody in another division that is possible; nobody, where the policy's own proof leaves none."""
    told, claim = asking.truth, asking.truth.claim
    if asking.fails:
        after = asking.only()
        asking.same(after)
        lost = [name for name, i in told.at.items() if after.ends[i][0] < told.ends[i][1] and name not in asking.who]
        if lost:
            raise ValueError(f"{lost[0]} has less in the other division")
        yield from (((name,), told.ends[i], after.ends[i]) for name, i in told.at.items())
        return
    stopped = claim.below()
    if told.c.pool and not claim.whole and not claim.enclosed:
        full = [j for j, room in enumerate(told.c.room[0]) if claim.used(0, j) == room]
        stopped = {i for i in stopped if not any(told.c.d[i][j] for j in full)}
    # Who had more, and nobody less, would make the answer better, if all that it has counts.
    counted = claim.objective in ("leximin", "sum", "alpha") and all(claim.r[i] for i in stopped)
    if stopped and not counted:
        raise Open("what the policy makes best does not count everybody's tasks")


TABLE: dict[str, Callable[[Verdict], Iterator[Asked]]] = {
    "sharing-incentive": _alone,
    "strategy-proofness": _lied,
    "envy-freeness": _envied,
    "pareto-efficiency": _wasted,
    "single-resource-fairness": _uneven,
    "bottleneck-fairness": _uneven,
    "population-monotonicity": _left,
    "resource-monotonicity": _grown,
    "envy-up-to-one-task": _envied_up_to_one,
    "group-strategy-proofness": _lied,
    "no-justified-complaints": _complaints,
}
"""What is compared, by property; of any other nothing is decided."""


ALONE = (_alone, _envied, _envied_up_to_one, _complaints)
"""Comparisons within one answer."""


def verdicts(data: dict[str, Any], report: Report, proven: Proven, possible: Proven) -> None:
    """Record what is so of every verdict of a file, each of whose answers is `proven` as any other.

    Of a division that is only better it is enough that it is `possible`.
    """
    if not data["audits"]:
        raise ValueError("the file has no verdict")
    for audit in data["audits"]:
        truth = _answer(audit["truth"], proven, report, f"the answer of {audit['truth']['policy']}")
        for finding in audit["findings"]:
            name, other = finding["property"], finding.get("after", [])
            judge = possible if TABLE.get(name) in (_wasted, _uneven) else proven
            named = f"another answer of {audit['truth']['policy']}, for {name}"
            after = [_answer(document, judge, report, named) for document in other]
            _decided(finding, truth, after, report)


def _answer(document: dict[str, Any], judge: Proven, report: Report, name: str) -> tuple[PossibleClaim, dict[str, Any]]:
    claim = judge(document)
    checks = claim.report.checks
    faults = [f"{check.name}: {check.worst}" for check in checks if check.holds is False]
    undecided = [f"{check.name}: {check.worst}" for check in checks if check.holds is None]
    report.add(name, faults, next(iter(undecided), ""))
    return claim, document


def _decided(finding: dict[str, Any], truth: Any, after: list[Any], report: Report) -> None:
    name, verdict = finding["property"], finding["verdict"]
    try:
        if verdict not in ("holds", "fails") or name not in TABLE:
            raise Open(str(finding.get("why", "")) or "of that nothing is decided here")
        asking = Verdict(Answered(*truth), [Answered(*each) for each in after], finding)
        said, faults, open_to_doubt = _compared(asking)
    except Open as missing:
        said, faults, open_to_doubt = "", [], str(missing)
    report.add(f"{name} {verdict}{said}", faults, open_to_doubt)


def _compared(asking: Verdict) -> tuple[str, list[str], str]:
    """Return what is said of a verdict, why it is wrong, and why it is not decided."""
    looked_at = TABLE[asking.finding["property"]]
    if asking.after and (looked_at in ALONE or (looked_at is _uneven and not asking.truth.claim.whole)):
        raise ValueError(f"{asking.finding['property']} compares one answer, not {1 + len(asking.after)}")
    asked = []
    for row in looked_at(asking):
        spend(0, 4)
        asked.append(row)
    if asking.fails:
        several = "users" in asking.finding
        wanted = [(name,) for name in asking.finding["users"]] if several else [asking.who]
        chosen = [row for row in asked if row[0] in wanted]
        said = "".join(f"; {' and '.join(who)}: {_ends(mine)} beside {_ends(more)}" for who, mine, more in chosen)
        sure = {who for who, mine, more in chosen if mine[1] < more[0]}
        return said, [] if wanted and sure >= set(wanted) else ["that is no loss"], ""
    lost = [f"{' and '.join(w)}: {_ends(mine)} beside {_ends(more)}" for w, mine, more in asked if mine[1] < more[0]]
    doubt = [f"{' and '.join(w)}: {_ends(mine)} beside {_ends(more)}" for w, mine, more in asked if mine[0] < more[1]]
    return "", lost, next(iter(doubt), "")


def _ends(ends: Ends) -> str:
    return shown(ends[0]) if ends[0] == ends[1] else f"about {float(ends[0]):.12g}"
