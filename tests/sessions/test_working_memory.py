"""Working memory: keys normalised, values that end, nothing committed."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem.errors import GitMemError, UsageError
from gitmem.sessions.working_memory import MAX_VALUES, Owner, Store, delete_containing, key_to_read, normalise, owner_of

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)


def test_keys_are_hierarchical_and_normalised() -> None:
    assert normalise(" Task : Deploy  API:Plan ") == "task:deploy api:plan"
    assert normalise(unicodedata.normalize("NFD", "작업:배포")) == "작업:배포"
    for key in ("alone", "a::b", "a:b:c:d:e:f", "", "a:\n"):
        with pytest.raises(UsageError):
            normalise(key)


def test_a_key_of_more_than_four_parts_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        Store(tmp_path).set("a:b:c:d:e", "x", NOW)
    assert "at most 4 parts, and this one has 5" in refused.value.message and "entity:name" in refused.value.hint


def test_a_value_belongs_to_its_session_and_agent(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.set("회사:에이스:분석", "마진 3 %", NOW, owner=Owner("run-1", "analyst"))
    store.set("acme:plan", "for every agent of the run", NOW, owner=Owner("run-1"))
    store.set("acme:rule", "for the agent in any session", NOW, owner=Owner("", "analyst"))
    store.set("acme:office", "for everybody", NOW)

    def keys(session: str, agent: str) -> list[str]:
        return [value.key for value in Store(tmp_path).list("", NOW, Owner(session, agent))]

    assert keys("run-1", "analyst") == ["acme:office", "acme:plan", "acme:rule", "회사:에이스:분석"]
    assert keys("run-1", "writer") == ["acme:office", "acme:plan"]
    assert keys("run-2", "analyst") == ["acme:office", "acme:rule"]
    assert keys("", "") == ["acme:office"]
    assert store.get("회사:에이스:분석", NOW, Owner("run-2", "analyst")) is None
    assert [value.owner.session for value in store.list_all("acme", NOW)] == ["", "run-1", ""]


def test_a_session_s_value_stands_before_the_project_s_of_the_same_key(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for owner in (Owner(), Owner("", "coder"), Owner("s1"), Owner("s1", "coder")):
        store.set("deploy:window", f"{owner.session}/{owner.agent}", NOW, owner=owner)
    for reader, said in ((Owner("s1", "coder"), "s1/coder"), (Owner("s1", "other"), "s1/"), (Owner("s2", "coder"), "/coder"),
                         (Owner("s2"), "/")):  # fmt: skip
        found = store.get("deploy:window", NOW, reader)
        assert found is not None and found.text == said
        assert [value.text for value in store.list("deploy", NOW, reader)] == [said]
    store.drop("deploy:window", Owner("s1", "coder"))
    found = store.get("deploy:window", NOW, Owner("s1", "coder"))
    assert found is not None and found.text == "s1/"


def test_values_that_were_stored_before_they_had_owners_stay_readable(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.set("ticket:4711", "x", NOW)
    (file,) = (tmp_path / "gitmem/working").iterdir()
    assert file.name == hashlib.sha256(b"ticket:4711").hexdigest()[:32]
    ends = (NOW + timedelta(hours=24)).isoformat()
    for key in ("ticket:4711", "a:b:c:d:e"):
        record = {"key": key, "text": "as it was", "at": NOW.isoformat(), "until": ends}
        (file.parent / hashlib.sha256(key.encode()).hexdigest()[:32]).write_text(json.dumps(record))
    again = Store(tmp_path)
    assert [value.text for value in again.list("", NOW, Owner("s1", "coder"))] == ["as it was"] * 2
    found = again.get("A:b:c:d:e", NOW)
    assert found is not None and found.owner == Owner() and key_to_read("A:b:c:d:e") == "a:b:c:d:e"
    again.set("ticket:4711", "new", NOW)
    again.drop("a:b:c:d:e")
    assert [value.text for value in Store(tmp_path).list("", NOW)] == ["new"]


def test_a_new_session_sweeps_what_ended_sessions_left(tmp_path: Path) -> None:
    Store(tmp_path).set("task:a", "said to nobody any more", NOW, hours=1, owner=Owner("old"))
    later = NOW + timedelta(hours=2)
    Store(tmp_path).set("task:b", "x", later, owner=Owner("new"))
    assert len(list((tmp_path / "gitmem/working").iterdir())) == 1


def test_a_session_has_a_limit_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.sessions.working_memory.MAX_VALUES", 3)
    store = Store(tmp_path)
    for number in range(3):
        store.set(f"task:{number}", "x", NOW, owner=Owner("s1"))
    with pytest.raises(UsageError):
        store.set("task:4", "x", NOW, owner=Owner("s1"))
    store.set("task:4", "x", NOW, owner=Owner("s2"))
    store.set("task:4", "x", NOW)
    store.set("task:5", "x", NOW + timedelta(hours=25), owner=Owner("s1"))  # the first three have ended
    assert MAX_VALUES == 1_000


def test_a_session_s_name_is_one_line(tmp_path: Path) -> None:
    assert owner_of(" s1 ", "coder") == Owner("s1", "coder")
    for session, agent in (("a\nb", ""), ("x" * 201, ""), ("s\u202e1", ""), ("s1", "no agent!")):
        with pytest.raises(UsageError):
            owner_of(session, agent)


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
    assert delete_containing(tmp_path, [text]) == ["a:b", "vendor:lisbon"]
    assert [value.key for value in Store(tmp_path).list("", NOW)] == ["vendor:porto"]
    assert delete_containing(tmp_path, ["", text]) == []
