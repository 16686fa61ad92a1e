"""The warning that search no longer answers a question of `memory/tests.jsonl` that it answered before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gitmem.errors import GitMemError
from gitmem.git.objects import REGULAR
from gitmem.git.repository import Repository
from gitmem.json_values import json_object
from gitmem.memory.document import blob_lines
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted
from gitmem.review.markup import Links, quoted, shown
from gitmem.review.page import Row
from gitmem.review.warnings.warning import Checked, Range, Remark, ReviewWarning

TESTS = "memory/tests.jsonl"
LOST = 5  # lines of one question that is no longer answered
QUESTIONS = 200  # of the tests file that are asked: a pull request must not make its own check long


@dataclass(frozen=True, slots=True)
class LostLine:
    """A line that answered `question` at the base: its text there, and where that text stands now (0: nowhere)."""

    question: str
    path: str
    line: int
    text: str
    now: int


@dataclass(frozen=True, slots=True)
class LostAnswers(ReviewWarning):
    """hit@5 over the questions both commits' tests have, and those whose answer came or went."""

    key: ClassVar[str] = "recall"
    title: ClassVar[str] = "Search"
    noun: ClassVar[str] = "question"
    questions: int = 0
    before: float = 0.0
    after: float = 0.0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    lost_lines: tuple[LostLine, ...] = ()
    notes: tuple[str, ...] = ()

    def points(self) -> int:
        return len(self.lost)

    def checked(self) -> Iterator[Checked]:
        if self.questions:
            words = f"hit@5 {self.before:.3f} → {self.after:.3f}, {counted(len(self.lost), 'question')} lost"
            yield Checked(not self.lost, f"Search: {counted(self.questions, 'question')}", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for question in self.lost:
            parts = [f"**lost**: {quoted(question)}"]
            for line in self.lost_lines:
                if line.question == question:
                    now = "it is gone"
                    if line.now:
                        now = f"it stands at {links.line(line.path, line.now)}"
                    there = links.line(line.path, line.line, links.base)
                    parts.append(f"  - answered by {shown(line.text)[0]} ({there}); {now}")
            yield Row("\n".join(parts), short=parts[0])
        for question in self.gained:
            yield Row(f"gained: {quoted(question)}")

    def remarks(self) -> Iterator[Remark]:
        if self.lost:
            words = f"search no longer answers {len(self.lost)} of {self.questions} questions"
            yield Remark(TESTS, 1, "recall", words)

    def as_value(self) -> dict[str, Any] | None:
        """None where both commits share no question."""
        if not self.questions:
            return None
        lost_lines = [{"query": row.question} | json_object(row, "path line text now?") for row in self.lost_lines]
        return json_object(self, "questions before after gained lost") | {"lost_lines": lost_lines}


def check(commits: Range) -> LostAnswers:
    """What search finds at both ends, and in `notes` what of the base's questions was not asked: a change that takes a
    question out, or breaks their file, hides nothing by it."""
    repo, config, base, head = commits.repo, commits.config, commits.base, commits.head
    if base:
        texts = [_tests(repo, commit) for commit in (base, head)]
    else:
        texts = []
    if not any(texts):
        return LostAnswers()
    from gitmem.search import evaluation
    from gitmem.search.search import Query

    try:
        asked = [{row.query: row for row in evaluation.read(text)} if text else {} for text in texts]
    except GitMemError as error:
        return LostAnswers(notes=(f"{TESTS}: {error.message}",))
    both = [query for query in asked[0] if query in asked[1]]
    gone = len(asked[0]) - len(both)
    notes = (f"{TESTS} no longer asks {gone} of {counted(len(asked[0]), 'question')}",) if gone else ()
    both = both[:QUESTIONS]
    if not both:
        return LostAnswers(notes=notes)
    runs = [
        evaluation.run(
            repo, config, [rows[query] for query in both], Query("", commit=commit), commits.now, commits.clock
        )
        for rows, commit in zip(asked, (base, head), strict=True)
    ]
    gained, lost = evaluation.gained_and_lost(runs[0], runs[1])
    before, after = (sum(r.figures["hit@5"] for r in rows) / len(both) for rows in runs)
    places = [(query, place) for query in lost for place in asked[0][query].relevant]
    lines = tuple(_lost_lines(repo, base, head, places))
    return LostAnswers(len(both), before, after, tuple(gained), tuple(lost), lines, notes)


def _lost_lines(
    repo: Repository, base: str, head: str, places: Sequence[tuple[str, tuple[str, int, int]]]
) -> Iterator[LostLine]:
    """The lines that answered at `base`: each that is not blank, at most LOST of one question."""
    paths = sorted({path for _, (path, _, _) in places})
    oids = [repo.blobs(commit, paths) for commit in (base, head)]
    sizes = repo.sizes([oid for side in oids for oid in side.values()])
    texts = {oid: blob_lines(repo.read(oid)) for oid, size in sizes.items() if size <= MAX_MEMORY_FILE_BYTES}
    told: Counter[str] = Counter()
    for question, (path, first, last) in places:
        before = texts.get(oids[0].get(path, ""), [])
        after = texts.get(oids[1].get(path, ""), [])
        for number in range(first, min(last, len(before)) + 1):
            text = before[number - 1]
            if text.strip() and told[question] < LOST:
                told[question] += 1
                yield LostLine(question, path, number, text.strip(), after.index(text) + 1 if text in after else 0)


def _tests(repo: Repository, commit: str) -> str:
    for entry in repo.entries(commit, [TESTS]):
        if entry.path == TESTS and entry.mode == REGULAR and repo.sizes([entry.oid]).get(entry.oid, 0) <= 1 << 20:
            return repo.read(entry.oid).decode("utf-8", "replace")
    return ""
