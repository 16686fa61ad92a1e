"""The bridge to detect-secrets: its plugins, none of its ways for a text to excuse itself."""

from __future__ import annotations

import subprocess
import sys

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.secrets.detect_secrets import FILTERS, LEFT_OFF, detect
from gitmem.gate.detectors.text import Text
from tests.detector_examples import examples
from tests.detector_examples.secrets import fake

TOKEN = fake("<h>{32}-us12")


def test_the_plugins_are_on_request_only() -> None:
    code = "import gitmem.gate.detectors.registry as d, sys; d.load('secrets'); print('detect_secrets' in sys.modules, 'plugins' in d.DETECTORS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_examples_of_the_plugins_hold() -> None:
    for rule, table in examples("plugins").items():
        for text in table.flag:
            assert rule in {match.rule for match in load("plugins")(Text(text))}
        for text in table.allow:
            assert not list(load("plugins")(Text(text)))


def test_a_comment_cannot_excuse_its_own_line() -> None:
    text = f'key = "{TOKEN}"  # pragma: allowlist secret'
    assert [text[m.start : m.end] for m in detect(Text(text)) if "mailchimp" in m.rule] == [TOKEN]
    assert not any("allowlist" in path for path in FILTERS)


def test_entropy_and_network_stay_off() -> None:
    from detect_secrets.settings import get_settings, transient_settings

    from gitmem.gate.detectors.secrets.detect_secrets import _settings

    with transient_settings(_settings()):
        settings = get_settings()
        assert not LEFT_OFF & set(settings.plugins)
        assert not any("verif" in path for path in settings.filters)
    assert not list(detect(Text("digest " + fake("<h>{40}") + "\n커밋 " + fake("<b>{60}"))))


def test_a_find_is_placed_in_the_text_masked_and_whole() -> None:
    token = fake("ghp_<A>{36}")
    text = f"첫 줄\n토큰 {token} 폐기\n"
    (match,) = [match for match in detect(Text(text)) if match.rule == "plugin-github-token"]
    assert text[match.start : match.end] == token
    assert match.secret and match.mask is not None and token[8:] not in match.mask + match.message
