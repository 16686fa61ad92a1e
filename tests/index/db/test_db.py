"""The index file: private, ours, checked when opened; damage, a full disk and a read-only folder are met in words."""

from __future__ import annotations

import json
import os
import random
import shlex
import stat
import subprocess
import sys
import time
from array import array
from pathlib import Path

import apsw
import pytest

from gitmem.config import Config
from gitmem.errors import IndexDamaged, IndexUnusable
from gitmem.git.opening import open_repository
from gitmem.index import db, freshness, indexer
from gitmem.index.db import reembedding
from gitmem.index.db.connection import _connect
from gitmem.index.db.values import IN_FORCE, INCOMPLETE, Shape, bits, int8, norm, pack_shape, unpack_shape
from gitmem.memory.snapshot import read_hits
from gitmem.models import embedding
from tests.harness import SOURCE, Repo
from tests.read_only import read_only_run
from tests.words_embedder import WordsEmbedder

CONFIG = Config()


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordsEmbedder:
    made = WordsEmbedder()
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: made)
    return made


@pytest.fixture
def filled(repo: Repo) -> Path:
    """The folder of an index over a few files that were written a minute ago: a file of this moment is read again."""
    for n in range(12):
        path = repo.write(
            f"memory/n{n}.md", f"# note {n}\n- alpha beta {n}\n- 메모리 검색\n\n## more\n- gamma {n * 7}\n"
        )
        os.utime(path, (time.time() - 60,) * 2)
    repo.commit()
    opened = open_repository(repo.path, os.environ)
    indexer.refresh(opened, CONFIG)
    opened.close()
    return repo.path / ".git/gitmem"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_file_log_and_folder_are_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        writer = db.open_writer(tmp_path / "gitmem")
        with writer.writing():
            writer.set_meta("a", "b")
        assert mode(tmp_path / "gitmem") == 0o700
        names = {file.name for file in (tmp_path / "gitmem").iterdir()}
        assert names == {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"}
        assert all(mode(file) == 0o600 for file in (tmp_path / "gitmem").iterdir())
        writer.close()
    finally:
        os.umask(old)


def test_a_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "gitmem").mkdir(mode=0o777)
    os.chmod(tmp_path / "gitmem", 0o777)
    (tmp_path / "gitmem/index.sqlite").touch()
    os.chmod(tmp_path / "gitmem/index.sqlite", 0o666)
    db.open_writer(tmp_path / "gitmem").close()
    assert mode(tmp_path / "gitmem") == 0o700 and mode(tmp_path / "gitmem/index.sqlite") == 0o600


@pytest.mark.parametrize("name", ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"])
def test_a_symbolic_link_is_refused_for_reading_and_writing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "gitmem"
    db.open_writer(folder).close()
    target = tmp_path / "target"
    target.write_bytes((folder / "index.sqlite").read_bytes())
    before = target.read_bytes()
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    for opening in (db.open_index, db.open_writer):
        with pytest.raises(IndexUnusable, match="symbolic link"):
            opening(folder)
    assert target.read_bytes() == before


def test_another_users_index_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db.open_writer(tmp_path / "gitmem").close()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    for opening in (db.open_index, db.open_writer):
        with pytest.raises(IndexUnusable, match="another user"):
            opening(tmp_path / "gitmem")


def test_connections_are_hardened(filled: Path) -> None:
    connection, _ = _connect(filled / db.FILE, False, lambda connection, path: None)
    assert connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1)
    assert not connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1)
    assert connection.pragma("cell_size_check") == 1
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON blob BEGIN DELETE FROM chunk; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE extra(x)",
        "DROP TABLE covered",
        "ALTER TABLE chunk ADD COLUMN more",
        "CREATE TABLE words_other(x)",
        "PRAGMA application_id = 7",
    ],
)
def test_a_schema_that_is_not_ours_is_rebuilt_and_nothing_of_it_runs(filled: Path, repo: Repo, statement: str) -> None:
    hostile = apsw.Connection(str(filled / db.FILE))
    hostile.execute(statement)
    hostile.close()
    with pytest.raises(IndexDamaged):
        db.open_index(filled)
    opened = open_repository(repo.path, os.environ)
    got = freshness.ready(opened, CONFIG)
    assert got.snapshot is not None and got.snapshot.chunks == 24 and not got.stale
    assert any("built again" in note for note in got.notes)
    got.close()
    opened.close()


def test_a_newer_index_is_refused_with_what_to_do_and_an_older_one_is_rebuilt(filled: Path, repo: Repo) -> None:
    def set_version(number: int) -> None:
        connection = apsw.Connection(str(filled / db.FILE))
        connection.pragma("user_version", number)
        connection.close()

    set_version(99)
    for command in (["index"], ["status"], ["doctor"]):
        done = repo.mem(*command, check=False)
        assert done.returncode == 3 and "newer git-mem" in done.stderr and "upgrade git-mem" in done.stderr
    set_version(0)
    opened = open_repository(repo.path, os.environ)
    work = indexer.refresh(opened, CONFIG)
    assert work.blobs == 12 and "older" in work.notes[0]
    opened.close()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 5000, b"hello" * 3000])
def test_a_file_that_is_no_database_is_built_again(filled: Path, repo: Repo, content: bytes) -> None:
    for file in filled.glob("index.sqlite*"):
        file.unlink()
    (filled / db.FILE).write_bytes(content)
    opened = open_repository(repo.path, os.environ)
    got = freshness.ready(opened, CONFIG)
    assert got.snapshot is not None and got.snapshot.chunks == 24
    got.close()
    opened.close()


def answers(repo: Repo) -> set[tuple[str, str]] | None:
    """(path, line) of everything a search for two words would show; None where it says that the index is damaged."""
    opened = open_repository(repo.path, os.environ)
    try:
        got = freshness.ready(opened, CONFIG)
        if got.index is None or got.snapshot is None:
            return set()
        shown = set()
        try:
            chunks = {c for term in ("alpha", "gamma", "메모") for c, _ in got.index.postings(term)}
            places = [p for some in got.index.places(got.snapshot, chunks).values() for p in some]
            contents = read_hits(opened, [(p.path, p.oid) for p in places])
            for place in places:
                data = contents.get((place.path, place.oid))
                if data is not None:
                    lines = data.decode().splitlines()
                    shown |= {(place.path, line) for line in lines[max(0, place.start - 1) : place.end]}
        finally:
            got.close()
        return shown
    except (IndexDamaged, IndexUnusable):
        return None
    finally:
        opened.close()


def test_flipped_bytes_never_invent_text_and_doctor_repairs(filled: Path, repo: Repo) -> None:
    truth = {
        (str(path.relative_to(repo.path)), line)
        for path in repo.path.rglob("*.md")
        for line in path.read_text().splitlines()
    }
    whole = answers(repo)
    assert whole and whole <= truth
    original = (filled / db.FILE).read_bytes()
    dice = random.Random(7)
    noticed = 0
    for _ in range(60):
        damaged = bytearray(original)
        for _ in range(dice.choice((1, 3, 40))):
            damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        for file in filled.glob("index.sqlite*"):
            file.unlink()
        (filled / db.FILE).write_bytes(damaged)
        os.chmod(filled / db.FILE, 0o600)
        shown = answers(repo)
        assert shown is None or shown <= truth
        noticed += shown != whole
    assert noticed  # the damage was real
    done = repo.mem("doctor", "--repair", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_command_to_paste_holds_a_file_name_as_one_word(repo: Repo) -> None:
    path = "memory/a'; touch owned; '/index.sqlite"
    repo.commit("tracked", {path: "x", "MEMORY.md": "# Memory\n"})
    hint = next(row for row in repo.mem("doctor", check=False).stdout.splitlines() if "git rm --cached" in row)
    assert shlex.split(hint)[-1] == path


def test_doctor_finds_each_kind_of_change_and_the_rebuild_mends_it(filled: Path, repo: Repo) -> None:
    repo.mem("index")  # with the embedder of the command line
    assert repo.mem("doctor").returncode == 0
    for statement, name in (
        ("UPDATE place SET first = first + 1 WHERE ordinal = 1", "chunks"),
        ("UPDATE blob SET shape = '' WHERE id = 1", "chunks"),
        ("UPDATE chunk SET hash = zeroblob(16) WHERE id = 1", "chunks"),
        ("INSERT INTO words(words) VALUES ('delete-all')", "words"),
        ("DELETE FROM entry WHERE blob = 3", "tree"),
        ("DELETE FROM place WHERE blob = 4", "chunks"),
    ):
        connection = apsw.Connection(str(filled / db.FILE))
        connection.execute(statement)
        connection.close()
        done = repo.mem("doctor", check=False)
        assert done.returncode == 1 and f"wrong  {name}" in done.stdout, (statement, done.stdout)
        assert "git mem" in done.stdout
        assert repo.mem("doctor", "--repair").returncode == 0, statement


@pytest.mark.parametrize("keep_log", [False, True], ids=["folded in", "with a log left behind"])
def test_a_folder_that_cannot_be_written_is_searched_as_it_is_and_stale(
    repo: Repo, filled: Path, keep_log: bool
) -> None:
    if keep_log:  # it cannot be folded in there: a private copy is read
        writer = db.open_writer(filled)
        with writer.writing():
            writer.set_meta("x", "y")
        log = (filled / "index.sqlite-wal").read_bytes()
        body = (filled / "index.sqlite").read_bytes()
        writer.close()
        (filled / "index.sqlite").write_bytes(body)
        (filled / "index.sqlite-wal").write_bytes(log)
    code = f"""
import os
from pathlib import Path
from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.index import freshness
got = freshness.ready(open_repository(Path({str(repo.path)!r}), os.environ), Config())
print(got.index.frozen, got.stale, len(got.index.postings("alpha")), got.snapshot.chunks)
got.close()
"""
    first = read_only_run(repo, sys.executable, "-c", code)
    assert first.stdout == "True  12 24\n", first
    repo.write("memory/n0.md", "- other\n")
    second = read_only_run(repo, sys.executable, "-c", code)
    assert second.stdout == "True the index cannot be written here 12 24\n", second


def _without_room() -> None:
    """What a full disk does to SQLite: no file of this process may grow."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limits of processes here")
@pytest.mark.parametrize("stale", [False, True])
def test_on_a_full_disk_the_index_that_is_there_is_searched(filled: Path, repo: Repo, stale: bool) -> None:
    repo.mem("search", "gamma")
    assert [path.name for path in filled.glob("index.sqlite*")] == ["index.sqlite"]
    if stale:
        repo.write("memory/n3.md", "- delta\n")
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "gitmem", "search", "--json", "gamma"]
    done = subprocess.run(
        command, cwd=repo.path, env=environ, capture_output=True, text=True, preexec_fn=_without_room, check=False
    )
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["hits"] and answer["stale"] is stale
    assert all(hit["path"] != "memory/n3.md" for hit in answer["hits"]) or not stale
    assert json.loads(repo.mem("search", "--json", "gamma").stdout)["stale"] is False


def test_norms_shapes_and_vectors_come_back() -> None:
    assert norm(-1) == norm(0) == 1 and norm(7) == 2 and norm(10_000) == 255
    shape = Shape(((1, 1), (4, 2)), ((6, 9),), ((11, 13),), 3, (("tags", "메모"), ("type", "note")))
    assert unpack_shape(pack_shape(shape)) == shape and pack_shape(Shape()) == ""
    for broken in ("[1]", "{}", "[[1],2,3,4,5]", "x", "[" * 100_000):
        with pytest.raises(ValueError):
            unpack_shape(broken)
    vector = WordsEmbedder().embed_query("alpha beta")
    assert len(bits(vector)) == 8 and len(int8(vector)) == 64 and max(int8(vector)) == 127
    assert int8(bytes(256)) == bytes(64)


def test_uninstall_with_purge_leaves_no_state(filled: Path, repo: Repo) -> None:
    repo.mem("uninstall", "--purge")
    assert not filled.exists()


@pytest.mark.parametrize("out", [0, 1, 30, 290, 399], ids=lambda out: f"{out} outside")
def test_the_nearest_are_those_of_the_snapshot_however_much_of_the_index_it_has(tmp_path: Path, out: int) -> None:
    rng = random.Random(out)
    vectors = {n: array("f", [rng.gauss(0, 1) for _ in range(64)]).tobytes() for n in range(1, 401)}
    writer = db.open_writer(tmp_path / "gitmem")
    with writer.writing():
        number = writer.register_embedder("words", "static", 64)
        reembedding.put_in_force(writer.database, number)
        writer.add_vectors(number, [(n, (bits(vector), int8(vector))) for n, vector in vectors.items()])
    norms = bytearray(b"\0" + b"\1" * 380)  # the index has chunks that are newer than the snapshot
    for chunk in rng.sample(range(1, 381), min(out, 380)):
        norms[chunk] = 0
    asked = array("f", [rng.gauss(0, 1) for _ in range(64)]).tobytes()

    def apart(chunk: int) -> int:
        return (int.from_bytes(bits(vectors[chunk])) ^ int.from_bytes(bits(asked))).bit_count()

    found = [chunk for chunk, _ in writer.nearest(asked, bytes(norms), 3)]
    inside = sorted((chunk for chunk in vectors if chunk < 381 and norms[chunk]), key=apart)
    assert len(found) == min(3, len(inside)) and set(found) <= set(inside)
    assert not inside or max(map(apart, found)) <= apart(inside[: 3 * 10][-1])
    writer.close()


def test_cosines_are_those_of_the_nearest_and_only_of_the_embedder_in_force(tmp_path: Path) -> None:
    rng = random.Random(7)
    vectors = {n: array("f", [rng.gauss(0, 1) for _ in range(64)]).tobytes() for n in range(1, 21)}
    vectors[9] = bytes(256)  # a chunk without a word
    writer = db.open_writer(tmp_path / "gitmem")
    with writer.writing():
        number = writer.register_embedder("words", "static", 64)
        reembedding.put_in_force(writer.database, number)
        writer.add_vectors(number, [(n, (bits(vector), int8(vector))) for n, vector in vectors.items()])
        other = writer.register_embedder("other", "gguf:x", 64)
        writer.add_vectors(other, [(21, (bits(vectors[1]), int8(vectors[1])))])
    asked = array("f", [rng.gauss(0, 1) for _ in range(64)]).tobytes()
    found = writer.cosines(asked, [*vectors, 21, 400])
    assert found == dict(writer.nearest(asked, b"\0" + b"\1" * 20, 20)) and set(found) == set(vectors) - {9}
    assert writer.cosines(asked, []) == {} == writer.cosines(bytes(256), [1]) == writer.cosines(asked[:8], [1])
    writer.close()


def test_a_change_outside_a_transaction_is_refused(tmp_path: Path) -> None:
    writer = db.open_writer(tmp_path / "gitmem")
    with pytest.raises(AssertionError, match="outside writing"):
        writer.set_meta("a", "b")
    assert writer.meta("a") == ""
    writer.close()


def test_an_embedder_keeps_its_id_and_a_replaced_one_is_incomplete_when_it_comes_back(tmp_path: Path) -> None:
    writer = db.open_writer(tmp_path / "gitmem")
    with writer.writing():
        first, second = writer.register_embedder("a", "static", 64), writer.register_embedder("b", "gguf:x", 64)
        assert writer.in_force() == ("a", "static")
        reembedding.put_in_force(writer.database, second)
        assert writer.register_embedder("a", "gguf:y", 64) == first == writer.embedder_id("a")
        assert writer.register_embedder("b", "gguf:x", 64) == second
    rows = writer.database.rows("SELECT name, spec, in_force FROM embedder ORDER BY id")
    assert rows == [("a", "gguf:y", INCOMPLETE), ("b", "gguf:x", IN_FORCE)]
    with pytest.raises(IndexDamaged, match="lacks an embedder"):
        writer.embedder_id("c")
    writer.close()
