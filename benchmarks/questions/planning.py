"""Planning: prices of every unit, and before and after."""

from .. import plans
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="price-openb",
        question=(
            "How much faster are the prices of every resource, machine class and cell of openb, more and less, with "
            "their ranges, than finite differences by one solve for each side, which have no ranges?"
        ),
        expectation=(
            "There are some hundred units and two sides. A solve of openb takes 0.15 to 0.3 s for DRF, so finite "
            "differences take 30 to 60 s; the links are looked up once, and each side is a few evaluations of them "
            "and some warm linear programs of a millisecond, so 1.5 to 3 s and 15 times faster or more. CEEI takes "
            "0.07 s a solve, its differential is factored once and no range is looked for: 10 times. The target is 5 s."
        ),
        sizes=("drf", "ceei"),
        run=plans.prices,
        smoke=("ceei",),
        happened=(
            "For DRF 33 times faster than finite differences, 25 times for CEEI: 1.1 and 0.66 s for 99 units. More "
            "than was expected for DRF because tasks that do not change, or change in a straight line, need no "
            "program in between. What is predicted is what dividing again gives, to the last digits."
        ),
    ),
    Question(
        name="whatif-openb",
        question="What does whatif on openb cost beside the two solves it cannot do without, in floats and exactly?",
        expectation=(
            "The change is made through the instance's document and its checks, some 0.05 to 0.1 s for 457 users, "
            "beside two solves of 0.2 s for DRF: 1.3 times, and 2 times for CEEI with its faster solves. In fractions "
            "a solve takes about 0.3 s, so twice the floats. The target is 5 s."
        ),
        sizes=("drf", "ceei"),
        run=plans.whatifs,
        smoke=("ceei",),
        happened=(
            "2.1 times the two solves for DRF, 4.5 times for CEEI, whose two solves are 0.1 s, and 4.8 times for DRF "
            "in fractions: more than expected, in seconds 0.85, 0.52 and 1.9. Writing, editing and checking the "
            "document of 457 users is 0.2 to 0.3 s, not 0.1 s. Nobody is a winner in floats who is none in fractions."
        ),
    ),
    Question(
        name="planning-commands",
        question=(
            "How many seconds of processor time do the planner's commands take as a whole on openb, imports and "
            "reading included: as it is, with its users in ten departments, and as the task types of 45 teams?"
        ),
        expectation=(
            "Reading takes 0.4 s, half of it imports. Measured while this was written, each command by itself: whatif "
            "1.0 to 1.5 s, explain 1.2 to 2.5, price 1.9 to 3.0, size 1.5 to 3.1, report 2.3 to 3.6, the teams being "
            "the slowest. So 3 to 10 times reading, and nothing over 4 s. The target is 5 s, for size two minutes."
        ),
        sizes=("as it is", "ten departments", "45 teams"),
        run=plans.commands,
        smoke=("as it is",),
        happened=(
            "As measured: 1.1 to 3.6 s where reading takes a third of a second, 3 to 11 times as much. Of what explain "
            "and report take of the teams more than half is divisions of larger clusters, which say what to buy; price "
            "of departments and teams divides the cluster again for each unit that matters."
        ),
    ),
)
