# SPDX-License-Identifier: MIT
"""Gradient checkpointing and other hooks on saved tensors."""

from __future__ import annotations

from functools import partial
from typing import Any, Dict

import pytest
import torch
import torch.utils.checkpoint as torch_checkpoint
from conftest import close
from loop import SINCE_2, Watch, batches, check_same, each_loss, texts
from torch.utils.checkpoint import checkpoint

import flightdeck
from flightdeck import Cockpit

Tensor = torch.Tensor


class Cube(torch.autograd.Function):
    """An op that no rule knows: what is below is slow."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * gradient


class Blocks(torch.nn.Module):
    """Two blocks, the first of which is checkpointed."""

    def __init__(self, reentrant: bool = False, slow: bool = False, dropout: float = 0.3) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.inner = torch.nn.Sequential(
            torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.LayerNorm(5), torch.nn.Linear(5, 4)
        )
        self.last = torch.nn.Linear(4, 3)
        self.reentrant, self.slow, self.is_checkpointed = reentrant, slow, True

    def block(self, x: Tensor) -> Tensor:
        y: Tensor = self.inner(x)
        return Cube.apply(y) if self.slow else y

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        x = checkpoint(self.block, x, use_reentrant=self.reentrant) if self.is_checkpointed else self.block(x)
        return self.last(x)


def train(model: torch.nn.Module, watch: Watch) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, (inputs, targets) in enumerate(batches(4)):
        optimizer.zero_grad()
        losses = each_loss(model(inputs), targets)
        with watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()


@pytest.mark.parametrize("preset", ["economy", "business", "full"])
@pytest.mark.parametrize("slow", [False, True])
def test_training_goes_on_to_the_bit(preset: str, slow: bool) -> None:
    cockpit = check_same(lambda: Blocks(slow=slow), train, preset)
    assert "norm_test" in cockpit.readings[3]


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("by_watch", [False, True])
def test_rows_are_those_without_checkpointing(slow: bool, by_watch: bool) -> None:
    torch.manual_seed(0)
    model = Blocks(slow=slow, dropout=0).double()
    (inputs, targets), = batches(1)
    found: Dict[bool, Any] = {}
    for model.is_checkpointed in (True, False):
        losses = each_loss(model(inputs.double()), targets)
        if by_watch:
            with flightdeck.Watch(losses, model, "individual") as watch:
                losses.mean().backward()
            found[model.is_checkpointed] = watch.result
        else:
            found[model.is_checkpointed] = flightdeck.gradients(losses, model, "individual")
    for mine, plain in zip(found[True], found[False]):
        close(mine.individual, plain.individual)
    for mine, plain in zip(found[True].coverage.parameters, found[False].coverage.parameters):
        assert mine.level == plain.level


def test_a_pass_of_its_own_leaves_what_was_saved() -> None:
    def train_shared(model: Blocks, watch: Watch) -> None:
        """A second loss on the same trunk: the rows come from a pass of their own."""
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            outputs = model(inputs)
            losses = each_loss(outputs, targets)
            with watch(step, losses):
                (losses.mean() + outputs.square().mean()).backward()

    cockpit = check_same(Blocks, train_shared)  # type: ignore[arg-type]
    assert "from a pass of its own" in texts(cockpit)


@SINCE_2  # the layer norm of PyTorch 1 takes no bfloat16 beside float32, watched or not
def test_under_autocast() -> None:
    def train_autocast(model: torch.nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                losses = each_loss(model(inputs).float(), targets)
            with watch(step, losses):
                losses.mean().backward()

    check_same(Blocks, train_autocast)


def test_nested_blocks() -> None:
    class Nested(Blocks):
        def forward(self, x: Tensor) -> Tensor:
            inner = super().forward
            return checkpoint(lambda y: inner(torch.tanh(y)), x, use_reentrant=False)

    check_same(Nested, train, "business")


@pytest.mark.skipif(not hasattr(torch_checkpoint, "create_selective_checkpoint_contexts"), reason="since PyTorch 2.4")
@pytest.mark.parametrize("preset", ["economy", "business", "full"])
@pytest.mark.parametrize("slow", [False, True])
def test_selective_checkpointing(preset: str, slow: bool) -> None:
    """Results that are stored instead of computed again may be taken once; once is the program's."""
    kept = [torch.ops.aten.addmm.default, torch.ops.aten.native_layer_norm.default]

    class Selective(Blocks):
        def forward(self, x: Tensor) -> Tensor:
            contexts = partial(torch_checkpoint.create_selective_checkpoint_contexts, kept)
            x = checkpoint(self.block, self.first(x), use_reentrant=False, context_fn=contexts)
            return self.last(x)

    cockpit = check_same(lambda: Selective(slow=slow), train, preset)
    assert "norm_test" in cockpit.readings[3]


def test_reentrant_checkpointing_in_a_loop_that_is_not_edited() -> None:
    """Its backward pass inside of the backward pass is no step of its own."""
    model = Blocks(reentrant=True)
    cockpit = Cockpit(model, ["loss", "grad_norm"], keep=None, on_warning=lambda _: None)
    with cockpit.attach():
        for inputs, targets in batches(3):
            model.zero_grad()
            each_loss(model(inputs), targets).mean().backward()
    assert sorted(cockpit.readings) == [0, 1, 2]
    assert all({"loss", "grad_norm"} <= set(values) for values in cockpit.readings.values())


def test_reentrant_checkpointing_is_refused_by_name() -> None:
    cockpit = check_same(lambda: Blocks(reentrant=True), train, "business", strict=False, on_warning=lambda _: None)
    assert "reentrant checkpointing (CheckpointFunctionBackward) hides the layers inside of it" in texts(cockpit)
    assert {"loss", "grad_norm"} <= set(cockpit.readings[3])
    assert "norm_test" not in cockpit.readings[3]
    model = Blocks(reentrant=True)
    (inputs, targets), = batches(1)
    losses = each_loss(model(inputs), targets)
    for ask in (flightdeck.gradients, flightdeck.curvature, flightdeck.Vivit):
        with pytest.raises(NotImplementedError, match="use_reentrant=False"):
            ask(losses, model)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_tensors_saved_on_the_host() -> None:
    def train_saved(model: torch.nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            with torch.autograd.graph.save_on_cpu():
                losses = each_loss(model(inputs), targets)
            with watch(step, losses):
                losses.mean().backward()

    check_same(lambda: torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.GELU(), torch.nn.Linear(5, 3)), train_saved)


@SINCE_2
def test_tensors_that_can_be_read_once_are_left_alone() -> None:
    """An offloader that forgets what it gave back."""
    kept: Dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> int:
        kept[len(kept)] = tensor
        return len(kept) - 1

    def unpack(key: int) -> Tensor:
        tensor, kept[key] = kept[key], None  # type: ignore[assignment]
        assert tensor is not None, "read twice"
        return tensor

    model = torch.nn.Linear(4, 3)
    said = []
    cockpit = Cockpit(model, "economy", on_warning=said.append)
    for step, (inputs, targets) in enumerate(batches(3)):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            losses = each_loss(model(inputs), targets)
        with cockpit.watch(step, losses):
            losses.mean().backward()
    assert len([text for text in said if "goes through a hook of the program" in text]) == 1
    assert "AddmmBackward0" in texts(cockpit)
    assert "loss" in cockpit.readings[2]
