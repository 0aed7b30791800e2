#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flightdeck tune through the built tool: tune_test.py <path of flightdeck>"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
# Spares every run the second start, in which the tool gives itself a better environment.
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
# One thread: two are slow where other tests want the cores.
GRID = ["quadratic_deep", "--optimizer", "sgd", "--grid", "learning_rate=0.01,0.02", "--epochs", 2,
        "--threads", 1]


def flightdeck(*arguments):
    """Runs the tool; returns exit status, standard output and standard error."""
    done = loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           timeout=200, check=False)
    return done.returncode, done.stdout, done.stderr


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.study = self.folder / "study"

    def events(self, *arguments, code=0):
        got, out, error = flightdeck("tune", *arguments, "--json")
        self.assertEqual(got, code, error + out)
        return [json.loads(line) for line in out.splitlines()]

    def expect_refusal(self, words, *arguments):
        code, out, error = flightdeck("tune", *arguments)
        self.assertEqual(code, 2, f"tune {arguments}: {error}{out}")
        for word in words:
            self.assertIn(word, error)

    def test_tunes_repeats_the_best_and_goes_on_without_repeating(self):
        study = [*GRID, "--budget", "one_shot", "--seeds", 2, "--jobs", 2, "--out", self.study]
        events = self.events(*study)
        end = events[-1]
        self.assertEqual((end["event"], end["ending"], end["done"]), ("end", "finished", 5))
        self.assertEqual(sum(event["event"] == "started" for event in events), 5)
        one_shot, grid = end["results"]
        self.assertEqual((one_shot["sample"], one_shot["seeds"]), ("default", 2))
        self.assertEqual((grid["metric"], grid["seeds"]), ("test_loss", 2))
        outcomes = [json.loads(path.read_text())
                    for path in self.study.glob(f"runs/*/*/*/{grid['sample']}/*/outcome.json")]
        self.assertEqual([outcome["tags"] for outcome in outcomes], [{"sample": grid["sample"]}] * 2)
        losses = [outcome["test"]["loss"][-1] for outcome in outcomes]
        self.assertAlmostEqual(grid["mean"], sum(losses) / 2)

        again = self.events(*study)
        self.assertEqual([event["event"] for event in again], ["start", "end"])
        self.assertEqual(again[-1]["results"], end["results"])
        code, out, _ = flightdeck("tune", self.study)
        self.assertEqual(code, 0)
        self.assertIn(grid["sample"], out)
        self.expect_refusal(["epochs is 2 but 3", str(self.study)],
                            *[3 if word == 2 else word for word in GRID], "--out", self.study)

    def test_goes_on_after_an_interruption(self):
        command = [FLIGHTDECK, "tune", "quadratic_deep", "--optimizer", "sgd", "--budget", "one_shot",
                   "--seeds", "2", "--epochs", "40", "--threads", "1", "--out", str(self.study),
                   "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            record = self.study / "runs/quadratic_deep/sgd/constant/default/seed-42/run.sqlite"
            end = time.monotonic() + 60
            while not record.exists() and time.monotonic() < end:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            events = [json.loads(line) for line in process.stdout]
        self.assertEqual(process.returncode, 130)
        self.assertEqual(events[-1]["ending"], "interrupted")
        self.assertLess(events[-1]["done"], 2)
        end = self.events(self.study)[-1]
        self.assertEqual((end["ending"], end["done"]), ("finished", 2))

    def test_a_launcher_starts_the_runs_and_a_pilot_says_what_they_cost(self):
        log = self.folder / "it's started"
        launcher = f"""sh -c "echo {{host}} {{slot}} >>\\"{log}\\"; exec {{command}}\""""
        launched = ["--launcher", launcher, "--host", "a", "--host", "b"]
        events = self.events(*GRID, "--seeds", 1, "--pilot", "--cost-per-hour", 3600, *launched,
                             "--out", self.study)
        self.assertEqual(events[-1]["done"], 1)
        estimate = [event for event in events if event["event"] == "estimate"][-1]
        self.assertEqual((estimate["left"], estimate["measured"], estimate["unknown"]), (1, 1, []))
        outcome = json.loads(next(self.study.glob("runs/*/*/*/*/*/outcome.json")).read_text())
        self.assertAlmostEqual(estimate["cost"] / outcome["seconds"], 1, places=2)
        self.assertEqual(self.events(self.study, *launched)[-1]["done"], 2)
        self.assertEqual(log.read_text().splitlines(), ["a 0", "a 0"])

    def test_refuses_launchers_that_cannot_start_a_run(self):
        self.expect_refusal(["names the run's command 0 times"], *GRID, "--launcher", "ssh node",
                            "--out", self.study)
        self.expect_refusal(["--host is for --launcher"], *GRID, "--host", "a", "--out", self.study)
        self.expect_refusal(["--slurm submits all open runs"], *GRID, "--slurm", "--launcher",
                            "sh -c {command}", "--out", self.study)
        self.assertFalse(self.study.exists())

    def test_plans_without_running(self):
        events = self.events("quadratic_deep", "--optimizer", "adam", "--optimizer", "sgd",
                             "--budget", "one_shot", "--budget", "large", "--plan-only", "--out",
                             self.study)
        self.assertEqual((events[0]["planned"], events[0]["most"]), (120, 2 * (10 + 75 + 9)))
        lines = (self.study / "plan.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 120)
        self.assertEqual(len({json.loads(line)["id"] for line in lines}), 120)
        self.assertFalse((self.study / "runs").exists())

    def test_plans_the_sets_of_the_published_comparison(self):
        for name, problems in (("small", ["cifar10_3c3d", "fmnist_2c2d", "mnist_vae", "quadratic_deep"]),
                               ("benchmark", None)):
            study = self.folder / name
            self.events(name, "--optimizer", "sgd", "--budget", "one_shot", "--seeds", 1,
                        "--plan-only", "--out", study)
            runs = [json.loads(line) for line in (study / "plan.jsonl").read_text().splitlines()]
            planned = sorted(run["problem"] for run in runs)
            self.assertEqual(planned if problems else len(planned), problems or 8)

    def test_compares_what_a_file_says(self):
        self.events(*GRID, "--seeds", 2, "--plan-only", "--out", self.study)
        other = self.folder / "other"
        end = self.events(self.study / "study.json", "--epochs", 1, "--out", other)[-1]
        self.assertEqual((end["ending"], end["done"]), ("finished", 3))
        self.assertEqual(json.loads((other / "study.json").read_text())["options"]["epochs"], "1")
        self.expect_refusal(["says itself", "--seeds"], self.study / "study.json", "--seeds", 3)
        wrong = self.folder / "wrong.json"
        wrong.write_text("{}")
        self.expect_refusal(["wrong.json is no request of a study"], wrong)

    def test_knows_the_plans_of_all_baselines(self):
        plans = pathlib.Path(__file__).parents[2] / "baselines/plans"
        names = sorted(plan.stem for plan in plans.glob("*.json"))
        _, out, _ = flightdeck("list", "problem_sets", "--json")
        sets = {entry["name"]: entry["problems"] for entry in json.loads(out)}
        self.assertEqual(names, sorted(sets["benchmark"]))
        for name in names:
            study = self.folder / name
            start = self.events(plans / (name + ".json"), "--plan-only", "--out", study)[0]
            self.assertEqual((start["planned"], start["most"]), (3 * 36, 3 * (36 + 9)), name)

    def test_runs_all_seeds_at_every_point_of_a_grid_if_asked(self):
        end = self.events(*GRID, "--seeds", 2, "--all-seeds", "--out", self.study)[-1]
        self.assertEqual((end["ending"], end["done"]), ("finished", 4))
        outcomes = [json.loads(path.read_text())
                    for path in self.study.glob("runs/*/*/*/*/*/outcome.json")]
        self.assertEqual(len(outcomes), 4)
        version = loaded_tool.run([FLIGHTDECK, "--version"], capture_output=True, text=True, check=True)
        for outcome in outcomes:
            self.assertIn("flightdeck " + outcome["version"], version.stdout)
        self.expect_refusal(["--all-seeds", "--grid"], "quadratic_deep", "--optimizer", "sgd",
                            "--all-seeds")

    def test_draws_from_the_search_spaces_of_all_optimizers(self):
        _, out, _ = flightdeck("list", "optimizers", "--json")
        spaces = {entry["name"]: {one["name"]: one for one in entry["hyperparameters"]}
                  for entry in json.loads(out)}
        options = [word for name in spaces for word in ("--optimizer", name)]
        self.events("quadratic_deep", *options, "--budget", "medium", "--plan-only", "--out",
                    self.study)
        runs = [json.loads(line) for line in (self.study / "plan.jsonl").read_text().splitlines()]
        self.assertEqual(len(runs), 50 * len(spaces))
        for run in runs:
            for name, value in run["hyperparameters"].items():
                search = spaces[run["optimizer"]][name]["search"]
                if search is None:
                    self.assertEqual(value, spaces[run["optimizer"]][name]["default"])
                elif search["distribution"] != "one_of":
                    drawn = 1 - value if search["of_one_minus_value"] else value
                    self.assertGreaterEqual(drawn, search["low"] * (1 - 1e-9))
                    self.assertLessEqual(drawn, search["high"] * (1 + 1e-9))

    def test_reports_a_run_that_fails_and_exits_with_1(self):
        arguments = [*GRID, "--seeds", 1, "--out", self.study]
        self.events(*arguments, "--plan-only")
        plan = self.study / "plan.jsonl"
        plan.write_text(plan.read_text().replace('"learning_rate":0.01', '"learning_rate":-1.0'))
        code, out, error = flightdeck("tune", self.study)
        self.assertEqual(code, 1)
        self.assertIn("grid-000/seed-42 failed: exit status 2", error)
        self.assertIn("learning_rate is -1", error)
        self.assertIn("1 run of the plan left", out)

    def test_refuses_what_does_not_exist_or_is_out_of_range(self):
        for words, arguments in [
            (["'quadratic_dep'", "'quadratic_deep'"], ["quadratic_dep", "--optimizer", "sgd"]),
            (["'adm'", "'adam'"], ["quadratic_deep", "--optimizer", "adm"]),
            (["'smal'", "'small'"], [*GRID, "--budget", "smal"]),
            (["'sometimes'", "constant"], [*GRID, "--schedule", "sometimes"]),
            (["'adam' is an optimizer", "--optimizer adam"], [*GRID, "adam"]),
            (["--optimizer is missing"], ["quadratic_deep"]),
            (["neither a problem nor"], [self.folder, "--optimizer", "sgd"]),
            (["learning_rat", "learning_rate"], [*GRID, "--grid", "learning_rat=1"]),
            (["momentum is 1.5", "[0, 1)"],
             ["quadratic_deep", "--optimizer", "momentum", "--grid", "momentum=0.5,1.5"]),
            (["learning_rate twice"], [*GRID, "--grid", "learning_rate=1"]),
            (["'x' is no number", "LOW:HIGH:COUNT"], [*GRID, "--grid", "weight_decay=x"]),
            (["--seeds is 0", "at least 1"], [*GRID, "--seeds", 0]),
            (["--jobs is 0", "at least 1"], [*GRID, "--jobs", 0]),
            (["device 'tpu'"], [*GRID, "--device", "tpu"]),
            (["--slurm-option is for --slurm"], [*GRID, "--slurm-option=--time=1"]),
        ]:
            self.expect_refusal(words, *arguments, "--out", self.study)
            self.assertFalse(self.study.exists())

    def test_refuses_a_folder_that_holds_something_else(self):
        (self.folder / "file").write_text("")
        self.expect_refusal(["holds no study", "another --out"], *GRID, "--out", self.folder)

    def test_refuses_options_that_a_study_has_itself(self):
        self.events(*GRID, "--plan-only", "--out", self.study)
        self.expect_refusal(["--epochs", "leave the option out"], self.study, "--epochs", 3)

    def test_says_that_data_are_missing_before_anything_runs(self):
        code, _, error = flightdeck("tune", "cifar10_3c3d", "--optimizer", "sgd", "--data",
                                    self.folder, "--out", self.study)
        self.assertEqual(code, 1)
        self.assertIn("cifar10", error)
        self.assertIn("--synthetic", error)
        self.assertFalse(self.study.exists())


if __name__ == "__main__":
    unittest.main()
