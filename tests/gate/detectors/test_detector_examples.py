"""Every rule of every detector flags what its own examples say it flags, and lets pass what they say passes."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from gitmem.gate.detectors.registry import DETECTORS, ON_REQUEST, load
from gitmem.gate.detectors.text import Text
from tests.detector_examples import examples

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
PRESENT = [name for name, detector in DETECTORS.items() if find_spec(detector.module)]
RULES = [(name, rule) for name in PRESENT for rule in examples(name)]
each_rule = pytest.mark.parametrize(("name", "rule"), RULES)


@pytest.mark.parametrize("name", PRESENT)
def test_what_the_row_of_a_detector_says_of_rules_is_of_its_own(name: str) -> None:
    detector, rules = DETECTORS[name], set(examples(name))
    assert {*detector.excepted_for_files, *dict(detector.remedies)} <= rules
    others = {rule for other in {*DETECTORS, *ON_REQUEST} - {name} for rule in examples(other)}
    for beginning in detector.guessable:
        assert any(rule.startswith(beginning) for rule in rules)
        assert not any(rule.startswith(beginning) for rule in others)


@each_rule
def test_a_rule_has_two_examples_of_each_kind_and_one_of_each_is_not_english(name: str, rule: str) -> None:
    table = examples(name)[rule]
    assert len(table.flag) >= 2, "two texts it must flag"
    assert len(table.allow) >= 2, "two texts it must let pass"
    assert any(CJK.search(text) for text in table.flag), "one of what it flags is Korean, Japanese or Chinese"
    assert any(CJK.search(text) for text in table.allow), "one of what it lets pass is Korean, Japanese or Chinese"


@each_rule
def test_a_rule_keeps_to_its_examples(name: str, rule: str) -> None:
    find, table = load(name), examples(name)[rule]
    for flagged, texts in ((True, table.flag), (False, table.allow)):
        for text in texts:
            matches = list(find(Text(text, path="memory/note.md")))
            assert any(match.rule == rule for match in matches) is flagged, text
            for match in matches:
                assert 0 <= match.start < match.end <= len(text)
                assert match.message
                # Masking of secrets asks only the detectors that say they find some.
                assert not match.secret or DETECTORS[name].secret
