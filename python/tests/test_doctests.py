# SPDX-License-Identifier: MIT
"""Examples in docstrings run as they are written."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
import torch

import flightdeck

PACKAGE = Path(flightdeck.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text("utf-8")
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that the examples read."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    model = torch.nn.Linear(3, 2)
    quantities = ["loss", "grad_norm", "grad_hist_1d"]
    with flightdeck.Cockpit(
        model, quantities, record_to=folder, groups="parameter", config={"optimizer": "sgd"}
    ) as cockpit:
        for step in range(4):
            losses = model(torch.ones(5, 3)).square().sum(1)
            with cockpit.watch(step, losses):
                losses.mean().backward()
    return folder


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str, recorded: Path, tmp_path: Path) -> None:
    module = importlib.import_module(f"flightdeck.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = {"recorded": recorded, "new_folder": tmp_path / "new", "flightdeck": flightdeck, "torch": torch}
    outcome = doctest.testmod(module, optionflags=flags, extraglobs=names)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_help_says_something_of_every_public_name() -> None:
    assert [name for name in flightdeck.__all__ if not getattr(flightdeck, name).__doc__] == []
