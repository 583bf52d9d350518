"""Search for counterexamples: every small instance, or a sample, audited; what fails is made small and verified.

The work is cut into units that do not depend on each other.  Each is a pure function of the question, so that it can
be done anywhere, again after a crash, and counts once.
"""

import hashlib
import inspect
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...base.deadline import Deadline
from ...base.errors import CertificateError, InstanceError, PolicyError, SolverError, checked_flags
from ...base.numbers.shown import counted
from ...base.parallel import checked_address, checked_jobs, spread
from ...base.progress import report
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...io.native import writing
from ...io.text.files import path_of, write_whole
from ...model.document import document as instance_document
from ...model.instance import Instance
from ...model.policies import AnyPolicy, Policy, policy_named
from ...solving.allocating import in_whole_tasks
from ..auditing import audit, beyond_error
from ..economy import Economy
from ..outcomes import Outcome
from ..properties.property_table import properties_named
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding
from .log import Log
from .space import FEW, Case, Question, Space, in_one_line, smallest

__all__ = ["Counterexample", "Search", "Space", "in_whole", "search"]


MOST_UNITS = 1_000_000
"""Units of a search: each is kept in memory by its number, and a case takes a millisecond."""

HANDFULS = 64
"""Parts into which the units are divided among workers: enough for even loads, and few enough to hand over."""


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A small instance on which a property fails, with its finding."""

    instance: Instance
    finding: Finding
    policy: str
    integer: bool = False

    @property
    def story(self) -> str:
        """What happens, in a sentence."""
        return f"{self.policy}{', whole tasks' if self.integer else ''}: {self.finding.witness}"

    @property
    def file_name(self) -> str:
        """A name for its instance file."""
        policy = "".join(c if c.isalnum() else "-" for c in Path(self.policy).stem)
        return f"{policy}{'-integer' if self.integer else ''}-{self.finding.property}.toml"

    def save(self, folder: str | Path) -> Path:
        """Write the instance file, its story on top, and read it again: what is written must fail as well."""
        path = path_of(folder) / self.file_name
        comment = "".join(f"# {line}\n" for line in ("Expect: " + self.story).splitlines())
        write_whole(path, comment + writing.dumps(self.instance, "toml"))
        again = audit(Instance.load(path), self.policy, self.finding.property, integer=self.integer)
        if not again.failed:
            raise PolicyError(f"{path}: the instance as written does not show the violation it was written for")
        return path


@dataclass(frozen=True, eq=False)
class Search(Result):
    """What a search found.

    Attributes
    ----------
    question : Question
    total : int
        Cases of the space before symmetry.
    seen, audited : int
        Cases looked at, and how many of them were audited because no other stands for them.
    verdicts : dict from property to Counter
        How often each verdict was reached.
    counterexamples : tuple of Counterexample
        A small one of each property that fails.
    complete : bool
        Whether every unit of work was done.
    """

    _schema = "drfopt search 1"
    _rows = "results"

    question: Question
    total: int
    seen: int
    audited: int
    verdicts: dict[str, Counter]
    counterexamples: tuple[Counterexample, ...]
    complete: bool

    def named(self) -> dict[str, Any]:
        """Return the counterexamples by property."""
        return {found.finding.property: found for found in self.counterexamples}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt search --json`` prints."""
        return {
            "schema": self._schema,
            "policy": self.question.policy,
            "integer": self.question.integer,
            "space": asdict(self.question.space),
            "cases": self.total,
            "seen": self.seen,
            "audited": self.audited,
            "complete": self.complete,
            "results": [
                {
                    "property": name,
                    HOLDS: self.verdicts[name][HOLDS],
                    FAILS: self.verdicts[name][FAILS],
                    UNDECIDED: self.verdicts[name][UNDECIDED],
                    "counterexample": self._shown(name),
                }
                for name in self.question.properties
            ],
        }

    def _shown(self, name: str) -> dict[str, Any] | None:
        found = next((c for c in self.counterexamples if c.finding.property == name), None)
        return (
            None
            if found is None
            else {"instance": instance_document(found.instance), "finding": found.finding.to_dict()}
        )

    def sheet(self) -> Sheet:
        """Return the table: a row a property."""
        stories = {c.finding.property: f"{in_one_line(c.instance)}: {c.finding.witness}" for c in self.counterexamples}
        by_a_tie = [n for n in self.question.properties if self.verdicts[n][FAILS] and n not in stories]
        stories |= dict.fromkeys(by_a_tie, "none: it fails by a tie only")
        rows = [
            (name, *(self.verdicts[name][v] for v in (HOLDS, FAILS, UNDECIDED)), stories.get(name, ""))
            for name in self.question.properties
        ]
        space = self.question.space
        kind = "whole tasks" if self.question.integer else "divisible tasks"
        columns = (
            Column("property"),
            *(Column(v, number=True) for v in (HOLDS, FAILS, UNDECIDED)),
            Column("small counterexample"),
        )
        notes = [
            f"{self.seen:,} of {self.total:,} cases, {self.audited:,} audited: one stands for all that differ by "
            "symmetry" if not space.sample else f"{self.seen:,} of {self.total:,} cases drawn, {self.audited:,} audited"
        ]  # fmt: skip
        if by_a_tie:
            names = ", ".join(by_a_tie)
            notes.append(f"fails of the optimum given here, one of several, of which the others are not asked: {names}")
        if not all(found.finding.exact for found in self.counterexamples):
            notes.append(beyond_error(self.question.policy))
        if not self.complete:
            notes.append("stopped before the end: what holds so far is not shown to hold in the space")
        size = f"{counted(space.users, 'user')}, {counted(space.resources, 'resource')}"
        title = f"{self.question.policy}, {kind}: {size}, demands up to {space.max_demand}"
        return Sheet(title, columns, rows, tuple(notes), document=self.to_dict)

    def __repr__(self) -> str:
        return f"<Search {self.question.policy}: {self.audited} audited, {len(self.counterexamples)} fail>"


def search(
    policy: AnyPolicy,
    properties: Sequence[str] | str | None = None,
    space: Space | None = None,
    *,
    integer: bool = False,
    first: bool = False,
    jobs: int | None = 1,
    dask: str | None = None,
    checkpoint: str | Path | None = None,
    time_limit: float | None = None,
) -> Search:
    """Audit every instance of a space, or a sample of it, and make what fails small.

    Parameters
    ----------
    policy : str, Policy or function
    properties : sequence of str, optional
        The eight of the DRF paper by default.
    space : Space, optional
    integer : bool
        Whole tasks; so is a formulation file whose tasks are integer variables, asked for or not.
    first : bool
        Stop as soon as every property has failed once.
    jobs : int, optional
        Processes; None for one a core.
    dask : str, optional
        Address of a Dask scheduler.
    checkpoint : path, optional
        A log that an interrupted search goes on from.
    time_limit : float, optional
        Seconds after which no more results are waited for.

    Returns
    -------
    Search
        ``.counterexamples``, a small one of each property that fails; ``.save(folder)`` of one writes its instance.

    Raises
    ------
    PolicyError, InstanceError
        On an unknown policy or property, or a space that the policy cannot take or that is too large.

    Examples
    --------
    >>> found = search("ceei", "strategy-proofness", Space(users=2, resources=2, max_demand=2, max_capacity=2))
    >>> str(found.counterexamples[0].finding.witness)[:8], found.complete
    ('user u1 ', True)
    """
    checked_flags(integer=integer, first=first)
    checked_jobs(jobs)
    checked_address(dask)
    chosen, asked = policy_named(policy), properties_named(properties)
    space = Space() if space is None else space
    if not isinstance(space, Space):
        raise InstanceError(f"the space of a search is {space!r}: give a Space, such as Space(users=3)")
    integer = in_whole(space, chosen, integer)
    space = _fitted(space, chosen, integer)
    if space.units > MOST_UNITS:
        raise InstanceError(
            f"the space has {space.total:.3g} cases, too many to look at: draw a sample, or ask for less"
        )
    question = Question(chosen.name, tuple(p.name for p in asked), space, integer)
    # What holds of the largest numbers is not refused of others.
    question.takes(space.largest())
    chosen.check(space.largest().cluster().instance(), integer)
    if checkpoint is not None and (not isinstance(checkpoint, str | Path) or Path(checkpoint).is_dir()):
        raise InstanceError(f"checkpoint is {checkpoint!r}: give the path of a file")
    path = None if checkpoint is None else Path(checkpoint)
    log = Log(path, {} if path is None else {"search": asdict(question)} | _stated(chosen))
    waiting = [(unit, log.done.get(unit)) for unit in range(space.units) if not log.finished(unit)]
    deadline = Deadline.asked(time_limit)
    # Handing over a unit costs a worker milliseconds: many small ones go together.
    size = 1 if jobs == 1 and dask is None else max(1, len(waiting) // HANDFULS)
    handfuls = [waiting[k : k + size] for k in range(0, len(waiting), size)]
    ends = time.time() + deadline.left()
    with log.writing():
        results = spread(
            partial(_handful, question, ends), handfuls, jobs=jobs, dask=dask, what=f"parts of {chosen.name}"
        )
        if not (first and _all_failed(question, log)):
            for entries in results:
                for entry in entries:
                    log.add(entry)
                if (first and _all_failed(question, log)) or not deadline.left():
                    break
    return _summed(question, log)


def _stated(policy: Policy) -> dict[str, str]:
    """Return the digest of what a user's own notion says: when that is changed it is another search."""
    if policy.objective != "formulation":
        return {}
    if policy.build is None:
        text = Path(str(policy.argument)).read_bytes()
    else:
        try:
            text = inspect.getsource(policy.build).encode()
        except (OSError, TypeError):
            raise InstanceError(
                f"the text of {policy.name} is not known, by which a checkpoint tells whether it has changed: "
                "define it in a file"
            ) from None
    return {"text of the formulation": hashlib.sha256(text).hexdigest()}


def in_whole(space: Space, policy: Policy, integer: bool) -> bool:
    """Say whether tasks are whole: a formulation file is asked on the first case there is."""
    if integer or policy.objective != "formulation":
        return integer
    return in_whole_tasks(next(iter(space.cases(0))).cluster().instance(), policy)


def _fitted(space: Space, policy: Policy, integer: bool) -> Space:
    """Return the space with the symmetries that the policy has."""
    from dataclasses import replace

    counted = policy.measure == "tasks" or policy.objective == "formulation" or integer
    named = policy.measure in ("single", "path") or policy.objective == "formulation"
    return replace(space, sizes_matter=counted, names_matter=named)


def _handful(question: Question, ends: float, units: list[tuple[int, dict[str, Any] | None]]) -> list[dict[str, Any]]:
    """Audit several units, one after the other, until `ends`: seconds of the clock on the wall, which workers share."""
    return [_audited(question, *unit, ends) for unit in takewhile(lambda _: time.time() < ends, units)]


def _audited(question: Question, unit: int, before: dict[str, Any] | None, ends: float) -> dict[str, Any]:
    """Audit the cases of one unit from where it was left `before`, and return what the log keeps of them.

    Where time runs out some are left, but for one: a search that is taken up again gets on however short its time is.
    """
    seen, chosen = 0, list[tuple[int, Case]]()
    for case in question.space.cases(unit):
        if question.space.stands_for_itself(case) and question.takes(case):
            chosen.append((seen, case))
        seen += 1
    done = before or {"audited": 0, "verdicts": dict.fromkeys(question.properties, ()), "failing": {}}
    audited, rest = done["audited"], [case for _, case in chosen[done["audited"] :]]
    verdicts = {name: Counter[str](known) for name, known in done["verdicts"].items()}
    failing = {name: Case.of_list(written) for name, written in done["failing"].items()}
    from_batch = question.batched(rest)
    for case in rest:
        audited += 1
        for finding in _looked_at(question, case, from_batch):
            verdicts[finding.property][finding.verdict] += 1
            if finding.verdict == FAILS and not finding.tied:
                known = failing.get(finding.property)
                if known is None or case.size < known.size:
                    failing[finding.property] = case
        if time.time() >= ends:
            break
    left = len(chosen) - audited
    return {
        "unit": unit,
        "seen": chosen[audited][0] if left else seen,
        "audited": audited,
        "left": left,
        "verdicts": {name: dict(count) for name, count in verdicts.items()},
        "failing": {name: case.to_list() for name, case in failing.items()},
    }


def _looked_at(question: Question, case: Case, batched: Mapping[Economy, Outcome]) -> tuple[Finding, ...]:
    """Return the findings on a case; one that a solver gives up on is undecided and does not end the search."""
    try:
        return question.findings(case, batched)
    except (SolverError, CertificateError) as error:
        return tuple(Finding(name, UNDECIDED, exact=False, note=str(error)) for name in question.properties)


def _all_failed(question: Question, log: Log) -> bool:
    failed = {name for entry in log.done.values() for name in entry["failing"]}
    return failed >= set(question.properties)


def _summed(question: Question, log: Log) -> Search:
    verdicts = {name: Counter[str]() for name in question.properties}
    failing: dict[str, Case] = {}
    for entry in log.done.values():
        for name in question.properties:
            verdicts[name].update(entry["verdicts"][name])
        for name, written in entry["failing"].items():
            case = Case.of_list(written)
            if name not in failing or case.size < failing[name].size:
                failing[name] = case
    found = tuple(_counterexample(question, name, failing[name]) for name in question.properties if name in failing)
    return Search(
        question=question,
        total=question.space.total,
        seen=sum(entry["seen"] for entry in log.done.values()),
        audited=sum(entry["audited"] for entry in log.done.values()),
        verdicts=verdicts,
        counterexamples=found,
        complete=all(map(log.finished, range(question.space.units))),
    )


def _counterexample(question: Question, name: str, case: Case) -> Counterexample:
    report(f"making the counterexample to {name} small")
    policy = policy_named(question.policy)
    slow = policy.objective == "formulation" or (policy.objective == "alpha" and policy.alpha != 1)
    small = smallest(case, partial(question.fails, name), FEW // 100 if slow else FEW)
    title = f"{name} fails under {question.policy}" + (" with whole tasks" if question.integer else "")
    instance = small.cluster().instance(name=title, source="Found by drfopt search")
    (finding,) = audit(instance, question.policy, name, integer=question.integer).results
    return Counterexample(instance, finding, question.policy, question.integer)
