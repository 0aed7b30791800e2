# SPDX-License-Identifier: MIT
"""What processes that train together in tests share: a net, their batches, and how values are compared."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import AbstractSet, Any, Dict, List, Set

import flightdeck
import torch
import torch.distributed as dist

# Times are of one process.
OF_ONE_PROCESS = {one.name for one in flightdeck.all_quantities() if one.measures_process}
# How a solver got there, and the order of samples whose values tie but for rounding.
OF_THE_WAY = {"products", "iterations", "residual"}


# Of a graph with more nodes in it, which hand on.
OF_THE_GRAPH = {"wiring/", "finite/zeros_gradient"}


class Net(torch.nn.Module):
    """With a layer that is not always used."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(6, 5), torch.nn.Linear(5, 3)
        self.other = torch.nn.Linear(5, 5)

    def forward(self, inputs: torch.Tensor, uses_other: bool = True) -> torch.Tensor:
        hidden = torch.tanh(self.first(inputs))
        if uses_other:
            hidden = torch.tanh(self.other(hidden))
        result: torch.Tensor = self.last(hidden)
        return result


def losses_of(model: Any, inputs: torch.Tensor, labels: torch.Tensor, *more: Any) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(model(inputs, *more), labels, reduction="none")


def begin(store: str, rank: int, size: int, seconds: float = 60) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=size, timeout=timedelta(seconds=seconds)
    )
    torch.manual_seed(1)  # the same net and batches on all


def every_quantity(left_out: Set[str]) -> List[str]:
    return [one.name for one in flightdeck.all_quantities() if one.name not in left_out]


def difference(name: str, expected: Any, actual: Any, tolerance: float) -> List[str]:
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{name}: {actual} where {expected} is expected"]
        return [text for k in range(len(expected)) for text in
                difference(f"{name}[{k}]", expected[k], actual[k], tolerance)]  # fmt: skip
    if not isinstance(expected, float):
        same = actual is not None and list(expected.counts) == list(actual.counts)
        return [] if same else [f"{name}: other counts"]
    if actual is not None and math.isnan(expected) and math.isnan(actual):
        return []
    if actual is None or not math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance / 1000):
        return [f"{name}: {actual} where {expected} is expected"]
    return []


def differences(
    together: flightdeck.Cockpit, alone: flightdeck.Cockpit, may_be_off: Set[str], may_lack: Set[str],
    tolerance: float = 1e-6, may_differ: AbstractSet[str] = frozenset(),
) -> List[str]:
    """Of rank 0's cockpit from one that has seen all samples. Prints what is compared.

    ``may_lack`` and ``may_differ`` are fields, ``quantity/field``: not read here, and of another graph.
    """
    found: List[str] = []
    of_rank_0: Set[str] = set()
    off: Set[str] = set()
    for note in together.notes:
        if note.kind == "switched_off":
            off.update(note.quantity.split(", "))
            if not set(note.quantity.split(", ")) <= may_be_off:
                found.append(f"{note.quantity} is off: {note.text}")
        if note.text.startswith("of the samples of rank 0"):
            of_rank_0.add(note.quantity)
    found += [f"{name} is on" for name in sorted(may_be_off - off)]
    compared: Dict[str, int] = {}
    for step, values in alone.readings.items():
        theirs: Dict[str, Any] = together.readings.get(step, {})
        for name, expected in values.items():
            quantity, field = name.split("@")[0].split("/")[0], (name.split("@")[0].split("/") + [""])[1]
            if quantity in OF_ONE_PROCESS | of_rank_0 | off or field in OF_THE_WAY:
                continue
            if quantity == "label_conflicts" and field in ("samples", "ids"):
                continue
            if (f"{quantity}/{field}" in may_lack and name not in theirs) or f"{quantity}/{field}" in may_differ:
                continue
            compared[quantity] = compared.get(quantity, 0) + 1
            found += difference(f"step {step} {name}", expected, theirs.get(name), tolerance)
    print(f"compared {sorted(compared)}; of rank 0 alone: {sorted(of_rank_0)}; off: {sorted(off)}")
    return found


def report(found: List[str]) -> None:
    for text in found[:20]:
        print(text)
    print(f"{len(found)} differences")
