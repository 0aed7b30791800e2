# SPDX-License-Identifier: MIT
"""Panels for what no instrument reads: quantities of the user's own and numbers that were logged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, List, Optional

from ..run import ListAt, Run, series_name
from . import _palette
from ._instrument import Drawing, Instrument, View
from ._lines import Line, Lines
from .grad_hist_1d import Counts
from .grad_hist_2d import JointCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 24  # lines of one panel


@dataclass
class ListBars:
    """A list as bars in its order."""

    list: ListAt
    name: str

    def paint(self, axes: "Axes") -> None:
        axes.bar(range(self.list.values.size), self.list.values, color=_palette.LINES[0], alpha=0.75)
        axes.set(xlabel="position", ylabel=self.name)
        axes.set_title(f"step {self.list.step}", loc="right", fontsize=8, fontweight="normal", color=_palette.FAINT)


def automatic_instruments(run: Run, known: Iterable[Instrument]) -> List[Instrument]:
    """One for each quantity that the known ones leave out, so that nothing that was recorded is invisible."""
    read = {quantity for instrument in known for quantity in instrument.reads}
    return [
        Instrument(_view_of(quantity), quantity, quantity.replace("_", " "), "more", 1000, [quantity])
        for quantity in run.quantities
        if quantity not in read
    ]


def _view_of(quantity: str) -> View:
    """Numbers of the whole model, else of groups; without numbers the first histogram or list."""

    def view(run: Run, step: int) -> Optional[Drawing]:
        lines = _lines_of(run, quantity)
        return Lines(lines) if lines else _frame_of(run, quantity, step)

    return view


def _lines_of(run: Run, quantity: str) -> List[Line]:
    series = [each for each in run.series if each.quantity == quantity and each.kind == "number"]
    shown = [each for each in series if not each.group] or series
    lines = []
    for each in shown[:MOST]:
        points = run.get(quantity, each.field, each.group)
        if points is not None:
            lines.append(Line(" · ".join(filter(None, [each.field, each.group])) or quantity, points))
    return lines


def _frame_of(run: Run, quantity: str, step: int) -> Optional[Drawing]:
    for series in run.series:
        name = series_name(series)
        if series.quantity == quantity and series.kind == "list":
            found = run.list_at(name, step)
            return None if found is None else ListBars(found, name)
        if series.quantity == quantity and series.kind == "histogram":
            histogram = run.histogram(name, step)
            if histogram is None:
                return None
            if len(histogram.edges) == 1:
                return Counts(histogram, name)
            return JointCounts(histogram, "first axis", "second axis")
    return None
