# SPDX-License-Identifier: MIT
"""A training that torchrun starts again after a kill, with another number of processes; test_ranks.py starts it.

elastic_process.py FOLDER STEPS KILLED_AT: kills its last rank by SIGKILL before that step.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Dict

import flightdeck
import torch
import torch.distributed as dist
from ranks_common import Net, losses_of
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    folder, steps, killed_at = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=30))
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    net = Net().double()
    checkpoint = folder / "checkpoint.pt"
    first, state = 0, {}
    if checkpoint.exists():
        saved: Dict[str, Any] = torch.load(checkpoint)
        net.load_state_dict(saved["net"])
        first, state = int(saved["step"]), saved["cockpit"]
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cockpit = flightdeck.Cockpit(model, "business", ranks=True)
    if state:
        cockpit.load_state_dict(state)
    cockpit.record_to(folder / "run", resume_at=first)
    for step in range(first, steps):
        if step == killed_at and rank == size - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        generator = torch.Generator().manual_seed(100 * step + rank)
        inputs = torch.randn(4, 6, dtype=torch.double, generator=generator)
        labels = torch.randint(3, (4,), generator=generator)
        optimizer.zero_grad()
        losses = losses_of(model, inputs, labels)
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()
        if rank == 0 and step % 2 == 1:
            saved = {"net": net.state_dict(), "step": step + 1, "cockpit": cockpit.state_dict()}
            torch.save(saved, checkpoint.with_suffix(".new"))
            os.replace(checkpoint.with_suffix(".new"), checkpoint)
        dist.barrier()
    cockpit.finish()
    dist.barrier()
    dist.destroy_process_group()  # or threads of Gloo may outlive the interpreter


if __name__ == "__main__":
    main()
