"""A gitleaks.toml as `--rules`."""

from __future__ import annotations

import re

import pytest

from gitmem.errors import BadConfig
from gitmem.gate.detectors import rule_file
from gitmem.gate.detectors.rule_file import find, parse_rules, translate
from gitmem.gate.detectors.text import Text
from gitmem.gate.examine import inspect
from gitmem.gate.policy import Policy

FILE = r"""
title = "ours"
[allowlist]
stopwords = ["example"]
[[rules]]
id = "acme-token"
description = "an Acme token"
regex = '''(?i)\b(acme_[[:alnum:]]{12})(?:['"\s]|\z)'''
keywords = ["acme_"]
entropy = 2.0
[[rules]]
id = "acme-pair"
regex = '''acme-(?P<user>\w+):(?P<key>[a-z]+)'''
secretGroup = 2
[[rules.allowlists]]
regexes = ["^dummy"]
"""


def found(text: str) -> list[tuple[str, str]]:
    return [(m.rule, text[m.start : m.end]) for m in find(Text(text), parse_rules(FILE))]


def test_rules_of_a_gitleaks_file_find_their_secret_group() -> None:
    assert found("토큰은 ACME_a1b2c3d4e5f6") == [("acme-token", "ACME_a1b2c3d4e5f6")]
    assert found("acme-joe:hushhush") == [("acme-pair", "hushhush")]


@pytest.mark.parametrize("text", ["acme_aaaaaaaaaaaa", "acme_example12345", "acme-joe:dummy", "nothing"])
def test_entropy_stopwords_and_allowed_patterns_let_pass(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("go", "python"),
    [
        (r"a(?i)b(c)", r"a(?i:b(c))"),
        (r"(x(?i)y)z", r"(x(?i:y))z"),
        (r"[[:digit:]_]+", r"[0-9_]+"),
        (r"[]a]", r"[]a]"),
        (r"[a[]", r"[a\[]"),
        (r"\x{41}\z", r"A\Z"),
        (r"\(?i\)", r"\(?i\)"),
    ],
)
def test_go_syntax_becomes_pythons(go: str, python: str) -> None:
    assert translate(go) == python
    re.compile(python)


@pytest.mark.parametrize(
    "text",
    ["x = [", "title = 'none'", "[extend]\nuseDefault = true", "[[rules]]\nid='a'\npath='x'", "[[rules]]\nregex='x'",
     "[[rules]]\nid='a'\nregex='(?P<x'", "[[rules]]\nid='a'\nregex='x'\nsecretGroup=2", "[[rules]]\nid='a'\nregex='\\pL'",
     "rules = 3", "allowlists = 3\n[[rules]]\nid='a'\nregex='x'", "[[rules]]\nid='a'\nregex='x'\nsecretGroup='y'",
     "[[rules]]\nid='a'\nregex='x'\nsecretGroup=-1", "[[rules]]\nid='a'\nregex='x'\nentropy=[]",
     "[[rules]]\nid='a'\nregex='x'\nkeywords=3"],
)  # fmt: skip
def test_what_cannot_be_honoured_is_said(text: str) -> None:
    with pytest.raises(BadConfig):
        parse_rules(text)


def test_a_rule_that_does_not_end_blocks_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_file, "SECONDS", 0.05)
    rule = rule_file.Rule("slow", "a rule", r"(a|aa)+x")
    found = inspect("a" * 200, "memory/x.md", Policy(rules=(rule,)))
    assert [tuple(failure) for failure in found.failures] == [("rules", "TimeoutError")]
