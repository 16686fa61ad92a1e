"""actions/review, promote and merge, run as GitHub runs them: twice, at once, on forks, without permission."""

from __future__ import annotations

import json
from typing import Any

from tests.actions.stage import Stage

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
LOG = "# 2026-02-06\n\n## 09:00\n\n- We decided to use REST webhooks for the PoC because they are easier to debug.\n- lunch was fine\n"
DISPATCH: dict[str, Any] = {"repository": {"default_branch": "main", "full_name": "team/memory"}}


def base_of(stage: Stage) -> str:
    return stage.repo.git("rev-parse", "HEAD").strip()


def comments(stage: Stage, number: int = 1) -> list[dict[str, Any]]:
    return stage.rest.state.comments.get(number, [])


# -- review ----------------------------------------------------------------------------------------------------


def test_a_review_is_one_comment_updated_in_place(stage: Stage) -> None:
    base = base_of(stage)
    memory = stage.repo.read("MEMORY.md") + "- 배포는 오전 11시 이전에만 한다.\n"
    stage.repo.commit("fact", {"MEMORY.md": memory})
    payload = stage.pull_request(base, stage.push("change"))
    first = stage.run("review", payload)
    assert first.status == "success" and first.outputs["verdict"] == "clean"
    stage.repo.commit("fact", {"MEMORY.md": memory + "- The licence is MIT.\n"})
    stage.run("review", stage.pull_request(base, stage.push("change")))
    (comment,) = comments(stage)
    assert "The licence is MIT." in comment["body"] and "배포는" in comment["body"] and "plain=1" in comment["body"]


def test_on_a_fork_the_review_goes_to_the_summary(stage: Stage) -> None:
    base = base_of(stage)
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    done = stage.run("review", stage.pull_request(base, stage.push("change"), fork=True), inputs={"token": "read"})
    assert done.status == "success" and "The licence is MIT." in done.summary and comments(stage) == []


def test_without_permission_to_comment_the_review_says_what_is_missing(stage: Stage) -> None:
    base = base_of(stage)
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    done = stage.run("review", stage.pull_request(base, stage.push("change")), inputs={"token": "read"})
    assert done.status == "success" and "pull-requests: write" in done.log and "MIT" in done.summary


def test_a_review_never_shows_a_secret_and_fails(stage: Stage) -> None:
    base = base_of(stage)
    stage.repo.commit(
        "x", {"MEMORY.md": stage.repo.read("MEMORY.md") + f"- 토큰은{TOKEN}를 쓴다 <!-- --> `$(touch x)`\n"}
    )
    done = stage.run("review", stage.pull_request(base, stage.push("change"), title="$(touch x)\n-->"))
    text = done.log + done.summary + str(stage.rest.state.requests)
    assert done.status == "failure" and TOKEN not in text and TOKEN[12:] not in text


def test_a_comment_counts_what_it_has_no_room_for_and_the_whole_is_kept(stage: Stage) -> None:
    base = base_of(stage)
    facts = "".join(f"- Shelf {n} of the archive holds box {n * 7}, see the list of boxes.\n" for n in range(400))
    stage.repo.commit("many", {"memory/shelves.md": f"# Shelves\n\n{facts}", "SOUL.md": "# Soul\n\nBe kind.\n"})
    done = stage.run("review", stage.pull_request(base, stage.push("change")))
    (comment,) = comments(stage)
    head = comment["body"].split("\n> **Not shown here:** ")
    assert "**400 facts new or changed**" in head[0] and len(comment["body"]) <= 65_536
    assert "added facts. All of it: the step summary and the artifact `memory-review` of [this run](" in head[1]
    assert "`Be kind.`" in comment["body"] and "Not shown here" not in done.summary
    kept = stage.artifacts["memory-review"]
    assert "see the list of boxes.`" in done.summary and kept["review.md"].decode().count("`Shelf ") >= 400
    assert len(json.loads(kept["review.json"])["changes"]) == 400


def test_a_comment_of_an_earlier_run_is_replaced_when_a_later_one_cannot_review(stage: Stage) -> None:
    base = base_of(stage)
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    stage.run("review", stage.pull_request(base, stage.push("change")))
    assert "MIT" in comments(stage)[0]["body"]
    stage.repo.commit("broken", {".gitmem.toml": "[memory\n"})
    done = stage.run("review", stage.pull_request(base, stage.push("change")))
    (comment,) = comments(stage)
    assert done.status == "failure" and "Memory review: not done" in comment["body"] and "MIT" not in comment["body"]
    assert [kind for kind, _, _ in done.annotations] == ["error"] and ".gitmem.toml" in done.annotations[0][2]


# -- promote ---------------------------------------------------------------------------------------------------


def dispatch(stage: Stage, **more: Any) -> Any:
    return stage.run("promote", DISPATCH, event="workflow_dispatch", ref="main", **more)


def test_promotion_is_one_branch_and_one_pull_request_that_is_updated(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    main = stage.push()
    first = dispatch(stage)
    assert first.status == "success" and first.outputs["facts"] == "1", first.log
    (pull,) = stage.rest.state.pulls
    assert (
        pull["head"]["ref"] == "memory/promote"
        and "- [ ] add `We decided" in pull["body"]
        and "start no checks" in pull["body"]
    )
    assert stage.repo.git("ls-remote", "origin", "refs/heads/main").split()[0] == main
    stage.repo.commit(
        "log",
        {
            "memory/2026-02-07.md": LOG.replace(
                "use REST webhooks for the PoC because they are easier to debug",
                "bake the graph at 03:00, since nobody rides then",
            ).replace("06", "07")
        },
    )
    stage.push()
    second = dispatch(stage)
    assert len(stage.rest.state.pulls) == 1 and second.outputs["pull-request"] == "1"
    assert (
        "bake the graph" in stage.rest.state.pulls[0]["body"] and "REST webhooks" in stage.rest.state.pulls[0]["body"]
    )


def test_nothing_to_promote_is_no_pull_request_and_says_why(stage: Stage) -> None:
    done = dispatch(stage)
    assert done.status == "success" and done.outputs["facts"] == "0" and stage.rest.state.pulls == []
    assert "nothing" in done.summary.lower()


def test_a_proposal_closed_without_merging_is_not_made_again(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    dispatch(stage)
    stage.rest.state.pulls[0]["state"] = "closed"
    again = dispatch(stage)
    assert again.status == "success" and again.outputs["facts"] == "0", again.log
    assert len(stage.rest.state.pulls) == 1
    third = dispatch(stage)
    assert third.outputs["facts"] == "0" and len(stage.rest.state.pulls) == 1


def test_a_missing_permission_is_named(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    refusal = {"message": "GitHub Actions is not permitted to create or approve pull requests."}
    stage.rest.state.faults += [("POST", "/pulls$", 403, {}, refusal)]
    done = dispatch(stage)
    assert done.status == "failure" and "Allow GitHub Actions to create and approve pull requests" in done.log


def test_the_default_branch_is_never_pushed_to(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    done = dispatch(stage, inputs={"branch": "main"})
    assert done.status == "failure" and stage.server.pushes == 0


def test_a_server_error_is_tried_again(stage: Stage) -> None:
    stage.repo.commit("log", {"memory/2026-02-06.md": LOG})
    stage.push()
    stage.rest.state.faults += [("GET", "/pulls$", 502, {}, {}), ("GET", "/pulls$", 429, {"Retry-After": "0"}, {})]
    assert dispatch(stage).outputs["facts"] == "1"


# -- merge -----------------------------------------------------------------------------------------------------


def open_pull(stage: Stage, branch: str) -> None:
    value = {"title": branch, "head": branch, "base": "main"}
    assert stage.rest.open_pull(value)[0] == 201


def push_event(stage: Stage) -> Any:
    return stage.run("merge", {**DISPATCH, "after": base_of(stage)}, event="push", ref="main")


def test_an_open_memory_pull_request_is_merged_fact_by_fact(stage: Stage) -> None:
    memory = stage.repo.read("MEMORY.md")
    stage.repo.git("checkout", "-q", "-b", "theirs")
    stage.repo.commit("theirs", {"MEMORY.md": memory + "- Theirs is a fact.\n"})
    stage.push("theirs")
    open_pull(stage, "theirs")
    stage.repo.git("checkout", "-q", "main")
    stage.repo.commit("ours", {"MEMORY.md": memory + "- Ours is a fact.\n"})
    stage.push()
    done = push_event(stage)
    assert done.status == "success" and done.outputs["merged"] == "1", done.log
    stage.repo.git("fetch", "-q", "origin")
    merged = stage.repo.git("show", "origin/theirs:MEMORY.md")
    assert "- Theirs is a fact.\n" in merged and "- Ours is a fact.\n" in merged and "<<<<" not in merged
    assert push_event(stage).outputs["merged"] == ""


def test_a_contradiction_is_left_for_a_person(stage: Stage) -> None:
    memory = stage.repo.read("MEMORY.md")
    stage.repo.git("checkout", "-q", "-b", "theirs")
    stage.repo.commit("theirs", {"MEMORY.md": memory.replace("blue", "green")})
    tip = stage.push("theirs")
    open_pull(stage, "theirs")
    stage.repo.git("checkout", "-q", "main")
    stage.repo.commit("ours", {"MEMORY.md": memory.replace("blue", "red")})
    stage.push()
    done = push_event(stage)
    assert done.status == "success" and done.outputs["conflicts"] == "1" and "a person must decide" in done.summary
    assert stage.repo.git("ls-remote", "origin", "refs/heads/theirs").split()[0] == tip


def test_branches_of_other_things_are_left_alone(stage: Stage) -> None:
    stage.repo.git("checkout", "-q", "-b", "code")
    stage.repo.commit("code", {"main.py": "x = 1\n"})
    stage.push("code")
    open_pull(stage, "code")
    stage.repo.git("checkout", "-q", "main")
    stage.repo.commit("ours", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- Ours.\n"})
    stage.push()
    done = push_event(stage)
    assert done.outputs["merged"] == "" and stage.server.pushes == 0 and "no memory file" in done.summary


def test_a_line_that_fails_the_review_is_an_annotation_in_its_place(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    text = stage.repo.read("MEMORY.md") + "- `touch x` $(touch x) @team\n"
    stage.repo.commit("x\n\nMemory-Agent: codex", {"MEMORY.md": text})
    done = stage.run("review", stage.pull_request(base, stage.push('a";touch${IFS}x')), token="read")
    assert done.status == "failure"
    (found,) = [properties for kind, properties, *_ in done.annotations if kind == "error"]
    assert found["title"] == "review/unrecorded" and found["file"] == "MEMORY.md"


def test_a_mask_that_mends_is_suggested_on_the_line_once_and_only_on_lines_of_the_change(stage: Stage) -> None:
    stage.repo.commit("old", {"memory/keys.md": f"- before: {TOKEN}\n\nwords\n"})
    base = stage.push()
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq9Xv2Kf0\n" * 3 + "-----END RSA PRIVATE KEY-----\n"
    text = stage.repo.read("memory/keys.md") + f"- ask ``@dana`` or use {TOKEN[:-3]}Q7z\n- fine\n{key}"
    stage.repo.commit("oops", {"memory/keys.md": text})
    stage.repo.commit("above", {"memory/keys.md": "# Keys\n" + text})
    head = stage.push("change")
    for _ in range(2):
        done = stage.run("review", stage.pull_request(base, head))
    assert done.status == "failure", done.log
    (made,) = stage.rest.state.line_comments
    assert (made["path"], made["line"], made["side"], made["commit_id"]) == ("memory/keys.md", 5, "RIGHT", head)
    assert "\n```suggestion\n- ask ``@dana`` or use [redacted:github-token]\n```\n" in made["body"]
    assert TOKEN[:-3] not in str(stage.rest.state.requests), "no request holds the secret"
    assert "line 5, masked" in stage.rest.state.comments[1][0]["body"], "whatever line it had in an earlier commit"


def test_where_no_suggestion_can_be_written_the_review_says_so_and_holds(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("oops", {"memory/keys.md": f"- use {TOKEN}\n"})
    payload = stage.pull_request(base, stage.push("change"))
    stage.rest.state.faults.append(("POST", "/pulls/1/comments$", 403, {}, {"message": "Resource not accessible"}))
    refused = stage.run("review", payload)
    assert refused.outputs["verdict"] == "failed" and "no suggestion: GitHub refused" in refused.log
    stage.rest.state.faults.append(
        ("POST", "/pulls/1/comments$", 422, {}, {"message": "line must be part of the diff"})
    )
    outside = stage.run("review", payload)
    assert outside.outputs["verdict"] == "failed" and "no suggestion" not in outside.log
