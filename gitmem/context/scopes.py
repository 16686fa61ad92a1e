"""Opens the memories of a context as scopes, broad to narrow: organisation, person, project and session.

The memories of the organisation and the person are other Git repositories: paths or URLs with a ref, named in the
user's own configuration. A URL is mirrored as a bare clone in the cache folder, which is used offline too. Reads only.
`other_memories` turns a memory that cannot be loaded into a scope with an `error`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path

from gitmem.claims.cited_code import changed_code
from gitmem.config import Config
from gitmem.context.context_request import Scope
from gitmem.context.layers import Recalled, RecalledHit
from gitmem.context.open_pairs import PairSource
from gitmem.context.size_limits import UNCOMMITTED
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean, fetch_mirror, is_url, mirror_of
from gitmem.git.unmerged import WorkTreeReader, our_versions
from gitmem.memory import facts
from gitmem.memory.document import Document, parse
from gitmem.memory.fact import IMPORTANCE, Fact, parse_comment
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.memory.snapshot import joined_notes, sparse_memory_paths, words_on_conflicts, words_on_sparse_checkout
from gitmem.memory.state import iso_day
from gitmem.paths import MAX_MEMORY_FILE_BYTES, NOTHING_ELSE, Kind, is_memory, kind, layout_of, more_than_memory
from gitmem.search import hits
from gitmem.search import search as searching
from gitmem.sessions.working_memory import Value

MAX_RECALLED_HITS = 60  # hits of one search in a scope
FRESH_HOURS = 24  # hours for which a mirror is not fetched again


def project_scope(
    repo: Repository, config: Config, now: datetime, name: str = "project", commit: str = "", history: bool = False
) -> Scope:
    """The scope of this repository's memory files, in the work tree, or at `commit` if it is not "".

    A bare repository, or a sparse checkout without its memory files, is read at HEAD; before the first commit a bare
    one gives an empty scope. The scope's `note` says what a sparse checkout leaves out. `now`: the present moment for
    searches. `history`: recall commits too, if the repository has files other than memory or the settings name
    repositories for it.
    """
    head = commit or repo.head() or ""
    if commit or repo.root is None:
        if head:
            return _commit_scope(repo, config, now, name, head, history=history)
        return Scope(name)
    ours = our_versions(repo)
    reader = WorkTreeReader(repo, ours)
    present = {entry.path for entry in repo.staged() if entry.is_file} | set(repo.untracked())
    layout = layout_of(present, config.memory_paths)
    paths = tuple(sorted(path for path in present if is_memory(path, layout)))
    conflicts = [path for path in ours if is_memory(path, layout)]
    outside = sparse_memory_paths(repo, config.memory_paths)
    if head and outside and set(outside) == set(paths):
        at_head = _commit_scope(repo, config, now, name, head, history=history)
        return replace(at_head, note=words_on_sparse_checkout(len(outside), whole=True))
    cache: dict[str, Document | None] = {}
    shown = _forgotten_mask(repo)

    def read(path: str) -> Document | None:
        if path not in cache:
            try:
                cache[path] = parse(shown(reader.read(path, MAX_MEMORY_FILE_BYTES + 1), path), path)
            except (OSError, OutsideRepository):
                cache[path] = None
        return cache[path]

    def lines(path: str) -> Sequence[str]:
        try:
            return reader.read(path, MAX_MEMORY_FILE_BYTES + 1).decode("utf-8", "surrogateescape").split("\n")
        except (OSError, OutsideRepository):
            return ()

    note = joined_notes(words_on_sparse_checkout(len(outside)), words_on_conflicts(conflicts))
    query = _recall_query("", config, present, history=history)
    return Scope(
        name, paths, read, lambda asked: recalled_hits(repo, config, query._replace(text=asked), now, lines),
        commit=head, committed_lines=lambda wanted: _committed_lines(repo, head, wanted, lines),
        log_patterns=config.memory_daily, forgotten_ids=lambda: forgotten_ids(repo, head),
        cited_code=lambda values: changed_code(repo, values), own_folders=_own_folders(config),
        pairs=_pair_source(repo, config, now, name, ""), note=note,
    )  # fmt: skip


def _committed_lines(
    repo: Repository, head: str, paths: Sequence[str], lines: Callable[[str], Sequence[str]]
) -> dict[str, frozenset[str]]:
    """For each path whose file differs from the commit `head`, the lines that it has there. `head`: "" before the first
    commit. `lines`: returns the lines of a file of the work tree."""
    committed_oids = {entry.path: entry.oid for entry in repo.entries(head, paths)} if head else {}
    texts: dict[str, frozenset[str]] = {}
    for path in paths:
        oid = committed_oids.get(path)
        if oid is None or repo.hash_blob("\n".join(lines(path)).encode("utf-8", "surrogateescape")) != oid:
            text = repo.read(oid).decode("utf-8", "replace") if oid else ""
            texts[path] = frozenset(line.strip() for line in text.split("\n"))
    return texts


def _commit_scope(
    repo: Repository, config: Config, now: datetime, name: str, commit: str, history: bool = False
) -> Scope:
    """The scope of the memory files in the tree of `commit`; the work tree is not read. `history`: as in
    `project_scope`."""
    entries = {e.path: e.oid for e in repo.entries(commit) if e.is_file}
    layout = layout_of(entries, config.memory_paths)
    paths = tuple(sorted(path for path in entries if is_memory(path, layout)))
    sizes = repo.sizes([entries[path] for path in paths])
    shown, now_there = _forgotten_mask(repo), commit == repo.head()

    def read(path: str) -> Document | None:
        oid = entries.get(path)
        if oid is None or sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
            return None
        return parse(shown(repo.read(oid), path if now_there else ""), path)

    def lines(path: str) -> Sequence[str]:
        if path not in entries:
            return ()
        return repo.read(entries[path]).decode("utf-8", "replace").split("\n")

    query = _recall_query(commit, config, entries, history=history)
    return Scope(
        name, paths, read, lambda asked: recalled_hits(repo, config, query._replace(text=asked), now, lines),
        commit=commit, log_patterns=config.memory_daily, forgotten_ids=lambda: forgotten_ids(repo, commit),
        cited_code=lambda values: changed_code(repo, values, commit), own_folders=_own_folders(config),
        pairs=_pair_source(repo, config, now, name, commit),
    )  # fmt: skip


def _pair_source(repo: Repository, config: Config, now: datetime, name: str, commit: str) -> PairSource:
    """What the open pairs of a scope need. Only the project's judgements are cached on disk: the Git directories of
    other memories are not ours to write. `commit`: "" for the work tree."""
    state = repo.common_dir / "gitmem" if name == "project" else None
    return PairSource(partial(_days_of_lines, repo, commit, now.date()), state, config.memory_daily)


def _days_of_lines(repo: Repository, commit: str, today: date, path: str, lines: Sequence[int]) -> dict[int, str]:
    """Line -> the ISO day of the commit that wrote it; `today` for an uncommitted line. {} if Git cannot tell.
    `commit`: "" for the work tree."""
    if not lines:
        return {}
    try:
        blamed = repo.blame(path, min(lines), max(lines), commit)
        commits = {row.line: row.commit for row in blamed if row.line in set(lines)}
        days = {oid: repo.commit(oid).author_date.date() for oid in set(commits.values()) if oid.strip("0")}
    except GitMemError:  # no commit has the file
        return {}
    return {line: days.get(oid, today).isoformat() for line, oid in commits.items()}


def _own_folders(config: Config) -> tuple[str, ...]:
    """The folders whose memory belongs to the whole repository: those of the daily logs if `git mem init --in` set
    NOTHING_ELSE in `memory_paths`, else none.
    """
    folders = (pattern.rpartition("/")[0] for pattern in config.memory_daily)
    if NOTHING_ELSE not in config.memory_paths:
        return ()
    return tuple(filter(None, folders))


def _forgotten_mask(repo: Repository) -> Callable[[bytes, str], bytes]:
    """A function from (bytes of a file, path) to the bytes with forgotten texts masked. A MEMORY.md is returned
    unchanged; the path "" stands for a file of an old commit, which is always masked."""
    from gitmem.provenance.forgotten_texts import forgotten_texts

    cache: list[Forgotten] = []

    def shown(data: bytes, path: str) -> bytes:
        if kind(path) is Kind.MEMORY:
            return data
        if not cache:
            cache.append(forgotten_texts(repo))
        if not cache[0]:
            return data
        return cache[0].masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    return shown


def forgotten_ids(repo: Repository, commit: str) -> frozenset[str]:
    """The ids of the texts that a person had forgotten, by the records in the history of `commit`; empty for ""."""
    from gitmem.provenance.forgotten_texts import forgotten_texts

    if not commit:
        return frozenset()
    return forgotten_texts(repo, commit).ids


def session_scope(repo: Repository, values: Sequence[Value]) -> Scope:
    """The scope with the working values of a session. A value that is a forgotten text is left out; others are
    masked."""
    from gitmem.provenance.forgotten_texts import forgotten_texts

    forgotten = forgotten_texts(repo) if values else NOTHING
    kept = (value for value in values if not forgotten.is_removed_text(value.text))
    return Scope("session", values=tuple((value.key, forgotten.masked(value.text)) for value in kept))


def _recall_query(commit: str, config: Config, present: Collection[str], *, history: bool) -> searching.Query:
    """A query without text for MAX_RECALLED_HITS hits in files, and in commits too if `project_scope` recalls them for
    this `history`. `commit`: "" for the work tree. `present`: all paths there."""
    history = history and (bool(config.history_repos) or more_than_memory(present))
    return searching.Query(
        "", limit=MAX_RECALLED_HITS, commit=commit, everything=True, history="known" if history else "",
        promoted_lines=True,  # the facts of MEMORY.md have a layer of their own
    )  # fmt: skip


def recalled_hits(
    repo: Repository, config: Config, query: searching.Query, now: datetime, lines: Callable[[str], Sequence[str]]
) -> Recalled:
    """The hits of `query` in a memory, without its forgotten texts. `lines`: returns the lines of a file, from which
    the importance of a hit is read. Raises the errors of `searching.search`, all GitMemError."""
    from gitmem.provenance.forgotten_texts import forgotten_texts

    answer = searching.search(repo, config, query._replace(forgotten=forgotten_texts(repo)), now)
    recalled = [_commit_hit(hit) if hit.kind else _file_hit(hit, lines(hit.path)) for hit in answer.hits]
    return Recalled(recalled, answer.chunks)


def _file_hit(hit: hits.Hit, lines: Sequence[str]) -> RecalledHit:
    """A search hit in a file as a RecalledHit. `lines`: all lines of that file."""
    return RecalledHit(
        path=hit.path, start_line=hit.start_line, end_line=hit.end_line, heading=hit.heading, text=hit.text,
        score=hit.score, day=iso_day(hit.date), trust=UNCOMMITTED if hit.trust == UNCOMMITTED else "",
        importance=_importance(lines[hit.start_line - 1 : hit.end_line]), until=hit.until, names=hit.names,
    )  # fmt: skip


def _commit_hit(hit: hits.Hit) -> RecalledHit:
    """A search hit in a commit as a RecalledHit; `commit_line` has its repository (if another one), id, day, author,
    subject and state."""
    became = f" ({hit.state} by {hit.by[:12]})" if hit.state else ""
    repository = f"{hit.repository} " if hit.repository else ""
    author = hit.author.rpartition(" <")[0] or hit.author
    commit_line = f"{repository}{hit.commit[:12]} {hit.date} {author}: {hit.subject}{became}"
    text = "\n".join(line for line in hit.text.split("\n") if line.strip() != hit.subject.strip()).strip("\n")
    return RecalledHit(
        path="", start_line=0, end_line=0, heading="", text=text, score=hit.score, day=iso_day(hit.date),
        commit=hit.commit, commit_line=commit_line, subject=hit.subject,
    )  # fmt: skip


def _importance(lines: Sequence[str]) -> float:
    """The highest importance, 0..1, in the metadata of the lines; the default if no line states one."""
    stated = [parse_comment(line)[1] for line in lines if "importance=" in line]
    return max((facts.importance(Fact("", "", 0, meta=meta)) for meta in stated), default=IMPORTANCE)


def other_memories(
    repo: Repository, config: Config, environ: Mapping[str, str], cache: Path, now: datetime
) -> tuple[list[Scope], list[Repository]]:
    """(the scopes of the organisation's and the person's memory that are configured, broad first; their repositories,
    which the caller closes).

    If both settings name one repository, or the project itself, it is read in the narrowest scope; the other scope is
    empty and its note says so. A memory that cannot be opened is a scope with its error.
    """
    scopes: list[Scope] = []
    opened: list[Repository] = []
    names_by_folder = {repo.common_dir.resolve(): "project"}
    for name, address in (("user", config.personal), ("organisation", config.organisation)):
        if not address:
            continue
        try:
            scope, memory = open_memory(name, address, config, environ, cache, now)
            opened.append(memory)
            earlier_name = names_by_folder.setdefault(memory.common_dir.resolve(), name)
            if earlier_name != name:
                scope = Scope(name, note=f"it is the {earlier_name} memory itself", commit=scope.commit)
            scopes.append(scope)
        except (GitMemError, OSError) as error:
            if isinstance(error, GitMemError):
                reason = error.message
            else:
                reason = str(error.strerror)
            scopes.append(Scope(name, error=reason))
    return scopes[::-1], opened


def open_memory(
    name: str, address: str, config: Config, environ: Mapping[str, str], cache: Path, now: datetime
) -> tuple[Scope, Repository]:
    """(the scope of another memory, its repository, which the caller closes).

    `name`: of the scope. `address`: `PATH` or `URL`, with `#REF` for a ref other than HEAD. The files of the commit are
    read; for the scope "user" and a PATH without REF, those of the work tree. A URL is read from its mirror in the
    folder `cache`, which is fetched if it is older than FRESH_HOURS; an old mirror that could not be fetched is used,
    and the scope's `note` tells its age. Raises GitMemError, OSError.
    """
    place, _, ref = address.partition("#")
    note = ""
    if is_url(place):
        folder = mirror_of(place, cache)
        age = fetch_mirror(place, folder, clean(environ), now, FRESH_HOURS)
        if age > FRESH_HOURS:
            note = f"last copy, {age:.0f} hours old"
        place = str(folder)
    repo = open_repository(Path(os.path.expanduser(place)), clean(environ))
    try:
        if name == "user" and not ref and not is_url(address) and repo.root is not None:
            return project_scope(
                repo, config, now, name
            ), repo  # uncommitted lines of the person's own memory count too
        commit = repo.resolve(ref or "HEAD")
        return replace(_commit_scope(repo, config, now, name, commit), note=note), repo
    except GitMemError:
        repo.close()
        raise
