"""Single-resource fairness: with one resource the outcome is weighted max-min fairness.

Nobody is below her limit while another holds more of the resource for her weight.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from ..case import Scene
from ..verdicts import HOLDS, Finding
from .bottleneck_fairness import proportional

__all__ = ["NAME", "check"]

NAME = "single-resource-fairness"


def check(scene: Scene) -> Finding:
    """Compare shares of the only resource."""
    if scene.cluster.m > 1:
        return Finding(NAME, HOLDS, note=f"says nothing of {scene.cluster.m} resources")
    if scene.cluster.machines is not None:
        return Finding(NAME, HOLDS, note="says nothing of machines")
    return proportional(scene, NAME, 0)
