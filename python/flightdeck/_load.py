# SPDX-License-Identifier: MIT
"""Loads the compiled part and refuses a PyTorch that it was not compiled against."""

from __future__ import annotations

import torch  # first: it loads LibTorch, which the compiled part finds in the process


def check_torch_version(compiled: str, imported: str) -> None:
    """Raises ImportError where the two versions differ before their second dot.

    >>> check_torch_version("2.13.0", "2.13.1+cpu")
    >>> check_torch_version("1.13.1", "2.13.0")
    Traceback (most recent call last):
    ...
    ImportError: flightdeck was compiled against PyTorch 1.13.1 but PyTorch 2.13.0 is imported; build it again \
for this one: pip install --force-reinstall --no-deps --no-build-isolation flightdeck
    """
    if compiled.split(".")[:2] != imported.split(".")[:2]:
        raise ImportError(
            f"flightdeck was compiled against PyTorch {compiled} but PyTorch {imported} is imported; build it "
            "again for this one: pip install --force-reinstall --no-deps --no-build-isolation flightdeck"
        )


def _compiled_for() -> str | None:
    """The version that the installed module was compiled against, known without loading it."""
    try:
        from . import _compiled_for as written
    except ImportError:
        return None
    return written.TORCH_VERSION


# Before the module is loaded: one of another version may fail in the linker, with a text for nobody.
if (_version := _compiled_for()) is not None:
    check_torch_version(_version, torch.__version__)

try:
    from . import _engine
except ImportError as error:
    raise ImportError(
        f"flightdeck: its compiled part cannot be loaded beside PyTorch {torch.__version__} ({error}); build it "
        "again: pip install --force-reinstall --no-deps --no-build-isolation flightdeck"
    ) from error

check_torch_version(_engine.torch_version, torch.__version__)
