"""`git mem verify`: one byte changed in a fact or its source is found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.git.objects import Span
from gitmem.git.opening import open_repository
from gitmem.provenance.verify import verify as check
from tests.harness import Repo
from tests.provenance.test_why import squashed
from tests.provenance_cases import DAY, FACT, LOG, promote, record_log


def verify(repo: Repo, *args: str) -> tuple[int, dict[str, Any]]:
    done = repo.mem("verify", "--json", *args, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    assert list(found) == ["checked", "findings", "facts", "signatures"] and len(found["facts"]) == found["checked"]
    return done.returncode, found


def holds(repo: Repo, *args: str) -> list[str]:
    """What holds up each fact of a verification without a finding."""
    code, found = verify(repo, *args)
    assert code == 0 and found["findings"] == []
    return [row["support"] for row in found["facts"]]


def rules(repo: Repo, *args: str) -> list[str]:
    return [finding["rule"] for finding in verify(repo, *args)[1]["findings"]]


def test_an_untouched_promotion_holds(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    assert holds(repo, "--policy") == ["in-source"]


def test_one_character_changed_in_a_promoted_fact_is_found(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    repo.commit("tweak", {"MEMORY.md": repo.read("MEMORY.md").replace("phase 1", "phase 2")})
    code, found = verify(repo)
    assert code == 1 and [f["rule"] for f in found["findings"]] == ["text-changed"]
    assert found["findings"][0]["path"] == "MEMORY.md" and found["findings"][0]["line"] == 5


def test_one_character_changed_in_the_log_is_found(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    repo.commit("rewrite", {DAY: LOG.replace("phase 1", "phase 9")})
    assert rules(repo) == ["source-changed"]


def test_a_log_that_only_grew_or_was_removed_is_no_finding(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    repo.commit("more", {DAY: LOG + "- Dinner.\n"})
    assert rules(repo) == []
    (repo.path / DAY).unlink()
    repo.commit("retention")
    assert rules(repo) == []


WRAPPED = (
    "# 2026-02-05\n\n- Refunds above 500 crowns are paid\n  only after two approvals. Small ones\n  at once.\n\n"
    "09:00 the mill is oiled\n10:00 the press rests\n\nThe archive is kept for seven years\nunless the customer objects.\n"
)


@pytest.mark.parametrize(
    ("text", "first", "last", "flaw"),
    [
        ("Refunds above 500 crowns are paid.", 3, 3, "goes on below"),
        ("Only after two approvals.", 4, 4, "begins above"),
        ("Refunds above 500 crowns are paid only after two approvals.", 3, 4, ""),  # its own sentence is whole
        ("Refunds above 500 crowns are paid only after two approvals. Small ones.", 3, 4, "goes on below"),
        ("Refunds above 500 crowns are paid only after two approvals.", 3, 5, ""),
        ("The mill is oiled at 09:00.", 7, 7, ""),  # entries of a log, one a line
        ("The archive is kept for seven years.", 10, 10, "goes on below"),
        ("The archive is kept for seven years unless the customer objects.", 10, 11, ""),
    ],
)
def test_half_a_sentence_of_its_source_is_found(repo: Repo, text: str, first: int, last: int, flaw: str) -> None:
    blob = record_log(repo, text=WRAPPED)
    promote(repo, text, Span(DAY, first, last, blob))
    done = repo.mem("verify", "--json", check=False)
    found = [row for row in json.loads(done.stdout)["findings"] if row["rule"] == "source-cut"]
    assert [flaw in row["message"] for row in found] == ([True] if flaw else [])


def test_a_source_that_does_not_exist_is_found(repo: Repo) -> None:
    blob = record_log(repo)
    promote(repo, span=Span(DAY, 90, 91, blob))
    promote(repo, "Something wholly different.", span=Span(DAY, 1, 1, "34" * 20))
    assert rules(repo) == ["source-missing", "source-missing"]


def test_a_squash_does_not_break_verification_but_an_edit_after_it_is_found(repo: Repo, tmp_path: Path) -> None:
    clone = squashed(repo, tmp_path, "title only")
    assert verify(clone)[0] == 0
    clone.commit("pin", {"MEMORY.md": clone.read("MEMORY.md").replace("type=decision", "type=decision pinned=true")})
    assert verify(clone)[0] == 0
    clone.commit("tweak", {"MEMORY.md": clone.read("MEMORY.md").replace("phase 1", "phase 2")})
    clone.commit("unpin", {"MEMORY.md": clone.read("MEMORY.md").replace(" pinned=true", "")})
    assert rules(clone) == ["text-changed"]


def test_policy_fails_what_an_agent_added_without_a_promotion(repo: Repo) -> None:
    repo.commit("by hand", {"MEMORY.md": "# Memory\n\n- mine\n"})
    assert verify(repo, "--policy")[0] == 0
    repo.commit("by machine\n\nMemory-Agent: codex\n", {"MEMORY.md": "# Memory\n\n- mine\n- its own\n"})
    assert verify(repo)[0] == 0
    assert rules(repo, "--policy") == ["unrecorded"]
    assert rules(repo, "HEAD~1..HEAD", "--policy") == ["unrecorded"]
    assert rules(repo, "HEAD~1", "--policy") == []


def test_a_bot_is_no_person(repo: Repo) -> None:
    repo.git("config", "user.name", "helper[bot]")
    repo.commit("x", {"MEMORY.md": "- fact\n"})
    assert rules(repo, "--policy") == ["unrecorded"]


def test_a_range_checks_only_what_it_added(repo: Repo) -> None:
    record_log(repo)
    promote(repo, "Something wholly different.", span=Span(DAY, 90, 91, "34" * 20))
    base = repo.git("rev-parse", "HEAD").strip()
    promote(repo, "They are easier to debug.", span=Span(DAY, 6, 6, repo.git("rev-parse", f"HEAD:{DAY}").strip()))
    assert holds(repo, f"{base}..HEAD") == ["in-source"]
    assert verify(repo)[0] == 1


def test_findings_name_no_text_of_memory(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    repo.commit("tweak", {"MEMORY.md": repo.read("MEMORY.md").replace("phase 1", "phase 2")})
    done = repo.mem("verify", check=False)
    assert done.returncode == 1 and "MEMORY.md:5: text-changed" in done.stdout and "webhooks" not in done.stdout
    assert "1 fact checked, 1 finding" in done.stderr


def test_hostile_ranges_are_refused(repo: Repo) -> None:
    repo.commit("x", {"MEMORY.md": "- fact\n"})
    for span in ("--output=x..HEAD", "nope..HEAD", "..-x"):
        assert repo.mem("verify", "--", span, check=False).returncode == 3
    assert not (repo.path / "x").exists()


def test_a_forged_promotion_whose_source_says_something_else_is_found_by_policy(repo: Repo) -> None:
    record_log(repo)
    promote(repo, "The staging database is Oracle 19.")
    assert verify(repo)[0] == 0
    assert rules(repo, "--policy") == ["not-in-source"]


def test_a_persons_correction_may_say_what_the_source_did_not(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    repo.mem("edit", "MEMORY.md:5", "PoC phase 2 uses gRPC.", "--reason", "decided on 12 March")
    assert holds(repo, "--policy") == ["edited"]
    assert verify(repo)[1]["facts"][0]["edited_by"] == "Test <test@example.com>"
    text = repo.mem("verify", "--policy")
    assert "edited after promotion by Test" in text.stdout and "1 edited after promotion" in text.stderr


def in_process(repo: Repo) -> list[str]:
    opened = open_repository(repo.path, os.environ)
    try:
        return [flaw.rule for flaw in check(opened, policy=True).flaws]
    finally:
        opened.close()


def test_any_one_character_changed_in_a_promoted_fact_or_its_source_is_found(repo: Repo) -> None:
    record_log(repo)
    promote(repo)
    assert in_process(repo) == []
    line = repo.read("MEMORY.md").split("\n")[4]
    start, comment = line.index("PoC"), line.index("src=") + 4
    # Up to the end of the source: a comment whose own marks are broken is text, and the text is not the promoted one.
    for at in [*range(start, start + len(FACT), 6), *range(comment, len(line) - 5, 5)]:
        changed = line[:at] + ("7" if line[at] != "7" else "8") + line[at + 1 :]
        repo.commit("tweak", {"MEMORY.md": repo.read("MEMORY.md").replace(line, changed)})
        assert in_process(repo), changed
        repo.git("reset", "-q", "--hard", "HEAD~1")
    for at in range(LOG.index("- PoC"), LOG.index("- Lunch") - 1, 9):
        repo.commit("tweak", {DAY: LOG[:at] + ("7" if LOG[at] != "7" else "8") + LOG[at + 1 :]})
        assert "source-changed" in in_process(repo), LOG[at - 5 : at + 5]
        repo.git("reset", "-q", "--hard", "HEAD~1")
