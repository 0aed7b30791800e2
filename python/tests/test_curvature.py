# SPDX-License-Identifier: MIT
"""Curvature against dense matrices by autograd, in double."""

from __future__ import annotations

import pytest
import torch
from conftest import Case, close

import flightdeck


def entries(case: Case) -> int:
    return sum(p.numel() for p in case.model.parameters())


def test_products_are_those_of_the_dense_hessian(case: Case) -> None:
    operator = flightdeck.curvature_operator(case.losses(), case.model, "hessian")
    assert operator.shape == (entries(case), entries(case))
    assert operator.dtype == torch.float64
    close(operator.to_dense(), case.hessian())
    vector = torch.randn(operator.dim, dtype=torch.float64)
    close(operator @ vector, case.hessian() @ vector)
    rows = torch.cat([rows.flatten(1) for rows in case.individual().values()], dim=1)
    close(operator.gradient(), rows.mean(0))


def test_the_fisher_is_made_of_individual_gradients(small: Case) -> None:
    rows = torch.cat([rows.flatten(1) for rows in small.individual().values()], dim=1)
    operator = flightdeck.curvature_operator(small.losses(), small.model, "empirical_fisher")
    close(operator.to_dense(), rows.T @ rows / len(rows))


def test_diagonals_and_traces(small: Case) -> None:
    hessian = small.hessian()
    ggn = flightdeck.curvature_operator(small.losses(), small.model, "ggn").to_dense()
    answers = flightdeck.curvature(
        small.losses(), small.model,
        ["diag_hessian", "diag_ggn", "diag_ggn_per_sample", "trace_ggn", "trace_hessian"],
    )
    close(answers.concatenated("diag_hessian"), hessian.diagonal())
    close(answers.concatenated("diag_ggn"), ggn.diagonal())
    close(answers.concatenated("diag_ggn_per_sample").sum(0), ggn.diagonal())
    close(answers.total.trace_hessian, hessian.trace())
    close(answers.total.trace_ggn, ggn.trace())
    assert answers["0.weight"].kfac is None


def test_kronecker_factors_multiply_and_invert(small: Case) -> None:
    answers = flightdeck.curvature(small.losses(), small.model, ["kfac", "kflr", "kfra"], mc_samples=3)
    factors = answers["0.weight"].kflr
    matrix = torch.kron(factors.output, factors.input)
    close(flightdeck.kronecker_operator(factors).to_dense(), matrix)
    inverse = flightdeck.kronecker_inverse(factors, 0.1, "exact").to_dense()
    close(inverse, torch.linalg.inv(matrix + 0.1 * torch.eye(len(matrix), dtype=matrix.dtype)), 1e-8)
    assert answers["0.bias"].kfac.input is None


def test_spectra(small: Case) -> None:
    operator = flightdeck.curvature_operator(small.losses(), small.model)
    values = torch.linalg.eigvalsh(small.hessian())
    pairs = flightdeck.eigenpairs(operator, largest=2, smallest=1, tolerance=1e-10)
    assert pairs.all_converged
    close(pairs.values, torch.stack([values[-1], values[-2], values[0]]), 1e-8)
    estimate = flightdeck.trace(operator, products=operator.dim)
    assert estimate.exact
    assert estimate.value == pytest.approx(float(values.sum()), rel=1e-9)
    close(flightdeck.diagonal(operator, products=operator.dim).value, small.hessian().diagonal())
    density = flightdeck.spectral_density(operator)
    assert density.moment(0) == pytest.approx(1)
    ggn = flightdeck.curvature_operator(small.losses(), small.model, "ggn").damped(0.1)
    solution = flightdeck.conjugate_gradients(ggn, operator.gradient(), tolerance=1e-10)
    assert solution.all_converged
    close(ggn @ solution.vectors[0], operator.gradient(), 1e-8)
    assert flightdeck.subspace_overlap(pairs.vectors, pairs.vectors) == pytest.approx(1)


def test_scipy_takes_operators(small: Case) -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    operator = flightdeck.curvature_operator(small.losses(), small.model)
    largest = linalg.eigsh(operator.to_scipy(), k=1, which="LA", return_eigenvectors=False)[0]
    assert largest == pytest.approx(float(torch.linalg.eigvalsh(small.hessian())[-1]), rel=1e-8)


def test_an_operator_of_a_function() -> None:
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    operator = flightdeck.LinearOperator.of(lambda lines: lines @ matrix, 2, dtype=torch.float64)
    pairs = flightdeck.eigenpairs(operator, tolerance=1e-12)
    close(pairs.values, torch.linalg.eigvalsh(matrix)[-1:])


def test_vivit_has_the_spectrum_of_the_ggn(small: Case) -> None:
    ggn = flightdeck.curvature_operator(small.losses(), small.model, "ggn").to_dense()
    vivit = flightdeck.Vivit(small.losses(), small.model)
    values = torch.linalg.eigvalsh(ggn).flip(0)[: vivit.rank()]
    close(vivit.eigenvalues(), values, 1e-9)
    gradient = flightdeck.curvature_operator(small.losses(), small.model).gradient()
    damping = torch.tensor([0.5], dtype=torch.float64)
    step = torch.cat([part.flatten() for part in vivit.newton_step(damping, trivial=True)])
    damped = ggn + 0.5 * torch.eye(len(ggn), dtype=ggn.dtype)
    close(step, -torch.linalg.solve(damped, gradient), 1e-8)
    assert vivit.gammas(2).shape == (6, 2)


def test_averaged_blocks(small: Case) -> None:
    blocks = dict(flightdeck.averaged_blocks(small.losses(), small.model))
    assert sorted(blocks) == sorted(name for name, _ in small.model.named_parameters())
    assert blocks["2.bias"].shape == (3, 3)
