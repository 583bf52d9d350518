"""The questions: what is asked, what was expected before anything was measured, and what happened.

An expectation is never edited after its first measurement; where it was wrong, `happened` says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import clusters, integers, pools, whole
from .clusters import Shape
from .integers import Pools
from .measure import Bench, Row

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
