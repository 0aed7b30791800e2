# SPDX-License-Identifier: MIT
"""Readings for Weights & Biases."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .. import _engine
from .._words import Ending
from ._base import Sink
from ._tracker import described, histograms_of, needed, numbers_of

MOST_BINS = 512  # of a histogram there


class WandbSink(Sink):
    """Logs to a run of Weights & Biases: a new one, ended with the training, or ``run``, which is left open.

    Further arguments are those of ``wandb.init`` (``project``, ``name``, ``mode="offline"``, ...). Some values are
    known one step late, which the counter of W&B does not allow: they are logged over ``flightdeck/step``. Needs
    the package wandb.
    """

    def __init__(self, *, run: Optional[Any] = None, prefix: str = "flightdeck/", **init: Any) -> None:
        self._wandb = needed("wandb", "wandb", "WandbSink")
        self._is_own = run is None
        self._run = self._wandb.init(**init) if run is None else run
        self._prefix, self._step_name = prefix, f"{prefix}step"
        self._run.define_metric(self._step_name, hidden=True)
        self._run.define_metric(f"{prefix}*", step_metric=self._step_name)

    def begin(self, info: _engine.RunInfo) -> None:
        self._run.config.update({"flightdeck": described(info)}, allow_val_change=True)

    def write(self, step: _engine.StepReadings) -> None:
        values: Dict[str, Any] = dict(numbers_of(step, self._prefix))
        for tag, _, counts, edges in histograms_of(step):
            if counts.size <= MOST_BINS:
                values[self._prefix + tag] = self._wandb.Histogram(np_histogram=(counts, edges))
        if values:
            self._run.log({self._step_name: step.step, **values})

    def note(self, note: _engine.Note) -> None:
        self._run.summary[f"{self._prefix}notes/{note.kind}/{note.step}"] = f"{note.quantity} {note.text}".strip()

    def finish(self, ending: Ending) -> None:
        self._run.summary[f"{self._prefix}ending"] = ending
        if self._is_own:
            self._run.finish(exit_code=0 if ending == "finished" else 1)
