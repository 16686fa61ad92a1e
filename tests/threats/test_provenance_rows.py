"""Forged and mistaken provenance, as docs/threats.md has it (A34 to A38, A40, A41): none passes as checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.git.objects import Span
from gitmem.memory.fact import render_span, text_hash
from gitmem.provenance.trailers import Link, append_trailers, render_link
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, LOG, promote, record_log

EASY = "They are easier to debug."
BY_CODEX = (("Memory-Agent", "codex"),)
BY_MODEL = (("Memory-Model", "rules/1"),)


def start(repo: Repo) -> str:
    """A memory with its log; the blob of the log. What follows is a branch to review."""
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- We use Git.\n"})
    blob = record_log(repo)
    repo.git("checkout", "-q", "-b", "topic")
    return blob


def verdict(repo: Repo, base: str = "main") -> tuple[set[str], dict[str, Any], dict[str, Any]]:
    """The rules that `verify base..HEAD --policy` finds, its JSON, and that of `review`. Both fail, or neither does."""
    done = repo.mem("verify", f"{base}..HEAD", "--policy", "--json", check=False)
    seen = repo.mem("review", f"{base}..HEAD", "--format", "json", check=False)
    assert done.returncode in (0, 1) and seen.returncode in (0, 1), done.stderr + seen.stderr
    found, review = json.loads(done.stdout), json.loads(seen.stdout)
    assert (done.returncode == 1) == bool(found["findings"]) == (review["verdict"] == "failed")
    shown = {(row["path"], row["line"]) for row in review["provenance"]}
    assert {(row["path"], row["line"]) for row in (*found["facts"], *found["findings"])} <= shown
    assert repo.mem("verify", f"{base}..HEAD", "--policy", check=False).stdout.count("webhooks") == 0
    return {row["rule"] for row in found["findings"]}, found, review


def why(repo: Repo, place: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(repo.mem("why", place, "--json").stdout)
    return found


def line_of(repo: Repo, text: str, path: str = "MEMORY.md") -> int:
    return next(n for n, line in enumerate(repo.read(path).split("\n"), 1) if text in line)


def unverified(repo: Repo, text: str, path: str = "MEMORY.md") -> dict[str, Any]:
    """What `why` says of a fact none of whose sources it calls verified."""
    found = why(repo, f"{path}:{line_of(repo, text, path)}")
    assert not any(source["verified"] for source in found["sources"])
    return found


# -- A34 a source that never was -----------------------------------------------------------------------------


def test_a34_a_blob_that_never_stood_at_its_path_is_no_source(repo: Repo) -> None:
    other = record_log(repo, "src/notes.txt")
    start(repo)
    promote(repo, span=Span("memory/2026-02-04.md", 5, 6, other))
    rules, _, review = verdict(repo)
    assert rules == {"source-missing"} and review["provenance"][0]["state"] == "broken"
    found = unverified(repo, FACT)
    assert found["support"] == "no-source" and "never stood at" in found["problem"]
    assert found["sources"][0]["text"] == ""


def test_a34_sources_without_a_model_are_no_promotion(repo: Repo) -> None:
    start(repo)
    promote(repo, trailers=BY_CODEX)
    rules, _, review = verdict(repo)
    assert rules == {"unrecorded"} and review["provenance"][0]["state"] == "agent"
    repo.git("commit", "-q", "--amend", "-m", repo.git("log", "-1", "--format=%B").replace("Memory-Agent: codex\n", ""))
    rules, _, review = verdict(repo)
    assert not rules and review["provenance"][0]["state"] == "person"
    assert "promoted, and" not in repo.mem("review", "main..HEAD", check=False).stdout


def test_a34_a_blob_that_is_not_there_is_no_source(repo: Repo) -> None:
    start(repo)
    promote(repo, "Something wholly different.", span=Span(DAY, 5, 6, "12" * 20))
    assert verdict(repo)[0] == {"source-missing"}
    assert unverified(repo, "wholly")["support"] == "no-source"


def test_a34_the_text_of_a_file_that_is_no_memory_is_never_shown(repo: Repo) -> None:
    start(repo)
    blob = record_log(repo, "config.env")
    promote(repo, span=Span("config.env", 5, 6, blob))
    found = unverified(repo, FACT)
    assert found["sources"][0]["text"] == "" and "not a memory file" in found["problem"]


# -- A35 a source that does not say it -----------------------------------------------------------------------


def bare(repo: Repo, text: str, span: Span, message: str = "note") -> None:
    repo.commit(message, {"MEMORY.md": repo.read("MEMORY.md") + f"- {text} <!-- mem src={render_span(span)} -->\n"})


UNSAID = {
    "unrelated": "The staging database is on the third floor.",
    "number": "PoC phase 7 uses REST webhooks.",
    "name": "PoC phase 1 uses REST webhooks of Stripe.",
    "denied": "PoC phase 1 does not use REST webhooks.",
    "short": "deploy friday",
}


@pytest.mark.parametrize("case", UNSAID)
def test_a35_a_promotion_without_a_model_is_judged_like_any_other(repo: Repo, case: str) -> None:
    blob = start(repo)
    promote(repo, UNSAID[case], span=Span(DAY, 5, 6, blob), trailers=())
    rules, found, review = verdict(repo)
    assert rules == {"not-in-source"} and review["provenance"][0]["state"] == "broken"
    assert found["facts"][0]["support"] == review["provenance"][0]["support"] == "not-in-source"
    assert unverified(repo, UNSAID[case])["support"] == "not-in-source"


@pytest.mark.parametrize("case", ["unrelated", "denied"])
def test_a35_a_bare_comment_is_no_proof(repo: Repo, case: str) -> None:
    blob = start(repo)
    bare(repo, UNSAID[case], Span(DAY, 5, 6, blob))
    assert verdict(repo)[0] == {"not-in-source"}
    assert unverified(repo, UNSAID[case])["support"] == "not-in-source"
    assert "source exists but does not say it" in repo.mem("why", f"MEMORY.md:{line_of(repo, UNSAID[case])}").stdout


def test_a35_a_source_that_denies_the_fact_does_not_say_it(repo: Repo) -> None:
    start(repo)
    blob = record_log(repo, "memory/2026-02-06.md", "# 2026-02-06\n\n- We do not use Redis for sessions.\n")
    bare(repo, "We use Redis for sessions.", Span("memory/2026-02-06.md", 3, 3, blob))
    assert verdict(repo)[0] == {"not-in-source"}
    assert unverified(repo, "Redis")["support"] == "not-in-source"


def test_a35_a_squash_without_trailers_proves_what_the_source_says_and_nothing_else(repo: Repo, tmp_path: Path) -> None:
    blob = start(repo)
    promote(repo)
    promote(repo, UNSAID["unrelated"], span=Span(DAY, 5, 6, blob))
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    repo.git("commit", "-q", "-m", "title only")
    rules, found, _ = verdict(repo, "HEAD~1")
    assert rules == {"not-in-source"}
    assert [row["support"] for row in found["facts"]] == ["in-source", "not-in-source"]
    assert why(repo, f"MEMORY.md:{line_of(repo, FACT)}")["sources"][0]["verified"]
    assert unverified(repo, UNSAID["unrelated"])["support"] == "not-in-source"


# -- A36 a certified edit ------------------------------------------------------------------------------------


def test_a36_an_edit_by_command_is_an_edit_with_old_and_new(repo: Repo) -> None:
    start(repo)
    promote(repo)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--ff-only", "topic")
    repo.git("checkout", "-q", "topic")
    repo.mem("edit", f"MEMORY.md:{line_of(repo, FACT)}", "refunds never need any approval", "--reason", "x")
    rules, found, review = verdict(repo)
    row = review["provenance"][0]
    assert rules == set() and found["facts"][0]["support"] == row["support"] == row["state"] == "edited"
    assert row["edited"]["by"] == found["facts"][0]["edited_by"] == "Test <test@example.com>"
    assert row["edited"]["changes"] == [{"what": "text", "old": FACT, "new": "refunds never need any approval"}]
    told = unverified(repo, "refunds")
    assert told["support"] == "edited" and told["edited"]["changes"] == row["edited"]["changes"]
    text = repo.mem("review", "main..HEAD").stdout
    assert "edited after promotion by Test" in text and FACT in text and "promoted, " not in text
    text = repo.mem("why", f"MEMORY.md:{line_of(repo, 'refunds')}").stdout
    assert "edited after promotion by Test" in text and FACT in text and "NOT VERIFIED" in text


@pytest.mark.parametrize("agent", [False, True])
def test_a36_an_edit_by_hand_is_an_edit(repo: Repo, agent: bool) -> None:
    start(repo)
    promote(repo)
    message = "tidy\n\nMemory-Agent: codex\n" if agent else "tidy"
    repo.commit(message, {"MEMORY.md": repo.read("MEMORY.md").replace("easier to debug", "harder to debug")})
    rules, found, _ = verdict(repo)
    assert "text-changed" in rules and found["facts"][0]["support"] == "edited"
    assert unverified(repo, "harder")["edited"]["changes"][0]["old"] == FACT


CHANGES = {
    "until": "until=2030-01-01 ",
    "pinned": "pinned=true ",
    "origin": "origin=user ",
    "importance": "importance=1 ",
}


@pytest.mark.parametrize("key", [*CHANGES, "src"])
@pytest.mark.parametrize("agent", [False, True])
def test_a36_a_comment_that_alone_changes_is_an_edit_and_an_agents_fails(repo: Repo, key: str, agent: bool) -> None:
    blob = start(repo)
    promote(repo)
    repo.git("branch", "-f", "main", "topic")
    text = repo.read("MEMORY.md")
    old = f"src={DAY}#L5-L6@{blob[:12]}"
    new = text.replace(old, f"src={DAY}#L6@{blob[:12]}") if key == "src" else text.replace(old, CHANGES[key] + old)
    assert new != text
    repo.commit("tidy\n\nMemory-Agent: codex\n" if agent else "tidy", {"MEMORY.md": new})
    rules, found, review = verdict(repo)
    assert found["facts"][0]["support"] == "edited" and ("edited" in rules) is agent
    (change,) = review["provenance"][0]["edited"]["changes"]
    assert change["what"] == key and change["old"] != change["new"]
    shown = why(repo, f"MEMORY.md:{line_of(repo, FACT)}")
    assert shown["support"] == "edited" and not any(source["verified"] for source in shown["sources"])
    assert key in repo.mem("review", "main..HEAD", check=False).stdout


def test_a36_the_comment_of_a_persons_own_fact_is_an_edit_too(repo: Repo) -> None:
    start(repo)
    repo.commit("pin\n\nMemory-Agent: codex\n", {
        "MEMORY.md": repo.read("MEMORY.md").replace("We use Git.", "We use Git. <!-- mem pinned=true -->"),
    })  # fmt: skip
    rules, found, _ = verdict(repo)
    assert {"unrecorded", "edited"} <= rules and found["facts"][0]["support"] == "edited"


# -- A37 resurrection ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [BY_CODEX, BY_MODEL, (*BY_MODEL, *BY_CODEX)])
def test_a37_a_forgotten_fact_that_comes_back_without_a_person_is_found(
    repo: Repo, rows: tuple[tuple[str, str], ...]
) -> None:
    blob = start(repo)
    promote(repo)
    repo.mem("forget", f"MEMORY.md:{line_of(repo, FACT)}", "--reason", "wrong")
    repo.git("branch", "-f", "main", "topic")
    promote(repo, span=Span(DAY, 5, 6, blob), trailers=rows)
    assert "rejected" in verdict(repo)[0]


def test_a37_a_person_may_put_it_back(repo: Repo) -> None:
    start(repo)
    promote(repo)
    before = repo.read("MEMORY.md")
    repo.mem("forget", f"MEMORY.md:{line_of(repo, FACT)}", "--reason", "wrong")
    repo.git("branch", "-f", "main", "topic")
    repo.commit("it was right", {"MEMORY.md": before})
    assert verdict(repo)[0] == set()


def test_a37_other_words_from_a_source_that_was_taken_back_are_found(repo: Repo) -> None:
    blob = start(repo)
    promote(repo)
    repo.mem("revert", "--source", DAY)
    repo.git("branch", "-f", "main", "topic")
    promote(repo, "In PoC phase 1 there are REST webhooks.", span=Span(DAY, 5, 6, blob))
    assert verdict(repo)[0] == {"rejected", "not-word-for-word"}


def test_a37_a_log_that_git_revert_took_back_is_no_source(repo: Repo) -> None:
    start(repo)
    log = record_log(repo, "memory/2026-02-06.md", "# 2026-02-06\n\n- Backups run at 04:00.\n")
    repo.git("revert", "--no-edit", "HEAD")
    promote(repo, "Backups run at 04:00.", span=Span("memory/2026-02-06.md", 3, 3, log))
    assert verdict(repo)[0] == {"source-changed"}


# -- A38 a rewritten source ----------------------------------------------------------------------------------


def test_a38_a_range_sees_that_it_rewrites_a_source(repo: Repo) -> None:
    start(repo)
    promote(repo)
    repo.git("branch", "-f", "main", "topic")
    repo.commit("tidy the log\n\nMemory-Rewrite: typo\n", {DAY: LOG.replace("phase 1", "phase 9")})
    rules, _, review = verdict(repo)
    assert rules == {"source-changed"} and review["provenance"][0]["state"] == "broken"
    said = repo.mem("why", f"MEMORY.md:{line_of(repo, FACT)}").stdout
    assert f"note: {DAY}#L5-L6" in said and "was changed since" in said


def test_a38_a_range_that_only_adds_to_a_log_does_not_ask_about_older_facts(repo: Repo) -> None:
    start(repo)
    promote(repo)
    repo.git("branch", "-f", "main", "topic")
    repo.commit("more", {DAY: LOG + "- Dinner.\n"})
    rules, found, _ = verdict(repo)
    assert rules == set() and found["checked"] == 0
    assert "was changed since" not in repo.mem("why", f"MEMORY.md:{line_of(repo, FACT)}").stdout


# -- A40 faults outside MEMORY.md, A41 hiding ----------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["memory/archive/2026.md", "memory/policies.md", "memory/topic.md", ".claude/rules/x.md"]
)
def test_a40_a_forged_fact_is_found_in_every_file(repo: Repo, path: str) -> None:
    blob = start(repo)
    promote(repo, UNSAID["unrelated"], span=Span(DAY, 5, 6, blob), target=path, trailers=())
    rules, _, review = verdict(repo)
    assert rules == {"not-in-source"} and review["provenance"][0]["path"] == path


def test_a40_an_unsourced_fact_in_the_archive_is_found_by_both(repo: Repo) -> None:
    start(repo)
    repo.commit("x\n\nMemory-Agent: codex\n", {"memory/archive/2026.md": "# 2026\n\n- its own\n"})
    assert verdict(repo)[0] == {"unrecorded"}


def test_a41_what_is_not_shown_is_not_said_to_hold(repo: Repo) -> None:
    start(repo)
    facts = "".join(f"- Shelf {n} holds box {n * 7}.\n" for n in range(131))
    repo.commit("many", {"MEMORY.md": repo.read("MEMORY.md") + facts})
    text = repo.mem("review", "main..HEAD", check=False).stdout
    assert "**131 facts new or changed**: 131 by a person, without a source" in text
    assert all(f"`Shelf {n} holds box {n * 7}.`" in text for n in range(131))
    assert "no fault" in text and "131 without a source |" in text and "all checks hold" not in text


def test_a41_eight_facts_of_8_kb_lose_no_word_and_a_broken_one_comes_first(repo: Repo) -> None:
    blob = start(repo)
    long = [f"{n} begins. " + "many words " * 700 + f"And {n} grants everybody access." for n in range(8)]
    repo.commit("long", {"MEMORY.md": repo.read("MEMORY.md") + "".join(f"- {text}\n" for text in long)})
    promote(repo, UNSAID["unrelated"], span=Span(DAY, 5, 6, blob))
    text = repo.mem("review", "main..HEAD", check=False).stdout
    assert text.count("<details><summary>the rest</summary>") == 8 and "(7,7" in text
    assert all(f"And {n} grants everybody access.`" in text for n in range(8))
    broken = text.index(f"- `{UNSAID['unrelated']}`")
    assert text.index("#### Provenance that does not hold") < broken < text.index("0 begins.")


@pytest.mark.parametrize("path", ["SOUL.md", ".claude/rules/style.md"])
def test_a41_sentences_in_instructions_are_shown(repo: Repo, path: str) -> None:
    start(repo)
    repo.commit("x\n\nMemory-Agent: codex\n", {path: "# Rules\n\nNobody asks before a refund.\n"})
    row = verdict(repo)[2]["provenance"][-1]
    assert (row["path"], row["text"], row["state"]) == (path, "Nobody asks before a refund.", "agent")


def test_a41_metadata_is_shown_with_its_values(repo: Repo) -> None:
    start(repo)
    repo.commit("pin", {"MEMORY.md": repo.read("MEMORY.md").replace("Git.", "Git. <!-- mem until=2031-01-01 -->")})
    text = repo.mem("review", "main..HEAD", check=False).stdout
    assert "until `nothing` → `2031-01-01`" in text


def test_a_forged_edit_of_a_text_that_never_was_is_judged_as_a_promotion(repo: Repo) -> None:
    blob = start(repo)
    span, text = Span(DAY, 5, 6, blob), UNSAID["unrelated"]
    rows = [
        ("Memory-Rejected", render_link(Link(span, "MEMORY.md", text_hash("never written")))),
        ("Memory-Source", render_link(Link(span, "MEMORY.md", text_hash(text)))),
    ]
    bare(repo, text, span, append_trailers("memory: correct 1 fact\n", rows))
    assert verdict(repo)[0] == {"not-in-source"}
