"""One file of a bundle in the Open Knowledge Format (OKF) 0.2: Markdown whose front matter says what it is.

Pure: text in, text out. A memory file becomes a concept by keys that are added at the top of its front matter, each on
one line; the key `gitmem` names the file and the keys that were added, so that taking them away gives every byte back.
A fact becomes a concept of its own, with its line in `gitmem`: what somebody changed in the concept changes that line.
(github.com/GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, version 0.2.)
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
from gitmem.search.validity import last_day

VERSION = "0.2"
RESERVED = ("index.md", "log.md")  # of every folder of a bundle: listings, no concepts
OWN_KEY = "gitmem"  # the key of ours
KNOWN_BY_HISTORY = ("sources", "generated", "verified")  # of a fact: what the repository records, and no bundle changes
TITLE = 80  # characters
Keys = Sequence[tuple[str, Any]]

_KEY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_UNSAFE = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # YAML takes none of these as they are
_LINK = re.compile(r"^([ \t]{0,3}[-*+][ \t]+)\[.*\]\(/([^()\s]+\.md)\)(\r?)$")


class Instant(str):
    """A moment in ISO 8601, which YAML spells without quotes."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a text and when, who confirmed it, and the (resource, title, day) of what it is from."""

    by: str = ""
    at: datetime | None = None
    verified: tuple[tuple[str, datetime], ...] = ()
    sources: tuple[tuple[str, str, date | None], ...] = ()

    @property
    def keys(self) -> list[tuple[str, Any]]:
        """The keys of OKF that say so, those without a value left out."""
        made = {"by": self.by, **({"at": instant(self.at)} if self.at else {})}
        rows = [
            {"id": f"s{number}", "resource": resource, "title": title,
             **({"last_modified": Instant(f"{day.isoformat()}T00:00:00Z")} if day else {})}
            for number, (resource, title, day) in enumerate(self.sources, 1)
        ]  # fmt: skip
        events = [{"by": by, "at": instant(at)} for by, at in self.verified]
        given = [("generated", made if self.by else None), ("verified", events), ("sources", rows)]
        return [(key, value) for key, value in given if value]


@dataclass(frozen=True, slots=True)
class Concept:
    """A file of a bundle as it was read: the whole front matter (`keys`, {} where it is faulty) and what we said."""

    text: str
    keys: Mapping[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)


def instant(moment: datetime) -> Instant:
    """A moment as OKF writes it, in UTC to the second."""
    return Instant(moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def stale_after(until: str) -> Instant | None:
    """The first moment after the last day of a fact; None where `until` is no date."""
    try:
        return Instant(f"{date.fromisoformat(until[:10]) + timedelta(days=1)}T00:00:00Z")
    except (ValueError, OverflowError):
        return None


# -- a file as a concept ---------------------------------------------------------------------------------------------


def wrapped(text: str, keys: Keys, own: Mapping[str, Any]) -> str:
    """The text as a concept: with those of `keys` that its front matter has not, and `own` under our key.

    A front matter that is no OKF (it cannot be read, states no `type` of its own as text, or has our key) is text.
    """
    lines = text.split("\n")
    there = _stated(lines)
    added = [(key, value) for key, value in keys if key not in (there or ())]
    said = {**own, "added": [key for key, _ in added], "front": there is not None}
    rows = rendered([*added, (OWN_KEY, said)])
    if there is None:
        return "\n".join(["---", *rows, "---", text])
    return "\n".join([lines[0], *rows, *lines[1:]])


def is_concept(text: str) -> bool:
    """Whether a file is a concept as it stands: its front matter can be read and states a type."""
    there = _stated(text.split("\n"))
    return there is not None and bool(there.get("type"))


def is_listing(name: str, text: str, *, top: bool) -> bool:
    """Whether a file of a reserved name has the form that OKF wants of it."""
    lines = text.split("\n")
    end = front_matter.closing_line(lines)
    if end and not (top and name == "index.md" and set(_mapping(lines, end) or {"": ""}) == {"okf_version"}):
        return False
    shown = [line.strip() for line in lines[end:] if line.strip()]
    if name == "log.md":
        return all(not line.startswith("## ") or _is_of_day(line[3:].strip()) for line in shown)
    return all(line.startswith(("#", "* ", "- ")) for line in shown)


def _is_of_day(heading: str) -> bool:
    """Whether a heading is a day, as the form wants it, or a day and a summary, as some write it."""
    return re.match(r"\d{4}-\d{2}-\d{2}(?:\W|$)", heading) is not None


def read(text: str) -> Concept:
    """Any text as a concept; never fails."""
    lines = text.split("\n")
    end = front_matter.closing_line(lines)
    keys = _mapping(lines, end) or {}
    own = keys.get(OWN_KEY)
    return Concept(text, keys, own if isinstance(own, dict) else {})


def is_text(concept: Concept) -> bool:
    """Whether all that the front matter says can be written: a path may have bytes that are no text, nothing else."""
    own = {key: value for key, value in concept.own.items() if key not in ("path", "file")}
    said = {key: value for key, value in concept.keys.items() if key not in (OWN_KEY, *KNOWN_BY_HISTORY)}
    whole, plain = (json.dumps(value, ensure_ascii=False) for value in (concept.keys, [own, said]))
    return not re.search("[\ud800-\udc7f\udd00-\udfff]", whole) and not re.search("[\ud800-\udfff]", plain)


def unwrapped(concept: Concept) -> str:
    """The text of which `wrapped` made the concept; what somebody else put into its front matter stays."""
    lines = concept.text.split("\n")
    end = front_matter.closing_line(lines)
    names = concept.own.get("added")
    drop = {OWN_KEY, *(names if isinstance(names, list) else ())}
    kept: list[str] = []
    dropped = block = False
    for line in lines[1 : end - 1]:
        key = _KEY.match(line)
        if key:
            dropped, block = key[1] in drop, not key[2].strip()
        elif dropped and not line[:1].isspace() and not (block and line.startswith("- ")):
            dropped = False
        if not dropped:
            kept.append(line)
    if concept.own.get("front") != "true" and not any(line.strip() for line in kept):
        return "\n".join(lines[end:])
    return "\n".join([lines[0], *kept, *lines[end - 1 :]])


def _stated(lines: Sequence[str]) -> dict[str, Any] | None:
    """The keys of a front matter to which keys can be added; None where there is none."""
    there = _mapping(lines, front_matter.closing_line(lines))
    if there is None or OWN_KEY in there or not isinstance(there.get("type", ""), str):
        return None
    if "type" in there and not there["type"].strip():
        return None
    return there


def _mapping(lines: Sequence[str], end: int) -> dict[str, Any] | None:
    if not end or front_matter.read(lines).fault:
        return None
    return front_matter.nested(lines, end)


# -- a fact as a concept ---------------------------------------------------------------------------------------------


def fact_concept(lines: Sequence[str], fact: Fact, file: str, origin: Origin) -> str:
    """One fact as a concept. `lines` are its own in `file`, without their ends."""
    keys = [*_fact_keys(fact), *origin.keys]
    own = {"fact": fact.id, "file": file, "line": "\n".join(lines), "records": _digest(dict(keys))}
    marks = [f"s{number}" for number in range(1, len(origin.sources) + 1)]
    body = fact.text + "".join(f"[^{mark}]" for mark in marks)
    notes = [f"[^{mark}]: {title}" for mark, (_, title, _) in zip(marks, origin.sources, strict=True)]
    return "\n".join(["---", *rendered([*keys, (OWN_KEY, own)]), "---", "", body, *(["", *notes] if notes else []), ""])


def fact_link(marker: str, fact: Fact, place: str, end: str = "") -> str:
    """What stands in a file in the place of a fact's lines: a link to its concept."""
    words = re.sub(r"[\[\]\\]", " ", fact.text)
    return f"{marker}[{' '.join(words.split())[:TITLE]}](/{place}){end}"


def linked_place(line: str) -> str:
    """The concept to which a line of a file leads as `fact_link` writes it, "" for any other line."""
    match = _LINK.match(line)
    if not match:
        return ""
    return match[2]


def fact_line(concept: Concept) -> tuple[str, bool]:
    """(the lines of a fact's concept as one text, whether what the history records of it was changed in the bundle).

    Every byte of the lines where nothing was changed in the concept; else its text, type, tags and last day are the
    concept's, and the rest of its comment as it was.
    """
    line = str(concept.own.get("line", ""))
    memory = parse_lines(line.split("\n"))
    if [(entry.form, entry.start, entry.end) for entry in memory.entries] != [(Form.ITEM, 1, len(memory.lines))]:
        line = line.replace("\n", " ")  # whatever somebody wrote there stays one line of the file
        memory = parse_lines([line])
    end = line[len(line.rstrip("\r")) :]
    entry = next(iter(memory.items), None)
    marker = "- "
    if entry:
        marker = marker_of(memory, entry)
    if entry:
        old = entry.fact
    else:
        old = Fact("", "", 0)
    meta = old.meta
    changed = concept.own.get("records") != _digest(concept.keys)
    before, now = _comment_keys(dict(_fact_keys(old))), _comment_keys(concept.keys)
    text = _body(concept)
    if (text, now) == (old.text, before):
        return line, changed
    for key in ("type", "tags", "until"):
        if now.get(key) != before.get(key):
            meta = _with_key(meta, key, now.get(key, ""))
    if entry and text == old.text:
        return "\n".join(with_comment(memory, entry, meta).lines), changed
    comment = render_comment(meta)
    return f"{marker}{text}{' ' + comment if comment else ''}{end}", changed


def _fact_keys(fact: Fact) -> list[tuple[str, Any]]:
    if len(fact.text) <= TITLE:
        title = fact.text
    else:
        title = fact.text[: TITLE - 1].rstrip() + "…"
    tags = [tag.strip() for tag in fact.get("tags").split(",") if tag.strip()]
    keys: list[tuple[str, Any]] = [("type", fact.get("type") or "fact"), ("title", title or "(no words)")]
    if title != fact.text:
        keys.append(("description", fact.text))
    if tags:
        keys += [("tags", tags)]
    stale = stale_after(fact.get("until"))
    if stale:
        return [*keys, ("stale_after", stale)]
    return keys


def _comment_keys(keys: Mapping[str, Any]) -> dict[str, str]:
    """The keys of a fact's comment, read from the front matter of its concept; empty values are left out."""
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
    """The comment with another value of `key`, in the place of the first; "" takes it away."""
    kept: list[tuple[str, str]] = []
    for name, old in meta:
        if name != key:
            kept.append((name, old))
        elif value:
            kept.append((key, value))
            value = ""
    if value:
        return (*kept, (key, value))
    return tuple(kept)


def _body(concept: Concept) -> str:
    """The words of a fact's concept, without the footnotes that lead to its sources."""
    lines = concept.text.split("\n")
    sources = concept.keys.get("sources")
    if isinstance(sources, list):
        rows = sources
    else:
        rows = []
    marks = [f"[^{row['id']}]" for row in rows if isinstance(row, dict) and "id" in row]
    words = []
    for line in lines[front_matter.closing_line(lines) :]:
        if not line.startswith(tuple(f"{mark}:" for mark in marks)):
            for mark in marks:
                line = line.replace(mark, "")
            words += line.split()
    return unicodedata.normalize("NFC", " ".join(words))


def _digest(keys: Mapping[str, Any]) -> str:
    """A short hash of what the history records of a fact; the same before and after YAML."""
    records = {key: keys[key] for key in KNOWN_BY_HISTORY if key in keys}
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()[:12]


# -- YAML ------------------------------------------------------------------------------------------------------------


def rendered(keys: Iterable[tuple[str, Any]]) -> list[str]:
    """Each key with its value on one line of YAML."""
    return [f"{key}: {_yaml(value)}" for key, value in keys]


def _yaml(value: Any) -> str:
    if isinstance(value, Instant):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
