"""The questions: what is asked, what was expected before anything was measured, and what happened.

An expectation is never edited after its first measurement; where it was wrong, `happened` says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import clusters, pools, whole
from .clusters import Shape
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
    ),
)
"""The registry. A question is one row here and one function."""
