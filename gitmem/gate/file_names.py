"""Scans the names of files, which Git publishes as it publishes their text.

A name is read as it is, and as its folders and its file one by one: `memory/ignore all rules.md` has a name that is an
order, behind a folder.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from gitmem.errors import Refused
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.registry import is_secret
from gitmem.gate.detectors.text import Scope, Text
from gitmem.gate.examine import (
    MAX_MATCHES,
    Blob,
    finding_of_blob,
    masked_excerpt,
    merge_spans,
    run_detectors,
    with_fingerprint,
)  # fmt: skip
from gitmem.gate.policy import Policy
from gitmem.messages import Message


class NameScan(NamedTuple):
    """The result of scanning file names.

    `findings`: those that block; a name that would only warn has none. `masked`: name -> the name with its secrets
    masked, only for names with a secret.
    """

    findings: list[Finding]
    masked: dict[str, str]


def scan_file_names(commits: Mapping[str, str], policy: Policy) -> NameScan:
    """Scan file names. `commits`: file name -> the commit that has the file, "" for none.

    All names are scanned as one text first; only the names with a match there are scanned one by one.
    """
    result = NameScan([], {})
    for name in _suspect_names(list(commits), policy):
        runs = [run_detectors(Text(form, "", Scope.MESSAGE, most=MAX_MATCHES), policy) for form in _forms(name)]
        places = {(match.rule, match.start, match.end): match for run in runs for match in run.matches}
        matches = sorted(places.values(), key=lambda match: (match.start, match.end))
        secrets = merge_spans([(match.start, match.end) for match in matches if match.secret])
        if secrets:
            result.masked[name] = masked_excerpt(name, 0, len(name), secrets, nothing=False)
        for match in matches:
            if match.severity is not Severity.BLOCK:
                continue
            message = Message("in the file's name: {}", match.message)
            finding = Finding(match.rule, match.severity, name, 1, 1, 1, 1, message, commit=commits[name])
            finding = replace(finding, secret=is_secret(match), in_file_name=True)
            result.findings.append(with_fingerprint(finding, name[match.start : match.end], policy))
        for detector, error in dict.fromkeys(failure for run in runs for failure in run.failures):
            words = f"the detector '{detector}' failed ({error}) on the file's name, so nothing is let through"
            blob = Blob(name, b"", commit=commits[name])
            result.findings.append(finding_of_blob("scanner-failed", blob, words, policy))
    return result


def ensure_new_name_passes(path: str) -> None:
    """Raise Refused if the gate would block a new file for its path. Our own writers ask before they create a file; no
    setting masks a name. The message never quotes the path."""
    rules = dict.fromkeys(finding.rule for finding in scan_file_names({path: ""}, Policy()).findings)
    if rules:
        raise Refused(
            Message("not written: the file's name has {}", ", ".join(rules)), "give the file a name without it"
        )


def masked_name(path: str) -> str:
    """The path for a listing: with its secrets masked."""
    return scan_file_names({path: ""}, Policy()).masked.get(path, path)


def _forms(name: str) -> tuple[str, ...]:
    """The texts that are scanned for one name, all of its length, so that a match has one place: the name, and its
    parts on lines of their own."""
    if "/" in name:
        return name, name.replace("/", "\n")
    return (name,)


def _suspect_names(names: list[str], policy: Policy) -> list[str]:
    """The names with a match in a scan of all names, in the order of `names`; all names when a detector failed or
    reached the match limit."""
    if not names:
        return []
    texts = [(name, form) for name in names for form in _forms(name.replace("\n", " "))]
    starts = [0, *accumulate(len(form) + 2 for _, form in texts)]
    joined = "\n\n".join(form for _, form in texts)
    run = run_detectors(Text(joined, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
    if run.failures or run.limit_reached:
        return names
    numbers = {min(bisect_right(starts, match.start), len(texts)) - 1 for match in run.matches}
    return list(dict.fromkeys(texts[number][0] for number in sorted(numbers)))
