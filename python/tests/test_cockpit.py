# SPDX-License-Identifier: MIT
"""The cockpit in a loop: what it records, what it leaves alone, and what it survives."""

from __future__ import annotations

import copy
import gc
import io
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, List, Optional

import pytest
import torch

import flightdeck
from flightdeck import Cockpit, quantity


class Loop:
    """A small training run that may have a cockpit."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(5, 3)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.step = 0

    def losses(self) -> torch.Tensor:
        outputs = self.model(torch.randn(8, 4))
        return torch.nn.functional.cross_entropy(outputs, torch.randint(0, 3, (8,)), reduction="none")

    def run(self, steps: int, cockpit: Optional[Cockpit] = None, after: Optional[Callable[[], None]] = None) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            losses = self.losses()
            if cockpit is None:
                losses.mean().backward()
            else:
                with cockpit.watch(self.step, losses, self.optimizer):
                    losses.mean().backward()
                    if after is not None:
                        after()
            self.optimizer.step()
            self.step += 1

    def state(self) -> List[torch.Tensor]:
        parts = [p.detach().clone() for p in self.model.parameters()]
        parts += [p.grad.clone() for p in self.model.parameters() if p.grad is not None]
        return parts + [torch.get_rng_state()]


@pytest.mark.parametrize("preset", ["economy", "business", "full"])
def test_training_is_the_same_to_the_bit(preset: str, tmp_path: Path) -> None:
    plain = Loop()
    plain.run(12)
    expected = plain.state()
    watched = Loop()
    cockpit = Cockpit(watched.model, preset, record_to=tmp_path / "run", strict=True)
    watched.run(12, cockpit)
    for before, after in zip(expected, watched.state()):
        assert torch.equal(before, after)
    cockpit.finish()
    run = flightdeck.RunReader(str(tmp_path / "run"))
    assert run.status() == "finished"
    series = run.find("loss")
    assert series is not None
    steps, times, values = run.numbers(series.id)
    assert steps.tolist() == list(range(12))
    assert (times[1:] >= times[:-1]).all()
    assert len(values) == 12


def test_readings_have_fields_and_groups() -> None:
    loop = Loop()
    cockpit = Cockpit(loop.model, ["grad_norm", quantity("loss", due="every 2")], groups="module", keep=3)
    loop.run(5, cockpit)
    assert sorted(cockpit.readings) == [2, 3, 4]
    assert sorted(cockpit.readings[3]) == ["grad_norm", "grad_norm@0", "grad_norm@3"]
    assert "loss" in cockpit.readings[4]
    whole = cockpit.readings[4]
    squares = whole["grad_norm@0"] ** 2 + whole["grad_norm@3"] ** 2  # type: ignore[operator]
    assert whole["grad_norm"] ** 2 == pytest.approx(squares)  # type: ignore[operator]


def test_due_steps() -> None:
    loop = Loop()
    every_third = quantity("loss", due=lambda step: step % 3 == 0)
    cockpit = Cockpit(loop.model, [every_third, quantity("grad_norm", due=[1, 4])], groups="whole", keep=None)
    loop.run(6, cockpit)
    assert {step: sorted(values) for step, values in cockpit.readings.items() if values} == {
        0: ["loss"], 1: ["grad_norm"], 3: ["loss"], 4: ["grad_norm"],
    }
    assert 7 in flightdeck.DueSteps("every 4 from 3")
    assert cockpit.is_due(6) and not cockpit.is_due(8)


def test_a_quantity_of_python() -> None:
    def largest(step: flightdeck.StepView) -> torch.Tensor:
        return torch.stack([p.mean.abs().max() for p in step.gradients]).max()

    class Change:
        """Keeps the loss of the step before."""

        def __init__(self) -> None:
            self.last: Optional[float] = None

        def compute(self, step: flightdeck.StepView) -> Optional[float]:
            loss, last = float(step.loss), self.last
            self.last = loss
            return None if last is None else loss - last

        def save(self) -> List[float]:
            return [] if self.last is None else [self.last]

        def load(self, saved: List[float]) -> None:
            self.last = saved[0] if saved else None

    loop = Loop()
    chosen = [
        flightdeck.Quantity("grad_max", largest, needs="mean", summary="Largest entry of the gradient"),
        flightdeck.Quantity("change", make=Change),
        flightdeck.Quantity(
            "moved", after_update=lambda update: update.squared_update.sqrt(),
            needs=flightdeck.StepNeeds(update=True),
        ),
        flightdeck.Quantity("fields", lambda step: {"": 1.0, "size": float(step.batch_size)}),
        quantity("loss"),
    ]
    cockpit = Cockpit(loop.model, chosen, keep=None, strict=True)
    loop.run(3, cockpit)
    gradient = max(float(p.grad.abs().max()) for p in loop.model.parameters() if p.grad is not None)
    readings: Any = cockpit.readings
    assert readings[2]["grad_max"] == pytest.approx(gradient, rel=1e-5)
    assert readings[2]["change"] == pytest.approx(readings[2]["loss"] - readings[1]["loss"], abs=1e-6)
    assert readings[1]["moved"] > 0
    assert readings[0]["fields/size"] == 8
    again = Cockpit(loop.model, chosen, strict=True)
    again.load_state_dict(cockpit.state_dict())


def test_a_quantity_that_fails_is_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: flightdeck.StepView) -> float:
        raise ZeroDivisionError("by mine")

    loop = Loop()
    cockpit = Cockpit(loop.model, [flightdeck.Quantity("mine", fail), quantity("loss")])
    with caplog.at_level(logging.WARNING, logger="flightdeck"):
        loop.run(3, cockpit)
    assert "by mine" in caplog.text
    assert any(note.kind == "switched_off" and note.quantity == "mine" for note in cockpit.notes)
    assert sorted(cockpit.readings[2]) == ["loss"]
    other = Loop()
    with pytest.raises(ZeroDivisionError, match="by mine"):
        other.run(1, Cockpit(other.model, [flightdeck.Quantity("mine", fail)], strict=True))


def test_a_schedule_that_fails_switches_its_quantity_off() -> None:
    def fail(step: int) -> bool:
        if step == 1:
            raise ZeroDivisionError("by mine")
        return True

    loop, warnings = Loop(), []
    quantities = [quantity("grad_norm", due=fail), quantity("loss")]
    cockpit = Cockpit(loop.model, quantities, groups="whole", on_warning=warnings.append)
    loop.run(3, cockpit)
    assert [sorted(cockpit.readings[step]) for step in range(3)] == [["grad_norm", "loss"], ["loss"], ["loss"]]
    assert len(warnings) == 1 and "grad_norm" in warnings[0] and "by mine" in warnings[0]


def test_a_view_ends_with_its_call() -> None:
    kept: List[flightdeck.StepView] = []
    loop = Loop()
    cockpit = Cockpit(loop.model, [flightdeck.Quantity("mine", lambda step: kept.append(step))], strict=True)
    loop.run(1, cockpit)
    with pytest.raises(RuntimeError, match="what it showed is gone"):
        kept[0].step


class Listener(flightdeck.Sink):
    def __init__(self) -> None:
        self.steps: List[int] = []
        self.names: List[str] = []
        self.ending = ""

    def begin(self, info: flightdeck.RunInfo) -> None:
        self.names = [quantity.name for quantity in info.quantities]

    def write(self, step: flightdeck.StepReadings) -> None:
        self.steps.append(step.step)

    def finish(self, ending: str) -> None:
        self.ending = ending


def test_a_sink_of_python() -> None:
    loop, listener = Loop(), Listener()
    cockpit = Cockpit(loop.model, ["loss"], sinks=[listener], config={"seed": 3})
    loop.run(3, cockpit)
    cockpit.log(2, accuracy=0.5)
    cockpit.finish("diverged")
    assert listener.names == ["loss"]
    assert listener.steps == [0, 1, 2, 2]
    assert listener.ending == "diverged"


def test_a_sink_that_raises_is_dropped() -> None:
    class Broken(flightdeck.Sink):
        def write(self, step: flightdeck.StepReadings) -> None:
            raise OSError("no room")

    loop, warnings = Loop(), []
    cockpit = Cockpit(loop.model, ["loss"], sinks=[Broken()], on_warning=warnings.append)
    loop.run(3, cockpit)
    assert len(warnings) == 1 and "no room" in warnings[0]
    assert "loss" in cockpit.readings[2]


def test_a_lamp_of_python(tmp_path: Path) -> None:
    def look(view: flightdeck.LampView) -> Optional[flightdeck.Finding]:
        series = view.run.find("loss")
        if series is None:
            return None
        return flightdeck.Finding("Steps were recorded", f"there are {series.count}", step=view.last_step)

    flightdeck.register_lamp("python_steps", "any step", look, severity="advice", reads=["loss"])
    loop = Loop()
    with Cockpit(loop.model, ["loss"], record_to=tmp_path / "run") as cockpit:
        loop.run(3, cockpit)
    findings = flightdeck.findings_in(flightdeck.RunReader(str(tmp_path / "run")))
    mine = [finding for finding in findings if finding.lamp == "python_steps"]
    assert [(found.evidence, found.step, found.severity) for found in mine] == [("there are 3", 2, "advice")]
    with pytest.raises(ValueError, match="python_steps"):
        flightdeck.register_lamp("python_steps", "again", look)


def test_ctrl_c_ends_the_run_as_interrupted(tmp_path: Path) -> None:
    program = (
        "import torch, flightdeck\n"
        "model = torch.nn.Linear(3, 2)\n"
        "cockpit = flightdeck.Cockpit(model, 'economy', record_to='run')\n"
        "for step in range(10**9):\n"
        "    losses = model(torch.ones(4, 3)).square().sum(1)\n"
        "    with cockpit.watch(step, losses):\n"
        "        losses.mean().backward()\n"
        "    if step == 5:\n"
        "        print('trains', flush=True)\n"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    loop = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
        # Who starts the tests in the background of a shell has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert loop.stdout is not None and loop.stdout.readline() == "trains\n"
        loop.send_signal(signal.SIGINT)
        _, said = loop.communicate(timeout=60)
    finally:
        loop.kill()
    assert "KeyboardInterrupt" in said and loop.returncode == -signal.SIGINT
    run = flightdeck.read_run(tmp_path / "run")
    assert run.status == "interrupted"
    assert run["loss"].steps[:6].tolist() == list(range(6))


def test_two_cockpits_watch_one_loop() -> None:
    loop = Loop()
    first, second = Cockpit(loop.model, ["grad_norm"]), Cockpit(loop.model, "economy")
    for step in range(3):
        loop.optimizer.zero_grad()
        losses = loop.losses()
        with first.watch(step, losses), second.watch(step, losses):
            losses.mean().backward()
        loop.optimizer.step()
    assert first.readings[2]["grad_norm"] == second.readings[2]["grad_norm"]


def test_a_scalar_loss_with_its_batch_size() -> None:
    loop = Loop()
    cockpit = Cockpit(loop.model, ["grad_norm", "norm_test"], strict=True)
    loss = loop.losses().mean()
    with cockpit.watch(0, loss, batch_size=8):
        loss.backward()
    assert "norm_test" in cockpit.readings[0]


def test_a_scalar_loss_gives_what_individual_losses_give() -> None:
    readings = []
    for is_scalar in (True, False):
        loop = Loop()
        cockpit = Cockpit(loop.model, "economy", strict=True)
        for step in range(3):
            loop.optimizer.zero_grad()
            losses = loop.losses()
            loss = losses.mean()
            with cockpit.watch(step, loss if is_scalar else losses, loop.optimizer):
                loss.backward()
            loop.optimizer.step()
        readings.append(cockpit.readings[1])
    of_scalar, of_losses = readings
    assert set(of_scalar) == set(of_losses) and "alpha" in of_scalar
    assert of_scalar["alpha"] == pytest.approx(of_losses["alpha"], rel=1e-4)


CRITERIA = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "L1Loss", "MSELoss", "NLLLoss", "SmoothL1Loss",
]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_alone_gives_everything(name: str, reduction: str) -> None:
    """``loss = criterion(model(x), y)`` and nothing said of samples: all values are those of individual losses."""
    readings: List[Any] = []
    for is_scalar in (True, False):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        criterion = getattr(torch.nn, name)(reduction=reduction if is_scalar else "none")
        cockpit = Cockpit(model, "economy", strict=True)
        for step in range(3):
            optimizer.zero_grad()
            outputs = model(torch.randn(6, 4).double())
            labels, targets = torch.randint(0, 3, (6,)), torch.rand(6, 3).double()
            if name == "BCELoss":
                outputs = outputs.sigmoid()
            elif name == "NLLLoss":
                outputs = outputs.log_softmax(1)
            losses = criterion(outputs, labels if name in ("CrossEntropyLoss", "NLLLoss") else targets)
            if losses.dim() == 2:
                losses = losses.mean(1) if reduction == "mean" else losses.sum(1)
            with cockpit.watch(step, losses, optimizer):
                (losses if is_scalar or reduction == "mean" else losses.sum()).mean().backward()
            optimizer.step()
        readings.append(cockpit.readings[1])
    of_scalar, of_losses = readings
    assert set(of_scalar) == set(of_losses) and "alpha" in of_scalar
    for quantity_name, value in of_losses.items():
        if isinstance(value, float) and quantity_name != "time":
            assert of_scalar[quantity_name] == pytest.approx(value, rel=1e-8, nan_ok=True), quantity_name


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_an_exception_inside_a_step_drops_it(error: BaseException) -> None:
    loop = Loop()
    cockpit = Cockpit(loop.model, ["grad_norm", "alpha"], strict=True)
    loop.run(2, cockpit)

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        loop.run(1, cockpit, after=fail)
    assert 2 not in cockpit.readings
    loop.step = 3
    loop.run(2, cockpit)
    assert {3, 4} <= set(cockpit.readings)


def test_an_exception_ends_the_run_as_failed() -> None:
    for error, ending in ((ValueError, "failed"), (KeyboardInterrupt, "interrupted")):
        sink = flightdeck.MemorySink()
        with pytest.raises(error):
            with Cockpit(Loop().model, ["loss"], sinks=[sink]):
                raise error
        assert sink.ending == ending


def test_wrong_orders_of_calls() -> None:
    loop = Loop()
    cockpit = Cockpit(loop.model, ["grad_norm"], strict=True)
    losses = loop.losses()
    watch = cockpit.watch(0, losses)
    assert watch.is_active
    with pytest.raises(RuntimeError, match="step 0 is still being watched; end its watch before step 1"):
        cockpit.watch(1, losses)
    with pytest.raises(RuntimeError, match="no backward pass went through the losses of step 0"):
        watch.end()
    assert not watch.is_active
    with pytest.raises(ValueError, match="step"):
        cockpit.watch(0, losses)
    with pytest.raises(RuntimeError, match="'loss' is added after the first watched step"):
        loop.step = 1
        loop.run(1, cockpit)
        cockpit.add(quantity("loss"))
    cockpit.finish()
    with pytest.raises(RuntimeError, match="the run is finished"):
        cockpit.watch(9, losses)
    watch.end()  # nothing any more


def test_a_watch_that_is_forgotten_says_so() -> None:
    loop, warnings = Loop(), []
    cockpit = Cockpit(loop.model, ["grad_norm"], on_warning=warnings.append)
    cockpit.watch(0, loop.losses())
    gc.collect()
    assert len(warnings) == 1 and "no backward pass went through the losses of step 0" in warnings[0]


def test_the_model_can_be_copied_and_pickled_afterwards() -> None:
    loop = Loop()
    cockpit = Cockpit(loop.model, "full")
    loop.run(3, cockpit)
    twin = copy.deepcopy(loop.model)
    again = pickle.loads(pickle.dumps(loop.model))
    stream = io.BytesIO()
    torch.save(loop.model, stream)
    for copied in (twin, again):
        for mine, theirs in zip(loop.model.parameters(), copied.parameters()):
            assert torch.equal(mine, theirs)
    with pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(cockpit)


def test_threads_have_cockpits_of_their_own() -> None:
    results: List[Any] = [None] * 3

    def train(position: int) -> None:
        torch.manual_seed(position)
        model = torch.nn.Linear(4, 3)
        cockpit = Cockpit(model, "economy", strict=True)
        for step in range(20):
            model.zero_grad()
            losses = model(torch.ones(5, 4)).square().sum(1)
            with cockpit.watch(step, losses, learning_rate=0.1):
                losses.mean().backward()
            cockpit.log(step, position=position)
        results[position] = cockpit.readings[19]

    threads = [threading.Thread(target=train, args=(position,)) for position in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert [result["position"] for result in results] == [0, 1, 2]


def test_another_thread_logs_while_python_quantities_run() -> None:
    loop = Loop()
    cockpit = Cockpit(
        loop.model, [flightdeck.Quantity("mine", lambda step: float(step.step))], sinks=[Listener()]
    )
    stop = threading.Event()

    def log() -> None:
        while not stop.is_set():
            cockpit.log(0, accuracy=1.0)

    thread = threading.Thread(target=log)
    thread.start()
    loop.run(50, cockpit)
    stop.set()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert cockpit.readings[49]["mine"] == 49


@pytest.mark.parametrize("told", [[70, 71, 72, 73, 74, 75], torch.arange(70, 76)])
def test_samples_are_named_by_the_ids_that_were_told(told: Any) -> None:
    model = torch.nn.Linear(3, 2)
    cockpit = Cockpit(model, ["sample_outliers"], strict=True)
    losses = model(torch.randn(6, 3)).square().sum(1)
    with cockpit.watch(0, losses, sample_ids=told, labels=[0, 1, 0, 1, 0, 1]):
        losses.mean().backward()
    reading: Any = cockpit.readings[0]
    assert reading["sample_outliers/ids"] == [70 + place for place in reading["sample_outliers/samples"]]
    assert reading["sample_outliers/labels"] == [place % 2 for place in reading["sample_outliers/samples"]]


def test_ids_that_are_no_integers_are_refused_by_name() -> None:
    model = torch.nn.Linear(3, 2)
    cockpit = Cockpit(model, ["loss"], strict=True)
    losses = model(torch.randn(2, 3)).square().sum(1)
    with pytest.raises(TypeError, match="sample_ids"):
        cockpit.watch(0, losses, sample_ids=["a", "b"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="sample_ids"):
        cockpit.watch(1, losses, sample_ids=[1, 2, 3])
