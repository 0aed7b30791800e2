#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`flightdeck run` through the built tool: run_command_test.py <path of flightdeck>"""

import base64
import gzip
import json
import shlex
import signal
import subprocess
import unittest

import loaded_tool
from command_case import FLIGHTDECK, MLP, QUADRATIC, CommandTest, flightdeck


class Run(CommandTest):
    def test_tells_start_evaluations_and_end_as_json(self):
        run, events = self.train(*MLP, "--steps", 5, "--preset", "economy", "--interval", 2)
        kinds = [event["event"] for event in events]
        self.assertEqual((kinds[0], kinds[-1]), ("start", "end"))
        self.assertEqual([e["step"] for e in events if e["event"] == "evaluation"], [0, 2, 4, 5])
        end = events[-1]
        self.assertEqual((end["ending"], end["steps"], end["run"]), ("finished", 5, str(run)))
        self.assertTrue(end["synthetic"])
        self.assertEqual(end["switched_off"], [])
        for part in ("train", "valid", "test"):
            self.assertGreater(end["scores"][part + "_loss"], 0)
            self.assertGreaterEqual(end["scores"][part + "_accuracy"], 0)

    def test_says_everywhere_that_data_are_synthetic(self):
        run = self.folder / "run"
        out = self.expect_success("run", *MLP, "--steps", 2, "--out", run)
        self.assertGreaterEqual(out.count("SYNTHETIC"), 3)
        self.assertIn("SYNTHETIC", self.expect_success("show", run))
        shown = json.loads(self.expect_success("show", run, "--json"))
        self.assertTrue(shown["synthetic"])
        self.assertEqual(shown["config"]["synthetic"], "true")

    def test_repeatable_options_leave_the_problem_alone(self):
        run = self.folder / "run"
        self.expect_success("run", "--quantity", "loss", "--set", "weight_decay=0.1",
                            "quadratic_deep", "--steps", 1, "--out", run)
        shown = json.loads(self.expect_success("show", "--quantity", "loss", run, "--json"))
        self.assertEqual(len(shown["series"]), 1)

    def test_says_where_the_record_is_and_what_to_look_at(self):
        run = self.folder / "run"
        out = self.expect_success("run", *QUADRATIC, "--steps", 3, "--out", run)
        self.assertIn(f"show {run}", out)

    def test_gives_the_same_numbers_with_and_without_instruments(self):
        losses = []
        for preset in ("none", "full"):
            out = self.expect_success("run", *MLP, "--steps", 6, "--preset", preset, "--interval", 1,
                                      "--out", self.folder / preset, "--json")
            losses.append(json.loads(out.splitlines()[-1])["scores"])
        self.assertEqual(losses[0], losses[1])

    def test_refuses_to_overwrite_a_run(self):
        run, _ = self.train(*QUADRATIC, "--steps", 1)
        self.expect_failure(2, ["already holds a run", str(run)], "run", *QUADRATIC, "--out", run)

    def test_suggests_the_nearest_name(self):
        for wrong, right, arguments in [
            ("mnist_mpl", "mnist_mlp", ["run", "mnist_mpl"]),
            ("adm", "adam", ["run", "mnist_mlp", "--optimizer", "adm"]),
            ("hess_trce", "hess_trace", ["run", "mnist_mlp", "--quantity", "hess_trce"]),
            ("busines", "business", ["run", "mnist_mlp", "--preset", "busines"]),
            ("mometum", "momentum",
             ["run", "mnist_mlp", "--optimizer", "momentum", "--set", "mometum=0.5"]),
        ]:
            self.expect_failure(2, [f"'{wrong}'", f"'{right}'"], *arguments)

    def test_names_wrong_values(self):
        for words, arguments in [
            (["--steps is 0", "at least 1"], ["--steps", "0"]),
            (["--epochs and --steps"], ["--steps", "1", "--epochs", "1"]),
            (["--interval and --track"], ["--interval", "1", "--track", "log 0 2"]),
            (["'every so often'"], ["--track", "every so often"]),
            (["NAME=NUMBER"], ["--set", "momentum"]),
            (["learning_rate", "-1"], ["--lr", "-1"]),
            (["'layers'", "module"], ["--group", "layers"]),
            (["device 'tpu'"], ["--device", "tpu"]),
            (["'sometimes'", "constant"], ["--schedule", "sometimes"]),
            (["'keep'", "refuse, constant, split"], ["--batch-norm", "keep"]),
            (["grad_norm", "twice"], ["--quantity", "grad_norm", "--quantity", "grad_norm"]),
        ]:
            self.expect_failure(2, words, "run", *QUADRATIC, *arguments)

    def test_says_where_to_get_data_that_are_missing(self):
        empty = self.folder / "empty"
        empty.mkdir()
        code, _, err = flightdeck("run", "cifar10_3c3d", "--data", empty, "--out",
                                  self.folder / "run")
        self.assertEqual(code, 1)
        self.assertIn(str(empty), err)
        self.assertIn("--synthetic", err)
        self.assertFalse((self.folder / "run").exists())

    def test_takes_settings_schedules_and_groups(self):
        run, _ = self.train(*MLP, "--steps", 5, "--quantity", "grad_norm", "--quantity",
                            "hess_trace:curvature=ggn@at 3", "--interval", 1, "--group", "module",
                            "--optimizer", "momentum", "--momentum", "0.5", "--schedule", "cosine")
        shown = json.loads(self.expect_success("show", run, "--json", "--group", "all"))
        series = {(s["name"], s["group"]): s for s in shown["series"]}
        self.assertEqual(series["grad_norm", ""]["count"], 5)
        self.assertEqual(series["hess_trace", ""]["count"], 1)
        self.assertTrue(any(name == "grad_norm" and group for name, group in series))
        self.assertIn("momentum 0.5", shown["config"]["hyperparameters"])
        self.assertLess(series["learning_rate", ""]["last"], series["learning_rate", ""]["first"])

    def test_trains_by_curvature_under_a_cockpit(self):
        problem = ["mnist_logreg", "--synthetic", "--limit", 256, "--steps", 4, "--interval", 1,
                   "--optimizer", "kfac", "--lr", "0.1", "--set", "damping=0.1"]
        last = {}
        for preset in ["none", "economy"]:
            run = self.folder / preset
            self.expect_success("run", *problem, "--preset", preset, "--out", run)
            shown = json.loads(self.expect_success("show", run, "--json"))
            self.assertIn("damping 0.1", shown["config"]["hyperparameters"])
            last[preset] = {s["name"]: s["last"] for s in shown["series"]}
        self.assertIn("grad_norm", last["economy"])
        self.assertEqual(last["none"]["test_loss"], last["economy"]["test_loss"])
        self.expect_failure(1, ["vivit_newton", "penalty", "conv1.weight"], "run", "cifar10_3c3d",
                            "--synthetic", "--limit", 32, "--batch-size", 8, "--steps", 1,
                            "--evaluate-every", 0, "--optimizer", "vivit_newton", "--out",
                            self.folder / "penalised")

    def test_a_diverged_run_stops_there(self):
        run = self.folder / "run"
        arguments = ["run", *MLP, "--epochs", 8, "--lr", "1e20", "--json", "--out"]
        code, out, err = flightdeck(*arguments, run)
        self.assertEqual(code, 1, err)
        self.assertIn("diverged", err)
        end = json.loads(out.splitlines()[-1])
        self.assertEqual(end["ending"], "diverged")
        self.assertEqual(end["steps"], end["diverged_at"] + 1)
        end = json.loads(self.expect_success(*arguments, self.folder / "b", "--keep-going")
                         .splitlines()[-1])
        self.assertEqual((end["ending"], end["steps"]), ("diverged", 16))
        code, _, err = flightdeck("run", *MLP, "--steps", 5, "--lr", "1e20", "--out", self.folder / "c")
        self.assertEqual(code, 1, err)

    def test_an_interrupt_leaves_a_complete_record(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.folder / number.name
            process = loaded_tool.Popen(
                [FLIGHTDECK, "run", *QUADRATIC, "--steps", "10000000", "--interval", "1",
                 "--evaluate-every", "0", "--json", "--out", str(run)],
                stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.stdout.close)
            json.loads(process.stdout.readline())  # it has started
            shown = {"last_step": -1}
            while shown["last_step"] < 3:
                code, out, _ = flightdeck("show", run, "--json")
                shown = json.loads(out) if code == 0 else shown
            self.assertEqual(shown["status"], "running")
            process.send_signal(number)
            rest = process.stdout.read()
            self.assertEqual(process.wait(60), 128 + number)
            end = json.loads(rest.splitlines()[-1])
            self.assertEqual(end["ending"], "interrupted")
            shown = json.loads(self.expect_success("show", run, "--json"))
            self.assertEqual(shown["status"], "interrupted")
            loss = next(s for s in shown["series"] if s["name"] == "loss")
            self.assertEqual(loss["count"], end["steps"])
            self.assertEqual(shown["config"]["steps_taken"], str(end["steps"]))
            self.assertIn(f"to go on: flightdeck resume {run}", end["explanation"])

    def test_a_divergence_has_one_step_and_one_name_everywhere(self):
        run = self.folder / "run"
        code, out, err = flightdeck("run", *MLP, "--epochs", 20, "--lr", "30", "--interval", 5,
                                    "--json", "--out", run)
        self.assertEqual(code, 1, out + err)
        end = json.loads(out.splitlines()[-1])
        step = end["diverged_at"]
        self.assertEqual(end["ending"], "diverged")
        self.assertIn(f"not finite at step {step}", end["explanation"])
        self.assertIn(f"training diverged at step {step}\n", err)
        outcome = json.loads((run / "outcome.json").read_text())
        self.assertEqual((outcome["ending"], outcome["diverged_at"]), ("diverged", step))
        shown = json.loads(self.expect_success("show", run, "--json"))
        self.assertEqual(shown["status"], "diverged")
        text = self.expect_success("show", run)
        self.assertIn(f"diverged at step {step}, {end['steps']} of 40 steps taken", text)
        self.assertIn("The training diverged", self.expect_lamps(run, step))
        self.assertEqual([(finding["lamp"], finding["step"]) for finding in shown["findings"]
                          if finding["severity"] == "failure"],
                         [("diverged", step)])
        self.assertIn(f"failure at step {step}: The training diverged", text)

    def expect_lamps(self, run, step):
        """Titles of the failures that the report has, all of which are at `step`."""
        self.expect_success("report", run)
        page = (run / "report.html").read_text()
        packed = page.split('id="flightdeck-report">')[1].split("</script>")[0]
        report = json.loads(gzip.decompress(base64.b64decode(packed)))
        failures = [lamp for lamp in report["diagnosis"]["lamps"] if lamp["severity"] == "failure"]
        self.assertEqual([lamp["step"] for lamp in failures], [step])
        return failures[0]["title"]

    def test_batch_norm_switches_off_in_one_sentence_only_what_it_must(self):
        run = self.folder / "run"
        code, out, err = flightdeck("run", "svhn_wrn164", "--synthetic", "--steps", 2, "--limit", 32,
                                    "--batch-size", 8, "--preset", "economy", "--interval", 1, "--evaluate-every", 0,
                                    "--json", "--out", run)
        self.assertEqual(code, 0, err)
        end = json.loads(out.splitlines()[-1])
        off = {"alpha", "grad_hist_1d", "inner_test", "norm_test", "ortho_test"}
        self.assertEqual(set(end["switched_off"]), off)
        self.assertEqual(err.count("batch norm"), 1, err)
        self.assertIn("--batch-norm split", err)
        self.assertNotIn("kSplitGradient", err)
        shown = json.loads(self.expect_success("show", run, "--json"))
        self.assertEqual([note["kind"] for note in shown["notes"]], ["switched_off"])
        counts = {s["name"]: s["count"] for s in shown["series"]}
        self.assertEqual(counts["grad_norm"], 2)

    def test_the_recorded_command_can_be_pasted(self):
        run = self.folder / "a run"
        self.expect_success("run", *QUADRATIC, "--steps", 3, "--quantity", "loss@every 2",
                            "--evaluate-every", 0, "--out", run)
        command = json.loads(self.expect_success("show", run, "--json"))["command"]
        words = shlex.split(command)
        self.assertEqual(words[1:4], ["run", "quadratic_deep", "--steps"])
        self.assertIn("loss@every 2", words)
        self.assertIn(str(run), words)

    def test_a_run_that_is_still_running_is_named_and_so_is_another_folder(self):
        run = self.folder / "run"
        process = loaded_tool.Popen(
            [FLIGHTDECK, "run", *QUADRATIC, "--steps", "10000000", "--evaluate-every", "0", "--json",
             "--out", str(run)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        json.loads(process.stdout.readline())
        try:
            self.expect_failure(2, ["still running", f"--out {run}-2"], "run", *QUADRATIC, "--out", run)
        finally:
            process.kill()
            process.wait()

    def test_says_kindly_what_is_wrong_with_an_option(self):
        self.expect_failure(2, ["run: there is no option '--stpes'; did you mean '--steps'?",
                                "flightdeck run --help"], "run", "mnist_mlp", "--stpes", 5)
        self.expect_failure(2, ["run: --lr is 'abc' but must be a number"],
                            "run", "mnist_mlp", "--lr", "abc")
        self.expect_failure(2, ["--seed", "it is -1 but must be at least 0"],
                            "run", "mnist_mlp", "--seed", "-1")
        self.expect_failure(2, ["log", "10^4", "10^0", "the smaller exponent first"],
                            "run", *QUADRATIC, "--track", "log 4 0")


if __name__ == "__main__":
    unittest.main()
