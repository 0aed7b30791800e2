# SPDX-License-Identifier: MIT
"""Processes that train one model together, as `torch.distributed` knows them."""

from __future__ import annotations

import atexit
import weakref
from typing import Any, List, Optional, Union

import torch

#: None or False: one process. True: all processes of `torch.distributed`. A process group, or `Ranks`: those.
RanksLike = Union[None, bool, "Ranks", Any]


class Ranks:
    """What a cockpit needs of a process group: every rank makes the same calls in the same order."""

    def __init__(self, group: Any, device: Union[str, torch.device] = "cpu") -> None:
        import torch.distributed as dist

        self._dist, self._group = dist, group
        self.size: int = dist.get_world_size(group)
        self.rank: int = dist.get_rank(group)
        self.device = torch.device(device)
        _all.add(self)

    def sum(self, own: torch.Tensor) -> torch.Tensor:
        return self._reduced(own, self._dist.ReduceOp.SUM)

    def max(self, own: torch.Tensor) -> torch.Tensor:
        return self._reduced(own, self._dist.ReduceOp.MAX)

    def min(self, own: torch.Tensor) -> torch.Tensor:
        return self._reduced(own, self._dist.ReduceOp.MIN)

    def gather(self, own: torch.Tensor) -> torch.Tensor:
        parts: List[torch.Tensor] = [torch.empty_like(own) for _ in range(self.size)]
        self._dist.all_gather(parts, own.contiguous(), group=self._group)
        return torch.stack(parts)

    def _reduced(self, own: torch.Tensor, operation: Any) -> torch.Tensor:
        result = own.detach().clone()
        self._dist.all_reduce(result, op=operation, group=self._group)
        return result


_all: "weakref.WeakSet[Ranks]" = weakref.WeakSet()


@atexit.register
def _let_groups_go() -> None:
    """A cockpit that outlives the program's own groups keeps none: threads of Gloo that are left when the interpreter ends
    may abort the process."""
    for ranks in list(_all):
        ranks._group = None


def ranks_of(given: RanksLike) -> Optional[Ranks]:
    """The ranks that are meant. For True, a group of Gloo's of its own: every process has to come here."""
    if given is None or given is False:
        return None
    if isinstance(given, Ranks):
        return given
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_initialized():
        raise RuntimeError(
            "cockpit: ranks are asked for but torch.distributed is not initialized; call "
            "torch.distributed.init_process_group() before, or leave ranks out"
        )
    if given is True:
        return Ranks(dist.new_group(backend="gloo"))
    device = "cuda" if dist.get_backend(given) == "nccl" else "cpu"
    return Ranks(given, device)


def joined(cockpit: Any) -> Any:
    """The cockpit for the list of `torch.distributed.algorithms.join.Join`, behind the model: where a rank has run out
    of batches it takes part without samples. What ranks exchange before the backward pass (the products of hess_max_ev)
    has no place in such a loop: raises, naming it.
    """
    early = cockpit._meets_early
    if early:
        raise ValueError(
            f"joined: ranks exchange numbers for {', '.join(early)} before the backward pass, which a rank without "
            "batches makes none of: the others would wait for it; leave them out of this cockpit"
        )
    from torch.distributed.algorithms.join import Joinable, JoinHook

    class SitsOut(JoinHook):
        def main_hook(self) -> None:
            cockpit.sit_out(cockpit.next_step)

    class Joined(Joinable):
        def __init__(self) -> None:
            super().__init__()

        def join_hook(self, **_: Any) -> SitsOut:
            return SitsOut()

        @property
        def join_device(self) -> torch.device:
            return torch.device("cpu")

        @property
        def join_process_group(self) -> Any:
            import torch.distributed as dist

            return dist.group.WORLD

    return Joined()
