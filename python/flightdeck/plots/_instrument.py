# SPDX-License-Identifier: MIT
"""What an instrument is: what it shows of a run, as a drawing, and where it stands in the cockpit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable, Iterable, Literal, Optional, Protocol

from ..run import Histogram, ListAt, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The cockpit's columns, the row below them, and what comes after.
Place = Literal["step_size", "gradients", "curvature", "hyperparameters", "performance", "more", "samples"]


class Drawing(Protocol):
    """Plain values that paint themselves."""

    def paint(self, axes: "Axes") -> None: ...


View = Callable[[Run, int], Optional[Drawing]]


class Instrument:
    """A panel of the cockpit. Calling it draws the panel of a run.

    ``view`` tells what is drawn, as of a step; None if what it needs was not recorded. ``reads`` are the
    quantities that it shows.
    """

    def __init__(self, view: View, name: str, title: str, place: Place, order: int, reads: Iterable[str]) -> None:
        functools.update_wrapper(self, view)
        self.view, self.name, self.title, self.place, self.order = view, name, title, place, order
        self.reads = tuple(reads)

    def __call__(self, run: Run, axes: Optional["Axes"] = None, *, step: Optional[int] = None) -> "Axes":
        """Draws into ``axes``, or into those of a new figure (``axes.figure``).

        Gauges and histograms are as of ``step``, else of the last one. Raises LookupError if what the
        instrument shows was not recorded.
        """
        from ._figure import single_axes

        drawing = self.view(run, run.last_step if step is None else step)
        if drawing is None:
            there = ", ".join(run.quantities) or "no values"
            raise LookupError(f"{self.name}: nothing that it shows was recorded; the run has {there}")
        return single_axes(self.title, drawing, axes)

    def __repr__(self) -> str:
        return f"<Instrument {self.name}: {self.title}>"


def instrument(title: str, place: Place, order: int, *, reads: Iterable[str]) -> Callable[[View], Instrument]:
    """Makes an instrument of a function and its name. Smaller orders come first."""
    return lambda view: Instrument(view, getattr(view, "__name__"), title, place, order, reads)


def histogram_at(run: Run, name: str, step: int) -> Optional[Histogram]:
    """The last one up to a step, or None."""
    return run.histogram(name, step) if name in run else None


def list_at(run: Run, name: str, step: int) -> Optional[ListAt]:
    """The last one up to a step, or None."""
    return run.list_at(name, step) if name in run else None
