"""One text and what the detectors make of it: each find with its place, its masked excerpt and its fingerprint.

Fails closed: a detector that raises is a finding that blocks. No finding it makes holds a secret.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gitmem.gate.detectors import registry, rule_file
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.text import Match, Scope, Text
from gitmem.gate.exceptions import fingerprint
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.paths import kind

MAX_FINDINGS = 60  # findings of one file that are told one by one
MAX_MATCHES = 6_000  # of one detector in one text; a text of more is refused without reading on


NOISE = 3  # control characters that are told one by one where a file is no text


EXCERPT_CHARACTERS = 48  # characters of context on each side of a find in an excerpt


UNSCANNABLE = "unscannable"


RANDOM_RULES = ("assigned-secret", "handled-secret", "vendor-secret")  # a value that looks random, whatever its form
HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that will become memory, and where they stand. `skipped` says why there are none to look at."""

    path: str
    data: bytes
    oid: str = ""
    commit: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Before:
    """The files before a change: `texts` gives the bytes of a path as each side of it had them (none where there was
    none); `gone` are the paths that the change takes away, by moving them too."""

    texts: Callable[[str], Sequence[bytes]]
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Source:
    """Blobs to scan, read as they are used up, and the findings about the change itself that brings them.

    `before` says what was there before the change, so that the baseline accepts nothing that the change itself brings;
    None where the question is not about a change, or nothing was there. `ids` asks for the oids of commits
    (`Policy.ids`); it is called where a value may be one.
    """

    blobs: Iterator[Blob]
    findings: tuple[Finding, ...] = ()
    before: Before | None = None
    ids: Callable[[], frozenset[str]] | None = None


def scan_blob(blob: Blob, policy: Policy) -> list[Finding]:
    """All findings of one blob, exceptions not yet applied."""
    if blob.skipped:
        return [finding_of_blob(UNSCANNABLE, blob, f"not scanned, so not let through: {blob.skipped}", policy)]
    text, problem = decode(blob.data)
    own = examine(text, blob.path, policy, binary=bool(problem))
    findings = [replace(finding, commit=blob.commit) for finding in own]
    if problem:
        return [*findings, not_text(blob, problem, policy)]
    return findings


def decode(data: bytes) -> tuple[str, str]:
    """(text, what is wrong with the bytes, "" when they are UTF-8 text).

    Whatever the encoding, the text returned is what a reader would most probably see, so that it is scanned too.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
        return text, "UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp949")
            return text, "not UTF-8 (it reads as CP949); convert it: iconv -f CP949 -t UTF-8"
        except UnicodeDecodeError:
            return data.decode("utf-8", "replace"), "not UTF-8 text"
    return text, "holds NUL bytes: not a text file, and hidden from grep and diff" if "\0" in text else ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the detectors found in one text.

    `matches` in order of place; `secrets` the half-open ranges of `text.raw` that may not be shown, in order and
    apart; `failed` (detector, name of its error) for each that raised; `unread`: a detector had more to report than
    MAX_MATCHES, and was stopped. `same` has the matches of each detector that finds the same where every place is
    wanted.
    """

    text: Text
    matches: list[Match]
    secrets: list[tuple[int, int]]
    failed: list[tuple[str, str]]
    unread: bool = False
    same: dict[str, list[Match]] = field(default_factory=dict)
    masked_lines: dict[tuple[int, int], str] = field(default_factory=dict)

    def masked_line(self, start: int, end: int) -> str:
        """The lines around `text.raw[start:end]`, secrets masked. Kept: one line may hold thousands of finds."""
        place = _line_around(self.text.raw, start, end)
        if place not in self.masked_lines:
            self.masked_lines[place] = masked_excerpt(self.text.raw, *place, self.secrets, nothing=True)
        return self.masked_lines[place]


def inspect(
    text: str,
    path: str,
    policy: Policy,
    *,
    exhaustive: bool = False,
    most: int | None = MAX_MATCHES,
    scores: dict[tuple[str, str, str], float] | None = None,
) -> Inspection:
    """Run the policy's detectors on a text as what it is at `path`; a secret inside another is left out.

    `exhaustive`, `most` and `scores` are those of `Text`; masking needs every place, at its smallest.
    """
    scope = _scope_of(path, policy)
    subject = Text(text, path, scope, kind(path).value, exhaustive=exhaustive, most=most, scores=scores)
    same: dict[str, list[Match]] = {}
    matches, failed, unread = run(subject, policy, same)
    if "\0" in text:  # what NUL splits is read joined as well
        places = [at for at, c in enumerate(text) if c != "\0"]
        unsplit, broken, more = run(Text(text.replace("\0", ""), path, scope, exhaustive=exhaustive, most=most), policy)
        unread = unread or more
        matches += [_unsplit(match, places) for match in unsplit]
        failed += broken
    if policy.ids:
        matches = [match for match in matches if not _is_known_id(match, text, policy)]
    return _inspection(subject, matches, failed, unread, same)


def _is_known_id(match: Match, text: str, policy: Policy) -> bool:
    """Whether a value that looks random is (the beginning of) the oid of a commit of this repository."""
    value = text[match.start : match.end]
    if match.rule not in RANDOM_RULES or len(value) < 7 or not set(value) <= HEX:
        return False
    return value in policy.ids or any(oid.startswith(value) for oid in policy.ids)


def inspect_exhaustively(look: Inspection, policy: Policy) -> Inspection:
    """A text that was looked at (without NUL, and with no bound on matches) once more, for every place at its smallest.

    Only the detectors that find more then are run again.
    """
    subject = look.text.exhaustively()
    return _inspection(subject, *run(subject, policy, dict(look.same)), look.same)


def _inspection(
    subject: Text, matches: list[Match], failed: list[tuple[str, str]], unread: bool, same: dict[str, list[Match]]
) -> Inspection:
    matches = _distinct(matches)
    secrets = merge_spans([(m.start, m.end) for m in matches if m.secret])
    return Inspection(subject, matches, secrets, failed, unread, same)


def _scope_of(path: str, policy: Policy) -> Scope:
    if path == MESSAGE:
        return Scope.MESSAGE
    if policy.instructs(path):
        return Scope.INSTRUCTIONS
    return Scope.MEMORY


def examine(text: str, path: str, policy: Policy, *, binary: bool = False) -> list[Finding]:
    """The findings of one text before exceptions, in order of place.

    Above MAX_FINDINGS, those that block come first, of each rule its first ones, and the rest is one finding that says
    how many: a file full of secrets must not cost minutes of fingerprints. The control characters of a `binary` file,
    which is full of them, are part of the rest.
    """
    inspection = inspect(text, path, policy)
    noise = [match for match in inspection.matches if binary and match.rule == "terminal-control"]
    if len(noise) > NOISE:
        noise = noise
    else:
        noise = []
    shown = [match for match in inspection.matches if not noise or match.rule != "terminal-control"]
    hidden = noise
    if len(shown) > MAX_FINDINGS:
        ranked = _ranked(shown)
        shown, hidden = sorted(ranked[:MAX_FINDINGS], key=lambda match: match.start), [*ranked[MAX_FINDINGS:], *noise]
    findings = [finding_of(match, inspection, policy) for match in shown]
    if inspection.unread:
        findings.append(unread(text, path, policy))
    elif hidden:
        findings.append(_finding_of_the_rest(hidden, path, policy, text))
    return findings + [failure(name, error, path, policy) for name, error in inspection.failed]


def _ranked(matches: Sequence[Match]) -> list[Match]:
    """Those that block first; among these the first of each rule before any second one, so that none hides another."""
    told: Counter[str] = Counter()
    order: list[tuple[bool, int, Match]] = []
    for match in matches:
        order.append((match.severity is Severity.WARN, told[match.rule], match))
        told[match.rule] += 1
    return [match for _, _, match in sorted(order, key=lambda row: row[:2])]


def failure(name: str, error: str, path: str, policy: Policy) -> Finding:
    """What a detector that broke is: a finding that blocks."""
    words = f"the detector '{name}' failed ({error}), so nothing is let through"
    return finding_of_blob("scanner-failed", Blob(path, b""), words, policy)


def unread(text: str, path: str, policy: Policy) -> Finding:
    """What a text is of which a detector did not read all: a finding that blocks, with the fingerprint of this text."""
    words = "more findings in this file than can be counted: they are no notes"
    return finding_of_blob("more-findings", Blob(path, b"", oid=_digest([text])), words, policy)


def not_text(blob: Blob, problem: str, policy: Policy) -> Finding:
    """What bytes are that are no UTF-8 text (`problem` of `decode`): a finding that blocks."""
    return finding_of_blob("not-text", blob, problem, policy)


def _finding_of_the_rest(hidden: Sequence[Match], path: str, policy: Policy, text: str) -> Finding:
    """The findings that are not told one by one, as one whose fingerprint is of what they found in `text`."""
    blocks = any(match.severity is Severity.BLOCK for match in hidden)
    rules = ", ".join(sorted({match.rule for match in hidden})[:4])
    words = f"{len(hidden)} more findings in this file ({rules})"
    matched = [f"{match.rule}\0{text[match.start : match.end]}" for match in hidden]
    finding = finding_of_blob("more-findings", Blob(path, b"", oid=_digest(matched)), words, policy)
    secret = any(map(registry.is_secret, hidden))
    return replace(finding, severity=Severity.BLOCK if blocks else Severity.WARN, secret=secret)


def _digest(texts: Iterable[str]) -> str:
    from hashlib import sha256  # loads OpenSSL: only a text full of findings needs it

    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def run(
    text: Text, policy: Policy, same: dict[str, list[Match]] | None = None
) -> tuple[list[Match], list[tuple[str, str]], bool]:
    """(matches, detectors that failed with the name of their error, whether one was stopped at MAX_MATCHES).

    `same` has the matches of detectors that need not run again, and is given those of each that did not ask whether
    every place is wanted. Never raises for what a detector or a rule of `--rules` does. Where `text.most` is None no
    detector is stopped.
    """
    matches: list[Match] = []
    failed: list[tuple[str, str]] = []
    unread = False
    if same is None:
        same = {}
    for name in policy.detectors or registry.DETECTORS:
        if name in same:
            matches += same[name]
            continue
        text.asked = False
        try:
            matches_of = list(islice(registry.load(name)(text), text.most))
            matches += matches_of
            if not text.asked:
                same[name] = matches_of
            unread = unread or len(matches_of) == text.most
        except Exception as error:  # noqa: BLE001 - fails closed: the caller makes a blocking finding of it
            failed.append((name, type(error).__name__))
    if policy.rules:
        try:
            matches += list(rule_file.find(text, policy.rules))
        except Exception as error:  # noqa: BLE001 - as above: rules are a person's own, and may not end
            failed.append(("rules", type(error).__name__))
    return sorted(set(matches), key=lambda m: (m.start, m.end, m.rule, m.message)), failed, unread


def _unsplit(match: Match, places: list[int]) -> Match:
    """A match in the text without NULs, at its place in the text with them."""
    if not places:
        return replace(match, start=0, end=0)
    start = places[min(match.start, len(places) - 1)]
    return replace(match, start=start, end=places[match.end - 1] + 1 if match.end > match.start else start)


def _distinct(matches: Sequence[Match]) -> list[Match]:
    """Without the secrets that lie inside another secret that blocks no less: one token is one finding."""
    kept: list[Match] = []
    reach = reach_blocking = -1  # how far the secrets kept so far go; all begin no later than the next one
    for match in sorted(set(matches), key=lambda m: (m.start, -m.end, m.severity, m.rule, m.message)):
        if match.secret:
            if match.end <= (reach if match.severity is Severity.WARN else reach_blocking):
                continue
            reach = max(reach, match.end)
            if match.severity is Severity.BLOCK:
                reach_blocking = max(reach_blocking, match.end)
        kept.append(match)
    return kept


def finding_of(match: Match, inspection: Inspection, policy: Policy) -> Finding:
    """A match as a finding: place, masked excerpt, fingerprint."""
    text = inspection.text
    line, column = text.line_of(match.start)
    end_line, end_column = text.line_of(max(match.start, match.end - 1))
    whole = Finding(
        match.rule, match.severity, text.path, line, column, end_line, end_column + (match.end > match.start),
        match.message, excerpt(text.raw, match, inspection.secrets), match.start, match.end,
        secret=registry.is_secret(match),
    )  # fmt: skip
    return with_fingerprint(whole, identity(inspection, match), policy)


def identity(inspection: Inspection, match: Match) -> str:
    """What a fingerprint is made of: the matched text with what was judged with it.

    For what can be guessed its path and masked line; where the detector read no further, the whole text.
    """
    text = inspection.text
    if match.unread:
        return f"{text.path}\0{text.raw}"
    if match.secret and match.rule.startswith(registry.GUESSABLE):
        return f"{text.path}\0{inspection.masked_line(match.start, match.end)}"
    return text.raw[match.start : match.end + match.context] or f"{text.path}\0{match.message}"


def with_fingerprint(finding: Finding, text: str, policy: Policy) -> Finding:
    """The finding with its fingerprint: of its rule and `text`, salted as the policy's exceptions are."""
    return replace(finding, fingerprint=fingerprint(policy.allow.salt, finding.rule, text))


def finding_of_blob(rule: str, blob: Blob, message: str, policy: Policy) -> Finding:
    """A finding about a blob as a whole."""
    finding = Finding(rule, Severity.BLOCK, blob.path, 1, 1, 1, 1, message, commit=blob.commit)
    return with_fingerprint(finding, f"{blob.path}\0{message}\0{blob.oid}", policy)


def excerpt(raw: str, match: Match, secrets: list[tuple[int, int]]) -> str:
    """The match and some text around it on its lines, at most a few hundred characters. Secrets are masked."""
    first, last = _line_around(raw, match.start, match.end)
    start = max(first, match.start - EXCERPT_CHARACTERS)
    end = min(last, max(match.end, match.start + 1) + EXCERPT_CHARACTERS)
    if end - start > 4 * EXCERPT_CHARACTERS:
        end = start + 4 * EXCERPT_CHARACTERS
    # the window must not cut a secret in two: half a secret would not be masked
    for a, b in _touching(secrets, start, end):
        if a < start < b:
            if a <= match.start < b:
                start = a
            else:
                start = b
        if a < end < b:
            end = b
    shown = masked_excerpt(raw, start, end, secrets, nothing=match.rule.startswith(registry.GUESSABLE))
    return ("…" if start > first else "") + shown.strip("\r\n") + ("…" if end < last else "")


def _line_around(raw: str, start: int, end: int) -> tuple[int, int]:
    first = raw.rfind("\n", 0, start) + 1
    last = raw.find("\n", max(start, end - 1))
    return first, len(raw) if last < 0 else last


def _touching(secrets: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges that touch start..end; `secrets` are in order and apart."""
    first = max(0, bisect_right(secrets, (start, start)) - 1)
    last = bisect_right(secrets, (end, end))
    return [(a, b) for a, b in secrets[first:last] if a < end and b > start]


WORD = re.compile(r"[A-Za-z0-9_+/=.~%-]*")


def masked_excerpt(raw: str, start: int, end: int, secrets: list[tuple[int, int]], *, nothing: bool) -> str:
    """raw[start:end] with its secrets masked, each with the rest of the word it stands in."""
    out, at = [], start
    for a, b in _touching(secrets, start, end):
        if b <= at:
            continue
        tail = WORD.match(raw, b, max(b, min(len(raw), b + 512)))
        out.append(raw[at : max(a, at)])
        out.append(mask(raw[a:b], nothing=nothing))
        if tail:
            at = tail.end()
        else:
            at = b
    out.append(raw[at:end])
    return "".join(out)


def mask(secret: str, *, nothing: bool = False) -> str:
    """At most its first six characters, at most a quarter of it, none of a short one: `ghp_ab[…]`."""
    if nothing:
        shown = 0
    else:
        shown = min(6, len(secret) // 4)
    head = secret[: shown if shown >= 4 else 0]
    return (head if head.isascii() and head.isprintable() else "") + "[…]"


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges in order, those that touch joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
