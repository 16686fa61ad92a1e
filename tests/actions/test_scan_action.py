"""actions/scan, run as GitHub runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.actions.stage import Stage
from tests.detector_examples.secrets import fake

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


def test_a_clean_pull_request_passes(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("log", {"memory/2026-02-06.md": "# 2026-02-06\n\n## 09:00\n\n- 배포 완료\n"})
    head = stage.push("change")
    done = stage.run("scan", stage.pull_request(base, head))
    assert done.status == "success" and done.outputs["result"] == "clean" and done.annotations == []
    assert "scan of" in done.summary


def test_a_secret_added_and_removed_again_inside_the_range_fails_and_is_never_shown(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("oops", {"memory/2026-02-06.md": f"# 2026-02-06\n\n- 토큰은{TOKEN}를 쓴다\n"})
    stage.repo.commit("removed", {"memory/2026-02-06.md": "# 2026-02-06\n\n- 토큰은 금고에\n"})
    head = stage.push("change")
    done = stage.run("scan", stage.pull_request(base, head, fork=True), token="", inputs={"sarif": "out.sarif"})
    assert done.status == "failure" and done.outputs["result"] == "failed"
    (annotation,) = [a for a in done.annotations if "github" in a[1]["title"]]
    assert annotation[0] == "error" and annotation[1]["file"] == "memory/2026-02-06.md" and annotation[1]["line"] == "3"
    sarif = (stage.checkout.path / "out.sarif").read_text()
    assert json.loads(sarif)["version"] == "2.1.0" and "rotate" in done.summary
    for text in (done.log, done.summary, sarif):
        assert TOKEN not in text and TOKEN[10:] not in text


def test_a_secret_in_a_commit_message_is_found(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit(f"use {TOKEN}", {"memory/a.md": "- a\n"})
    done = stage.run("scan", stage.pull_request(base, stage.push("change")))
    assert done.status == "failure" and "commit message" in done.summary and TOKEN not in done.log + done.summary


def test_the_plugins_of_detect_secrets_are_asked_where_the_workflow_says_so(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    token = "AP6" + fake("<A>{16}")  # a shape that only the plugins know
    stage.repo.commit("log", {"memory/b.md": f"- artifactory {token} in use\n"})
    event = stage.pull_request(base, stage.push("change"))
    assert stage.run("scan", event).status == "success"
    done = stage.run("scan", event, inputs={"plugins": "true"})
    assert done.status == "failure" and "plugin-" in done.log
    assert token not in done.log + done.summary


def test_a_range_cannot_excuse_itself(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.write("memory/x.md", f"- {TOKEN}\n")
    found = json.loads(stage.repo.mem("scan", "memory/x.md", "--json", check=False).stdout)["findings"][0]
    stage.repo.mem("allow", found["fingerprint"], "--reason", "test")
    stage.repo.commit("excused", {".gitmem.toml": "[memory]\npaths = []\n"})
    done = stage.run("scan", stage.pull_request(base, stage.push("change")))
    assert done.status == "failure"


def test_hostile_names_run_nothing(stage: Stage, tmp_path: Path) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    name = "memory/$(touch x)\n::error::`touch y`.md"
    stage.repo.commit("-->\n\n::set-output name=a::b", {name: f"- {TOKEN}\n"})
    head = stage.push('a";touch${IFS}x|sh;#')
    payload = stage.pull_request(base, head, title="`touch z` $(touch z)\n::error::x", ref='a";touch${IFS}x|sh;#')
    done = stage.run("scan", payload)
    assert done.status == "failure" and len([a for a in done.annotations if a[0] == "error"]) <= 10
    assert not [p for p in tmp_path.rglob("*") if p.name in ("x", "y", "z")]
    assert "\n::error::`touch" not in done.log and "\n::set-output" not in done.log


def test_a_push_of_a_new_branch_is_scanned_from_where_it_left_the_default_branch(stage: Stage) -> None:
    stage.repo.commit("bad", {"memory/x.md": f"- {TOKEN}\n"})
    head = stage.push("feature")
    payload = {"before": "0" * 40, "after": head, "repository": {"default_branch": "main"}}
    done = stage.run("scan", payload, event="push", ref="feature")
    assert done.status == "failure" and len(done.annotations) == 1


def test_a_force_push_over_a_lost_tip_is_still_scanned(stage: Stage) -> None:
    stage.repo.commit("bad", {"memory/x.md": f"- {TOKEN}\n"})
    head = stage.push("feature")
    payload = {"before": "d" * 40, "after": head, "repository": {"default_branch": "main"}}
    assert stage.run("scan", payload, event="push", ref="feature").status == "failure"


def test_a43_a_push_whose_branch_is_not_named_is_scanned_whole(stage: Stage, tmp_path: Path) -> None:
    stage.repo.commit("bad", {"memory/x.md": f"- {TOKEN}\n"})
    head = stage.push("main")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": "d" * 40, "after": head, "repository": {"default_branch": "main"}}))
    variables = {"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(event), "GITHUB_REF_NAME": ""}
    assert stage.repo.mem("action", "scan", env=variables, check=False).returncode == 1


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(("ref", "before"), [("main", "known"), ("feature", "known"), ("feature", "new branch")])
def test_a43_a_shallow_checkout_is_refused_and_says_what_to_write(
    stage: Stage, ref: str, before: str, depth: int
) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("bad", {"memory/x.md": f"- {TOKEN}\n"})
    stage.repo.commit("removed", {"memory/x.md": "- in the vault\n"})
    stage.repo.commit("more", {"memory/y.md": "- more\n"})
    head = stage.push(ref)
    stage.depth = depth
    payload = {"before": base if before == "known" else "0" * 40, "after": head}
    done = stage.run("scan", {**payload, "repository": {"default_branch": "main"}}, event="push", ref=ref)
    assert done.status == "failure" and "fetch-depth: 0" in done.log and done.outputs["result"] == ""
    assert TOKEN not in done.log


def test_a43_a_checkout_as_deep_as_the_push_is_scanned(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("log", {"memory/x.md": "- deployed\n"})
    head = stage.push()
    stage.depth = 2
    payload = {"before": base, "after": head, "repository": {"default_branch": "main"}}
    done = stage.run("scan", payload, event="push")
    assert done.status == "success" and done.outputs["result"] == "clean"


def test_a43_a_base_that_is_typed_and_not_there_is_no_clean_scan(stage: Stage) -> None:
    head = stage.push()
    payload = {"before": head, "after": head, "repository": {"default_branch": "main"}}
    done = stage.run("scan", payload, event="push", inputs={"base": "d" * 40})
    assert done.status == "failure" and "fetch-depth: 0" in done.log


def stale(stage: Stage, settings: str) -> tuple[str, str]:
    """(base, head) of a pull request whose base in the event is older than the `settings` that main has now."""
    stage.repo.commit("code", {"src/a.py": "1\n"})
    base = stage.push()
    stage.repo.commit("settings", {".gitmem.toml": settings})
    stage.push()
    stage.repo.git("checkout", "-q", "-b", "change", base)
    stage.repo.commit("docs", {"docs/a.md": f"Use {TOKEN} here.\n"})
    return base, stage.push("change")


@pytest.mark.parametrize("action", ["scan", "review"])
@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_a52_a_pull_request_is_judged_by_the_tip_of_its_target(stage: Stage, action: str, event: str) -> None:
    base, head = stale(stage, '[memory]\npaths = ["docs/*.md"]\n')
    done = stage.run(action, stage.pull_request(base, head), event=event)
    assert done.status == "failure" and "docs/a.md" in done.log and TOKEN not in done.log + done.summary


def test_a52_a_target_that_has_the_commits_already_does_not_end_the_scan(stage: Stage) -> None:
    base, head = stale(stage, '[memory]\npaths = ["docs/*.md"]\n')
    stage.repo.git("checkout", "-q", "main")
    stage.repo.git("merge", "-q", "-m", "merged", head)
    stage.push()
    assert stage.run("scan", stage.pull_request(base, head)).status == "success", "the settings of its base"
    stage.repo.commit("oops", {"memory/x.md": f"- {TOKEN}\n"})
    head = stage.push()
    assert stage.run("scan", stage.pull_request(base, head)).status == "failure", "the range is not empty"
