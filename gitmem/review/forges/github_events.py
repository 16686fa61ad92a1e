"""Parses the events of GitHub's and Forgejo's workflows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitmem.review.forges.event import Event, oid_of


def parse(environ: Mapping[str, str], payload: Mapping[str, Any]) -> Event:
    """The event that the payload and the variables GITHUB_EVENT_NAME, GITHUB_REF_NAME, GITHUB_REPOSITORY and GITHUB_SHA
    describe.

    A missing text is "", and so is an oid that is malformed or all zeros; a missing number is 0, a missing default
    branch "main". An `issue_comment` other than a new comment on a pull request has no number and no comment.
    """
    name = environ.get("GITHUB_EVENT_NAME", "")
    repository = _get(payload, "repository")
    common: dict[str, Any] = {
        "name": name,
        "branch": environ.get("GITHUB_REF_NAME", ""),
        "default_branch": str(repository.get("default_branch") or "main"),
        "repository": environ.get("GITHUB_REPOSITORY", ""),
    }
    if pull := _get(payload, "pull_request"):
        base, head = _get(pull, "base"), _get(pull, "head")
        return Event(
            **common, base=oid_of(base.get("sha")), head=oid_of(head.get("sha")), number=_number(pull, "number"),
            target=str(base.get("ref") or ""),
            fork=_get(head, "repo").get("full_name") != _get(base, "repo").get("full_name"),
        )  # fmt: skip
    if name == "push":
        return Event(**common, base=oid_of(payload.get("before")), head=oid_of(payload.get("after")))
    if name == "merge_group":
        group = _get(payload, "merge_group")
        return Event(**common, base=oid_of(group.get("base_sha")), head=oid_of(group.get("head_sha")))
    if name == "workflow_run":
        run = _get(payload, "workflow_run")
        return Event(
            **common, base="", head=oid_of(run.get("head_sha")),
            source=str(_get(run, "head_repository").get("full_name") or ""),
            source_branch=str(run.get("head_branch") or ""),
        )  # fmt: skip
    if name == "issue_comment":
        issue, comment = _get(payload, "issue"), _get(payload, "comment")
        if payload.get("action") != "created" or not _get(issue, "pull_request"):
            return Event(**common, base="", head="")
        return Event(**common, base="", head="", number=_number(issue, "number"), comment=_number(comment, "id"))
    return Event(**common, base="", head=oid_of(environ.get("GITHUB_SHA")))


def _get(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key; {} for a missing key or another value."""
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _number(value: Mapping[str, Any], key: str) -> int:
    """The positive integer under a key; 0 for any other value."""
    number = value.get(key)
    if isinstance(number, int) and not isinstance(number, bool) and number > 0:
        return number
    return 0
