# SPDX-License-Identifier: MIT
"""Tensors that autograd saved through hooks: reading them must leave them to the backward pass."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator

from . import _engine


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


_engine.prepare_saved_tensors_with(prepare)
