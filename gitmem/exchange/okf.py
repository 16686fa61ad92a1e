"""Converts memory files and facts to concepts of the Open Knowledge Format (OKF) 0.2, and back. Pure: text to text.

A concept is a Markdown file whose front matter describes it. A memory file becomes a concept by keys added at the top
of its front matter, each on one line. The key `gitmem` names the file and the added keys, so that removing them
restores every byte. A fact becomes a concept of its own with its line in `gitmem`; a change of the concept changes that
line on import. (github.com/GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, version 0.2.)
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from gitmem.memory import front_matter
from gitmem.memory.fact import Fact, Meta, render_comment
from gitmem.memory.facts import marker_of, parse_lines, with_comment
from gitmem.memory.statements import Form
from gitmem.paths import ISO_DAY
from gitmem.search.validity import last_day

VERSION = "0.2"
RESERVED = ("index.md", "log.md")  # names of listings in every folder of a bundle; they are not concepts
OWN_KEY = "gitmem"
KNOWN_BY_HISTORY = ("sources", "generated", "verified")  # keys of a fact from the history; an import ignores them
MAX_TITLE_CHARS = 80
Keys = Sequence[tuple[str, Any]]

_KEY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_UNSAFE = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # YAML needs these escaped
_LINK = re.compile(r"^([ \t]{0,3}[-*+][ \t]+)\[.*\]\(/([^()\s]+\.md)\)(\r?)$")


class Instant(str):
    """A time in ISO 8601, which is written to YAML without quotes."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a text, for the front matter of its concept.

    `by`, `at`: its author and time, "" and None if unknown. `verified`: (who confirmed it, when). `sources`: (link,
    title, day) of each text that it comes from, the day None if unknown.
    """

    by: str = ""
    at: datetime | None = None
    verified: tuple[tuple[str, datetime], ...] = ()
    sources: tuple[tuple[str, str, date | None], ...] = ()

    @property
    def keys(self) -> list[tuple[str, Any]]:
        """(key, value) pairs of OKF's front matter for the origin: `generated`, `verified`, `sources`; a key without a
        value is left out."""
        keys: list[tuple[str, Any]] = []
        if self.by:
            generated = {"by": self.by}
            if self.at:
                generated["at"] = instant(self.at)
            keys.append(("generated", generated))
        if self.verified:
            keys.append(("verified", [{"by": by, "at": instant(at)} for by, at in self.verified]))
        rows = []
        for number, (resource, title, day) in enumerate(self.sources, 1):
            row = {"id": f"s{number}", "resource": resource, "title": title}
            if day:
                row["last_modified"] = Instant(f"{day.isoformat()}T00:00:00Z")
            rows.append(row)
        if rows:
            keys.append(("sources", rows))
        return keys


@dataclass(frozen=True, slots=True)
class Concept:
    """A file of a bundle. `text`: the whole file. `keys`: its front matter, {} if it cannot be read. `own`: the value
    of our key `gitmem` there, {} if it has none."""

    text: str
    keys: Mapping[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)


def instant(moment: datetime) -> Instant:
    """A time in the form of OKF, in UTC to the second."""
    return Instant(moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def stale_after(until: str) -> Instant | None:
    """The first moment after the last day of a fact; None if `until` does not begin with a date (YYYY-MM-DD)."""
    try:
        return Instant(f"{date.fromisoformat(until[:10]) + timedelta(days=1)}T00:00:00Z")
    except (ValueError, OverflowError):
        return None


# -- a file as a concept ---------------------------------------------------------------------------------------------


def wrapped(text: str, keys: Keys, own_values: Mapping[str, Any]) -> str:
    """The text of a memory file as a concept: the `keys` that its front matter lacks are added, and `own_values` as the
    value of our key `gitmem`. `unwrapped` restores the text.

    If the file has no front matter, one that cannot be read, our key or an empty `type`, the whole file becomes the
    text below a new front matter.
    """
    lines = text.split("\n")
    present = _own_front_matter(lines)
    added = [(key, value) for key, value in keys if key not in (present or ())]
    value = {**own_values, "added": [key for key, _ in added], "front": present is not None}
    rows = rendered([*added, (OWN_KEY, value)])
    if present is None:
        return "\n".join(["---", *rows, "---", text])
    return "\n".join([lines[0], *rows, *lines[1:]])


def is_concept(text: str) -> bool:
    """Whether a file is a concept already: its front matter can be read, has a type and lacks our key."""
    present = _own_front_matter(text.split("\n"))
    return present is not None and bool(present.get("type"))


def is_listing(name: str, text: str, *, top: bool) -> bool:
    """Whether a file named index.md or log.md has the form of a listing in OKF. `top`: it lies in the top folder."""
    lines = text.split("\n")
    end = front_matter.closing_line(lines)
    if end and not (top and name == "index.md" and set(_mapping(lines, end) or {"": ""}) == {"okf_version"}):
        return False
    shown = [line.strip() for line in lines[end:] if line.strip()]
    if name == "log.md":
        return all(not line.startswith("## ") or _is_of_day(line[3:].strip()) for line in shown)
    return all(line.startswith(("#", "* ", "- ")) for line in shown)


def _is_of_day(heading: str) -> bool:
    """Whether a heading is a day, as OKF asks for, or a day and a summary, as some write it."""
    return re.match(rf"{ISO_DAY}(?:\W|$)", heading) is not None


def read(text: str) -> Concept:
    """Any text as a concept; without a readable front matter its keys are empty. Never raises."""
    lines = text.split("\n")
    end = front_matter.closing_line(lines)
    keys = _mapping(lines, end) or {}
    own_values = keys.get(OWN_KEY)
    return Concept(text, keys, own_values if isinstance(own_values, dict) else {})


def is_text(concept: Concept) -> bool:
    """Whether the front matter of a concept can be written as UTF-8. Only a path and what `git mem` recorded from the
    history may hold bytes that are not UTF-8."""
    own_values = {key: value for key, value in concept.own.items() if key not in ("path", "file")}
    other_values = {key: value for key, value in concept.keys.items() if key not in (OWN_KEY, *KNOWN_BY_HISTORY)}
    whole, plain = (json.dumps(value, ensure_ascii=False) for value in (concept.keys, [own_values, other_values]))
    return not re.search("[\ud800-\udc7f\udd00-\udfff]", whole) and not re.search("[\ud800-\udfff]", plain)


def unwrapped(concept: Concept) -> str:
    """The text of the memory file from which `wrapped` made the concept, with the keys that somebody added to its front
    matter."""
    lines = concept.text.split("\n")
    end = front_matter.closing_line(lines)
    dropped_keys = {OWN_KEY}
    if isinstance(names := concept.own.get("added"), list):
        dropped_keys.update(names)
    kept_lines: list[str] = []
    is_dropped = is_block = False
    for line in lines[1 : end - 1]:
        key = _KEY.match(line)
        if key:
            is_dropped, is_block = key[1] in dropped_keys, not key[2].strip()
        elif is_dropped and not line[:1].isspace() and not (is_block and line.startswith("- ")):
            is_dropped = False
        if not is_dropped:
            kept_lines.append(line)
    if concept.own.get("front") != "true" and not any(line.strip() for line in kept_lines):
        return "\n".join(lines[end:])
    return "\n".join([lines[0], *kept_lines, *lines[end - 1 :]])


def _own_front_matter(lines: Sequence[str]) -> dict[str, Any] | None:
    """The front matter of a file if keys can be added to it, otherwise None.

    None if there is none, if it cannot be read, if it has our key, or if its `type` is empty or not a text.
    """
    present = _mapping(lines, front_matter.closing_line(lines))
    if present is None or OWN_KEY in present or not isinstance(present.get("type", ""), str):
        return None
    if "type" in present and not present["type"].strip():
        return None
    return present


def _mapping(lines: Sequence[str], end: int) -> dict[str, Any] | None:
    """The front matter that closes at line `end`; None if `end` is 0 or it cannot be read."""
    if not end or front_matter.read(lines).fault:
        return None
    return front_matter.nested(lines, end)


# -- a fact as a concept ---------------------------------------------------------------------------------------------


def fact_concept(lines: Sequence[str], fact: Fact, file: str, origin: Origin) -> str:
    """The text of the concept for one fact. `lines`: the fact's lines in `file`, without line ends; an import restores
    them."""
    keys = [*_fact_keys(fact), *origin.keys]
    own_values = {"fact": fact.id, "file": file, "line": "\n".join(lines), "records": _digest(dict(keys))}
    marks = [f"s{number}" for number in range(1, len(origin.sources) + 1)]
    body = [fact.text + "".join(f"[^{mark}]" for mark in marks)]
    if marks:
        body.append("")
    body += [f"[^{mark}]: {title}" for mark, (_, title, _) in zip(marks, origin.sources, strict=True)]
    return "\n".join(["---", *rendered([*keys, (OWN_KEY, own_values)]), "---", "", *body, ""])


def fact_link(marker: str, fact: Fact, place: str, end: str = "") -> str:
    """The line that replaces a fact's lines in its file: a link to its concept at `place`, with the first
    MAX_TITLE_CHARS of its text. `marker`: the list mark before the link. `end`: its line end."""
    words = re.sub(r"[\[\]\\]", " ", fact.text)
    return f"{marker}[{' '.join(words.split())[:MAX_TITLE_CHARS]}](/{place}){end}"


def linked_place(line: str) -> str:
    """The place in a line of `fact_link`; "" for any other line."""
    match = _LINK.match(line)
    return match[2] if match else ""


def fact_line(concept: Concept) -> tuple[str, bool]:
    """(the lines of a fact in its file, from its concept, as one text; whether somebody changed its keys
    KNOWN_BY_HISTORY).

    The lines are the exported ones if the concept was not changed. Otherwise text, type, tags and last day are those of
    the concept, and the rest of the comment is as it was.
    """
    line = str(concept.own.get("line", ""))
    memory = parse_lines(line.split("\n"))
    if [(entry.form, entry.start, entry.end) for entry in memory.entries] != [(Form.ITEM, 1, len(memory.lines))]:
        line = line.replace("\n", " ")  # somebody changed it: it stays one line of the file
        memory = parse_lines([line])
    end = line[len(line.rstrip("\r")) :]
    entry = next(iter(memory.items), None)
    marker, old_fact = "- ", Fact("", "", 0)
    if entry:
        marker, old_fact = marker_of(memory, entry), entry.fact
    meta = old_fact.meta
    changed = concept.own.get("records") != _digest(concept.keys)
    old_keys, new_keys = _comment_keys(dict(_fact_keys(old_fact))), _comment_keys(concept.keys)
    text = _body(concept)
    if (text, new_keys) == (old_fact.text, old_keys):
        return line, changed
    for key in ("type", "tags", "until"):
        if new_keys.get(key) != old_keys.get(key):
            meta = _with_key(meta, key, new_keys.get(key, ""))
    if entry and text == old_fact.text:
        return "\n".join(with_comment(memory, entry, meta).lines), changed
    if comment := render_comment(meta):
        text += f" {comment}"
    return f"{marker}{text}{end}", changed


def _fact_keys(fact: Fact) -> list[tuple[str, Any]]:
    """The keys of OKF for a fact: type, title, description, tags, stale_after; empty ones are left out."""
    title = fact.text
    if len(title) > MAX_TITLE_CHARS:
        title = title[: MAX_TITLE_CHARS - 1].rstrip() + "…"
    tags = [tag.strip() for tag in fact.get("tags").split(",") if tag.strip()]
    keys: list[tuple[str, Any]] = [("type", fact.get("type") or "fact"), ("title", title or "(no words)")]
    if title != fact.text:
        keys.append(("description", fact.text))
    if tags:
        keys += [("tags", tags)]
    stale = stale_after(fact.get("until"))
    return [*keys, ("stale_after", stale)] if stale else keys


def _comment_keys(keys: Mapping[str, Any]) -> dict[str, str]:
    """The values of a fact's comment from the front matter of its concept; empty values are left out."""
    tags = keys.get("tags")
    if isinstance(tags, str):
        tags = [tags]
    elif not isinstance(tags, list):
        tags = []
    values = {
        "type": str(keys.get("type", "")),
        "tags": ",".join(str(tag) for tag in tags),
        "until": last_day(str(keys.get("stale_after", ""))),
    }
    return {key: value for key, value in values.items() if value}


def _with_key(meta: Meta, key: str, value: str) -> Meta:
    """The comment with `value` in place of the first value of `key`; "" removes the key."""
    pairs: list[tuple[str, str]] = []
    for name, old_value in meta:
        if name != key:
            pairs.append((name, old_value))
        elif value:
            pairs.append((key, value))
            value = ""
    if value:
        return (*pairs, (key, value))
    return tuple(pairs)


def _body(concept: Concept) -> str:
    """The text of a fact's concept below its front matter, without the footnotes for its sources, as one line: its
    words with one space between them, NFC."""
    lines = concept.text.split("\n")
    marks: list[str] = []
    if isinstance(sources := concept.keys.get("sources"), list):
        marks = [f"[^{row['id']}]" for row in sources if isinstance(row, dict) and "id" in row]
    words = []
    for line in lines[front_matter.closing_line(lines) :]:
        if not line.startswith(tuple(f"{mark}:" for mark in marks)):
            for mark in marks:
                line = line.replace(mark, "")
            words += line.split()
    return unicodedata.normalize("NFC", " ".join(words))


def _digest(keys: Mapping[str, Any]) -> str:
    """A short hash of the keys KNOWN_BY_HISTORY; the same before and after YAML."""
    records = {key: keys[key] for key in KNOWN_BY_HISTORY if key in keys}
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()[:12]


# -- YAML ------------------------------------------------------------------------------------------------------------


def rendered(keys: Iterable[tuple[str, Any]]) -> list[str]:
    """Each key with its value on one line of YAML."""
    return [f"{key}: {_yaml(value)}" for key, value in keys]


def _yaml(value: Any) -> str:
    """A value as YAML on one line; text is quoted as in JSON."""
    if isinstance(value, Instant):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
