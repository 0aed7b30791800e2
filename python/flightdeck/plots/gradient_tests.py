# SPDX-License-Identifier: MIT
"""Scatter of the gradient as disc and bands around its tip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional

import numpy

from ..run import Points, Run
from . import _palette
from ._instrument import instrument
from ._lines import legend_above
from ._statistics import finite, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEFORE = 16  # rings of earlier steps
MOST = 6.0  # no scatter beyond it is shown whole: the arrow has to remain visible
NAMES = {"norm": "norm_test", "along": "inner_test", "across": "ortho_test"}
COLORS = dict(zip(NAMES, _palette.LINES))


@dataclass
class GradientGauge:
    """The mean gradient as an arrow of length 1, the scatter around its tip, and its history beside."""

    step: int
    steps: "numpy.typing.NDArray[numpy.int64]"
    histories: Dict[str, Points]

    def paint(self, axes: "Axes") -> None:
        axes.set_axis_off()
        now = self._at(self.step)
        gauge = axes.inset_axes((0.0, 0.0, 0.64, 1.0))
        self._paint_gauge(gauge, now)
        self._paint_histories(axes)
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: List[object] = [
            Patch(color=COLORS[name], alpha=0.75, label=f"{name} {short_number(value)}") for name, value in now.items()
        ]
        handles.append(Line2D([], [], color=_palette.FAINT, linestyle=(0, (4, 3)), linewidth=1, label="noise = signal"))
        legend_above(axes, handles)

    def _at(self, step: int) -> Dict[str, float]:
        found = {name: points.values[points.steps == step] for name, points in self.histories.items()}
        return {name: float(values[0]) for name, values in found.items() if values.size}

    def _paint_gauge(self, gauge: "Axes", now: Dict[str, float]) -> None:
        from matplotlib.patches import Circle

        every = finite(numpy.concatenate([points.values for points in self.histories.values()]))
        reach = min(MOST, max(1.1, 1.08 * float(numpy.quantile(every, 0.95)) if every.size else 0.0))
        left = min(-0.2, 1 - reach)
        gauge.set(xlabel="along the mean (length 1)", ylabel="across")
        # No more than needed to cover the picture: infinity is a value too.
        sizes = {name: min(value, 100.0) for name, value in now.items() if value >= 0}
        if "across" in sizes:
            gauge.axhspan(-sizes["across"], sizes["across"], facecolor=COLORS["across"], alpha=0.2)
            for sign in (-1, 1):
                gauge.axhline(sign * sizes["across"], color=COLORS["across"], linewidth=1)
        if "along" in sizes:
            gauge.axvspan(1 - sizes["along"], 1 + sizes["along"], facecolor=COLORS["along"], alpha=0.2)
            for sign in (-1, 1):
                gauge.axvline(1 + sign * sizes["along"], color=COLORS["along"], linewidth=1)
        earlier = self.steps[self.steps < self.step][-BEFORE:]
        for k, step in enumerate(earlier):
            radius = self._at(int(step)).get("norm", numpy.nan)
            if radius >= 0:
                opacity = 0.06 + 0.34 * (k + 1) / earlier.size
                look: Dict[str, Any] = {"edgecolor": COLORS["norm"], "alpha": opacity, "linewidth": 0.8}
                gauge.add_patch(Circle((1, 0), min(radius, 100.0), fill=False, **look))
        gauge.add_patch(
            Circle((1, 0), 1, fill=False, edgecolor=_palette.FAINT, linestyle=(0, (4, 3)), linewidth=1)
        )
        if "norm" in sizes:
            gauge.add_patch(Circle((1, 0), sizes["norm"], facecolor=COLORS["norm"], alpha=0.25))
            gauge.add_patch(Circle((1, 0), sizes["norm"], fill=False, edgecolor=COLORS["norm"], linewidth=1.8))
        gauge.annotate(
            "", (1, 0), (0, 0), zorder=6,
            arrowprops={
                "arrowstyle": "-|>", "color": _palette.TEXT, "linewidth": 2, "mutation_scale": 12, "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        gauge.plot([0], [0], "o", color=_palette.TEXT, markersize=4, zorder=6)
        gauge.text(
            0.98, 0.97, f"step {self.step}", transform=gauge.transAxes, ha="right", va="top", fontsize=8,
            color=_palette.FAINT,
        )
        # The axes may show more than that: a circle stays one whatever their shape.
        gauge.set_xlim(left, 1 + reach, auto=True)
        gauge.set_ylim(-reach, reach, auto=True)
        gauge.set_aspect("equal", adjustable="datalim", anchor="C")

    def _paint_histories(self, axes: "Axes") -> None:
        count = len(self.histories)
        height = (1 - 0.1 * count) / count
        values = finite(numpy.concatenate([points.values for points in self.histories.values()]))
        positive = values[values > 0]
        high = float(positive.max(initial=1)) * 1.3
        low = max(float(positive.min(initial=1)) / 1.3, high * 1e-6)
        for k, (name, points) in enumerate(self.histories.items()):
            spark = axes.inset_axes((0.74, 0.9 - height - k * (height + 0.1), 0.26, height))
            spark.set_yscale("log", nonpositive="mask")
            spark.set_ylim(low, high)
            spark.minorticks_off()
            spark.plot(points.steps, points.values, color=COLORS[name], linewidth=1.1)
            chosen = points.steps == self.step
            spark.plot(points.steps[chosen], points.values[chosen], "o", color=COLORS[name], markersize=4)
            spark.axhline(1, color=_palette.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.8)
            spark.set_title(name, loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT, pad=2)
            spark.tick_params(labelbottom=k == count - 1, labelsize=7)
            if k == count - 1:
                spark.set_xlabel("step")


@instrument("Gradient tests", "gradients", 10, reads=NAMES.values())
def gradient_tests(run: Run, step: int) -> Optional[GradientGauge]:
    """Scatter of the gradient as disc (in all) and bands (along and across) around its tip, as it was at a step."""
    found = {name: run.get(quantity) for name, quantity in NAMES.items()}
    histories = {name: points for name, points in found.items() if points is not None and points.steps.size}
    if not histories:
        return None
    steps = next(iter(histories.values())).steps
    before = steps[steps <= step]
    return GradientGauge(int(before[-1] if before.size else steps[0]), steps, histories)
