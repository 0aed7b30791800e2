# SPDX-License-Identifier: MIT
"""Readings for TensorBoard."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy

from .. import _engine
from .._words import Ending
from ._base import Sink
from ._tracker import described, histograms_of, needed, numbers_of


class TensorBoardSink(Sink):
    """Writes an event file: numbers as scalars, histograms of one axis, notes and the plan as text.

    ``log_to`` is a folder, or a ``SummaryWriter`` of one's own, which is not closed. Needs the package tensorboard.
    """

    def __init__(self, log_to: Union[str, "os.PathLike[str]", Any], *, prefix: str = "") -> None:
        module = needed("torch.utils.tensorboard", "tensorboard", "TensorBoardSink")
        self._is_own = isinstance(log_to, (str, os.PathLike))
        self._writer: Any = module.SummaryWriter(os.fspath(log_to)) if self._is_own else log_to
        self._prefix = prefix

    def begin(self, info: _engine.RunInfo) -> None:
        lines = "\n".join(f"    {key}: {value}" for key, value in described(info).items())
        self._writer.add_text(f"{self._prefix}run", f"{lines}\n\n    " + info.plan.replace("\n", "\n    "))

    def write(self, step: _engine.StepReadings) -> None:
        for tag, number in numbers_of(step, self._prefix).items():
            self._writer.add_scalar(tag, number, step.step, walltime=step.time)
        for tag, reading, counts, edges in histograms_of(step):
            self._add_histogram(self._prefix + tag, reading, counts, edges, step)

    def note(self, note: _engine.Note) -> None:
        text = f"{note.quantity}: {note.text}" if note.quantity else note.text
        self._writer.add_text(f"{self._prefix}notes/{note.kind}", text, note.step)

    def finish(self, ending: Ending) -> None:
        if self._is_own:
            self._writer.close()
        else:
            self._writer.flush()

    def _add_histogram(
        self, tag: str, reading: _engine.Reading, counts: Any, edges: Any, step: _engine.StepReadings
    ) -> None:
        # What fell outside is counted in buckets of no width at both ends.
        limits = numpy.concatenate([edges[:1], edges[1:], edges[-1:]])
        together = numpy.concatenate([[reading.below], counts, [reading.above]])
        middles = (edges[:-1] + edges[1:]) / 2
        self._writer.add_histogram_raw(
            tag, min=float(edges[0]), max=float(edges[-1]), num=int(together.sum()), sum=float(counts @ middles),
            sum_squares=float(counts @ middles**2), bucket_limits=limits.tolist(), bucket_counts=together.tolist(),
            global_step=step.step, walltime=step.time,
        )
