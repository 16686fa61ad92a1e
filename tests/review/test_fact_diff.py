"""What happened to facts: an edit is one change, a move is no loss, and nothing is counted twice or left out."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory import facts
from gitmem.review.fact_diff import Op, compare_facts
from tests.harness import Repo
from tests.provenance_cases import FACT, promote, record_log

TODAY = date(2026, 3, 1)


def read(**files: str) -> dict[str, list[Any]]:
    return {f"{name}.md": list(facts.parse(text.encode()).facts) for name, text in files.items()}


def ops(old: dict[str, list[Any]], new: dict[str, list[Any]]) -> list[tuple[str, str]]:
    return [(str(change.op), change.fact.text) for change in compare_facts(old, new, TODAY)]


def test_an_edited_fact_is_one_change_with_both_texts() -> None:
    old, new = read(M="- Port is 80 for the API.\n- b\n"), read(M="- Port is 8080 for the API.\n- b\n")
    (change,) = compare_facts(old, new, TODAY)
    assert change.op is Op.CHANGED and change.old and change.new
    assert (change.old.text, change.new.text) == ("Port is 80 for the API.", "Port is 8080 for the API.")


def test_a_rewritten_fact_is_paired_by_what_it_supersedes() -> None:
    old = read(M="- 우리는 REST를 쓴다\n")
    new = read(M=f"- gRPC now <!-- mem supersedes={old['M.md'][0].id} -->\n")
    assert ops(old, new) == [("changed", "gRPC now")]


TWO_SECTIONS = "# Memory\n\n## Mill\n\n- Oil is changed in May.\n\n## Press\n\n- Oil is changed in May.\n"


def test_the_same_words_below_two_headings_are_two_facts() -> None:
    old = read(M=TWO_SECTIONS)
    (gone,) = compare_facts(old, read(M=TWO_SECTIONS.replace("- Oil is changed in May.\n", "", 1)), TODAY)
    assert gone.op is Op.REMOVED and gone.fact.trail == ("Memory", "Mill")
    edited = compare_facts(old, read(M=TWO_SECTIONS.replace("in May", "in June")), TODAY)
    assert [(row.op, row.old and row.old.trail, row.fact.trail) for row in edited] == [
        (Op.CHANGED, ("Memory", name), ("Memory", name)) for name in ("Mill", "Press")
    ]


def test_a_wrapped_fact_a_paragraph_and_a_row_are_told_whole() -> None:
    old = read(
        M="- Refunds above 500 crowns wait\n  for one approval.\n\nNever push the tag\nat night.\n\n| a | b |\n|---|---|\n| x | 1 |\n"
    )
    new = read(
        M="- Refunds above 500 crowns wait\n  for two approvals.\n\nNever push the tag\nat noon.\n\n| a | b |\n|---|---|\n| x | 2 |\n"
    )
    assert [(row.op, row.old and row.old.text, row.fact.text) for row in compare_facts(old, new, TODAY)] == [
        (
            Op.CHANGED, "Refunds above 500 crowns wait for one approval.",
            "Refunds above 500 crowns wait for two approvals.",
        ),
        (Op.CHANGED, "Never push the tag at night.", "Never push the tag at noon."),
        (Op.CHANGED, "x | 1", "x | 2"),
    ]  # fmt: skip


def test_changes_name_what_a_fact_is_about(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": TWO_SECTIONS})
    repo.commit("next", {"MEMORY.md": TWO_SECTIONS[:-5] + "June.\n"})
    done = repo.mem("changes", "HEAD~1..HEAD")
    assert "Oil is changed in [-May-]{+June+}." in done.stdout and "in Memory > Press" in done.stdout
    (row,) = json.loads(repo.mem("changes", "HEAD~1..HEAD", "--json").stdout)["changes"]
    assert (row["line"], row["end_line"], row["trail"]) == (9, 9, ["Memory", "Press"])
    assert "below `Memory > Press`" in repo.mem("review", "HEAD~1..HEAD").stdout


SRC = "src=memory/2026-02-05.md#L5-L6@1a2b3c4d5e6f"
OTHER = "src=memory/2026-02-06.md#L3@1a2b3c4d5e6f"


def test_an_edit_is_paired_by_the_source_both_name_whatever_its_words() -> None:
    old = read(
        M=f"- Invoices are rounded half up <!-- mem {SRC} -->\n- Refunds need two approvals <!-- mem {OTHER} -->\n"
    )
    new = read(
        M=f"- Refunds need two approvals always <!-- mem {SRC} -->\n- Refunds need two approvals <!-- mem {OTHER} -->\n"
    )
    (change,) = compare_facts(old, new, TODAY)
    assert change.op is Op.CHANGED and change.old and change.new
    assert (change.old.text, change.new.text) == ("Invoices are rounded half up", "Refunds need two approvals always")


def test_facts_that_cite_different_lines_are_no_edit_of_each_other_however_alike() -> None:
    old = read(M=f"- The limit of the API is 600 requests <!-- mem {SRC} -->\n")
    new = read(M=f"- The limit of the API is 900 requests <!-- mem {OTHER} -->\n")
    assert [op for op, _ in ops(old, new)] == ["added", "removed"]
    unsourced = read(M="- The limit of the API is 900 requests\n")
    assert [op for op, _ in ops(old, unsourced)] == ["changed"], "words decide where one names no source"


def test_of_two_facts_of_one_source_the_more_alike_is_the_edited_one() -> None:
    old = read(M=f"- Port is 80 for the API <!-- mem {SRC} -->\n- Logs are kept a week <!-- mem {SRC} -->\n")
    new = read(M=f"- Logs are kept a month <!-- mem {SRC} -->\n- Port is 81 for the API <!-- mem {SRC} -->\n")
    pairs = {(c.old.text, c.new.text) for c in compare_facts(old, new, TODAY) if c.old and c.new}
    assert pairs == {
        ("Port is 80 for the API", "Port is 81 for the API"),
        ("Logs are kept a week", "Logs are kept a month"),
    }


def test_a_shorter_oid_in_the_source_is_the_same_source() -> None:
    old = read(M=f"- alpha beta <!-- mem {SRC} -->\n")
    new = read(M=f"- gamma delta <!-- mem {SRC[:-4]} -->\n")
    assert ops(old, new) == [("changed", "gamma delta")]


def test_unlike_facts_are_a_removal_and_an_addition() -> None:
    assert ops(read(M="- alpha beta\n"), read(M="- gamma delta\n")) == [
        ("added", "gamma delta"),
        ("removed", "alpha beta"),
    ]


def test_a_fact_in_another_file_moved_and_one_whose_time_is_over_expired() -> None:
    assert ops(read(M="- a\n", N=""), read(M="", N="- a\n")) == [("moved", "a")]
    gone = "- a <!-- mem until=2026-02-01 -->\n"
    assert ops(read(M=gone), read(M="")) == [("expired", "a")]
    archive = {"memory/archive/2026.md": list(facts.parse(gone.encode()).facts)}
    assert ops(read(M=gone), {"M.md": [], **archive}) == [("expired", "a")]


def test_a_log_that_says_a_fact_once_more_is_not_where_it_went() -> None:
    old = {"MEMORY.md": facts.parse(b"- keep sessions for 14 days <!-- mem type=rule -->\n").facts}
    new = {
        "MEMORY.md": facts.parse(b"- keep sessions for 7 days <!-- mem type=rule -->\n").facts,
        "memory/2026-02-05.md": facts.parse(b"- keep sessions for 14 days\n").facts,
    }
    told = [(change.op, change.path, change.fact.text) for change in compare_facts(old, new, date(2026, 2, 6))]
    assert told == [
        (Op.CHANGED, "MEMORY.md", "keep sessions for 7 days"),
        (Op.ADDED, "memory/2026-02-05.md", "keep sessions for 14 days"),
    ]


def test_a_reordered_file_has_no_change_and_a_new_comment_is_one() -> None:
    assert ops(read(M="- a\n- b\n"), read(M="- b\n- a\n")) == []
    assert ops(read(M="- a\n"), read(M="- a <!-- mem pinned=true -->\n")) == [("changed", "a")]


BULLETS = st.lists(st.sampled_from(["a b c", "a b d", "x", "y z", "포트 80", "포트 81"]), max_size=6)


@given(BULLETS, BULLETS, BULLETS, BULLETS)
def test_every_fact_is_accounted_for_exactly_once(m1: list[str], n1: list[str], m2: list[str], n2: list[str]) -> None:
    def files(m: list[str], n: list[str]) -> dict[str, list[Any]]:
        return read(M="".join(f"- {t}\n" for t in m), N="".join(f"- {t}\n" for t in n))

    old, new = files(m1, n1), files(m2, n2)
    found = compare_facts(old, new, TODAY)
    before = Counter((p, f.text) for p, fs in old.items() for f in fs)
    after = Counter((p, f.text) for p, fs in new.items() for f in fs)
    before.subtract((change.old_path or change.path, change.old.text) for change in found if change.old)
    after.subtract((change.path, change.new.text) for change in found if change.new)
    assert before == after and min(before.values(), default=0) >= 0


def changes(repo: Repo, span: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(repo.mem("changes", span, "--json").stdout)["changes"]
    return found


def test_each_change_names_its_author_and_commit(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one\n- two\n"})
    record_log(repo)
    oid = promote(repo)
    repo.git("config", "user.name", "Bea")
    gone = repo.commit("less", {"MEMORY.md": repo.read("MEMORY.md").replace("- one\n", "")})
    found = {row["op"]: row for row in changes(repo, "HEAD~2..HEAD")}
    assert found["promoted"]["text"] == FACT and found["promoted"]["commit"] == oid
    assert found["removed"]["old_text"] == "one" and found["removed"]["commit"] == gone
    assert found["removed"]["author"] == "Bea <test@example.com>"


def test_what_the_other_side_added_since_is_not_removed_here(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "- one\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("mine", {"MEMORY.md": "- one\n- mine\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("theirs", {"MEMORY.md": "- theirs\n- one\n"})
    assert [(row["op"], row["text"]) for row in changes(repo, "main..topic")] == [("added", "mine")]


def test_changes_for_a_person_show_old_and_new_by_file(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "- The port is 80\n", "memory/n.md": "- x\n", "other.txt": "- no memory\n"})
    repo.commit("next", {"MEMORY.md": "- The port is 81\n", "memory/n.md": "- x\n- y\x1b[2J\n", "other.txt": "- not\n"})
    out = repo.mem("changes", "HEAD~1..HEAD").stdout
    assert "MEMORY.md\n  ~ The port is [-80-]{+81+}  changed by Test" in out
    assert "memory/n.md\n  + y\\x1b[2J" in out and "other.txt" not in out


def test_a_range_that_is_none_is_a_usage_error(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "- one\n"})
    assert repo.mem("changes", "HEAD", check=False).returncode == 2
    assert "no fact changed" in repo.mem("changes", "HEAD..HEAD").stderr


def test_a_fact_that_still_stands_after_its_last_day_expired_within_the_range(repo: Repo) -> None:
    text = "- a <!-- mem until=2026-02-10 -->\n- b <!-- mem until=2026-01-10 -->\n- c <!-- mem until=2026-12-31 -->\n"
    repo.commit("start", {"MEMORY.md": text}, date="2026-02-01T09:00:00+00:00")
    repo.commit("log", {"memory/2026-03-01.md": "# 2026-03-01\n"}, date="2026-03-01T09:00:00+00:00")
    assert [(row["op"], row["text"]) for row in changes(repo, "HEAD~1..HEAD")] == [("expired", "a")]
