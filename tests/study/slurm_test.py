#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A study through Slurm: slurm_test.py <path of flightdeck>

Starts a Slurm of one node with folders and ports of its own, and ends it again."""

import getpass
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tests/docs"))
import snippets  # noqa: E402

FLIGHTDECK = os.path.abspath(sys.argv.pop(1))
# Debian keeps daemons where an ordinary user's path does not look.
os.environ["PATH"] += ":/usr/sbin:/sbin"
PROGRAMS = ["munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"]
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
STUDY = ["quadratic_deep", "--optimizer", "sgd", "--grid", "learning_rate=0.01,0.02,0.03", "--seeds",
         "3", "--epochs", "1", "--threads", "1"]
PATIENCE = 240  # seconds


def free_ports(count):
    """Returns ports that were free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.2)


def hindrance():
    """Returns why no Slurm can be started on this machine; empty if one can."""
    if MISSING:
        return f"Slurm is not installed (slurm-wlm, munge): no {', '.join(MISSING)}"
    # As in a bare chroot. Its daemon gives up without them, whatever its configuration says.
    if not CGROUPS.is_dir() or not any(CGROUPS.iterdir()):
        return f"Slurm cannot run here: no control groups are mounted in {CGROUPS}"
    return ""


class Slurm:
    """munged, slurmctld and slurmd in the foreground, below one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.configuration = folder / "slurm.conf"
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir(mode=0o700)
        folder.chmod(0o755)  # munged refuses a socket below a folder that others cannot enter
        (folder / "munge").chmod(0o711)
        self.write_configuration()
        os.environ["SLURM_CONF"] = str(self.configuration)

    def write_configuration(self):
        controller, node = free_ports(2)
        host = socket.gethostname().split(".")[0]
        self.configuration.write_text(f"""\
ClusterName=flightdeck
SlurmctldHost={host}(127.0.0.1)
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket
CryptoType=crypto/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MaxArraySize=3
SchedulerParameters=sched_interval=1,defer
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")

    def start(self):
        munge = self.folder / "munge"
        subprocess.run(["mungekey", "--create", f"--keyfile={munge}/key"], check=True)
        self.launch("munged", "--foreground", f"--socket={munge}/socket", f"--key-file={munge}/key",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log",
                    f"--seed-file={munge}/seed")
        wait_until((munge / "socket").exists, "munged")
        self.launch("slurmctld", "-D", "-c", "-f", self.configuration)
        self.launch("slurmd", "-D", "-c", "-f", self.configuration)
        wait_until(self.is_up, "the node")

    def check_alive(self):
        for process in self.processes:
            if process.poll() is not None:
                raise AssertionError(f"{process.args[0]} has ended")

    def launch(self, *command):
        with open(self.folder / f"{command[0]}.log", "wb") as log:
            self.processes.append(subprocess.Popen(list(map(str, command)), stdout=log, stderr=log,
                                                   start_new_session=True))

    def is_up(self):
        self.check_alive()
        told = subprocess.run(["scontrol", "show", "node"], capture_output=True, text=True,
                              check=False)
        return "State=IDLE" in told.stdout

    def jobs(self):
        told = subprocess.run(["squeue", "--noheader", "--array", "--format=%i %T %r"],
                              capture_output=True, text=True, check=True)
        return told.stdout.split("\n")[:-1]

    def logs(self):
        return "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}"
                       for log in self.folder.glob("*.log"))

    def stop(self):
        subprocess.run(["scancel", "--me"], check=False)
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def tune(*arguments):
    """Runs `flightdeck tune --json`; returns exit status, events and standard error."""
    done = subprocess.run([FLIGHTDECK, "tune", *map(str, arguments), "--json"], capture_output=True,
                          text=True, timeout=100, check=False)
    return done.returncode, list(map(json.loads, done.stdout.splitlines())), done.stderr


@unittest.skipIf(hindrance(), hindrance())
class StudyThroughSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="flightdeck-slurm-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.slurm = Slurm(cls.folder)
        cls.addClassCleanup(cls.slurm.stop)
        try:
            cls.slurm.start()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{cls.slurm.logs()}") from error

    def expect_events(self, *arguments):
        code, events, error = tune(*arguments)
        self.assertEqual(code, 0, f"{error}\n{self.slurm.logs()}")
        return {event["event"]: event for event in events}

    def outputs(self, study):
        return "".join(f"--- {path.name}\n{path.read_text()}"
                       for path in sorted(study.glob("slurm/*.txt")))

    def test_runs_all_stages_and_submits_nothing_twice(self):
        study = self.folder / "study"
        first = self.expect_events(*STUDY, "--out", study, "--slurm",
                                   "--slurm-option=--time=10")["submitted"]
        self.assertEqual(first["runs"], 3)
        self.assertEqual(len(first["jobs"]), 2)  # an array and what follows it
        again = self.expect_events(study, "--slurm")["submitted"]
        self.assertEqual(again["runs"], 0)
        wait_until(lambda: not self.slurm.jobs(), "the queue to run empty")

        end = self.expect_events(study, "--plan-only")["end"]
        self.assertEqual((end["planned"], end["done"]), (5, 5), self.outputs(study))
        result = end["results"][0]
        self.assertTrue(result["complete"])
        self.assertEqual(result["seeds"], 3)
        self.assertEqual(self.expect_events(study, "--slurm")["submitted"]["runs"], 0)
        self.assertEqual(self.slurm.jobs(), [])

    def test_uses_several_arrays_where_one_would_be_too_long(self):
        study = self.folder / "long"
        submitted = self.expect_events("quadratic_deep", "--optimizer", "sgd", "--budget",
                                       "one_shot", "--seeds", 7, "--epochs", 1, "--threads", 1,
                                       "--out", study, "--slurm")["submitted"]
        self.assertEqual((submitted["runs"], len(submitted["jobs"])), (7, 4))
        wait_until(lambda: not self.slurm.jobs(), "the queue to run empty")
        end = self.expect_events(study, "--plan-only")["end"]
        self.assertEqual(end["done"], 7, self.outputs(study))

    def test_goes_on_with_a_run_that_slurm_ended(self):
        study = self.folder / "ended"
        jobs = self.expect_events("quadratic_deep", "--optimizer", "sgd", "--budget", "one_shot",
                                  "--seeds", 1, "--epochs", 400, "--threads", 1, "--out", study,
                                  "--slurm")["submitted"]["jobs"]
        run = study / "runs/quadratic_deep/sgd/constant/default/seed-42"
        wait_until((run / "run.sqlite").exists, "the run to begin")
        # As at the time limit: to all processes of the job.
        subprocess.run(["scancel", "--signal=TERM", "--full", jobs[0]], check=True)
        wait_until(lambda: not self.slurm.jobs(), "the queue to run empty")
        self.assertNotEqual(json.loads((study / "slurm.json").read_text())["jobs"], jobs,
                            self.outputs(study))
        self.assertEqual(json.loads((run / "outcome.json").read_text())["ending"], "finished")
        self.assertIn("interrupted", (run / "log.txt").read_text())

    def test_stops_submitting_what_fails(self):
        study = self.folder / "failing"
        self.expect_events(*STUDY, "--out", study, "--plan-only")
        plan = study / "plan.jsonl"
        plan.write_text(plan.read_text().replace('"constant"', '"no such schedule"'))
        self.assertEqual(self.expect_events(study, "--slurm")["submitted"]["runs"], 3)
        wait_until(lambda: not self.slurm.jobs(), "the queue to run empty")
        self.assertIn("took none of them further", self.outputs(study))
        self.assertEqual(len(json.loads((study / "slurm.json").read_text())["jobs"]), 2)

    def test_takes_the_command_of_the_page(self):
        folder = self.folder / "page"
        folder.mkdir()
        self.expect_events(*STUDY, "--out", folder / "studies/first", "--plan-only")
        environment = {**os.environ, "PATH": f"{os.path.dirname(FLIGHTDECK)}:{os.environ['PATH']}"}
        for block in sum(snippets.run_by(TREE, __file__).values(), []):
            # The node has as many cores as this machine.
            code = snippets.replaced(block, {"--cpus-per-task=4": "--cpus-per-task=1"})
            subprocess.run(["sh", "-e", "-c", code], cwd=folder, env=environment, check=True, timeout=100)
        wait_until(lambda: not self.slurm.jobs(), "the queue to run empty")
        end = self.expect_events(folder / "studies/first", "--plan-only")["end"]
        self.assertEqual((end["planned"], end["done"]), (5, 5), self.outputs(folder / "studies/first"))

    def test_passes_on_what_slurm_refuses(self):
        study = self.folder / "refused"
        code, _, error = tune(*STUDY, "--out", study, "--slurm",
                              "--slurm-option=--partition=nowhere")
        self.assertEqual(code, 1)
        self.assertIn("sbatch refused", error)
        self.assertIn("nowhere", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
