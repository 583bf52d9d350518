"""What grows with the number of users, and is asked to grow no faster."""

from .. import costs
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="growth",
        question=(
            "By which power of the number of users, from a quarter of them to all, do CPU seconds grow of what is "
            "around an answer: writing an instance, the file of a certificate, table, CSV, JSON, explanation, sweep?"
        ),
        expectation=(
            "Each looks at every user once, so exponents should be 1, and up to 1.15 where caches fill. Writing made "
            "all limits for every user before, with an exponent of 2, 23 s at 20,000 users: now some 10 microseconds "
            "a number, 1 s. rich laid out a row of six cells in 0.4 ms: without its grid it should be 0.1 ms."
        ),
        sizes=tuple((family, n) for family in ("generic", "limits") for n in (4_000,)),
        run=costs.growth,
        smoke=(("generic", 60), ("limits", 60)),
        happened=(
            "All exponents are 1 within what a second run changes, 0.2: while this was measured other work kept the "
            "machine busy, so that seconds are several times too long, and so are their ratios; the exponents are of "
            "CPU seconds. The table is at 1.3 here, and at 1.08 since its lines are handed to rich a hundred at a "
            "time: the more objects there are at once, the longer the collector of garbage looks at them."
        ),
    ),
    Question(
        name="growth-files",
        question=(
            "By which power of the number of queues, from a quarter of them to all, do CPU seconds grow of writing an "
            "allocation for every other scheduler, of reading what was written, and of reading so many pods, jobs or "
            "tasks, of a tenth as many users on a tenth as many machines, in every format?"
        ),
        expectation=(
            "Each looks at every queue once: exponents of 1, and up to 1.15 where caches fill. (Written after a first "
            "look at all of them, by which one was quadratic, the reading of capacity-scheduler.xml at 1.5: for every "
            "setting it sorted all queues. It finds them by name now. Lists of tasks were added later, after a first "
            "look: 0.9 to 1.2.)"
        ),
        sizes=(4_000,),
        run=costs.files,
        smoke=(40,),
        happened=(
            "Exponents of 0.93 to 1.14 of writing and 1.09 to 1.27 of reading, beside other work, by which "
            "seconds are several times too long; from 2,000 to 8,000 queues they were 0.90 to 1.26. The readers are "
            "above what was expected, and none is quadratic. Lists of tasks, measured once beside much other work: 0.8 "
            "to 1.27, google2011 1.41 and 1.18 when it was looked at again; from 6,000 to 24,000 tasks 0.96 to 1.20."
        ),
    ),
)
