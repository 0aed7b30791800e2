# SPDX-License-Identifier: MIT
"""gloo_group.py LIBRARY STORE RANK SIZE WHAT [FOLDER]: makes a group of Gloo's and lets a C++ library train with it.

pip's LibTorch has Gloo inside and no headers of it, so that a C++ program cannot make such a group. It finds one that Python
has made by its name.
"""

import ctypes
import datetime
import os
import sys

import torch.distributed as dist

library, store, rank, size, what, *folder = sys.argv[1:]
dist.init_process_group(
    "gloo",
    init_method=f"file://{store}",
    rank=int(rank),
    world_size=int(size),
    timeout=datetime.timedelta(seconds=60),
)
# All are here once this one is made, however long an import takes: its timeout is that of a collective alone.
loses_one = what in ("gone", "killed", "data_set_killed")
group = dist.new_group(timeout=datetime.timedelta(seconds=2 if loses_one else 60))
program = ctypes.CDLL(library)
words = [word.encode() for word in (group.group_name, what, folder[0] if folder else "")]
status = program.flightdeck_run_rank(*words)
sys.stderr.flush()
os._exit(status)  # groups of a process that is gone wait when they end
