"""Parses the event that started a pipeline of GitLab CI from its variables. Pure.

https://docs.gitlab.com/ci/variables/predefined_variables
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitmem.review.forges.event import Event, oid_of

EVENT_NAMES = {
    "merge_request_event": "pull_request",
    "push": "push",
    "schedule": "schedule",
    "web": "workflow_dispatch",
}


def parse(environ: Mapping[str, str]) -> Event:
    """The event that the variables describe, with GitHub's name for it. A missing text is "", and so is an oid that is
    malformed or all zeros; a missing number is 0, a missing default branch "main".

    The commit of a merged results pipeline is a trial merge, so the head is the tip of the source branch instead.
    """
    number = environ.get("CI_MERGE_REQUEST_IID", "")
    name = environ.get("CI_PIPELINE_SOURCE", "")
    common: dict[str, Any] = {
        "name": EVENT_NAMES.get(name, name),
        "branch": environ.get("CI_COMMIT_BRANCH", ""),
        "default_branch": environ.get("CI_DEFAULT_BRANCH") or "main",
        "repository": environ.get("CI_PROJECT_PATH", ""),
    }
    tip = oid_of(environ.get("CI_COMMIT_SHA"))
    if number.isdigit():
        return Event(
            **common,
            base=oid_of(environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")),
            head=oid_of(environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")) or tip,
            number=int(number),
            target=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", ""),
            fork=environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != environ.get("CI_MERGE_REQUEST_PROJECT_ID"),
        )
    return Event(**common, base=oid_of(environ.get("CI_COMMIT_BEFORE_SHA")), head=tip)
