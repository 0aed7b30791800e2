# SPDX-License-Identifier: MIT
"""Entries of all individual gradients at one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from ..run import Histogram, Run
from . import _palette
from ._instrument import histogram_at, instrument
from ._statistics import short_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Counts:
    """A histogram with logarithmic counts; what lies outside its range stands apart at the ends."""

    histogram: Histogram
    name: str

    def paint(self, axes: "Axes") -> None:
        step, (edges,), counts, below, above, nans = self.histogram
        low, high = float(edges[0]), float(edges[-1])
        width = 0.06 * (high - low)
        axes.set_yscale("log")
        most = max(int(counts.max(initial=0)), below, above, nans, 2)
        axes.set_ylim(0.5, most * 2.5)
        if counts.any():
            axes.stairs(counts, edges, baseline=0.5, fill=True, color=_palette.LINES[0], alpha=0.45)
            axes.stairs(counts, edges, baseline=None, color=_palette.LINES[0], linewidth=1.1)
        else:
            axes.text(0.5, 0.5, "no entries in this range", transform=axes.transAxes, ha="center", color=_palette.FAINT)
        caps = [("below", below, low - 1.5 * width), ("above", above, high + 1.5 * width)]
        if nans:
            caps.append(("NaN", nans, high + 3.0 * width))
        for name, count, place in caps:
            color = _palette.BAD if name == "NaN" else _palette.WARNING
            axes.bar(place, max(count - 0.5, 0), width, bottom=0.5, color=color, alpha=0.75)
            axes.annotate(
                f"{name}\n{short_count(count)}", (place, max(count, 0.5)), xytext=(0, 3), textcoords="offset points",
                ha="center", fontsize=8, color=_palette.TEXT if count else _palette.FAINT,
            )
        axes.set(xlim=(low - 2.6 * width, caps[-1][2] + 1.1 * width), xlabel=self.name, ylabel="entries")
        axes.set_xticks([tick for tick in axes.get_xticks() if low <= tick <= high])
        axes.grid(False, axis="x")
        axes.set_title(f"step {step}", loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT)


@instrument("Gradient entries", "gradients", 20, reads=["grad_hist_1d"])
def grad_hist_1d(run: Run, step: int) -> Optional[Counts]:
    """Entries of all individual gradients at one step."""
    histogram = histogram_at(run, "grad_hist_1d", step)
    return None if histogram is None else Counts(histogram, "gradient entry")
