# SPDX-License-Identifier: MIT
"""Cockpits over several processes, under DistributedDataParallel on Gloo."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import flightdeck
import page_blocks
import pytest
import torch
from page_blocks import ROOT, snippets

HERE = Path(__file__).parent
MODES = ["plain", "buckets", "no_sync", "static", "single", "unused", "uneven", "weighted", "hook", "attached", "group",
         "failing", "join"]  # fmt: skip


def start(script: str, folder: Path, size: int, *words: str) -> "List[subprocess.Popen[str]]":
    return [
        subprocess.Popen(
            [sys.executable, str(HERE / script), str(folder / "store"), str(rank), str(size), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(size)
    ]


def run_processes(folder: Path, size: int, mode: str, script: str = "ranks_process.py") -> str:
    """What rank 0 prints; all have to end well."""
    processes = start(script, folder, size, mode)
    texts = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * size, "\n".join(texts)
    return texts[0]


def expect_no_difference(text: str) -> None:
    assert "\n0 differences" in "\n" + text, text


@pytest.mark.parametrize("mode", MODES)
def test_ddp_sees_what_one_process_with_all_samples_sees(tmp_path: Path, mode: str) -> None:
    expect_no_difference(run_processes(tmp_path, 2, mode))


@pytest.mark.skipif(not hasattr(torch.amp, "GradScaler"), reason="before PyTorch 2.3 scalers want CUDA")
def test_a_loss_scale_is_no_part_of_any_value(tmp_path: Path) -> None:
    expect_no_difference(run_processes(tmp_path, 2, "scaled"))


@pytest.mark.parametrize("mode", ["uneven", "static", "failing", "join"])
def test_four_ranks_see_it_too(tmp_path: Path, mode: str) -> None:
    expect_no_difference(run_processes(tmp_path, 4, mode))


@pytest.mark.parametrize("size", [2, 4])
def test_a_killed_rank_leaves_the_others_training_and_told_once(tmp_path: Path, size: int) -> None:
    processes = start("ranks_lost_process.py", tmp_path, size)
    texts = [process.communicate(timeout=120)[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [0] * (size - 1) + [-signal.SIGKILL], "\n".join(texts)
    for text in texts[:-1]:
        assert "4 steps, told 1 times" in text


def test_operators_of_ranks_together_are_that_of_all_samples(tmp_path: Path) -> None:
    processes = start("ranks_operator_process.py", tmp_path, 2)
    for process in processes:
        text = process.communicate(timeout=120)[0]
        assert process.returncode == 0 and "the same products" in text, text


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return str(one.getsockname()[1])


def torchrun_words() -> List[str]:
    """PyTorch 1.13 under Python 3.11, as Debian 12 has them, knows no way to leave its processes' output alone."""
    from torch.distributed.elastic.multiprocessing.api import Std

    return [] if Std.from_str("0") is not None else ["--redirects=1", "--tee=1"]


def torchrun(folder: Path, size: int, steps: int, killed_at: int = -1) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={size}",
         "--max_restarts=0", *torchrun_words(), str(HERE / "elastic_process.py"), str(folder), str(steps), str(killed_at)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )  # fmt: skip


@pytest.mark.parametrize("then", [1, 3])
def test_a_run_that_torchrun_starts_again_has_no_gaps(tmp_path: Path, then: int) -> None:
    """The checkpoint is of step 4; what was recorded of later steps is forgotten, and recorded again."""
    killed = torchrun(tmp_path, 2, steps=10, killed_at=5)
    assert killed.returncode != 0 and re.search(r"exitcode *: -9", killed.stdout), killed.stdout
    again = torchrun(tmp_path, then, steps=10)
    assert again.returncode == 0, again.stdout
    run = flightdeck.read_run(tmp_path / "run")
    steps, samples = run["rank_loss@rank 0"].steps, run["rank_samples@rank 0"].values
    assert list(steps) == list(range(10))
    assert list(samples) == [4.0] * 10
    for rank in range(1, 3):
        name = f"rank_samples@rank {rank}"
        where = list(run[name].steps) if name in run else []
        before, after = (list(range(4)) if rank < 2 else []), (list(range(4, 10)) if rank < then else [])
        assert where == before + after, (rank, where)
    assert list(run["loss"].steps) == list(range(10))


def test_ranks_without_a_process_group_are_refused_with_a_remedy() -> None:
    with pytest.raises(RuntimeError, match=r"init_process_group\(\)"):
        flightdeck.Cockpit(torch.nn.Linear(2, 1), "economy", ranks=True)


AROUND_THE_PAGE = """
import torch
import flightdeck

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(3)]
%s
if torch.distributed.get_rank() == 0:
    read = flightdeck.read_run("runs/first")
    assert list(read["rank_samples@rank 1"].values) == [8.0, 8.0, 8.0], read.names
torch.distributed.destroy_process_group()
"""


def page_code(language: str, stand_ins: Dict[str, str]) -> str:
    (blocks,) = snippets.run_by(ROOT, __file__).values()
    return "".join(snippets.replaced(block, stand_ins) for block in blocks if block.language == language)


def test_the_loop_of_the_page_sees_both_ranks(tmp_path: Path) -> None:
    page_blocks.run_processes(AROUND_THE_PAGE % page_code("python", {'"nccl"': '"gloo"'}), tmp_path, 2)


# As many processes as there are tasks, with the words that Slurm gives them.
SRUN = r"""
tasks=${1#--ntasks=}
shift
for rank in $(seq 0 $((tasks - 1))); do
  SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NTASKS=$tasks "$@" &
  started="$started $!"
done
for one in $started; do wait "$one" || exit 1; done
"""
TRAINS = """
import os
import flightdeck
import torch


def train():
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    with flightdeck.Cockpit(model, ["loss"], ranks=True, keep=None) as cockpit:
        losses = model(torch.randn(4, 3)).square().sum(1)
        with cockpit.watch(0, losses):
            losses.mean().backward()
        return [name for name in cockpit.readings[0] if name.startswith("rank_samples@")]


torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
ranks = train()
if torch.distributed.get_rank() == 0:
    print(f"{len(ranks)} ranks, local rank {os.environ['LOCAL_RANK']}")
torch.distributed.destroy_process_group()
"""


OUTLIVES_ITS_GROUPS = """
import atexit
import pathlib


@atexit.register  # before flightdeck, so it runs after what flightdeck has registered
def tell_threads():
    print("threads:", sorted(path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")))


import flightdeck
import torch

torch.distributed.init_process_group("gloo", init_method="file://%s/store", rank=0, world_size=1)
model = torch.nn.Linear(3, 2)
cockpit = flightdeck.Cockpit(model, ["loss"], ranks=True, keep=None)
losses = model(torch.randn(4, 3)).square().sum(1)
with cockpit.watch(0, losses):
    losses.mean().backward()
torch.distributed.destroy_process_group()
"""


def test_a_cockpit_that_is_never_closed_keeps_no_threads_of_gloo(tmp_path: Path) -> None:
    """Those that are there when the interpreter ends may abort the process."""
    text = page_blocks.run_program(OUTLIVES_ITS_GROUPS % tmp_path, tmp_path)
    assert "threads: ['" in text and "gloo" not in text, text


def test_torchrun_and_srun_start_it_as_the_page_says(tmp_path: Path) -> None:
    train = tmp_path / "train.py"
    train.write_text(TRAINS, encoding="utf-8")
    shorter = {"nproc_per_node=4": "nproc_per_node=3", "ntasks=8": "ntasks=2", "train.py": str(train), "29500": free_port()}
    python = f'exec "{sys.executable}"'
    stand_ins = {
        "torchrun": f'{python} -m torch.distributed.run --standalone {" ".join(torchrun_words())} "$@"',
        "python": f'{python} "$@"',
        "scontrol": "echo 127.0.0.1; echo another",
        "srun": SRUN,
    }
    code = page_code("sh", shorter)
    text = page_blocks.run_shell(code, tmp_path, stand_ins, SLURM_JOB_NODELIST="here", **page_blocks.paths())
    assert "3 ranks, local rank 0" in text and "2 ranks, local rank 0" in text, text
