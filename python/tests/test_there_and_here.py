# SPDX-License-Identifier: MIT
"""What "there and here" says of other packages is what they understand. Those that are not installed are skipped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from page_blocks import ROOT, run_program, run_shell, snippets

SETTING = """
import torch
from torch.nn import CrossEntropyLoss
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
inputs, labels = torch.randn(32, 8), torch.randint(0, 3, (32,))
plain, criterion = model, CrossEntropyLoss()
"""
PIP = f'exec "{sys.executable}" -m pip --disable-pip-version-check "$@" --dry-run --quiet'
QUICK = f'exec "{sys.executable}" "$@" --rounds 1 --batch 4 --small-batch 2'
# The packages of a block, what stands before it, and what has to be so after it.
WAYS = [
    (["backpack", "cockpit"], """
from backpack import extend
from cockpit import Cockpit
from cockpit.utils.configuration import configuration
optimizer, individual_criterion, step = torch.optim.SGD(model.parameters(), lr=0.1), CrossEntropyLoss(reduction="none"), 0
""", "assert __import__('pathlib').Path('run.json').exists()"),
    (["backpack"], """
from backpack import backpack, extend
from backpack.extensions import BatchGrad, DiagGGNExact, KFLR, Variance
""", "assert parameter.grad_batch.shape == (32, 3)"),
    (["backpack", "vivit"], """
from backpack import backpack, extend
from vivit.linalg.eigvalsh import EigvalshComputation
def symeig(matrix, eigenvectors=False, upper=True):
    values, vectors = torch.linalg.eigh(matrix, UPLO="U" if upper else "L")
    return values, vectors if eigenvectors else values.new_empty(0)
torch.symeig = torch.Tensor.symeig = symeig
model, criterion = extend(model), extend(criterion)
""", "assert eigenvalues.diff().min() >= -1e-6"),
    (["curvlinops"], """
from curvlinops import HessianLinearOperator
vector = torch.randn(sum(parameter.numel() for parameter in model.parameters()))
""", "assert product.shape == vector.shape"),
    (["opacus"], """
from opacus import GradSampleModule
""", "assert all(parameter.grad_sample.shape[0] == 32 for parameter in model.parameters())"),
    (["torch.func"], """
from torch.func import functional_call, grad, vmap
""", "assert rows['0.weight'].shape == (32, 16, 8)"),
]  # fmt: skip
FOUND = [block for blocks in snippets.run_by(ROOT, __file__).values() for block in blocks]
PYTHON = [block for block in FOUND if block.language == "python"]


def test_every_block_has_a_way_to_run() -> None:
    assert len(PYTHON) == len(WAYS) and len(FOUND) == len(PYTHON) + 1


@pytest.mark.parametrize("place", range(len(WAYS)), ids=["_".join(packages) for packages, _, _ in WAYS])
def test_a_block_is_what_the_package_understands(place: int, tmp_path: Path) -> None:
    packages, before, after = WAYS[place]
    for package in packages:
        pytest.importorskip(package)
    run_program("\n".join([SETTING, before, PYTHON[place].code, after]), tmp_path)


@pytest.mark.skipif(not hasattr(torch, "func"), reason="torch.func is in PyTorch 2")
def test_the_commands_of_the_table_print_it(tmp_path: Path) -> None:
    told = [block for block in FOUND if block.language == "sh"]
    text = run_shell(told[0].code, tmp_path, {"pip": PIP, "python": QUICK})
    assert "| torch.func | individual gradients" in text
