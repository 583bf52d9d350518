"""Purchases and moves: how fast they are proven, and where only a gap is known."""

from .. import purchases
from ..purchases import Order, Tidy
from .question import Question

__all__ = ["QUESTIONS"]

LARGEST_USER = "3.152cpu-5600MiB-0.81gpu>=50%"

QUESTIONS = (
    Question(
        name="purchases",
        question=(
            "Is the cheapest purchase for the openb trace proven within two minutes, five classes of machines on sale: "
            "all pods that fit anywhere, today and with a quarter more, and the half of one large user's alone, from "
            "nothing?"
        ),
        expectation=(
            "Asked for: proven, or its gap known, within 120 s. Where everybody is to have everything the fair "
            "allocation is any feasible one, so the relaxation is tight and rounding five numbers is all there is to "
            "branch on: a second or two, most of it fair allocations. From nothing everything hangs on proportions: "
            "what others need beside the user depends on which resource is scarce, and a class that only she may use "
            "takes her out of the competition. There a gap of some percent should be left after two minutes. (First "
            "versions of all three had been run when this was written.)"
        ),
        sizes=(Order("*>=100%"), Order("*>=100%", 25), Order(LARGEST_USER, from_nothing=True)),
        run=purchases.openb_purchase,
        smoke=(Order("3.152cpu-5600MiB-0.81gpu-T4>=50%", seconds=20.0),),
        happened=(
            "All pods, today: 0.6 s, 48 T4 machines, proven; a quarter more: 2.1 s, three classes, proven, nearly all "
            "of it fair allocations of clusters that are full: as expected. From nothing the two minutes were spent, "
            "and a gap of 14 % was left, as expected."
        ),
    ),
    Question(
        name="moves",
        question=(
            "How large may a cluster be for the fewest moves to a fair allocation of whole tasks, or the fairest with "
            "ten moves, to be proven within a minute, class by class and machine by machine?"
        ),
        expectation=(
            "Class by class packings are patterns and the program is small: a second or so at 32 machines. Machine by "
            "machine every user has a column on every machine, and identical machines make it symmetric wherever "
            "nothing runs yet: 8 machines in some seconds, 32 not within the minute. With ten moves every level is two "
            "programs, so ten times as long."
        ),
        sizes=(Tidy(5, 8), Tidy(5, 8, 10), Tidy(8, 16), Tidy(8, 16, 10), Tidy(10, 32)),
        run=purchases.moves,
        smoke=(Tidy(3, 2), Tidy(3, 2, 1)),
        happened=(
            "Class by class 0.1 s, 2 s and 17 s at 8, 16 and 32 machines, to the optimum. Machine by machine 8 take "
            "0.5 s and 16 take 37 s; with ten moves 8 take 4 s, and at 16 the levels are proven within the minute, "
            "but not that the moves and evictions are the fewest. Slower than expected."
        ),
    ),
)
