"""`git mem add --commit` and `--edit`."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo
from tests.samples import GITHUB


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("o", {"MEMORY.md": "# Memory\n\n- Invoices are rounded down.\n"})
    return repo


def test_commit_takes_the_file_of_the_line_and_nothing_else(memory: Repo) -> None:
    memory.write("memory/other.md", "- not committed\n")
    memory.write("staged.txt", "staged\n")
    memory.git("add", "staged.txt")
    done = memory.mem("add", "--type", "decision", "--commit", "--agent", "coder", "배포는 월요일에 한다")
    assert done.stdout == "MEMORY.md:7\n" and "committed" in done.stderr and "other edits" not in done.stderr
    message, files = memory.git("show", "--format=%B%x00", "--name-only", "HEAD").split("\0")
    assert message == "memory: 배포는 월요일에 한다\n\nMemory-Agent: coder\n" and files.split() == ["MEMORY.md"]
    assert memory.git("status", "--porcelain") == "A  staged.txt\n?? memory/\n"
    again = json.loads(memory.mem("add", "--type", "decision", "--commit", "--json", "배포는 월요일에 한다").stdout)
    assert again["commit"] is None


def test_edits_that_were_there_are_said_to_go_along(memory: Repo) -> None:
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- Half a thought.\n")
    done = memory.mem("add", "--to", "memory", "--commit", "Deploys are on Monday")
    assert "note: other edits of MEMORY.md that were not committed are in that commit too" in done.stderr
    assert memory.git("status", "--porcelain") == "" and "Half a thought" in memory.git("show", "HEAD:MEMORY.md")


def test_a_commit_is_taken_back_by_undo(memory: Repo) -> None:
    before = memory.read("MEMORY.md")
    memory.mem("add", "--to", "memory", "--commit", "Deploys are on Monday")
    memory.mem("undo", "--yes")
    assert memory.read("MEMORY.md") == before and memory.git("rev-list", "--count", "HEAD") == "3\n"


@pytest.mark.parametrize(
    ("script", "words", "line"),
    [
        ('printf "Seoul opens at nine\\n" > "$1"', (), "- Seoul opens at nine"),
        ('sed -i s/Monday/Tuesday/ "$1"', ("Deploys on Monday",), "- Deploys on Tuesday"),
    ],
)
def test_edit_writes_what_the_editor_left(memory: Repo, script: str, words: tuple[str, ...], line: str) -> None:
    memory.mem("add", "--edit", "--to", "memory", *words, env={"GIT_EDITOR": memory.editor(script)})
    assert line in memory.read("MEMORY.md").splitlines() and "# One line of memory" not in memory.read("MEMORY.md")


@pytest.mark.parametrize(
    "editor",
    [
        "'{path}' --wait", "{path} -f --cmd 'set ft=markdown'", 'f() {{ "{path}" --wait "$1"; }}; f',
        "MODE=x {path} --wait", "test -f {path} && {path}",
    ],
)  # fmt: skip
def test_the_editor_is_run_as_git_runs_it(memory: Repo, editor: str) -> None:
    script = memory.write(".git/my editor", '#!/bin/sh\nfor file; do :; done\nsed -i s/Monday/Tuesday/ "$file"\n')
    script.chmod(0o755)
    path = script if "'{path}'" in editor or '"{path}"' in editor else script.rename(script.with_name("editor"))
    command = editor.format(path=path)
    memory.git("config", "core.editor", command)
    memory.mem("add", "--edit", "--to", "memory", "Deploys on Monday", env={"GIT_EDITOR": command})
    assert "- Deploys on Tuesday" in memory.read("MEMORY.md").splitlines()


def test_an_editor_that_fails_adds_nothing(memory: Repo) -> None:
    failing = memory.editor('echo lost > "$1"\nexit 4')
    for command, words in ((failing, "ended with 4"), ("/no/such/editor", "ended with 127")):
        done = memory.mem("add", "--edit", "a fact", check=False, env={"GIT_EDITOR": command})
        assert done.returncode == 2 and words in done.stderr and "git var GIT_EDITOR" in done.stderr
    assert memory.git("status", "--porcelain") == ""


def test_an_empty_text_adds_nothing(memory: Repo) -> None:
    for words in (("--edit",), ()):
        done = memory.mem("add", *words, check=False, env={"GIT_EDITOR": "true"})
        assert done.returncode == 2 and "add" in done.stderr
    assert memory.mem("add", "--commit", "--to", "organisation", "x", check=False).returncode == 2
    assert memory.git("status", "--porcelain") == ""


@pytest.mark.parametrize("editor", ["true", """printf 'caf\\351\\n' > "$1" #""", "true 'open"])
def test_a_text_that_is_not_utf8_and_an_editor_that_is_none_are_refused_in_words(memory: Repo, editor: str) -> None:
    words = ("a\udcffb",) if editor == "true" else ("a",)
    command = editor if "open" in editor else memory.editor(editor)
    done = memory.mem("add", "--edit", "--to", "memory", *words, check=False, env={"GIT_EDITOR": command})
    assert done.returncode == 2 and ("editor" if "open" in editor else "not UTF-8") in done.stderr
    assert memory.git("status", "--porcelain") == ""


def test_nothing_is_written_into_a_pointer_of_git_lfs(memory: Repo) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
    memory.write("MEMORY.md", pointer)
    done = memory.mem("add", "--type", "decision", "Deploys are on Monday", check=False)
    assert done.returncode == 3 and "git lfs pull --include MEMORY.md" in done.stderr
    assert memory.read("MEMORY.md") == pointer


def test_a_line_in_a_file_that_git_ignores_is_said_to_be_found_by_nobody(memory: Repo) -> None:
    memory.write(".gitignore", "/memory/\n")
    done = memory.mem("add", "The lighthouse is at Tern", env={"GITMEM_NOW": "2026-02-05T14:30:00"})
    assert done.stdout == "memory/2026-02-05.md:5\n"
    assert (
        "note: Git ignores memory/2026-02-05.md, so the line is not searched, and not in the next commit" in done.stderr
    )
    assert "hint: git add --force -- memory/2026-02-05.md" in done.stderr
    assert json.loads(memory.mem("add", "--json", "The boat is red").stdout)["ignored"] is True
    memory.write(".gitignore", "")
    assert "ignores" not in memory.mem("add", "The plane is green").stderr


def test_a_search_where_git_ignores_all_memory_says_so(repo: Repo) -> None:
    repo.write(".gitignore", "/*\n")
    assert "there is no memory here yet" in repo.mem("search", "boat").stderr
    repo.write("MEMORY.md", "# Memory\n\n- The boat is red\n")
    said = repo.mem("search", "boat").stderr
    assert "Git ignores all memory files here" in said and "no memory here yet" not in said


@pytest.mark.parametrize("option", ["--topic", "--tag"])
def test_a_topic_and_a_tag_pass_the_gate_as_the_text_does(repo: Repo, option: str) -> None:
    words = f"deploy {GITHUB} now"
    refused = repo.mem("add", "x", option, words, check=False)
    assert refused.returncode == 1 and "not written" in refused.stderr and GITHUB not in refused.stderr
    assert not (repo.path / "memory").exists()
    repo.git("config", "--global", "mem.onSecret", "mask")
    done = repo.mem("add", "x", option, words, "--json")
    (log,) = (repo.path / "memory").glob("*.md")
    assert json.loads(done.stdout)["masked"] and GITHUB not in log.read_text() and "deploy" in log.read_text()
    repo.mem("add", "y", option, "call 010-2345-6789 first")
    assert "2345" not in log.read_text()
