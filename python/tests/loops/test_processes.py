# SPDX-License-Identifier: MIT
"""Processes that train one model in shared memory, and cockpits that were made before a fork."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, List

import pytest
import torch
import torch.multiprocessing as processes
from loop import each_loss, mlp

import flightdeck
from flightdeck import Cockpit


def train(rank: int, model: torch.nn.Module, folder: str) -> None:
    """What each process of a Hogwild training does, with a cockpit of its own."""
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with Cockpit(model, "business", record_to=f"{folder}/{rank}", strict=True) as cockpit:
        for step in range(3):
            optimizer.zero_grad()
            losses = each_loss(model(torch.randn(6, 4)), torch.randint(0, 3, (6,)))
            with cockpit.watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()


def joined(children: List[Any]) -> List[int]:
    """Their exit codes; one that hangs is ended and fails."""
    for child in children:
        child.join(120)
        if child.exitcode is None:
            child.kill()
            child.join()
    return [child.exitcode for child in children]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_that_share_a_model_have_cockpits_of_their_own(start: str, tmp_path: Path) -> None:
    model = mlp()
    model.share_memory()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    context = processes.get_context(start)
    children = [context.Process(target=train, args=(rank, model, str(tmp_path))) for rank in range(2)]
    for child in children:
        child.start()
    assert joined(children) == [0, 0]
    assert any(not torch.equal(*pair) for pair in zip(before, model.parameters()))
    for rank in range(2):
        run = flightdeck.RunReader(str(tmp_path / str(rank)))
        assert run.status() == "finished"
        series = run.find("hess_trace")
        assert series is not None and run.numbers(series.id)[0].tolist() == [0, 1, 2]


class Digits(torch.nn.Module):
    """What small examples train: large enough that its ops are shared out to threads."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(1, 10, 5), torch.nn.Conv2d(10, 20, 5)
        self.hidden, self.last = torch.nn.Linear(320, 50), torch.nn.Linear(50, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(torch.max_pool2d(self.first(x), 2))
        x = torch.relu(torch.max_pool2d(torch.dropout(self.second(x), 0.5, self.training), 2))
        x = torch.dropout(torch.relu(self.hidden(x.flatten(1))), 0.5, self.training)
        return torch.log_softmax(self.last(x), 1)


def hogwild(rank: int, model: torch.nn.Module, folder: str, say: Any) -> None:
    """A loop that knows of no cockpit but by one line, with a loader and as many threads as PyTorch gives it."""
    torch.manual_seed(rank)
    data = torch.utils.data.TensorDataset(torch.randn(256, 1, 28, 28), torch.randint(0, 10, (256,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    said: List[str] = []
    Cockpit(model, "economy", record_to=f"{folder}/{rank}", on_warning=said.append).attach(optimizer=optimizer)
    model.train()
    for inputs, targets in torch.utils.data.DataLoader(data, 64, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.nll_loss(model(inputs), targets).backward()
        optimizer.step()
    say.put((torch.get_num_threads(), "\n".join(said)))


@pytest.mark.parametrize("is_passive", [False, True])
def test_hogwild_ends_and_says_what_keeps_the_cores(
    is_passive: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    if is_passive:
        monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    model = Digits()
    model.share_memory()
    context = processes.get_context("spawn")  # as the example: a fork takes over the threads of this process
    say: Any = context.SimpleQueue()
    children = [context.Process(target=hogwild, args=(rank, model, str(tmp_path), say)) for rank in range(2)]
    for child in children:
        child.start()
    assert joined(children) == [0, 0]
    for rank in range(2):
        run = flightdeck.read_run(tmp_path / str(rank))
        assert run.status == "finished"
        assert run["norm_test"].steps.tolist() == [0, 1, 2, 3]
    for threads, text in (say.get(), say.get()):
        are_too_many = threads > 1 and 2 * threads > len(os.sched_getaffinity(0))
        assert ("OMP_WAIT_POLICY=PASSIVE" in text) == (are_too_many and not is_passive), text


def test_a_process_alone_is_not_told_of_cores() -> None:
    model, said = mlp(), []
    model.share_memory()
    Cockpit(model, "economy", on_warning=said.append)
    assert said == []


def use_and_leave(cockpit: Cockpit, model: torch.nn.Module, say: Any) -> None:
    losses = each_loss(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long))
    for step in range(1, 3):
        with cockpit.watch(step, losses) as watch:
            losses.mean().backward(retain_graph=True)
        assert not watch.is_active
    cockpit.log(2, accuracy=1.0)
    cockpit.flush()
    cockpit.finish()
    say.put(model[0].weight.grad is not None)  # type: ignore[index, union-attr]


def test_a_cockpit_is_left_alone_in_processes_that_are_forked_from_its_own(tmp_path: Path) -> None:
    warnings: List[str] = []
    model = mlp()
    context = processes.get_context("fork")
    told: Any = context.SimpleQueue()

    def warn(text: str) -> None:
        warnings.append(text)
        told.put(text)

    with Cockpit(model, "economy", record_to=tmp_path / "run", on_warning=warn) as cockpit:
        losses = each_loss(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long))
        with cockpit.watch(0, losses):
            losses.mean().backward()
        child = context.Process(target=use_and_leave, args=(cockpit, model, told))
        child.start()
        assert joined([child]) == [0]
        assert f"made in process {os.getpid()}" in told.get()
        assert told.get() is True  # the loop went on
        assert told.empty() and not warnings
    run = flightdeck.RunReader(str(tmp_path / "run"))
    assert run.status() == "finished"
    series = run.find("loss")
    assert series is not None and run.numbers(series.id)[0].tolist() == [0]


def refuse(cockpit: Cockpit, model: torch.nn.Module) -> None:
    losses = each_loss(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long))
    with pytest.raises(RuntimeError, match="forked"):
        cockpit.watch(0, losses)


def test_a_strict_cockpit_refuses_other_processes() -> None:
    model = mlp()
    with Cockpit(model, "economy", strict=True) as cockpit:
        child = processes.get_context("fork").Process(target=refuse, args=(cockpit, model))
        child.start()
        assert joined([child]) == [0]


def train_and_forget(model: torch.nn.Module, folder: str, fails: bool) -> None:
    """A loop that nobody edited has no line that ends the run."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    cockpit = Cockpit(model, "economy", record_to=folder)
    cockpit.attach(model, optimizer)
    for _ in range(4):
        optimizer.zero_grad()
        each_loss(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long)).mean().backward()
        optimizer.step()
    if fails:
        raise ValueError("on purpose")


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("fails", [False, True])
def test_a_run_ends_with_its_process(start: str, fails: bool, tmp_path: Path) -> None:
    model = mlp()
    model.share_memory()
    child = processes.get_context(start).Process(target=train_and_forget, args=(model, str(tmp_path / "run"), fails))
    child.start()
    assert joined([child]) == [int(fails)]
    run = flightdeck.read_run(tmp_path / "run")
    assert run.status == ("failed" if fails else "finished")
    assert run["loss"].steps.tolist() == [0, 1, 2, 3]
