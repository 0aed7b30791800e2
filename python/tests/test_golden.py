# SPDX-License-Identifier: MIT
"""The golden cases of tests/golden, through Python: numbers of BackPACK, Cockpit and ViViT."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import pytest
import torch
from conftest import close
from torch import nn

import flightdeck
from flightdeck import quantity

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden"
STEPS = 4  # recorded; the last one has no update

MODELS = {
    "logreg": lambda: nn.Sequential(nn.Flatten(), nn.Linear(12, 4)),
    "mlp_relu": lambda: nn.Sequential(
        nn.Linear(10, 9), nn.ReLU(), nn.Linear(9, 7), nn.ReLU(), nn.Linear(7, 4)
    ),
    "mlp_sigmoid": lambda: nn.Sequential(
        nn.Linear(10, 8), nn.Sigmoid(), nn.Linear(8, 6), nn.Sigmoid(), nn.Linear(6, 3)
    ),
    "cnn_relu": lambda: nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, stride=2), nn.Conv2d(3, 4, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(16, 3),
    ),
    "cnn_deepobs_like": lambda: nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.ReLU(), nn.ZeroPad2d((0, 1, 0, 1)), nn.MaxPool2d(3, stride=2), nn.ZeroPad2d(1),
        nn.Conv2d(4, 4, 3), nn.ReLU(), nn.AvgPool2d(2, stride=2), nn.Flatten(), nn.Linear(4, 5), nn.ReLU(),
        nn.Linear(5, 3),
    ),
    "linreg_mse": lambda: nn.Sequential(nn.Linear(6, 1)),
}


class Recorded:
    """One recorded case, its model at the recorded parameters."""

    def __init__(self, name: str) -> None:
        self.recording: Dict[str, torch.Tensor] = torch.load(FOLDER / f"{name}.pt")
        self.is_regression = name == "linreg_mse"
        self.model = MODELS[name]().double()
        self.move_to("", 0)

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.recording[name]

    def move_to(self, run: str, step: int) -> None:
        with torch.no_grad():
            for k, parameter in enumerate(self.model.parameters()):
                parameter.copy_(self[f"{run}step{step}/param/{k}"])
        self.model.zero_grad()

    def losses(self, step: int = 0) -> torch.Tensor:
        outputs, targets = self.model(self[f"step{step}/x"]), self[f"step{step}/y"]
        if self.is_regression:
            return nn.functional.mse_loss(outputs, targets, reduction="none").flatten(1).mean(1)
        return nn.functional.cross_entropy(outputs, targets, reduction="none")

    def of_parameters(self, name: str) -> List[torch.Tensor]:
        return [self[f"{name}/{k}"] for k, _ in enumerate(self.model.parameters())]

    def concatenated(self, name: str, is_stack: bool = False) -> torch.Tensor:
        return torch.cat([part.flatten(1 if is_stack else 0) for part in self.of_parameters(name)], -1)

    @property
    def learning_rate(self) -> float:
        gradient = self["step0/grad/0"]
        step = self["step0/param/0"] - self["step1/param/0"]
        return float((step * gradient).sum() / gradient.square().sum())

    def walk(self, run: str, quantities: List[flightdeck.Quantity]) -> flightdeck.MemorySink:
        """Moves through the recorded parameters with the recorded batches, under a cockpit."""
        sink = flightdeck.MemorySink()
        cockpit = flightdeck.Cockpit(self.model, quantities, groups="parameter", strict=True, sinks=[sink])
        for step in range(STEPS):
            self.move_to(run, step)
            losses = self.losses(step)
            with cockpit.watch(step, losses, learning_rate=self.learning_rate):
                losses.mean().backward()
        cockpit.finish()
        return sink


@pytest.fixture(params=sorted(MODELS))
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(request.param)


def test_individual_gradients(recorded: Recorded) -> None:
    what = ["mean", "individual", "norms", "second_moment", "variance", "gram"]
    answers = flightdeck.gradients(recorded.losses(), recorded.model, what)
    N = answers.batch_size
    for k, answer in enumerate(answers):
        close(answer.mean, recorded[f"bp/grad/{k}"], 1e-9)
        close(answer.individual / N, recorded[f"bp/grad_batch/{k}"], 1e-9)
        close(answer.norms.square() / N**2, recorded[f"bp/batch_l2/{k}"], 1e-9)
        close(answer.second_moment / N, recorded[f"bp/sum_grad_squared/{k}"], 1e-9)
        close(answer.variance / N**2, recorded[f"bp/variance/{k}"], 1e-9)
        close(answer.gram / N**2, recorded[f"bp/batch_dot/{k}"], 1e-9)


def test_curvature(recorded: Recorded) -> None:
    answers = flightdeck.curvature(
        recorded.losses(), recorded.model,
        ["diag_ggn", "diag_ggn_per_sample", "diag_hessian", "diag_hessian_per_sample", "kflr", "kfra"],
    )
    close(answers.concatenated("diag_ggn"), recorded.concatenated("bp/diag_ggn_exact"), 1e-8)
    close(answers.concatenated("diag_hessian"), recorded.concatenated("bp/diag_h"), 1e-8)
    batch = recorded.concatenated("bp/diag_ggn_exact_batch", is_stack=True)
    close(answers.concatenated("diag_ggn_per_sample"), batch, 1e-8)
    batch = recorded.concatenated("bp/diag_h_batch", is_stack=True)
    close(answers.concatenated("diag_hessian_per_sample"), batch, 1e-8)
    for k, answer in enumerate(answers):
        for kind in ("kflr", "kfra"):
            factors = getattr(answer, kind)
            close(factors.output, recorded[f"bp/{kind}/{k}/factor0"], 1e-8)
            if factors.input is not None:
                close(factors.input, recorded[f"bp/{kind}/{k}/factor1"], 1e-8)


def test_matrices(recorded: Recorded) -> None:
    for kind in ("ggn", "hessian"):
        operator = flightdeck.curvature_operator(recorded.losses(), recorded.model, kind)  # type: ignore[arg-type]
        close(operator.to_dense(), recorded[f"dense/{kind}"], 1e-8)


def test_vivit(recorded: Recorded) -> None:
    vivit = flightdeck.Vivit(recorded.losses(), recorded.model)
    count = recorded["vivit/mb/top_eigvals"].numel()
    close(vivit.eigenvalues()[:count].flip(0), recorded["vivit/mb/top_eigvals"], 1e-8)
    close(vivit.lambdas(count).flip(1), recorded["vivit/mb/lambdas"], 1e-8)
    close(vivit.gammas(count).flip(1).abs(), recorded["vivit/mb/gammas"].abs(), 1e-8)
    for damping in ("1.0", "0.01"):
        step = vivit.newton_step(torch.tensor([float(damping)], dtype=torch.float64), count)
        for k, part in enumerate(step):
            close(part, recorded[f"vivit/mb/newton_damping{damping}/{k}"], 1e-8)


def test_quantities_of_the_cockpit(recorded: Recorded) -> None:
    names = {
        "loss": "Loss", "norm_test": "NormTest", "inner_test": "InnerTest", "ortho_test": "OrthoTest",
        "cabs": "CABS", "early_stopping": "EarlyStopping", "mean_gsnr": "MeanGSNR", "tic_diag": "TICDiag",
        "tic_trace": "TICTrace", "alpha": "Alpha",
    }
    chosen = [quantity(name) for name in names]
    chosen.append(quantity("tic_diag", curvature="ggn", named="tic_diag_ggn"))
    sink = recorded.walk("", chosen)
    for step in range(STEPS - 1):
        for ours, theirs in {**names, "tic_diag_ggn": "TICDiag_ggn"}.items():
            expected = float(recorded[f"ck/step{step}/{theirs}"])
            assert sink.number(step, ours) == pytest.approx(expected, rel=1e-8), (ours, step)


def test_quantities_per_parameter(recorded: Recorded) -> None:
    names = {"distance": "Distance", "update_size": "UpdateSize", "grad_norm": "GradNorm", "hess_trace": "HessTrace"}
    sink = recorded.walk("", [quantity(name) for name in names])
    for step in range(STEPS - 1):
        for ours, theirs in names.items():
            expected = recorded[f"ck/step{step}/{theirs}"]
            values = [sink.number(step, ours, name) for name, _ in recorded.model.named_parameters()]
            close(torch.tensor(values, dtype=torch.float64), expected.flatten(), 1e-8)
