"""Is this file really the answer?  Decided in `Fraction`s, with nothing but the standard library.

What is checked, and why that proves the claim, stands in ``formulations/README.md`` under "What the verifier checks";
`claims` and `proofs` follow it step by step, `reading` turns data into numbers, `whole` is for whole tasks, `audited`
for verdicts on properties.  Nothing here imports anything of the rest of the package, so that the folder can be read,
and copied, alone.
"""

from .audited import AUDITS
from .claims import SCHEMA
from .exact_sums import Multiple
from .judging import verify
from .reading import Check, Report, loads, long_numbers, number, with_long

__all__ = [
    "AUDITS",
    "SCHEMA",
    "Check",
    "Multiple",
    "Report",
    "loads",
    "long_numbers",
    "number",
    "verify",
    "with_long",
]
