# SPDX-License-Identifier: MIT
"""Loops that are not edited."""

from __future__ import annotations

import copy
import functools
import io
from typing import Any, Callable, Iterable, Iterator, List

import pytest
import torch
from torch.nn import functional as F

from flightdeck import Cockpit
from flightdeck.attach import Attachment


@pytest.fixture(autouse=True)
def detached(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No attachment sees the loops of the tests to come."""
    made: List[Attachment] = []
    begin = Attachment.__init__

    def remembered(self: Attachment, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        made.append(self)

    monkeypatch.setattr(Attachment, "__init__", remembered)
    yield
    for attachment in reversed(made):
        attachment.detach()


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


@pytest.mark.parametrize("first_goes_first", [False, True])
def test_two_cockpits_are_attached_and_go_in_any_order(first_goes_first: bool) -> None:
    model = torch.nn.Linear(4, 3)
    optimizer = Plain(model.parameters())
    before = torch.autograd.backward, F.cross_entropy
    cockpits = [Cockpit(model, ["grad_norm"], strict=True) for _ in range(2)]
    attached = [cockpit.attach(optimizer=optimizer, loss_fn=F.cross_entropy) for cockpit in cockpits]

    def step() -> None:
        model.zero_grad()
        F.cross_entropy(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long)).backward()
        optimizer.step()

    step()
    assert cockpits[0].readings[0] == cockpits[1].readings[0] != {}
    gone, stays = attached if first_goes_first else attached[::-1]
    gone.detach()
    step()
    assert sorted(gone.cockpit.readings) == [0] and sorted(stays.cockpit.readings) == [0, 1]
    stays.detach()
    step()
    assert sorted(stays.cockpit.readings) == [0, 1]
    assert before == (torch.autograd.backward, F.cross_entropy)
    assert "step" not in vars(optimizer)


class Plain:
    """Not of torch.optim: it has groups and a step."""

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        self.param_groups = [{"params": list(parameters), "lr": 0.1}]
        self.steps = 0

    def step(self) -> None:
        self.steps += 1


def test_a_copy_of_an_optimizer_that_is_attached_takes_its_own_steps() -> None:
    model = torch.nn.Linear(4, 3)
    optimizer = Plain(model.parameters())
    cockpit = Cockpit(model, ["grad_norm"], strict=True)
    with cockpit.attach(optimizer=optimizer) as attachment:
        copied = copy.deepcopy(optimizer)
        copied.step()
        copied.step()
        assert (copied.steps, optimizer.steps, attachment.step) == (2, 0, 0)


def test_a_loss_function_under_a_name_of_the_loops_own() -> None:
    """`from torch.nn.functional import cross_entropy`: nobody can wrap what the loop has already."""
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for loss_fn in (F.cross_entropy, functools.partial(F.cross_entropy), torch.nn.CrossEntropyLoss()):
        own, said = F.cross_entropy, []  # type: ignore[var-annotated]
        cockpit = Cockpit(model, ["loss", "grad_norm"], on_warning=said.append)
        with cockpit.attach(optimizer=optimizer, loss_fn=loss_fn):
            for _ in range(3):
                optimizer.zero_grad()
                own(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long)).backward()
                optimizer.step()
        assert sorted(cockpit.readings) == [1, 2]
        assert len(said) == 1 and "without calling the loss_fn that was given" in said[0]
    cockpit = Cockpit(model, ["loss", "grad_norm"], on_warning=said.append)
    with cockpit.attach(loss_fn=functools.partial(F.cross_entropy)):
        for _ in range(3):
            own(model(torch.ones(5, 4)), torch.zeros(5, dtype=torch.long)).backward()
    assert len(said) == 2 and len(cockpit.readings) == 1


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


def norm_test_of(losses: torch.Tensor, model: torch.nn.Module) -> float:
    cockpit: Any = Cockpit(model, ["norm_test"], strict=True)
    with cockpit.watch(0, losses):
        losses.mean().backward()
    return float(cockpit.readings[0]["norm_test"])


def test_a_sum_of_two_losses_is_taken_apart_as_its_graph_tells() -> None:
    """As autoencoders have it: everything is added up, and nobody says so."""
    model = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh(), torch.nn.Linear(4, 6))
    data = torch.rand(5, 6)
    cockpit: Any = Cockpit(model, ["norm_test"], strict=True)
    with cockpit.attach():
        outputs = model(data)
        code = model[0](data)
        (F.mse_loss(outputs, data, reduction="sum") + 0.5 * torch.sum(code.pow(2) - 1)).backward()
    each = (model(data) - data).square().sum(1) + 0.5 * (model[0](data).pow(2) - 1).sum(1)
    assert cockpit.readings[0]["norm_test"] == pytest.approx(norm_test_of(each, model), rel=1e-5)


def test_batch_normalisation_is_named_and_the_rest_goes_on() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 3))
    said: List[str] = []
    cockpit = Cockpit(model, "economy", on_warning=said.append)
    with cockpit.attach():
        F.cross_entropy(model(torch.randn(6, 4)), torch.tensor([0, 1, 2, 0, 1, 2])).backward()
    assert "grad_norm" in cockpit.readings[0] and "norm_test" not in cockpit.readings[0]
    assert any("1.weight" in text and "kConstantStatistics" in text for text in said)


def test_samples_that_are_computed_one_by_one() -> None:
    """A policy is asked state by state; the losses of an episode are added up."""
    model = torch.nn.Linear(4, 2)
    cockpit = Cockpit(model, ["grad_norm", "norm_test"], on_warning=lambda text: None, keep=None)
    with cockpit.attach():
        for length in (3, 5, 4):
            model.zero_grad()
            losses = [-torch.log_softmax(model(torch.randn(4)), 0)[0] for _ in range(length)]
            torch.stack(losses).sum().backward()
    assert [("grad_norm" in cockpit.readings[step]) for step in range(3)] == [True, True, True]


def test_a_batch_of_one_sample_brings_no_warning_of_pytorch(capfd: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Linear(4, 3)
    cockpit = Cockpit(model, "economy")
    with cockpit.attach():
        for _ in range(3):
            F.cross_entropy(model(torch.randn(1, 4)), torch.tensor([1])).backward()
    assert "grad_norm" in cockpit.readings[2]
    assert "degrees of freedom" not in capfd.readouterr().err


def test_a_loss_that_cannot_be_watched_is_left_out_and_said_once() -> None:
    model = torch.nn.Linear(4, 1)
    said: List[str] = []
    cockpit = Cockpit(model, ["grad_norm"], on_warning=said.append)
    with cockpit.attach():
        for _ in range(3):
            model.zero_grad()
            model(torch.ones(1, 4)).backward()  # [1, 1]
    assert model.weight.grad is not None and not cockpit.readings
    assert len(said) == 1 and "[1, 1]" in said[0]
    with pytest.raises(ValueError, match=r"\[1, 1\]"):
        with Cockpit(model, ["grad_norm"], strict=True).attach():
            model(torch.ones(1, 4)).backward()


def test_a_loop_without_an_optimizer_has_a_step_for_each_backward_pass() -> None:
    model = torch.nn.Linear(4, 1)
    cockpit: Any = Cockpit(model, ["grad_norm", "update_size"], strict=True, keep=None)
    with cockpit.attach(loss_fn=F.smooth_l1_loss):
        for _ in range(3):
            model.zero_grad()
            F.smooth_l1_loss(model(torch.ones(5, 4)), torch.zeros(5, 1)).backward()
            for parameter in model.parameters():
                parameter.data.add_(parameter.grad, alpha=-0.1)
    assert sorted(cockpit.readings) == [0, 1, 2]
    assert cockpit.readings[1]["update_size"] > 0


@pytest.mark.parametrize("by_function", [False, True])
def test_an_optimizer_that_asks_for_the_loss_itself(by_function: bool) -> None:
    """LBFGS calls its closure again and again: the first of each step is watched, and over before the update."""

    def train(attach: bool) -> Any:
        torch.manual_seed(0)
        model, criterion = torch.nn.Linear(4, 2), torch.nn.MSELoss()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
        cockpit: Any = Cockpit(model, ["loss", "distance", "norm_test"], strict=True, keep=None)
        if attach:
            cockpit.attach(optimizer=optimizer, loss_fn=criterion if by_function else None)
        inputs, targets, firsts = torch.randn(6, 4), torch.randn(6, 2), []
        for _ in range(3):
            values: List[float] = []

            def closure() -> torch.Tensor:
                optimizer.zero_grad()
                loss = criterion(model(inputs), targets)
                values.append(loss.item())
                loss.backward()
                return loss

            optimizer.step(closure)
            firsts.append(values[0])
        return cockpit, firsts, [parameter.detach().clone() for parameter in model.parameters()]

    (cockpit, firsts, watched), (_, expected, plain) = train(True), train(False)
    assert firsts == expected and all(torch.equal(mine, theirs) for mine, theirs in zip(watched, plain))
    assert [cockpit.readings[step]["loss"] for step in range(3)] == pytest.approx(firsts)
    assert cockpit.readings[0]["distance"] == 0.0
    assert "norm_test" in cockpit.readings[2]


class Gan:
    """The loop of a generative adversarial network, whose discriminator is watched."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.judge = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Sigmoid())
        self.maker = torch.nn.Linear(3, 4)
        self.judging = torch.optim.SGD(self.judge.parameters(), lr=0.1)
        self.making = torch.optim.SGD(self.maker.parameters(), lr=0.1)
        self.criterion = torch.nn.BCELoss()
        self.losses: List[float] = []
        self.norms: List[float] = []

    def train(self, steps: int, sets_to_none: bool) -> None:
        real, fake = torch.ones(6, 1), torch.zeros(6, 1)
        for _ in range(steps):
            self.judge.zero_grad(set_to_none=sets_to_none)
            loss = self.criterion(self.judge(torch.randn(6, 4) + 1), real)
            loss.backward()
            self.losses.append(loss.item())
            self.norms.append(torch.cat([p.grad.flatten() for p in self.judge.parameters() if p.grad is not None]).norm().item())
            made = self.maker(torch.randn(6, 3))
            self.criterion(self.judge(made.detach()), fake).backward()
            self.judging.step()
            self.maker.zero_grad()
            self.criterion(self.judge(made), real).backward()
            self.making.step()


@pytest.mark.parametrize("sets_to_none", [True, False])
@pytest.mark.parametrize("is_given", [True, False])
def test_a_generators_loss_is_no_step_of_the_discriminator(is_given: bool, sets_to_none: bool) -> None:
    gan = Gan()
    said: List[str] = []
    cockpit = Cockpit(gan.judge, ["loss", "grad_norm", "alpha"], keep=None, on_warning=said.append)
    attachment = cockpit.attach(optimizer=gan.judging, loss_fn=gan.criterion if is_given else None)
    gan.train(6, sets_to_none)
    attachment.detach()
    # The generator's first loss took number 1; what came before it lacks its other end.
    assert [step for step, values in cockpit.readings.items() if "loss" in values] == [0, 2, 3, 4, 5, 6]
    recorded = [cockpit.readings[step] for step in (0, 2, 3, 4, 5, 6)]
    assert [values["loss"] for values in recorded] == pytest.approx(gan.losses)
    assert [values["grad_norm"] for values in recorded] == pytest.approx(gan.norms, rel=1e-5)
    assert all("alpha" in values for values in recorded[1:-1])
    assert len([text for text in said if "threw the gradient of its loss away" in text]) == 1, said


@pytest.mark.parametrize("has_scaler", [True, False])
def test_a_step_that_the_loop_leaves_out_does_not_end_the_watching(has_scaler: bool) -> None:
    if has_scaler and not hasattr(torch.amp, "GradScaler"):
        pytest.skip("before PyTorch 2.3 scalers want CUDA")
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6 if has_scaler else 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120) if has_scaler else None
    cockpit = Cockpit(model, ["loss"], keep=None, on_warning=lambda _: None)
    attachment = cockpit.attach(optimizer=optimizer)
    losses: List[float] = []
    firsts: List[float] = []  # after each step that was taken
    has_stepped = True
    for k in range(16 if has_scaler else 8):
        before = model.weight.detach().clone()
        optimizer.zero_grad()
        loss = (model(torch.randn(8, 5)) * (100 if has_scaler else 1)).square().sum(1).mean()
        losses.append(loss.item())
        if has_stepped:
            firsts.append(loss.item())
        if scaler is not None:  # leaves out steps until its factor is small enough
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            has_stepped = not torch.equal(model.weight, before)
            continue
        loss.backward()
        if k != 2:
            optimizer.step()
    attachment.detach()
    recorded = [values["loss"] for values in cockpit.readings.values() if "loss" in values]
    if scaler is not None:  # the first loss stands for all that were tried until the step
        assert recorded == pytest.approx(firsts) and 2 < len(firsts) < len(losses)
    else:  # the step that was left out, and the one after it, which looks like it
        assert recorded == pytest.approx([loss for k, loss in enumerate(losses) if k not in (2, 4)])


def test_losses_of_other_networks_take_no_step() -> None:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)]
    optimizers = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in layers]
    said: List[str] = []
    cockpits = [Cockpit(layer, ["loss"], keep=None, on_warning=said.append) for layer in layers]
    attachments = [c.attach(optimizer=o) for c, o in zip(cockpits, optimizers)]
    losses: List[List[float]] = [[], []]
    for _ in range(3):
        values = torch.randn(6, 4)
        for place, (layer, optimizer) in enumerate(zip(layers, optimizers)):
            optimizer.zero_grad()
            values = layer(values.detach())
            loss = values.square().sum(1).mean()
            loss.backward()
            optimizer.step()
            losses[place].append(loss.item())
    for attachment in attachments:
        attachment.detach()
    for cockpit, expected in zip(cockpits, losses):
        assert [cockpit.readings[step]["loss"] for step in range(3)] == pytest.approx(expected)
    assert not said


def test_a_model_that_is_trained_in_the_place_of_the_cockpits_is_said_once() -> None:
    watched, trained = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    said: List[str] = []
    cockpit = Cockpit(watched, ["loss"], on_warning=said.append)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
    cockpit.attach(optimizer=optimizer)
    for _ in range(3):
        trained(torch.ones(4, 3)).square().sum(1).mean().backward()
        optimizer.step()
    assert len(said) == 1 and "depends on the cockpit's parameters" in said[0], said


def test_a_saved_model_knows_nothing_of_an_attachment() -> None:
    model, criterion = torch.nn.Linear(3, 2), torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    attachment = Cockpit(model, ["loss"]).attach(optimizer=optimizer, loss_fn=criterion)
    for module in (model, criterion):
        file = io.BytesIO()
        torch.save(module, file)
        assert b"flightdeck" not in file.getvalue()
        assert copy.deepcopy(module)._forward_pre_hooks == {}
    handle = model.register_forward_pre_hook(lambda *_: None)
    attachment.detach()
    assert len(model._forward_pre_hooks) == 1
    handle.remove()
    assert not model._forward_pre_hooks and not criterion._forward_hooks


@pytest.mark.parametrize("is_given", [True, False])
def test_a_loss_that_is_divided_for_accumulation_is_said_once(is_given: bool) -> None:
    torch.manual_seed(0)
    model, criterion = torch.nn.Linear(5, 3), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    said: List[str] = []
    cockpit = Cockpit(model, ["loss", "grad_norm"], keep=None, on_warning=said.append)
    attachment = cockpit.attach(optimizer=optimizer, loss_fn=criterion if is_given else None)
    losses: List[float] = []
    for _ in range(3):
        optimizer.zero_grad()
        for k in range(4):
            loss = criterion(model(torch.randn(8, 5)), torch.randint(0, 3, (8,)))
            if k == 0:
                losses.append(loss.item())
            (loss / 4).backward()
        optimizer.step()
    attachment.detach()
    recorded = [cockpit.readings[step]["loss"] for step in range(3)]
    assert recorded == pytest.approx(losses if is_given else [loss / 4 for loss in losses])
    assert len(said) == (0 if is_given else 1), said
    if not is_given:
        assert "divided by 4 for 4 backward passes" in said[0]


def test_sparse_inputs_are_taken_with_their_zeros() -> None:
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(6, 3))
    inputs, labels = (torch.rand(8, 6) < 0.4).float(), torch.randint(0, 3, (8,))
    values = []
    for given in (inputs, inputs.to_sparse()):
        cockpit = Cockpit([("weight", weight)], ["grad_norm", "norm_test"], keep=None, strict=True)
        loss = F.cross_entropy(torch.mm(given, weight), labels)
        with cockpit.watch(0, loss):
            loss.backward()
        values.append(cockpit.readings[0])
    assert values[1] == pytest.approx(values[0])
