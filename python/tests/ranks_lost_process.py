# SPDX-License-Identifier: MIT
"""One process of several of which the last is killed; test_ranks.py starts them.

ranks_lost_process.py STORE RANK SIZE
"""

from __future__ import annotations

import os
import signal
import sys
from typing import List

import flightdeck
import torch
from ranks_common import Net, begin, losses_of

STEPS = 4


def main() -> None:
    store, rank, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    begin(store, rank, size, seconds=5)
    net = Net().double()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    warnings: List[str] = []
    cockpit = flightdeck.Cockpit(net, "business", ranks=True, on_warning=warnings.append)
    for step in range(STEPS):
        if step == 1 and rank == size - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        losses = losses_of(net, torch.randn(4, 6, dtype=torch.double), torch.randint(3, (4,)))
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()
    print([text for text in warnings if "cannot meet any more" in text])
    print(f"{STEPS} steps, told {sum('cannot meet any more' in text for text in warnings)} times", flush=True)
    os._exit(0)  # groups of a process that is gone wait when they end


if __name__ == "__main__":
    main()
