"""The table of properties; files of this folder have their definitions, witnesses and how they are decided."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...base.deadline import NEVER, Deadline
from ...base.errors import PolicyError, TimeLimitError, listed
from ...base.progress import report
from ...base.registry import Registry
from ...model.policies import Policy
from ..case import AuditCase
from ..economy import Economy
from ..outcomes import Outcome
from ..verdicts import UNDECIDED, Finding
from . import bottleneck_fairness, envy_freeness, monotonicity, pareto_efficiency, sharing_incentive, strategy_proofness

__all__ = ["EIGHT", "PROPERTIES", "Property", "findings", "properties_named"]


@dataclass(frozen=True)
class Property:
    """A row of the table.

    Attributes
    ----------
    name, short : str
        As the user writes it, and its usual letters.
    summary : str
    check : callable
        ``check(case)`` returns the finding.
    slow : bool
        Whether it asks for the outcomes of many other clusters, so that it had better come last when time is short.
    asks : callable or None
        ``asks(case)`` yields the clusters whose outcomes it compares with the truth, where it knows them beforehand.
    """

    name: str
    short: str
    summary: str
    check: Callable[[AuditCase], Finding]
    slow: bool = False
    asks: Callable[[AuditCase], Iterable[Economy]] | None = None


PROPERTIES = Registry(
    Property(
        sharing_incentive.NAME, "SI", "nobody is better off alone in its part of the cluster", sharing_incentive.check
    ),
    Property(
        strategy_proofness.NAME, "SP", "nobody gains by misreporting its demand", strategy_proofness.check, slow=True
    ),
    Property(envy_freeness.NAME, "EF", "nobody would rather have what another holds", envy_freeness.check),
    Property(pareto_efficiency.NAME, "PE", "nobody could have more without another's loss", pareto_efficiency.check),
    Property(
        bottleneck_fairness.SINGLE, "SRF", "one resource is divided max-min fairly", bottleneck_fairness.check_single
    ),
    Property(
        bottleneck_fairness.NAME, "BF", "a resource that all need most is divided max-min fairly",
        bottleneck_fairness.check,
    ),
    Property(
        monotonicity.POPULATION, "PM", "nobody loses when another leaves", monotonicity.check_population,
        slow=True, asks=monotonicity.asks_population,
    ),
    Property(
        monotonicity.NAME, "RM", "nobody loses when one resource grows", monotonicity.check,
        slow=True, asks=monotonicity.asks,
    ),
    Property(
        envy_freeness.UP_TO_ONE, "EF1", "envy ends when one task of the envious is left out",
        envy_freeness.check_up_to_one,
    ),
    Property(
        sharing_incentive.NO_COMPLAINTS, "NJC", "everybody has its part of something used up",
        sharing_incentive.check_complaints,
    ),
    Property(
        strategy_proofness.PAIRS, "GSP", "no two users gain by misreporting", strategy_proofness.check_pairs,
        slow=True,
    ),
    what="property", error=PolicyError,
)  # fmt: skip

EIGHT = PROPERTIES[:8]
"""The properties of the DRF paper, which an audit looks at unless it is told otherwise."""


def properties_named(names: Sequence[str] | str | None) -> tuple[Property, ...]:
    """Return the properties of these names, the eight of the paper for None.

    Raises
    ------
    PolicyError
        When there is none of a name; the message lists what there is.
    """
    if names is None:
        return EIGHT
    found = [PROPERTIES.named(name) for name in listed(names, "properties", PolicyError)]
    if not found:
        raise PolicyError("no properties are given: name at least one, such as sharing-incentive")
    return tuple(dict.fromkeys(found))


def findings(
    cluster: Economy,
    policy: Policy,
    properties: Sequence[Property],
    integer: bool = False,
    deadline: Deadline = NEVER,
    batched: Mapping[Economy, Outcome] | None = None,
) -> tuple[Finding, ...]:
    """Return the finding on each property; what they ask for in common is computed once.

    `batched` are outcomes of changed clusters in floats, for comparisons that they decide.

    When the time runs out, what is found so far is returned, and the rest is marked as cut short.

    Raises
    ------
    TimeLimitError
        When the time runs out before anything is found.
    """
    case = AuditCase(cluster, policy, integer, deadline, batched)
    found: dict[Property, Finding] = {}
    for row in sorted(properties, key=lambda row: row.slow):
        report(f"auditing {row.name}")
        try:
            found[row] = row.check(case)
        except TimeLimitError:
            found[row] = Finding(row.name, UNDECIDED, exact=False, note="the time limit ran out", cut_short=True)
            if len(found) == len(properties) and all(finding.cut_short for finding in found.values()):
                raise
    return tuple(found[row] for row in properties)
