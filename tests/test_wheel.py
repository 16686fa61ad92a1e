"""The wheel in an empty environment: what a person gets who types `pip install git-mem`."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import SOURCE, Repo


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The wheel as `python -m build` would make it, from the files Git has."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    yield made


MAN_PAGES = {path.name for path in (SOURCE / "man").iterdir()}


def test_the_wheel_holds_what_runs_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "gitmem/models/static/table.bin" in names and "gitmem/models/static/LICENSE" in names
        secrets = "gitmem/gate/detectors/secrets"
        assert {f"{secrets}/{table}.txt" for table in ("tokens", "shapes", "service_names")} <= set(names)
        assert {
            name.rpartition("/")[2] for name in names if "/share/man/man1/" in name
        } == MAN_PAGES and "gitmem/py.typed" in names
        assert not [name for name in names if name.startswith(("tests/", "bench/", "tools/", "examples/"))]
        packaged = {name for name in names if name.startswith("gitmem/")}
    tracked = subprocess.run(["git", "ls-files", "gitmem"], cwd=SOURCE, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.split()) <= packaged
    assert wheel.stat().st_size < 25 << 20


def test_it_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    installed = subprocess.run(pip, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    import os

    env = {"PATH": f"{venv}/bin{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
    repo = Repo(tmp_path / "notes")
    repo.run("git", "mem", "init", env=env)
    repo.run("git", "mem", "install", env=env)
    repo.run("git", "mem", "add", "배포는 오전 11시 이전에만 한다", env=env)
    repo.run("git", "add", "-A", env=env)
    repo.run("git", "commit", "-qm", "memory: first", env=env)
    found = repo.run("git", "mem", "search", "when may we deploy?", "--json", env=env)
    assert "11시" in found.stdout and '"vector"' in found.stdout
    assert repo.run("git", "mem", "status", env=env).returncode == 0
    assert (venv / "share/man/man1/git-mem.1").exists()
    listed = repo.run(str(venv / "bin/python"), "-m", "pip", "list", env=env).stdout.lower()
    assert "numpy" not in listed and "torch" not in listed
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
    repo.write("memory/x.md", f"- 토큰은 {token} 이다\n")
    repo.run("git", "add", "-A", env=env)
    refused = repo.run("git", "commit", "-qm", "x", env=env, check=False)
    assert refused.returncode == 1 and token not in refused.stderr and "github" in refused.stderr
