# SPDX-License-Identifier: MIT
"""One process of several whose operators together are that of all samples; test_ranks.py starts them.

ranks_operator_process.py STORE RANK SIZE
"""

from __future__ import annotations

import sys

import flightdeck
import torch
from ranks_common import Net, begin, losses_of


def main() -> None:
    store, rank, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    begin(store, rank, size)
    net = Net().double()
    sizes = [3 + 2 * k for k in range(size)]
    inputs, labels = torch.randn(sum(sizes), 6, dtype=torch.double), torch.randint(3, (sum(sizes),))
    first = sum(sizes[:rank])
    own = slice(first, first + sizes[rank])
    vectors = torch.randn(2, sum(tensor.numel() for tensor in net.parameters()), dtype=torch.double)
    whole = flightdeck.curvature_operator(losses_of(net, inputs, labels), net)
    part = flightdeck.curvature_operator(losses_of(net, inputs[own], labels[own]), net)
    together = flightdeck.over_ranks(part, sizes[rank])
    torch.testing.assert_close(together @ vectors, whole @ vectors)
    largest = flightdeck.eigenpairs(together).values
    torch.testing.assert_close(largest, flightdeck.eigenpairs(whole).values)
    print("the same products")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()  # or threads of Gloo may outlive the interpreter


if __name__ == "__main__":
    main()
