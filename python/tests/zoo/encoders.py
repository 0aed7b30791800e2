# SPDX-License-Identifier: MIT
"""Language models that read a whole text, and those that write another."""

from __future__ import annotations

from typing import Any, List, Tuple

import torch
import transformers as hf
from member import VOCABULARY, Inputs, Member, each_token, one_class, classes, tokens

SIZE = dict(
    vocab_size=VOCABULARY, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
    max_position_embeddings=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)


def masked(name: str, **settings: Any) -> Member:
    """Guesses tokens."""

    def make() -> Tuple[torch.nn.Module, Inputs]:
        config = getattr(hf, name + "Config")(**{**SIZE, **settings})
        return hf.AutoModelForMaskedLM.from_config(config), {"input_ids": tokens(), "target": tokens()}

    return Member(name, make, each_token)


def classifier(name: str, **settings: Any) -> Member:
    """Guesses the class of a text."""

    def make() -> Tuple[torch.nn.Module, Inputs]:
        config = getattr(hf, name + "Config")(**{**SIZE, **settings, "num_labels": 4})
        return hf.AutoModelForSequenceClassification.from_config(config), {"input_ids": tokens(), "target": classes()}

    return Member(name, make, one_class)


def translator(name: str, **settings: Any) -> Member:
    """Reads one text and writes another."""

    def make() -> Tuple[torch.nn.Module, Inputs]:
        sizes = dict(
            vocab_size=VOCABULARY, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=16,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        )
        config = getattr(hf, name + "Config")(**{**sizes, **settings})
        inputs = {"input_ids": tokens(), "decoder_input_ids": tokens(5), "target": tokens(5)}
        return hf.AutoModelForSeq2SeqLM.from_config(config), inputs

    return Member(name, make, each_token)


MEMBERS: List[Member] = [
    masked("Bert"),
    masked("Roberta", max_position_embeddings=20),
    masked("Albert", embedding_size=8),
    masked("DistilBert", dim=16, hidden_dim=24, n_layers=2, n_heads=2),
    masked("MPNet", max_position_embeddings=20),
    masked("FNet"),
    masked("ModernBert", global_attn_every_n_layers=2, local_attention=4, reference_compile=False),
    classifier("Electra", embedding_size=8),
    classifier("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    translator("T5", d_kv=8, d_ff=24, num_layers=1, num_heads=2),
    translator("Bart"),
    translator("Pegasus"),
    translator("Marian"),
]
