"""Settings: the user may say anything, a clone may only tighten."""

from __future__ import annotations

import pytest

from gitmem.config import Config
from gitmem.config.loading import changed, load
from gitmem.config.settings import SETTINGS, git_name
from gitmem.config.tracked_file import TIGHTEN
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


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("searchPool", "0"),
        ("searchPool", "5000"),
        ("searchPool", "2.5"),
        ("searchLexical", "1.1"),
        ("searchDecay", "nan"),
        ("searchFloor", "-0.1"),
        ("searchRecency", "inf"),
        ("chunkSize", "0"),
        ("chunkOverlap", "200"),
        ("contextDecay", "-1"),
        ("maxFacts", "-1"),
    ],
)
def test_a_number_out_of_its_range_is_refused_with_what_to_type(key: str, text: str) -> None:
    with pytest.raises(BadConfig) as error:
        load([(f"mem.{key}", text, "global")])
    assert f"mem.{key}" in error.value.message and "git config --global" in error.value.hint


def test_a_clone_has_no_say_in_ranking() -> None:
    tracked = "[search]\npool = 1\nfloor = 1.0\n[mem]\nsearchPool = 1\n"
    config = load([], tracked)
    assert config.search_pool == Config().search_pool and config.search_floor == 0 and len(config.warnings) == 3


def test_one_setting_is_changed_by_its_name_in_any_case() -> None:
    config = changed(changed(Config(), "searchpool", "9"), "mem.searchWeight", "label=1")
    assert config.search_pool == 9 and config.search_weight == ("label=1",)
    with pytest.raises(BadConfig):
        changed(config, "chunkOverlap", "500")
    with pytest.raises(BadConfig):
        changed(config, "nonsense", "1")


def test_every_key_is_documented_and_has_a_name_git_accepts() -> None:
    for name, setting in SETTINGS.items():
        assert setting.doc.endswith(".") and "_" not in git_name(name)


def test_every_field_but_origins_and_warnings_has_its_row_in_the_table_of_settings() -> None:
    assert (*SETTINGS, "origins", "warnings") == Config._fields


def test_every_setting_with_a_place_in_the_tracked_file_has_a_rule_and_no_rule_is_unused() -> None:
    assert {setting.tighten for setting in SETTINGS.values() if setting.tracked} == {*TIGHTEN}
    assert not any(setting.tighten for setting in SETTINGS.values() if not setting.tracked)


@pytest.mark.parametrize(
    ("tracked", "gate", "gone", "warned"),
    [
        ("[gate]\nstrict = true\n[check]\ngone = true\n", "strict", "block", 0),
        ("[gate]\nstrict = false\n[check]\ngone = false\n", "standard", "warn", 0),
        ('[gate]\nstrict = "standard"\n[check]\ngone = "block"\n', "standard", "block", 0),
        ('[gate]\nstrict = "strict"\n[check]\ngone = "warn"\n', "standard", "warn", 1),
        ("[gate]\nstrict = 1\n[check]\ngone = []\n", "standard", "warn", 2),
    ],
)
def test_a_clone_turns_a_check_on_by_true_or_the_name_of_the_last_choice(
    tracked: str, gate: str, gone: str, warned: int
) -> None:
    config = load([], tracked)
    assert (config.gate, config.check_gone, len(config.warnings)) == (gate, gone, warned)


def test_the_name_of_an_agent_is_one_that_its_log_can_have() -> None:
    assert load([("mem.agent", "클로드", "global")]).agent == "클로드"
    for key, value in (("mem.agent", "a/b"), ("mem.agent", "Claude Code")):
        with pytest.raises(BadConfig) as error:
            load([(key, value, "global")])
        assert error.value.message.startswith("mem.agent: ")


def test_the_name_of_a_folder_takes_the_markdown_below_it() -> None:
    config = load([], '[memory]\npaths = ["notes", "docs/log/", "kept/*.txt", "one.md"]\n')
    assert config.memory_paths == ("notes", "docs/log/", "kept/*.txt", "one.md", "notes/*.md", "docs/log/*.md")


def test_patterns_of_daily_logs_are_memory_and_bad_ones_are_left_out_with_a_warning() -> None:
    config = load([], '[memory]\ndaily = ["journals/YYYY_MM_DD.md", "every day"]\n')
    assert config.memory_daily == ("journals/YYYY_MM_DD.md",)
    assert config.memory_paths == ("journals/[0-9][0-9][0-9][0-9]_[0-9][0-9]_[0-9][0-9].md",)
    assert len(config.warnings) == 1 and "every day" in config.warnings[0]
