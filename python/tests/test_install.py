# SPDX-License-Identifier: MIT
"""What the pages say about installing: the packages are there to be had, and the package is built and imported, from a
clone and from a source distribution."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import List

import pytest
from page_blocks import ROOT, environment, run_shell, snippets

sys.path.insert(0, str(ROOT / "tools"))
import project  # noqa: E402

BLOCKS = [block for blocks in snippets.run_by(ROOT, __file__).values() for block in blocks]
PIP = f'exec "{sys.executable}" -m pip --disable-pip-version-check "$@"'
# Installs the package into a folder of the test, or writes its wheel there; of others, says only which it would install.
PIP_OF_A_TEST = f"""
case " $* " in
  " wheel "*) {PIP} --wheel-dir "$PACKAGE" ;;
  *" . "*) {PIP} --no-deps --target "$PACKAGE" ;;
  *) {PIP} --dry-run --quiet ;;
esac"""


def test_what_pip_is_told_installs_a_package_that_can_be_imported(tmp_path: Path) -> None:
    """The build folder of the package under test is used again, since compiling all of it takes ten minutes."""
    if "SKBUILD_BUILD_DIR" not in os.environ:
        pytest.skip("SKBUILD_BUILD_DIR names no build folder to go on with; ./dev python does")
    told = [block for block in BLOCKS if block.code.startswith("pip install")]
    assert len(told) == 2
    assert len({tuple(map(tuple, snippets.commands(block.code))) for block in told}) == 1, "the pages differ"
    package = tmp_path / "package"
    run_shell(told[0].code, tmp_path, {"pip": PIP_OF_A_TEST}, PACKAGE=str(package))
    program = "import flightdeck; print(flightdeck.__file__)"
    imported = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, text=True, stdout=subprocess.PIPE, check=True,
        env=environment(PYTHONPATH=str(package)),
    )  # fmt: skip
    assert Path(imported.stdout.strip()).is_relative_to(package), imported.stdout


def test_what_pip_is_told_makes_a_wheel(tmp_path: Path) -> None:
    if "SKBUILD_BUILD_DIR" not in os.environ:
        pytest.skip("SKBUILD_BUILD_DIR names no build folder to go on with; ./dev python does")
    told = [block for block in BLOCKS if block.code.startswith("pip wheel")]
    assert len(told) == 1
    run_shell(told[0].code, tmp_path, {"pip": PIP_OF_A_TEST}, PACKAGE=str(tmp_path / "wheels"))
    (wheel,) = (tmp_path / "wheels").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert len([name for name in names if ".so" in name]) == 1, "no library of PyTorch's is inside"
    assert {"flightdeck/py.typed", "flightdeck/_engine.pyi"} <= set(names)
    assert not [name for name in names if not name.startswith("flightdeck")]


PAGE = ["app.css", "app.js", "icon.svg", "index.html"]


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpacked; made of a copy of the sources, in which stand-ins for the bundled page lie where ./dev sdist puts it."""
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("sdist")
    clone = folder / "clone"
    for path in project.files(ROOT):
        copied = clone / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copied)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copyfile(path, clone / path.name)
    (clone / "web/page").mkdir(exist_ok=True)
    for name in PAGE:
        (clone / "web/page" / name).write_text(f"the bundled {name}")
    program = "from scikit_build_core.build import build_sdist; print(build_sdist('dist'))"
    made = subprocess.run([sys.executable, "-c", program], cwd=clone, text=True, stdout=subprocess.PIPE, check=True)
    with tarfile.open(clone / "dist" / made.stdout.split()[-1]) as packed:
        packed.extractall(folder)
    (unpacked,) = folder.glob("flightdeck-*")
    return unpacked


def test_a_source_distribution_has_the_page_in_the_place_of_its_sources(source_distribution: Path) -> None:
    assert sorted(path.name for path in (source_distribution / "web/page").iterdir()) == PAGE
    for left_out in ("web/src", "web/package.json", "tests", "python/tests", "docs", "bench", "fuzz"):
        assert not (source_distribution / left_out).exists(), left_out
    for needed in ("LICENSE", "README.md", "python/flightdeck/py.typed", "baselines"):
        assert (source_distribution / needed).exists(), needed


def definitions() -> List[str]:
    """What pip's build tells CMake."""
    section = (ROOT / "pyproject.toml").read_text().split("[tool.scikit-build.cmake.define]")[1].split("\n[")[0]
    return [f"-D{name}={value}" for name, value in re.findall(r'^(\w+) = "(.*)"$', section, re.MULTILINE)]


def configured(source: Path, build: Path, *options: str, python: str = sys.executable) -> "subprocess.CompletedProcess[str]":
    words = ["cmake", "-S", str(source), "-B", str(build), *definitions(), f"-DPython_EXECUTABLE={python}",
             "-DCMAKE_BUILD_TYPE=Release", *options]
    return subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_a_source_distribution_is_configured_without_node_and_ninja(source_distribution: Path, tmp_path: Path) -> None:
    """CMake finds every source that it names, and the page becomes a file of C++ though there is neither npm nor Node.js."""
    generator = ["-GUnix Makefiles"] if shutil.which("make") else []
    no_node = ["-DFLIGHTDECK_NODE=/nowhere/node", "-DFLIGHTDECK_NPM=/nowhere/npm"]
    assert "-DFLIGHTDECK_BUILD_PYTHON=ON" in definitions()
    done = configured(source_distribution, tmp_path, *generator, *no_node)
    assert done.returncode == 0, done.stdout[-3000:]
    enabled = done.stdout.split("The following features have been enabled:")[1].split("The following")[0]
    assert "* dashboard page" in enabled, enabled
    subprocess.run(["cmake", "--build", str(tmp_path), "--target", "flightdeck_page"], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "generated/serve/assets.cpp").stat().st_size > 100


def test_a_python_without_pytorch_is_told_to_install_it_first(tmp_path: Path) -> None:
    """As pip's own build environment is, which it makes unless it is told not to."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    done = configured(ROOT, tmp_path / "build", python=str(tmp_path / "bare/bin/python"))
    assert done.returncode != 0
    said = " ".join(done.stdout.split())
    assert "cannot import torch; install PyTorch first, and let pip see it: pip install . --no-build-isolation" in said, said


def test_what_the_tool_needs_is_named_where_it_is_missing(tmp_path: Path) -> None:
    done = configured(ROOT, tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON", "-DFLIGHTDECK_BUILD_WEB=OFF")
    assert done.returncode != 0
    assert "install what it needs (libcli11-dev, nlohmann-json3-dev, zlib1g-dev)" in " ".join(done.stdout.split())


def test_a_bare_debian_has_the_packages_and_makes_the_environment(tmp_path: Path) -> None:
    told = [block for block in BLOCKS if block.code.startswith("apt-get")]
    assert len(told) == 1
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is Debian's")
    if not list(Path("/var/lib/apt/lists").glob("*_Packages*")):
        pytest.skip("apt has no lists of packages; apt-get update fetches them")
    # Root's own programs are not on everybody's path, and simulating needs no root. On a bare Debian nothing is
    # installed: what this machine has, such as a Node.js of another publisher, must not stand in the way.
    nothing = tmp_path / "status"
    nothing.touch()
    simulated = f'PATH=/usr/bin:/bin exec apt-get --simulate -o Dir::State::status={nothing} "$@"'
    code = told[0].code + 'echo "in $VIRTUAL_ENV"\n'
    text = run_shell(code, tmp_path, {"apt-get": simulated}, HOME=str(tmp_path))
    assert f"in {tmp_path}/environment" in text
    assert (tmp_path / "environment/bin/pip").exists()
