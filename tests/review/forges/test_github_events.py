"""What a GitHub event asks of us; nothing in a payload but oids and numbers is believed."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.review.forges import gitlab_ci
from gitmem.review.forges.github_events import parse

A, B = "a" * 40, "b" * 40


def pull(head: str = "team/memory") -> dict[str, Any]:
    sides = {"base": {"sha": A, "repo": {"full_name": "team/memory"}}, "head": {"sha": B, "repo": {"full_name": head}}}
    return {"pull_request": {"number": 7, **sides}, "repository": {"default_branch": "trunk"}}


def test_a_pull_request_names_its_sides_and_whether_it_is_a_fork() -> None:
    own = parse({"GITHUB_EVENT_NAME": "pull_request"}, pull())
    assert (own.base, own.head, own.number, own.fork, own.default_branch) == (A, B, 7, False, "trunk")
    assert parse({"GITHUB_EVENT_NAME": "pull_request"}, pull("stranger/memory")).fork
    gone = pull()
    gone["pull_request"]["head"]["repo"] = None
    assert parse({"GITHUB_EVENT_NAME": "pull_request"}, gone).fork


def test_a_push_names_its_range_and_a_new_branch_has_no_base() -> None:
    env = {"GITHUB_EVENT_NAME": "push", "GITHUB_REF_NAME": "main"}
    assert parse(env, {"before": A, "after": B}).base == A
    assert parse(env, {"before": "0" * 40, "after": B}).base == ""
    assert parse(env, {"before": A, "after": "0" * 40}).head == ""


def test_only_events_of_the_default_branch_itself_may_save_a_cache() -> None:
    payload = {"repository": {"default_branch": "main"}}
    assert parse({"GITHUB_EVENT_NAME": "push", "GITHUB_REF_NAME": "main"}, payload).on_default_branch
    assert not parse({"GITHUB_EVENT_NAME": "push", "GITHUB_REF_NAME": "x"}, payload).on_default_branch
    assert not parse({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF_NAME": "main"}, pull()).on_default_branch


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["pull_request", "base", "head", "sha", "repo", "before", "head_sha", "id", "number"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # of the machine, not of the code
@given(
    st.dictionaries(
        st.sampled_from(
            ["pull_request", "repository", "before", "after", "merge_group", "workflow_run", "issue", "comment"]
        ),
        json,
    )
)
def test_any_payload_is_safe(payload: dict[str, Any]) -> None:
    for name in ("push", "pull_request", "schedule", "merge_group", "workflow_run", "issue_comment"):
        found = parse({"GITHUB_EVENT_NAME": name, "GITHUB_SHA": "-x"}, payload)
        assert found.head == "" or set(found.head) <= set("0123456789abcdef")


def test_a_merge_group_names_its_range() -> None:
    group = {"base_sha": A, "head_sha": B, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7"}
    found = parse({"GITHUB_EVENT_NAME": "merge_group"}, {"merge_group": group})
    assert (found.base, found.head, found.number) == (A, B, 0) and not found.on_default_branch


def test_the_end_of_another_run_names_its_head_and_believes_no_number() -> None:
    run = {
        "head_sha": B, "head_branch": "main", "head_repository": {"full_name": "stranger/memory"},
        "pull_requests": [{"number": 3}],
    }  # fmt: skip
    found = parse({"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_REF_NAME": "main"}, {"workflow_run": run})
    assert (found.head, found.number, found.source, found.source_branch) == (B, 0, "stranger/memory", "main")
    assert not found.on_default_branch, "a stranger's run saves no cache"


def test_only_a_new_comment_on_a_pull_request_is_one() -> None:
    comment = {"comment": {"id": 5}, "issue": {"number": 7, "pull_request": {"url": "x"}}}
    env = {"GITHUB_EVENT_NAME": "issue_comment"}
    assert parse(env, {"action": "created", **comment}).comment == 5
    for other in ({"action": "edited", **comment}, {"action": "created", **comment, "issue": {"number": 7}}):
        assert (parse(env, other).comment, parse(env, other).number) == (0, 0)


def test_gitlabs_variables_say_the_same() -> None:
    env = {
        "CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": "c" * 40,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": A, "CI_MERGE_REQUEST_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1", "CI_DEFAULT_BRANCH": "trunk", "CI_PROJECT_PATH": "a/b/c",
    }  # fmt: skip
    own = gitlab_ci.parse(env)
    assert (own.base, own.head, own.number, own.fork, own.default_branch) == (A, "c" * 40, 7, False, "trunk")
    merged = gitlab_ci.parse(
        {**env, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": B, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"}
    )
    assert merged.head == B and merged.fork and not merged.may_comment
    new = gitlab_ci.parse({"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": "0" * 40, "CI_COMMIT_SHA": B})
    assert (new.base, new.head, new.number) == ("", B, 0)
    assert gitlab_ci.parse({"CI_MERGE_REQUEST_IID": "7;x", "CI_COMMIT_SHA": "-x"}).head == ""
