# SPDX-License-Identifier: MIT
"""First-order answers against plain autograd, one sample at a time, in double."""

from __future__ import annotations

import pytest
import torch
from conftest import Case, close

import flightdeck

ALL = ["mean", "individual", "norms", "second_moment", "variance", "gram", "mean_dots", "deviations"]


def check(answers: flightdeck.Gradients, case: Case) -> None:
    for name, rows in case.individual().items():
        flat, mean = rows.flatten(1), rows.mean(0)
        answer = answers[name]
        close(answer.individual, rows)
        close(answer.mean, mean)
        close(answer.norms, flat.norm(dim=1))
        close(answer.second_moment, rows.square().mean(0))
        close(answer.variance, (rows - mean).square().mean(0))
        close(answer.gram, flat @ flat.T)
        close(answer.mean_dots, flat @ mean.flatten())
        close(answer.deviations, (rows - mean).flatten(1).square().sum(1))


def test_a_pass_of_its_own_matches_autograd(case: Case) -> None:
    check(flightdeck.gradients(case.losses(), case.model, ALL), case)


def test_a_watch_matches_autograd_and_leaves_grad_alone(case: Case) -> None:
    case.losses().mean().backward()
    plain = [parameter.grad.clone() for parameter in case.model.parameters()]
    case.model.zero_grad()
    losses = case.losses()
    with flightdeck.Watch(losses, case.model, ALL) as watch:
        losses.mean().backward()
    check(watch.result, case)
    for before, parameter in zip(plain, case.model.parameters()):
        assert torch.equal(before, parameter.grad)


def test_a_scalar_loss_is_taken_apart(case: Case) -> None:
    batch = flightdeck.Batch(case.losses().mean(), case.model, batch_size=len(case.inputs))
    check(flightdeck.gradients(batch, what=ALL), case)


def test_samples_can_be_chosen(case: Case) -> None:
    batch = flightdeck.Batch(case.losses(), case.model)
    answers = flightdeck.gradients(batch.of([2, 0]), what="individual")
    for name, rows in case.individual().items():
        close(answers[name].individual, rows[[2, 0]])


def test_directions_and_kept_rows_agree(small: Case) -> None:
    directions = [torch.randn(2, *p.shape, dtype=p.dtype) for p in small.model.parameters()]
    answers = flightdeck.gradients(small.losses(), small.model, "dots", directions=directions, keep_rows=True)
    expected = sum(
        rows.flatten(1) @ lines.flatten(1).T for rows, lines in zip(small.individual().values(), directions)
    )
    close(answers.total.dots, expected)
    assert answers.rows is not None
    close(answers.rows.dots(directions), expected)


def test_histograms_count_every_entry(small: Case) -> None:
    bins = flightdeck.Bins(-1, 1, 10)
    answers = flightdeck.gradients(
        small.losses(), small.model, [], histograms=[bins], joint_histograms=[flightdeck.JointBins()]
    )
    for name, rows in small.individual().items():
        counts = answers[name].histograms[0]
        assert int(counts.sum()) == rows.numel()
        expected = torch.histc(rows, bins=10, min=-1, max=1).long()
        assert torch.equal(counts[1:-2], expected)


def test_answers_can_be_taken_layer_by_layer(small: Case) -> None:
    seen = {}
    answers = flightdeck.gradients(
        small.losses(), small.model, "norms", on_parameter=lambda p: seen.__setitem__(p.name, p.norms)
    )
    assert sorted(seen) == sorted(name for name, _ in small.model.named_parameters())
    assert all(parameter.norms is None for parameter in answers)


def test_an_exception_of_the_callback_comes_back(small: Case) -> None:
    def fail(_: flightdeck.ParameterGradients) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        flightdeck.gradients(small.losses(), small.model, "norms", on_parameter=fail)


def test_coverage_says_how(small: Case) -> None:
    report = flightdeck.coverage(small.losses(), small.model)
    assert {entry.level for entry in report.parameters} == {"exact-fast"}
    assert "0.weight" in str(report)


class Cube(torch.autograd.Function):
    """An op that no rule knows."""

    @staticmethod
    def forward(ctx, x, weight):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x, weight)
        return (x * weight) ** 3

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        x, weight = ctx.saved_tensors
        inner = 3 * (x * weight) ** 2 * gradient
        return inner * weight, (inner * x).sum(0)


def test_a_custom_function_is_exact(small: Case) -> None:
    weight = torch.randn(5, dtype=torch.float64, requires_grad=True)
    losses = Cube.apply(small.inputs, weight).sum(1)
    answers = flightdeck.gradients(losses, {"weight": weight}, "individual")
    expected = torch.stack([torch.autograd.grad(l, weight, retain_graph=True)[0] for l in losses])
    close(answers["weight"].individual, expected)
    assert answers.coverage.parameters[0].level == "exact-slow"


class CubeRule(flightdeck.Rule):
    def input_layout(
        self, node: flightdeck.OpNode, edge: int, out: flightdeck.Layout
    ) -> flightdeck.Layout:
        return out if edge == 0 else flightdeck.Layout.free()

    def rows(
        self, node: flightdeck.OpNode, edge: int, gradient: torch.Tensor, out: flightdeck.Layout
    ) -> flightdeck.RowFactors:
        x, weight = node.grad_fn.saved_tensors
        return flightdeck.RowFactors.scale(3 * (x * weight) ** 2 * x * gradient)

    def is_pointwise(self) -> bool:
        return True


class RuledCube(Cube):
    """The same op under a name that has a rule."""


def test_a_rule_makes_a_custom_function_fast(small: Case) -> None:
    flightdeck.register_rule("ruled_cube", ["RuledCubeBackward"], CubeRule())
    weight = torch.randn(5, dtype=torch.float64, requires_grad=True)
    losses = RuledCube.apply(small.inputs, weight).sum(1)
    answers = flightdeck.gradients(losses, [weight], "individual")
    expected = torch.stack([torch.autograd.grad(l, weight, retain_graph=True)[0] for l in losses])
    close(answers["0"].individual, expected)
    assert answers.coverage.parameters[0].level == "exact-fast"
    assert flightdeck.check_rule("ruled_cube", losses, [weight]).is_right
    assert "ruled_cube" in {rule.name for rule in flightdeck.ops_with_rules()}
    with pytest.raises(ValueError, match="ruled_cube"):
        flightdeck.register_rule("ruled_cube", ["OtherBackward"], CubeRule())
