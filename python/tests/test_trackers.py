# SPDX-License-Identifier: MIT
"""Sinks for trackers of experiments, read back by the trackers' own packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Dict, List

import numpy
import pytest
import torch
from page_blocks import ROOT, run_program, snippets

import flightdeck
from flightdeck.sinks import MlflowSink, Sink, TensorBoardSink, TrackioSink, WandbSink

STEPS = 5


def trained(*sinks: Sink) -> Dict[int, Dict[str, object]]:
    """A few steps under a cockpit; returns its readings."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warnings: List[str] = []
    quantities = ["loss", "grad_norm", "update_size", "grad_hist_1d"]
    with flightdeck.Cockpit(
        model, quantities, groups="parameter", sinks=sinks, on_warning=warnings.append, config={"optimizer": "sgd"}
    ) as cockpit:
        for step in range(STEPS):
            optimizer.zero_grad()
            losses = model(torch.randn(4, 3)).square().sum(1)
            with cockpit.watch(step, losses, optimizer):
                losses.mean().backward()
            optimizer.step()
    assert warnings == []
    return {step: dict(values) for step, values in cockpit.readings.items()}


def test_tensorboard_reads_scalars_and_histograms(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    readings = trained(TensorBoardSink(tmp_path))
    events = EventAccumulator(str(tmp_path), size_guidance={"histograms": 0})
    events.Reload()
    assert [event.step for event in events.Scalars("grad_norm/weight")] == list(range(STEPS))
    for event in events.Scalars("loss"):
        assert event.value == pytest.approx(readings[event.step]["loss"], rel=1e-6)
    # The update of a step is known at the next one; that of the last step never.
    assert [event.step for event in events.Scalars("update_size")] == list(range(STEPS - 1))
    recorded = readings[STEPS - 1]["grad_hist_1d"]
    assert isinstance(recorded, flightdeck.Reading)
    shown = events.Histograms("grad_hist_1d")[-1].histogram_value
    assert sum(shown.bucket) == sum(recorded.counts) + recorded.below + recorded.above


def test_wandb_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(project="flightdeck", mode="offline", dir=str(tmp_path))
    logged: List[Dict[str, object]] = []
    log = run.log
    monkeypatch.setattr(run, "log", lambda values: (logged.append(values), log(values)))
    readings = trained(WandbSink(run=run))
    losses = {entry["flightdeck/step"]: entry["flightdeck/loss"] for entry in logged if "flightdeck/loss" in entry}
    assert losses == {step: values["loss"] for step, values in readings.items()}
    updates = [entry["flightdeck/step"] for entry in logged if "flightdeck/update_size" in entry]
    assert updates == list(range(STEPS - 1))
    assert any(isinstance(entry.get("flightdeck/grad_hist_1d"), wandb.Histogram) for entry in logged)
    assert run.config["flightdeck"]["optimizer"] == "sgd"
    assert run.summary["flightdeck/ending"] == "finished"
    run.finish()
    assert list(tmp_path.rglob("*.wandb"))


def test_wandb_makes_and_ends_a_run_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    trained(WandbSink(project="flightdeck", mode="offline", dir=str(tmp_path)))
    assert wandb.run is None
    assert list(tmp_path.rglob("*.wandb"))


def test_trackio_keeps_numbers_and_settings(tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    # In a process of its own: the folder is chosen when the package is imported.
    import os
    import subprocess

    program = f"""
import json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_trackers import trained
from flightdeck.sinks import TrackioSink
readings = trained(TrackioSink("flightdeck", name="first", embed=False))
with open({str(tmp_path / "expected.json")!r}, "w") as file:
    json.dump([values["loss"] for _, values in sorted(readings.items())], file)
"""
    environment = {
        **os.environ, "TRACKIO_DIR": str(tmp_path), "HF_HUB_OFFLINE": "1", "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    expected = json.loads((tmp_path / "expected.json").read_text())
    read = """
import json
from trackio.sqlite_storage import SQLiteStorage
entries = SQLiteStorage.get_logs("flightdeck", "first")
print(json.dumps([[entry["step"], entry["flightdeck/loss"]] for entry in entries if "flightdeck/loss" in entry]))
print(json.dumps(SQLiteStorage.get_run_config("flightdeck", "first")))
"""
    found = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    losses, config = [json.loads(line) for line in found.stdout.splitlines()[-2:]]
    assert [step for step, _ in losses] == list(range(STEPS))
    numpy.testing.assert_allclose([loss for _, loss in losses], expected)
    assert config["optimizer"] == "sgd"


def test_mlflow_keeps_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    address = (tmp_path / "mlruns").as_uri()
    sink = MlflowSink("flightdeck", run_name="first", tracking_uri=address)
    readings = trained(sink)
    client = mlflow.MlflowClient(tracking_uri=address)
    history = client.get_metric_history(sink.run_id, "loss")
    assert {entry.step: entry.value for entry in history} == {s: values["loss"] for s, values in readings.items()}
    assert len(client.get_metric_history(sink.run_id, "grad_norm.bias")) == STEPS
    run = client.get_run(sink.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.tags["flightdeck.optimizer"] == "sgd"


@pytest.mark.parametrize(
    ("make", "package"),
    [
        (lambda: TensorBoardSink("logs"), "tensorboard"),
        (lambda: WandbSink(), "wandb"),
        (lambda: TrackioSink("project"), "trackio"),
        (lambda: MlflowSink(), "mlflow"),
    ],
)
def test_a_missing_package_is_named(make: object, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "torch.utils.tensorboard" if package == "tensorboard" else package
    monkeypatch.setitem(sys.modules, module, None)
    assert callable(make)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        make()


AROUND_THE_PAGE = """
import torch
import flightdeck

model = torch.nn.Linear(3, 2)
%s
for step in range(3):
    losses = model(torch.randn(4, 3)).square().sum(1)
    with cockpit.watch(step, losses):
        losses.mean().backward()
cockpit.finish()
"""


def test_the_sinks_of_the_page_all_get_the_readings(tmp_path: Path) -> None:
    for package in ("tensorboard", "wandb", "trackio", "mlflow"):
        pytest.importorskip(package)
    (blocks,) = snippets.run_by(ROOT, __file__).values()
    # mlflow-skinny, which the tests install, has no database.
    program = AROUND_THE_PAGE % "".join(snippets.replaced(block, {"sqlite:///mlflow.db": "mlruns"}) for block in blocks)
    text = run_program(
        program, tmp_path, TRACKIO_DIR=str(tmp_path / "trackio"), HF_HUB_OFFLINE="1", WANDB_SILENT="true",
        MLFLOW_ALLOW_FILE_STORE="true",
    )
    assert "is dropped" not in text, text
    for wanted in ("logs/first/events.*", "wandb/offline-run-*/*.wandb", "trackio/*mine*", "mlruns"):
        assert list(tmp_path.glob(wanted)), f"no {wanted}: {text}"
