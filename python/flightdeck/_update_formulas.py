# SPDX-License-Identifier: MIT
"""How optimizers of torch.optim turn a gradient into a step, for quantities that ask for it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch

from ._words import UpdateFormula


def update_formulas(optimizer: Optional[Any]) -> Optional[List[UpdateFormula]]:
    """One formula for each parameter; None of an optimizer that is not known, or that has not taken its first step."""
    if not isinstance(optimizer, (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop)):
        return None
    formulas = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            formula = _formula_of(optimizer, group, parameter)
            if formula is None:
                return None
            formulas.append(formula)
    return formulas


def _formula_of(optimizer: torch.optim.Optimizer, group: Dict[str, Any], parameter: torch.Tensor) -> Optional[UpdateFormula]:
    rate, state = float(group["lr"]), optimizer.state.get(parameter, {})
    if isinstance(optimizer, torch.optim.SGD):
        if group["dampening"] != 0:
            return None
        return parameter, rate, float(group["momentum"]), False, bool(group["nesterov"]), None
    with torch.no_grad():
        if isinstance(optimizer, torch.optim.RMSprop):
            if "square_avg" not in state or group["centered"]:
                return None
            return parameter, rate, float(group["momentum"]), False, False, state["square_avg"].sqrt() + group["eps"]
        if not state or float(state["step"]) == 0:
            return None
        (beta1, beta2), steps = group["betas"], float(state["step"])
        second = state["max_exp_avg_sq"] if group["amsgrad"] else state["exp_avg_sq"]
        scale = (second / (1 - beta2**steps)).sqrt().add_(group["eps"]).mul_(1 - beta1**steps)
        return parameter, rate, float(beta1), True, False, scale
