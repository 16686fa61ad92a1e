"""Masks the matches of the gate in a text, until a scan of the result has no finding. Pure.

A mask replaces exactly the matched text: a value, a sentence, a line. It names the rule and contains nothing of that
text. Our own writers call `refuse_or_mask` before they write: it refuses the text, or masks secrets and personal data,
as `mem.onSecret` and `mem.onPersonal` say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from gitmem.config import Config
from gitmem.errors import Refused
from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.personal.pii import RULES as PERSONAL
from gitmem.gate.detectors.text import Match
from gitmem.gate.examine import Inspection, finding_of, finding_of_failure, inspect, inspect_exhaustively
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.messages import Message

ROUNDS = 4  # rounds of masking matches, then of masking whole lines: a mask can join two parts to a new match
LINE = "[redacted]"
STRUCTURAL = frozenset(registry.REMEDIES)  # rules whose matches no mask mends
STRUCTURAL_DETECTORS = tuple(name for name, detector in registry.DETECTORS.items() if detector.remedies)
ALWAYS = 400  # characters that may be masked in a text of any size
Scores = dict[tuple[str, str, str], float]  # as `Text.scores`
SHARE = 0.5  # share of a text that may be masked without asking the person


@dataclass(frozen=True, slots=True)
class Mask:
    """One part of a text that was replaced. `line`: from 1. `characters`: how many were replaced."""

    rule: str
    line: int
    characters: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """A masked text, and what was replaced.

    `whole`: whether the whole text had to become one mask. `rules`: the rules of all matches, in order of place; where
    matches overlap, the mask names only one of them. `secret`: whether a match is a secret that its owner must rotate.
    """

    text: str
    masks: tuple[Mask, ...] = ()
    whole: bool = False
    rules: tuple[str, ...] = ()
    secret: bool = False

    @property
    def characters(self) -> int:
        """How many characters of the text were replaced; line ends are kept and do not count."""
        return sum(mask.characters for mask in self.masks)

    def excessive(self, size: int) -> bool:
        """Whether too much of a text of `size` characters was masked to write it without asking: more than ALWAYS
        characters and more than SHARE of the text, or the whole text."""
        return self.whole or self.characters > max(ALWAYS, size * SHARE)


def redact(text: str, path: str, policy: Policy, *, only_secrets: bool = False, spoken: Collection[str] = ()) -> str:
    """`text` with every match replaced by its mask. `only_secrets`: mask only secrets and personal data. `spoken`:
    statements of a person, in which a warning about an instruction stays.

    A match that an exception covers stays. Line ends stay, so that line numbers do not change. NUL becomes U+FFFD.
    Raises Refused when masking single lines is not enough, and when a detector fails, since its matches would stay.
    """
    redacted = redaction(text, path, policy, only_secrets=only_secrets, spoken=spoken)
    if redacted.whole:
        raise refusal_of_whole_mask(redacted)
    return redacted.text


def redaction(
    text: str,
    path: str,
    policy: Policy,
    *,
    only_secrets: bool = False,
    leave: Collection[str] = (),
    spoken: Collection[str] = (),
) -> Redaction:
    """Mask a text as `redact` does, and return the text with what was replaced. When masking single lines is not
    enough, the whole text becomes one mask (`Redaction.whole`) and nothing is raised. `leave`: rules whose matches
    stay. `spoken`: statements of a person, in which a warning about an instruction stays. Raises Refused when a
    detector fails."""
    if only_secrets:
        policy = _of_secrets(policy)
    draft = _Draft(text.replace("\0", "\ufffd"))
    rules: dict[str, None] = {}
    secret = False
    scores: Scores = {}
    for attempt in range(2 * ROUNDS):
        inspection, matches = _to_mask(draft.text, path, policy, only_secrets, leave, scores, spoken)
        if not matches:
            return draft.redaction(rules, secret=secret)
        rules |= dict.fromkeys(match.rule for match in matches)
        secret = secret or any(map(registry.is_secret, matches))
        if attempt < ROUNDS:
            draft.replace([_Span(match.start, match.end, _mask(match, draft.text), match.rule) for match in matches])
        else:
            draft.replace(_lines_of(inspection, matches))
    inspection, matches = _to_mask(draft.text, path, policy, only_secrets, leave, scores, spoken)
    if not matches:
        return draft.redaction(rules, secret=secret)
    masks = (Mask(matches[0].rule, 1, len(text)),)
    return Redaction(LINE + "\n", masks, whole=True, rules=tuple(rules), secret=secret)


def _of_secrets(policy: Policy) -> Policy:
    """The policy with only those of its detectors that can match secrets; the others take most of the time."""
    names = tuple(name for name in policy.detectors or registry.DETECTORS if registry.registered(name).secret)
    if names:
        return replace(policy, detectors=names)
    return policy


def _to_mask(
    text: str,
    path: str,
    policy: Policy,
    only_secrets: bool,
    leave: Collection[str],
    scores: Scores,
    spoken: Collection[str] = (),
) -> tuple[Inspection, list[Match]]:
    """One scan for masking: (inspection, matches to mask). No match means that a scan of the text has no finding, or
    only those that `leave` and `spoken` let stay. `only_secrets`: as in `redaction`. Raises Refused when a detector
    failed.

    A scan reports every place of a secret, but other matches perhaps only once. When it has such matches, the text is
    scanned a second time for all places. `scores`: a cache that is kept from round to round, since most sentences do
    not change.
    """
    inspection = inspect(text, path, policy, most=None, scores=scores)
    matches = _uncovered(inspection, policy, only_secrets, leave, spoken)
    if all(match.secret and match.rule != "encoded-secret" for match in matches):
        return inspection, matches
    exhaustive = inspect_exhaustively(inspection, policy)
    return exhaustive, _uncovered(exhaustive, policy, only_secrets, leave, spoken) or matches


def _uncovered(
    inspection: Inspection, policy: Policy, only_secrets: bool, leave: Collection[str], spoken: Collection[str]
) -> list[Match]:
    """The matches of an inspection that no exception in force covers. `only_secrets`, `leave`, `spoken`: as in
    `redaction`. Raises Refused when a detector failed."""
    path = inspection.text.path
    if inspection.failures:
        raise refusal([finding_of_failure(failure, path, policy) for failure in inspection.failures])
    matches = [m for m in inspection.matches if (m.secret or not only_secrets) and m.rule not in leave]
    if spoken:
        matches = [m for m in matches if not _is_said(m, inspection.text.raw, spoken)]
    excepted = {entry.rule for entry in policy.allow.entries if entry.path == path}
    return [m for m in matches if m.rule not in excepted or not _is_excepted(m, inspection, policy)]


def _is_said(match: Match, text: str, spoken: Collection[str]) -> bool:
    """Whether a match only warns of an instruction, and each of its lines is in a statement of `spoken`."""
    if match.severity is not Severity.WARN or not match.rule.startswith("injection-"):
        return False
    lines = [" ".join(line.split()).removeprefix("- ") for line in text[match.start : match.end].split("\n")]
    return all(any(line in statement for statement in spoken) for line in lines)


def _is_excepted(match: Match, inspection: Inspection, policy: Policy) -> bool:
    """Whether an exception that has not expired covers a match."""
    entry = policy.allow.covers(finding_of(match, inspection, policy))
    return entry is not None and not entry.expired(policy.today)


def _mask(match: Match, text: str) -> str:
    """The text that replaces a match: the detector's own mask, unless that begins like the secret; else
    `[redacted:RULE]`."""
    mask = match.mask
    if mask and mask[:2] != text[match.start : match.start + 2] and len(mask) > 2:
        return mask
    return f"[redacted:{match.rule}]"


def _lines_of(inspection: Inspection, matches: Sequence[Match]) -> list[_Span]:
    """The lines that any of the matches touches, in order, as spans without their line ends that LINE replaces. The
    rule of a line is that of the first of `matches` that touches it."""
    rules: dict[int, str] = {}
    for match in matches:
        first, _ = inspection.text.line_of(match.start)
        last, _ = inspection.text.line_of(max(match.start, match.end - 1))
        for number in range(first, last + 1):
            rules.setdefault(number, match.rule)
    spans = []
    for number, (start, line) in enumerate(inspection.text.lines, 1):
        if number in rules:
            spans.append(_Span(start, start + len(line), LINE, rules[number]))
    return spans


@dataclass(frozen=True, slots=True)
class _Span:
    """A part `text[start:end]` that `mask` will replace or has replaced.

    `hidden`: how many characters of the first text the mask has replaced; None before that.
    """

    start: int
    end: int
    mask: str
    rule: str
    hidden: int | None = None


class _Draft:
    """A text that is masked in several rounds. `masks`: the parts of it that are masks by now, in order."""

    __slots__ = ("masks", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.masks: list[_Span] = []

    def replace(self, spans: Sequence[_Span]) -> None:
        """Replace the spans by their masks; line ends inside stay.

        Spans that overlap or touch, also with a mask of an earlier round, become one mask: that of the first.
        """
        parts: list[str] = []
        masks: list[_Span] = []
        copied_end = length = 0
        for group in _groups([*self.masks, *spans]):
            first, start = group[0], group[0].start
            end = max(max(span.end, span.start + 1) for span in group)
            covered = self.text[start:end]
            breaks = covered.count("\n")
            hidden = len(covered) - breaks
            hidden += sum(span.hidden - (span.end - span.start) for span in group if span.hidden is not None)
            length += start - copied_end
            masks.append(_Span(length, length + len(first.mask), first.mask, first.rule, hidden))
            parts += [self.text[copied_end:start], first.mask, "\n" * breaks]
            length += len(first.mask) + breaks
            copied_end = end
        self.text = "".join([*parts, self.text[copied_end:]])
        self.masks = masks

    def redaction(self, rules: Iterable[str] = (), *, secret: bool = False) -> Redaction:
        """The text and its masks; `rules`, `secret`: as in `Redaction`."""
        ends = list(accumulate(len(line) + 1 for line in self.text.split("\n")))
        masks = [Mask(span.rule, bisect_right(ends, span.start) + 1, span.hidden or 0) for span in self.masks]
        return Redaction(self.text, tuple(masks), rules=tuple(rules), secret=secret)


def _groups(spans: Sequence[_Span]) -> list[list[_Span]]:
    """The spans, sorted, in groups that overlap or touch; two masks that only touch are not in one group."""
    groups: list[list[_Span]] = []
    reach = -1
    for span in sorted(spans, key=lambda s: (s.start, s.end, s.mask)):
        apart = not groups or span.start > reach
        if apart or (span.start == reach and span.hidden is not None and groups[-1][-1].hidden is not None):
            groups.append([])
        groups[-1].append(span)
        reach = max(reach, span.end, span.start + 1)
    return groups


def refuse_or_mask_text(text: str, path: str, config: Config) -> str:
    """The text that may be written to `path`: the text of `refuse_or_mask`, which masks secrets and personal data as
    the settings say and raises Refused for what may not be written."""
    return refuse_or_mask(text, path, config).text


def refuse_or_mask(text: str, path: str, config: Config, policy: Policy | None = None) -> Redaction:
    """The text that may be written to `path`, with secrets and personal data masked as the settings say, and the masks.

    Secrets are masked with `mem.onSecret` = `mask`, else refused. Personal data is masked; with `mem.onPersonal` =
    `keep` only the kinds that block a commit are. Any other match that blocks is refused, with a strict gate also one
    that warns. `policy`: None for a policy without exceptions.

    Raises Refused for a text that is refused, that would be masked as a whole, or that is no UTF-8 text. Its message
    never quotes the text.
    """
    if not _is_text(text):
        raise Refused("not written: it is no UTF-8 text", "write it as UTF-8")
    policy = policy or Policy()
    redacted, kept_rules = _mask_as_set(text, path, config, policy)
    if redacted.whole:
        raise refusal_of_whole_mask(redacted)
    findings = scan_text(redacted.text, path, replace(policy, strict=False))
    is_strict = config.gate == "strict"
    blocking = [f for f in findings if f.severity is Severity.BLOCK or (is_strict and f.rule not in kept_rules)]
    if blocking:
        raise refusal(blocking)
    return redacted


def _is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8; an argument that is no UTF-8 holds lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_or_mask_change(text: str, old: str, path: str, config: Config) -> Redaction:
    """Mask a text as `refuse_or_mask` does, for a file that had the text `old`. A line that is in `old` too, and would
    be masked there in the same way, stays unmasked, since this change did not add it. What is refused is refused in
    such lines, too: raises Refused as `refuse_or_mask`."""
    redacted = refuse_or_mask(text, path, config)
    if not old or not redacted.masks:
        return redacted
    old_redacted, _ = _mask_as_set(old, path, config, Policy())
    old_lines: set[tuple[str, str]] = set()
    if not old_redacted.whole:
        old_lines = set(zip(old.split("\n"), old_redacted.text.split("\n"), strict=True))
    lines = list(zip(text.split("\n"), redacted.text.split("\n"), strict=True))
    masks = tuple(mask for mask in redacted.masks if lines[mask.line - 1] not in old_lines)
    safe = []
    for line, masked in lines:
        if (line, masked) in old_lines:
            safe.append(line)
        else:
            safe.append(masked)
    return replace(redacted, text="\n".join(safe), masks=masks)


def _mask_as_set(text: str, path: str, config: Config, policy: Policy) -> tuple[Redaction, set[str]]:
    """(the text masked as `mem.onSecret` and `mem.onPersonal` say, the rules of personal data that stay unmasked)."""
    _, matches = _to_mask(text, path, policy, only_secrets=False, leave=(), scores={})
    secrets = [match for match in matches if match.secret]
    unmasked_rules: set[str] = set()
    if config.on_personal == "keep":
        unmasked_rules = {match.rule for match in secrets if match.rule in PERSONAL and match.severity is Severity.WARN}
        secrets = [match for match in secrets if match.rule not in unmasked_rules]
    if not secrets:
        return Redaction(text), unmasked_rules
    if config.on_secret == "mask":
        return redaction(text, path, policy, only_secrets=True, leave=unmasked_rules), unmasked_rules
    draft = _Draft(text)
    masked = [match for match in secrets if match.rule in PERSONAL]
    draft.replace([_Span(match.start, match.end, _mask(match, text), match.rule) for match in masked])
    return draft.redaction(), unmasked_rules


def masked_rules(masks: Sequence[Mask]) -> str:
    """The rules of the masks and how many characters they replaced: `phone-number (11 characters)`."""
    rules = ", ".join(dict.fromkeys(mask.rule for mask in masks))
    return f"{rules} ({sum(mask.characters for mask in masks)} characters)"


def masked_words(masks: Sequence[Mask]) -> str:
    """The sentence with which a command reports its masks, "" without any: the rules, and the setting that keeps
    personal data, if there is one. No setting keeps personal data that blocks a commit."""
    if not masks:
        return ""
    keep = "no setting keeps what blocks a commit"
    if any(mask.rule in PERSONAL and PERSONAL[mask.rule][2] is Severity.WARN for mask in masks):
        keep = "to keep personal data: --keep pii, or git config --global mem.onPersonal keep"
    return f"masked: {masked_rules(masks)}; {keep}"


def refusal_of_whole_mask(redacted: Redaction) -> Refused:
    """The error for a text that could only be masked as a whole."""
    rules = ", ".join(dict.fromkeys(mask.rule for mask in redacted.masks))
    return Refused(
        Message("not written: {}, and masking it does not end", rules), "git mem scan says where; say it otherwise"
    )


def mask_counts(masks: Sequence[Mask]) -> dict[str, int]:
    """How many masks each rule has."""
    return dict(Counter(mask.rule for mask in masks))


def refusal(findings: Sequence[Finding]) -> Refused:
    """The error for a text that must not be written: rule and line of the first three findings, and what to do."""
    reasons = ", ".join(dict.fromkeys(f"{f.rule} (line {f.line}: {f.message})" for f in findings[:3]))
    more = ""
    if len(findings) > 3:
        more = f" and {len(findings) - 3} more"
    return Refused(
        Message("not written: {}", f"{reasons}{more}"),
        Message(
            "say it without the secret or the instruction; to mask secrets instead: {}",
            "git config --global mem.onSecret mask",
        ),
    )
