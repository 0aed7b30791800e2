# SPDX-License-Identifier: MIT
"""Reading, plotting and showing recorded runs."""

from __future__ import annotations

import html
import re
import urllib.request
from pathlib import Path
from typing import Dict, List, Tuple

import numpy
import pytest
import torch

import flightdeck

STEPS = 12
ROOT = Path(__file__).parents[2]


def record(folder: Path, quantities: "str | List[str]", steps: int = STEPS) -> flightdeck.Cockpit:
    """A small training; the cockpit keeps all its readings."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3), torch.nn.Sigmoid())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cockpit = flightdeck.Cockpit(
        model, quantities, record_to=folder, groups="module", keep=None, config={"batch_size": 8, "optimizer": "sgd"}
    )
    for step in range(steps):
        optimizer.zero_grad()
        losses = torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.arange(8) % 3, reduction="none")
        with cockpit.watch(step, losses, optimizer):
            losses.mean().backward()
        optimizer.step()
        cockpit.log(step, learning_rate=0.1, batch_accuracy=0.5, temperament=step / 2)
    cockpit.log(steps - 1, {"train_loss": 1.0, "train_accuracy": 0.5, "odd/name": 3.0})
    cockpit.finish()
    return cockpit


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Tuple[Path, flightdeck.Cockpit]:
    folder = tmp_path_factory.mktemp("runs") / "all"
    return folder, record(folder, [quantity.name for quantity in flightdeck.all_quantities()])


def test_arrays_are_what_the_cockpit_measured(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    folder, cockpit = everything
    run = flightdeck.read_run(folder)
    compared = 0
    for name in run.names:
        if not all(isinstance(values.get(name, 0.0), float) for values in cockpit.readings.values()):
            continue
        steps, values = run[name]
        expected: Dict[int, object] = {s: got[name] for s, got in cockpit.readings.items() if name in got}
        assert dict(zip(steps.tolist(), values.tolist())) == pytest.approx(expected, rel=0, nan_ok=True)
        compared += 1
    assert compared > 30


def test_histograms_and_lists_are_arrays(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    folder, cockpit = everything
    run = flightdeck.read_run(folder)
    every = run.histograms("grad_hist_2d")
    assert [histogram.step for histogram in every] == list(range(STEPS))
    assert every[0].counts.shape == (40, 50)
    assert [edges.size for edges in every[0].edges] == [41, 51]
    early = run.histogram("grad_hist_1d", step=3)
    recorded = cockpit.readings[3]["grad_hist_1d"]
    assert early is not None and isinstance(recorded, flightdeck.Reading)
    assert early.step == 3 and early.counts.tolist() == recorded.counts
    assert run.histogram("grad_hist_1d", step=-5) is None
    eigenvalues = run.list_at("ggn_spectrum/eigenvalues")
    assert eigenvalues is not None and (numpy.diff(eigenvalues.values) <= 0).all()


def test_a_name_that_is_not_there_says_what_is(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    run = flightdeck.read_run(everything[0])
    with pytest.raises(KeyError, match="no number series 'los'; there are: loss, .*activation_scale"):
        run["los"]
    with pytest.raises(KeyError, match="no histogram series 'loss'"):
        run.histogram("loss")
    assert run["odd/name"].values.tolist() == [3.0]
    assert "loss" in run and "los" not in run


def test_no_run_is_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        flightdeck.read_run(tmp_path / "nothing")


def test_frames_have_a_row_for_each_step(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    pytest.importorskip("pandas")
    run = flightdeck.read_run(everything[0])
    frame = run.frame()
    assert frame.index.name == "step" and len(frame) == STEPS
    assert frame["train_loss"].isna().sum() == STEPS - 1
    assert not any("@" in column for column in frame)
    numpy.testing.assert_array_equal(frame["loss"].to_numpy(), run["loss"].values)
    assert set(run.frame("grad_norm", groups=True)) == {"grad_norm", "grad_norm@0", "grad_norm@2"}
    with pytest.raises(KeyError, match="nonsense"):
        run.frame(["loss", "nonsense"])


def test_findings_and_notes(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 1)
    with flightdeck.Cockpit(model, ["loss"], record_to=tmp_path / "run", on_warning=lambda _: None) as cockpit:
        for step in range(4):
            losses = model(torch.ones(3, 2)).square().sum(1) * (float("nan") if step else 1.0)
            with cockpit.watch(step, losses):
                losses.mean().backward()
    found = flightdeck.read_run(tmp_path / "run").findings
    assert found and found[0].severity == "failure" and found[0].step == 1


# ---- pictures ----


#: Where the page has the papers' cockpit. What else it shows, it shows alone, unless it has a plot here, too.
COCKPIT = {"step_size", "gradients", "curvature", "performance", "hyperparameters"}


def test_instruments_are_those_of_the_page() -> None:
    folder = ROOT / "web" / "src" / "instruments"
    if not folder.is_dir():
        pytest.skip("the page is not here")
    page = {}
    for file in folder.glob("[a-z]*.ts"):
        text = file.read_text()
        fields = {word: re.search(rf"\b{word}: '?([^',]+)'?,", text) for word in ("id", "title", "place", "order")}
        found = {word: match.group(1) for word, match in fields.items() if match}
        page[found["id"]] = (found["title"], found["place"], int(found["order"]))
    ours = {each.name: (each.title, each.place, each.order) for each in flightdeck.plots.INSTRUMENTS}
    assert ours == {name: facts for name, facts in page.items() if name in ours}
    assert {name for name, (_, place, _) in page.items() if place in COCKPIT} <= set(ours)
    files = Path(flightdeck.plots.__file__).parent.glob("[a-z]*.py")
    assert {file.stem for file in files} == set(ours)


def test_every_instrument_draws(everything: Tuple[Path, flightdeck.Cockpit], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run = flightdeck.read_run(everything[0])
    for instrument in flightdeck.plots.INSTRUMENTS:
        axes = instrument(run)
        assert axes.get_title(loc="left") == instrument.title
        axes.figure.savefig(tmp_path / f"{instrument.name}.png")
        assert (tmp_path / f"{instrument.name}.png").stat().st_size > 5000


def test_an_instrument_without_values_says_so(tmp_path: Path) -> None:
    record(tmp_path / "run", ["loss"], steps=1)
    run = flightdeck.read_run(tmp_path / "run")
    with pytest.raises(LookupError, match="alpha: nothing that it shows was recorded; the run has .*loss"):
        flightdeck.plots.alpha(run)


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_the_cockpit_is_saved(everything: Tuple[Path, flightdeck.Cockpit], tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    run = flightdeck.read_run(everything[0])
    figure = run.plot(save_to=tmp_path / f"cockpit.{ending}")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    for title in ["Alpha", "Gradient tests", "Extreme eigenvalues", "Losses"]:
        assert title in titles
    assert "temperament" not in titles
    assert (tmp_path / f"cockpit.{ending}").stat().st_size > 20000


def test_what_no_instrument_reads_is_shown_too(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    pytest.importorskip("matplotlib")
    run = flightdeck.read_run(everything[0])
    titles = [axes.get_title(loc="left") for axes in run.plot(["temperament", "losses"], step=3).axes]
    assert titles == ["temperament", "Losses"]
    with pytest.raises(ValueError, match="no instrument 'alhpa'; there are .*alpha"):
        run.plot(["alhpa"])


@pytest.mark.parametrize("steps", [0, 1])
def test_short_runs_are_drawn(tmp_path: Path, steps: int) -> None:
    pytest.importorskip("matplotlib")
    record(tmp_path / "run", "full", steps=1)
    flightdeck.read_run(tmp_path / "run").plot(more=True, step=steps - 1).canvas.draw()


def test_values_that_are_no_numbers_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    bad = [float("nan"), float("inf"), -float("inf"), 0.0]
    with flightdeck.Cockpit(torch.nn.Linear(1, 1), ["loss"], record_to=tmp_path / "run") as cockpit:
        for step, value in enumerate(bad):
            cockpit.log(step, {name: value for name in ("train_loss", "learning_rate", "train_accuracy", "other")})
    flightdeck.read_run(tmp_path / "run").plot(more=True).canvas.draw()


def test_long_runs_keep_their_peaks() -> None:
    from flightdeck.plots._statistics import reduced

    values = numpy.zeros(100_000)
    values[54_321] = 7.0
    points, low, high = reduced(flightdeck.Points(numpy.arange(values.size), values), 500)
    assert points.steps.size == 500 and points.steps[-1] == values.size - 1
    assert high.max() == 7.0 and low.min() == 0.0


# ---- notebooks ----


def test_a_notebook_shows_the_report(everything: Tuple[Path, flightdeck.Cockpit], tmp_path: Path) -> None:
    run = flightdeck.read_run(everything[0])
    page = run.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    style = page[: page.index("</style>")]  # the values after it have the time of writing
    shown = run._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    inside = re.search(r'srcdoc="([^"]*)"', shown)
    assert inside and html.unescape(inside.group(1)).startswith(style)


def test_a_notebook_shows_the_live_page_while_a_server_runs(everything: Tuple[Path, flightdeck.Cockpit]) -> None:
    run = flightdeck.read_run(everything[0])
    with flightdeck.serve(everything[0].parent) as server:
        assert f'src="{server.address}#/run/all/cockpit"' in run._repr_html_()
        with urllib.request.urlopen(server.address) as answer:
            assert answer.headers["X-Frame-Options"] is None
            assert "frame-ancestors http://localhost:*" in answer.headers["Content-Security-Policy"]
        asked = urllib.request.Request(server.address, headers={
            "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe",
        })
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
    assert "srcdoc=" in run._repr_html_()
