"""Working memory: keys normalised, values that end, nothing committed."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem.errors import GitMemError, UsageError
from gitmem.sessions.working_memory import Store, drop_saying, normalise

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)


def test_keys_are_hierarchical_and_normalised() -> None:
    assert normalise(" Task : Deploy  API:Plan ") == "task:deploy api:plan"
    assert normalise(unicodedata.normalize("NFD", "작업:배포")) == "작업:배포"
    for key in ("alone", "a::b", "a:b:c:d:e:f", "", "a:\n"):
        with pytest.raises(UsageError):
            normalise(key)


def test_a_value_is_found_again_by_another_process_until_it_ends(tmp_path: Path) -> None:
    Store(tmp_path).set("task:deploy", "half done", NOW, hours=2)
    again = Store(tmp_path)
    found = again.get("TASK:deploy", NOW + timedelta(hours=1))
    assert found is not None and found.text == "half done"
    assert again.get("task:deploy", NOW + timedelta(hours=3)) is None and again.list("", NOW) == []


def test_a_prefix_names_everything_below_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key in ("task:a", "task:a:plan", "task:ab", "other:x"):
        store.set(key, key, NOW)
    assert [v.key for v in store.list("task:a", NOW)] == ["task:a", "task:a:plan"] and len(store.list("", NOW)) == 4


def test_profiles_do_not_see_each_other(tmp_path: Path) -> None:
    Store(tmp_path, "work").set("task:a", "x", NOW)
    assert Store(tmp_path, "home").get("task:a", NOW) is None and Store(tmp_path).list("", NOW) == []
    Store(tmp_path, "work").clear()
    assert Store(tmp_path, "work").list("", NOW) == []


def test_limits_are_said_and_damage_is_no_error(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(UsageError):
        store.set("a:b", "x" * 70_000, NOW)
    with pytest.raises(UsageError):
        store.set("a:b", "x", NOW, hours=0)
    store.set("a:b", "x", NOW)
    (file,) = (tmp_path / "gitmem/working").iterdir()
    file.write_text("{broken")
    assert Store(tmp_path).get("a:b", NOW) is None and file.stat().st_mode & 0o077 == 0


def test_where_nothing_can_be_written_values_are_read_and_a_new_one_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path).set("task:deploy", "half done", NOW, hours=2)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", denied)
    store = Store(tmp_path)
    later = NOW + timedelta(hours=3)
    assert store.list("", later) == [] and store.get("task:deploy", later) is None
    with pytest.raises(GitMemError) as stopped:
        store.drop("task:deploy")
    assert "permissions" in stopped.value.hint
    real = Path.mkdir
    monkeypatch.setattr(
        Path, "mkdir", lambda path, *a, **b: denied() if path.name == "working" else real(path, *a, **b)
    )
    with pytest.raises(GitMemError):
        Store(tmp_path).set("task:other", "x", NOW)


@pytest.mark.parametrize(
    "record", ['{"key": "a:b", "text": "x", "at": "2030-01-01", "until": "2030-01-01"}', "[" * 100_000]
)
def test_a_record_that_somebody_else_made_is_no_value(tmp_path: Path, record: str) -> None:
    store = Store(tmp_path)
    store.set("a:c", "mine", NOW)
    folder = next((tmp_path / "gitmem").glob("working*"))
    (folder / "0").write_text(record)
    (tmp_path / "outside").write_text(record)
    (folder / "1").symlink_to(tmp_path / "outside")
    assert [value.text for value in store.list("", NOW)] == ["mine"]


def test_what_says_a_forgotten_text_is_dropped_in_every_profile_and_named(tmp_path: Path) -> None:
    text = "Zeb approves every payment of the Lisbon office."
    Store(tmp_path).set("vendor:lisbon", f"note: {text.upper()}", NOW)
    Store(tmp_path, "work").set("a:b", text.replace(" ", "\n"), NOW)
    Store(tmp_path).set("vendor:porto", "Zeb approves some.", NOW)
    assert drop_saying(tmp_path, [text]) == ["a:b", "vendor:lisbon"]
    assert [value.key for value in Store(tmp_path).list("", NOW)] == ["vendor:porto"]
    assert drop_saying(tmp_path, ["", text]) == []
