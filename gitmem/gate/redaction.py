"""Masking in a text what the gate finds, until it finds nothing: `scan(redact(x))` is empty. Pure.

A mask takes the smallest stretch that the detectors name: a value, a sentence, a line; never more of a text than they
find in it. Our own writers call `refuse_or_mask` before they write: it refuses, or masks secrets and personal data, as
`mem.onSecret` and `mem.onPersonal` say. Masks carry the rule's name and nothing of what they cover.
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
from gitmem.gate.examine import Inspection, failure, finding_of, inspect, inspect_exhaustively
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.messages import Message

ROUNDS = 4  # of masking stretches, then of masking lines: masks can join what stood apart
LINE = "[redacted]"
STRUCTURAL = frozenset(registry.REMEDIES)  # rules that no mask mends: the text is not wrong in one place
STRUCTURAL_DETECTORS = tuple(name for name, detector in registry.DETECTORS.items() if detector.remedies)
ALWAYS = 400  # characters that may be masked whatever the size of a text
Scores = dict[tuple[str, str, str], float]  # as `Text.scores`
SHARE = 0.5  # of a text that may be masked without a word of the person's


@dataclass(frozen=True, slots=True)
class Mask:
    """One stretch that was replaced: by which rule, on which line (1-based), how many characters it took."""

    rule: str
    line: int
    characters: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """A masked text. `whole` says that nothing less than the whole text could be masked.

    `rules` are those of what was found, in order of place: of finds that overlap a mask names one. `secret`: one of the
    finds is a secret that can be changed.
    """

    text: str
    masks: tuple[Mask, ...] = ()
    whole: bool = False
    rules: tuple[str, ...] = ()
    secret: bool = False

    @property
    def characters(self) -> int:
        """How many characters of the text were replaced; line ends stay and do not count."""
        return sum(mask.characters for mask in self.masks)

    def excessive(self, size: int) -> bool:
        """Whether more was masked of a text of `size` characters than may be without asking."""
        return self.whole or self.characters > max(ALWAYS, size * SHARE)


def redact(text: str, path: str, policy: Policy, *, only_secrets: bool = False) -> str:
    """`text` with every find replaced by its mask. With `only_secrets`, instructions and the like stay.

    Exceptions hold: what the exceptions file covers is left alone. Line ends stay, so line numbers do. Raises Refused
    where masking stretches and then lines does not end, and when a detector fails: what it would have found would stay.
    """
    done = redaction(text, path, policy, only_secrets=only_secrets)
    if done.whole:
        raise endless(done)
    return done.text


def redaction(
    text: str, path: str, policy: Policy, *, only_secrets: bool = False, leave: Collection[str] = ()
) -> Redaction:
    """As `redact`, with what was replaced. Matches of the rules in `leave` stay as they are.

    Where masking does not end the whole text is one mask (`whole`): what leaves must hold nothing.
    """
    if only_secrets:
        policy = _of_secrets(policy)
    draft = _Draft(text.replace("\0", "\ufffd"))
    rules: dict[str, None] = {}
    secret = False
    scores: Scores = {}
    for attempt in range(2 * ROUNDS):
        inspection, matches = _to_mask(draft.text, path, policy, only_secrets, leave, scores)
        if not matches:
            return draft.redaction(rules, secret=secret)
        rules |= dict.fromkeys(match.rule for match in matches)
        secret = secret or any(map(registry.is_secret, matches))
        if attempt < ROUNDS:
            draft.replace([_Span(match.start, match.end, _mask(match, draft.text), match.rule) for match in matches])
        else:
            draft.replace(_lines_of(inspection, matches))
    inspection, matches = _to_mask(draft.text, path, policy, only_secrets, leave, scores)
    if not matches:
        return draft.redaction(rules, secret=secret)
    masks = (Mask(matches[0].rule, 1, len(text)),)
    return Redaction(LINE + "\n", masks, whole=True, rules=tuple(rules), secret=secret)


def _of_secrets(policy: Policy) -> Policy:
    """The policy with only those of its detectors that can find secrets."""
    asked = policy.detectors or registry.DETECTORS
    names = tuple(name for name in asked if registry.registered(name).secret)  # the others take most of the time
    if names:
        return replace(policy, detectors=names)
    return policy


def _to_mask(
    text: str, path: str, policy: Policy, only_secrets: bool, leave: Collection[str], scores: Scores
) -> tuple[Inspection, list[Match]]:
    """What is to be masked, none where a scan finds nothing. Raises Refused when a detector failed.

    A scan decides whether there is anything, since its silence is what is promised. It tells every place of a secret;
    of the rest every place is looked for. `scores` are kept from round to round: most sentences stay as they are.
    """
    look = inspect(text, path, policy, most=None, scores=scores)
    told = _uncovered(look, policy, only_secrets, leave)
    if all(match.secret and match.rule != "encoded-secret" for match in told):
        return look, told
    again = inspect_exhaustively(look, policy)
    return again, _uncovered(again, policy, only_secrets, leave) or told


def _uncovered(inspection: Inspection, policy: Policy, only_secrets: bool, leave: Collection[str]) -> list[Match]:
    """Every match of an inspection that no exception covers. Raises Refused when a detector failed."""
    path = inspection.text.path
    if inspection.failed:
        raise refusal([failure(name, error, path, policy) for name, error in inspection.failed])
    matches = [m for m in inspection.matches if (m.secret or not only_secrets) and m.rule not in leave]
    excepted = {entry.rule for entry in policy.allow.entries if entry.path == path}
    return [m for m in matches if m.rule not in excepted or not _excused(m, inspection, policy)]


def _excused(match: Match, inspection: Inspection, policy: Policy) -> bool:
    entry = policy.allow.covers(finding_of(match, inspection, policy))
    return entry is not None and not entry.expired(policy.today)


def _mask(match: Match, text: str) -> str:
    """What is written in a find's place: the detector's own mask unless that begins as the secret does."""
    mask = match.mask
    if mask and mask[:2] != text[match.start : match.start + 2] and len(mask) > 2:
        return mask
    return f"[redacted:{match.rule}]"


def _lines_of(inspection: Inspection, matches: Sequence[Match]) -> list[_Span]:
    """The whole lines, without their ends, on which something was found."""
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
    """`text[start:end]` is to become `mask`, or is one already.

    Of a mask that stands there `hidden` says how many characters of the first text it took; it is -1 before.
    """

    start: int
    end: int
    mask: str
    rule: str
    hidden: int = -1

    @property
    def placed(self) -> bool:
        return self.hidden >= 0


class _Draft:
    """A text while it is masked, round by round, and which stretches of it are masks by now."""

    __slots__ = ("masks", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.masks: list[_Span] = []

    def replace(self, spans: Sequence[_Span]) -> None:
        """Replace the spans; those that touch become one, with the mask of the first. Line ends inside stay.

        A mask of an earlier round that a span touches goes with it.
        """
        out: list[str] = []
        masks: list[_Span] = []
        at = length = 0
        for group in _groups([*self.masks, *spans]):
            first, start = group[0], group[0].start
            end = max(max(span.end, span.start + 1) for span in group)
            covered = self.text[start:end]
            breaks = covered.count("\n")
            old = [span for span in group if span.placed]
            hidden = len(covered) - breaks + sum(span.hidden - (span.end - span.start) for span in old)
            length += start - at
            masks.append(_Span(length, length + len(first.mask), first.mask, first.rule, hidden))
            out += [self.text[at:start], first.mask, "\n" * breaks]
            length += len(first.mask) + breaks
            at = end
        self.text = "".join([*out, self.text[at:]])
        self.masks = masks

    def redaction(self, rules: Iterable[str] = (), *, secret: bool = False) -> Redaction:
        """What was masked, by line; `rules` and `secret` as `Redaction` has them."""
        ends = list(accumulate(len(line) + 1 for line in self.text.split("\n")))
        masks = [Mask(span.rule, bisect_right(ends, span.start) + 1, span.hidden) for span in self.masks]
        return Redaction(self.text, tuple(masks), rules=tuple(rules), secret=secret)


def _groups(spans: Sequence[_Span]) -> list[list[_Span]]:
    """The spans in order, in groups that overlap or touch; masks that only touch each other stay apart."""
    groups: list[list[_Span]] = []
    reach = -1
    for span in sorted(spans, key=lambda s: (s.start, s.end, s.mask)):
        apart = not groups or span.start > reach
        if apart or (span.start == reach and span.placed and groups[-1][-1].placed):
            groups.append([])
        groups[-1].append(span)
        reach = max(reach, span.end, span.start + 1)
    return groups


def refuse_or_mask_text(text: str, path: str, config: Config, policy: Policy | None = None) -> str:
    """The text of `refuse_or_mask`: what may be written to `path`. Raises Refused, never quoting what it found."""
    return refuse_or_mask(text, path, config, policy).text


def refuse_or_mask(text: str, path: str, config: Config, policy: Policy | None = None) -> Redaction:
    """What may be written to `path`: the text as it is, or masked, and what was masked.

    With `mem.onSecret` = `mask` secrets are masked, else refused; personal data is masked in either case, and with
    `mem.onPersonal` = `keep` only the kinds of it that block; anything else that blocks is refused. Without `policy`
    no exception holds. Raises Refused, never quoting what it found.
    """
    if not _is_text(text):
        raise Refused("not written: it is no UTF-8 text", "write it as UTF-8")
    policy = policy or Policy()
    done, kept = _mask_as_set(text, path, config, policy)
    if done.whole:
        raise endless(done)
    findings = scan_text(done.text, path, replace(policy, strict=False))
    likely = config.gate == "strict"
    blocking = [f for f in findings if f.severity is Severity.BLOCK or (likely and f.rule not in kept)]
    if blocking:
        raise refusal(blocking)
    return done


def _is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: bytes of an argument that are not come as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_or_mask_change(text: str, old: str, path: str, config: Config) -> Redaction:
    """What may be written where `path` had `old`: as `refuse_or_mask`, but a line stays as it is where masking `old`
    alone makes the same of it: what a person kept there is not this change's to mask. Raises Refused."""
    done = refuse_or_mask(text, path, config)
    if not old or not done.masks:
        return done
    before, _ = _mask_as_set(old, path, config, Policy())
    if before.whole:
        kept = set()
    else:
        kept = set(zip(old.split("\n"), before.text.split("\n"), strict=True))
    lines = list(zip(text.split("\n"), done.text.split("\n"), strict=True))
    masks = tuple(mask for mask in done.masks if lines[mask.line - 1] not in kept)
    safe = (line if (line, masked) in kept else masked for line, masked in lines)
    return replace(done, text="\n".join(safe), masks=masks)


def _mask_as_set(text: str, path: str, config: Config, policy: Policy) -> tuple[Redaction, set[str]]:
    """A text masked as `mem.onSecret` and `mem.onPersonal` say, and the rules of personal data that are kept."""
    _, matches = _to_mask(text, path, policy, only_secrets=False, leave=(), scores={})
    secrets = [match for match in matches if match.secret]
    kept: set[str] = set()
    if config.on_personal == "keep":
        kept = {match.rule for match in secrets if match.rule in PERSONAL and match.severity is Severity.WARN}
        secrets = [match for match in secrets if match.rule not in kept]
    if not secrets:
        return Redaction(text), kept
    if config.on_secret == "mask":
        return redaction(text, path, policy, only_secrets=True, leave=kept), kept
    draft = _Draft(text)
    masked = [match for match in secrets if match.rule in PERSONAL]
    draft.replace([_Span(match.start, match.end, _mask(match, text), match.rule) for match in masked])
    return draft.redaction(), kept


def masked_rules(masks: Sequence[Mask]) -> str:
    """By which rules was masked, and how much: `phone-number (11 characters)`."""
    return (
        f"{', '.join(dict.fromkeys(mask.rule for mask in masks))} ({sum(mask.characters for mask in masks)} characters)"
    )


def masked_words(masks: Sequence[Mask]) -> str:
    """What a command says of what it masked, "" for nothing: the rules, and how to keep personal data where a setting
    keeps it: what blocks a commit is masked all the same."""
    if not masks:
        return ""
    keep = "; to keep personal data: --keep pii, or git config --global mem.onPersonal keep"
    can_keep = any(mask.rule in PERSONAL and PERSONAL[mask.rule][2] is Severity.WARN for mask in masks)
    return f"masked: {masked_rules(masks)}{keep if can_keep else '; no setting keeps what blocks a commit'}"


def endless(done: Redaction) -> Refused:
    """The refusal of a text of which no part can be masked alone."""
    rules = ", ".join(dict.fromkeys(mask.rule for mask in done.masks))
    return Refused(
        Message("not written: {}, and masking it does not end", rules), "git mem scan says where; say it otherwise"
    )


def mask_counts(masks: Sequence[Mask]) -> dict[str, int]:
    """How many values were masked by each rule; none of what they cover."""
    return dict(Counter(mask.rule for mask in masks))


def refusal(findings: Sequence[Finding]) -> Refused:
    """The refusal of a text of ours, with rule and line of each find and what to do."""
    what = ", ".join(dict.fromkeys(f"{f.rule} (line {f.line}: {f.message})" for f in findings[:3]))
    more = ""
    if len(findings) > 3:
        more = f" and {len(findings) - 3} more"
    return Refused(
        Message("not written: {}", f"{what}{more}"),
        Message(
            "say it without the secret or the instruction; to mask secrets instead: {}",
            "git config --global mem.onSecret mask",
        ),
    )
