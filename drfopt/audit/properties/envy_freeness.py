"""Envy-freeness: nobody would run more tasks with what another user holds.

    x[i] >= tasks that user i could run in (w[i] / w[k]) of what user k holds,     for all i, k;

on machines class by class, on the classes that user i may use.  Without the weights, envy has no meaning where weights
differ: who counts twice holds more.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from dataclasses import dataclass

from ..bounds import Number, shown
from ..scene import Scene
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = ["NAME", "Envy", "check"]

NAME = "envy-freeness"

BY_PRICES = "a bundle it would rather have costs more than its income, scaled to its weight"
"""Why it holds at an equilibrium however its prices are enclosed."""


@dataclass(frozen=True)
class Envy(Witness):
    """A user who would rather have what another holds."""

    property = NAME
    user: str
    other: str
    tasks: Number
    instead: Number
    scaled: bool = False

    def __str__(self) -> str:
        what = f"what user {self.other} holds" + (", scaled to its own weight" if self.scaled else "")
        return f"user {self.user} runs {shown(self.tasks)} tasks, but would run {shown(self.instead)} with {what}"


def check(scene: Scene) -> Finding:
    """Compare every user's tasks with those she could run on the bundle of every other."""
    count, truth, cluster = Count(), scene.shared, scene.cluster
    packed = truth.packing is not None
    note = "as the tasks are packed here, one way of several" if packed else ""
    for i, user in enumerate(cluster.users):
        for k, other in enumerate(cluster.users):
            if i == k:
                continue
            instead = scene.of_another(i, k)
            if count.falls(truth.tasks[i], instead):
                scaled = cluster.weights[i] != cluster.weights[k]
                witness = Envy(user, other, truth.tasks[i], instead, scaled)
                return Finding(NAME, FAILS, witness, exact=not truth.computed, note=note, tied=truth.tied or packed)
    settled = BY_PRICES if scene.fair_market else ""
    return count.finding(NAME, exact=not truth.computed, settled=settled, note=note, tied=truth.tied or packed)
