# SPDX-License-Identifier: MIT
"""The named parameters that a question is about, from whatever the caller has."""

from __future__ import annotations

from typing import Iterable, List, Mapping, Tuple, Union

import torch

from ._compiled import PREFIX
from ._sharded import flat_part, gathered_from, placements_of

#: A module (its trainable parameters), a mapping or pairs of names and tensors, or tensors alone.
ParametersLike = Union[
    torch.nn.Module,
    Mapping[str, torch.Tensor],
    Iterable[Tuple[str, torch.Tensor]],
    Iterable[torch.Tensor],
]


def named_parameters(source: ParametersLike) -> List[Tuple[str, torch.Tensor]]:
    """Lists names and tensors. Of a module, those that require gradients; a tied weight is listed once.

    Under ``fully_shard`` these are the whole parameters, which have values in passes alone; all processes have to call,
    because the pieces are gathered once to find them.

    >>> [name for name, _ in named_parameters(torch.nn.Linear(2, 1))]
    ['weight', 'bias']
    >>> [name for name, _ in named_parameters([torch.ones(1)])]
    ['0']
    """
    if isinstance(source, torch.nn.Module):
        _refuse_data_parallel(source)
        _refuse_flat(source)
        module: torch.nn.Module = source
        if isinstance(source, torch.nn.parallel.DistributedDataParallel):
            module = source.module
        gathered = gathered_from(module)
        if gathered is not None:
            return gathered.named
        named: List[Tuple[str, torch.Tensor]] = [
            (name.replace(PREFIX, ""), tensor) for name, tensor in module.named_parameters() if tensor.requires_grad
        ]
        for name, tensor in named:
            _refuse_piece(name, tensor)
        return named
    if isinstance(source, torch.Tensor):
        raise TypeError("parameters: this is one tensor; give a module, a mapping, or a list of tensors")
    if isinstance(source, Mapping):
        for name, tensor in source.items():
            _refuse_piece(name, tensor)
        return list(source.items())
    listed: List[Tuple[str, torch.Tensor]] = []
    entries: Iterable[Union[torch.Tensor, Tuple[str, torch.Tensor]]] = source
    for position, entry in enumerate(entries):
        listed.append((str(position), entry) if isinstance(entry, torch.Tensor) else entry)
        _refuse_piece(*listed[-1])
    return listed


def _refuse_data_parallel(module: torch.nn.Module) -> None:
    for name, part in module.named_modules():
        if isinstance(part, torch.nn.DataParallel):
            which = f"'{name}'" if name else "the model"
            raise NotImplementedError(
                f"parameters: {which} is an nn.DataParallel, whose replicas on other devices have parameters of "
                "their own; train on one device, or with DistributedDataParallel, and give the module inside "
                "(model.module)"
            )


def _refuse_flat(module: torch.nn.Module) -> None:
    name = flat_part(module)
    if name is not None:
        which = f"'{name}'" if name else "the model"
        raise NotImplementedError(
            f"parameters: {which} is a FullyShardedDataParallel, which lays its parameters into one flat tensor; shard it "
            "by torch.distributed.fsdp.fully_shard, or train with DistributedDataParallel"
        )


def _refuse_piece(name: str, tensor: torch.Tensor) -> None:
    """Of tensor parallelism, or taken from a model under fully_shard one by one."""
    placements = placements_of(tensor)
    if placements is not None:
        raise NotImplementedError(
            f"parameters: '{name}' is a DTensor placed as {placements}, of which each process has a piece; "
            "individual gradients are those of whole parameters, so give the module itself if it is under fully_shard, "
            "train with DistributedDataParallel, or leave it out"
        )
