#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands but `run` through the built tool: commands_test.py <path of flightdeck>"""

import csv
import io
import json
import os
import signal
import subprocess
import unittest
import urllib.request

import loaded_tool
from command_case import FLIGHTDECK, MLP, QUADRATIC, CommandTest, flightdeck


class Show(CommandTest):
    def test_has_a_line_with_a_sparkline_for_every_series(self):
        run, _ = self.train(*QUADRATIC, "--steps", 40, "--interval", 1)
        out = self.expect_success("show", run, environment={"LC_ALL": "C.UTF-8"})
        line = next(line for line in out.splitlines() if line.startswith("loss "))
        self.assertTrue(set("▁▂▃▄▅▆▇█") & set(line), line)
        self.assertIn("finished", out)
        self.assertIn("quadratic_deep", out)
        out = self.expect_success("show", run, environment={"LC_ALL": "C"})
        self.assertTrue(out.isascii(), out)

    def test_counts_eigenvalues_that_are_not_proved(self):
        run, _ = self.train(*QUADRATIC, "--steps", 5, "--interval", 1, "--quantity", "hess_max_ev")
        line = next(line for line in self.expect_success("show", run).splitlines()
                    if line.startswith("hess_max_ev "))
        self.assertIn(" 4 not converged", line)  # the first one is proved

    def test_counts_no_eigenvalue_where_all_are_proved(self):
        run, _ = self.train(*QUADRATIC, "--steps", 3, "--interval", 1,
                            "--quantity", "hess_max_ev:until=proved")
        self.assertNotIn("not converged", self.expect_success("show", run))

    def test_shows_only_what_is_asked_for(self):
        run, _ = self.train(*QUADRATIC, "--steps", 2, "--interval", 1)
        shown = json.loads(self.expect_success("show", run, "--json", "--quantity", "loss"))
        self.assertEqual([s["name"] for s in shown["series"]], ["loss"])
        self.expect_failure(2, ["'los'", "'loss'"], "show", run, "--quantity", "los")

    def test_histograms_are_complete_in_json(self):
        run, _ = self.train(*QUADRATIC, "--steps", 1, "--quantity", "grad_hist_1d:bins=7")
        shown = json.loads(self.expect_success("show", run, "--json"))
        histogram = next(s for s in shown["series"] if s["name"] == "grad_hist_1d")
        self.assertEqual(histogram["kind"], "histogram")
        self.assertEqual(histogram["axes"][0]["count"], 7)
        self.assertEqual(len(histogram["last"]), 7)
        total = sum(histogram["last"]) + histogram["below"] + histogram["above"]
        self.assertEqual(total, 128 * 100)

    def test_a_folder_without_a_run_is_wrong_usage(self):
        self.expect_failure(2, ["holds no run"], "show", self.folder / "nothing")


class Export(CommandTest):
    def test_writes_json_lines_csv_and_event_files(self):
        run, _ = self.train(*QUADRATIC, "--steps", 4, "--interval", 1)
        lines = self.expect_success("export", run, "--format", "jsonl").splitlines()
        self.assertEqual([json.loads(line)["step"] for line in lines], [0, 1, 2, 3, 4])
        rows = list(csv.DictReader(io.StringIO(self.expect_success("export", run, "--format",
                                                                   "csv"))))
        self.assertIn("loss", rows[0])
        self.assertEqual(len(rows), 5)
        events = self.expect_success("export", run, "--format", "tensorboard").strip()
        self.assertIn("tfevents", events)
        self.assertGreater(os.path.getsize(events), 0)
        self.expect_failure(2, ["--force"], "export", run, "--format", "tensorboard")

    def test_does_not_overwrite_unless_forced(self):
        run, _ = self.train(*QUADRATIC, "--steps", 1)
        file = self.folder / "run.csv"
        arguments = ["export", run, "--format", "csv", "--out", file]
        self.expect_success(*arguments)
        self.expect_failure(2, [str(file), "--force"], *arguments)
        self.expect_success(*arguments, "--force")

    def test_names_the_formats(self):
        run, _ = self.train(*QUADRATIC, "--steps", 1)
        self.expect_failure(2, ["'cvs'", "'csv'", "jsonl"], "export", run, "--format", "cvs")


class ParameterValues(CommandTest):
    def second_step(self, values):
        """The readings of `parameters` at step 1 by field, of the same run whatever is listed."""
        run = self.folder / f"values_{values}"
        self.expect_success("run", "mnist_logreg", "--synthetic", "--steps", 2, "--preset", "none", "--quantity",
                            f"parameters:values={values}@every 1", "--seed", 5, "--out", run)
        for line in self.expect_success("export", run, "--format", "jsonl").splitlines():
            entry = json.loads(line)
            if entry.get("step") == 1 and "values" in entry:
                return {reading["field"]: reading["value"] for reading in entry["values"]
                        if reading["quantity"] == "parameters"}
        return {}

    def test_recorded_entries_are_the_parameters_themselves(self):
        whole = self.second_step(1000000)
        entries = whole["values"]
        self.assertEqual(len(entries), 7850)
        self.assertAlmostEqual(sum(x * x for x in entries) ** 0.5, whole[""], places=6)
        self.assertAlmostEqual(sum(entries) / 7850, whole["mean"], places=7)
        self.assertAlmostEqual(max(map(abs, entries)), whole["abs_max"], places=7)
        few = self.second_step(7)["values"]
        self.assertEqual(few, [entries[k * 7850 // 7] for k in range(7)])
        self.assertNotIn("values", self.second_step(0))


class Diagnose(CommandTest):
    def test_names_a_rate_that_is_too_high(self):
        run = self.folder / "run"
        # It diverges, which its exit status says too.
        flightdeck("run", *QUADRATIC, "--steps", 40, "--interval", 1, "--lr", 3, "--out", run)
        out = self.expect_success("diagnose", run)
        self.assertIn("The learning rate is too high", out)
        self.assertIn("+ ", out)
        self.assertIn("see docs/causes.md#learning_rate_too_high", out)
        said = json.loads(self.expect_success("diagnose", run, "--json"))
        self.assertEqual(said["causes"][0]["cause"], "learning_rate_too_high")
        self.assertTrue(said["causes"][0]["for"])
        self.assertEqual(said["causes"][0]["page"], "docs/causes.md#learning_rate_too_high")
        self.assertEqual({finding["page"] for finding in said["findings"]},
                         {"docs/lamps.md#" + finding["lamp"] for finding in said["findings"]})
        self.assertIn("learning rate", json.loads(self.expect_success("show", run, "--json"))["diagnosis"])

    def test_says_what_is_missing(self):
        run, _ = self.train(*QUADRATIC, "--steps", 5, "--quantity", "loss")
        self.assertIn("Cannot tell", self.expect_success("diagnose", run))
        self.expect_failure(2, ["holds no run"], "diagnose", "/")


class Acting(CommandTest):
    GROWING = [*QUADRATIC, "--steps", 40, "--lr", 0.045, "--quantity", "loss", "--interval", 1,
               "--evaluate-every", 0, "--look-every", 5]

    def test_a_lamp_stops_a_run_that_can_go_on(self):
        run = self.folder / "run"
        code, out, err = flightdeck("run", *self.GROWING, "--stop-on", "loss_grew", "--out", run)
        self.assertEqual(code, 1, err)
        self.assertIn("as --stop-on asks, by the lamp loss_grew", err)
        self.assertIn("the run is stopped, because of loss_grew", out)
        self.assertIn("stopped by the lamp loss_grew; to go on: flightdeck resume", out)
        self.assertIn("the run is stopped", self.expect_success("show", run))
        self.assertIn("interventions/stopped", self.expect_success("export", run, "--format", "csv"))
        self.expect_success("resume", run)

    def test_interventions_are_events_and_part_of_the_record(self):
        run, events = self.train(*self.GROWING, "--lower-rate-on", "warning", "--checkpoint-on", "loss_grew")
        said = [event["text"] for event in events if event["event"] == "intervention"]
        self.assertTrue(any("the learning rate is lowered from 0.045" in text for text in said), said)
        self.assertTrue(any("a checkpoint is kept" in text for text in said), said)
        self.assertTrue(list((run / "models").glob("step_*.pt")))
        config = (run / "config.toml").read_text()
        self.assertIn('lower-rate-on = ["warning"]', config)

    def test_alerts_reach_a_command_and_are_not_kept(self):
        told, run = self.folder / "told", self.folder / "run"
        self.expect_success("run", *self.GROWING, "--alert-command", f"cat >> {told}", "--checkpoint-every", 10, "--out", run)
        alert = json.loads(told.read_text().split("}")[0] + "}")
        self.assertEqual((alert["lamp"], alert["run"]), ("loss_grew", str(run)))
        self.assertNotIn("alert", (run / "config.toml").read_text())

    def test_an_alert_that_fails_is_one_warning(self):
        code, _, err = flightdeck("run", *self.GROWING, "--alert-command", "exit 7", "--out", self.folder / "run")
        self.assertEqual((code, err.count("the alert command 'exit 7' ended with status 7")), (0, 1), err)

    def test_a_configuration_file_brings_no_command(self):
        file = self.folder / "others.toml"
        file.write_text(f'problem = "quadratic_deep"\nalert-command = "touch {self.folder}/harm"\n')
        self.expect_failure(2, ["'alert-command', which is no option"], "run", "--config", file)
        self.assertFalse((self.folder / "harm").exists())

    def test_what_there_is_not_is_wrong_usage(self):
        self.expect_failure(2, ["did you mean 'loss_grew'?"], "run", *QUADRATIC, "--stop-on", "los_grew")
        self.expect_failure(2, ["for https use a command"], "run", *QUADRATIC, "--alert-webhook", "https://example.org/")


class Preflight(CommandTest):
    def test_finds_nothing_wrong_with_a_problem_of_the_suite(self):
        out = self.expect_success("preflight", "quadratic_deep")
        self.assertIn("Nothing is wrong that 3 batches show", out)
        said = json.loads(self.expect_success("preflight", "quadratic_deep", "--batches", 2, "--json"))
        self.assertEqual(said["batches"], 2)
        self.expect_failure(2, ["quadratic_deep"], "preflight", "quadratic_dep")


class Diff(CommandTest):
    def test_names_the_first_difference(self):
        run, _ = self.train(*MLP, "--steps", 5, "--interval", 1)
        first = run.rename(self.folder / "first")
        second, _ = self.train(*MLP, "--steps", 5, "--interval", 1, "--seed", 7)
        said = json.loads(self.expect_success("diff", first, second, "--json"))
        self.assertFalse(said["same"])
        self.assertIn("seed", [setting["key"] for setting in said["settings"]])
        self.assertEqual(said["values"][0]["step"], 0)
        self.assertEqual((said["first_kind"], said["data"]), ("data", "samples"))
        text = self.expect_success("diff", first, second)
        self.assertIn("values differ from step 0 on, first in the data\n  they were given other samples", text)
        self.assertIn("values are the same up to step", self.expect_success("diff", first, first))
        self.expect_failure(2, ["holds no run"], "diff", first, "/")


class Faultbench(CommandTest):
    def test_counts_one_fault(self):
        words = ("faultbench", "--fault", "rate_too_high", "--problem", "spots_mlp", "--quick", "--faulty-only")
        self.assertIn("detected", self.expect_success(*words))
        said = json.loads(self.expect_success(*words, "--json"))
        self.assertEqual(said["total"]["runs"], 1)
        self.assertEqual(said["cases"][0]["cause"], "learning_rate_too_high")

    def test_refuses_what_there_is_not(self):
        self.expect_failure(2, ["rate_too_hihg", "rate_too_high"], "faultbench", "--fault", "rate_too_hihg")
        self.expect_failure(2, ["5/4", "0/4"], "faultbench", "--part", "5/4")


class List(CommandTest):
    def test_every_list_is_an_array_of_objects_with_name_and_summary(self):
        keys = {
            "quantities": ["cost", "groups", "settings", "presets", "reference"],
            "problems": ["data_set", "batch_size", "epochs", "parameters", "l2", "classes"],
            "optimizers": ["hyperparameters"],
            "presets": ["quantities", "lamps"],
            "lamps": ["severity", "reads", "exact"],
            "data_sets": ["needs_files", "found"],
            "problem_sets": ["problems"],
            "schedules": ["form"],
            "rules": ["nodes"],
            "experiments": ["reference"],
            "commands": [],
        }
        for kind, more in keys.items():
            items = json.loads(self.expect_success("list", kind, "--json"))
            self.assertGreater(len(items), 2)
            names = [item["name"] for item in items]
            self.assertEqual(len(names), len(set(names)))
            for item in items:
                self.assertTrue(item["summary"], item)
                for key in more:
                    self.assertIn(key, item)
            text = self.expect_success("list", kind)
            for name in names:
                self.assertIn(name, text)

    def test_optimizers_have_search_spaces(self):
        items = json.loads(self.expect_success("list", "optimizers", "--json"))
        found = {(item["name"], each["name"]): each
                 for item in items for each in item["hyperparameters"]}
        self.assertEqual(found["nag", "momentum"]["search"],
                         {"distribution": "log_uniform", "low": 1e-4, "high": 1,
                          "of_one_minus_value": True})
        self.assertEqual(found["lookahead_radam", "fast_steps"]["search"]["distribution"],
                         "whole_uniform")
        self.assertIsNone(found["adam", "epsilon"]["search"])
        self.assertEqual(found["adam", "epsilon"]["default"], 1e-8)
        self.assertIn("search: log-uniform in [0.5, 0.999]",
                      " ".join(self.expect_success("list", "optimizers").split()))

    def test_presets_name_quantities_that_exist(self):
        quantities = json.loads(self.expect_success("list", "quantities", "--json"))
        names = {quantity["name"] for quantity in quantities}
        for preset in json.loads(self.expect_success("list", "presets", "--json")):
            self.assertLessEqual(set(preset["quantities"]), names)


class Coverage(CommandTest):
    def test_names_every_parameter_and_its_level(self):
        report = json.loads(self.expect_success("coverage", "mnist_mlp", "--json"))
        self.assertEqual({p["level"] for p in report["parameters"]}, {"exact-fast"})
        self.assertEqual(len(report["parameters"]), 8)
        self.assertEqual(len(report["second_order"]), 4)
        text = self.expect_success("coverage", "mnist_mlp", "--needs", "norms,gram")
        self.assertIn(report["parameters"][0]["name"], text)
        self.assertIn("Gram", text)

    def test_a_refusal_is_said_once_and_in_the_words_of_the_tool(self):
        text = self.expect_success("coverage", "svhn_wrn164")
        self.assertLessEqual(text.count("couples the samples"), 2)
        self.assertIn("--batch-norm split", text)
        self.assertNotIn("kSplitGradient", text)

    def test_a_model_with_many_columns_is_told_too(self):
        text = self.expect_success("coverage", "transformer")
        self.assertIn("asked of a random batch of 2 samples", text)
        self.assertIn("Hessian-vector products", text)

    def test_suggests_the_nearest_name(self):
        self.expect_failure(2, ["'mnist_mpl'", "'mnist_mlp'"], "coverage", "mnist_mpl")
        self.expect_failure(2, ["'grams'", "'gram'"], "coverage", "mnist_mlp", "--needs", "grams")


class Data(CommandTest):
    def test_says_of_every_set_what_state_it_is_in_and_where_to_get_it(self):
        code, out, err = flightdeck("data", "--json")
        self.assertIn(code, (0, 1), err)  # 1: a set on this machine is not as published
        sets = {data["name"]: data for data in json.loads(out)}
        self.assertEqual(sets["quadratic"]["state"], "generated")
        for data in sets.values():
            self.assertIn(data["state"], ("generated", "missing", "good", "wrong"))
            if data["state"] in ("missing", "wrong"):
                self.assertTrue(data["how_to_get"] and data["searched"] and data["faults"], data)
        text = self.expect_success("data", "two_d")
        self.assertIn("generated", text)

    def test_checks_one_set_in_a_folder(self):
        self.expect_failure(1, ["not what was published"], "data", "mnist", "--data", self.folder)
        (self.folder / "train.bin").write_bytes(bytes(3 * 3074))
        (self.folder / "test.bin").write_bytes(bytes(3 * 3074 - 1))
        code, out, _ = flightdeck("data", "cifar100", "--data", self.folder, "--json")
        self.assertEqual(code, 1)
        (found,) = json.loads(out)
        self.assertEqual(found["state"], "wrong")
        self.assertIn("9222 bytes", found["faults"][0])
        self.assertEqual(found["files"][0]["expected_bytes"], 153700000)

    def test_refuses_wrong_names(self):
        self.expect_failure(2, ["'cifar1'", "'cifar10'"], "data", "cifar1")
        self.expect_failure(2, ["--data", "name the set"], "data", "--data", self.folder)


class Runtime(CommandTest):
    SMALL = ["--synthetic", "--limit", 64, "--batch-size", 32, "--runs", 3, "--epochs", 2]

    def test_tells_each_run_and_what_they_come_to(self):
        answer = json.loads(self.expect_success("runtime", "adam", *self.SMALL, "--json"))
        self.assertEqual((answer["optimizer"], answer["problem"]), ("adam", "mnist_mlp"))
        self.assertEqual(answer["data"], "synthetic")
        ratios = [run["ratio"] for run in answer["runs"]]
        self.assertEqual(len(ratios), 3)
        for run in answer["runs"]:
            self.assertGreater(min(run["sgd_ms"], run["ms"]), 0)
            self.assertAlmostEqual(run["ratio"], run["ms"] / run["sgd_ms"], delta=1e-4 * run["ratio"])
        self.assertAlmostEqual(answer["median"], sorted(ratios)[1])
        self.assertAlmostEqual(answer["mean"], sum(ratios) / 3, delta=1e-4 * answer["mean"])
        self.assertEqual((answer["low"], answer["high"]), (min(ratios), max(ratios)))

    def test_takes_problem_and_hyperparameters(self):
        out = self.expect_success("runtime", "momentum", "--set", "momentum=0.5", "--problem",
                                  "quadratic_deep", "--runs", 1, "--epochs", 1)
        self.assertIn("momentum takes", out)
        self.assertIn("quadratic_deep", out)

    def test_refuses_wrong_names_and_values(self):
        self.expect_failure(2, ["'adm'", "'adam'"], "runtime", "adm")
        self.expect_failure(2, ["'mnist_mpl'", "'mnist_mlp'"], "runtime", "adam", "--problem",
                            "mnist_mpl")
        self.expect_failure(2, ["beta1", "[0, 1)"], "runtime", "adam", "--set", "beta1=2")
        self.expect_failure(2, ["NAME=NUMBER"], "runtime", "adam", "--set", "beta1")
        self.expect_failure(2, [""], "runtime", "adam", "--runs", 0)
        self.expect_failure(2, [""], "runtime")


class BenchTraining(CommandTest):
    def test_compares_every_problem_with_a_loop_written_by_hand(self):
        out = self.expect_success("bench", "training", "--problem", "quadratic_deep",
                                  "tolstoi_char_rnn", "mnist_logreg", "--synthetic", "--batch", 8,
                                  "--limit", 64, "--repeats", 3, "--warm-up", 1, "--json")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["problem"] for line in lines],
                         ["quadratic_deep", "tolstoi_char_rnn", "mnist_logreg"])
        for line in lines:
            self.assertEqual(line["batch"], 8)
            self.assertGreater(min(line["plain_ms"], line["ms"]), 0)
            self.assertLessEqual(line["ratio_low_quartile"], line["ratio"])
            self.assertLessEqual(line["ratio"], line["ratio_high_quartile"])

    def test_data_that_is_never_read_from_files_is_not_called_real(self):
        out = self.expect_success("bench", "training", "--problem", "quadratic_deep", "transformer",
                                  "mnist_logreg", "--batch", 8, "--limit", 64, "--repeats", 1,
                                  "--warm-up", 0, "--json")
        kinds = [json.loads(line)["data"] for line in out.splitlines()]
        self.assertEqual(kinds[:2], ["generated", "generated"])
        self.assertIn(kinds[2], ("real", "synthetic"))

    def test_refuses_wrong_names(self):
        self.expect_failure(2, ["'mnist_mpl'", "'mnist_mlp'"], "bench", "training", "--problem",
                            "mnist_mpl")


class BenchLaunches(CommandTest):
    def test_counts_the_operations_of_a_plain_and_of_a_watched_step(self):
        out = self.expect_success("bench", "launches", "--problem", "quadratic_deep", "--repeats", 2,
                                  "--warm-up", 1, "--operations", 3, "--json")
        line = json.loads(out)
        self.assertGreater(line["watched"]["operations"], line["plain"]["operations"])
        self.assertIsNone(line["plain"]["kernels"])  # there are none on the CPU
        self.assertEqual(len(line["added"]), 3)
        self.assertIn("economy", self.expect_success("bench", "launches", "--problem", "quadratic_deep",
                                                     "--repeats", 1, "--warm-up", 0))


class BenchRanks(CommandTest):
    def test_counts_two_collectives_for_a_step_whatever_the_number_of_ranks(self):
        out = self.expect_success("bench", "ranks", "--problem", "quadratic_deep", "--preset", "economy",
                                  "--interval", 4, "--json")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["ranks"] for line in lines], [2, 4])
        for line in lines:
            self.assertEqual(line["due_collectives"], 2)
            self.assertLess(line["bytes"], line["due_bytes"])
        self.assertLess(lines[0]["due_bytes"], lines[1]["due_bytes"])
        self.expect_failure(2, ["'economi'", "'economy'"], "bench", "ranks", "--preset", "economi")


class Doctor(CommandTest):
    def test_tells_of_data_sets_disk_and_gpu(self):
        report = json.loads(self.expect_success("doctor", "--json"))
        sets = {data["name"]: data for data in report["data_sets"]}
        self.assertGreater(report["disk_free_bytes"], 0)
        self.assertIsInstance(report["gpus"], list)
        for data in sets.values():
            self.assertTrue(data["found"] or not data["needs_files"] or data["how_to_get"], data)
        text = self.expect_success("doctor")
        for name in sets:
            self.assertIn(f"data set {name}", text)


class Help(CommandTest):
    def test_a_command_that_does_not_exist_suggests_the_nearest(self):
        self.expect_failure(2, ["'shwo'", "'show'"], "shwo", "run")
        self.expect_failure(2, ["'quantites'", "'quantities'"], "list", "quantites")

    def test_help_is_a_command_too(self):
        self.assertEqual(self.expect_success("help"), self.expect_success("--help"))
        self.assertEqual(self.expect_success("help", "run"), self.expect_success("run", "--help"))
        self.assertEqual(self.expect_success("help", "bench", "training"),
                         self.expect_success("bench", "training", "--help"))
        self.expect_failure(2, ["'shwo'", "'show'"], "help", "shwo")

    def test_every_command_has_help_with_an_example(self):
        for command in (["again"], ["completion"], ["man"], ["resume"]):
            self.assertIn("Example", self.expect_success(*command, "--help"))
        for command in (["run"], ["show"], ["export"], ["list"], ["list", "rules"], ["coverage"],
                        ["data"], ["doctor"], ["experiment"]):
            self.assertIn("Example", self.expect_success(*command, "--help"))



class Report(CommandTest):
    def test_writes_into_the_run_unless_told_otherwise(self):
        run, _ = self.train(*MLP, "--steps", 2, "--preset", "economy")
        self.assertEqual(self.expect_success("report", run).splitlines()[0],
                         str(run / "report.html"))
        self.assertIn("flightdeck-report", (run / "report.html").read_text())
        said = json.loads(self.expect_success("report", run, "-o", self.folder / "x.html", "--json"))
        self.assertEqual(said["bytes"], (self.folder / "x.html").stat().st_size)

    def test_writes_through_a_link(self):
        run, _ = self.train(*MLP, "--steps", 2, "--preset", "economy")
        link = self.folder / "link.html"
        link.symlink_to(self.folder / "file.html")
        self.expect_success("report", run, "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertGreater((self.folder / "file.html").stat().st_size, 0)

    def test_says_that_a_file_cannot_be_written(self):
        run, _ = self.train(*MLP, "--steps", 2, "--preset", "economy")
        self.expect_failure(1, ["cannot write", "-o names another"],
                            "report", run, "-o", self.folder / "nowhere" / "x.html")


class Serve(CommandTest):
    def start(self, *arguments):
        """Starts a server; returns the process and what it says of itself."""
        process = loaded_tool.Popen([FLIGHTDECK, "serve", *map(str, arguments), "--json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, json.loads(process.stdout.readline())

    def test_answers_until_it_is_interrupted(self):
        run, _ = self.train(*MLP, "--steps", 2, "--preset", "economy")
        process, said = self.start(self.folder)
        self.assertEqual(said["runs"], 1)
        with urllib.request.urlopen(said["address"] + "api/v1/runs", timeout=20) as answer:
            runs = json.load(answer)["runs"]
        self.assertEqual([(r["id"], r["status"]) for r in runs], [(run.name, "finished")])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 130)

    def test_waits_in_an_empty_folder(self):
        _, said = self.start(self.folder)
        self.assertEqual(said["runs"], 0)

    def test_refuses_a_folder_that_is_not_there(self):
        self.expect_failure(2, ["/nowhere", "flightdeck run"], "serve", self.folder / "nowhere")

    def test_refuses_a_port_in_use(self):
        _, said = self.start(self.folder)
        self.expect_failure(1, [str(said["port"]), "another --port"],
                            "serve", self.folder, "--port", said["port"])

    def test_demands_a_token_for_other_machines(self):
        self.expect_failure(2, ["--token", "other machines"],
                            "serve", self.folder, "--host", "0.0.0.0")
        self.expect_failure(2, ["--token has 5 characters"],
                            "serve", self.folder, "--token", "short")


if __name__ == "__main__":
    unittest.main()
