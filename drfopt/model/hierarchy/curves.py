"""Curves of what many use together as their levels rise: points joined by straight lines, in floats or in fractions.

A curve has a level and an amount of every column at each point; neither ever falls.  Where the level stands still and
amounts do not, the curve *jumps*.  The same code serves floats and `Fraction`s (arrays of objects).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Curve", "Segments", "envelope", "first_full", "joined", "snapped", "summed"]


TOGETHER = 1e-12
"""Distance of two levels that rounding can make, relative to what they are the difference of."""

STEEP = 1e3
"""Times the mean slope of a sum; what is steeper is added by itself, so that its rounding ends with it."""


@dataclass(frozen=True, eq=False)
class Segments:
    """Straight pieces of curves: from level `begin` to `end` (s,), amounts grow by `gain` (s, columns).

    Of a piece of a jump, where both levels are one, `parts` (s, 2) are what is gained before and after it, in the unit
    that those who jump have in common.
    """

    begin: np.ndarray
    end: np.ndarray
    gain: np.ndarray
    parts: np.ndarray


@dataclass(frozen=True, eq=False)
class Curve:
    """Points in order, amounts `use` (points, columns) at the time (points,) of whoever put them together.

    Where the time stands still, amounts go from one value to another, and `part` (points,) is what those have gained
    who have gained most.
    """

    time: np.ndarray
    part: np.ndarray
    use: np.ndarray


def joined(pieces: list[Segments]) -> Segments:
    """Return the segments of several lists as one."""
    return Segments(
        np.concatenate([piece.begin for piece in pieces]),
        np.concatenate([piece.end for piece in pieces]),
        np.concatenate([piece.gain for piece in pieces]),
        np.concatenate([piece.parts for piece in pieces]),
    )


def snapped(levels: list[np.ndarray], offset: Any) -> list[np.ndarray]:
    """Return levels in which those that differ by rounding are one, so that what happens together stays together.

    `offset` is the largest number that was taken off to make a level: its rounding is in them.
    """
    if not levels or levels[0].dtype == object:
        return levels
    order, back = np.unique(np.concatenate(levels), return_inverse=True)
    apart = np.concatenate([[True], np.diff(order) > TOGETHER * (order[1:] + offset)])
    first = np.maximum.accumulate(np.where(apart, np.arange(len(order)), 0))
    return np.split(order[first][back], np.cumsum([len(each) for each in levels])[:-1])


def summed(base: np.ndarray, segments: Segments) -> Curve:
    """Return the sum of all segments over their common time, on top of `base` (columns,)."""
    begin, end, gain = segments.begin, segments.end, segments.gain
    zero = base - base
    times, point = np.unique(np.concatenate([begin, end]), return_inverse=True)
    opens, closes = point[: len(begin)], point[len(begin) :]
    slopes = np.full((len(times), len(base)), zero[0])
    leaps = slopes.copy()
    steady = np.asarray(opens != closes)
    slope = gain[steady] / (end - begin)[steady, None]
    steep = _steep(slope, gain[steady], times)
    gentle = np.flatnonzero(steady)[~steep]
    np.add.at(slopes, opens[gentle], slope[~steep])
    np.subtract.at(slopes, closes[gentle], slope[~steep])
    np.add.at(leaps, opens[~steady], gain[~steady])
    steps = np.concatenate([leaps[:1], np.cumsum(slopes, axis=0)[:-1] * np.diff(times)[:, None] + leaps[1:]])
    after = base + np.cumsum(steps, axis=0)
    for s in np.flatnonzero(steady)[steep].tolist():
        way = np.clip((times - begin[s]) / (end[s] - begin[s]), 0, 1)
        after += way[:, None] * gain[s]
    part = np.full(len(times), zero[0])
    return _with_jumps(Curve(times, part, np.maximum.accumulate(after, axis=0)), leaps, segments, ~steady)


def _with_jumps(curve: Curve, leaps: np.ndarray, segments: Segments, jumps: np.ndarray) -> Curve:
    """Return a curve of points after all jumps at their times with the points on the way of each jump before them."""
    pieces = []
    for k in np.flatnonzero((leaps > 0).any(axis=1)).tolist():
        here = np.flatnonzero(jumps & (segments.begin == curve.time[k]))
        first, last, gain = segments.parts[here, 0], segments.parts[here, 1], segments.gain[here]
        moving = last > first
        first, last, gain = first[moving], last[moving], gain[moving]
        zero = curve.part[k]
        parts = np.unique(np.concatenate([[zero], first, last]))
        ways = np.clip((parts[:, None] - first) / (last - first), zero, zero + 1)
        use = curve.use[k] - leaps[k] + ways @ gain
        # At the last point those have all that they gain who gain it at once.
        pieces.append((k, parts, np.maximum.accumulate(use[: max(len(parts) - 1, 1)], axis=0)))
    time, part, use, added = curve.time, curve.part, curve.use, 0
    for k, parts, on_the_way in pieces:
        at, many = k + added, len(on_the_way)
        part = np.concatenate([part[:at], parts[:many], parts[-1:], part[at + 1 :]])
        time = np.concatenate([time[:at], np.repeat(time[at], many), time[at:]])
        use = np.concatenate([use[:at], on_the_way, use[at:]])
        added += many
    return Curve(time, part, np.maximum.accumulate(use, axis=0))


def _steep(slope: np.ndarray, gain: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Say which slopes (s, columns) are so large that adding them and taking them off again would leave too much."""
    if slope.dtype == object or len(slope) == 0:
        return np.zeros(len(slope), dtype=bool)
    return np.asarray((slope * (times[-1] - times[0]) > STEEP * gain.sum(axis=0)).any(axis=1))


def envelope(curve: Curve, rows: np.ndarray, offsets: np.ndarray) -> tuple[Curve, np.ndarray]:
    """Return the curve with a point more wherever another row becomes the largest, and that largest at each point.

    Parameters
    ----------
    rows : array (r, columns), offsets : array (r,)
        A row is worth ``rows @ use - offsets``.
    """
    zero = offsets[0] - offsets[0]
    time, part, use = curve.time, curve.part, curve.use
    level = (use @ rows.T - offsets).max(axis=1)
    for _ in range(len(rows)):
        values = use @ rows.T - offsets
        best = values.argmax(axis=1)
        here = np.arange(len(use) - 1)
        now, then = best[:-1], best[1:]
        ahead = values[here, now] - values[here, then]
        behind = values[here + 1, then] - values[here + 1, now]
        cross = np.flatnonzero((ahead > 0) & (behind > 0))
        if not len(cross):
            break
        fraction = ahead[cross] / (ahead[cross] + behind[cross])
        between = use[cross] + (use[cross + 1] - use[cross]) * fraction[:, None]
        still = time[cross] == time[cross + 1]
        parts = np.where(still, part[cross] + (part[cross + 1] - part[cross]) * fraction, zero)
        # Along a row that stands still the level does so to the last digit.
        first, last = values[cross, now[cross]], values[cross + 1, now[cross]]
        reached = first + (last - first) * fraction
        use = np.insert(use, cross + 1, between, axis=0)
        level = np.insert(level, cross + 1, reached)
        time = np.insert(time, cross + 1, time[cross] + (time[cross + 1] - time[cross]) * fraction)
        part = np.insert(part, cross + 1, parts)
    largest = (use @ rows.T - offsets).max(axis=1)
    rounding = TOGETHER * (largest + offsets.max()) if level.dtype == float else 0
    return Curve(time, part, use), np.maximum.accumulate(np.where(largest > level + rounding, largest, level))


def first_full(curve: Curve, room: dict[int, Any], reached: bool = False) -> tuple[int, Any, list[int]] | None:
    """Return where a curve first has more than the room in some column: the point before, how far to the next, columns.

    None where that never happens.  A column that is too full at the first point says: there.  With `reached` it is
    enough to have just the room.
    """
    found: list[tuple[int, Any, int]] = []
    for column, most in room.items():
        use = curve.use[:, column]
        over = np.flatnonzero(use >= most if reached else use > most)
        if not len(over):
            continue
        k = int(over[0])
        before = use[max(k - 1, 0)]
        way = (most - before) / (use[k] - before) if k else 1
        found.append((max(k - 1, 0), way if k else most - most, column))
    if not found:
        return None
    first = min(found)[:2]
    return (*first, [column for *point, column in found if tuple(point) == first])
