"""Whole tasks of every machine by itself: each is proven by itself, as the leximin of one pool is (`whole`).

A packing lists machines of one class that run the same together, and one of them is judged.  Which users are at which
level is not unique where users tie, and machines of a class may differ in that; sorted levels may not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.certificate import Certificate
from ..model.evidence import Text, WholeEvidence
from ..model.instance import Instance
from ..model.packings import Packing
from ..model.single_machines import ON_EACH, machine_of
from ..model.whole_values import WholeUsers
from . import whole
from .exhaustive_search import playing

__all__ = ["ServersEvidence", "certify", "score"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ServersEvidence(WholeEvidence):
    """Whole tasks on machines by themselves: `machines` has the proof of each entry of the packing."""

    machines: Sequence[WholeEvidence] = ()

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the packing, and for each entry of it the trees that refute whatever would be better there."""
        return super().written(instance, text) | {"servers": [{"trees": one.trees()} for one in self.machines]}


def certify(
    instance: Instance,
    tasks: np.ndarray,
    packing: Sequence[Packing] | None,
    deadline: Deadline = NEVER,
    finder: whole.Finder | None = None,
) -> Certificate:
    """Return the certificate of whole tasks (n,), on machines with the packing that places them."""
    if instance.machines is None:
        return whole.certify(instance, ON_EACH, tasks, None, deadline, finder)
    packing = list(packing or ())
    users = WholeUsers(instance, ON_EACH, playing(instance))
    wrong = whole.impossible(users, [int(x) for x in tasks.tolist()], packing) or _missing(instance, packing)
    if wrong:
        return Certificate("bound", False, float("inf"), gap=None, reason=wrong)
    found: list[Certificate] = []
    for done, (k, _, pattern) in enumerate(packing):
        who = np.flatnonzero(instance.fits[:, k])
        own = np.array([pattern.get(i, 0) for i in who.tolist()], dtype=np.int64)
        one, part = machine_of(instance, who, k), deadline.part(1 / (len(packing) - done))
        alone = None if one.machines is None else [(0, 1, {p: int(x) for p, x in enumerate(own.tolist()) if x})]
        proof = whole.certify(one, ON_EACH, own, alone, part, finder)
        where = f"on one of {instance.machine_names[k]!r}: {proof.reason}" if proof.reason else ""
        found.append(replace(proof, reason=where))
    return _together(instance, packing, found)


def _missing(instance: Instance, packing: Sequence[Packing]) -> str:
    """Return in words whether machines on which somebody could run something are not in the packing."""
    listed: Counter[int] = Counter()
    for k, count, _ in packing:
        listed[k] += count
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        if listed[k] != (count := instance.counts[k]):
            return f"{listed[k]} machines of {instance.machine_names[k]!r} are divided, and there are {count}"
    return ""


def _together(instance: Instance, packing: list[Packing], found: list[Certificate]) -> Certificate:
    """Return the certificate of all machines: what is said of the first that is not proven is said of all."""
    proofs = [proof.proof(WholeEvidence) for proof in found]
    order = (next((c for c in found if c.valid is verdict), None) for verdict in (False, None))
    worst = next((each for each in order if each is not None), None)
    seconds, judges = sum(each.seconds for each in proofs), dict.fromkeys(each.judge for each in proofs)
    evidence = ServersEvidence(
        packing=packing,
        machines=proofs,
        score=_score(packing, [each.score for each in proofs]),
        judge=" and ".join(judges) or "nobody to judge",
        seconds=seconds,
    )
    if worst is None:
        rigorous = all(each.rigorous for each in found)
        return Certificate("bound", True, 0.0, gap=0.0, evidence=evidence, rigorous=rigorous)
    open_ones = [proof for each, proof in zip(found, proofs, strict=True) if each.valid is not True]
    gaps = [each.gap for each in found]
    said = worst.proof(WholeEvidence)
    evidence = replace(
        evidence,
        judge="nobody",
        level=said.level,
        bound=said.bound,
        late=any(proof.late for proof in open_ones),
        maximal=all(proof.maximal is not False for proof in open_ones),
    )
    gap = None if None in gaps else max(gap for gap in gaps if gap is not None)
    return Certificate("bound", worst.valid, 0.0, gap=gap, evidence=evidence, reason=worst.reason, rigorous=False)


def score(instance: Instance, tasks: Sequence[int], packing: Sequence[Packing] | None) -> tuple[Fraction, ...]:
    """Return what is unique of whole tasks (n,): sorted levels, of machines those of each class."""
    if instance.machines is None:
        return whole.score(instance, ON_EACH, [int(x) for x in tasks])
    each = []
    for k, _, pattern in packing or ():
        who = np.flatnonzero(instance.fits[:, k])
        each.append(whole.score(machine_of(instance, who, k), ON_EACH, [pattern.get(i, 0) for i in who.tolist()]))
    return _score(packing or (), each)


def _score(packing: Sequence[Packing], each: Sequence[tuple]) -> tuple[Fraction, ...]:
    """Return the sorted levels of the machines of every entry of a packing, those of each class together."""
    found: Counter[tuple[int, tuple[Fraction, ...]]] = Counter()
    for (k, count, _), levels in zip(packing, each, strict=True):
        found[k, levels] += count
    rows = sorted((Fraction(k), Fraction(count), *levels) for (k, levels), count in found.items())
    return tuple(value for row in rows for value in row)
