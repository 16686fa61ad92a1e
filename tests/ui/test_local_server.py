"""`git mem ui` as a process: what it prints, whom it listens to, how it ends."""

from __future__ import annotations

import os
import pty
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from gitmem.memory.fact import fact_id
from gitmem.ui.local_server import bind_socket
from tests.harness import Repo
from tests.ui.conftest import Browse  # noqa: F401 - the fixtures of this folder


@contextmanager
def running(
    repo: Repo, *options: str, before: Callable[[], None] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command with the address it printed."""
    command = [sys.executable, "-m", "gitmem", "ui", "--no-browser", *options]
    process = subprocess.Popen(
        command, cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=before
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def opened(address: str) -> tuple[urllib.request.OpenerDirector, str]:
    """A browser that entered by the printed address, and the page it came to."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with browser.open(address, timeout=30) as answer:
        return browser, answer.read().decode()


def test_the_printed_address_opens_the_pages(memory: Repo) -> None:
    with running(memory) as (_, address):
        browser, first = opened(address)
        assert "<h1>Today</h1>" in first
        with browser.open(f"{address}facts", timeout=30) as answer:
            assert "REST webhooks" in answer.read().decode() and "server" not in answer.headers
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}facts", timeout=30)
        assert refused.value.code == 403


def test_it_listens_on_the_loopback_address_only(memory: Repo) -> None:
    with running(memory) as (process, address):
        port = int(address.split(":")[2].split("/")[0])
        if sys.platform != "linux":
            pytest.skip("/proc tells who listens where")
        table = Path(f"/proc/{process.pid}/net/tcp").read_text()
        listening = [line.split()[1] for line in table.splitlines()[1:] if line.split()[3] == "0A"]
        assert [place for place in listening if place.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_the_body_of_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    with bind_socket(0) as listening:
        listening.listen()
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_taken_port_and_an_unknown_revision_are_said(memory: Repo) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = memory.mem("ui", "--no-browser", "--port", str(taken.getsockname()[1]), check=False)
    assert done.returncode == 3 and "cannot be used" in done.stderr and not done.stdout
    done = memory.mem("ui", "--no-browser", "--at", "no-such-revision", check=False)
    assert done.returncode == 3 and "no-such-revision" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_told_to(memory: Repo, number: signal.Signals) -> None:
    with running(memory) as (process, address):
        opened(address)
        process.send_signal(number)
        assert process.wait(30) in (0, 130, -number, 128 + number)


def test_a_closed_terminal_ends_it(memory: Repo) -> None:
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests that were started with nohup ignore it
        os.chdir(memory.path)
        os.execv(sys.executable, [sys.executable, "-m", "gitmem", "ui", "--no-browser"])
    printed = b""
    while b"/\r\n" not in printed:
        printed += os.read(terminal, 1000)
    os.close(terminal)
    end = time.monotonic() + 60
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.05)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended[0], "it goes on without its terminal"


def test_without_its_packages_it_says_what_to_install(memory: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from gitmem.cli.commands import ui

    monkeypatch.chdir(memory.path)
    monkeypatch.setattr(ui, "find_spec", lambda name: None if name == "jinja2" else object())
    done = CliRunner().invoke(ui.command, ["--no-browser"])
    assert "git-mem[ui]" in getattr(done.exception, "hint", "")


def test_a_full_disk_leaves_every_page_that_only_reads(memory: Repo) -> None:
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "- another\n")

    def full() -> None:  # no file may grow: what a full disk does
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with running(memory, before=full) as (_, address):
        browser, first = opened(address)
        assert "<h1>Today</h1>" in first
        for page in ("facts", "file?path=MEMORY.md", "health"):
            with browser.open(f"{address}{page}", timeout=30) as answer:
                assert answer.status == 200
        with browser.open(f"{address}facts?q=webhooks", timeout=30) as answer:
            searched = answer.read().decode()
        assert "No search is possible now." in searched and "the index cannot be read or written" in searched


def test_a_change_on_a_full_disk_is_a_sentence_and_changes_nothing(memory: Repo) -> None:
    before = memory.read("MEMORY.md"), memory.git("rev-parse", "HEAD")

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with running(memory, before=full) as (_, address):
        browser, _ = opened(address)
        origin = address.rsplit("/", 2)[0]
        said = "Deploy before 11:00 only"
        with browser.open(f"{address}fact/{fact_id(said)}", timeout=60) as answer:
            page = answer.read().decode()

        def sent(page: str) -> str:
            """The answer to the form "Unpin" of a page."""
            form = page[page.index('/fact/unpin"') :]
            fields = dict(
                re.findall(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"', form[: form.index("</form>")])
            )
            request = urllib.request.Request(
                f"{address}fact/unpin", urllib.parse.urlencode({**fields, "reason": fields.get("reason", "over")}).encode(), {"Origin": origin}
            )  # fmt: skip
            try:
                with browser.open(request, timeout=60) as answer:
                    return str(answer.read().decode())
            except urllib.error.HTTPError as error:
                assert error.code in (409, 422, 503, 507)
                return error.read().decode()

        shown = sent(page)
        assert "Commit this" in shown
        refused = sent(shown)
        assert "<h1" in refused and "Commit this" not in refused and "A bug" not in refused
    assert (memory.read("MEMORY.md"), memory.git("rev-parse", "HEAD")) == before
    assert not memory.git("status", "--porcelain", "-uall")


def test_a_read_only_repository_has_every_page_that_only_reads(memory: Repo) -> None:
    with running(memory, "--read-only", "--at", "HEAD") as (_, address):
        browser, first = opened(address)
        assert "You look at the past" in first
        with browser.open(f"{address}facts", timeout=30) as answer:
            assert "REST webhooks" in answer.read().decode()
    assert memory.git("status", "--porcelain") == ""
