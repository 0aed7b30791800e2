# SPDX-License-Identifier: MIT
"""Cockpits of models under fully_shard, and what is refused of models in pieces."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, Iterator

import flightdeck
import page_blocks
import pytest
import torch
from page_blocks import ROOT, snippets
from test_ranks import expect_no_difference, run_processes

pytestmark = pytest.mark.skipif(
    tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 6),
    reason="fully_shard is in torch.distributed.fsdp since PyTorch 2.6",
)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[None]:
    """A group of this process alone."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    gc.collect()  # modules under fully_shard refer to themselves
    dist.destroy_process_group()


def make_net() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)).double()


@pytest.mark.parametrize("mode", ["resharded", "kept", "accumulated"])
def test_fully_shard_trains_to_the_bit_and_sees_what_one_process_sees(tmp_path: Path, mode: str) -> None:
    expect_no_difference(run_processes(tmp_path, 2, mode, "fsdp_process.py"))


def test_pairs_of_processes_that_share_pieces_see_what_one_process_sees(tmp_path: Path) -> None:
    """HSDP: two pairs, each with the whole model."""
    expect_no_difference(run_processes(tmp_path, 4, "hybrid", "fsdp_process.py"))


def test_parameters_that_are_not_trained_are_left_out(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 2, "frozen", "fsdp_process.py"))


@pytest.mark.parametrize("size", [2, 4])
def test_mixed_precision_sees_what_one_process_in_its_passes_type_sees(tmp_path: Path, size: int) -> None:
    expect_no_difference(run_processes(tmp_path, size, "mixed", "fsdp_process.py"))


def test_norms_do_not_wait_for_gradients_that_fully_shard_takes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLIGHTDECK_ISA", "gpu_reference")
    expect_no_difference(run_processes(tmp_path, 2, "as_gpu", "fsdp_process.py"))


def test_gradients_of_a_module_under_fully_shard_need_what_it_keeps(alone: None) -> None:
    from torch.distributed.fsdp import fully_shard

    inputs = torch.randn(5, 4).double()
    net = make_net()
    expected = flightdeck.gradients(net(inputs).square().sum(1), net, "individual")
    kept: Any = make_net()
    freed: Any = make_net()
    for model, keeps in ((kept, False), (freed, True)):
        fully_shard(model[0], reshard_after_forward=keeps)
        fully_shard(model, reshard_after_forward=keeps)
    actual = flightdeck.gradients(kept(inputs).square().sum(1), kept, "individual")
    for ours, theirs in zip(actual, expected):
        torch.testing.assert_close(ours.individual, theirs.individual)
    with pytest.raises(NotImplementedError, match=r"freed '[02]\.\w+'.*reshard_after_forward=False"):
        flightdeck.gradients(freed(inputs).square().sum(1), freed, "individual")
    with pytest.raises(NotImplementedError, match=r"freed '[02]\.\w+'.*reshard_after_forward=False"):
        losses = freed(inputs).square().sum(1)
        operator = flightdeck.curvature_operator(losses, freed)
        operator @ torch.ones(operator.shape[0], dtype=torch.double)


def test_a_batch_of_one_sample_says_which_parameter_is_freed_and_trains_on(alone: None) -> None:
    from torch.distributed.fsdp import fully_shard

    model: Any = make_net()
    fully_shard(model[0])
    fully_shard(model)
    cockpit = flightdeck.Cockpit(model, ["loss", "norm_test"], on_warning=lambda text: None)
    losses = model(torch.randn(1, 4).double()).square().sum(1)
    with cockpit.watch(0, losses):
        losses.mean().backward()
    assert "has freed '0." in cockpit.notes[0].text  # the last part is kept until the backward pass
    assert model[0].weight.grad is not None
    assert list(cockpit.readings[0]) == ["loss"]


def test_values_of_pieces_are_refused_to_quantities_of_ones_own(alone: None) -> None:
    from torch.distributed.fsdp import fully_shard

    model: Any = fully_shard(make_net())
    reads = flightdeck.Quantity("reads", lambda step: step.parameters[0][1].sum(), needs="mean")
    cockpit = flightdeck.Cockpit(model, [reads, "grad_norm"], on_warning=lambda text: None)
    losses = model(torch.randn(5, 4).double()).square().sum(1)
    with cockpit.watch(0, losses):
        losses.mean().backward()
    assert "keeps a piece of '0.weight'" in cockpit.notes[0].text
    assert "grad_norm" in cockpit.readings[0]
    with pytest.raises(NotImplementedError, match="'distance'.*keeps a piece"):
        flightdeck.Cockpit(model, ["distance"], strict=True)


def test_tensor_parallelism_is_refused_by_name(alone: None) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (1,))
    net: Any = make_net()
    net[0].weight = torch.nn.Parameter(distribute_tensor(net[0].weight.detach(), mesh, [Shard(0)]))
    for source in (net, dict(net.named_parameters()), list(net.named_parameters())):
        with pytest.raises(NotImplementedError, match="'0.weight' is a DTensor.*Shard"):
            flightdeck.Cockpit(source, "economy")
    with pytest.raises(NotImplementedError, match="'0' is a DTensor"):
        flightdeck.named_parameters(list(net.parameters()))
    both: Any = make_net()
    grid = init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "tensor"))
    both[0].weight = torch.nn.Parameter(distribute_tensor(both[0].weight.detach(), grid["tensor"], [Shard(0)]))
    fully_shard(both, mesh=grid["data"])
    with pytest.raises(NotImplementedError, match="'0.weight' is gathered as a DTensor.*tensor parallelism"):
        flightdeck.Cockpit(both, "economy")


def test_flat_parameters_are_refused_by_name(alone: None) -> None:
    from torch.distributed.fsdp import FullyShardedDataParallel

    net = make_net()
    net[0] = FullyShardedDataParallel(net[0], device_id=torch.device("cpu"))
    with pytest.raises(NotImplementedError, match="'0' is a FullyShardedDataParallel.*fully_shard"):
        flightdeck.Cockpit(net, "economy")


AROUND_THE_PAGE = """
import flightdeck
import torch
from torch.distributed.fsdp import fully_shard

torch.distributed.init_process_group("gloo")
torch.manual_seed(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(3))

    def forward(self, inputs):
        for block in self.blocks:
            inputs = torch.tanh(block(inputs))
        return inputs

model = Net()
%s
for step in range(3):
    optimizer.zero_grad()
    losses = model(torch.randn(8, 6)).square().sum(1)
    with cockpit.watch(step, losses, optimizer):
        losses.mean().backward()
    optimizer.step()
cockpit.finish()
if torch.distributed.get_rank() == 0:
    assert len(flightdeck.read_run("runs/sharded")["grad_norm"].steps) == 3
torch.distributed.barrier()
torch.distributed.destroy_process_group()
"""


def test_the_lines_of_the_page_record_a_run(tmp_path: Path) -> None:
    (blocks,) = snippets.run_by(ROOT, __file__).values()
    page_blocks.run_processes(AROUND_THE_PAGE % "".join(block.code for block in blocks), tmp_path, 2)
