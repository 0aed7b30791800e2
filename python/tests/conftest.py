# SPDX-License-Identifier: MIT
"""Small models in double, and what plain autograd says about them, one sample at a time."""

from __future__ import annotations

from typing import Callable, Dict, List, Tuple

import pytest
import torch

torch.set_num_threads(1)

Tensor = torch.Tensor


class Case:
    """A model, a batch and its individual losses."""

    def __init__(self, model: torch.nn.Module, inputs: Tensor, losses: Callable[[Tensor], Tensor]) -> None:
        self.model, self.inputs, self._losses = model, inputs, losses

    def losses(self) -> Tensor:
        return self._losses(self.model(self.inputs))

    def individual(self) -> Dict[str, Tensor]:
        """[N, *shape] for each parameter, by one backward pass for each sample."""
        names, tensors = zip(*self.model.named_parameters())
        rows: List[Tuple[Tensor, ...]] = []
        losses = self.losses()
        for loss in losses:
            rows.append(torch.autograd.grad(loss, tensors, retain_graph=True))
        return {name: torch.stack([row[k] for row in rows]) for k, name in enumerate(names)}

    def hessian(self) -> Tensor:
        """Of the mean loss, [D, D]."""
        tensors = list(self.model.parameters())
        first = torch.autograd.grad(self.losses().mean(), tensors, create_graph=True)
        flat = torch.cat([part.flatten() for part in first])
        lines = []
        for entry in flat:
            second = torch.autograd.grad(entry, tensors, retain_graph=True, allow_unused=True)
            parts = [torch.zeros_like(t) if s is None else s for s, t in zip(second, tensors)]
            lines.append(torch.cat([part.flatten() for part in parts]))
        return torch.stack(lines)


def cross_entropy(targets: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda outputs: torch.nn.functional.cross_entropy(outputs, targets, reduction="none")


def mlp() -> Case:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double()
    return Case(model, torch.randn(6, 5).double(), cross_entropy(torch.tensor([0, 1, 2, 0, 1, 2])))


def cnn() -> Case:
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(2, 3, 3, padding=1), torch.nn.Sigmoid(), torch.nn.AvgPool2d(2), torch.nn.Flatten(),
        torch.nn.Linear(12, 3),
    ).double()
    return Case(model, torch.randn(4, 2, 4, 4).double(), cross_entropy(torch.tensor([0, 1, 2, 0])))


class Recurrent(torch.nn.Module):
    """The last output of an LSTM, from an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 4)
        self.lstm = torch.nn.LSTM(4, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden, _ = self.lstm(self.embedding(tokens))
        outputs: Tensor = self.head(hidden[:, -1])
        return outputs


def recurrent() -> Case:
    torch.manual_seed(2)
    tokens = torch.randint(0, 7, (5, 6))
    return Case(Recurrent().double(), tokens, cross_entropy(torch.tensor([0, 1, 2, 0, 1])))


CASES = {"mlp": mlp, "cnn": cnn, "recurrent": recurrent}


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


@pytest.fixture
def small() -> Case:
    return mlp()


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    """Held against the largest entry: entries that cancel have no digits of their own."""
    assert actual.shape == expected.shape
    scale = max(float(expected.abs().max()), 1e-300)
    assert float((actual - expected).abs().max()) <= tolerance * scale
