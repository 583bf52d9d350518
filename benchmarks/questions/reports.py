"""The page that a planner looks at."""

from .. import reports
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="report-page",
        question="What does the page of a pool cost beside the comparison of three policies that it shows?",
        expectation=(
            "The page is a view: a cell is a format and an escape, some microseconds, and a user has some 25 cells, so "
            "500 users should add about 0.1 s and 2,000 users 0.5 s. Envy compares everybody with everybody, four "
            "million pairs and eight resources for 2,000 users under three policies: 1 s, the largest part. While it "
            "was built the page of a trace of 457 users on 27 classes was seen to be 1.0 MB, so 500 users of a pool "
            "should be 1 MB too, half of it JSON."
        ),
        sizes=(50, 500, 2_000),
        run=reports.make,
        smoke=(50,),
        happened=(
            "500 users cost 0.09 s in all and 2,000 users 0.45 s: less than expected, and about as much beyond the "
            "comparison as was said of the page alone. Envy of 2,000 users is 0.2 s, not 1 s. Escaping the JSON "
            "letter by letter was half of the page's time until it was done in one pass. The page of 500 users is 1.0 "
            "MB."
        ),
    ),
    Question(
        name="report-browser",
        question="Is the page quick to use in headless Chromium: until it can be used, one sort, one filter?",
        expectation=(
            "Parsing 1 MB of HTML takes Chromium about 0.1 s, and the table keeps all rows as elements but shows 25 "
            "of them. 500 users should be usable after 0.3 s and 2,000 after 1 s; a sort reads one key a row and "
            "puts 25 rows back, a filter searches a text a row: both under 0.05 s, two frames of the screen included."
        ),
        sizes=(50, 500, 2_000),
        run=reports.browse,
        smoke=(50,),
        happened=(
            "500 users can be used after 0.3 s and 2,000 after 1.1 s, as expected, though Chromium styles every row "
            "before the script puts all but 25 aside. A sort or a filter takes 0.03 to 0.05 s at any size, most of it "
            "the two frames."
        ),
    ),
)
