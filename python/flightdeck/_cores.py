# SPDX-License-Identifier: MIT
"""Processes that train one model together, and the cores that they share."""

from __future__ import annotations

import multiprocessing
import os
from typing import Iterable, Tuple

import torch


def what_keeps_cores(parameters: Iterable[Tuple[str, torch.Tensor]]) -> str:
    """What to say in a process whose idle threads keep the cores from the others; empty where none do.

    Of processes only those are sure to compute at the same time that train a model in shared memory (Hogwild). PyTorch
    gives each of them a thread for every core, and OpenMP's spin while they wait.
    """
    if multiprocessing.parent_process() is None:
        return ""
    if os.environ.get("OMP_WAIT_POLICY", "").upper() == "PASSIVE":
        return ""
    threads, cores = torch.get_num_threads(), len(os.sched_getaffinity(0))
    if threads == 1 or 2 * threads <= cores:
        return ""
    if not any(tensor.device.type == "cpu" and tensor.is_shared() for _, tensor in parameters):
        return ""
    return (
        f"cockpit: this process shares its model with others and computes with {threads} threads on {cores} cores; threads "
        "of OpenMP that wait keep the cores from the other processes. Set OMP_WAIT_POLICY=PASSIVE in their environment, or "
        "call torch.set_num_threads(1) in each"
    )
