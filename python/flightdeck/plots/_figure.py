# SPDX-License-Identifier: MIT
"""Figures: one panel, and the cockpit of a run."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ..run import Run
from . import _palette
from ._automatic import automatic_instruments
from ._instrument import Drawing, Instrument, Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

WIDTH, HEIGHT = 4.9, 3.1  # inches of a panel

COLUMNS: Dict[Place, Tuple[str, str]] = {
    "step_size": ("Step size", "#b34f00"), "gradients": ("Gradients", "#0072b2"), "curvature": ("Curvature", "#007553"),
}
BELOW: Sequence[Place] = ("hyperparameters", "performance")
REST: Sequence[Place] = ("more", "samples")
SEVERITIES = {"failure": _palette.BAD, "warning": _palette.WARNING, "advice": _palette.FAINT}

Panel = Tuple[str, Drawing]


def new_figure(width: float, height: float) -> "Figure":
    """A figure that no window manager knows; notebooks show it once, as the value of a cell."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("flightdeck.plots: matplotlib is not installed; pip install matplotlib") from error

    class Picture(Figure):  # type: ignore[misc, unused-ignore]
        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png")
            return buffer.getvalue()

    figure = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _style() -> Any:
    import matplotlib

    return matplotlib.rc_context(_palette.STYLE)  # type: ignore[arg-type, unused-ignore]


def _paint(axes: "Axes", title: str, drawing: Drawing) -> None:
    axes.set_title(title, loc="left")
    drawing.paint(axes)


def single_axes(title: str, drawing: Drawing, axes: Optional["Axes"]) -> "Axes":
    """One panel, in the axes given or in a figure of its own."""
    figure = new_figure(1.2 * WIDTH, 1.2 * HEIGHT) if axes is None else None
    with _style():
        if figure is not None:
            axes = figure.add_subplot()
        assert axes is not None
        _paint(axes, title, drawing)
    return axes


def draw_cockpit(
    run: Run, known: Sequence[Instrument], names: Optional[Sequence[str]], step: Optional[int], more: bool
) -> "Figure":
    """The panels that have something to show, in the arrangement of the page."""
    at = run.last_step if step is None else step
    every = [*known, *automatic_instruments(run, known)]
    if names is not None:
        chosen = [_named(name, every) for name in names]
        return _figure_of(run, {}, [], _panels(run, chosen, at))
    columns = {place: _panels(run, _at_place(known, place), at) for place in COLUMNS}
    below = [panel for place in BELOW for panel in _panels(run, _at_place(known, place), at)]
    rest = [panel for place in REST for panel in _panels(run, _at_place(every, place), at)] if more else []
    return _figure_of(run, {place: panels for place, panels in columns.items() if panels}, below, rest)


def _named(name: str, every: Sequence[Instrument]) -> Instrument:
    for instrument in every:
        if instrument.name == name:
            return instrument
    raise ValueError(f"plot: there is no instrument '{name}'; there are {', '.join(sorted(i.name for i in every))}")


def _at_place(instruments: Sequence[Instrument], place: Place) -> List[Instrument]:
    return sorted((i for i in instruments if i.place == place), key=lambda i: (i.order, i.name))


def _panels(run: Run, instruments: Sequence[Instrument], step: int) -> List[Panel]:
    drawn = [(instrument.title, instrument.view(run, step)) for instrument in instruments]
    return [(title, drawing) for title, drawing in drawn if drawing is not None]


def _figure_of(run: Run, columns: Dict[Place, List[Panel]], below: List[Panel], rest: List[Panel]) -> "Figure":
    width = max(len(columns), min(3, max(len(below), len(rest))), 1)
    rows_above = max(map(len, columns.values()), default=0)
    rows_rest = -(-len(rest) // width)
    heights = [
        1.08 * HEIGHT * rows_above + 0.3 if rows_above else 0, HEIGHT if below else 0, HEIGHT * rows_rest,
    ]
    told = _findings(run)
    figure = new_figure(width * WIDTH, max(sum(heights), 1) + 0.55 + 0.22 * len(told))
    with _style():
        _head(figure, run, told)
        parts = [height for height in heights if height]
        if not parts:
            figure.text(0.5, 0.5, "no values yet", ha="center", color=_palette.FAINT)
            return figure
        frames = iter(figure.subfigures(len(parts), 1, height_ratios=parts, squeeze=False)[:, 0])
        if columns:
            _columns(next(frames), columns)
        for panels in (below, rest):
            if panels:
                _grid(next(frames), panels, width)
    return figure


def _findings(run: Run) -> List[Tuple[str, str]]:
    """What lit the lamps, the gravest first, as lines with their colours."""
    found = run.findings
    lines = [
        (f"{finding.severity} at step {finding.step}: {finding.symptom}", SEVERITIES[finding.severity])
        for finding in found[:3]
    ]
    return lines + ([(f"and {len(found) - 3} more", _palette.FAINT)] if len(found) > 3 else [])


def _head(figure: "Figure", run: Run, told: Sequence[Tuple[str, str]]) -> None:
    height = figure.get_size_inches()[1]
    top = f"{run.name}   {run.status} at step {run.last_step}"
    # Room for the lines below, which the layout does not know.
    figure.suptitle(top + "\n" * len(told), x=0.01, ha="left", fontsize=13, fontweight="bold")
    for k, (line, color) in enumerate(told):
        figure.text(0.01, 1 - (0.42 + 0.2 * k) / height, line, fontsize=9, color=color, va="center")


def _columns(frame: "SubFigure", columns: Dict[Place, List[Panel]]) -> None:
    for part, (place, panels) in zip(frame.subfigures(1, len(columns), squeeze=False)[0], columns.items()):
        title, color = COLUMNS[place]
        part.suptitle(title, color=color, fontsize=11.5, fontweight="bold")
        for axes, (name, drawing) in zip(part.subplots(len(panels), 1, squeeze=False)[:, 0], panels):
            _paint(axes, name, drawing)


def _grid(frame: "SubFigure", panels: List[Panel], width: int) -> None:
    rows = -(-len(panels) // width)
    grid = frame.subplots(rows, width if rows > 1 else len(panels), squeeze=False).flatten()
    for axes, (name, drawing) in zip(grid, panels):
        _paint(axes, name, drawing)
    for axes in grid[len(panels):]:
        axes.set_axis_off()
