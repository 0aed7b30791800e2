# SPDX-License-Identifier: MIT
"""Callbacks on the loops of other packages, with small models and nothing downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
import torch
from page_blocks import ROOT, run_program, snippets

import flightdeck

os.environ["HF_HUB_OFFLINE"] = "1"

N, BATCH = 24, 4


def samples() -> Tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    inputs = torch.randn(N, 5)
    return inputs, (inputs.sum(1) > 0).long()


def loader() -> Any:
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*samples()), batch_size=BATCH)


def network() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def plain_norms(steps: int) -> List[float]:
    """Gradient norms of the same training without any of them."""
    model, norms = network(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _, (inputs, targets) in zip(range(steps), loader()):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        norms.append(float(sum(p.grad.square().sum() for p in model.parameters() if p.grad is not None)) ** 0.5)
        optimizer.step()
    return norms


def check_norms(folder: Path, expected: List[float]) -> None:
    run = flightdeck.read_run(folder)
    assert run.status == "finished"
    steps, values = run["grad_norm"]
    assert steps.tolist() == list(range(len(expected)))
    assert values == pytest.approx(expected, rel=1e-5)


QUANTITIES = ["loss", "grad_norm", "norm_test", "update_size"]


@pytest.mark.parametrize("scale", [0.0, 1024.0])
def test_lightning(scale: float, tmp_path: Path) -> None:
    """With and without a scaler, whose factor is no part of the values; float32 throughout."""
    lightning = pytest.importorskip("lightning.pytorch")
    from flightdeck.integrations.lightning import FlightdeckCallback

    scalers: List[Any] = [torch.amp.GradScaler("cpu", init_scale=scale)] if scale else []
    mixed = lightning.plugins.MixedPrecision

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.network = network()

        def training_step(self, batch: Any, _: int) -> torch.Tensor:
            with torch.autocast("cpu", enabled=False):
                return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("val_loss", self.training_step(batch, 0))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    callback = FlightdeckCallback(QUANTITIES, record_to=tmp_path / "run", strict=True)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", callbacks=[callback], logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0, default_root_dir=tmp_path,
        plugins=[mixed("16-mixed", "cpu", scaler) for scaler in scalers],
    )
    trainer.fit(Module(), loader(), loader())
    check_norms(tmp_path / "run", plain_norms(N // BATCH))
    run = flightdeck.read_run(tmp_path / "run")
    assert "norm_test" in run and "valid_loss" in run and "learning_rate" in run
    assert ("grad_scale" in run) == bool(scalers)
    assert all("scale" not in vars(scaler) and run["grad_scale"].values[0] == scale for scaler in scalers)


def test_lightning_ends_a_run_that_fails(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    from flightdeck.integrations.lightning import FlightdeckCallback

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.network = network()

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            if index == 2:
                raise RuntimeError("out of ideas")
            return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    callback = FlightdeckCallback(["grad_norm"], record_to=tmp_path / "run")
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", callbacks=[callback], logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
    )
    with pytest.raises(RuntimeError, match="out of ideas"):
        trainer.fit(Module(), loader())
    run = flightdeck.read_run(tmp_path / "run")
    assert run.status == "failed"
    assert run["grad_norm"].steps.tolist() == [0, 1]


def test_hugging_face_trainer_with_accumulation(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from flightdeck.integrations.transformers import FlightdeckCallback

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=11, n_positions=8, n_embd=8, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
    )
    tokens = torch.randint(0, 11, (N, 8))
    data: List[Dict[str, torch.Tensor]] = [{"input_ids": row, "labels": row} for row in tokens]
    callback = FlightdeckCallback(QUANTITIES, record_to=tmp_path / "run")
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"), per_device_train_batch_size=BATCH, gradient_accumulation_steps=2, max_steps=3,
        logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=0,
    )
    trainer = transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config), args=arguments, train_dataset=data, callbacks=[callback]
    )
    trainer.train()
    run = flightdeck.read_run(tmp_path / "run")
    assert run.status == "finished"
    assert run["loss"].steps.tolist() == [0, 1, 2]
    assert run["norm_test"].steps.tolist() == [0, 1, 2], run.notes
    assert "learning_rate" in run
    # An untrained model guesses. The Trainer divides by the labels of both batches; the first has no prediction.
    guessing = torch.log(torch.tensor(11.0)).item()
    assert run["loss"].values[0] == pytest.approx(guessing * (BATCH * 7) / (2 * BATCH * 8), rel=0.02)


def test_accelerate(tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate")
    from flightdeck.integrations.accelerate import attach

    accelerator = accelerate.Accelerator(cpu=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, batches = accelerator.prepare(model, optimizer, loader())
    attachment = attach(accelerator, model, optimizer, QUANTITIES, record_to=tmp_path / "run", strict=True)
    assert attachment is not None
    for inputs, targets in batches:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), targets))
        optimizer.step()
    attachment.detach()
    attachment.cockpit.finish()
    check_norms(tmp_path / "run", plain_norms(N // BATCH))


def test_ignite(tmp_path: Path) -> None:
    engine = pytest.importorskip("ignite.engine")
    from flightdeck.integrations.ignite import attach

    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = engine.create_supervised_trainer(model, optimizer, torch.nn.functional.cross_entropy)
    attach(trainer, model, optimizer, QUANTITIES, record_to=tmp_path / "run", strict=True)
    trainer.run(loader(), max_epochs=1)
    check_norms(tmp_path / "run", plain_norms(N // BATCH))


class GeLUFunction(torch.autograd.Function):
    """The name of Bloom's activation, and another op: it mixes the entries of a sample."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x)
        return x.cumsum(1) * x.sum(0)

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        (x,) = ctx.saved_tensors
        along = (gradient * x.sum(0)).flip(1).cumsum(1).flip(1)
        return along + (gradient * x.cumsum(1)).sum(0)


@pytest.mark.parametrize("is_foreign", [False, True])
def test_the_rule_for_a_function_of_transformers_takes_no_other_function(is_foreign: bool) -> None:
    pytest.importorskip("transformers")
    from transformers.models.bloom.modeling_bloom import GeLUFunction as Activation

    import flightdeck.integrations.transformers  # noqa: F401  brings the rule

    function = GeLUFunction if is_foreign else Activation
    torch.manual_seed(0)
    weight = torch.randn(5, 5, dtype=torch.float64, requires_grad=True)
    losses = function.apply(torch.randn(4, 5, dtype=torch.float64) @ weight).square().sum(1)
    answers = flightdeck.gradients(losses, [weight], "individual")
    expected = torch.stack([torch.autograd.grad(loss, weight, retain_graph=True)[0] for loss in losses])
    assert float((answers["0"].individual - expected).abs().max()) <= 1e-10 * float(expected.abs().max())
    assert answers.coverage.parameters[0].level == ("exact-slow" if is_foreign else "exact-fast")


AROUND_THE_PAGE = """
import torch, flightdeck
from test_integrations import BATCH, loader, network

model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = torch.nn.functional.cross_entropy
"""
# For each package: what stands before its lines, what stands in them for the dots, and the training after them.
PAGE_LOOPS = {
    "lightning": ("""
import lightning.pytorch as lightning
class Module(lightning.LightningModule):
    def training_step(self, batch, _):
        return criterion(model(batch[0]), batch[1])
    def configure_optimizers(self):
        return optimizer
    def parameters(self, recurse=True):
        return model.parameters()
module = Module()
module.network = model
""", {"callbacks=": "accelerator='cpu', max_epochs=1, logger=False, enable_checkpointing=False, callbacks="},
"trainer.fit(module, loader())"),
    "transformers": ("""
import transformers
told = dict(
    model=transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=7, n_positions=4, n_embd=4, n_layer=1, n_head=2)),
    args=transformers.TrainingArguments(output_dir="out", max_steps=2, save_strategy="no", report_to=[], use_cpu=True),
    train_dataset=[{"input_ids": row, "labels": row} for row in torch.randint(0, 7, (16, 4))],
)
""", {"...": "**told"}, "trainer.train()"),
    "accelerate": ("""
import accelerate
accelerator = accelerate.Accelerator(cpu=True)
model, optimizer, batches = accelerator.prepare(model, optimizer, loader())
""", {}, """
for inputs, labels in batches:
    optimizer.zero_grad()
    accelerator.backward(criterion(model(inputs), labels))
    optimizer.step()
attachment.detach()
attachment.cockpit.finish()
"""),
    "ignite": ("""
import ignite.engine
engine = ignite.engine.create_supervised_trainer(model, optimizer, criterion)
""", {}, "engine.run(loader(), max_epochs=1)"),
}  # fmt: skip


@pytest.mark.parametrize("package", PAGE_LOOPS)
def test_the_lines_of_the_page_watch_the_loop(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    (blocks,) = snippets.run_by(ROOT, __file__).values()
    (lines,) = [part for part in blocks[0].code.split("\n\n") if f"integrations.{package} " in part]
    before, stand_ins, after = PAGE_LOOPS[package]
    for text, stand_in in stand_ins.items():
        assert text in lines, f"'{text}' is not on the page"
        lines = lines.replace(text, stand_in)
    ended = """
(folder,) = __import__("pathlib").Path("runs").iterdir()
run = flightdeck.read_run(folder)
assert run.status == "finished" and len(run["grad_norm"].steps) >= 2, (run.status, run.names)
"""
    run_program("\n".join([AROUND_THE_PAGE, before, lines, after, ended]), tmp_path)
