"""Reads the commits of the history, and finds out which of them a later commit reverted or amended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from gitmem.errors import GitMemError
from gitmem.git.objects import Commit
from gitmem.index.db import commits as stored
from gitmem.index.history import History
from gitmem.index.history_tips import Tip
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.text.terms import terms

ABBREVIATED = 7  # digits of the shortest abbreviated oid
MAX_NAMING_COMMITS = 32  # commits that name one commit whose messages are read
MAX_REVERTS = 4  # reverts of reverts that are followed
NAMED = re.compile(rf"\b[0-9a-f]{{{ABBREVIATED},64}}\b")
PICKED = re.compile(r"^\(cherry picked from commit [0-9a-f]+\)$", re.MULTILINE)
NO_CHANGE = re.compile(r"Memory-(?:Cursor|Source): ")  # trailers that name a commit without changing it
REVERTS = re.compile(r"(?:This reverts commit|Reverts) ")  # stands before the oid of the reverted commit
MENTIONS_REVERT = re.compile(r"\brevert", re.IGNORECASE)  # a line that talks about a revert
NUMBER = re.compile(r" \(#\d+\)$")  # the number of a pull request, which a squash merge adds to the subject


class CommitState(NamedTuple):
    """Whether a later commit reverted or amended a commit. `name`: "reverted", "amended" or "". `by`: oid of the later
    commit, "" for none."""

    name: str = ""
    by: str = ""


class CommitStates:
    """The commits of an open history and their states. `read`: oid -> (commit, tip of its repository), for each commit
    that `commit` has read so far."""

    def __init__(self, past: History) -> None:
        self.past = past
        self.read: dict[str, tuple[Commit, Tip]] = {}
        self._states: dict[str, CommitState] = {}

    def commit(self, oid: str) -> Commit | None:
        """The commit, from the first repository of the history that has it; None if none has it or if its object is
        larger than MAX_MEMORY_FILE_BYTES. Its message is cut to MAX_MESSAGE_CHARACTERS. It is added to `read`."""
        if oid not in self.read:
            for tip in self.past.tips:
                with suppress(GitMemError):
                    if tip.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES) < MAX_MEMORY_FILE_BYTES:
                        commit = tip.repo.commit(oid)
                        self.read[oid] = commit._replace(message=commit.message[: stored.MAX_MESSAGE_CHARACTERS]), tip
                        break
        return None if oid not in self.read else self.read[oid][0]

    def touched(self, oids: Iterable[str]) -> dict[str, list[str]]:
        """Oid of a commit -> the paths that it changed, for those of `oids` that `commit` has read."""
        paths: dict[str, list[str]] = {}
        for tip in self.past.tips:
            paths |= tip.repo.touched([oid for oid in oids if oid in self.read and self.read[oid][1] is tip])
        return paths

    def state(self, oid: str, depth: int = MAX_REVERTS) -> CommitState:
        """Whether a later commit of the snapshot reverted or amended a commit.

        The later message may name the commit by its oid. A revert may name it by its subject; the revert must then be a
        descendant. A revert that was itself reverted does not count, up to `depth` levels.
        """
        if oid in self._states:
            return self._states[oid]
        self._states[oid] = CommitState()  # ends a circle of reverts
        index, commit = self.past.index, self.commit(oid)
        if index is None or commit is None or not depth:
            return CommitState()
        by_subject = self._others(oid, ["revert", *terms(commit.subject)])
        by_oid = stored.naming(index, oid[:ABBREVIATED], self.past.norms, MAX_NAMING_COMMITS)
        state = CommitState()
        for later_oid in dict.fromkeys([*by_subject, *self._commits_of(by_oid)]):
            later = self.commit(later_oid)
            if later is None or later_oid == oid:
                continue
            name = _state_from_message(commit, later)
            if name != "reverted" and _reverts_subject(later, commit) and self._is_last(commit, later):
                name = "reverted"
            if name == "reverted" and self.state(later_oid, depth - 1).name != "reverted":
                state = CommitState(name, later_oid)
                break
            if name == "amended" and (not state.by or _time_key(later) > _time_key(self.read[state.by][0])):
                state = CommitState(name, later_oid)
        self._states[oid] = state
        return state

    def _commits_of(self, chunks: Sequence[int]) -> list[str]:
        """The oids of the commits of these chunks, sorted."""
        assert self.past.index is not None
        return sorted({place.oid for place in stored.commits_of(self.past.index, chunks).values()})

    def _others(self, oid: str, words: Sequence[str]) -> list[str]:
        """Oids of at most MAX_NAMING_COMMITS commits other than `oid` whose messages have these words one after the
        other."""
        assert self.past.index is not None
        chunks = stored.phrase(self.past.index, words, self.past.norms, MAX_NAMING_COMMITS)
        return [other for other in self._commits_of(chunks) if other != oid]

    def _is_last(self, commit: Commit, revert: Commit) -> bool:
        """Whether a revert that names only a subject reverts `commit`: the revert is a descendant, and no other commit
        with that subject is between the two."""
        reaches = self.read[commit.oid][1].repo.is_ancestor
        with suppress(GitMemError):  # if commits between the two are missing, the answer is no
            if not reaches(commit.oid, revert.oid):
                return False
            others = map(self.commit, self._others(commit.oid, terms(commit.subject)))
            same_subject = [other.oid for other in others if other is not None and other.subject == commit.subject]
            return not any(reaches(commit.oid, other) and reaches(other, revert.oid) for other in same_subject)
        return False


def _time_key(commit: Commit) -> tuple[datetime, str]:
    """Sort key of commits by time; the same in every clone."""
    return commit.commit_date, commit.oid


def _reverts_subject(later: Commit, commit: Commit) -> bool:
    """Whether the subject of `later` is `Revert "SUBJECT"` with the subject of `commit`."""
    return f'Revert "{commit.subject}"' in (later.subject, NUMBER.sub("", later.subject))


def _state_from_message(commit: Commit, later: Commit) -> str:
    """ "reverted", "amended" or "": what `later` did to `commit` according to its message.

    "reverted" if the message has Git's sentence `This reverts commit OID`; "amended" if it names the oid in another
    way; "" if it does not name the oid, only mentions a revert, or if `later` is a merge.
    """
    if len(later.parents) > 1:
        return ""
    state = ""
    message = PICKED.sub("", later.message)
    for match in NAMED.finditer(message):
        if commit.oid.startswith(match[0]):
            before = message[message.rfind("\n", 0, match.start()) + 1 : match.start()]
            if NO_CHANGE.match(before):
                continue
            if REVERTS.fullmatch(before):
                return "reverted"
            if not MENTIONS_REVERT.search(before):
                state = "amended"
    return state
