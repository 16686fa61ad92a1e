"""Transcripts that the hosts themselves wrote in `make hosts` (integrations/hosts), compaction and resumption among them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.hosts.transcript import By, Role
from gitmem.hosts.transcript_parser import parse
from gitmem.sessions.lifecycle import end_session
from tests.harness import Repo

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.jsonl"))
DECIDED = ("We decided that the harbour crane is painted blue.", "We decided that the second mast is made of oak.")
INJECTED = ("Thursdays", "400 kilos", "Marmots", "by nobody")  # memory, AGENTS.md, the host's own summary


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_a_person_said_is_kept_once_and_nothing_that_was_injected(path: Path, repo: Repo) -> None:
    found = parse(path.read_bytes())
    asked = [turn.text for turn in found.spoken() if turn.role is Role.USER]
    assert [text for text in asked if text != "Go on."] == [
        f"{DECIDED[0]} Look it up: on which day are invoices sent?",
        "How much coal does the lighthouse lift carry?",
        DECIDED[1],
    ]
    assert found.session and any(turn.by is By.SUMMARY for turn in found.turns)
    git = open_repository(repo.path, os.environ)
    try:
        flushed, episode = end_session(git, Config(), found, now=datetime(2026, 11, 22, 12, tzinfo=UTC))
        again = end_session(git, Config(), found, now=datetime(2026, 11, 22, 13, tzinfo=UTC))
    finally:
        git.close()
    assert [line.text for line in flushed.kept] == list(DECIDED) and again[0].kept == () and again[1] == episode
    written = repo.read(flushed.kept[0].path) + repo.read(episode)
    assert not any(words in written for words in INJECTED)
