# SPDX-License-Identifier: MIT
"""What ``help`` says of the compiled classes. Doctest runs the examples."""

from __future__ import annotations

from typing import Dict

from . import _engine

CLASSES: Dict[str, str] = {
    "Bins": """Places of a histogram: `count` equal ones from `low` to `high`. What lies beyond is counted apart.

    >>> bins = flightdeck.Bins(-1, 1, 50)
    >>> bins.count
    50
    """,
    "ChordView": """Both ends of an update, for a quantity with `after_next`: each number is a pair of the step before the update
    and the step after it. `slope` is the derivative of the loss along the update, `length` the length of the update.
    """,
    "Coverage": """How the individual gradients of every parameter are obtained; `text()` is a table for people.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(4, 3)).square().sum(1)
    >>> [each.level for each in flightdeck.coverage(losses, model).parameters]
    ['exact-fast', 'exact-fast']
    """,
    "Curvature": """What `curvature` answers: indexed by a parameter's name, or `total` over all of them.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(4, 3)).square().sum(1)
    >>> answers = flightdeck.curvature(losses, model, "diag_ggn")
    >>> answers["weight"].diag_ggn.shape
    torch.Size([2, 3])
    """,
    "CurvatureBatch": """The samples that a quantity's curvature is of: the first `samples` (0: all), `mc_samples` would-be gradients for
    each where it is sampled, and at most `max_columns` columns before the exact way gives way to the sampled one.
    """,
    "DataSetProgress": """How far a product over a whole data set is: batch `batches` of `of`, in product number `product`.""",
    "Diagnosis": """What is wrong with a run: a `verdict` ("healthy", "fault", "cannot_tell"), one `sentence`, ranked `causes` with what
    speaks for and against them, and what to `track` to be told more.
    """,
    "Directions": """Which eigenvectors of the GGN are meant: by number, position, interval or any condition.

    >>> flightdeck.Directions.within(0.5, 2).positions(torch.tensor([3.0, 1.0, 0.6, 0.1]))
    [1, 2]
    """,
    "DueSteps": """The steps at which a quantity is computed.

    >>> due = flightdeck.DueSteps.every(10, 3)
    >>> 13 in due, 14 in due
    (True, False)
    """,
    "Eigenpairs": """Eigenvalues, the leading one first, and their eigenvectors [count, dim], with the residual of each and how many
    `products` they took.
    """,
    "Evidence": """A lamp that speaks for or against a cause, lit or tellingly dark, with its weight and where it shows.""",
    "Finding": """What a lit lamp says: step, symptom, evidence, likely cause, advice.

    >>> finding = flightdeck.Finding("The loss grows", "It began at 1 and is 5 at step 20", step=20)
    >>> finding.step
    20
    """,
    "Gradients": """What `gradients` answers: indexed by a parameter's name, or `total` over all of them.

    >>> model = torch.nn.Linear(3, 2)
    >>> losses = model(torch.ones(4, 3)).square().sum(1)
    >>> flightdeck.gradients(losses, model, "norms")["bias"].norms.shape
    torch.Size([4])
    """,
    "JointBins": """Places of a histogram over two numbers at once: an entry of a gradient and the parameter it belongs to.""",
    "KroneckerFactors": """The two factors of an approximate block, output (J x J) and input (I x I); of a bias there is no input.

    >>> factors = flightdeck.KroneckerFactors(torch.eye(2), torch.eye(3))
    >>> flightdeck.kronecker_operator(factors).shape
    (6, 6)
    """,
    "Lamp": """A check of a record that lights by itself: its name, what it reads and how grave its findings are.""",
    "LampView": """The run as a lamp of one's own sees it: readers of its series, its notes and how it stands.""",
    "Layout": """Where the samples of a batch sit inside a tensor, for rules of one's own: in which dimension, or not at all.

    >>> flightdeck.Layout.batch(4, 0).N
    4
    """,
    "MemoryLimits": """Upper bounds, in bytes, of what our passes keep beside the training.

    >>> flightdeck.MemoryLimits(scratch_bytes=1 << 20).scratch_bytes
    1048576
    """,
    "MemorySink": """Keeps the readings of a cockpit in memory instead of a folder.

    >>> model, sink = torch.nn.Linear(3, 2), flightdeck.MemorySink()
    >>> with flightdeck.Cockpit(model, ["loss"], sinks=[sink]) as cockpit:
    ...     losses = model(torch.ones(4, 3)).square().sum(1)
    ...     with cockpit.watch(0, losses):
    ...         losses.mean().backward()
    >>> len(sink.steps)
    1
    """,
    "Note": """A text in a record: a remark, a quantity that was switched off, steps that could not be stored.""",
    "OpNode": """One op of the graph as a rule of one's own sees it: its name, shapes and `grad_fn`.""",
    "ParameterCurvature": """Curvature of one parameter: only what was asked for has a value.""",
    "ParameterGradients": """Answers about the individual gradients of one parameter: only what was asked for has a value. Individual
    gradients are those of the losses of single samples, without a factor 1/N.
    """,
    "Quantity": """Something to track: a name, when it is due, what it needs and how it is computed. One of one's own:

    >>> temperament = flightdeck.Quantity(
    ...     "temperament", lambda step: float(step.losses.std() / step.losses.mean()), summary="How much losses differ.")
    >>> temperament.every(5).due.text
    'every 5'
    """,
    "RankedCause": """A cause that may be wrong with a run: its probability, what speaks for and against it, and what to change.""",
    "Reading": """One number, list or histogram of a quantity at one step.""",
    "Recorder": """A sink that writes a run into a folder, as `record_to` of a cockpit makes one.""",
    "RowFactors": """What a rule of one's own gives a parameter: individual gradients in factors, never written out.

    >>> factors = flightdeck.RowFactors.outer(torch.ones(4, 1, 3), torch.ones(4, 1, 2))
    """,
    "RunDifference": """Where two runs differ: their settings, series that only one has, and the values of the first step that differs.""",
    "RunInfo": """What a record says of its run as a whole: configuration, parameters, quantities, versions, host.""",
    "RunReader": """Reads a record, also while it is written. `read_run` gives arrays and pictures of it.

    >>> [series.quantity for series in flightdeck.RunReader(str(recorded)).series()][:2]
    ['loss', 'grad_norm']
    """,
    "SeriesInfo": """The readings of one quantity, field and group over the steps: how many, from where to where.""",
    "SpectrumNeed": """That a quantity needs eigenpairs of a curvature matrix: which one, how many, how exact.""",
    "StepNeeds": """What a quantity needs of a step, all kinds together; `Quantity` takes names of answers for the plain ones.""",
    "StepReadings": """All that was read at one step.""",
    "StepView": """One watched step, as a quantity sees it: losses, parameters, answers and curvature that it asked for.""",
    "StepWatch": """Covers one step from the end of the forward pass to the end of `backward()`, in a ``with`` statement.""",
    "UpdateView": """An update of the parameters, for a quantity with `after_update`.""",
    "Value": """What a quantity gives for one step: numbers, lists and histograms by field, or none with the reason.

    >>> value = flightdeck.Value(2.0).with_numbers("half", 1.0)
    """,
    "VivitNeed": """That a quantity needs the low-rank structure of the GGN.""",
}

__test__ = CLASSES


def describe() -> None:
    """Tells the compiled classes what they are."""
    for name, text in CLASSES.items():
        getattr(_engine, name).__doc__ = text
