# SPDX-License-Identifier: MIT
"""Models under fully_shard (FSDP2): the graph has whole parameters, which live in passes alone; the optimizer has pieces."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, List, Optional, Tuple

import torch

from . import _engine
from ._compiled import PREFIX


def placements_of(tensor: torch.Tensor) -> Optional[Tuple[Any, ...]]:
    """How a DTensor lies on the processes, each of which has a part of it; None of any other tensor."""
    if not hasattr(tensor, "device_mesh"):
        return None
    placements: Optional[Any] = getattr(tensor, "placements", None)
    return None if placements is None else tuple(placements)


def is_piece(tensor: torch.Tensor) -> bool:
    return placements_of(tensor) is not None


def gathered_from(source: object) -> Optional["Gathered"]:
    """Of a module that `torch.distributed.fsdp.fully_shard` was called on, or a part of it; None of all else."""
    return Gathered(source) if isinstance(source, torch.nn.Module) and _parts(source) else None


def _fsdp(name: str) -> Optional[Any]:
    module = sys.modules.get("torch.distributed.fsdp")  # not imported: nothing is sharded
    return getattr(module, name, None)


def _parts(module: torch.nn.Module) -> List[Any]:
    kind = _fsdp("FSDPModule")
    return [part for part in module.modules() if isinstance(part, kind)] if kind is not None else []


def flat_part(module: torch.nn.Module) -> Optional[str]:
    """The name of a part under FullyShardedDataParallel (FSDP1), if there is one."""
    kind = _fsdp("FullyShardedDataParallel")
    if kind is None:
        return None
    return next((name for name, part in module.named_modules() if isinstance(part, kind)), None)


def _own_parameters(part: torch.nn.Module, parts: List[Any]) -> Iterable[torch.Tensor]:
    """Those that the part gathers by itself: of its modules down to the next parts."""
    yield from part.parameters(recurse=False)
    for child in part.children():
        if not any(child is other for other in parts):
            yield from _own_parameters(child, parts)


class Gathered:
    """Whole parameters by name, and by the piece that the optimizer has."""

    def __init__(self, module: torch.nn.Module) -> None:
        """Every process has to come here: pieces are gathered, and let go of."""
        parts = _parts(module)
        before = dict(module.named_parameters())
        sharded = [part for part in parts if any(is_piece(tensor) for tensor in _own_parameters(part, parts))]
        for part in sharded:
            part.unshard()
        try:
            whole = dict(module.named_parameters())
            held = {id(tensor) for part in parts for tensor in _own_parameters(part, parts)}
        finally:
            for part in sharded:
                part.reshard()
        after = dict(module.named_parameters())
        #: Those that require gradients, by name.
        self.named: List[Tuple[str, torch.Tensor]] = []
        self._by_piece: Dict[int, torch.Tensor] = {}
        self._pieces: List[torch.Tensor] = []  # kept, so that nothing else is at their address
        transient: List[Tuple[str, torch.Tensor]] = []
        for name, tensor in whole.items():
            said = name.replace(PREFIX, "")
            placements = placements_of(tensor)
            if placements is not None:
                raise NotImplementedError(
                    f"parameters: '{said}' is gathered as a DTensor placed as {placements}: tensor "
                    "parallelism under fully_shard leaves each process a piece of it in every pass, and individual "
                    "gradients are those of whole parameters; shard by fully_shard alone, or leave it out"
                )
            if tensor.requires_grad:
                self.named.append((said, tensor))
            if id(tensor) in held:  # those too that were gathered already: they will be let go of
                transient.append((said, tensor))
            pieces = [piece for piece in (before[name], after[name]) if is_piece(piece)]
            self._pieces += pieces
            self._by_piece.update((id(piece), tensor) for piece in pieces)
        _engine.add_transient(transient)

    def trained_by(self, optimizer: Optional[Any]) -> Optional["Trained"]:
        """What an optimizer of pieces trains, as a cockpit of the whole ones is told."""
        return None if optimizer is None else Trained(optimizer, self._by_piece)


class Trained:
    """Rates and whole parameters of an optimizer."""

    def __init__(self, optimizer: Any, by_piece: Dict[int, torch.Tensor]) -> None:
        self.param_groups: List[Dict[str, Any]] = [
            {"lr": group["lr"], "params": [by_piece.get(id(tensor), tensor) for tensor in group["params"]]}
            for group in optimizer.param_groups
        ]
