# SPDX-License-Identifier: MIT
"""Watches loops that are not edited: the steps are seen by hooks on the loss and the optimizer."""

from __future__ import annotations

import functools
import sys
import types
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

import torch

from . import _engine
from ._saved import is_inside_pass
from ._words import Reduction

if TYPE_CHECKING:
    from .cockpit import Cockpit


class Attachment:
    """A cockpit on a loop that is not edited, until `detach`.

    With ``loss_fn``, a module or a function, the first loss of every step is watched. A function is wrapped
    where its own module has it (``torch.nn.functional.cross_entropy``); `loss_fn` is the wrapped one. Without
    it, every loss that ``backward()`` is called on is watched; so too, with a warning, after a first step that did not
    call it, because the loop has it under a name of its own (``from torch.nn.functional import cross_entropy``). What a
    ``GradScaler`` multiplies is watched before that, and its factor is recorded as ``grad_scale``. A step ends when the
    ``optimizer`` takes it, or, where that is given a closure, with the closure's first backward pass; without an
    optimizer each backward pass is one.

    Losses that none of the cockpit's parameters have a part in are another network's. So are those whose gradient the loop
    throws away (``zero_grad()``) before the optimizer steps, as the generator's in the discriminator of a GAN: the first one
    costs a step, which the record lacks, the others are known by their place.

    A scalar loss is taken apart as its graph tells; where that does not, by the size of the batch: that of the
    model's first input, else of the loss's.

    >>> from flightdeck import Cockpit
    >>> model, criterion = torch.nn.Linear(3, 2), torch.nn.CrossEntropyLoss()
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> cockpit = Cockpit(model, ["grad_norm"])
    >>> attachment = cockpit.attach(optimizer=optimizer, loss_fn=criterion)
    >>> for step in range(3):  # a loop that knows nothing of it
    ...     optimizer.zero_grad()
    ...     criterion(model(torch.ones(5, 3)), torch.zeros(5, dtype=torch.long)).backward()
    ...     optimizer.step()
    >>> attachment.detach()
    >>> sorted(cockpit.readings)
    [0, 1, 2]
    """

    def __init__(
        self,
        cockpit: "Cockpit",
        model: Optional[torch.nn.Module],
        optimizer: Optional[Any],
        *,
        loss_fn: Optional[Callable[..., Any]] = None,
        first_step: int = 0,
    ) -> None:
        self._cockpit = cockpit
        self._parameters = [parameter for _, parameter in cockpit._native.parameters]
        # Under fully_shard the leaves of a graph are other tensors.
        self._leaves = _engine.Leaves(self._parameters) if cockpit._gathered is None else None
        self._optimizer = optimizer
        self._step = first_step
        self._batch_size: Optional[int] = None
        self._watch: Optional[_engine.StepWatch] = None
        self._has_left_out = False
        self._is_in_closure = False  # the optimizer asks for the loss itself
        self._is_over = False  # nothing more is watched in this step
        self._is_in_pass = False  # backward() goes on
        self._has_passed = False  # a backward pass of the loss that is being watched
        self._losses = 0  # of this step so far
        self._saw_others = False  # losses that are none of the cockpit's parameters
        self._has_said_others = False
        self._foreign_losses = 0  # so many of each step come first, and their gradients are thrown away
        self._has_scaler = False
        self._scaled: Any = None  # by a GradScaler; it has been seen as it was before
        self._is_detached = False
        self._watches_all = loss_fn is None  # every loss that backward() is called on
        self._has_seen_loss = False  # of loss_fn
        self._passes = 0  # backward passes so far
        self._passes_before = 0  # before this step
        self._factor = 1.0  # on the scalar loss that is watched
        self._has_said_factor = False
        self._scaled_step = -1  # the last one whose factor is recorded
        self._undo: List[Callable[[], object]] = []
        self.loss_fn = loss_fn
        if model is not None:
            _keep_out_of_files(model, "_forward_pre_hooks")
            self._undo.append(model.register_forward_pre_hook(self._before_model).remove)
        if optimizer is not None:
            self._hook_optimizer(optimizer)
        self._hook_backward()
        self._hook_scalers()
        if isinstance(loss_fn, torch.nn.Module):
            _keep_out_of_files(loss_fn, "_forward_hooks")
            self._undo.append(loss_fn.register_forward_hook(self._after_loss_module).remove)
        elif loss_fn is not None:
            self._hook_function(loss_fn)

    @property
    def cockpit(self) -> "Cockpit":
        """The one that watches."""
        return self._cockpit

    @property
    def step(self) -> int:
        """The number of the step that comes next or is being watched."""
        return self._step

    def detach(self) -> None:
        """Ends the step that is being watched and lets the loop alone."""
        self._end()
        self._is_detached = True
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> "Attachment":
        return self

    def __exit__(self, *exception: object) -> None:
        self.detach()

    def __deepcopy__(self, memo: Dict[int, Any]) -> "_Detached":
        """Copies of a model that is watched are not."""
        return _Detached()

    def __reduce__(self) -> Any:
        return _Detached, ()

    # ---- what is seen ----

    def _before_model(self, module: torch.nn.Module, inputs: Tuple[Any, ...]) -> None:
        if torch.is_grad_enabled():
            self._batch_size = _leading_size(inputs, least=2) or self._batch_size  # one dimension may be one sample

    def _after_loss_module(self, module: torch.nn.Module, inputs: Tuple[Any, ...], loss: Any) -> None:
        self._see(loss, _leading_size(inputs), getattr(module, "reduction", "mean"))

    def _before_update(self, optimizer: Any, arguments: Tuple[Any, ...], named: Dict[str, Any]) -> None:
        given = [value for value in (*arguments, *named.values()) if value is not optimizer]
        self._is_in_closure = any(callable(value) for value in given)
        self._is_over = False  # where the step before failed
        if not self._is_in_closure:
            self._end()
            self._go_on()

    def _after_update(self, *_: object) -> None:
        if self._is_in_closure:
            self._end()
            self._go_on()
        self._is_in_closure = self._is_over = False

    # ---- a step ----

    def _see(self, loss: Any, size: Optional[int], reduction: str) -> None:
        """The loss function returned."""
        if isinstance(loss, torch.Tensor) and loss.requires_grad:
            self._has_seen_loss = True
        self._begin(loss, size, reduction)

    def _go_on(self) -> None:
        """To the next step."""
        if self._saw_others and self._losses == 0 and not self._has_said_others:
            self._has_said_others = True
            self._cockpit._on_warning(
                f"attach: step {self._step} is not watched: no loss before the optimizer's step depends on the cockpit's "
                "parameters; make a cockpit of the model that is trained"
            )
        if 0 < self._losses <= self._foreign_losses:
            self._foreign_losses = 0  # all of them were passed over: a step that was once left out is no other network's
        self._say_factor(self._passes - self._passes_before)
        self._passes_before = self._passes
        self._step += 1
        self._losses = 0
        self._saw_others = False
        if self._passes > 0:
            self._look_elsewhere()

    def _say_factor(self, passes: int) -> None:
        """A loss that was divided for gradient accumulation is recorded so: its graph cannot tell that from a weight."""
        if self._has_said_factor or passes < 2 or abs(self._factor * passes - 1) > 1e-6:
            return
        self._has_said_factor = True
        text = (
            f"the loss is divided by {passes} for {passes} backward passes a step before it is watched: loss and gradients are "
            f"recorded divided by {passes}. Give attach the loss_fn that returns it undivided"
        )
        self._cockpit.remark(self._step, text)
        self._cockpit._on_warning(f"attach: {text}")

    def _look_elsewhere(self) -> None:
        if self._has_seen_loss or self._watches_all:
            return
        self._watches_all = True
        name = getattr(self.loss_fn, "__name__", type(self.loss_fn).__name__)
        self._cockpit._on_warning(
            f"attach: the loop took a step without calling the loss_fn that was given ({name}); from now on every loss "
            "that backward() is called on is watched"
        )

    def _begin(self, loss: Any, size: Optional[int], reduction: str = "mean") -> None:
        """Watches this loss, unless the step has one already or there is nothing to differentiate."""
        if self._is_over or self._is_detached:
            return
        if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
            return
        if self._watch is not None and not self._is_thrown_away():
            return
        if self._leaves is not None and not self._leaves.are_reached_from(loss):
            self._saw_others = True
            return
        if self._watch is not None:
            self._leave_to_another(self._watch)
        self._losses += 1
        if self._losses <= self._foreign_losses:
            return
        if 0 < self._foreign_losses < self._losses and not self._has_no_gradient():
            self._foreign_losses = 0  # the loop does something else now
        try:
            self._has_passed = False
            self._watch = self._watched(loss, size, reduction)
        except (RuntimeError, ValueError) as error:
            if not self._has_left_out:
                self._cockpit._leave_out(error)
            self._has_left_out = True

    def _has_no_gradient(self) -> bool:
        """Also where it is zero, but not on a device, where looking would wait."""
        given = [leaf.grad for leaf in self._parameters if leaf.grad is not None]
        return all(not grad.is_cuda and not bool(grad.any()) for grad in given)

    def _is_thrown_away(self) -> bool:
        """What the loss that is being watched gave the parameters. A scaler that found infinities leaves out the step."""
        is_told = self._optimizer is not None and not self._has_scaler
        return is_told and self._has_passed and self._has_no_gradient()

    def _leave_to_another(self, watch: _engine.StepWatch) -> None:
        """The losses of this step so far were another network's; so are as many of every step to come."""
        self._watch = None
        watch.drop()
        if self._foreign_losses == 0:
            self._cockpit._on_warning(
                f"attach: step {self._step} is not recorded: the loop threw the gradient of its loss away (zero_grad) before "
                "the optimizer's step, so it was not the loss of this step; losses at its place are left out from now on"
            )
        self._foreign_losses = self._losses
        self._step += 1  # a number serves once

    def _watched(self, loss: torch.Tensor, size: Optional[int], reduction: str) -> _engine.StepWatch:
        if loss.dim() > 0:
            return self._cockpit.watch(self._step, loss, self._optimizer)
        said = self._batch_size or size or 1
        known: Reduction = "sum" if reduction == "sum" else "mean"
        if self._cockpit.is_due(self._step):
            read, how, self._factor = _engine.read_scalar(loss)
            if read > 0:
                # Lines of the same sample, as positions of a sequence, are one after the other.
                is_of_lines = said > 1 and read % said == 0
                said, known = said if is_of_lines else read, how
        return self._cockpit.watch(self._step, loss, self._optimizer, batch_size=said, reduction=known)

    def _end(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.end()

    def _record_factor(self, scaler: Any) -> None:
        if self._watch is None or self._scaled_step == self._step or not scaler.is_enabled():
            return
        self._scaled_step = self._step
        if self._cockpit.reads_graph(self._step):
            self._cockpit.log(self._step, grad_scale=scaler.get_scale())

    # ---- hooks ----

    def _hook_optimizer(self, optimizer: Any) -> None:
        if hasattr(optimizer, "register_step_pre_hook"):
            self._undo.append(optimizer.register_step_pre_hook(self._before_update).remove)
            self._undo.append(optimizer.register_step_post_hook(self._after_update).remove)
            return
        step = optimizer.step

        @functools.wraps(step)  # schedulers look for marks on it
        def watched_step(this: Any, *arguments: Any, **named: Any) -> Any:
            function = getattr(step, "__func__", None)
            if this is not optimizer and function is not None:  # a copy
                return function(this, *arguments, **named)
            if self._is_detached:
                return step(*arguments, **named)
            self._before_update(optimizer, arguments, named)
            result = step(*arguments, **named)
            self._after_update()
            return result

        optimizer.step = types.MethodType(watched_step, optimizer)  # as schedulers expect it
        self._undo.append(lambda: _give_back(optimizer, "step", watched_step))

    def _hook_function(self, function: Callable[..., Any]) -> None:
        @functools.wraps(function)
        def watched_loss(*arguments: Any, **named: Any) -> Any:
            loss = function(*arguments, **named)
            self._see(loss, _leading_size(arguments), named.get("reduction", "mean"))
            return loss

        self.loss_fn = watched_loss
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        self._replace(module, getattr(function, "__name__", ""), function, watched_loss)

    def _hook_backward(self) -> None:
        backward = torch.autograd.backward

        @functools.wraps(backward)
        def watched_backward(tensors: Any, *arguments: Any, **named: Any) -> Any:
            # Reentrant checkpointing runs a pass in a pass.
            if self._is_detached or self._is_in_pass or is_inside_pass():
                return backward(tensors, *arguments, **named)
            if self._watches_all and tensors is not self._scaled:
                self._begin(tensors, None)
            self._scaled = None
            self._passes += 1
            watch = self._watch
            self._is_in_pass = True
            try:
                result = backward(tensors, *arguments, **named)
            except BaseException:
                self._watch = None
                if watch is not None:
                    watch.drop()
                    self._step += 1  # a number serves once
                raise
            finally:
                self._is_in_pass = False
            self._has_passed = True  # not before: a pass may run others inside, when there is no gradient yet
            if watch is not None and (self._optimizer is None or self._is_in_closure):
                self._end()
                self._is_over = self._is_in_closure
            if self._optimizer is None:
                if watch is not None:
                    self._go_on()
                elif self._passes == 2:  # the first may be that of a penalty
                    self._look_elsewhere()
            return result

        # Tensor.backward looks it up there.
        self._replace(torch.autograd, "backward", backward, watched_backward)

    def _hook_scalers(self) -> None:
        kind: Any = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        scale = kind.scale

        @functools.wraps(scale)
        def watched_scale(scaler: Any, outputs: Any) -> Any:
            if self._watches_all:
                self._begin(outputs, None)
            self._record_factor(scaler)
            self._has_scaler = self._has_scaler or scaler.is_enabled()
            self._scaled = scale(scaler, outputs)
            return self._scaled

        self._replace(kind, "scale", scale, watched_scale)

    def _replace(self, owner: Any, name: str, before: Any, after: Any) -> None:
        if getattr(owner, name, None) is before:
            setattr(owner, name, after)
            self._undo.append(lambda: _give_back(owner, name, after))


class _OwnHooks(OrderedDict):  # type: ignore[type-arg]
    """Hooks of a module. Where it is pickled or copied, an attachment's are left out: who reads the file may have no
    flightdeck, or allow the classes alone that the program names."""

    def __reduce__(self) -> Any:
        kept = [(key, hook) for key, hook in self.items() if not isinstance(getattr(hook, "__self__", None), Attachment)]
        return OrderedDict, (kept,)


def _keep_out_of_files(module: torch.nn.Module, name: str) -> None:
    """Where the module has hooks already, their handles know the dictionary that they are in: it stays."""
    if type(module.__dict__.get(name)) is OrderedDict and not module.__dict__[name]:
        module.__dict__[name] = _OwnHooks()


class _Detached(Attachment):
    """What copies and pickles have in the place of an attachment, where hooks of others are beside it."""

    def __init__(self) -> None:
        self._batch_size = None

    def _see(self, loss: Any, size: Optional[int], reduction: str) -> None:
        pass


def _give_back(owner: Any, name: str, ours: Any) -> None:
    """Puts back what was there before. What was put around ours later stays, and takes ours away when it goes."""
    ours.is_over = True
    current = getattr(owner, name)
    while getattr(current, "is_over", False):
        current = current.__wrapped__
    function = getattr(current, "__func__", None)
    if function is not None and getattr(type(owner), name, None) is function:
        delattr(owner, name)  # its class has it
    else:
        setattr(owner, name, current)


def _leading_size(inputs: Tuple[Any, ...], least: int = 1) -> Optional[int]:
    """The size of the first dimension of the first tensor that has at least so many."""
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.dim() >= least:
            return int(value.shape[0])
    return None
