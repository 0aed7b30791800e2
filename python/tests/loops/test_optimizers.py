# SPDX-License-Identifier: MIT
"""Optimizers of every kind, clipping, schedulers and accumulation."""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, Iterable

import pytest
import torch
from loop import Watch, batches, check_same, each_loss, mlp, rows_of

from flightdeck import Cockpit

IS_2 = int(torch.__version__.split(".")[0]) >= 2


class Lion(torch.optim.Optimizer):
    """An optimizer that PyTorch does not have."""

    def __init__(self, parameters: Iterable[torch.Tensor], lr: float = 1e-3) -> None:
        super().__init__(parameters, {"lr": lr, "beta": 0.9})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                momentum = self.state[parameter].setdefault("momentum", torch.zeros_like(parameter))
                momentum.lerp_(parameter.grad, 1 - group["beta"])
                parameter.add_(momentum.sign(), alpha=-group["lr"])


class Plain:
    """Not even an Optimizer: it only has groups and a step."""

    def __init__(self, parameters: Iterable[torch.Tensor], lr: float) -> None:
        self.param_groups = [{"params": list(parameters), "lr": lr}]

    def step(self) -> None:
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter -= group["lr"] * parameter.grad

    def zero_grad(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None


OPTIMIZERS: Dict[str, Callable[..., Any]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "sgd foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "adam foreach": lambda p: torch.optim.Adam(p, foreach=True),
    "rprop": lambda p: torch.optim.Rprop(p),
    "a rate as a tensor": lambda p: torch.optim.Adam(p, lr=torch.tensor(0.01)) if IS_2 else torch.optim.Adam(p),
    "lion": Lion,
    "plain": lambda p: Plain(p, 0.1),
}
if IS_2:
    OPTIMIZERS["adamw fused"] = lambda p: torch.optim.AdamW(p, fused=True)
    OPTIMIZERS["sgd fused"] = lambda p: torch.optim.SGD(p, lr=0.1, fused=True)


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_an_optimizer(name: str) -> None:
    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = OPTIMIZERS[name](model.parameters())
        for step, (inputs, targets) in enumerate(batches(4)):
            optimizer.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()

    cockpit = check_same(mlp, train, ["cabs", "update_size", "alpha", "norm_test"])
    assert {"cabs", "norm_test", "update_size", "alpha"} <= set(cockpit.readings[2])


def test_an_optimizer_of_another_package() -> None:
    optimization = pytest.importorskip("transformers.optimization")

    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = optimization.Adafactor(model.parameters(), lr=0.01, relative_step=False, scale_parameter=False)
        for step, (inputs, targets) in enumerate(batches(4)):
            optimizer.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()

    cockpit = check_same(mlp, train, ["cabs", "update_size", "alpha", "norm_test"])
    assert {"cabs", "norm_test", "update_size", "alpha"} <= set(cockpit.readings[2])


def test_clipping_schedulers_and_averages() -> None:
    """Clipping comes after the watch: the values are those of the gradient as it arrived."""

    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        schedulers = [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6),
        ]
        average = torch.optim.swa_utils.AveragedModel(model)
        for step, (inputs, targets) in enumerate(batches(5)):
            optimizer.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses, optimizer):
                losses.mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
            optimizer.step()
            for scheduler in schedulers:
                scheduler.step()
            average.update_parameters(model)

    cockpit: Any = check_same(mlp, train, ["grad_norm", "update_size", "cabs"])
    assert cockpit.readings[3]["grad_norm"] > 1e-2
    assert cockpit.readings[3]["update_size"] < 1e-3


def test_clipping_inside_the_watch_changes_no_value() -> None:
    def train(model: torch.nn.Module, watch: Watch, clips: bool) -> None:
        for step, (inputs, targets) in enumerate(batches(2)):
            model.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses):
                losses.mean().backward()
                if clips:
                    torch.nn.utils.clip_grad_value_(model.parameters(), 1e-4)

    clipped = check_same(mlp, lambda model, watch: train(model, watch, True), "economy")
    plain = check_same(mlp, lambda model, watch: train(model, watch, False), "economy")
    assert clipped.readings[1]["grad_norm"] == plain.readings[1]["grad_norm"]


@pytest.mark.parametrize("every", [False, True])
def test_accumulation(every: bool) -> None:
    """The last of several backward passes is watched, or each of them as a step of its own."""

    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = torch.optim.Adam(model.parameters())
        for step, (inputs, targets) in enumerate(batches(6)):
            losses = each_loss(model(inputs), targets)
            if every or step % 3 == 2:
                with watch(step if every else step // 3, losses, optimizer):
                    (losses.mean() / 3).backward()
            else:
                (losses.mean() / 3).backward()
            if step % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()

    cockpit = check_same(mlp, train)
    assert len(cockpit.readings) == (6 if every else 2)


def test_values_under_accumulation_are_of_the_batch_that_is_watched() -> None:
    """Neither the share of the batch nor what `.grad` held before is part of them."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    cockpit: Any = Cockpit(model, ["loss", "grad_norm"], strict=True, keep=None)
    for k, (inputs, targets) in enumerate(batches(3)):
        losses = each_loss(model(inputs), targets)
        if k < 2:
            (losses.mean() / 3).backward()
            continue
        mean = torch.cat([rows.mean(0).flatten() for rows in rows_of(losses, model).values()])
        with cockpit.watch(0, losses):
            (losses.mean() / 3).backward()
        assert cockpit.readings[0]["grad_norm"] == pytest.approx(float(mean.norm()), rel=1e-5)
        assert cockpit.readings[0]["loss"] == pytest.approx(losses.mean().item(), rel=1e-6)


def test_accumulation_in_a_loop_that_is_not_edited() -> None:
    """A step is what the optimizer takes; its first backward pass is watched."""

    def train(attach: bool) -> Any:
        torch.manual_seed(0)
        model, criterion = mlp(), torch.nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        cockpit = Cockpit(model, "economy", keep=None)
        attachment = cockpit.attach(model, optimizer, loss_fn=criterion) if attach else None
        for step, (inputs, targets) in enumerate(batches(6)):
            (criterion(model(inputs), targets) / 3).backward()
            if step % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
        if attachment is not None:
            attachment.detach()
        return cockpit, [p.detach().clone() for p in model.parameters()]

    (cockpit, watched), (_, plain) = train(True), train(False)
    assert sorted(cockpit.readings) == [0, 1]
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(watched, plain))


def test_a_closure_that_is_called_several_times() -> None:
    """LBFGS asks for the loss again and again: the first call of each step is watched."""

    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
        for step, (inputs, targets) in enumerate(batches(2)):
            calls = 0

            def closure() -> torch.Tensor:
                nonlocal calls
                optimizer.zero_grad()
                losses = each_loss(model(inputs), targets)
                if calls == 0:
                    with watch(step, losses):
                        losses.mean().backward()
                else:
                    losses.mean().backward()
                calls += 1
                return losses.mean()

            optimizer.step(closure)

    check_same(mlp, train)


def test_a_copy_of_the_model_is_trained_beside_it() -> None:
    def train(model: torch.nn.Module, watch: Watch) -> None:
        twin = copy.deepcopy(model)
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses):
                losses.mean().backward()
                each_loss(twin(inputs), targets).mean().backward()

    check_same(mlp, train)
