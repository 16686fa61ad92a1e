"""Scans the names of files, which Git publishes as it publishes their text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

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
        run = run_detectors(Text(name, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
        secrets = merge_spans([(match.start, match.end) for match in run.matches if match.secret])
        if secrets:
            result.masked[name] = masked_excerpt(name, 0, len(name), secrets, nothing=False)
        for match in run.matches:
            if match.severity is not Severity.BLOCK:
                continue
            message = Message("in the file's name: {}", match.message)
            finding = Finding(match.rule, match.severity, name, 1, 1, 1, 1, message, commit=commits[name])
            finding = replace(finding, secret=is_secret(match), in_file_name=True)
            result.findings.append(with_fingerprint(finding, name[match.start : match.end], policy))
        for detector, error in run.failures:
            words = f"the detector '{detector}' failed ({error}) on the file's name, so nothing is let through"
            blob = Blob(name, b"", commit=commits[name])
            result.findings.append(finding_of_blob("scanner-failed", blob, words, policy))
    return result


def _suspect_names(names: list[str], policy: Policy) -> list[str]:
    """The names with a match in a scan of all names, in the order of `names`; all names when a detector failed or
    reached the match limit."""
    if not names:
        return []
    starts = [0, *accumulate(len(name) + 2 for name in names)]
    joined = "\n\n".join(name.replace("\n", " ") for name in names)
    run = run_detectors(Text(joined, "", Scope.MESSAGE, most=MAX_MATCHES), policy)
    if run.failures or run.limit_reached:
        return names
    numbers = {min(bisect_right(starts, match.start), len(names)) - 1 for match in run.matches}
    return [names[number] for number in sorted(numbers)]
