"""Trailers are read as Git reads them; provenance values survive any path."""

from __future__ import annotations

import subprocess
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.git.objects import Span
from gitmem.provenance.trailers import (
    SOURCE,
    CommitRecord,
    Link,
    append_trailers,
    block_with,
    links,
    memory_trailers,
    message_of_line,
    parse,
    parse_lenient,
    parse_link,
    record_trailers,
    render_link,
    render_trailers,
    with_record,
)

HASH = "ab" * 32
BLOB = "1a2b3c4d5e6f"


def git_says(message: str) -> list[tuple[str, str]]:
    # Git 2.39 never returns from `--parse` without --no-divider when a scissors line follows `---`: hence the limit.
    command = ["git", "interpret-trailers", "--parse", "--no-divider"]
    done = subprocess.run(command, input=message.encode(), capture_output=True, check=True, timeout=10)
    return [(key, value) for key, value in (line.split(": ", 1) for line in done.stdout.decode().split("\n")[:-1])]


PIECES = st.sampled_from(
    [
        "Subject",
        "",
        "",
        " ",
        "\t",
        "prose, not a trailer",
        "한국어 문장입니다",
        "Memory-Agent: claude",
        "memory-agent:codex",
        "Memory-Agent : spaced",
        "Memory Agent: two words",
        "Memory-Source: memory/a.md#L1-L2@1a2b3c4d5e6f -> MEMORY.md sha256:00",
        "Empty:",
        "키: 값",
        ": nothing",
        "a_b: underscore",
        "see: http://x.example/",
        "http://x.example/",
        "  continued here",
        "\tcontinued",
        " indented: not a key",
        "# a comment",
        "#",
        "Signed-off-by: A <a@example.com>",
        "(cherry picked from commit 0000000000000000000000000000000000000000)",
        "Conflicts:",
        "\tMEMORY.md",
        "---",
        "--- a/x",
        "# ------------------------ >8 ------------------------",
        "- bullet",
        "Key: value\r",
        "Key:\x0bvalue \x0c",
        "Key: nbsp\u00a0 ",
    ]
)
MESSAGES = st.lists(PIECES, max_size=14).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(MESSAGES)
@example("s\n\na: 1\n b\n  c\n\nA: 2\n b\n")
@example("# c\na: b\n\nx: y\n")
@example("x: y\n")
@example("\n\nx: y\n\n\n# c\n")
@example("s\n\nx: y\nConflicts:\n\tMEMORY.md\n")
@example("s\n\nSigned-off-by: A <a@example.com>\nprose\nprose\nprose\n")
@example("s\n\nSigned-off-by: A <a@example.com>\nprose\nprose\nprose\nprose\n")
@example("s\n\nSigned-off-by: A <a@example.com>\nprose\n continued\n continued\n")
@example("s\n\nSigned-off-by: A <a@example.com>\n# c\n in\n in\n in\n in\n")
def test_parse_is_what_interpret_trailers_says(message: str) -> None:
    assert parse(message) == git_says(message)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80))
def test_parse_of_any_text_is_what_interpret_trailers_says(message: str) -> None:
    assert parse(message) == git_says(message)


def test_every_repeated_key_is_kept() -> None:
    assert parse("s\n\nMemory-Source: a\nMemory-Source: b\n") == [("Memory-Source", "a"), ("Memory-Source", "b")]


SQUASHED = f"""Squashed commit of the following:

commit 1111111111111111111111111111111111111111
Author: A <a@example.com>

    memory: promote 1 fact from 2026-02-05

    Memory-Source: memory/2026-02-05.md#L3-L3@1a2b3c4d5e6f -> MEMORY.md sha256:{HASH}
    Memory-Agent: codex

commit 2222222222222222222222222222222222222222

    another
"""


def test_a_squashed_body_still_tells_its_trailers() -> None:
    assert parse(SQUASHED) == []
    assert ("Memory-Agent", "codex") in parse_lenient(SQUASHED)
    assert [key for key, _ in memory_trailers(SQUASHED)] == ["Memory-Source", "Memory-Agent"]


def test_a_squash_title_of_a_forge_with_bullets_still_tells_its_trailers() -> None:
    body = f"Promote (#4)\n\n* memory: promote\n\n* Memory-Agent: codex\n\n- Memory-Rejected: sha256:{HASH}\n\nprose."
    assert memory_trailers(body) == [("Memory-Agent", "codex"), ("Memory-Rejected", f"sha256:{HASH}")]


def test_the_subject_is_never_a_trailer() -> None:
    assert parse_lenient("Memory-Agent: codex") == []


def test_render_puts_one_line_each_and_git_reads_it_back() -> None:
    rows = [("Memory-Agent", "codex"), ("Memory-Reason", "two\nlines  here"), ("Memory-Agent", "b")]
    message = append_trailers("subject\n\nbody\n", rows)
    expected = [("Memory-Agent", "codex"), ("Memory-Reason", "two lines here"), ("Memory-Agent", "b")]
    assert parse(message) == git_says(message) == expected


def test_append_continues_a_block_that_is_there() -> None:
    message = append_trailers("s\n\nSigned-off-by: A <a@example.com>\n", [("Memory-Agent", "x")])
    assert message == "s\n\nSigned-off-by: A <a@example.com>\nMemory-Agent: x\n"
    assert append_trailers("s", [("Memory-Agent", "x")]) == "s\n\nMemory-Agent: x\n"


def test_a_key_git_would_not_read_is_refused() -> None:
    with pytest.raises(ValueError):
        render_trailers([("Memory Agent", "x")])


def test_the_documented_value_is_read_and_written() -> None:
    value = f"memory/2026-02-05.md#L12-L14@{BLOB} -> MEMORY.md sha256:{HASH}"
    link = Link(Span("memory/2026-02-05.md", 12, 14, BLOB), "MEMORY.md", HASH)
    assert parse_link(value) == link
    assert render_link(link) == value
    assert parse_link(f"sha256:{HASH}") == Link(None, "", HASH)


@pytest.mark.parametrize(
    "value",
    ["", "x", f"memory/a.md#L0-L2 -> M sha256:{HASH}", f"a.md#L3-L2@{BLOB} -> M sha256:{HASH}", f"a b#L1@{BLOB}"],
)
def test_what_is_not_a_link_is_none(value: str) -> None:
    assert parse_link(value) is None


PATHS = st.text(min_size=1, max_size=30).filter(lambda path: "\0" not in path) | st.binary(min_size=1).map(
    lambda raw: raw.replace(b"\0", b"x").decode("utf-8", "surrogateescape")
)


@given(PATHS, st.integers(1, 10**8), st.integers(0, 99))
@example("memory/#L1@a -> b sha256:%20--.md", 1, 1)
@example("-rf.md", 1, 0)
def test_any_path_goes_through_a_trailer_and_comes_back(path: str, start: int, more: int) -> None:
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return  # not a name any file can have
    link = Link(Span(path, start, start + more, "1a2b3c4d5e6f" * 3), path, HASH)
    message = append_trailers("s", [("Memory-Source", render_link(link))])
    assert [parse_link(value) for _, value in parse(message)] == [link]


def test_korean_file_names_stay_readable() -> None:
    link = Link(Span("memory/회의록 2.md", 1, 2, BLOB), "MEMORY.md", HASH)
    assert render_link(link) == f"memory/회의록%202.md#L1-L2@{BLOB} -> MEMORY.md sha256:{HASH}"


def test_the_block_of_a_source_is_gits_own_or_the_run_of_lines_a_squash_left_of_it() -> None:
    own = f"subject\n\nMemory-Model: rules/1\n{SOURCE}: a.md#L1 -> MEMORY.md sha256:aa\n"
    assert block_with(own, SOURCE, "sha256:aa") == parse(own)
    squash = f"{own}\n* second\n\nMemory-Model: gguf:x\n{SOURCE}: b.md#L2 -> MEMORY.md sha256:bb\n\nlast words\n"
    assert block_with(squash, SOURCE, "sha256:aa")[0] == ("Memory-Model", "rules/1")
    assert block_with(squash, SOURCE, "sha256:bb")[0] == ("Memory-Model", "gguf:x")
    assert block_with(squash, SOURCE, "sha256:cc") == []


def test_a_block_that_begins_right_below_the_subject_is_found() -> None:
    assert block_with("subject\nMemory-Source: the-hash\nMemory-Model: rules\n\nmore text\n\nlast words\n", SOURCE, "the-hash") == [
        ("Memory-Source", "the-hash"), ("Memory-Model", "rules"),
    ]  # fmt: skip


def test_what_stands_far_behind_a_squashs_bullet_is_a_trailer() -> None:
    assert parse_lenient("subject\n\n*   Memory-Model: rules\n") == [("Memory-Model", "rules")]


def test_a_nul_in_a_value_is_a_space() -> None:
    assert render_trailers([("Memory-Reason", "one\0two")]) == "Memory-Reason: one two\n"


def test_signs_of_a_link_within_a_path_are_escaped() -> None:
    link = Link(Span("memory/a@b#1.md", 1, 2, "c" * 40), "memory/x@y#2.md", "d" * 64)
    value = render_link(link)
    assert value.count("@") == 1 and value.count("#") == 1
    assert parse_link(value) == link


def test_a_link_is_written_in_one_form_for_each_of_its_parts() -> None:
    span = Span("memory/2026-02-05.md", 3, 4)
    written = {
        f"memory/2026-02-05.md#L3-L4@{BLOB} -> MEMORY.md sha256:{HASH}": Link(
            span._replace(blob=BLOB), "MEMORY.md", HASH
        ),
        f"memory/2026-02-05.md#L3-L4 -> MEMORY.md sha256:{HASH}": Link(span, "MEMORY.md", HASH),
        f"memory/2026-02-05.md#L3-L4 -> sha256:{HASH}": Link(span, "", HASH),
        f"MEMORY.md sha256:{HASH}": Link(None, "MEMORY.md", HASH),
        f"sha256:{HASH}": Link(None, "", HASH),
    }
    assert [render_link(link) for link in written.values()] == list(written)
    assert [parse_link(value) for value in written] == list(written.values())
    rows = [("Memory-Source", value) for value in written]
    assert links([*rows, ("Memory-Source", "none"), ("Memory-Rejected", next(iter(written)))], SOURCE) == [
        *written.values()
    ]


def test_a_comment_in_a_block_is_no_trailer() -> None:
    message = "s\n\nKey: v\n#Note: x\n#: y\n"
    assert parse(message) == git_says(message) == [("Key", "v")]


def test_nothing_to_append_leaves_the_message_with_one_end_and_a_row_may_have_no_value() -> None:
    assert append_trailers("subject\n\nbody\n\n", []) == "subject\n\nbody\n"
    assert render_trailers([("Memory-Reason", " \n")]) == "Memory-Reason:\n"
    assert append_trailers("subject\n\nKey: v", [("Key", "w")]) == "subject\n\nKey: v\nKey: w\n"


def test_an_agents_row_and_message() -> None:
    assert record_trailers(CommitRecord()) == [] and message_of_line("x" * 70, "") == f"memory: {'x' * 60}\n"
    assert memory_trailers(message_of_line("Deploys happen before 11.", "coder")) == [("Memory-Agent", "coder")]


LINK = Link(Span("memory/a b.md", 1, 2, "1" * 40), "MEMORY.md", "0" * 64)
EVERYTHING = CommitRecord(
    rejected=(LINK,), sources=(LINK, LINK), confirmed=("0" * 12 + " @ " + "1" * 12,), reverted="agent:coder", model="rules/1", agent="coder", reason="why",
    transcripts=("s sha256:0 1..2",), taken_over="memory/agent@" + "3" * 40, cursor="2" * 40, rewrite="r", reviewer="Ada <a@example.com>",
)  # fmt: skip


def test_each_thing_recorded_is_a_trailer_of_its_own_that_git_reads_back() -> None:
    message = with_record("subject", EVERYTHING)
    assert all(getattr(EVERYTHING, field.name) for field in fields(CommitRecord))
    assert git_says(message) == parse(message) == record_trailers(EVERYTHING)
    assert len(parse(message)) == len(fields(CommitRecord)) + 1
    assert links(record_trailers(EVERYTHING), "Memory-Source") == [LINK, LINK]


def test_the_table_of_trailers_has_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs/provenance.md").read_text(encoding="utf-8")
    table = page.split("\n## Trailers\n")[1].split("\n## ")[0]
    assert [key for key, _ in record_trailers(EVERYTHING) if f"`{key}`" not in table] == []


@pytest.mark.parametrize(
    "below",
    [
        "A: 1\n  more\nB: 2\n",
        "Key X: v\n",
        "K : v\n",
        "Key: XvX\n",
        "Key: v\nXoo: w\n",
        "A: b\n  \n",
        "A: b\n \n\n",
        "A: b\n# note\nB: d\n",
        "# note\nA: b\n",
        "A: b\n\n\tfoo\n",
        "A: b\n\nConflicts:\n\tx\n",
        "A: b\n\nConflicts:\n\tx\nmore\n",
        "A: b\n\nConflicts:\n\tx\nmore: c\n\n\tfoo\n",
        "A: b\nSigned-off-by: x\n" + "prose\n" * 6,
        "A: b\nSigned-off-by: x\n" + "prose\n" * 7,
    ],
)
def test_an_odd_end_of_a_message_is_read_as_git_reads_it(below: str) -> None:
    assert parse(f"subject\n\n{below}") == git_says(f"subject\n\n{below}")
