# SPDX-License-Identifier: MIT
"""Fast rules for ops of one's own: without one a custom function is exact and slower."""

from __future__ import annotations

from typing import Sequence

import torch

from . import _engine
from .parameters import ParametersLike, named_parameters


class Rule:
    """Base of rules: override `input_layout` and `rows`, and of the rest what is known.

    ``node.grad_fn`` is the node as autograd shows it: of a ``torch.autograd.Function``, its context with
    ``saved_tensors``. Methods that return None leave the matter to the node itself, which is always exact.

    >>> class Scale(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, weight):
    ...         ctx.save_for_backward(x, weight)
    ...         return x * weight
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         x, weight = ctx.saved_tensors
    ...         return gradient * weight, (gradient * x).sum(0)
    >>> class ScaleRule(Rule):
    ...     def input_layout(self, node, edge, out):
    ...         return out if edge == 0 else _engine.Layout.free()
    ...     def rows(self, node, edge, gradient, out):
    ...         x, weight = node.grad_fn.saved_tensors
    ...         return _engine.RowFactors.scale(gradient * x)
    >>> register_rule("example_scale", ["ScaleBackward"], ScaleRule())
    >>> weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    >>> losses = Scale.apply(torch.rand(4, 3, dtype=torch.float64), weight).square().sum(1)
    >>> check_rule("example_scale", losses, [weight]).is_right
    True
    """

    def input_layout(self, node: _engine.OpNode, edge: int, out: _engine.Layout) -> _engine.Layout:
        """Where the samples sit in the input at ``edge``, given where they sit in the output."""
        raise NotImplementedError


def register_rule(name: str, nodes: Sequence[str], rule: object) -> None:
    """Adds a rule for the autograd nodes of these names (``output.grad_fn.name()``), from now on.

    ``rule`` has the methods of the C++ ``CustomRule``, those that it knows: ``input_layout``, ``rows``, ``columns``,
    ``tangent``, ``bend``, ``is_linear``, ``is_linear_in``, ``is_pointwise``, ``hands_on``.
    """
    _engine.register_rule(name, nodes, rule)


def check_rule(rule: str, losses: torch.Tensor, parameters: ParametersLike) -> _engine.RuleCheck:
    """Holds a rule against the nodes that it explains in the graph behind ``losses``; use double."""
    return _engine.check_rule(rule, losses, named_parameters(parameters))
