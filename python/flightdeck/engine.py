# SPDX-License-Identifier: MIT
"""Individual gradients and curvature of a batch as plain tensors, without a cockpit.

Every function takes individual losses [N] and the parameters that are asked about, or a `Batch`
that says more about the losses. The graph stays usable; ``.grad``, parameters and random numbers
are untouched.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Callable, Dict, List, Optional, Sequence, Tuple, Type, Union

import torch

from . import _engine
from ._words import (
    BatchAverage, BatchNorm, CurvatureKind, CurvatureNeeds, LossColumns, Needs, PchOrder, Reduction, SharedTerms,
    WeightSharing,
)
from .operators import CurvatureOperator, LinearOperator
from .parameters import ParametersLike, named_parameters

Tensor = torch.Tensor
Directions = _engine.Directions


class Batch(_engine.Batch):
    """One batch: its losses and all that is said of them. What is asked of it shares one reading of its graph.

    ``losses`` are individual losses [N], or one scalar: the graph of a known loss tells of how many samples it is the
    mean or the sum; of another one, say ``batch_size`` and ``reduction``. ``outputs`` are the model's, where the loss is one that the engine does not know (read by
    curvature alone). ``samples`` restricts every answer to these samples.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(5, 3)).square().sum(1)
    >>> batch = Batch(losses, model)
    >>> len(batch), batch.is_scalar
    (5, False)
    >>> gradients(batch.of([0, 1]), what="norms").batch_size
    2
    """

    def __init__(
        self,
        losses: Tensor,
        parameters: ParametersLike,
        *,
        outputs: Optional[Tensor] = None,
        batch_size: int = 0,
        reduction: Reduction = "mean",
        batch_norm: BatchNorm = "refuse",
        shared_terms: SharedTerms = "keep",
        samples: Sequence[int] = (),
        memory: Optional[_engine.MemoryLimits] = None,
    ) -> None:
        super().__init__(
            losses,
            named_parameters(parameters),
            outputs=outputs,
            batch_size=batch_size,
            reduction=reduction,
            batch_norm=batch_norm,
            shared_terms=shared_terms,
            samples=samples,
            memory=memory,
        )


LossesLike = Union[Tensor, _engine.Batch]


def batch_of(losses: LossesLike, parameters: Optional[ParametersLike]) -> _engine.Batch:
    """The batch that two arguments stand for: one that is there, or losses and their parameters."""
    if isinstance(losses, _engine.Batch):
        if parameters is not None:
            raise TypeError("a Batch has parameters of its own; give it alone, or losses and parameters")
        return losses
    if parameters is None:
        raise TypeError("losses come with the parameters that are asked about: give a module or tensors too")
    return Batch(losses, parameters)


def gradients(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    what: Needs = "individual",
    *,
    directions: Optional[Sequence[Tensor]] = None,
    histograms: Sequence[_engine.Bins] = (),
    joint_histograms: Sequence[_engine.JointBins] = (),
    keep_rows: bool = False,
    on_parameter: Optional[Callable[[_engine.ParameterGradients], object]] = None,
) -> _engine.Gradients:
    """Answers questions about the individual gradients by a backward pass of its own.

    g_n is what autograd gives for ``losses[n]``, without a factor 1/N. ``what`` names one or several of

    - ``mean``: (1/N) sum of g_n; ``individual``: every g_n, [N, *shape]
    - ``norms``: L2 norm of every g_n, [N]; ``gram``: their products, [N, N]
    - ``second_moment``, ``variance`` (biased): per entry, the parameter's shape
    - ``dots``: products with ``directions``, one tensor [V, *shape] per parameter: [N, V]
    - ``mean_dots``, ``deviations``: products with their mean and squared distances from it, [N]
    - ``arrived_norm``: norm of the gradient that reaches the parameter

    ``keep_rows`` keeps the gradients in factored form, for directions that are known only later.
    ``on_parameter`` is called with each parameter's answers, which are then not kept.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(5, 3)).square().sum(1)
    >>> answers = gradients(losses, model, ["individual", "variance"])
    >>> answers["weight"].individual.shape
    torch.Size([5, 2, 3])
    >>> answers["weight"].norms is None  # not asked for
    True
    >>> answers.coverage.parameters[0].level
    'exact-fast'
    """
    return _engine.gradients(
        batch_of(losses, parameters),
        what,
        directions=directions,
        histograms=histograms,
        joint_histograms=joint_histograms,
        keep_rows=keep_rows,
        on_parameter=on_parameter,
    )


class Watch:
    """Listens to the caller's own ``backward()`` and answers the same questions as `gradients`.

    The losses may be reduced in any way: the weight of each sample is divided out again.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(5, 3)).square().sum(1)
    >>> with Watch(losses, model, "norms") as watch:
    ...     losses.mean().backward()
    >>> watch.result["bias"].norms.shape
    torch.Size([5])
    """

    def __init__(
        self,
        losses: LossesLike,
        parameters: Optional[ParametersLike] = None,
        what: Needs = "norms",
        *,
        directions: Optional[Sequence[Tensor]] = None,
        histograms: Sequence[_engine.Bins] = (),
        joint_histograms: Sequence[_engine.JointBins] = (),
        keep_rows: bool = False,
        reuse_gradients: bool = False,
        on_parameter: Optional[Callable[[_engine.ParameterGradients], object]] = None,
    ) -> None:
        self._watch: Optional[_engine.Watch] = _engine.watch(
            batch_of(losses, parameters),
            what,
            directions=directions,
            histograms=histograms,
            joint_histograms=joint_histograms,
            keep_rows=keep_rows,
            reuse_gradients=reuse_gradients,
            on_parameter=on_parameter,
        )
        self._result: Optional[_engine.Gradients] = None

    @property
    def has_run(self) -> bool:
        """True once a backward pass went through the losses."""
        return self._result is not None or (self._watch is not None and self._watch.has_run)

    @property
    def result(self) -> _engine.Gradients:
        """The answers, after `finish` or the end of the ``with`` block."""
        if self._result is None:
            raise RuntimeError("watch: it has not finished; read the result after the with block")
        return self._result

    def finish(self) -> _engine.Gradients:
        """Stops listening and returns the answers; raises if no backward pass went through the losses."""
        if self._watch is None:
            raise RuntimeError("watch: there is nothing to finish: it was stopped by an exception")
        self._result = self._watch.finish()
        return self._result

    def __enter__(self) -> "Watch":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self._watch = None


def coverage(
    losses: LossesLike, parameters: Optional[ParametersLike] = None, what: Needs = "individual"
) -> _engine.Coverage:
    """How each parameter's individual gradients are obtained: fast, slower and exact, or refused.

    >>> model = torch.nn.Linear(3, 2)
    >>> report = coverage(model(torch.ones(5, 3)).square().sum(1), model)
    >>> {entry.name: entry.level for entry in report.parameters}
    {'weight': 'exact-fast', 'bias': 'exact-fast'}
    """
    return _engine.coverage(batch_of(losses, parameters), what)


def curvature(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    what: CurvatureNeeds = "diag_ggn",
    *,
    mc_samples: int = 1,
    seed: int = 0,
    weight_sharing: WeightSharing = "patch_sums",
    ekfac: bool = False,
    max_slow_entries: int = 20000,
    max_columns: int = 0,
    on_columns: Optional[Callable[[int, int], object]] = None,
) -> _engine.Curvature:
    """Diagonals, traces and Kronecker factors of the GGN and the Hessian of the mean loss.

    ``what`` names one or several of ``diag_ggn``, ``diag_ggn_mc``, ``diag_hessian``, each also ``_per_sample``;
    ``trace_ggn``, ``trace_ggn_mc``, ``trace_hessian``; ``kfac``, ``kflr``, ``kfra``. Monte-Carlo needs draw
    ``mc_samples`` would-be gradients per sample from a generator of their own. Exact answers of more than ``max_columns`` columns
    are refused (0: never).

    >>> model = torch.nn.Linear(3, 2)
    >>> loss = torch.nn.functional.cross_entropy
    >>> losses = loss(model(torch.ones(5, 3)), torch.zeros(5, dtype=torch.long), reduction="none")
    >>> answers = curvature(losses, model, ["diag_hessian", "kfac"])
    >>> answers["weight"].diag_hessian.shape, answers["weight"].kfac.input.shape
    (torch.Size([2, 3]), torch.Size([3, 3]))
    """
    return _engine.curvature(
        batch_of(losses, parameters),
        what,
        mc_samples=mc_samples,
        seed=seed,
        weight_sharing=weight_sharing,
        ekfac=ekfac,
        max_slow_entries=max_slow_entries,
        max_columns=max_columns,
        on_columns=on_columns,
    )


def curvature_coverage(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    what: CurvatureNeeds = "diag_ggn",
    *,
    ekfac: bool = False,
) -> _engine.Curvature:
    """Coverage and remarks of `curvature`, and what it raises, at the price of two columns for each op."""
    return _engine.curvature_coverage(batch_of(losses, parameters), what, ekfac=ekfac)


def curvature_operator(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    kind: CurvatureKind = "hessian",
    *,
    groups: Sequence[Sequence[int]] = (),
) -> CurvatureOperator:
    """A curvature matrix of the mean loss over all parameters, flattened and concatenated, by its products.

    With ``groups`` of parameters (by position) only curvature within a group is kept.

    >>> model = torch.nn.Linear(3, 1)
    >>> hessian = curvature_operator(model(torch.eye(3)).square().flatten(), model)
    >>> hessian.shape
    (4, 4)
    >>> (hessian @ torch.ones(4)).shape
    torch.Size([4])
    """
    return CurvatureOperator(_engine.curvature_operator(batch_of(losses, parameters), kind, groups=groups))


def data_set_operator(
    batches: int,
    losses: Callable[[int], LossesLike],
    parameters: Optional[ParametersLike] = None,
    kind: CurvatureKind = "hessian",
    *,
    groups: Sequence[Sequence[int]] = (),
    on_batch: Optional[Callable[[_engine.DataSetProgress], object]] = None,
    folder: Union[str, "os.PathLike[str]", None] = None,
    keep_every: int = 0,
) -> CurvatureOperator:
    """The matrix of the mean loss over all samples of several batches, however they differ in size.

    ``losses(k)`` makes batch k by a new forward pass: its individual losses [N], or a `Batch`. It is called for
    k = 0, 1, ... in every product, and has to give the same samples for the same k (evaluation mode, no drawn
    augmentation). Products hold the graph of one batch at a time: give many vectors at once.

    ``on_batch`` is told how far a product is and may raise to end it. A ``folder`` keeps every finished product, and
    within a product the sum after ``keep_every`` batches: the same call goes on where it was.

    >>> model = torch.nn.Linear(3, 1)
    >>> parts = [torch.eye(3), torch.ones(2, 3)]
    >>> whole = data_set_operator(2, lambda k: model(parts[k]).square().flatten(), model)
    >>> together = curvature_operator(model(torch.cat(parts)).square().flatten(), model)
    >>> torch.allclose(whole.to_dense(), together.to_dense())
    True
    """
    asked = None if parameters is None else named_parameters(parameters)
    return CurvatureOperator(
        _engine.data_set_operator(
            batches,
            lambda k: batch_of(losses(k), asked),
            kind,
            groups=groups,
            on_batch=on_batch,
            folder="" if folder is None else os.fspath(folder),
            keep_every=keep_every,
        )
    )


def averaged_blocks(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    kind: CurvatureKind = "ggn",
    *,
    average: BatchAverage = "products",
    parameter_average: Optional[BatchAverage] = None,
    pch_order: PchOrder = "average_first",
) -> List[Tuple[str, Optional[LinearOperator]]]:
    """Hessian backpropagation with batch averages: one explicit block for each parameter, by name.

    ``average`` is that of the Jacobians by an op's inputs, ``parameter_average`` of those by its parameters, the same
    if it is left out. ``pch_order`` says whether the two PCH kinds drop or turn what is negative in the batch average
    or in every sample. A parameter that the losses do not depend on has None.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.eye(3)).square().sum(1)
    >>> blocks = dict(averaged_blocks(losses, model, parameter_average="jacobians"))
    >>> blocks["weight"].shape
    (6, 6)
    """
    blocks = _engine.averaged_blocks(
        batch_of(losses, parameters),
        kind=kind,
        average=average,
        parameter_average=parameter_average,
        pch_order=pch_order,
    )
    return [(name, None if block is None else LinearOperator(block)) for name, block in blocks]


def ggn_factor(
    losses: LossesLike,
    parameters: Optional[ParametersLike] = None,
    *,
    columns: LossColumns = "exact",
    mc_samples: int = 1,
    seed: int = 0,
) -> Dict[str, Tensor]:
    """The symmetric factor V of the GGN, [K, N, *shape] for each parameter, by name.

    GGN = (1/N) sum over k and n of V[k][n] V[k][n]ᵀ, over all parameters flattened and concatenated; with ``sampled``
    columns in the mean over the draws. As large as K N gradients: `Vivit` answers what needs inner products alone.

    >>> model = torch.nn.Linear(3, 1, bias=False)
    >>> factor = ggn_factor(model(torch.eye(3)).square().flatten(), model)["weight"].flatten(2)
    >>> ggn = torch.einsum("kni,knj->ij", factor, factor) / 3
    >>> torch.allclose(ggn, 2 / 3 * torch.eye(3))
    True
    """
    return dict(_engine.ggn_factor(batch_of(losses, parameters), columns=columns, mc_samples=mc_samples, seed=seed))


def noise_damping(gammas: Tensor, lambdas: Tensor, *, damping: float = 0, caution: float = 1) -> Tensor:
    """A damping for each direction that grows with what the samples disagree about.

    ``gammas`` [N, count] are slopes and ``lambdas`` [N_ggn, count] curvatures of the samples along the directions, as
    `Vivit` has them. ``damping`` is added everywhere, and so are ``caution`` standard errors of the curvature.

    >>> noise_damping(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0], [2.0]])).tolist()
    [0.5]
    """
    return _engine.noise_damping(gammas, lambdas, damping=damping, caution=caution)


class Vivit(_engine.Vivit):
    """The low-rank structure of the GGN: eigenvalues, eigenvectors, and every sample's slope and curvature.

    Eigenvalues descend. ``groups`` of parameters (by position) have a GGN each. Directions are a number of leading
    ones, a list of positions, a function of the eigenvalue, or `Directions`, which knows intervals too.

    >>> model = torch.nn.Linear(3, 2)
    >>> loss = torch.nn.functional.cross_entropy
    >>> losses = loss(model(torch.eye(3)), torch.tensor([0, 1, 0]), reduction="none")
    >>> vivit = Vivit(losses, model)
    >>> vivit.rank() == len(vivit.eigenvalues())
    True
    >>> [part.shape for part in vivit.newton_step(torch.tensor([1.0]))]
    [torch.Size([2, 3]), torch.Size([2])]
    >>> sharp = vivit.gammas(lambda eigenvalue: eigenvalue > 0.05)
    >>> sharp.shape == vivit.lambdas(Directions.within(0.05, 10.0)).shape
    True
    >>> vivit.inverse(0.1).shape  # (G + 0.1 I)^-1
    (8, 8)
    """

    def __init__(
        self,
        losses: LossesLike,
        parameters: Optional[ParametersLike] = None,
        *,
        columns: LossColumns = "exact",
        mc_samples: int = 1,
        seed: int = 0,
        gradient_samples: Sequence[int] = (),
        groups: Sequence[Sequence[int]] = (),
        gradients: bool = True,
        rank_tolerance: float = -1,
    ) -> None:
        super().__init__(
            batch_of(losses, parameters),
            columns=columns,
            mc_samples=mc_samples,
            seed=seed,
            gradient_samples=gradient_samples,
            groups=groups,
            gradients=gradients,
            rank_tolerance=rank_tolerance,
        )

    def inverse(self, damping: float, group: int = 0) -> LinearOperator:  # type: ignore[override]
        """(G + damping I)^-1 over the group's parameters, times any vectors at the price of the low rank.

        A preconditioner for `conjugate_gradients`, too.
        """
        return LinearOperator(super().inverse(damping, group))
