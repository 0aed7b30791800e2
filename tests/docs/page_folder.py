# SPDX-License-Identifier: MIT
"""The scratch folder of a page, where its blocks run as they would for a reader who has installed the tool."""

import os
import shutil
import signal
import subprocess

PATIENCE_S = 240  # for one block


class Failed(Exception):
    pass


class PageFolder:
    """An empty folder with a home of its own, and the built `flightdeck` on the PATH."""

    def __init__(self, folder, flightdeck, repository):
        self.folder, self.flightdeck, self.repository = folder, flightdeck, repository
        self.home = folder / "home"
        self.environment = dict(
            os.environ, HOME=str(self.home), OMP_WAIT_POLICY="PASSIVE", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
            PATH=f"{flightdeck.parent}:{os.environ['PATH']}")
        shutil.rmtree(folder, ignore_errors=True)
        self.home.mkdir(parents=True)

    def sources(self):
        """The source folder as the page sees it: whatever the build under test is called, it is `build` there."""
        folder = self.folder / "sources"
        if not folder.exists():
            folder.mkdir()
            for path in self.repository.iterdir():
                if path.name != "build":
                    (folder / path.name).symlink_to(path)
            (folder / "build").symlink_to(self.flightdeck.parent.resolve())
        return folder

    def execute(self, block, command, folder=None):
        """Returns what the command of a block prints."""
        try:
            done = subprocess.run(command, cwd=folder or self.folder, env=self.environment, timeout=PATIENCE_S,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8", errors="replace")
        except subprocess.TimeoutExpired:
            raise Failed(f"{block.place}: takes longer than {PATIENCE_S} s") from None
        if done.returncode != 0:
            raise Failed(f"{block.place}: exit status {done.returncode}\n{done.stdout[-4000:]}")
        return done.stdout

    def interrupt(self, block, command, meanwhile=lambda line: None):
        """Runs what goes on for ever until it has printed a line and `meanwhile` has looked at it, then presses Ctrl-C."""
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, encoding="utf-8")
        try:
            output = process.stdout.readline()
            meanwhile(output)
            os.killpg(process.pid, signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            raise Failed(f"{block.place}: Ctrl-C does not end it") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        output += rest
        if process.returncode not in (0, 130, -signal.SIGINT):
            raise Failed(f"{block.place}: exit status {process.returncode}\n{output}")
        return output
