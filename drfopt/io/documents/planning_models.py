"""Models of what planning, simulating, reading a cluster's files and a page of it print."""

from typing import Any, Literal

from pydantic import Field, RootModel

from ..native.entries import InstanceFile
from .allocation_models import (
    AllocationDocument,
    Amount,
    Anything,
    BrokenGuarantee,
    ByName,
    ComparisonDocument,
    Fraction,
    Headed,
    Keyed,
    Placement,
    TypeRow,
)

__all__ = [
    "AssumptionRow",
    "BeforeAfterRow",
    "ConcessionRow",
    "Concessions",
    "ConversionDocument",
    "DifferenceRow",
    "ExplanationDocument",
    "ExplanationRow",
    "ListingDocument",
    "MeasureRow",
    "Measured",
    "MoveRow",
    "NoteRow",
    "OfferRow",
    "PageDocument",
    "PricesDocument",
    "PurchaseDocument",
    "ReadUser",
    "RebalancingDocument",
    "RegionDocument",
    "RuleMeasures",
    "RunDocument",
    "RunUser",
    "SideRow",
    "SweepDocument",
    "TargetRow",
    "TrialsDocument",
    "UnitRow",
    "WhatIfDocument",
]


class ExplanationRow(Keyed):
    """Why a user has what it has."""

    name: str
    level: float | None
    tasks: float
    dominant_share: float
    reason: str
    stopped_by: list[str]
    others: int
    shared_with: list[str]
    alone: dict[Literal["tasks", "level"], float | None] | None
    gain: float | None
    remedy: str | None
    weight: float | ByName
    asked: Amount | None
    got: Amount
    met: float | None


class DeviceUseRow(Keyed):
    """What one way to divide makes of the devices: units in use and idle, and how much of what is idle is fragments."""

    way: str
    tasks: float
    lowest: float
    used: dict[str, float]
    idle: dict[str, float]
    fragments: dict[str, float] | None
    proven: str


class FragmentationTable(Keyed):
    """Divisible tasks on pooled devices, whole tasks packed, and a greedy schedule."""

    ways: list[DeviceUseRow]
    lost: dict[str, float]


class ExplanationDocument(Headed):
    """What stops each user, and what would help."""

    instance: str | None
    policy: str
    status: str
    valid: bool | None
    users: list[ExplanationRow]
    unplaced: list[str]
    misfits: dict[str, list[str]] = Field({}, description="task types that fit nowhere, of users who are placed")
    broken_guarantees: list[BrokenGuarantee]
    fragmentation: FragmentationTable | None = None


class DifferenceRow(Keyed):
    """Tasks of a user before and after; null on the side where it is not there."""

    name: str
    before: Amount | None
    after: Amount | None
    change: Amount | None
    verdict: Literal["wins", "loses", "same", "joins", "leaves"]


class Measured(Keyed):
    """In what totals are measured; every allocation beside them is measured in its own cluster.

    Levels are those of the policy, of a formulation file dominant shares over weights: `drf`.
    """

    cluster: Literal["before the changes"]
    levels: str
    shares: Literal["dominant"]


class WhatIfDocument(Headed):
    """Two clusters, before and after the changes."""

    instance: str | None
    policy: str
    integer: bool
    changes: list[str]
    exact: bool
    winners: list[str]
    losers: list[str]
    users: list[DifferenceRow]
    measured_in: Measured
    totals: dict[str, dict[Literal["before", "after"], Amount | None]]
    before: AllocationDocument
    after: AllocationDocument


class SideRow(Keyed):
    """What one unit more, or less, would change, up to where the rate holds."""

    price: float | None
    lowest_level: float | None
    sum_of_dominant_shares: float | None
    tasks: ByName | None
    until: float | None
    total_price: float | None
    total_until: float | None


class UnitRow(Keyed):
    """Something that may be had more or less of."""

    kind: str
    name: str
    now: float | None
    more: SideRow | None
    less: SideRow | None
    unknown: str | None


class PricesDocument(Headed):
    """What a unit of everything is worth."""

    instance: str | None
    policy: str
    lowest_level: float | None
    sum_of_dominant_shares: float
    units: list[UnitRow]


class SweepDocument(Headed):
    """Allocations along an axis."""

    instance: str | None
    policy: str
    axis: str
    values: list[str]
    changes: list[str]
    measured_in: Measured
    totals: list[dict[str, Amount | None]]
    allocations: list[AllocationDocument]


class OfferRow(Keyed):
    """What is for sale, and how much of it to buy."""

    name: str
    cost: float | Fraction
    most: float | Fraction | None
    amount: float | Fraction | None


class TargetRow(Keyed):
    """What a user was to reach, and reaches."""

    user: str
    measure: str
    least: float | Fraction
    reached: float | Fraction | None
    met: bool | None


class ConcessionRow(Keyed):
    """How far one target must come down."""

    user: str
    measure: str
    least: float
    at_most: float | None


class Concessions(Keyed):
    """By how much targets must come down where nothing meets them."""

    all: float | None
    alone: list[ConcessionRow]
    limited: list[ConcessionRow]


class PurchaseDocument(Headed):
    """What to buy."""

    instance: str | None
    policy: str
    status: str
    cost: float | Fraction | None
    bound: float | Fraction
    gap: float | None
    from_nothing: bool
    buy: list[OfferRow]
    targets: list[TargetRow]
    judged: int
    programs: int
    seconds: float
    concessions: Concessions | None = None
    nearest: dict[str, float | Fraction] = Field(default_factory=dict)
    allocation: AllocationDocument | None = None


class MoveRow(Keyed):
    """One step from the current allocation to the fair one."""

    kind: Literal["move", "evict", "start"]
    user: str
    tasks: int
    from_: str | None = Field(alias="from")
    to: str | None
    type: str = ""


class BeforeAfterRow(Keyed):
    """Whole tasks and level of a user before and after the steps."""

    name: str
    tasks_before: int
    tasks: int
    level_before: float
    level: float


class RebalancingDocument(Headed):
    """The fewest steps to a fair allocation."""

    instance: str | None
    policy: str
    status: str
    at_most: int | None
    moves: int
    evictions: int
    starts: int
    fewest_proven: bool
    fairest_proven: bool
    users_proven: int
    places: Literal["machines", "classes", "pool"]
    steps: list[MoveRow]
    users: list[BeforeAfterRow]
    placement: dict[str, dict[str, int]]
    types: dict[str, list[TypeRow]] = Field(default={})
    impossible_today: list[str]
    undecided_today: list[str]
    seconds: float


class ReadUser(Keyed):
    """A user as it was read: its limit, what runs of it today, what one task needs."""

    name: str
    limit: float | None
    running: float
    demand: ByName


class NoteRow(Keyed):
    """What was not used, or assumed."""

    kind: str
    what: str
    count: int
    example: str


class ConversionDocument(Headed):
    """An instance made of a cluster's own files."""

    cluster: InstanceFile
    users: list[ReadUser]
    notes: list[NoteRow]
    placement: Placement
    types: dict[str, list[TypeRow]] = Field(default_factory=dict)


class PageDocument(Headed):
    """All numbers of a page; what figures need besides is free."""

    title: str
    date: str
    instance: Anything
    policies: list[str]
    complete: bool
    comparison: ComparisonDocument
    measures: list[dict[str, float | None]]
    users: list[Anything]
    resources: list[Anything]
    machines: list[Anything] | None
    stops: list[dict[str, int]]
    sweeps: list[Anything]
    whatifs: list[Anything]
    titles: list[str]
    order: list[int]
    shown: list[int]
    short: Anything | None = None
    queues: Any = None
    prices: Any = None
    advice: Anything | None = None


class RunUser(Keyed):
    """A user over the whole run; shares are of all that was up in that time, times seconds; responses are in seconds.

    Running are the tasks at its end.
    """

    name: str
    jobs: int
    jobs_closed: int
    jobs_under_way: int
    response: float | None
    tasks: int
    mean_shares: dict[str, float | None]
    running: int
    waiting: float | None


class RunDocument(Headed):
    """A scenario under one rule."""

    scenario: str
    rule: str
    seed: int
    replication: int
    seconds: float
    tasks: dict[Literal["started", "ended", "revoked", "stopped"], int]
    users: list[RunUser]
    utilization: dict[str, float | None]
    unplaced: list[str]
    disregarded: list[str]


class MeasureRow(Keyed):
    """A measure over replications, and its difference from the first rule's."""

    mean: float | None
    margin: float | None
    difference: float | None
    difference_margin: float | None
    values: list[float | None]


class RuleMeasures(Keyed):
    """The measures of one rule."""

    rule: str
    measures: dict[str, MeasureRow]


class TrialsDocument(Headed):
    """A scenario under several rules or with several drawings."""

    scenario: str
    replications: int
    confidence: float
    rules: list[RuleMeasures]


class AssumptionRow(Keyed):
    """Section 7.2 under one assumption: mean seconds of a task, exponents of the slowdown."""

    mean: float
    cpu: float
    memory: float
    large_jobs: ByName
    drf_first: bool
    ordered: bool


class RegionDocument(Headed):
    """Section 7.2 under many assumptions."""

    seconds: float
    published: dict[str, int]
    assumptions: list[AssumptionRow]


class ListingDocument(RootModel[list[dict[str, str | int | float | bool | list[str] | None]]]):
    """A table of what there is: a list of rows, each by its headings; it has no version."""
