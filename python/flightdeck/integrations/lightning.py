# SPDX-License-Identifier: MIT
"""A cockpit on a Lightning Trainer."""

from __future__ import annotations

from typing import Any, Optional

from .. import _engine
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
    first is watched. Learning rates, ``val_loss`` and ``val_acc`` are logged.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._arguments, self._settings = arguments, settings
        self._watch: Optional[_engine.StepWatch] = None
        self._step, self._size = -1, 0
        self.cockpit: Optional[Cockpit] = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.is_global_zero:
            self.cockpit = Cockpit(pl_module, *self._arguments, **self._settings)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._size = batch_size_of(batch) or 0

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        if self.cockpit is None or self._watch is not None or trainer.global_step <= self._step:
            return
        self._step = trainer.global_step
        optimizer = trainer.optimizers[0] if len(trainer.optimizers) == 1 else None
        self._watch = self.cockpit.watch(self._step, loss, optimizer, batch_size=self._size)
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
        if self.cockpit is not None:
            self.cockpit.finish("interrupted" if isinstance(exception, KeyboardInterrupt) else "failed")

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        if self.cockpit is not None:
            self.cockpit.finish()
