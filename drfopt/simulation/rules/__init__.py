"""Rules: a scheduler's way of deciding which waiting task starts where, and the table of their names.

A file a scheduler: first what it computes, as pure functions of exact numbers, then the rule that serves by it.  The
schedulers' own words are kept where they name parts of them (role, framework, queue, cohort).  Amounts are integers or
`Fraction`s, so that a tie is a tie; where the scheduler itself computes in floats, that is said.
"""
