"""Schedulers at work: a day of Hadoop jobs, the laws of what the trace lacks, and what each rule costs."""

from .. import section7
from .question import Question

__all__ = ["QUESTIONS"]

QUESTIONS = (
    Question(
        name="hadoop-day",
        question=(
            "How long does it take to simulate a day of Hadoop jobs, each a user, on 400 machines, under DRF and with"
            " 12 slots a machine?"
        ),
        expectation=(
            "The first hour, 977 jobs of 146 thousand tasks, took 2 s under DRF and 4 s with slots, whose machines have"
            " to be slowed and sped up. The day has 4.7 million tasks, 32 times as many, of 24 thousand jobs; the work"
            " of a moment does not grow with jobs that are over. So about a minute under DRF, two with slots."
        ),
        sizes=(1, 6),
        run=section7.hadoop_day,
        smoke=(1,),
        happened=(
            "A whole day was simulated once, beside much else on the same two cores: 4,700,064 tasks in 286 s under "
            "DRF and 1,065 s with slots. The committed run has one hour and six, 0.15 and 0.95 million tasks: 9 and "
            "19 microseconds a task under DRF, so 90 s for the day, more than expected; slots take five to six times "
            "as long."
        ),
    ),
    Question(
        name="hadoop-laws",
        question=(
            "For which laws of durations and demands do two hours of Hadoop jobs look as in section 7.3 of the paper:"
            " small jobs as before, large ones up to 66 % sooner, and machines fuller under DRF than with slots?"
        ),
        expectation=(
            "A look at the first two hours, not these, said: only where the cluster is full and tasks need about half"
            " a slot does it look so, for then slots leave machines idle and only large jobs wait for them. With tasks"
            " of a whole slot every job ends 30 to 40 % sooner, small ones too: that is the slowdown of overloaded"
            " machines, not packing. Where the cluster is half empty nothing changes. These two hours have twice as"
            " many tasks; so from 60 s a task on the cluster should be full, and the picture of the paper should be"
            " there for half a slot from 60 s on."
        ),
        sizes=section7.LAWS,
        run=section7.hadoop_laws,
        smoke=((30, 0.5, 40),),
        happened=(
            "At half the size (every second job, 200 machines) as expected where tasks need half a slot: from 60 s on"
            " jobs of up to 500 tasks end 2 and 3 % later under DRF, larger ones 43 and 37 % sooner, and machines are"
            " fuller by a quarter of the cluster; the paper has -3 % and up to 66 %. At 30 s only the larger jobs gain,"
            " 22 %, in the peaks. With tasks of three quarters of a slot the larger gain 13 to 17 % and nothing is"
            " fuller; with tasks of a whole slot all gain some 30 %, for overloaded machines slow everybody down."
        ),
    ),
    Question(
        name="rules-at-work",
        question="What does each scheduler's rule cost, on 50 machines, 20 users in 4 groups and up to 10,000 tasks?",
        expectation=(
            "DRF serves the lowest of a heap: some 15 microseconds a task. Mesos makes an offer a machine and cycle"
            " and sorts users in fractions: 10 times that. Rules that walk a tree anew after every task (hierarchies,"
            " YuniKorn, YARN with its comparison) compute 20 users' shares in fractions each time, about 1 ms a task;"
            " Kueue computes the shares of the whole tree for every user who asks, 20 ms a task. None grows with the"
            " tasks but in proportion."
        ),
        sizes=(2_000, 10_000),
        run=section7.rules_at_work,
        smoke=(400,),
        happened=(
            "DRF takes 16 to 22 microseconds a task and Mesos 180 to 200, ten times as much and not three. The rules "
            "with trees and queues take 0.2 to 0.3 ms a task, less than expected; KAI, which divides every resource "
            "anew at every moment, takes 1 ms, more than any of them. Kueue took 33 ms a task at first; since what "
            "its tree lends is worked out once, and only the way from a queue to the root is looked at, it is 0.2 ms."
        ),
    ),
)
