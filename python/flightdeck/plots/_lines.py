# SPDX-License-Identifier: MIT
"""Lines over steps, as most instruments draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, List, Literal, Optional, Sequence, Tuple

import numpy

from ..run import Floats, Points, Run
from . import _palette
from ._statistics import finite, median, reduced, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 12  # lines of one panel that can still be told apart
MOST = 2000  # points of one line, which is a band from smallest to largest value where there are more


@dataclass
class Line:
    """One line; ``color`` counts in the palette, by default in the order of the lines."""

    label: str
    points: Points
    color: Optional[int] = None
    dashed: bool = False
    right: bool = False
    dots: bool = False


@dataclass
class Guide:
    """A horizontal line with a meaning, such as 0 or 1."""

    value: float
    label: str = ""


@dataclass
class Lines:
    """A panel of lines."""

    lines: Sequence[Line]
    y: str = ""
    y_right: str = ""
    guides: Sequence[Guide] = ()
    scale: Literal["linear", "log"] = "linear"

    def paint(self, axes: "Axes") -> None:
        right = axes.twinx() if any(line.right for line in self.lines) else None
        for k, line in enumerate(self.lines):
            color = _palette.LINES[(k if line.color is None else line.color) % len(_palette.LINES)]
            _paint_line(right if right is not None and line.right else axes, line, color)
        self._scale(axes, [line for line in self.lines if not line.right])
        for guide in self.guides:
            _paint_guide(axes, guide)
        axes.set_xlabel("step")
        axes.set_ylabel(self.y)
        handles = axes.get_legend_handles_labels()[0]
        if right is not None:
            self._scale(right, [line for line in self.lines if line.right])
            right.set_ylabel(self.y_right)
            right.grid(False)
            right.spines["right"].set_visible(True)
            handles = handles + right.get_legend_handles_labels()[0]
        if len(handles) > 1:
            legend_above(axes, handles)

    def _scale(self, axes: "Axes", lines: Sequence[Line]) -> None:
        if self.scale == "log" and log_if_positive(lines) == "log":
            log_axis(axes)


def log_axis(axes: "Axes") -> None:
    """A logarithmic vertical axis that has labels even where it is less than a power of ten long."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log", nonpositive="mask")
    low, high = axes.get_ylim()
    if high / low < 100:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
        axes.yaxis.set_minor_formatter(NullFormatter())


def legend_above(axes: "Axes", handles: Sequence[object]) -> None:
    """Between the title and the picture, in as few rows as fit."""
    longest = max(len(str(getattr(handle, "get_label")())) for handle in handles)
    columns = max(1, min(len(handles), 76 // (longest + 5)))
    rows = -(-len(handles) // columns)
    axes.legend(
        handles=list(handles), loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncol=columns, frameon=False,
        borderpad=0.2, handlelength=1.4, columnspacing=1.2, labelspacing=0.2,
    )
    axes.set_title(axes.get_title(loc="left"), loc="left", pad=8 + 13 * rows)


def _paint_line(axes: "Axes", line: Line, color: str) -> None:
    points, low, high = reduced(line.points, MOST)
    is_single = finite(points.values).size <= 1
    if low is not points.values:
        axes.fill_between(points.steps, low, high, color=color, alpha=0.25, linewidth=0)
    axes.plot(
        points.steps, numpy.where(numpy.isfinite(points.values), points.values, numpy.nan), color=color,
        label=line.label, linewidth=1.3,
        linestyle="none" if line.dots else (0, (4, 2)) if line.dashed else "-",
        marker="o" if line.dots or is_single else None, markersize=3.5,
    )


def _paint_guide(axes: "Axes", guide: Guide) -> None:
    axes.axhline(guide.value, color=_palette.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.8)
    axes.annotate(
        guide.label, (1, guide.value), xycoords=("axes fraction", "data"), xytext=(-3, 2),
        textcoords="offset points", ha="right", va="bottom", fontsize=8, color=_palette.FAINT, zorder=6,
        bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
    )


def line_of(run: Run, quantity: str, label: str, **look: object) -> List[Line]:
    """The line of a quantity of the whole model, if it was recorded."""
    points = run.get(quantity)
    return [] if points is None else [Line(label, points, **look)]  # type: ignore[arg-type]


def log_if_positive(lines: Sequence[Line]) -> Literal["linear", "log"]:
    """A logarithmic scale if there are positive values and no negative ones."""
    values = numpy.concatenate([finite(line.points.values) for line in lines] or [numpy.empty(0)])
    return "log" if bool((values > 0).any()) and not bool((values < 0).any()) else "linear"


def unconverged(points: Points, converged: Optional[Points]) -> Points:
    """The points whose iteration did not converge."""
    failed = converged.steps[converged.values == 0] if converged is not None else numpy.empty(0, numpy.int64)
    chosen = numpy.isin(points.steps, failed)
    return Points(points.steps[chosen], points.values[chosen])


def batch_size_guide(run: Run) -> List[Guide]:
    """The batch size in use, if the run was told it."""
    try:
        value = float(run.config.get("batch_size", "nan"))
    except ValueError:
        return []
    return [Guide(value, f"batch size {value:g}")] if 0 < value < float("inf") else []


def many_lines(series: Sequence[Tuple[str, Points]], whole: str) -> List[Line]:
    """A line for the whole (the one without a name) and one for each part.

    Of more parts than can be told apart, the lowest, the middle and the highest value at each step.
    """
    lines = [Line(whole, points, color=7) for name, points in series if not name]
    parts = [(name, points) for name, points in series if name]
    if len(parts) <= MANY:
        return lines + [Line(name, points, color=k % 7, dashed=k >= 7) for k, (name, points) in enumerate(parts)]
    steps = numpy.unique(numpy.concatenate([points.steps for _, points in parts]))
    table: Floats = numpy.full((len(parts), steps.size), numpy.nan)
    for row, (_, points) in zip(table, parts):
        row[numpy.searchsorted(steps, points.steps)] = points.values
    middle = numpy.array([median(column) for column in table.T])
    summaries = [("lowest", numpy.fmin.reduce(table)), ("middle", middle), ("highest", numpy.fmax.reduce(table))]
    return lines + [
        Line(f"{word} of {len(parts)}", Points(steps, values), color=k) for k, (word, values) in enumerate(summaries)
    ]


def fields_of(run: Run, quantity: str) -> List[Tuple[str, Points]]:
    """Numbers of the whole model by field."""
    return [
        (series.field, points)
        for series in run.series
        if series.quantity == quantity and series.kind == "number" and not series.group
        for points in [run.get(quantity, series.field)]
        if points is not None
    ]
