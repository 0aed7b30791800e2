# SPDX-License-Identifier: MIT
"""Tensor and module hooks of the program's own."""

from __future__ import annotations

from typing import Any, List

import torch
from conftest import close
from loop import SINCE_2, Watch, batches, check_same, each_loss, rows_of, texts

import flightdeck


def net() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))


def train(model: torch.nn.Module, watch: Watch) -> None:
    for step, (inputs, targets) in enumerate(batches(3)):
        model.zero_grad()
        losses = each_loss(model(inputs), targets)
        with watch(step, losses):
            losses.mean().backward()


def test_hooks_at_parameters() -> None:
    def make() -> torch.nn.Module:
        model = net()
        for parameter in model.parameters():
            parameter.register_hook(lambda gradient: gradient * 0.5)
        return model

    cockpit = check_same(make, train)
    assert "pass of its own" not in texts(cockpit)


@SINCE_2
def test_hooks_after_a_gradient_has_arrived() -> None:
    """An optimizer in the backward pass: every parameter is stepped as soon as it can be."""

    def make() -> torch.nn.Module:
        model = net()

        def step(parameter: torch.Tensor) -> None:
            with torch.no_grad():
                parameter -= 0.1 * parameter.grad
            parameter.grad = None

        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(step)
        return model

    check_same(make, train)


def test_hooks_that_change_activations() -> None:
    """The rows are those of the losses, whatever the hook makes of the gradient."""
    torch.manual_seed(0)
    model = net().double()
    (inputs, targets), = batches(1)
    hidden: List[torch.Tensor] = []
    model[1].register_forward_hook(lambda *parts: hidden.append(parts[2]))
    losses = each_loss(model(inputs.double()), targets)
    expected = rows_of(losses, model)
    hidden[0].register_hook(lambda gradient: gradient * 10)
    with flightdeck.Watch(losses, model, "individual") as watch:
        losses.mean().backward()
    for name, rows in expected.items():
        close(watch.result[name].individual, rows)
    assert "a hook may change the gradient" in "\n".join(watch.result.remarks)


def test_full_backward_hooks_of_modules() -> None:
    seen: List[Any] = []

    def make() -> torch.nn.Module:
        model = net()
        model[0].register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].norm()))
        model[2].register_forward_hook(lambda module, inputs, output: output * 1.0)
        return model

    cockpit = check_same(make, train, "business")
    assert len(seen) == 6
    assert "norm_test" in cockpit.readings[2]
    model = make()
    (inputs, targets), = batches(1)
    report = flightdeck.coverage(each_loss(model(inputs), targets), model)
    assert {entry.level for entry in report.parameters} == {"exact-fast"}


def test_retained_gradients() -> None:
    def train_retaining(model: torch.nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(2)):
            model.zero_grad()
            outputs = model(inputs)
            outputs.retain_grad()
            losses = each_loss(outputs, targets)
            with watch(step, losses):
                losses.mean().backward()
            assert outputs.grad is not None

    check_same(net, train_retaining)


def test_anomaly_detection() -> None:
    with torch.autograd.set_detect_anomaly(True):
        check_same(net, train, "business")
