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
    """True of what ``torch.compile(module)`` returned."""
    dynamo = sys.modules.get("torch._dynamo")  # not imported: nothing was compiled
    return dynamo is not None and isinstance(module, dynamo.OptimizedModule)


def forced_eager() -> ContextManager[Any]:
    """Inside, compiled functions run as they were written. Does nothing before PyTorch 2.6."""
    compiler: Any = getattr(torch, "compiler", None)
    if not hasattr(compiler, "set_stance"):
        return nullcontext()
    stance: ContextManager[Any] = compiler.set_stance("force_eager")
    return stance


class EagerSteps:
    """Hooks on a compiled module that run it eagerly at the steps its cockpit watches.

    They are outside of what is compiled, hold no cockpit, and are left out where the module is pickled.
    """

    def __init__(self, cockpit: "Cockpit", module: torch.nn.Module) -> None:
        self._cockpit: Callable[[], Optional["Cockpit"]] = weakref.ref(cockpit)
        self._open: List[ContextManager[Any]] = []
        always: Dict[str, Any] = {"always_call": True}  # what is compiled is of a PyTorch that has it
        self._handles = [
            module.register_forward_pre_hook(self.before),
            module.register_forward_hook(self.after, **always),
        ]

    def before(self, module: torch.nn.Module, inputs: Any) -> None:
        cockpit = self._cockpit()
        is_watched = cockpit is not None and torch.is_grad_enabled() and cockpit.reads_graph(cockpit.next_step)
        context: ContextManager[Any] = forced_eager() if is_watched else nullcontext()
        context.__enter__()
        self._open.append(context)

    def after(self, module: torch.nn.Module, inputs: Any, outputs: Any) -> None:
        if self._open:
            self._open.pop().__exit__(None, None, None)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def __deepcopy__(self, memo: Any) -> "_NoHooks":
        return _NoHooks()

    def __reduce__(self) -> Any:
        return _NoHooks, ()


class _NoHooks(EagerSteps):
    """What copies and pickles of hooked modules have in the place of the hooks."""

    def __init__(self) -> None:
        self._cockpit = lambda: None
        self._open, self._handles = [], []
