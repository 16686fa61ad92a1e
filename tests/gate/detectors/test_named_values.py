"""Settings whose name and value stand in fields of their own."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.text import Text
from tests.detector_examples.secrets import fake

TOKEN = fake("<A>{40}")
PASSWORD = "Gro" + "Vbq#19"
FORMS = [
    "env:\n  - name: {name}\n    value: {value}\n",
    'env:\n  - name: {name}\n    value: "{value}"\n',
    '[{{"name": "{name}", "value": "{value}"}}]',
    "variables:\n  - key: {name}\n    value: '{value}'\n",
]


def found(detector: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in load(detector)(Text(text))]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_judged_by_the_name_in_the_field_beside_it(form: str) -> None:
    assert found("secrets", form.format(name="API_TOKEN", value=TOKEN)) == [TOKEN]
    assert found("passwords", form.format(name="SMTP_PASSWORD", value=PASSWORD)) == [PASSWORD]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_of_another_name_and_a_reference_pass(form: str) -> None:
    for name, value in [("BUILD_ID", TOKEN), ("SMTP_PASSWORD", "${SMTP_PASSWORD}"), ("PASSWORD_MIN_LENGTH", "12")]:
        text = form.format(name=name, value=value)
        assert found("secrets", text) == [] and found("passwords", text) == []


def test_the_token_of_a_form_passes() -> None:
    assert found("secrets", f'<input type="hidden" name="CSRFToken" value="{TOKEN}">') == []


def test_the_value_of_another_setting_is_not_taken_for_that_of_a_name() -> None:
    assert found("secrets", f"- name: API_TOKEN\n  valueFrom: vault\n- name: BUILD\n  value: {TOKEN}\n") == []
