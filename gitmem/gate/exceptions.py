"""`.gitmem-allow.toml`: what a reviewed exception covers, how long one lasts, and the baseline; reads and writes the
file. Also computes fingerprints. Pure.

An exception covers one rule at one path, gives a reason and ends on a day. It covers either one finding, or all
findings that the rule had in that file when the exception was made. No exception covers a rule everywhere. The baseline
lists the findings that the repository had when it adopted the gate. The caller decides from which tree the file is read
(hooks: the staged one; CI: the base branch).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from gitmem.errors import BadConfig, UsageError
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.detectors.registry import EXCEPTED_FOR_FILES
from gitmem.messages import Message

FILE = ".gitmem-allow.toml"
NO_SALT = "git-mem"  # salt of a repository without exceptions: its fingerprints are stable, but not private
EXCEPTION_LIFETIME = timedelta(days=180)  # how long an exception made without --until is in force
FINGERPRINT_DIGITS = 20  # hex digits of a fingerprint: 80 bits


@dataclass(frozen=True, slots=True)
class Entry:
    """One exception.

    `fingerprint`: the finding that it covers, "" for an exception for a rule in a file. `until`: its last day, None
    for one that was written by hand without an end. `fingerprints`: for an exception for a rule in a file, the
    findings that the rule had there when it was made; later findings of the rule in that file warn. Such an exception
    always ends, and its rule is one of EXCEPTED_FOR_FILES.
    """

    fingerprint: str
    rule: str
    path: str
    reason: str
    until: date | None = None
    fingerprints: tuple[str, ...] = ()

    @property
    def for_file(self) -> bool:
        """Whether the exception is for a rule in a file, and not for one finding."""
        return not self.fingerprint

    def expired(self, today: date) -> bool:
        """Whether the exception's last day is before `today`. An exception without an end never expires."""
        return self.until is not None and today > self.until


class BaselineRow(NamedTuple):
    """One row of the baseline: a finding that the repository had when it was adopted."""

    path: str
    rule: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The exceptions, also those that have expired, the baseline, and the salt of their fingerprints."""

    salt: str = NO_SALT
    entries: tuple[Entry, ...] = ()
    baseline: frozenset[BaselineRow] = frozenset()

    def covers(self, finding: Finding) -> Entry | None:
        """The exception for exactly this finding (rule, path and fingerprint), expired or not; None without one. Of
        several it is the one that ends last."""
        covering = [
            entry
            for entry in self.entries
            if (entry.rule, entry.path) == (finding.rule, finding.path)
            and finding.fingerprint in (entry.fingerprint, *entry.fingerprints)
        ]
        return max(covering, key=lambda entry: entry.until or date.max, default=None)

    def softens(self, finding: Finding, today: date) -> bool:
        """Whether an exception for this rule in this file is in force. A finding that came later than the exception
        then warns in place of blocking."""
        return any(
            entry.for_file and (entry.rule, entry.path) == (finding.rule, finding.path) and not entry.expired(today)
            for entry in self.entries
        )


@lru_cache(maxsize=4096)
def fingerprint(salt: str, rule: str, text: str) -> str:
    """The stable name of a finding, FINGERPRINT_DIGITS hex digits: scrypt (RFC 7914; N 2048, r 8, p 1) over `rule` and
    `text`, with `salt`.

    The function is slow on purpose: the fingerprints are public, and nobody should be able to test millions of guesses
    of a token. A value that can be guessed all the same (a password, a PIN, a phone number) must not be in `text`: see
    `examine.identity`.
    """
    import hashlib  # loads OpenSSL: only what was found needs it

    words = f"{rule}\0{unicodedata.normalize('NFC', text)}".encode("utf-8", "surrogatepass")
    return hashlib.scrypt(words, salt=salt.encode(), n=2048, r=8, p=1, dklen=FINGERPRINT_DIGITS // 2).hex()


def parse(text: str) -> Allowlist:
    """The exceptions and the baseline in the text of the file; "" has none. Raises BadConfig when it cannot be read or
    a table has a wrong value."""
    if not text.strip():
        return Allowlist()
    import tomllib

    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise BadConfig(Message("{} is not valid TOML", FILE), Message("mend {}", FILE)) from None
    salt = tables.get("salt", NO_SALT)
    rows = tables.get("allow", [])
    baseline_tables = tables.get("standing", [])
    if not isinstance(salt, str) or not isinstance(rows, list) or not isinstance(baseline_tables, list):
        raise BadConfig(
            Message("{}: `salt` must be a text, `allow` and `standing` lists of tables", FILE), Message("mend {}", FILE)
        )
    baseline = frozenset(row for table in baseline_tables for row in _baseline_rows(table))
    return Allowlist(salt, tuple(_entry(number, row) for number, row in enumerate(rows, 1)), baseline)


def _baseline_rows(table: object) -> list[BaselineRow]:
    """The rows of one `standing` table: a path, and the fingerprints of each rule there. Raises BadConfig for a table
    of another form."""
    path = rules = None
    if isinstance(table, dict):
        path, rules = table.get("path"), table.get("rules")
    if not isinstance(path, str) or not isinstance(rules, dict):
        raise BadConfig(Message("{}: a `standing` table has no `path` and `rules`", FILE), Message("mend {}", FILE))
    if not all(isinstance(prints, list) and all(isinstance(p, str) for p in prints) for prints in rules.values()):
        raise BadConfig(
            Message("{}: `rules` of '{}' are no lists of fingerprints", FILE, path), Message("mend {}", FILE)
        )
    return [BaselineRow(path, rule, fingerprint) for rule, prints in rules.items() for fingerprint in prints]


def _entry(number: int, row: object) -> Entry:
    """The exception of one `allow` table; `number`: its position from 1, for the message. Raises BadConfig for a table
    that lacks a text or has a wrong one, for an `until` that is no date, and for an exception for a rule in a file
    without an end, with a `fingerprint`, or for a rule outside EXCEPTED_FOR_FILES."""
    if not isinstance(row, dict):
        raise BadConfig(Message("{}: entry {} is not a table", FILE, number), Message("mend {}", FILE))
    prints = row.get("fingerprints", [])
    if not isinstance(prints, list) or not all(isinstance(fingerprint, str) and fingerprint for fingerprint in prints):
        raise BadConfig(
            Message("{}: entry {}: `fingerprints` is no list of texts", FILE, number), Message("mend {}", FILE)
        )
    values = {"fingerprint": ""}
    for key in _keys(bool(prints)):
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise BadConfig(
                Message("{}: entry {} has no `{}`", FILE, number, key),
                Message("mend {}; every exception gives a reason", FILE),
            )
        values[key] = value
    until = row.get("until")
    if isinstance(until, str):
        with suppress(ValueError):
            until = date.fromisoformat(until)
    elif isinstance(until, datetime):
        until = until.date()
    if until is not None and not isinstance(until, date):
        raise BadConfig(Message("{}: entry {}: `until` is not a date", FILE, number), Message("mend {}", FILE))
    if prints and ("fingerprint" in row or until is None or values["rule"] not in EXCEPTED_FOR_FILES):
        words = "an exception for a rule in a file ends on a day, has no `fingerprint`, and is never for"
        raise BadConfig(
            Message("{}: entry {}: {} secrets, exfiltration or what hides", FILE, number, words),
            Message("mend {}", FILE),
        )
    return Entry(**values, until=until, fingerprints=tuple(prints))


def _keys(for_file: bool) -> tuple[str, ...]:
    """The keys of an exception's table whose values are texts. `for_file`: whether the exception is for a rule in a
    file."""
    if for_file:
        return ("rule", "path", "reason")
    return ("fingerprint", "rule", "path", "reason")


def parse_date(text: str) -> date:
    """The date that `text` says as YYYY-MM-DD or in another form of ISO 8601 (`20260131`, `2026-W05-6`). Raises
    UsageError for any other text."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(Message("'{}' is not a date", text), "write it as YYYY-MM-DD") from None


HEADER = """\
# Reviewed exceptions of `git mem scan`: each covers one rule at one place or in one file, until a day.
# Made by `git mem allow`; `git mem scan --audit` lists them. CI honours those on the base branch only.
"""


def with_entry(text: str, entry: Entry, salt: str) -> str:
    """The text of the file with one more exception at its end; everything else stays as it is. `salt`: written into a
    new file only."""
    body = text
    if not text.strip():
        body = f"{HEADER}salt = {_quote(salt)}\n"
    lines = ["[[allow]]", *(f"{key} = {_quote(getattr(entry, key))}" for key in _keys(entry.for_file))]
    if entry.for_file:
        lines += [f"fingerprints = [{', '.join(map(_quote, entry.fingerprints))}]"]
    if entry.until:
        lines += [f"until = {entry.until.isoformat()}"]
    return body.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"


BASELINE_HEADER = """\
# What stood here when this memory was adopted, by file and rule: accepted as it is, no text of it. A row ends by itself
# once its finding is gone; what is written anew is held to the gate. `git mem scan --all` shows what is accepted.
"""
BASELINE = re.compile(
    rf"(?:^{re.escape(BASELINE_HEADER)})?^\[\[standing\]\]\n(?:(?!\[\[|# What stood).*\n?)*", re.MULTILINE
)


def with_baseline(text: str, rows: Iterable[BaselineRow], salt: str) -> str:
    """The text of the file with these rows as its whole baseline. `salt`: written only into a new file. Returns ""
    when the file would be empty."""
    other_text = BASELINE.sub("", text).rstrip("\n")
    tables = [f"[[standing]]\npath = {_quote(path)}\n{_rules(group)}\n" for path, group in _by_path(rows).items()]
    if not tables:
        if not other_text:
            return ""
        return f"{other_text}\n"
    head = other_text or f"{HEADER}salt = {_quote(salt)}"
    return head + "\n\n" + BASELINE_HEADER + "\n".join(tables)


def _by_path(rows: Iterable[BaselineRow]) -> dict[str, list[BaselineRow]]:
    """Path -> its rows. The paths are sorted, and so are the rows of each (by rule, then by fingerprint)."""
    by_path: dict[str, list[BaselineRow]] = {}
    for row in sorted(rows):
        by_path.setdefault(row.path, []).append(row)
    return by_path


def _rules(rows: Sequence[BaselineRow]) -> str:
    """The rules of one file as lines of TOML, each with its fingerprints."""
    rules = dict.fromkeys(row.rule for row in rows)
    prints = {rule: [_quote(row.fingerprint) for row in rows if row.rule == rule] for rule in rules}
    return "\n".join(f"rules.{_quote(rule)} = [{', '.join(quoted)}]" for rule, quoted in prints.items())


def _quote(text: str) -> str:
    """`text` as a TOML basic string on one line: quotes, backslashes and control characters are escaped."""
    escaped = []
    for c in text:
        if c in '"\\':
            escaped.append("\\" + c)
        elif 0xD800 <= ord(c) < 0xE000:  # a lone surrogate, which TOML cannot hold
            escaped.append("\\uFFFD")
        elif ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0:
            escaped.append(f"\\u{ord(c):04X}")
        else:
            escaped.append(c)
    return '"' + "".join(escaped) + '"'
