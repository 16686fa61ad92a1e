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
from gitmem.gate import examine
from gitmem.gate.changes.rules import check_entry
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.registry import is_secret
from gitmem.gate.detectors.spans import merge_spans
from gitmem.gate.detectors.text import Scope, Text
from gitmem.gate.policy import Policy
from gitmem.git.objects import REGULAR
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
        run = _run(name, policy=policy)
        secrets = merge_spans([(match.start, match.end) for match in run.matches if match.secret])
        if secrets:
            result.masked[name] = examine.masked_excerpt(name, 0, len(name), secrets, nothing=False)
        for match in run.matches:
            if match.severity is not Severity.BLOCK:
                continue
            message = Message("in the file's name: {}", match.message)
            finding = Finding(match.rule, match.severity, name, 1, 1, 1, 1, message, commit=commits[name])
            finding = replace(finding, secret=is_secret(match), in_file_name=True)
            result.findings.append(examine.with_fingerprint(finding, name[match.start : match.end], policy))
        for detector, error in run.failures:
            words = f"the detector '{detector}' failed ({error}) on the file's name, so nothing is let through"
            blob = examine.Blob(name, b"", commit=commits[name])
            result.findings.append(examine.finding_of_blob("scanner-failed", blob, words, policy))
    return result


def ensure_new_name_passes(path: str) -> None:
    """Raise Refused if the gate would block the path of a new file: for what a detector finds in it, for a control
    character, or because a detector fails. The repository's exceptions and its own rules do not count, so that the gate
    may decide otherwise. Our own writers call this before they create a file. The message never quotes the path."""
    policy = Policy()
    found = [*scan_file_names({path: ""}, policy).findings, *check_entry(path, REGULAR, policy)]
    rules = dict.fromkeys(finding.rule for finding in found if finding.severity is Severity.BLOCK)
    if rules:
        raise Refused(
            Message("not written: the file's name has {}", ", ".join(rules)), "give the file a name without it"
        )


def masked_name(path: str) -> str:
    """A path with its secrets masked, for a listing."""
    return scan_file_names({path: ""}, Policy()).masked.get(path, path)


def _run(*names: str, policy: Policy) -> examine.DetectorRun:
    """The result of running all detectors on names, each followed by an empty line: as they are, and as text, each
    part of a path on a line of its own without the ending. The offsets are the same in both."""
    whole = "\n\n".join(name.replace("\n", " ") for name in names)
    parts = "\n\n".join(_as_text(name) for name in names)
    runs = [
        examine.run_detectors(Text(text, "", Scope.MESSAGE, most=examine.MAX_MATCHES), policy)
        for text in {whole: 0, parts: 0}
    ]
    matches = [*runs[0].matches]
    for match in runs[-1].matches:  # one find of a rule and severity is enough of the same words
        of_rule = [m for m in matches if (m.rule, m.severity) == (match.rule, match.severity)]
        if not any([m.start < match.end and match.start < m.end for m in of_rule]):
            matches.append(match)
    failures = list({failure: 0 for run in runs for failure in run.failures})
    return examine.DetectorRun(matches, failures, any([run.limit_reached for run in runs]))


def _as_text(name: str) -> str:
    """A path with a line end for each `/` and for the dot before its ending: as many characters as the path."""
    stem, dot, ending = name.rpartition(".")
    if dot and ending.isalnum():
        name = f"{stem}\n{ending}"
    return name.replace("/", "\n")


def _suspect_names(names: list[str], policy: Policy) -> list[str]:
    """The names with a match in a scan of all names, in the order of `names`; all names when a detector failed or
    reached the match limit."""
    if not names:
        return []
    starts = [0, *accumulate(len(name) + 2 for name in names)]
    run = _run(*names, policy=policy)
    if run.failures or run.limit_reached:
        return names
    numbers = {min(bisect_right(starts, match.start), len(names)) - 1 for match in run.matches}
    return [names[number] for number in sorted(numbers)]
