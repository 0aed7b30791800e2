# SPDX-License-Identifier: MIT
"""Diagnoses, differences of runs, looks before a training, and findings while one goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable, List, Tuple

import pytest
import torch

import flightdeck
from flightdeck import Cockpit

LossFunction = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def trained(folder: Path, *, rate: float = 1.5, steps: int = 12, seed: int = 3, **options: object) -> List[torch.Tensor]:
    """Least squares, whose steps are too long; ``prepare`` is given the cockpit."""
    prepare = options.pop("prepare", None)
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, 1)
    inputs, targets = torch.randn(8, 4), torch.randn(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    with Cockpit(model, ["loss", "grad_norm"], record_to=folder, **options) as cockpit:  # type: ignore[arg-type]
        if callable(prepare):
            prepare(cockpit)
        for step in range(steps):
            optimizer.zero_grad()
            losses = (model(inputs) - targets).square().sum(1)
            with cockpit.watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()
            if cockpit.should_stop:
                break
    return [parameter.detach().clone() for parameter in model.parameters()] + [torch.get_rng_state()]


def same(first: List[torch.Tensor], second: List[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first, second))


def test_a_run_is_diagnosed_by_folder_run_and_reader(tmp_path: Path) -> None:
    trained(tmp_path / "run")
    diagnoses = [
        flightdeck.diagnose(run)
        for run in (tmp_path / "run", flightdeck.read_run(tmp_path / "run"), flightdeck.RunReader(str(tmp_path / "run")))
    ]
    assert len({diagnosis.sentence for diagnosis in diagnoses}) == 1
    diagnosis = diagnoses[0]
    assert diagnosis.verdict in ("fault", "cannot_tell") and str(diagnosis) == diagnosis.sentence
    assert {finding.lamp for finding in diagnosis.findings} >= {"loss_grew"}
    total = diagnosis.health + sum(cause.probability for cause in diagnosis.causes)
    assert 0.7 < total <= 1 + 1e-9
    first = diagnosis.causes[0]
    assert any(evidence.is_lit and evidence.weight > 0 for evidence in first.speaks_for)
    assert all(evidence.weight < 0 for evidence in first.speaks_against)
    with pytest.raises(FileNotFoundError):
        flightdeck.diagnose(tmp_path / "nowhere")


def test_two_runs_differ_at_the_first_value(tmp_path: Path) -> None:
    trained(tmp_path / "a", config={"name": "a"})
    trained(tmp_path / "b", config={"name": "b"})
    trained(tmp_path / "c", rate=1.4, config={"name": "a"})
    settings = flightdeck.diff(tmp_path / "a", tmp_path / "b")
    assert not settings.is_same and not settings.values and settings.last_common_step == 11
    assert [(one.key, one.first, one.second) for one in settings.settings] == [("name", "a", "b")]
    values = flightdeck.diff(tmp_path / "a", tmp_path / "c")
    assert values.values[0].step == 1 and {one.quantity for one in values.values} == {"loss", "grad_norm"}
    assert values.values[0].first != values.values[0].second
    assert flightdeck.diff(tmp_path / "a", tmp_path / "c", tolerance=10).is_same


def test_preflight_finds_what_can_be_found_and_leaves_all_as_it_is() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(list(model[0].parameters()))  # the last layer is forgotten
    batch = torch.randn(32, 6), torch.randint(0, 3, (32,))
    before = [parameter.detach().clone() for parameter in model.parameters()] + [torch.get_rng_state()]
    diagnosis = flightdeck.preflight(model, torch.nn.CrossEntropyLoss(reduction="none"), batch, optimizer)
    assert diagnosis.causes[0].name == "parameters_not_optimized"
    assert same(before, [parameter.detach() for parameter in model.parameters()] + [torch.get_rng_state()])
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not optimizer.state


@pytest.mark.parametrize(
    "loss_fn", [torch.nn.CrossEntropyLoss(), torch.nn.functional.cross_entropy, lambda y, t: torch.nn.functional.cross_entropy(y, t)]
)
def test_preflight_names_labels_beyond_the_classes_before_the_loss_is_called(loss_fn: LossFunction) -> None:
    batch = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 3, 7])
    with pytest.raises(ValueError, match=r"the labels 3, 7 but the outputs have 3 classes, 0 to 2; count classes from 0"):
        flightdeck.preflight(torch.nn.Linear(4, 3), loss_fn, batch)


def test_preflight_lets_labels_through_that_the_loss_does() -> None:
    batch = torch.randn(6, 4), torch.tensor([0, 1, 2, 9, 9, 1])
    ignoring = torch.nn.CrossEntropyLoss(ignore_index=9)
    flightdeck.preflight(torch.nn.Linear(4, 3), ignoring, batch)

    def by_hand(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        is_class = labels.unsqueeze(1) == torch.arange(3)
        return -(torch.log_softmax(outputs, 1) * is_class).sum(1)

    flightdeck.preflight(torch.nn.Linear(4, 3), by_hand, batch)


def test_findings_and_causes_link_to_their_pages(tmp_path: Path) -> None:
    trained(tmp_path / "run", rate=50, steps=20)
    diagnosis = flightdeck.diagnose(tmp_path / "run")
    assert all(finding.page == f"docs/lamps.md#{finding.lamp}" for finding in diagnosis.findings)
    assert all(cause.page == f"docs/causes.md#{cause.name}" for cause in diagnosis.causes)


def test_preflight_takes_several_batches_and_raises_what_the_training_would() -> None:
    model = torch.nn.Linear(4, 2)
    seen: List[int] = []

    def loss_fn(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        seen.append(len(labels))
        return torch.nn.functional.cross_entropy(outputs, labels)

    batches = [(torch.randn(n, 4), torch.randint(0, 2, (n,))) for n in (5, 7)]
    flightdeck.preflight(model, loss_fn, batches, steps=3)
    assert seen == [5, 7, 5]
    with pytest.raises(RuntimeError):
        flightdeck.preflight(model, loss_fn, (torch.randn(5, 3), torch.zeros(5, dtype=torch.long)))
    with pytest.raises(ValueError, match="there is no batch"):
        flightdeck.preflight(model, loss_fn, [])
    with pytest.raises(ValueError, match="steps is 0"):
        flightdeck.preflight(model, loss_fn, batches, steps=0)


def test_findings_are_told_while_the_loop_trains(tmp_path: Path) -> None:
    told: List[Tuple[flightdeck.Finding, flightdeck.Diagnosis]] = []
    without = trained(tmp_path / "without")
    with_it = trained(
        tmp_path / "with",
        prepare=lambda cockpit: cockpit.on_finding(lambda *both: told.append(both), every=1),
    )
    assert same(without, with_it)
    finding, diagnosis = told[0]
    assert (finding.lamp, finding.severity, finding.step) == ("loss_grew", "warning", 5)
    assert "It began at" in finding.evidence and 0 < finding.rate_factor < 1
    assert diagnosis.causes


def test_a_function_that_raises_is_one_warning(tmp_path: Path) -> None:
    def broken(finding: flightdeck.Finding, diagnosis: flightdeck.Diagnosis) -> None:
        raise OSError("no mail today")

    warnings: List[str] = []
    without = trained(tmp_path / "without")
    with_it = trained(
        tmp_path / "with", on_warning=warnings.append, prepare=lambda cockpit: cockpit.on_finding(broken, every=1)
    )
    assert same(without, with_it)
    assert len(warnings) == 1 and "no mail today" in warnings[0]


def test_a_lamp_stops_the_loop(tmp_path: Path) -> None:
    stopped: List[Cockpit] = []

    def prepare(cockpit: Cockpit) -> None:
        stopped.append(cockpit)
        cockpit.stop_on(["loss_grew", "failure"], every=1)

    trained(tmp_path / "run", prepare=prepare)
    assert stopped[0].stopped_by is not None and stopped[0].stopped_by.lamp == "loss_grew"
    assert flightdeck.read_run(tmp_path / "run").last_step == 5


def test_alerts_reach_a_command(tmp_path: Path) -> None:
    file = tmp_path / "alerts.jsonl"
    trained(tmp_path / "run", prepare=lambda cockpit: cockpit.alert(command=f"cat >> {file}", pause_s=0))
    alert = json.loads(file.read_text().split("}")[0] + "}")
    assert (alert["lamp"], alert["run"]) == ("loss_grew", str(tmp_path / "run"))
    assert alert["diagnosis"]


def test_remarks_are_recorded(tmp_path: Path) -> None:
    trained(tmp_path / "run", prepare=lambda cockpit: cockpit.remark(0, "a new day"))
    assert [note.text for note in flightdeck.read_run(tmp_path / "run").notes] == ["a new day"]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    cockpit = Cockpit(torch.nn.Linear(2, 1), ["loss"])
    with pytest.raises(RuntimeError, match="record_to"):
        cockpit.on_finding(print)
    cockpit.record_to(tmp_path / "run")
    with pytest.raises(ValueError, match="did you mean 'loss_grew'"):
        cockpit.on_finding(print, on="los_grew")
    with pytest.raises(ValueError, match="https"):
        cockpit.alert(webhook="https://example.org")
    with pytest.raises(ValueError, match="neither"):
        cockpit.alert()


def largest(model: torch.nn.Linear, inputs: torch.Tensor, rates: torch.Tensor) -> float:
    """Largest eigenvalue of the loss's Hessian, scaled by these rates on both sides; by plain autograd."""

    def loss(flat: torch.Tensor) -> torch.Tensor:
        weight, bias = flat[:6].view(2, 3), flat[6:]
        return (inputs @ weight.T + bias).square().sum(1).mean()

    flat = torch.cat([model.weight.detach().flatten(), model.bias.detach()])
    hessian = torch.autograd.functional.hessian(loss, flat)
    root = rates.sqrt()
    return float(torch.linalg.eigvalsh(root[:, None] * hessian * root)[-1])


def test_sharpness_knows_how_the_optimizer_steps() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(6, 3, dtype=torch.float64)
    for kind in ("sgd", "nesterov", "adam", "rmsprop"):
        model = torch.nn.Linear(3, 2, dtype=torch.float64)
        parameters = list(model.parameters())
        optimizer: torch.optim.Optimizer = {
            "sgd": lambda: torch.optim.SGD(parameters, lr=0.05, momentum=0.5),
            "nesterov": lambda: torch.optim.SGD(parameters, lr=0.05, momentum=0.5, nesterov=True),
            "adam": lambda: torch.optim.Adam(parameters, lr=0.01),
            "rmsprop": lambda: torch.optim.RMSprop(parameters, lr=0.01),
        }[kind]()
        cockpit = Cockpit(model, ["sharpness"], due=1, strict=True)
        for step in range(3):
            state = [optimizer.state.get(parameter, {}) for parameter in parameters]
            scales = [torch.ones(6), torch.ones(2)]
            if step > 0 and kind == "adam":
                scales = [
                    ((one["exp_avg_sq"] / (1 - 0.999**step)).sqrt() + 1e-8) * (1 - 0.9**step) for one in state
                ]
            elif step > 0 and kind == "rmsprop":
                scales = [one["square_avg"].sqrt() + 1e-8 for one in state]
            rates = optimizer.param_groups[0]["lr"] / torch.cat([scale.flatten() for scale in scales])
            expected = largest(model, inputs, rates.double())
            optimizer.zero_grad()
            losses = model(inputs).square().sum(1)
            with cockpit.watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()
        found = cockpit.readings[2]
        assert found["sharpness/eigenvalue"] == pytest.approx(expected, rel=1e-2), kind
        assert found["sharpness/bound"] == pytest.approx({"sgd": 3, "nesterov": 1.5, "adam": 38, "rmsprop": 2}[kind])


def test_phases_and_inputs_are_told() -> None:
    model = torch.nn.Linear(3, 2)
    cockpit = Cockpit(model, ["step_times", "inputs"], due=1, strict=True)
    for step in range(2):
        inputs = torch.full((4, 3), 2.0)
        losses = model(inputs).square().sum(1)
        with cockpit.watch(step, losses, learning_rate=0.1, inputs=inputs, phases={"data": 0.25, "forward": 0.5}):
            losses.mean().backward()
    readings = cockpit.readings[1]
    assert (readings["step_times/data"], readings["step_times/forward"]) == (0.25, 0.5)
    assert readings["inputs/mean"] == 2
