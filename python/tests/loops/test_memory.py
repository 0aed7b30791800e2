# SPDX-License-Identifier: MIT
"""Long runs: nothing stays behind from step to step."""

from __future__ import annotations

import gc
import resource
from pathlib import Path
from typing import Any

import torch
from loop import batches

from flightdeck import Cockpit, Quantity, Sink, StepView

STEPS, SETTLED = 10_000, 2_000
# What allocators and the files of the run take more or less, in kB; a leak of one small tensor for each step is above.
NOISE = 4096


class Counter(Sink):
    def __init__(self) -> None:
        self.steps = 0

    def write(self, step: Any) -> None:
        self.steps += 1


def test_memory_is_flat_in_a_loop_that_is_not_edited(tmp_path: Path) -> None:
    """With all that an attachment hooks into, a quantity and a sink of Python's, and a run on disk."""
    model, criterion, counter = torch.nn.Linear(4, 3), torch.nn.CrossEntropyLoss(), Counter()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def largest(step: StepView) -> torch.Tensor:
        return torch.stack([parameter.mean.abs().max() for parameter in step.gradients]).max()

    mine = Quantity("grad_max", largest, needs="mean")
    cockpit = Cockpit(model, ["loss", "norm_test", mine], record_to=tmp_path / "run", sinks=[counter], strict=True)
    ((inputs, targets),) = batches(1)
    peak = 0
    with cockpit, cockpit.attach(model, optimizer, loss_fn=criterion):
        for step in range(STEPS):
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            optimizer.step()
            if step == SETTLED:
                gc.collect()
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert counter.steps == STEPS
    assert grown < NOISE, f"{grown} kB more after {STEPS - SETTLED} steps"
