# SPDX-License-Identifier: MIT
"""State-space and other recurrent language models."""

from __future__ import annotations

from dataclasses import replace
from typing import List

from decoders import OTHER, decoder
from member import Member

MEMBERS: List[Member] = [
    replace(
        decoder("Mamba", hidden_size=16, state_size=4, num_hidden_layers=2, expand=2, conv_kernel=3, **OTHER),
        computes_in_float=True,
    ),
    decoder(
        "Mamba2", hidden_size=16, state_size=4, num_hidden_layers=1, expand=2, conv_kernel=3, head_dim=8, num_heads=4,
        n_groups=1, chunk_size=4, **OTHER,
    ),
]
