"""docs/threats.md, A13-A15: secrets where people and machines leave them, and where they must never turn up."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.git.hooks.installation import install
from tests.harness import Repo
from tests.samples import AWS, GITHUB

CLEAN = "- 오늘 배포했다\n"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one fact\n"})
    repo.mem("install")
    return repo


def findings(repo: Repo, *args: str) -> list[dict[str, Any]]:
    done = repo.mem("scan", "--json", *args, check=False)
    assert done.returncode == 1, done.stdout
    assert GITHUB not in done.stdout and AWS not in done.stdout
    rows: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return rows


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"토큰은{GITHUB}를 쓴다", GITHUB),
        (f"키({AWS})를 쓴다", AWS),
        (f"密钥是{GITHUB}。", GITHUB),
        (f"トークンは「{GITHUB}」です", GITHUB),
        (f"the token is {GITHUB}.", GITHUB),
    ],
)
def test_a13_a_secret_glued_to_other_script_is_found_and_masked(memory: Repo, text: str, secret: str) -> None:
    memory.write("memory/a.md", f"- {text}\n")
    (row,) = findings(memory)
    assert (row["line"], row["column"]) == (1, 3 + text.index(secret))
    shown = row["excerpt"].split("[…]")[0]
    assert secret[:7] not in shown


PLACES = {
    "a code fence": ("memory/a.md", f"```sh\nexport T={GITHUB}\n```\n"),
    "front matter": ("memory/a.md", f"---\ntoken: {GITHUB}\n---\ntext\n"),
    "a table": ("memory/a.md", f"| what | token |\n|---|---|\n| ci | {GITHUB} |\n"),
    "an HTML comment": ("memory/a.md", f"text <!-- {GITHUB} -->\n"),
    "a fact's own comment": ("MEMORY.md", f"- fact <!-- mem type=fact tags={GITHUB} -->\n"),
    "a link": ("memory/a.md", f"[x](https://a.example/?t={GITHUB})\n"),
    "a file name": (f"memory/{GITHUB}.md", CLEAN),
    "a folder name": (f"memory/{GITHUB}/a.md", CLEAN),
}


@pytest.mark.parametrize("place", PLACES)
def test_a14_a_secret_is_found_in(memory: Repo, place: str) -> None:
    path, text = PLACES[place]
    memory.write(path, text)
    memory.git("add", "-A")
    assert any(row["rule"].startswith("github") for row in findings(memory, "--staged"))
    done = memory.run("git", "commit", "-m", "x", check=False)
    assert done.returncode == 1
    assert GITHUB not in done.stdout + done.stderr


def test_a14_a_secret_in_the_message_is_found(memory: Repo) -> None:
    memory.write("memory/a.md", CLEAN)
    memory.git("add", "-A")
    done = memory.run("git", "commit", "-m", f"subject\n\n쓴 키는 {AWS}\n", check=False)
    assert done.returncode == 1
    assert "commit message:3:" in done.stderr


def test_a15_nothing_of_ours_holds_the_secret_after_a_refused_commit(memory: Repo, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = {"TMPDIR": str(temporary)}
    memory.write("memory/a.md", f"- 토큰은{GITHUB}를 쓴다\n")
    memory.git("add", "-A")
    said = []
    for command in (("git", "commit", "-m", "x"), ("git", "commit", "-m", f"key {GITHUB}", "--allow-empty")):
        done = memory.run(*command, check=False, env=env)
        said.append(done.stdout + done.stderr)
    for form in ("text", "json", "sarif", "github"):
        done = memory.mem("scan", "--staged", "--format", form, check=False, env=env)
        said.append(done.stdout + done.stderr)
    done = memory.mem("add", f"use {GITHUB}", check=False, env=env)
    said.append(done.stdout + done.stderr)
    done = memory.mem("status", check=False, env=env)
    said.append(done.stdout + done.stderr)
    assert all(GITHUB not in text for text in said)
    state = [memory.path / ".git/gitmem", temporary]
    for path in (path for folder in state if folder.exists() for path in folder.rglob("*") if path.is_file()):
        assert GITHUB.encode() not in path.read_bytes(), path


def test_a15_a_crash_of_a_detector_says_nothing_of_the_text(memory: Repo, tmp_path: Path) -> None:
    """A detector that raises with the secret in its message, in a real process behind a real commit."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(
        "import gitmem.gate.detectors.registry as d\n"
        "def load(name):\n"
        "    def detect(text):\n"
        "        raise RuntimeError(text.raw)\n"
        "    return detect\n"
        "d.load = load\n"
    )
    memory.write("memory/a.md", f"- {GITHUB}\n")
    memory.git("add", "-A")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift  # -E\nPYTHONPATH={tmp_path}/site exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    install(memory.path / ".git/hooks", str(python))
    env = {"TMPDIR": str(tmp_path)}
    done = memory.run("git", "commit", "-m", "x", check=False, env=env)
    assert done.returncode == 1
    assert "scanner-failed" in done.stderr and "RuntimeError" in done.stderr
    assert GITHUB not in done.stderr + done.stdout
    assert not [p for p in tmp_path.glob("*.log") if GITHUB.encode() in p.read_bytes()]
    memory.git("restore", "--staged", "memory/a.md")
    memory.write("memory/a.md", CLEAN)
    memory.git("add", "-A")
    assert memory.run("git", "commit", "-m", "x", check=False, env=env).returncode == 1, "clean text is refused as well"
