#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that are killed and gone on with, through the built tool: resume_test.py <flightdeck>"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

import loaded_tool

FLIGHTDECK = sys.argv.pop(1)
# Spares the second start, in which the tool gives itself a better environment.
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE", OMP_NUM_THREADS="1",
                  OPENBLAS_NUM_THREADS="1")
QUADRATIC = ["quadratic_deep", "--optimizer", "adam", "--lr", "0.04"]
# Dropout, batches in random order with augmentation, buffers, a penalty.
CONVOLUTIONS = ["cifar100_allcnnc", "--synthetic", "--limit", "9", "--batch-size", "3",
                "--optimizer", "lookahead_radam", "--schedule", "cosine"]
FULL = ["--preset", "full", "--interval", "1", "--group", "module"]
PATIENCE = 240  # seconds, where other work takes the cores


def flightdeck(*arguments):
    return loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           timeout=PATIENCE, check=False)


def start(*arguments):
    return loaded_tool.Popen([FLIGHTDECK, *map(str, arguments)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)


class ResumeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect_success(self, *arguments):
        done = flightdeck(*arguments)
        self.assertEqual(done.returncode, 0, f"flightdeck {arguments}: {done.stderr}{done.stdout}")
        return done.stdout

    def outcome(self, run):
        """What a run came to, without what takes its time."""
        outcome = json.loads((run / "outcome.json").read_text())
        outcome.pop("training_seconds")
        outcome.pop("seconds")
        return outcome

    def values(self, run):
        """All that was recorded, to the last digit, but for times."""
        exported = self.folder / "values.jsonl"
        self.expect_success("export", run, "--format", "jsonl", "--out", exported, "--force")
        steps = [json.loads(line) for line in exported.read_text().splitlines()]
        return {step["step"]: sorted(json.dumps(value) for value in step["values"]
                                     if value["quantity"] != "time") for step in steps}

    def state_of_checkpoint(self, run):
        """Changes with every checkpoint that is written."""
        try:
            state = (run / "checkpoint.pt").stat()
        except FileNotFoundError:
            return None
        return state.st_ino, state.st_mtime_ns

    def wait_until(self, has_come, process):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if has_come():
                return
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            time.sleep(0.01)
        self.fail("what the run should have written did not come")

    def wait_for(self, path, process):
        self.wait_until(path.exists, process)

    def killed(self, arguments, run, signal_number=signal.SIGKILL):
        """Starts a run and ends it by a signal after its first checkpoint."""
        process = start("run", *arguments, "--out", run)
        self.wait_for(run / "checkpoint.pt", process)
        process.send_signal(signal_number)
        process.wait(timeout=PATIENCE)
        return process.returncode

    def expect_same_as_uninterrupted(self, arguments, signal_number):
        whole, broken = self.folder / "whole", self.folder / "broken"
        self.expect_success("run", *arguments, "--out", whole)
        self.killed(arguments, broken, signal_number)
        self.assertTrue((broken / "checkpoint.pt").exists())
        self.expect_success("resume", broken)
        self.assertFalse((broken / "checkpoint.pt").exists())
        self.assertEqual(self.outcome(broken), self.outcome(whole))
        self.assertEqual(self.values(broken), self.values(whole))

    def test_a_killed_run_goes_on_to_the_bit(self):
        self.expect_same_as_uninterrupted(
            [*QUADRATIC, "--epochs", "10", "--checkpoint-every", "10", *FULL], signal.SIGKILL)

    def test_a_killed_network_with_dropout_goes_on_to_the_bit(self):
        self.expect_same_as_uninterrupted(
            [*CONVOLUTIONS, "--epochs", "2", "--checkpoint-every", "2", "--preset", "business",
             "--quantity", "grad_hist_1d", "--set", "fast_steps=3"], signal.SIGKILL)

    def test_a_state_carried_from_batch_to_batch_is_carried_on(self):
        self.expect_same_as_uninterrupted(
            ["tolstoi_char_rnn", "--synthetic", "--limit", "60", "--batch-size", "10",
             "--optimizer", "momentum", "--epochs", "4", "--checkpoint-every", "5",
             "--preset", "none"], signal.SIGKILL)

    def test_an_interrupted_run_goes_on_to_the_bit(self):
        self.expect_same_as_uninterrupted(
            [*QUADRATIC, "--epochs", "80", "--checkpoint-every", "7", "--preset", "economy"],
            signal.SIGTERM)

    def test_a_run_killed_again_and_again_ends_as_one_that_was_not(self):
        arguments = [*QUADRATIC, "--epochs", "40", "--checkpoint-every", "3", "--preset",
                     "economy", "--seed", "3"]
        whole, broken = self.folder / "whole", self.folder / "broken"
        self.expect_success("run", *arguments, "--out", whole)
        for _ in range(4):
            before = self.state_of_checkpoint(broken)
            process = start("run", *arguments, "--out", broken, "--resume")
            self.wait_until(lambda: self.state_of_checkpoint(broken) != before, process)
            process.kill()
            self.assertEqual(process.wait(), -signal.SIGKILL)
        self.expect_success("run", *arguments, "--out", broken, "--resume")
        self.assertEqual(self.outcome(broken), self.outcome(whole))
        self.assertEqual(self.values(broken), self.values(whole))

    def test_a_run_that_has_ended_is_not_run_again(self):
        run = self.folder / "run"
        arguments = ["run", *QUADRATIC, "--epochs", "1", "--preset", "none", "--out", run,
                     "--resume"]
        self.expect_success(*arguments)
        before = (run / "outcome.json").stat().st_mtime_ns
        self.assertIn("has ended already: finished", self.expect_success(*arguments))
        self.assertEqual((run / "outcome.json").stat().st_mtime_ns, before)
        done = flightdeck("resume", run)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no checkpoint: it is finished", done.stderr)

    def test_a_run_killed_before_its_first_checkpoint_can_be_begun_anew(self):
        run = self.folder / "a run"
        process = start("run", *QUADRATIC, "--epochs", "100000", "--preset", "none",
                        "--checkpoint-every", "0", "--out", run)
        self.wait_for(run / "run.sqlite", process)
        process.kill()
        process.wait()
        done = flightdeck("resume", run)
        self.assertEqual(done.returncode, 2)
        self.assertIn("was killed within its first minute", done.stderr)
        command = shlex.split(done.stderr.strip().splitlines()[-1])
        self.assertEqual(command[-3:], ["--out", str(run), "--resume"])

    def test_rates_after_resuming_are_of_the_steps_taken_since(self):
        run = self.folder / "run"
        arguments = [*QUADRATIC, "--epochs", "200", "--checkpoint-every", "7", "--preset", "none"]
        self.assertEqual(self.killed(arguments, run, signal.SIGTERM), 143)
        # The step after a checkpoint is taken again.
        here = 1400 - self.outcome(run)["steps"] + 1
        self.assertIn(f"finished: 1400 steps, {here} of them here in", self.expect_success("resume", run))

    def test_a_run_is_not_gone_on_with_under_other_options(self):
        run = self.folder / "run"
        arguments = [*QUADRATIC, "--epochs", "200", "--checkpoint-every", "7", "--preset", "none"]
        self.killed(arguments, run)
        done = flightdeck("run", "quadratic_deep", "--optimizer", "sgd", "--epochs", "200",
                          "--preset", "none", "--out", run, "--resume")
        self.assertEqual(done.returncode, 1)
        self.assertIn("optimizer is sgd but was adam", done.stderr)

    def test_another_run_is_not_begun_anew_in_its_place(self):
        run = self.folder / "run"
        process = start("run", *QUADRATIC, "--epochs", "100000", "--preset", "none", "--out", run,
                        "--checkpoint-every", "0")
        self.wait_for(run / "run.sqlite", process)
        self.wait_until(lambda: flightdeck("export", run, "--format", "jsonl").stdout, process)
        process.kill()
        process.wait()
        before = self.values(run)
        self.assertTrue(before)
        done = flightdeck("run", "quadratic_deep", "--optimizer", "sgd", "--epochs", "100000",
                          "--preset", "none", "--out", run, "--resume")
        self.assertEqual(done.returncode, 1)
        self.assertIn("optimizer is sgd but was adam", done.stderr)
        self.assertEqual(self.values(run), before)

    def test_a_run_that_has_ended_does_not_stand_for_another(self):
        run = self.folder / "run"
        arguments = ["--epochs", "1", "--preset", "none", "--out", run, "--resume"]
        self.expect_success("run", *QUADRATIC, *arguments)
        done = flightdeck("run", "quadratic_deep", "--optimizer", "adam", "--lr", "0.040001",
                          *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertIn("learning_rate was 0.04 and is 0.040001 now", done.stderr)

    def test_a_damaged_checkpoint_is_named(self):
        run = self.folder / "run"
        arguments = [*QUADRATIC, "--epochs", "200", "--checkpoint-every", "7", "--preset", "none"]
        self.killed(arguments, run)
        (run / "checkpoint.pt").write_bytes(b"not a checkpoint")
        done = flightdeck("resume", run)
        self.assertEqual(done.returncode, 1)
        self.assertIn("checkpoint.pt cannot be read; remove it to begin the run anew", done.stderr)

    def change_checkpoint(self, run, word, other):
        """Puts another word in the place of an argument that is kept in a checkpoint."""
        old = run / "checkpoint.pt"
        new = run / "changed"
        with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w") as target:
            for entry in source.infolist():
                content = source.read(entry)
                if entry.filename.endswith("/data.pkl"):
                    self.assertIn(word, content)
                    content = content.replace(word, other)
                target.writestr(entry.filename, content)
        new.rename(old)

    def test_arguments_that_no_run_was_started_with_are_refused(self):
        run, other = self.folder / "run", self.folder / "other"
        arguments = [*QUADRATIC, "--epochs", "60", "--checkpoint-every", "7", "--preset", "none",
                     "--tag", f"a={other}"]
        self.killed(arguments, run)
        kept = (run / "checkpoint.pt").read_bytes()
        for word, wrong, reason in (
                (b"run", b"rum", "it wants 'flightdeck rum' to be started"),
                (b"--tag", b"--bad", "does not take its options"),
                (b"--preset", b"--help  ", "does not take its options"),
                (b"--epochs", b"--seed=x", "does not take its options"),
                (b"--epochs", b"--alert-command", "alerts, which are given on the command line alone")):
            with self.subTest(wrong=wrong):
                was, becomes = (b"X" + len(text).to_bytes(4, "little") + text for text in (word, wrong))
                self.change_checkpoint(run, was, becomes)
                done = flightdeck("resume", run)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("checkpoint.pt is not the checkpoint of a run", done.stderr)
                self.assertIn(reason, done.stderr)
                (run / "checkpoint.pt").write_bytes(kept)
        # Where the run is, is not the checkpoint's to say.
        size = len("--tag").to_bytes(4, "little")
        self.change_checkpoint(run, b"X" + size + b"--tag", b"X" + size + b"--out")
        self.expect_success("resume", run)
        self.assertTrue((run / "outcome.json").exists())
        self.assertEqual(list(self.folder.glob("a=*")), [])
        self.assertFalse(other.exists())

    def test_what_a_run_writes_stays_in_its_folder(self):
        run, other = self.folder / "run", self.folder / "other"
        self.killed([*QUADRATIC, "--epochs", "60", "--checkpoint-every", "7", "--preset", "none"], run)
        for name in ("outcome.json", "report.html"):
            (run / name).symlink_to(other)
        self.expect_success("resume", run)
        self.expect_success("report", run)
        self.assertFalse(other.exists())

    def test_a_run_in_use_is_refused(self):
        run = self.folder / "run"
        process = start("run", *QUADRATIC, "--epochs", "100000", "--preset", "none", "--out", run)
        try:
            self.wait_for(run / "lock", process)
            for arguments in (["--resume"], []):
                done = flightdeck("run", *QUADRATIC, "--epochs", "100000", "--preset", "none",
                                  "--out", run, *arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("is being recorded to" if arguments else "already holds a run",
                              done.stderr)
        finally:
            process.kill()
            process.wait()

    def test_divergence_is_marked_and_ends_the_run_unless_it_keeps_going(self):
        for more, steps in ((["--stop-diverged"], None), ([], None), (["--keep-going"], 700)):
            run = self.folder / ("run" + "".join(more))
            done = flightdeck("run", "quadratic_deep", "--optimizer", "sgd", "--lr", "1e30",
                              "--preset", "none", "--out", run, *more)
            outcome = self.outcome(run)
            self.assertEqual(outcome["ending"], "diverged", done.stderr)
            self.assertGreaterEqual(outcome["diverged_at"], 0)
            self.assertEqual(done.returncode, 0 if more == ["--keep-going"] else 1)
            if steps is None:
                self.assertEqual(outcome["steps"], outcome["diverged_at"] + 1)
            else:
                self.assertEqual(outcome["steps"], steps)


if __name__ == "__main__":
    unittest.main()
