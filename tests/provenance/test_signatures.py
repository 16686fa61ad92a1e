"""Signatures with real keys: who signed what, and nobody who is not there is waited for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.errors import NotSigned
from gitmem.git import signing
from gitmem.git.opening import open_repository
from gitmem.memory.writing import NewLine, add_and_commit
from gitmem.provenance.signatures import Signature, parse_signatures, signature_summary
from tests.harness import SOURCE, Repo

PASSPHRASE = "correct horse"


def ssh_key(folder: Path, passphrase: str = "") -> Path:
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(key)], check=True)
    return key


def signs_with_ssh(repo: Repo, key: Path, signer: str = "dana@example.com") -> None:
    allowed = key.with_suffix(".allowed")
    allowed.write_text(f"{signer} {key.with_suffix('.pub').read_text()}")
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(key)), ("commit.gpgsign", "true")):
        repo.git("config", name, value)
    repo.git("config", "gpg.ssh.allowedSignersFile", str(allowed))


@pytest.fixture
def gpg_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A key ring of its own, in a folder whose name is short enough for the socket of gpg-agent."""
    import tempfile

    if shutil.which("gpg") is None:
        pytest.skip("there is no gpg here")
    home = Path(tempfile.mkdtemp(prefix="gpg"))
    home.chmod(0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    yield home
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)
    shutil.rmtree(home, ignore_errors=True)


def gpg_key(passphrase: str) -> str:
    subprocess.run(
        ["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", passphrase,
         "--quick-gen-key", "Dana <dana@example.com>", "ed25519", "sign", "never"],
        check=True, capture_output=True,
    )  # fmt: skip
    listed = subprocess.run(["gpg", "--list-keys", "--with-colons"], check=True, capture_output=True, text=True).stdout
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)  # which remembers the passphrase
    return next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:"))


def at_a_terminal(repo: Repo, *words: str) -> tuple[int, str]:
    """Run git mem with a controlling terminal that nobody types at, and nothing on its input, as an agent's shell has
    it; a prompt on that terminal would never end."""
    command = " ".join([sys.executable, "-m", "gitmem", *(f"'{word}'" for word in words)])
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    script = f"cd '{repo.path}' && {command} </dev/null >'{repo.path}.out' 2>&1; echo $? >'{repo.path}.code'"
    subprocess.run(
        ["script", "-qec", script, "/dev/null"], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    return int(Path(f"{repo.path}.code").read_text()), Path(f"{repo.path}.out").read_text()


needs_script = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("script") is None, reason="no util-linux script"
)


@needs_script
def test_an_ssh_key_with_a_passphrase_is_not_waited_for(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit("start", {"MEMORY.md": "# Memory\n\n## Facts\n\n- The sky is blue.\n"})
    signs_with_ssh(repo, ssh_key(tmp_path, PASSPHRASE))
    code, said = at_a_terminal(repo, "forget", "MEMORY.md:5", "--reason", "wrong")
    assert code == 3 and "cannot be signed without a passphrase" in said and "commit.gpgsign false" in said
    assert repo.git("rev-parse", "HEAD").strip() == head and "blue" in repo.read("MEMORY.md")


@needs_script
def test_a_gpg_key_with_a_passphrase_is_not_waited_for(repo: Repo, gpg_home: Path) -> None:
    head = repo.commit("start", {"MEMORY.md": "# Memory\n\n## Facts\n\n- The sky is blue.\n"})
    repo.git("config", "user.signingkey", gpg_key(PASSPHRASE))
    repo.git("config", "commit.gpgsign", "true")
    code, said = at_a_terminal(repo, "forget", "MEMORY.md:5", "--reason", "wrong")
    assert code == 3 and "cannot be signed without a passphrase" in said
    assert repo.git("rev-parse", "HEAD").strip() == head and "blue" in repo.read("MEMORY.md")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "SIGNING_SECONDS", 0.0)
    monkeypatch.setattr(signing, "POLL_SECONDS", 0.05)


@pytest.mark.parametrize(
    ("form", "setting"), [("openpgp", "gpg.program"), ("openpgp", "gpg.openpgp.program"), ("ssh", "gpg.ssh.program")]
)
def test_a_signing_program_that_never_answers_ends_and_the_line_stays(
    repo: Repo, tmp_path: Path, impatient: None, form: str, setting: str
) -> None:
    head = repo.commit("start", {"MEMORY.md": "# Memory\n\n- The sky is blue.\n"})
    program = tmp_path / "waits"
    program.write_text("#!/bin/sh\ntail -f /dev/null\n")
    program.chmod(0o755)
    settings = (("gpg.format", form), (setting, str(program)), ("commit.gpgsign", "true"), ("user.signingkey", "~/key"))
    for name, value in settings:
        repo.git("config", name, value)
    opened = open_repository(repo.path, os.environ)
    try:
        line = NewLine("The grass is green", to="memory")
        with pytest.raises(
            NotSigned, match=r"has not answered for 0 seconds; the line stands in MEMORY.md:7, not committed"
        ):
            add_and_commit(opened, Config(), line, lambda text: text, now=datetime(2026, 3, 1, 12))
    finally:
        opened.close()
    assert repo.git("rev-parse", "HEAD").strip() == head and "grass" in repo.read("MEMORY.md")
    assert not list((repo.path / ".git").glob("*.lock")) and repo.git("diff", "--cached", "--name-only") == ""


def signs_with_one_that_hangs(repo: Repo, folder: Path) -> None:
    program = folder / "waits"
    program.write_text("#!/bin/sh\ntail -f /dev/null\n")
    program.chmod(0o755)
    for name, value in (("gpg.program", str(program)), ("commit.gpgsign", "true"), ("user.signingkey", "K")):
        repo.git("config", name, value)


def until(is_so: Callable[[], object]) -> None:
    """Wait for what surely comes, two minutes at most."""
    for _ in range(2400):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends no group of processes")
def test_a_run_that_is_killed_while_it_signs_leaves_no_git_and_no_lock(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit("start", {"MEMORY.md": "# Memory\n\n- The sky is blue.\n"})
    signs_with_one_that_hangs(repo, tmp_path)
    command = [sys.executable, "-m", "gitmem", "forget", "MEMORY.md:3", "--reason", "wrong"]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(command, cwd=repo.path, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with process:
        until(lambda: list((repo.path / ".git").glob("*.lock")) or process.poll() is not None)
        assert process.poll() is None
        process.kill()
    until(lambda: not list((repo.path / ".git").glob("*.lock")))
    assert repo.git("rev-parse", "HEAD").strip() == head


@needs_script
def test_a_person_at_a_terminal_reads_what_is_waited_for(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- The sky is blue.\n"})
    signs_with_one_that_hangs(repo, tmp_path)
    command = f"cd '{repo.path}' && {sys.executable} -m gitmem forget MEMORY.md:3 --reason wrong"
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        ["script", "-qefc", command, "/dev/null"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stdin is not None and process.stdout is not None
        read = b""
        while b"waits for a passphrase or for a touch" not in read and (more := os.read(process.stdout.fileno(), 4096)):
            read += more
        assert b"being signed: gpg waits for a passphrase or for a touch" in read
        process.stdin.write(b"\x03")  # Ctrl-C
        process.stdin.flush()
    assert not list((repo.path / ".git").glob("*.lock"))


def test_a_hook_that_takes_its_time_is_not_taken_for_a_signing_program(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "SIGNING_SECONDS", 2.0)
    monkeypatch.setattr(signing, "POLL_SECONDS", 0.05)
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    signs_with_ssh(repo, ssh_key(tmp_path))
    hook = repo.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nsleep 3\n")
    hook.chmod(0o755)
    opened = open_repository(repo.path, os.environ)
    try:
        line = NewLine("The grass is green", to="memory")
        _, made, _ = add_and_commit(opened, Config(), line, lambda text: text, now=datetime(2026, 3, 1, 12))
    finally:
        opened.close()
    assert "gpgsig" in repo.git("cat-file", "commit", made)


def test_a_key_that_needs_none_signs_and_verify_and_review_say_who(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("start", {"MEMORY.md": "# Memory\n\n## Facts\n\n- The sky is blue.\n"})
    repo.commit("unsigned", {"MEMORY.md": repo.read("MEMORY.md") + "- The licence is MIT.\n"})
    signs_with_ssh(repo, ssh_key(tmp_path))
    repo.mem("forget", "MEMORY.md:5", "--reason", "wrong")
    head = repo.git("rev-parse", "HEAD").strip()
    verified = repo.mem("verify", f"{base}..HEAD", "--json", check=False)
    (found,) = json.loads(verified.stdout)["signatures"]
    assert (found["commit"], found["state"], found["signer"]) == (head, "good", "dana@example.com")
    assert "signatures of 2 commits: 1 good (dana@example.com); 1 unsigned" in verified.stderr
    review = repo.mem("review", f"{base}..HEAD", "--json", check=False)
    assert json.loads(review.stdout)["signatures"] == [found]
    assert "1 good" in repo.mem("review", f"{base}..HEAD", check=False).stdout


def test_a_gpg_key_without_a_passphrase_signs(repo: Repo, gpg_home: Path) -> None:
    base = repo.commit("start", {"MEMORY.md": "# Memory\n\n## Facts\n\n- The sky is blue.\n"})
    repo.git("config", "user.signingkey", gpg_key(""))
    repo.git("config", "commit.gpgsign", "true")
    repo.mem("forget", "MEMORY.md:5", "--reason", "wrong")
    (found,) = json.loads(repo.mem("verify", f"{base}..HEAD", "--json", check=False).stdout)["signatures"]
    assert found["state"].startswith("good") and "Dana" in found["signer"]


def test_without_signatures_nothing_is_said_of_them(repo: Repo) -> None:
    base = repo.commit("start", {"MEMORY.md": "- a\n"})
    repo.commit("more", {"MEMORY.md": "- a\n- b\n"})
    done = repo.mem("verify", f"{base}..HEAD", "--json", check=False)
    assert json.loads(done.stdout)["signatures"] == [] and "signatures" not in done.stderr


def test_every_state_of_git_is_told_and_a_name_stays_one_line() -> None:
    text = "a\0G\0Dana\0K1\nb\0B\0Eve\x1b[2J\0K2\nc\0E\0\0K3\nd\0N\0\0\ne\0?\0\0\n"
    found = parse_signatures(text)
    assert [one.state for one in found][:2] == ["good", "BAD: the commit is not what was signed"]
    assert found[1].signer == "Eve [2J" and found[4] == Signature("e", "?", "", "")
    words = signature_summary(found)
    assert "no such key) (K3)" in words and "1 unsigned" in words and words.isprintable()
    assert signature_summary(parse_signatures("d\0N\0\0\n")) == "" and signature_summary(()) == ""
