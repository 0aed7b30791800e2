# SPDX-License-Identifier: MIT
"""One process of several that train together by torch.distributed; test_ranks.py starts them.

ranks_process.py STORE RANK SIZE MODE: rank 0 prints what differs from one process with all samples.
"""

from __future__ import annotations

import contextlib
import copy
import math
import sys
from datetime import timedelta
from typing import Any, Dict, List

import flightdeck
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 3
QUANTITIES = ["loss", "grad_norm", "alpha", "norm_test", "inner_test", "ortho_test", "mean_gsnr", "early_stopping",
              "tic_trace", "hess_trace", "hess_max_ev", "grad_hist_1d", "update_size", "sample_outliers", "logits",
              "grad_cosine"]  # fmt: skip


class Net(torch.nn.Module):
    """With a layer that is not always used."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(6, 5), torch.nn.Linear(5, 3)
        self.other = torch.nn.Linear(5, 5)

    def forward(self, inputs: torch.Tensor, uses_other: bool = True) -> torch.Tensor:
        hidden = torch.tanh(self.first(inputs))
        if uses_other:
            hidden = torch.tanh(self.other(hidden))
        return self.last(hidden)


def losses_of(model: Any, inputs: torch.Tensor, labels: torch.Tensor, uses_other: bool) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(model(inputs, uses_other), labels, reduction="none")


def sizes_of(mode: str, size: int, step: int) -> List[int]:
    if mode == "uneven":
        return [2 + (rank + step) % 3 for rank in range(size)]
    if mode == "join" and step == STEPS - 1:
        return [4] + [0] * (size - 1)
    return [4] * size


def difference(name: str, expected: Any, actual: Any) -> List[str]:
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{name}: {actual} where {expected} is expected"]
        return [text for k in range(len(expected)) for text in difference(f"{name}[{k}]", expected[k], actual[k])]
    if not isinstance(expected, float):
        return [] if list(expected.counts) == list(actual.counts) else [f"{name}: other counts"]
    if actual is not None and math.isnan(expected) and math.isnan(actual):
        return []
    if actual is None or not math.isclose(expected, actual, rel_tol=1e-6, abs_tol=1e-9):
        return [f"{name}: {actual} where {expected} is expected"]
    return []


def main() -> None:
    store, rank, size, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=60)
    )
    torch.manual_seed(1)
    net = Net().double()
    alone = copy.deepcopy(net)
    model = DistributedDataParallel(
        net,
        gradient_as_bucket_view=mode == "buckets",
        static_graph=mode == "static",
        find_unused_parameters=mode == "unused",
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    quantities = [name for name in QUANTITIES if mode != "join" or name != "hess_max_ev"]
    together = flightdeck.Cockpit(model, quantities, ranks=True, groups="parameter", keep=None)
    reference = flightdeck.Cockpit(alone, quantities, groups="parameter", keep=None) if rank == 0 else None
    from flightdeck.ranks import joined

    context: Any = contextlib.nullcontext()
    if mode == "join":
        from torch.distributed.algorithms.join import Join

        context = Join([model, joined(together)])
    with context:
        for step in range(STEPS):
            sizes = sizes_of(mode, size, step)
            inputs, labels = torch.randn(sum(sizes), 6, dtype=torch.double), torch.randint(3, (sum(sizes),))
            uses_other = mode != "unused" or step != 1
            begin = sum(sizes[:rank])
            own = slice(begin, begin + sizes[rank])
            if reference is not None:
                with torch.no_grad():
                    for ours, theirs in zip(alone.parameters(), net.parameters()):
                        ours.copy_(theirs)
                alone.zero_grad(set_to_none=True)
                losses = losses_of(alone, inputs, labels, uses_other)
                with reference.watch(step, losses, learning_rate=0.1, labels=labels):
                    losses.mean().backward()
            optimizer.zero_grad()
            if sizes[rank] == 0:
                continue
            if mode == "no_sync":
                with model.no_sync():
                    losses_of(model, inputs[own] + 1, labels[own], True).mean().backward()
            losses = losses_of(model, inputs[own], labels[own], uses_other)
            with together.watch(step, losses, learning_rate=0.1, labels=labels[own]):
                losses.mean().backward()
            optimizer.step()
    differences: List[str] = []
    if reference is not None:
        for note in together.notes:
            if note.kind == "switched_off":
                differences.append(f"{note.quantity} is off: {note.text}")
        for step, values in reference.readings.items():
            theirs: Dict[str, Any] = together.readings.get(step, {})
            for name, expected in values.items():
                if name.split("/")[-1].split("@")[0] in ("products", "iterations"):
                    continue
                # DDP's own function stands between the net and these losses: the logits cannot be read (docs/distributed.md).
                is_hidden = mode == "unused" or (mode == "static" and step == 0)
                if is_hidden and "logits/log_partition" in name and name not in theirs:
                    continue
                differences += difference(f"step {step} {name}", expected, theirs.get(name))
        for text in differences[:20]:
            print(text)
        print(f"{len(differences)} differences in {sum(len(values) for values in reference.readings.values())} values")
    together.finish()
    dist.barrier()


if __name__ == "__main__":
    main()
