"""A `.gitattributes` that gives a scanned file other text on disk, judged as Git applies it."""

from __future__ import annotations

import pytest

from gitmem.gate.changes.attributes import check_attributes
from gitmem.gate.policy import Policy
from gitmem.paths import Layout
from tests.harness import Repo

WITH_TEXT = Policy(layouts=(Layout(extra=("notes/*.txt",)),))


def rules(found: object) -> list[str]:
    return [finding.rule for finding in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".gitattributes", "*.md working-tree-encoding=UTF-16LE"),
        (".gitattributes", "memory/** text working-tree-encoding=UTF-16"),
        (".gitattributes", "# one\nMEMORY.md working-tree-encoding=UTF-16LE"),
        ("memory/.gitattributes", "* working-tree-encoding=SHIFT-JIS"),
        (".gitattributes", "[attr]odd working-tree-encoding=UTF-16LE\nMEMORY.md odd"),
        (".gitattributes", "*.md lfs\n[attr]lfs filter=lfs diff=lfs merge=lfs -text"),
        (".gitattributes", '"[attr]a" filter=x\n[attr]b c\n[attr]c a\nmemory/** b'),
        (".gitattributes", "[attr]a filter=x\n[attr]a text\n*.md a"),
        (".gitattributes", "[attr]text filter=x\n*.png text"),
        ("memory/.gitattributes", "*.md lfs"),
        ("docs/.gitattributes", "*.md -text lfs"),
        (".gitattributes", "memory/other-name.md working-tree-encoding=UTF-16LE"),
        (".gitattributes", '"#x.md" working-tree-encoding=CSISO5427CYRILLIC'),
        (".gitattributes", "\\MEMORY.md working-tree-encoding=UTF-16LE"),
        (".gitattributes", "MEMORY.m\\d working-tree-encoding=UTF-16LE"),
        (".gitattributes", '"\\115EMORY.md" working-tree-encoding=UTF-16LE'),
        (".gitattributes", "*.[mM]d\tworking-tree-encoding=UTF-16LE"),
        (".gitattributes", "docs/** working-tree-encoding=UTF-16LE"),
        (".GITATTRIBUTES", "* working-tree-encoding=UTF-16LE"),
        (".gitattributes", "memory/** filter=lfs"),
        (".gitattributes", "mem*/** filter=x"),
        (".gitattributes", "* filter"),
        (".claude/.gitattributes", "* filter=x"),
        (".gitattributes", ".cursorrules filter=x"),
        (".gitattributes", "*.txt filter=x"),
    ],
)
def test_an_encoding_that_hides_memory_is_found(path: str, text: str) -> None:
    assert rules(check_attributes(path, text, WITH_TEXT)) == ["encoding-attribute"]


@pytest.mark.parametrize(
    "text",
    [
        "*.ps1 working-tree-encoding=UTF-16LE",
        "*.md text eol=lf",
        "# *.md working-tree-encoding=X",
        "*.png filter=lfs diff=lfs merge=lfs -text",
        "assets/** filter=lfs",
        "*.md -filter",
        "[attr]lfs filter=lfs diff=lfs merge=lfs -text\n*.png lfs\nassets/** lfs\n*.md -lfs",
        "[attr]code text eol=lf\n*.md code",
        "[attr]utf16 working-tree-encoding=UTF-16LE\n*.rc utf16",
        "*.md spelling",
        '"',
        "",
    ],
)
def test_other_attributes_pass(text: str) -> None:
    assert rules(check_attributes(".gitattributes", text, WITH_TEXT)) == []


@pytest.mark.parametrize("text", ["*.md text linguist-documentation -diff whitespace=tab", "[attr]x filter=y\n*.png x"])
def test_below_the_top_level_words_of_git_pass_and_macros_are_none(text: str) -> None:
    assert rules(check_attributes("memory/.gitattributes", text, WITH_TEXT)) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("*.md b\n[attr]b a\n[attr]a filter=x", "MEMORY.md"),
        ('"[attr]q" filter=x\n*.md q', "MEMORY.md"),
        ("[attr]text filter=x\n*.md text", "MEMORY.md"),
        ("[attr]a filter=x\n*.png a\n*.md -a", "MEMORY.md"),
        ("[attr]a text\n*.md a", "memory/x.md"),
        ("[attr]a filter=x\n*.md a=1", "memory/x.md"),
    ],
)
def test_a_macro_is_judged_as_git_applies_it(repo: Repo, text: str, path: str) -> None:
    repo.write(".gitattributes", text + "\n")
    applied = repo.git("check-attr", "filter", "--", path).strip().endswith(": x")
    assert bool(rules(check_attributes(".gitattributes", text, WITH_TEXT))) is applied


def test_a_long_chain_of_macros_is_followed_to_its_end() -> None:
    chain = "\n".join(f"[attr]m{number} m{number + 1}" for number in range(20_000))
    text = f"{chain}\n[attr]m20000 filter=x\n*.md m0"
    assert rules(check_attributes(".gitattributes", text, WITH_TEXT)) == ["encoding-attribute"]
