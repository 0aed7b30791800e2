# SPDX-License-Identifier: MIT
"""Readings for Trackio."""

from __future__ import annotations

from typing import Any, Dict

from .. import _engine
from .._words import Ending
from ._base import Sink
from ._tracker import described, histograms_of, needed, numbers_of


class TrackioSink(Sink):
    """Logs to a new run of a project of Trackio, ended with the training.

    Further arguments are those of ``trackio.init`` (``name``, ``space_id``, ...). Needs the package trackio.
    """

    def __init__(self, project: str, *, prefix: str = "flightdeck/", **init: Any) -> None:
        self._trackio = needed("trackio", "trackio", "TrackioSink")
        self._project, self._init, self._prefix = project, init, prefix
        self._run: Any = None

    def begin(self, info: _engine.RunInfo) -> None:
        if self._run is None:  # settings are told with its beginning
            config = {**self._init.pop("config", {}), **described(info)}
            self._run = self._trackio.init(project=self._project, config=config, **self._init)

    def write(self, step: _engine.StepReadings) -> None:
        values: Dict[str, Any] = dict(numbers_of(step, self._prefix))
        for tag, _, counts, edges in histograms_of(step):
            values[self._prefix + tag] = self._trackio.Histogram(np_histogram=(counts, edges))
        if values:
            self._run.log(values, step=step.step)

    def finish(self, ending: Ending) -> None:
        if self._run is not None:
            self._run.finish()
