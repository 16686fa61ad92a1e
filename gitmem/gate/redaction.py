"""Masking in a text what the gate finds, until it finds nothing: `scan(redact(x))` is empty. Pure.

`guard` is the door our own writers go through: it refuses, or masks secrets and personal data, as `mem.onSecret`
says. Masks carry the rule's name and nothing of what they cover.
"""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import Refused
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.text import Match
from gitmem.gate.examine import Look, failure, finding_of, look, merge_spans
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text

ROUNDS = 4  # of span masking before whole lines go: masks can join what stood apart
LINE = "[redacted]"


def redact(text: str, path: str, policy: Policy, *, only_secrets: bool = False) -> str:
    """`text` with every find replaced by its mask. With `only_secrets`, instructions and the like stay.

    Exceptions hold: what the exceptions file covers is left alone. Line ends stay, so line numbers do. Raises
    Refused when a detector fails: what it would have found would stay.
    """
    text = text.replace("\0", "\ufffd")
    for _ in range(ROUNDS):
        seen, matches = _open(text, path, policy, only_secrets)
        if not matches:
            return text
        text = _apply(text, [(match.start, match.end, _mask(match, text)) for match in matches])
    seen, matches = _open(text, path, policy, only_secrets)
    if matches:
        text = _lines_out(seen, matches)
        seen, matches = _open(text, path, policy, only_secrets)
    return text if not matches else LINE + "\n"


def _open(text: str, path: str, policy: Policy, only_secrets: bool) -> tuple[Look, list[Match]]:
    """What is to be masked: every match that no exception covers."""
    seen = look(text, path, policy)
    if seen.failed:
        raise refusal([failure(name, error, path, policy) for name, error in seen.failed])
    matches = [match for match in seen.matches if match.secret or not only_secrets]
    excepted = {entry.rule for entry in policy.allow.entries if entry.path == path}
    return seen, [match for match in matches if match.rule not in excepted or not _excused(match, seen, policy)]


def _excused(match: Match, seen: Look, policy: Policy) -> bool:
    entry = policy.allow.covers(finding_of(match, seen, policy))
    return entry is not None and not entry.expired(policy.today)


def _mask(match: Match, text: str) -> str:
    """What is written in a find's place: the detector's own mask unless that begins as the secret does."""
    mask = match.mask
    if mask and mask[:2] != text[match.start : match.start + 2] and len(mask) > 2:
        return mask
    return f"[redacted:{match.rule}]"


def _apply(text: str, spans: list[tuple[int, int, str]]) -> str:
    """Replace the ranges; overlapping ones become one, with the first one's mask. Line ends inside stay."""
    out, at = [], 0
    masks: dict[int, str] = {}
    for start, _end, mask in sorted(spans):
        masks.setdefault(start, mask)
    for start, end in merge_spans((start, max(end, start + 1)) for start, end, _ in spans):
        covered = text[start:end]
        out += [text[at:start], masks[start], "\n" * covered.count("\n")]
        at = end
    out.append(text[at:])
    return "".join(out)


def _lines_out(seen: Look, matches: list[Match]) -> str:
    lines = seen.text.raw.split("\n")
    for match in matches:
        first, last = seen.text.line_of(match.start)[0], seen.text.line_of(max(match.start, match.end - 1))[0]
        for number in range(first, min(last, len(lines)) + 1):
            lines[number - 1] = LINE
    return "\n".join(lines)


def guard(text: str, path: str, config: Config, policy: Policy | None = None) -> str:
    """The text that may be written to `path`: as it is, or masked. Raises Refused, never quoting what it found.

    With `mem.onSecret` = `mask` secrets are covered, else refused; personal data is covered in either case (a
    memory never needs it); anything else that blocks is refused. Without `policy` no exception holds.
    """
    policy = policy or Policy()
    _, matches = _open(text, path, policy, only_secrets=False)
    if any(match.secret for match in matches):
        if config.on_secret == "mask":
            text = redact(text, path, policy, only_secrets=True)
        else:
            personal = [m for m in matches if m.secret and m.severity is Severity.WARN]
            text = _apply(text, [(m.start, m.end, _mask(m, text)) for m in personal])
    blocking = [finding for finding in scan_text(text, path, policy) if finding.severity is Severity.BLOCK]
    if blocking:
        raise refusal(blocking)
    return text


def refusal(findings: list[Finding]) -> Refused:
    """The refusal of a text of ours, with rule and line of each find and what to do."""
    what = ", ".join(dict.fromkeys(f"{f.rule} (line {f.line}: {f.message})" for f in findings[:3]))
    more = f" and {len(findings) - 3} more" if len(findings) > 3 else ""
    return Refused(
        f"not written: {what}{more}",
        "say it without the secret or the instruction; to mask secrets instead: git config --global mem.onSecret mask",
    )
