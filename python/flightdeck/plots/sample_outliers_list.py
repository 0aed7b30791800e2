# SPDX-License-Identifier: MIT
"""The samples with the largest gradients at one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, List, Optional, Tuple

from ..run import Run
from . import _palette
from ._instrument import instrument, list_at
from ._statistics import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class Bars:
    """A short list of named numbers."""

    step: int
    name: str
    bars: List[Tuple[str, float]]

    def paint(self, axes: "Axes") -> None:
        known = [value for _, value in self.bars if math.isfinite(value)]
        most = max([*known, 0.0]) or 1.0
        for k, (_, value) in enumerate(self.bars):
            length = value if math.isfinite(value) else most if value == math.inf else 0.0
            color = _palette.LINES[0] if math.isfinite(value) else _palette.BAD
            axes.barh(k, max(length, 0), 0.6, color=color, alpha=0.75)
            axes.annotate(
                short_number(value), (max(length, 0), k), xytext=(4, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(self.bars)), [label for label, _ in self.bars])
        axes.set(xlim=(0, 1.15 * most), ylim=(len(self.bars) - 0.5, -0.5), xlabel=self.name)
        axes.grid(False, axis="y")
        axes.set_title(f"step {self.step}", loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT)


@instrument("Largest samples", "samples", 65, reads=["sample_outliers"])
def sample_outliers_list(run: Run, step: int) -> Optional[Bars]:
    """The samples of the batch with the largest gradients at one step, by their position in the batch."""
    samples = list_at(run, "sample_outliers/samples", step)
    norms = list_at(run, "sample_outliers/norms", step)
    if samples is None or norms is None or norms.values.size == 0:
        return None
    labels = [f"sample {int(sample)}" for sample in samples.values]
    return Bars(norms.step, "gradient norm", list(zip(labels, norms.values.tolist())))
