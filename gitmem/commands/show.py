"""`git mem show`: lines of a memory file, now or then."""

from __future__ import annotations

import click

from gitmem.commands._edge import colour_option, json_option, now, open_here
from gitmem.errors import GitMemError, UsageError
from gitmem.output import colour as coloured
from gitmem.output import escape, paint, write, write_json


@click.command()
@click.argument("place", metavar="PATH[:A-B]")
@click.option("--at", default="", metavar="REV|DATE", help="The file as it was there or then.")
@colour_option
@json_option
def command(place: str, at: str, colour: str, as_json: bool) -> None:
    """Print lines A to B of the memory file PATH, with their numbers.

    Only files of this repository's memory are shown; symbolic links are not followed.

    \b
    git mem show MEMORY.md:10-20
    git mem show memory/2026-02-05.md --at 2026-03-01
    """
    from gitmem.commands._place import lines as parse_place
    from gitmem.document import decode, split_lines
    from gitmem.files import INSTRUCTIONS, is_memory, layout_of
    from gitmem.search import resolve_at
    from gitmem.snapshot import look, tree_files
    from gitmem.worktree import read_bytes

    repo, config = open_here()
    path, first, last = parse_place(repo, place)
    commit = resolve_at(repo, at, now()) if at else "" if repo.root is not None else repo.head() or ""
    missing = GitMemError(f"there is no memory file '{path}'{' at ' + at if at else ''}", "git mem search finds lines")
    if commit:
        files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
        wanted = files.get(path)
        if wanted is None and path in INSTRUCTIONS:
            plain = [entry.oid for entry in repo.entries(commit, [path]) if entry.mode & 0o170000 == 0o100000]
            wanted = plain[0] if plain else None
        if wanted is None:
            raise missing
        oid, data = wanted, repo.read(wanted)
    else:
        assert repo.root is not None
        known = is_memory(path, layout_of([path], config.memory_paths))
        if not known and path not in look(repo, config.memory_paths).files:
            raise missing
        try:
            data = read_bytes(repo.root, path, (1 << 20) + 1)
        except OSError:
            raise missing from None
        oid = repo.hash_blob(data)
    text, problems = decode(data, path)
    if not text and problems:
        raise GitMemError(f"'{path}' {problems[0].message}", problems[0].hint)
    lines = split_lines(text)
    start, end = first or 1, min(last or len(lines), len(lines))
    if start > max(1, len(lines)):
        raise UsageError(f"'{path}' has {len(lines)} lines")
    shown = lines[start - 1 : end]
    if as_json:
        write_json(
            {
                "path": path,
                "at": commit or "worktree",
                "blob": oid,
                "start_line": start,
                "end_line": end,
                "text": "\n".join(shown),
            }
        )
        return
    on = coloured(colour)
    width = len(str(end))
    write(
        "".join(
            f"{paint(f'{number:>{width}}', 'line', on)}  {escape(line, chr(9))}\n"
            for number, line in enumerate(shown, start)
        )
    )
