# SPDX-License-Identifier: MIT
"""Ranks on a GPU: NCCL with one process, and two processes that share one GPU by Gloo."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from test_ranks import expect_no_difference, run_processes

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def test_one_process_under_nccl_sees_what_a_cockpit_without_ranks_sees(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 1, "nccl", "ranks_gpu_process.py"))


def test_two_processes_on_one_gpu_see_what_one_with_all_samples_sees(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 2, "gloo", "ranks_gpu_process.py"))
