# SPDX-License-Identifier: MIT
"""Which LibTorch ./dev takes, and into which folder it builds: run with stand-ins for CMake and Python, so that nothing
is installed or compiled."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# Notes what it is told and where LibTorch is, and leaves a build folder as after configuring.
CMAKE = """#!/bin/sh
printf '%s | %s\\n' "$*" "${CMAKE_PREFIX_PATH:-}" >>"$TOLD/cmake"
while [ $# -gt 0 ]; do
  [ "$1" != -B ] || { mkdir -p "$2" && : >"$2/build.ninja"; }
  shift
done
"""
# Of an environment: knows the PyTorch that is written beside it, and installs one by writing it there.
PYTHON = """#!/bin/sh
torch=$(dirname "$0")/torch
case $* in
  -I*) cat "$torch" 2>/dev/null ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip "*)
    printf '%s\\n' "$*" >>"$TOLD/pip"
    for word; do case $word in torch==*) echo "${word#torch==} /$word" >"$torch" ;; esac; done ;;
esac
"""


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flightdeck dev "))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(REPOSITORY / "dev", self.folder / "dev")
        self.programs = self.folder / "programs"
        write_program(self.programs / "cmake", CMAKE)
        write_program(self.programs / "python3", PYTHON)
        for name in ("c++", "ninja"):
            write_program(self.programs / name, "#!/bin/sh\n")

    def environment_with(self, torch, name="mine"):
        """A virtual environment; with `torch`, "VERSION FOLDER", it has that PyTorch."""
        folder = self.folder / name
        write_program(folder / "bin/python", PYTHON)
        if torch:
            (folder / "bin/torch").write_text(torch + "\n")
        return str(folder)

    def dev(self, *words, **variables):
        environment = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "TOLD": str(self.folder),
                       "FLIGHTDECK_INSTALL": "no", "FLIGHTDECK_DATA": str(self.folder)}
        for name in ("CMAKE_PREFIX_PATH", "FLIGHTDECK_TORCH", "VIRTUAL_ENV"):
            environment.pop(name, None)
        environment.update(variables)
        return subprocess.run(["./dev", *words], cwd=self.folder, env=environment, text=True, capture_output=True)

    def told(self, name="cmake"):
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def built(self, *words, **variables):
        """The build folder, and where CMake was told to look for LibTorch."""
        done = self.dev(*(words or ("build",)), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        line, prefix = self.told()[-1].split(" | ")
        self.assertEqual(line.split()[0], "--build")
        return line.split()[1], prefix

    def test_the_active_environments_torch_is_taken(self):
        mine = self.environment_with("2.11.0 /mine/torch")
        self.assertEqual(self.built(VIRTUAL_ENV=mine), ("build/with-torch-2.11.0", "/mine/torch/share/cmake"))
        # The tests that build something themselves find it in the cache.
        self.assertIn("-DCMAKE_PREFIX_PATH=/mine/torch/share/cmake", self.told()[0])

    def test_a_version_is_installed_once_and_goes_before_the_active_environment(self):
        mine = self.environment_with("2.11.0 /mine/torch")
        for _ in range(2):
            folder, prefix = self.built(VIRTUAL_ENV=mine, FLIGHTDECK_TORCH="2.13.0")
            self.assertEqual((folder, prefix), ("build/with-torch-2.13.0", "/torch==2.13.0/share/cmake"))
        self.assertEqual(len(self.told("pip")), 1)
        self.assertIn("torch==2.13.0", self.told("pip")[0])
        self.assertTrue((self.folder / "build/torch-2.13.0/bin/python").exists())

    def test_what_is_no_version_is_refused_by_name(self):
        for word in ("2.13", "newest", "2.13.0+cpu", "2.x.0"):
            done = self.dev("build", FLIGHTDECK_TORCH=word)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"FLIGHTDECK_TORCH is '{word}', not a version like 2.13.0", done.stderr)
        self.assertEqual(self.told(), [])

    def test_a_torch_that_cannot_be_installed_is_said(self):
        write_program(self.programs / "python3", PYTHON.replace('"-m pip "*)', '"-m pip "*)\n    exit 1'))
        done = self.dev("build", FLIGHTDECK_TORCH="9.9.9")
        self.assertEqual(done.returncode, 1)
        self.assertIn("PyTorch 9.9.9 could not be installed", done.stderr)

    def test_the_folder_that_is_named_goes_before_all_others(self):
        mine = self.environment_with("2.11.0 /mine/torch")
        built = self.built(VIRTUAL_ENV=mine, FLIGHTDECK_TORCH="2.13.0", CMAKE_PREFIX_PATH="/named")
        self.assertEqual(built, ("build", "/named"))
        self.assertEqual(self.told("pip"), [])

    @unittest.skipUnless(Path("/usr/include/torch").exists(), "libtorch-dev is not installed")
    def test_without_any_of_them_it_is_debians(self):
        self.assertEqual(self.built(), ("build", ""))
        self.assertEqual(self.built(VIRTUAL_ENV=self.environment_with(None)), ("build", ""))

    def test_another_environment_with_the_same_version_is_configured_anew(self):
        self.built(VIRTUAL_ENV=self.environment_with("2.11.0 /mine/torch"))
        cache = self.folder / "build/with-torch-2.11.0/CMakeCache.txt"
        cache.write_text("Torch_INCLUDE_DIR:PATH=/mine/torch/include\n")
        self.built(VIRTUAL_ENV=self.environment_with("2.11.0 /mine/torch"))
        self.assertEqual(len([line for line in self.told() if line.startswith("--preset")]), 1)
        _, prefix = self.built(VIRTUAL_ENV=self.environment_with("2.11.0 /other/torch", "other"))
        self.assertEqual(prefix, "/other/torch/share/cmake")
        self.assertEqual(len([line for line in self.told() if line.startswith("--preset")]), 2)
        self.assertFalse(cache.exists())

    def test_words_that_are_none_are_refused(self):
        self.assertEqual(self.dev("biuld").returncode, 2)
        self.assertEqual(self.dev("help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
