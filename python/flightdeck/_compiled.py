# SPDX-License-Identifier: MIT
"""Models under torch.compile: steps that are watched run eagerly, because a compiled graph has no layers."""

from __future__ import annotations

import sys
import weakref
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, List, Optional

import torch

if TYPE_CHECKING:
    from .cockpit import Cockpit

#: What torch.compile puts before the names of a module's parameters.
PREFIX = "_orig_mod."


def is_compiled(module: torch.nn.Module) -> bool:
    """True if the module or a part of it was compiled, by ``torch.compile(module)`` or ``module.compile()``."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None:  # not imported: nothing was compiled
        return False
    return any(
        isinstance(part, dynamo.OptimizedModule) or getattr(part, "_compiled_call_impl", None) is not None
        for part in module.modules()
    )


def forced_eager() -> ContextManager[Any]:
    """Inside, compiled functions run as they were written. Does nothing before PyTorch 2.6."""
    compiler: Any = getattr(torch, "compiler", None)
    if not hasattr(compiler, "set_stance"):
        return nullcontext()
    stance: ContextManager[Any] = compiler.set_stance("force_eager")
    return stance


class EagerSteps:
    """Runs a module with compiled parts eagerly at the steps that its cockpit watches.

    By hooks, or around the call of a module that was compiled in place, hooks and all. They are outside of what is
    compiled, hold no cockpit, and are left out where the module is pickled.
    """

    def __init__(self, cockpit: "Cockpit", module: torch.nn.Module) -> None:
        self._cockpit: Callable[[], Optional["Cockpit"]] = weakref.ref(cockpit)
        self._open: List[ContextManager[Any]] = []
        self._undo: List[Callable[[], object]] = []
        if getattr(module, "_compiled_call_impl", None) is not None:
            self._go_around(module)
            return
        always: Dict[str, Any] = {"always_call": True}  # what is compiled is of a PyTorch that has it
        self._undo.append(module.register_forward_pre_hook(self.before).remove)
        self._undo.append(module.register_forward_hook(self.after, **always).remove)

    def _go_around(self, module: Any) -> None:
        compiled = module._compiled_call_impl

        def call(*inputs: Any, **named: Any) -> Any:
            with self.stance():
                return compiled(*inputs, **named)

        def put_back() -> None:
            if module._compiled_call_impl is call:
                module._compiled_call_impl = compiled

        module._compiled_call_impl = call
        self._undo.append(put_back)

    def stance(self) -> ContextManager[Any]:
        cockpit = self._cockpit()
        is_watched = cockpit is not None and torch.is_grad_enabled() and cockpit.reads_graph(cockpit.next_step)
        return forced_eager() if is_watched else nullcontext()

    def before(self, module: torch.nn.Module, inputs: Any) -> None:
        context = self.stance()
        context.__enter__()
        self._open.append(context)

    def after(self, module: torch.nn.Module, inputs: Any, outputs: Any) -> None:
        if self._open:
            self._open.pop().__exit__(None, None, None)

    def remove(self) -> None:
        while self._undo:
            self._undo.pop()()

    def __deepcopy__(self, memo: Any) -> "_NoHooks":
        return _NoHooks()

    def __reduce__(self) -> Any:
        return _NoHooks, ()


class _NoHooks(EagerSteps):
    """What copies and pickles of hooked modules have in the place of the hooks."""

    def __init__(self) -> None:
        self._cockpit = lambda: None
        self._open, self._undo = [], []
