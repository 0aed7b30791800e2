# SPDX-License-Identifier: MIT
"""Mixtures of experts: each token goes to some of the layers."""

from __future__ import annotations

from typing import List

from decoders import SIZE, decoder
from member import Member

EXPERTS = dict(
    SIZE, num_local_experts=3, num_experts=3, num_experts_per_tok=2, moe_intermediate_size=12,
    shared_expert_intermediate_size=12, decoder_sparse_step=1, output_router_logits=False,
)

MEMBERS: List[Member] = [
    decoder("Mixtral", **EXPERTS),
    decoder("Qwen2Moe", **EXPERTS),
    decoder("Qwen3Moe", **EXPERTS),
    decoder("Olmoe", **EXPERTS),
]
