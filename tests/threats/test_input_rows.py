"""docs/threats.md, A23, A24, A27, A32: input that is too much, too deep, or speaks to a terminal or a CI log."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest

from tests.harness import Repo
from tests.samples import GITHUB


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one fact\n"})
    return repo


def bounded(repo: Repo, *args: str, megabytes: int = 300) -> subprocess.CompletedProcess[str]:
    """`git mem` in a process that may not hold more memory than that (Linux: address space with room for mappings)."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, "-m", "gitmem", *args], cwd=repo.path, capture_output=True, text=True, timeout=120,
        preexec_fn=limit, env=os.environ.copy(),
    )  # fmt: skip


def test_a23_a_giant_blob_is_never_read(memory: Repo) -> None:
    target = memory.path / "memory" / "huge.md"
    target.parent.mkdir(exist_ok=True)
    with target.open("wb") as file:
        file.truncate(400 << 20)
    done = bounded(memory, "scan", "--json", "memory/huge.md", megabytes=120)
    assert done.returncode == 1, done.stderr
    value = json.loads(done.stdout)
    assert value["findings"][0]["rule"] == "unscannable"
    target.write_bytes(b"x" * (5 << 20))
    memory.git("add", "-A")
    done = bounded(memory, "scan", "--json", "--staged", megabytes=120)
    assert json.loads(done.stdout)["skipped"] == [
        {"path": "memory/huge.md", "reason": f"{5 << 20} bytes, more than the {1 << 20} a memory file may have"}
    ]


DEEP = {
    "one long line": "ab cd " * 30_000,
    "nested quotes": "> " * 100_000 + "x",
    "nested brackets": "[" * 200_000,
    "headings": "# h\n" * 100_000,
    "digits": "1" * 200_000,
    "base64": "QUJD" * 50_000,
    "hangul": "가" * 100_000,
    "zero width": "a\u200b" * 50_000,
    "at signs": "a@" * 100_000,
    "equals": "key=" * 50_000,
    "slashes": "http://" * 30_000,
    "backticks": "`" * 200_000,
    "comments": "<!--" * 50_000,
    "percent": "%41" * 60_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_a23_hostile_text_is_answered_in_bounded_memory(memory: Repo, name: str) -> None:
    memory.write("memory/a.md", DEEP[name])
    done = bounded(memory, "scan", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["scanned"]["blobs"] == 2


def test_a23_many_files_are_scanned_in_bounded_memory(memory: Repo) -> None:
    stream = ["commit refs/heads/many\ncommitter T <t@example.com> 1700000000 +0000\ndata 1\nx\n"]
    for number in range(1500):
        text = f"- note {number}\n"
        stream.append(f"M 100644 inline memory/{number}.md\ndata {len(text)}\n{text}\n")
    memory.git("fast-import", "--quiet", input="".join(stream))
    done = bounded(memory, "scan", "--json", "--range", "main..many")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scanned"]["blobs"] == 1500


BOMBS = {
    "front-matter-bomb": "---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: [*d,*d]\n---\ntext\n",
    "front-matter-tag": "---\nx: !!python/object/apply:os.system ['touch ran']\n---\n",
    "front-matter-key": "---\norigin: user\norigin: web\n---\n",
    "front-matter-size": "---\ntitle: " + "x" * 200_000 + "\n---\n",
}


@pytest.mark.parametrize("rule", BOMBS)
def test_a24_a_front_matter_bomb_is_refused_before_any_parser_sees_it(memory: Repo, rule: str) -> None:
    memory.write("memory/a.md", BOMBS[rule])
    done = bounded(memory, "scan", "--json")
    assert done.returncode == 1
    assert rule in {row["rule"] for row in json.loads(done.stdout)["findings"]}
    assert not (memory.path / "ran").exists()


def test_a24_dates_and_lists_in_front_matter_pass(memory: Repo) -> None:
    memory.write("memory/a.md", "---\ndate: 2026-02-05\ntags: [a, b]\ntitle: 회의\n---\n- 결정했다\n")
    assert bounded(memory, "scan").returncode == 0


HOSTILE = f"\x1b[2J\x1b]8;;http://a.example\x07{GITHUB}\x1b]52;c;AAAA\x07\roverwritten"


def test_a32_control_characters_reach_no_terminal_and_no_log(memory: Repo) -> None:
    memory.write("memory/a\x1b[31m.md", HOSTILE)
    memory.git("add", "-A")
    memory.mem("install")
    for form in ("text", "github", "sarif", "json"):
        done = memory.mem("scan", "--format", form, check=False)
        assert done.returncode == 1
        assert not {c for c in done.stdout if ord(c) < 32} - {"\n"}
        assert GITHUB not in done.stdout
    done = memory.run("git", "commit", "-m", "x", check=False)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr and "\r" not in done.stderr


def test_a27_text_cannot_open_a_workflow_command(memory: Repo) -> None:
    memory.write("memory/a.md", f"::set-output name=x::{GITHUB}\n%0A::error::{GITHUB}\n")
    memory.write("memory/::error::x.md", f"{GITHUB}\n")
    lines = memory.mem("scan", "--format", "github", check=False).stdout.splitlines()
    commands = [line for line in lines if line.startswith("::")]
    assert commands and all(line.startswith(("::error title=", "::warning title=")) for line in commands)
    assert not any("%0A::" in line for line in lines)
