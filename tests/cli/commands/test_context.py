"""`git mem context` in a real repository: what is in it, what is left out, and scopes that come and go."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.harness import Repo
from tests.loopback import LoopbackServer, QuietHandler
from tests.tiny_gguf import make_embedding_model

NOW = "2026-02-06T10:00:00+00:00"
FILES = {
    "MEMORY.md": "# Memory\n\n## Decisions\n- PoC phase 1 uses REST webhooks: easier to debug.\n"
    "- Deploy window: before 11. <!-- mem type=rule -->\n"
    "- Allergic to peanuts. <!-- mem pinned=true -->\n",
    "SOUL.md": "Be brief.\n",
    "memory/2026-02-06.md": "# 2026-02-06\n\n## 09:00 - work\n\n- Looked at the webhook retries.\n",
    "memory/2026-02-06.coder.md": "# 2026-02-06\n\n## 09:10 - work\n\n- The coder renamed the webhook table.\n",
    "memory/rules/python.md": '---\npaths: ["**/*.py"]\n---\nType every public webhook function.\n',
    "memory/skills/release.md": "---\ntriggers: [release]\n---\n1. Tag the release.\n",
    "memory/webhooks.md": "# Webhooks\n\nRetries back off from 2 to 60 seconds.\n",
}


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", NOW)
    repo.commit("memory", FILES, date="2026-02-06T09:30:00+00:00")
    return repo


def value(repo: Repo, *args: str) -> dict[str, Any]:
    found = json.loads(repo.mem("context", "--json", *args).stdout)
    assert isinstance(found, dict)
    return found


def paths(found: dict[str, Any]) -> set[str]:
    return {part["path"] for part in found["parts"] if part["path"]}


def test_a_prompt_gets_pinned_facts_memory_notes_and_logs_quoted_as_data(memory: Repo) -> None:
    found = value(memory, "how do webhook retries work?")
    layers = {part["layer"] for part in found["parts"]}
    assert {"pinned", "memory", "project", "daily"} <= layers and "procedure" not in layers
    assert "peanuts" in found["text"] and "Be brief." in found["text"] and "back off" in found["text"]
    assert found["tokens"] <= found["budget"] == 1600 and found["scopes"][0]["loaded"]
    assert found["assembled_at"] == NOW and found["fresh_until"] == "2026-02-06T11:00:00+00:00"
    assert len(found["summary"]) <= 300 and "\n" not in found["summary"] and len(found["hash"]) == 64
    again = value(memory, "how do webhook retries work?")
    assert again["text"] == found["text"] and again["hash"] == found["hash"]
    plain = memory.mem("context", "how do webhook retries work?").stdout
    assert plain == found["text"] + "\n"


def test_a_star_asks_for_nothing_and_gets_what_no_prompt_gets(memory: Repo) -> None:
    assert memory.mem("context", "*").stdout == memory.mem("context").stdout


def test_rules_come_for_the_files_in_hand_and_the_staged_ones(memory: Repo) -> None:
    assert "memory/rules/python.md" not in paths(value(memory, "hello"))
    assert "memory/rules/python.md" in paths(value(memory, "hello", "--for", "src/app.py"))
    assert "memory/rules/python.md" in paths(value(memory, "hello", "--for", "*"))
    memory.write("app.py", "x = 1\n")
    assert "memory/rules/python.md" not in paths(value(memory, "hello", "--staged"))
    memory.git("add", "app.py")
    assert "memory/rules/python.md" in paths(value(memory, "hello", "--staged"))
    assert "memory/rules/python.md" in paths(value(memory, "hello"))
    assert "memory/rules/python.md" not in paths(value(memory, "hello", "--for", "notes.txt"))
    assert "memory/rules/python.md" in paths(value(memory, "hello", "--for", str(memory.path / "app.py")))
    assert "back off" in memory.mem("context", "-", input="how do webhook retries work?").stdout
    assert "memory/skills/release.md" in paths(value(memory, "make a release"))


def test_layers_paths_and_agents_can_be_left_out_and_lines_put_first(memory: Repo) -> None:
    asked = "the webhook table"
    assert "memory/2026-02-06.coder.md" in paths(value(memory, asked))
    assert "memory/2026-02-06.coder.md" not in paths(value(memory, asked, "--exclude-agent", "coder"))
    assert "MEMORY.md" not in paths(value(memory, asked, "--exclude-path", "MEMORY.md"))
    assert "daily" not in {part["layer"] for part in value(memory, asked, "--exclude-layer", "daily")["parts"]}
    first = value(memory, asked, "--include", "memory/webhooks.md:3-3", "--exclude-layer", "pinned")["parts"][0]
    assert (first["layer"], first["path"], first["start_line"], first["end_line"]) == (
        "included", "memory/webhooks.md", 3, 3,
    )  # fmt: skip
    assert memory.mem("context", "--exclude-layer", "nonsense", check=False).returncode == 2
    assert "ends before" in memory.mem("context", "--include", "MEMORY.md:5-3", check=False).stderr


def test_memory_as_it_was_is_what_is_assembled(memory: Repo) -> None:
    memory.commit("gone", {"MEMORY.md": "- Phase 2 uses gRPC streaming.\n"}, date="2026-02-06T09:40:00+00:00")
    assert "gRPC" in value(memory, "phase")["text"] and "REST" not in value(memory, "phase")["text"]
    then = value(memory, "phase", "--at", "HEAD~1")
    assert "REST" in then["text"] and "gRPC" not in then["text"]
    assert memory.mem("context", "--at", "nowhere", check=False).returncode == 3


def test_limits_are_kept_and_a_dry_run_only_counts(memory: Repo) -> None:
    cut = memory.mem("context", "webhook retries", "--max-characters", "700")
    assert len(cut.stdout) <= 701 and "peanuts" in cut.stdout
    dry = memory.mem("context", "webhook retries", "--dry-run")
    assert "tokens of 1600" in dry.stdout and "peanuts" not in dry.stdout and "MEMORY.md" in dry.stdout
    assert memory.mem("context", "--budget", "0", check=False).returncode == 2
    small = value(memory, "webhook retries", "--budget", "5")
    assert small["limits"]
    assert memory.mem("context", "--transcript", "none.jsonl", check=False).returncode == 3


def test_a_setting_switches_layers_off(memory: Repo) -> None:
    memory.git("config", "--global", "--add", "mem.contextLayer", "daily off")
    memory.git("config", "--global", "mem.contextBudget", "900")
    found = value(memory, "webhook")
    assert found["budget"] == 900 and "daily" not in {part["layer"] for part in found["parts"]}


def test_the_organisation_and_the_person_stand_beside_the_project(memory: Repo, tmp_path: Path) -> None:
    wide = Repo(tmp_path / "wide")
    front = "---\nregion: eu-1\ncontacts: [ops, legal]\nwindows:\n  deploy: {before: 11}\nempty:\n---\n"
    wide.commit("o", {"MEMORY.md": f"{front}- Deploy window: any time.\n- Invoices are in UTC.\n"})
    mine = Repo(tmp_path / "mine")
    mine.commit("p", {"MEMORY.md": "- I prefer short webhook answers.\n"})
    memory.git("config", "--global", "mem.organisation", f"{wide.path}#main")
    memory.git("config", "--global", "mem.personal", str(mine.path))
    found = value(memory, "deploy window of webhook invoices")
    assert [scope["name"] for scope in found["scopes"]] == ["organisation", "user", "project"]
    assert all(scope["loaded"] for scope in found["scopes"])
    assert "UTC" in found["text"] and "short webhook" in found["text"]
    keys = {"region": "eu-1", "contacts": ["ops", "legal"], "windows": {"deploy": {"before": "11"}}, "empty": ""}
    assert found["scopes"][0]["keys"] == keys == found["keys"]
    mine.commit("keys", {"MEMORY.md": "---\nregion: kr-2\ncontacts:\n---\n- I prefer short webhook answers.\n"})
    assert value(memory, "x")["keys"] == {**keys, "region": "kr-2"}
    without = value(memory, "deploy window", "--exclude-path", "MEMORY.md")
    assert without["scopes"][0]["keys"] == {} and "UTC" not in json.dumps(without)
    assert "before 11" in found["text"] and "any time" not in found["text"]
    mine.write("USER.md", "- Answer in Korean.\n")
    assert "Answer in Korean" in value(memory, "x")["text"]  # one's own memory counts before it is committed
    wide.write("MEMORY.md", "- Not agreed on yet.\n")
    assert "Not agreed" not in value(memory, "agreed")["text"]


def test_an_organisation_behind_a_url_is_kept_and_used_when_it_vanished(memory: Repo, tmp_path: Path) -> None:
    wide = Repo(tmp_path / "wide")
    wide.commit("o", {"MEMORY.md": "- Invoices are in UTC.\n"})
    memory.git("config", "--global", "mem.organisation", wide.path.as_uri())
    assert "UTC" in value(memory, "invoices")["text"]
    shutil.rmtree(wide.path)
    env = {"GITMEM_NOW": "2026-02-09T10:00:00+00:00"}
    later = json.loads(memory.mem("context", "--json", "invoices", env=env).stdout)
    assert "UTC" in later["text"] and "72 hours old" in later["scopes"][0]["note"]
    wide = Repo(tmp_path / "wide")  # it is back; it was asked a minute ago, and is asked again only after ten
    wide.commit("o", {"MEMORY.md": "- Invoices are in CET.\n"})
    for minute, zone in (("01", "UTC"), ("11", "CET")):
        env = {"GITMEM_NOW": f"2026-02-09T10:{minute}:00+00:00"}
        assert zone in json.loads(memory.mem("context", "--json", "invoices", env=env).stdout)["text"]


@pytest.mark.parametrize("gone", ["gone", "~nosuchuser/x"])
def test_a_scope_that_is_not_there_is_said_and_breaks_nothing(memory: Repo, tmp_path: Path, gone: str) -> None:
    memory.git("config", "--global", "mem.organisation", (tmp_path / "none").as_uri())
    memory.git("config", "--global", "mem.personal", gone if gone.startswith("~") else str(tmp_path / gone))
    done = memory.mem("context", "webhook")
    assert "peanuts" in done.stdout and "scope organisation" in done.stderr and "scope user" in done.stderr
    found = value(memory, "webhook")
    assert [scope["loaded"] for scope in found["scopes"]] == [False, False, True]
    assert "not loaded: organisation, user" in found["summary"]


def test_an_organisation_that_is_the_project_itself_is_no_endless_loop(memory: Repo) -> None:
    memory.git("config", "--global", "mem.organisation", str(memory.path))
    found = value(memory, "webhook")
    assert found["text"].count("easier to debug") == 1
    assert found["scopes"][0]["note"] == "it is the project memory itself"


def test_a_session_stands_in_the_context_and_wins_for_its_keys(memory: Repo) -> None:
    memory.mem("session", "set", "deploy:window", "before 9 this week")
    found = value(memory, "when may we deploy?")
    assert found["scopes"][-1]["name"] == "session" and found["layers"]["working"] > 0
    assert "before 9 this week" in found["text"] and "before 11" not in found["text"]
    assert any(row["reason"] == "the session scope says it" for row in found["dropped"])
    assert "before 9" not in value(memory, "deploy", "--exclude-layer", "working")["text"]
    assert "before 9" not in value(memory, "deploy", "--at", "HEAD")["text"]


def test_a_transcript_is_what_a_short_question_is_about(memory: Repo, tmp_path: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
    memory.commit("more", {
        "memory/ledger.md": "# Ledger\n\nThe ledger_writer listens on port 5433 since the move.\n",
        **{f"memory/other{n}.md": f"# Other {n}\n\nAbout subject number {n} only.\n" for n in range(30)},
    })  # fmt: skip
    said = [
        {"id": "1", "role": "user", "text": "The nightly job broke."},
        {"id": "2", "role": "assistant", "text": f"Reading its log. TOKEN={token}"},
        {"id": "3", "role": "tool", "text": f"ledger_writer: connection refused\n{token}", "call": "c"},
        {"id": "4", "role": "user", "text": "and why?"},
    ]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, said)))
    assert "5433" not in value(memory, "and why?")["text"]
    found = value(memory, "--transcript", str(file))
    assert "5433" in found["text"] and found["layers"]["recent"] > 0
    assert token not in json.dumps(found)
    assert [part["label"] for part in found["parts"] if part["layer"] == "recent"] == ["user", "assistant", "user"]


def test_a_transcript_that_is_not_understood_is_said_and_the_rest_is_there(memory: Repo, tmp_path: Path) -> None:
    (tmp_path / "junk.jsonl").write_bytes(b"\xff\xfe junk\n{\n[1]\n")
    done = memory.mem("context", "webhook", "--transcript", str(tmp_path / "junk.jsonl"))
    assert "none of its 3 lines is understood" in done.stderr and "peanuts" in done.stdout


def test_a_preset_and_a_layer_setting_bound_what_is_assembled(memory: Repo) -> None:
    memory.commit("long", {f"memory/rules/r{n}.md": f"Rule {n}: {f'word{n} ' * 40}\n" for n in range(30)})
    whole = value(memory, "webhook", "--budget", "9000")
    assert len(whole["text"]) > 6000 and not any("characters" in limit for limit in whole["limits"])
    assert sum(part["layer"] == "rule" for part in whole["parts"]) == 20
    compact = value(memory, "webhook", "--budget", "9000", "--preset", "compact")
    assert len(compact["text"]) <= 6000 and any("more than 4000" in limit for limit in compact["limits"])
    memory.git("config", "--global", "mem.contextPreset", "compact")
    assert value(memory, "webhook", "--budget", "9000")["text"] == compact["text"]
    memory.git("config", "--global", "--add", "mem.contextLayer", "rule limit=2")
    few = value(memory, "webhook", "--budget", "9000")
    assert sum(part["layer"] == "rule" for part in few["parts"]) == 2 and "memory" in few["layers"]
    memory.git("config", "--global", "--add", "mem.contextLayer", "nonsense off")
    assert memory.mem("context", "webhook", check=False).returncode == 3


def test_a_tokenizer_that_is_gone_is_said_and_the_built_in_one_counts(memory: Repo, tmp_path: Path) -> None:
    assert value(memory, "webhook")["tokenizer"] == "pieces"
    memory.git("config", "--global", "mem.tokenizer", f"gguf:{tmp_path / 'none.gguf'}")
    done = memory.mem("context", "webhook", "--json")
    assert json.loads(done.stdout)["tokenizer"] == "pieces" and "the built-in word pieces count" in done.stderr
    memory.git("config", "--global", "mem.tokenizer", f"gguf:{make_embedding_model(tmp_path / 'm.gguf')}")
    assert value(memory, "webhook")["tokenizer"].endswith("m.gguf")


class Chat(QuietHandler):
    """An OpenAI-compatible endpoint that condenses the two notes about webhooks."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.body())
        notes = body["messages"][1]["content"]
        self.asked.append(notes)
        labels = [line.split()[0] for line in notes.splitlines() if "REST" in line or "back off" in line]
        row = {
            "topic": "webhooks",
            "lines": labels,
            "text": "PoC phase 1 uses REST webhooks; retries back off 2 to 60 s.",
        }
        reply = {"choices": [{"message": {"content": json.dumps({"facts": [row]})}, "finish_reason": "stop"}]}
        self.reply(200, json.dumps(reply).encode())


def test_a_named_model_condenses_by_topic_and_every_line_keeps_its_links(memory: Repo) -> None:
    pytest.importorskip("httpx")
    plain = value(memory, "webhook retries")
    with LoopbackServer(Chat) as server:
        found = value(memory, "webhook retries", "--merge", f"http:{server.url}/v1#tiny")
    (part,) = [part for part in found["parts"] if part["layer"] == "merged"]
    assert {row["path"] for row in part["sources"]} == {"MEMORY.md", "memory/webhooks.md"}
    assert "retries back off 2 to 60 s. [" in found["text"] and "MEMORY.md:4" in found["text"]
    assert "Retries back off from" not in found["text"] and "easier to debug" not in found["text"]
    assert "peanuts" not in "".join(Chat.asked) and "peanuts" in found["text"]  # pinned is never condensed
    assert sum(row["reason"] == "condensed" for row in found["dropped"]) == 2
    gone = value(memory, "webhook retries", "--merge", f"http:{server.url}/v2#gone")
    assert gone["hash"] == plain["hash"] and any("nothing was condensed" in limit for limit in gone["limits"])
    assert memory.mem("context", "x", "--merge", "rules", check=False).returncode == 3


def test_what_is_not_committed_says_so_and_the_rest_has_its_commit(memory: Repo) -> None:
    head = memory.git("rev-parse", "HEAD").strip()
    clean = value(memory, "webhook")["text"]
    assert f"Commit: {head[:12]}." in clean and "uncommitted" not in clean
    memory.write("MEMORY.md", FILES["MEMORY.md"] + "- Webhooks are signed with a key of their own.\n")
    text = value(memory, "webhook")["text"]
    quoted = text.partition(" uncommitted")[2].partition("<from ")[0]
    assert "signed" in quoted and "easier to debug" not in quoted and text.count("uncommitted") == 1


def test_a_fresh_memory_says_that_it_is_empty_and_its_blank_files_take_no_room(tmp_path: Path) -> None:
    fresh = Repo(tmp_path / "fresh")
    nothing = fresh.mem("context", "배포를 언제 하나요?")
    assert nothing.stdout == "" and "git mem add" in nothing.stderr
    fresh.mem("init")
    fresh.mem("add", "--type", "decision", "배포는 오전 11시 전에만 한다: 트래픽이 적다")
    done = fresh.mem("context", "배포를 언제 하나요?")
    assert "11시 전에만" in done.stdout and 'path="USER.md"' not in done.stdout and done.stderr == ""
    fresh.write("USER.md", "# User\n\n- Name: Kim\n")
    assert "Name: Kim" in fresh.mem("context", "배포").stdout
    tiny = fresh.mem("context", "배포", "--budget", "50")
    assert tiny.returncode == 0 and "the smallest budget that does is" in tiny.stderr
