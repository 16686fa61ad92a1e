"""Finds the lines of logs, episodes and notes that still have a text after its removal from long-term memory.

Reads the work tree only; history and other clones keep the text in any case.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise
from gitmem.memory.facts import parse_lines
from gitmem.memory.files import read_memory_file
from gitmem.memory.snapshot import read_work_tree
from gitmem.provenance.cited_sources import lines_of_span
from gitmem.provenance.corrections import Removal
from gitmem.provenance.forgotten_texts import forgotten_texts


def remaining_lines(repo: Repository, config: Config, removal: Removal) -> list[tuple[str, int]]:
    """(path, line) of each line of memory that contains the text of `removal`, in any case, and of each line that
    equals one of its source lines, in the order of paths and lines.

    A statement of several lines counts as its first line. Unreadable files are left out.
    """
    fact_text = normalise(removal.fact.text).casefold()
    cited = source_texts(repo, removal)
    places = []
    for path in sorted(read_work_tree(repo, config.memory_paths).files):
        try:
            lines = blob_lines(read_memory_file(repo, config, path))
        except (GitMemError, OSError):
            continue
        matching = {fact.line for fact in parse_lines(lines).facts if fact_text in fact.text.casefold()}
        for number, line in enumerate(lines, 1):
            text = normalise(line).casefold()
            if number in matching or fact_text in text or (path, text) in cited:
                places.append((path, number))
    return places


def shown_lines(repo: Repository, config: Config, places: Sequence[tuple[str, int]]) -> set[tuple[str, int]]:
    """Those of `places` (path, line) that searches still show whole: no forgotten text of HEAD begins on the line."""
    forgotten = forgotten_texts(repo)
    shown = set()
    for path in {path for path, _ in places}:
        lines = blob_lines(read_memory_file(repo, config, path))
        masked = forgotten.lines(lines)
        shown |= {(file, number) for file, number in places if file == path and masked[number - 1] == lines[number - 1]}
    return shown


def source_texts(repo: Repository, removal: Removal) -> set[tuple[str, str]]:
    """(path, text) of the source lines of the removed fact, as it cites them; texts are normalised and case-folded."""
    rows = ((span.path, normalise(line).casefold()) for span in removal.sources for line in lines_of_span(repo, span))
    return {(path, text) for path, text in rows if text}
