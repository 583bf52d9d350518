"""The table of claims: which property each policy has on every instance of a domain, and where it fails, on which.

Users have equal weights.  A claim that a property holds rests on a proof, named here in a sentence, and survives the
enumeration of every small instance of its domain (on machines, a sample of them); a claim that it fails rests on an
instance, which is audited exactly.  Both are done again by `drfopt.axioms.claims`, and by the tests.  A property that
holds with zero demands holds without them, and one that fails without them fails with them; whole tasks and machines
are domains of their own.

Where it says filling: levels rise together; one who is stopped shares a used-up resource with whoever was stopped with
her or before.  Market: at prices p a user spends w[i] = x[i] (p . d[i]), and what is left over costs nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ..model.instance import Instance, Machine
from .properties.property_table import EIGHT, PROPERTIES

__all__ = [
    "ASKEW",
    "BENT",
    "BREAKS",
    "CLAIMS",
    "DOMAINS",
    "HOLDS",
    "MACHINES",
    "POSITIVE",
    "SHORT",
    "TIES",
    "WHOLE",
    "ZERO",
    "PropertyClaim",
]

POSITIVE, ZERO, WHOLE, MACHINES = "positive demands", "zero demands", "whole tasks", "machines"

DOMAINS = (POSITIVE, ZERO, WHOLE, MACHINES)
"""One pool and divisible tasks, except where the name says otherwise; on machines demands are positive."""

SI, SP, EF, PE, SRF, BF, PM, RM = (row.name for row in EIGHT)

NSDI = "Ghodsi et al., Dominant Resource Fairness, NSDI 2011"
DRFH = (
    "Wang, Li and Liang, Dominant resource fairness in cloud computing systems with heterogeneous servers, INFOCOM 2014"
)
DOLEV = "Dolev, Feitelson, Halpern, Kupferman and Linial, No justified complaints, ITCS 2012"
PARKES = "Parkes, Procaccia and Shah, Beyond dominant resource fairness, TEAC 2015"
OWN = "computed by this package"

LI_XUE = "Li and Xue, Egalitarian division under Leontief preferences, Economic Theory 2013"

BENT, ASKEW = "path:1/2:1/2..3/4:1", "path:1/2:1"
"""A path that is straight up to the equal split of two, so through those of more as well, and one that misses them."""

HOLDS, BREAKS, TIES = "holds", "fails", "depends on ties"


@dataclass(frozen=True)
class PropertyClaim:
    """A row of the table.

    Attributes
    ----------
    policy, property, domain : str
    verdict : str
        ``holds``, ``fails``, or ``depends on ties`` where the policy calls several divisions equally good.
    because : str
        The proof in a sentence, or what the instance shows.
    at : str
        For ``fails``: capacities, then demands, such as ``1 1 | 1,2 2,1``; machines as ``1 2 + 2 1 | 1,1 1,2``.
    source : str
    """

    policy: str
    property: str
    domain: str
    verdict: str
    because: str
    at: str = ""
    source: str = OWN

    @cached_property
    def integer(self) -> bool:
        """Whether tasks are whole."""
        return self.domain == WHOLE

    def instance(self) -> Instance:
        """Return the counterexample."""
        capacity, demands = self.at.split("|")
        name = f"{self.property} fails under {self.policy}" + (" with whole tasks" if self.integer else "")
        rows = [[int(d) for d in row.split(",")] for row in demands.split()]
        rooms = [[int(c) for c in room.split()] for room in capacity.split("+")]
        if self.domain != MACHINES:
            return Instance(rows, rooms[0], name=name, source=self.source)
        machines = [Machine(f"m{k}", room) for k, room in enumerate(rooms, start=1)]
        return Instance(rows, machines=machines, name=name, source=self.source)


def _holds(policy: str, domain: str, **because: str) -> Iterator[PropertyClaim]:
    for letters, reason in because.items():
        proof, _, source = reason.partition(" @ ")
        yield PropertyClaim(policy, SHORT[letters], domain, HOLDS, proof, source=source or OWN)


def _fails(policy: str, domain: str, **where: str) -> Iterator[PropertyClaim]:
    for letters, place in where.items():
        at, _, source = place.partition(" @ ")
        yield PropertyClaim(policy, SHORT[letters], domain, BREAKS, "the witness of its instance", at, source or OWN)


SHORT = {row.short: row.name for row in PROPERTIES}

ONE_SHARE = "the level depends on the bundle alone and grows with it, so a better bundle has a higher level, at which "
OPTION = ONE_SHARE + "the others, who rise as without it, leave less of what stopped it"
LATER = "whom it envies has a higher level, but uses what had stopped it by then"
FULL = "who is below its limit was stopped by a used-up resource that it needs"
BEST = "anybody's gain would improve the objective"
RISING = "with positive demands all stop together, at a level that only rises when a user leaves"
ONE = "levels are shares of the only resource, divided by weights"
SAME = "all levels are shares of the same resource, divided by weights"
MONEY = "its income buys at least its part of everything: prices times capacities add up to all incomes"
PRICED = "who needs a priced resource needs one that is used up"
AFFORD = "the bundle it envies costs more than it has, scaled to its income, or it would have bought it"
ALPHA = "s[i] = (p . d[i])^(-1/alpha) and alpha >= 1 bound p . d[i] by n^alpha"
ORDER = "whose bundle it envies pays more for a task, so has the smaller share, which contradicts its larger bundle"
ONLY = "only the resource that all need most is priced"
SCORE = "the sorted shares are what is made best"

TOGETHER = "until the first of a group stops in truth the others rise as without it, and leave what it holds then"
UNENVIED = "nobody envies anybody in the first place"
SPENT = "its whole income goes to what is used up"
TRANSFER = "whom it envies has a higher level, and could hand over some of what it has there"
EACH = "every machine is a pool of its own"
ALIKE = "in one pool it is drf"

REACHED = "before the path reaches the equal split nothing is used up, so nobody stops below it"
SPLIT = "where the path reaches the equal split all hold equal parts of that resource, and it is used up"
GROWS = "levels grow with the share of the only resource, divided by weights"

_DRF = (
    *_holds("drf", ZERO,
            SI=f"below level 1/n nothing is used up, so nobody stops below it @ {NSDI}, section 3",
            SP=f"{OPTION} @ {NSDI}, section 4", EF=f"{LATER} @ {NSDI}",
            PE=FULL, SRF=ONE, BF=SAME, EF1=UNENVIED, GSP=f"{TOGETHER} @ {PARKES}"),
    *_holds("drf", POSITIVE, PM=f"{RISING} @ {NSDI}, Theorem 14"),
    *_fails("drf", ZERO, PM="1 1 | 0,1 1,0 1,2"),
    *_fails("drf", POSITIVE, RM=f"1 1 | 1,2 2,1 @ {NSDI}, Theorem 6", NJC=f"9 18 | 1,4 3,1 @ {DOLEV}"),
)  # fmt: skip


def _as_drf(policy: str) -> Iterator[PropertyClaim]:
    for claim in _DRF:
        yield replace(
            claim, policy=policy, because=f"{ALIKE}: {claim.because}" if claim.verdict == HOLDS else claim.because
        )


CLAIMS = (
    *_DRF,
    *_fails("asset", POSITIVE, SI=f"30 30 | 1,3 1,1 @ {NSDI}, Theorem 1", BF=f"21 21 | 3,2 4,1 @ {NSDI}, Theorem 2",
            RM=f"77 77 | 4,2 1,1 @ {NSDI}, Theorem 3", NJC="1 1 | 1,1 1,2"),
    *_holds("asset", ZERO, SP=OPTION, EF=LATER, PE=FULL, SRF=ONE, EF1=UNENVIED, GSP=TOGETHER),
    *_holds("asset", POSITIVE, PM=RISING),
    *_fails("asset", ZERO, PM="1 1 | 0,1 1,0 1,2"),
    *_holds("ceei", ZERO, SI=MONEY, EF=AFFORD, PE=PRICED, SRF=ONE, BF=ONLY, EF1=UNENVIED, NJC=f"{SPENT} @ {DOLEV}"),
    *_fails("ceei", POSITIVE, SP=f"100 100 | 16,1 1,2 @ {NSDI}, Theorem 4",
            PM=f"100 100 | 4,1 1,16 16,1 @ {NSDI}, Theorem 5", RM=f"1 1 | 2,1 1,2 @ {NSDI}, Theorem 6",
            GSP="1 1 | 1,2 1,2 2,1"),
    *_fails("single:r1", POSITIVE, SI="1 1 | 1,1 1,2", BF="1 1 | 1,2 1,3", NJC="1 1 | 1,1 1,2"),
    *_holds("single:r1", ZERO, SP=OPTION, EF=LATER, PE=FULL, SRF=ONE, EF1=UNENVIED, GSP=TOGETHER),
    *_holds("single:r1", POSITIVE, PM=RISING, RM="with positive demands all stop together, and more only lifts that"),
    *_fails("single:r1", ZERO, PM="2 1 | 1,0 1,1 1,2", RM="2 2 | 1,0 1,3"),
    *_as_drf("tsf"),
    *_as_drf("per-server"),
    *_holds(BENT, ZERO, SI=f"{REACHED} @ {LI_XUE}", SP=f"{OPTION} @ {LI_XUE}", EF=LATER, PE=FULL, SRF=GROWS, BF=SPLIT,
            EF1=UNENVIED, GSP=f"{TOGETHER} @ {LI_XUE}"),
    *_holds(BENT, POSITIVE, PM=RISING),
    *_fails(BENT, ZERO, PM="1 1 | 0,1 1,0 1,2"),
    *_fails(BENT, POSITIVE, RM="1 1 | 1,2 2,1", NJC="1 1 | 1,2 2,1"),
    *_holds(ASKEW, ZERO, SP=f"{OPTION} @ {LI_XUE}", EF=LATER, PE=FULL, SRF=GROWS, EF1=UNENVIED, GSP=TOGETHER),
    *_holds(ASKEW, POSITIVE, PM=RISING),
    *_fails(ASKEW, ZERO, PM="1 1 | 0,1 1,0 1,1"),
    *_fails(ASKEW, POSITIVE, SI="1 1 | 1,1 1,2", BF="1 1 | 1,1 1,2", RM="1 1 | 1,1 1,2", NJC="1 1 | 1,1 1,2"),
    *_fails("tasks", POSITIVE, SI="1 | 1 2", SP="1 | 1 1", EF="1 | 1 2", SRF="1 | 1 2", BF="1 | 1 2", EF1="3 | 1 3",
            NJC="1 | 1 2", GSP="1 | 1 1 1"),
    *_holds("tasks", ZERO, PE=FULL),
    *_holds("tasks", POSITIVE, PM=RISING, RM="with positive demands all stop together, and more only lifts that"),
    *_fails("tasks", ZERO, PM="1 1 | 0,1 1,0 1,2", RM="2 2 | 0,1 3,1"),
    *_fails("throughput", POSITIVE, SI="1 | 1 2", SP="1 | 2 3", EF="1 | 1 2", SRF="1 | 1 2", BF="1 | 1 2",
            PM="1 1 | 1,3 2,2 2,1", RM="1 1 | 1,2 2,1", EF1="3 | 1 2", NJC="1 | 1 2", GSP="1 1 | 1,2 2,1 2,2"),
    *_holds("throughput", ZERO, PE=BEST),
    *_fails("utilitarian", POSITIVE, SI="1 2 | 1,3 2,1", SP="1 1 | 1,2 2,1", EF="1 2 | 1,3 2,1",
            PM="1 1 | 1,2 1,3 2,1", RM="1 1 | 1,2 3,1", EF1="2 2 | 1,1 1,3 3,2", NJC="1 2 | 1,3 2,1",
            GSP="1 1 | 1,1 1,2 3,1"),
    *_holds("utilitarian", ZERO, PE=BEST),
    PropertyClaim("utilitarian", SRF, ZERO, TIES, "however one resource is divided, its shares add up to 1"),
    PropertyClaim(
        "utilitarian", BF, ZERO, TIES, "however a resource that all need most is divided, its shares add up to 1"
    ),
    *_holds("alpha:2", ZERO, SI=ALPHA, EF=ORDER, PE=PRICED, SRF=ONE, BF=ONLY, EF1=UNENVIED),
    *_fails("alpha:2", POSITIVE, SP="1 1 | 1,1 1,2 3,1", PM="1 1 | 1,1 1,2 3,1", RM="1 1 | 1,1 1,2 3,1",
            NJC="1 1 | 1,2 3,2", GSP="1 1 | 1,2 1,2 2,1"),
    *_fails("alpha:0.5", POSITIVE, SI="1 1 | 1,3 3,2", EF="1 1 | 1,3 3,2", SP="1 1 | 1,1 1,2 3,1",
            PM="1 1 | 1,1 1,2 3,1", RM="1 1 | 1,1 1,2 3,1", EF1="100 100 | 1,3 3,2", NJC="1 1 | 1,3 3,2",
            GSP="1 1 | 1,2 1,2 2,1"),
    *_holds("alpha:0.5", ZERO, PE=PRICED, SRF=ONE, BF=ONLY),
    *_fails("drf", WHOLE, SI=f"4 | 1 3 @ {PARKES}", SP=f"3 | 1 2 @ {PARKES}", EF=f"3 | 1 2 @ {PARKES}",
            PM="3 | 1 2 3", RM="2 | 1 3", EF1="4 | 1 3"),
    *_holds("drf", WHOLE, PE=BEST, SRF=SCORE, BF=SCORE),
    *_fails("tsf", WHOLE, SI="4 | 1 3", SP="3 | 1 2", EF="3 | 1 2", PM="3 | 1 2 3", RM="2 | 1 3", EF1="4 | 1 3"),
    *_holds("tsf", WHOLE, PE=BEST, SRF=SCORE, BF=SCORE),
    *_fails("asset", WHOLE, SI="4 | 1 3", SP="3 | 1 2", EF="3 | 1 2", BF="3 4 | 1,4 2,3", PM="3 | 1 2 3", RM="2 | 1 3",
            EF1="4 | 1 3"),
    *_holds("asset", WHOLE, PE=BEST, SRF=SCORE),
    *_fails("single:r1", WHOLE, SI="4 | 1 3", SP="3 | 1 2", EF="3 | 1 2", BF="3 3 | 1,3 2,2", PM="3 | 1 2 3",
            RM="2 | 1 3", EF1="4 | 1 3"),
    *_holds("single:r1", WHOLE, PE=BEST, SRF=SCORE),
    *_fails("ceei", WHOLE, SI=f"4 | 1 3 @ {PARKES}", SP=f"4 | 1 1 @ {PARKES}", EF="2 | 1 2", SRF="5 | 2 5",
            BF="5 | 2 5", PM="4 | 1 1 3", RM="2 | 1 2", EF1="4 | 1 3"),
    *_holds("ceei", WHOLE, PE=BEST),
    *_fails("tasks", WHOLE, SI="4 | 1 3", SP="3 | 1 2", EF="2 | 1 2", SRF="5 | 2 5", BF="5 | 2 5", PM="4 | 1 1 3",
            RM="2 | 1 2", EF1="4 | 1 3"),
    *_holds("tasks", WHOLE, PE=BEST),
    *_fails("throughput", WHOLE, SI="4 | 1 2", SP="2 | 1 2", EF="2 | 1 2", SRF="3 | 1 2", BF="3 | 1 2",
            PM="5 6 | 1,4 2,1 2,3", RM="1 2 | 1,2 2,1", EF1="4 | 1 2"),
    *_holds("throughput", WHOLE, PE=BEST),
    *_fails("utilitarian", WHOLE, SI="3 3 | 1,1 1,2 2,1", SP="5 | 2 3", EF="3 | 2 3", SRF="8 | 2 5", BF="8 | 2 5",
            PM="5 | 2 3 4", RM="2 | 2 3"),
    *_holds("utilitarian", WHOLE, PE=BEST),
    *_fails("drf", MACHINES, SI="2 4 + 4 2 | 1,1 1,2", RM="1 + 1 | 1 2"),
    *_holds("drf", MACHINES, EF=f"{TRANSFER} @ {DRFH}", PE=BEST),
    *_fails("asset", MACHINES, SI="1 2 | 1,1 1,2", RM="1 + 1 | 1 2"),
    *_holds("asset", MACHINES, EF=TRANSFER, PE=BEST),
    *_fails("ceei", MACHINES, RM="1 + 1 | 1 2"),
    *_holds("ceei", MACHINES, SI=MONEY, EF=AFFORD, PE=BEST),
    *_fails("single:r1", MACHINES, SI="2 1 | 1,1 2,1", RM="1 + 1 | 1 2"),
    *_holds("single:r1", MACHINES, EF=TRANSFER, PE=BEST),
    *_fails("tsf", MACHINES, SI="1 1 + 1 3 | 1,2 1,3", RM="1 + 1 | 1 2"),
    *_holds("tsf", MACHINES, EF=TRANSFER, PE=BEST),
    *_fails("per-server", MACHINES, PE="1 2 + 2 2 | 1,1 1,2", RM="2 | 1 3"),
    *_holds("per-server", MACHINES, SI=EACH, SP=EACH, EF=EACH, PM=EACH),
    *_fails("tasks", MACHINES, SI="2 | 1 2", EF="2 | 1 2", RM="1 | 1 2"),
    *_holds("tasks", MACHINES, PE=BEST),
    *_holds("throughput", MACHINES, PE=BEST),
    *_holds("utilitarian", MACHINES, PE=BEST),
)  # fmt: skip
"""Every claim once, in its widest domain where the property holds and in its narrowest where it fails."""
