# SPDX-License-Identifier: MIT
"""The command ``flightdeck``: the tool of the C++ library, with the entries that Python added."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from typing import List, Optional

from . import _engine


def _program() -> Optional[str]:
    """The executable that starts the tool: `tune` starts it for every run."""
    for path in (sys.argv[0], os.path.join(sysconfig.get_path("scripts"), "flightdeck")):
        if os.path.basename(path) == "flightdeck" and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    return None


def main(words: Optional[List[str]] = None) -> int:
    """Runs one command and returns its exit status."""
    # The tool heeds signals itself; Python would wait for it to return.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    arguments = sys.argv[1:] if words is None else words
    return _engine.tool_main(["flightdeck", *arguments], _program() if words is None else None)
