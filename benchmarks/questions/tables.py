"""Users in Parquet files, more than fit in memory."""

from .. import tables
from ..tables import Files
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="markets-in-files",
        question=(
            "What does ceei cost for users who lie in Parquet files on 30 classes of machines, with one and with two "
            "workers, and what memory does a process need?"
        ),
        expectation=(
            "In memory 20,000 x 30 take 1.5 s of processor time, 0.6 of them the 32 digits. The parts make everything "
            "of a step twice or three times where memory keeps it: 200,000 x 30 about 25 s, as many in each of two "
            "workers as in half of one; below 1 GiB in each, for a part of four million pairs takes a hundred bytes a "
            "pair in digits and as much again while it is changed. Proven to 1e-10. Two workers: 1.6 on the longest "
            "path, as leximin. (Written before anything of it was run.)"
        ),
        sizes=(Files(200_000, classes=30, policy="ceei"),),
        run=tables.divided,
        smoke=(Files(10_000, classes=4, policy="ceei"),),
        happened=(
            "Slower and larger than expected: 67 s of processor time with one worker and 73 with two, not 25, and 1.45 "
            "and 1.02 GiB, not below 1: whatever a step computes is made again in each of its four passes, and a part "
            "of four million pairs has some copies of its digits at once. The longest path falls from 77 to 60 s, a "
            "factor of 1.3: there are two parts, one of them twice the other. Proven. (Measured beside other programs, "
            "load 5.) Since then a part has a million pairs and not four: 40 s with one worker and 3 here, with two 21 "
            "and 22 and 4, so that the longest path falls from 43 to 26 s, a factor of 1.65; 0.95 and 0.71 GiB. (Load "
            "15.)"
        ),
    ),
    Question(
        name="users-in-files",
        question=(
            "What does it cost to divide and prove users who lie in Parquet files, on one pool and on 30 classes of "
            "machines, against reading the files once; what memory does a worker of 4 GiB need, and are two workers "
            "nearly twice as fast as one?"
        ),
        expectation=(
            "Asked for: 100,000,000 x 4 on one pool in at most 5 times the reading, 10,000,000 x 30 x 4 on machines "
            "solved and proven with no process above 4 GiB, and two workers at least 1.7 times as fast as one. In "
            "memory 10,000 x 30 take half a second of processor time in 10 iterations, so 1,000,000 about 45 s, and "
            "making directions twice where they are not kept a quarter more: 60 s. The proof and writing 30 columns "
            "are 10 s of it. Ten times as many users are ten times as much, 10 minutes of processor time, and at 0.96 "
            "GB for each of the four arrays of a step two thirds of the parts lie in files: 3 GB are written in an "
            "iteration, which on a disk of 150 MB a second is 20 s each, more than the computing. Workers stay below "
            "3 GiB. A pool costs 2.6 times the reading for 10,000,000, as was seen before, and the same for ten times "
            "as many, whether or not they fit. Two workers: 1.8 on machines, less on the pool, where reading competes "
            "for the disk. Levels are proven to 1e-12. (Written before anything of it was run on machines.)"
        ),
        sizes=(
            Files(10_000_000),
            Files(1_000_000, classes=30),
        ),
        run=tables.divided,
        smoke=(Files(20_000), Files(20_000, classes=5)),
        happened=(
            "Machines as expected: 1,000,000 x 30 in 50 to 60 s of processor time, proven, 0.85 GiB in each of two "
            "workers. Their longest path is 32 s against 52 s with one, a factor of 1.6, not 1.8, since the caller "
            "computes between the passes; the wall clock showed no gain beside other programs. The pool is far from "
            "2.6: reading from a warm cache takes 0.4 s and dividing 6 s, 15 times as much, half of it starting the "
            "workers. By hand on an idle machine, with python -m benchmarks.tables FOLDER --users N --divide 1 2: "
            "10,000,000 x 30 in 573 s with one worker and 299 s with two, a factor of 1.92, 2.6 GiB in each, proven "
            "to 1.4e-14; 100,000,000 on one pool in 13.7 and 16.8 s with two workers against 2.7 s of reading, 5.1 "
            "and 6.2 times as much where 5 was asked, 1.7 GiB in each, proven to 5.7e-13. Since then rates are "
            "computed once and not three times, and tasks are not compressed: 10,000,000 on one pool in this process "
            "(jobs=1) take 1.30 s of processor time and not 1.43, where reading takes 0.42 to 0.44, three times as "
            "much. 100,000,000 with two workers, measured again beside other programs (load 8, with "
            "numba): reading before and after took 5.5 and 6.5 s of processor time (25 and 54 s by "
            "the clock), dividing 20 s in each worker and 9 s here (242 s by the clock), so the longest path is "
            "4.5 to 5.3 times the reading and all of it 7.5 to 8.9 times; 2.1 GiB in each worker, proven to "
            "5.6e-13. By the clock of an idle machine it was not measured again. Since then the proof looks at each "
            "part once, with numba: 10,000,000 in this process with no part kept, as where memory is short, take 4.8 "
            "to 5.2 times the processor time of reading and not 6.7 to 7.1 (before and after in one run); with parts "
            "kept nothing is won. Since then tasks are proven as they are written, with and without numba, and demands "
            "are checked and counted as they are copied; of 100,000,000 a last part too small for compiled loops had "
            "everybody be read a third time. 10,000,000 in this process take 3.8 to 4.1 times the processor time of "
            "reading with no part kept, 4.8 to 5.0 before, and 3.0 with all of them, 4.0 before. 100,000,000 with two "
            "workers beside other programs (load 12 to 15): reading took 3.5 to 4.2 s of processor time, dividing 14 s "
            "in each and 3 here, 16, 16 and 4 before: the longest path is 4.3 times the reading and no longer 5, and "
            "all of it 8 times; 2.1 GiB in each, proven to 5.7e-13. Some 6 of the 14 s are the system's: on this "
            "virtual machine 2 GiB in the large pages that numpy asks for take 2.3 to 5 s when they are touched first, "
            "in small ones 0.7, and with NUMPY_MADVISE_HUGEPAGE=0 these are 4. On machines 1,000,000 x 30 took 59 s "
            "of processor time with one worker and 34 and 36 with two, 0.90 GiB in each, and 6 to 7 here. "
            "By the clock none of that was measured. 10,000,000 x 30 beside other programs: 656 s of processor time "
            "with one worker and 42 here (676 s by the clock), with two 363 and 360 and 70 (1,493 s by the clock), "
            "2.9 GiB, proven to 1.4e-14: the longest path is 697 and 434 s, a factor of 1.6. Some 30 s here and in "
            "each worker are Dask's, which looks at itself fifty times a second for as long as the clock runs, 2 % of "
            "a core in each process; without these it would be 1.8 (reckoned, not measured). Since then it does so "
            "once a second, at half of that or less. Since then a part has a million pairs and not four, and a worker "
            "has its parts in four groups of the same size, each of them one task a pass: 1,000,000 x 30 with two "
            "workers take 27 and 28 s of processor time and 5 here, with one 51 and 3, so that the longest path is 33 "
            "and 55 s, a factor of 1.65 to 1.7; their own work is 1.8 times as fast. It was measured beside other "
            "programs (load 15, 340 s by the clock), and of the 5 s here about half go with the clock and not with "
            "the work. Four groups of 10,000,000 x 30 went past 4 GiB, so a group has four parts at most: with two "
            "workers 239 and 242 s of processor time and 19 here, with one 578 and 19, which has to leave more of its "
            "parts in files: longest paths of 260 and 597 s, a factor of 2.3 (391 and 618 s by the clock, beside other "
            "programs), 2.7 and 2.9 GiB in each, proven to 1.4e-14."
        ),
    ),
)
