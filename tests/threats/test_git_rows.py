"""docs/threats.md, A12, A16-A22, A25, A26: what an attacker does with Git itself."""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo
from tests.samples import GITHUB

CLEAN = "- 오늘 배포했다\n"
BAD = f"- 토큰은{GITHUB}를 쓴다\n"


def scan(repo: Repo, *args: str, **env: str) -> tuple[int, list[dict[str, Any]]]:
    """(exit code, findings) of `git mem scan`."""
    done = repo.mem("scan", "--json", *args, check=False, env=env)
    assert done.returncode in (0, 1), done.stderr
    assert GITHUB not in done.stdout + done.stderr
    return done.returncode, json.loads(done.stdout)["findings"]


def rules(found: tuple[int, list[dict[str, Any]]]) -> set[str]:
    return {row["rule"] for row in found[1]}


def stage(repo: Repo, path: str, data: bytes, mode: str = "100644") -> None:
    """Stage a blob that the file system could not hold or Git would not add."""
    blob = repo.path / ".git" / "blob"
    blob.write_bytes(data)
    oid = repo.git("hash-object", "-w", "--no-filters", "--literally", str(blob)).strip()
    repo.git("update-index", "-z", "--index-info", input=f"{mode} {oid}\t{path}\0")


@pytest.fixture
def base(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- one fact\n"})
    repo.git("tag", "base")
    return repo


# -- A12 allowlist abuse -------------------------------------------------------------------------------------


def test_a12_an_exception_made_inside_the_range_does_not_hold_in_ci(base: Repo) -> None:
    base.write("memory/a.md", BAD)
    fingerprint = scan(base)[1][0]["fingerprint"]
    base.mem("allow", fingerprint, "--reason", "looks fine to me")
    assert scan(base)[0] == 0
    base.commit("attack with its own exception")
    assert scan(base, "--range", "base..HEAD")[0] == 1


def test_a12_an_exception_of_the_base_branch_holds_in_ci(base: Repo) -> None:
    base.write("memory/a.md", BAD)
    fingerprint = scan(base)[1][0]["fingerprint"]
    base.mem("allow", fingerprint, "--reason", "a sample")
    (base.path / "memory/a.md").unlink()
    base.commit("except a sample")
    base.git("tag", "reviewed")
    base.commit("use it", {"memory/a.md": BAD})
    assert scan(base, "--range", "reviewed..HEAD")[0] == 0


def test_a12_settings_changed_inside_the_range_do_not_loosen_it(base: Repo) -> None:
    base.commit("protect", {".gitmem.toml": '[gate]\nprotected = ["SOUL.md"]\n', "SOUL.md": "# Soul\n"})
    base.git("tag", "protected")
    base.commit("attack", {".gitmem.toml": "", "SOUL.md": "# Soul\n\nother\n"})
    assert rules(scan(base, "--range", "protected..HEAD")) == {"protected-file", "settings-loosened"}


@pytest.mark.parametrize("words", ["pragma: allowlist secret", "gitleaks:allow", "noqa", "git-mem allow"])
def test_a12_a_comment_beside_the_attack_excepts_nothing(base: Repo, words: str) -> None:
    base.write("memory/a.md", f"- {GITHUB} <!-- {words} -->\n")
    assert scan(base)[0] == 1


# -- A16 staged and work tree differ -------------------------------------------------------------------------


def test_a16_the_staged_blob_is_scanned_not_the_file(base: Repo) -> None:
    base.mem("install")
    base.write("memory/a.md", BAD)
    base.git("add", "-A")
    base.write("memory/a.md", CLEAN)
    assert base.run("git", "commit", "-qm", "x", check=False).returncode == 1
    assert scan(base, "--staged")[0] == 1
    base.git("add", "-A")
    base.write("memory/a.md", BAD)
    base.git("commit", "-qm", "x")
    assert scan(base, "--staged")[0] == 0
    assert scan(base)[0] == 1


# -- A17 working-tree-encoding -------------------------------------------------------------------------------


def test_a17_working_tree_encoding_is_reported_and_the_blob_is_what_is_scanned(base: Repo) -> None:
    base.write(".gitattributes", "memory/*.md working-tree-encoding=UTF-16LE\n")
    base.write("memory/a.md", BAD.encode("utf-16-le"))
    base.git("add", "-A")
    found = scan(base, "--staged")
    assert "encoding-attribute" in rules(found)
    assert any(row["path"] == "memory/a.md" and row["rule"].startswith("github") for row in found[1])
    base.git("commit", "-qm", "x")
    assert "encoding-attribute" in rules(scan(base, "--range", "base..HEAD"))


def test_a17_unread_attributes_and_pointers_of_git_lfs_are_refused(base: Repo) -> None:
    base.write(".gitattributes", "# \n" * 400_000)
    base.write("memory/a.md", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    base.git("add", "-A")
    assert {"encoding-attribute", "unscannable"} <= rules(scan(base, "--staged"))
    base.git("commit", "-qm", "x")
    assert {"encoding-attribute", "unscannable"} <= rules(scan(base, "--range", "base..HEAD"))


# -- A18 no text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [b"\0" + BAD.encode(), BAD.encode() + b"\xff\xfe\x00", BAD.encode("utf-16"), BAD.encode("cp949")]
)
def test_a18_memory_that_is_no_text_is_scanned_and_rejected(base: Repo, data: bytes) -> None:
    base.write("memory/a.md", data)
    base.git("add", "-A")
    for found in (scan(base, "--staged"), scan(base), scan(base, "memory/a.md")):
        assert "not-text" in rules(found)
        assert any(rule.startswith("github") for rule in rules(found))


def test_a18_the_control_characters_of_a_binary_file_are_one_finding(base: Repo) -> None:
    base.write("memory/a.md", b"\xff\xfd\x80" + b"a\x01b\x02c\x03d\x04\x1b[2J " * 20 + BAD.encode())
    found = scan(base, "memory/a.md")
    assert sorted(row["rule"] for row in found[1] if not row["rule"].startswith("github")) == [
        "more-findings",
        "not-text",
    ]
    assert any(rule.startswith("github") for rule in rules(found))


def test_a18_cr_only_lines_and_a_byte_order_mark_hide_nothing(base: Repo) -> None:
    base.write("memory/a.md", "\ufeff# x\r" + BAD.replace("\n", "\r"))
    assert any(rule.startswith("github") for rule in rules(scan(base)))


# -- A19 links -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/etc/passwd", "../../.env", "a.md"])
def test_a19_a_link_in_memory_is_never_followed_and_refused(base: Repo, target: str) -> None:
    base.write(".env", f"KEY={GITHUB}\n")
    (base.path / "memory").mkdir(exist_ok=True)
    (base.path / "memory/x.md").symlink_to(target)
    base.git("add", "memory")
    assert rules(scan(base, "--staged")) == {"symlink"}
    assert "symlink" in rules(scan(base, "memory/x.md"))
    base.mem("install")
    assert base.run("git", "commit", "-qm", "x", check=False).returncode == 1


def test_a19_a_linked_folder_is_refused(base: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.md").write_text(BAD)
    (base.path / "memory").symlink_to(tmp_path / "elsewhere")
    base.git("add", "-A")
    assert "symlink" in rules(scan(base, "--staged"))
    done = base.mem("scan", "memory/x.md", check=False)
    assert done.returncode in (1, 3)
    assert "root:" not in done.stdout


# -- A20 names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["-rf.md", "new\nline.md", '"quote".md', "..%2f.md", "$(touch ran).md", "a b'c.md", "\t.md"]
)
def test_a20_odd_names_are_scanned_like_any_other(base: Repo, name: str) -> None:
    stage(base, f"memory/{name}", BAD.encode())
    code, found = scan(base, "--staged")
    assert code == 1
    assert any(row["path"] == f"memory/{name}" and row["rule"].startswith("github") for row in found)
    base.mem("install")
    done = base.run("git", "commit", "-qm", "x", check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) <= 20
    assert not (base.path / "ran").exists()


def test_a20_twins_are_reported(base: Repo) -> None:
    for name in ("Case.md", "case.md", "회의.md", unicodedata.normalize("NFD", "회의.md")):
        stage(base, f"memory/{name}", CLEAN.encode())
    found = [row["path"] for row in scan(base, "--staged")[1] if row["rule"] == "path-twin"]
    assert len(found) == 4
    base.git("commit", "-qm", "x")
    assert rules(scan(base, "--range", "base..HEAD")) == {"path-twin"}


@pytest.mark.parametrize("name", ["aux.md", "con.md", "dot./x.md", "a:b.md"])
def test_a20_names_windows_cannot_hold_are_warned_of(base: Repo, name: str) -> None:
    stage(base, f"memory/{name}", CLEAN.encode())
    code, found = scan(base, "--staged")
    assert (code, {row["rule"] for row in found}) == (0, {"path-windows"})


def test_a20_a_4_kb_name_is_scanned(base: Repo) -> None:
    stage(base, "memory/" + "/".join(["x" * 200] * 20) + ".md", BAD.encode())
    assert rules(scan(base, "--staged")) >= {"path-long"}
    assert scan(base, "--staged")[0] == 1


# -- A21 repositories inside ---------------------------------------------------------------------------------


def test_a21_a_gitlink_in_memory_is_refused_and_nothing_runs_in_it(base: Repo) -> None:
    inner = Repo(base.path / "memory/inner")
    inner.commit("x", {"x.md": BAD})
    inner.git("config", "core.fsmonitor", "touch ran; false")
    base.git("-c", "advice.addEmbeddedRepo=false", "add", "memory/inner")
    assert "submodule" in rules(scan(base, "--staged"))
    assert "submodule" in rules(scan(base))
    assert not list(base.path.rglob("ran"))
    base.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "x")
    assert "submodule" in rules(scan(base, "--range", "base..HEAD"))


def test_a21_a_git_folder_below_memory_is_reported(base: Repo) -> None:
    base.commit("notes", {"memory/a.md": CLEAN})
    base.write("memory/.git/config", "[core]\n\tfsmonitor = touch ran\n")
    assert "submodule" in rules(scan(base, "memory/a.md"))
    assert not list(base.path.rglob("ran"))


# -- A22 hostile configuration -------------------------------------------------------------------------------


def test_a22_no_command_of_the_clones_configuration_runs(base: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for key in (
        "core.fsmonitor", "diff.external", "core.sshCommand", "filter.x.smudge", "filter.x.clean", "diff.x.textconv",
        "core.pager", "core.editor", "alias.mem", "alias.diff", "gpg.program", "uploadpack.packObjectsHook",
    ):  # fmt: skip
        base.git("config", key, f"touch {ran}; false")
    base.git("config", "core.hooksPath", str(tmp_path / "evil"))
    (base.path / ".git/info").mkdir(exist_ok=True)
    (base.path / ".git/info/attributes").write_text("*.md filter=x diff=x\n")
    base.git("config", "log.showSignature", "true")
    for args in (["--staged"], [], ["--range", "base..HEAD"], ["--history"], ["MEMORY.md"]):
        base.mem("scan", *args)
    assert not ran.exists()


def test_a22_a_program_that_watches_files_is_not_run_by_a_write_either(base: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    base.git("config", "core.fsmonitor", f"touch {ran}; false")
    base.mem("add", "the harbour crane is painted blue")
    base.mem("add", "--type", "decision", "the second mast is made of oak")
    base.mem("add", "the winch is greased on Mondays", "--commit")
    base.mem("promote", "--dry-run")
    assert not ran.exists()


def test_a22_the_clones_pager_is_not_run_on_a_terminal(base: Repo, tmp_path: Path) -> None:
    base.git("config", "core.pager", f"touch '{tmp_path / 'ran'}'; cat")
    code = "import pty, sys; sys.exit(pty.spawn([sys.executable, '-P', '-m', 'gitmem', *sys.argv[1:]]) >> 8)"
    for command in (("log",), ("changes", "HEAD..HEAD")):
        base.run(sys.executable, "-c", code, *command, env={"PAGER": "cat"})
    assert not (tmp_path / "ran").exists()


def test_a22_the_clones_own_configuration_cannot_loosen_the_gate(base: Repo) -> None:
    base.git("config", "mem.onSecret", "mask")
    base.git("config", "mem.protected", "nothing")
    done = base.mem("add", f"use {GITHUB}", check=False)
    assert done.returncode == 1
    assert GITHUB not in done.stdout + done.stderr


def test_a22_another_repositorys_environment_does_not_leak_in(base: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("x", {"MEMORY.md": BAD})
    base.write("memory/a.md", BAD)
    base.git("add", "-A")
    index = tmp_path / "empty-index"
    assert scan(base, "--staged", GIT_INDEX_FILE=str(base.path / ".git/index"))[0] == 1
    shutil.copy(base.path / ".git/index", index)
    assert scan(base, "--staged", GIT_INDEX_FILE=str(index), GIT_EXTERNAL_DIFF="touch ran")[0] == 1
    assert not (base.path / "ran").exists()


def test_a22_hooks_import_nothing_of_the_repository(base: Repo) -> None:
    """People have the folder they work in, or its path, in PYTHONPATH."""
    base.mem("install")
    for name in ("__init__", "__main__"):
        base.write(f"gitmem/{name}.py", "import sys\nopen('ran', 'w').close()\nsys.exit(0)\n")
    base.write("click.py", "import sys\nsys.exit(0)\n")
    base.write("memory/a.md", BAD)
    base.git("add", "-A")
    for path in (".", str(base.path)):
        done = base.run("git", "commit", "-qm", "x", check=False, env={"PYTHONPATH": path})
        assert done.returncode == 1 and "1 finding" in done.stderr, path
    base.git("reset", "-q", "--hard", "base")
    driver = base.git("config", "merge.gitmem.driver")
    base.write("gitmem/__main__.py", "open('ran', 'w').close()\n")
    for name in ("base", "ours", "theirs"):
        base.write(name, "- a fact\n")
    for place, name in (("%O", "base"), ("%A", "ours"), ("%B", "theirs"), ("%P", "MEMORY.md"), ("%L", "7")):
        driver = driver.replace(place, name)
    base.run("sh", "-c", driver, env={"PYTHONPATH": "."}, check=False)
    assert not (base.path / "ran").exists()


# -- A25, A26 around the hooks -------------------------------------------------------------------------------


def test_a25_the_range_scan_finds_what_every_bypass_brought_in(base: Repo) -> None:
    base.mem("install")
    main = base.git("rev-parse", "HEAD").strip()

    def bypassed(name: str, *commands: tuple[str, ...]) -> None:
        base.git("checkout", "-q", "-B", name, main)
        for command in commands:
            base.git(*command)
        assert scan(base, "--range", "base..HEAD")[0] == 1, name

    base.git("checkout", "-qb", "evil")
    base.write("memory/a.md", BAD)
    base.git("add", "-A")
    base.git("commit", "-qm", "bad", "--no-verify")
    evil = base.git("rev-parse", "HEAD").strip()
    bypassed("reset", ("reset", "-q", "--hard", evil))
    bypassed("pick", ("cherry-pick", evil))
    bypassed("rebase", ("commit", "-q", "--allow-empty", "-m", "one"), ("rebase", "-q", evil))
    bypassed("merge", ("commit", "-q", "--allow-empty", "-m", "two"), ("merge", "-q", "--no-verify", "--no-edit", evil))
    base.git("checkout", "-q", "-B", "revert", evil)
    base.git("revert", "--no-edit", "HEAD")
    base.git("revert", "--no-edit", "HEAD")
    assert scan(base, "--range", "HEAD^..HEAD")[0] == 1
    base.git("checkout", "-q", "-B", "plumbing", main)
    tree = base.git("rev-parse", f"{evil}^{{tree}}").strip()
    made = base.git("commit-tree", tree, "-p", main, input="quiet").strip()
    base.git("update-ref", "refs/heads/plumbing", made)
    assert scan(base, "--range", "base..plumbing")[0] == 1


def test_a25_an_evil_merge_is_found(base: Repo) -> None:
    base.git("checkout", "-qb", "side")
    base.commit("side", {"memory/s.md": CLEAN})
    base.git("checkout", "-q", "main")
    base.commit("main", {"memory/m.md": CLEAN})
    base.git("merge", "-q", "--no-commit", "--no-ff", "side")
    base.write("memory/s.md", BAD)
    base.git("add", "-A")
    base.git("commit", "-qm", "merge", "--no-verify")
    code, found = scan(base, "--range", "base..HEAD")
    assert code == 1
    assert {row["path"] for row in found} == {"memory/s.md"}
    base.git("tag", "merged")
    assert scan(base, "--range", "merged..HEAD")[0] == 0


def test_a26_a_secret_added_and_removed_inside_the_range_is_found(base: Repo) -> None:
    bad = base.commit("adds", {"memory/a.md": BAD})
    base.commit("takes it back", {"memory/a.md": CLEAN})
    code, found = scan(base, "--range", "base..HEAD")
    assert (code, [row["commit"] for row in found]) == (1, [bad])
    text = base.mem("scan", "--range", "base..HEAD", check=False).stdout
    assert "rotate" in text
    assert scan(base, "--history")[0] == 1
    assert scan(base)[0] == 0


def test_a26_a_secret_in_a_message_of_the_range_is_found(base: Repo) -> None:
    base.commit(f"deploy {GITHUB}", {"src.txt": "x"})
    base.commit("more")
    code, found = scan(base, "--range", "base..HEAD")
    assert (code, found[0]["path"]) == (1, "COMMIT_EDITMSG")


def test_a25_a_daily_log_rewritten_in_the_range_is_found_and_a_reason_answers(base: Repo) -> None:
    log = "memory/2026-02-05.md"
    base.commit("log", {log: "# 2026-02-05\n\n- one\n- two\n"})
    base.git("tag", "logged")
    base.commit("rewrites", {log: "# 2026-02-05\n\n- two\n"})
    assert rules(scan(base, "--range", "logged..HEAD")) == {"log-rewritten"}
    base.git("commit", "-q", "--amend", "--no-verify", "-m", "rewrites\n\nMemory-Rewrite: wrong day")
    assert scan(base, "--range", "logged..HEAD")[0] == 0


def test_a25_a_union_of_two_logs_is_no_rewrite(base: Repo) -> None:
    log = "memory/2026-02-05.md"
    base.commit("log", {log: "# 2026-02-05\n\n- one\n", ".gitattributes": "*.md merge=union\n"})
    base.git("tag", "logged")
    base.git("checkout", "-qb", "side")
    base.commit("side", {log: "# 2026-02-05\n\n- one\n- side\n"})
    base.git("checkout", "-q", "main")
    base.commit("main", {log: "# 2026-02-05\n\n- one\n- main\n"})
    base.git("merge", "-q", "--no-edit", "side")
    assert scan(base, "--range", "logged..HEAD")[0] == 0


def test_a43_a_shallow_clone_is_not_scanned_as_if_it_were_whole(base: Repo, tmp_path: Path) -> None:
    base.commit("x", {"memory/a.md": BAD})
    base.commit("y", {"memory/a.md": CLEAN})
    base.commit("z", {"memory/b.md": CLEAN})
    base.git("clone", "-q", "--depth", "2", f"file://{base.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow", init=False)
    for arguments in (["--history"], ["--range", f"{'0' * 40}..HEAD"]):
        done = shallow.mem("scan", *arguments, check=False)
        assert done.returncode == 3 and "fetch-depth: 0" in done.stderr
    assert scan(shallow, "--range", "HEAD~1..HEAD")[0] == 0, "all of it is here"


def test_a25_a_shallow_clone_without_the_base_says_so(base: Repo, tmp_path: Path) -> None:
    base.commit("x", {"memory/a.md": BAD})
    base.git("clone", "-q", "--depth", "1", f"file://{base.path}", str(tmp_path / "shallow"))
    done = Repo(tmp_path / "shallow", init=False).mem("scan", "--range", "base..HEAD", check=False)
    assert done.returncode == 3 and "no commit 'base'" in done.stderr and "fetch-depth: 0" in done.stderr


def test_a42_a_range_that_loosens_the_settings_is_refused_until_they_are_put_back(base: Repo) -> None:
    start = base.commit("settings", {".gitmem.toml": "[memory]\npaths = ['notes/*.txt', 'more/*.txt']\n"})
    loose = base.commit("tidy", {".gitmem.toml": "[memory]\npaths = ['more/*.txt']\n"})
    code, found = scan(base, "--range", f"{start}..HEAD")
    assert code == 1 and [(row["rule"], row["path"], row["commit"]) for row in found] == [
        ("settings-loosened", ".gitmem.toml", loose)
    ]
    assert "notes/*.txt" in found[0]["message"] and "more" not in found[0]["message"]
    base.commit("back", {".gitmem.toml": "[memory]\npaths = ['more/*.txt', 'notes/*.txt']\n"})
    assert scan(base, "--range", f"{start}..HEAD") == (0, [])
    base.git("rm", "-q", ".gitmem.toml")
    base.commit("gone")
    assert rules(scan(base, "--range", f"{start}..HEAD")) == {"settings-loosened"}


def test_a42_loosened_settings_pass_with_an_exception_that_the_base_has(base: Repo) -> None:
    start = base.commit("settings", {".gitmem.toml": "[memory]\npaths = ['notes/*.txt']\n"})
    base.git("checkout", "-q", "-b", "change")
    base.commit("tidy", {".gitmem.toml": ""})
    (row,) = scan(base, "--range", f"{start}..HEAD")[1]
    base.git("checkout", "-q", "main")
    base.mem("allow", row["fingerprint"], "--range", "main..change", "--reason", "there are no notes any more")
    allowed = base.commit("allow")
    base.git("checkout", "-q", "change")
    base.git("rebase", "-q", "main")
    assert scan(base, "--range", f"{allowed}..HEAD") == (0, [])
