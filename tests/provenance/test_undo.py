"""`git mem undo`: the last write goes, by a commit where it was committed, and nobody else's text with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitmem.agents.memory_tool import memory_tool
from gitmem.config import Config
from gitmem.git import undo_record
from gitmem.git.opening import open_repository
from tests.harness import Repo

TOKEN = "ghp_" + "R4nd0mL3tt3rsAndD1g1tsThatAreLong99x"
LOG = "# 2026-02-05\n\n## 10:00\n\n- We decided to use Postgres for billing because of row locks.\n- 결제 타임아웃은 30초로 하기로 했다.\n"


@pytest.fixture
def memory(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "memory")
    repo.mem("init")
    repo.commit("start")
    repo.mem("undo")  # the templates, taken back in the work tree
    repo.git("checkout", "-q", ".")
    return repo


def undo(repo: Repo, *options: str) -> dict[str, object]:
    value = json.loads(repo.mem("undo", "--json", *options).stdout)
    assert isinstance(value, dict)
    return value


def test_lines_that_were_added_go_one_write_at_a_time(memory: Repo) -> None:
    memory.mem("add", "the billing service runs in Frankfurt")
    first = memory.git("status", "--porcelain")
    memory.mem("add", "두 번째 줄")
    second = next((memory.path / "memory").glob("2*.md")).read_text()
    assert undo(memory, "--dry-run")["files"] == undo(memory)["files"]
    text = next((memory.path / "memory").glob("2*.md")).read_text()
    assert "두 번째 줄" in second and "두 번째 줄" not in text and "Frankfurt" in text
    assert memory.git("status", "--porcelain") == first
    undo(memory)
    assert memory.git("status", "--porcelain") == ""
    done = memory.mem("undo", check=False)
    assert done.returncode == 3 and "nothing to undo" in done.stderr


def test_text_that_somebody_wrote_since_is_never_touched(memory: Repo) -> None:
    memory.mem("add", "--type", "decision", "PoC uses webhooks")
    text = memory.read("MEMORY.md") + "- a line by hand\n"
    memory.write("MEMORY.md", text)
    done = memory.mem("undo", check=False)
    assert done.returncode == 3 and "changed since" in done.stderr and memory.read("MEMORY.md") == text


def test_a_correction_is_reverted_by_a_commit_that_says_so(memory: Repo) -> None:
    memory.commit("fact", {"MEMORY.md": "# Memory\n\n## Facts\n\n- the office is in Ghent\n"})
    memory.mem("forget", "MEMORY.md:5", "--reason", "moved")
    forgotten = memory.git("rev-parse", "HEAD").strip()
    done = undo(memory)
    assert done["commits"] == [forgotten] and done["commit"] == memory.git("rev-parse", "HEAD").strip()
    assert "- the office is in Ghent\n" in memory.read("MEMORY.md") and memory.git("status", "--porcelain") == ""
    message = memory.git("log", "-1", "--format=%B")
    assert message.startswith('Undo "memory: forget 1 fact"') and f"This reverts commit {forgotten}." in message


def test_what_a_person_wrote_before_a_committed_write_stays(memory: Repo) -> None:
    text = memory.read("MEMORY.md") + "\n- a line by hand, 손으로 쓴 줄\n"
    memory.write("MEMORY.md", text)
    memory.mem("add", "--type", "decision", "PoC uses webhooks", "--commit")
    assert "webhooks" in memory.git("show", "HEAD:MEMORY.md")
    undo(memory)
    assert memory.read("MEMORY.md") == text and memory.git("status", "--porcelain") == ""


@pytest.mark.parametrize("kept", [b"", b"- an older note\n"], ids=["folder-gone", "folder-stays"])
def test_a_file_that_a_person_deleted_before_a_committed_write_does_not_come_back(memory: Repo, kept: bytes) -> None:
    memory.commit("note", {"memory/notes/deploy.md": "- deploys need two approvals\n"})
    if kept:
        memory.commit("other", {"memory/notes/other.md": kept})
    (memory.path / "memory/notes/deploy.md").unlink()
    memory.mem("add", "the billing service runs in Ghent", "--to", "memory/notes/deploy.md", "--commit")
    assert [file["path"] for file in undo(memory)["files"]] == ["memory/notes/deploy.md"]  # type: ignore[attr-defined]
    assert not (memory.path / "memory/notes/deploy.md").exists() and memory.git("status", "--porcelain") == ""
    assert (memory.path / "memory/notes").exists() == bool(kept)


def test_everything_can_be_taken_back_down_to_init(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "code")
    repo.commit("code", {"src/a.py": "print(1)\n", "README.md": "# Code\n"})
    repo.mem("init", "--only-new")
    repo.mem("add", "--type", "decision", "메일은 SES 로 보낸다", "--commit")
    repo.mem("add", "다음 주에 배포한다")
    for _ in range(3):
        repo.mem("undo")
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "README.md", "src"]
    assert "there is nothing to undo" in repo.mem("undo", check=False).stderr


def test_a_promotion_goes_as_a_whole_and_can_be_made_again(memory: Repo) -> None:
    memory.commit("log", {"memory/2026-02-05.md": LOG})
    before, text = memory.git("rev-parse", "HEAD").strip(), memory.read("MEMORY.md")
    memory.mem("promote")
    made = memory.git("rev-list", "--reverse", f"{before}..HEAD").split()
    promoted = memory.read("MEMORY.md")
    assert made and promoted != text
    assert undo(memory)["commits"] == made
    assert memory.read("MEMORY.md") == text and memory.git("diff", before, "HEAD") == ""
    assert memory.mem("verify").returncode == 0
    memory.mem("promote")
    assert memory.read("MEMORY.md") == promoted


def test_a_staged_promotion_leaves_nothing_staged(memory: Repo) -> None:
    memory.commit("log", {"memory/2026-02-05.md": LOG})
    memory.mem("install")
    memory.mem("promote", "--stage")
    assert memory.git("diff", "--cached", "--name-only").strip() == "MEMORY.md"
    undo(memory)
    assert memory.git("status", "--porcelain") == ""
    memory.write("memory/notes.md", "a note\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", "a note")
    assert "Memory-Source" not in memory.git("log", "-1", "--format=%B")


def test_what_redact_masked_does_not_come_back(memory: Repo) -> None:
    path = memory.write("memory/a.md", "a line\n")
    memory.mem("add", "a first line", "--to", "memory/a.md")
    memory.write("memory/a.md", path.read_text() + f"token {TOKEN}\n")
    memory.mem("redact", "memory/a.md")
    assert TOKEN not in path.read_text()
    assert memory.mem("undo", check=False).returncode == 3
    state = [file.read_bytes() for file in (memory.path / ".git" / "gitmem").glob("undo*")]
    assert not any(TOKEN.encode() in data for data in state)


def test_a_write_on_another_branch_stays(memory: Repo) -> None:
    memory.commit("fact", {"MEMORY.md": "# Memory\n\n## Facts\n\n- the office is in Ghent\n"})
    memory.git("branch", "side")
    memory.mem("forget", "MEMORY.md:5", "--reason", "moved")
    memory.git("switch", "-q", "side")
    done = memory.mem("undo", check=False)
    assert done.returncode == 3 and "Ghent" in memory.read("MEMORY.md")
    memory.git("switch", "-q", "main")
    assert undo(memory)["commit"]


@pytest.mark.parametrize("text", ["[]", "{", "[1]", '[{"files": 1}]', '[{"at":1,"commit":"","group":"","files":{}}]'])
def test_a_damaged_record_is_nothing_to_undo(memory: Repo, text: str) -> None:
    memory.mem("add", "a line")
    (file,) = (memory.path / ".git" / "gitmem").glob("undo*")
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text(text)
    assert memory.mem("undo", check=False).returncode == 3
    memory.mem("add", "another line")
    assert undo(memory)["files"]


def test_a_record_cannot_lead_out_of_the_repository(memory: Repo, tmp_path: Path) -> None:
    memory.mem("add", "a line")
    (file,) = (memory.path / ".git" / "gitmem").glob("undo*")
    rows = json.loads(file.read_text())
    (tmp_path / "outside").write_text("x")
    for path in ("../outside", str(tmp_path / "outside"), ".git/config"):
        rows[-1]["files"] = {path: {"before": None, "after": None}}
        file.write_text(json.dumps(rows))
        assert memory.mem("undo", check=False).returncode == 3
    assert (tmp_path / "outside").read_text() == "x" and (memory.path / ".git" / "config").exists()


def test_an_import_of_many_sessions_goes_as_a_whole(memory: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in range(40):
        row = {"role": "user", "text": f"We decided that crane {number} is painted blue.", "at": "2026-02-05T10:00:00Z"}
        (folder / f"{number:02}.jsonl").write_text(json.dumps(row) + "\n")
    memory.mem("add", "a line before")
    before = memory.git("status", "--porcelain", "-uall")
    memory.mem("import", "claude", str(folder))
    assert memory.git("status", "--porcelain", "-uall") != before
    undo(memory)
    assert memory.git("status", "--porcelain", "-uall") == before
    undo(memory)


def test_a_write_that_is_too_large_is_said_and_not_half_undone(memory: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_record, "MAX_FILE_BYTES", 300)
    opened = open_repository(memory.path, os.environ)
    with undo_record.together():
        for number in range(3):
            undo_record.remember(opened, {f"{number}.md": b"x" * 150}, {f"{number}.md": b"y"}, "")
    assert [entry.files for entry in undo_record.last_write(opened)] == [{}]
    opened.close()
    done = memory.mem("undo", check=False)
    assert done.returncode == 3 and "too large" in done.stderr


def test_redact_leaves_no_text_in_the_record_of_another_work_tree(memory: Repo, tmp_path: Path) -> None:
    memory.commit("log", {"memory/a.md": "a line\n"})
    memory.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "side")
    other = Repo(tmp_path / "other", init=False)
    other.write("memory/a.md", f"a line\ntoken {TOKEN}\n")
    other.mem("add", "another line", "--to", "memory/a.md", check=False)
    opened = open_repository(other.path, os.environ)
    undo_record.remember(opened, {"memory/a.md": TOKEN.encode()}, {"memory/a.md": b"x"}, "")
    opened.close()
    memory.write("memory/a.md", f"a line\ntoken {TOKEN}\n")
    memory.mem("redact", "memory/a.md")
    opened = open_repository(other.path, os.environ)
    assert undo_record.load(opened) == []
    opened.close()


def test_a_line_that_a_person_wrote_between_two_writes_stays(memory: Repo) -> None:
    opened = open_repository(memory.path, os.environ)
    with undo_record.together():
        for number in range(2):
            before = memory.read("MEMORY.md").encode()
            after = before + f"- fact {number}\n".encode()
            memory.write("MEMORY.md", after)
            undo_record.remember(opened, {"MEMORY.md": before}, {"MEMORY.md": after}, "")
            if not number:
                memory.write("MEMORY.md", after + b"- a line by hand\n")
    opened.close()
    done = memory.mem("undo", check=False)
    assert done.returncode == 3 and "between two of these writes" in done.stderr
    assert "- a line by hand\n" in memory.read("MEMORY.md")


def test_what_was_imported_and_taken_back_can_be_imported_again(memory: Repo, tmp_path: Path) -> None:
    row = {"role": "user", "text": "We decided that the crane is painted blue.", "at": "2026-11-05T10:00:00Z"}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n")
    memory.mem("import", "claude", str(tmp_path / "s.jsonl"))
    before = memory.git("status", "--porcelain", "-uall")
    undo(memory)
    assert memory.git("status", "--porcelain") == ""
    memory.mem("import", "claude", str(tmp_path / "s.jsonl"))
    assert memory.git("status", "--porcelain", "-uall") == before


def test_forget_everywhere_leaves_no_text_in_the_record(memory: Repo) -> None:
    memory.commit("fact", {"MEMORY.md": "# Memory\n\n## Facts\n\n- the office is in Ghent\n"})
    memory.mem("add", "--type", "fact", "the lorries are red")
    memory.commit("more")
    memory.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "asked to")
    (file,) = (memory.path / ".git/gitmem").glob("undo-*.json")
    rows = json.loads(file.read_text())
    assert [row["files"] for row in rows[:-1]] == [{}] * (len(rows) - 1) and rows[-1]["commit"]


def test_a58_an_undo_of_a_forget_shows_no_forgotten_text_and_brings_it_back(memory: Repo) -> None:
    memory.commit("fact", {"MEMORY.md": "# Memory\n\n## Facts\n\n- Zebediah approves every\n  vendor payment\n- two\n"})
    memory.mem("forget", "MEMORY.md:5", "--everywhere", "--reason", "asked to")
    for args in (["--dry-run"], ["--dry-run", "--json"], ["--json"]):
        told = memory.mem("undo", *args).stdout
        assert "Zebediah" not in told and "vendor" not in told and "+ - [forgotten]" in told, told
    assert "- Zebediah approves every\n  vendor payment\n" in memory.read("MEMORY.md")


def test_the_commit_that_somebody_made_is_named_and_not_a_later_undo(memory: Repo) -> None:
    memory.mem("add", "--type", "decision", "PoC uses webhooks")
    memory.commit("mine")
    mine = memory.git("rev-parse", "HEAD")[:12]
    memory.mem("edit", "MEMORY.md:5", "PoC uses polling", "--reason", "tried")
    memory.mem("undo")
    assert f"committed by hand since, in {mine}\n" in memory.mem("undo", "--dry-run").stdout


def test_what_somebody_committed_since_is_said_and_goes_from_the_work_tree_alone(memory: Repo) -> None:
    memory.mem("add", "--type", "decision", "PoC uses webhooks")
    assert "not committed" in memory.mem("undo", "--dry-run").stdout
    memory.commit("mine")
    head = memory.git("rev-parse", "HEAD")
    told = memory.mem("undo", "--dry-run").stdout
    assert "committed by hand since, in " in told and "not committed" not in told
    assert undo(memory, "--dry-run")["committed_since"] == ["MEMORY.md"]
    done = memory.mem("undo", "--yes")
    assert "HEAD still has it: git commit -- MEMORY.md takes it out there" in done.stderr
    assert memory.git("rev-parse", "HEAD") == head
    assert memory.git("status", "--porcelain") == " M MEMORY.md\n" and "webhooks" not in memory.read("MEMORY.md")
    memory.git("commit", "-qm", "out", "--", "MEMORY.md")
    assert memory.git("status", "--porcelain") == "" and "webhooks" not in memory.git("show", "HEAD:MEMORY.md")


def test_the_command_that_takes_a_committed_line_of_a_log_out_of_head_passes_the_hook(memory: Repo) -> None:
    memory.mem("install")
    memory.mem("add", "회의는 10시")
    memory.mem("add", "the office moved")
    memory.commit("mine")
    for _ in range(2):  # a line goes, then the file
        said = memory.mem("undo", "--yes").stderr
        command = said.partition("HEAD still has it: ")[2].partition(" takes it out there")[0]
        assert "--trailer" in command
        memory.run("sh", "-c", command, env={"GIT_EDITOR": "sed -i '1s/^/out/'"})
        assert memory.git("status", "--porcelain") == ""
    assert "Memory-Rewrite: undone" in memory.git("log", "-1", "--format=%B")


def test_the_write_before_one_that_was_taken_back_is_committed_still(memory: Repo) -> None:
    memory.mem("add", "--type", "decision", "PoC uses webhooks")
    memory.mem("add", "--type", "decision", "웹훅은 세 번까지 다시 보낸다")
    memory.commit("mine")
    memory.mem("undo", "--yes")
    assert undo(memory, "--dry-run")["committed_since"] == ["MEMORY.md"]
    assert "HEAD still has it" in memory.mem("undo", "--yes").stderr
    memory.mem("add", "--type", "decision", "logs are kept for a week")
    assert undo(memory, "--dry-run")["committed_since"] == []


def test_what_was_made_before_a_redaction_can_be_taken_back_after_it_is_passed_over(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "vault")
    repo.write("servers.md", f"# Servers\n\ntoken {TOKEN}\n")
    before = repo.git("status", "--porcelain", "-uall")
    repo.mem("init", "--adopt")
    repo.mem("redact", "servers.md")
    dry = repo.mem("undo", "--dry-run", check=False)
    for done in (dry, repo.mem("undo", check=False)):  # a dry run passes nothing over
        assert done.returncode == 3 and "redaction" in done.stderr and "once more" in done.stderr
    undo(repo)
    assert repo.git("status", "--porcelain", "-uall") == before and TOKEN not in repo.read("servers.md")
    assert "nothing to undo" in repo.mem("undo", check=False).stderr


def test_a_file_that_was_deleted_before_any_commit_had_it_is_not_said_to_be_committed(memory: Repo) -> None:
    opened = open_repository(memory.path, os.environ)
    delete = {"command": "delete", "path": "/memories/memory/n.md"}
    memory.write("memory/n.md", "- never committed\n")
    assert not memory_tool(opened, Config(), delete).is_error
    assert undo(memory, "--dry-run")["committed_since"] == []
    assert "HEAD" not in memory.mem("undo", "--yes").stderr
    assert memory.read("memory/n.md") == "- never committed\n"
    memory.commit("note")
    assert not memory_tool(opened, Config(), delete).is_error
    memory.commit("gone")
    assert undo(memory, "--dry-run")["committed_since"] == ["memory/n.md"]
    opened.close()


# -- writes on another branch ----------------------------------------------------------------------------------


def on_branch(memory: Repo) -> tuple[str, str]:
    """A line that was added here and not committed, then a promotion on a branch: HEAD, and what MEMORY.md says there."""
    memory.commit("log", {"memory/2026-02-05.md": LOG})
    memory.mem("add", "the ferry leaves at nine")
    memory.mem("promote", "--branch", "memory/promote")
    return memory.git("rev-parse", "HEAD"), memory.git("show", "memory/promote:MEMORY.md")


def test_a_promotion_on_a_branch_is_taken_back_there_and_nothing_here(memory: Repo) -> None:
    head, promoted = on_branch(memory)
    status = memory.git("status", "--porcelain")
    planned = undo(memory, "--dry-run")
    assert planned["branch"] == "memory/promote" and "Postgres" in str(planned["files"]) and "Postgres" in promoted
    assert memory.git("show", "memory/promote:MEMORY.md") == promoted
    done = undo(memory)
    assert done["commit"] == memory.git("rev-parse", "memory/promote").strip()
    assert "Postgres" not in memory.git("show", "memory/promote:MEMORY.md")
    assert memory.git("rev-parse", "HEAD") == head and memory.git("status", "--porcelain") == status
    assert "ferry" in str(undo(memory)["files"]), "then comes what was written before"
    assert memory.git("worktree", "list").count("\n") == 1
    assert len(list((memory.path / ".git/gitmem").glob("undo-*.json"))) == 1, (
        "no record of the temporary work tree stays"
    )


def test_a_promotion_whose_branch_was_merged_is_taken_back_here(memory: Repo) -> None:
    on_branch(memory)
    memory.git("merge", "-q", "memory/promote")
    done = undo(memory)
    assert done["branch"] is None and "Postgres" not in memory.read("MEMORY.md")
    assert "Postgres" in memory.git("show", "memory/promote:MEMORY.md")


def test_a_branch_that_is_gone_is_said_once_and_passed_over(memory: Repo) -> None:
    on_branch(memory)
    memory.git("branch", "-D", "memory/promote")
    refused = memory.mem("undo", check=False)
    assert refused.returncode == 3 and "'memory/promote', which is gone" in refused.stderr
    assert "once more" in refused.stderr and "ferry" in str(undo(memory)["files"])


def test_a_branch_that_went_on_is_left_as_it_is(memory: Repo) -> None:
    on_branch(memory)
    memory.git("switch", "-q", "memory/promote")
    memory.commit("by hand", {"MEMORY.md": memory.read("MEMORY.md") + "- Mine.\n"})
    memory.git("switch", "-q", "-")
    tip = memory.git("rev-parse", "memory/promote")
    refused = memory.mem("undo", check=False)
    assert refused.returncode == 3 and "was changed since" in refused.stderr
    assert memory.git("rev-parse", "memory/promote") == tip
