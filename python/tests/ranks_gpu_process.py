# SPDX-License-Identifier: MIT
"""One process of one or two on the same GPU; test_ranks_gpu.py starts them.

ranks_gpu_process.py STORE RANK SIZE BACKEND: with nccl the group that trains is the cockpit's, too.
"""

from __future__ import annotations

import copy
import sys
from datetime import timedelta

import flightdeck
import torch
import torch.distributed as dist
from ranks_common import Net, differences, every_quantity, losses_of, report
from torch.nn.parallel import DistributedDataParallel

STEPS = 3


def main() -> None:
    store, rank, size, backend = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    dist.init_process_group(
        backend, init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=60)
    )
    torch.manual_seed(1)
    net = Net().double().cuda()
    alone = copy.deepcopy(net)
    model = DistributedDataParallel(net)
    optimizer, other = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(alone.parameters(), lr=0.1)
    quantities = every_quantity(set())
    together = flightdeck.Cockpit(
        model, quantities, ranks=dist.group.WORLD if backend == "nccl" else True, groups="parameter", keep=None
    )
    reference = flightdeck.Cockpit(alone, quantities, groups="parameter", keep=None) if rank == 0 else None
    for step in range(STEPS):
        inputs = torch.randn(4 * size, 6, dtype=torch.double).cuda()
        labels = torch.randint(3, (4 * size,)).cuda()
        own = slice(4 * rank, 4 * rank + 4)
        if reference is not None:
            with torch.no_grad():
                for ours, theirs in zip(alone.parameters(), net.parameters()):
                    ours.copy_(theirs)
            alone.zero_grad(set_to_none=True)
            losses = losses_of(alone, inputs, labels)
            with reference.watch(step, losses, other, labels=labels):
                losses.mean().backward()
        optimizer.zero_grad(set_to_none=True)
        losses = losses_of(model, inputs[own], labels[own])
        with together.watch(step, losses, optimizer, labels=labels[own]):
            losses.mean().backward()
        optimizer.step()
    together.flush()
    if reference is not None:
        reference.flush()
        report(differences(together, reference, set(), set()))
    together.finish()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
