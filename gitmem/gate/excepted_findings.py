"""Applies the exceptions and the strictness of a policy to findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import Policy


class ExceptedFinding(NamedTuple):
    """A finding that an exception covers. `until`: the exception's last day in ISO form, "" for one without an end."""

    finding: Finding
    until: str


class ExceptionResult(NamedTuple):
    """Findings after exceptions. `counting`: those that no exception in force covers. `excepted`: the others."""

    counting: list[Finding]
    excepted: list[ExceptedFinding]


def apply_exceptions(findings: Iterable[Finding], policy: Policy) -> ExceptionResult:
    """Sort findings by whether an exception of `policy.allow` covers them.

    An exception for a rule in a file turns later findings of the rule in that file into warnings, and a strict policy
    turns warnings into blocks; the message of the finding then says so. An expired exception covers nothing.
    """
    result = ExceptionResult([], [])
    for finding in findings:
        entry = policy.allow.covers(finding)
        if entry is None:
            counting = _as_warning_after_exception(finding, policy)
        elif entry.expired(policy.today):
            counting = replace(finding, message=f"{finding.message} (the exception for it ended on {entry.until})")
        else:
            until = ""
            if entry.until:
                until = entry.until.isoformat()
            result.excepted.append(ExceptedFinding(finding, until))
            continue
        result.counting.append(_as_block_if_strict(counting, policy))
    return result


def _as_block_if_strict(finding: Finding, policy: Policy) -> Finding:
    """The finding with a warning turned into a block when the policy is strict; the message then says so."""
    if not policy.strict or finding.severity is Severity.BLOCK:
        return finding
    return replace(finding, severity=Severity.BLOCK, message=f"{finding.message} (a warning: the gate is strict)")


def _as_warning_after_exception(finding: Finding, policy: Policy) -> Finding:
    """The finding as a warning when an exception for its rule in its file is in force and was made before the finding
    was there. A finding in a file's name stays as it is."""
    if finding.in_file_name or not policy.allow.softens(finding, policy.today):
        return finding
    words = f"{finding.message} (not there when {finding.rule} was excepted in this file)"
    return replace(finding, severity=Severity.WARN, message=words)
