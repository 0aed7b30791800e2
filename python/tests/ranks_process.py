# SPDX-License-Identifier: MIT
"""One process of several that train together by torch.distributed; test_ranks.py starts them.

ranks_process.py STORE RANK SIZE MODE: rank 0 prints what differs from one process with all samples.
"""

from __future__ import annotations

import contextlib
import copy
import sys
from typing import Any, Callable, List, Set

import flightdeck
import torch
import torch.distributed as dist
from ranks_common import OF_THE_GRAPH, Net, begin, differences, every_quantity, losses_of, report
from torch.nn.parallel import DistributedDataParallel

STEPS = 3
# A rank with one sample shares no activations (docs/distributed.md).
OF_ROWS = ["loss", "grad_norm", "alpha", "norm_test", "inner_test", "ortho_test", "mean_gsnr", "early_stopping", "tic_trace",
           "hess_trace", "hess_max_ev", "grad_hist_1d", "update_size", "sample_outliers", "grad_cosine"]  # fmt: skip


def sizes_of(mode: str, size: int, step: int) -> List[int]:
    if mode in ("uneven", "weighted"):
        return [2 + (rank + step) % 3 for rank in range(size)]
    if mode == "join" and step == STEPS - 1:
        return [4] + [0] * (size - 1)
    if mode == "single":
        return [4] * (size - 1) + [1]
    return [4] * size


def failing_on_the_last(rank: int, size: int) -> flightdeck.Quantity:
    def compute(step: flightdeck.StepView) -> float:
        if rank == size - 1 and step.step == 1:
            raise RuntimeError("not on this rank")
        return 1.0

    return flightdeck.Quantity("moody", compute, needs="mean")


def ddp_of(net: torch.nn.Module, mode: str) -> DistributedDataParallel:
    model = DistributedDataParallel(
        net,
        gradient_as_bucket_view=mode == "buckets",
        static_graph=mode in ("static", "single"),
        find_unused_parameters=mode == "unused",
    )
    if mode == "hook":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

        model.register_comm_hook(None, allreduce_hook)
    return model


def main() -> None:
    store, rank, size, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    begin(store, rank, size)
    net = Net().double()
    alone, untouched = copy.deepcopy(net), copy.deepcopy(net)
    model, plain = ddp_of(net, mode), ddp_of(untouched, mode)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    plain_optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    left_out: Set[str] = set()
    if mode == "join":
        left_out = {one.name for one in flightdeck.all_quantities() if one.meets_before_backward}
    if mode == "attached":
        left_out = {"label_conflicts"}  # a loop that is not edited tells no labels
    if mode == "no_sync":
        left_out = {"trained"}  # gradients are left over on purpose
    quantities: List[Any] = OF_ROWS if mode == "single" else list(every_quantity(left_out))
    together = flightdeck.Cockpit(
        model,
        quantities + ([failing_on_the_last(rank, size)] if mode == "failing" else []),
        ranks=dist.group.WORLD if mode == "group" else True,
        groups="parameter",
        keep=None,
    )
    reference = flightdeck.Cockpit(alone, quantities, groups="parameter", keep=None) if rank == 0 else None
    alone_optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
    from flightdeck.ranks import joined

    scaler: Any = torch.amp.GradScaler("cpu", init_scale=1024.0) if mode == "scaled" else None
    criterion = torch.nn.CrossEntropyLoss()
    attachment = together.attach(model, optimizer, loss_fn=criterion) if mode == "attached" else None
    context: Any = contextlib.nullcontext()
    if mode == "join":
        from torch.distributed.algorithms.join import Join

        context = Join([model, joined(together), plain])
        try:
            joined(flightdeck.Cockpit(alone, ["loss", "hess_max_ev"]))
            raise AssertionError("products are let into a join")
        except ValueError as error:
            assert "hess_max_ev" in str(error) and "leave them out" in str(error), error
    with context:
        for step in range(STEPS):
            sizes = sizes_of(mode, size, step)
            inputs, labels = torch.randn(sum(sizes), 6, dtype=torch.double), torch.randint(3, (sum(sizes),))
            uses_other = mode != "unused" or step != 1
            first = sum(sizes[:rank])
            own = slice(first, first + sizes[rank])
            if reference is not None:
                with torch.no_grad():
                    for ours, theirs in zip(alone.parameters(), net.parameters()):
                        ours.copy_(theirs)
                alone.zero_grad(set_to_none=True)
                losses = losses_of(alone, inputs, labels, uses_other)
                told = None if mode == "attached" else labels
                with reference.watch(step, losses, alone_optimizer, labels=told):
                    losses.mean().backward()
            if sizes[rank] == 0:
                continue
            weight = size * sizes[rank] / sum(sizes) if mode == "weighted" else 1.0

            def train(
                model: Any, optimizer: torch.optim.Optimizer, watch: Callable[[torch.Tensor], Any], scaler: Any
            ) -> None:
                optimizer.zero_grad(set_to_none=True)
                if mode == "no_sync":
                    with model.no_sync():
                        losses_of(model, inputs[own] + 1, labels[own], True).mean().backward()
                if mode == "attached":
                    criterion(model(inputs[own], uses_other), labels[own]).backward()
                    optimizer.step()
                    return
                losses = losses_of(model, inputs[own], labels[own], uses_other)
                with watch(losses):
                    loss = losses.mean() * weight
                    (loss if scaler is None else scaler.scale(loss)).backward()
                if scaler is None:
                    optimizer.step()
                else:
                    scaler.step(optimizer)
                    scaler.update()

            def watched(losses: torch.Tensor) -> Any:
                return together.watch(step, losses, optimizer, labels=labels[own], scaler=scaler)

            train(model, optimizer, watched, scaler)
            if attachment is not None:
                attachment.detach()
            train(plain, plain_optimizer, lambda losses: contextlib.nullcontext(), copy.deepcopy(scaler))
            if attachment is not None:
                attachment = together.attach(model, optimizer, loss_fn=criterion, first_step=step + 1)
    found = [
        f"{name} is not what it is without a cockpit"
        for (name, ours), theirs in zip(net.named_parameters(), untouched.parameters())
        if not torch.equal(ours, theirs)
    ]
    if reference is not None:
        # DDP's own function stands between the net and these losses: the logits cannot be read (docs/distributed.md).
        is_behind = mode in ("unused", "static", "single")
        hidden = {"logits/log_partition", "logits/log_partition_largest"} if is_behind else set()
        other = set(OF_THE_GRAPH) if is_behind or mode == "attached" else set()
        if mode in ("weighted", "scaled"):
            other |= {"wiring/loss_weight", "finite/loss_scale"}  # which are the factors themselves
        off = {"moody"} if mode == "failing" else set()
        found += differences(together, reference, off, hidden, may_differ=other)
        if mode == "failing" and not any(f"rank {size - 1}" in note.text for note in together.notes):
            found.append(f"nobody says which rank failed: {together.notes}")
        report(found)
    elif found:
        raise AssertionError(found)
    together.finish()
    dist.barrier()
    dist.destroy_process_group()  # or threads of Gloo may outlive the interpreter


if __name__ == "__main__":
    main()
