"""`git mem promote --interactive` on a terminal: accept, edit, skip, quit; what was not accepted is offered again."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from gitmem.memory import facts
from tests.harness import Repo

NOW = {"GITMEM_NOW": "2026-02-10T09:00:00+00:00"}
LOG = """# 2026-02-05

## 10:00

- Decision: invoices are rounded down to 10 won, because the bank refuses fractions.
- Decision: we deploy on Monday before 11:00, because support is staffed then.
- Decision: 결제 타임아웃은 30초로 하기로 했다. 고객 불만 때문이다.
"""


@pytest.fixture
def logs(repo: Repo) -> Repo:
    repo.commit("logs", {"memory/2026-02-05.md": LOG, "MEMORY.md": "# Memory\n"})
    return repo


def answer(repo: Repo, keys: Sequence[str], *args: str, ends: int = 0, **env: str) -> str:
    """Run it on a terminal and type `keys`; what the terminal showed."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, "".join(f"{key}\n" for key in keys).encode())
        command = [sys.executable, "-m", "gitmem", "promote", "--interactive", *args]
        done = subprocess.run(
            command, cwd=repo.path, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, timeout=120,
            env={**os.environ, **NOW, **env},
        )  # fmt: skip
        os.set_blocking(ours, False)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 1 << 16)
            except (BlockingIOError, OSError):
                break
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == ends, (done.stdout, shown.decode())
    return shown.decode() + done.stdout.decode()


def texts(repo: Repo) -> list[str]:
    return [fact.text for fact in facts.parse((repo.path / "MEMORY.md").read_bytes()).facts]


def test_what_is_accepted_is_promoted_and_the_rest_is_offered_again(logs: Repo) -> None:
    shown = answer(logs, ["y", "n", "?", "y"])
    assert "(1/3)" in shown and "from memory/2026-02-05.md:5\r\n" in shown and "not now" in shown
    second = shown.split("(1/3)")[1].split("(2/3)")[0]  # skipped
    assert len(texts(logs)) == 2 and not any(text in second for text in texts(logs))
    message = logs.git("log", "-1", "--format=%B")
    assert "Reviewed-by: Test <test@example.com>" in message and "Memory-Model: rules/" in message
    assert "Memory-Cursor" not in message  # one candidate waits
    assert "(1/1)" in answer(logs, ["y"]) and len(texts(logs)) == 3
    assert "Memory-Cursor" in logs.git("log", "-1", "--format=%B")
    assert "nothing to promote" in answer(logs, [])


def test_quit_keeps_what_was_accepted_and_nothing_accepted_writes_nothing(logs: Repo) -> None:
    before = logs.git("rev-parse", "HEAD")
    assert "nothing was promoted" in answer(logs, ["n", "q"])
    assert logs.git("rev-parse", "HEAD") == before
    answer(logs, ["y", "q"])
    assert len(texts(logs)) == 1


def test_what_is_rejected_with_a_reason_is_never_offered_again_and_what_is_skipped_is(logs: Repo) -> None:
    shown = answer(logs, ["y", "r", "only a joke", "n"])
    assert "rejected 1 proposal" in shown and len(texts(logs)) == 1
    message = logs.git("log", "-1", "--format=%B")
    assert message.startswith("memory: reject 1 proposal") and "Memory-Reason: only a joke" in message
    assert "Memory-Rejected: memory/2026-02-05.md" in message and "Reviewed-by: Test <test@example.com>" in message
    assert "(1/1)" in answer(logs, ["n"])
    oid = logs.git("rev-parse", "HEAD").strip()
    logs.git("commit", "-q", "--allow-empty", "-m", f"Revert it\n\nThis reverts commit {oid}.")
    assert "(1/2)" in answer(logs, ["q"])


def test_rejections_alone_are_one_commit_for_each_reason_and_promote_nothing(logs: Repo) -> None:
    before = logs.git("rev-list", "--count", "HEAD")
    shown = answer(logs, ["r", "a joke", "r", "a joke", "r", "too old"])
    assert "rejected 2 proposals" in shown and "rejected 1 proposal:" in shown and texts(logs) == []
    assert int(logs.git("rev-list", "--count", "HEAD")) == int(before) + 2
    assert "nothing to promote" in answer(logs, [])


@pytest.mark.parametrize("reason", ["", "the token is ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"])
def test_without_a_reason_or_with_a_secret_in_it_nothing_is_rejected(logs: Repo, reason: str) -> None:
    before = logs.git("rev-parse", "HEAD")
    answer(logs, ["r", reason, "q"])
    assert logs.git("rev-parse", "HEAD") == before


@pytest.mark.parametrize("option", ["--stage", "--branch=memory/x"])
def test_where_no_commit_on_this_branch_is_made_nothing_is_rejected(logs: Repo, option: str) -> None:
    assert "not with --stage or --branch" in answer(logs, ["r", "q"], option)


def test_an_edited_text_is_held_to_its_source(repo: Repo) -> None:
    log = "# 2026-02-05\n\n- Decision: invoices are rounded down to 10 won, because the bank refuses fractions.\n"
    repo.commit("logs", {"memory/2026-02-05.md": log, "MEMORY.md": "# Memory\n"})
    editor = repo.editor('cp .git/text "$1"')
    repo.write(".git/text", "Invoices are rounded down to 25 won, because the bank refuses fractions.\n")
    shown = answer(repo, ["e", "q"], GIT_EDITOR=editor)
    assert "that would be refused" in shown and texts(repo) == []
    repo.write(".git/text", "Invoices are rounded down to 10 won, because the bank refuses fractions.\n")
    answer(repo, ["e", "q"], GIT_EDITOR=editor)
    assert texts(repo) == ["Invoices are rounded down to 10 won, because the bank refuses fractions."]
    assert "text is in the source" in repo.mem("why", "MEMORY.md:3").stdout or "Memory-Source" in repo.git("log", "-1")


def test_what_is_of_the_web_is_asked_for_and_said(repo: Repo) -> None:
    log = (
        "# 2026-02-05\n\n- Decision: tokens expire after 7 days, because they are long-lived. <!-- mem origin=web -->\n"
    )
    repo.commit("logs", {"memory/2026-02-05.md": log, "MEMORY.md": "# Memory\n"})
    assert "are not a person's" in answer(repo, ["y"])
    assert len(texts(repo)) == 1 and "Reviewed-by" in repo.git("log", "-1", "--format=%B")


def test_without_a_terminal_and_for_an_agent_it_is_refused(logs: Repo) -> None:
    done = logs.mem("promote", "--interactive", check=False, env=NOW)
    assert done.returncode == 2 and "needs a terminal" in done.stderr
    logs.git("config", "--global", "mem.agent", "coder")
    assert "only a person" in answer(logs, [], ends=2)
    assert logs.mem("promote", "-i", "--json", check=False).returncode == 2


def commits_meanwhile(repo: Repo, script: str) -> str:
    """An editor that leaves the text as it is, and commits meanwhile what `script` does, as an agent would."""
    return repo.editor(f'{script}\ngit add -A; git commit -qm meanwhile\ntouch "$1"')


NEXT = "- Decision: the office in Busan opens at nine, because the market opens then."


@pytest.mark.parametrize("log", ["memory/2026-02-06.md", "memory/2026-02-05.md"])
def test_lines_committed_while_a_person_answers_are_offered_next_time(logs: Repo, log: str) -> None:
    editor = commits_meanwhile(logs, f"printf '\\n%s\\n' '{NEXT}' >> {log}")
    answer(logs, ["e", "y", "y"], GIT_EDITOR=editor)
    message = logs.git("log", "-1", "--format=%B")
    assert len(texts(logs)) == 3 and "Memory-Cursor" not in message
    assert logs.git("rev-parse", "HEAD:memory/2026-02-05.md")[:7] in message  # it cites the log as it is now
    shown = answer(logs, ["y"])
    assert "(1/1)" in shown and any("Busan" in text for text in texts(logs))


def test_facts_follow_their_lines_to_where_they_stand_now(logs: Repo) -> None:
    editor = commits_meanwhile(logs, "sed -i '3i ## 09:00\\n\\n- We met.\\n' memory/2026-02-05.md")
    answer(logs, ["e", "y", "y"], GIT_EDITOR=editor)
    sources = [line for line in logs.git("log", "-1", "--format=%B").splitlines() if line.startswith("Memory-Source")]
    assert len(texts(logs)) == 3 and ["#L9" in line for line in sources].count(True) == 1, sources


@pytest.mark.parametrize(
    ("script", "left"), [("sed -i /rounded/d memory/2026-02-05.md", 2), ("git rm -q memory/2*", 0)]
)
def test_an_accepted_fact_whose_lines_are_gone_is_said(logs: Repo, script: str, left: int) -> None:
    shown = answer(logs, ["y", "y", "e"], ends=1, GIT_EDITOR=commits_meanwhile(logs, script))
    assert len(texts(logs)) == left and f"{3 - left} accepted fact" in shown and "not promoted" in shown


def test_an_edited_text_that_is_not_utf8_is_asked_for_again(logs: Repo) -> None:
    editor = logs.editor("printf 'caf\\351\\n' > \"$1\"")
    assert "not UTF-8" in answer(logs, ["y", "e", "q"], GIT_EDITOR=editor) and len(texts(logs)) == 1


def test_the_end_of_input_quits_and_what_was_accepted_is_promoted(logs: Repo) -> None:
    shown = answer(logs, ["y", "\x04"])
    assert "promoted 1 fact" in shown and len(texts(logs)) == 1
    before = logs.git("rev-parse", "HEAD")
    assert "nothing was promoted" in answer(logs, ["\x04"]) and logs.git("rev-parse", "HEAD") == before


def test_the_sources_that_are_named_are_places_that_show_takes(logs: Repo) -> None:
    told = logs.mem("promote", "--dry-run", "--explain", env=NOW).stdout
    named = re.findall(r"^ +from (\S+)$", told, re.MULTILINE)
    assert len(named) == 3 and "@" not in "".join(named)
    for place in named:
        assert "Decision: " in logs.mem("show", place).stdout
    logs.mem("promote", env=NOW)
    (source, *_) = re.findall(r"src=(\S+)", logs.read("MEMORY.md"))
    assert "Decision: " in logs.mem("show", source).stdout
