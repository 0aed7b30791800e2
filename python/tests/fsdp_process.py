# SPDX-License-Identifier: MIT
"""One process of several whose model is under fully_shard; test_fsdp.py starts them.

fsdp_process.py STORE RANK SIZE MODE: rank 0 prints what differs from one process with all samples.
``resharded`` frees parameters after the forward pass, ``kept`` keeps them until the backward pass, ``accumulated``
reduces every second pass alone, ``as_gpu`` has float parameters and does on the CPU what is done on a GPU. ``hybrid`` has
pairs of processes that share pieces (HSDP), ``frozen`` a layer that is not trained, ``mixed`` passes in bfloat16 that
reduce in float32 what the optimizer updates in float32.
"""

from __future__ import annotations

import copy
import sys
from contextlib import nullcontext
from typing import Any, Callable, Dict, List, Set

import flightdeck
import torch
from ranks_common import OF_THE_GRAPH, begin, differences, every_quantity, losses_of, report
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

STEPS = 3
# Values of parameters between passes, and updates.
WHOLE = {one.name for one in flightdeck.all_quantities() if one.reads_parameters}
# Passes of our own through weights that were saved.
OWN_PASS = {one.name for one in flightdeck.all_quantities() if one.needs_curvature}
# Of first order, and no differences of numbers that nearly agree.
OF_ROWS = ["loss", "grad_norm", "norm_test", "grad_noise_scale", "mean_gsnr", "early_stopping", "sample_outliers", "logits"]


class Shift(torch.nn.Module):
    """A bias alone, whose 5 entries no two processes share evenly."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(5))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self.bias


def make_net() -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(6, 5), Shift(), torch.nn.Tanh(), torch.nn.LayerNorm(5), torch.nn.Linear(5, 3)
    ).double()


def sharded(net: torch.nn.Sequential, mode: str) -> Any:
    model: Any = copy.deepcopy(net)
    keeps: Dict[str, Any] = {"reshard_after_forward": False} if mode == "kept" else {}
    if mode == "hybrid":
        pairs = (torch.distributed.get_world_size() // 2, 2)
        keeps["mesh"] = init_device_mesh("cpu", pairs, mesh_dim_names=("replicate", "shard"))
    if mode == "mixed":
        keeps["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for part in (model[0], model[1], model[3]):
        fully_shard(part, **keeps)
    return fully_shard(model, **keeps)


def main() -> None:
    store, rank, size, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    begin(store, rank, size)
    net = make_net()
    plays = mode == "as_gpu"  # with FLIGHTDECK_ISA=gpu_reference: norms wait for the end of the pass, in float alone
    is_mixed = mode == "mixed"
    dtype = torch.float if plays or is_mixed else torch.double
    net.to(dtype)
    if mode == "frozen":
        net[0].requires_grad_(False)
    model, plain = sharded(net, mode), sharded(net, mode)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    plain_optimizer = torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9)
    warnings: List[str] = []
    # Gradients are left over on purpose where they are accumulated.
    quantities = every_quantity({"trained"} if mode == "accumulated" else set())
    if plays:
        quantities = ["loss", "grad_norm", "norm_test"]
    if is_mixed:
        quantities = OF_ROWS
        net.to(torch.bfloat16)  # what every pass sees
    together = flightdeck.Cockpit(
        model, quantities, ranks=True, groups="parameter", keep=None, on_warning=warnings.append
    )
    names = [name for name, _ in together.parameters]
    assert names == [name for name, one in net.named_parameters() if one.requires_grad], names
    reference = flightdeck.Cockpit(net, quantities, groups="parameter", keep=None) if rank == 0 else None
    net_optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        inputs, labels = torch.randn(4 * size, 6, dtype=dtype), torch.randint(3, (4 * size,))
        own = slice(4 * rank, 4 * rank + 4)
        whole = [parameter.full_tensor() for parameter in model.parameters()]
        if reference is not None:
            with torch.no_grad():
                for ours, theirs in zip(net.parameters(), whole):
                    ours.copy_(theirs)
            net.zero_grad(set_to_none=True)
            losses = losses_of(net, inputs.to(torch.bfloat16) if is_mixed else inputs, labels)
            with reference.watch(step, losses, net_optimizer, labels=labels):
                losses.mean().backward()

        def train(model: Any, optimizer: torch.optim.Optimizer, watch: Callable[[torch.Tensor], Any]) -> None:
            optimizer.zero_grad(set_to_none=True)
            if mode == "accumulated":
                model.set_requires_gradient_sync(False)
                losses_of(model, inputs[own] + 1, labels[own]).mean().backward()
                model.set_requires_gradient_sync(True)
            losses = losses_of(model, inputs[own], labels[own])
            with watch(losses):
                losses.mean().backward()
            optimizer.step()

        train(model, optimizer, lambda losses: together.watch(step, losses, optimizer, labels=labels[own]))
        train(plain, plain_optimizer, lambda losses: nullcontext())
    together.flush()
    found: List[str] = []
    for (name, ours), theirs in zip(model.named_parameters(), plain.parameters()):
        if not torch.equal(ours.to_local(), theirs.to_local()):
            found.append(f"rank {rank}: {name} is not what it is without a cockpit")
    if reference is not None:
        reference.flush()
        off: Set[str] = set() if plays or is_mixed else WHOLE if mode == "kept" else WHOLE | OWN_PASS
        lacking = {"spikes/update", "trained/unchanged"}  # the update is not known
        # The forward pass of four samples rounds to eight bits as that of all does, but for its sums.
        tolerance = 3e-2 if is_mixed else 1e-3 if plays else 1e-6
        found += differences(together, reference, off, lacking, tolerance, OF_THE_GRAPH)
        said = "\n".join(f"{note.quantity}: {note.text}" for note in together.notes)
        reasons = ["fully_shard keeps a piece of every parameter"] + ([] if mode == "kept" else ["has freed"])
        for text in [] if plays or is_mixed else reasons:
            if text not in said:
                found.append(f"nobody says '{text}': {said}")
        if "rank_drift" in together.readings[0]:
            found.append("pieces are compared as if they were to be equal")
        report(found)
    elif found:
        raise AssertionError(found)
    together.finish()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()  # or threads of Gloo may outlive the interpreter


if __name__ == "__main__":
    main()
