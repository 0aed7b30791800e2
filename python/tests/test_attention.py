# SPDX-License-Identifier: MIT
"""Curvature and heads of fused attention, which autograd cannot differentiate twice, against the attention written out."""

from __future__ import annotations

import math
from typing import Callable, Dict, List, Optional, Tuple

import pytest
import torch
from conftest import close
from torch.nn import functional as F

import flightdeck

Tensor = torch.Tensor
FUSED = getattr(F, "scaled_dot_product_attention", None)
pytestmark = pytest.mark.skipif(FUSED is None, reason="this PyTorch has no fused attention")

N, HEADS, T, WIDTH = 3, 4, 5, 2


def blocked() -> Tensor:
    mask = torch.zeros(N, 1, T, T, dtype=torch.float64)
    mask[0, :, :, -1] = -math.inf
    return mask


CASES: Dict[str, Dict[str, object]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "shared_keys": {"keys": 2},
    "one_key_causal": {"keys": 1, "is_causal": True},
    "mask_of_all": {"mask": torch.arange(T * T, dtype=torch.float64).view(T, T).sin()},
    "blocked": {"mask": blocked(), "keys": 2},
    "boolean": {"mask": blocked() == 0},
    "scaled": {"scale": 0.3},
}


def fused(q: Tensor, k: Tensor, v: Tensor, case: Dict[str, object]) -> Tensor:
    options = {"is_causal": case.get("is_causal", False), "attn_mask": case.get("mask")}
    if "keys" in case:
        options["enable_gqa"] = True
    if "scale" in case:
        options["scale"] = case["scale"]
    assert FUSED is not None
    result: Tensor = FUSED(q, k, v, **options)
    return result


def written_out(q: Tensor, k: Tensor, v: Tensor, case: Dict[str, object]) -> Tensor:
    times = HEADS // k.shape[1]
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    scores = q @ k.transpose(-2, -1) * case.get("scale", 1 / math.sqrt(WIDTH))
    mask = case.get("mask")
    if isinstance(mask, torch.Tensor):
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    if case.get("is_causal"):
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)
    return scores.softmax(-1) @ v


class Attending(torch.nn.Module):
    """One layer of attention and a classifier."""

    def __init__(self, case: Dict[str, object], attention: Callable[..., Tensor]) -> None:
        super().__init__()
        self.case, self.attention = case, attention
        self.heads = [HEADS, int(str(case.get("keys", HEADS))), int(str(case.get("keys", HEADS)))]
        self.parts = torch.nn.ModuleList([torch.nn.Linear(3, heads * WIDTH) for heads in self.heads])
        self.head = torch.nn.Linear(HEADS * WIDTH, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        q, k, v = (
            part(inputs).view(N, T, heads, WIDTH).transpose(1, 2) for part, heads in zip(self.parts, self.heads)
        )
        mixed = self.attention(q, k, v, self.case).transpose(1, 2).reshape(N, T, -1)
        outputs: Tensor = self.head(mixed.tanh().mean(1))
        return outputs


def names_behind(tensor: Tensor) -> List[str]:
    todo, names = [tensor.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None:
            continue
        names.append(node.name())
        todo.extend(edge for edge, _ in node.next_functions)
    return names


@pytest.mark.parametrize("name", sorted(CASES))
def test_curvature_is_that_of_the_attention_written_out(name: str) -> None:
    case = CASES[name]
    documented: Optional[str] = FUSED.__doc__ if FUSED is not None else None
    if "keys" in case and "enable_gqa" not in (documented or ""):
        pytest.skip("this PyTorch's attention has as many keys as queries")
    torch.manual_seed(0)
    model = Attending(case, fused).double()
    inputs, labels = torch.randn(N, T, 3, dtype=torch.float64), torch.tensor([0, 1, 1])

    def losses(attention: Callable[..., Tensor]) -> Tensor:
        model.attention = attention
        return F.cross_entropy(model(inputs), labels, reduction="none")

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 5):
        assert any("FlashAttentionForCpu" in name for name in names_behind(losses(fused)))
    for kind in ("hessian", "ggn"):
        of_fused = flightdeck.curvature_operator(losses(fused), model, kind).to_dense()  # type: ignore[arg-type]
        close(of_fused, flightdeck.curvature_operator(losses(written_out), model, kind).to_dense(), 1e-9)  # type: ignore[arg-type]
    what = ["diag_hessian", "diag_ggn", "diag_hessian_per_sample"]
    actual = flightdeck.curvature(losses(fused), model, what)  # type: ignore[arg-type]
    for field in what:
        expected = flightdeck.curvature(losses(written_out), model, what).concatenated(field)  # type: ignore[arg-type]
        close(actual.concatenated(field), expected, 1e-9)
    assert not [remark for remark in actual.remarks if "column by column" in remark]
    close(of_fused.diagonal(), actual.concatenated("diag_ggn"), 1e-9)


def scores_of(model: Attending, inputs: Tensor) -> Tuple[Tensor, Tensor]:
    """Of each query and key, before and after the mask."""
    q, k = (part(inputs).view(N, T, heads, WIDTH).transpose(1, 2) for part, heads in zip(model.parts, model.heads[:2]))
    case = model.case
    scores = q @ k.repeat_interleave(HEADS // k.shape[1], 1).transpose(-2, -1) * case.get("scale", 1 / math.sqrt(WIDTH))
    masked, mask = scores, case.get("mask")
    if isinstance(mask, torch.Tensor):
        masked = masked.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else masked + mask
    if case.get("is_causal"):
        masked = masked.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)
    return scores.detach(), masked.detach()


@pytest.mark.parametrize("name", sorted(CASES))
def test_heads_are_bounded_by_what_the_kernel_has_kept_and_exact_where_asked_for(name: str) -> None:
    case = CASES[name]
    documented: Optional[str] = FUSED.__doc__ if FUSED is not None else None
    if "keys" in case and "enable_gqa" not in (documented or ""):
        pytest.skip("this PyTorch's attention has as many keys as queries")
    torch.manual_seed(2)
    model = Attending(case, fused).double()
    inputs, labels = 3 * torch.randn(N, T, 3, dtype=torch.float64), torch.tensor([0, 1, 1])
    found = {}
    for exact in (False, True):
        cockpit = flightdeck.Cockpit(model, [flightdeck.quantity("attention", exact=exact, due=1)], strict=True)
        losses = F.cross_entropy(model(inputs), labels, reduction="none")
        if not any("FlashAttentionForCpu" in node for node in names_behind(losses)):
            pytest.skip("this PyTorch's attention is not fused on the CPU")
        with cockpit.watch(0, losses):
            losses.mean().backward()
        found[exact] = {key.rsplit(":")[0]: value for key, value in cockpit.readings[0].items()}
    assert "attention" not in found[False] and "attention/largest" not in found[False]
    scores, masked = scores_of(model, inputs)
    high = masked.logsumexp(-1).amax((0, 2))
    largest = masked.amax((0, 2, 3))
    for read in found.values():
        close(torch.tensor(read["attention/heads_at_most"], dtype=torch.float64), high, 1e-9)
        close(torch.tensor(read["attention/heads_at_least"], dtype=torch.float64), high - math.log(T), 1e-9)
        assert read["attention/at_least"] <= largest.max() <= read["attention/at_most"]
    weights = masked.softmax(-1)
    entropies = torch.special.entr(weights).sum(-1).mean((0, 2))
    close(torch.tensor(found[True]["attention/heads"], dtype=torch.float64), entropies, 1e-9)
    assert found[True]["attention"] == pytest.approx(entropies.mean().item())
    seen = scores.abs().masked_fill(weights == 0, 0).amax((0, 2, 3))
    close(torch.tensor(found[True]["attention/heads_largest"], dtype=torch.float64), seen, 1e-9)


def test_the_hessian_is_autograds_own_of_the_attention_written_out() -> None:
    torch.manual_seed(1)
    model = Attending(CASES["causal"], fused).double()
    inputs, labels = torch.randn(N, T, 3, dtype=torch.float64), torch.tensor([0, 1, 1])
    hessian = flightdeck.curvature_operator(
        F.cross_entropy(model(inputs), labels, reduction="none"), model
    ).to_dense()
    model.attention = written_out
    tensors = list(model.parameters())
    first = torch.autograd.grad(F.cross_entropy(model(inputs), labels), tensors, create_graph=True)
    lines = []
    for entry in torch.cat([part.flatten() for part in first]):
        second = torch.autograd.grad(entry, tensors, retain_graph=True, allow_unused=True)
        lines.append(torch.cat([
            (torch.zeros_like(t) if s is None else s).flatten() for s, t in zip(second, tensors)
        ]))
    close(hessian, torch.stack(lines), 1e-9)
