#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of faults, through the built tool: what is lost when a disk or a process fails at a bad moment.

fault_table_test.py FLIGHTDECK FAULTY_SYSTEM [--all]
Whatever fails, the training goes on or can be gone on with, to the same scores; every step that was recorded is in
the record, to the bit; the messages say what to do. --all tries every call of a run, not a sample of them.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import loaded_tool

FLIGHTDECK, FAULTY_SYSTEM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
ALL = "--all" in sys.argv
if ALL:
    sys.argv.remove("--all")
# Spares the second start, in which the tool gives itself a better environment.
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE", OMP_NUM_THREADS="1",
                  OPENBLAS_NUM_THREADS="1")
STEPS, EVERY = 10, 2
TRAINING = ["quadratic_deep", "--optimizer", "adam", "--lr", "0.04", "--steps", STEPS,
            "--checkpoint-every", EVERY, "--preset", "economy", "--interval", 1, "--threads", 1, "--json"]
PATIENCE = 240  # seconds, where other work takes the cores
DAY = 86400


def environment(faults):
    if not faults:
        return None
    return {**os.environ, "LD_PRELOAD": FAULTY_SYSTEM, "FLIGHTDECK_FAULTS": faults}


def flightdeck(*arguments, faults="", folder=None):
    return loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True,
                           timeout=PATIENCE, check=False, env=environment(faults), cwd=folder)


def start(*arguments, faults="", folder=None):
    return loaded_tool.Popen([FLIGHTDECK, *map(str, arguments)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=environment(faults), cwd=folder)


def outcome(run):
    """What a run came to, without what takes its time."""
    text = json.loads((run / "outcome.json").read_text())
    text.pop("training_seconds")
    text.pop("seconds")
    return text


def values(run):
    """All that was recorded, by step; empty if there is no record."""
    done = flightdeck("export", run, "--format", "jsonl")
    if done.returncode != 0:
        return {}
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    return {step["step"]: {json.dumps(value) for value in step["values"]
                           if value["quantity"] != "time"} for step in steps}


def some(items, count):
    """A sample that has the first and the last; everything with --all."""
    items = list(items)
    if ALL or len(items) <= count:
        return items
    return [items[round(k * (len(items) - 1) / (count - 1))] for k in range(count)]


class FaultTable(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        run, trace = pathlib.Path(cls.place.name) / "whole", pathlib.Path(cls.place.name) / "trace"
        done = flightdeck("run", *TRAINING, "--out", run, faults=f"under={run} trace={trace}")
        assert done.returncode == 0, done.stderr
        cls.calls = [line.split(" ", 2) for line in trace.read_text().splitlines()]
        cls.outcome, cls.values = outcome(run), values(run)
        assert len(cls.values) == STEPS + 1, cls.values.keys()  # the last has scores alone

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.run_folder = self.folder / "run"

    def train(self, faults, *more):
        shutil.rmtree(self.run_folder, ignore_errors=True)
        return flightdeck("run", *TRAINING, "--out", self.run_folder, *more,
                          faults=f"under={self.run_folder} {faults}")

    def end_of(self, done):
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {done.stderr}")
        self.assertNotIn("terminate called", done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(events and events[-1]["event"] == "end", done.stdout + done.stderr)
        return events[-1]

    def expect_part_of_the_record(self):
        """What is recorded is right, whatever is missing."""
        found = values(self.run_folder)
        for step, numbers in found.items():
            self.assertLessEqual(numbers, self.values[step], f"step {step}")
        return found

    def expect_same_end(self):
        """On a system that works, the run comes to what it would have come to without faults."""
        if not (self.run_folder / "outcome.json").exists():
            has_checkpoint = (self.run_folder / "checkpoint.pt").exists()
            done = (flightdeck("resume", self.run_folder) if has_checkpoint else
                    flightdeck("run", *TRAINING, "--out", self.run_folder, "--resume"))
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(outcome(self.run_folder), self.outcome)
        left = [path.name for path in self.run_folder.iterdir()
                if path.name.endswith(".new") or "checkpoint" in path.name]
        self.assertEqual(left, [])

    def expect_it_survives(self, faults):
        """Returns what it said, and what it recorded before it was gone on with."""
        done = self.train(faults)
        end = self.end_of(done)
        self.assertEqual((end["ending"], end["steps"]), ("finished", STEPS))
        self.assertEqual(done.returncode == 0, (self.run_folder / "outcome.json").exists())
        found = self.expect_part_of_the_record()
        if end["not_stored"] == 0 and "does not say how" not in done.stderr:
            self.assertEqual(set(found), set(self.values))
        else:
            self.assertRegex(done.stderr, "could not be stored|cannot be written|does not say how")
        for line in done.stderr.splitlines():
            self.assertEqual(done.stderr.count(line), 1, "said twice")
        self.expect_same_end()
        return done.stderr, found

    # ---- the disk --------------------------------------------------------------------------------

    def test_a_full_disk_ends_no_training_and_loses_no_scores(self):
        begin, rooms = 0, []
        for size in (int(size) for call, size, _ in self.calls if call == "write"):
            rooms += [begin, begin + size // 2, begin + size - 1]
            begin += size
        for room in some(rooms, 8):
            with self.subTest(room=room):
                error, _ = self.expect_it_survives(f"full={room}")
                for line in error.splitlines():
                    self.assertRegex(line, "make room on its disk|journal beside it|does not say how|as told above")

    def test_a_disk_that_is_full_for_checkpoints_alone_leaves_the_record_whole(self):
        sizes = [int(size) for call, size, path in self.calls if "checkpoint" in path and call == "write"]
        for k in some(range(1, len(sizes) + 1), 3):
            with self.subTest(write=k):
                error, found = self.expect_it_survives(f"match=checkpoint write@{k}+=ENOSPC")
                self.assertIn("No space left on device; make room on its disk", error)
                self.assertEqual(error.count("checkpoint:"), 1)
                self.assertEqual(found, self.values)

    def test_a_call_that_fails_costs_one_checkpoint_and_is_told_once(self):
        faults = [f"{call}@{which}=EIO" for which in ("1+", "1", "3") if ALL or which == "1+"
                  for call in ("open", "write", "sync", "close", "rename")]
        for fault in faults:
            with self.subTest(fault=fault):
                error, found = self.expect_it_survives(f"match=checkpoint {fault}")
                self.assertEqual(error.count("its disk fails: check it"), 1, error)
                self.assertEqual(found, self.values)

    def test_a_disk_whose_synchronisation_always_fails_is_survived(self):
        error, _ = self.expect_it_survives("sync@1+=EIO")
        self.assertIn("outcome: cannot write", error)

    def test_a_disk_that_becomes_read_only_is_survived(self):
        writes = sum(call == "write" for call, _, _ in self.calls)
        for k in some(range(1, writes + 1), 3):
            with self.subTest(write=k):
                self.expect_it_survives(f"write@{k}+=EROFS open@5+=EROFS rename@2+=EROFS")

    def test_a_folder_that_cannot_be_written_is_refused_before_the_training(self):
        done = self.train("readonly")
        self.assertEqual(done.returncode, 1)
        self.assertIn("choose another --out", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_an_interrupt_on_a_full_disk_ends_with_what_could_be_kept(self):
        before = sum(int(size) for call, size, path in self.calls[:40] if call == "write")
        long = [100_000 if word == STEPS else word for word in TRAINING]
        process = start("run", *long, "--out", self.run_folder,
                        faults=f"under={self.run_folder} full={before}")
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertIn("No space left on device", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, (1, 130), error)
        end = json.loads(out.splitlines()[-1])
        self.assertEqual((end["event"], end["ending"]), ("end", "interrupted"))
        self.assertIn("outcome: cannot write", error)
        self.expect_part_of_the_record_of_a_long_run()

    def expect_part_of_the_record_of_a_long_run(self):
        for step, numbers in values(self.run_folder).items():
            if step < STEPS:
                self.assertLessEqual(numbers, self.values[step], f"step {step}")

    # ---- the process -----------------------------------------------------------------------------

    def test_a_kill_at_any_stage_of_a_checkpoint_loses_nothing(self):
        stages = []  # call, which of them, checkpoints begun before it, checkpoints there before it
        for call, _, path in self.calls:
            if "checkpoint" in path and call != "unlink":
                seen = [stage[0] for stage in stages]
                stages.append((call, seen.count(call) + 1, seen.count("open"), seen.count("rename")))
        for call, k, begun, renamed in some(stages, 8):
            with self.subTest(call=call, k=k):
                done = self.train(f"match=checkpoint {call}@{k}=kill")
                self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
                found = self.expect_part_of_the_record()
                self.assertLessEqual(set(range(EVERY * begun)), set(found))
                self.assertEqual((self.run_folder / "checkpoint.pt").exists(), renamed > 0)
                self.expect_same_end()
                self.assertEqual(values(self.run_folder), self.values)

    def test_a_clock_that_jumps_by_a_day_changes_nothing(self):
        for seconds in (DAY, -DAY):
            with self.subTest(seconds=seconds):
                done = self.train(f"clock={seconds}@30")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(values(self.run_folder), self.values)
                self.assertEqual(outcome(self.run_folder), self.outcome)
                # Killed, and gone on with on another day.
                self.train("match=checkpoint rename@3=kill")
                done = flightdeck("resume", self.run_folder, faults=f"clock={seconds}@1")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(values(self.run_folder), self.values)
                self.assertEqual(outcome(self.run_folder), self.outcome)

    # ---- others ----------------------------------------------------------------------------------

    def expect_all(self, processes):
        return [(process.communicate(timeout=PATIENCE), process.returncode) for process in processes]

    def test_of_two_processes_on_one_run_one_records_it(self):
        ended = self.expect_all([start("run", *TRAINING, "--out", self.run_folder)
                                 for _ in range(2)])
        self.assertEqual(sorted(code for _, code in ended)[0], 0, ended)
        for (_, error), code in ended:
            if code != 0:
                self.assertRegex(error, "is being recorded to by another|already holds a run")
        self.assertEqual(values(self.run_folder), self.values)
        self.assertEqual(outcome(self.run_folder), self.outcome)

    def test_two_processes_on_one_study_share_its_runs(self):
        study = self.folder / "study"
        command = ["tune", "quadratic_deep", "--optimizer", "sgd", "--grid",
                   "learning_rate=0.01,0.02", "--seeds", 1, "--epochs", 1, "--threads", 1, "--out",
                   study]
        ended = self.expect_all([start(*command) for _ in range(2)])
        self.assertEqual([code for _, code in ended], [0, 0], ended)
        logs = list(study.glob("runs/**/log.txt"))
        self.assertEqual(len(logs), 2)
        for log in logs:
            self.assertEqual(log.read_text().count("finished:"), 1)

    def test_two_dashboards_show_one_folder(self):
        self.assertEqual(self.train("").returncode, 0)
        for process in [start("serve", self.folder, "--port", 0, "--json") for _ in range(2)]:
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            address = json.loads(process.stdout.readline())["address"]
            with urllib.request.urlopen(address + "api/v1/runs", timeout=PATIENCE) as answer:
                runs = json.load(answer)["runs"]
            self.assertEqual([(run["id"], run["status"]) for run in runs], [("run", "finished")])

    def test_runs_begun_in_the_same_second_have_folders_of_their_own(self):
        count = 40 if ALL else 6
        short = ["quadratic_deep", "--steps", 2, "--preset", "none", "--evaluate-every", 0]
        ended = self.expect_all([start("run", *short, folder=self.folder) for _ in range(count)])
        self.assertEqual([code for _, code in ended], [0] * count, ended)
        self.assertEqual(len(list(self.folder.glob("runs/*/outcome.json"))), count)


if __name__ == "__main__":
    unittest.main()
