# SPDX-License-Identifier: MIT
"""Parameters that are computed, shared, frozen or sparse."""

from __future__ import annotations

from typing import Any, Callable, Dict

import pytest
import torch
from conftest import close
from loop import Watch, batches, check_same, each_loss, rows_of
from torch import nn
from torch.nn.utils import parametrizations, parametrize

import flightdeck


def stack(first: nn.Module) -> nn.Module:
    return nn.Sequential(first, nn.Tanh(), nn.Linear(5, 3))


class Symmetric(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu() + weight.triu(1).transpose(-1, -2)


def symmetric() -> nn.Module:
    layer = nn.Linear(4, 4)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return nn.Sequential(layer, nn.Linear(4, 3))


class Lora(nn.Module):
    """A frozen layer and a trained product of two thin ones."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(4, 5).requires_grad_(False)
        self.down, self.up = nn.Linear(4, 2, bias=False), nn.Linear(2, 5, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.base(x) + 0.5 * self.up(self.down(x))
        return y


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.read, self.write = nn.Linear(4, 4), nn.Linear(4, 4)
        self.write.weight = self.read.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.write(torch.tanh(self.read(x)))
        return y


MODELS: Dict[str, Callable[[], nn.Module]] = {
    "weight norm of old": lambda: stack(nn.utils.weight_norm(nn.Linear(4, 5))),
    "spectral norm of old": lambda: stack(nn.utils.spectral_norm(nn.Linear(4, 5))),
    "spectral norm": lambda: stack(parametrizations.spectral_norm(nn.Linear(4, 5))),
    "orthogonal": lambda: stack(parametrizations.orthogonal(nn.Linear(4, 5))),
    "symmetric": symmetric,
    "lora": lambda: stack(Lora()),
    "tied": Tied,
}
if hasattr(parametrizations, "weight_norm"):
    MODELS["weight norm"] = lambda: stack(parametrizations.weight_norm(nn.Linear(4, 5)))


def train(model: nn.Module, watch: Watch) -> None:
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for step, (inputs, targets) in enumerate(batches(3)):
        optimizer.zero_grad()
        losses = each_loss(model(inputs), targets)
        with watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_training_is_the_same_and_rows_are_right(name: str) -> None:
    cockpit = check_same(MODELS[name], train)
    assert {"norm_test", "grad_norm"} <= set(cockpit.readings[2])
    torch.manual_seed(0)
    model = MODELS[name]().double().eval()
    (inputs, targets), = batches(1)
    losses = each_loss(model(inputs.double()), targets)
    answers = flightdeck.gradients(losses, model, "individual")
    for parameter, rows in rows_of(losses, model).items():
        close(answers[parameter].individual, rows, 1e-9)


def test_sparse_embeddings() -> None:
    def make() -> nn.Module:
        return nn.Sequential(nn.Embedding(7, 4, sparse=True), nn.Flatten(), nn.Linear(8, 3))

    def train_sparse(model: Any, watch: Watch) -> None:
        sparse = torch.optim.SparseAdam(list(model[0].parameters()))
        dense = torch.optim.SGD(model[2].parameters(), lr=0.1)
        source = torch.Generator().manual_seed(3)
        for step in range(3):
            model.zero_grad()
            losses = each_loss(
                model(torch.randint(0, 7, (5, 2), generator=source)), torch.randint(0, 3, (5,), generator=source)
            )
            with watch(step, losses):
                losses.mean().backward()
            assert model[0].weight.grad.is_sparse
            sparse.step()
            dense.step()

    check_same(make, train_sparse)


def test_layers_that_are_frozen_and_thawed() -> None:
    def make() -> nn.Module:
        return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))

    def train_thawing(model: Any, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(4)):
            model.zero_grad()
            model[0].requires_grad_(step != 1)
            losses = each_loss(model(inputs), targets)
            with watch(step, losses):
                losses.mean().backward()

    cockpit = check_same(make, train_thawing, strict=False, on_warning=lambda _: None)
    assert "norm_test" in cockpit.readings[3]
