# SPDX-License-Identifier: MIT
"""A cockpit on a loop that is written with Accelerate."""

from __future__ import annotations

from typing import Any, Optional

from ..attach import Attachment
from ..cockpit import Cockpit
from ._batches import learn_batch_size


def attach(accelerator: Any, model: Any, optimizer: Any, *arguments: Any, **settings: Any) -> Optional[Attachment]:
    """Watches the passes of ``accelerator.backward``, after ``accelerator.prepare``.

    Takes further what a `Cockpit` takes; the attachment has it as ``cockpit``. Steps are those that the optimizer
    takes, so accumulation counts as one. None in processes other than the main one. Call ``detach()`` and
    ``cockpit.finish()`` at the end, or leave both to the end of the program.
    """
    if not accelerator.is_main_process:
        return None
    inner = accelerator.unwrap_model(model)
    cockpit = Cockpit(inner, *arguments, **settings)
    attachment = cockpit.attach(inner, getattr(optimizer, "optimizer", optimizer))
    attachment._undo.append(learn_batch_size(attachment, inner))
    return attachment
