# SPDX-License-Identifier: MIT
"""Where on a standardised parabola the steps end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

import numpy

from ..run import Floats, Run
from . import _palette
from ._instrument import instrument
from ._lines import legend_above
from ._statistics import density, finite, kernel_width, last_part, median, short_count, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 2  # alphas shown: from -REACH to REACH
ZONES = [
    ("uphill", -REACH, -1, _palette.BAD), ("short", -1, 0, _palette.LINES[0]), ("beyond", 0, 1, _palette.GOOD),
    ("overshoot", 1, REACH, _palette.WARNING),
]
LANDMARKS = {-2: "−2", -1: "−1 start", 0: "0 bottom", 1: "1 mirror", 2: "2"}


@dataclass
class AlphaGauge:
    """The distribution of alpha over the run and over its last tenth, over a parabola."""

    values: Floats

    def paint(self, axes: "Axes") -> None:
        axes.set(xlim=(-REACH, REACH), ylim=(0, 1), yticks=[], xlabel="alpha: where on the parabola a step ends")
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.set_xticks(list(LANDMARKS), list(LANDMARKS.values()))
        for name, low, high, color in ZONES:
            axes.axvspan(low, high, color=color, alpha=0.07, linewidth=0)
            axes.text((low + high) / 2, 0.985, name, ha="center", va="top", fontsize=8, color=_palette.FAINT)
        parts = [("all", self.values, _palette.FAINT), ("last 10 %", last_part(self.values, 0.1), _palette.LINES[0])]
        curves = [_curve(values) for _, values, _ in parts]
        most = max(float(curve.max(initial=0)) for _, curve in curves)
        handles = []
        for (name, values, color), (places, curve) in zip(parts, curves):
            label = f"{name} ({short_count(values.size)}) median {short_number(median(values), 2)}"
            heights = curve / most * 0.8 if most > 0 else curve
            handles.append(axes.fill_between(places, heights, color=color, alpha=0.28, linewidth=0, label=label))
            axes.plot(places, heights, color=color, linewidth=1.3)
            axes.axvline(median(values), ymax=0.92, color=color, linewidth=1.3, linestyle=(0, (4, 3)))
        legend_above(axes, handles)
        line = numpy.linspace(-REACH, REACH, 81)
        axes.plot(line, 0.92 * line**2 / REACH**2, color=_palette.TEXT, linewidth=1.8, alpha=0.75)
        marks = numpy.array([-1.0, 0.0, 1.0])
        axes.plot(marks, 0.92 * marks**2 / REACH**2, "o", color=_palette.TEXT, markersize=5, clip_on=False, zorder=5)
        self._tell_outside(axes, most)

    def _tell_outside(self, axes: "Axes", most: float) -> None:
        if most <= 0:
            axes.text(0, 0.5, "no alpha within this range", ha="center", color=_palette.FAINT)
        below, above = int((self.values < -REACH).sum()), int((self.values > REACH).sum())
        nans = int(numpy.isnan(self.values).sum())
        for count, place, text, side in [
            (below, 0.01, f"◂ {short_count(below)}", "left"), (above, 0.99, f"{short_count(above)} ▸", "right"),
            (nans, 0.99, f"{short_count(nans)} NaN", "right"),
        ]:
            if count:
                height = 0.14 if "NaN" in text and above else 0.04
                axes.text(place, height, text, transform=axes.transAxes, ha=side, fontsize=8, fontweight="bold")


def _curve(values: Floats) -> "tuple[Floats, Floats]":
    known = finite(values)
    width = max(kernel_width(known[numpy.abs(known) <= REACH]), 0.04)
    return density(values, -REACH, REACH, 160, width)


@instrument("Alpha", "step_size", 10, reads=["alpha"])
def alpha(run: Run, step: int) -> Optional[AlphaGauge]:
    """Where on a standardised parabola the steps end, over all steps up to one and over the last tenth of them."""
    points = run.get("alpha")
    if points is None or points.values.size == 0:
        return None
    # Before the first recorded step the first stands for what is not known yet.
    return AlphaGauge(points.values[(points.steps <= step) | (points.steps == points.steps[0])])
