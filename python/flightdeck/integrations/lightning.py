# SPDX-License-Identifier: MIT
"""A cockpit on a Lightning Trainer."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional

import torch

from .. import _engine
from .._words import Ending
from ..cockpit import Cockpit
from ._batches import batch_size_of

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError as error:
        raise ImportError(
            f"flightdeck.integrations.lightning: the package lightning is needed; pip install lightning ({error})"
        ) from error


class FlightdeckCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Watches ``trainer.fit``: ``Trainer(callbacks=[FlightdeckCallback("economy", record_to="runs/first")])``.

    Takes what a `Cockpit` takes, without the parameters, which are those of the module; `cockpit` is there from
    the beginning of ``fit`` on. Steps are those of the optimizer; of the batches that one step accumulates the
    first is watched. Learning rates, ``val_loss`` and ``val_acc`` are logged, and the factor of ``16-mixed`` as
    ``grad_scale``.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._arguments, self._settings = arguments, settings
        self._watch: Optional[_engine.StepWatch] = None
        self._step, self._size = -1, 0
        self._scaler: Optional[Any] = None
        self._unscaled: Optional[torch.Tensor] = None
        self._forget: Callable[[], None] = lambda: None
        self.cockpit: Optional[Cockpit] = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self.cockpit = Cockpit(pl_module, *self._arguments, **self._settings)
            self._remember_losses_of(getattr(trainer.precision_plugin, "scaler", None))

    def _remember_losses_of(self, scaler: Optional[Any]) -> None:
        """Callbacks are shown the loss after it was scaled."""
        if scaler is None:
            return
        scale = scaler.scale

        @functools.wraps(scale)
        def remembering(outputs: Any) -> Any:
            self._unscaled = outputs
            return scale(outputs)

        scaler.scale = remembering
        self._scaler, self._forget = scaler, lambda: delattr(scaler, "scale")

    def _end(self, ending: Ending) -> None:
        self._forget()
        self._forget = lambda: None
        if self.cockpit is not None:
            self.cockpit.finish(ending)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._size = batch_size_of(batch) or 0

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        unscaled, self._unscaled = self._unscaled, None
        loss = loss if unscaled is None else unscaled
        if self.cockpit is None or self._watch is not None or trainer.global_step <= self._step:
            return
        self._step = trainer.global_step
        optimizer = trainer.optimizers[0] if len(trainer.optimizers) == 1 else None
        self._watch = self.cockpit.watch(self._step, loss, optimizer, batch_size=self._size, scaler=self._scaler)
        if optimizer is not None:
            self.cockpit.log(self._step, learning_rate=optimizer.param_groups[0]["lr"])

    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.end()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        names = {"val_loss": "valid_loss", "val_acc": "valid_accuracy"}
        known = {names[name]: float(value) for name, value in trainer.callback_metrics.items() if name in names}
        if self.cockpit is not None and known and self._step >= 0:
            self.cockpit.log(self._step, known)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.drop()
        self._end("interrupted" if isinstance(exception, KeyboardInterrupt) else "failed")

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._end("finished")
