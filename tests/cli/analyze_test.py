#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flightdeck analyze, from outside.

Usage: analyze_test.py FLIGHTDECK WRITE_MADE_UP
"""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import loaded_tool

FLIGHTDECK, WRITE_MADE_UP = sys.argv[1:3]


class Analyze(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        subprocess.run([WRITE_MADE_UP, cls.folder / "made", "3", "2", "5", "26", "2"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.lines = cls.folder / "made" / "outcomes.jsonl"
        # The same as a study's folder, one run a folder.
        for number, line in enumerate(cls.lines.read_text().splitlines()):
            run = cls.folder / "study" / "runs" / f"{number:05}"
            run.mkdir(parents=True)
            (run / "outcome.json").write_text(line + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def call(self, *arguments):
        return loaded_tool.run([FLIGHTDECK, "analyze", *map(str, arguments)], check=False,
                               capture_output=True, text=True)

    def succeed(self, *arguments):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fail_with(self, code, words, *arguments):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_writes_all_formats_into_the_study(self):
        out = self.succeed(self.folder / "study", "--no-baselines")
        self.assertIn("Who wins where", out)
        self.assertIn("index.html", out)
        for name in ("index.html", "performance.csv", "analysis.tex"):
            self.assertTrue((self.folder / "study" / "analysis" / name).exists(), name)

    def test_measures_by_the_training_loss_if_asked(self):
        self.succeed(self.lines, "--metric", "train_loss", "--no-baselines", "--format", "csv",
                     "--out", self.folder / "train_loss")
        with open(self.folder / "train_loss" / "performance.csv", encoding="utf-8") as file:
            measures = {row["measure"] for row in csv.DictReader(file)}
        self.assertEqual(measures, {"train loss"})

    def test_keeps_studies_apart_if_asked(self):
        again = self.folder / "again.jsonl"
        again.write_text(self.lines.read_text())
        out = self.folder / "apart"
        self.succeed(self.lines, again, "--apart", "--curves", "median", "--no-baselines", "--out", out)
        with open(out / "retuning.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["study"] for row in rows}, {str(self.lines), str(again)})
        self.assertEqual({float(row["shift"]) for row in rows}, {0.0})
        self.assertIn("Median over seeds", (out / "index.html").read_text(encoding="utf-8"))
        self.fail_with(2, ["--apart", "two studies"], self.lines, "--apart")

    def test_tells_programs_the_same_of_a_folder_and_of_a_file(self):
        one = json.loads(self.succeed(self.folder / "study", "--json", "--no-baselines", "--out",
                                      self.folder / "one", "--format", "csv"))
        two = json.loads(self.succeed("--format", "csv", self.lines, "--json", "--no-baselines",
                                      "--out", self.folder / "two"))
        self.assertEqual(one["performance"], two["performance"])
        self.assertEqual(one["problems"], ["quadratic_deep", "mnist_vae"])
        self.assertEqual(one["baseline_runs"], 0)
        self.assertFalse((self.folder / "one" / "index.html").exists())

    def test_packs_outcomes_that_say_the_same(self):
        packed = self.folder / "packed.jsonl"
        whole = json.loads(self.succeed(self.lines, "--json", "--pack", packed, "--format", "csv",
                                        "--out", self.folder / "three", "--no-baselines"))
        small = json.loads(self.succeed(packed, "--json", "--format", "csv", "--no-baselines",
                                        "--out", self.folder / "four"))
        self.assertEqual(whole["runs"], small["runs"])
        for row, same in zip(whole["performance"], small["performance"]):
            self.assertEqual(row["sample"], same["sample"])
            self.assertAlmostEqual(row["mean"] / same["mean"], 1, places=4)

    def test_takes_targets_and_parts(self):
        told = json.loads(self.succeed(self.lines, "--json", "--target", "quadratic_deep=99.5",
                                       "--metric", "valid", "--out", self.folder / "five"))
        targets = {row["problem"]: row for row in told["targets"]}
        self.assertEqual(targets["quadratic_deep"]["target"], 99.5)
        self.assertEqual(targets["quadratic_deep"]["origin"], "given")
        self.assertEqual(targets["mnist_vae"]["origin"], "derived")
        self.assertEqual(told["performance"][0]["measure"], "valid loss")

    def test_refuses_what_does_not_exist(self):
        self.fail_with(2, ["quadratic_deep"], self.lines, "--target", "quadratic_dep=1")
        self.fail_with(2, ["PROBLEM=VALUE"], self.lines, "--target", "quadratic_deep=x")
        self.fail_with(2, ["did you mean 'html'"], self.lines, "--format", "htm")
        self.fail_with(2, ["did you mean 'test'"], self.lines, "--metric", "tets")
        self.fail_with(2, ["there is no"], self.folder / "nowhere")
        empty = self.folder / "empty"
        empty.mkdir()
        self.fail_with(1, ["has an outcome"], empty)
        interrupted = self.folder / "interrupted.jsonl"
        outcome = json.loads(self.lines.read_text().splitlines()[0])
        interrupted.write_text(json.dumps(dict(outcome, ending="interrupted")) + "\n")
        self.fail_with(1, ["interrupted", "resume"], interrupted)

    def test_goes_on_without_what_it_cannot_read(self):
        broken = self.folder / "broken.jsonl"
        broken.write_text(self.lines.read_text() + "{\"format\": 1}\n")
        told = json.loads(self.succeed(broken, "--json", "--out", self.folder / "six"))
        self.assertTrue(any("broken.jsonl" in text for text in told["warnings"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
