"""Many pools at once, and many tasks at once."""

from .. import batches
from ..batches import Tasks, Work
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="batches",
        question=(
            "How many small pools does solve_many solve and prove in a second, under DRF and under CEEI, against "
            "solving them one by one and against D.sum()?"
        ),
        expectation=(
            "Asked for: 2 users x 2 resources, 1,000,000 pools, at least 1,000,000 a second for DRF and 100,000 a "
            "second for CEEI, the certificates included. One solve takes 0.2 to 10 ms, so a thousand and more times "
            "faster than one by one. A block of pools stays in the cache, and every operation of numpy on it costs "
            "about a nanosecond a number: DRF is some fifty of them on 4 numbers, hence 50 to 100 ns a pool and 40 "
            "D.sum(); CEEI takes 4 interior point steps and 3 Newton steps of fifty each, so 20 to 30 times as long "
            "as DRF. 10 users x 4 resources have ten times the numbers and should take ten times as long under DRF, "
            "and twice that again under CEEI for the kernels of 4 x 4. Ties and limits double DRF, for there are more "
            "rounds. Right to 1e-12 and 1e-10, and not one pool left over but under ill scales. (A first version had "
            "been timed when this was written, the families and the larger shapes had not.)"
        ),
        sizes=(
            *(Work("generic", b) for b in (1_000, 10_000, 100_000, 1_000_000)),
            Work("generic", 100_000, 10, 4),
            *(Work(family, 100_000, 3, 3) for family in ("tied", "limits", "ill-scaled")),
            Work("tied", 100_000),
        ),
        run=batches.many,
        smoke=(Work("generic", 1_000), *(Work(family, 1_000, 3, 3) for family in ("tied", "limits", "ill-scaled"))),
        happened=(
            "Faster than expected on the million: 24,000,000 pools a second for DRF, 26 D.sum(), and 1,300,000 for "
            "CEEI. Either is "
            "some hundred to some thousand times as fast as one by one. Batches of 1,000 to 100,000 took up to four "
            "times as long a pool under DRF, for memory that is touched for the first time; under CEEI it made little "
            "difference. 10 users x 4 resources took 8 times as long as 2 x 2 under DRF and 5 times under CEEI. Ties "
            "and limits cost DRF three to six times as much as ill scales, not twice: more rounds, and pools that "
            "finish early are put aside. Everything is proven, right to 4e-16 under DRF and 1e-13 under CEEI, and of "
            "100,000 ill-scaled pools one was finished by itself under CEEI. Two threads over the blocks were between "
            "0.8 and 1.45 times as fast as one, so there is one."
        ),
    ),
    Question(
        name="bulk-filling",
        question=(
            "Does Algorithm 1 with 10^9 whole tasks take longer than with 10^4, if it jumps over the rounds in which "
            "nobody is refused, and what is it beside the making of exact numbers?"
        ),
        expectation=(
            "Asked for: 1,000 users, 4 resources and 10^9 tasks in less than 0.2 s, and a time that grows with the "
            "jumps and not with the tasks. Making 4,000 fractions and their rates takes 20 ms, and that no way can "
            "save. There are 10 to 60 jumps of 1 ms, more where numbers are longer and fewer are equal, so twice to "
            "three times the exact numbers whatever the number of tasks, and ten times as much with 10,000 users. "
            "Step by step it is 10 microseconds a task: 0.1 s for 10^4 tasks, three hours for 10^9. Every user has "
            "exactly the tasks she has step by step. (A first version had been timed when this was written.)"
        ),
        sizes=(
            *(Tasks("integers", tasks) for tasks in (10**4, 10**6, 10**9, 10**12)),
            *(Tasks("decimals", tasks) for tasks in (10**4, 10**6, 10**9, 10**12)),
            Tasks("tied", 10**4),
            Tasks("tied", 10**9),
            Tasks("limits", 10**4),
            Tasks("limits", 10**9),
            Tasks("decimals", 10**9, 10_000),
        ),
        run=batches.billions,
        smoke=(Tasks("integers", 10**3, 20), Tasks("decimals", 10**9, 20), Tasks("limits", 10**3, 20)),
        happened=(
            "No: 0.03 s for 10^4 tasks, 0.035 s for 10^9 and 0.034 to 0.044 s for 10^12, all with 1,000 users and "
            "everything included, which is 1.7 to 2.6 times the exact numbers alone. 10,000 users take twenty times "
            "as long and not ten, for more users are refused around more levels. Step by step 12,000 to 36,000 tasks "
            "took 0.3 to 1.2 s, up to 30 microseconds each and not "
            "10. Where step by step ends, every user has exactly the same tasks; elsewhere it was checked in fractions "
            "that everything fits and no task more does."
        ),
    ),
)
