# SPDX-License-Identifier: MIT
"""Loops that are not edited."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from torch.nn import functional as F

from flightdeck import Cockpit


def train(loss: Callable[..., torch.Tensor], steps: int = 4, attach: Callable[..., Any] = lambda *_: None) -> Any:
    """A loop of somebody else's."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    attached = attach(model, optimizer)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(torch.randn(6, 4)), torch.tensor([0, 1, 2, 0, 1, 2])).backward()
        optimizer.step()
        scheduler.step()
        with torch.no_grad():
            loss(model(torch.randn(9, 4)), torch.zeros(9, dtype=torch.long))  # an evaluation
    return model, attached


def check(loss: Callable[..., torch.Tensor], attach: Callable[..., Any]) -> None:
    plain, _ = train(loss)
    cockpit: Any = None

    def attached(model: torch.nn.Module, optimizer: Any) -> Any:
        nonlocal cockpit
        cockpit = Cockpit(model, ["grad_norm", "norm_test", "cabs", "update_size"], keep=None, strict=True)
        return attach(cockpit, model, optimizer)

    model, attachment = train(loss, attach=attached)
    attachment.detach()
    assert sorted(cockpit.readings) == [0, 1, 2, 3]
    assert {"grad_norm", "norm_test"} <= set(cockpit.readings[3])
    assert "update_size" in cockpit.readings[2]
    for mine, theirs in zip(plain.parameters(), model.parameters()):
        assert torch.equal(mine, theirs)


def test_a_loss_module() -> None:
    criterion = torch.nn.CrossEntropyLoss()
    check(criterion, lambda cockpit, model, optimizer: cockpit.attach(model, optimizer, loss_fn=criterion))
    assert not criterion._forward_hooks


def test_a_loss_function() -> None:
    before = F.cross_entropy
    check(
        lambda outputs, targets: F.cross_entropy(outputs, targets),
        lambda cockpit, model, optimizer: cockpit.attach(optimizer=optimizer, loss_fn=F.cross_entropy),
    )
    assert F.cross_entropy is before


def test_whatever_backward_runs() -> None:
    before = torch.autograd.backward
    check(
        lambda outputs, targets: F.cross_entropy(outputs, targets),
        lambda cockpit, model, optimizer: cockpit.attach(optimizer=optimizer),
    )
    assert torch.autograd.backward is before


def test_an_exception_of_backward_drops_the_step() -> None:
    model = torch.nn.Linear(3, 1)
    cockpit = Cockpit(model, ["grad_norm"], strict=True)
    with cockpit.attach():
        loss = model(torch.ones(4, 3)).mean()
        loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        model(torch.ones(4, 3)).mean().backward()
    assert len(cockpit.readings) == 2
