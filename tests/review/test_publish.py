"""Publishing against a real Git server and a REST server with state: one pull request, no leaks, no force."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import GitMemError
from gitmem.memory.fact import Fact
from gitmem.memory.facts import parse
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.forges.forge import ForgeError
from gitmem.review.forges.github import GitHub, GitHubClient
from gitmem.review.forges.location import forge_of
from gitmem.review.publish import pull_description
from tests import fake_detectors
from tests.actions.remote import GitServer
from tests.actions.rest import RestServer
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, promote, record_log

TOKEN = "write"


@pytest.fixture
def rest() -> Iterator[RestServer]:
    server = RestServer()
    yield server
    server.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[GitServer]:
    root = tmp_path / "served"
    bare = Repo(root / "team" / "memory.git", False)
    bare.git("init", "-q", "--bare", "-b", "main")
    bare.git("config", "http.receivepack", "true")
    server = GitServer(root, token=TOKEN)
    yield server
    server.close()


def client(rest: RestServer, token: str = TOKEN) -> GitHubClient:
    return GitHubClient(GitHub("https://github.com", rest.url, rest.repository), token, lambda seconds: None)


def test_the_api_never_comes_from_the_clone() -> None:
    assert forge_of("https://evil.example/team/memory.git", {}) is None
    for url in (
        "git@github.com:team/memory.git",
        "https://x@github.com/team/memory",
        "ssh://git@github.com/team/memory",
    ):
        assert forge_of(url, {}) == GitHub("https://github.com", "https://api.github.com", "team/memory")
    own = {
        "GITHUB_API_URL": "https://git.corp/api/v3",
        "GITHUB_SERVER_URL": "https://git.corp",
        "GITHUB_REPOSITORY": "a/b",
    }
    assert forge_of("https://evil.example/x/y", own) == GitHub("https://git.corp", "https://git.corp/api/v3", "a/b")
    assert forge_of("/srv/memory.git", {}) is None


def test_links_are_encoded_and_show_lines_as_text() -> None:
    forge = GitHub("https://github.com", "", "team/memory")
    link = forge.lines("abc", "memory/회의 #1.md", 3, 4)
    assert link == "https://github.com/team/memory/blob/abc/memory/%ED%9A%8C%EC%9D%98%20%231.md?plain=1#L3-L4"
    assert forge.compare("main", 'a";x') == "https://github.com/team/memory/compare/main...a%22%3Bx?expand=1"


def test_a_source_of_one_line_is_named_by_one_number() -> None:
    text = "- a fact <!-- mem src=memory/2026-02-05.md#L5-L5@1a2b3c4d5e6f src=memory/2026-02-06.md#L5-L6@1a2b3c4d5e6f -->\n"
    (fact,) = parse(text.encode()).facts
    body = pull_description([FactChange(Op.ADDED, "MEMORY.md", None, fact)], GitHub("https://x", "", "a/b"), "abc")
    assert "[`memory/2026-02-05.md#L5`](" in body and "[`memory/2026-02-06.md#L5-L6`](" in body


def test_one_pull_request_is_opened_then_updated(rest: RestServer) -> None:
    here = client(rest)
    first = here.open_or_update(head="topic", base="main", title="one", body="1")
    again = here.open_or_update(head="topic", base="main", title="two", body="2")
    assert (first.created, again.created, again.number) == (True, False, first.number)
    assert [pull["title"] for pull in rest.state.pulls] == ["two"]


def test_what_reviewers_write_into_a_title_and_a_body_stays(rest: RestServer) -> None:
    here = client(rest)
    here.open_or_update(head="topic", base="main", title="one", body="1")
    (pull,) = rest.state.pulls
    pull["body"] = f"Please wait.\r\n{pull['body']}Ann: the second fact is wrong.\r\n"
    here.open_or_update(head="topic", base="main", title="two", body="2 " * 40_000)
    assert pull["body"].startswith("Please wait.\r\n<!-- git-mem:begin") and len(pull["body"]) <= 65_536
    assert pull["body"].endswith("Ann: the second fact is wrong.\r\n") and pull["title"] == "two"
    pull["title"] = "Facts of March, checked by Ann"
    here.open_or_update(head="topic", base="main", title="three", body="3")
    here.open_or_update(head="topic", base="main", title="four", body="4")
    assert pull["title"] == "Facts of March, checked by Ann" and "\n4\n" in pull["body"] and "2 2" not in pull["body"]
    pull["body"] = "all mine"
    here.open_or_update(head="topic", base="main", title="five", body="5")
    assert pull["body"].startswith("all mine\n\n<!-- git-mem:begin") and pull["title"].endswith("Ann")
    pull["body"] = "x" * 65_536
    here.open_or_update(head="topic", base="main", title="six", body="6")
    assert pull["body"] == "x" * 65_536


def test_a_box_that_a_reviewer_ticked_stays_ticked_while_its_row_says_the_same(rest: RestServer) -> None:
    here = client(rest)

    def body(commit: str, second: str = "two", source: str = "a.md#L1") -> str:
        rows = ["- [ ] add `one`", f"  - [`{source}`](https://github.com/x/{commit}#L1)", f"- [ ] add `{second}`"]
        return "\n".join(["<!-- git-mem:publish -->", "", *rows, "- [ ] add `same`", "- [ ] add `same`"]) + "\n"

    here.open_or_update(head="topic", base="main", title="t", body=body("c1"))
    (pull,) = rest.state.pulls
    ticked = pull["body"].replace("- [ ] add `one`", "- [x] add `one`").replace("- [ ] add `two`", "- [X] add `two`")
    pull["body"] = ticked.replace("- [ ] add `same`", "- [x] add `same`", 1).replace("\n", "\r\n")
    here.open_or_update(head="topic", base="main", title="t", body=body("c2"))
    assert "- [x] add `one`\n" in pull["body"] and "- [x] add `two`\n" in pull["body"] and "/x/c2#" in pull["body"]
    assert pull["body"].count("- [x] add `same`") == pull["body"].count("- [ ] add `same`") == 1
    here.open_or_update(head="topic", base="main", title="t", body=body("c3", "three", "a.md#L2"))
    assert "- [ ] add `one`\n" in pull["body"] and "- [ ] add `three`\n" in pull["body"]


def test_the_pull_request_into_another_base_is_another_pull_request(rest: RestServer) -> None:
    here = client(rest)
    here.open_or_update(head="topic", base="release", title="theirs", body="1")
    rest.state.faults.append(("POST", "/pulls$", 422, {}, {"message": "Validation Failed"}))
    with pytest.raises(ForgeError):
        here.open_or_update(head="topic", base="main", title="ours", body="2")
    assert [pull["title"] for pull in rest.state.pulls] == ["theirs"]
    here.open_or_update(head="topic", base="main", title="ours", body="2")
    assert [(pull["title"], pull["base"]["ref"]) for pull in rest.state.pulls] == [
        ("theirs", "release"),
        ("ours", "main"),
    ]


def test_a_race_that_answers_422_ends_in_the_same_pull_request(rest: RestServer) -> None:
    here = client(rest)
    here.open_or_update(head="topic", base="main", title="one", body="1")
    rest.state.faults.append(("GET", "/pulls$", 200, {}, []))  # type: ignore[arg-type]
    assert here.open_or_update(head="topic", base="main", title="two", body="2").number == 1
    assert len(rest.state.pulls) == 1


def test_one_comment_is_updated_in_place_and_other_peoples_are_left_alone(rest: RestServer) -> None:
    here = client(rest)
    rest.state.comments[1] = [{"id": 1, "body": "<!-- m -->\nmine", "user": {"login": "eve", "type": "User"}}]
    first = here.put_comment(1, "<!-- m -->", "a")
    assert here.put_comment(1, "<!-- m -->", "b" * 70_000) == first
    bodies = [row["body"] for row in rest.state.comments[1]]
    assert bodies[0] == "<!-- m -->\nmine" and len(bodies) == 2 and len(bodies[1]) == 65_536


def test_a_person_whose_token_it_is_gets_one_comment_too(rest: RestServer) -> None:
    rest.state.comments[1] = [{"id": 7, "body": "<!-- m -->\nold", "user": {"login": "ann", "type": "User"}}]
    rest.state.faults.append(("GET", "/user$", 200, {}, {"login": "ann"}))
    assert client(rest).put_comment(1, "<!-- m -->", "new") == 7
    assert [row["body"] for row in rest.state.comments[1]] == ["<!-- m -->\nnew"]


def test_server_errors_and_rate_limits_are_waited_out(rest: RestServer) -> None:
    waited: list[float] = []
    here = GitHubClient(client(rest).forge, TOKEN, waited.append)
    rest.state.faults += [("GET", "", 502, {}, {}), ("GET", "", 403, {"Retry-After": "7"}, {"message": "rate limit"})]
    assert here.default_branch() == "main" and waited == [1.0, 7.0]


@pytest.mark.parametrize("answer", [b"<html>", b"", b"[1", b"null", b"3", b'"x"', {}, {"number": "x"}, []], ids=repr)
def test_an_answer_that_is_not_what_was_asked_for_is_an_error_and_never_an_empty_one(
    rest: RestServer, answer: Any
) -> None:
    here = client(rest)
    calls: list[tuple[str, str, Callable[[], Any]]] = [
        ("GET", "memory$", here.default_branch),
        ("POST", "/pulls$", lambda: here.open_or_update(head="topic", base="main", title="t", body="b")),
        ("POST", "/comments$", lambda: here.put_comment(1, "<!-- m -->", "b")),
    ]
    if answer != []:
        calls.append(("GET", "/pulls$", here.pulls))
    for method, path, call in calls:
        rest.state.faults.append((method, path, 200, {}, answer))
        with pytest.raises(ForgeError, match="GitHub's answer"):
            call()
        assert not rest.state.faults


def test_a_server_that_cannot_say_who_is_asking_makes_no_second_comment(rest: RestServer) -> None:
    rest.state.comments[1] = [{"id": 7, "body": "<!-- m -->\nold", "user": {"login": "ann", "type": "User"}}]
    rest.state.faults += [("GET", "/user$", 502, {}, {})] * 4  # as often as it is tried
    with pytest.raises(ForgeError):
        client(rest).put_comment(1, "<!-- m -->", "new")
    assert len(rest.state.comments[1]) == 1


def test_a_refusal_says_which_setting_is_missing_and_never_the_token(rest: RestServer) -> None:
    with pytest.raises(ForgeError) as error:
        client(rest, "read").open_or_update(head="topic", base="main", title="t", body="")
    assert error.value.status == 403 and "Allow GitHub Actions to create" in error.value.hint
    with pytest.raises(ForgeError) as error:
        client(rest, "wrong-token-value").default_branch()
    assert error.value.status == 401 and "wrong-token-value" not in f"{error.value.message}{error.value.hint}"
    assert "wrong-token-value" not in repr(client(rest, "wrong-token-value"))


def test_a_redirect_does_not_carry_the_token_away(rest: RestServer) -> None:
    other = RestServer()
    rest.state.faults.append(("GET", "", 302, {"Location": f"{other.url}/repos/team/memory"}, {}))
    with pytest.raises(ForgeError):
        client(rest).default_branch()
    assert other.state.requests == []
    other.close()


def test_plain_http_is_refused_but_on_loopback() -> None:
    with pytest.raises(GitMemError):
        GitHubClient(GitHub("", "http://api.example", "a/b"), "t", lambda seconds: None)


def ready(repo: Repo, served: GitServer, branch: str = "memory/march") -> None:
    record_log(repo)
    repo.git("remote", "add", "origin", f"{served.url}/team/memory.git")
    basic = b64encode(f"x:{TOKEN}".encode()).decode()
    header = f"http.{served.url}/.extraheader=Authorization: Basic {basic}"
    repo.git("-c", header, "push", "-q", "origin", "main")
    repo.git("checkout", "-q", "-b", branch)
    promote(repo)


def environment(served: GitServer, rest: RestServer, token: str = TOKEN) -> dict[str, str]:
    return {
        "GITHUB_API_URL": rest.url, "GITHUB_SERVER_URL": served.url, "GITHUB_REPOSITORY": "team/memory",
        "GITHUB_TOKEN": token, "GITHUB_ACTIONS": "true",
    }  # fmt: skip


def publish(repo: Repo, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], *args: str) -> tuple[int, str]:
    """In this process, with detectors that are known."""
    from click.testing import CliRunner

    from gitmem.cli.main import main_command

    fake_detectors.use(monkeypatch, "tokens")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    done = CliRunner().invoke(main_command, ["publish", "--json", *args], standalone_mode=False)
    if done.exception is not None:
        assert isinstance(done.exception, GitMemError), done.exception
        return int(done.exception.exit_code), done.exception.message + done.exception.hint
    return 0, done.output


def test_publish_pushes_with_the_token_and_opens_one_pull_request_with_a_checklist(
    repo: Repo, served: GitServer, rest: RestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(repo, served)
    code, out = publish(repo, monkeypatch, environment(served, rest))
    value = json.loads(out)
    assert code == 0 and value["pull_request"] == {
        "number": 1,
        "url": "https://github.com/team/memory/pull/1",
        "created": True,
    }
    head = repo.git("rev-parse", "HEAD").strip()
    assert value["head"] == head and head in repo.git("-C", str(served.root / "team/memory.git"), "show-ref")
    body = rest.state.pulls[0]["body"]
    assert f"- [ ] add `{FACT}`" in body and f"/blob/{head}/{DAY}?plain=1#L5-L6" in body
    promote(repo, "They are easier to debug.")
    again = json.loads(publish(repo, monkeypatch, environment(served, rest))[1])
    assert again["pull_request"]["created"] is False and len(rest.state.pulls) == 1
    assert "easier to debug.`" in rest.state.pulls[0]["body"]
    assert TOKEN not in (repo.path / ".git/config").read_text()


def test_facts_cannot_write_markup_into_the_pull_request(
    repo: Repo, served: GitServer, rest: RestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(repo, served, 'a";touch-x')
    repo.commit(
        "x @team <!-- y", {"MEMORY.md": "- `` @team](http://x.example) --> <img src=x> ::set-output name=a::b\n"}
    )
    assert publish(repo, monkeypatch, environment(served, rest))[0] == 0
    pull = rest.state.pulls[0]
    assert " ``` `` @team](http://x.example) --> <img src=x> ::set-output name=a::b ```" in pull["body"]
    assert "@" not in pull["title"] and "<" not in pull["title"]


def test_a_secret_that_is_taken_out_does_not_stand_in_the_pull_request(
    repo: Repo, served: GitServer, rest: RestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "tok_abcdef123"  # of the detectors that `publish` above uses
    repo.commit("old", {"MEMORY.md": f"- the key of the mirror is {secret}\n- The sky is blue.\n"})
    repo.git("remote", "add", "origin", f"{served.url}/team/memory.git")
    header = f"http.{served.url}/.extraheader=Authorization: Basic {b64encode(f'x:{TOKEN}'.encode()).decode()}"
    repo.git("-c", header, "push", "-q", "origin", "main")
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("out", {"MEMORY.md": "- the key of the mirror is in the vault of the team\n- The sky is blue.\n"})
    code, out = publish(repo, monkeypatch, environment(served, rest))
    body = rest.state.pulls[0]["body"] if rest.state.pulls else ""
    assert code == 0 and "in the vault of the team" in body and "the key of the mirror is [redacted:" in body, out
    assert secret[4:] not in str(rest.state.requests)


def test_what_a_body_does_not_list_is_counted_and_a_note_is_no_log() -> None:
    facts = [Fact(f"fact {n}", f"{n:012}", n) for n in range(1, 241)]
    changes = [
        FactChange(Op.ADDED if fact.line % 2 else Op.REMOVED, "memory/2026-plans.md", new=fact) for fact in facts
    ]
    log = FactChange(Op.ADDED, "memory/2026-02-05.md", new=facts[0])
    forge = GitHub("https://github.com", "https://api.github.com", "team/memory")
    body = pull_description([*changes, log], forge, "a" * 40, ["the end"])
    assert "240 facts: 120 to add, 120 to remove." in body and body.count("- [ ] ") == 200
    assert "Not listed: 20 to add, 20 to remove." in body and body.endswith("the end\n")
    long = [FactChange(Op.ADDED, "MEMORY.md", new=Fact("x" * 9_000, f"{n:012}", n)) for n in range(1, 20)]
    body = pull_description(long, forge, "a" * 40, ["the end"])
    assert len(body) < 65_536 and "19 facts" in body and "Not listed: 12 to add." in body and "(cut)" not in body


def test_without_a_token_it_pushes_and_prints_the_compare_link(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Repo(tmp_path / "github.com" / "team" / "memory.git", False)
    bare.git("init", "-q", "--bare", "-b", "main")
    record_log(repo)
    repo.git("remote", "add", "origin", "https://github.com/team/memory.git")
    repo.git("config", f"url.{tmp_path}/github.com/.pushInsteadOf", "https://nowhere.example/")
    repo.git("remote", "set-url", "--push", "origin", str(bare.path))
    repo.git("checkout", "-q", "-b", "topic")
    promote(repo)
    env = {"GITHUB_REPOSITORY": "team/memory", "GITHUB_SERVER_URL": "https://github.com"}
    code, out = publish(repo, monkeypatch, env)
    value = json.loads(out)
    assert code == 0 and value["pull_request"] is None
    assert value["compare"] == "https://github.com/team/memory/compare/main...topic?expand=1"
    assert "refs/heads/topic" in bare.git("show-ref")


def test_the_base_branch_is_never_pushed_to(
    repo: Repo, served: GitServer, rest: RestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(repo, served)
    repo.git("checkout", "-q", "main")
    before = served.pushes
    code, words = publish(repo, monkeypatch, environment(served, rest))
    assert code == 3 and "git switch -c" in words and served.pushes == before


def test_what_the_gate_blocks_is_not_pushed(
    repo: Repo, served: GitServer, rest: RestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(repo, served)
    bad = repo.commit("secret", {"memory/n.md": "- tok_abcdef123\n"})
    repo.commit("gone", {"memory/n.md": "- nothing\n"})
    before = served.pushes
    code, words = publish(repo, monkeypatch, environment(served, rest))
    assert code == 1 and "tok_abcdef123" not in words and served.pushes == before and rest.state.pulls == []
    assert f"(memory/n.md:1 in {bad[:12]}: " in words and "git mem scan --range" in words and "not written" not in words


def test_a_plain_remote_gets_the_branch_and_the_words_for_who_reviews_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Repo(tmp_path / "plain.git", False)
    bare.git("init", "-q", "--bare", "-b", "main")
    record_log(repo)
    repo.git("remote", "add", "origin", str(bare.path))
    repo.git("checkout", "-q", "-b", "topic")
    promote(repo)
    code, out = publish(repo, monkeypatch, {"GITHUB_TOKEN": TOKEN})
    assert code == 0 and json.loads(out)["compare"] is None and "refs/heads/topic" in bare.git("show-ref")
    assert repo.mem("publish").stdout.strip() == "git mem review main..topic"
    former = repo.mem("publish", "--pr")
    assert former.stdout.strip() == "git mem review main..topic" and "without --pr" in former.stderr
