"""What commands say where there is nothing, where a name is wrong, and where a setting is."""

from __future__ import annotations

import pytest

from tests.harness import Repo

LOG = "# 2026-02-05\n\n## 10:00\n\n- We decided to use Postgres for billing because of row locks.\n"


@pytest.mark.parametrize("command", [("search", "billing"), ("status",), ("log",), ("add", "a line"), ("scan",)])
def test_every_command_warns_of_a_setting_that_is_none(repo: Repo, command: tuple[str, ...]) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG, ".gitmem.toml": "[promot]\nmax-facts = 3\n"})
    done = repo.mem(*command)
    assert done.stderr.count("'promot.max-facts' is unknown") == 1
    assert "promot" not in done.stdout


def test_what_is_in_a_setting_cannot_steer_the_terminal(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG, ".gitmem.toml": '["a\\u001b[31m"]\nb = 1\n'})
    assert "\x1b" not in repo.mem("search", "billing").stderr


def test_accepting_a_fact_that_is_none_is_an_error(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    done = repo.mem("promote", "--accept", "zzzz", check=False)
    assert done.returncode == 2 and "no fact 'zzzz' to accept" in done.stderr
    assert repo.git("status", "--porcelain") == "" and repo.git("rev-list", "--count", "HEAD").strip() == "1"


def test_taking_back_a_source_that_never_was_is_an_error(repo: Repo) -> None:
    repo.commit("log", {"memory/2026-02-05.md": LOG})
    done = repo.mem("revert", "--source", "memory/typo.md", check=False)
    assert done.returncode == 3 and "no file 'memory/typo.md'" in done.stderr
    assert repo.mem("revert", "--source", "memory/2026-02-05.md").returncode == 0


def test_empty_lists_say_so(repo: Repo) -> None:
    assert "no profiles" in repo.mem("profile", "list").stderr
    assert "no working values" in repo.mem("session", "list").stderr
