# SPDX-License-Identifier: MIT
"""Compiled models: watched steps run eagerly, all others compiled."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any, List

import pytest
import torch
from loop import batches, each_loss, mlp, texts
from torch.nn import functional as F

import flightdeck
from flightdeck import Cockpit

pytest.importorskip("torch._dynamo", reason="PyTorch 1 compiles nothing")
if not hasattr(torch.compiler, "set_stance"):
    pytest.skip("there is no set_stance before PyTorch 2.6", allow_module_level=True)

GRAPH = "CompiledFunctionBackward"


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def is_compiled_graph(losses: torch.Tensor) -> bool:
    todo, names = [losses.grad_fn], []
    while todo:
        node = todo.pop()
        if node is not None:
            names.append(node.name())
            todo += [following for following, _ in node.next_functions]
    return GRAPH in names


def test_watched_steps_are_eager_and_the_others_compiled() -> None:
    model = torch.compile(mlp(), backend="aot_eager")
    cockpit = Cockpit(model, [flightdeck.quantity("norm_test", due="every 2")], keep=None, strict=True)
    assert [name for name, _ in cockpit.parameters] == ["0.weight", "0.bias", "3.weight", "3.bias"]
    seen: List[bool] = []
    for step, (inputs, targets) in enumerate(batches(5)):
        losses = each_loss(model(inputs), targets)
        seen.append(is_compiled_graph(losses))
        with cockpit.watch(step, losses):
            losses.mean().backward()
    assert seen == [False, True, False, True, False]
    assert [step for step, values in cockpit.readings.items() if "norm_test" in values] == [0, 2, 4]
    cockpit.finish()
    assert is_compiled_graph(each_loss(model(inputs), targets))


def test_values_are_those_of_the_model_itself() -> None:
    plain = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    readings = []
    for model in (plain, torch.compile(copy.deepcopy(plain), backend="aot_eager")):
        cockpit = Cockpit(model, "economy", keep=None, strict=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step, (inputs, targets) in enumerate(batches(3)):
            optimizer.zero_grad()
            losses = each_loss(model(inputs), targets)
            with cockpit.watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()
        readings.append(cockpit.readings[2])
    assert readings[0]["grad_norm"] == readings[1]["grad_norm"]
    assert readings[0]["norm_test"] == readings[1]["norm_test"]


class Chain(torch.nn.Sequential):
    """A module of the program's: PyTorch leaves its own, compiled in place, as they are."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self:
            x = part(x)
        return x


def in_place() -> Any:
    model: Any = Chain(*mlp())
    model.compile(backend="aot_eager")
    return model


def in_parts() -> Any:
    model: Any = mlp()
    model[0].compile(backend="aot_eager")
    model[3] = torch.compile(model[3], backend="aot_eager")
    return model


@pytest.mark.parametrize("make", [in_place, in_parts])
def test_modules_and_parts_that_are_compiled_in_place(make: Any) -> None:
    model = make()
    cockpit = Cockpit(model, [flightdeck.quantity("norm_test", due="every 2")], keep=None, strict=True)
    assert [name for name, _ in cockpit.parameters] == ["0.weight", "0.bias", "3.weight", "3.bias"]
    seen: List[bool] = []
    for step, (inputs, targets) in enumerate(batches(5)):
        losses = each_loss(model(inputs), targets)
        seen.append(is_compiled_graph(losses))
        with cockpit.watch(step, losses):
            losses.mean().backward()
    assert seen == [False, True, False, True, False]
    assert [step for step, values in cockpit.readings.items() if "norm_test" in values] == [0, 2, 4]
    copy.deepcopy(model)(inputs)
    cockpit.finish()
    assert is_compiled_graph(each_loss(model(inputs), targets))


def test_a_compiled_step_that_is_watched_is_refused_by_name() -> None:
    model = mlp()
    said: List[str] = []
    cockpit = Cockpit(model, "economy", on_warning=said.append)
    compiled = torch.compile(model, backend="aot_eager")  # the cockpit does not know of it
    for step, (inputs, targets) in enumerate(batches(3)):
        model.zero_grad()
        losses = each_loss(compiled(inputs), targets)
        with cockpit.watch(step, losses):
            losses.mean().backward()
    assert f"torch.compile made one op ({GRAPH}) of the model" in texts(cockpit)
    assert "cockpit.eager(step)" in said[0]
    assert {"loss", "grad_norm"} <= set(cockpit.readings[2])


def test_a_function_that_is_compiled_with_its_loss() -> None:
    model = mlp()
    cockpit = Cockpit(model, [flightdeck.quantity("norm_test", due="every 2")], keep=None, strict=True)

    @torch.compile(backend="aot_eager")
    def step_losses(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(inputs), targets, reduction="none")

    for step, (inputs, targets) in enumerate(batches(3)):
        with cockpit.eager(step):
            losses = step_losses(inputs, targets)
        assert is_compiled_graph(losses) == (step == 1)
        with cockpit.watch(step, losses):
            losses.mean().backward()
    assert "norm_test" in cockpit.readings[2]


def test_compiled_autograd_leaves_the_step_out_and_says_so_once() -> None:
    from torch._dynamo import compiled_autograd

    model = torch.nn.Linear(4, 3)
    said: List[str] = []
    cockpit = Cockpit(model, "economy", on_warning=said.append)
    for step, (inputs, targets) in enumerate(batches(3)):
        model.zero_grad()
        losses = each_loss(model(inputs), targets)
        with cockpit.watch(step, losses):
            with compiled_autograd._enable(torch.compile(backend="eager")):
                losses.mean().backward()
        assert model.weight.grad is not None
    assert len(said) == 1 and "compiled autograd" in said[0]


def test_a_compiled_model_can_be_copied_and_pickled() -> None:
    model: Any = torch.compile(mlp(), backend="aot_eager")
    cockpit = Cockpit(model, "economy")
    (inputs, targets), = batches(1)
    losses = each_loss(model(inputs), targets)
    with cockpit.watch(0, losses):
        losses.mean().backward()
    twin = copy.deepcopy(model)
    twin(inputs)
    torch.save(model.state_dict(), io.BytesIO())
    pickle.dumps(model._orig_mod)
    assert cockpit.readings[0]["loss"] == pytest.approx(float(losses.mean()))
