"""A context says which statements are a tool's or the web's, and on which day a relative time was said."""

from __future__ import annotations

import pytest

from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part, with_pieces
from gitmem.context.pieces import pieces
from gitmem.context.rendering import marks_before, render
from gitmem.context.said_marks import with_said_marks
from gitmem.memory.document import parse


def marked(text: str, path: str = "MEMORY.md") -> Part:
    document = parse(text.encode(), path)
    part = with_pieces(Part(Layer.MEMORY, "", "", 0.5, path), pieces(document))
    (made,) = with_said_marks([part], lambda _: document)
    return made


@pytest.mark.parametrize(
    ("comment", "mark"),
    [
        ("origin=web", "[from the web] "),
        ("origin=tool", "[from a tool] "),
        ("origin=user", ""),
        ("type=fact", ""),
        ("origin=rumour", "[from the web] "),
    ],
)
def test_a_statement_of_a_tool_or_the_web_says_so(comment: str, mark: str) -> None:
    part = marked(f"# Memory\n\n- The job runs at 03:00. <!-- mem {comment} -->\n")
    assert marks_before(part) == mark
    assert f"- {mark}The job runs at 03:00." in render([part], {})


def test_the_origin_of_a_note_holds_for_all_its_statements() -> None:
    part = marked("---\norigin: web\n---\n# Page\n\n- One.\n- Two.\n", "memory/page.md")
    assert [words for _, words in part.said] == ["from the web", "from the web"]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("We will migrate next month. <!-- mem from=2026-11-20 -->", "[said 2026-11-20] "),
        ("오늘부터 백업은 90일 보관한다. <!-- mem src=memory/2026-11-20.md#L5@38b192ee3cca -->", "[said 2026-11-20] "),
        ("We will migrate next month. <!-- mem from=2026-11-20 origin=web -->", "[from the web, said 2026-11-20] "),
        ("We will migrate next month (said 2026-11-20). <!-- mem from=2026-11-20 -->", ""),
        ("We will migrate next month.", ""),
        ("We migrate in May. <!-- mem from=2026-11-20 -->", ""),
    ],
)
def test_a_relative_time_has_the_day_on_which_it_was_said(text: str, mark: str) -> None:
    assert marks_before(marked(f"# Memory\n\n- {text}\n")) == mark


def test_a_log_names_its_day_already() -> None:
    text = "# 2026-11-20\n\n## 10:00 - work\n\n- We will migrate next month. <!-- mem from=2026-11-20 -->\n"
    assert not marked(text, "memory/2026-11-20.md").said
