#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The experiments at test size through the built tool: experiments_test.py <path of flightdeck> [CLASS]

Each class of tests is an entry of its own, so that they run side by side.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
# Set in the process that the tool starts again with a better environment: spares that second start.
os.environ["FLIGHTDECK_ENV_SET"] = "1"
# What is found must not depend on the person: data sets of the system, or generated ones.
os.environ["HOME"] = "/nonexistent"
os.environ.pop("FLIGHTDECK_DATA", None)


def flightdeck(*arguments, path=os.environ["PATH"]):
    return loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           timeout=200, check=False, env=dict(os.environ, PATH=str(path)))


def put_converter(folder, text='#!/bin/sh\ncp "$5" "$4"\n'):
    """A folder for PATH whose converter to PNG is a script; a browser would take longer than most experiments."""
    folder.mkdir(exist_ok=True)
    for name in ("timeout", "sh", "cp"):
        if not (folder / name).exists():
            (folder / name).symlink_to(shutil.which(name))
    converter = folder / "rsvg-convert"
    converter.write_text(text)
    converter.chmod(0o755)
    return folder


class Experiments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "results"
        self.tools = pathlib.Path(folder.name) / "tools"

    def run_quick(self, name, *options, path=None):
        """Runs an experiment; returns its JSON object and the rows of its figures by file."""
        done = flightdeck("experiment", name, "--quick", "--json", "--out", self.folder, *options,
                          path=path or put_converter(self.tools))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["experiment"], name)
        self.assertTrue(result["finding"].endswith("."))
        self.assertTrue(result["data"])
        self.assertEqual(json.loads((self.folder / "result.json").read_text()), result)
        self.assertTrue(result["compared"], "a verdict rests on numbers")
        for number in result["compared"]:
            self.assertTrue(number["what"] and number["published"], number)
        self.assertGreaterEqual(result["seconds"], 0)
        files = [pathlib.Path(file) for file in result["files"]]
        drawings = [file for file in files if file.suffix == ".svg"]
        self.assertTrue(drawings, "a figure is drawn")
        for drawing in drawings:
            ElementTree.parse(drawing)
            self.assertNotIn("nan", re.findall(r'd="([^"]*)"', drawing.read_text()))
            has_png = drawing.with_suffix(".png").exists()
            self.assertNotEqual(has_png, bool(result["remark"]), result["remark"])
        figures = {}
        for file in (file for file in files if file.suffix == ".csv"):
            with file.open(newline="") as lines:
                figures[file.stem] = list(csv.DictReader(lines))
        return result, figures


class Findings(Experiments):
    def test_raw_pixels_spread_the_gradients(self):
        result, figures = self.run_quick("raw_data")
        self.assertTrue(result["holds"], result)
        rows = figures["histograms"]
        entries = {data: sum(int(row["count"]) for row in rows
                             if (row["data"], row["step"]) == (data, "0"))
                   for data in ("normalised", "raw")}
        self.assertEqual(entries["normalised"], entries["raw"])
        self.assertEqual((rows[0]["low"], rows[0]["high"]), ("-inf", "-2"))

    def test_a_size_of_one_s_own_is_taken_and_named(self):
        result, figures = self.run_quick("preconditioned_training", "--steps", 12, "--seeds", 2,
                                         "--samples", 300)
        self.assertIn("size as chosen: 12 steps, 2 seeds, 300 samples", result["data"])
        self.assertEqual({row["seed"] for row in figures["curves"]}, {"42", "43"})
        self.assertEqual(max(int(row["step"]) for row in figures["curves"]), 12)

    def test_the_published_size_is_all_epochs(self):
        done = flightdeck("experiment", "preconditioned_training", "--published", "--synthetic", "--seeds", 1,
                          "--samples", 128, "--json", "--out", self.folder, path=put_converter(self.tools))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("size as published: 50 epochs, ten seeds", json.loads(done.stdout)["data"])
        with (self.folder / "curves.csv").open(newline="") as lines:
            steps = [int(row["step"]) for row in csv.DictReader(lines)]
        self.assertEqual(steps[:51], list(range(51)))  # a step is an epoch of 128 samples, and each is evaluated

    def test_sizes_that_an_experiment_has_not_are_refused_by_name(self):
        for options, words in ((("raw_data", "--steps", 3), "the number of steps of raw_data"),
                               (("showcase", "--seeds", 2), "it takes steps, samples"),
                               (("showcase", "--steps", -1), "at least 1"),
                               (("raw_data", "--published"), "raw_data has no size beyond its default"),
                               (("alpha_accuracy", "--published", "--quick"), "leave one of them out")):
            done = flightdeck("experiment", *options, "--out", self.folder / "none")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "none").exists())

    def test_sigmoids_starve_the_layers_near_the_input(self):
        result, figures = self.run_quick("vanishing_gradients")
        self.assertTrue(result["holds"], result)
        self.assertEqual({row["net"] for row in figures["histograms"]}, {"relu", "sigmoid"})

    def test_the_best_runs_overshoot(self):
        result, figures = self.run_quick("alpha_accuracy")
        self.assertTrue(result["holds"], result)
        for best in result["table"]:
            runs = [row for row in figures["runs"] if row["problem"] == best["problem"]]
            self.assertEqual(max(float(row["accuracy"]) for row in runs), best["accuracy"])

    def test_noise_lowers_the_largest_eigenvalue_at_equal_loss(self):
        result, figures = self.run_quick("implicit_regularisation")
        self.assertTrue(result["holds"], result)
        last = figures["curves"][-1]
        weights = figures["weights"]
        self.assertEqual((float(weights[0]["gd_w1"]), float(weights[0]["sgd_w2"])), (0.1, 1.7))
        self.assertLess(float(last["sgd_max_ev"]), 0.98 * float(last["gd_max_ev"]))
        self.assertLess(abs(float(last["sgd_loss"]) / float(last["gd_loss"]) - 1), 0.01)

    def test_convex_problems_look_different(self):
        result, figures = self.run_quick("convex_view")
        self.assertEqual(len({row["problem"] for row in figures["curves"]}), 3)
        for row in result["table"]:  # the screen of each, and the run that it shows
            screen = ElementTree.parse(self.folder / f"screen_{row['problem']}.svg")
            panels = {text.text for text in screen.iter() if text.get("class") == "head"}
            self.assertLessEqual({"alpha", "distance", "update_size", "grad_norm", "norm_test", "inner_test",
                                  "ortho_test", "hess_max_ev", "hess_trace", "tic_diag", "loss"}, panels)
            run = self.folder / "runs" / row["problem"]
            self.assertIn(str(run), result["files"])
            told = json.loads(flightdeck("show", run, "--json").stdout)
            self.assertLessEqual({"grad_hist_1d", "grad_hist_2d"}, {series["name"] for series in told["series"]})
        for row in result["table"]:
            if row["convex"] == "yes":
                self.assertLess(row["grad_norm_last"], row["grad_norm_first"])
                self.assertGreater(row["norm_test_last"], row["norm_test_first"])
            else:  # which way a deep net goes depends on the images; generated ones are too easy
                grows = row["grad_norm_last"] >= row["grad_norm_first"]
                self.assertEqual(result["holds"], grows)
                self.assertTrue(grows or result["synthetic"], result)

    def test_two_runs_of_the_same_loss_differ_in_alpha(self):
        result, figures = self.run_quick("same_loss", path=os.environ["PATH"])  # converted by what this machine has
        self.assertTrue(result["holds"], result)
        for row in figures["curves"]:  # a step of rate r leaves 1 - r of the way, of 2 - r as much
            self.assertAlmostEqual(float(row["creeping_loss"]), float(row["leaping_loss"]), places=9)

    def test_one_pass_and_a_loop_are_timed_for_every_batch_size(self):
        result, figures = self.run_quick("individual_gradients")
        self.assertEqual([int(row["samples"]) for row in figures["times"]], [1, 2, 4, 8, 16])
        for row in figures["times"]:
            self.assertGreater(float(row["gradient_ms"]), 0)

    def test_every_extension_has_its_price_with_ten_and_a_hundred_classes(self):
        _, figures = self.run_quick("extension_overhead")
        price = {row["extension"]: float(row["classes_100"]) for row in figures["overhead"]}
        self.assertEqual(len(price), 8)
        self.assertTrue(all(ratio > 0 for ratio in price.values()), price)

    def test_both_diagonals_agree_without_the_sigmoid_and_differ_with_it(self):
        result, _ = self.run_quick("hessian_diagonal")
        plain, sigmoid = result["table"]
        self.assertLess(plain["apart"], 1e-5)
        self.assertGreater(sigmoid["apart"], 1e-4)

    def test_the_ggn_has_no_more_eigenvalues_than_samples_times_classes(self):
        result, figures = self.run_quick("ggn_spectra")
        exact = next(row for row in result["table"] if row["approximation"] == "exact")
        self.assertLessEqual(exact["eigenvalues"], 32 * 10)
        for blocks in ("whole", "layers"):
            values = [float(row["eigenvalue"]) for row in figures["eigenvalues"]
                      if (row["blocks"], row["approximation"]) == (blocks, "exact")]
            self.assertEqual(values, sorted(values, reverse=True))
        # Blocks of the diagonal have the trace of the whole matrix.
        self.assertAlmostEqual(result["compared"][2]["here"], 1, places=2)

    def test_gram_matrix_and_power_iteration_find_the_same_eigenvalues(self):
        result, _ = self.run_quick("eigenpair_time")
        self.assertEqual([row["pairs"] for row in result["table"]], [1, 2, 4])
        self.assertLess(result["table"][0]["values_apart"], 0.02)

    def test_on_a_linear_model_ggn_and_hessian_have_the_same_space(self):
        result, figures = self.run_quick("eigenspaces")
        for row in figures["overlaps"]:
            self.assertTrue(0 <= float(row["overlap"]) <= 1 + 1e-6, row)
            if row["space"] == "hessian":
                self.assertGreater(float(row["overlap"]), 0.99)

    def test_every_leading_direction_has_a_signal_to_noise_ratio(self):
        result, figures = self.run_quick("curvature_snr")
        steps = {row["step"] for row in figures["ratios"]}
        self.assertEqual(len(figures["ratios"]), 10 * len(steps))
        self.assertTrue(all(float(row["curvature_snr"]) >= 0 for row in figures["ratios"]))

    def test_the_best_learning_rate_is_the_best_of_its_grid(self):
        result, figures = self.run_quick("learning_rate_sensitivity")
        for row in result["table"]:
            grid = {float(line["learning_rate"]): float(line["test_loss"])
                    for line in figures["grid"] if line["optimizer"] == row["optimizer"]}
            self.assertEqual(min(grid, key=grid.get), row["best_rate"])

    def test_every_preset_is_timed_at_every_interval(self):
        _, figures = self.run_quick("cockpit_overhead")
        self.assertEqual(len(figures["overhead"]), 6)
        self.assertTrue(all(float(row["overhead"]) > 0 for row in figures["overhead"]))

    def test_the_showcase_has_all_panels(self):
        _, figures = self.run_quick("showcase")
        self.assertEqual(len({row["quantity"] for row in figures["values"]}), 12)

    def test_raw_pixels_widen_the_gradients_of_a_vgg(self):
        result, figures = self.run_quick("raw_data_vgg")
        self.assertTrue(result["holds"], result)
        entries = {data: sum(int(row["count"]) for row in figures["histograms"] if row["data"] == data)
                   for data in ("normalised", "raw")}
        self.assertEqual(entries["normalised"], entries["raw"])

    def test_a_mini_batch_is_surer_of_its_curvature_than_its_approximations(self):
        result, figures = self.run_quick("curvature_under_noise")
        self.assertTrue(all(float(row["relative_error"]) >= 0 for row in figures["errors"]))
        mean = {number["what"]: number["here"] for number in result["compared"]}
        exact = mean["mean error of the mini-batch's own curvature"]
        self.assertLess(exact, mean["the same with both"])

    def test_histograms_need_less_memory_than_individual_gradients(self):
        result, figures = self.run_quick("histogram_memory")
        self.assertTrue(result["holds"], result)
        for row in figures["peaks"]:
            self.assertLess(float(row["layerwise_mib"]), float(row["kept_mib"]))
            self.assertGreater(float(row["kept_mib"]), 16 * 4 * int(row["parameters"]) / 2**20)

    def test_generated_data_are_named_as_such(self):
        result, _ = self.run_quick("raw_data", "--synthetic")
        self.assertTrue(result["synthetic"])
        self.assertIn("synthetic", result["data"][0])
        self.assertTrue(result["holds"], result)

    def test_prints_table_finding_and_files(self):
        done = flightdeck("experiment", "implicit_regularisation", "--quick", "--out", self.folder,
                          "--seed", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("sgd_max_ev", "It holds: after 4000 steps", "curves.csv", "result.json"):
            self.assertIn(words, done.stdout)

    def test_pictures_are_converted_by_what_is_there(self):
        def run(out):
            done = flightdeck("experiment", "same_loss", "--quick", "--json", "--out", self.folder / out,
                              path=self.tools)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        (put_converter(self.tools) / "rsvg-convert").unlink()
        alone = run("alone")
        self.assertIn("neither rsvg-convert", alone["remark"])
        self.assertFalse([file for file in alone["files"] if file.endswith(".png")])
        put_converter(self.tools)
        converted = run("converted")
        self.assertEqual(converted["remark"], "")
        self.assertTrue((self.folder / "converted/figure.png").exists())
        put_converter(self.tools, '#!/bin/sh\necho no memory >&2\nexit 3\n')
        self.assertIn("rsvg-convert ended with status 3: no memory", run("failed")["remark"])

    def test_does_not_overwrite(self):
        self.folder.mkdir()
        (self.folder / "mine").write_text("precious")
        done = flightdeck("experiment", "raw_data", "--out", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(str(self.folder), done.stderr)

    def test_suggests_the_nearest_name(self):
        done = flightdeck("experiment", "raw_date")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'raw_data'", done.stderr)


class ManyOptimizers(Experiments):
    def test_preconditioned_gradients_lower_the_loss(self):
        _, figures = self.run_quick("preconditioned_training")
        first, last = {}, {}
        for row in figures["curves"]:
            first.setdefault(row["optimizer"], float(row["train_loss"]))
            last[row["optimizer"]] = float(row["train_loss"])
        self.assertEqual(len(last), 7)
        for name, loss in last.items():
            self.assertLess(loss, first[name], name)

    def test_all_optimizers_run_on_all_problems_untuned_and_tuned(self):
        _, figures = self.run_quick("optimizer_comparison")
        optimizers = {row["optimizer"] for row in figures["runs"]}
        self.assertEqual(len(figures["runs"]), len(optimizers) * 2 * 2)
        self.assertIn("adam", optimizers)

    def test_curvature_lowers_the_loss_of_small_networks(self):
        for name, competitors in (("preconditioned_2c2d", 6), ("preconditioned_3c3d", 6),
                                  ("preconditioned_allcnnc", 4)):
            with self.subTest(name):
                shutil.rmtree(self.folder, ignore_errors=True)
                result, figures = self.run_quick(name, "--steps", 20)
                self.assertEqual(len(result["table"]), competitors)
                for row in result["table"]:
                    curve = [float(line["train_loss"]) for line in figures["curves"]
                             if line["optimizer"] == row["optimizer"]]
                    self.assertEqual(curve[-1], row["train_loss"])
                    if row["optimizer"].startswith("k"):
                        self.assertLess(curve[-1], curve[0], row)


class NewtonSteps(Experiments):
    def test_blocks_split_into_lines_are_solved_in_fewer_iterations(self):
        result, figures = self.run_quick("hbp_sub_blocks", "--steps", 4)  # counts iterations at the start
        self.assertEqual(len({row["optimizer"] for row in figures["curves"]}), 4)
        iterations = [number["here"] for number in result["compared"] if "longest" in number["what"]
                      or "split the most" in number["what"]][-2:]
        self.assertLess(iterations[1], iterations[0])

    def test_exact_products_lower_the_loss_of_a_sigmoid_net(self):
        _, figures = self.run_quick("hbp_matrix_free", "--steps", 10)
        first, last = {}, {}
        for row in figures["curves"]:
            first.setdefault(row["optimizer"], float(row["train_loss"]))
            last[row["optimizer"]] = float(row["train_loss"])
        self.assertEqual(len(last), 7)
        for name, loss in last.items():
            self.assertLess(loss, first[name], name)

    def test_newton_steps_are_ahead_on_3c3d_with_sigmoids(self):
        result, _ = self.run_quick("hbp_sigmoids")
        self.assertTrue(result["holds"], result)


if __name__ == "__main__":
    unittest.main()
