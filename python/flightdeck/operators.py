# SPDX-License-Identifier: MIT
"""Symmetric matrices that are known by their products, and what products alone tell about them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, Union

import torch

from . import _engine
from ._words import DampingSplit, DiagonalMethod, EigenMethod, TraceMethod
from .ranks import RanksLike, ranks_of

if TYPE_CHECKING:
    import numpy
    import scipy.sparse.linalg

Tensor = torch.Tensor


class LinearOperator:
    """A symmetric linear map on R^D. Multiplies a vector [D], or every line of [V, D]; ``op @ v`` does too.

    >>> op = LinearOperator.dense(torch.tensor([[2.0, 1.0], [1.0, 3.0]]))
    >>> (op @ torch.tensor([1.0, 0.0])).tolist()
    [2.0, 1.0]
    >>> eigenpairs(op).values.round().tolist()
    [4.0]
    """

    def __init__(self, native: _engine.LinearOperator) -> None:
        self._native = native

    @staticmethod
    def dense(matrix: Tensor) -> "LinearOperator":
        """Of a symmetric matrix [D, D], which is kept, not copied."""
        return LinearOperator(_engine.dense_operator(matrix))

    @staticmethod
    def of(
        multiply: Callable[[Tensor], Tensor],
        dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: Union[str, torch.device] = "cpu",
    ) -> "LinearOperator":
        """Of a function from lines [V, D] to lines [V, D].

        >>> twice = LinearOperator.of(lambda lines: 2 * lines, 3)
        >>> trace(twice).value
        6.0
        """
        return LinearOperator(_engine.function_operator(multiply, dim, dtype, torch.device(device)))

    @property
    def native(self) -> _engine.LinearOperator:
        """The C++ operator."""
        return self._native

    @property
    def dim(self) -> int:
        """D."""
        return self._native.dim

    @property
    def shape(self) -> Tuple[int, int]:
        """(D, D)."""
        return (self.dim, self.dim)

    @property
    def dtype(self) -> torch.dtype:
        """The type of its vectors."""
        return self._native.dtype

    @property
    def device(self) -> torch.device:
        """Where its vectors are."""
        return self._native.device

    def multiply(self, vectors: Tensor) -> Tensor:
        """[D] -> [D], or [V, D] -> [V, D]: each line is one vector."""
        return self._native.multiply(vectors)

    def __matmul__(self, vectors: Tensor) -> Tensor:
        return self.multiply(vectors)

    def damped(self, damping: float) -> "LinearOperator":
        """A + damping I."""
        return LinearOperator(_engine.damped_operator(self._native, damping))

    def sub_block(self, begin: int, end: int) -> "LinearOperator":
        """What it does among its entries begin..end-1: these lines and columns.

        >>> op = LinearOperator.dense(torch.tensor([[2.0, 1.0], [1.0, 3.0]]))
        >>> op.sub_block(1, 2).to_dense().tolist()
        [[3.0]]
        """
        return LinearOperator(_engine.sub_block_operator(self._native, begin, end))

    def to_dense(self) -> Tensor:
        """The whole matrix [D, D], by D products."""
        return self.multiply(torch.eye(self.dim, dtype=self.dtype, device=self.device))

    def to_scipy(self) -> "scipy.sparse.linalg.LinearOperator":
        """The same for SciPy, whose solvers then work with it. Vectors travel to the device and back.

        >>> op = LinearOperator.dense(torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64))
        >>> op.to_scipy().matvec([1.0, 0.0]).tolist()
        [2.0, 1.0]
        """
        import numpy
        try:
            from scipy.sparse.linalg import LinearOperator as ScipyOperator
        except ImportError as error:
            raise ImportError("to_scipy: SciPy is not installed; pip install scipy") from error

        def matmat(columns: "numpy.ndarray[Any, Any]") -> "numpy.ndarray[Any, Any]":
            lines = torch.as_tensor(numpy.ascontiguousarray(columns.T), dtype=self.dtype, device=self.device)
            product: "numpy.ndarray[Any, Any]" = self.multiply(lines).cpu().numpy()
            return product.T

        def matvec(vector: "numpy.ndarray[Any, Any]") -> "numpy.ndarray[Any, Any]":
            return matmat(vector.reshape(-1, 1)).reshape(-1)

        dtype = torch.empty(0, dtype=self.dtype).numpy().dtype
        return ScipyOperator(
            self.shape, matvec=matvec, rmatvec=matvec, matmat=matmat, rmatmat=matmat, dtype=dtype
        )


class CurvatureOperator(LinearOperator):
    """A curvature matrix of the mean loss over all parameters, flattened and concatenated."""

    def __init__(self, native: _engine.CurvatureOperator) -> None:
        super().__init__(native)
        self._curvature = native

    def split(self, vectors: Tensor) -> List[Tensor]:
        """[V, D] -> one tensor [V, *shape] per parameter."""
        return self._curvature.split(vectors)

    def join(self, parts: Sequence[Tensor]) -> Tensor:
        """One tensor [V, *shape] per parameter -> [V, D]."""
        return self._curvature.join(parts)

    def gradient(self) -> Tensor:
        """Gradient of the mean loss, [D]."""
        return self._curvature.gradient()

    @property
    def remarks(self) -> List[str]:
        """What a person should know."""
        return self._curvature.remarks


def over_ranks(own: LinearOperator, samples: int, ranks: RanksLike = True) -> LinearOperator:
    """The mean of all ranks' matrices, each weighted with its number of samples: that of all their samples together.

    Every rank makes the same products. ``ranks`` is a process group or `Ranks`; True makes a group of Gloo's for this
    operator. A rank without samples gives any operator of that size and 0 of them; what one rank's product raises is
    raised on all.
    """
    group = ranks_of(ranks)
    if group is None:
        raise ValueError(f"over_ranks: ranks is {ranks}; give a process group, Ranks or True")
    return LinearOperator(_engine.over_ranks(own.native, samples, group))


def line_blocks(parameter: Tensor, count: int) -> List[Tuple[int, int]]:
    """The lines of a parameter's first dimension in ``count`` blocks of nearly equal size, as ranges of its entries.

    >>> line_blocks(torch.ones(5, 3), 2)
    [(0, 6), (6, 15)]
    """
    return _engine.line_blocks(parameter, count)


def kronecker_operator(factors: _engine.KroneckerFactors) -> LinearOperator:
    """v -> (output ⊗ input) v on the flattened parameter; the corrected one if it was computed."""
    return LinearOperator(_engine.kronecker_operator(factors))


def kronecker_inverse(
    factors: _engine.KroneckerFactors, damping: float, split: DampingSplit = "trace"
) -> LinearOperator:
    """v -> (output ⊗ input + damping)^-1 v."""
    return LinearOperator(_engine.kronecker_inverse(factors, damping, split))


def eigenpairs(
    operator: LinearOperator,
    *,
    largest: int = 1,
    smallest: int = 0,
    tolerance: float = 1e-3,
    floor: float = 1e-4,
    max_products: int = 200,
    until_proved: bool = True,
    max_basis: int = 0,
    block: int = 0,
    method: EigenMethod = "auto",
    start: Optional[Tensor] = None,
    seed: int = 0,
) -> _engine.Eigenpairs:
    """Pairs at the ends of the spectrum: the ``largest`` in descending order, then the ``smallest`` ascending.

    Pairs that did not converge within ``max_products`` have the flag False in ``converged``.
    """
    return _engine.eigenpairs(
        operator.native,
        largest=largest,
        smallest=smallest,
        tolerance=tolerance,
        floor=floor,
        max_products=max_products,
        until_proved=until_proved,
        max_basis=max_basis,
        block=block,
        method=method,
        start=start,
        seed=seed,
    )


def spectral_density(
    operator: LinearOperator,
    *,
    starts: int = 4,
    steps: int = 40,
    points: int = 512,
    width: float = 0,
    low: float = math.nan,
    high: float = math.nan,
    seed: int = 0,
) -> _engine.SpectralDensity:
    """The distribution of the eigenvalues, by stochastic Lanczos quadrature."""
    return _engine.spectral_density(
        operator.native, starts=starts, steps=steps, points=points, width=width, low=low, high=high, seed=seed
    )


def trace(
    operator: LinearOperator,
    *,
    products: int = 30,
    method: TraceMethod = "xtrace",
    block: int = 16,
    seed: int = 0,
) -> _engine.Estimate:
    """Estimates the trace without bias; exact where as many products are allowed as there are dimensions."""
    return _engine.trace(operator.native, products=products, method=method, block=block, seed=seed)


def diagonal(
    operator: LinearOperator,
    *,
    products: int = 30,
    method: DiagonalMethod = "hutchinson",
    block: int = 16,
    seed: int = 0,
) -> _engine.DiagonalEstimate:
    """Estimates the diagonal without bias."""
    return _engine.diagonal(operator.native, products=products, method=method, block=block, seed=seed)


def conjugate_gradients(
    operator: LinearOperator,
    right_hand_sides: Tensor,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    start: Optional[Tensor] = None,
    preconditioner: Optional[LinearOperator] = None,
) -> _engine.Solution:
    """Solves A x = b for every line b of [V, D], or for one [D].

    >>> op = LinearOperator.dense(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> conjugate_gradients(op, torch.tensor([2.0, 2.0])).vectors.tolist()
    [[1.0, 0.5]]
    """
    return _engine.conjugate_gradients(
        operator.native,
        right_hand_sides,
        tolerance=tolerance,
        max_iterations=max_iterations,
        start=start,
        preconditioner=None if preconditioner is None else preconditioner.native,
    )


def subspace_overlap(u: Tensor, v: Tensor) -> float:
    """1 for equal spans of the lines of u [k, D] and v [l, D], 0 for orthogonal ones."""
    return _engine.subspace_overlap(u, v)
