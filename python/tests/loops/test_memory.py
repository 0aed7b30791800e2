# SPDX-License-Identifier: MIT
"""Long runs: nothing stays behind from step to step."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from typing import Any, Callable, List, Tuple

import pytest
import torch
from loop import batches

from flightdeck import Cockpit, Quantity, Sink, StepView

STEPS, SETTLED = 10_000, 2_000
# What queues and the tables of the allocators hold more or less at the end than before, and the pages of a run's database
# that SQLite keeps, up to two megabytes of them.
BYTES, BLOCKS, PAGES = 400_000, 2_000, 2_100_000


class MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 returns; `uordblks` are bytes that are in use."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]


def held() -> Tuple[int, int]:
    """Bytes that C++ holds, and blocks that Python holds. What a process may keep for later is no part of them."""
    gc.collect()
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        pytest.skip("this libc does not count what is held (glibc 2.33)")
    ask.restype = MallInfo
    told = ask()
    return int(told.uordblks + told.hblkhd), sys.getallocatedblocks()


def grown(take_step: Callable[[int], None]) -> Tuple[int, int]:
    """What is held more at the end of a long run than early in it."""
    early = (0, 0)
    for step in range(STEPS):
        take_step(step)
        if step == SETTLED:
            early = held()
    late = held()
    return late[0] - early[0], late[1] - early[1]


def check_flat(take_step: Callable[[int], None], known: int = 0) -> None:
    more_bytes, more_blocks = grown(take_step)
    assert more_bytes < BYTES + known and more_blocks < BLOCKS, f"{more_bytes} bytes and {more_blocks} blocks of Python's more"


class Counter(Sink):
    def __init__(self) -> None:
        self.steps = 0

    def write(self, step: Any) -> None:
        self.steps += 1


def test_memory_is_flat_in_a_loop_that_is_not_edited(tmp_path: Path) -> None:
    """With all that an attachment hooks into, a quantity and a sink of Python's, and a run on disk."""
    model, criterion, counter = torch.nn.Linear(4, 3), torch.nn.CrossEntropyLoss(), Counter()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def largest(step: StepView) -> torch.Tensor:
        return torch.stack([parameter.mean.abs().max() for parameter in step.gradients]).max()

    mine = Quantity("grad_max", largest, needs="mean")
    cockpit = Cockpit(model, ["loss", "norm_test", mine], record_to=tmp_path / "run", sinks=[counter], strict=True)
    ((inputs, targets),) = batches(1)

    def take_step(_: int) -> None:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()

    with cockpit, cockpit.attach(model, optimizer, loss_fn=criterion):
        check_flat(take_step, PAGES)
    assert counter.steps == STEPS


def test_memory_is_flat_in_watched_steps() -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    cockpit = Cockpit(model, "economy", strict=True)
    inputs = torch.ones(4, 3)

    def take_step(step: int) -> None:
        optimizer.zero_grad()
        losses = model(inputs).square().sum(1)
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()

    check_flat(take_step)


def test_one_small_tensor_for_each_step_is_seen() -> None:
    """What the other tests look for."""
    kept: List[torch.Tensor] = []
    more_bytes, more_blocks = grown(lambda _: kept.append(torch.zeros(1)))
    assert more_bytes > BYTES + PAGES and more_blocks > 2 * BLOCKS
