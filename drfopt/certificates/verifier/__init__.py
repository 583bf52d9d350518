"""Is this file really the answer?  Decided in `Fraction`s, with nothing but the standard library.

What is checked, and why that proves the claim, stands in ``formulations/README.md`` under "What the verifier checks";
`claims` and `proofs` follow it step by step, `reading` turns data into numbers, `whole` is for whole tasks, `audited`
for verdicts on properties.  Nothing here imports anything of the rest of the package, so that the folder can be read,
and copied, alone.
"""

from typing import Any

from .answers import instance_in, told
from .audited import AUDITS, verdicts
from .claims import SCHEMA
from .cluster import Cluster
from .exact_sums import Multiple
from .keys import misshapen
from .proofs import Proof
from .reading import Check, Report, Unread, loads, long_numbers, number, with_long
from .work import Unfinished, metered

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


def verify(
    document: dict[str, Any], instance: dict[str, Any] | None = None, *, bounded: bool = True, exact: bool = False
) -> Report:
    """Return what was checked of a document: a certificate file's data, or the data of an instance and an allocation.

    `bounded` ends with "not decided" what takes more work than an honest file of its size is likely to.  With `exact`
    the document's numbers are `Fraction`s that were never written, all of them meant exactly.

    Raises
    ------
    ValueError
        When it is no such document: a key is missing, or something is not what it should be.
    """
    report = Report()
    try:
        with metered(bounded), with_long(long_numbers(document)):
            if "audits" in document:
                if document.get("schema") != AUDITS or instance is not None:
                    raise ValueError(f"verdicts are read alone, and under the schema {AUDITS!r}")
                verdicts(document, report, proven, possible)
                return report
            cluster = instance_of(document) if instance is None else Cluster(instance)
            claim = Proof(cluster, document, exact)
            report = claim.report
            if instance is not None and isinstance(instance_in(document), dict):
                same = told(instance_of(document)) == told(cluster)
                report.add("the instance is the one of the file", [] if same else ["they differ"])
            judged(claim)
    except (Unfinished, RecursionError):
        report.add("all that has to be checked", [], "that takes more work than a file may cost")
    except KeyError as error:
        raise ValueError(f"not a certificate: {misshapen(document) or f'it has no {error}'}") from None
    except ArithmeticError as error:
        raise ValueError(f"not a certificate: {error}") from None
    except Unread as error:
        raise ValueError(f"not a certificate: {fault}" if (fault := misshapen(document)) else str(error)) from None
    except (TypeError, AttributeError, IndexError):
        fault = misshapen(document) or "something in it is of another form than belongs there, or a list is too short"
        raise ValueError(f"not a certificate: {fault}") from None
    return report


def instance_of(document: dict[str, Any]) -> Cluster:
    """Return the cluster that a document has with it."""
    given = instance_in(document)
    if not isinstance(given, dict):
        if "policy" not in document:
            raise ValueError("not a certificate: it has no 'instance'")
        raise ValueError("not a certificate, but an answer without its instance: name its instance, too")
    return Cluster(given)


def judged(claim: Proof) -> Proof:
    """Make all checks of a claim."""
    claim.feasible()
    if answer := claim.proof.get("answer"):
        claim.include(judged(claim.unrounded(answer)), "the exact answer")
        return claim
    steps = {
        "leximin": claim.by_rules if claim.c.ruled or claim.c.ordered else claim.leximin,
        "sum": claim.sum,
        "alpha": claim.alpha_fair,
        "servers": claim.servers,
    }
    if claim.report.valid is not False:
        claim.nothing_better() if claim.whole else steps.get(claim.objective, claim.unknown)()
    return claim


def proven(document: dict[str, Any]) -> Proof:
    """Make all checks of a document."""
    with with_long(long_numbers(document)):
        return judged(Proof(instance_of(document), document))


def possible(document: dict[str, Any]) -> Proof:
    """Check of a document that what it says is possible."""
    with with_long(long_numbers(document)):
        claim = Proof(instance_of(document), document)
        claim.feasible()
        return claim
