# SPDX-License-Identifier: MIT
"""Transforms of torch.func around a step and inside of it."""

from __future__ import annotations

from typing import Any, Dict

import pytest
import torch
from conftest import close
from loop import Watch, batches, check_same, each_loss, rows_of, texts
from torch import nn

import flightdeck
from flightdeck import Cockpit

func = pytest.importorskip("torch.func", reason="PyTorch 1 has functorch apart")


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def test_a_model_that_is_called_with_its_parameters() -> None:
    def train(model: nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            losses = each_loss(func.functional_call(model, dict(model.named_parameters()), (inputs,)), targets)
            with watch(step, losses):
                losses.mean().backward()

    cockpit = check_same(net, train, "business")
    assert "norm_test" in cockpit.readings[2]


def test_losses_by_vmap() -> None:
    """Each sample goes through the model alone; the graph is that of the batch."""
    torch.manual_seed(0)
    model = net().double()
    (inputs, targets), = batches(1)
    parameters = dict(model.named_parameters())

    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        logits = func.functional_call(model, parameters, (x.unsqueeze(0),))
        return nn.functional.cross_entropy(logits, y.unsqueeze(0))

    losses = func.vmap(loss)(inputs.double(), targets)
    answers = flightdeck.gradients(losses, model, "individual")
    for name, rows in rows_of(each_loss(model(inputs.double()), targets), model).items():
        close(answers[name].individual, rows)


def test_ensembles_by_vmap() -> None:
    """Stacked models: the parameters that are watched are the stacks."""
    torch.manual_seed(0)
    models = [net().double() for _ in range(2)]
    stacked, buffers = func.stack_module_state(models)
    (inputs, targets), = batches(1)

    def outputs_of(parameters: Dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return func.functional_call(models[0], (parameters, {}), (x,))  # type: ignore[no-any-return]

    outputs = func.vmap(outputs_of, in_dims=(0, None))(stacked, inputs.double())
    losses = each_loss(outputs.mean(0), targets)
    answers = flightdeck.gradients(losses, stacked, "individual")
    again = each_loss(func.vmap(outputs_of, in_dims=(0, None))(stacked, inputs.double()).mean(0), targets)
    for name, tensor in stacked.items():
        expected = torch.stack([torch.autograd.grad(l, tensor, retain_graph=True)[0] for l in again])
        close(answers[name].individual, expected)


def test_transforms_inside_a_watched_step() -> None:
    def train(model: nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses):
                parameters = {name: p.detach() for name, p in model.named_parameters()}
                func.grad(lambda p: each_loss(func.functional_call(model, p, (inputs,)), targets).mean())(parameters)
                losses.mean().backward()

    check_same(net, train)


def test_a_step_inside_a_transform_is_left_out() -> None:
    """Inside func.grad there is no backward pass to listen to; the run goes on."""
    model = net()
    said: Any = []
    cockpit = Cockpit(model, "economy", on_warning=said.append)
    (inputs, targets), = batches(1)

    def loss(parameters: Dict[str, torch.Tensor]) -> torch.Tensor:
        losses = each_loss(func.functional_call(model, parameters, (inputs,)), targets)
        with cockpit.watch(0, losses):
            pass
        return losses.mean()

    plain = {name: p.detach() for name, p in model.named_parameters()}
    gradients = func.grad(loss)(plain)
    assert all(bool(torch.isfinite(g).all()) for g in gradients.values())
    assert len(said) >= 1


def test_a_hessian_product_inside_the_loss() -> None:
    """A gradient penalty: the losses contain a derivative of the model."""
    torch.manual_seed(0)
    model = net().double()
    (inputs, _), = batches(1)
    inputs = inputs.double().requires_grad_()
    slope, = torch.autograd.grad(model(inputs).sum(), inputs, create_graph=True)
    losses = slope.square().sum(1)
    answers = flightdeck.gradients(losses, model, "individual")
    for name, rows in rows_of(losses, model).items():
        close(answers[name].individual, rows, 1e-9)
