"""Makes the exception for a finding that a person names by its fingerprint, and the new text of the exceptions file.
The module only reads; the caller writes or commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gitmem.errors import Changed, GitMemError, OutsideRepository, UsageError
from gitmem.gate import exceptions
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Source
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan
from gitmem.git.transaction import Reading
from gitmem.messages import Message

Place = tuple[Policy, Callable[[], Source]]  # where a finding may be: the policy for it, and a function that reads it


def exceptions_text(reading: Reading) -> str:
    """The text of the exceptions file, "" when there is none. Raises GitMemError when it cannot be read."""
    try:
        return (reading.raw(exceptions.FILE) or b"").decode("utf-8")
    except (OSError, OutsideRepository, UnicodeDecodeError):
        raise GitMemError(Message("{} cannot be read", exceptions.FILE), "it must be a plain UTF-8 file") from None


def with_exceptions(reading: Reading, before: str, entries: Sequence[exceptions.Entry], salt: str) -> bytes:
    """The bytes of the exceptions file with more entries. `entries`: the entries. `salt`: the salt of their
    fingerprints. `before`: the text for which the entries were made.

    Raises Changed when the file has another salt than `before`, or has come or gone since, because the fingerprints
    would not match; GitMemError when the file cannot be read, BadConfig when it is malformed.
    """
    current = exceptions_text(reading)
    old_salt = exceptions.parse(before).salt
    if (exceptions.parse(current).salt, bool(current.strip())) != (old_salt, bool(before.strip())):
        raise Changed(Message("somebody else wrote {} meanwhile; nothing was written", exceptions.FILE), "run it again")
    for entry in entries:
        current = exceptions.with_entry(current, entry, salt)
    return current.encode()


def entry_of(fingerprint: str, places: Sequence[Place], printed: Iterable[str], salt: str) -> exceptions.Entry:
    """The exception for the finding whose fingerprint begins with `fingerprint`. Its fingerprint is under `salt`; its
    reason is "" and its end None, for the caller to set.

    `places`: the places to search, in order. `printed`: the salts under which a scan may have printed the fingerprint:
    that of the file, and that of a repository without the file, since the scan may have run before the first exception
    was made. Raises UsageError when several findings match, GitMemError when none does.
    """
    salts = list(dict.fromkeys(printed))
    for policy, make_source in places:
        for printed_salt in salts:
            printed_policy = replace(policy, allow=exceptions.Allowlist(printed_salt))
            findings = _findings_named(fingerprint, printed_policy, make_source())
            if printed_salt != salt:
                salted = replace(policy, allow=exceptions.Allowlist(salt))
                findings = [_same_finding(finding, salted, make_source()) for finding in findings]
            if findings:  # the same text in several files has one fingerprint: take the first without an exception
                open_finding = next((f for f in findings if policy.allow.covers(f) is None), findings[0])
                return exceptions.Entry(open_finding.fingerprint, open_finding.rule, open_finding.path, "", None)
    raise GitMemError(
        Message("nothing here has the fingerprint '{}'", fingerprint),
        Message(
            "{} print them; for committed ones add {}",
            "git mem scan --staged and git mem scan",
            "--range A..B or --history",
        ),
    )


def _findings_named(fingerprint: str, policy: Policy, source: Source) -> list[Finding]:
    """The findings whose fingerprint begins with `fingerprint`, the first of each rule and path. Raises UsageError if
    `fingerprint` is not the whole fingerprint and several rules or paths have one that begins so."""
    findings = [f for f in scan(source, policy).findings if f.fingerprint.startswith(fingerprint)]
    if len({(f.rule, f.path) for f in findings}) > 1 and len(fingerprint) < exceptions.FINGERPRINT_DIGITS:
        raise UsageError(Message("'{}' is the beginning of several", fingerprint), "give all of the fingerprint")
    return list({(f.rule, f.path): f for f in reversed(findings)}.values())[::-1]


def _same_finding(finding: Finding, policy: Policy, source: Source) -> Finding:
    """The same finding with the fingerprint under another policy's salt."""
    blobs = (blob for blob in source.blobs if (blob.path, blob.commit) == (finding.path, finding.commit))
    report = scan(replace(source, blobs=blobs), policy)
    return next(f for f in report.findings if _is_same_finding(f, finding))


def _is_same_finding(a: Finding, b: Finding) -> bool:
    return (a.rule, a.path, a.line, a.column, a.message) == (b.rule, b.path, b.line, b.column, b.message)
