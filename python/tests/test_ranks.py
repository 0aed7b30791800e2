# SPDX-License-Identifier: MIT
"""Cockpits over several processes, under DistributedDataParallel on Gloo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import List

import flightdeck
import pytest
import torch

PROCESS = Path(__file__).parent / "ranks_process.py"


def run_processes(folder: Path, size: int, mode: str) -> str:
    """What rank 0 prints; all have to end well."""
    processes: List["subprocess.Popen[str]"] = [
        subprocess.Popen(
            [sys.executable, str(PROCESS), str(folder / "store"), str(rank), str(size), mode],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(size)
    ]
    texts = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * size, "\n".join(texts)
    return texts[0]


@pytest.mark.parametrize("mode", ["plain", "buckets", "no_sync", "static", "unused", "uneven", "join"])
def test_ddp_sees_what_one_process_with_all_samples_sees(tmp_path: Path, mode: str) -> None:
    assert "\n0 differences" in "\n" + run_processes(tmp_path, 2, mode)


def test_four_ranks_see_it_too(tmp_path: Path) -> None:
    assert "\n0 differences" in "\n" + run_processes(tmp_path, 4, "uneven")


def test_ranks_without_a_process_group_are_refused_with_a_remedy() -> None:
    with pytest.raises(RuntimeError, match=r"init_process_group\(\)"):
        flightdeck.Cockpit(torch.nn.Linear(2, 1), "economy", ranks=True)
