#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of the catalogue, held to what all commands owe: words_test.py <path of flightdeck>

Commands are those that `flightdeck help --json` names: none is written down here, so a new one is held to the same at
once.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import loaded_tool

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tests/docs"))
import snippets  # noqa: E402

FLIGHTDECK = os.path.abspath(sys.argv.pop(1))
# Spares the second start, in which the tool gives itself a better environment.
os.environ.update(FLIGHTDECK_ENV_SET="1", OMP_WAIT_POLICY="PASSIVE")
# A test that runs in the background of a shell has the signal ignored, and so would have its children.
signal.signal(signal.SIGINT, signal.default_int_handler)
MLP = ["mnist_mlp", "--synthetic", "--limit", "64", "--batch-size", "32", "--steps", "4"]


def flightdeck(*arguments, cwd=None, environment=None):
    done = loaded_tool.run([FLIGHTDECK, *map(str, arguments)], capture_output=True, text=True, timeout=200, cwd=cwd,
                           env={**os.environ, **(environment or {})}, check=False)
    return done.returncode, done.stdout, done.stderr


def success(*arguments, **options):
    code, out, err = flightdeck(*arguments, **options)
    assert code == 0, f"flightdeck {arguments}: {code} {err}{out}"
    return out


def leaves(command):
    return [command] if not command["commands"] else [leaf for c in command["commands"] for leaf in leaves(c)]


CATALOGUE = json.loads(success("help", "--json"))
COMMANDS = leaves(CATALOGUE)
NAMES = [name for command in COMMANDS for option in command["options"] for name in option["names"]]


def options_of(command):
    return {name: option for option in command["options"] for name in option["names"]}


class WordsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Catalogue(WordsTest):
    def test_names_the_commands_that_there_are(self):
        listed = [entry["name"] for entry in json.loads(success("list", "commands", "--json"))]
        self.assertEqual([command["command"] for command in CATALOGUE["commands"]], listed)
        self.assertGreater(len(COMMANDS), 20)

    def test_every_command_takes_json_quiet_and_help(self):
        for command in COMMANDS:
            with self.subTest(command["command"]):
                for name in ("--json", "--quiet", "--help"):
                    self.assertIn(name, options_of(command))

    def test_every_command_option_and_argument_is_explained(self):
        for command in COMMANDS:
            self.assertTrue(command["summary"], command["command"])
            for option in command["options"] + command["arguments"]:
                self.assertTrue(option["summary"], (command["command"], option["names"]))

    def test_every_command_has_its_json_documented(self):
        page = (TREE / "docs/command_line.md").read_text(encoding="utf-8")
        for command in COMMANDS:
            words = command["command"].split()
            # The kinds of a list are documented by one line.
            name = words[0] if words[0] == "list" else command["command"]
            self.assertRegex(page, rf"\n\| `{name}`", name)

    def test_help_of_a_command_is_that_of_its_option(self):
        for command in (["run"], ["bench", "training"]):
            self.assertEqual(success("help", *command), success(*command, "--help"))
        self.assertEqual(success("help"), success("--help"))

    def test_a_wrong_command_suggests_the_nearest_in_help_too(self):
        for arguments in (["shwo"], ["help", "shwo"]):
            code, _, err = flightdeck(*arguments)
            self.assertEqual(code, 2)
            self.assertIn("did you mean 'show'?", err)


class Errors(WordsTest):
    def test_name_the_option_the_value_and_the_remedy(self):
        for arguments, words in [
            (["run", "mnist_mlp", "--stpes", "3"], ["no option '--stpes'", "'--steps'"]),
            (["run", "--stpes", "3"], ["no option '--stpes'", "'--steps'"]),
            (["run", "mnist_mlp", "--lr", "abc"], ["--lr is 'abc'", "a number, like 0.01"]),
            (["run", "mnist_mlp", "--lr"], ["--lr has no value", "a number, like 0.01"]),
            (["run"], ["PROBLEM is missing", "flightdeck list problems", "flightdeck run --help"]),
            (["export", "runs/x"], ["--format is missing", "jsonl"]),
            (["bench"], ["a command is missing", "overhead"]),
            (["serve", "--port", "99999"], ["--port is '99999'", "0 to 65535"]),
            (["runtime", "adam", "--runs", "0"], ["--runs is '0'", "at least 1"]),
            (["run", "mnist_mlp", "--synthetic=maybe"], ["--synthetic is 'maybe'", "true or false"]),
            (["run", "mnist_mlp", "--steps", "99999999999999999999"], ["--steps", "at most 2^63 - 1"]),
            (["run", "mnist_mlp", "--seed", "-1"], ["--seed", "at least 0"]),
            (["completion", "fisch"], ["no shell 'fisch'", "'fish'"]),
        ]:
            with self.subTest(arguments):
                code, out, err = flightdeck(*arguments, cwd=self.folder)
                self.assertEqual((code, out), (2, ""))
                for word in words:
                    self.assertIn(word, err)
                self.assertLess(len(err), 400 + len(arguments) * 20)


BASH = success("completion", "bash")


class Completion(WordsTest):
    def bash(self, *words):
        """What bash offers for the last word."""
        (self.folder / "script").write_text(BASH, encoding="utf-8")
        line = ("compopt() { :; }; source ./script; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _flightdeck; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", line, "bash", *words], capture_output=True, text=True, cwd=self.folder,
                              check=True)
        self.assertEqual(done.stderr, "")
        return [line for line in done.stdout.splitlines() if line]

    def test_bash_offers_every_command_and_every_option(self):
        self.assertEqual(set(self.bash("flightdeck", "")), {c["command"] for c in CATALOGUE["commands"]})
        for command in COMMANDS:
            words = command["command"].split()
            with self.subTest(command["command"]):
                self.assertEqual(set(self.bash("flightdeck", *words, "-")), set(options_of(command)))

    def test_bash_offers_problems_optimizers_quantities_and_runs(self):
        (self.folder / "runs/first").mkdir(parents=True)
        (self.folder / "runs/first/run.sqlite").touch()
        self.assertIn("mnist_mlp", self.bash("flightdeck", "run", "mnist"))
        self.assertEqual(self.bash("flightdeck", "run", "--optimizer", "adamw"), ["adamw"])
        self.assertIn("hess_trace", self.bash("flightdeck", "run", "mnist_mlp", "--quantity", "hess"))
        self.assertIn("adam", self.bash("flightdeck", "run", "--optimizer", "=", "ada"))
        self.assertIn("runs/first", self.bash("flightdeck", "show", "fi"))
        self.assertIn("runs/first", self.bash("flightdeck", "show", "runs/"))
        (self.folder / "runs/first").rename(self.folder / "runs/the first")
        self.assertEqual(self.bash("flightdeck", "show", "the"), ["runs/the first"])
        self.assertEqual(sorted(self.bash("flightdeck", "list", "prob")), ["problem_sets", "problems"])
        self.assertEqual(self.bash("flightdeck", "completion", "f"), ["fish"])

    def test_fish_offers_the_same(self):
        script = self.folder / "script.fish"
        script.write_text(success("completion", "fish"), encoding="utf-8")

        def fish(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  capture_output=True, text=True, cwd=self.folder, check=True,
                                  env={**os.environ, "HOME": str(self.folder)})
            return {offer.split("\t")[0] for offer in done.stdout.splitlines()}
        self.assertLessEqual({c["command"] for c in CATALOGUE["commands"]}, fish("flightdeck "))
        self.assertIn("mnist_mlp", fish("flightdeck run mnist"))
        self.assertEqual(fish("flightdeck run --optimizer adamw"), {"adamw"})
        for command in COMMANDS:
            wanted = {name for name in options_of(command) if name.startswith("--")}
            self.assertLessEqual(wanted, fish(f"flightdeck {command['command']} --"), command["command"])

    def test_zsh_offers_the_same(self):
        script = self.folder / "script.zsh"
        script.write_text(success("completion", "zsh"), encoding="utf-8")

        def zsh(*words):
            line = ("compdef() { :; }; compadd() { print -l -- ${@:$((${@[(I)--]} + 1))}; }; "
                    "_files() { :; }; _message() { :; }; PREFIX=$argv[-1]; "
                    "_describe() { print -l -- ${(P)2%%:*}; }; "
                    f"source {script}; words=(\"$@\"); CURRENT=$#; _flightdeck")
            done = subprocess.run(["zsh", "-f", "-c", line, "zsh", *words], capture_output=True, text=True, check=True,
                                  cwd=self.folder)
            self.assertEqual(done.stderr, "")
            return set(done.stdout.split("\n"))
        self.assertLessEqual({c["command"] for c in CATALOGUE["commands"]}, zsh("flightdeck", ""))
        self.assertIn("adamw", zsh("flightdeck", "run", "--optimizer", ""))
        (self.folder / "runs/the first").mkdir(parents=True)
        (self.folder / "runs/the first/run.sqlite").touch()
        self.assertIn("runs/the first", zsh("flightdeck", "show", "the"))
        for command in COMMANDS:
            offered = zsh("flightdeck", *command["command"].split(), "-")
            self.assertLessEqual(set(options_of(command)), offered, command["command"])


class ManualPage(WordsTest):
    def test_renders_without_a_warning(self):
        page = self.folder / "flightdeck.1"
        page.write_text(success("man"), encoding="utf-8")
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(page)], capture_output=True, text=True,
                              env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}, check=True)
        self.assertEqual(done.stderr, "")
        shown = re.sub(r".\x08", "", done.stdout)
        for command in COMMANDS:
            self.assertIn(f"flightdeck {command['command']}", shown)
        for name in NAMES:
            self.assertIn(name, shown)


class Page(WordsTest):
    def test_what_the_page_says_sets_up_completion_and_manual(self):
        """In bash, with a home of its own that has the folders of zsh and fish."""
        (self.folder / ".zsh").mkdir()
        (self.folder / ".config/fish/completions").mkdir(parents=True)
        environment = {**os.environ, "HOME": str(self.folder), "PATH": f"{os.path.dirname(FLIGHTDECK)}:{os.environ['PATH']}"}
        for block in sum(snippets.run_by(TREE, __file__).values(), []):
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", f"{block.code}\ncomplete -p flightdeck"], text=True,
                                  capture_output=True, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stderr), (0, ""), block.place)
            self.assertIn("FLIGHTDECK", done.stdout)  # the manual's title
            self.assertIn("complete -F _flightdeck", done.stdout)
        self.assertEqual((self.folder / ".zsh/_flightdeck").read_text(encoding="utf-8"), success("completion", "zsh"))
        self.assertEqual((self.folder / ".config/fish/completions/flightdeck.fish").read_text(encoding="utf-8"),
                         success("completion", "fish"))


class Json(WordsTest):
    # The keys that the page documents, by command.
    @staticmethod
    def documented(name):
        page = (TREE / "docs/command_line.md").read_text(encoding="utf-8")
        line = re.search(rf"\n\| `{name}`[^|]*\|[^|]*\|([^\n]*)\|\n", page)
        return set(re.findall(r"`(\w+)`", line.group(1)))

    def test_has_the_keys_that_are_documented(self):
        run = self.folder / "run"
        events = [json.loads(line) for line in success("run", *MLP, "--out", run, "--json").splitlines()]
        self.assertLessEqual({key for event in events for key in event}
                             - {f"{part}_{what}" for part in ("train", "valid", "test") for what in ("loss", "accuracy")},
                             self.documented("run"))
        out = self.folder / "x.csv"
        for name, arguments in [
            ("show", ["show", run]),
            ("export", ["export", run, "--format", "csv", "--out", out]),
            ("report", ["report", run]),
            ("coverage", ["coverage", "mnist_logreg"]),
            ("doctor", ["doctor"]),
            ("help", ["help", "run"]),
            ("man", ["man"]),
            ("completion", ["completion", "bash"]),
            ("analyze", ["analyze", run, "--out", self.folder / "analysis"]),
        ]:
            with self.subTest(name):
                told = json.loads(success(*arguments, "--json"))
                self.assertEqual(set(told), self.documented(name))


class Quiet(WordsTest):
    def test_a_run_says_where_it_is_and_nothing_else(self):
        run = self.folder / "run"
        # As many threads as the environment of a test allows: a warning about others would be right.
        code, out, err = flightdeck("run", *MLP, "--out", run, "--quiet", "--threads", os.environ.get("OMP_NUM_THREADS", "2"))
        self.assertEqual((code, out, err), (0, f"{run}\n", ""))
        self.assertEqual(success("report", run, "-q"), f"{run}/report.html\n")
        self.assertEqual(success("analyze", run, "-q"), f"{run}/analysis\n")

    def test_events_of_progress_are_left_out(self):
        out = success("run", *MLP, "--out", self.folder / "run", "--quiet", "--json")
        self.assertNotIn("progress", {json.loads(line)["event"] for line in out.splitlines()})


class Interrupts(WordsTest):
    def test_end_whatever_takes_long_with_130(self):
        """As a shell tells it: an exit with 130, or an end by the signal itself. Commands that have something to put in
        order first, run, tune and serve, have tests of their own."""
        for arguments in (["coverage", "cifar10_vgg16", "--batch-size", "64"], ["runtime", "adam"], ["bench", "overhead", "--repeats", "1000"],
                          ["experiment", "implicit_regularisation", "--synthetic", "--out", "experiment"]):
            with self.subTest(arguments):
                process = loaded_tool.Popen([FLIGHTDECK, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
                self.addCleanup(process.kill)
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(1)
                process.send_signal(signal.SIGINT)
                status = process.wait(100)
                self.assertEqual(status if status >= 0 else 128 - status, 130)


class Colours(WordsTest):
    def test_are_for_terminals_that_want_them(self):
        _, _, err = flightdeck("shwo")
        self.assertNotIn("\033", err)
        line = f"{FLIGHTDECK} shwo"
        for environment, is_coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                         ({"TERM": "dumb"}, False)):
            clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
            done = subprocess.run(["script", "-qec", line, "/dev/null"], capture_output=True, text=True,
                                  env={**clean, **environment}, check=False)
            self.assertEqual("\033[31m" in done.stdout, is_coloured, (environment, done.stdout))


class Folders(WordsTest):
    def test_that_cannot_be_made_are_named_with_the_reason(self):
        (self.folder / "runs").touch()
        code, _, err = flightdeck("run", *MLP, cwd=self.folder)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"cannot make the folder runs \((Not a directory|File exists)\); choose another --out")


class Config(WordsTest):
    def write(self, text):
        path = self.folder / "config.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def config_of(self, *arguments):
        """What a run with these arguments was started with."""
        run = self.folder / f"run{len(list(self.folder.iterdir()))}"
        success("run", *arguments, "--out", run, "--quiet")
        return run, json.loads(success("show", run, "--json"))["config"]

    def test_a_file_has_what_the_command_line_has(self):
        path = self.write('problem = "mnist_mlp"\nsynthetic = true\nlimit = 64\nbatch-size = 16\nsteps = 3\n'
                          'optimizer = "adam"\nlr = 0.002\nquantity = ["loss", "grad_norm@every 2"]\n'
                          '[set]\nbeta2 = 0.99\n[tag]\ngroup = "a b"\n')
        _, config = self.config_of("--config", path)
        self.assertEqual((config["batch_size"], config["steps"], config["optimizer"]), ("16", "3", "adam"))
        self.assertIn("beta2 0.99", config["hyperparameters"])
        self.assertIn("learning_rate 0.002", config["hyperparameters"])
        self.assertEqual(config["tag group"], "a b")

    def test_the_command_line_wins(self):
        path = self.write('problem = "mnist_mlp"\nsynthetic = true\nlimit = 64\nepochs = 1\noptimizer = "momentum"\n'
                          'lr = 0.002\nmomentum = 0.5\ninterval = 2\n')
        _, config = self.config_of("quadratic_deep", f"--config={path}", "--steps", 2, "--track", "at 0", "--limit", 32,
                                   "--batch-size", 16,
                                   "--set", "learning_rate=0.03", "--synthetic=false")
        self.assertEqual((config["problem"], config["steps"], config["limit"]), ("quadratic_deep", "2", "32"))
        self.assertIn("learning_rate 0.03,", config["hyperparameters"])
        self.assertIn("momentum 0.5", config["hyperparameters"])
        _, config = self.config_of("--config", path, "--optimizer", "sgd", "--steps", 1, "--batch-size", 16)
        self.assertIn("learning_rate 0.01", config["hyperparameters"])

    def test_refuses_what_is_no_plain_file_and_does_not_wait_for_it(self):
        os.mkfifo(self.folder / "fifo")
        for name, why in (("fifo", "a FIFO"), (".", "a folder"), ("missing", "No such file")):
            code, _, err = flightdeck("run", "--config", self.folder / name)
            self.assertEqual(code, 2)
            self.assertIn(why, err)
            self.assertIn("name a TOML file", err)

    def test_refuses_what_is_no_configuration(self):
        for text, words in [
            ('problem = "mnist_mlp"\nstpes = 3\n', ["'stpes'", "did you mean 'steps'?"]),
            ("batch_size = 3\n", ["'batch_size'", "'batch-size'"]),
            ("lr = \n", ["line 1"]),
            ("lr = 1\nlr = 2\n", ["line 2"]),
            ("[training]\nlr = 1\n", ["line 1", "[training]"]),
            ("lr = [0.1, 0.2]\n", ["'lr' 2 values"]),
            ('problem = "mnist_mlp"\nlr = "abc"\n', ["--lr is 'abc'"]),
            ("steps = 3\n", ["PROBLEM is missing"]),
            ('config = "x.toml"\n', ["'config'"]),
            ("lr = 1979-05-27\n", ["'lr' is neither"]),
        ]:
            with self.subTest(text):
                code, _, err = flightdeck("run", "--config", self.write(text), cwd=self.folder)
                self.assertEqual(code, 2, err)
                for word in words:
                    self.assertIn(word, err)
        code, _, err = flightdeck("run", "--config", self.folder / "none.toml")
        self.assertEqual(code, 2)
        self.assertIn("none.toml", err)

    def test_again_comes_to_the_same_numbers_to_the_bit(self):
        for index, arguments in enumerate([MLP + ["--optimizer", "adam", "--lr", "0.003", "--seed", "7"],
                                           ["quadratic_deep", "--steps", "20", "--group", "pattern:^.*\\\"?$",
                                            "--track", "log 0 2", "--tag", "why=\"#1\"\\"]]):
            first = self.folder / f"first{index}"
            success("run", *arguments, "--out", first, "--quiet")
            second = self.folder / f"second{index}"
            self.assertEqual(success("again", first, "--out", second, "--quiet"), f"{second}\n")
            exports = [success("export", run, "--format", "jsonl").splitlines() for run in (first, second)]
            # All but what a step took.
            values = [[(step["step"], [value for value in step["values"] if value["quantity"] != "time"])
                       for step in map(json.loads, lines)] for lines in exports]
            self.assertEqual(values[0], values[1])
            self.assertEqual((first / "config.toml").read_text(), (second / "config.toml").read_text())
            scores = [json.loads((run / "outcome.json").read_text()) for run in (first, second)]
            self.assertEqual(scores[0]["seed"], scores[1]["seed"])

    def test_again_takes_other_options(self):
        first = self.folder / "first"
        success("run", *MLP, "--out", first, "--quiet")
        second = self.folder / "second"
        success("again", "--seed", 8, first, "--steps", 2, "--out", second, "--quiet")
        config = json.loads(success("show", second, "--json"))["config"]
        self.assertEqual((config["seed"], config["steps"], config["batch_size"]), ("8", "2", "32"))

    def test_again_needs_a_run_with_a_configuration(self):
        first = self.folder / "first"
        success("run", *MLP, "--out", first, "--quiet")
        (first / "config.toml").unlink()
        code, _, err = flightdeck("again", first)
        self.assertEqual(code, 2)
        self.assertIn("config.toml", err)
        self.assertEqual(flightdeck("again", self.folder)[0], 2)


if __name__ == "__main__":
    for program in ("bash", "fish", "zsh", "man", "script"):
        if shutil.which(program) is None:
            sys.exit(f"words_test: {program} is missing; './dev test' installs it")
    unittest.main(verbosity=1)
