#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A command of a tool that is loaded already is as one that is started: loaded_tool_test.py <path of flightdeck>"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import loaded_tool

FLIGHTDECK = os.path.abspath(sys.argv.pop(1))
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
ENDLESS = [FLIGHTDECK, "run", "quadratic_deep", "--steps", "100000000", "--evaluate-every", "0", "--preset", "none",
           "--json", "--out"]


class LoadedTool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def both(self, *arguments, **options):
        """The same command as a fork and as a process of its own."""
        command = [FLIGHTDECK, *map(str, arguments)]
        return (loaded_tool.run(command, capture_output=True, text=True, check=False, **options),
                subprocess.run(command, capture_output=True, text=True, check=False, **options))

    def test_has_status_output_and_errors_of_its_own(self):
        for arguments in (["--version"], ["shwo"], ["show", "nowhere"], ["list", "problems", "--json"], []):
            fork, process = self.both(*arguments, cwd=self.folder)
            self.assertEqual((fork.returncode, fork.stdout, fork.stderr),
                             (process.returncode, process.stdout, process.stderr), arguments)

    def test_has_its_folder_environment_and_words(self):
        for name in ("fork", "process"):
            (self.folder / name).mkdir()
        for started, name in ((loaded_tool.run, "fork"), (subprocess.run, "process")):
            done = started([FLIGHTDECK, "run", "quadratic_deep", "--steps", "2", "--tag", "a b='c'", "--threads", "1",
                            "--preset", "none", "--out", "here"], cwd=self.folder / name, capture_output=True, text=True, check=True,
                           env={**os.environ, "NO_COLOR": "1"})
            self.assertEqual(done.stderr, "")
        fork, process = (json.loads(loaded_tool.run([FLIGHTDECK, "show", self.folder / name / "here", "--json"],
                                                    capture_output=True, text=True, check=True).stdout)
                         for name in ("fork", "process"))
        self.assertEqual(fork["command"], process["command"])
        self.assertIn("--steps 2", fork["command"])
        self.assertEqual([(series["name"], series["last"]) for series in fork["series"] if series["name"] != "time"],
                         [(series["name"], series["last"]) for series in process["series"] if series["name"] != "time"])

    def test_takes_long_words_and_reads_what_it_is_given(self):
        fork, process = self.both("note", "nowhere", "x" * 100_000, cwd=self.folder)
        self.assertEqual((fork.returncode, fork.stderr), (process.returncode, process.stderr))
        done = loaded_tool.run([FLIGHTDECK, "run", "quadratic_deep", "--steps", "1", "--preset", "none", "--out", "run"],
                               cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        fork, process = self.both("delete", "run", cwd=self.folder, input="no\n")
        self.assertEqual((fork.returncode, fork.stdout), (process.returncode, process.stdout))
        self.assertTrue((self.folder / "run/run.sqlite").exists())

    def test_is_reached_by_signals(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            process = loaded_tool.Popen([*ENDLESS, self.folder / str(status)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(json.loads(process.stdout.readline())["event"], "start")
            self.assertIsNone(process.poll())
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(100), status)
            process.stdout.close()
            self.assertFalse(pathlib.Path(f"/proc/{process.pid}").exists())

    def test_two_at_once_have_files_of_their_own(self):
        processes = [loaded_tool.Popen([FLIGHTDECK, "list", kind], stdout=subprocess.PIPE, text=True)
                     for kind in ("problems", "optimizers")]
        said = [process.communicate(timeout=100)[0] for process in processes]
        self.assertIn("mnist_mlp", said[0])
        self.assertIn("adam", said[1])
        self.assertNotIn("mnist_mlp", said[1])

    def test_one_that_hangs_is_given_up(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            loaded_tool.run([*ENDLESS, self.folder / "run"], capture_output=True, text=True, timeout=0.5)


if __name__ == "__main__":
    unittest.main()
