#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of an analysis: tables against a second, plain computation from the outcomes; the page
parsed as HTML and its figures as XML; the LaTeX document compiled if asked.

Usage: analysis_files_test.py WRITE_MADE_UP [--latex PDFLATEX]
"""

import csv
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

PROGRAM = sys.argv[1]
PDFLATEX = sys.argv[3] if len(sys.argv) > 3 else None
VOID = {"meta", "link", "br", "img", "hr", "input"}


def made_up(folder, *numbers):
    subprocess.run([PROGRAM, folder, *map(str, numbers)], check=True, stdout=subprocess.DEVNULL)


def rows(folder, name):
    with open(Path(folder) / (name + ".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Balance(HTMLParser):
    """Collects tags that are not closed, links and sources."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.addresses, self.tags, self.ids = [], [], [], set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "action", "poster", "srcset"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        made_up(cls.folder, 10, 4, 8, 55, 3)
        with open(cls.folder / "outcomes.jsonl", encoding="utf-8") as lines:
            cls.outcomes = [json.loads(line) for line in lines]
        cls.page = (cls.folder / "index.html").read_text(encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def scores(self, outcome, part):
        """All epochs of the problem's measure, and whether it is an accuracy."""
        curve = outcome[part]
        values = curve.get("accuracy") or curve["loss"]
        filled = [v if v is not None else values[0] for v in values]
        missing = outcome["epochs"] + 1 - len(filled)
        return filled + [values[0]] * missing, "accuracy" in curve

    def samples(self, sample, budget):
        kind, _, number = sample.partition("-")
        if budget == "one_shot":
            return kind == "default"
        if kind == "refined":
            return budget == "large"
        limits = {"small": 25, "medium": 50, "large": 10**9}
        return kind == "random" and int(number) < limits[budget]

    def chosen(self, problem, optimizer, schedule, budget):
        """Outcomes of the setting with the best last validation score on seed 42."""
        groups = defaultdict(list)
        for o in self.outcomes:
            if (o["problem"], o["optimizer"], o["schedule"]) == (problem, optimizer, schedule):
                if self.samples(o["tags"]["sample"], budget):
                    groups[o["tags"]["sample"]].append(o)
        def rank(sample):
            first = next(o for o in groups[sample] if o["seed"] == 42)
            values, is_accuracy = self.scores(first, "valid")
            return (first["ending"] == "diverged", -values[-1] if is_accuracy else values[-1])
        return groups[min(groups, key=rank)]

    def test_performance_and_speed_are_those_of_a_plain_computation(self):
        speeds = {(r["problem"], r["optimizer"], r["schedule"], r["budget"]): r
                  for r in rows(self.folder, "speed") if r["baseline"] == "0"}
        checked = 0
        for row in rows(self.folder, "performance"):
            if row["baseline"] == "1":
                continue
            key = (row["problem"], row["optimizer"], row["schedule"], row["budget"])
            seeds = self.chosen(*key)
            finals, epochs = [], []
            for outcome in seeds:
                values, is_accuracy = self.scores(outcome, "test")
                finals.append(values[outcome["reported_epoch"]])
                target = float(speeds[key]["target"])
                reached = [k for k, v in enumerate(values)
                           if (v >= target if is_accuracy else v <= target)]
                epochs.append(reached[0] if reached else outcome["epochs"] + 1)
            self.assertTrue(math.isclose(float(row["mean"]), statistics.fmean(finals), rel_tol=1e-12))
            self.assertTrue(math.isclose(float(row["std"]), statistics.pstdev(finals),
                                         rel_tol=1e-6, abs_tol=1e-12))
            self.assertEqual(int(row["seeds"]), len(seeds))
            self.assertTrue(math.isclose(float(speeds[key]["epochs_mean"]), statistics.fmean(epochs)))
            steps = seeds[0]["steps_per_epoch"]
            self.assertTrue(math.isclose(float(speeds[key]["iterations_mean"]),
                                         statistics.fmean(epochs) * steps))
            checked += 1
        self.assertEqual(checked, 10 * 4 * 4 * 4)

    def test_improvement_and_gains_follow_from_the_performances(self):
        mean = {(r["problem"], r["optimizer"], r["schedule"], r["budget"]):
                (float(r["mean"]), "accuracy" in r["measure"])
                for r in rows(self.folder, "performance") if r["baseline"] == "0"}
        relative = defaultdict(list)
        for row in rows(self.folder, "improvement"):
            if "1" in (row["untuned_baseline"], row["tuned_baseline"]):
                continue
            pair = (row["untuned"], row["tuned"], row["budget"])
            if row["problem"] == "(mean)":
                self.assertTrue(math.isclose(float(row["relative"]),
                                             statistics.fmean(relative[pair]), rel_tol=1e-9,
                                             abs_tol=1e-12))
                continue
            before, is_accuracy = mean[row["problem"], row["untuned"], "constant", "one_shot"]
            after, _ = mean[row["problem"], row["tuned"], "constant", row["budget"]]
            gain = after - before if is_accuracy else before - after
            self.assertTrue(math.isclose(float(row["absolute"]), gain, rel_tol=1e-9, abs_tol=1e-12))
            relative[pair].append(gain / abs(before))
        self.assertEqual(len(relative), 10 * 10 * 3)
        for row in rows(self.folder, "gains"):
            if row["baseline"] == "1":
                continue
            after, is_accuracy = mean[row["problem"], row["optimizer"], row["schedule"], row["budget"]]
            before, _ = mean[row["problem"], row["optimizer"], "constant", "one_shot"]
            gain = (after - before if is_accuracy else before - after) / abs(before)
            self.assertTrue(math.isclose(float(row["over_one_shot"]), gain, rel_tol=1e-9,
                                         abs_tol=1e-12))

    def test_profile_scores_follow_from_the_factors(self):
        factors = defaultdict(list)
        for row in rows(self.folder, "profile"):
            factors[row["optimizer"], row["baseline"]].append(float(row["factor"]))
        for row in rows(self.folder, "profile_scores"):
            own = factors[row["optimizer"], row["baseline"]]
            score = sum(max(0, 4 - f) / 3 for f in own) / len(own)
            self.assertTrue(math.isclose(float(row["score"]), score, abs_tol=1e-12))

    def test_curves_have_mean_and_spread_of_every_epoch(self):
        some = [r for r in rows(self.folder, "learning_curves")
                if (r["problem"], r["optimizer"], r["baseline"]) == ("fmnist_2c2d", "adagrad", "0")]
        seeds = self.chosen("fmnist_2c2d", "adagrad", "constant", "large")
        for row in some:
            if (row["part"], row["measure"]) != ("test", "accuracy"):
                continue
            values = [self.scores(o, "test")[0][int(row["epoch"])] for o in seeds]
            self.assertTrue(math.isclose(float(row["mean"]), statistics.fmean(values)))
            self.assertTrue(math.isclose(float(row["std"]), statistics.pstdev(values), rel_tol=1e-6,
                                         abs_tol=1e-12))
        self.assertEqual(len(some), 9 * 6)

    def test_page_is_well_formed_and_stands_alone(self):
        balance = Balance()
        balance.feed(self.page)
        self.assertEqual((balance.open, balance.wrong), ([], []))
        self.assertEqual([a for a in balance.addresses if not a.startswith("#")], [])
        self.assertEqual(len(balance.ids), len(set(balance.ids)))
        for address in balance.addresses:
            self.assertIn(address[1:], balance.ids)
        self.assertNotIn("script", balance.tags)
        self.assertNotRegex(self.page, r"https?:|url\(|@import")
        self.assertIn("prefers-color-scheme: dark", self.page)
        self.assertIn('name="viewport"', self.page)

    def test_figures_are_xml_with_finite_coordinates(self):
        figures = re.findall(r"<svg class=\"(?:panel|heatmap)\".*?</svg>(?:</svg>)?(?=\n|</div>)",
                             self.page, re.S)
        self.assertGreater(len(figures), 4 * 3)
        for figure in figures:
            root = xml.fromstring(figure)
            self.assertIsNotNone(root.get("aria-label"))
            for element in root.iter():
                for value in element.attrib.values():
                    self.assertNotRegex(value, r"\b(nan|inf)\b")

    def test_every_table_and_figure_has_a_caption(self):
        parts = re.findall(r"<(?:div|details) id=.*?(?=<(?:div|details) id=|</section>)", self.page, re.S)
        self.assertGreater(len(parts), 10)
        for part in parts:
            self.assertIn('<p class="caption">', part)


class Latex(unittest.TestCase):
    def test_document_compiles_and_has_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            made_up(folder, 10, 3, 5, 27, 2)
            done = subprocess.run(
                [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "analysis.tex"],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            text = done.stdout.decode("utf-8", "replace")
            self.assertEqual(done.returncode, 0, text[-3000:])
            self.assertIn("Output written on analysis.pdf", text)
            self.assertNotIn("Too many unprocessed floats", text)
            self.assertNotRegex(text, r"(?m)^! ")


if __name__ == "__main__":
    suite = Latex if PDFLATEX else Files
    outcome = unittest.TextTestRunner(verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(suite))
    sys.exit(0 if outcome.wasSuccessful() else 1)
