"""A small monorepo: a context for a file has what holds for its folder first, then its parents', and no other's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from gitmem.context.assembly import Context, assemble
from gitmem.context.context_request import ContextRequest, Scope
from gitmem.context.layers import Recalled, RecalledHit
from gitmem.memory.document import Document, parse

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)
MEMORY = """\
# Memory

- Test runner: make check
- Commits are signed.
- Packages share one lock file. <!-- mem scope=packages -->
- Test runner: vitest <!-- mem scope=packages/web -->
- Ports of the api start at 7000. <!-- mem scope=packages/api pinned=true -->
- The 결제 module rounds to the won. <!-- mem scope=패키지/결제 -->
  - half up
"""
FILES = {
    "MEMORY.md": MEMORY,
    "packages/api/MEMORY.md": "# API\n\n- Test runner: go test ./...\n- Handlers never panic.\n",
    "packages/web/memory/css.md": "# CSS\n\n- Colours are tokens.\n",
    "memory/queue.md": "---\nscope: packages/api\n---\n# Queue\n\n- The queue has three workers.\n",
}
HITS = [
    RecalledHit("packages/web/memory/css.md", 3, 3, "CSS", "- Colours are tokens.", 0.9),
    RecalledHit("memory/queue.md", 6, 6, "Queue", "- The queue has three workers.", 0.9),
]


def context(files: Mapping[str, str] = FILES, whole: tuple[str, ...] = (), **given: object) -> Context:
    def read(path: str) -> Document | None:
        return parse(files[path].encode(), path) if path in files else None

    scope = Scope("project", tuple(files), read, lambda _: Recalled(HITS), commit="a" * 40, own_folders=whole)
    return assemble([scope], ContextRequest(**given), NOW)  # type: ignore[arg-type]


def test_a_file_has_the_facts_of_its_folder_and_its_parents_and_no_others() -> None:
    done = context(subjects=("packages/api/handlers/pay.go",))
    for text in (
        "go test ./...",
        "Handlers never panic",
        "one lock file",
        "Commits are signed",
        "start at 7000",
        "three workers",
    ):
        assert text in done.text
    for text in ("vitest", "make check", "Colours", "rounds to the won", "half up"):
        assert text not in done.text
    assert "the packages/api scope says it" in {why for part, why in done.dropped if "make check" in part.content}
    facts = [part.content for part in done.parts if part.layer.value == "memory"]
    assert (
        facts.index("Handlers never panic.")
        < facts.index("Packages share one lock file.")
        < facts.index("Commits are signed.")
    )
    assert any(
        limit.startswith("folders: 4 statements for packages/web, 패키지/결제 left out") for limit in done.limits
    )


def test_where_there_is_room_for_one_fact_it_is_that_of_the_nearest_folder() -> None:
    facts = "- alpha beta gamma\n- delta eps zeta <!-- mem scope=a -->\n- eta theta iota <!-- mem scope=a/b -->\n"
    for place, there in (("a/b/x.py", "eta"), ("a/x.py", "delta"), ("x.py", "alpha")):
        done = context({"MEMORY.md": facts}, subjects=(place,), budget=90)
        assert next(part.content for part in done.parts).startswith(there)


def test_without_a_file_what_holds_for_a_folder_is_left_out_unless_it_is_asked_for() -> None:
    assert "vitest" not in context().text and "start at 7000" not in context().text
    for given in ({"prompt": "how are tests of packages/web run?"}, {"subjects": ("*",)}, {"folders": ("packages/web",)},
                  {"staged": ("packages/web/a.ts",)}):  # fmt: skip
        assert "vitest" in context(**given).text
    assert "rounds to the won" in context(prompt="결제는 어떻게 반올림해?").text
    assert "half up" in context(subjects=("패키지/결제/a.py",)).text


def test_a_memory_folder_that_is_the_repositorys_own_holds_everywhere() -> None:
    files = {"docs/memory/MEMORY.md": "- The oven is blue.\n"}
    assert "oven" not in context(files).text and "oven" in context(files, whole=("docs/memory",)).text


@pytest.mark.parametrize("value", ["../../etc", "/etc", "a%1B[2J", "a%0Ab", "a%E2%80%AEb", "C:/x"])
def test_a_hostile_scope_is_ignored_and_named_and_hides_nothing(value: str) -> None:
    done = context({"MEMORY.md": f"- The door is locked. <!-- mem scope={value} pinned=true -->\n"})
    assert "The door is locked" in done.text
    named = [limit for limit in done.limits if limit.startswith("scope: MEMORY.md:1 names")]
    assert len(named) == 1 and named[0].endswith("ignored") and named[0].isprintable()
