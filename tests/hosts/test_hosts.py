"""One file a host: its transcript is read and written again from one description, and its heading is in the docs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.hosts.host import EVENT_SECONDS
from gitmem.hosts.registry import HOSTS, all_hosts, host_named
from gitmem.hosts.transcript import By, Role
from gitmem.hosts.transcript_editing import compact_transcript, prune_transcript
from gitmem.hosts.transcript_parser import parse
from gitmem.paths import agents_read
from gitmem.review.settings_changes import decides_checks
from tests.harness import SOURCE

TRANSCRIPTS = Path(__file__).parent / "transcripts"
WITH_TRANSCRIPTS = [host.name for host in all_hosts() if host.entries or host.whole]
WITH_LINES = [host.name for host in all_hosts() if host.entries]
SAID = ["We decided that invoices are in UTC.", "Noted.", "Done."]


def data_of(host: str) -> bytes:
    return (TRANSCRIPTS / f"{host}.jsonl").read_bytes()


def test_every_host_has_a_module_a_heading_and_where_it_has_one_a_transcript() -> None:
    headings = (SOURCE / "docs/agents.md").read_text(encoding="utf-8")
    for name in HOSTS:
        host = host_named(name)
        assert host.name == name and host.paths and f"\n### `{name}`" in headings
        assert all(f"`{path}`" in headings for path in host.paths)
        assert host.hooks is None or set(host.hooks.events) <= set(EVENT_SECONDS)
    assert {path.stem for path in TRANSCRIPTS.iterdir()} == set(WITH_TRANSCRIPTS)


@pytest.mark.parametrize("host", WITH_TRANSCRIPTS)
def test_what_was_said_is_read_and_what_the_host_inserted_is_not(host: str) -> None:
    found = parse(data_of(host))
    assert [turn.text for turn in found.spoken()] == SAID
    assert found.skipped == (1 if host == "claude" else 0)  # an entry for the host alone
    assert found.session == ("" if host in ("cursor", "kimi", "antigravity") else "s1")


@pytest.mark.parametrize("host", WITH_LINES)
def test_a_shortened_result_and_a_summary_are_in_the_hosts_own_form(host: str) -> None:
    data = data_of(host)
    found = parse(data)
    shorter = [replace(turn, text="short") if turn.role is Role.TOOL else turn for turn in found.turns]
    after = prune_transcript(data, found.turns, shorter)
    assert b"a long result" not in after and [turn.text for turn in parse(after).turns if turn.role is Role.TOOL] == [
        "short"
    ]
    short = parse(compact_transcript(data, found.turns[-1:], found.turns[:-1], "- user: invoices"))
    summary, last = short.turns
    assert summary.by is By.SUMMARY and summary.text.endswith("- user: invoices") and last.text == "Done."
    assert short.skipped <= 1


@pytest.mark.parametrize("host", [host.name for host in all_hosts() if host.hooks])
def test_an_answer_carries_the_text_in_the_hosts_form(host: str) -> None:
    hooks = host_named(host).hooks
    assert hooks is not None
    answer = hooks.answer(hooks.events.get("SessionStart", "SessionStart"), "context")
    nested = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "context"}}
    if host in ("copilot", "vscode"):  # one file of hooks for both: each reads its own form
        assert answer == {"additionalContext": "context", **nested}
    elif host == "cursor":
        assert answer == {"additional_context": "context"}
    elif host == "cline":
        assert answer == {"cancel": False, "contextModification": "context"}
    elif host in ("kimi", "kiro"):
        assert answer == "context"
    elif host == "antigravity":
        assert answer == {"injectSteps": [{"ephemeralMessage": "context"}]}
    else:
        assert answer == nested


def test_what_a_host_reads_in_a_project_is_scanned_or_told_first_in_a_review() -> None:
    for host in all_hosts():
        for path in host.instructions:
            assert agents_read(f"{path}a/x.md" if path.endswith("/") else path), f"{host.name}: {path}"
        for glob in host.settings:
            assert decides_checks("a/" + glob.replace("**", "b/c").replace("*", "d")), f"{host.name}: {glob}"


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_has_instructions_and_imports_only_from_them(name: str) -> None:
    reads = host_named(name).reads
    assert reads.instructions and set(reads.imports) <= set(reads.instructions)
