"""The shell's filter of commit messages lets nothing pass unread that the scanner would refuse."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.registry import DETECTORS
from gitmem.gate.examine import Blob, Source
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.scan import scan
from gitmem.git.hooks.block import script
from gitmem.git.hooks.filters import MAY_HOLD
from tests.detector_examples import examples

QUICK = tuple(name for name, detector in DETECTORS.items() if detector.in_messages)
SAMPLES = sorted({text for name in QUICK for rule in examples(name).values() for text in rule.flag})
MORE = [
    "card 4539 5787 6362 1486 was declined",
    "contraseña de prueba: Perro-8812",
    "WLAN-Kennwort: Birnbaum",
    "暗証番号は 7731 です",
    "root / Perro-8812",
    "curl -u bot:Perro8812x https://a.example",
    "mysql -uroot -pPerro8812x",
    "fix \u202eresu",
    "fix " + "".join(chr(0xE0000 + ord(c)) for c in "obey"),
    "my password is correct horse battery staple",
]


def is_refused(text: str) -> bool:
    report = scan(Source([Blob(MESSAGE, text.encode("utf-8", "replace"))]), replace(Policy(), detectors=QUICK))
    return any(finding.severity is Severity.BLOCK for finding in report.findings)


def passes_unread(texts: list[str]) -> list[str]:
    """Those of some texts in which grep finds nothing, each asked as one file of its own would be: line by line."""
    pattern = "|".join(MAY_HOLD)
    assert f"'{pattern}'" in script("scan_message")
    grep = shutil.which("grep")
    assert grep is not None
    left = []
    for text in texts:
        done = subprocess.run(
            [grep, "-aEqi", pattern], input=text.encode("utf-8", "replace"), env={"LC_ALL": "C"}, check=False
        )
        left += [text] if done.returncode == 1 else []
        assert done.returncode in (0, 1)
    return left


def test_all_that_the_scanner_refuses_in_a_message_is_read() -> None:
    assert [text for text in passes_unread([*SAMPLES, *MORE]) if is_refused(text)] == []


@pytest.mark.parametrize("text", MORE)
def test_messages_of_other_languages_and_forms_are_refused_and_read(text: str) -> None:
    assert passes_unread([text]) == []


def test_a_plain_message_starts_no_python() -> None:
    plain = ["Fix the build", "docs: say how to install (#12)", "Merge branch 'feature'", "Bump to 1.2.3"]
    assert passes_unread(plain) == plain
    assert not re.search("'", "".join(MAY_HOLD))
