# SPDX-License-Identifier: MIT
"""Tensors that autograd saved through hooks: reading them must leave them to the backward pass."""

from __future__ import annotations

import copy
import functools
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator

import torch
import torch.utils.checkpoint

from . import _engine


def is_inside_pass() -> bool:
    """True on a thread that is running a backward pass of the program. Never before PyTorch 2, which does not tell."""
    current: Callable[[], int] = getattr(torch._C, "_current_graph_task_id", lambda: -1)
    return current() != -1 and not _engine.is_own_pass()


class _Unspent(Dict[Any, Any]):
    """The handles of a checkpointed tensor. PyTorch lets go of one when the tensor is read; this does not."""

    def __setitem__(self, pass_id: Any, handle: Any) -> None:
        if handle is not None:
            super().__setitem__(pass_id, handle)


@contextmanager
def prepare(node: str, hook: Callable[..., Any], data: Any) -> Iterator[None]:
    """Inside, ``hook(data)`` can be called and will not be missed later. Raises for hooks that are not known."""
    where = getattr(hook, "__module__", None)
    if where == "torch.utils.checkpoint" and isinstance(getattr(data, "handles", None), dict):
        data.handles = _Unspent(data.handles)
        try:
            yield
        finally:
            data.handles = dict(data.handles)
    elif where == "torch.autograd.graph":  # save_on_cpu
        yield
    else:
        name = getattr(hook, "__qualname__", type(hook).__qualname__)
        raise NotImplementedError(
            f"gradients: what {node} saved goes through a hook of the program ({where}.{name}), which may allow "
            "to read it once only; watch a step without saved_tensors_hooks, or use those of PyTorch"
        )


def keep_what_is_stored(mode: Any) -> None:
    """Lets selective checkpointing compute a block again any number of times outside of the program's own pass.

    What it stored it lets go of when the block is computed again, which it allows once: the program's backward pass
    would fail after one of ours. Ours read copies.
    """
    enter, leave = mode.__enter__, mode.__exit__
    stored: Dict[int, Any] = {}

    @functools.wraps(enter)
    def enter_apart(self: Any) -> Any:
        entries = getattr(self, "storage", None)
        if isinstance(entries, dict) and not is_inside_pass():
            stored[id(self)] = entries
            self.storage = copy.copy(entries)
            self.storage.update((op, copy.copy(results)) for op, results in entries.items())
        return enter(self)

    @functools.wraps(leave)
    def leave_apart(self: Any, *exception: Any) -> Any:
        if id(self) in stored:
            self.storage = stored.pop(id(self))
        return leave(self, *exception)

    mode.__enter__, mode.__exit__ = enter_apart, leave_apart


_engine.prepare_saved_tensors_with(prepare)
if hasattr(torch.utils.checkpoint, "_CachedTorchDispatchMode"):
    keep_what_is_stored(torch.utils.checkpoint._CachedTorchDispatchMode)
