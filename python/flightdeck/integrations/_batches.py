# SPDX-License-Identifier: MIT
"""How many samples a batch has, whatever it is made of."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Tuple

import torch

from ..attach import Attachment


def batch_size_of(batch: Any) -> Optional[int]:
    """The first size of the first tensor in lists and mappings; None if there is none.

    >>> batch_size_of({"input_ids": torch.zeros(4, 7), "labels": torch.zeros(4)})
    4
    """
    if isinstance(batch, torch.Tensor):
        return int(batch.shape[0]) if batch.dim() > 0 else None
    parts = batch.values() if isinstance(batch, Mapping) else batch if isinstance(batch, (list, tuple)) else ()
    return next((size for size in map(batch_size_of, parts) if size is not None), None)


def learn_batch_size(attachment: Attachment, model: torch.nn.Module) -> Callable[[], None]:
    """Lets an attachment see inputs that are given by name too. Returns what undoes it."""

    def before(module: torch.nn.Module, inputs: Tuple[Any, ...], named: Mapping[str, Any]) -> None:
        if torch.is_grad_enabled():
            attachment._batch_size = batch_size_of(inputs) or batch_size_of(named) or attachment._batch_size

    return model.register_forward_pre_hook(before, with_kwargs=True).remove
