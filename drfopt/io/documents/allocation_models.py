"""Models of allocations, of their proofs and of what doubts them: side by side, crosschecked, audited."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..native.entries import InstanceFile

__all__ = [
    "AllocationDocument",
    "Amount",
    "Anything",
    "AuditDocument",
    "BatchDocument",
    "BelowContinuous",
    "BrokenGuarantee",
    "ByName",
    "CertificateFile",
    "CertificateSummary",
    "CheckRow",
    "Claimed",
    "ComparisonDocument",
    "CounterexampleRow",
    "CrossCheckDocument",
    "Ends",
    "FindingRow",
    "Fraction",
    "Headed",
    "Keyed",
    "Long",
    "MethodRow",
    "PackingRow",
    "PartitionedDocument",
    "Placement",
    "PoolDocument",
    "ProofTable",
    "ResourceRow",
    "RoundRow",
    "ScheduleDocument",
    "SearchDocument",
    "SearchRow",
    "StepRow",
    "TheoremDocument",
    "TypeRow",
    "UserRow",
    "VerificationDocument",
    "WholeTasks",
]

Fraction = Annotated[
    str, Field(pattern=r"^-?(0x[0-9a-f]+|[0-9]+)(\.[0-9]+)?([eE][+-]?[0-9]+)?(/(0x[0-9a-f]+|[0-9]+))?(\*L[0-9]+)?$")
]
Long = Annotated[dict[str, Fraction], Field(description="long amounts, of which others are multiples such as 1/2*L1")]
ByName = dict[str, float]
Placement = Annotated[dict[str, dict[str, "Amount"]], Field(description="user, then machine class, then tasks")]
Anything = dict[str, Any]


class Keyed(BaseModel):
    """A table whose keys are all known."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Ends(Keyed):
    """An irrational number, by two fractions between which it lies."""

    lower: Fraction
    upper: Fraction


Amount = float | Fraction | Ends


class Headed(Keyed):
    """A whole document: what it is, and of the command line also what wrote it."""

    schema_: str = Field(alias="schema")
    version: str = ""


class UserRow(Keyed):
    """What one user has; shares are of the whole cluster."""

    name: str
    tasks: Amount
    level: Amount
    dominant_resource: str
    dominant_share: Amount
    usage: dict[str, Amount]
    bottleneck: str | list[str] | None
    weight: float | ByName = 1
    asked: Amount | None = None
    got: Amount | None = None
    met: float | None = None


class ResourceRow(Keyed):
    """One resource of the whole cluster, in its units."""

    name: str
    capacity: float
    used: Amount
    utilization: float
    price: Amount | None


class LevelBound(Keyed):
    """A level above the first that is not proven, how many users have it, and the most that it could be."""

    level: float
    users: int
    bound: float


class BelowContinuous(Keyed):
    """Who has fewer whole tasks than the whole part of its continuous optimum."""

    user: str
    tasks: int
    whole_part: int


class CertificateSummary(Keyed):
    """What is said of the proof."""

    kind: str
    valid: bool | None
    violation: float | None
    gap: float | None
    judge: str = ""
    rigorous: bool = False
    reason: str = ""
    proven_levels: int = 0
    proven_users: int = 0
    next_level: float | None = None
    bound: float | None = None
    above: list[LevelBound] = []
    maximal: bool | None = None
    below_continuous: list[BelowContinuous] = []


class BrokenGuarantee(Keyed):
    """A guarantee that does not fit beside the others."""

    user: str = ""
    group: str = ""
    resource: str
    held: Amount
    promised: Amount


class TypeRow(Keyed):
    """Tasks of one type of a user: how many of how many, and on machines where."""

    name: str = ""
    tasks: Amount
    of: int
    placement: dict[str, Amount] = {}


class RoundRow(Keyed):
    """A round of a leximin: prices of one unit at its level, and whom it finishes."""

    level: Fraction
    finished: list[str]
    prices: Anything
    ceilings: Anything = {}


class PaidRow(Keyed):
    """Prices of one unit of resources, and of the ceilings of groups, that keep guarantees."""

    level: Fraction = Fraction(0)
    finished: list[str] = []
    prices: Anything
    ceilings: Anything = {}


class TierRow(Keyed):
    """Prices of one unit that prove a tier of a market or sum, and what holds it in those after it.

    `full` has prices at which all is spent after it; `held` what a unit of each earlier sum counts for in this one.
    """

    turn: int
    prices: Anything
    ceilings: Anything = {}
    full: list[PaidRow] = []
    held: dict[str, Fraction] = {}


class PackingRow(Keyed):
    """So many machines of a class, each with these whole tasks."""

    class_: str = Field(alias="class")
    machines: int
    tasks: dict[str, int]
    devices: dict[str, list[dict[str, int]]] = {}


class UserBranch(Keyed):
    """At most so many users like this one have so many tasks, or this one has at most so many; then, more."""

    user: str
    tasks: int | None = None
    most: int


class LoadBranch(Keyed):
    """At most so many machines of a class carry this load; then, more."""

    class_: str = Field(alias="class")
    load: dict[str, int]
    most: int


class LeafPrices(Keyed):
    """Prices that refute what is within the bounds above it, in proportion, or tighten those of what follows."""

    prices: dict[str, Fraction] = {}
    tasks: dict[str, Fraction] = {}
    classes: dict[str, dict[str, Fraction]] = {}
    devices: dict[str, dict[str, dict[str, Fraction]]] = {}
    ceilings: dict[str, dict[str, Fraction]] = {}
    levels: Annotated[list[Fraction], Field(description="multipliers of levels, from the lowest")] = []
    held: Annotated[dict[str, Fraction], Field(description="by turn, what a tier before it counts for")] = {}
    rounds: Annotated[list[Fraction], Field(description="multipliers of rounded rows, in their order")] = []
    tightens: Literal[True] | None = None


class RoundedRow(LeafPrices):
    """In front of a tree: what these multipliers say, divided and rounded, as whole numbers of users keep it."""

    divisor: Fraction
    base: Annotated[
        dict[str, int], Field(description="users whose base is another than in the row before, and its tasks")
    ] = {}


Tree = Annotated[
    list[UserBranch | LoadBranch | RoundedRow | LeafPrices],
    Field(description="rounded rows; then a branch, its part below, its part above, down to the leaves"),
]


class SomeTasks(Keyed):
    """A value, told as what so many tasks are worth to a user."""

    user: str
    tasks: int


class BoundRow(Keyed):
    """The most that a level can be that is not proven, and the tree that refutes more."""

    most: SomeTasks
    tree: Tree


class ServerRow(Keyed):
    """The proof of the machines of one entry of a packing, where each machine is divided by itself."""

    trees: list[Tree] = []


class AloneRow(Keyed):
    """What a user with several types could run alone: where tasks of each type run, and prices that prove it."""

    placement: list[dict[str, Fraction]]
    prices: dict[str, dict[str, Fraction]]


class Claimed(Keyed):
    """A user's row of a certificate file."""

    name: str
    tasks: Amount
    level: Amount


class ExactAnswer(Keyed):
    """An exact answer in a file of floats, and its proof."""

    users: list[Claimed]
    placement: Placement = {}
    types: dict[str, list[TypeRow]] = {}
    proof: "ProofTable"


class ProofTable(Keyed):
    """What the proof is made of; which of it depends on the policy."""

    rounds: list[RoundRow] = []
    alone: Annotated[dict[str, AloneRow], Field(description="of tsf, by users with several types on machines")] = {}
    prices: Anything = {}
    ceilings: Anything = {}
    promises: list[PaidRow] = []
    tiers: list[TierRow] = []
    point: dict[str, Fraction] = {}
    packing: list[PackingRow] = []
    trees: Annotated[list[Tree], Field(description="one for each level of a leximin, or tier of a sum or product")] = []
    bounds: Annotated[list[BoundRow], Field(description="one for each level that is not proven, from the lowest")] = []
    servers: Annotated[list[ServerRow], Field(description="of per-server, for each entry of the packing")] = []
    answer: Annotated[ExactAnswer | None, Field(description="of which the file's tasks are roundings")] = None


class AllocationDocument(Headed):
    """An allocation and what is said of its proof."""

    instance: str | None
    policy: str
    integer: bool
    engine: str
    status: str
    users: list[UserRow]
    resources: list[ResourceRow]
    unplaced: list[str]
    misfits: dict[str, list[str]] = Field({}, description="task types that fit nowhere, of users who are placed")
    short: list[str] = []
    demand_met: float | None = None
    certificate: CertificateSummary
    seconds: float = 0.0
    broken_guarantees: list[BrokenGuarantee] = []
    unpriced: list[str] = Field([], description="users to whom no more is left, and who would pay more than the prices")
    solver: str = ""
    placement: Placement = {}
    other_placements: bool | None = None
    types: dict[str, list[TypeRow]] = {}
    closed_forms: dict[str, str] = {}
    prices: dict[str, dict[str, Amount]] = {}
    proof: ProofTable | None = None
    cluster: InstanceFile | None = None
    long: Long = {}


class CertificateFile(Keyed):
    """An answer with its proof, for ``drfopt verify``."""

    schema_: str = Field(alias="schema")
    program: str = ""
    instance: InstanceFile
    policy: str
    integer: bool
    users: list[Claimed]
    placement: Placement = {}
    types: dict[str, list[TypeRow]] = {}
    proof: ProofTable
    long: Long = {}


class AuditedVerdict(Keyed):
    """A property, its verdict, who loses, and the answers of the clusters that are compared."""

    property: str
    verdict: str
    user: str = ""
    users: list[str] = []
    other: str = ""
    after: list[CertificateFile] = []
    why: str = ""


class ProvenAudit(Keyed):
    """An answer with its proof, and what is so of it."""

    truth: CertificateFile
    findings: list[AuditedVerdict]


class AuditCertificateFile(Keyed):
    """Verdicts on properties with their proofs, for ``drfopt verify``."""

    schema_: str = Field(alias="schema")
    program: str = ""
    audits: list[ProvenAudit]


class PoolDocument(Headed):
    """One pool of a batch."""

    pool: int
    policy: str
    users: list[Claimed]
    prices: ByName | None
    unplaced: list[str]
    certificate: dict[Literal["valid", "violation", "gap"], float | bool]
    singly: bool


class BatchDocument(Headed):
    """Many pools of one shape."""

    policy: str
    pools: list[PoolDocument]


class PartitionedResource(Keyed):
    """One resource of the cluster, and the highest level on it, or its price."""

    name: str
    capacity: float
    used: float
    utilization: float
    level: float | None = None
    price: float | None = None


class PartitionedRound(Keyed):
    """A round of a chain, and what the whole of each resource of a class, ``class/resource``, costs in it."""

    level: float
    prices: dict[str, float]


class PartitionedProof(Keyed):
    """What the sums over all partitions say; `error` bounds that of every level."""

    kind: str
    valid: bool
    violation: float
    gap: float | None
    error: float
    rounds: list[PartitionedRound] | None = None
    prices: dict[str, float] | None = Field(None, description="of one unit, by class/resource, of a market on machines")


class PartitionedDocument(Headed):
    """Users in tables, whose tasks and levels are in the files of a folder."""

    policy: str
    engine: str
    status: str
    users: int
    partitions: int
    unplaced: int
    resources: list[PartitionedResource]
    certificate: PartitionedProof
    folder: str
    seconds: float


class WholeTasks(Keyed):
    """One number of the same measure for each way to divide."""

    measure: str
    continuous: float | None
    optimum: float
    greedy: float | None
    min_max: float | None = None
    rounded: float | None
    users_above_and_below: dict[str, list[int]]


class ComparisonDocument(Headed):
    """Policies side by side."""

    instance: str | None
    allocations: list[AllocationDocument]
    price_of_fairness: dict[str, float | None]
    whole_tasks: dict[str, WholeTasks] = {}
    refusals: dict[str, str] = {}


class MethodRow(Keyed):
    """What one method found."""

    engine: str
    levels: list[float | None] | None
    seconds: float
    reason: str = ""


class CrossCheckDocument(Headed):
    """The same answer by methods that share no code."""

    instance: str | None = None
    agree: bool | None
    max_disagreement: float | None
    engines: list[MethodRow]


class CheckRow(Keyed):
    """One condition: whether it holds (null: not decided), and the first fault."""

    name: str
    holds: bool | None
    worst: str


class VerificationDocument(Headed):
    """Whether a file is really the answer."""

    valid: bool | None
    accuracy: float
    checks: list[CheckRow]


class StepRow(Keyed):
    """One step of a schedule."""

    step: int
    user: str
    machine: str = ""
    type: int | str | None = None
    dominant_shares: ByName
    shares: dict[str, ByName]
    used: ByName


class ScheduleDistanceRow(Keyed):
    """How far a schedule is from the optimum of whole tasks."""

    tasks: dict[str, int]
    lowest: float
    lowest_of_schedule: float
    higher: int
    lower: int
    proven: bool
    bound: float | None


class ScheduleDocument(Headed):
    """Progressive filling, task by task."""

    tasks: dict[str, int]
    placement: dict[str, dict[str, int]] = {}
    types: dict[str, Any] = {}
    unplaced: list[str]
    optimum: ScheduleDistanceRow | None = None
    trace: list[StepRow] | None


class FindingRow(Keyed):
    """A property, whether it holds, and who shows that it does not."""

    property: str
    verdict: str
    witness: Annotated[Anything | None, Field(description="its sentence under 'text', and its numbers")]
    exact: bool
    trials: int
    note: str = ""


class AuditDocument(Headed):
    """Fairness properties of a policy."""

    instance: str | None
    policy: str
    integer: bool
    results: list[FindingRow]
    undefined: str | None = None


class CounterexampleRow(Keyed):
    """An instance on which a property fails."""

    instance: InstanceFile
    finding: FindingRow


class SearchRow(Keyed):
    """How often a property held in the space of instances."""

    property: str
    holds: int
    fails: int
    undecided: int = Field(alias="no violation found")
    counterexample: CounterexampleRow | None


class SearchDocument(Headed):
    """A space of small instances, searched."""

    policy: str
    integer: bool
    space: Anything
    cases: int
    seen: int
    audited: int
    complete: bool
    results: list[SearchRow]


class TheoremDocument(Headed):
    """A theorem of the DRF paper, or a note of its own name, computed again."""

    theorem: int | str
    claim: str
    instance: str
    computation: list[str]
    verdict: str
    confirmed: bool
