# SPDX-License-Identifier: MIT
"""Cockpits over several processes, under DistributedDataParallel on Gloo."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import List

import flightdeck
import pytest
import torch

HERE = Path(__file__).parent
MODES = ["plain", "buckets", "no_sync", "static", "single", "unused", "uneven", "weighted", "hook", "attached", "group",
         "failing", "join"]  # fmt: skip


def start(script: str, folder: Path, size: int, *words: str) -> "List[subprocess.Popen[str]]":
    return [
        subprocess.Popen(
            [sys.executable, str(HERE / script), str(folder / "store"), str(rank), str(size), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(size)
    ]


def run_processes(folder: Path, size: int, mode: str, script: str = "ranks_process.py") -> str:
    """What rank 0 prints; all have to end well."""
    processes = start(script, folder, size, mode)
    texts = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * size, "\n".join(texts)
    return texts[0]


def expect_no_difference(text: str) -> None:
    assert "\n0 differences" in "\n" + text, text


@pytest.mark.parametrize("mode", MODES)
def test_ddp_sees_what_one_process_with_all_samples_sees(tmp_path: Path, mode: str) -> None:
    expect_no_difference(run_processes(tmp_path, 2, mode))


@pytest.mark.skipif(not hasattr(torch.amp, "GradScaler"), reason="before PyTorch 2.3 scalers want CUDA")
def test_a_loss_scale_is_no_part_of_any_value(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 2, "scaled"))


def test_four_ranks_see_it_too(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 4, "uneven"))


@pytest.mark.parametrize("size", [2, 4])
def test_a_killed_rank_leaves_the_others_training_and_told_once(tmp_path: Path, size: int) -> None:
    processes = start("ranks_lost_process.py", tmp_path, size)
    texts = [process.communicate(timeout=120)[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [0] * (size - 1) + [-signal.SIGKILL], "\n".join(texts)
    for text in texts[:-1]:
        assert "4 steps, told 1 times" in text


def test_operators_of_ranks_together_are_that_of_all_samples(tmp_path: Path) -> None:
    processes = start("ranks_operator_process.py", tmp_path, 2)
    for process in processes:
        text = process.communicate(timeout=120)[0]
        assert process.returncode == 0 and "the same products" in text, text


def torchrun(folder: Path, size: int, steps: int, killed_at: int = -1) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={size}",
         "--max_restarts=0", str(HERE / "elastic_process.py"), str(folder), str(steps), str(killed_at)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )  # fmt: skip


@pytest.mark.parametrize("then", [1, 3])
def test_a_run_that_torchrun_starts_again_has_no_gaps(tmp_path: Path, then: int) -> None:
    """The checkpoint is of step 4; what was recorded of later steps is forgotten, and recorded again."""
    killed = torchrun(tmp_path, 2, steps=10, killed_at=5)
    assert killed.returncode != 0 and "exitcode: -9" in killed.stdout, killed.stdout
    again = torchrun(tmp_path, then, steps=10)
    assert again.returncode == 0, again.stdout
    run = flightdeck.read_run(tmp_path / "run")
    steps, samples = run["rank_loss@rank 0"].steps, run["rank_samples@rank 0"].values
    assert list(steps) == list(range(10))
    assert list(samples) == [4.0] * 10
    for rank in range(1, 3):
        name = f"rank_samples@rank {rank}"
        where = list(run[name].steps) if name in run else []
        before, after = (list(range(4)) if rank < 2 else []), (list(range(4, 10)) if rank < then else [])
        assert where == before + after, (rank, where)
    assert list(run["loss"].steps) == list(range(10))


def test_ranks_without_a_process_group_are_refused_with_a_remedy() -> None:
    with pytest.raises(RuntimeError, match=r"init_process_group\(\)"):
        flightdeck.Cockpit(torch.nn.Linear(2, 1), "economy", ranks=True)
