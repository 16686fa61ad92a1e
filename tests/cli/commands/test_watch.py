"""`git mem watch` as a real process."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys

from tests.harness import Repo


def test_a_change_of_a_memory_file_is_indexed_until_it_is_interrupted(repo: Repo) -> None:
    repo.commit("one", {"MEMORY.md": "- Invoices are in UTC.\n"})
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "watch", "--debounce", "0.05"], cwd=repo.path, env=os.environ,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"watching ")
        waiting = selectors.DefaultSelector()
        waiting.register(process.stdout, selectors.EVENT_READ)
        for n in range(200):  # the watcher may start after it says so
            repo.write("readme.txt", f"{n}\n")
            repo.write("memory/topic.md", f"# Topic\n\nThe zebra sleeps in zone {n}.\n")
            if waiting.select(timeout=0.5):
                break
        assert process.stdout.readline() == b"indexed memory/topic.md\n"
        found = repo.mem("search", "zebra", env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "mem.autoIndex",
                                                 "GIT_CONFIG_VALUE_0": "false"})  # fmt: skip
        assert "zebra sleeps" in found.stdout
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
        process.communicate()


def test_without_the_extra_the_command_says_what_to_install(repo: Repo) -> None:
    code = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n == 'watchfiles' else real(n, *a)\n"
        "from gitmem.cli.main import main; main(['watch'])"
    )
    done = repo.run(sys.executable, "-c", code, check=False)
    assert done.returncode == 3 and "git-mem[watch]" in done.stderr
