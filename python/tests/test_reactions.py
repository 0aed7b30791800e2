# SPDX-License-Identifier: MIT
"""Interventions in loops of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
import torch

import flightdeck
from flightdeck import Cockpit, Reactions


class Trained:
    """Least squares; what a loop came to."""

    def __init__(self, folder: Path, *, rate: float = 1.5, steps: int = 24, broken: int = -1, **wishes: Any) -> None:
        torch.manual_seed(3)
        self.model = torch.nn.Linear(4, 1)
        inputs, targets = torch.randn(8, 4), torch.randn(8, 1)
        make = wishes.pop("make", torch.optim.SGD)
        self.optimizer = make(self.model.parameters(), lr=rate)
        scheduler = wishes.pop("make_scheduler", lambda optimizer: None)(self.optimizer)
        self.told: List[Tuple[int, str]] = []
        self.rates: List[float] = []
        self.checkpoints = 0
        with Cockpit(self.model, ["loss", "grad_norm", "update_size"], record_to=folder) as cockpit:
            self.reactions = None
            if wishes:
                self.reactions = Reactions(
                    cockpit, self.model, self.optimizer, scheduler=scheduler,
                    on_intervention=lambda step, what: self.told.append((step, what)),
                    **{"look_every": 2, "pause": 4, "keep_every": 4, **wishes},
                )
            for step in range(steps):
                self.optimizer.zero_grad()
                losses = (self.model(inputs) - targets).square().sum(1)
                if step == broken:
                    losses = losses * float("nan")
                with cockpit.watch(step, losses, self.optimizer):
                    losses.mean().backward()
                if self.reactions is None or self.reactions.takes_update(step):
                    self.optimizer.step()
                self.rates.append(self.optimizer.param_groups[0]["lr"])
                if scheduler is not None:
                    scheduler.step()
                if self.reactions is not None:
                    self.checkpoints += self.reactions.takes_checkpoint()
                    if self.reactions.stopped_by:
                        break
        self.weight = self.model.weight.detach().clone()
        self.run = flightdeck.read_run(folder)

    def interventions(self, field: str) -> Dict[int, float]:
        name = f"interventions/{field}"
        if name not in self.run:
            return {}
        return dict(zip(self.run[name].steps, self.run[name].values))


def test_wishes_that_never_come_leave_the_training_as_it_is_to_the_bit(tmp_path: Path) -> None:
    without = Trained(tmp_path / "without")
    never = "dead_layers"
    with_them = Trained(tmp_path / "with", restore_on=never, skip_on=never, clip_on=never, lower_rate_on=[never])
    assert torch.equal(without.weight, with_them.weight)
    assert not with_them.told and with_them.reactions is not None and with_them.reactions.rate_factor == 1


def test_the_rate_is_lowered_recorded_and_said(tmp_path: Path) -> None:
    loop = Trained(tmp_path / "run", lower_rate_on="loss_grew")
    factors = loop.interventions("rate_factor")
    step, factor = next(iter(factors.items()))
    assert loop.rates[step - 1] == 1.5 and loop.rates[step] == pytest.approx(1.5 * factor, rel=1e-12)
    assert [said for said, _ in loop.told] == list(factors)
    assert "because of loss_grew" in loop.told[0][1]
    assert loop.told[0][1] in [note.text for note in loop.run.notes]


@pytest.mark.parametrize(
    "make_scheduler",
    [
        lambda optimizer: torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0),
        lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 1000),
        lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10**6),
    ],
)
def test_a_schedule_goes_on_from_the_lowered_rate(tmp_path: Path, make_scheduler: Any) -> None:
    loop = Trained(tmp_path / "run", lower_rate_on="loss_grew", make_scheduler=make_scheduler)
    assert loop.reactions is not None and loop.reactions.rate_factor < 1
    assert loop.rates[-1] == pytest.approx(1.5 * loop.reactions.rate_factor, rel=1e-4)


def test_the_update_of_a_step_whose_loss_is_lost_is_skipped(tmp_path: Path) -> None:
    assert not Trained(tmp_path / "lost", rate=0.05, broken=6).weight.isfinite().all()
    loop = Trained(tmp_path / "skipped", rate=0.05, broken=6, skip_on="diverged")
    assert loop.weight.isfinite().all()
    assert loop.interventions("skipped") == {6: 1}


def test_model_and_optimizer_come_back_and_rates_stay(tmp_path: Path) -> None:
    loop = Trained(
        tmp_path / "run", rate=0.05, broken=6, make=torch.optim.Adam, restore_on="diverged", lower_rate_on="diverged",
        keep_every=1,
    )
    (step, restored), = list(loop.interventions("restored").items())[:1]
    assert step == 6 and restored < 6
    assert loop.rates[6] == pytest.approx(0.05 * loop.interventions("rate_factor")[6])
    assert loop.weight.isfinite().all()
    for state in loop.optimizer.state.values():
        assert state["exp_avg"].isfinite().all()
        # One update was left out, and the count of those before is that of the step that came back.
        assert state["step"] == restored + 24 - 7


def test_gradients_are_clipped_from_then_on(tmp_path: Path) -> None:
    loop = Trained(tmp_path / "run", clip_on="loss_grew", clip_norm=0.5)
    first = min(loop.interventions("clip_norm"))
    sizes = loop.run["update_size"]
    for step, size in zip(sizes.steps, sizes.values):
        assert step < first or size <= 1.5 * 0.5 * (1 + 1e-5)


def test_the_loop_stops_and_keeps_what_it_is_asked_to(tmp_path: Path) -> None:
    loop = Trained(tmp_path / "run", stop_on="loss_grew", checkpoint_on=["loss_grew"])
    assert loop.reactions is not None and loop.reactions.stopped_by == "loss_grew"
    assert loop.checkpoints == 1 and len(loop.rates) < 24


def test_what_was_done_goes_into_a_checkpoint_and_comes_back(tmp_path: Path) -> None:
    loop = Trained(tmp_path / "run", lower_rate_on="loss_grew", restore_on="loss_grew")
    assert loop.reactions is not None
    saved = loop.reactions.state_dict()
    torch.save(saved, tmp_path / "reactions.pt")
    with Cockpit(loop.model, ["loss"], record_to=tmp_path / "other") as cockpit:
        other = Reactions(cockpit, loop.model, loop.optimizer, lower_rate_on="loss_grew", restore_on="loss_grew")
        other.load_state_dict(torch.load(tmp_path / "reactions.pt"))
        assert other.rate_factor == loop.reactions.rate_factor
        again = other.state_dict()
    assert again.keys() == saved.keys()
    assert all(torch.equal(again[name], saved[name]) for name in saved)


def test_mistakes_are_refused(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Cockpit(model, ["loss"]) as cockpit, pytest.raises(ValueError, match="this cockpit writes none"):
        Reactions(cockpit, model, optimizer, stop_on="diverged")
    with Cockpit(model, ["loss"], record_to=tmp_path / "run") as cockpit:
        with pytest.raises(ValueError, match="did you mean 'loss_grew'"):
            Reactions(cockpit, model, optimizer, stop_on="los_grew")
        with pytest.raises(ValueError, match="options.most is 0 but must be at least 1"):
            Reactions(cockpit, model, optimizer, stop_on="loss_grew", most=0)
