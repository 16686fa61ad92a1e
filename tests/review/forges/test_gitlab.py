"""GitLab's adapter against a project on loopback that answers as GitLab documents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gitmem.review.forges.forge import ForgeError, Suggestion, push_environment
from gitmem.review.forges.gitlab import GitLab, GitLabClient
from gitmem.review.forges.location import forge_of, token_of
from tests.review.forges.gitlab_server import FORK, GitLabServer

HERE = GitLab("https://gitlab.com", "https://gitlab.com/api/v4", "team/sub/memory")


@pytest.fixture
def server() -> Iterator[GitLabServer]:
    made = GitLabServer()
    yield made
    made.close()


def client(server: GitLabServer, token: str = "write") -> GitLabClient:
    forge = GitLab("https://gitlab.com", f"{server.url}/api/v4", server.project)
    return GitLabClient(forge, token, lambda seconds: None)


def test_a_remote_at_gitlab_is_gitlabs_with_groups_within_groups() -> None:
    for url in (
        "git@gitlab.com:team/sub/memory.git",
        "https://gitlab.com/team/sub/memory",
        "ssh://git@altssh.gitlab.com:443/team/sub/memory.git",
    ):
        assert forge_of(url, {"GITHUB_TOKEN": "t"}) == HERE
    corp = GitLab("https://git.corp", "https://git.corp/api/v4", "a/b")
    assert forge_of("git@git.corp:a/b.git", {"GITLAB_HOST": "git.corp"}) == corp
    named = {"CI_SERVER_URL": "https://git.corp", "CI_API_V4_URL": "https://git.corp/api/v4", "CI_PROJECT_PATH": "a/b"}
    assert forge_of("https://evil.example/x/y", named) == corp
    assert forge_of("https://gitlab.com/x/y", {"GITLAB_HOST": "git.corp"}) is None


def test_githubs_token_does_not_go_to_gitlab() -> None:
    assert token_of(HERE, {"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, lambda host: "of gh") == ""
    assert token_of(HERE, {"GITLAB_TOKEN": "c"}) == "c"


def test_links_are_gitlabs_own() -> None:
    link = HERE.lines("abc", "memory/회의 #1.md", 3, 4)
    assert link == "https://gitlab.com/team/sub/memory/-/blob/abc/memory/%ED%9A%8C%EC%9D%98%20%231.md?plain=1#L3-4"
    made = HERE.compare("main", 'a"&;x')
    assert made.startswith(
        "https://gitlab.com/team/sub/memory/-/merge_requests/new?merge_request%5Bsource_branch%5D=a%22%26%3Bx"
    )
    assert HERE.number_of(7) == "!7"


def test_one_merge_request_is_opened_then_updated_and_reviewers_words_stay(server: GitLabServer) -> None:
    here = client(server)
    first = here.open_or_update(head="topic", base="main", title="one", body="1")
    (row,) = server.merge_requests
    row["description"] = f"Please wait.\n{row['description']}"
    again = here.open_or_update(head="topic", base="main", title="two", body="2")
    assert (first.created, again.created, again.number) == (True, False, first.number)
    assert row["title"] == "two" and row["description"].startswith("Please wait.\n<!-- git-mem:begin")
    assert again.url.endswith("/-/merge_requests/1") and again.head == "b" * 40 and again.start == "a" * 40


def test_a_forks_branch_of_the_same_name_is_another_merge_request(server: GitLabServer) -> None:
    theirs = server.merge_request("topic", "main", "theirs", FORK)
    made = client(server).open_or_update(head="topic", base="main", title="ours", body="1")
    assert made.created and theirs["title"] == "theirs"
    assert [pull.head_repository for pull in client(server).pulls()] == ["team/sub/memory", "99"]


def test_a_race_that_answers_409_ends_in_the_same_merge_request(server: GitLabServer) -> None:
    here = client(server)
    here.open_or_update(head="topic", base="main", title="one", body="1")
    server.faults.append(("GET", "/merge_requests$", 200, []))
    assert here.open_or_update(head="topic", base="main", title="two", body="2").number == 1
    assert len(server.merge_requests) == 1


def test_states_are_those_of_every_forge(server: GitLabServer) -> None:
    for state in ("opened", "closed", "merged", "locked"):
        server.merge_request(state, "main", state)["state"] = state
    states = {pull.branch: (pull.state, pull.merged) for pull in client(server).pulls(state="all")}
    assert states == {
        "opened": ("open", False), "closed": ("closed", False), "merged": ("closed", True), "locked": ("open", False),
    }  # fmt: skip


def test_one_note_is_updated_in_place_and_other_peoples_are_left_alone(server: GitLabServer) -> None:
    here = client(server)
    server.merge_request("topic", "main", "x")
    server.note("<!-- m -->\nmine", "eve")
    server.note("<!-- m -->\nnot a note of a person", "project_11_bot", system=True)
    first = here.put_comment(1, "<!-- m -->", "a")
    assert here.put_comment(1, "<!-- m -->", "b") == first
    assert [note["body"] for note in server.notes if not note["system"]] == ["<!-- m -->\nmine", "<!-- m -->\nb"]


def test_our_note_is_found_behind_two_hundred_others(server: GitLabServer) -> None:
    server.merge_request("topic", "main", "x")
    for number in range(230):
        server.note(f"note {number}", "dana")
    mine = server.note("<!-- m -->\nold", "project_11_bot")["id"]
    assert client(server).put_comment(1, "<!-- m -->", "new") == mine and len(server.notes) == 231


@pytest.mark.parametrize(("name", "may"), [("dana", True), ("guest", False), ("stranger", False), ("nobody", False)])
def test_who_may_push_is_asked_of_gitlab(server: GitLabServer, name: str, may: bool) -> None:
    assert client(server).may_write(name) is may


def test_labels_are_added(server: GitLabServer) -> None:
    server.merge_request("topic", "main", "x")
    client(server).label(1, "memory", "agent")
    assert server.labels == ["memory", "agent"]


def test_refusals_are_sentences(server: GitLabServer) -> None:
    with pytest.raises(ForgeError) as error:
        client(server, "read").open_or_update(head="topic", base="main", title="t", body="")
    assert error.value.status == 403 and "GITLAB_TOKEN" in error.value.hint and "Developer" in error.value.hint
    with pytest.raises(ForgeError) as error:
        client(server, "wrong-token-value").default_branch()
    assert error.value.status == 401 and "wrong-token-value" not in f"{error.value.message}{error.value.hint}"
    server.faults.append(("GET", "sub%2Fmemory$", 200, {"default_branch": None}))
    with pytest.raises(ForgeError, match="GitLab's answer names no default branch"):
        client(server).default_branch()


def test_git_pushes_with_the_token() -> None:
    env = push_environment(GitLabClient(HERE, "t", lambda seconds: None), {"GIT_CONFIG_COUNT": "2"})
    assert env["GIT_CONFIG_COUNT"] == "3" and env["GIT_CONFIG_KEY_2"] == "http.https://gitlab.com/.extraheader"
    assert env["GIT_CONFIG_VALUE_2"] == "Authorization: Basic b2F1dGgyOnQ="  # oauth2:t


def test_a_mask_is_suggested_on_its_line_once_and_as_gitlab_writes_it(server: GitLabServer) -> None:
    server.merge_request("topic", "main", "x")
    rows = [
        Suggestion("MEMORY.md", 5, "- key ``[redacted]`` @all"),
        Suggestion("MEMORY.md", 500, "- not in the difference"),
    ]
    here = client(server)
    assert here.put_suggestions(1, "b" * 40, rows) == 1
    assert here.put_suggestions(1, "b" * 40, rows) == 0, "they are there"
    (note,) = server.notes
    assert "\n```suggestion:-0+0\n- key ``[redacted]`` @all\n```\n" in note["body"]
    assert (note["position"]["new_path"], note["position"]["new_line"]) == ("MEMORY.md", 5)
    with pytest.raises(ForgeError, match="another head"):
        here.put_suggestions(1, "c" * 40, [Suggestion("MEMORY.md", 6, "- y")])
