"""What a user can gain by a lie: the report, what it brings her, and whether nothing brings more."""

from dataclasses import dataclass
from fractions import Fraction

from ..bounds import Number, times
from ..case import Scene
from ..economy import Row

__all__ = ["Response", "rescaled", "worth"]


@dataclass(frozen=True)
class Response:
    """A user's best known response to the truthful reports of the others.

    Attributes
    ----------
    report : (m,) or None
        A demand she may claim; None where no lie brings more than the truth.
    value : Number or None
        The tasks she runs with what the report brings, recomputed from the policy's outcome.
    most : Number or None
        What no report exceeds, where that is known; it need not be attained.
    decided : bool
        Whether `report` being None means that there is none.
    trials : int
        Reports that were tried where trying was all that could be done.
    tied : bool
        Whether the outcome rests on how the policy breaks a tie; of an undecided response, that every gain does.
    within : Fraction
        By how much of the truth a lie may still gain where that there is none is decided up to a bound only.
    """

    report: Row | None
    value: Number | None
    most: Number | None = None
    decided: bool = True
    trials: int = 0
    tied: bool = False
    within: Fraction = Fraction(0)


def worth(scene: Scene, i: int, report: Row) -> tuple[Number, bool]:
    """Return the tasks user i runs with what the report brings her, and whether a tie was broken for it."""
    found = scene.run(scene.cluster.reporting(i, report))
    each = scene.per_task(i, report)
    if scene.cluster.machines is None or scene.integer:
        return scene.limited(i, times(each, found.tasks[i])), found.tied
    mine = {k for k, _ in scene.cluster.classes(i)}
    amounts = [z for k, z in enumerate(found.amounts(i)) if k in mine]
    from ..bounds import total

    return scene.limited(i, times(each, total(amounts))), found.tied


def rescaled(scene: Scene, i: int, bundle: Row) -> Row:
    """Return the report in proportion to the bundle that equals the true demand where the bundle binds her."""
    each = scene.per_task(i, bundle)
    return tuple(b / each for b in bundle)
