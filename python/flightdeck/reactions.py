# SPDX-License-Identifier: MIT
"""What a loop lets happen when a lamp lights: interventions in its training."""

from __future__ import annotations

import io
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import torch

from . import _engine
from .cockpit import Cockpit

#: Lamps by name, or a severity, which stands for graver ones too.
LampsLike = Union[str, Sequence[str]]

# What torch.optim.lr_scheduler keeps of rates beside ``lr``, and computes later ones from.
_RATES = ("lr", "initial_lr", "max_lr", "min_lr")


class Reactions:
    """Intervenes in a training when lamps light. Nothing happens but what is asked for.

    ``stop_on``, ``checkpoint_on``, ``lower_rate_on``, ``clip_on``, ``skip_on`` and ``restore_on`` name lamps, or a
    severity. `takes_update` looks at the cockpit's record every ``look_every`` steps, at each with ``skip_on`` or
    ``restore_on``, and does it: the rate is multiplied by what the finding advises, at least by 0.1, else by 0.5; the
    gradient's norm is clipped from then on at ``clip_norm`` (0: the median of the norms so far), at half of it the next
    time; parameters, buffers and the optimizer's state become those of a step at least ``keep_every`` / 2 before. The
    same lamp causes the same intervention again after ``pause`` steps, ``most`` times in all.

    Each intervention is a remark, a value of the series ``interventions``, and a call of
    ``on_intervention(step, sentence)``. ``scheduler`` is told of lowered rates, one or several of them. With a
    ``GradScaler``, call ``scaler.unscale_(optimizer)`` first.

    >>> model = torch.nn.Linear(4, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
    >>> cockpit = Cockpit(model, ["loss"], record_to=new_folder)
    >>> reactions = Reactions(cockpit, model, optimizer, lower_rate_on="loss_grew", pause=5)
    >>> for step in range(30):
    ...     optimizer.zero_grad()
    ...     losses = model(torch.ones(8, 4)).square().sum(1)
    ...     with cockpit.watch(step, losses, optimizer):
    ...         losses.mean().backward()
    ...     if reactions.takes_update(step):
    ...         optimizer.step()
    >>> reactions.rate_factor < 1
    True
    >>> cockpit.finish()
    """

    def __init__(
        self,
        cockpit: Cockpit,
        model: torch.nn.Module,
        optimizer: Any,
        *,
        stop_on: LampsLike = (),
        checkpoint_on: LampsLike = (),
        lower_rate_on: LampsLike = (),
        clip_on: LampsLike = (),
        skip_on: LampsLike = (),
        restore_on: LampsLike = (),
        look_every: int = 10,
        pause: int = 100,
        most: int = 10,
        clip_norm: float = 0,
        keep_every: int = 100,
        scheduler: Any = None,
        on_intervention: Optional[Callable[[int, str], object]] = None,
    ) -> None:
        if not cockpit._record_folder:
            raise ValueError(
                "reactions: lamps look at the record, and this cockpit writes none; call record_to(folder) before"
            )
        if cockpit._gathered is not None:
            raise NotImplementedError(
                "reactions: the model's parameters are sharded, and the first rank alone has the record; call "
                "on_finding there, and tell the others what to do"
            )
        options = _engine.ReactionOptions()
        options.stop_on, options.checkpoint_on = _names(stop_on), _names(checkpoint_on)
        options.lower_rate_on, options.clip_on = _names(lower_rate_on), _names(clip_on)
        options.skip_on, options.restore_on = _names(skip_on), _names(restore_on)
        options.look_every, options.pause, options.most = look_every, pause, most
        options.clip_norm, options.keep_every = clip_norm, keep_every
        self._loop = _Loop(model, optimizer, scheduler)
        self._native = _engine.Reactions(
            options, cockpit._record_folder, self._loop, cockpit._native, on_intervention
        )

    def takes_update(self, step: int) -> bool:
        """Call it once at each step, between the end of its watch and ``optimizer.step()``; False: leave that out."""
        return self._native.takes_update(step)

    def takes_checkpoint(self) -> bool:
        """True once for each checkpoint that a lamp of ``checkpoint_on`` asks for: the loop writes it."""
        return self._native.takes_checkpoint()

    @property
    def stopped_by(self) -> str:
        """The lamp of ``stop_on`` that has lit, empty while none has; the loop ends itself."""
        return self._native.stopped_by

    @property
    def rate_factor(self) -> float:
        """The product of all factors by which rates were lowered."""
        return self._loop.rate_factor

    def state_dict(self) -> Dict[str, torch.Tensor]:
        """What has been done, for a checkpoint: a loop that goes on with it comes to the same numbers."""
        saved = self._native.save()
        saved["rate_factor"] = torch.tensor(self._loop.rate_factor, dtype=torch.float64)
        return saved

    def load_state_dict(self, saved: Mapping[str, torch.Tensor]) -> None:
        """Goes on from `state_dict`. The optimizer's rates are those of its own checkpoint, lowered as they were."""
        self._loop.rate_factor = float(saved["rate_factor"])
        self._native.load({name: tensor for name, tensor in saved.items() if name != "rate_factor"})


def _names(given: LampsLike) -> List[str]:
    return [given] if isinstance(given, str) else list(given)


def _schedulers(given: Any) -> Iterator[Any]:
    """All schedulers, those inside of others too."""
    for one in given if isinstance(given, (list, tuple)) else [given]:
        if one is not None:
            yield one
            yield from _schedulers(getattr(one, "_schedulers", None) or [])


class _Loop:
    """What interventions touch."""

    def __init__(self, model: torch.nn.Module, optimizer: Any, scheduler: Any) -> None:
        self._model, self._optimizer = model, optimizer
        self._schedulers = list(_schedulers(scheduler))
        self.rate_factor = 1.0

    def learning_rate(self) -> float:
        return float(self._optimizer.param_groups[0]["lr"])

    def set_rate_factor(self, factor: float) -> None:
        change = factor / self.rate_factor
        for group in self._optimizer.param_groups:
            for key in _RATES:
                if isinstance(group.get(key), torch.Tensor):
                    group[key].mul_(change)  # a captured graph reads the tensor that is there
                elif group.get(key) is not None:
                    group[key] *= change
        for scheduler in self._schedulers:
            if hasattr(scheduler, "base_lrs"):
                scheduler.base_lrs = [rate * change for rate in scheduler.base_lrs]
        self.rate_factor = factor

    def save_model(self) -> Dict[str, torch.Tensor]:
        """Parameters and buffers, not copied."""
        return {name: value for name, value in self._model.state_dict().items() if isinstance(value, torch.Tensor)}

    def save_optimizer(self) -> bytes:
        """The state of the optimizer without its settings: rates stay what they are."""
        buffer = io.BytesIO()
        torch.save(self._optimizer.state_dict()["state"], buffer)
        return buffer.getvalue()

    def restore(self, model: Mapping[str, torch.Tensor], optimizer: bytes) -> None:
        with torch.no_grad():
            for name, value in self.save_model().items():
                value.copy_(model[name])
        state = self._optimizer.state_dict()
        state["state"] = torch.load(io.BytesIO(optimizer), map_location="cpu")
        self._optimizer.load_state_dict(state)
