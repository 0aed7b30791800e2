# SPDX-License-Identifier: MIT
"""Quantities: what is tracked, at which steps, from the catalogue or of one's own."""

from __future__ import annotations

from typing import Iterable, List, Optional, Sequence, Union

from . import _engine
from ._engine import Quantity
from ._words import DueLike

Setting = Union[str, int, float, bool]
#: A preset by name, or quantities, each by name or as it is.
QuantitiesLike = Union[str, Iterable[Union[str, Quantity]]]


def quantity(name: str, *, due: DueLike = None, named: Optional[str] = None, **settings: Setting) -> Quantity:
    """A quantity of the catalogue with its settings; raises, suggesting the nearest, if there is none.

    >>> quantity("hess_trace", curvature="ggn", samples=32, due="every 100")
    <Quantity hess_trace, every 100>
    >>> quantity("grad_norn")
    Traceback (most recent call last):
    ...
    ValueError: quantity: there is no quantity 'grad_norn'; did you mean 'grad_norm'? Choose one of activation_scale, ...
    """
    found = _engine.quantity(name, dict(settings))
    if due is not None:
        found = found.on(due)
    return found if named is None else found.named(named)


def preset(name: str, due: DueLike = None) -> List[Quantity]:
    """The set "diagnosis", the papers' "economy", "business" and "full", and those of the program.

    Without ``due`` on the steps that the preset is meant for, or on all where it has none.

    >>> [entry.name for entry in preset("economy")][:3]
    ['alpha', 'distance', 'grad_hist_1d']
    >>> preset("diagnosis")[0]
    <Quantity activation_scale, every 25 after the first 50>
    """
    return _engine.preset(name, due)


def quantities_of(given: QuantitiesLike, due: DueLike = None) -> List[Quantity]:
    """The list that a preset's name or a mixed list stands for; ``due`` is for those given by name."""
    if isinstance(given, str):
        return preset(given, due)
    return [quantity(entry, due=due) if isinstance(entry, str) else entry for entry in given]


def register_preset(name: str, summary: str, quantities: Sequence[str], due: DueLike = None) -> None:
    """Adds a preset to those of this program; ``due`` says at which steps it is meant to be computed."""
    _engine.register_preset(name, summary, quantities, due)
