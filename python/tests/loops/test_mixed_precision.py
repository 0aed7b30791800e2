# SPDX-License-Identifier: MIT
"""Autocast, half precision and GradScaler: factors on the loss are no part of the values."""

from __future__ import annotations

from typing import Any, List

import pytest
import torch
from conftest import close
from loop import SINCE_2, Watch, batches, check_same, each_loss, mlp, rows_of

import flightdeck
from flightdeck import Cockpit


def autocast(dtype: torch.dtype) -> Any:
    return torch.autocast("cpu", dtype=dtype)


TYPES = [torch.bfloat16] + ([torch.float16] if int(torch.__version__.split(".")[0]) >= 2 else [])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("preset", ["economy", "business"])
def test_autocast(dtype: torch.dtype, preset: str) -> None:
    def train(model: torch.nn.Module, watch: Watch) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step, (inputs, targets) in enumerate(batches(3)):
            optimizer.zero_grad()
            with autocast(dtype):
                losses = each_loss(model(inputs), targets)
            with watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()

    cockpit = check_same(mlp, train, preset)
    assert "norm_test" in cockpit.readings[2]


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_under_autocast_are_those_of_its_graph(dtype: torch.dtype) -> None:
    """Autograd multiplies in the narrow type, the engine in float32: they differ by the narrow type's rounding."""
    torch.manual_seed(0)
    model = mlp().eval()
    ((inputs, targets),) = batches(1)
    with autocast(dtype):
        losses = each_loss(model(inputs), targets)
    expected = rows_of(losses, model)
    with flightdeck.Watch(losses, model, "individual") as watch:
        losses.mean().backward()
    for name, rows in expected.items():
        assert watch.result[name].individual.dtype == torch.float32
        close(watch.result[name].individual, rows, 4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", TYPES)
def test_half_precision_throughout(dtype: torch.dtype) -> None:
    def train(model: torch.nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            losses = each_loss(model(inputs.to(dtype)).float(), targets)
            with watch(step, losses):
                losses.mean().backward()

    check_same(lambda: torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).to(dtype), train)


@SINCE_2
def test_a_scaler_is_removed_and_recorded() -> None:
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this PyTorch scales gradients on GPUs alone")

    def train(model: torch.nn.Module, watch: Watch, scale: float = 0.0) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, growth_interval=2, enabled=scale > 0)
        for step, (inputs, targets) in enumerate(batches(4)):
            optimizer.zero_grad()
            losses = each_loss(model(inputs), targets)
            with watch(step, losses, optimizer, scaler=scaler):
                scaler.scale(losses.mean()).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

    plain = check_same(mlp, train, "economy")
    scaled = check_same(mlp, lambda model, watch: train(model, watch, 1024.0), "economy")
    for step in range(4):
        mine: Any = scaled.readings[step]
        theirs: Any = plain.readings[step]
        for name in ("grad_norm", "norm_test", "inner_test", "loss", "alpha"):
            if name in theirs:
                assert mine[name] == pytest.approx(theirs[name], rel=1e-5), name
    assert [scaled.readings[step]["grad_scale"] for step in range(4)] == [1024.0, 1024.0, 2048.0, 2048.0]


@SINCE_2
@pytest.mark.parametrize("is_told", [False, True])
def test_a_scaler_in_a_loop_that_is_not_edited(is_told: bool) -> None:
    """The loss is watched before it is scaled, whether the loss function is told or not."""
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this PyTorch scales gradients on GPUs alone")
    readings: List[Any] = []
    scale = torch.amp.GradScaler.scale
    for factor in (0.0, 1024.0):
        torch.manual_seed(0)
        model, criterion = mlp(), torch.nn.CrossEntropyLoss()
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)  # it removes the factor itself
        scaler = torch.amp.GradScaler("cpu", init_scale=factor or 1.0, growth_interval=2, enabled=factor > 0)
        cockpit = Cockpit(model, "economy", keep=None, strict=True)
        with cockpit.attach(optimizer=optimizer, loss_fn=criterion if is_told else None):
            for inputs, targets in batches(4):
                optimizer.zero_grad()
                scaler.scale(criterion(model(inputs), targets)).backward()
                scaler.step(optimizer)
                scaler.update()
        readings.append(cockpit.readings)
    plain, scaled = readings
    assert sorted(scaled) == sorted(plain) == [0, 1, 2, 3]
    for step in range(4):
        for name in ("grad_norm", "norm_test", "inner_test", "loss", "alpha", "update_size"):
            if name in plain[step]:
                assert scaled[step][name] == pytest.approx(plain[step][name], rel=1e-4), name
    assert [scaled[step]["grad_scale"] for step in range(4)] == [1024.0, 1024.0, 2048.0, 2048.0]
    assert "grad_scale" not in plain[0]
    assert torch.amp.GradScaler.scale is scale


@SINCE_2
def test_a_step_that_overflows() -> None:
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this PyTorch scales gradients on GPUs alone")
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    cockpit = Cockpit(model, "economy", keep=None, strict=True)
    for step, (inputs, targets) in enumerate(batches(4)):
        optimizer.zero_grad()
        losses = each_loss(model(inputs * 1e3), targets) * 1e3
        with cockpit.watch(step, losses, optimizer, scaler=scaler):
            scaler.scale(losses.mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert sorted(cockpit.readings) == [0, 1, 2, 3]
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
