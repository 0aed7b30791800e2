# SPDX-License-Identifier: MIT
"""A recorded run, for looking at it: arrays, frames, pictures and the page."""

from __future__ import annotations

import difflib
import html
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy
import numpy.typing

from . import _engine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = numpy.typing.NDArray[numpy.float64]
Integers = numpy.typing.NDArray[numpy.int64]
PathLike = Union[str, "os.PathLike[str]"]


class Points(NamedTuple):
    """Numbers over steps; ``pyplot.plot(*points)`` draws them."""

    steps: Integers
    values: Floats


class ListAt(NamedTuple):
    """A list of numbers at one step, such as eigenvalues."""

    step: int
    values: Floats


class Histogram(NamedTuple):
    """Counts at one step. ``edges`` has the bounds of the bins of each axis, one more than there are bins."""

    step: int
    edges: Tuple[Floats, ...]
    counts: Integers
    below: int
    above: int
    not_a_number: int


def read_run(folder: PathLike) -> "Run":
    """Opens the record in a folder: of a run that ended, is going on or was killed.

    Nothing is written there. Raises FileNotFoundError if the folder holds no run.

    >>> run = read_run(recorded)
    >>> run.status, run.last_step
    ('finished', 3)
    >>> steps, values = run["loss"]
    >>> steps
    array([0, 1, 2, 3])
    """
    return Run(folder)


class Run:
    """What was recorded of one run. Every call reads, so a run that is going on grows.

    Series have the names that exports give them, ``quantity[/field][@group]``; without a group they are of the
    whole model.

    >>> run = read_run(recorded)
    >>> run
    <Run first: finished, 4 steps, grad_hist_1d, grad_norm, loss>
    >>> [name for name in run.names if name.startswith("grad_norm")]
    ['grad_norm', 'grad_norm@bias', 'grad_norm@weight']
    >>> run["grad_norm@weight"].values.shape
    (4,)
    >>> run.config
    {'optimizer': 'sgd'}
    """

    def __init__(self, folder: PathLike) -> None:
        self._reader = _engine.RunReader(os.fspath(folder))
        self.folder = Path(folder)

    # ---- what the run is ----

    @property
    def name(self) -> str:
        """The last part of the folder's path."""
        return self.folder.resolve().name

    @property
    def info(self) -> _engine.RunInfo:
        """When and where it ran, its parameters, groups and quantities, what was computed when."""
        return self._reader.info()

    @property
    def config(self) -> Dict[str, str]:
        """What `Cockpit.describe` was told: problem, optimizer, seed, ..."""
        return self._reader.info().config

    @property
    def settings(self) -> Dict[str, str]:
        """The settings of each quantity as text; empty where all are the usual ones."""
        return {quantity.name: quantity.settings for quantity in self._reader.info().quantities}

    @property
    def status(self) -> str:
        """``"running"``, ``"finished"``, ``"interrupted"``, ``"diverged"``, ``"failed"`` or ``"killed"``."""
        return self._reader.status()

    @property
    def last_step(self) -> int:
        """The last step with values; -1 before the first."""
        return self._reader.last_step()

    @property
    def notes(self) -> List[_engine.Note]:
        """Remarks, quantities that were switched off, steps that could not be stored."""
        return self._reader.notes()

    @property
    def findings(self) -> List[_engine.Finding]:
        """What the lamps find, the gravest first; those that Python registered are among them."""
        return _engine.findings_in(self._reader)

    # ---- series ----

    @property
    def series(self) -> List[_engine.SeriesInfo]:
        """All that was recorded, with kind and range of steps."""
        return self._reader.series()

    @property
    def names(self) -> List[str]:
        """The names of all series, sorted."""
        return sorted(series_name(series) for series in self._reader.series())

    @property
    def quantities(self) -> List[str]:
        """The quantities that have values, numbers that were logged among them, sorted."""
        return sorted({series.quantity for series in self._reader.series()})

    @property
    def groups(self) -> List[str]:
        """The groups of parameters that have values of their own."""
        return self._reader.info().groups

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Points:
        """Numbers by their name; KeyError says what there is."""
        found = self._find(name, "number")
        steps, _, values = self._reader.numbers(found.id)
        return Points(steps, values)

    def get(self, quantity: str, field: str = "", group: str = "") -> Optional[Points]:
        """Numbers of a quantity, or None if there are none."""
        found = self._reader.find(quantity, group, field)
        if found is None or found.kind != "number":
            return None
        steps, _, values = self._reader.numbers(found.id)
        return Points(steps, values)

    def times(self, name: str) -> Floats:
        """When the values of a series became known, in seconds since 1970."""
        return self._reader.numbers(self._find(name, "number").id)[1]

    def lists(self, name: str) -> List[ListAt]:
        """All lists of a series, such as ``"ggn_spectrum/eigenvalues"``."""
        return [_list_of(*found) for found in self._reader.readings(self._find(name, "list").id)]

    def list_at(self, name: str, step: Optional[int] = None) -> Optional[ListAt]:
        """The last list up to a step, or of the run. None if there is none up to there."""
        frame = self._frame(self._find(name, "list"), step)
        return None if frame is None else _list_of(*frame)

    def histograms(self, name: str) -> List[Histogram]:
        """All histograms of a series, such as ``"grad_hist_1d"``.

        >>> last = read_run(recorded).histograms("grad_hist_1d")[-1]
        >>> last.step, last.counts.shape, last.edges[0][[0, -1]]
        (3, (100,), array([-2.,  2.]))
        """
        return [_histogram_of(*found) for found in self._reader.readings(self._find(name, "histogram").id)]

    def histogram(self, name: str, step: Optional[int] = None) -> Optional[Histogram]:
        """The last histogram up to a step, or of the run. None if there is none up to there."""
        frame = self._frame(self._find(name, "histogram"), step)
        return None if frame is None else _histogram_of(*frame)

    def frame(self, names: Union[str, Sequence[str], None] = None, *, groups: bool = False) -> Any:
        """Numbers as a pandas frame: a row for each step, a column for each series; NaN where there is no value.

        ``names`` are series or quantities; all without them. ``groups`` adds the series of groups. Needs pandas.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("run.frame: pandas is not installed; pip install pandas") from error
        wanted = None if names is None else {names} if isinstance(names, str) else set(names)
        columns, missing = {}, set(wanted or ())
        for series in self._reader.series():
            name = series_name(series)
            is_named = wanted is not None and name in wanted
            is_of_quantity = wanted is None or series.quantity in wanted
            if series.kind != "number" or not (is_named or (is_of_quantity and (groups or not series.group))):
                continue
            steps, _, values = self._reader.numbers(series.id)
            columns[name] = pandas.Series(values, index=steps)
            missing -= {name, series.quantity}
        if missing:
            raise self._unknown(min(missing), "number")
        frame = pandas.DataFrame(columns).sort_index()
        frame.index.name = "step"
        return frame

    def export_csv(self, path: PathLike) -> None:
        """All numbers: a line for each step, a column for each series."""
        self._reader.export_csv(os.fspath(path))

    def export_json_lines(self, path: PathLike) -> None:
        """Everything, an object for each step."""
        self._reader.export_json_lines(os.fspath(path))

    def export_tensorboard(self, folder: PathLike) -> str:
        """An event file of TensorBoard in the folder; returns its path."""
        return self._reader.export_tensorboard(os.fspath(folder))

    # ---- pictures and the page ----

    def plot(
        self,
        instruments: Optional[Sequence[str]] = None,
        *,
        step: Optional[int] = None,
        more: bool = False,
        save_to: Optional[PathLike] = None,
    ) -> "Figure":
        """The cockpit as a matplotlib figure: step size, gradients, curvature, and performance below.

        ``instruments`` are names of `flightdeck.plots`; without them all of the cockpit that have values, with
        ``more`` those of all other quantities too. Gauges and histograms are as of ``step``, else of the last one.
        ``save_to`` writes a file: PNG, PDF or SVG by its name. Needs matplotlib.
        """
        from .plots import cockpit_figure

        figure = cockpit_figure(self, instruments, step=step, more=more)
        if save_to is not None:
            figure.savefig(os.fspath(save_to))
        return figure

    def report(self, path: Optional[PathLike] = None) -> str:
        """The run as one HTML page that works offline; also written to a file if a path is given."""
        page = self._reader.report_html(self.name)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        """In notebooks: the live page where `flightdeck.serve` runs for this folder, else the report."""
        from .server import address_of

        address = address_of(self.folder)
        if address is not None:
            source = f'src="{html.escape(address)}"'
        else:
            # A frame without an origin: the page can do nothing to the notebook.
            source = f'sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self.report())}"'
        title = html.escape(self.name)
        return f'<iframe {source} width="100%" height="800" style="border: 0" title="{title}"></iframe>'

    def __repr__(self) -> str:
        quantities = self.quantities
        told = ", ".join(quantities[:6]) + (", ..." if len(quantities) > 6 else "")
        return f"<Run {self.name}: {self.status}, {self.last_step + 1} steps, {told or 'no values'}>"

    # ---- inside ----

    def _find(self, name: str, kind: str) -> _engine.SeriesInfo:
        for series in self._reader.series():
            if series.kind == kind and series_name(series) == name:
                return series
        raise self._unknown(name, kind)

    def _unknown(self, name: str, kind: str) -> KeyError:
        there = sorted(series_name(series) for series in self._reader.series() if series.kind == kind)
        near = difflib.get_close_matches(name, there)
        there = near + [other for other in there if other not in near]
        told = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "")
        return KeyError(f"{self.name}: no {kind} series '{name}'; there are: {told or 'none'}")

    def _frame(self, series: _engine.SeriesInfo, step: Optional[int]) -> Optional[Tuple[int, _engine.Reading]]:
        frames = self._reader.frames(series.id, 1, last=step)
        return frames[-1] if frames else None


def series_name(series: _engine.SeriesInfo) -> str:
    """``quantity[/field][@group]``."""
    field = f"/{series.field}" if series.field else ""
    group = f"@{series.group}" if series.group else ""
    return f"{series.quantity}{field}{group}"


def _list_of(step: int, reading: _engine.Reading) -> ListAt:
    return ListAt(step, numpy.asarray(reading.list, dtype=numpy.float64))


def _histogram_of(step: int, reading: _engine.Reading) -> Histogram:
    edges = tuple(numpy.linspace(axis.low, axis.high, axis.count + 1) for axis in reading.axes)
    counts = numpy.asarray(reading.counts, dtype=numpy.int64).reshape([axis.count for axis in reading.axes])
    outside = reading.below, reading.above, reading.not_a_number
    return Histogram(step, edges, counts, *outside)
