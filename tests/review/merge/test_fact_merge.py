"""Merging memory loses nothing that somebody wrote and nobody took out."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.git.merge_file import merge_text
from gitmem.memory import facts
from gitmem.review.merge.fact_merge import merge_memory
from gitmem.review.merge.line_merge import MARK, MergeResult
from tests.harness import Repo

BASE = """# Memory

Read whole into prompts.

## Decisions

- REST webhooks. <!-- mem type=decision importance=0.5 -->
- Port 80.

## Facts

- The archive is kept for 7 years.
"""


def text_merge(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    return merge_text(os.environ, ours, base, theirs, marker=MARK)


def merged(base: str, ours: str, theirs: str, path: str = "MEMORY.md") -> MergeResult:
    return merge_memory(base.encode(), ours.encode(), theirs.encode(), path, text_merge)


def clean(base: str, ours: str, theirs: str, path: str = "MEMORY.md") -> str:
    found = merged(base, ours, theirs, path)
    assert found.conflicts == 0, found.data.decode()
    return found.data.decode()


def test_facts_added_at_one_place_on_both_sides_are_both_kept_in_order() -> None:
    ours = BASE.replace("- REST", "- Ours 1.\n- Ours 2.\n- REST")
    theirs = BASE.replace("- REST", "- Theirs.\n- REST")
    assert clean(BASE, ours, theirs) == BASE.replace("- REST", "- Ours 1.\n- Ours 2.\n- Theirs.\n- REST")


def test_a_deletion_holds_even_next_to_an_addition() -> None:
    ours = BASE.replace("- Port 80.\n", "")
    theirs = BASE.replace("- Port 80.\n", "- Port 80.\n- New.\n")
    assert clean(BASE, ours, theirs) == BASE.replace("- Port 80.\n", "- New.\n")


def test_an_edit_on_one_side_wins_and_a_move_on_the_other_is_kept() -> None:
    line = "- Port 80.\n"
    ours = BASE.replace(line, "").replace("## Facts\n\n", f"## Facts\n\n{line}")
    theirs = BASE.replace("Port 80.", "Port 81.")
    assert clean(BASE, ours, theirs) == ours.replace("Port 80.", "Port 81.")


def test_the_same_fact_edited_on_both_sides_is_a_conflict_with_both_texts() -> None:
    found = merged(BASE, BASE.replace("Port 80.", "Port 81."), BASE.replace("Port 80.", "Port 82."))
    entry = "<<<<<<< ours\n- Port 81.\n||||||| base\n- Port 80.\n=======\n- Port 82.\n>>>>>>> theirs\n"
    assert (found.conflicts, found.data.decode()) == (1, BASE.replace("- Port 80.\n", entry))


def test_edited_here_and_deleted_there_is_a_conflict_in_its_place() -> None:
    found = merged(BASE, BASE.replace("- Port 80.\n", ""), BASE.replace("Port 80.", "Port 82."))
    entry = "<<<<<<< ours\n||||||| base\n- Port 80.\n=======\n- Port 82.\n>>>>>>> theirs\n"
    assert (found.conflicts, found.data.decode()) == (1, BASE.replace("- Port 80.\n", entry))


def test_text_edited_here_and_comment_there_are_joined() -> None:
    ours = BASE.replace("REST webhooks.", "REST webhooks, signed.")
    theirs = BASE.replace("importance=0.5", "importance=0.9 pinned=true")
    line = "- REST webhooks, signed. <!-- mem type=decision importance=0.9 pinned=true -->"
    assert line in clean(BASE, ours, theirs)


def test_one_fact_promoted_on_both_sides_stands_once_with_both_sources() -> None:
    ours = BASE + "- Same. <!-- mem src=memory/a.md#L1 -->\n"
    theirs = BASE.replace("- REST", "- Same. <!-- mem src=memory/b.md#L2 -->\n- REST")
    text = clean(BASE, ours, theirs)
    assert text.count("- Same.") == 1 and "- Same. <!-- mem src=memory/a.md#L1 src=memory/b.md#L2 -->" in text


NESTED = "- Orchard\n  - prune in June\n- Bakery\n"


def test_items_added_below_one_item_on_both_sides_are_both_kept() -> None:
    ours = NESTED.replace("- Bakery", "  - water at night\n- Bakery")
    theirs = NESTED.replace("- Bakery", "  - fence the north side\n- Bakery")
    found = merged(NESTED, ours, theirs)
    assert found.conflicts == 0
    assert found.data.decode() == (
        "- Orchard\n  - prune in June\n  - water at night\n  - fence the north side\n- Bakery\n"
    )


def test_an_item_edited_here_and_one_below_it_there_are_no_conflict() -> None:
    ours, theirs = NESTED.replace("Orchard", "The orchard"), NESTED.replace("June", "July")
    assert merged(NESTED, ours, theirs).data.decode() == NESTED.replace("Orchard", "The orchard").replace(
        "June", "July"
    )


def test_a_conflict_below_an_item_leaves_the_item_out_of_it() -> None:
    found = merged(NESTED, NESTED.replace("June", "July"), NESTED.replace("June", "May"))
    assert found.conflicts == 1
    assert found.data.decode() == (
        "- Orchard\n<<<<<<< ours\n  - prune in July\n||||||| base\n  - prune in June\n=======\n"
        "  - prune in May\n>>>>>>> theirs\n- Bakery\n"
    )


def test_the_same_item_added_on_both_sides_has_what_each_says_below_it() -> None:
    found = merged("", "- Orchard\n  - prune in June\n", "- Orchard\n  - water at night\n")
    assert (found.conflicts, found.data.decode()) == (0, "- Orchard\n  - prune in June\n  - water at night\n")


def test_a_wrapped_fact_edited_here_and_its_comment_there_are_joined() -> None:
    base = "- Refunds above 500 crowns\n  wait. <!-- mem type=rule -->\n"
    ours, theirs = base.replace("wait", "are paid"), base.replace("type=rule", "type=rule pinned=true")
    assert merged(base, ours, theirs).data.decode() == (
        "- Refunds above 500 crowns\n  are paid. <!-- mem type=rule pinned=true -->\n"
    )


def test_the_same_words_below_two_headings_are_merged_apart() -> None:
    base = "## Mill\n\n- Oil is changed in May.\n\n## Press\n\n- Oil is changed in May.\n"
    ours, theirs = base.replace("- Oil is changed in May.\n", "", 1), base + "- Grease it.\n"
    assert clean(base, ours, theirs) == "## Mill\n\n\n## Press\n\n- Oil is changed in May.\n- Grease it.\n"


def test_paragraphs_added_at_one_place_on_both_sides_are_a_conflict_and_not_one_paragraph() -> None:
    base = "# Memory\n\n## Rules\n"
    found = merged(base, base + "\nNever push.\n", base + "\nAlways ask.\n")
    assert found.conflicts == 1 and "=======" in found.data.decode()


def test_until_set_differently_on_both_sides_is_a_conflict() -> None:
    ours, theirs = (BASE.replace("type=decision", f"type=decision until={day}") for day in ("2026-01-01", "2026-02-02"))
    assert merged(BASE, ours, theirs).conflicts == 1


def test_the_same_new_heading_is_made_once_with_the_facts_of_both() -> None:
    ours, theirs = BASE + "\n## Rules\n\n- Ours.\n", BASE + "\n## Rules\n\n- Theirs.\n"
    assert clean(BASE, ours, theirs) == BASE + "\n## Rules\n\n- Ours.\n- Theirs.\n"


def test_different_new_headings_are_both_kept() -> None:
    text = clean(BASE, BASE + "\n## Rules\n\n- Ours.\n", BASE + "\n## Goals\n\n- Theirs.\n")
    assert text == BASE + "\n## Rules\n\n- Ours.\n\n## Goals\n\n- Theirs.\n"


def test_a_section_that_both_sides_began_at_different_places_keeps_the_facts_of_both() -> None:
    ours = BASE + "\n## Rules\n\n- Ours.\n"
    theirs = BASE + "\n## Profile\n\n- Allergic.\n\n## Goals\n\n- Ship.\n\n## Rules\n\n- Theirs.\n- More.\n"
    text = clean(BASE, ours, theirs)
    assert text.startswith(BASE)
    assert sections(text) == {
        **sections(BASE),
        "## Rules": ["- Ours.", "- Theirs.", "- More."],
        "## Profile": ["- Allergic."],
        "## Goals": ["- Ship."],
    }
    assert "## Profile\n\n- Allergic.\n" in text and "## Goals\n\n- Ship.\n" in text


def sections(text: str) -> dict[str, list[str]]:
    """The items of each heading."""
    items: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            items[line] = last = []
        elif line.startswith("-"):
            last.append(line)
    return items


def test_prose_edited_on_both_sides_is_a_text_conflict_and_facts_around_it_still_merge() -> None:
    ours = BASE.replace("Read whole", "Always read whole").replace("- Port 80.\n", "- Port 80.\n- A.\n")
    theirs = BASE.replace("Read whole", "Sometimes read").replace("- Port 80.\n", "- Port 80.\n- B.\n")
    found = merged(BASE, ours, theirs)
    text = found.data.decode()
    assert found.conflicts == 1 and "- A.\n- B.\n" in text and "Always read whole" in text and "Sometimes" in text


def test_two_files_made_independently_merge_without_a_base() -> None:
    assert clean("", "# Memory\n\n- a\n", "# Memory\n\n- b\n") == "# Memory\n\n- a\n- b\n"


def test_logs_keep_what_both_sides_appended_by_time() -> None:
    log = "# 2026-02-05\n\n## 09:00 - start\n\n- up\n"
    ours = log + "\n## 10:00 - ours\n\n- o\n\n## 2:30 PM\n\n- late\n"
    theirs = log + "\n## 10:30 - theirs\n\nprose\n"
    text = clean(log, ours, theirs, "memory/2026-02-05.md")
    assert text == log + "\n## 10:00 - ours\n\n- o\n\n## 10:30 - theirs\n\nprose\n\n## 2:30 PM\n\n- late\n"


def test_a_log_that_two_machines_began_has_one_heading() -> None:
    day = "# 2026-02-05\n\n"
    text = clean("", day + "## 10:00\n\n- o\n", day + "## 09:30\n\n- t\n", "memory/2026-02-05.md")
    assert text == day + "## 09:30\n\n- t\n\n## 10:00\n\n- o\n"
    untimed = clean("", day + "- o\n", day + "- t\n", "memory/2026-02-05.md")
    assert untimed == day + "- o\n- t\n"
    assert clean("", day + "- o\n", day + "## 09:30\n\n- t\n", "memory/2026-02-05.md").count("# 2026") == 1


def test_a_log_line_rewritten_on_both_sides_is_a_conflict() -> None:
    log = "# 2026-02-05\n\n- up\n"
    assert merged(log, log.replace("up", "u1"), log.replace("up", "u2"), "memory/2026-02-05.md").conflicts == 1


LOG = "# 2026-02-05\n\n## 09:00\n\n- The crane is set up.\n- The gate is open.\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merge"),
    [
        # one edits the last line, the other appends beneath it
        (("gate is open", "gate is shut"), ("open.\n", "open.\n- A\n"), LOG.replace("open.\n", "shut.\n- A\n")),
        (
            ("gate is open", "gate is shut"),
            ("open.\n", "open.\n\n## 10:00\n\n- A\n"),
            LOG.replace("open.\n", "shut.\n\n## 10:00\n\n- A\n"),
        ),
        # each edits another one of two neighbours
        (("set up", "taken down"), ("is open", "is shut"), LOG.replace("set up", "taken down").replace("open", "shut")),
        # one puts a line between two, the other edits both or takes one away
        (("up.\n", "up.\n- A\n"), ("is", "was"), LOG.replace("is", "was").replace("up.\n", "up.\n- A\n")),
        (("- The gate is open.\n", ""), ("open.\n", "open.\n- A\n"), LOG.replace("The gate is open.", "A")),
        # both append, and one edits beside it
        (
            ("gate is open.\n", "gate is shut.\n\n## 11:00\n\n- O\n"),
            ("open.\n", "open.\n\n## 10:00\n\n- T\n"),
            LOG.replace("open.\n", "shut.\n\n## 10:00\n\n- T\n\n## 11:00\n\n- O\n"),
        ),
    ],
)
def test_changes_of_different_bullets_of_a_log_are_no_conflict(
    ours: tuple[str, str], theirs: tuple[str, str], merge: str
) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        assert clean(LOG, LOG.replace(*one), LOG.replace(*other), "memory/2026-02-05.md") == merge


def test_both_texts_of_one_bullet_are_marked_and_what_was_appended_stands_beside() -> None:
    ours, theirs = (LOG.replace("open.\n", f"{state}.\n- {state}\n") for state in ("shut", "ajar"))
    found = merged(LOG, ours, theirs, "memory/2026-02-05.md")
    block = "<<<<<<< ours\n- The gate is shut.\n||||||| base\n- The gate is open.\n=======\n- The gate is ajar.\n>>>>>>> theirs\n"
    expected = LOG.replace("- The gate is open.\n", f"{block}- shut\n- ajar\n")
    assert (found.conflicts, found.data.decode()) == (1, expected)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        # a continuation is of its bullet, a line of its paragraph, a line of code of its block
        ("- a\n", "- b\n", "- a\n  more\n"),
        ("one\ntwo\n", "uno\ntwo\n", "one\ndos\n"),
        ("- x\n\n```\none\ntwo\n```\n", "- x\n\n```\nuno\ntwo\n```\n", "- x\n\n```\none\ndos\n```\n"),
        ("```\n- one\n- two\n```\n", "```\n- uno\n- two\n```\n", "```\n- one\n- dos\n```\n"),
        # what was written below a heading that the other side took away would stand below another one
        ("## 09:00\n- a\n## 10:00\n- b\n", "## 09:00\n- a\n", "## 09:00\n- a\n## 10:00\n- b\n- c\n"),
        # the other side's line would become a part of the new bullet
        ("- a\n- b\n", "- a\nprose\n", "- a\n- c\n- b\n"),
    ],
)
def test_changes_of_the_same_unit_of_a_log_are_a_conflict(base: str, ours: str, theirs: str) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        found = merged(base, one, other, "memory/2026-02-05.md")
        assert found.conflicts == 1
        assert {*one.split("\n"), *other.split("\n")} <= set(found.data.decode().split("\n"))


BULLETS = st.lists(st.integers(0, 99), unique=True, min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(BULLETS, st.data())
def test_edits_of_different_bullets_and_what_both_append_always_merge(numbers: list[int], data: st.DataObject) -> None:
    who = [data.draw(st.sampled_from(["", "ours", "theirs"])) for _ in numbers]
    new = {side: data.draw(st.lists(st.integers(0, 99), max_size=3)) for side in ("ours", "theirs")}

    def version(side: str) -> list[str]:
        lines = [
            f"- line {n} of the log{f', {by} says' if by == side else ''}" for n, by in zip(numbers, who, strict=True)
        ]
        return [*lines, *(f"- {side} adds {n}" for n in new.get(side, []))]

    day = "# 2026-02-05\n\n"
    found = clean(*(day + text(version(side)) for side in ("", "ours", "theirs")), "memory/2026-02-05.md")
    edited_by_both = [
        f"- line {n} of the log{f', {by} says' if by else ''}" for n, by in zip(numbers, who, strict=True)
    ]
    added = [line for side in ("ours", "theirs") for line in version(side)[len(numbers) :]]
    assert found == day + text([*edited_by_both, *added])


PIECES = st.sampled_from(
    ["# Memory", "## Decisions", "## 결정", "", "", "prose one", "prose two", "| a | b |"]
    + [f"- fact {c} about {d}" for c in "abcd" for d in ("ports", "days")]
    + [
        "- 결정은 포트 80",
        "- 결정은 포트 81",
        "- x <!-- mem importance=0.3 -->",
        "- x <!-- mem importance=0.8 -->",
        "  below",
    ]
)
LINES = st.lists(PIECES, max_size=10)
EDITS = st.lists(st.tuples(st.integers(0, 10), st.sampled_from(["add", "drop", "set"]), PIECES), max_size=4)


def edited(lines: list[str], edits: list[tuple[int, str, str]]) -> list[str]:
    out = list(lines)
    for at, how, piece in edits:
        at = min(at, len(out))
        if how == "add":
            out.insert(at, piece)
        elif out[at : at + 1]:
            out[at : at + 1] = [] if how == "drop" else [piece]
    return out


def text(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def visible(data: bytes) -> set[str]:
    """Texts without comments: comments are merged key by key."""
    return {line.split(" <!--")[0].strip() for line in data.decode().split("\n") if line.strip()} - {""}


def words(found: MergeResult) -> set[str]:
    return {t for t in visible(found.data) if not t.startswith(("<<<<<<<", "|||||||", "=======", ">>>>>>>"))}


@settings(max_examples=250, deadline=None)
@given(LINES, EDITS, EDITS, st.sampled_from(["MEMORY.md", "memory/2026-02-05.md", "memory/note.md"]))
@example(["- fact a about ports", "- x"], [(1, "drop", "")], [(0, "add", "- fact b about ports")], "MEMORY.md")
def test_any_merge_is_symmetric_loses_nothing_and_stays_a_memory_file(
    lines: list[str], a: list[tuple[int, str, str]], b: list[tuple[int, str, str]], path: str
) -> None:
    base, ours, theirs = text(lines), text(edited(lines, a)), text(edited(lines, b))
    found, other = merged(base, ours, theirs, path), merged(base, theirs, ours, path)
    assert words(found) == words(other)
    assert (found.conflicts == 0) == (other.conflicts == 0)
    was, mine, yours = (visible(t.encode()) for t in (base, ours, theirs))
    assert (mine - was) | (yours - was) <= words(found)
    kept = {t for t in was if base.count(t) <= min(ours.count(t), theirs.count(t))}
    assert kept <= words(found)
    if not found.conflicts:
        assert words(found) <= mine | yours
        assert facts.parse(found.data).data() == found.data
        assert b"<<<<<<<" not in found.data and b"\x1d" not in found.data
        grown = {t for t in was if base.count(t) < max(ours.count(t), theirs.count(t))}
        gone = {t for t in (was - mine) | (was - yours) if t.startswith("- ")} - grown
        assert not words(found) & gone


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_merge_without_an_error(a: bytes, b: bytes, c: bytes) -> None:
    merge_memory(a.replace(b"\0", b""), b.replace(b"\0", b""), c.replace(b"\0", b""), "MEMORY.md", text_merge)


def set_up(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": BASE})
    repo.mem("install")
    for hook in (repo.path / ".git/hooks").iterdir():
        hook.unlink()


def branch_and_merge(repo: Repo, ours: str, theirs: str) -> int:
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("theirs", {"MEMORY.md": theirs})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {"MEMORY.md": ours})
    return repo.run("git", "merge", "-q", "--no-edit", "topic", check=False).returncode


def test_git_merge_uses_the_driver(repo: Repo) -> None:
    set_up(repo)
    code = branch_and_merge(
        repo, BASE.replace("- REST", "- Ours.\n- REST"), BASE.replace("- REST", "- Theirs.\n- REST")
    )
    assert code == 0 and repo.read("MEMORY.md") == BASE.replace("- REST", "- Ours.\n- Theirs.\n- REST")


def test_git_merge_stops_at_a_conflict_of_one_fact(repo: Repo) -> None:
    set_up(repo)
    code = branch_and_merge(repo, BASE.replace("Port 80.", "Port 81."), BASE.replace("Port 80.", "Port 82."))
    assert code == 1 and "<<<<<<< ours\n- Port 81.\n|||||||" in repo.read("MEMORY.md")
    assert repo.git("ls-files", "-u").count("MEMORY.md") == 3


@pytest.mark.parametrize("name", ["base", "ours", "theirs"])
def test_a_version_that_cannot_be_read_is_exit_3_and_leaves_ours(repo: Repo, name: str) -> None:
    for version in ("base", "ours", "theirs"):
        repo.write(version, "- a\n")
    (repo.path / name).unlink()
    assert repo.mem("merge-driver", "base", "ours", "theirs", "7", "MEMORY.md", check=False).returncode == 3


def test_a_full_disk_leaves_our_version_whole(repo: Repo) -> None:
    ours = BASE + "".join(f"- Ours {n}.\n" for n in range(40))
    for name, text in (("base", BASE), ("ours", ours), ("theirs", BASE + "".join(f"- His {n}.\n" for n in range(40)))):
        repo.write(name, text)
    limit = len(ours.encode()) + 20  # bytes that a file may have: each version is below it, what they make together not
    done = subprocess.run(
        [sys.executable, "-B", "-m", "gitmem", "merge-driver", "base", "ours", "theirs", "7", "MEMORY.md"],
        cwd=repo.path, capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 3 and repo.read("ours") == ours
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "base", "ours", "theirs"]


def test_install_sets_the_driver_up_and_uninstall_leaves_no_trace(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": BASE})
    before = (repo.path / ".git/config").read_text()
    assert "merge driver" in repo.mem("install", "--dry-run").stdout
    assert (repo.path / ".git/config").read_text() == before
    repo.mem("install")
    assert repo.git("check-attr", "merge", "MEMORY.md", "memory/a/b.md", "x.md").splitlines() == [
        "MEMORY.md: merge: gitmem", "memory/a/b.md: merge: gitmem", "x.md: merge: unspecified",
    ]  # fmt: skip
    assert "merge driver" not in repo.mem("install").stdout
    repo.mem("uninstall")
    assert (repo.path / ".git/config").read_text() == before
    assert not (repo.path / ".git/info/attributes").exists()


def test_attributes_that_are_there_are_kept(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": BASE})
    repo.write(".git/info/attributes", "*.bin binary")
    repo.mem("install")
    repo.mem("uninstall")
    assert repo.read(".git/info/attributes") == "*.bin binary\n"


SETTINGS = '[memory]\ndaily = ["Daily notes/YYYY-MM-DD.md", "일지/YYYY.MM.DD.md", "YYYY_MM_DD.md"]\n'


def test_daily_notes_of_other_programs_merge_as_logs() -> None:
    daily = ("journals/YYYY_MM_DD.md",)
    ours, theirs = (f"- 아침 회의\n- {who} 적었다\n\t- 자세히\n" for who in ("노트북에서", "전화에서"))
    found = merge_memory(b"- \xec\x95\x84\xec\xb9\xa8 \xed\x9a\x8c\xec\x9d\x98\n", ours.encode(), theirs.encode(),
                  "journals/2026_02_05.md", text_merge, None, daily)  # fmt: skip
    assert found.conflicts == 0
    assert found.data.decode() == "- 아침 회의\n- 노트북에서 적었다\n\t- 자세히\n- 전화에서 적었다\n\t- 자세히\n"


@pytest.mark.parametrize("note", ["Daily notes/2026-02-05.md", "일지/2026.02.05.md", "2026_02_05.md"])
def test_git_merge_uses_the_driver_for_daily_notes_of_other_programs(repo: Repo, note: str) -> None:
    repo.commit("start", {"MEMORY.md": BASE, ".gitmem.toml": SETTINGS, note: "# 목요일\n\nFirst.\n"})
    repo.mem("install")
    below = f"below/{note}"
    assert repo.git("-c", "core.quotePath=false", "check-attr", "merge", note, below, "Daily notes/x.md").splitlines() == [
        f"{note}: merge: gitmem", f"{below}: merge: unspecified", "Daily notes/x.md: merge: unspecified",
    ]  # fmt: skip
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("theirs", {note: "# 목요일\n\nFirst.\n전화에서 적었다.\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {note: "# 목요일\n\nFirst.\n노트북에서 적었다.\n"})
    repo.git("merge", "-q", "--no-edit", "topic")
    assert repo.read(note) == "# 목요일\n\nFirst.\n노트북에서 적었다.\n전화에서 적었다.\n"
    repo.mem("uninstall")
    assert not (repo.path / ".git/info/attributes").exists()
