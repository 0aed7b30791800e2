# SPDX-License-Identifier: MIT
"""Full backward hooks of modules, DistributedDataParallel with a static graph or unused parameters, and fully_shard put an
op into the graph that hands everything on and has work of theirs behind it: rules say so, and nobody but the program's
own backward pass calls it."""

from __future__ import annotations

from . import _engine


class _HandsOn:
    """Every output is the input at its place."""

    def input_layout(self, node: _engine.OpNode, edge: int, out: _engine.Layout) -> _engine.Layout:
        return out

    def hands_on(self) -> bool:
        return True


_engine.register_rule("module_hook", ["BackwardHookFunctionBackward"], _HandsOn())
_engine.register_rule("ddp_sink", ["_DDPSinkBackward"], _HandsOn())
_engine.register_rule("fully_shard", ["RegisterPostBackwardFunctionBackward"], _HandsOn())
