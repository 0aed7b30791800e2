# SPDX-License-Identifier: MIT
"""Problems of the suite as PyTorch modules, on generated data of the same shapes."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Tuple

import torch
from torch import nn


class Problem(NamedTuple):
    """A network, the shape of one of its inputs, and the factor of its penalty."""

    build: Callable[[], nn.Module]
    shape: Tuple[int, ...]
    classes: int = 10
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
    "mnist_logreg": Problem(logreg, (1, 28, 28)),
    "mnist_mlp": Problem(mlp, (1, 28, 28)),
    "mnist_2c2d": Problem(conv_2c2d, (1, 28, 28)),
    "fmnist_2c2d": Problem(conv_2c2d, (1, 28, 28)),
    "cifar10_3c3d": Problem(lambda: conv_3c3d(10), (3, 32, 32), l2=2e-3),
    "cifar100_3c3d": Problem(lambda: conv_3c3d(100), (3, 32, 32), classes=100, l2=2e-3),
}


class Training:
    """A training of a problem, step by step, as people write it."""

    def __init__(self, problem: Problem, batch_size: int, device: torch.device) -> None:
        torch.manual_seed(0)
        self._problem = problem
        self.model = problem.build().to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self._penalised = [p for p in self.model.parameters() if p.dim() > 1] if problem.l2 else []
        self._batches = [
            (
                torch.rand(batch_size, *problem.shape).to(device),
                torch.randint(0, problem.classes, (batch_size,)).to(device),
            )
            for _ in range(8)
        ]
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
