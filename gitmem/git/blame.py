"""Who wrote a line of the work tree that may not be committed yet, or of a file that is stored encrypted.

`git blame --contents` would run the clone's clean filters: the file is compared with HEAD's here, and Git asked of HEAD
alone. `git blame --textconv` would run the clone's programs: encrypted versions are compared here as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import ne

from gitmem.errors import GitFailed
from gitmem.git.objects import BlameLine, is_encrypted
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.messages import Message

COMPARED = 1 << 14  # pairs of lines of a block that are compared each with each; of a larger one only its ends
MAX_BLAMED = 2_000  # versions of an encrypted file that are decrypted to say who wrote its lines
SPLITS = 16  # times a block is cut at lines that stand once on both sides: each costs one pass over the file


def blame_work_tree(repo: Repository, path: str, start: int, end: int) -> list[BlameLine]:
    """Lines `start`..`end` of a file of the work tree, each with what HEAD's blame says of the line it was there; the
    oid of a line that HEAD has not is all zeros. Raises GitFailed where there is no such file."""
    now, then = _work_tree_lines(repo, path), _head_lines(repo, path)
    origin: dict[int, int] = {}
    for before, after, length in same_runs(then, now):
        wanted = range(max(start, after), min(end + 1, after + length))
        origin.update((line, line - after + before) for line in wanted)
    nobody = "0" * (64 if repo.object_format == "sha256" else 40)
    blamed = {}
    if origin:
        rows = repo.blame(path, min(origin.values()), max(origin.values()), "HEAD")
        blamed = {row.line: row for row in rows}
    result = []
    for line in range(start, min(end, len(now)) + 1):
        if line in origin:
            result.append(blamed[origin[line]]._replace(line=line))
        else:
            result.append(BlameLine(line, now[line - 1], nobody, line))
    return result


def blame_encrypted(reader: Repository, path: str, start: int, end: int, rev: str) -> list[BlameLine] | None:
    """As `Repository.blame`, of a file that is encrypted at `rev`: Git's own blame would count lines of ciphertext.

    None where the file is not encrypted there or its text cannot be read. The texts of the commits that changed the
    file are compared here, from `rev` back; a rename ends the search, and a line older than MAX_BLAMED versions counts
    as written by the last one that was read. `reader`: a repository that no other thread uses.
    """
    commit = reader.resolve(rev)
    oid = reader.blobs(commit, [path]).get(path)
    if oid is None or not all(data and is_encrypted(data) for data in reader.stored([oid])):
        return None
    data = reader.read(oid)
    if is_encrypted(data):
        return None
    return _blamed_lines(reader, path, _lines(data), range(start, end + 1), commit)


def _blamed_lines(repo: Repository, path: str, lines: Sequence[str], wanted: range, commit: str) -> list[BlameLine]:
    """Each wanted line with the commit that wrote it."""
    parents = repo.simplified_history(commit, path)
    first = next(iter(parents), commit)
    # Of each commit that is still to be looked at: its line -> the line at the revision asked for.
    open_lines = {first: {line: line for line in wanted if line <= len(lines)}}
    texts = {first: lines}
    blamed: dict[int, BlameLine] = {}
    for number, (oid, before) in enumerate(parents.items()):  # children stand before their parents
        left = open_lines.pop(oid, {})
        text = texts.pop(oid, [])
        for parent in before if number < MAX_BLAMED and left else ():
            if parent not in texts:
                there = repo.blobs(parent, [path]).get(path)
                if there:
                    texts[parent] = _lines(repo.read(there))
                else:
                    texts[parent] = []
            for old, new, length in same_runs(texts[parent], text):
                for line in sorted(left.keys() & set(range(new, new + length))):
                    open_lines.setdefault(parent, {})[line - new + old] = left.pop(line)
        for line, asked in left.items():
            blamed[asked] = BlameLine(asked, lines[asked - 1], oid, line)
        if not open_lines:
            break
    return [blamed[line] for line in sorted(blamed)]


def same_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The lines that were kept, as runs of (first line in `old`, first line in `new`, how many lines); none cross.

    Equal ends, then the lines that stand once on either side (patience diff), then small blocks by longest common
    runs. In time linear in the lines: SequenceMatcher on a whole file is quadratic where lines repeat.
    """
    blocks = [(0, len(old), 0, len(new), SPLITS)]
    while blocks:
        first, last, begin, end, splits = blocks.pop()
        head = _equal(old[first:last], new[begin:end])
        if head:
            yield first + 1, begin + 1, head
        first, begin = first + head, begin + head
        tail = _equal(old[first:last][::-1], new[begin:end][::-1])
        if tail:
            yield last - tail + 1, end - tail + 1, tail
        last, end = last - tail, end - tail
        if first == last or begin == end:
            continue
        if (last - first) * (end - begin) <= COMPARED:
            from difflib import SequenceMatcher  # most files differ at one place: not every question waits for it

            matcher = SequenceMatcher(None, old[first:last], new[begin:end], autojunk=False)
            for run in matcher.get_matching_blocks():
                if run.size:
                    yield first + run.a + 1, begin + run.b + 1, run.size
        elif splits:
            anchors = _anchors(old, new, (first, last, begin, end))
            cuts = zip([(first, begin), *anchors], [*anchors, (last, end)], strict=True)
            if anchors:
                blocks += [(a, c, b, d, splits - 1) for (a, b), (c, d) in cuts]


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines the two have in common at their beginning, without a loop of ours."""
    return next(compress(count(), map(ne, old, new)), min(len(old), len(new)))


def _anchors(old: Sequence[str], new: Sequence[str], block: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Places of lines that stand once on both sides of a block (first, last, begin, end), rising on both: the longest
    such chain."""
    first, last, begin, end = block
    counts = Counter(old[first:last]), Counter(new[begin:end])
    single = {old[at]: at for at in range(first, last) if counts[0][old[at]] == 1 == counts[1][old[at]]}
    pairs = [(single[new[at]], at) for at in range(begin, end) if new[at] in single]
    ends: list[int] = []  # the lowest old place that ends a chain of each length
    chains: list[int] = []  # of each pair: the index of its chain's last but one pair, -1 for none
    tops: list[int] = []  # the pair that `ends` is about
    for number, (place, _) in enumerate(pairs):
        length = bisect_left(ends, place)
        chains.append(tops[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        tops[length : length + 1] = [number]
    anchors = []
    if tops:
        at = tops[-1]
    else:
        at = -1
    while at >= 0:
        anchors.append(pairs[at])
        at = chains[at]
    return anchors[::-1]


def _work_tree_lines(repo: Repository, path: str) -> list[str]:
    if repo.root is None:
        raise GitFailed("a bare repository has no work tree to look at", "name a revision")
    try:
        return _lines(read_bytes(repo.root, path))
    except FileNotFoundError:
        raise GitFailed(Message("there is no file '{}' here", path)) from None


def _head_lines(repo: Repository, path: str) -> list[str]:
    head = repo.head()
    oid = None
    if head:
        oid = repo.blobs(head, [path]).get(path)
    if not oid:
        return []
    return _lines(repo.read(oid))


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
