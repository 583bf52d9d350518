"""The questions: what is asked, what was expected before anything was measured, and what happened.

An expectation is never edited after its first measurement; where it was wrong, `happened` says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import audits, batches, chains, clusters, integers, million, pools, proofs, whole
from .batches import Tasks, Work
from .chains import Scale
from .clusters import Shape
from .integers import Pools
from .measure import Bench, Row
from .million import Size

__all__ = ["QUESTIONS", "Question", "question_named"]


@dataclass(frozen=True)
class Question:
    """A question and how it is answered.

    Attributes
    ----------
    name : str
    question : str
    expectation : str
        Written before measuring.
    sizes : tuple
        What `run` is called with, one after the other; within a group from small to large.
    run : callable
        Measures one size: ``run(bench, size)`` returns its rows.
    smoke : tuple
        Sizes for a look whether everything runs.
    happened : str
        Written after the run whose results are committed.
    """

    name: str
    question: str
    expectation: str
    sizes: tuple
    run: Callable[[Bench, Any], list[Row]]
    smoke: tuple
    happened: str = ""


def question_named(name: str) -> Question:
    """Return the question of that name; `KeyError` lists what there is."""
    known = {question.name: question for question in QUESTIONS}
    if name not in known:
        raise KeyError(f"there is no question {name!r} (known: {', '.join(known)})")
    return known[name]


UP_TO = (10, 100, 1_000, 10_000, 100_000)
AWKWARD = ("tied", "zero-heavy", "ill-scaled")

QUESTIONS = (
    Question(
        name="leximin-pool",
        question=(
            "What does complete DRF cost in one pool of 8 resources, from 10 users to 100,000, against ONE max-min "
            "program by HiGHS, which finds only the lowest level, and against D.sum(), one look at every demand?"
        ),
        expectation=(
            "Filling sorts the limits once and passes over the users once a saturated resource, at most 8 times, so "
            "it should be linear in n: about 0.1 s at 100,000 users, the certificate included, and some hundred times "
            "D.sum(). One program by interior point took 28 s at that size when a prototype was measured on a machine "
            "of this kind, so complete leximin should cost less than a hundredth of one program. The chain has at "
            "most 8 rounds in a pool and starts each from the last basis, and limits never enter its programs: 2 to 5 "
            "programs in time, more than 60 s from 10,000 users on. Filling and chain should be right to 1e-12 in "
            "every family, or refuse; one program to 1e-9, but not where scales are ill. The chain with one LP a user "
            "should take seconds at 100 users with limits."
        ),
        sizes=(
            *(("generic", n) for n in UP_TO),
            *(("limits", n) for n in UP_TO),
            *((family, 200) for family in AWKWARD),
        ),
        run=pools.leximin,
        smoke=(("generic", 10), ("generic", 300), ("limits", 40), *((family, 20) for family in AWKWARD)),
        happened=(
            "Filling did as expected: 0.06 s at 100,000 users, 0.08 s with limits, 400 times D.sum(), right to 1e-13 "
            "everywhere. The rest was wrong. A program is as slow as its statement: with a row a user, 100,000 of "
            "them take HiGHS more than 60 s to a vertex, or 2.6 s if it may stop inside, where the level is off by "
            "1e-8; with a level written as t plus what is above it, no row a user is left and it takes 0.26 s. So "
            "complete leximin costs a quarter to a third of ONE well stated program, not a hundredth. The chain has a "
            "row a user: 2 to 12 such programs up to 1,000 users, a hundred at 10,000 (2.7 s, not 60 s), and not one "
            "round in 60 s at 100,000. In the first runs it refused 10,000 users as badly scaled, which they are not; "
            "that was repaired before this one. Ill scales hurt nobody: dividing by the capacities and by the level "
            "of one task takes them out. The chain with one LP a user needs 0.2 s at 100 users, not seconds. With "
            "limits, one program finds hardly more than the lowest limit. cvxpy-leximin was not installed."
        ),
    ),
    Question(
        name="ceei-pool",
        question=(
            "What does CEEI cost in one pool, proven to a first-order error of 1e-9, against the answer that cvxpy "
            "gets from Clarabel or SCS, and how accurate are those?"
        ),
        expectation=(
            "The interior point method needs 15 to 25 iterations, each linear in n with one small factorisation: about "
            "1 s at 100,000 users, a fifth of cvxpy + Clarabel, whose 4.5 s a prototype measured. The conic engine is "
            "Clarabel and a few Newton steps, so 1.1 to 1.5 times Clarabel. Ours should be right to 1e-12; Clarabel's "
            "own tasks are off by 1e-6 to 1e-4, SCS's by 1e-4 to 1e-3, and our certificate should reject all of them. "
            "With limits or tied users nothing should change but the constants; ill scales cost the peers accuracy."
        ),
        sizes=(
            *(("generic", n) for n in UP_TO),
            *(("limits", n) for n in UP_TO),
            *((family, 200) for family in AWKWARD),
        ),
        run=pools.ceei,
        smoke=(("generic", 10), ("generic", 300), ("limits", 40), *((family, 20) for family in AWKWARD)),
        happened=(
            "The interior point method is faster than expected, 0.6 s at 100,000 users and 0.9 s with limits, a "
            "twelfth of cvxpy + Clarabel; but up to 100 users it takes 8 to 12 ms, twice as long as Clarabel. The "
            "conic engine costs 1.3 to 2.9 times Clarabel, more than a few Newton steps explain. With limits and "
            "100,000 users Clarabel fails, be it asked by us or by the engine, which then has no answer either. Ours "
            "are right to 1e-13. Clarabel is off by 1e-6 to 7e-5 as expected; SCS by 2e-6 to 6e-3, but by 3e-10 and "
            "1e-9 on ten users, of which the certificate accepts the first: 'all of them' was wrong. Ill scales cost "
            "the peers no accuracy, once rows are fractions of capacities; SCS takes ten times longer."
        ),
    ),
    Question(
        name="million-ceei",
        question=(
            "What does CEEI cost for a million users of 8 resources, from the arrays to the proven answer, in looks at "
            "every demand, D.sum(), and how does it grow to ten million?"
        ),
        expectation=(
            "Measured alone, a pass that adds up what is used at given prices takes 1.5 times D.sum(), and one that "
            "adds up the second derivatives too 3.3 times. Starting from the prices of a sixteenth of the users, one "
            "or two passes of the second kind and three or four of the first should do: 10 to 12, with 3 for the "
            "certificate and 5 for the door about 20. With limits a pass compares and chooses besides, and kinks cost "
            "two passes more: 40. Ties, zeros and scales should change nothing, for a pass does not look at the "
            "values. Memory: the one copy at the door, and then an eighth of it for each vector, about 1.5 times the "
            "demands. From a million to ten it should grow with D.sum(): the sample is as precise as it is large."
        ),
        sizes=(
            *(Size("ceei", family, 1_000_000) for family in ("generic", "limits", *AWKWARD)),
            *(Size("ceei", family, 10_000_000) for family in ("generic", "limits")),
        ),
        run=million.measured_as("million-ceei"),
        smoke=(Size("ceei", "generic", 20_000), Size("ceei", "limits", 20_000)),
        happened=(
            "Alone on the machine and in one thread, 20 times D.sum() without limits and 33 with them, as expected: 5 "
            "for the door, 9 and 20 for the engine, 2 and 4 for the certificate. All runs of this table had other work "
            "beside them, up to three times what two cores do, and took 23 to 36 and 31 to 44; two threads then only "
            "win back what the others take. Five passes over everybody are enough, one or two of them with second "
            "derivatives. Ties, zeros and scales change nothing. Memory is 1.4 times the demands, and 1.8 with limits, "
            "for who takes part is gathered and spread again. From a million to ten, D.sum() grows by 22, for the "
            "demands no longer are in the cache, and CEEI by 16 and 24."
        ),
    ),
    Question(
        name="machines",
        question=(
            "What do DRF and CEEI cost on 30 classes of machines with 200 users, 30 % of them eligible for a class, "
            "with and without limits, against one max-min program, and against the textbook's chain with one LP a "
            "user where that ends?"
        ),
        expectation=(
            "Up to 120 cells (class, resource) can saturate one after the other, so the chain has 50 to 100 rounds of "
            "a few milliseconds: 0.5 to 2 s, or 20 to 50 programs; with limits half of the users finish without a "
            "round, so it should be twice as fast. On 40 users and 8 classes the chain with one LP a user should take "
            "20 times as long as ours and agree to 1e-9. CEEI by interior point 0.3 s, by the conic engine 0.6 s, "
            "both proven; Clarabel alone 0.3 s with tasks off by 1e-5."
        ),
        sizes=(
            Shape(40, 8),
            Shape(40, 8, limited=True),
            Shape(200, 30),
            Shape(200, 30, limited=True),
            Shape(200, 30, open_to=0.05),
            Shape(1000, 100, open_to=0.02),
            Shape(2000, 100, limited=True, open_to=0.02),
        ),
        run=clusters.machines,
        smoke=(Shape(12, 4), Shape(12, 4, limited=True)),
        happened=(
            "Far fewer rounds than expected: with 30 % of 30 classes open, users overlap so much that the cluster is "
            "one pool in disguise. There is 1 round, 0.03 s or 1.6 programs, and with limits the same time is 4 "
            "programs. So sparser and larger sizes were added after the first run: 5 % open makes 21 rounds and 8 "
            "programs, 1,000 users on 100 classes 56 rounds, 1 s and 82 programs. On 2,000 users the chain fails: "
            "HiGHS ends a round without an answer. The chain with one LP a user agrees to 1e-13 and takes 28 to 140 "
            "times as long as ours. CEEI is faster than expected, 0.06 s by interior point and 0.1 s by the conic "
            "engine; so is Clarabel, 0.03 s with tasks off by 2e-7 to 3e-5, and up to 200 users it is faster than "
            "ours."
        ),
    ),
    Question(
        name="machines-at-scale",
        question=(
            "What does complete leximin cost on a hundred classes of machines and a thousand users, on one with more "
            "than twenty levels, and on 500 classes with 10,000 users, against its first program alone; and CEEI?"
        ),
        expectation=(
            "At most 1.2 times the number of levels times the first program, by interior point without crossover: "
            "trials of the chain while it was rewritten showed 1.1 to 1.2 with 30 % of the classes open, where there "
            "is but one level, and less where there are many, since who is finished leaves the program. 10,000 users "
            "should take one to two minutes, most of it in HiGHS, and less than 2 GiB. The chain with one LP a user "
            "should take more than 50 times as long on 300 users; water-filling with one integer program a level a "
            "second on 40 users, and minutes beyond. CEEI should take less than half of what cvxpy and Clarabel take "
            "on 1,000 users, proven to 1e-9, with Clarabel's tasks off by 1e-6 to 1e-4."
        ),
        sizes=(
            Scale(12, 4),
            Scale(40, 8),
            Scale(300, 50),
            Scale(1_000, 100),
            Scale(1_000, 100, regions=25),
            Scale(10_000, 500, open_to=0.05),
        ),
        run=chains.scale,
        smoke=(Scale(12, 4), Scale(40, 8, regions=4)),
        happened=(
            "Trials on a machine shared with others, so ratios only: 1.14 times the first program with 30 % "
            "of the classes open, 0.3 times a program a level in 25 regions with 31 levels, 1.03 times with 10,000 "
            "users, which took 68 to 90 s and 0.3 GiB, not 2. The chain with one LP a user takes 760 times as long on "
            "300 users. Water-filling was wrong by much: 0.7 s on 300 users and 8 s on 1,000 in regions, but there its "
            "levels are off by 0.9 %, since its integer program can only see improvements above its tolerance. "
            "cvxpy-leximin takes 3 s on 12 users and 8 s on 40. CEEI takes a quarter of Clarabel's time with 30 % open "
            "and half of it on 300 users, but 1.3 times its time on the sparse regions, and 3 to 10 times on 12 to 40 "
            "users, where both take milliseconds; Clarabel's tasks are off by 3e-7 to 5e-5."
        ),
    ),
    Question(
        name="openb",
        question=(
            "The openb trace is a production cluster, 8,152 pods of 457 kinds on 1,523 nodes of 27 classes: how long "
            "does it take from its own files to a comparison of policies?"
        ),
        expectation=(
            "Converting 0.2 s. DRF and asset fairness 1 to 3 s each, since most users finish at their limits; DRF "
            "without limits 2 to 5 s; CEEI 0.5 s; the two linear programs 0.05 s. The comparison is the sum, about "
            "5 s, and as a command 1 s more for imports. Everything is proven, and the two recorded values are met to "
            "the six digits they have."
        ),
        sizes=(None,),
        run=clusters.openb,
        smoke=(400,),
        happened=(
            "Faster than expected by 2 to 40 times: converting 0.07 s, DRF and asset fairness 0.06 s each, DRF "
            "without limits 0.15 s, CEEI 0.1 s, the linear programs 0.03 s, the comparison 0.25 s, and 0.7 s as a "
            "command. Everything is proven, and both recorded values are met in all their digits."
        ),
    ),
    Question(
        name="whole-tasks",
        question=(
            "What do whole tasks cost, solved and proven by somebody else than the engine: small pools, and the "
            "clusters of the paper's sections 7.1 and 7.2, against one max-min integer program?"
        ),
        expectation=(
            "Pools of 5 to 20 users: 0.05 s to 2 s for DRF and asset fairness, growing with n because more users tie, "
            "of which the exact search for something better is the smaller part; the sum less than 0.1 s, the product "
            "about 0.5 s. On the paper's nodes identical machines are packed by pattern, so section 7.1 takes less "
            "than 0.5 s, its proof by CBC included, and section 7.2, with eight users who tie in fours, 1 to 5 s. The "
            "tasks are those of the paper."
        ),
        sizes=(5, 10, 15, 20, *whole.PAPER),
        run=whole.measure,
        smoke=(5, "sec71-phase1"),
        happened=(
            "DRF and asset fairness take 0.001 to 0.13 s and do not grow with n; next to nothing of it is proof. The "
            "sum and the product were wrong by much: 1 to 2 s and 0.4 to 1.2 s from 10 users on. Nearly all of it is "
            "the exact search for something better, which gives up when its branches are spent; CBC then proves it in "
            "0.01 to 0.13 s (measured apart). Section 7.1 takes less than 0.1 s and section 7.2 1.2 s, as expected, "
            "and the tasks are the paper's. One max-min program is 4 to 11 ms on the pools and 0.6 s on section 7.2, "
            "where it knows no patterns."
        ),
    ),
    Question(
        name="batches",
        question=(
            "How many small pools does solve_many solve and prove in a second, under DRF and under CEEI, against "
            "solving them one by one and against D.sum()?"
        ),
        expectation=(
            "Asked for: 2 users x 2 resources, 1,000,000 pools, at least 1,000,000 a second for DRF and 100,000 a "
            "second for CEEI, the certificates included. One solve takes 0.2 to 10 ms, so a thousand and more times "
            "faster than one by one. A block of pools stays in the cache, and every operation of numpy on it costs "
            "about a nanosecond a number: DRF is some fifty of them on 4 numbers, hence 50 to 100 ns a pool and 40 "
            "D.sum(); CEEI takes 4 interior point steps and 3 Newton steps of fifty each, so 20 to 30 times as long "
            "as DRF. 10 users x 4 resources have ten times the numbers and should take ten times as long under DRF, "
            "and twice that again under CEEI for the kernels of 4 x 4. Ties and limits double DRF, for there are more "
            "rounds. Right to 1e-12 and 1e-10, and not one pool left over but under ill scales. (A first version had "
            "been timed when this was written, the families and the larger shapes had not.)"
        ),
        sizes=(
            *(Work("generic", b) for b in (1_000, 10_000, 100_000, 1_000_000)),
            Work("generic", 100_000, 10, 4),
            *(Work(family, 100_000, 3, 3) for family in ("tied", "limits", "ill-scaled")),
        ),
        run=batches.many,
        smoke=(Work("generic", 1_000), *(Work(family, 1_000, 3, 3) for family in ("tied", "limits", "ill-scaled"))),
        happened=(
            "Faster than expected on the million: 23,000,000 pools a second for DRF, 25 D.sum(), and 1,300,000 for "
            "CEEI in a quiet hour; 8,000,000 and 360,000 while seven other programs shared the two cores. Either is "
            "some hundred to some thousand times as fast as one by one. Batches of 1,000 to 100,000 took up to four "
            "times as long a pool under DRF, for memory that is touched for the first time; under CEEI it made little "
            "difference. 10 users x 4 resources took 8 times as long as 2 x 2 under DRF and 5 times under CEEI. Ties "
            "and limits cost DRF three to six times as much as ill scales, not twice: more rounds, and pools that "
            "finish early are put aside. Everything is proven, right to 4e-16 under DRF and 1e-13 under CEEI, and of "
            "100,000 ill-scaled pools one was finished by itself under CEEI. Two threads over the blocks were between "
            "0.8 and 1.45 times as fast as one, so there is one."
        ),
    ),
    Question(
        name="bulk-filling",
        question=(
            "Does Algorithm 1 with 10^9 whole tasks take longer than with 10^4, if it jumps over the rounds in which "
            "nobody is refused, and what is it beside the making of exact numbers?"
        ),
        expectation=(
            "Asked for: 1,000 users, 4 resources and 10^9 tasks in less than 0.2 s, and a time that grows with the "
            "jumps and not with the tasks. Making 4,000 fractions and their rates takes 20 ms, and that no way can "
            "save. There are 10 to 60 jumps of 1 ms, more where numbers are longer and fewer are equal, so twice to "
            "three times the exact numbers whatever the number of tasks, and ten times as much with 10,000 users. "
            "Step by step it is 10 microseconds a task: 0.1 s for 10^4 tasks, three hours for 10^9. Every user has "
            "exactly the tasks she has step by step. (A first version had been timed when this was written.)"
        ),
        sizes=(
            *(Tasks("integers", tasks) for tasks in (10**4, 10**6, 10**9, 10**12)),
            *(Tasks("decimals", tasks) for tasks in (10**4, 10**6, 10**9, 10**12)),
            Tasks("tied", 10**4),
            Tasks("tied", 10**9),
            Tasks("limits", 10**4),
            Tasks("limits", 10**9),
            Tasks("decimals", 10**9, 10_000),
        ),
        run=batches.billions,
        smoke=(Tasks("integers", 10**3, 20), Tasks("decimals", 10**9, 20), Tasks("limits", 10**3, 20)),
        happened=(
            "No: 0.06 to 0.08 s for 10^4 tasks, 0.07 to 0.09 s for 10^9 and 0.09 to 0.11 s for 10^12, all with 1,000 "
            "users and everything included, which is 1.7 to 2.8 times the exact numbers alone. 10,000 users take 1.8 s "
            "or 4.4 times their exact numbers, twenty times as long and not ten, for more users are refused around "
            "more levels. Step by step 12,000 to 36,000 tasks took 0.3 to 1.2 s, up to 30 microseconds each and not "
            "10. Where step by step ends, every user has exactly the same tasks; elsewhere it was checked in fractions "
            "that everything fits and no task more does."
        ),
    ),
    Question(
        name="proofs",
        question=(
            "What does an answer in fractions cost beside the same in floats, how long are its numbers, and how long "
            "does a verifier of nothing but fractions take to read its proof?"
        ),
        expectation=(
            "Asked for: 1,000 users x 8 resources in 1 s, 10,000 in 10 s, 30 users x 10 classes in 10 s, openb in 5 "
            "minutes with its verification. Fractions of 80,000 demands are made in half a second, and adding them up "
            "by groups of one denominator costs less, so a pool takes 100 microseconds a user, a hundred times the "
            "floats; its level is a fraction of less than a thousand bits, for whole demands have few denominators. "
            "Demands of sixteen digits have no denominator in common: 40 bits a user, which is quadratic in all, 0.5 "
            "s at 1,000 users. On machines HiGHS finds every basis and no pivot is needed, so fractions should cost "
            "two to five times the floats. CEEI to 30 digits takes seven corrections of linear cost, below 1 ms a "
            "user. The verifier reads tasks and prices once a round: a second for 10,000 users, less than 0.5 s for "
            "openb. All are valid, and levels are those of floats to 1e-12, CEEI to 1e-11. (First versions of all had "
            "been timed when this was written.)"
        ),
        sizes=(
            *(proofs.Proof(family, n) for n in (1_000, 10_000) for family in ("generic", "limits", "ill-scaled")),
            *(proofs.Proof("generic", n, "asset") for n in (100, 1_000)),
            *(proofs.Proof("long decimals", n) for n in (100, 1_000)),
            *(proofs.Proof("generic", n, "ceei") for n in (30, 300, 3_000)),
            *(
                proofs.Proof("machines", shape.n, policy, shape)
                for policy in ("drf", "ceei", "utilitarian")
                for shape in (
                    Shape(30, 10),
                    Shape(200, 30, limited=True),
                    Shape(200, 30, open_to=0.05),
                    Shape(1000, 100, open_to=0.02),
                )
            ),
            *(proofs.Proof("openb", 457, policy) for policy in ("drf", "ceei", "utilitarian")),
        ),
        run=proofs.exact,
        smoke=(
            proofs.Proof("limits", 40),
            proofs.Proof("generic", 12, "ceei"),
            proofs.Proof("machines", 12, "drf", Shape(12, 4)),
            proofs.Proof("openb", 457),
        ),
        happened=(
            "Pools as expected: 0.1 to 0.16 s at 1,000 users, 1.6 to 1.9 s at 10,000, in numbers of 550 to 980 bits; "
            "beside floats that is 300 to 2,000 times as long, for those have become fast. Long decimals 0.7 s at "
            "1,000 users, in numbers of 39,000 bits. Asset fairness is of the same kind, which was not expected: sums "
            "of shares have no denominator in common, so 1,000 users have 44,000 bits each and a file of 40 MB. "
            "Machines take 3 to 5 times the floats, 7 s for 1,000 users on 100 classes, whose levels are 4e-12 from "
            "those of floats; sums up to 38 times, of milliseconds. CEEI costs 0.5 to 1.7 ms a user in pools; on "
            "openb its optimum turned out to be rational, proven in 0.3 s. DRF of openb is 0.5 s, and 0.06 s to "
            "verify. In large pools the verifier was wrong by much: 9 s for 10,000 users, for Python's own fractions "
            "cost microseconds an operation; a set built once for each user instead of once was a third of it."
        ),
    ),
    Question(
        name="audit-enumeration",
        question=(
            "How long does it take to audit all eight properties of DRF on every pool of 2 resources and 3 users with"
            " demands 0..4 and capacities 1..4, 41,600 cases before symmetry, and what is a second worker worth?"
        ),
        expectation=(
            "Symmetry of resources, units and sizes of tasks leaves about a tenth of the cases; each takes 1 to 2 ms "
            "in fractions, some fifteen fillings among them. So 5 to 8 s with one worker, well under a minute. Up to "
            "5 the cases are 194,250 and the time about four times as long. Units of work are some hundred cases, so "
            "a second worker should be worth 1.7 or more on a machine that does nothing else."
        ),
        sizes=(4, 5),
        run=audits.enumerate_drf,
        smoke=(1,),
        happened=(
            "First measured beside other work on the same two cores. 3,302 of the 41,600 cases are audited, less than"
            " a tenth, in 4 s with one worker, 1.1 ms a case; up to 5 it is 20,992 of 194,250 cases and 46 s, eleven "
            "times as long and not four: more cases of larger numbers stand for themselves. There a second worker was"
            " worth 1.9, up to 4 nothing, for handing over a unit costs about as much as a unit."
        ),
    ),
    Question(
        name="audit-throughput",
        question=(
            "How much faster is the search for a violation of population monotonicity than the same search with one "
            "solve a cluster through cvxpy?"
        ),
        expectation=(
            "A case has four clusters. Through cvxpy each is 5 to 10 ms for CEEI by the conic engine, and more for "
            "DRF as a formulation file, which is solved round by round; in fractions a filling takes 30 microseconds "
            "and a market of two resources 80. So 100 times or more for both, and at least 50."
        ),
        sizes=("ceei", "drf"),
        run=audits.search_throughput,
        smoke=("ceei",),
        happened=(
            "First measured beside other work: 104 times for CEEI and 517 times for DRF, whose formulation is solved "
            "round by round, twice a user who might rise. Both find the same violations."
        ),
    ),
    Question(
        name="audit-counterexamples",
        question=(
            "How long does it take to find a counterexample to every cell of the property table that fails with "
            "positive demands, without being told where, and to make it small?"
        ),
        expectation=(
            "Every cell of a leximin policy, of CEEI and of the two sums is found in spaces of 2 or 3 users with "
            "numbers up to 3, in less than a second each; alpha fairness is computed by the interior point engine, 5 "
            "ms a solve, and takes some seconds a cell. Altogether less than two minutes with one worker; two workers"
            " should be no faster on searches that are over before their processes have started."
        ),
        sizes=("all",),
        run=audits.find_counterexamples,
        smoke=("asset",),
        happened=(
            "First measured beside other work: all 34 cells are found, in 42 s with one worker, nearly all of it for "
            "the 8 cells of alpha fairness, which are known to the error of a certificate only. Two workers took "
            "three times as long: every search of a second starts by waking its processes."
        ),
    ),
    Question(
        name="whole-tasks-proven",
        question=(
            "How many users of one pool, about 40 whole tasks each, can be solved and proven: leximin of generic, "
            "equally large and tied demands, with and without limits, and the Nash product, ten seeds each?"
        ),
        expectation=(
            "The frontier search has one state where nothing ties, so 50 users take 0.05 s, 100 users 0.2 s, 200 users "
            "2 s and 500 users 10 s, nearly all of it proof: a level is one set of multipliers, and there are as many "
            "levels as users. Tied users need the counting program, and stay below 1 s at 100 and 10 s at 500. The "
            "Nash product takes 1 s at 20 users, and at 50 users from 0.3 s to 10 s, by how near the optimum happens "
            "to be to its bound; 100 users should often be too many."
        ),
        sizes=(
            *(
                Pools(policy, family, n, limited, aim)
                for n, aim in ((50, 1.0), (100, 10.0), (200, 60.0))
                for family in ("generic", "equal", "tied")
                for policy in ("drf", "asset")
                for limited in (False, True)
            ),
            Pools("drf", "generic", 500, False, 60.0, 3),
            Pools("drf", "tied", 500, False, 60.0, 3),
            Pools("ceei", "generic", 20, False, 2.0),
            Pools("ceei", "generic", 50, False, 10.0),
        ),
        run=integers.proven_pools,
        smoke=(Pools("drf", "tied", 20, True, 1.0, 2), Pools("ceei", "generic", 5, False, 2.0, 2)),
        happened=(
            "As expected where nothing ties: the slowest of ten took 0.19 s at 50 users, 0.34 s at 100, 1.1 s at 200, "
            "and 2.5 s at 500, everything proven. Ties and limits together cost more than expected, 5 s at 200 users, "
            "most of it linear programs of the proof; tied users 3.7 s at 500. The Nash product took 2 s at worst at "
            "20 users and 9 s at 50. The machine was shared by some seven other programs: the only cases beyond their "
            "aims, 1.07 s for 1 s and 2.03 s for 2 s, are so by less than that explains, and are not repeated here."
        ),
    ),
    Question(
        name="whole-tasks-cbc",
        question=(
            "How much faster are whole tasks, complete and proven, than CBC by PuLP on the plain statement, which for "
            "leximin is one round of it, the lowest level, unproven?"
        ),
        expectation=(
            "CBC branches on the tasks of all users at once, and its bound hardly moves: it should run into the limit "
            "from 20 users on, and be 100 times slower before. With 10 users it should be 10 times slower, and the "
            "Nash product hopeless for it at any size."
        ),
        sizes=tuple(
            (policy, family, n, seed)
            for policy in ("drf", "asset", "ceei")
            for family in ("generic", "tied")
            for n in (10, 20, 50)
            for seed in range(2)
        ),
        run=integers.against_cbc,
        smoke=(("drf", "generic", 4, 0),),
        happened=(
            "Wrong by much for leximin: one round is an easy program, and CBC solves it in 5 ms to 0.3 s. The complete "
            "and proven leximin takes 2 to 14 times less than that one round, geometric mean 5, but for DRF with tied "
            "users, where CBC sees the answer at once and ours takes up to 45 times longer for all the levels. For "
            "the Nash product, where both do the whole of the work, CBC needs 130 times longer with 10 users, and ran "
            "into the limit of 60 s with 20."
        ),
    ),
    Question(
        name="whole-tasks-openb",
        question=(
            "The openb trace in whole tasks, 8,152 pods of 457 kinds on 1,523 nodes: how many users get less than the "
            "whole part of their continuous optimum, and which levels are proven?"
        ),
        expectation=(
            "The packing takes 10 s and leaves 5 to 10 of 456 users short, all of them those with the highest levels. "
            "Nearly everybody else is at her limit, and who is at her limit is proven by that: the lowest level and "
            "most of the others are proven, in 30 s some two thirds of the users, without a limit on the time more "
            "than nine tenths, in 3 minutes."
        ),
        sizes=(None,),
        run=integers.openb,
        smoke=(300,),
        happened=(
            "The packing leaves 5 or 6 of 456 users short, all of the highest levels, in 7 to 16 s on a busy machine. "
            "Without a limit 142 levels of 431 users are proven in 156 s, the lowest among them; within 30 s those of "
            "274 users and more. The level at which the proof ends has a gap of 0 to its bound."
        ),
    ),
)
"""The registry. A question is one row here and one function."""
