# SPDX-License-Identifier: MIT
"""Bad input is the fitting exception of Python, with the text of the C++ library."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Type, get_args

import pytest
import torch
from conftest import Case

import flightdeck
from flightdeck import _words
from flightdeck._load import check_torch_version


def test_words_that_are_none(small: Case) -> None:
    with pytest.raises(ValueError, match="there is no need 'norm'; choose one of mean, individual, norms"):
        flightdeck.gradients(small.losses(), small.model, "norm")  # type: ignore[arg-type]
    needs = ", ".join(get_args(_words.Need))
    with pytest.raises(ValueError, match=f"choose one of {needs}$"):  # the types know the words that there are
        flightdeck.gradients(small.losses(), small.model, "norm")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no reduction 'max'; choose one of mean, sum"):
        flightdeck.Batch(small.losses(), small.model, reduction="max")  # type: ignore[arg-type]


def test_names_that_are_none(small: Case) -> None:
    with pytest.raises(ValueError, match="grad_norm"):
        flightdeck.quantity("grad_norn")
    with pytest.raises(ValueError, match="economy"):
        flightdeck.Cockpit(small.model, "ecomony")
    with pytest.raises(ValueError, match="curvature"):
        flightdeck.quantity("hess_trace", curvatur="ggn")
    with pytest.raises(ValueError):
        flightdeck.DueSteps("now and then")
    with pytest.raises(ValueError):
        flightdeck.Cockpit(small.model, ["loss"], groups="families")
    answers = flightdeck.gradients(small.losses(), small.model, "norms")
    with pytest.raises(IndexError, match="0.wait"):
        answers["0.wait"]


def test_losses_that_fit_nothing(small: Case) -> None:
    with pytest.raises(ValueError):
        flightdeck.gradients(small.losses().detach(), small.model, "norms")
    losses = small.losses()
    with pytest.raises(ValueError, match="batch_size"):  # a scalar of terms of two sizes
        flightdeck.gradients(losses.mean() + losses[:2].sum(), small.model, "norms")
    with pytest.raises(TypeError, match="parameters"):
        flightdeck.gradients(small.losses())
    with pytest.raises(TypeError, match="one tensor"):
        flightdeck.gradients(small.losses(), torch.ones(2))  # type: ignore[arg-type]
    frozen = [torch.ones(2)]
    with pytest.raises(ValueError, match="gradient"):
        flightdeck.Cockpit(frozen, ["loss"])


def test_a_freed_graph_is_said(small: Case) -> None:
    losses = small.losses()
    losses.mean().backward()
    with pytest.raises(RuntimeError, match="the graph behind losses was already freed by a backward pass"):
        flightdeck.gradients(losses, small.model, "norms")


def test_a_watch_without_backward(small: Case) -> None:
    watch = flightdeck.Watch(small.losses(), small.model)
    assert not watch.has_run
    with pytest.raises(RuntimeError, match="no backward pass went through the losses before finish"):
        watch.finish()
    with pytest.raises(RuntimeError, match="it has not finished"):
        watch.result


class Failing(torch.autograd.Function):
    kind: Type[BaseException] = ValueError

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        raise Failing.kind("of the program's")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ZeroDivisionError, torch.cuda.OutOfMemoryError])
def test_what_a_function_of_the_program_raises_comes_back_as_it_is(kind: Type[BaseException]) -> None:
    Failing.kind = kind
    model = torch.nn.Linear(3, 2)
    for ask in (flightdeck.gradients, flightdeck.curvature, flightdeck.Vivit):
        losses = Failing.apply(model(torch.ones(4, 3))).square().sum(1)
        with pytest.raises(kind, match="of the program's"):
            ask(losses, model)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="memory of the host is not counted")
def test_a_gpu_without_memory_is_pytorchs_own_exception() -> None:
    model = torch.nn.Linear(4096, 4096).cuda()
    losses = model(torch.ones(4096, 4096, device="cuda")).square().sum(1)
    with pytest.raises(torch.cuda.OutOfMemoryError):  # 275 GB of rows
        flightdeck.gradients(losses, model, "individual")


def test_batch_norm_is_refused_by_name() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
    losses = model(torch.randn(5, 3)).flatten()
    answers = flightdeck.coverage(losses, model)
    assert {entry.level for entry in answers.parameters if entry.name.startswith("0")} == {"refused"}
    batch = flightdeck.Batch(losses, model, batch_norm="split_gradient")
    rows = flightdeck.gradients(batch, what=["individual", "mean"])
    assert torch.allclose(rows["0.weight"].individual.mean(0), rows["0.weight"].mean, atol=1e-6)


def test_folders(small: Case, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        flightdeck.RunReader(str(tmp_path / "nothing"))
    for _ in range(1):
        with flightdeck.Cockpit(small.model, ["loss"], record_to=tmp_path / "run") as cockpit:
            losses = small.losses()
            with cockpit.watch(0, losses):
                losses.mean().backward()
    with pytest.raises(FileExistsError, match="run"):
        flightdeck.Cockpit(small.model, ["loss"], record_to=tmp_path / "run")


def test_things_that_are_no_sinks(small: Case) -> None:
    cockpit = flightdeck.Cockpit(small.model, ["loss"])
    with pytest.raises(TypeError, match="a sink has begin, write, note and finish"):
        cockpit.add_sink(object())  # type: ignore[arg-type]


def test_another_pytorch_is_refused() -> None:
    with pytest.raises(ImportError, match="compiled against PyTorch 2.11.0 but PyTorch 2.13.0 is imported"):
        check_torch_version("2.11.0", "2.13.0")
    check_torch_version("2.13.0", "2.13.0+cpu")
    program = "import torch; torch.__version__ = '9.9.0'; import flightdeck"
    importing = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert importing.returncode == 1
    said = importing.stderr.strip().splitlines()[-1]
    release = re.match(r"[0-9.]*[0-9]", torch.__version__)[0]  # Debian's is 1.13.0a0+gitunknown
    assert said.startswith(f"ImportError: flightdeck was compiled against PyTorch {release} but")
    assert "PyTorch 9.9.0 is imported; build it again for this one: pip install" in said
