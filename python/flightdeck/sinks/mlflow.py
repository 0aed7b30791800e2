# SPDX-License-Identifier: MIT
"""Readings for MLflow."""

from __future__ import annotations

import re
from typing import Any, Optional

from .. import _engine
from .._words import Ending
from ._base import Sink
from ._tracker import described, needed, numbers_of

MOST = 1000  # metrics of one call there
STATUS = {"finished": "FINISHED", "interrupted": "KILLED", "diverged": "FINISHED", "failed": "FAILED"}


class MlflowSink(Sink):
    """Logs numbers to a run of MLflow: a new one of an experiment, ended with the training, or ``run_id``.

    Without ``tracking_uri`` the one that MLflow is set to. Characters that MLflow refuses in names become ``_``,
    slashes dots.
    Needs the package mlflow.
    """

    def __init__(
        self,
        experiment: str = "Default",
        *,
        run_name: Optional[str] = None,
        run_id: Optional[str] = None,
        tracking_uri: Optional[str] = None,
        prefix: str = "",
    ) -> None:
        self._mlflow = needed("mlflow", "mlflow", "MlflowSink")
        self._client = self._mlflow.MlflowClient(tracking_uri=tracking_uri)
        self._is_own, self._prefix = run_id is None, prefix
        self.run_id = run_id or self._new_run(experiment, run_name)

    def begin(self, info: _engine.RunInfo) -> None:
        # Settings are tags: a second run of one program may tell others, which parameters there cannot take.
        tags = [self._entity("RunTag", f"flightdeck.{key}", value[:5000]) for key, value in described(info).items()]
        self._client.log_batch(self.run_id, tags=tags[:100])

    def write(self, step: _engine.StepReadings) -> None:
        milliseconds = int(1000 * step.time)
        metrics = [
            self._entity("Metric", _allowed(tag), number, milliseconds, step.step)
            for tag, number in numbers_of(step, self._prefix).items()
        ]
        for first in range(0, len(metrics), MOST):
            self._client.log_batch(self.run_id, metrics=metrics[first : first + MOST])

    def note(self, note: _engine.Note) -> None:
        text = f"{note.quantity} {note.text}".strip()
        self._client.set_tag(self.run_id, f"flightdeck.{note.kind}.{note.step}", text[:5000])

    def finish(self, ending: Ending) -> None:
        self._client.set_tag(self.run_id, "flightdeck.ending", ending)
        if self._is_own:
            self._client.set_terminated(self.run_id, STATUS[ending])

    def _new_run(self, experiment: str, run_name: Optional[str]) -> str:
        found = self._client.get_experiment_by_name(experiment)
        experiment_id = self._client.create_experiment(experiment) if found is None else found.experiment_id
        return str(self._client.create_run(experiment_id, run_name=run_name).info.run_id)

    def _entity(self, kind: str, *values: object) -> Any:
        return getattr(self._mlflow.entities, kind)(*values)


def _allowed(tag: str) -> str:
    """Parts are joined by dots: in a store of files a slash makes a folder, which cannot have a metric's name."""
    return re.sub(r"[^\w\-. ]", "_", tag.replace("/", "."))
