# SPDX-License-Identifier: MIT
"""The instruments of the cockpit as matplotlib draws them, one function each.

    flightdeck.plots.alpha(run)                      # axes of a new figure
    flightdeck.plots.grad_norm(run, axes)            # into axes of one's own
    flightdeck.plots.grad_hist_1d(run, step=100)     # as it was at a step

They show what the page shows, with its titles, axes and scales; `docs/quantities.md` says how to read it. One file
each: a new one is imported here and is then in `INSTRUMENTS`, in the cockpit and in ``run.plot(["name"])``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence

from ..run import Run
from ._figure import draw_cockpit
from ._instrument import Drawing, Instrument, Place, instrument
from ._lines import Guide, Line, Lines
from .accuracies import accuracies
from .alpha import alpha
from .cabs import cabs
from .dead_units import dead_units
from .distances import distances
from .early_stopping import early_stopping
from .eigen_solver import eigen_solver
from .ggn_spectrum import ggn_spectrum
from .grad_cosine import grad_cosine
from .grad_hist_1d import grad_hist_1d
from .grad_hist_2d import grad_hist_2d
from .grad_noise_scale import grad_noise_scale
from .grad_norm import grad_norm
from .gradient_tests import gradient_tests
from .gradient_tests_history import gradient_tests_history
from .hess_max_ev import hess_max_ev
from .hess_trace import hess_trace
from .hyperparameters import hyperparameters
from .losses import losses
from .mean_gsnr import mean_gsnr
from .parameters import parameters
from .sample_outliers import sample_outliers
from .sample_outliers_list import sample_outliers_list
from .saturated_units import saturated_units
from .tic import tic
from .time import time
from .update_ratio import update_ratio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: All of them: whatever instrument this module has a name for.
INSTRUMENTS: List[Instrument] = [value for value in list(globals().values()) if isinstance(value, Instrument)]


def cockpit_figure(
    run: Run, instruments: Optional[Sequence[str]] = None, *, step: Optional[int] = None, more: bool = False
) -> "Figure":
    """The cockpit of a run; see `Run.plot`."""
    return draw_cockpit(run, INSTRUMENTS, instruments, step, more)
