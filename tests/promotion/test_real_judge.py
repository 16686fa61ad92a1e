"""Promotion by a real language model of 135 million parameters, as a person runs it and as Git's hook does."""

from __future__ import annotations

from tests import real_model
from tests.cli.test_promotion_hook import record
from tests.harness import Repo

LASTING = """\
Decision: the archive is kept in one SQLite file, because two servers drifted apart
Never restart the label printer between 8 and 10
Ines prefers short answers without emoji
The backup server is at 10.4.0.9 and keeps ninety days
Rule: nothing goes to customers before Ines has read it
Lesson: the importer drops empty rows, so fill them first
We decided to release on Tuesdays only
The gateway accepts at most 30 requests a minute
Deadline: the tax form is due on 30 June
"""
PASSING = """\
Fixed two tests and pushed them
Checked the mail, nothing new
Status: waiting for the review
All 214 tests pass
Lunch with Ben
Next: look at page two
Read three posts about gardens
Cleaned up the desk
Wrote a draft of the letter
"""
LOG = "# 2026-02-05\n\n## 09:00 - work\n\n" + "".join(f"- {line}\n" for line in (LASTING + PASSING).splitlines())
NOW = {"GITMEM_NOW": "2026-02-07T12:00:00+00:00"}


def test_a_small_model_judges_a_log_after_a_commit_and_then_as_a_person_asks(repo: Repo) -> None:
    """One repository for both: what the hook's run judged is kept for the other."""
    model = f"gguf:{real_model.required()}"
    repo.git("config", "--global", "mem.model", model)
    repo.commit("start", {"README.md": "x\n"})
    repo.mem("install", "--promote=branch")
    repo.write("memory/2026-02-05.md", LOG)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "log", env=NOW)
    done = record(repo)
    assert "problem" not in done and done["model"].startswith("rules/1+gguf:SmolLM2-135M-Instruct.Q4_1.gguf@")
    message = repo.git("log", "-1", "--format=%B", "memory/promote")
    assert f"Memory-Model: {done['model']}" in message
    promoted = repo.git("show", "memory/promote:MEMORY.md")
    assert "one SQLite file" in promoted and "label printer" in promoted
    assert not any(passing in promoted for passing in ("Lunch", "Checked the mail", "All 214", "Next"))
    (kept,) = (file for file in (repo.path / ".git/gitmem/judgements").iterdir() if file.suffix != ".json")
    judged = len(kept.read_text().splitlines())
    assert judged > 32, "the examples that calibrate it and statements of the log"
    out = repo.mem("promote", "--dry-run", "--explain", env=NOW).stdout
    assert "would promote" in out and len(kept.read_text().splitlines()) == judged, "nothing is judged twice"


def test_a_run_without_time_says_what_was_kept(repo: Repo) -> None:
    model = f"gguf:{real_model.required()}"
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    repo.git("config", "--global", "mem.modelSeconds", "0")
    done = repo.mem("promote", "--model", model, env=NOW)
    assert "mem.modelSeconds" in done.stdout and "examples that calibrate the model" in done.stdout
    assert "wait for the next run" in done.stdout
    assert "Memory-Cursor" not in repo.git("log", "--format=%B")
