# SPDX-License-Identifier: MIT
"""Workers of data loaders, by fork and by spawn, while a cockpit and its record are open."""

from __future__ import annotations

from pathlib import Path
from typing import Tuple

import pytest
import torch
from loop import each_loss, mlp
from torch.utils.data import DataLoader, Dataset

import flightdeck
from flightdeck import Cockpit


class Numbers(Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Tuple[torch.Tensor, int]:
        return torch.full((4,), float(index)), index % 3


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers(start: str, tmp_path: Path) -> None:
    model = mlp()
    with Cockpit(model, "economy", record_to=tmp_path / "run", strict=True, keep=None) as cockpit:
        step = 0
        for _ in range(2):
            for inputs, targets in DataLoader(Numbers(), 6, num_workers=1, multiprocessing_context=start):
                model.zero_grad()
                losses = each_loss(model(inputs), targets)
                with cockpit.watch(step, losses, learning_rate=0.1):
                    losses.mean().backward()
                step += 1
    run = flightdeck.RunReader(str(tmp_path / "run"))
    assert run.status() == "finished"
    series = run.find("loss")
    assert series is not None and run.numbers(series.id)[0].tolist() == [0, 1, 2, 3]
