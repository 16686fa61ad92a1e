"""`git mem session` as real processes: by hand, and as the hooks of a host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo

NOW = "2026-02-05T14:30:00+00:00"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
SAID = (
    ("user", "We decided to use REST webhooks for the PoC because they are easier to debug."),
    ("assistant", "Noted."),
    ("user", f"We decided that the deploy token is {TOKEN} from now on."),
)


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW)
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"})
    return repo


def transcript(folder: Path, *said: tuple[str, str], name: str = "talk.jsonl") -> Path:
    lines = [json.dumps({"id": f"t{n}", "role": role, "text": text}) for n, (role, text) in enumerate(said, 1)]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def hook(repo: Repo, event: str, given: Any) -> str:
    done = repo.mem("session", "hook", event, input=given if isinstance(given, str) else json.dumps(given))
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def appears(folder: Path, glob: str) -> bool:
    """Whether the process that a hook left behind writes its file, in at most a minute."""
    return any(list(folder.glob(glob)) or time.sleep(0.05) for _ in range(1200))


def everything(repo: Repo) -> bytes:
    return b"".join(path.read_bytes() for path in repo.path.rglob("*") if path.is_file())


def test_a_flush_writes_once_and_never_a_secret(memory: Repo, tmp_path: Path) -> None:
    path = transcript(tmp_path, *SAID)
    found = json.loads(memory.mem("session", "flush", str(path), "--session", "s1", "--json").stdout)
    assert [kept["turn"] for kept in found["kept"]] == ["t1"] and found["kept"][0]["path"] == "memory/2026-02-05.md"
    assert TOKEN.encode() not in everything(memory) and TOKEN not in json.dumps(found)
    before = memory.read("memory/2026-02-05.md")
    again = memory.mem("session", "flush", "-", "--session", "s1", input=path.read_text())
    assert again.stdout == "nothing new to keep\n" and memory.read("memory/2026-02-05.md") == before
    assert memory.mem("session", "flush", str(tmp_path / "none"), check=False).returncode == 3
    assert memory.mem("session", "flush", "-", input="\0\0not json\n{}\n").stdout == "nothing new to keep\n"


def test_the_end_leaves_an_episode_without_the_secret(memory: Repo, tmp_path: Path) -> None:
    path = transcript(tmp_path, *SAID)
    found = json.loads(memory.mem("session", "end", str(path), "--session", "s1", "--json").stdout)
    assert found["episode"].startswith("memory/sessions/2026-02-05-")
    assert "REST webhooks" in memory.read(found["episode"]) and TOKEN.encode() not in everything(memory)


def test_compacting_keeps_the_host_file_unless_told(memory: Repo, tmp_path: Path) -> None:
    said = [("user" if n % 2 else "assistant", f"Sentence number {n} about the invoice worker.") for n in range(1, 21)]
    path = transcript(tmp_path, *said)
    before = path.read_bytes()
    done = memory.mem("session", "compact", str(path))
    assert path.read_bytes() == before and "number 20" in done.stdout and "turns summed up" in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 9 and rows[-1]["id"] == "t20"
    target = tmp_path / "out.jsonl"
    memory.mem("session", "compact", str(path), "-o", str(target))
    assert target.read_text() == done.stdout and oct(target.stat().st_mode)[-3:] == "600"
    assert memory.mem("session", "compact", str(path), "-o", str(target), "--in-place", check=False).returncode == 2
    memory.mem("session", "compact", str(path), "--in-place")
    assert path.read_text() == done.stdout
    short = transcript(tmp_path, *said[:3], name="short.jsonl")
    still = memory.mem("session", "compact", str(short))
    assert "not due" in still.stderr and still.stdout == short.read_text()


def test_pruning_trims_old_tool_results_only(memory: Repo, tmp_path: Path) -> None:
    rows = [{"id": "c0", "role": "assistant", "text": "look", "call": "k", "at": "2026-02-05T10:00:00Z"}]
    rows += [{"id": "r0", "role": "tool", "text": "x" * 9_000, "call": "k", "at": "2026-02-05T10:00:01Z"}]
    rows += [{"id": f"a{n}", "role": "assistant", "text": f"step {n}", "at": "2026-02-05T14:29:00Z"} for n in range(3)]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    soft = [json.loads(line) for line in memory.mem("session", "prune", str(path)).stdout.splitlines()]
    assert len(soft) == 5 and 3_000 < len(soft[1]["text"]) < 3_100
    hard = memory.mem("session", "prune", str(path), "--hard").stdout
    assert "cleared" in hard and "x" * 100 not in hard and path.stat().st_size > 9_000


def test_working_values_are_kept_found_listed_and_never_committed(memory: Repo) -> None:
    assert memory.mem("session", "set", "Entity: Billing", "waiting for review").stdout == "entity:billing\n"
    memory.mem("session", "set", "entity:billing:token", TOKEN)
    assert memory.mem("session", "get", "entity:billing").stdout == "waiting for review\n"
    listed = json.loads(memory.mem("session", "list", "entity", "--json").stdout)["values"]
    assert [row["key"] for row in listed] == ["entity:billing", "entity:billing:token"]
    assert TOKEN.encode() not in everything(memory) and memory.git("status", "--porcelain") == ""
    gone = memory.mem("session", "get", "entity:other", check=False)
    assert gone.returncode == 1 and gone.stdout == ""
    assert memory.mem("session", "set", "nokey", "x", check=False).returncode == 2
    later = {"GITMEM_NOW": "2026-02-07T14:30:00+00:00"}
    assert memory.mem("session", "get", "entity:billing", check=False, env=later).returncode == 1
    start = memory.mem("session", "start").stdout
    assert "invoice date" in start
    memory.mem("session", "set", "entity:open", "half done")
    assert "half done" in memory.mem("session", "start").stdout
    assert "half done" in json.loads(memory.mem("session", "start", "--json").stdout)["checkpoint"]


def test_the_hooks_of_a_host_inject_context_and_keep_what_was_decided(memory: Repo, tmp_path: Path) -> None:
    memory.commit("more", {"memory/ledger.md": "# Ledger\n\nThe ledger listens on port 5433 since the move.\n"})
    path = transcript(tmp_path, *SAID)
    given = {"session_id": "s1", "transcript_path": str(path), "cwd": str(memory.path)}
    started = json.loads(hook(memory, "SessionStart", given))["hookSpecificOutput"]
    assert started["hookEventName"] == "SessionStart" and "invoice date" in started["additionalContext"]
    assert len(started["additionalContext"]) <= 10_000
    assert hook(memory, "UserPromptSubmit", {**given, "prompt": "invoice date?"}) == ""  # the start gave it
    prompt = {**given, "prompt": "on which port does the ledger listen?"}
    asked = json.loads(hook(memory, "UserPromptSubmit", prompt))["hookSpecificOutput"]
    assert asked["hookEventName"] == "UserPromptSubmit" and "5433" in asked["additionalContext"]
    assert hook(memory, "UserPromptSubmit", given) == ""
    assert hook(memory, "Stop", given) == "" and "REST webhooks" in memory.read("memory/2026-02-05.md")
    before = memory.read("memory/2026-02-05.md")
    assert hook(memory, "PreCompact", given) == "" and memory.read("memory/2026-02-05.md") == before
    assert hook(memory, "SessionEnd", given) == "" and appears(memory.path / "memory/sessions", "*.md")
    assert TOKEN.encode() not in everything(memory)


EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
BAD = ("", "not json", "[1, 2]", '{"transcript_path": "/none/here", "prompt": 7, "session_id": []}', "[" * 5_000)


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_never_breaks_a_turn(event: str, tmp_path: Path, memory: Repo) -> None:
    for bad in BAD:
        hook(memory, event, bad)
    nowhere = Repo(tmp_path / "nowhere", init=False)
    assert hook(nowhere, event, {"prompt": "x", "transcript_path": "/none"}) == ""
    assert list(nowhere.path.iterdir()) == []


def test_what_went_wrong_in_a_hook_is_logged_without_memory(memory: Repo) -> None:
    hook(memory, "Stop", {"transcript_path": f"/none/{TOKEN}"})
    log = memory.path / ".git/gitmem/session.log"
    assert "Stop: FileNotFoundError" in log.read_text() and TOKEN not in log.read_text()
    assert oct(log.stat().st_mode)[-3:] == "600"


def test_a_flush_says_which_facts_its_lines_differ_from(memory: Repo, tmp_path: Path) -> None:
    old = "The orders service listens on port 8080"
    memory.commit("old", {"MEMORY.md": f"# Memory\n\n- {old} <!-- mem from=2026-01-01 -->\n"})
    path = transcript(
        tmp_path, ("user", "We decided that the orders service listens on port 9090."), ("assistant", "Ok.")
    )
    (rival,) = json.loads(memory.mem("session", "flush", str(path), "--session", "s1", "--json").stdout)["differs"]
    assert (rival["fact"]["text"], rival["new"]["path"]) == (old, "memory/2026-02-05.md")
    assert f"differs from MEMORY.md:3 '{old}'" in memory.mem("session", "end", str(transcript(
        tmp_path, ("user", "We decided that the orders service listens on port 7070."), name="other.jsonl"
    )), "--session", "s2").stderr  # fmt: skip


def test_a_flush_waits_until_the_context_is_nearly_full(memory: Repo, tmp_path: Path) -> None:
    path = transcript(tmp_path, *SAID)
    assert memory.mem("session", "flush", str(path), "--if-due", check=False).returncode == 2
    assert "nothing new" in memory.mem("session", "flush", str(path), "--if-due", "--window", "200000").stdout
    assert not (memory.path / "memory").exists()
    memory.git("config", "--global", "mem.sessionWindow", "60")
    done = json.loads(memory.mem("session", "flush", str(path), "--if-due", "--json").stdout)
    assert "of a window of 60" in done["due"] and len(done["kept"]) == 1


def test_a_flush_proposes_the_promotion_at_once(memory: Repo, tmp_path: Path) -> None:
    head = memory.git("rev-parse", "HEAD")
    memory.write("unrelated.txt", "mine\n")
    path = transcript(tmp_path, *SAID)
    done = json.loads(memory.mem("session", "flush", str(path), "--promote", "--json").stdout)
    promotion = done["promotion"]
    assert promotion["branch"] and "REST webhooks" in promotion["facts"][0]["text"]
    assert "REST webhooks" in memory.git("show", f"{promotion['branch']}:MEMORY.md")
    assert "REST webhooks" not in memory.read("MEMORY.md")
    assert memory.git("rev-parse", "HEAD~1") == head and memory.git("status", "--porcelain") == "?? unrelated.txt\n"


def test_hooks_write_nothing_where_the_setting_says_so(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "mem.sessionFlush", "false")
    given = {"transcript_path": str(transcript(tmp_path, *SAID)), "session_id": "s1"}
    for event in ("Stop", "PreCompact", "SessionEnd"):
        command = [sys.executable, "-m", "gitmem", "session", "hook", event]
        env = {**os.environ, "GITMEM_DETACHED": "1"}
        subprocess.run(command, cwd=memory.path, input=json.dumps(given).encode(), env=env, check=True)
    assert memory.git("status", "--porcelain") == ""


def test_a_hook_ends_within_its_time_and_says_so_in_the_log(memory: Repo, tmp_path: Path) -> None:
    code = (
        "import gitmem.agents.host_events as h, time\n"
        "from gitmem.environment import open_environment\n"
        "h.EVENT_SECONDS = {'Stop': 0.1}; h.EVENTS = {'Stop': lambda *a: time.sleep(60)}\n"
        "h.handle('Stop', 'claude', open_environment)"
    )
    done = memory.run(sys.executable, "-c", code, input="{}")
    assert done.stdout == done.stderr == ""
    assert "Stop: OutOfTime" in (memory.path / ".git/gitmem/session.log").read_text()


def test_compacting_twice_keeps_what_the_first_time_summed_up(memory: Repo, tmp_path: Path) -> None:
    said = [("user", "The zebra budget is seven apples.")]
    said += [("user" if n % 2 else "assistant", f"Sentence number {n} about the invoice worker.") for n in range(20)]
    path = transcript(tmp_path, *said)
    memory.mem("session", "compact", str(path), "--in-place", "--session", "s1")
    rows = path.read_text() + "".join(
        json.dumps({"id": f"n{n}", "role": "user", "text": f"Later sentence {n} about the deploy window."}) + "\n"
        for n in range(20)
    )
    path.write_text(rows)
    memory.mem("session", "compact", str(path), "--in-place", "--session", "s1", "--focus", "zebra apples")
    first = json.loads(path.read_text().splitlines()[0])
    assert "zebra budget" in first["text"] and len(path.read_text().splitlines()) == 9
    (memory.path / ".git/gitmem/sessions").rename(tmp_path / "gone")  # another machine: only the transcript is there
    path.write_text(path.read_text() + rows.split("\n", 9)[-1].replace("Later", "Last"))
    memory.mem("session", "compact", str(path), "--in-place", "--session", "s1", "--focus", "zebra apples")
    assert "- user: The zebra budget" in json.loads(path.read_text().splitlines()[0])["text"]


DAY = (
    {"id": "a1", "role": "user", "text": "We decided that the zebra budget is seven apples.", "at": "2026-02-05T10:00:00Z"},
    {"id": "a2", "role": "assistant", "text": "Noted, seven apples for the zebra.", "at": "2026-02-05T10:00:05Z"},
)  # fmt: skip
NEXT = {"id": "b1", "role": "user", "text": "We decided to move the giraffe to the north gate.", "at": "2026-02-06T09:00:00Z"}  # fmt: skip


def test_a_new_day_ends_yesterdays_session_and_begins_another(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "mem.sessionReset", "daily")
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in DAY))
    night = {"TZ": "UTC", "GITMEM_NOW": "2026-02-05T23:30:00+00:00"}
    morning = {"TZ": "UTC", "GITMEM_NOW": "2026-02-06T09:01:00+00:00"}
    first = json.loads(memory.mem("session", "flush", str(path), "--session", "s1", "--json", env=night).stdout)
    assert first["reset"] == [] and len(first["kept"]) == 1
    early = {"TZ": "UTC", "GITMEM_NOW": "2026-02-06T03:59:00+00:00"}
    assert json.loads(memory.mem("session", "start", "--json", env=early).stdout)["reset"] == []
    path.write_text(path.read_text() + json.dumps(NEXT) + "\n")
    second = json.loads(memory.mem("session", "end", str(path), "--session", "s1", "--json", env=morning).stdout)
    (reset,) = second["reset"]
    assert reset["reason"] == "a new day began at 04:00" and reset["session"] == "s1" and reset["problem"] is None
    old, new = memory.read(reset["episode"]), memory.read(second["episode"])
    assert reset["episode"].startswith("memory/sessions/2026-02-05-") and "zebra" in old and "giraffe" not in old
    assert second["episode"].startswith("memory/sessions/2026-02-06-") and "giraffe" in new and "zebra" not in new
    assert "giraffe" in memory.read("memory/2026-02-06.md") and "giraffe" not in memory.read("memory/2026-02-05.md")
    again = json.loads(memory.mem("session", "end", str(path), "--session", "s1", "--json", env=morning).stdout)
    assert again["reset"] == [] and again["kept"] == [] and again["episode"] == second["episode"]
    assert len(list((memory.path / "memory/sessions").iterdir())) == 2


def test_an_idle_session_that_nobody_ended_is_ended_by_the_next_one(memory: Repo, tmp_path: Path) -> None:
    for key, value in (("sessionReset", "either"), ("sessionIdle", "30"), ("sessionHour", "5")):
        memory.git("config", "--global", f"mem.{key}", value)
    path = transcript(tmp_path, *SAID)
    memory.mem("session", "flush", str(path), "--session", "s1")
    later = {"GITMEM_NOW": "2026-02-05T14:59:00+00:00"}
    given = {"session_id": "s2", "transcript_path": str(tmp_path / "none.jsonl"), "source": "startup"}
    memory.mem("session", "hook", "SessionStart", input=json.dumps(given), env=later)
    assert not (memory.path / "memory/sessions").exists()
    later = {"GITMEM_NOW": "2026-02-05T15:00:00+00:00"}
    told = memory.mem("session", "start", env=later)
    assert "session s1 ended, nothing happened for 30 minutes: memory/sessions/" in told.stderr
    assert "s2" not in told.stderr and "REST webhooks" in told.stdout and TOKEN.encode() not in everything(memory)
    gone = {"GITMEM_NOW": "2026-02-06T15:00:00+00:00"}
    (reset,) = json.loads(memory.mem("session", "start", "--json", env=gone).stdout)["reset"]
    assert reset["session"] == "s2" and "cannot be read" in reset["problem"] and reset["episode"] is None
    assert json.loads(memory.mem("session", "start", "--json", env=gone).stdout)["reset"] == []


def test_without_the_setting_nothing_is_ever_ended_by_itself(memory: Repo, tmp_path: Path) -> None:
    memory.mem("session", "flush", str(transcript(tmp_path, *SAID)), "--session", "s1")
    later = {"GITMEM_NOW": "2026-03-05T14:59:00+00:00"}
    assert json.loads(memory.mem("session", "start", "--json", env=later).stdout)["reset"] == []
    assert not (memory.path / "memory/sessions").exists()
    memory.git("config", "--global", "mem.sessionReset", "weekly")
    assert "never, daily, idle, either" in memory.mem("session", "start", check=False).stderr


def test_a_start_shows_the_last_episode_of_this_agent(memory: Repo, tmp_path: Path) -> None:
    memory.mem("session", "end", str(transcript(tmp_path, *SAID)), "--session", "s1", "--agent", "coder")
    left = json.loads(memory.mem("session", "start", "--agent", "coder", "--json").stdout)["checkpoint"]
    assert "The last session (data):\n<memory path=" in left and "REST webhooks" in left and TOKEN not in left
    other = json.loads(memory.mem("session", "start", "--agent", "writer", "--json").stdout)["checkpoint"]
    assert other is None
    memory.git("config", "--global", "mem.contextLayer", "episode off")
    assert json.loads(memory.mem("session", "start", "--agent", "coder", "--json").stdout)["checkpoint"] is None


def test_a_model_that_cannot_be_asked_is_a_note_and_the_rules_choose_alone(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "mem.sessionModel", "gguf:/none/there.gguf")
    path = transcript(tmp_path, *SAID)
    done = json.loads(memory.mem("session", "flush", str(path), "--json").stdout)
    assert len(done["kept"]) == 1 and "only the rules chose" in done["notes"][0]


def test_hooks_propose_the_promotion_where_the_setting_says_so(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "mem.sessionPromote", "true")
    given = {"session_id": "s1", "transcript_path": str(transcript(tmp_path, *SAID))}
    assert hook(memory, "Stop", {**given, "transcript_path": "/none"}) == "" and hook(memory, "PreCompact", given) == ""
    assert "REST webhooks" in memory.git("show", "memory/promote:MEMORY.md")
    assert memory.git("status", "--porcelain") == ""


def test_each_host_is_answered_in_its_own_form(memory: Repo) -> None:
    given = {"conversation_id": "c1", "prompt": "when are invoices dated?"}
    asked = {**given, "hook_event_name": "x"}

    def answer(event: str, host: str) -> Any:
        return json.loads(memory.mem("session", "hook", event, "--host", host, input=json.dumps(asked)).stdout)

    said = answer("SessionStart", "claude")["hookSpecificOutput"]["additionalContext"]
    assert "invoice date" in said
    assert answer("SessionStart", "cursor") == {"additional_context": said}
    assert answer("UserPromptSubmit", "gemini")["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert answer("SessionStart", "vscode")["hookSpecificOutput"]["additionalContext"] == said


@pytest.mark.parametrize("command", [("compact", "--force"), ("prune",)], ids=["compact", "prune"])
def test_a_transcript_that_is_written_holds_no_secret(memory: Repo, tmp_path: Path, command: tuple[str, ...]) -> None:
    rows = [
        {"type": "user", "uuid": "0b9cf2a1-7f0e-4c9b-9a53-9d1f8c1f7e11", "message": {"role": "user", "content": f"The token is\n{TOKEN}\nplease."}},
        {"type": "assistant", "uuid": "a1", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": TOKEN}, {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": f"curl -H 'Authorization: Bearer {TOKEN}' x"}}]}},
        {"type": "user", "uuid": "u2", "toolUseResult": {"stdout": f"key {TOKEN}"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": f"key {TOKEN}"}]}},
        {"type": "user", "uuid": "u3", "message": {"role": "user", "content": "Nothing secret here."}},
    ]  # fmt: skip
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + f"not json {TOKEN}\n")
    done = memory.mem("session", *command, str(path))
    assert done.stdout.count(TOKEN) == 1 and f'"signature": "{TOKEN}"' in done.stdout  # a host's own, not a text
    assert "masked in 4 of its entries" in done.stderr and json.dumps(rows[3]) in done.stdout
    assert rows[0]["uuid"] in done.stdout and TOKEN not in done.stderr


def test_what_a_start_injects_is_never_cut_inside_a_quotation(memory: Repo, tmp_path: Path) -> None:
    memory.write("SOUL.md", "# Soul\n\n" + "- Be brief and honest about what is not known.\n" * 150)
    for n in range(20):
        memory.mem("session", "set", f"ticket:{n}", "waiting for the review of the invoice worker " * 4)
    memory.mem("session", "end", str(transcript(tmp_path, *SAID)), "--session", "s1")
    memory.git("config", "--global", "mem.contextLayer", "pinned budget=6000")
    told = json.loads(hook(memory, "SessionStart", {"session_id": "s2"}))["hookSpecificOutput"]["additionalContext"]
    assert len(told) <= 10_000 and told.count("<memory") == told.count("</memory>") > 0


def test_a_context_of_a_session_that_was_reset_begins_at_the_reset(memory: Repo, tmp_path: Path) -> None:
    memory.git("config", "--global", "mem.sessionReset", "daily")
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"session": "s1", **row}) + "\n" for row in DAY))
    memory.mem("session", "flush", str(path), env={"TZ": "UTC", "GITMEM_NOW": "2026-02-05T23:30:00+00:00"})
    path.write_text(path.read_text() + json.dumps({"session": "s1", **NEXT}) + "\n")
    morning = {"TZ": "UTC", "GITMEM_NOW": "2026-02-06T09:01:00+00:00"}
    memory.mem("session", "flush", str(path), env=morning)
    parts = json.loads(memory.mem("context", "--transcript", str(path), "--json", env=morning).stdout)["text"]
    recent = parts.split("<recent")
    assert len(recent) == 2 and "giraffe" in recent[1].partition("</recent>")[0]


def test_a_start_after_an_interruption_says_what_was_said_last(memory: Repo, tmp_path: Path) -> None:
    said = (*SAID, ("user", "Now find out why the retry queue of the gateway stays full."))
    path = transcript(tmp_path, *said)
    given = {"session_id": "s1", "transcript_path": str(path)}
    hook(memory, "Stop", given)

    def start(now: str, session: str = "s2") -> str:
        done = memory.mem(
            "session", "hook", "SessionStart", input=json.dumps({"session_id": session}), env={"GITMEM_NOW": now}
        )
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])

    told = start("2026-02-05T15:30:00+00:00")
    assert '<memory path="session:s1" note="not ended, last active 2026-02-05' in told
    assert "- user: Now find out why the retry queue" in told and TOKEN not in told
    assert told.count("We decided to use REST webhooks") == 1  # the line of the log says it
    assert "session:s1" not in start("2026-02-05T14:35:00+00:00")  # it may well go on beside this one
    assert "session:s1" not in start("2026-02-05T15:30:00+00:00", "s1")  # it goes on
    assert "session:s1" not in start("2026-02-09T15:30:00+00:00")
    path.unlink()
    assert "session:s1" not in start("2026-02-05T15:30:00+00:00")  # its turns were too few for a summary
    path = transcript(tmp_path, *said)
    memory.mem("session", "end", str(path), "--session", "s1")
    assert "session:s1" not in start("2026-02-05T15:30:00+00:00")


def test_a_short_prompt_is_asked_by_what_the_talk_names(memory: Repo, tmp_path: Path) -> None:
    memory.commit("more", {
        "memory/ledger.md": "# Ledger\n\nThe ledger_writer listens on port 5433 since the move.\n",
        **{f"memory/other{n}.md": f"# Other {n}\n\nAbout subject number {n} only.\n" for n in range(30)},
    })  # fmt: skip
    path = transcript(tmp_path, ("user", "Why is `ledger_writer` slow?"), ("assistant", "Looking at ledger_writer."))
    alone = hook(memory, "UserPromptSubmit", {"prompt": "and why?"})
    told = hook(memory, "UserPromptSubmit", {"prompt": "and why?", "transcript_path": str(path)})
    assert "5433" in told and "5433" not in alone and "Looking at" not in told
    assert hook(memory, "UserPromptSubmit", {"prompt": "invoice", "transcript_path": "/none"}) != ""


def test_a_mistyped_hook_stops_no_turn_and_an_unknown_file_is_said(memory: Repo, tmp_path: Path) -> None:
    for args in (("Nope",), ("Stop", "--host", "emacs"), ("Stop", "--more", "x")):
        done = memory.mem("session", "hook", *args, input="{}")
        assert done.returncode == 0 and done.stdout == ""
    assert "no event 'Nope'" in memory.mem("session", "hook", "Nope", input="{}").stderr
    path = tmp_path / "t.jsonl"
    path.write_text("{broken\n\0\0\n")
    done = memory.mem("session", "flush", str(path))
    assert "is a turn of a known host" in done.stderr and done.stdout == "nothing new to keep\n"
    path.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": ["x" * 100_000] * 90}}))
    assert "longer than 8 MiB without its long strings: 1 entry" in memory.mem("session", "flush", str(path)).stderr


@pytest.mark.parametrize("number", ["1", "Infinity"])
def test_a_remembered_transcript_that_is_a_pipe_is_not_waited_for(memory: Repo, tmp_path: Path, number: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    memory.git("config", "--global", "mem.sessionReset", "idle")
    state = {
        "turns": [], "facts": [], "name": "s9", "transcript": str(tmp_path / "pipe"), "part": 7, "closed": [],
        "ended": False, "seen": "2026-03-01T09:00:00+00:00",
    }  # fmt: skip
    folder = memory.path / ".git/gitmem/sessions"
    folder.mkdir(parents=True)
    (memory.path / ".git/gitmem").chmod(0o700)
    (folder / "s9.json").write_text(json.dumps(state).replace("7", number))
    started = memory.mem("session", "start", env={"GITMEM_NOW": "2026-03-01T09:20:00+00:00"})
    assert started.returncode == 0
    memory.mem("session", "start", env={"GITMEM_NOW": "2026-03-01T23:00:00+00:00"})
