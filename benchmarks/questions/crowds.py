"""One pool of a million users and more."""

from .. import million
from ..million import Size
from .question import AWKWARD, Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="million-drf",
        question=(
            "What does DRF cost for a million users of 8 resources, without limits and with a limit for everybody, "
            "from the arrays to the proven answer, in looks at every demand, D.sum(), and how does it grow to ten "
            "million?"
        ),
        expectation=(
            "Asked for: 25 D.sum() without limits and 100 with them, memory twice the demands, and growth to ten "
            "million at most 1.2 times that of D.sum(). In processor time of one thread the door is 5.3 (the copy "
            "alone 3.5), the rates 1.4, the sums of a filling by groups 8, the proof 6 to 10: 20 to 25 in all, less "
            "where two threads share it. With limits every step of the filling is two products of a vector with the "
            "demands and a comparison, 1.5 together, twenty of them: 50 in all. Ties and zeros have no more steps, "
            "and ill scales none either. Memory 1.5 times the demands. Growth below that of D.sum(), which profits "
            "from the cache at a million and not at ten. (The parts had been timed when this was written.)"
        ),
        sizes=(
            *(Size("drf", family, 1_000_000) for family in ("generic", "limits", *AWKWARD)),
            *(Size("drf", family, 10_000_000) for family in ("generic", "limits")),
        ),
        run=million.measured_as("million-drf"),
        smoke=(Size("drf", "generic", 20_000), Size("drf", "limits", 20_000)),
        happened=(
            "15 and 60 were asked later, and are met with numba on the idle machine of these rows, whose D.sum() takes "
            "3.8 ms: 11 to 12 without limits and 27 with them, ten million the same, in memory of 1.4 and 1.8 times "
            "the demands. Before there were compiled loops, on an idle machine whose D.sum() takes 2.2 ms: 30 to 38 "
            "and 57, and 38 and 105 for ten million. How it came down: "
            "Beside other programs, so that only processor time tells (D.sum() 3.7 ms), with and without them: generic "
            "66 and 112 ms, tied 64 and 97, limits 128 and 180; that is 18, 17 and 35 D.sum(), 15 is missed still. "
            "The door takes 10 ms for the copy, its checks and the sets of resources, where numpy takes 28 for the "
            "first two and 4 for the sets; the sums of sets 7 and not 17, the proof 20 and not 34. Tried and left: "
            "adding up resource by resource, which is slower than user by user; a function called for each user, "
            "twice to four times as slow; blocks of other sizes, which win nothing. Two threads over the loops were "
            "not measured for want of an idle core. Since then rates, levels and what is used are "
            "found in loops too, and fewer blocks are looked at: 15.1 D.sum() generic, 13.3 tied and 34 with limits "
            "(expected before: 14, the "
            "rates 5 ms and not 9, the proof 20 and not 27), beside other programs still. The proof then looked at "
            "everybody twice, the second time for what is held at the levels at which resources run out. Now the first "
            "look adds up by the set of resources that users need, and by the first digits of levels of who is at a "
            "limit: that tells the same, and the second look is for what these sums leave open. 12 to 14 D.sum() "
            "generic and 26 to 33 with limits, 12 and 40 for four million, 15 for four resources and 67 for sixteen, "
            "whose 65,000 sets do not fit a cache and whose proof needs sums of twice the digits (116 before). Since "
            "then those digits are found in a loop and tables of all sets are made once, not once in 65,000 users: in "
            "processor time beside other programs sixteen resources take 33 and not 81, with limits 82 and not 98, "
            "half of it for tables of sets still; and limits begin with a sample from 131,000 users on, so that "
            "250,000 take 62 and not 92; without limits those take 21. "
            "What follows was measured "
            "on another machine, where the same code took "
            "20 to 22 D.sum() without limits, as expected for one thread: two threads over the blocks won nothing but "
            "at the door, where memory is touched for the first time, so passes that compute have one now. With "
            "limits 63 and not 50, for the vectors of a million users do not stay in the cache between two steps as "
            "they did when one step was timed alone; memory is 2.2 times the demands there, and 1.4 without. Ties, "
            "zeros and scales change nothing. From a million to ten, D.sum() grows by 11, DRF by 8 and with limits by "
            "10. Where the time goes: 3.5 for the door, 1.5 for the rates, 7 for the sums of groups, 6 for the proof. "
            "Reading the demands once from memory is 0.5, and there are five passes, so the bus is not the limit: "
            "comparisons, the products with yes and no, and the counting of groups are, each a few operations a "
            "demand."
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
            "20 were asked later, and are met with numba on the idle machine of these rows: 13 to 15 D.sum(), 18 with "
            "limits, 16 for ten million, but 79 for ten million with limits, where the bound on tasks is made closer. "
            "Before, without numba and where D.sum() takes 2.2 ms, 33 to 43 and 52, and 39 and 138 for ten million. "
            "Tried and left: compiled loops for the passes at "
            "given prices (6.6 ms, BLAS 5.1; with second derivatives 13 and 20), and second derivatives of a quarter "
            "of the users (12 ms less for the pass, one or two passes more: 85 and 93 ms in all, with limits 128 and "
            "122). Since then a loop looks at two columns and 128 users at a time (4.7 ms, BLAS 5.4; with second "
            "derivatives 12 and 21), so does the proof (6.5 ms and not 10, with limits 12 and not 33), and second "
            "derivatives are asked for once, after the first step: 21.4 to 23.6 D.sum() and 30 with limits, where 32 "
            "and 41 were in the same hour (expected: 20; of 95 ms the door takes 20, five passes 36, 7 "
            "for rates that only the levels need, and 10 for samples). Now levels are made when asked for, and loops "
            "take 65,000 users at a time: 17 to 19 D.sum(), 20 to 25 with limits, 16 and 25 for four million; with "
            "sixteen resources 112, half of it for second derivatives, the rest mostly for what the proof looks at "
            "once more. Most second derivatives were of prices that had been 0 in the sample and began next to it, to "
            "double ten times; since they begin at the money of four users: of 1,000,000 x 16, in processor time and "
            "beside other programs, 74 to 89 and not 100 to 102. What follows was measured on another machine: "
            "as expected without limits, 18 to 20 times D.sum(); with limits 26 and not 40. Of these 3.5 are the "
            "door, 9 and 15 the engine, 2 and 4 the certificate. Five passes over everybody are enough, one or two of "
            "them with second derivatives. Ties, zeros and scales change nothing. Memory is 1.4 times the demands, "
            "and 1.8 with limits, for who takes part is gathered and spread again. From a million to ten, D.sum() "
            "grows by 11, for the demands no longer are in the cache, and CEEI by 8 without limits and 10 with them: "
            "its samples are as many users as before."
        ),
    ),
)
