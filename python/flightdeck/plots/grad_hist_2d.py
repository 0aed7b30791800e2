# SPDX-License-Identifier: MIT
"""Gradient entries against the parameters they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Optional

import numpy

from ..run import Histogram, Run
from . import _palette
from ._instrument import histogram_at, instrument
from ._statistics import short_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class JointCounts:
    """A heat map with logarithmic colours, its sums over either axis at the top and at the right."""

    histogram: Histogram
    rows: str
    columns: str

    def paint(self, axes: "Axes") -> None:
        from matplotlib.colors import LogNorm

        step, (rows, columns), counts, *_ = self.histogram
        axes.set_axis_off()
        axes.set_title(f"step {step}", loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT)
        heat = axes.inset_axes((0.0, 0.0, 0.84, 0.82))
        heat.set(xlabel=self.columns, ylabel=self.rows, xlim=columns[[0, -1]], ylim=rows[[0, -1]])
        if not counts.any():
            heat.text(0.5, 0.5, "no entries", transform=heat.transAxes, ha="center", color=_palette.FAINT)
            return
        most = int(counts.max())
        norm = LogNorm(1, max(most, 2))
        shown = heat.pcolormesh(
            columns, rows, numpy.ma.masked_equal(counts, 0), cmap=_palette.heat(), norm=norm, rasterized=True
        )
        look: Dict[str, Any] = {"color": _palette.LINES[0], "alpha": 0.4, "fill": True}
        top = axes.inset_axes((0.0, 0.845, 0.84, 0.155), sharex=heat)
        top.stairs(counts.sum(0), columns, baseline=0.5, **look)
        right = axes.inset_axes((0.86, 0.0, 0.14, 0.82), sharey=heat)
        right.stairs(counts.sum(1), rows, baseline=0.5, orientation="horizontal", **look)
        top.set_yscale("log")
        right.set_xscale("log")
        for side in (top, right):
            side.grid(False)
            side.set_xticks([], minor=True)
            side.set_yticks([], minor=True)
            side.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
            side.spines[:].set_visible(False)
        top.set_ylim(0.5, None)
        right.set_xlim(0.5, None)
        key = axes.inset_axes((0.86, 0.86, 0.14, 0.035))
        axes.figure.colorbar(shown, cax=key, orientation="horizontal")
        key.minorticks_off()
        key.set_xticks([1, norm.vmax or 2], ["1", short_count(most)])
        key.tick_params(length=0, labelsize=7, labeltop=True, labelbottom=False)


@instrument("Gradient and parameter entries", "gradients", 30, reads=["grad_hist_2d"])
def grad_hist_2d(run: Run, step: int) -> Optional[JointCounts]:
    """Gradient entries against the parameters they belong to, at one step."""
    histogram = histogram_at(run, "grad_hist_2d", step)
    return None if histogram is None else JointCounts(histogram, "gradient entry", "parameter value")
