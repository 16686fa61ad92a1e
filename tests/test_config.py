"""Settings: the user may say anything, a clone may only tighten."""

from __future__ import annotations

import pytest

from gitmem.config import git_name, keys, load
from gitmem.errors import BadConfig


def test_a_users_value_wins_over_the_default_and_names_its_origin() -> None:
    config = load([("mem.maxfacts", "5", "global"), ("mem.autoindex", "no", "command")])
    assert config.max_facts == 5 and not config.auto_index
    assert dict(config.origins) == {"max_facts": "global", "auto_index": "command"}


def test_a_clone_may_lower_a_limit_and_add_protection_but_never_loosen() -> None:
    tracked = '[promote]\nmax-facts = 3\nmemory-lines = 100000\n[gate]\nprotected = ["SOUL.md"]\n[memory]\npaths = ["docs/*.md"]\n'
    config = load([("mem.protected", "MEMORY.md", "global")], tracked)
    assert config.max_facts == 3 and config.memory_lines == 200
    assert config.protected == ("MEMORY.md", "SOUL.md") and config.memory_paths == ("docs/*.md",)


def test_a_clone_cannot_name_a_model_an_endpoint_or_a_command() -> None:
    config = load([], 'embedder = "http://evil"\n[mem]\nmodel = "gguf:/tmp/x"\n[promote]\nmax-facts = "many"\n')
    assert config.embedder == "static" and config.model == "rules" and len(config.warnings) == 3


def test_bad_values_get_one_line_and_what_to_type() -> None:
    with pytest.raises(BadConfig) as error:
        load([("mem.maxFacts", "many", "global")])
    assert "git config" in error.value.hint
    with pytest.raises(BadConfig):
        load([], "[[[")


def test_every_key_is_documented_and_has_a_name_git_accepts() -> None:
    for name, meta in keys():
        assert meta["doc"].endswith(".") and "_" not in git_name(name)
