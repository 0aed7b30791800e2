# SPDX-License-Identifier: MIT
"""Sound, and images together with text."""

from __future__ import annotations

from typing import Any, List, Tuple

import torch
import transformers as hf
from member import SAMPLES, VOCABULARY, Inputs, Member, Tensor, classes, each_token, images, one_class, tokens
from torch.nn import functional as F


def whisper() -> Tuple[torch.nn.Module, Inputs]:
    config = hf.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=4, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
        max_source_positions=8, max_target_positions=8, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None,
    )
    inputs = {
        "input_features": torch.randn(SAMPLES, 4, 16), "decoder_input_ids": tokens(5), "target": tokens(5),
    }
    return hf.WhisperForConditionalGeneration(config), inputs


def wav2vec2() -> Tuple[torch.nn.Module, Inputs]:
    config = hf.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, conv_dim=(8, 8),
        conv_stride=(4, 2), conv_kernel=(6, 3), num_feat_extract_layers=2, num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2, num_labels=4, classifier_proj_size=8, mask_time_prob=0.0,
    )
    inputs = {"input_values": torch.randn(SAMPLES, 96), "target": classes()}
    return hf.Wav2Vec2ForSequenceClassification(config), inputs


def spectrogram() -> Tuple[torch.nn.Module, Inputs]:
    config = hf.ASTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, patch_size=4,
        frequency_stride=4, time_stride=4, max_length=16, num_mel_bins=8, num_labels=4,
    )
    return hf.ASTForAudioClassification(config), {"input_values": torch.randn(SAMPLES, 16, 8), "target": classes()}


def pairs(model: Any, config: Any) -> Any:
    def make() -> Tuple[torch.nn.Module, Inputs]:
        sizes = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2)
        text = dict(sizes, vocab_size=VOCABULARY, max_position_embeddings=16, eos_token_id=2, projection_size=16)
        vision = dict(sizes, image_size=16, patch_size=8)
        return model(config(text_config=text, vision_config=vision)), {
            "input_ids": tokens(), "pixel_values": images()
        }

    return make


def agreement(outputs: Any, inputs: Inputs) -> Tensor:
    """Of each text with its own image; all pairs would couple the samples."""
    return 1 - F.cosine_similarity(outputs.text_embeds, outputs.image_embeds)


MEMBERS: List[Member] = [
    Member("Whisper", whisper, each_token),
    Member("Wav2Vec2", wav2vec2, one_class),
    Member("AST", spectrogram, one_class),
    Member("CLIP", pairs(hf.CLIPModel, hf.CLIPConfig), agreement),
    Member("SigLIP", pairs(hf.SiglipModel, hf.SiglipConfig), agreement),
]
