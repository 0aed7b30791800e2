# SPDX-License-Identifier: MIT
"""Language models that read from left to right."""

from __future__ import annotations

from typing import Any, List, Tuple

import torch
import transformers as hf
from member import VOCABULARY, Inputs, Member, next_token, tokens

import flightdeck.integrations.transformers  # noqa: F401  brings the rule for the activation of Bloom

SIZE = dict(
    vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, head_dim=8, max_position_embeddings=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    tie_word_embeddings=True,
)
#: Configurations that have names of their own for the same sizes.
OTHER = dict(vocab_size=VOCABULARY, pad_token_id=0, bos_token_id=1, eos_token_id=2)


def decoder(name: str, **settings: Any) -> Member:
    """A model by the name of its configuration: ``decoder("Llama")``."""
    chosen = settings or SIZE

    def make() -> Tuple[torch.nn.Module, Inputs]:
        config = getattr(hf, name + "Config")(**chosen)
        # Experts one after the other: the fused product of them knows no double.
        fused = {"experts_implementation": "eager"} if "num_experts_per_tok" in chosen else {}
        return hf.AutoModelForCausalLM.from_config(config, **fused), {"input_ids": tokens()}

    return Member(name, make, next_token)


MEMBERS: List[Member] = [
    decoder("GPT2", n_embd=16, n_layer=2, n_head=2, n_positions=16, **OTHER),
    decoder(
        "GPTNeo", hidden_size=16, num_layers=2, num_heads=2, max_position_embeddings=16, window_size=4,
        attention_types=[[["global", "local"], 1]], **OTHER,
    ),
    decoder("GPTNeoX"),
    decoder("GPTJ", n_embd=16, n_layer=2, n_head=2, n_positions=16, rotary_dim=4, **OTHER),
    decoder(
        "OPT", hidden_size=16, ffn_dim=24, num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=16,
        word_embed_proj_dim=16, **OTHER,
    ),
    decoder("Bloom", hidden_size=16, n_layer=2, n_head=2, **OTHER),
    decoder("Falcon", hidden_size=16, num_hidden_layers=2, num_attention_heads=2, multi_query=True, **OTHER),
    decoder("Llama"),
    decoder("Mistral"),
    decoder("Qwen2"),
    decoder("Qwen3"),
    decoder("Gemma"),
    decoder("Gemma2", **{**SIZE, "query_pre_attn_scalar": 8}),
    decoder("Phi", **{**SIZE, "num_key_value_heads": 2}),
    decoder("Phi3"),
    decoder("Olmo2"),
    decoder("Cohere"),
    decoder("StableLm"),
    decoder("Starcoder2"),
    decoder("Mpt", d_model=16, n_heads=2, n_layers=2, max_seq_len=16, **OTHER),
]
