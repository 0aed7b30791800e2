# SPDX-License-Identifier: MIT
"""The cockpit: watches a training run from inside without changing it."""

from __future__ import annotations

import atexit
import logging
import multiprocessing.util
import os
import sys
import weakref
from contextlib import nullcontext
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, Callable, ContextManager, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union,
)

import torch

from . import _engine
from ._compiled import EagerSteps, forced_eager, is_compiled
from ._cores import what_keeps_cores
from ._sharded import gathered_from
from ._update_formulas import update_formulas
from ._words import BatchNorm, DueLike, Ending, IntegersLike, Reduction, SharedTerms
from .parameters import ParametersLike, named_parameters
from .quantities import QuantitiesLike, quantities_of
from .ranks import RanksLike, ranks_of
from .sinks import Sink

if TYPE_CHECKING:
    from .attach import Attachment

_log = logging.getLogger("flightdeck")

# A value of one step: a number, a list of numbers, or a histogram.
ReadingValue = Union[float, List[float], _engine.Reading]


class Cockpit:
    """Watches the training of a model's parameters.

    ``quantities`` is a preset (``"diagnosis"``, ``"economy"``, ``"business"``, ``"full"``) or a list of quantities;
    ``due`` says at which steps those given by name are computed: without it ``diagnosis`` at the first 50 and then at
    every 25th, all others at every step. Loss, learning rate and time of a preset are recorded at every
    step. ``groups`` is ``"automatic"`` (modules, up to 200), ``"whole"``, ``"module"``, ``"module:1"``, ``"parameter"``,
    ``"type"``, ``"depth"``, or a list of regular expressions. ``keep`` is how many of the last
    steps `readings` has; None keeps all. ``ranks`` is True where several processes train one model with
    ``torch.distributed``, or a process group: every value is then that of all their samples.

    Parameters, ``.grad`` and random numbers are as without it, to the bit. A quantity that fails is switched off
    and recorded; nothing is raised from a watched step unless ``strict``. Warnings go to the logger
    ``flightdeck``, or to ``on_warning``.

    >>> model = torch.nn.Linear(3, 2)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> cockpit = Cockpit(model, ["loss", "grad_norm"])
    >>> for step in range(3):
    ...     optimizer.zero_grad()
    ...     losses = model(torch.ones(5, 3)).square().sum(1)
    ...     with cockpit.watch(step, losses, optimizer):
    ...         losses.mean().backward()
    ...     optimizer.step()
    >>> sorted(cockpit.readings[2])
    ['grad_norm', 'loss']
    >>> cockpit.finish()
    """

    def __init__(
        self,
        parameters: ParametersLike,
        quantities: QuantitiesLike = "diagnosis",
        *,
        record_to: Union[str, "os.PathLike[str]", None] = None,
        due: DueLike = None,
        groups: Union[str, Sequence[str]] = "automatic",
        strict: bool = False,
        batch_norm: BatchNorm = "refuse",
        shared_terms: SharedTerms = "keep",
        seed: int = 0,
        memory: Optional[_engine.MemoryLimits] = None,
        on_warning: Optional[Callable[[str], object]] = None,
        keep: Optional[int] = 16,
        sinks: Sequence[Union[Sink, _engine.NativeSink]] = (),
        config: Optional[Mapping[str, object]] = None,
        ranks: RanksLike = None,
    ) -> None:
        self._process = self._warned_in = os.getpid()
        self._is_strict = strict
        self._on_warning = _log.warning if on_warning is None else on_warning
        chosen = quantities_of(quantities, due)
        self._meets_early = [one.name for one in chosen if one.meets_before_backward]
        self._has_sharpness = any(quantity.name.startswith("sharpness") for quantity in chosen)
        self._gathered = gathered_from(parameters)
        self._native = _engine.Cockpit(
            named_parameters(parameters) if self._gathered is None else self._gathered.named,
            chosen,
            groups=groups,
            strict=strict,
            batch_norm=batch_norm,
            shared_terms=shared_terms,
            seed=seed,
            memory=memory,
            on_warning=self._on_warning,
            ranks=ranks_of(ranks),
        )
        self._model = weakref.ref(parameters) if isinstance(parameters, torch.nn.Module) else None
        self._next_step = 0
        self._record_folder = ""
        self._stopped_by: Optional[_engine.Finding] = None
        self._eager: Optional[EagerSteps] = None
        if isinstance(parameters, torch.nn.Module) and is_compiled(parameters):
            self._eager = EagerSteps(self, parameters)
        self._recent = _engine.RecentReadings(keep)
        self._native.add_sink(self._recent)
        for sink in sinks:
            self.add_sink(sink)
        if record_to is not None:
            self.record_to(record_to)
        for key, value in (config or {}).items():
            self.describe(key, value)
        crowded = what_keeps_cores(self._native.parameters)
        if crowded:
            self._on_warning(crowded)
        _open_cockpits.add(self)
        _finish_with_the_process()

    # ---- before the first step ----

    def add(self, quantity: _engine.Quantity) -> None:
        """Tracks another quantity. Before the first watched step."""
        self._has_sharpness = self._has_sharpness or quantity.name.startswith("sharpness")
        if quantity.meets_before_backward:
            self._meets_early.append(quantity.name)
        self._native.add(quantity)

    def add_sink(self, sink: Union[Sink, _engine.NativeSink]) -> None:
        """Hands what is measured to another sink. Before the first watched step."""
        self._native.add_sink(sink)

    def record_to(self, folder: Union[str, "os.PathLike[str]"], *, resume_at: Optional[int] = None) -> None:
        """Records to a folder, which is made; raises FileExistsError if it already holds a run.

        With ``resume_at``, the next step, it goes on with the run that the folder holds, if it holds one: what was
        recorded for this step and later ones is forgotten first. Of several ranks the first one records.
        """
        self._native.record_to(os.fspath(folder), resume_at)
        self._record_folder = os.fspath(folder)

    def on_finding(
        self,
        call: Callable[[_engine.Finding, _engine.Diagnosis], object],
        on: Union[str, Sequence[str]] = "warning",
        *,
        pause_s: float = 5,
        every: int = 0,
        looks_at_end: bool = True,
    ) -> None:
        """Calls back when a lamp lights, once for each finding, on the thread that trains.

        ``call(finding, diagnosis)`` is given the finding and the likely causes as they are ranked then. ``on`` names
        lamps, or a severity, which stands for graver ones too. Lamps look at the record every ``pause_s`` seconds, or
        at steps that are ``every`` so many apart. After `record_to`, before the first watched step. A function that
        raises is not called again, with a warning, and training goes on.

        >>> cockpit = Cockpit(torch.nn.Linear(2, 1), ["loss"], record_to=new_folder)
        >>> cockpit.on_finding(lambda finding, diagnosis: print(finding.lamp, finding.step, diagnosis), every=10)
        >>> cockpit.finish()
        """
        on = [on] if isinstance(on, str) else list(on)
        self._native.on_finding(call, on=on, pause_s=pause_s, every=every, looks_at_end=looks_at_end)

    def stop_on(self, on: Union[str, Sequence[str]], *, every: int = 10) -> None:
        """Sets `should_stop` when one of these lamps lights, or one of this severity or more.

        The loop ends itself: ``if cockpit.should_stop: break``. Of several ranks the first one alone knows, and has
        to tell the others before it leaves. Otherwise as `on_finding`.
        """

        def stop(finding: _engine.Finding, diagnosis: _engine.Diagnosis) -> None:
            self._stopped_by = self._stopped_by or finding

        self.on_finding(stop, on, every=every, looks_at_end=False)

    def alert(
        self,
        *,
        command: str = "",
        webhook: str = "",
        on: Union[str, Sequence[str]] = "warning",
        limit_s: float = 10,
        pause_s: float = 5,
    ) -> None:
        """Tells findings to a command, which has them as JSON on its standard input, or posts them to ``http://...``.

        A thread of its own does it, within ``limit_s`` for each; training never waits, and the first failure is a
        warning. Otherwise as `on_finding`.
        """
        on = [on] if isinstance(on, str) else list(on)
        self._native.alert(
            command=command, webhook=webhook, run=self._record_folder, limit_s=limit_s, pause_s=pause_s, on=on,
            on_warning=self._on_warning,
        )

    def describe(self, key: str, value: object) -> None:
        """Told with the run: problem, optimizer, seed, ... Before the first watched step."""
        self._native.describe(key, str(value))

    # ---- steps ----

    def watch(
        self,
        step: int,
        losses: Union[torch.Tensor, _engine.Batch],
        optimizer: Optional[Any] = None,
        *,
        learning_rate: Optional[float] = None,
        outputs: Optional[torch.Tensor] = None,
        batch_size: int = 0,
        reduction: Reduction = "mean",
        scaler: Optional[Any] = None,
        sample_ids: Optional[IntegersLike] = None,
        labels: Optional[IntegersLike] = None,
        predictions: Optional[IntegersLike] = None,
        inputs: Optional[torch.Tensor] = None,
        phases: Optional[Mapping[str, float]] = None,
    ) -> _engine.StepWatch:
        """Watches one step: a ``with`` block around ``backward()``, at every step, with ascending numbers.

        ``losses`` are individual losses [N], a scalar loss, or a `Batch`. The graph of a known loss tells of how many
        samples it is the mean or the sum; of another one, say ``batch_size`` and ``reduction``. What the losses are
        multiplied by after they are given is no part of any value; a scalar that is divided already is recorded so. The
        factor of a ``scaler`` (``torch.amp.GradScaler``) is recorded as ``grad_scale``, learning rates are read from the
        ``optimizer``. ``sample_ids`` say who the samples are, one integer each (a tensor or a list): quantities and remarks
        that name samples name these; ``labels`` and ``predictions`` are named with them. ``inputs`` [N, ...] are what the model was given, where the graph does not
        show it; ``phases`` are seconds that parts of the step took (``data``, ``forward``, ``update``), for
        `step_times`. An exception inside the block drops the step.
        """
        if os.getpid() != self._process:
            return self._elsewhere()
        self._next_step = step + 1
        if scaler is not None and self.reads_graph(step):
            self.log(step, grad_scale=scaler.get_scale())
        return self._native.watch(
            step,
            losses,
            optimizer if self._gathered is None else self._gathered.trained_by(optimizer),
            learning_rate=learning_rate,
            outputs=outputs,
            batch_size=batch_size,
            reduction=reduction,
            sample_ids=sample_ids,
            labels=labels,
            predictions=predictions,
            inputs=inputs,
            phases=list((phases or {}).items()),
            update_formulas=update_formulas(optimizer) if self._asks_for_formulas(step) else None,
        )

    def _asks_for_formulas(self, step: int) -> bool:
        """Reading the state of an optimizer costs a copy of the parameters."""
        return self._has_sharpness and self._gathered is None and self.reads_graph(step)

    def sit_out(self, step: int) -> None:
        """In place of `watch` on a rank that has no samples at this step: takes part in what the others exchange."""
        if os.getpid() == self._process:
            self._next_step = step + 1
            self._native.sit_out(step)

    def eager(self, step: int) -> ContextManager[Any]:
        """A ``with`` block for the forward pass of a compiled model: it runs eagerly if this step is watched.

        A cockpit that was given the compiled module does it by itself.
        """
        return forced_eager() if self.reads_graph(step) else nullcontext()

    def attach(
        self,
        model: Optional[torch.nn.Module] = None,
        optimizer: Optional[Any] = None,
        *,
        loss_fn: Optional[Callable[..., Any]] = None,
        first_step: int = 0,
    ) -> "Attachment":
        """Watches a loop that is not edited: every backward pass from now on. See `flightdeck.attach`."""
        from .attach import Attachment

        if model is None and self._model is not None:
            model = self._model()
        return Attachment(self, model, optimizer, loss_fn=loss_fn, first_step=first_step)

    def log(
        self, step: int, values: Optional[Mapping[str, float]] = None, **named: float
    ) -> None:
        """Records numbers of one's own: ``cockpit.log(step, accuracy=0.9)``."""
        if os.getpid() != self._process:
            return
        together = {**(values or {}), **named}
        self._native.log(step, {name: float(value) for name, value in together.items()})

    def remark(self, step: int, text: str) -> None:
        """Records a sentence that a person should know; the same one once."""
        if os.getpid() == self._process:
            self._native.remark(step, text)

    def _leave_out(self, error: Exception) -> None:
        """Says why a step of a loop that is not edited is not watched; the loop knows nothing of us."""
        if self._is_strict:
            raise error
        self._on_warning(f"step {self._next_step - 1} and others like it are not watched: {error}")

    def _elsewhere(self) -> _engine.StepWatch:
        """In a process that was forked from the cockpit's own: the threads that it works with are not there."""
        said = (
            f"cockpit: made in process {self._process} and used in {os.getpid()}, which was forked from it; make a "
            "cockpit in each process that trains"
        )
        if self._is_strict:
            raise RuntimeError(said)
        if os.getpid() != self._warned_in:
            self._warned_in = os.getpid()
            self._on_warning(said)
        return _engine.idle_watch()

    # ---- what there is ----

    @property
    def readings(self) -> Dict[int, Dict[str, ReadingValue]]:
        """The last steps: values by name, ``quantity[/field][@group]``."""
        return self._recent.steps

    @property
    def notes(self) -> List[_engine.Note]:
        """Remarks, and quantities that were switched off."""
        return self._recent.notes

    @property
    def should_stop(self) -> bool:
        """True when a lamp of `stop_on` has lit."""
        return self._stopped_by is not None

    @property
    def stopped_by(self) -> Optional[_engine.Finding]:
        """The finding that set `should_stop`."""
        return self._stopped_by

    @property
    def parameters(self) -> List[Tuple[str, torch.Tensor]]:
        """What is watched, each tensor once."""
        return self._native.parameters

    @property
    def next_step(self) -> int:
        """The number after that of the last watch."""
        return self._next_step

    def is_due(self, step: int) -> bool:
        """True if something is computed at this step, or completed for the step before."""
        return self._native.is_due(step)

    def reads_graph(self, step: int) -> bool:
        """The same without loss, learning rate and time: where they alone are due, no graph is read."""
        return self._native.reads_graph(step)

    def plan(self, step: int) -> str:
        """What is computed at this step and by which passes, for people."""
        return self._native.plan(step)

    # ---- from process to process ----

    def state_dict(self) -> Dict[str, torch.Tensor]:
        """What outlives a step; with it and the training's own state a run goes on in another process."""
        return self._native.save()

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Before the first watched step. Raises if it is of other parameters, quantities or settings."""
        self._native.load(dict(state))

    # ---- the end ----

    def flush(self) -> None:
        """Writes what is still on a device: light values of the last steps, a second of them at most."""
        if os.getpid() == self._process:
            self._native.flush()

    def finish(self, ending: Ending = "finished") -> None:
        """Ends the run and closes the sinks. The end of the ``with`` block or of the program calls it too."""
        if os.getpid() != self._process:
            return
        self._native.finish(ending)
        if self._eager is not None:
            self._eager.remove()
        _open_cockpits.discard(self)

    def __enter__(self) -> "Cockpit":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.finish(_ending_of(kind))

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Cockpit":
        """A run is one: copies of what holds a cockpit hold the same one."""
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a cockpit belongs to its process; save what it knows by state_dict()")


def _ending_of(kind: Optional[Type[BaseException]]) -> Ending:
    if kind is None:
        return "finished"
    return "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"


_open_cockpits: "weakref.WeakSet[Cockpit]" = weakref.WeakSet()
_watched_process = 0


def _finish_all() -> None:
    """Ends runs that are open at the end of the program, while sinks of Python's still work."""
    ending = _ending_of(sys.exc_info()[0] or getattr(sys, "last_type", None))
    for cockpit in list(_open_cockpits):
        cockpit.finish(ending)


def _finish_with_the_process() -> None:
    """A process of `multiprocessing` that was forked calls what is registered there, and nothing of `atexit`."""
    global _watched_process
    if _watched_process != os.getpid():
        _watched_process = os.getpid()
        multiprocessing.util.Finalize(None, _finish_all, exitpriority=0)


atexit.register(_finish_all)
