"""What a GitHub event asks of us; nothing in a payload but oids and numbers is believed."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
        | st.dictionaries(st.sampled_from(["pull_request", "base", "head", "sha", "repo", "before"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # of the machine, not of the code
@given(st.dictionaries(st.sampled_from(["pull_request", "repository", "before", "after"]), json))
def test_any_payload_is_safe(payload: dict[str, Any]) -> None:
    for name in ("push", "pull_request", "schedule"):
        found = parse({"GITHUB_EVENT_NAME": name, "GITHUB_SHA": "-x"}, payload)
        assert found.head == "" or set(found.head) <= set("0123456789abcdef")
