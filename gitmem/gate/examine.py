"""Runs the detectors on one text, and makes findings of their matches: place, masked excerpt, fingerprint.

A *match* is what a detector returns; a *finding* is what a person sees. The module fails closed: a detector that raises
becomes a finding that blocks. No finding has a secret in its text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from gitmem.gate.detectors import registry, rule_file
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.spans import merge_spans
from gitmem.gate.detectors.text import Match, Scope, Text
from gitmem.gate.exceptions import fingerprint
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.lazy_patterns import lazy

MAX_FINDINGS = 60  # findings reported one by one for a file
MAX_MATCHES = 6_000  # matches of one detector in one text; a text with more is refused and not scanned to the end
MAX_CONTROL_FINDINGS = 3  # control characters reported one by one for a binary file
EXCERPT_CHARACTERS = 48  # characters of context on each side of a match in an excerpt
UNSCANNABLE = "unscannable"  # the rule of a file that could not be scanned
RANDOM_RULES = ("assigned-secret", "handled-secret", "vendor-secret")  # rules for values that only look random
HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of one file, or of one message, to scan.

    `path`: repository-relative, or `MESSAGE`. `oid`: the blob's oid, "" for a file of the work tree. `commit`: the
    commit that adds this version, "" when it is not committed. `skipped`: why the bytes could not be read, "" when
    they were.
    """

    path: str
    data: bytes
    oid: str = ""
    commit: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class FilesBefore:
    """The files as they were before a change.

    `texts`: a function from a path to the bytes that the parent commits had there, equal ones once; empty for a new
    path. `removed`: the paths that the change deletes or moves.
    """

    texts: Callable[[str], Sequence[bytes]]
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Source:
    """The input of a scan.

    `blobs`: an iterator reads them while they are scanned. `findings`: findings about the change as a whole, without
    fingerprints. `before`: the files before the change, so that the baseline accepts nothing that the change adds; None
    when no change is scanned or nothing was there before: then the baseline alone decides. `ids`: returns the oids of
    the newest `ranges.MAX_COMMIT_IDS` commits (`Policy.ids`), and is called only when a value may be one; None: no
    value is compared with the ids of commits.
    """

    blobs: Iterable[Blob]
    findings: tuple[Finding, ...] = ()
    before: FilesBefore | None = None
    ids: Callable[[], frozenset[str]] | None = None


def scan_blob(blob: Blob, policy: Policy) -> list[Finding]:
    """The findings of one blob, before exceptions; of a blob with many only MAX_FINDINGS one by one (`examine`). A blob
    that could not be read gives one blocking finding (UNSCANNABLE)."""
    if blob.skipped:
        return [finding_of_blob(UNSCANNABLE, blob, f"not scanned, so not let through: {blob.skipped}", policy)]
    text, problem = decode(blob.data)
    text_findings = examine(text, blob.path, policy, binary=bool(problem))
    findings = [replace(finding, commit=blob.commit) for finding in text_findings]
    if problem:
        return [*findings, finding_of_non_text(blob, problem, policy)]
    return findings


def decode(data: bytes) -> tuple[str, str]:
    """(text, problem): the decoded bytes, and why they are refused; the problem of UTF-8 text without NUL is "".

    Text in UTF-16 (with a byte order mark) or CP949 is decoded as such, so that it is scanned as a reader would see it;
    other bytes that are not UTF-8 are decoded with replacement characters.
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
    if "\0" in text:
        return text, "holds NUL bytes: not a text file, and hidden from grep and diff"
    return text, ""


class DetectorFailure(NamedTuple):
    """A detector that raised. `detector`: its name. `error`: the name of the exception's class."""

    detector: str
    error: str


class DetectorRun(NamedTuple):
    """The result of running all detectors on one text.

    `matches`: sorted by place, without repeats. `limit_reached`: whether a detector reached `Text.most` matches and was
    stopped, so that the text was not scanned to its end.
    """

    matches: list[Match]
    failures: list[DetectorFailure]
    limit_reached: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """The matches in one text, with the caches for making findings of them.

    `matches`: in order of place. `secrets`: the half-open ranges of `text.raw` that must be masked, sorted, without
    overlaps. `failures`: the detectors that raised. `limit_reached`: whether a detector was stopped before the end of
    the text. `cached`: detector -> its matches, for detectors that ignore `Text.exhaustive`; they are reused when
    masking scans the text again. `masked_lines`: cache of `masked_line`.
    """

    text: Text
    matches: list[Match]
    secrets: list[tuple[int, int]]
    failures: list[DetectorFailure]
    limit_reached: bool = False
    cached: dict[str, list[Match]] = field(default_factory=dict)
    masked_lines: dict[tuple[int, int], str] = field(default_factory=dict)

    def masked_line(self, start: int, end: int) -> str:
        """The lines around `text.raw[start:end]`, secrets masked. Cached, since one line may hold thousands of
        matches."""
        place = _lines_touched(self.text.raw, start, end)
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
    """Run the policy's detectors on a text, as if it were the file at `path`.

    A secret inside another secret of at least its severity is dropped. So is a random-looking value that is an oid in
    `policy.ids`, or the first seven or more digits of one. An error in a detector is never raised: it is in `failures`
    of the result.

    `exhaustive`: find every place, each as small as possible, as masking needs it. `most`: matches after which a
    detector is stopped, None for no limit. `scores`: the cache `Text.scores`. A text with NUL bytes is scanned a second
    time without them.
    """
    scope = _scope_of(path, policy)
    subject = Text(text, path, scope, exhaustive=exhaustive, most=most, scores=scores)
    cached: dict[str, list[Match]] = {}
    matches, failures, limit_reached = run_detectors(subject, policy, cached)
    if "\0" in text:  # a secret that NUL bytes split is found in the text without them
        places = [offset for offset, c in enumerate(text) if c != "\0"]
        without_nul = Text(text.replace("\0", ""), path, scope, exhaustive=exhaustive, most=most)
        more = run_detectors(without_nul, policy)
        limit_reached = limit_reached or more.limit_reached
        matches += [_with_nul(match, places) for match in more.matches]
        failures += more.failures
    if policy.ids:
        matches = [match for match in matches if not _is_commit_id(match, text, policy)]
    return _inspection(subject, DetectorRun(matches, failures, limit_reached), cached)


def _is_commit_id(match: Match, text: str, policy: Policy) -> bool:
    """Whether a random-looking value is the oid of a commit of `policy.ids`, or its first seven or more digits."""
    value = text[match.start : match.end]
    if match.rule not in RANDOM_RULES or len(value) < 7 or not set(value) <= HEX:
        return False
    return value in policy.ids or any(oid.startswith(value) for oid in policy.ids)


def inspect_exhaustively(inspection: Inspection, policy: Policy) -> Inspection:
    """Scan an inspected text again with `Text.exhaustive`: every match, each as small as possible. Masking needs that.

    Precondition: the first inspection had no limit on matches (`most` None), and its text no NUL. Detectors that ignore
    `Text.exhaustive` do not run again.
    """
    subject = inspection.text.exhaustively()
    return _inspection(subject, run_detectors(subject, policy, dict(inspection.cached)), inspection.cached)


def _inspection(subject: Text, run: DetectorRun, cached: dict[str, list[Match]]) -> Inspection:
    """The inspection of a run: its matches without duplicates, and the spans of secrets joined where they touch."""
    matches = _distinct(run.matches)
    secrets = merge_spans([(m.start, m.end) for m in matches if m.secret])
    return Inspection(subject, matches, secrets, run.failures, run.limit_reached, cached)


def _scope_of(path: str, policy: Policy) -> Scope:
    if path == MESSAGE:
        return Scope.MESSAGE
    if policy.expects_instructions(path):
        return Scope.INSTRUCTIONS
    return Scope.MEMORY


def examine(text: str, path: str, policy: Policy, *, binary: bool = False) -> list[Finding]:
    """The findings of one text before exceptions, in order of place. `binary`: the text was decoded from bytes that are
    not UTF-8 text.

    At most MAX_FINDINGS are reported one by one, because each fingerprint is slow to compute: findings that block
    first, and the first finding of every rule before the second of any. One more finding counts the rest. Of a `binary`
    file more than MAX_CONTROL_FINDINGS control characters are only counted as well.
    """
    inspection = inspect(text, path, policy)
    shown = inspection.matches
    hidden: list[Match] = []
    controls = [match for match in shown if binary and match.rule == "terminal-control"]
    if len(controls) > MAX_CONTROL_FINDINGS:
        shown, hidden = [match for match in shown if match.rule != "terminal-control"], controls
    if len(shown) > MAX_FINDINGS:
        ranked = _ranked(shown)
        shown = sorted(ranked[:MAX_FINDINGS], key=lambda match: match.start)
        hidden = [*ranked[MAX_FINDINGS:], *hidden]
    findings = [finding_of(match, inspection, policy) for match in shown]
    if inspection.limit_reached:
        findings.append(finding_of_match_limit(text, path, policy))
    elif hidden:
        findings.append(_finding_of_the_rest(hidden, path, policy, text))
    return findings + [finding_of_failure(failure, path, policy) for failure in inspection.failures]


def _ranked(matches: Sequence[Match]) -> list[Match]:
    """Blocking matches before warnings; within each, the first match of every rule before the second of any."""
    counts: Counter[str] = Counter()
    order: list[tuple[bool, int, Match]] = []
    for match in matches:
        order.append((match.severity is Severity.WARN, counts[match.rule], match))
        counts[match.rule] += 1
    return [match for _, _, match in sorted(order, key=lambda row: row[:2])]


def finding_of_failure(failure: DetectorFailure, path: str, policy: Policy) -> Finding:
    """The blocking finding for a detector that raised, at the file `path`."""
    words = f"the detector '{failure.detector}' failed ({failure.error}), so nothing is let through"
    return finding_of_blob("scanner-failed", Blob(path, b""), words, policy)


def finding_of_match_limit(text: str, path: str, policy: Policy) -> Finding:
    """The blocking finding for a text in which a detector reached the match limit, so that it was not scanned to its
    end. The fingerprint is of the whole text."""
    words = "more findings in this file than can be counted: they are no notes"
    return finding_of_blob("more-findings", Blob(path, b"", oid=_digest([text])), words, policy)


def finding_of_non_text(blob: Blob, problem: str, policy: Policy) -> Finding:
    """The blocking finding for a blob whose bytes are not UTF-8 text. `problem`: the problem that `decode` returned."""
    return finding_of_blob("not-text", blob, problem, policy)


def _finding_of_the_rest(hidden: Sequence[Match], path: str, policy: Policy, text: str) -> Finding:
    """One finding that counts the `hidden` matches; it blocks if one of them does. Its fingerprint is of all their
    matched texts."""
    severity = Severity.of(blocks=any(match.severity is Severity.BLOCK for match in hidden))
    rules = ", ".join(sorted({match.rule for match in hidden})[:4])
    words = f"{len(hidden)} more findings in this file ({rules})"
    matched = [f"{match.rule}\0{text[match.start : match.end]}" for match in hidden]
    finding = finding_of_blob("more-findings", Blob(path, b"", oid=_digest(matched)), words, policy)
    secret = any(map(registry.is_secret, hidden))
    return replace(finding, severity=severity, secret=secret)


def _digest(texts: Iterable[str]) -> str:
    """The SHA-256 of some texts, in hexadecimal digits; their order matters."""
    from hashlib import sha256  # loads OpenSSL: only a text full of findings needs it

    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def run_detectors(text: Text, policy: Policy, cached: dict[str, list[Match]] | None = None) -> DetectorRun:
    """Run the policy's detectors, and the rules of `--rules`, on one text.

    `cached`: detector -> matches of detectors that do not run again; `run_detectors` adds those of each detector that
    did not read `text.exhaustive`. An exception in a detector or a rule is never raised: it becomes a failure of the
    result. Each detector is stopped at `text.most` matches; with None none is stopped.
    """
    matches: list[Match] = []
    failures: list[DetectorFailure] = []
    limit_reached = False
    if cached is None:
        cached = {}
    for name in policy.detectors or registry.DETECTORS:
        if name in cached:
            matches += cached[name]
            continue
        text.asked = False
        try:
            matches_of = list(islice(registry.load(name)(text), text.most))
            matches += matches_of
            if not text.asked:
                cached[name] = matches_of
            limit_reached = limit_reached or len(matches_of) == text.most
        except Exception as error:  # noqa: BLE001 - fails closed: the caller makes a blocking finding of it
            failures.append(DetectorFailure(name, type(error).__name__))
    if policy.rules:
        try:
            matches += list(rule_file.find(text, policy.rules))
        except Exception as error:  # noqa: BLE001 - as for detectors: a person's own pattern may never end
            failures.append(DetectorFailure("rules", type(error).__name__))
    ordered = sorted(set(matches), key=lambda m: (m.start, m.end, m.rule, m.message))
    return DetectorRun(ordered, failures, limit_reached)


def _with_nul(match: Match, places: list[int]) -> Match:
    """A match in the text without NULs, moved to the text with NULs. `places`: for each character of the former its
    offset in the latter."""
    if not places:
        return replace(match, start=0, end=0)
    start = end = places[min(match.start, len(places) - 1)]
    if match.end > match.start:
        end = places[match.end - 1] + 1
    return replace(match, start=start, end=end)


def _distinct(matches: Sequence[Match]) -> list[Match]:
    """The matches without each secret that lies inside another secret of at least its severity: one token is one
    finding."""
    distinct: list[Match] = []
    reach = reach_blocking = -1  # where the secrets kept so far end; all begin no later than the next one
    for match in sorted(set(matches), key=lambda m: (m.start, -m.end, m.severity, m.rule, m.message)):
        if match.secret:
            if match.end <= reach_blocking or (match.end <= reach and match.severity is Severity.WARN):
                continue
            reach = max(reach, match.end)
            if match.severity is Severity.BLOCK:
                reach_blocking = max(reach_blocking, match.end)
        distinct.append(match)
    return distinct


def finding_of(match: Match, inspection: Inspection, policy: Policy) -> Finding:
    """Make a finding of a match: its line and column, a masked excerpt and the fingerprint."""
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
    """The text from which a match's fingerprint is computed: the matched text and `Match.context` characters after it.

    A public fingerprint of a value that can be guessed (a password, a phone number) would reveal it. For such a rule
    the identity is therefore the path and the masked line. For a match with `Match.unread` it is the path and the whole
    text, for an empty match the path and the message.
    """
    text = inspection.text
    if match.unread:
        return f"{text.path}\0{text.raw}"
    if match.secret and match.rule.startswith(registry.GUESSABLE):
        return f"{text.path}\0{inspection.masked_line(match.start, match.end)}"
    return text.raw[match.start : match.end + match.context] or f"{text.path}\0{match.message}"


def with_fingerprint(finding: Finding, text: str, policy: Policy) -> Finding:
    """The finding with the fingerprint of its rule and `text`, under the salt of the policy's exceptions."""
    return replace(finding, fingerprint=fingerprint(policy.allow.salt, finding.rule, text))


def finding_of_blob(rule: str, blob: Blob, message: str, policy: Policy) -> Finding:
    """A blocking finding about a blob as a whole, at line 1. Its fingerprint is of the path, the message and the
    oid."""
    finding = Finding(rule, Severity.BLOCK, blob.path, 1, 1, 1, 1, message, commit=blob.commit)
    return with_fingerprint(finding, f"{blob.path}\0{message}\0{blob.oid}", policy)


def excerpt(raw: str, match: Match, secrets: list[tuple[int, int]]) -> str:
    """The match with up to EXCERPT_CHARACTERS of its lines on each side, secrets masked; about 200 characters at most.
    `…` at an end shows that the line goes on."""
    first, last = _lines_touched(raw, match.start, match.end)
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
    unnamed = [span for span in _random_values(raw, start, end, match) if not _touching(secrets, *span)]
    nothing = match.rule.startswith(registry.GUESSABLE) or bool(unnamed)
    shown = masked_excerpt(raw, start, end, merge_spans([*secrets, *unnamed]), nothing=nothing).strip("\r\n")
    if start > first:
        shown = f"…{shown}"
    if end < last:
        shown = f"{shown}…"
    return shown


def _random_values(raw: str, start: int, end: int, match: Match) -> list[tuple[int, int]]:
    """The values of raw[start:end] that look made by a machine, but for one that is the match itself. They may be
    secrets that no rule names: an excerpt is read by many."""
    from gitmem.gate.detectors.secrets.decision import is_random  # only a finding needs it

    values = [
        value.span() for value in _VALUE.finditer(raw, start, end) if is_random(value.group(), _RANDOM_CHARACTERS)
    ]
    return [(a, b) for a, b in values if not a <= match.start < match.end <= b]


_VALUE = lazy(r"[0-9A-Za-z_+=~%-]{10,}")
_RANDOM_CHARACTERS = 12  # characters from which a random value is masked in an excerpt


def _lines_touched(raw: str, start: int, end: int) -> tuple[int, int]:
    """The half-open span of the lines that a match touches, without the last line ending."""
    first = raw.rfind("\n", 0, start) + 1
    last = raw.find("\n", max(start, end - 1))
    if last < 0:
        last = len(raw)
    return first, last


def _touching(secrets: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The ranges of `secrets` that overlap start..end. Precondition: `secrets` is sorted and without overlaps."""
    first = max(0, bisect_right(secrets, (start, start)) - 1)
    last = bisect_right(secrets, (end, end))
    return [(a, b) for a, b in secrets[first:last] if a < end and b > start]


WORD = re.compile(r"[A-Za-z0-9_+/=.~%-]*")


def masked_excerpt(raw: str, start: int, end: int, secrets: list[tuple[int, int]], *, nothing: bool) -> str:
    """`raw[start:end]` with each secret replaced by its mask, together with the rest of the word after the secret.
    `secrets`: sorted, without overlaps. `nothing`: True shows no character of a secret, False its first ones
    (`mask`)."""
    parts, copied_end = [], start
    for secret_start, secret_end in _touching(secrets, start, end):
        if secret_end <= copied_end:
            continue
        tail = WORD.match(raw, secret_end, max(secret_end, min(len(raw), secret_end + 512)))
        parts.append(raw[copied_end : max(secret_start, copied_end)])
        parts.append(mask(raw[secret_start:secret_end], nothing=nothing))
        copied_end = secret_end
        if tail:
            copied_end = tail.end()
    parts.append(raw[copied_end:end])
    return "".join(parts)


def mask(secret: str, *, nothing: bool = False) -> str:
    """The mask of a secret: its first four to six characters, never more than a quarter, and `[…]` (`ghp_ab[…]`).

    Only `[…]` for a secret under 16 characters, for one whose beginning is not printable ASCII, and with `nothing`.
    """
    shown = min(6, len(secret) // 4)
    head = secret[:shown]
    if nothing or shown < 4 or not (head.isascii() and head.isprintable()):
        head = ""
    return head + "[…]"
