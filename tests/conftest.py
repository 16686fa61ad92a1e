"""Isolation: no test sees the person's Git configuration, home, time zone, colours or network settings."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import git_crypt, real_model
from tests.harness import SOURCE, Repo
from tests.ui.browser import chromium
from tests.warm_process import HOOKS_IN_FORKS

# The same examples on every run: what is tested does not depend on the day. `make fuzz` looks at new ones.
# No deadline: how long an example takes says more of the machine than of us.
settings.register_profile("repeatable", derandomize=True, print_blob=True, deadline=None)
settings.register_profile("new", print_blob=True, deadline=None)
settings.load_profile("repeatable")

# Tests whose hooks run `git mem` in forks of a process that has imported its modules. Tests of the hooks themselves, and
# of what an attacker may put in their way, are not among them: there Git starts each command in the usual way.
WARM_HOOKS = (
    "tests/actions/", "tests/claims/", "tests/cli/commands/", "tests/cli/test_cited_hook.py",
    "tests/cli/test_promotion", "tests/context/", "tests/exchange/", "tests/gate/changes/",
    "tests/gate/test_adoption_baseline.py", "tests/gate/test_imported_files.py", "tests/gate/test_rotation_advice.py",
    "tests/gate/test_scanned_paths.py", "tests/gate/test_trial.py", "tests/memory/", "tests/promotion/",
    "tests/provenance/", "tests/review/", "tests/test_documented_commands.py", "tests/test_readme.py",
    "tests/test_warm_process.py", "tests/ui/",
)  # fmt: skip


def pytest_configure() -> None:
    """A shell that starts the tests in the background has its children ignore SIGINT; a terminal does not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def isolated_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same for what is made once for several tests: those fixtures come before every `isolated`."""
    with pytest.MonkeyPatch.context() as patch:
        yield isolate(tmp_path_factory.mktemp("session-home"), patch)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New empty folders. pytest's own `mktemp` reads the names of all that it made before: thousands, for each test."""
    folder = tmp_path_factory.mktemp("homes")

    def new_folders() -> Iterator[Path]:
        for number in itertools.count():
            home = folder / f"home{number}"
            home.mkdir()
            yield home

    return new_folders()


@pytest.fixture(autouse=True)
def isolated(homes: Iterator[Path], request: pytest.FixtureRequest) -> Iterator[Path]:
    """A private HOME for this test; what it leaves in the environment is gone after it."""
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        home = isolate(next(homes), patch)
        if request.node.nodeid.startswith(WARM_HOOKS):
            patch.setenv(HOOKS_IN_FORKS, "1")
        yield home
    os.environ.clear()
    os.environ.update(before)


def isolate(home: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make `home` the HOME; Git and libgit2 read one configuration with an identity, and nothing else.

    Git starts no maintenance after a commit: that process takes as long as the commit itself."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITMEM_", "GITHUB_", "XDG_", "LESS")) or name.lower().endswith("_proxy"):
            patch.delenv(name)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n"
        "[maintenance]\n\tauto = false\n"
    )
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("TZ", "UTC")
    patch.setenv("LC_ALL", "C.UTF-8")
    patch.setenv("NO_COLOR", "1")
    patch.setenv("GITMEM_FOREGROUND", "1")  # a hook that refreshes the index ends when it has
    patch.setenv("PYTHONPATH", str(SOURCE))
    patch.setenv("PYTHONDONTWRITEBYTECODE", "")
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository on branch main."""
    return Repo(tmp_path / "repo")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly that the tests in a browser or with a real model were skipped: among thousands of dots nobody sees
    it."""
    all_skipped = terminalreporter.stats.get("skipped", [])
    skipped = [report for report in all_skipped if "tests/ui/browser/" in report.nodeid]
    if skipped:
        terminalreporter.section("THE BROWSER TESTS DID NOT RUN", sep="!")
        terminalreporter.line(f"{len(skipped)} tests of `git mem ui`: {chromium.MISSING}")
    skipped = [report for report in all_skipped if real_model.MISSING in str(report.longrepr)]
    if skipped:
        terminalreporter.section("THE TESTS WITH A REAL LANGUAGE MODEL DID NOT RUN", sep="!")
        terminalreporter.line(f"{len(skipped)} tests of promotion by a judge: {real_model.MISSING}")
    skipped = [report for report in all_skipped if git_crypt.MISSING in str(report.longrepr)]
    if skipped:
        terminalreporter.section("THE TESTS WITH THE REAL GIT-CRYPT DID NOT RUN", sep="!")
        terminalreporter.line(f"{len(skipped)} tests of encrypted memory: {git_crypt.MISSING}")
