#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports as pictures and animations through the built tool: report_pictures_test.py <path of flightdeck>"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
os.environ["FLIGHTDECK_ENV_SET"] = "1"
SVG = "{http://www.w3.org/2000/svg}"

# Programs that say how they were called: what a converter and an encoder do is not ours to test.
CONVERTER = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -o ] && out="$2"; shift; done
cp "$1" "$out"
"""
ENCODER = """#!/bin/sh
for last; do :; done
folder=$(dirname "$7")
ls "$folder" | grep -c png > "$last"
"""


class ReportPictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        cls.run_folder = cls.folder / "run"
        done = loaded_tool.run([FLIGHTDECK, "run", "mnist_logreg", "--synthetic", "--steps", "8", "--interval", "1",
                                "--preset", "economy", "--out", cls.run_folder], capture_output=True, text=True,
                               timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        cls.tools = cls.folder / "tools"
        cls.tools.mkdir()
        for name in ("timeout", "sh", "cp", "ls", "grep", "dirname"):
            (cls.tools / name).symlink_to(shutil.which(name))

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def report(self, kind, path, *options):
        return loaded_tool.run([FLIGHTDECK, "report", self.run_folder, "--format", kind, "--json",
                                *options], capture_output=True, text=True, timeout=200, check=False,
                               env=dict(os.environ, PATH=str(path)))

    def put(self, name, text):
        program = self.tools / name
        program.write_text(text)
        program.chmod(0o755)
        self.addCleanup(program.unlink)

    def test_the_program_draws_every_series_itself(self):
        done = self.report("svg", self.tools)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["format"], answer["made_by"]), ("svg", "flightdeck"))
        drawing = pathlib.Path(answer["path"])
        self.assertEqual(drawing, self.run_folder / "report.svg")
        tree = ElementTree.parse(drawing)
        heads = [text.text for text in tree.iter(SVG + "text") if text.get("class") == "head"]
        self.assertEqual(heads[0], "run")
        self.assertIn("loss", heads)
        self.assertIn("grad_norm", heads)
        self.assertGreaterEqual(len(tree.findall(f".//{SVG}path[@class='line']")), 5)

    def test_a_drawing_says_the_diagnosis_below_its_title(self):
        told = loaded_tool.run([FLIGHTDECK, "diagnose", self.run_folder, "--json"], capture_output=True, text=True, check=True)
        self.assertEqual(self.report("svg", self.tools).returncode, 0)
        texts = ElementTree.parse(self.run_folder / "report.svg").iter(SVG + "text")
        said = " ".join(text.text for text in texts if text.get("class") == "name")
        self.assertIn(json.loads(told.stdout)["sentence"], said)

    def test_without_a_program_the_message_names_what_to_install(self):
        for kind, words in (("png", "install chromium or librsvg2-bin"), ("gif", "rsvg-convert (librsvg2-bin)")):
            done = self.report(kind, self.tools)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(words, done.stderr)

    def test_a_converter_stands_in_for_the_browser(self):
        self.put("rsvg-convert", CONVERTER)
        done = self.report("pdf", self.tools, "-o", self.folder / "mine.pdf")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["made_by"], "rsvg-convert")
        self.assertIn("<svg", (self.folder / "mine.pdf").read_text())

    def test_an_animation_has_forty_frames(self):
        self.put("rsvg-convert", CONVERTER)
        self.put("ffmpeg", ENCODER)
        done = self.report("gif", self.tools)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.run_folder / "report.gif").read_text().strip(), "40")

    def test_a_failing_program_is_quoted(self):
        self.put("rsvg-convert", "#!/bin/sh\necho no fonts >&2\nexit 4\n")
        done = self.report("png", self.tools)
        self.assertEqual(done.returncode, 1)
        self.assertIn("rsvg-convert ended with status 4: no fonts", done.stderr)

    def test_an_unknown_format_is_refused(self):
        self.assertEqual(self.report("bmp", self.tools).returncode, 2)


if __name__ == "__main__":
    unittest.main()
