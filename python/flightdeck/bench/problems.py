# SPDX-License-Identifier: MIT
"""Problems of the suite as PyTorch modules, with the first parameters and the generated data of the tool's bench."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Tuple

import torch
from torch import nn

from .. import _engine


class Problem(NamedTuple):
    """A network and the factor of its penalty."""

    build: Callable[[], nn.Module]
    batch_size: int = 128
    l2: float = 0.0


def logreg() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 10))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 100),
        nn.ReLU(), nn.Linear(100, 10),
    )


def conv_2c2d() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 7 * 7, 1024), nn.ReLU(), nn.Linear(1024, 10),
    )


def conv_3c3d(classes: int) -> nn.Module:
    def pooled() -> Tuple[nn.Module, nn.Module]:
        return nn.ZeroPad2d((0, 1, 0, 1)), nn.MaxPool2d(3, stride=2)

    return nn.Sequential(
        nn.Conv2d(3, 64, 5), nn.ReLU(), *pooled(), nn.Conv2d(64, 96, 3), nn.ReLU(), *pooled(),
        nn.Conv2d(96, 128, 3, padding=1), nn.ReLU(), *pooled(), nn.Flatten(), nn.Linear(128 * 3 * 3, 512),
        nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, classes),
    )


PROBLEMS: Dict[str, Problem] = {
    "mnist_logreg": Problem(logreg),
    "mnist_mlp": Problem(mlp),
    "mnist_2c2d": Problem(conv_2c2d),
    "fmnist_2c2d": Problem(conv_2c2d),
    "cifar10_3c3d": Problem(lambda: conv_3c3d(10), l2=2e-3),
    "cifar100_3c3d": Problem(lambda: conv_3c3d(100), l2=2e-3),
}


class Training:
    """A training of a problem, step by step, as people write it."""

    def __init__(self, name: str, batch_size: int, device: torch.device) -> None:
        self._problem = PROBLEMS[name]
        parameters, batches = _engine.start_of_training(name, batch_size, 8)
        self.model = self._problem.build()
        with torch.no_grad():
            for parameter, (_, start) in zip(self.model.parameters(), parameters):
                assert parameter.shape == start.shape
                parameter.copy_(start)
        self.model.to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self._penalised = [p for p in self.model.parameters() if p.dim() > 1] if self._problem.l2 else []
        self._batches = [(inputs.to(device), labels.to(device)) for inputs, labels in batches]
        self.step = 0

    def forward(self) -> Tuple[torch.Tensor, torch.Tensor]:
        """Individual losses, and the loss that is differentiated."""
        inputs, labels = self._batches[self.step % len(self._batches)]
        self.optimizer.zero_grad(set_to_none=True)
        losses = nn.functional.cross_entropy(self.model(inputs), labels, reduction="none")
        loss = losses.mean()
        if self._penalised:
            squares = [parameter.square().sum() for parameter in self._penalised]
            loss = loss + 0.5 * self._problem.l2 * torch.stack(squares).sum()
        return losses, loss
