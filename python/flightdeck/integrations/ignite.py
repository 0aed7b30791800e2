# SPDX-License-Identifier: MIT
"""A cockpit on an engine of Ignite."""

from __future__ import annotations

from typing import Any

from ..cockpit import Cockpit
from ._batches import learn_batch_size

try:
    from ignite.engine import Events
except ImportError as error:
    raise ImportError(
        f"flightdeck.integrations.ignite: the package pytorch-ignite is needed; pip install pytorch-ignite ({error})"
    ) from error


def attach(engine: Any, model: Any, optimizer: Any, *arguments: Any, **settings: Any) -> Cockpit:
    """Watches the backward passes of a trainer's engine until it has completed, and ends the run then.

    Takes further what a `Cockpit` takes, and returns it.
    """
    cockpit = Cockpit(model, *arguments, **settings)
    attachment = cockpit.attach(model, optimizer)
    forget = learn_batch_size(attachment, model)

    def end(ending: Any) -> None:
        forget()
        attachment.detach()
        cockpit.finish(ending)

    def failed(_: Any, error: BaseException) -> None:
        end("interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
        raise error

    engine.add_event_handler(Events.COMPLETED, lambda: end("finished"))
    engine.add_event_handler(Events.EXCEPTION_RAISED, failed)
    return cockpit
