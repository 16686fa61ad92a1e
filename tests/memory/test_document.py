"""Any bytes can be parsed as a document with exact lines."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.memory import facts
from gitmem.memory.document import Fault, parse, parse_lines_only, structured
from gitmem.memory.outline import _exact, _plain
from gitmem.paths import MAX_MEMORY_FILE_BYTES

LINES = [
    "", "text", "# h", "## h2 ##", "#no", "#", "####### x", "- item", "* it", "1. one", "  - sub", "    code", "```",
    "```py", "````", "~~~", "   ```", "| a | b |", "|---|---|", "| c |", "|-|", "a | b", "--- | ---", "---", "===",
    "- - x", "> q", "<div>", "\ttab", "-\tx", "  text", "- # h", "- ```", "   # h", "***", "-", "1)", "| a \\| b |",
    "`x`", "``` a`b", "# h #", "#\tx", "##", "   ", " ", "=", "a\\", "- [ ] todo", "|:--|--:|", "\u3000", "\xa0",
    "-----", "- ---", "# #", "## ##", "# a#", "      - deep", "|", "||", "[a]: /url", "&amp; x", "<!-- c -->",
    "- 1. a", "- > q", "- - # h", "- > ```", "-    ```", "-     x", "1. - x", "- 1. ---", "- ===", "- > ---", "+ - | a |",
    "> **b** c", "> [a]: /url", "> [x](y)", "> `c`", "> *", "> * x",
    "> a | b", "> - x", "> ```", ">q", "> ===", "> # h", "<!-- open", "-->", "<!-->", "<!-- a --> b", "<!-- a -- b -->",
]  # fmt: skip


@settings(max_examples=3000, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=9))
def test_our_own_pass_over_plain_lines_finds_what_markdown_it_finds(lines: list[str]) -> None:
    plain = _plain(lines, 0)
    if plain is not None:
        assert plain == _exact(lines, 0)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_parse_and_every_span_lies_inside(data: bytes) -> None:
    document = parse(data, "memory/x.md")
    end = len(document.lines)
    for first, last in (*document.fences, *document.tables, *((h.line, h.last) for h in document.headings)):
        assert 1 <= first <= last <= end
    assert all(1 <= fact.line <= end for fact in document.facts)


def faults(data: bytes) -> list[Fault]:
    return [problem.fault for problem in parse(data, "n.md").problems]


def test_lines_are_those_of_git() -> None:
    assert parse(b"a\nb\n").lines == ("a", "b")
    assert parse(b"a\r\nb").lines == ("a", "b")
    assert parse(b"a\n\n").lines == ("a", "")
    assert parse("a\u2028b\x0bc\n".encode()).lines == ("a\u2028b\x0bc",)
    assert parse(b"").lines == ()


def test_invalid_utf8_and_nul_are_reported_and_not_fatal() -> None:
    document = parse(b"one\ntwo \xff\nthree\0\n")
    assert [(p.fault, p.line) for p in document.problems] == [(Fault.UTF8, 2), (Fault.NUL, 3)]
    assert document.lines == ("one", "two \ufffd", "three\ufffd")


def test_a_cp949_or_utf16_file_is_named_with_the_command_that_converts_it() -> None:
    korean = parse("- 결정: 배포는 금요일\n".encode("cp949"), "memory/옛.md")
    assert korean.problems[0].fault is Fault.CP949 and "iconv -f CP949" in korean.problems[0].hint
    assert korean.skipped and not korean.lines
    odd = parse("- 결정: 배포는 금요일\n".encode("cp949"), "memory/a'; reboot '.md").problems[0].hint
    assert shlex.split(odd.partition(" > ")[0])[-1] == "memory/a'; reboot '.md"
    for codec in ("utf-16", "utf-16-le", "utf-16-be"):
        assert faults("# heading and text\n".encode(codec)) == [Fault.UTF16]


def test_a_pointer_of_git_lfs_is_no_text_and_a_note_about_one_is() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
    document = parse(pointer, "memory/big.md")
    assert document.problems[0].fault is Fault.LFS and document.skipped and not document.lines
    assert document.problems[0].hint == "git lfs pull --include memory/big.md"
    assert parse(pointer.replace(b"\n", b"\r\n")).skipped
    for note in (
        b"# Pointers\n\n" + pointer,
        pointer + b"- a note\n" * 200,
        pointer.splitlines()[0] + b" begins one\n",
    ):
        assert parse(note).lines and not parse(note).skipped


def test_a_file_over_one_mebibyte_is_skipped_with_the_reason() -> None:
    assert parse(b"a" * (MAX_MEMORY_FILE_BYTES + 1)).skipped == "larger than 1 MiB (1.0 MiB)"
    assert not parse(b"a" * MAX_MEMORY_FILE_BYTES).skipped


def test_byte_order_mark_and_lone_carriage_returns_are_problems() -> None:
    assert faults(b"\xef\xbb\xbf# a\n") == [Fault.BOM]
    assert parse(b"\xef\xbb\xbf# a\n").headings[0].text == "a"
    assert faults(b"a\rb\r") == [Fault.CR]


def test_front_matter_is_strings_and_lists_of_strings() -> None:
    document = parse(b"---\ntitle: A note\ntags: [a, b]\nuntil: 2026-03-01\naliases:\n  - one\n  - two\n---\n# h\n")
    assert document.front == 8
    assert document.front_matter == {
        "title": "A note", "tags": ("a", "b"), "until": "2026-03-01", "aliases": ("one", "two"),
    }  # fmt: skip
    quoted = parse(b'---\ntitle: "a: b"\nflag: yes\nx: {a: 1}\n---\n')
    assert quoted.front_matter == {"title": "a: b", "flag": "yes"}
    assert parse(b"---\nnot closed\n").front == 0


def test_front_matter_bombs_are_refused_and_bounded() -> None:
    bomb = b"---\na: &a [x, x]\nb: [*a, *a]\n---\ntext\n"
    for data in (
        bomb,
        b"---\nx: !!python/object/apply:os.system ['true']\n---\n",
        b"---\na: 1\na: 2\n---\n",
        b"---\nx: '" + b"y" * 100_000 + b"'\n---\n",
        b"---\n" + b"[" * 20_000 + b"\n---\n",
        b"---\n" + b"[\n" * 20_000 + b"\n---\n",
        b"---\nx: " + b"- " * 20_000 + b"\n---\n",
        b"---\n- a\n- b\n---\n",
        b"---\nx: 'open\n---\n",
    ):
        document = parse(data)
        assert [p.fault for p in document.problems] == [Fault.FRONT], data[:60]
        assert document.front and not document.front_matter


def test_headings_fences_and_tables_have_exact_lines() -> None:
    document = parse(
        b"# One #\n\ntext\n\nTwo\n---\n\n```py\n# no heading\n\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> # quoted\n"
    )
    assert [(h.line, h.last, h.level, h.text) for h in document.headings] == [
        (1, 1, 1, "One"), (5, 6, 2, "Two"), (17, 17, 1, "quoted"),
    ]  # fmt: skip
    assert document.fences == ((8, 11),)
    assert document.tables == ((13, 15),)


def test_facts_are_the_statements_with_their_keys() -> None:
    document = parse(
        b"# Memory\n## Decisions\n- REST webhooks <!-- mem type=decision src=a.md#L1-L2@1a2b -->\n  more\n"
        b"```\n- not one\n```\n* Second\n"
    )
    assert [(f.text, f.line, f.heading) for f in document.facts] == [
        ("REST webhooks", 3, "Decisions"), ("more", 4, "Decisions"), ("``` - not one ```", 5, "Decisions"),
        ("Second", 8, "Decisions"),
    ]  # fmt: skip
    assert document.facts[0].get("type") == "decision"


def test_a_bullet_inside_a_comment_is_no_fact_whoever_reads_it() -> None:
    data = (
        b"# Memory\n\n<!--\n- hidden\n-->\n\n- seen\n\n <!-- left of the text of the fact\n- hidden too\n-->\n- last\n"
    )
    assert [fact.text for fact in parse(data).facts] == ["seen", "last"]
    assert [fact.text for fact in facts.parse(data).facts] == ["seen", "last"]


def test_a_ruler_at_the_top_that_nothing_closes_hides_no_fact() -> None:
    data = b"---\n\n- seen\n"
    assert [fact.text for fact in facts.parse(data).facts] == ["seen"]
    assert parse(data).front == 0


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*LINES, "- f <!-- mem type=rule -->", "  <!-- in", " <!-- left", "..."]), max_size=12))
def test_a_document_has_the_facts_that_the_parser_of_facts_finds(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    assert list(parse(data).facts) == facts.parse(data).facts


def test_hostile_shapes_take_bounded_work() -> None:
    for data in (
        b">" * 100_000,
        b"> " * 50_000 + b"x",
        b"[" * 100_000,
        b"#\n" * 100_000,
        b"- " * 100_000,
        b"a" * 1_000_000,
    ):
        document = parse(data)
        assert document.lines
    assert len(parse(b"# h\n" * 100_000).headings) == 100_000


def test_a_glance_has_lines_and_front_matter_and_structured_what_is_nested() -> None:
    data = b'---\npaths: ["src/**", \'a b\', plain]\nname: "x: y"\n---\n# Title\n\n- one\n'
    seen, whole = parse_lines_only(data, "a.md"), parse(data, "a.md")
    assert (seen.lines, seen.front, seen.front_matter) == (whole.lines, whole.front, whole.front_matter)
    assert seen.front_matter == {"paths": ("src/**", "a b", "plain"), "name": "x: y"} and not seen.headings
    nested = parse(b"---\na: {b: [1, {c: d}]}\nf: [x]\n---\n")
    assert structured(nested) == {"a": {"b": ["1", {"c": "d"}]}, "f": ["x"]}
    assert structured(parse(b"---\na: &x [*x]\n---\n")) == {} == structured(parse(b"no front matter\n"))
