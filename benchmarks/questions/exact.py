"""Answers in fractions, and their verification."""

from .. import proofs
from ..clusters import Shape
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
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
            "Pools as expected: 0.07 s at 1,000 users, 0.75 s at 10,000, in numbers of 550 to 980 bits; beside floats "
            "that is 100 to 1,000 times as long, for those have become fast. Long decimals 0.36 s at 1,000 users, in "
            "numbers of 39,000 bits. Asset fairness is of the same kind, which was not expected: sums of shares have "
            "no denominator in common, so 1,000 users have 44,000 bits each and a file of 40 MB. Machines take 2 to 7 "
            "times the floats, 2.5 s for 1,000 users on 100 classes; sums up to 37 times, of milliseconds. CEEI costs "
            "0.5 to 1.3 ms a user in pools; on openb its optimum turned out to be rational. In large pools the "
            "verifier was wrong by much: 3 s for 10,000 users, for Python's own fractions cost microseconds an "
            "operation."
        ),
    ),
)
