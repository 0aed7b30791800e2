# SPDX-License-Identifier: MIT
"""The checks of the repository where people work in it: on a copy without .git, in a folder with blanks in
its name, beside runs, studies, exports, other builds and notes of their own."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
import project  # noqa: E402

BROKEN = "[nowhere](nowhere.md), `src/nothing.cpp`\n"
LEFT = {
    "runs/first/README.md": BROKEN,
    "my study/runs/notes.md": BROKEN,
    "build-mine/README.md": BROKEN,
    "NOTES.md": BROKEN,
    "first.csv": "=1+1\n",
    "web/node_modules/package/README.md": BROKEN,
    "web/node_modules/package/web/src/base/x.ts": "import {x} from '../app/app';\n",
    "src/rows/.#outer.cpp": '#include "cli/json.h"\n',
    "docs/.draft.md": BROKEN,
}


def copy_with_leftovers(folder):
    for path in project.files(REPOSITORY):
        place = folder / path.relative_to(REPOSITORY)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    for name in project.DOCUMENTS:
        shutil.copyfile(REPOSITORY / name, folder / name)
    # Documents point at these.
    for path in REPOSITORY.iterdir():
        if path.is_file() and not (folder / path.name).exists():
            shutil.copyfile(path, folder / path.name)
    for path, text in LEFT.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "docs/.#tuning.md").symlink_to("nobody@nowhere.1")


class Project(unittest.TestCase):
    def test_its_checks_do_not_mind_what_use_leaves_behind(self):
        with tempfile.TemporaryDirectory(prefix="a folder with blanks ") as place:
            folder = Path(place) / "flight deck"
            folder.mkdir()
            copy_with_leftovers(folder)
            before = sorted(folder.rglob("*"))
            for check in ("check_layers.py", "check_links.py", "size.py"):
                done = subprocess.run(
                    [sys.executable, "-B", str(folder / "tools" / check)],
                    capture_output=True, text=True, cwd=place, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(sorted(folder.rglob("*")), before, "a check wrote into the sources")

    def test_it_is_all_that_git_has(self):
        listed = subprocess.run(["git", "-C", str(REPOSITORY), "ls-files"], capture_output=True,
                                text=True, check=False)
        if listed.returncode != 0:
            self.skipTest("this is no checkout of git")
        paths = [Path(line) for line in listed.stdout.splitlines()]
        folders = {path.parts[0] for path in paths if len(path.parts) > 1}
        self.assertEqual(folders, set(project.FOLDERS))
        documents = {path.name for path in paths if len(path.parts) == 1 and path.suffix == ".md"}
        self.assertEqual(documents, set(project.DOCUMENTS))


if __name__ == "__main__":
    unittest.main()
