# SPDX-License-Identifier: MIT
"""Numbers about numbers: medians, smoothed distributions, reduced lines, short labels."""

from __future__ import annotations

import math
from typing import Tuple

import numpy

from ..run import Floats, Points


def finite(values: Floats) -> Floats:
    """Those that are neither NaN nor infinite."""
    known: Floats = values[numpy.isfinite(values)]
    return known


def median(values: Floats) -> float:
    """Of the values that are not NaN; NaN if there are none."""
    known = values[~numpy.isnan(values)]
    return float(numpy.median(known)) if known.size else math.nan


def last_part(values: Floats, fraction: float) -> Floats:
    """The last of them: this fraction of their number, at least one if there is any."""
    count = min(values.size, math.ceil(fraction * values.size - 1e-9))
    return values[values.size - count:]


def kernel_width(values: Floats) -> float:
    """Silverman's width for a Gaussian kernel; 0 if the values are all the same."""
    known = finite(values)
    if known.size < 2:
        return 0.0
    low, high = numpy.quantile(known, [0.25, 0.75])
    deviation = float(numpy.std(known, ddof=1))
    spread = float(high - low) / 1.349
    return float(0.9 * (min(deviation, spread) if spread > 0 else deviation) * known.size**-0.2)


def density(values: Floats, low: float, high: float, bins: int, width: float) -> Tuple[Floats, Floats]:
    """A smoothed distribution at the middles of bins; of mass 1 if all values lie well inside.

    Counts first and smooths the counts, so that a million values cost no more than a few.
    """
    known = finite(values)
    counts, edges = numpy.histogram(known[(known >= low) & (known <= high)], bins, (low, high))
    middles: Floats = (edges[:-1] + edges[1:]) / 2
    kernel = max(width, (high - low) / bins)
    weights = numpy.exp(-0.5 * ((middles[:, None] - middles[None, :]) / kernel) ** 2)
    factor = 1 / (max(1, known.size) * kernel * math.sqrt(2 * math.pi))
    smoothed: Floats = factor * (weights @ counts.astype(numpy.float64))
    return middles, smoothed


def reduced(points: Points, most: int) -> Tuple[Points, Floats, Floats]:
    """At most so many points with the smallest and largest value of the stretch that each stands for."""
    steps, values = points
    if values.size <= most:
        return points, values, values
    starts = numpy.linspace(0, values.size, most, endpoint=False).astype(numpy.int64)
    ends = numpy.append(starts[1:], values.size) - 1
    low: Floats = numpy.fmin.reduceat(values, starts)
    high: Floats = numpy.fmax.reduceat(values, starts)
    return Points(steps[ends], values[ends]), low, high


def short_number(value: float, digits: int = 3) -> str:
    """A few significant digits with a true minus sign.

    >>> short_number(-0.012345), short_number(1234.5), short_number(1.5e-7)
    ('−0.0123', '1234', '1.5e−7')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size == 0:
        return "0"
    if 1e-3 <= size < 1e5:
        text = str(round(value)) if size >= 10**digits else f"{value:.{digits}g}"
        text = f"{float(text):g}" if "e" in text else text
    else:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return text.replace("-", "−")


def short_count(count: int) -> str:
    """A number of things.

    >>> short_count(999), short_count(1234), short_count(4100000)
    ('999', '1.2k', '4.1M')
    """
    rest = float(count)
    for unit in ("", "k", "M", "G"):
        if abs(rest) < 999.5:
            is_whole = unit == "" or abs(rest) >= 9.95
            return f"{round(rest) if is_whole else float(f'{rest:.1f}'):g}{unit}"
        rest /= 1000
    return short_number(count, 2)
