"""Where a text that was taken out of long-term memory still stands: logs, episodes, archives and notes say it too.

Reads the work tree only. History and other clones are not looked at: they hold the text in any case.
"""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise
from gitmem.memory.facts import parse_lines
from gitmem.memory.files import read_memory_file
from gitmem.memory.snapshot import read_work_tree
from gitmem.provenance.corrections import Removal


def remaining_lines(repo: Repository, config: Config, taken: Removal) -> list[tuple[str, int]]:
    """(path, line) of every statement of memory that says the text of `taken`, by its first line, of every other line
    that does, and of the source lines it was taken from.

    In the order of paths and lines; a file that cannot be read is left out.
    """
    wanted = normalise(taken.fact.text).casefold()
    cited = source_texts(repo, taken)
    places = []
    for path in sorted(read_work_tree(repo, config.memory_paths).files):
        try:
            lines = blob_lines(read_memory_file(repo, config, path))
        except (GitMemError, OSError):
            continue
        says = {fact.line for fact in parse_lines(lines).facts if wanted in fact.text.casefold()}
        for number, line in enumerate(lines, 1):
            text = normalise(line).casefold()
            if number in says or wanted in text or (path, text) in cited:
                places.append((path, number))
    return places


def source_texts(repo: Repository, taken: Removal) -> set[tuple[str, str]]:
    """(path, text) of the lines that the fact cites, as they were when it did."""
    texts = set()
    for span in taken.sources:
        oid = None
        if span.blob:
            oid = repo.find_blob(span.path, span.blob)
        data = None
        if oid:
            data = next(iter(repo.read_many([oid])))[1]
        for line in blob_lines(data)[span.start_line - 1 : span.end_line] if data else ():
            if text := normalise(line).casefold():
                texts.add((span.path, text))
    return texts
