# SPDX-License-Identifier: MIT
"""What a sink is."""

from __future__ import annotations

from .. import _engine
from .._words import Ending


class Sink:
    """Base of sinks written in Python; override what is of interest.

    A sink belongs to one run. One that raises is dropped with a warning, and training goes on.

    >>> class Printer(Sink):
    ...     def write(self, step):
    ...         print(step.step, sorted(step.values()))
    """

    def begin(self, info: _engine.RunInfo) -> None:
        """Told before the first values, and again when more is known of the run."""

    def write(self, step: _engine.StepReadings) -> None:
        """Values that became known together; a step may get further ones later."""

    def note(self, note: _engine.Note) -> None:
        """A remark, a quantity that was switched off, or steps that could not be stored."""

    def finish(self, ending: Ending) -> None:
        """The run has ended."""
