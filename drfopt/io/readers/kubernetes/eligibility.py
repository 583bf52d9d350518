"""Which nodes take a pod: nodeSelector, required node affinity, taints and tolerations.

A term of the affinity holds when all its requirements do, the affinity when one term does; an empty term holds nowhere.
``NotIn`` and ``DoesNotExist`` hold on a node without the label; ``Gt`` and ``Lt`` compare integers.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ....base.errors import suggestion
from ...text.files import failure, shown
from ...text.parts import TreePart

__all__ = ["ANYWHERE", "NODE_NAME", "SOFT", "Features", "PodNeeds", "allows", "features_of", "missing", "needs_of"]

NODE_NAME = "metadata.name"
"""The only field that an affinity may match; kept among the labels."""

KEEPS_OUT, SOFT = ("NoSchedule", "NoExecute"), "PreferNoSchedule"
"""Effects of taints that keep pods away, and of those that only ask."""

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def _compared(label: str | None, values: tuple[str, ...]) -> int | None:
    """Return the sign of label - value, None where one of them is no integer."""
    if label is None or len(values) != 1 or not INTEGER.fullmatch(label) or not INTEGER.fullmatch(values[0]):
        return None
    left, right = int(label), int(values[0])
    return (left > right) - (left < right)


OPERATORS: Mapping[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": lambda label, values: label in values,
    "NotIn": lambda label, values: label not in values,
    "Exists": lambda label, values: label is not None,
    "DoesNotExist": lambda label, values: label is None,
    "Gt": lambda label, values: _compared(label, values) == 1,
    "Lt": lambda label, values: _compared(label, values) == -1,
}

TOLERATES = {"Equal": OPERATORS["In"]} | {name: OPERATORS[name] for name in ("Exists", "Gt", "Lt")}
"""How the value of a taint is compared with that of a toleration, which `Exists` does not look at."""

Requirement = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class PodNeeds:
    """What a pod asks of a node.

    Attributes
    ----------
    terms : tuple of tuples of (label, operator, values), or None for no affinity
        One of them must hold.
    selector : tuple of the same
        All of it must hold.
    tolerations : tuple of (key, operator, value, effect); empty texts stand for any
    """

    selector: tuple[Requirement, ...] = ()
    terms: tuple[tuple[Requirement, ...], ...] | None = None
    tolerations: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def labels(self) -> set[str]:
        """The labels that are looked at."""
        return {one[0] for term in (self.selector, *(self.terms or ())) for one in term}


ANYWHERE = PodNeeds(tolerations=(("", "Exists", "", ""),))
"""What a pod asks that any node will do for."""


@dataclass(frozen=True)
class Features:
    """What of a node decides which pods it takes: labels that somebody looks at, and taints (key, value, effect)."""

    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[tuple[str, str, str], ...] = ()


def needs_of(spec: TreePart) -> PodNeeds:
    """Return what the ``spec`` of a pod asks of a node.

    Raises
    ------
    InstanceError
        On an operator that is none.
    """
    selector = tuple(sorted((key, "In", (value.text(),)) for key, value in spec["nodeSelector"].pairs()))
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms = tuple(_term(term) for term in required["nodeSelectorTerms"].each()) if required else None
    tolerations = {_toleration(one) for one in spec["tolerations"].each()}
    return PodNeeds(selector, terms, tuple(sorted(tolerations)))


def features_of(labels: Mapping[str, str], taints: Iterable[TreePart], looked_at: Iterable[str]) -> Features:
    """Return the features of a node with these labels (`NODE_NAME` among them)."""
    found = sorted((taint["key"].text(), taint["value"].text(), taint["effect"].text()) for taint in taints)
    kept = tuple(taint for taint in found if taint[2] in KEEPS_OUT)
    return Features(tuple((label, labels[label]) for label in sorted(looked_at) if label in labels), kept)


def allows(needs: PodNeeds, features: Features) -> bool:
    """Return whether a node with these features takes a pod with these needs."""
    labels = dict(features.labels)
    return (
        _holds(needs.selector, labels)
        and (needs.terms is None or any(term and _holds(term, labels) for term in needs.terms))
        and all(any(_tolerates(one, taint) for one in needs.tolerations) for taint in features.taints)
    )


def missing(needs: PodNeeds, features: Features) -> list[str]:
    """Return in words, reason by reason, why a node with these features does not take a pod with these needs."""
    labels = dict(features.labels)
    asked = [one for one in needs.selector if not _holds([one], labels)]
    if needs.terms is not None and not any(term and _holds(term, labels) for term in needs.terms):
        nearest = min(needs.terms, key=lambda term: sum(not _holds([one], labels) for one in term), default=())
        asked += [one for one in nearest if not _holds([one], labels)]
    reasons = [f"has not {label} {operator} {'|'.join(values)}".rstrip() for label, operator, values in asked]
    kept = [one for one in features.taints if not any(_tolerates(toleration, one) for toleration in needs.tolerations)]
    return reasons + [f"has the taint {key}{f'={value}' if value else ''}" for key, value, _ in kept]


def _term(term: TreePart) -> tuple[Requirement, ...]:
    found = []
    for key in ("matchExpressions", "matchFields"):
        for one in term[key].each():
            operator = one["operator"].text()
            if operator not in OPERATORS:
                raise failure(
                    one.place,
                    f"operator {shown(operator)}: use {', '.join(OPERATORS)}{suggestion(operator, OPERATORS)}",
                )
            if key == "matchFields" and one["key"].text() != NODE_NAME:
                raise failure(one.place, f"field {shown(one['key'].text())}: only {NODE_NAME} can be matched")
            found.append((one["key"].text(), operator, tuple(one["values"].texts())))
    return tuple(found)


def _toleration(one: TreePart) -> tuple[str, str, str, str]:
    operator = one["operator"].text("Equal")
    if operator not in TOLERATES:
        raise failure(
            one.place,
            f"operator {shown(operator)}: a toleration has {', '.join(TOLERATES)}{suggestion(operator, TOLERATES)}",
        )
    return one["key"].text(), operator, one["value"].text(), one["effect"].text()


def _holds(term: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    return all(OPERATORS[operator](labels.get(label), values) for label, operator, values in term)


def _tolerates(toleration: tuple[str, str, str, str], taint: tuple[str, str, str]) -> bool:
    key, operator, value, effect = toleration
    if effect not in ("", taint[2]):
        return False
    if not key:
        return operator == "Exists"
    return key == taint[0] and TOLERATES[operator](taint[1], (value,))
