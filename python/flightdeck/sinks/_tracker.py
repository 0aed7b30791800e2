# SPDX-License-Identifier: MIT
"""What the sinks of trackers share: names, numbers, histograms, and how a missing package is told."""

from __future__ import annotations

import importlib
from typing import Any, Dict, Iterator, Tuple

import numpy

from .. import _engine


def needed(module: str, package: str, sink: str) -> Any:
    """Imports what a sink needs; a missing package is named with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{sink}: the package {package} is needed; pip install {package} ({error})") from error


def tag_of(reading: _engine.Reading) -> str:
    """``quantity/group/field`` without the empty parts, as `flightdeck export` names them."""
    return "/".join(part for part in (reading.quantity, reading.group, reading.field) if part)


def numbers_of(step: _engine.StepReadings, prefix: str = "") -> Dict[str, float]:
    """The numbers of a step by tag."""
    return {prefix + tag_of(each): each.number for each in step.readings if each.kind == "number"}


def histograms_of(step: _engine.StepReadings) -> Iterator[Tuple[str, _engine.Reading, Any, Any]]:
    """Tag, reading, counts and edges of the histograms of one axis; trackers have no place for others."""
    for reading in step.readings:
        if reading.kind == "histogram" and len(reading.axes) == 1:
            (axis,) = reading.axes
            edges = numpy.linspace(axis.low, axis.high, axis.count + 1)
            yield tag_of(reading), reading, numpy.asarray(reading.counts), edges


def described(info: _engine.RunInfo) -> Dict[str, str]:
    """What a tracker keeps of a run: the settings that were told, and with what it ran."""
    return {
        **info.config, "flightdeck": info.flightdeck_version, "torch": info.libtorch_version, "device": info.device,
    }
