"""Audits of properties and searches for counterexamples."""

from .. import audits
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
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
            "3,302 of the 41,600 cases are audited, less than a tenth, in 3.9 s with one worker, 1.2 ms a case; up to "
            "5 it is 20,992 of 194,250 cases and 25 s, six times as long and not four: more cases of larger numbers "
            "stand for themselves. A second worker is worth 1.9 and 1.6, the latter beside another program; alone it "
            "was 1.8."
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
            "65 times for CEEI and 330 times for DRF, whose formulation is solved round by round, twice a user who "
            "might rise. Both find the same violations."
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
        smoke=("asset", "path:1/2:1", "per-server"),
        happened=(
            "All 36 cells are found, in 7 s with one worker, most of it for the cells of alpha fairness, five of "
            "which are known to the error of a certificate only. Two workers took longer, 12 s: every search of a "
            "second starts by waking its processes."
        ),
    ),
    Question(
        name="audit-growth",
        question="By which power of the number of users does the audit of DRF on one pool grow, property by property?",
        expectation=(
            "One look at every resource decides for all users whether a misreport helps, and a filling in fractions "
            "looks at every user once: exponents of 1.0 to 1.15, where strategy-proofness had 2.1, and 2.9 with "
            "limits. In a script with other demands it was 0.9 to 1.1 up to 3,000 users."
        ),
        sizes=(("generic", 2_000), ("limits", 2_000)),
        run=audits.audit_growth,
        smoke=(("generic", 40), ("limits", 40)),
        happened=(
            "On quiet cores exponents of 0.8 to 1.1 between 500 and 2,000 users, but for envy-freeness without limits "
            "(1.36, above what was expected), and each property takes "
            "0.7 to 3.8 times an exact solve. Population monotonicity is not asked: it removes every user in turn, "
            "and is quadratic as long as nobody is found to lose."
        ),
    ),
    Question(
        name="audit-lies",
        question=(
            "How long does it take to find everybody's best lie against CEEI and to certify that no report brings more,"
            " and how does that compare with trying reports, which certifies nothing?"
        ),
        expectation=(
            "A proposal is a cone program of ten columns, a millisecond of Clarabel; the bound is a linear program in "
            "fractions of as many rows as resources, some milliseconds; a lie is verified by the policy itself, ten "
            "milliseconds where there are three resources or more. So 20 to 50 ms a user, and all six certified. With "
            "limits every set of users who may be at them is a program of its own: 8 sets for 3 limits, five times "
            "the time. Trying takes three rounds of some thirty reports in floats, and verifies the best: about as "
            "long, it finds most lies, but a tenth to a half of their gain."
        ),
        sizes=((2, 0), (3, 0), (5, 0), (3, 3)),
        run=audits.best_misreports,
        smoke=((2, 0),),
        happened=(
            "All are certified, in about the time that trying takes on 3 and 5 resources (25 to 40 ms a user), a tenth "
            "of it on 2, and two to five times as much with limits, 35 ms a user. The lies found are at most 5e-5 "
            "below the bound, and 1e-12 with limits, where one resource decides. Trying is better than expected: it "
            "found 8 of the 10 lies and nine tenths of their gain or more, and proves nothing."
        ),
    ),
)
