# SPDX-License-Identifier: MIT
"""What is wrong with a run or with a training that is about to begin, and where two runs differ."""

from __future__ import annotations

import copy
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

import torch

from . import _engine
from .cockpit import Cockpit
from .run import Run

RunLike = Union[str, "os.PathLike[str]", Run, _engine.RunReader]
#: Inputs and targets of one batch.
BatchLike = Tuple[Any, Any]


def diagnose(run: RunLike) -> _engine.Diagnosis:
    """Says what is wrong with a run, how that is known and what to do, by its lamps and a table of causes.

    ``run`` is a folder, a `Run` or a `RunReader`; the training may still go on.

    >>> diagnosis = diagnose(recorded)
    >>> diagnosis.verdict in ("healthy", "fault", "cannot_tell")
    True
    >>> print(diagnosis)
    Cannot tell: ...
    """
    return _engine.diagnose(_reader_of(run))


def diff(
    first: RunLike,
    second: RunLike,
    *,
    tolerance: float = 0,
    left_out: Optional[Sequence[str]] = None,
) -> _engine.RunDifference:
    """Where two runs first differ: in settings, in what was recorded, and in the first values that are not the same.

    Numbers differ if they are further apart than ``tolerance``, a share of the larger one. Quantities in ``left_out``
    are never equal; without it those are that measure the process.

    >>> diff(recorded, recorded).is_same
    True
    """
    return _engine.difference(
        _reader_of(first), _reader_of(second), tolerance=tolerance,
        left_out=None if left_out is None else set(left_out),
    )


def preflight(
    model: torch.nn.Module,
    loss_fn: Callable[[Any, Any], torch.Tensor],
    batch: Union[BatchLike, Iterable[BatchLike]],
    optimizer: Optional[torch.optim.Optimizer] = None,
    *,
    steps: int = 3,
    quantities: Optional[Sequence[str]] = None,
) -> _engine.Diagnosis:
    """Takes a few steps with copies of model and optimizer and says what is wrong already.

    ``batch`` is (inputs, targets), or several of these, which are taken in turn; ``loss_fn(outputs, targets)`` gives
    individual losses [N] or a scalar loss. Without an ``optimizer`` it is plain gradient descent with a rate of 0.01.
    `quantities_of_lamps()` are tracked; ``quantities`` names others. The model, its gradients, the optimizer
    and the random numbers are as before. What the training itself would raise is raised here; labels that the loss does not
    have are named before it is called.

    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(1))
    >>> batch = torch.randn(16, 4), torch.randint(0, 3, (16,))
    >>> diagnosis = preflight(model, torch.nn.functional.cross_entropy, batch)
    >>> diagnosis.causes[0].name
    'softmax_twice'
    """
    if steps < 1:
        raise ValueError(f"preflight: steps is {steps} but must be at least 1; take three")
    batches = _batches_of(batch)
    devices = sorted({p.device.index for p in model.parameters() if p.device.type == "cuda" and p.device.index is not None})
    with tempfile.TemporaryDirectory(prefix="flightdeck-preflight-") as folder, torch.random.fork_rng(devices):
        # Together, so that the optimizer's parameters are those of the model that it goes with.
        try:
            model, optimizer, loss_fn = copy.deepcopy((model, optimizer, loss_fn))
        except RuntimeError as error:
            raise RuntimeError(f"preflight: the model cannot be copied: {error}") from error
        if optimizer is None:
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            optimizer = torch.optim.SGD(trained, lr=0.01)
        record = Path(folder) / "run"
        with Cockpit(
            model, list(quantities or quantities_of_lamps()), record_to=record, due=1, on_warning=lambda text: None
        ) as cockpit:
            for step in range(steps):
                inputs, targets = batches[step % len(batches)]
                for parameter in model.parameters():  # also those that the optimizer does not know
                    parameter.grad = None
                outputs = model(inputs)
                _check_labels(loss_fn, outputs, targets)
                losses = loss_fn(outputs, targets)
                with cockpit.watch(step, losses, optimizer):
                    losses.mean().backward()
                optimizer.step()
        return diagnose(record)


def quantities_of_lamps() -> List[str]:
    """The quantities that lamps read which are evidence or state facts, those of a program's own among them."""
    lamps = (lamp for lamp in _engine.lamp_catalogue() if lamp.is_evidence or lamp.is_exact)
    read = {name for lamp in lamps for name in lamp.reads}
    return sorted(read & {quantity.name for quantity in _engine.all_quantities()})


def _check_labels(loss_fn: Callable[[Any, Any], torch.Tensor], outputs: Any, targets: Any) -> None:
    """Raises before the loss does, which on a GPU is an assertion that ends all work there."""
    outside = _labels_outside(loss_fn, outputs, targets)
    if outside.numel() == 0:
        return
    on_cpu = copy.deepcopy(loss_fn).cpu() if isinstance(loss_fn, torch.nn.Module) else loss_fn
    try:
        on_cpu(outputs.detach().cpu(), targets.cpu())
    except (IndexError, RuntimeError) as error:
        classes = outputs.shape[1]
        unknown = outside.unique().tolist()
        labels = ("labels " if len(unknown) > 1 else "label ") + ", ".join(str(label) for label in unknown[:5])
        raise ValueError(
            f"preflight: the targets have the {labels} but the outputs have {classes} classes, 0 to {classes - 1}; "
            "count classes from 0, give the last layer as many outputs as there are classes, or give the loss its "
            "ignore_index"
        ) from error


def _labels_outside(loss_fn: Callable[[Any, Any], torch.Tensor], outputs: Any, targets: Any) -> torch.Tensor:
    """Labels of classes [N, ...] that outputs [N, C, ...] do not have; none where they are something else."""
    none = torch.empty(0, dtype=torch.long)
    if not isinstance(outputs, torch.Tensor) or not isinstance(targets, torch.Tensor):
        return none
    is_label = targets.dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
    if not is_label or outputs.dim() < 2 or targets.shape != outputs.shape[:1] + outputs.shape[2:]:
        return none
    ignored = getattr(loss_fn, "ignore_index", -100)
    labels = targets.detach().long()
    is_outside = ((labels < 0) | (labels >= outputs.shape[1])) & (labels != ignored)
    return labels[is_outside].cpu()


def _batches_of(batch: Union[BatchLike, Iterable[BatchLike]]) -> List[BatchLike]:
    if isinstance(batch, (tuple, list)) and len(batch) == 2 and not isinstance(batch[0], (tuple, list)):
        return [(batch[0], batch[1])]
    batches = [(inputs, targets) for inputs, targets in batch]
    if not batches:
        raise ValueError("preflight: there is no batch; give (inputs, targets) or several of these")
    return batches


def _reader_of(run: RunLike) -> _engine.RunReader:
    if isinstance(run, _engine.RunReader):
        return run
    return _engine.RunReader(os.fspath(run.folder if isinstance(run, Run) else run))
