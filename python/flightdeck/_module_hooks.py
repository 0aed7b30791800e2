# SPDX-License-Identifier: MIT
"""Full backward hooks of modules, and DistributedDataParallel with a static graph or unused parameters, put an op into the
graph that hands everything on: a rule says so."""

from __future__ import annotations

from typing import List, Optional

import torch

from . import _engine


class _HandsOn:
    """Every output is the input at its place."""

    def input_layout(self, node: _engine.OpNode, edge: int, out: _engine.Layout) -> _engine.Layout:
        return out

    def columns(self, node: _engine.OpNode, edge: int, stack: torch.Tensor) -> Optional[torch.Tensor]:
        return stack if node.num_inputs == 1 else None

    def tangent(self, node: _engine.OpNode, tangents: List[Optional[torch.Tensor]]) -> Optional[torch.Tensor]:
        # Never by the node itself: that of DistributedDataParallel starts its own work when it is called.
        return tangents[0] if node.num_inputs == 1 else None

    def is_linear(self, node: _engine.OpNode) -> bool:
        return True


_engine.register_rule("module_hook", ["BackwardHookFunctionBackward"], _HandsOn())
_engine.register_rule("ddp_sink", ["_DDPSinkBackward"], _HandsOn())
