# SPDX-License-Identifier: MIT
"""Whatever takes what a cockpit measures.

    Cockpit(model, sinks=[flightdeck.sinks.TensorBoardSink("logs/first")])

The sinks here pass readings on to trackers of experiments. Each needs the tracker's package, and only when it is
made.
"""

from __future__ import annotations

from ._base import Sink
from .mlflow import MlflowSink
from .tensorboard import TensorBoardSink
from .trackio import TrackioSink
from .wandb import WandbSink

__all__ = ["MlflowSink", "Sink", "TensorBoardSink", "TrackioSink", "WandbSink"]
