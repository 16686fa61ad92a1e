"""Pull requests of forks, merge queues, check runs and folders: where a run starts decides what it may do."""

from __future__ import annotations

from typing import Any

from tests.actions.stage import Stage
from tests.harness import SOURCE

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
REPOSITORY: dict[str, Any] = {"repository": {"default_branch": "main", "full_name": "team/memory"}}


def fork(stage: Stage, files: dict[str, str | bytes | None]) -> dict[str, Any]:
    """The end of a stranger's run on a pull request with these files: its payload."""
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.git("checkout", "-q", "-b", "theirs")
    stage.repo.commit("change", files)
    head = stage.repo.git("rev-parse", "HEAD").strip()
    stage.open_pull(base, head, "patch-1", "stranger/memory")
    stage.repo.git("checkout", "-q", "main")
    run = {
        "event": "pull_request", "head_sha": head, "head_branch": "patch-1", "pull_requests": [],
        "head_repository": {"full_name": "stranger/memory"},
    }  # fmt: skip
    return {**REPOSITORY, "workflow_run": run}


def test_a_forks_pull_request_is_commented_on_by_a_run_of_the_default_branch(stage: Stage) -> None:
    memory = stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"
    payload = fork(
        stage, {"MEMORY.md": memory, "setup.py": "open('x', 'w')\n", ".gitmem.toml": "[memory]\npaths = []\n"}
    )
    results = stage.run_workflow(SOURCE / "examples/workflows/fork-review.yml", payload, event="workflow_run")
    assert results["review"].status == "success", results["review"].log
    (comment,) = stage.rest.state.comments[1]
    assert "The licence is MIT." in comment["body"] and ".gitmem.toml" in comment["body"]
    work = stage.folder / "run1/work"
    assert not (work / "setup.py").exists() and "MIT" not in (work / "MEMORY.md").read_text(), "data, not files"
    (check,) = stage.rest.state.checks
    assert check["name"] == "memory review" and check["head_sha"] == payload["workflow_run"]["head_sha"]


def test_a_finding_in_a_fork_fails_its_check_on_its_line(stage: Stage) -> None:
    payload = fork(stage, {"MEMORY.md": stage.repo.read("MEMORY.md") + f"- use {TOKEN}\n"})
    done = stage.run("review", payload, event="workflow_run", inputs={"check": "true"})
    (check,) = stage.rest.state.checks
    rows = check["output"]["annotations"]
    assert done.status == "failure" and check["conclusion"] == "failure"
    assert [(row["path"], row["start_line"]) for row in rows if row["annotation_level"] == "failure"] == [
        ("MEMORY.md", 6)
    ]
    assert TOKEN not in str(stage.rest.state.requests) + done.log


def test_a_run_whose_pull_request_moved_on_leaves_it_to_the_newer_run(stage: Stage) -> None:
    payload = fork(stage, {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    stage.rest.state.pulls[0]["head"]["sha"] = "d" * 40
    done = stage.run("review", payload, event="workflow_run")
    assert done.status == "success" and stage.rest.state.comments == {} and "newer run" in done.log


def test_a_head_that_git_has_otherwise_than_the_api_is_not_reviewed(stage: Stage) -> None:
    payload = fork(stage, {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    stage.repo.git("push", "-q", "origin", "+main:refs/pull/1/head")
    done = stage.run("review", payload, event="workflow_run")
    assert done.status == "failure" and "moved on" in done.log and stage.rest.state.comments == {}


def test_a_pull_request_is_reviewed_by_its_number(stage: Stage) -> None:
    fork(stage, {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    done = stage.run("review", REPOSITORY, event="workflow_dispatch", inputs={"pull-request": "1"})
    assert done.status == "success" and "The licence is MIT." in stage.rest.state.comments[1][0]["body"], done.log
    hostile = stage.run("review", REPOSITORY, event="workflow_dispatch", inputs={"pull-request": "1;touch x"})
    assert hostile.status == "failure" and "no number" in hostile.log


def test_a_pull_request_whose_branches_merged_each_other_tells_all_that_it_takes_out(stage: Stage) -> None:
    stage.repo.git("checkout", "-q", "-b", "change")
    ours = stage.repo.commit("ours", {"memory/a.md": "- Ours.\n"})
    stage.repo.git("checkout", "-q", "main")
    theirs = stage.repo.commit("theirs", {"memory/b.md": "- Theirs.\n"})
    stage.repo.git("merge", "-q", "-m", "x", ours)
    base = stage.push()
    stage.repo.git("checkout", "-q", "change")
    stage.repo.git("merge", "-q", "-m", "y", theirs)
    stage.repo.git("rm", "-q", "memory/a.md")
    stage.repo.commit("out", {"memory/b.md": "# b\n"})
    done = stage.run("review", stage.pull_request(base, stage.push("change")))
    comment = stage.rest.state.comments[1][0]["body"]
    assert "Ours." in comment and "Theirs." in comment and "2 facts gone" in comment, (done.log, comment)


def test_a_merge_queue_is_scanned_from_what_it_is_put_on(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("oops", {"memory/x.md": f"- {TOKEN}\n"})
    stage.repo.commit("gone", {"memory/x.md": "- in the vault\n"})
    branch = "gh-readonly-queue/main/pr-1"
    group = {"base_sha": base, "head_sha": stage.push(branch), "head_ref": f"refs/heads/{branch}"}
    done = stage.run("scan", {**REPOSITORY, "merge_group": group}, event="merge_group", ref=branch)
    assert done.status == "failure" and TOKEN not in done.log
    results = stage.run_workflow(
        SOURCE / "examples/workflows/team.yml", {**REPOSITORY, "merge_group": group}, event="merge_group", ref=branch
    )
    assert {name: result.status for name, result in results.items()} == {
        "scan": "failure", "review": "skipped", "merge": "skipped",
    }  # fmt: skip


def test_more_findings_than_a_request_takes_are_all_annotated(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    lines = "".join(f"- key {number}: {TOKEN[:-6]}{number:06}\n" for number in range(120))
    stage.repo.commit("many", {"memory/x.md": lines})
    done = stage.run("scan", stage.pull_request(base, stage.push("change")), inputs={"check": "true"})
    (check,) = stage.rest.state.checks
    found = int(done.outputs["findings"])
    assert check["name"] == "memory scan" and len(check["output"]["annotations"]) == found > 50


def test_without_the_permission_for_check_runs_the_scan_says_so_and_holds(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("log", {"memory/x.md": "- deployed\n"})
    payload = stage.pull_request(base, stage.push("change"))
    done = stage.run("scan", payload, inputs={"check": "true", "token": "read"})
    assert done.status == "success" and "checks: write" in done.log and stage.rest.state.checks == []


def test_a_checkout_in_a_folder_of_its_own_is_named(stage: Stage) -> None:
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("oops", {"notes/memory/x.md": f"- {TOKEN}\n"})
    payload = stage.pull_request(base, stage.push("change"))
    inputs = {"working-directory": "notes", "sarif": "out.sarif", "severity": "warn"}
    done = stage.run("scan", payload, inputs=inputs)
    assert done.outputs["sarif"] == "notes/out.sarif" and (stage.checkout.path / "notes/out.sarif").is_file(), done.log


def test_the_reusable_workflow_scans_and_reviews(stage: Stage) -> None:
    import yaml

    path = SOURCE / ".github/workflows/memory.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    used = [step["uses"].split("@")[0] for job in jobs.values() for step in job["steps"] if "git-mem" in step["uses"]]
    assert used == ["git-mem/git-mem/actions/scan", "git-mem/git-mem/actions/review"]
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("fact", {"MEMORY.md": stage.repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    payload = stage.pull_request(base, stage.push("change"))
    given = {"severity": "block", "check": "true", "python-version": "3.13"}
    results = stage.run_workflow(path, payload, event="pull_request", ref="change", inputs=given)
    assert {name: result.status for name, result in results.items()} == {"scan": "success", "review": "success"}
    assert [check["name"] for check in stage.rest.state.checks] == ["memory scan", "memory review"]
