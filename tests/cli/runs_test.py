#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists of runs, labels, renaming and deleting, through the built tool: runs_test.py <path of flightdeck>"""

import base64
import gzip
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
SMALL = ["quadratic_deep", "--steps", "4", "--preset", "none"]


def flightdeck(*arguments, answers="", **options):
    """Runs the tool; returns what it did."""
    return loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           input=answers, timeout=100, check=False, **options)


MADE = tempfile.TemporaryDirectory()


def setUpModule():
    """Records runs once: every test has a copy."""
    unittest.addModuleCleanup(MADE.cleanup)
    for name, more in (("a", ["--lr", "0.001"]), ("b", ["--lr", "0.002", "--seed", "7"]),
                       ("c", ["--optimizer", "adam"])):
        done = flightdeck("run", *SMALL, *more, "--out", pathlib.Path(MADE.name) / name)
        assert done.returncode == 0, done.stderr


class RunsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runs = self.folder / "runs"
        shutil.copytree(MADE.name, self.runs)

    def expect(self, code, *arguments, **options):
        done = flightdeck(*arguments, **options)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def names(self, *arguments):
        listed = json.loads(self.expect(0, "runs", self.runs, *arguments, "--json").stdout)
        return [run["name"] for run in listed["runs"]]


class Runs(RunsTest):
    def test_are_a_table_of_what_they_are_and_came_to(self):
        out = self.expect(0, "runs", self.runs).stdout
        head = out.splitlines()[0].split()
        self.assertEqual(head, ["name", "state", "problem", "optimizer", "steps", "train", "valid",
                                "test", "duration", "start"])
        for words in (["a", "finished", "quadratic_deep", "sgd", "4"], ["c", "finished"]):
            self.assertTrue(any(line.split()[:len(words)] == words for line in out.splitlines()), out)
        listed = json.loads(self.expect(0, "runs", self.runs, "--json").stdout)["runs"]
        outcome = json.loads((self.runs / "c/outcome.json").read_text())
        adam = next(run for run in listed if run["name"] == "c")
        self.assertEqual(adam["scores"]["test_loss"], outcome["test"]["loss"][-1])
        self.assertEqual((adam["optimizer"], adam["steps"], adam["path"]),
                         ("adam", 4, str((self.runs / "c").resolve())))

    def test_are_sorted_by_any_column(self):
        self.assertEqual(self.names(), ["c", "b", "a"])  # the newest first
        self.assertEqual(self.names("--sort", "name"), ["a", "b", "c"])
        self.assertEqual(self.names("--sort", "name", "--reverse"), ["c", "b", "a"])
        by_loss = json.loads(self.expect(0, "runs", self.runs, "--sort", "test_loss", "--json").stdout)
        losses = [run["scores"]["test_loss"] for run in by_loss["runs"]]
        self.assertEqual(losses, sorted(losses))
        err = self.expect(2, "runs", self.runs, "--sort", "sattes").stderr
        self.assertIn("there is no column 'sattes'", err)

    def test_are_shown_for_a_folder_too(self):
        self.assertEqual(self.expect(0, "show", self.runs).stdout,
                         self.expect(0, "runs", self.runs).stdout)
        self.assertEqual(self.expect(0, "show", self.runs, "--json").stdout,
                         self.expect(0, "runs", self.runs, "--json").stdout)
        (self.folder / "empty").mkdir()
        self.assertIn("holds no run", self.expect(2, "show", self.folder / "empty").stderr)
        self.assertIn("no runs in", self.expect(0, "runs", self.folder / "empty").stdout)
        self.assertIn("there is no folder", self.expect(2, "runs", self.folder / "none").stderr)

    def test_that_cannot_be_read_have_a_line_each_and_hide_no_others(self):
        for name in ("bad", "fifo", "odd\x1b[31m"):
            (self.runs / name).mkdir()
        (self.runs / "bad/run.sqlite").write_bytes(b"\0" * 5000)
        (self.runs / "fifo/run.sqlite").write_text("x")
        os.mkfifo(self.runs / "fifo/journal.0")
        (self.runs / "odd\x1b[31m/run.sqlite").write_text("x")
        os.symlink(self.runs / "a", self.runs / "link")
        out = self.expect(0, "runs", self.runs).stdout
        self.assertNotIn("\x1b", out)
        self.assertEqual(sum("unreadable" in line for line in out.splitlines()), 3, out)
        self.assertIn("fifo: ", out)
        self.assertEqual(sorted(self.names())[:3], ["a", "b", "bad"])
        self.assertNotIn("link", self.names())

    def test_of_one_folder_that_is_a_run_are_that_run(self):
        listed = json.loads(self.expect(0, "runs", self.runs / "a", "--json").stdout)["runs"]
        self.assertEqual([run["name"] for run in listed], ["a"])


class Labels(RunsTest):
    def test_are_added_shown_and_removed(self):
        run = self.runs / "a"
        out = self.expect(0, "tag", run, "baseline", "größe").stdout
        self.assertIn("baseline, größe", out)
        self.expect(0, "note", run, "learning", "rate\nis fine")
        self.expect(0, "tag", run, "größe", "--remove")
        shown = json.loads(self.expect(0, "show", run, "--json").stdout)
        self.assertEqual((shown["tags"], shown["note"]), (["baseline"], "learning rate\nis fine"))
        text = self.expect(0, "show", run).stdout
        self.assertIn("baseline", text)
        self.assertIn("is fine", text)
        self.assertEqual(self.names("--tag", "baseline"), ["a"])
        self.assertEqual(self.names("--tag", "baseline", "--tag", "other"), [])
        self.assertIn("baseline", self.expect(0, "tag", run).stdout)
        self.expect(0, "note", run, "--remove")
        self.expect(0, "tag", run, "baseline", "--remove")
        self.assertFalse((run / "labels.txt").exists())

    def test_that_will_not_do_are_refused_by_name(self):
        run = self.runs / "a"
        self.assertIn("'two words'", self.expect(2, "tag", run, "two words").stderr)
        self.assertIn("no tag 'missing'", self.expect(2, "tag", run, "missing", "--remove").stderr)
        self.assertIn("name them", self.expect(2, "tag", run, "--remove").stderr)
        self.assertIn("at most 2000", self.expect(2, "note", run, "x" * 2001).stderr)
        self.assertIn("holds no run", self.expect(2, "tag", self.folder / "none", "a").stderr)
        self.assertFalse((run / "labels.txt").exists())

    def test_that_are_damaged_hide_no_run(self):
        run = self.runs / "a"
        (run / "labels.txt").write_text("nonsense")
        self.assertEqual(self.names("--sort", "name"), ["a", "b", "c"])
        done = self.expect(0, "show", run)
        self.assertIn("labels.txt", done.stderr)
        self.assertIn("remove the file", self.expect(1, "tag", run, "word").stderr)

    def test_can_be_given_while_the_run_is_recorded(self):
        run = self.runs / "live"
        process = loaded_tool.Popen([FLIGHTDECK, "run", "quadratic_deep", "--steps", "100000000",
                                     "--evaluate-every", "0", "--json", "--out", str(run)],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        try:
            json.loads(process.stdout.readline())  # it has started
            self.expect(0, "tag", run, "live")
            self.expect(0, "archive", run)
            self.assertIn("is being recorded to", self.expect(2, "delete", run, "--yes").stderr)
            self.assertIn("is being recorded to", self.expect(2, "rename", run, "other").stderr)
            self.assertEqual(self.names("--archived", "--tag", "live"), ["live"])
        finally:
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            self.assertEqual(process.wait(60), 130)
        self.assertEqual(json.loads(self.expect(0, "show", run, "--json").stdout)["tags"], ["live"])

    def test_archived_runs_are_hidden_unless_asked_for(self):
        self.expect(0, "archive", self.runs / "a", self.runs / "b")
        self.assertEqual(self.names(), ["c"])
        self.assertIn("2 archived runs not shown", self.expect(0, "runs", self.runs).stdout)
        self.assertEqual(self.names("--archived", "--sort", "name"), ["a", "b", "c"])
        self.expect(0, "archive", self.runs / "a", "--undo")
        self.assertEqual(self.names("--sort", "name"), ["a", "c"])
        self.expect(2, "archive", self.runs / "c", self.runs / "none")
        self.assertEqual(self.names("--sort", "name"), ["a", "c"])

    def test_are_in_a_report(self):
        self.expect(0, "tag", self.runs / "a", "baseline")
        done = flightdeck("report", self.runs / "a")
        if "built without" in done.stderr:
            self.skipTest("this flightdeck has no page")
        self.assertEqual(done.returncode, 0, done.stderr)
        html = (self.runs / "a/report.html").read_text()
        packed = html.split('id="flightdeck-report"')[1].split(">", 1)[1].split("<")[0]
        report = json.loads(gzip.decompress(base64.b64decode(packed)))
        self.assertEqual(report["run"]["summary"]["tags"], ["baseline"])


class Renaming(RunsTest):
    def test_moves_the_folder_and_nothing_else(self):
        out = self.expect(0, "rename", self.runs / "a", "first one").stdout
        self.assertEqual(out.strip(), str((self.runs / "first one").resolve()))
        self.assertEqual(self.names("--sort", "name"), ["b", "c", "first one"])

    def test_takes_nobodys_place(self):
        for name in ("b", "../x", ".hidden", "", "line\nbreak", "\033[31mred", "x" * 300):
            self.expect(2, "rename", self.runs / "a", name)
        self.assertEqual(self.names("--sort", "name"), ["a", "b", "c"])


class Deleting(RunsTest):
    def test_asks_twice_and_takes_the_name_for_an_answer(self):
        for answers in ("", "n\n", "y\n", "y\nb\n", "\na\n"):
            done = self.expect(1, "delete", self.runs / "a", answers=answers)
            self.assertIn("was kept", done.stderr)
            self.assertIn("finished", done.stderr)
        self.assertEqual(self.names("--sort", "name"), ["a", "b", "c"])
        self.expect(0, "delete", self.runs / "a", answers="y\na\n")
        self.assertEqual(self.names("--sort", "name"), ["b", "c"])

    def test_asks_nothing_where_scripts_say_yes(self):
        out = self.expect(0, "delete", self.runs / "a", self.runs / "b", "--yes").stdout
        self.assertEqual(out.count("deleted"), 2)
        self.assertEqual(sorted(os.listdir(self.runs)), ["c"])

    def test_spares_files_that_the_run_did_not_make(self):
        (self.runs / "a/thesis.tex").write_text("text")
        done = self.expect(2, "delete", self.runs / "b", self.runs / "a", "--yes")
        self.assertIn("thesis.tex", done.stderr)
        self.assertIn("--force", done.stderr)
        self.assertEqual(self.names("--sort", "name"), ["a", "b", "c"])  # all or none
        self.expect(0, "delete", self.runs / "a", "--yes", "--force")
        self.assertEqual(self.names("--sort", "name"), ["b", "c"])

    def test_deletes_a_run_that_is_named_twice_once(self):
        done = self.expect(0, "delete", self.runs / "a", f"{self.runs}/../{self.runs.name}/a/", "--yes")
        self.assertEqual(done.stdout.count("deleted"), 1)

    def test_follows_no_link(self):
        os.symlink(self.runs / "a", self.folder / "link")
        self.assertIn("is a link", self.expect(2, "delete", self.folder / "link", "--yes").stderr)
        os.symlink(self.runs / "b", self.runs / "a/outcome.json.link")
        self.expect(0, "delete", self.runs / "a", "--yes", "--force")
        self.assertEqual(self.names("--sort", "name"), ["b", "c"])


class Endings(RunsTest):
    def test_name_the_next_commands_which_a_shell_takes(self):
        folder = self.folder / "with blanks 'and' quotes"
        folder.mkdir()
        out = self.expect(0, "run", *SMALL, "--json", "--out", "runs/x y", cwd=folder).stdout
        commands = json.loads(out.splitlines()[-1])["next"]
        run = str(folder / "runs/x y")
        self.assertEqual([shlex.split(command)[1:] for command in commands],
                         [["show", run], ["serve", str(folder / "runs")], ["report", run],
                          ["analyze", str(folder / "runs")]])
        shown = subprocess.run(commands[0], shell=True, capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        text = self.expect(0, "run", *SMALL, "--out", self.folder / "z").stdout
        self.assertIn(f"show {self.folder / 'z'}\n", text)
        again = self.expect(0, "run", *SMALL, "--resume", "--out", self.folder / "z").stdout
        self.assertIn(f"show {self.folder / 'z'}\n", again)

    def test_that_diverged_name_them_too(self):
        done = self.expect(1, "run", *SMALL, "--lr", "1e30", "--out", self.folder / "d")
        self.assertIn(f"show {self.folder / 'd'}\n", done.stdout)

    def test_of_an_interrupted_run_go_on_with_it(self):
        run = self.runs / "live"
        process = loaded_tool.Popen([FLIGHTDECK, "run", "quadratic_deep", "--steps", "100000000",
                                     "--evaluate-every", "0", "--json", "--out", str(run)],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        end = json.loads(process.stdout.read().splitlines()[-1])
        process.wait(60)
        self.assertEqual(shlex.split(end["next"][0])[1:], ["resume", str(run)])

    def test_of_a_study_name_analyze_and_serve(self):
        study = self.folder / "study"
        out = self.expect(0, "tune", "quadratic_deep", "--optimizer", "sgd", "--grid",
                          "learning_rate=0.001:0.01:2", "--epochs", "1", "--json",
                          "--out", study).stdout
        commands = json.loads(out.splitlines()[-1])["next"]
        self.assertEqual([shlex.split(command)[1:] for command in commands],
                         [["analyze", str(study)], ["serve", str(study)], ["runs", str(study)]])
        analysis = json.loads(self.expect(0, *shlex.split(commands[0])[1:], "--json").stdout)
        self.assertEqual([shlex.split(command)[1:] for command in analysis["next"]],
                         [["serve", str(study)], ["runs", str(study)]])
        text = self.expect(0, "analyze", study).stdout
        self.assertIn(f"serve {study}\n", text)


class Editing(RunsTest):
    def serve(self, *options):
        process = loaded_tool.Popen([FLIGHTDECK, "serve", str(self.runs), "--json", *options],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return json.loads(process.stdout.readline())["address"]

    def post(self, address):
        request = urllib.request.Request(address + "api/v1/labels?run=a&add=web", method="POST")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_is_refused_with_the_remedy_unless_asked_for(self):
        code, text = self.post(self.serve())
        self.assertEqual(code, 403)
        self.assertIn("flightdeck tag", text)
        self.assertFalse((self.runs / "a/labels.txt").exists())

    def test_labels_runs_where_it_is_asked_for(self):
        code, text = self.post(self.serve("--edit"))
        self.assertEqual(code, 200, text)
        self.assertEqual(self.names("--tag", "web"), ["a"])


if __name__ == "__main__":
    unittest.main()
