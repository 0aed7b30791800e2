# SPDX-License-Identifier: MIT
"""The dashboard, served by this process: for notebooks, and for looking at a run while it trains."""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from types import TracebackType
from typing import Optional, Set, Type, Union
from urllib.parse import quote

from . import _engine


class Server:
    """The dashboard of all runs in a folder, until `stop`. Runs in notebooks show its page.

    It only reads, and answers programs of this machine alone unless ``host`` says otherwise; then it needs a
    ``token`` of at least 16 characters. Port 0 takes a free one.
    """

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]"] = "runs",
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
    ) -> None:
        self.folder = Path(folder).resolve()
        self._native: Optional[_engine.Server] = _engine.Server(
            str(self.folder), host=host, port=port, token=token
        )
        self.address = self._native.address
        _running.add(self)

    def stop(self) -> None:
        """Ends all connections; a second call does nothing."""
        native, self._native = self._native, None
        if native is not None:
            native.stop()
        _running.discard(self)

    def address_of(self, folder: Union[str, "os.PathLike[str]"]) -> Optional[str]:
        """The page of one run; None if it is not in the served folder."""
        try:
            run = Path(folder).resolve().relative_to(self.folder).as_posix()
        except ValueError:
            return None
        return f"{self.address}#/run/{quote(run, safe='')}/cockpit"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.address}" width="100%" height="800" style="border: 0" title="Flightdeck"></iframe>'

    def __repr__(self) -> str:
        return f"<Server {self.address} of {self.folder}{'' if self._native else ', stopped'}>"

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()


def serve(
    folder: Union[str, "os.PathLike[str]"] = "runs", *, host: str = "127.0.0.1", port: int = 0, token: str = ""
) -> Server:
    """Serves the dashboard of a folder of runs from this process; see `Server`.

    >>> with serve(recorded.parent) as server:
    ...     server.address_of(recorded)
    'http://127.0.0.1:.../#/run/first/cockpit'
    """
    return Server(folder, host=host, port=port, token=token)


_running: Set[Server] = set()


@atexit.register
def _stop_all() -> None:
    """While lamps of Python's can still be asked: a server that waits for one could not end."""
    for server in list(_running):
        server.stop()


def address_of(folder: Union[str, "os.PathLike[str]"]) -> Optional[str]:
    """The page of a run on a server of this process; None if there is none for it."""
    for server in _running:
        address = server.address_of(folder)
        if address is not None:
            return address
    return None
