# SPDX-License-Identifier: MIT
"""Several losses, several backward passes in a step, and losses on a part of the batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import close
from loop import Watch, batches, check_same, each_loss, rows_of, state_of
from torch import nn
from torch.nn import functional as F

import flightdeck
from flightdeck import Cockpit


def net(outputs: int = 3) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, outputs))


def gan(watched: bool) -> Any:
    """Two networks, three backward passes in a step; each network has a cockpit."""
    torch.manual_seed(0)
    maker, judge = net(4), net(1)
    cockpits = [Cockpit(part, "economy", keep=None, strict=True) for part in (judge, maker)]
    makers, judges = (torch.optim.Adam(part.parameters(), betas=(0.5, 0.999)) for part in (maker, judge))
    real_is = F.binary_cross_entropy_with_logits
    for step, (inputs, _) in enumerate(batches(3)):
        fake = maker(torch.randn(6, 4))
        judges.zero_grad()
        on_real = real_is(judge(inputs), torch.ones(6, 1), reduction="none").squeeze(1)
        on_fake = real_is(judge(fake.detach()), torch.zeros(6, 1), reduction="none").squeeze(1)
        if watched:
            with cockpits[0].watch(step, on_real, judges):
                on_real.mean().backward()
                on_fake.mean().backward()
        else:
            on_real.mean().backward()
            on_fake.mean().backward()
        judges.step()
        makers.zero_grad()
        fooled = real_is(judge(fake), torch.ones(6, 1), reduction="none").squeeze(1)
        if watched:
            with cockpits[1].watch(step, fooled, makers):
                fooled.mean().backward()
        else:
            fooled.mean().backward()
        makers.step()
    return cockpits, [state_of(maker), state_of(judge)]


def test_two_networks_against_each_other() -> None:
    (_, plain), (cockpits, watched) = gan(False), gan(True)
    for mine, theirs in zip(watched, plain):
        assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert all("norm_test" in cockpit.readings[2] for cockpit in cockpits)


def test_the_sum_of_losses_is_watched_and_a_penalty_is_not() -> None:
    def train(model: nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            outputs = model(inputs)
            losses = each_loss(outputs, targets) + 0.1 * outputs.square().sum(1)
            penalty = sum(parameter.square().sum() for parameter in model.parameters())
            with watch(step, losses):
                (losses.mean() + 1e-3 * penalty).backward()

    check_same(net, train, "business")


def test_one_graph_and_two_backward_passes() -> None:
    def train(model: nn.Module, watch: Watch) -> None:
        for step, (inputs, targets) in enumerate(batches(3)):
            model.zero_grad()
            outputs = model(inputs)
            losses, other = each_loss(outputs, targets), outputs.square().mean()
            with watch(step, losses):
                other.backward(retain_graph=True)
                losses.mean().backward()

    check_same(net, train)


@pytest.mark.parametrize("how", ["index", "weights", "ignored"])
def test_losses_on_a_part_of_the_batch(how: str) -> None:
    torch.manual_seed(0)
    model = net().double()
    (inputs, targets), = batches(1)
    inputs = inputs.double()
    chosen = torch.tensor([True, False, True, True, False, True])
    losses = each_loss(model(inputs), targets)
    if how == "ignored":
        targets = targets.masked_fill(~chosen, -100)
        losses = each_loss(model(inputs), targets)
    elif how == "index":
        losses = losses[chosen]
    with flightdeck.Watch(losses, model, ["individual"]) as watch:
        ((losses * chosen).sum() / 4 if how == "weights" else losses.sum() / 4).backward()
    again = each_loss(model(inputs), targets)
    expected = rows_of(again[chosen] if how == "index" else again, model)
    for name, rows in expected.items():
        close(watch.result[name].individual, rows)


def test_two_cockpits_on_two_losses_of_one_trunk() -> None:
    torch.manual_seed(0)
    trunk, heads = nn.Linear(4, 5), [nn.Linear(5, 3), nn.Linear(5, 3)]
    cockpits = [
        Cockpit(nn.ModuleList([trunk, head]), ["grad_norm", "norm_test"], keep=None, strict=True) for head in heads
    ]
    for step, (inputs, targets) in enumerate(batches(3)):
        hidden = torch.tanh(trunk(inputs))
        first, second = (each_loss(head(hidden), targets) for head in heads)
        expected = [rows_of(losses, nn.ModuleList([trunk, head])) for losses, head in zip((first, second), heads)]
        trunk.zero_grad()
        with cockpits[0].watch(step, first), cockpits[1].watch(step, second):
            (first.mean() + second.mean()).backward()
        for cockpit, head, rows in zip(cockpits, heads, expected):
            each = torch.cat([part.flatten(1) for part in rows.values()], 1).double()
            size, mean = len(each), each.mean(0)
            norm_test = ((each.square().sum() / mean.square().sum() - size) / (size * (size - 1))).sqrt()
            # What arrives at the trunk is of both losses, what arrives at a head of its own.
            parts = [p.grad for p in trunk.parameters()] + [part.mean(0) for name, part in rows.items() if name[0] == "1"]
            norm = torch.cat([part.flatten() for part in parts if part is not None]).norm()
            values: Any = cockpit.readings[step]
            assert values["norm_test"] == pytest.approx(float(norm_test), rel=1e-5)
            assert values["grad_norm"] == pytest.approx(float(norm), rel=1e-5)
