# SPDX-License-Identifier: MIT
"""A cockpit on the Trainer of Hugging Face, and rules for what its models bring."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from ..attach import Attachment
from ..cockpit import Cockpit
from ._batches import learn_batch_size

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        f"flightdeck.integrations.transformers: the package transformers is needed; pip install transformers ({error})"
    ) from error

from . import _functions as _functions  # noqa: E402  registers its rules

LOGGED = {"learning_rate": "learning_rate", "eval_loss": "valid_loss", "eval_accuracy": "valid_accuracy"}


class FlightdeckCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Watches ``trainer.train()``: ``Trainer(..., callbacks=[FlightdeckCallback("economy", record_to="runs/first")])``.

    Takes what a `Cockpit` takes, without the parameters, which are those of the model; `cockpit` is there from the
    beginning of the training on. Steps are those of the optimizer; of the batches that one step accumulates the
    first is watched. Learning rates and evaluations are logged as the Trainer logs them.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._arguments, self._settings = arguments, settings
        self._attachment: Optional[Attachment] = None
        self._forget: Callable[[], None] = lambda: None
        self.cockpit: Optional[Cockpit] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if not state.is_world_process_zero:
            return
        model, optimizer = given["model"], given["optimizer"]
        self.cockpit = Cockpit(model, *self._arguments, **self._settings)
        # Accelerate wraps optimizers; the one inside takes the steps.
        inner = getattr(optimizer, "optimizer", optimizer)
        self._attachment = self.cockpit.attach(model, inner, first_step=state.global_step)
        self._forget = learn_batch_size(self._attachment, model)

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None, **given: Any) -> None:
        values = {LOGGED[name]: float(value) for name, value in (logs or {}).items() if name in LOGGED}
        if self.cockpit is not None and values:
            self.cockpit.log(max(state.global_step - 1, 0), values)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self._attachment is not None:
            self._forget()
            self._attachment.detach()
        if self.cockpit is not None:
            self.cockpit.finish()
