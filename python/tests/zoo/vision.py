# SPDX-License-Identifier: MIT
"""Classifiers of images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, List, Tuple

import torch
import transformers as hf
from member import Inputs, Member, classes, images, one_class

SIZE = dict(
    image_size=16, patch_size=8, num_channels=3, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
    num_attention_heads=2,
)


def classifier(name: str, pixels: int = 16, **settings: Any) -> Member:
    def make() -> Tuple[torch.nn.Module, Inputs]:
        config = getattr(hf, name + "Config")(**(settings or SIZE), num_labels=4)
        inputs = {"pixel_values": images(pixels), "target": classes()}
        return hf.AutoModelForImageClassification.from_config(config), inputs

    return Member(name, make, one_class)


def narrow_biases(model: torch.nn.Module) -> None:
    """Swinv2 computes its position biases by layers of 512 units, whatever the size of the rest. They are slow
    parameters, and the exact trace of the Hessian takes a product for each entry: 16 units say the same."""
    for module in model.modules():
        if hasattr(module, "continuous_position_bias_mlp"):
            heads = module.continuous_position_bias_mlp[-1].out_features
            module.continuous_position_bias_mlp = torch.nn.Sequential(
                torch.nn.Linear(2, 16), torch.nn.ReLU(inplace=True), torch.nn.Linear(16, heads, bias=False)
            )


MEMBERS: List[Member] = [
    classifier("ViT"),
    classifier("Beit"),
    classifier("Dinov2"),
    classifier("ConvNext", depths=[1, 1], hidden_sizes=[8, 12], num_stages=2, patch_size=2),
    classifier("ConvNextV2", depths=[1, 1], hidden_sizes=[8, 12], num_stages=2, patch_size=2),
    classifier("Swin", image_size=16, patch_size=2, embed_dim=8, depths=[2, 1], num_heads=[2, 2], window_size=2),
    replace(
        classifier("Swinv2", image_size=16, patch_size=2, embed_dim=8, depths=[2, 1], num_heads=[2, 2], window_size=2),
        narrow=narrow_biases,
    ),
    classifier(
        "ResNet", embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1], layer_type="basic", downsample_in_first_stage=False,
    ),
    classifier("RegNet", embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1], groups_width=4),
    classifier("MobileNetV2", 32, depth_multiplier=0.1, min_depth=4, depth_divisible_by=4, image_size=32),
    classifier(
        "PoolFormer", 32, hidden_sizes=[8, 8, 12, 12], depths=[1, 1, 1, 1], mlp_ratio=2.0,
    ),
    classifier(
        "Segformer", 32, hidden_sizes=[8, 8], depths=[1, 1], num_encoder_blocks=2, num_attention_heads=[1, 2],
        sr_ratios=[2, 1], mlp_ratios=[2, 2], patch_sizes=[7, 3], strides=[4, 2], decoder_hidden_size=8,
    ),
]
