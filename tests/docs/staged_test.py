#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs blocks of pages that need a stage: a run made beforehand, fewer steps, or a stand-in for another machine.

Usage: staged_test.py FLIGHTDECK --repository FOLDER --work FOLDER [--prefix-path PATH] [--browser]
What is run is the text of the page. Each block has a folder of its own, and a way that says what is added: words to its
commands, files before them, programs on the PATH. Only machines that are not here have stand-ins: ssh, srun, docker and
qsub do on this one what they are told, `mail` keeps a letter, and cmake keeps what `./dev build` tells it, since the
build is the one under test.
"""

import argparse
import http.server
import json
import re
import shutil
import socket
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import snippets  # noqa: E402
from page_folder import Failed, PageFolder  # noqa: E402

SMALL = "--synthetic --limit 512 --threads 1"
A_RUN = f"flightdeck run mnist_logreg {SMALL} --steps 30 --quiet --out "
# ssh hands its words to a shell over there, separated by blanks.
SSH = """
while :; do
  case $1 in
    -t | -tt) shift ;;
    -L) shift 2 ;;
    *) break ;;
  esac
done
shift  # the machine
exec sh -c "$*"
"""
SRUN = 'shift; exec "$@"'  # --ntasks=1
DOCKER = 'shift 5; exec "$@"'  # run --rm -v /data:/data trainer
QSUB = 'shift 5; exec "$@"'  # -sync y -cwd -b y


class Stage(PageFolder):
    """The scratch folder of one block."""

    def __init__(self, options, block):
        super().__init__(options.work / f"{snippets.name_of(block.page)}-{block.line}", options.flightdeck,
                         options.repository)
        self.block, self.options = block, options
        self.stand_ins = self.folder / "stand_ins"
        self.stand_ins.mkdir()
        self.environment["PATH"] = f"{self.stand_ins}:{self.environment['PATH']}"

    def stand_in(self, program, script):
        path = self.stand_ins / program
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def sh(self, code, folder=None):
        return self.execute(self.block, ["sh", "-e", "-c", code], folder)

    def expect(self, is_so, what):
        if not is_so:
            raise Failed(f"{self.block.place}: {what}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


# ---- ways to run a block -------------------------------------------------------------------------


def shortened(words, before="true", output=""):
    """After `before`, with these words added to each `flightdeck` of the block, which prints something like `output`."""
    def way(stage):
        stage.sh(before)
        stage.stand_in("flightdeck", f'exec "{stage.flightdeck}" "$@" {words}')
        printed = stage.sh(stage.block.code)
        stage.expect(re.search(output, printed), f"'{output}' is not in\n{printed}")
    return way


def alerts(stage):
    """Two of the commands alert somebody, who hears of it."""
    heard = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stage.stand_in("mail", 'printf "%s\\n" "$@" >>letters; cat >>letters')
        stage.stand_in("flightdeck", f'exec "{stage.flightdeck}" "$@" {SMALL} --steps 40 --preset diagnosis --lr 0')
        code = snippets.replaced(stage.block, {"http://localhost:9000/": f"http://localhost:{server.server_port}/",
                                               "--alert-on failure": "--alert-on warning"})
        stage.sh(code)
        server.shutdown()
    letters = (stage.folder / "letters").read_text(encoding="utf-8") if (stage.folder / "letters").exists() else ""
    stage.expect("me@example.org" in letters and '"lamp"' in letters, f"no letter was sent: {letters}")
    stage.expect(heard and heard[0][0] == "/flightdeck" and heard[0][1]["lamp"], f"the webhook heard {heard}")


def tunnel(stage):
    """Serves over ssh, at another port where the one of the page may be taken, until Ctrl-C."""
    stage.stand_in("ssh", SSH)
    stage.sh(A_RUN + "runs/first")
    stand_ins = {"8080": str(free_port())}
    if "/data/runs" in stage.block.code:
        stand_ins["/data/runs"] = str(stage.folder / "runs")

    def look(line):
        address = re.search(r"http://\S+", line)
        stage.expect(address, f"no address in '{line}'")
        with urllib.request.urlopen(address.group(0), timeout=60) as page:
            stage.expect(page.status == 200, f"{address.group(0)} answers {page.status}")

    stage.interrupt(stage.block, ["sh", "-e", "-c", snippets.replaced(stage.block, stand_ins)], look)


def gallery(stage):
    """One view of one run, which is small and there already; the rest of the gallery is more of the same."""
    if not stage.options.browser:
        return "left out: the page or chromium is missing"
    sources = stage.sources()
    stage.sh(f"""
        mkdir -p gallery/runs/study/adam
        {A_RUN} gallery/runs/full
        for name in economy business diverged penalty study/adam/seed-1 study/adam/seed-2 study/adam/seed-3; do
          cp -r gallery/runs/full gallery/runs/$name
        done
        flightdeck tune mnist_logreg {SMALL} --optimizer sgd --grid learning_rate=0.1 --epochs 1 --quiet --out gallery/study
        """, sources)
    view = "no labels of run overlap at 390 in light"
    stage.sh(f"{stage.block.code.strip()} --only '{view}'", sources)
    stage.expect((sources / "gallery/run_390_light.png").is_file(), "there is no picture of the view")
    return None


def build(stage):
    """In the source folder, where everything is built."""
    for name in ("FLIGHTDECK_TORCH", "VIRTUAL_ENV"):
        stage.environment.pop(name, None)
    stage.environment["FLIGHTDECK_INSTALL"] = "no"
    if stage.options.prefix_path:
        stage.environment["CMAKE_PREFIX_PATH"] = stage.options.prefix_path.replace(";", ":")
    stage.stand_in("cmake", f'printf "%s\\n" "$*" >>"{stage.folder}/told"')
    stage.sh(stage.block.code, stage.sources())
    told = (stage.folder / "told").read_text(encoding="utf-8")
    stage.expect(re.fullmatch(r"--build build --parallel \d+ --target all\n", told), f"cmake was told '{told}'")


def launchers(stage):
    """Each line has a small study of its own to do."""
    for program, script in (("ssh", SSH), ("srun", SRUN), ("docker", DOCKER), ("qsub", QSUB)):
        stage.stand_in(program, f'echo {program} >>"{stage.folder}/launched"\n{script}')
    study = "flightdeck tune quadratic_deep --optimizer sgd --grid learning_rate=0.01,0.02 --epochs 1 --threads 1 --seeds 1"
    for line in stage.block.code.splitlines():
        shutil.rmtree(stage.folder / "studies", ignore_errors=True)
        (stage.folder / "launched").unlink(missing_ok=True)
        stage.sh(f"{study} --out studies/first --plan-only")
        stage.sh(line)
        end = json.loads(stage.sh("flightdeck tune studies/first --plan-only --json").splitlines()[-1])
        stage.expect(0 < end["planned"] == end["done"], f"'{line}' leaves the study at {end}")
        launched = (stage.folder / "launched").read_text(encoding="utf-8").split()
        program = re.search(r"--launcher '(\w+)", line).group(1)
        stage.expect(launched == [program] * end["done"], f"'{line}' starts {launched}")


WAYS = {
    "docs/acting.md": [shortened(f"{SMALL} --steps 30"), alerts],
    "docs/assist.md": [shortened("--synthetic --limit 2000 --epochs 1 --threads 1")],
    "docs/dashboard.md": [tunnel, gallery],
    "docs/diagnosis.md": [
        shortened("", before=A_RUN + "runs/first", output="."),
        shortened("--fault rate_too_high --problem edges_logreg --steps 40 --seeds 1", output="faulty runs"),
    ],
    "docs/quickstart.md": [build],
    "docs/runs.md": [tunnel],
    "docs/tuning.md": [launchers],
}


def run(options, block, way):
    began = time.monotonic()
    said = way(Stage(options, block)) or "run"
    return f"{block.place}: {said}, {time.monotonic() - began:.1f} s"


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("flightdeck", type=Path)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--prefix-path", default="")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--page", action="append", default=[])
    options = parser.parse_args(arguments)
    options.repository = options.repository.resolve()
    failures = 0
    with ThreadPoolExecutor(max_workers=2) as workers:
        ends = [workers.submit(run, options, block, way)
                for block, way in snippets.paired(snippets.run_by(options.repository, __file__), WAYS)
                if not options.page or snippets.name_of(block.page) in options.page]
    for end in ends:
        try:
            print(end.result())
        except (Failed, snippets.BadPage) as error:
            failures += 1
            print(f"FAILED {error}")
    print(f"docs_staged: {len(ends)} blocks, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
