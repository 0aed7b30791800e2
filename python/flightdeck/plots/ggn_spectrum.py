# SPDX-License-Identifier: MIT
"""Largest eigenvalues of the Gauss-Newton matrix with their signal-to-noise ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Optional, Tuple

import numpy

from ..run import Floats, ListAt, Run
from . import _palette
from ._instrument import instrument, list_at
from ._lines import legend_above
from ._statistics import finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Stems:
    """A list of numbers as stems on a logarithmic scale, with ratios of each below."""

    values: ListAt
    name: str
    ratios: Dict[str, Floats]

    def paint(self, axes: "Axes") -> None:
        axes.set_axis_off()
        axes.set_title(f"step {self.values.step}", loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT)
        upper = axes.inset_axes((0, 0.42, 1, 0.58) if self.ratios else (0, 0, 1, 1))
        self._paint_stems(upper)
        if self.ratios:
            upper.tick_params(labelbottom=False)
            lower = axes.inset_axes((0, 0, 1, 0.36), sharex=upper)
            self._paint_ratios(lower)
            legend_above(axes, lower.get_legend_handles_labels()[0])
        else:
            upper.set_xlabel("rank")

    def _paint_stems(self, axes: "Axes") -> None:
        values = self.values.values
        ranks = numpy.arange(1, values.size + 1)
        axes.set_ylabel(self.name)
        axes.set_xlim(0.4, max(values.size, 1) + 0.6)
        axes.locator_params("x", integer=True)
        limits = _limits(values, 10)
        if limits is None:
            axes.text(0.5, 0.5, "none is positive", transform=axes.transAxes, ha="center", color=_palette.FAINT)
            return
        axes.set_yscale("log")
        axes.set_ylim(*limits)
        tops = numpy.clip(values, limits[0], None)
        axes.vlines(ranks, limits[0], tops, color=_palette.LINES[0], linewidth=2)
        for is_positive, face in ((True, _palette.LINES[0]), (False, "white")):
            chosen = numpy.isfinite(values) & ((values > 0) == is_positive)
            if not chosen.any():  # an empty line has no place, which confuses the layout
                continue
            axes.plot(
                ranks[chosen], tops[chosen], "o", markersize=6, color=_palette.LINES[0], markerfacecolor=face,
                clip_on=False,
            )

    def _paint_ratios(self, axes: "Axes") -> None:
        limits = _limits(numpy.concatenate([*self.ratios.values(), [1.0]]), 6)
        axes.set_yscale("log")
        if limits is not None:
            axes.set_ylim(*limits)
        axes.axhline(1, color=_palette.FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
        for k, (label, values) in enumerate(self.ratios.items()):
            places = numpy.arange(1, values.size + 1) + 0.16 * (k - (len(self.ratios) - 1) / 2)
            axes.plot(places, values, "o", color=_palette.LINES[k + 1], markersize=5, label=label)
        axes.set(xlabel="rank", ylabel="ratio")


def _limits(values: Floats, decades: int) -> Optional[Tuple[float, float]]:
    """Around what is positive and finite, at most so many powers of ten."""
    positive = finite(values)[finite(values) > 0]
    if not positive.size:
        return None
    high = float(positive.max()) * 2
    return max(float(positive.min()) / 2, high / 10.0**decades), high


@instrument("Gauss-Newton spectrum", "more", 75, reads=["ggn_spectrum"])
def ggn_spectrum(run: Run, step: int) -> Optional[Stems]:
    """Largest eigenvalues of the Gauss-Newton matrix with their signal-to-noise ratios, at one step."""
    eigenvalues = list_at(run, "ggn_spectrum/eigenvalues", step)
    if eigenvalues is None:
        return None
    found = {word: list_at(run, f"ggn_spectrum/{word}_snr", step) for word in ("slope", "curvature")}
    return Stems(
        eigenvalues, "eigenvalue", {word: ratio.values for word, ratio in found.items() if ratio is not None}
    )
