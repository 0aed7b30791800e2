#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Folders of strangers through the built tool: bad_files_test.py <path of flightdeck>

Every call ends by itself, and names what is wrong; the others are served.
"""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
# Far more than a call takes; what waits for ever is ended by it.
PATIENCE = 60
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "


def flightdeck(*arguments):
    done = loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, timeout=PATIENCE,
                           check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class BadFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.sound = pathlib.Path(cls.kept.name) / "sound"
        code, out, err = flightdeck("run", "quadratic_deep", "--steps", 3, "--interval", 1, "--quantity",
                                    "grad_hist_1d:bins=7", "--out", cls.sound, "--json")
        assert code == 0, out + err

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copy(self, name, *statements):
        """A copy of the sound run whose database was changed."""
        run = self.folder / name
        shutil.copytree(self.sound, run)
        database = sqlite3.connect(run / "run.sqlite")
        for statement in statements:
            database.execute(*statement) if isinstance(statement, tuple) else database.execute(statement)
        database.commit()
        database.close()
        return run

    def expect_refusal(self, word, *arguments):
        code, out, err = flightdeck(*arguments)
        self.assertIn(code, (1, 2), out + err)
        self.assertIn(word, err)

    def test_show_refuses_histograms_whose_counts_do_not_fit(self):
        axis = struct.pack("<dd", 0, 1)
        # 1 x 1 bins and 200 000 counts; 3 x 0 bins and 3 counts.
        many = b"\x02" + axis + b"\x01" + axis + b"\x01" + b"\0\0\0" + b"\xc0\x9a\x0c\0\xc0\x9a\x0c"
        none = b"\x02" + axis + b"\x03" + axis + b"\0" + b"\0\0\0" + b"\x03\0\x03"
        for name, blob in (("many", many), ("none", none)):
            run = self.copy(name, ("UPDATE histograms SET value = ?", (blob,)))
            self.expect_refusal("damaged", "show", run)

    def test_show_refuses_what_is_no_plain_file_or_table(self):
        for name in ("run.sqlite", "lock", "journal.0", "run.sqlite-wal"):
            run = self.copy("fifo_" + name)
            (run / name).unlink(missing_ok=True)
            os.mkfifo(run / name)
            self.expect_refusal("is a FIFO", "show", run)
        run = self.copy("view", "DROP TABLE meta",
                        f"CREATE VIEW meta AS {ENDLESS} i AS key, i AS value FROM n")
        self.expect_refusal("'meta' of the database is no table", "show", run)

    def test_show_prints_escapes_as_text(self):
        title = "\x1b]0;owned\x07\x9b31m"
        run = self.copy("escapes", ("UPDATE series SET quantity = ? WHERE id = 1", (title,)),
                        ("UPDATE meta SET value = ? WHERE key = 'command'", (title,)),
                        ("UPDATE config SET value = ?", (title,)),
                        ("INSERT INTO notes VALUES (99, 1, 1.0, 'remark', ?, ?)", (title, title)))
        for arguments in (("show", run), ("show", run, "--json")):
            code, out, err = flightdeck(*arguments)
            self.assertEqual(code, 0, err)
            commands = [c for c in out if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
            self.assertEqual(commands, [], out)
            self.assertIn("1b]0;owned", out)

    def test_serve_lists_the_others_and_ends_when_interrupted(self):
        self.copy("sound")
        for name in ("lock", "run.sqlite-wal"):
            run = self.copy("fifo_" + name)
            os.mkfifo(run / name)
        self.copy("view", "DROP TABLE series",
                  f"CREATE VIEW series AS {ENDLESS} i AS id, 'q' AS quantity, '' AS field, '' AS "
                  "group_name, 'number' AS kind, 1 AS count, 1 AS first_step, 1 AS last_step FROM n")
        process = loaded_tool.Popen([FLIGHTDECK, "serve", str(self.folder), "--json"],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        address = json.loads(process.stdout.readline())["address"]
        status = {}
        while len(status) < 4:
            with urllib.request.urlopen(address + "api/v1/runs", timeout=PATIENCE) as answer:
                status = {run["id"]: run["status"] for run in json.load(answer)["runs"]}
        self.assertEqual(status["sound"], "finished")
        self.assertEqual({status[name] for name in ("fifo_lock", "fifo_run.sqlite-wal", "view")},
                         {"unreadable"})
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)


if __name__ == "__main__":
    unittest.main()
