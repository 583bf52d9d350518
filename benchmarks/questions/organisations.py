"""Organisations: what guarantees, tiers and a tree of groups cost beside the same users without them."""

from .. import organisations
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="organisations",
        question=(
            "What does a tree of groups with weights, tiers and a ceiling cost in a pool of up to 100,000 users with "
            "limits, in floats and in fractions, against the same users in no group?"
        ),
        expectation=(
            "A look while it was written, on a busy machine: 0.4 s with 1,000 users, 1.7 s with 10,000, 10 s with "
            "100,000, a third of it the proof, which runs the clock again. Plain filling takes milliseconds, so that "
            "the ratio should be in the hundreds: curves are added up group by group in Python, and every user is "
            "measured by herself. Fractions should take ten times as long as floats, and floats be off by 1e-13."
        ),
        sizes=((1_000, 20), (10_000, 50), (100_000, 100)),
        run=organisations.tree,
        smoke=((60, 2),),
        happened=(
            "0.15 s, 0.7 s and 4.4 s, and 310, 540 and 650 times plain filling: plain filling is milliseconds "
            "whatever the size, and here every user has a row of her own in Python. Fractions take 30 times as long "
            "as floats and not ten, 4.6 s with 1,000 users. Floats are off by 8e-15."
        ),
    ),
    Question(
        name="organisations-openb",
        question=(
            "What do guarantees of users and of a group, tiers, ceilings and a tree of groups cost together on the "
            "openb trace, against the trace without any rule?"
        ),
        expectation=(
            "A look before said 0.3 to 1 s on a busy machine, three stops each found by a dozen programs, against one "
            "chain of programs without rules: a ratio of 3 to 10, and a violation below 1e-12."
        ),
        sizes=("openb_pod_list_default.csv", "openb_pod_list_gpuspec33.csv"),
        run=organisations.every_rule,
        smoke=("openb_pod_list_default.csv",),
        happened=(
            "0.09 and 0.3 s, 1.2 and 1.7 times the trace without rules, less than expected: nearly everybody is at "
            "her limit after two or three stops. The violation is 0."
        ),
    ),
)
