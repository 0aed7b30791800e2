# SPDX-License-Identifier: MIT
"""Copies, pickles, DataParallel, and what a loop does in the middle of a step."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from typing import Any

import pytest
import torch
from loop import batches, each_loss, mlp

from flightdeck import Cockpit


def test_a_model_can_be_copied_and_pickled_while_it_is_attached() -> None:
    model, criterion = mlp(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cockpit = Cockpit(model, "economy")
    with cockpit.attach(model, optimizer, loss_fn=criterion):
        for inputs, targets in batches(2):
            loss = criterion(model(inputs), targets)
            for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # in the middle of a step
                copied(inputs)
            copy.deepcopy(criterion)(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long))
            pickle.dumps(optimizer.state_dict())
            torch.save(model, io.BytesIO())
            loss.backward()
            optimizer.step()
    assert sorted(cockpit.readings) == [0, 1]
    assert not model._forward_pre_hooks


def test_data_parallel_is_refused_by_name() -> None:
    parallel = torch.nn.DataParallel(mlp())
    with pytest.raises(NotImplementedError, match="the model is an nn.DataParallel"):
        Cockpit(parallel, "economy")
    with pytest.raises(NotImplementedError, match="'1' is an nn.DataParallel"):
        Cockpit(torch.nn.Sequential(torch.nn.Flatten(), parallel), "economy")
    (inputs, targets), = batches(1)
    cockpit = Cockpit(parallel.module, "economy", strict=True)
    losses = each_loss(parallel(inputs), targets)  # on the host it has no replicas
    with cockpit.watch(0, losses):
        losses.mean().backward()
    assert "norm_test" in cockpit.readings[0]


def test_a_backward_pass_that_fails_in_the_middle() -> None:
    """An op of the program's raises: the step is dropped, and the next one is watched."""

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            raise KeyboardInterrupt

    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    cockpit = Cockpit(model, "economy", keep=None)
    for step, (inputs, targets) in enumerate(batches(3)):
        model.zero_grad()
        hidden = torch.tanh(model[0](inputs))
        losses = each_loss(model[2](Fails.apply(hidden) if step == 1 else hidden), targets)
        if step == 1:
            with pytest.raises(KeyboardInterrupt):
                with cockpit.watch(step, losses):
                    losses.mean().backward()
        else:
            with cockpit.watch(step, losses):
                losses.mean().backward()
    assert sorted(cockpit.readings) == [0, 2]


def test_backward_on_another_thread() -> None:
    model = mlp()
    cockpit = Cockpit(model, "economy", strict=True)
    for step, (inputs, targets) in enumerate(batches(3)):
        model.zero_grad()
        losses = each_loss(model(inputs), targets)
        with cockpit.watch(step, losses):
            thread = threading.Thread(target=losses.mean().backward)
            thread.start()
            thread.join(timeout=60)
        assert not thread.is_alive()
        norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
        assert cockpit.readings[step]["grad_norm"] == pytest.approx(float(norm), rel=1e-5)
    assert "norm_test" in cockpit.readings[2]
