# SPDX-License-Identifier: MIT
"""A training loop under a cockpit; `flightdeck show runs/first` prints what it recorded."""

from typing import Tuple

import torch

import flightdeck

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def next_batch() -> Tuple[torch.Tensor, torch.Tensor]:
    """Three clouds of points, one for each class."""
    labels = torch.randint(0, 3, (32,))
    return torch.randn(32, 8) + labels[:, None], labels


with flightdeck.Cockpit(model, "business", record_to="runs/first") as cockpit:
    for step in range(200):
        inputs, labels = next_batch()
        optimizer.zero_grad()
        losses = torch.nn.functional.cross_entropy(model(inputs), labels, reduction="none")  # [N]
        with cockpit.watch(step, losses, optimizer):  # costs nothing where nothing is due
            losses.mean().backward()  # the loop's own line
        optimizer.step()

for name, value in sorted(cockpit.readings[198].items()):
    if isinstance(value, float):
        print(f"{name:12} {value:.4g}")
