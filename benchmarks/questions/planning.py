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
            "For DRF 20 to 60 times, 13 times for CEEI, beside many other programs on two cores; 1.5 s of processor "
            "time for 99 units, reading aside. More than was expected for DRF because tasks that do not change, or "
            "change in a straight line, need no program in between. What is predicted is what dividing again gives, to "
            "the last digits."
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
            "1.1 to 1.3 times the two solves for DRF, 1.2 to 1.5 for CEEI, 1.8 to 2 in fractions; a second or two at "
            "most on a crowded machine. As expected. Nobody is a winner in floats who is none in fractions."
        ),
    ),
)
