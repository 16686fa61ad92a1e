"""Files written for a commit that is not made are as they were, also after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git.commit import commit_paths
from gitmem.git.opening import open_repository
from gitmem.git.recovery import RECORD, recover
from gitmem.git.transaction import replaced, writer
from tests.harness import SOURCE, Repo

MEMORY = "# Memory\n\n- We use Postgres 16\n"
LOG = "# 2026-03-01\n\n## 09:00 - plan\n\n- Decided: deploys happen on Tuesdays because support is there\n"
KILLED = """
    import os, signal, sys
    from pathlib import Path
    from gitmem.git import transaction
    from gitmem.git.opening import open_repository
    from gitmem.git.write import run_git
    repo = open_repository(Path.cwd(), os.environ)
    files = {"MEMORY.md": b"# Memory\\n\\n- promoted\\n", "memory/archive/2026.md": b"# Archive\\n"}
    noted = transaction.Reading(repo)
    for path in files:
        noted.raw(path)
    with transaction.replaced(repo, files, noted.noted, before=transaction.position(repo)):
        if "staged" in sys.argv:
            run_git(repo, ["add", "--", *files])
        if "committed" in sys.argv:
            run_git(repo, ["add", "--", *files])
            run_git(repo, ["commit", "-q", "-m", "promoted"])
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": MEMORY, "memory/2026-03-01.md": LOG})
    return repo


def killed(repo: Repo, *when: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), *when], cwd=repo.path, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert (repo.path / ".git" / RECORD).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("when", ["written", "staged"])
def test_a_killed_run_is_undone_by_the_next_one(memory: Repo, when: str) -> None:
    killed(memory, when)
    assert "promoted" in memory.read("MEMORY.md")
    done = memory.mem("promote")
    assert "as it was before a run that was killed" in done.stdout
    assert memory.git("status", "--porcelain") == ""
    assert "deploys happen on Tuesdays" in memory.read("MEMORY.md") and "- promoted" not in memory.read("MEMORY.md")
    assert not (memory.path / ".git" / RECORD).exists()


def test_a_run_killed_after_its_commit_keeps_it(memory: Repo) -> None:
    killed(memory, "committed")
    assert recover(open_repository(memory.path, os.environ)) == []
    assert "- promoted" in memory.read("MEMORY.md") and memory.git("status", "--porcelain") == ""


def test_what_somebody_wrote_since_a_kill_stays(memory: Repo) -> None:
    killed(memory, "written")
    memory.write("MEMORY.md", "# Memory\n\n- promoted\n- mine\n")
    assert memory.mem("promote", check=False).returncode == 3
    assert "- mine" in memory.read("MEMORY.md")
    assert not (memory.path / "memory/archive/2026.md").exists()


def test_a_correction_after_a_kill_starts_from_what_is_committed(memory: Repo) -> None:
    killed(memory, "written")
    memory.mem("forget", "MEMORY.md:3", "--reason", "moved away")
    assert memory.read("MEMORY.md") == "# Memory\n\n"


@pytest.mark.parametrize(
    "record",
    [
        "",
        "[]",
        "{}",
        '{"head": null, "files": {"MEMORY.md": 1}}',
        '{"head": null, "files": {"a": {}}}',
        '{"head": null, "files": {"MEMORY.md": {"before": "!", "after": ""}}}',
    ],
)
def test_a_record_that_cannot_be_read_is_dropped(memory: Repo, record: str) -> None:
    (memory.path / ".git" / RECORD).write_text(record)
    assert recover(open_repository(memory.path, os.environ)) == []
    assert not (memory.path / ".git" / RECORD).exists() and memory.read("MEMORY.md") == MEMORY


@pytest.mark.parametrize(
    "path", ["../outside", "/etc/hostname", ".git/config", "memory", "linked.md", "a\0b", "\ud800", ""]
)
def test_a_record_cannot_reach_outside_and_stops_no_run(memory: Repo, tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (memory.path / "linked.md").symlink_to(outside)
    config = (memory.path / ".git/config").read_bytes()
    there = config if path == ".git/config" else b"mine"
    files = {path: {"before": "YQ==", "after": hashlib.sha256(there).hexdigest()}}
    (memory.path / ".git" / RECORD).write_text(json.dumps({"head": None, "files": files}))
    memory.mem("forget", "MEMORY.md:3", "--reason", "x")
    assert outside.read_bytes() == b"mine" and (memory.path / ".git/config").read_bytes() == config
    assert not (memory.path / ".git" / RECORD).exists()


def test_a_record_that_is_a_link_or_nested_without_end_is_dropped(memory: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("{}")
    record = memory.path / ".git" / RECORD
    record.symlink_to(outside)
    assert recover(open_repository(memory.path, os.environ)) == [] and outside.exists() and not record.is_symlink()
    record.write_text("[" * 200_000)
    assert recover(open_repository(memory.path, os.environ)) == [] and not record.exists()


def test_a_block_that_raises_leaves_files_and_staging_as_they_were(memory: Repo) -> None:
    memory.write("memory/other.md", "- staged by a person\n")
    memory.git("add", "memory/other.md")
    repo = open_repository(memory.path, os.environ)
    noted = {"MEMORY.md": MEMORY.encode(), "memory/archive/2026.md": None}
    files = {"MEMORY.md": b"new\n", "memory/archive/2026.md": b"x\n"}
    with pytest.raises(RuntimeError), replaced(repo, files, noted):
        memory.git("add", "MEMORY.md", "memory/archive/2026.md")
        raise RuntimeError
    assert memory.git("status", "--porcelain") == "A  memory/other.md\n" and memory.read("MEMORY.md") == MEMORY
    assert not (memory.path / ".git" / RECORD).exists()


HALF_WRITTEN = """
    import os, signal, sys
    real = os.fsync
    os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
    sys.argv = ["git-mem", "add", "--type", "decision", "We deploy on Tuesdays"]
    from gitmem.__main__ import main
    main()
"""


def test_a_run_killed_while_it_writes_leaves_nothing_that_git_would_add(memory: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HALF_WRITTEN)], cwd=memory.path, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert memory.git("status", "--porcelain", "--ignored") == "" and memory.read("MEMORY.md") == MEMORY
    left = memory.path / ".git/gitmem/writing"
    assert list(left.iterdir())
    memory.mem("add", "--type", "decision", "We deploy on Tuesdays")
    assert not list(left.iterdir())


def with_hook(repo: Repo, name: str, script: str) -> None:
    hook = repo.path / ".git/hooks" / name
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("hook", ["pre-commit", "post-commit"])
def test_what_a_program_writes_into_the_file_it_has_open_while_hooks_run_is_kept(memory: Repo, hook: str) -> None:
    with open(memory.path / "MEMORY.md", "ab") as held:
        with_hook(memory, hook, f"echo '- theirs' >> /proc/{os.getpid()}/fd/{held.fileno()}")
        done = memory.mem("edit", "MEMORY.md:3", "We use Postgres 17", "--reason", "upgraded")
    assert memory.read("MEMORY.md") == "# Memory\n\n- We use Postgres 17\n- theirs\n"
    assert memory.git("show", "HEAD:MEMORY.md") == "# Memory\n\n- We use Postgres 17\n"
    assert "its lines are in the file, not committed; git diff -- MEMORY.md shows them" in done.stderr
    assert not list((memory.path / ".git/gitmem/writing").iterdir())


def test_what_was_forgotten_does_not_come_back_with_what_a_program_writes_late(memory: Repo) -> None:
    with open(memory.path / "MEMORY.md", "ab") as held:
        with_hook(memory, "pre-commit", f"echo '- theirs' >> /proc/{os.getpid()}/fd/{held.fileno()}")
        memory.mem("forget", "MEMORY.md:3", "--reason", "moved away")
    assert memory.read("MEMORY.md") == "# Memory\n\n- theirs\n"


def test_late_text_that_cannot_be_written_into_the_file_is_kept_beside_gits_state(memory: Repo) -> None:
    with open(memory.path / "MEMORY.md", "ab") as held:
        script = f"echo '- theirs' >> /proc/{os.getpid()}/fd/{held.fileno()}\nrm MEMORY.md && mkdir MEMORY.md"
        with_hook(memory, "post-commit", script)
        done = memory.mem("edit", "MEMORY.md:3", "We use Postgres 17", "--reason", "upgraded")
    (kept,) = (memory.path / ".git/gitmem").glob("late-*")
    assert kept.read_text() == MEMORY + "- theirs\n" and str(kept) in done.stderr


def test_what_a_program_writes_into_the_new_file_after_it_was_put_back_is_kept(memory: Repo) -> None:
    repo = open_repository(memory.path, os.environ)
    new = {"MEMORY.md": b"# Memory\n\n- We use Postgres 17\n"}
    with writer(repo), pytest.raises(GitFailed), replaced(repo, new, {"MEMORY.md": MEMORY.encode()}):
        memory.git("add", "MEMORY.md")
        with open(memory.path / "MEMORY.md", "ab") as held:  # until the test ends: the hook runs when it was put back
            handle = os.dup(held.fileno())
        with_hook(memory, "post-index-change", f"echo '- theirs' >> /proc/{os.getpid()}/fd/{handle}")
        raise GitFailed("refused")
    os.close(handle)
    assert memory.read("MEMORY.md") == MEMORY + "- theirs\n"
    assert memory.git("diff", "--cached", "--name-only") == ""
    assert not list((memory.path / ".git/gitmem/writing").iterdir())


def test_what_a_program_writes_into_a_created_file_after_it_was_taken_back_is_kept(memory: Repo) -> None:
    repo = open_repository(memory.path, os.environ)
    new = {"memory/new.md": b"- ours\n"}
    with writer(repo), pytest.raises(GitFailed), replaced(repo, new, {"memory/new.md": None}):
        memory.git("add", "memory/new.md")
        with open(memory.path / "memory/new.md", "ab") as held:
            handle = os.dup(held.fileno())
        with_hook(memory, "post-index-change", f"echo '- theirs' >> /proc/{os.getpid()}/fd/{handle}")
        raise GitFailed("refused")
    os.close(handle)
    assert memory.read("memory/new.md") == "- theirs\n"
    assert memory.git("diff", "--cached", "--name-only") == ""
    assert not list((memory.path / ".git/gitmem/writing").iterdir())


def test_a_refusal_names_the_files_that_somebody_else_saved_meanwhile(memory: Repo) -> None:
    with_hook(memory, "pre-commit", "echo '- theirs' >> MEMORY.md; echo 'not today' >&2; exit 1")
    done = memory.mem("edit", "MEMORY.md:3", "We use Postgres 17", "--reason", "upgraded", check=False)
    assert done.returncode == 3 and "not today" in done.stderr
    assert "'MEMORY.md': saved by somebody else meanwhile and left, with what it has of this change" in done.stderr
    assert "git checkout -p -- MEMORY.md takes parts of it out" in done.stderr
    assert memory.read("MEMORY.md") == "# Memory\n\n- We use Postgres 17\n- theirs\n"
    assert memory.git("diff", "--cached", "--name-only") == ""


def test_a_lock_that_a_killed_git_left_is_named_with_what_to_type(memory: Repo) -> None:
    lock = memory.path / ".git/index.lock"
    lock.touch()
    done = memory.mem("forget", "MEMORY.md:3", "--reason", "x", check=False)
    assert done.returncode == 3 and str(lock) in done.stderr and memory.read("MEMORY.md") == MEMORY
    assert f"if no git runs any more: rm {shlex.quote(str(lock))}" in memory.mem("doctor", check=False).stdout
    lock.unlink()
    memory.mem("forget", "MEMORY.md:3", "--reason", "x")
    assert memory.read("MEMORY.md") == "# Memory\n\n"


def test_a_merge_that_was_killed_is_named_with_what_to_type(memory: Repo) -> None:
    memory.git("switch", "-q", "-c", "side")
    memory.commit("side", {"memory/side.md": "- side\n"})
    memory.git("switch", "-q", "main")
    memory.git("merge", "-q", "--no-commit", "--no-ff", "side")
    done = memory.mem("forget", "MEMORY.md:3", "--reason", "x", check=False)
    assert done.returncode == 3 and "git merge --continue" in done.stderr and memory.read("MEMORY.md") == MEMORY
    done = memory.mem("doctor", check=False)
    assert done.returncode == 1 and "git merge --continue, or git merge --abort" in done.stdout


def test_doctor_names_what_a_killed_run_wrote_and_repair_puts_it_back(memory: Repo) -> None:
    killed(memory, "written")
    done = memory.mem("doctor", check=False)
    assert done.returncode == 1 and "git mem doctor --repair" in done.stdout
    done = memory.mem("doctor", "--repair", check=False)
    assert "MEMORY.md is as it was before a run that was killed" in done.stderr
    assert memory.git("status", "--porcelain") == "" and "killed" not in memory.mem("doctor", check=False).stdout


def test_doctor_names_the_files_that_a_killed_run_left_and_repair_deletes_them(memory: Repo) -> None:
    memory.mem("add", "deploys wait for the tests")
    left = memory.path / ".git/gitmem/writing/.gitmem-a1b2c3d4"
    left.write_text("- text of memory\n")
    done = memory.mem("doctor", check=False)
    assert done.returncode == 1 and "1 file of a git mem that was killed" in done.stdout and left.exists()
    memory.mem("doctor", "--repair", check=False)
    assert not left.exists() and "killed" not in memory.mem("doctor", check=False).stdout


def test_a_new_file_is_committed_without_an_object_that_nothing_names(memory: Repo) -> None:
    memory.mem("promote")
    memory.mem("insight", "[PoC] margin fell to 3 percent", check=False)
    assert "dangling" not in memory.git("fsck", "--strict")


@pytest.mark.parametrize("staged", [False, True])
def test_a_refused_commit_leaves_new_files_as_staged_as_they_were(memory: Repo, staged: bool) -> None:
    memory.write("memory/new.md", "- new\n")
    if staged:
        memory.git("add", "memory/new.md")
    before = memory.git("status", "--porcelain", "-uall")
    with_hook(memory, "pre-commit", "exit 1")
    with pytest.raises(GitFailed):
        commit_paths(open_repository(memory.path, os.environ), "new", ["memory/new.md"])
    assert memory.git("status", "--porcelain", "-uall") == before


def test_more_new_files_are_committed_than_a_command_line_holds(memory: Repo) -> None:
    folder = "memory/" + "/".join(letter * 250 for letter in "abcdefghij")
    paths = [f"{folder}/{number}.md" for number in range(1000)]  # 2.6 MB of names
    for path in paths:
        memory.write(path, "- x\n")
    memory.write("memory/other.md", "- not ours\n")
    repo = open_repository(memory.path, os.environ)
    with_hook(memory, "pre-commit", "exit 1")
    with pytest.raises(GitFailed):
        commit_paths(repo, "many", paths)
    assert memory.git("diff", "--cached", "--name-only") == ""
    with_hook(memory, "pre-commit", "exit 0")
    oid = commit_paths(repo, "many", paths)
    assert len(memory.git("show", "--format=", "--name-only", oid).splitlines()) == len(paths)


def test_a_commit_leaves_nothing_in_the_folder_for_temporary_files_if_it_is_killed(
    memory: Repo, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with_hook(memory, "pre-commit", 'kill -9 "$(cat killed)"')
    memory.write("MEMORY.md", MEMORY + "- And Redis 7\n")
    code = (
        "import os; from pathlib import Path; from gitmem.git.opening import open_repository;"
        "from gitmem.git.transaction import writer; from gitmem.git.commit import commit_paths;"
        "Path('killed').write_text(str(os.getpid())); repo = open_repository(Path.cwd(), os.environ);"
        "writer(repo).__enter__(); commit_paths(repo, 'more', ['MEMORY.md'])"
    )
    env = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", code], cwd=memory.path, env=env, capture_output=True)
    assert done.returncode == -9
    assert not list(temporary.iterdir())
    with writer(open_repository(memory.path, os.environ)):
        assert not list((memory.path / ".git/gitmem/writing").iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_commit_puts_the_files_back(repo: Repo, tmp_path: Path, number: signal.Signals) -> None:
    repo.commit("begin", {"MEMORY.md": "# Memory\n\n- We deploy with rsync\n"})
    os.mkfifo(tmp_path / "began")
    hook = repo.write(".git/hooks/pre-commit", f"#!/bin/sh\necho > {tmp_path}/began\nexec tail -f /dev/null\n")
    hook.chmod(0o755)
    edit = ["edit", "MEMORY.md:3", "We deploy with blue green", "--reason", "wrong"]
    command = [sys.executable, "-m", "gitmem", *edit]
    with subprocess.Popen(command, cwd=repo.path, start_new_session=True, stderr=subprocess.PIPE) as process:
        (tmp_path / "began").read_text()
        assert "blue green" in (repo.path / "MEMORY.md").read_text()
        process.send_signal(number)
        _, error = process.communicate(timeout=120)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the hook, which git leaves
    assert process.returncode == {signal.SIGINT: 130}.get(number, -number) and not error.strip()
    assert repo.git("status", "--porcelain") == "" and "rsync" in (repo.path / "MEMORY.md").read_text()
