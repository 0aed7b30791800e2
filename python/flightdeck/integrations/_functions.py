# SPDX-License-Identifier: MIT
"""Rules for the autograd functions that models of transformers bring: the engine knows functions by name alone."""

from __future__ import annotations

from .. import _engine
from ..rules import Rule, register_rule


class EntrywiseRule(Rule):
    """A function of one tensor that works entry by entry, as long as it is the one of that package.

    A function of the same name from elsewhere goes the slow and exact way, as without a rule.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def input_layout(self, node: _engine.OpNode, edge: int, out: _engine.Layout) -> _engine.Layout:
        function = getattr(type(node.grad_fn), "_forward_cls", None)
        is_known = getattr(function, "__module__", "").split(".")[0] == self._package
        return out if is_known and node.input_shape(edge) == node.output_shape() else _engine.Layout.unknown()


# The activation of Bloom.
register_rule("transformers_gelu", ["GeLUFunctionBackward"], EntrywiseRule("transformers"))
