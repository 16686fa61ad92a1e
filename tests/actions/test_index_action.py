"""actions/index: a restored cache is used, and not trusted."""

from __future__ import annotations

from typing import Any

from tests.actions.stage import Stage

EVENT: dict[str, Any] = {"repository": {"default_branch": "main"}}


def test_the_index_is_saved_on_the_default_branch_and_restored_elsewhere(stage: Stage) -> None:
    first = stage.run("index", EVENT, event="push", ref="main")
    assert first.status == "success" and len(stage.caches) == 1, first.log
    again = stage.run("index", EVENT, event="push", ref="main")
    assert again.outputs["cache-hit"] == "true"
    base = stage.repo.git("rev-parse", "HEAD").strip()
    stage.repo.commit("more", {"memory/x.md": "- 새 사실\n"})
    pull = stage.run("index", stage.pull_request(base, stage.push("change")))
    assert pull.status == "success" and len(stage.caches) == 1, pull.log
    assert "새 사실" in stage.checkout.mem("search", "새 사실").stdout


def test_a_poisoned_cache_is_found_and_built_anew(stage: Stage) -> None:
    stage.run("index", EVENT, event="push", ref="main")
    ((key, files),) = stage.caches.items()
    name = next(name for name in files if name.endswith("index.sqlite"))
    stage.caches[key] = {name: b"SQLite format 3\0" + b"\xff" * 8000}
    done = stage.run("index", EVENT, event="push", ref="main")
    assert done.status == "success", done.log
    assert "sky is blue" in stage.checkout.mem("search", "sky").stdout
