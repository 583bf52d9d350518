"""Scales, their ticks, and the marks of axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..drawing import Line, Mark, Words
from ..numbers import number

__all__ = ["PANEL", "Scale", "linear", "logarithmic", "names_for", "x_axis", "y_axis"]

PANEL = 340.0
"""Width of a panel: what a telephone has, so that letters need not be made smaller there."""

SMALL = 11.0
"""Height of letters at ticks."""

TICKS = 5

FLAT = 1e-6
"""Values that differ by less than this part of them are drawn as equal: what is left is rounding."""


@dataclass(frozen=True)
class Scale:
    """From values to pixels."""

    low: float
    high: float
    ticks: tuple[float, ...]
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value in pixels."""
        if self.log:
            value = max(value, self.low)
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)


def linear(
    values: Sequence[float],
    first: float,
    last: float,
    *,
    zero: bool = False,
    least: float = FLAT,
    most: float | None = None,
) -> Scale:
    """Return a scale from `first` to `last` pixels that holds the values, its ends on ticks.

    It spans at least the part `least` of the largest value: a difference that means nothing shall not look large; and
    nothing beyond `most`, which is the largest value there can be.
    """
    low, high = min(values), max(values)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    size = max(abs(high), abs(low))
    if high - low <= FLAT * size:
        # One value only: it stands in the middle.
        room = size / 2 or 1.0
        low, high = (low, high + room) if zero else (low - room, high + room)
    elif (room := (least * size - (high - low)) / 2) > 0:
        low, high = low - room, high + room
    if most is not None and high > most:
        low, high = low - (high - most), most
    step = _step((high - low) / (TICKS - 1))
    start, end = math.floor(low / step + FLAT), math.ceil(high / step - FLAT)
    ticks = tuple(i * step for i in range(start, end + 1))
    return Scale(ticks[0], ticks[-1], ticks, first, last)


def logarithmic(values: Sequence[float], first: float, last: float) -> Scale:
    """Return a scale of powers of ten that holds the positive values."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    high = max(high, low + 1)
    every = -(-(high - low) // TICKS)
    ticks = tuple(10.0**power for power in range(low, high + 1, every))
    return Scale(10.0**low, 10.0**high, ticks, first, last, log=True)


def _step(rough: float) -> float:
    """Return the least of 1, 2, 2.5, 5, 10 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next((m * power for m in (1, 2, 2.5, 5) if m * power >= rough * (1 - FLAT)), 10 * power)


def names_for(ticks: Sequence[float], *, share: bool = False) -> list[str]:
    """Return what stands at the ticks, in as many digits as tell them apart."""
    shown = [100 * tick if share else tick for tick in ticks]
    digits = next((d for d in range(3, 12) if len({number(tick, d) for tick in shown}) == len(shown)), 12)
    # One more: 69.975 and 70 differ in three digits, but 69.98 is not what the first one is.
    exact = all(abs(float(f"{tick:.{digits - 1}e}") - tick) <= FLAT * abs(tick) for tick in shown)
    names = [number(tick, digits if exact else digits + 1) for tick in shown]
    return [f"{name} %" if share else name for name in names]


def y_axis(scale: Scale, left: float, right: float, *, share: bool = False, title: str = "") -> list[Mark]:
    """Return lines across the panel at every tick, named at the left."""
    marks: list[Mark] = []
    for tick, name in zip(scale.ticks, names_for(scale.ticks, share=share), strict=True):
        y = scale(tick)
        marks.append(Line(((left, y), (right, y)), "line"))
        marks.append(Words(left - 6, y + 4, name, "end", "muted", SMALL))
    if title:
        marks.append(Words(left - 6, scale.last - 12, title, "start", "muted", SMALL))
    return marks


def x_axis(scale: Scale, top: float, bottom: float, *, share: bool = False, title: str = "") -> list[Mark]:
    """Return short lines below the panel at every tick, named below them, and the title in the middle."""
    marks: list[Mark] = [Line(((scale.first, bottom), (scale.last, bottom)), "outline")]
    names = names_for(scale.ticks, share=share)
    room = abs(scale.last - scale.first) / max(1, len(names) - 1)
    every = 1 if all(len(name) * SMALL * 0.6 < room - 6 for name in names) else 2
    for place, (tick, name) in enumerate(zip(scale.ticks, names, strict=True)):
        x = scale(tick)
        marks.append(Line(((x, top), (x, bottom)), "line"))
        if place % every == 0:
            marks.append(Words(x, bottom + 16, name, "middle", "muted", SMALL))
    if title:
        marks.append(Words((scale.first + scale.last) / 2, bottom + 34, title, "middle", "muted", SMALL))
    return marks
