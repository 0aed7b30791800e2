# SPDX-License-Identifier: MIT
"""Examples in docstrings run as they are written."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ["_load", "attach", "cockpit", "engine", "operators", "parameters", "quantities", "rules", "sinks"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    module = importlib.import_module(f"flightdeck.{name}")
    outcome = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0
