"""Blame of lines of the work tree, which may not be committed yet, and of files that are stored encrypted.

`git blame --contents` would run the clone's clean filters. So this module compares the file with HEAD's and asks Git
for the blame of HEAD. `git blame --textconv` would run the clone's programs. So this module compares the decrypted
versions of a file itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gitmem.errors import GitFailed
from gitmem.git.objects import BlameLine, is_encrypted
from gitmem.git.repository import Repository, file_at
from gitmem.git.unmerged import WorkTreeReader
from gitmem.messages import Message
from gitmem.sequences import equal_at_start, longest_rising

COMPARED = 1 << 14  # pairs of lines in a block up to which all lines are compared with each other
MAX_BLAMED = 2_000  # versions of an encrypted file that are decrypted
MAX_SPLITS = 16  # nested cuts of a block at lines that occur once on both sides; each costs one pass over the file


def blame_work_tree(repo: Repository, path: str, start: int, end: int) -> list[BlameLine]:
    """Blame of the lines `start` to `end` of a file of the work tree; numbers behind its last line are left out.

    A line that stands unchanged since HEAD gets HEAD's blame; the commit of any other line is all zeros. Raises
    GitFailed if there is no such file or the repository is bare, and the other errors of `worktree.read_bytes`.
    """
    work_lines, head_lines = _work_tree_lines(repo, path), _head_lines(repo, path)
    origin: dict[int, int] = {}  # line -> its number in HEAD
    for before, after, length in same_runs(head_lines, work_lines):
        numbers = range(max(start, after), min(end + 1, after + length))
        origin.update((line, line - after + before) for line in numbers)
    uncommitted = "0" * (64 if repo.object_format == "sha256" else 40)
    blamed = {}
    if origin:
        rows = repo.blame(path, min(origin.values()), max(origin.values()), "HEAD")
        blamed = {row.line: row for row in rows}
    result = []
    for line in range(start, min(end, len(work_lines)) + 1):
        if line in origin:
            result.append(blamed[origin[line]]._replace(line=line))
        else:
            result.append(BlameLine(line, work_lines[line - 1], uncommitted, line))
    return result


def blame_encrypted(reader: Repository, path: str, start: int, end: int, rev: str) -> list[BlameLine] | None:
    """Blame of the lines `start` to `end` of a file that is encrypted at `rev`, from decrypted texts: Git's own blame
    would compare lines of ciphertext.

    Returns None if `rev` has no such file, or if it is not encrypted there or cannot be decrypted. Compares the texts
    of the commits that changed the file, from `rev` back, at most MAX_BLAMED of them; an older line gets the oldest of
    these. Does not follow renames. `reader`: a repository that no other thread uses. Raises UnknownRevision if `rev`
    names no commit.
    """
    commit = reader.resolve(rev)
    oid = reader.blobs(commit, [path]).get(path)
    if oid is None or not all(data and is_encrypted(data) for data in reader.stored([oid])):
        return None
    data = reader.read(oid)
    if is_encrypted(data):
        return None
    return _blamed_lines(reader, path, _lines(data), range(start, end + 1), commit)


def _blamed_lines(repo: Repository, path: str, lines: Sequence[str], numbers: range, commit: str) -> list[BlameLine]:
    """The `numbers` ones of `lines` (the text at `commit`), by number, each with the commit that wrote it."""
    history = repo.simplified_history(commit, path)
    newest = next(iter(history), commit)
    # Commit that is still to be compared with its parents -> {line there: line at the revision asked for}
    open_lines = {newest: {line: line for line in numbers if line <= len(lines)}}
    texts = {newest: lines}
    blamed: dict[int, BlameLine] = {}
    for number, (oid, parents) in enumerate(history.items()):  # children come before their parents
        remaining = open_lines.pop(oid, {})
        text = texts.pop(oid, [])
        if number >= MAX_BLAMED or not remaining:
            parents = []
        for parent in parents:
            if parent not in texts:
                blob = repo.blobs(parent, [path]).get(path)
                texts[parent] = _lines(repo.read(blob)) if blob else []
            for old, new, length in same_runs(texts[parent], text):
                for line in sorted(remaining.keys() & set(range(new, new + length))):
                    open_lines.setdefault(parent, {})[line - new + old] = remaining.pop(line)
        for line, at_rev in remaining.items():
            blamed[at_rev] = BlameLine(at_rev, lines[at_rev - 1], oid, line)
        if not open_lines:
            break
    return [blamed[line] for line in sorted(blamed)]


def same_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of lines that are equal in both texts: (first line in `old`, first line in `new`, number of lines), from
    line 1, in no order.

    Runs do not cross, so a line that both texts have may be in no run. A block is matched at its equal ends, then cut
    at the lines that occur once on both sides (patience diff); a small block is matched by its longest common runs. The
    time is linear in the lines, where SequenceMatcher on a whole file is quadratic if lines repeat.
    """
    blocks = [(0, len(old), 0, len(new), MAX_SPLITS)]
    while blocks:
        first, last, begin, end, splits = blocks.pop()
        head = equal_at_start(old[first:last], new[begin:end])
        if head:
            yield first + 1, begin + 1, head
        first, begin = first + head, begin + head
        tail = equal_at_start(old[first:last][::-1], new[begin:end][::-1])
        if tail:
            yield last - tail + 1, end - tail + 1, tail
        last, end = last - tail, end - tail
        if first == last or begin == end:
            continue
        if (last - first) * (end - begin) <= COMPARED:
            from difflib import SequenceMatcher  # most files differ at one place and do not need it

            matcher = SequenceMatcher(None, old[first:last], new[begin:end], autojunk=False)
            for run in matcher.get_matching_blocks():
                if run.size:
                    yield first + run.a + 1, begin + run.b + 1, run.size
        elif splits:
            anchors = _anchors(old, new, (first, last, begin, end))
            cuts = zip([(first, begin), *anchors], [*anchors, (last, end)], strict=True)
            if anchors:
                blocks += [(a, c, b, d, splits - 1) for (a, b), (c, d) in cuts]


def _anchors(old: Sequence[str], new: Sequence[str], block: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """The longest chain of (place in `old`, place in `new`) of lines that occur once on both sides of a block.

    A place is an index from 0. `block`: first and last place in `old`, first and last place in `new`; the last are
    exclusive. Both places rise along the chain.
    """
    first, last, begin, end = block
    counts = Counter(old[first:last]), Counter(new[begin:end])
    single = {old[index]: index for index in range(first, last) if counts[0][old[index]] == 1 == counts[1][old[index]]}
    pairs = [(single[new[index]], index) for index in range(begin, end) if new[index] in single]
    return [pairs[index] for index in longest_rising([place for place, _ in pairs])]


def _work_tree_lines(repo: Repository, path: str) -> list[str]:
    if repo.root is None:
        raise GitFailed("a bare repository has no work tree to look at", "name a revision")
    try:
        return _lines(WorkTreeReader(repo).read(path))
    except FileNotFoundError:
        raise GitFailed(Message("there is no file '{}' here", path)) from None


def _head_lines(repo: Repository, path: str) -> list[str]:
    head = repo.head()
    if head is None:
        return []
    data = file_at(repo, head, path)
    return _lines(data) if data is not None else []


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
