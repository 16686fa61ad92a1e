"""Masking in a text what the gate finds, until it finds nothing: `scan(redact(x))` is empty. Pure.

`guard` is the door our own writers go through: it refuses, or masks secrets and personal data, as `mem.onSecret`
says. Masks carry the rule's name and nothing of what they cover.
"""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import Refused
from gitmem.policy import Policy
from gitmem.scan import Found, examine, merge_spans
from gitmem.types import Finding, Severity

ROUNDS = 4  # of span masking before whole lines go: masks can join what stood apart
LINE = "[redacted]"


def redact(text: str, path: str, policy: Policy, *, only_secrets: bool = False) -> str:
    """`text` with every find replaced by its mask. With `only_secrets`, instructions and the like stay.

    Exceptions hold: what the exceptions file covers is left alone. Line ends stay, so line numbers do.
    """
    text = text.replace("\0", "\ufffd")
    for _ in range(ROUNDS):
        found = _open(text, path, policy, only_secrets)
        if not found:
            return text
        text = _apply(text, [(f.match.start, f.match.end, _mask(f, text)) for f in found])
    found = _open(text, path, policy, only_secrets)
    for keep_line_count in (True, False):
        if found:
            text = _lines_out(text, found) if keep_line_count else LINE + "\n"
            found = _open(text, path, policy, only_secrets)
    return text


def _open(text: str, path: str, policy: Policy, only_secrets: bool) -> list[Found]:
    found = [f for f in examine(text, path, policy) if f.match.secret or not only_secrets]
    return [f for f in found if not _excused(f.finding, policy)]


def _excused(finding: Finding, policy: Policy) -> bool:
    entry = policy.allow.covers(finding)
    return entry is not None and not entry.expired(policy.today)


def _mask(found: Found, text: str) -> str:
    """What is written in a find's place: the detector's own mask unless that begins as the secret does."""
    mask = found.match.mask
    if mask and mask[:2] != text[found.match.start : found.match.start + 2] and len(mask) > 2:
        return mask
    return f"[redacted:{found.match.rule}]"


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


def _lines_out(text: str, found: list[Found]) -> str:
    lines = text.split("\n")
    for f in found:
        for number in range(f.finding.line, f.finding.end_line + 1):
            if number <= len(lines):
                lines[number - 1] = LINE
    return "\n".join(lines)


def guard(text: str, path: str, config: Config, policy: Policy | None = None) -> str:
    """The text that may be written to `path`: as it is, or masked. Raises Refused, never quoting what it found.

    With `mem.onSecret` = `mask` secrets are covered, else refused; personal data is covered in either case (a
    memory never needs it); anything else that blocks is refused. Without `policy` no exception holds.
    """
    policy = policy or Policy()
    found = _open(text, path, policy, only_secrets=False)
    if any(f.match.secret for f in found):
        if config.on_secret == "mask":
            text = redact(text, path, policy, only_secrets=True)
        else:
            personal = [f for f in found if f.match.secret and f.finding.severity is Severity.WARN]
            text = _apply(text, [(f.match.start, f.match.end, _mask(f, text)) for f in personal])
        found = _open(text, path, policy, only_secrets=False)
    blocking = [f.finding for f in found if f.finding.severity is Severity.BLOCK]
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
