# SPDX-License-Identifier: MIT
"""Every member: individual gradients against one sample at a time, and whole presets of the cockpit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).parent))
from member import Member  # noqa: E402
from table import FAMILIES, levels, members  # noqa: E402

import flightdeck  # noqa: E402
from flightdeck import Cockpit  # noqa: E402

ALL = {member.name: member for _, member in members()}
SHOWN = {family for family, _ in members()}


@pytest.mark.skipif(SHOWN == set(FAMILIES), reason="all families are there")
def test_families_that_are_left_out() -> None:
    pytest.skip("transformers is not installed: " + ", ".join(sorted(set(FAMILIES) - SHOWN)))


@pytest.mark.skipif(SHOWN != set(FAMILIES), reason="some families are left out")
def test_the_page_has_every_member_and_they_are_many() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == [member.name for _, member in members()]
    assert len([family for family, _ in members() if family != "by_hand"]) >= 30


@pytest.fixture(params=sorted(ALL))
def member(request: pytest.FixtureRequest) -> Member:
    return ALL[request.param]


def is_nonsense(member: Member, name: str, rows: torch.Tensor) -> bool:
    """True where float32 gradients, one sample at a time, are ten times those in double, or no numbers."""
    exact = member.one_by_one(*member.build(torch.float64))[name]
    return not float(rows.abs().max()) <= 10 * float(exact.abs().max())


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_individual_gradients(member: Member, dtype: torch.dtype, tolerance: float) -> None:
    model, inputs = member.build(dtype)
    if member.computes_in_float:
        tolerance = 1e-5
    expected = member.one_by_one(model, inputs)
    answers = flightdeck.gradients(member.losses(model, inputs), model, "individual")
    # Some gradients are zero but for rounding (that of a key's bias): the model's largest entry bounds it.
    largest = max(float(rows.abs().max()) for rows in expected.values())
    for name, rows in expected.items():
        scale = max(float(rows.abs().max()), 1e-2 * largest)
        error = float((answers[name].individual - rows).abs().max())
        is_old = torch.__version__.startswith("1.") and dtype == torch.float32
        if is_old and not error <= tolerance * scale and is_nonsense(member, name, rows):
            pytest.skip(f"plain autograd of PyTorch {torch.__version__} is wrong on this processor: {name}")
        assert error <= tolerance * scale, f"{name}: {error / scale:.1e}"


def watched(member: Member, quantities: Any) -> Cockpit:
    model, inputs = member.build(torch.float32, narrow=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    said: List[str] = []
    cockpit = Cockpit(model, quantities, keep=None, on_warning=said.append)
    for step in range(2):
        optimizer.zero_grad()
        losses = member.losses(model, inputs)
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()
    return cockpit


def switched_off(cockpit: Cockpit) -> List[str]:
    return [note.text for note in cockpit.notes if note.kind == "switched_off"]


@pytest.mark.parametrize("preset", ["economy", "business"])
def test_presets(member: Member, preset: str) -> None:
    cockpit = watched(member, preset)
    assert {"loss", "grad_norm", "norm_test", "inner_test"} <= set(cockpit.readings[1])
    off = switched_off(cockpit)
    if preset == "economy" or member.name not in ("CLIP", "SigLIP"):
        assert not off, off
        return
    # Columns are sampled from a loss that the engine knows, and an angle is none: said with what helps, which does.
    assert off and all("ask for it by curvature=exact_hessian" in text for text in off), off
    exact = watched(member, [flightdeck.quantity(name, curvature="exact_hessian") for name in ("hess_trace", "tic_diag")])
    assert not switched_off(exact) and "hess_trace" in exact.readings[1], exact.notes


def test_nearly_all_parameters_are_fast() -> None:
    whole: Dict[str, int] = {}
    for member in ALL.values():
        for level, count in levels(member)[0].items():
            whole[level] = whole.get(level, 0) + count
    assert whole["exact-fast"] >= 0.95 * sum(whole.values()), whole
