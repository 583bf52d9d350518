"""CEEI on machines of users who lie in parts: the method of `barrier` and the digits of `polish`, every pass of them a
sum over the parts.

Who owns a part keeps its users' amounts, reduced costs and marginal utilities, and in the end which classes they use;
prices, and what rows (class, resource) have, are all that travels.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.numbers.double_double import DoubleDouble
from ...base.progress import report
from ...base.states import PartStates
from ...certificates.point_errors import DoublePoint
from ...model.policies import Policy
from ..problem import Problem
from .barrier import Barrier
from .market_part import MarketPart
from .polish import Polish
from .polish_part import PolishPart
from .scaled_market import ScaledMarket, scaled

__all__ = ["MarketUsers", "clear"]


class MarketUsers:
    """The users of a part, at the stage where all parts are.

    Parameters
    ----------
    problem : Problem
    number : int
        Which part it is.
    """

    def __init__(self, problem: Problem, number: int):
        self.problem, self.number = problem, number
        self.stage: Any = ScaledMarket(problem) if problem.n else None

    def __deepcopy__(self, memo: dict) -> "MarketUsers":
        """Return what a pass may change: none writes into an array that was there before."""
        found = copy(self)
        found.stage = copy(self.stage)
        return found

    def passed(self, what: str, told: tuple) -> list | None:
        """Return what a pass of the stage returns; None where nobody takes part."""
        if self.stage is None:
            return None
        with np.errstate(all="ignore"):
            return list(getattr(self.stage, what)(*told))

    @property
    def unplaced(self) -> int:
        """How many can run no task at all."""
        return int(np.count_nonzero(self.problem.unplaced))

    def players(self) -> tuple[int]:
        """Return how many take part."""
        return (self.problem.n,)

    def iterate(self) -> tuple:
        """Go on from scales to the interior point method."""
        self.stage = MarketPart(self.stage, number=self.number) if self.stage is not None else None
        return ()

    def sharpen(self, p: np.ndarray, z: np.ndarray) -> tuple:
        """Go on from the interior point, at prices p and slacks z (k, m), to more digits."""
        if self.stage is not None:
            with np.errstate(all="ignore"):
                self.stage = PolishPart(self.stage.market, self.stage.point(p, z), self.number)
        return ()

    def tasks(self, prices: DoubleDouble) -> tuple[np.ndarray, np.ndarray, np.ndarray, DoublePoint]:
        """Return tasks, levels (n,) and the placement (n, k) of all users of the part, and the point near them."""
        problem, instance = self.problem, self.problem.instance
        tasks, placement = np.zeros(instance.n), np.zeros((instance.n, instance.k))
        users = classes = np.zeros(0, dtype=np.intp)
        amounts = DoubleDouble(np.zeros(0))
        if self.stage is not None:
            part: PolishPart = self.stage
            amounts, tasks[problem.members] = part.answer()
            users, classes = problem.members[part.user], part.place
            placement[users, classes] = amounts.high
        return tasks, problem.all_rates * tasks, placement, DoublePoint(users, classes, amounts, prices)


class _Passes:
    """The stage of parts, as its method is told of them."""

    def __init__(self, states: PartStates):
        self.states = states

    def look(self, what: str, *told: Any) -> list:
        return self.states.look("passed", what, told)

    def change(self, what: str, *told: Any) -> list:
        return self.states.change("passed", what, told)


def clear(
    states: PartStates,
    policy: Policy,
    shape: tuple[int, int],
    called: Callable[[int, int], str],
    deadline: Deadline,
) -> tuple[DoubleDouble, np.ndarray]:
    """Bring the parts to the optimum; return the prices (k, m) of one unit there, to 32 digits and as they are told.

    Parameters
    ----------
    states : PartStates of MarketUsers
    shape : tuple
        (k, m).
    called : callable
        What a user is called in a sentence, from the number of its part and its row there.

    Raises
    ------
    SolverError, TimeLimitError
    """
    states.said = "scales"
    if not states.look("players")[0]:
        return DoubleDouble(np.zeros(shape)), np.zeros(shape)
    passes = _Passes(states)

    def watch(state: str, gap: str = "") -> None:
        states.said = f"{state}, {gap}" if gap else state
        report(states.said)
        deadline.check("the market", states.said)

    log_money = scaled(passes)
    states.change("iterate")
    p, z = Barrier(passes, policy.alpha, called).run(watch)
    states.said = "digits"
    states.change("sharpen", p, z)
    method = Polish(policy, log_money, called)
    with np.errstate(all="ignore"):
        prices = method.run(passes, p, z, watch)
        return prices.scaled(method.money), method.told(prices)
