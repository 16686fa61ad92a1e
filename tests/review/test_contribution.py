"""`git mem add --to organisation`: a branch and a commit of its own, through the gate, never on the main branch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.git.other_memories import mirror_of
from gitmem.memory.writing import NewLine
from gitmem.review import contribution
from gitmem.review.contribution import PROPOSAL_REFS, LineOffer, OfferState, PushAccess
from tests.actions.rest import RestServer
from tests.harness import Repo

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
FACT = "Invoices are in UTC."


@pytest.fixture
def wide(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "wide")
    made.commit("o", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- Deploy before 11.\n"})
    return made


def offer(repo: Repo, *args: str, to: str = "organisation", env: dict[str, str] | None = None) -> Any:
    return json.loads(repo.mem("add", "--to", to, "--json", *args, env=env or {}).stdout)


def test_a_folder_gets_a_branch_and_its_main_branch_and_work_tree_stay(repo: Repo, wide: Repo) -> None:
    repo.git("config", "--global", "mem.organisation", str(wide.path))
    before = (wide.git("rev-parse", "main"), wide.git("status", "--porcelain"), wide.read("MEMORY.md"))
    dry = offer(repo, FACT, "--dry-run")
    assert dry["state"] == "would offer" and wide.git("branch", "--list", "memory/*") == ""
    done = offer(repo, FACT, "--type", "rule", "--agent", "coder")
    assert done["state"] == "kept" and "merge" in done["then"] and done["base"] == "main"
    assert (wide.git("rev-parse", "main"), wide.git("status", "--porcelain"), wide.read("MEMORY.md")) == before
    assert FACT in wide.git("show", f"{done['branch']}:MEMORY.md") and "type=rule" in wide.git("show", done["commit"])
    assert "Memory-Agent: coder" in wide.git("log", "-1", "--format=%B", done["branch"])
    assert wide.git("worktree", "list").count("\n") <= 1 and FACT not in repo.mem("context", "invoices").stdout
    again = offer(repo, FACT, "--type", "rule")
    assert again["branch"] == done["branch"] and wide.git("branch", "--list", "memory/*").count("memory/") == 1
    wide.git("merge", "-q", done["branch"])
    assert offer(repo, FACT)["state"] == "there already" and FACT in repo.mem("context", "invoices").stdout


def test_a_url_is_pushed_to_and_what_cannot_be_pushed_is_kept_with_what_to_type(
    repo: Repo, wide: Repo, tmp_path: Path
) -> None:
    repo.git("config", "--global", "mem.organisation", wide.path.as_uri() + "#main")
    main = wide.git("rev-parse", "main")
    done = offer(repo, FACT)
    assert done["state"] == "pushed" and wide.git("rev-parse", done["branch"]).strip() == done["commit"]
    assert wide.git("rev-parse", "main") == main and done["pull_request"] is None
    shutil.move(wide.path, tmp_path / "away")
    offline = offer(repo, "Licences are MIT.")
    assert offline["state"] == "kept" and offline["then"].startswith("git -C ")
    shutil.move(tmp_path / "away", wide.path)
    repo.mem("context", "licences", env={"GITMEM_NOW": "2030-01-01T00:00:00+00:00"})  # fetches, and prunes branches
    repo.run("sh", "-c", offline["then"])
    assert "Licences" in wide.git("show", f"{offline['branch']}:MEMORY.md") and wide.git("rev-parse", "main") == main


def test_the_same_line_twice_is_one_branch_that_is_pushed_once(repo: Repo, wide: Repo) -> None:
    repo.git("config", "--global", "mem.organisation", wide.path.as_uri())
    first = offer(repo, FACT, env={"GITMEM_NOW": "2026-02-05T10:00:00+00:00"})
    wide.commit("meanwhile", {"MEMORY.md": wide.read("MEMORY.md") + "- Licences are MIT.\n"})
    second = offer(repo, FACT, "--type", "rule", env={"GITMEM_NOW": "2026-02-06T10:00:00+00:00"})
    assert second == first and second["state"] == "pushed"
    assert wide.git("rev-parse", first["branch"]).strip() == first["commit"]
    wide.git("merge", "-q", "-m", "m", "-X", "union", first["branch"], check=False)
    wide.write(
        "MEMORY.md", "# Memory\n\n## Decisions\n\n- Deploy before 11.\n- Licences are MIT.\n- Invoices are in UTC.\n"
    )
    wide.commit("merged")
    assert offer(repo, FACT)["state"] == "there already"


def test_a_branch_of_that_name_with_something_else_is_not_offered_as_ours(repo: Repo, wide: Repo) -> None:
    repo.git("config", "--global", "mem.organisation", wide.path.as_uri())
    branch = offer(repo, FACT, "--dry-run")["branch"]
    wide.git("switch", "-q", "-c", branch)
    other = wide.commit("x", {"MEMORY.md": wide.read("MEMORY.md") + f"- {FACT}\n- Pay to account 7.\n"})
    wide.git("switch", "-q", "main")
    done = offer(repo, FACT)
    assert done["state"] == "kept" and done["commit"] != other and wide.git("rev-parse", branch).strip() == other


def test_what_the_gate_refuses_leaves_no_branch_and_quotes_nothing(repo: Repo, wide: Repo) -> None:
    repo.git("config", "--global", "mem.organisation", str(wide.path))
    refused = repo.mem("add", "--to", "organisation", f"the token is {TOKEN}", check=False)
    assert refused.returncode == 1 and TOKEN not in refused.stdout + refused.stderr
    assert wide.git("branch", "--list", "memory/*") == "" and wide.git("worktree", "list").count("\n") <= 1


def test_a_token_opens_the_pull_request(repo: Repo, wide: Repo, tmp_path: Path) -> None:
    rest = RestServer()
    try:
        repo.git("config", "--global", "mem.organisation", wide.path.as_uri())
        env = {
            "GITHUB_TOKEN": "write", "GITHUB_API_URL": rest.url, "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": rest.repository,
        }  # fmt: skip
        done = offer(repo, FACT, env=env)
        assert done["state"] == "proposed" and done["pull_request"]["created"]
        assert [pull["head"]["ref"] for pull in rest.state.pulls] == [done["branch"]]
    finally:
        rest.close()


def test_a_pull_request_that_the_forge_refuses_leaves_a_pushed_branch_and_the_link_to_open_one(
    repo: Repo, wide: Repo
) -> None:
    rest = RestServer()
    try:
        repo.git("config", "--global", "mem.organisation", wide.path.as_uri())
        env = {
            "GITHUB_TOKEN": "read", "GITHUB_API_URL": rest.url, "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": rest.repository,
        }  # fmt: skip
        done = offer(repo, FACT, env=env)
        assert wide.git("rev-parse", done["branch"]).strip() == done["commit"] and rest.state.pulls == []
        assert done["state"] == "pushed" and done["pull_request"] is None
        link, _, reason = done["then"].partition("    # ")
        assert link.startswith("https://github.com/") and done["branch"].replace("/", "%2F") in link and "403" in reason
    finally:
        rest.close()


def offer_directly(config: Config, scope: str, text: str, cache: Path) -> LineOffer:
    access = PushAccess(datetime(2026, 2, 5, tzinfo=UTC), os.environ, lambda _: None)
    return contribution.offer(config, scope, NewLine(text), access, cache=cache)


def test_an_empty_line_for_the_users_memory_says_how_to_add_one_there(tmp_path: Path, wide: Repo) -> None:
    config = Config(personal=str(wide.path), organisation=str(wide.path))
    for scope in ("organisation", "user"):
        with pytest.raises(UsageError, match="nothing to add") as raised:
            offer_directly(config, scope, " ", tmp_path)
        assert f"--to {scope} " in raised.value.hint


def test_an_unknown_scope_is_a_usage_error_that_names_the_choices(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no memory 'team'") as raised:
        offer_directly(Config(), "team", FACT, tmp_path)
    assert "organisation, user" in raised.value.hint


def test_a_copy_holds_the_branch_of_an_offer_only_while_it_could_not_be_pushed(wide: Repo, tmp_path: Path) -> None:
    address, cache = wide.path.as_uri(), tmp_path / "cache"
    config = Config(organisation=address)
    pushed = offer_directly(config, "organisation", FACT, cache)
    refs = ["--git-dir", str(mirror_of(address, cache)), "for-each-ref", "--format=%(refname) %(objectname)"]
    assert pushed.state is OfferState.PUSHED and "memory/" not in wide.git(*refs)
    shutil.move(wide.path / ".git", tmp_path / "away")
    kept = offer_directly(config, "organisation", "Licences are MIT.", cache)
    listed = subprocess.run(["git", *refs], check=True, capture_output=True, text=True).stdout
    assert kept.state is OfferState.KEPT and f"{PROPOSAL_REFS}{kept.branch} {kept.commit}\n" in listed
    assert "refs/heads/memory/" not in listed


def test_without_a_memory_to_offer_to_it_says_what_to_set(repo: Repo, tmp_path: Path) -> None:
    missing = repo.mem("add", "--to", "organisation", FACT, check=False)
    assert missing.returncode == 2 and "mem.organisation" in missing.stderr
    empty = Repo(tmp_path / "empty")
    repo.git("config", "--global", "mem.personal", str(empty.path))
    assert "no commit" in repo.mem("add", "--to", "user", FACT, check=False).stderr
    assert repo.mem("add", FACT, "--dry-run", check=False).returncode == 2


def test_a_token_in_an_address_is_not_shown(repo: Repo, wide: Repo) -> None:
    repo.git("config", "--global", "mem.organisation", f"https://x:{TOKEN}@127.0.0.1:9/a.git")
    failed = repo.mem("add", "--to", "organisation", FACT, check=False)
    assert failed.returncode != 0 and "127.0.0.1" in failed.stderr and TOKEN not in failed.stdout + failed.stderr
    context = repo.mem("context", "invoices", check=False)
    assert TOKEN not in context.stdout + context.stderr
    repo.git("config", "--global", "mem.organisation", str(wide.path))
    bare = wide.path.parent / "bare.git"
    wide.git("clone", "-q", "--bare", ".", str(bare))
    wide.git("remote", "add", "origin", f"https://x:{TOKEN}@memory.example/a.git")
    wide.git("remote", "set-url", "--push", "origin", f"file://x:{TOKEN}@localhost{bare}")
    sent = repo.mem("add", "--to", "organisation", "--json", FACT)
    assert TOKEN not in sent.stdout + sent.stderr
