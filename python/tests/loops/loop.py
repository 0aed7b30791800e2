# SPDX-License-Identifier: MIT
"""Trains twice, alone and with a cockpit, and holds the two to be the same."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Callable, ContextManager, Dict, List

import pytest
import torch
from torch.nn import functional as F

from flightdeck import Cockpit

Tensor = torch.Tensor
Watch = Callable[..., ContextManager[Any]]

SINCE_2 = pytest.mark.skipif(int(torch.__version__.split(".")[0]) < 2, reason="PyTorch 1 does not have it")


def unwatched(*_: Any, **__: Any) -> ContextManager[Any]:
    return nullcontext()


def state_of(model: torch.nn.Module) -> Dict[str, Tensor]:
    """All that training changes."""
    state = {name: value.detach().clone() for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            state[name + ".grad"] = parameter.grad.detach().clone().to_dense()
    return {**state, "random numbers": torch.get_rng_state()}


def check_same(
    make: Callable[[], torch.nn.Module],
    train: Callable[[torch.nn.Module, Watch], None],
    quantities: Any = "economy",
    **options: Any,
) -> Cockpit:
    """Parameters, buffers, gradients and random numbers agree to the bit. Returns the cockpit that watched."""
    torch.manual_seed(0)
    alone = make()
    train(alone, unwatched)
    expected = state_of(alone)
    torch.manual_seed(0)
    watched = make()
    cockpit = Cockpit(watched, quantities, **{"keep": None, "strict": True, **options})
    train(watched, cockpit.watch)
    state = state_of(watched)
    assert sorted(state) == sorted(expected)
    for name, value in expected.items():
        assert torch.equal(value, state[name]), name
    return cockpit


def batches(count: int, size: int = 6, features: int = 4, classes: int = 3) -> List[Any]:
    """The same every time, and no random number of the training's is drawn for them."""
    source = torch.Generator().manual_seed(1)
    return [
        (torch.randn(size, features, generator=source), torch.randint(0, classes, (size,), generator=source))
        for _ in range(count)
    ]


def each_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs, targets, reduction="none")


def mlp() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(5, 3))


def texts(cockpit: Cockpit) -> str:
    """All that the cockpit said."""
    return "\n".join(note.text for note in cockpit.notes)


def rows_of(losses: Tensor, model: torch.nn.Module) -> Dict[str, Tensor]:
    """Individual gradients by one backward pass for each sample."""
    names, tensors = zip(*((n, p) for n, p in model.named_parameters() if p.requires_grad))
    rows = [torch.autograd.grad(loss, tensors, retain_graph=True, allow_unused=True) for loss in losses]
    return {
        name: torch.stack([torch.zeros_like(tensors[k]) if row[k] is None else row[k].to_dense() for row in rows])
        for k, name in enumerate(names)
    }
