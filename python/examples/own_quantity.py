# SPDX-License-Identifier: MIT
"""A quantity, a schedule and a sink written in Python."""

from typing import Optional

import torch

import flightdeck


def largest_entry(step: flightdeck.StepView) -> torch.Tensor:
    """One number for the whole model: a tensor may stay on its device."""
    largest: torch.Tensor = torch.stack([parameter.mean.abs().max() for parameter in step.gradients]).max()
    return largest


class LossChange:
    """State that lives from step to step: made once for each cockpit."""

    def __init__(self) -> None:
        self.last: Optional[float] = None

    def compute(self, step: flightdeck.StepView) -> Optional[float]:
        loss, last = float(step.loss), self.last
        self.last = loss
        return None if last is None else loss - last


class Printer(flightdeck.Sink):
    """Takes what is measured while the run goes on."""

    def write(self, step: flightdeck.StepReadings) -> None:
        print(step.step, {name: value for name, value in step.values().items()})


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
chosen = [
    flightdeck.Quantity("grad_max", largest_entry, needs="mean", summary="Largest entry of the gradient"),
    flightdeck.Quantity("loss_change", make=LossChange),
    flightdeck.quantity("hess_max_ev", due=lambda step: step % 5 == 0),
]
with flightdeck.Cockpit(model, chosen, sinks=[Printer()]) as cockpit:
    for step in range(10):
        inputs = torch.randn(16, 4)
        losses = (model(inputs).squeeze(1) - inputs.sum(1)).square()
        optimizer.zero_grad()
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()
