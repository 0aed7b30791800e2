# SPDX-License-Identifier: MIT
"""Curvature against dense matrices by autograd, in double."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import List

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


def test_scipy_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = flightdeck.LinearOperator.dense(torch.eye(2))
    monkeypatch.setitem(sys.modules, "scipy.sparse.linalg", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        operator.to_scipy()


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


def ggn_of(case: Case) -> torch.Tensor:
    return flightdeck.curvature_operator(case.losses(), case.model, "ggn").to_dense()


def flat(parts: List[torch.Tensor]) -> torch.Tensor:
    """[V, *shape] of all parameters -> [V, D]."""
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def jacobians(case: Case) -> torch.Tensor:
    """Of the outputs by all parameters, [N, C, D], one entry at a time."""
    outputs = case.model(case.inputs)
    tensors = list(case.model.parameters())
    lines = []
    for entry in outputs.flatten():
        parts = torch.autograd.grad(entry, tensors, retain_graph=True)
        lines.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(lines).view(*outputs.shape, -1)


def softmax_hessians(case: Case) -> torch.Tensor:
    """Of the cross-entropies by the outputs, [N, C, C]."""
    p = case.model(case.inputs).softmax(1).detach()
    return torch.diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1)


def test_the_factor_of_the_ggn_gives_it_back(small: Case) -> None:
    factor = flightdeck.ggn_factor(small.losses(), small.model)
    assert list(factor) == [name for name, _ in small.model.named_parameters()]
    columns = torch.cat([part.flatten(2) for part in factor.values()], dim=2)  # [K, N, D]
    jacobian, hessian = jacobians(small), softmax_hessians(small)
    expected = torch.einsum("nci,ncd,ndj->ij", jacobian, hessian, jacobian) / len(jacobian)
    close(torch.einsum("kni,knj->ij", columns, columns) / columns.shape[1], expected)
    some = flightdeck.Batch(small.losses(), small.model).of([1, 4])
    close(flightdeck.ggn_factor(some)["0.weight"], factor["0.weight"][:, [1, 4]])
    drawn = flightdeck.ggn_factor(small.losses(), small.model, columns="sampled", mc_samples=5, seed=3)
    assert drawn["2.bias"].shape == (5, 6, 3)
    again = flightdeck.ggn_factor(small.losses(), small.model, columns="sampled", mc_samples=5, seed=3)
    assert torch.equal(drawn["2.bias"], again["2.bias"])


def test_directions_are_chosen_by_number_position_interval_and_rule(small: Case) -> None:
    vivit = flightdeck.Vivit(small.losses(), small.model)
    values = vivit.eigenvalues()
    every = flat(vivit.eigenvectors(-1))
    ggn = ggn_of(small)
    close(every @ ggn, values.unsqueeze(1) * every, 1e-9)
    middle = float(values[2] + values[3]) / 2
    for which in [3, lambda value: value > middle, flightdeck.Directions.within(middle, 1e9), [0, 1, 2], (0, 1, 2),
                  flightdeck.Directions.leading(3), flightdeck.Directions.where(lambda value: value > middle)]:
        close(flat(vivit.eigenvectors(which)), every[:3])
        assert vivit.gammas(which).shape == (6, 3)
    positions = [4, 1]
    close(flat(vivit.eigenvectors(positions)), every[positions])
    rows = torch.cat([rows.flatten(1) for rows in small.individual().values()], dim=1)
    close(vivit.gammas(positions), rows @ every[positions].T, 1e-9)
    jacobian, hessian = jacobians(small), softmax_hessians(small)
    slopes = torch.einsum("ncd,kd->nkc", jacobian, every[positions])
    close(vivit.lambdas(positions), torch.einsum("nkc,ncd,nkd->nk", slopes, hessian, slopes), 1e-9)
    assert flightdeck.Directions.at(positions).positions(values) == positions


def test_directions_that_do_not_exist_are_refused(small: Case) -> None:
    vivit = flightdeck.Vivit(small.losses(), small.model)
    with pytest.raises((ValueError, IndexError), match=str(vivit.rank())):
        vivit.gammas([vivit.rank()])
    with pytest.raises(ValueError, match="1"):
        vivit.gammas([1, 1])
    with pytest.raises(TypeError, match="number of leading"):
        vivit.gammas("sharp")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        vivit.gammas(1.5)  # type: ignore[arg-type]

    def failing(value: float) -> bool:
        raise LookupError(f"no idea about {value:.0f}")

    with pytest.raises(LookupError, match="no idea about"):
        vivit.gammas(failing)


def test_the_damped_inverse_solves_and_preconditions(small: Case) -> None:
    ggn = ggn_of(small)
    damped = ggn + 0.5 * torch.eye(len(ggn), dtype=ggn.dtype)
    inverse = flightdeck.Vivit(small.losses(), small.model).inverse(0.5)
    close(inverse.to_dense(), torch.linalg.inv(damped), 1e-9)
    operator = flightdeck.curvature_operator(small.losses(), small.model, "ggn").damped(0.5)
    right = torch.randn(3, len(ggn), dtype=ggn.dtype)
    solution = flightdeck.conjugate_gradients(operator, right, tolerance=1e-10, preconditioner=inverse)
    assert solution.all_converged
    assert max(solution.iterations) <= 2  # it is the inverse but for rounding
    with pytest.raises(ValueError, match="damping"):
        flightdeck.Vivit(small.losses(), small.model).inverse(-1.0)


def test_noise_adds_damping(small: Case) -> None:
    vivit = flightdeck.Vivit(small.losses(), small.model)
    gammas, lambdas = vivit.gammas(4), vivit.lambdas(4)
    slope, curvature = gammas.mean(0), lambdas.mean(0)
    variance = gammas.var(0) / len(gammas)
    error = (lambdas.var(0) / len(lambdas)).sqrt()
    close(flightdeck.noise_damping(gammas, lambdas), curvature * variance / slope.square() + error, 1e-12)
    careless = flightdeck.noise_damping(gammas, lambdas, damping=0.25, caution=0)
    close(careless, 0.25 + curvature * variance / slope.square(), 1e-12)
    step = flightdeck.Vivit(small.losses(), small.model).newton_step(careless, 4)
    vectors = flat(vivit.eigenvectors(4))
    close(torch.cat([part.flatten() for part in step]), -(slope / (curvature + careless)) @ vectors, 1e-9)


def test_sub_blocks_are_parts_of_the_matrix(small: Case) -> None:
    ggn = flightdeck.curvature_operator(small.losses(), small.model, "ggn")
    whole = ggn.to_dense()
    weight = small.model.get_parameter("0.weight")  # [4, 5]
    ranges = flightdeck.line_blocks(weight, 3)
    assert [end - begin for begin, end in ranges] in ([10, 5, 5], [5, 5, 10], [5, 10, 5])
    assert ranges[0][0] == 0 and ranges[-1][1] == weight.numel()
    for begin, end in ranges:
        close(ggn.sub_block(begin, end).to_dense(), whole[begin:end, begin:end])
    with pytest.raises(IndexError, match=str(ggn.dim)):
        ggn.sub_block(0, ggn.dim + 1)


def test_a_data_set_has_the_matrix_of_its_batches_put_into_one(small: Case, tmp_path: Path) -> None:
    parts = [[0, 1, 2], [3], [4, 5]]
    calls: List[int] = []
    labels = torch.tensor([0, 1, 2, 0, 1, 2])

    def losses(k: int) -> torch.Tensor:
        calls.append(k)
        outputs = small.model(small.inputs[parts[k]])
        return torch.nn.functional.cross_entropy(outputs, labels[parts[k]], reduction="none")

    done = []
    whole = flightdeck.data_set_operator(
        3, losses, small.model, folder=tmp_path / "products",
        on_batch=lambda progress: done.append((progress.product, progress.batches, progress.of)))
    close(whole.to_dense(), small.hessian(), 1e-9)
    assert done[-3:] == [(0, 1, 3), (0, 2, 3), (0, 3, 3)]
    close(whole.gradient(), flightdeck.curvature_operator(small.losses(), small.model).gradient())
    assert [part.shape for part in whole.split(whole.gradient().unsqueeze(0))][0] == (1, 4, 5)
    before = len(calls)
    again = flightdeck.data_set_operator(3, losses, small.model, folder=tmp_path / "products")
    close(again.to_dense(), small.hessian(), 1e-9)
    assert len(calls) == before + 1  # the first batch, to know it; the product was kept
    ggn = flightdeck.data_set_operator(
        3, lambda k: flightdeck.Batch(losses(k), small.model), kind="ggn", groups=[[0, 1], [2, 3]])
    close(ggn.sub_block(0, 24).to_dense(), ggn_of(small)[:24, :24], 1e-9)
    assert float(ggn.to_dense()[:24, 24:].abs().max()) == 0


def test_a_data_set_that_fails_or_changes_says_so(small: Case) -> None:
    class Ended(Exception):
        pass

    def stop(progress: flightdeck.DataSetProgress) -> None:
        raise Ended(progress.batches)

    stopped = flightdeck.data_set_operator(2, lambda k: small.losses(), small.model, on_batch=stop)
    with pytest.raises(Ended):
        stopped.gradient()
    sizes = iter([6, 6, 5])
    changing = flightdeck.data_set_operator(1, lambda k: small.losses()[: next(sizes)], small.model)
    changing.gradient()
    with pytest.raises(ValueError, match="batch 0 has 5 samples and had 6"):
        changing.gradient()
    with pytest.raises(ValueError, match="0 batches"):
        flightdeck.data_set_operator(0, lambda k: small.losses(), small.model)
    with pytest.raises(TypeError, match="parameters"):
        flightdeck.data_set_operator(1, lambda k: small.losses())

    def broken(k: int) -> torch.Tensor:
        raise KeyError("the file is gone")

    with pytest.raises(KeyError, match="gone"):
        flightdeck.data_set_operator(1, broken, small.model)


def test_batches_are_made_while_other_threads_run(small: Case) -> None:
    seen = threading.Event()

    def losses(k: int) -> torch.Tensor:
        # Another thread needs Python's lock to set it.
        threading.Thread(target=seen.set).start()
        assert seen.wait(20)
        return small.losses()

    flightdeck.data_set_operator(1, losses, small.model, "ggn").gradient()


def test_averaged_blocks(small: Case) -> None:
    blocks = dict(flightdeck.averaged_blocks(small.losses(), small.model))
    assert sorted(blocks) == sorted(name for name, _ in small.model.named_parameters())
    assert blocks["2.bias"] is not None and blocks["2.bias"].shape == (3, 3)
    close(blocks["2.bias"].to_dense(), softmax_hessians(small).mean(0))


def test_averages_by_parameters_are_chosen_apart(small: Case) -> None:
    hessian = softmax_hessians(small).mean(0)
    hidden = small.model[:2](small.inputs).detach()  # type: ignore[index]
    expected = {
        "products": torch.kron(hessian, hidden.T @ hidden / len(hidden)),
        "jacobians": torch.kron(hessian, torch.outer(hidden.mean(0), hidden.mean(0))),
    }
    for average in ("products", "jacobians"):
        for chosen in ("products", "jacobians", None):
            blocks = dict(flightdeck.averaged_blocks(
                small.losses(), small.model, average=average, parameter_average=chosen))  # type: ignore[arg-type]
            block = blocks["2.weight"]
            assert block is not None
            close(block.to_dense(), expected[chosen or average], 1e-9)


def test_the_order_of_a_pch_matters(small: Case) -> None:
    def block(**options: str) -> torch.Tensor:
        blocks = dict(flightdeck.averaged_blocks(
            small.losses(), small.model, "pch_abs", **options))  # type: ignore[arg-type]
        found = blocks["0.weight"]
        assert found is not None
        return found.to_dense()

    first, each = block(), block(pch_order="sample_first")
    close(first, block(pch_order="average_first"))
    assert float((first - each).abs().max()) > 1e-6
    # More of what the samples disagree about is kept: the trace of absolute values is no smaller.
    assert float(each.trace()) >= float(first.trace()) - 1e-12
    with pytest.raises(ValueError, match="average_first, sample_first"):
        block(pch_order="never")
