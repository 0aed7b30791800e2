# SPDX-License-Identifier: MIT
"""What tests of commands share: the built tool, whose path is the first argument of their program, and a folder."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
# Spares the second start, in which the tool gives itself a better environment.
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
QUADRATIC = ["quadratic_deep"]
MLP = ["mnist_mlp", "--synthetic", "--limit", "64", "--batch-size", "32"]


def flightdeck(*arguments, environment=None):
    """Runs the tool; returns exit status, standard output and standard error."""
    done = loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           timeout=100, env={**os.environ, **(environment or {})}, check=False)
    return done.returncode, done.stdout, done.stderr


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect_success(self, *arguments, **options):
        code, out, err = flightdeck(*arguments, **options)
        self.assertEqual(code, 0, f"flightdeck {arguments}: {err}{out}")
        return out

    def expect_failure(self, code, words, *arguments):
        got, out, err = flightdeck(*arguments)
        self.assertEqual(got, code, f"flightdeck {arguments}: {err}{out}")
        for word in words:
            self.assertIn(word, err)

    def train(self, *arguments):
        """Trains into a new folder; returns it and the events."""
        run = self.folder / "run"
        out = self.expect_success("run", *arguments, "--out", run, "--json")
        return run, [json.loads(line) for line in out.splitlines()]
