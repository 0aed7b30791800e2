# SPDX-License-Identifier: MIT
"""Networks in plain PyTorch, as people write them."""

from __future__ import annotations

import math
from typing import Any, Callable, List, Tuple

import torch
from member import SAMPLES, VOCABULARY, Inputs, Member, Tensor, classes, distance, images, one_class, squares, tokens
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        self.short = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norms[0](self.first(x)), inplace=True)
        y = self.norms[1](self.second(y))
        y += self.short(x)
        return F.relu(y)


def resnet() -> nn.Module:
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)]
    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.MaxPool2d(2), Residual(6, 6), Residual(6, 8, 2), *head)


class UNet(nn.Module):
    """Down, up, and a bridge between the two."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Conv2d(channels, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.SiLU())
        self.down = nn.Conv2d(6, 8, 3, 2, 1)
        self.up = nn.ConvTranspose2d(8, 6, 2, 2)
        self.leave = nn.Conv2d(12, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        wide = self.enter(x)
        back = self.up(F.silu(self.down(wide)))
        y: Tensor = self.leave(torch.cat([wide, back], 1))
        return y


class Denoiser(nn.Module):
    """A diffusion-like net: time enters by sines, a layer and a shift of every channel; attention in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 12))
        self.enter, self.leave = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 3, 3, padding=1)
        self.norm = nn.GroupNorm(2, 6)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        rates = torch.exp(-math.log(100) * torch.arange(4, dtype=x.dtype) / 4)
        angles = time[:, None] * rates
        scale, shift = self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, :, None, None].chunk(2, 1)
        y = F.silu(self.norm(self.enter(x)) * (1 + scale) + shift)
        places = y.flatten(2).transpose(1, 2)
        mixed, _ = self.attention(places, places, places, need_weights=False)
        y = y + mixed.transpose(1, 2).reshape(y.shape)
        return self.leave(F.interpolate(F.avg_pool2d(y, 2), scale_factor=2.0))  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(VOCABULARY, 6), nn.Linear(10, 4)
        self.cells = kind(6, 5, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.head(self.cells(self.table(x))[0][:, -1])
        return y


class TextTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(VOCABULARY, 8), nn.Parameter(torch.randn(1, 6, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.head(self.layers(self.table(x) + self.places).mean(1))
        return y


class Mixer(nn.Module):
    """Layers along the places and along the channels in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.along, self.across = nn.Linear(16, 16), nn.Linear(8, 8)
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x).flatten(2).transpose(1, 2)
        y = y + F.gelu(self.along(self.norms[0](y).transpose(1, 2))).transpose(1, 2)
        y = y + F.gelu(self.across(self.norms[1](y)))
        return self.head(y.mean(1))  # type: ignore[no-any-return]


class Autoencoder(nn.Module):
    """A variational one, with noise that is part of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Flatten(), nn.Linear(48, 8), nn.ReLU(), nn.Linear(8, 6))
        self.decode = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 48))

    def forward(self, x: Tensor, noise: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        mean, log_variance = self.encode(x).chunk(2, 1)
        code = mean + noise * torch.exp(0.5 * log_variance)
        return self.decode(code).view_as(x), mean, log_variance


def evidence(outputs: Any, inputs: Inputs) -> Tensor:
    rebuilt, mean, log_variance = outputs
    wrong = F.mse_loss(rebuilt, inputs["x"], reduction="none").flatten(1).sum(1)
    return wrong - 0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)


class Waves(nn.Module):
    """Gated convolutions with growing steps, along time."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(4, 8, 2, dilation=d) for d in (1, 2, 4)])
        self.head = nn.Conv1d(4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            signal, gate = layer(F.pad(x, (layer.dilation[0], 0))).chunk(2, 1)
            x = x + torch.tanh(signal) * torch.sigmoid(gate)
        y: Tensor = self.head(x)
        return y


class Squeezed(nn.Module):
    """Depthwise convolutions whose channels are weighed by what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.deep = nn.Conv2d(3, 6, 1), nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.squeeze, self.excite = nn.Linear(6, 3), nn.Linear(3, 6)
        self.head = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = F.hardswish(self.deep(self.enter(x)))
        weight = torch.sigmoid(self.excite(F.relu(self.squeeze(y.mean((2, 3))))))
        y = F.relu6(y * weight[:, :, None, None])
        return self.head(y.amax((2, 3)))  # type: ignore[no-any-return]


class Physics(nn.Module):
    """A field of points and its slope, as physics-informed nets have it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = x.requires_grad_()
        field = self.layers(x)
        (slope,) = torch.autograd.grad(field.sum(), x, create_graph=True)
        return slope[:, 1] + field[:, 0] * slope[:, 0]


def of(name: str, make: Callable[[], nn.Module], inputs: Callable[[], Inputs], loss: Any) -> Member:
    return Member(name, lambda: (make(), inputs()), loss)


def pictures() -> Inputs:
    return {"input": images(), "target": classes()}


def written() -> Inputs:
    return {"x": tokens(), "target": classes()}


MEMBERS: List[Member] = [
    of("ResNet by hand", resnet, pictures, one_class),
    of("U-Net", UNet, lambda: {"x": images(8), "target": images(8)}, distance),
    of(
        "denoiser", Denoiser,
        lambda: {"x": images(4), "time": torch.rand(SAMPLES) * 10, "target": images(4)}, distance,
    ),
    of("LSTM", lambda: Recurrent(nn.LSTM), written, one_class),
    of("GRU", lambda: Recurrent(nn.GRU), written, one_class),
    of("nn.Transformer", TextTransformer, written, one_class),
    of("MLP-Mixer", Mixer, lambda: {"x": images(), "target": classes()}, one_class),
    of("VAE", Autoencoder, lambda: {"x": images(4), "noise": torch.randn(SAMPLES, 3)}, evidence),
    of("WaveNet", Waves, lambda: {"x": torch.randn(SAMPLES, 4, 9)}, squares),
    of("squeeze and excite", Squeezed, lambda: {"x": images(8), "target": classes()}, one_class),
    of("physics-informed", Physics, lambda: {"x": torch.randn(SAMPLES, 2)}, lambda y, _: y.square()),
]
