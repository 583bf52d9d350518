"""Single-resource fairness: with one resource the outcome is weighted max-min fairness.

Nobody is below her limit while another holds more of the resource for her weight.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from ..case import AuditCase
from ..verdicts import HOLDS, Finding
from .bottleneck_fairness import proportional

__all__ = ["NAME", "check"]

NAME = "single-resource-fairness"


def check(case: AuditCase) -> Finding:
    """Compare shares of the only resource."""
    if case.cluster.m > 1:
        return Finding(NAME, HOLDS, note=f"says nothing of {case.cluster.m} resources")
    if case.cluster.machines is not None:
        return Finding(NAME, HOLDS, note="says nothing of machines")
    return proportional(case, NAME, 0)
