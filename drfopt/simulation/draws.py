"""Times that are drawn: distributions by name, each with its parameters, the same under every rule.

A job draws from a stream of its own, named by the seed, the replication, the user and the job.  What one rule does with
a task therefore changes no draw of another task: rules are compared on common random numbers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import InstanceError
from ..base.numbers.shown import changing
from ..base.registry import Registry

__all__ = ["DISTRIBUTIONS", "LATEST", "Distribution", "Draw", "Times", "checked_times", "stream", "times"]

LATEST = 1e100
"""Seconds of the latest moment, and of the longest time: what rules make of more is beyond the range of floats."""


@dataclass(frozen=True)
class Distribution:
    """A law of positive times: its name, its parameters, how numbers are drawn by it, and its mean."""

    name: str
    parameters: tuple[str, ...]
    numbers: Callable[..., np.ndarray]
    mean: Callable[..., float]


DISTRIBUTIONS = Registry(
    Distribution(
        "exponential", ("mean",), lambda random, size, mean: random.exponential(mean, size), lambda mean: mean
    ),
    Distribution(
        "uniform",
        ("low", "high"),
        lambda random, size, low, high: random.uniform(low, high, size),
        lambda low, high: (low + high) / 2,
    ),
    Distribution(
        "lognormal",
        ("median", "sigma"),
        lambda random, size, median, sigma: median * np.exp(sigma * random.standard_normal(size)),
        lambda median, sigma: median * math.exp(sigma * sigma / 2),
    ),
    Distribution(
        "weibull",
        ("scale", "shape"),
        lambda random, size, scale, shape: scale * random.weibull(shape, size),
        lambda scale, shape: scale * math.gamma(1 + 1 / shape),
    ),
    Distribution(
        "pareto",
        ("least", "tail"),
        lambda random, size, least, tail: least * (1 + random.pareto(tail, size)),
        lambda least, tail: least * tail / (tail - 1) if tail > 1 else math.inf,
    ),
    what="distribution",
    error=InstanceError,
)
"""Laws by which times are drawn; in a file ``{ distribution = "exponential", mean = 10 }``."""

SHORTEST = 1e-9
"""Seconds: a time drawn below this is raised to it, so that no task ends in the moment in which it starts."""


@dataclass(frozen=True)
class Draw:
    """A time that is drawn: ``Draw("exponential", mean=10)``.

    Raises
    ------
    InstanceError
        When the distribution is unknown, or a parameter is missing, unknown or not positive.
    """

    distribution: str
    parameters: tuple[float, ...]

    def __init__(self, distribution: str, **parameters: Any):
        wanted = DISTRIBUTIONS.named(distribution).parameters
        if set(parameters) != set(wanted):
            raise InstanceError(
                f"{distribution} is given {', '.join(parameters) or 'nothing'}: it takes {' and '.join(wanted)}"
            )
        object.__setattr__(self, "distribution", distribution)
        object.__setattr__(self, "parameters", tuple(_positive(parameters[name], name) for name in wanted))
        if distribution == "uniform" and self.parameters[0] > self.parameters[1]:
            low, high = changing(self.parameters[0], self.parameters[1])
            raise InstanceError(f"uniform has low {low} above high {high}: swap them")
        try:
            _ = self.mean
        except OverflowError:
            given = ", ".join(f"{name} {value:g}" for name, value in zip(wanted, self.parameters, strict=True))
            raise InstanceError(f"{distribution} of {given} has a mean beyond the range of floats") from None

    @property
    def law(self) -> Distribution:
        """The row of `DISTRIBUTIONS`."""
        return DISTRIBUTIONS.named(self.distribution)

    @property
    def mean(self) -> float:
        """The expected time in seconds; inf where there is none."""
        return self.law.mean(*self.parameters)

    def numbers(self, random: np.random.Generator, size: int) -> np.ndarray:
        """Return `size` times (size,) in seconds."""
        return np.clip(self.law.numbers(random, size, *self.parameters), SHORTEST, LATEST)


Times = float | Draw | tuple[float, ...] | None
"""A time for each of some tasks: one number, a law, one each, or None for what never ends."""


def stream(*names: int) -> np.random.Generator:
    """Return the stream of random numbers of that name: seed, replication, user, job ..."""
    return np.random.default_rng(names)


def times(law: Times, random: np.random.Generator, size: int) -> float | np.ndarray:
    """Return one time for all of `size` tasks, or a time each (size,)."""
    if isinstance(law, Draw):
        return law.numbers(random, size)
    if isinstance(law, tuple):
        return np.array(law)
    return math.inf if law is None else law


def checked_times(value: Any, what: str, tasks: int | None = None) -> Times:
    """Return a time as it is kept: a positive float, a `Draw`, a tuple of floats, or None.

    Raises
    ------
    InstanceError
        When it is none of these, not positive, or a list that is not one time for each of `tasks`.
    """
    if value is None or isinstance(value, Draw):
        return value
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if tasks is None or len(value) != tasks:
            raise InstanceError(f"{what}: there are {len(value)} times for {tasks or 'endless'} tasks: give one each")
        return tuple(_positive(one, what) for one in value)
    return _positive(value, what)


def _positive(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not 0 < number <= LATEST:
        most = f" of at most {LATEST:g}" if number > LATEST else ""
        raise InstanceError(f"{what} is {value!r}: write a positive number{most}")
    return number
