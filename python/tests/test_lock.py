# SPDX-License-Identifier: MIT
"""Python's lock is free while the engine works."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from typing import Callable, Dict, Iterator, List, Tuple

import pytest
import torch

import flightdeck
from flightdeck import Cockpit

N, WIDTH = 64, 192
Work = Callable[[], object]


@pytest.fixture
def turns() -> Iterator[List[float]]:
    """When another thread had the lock. It takes it from nobody, so it has it only where it was given away."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    times: List[float] = []
    is_over = threading.Event()

    def run() -> None:
        while not is_over.is_set():
            times.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=run)
    thread.start()
    yield times
    is_over.set()
    thread.join()
    sys.setswitchinterval(interval)


def losses_of(model: torch.nn.Module) -> torch.Tensor:
    torch.manual_seed(0)
    inputs, labels = torch.randn(N, WIDTH), torch.randint(0, 10, (N,))
    return torch.nn.functional.cross_entropy(model(inputs), labels, reduction="none")


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10))


def share(times: List[float], work: Work) -> Tuple[float, float]:
    """Seconds of the work, and the part of them that the other thread waited longest for the lock."""
    begin = time.perf_counter()
    work()
    end = time.perf_counter()
    points = [begin, *(moment for moment in times if begin < moment < end), end]
    return end - begin, max(b - a for a, b in zip(points, points[1:])) / (end - begin)


class Setting:
    """A batch and what is asked of it."""

    def __init__(self) -> None:
        self.model = network()
        self.batch = flightdeck.Batch(losses_of(self.model), self.model)
        self.hessian = flightdeck.curvature_operator(self.batch)
        self.lines = torch.randn(16, self.hessian.dim)


ENGINE: Dict[str, Callable[[Setting], object]] = {
    "gradients": lambda s: flightdeck.gradients(s.batch, what=["individual", "gram", "variance"]),
    "curvature": lambda s: flightdeck.curvature(s.batch, what=["diag_ggn", "diag_hessian", "kflr"]),
    "multiply": lambda s: s.hessian @ s.lines,
    "eigenpairs": lambda s: flightdeck.eigenpairs(s.hessian, largest=2, tolerance=1e-2),
    "spectral_density": lambda s: flightdeck.spectral_density(s.hessian),
    "conjugate_gradients": lambda s: flightdeck.conjugate_gradients(s.hessian.damped(1.0), s.lines[:4]),
    "trace": lambda s: flightdeck.trace(s.hessian),
    "Vivit": lambda s: flightdeck.Vivit(s.batch).eigenvalues(),
    "ggn_factor": lambda s: flightdeck.ggn_factor(s.batch),
}


@pytest.mark.parametrize("name", sorted(ENGINE))
def test_the_engine_works_without_the_lock(name: str, turns: List[float]) -> None:
    setting = Setting()
    ENGINE[name](setting)  # what is made once is there
    found = [share(turns, lambda: ENGINE[name](setting)) for _ in range(5)]
    assert min(silence for _, silence in found) < 0.5, found


def test_a_cockpit_measures_curvature_without_the_lock(turns: List[float]) -> None:
    model = network()
    cockpit = Cockpit(model, "business", strict=True)
    begins = []
    for step in range(3):
        losses, watches = losses_of(model), []
        begins.append(share(turns, lambda: watches.append(cockpit.watch(step, losses, learning_rate=0.1))))
        losses.mean().backward()
        watches[0].end()
    assert min(silence for _, silence in begins) < 0.5, begins


@pytest.mark.parametrize("holds", [False, True])
def test_who_holds_the_lock_is_told_from_who_does_not(holds: bool, turns: List[float]) -> None:
    """What the other tests look for, in a call that is known to do either."""
    library = ctypes.PyDLL(None) if holds else ctypes.CDLL(None)
    found = [share(turns, lambda: library.usleep(50_000)) for _ in range(5)]
    assert (min(silence for _, silence in found) < 0.5) is not holds, found
