"""One pool: leximin and CEEI, from ten users to a hundred thousand, and on awkward families."""

from .. import pools
from .question import AWKWARD, Question

__all__ = ["QUESTIONS"]

UP_TO = (10, 100, 1_000, 10_000, 100_000)

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
            "Filling took a twentieth of what was expected, after it was written anew: 4 ms at 100,000 users, 40 "
            "times D.sum(), right to 1e-14 everywhere. The rest was wrong. A program is as slow as its statement: "
            "with a row a user, 100,000 of them take HiGHS more than 60 s to a vertex, or 2.5 s if it may stop "
            "inside, where the level is off by 1e-8; with a level written as t plus what is above it, no row a user "
            "is left and it takes 0.23 s. So complete leximin costs a fiftieth of ONE well stated program, and a "
            "six-hundredth of one with a row a user. The chain has a row a user: 3 to 8 such programs up to 10,000 "
            "users (2.8 s, not 60 s), and no end in 60 s at 100,000. Ill scales hurt nobody: dividing by the "
            "capacities and by the level of one task takes them out. The chain with one LP a user needs 0.3 s at 100 "
            "users, not seconds. With limits, one program finds hardly more than the lowest limit. cvxpy-leximin "
            "takes 0.5 s with 10 users by its default method, off by 7e-9, and by the one with a big M, off by 2e-16; "
            "by saturation 0.06 s, off by 6e-11, and from 40 users on it stops with an error of its own."
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
            "The interior point method is faster than expected, 0.5 s at 100,000 users, a thirteenth of cvxpy + "
            "Clarabel; but up to 100 users it takes 7 ms, twice as long as Clarabel. Newton's method on the prices, "
            "which came later, takes 5 ms at 100,000 users, a thousandth of Clarabel, and 1 ms at 10. The conic "
            "engine costs 1.6 to 3 times Clarabel, more than a few Newton steps explain. Ours are right to 1e-13. "
            "Clarabel is off by 4e-6 to 7e-5 as expected; SCS by 6e-6 to 4e-3, but by 3e-10 on ten users, which the "
            "certificate accepts: 'all of them' was wrong. Ill scales cost the peers no accuracy, once rows are "
            "fractions of capacities; SCS takes ten times longer."
        ),
    ),
)
