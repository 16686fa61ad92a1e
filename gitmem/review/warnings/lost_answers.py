"""The warning that search no longer answers a question of `memory/tests.jsonl` that it answered at the base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gitmem.errors import GitMemError
from gitmem.git.objects import REGULAR
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.json_values import json_keys
from gitmem.memory.document import blob_lines
from gitmem.plural import counted
from gitmem.review.markup import Links, cut_as_code, text_as_code
from gitmem.review.page import Row
from gitmem.review.warnings.warning import CheckRow, Range, Remark, ReviewWarning

TESTS = "memory/tests.jsonl"
MAX_LOST_LINES = 5  # shown for one question that is no longer answered
MAX_QUESTIONS = 200  # asked of the tests file, so that a pull request cannot make its own check slow
MAX_TESTS_BYTES = 1 << 20  # of the tests file; a larger one is ignored


@json_keys("query=question path line text now?")
@dataclass(frozen=True, slots=True)
class LostLine:
    """A line that answered `question` at the base. `line`: its number at the base. `now`: the number of the line with
    the same text at the head, 0 for none."""

    question: str
    path: str
    line: int
    text: str
    now: int


@json_keys("questions before after gained lost lost_lines")
@dataclass(frozen=True, slots=True)
class LostAnswers(ReviewWarning):
    """The results of the questions that the tests of both commits have.

    `questions`: how many were asked. `before`, `after`: hit@5 at the base and at the head, the share (0..1) of
    questions with a right line among the first five hits. `gained`, `lost`: questions answered only at the head, only
    at the base. `lost_lines`: the lines that answered the lost questions."""

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

    def checked(self) -> Iterator[CheckRow]:
        if self.questions:
            words = f"hit@5 {self.before:.3f} → {self.after:.3f}, {counted(len(self.lost), 'question')} lost"
            yield CheckRow(not self.lost, f"Search: {counted(self.questions, 'question')}", words)

    def rows(self, links: Links) -> Iterator[Row]:
        for question in self.lost:
            lines = [f"**lost**: {text_as_code(question)}"]
            for line in self.lost_lines:
                if line.question == question:
                    new_place = "it is gone"
                    if line.now:
                        new_place = f"it stands at {links.line(line.path, line.now)}"
                    old_place = links.line(line.path, line.line, links.base)
                    lines.append(f"  - answered by {cut_as_code(line.text)[0]} ({old_place}); {new_place}")
            yield Row("\n".join(lines), short=lines[0])
        for question in self.gained:
            yield Row(f"gained: {text_as_code(question)}")

    def remarks(self) -> Iterator[Remark]:
        if self.lost:
            words = f"search no longer answers {len(self.lost)} of {self.questions} questions"
            yield Remark(TESTS, 1, "recall", words)

    @property
    def found(self) -> LostAnswers | None:
        """The value for the JSON: this warning, or None when no question was asked at both commits."""
        return self if self.questions else None


def check(commits: Range) -> LostAnswers:
    """Search, at each commit, at most MAX_QUESTIONS questions that the tests of both commits have; empty without a
    base.

    `notes` tell how many questions the change removed, or that a tests file is broken (then nothing is searched), so
    that a change cannot hide a lost answer.
    """
    repo, config, base, head = commits.repo, commits.config, commits.base, commits.head
    if not base:
        return LostAnswers()
    old_tests, new_tests = _tests(repo, base), _tests(repo, head)
    if not old_tests and not new_tests:
        return LostAnswers()
    from gitmem.search import evaluation
    from gitmem.search.search import Query

    try:
        old, new = (
            {row.query: row for row in evaluation.read_questions(t)} if t else {} for t in (old_tests, new_tests)
        )
    except GitMemError as error:
        return LostAnswers(notes=(f"{TESTS}: {error.message}",))
    queries = [query for query in old if query in new]
    notes: tuple[str, ...] = ()
    removed = len(old) - len(queries)
    if removed:
        notes = (f"{TESTS} no longer asks {removed} of {counted(len(old), 'question')}",)
    queries = queries[:MAX_QUESTIONS]
    if not queries:
        return LostAnswers(notes=notes)
    runs = [
        evaluation.run_questions(
            repo, config, [rows[query] for query in queries], Query("", commit=commit), commits.now, commits.clock
        )
        for rows, commit in ((old, base), (new, head))
    ]
    gained, lost = evaluation.gained_and_lost(runs[0], runs[1])
    before, after = (sum(result.figures["hit@5"] for result in run) / len(queries) for run in runs)
    places = [(query, place) for query in lost for place in old[query].relevant]
    lines = tuple(_lost_lines(repo, base, head, places))
    return LostAnswers(len(queries), before, after, tuple(gained), tuple(lost), lines, notes)


def _lost_lines(
    repo: Repository, base: str, head: str, places: Sequence[tuple[str, tuple[str, int, int]]]
) -> Iterator[LostLine]:
    """The lines that answered at `base`, blank ones left out, at most MAX_LOST_LINES for one question. `places`:
    (question, (path, first line, last line))."""
    paths = sorted({path for _, (path, _, _) in places})
    old_blobs, new_blobs = repo.blobs(base, paths), repo.blobs(head, paths)
    oids = {*old_blobs.values(), *new_blobs.values()}
    lines_of = {oid: blob_lines(data) for oid, data in read_small_blobs(repo, ((oid, oid) for oid in oids))}
    counts: Counter[str] = Counter()
    for question, (path, first, last) in places:
        old_lines = lines_of.get(old_blobs.get(path, ""), [])
        new_lines = lines_of.get(new_blobs.get(path, ""), [])
        for number in range(first, min(last, len(old_lines)) + 1):
            text = old_lines[number - 1]
            if text.strip() and counts[question] < MAX_LOST_LINES:
                counts[question] += 1
                new_number = new_lines.index(text) + 1 if text in new_lines else 0
                yield LostLine(question, path, number, text.strip(), new_number)


def _tests(repo: Repository, commit: str) -> str:
    """The text of the tests file at a commit; "" when there is none or it is above MAX_TESTS_BYTES."""
    for entry in repo.entries(commit, [TESTS]):
        is_small = repo.sizes([entry.oid]).get(entry.oid, 0) <= MAX_TESTS_BYTES
        if entry.path == TESTS and entry.mode == REGULAR and is_small:
            return repo.read(entry.oid).decode("utf-8", "replace")
    return ""
