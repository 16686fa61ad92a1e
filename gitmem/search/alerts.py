"""Parses alerts of monitoring systems and makes questions to memory from their titles, details and names. Pure.

Any text is an alert. JSON of any shape is read by the names of its keys, which covers Alertmanager, Grafana, PagerDuty
and Sentry. Whoever can make a monitored system fail can write an alert, so an alert is data: nothing in it is executed,
and each part that is read has a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gitmem.json_values import parse_json

MAX_BYTES = 1 << 20  # bytes of an alert
MAX_ALERTS = 10  # alerts that are read of one delivery
MAX_VALUES = 500  # strings of one alert that are read
MAX_DEPTH = 24  # levels of nested objects and lists
MAX_VALUE_CHARACTERS = 400  # characters of one string that are read
MAX_TITLE_CHARACTERS = 160
MAX_DETAIL_CHARACTERS = 600
MAX_NAMES = 8  # things that one alert names

# Keys, in lower case and letters only: of titles, in order of preference; of details; of things that are named.
TITLE_KEYS = ("title", "summary", "alertname", "subject", "shortmessage", "message", "culprit", "name", "reason")
DETAIL_KEYS = frozenset(
    ("description", "details", "detail", "body", "msg", "text", "error", "exception", "value", "type", "transaction",
     "condition", "cause", "problem")
)  # fmt: skip
NAME_KEYS = frozenset(
    ("service", "servicename", "component", "job", "instance", "host", "hostname", "namespace", "pod", "app",
     "application", "project", "server", "servername", "container", "deployment", "statefulset", "daemonset", "cluster",
     "database", "db", "queue", "topic", "resource", "module", "package", "endpoint")
)  # fmt: skip
ALERT_LIST_KEYS = ("alerts", "messages", "incidents", "events")  # keys whose lists hold alerts of their own
SHARED_KEYS = ("commonLabels", "commonAnnotations", "groupLabels")  # of Alertmanager: what all alerts of a group say
# The places in a name such as `HighErrorRate` at which its words begin.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200b-\u200f\ufeff\ud800-\udfff]+")
# A value that says nothing to search for: a link, an id, a number or a time.
_NO_WORDS = re.compile(r"(?:https?://\S*|[0-9a-fA-F-]{16,}|[\d\s:.,TZ+/-]+|true|false|null|none)")


class Alert(NamedTuple):
    """One alert. `title`: its title. `detail`: its other texts, joined. `names`: the services, hosts and other things
    that it names."""

    title: str
    detail: str = ""
    names: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions by which memory is searched for this alert, each once: the title, and the title with names and
        detail."""
        title = " ".join(_CAMEL.sub(" ", word) for word in self.title.split())
        whole = " ".join(part for part in (title, *self.names, self.detail) if part)
        return tuple(dict.fromkeys(question for question in (title, whole) if question))


def parse_alerts(data: bytes) -> list[Alert]:
    """The alerts in one delivery of a monitoring system, each once, at most MAX_ALERTS. Resolved alerts are left out
    unless all are resolved.

    Empty if the delivery has no word. Bytes that are not valid JSON are one alert in plain text; nothing is raised.
    """
    text = data[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value = parse_json(text) if text.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        value = None
    if isinstance(value, dict | list):
        alerts = [_alert_of_object(row) for row in _alert_values(value)]
    else:
        alerts = [_alert_of_text(text)]
    return list(dict.fromkeys(alert for alert in alerts if alert.title))[:MAX_ALERTS]


def _alert_values(value: Any) -> list[Any]:
    """One JSON object for each of the first MAX_VALUES alerts in a delivery, with the labels that all alerts share;
    resolved alerts are left out unless all are resolved. A delivery without a list of alerts is returned as the only
    alert."""
    rows: list[Any] = []
    shared: dict[str, Any] = {}
    if isinstance(value, list):
        rows = value
    elif isinstance(value, dict):
        rows = next((value[key] for key in ALERT_LIST_KEYS if isinstance(value.get(key), list) and value[key]), [])
        shared = {key: value[key] for key in SHARED_KEYS if isinstance(value.get(key), dict)}
    rows = [row for row in rows[:MAX_VALUES] if isinstance(row, dict | str)]
    if not rows:
        return [value]
    unresolved = [row for row in rows if not (isinstance(row, dict) and row.get("status") == "resolved")]
    return [{**row, **shared} if isinstance(row, dict) else {"message": row} for row in unresolved or rows]


def _alert_of_object(value: Any) -> Alert:
    """The alert of a JSON object, by its keys (TITLE_KEYS, DETAIL_KEYS, NAME_KEYS); without a key of titles its first
    detail is the title, without both its first text of several words, else its first text. The title is "" for an
    object without text."""
    titles: dict[str, list[str]] = {}
    details: dict[str, None] = {}
    names: dict[str, None] = {}
    others: dict[str, None] = {}
    for outer_key, key, text in _strings(value):
        others[text] = None
        if key in NAME_KEYS or (outer_key in NAME_KEYS and key in TITLE_KEYS):
            names[text] = None
        elif key in TITLE_KEYS:
            titles.setdefault(key, []).append(text)
        elif key in DETAIL_KEYS or outer_key in DETAIL_KEYS:
            details[text] = None
    title_texts = [text for key in TITLE_KEYS for text in titles.get(key, ())]
    title = title_texts[0] if title_texts else next(iter(details), "")
    if not title:  # unknown keys (`alert`, `제목`): prefer a sentence to a word such as `critical`
        unnamed = [text for text in others if text not in names]
        title = next((text for text in unnamed if " " in text), next(iter(unnamed), ""))
        details = dict.fromkeys(unnamed)
    detail_texts = [text for text in dict.fromkeys([*title_texts[1:], *details]) if text not in title]
    return Alert(title[:MAX_TITLE_CHARACTERS], " ".join(detail_texts)[:MAX_DETAIL_CHARACTERS], tuple(names)[:MAX_NAMES])


def _strings(value: Any) -> Iterator[tuple[str, str, str]]:
    """(key of the enclosing object, key, text) of each string in a JSON value that is more than a number, a link or an
    id, outer strings first. The function stops at the level at which MAX_VALUES strings are reached."""
    level: list[tuple[str, str, Any]] = [("", "", value)]
    count = 0
    for _ in range(MAX_DEPTH):
        below: list[tuple[str, str, Any]] = []
        for outer_key, key, inner in level:
            if isinstance(inner, str):
                text = _one_line(inner)
                if text and not _NO_WORDS.fullmatch(text):
                    count += 1
                    yield outer_key, key, text
            elif isinstance(inner, Mapping):
                below += [(key, _letters_only(name), child) for name, child in list(inner.items())[:MAX_VALUES]]
            elif isinstance(inner, list):
                below += [(outer_key, key, child) for child in inner[:MAX_VALUES]]
            if count >= MAX_VALUES:
                return
        level = below[: 10 * MAX_VALUES]


def _letters_only(key: object) -> str:
    """The ASCII letters of a key, in lower case."""
    return re.sub(r"[^a-z]", "", str(key)[:80].lower())


def _one_line(text: str) -> str:
    """A text on one line, without control and direction characters, cut to MAX_VALUE_CHARACTERS."""
    return " ".join(_CONTROL.sub(" ", text[: 4 * MAX_VALUE_CHARACTERS]).split())[:MAX_VALUE_CHARACTERS]


def _alert_of_text(text: str) -> Alert:
    """The alert of a plain text; its first line that is not empty is the title."""
    lines = list(filter(None, map(_one_line, text[: 100 * MAX_VALUE_CHARACTERS].splitlines())))
    if not lines:
        return Alert("")
    title = lines[0]
    other_texts = list(filter(None, [title[MAX_TITLE_CHARACTERS:], *lines[1:]]))
    return Alert(title[:MAX_TITLE_CHARACTERS], " ".join(other_texts)[:MAX_DETAIL_CHARACTERS])
