# SPDX-License-Identifier: MIT
"""What a member of the zoo is: a tiny model with random weights, a batch, and a loss for each sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch.nn import functional as F

Tensor = torch.Tensor
Inputs = Dict[str, Tensor]

SAMPLES = 3
VOCABULARY = 31
LENGTH = 6


@dataclass
class Member:
    """``make`` builds the model and its batch; ``loss`` gives [N] from the model's outputs and the batch."""

    name: str
    make: Callable[[], Tuple[torch.nn.Module, Inputs]]
    loss: Callable[[Any, Inputs], Tensor]
    computes_in_float: bool = False  # in parts, whatever the type of its parameters
    narrow: Optional[Callable[[torch.nn.Module], None]] = None  # cuts what makes exact curvature take minutes

    def build(self, dtype: torch.dtype, narrow: bool = False) -> Tuple[torch.nn.Module, Inputs]:
        torch.manual_seed(0)
        model, inputs = self.make()
        if narrow and self.narrow is not None:
            self.narrow(model)
        # Without dropout, and batch norm by its running statistics: samples are on their own.
        model = model.eval().to(dtype)
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        return model, {key: value.to(dtype) if value.is_floating_point() else value for key, value in inputs.items()}

    def losses(self, model: torch.nn.Module, inputs: Inputs) -> Tensor:
        return self.loss(model(**{key: value for key, value in inputs.items() if key != "target"}), inputs)

    def one_by_one(self, model: torch.nn.Module, inputs: Inputs) -> Dict[str, Tensor]:
        """[N, *shape] for each parameter: every sample goes through the model alone."""
        names, tensors = zip(*model.named_parameters())
        rows: List[Tuple[Tensor, ...]] = []
        for n in range(SAMPLES):
            alone = {key: value[n : n + 1] for key, value in inputs.items()}
            gradients = torch.autograd.grad(self.losses(model, alone).sum(), tensors, allow_unused=True)
            rows.append(tuple(torch.zeros_like(t) if g is None else g for g, t in zip(gradients, tensors)))
        return {name: torch.stack([row[k] for row in rows]) for k, name in enumerate(names)}


# ---- batches ----

def tokens(length: int = LENGTH) -> Tensor:
    return torch.randint(3, VOCABULARY, (SAMPLES, length))


def images(size: int = 16, channels: int = 3) -> Tensor:
    return torch.randn(SAMPLES, channels, size, size)


def classes(count: int = 4) -> Tensor:
    return torch.randint(0, count, (SAMPLES,))


# ---- losses ----

def first_output(outputs: Any) -> Tensor:
    """Of a model that returns a tensor, a tuple, or an object with fields."""
    return outputs if isinstance(outputs, torch.Tensor) else outputs[0]


def next_token(outputs: Any, inputs: Inputs) -> Tensor:
    """The mean over the tokens of each text."""
    logits, labels = outputs.logits[:, :-1], inputs["input_ids"][:, 1:]
    return F.cross_entropy(logits.transpose(1, 2), labels, reduction="none").mean(1)


def each_token(outputs: Any, inputs: Inputs) -> Tensor:
    """A token for each place of the target."""
    return F.cross_entropy(outputs.logits.transpose(1, 2), inputs["target"], reduction="none").mean(1)


def one_class(outputs: Any, inputs: Inputs) -> Tensor:
    logits = outputs.logits if hasattr(outputs, "logits") else first_output(outputs)
    return F.cross_entropy(logits.flatten(1), inputs["target"], reduction="none")


def squares(outputs: Any, inputs: Inputs) -> Tensor:
    """The mean square of the first output, for models that have no loss of their own."""
    return first_output(outputs).flatten(1).square().mean(1)


def distance(outputs: Any, inputs: Inputs) -> Tensor:
    """From the target, which has the shape of the output."""
    return (first_output(outputs) - inputs["target"]).flatten(1).square().mean(1)
