# SPDX-License-Identifier: MIT
"""Asks other packages and Flightdeck the same questions: how far the answers differ, and what each takes.

    python python/tools/there_and_here.py [--only backpack opacus] [--rounds 7] [--batch 64] [--threads 1]

Packages that are not installed are left out. Answers are compared in double on a small batch, time is taken in single
precision on a larger one: both sides in one process, one after the other and in turn, medians. Prints the table of
docs/there_and_here.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import statistics
import sys
import time
import warnings
from typing import Any, Callable, Dict, List, NamedTuple

import torch
from torch import nn

import flightdeck

Tensor = torch.Tensor
# Of a batch of `problem`: a function to be timed, which returns the answer as tensors.
Side = Callable[["Problem"], Callable[[], List[Tensor]]]


class Case(NamedTuple):
    """One question, put there and here."""

    package: str
    question: str
    there: Side
    here: Side
    compared_in: torch.dtype = torch.float64


CASES: List[Case] = []
# What has to be importable, and the name on PyPI (none: it is part of PyTorch).
PACKAGES: Dict[str, Any] = {
    "backpack": ("backpack", "backpack-for-pytorch"),
    "cockpit": ("cockpit", "cockpit-for-pytorch"),
    "vivit": ("vivit", "vivit-for-pytorch"),
    "curvlinops": ("curvlinops", "curvlinops-for-pytorch"),
    "opacus": ("opacus", "opacus"),
    "torch.func": ("torch.func", None),
}


class Problem:
    """A small convolutional network and a batch. Everybody gets a copy: some packages hook into modules."""

    def __init__(self, dtype: torch.dtype, batch: int) -> None:
        source = torch.Generator().manual_seed(1)
        self.dtype = dtype
        self.inputs = torch.randn(batch, 3, 16, 16, generator=source, dtype=torch.float64).to(dtype)
        self.labels = torch.randint(0, 10, (batch,), generator=source)

    def model(self) -> nn.Sequential:
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10),
        ).to(self.dtype)

    def losses(self, model: nn.Module) -> Tensor:
        return nn.functional.cross_entropy(model(self.inputs), self.labels, reduction="none")

    def vector(self, model: nn.Module) -> Tensor:
        source = torch.Generator().manual_seed(2)
        size = sum(parameter.numel() for parameter in model.parameters())
        return torch.randn(size, generator=source, dtype=torch.float64).to(self.dtype)


def case(package: str, question: str, there: Side, here: Side, **more: Any) -> None:
    CASES.append(Case(package, question, there, here, **more))


def flat(parts: Any) -> Tensor:
    return torch.cat([part.reshape(-1) for part in parts])


# ---- here ----


def first_order(what: str, scale: Callable[[Tensor, int], Tensor] = lambda value, n: value) -> Side:
    """Individual gradients are those of each loss; packages that differentiate the mean have a factor 1/N."""

    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        model, N = problem.model(), len(problem.labels)

        def ask() -> List[Tensor]:
            answers = flightdeck.gradients(problem.losses(model), model, what)
            return [scale(getattr(one, what), N) for one in answers]

        return ask

    return side


def second_order(what: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        model = problem.model()

        def ask() -> List[Tensor]:
            answers = flightdeck.curvature(problem.losses(model), model, what)  # type: ignore[arg-type]
            return [getattr(one, what) for one in answers.parameters]

        return ask

    return side


def product(kind: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        model = problem.model()
        vector = problem.vector(model)

        def ask() -> List[Tensor]:
            operator = flightdeck.curvature_operator(problem.losses(model), model, kind)  # type: ignore[arg-type]
            return [operator @ vector]

        return ask

    return side


# ---- BackPACK ----


def backpack(extension: str, field: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        from backpack import backpack as asking, extend, extensions

        model, criterion = extend(problem.model()), extend(nn.CrossEntropyLoss())

        def ask() -> List[Tensor]:
            model.zero_grad()
            loss = criterion(model(problem.inputs), problem.labels)
            with asking(getattr(extensions, extension)()):
                loss.backward()
            return [getattr(parameter, field) for parameter in model.parameters()]

        return ask

    return side


def kflr_of_backpack(problem: Problem) -> Callable[[], List[Tensor]]:
    ask = backpack("KFLR", "kflr")(problem)
    return lambda: [factor for factors in ask() for factor in factors]


def kflr(problem: Problem) -> Callable[[], List[Tensor]]:
    model = problem.model()

    def ask() -> List[Tensor]:
        answers = flightdeck.curvature(problem.losses(model), model, "kflr")
        factors = [one.kflr for one in answers.parameters]
        return [part for one in factors for part in (one.output, one.input) if part is not None]

    return ask


case("backpack", "individual gradients (`BatchGrad`)", backpack("BatchGrad", "grad_batch"),
     first_order("individual", lambda value, n: value / n))
case("backpack", "squared norms (`BatchL2Grad`)", backpack("BatchL2Grad", "batch_l2"),
     first_order("norms", lambda value, n: (value / n) ** 2))
case("backpack", "second moment (`SumGradSquared`)", backpack("SumGradSquared", "sum_grad_squared"),
     first_order("second_moment", lambda value, n: value / n))
case("backpack", "variance (`Variance`)", backpack("Variance", "variance"),
     first_order("variance", lambda value, n: value / n**2))
case("backpack", "GGN diagonal (`DiagGGNExact`)", backpack("DiagGGNExact", "diag_ggn_exact"), second_order("diag_ggn"))
case("backpack", "Hessian diagonal (`DiagHessian`)", backpack("DiagHessian", "diag_h"), second_order("diag_hessian"))
case("backpack", "GGN diagonals of samples (`BatchDiagGGNExact`)", backpack("BatchDiagGGNExact", "diag_ggn_exact_batch"),
     second_order("diag_ggn_per_sample"))
case("backpack", "Kronecker factors (`KFLR`)", kflr_of_backpack, kflr)


# ---- Cockpit ----

# Cockpit has a list with one number for each parameter; the last entry says how one number is made of it.
QUANTITIES: Dict[str, Any] = {
    "Loss": ("loss", None), "GradNorm": ("grad_norm", "norm"), "Distance": ("distance", "norm"),
    "UpdateSize": ("update_size", "norm"), "Alpha": ("alpha", None), "NormTest": ("norm_test", None),
    "InnerTest": ("inner_test", None), "OrthoTest": ("ortho_test", None), "MeanGSNR": ("mean_gsnr", None),
    "TICDiag": ("tic_diag", None), "HessTrace": ("hess_trace", "sum"), "HessMaxEV": ("hess_max_ev", None),
}
PRESETS = {
    "economy": ["Alpha", "Distance", "GradHist1d", "GradNorm", "InnerTest", "Loss", "NormTest", "OrthoTest", "UpdateSize"],
}
PRESETS["business"] = PRESETS["economy"] + ["TICDiag", "HessTrace"]
PRESETS["full"] = PRESETS["business"] + ["HessMaxEV", "GradHist2d"]
STEPS = 3


def cockpit_there(preset: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        from backpack import extend
        from cockpit import Cockpit
        from cockpit.utils.configuration import configuration

        def train() -> List[Tensor]:
            model, criterion = extend(problem.model()), extend(nn.CrossEntropyLoss())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            cockpit = Cockpit(model.parameters(), quantities=configuration(preset))
            for step in range(STEPS):
                optimizer.zero_grad()
                outputs = model(problem.inputs)
                loss = criterion(outputs, problem.labels)
                losses = nn.functional.cross_entropy(outputs, problem.labels, reduction="none")
                told = {"batch_size": len(losses), "individual_losses": losses, "loss": loss, "optimizer": optimizer}
                with cockpit(step, info=told):
                    loss.backward(create_graph=cockpit.create_graph(step))
                optimizer.step()
            outputs_by_name = {type(one).__name__: one.output for one in cockpit.quantities}
            values = []
            for name in PRESETS[preset]:
                if name in QUANTITIES:
                    for step in range(STEPS - 1):
                        value = torch.as_tensor(outputs_by_name[name][step], dtype=torch.float64)
                        together = QUANTITIES[name][1]
                        values.append(getattr(value, together)() if together else value)
            return values

        return train

    return side


def cockpit_here(preset: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        def train() -> List[Tensor]:
            model = problem.model()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            cockpit = flightdeck.Cockpit(model, preset, keep=None, strict=True)
            for step in range(STEPS):
                optimizer.zero_grad()
                losses = problem.losses(model)
                with cockpit.watch(step, losses, optimizer):
                    losses.mean().backward()
                optimizer.step()
            values: List[Tensor] = []
            for name in PRESETS[preset]:
                if name in QUANTITIES:
                    for step in range(STEPS - 1):
                        reading: Any = cockpit.readings[step][QUANTITIES[name][0]]
                        values.append(torch.tensor(reading, dtype=torch.float64))
            return values

        return train

    return side


for chosen in PRESETS:
    # HessMaxEV works in single precision alone.
    case("cockpit", f"{STEPS} steps, all of `{chosen}`", cockpit_there(chosen), cockpit_here(chosen),
         compared_in=torch.float32 if chosen == "full" else torch.float64)


# ---- ViViT ----

LARGEST = 5


def give_back_symeig() -> None:
    """ViViT 1.0.0 calls torch.symeig, which PyTorch 2 has no longer."""

    def symeig(matrix: Tensor, eigenvectors: bool = False, upper: bool = True) -> Any:
        values, vectors = torch.linalg.eigh(matrix, UPLO="U" if upper else "L")
        return values, vectors if eigenvectors else values.new_empty(0)

    torch.symeig = torch.Tensor.symeig = symeig  # type: ignore[assignment]


def vivit_eigenvalues(problem: Problem) -> Callable[[], List[Tensor]]:
    from backpack import backpack as asking, extend
    from vivit.linalg.eigvalsh import EigvalshComputation

    give_back_symeig()
    model, criterion = extend(problem.model()), extend(nn.CrossEntropyLoss())
    groups = [{"params": list(model.parameters())}]

    def ask() -> List[Tensor]:
        computation = EigvalshComputation()
        loss = criterion(model(problem.inputs), problem.labels)
        with asking(computation.get_extension(), extension_hook=computation.get_extension_hook(groups)):
            loss.backward()
        return [computation.get_result(groups[0]).flip(0)[:LARGEST]]

    return ask


def vivit_derivatives(problem: Problem) -> Callable[[], List[Tensor]]:
    from backpack import backpack as asking, extend
    from vivit.optim.directional_derivatives import DirectionalDerivativesComputation

    give_back_symeig()
    model, criterion = extend(problem.model()), extend(nn.CrossEntropyLoss())
    groups = [{
        "params": list(model.parameters()),
        "criterion": lambda values: list(range(len(values) - LARGEST, len(values))),
    }]

    def ask() -> List[Tensor]:
        computation = DirectionalDerivativesComputation()
        loss = criterion(model(problem.inputs), problem.labels)
        with asking(*computation.get_extensions(), extension_hook=computation.get_extension_hook(groups)):
            loss.backward()
        gammas, lambdas = computation.get_result(groups[0])
        return [gammas.flip(1).abs(), lambdas.flip(1)]  # the sign of an eigenvector is free

    return ask


def eigenvalues_here(problem: Problem) -> Callable[[], List[Tensor]]:
    model = problem.model()
    return lambda: [flightdeck.Vivit(problem.losses(model), model, gradients=False).eigenvalues()[:LARGEST]]


def derivatives_here(problem: Problem) -> Callable[[], List[Tensor]]:
    model = problem.model()

    def ask() -> List[Tensor]:
        vivit = flightdeck.Vivit(problem.losses(model), model)
        return [vivit.gammas(LARGEST).abs(), vivit.lambdas(LARGEST)]

    return ask


case("vivit", f"{LARGEST} largest eigenvalues of the GGN", vivit_eigenvalues, eigenvalues_here)
case("vivit", f"slope and curvature of each sample along {LARGEST} eigenvectors", vivit_derivatives, derivatives_here)


# ---- curvlinops ----


def curvlinops(kind: str) -> Side:
    def side(problem: Problem) -> Callable[[], List[Tensor]]:
        import curvlinops as package

        model, criterion = problem.model(), nn.CrossEntropyLoss()
        vector, data = problem.vector(model), [(problem.inputs, problem.labels)]
        make = getattr(package, kind)

        def ask() -> List[Tensor]:
            operator = make(model, criterion, list(model.parameters()), data, check_deterministic=False)
            return [operator @ vector]

        return ask

    return side


case("curvlinops", "Hessian times a vector", curvlinops("HessianLinearOperator"), product("hessian"))
case("curvlinops", "GGN times a vector", curvlinops("GGNLinearOperator"), product("ggn"))
case("curvlinops", "empirical Fisher times a vector", curvlinops("EFLinearOperator"), product("empirical_fisher"))


# ---- Opacus ----


def opacus(problem: Problem) -> Callable[[], List[Tensor]]:
    from opacus import GradSampleModule

    model = GradSampleModule(problem.model(), loss_reduction="mean")
    criterion = nn.CrossEntropyLoss()

    def ask() -> List[Tensor]:
        model.zero_grad(set_to_none=True)
        criterion(model(problem.inputs), problem.labels).backward()
        return [parameter.grad_sample for parameter in model.parameters()]

    return ask


def beside_backward(problem: Problem) -> Callable[[], List[Tensor]]:
    model = problem.model()

    def ask() -> List[Tensor]:
        model.zero_grad(set_to_none=True)
        losses = problem.losses(model)
        with flightdeck.Watch(losses, model, "individual") as watch:
            losses.mean().backward()
        return [one.individual for one in watch.result]

    return ask


def clipped_by_opacus(problem: Problem) -> Callable[[], List[Tensor]]:
    ask = opacus(problem)

    def clip() -> List[Tensor]:
        rows = ask()
        norms = torch.stack([row.flatten(1).norm(dim=1) for row in rows], dim=1).norm(dim=1)
        factors = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        return [torch.einsum("n,n...->...", factors, row) for row in rows]

    return clip


def clipped_here(problem: Problem) -> Callable[[], List[Tensor]]:
    model = problem.model()

    def clip() -> List[Tensor]:
        losses = problem.losses(model)
        norms = flightdeck.gradients(losses, model, "norms").total.norms
        factors = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        return list(torch.autograd.grad(losses @ factors, list(model.parameters())))

    return clip


case("opacus", "individual gradients beside `backward()`", opacus, beside_backward)
case("opacus", "sum of gradients clipped to norm 1", clipped_by_opacus, clipped_here)


# ---- torch.func ----


def func_rows(problem: Problem) -> Callable[[], List[Tensor]]:
    from torch.func import functional_call, grad, vmap

    model = problem.model()
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss_of(values: Dict[str, Tensor], one: Tensor, label: Tensor) -> Tensor:
        outputs = functional_call(model, values, (one.unsqueeze(0),))
        return nn.functional.cross_entropy(outputs, label.unsqueeze(0))

    rows = vmap(grad(loss_of), in_dims=(None, 0, 0))
    return lambda: list(rows(parameters, problem.inputs, problem.labels).values())


def func_product(problem: Problem) -> Callable[[], List[Tensor]]:
    from torch.func import functional_call, grad, jvp

    model = problem.model()
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    vector, parts = problem.vector(model), {}
    for name, value in parameters.items():
        parts[name], vector = vector[: value.numel()].view_as(value), vector[value.numel():]

    def loss_of(values: Dict[str, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(functional_call(model, values, (problem.inputs,)), problem.labels)

    return lambda: [flat(jvp(grad(loss_of), (parameters,), (parts,))[1].values())]


case("torch.func", "individual gradients (`vmap(grad(...))`)", func_rows, first_order("individual"))
case("torch.func", "Hessian times a vector (`jvp(grad(...))`)", func_product, product("hessian"))


# ---- the table ----


def difference(there: List[Tensor], here: List[Tensor]) -> float:
    """The largest over all tensors, relative to the largest entry of each."""
    assert len(there) == len(here), f"{len(there)} answers there, {len(here)} here"
    largest = 0.0
    for theirs, ours in zip(there, here):
        assert theirs.shape == ours.shape, f"{theirs.shape} there, {ours.shape} here"
        scale = float(theirs.detach().abs().max())
        largest = max(largest, float((theirs - ours).detach().abs().max()) / (scale or 1.0))
    return largest


def milliseconds(ask: Callable[[], List[Tensor]]) -> float:
    start = time.perf_counter()
    ask()
    return (time.perf_counter() - start) * 1e3


def measure(one: Case, options: argparse.Namespace) -> str:
    small = Problem(one.compared_in, options.small_batch)
    differs = difference(one.there(small)(), one.here(small)())
    large = Problem(torch.float32, options.batch)
    asks = (one.there(large), one.here(large))
    times: List[List[float]] = [[], []]
    for turn in range(-1, options.rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            taken = milliseconds(asks[which])
            if turn >= 0:
                times[which].append(taken)
    there, here = (statistics.median(taken) for taken in times)
    return f"| {one.package} | {one.question} | {differs:.1e} | {there:.1f} | {here:.1f} | {there / here:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=sorted(PACKAGES), default=sorted(PACKAGES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batch", type=int, default=64, help="samples for the times")
    parser.add_argument("--small-batch", type=int, default=8, help="samples for the differences")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")
    print("| there | question | largest relative difference | there, ms | here, ms | ratio |")
    print("|---|---|---|---|---|---|")
    for package, (module, name) in PACKAGES.items():
        if package not in options.only:
            continue
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"{package}: left out: {error}; pip install --no-deps {name}", file=sys.stderr)
            continue
        if name:
            print(f"{package}: {name} {importlib.metadata.version(name)}", file=sys.stderr)
        for one in CASES:
            if one.package == package:
                try:
                    print(measure(one, options), flush=True)
                except Exception as error:  # what others raise is theirs to choose
                    print(f"{package}: {one.question}: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
