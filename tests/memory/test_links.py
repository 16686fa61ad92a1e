"""Find and rewrite the links of Markdown files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.memory.links import Linkable, relinked

THERE = {"img/a.png", "img/b c.png", "x/d.png", "n(1).png"}


def test_every_way_to_show_a_file_is_seen() -> None:
    text = "![a](/img/a.png) [b](<img/b c.png>) ![[d.png|200]] ![n](n(1).png) [w](https://x.example/img/a.png) #[[z]]"
    there = Linkable(THERE)
    assert there.linked(text, "note.md") == THERE
    assert there.linked("![[x/d.png]] ![[y/d.png]]", "note.md") == {"x/d.png"}
    assert there.linked("![](../img/a.png)", "sub/note.md") == {"img/a.png"}
    assert there.linked("![](../../img/a.png) [](#a) [](mailto:a@b.c)", "sub/note.md") == set()


def test_a_link_is_changed_only_where_it_would_lead_elsewhere() -> None:
    moved = {"a.md": "memory/a.md", "b c.md": "memory/b c.md", "MEMORY.md": "MEMORY.md"}
    assert (
        relinked("[b](b%20c.md#x) [m](MEMORY.md) [a](./a.md)", "a.md", moved)
        == "[b](b%20c.md#x) [m](../MEMORY.md) [a](./a.md)"
    )
    assert (
        relinked('[b](b%20c.md#x) [b](<b c.md> "t")', "MEMORY.md", moved)
        == '[b](memory/b%20c.md#x) [b](<memory/b c.md> "t")'
    )
    assert relinked('<img src="a.md">', "MEMORY.md", moved) == '<img src="memory/a.md">'


@settings(deadline=None)
@given(st.text(alphabet="[]()<>!#ab/.md \n\"'=src:%20", max_size=120))
def test_text_without_a_link_to_what_moved_stays_as_it_is(text: str) -> None:
    assert relinked(text, "note.md", {}) == text


def test_a_file_whose_name_begins_with_two_dots_is_no_path_outside() -> None:
    assert Linkable({"..notes.md"}).linked("[n](..notes.md)", "note.md") == {"..notes.md"}
    assert Linkable({"..old/a.md"}).linked("[a](../..old/a.md)", "sub/note.md") == {"..old/a.md"}
    assert relinked("[n](..notes.md)", "note.md", {"..notes.md": "memory/..notes.md"}) == "[n](memory/..notes.md)"
    assert Linkable({"..", "../a.md"}).linked("[a](..) [a](../a.md)", "note.md") == set()


def test_quotation_marks_are_part_of_a_name_that_is_in_none() -> None:
    assert Linkable({"'a'.md"}).linked("[a]('a'.md)", "note.md") == {"'a'.md"}


def test_the_path_alone_changes_in_a_link_whose_fragment_repeats_it() -> None:
    moved = {"a.md": "new folder/a.md"}
    assert relinked("[a]: a.md#a.md 'a.md'", "note.md", moved) == "[a]: new%20folder/a.md#a.md 'a.md'"
    assert relinked("[a](</a.md?a.md>)", "note.md", moved) == "[a](<new folder/a.md?a.md>)"
    assert relinked("<a href='a.md'>", "note.md", moved) == "<a href='new folder/a.md'>"


FORMS = ("[a]({})", "[a](<{}>)", "[a]: {}", "[a]: <{}>", '<img src="{}">', "<a href='{}'>")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["b(1.md", "b)1.md", "b(1)(2).md", "b#1.md", "b?.md", "b%41.md", "b <c>.md", '"b\' c".md']
)
def test_a_link_leads_to_a_moved_file_whatever_its_new_name(form: str, name: str) -> None:
    text = relinked(form.format("a.md"), "note.md", {"a.md": f"memory/{name}"})
    assert Linkable({f"memory/{name}"}).linked(text, "note.md") == {f"memory/{name}"}, text


def test_an_escaped_parenthesis_is_part_of_a_name() -> None:
    text = r"[a](b\(1.md) [b](b\(2\).md#x) [c](b(3).md)"
    names = {"b(1.md", "b(2).md", "b(3).md"}
    assert Linkable(names).linked(text, "note.md") == names
    assert (
        relinked(text, "note.md", {name: f"memory/{name}" for name in names})
        == "[a](memory/b%281.md) [b](memory/b(2).md#x) [c](memory/b(3).md)"
    )
