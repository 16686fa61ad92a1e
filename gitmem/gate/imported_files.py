"""Finds the files of a tree that agents read only because another file names them.

A file is named by `@path` or `@{path}` in a file that agents read, by `#file:path` or a link in a file of Copilot, as
instructions in a host's settings, or by lying below the folder of a SKILL.md or in a folder that a plugin of Claude
Code has. Only the files that can name others are read. A file found by mistake costs one scan; a missed one is never
scanned. So settings are searched for strings instead of parsed, and paths are compared without regard to case.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from gitmem.agent_paths import IMPORTING
from gitmem.gate.blob_reading import BlobPlace
from gitmem.git.objects import LINKS, Entry
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.json_values import parse_json
from gitmem.lazy_patterns import lazy
from gitmem.paths import LEADING_KEYS, LEADING_SETTINGS, TEXT_ENDINGS, agents_read

MAX_IMPORT_DEPTH = 5  # levels of imports within imports that are followed, as in Claude Code
MAX_LEADING = 500  # files that are read for the paths they name
MAX_GLOBS = 100  # globs of one settings file; with more, all text files count as named
SKILL = "skill.md"
PLUGIN = ".claude-plugin/plugin.json"  # code.claude.com/docs/en/plugins-reference
PLUGIN_FOLDERS = ("commands/", "agents/", "output-styles/")  # of a plugin of Claude Code, in its root
_IMPORT = lazy(
    r"(?:^|[\s(\[>*_\"'])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<path>(?:\\ |[^\s@{`\"'<>)\]](?:\\ |[^\s@`\"'<>)\]])*)))"
    r"|@\{(?P<braced>[^{}\n]+)\}",  # geminicli.com/docs/cli/custom-commands
    re.MULTILINE,
)
# In the files of Copilot below .github: code.visualstudio.com/docs/copilot/customization/prompt-files
_REFERENCE = lazy(
    r"#file:(?:'(?P<single>[^'\n]+)'|(?P<bare>[^\s'\"`<>()\[\]]+))"
    r"|\]\(\s{0,3}<?(?P<link>(?![a-zA-Z][\w+.-]{0,20}:|//)[^\s<>()#]+)"
)
_COPILOT = ".github/"
_FILE_VALUE = lazy(r"\{file:([^{}\"\n]+)\}")  # opencode.ai/docs/config: a value that is the text of a file
_KEY = lazy(rf"(?<![\w-])[\"']?(?P<key>{'|'.join(LEADING_KEYS)})[\"']?\s*[:=]")
_STRINGS = lazy(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'|([^\s,\[\]{}\"'#]+)")
_VALUE = lazy(r"\s*(?:\[(?:[^\]\"']|\"(?:[^\"\\]|\\.)*\"|'[^']*')*|(?:\n[^\S\n]*-[^\n]*)+|[^\n,}]*)")
_BRACES = lazy(r"\{[^{}]*\}")
_LEADING = frozenset(name.casefold() for name in IMPORTING)


class _Tree:
    """The files of a tree (path -> oid), found by path with or without regard to case."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.files = {entry.path: entry.oid for entry in entries if entry.mode not in LINKS}
        self._folded: dict[str, list[str]] = {}

    @property
    def folded(self) -> dict[str, list[str]]:
        """Case-folded path -> the paths that it stands for, made when it is first asked for."""
        if not self._folded:
            for path in self.files:
                self._folded.setdefault(path.casefold(), []).append(path)
        return self._folded

    def named(self, path: str) -> list[str]:
        """The files that a path may open: the one with this path, else all that differ from it only in case."""
        if path in self.files:
            return [path]
        return self.folded.get(path.casefold(), [])


def imported_files(repo: Repository, entries: Sequence[Entry]) -> frozenset[str]:
    """The paths among `entries` (the listing of one tree) that agents read because another file names them. A path that
    is not among `entries` is ignored. At each of MAX_IMPORT_DEPTH levels at most MAX_LEADING files are read, and none
    of more than MAX_MEMORY_FILE_BYTES."""
    tree = _Tree(entries)
    files = tree.files
    names = {path: path.rpartition("/")[2].casefold() for path in files}
    named: set[str] = set()
    skills = {path.rpartition("/")[0] for path, name in names.items() if name == SKILL and "/" in path}
    if skills:
        named |= {path for path in files if path.endswith(TEXT_ENDINGS) and not skills.isdisjoint(_folders(path))}
    plugins = [path[: -len(PLUGIN)] for path in files if f"/{path.casefold()}".endswith(f"/{PLUGIN}")]
    plugin_folders = tuple(f"{root}{folder}" for root in plugins for folder in PLUGIN_FOLDERS)
    named |= {path for path in files if path.startswith(plugin_folders) and path.endswith(TEXT_ENDINGS)}
    named |= {f"{root}{PLUGIN}" for root in plugins if f"{root}{PLUGIN}" in files}
    settings_names = {settings.rpartition("/")[2] for settings in LEADING_SETTINGS}
    for path, text in _texts(repo, files, [path for path, name in names.items() if name in settings_names]):
        named |= _named_by_settings(path, text, tree)
    unread = [path for path, name in names.items() if name in _LEADING or agents_read(path)] + sorted(named)
    seen = set(unread)
    for _ in range(MAX_IMPORT_DEPTH):
        new_files = {file for path, text in _texts(repo, files, unread) for file in _imports(path, text, tree)} - seen
        seen |= new_files
        named |= new_files
        unread = sorted(new_files)
        if not unread:
            break
    return frozenset(named)


def _folders(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _texts(repo: Repository, files: Mapping[str, str], paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(path, text) of these files, MAX_LEADING at most; files above the size limit are left out."""
    wanted = [path for path in paths if path in files][:MAX_LEADING]
    if not wanted:
        return
    for path, data in read_small_blobs(repo, ((path, files[path]) for path in wanted)):
        yield path, data.decode("utf-8", "replace")


def _imports(path: str, text: str, tree: _Tree) -> Iterator[str]:
    """The files that a text names by `@path`, and the text files that a file of Copilot names in its own ways."""
    for places in [*import_places(path, text), *_references(path, text)]:
        files = [file for place in places[:2] for file in tree.named(place)]
        yield from files or (file for place in places[2:] for file in tree.named(place))


def import_places(path: str, text: str) -> Iterator[list[str]]:
    """For each `@path` of a text the paths that it may mean, the likeliest first: relative to the text's folder,
    relative to the root (as hosts read them in a command), then both without a punctuation mark at the end."""
    if "@" not in text:
        return
    folder = path.rpartition("/")[0]
    for match in _IMPORT.finditer(text):
        name = match["quoted"] or match["braced"] or match["path"].replace("\\ ", " ")
        yield [
            posixpath.normpath(posixpath.join(base, spelled))
            for spelled in (name, name.rstrip(".,;:!?*_"))
            for base in (folder, "")
        ]


def _references(path: str, text: str) -> Iterator[list[str]]:
    """As `import_places`, for the links and `#file:path` of a file of Copilot: relative to the text's folder or to the
    root, with the ending of a text file."""
    if f"/{_COPILOT}" not in f"/{path.casefold()}":
        return
    from gitmem.gate.detectors.injection.decoding import unquoted  # only repositories with files of Copilot need it

    folder = path.rpartition("/")[0]
    for match in _REFERENCE.finditer(text):
        name = unquoted(match["single"] or match["bare"] or match["link"]).rstrip(".,;:!?*_")
        if name.casefold().endswith(TEXT_ENDINGS):
            yield [posixpath.normpath(posixpath.join(base, name.lstrip("/"))) for base in (folder, "")]


def _named_by_settings(path: str, text: str, tree: _Tree) -> set[str]:
    """The files that the settings of a host name: globs relative to their folder or the project, a bare name in any
    folder. In a glob `*` matches `/` too, and letters match in either case. Settings with more than MAX_GLOBS globs
    name all files of TEXT_ENDINGS."""
    settings_name = next((name for name in LEADING_SETTINGS if f"/{path.casefold()}".endswith(f"/{name}")), "")
    if not settings_name:
        return set()
    own_folder = path.rpartition("/")[0]
    project = path[: len(path) - len(settings_name)].rstrip("/")
    patterns: dict[str, None] = {}
    values = [*_values(text, LEADING_SETTINGS[settings_name])]
    if "opencode" in settings_name:
        values += [value.strip() for value in _FILE_VALUE.findall(text)]
    for value in values:
        glob = _BRACES.sub("*", value).casefold()
        for folder in dict.fromkeys((own_folder, project)):
            patterns[posixpath.normpath(posixpath.join(folder.casefold(), glob)).replace("**/", "*")] = None
        if "/" not in glob:
            patterns[f"*/{glob}"] = None
    globs = [glob for glob in patterns if any(character in glob for character in "*?[")]
    files = {file for name in patterns for file in tree.named(name)}
    if len(globs) > MAX_GLOBS:
        return files | {file for file in tree.files if file.endswith(TEXT_ENDINGS)}
    return files | {file for file in tree.files for glob in globs if fnmatchcase(file.casefold(), glob)}


def _values(text: str, keys: Sequence[str]) -> Iterator[str]:
    """The strings in the values of these keys."""
    match = _KEY.search(text)
    while match is not None:
        position = match.end()
        if match["key"] in keys and (value := _VALUE.match(text, position)):
            yield from _strings(value[0])
            position = max(position, value.end())
        match = _KEY.search(text, position)


def _strings(value: str) -> Iterable[str]:
    """The strings of a value in JSON, TOML or YAML, unquoted ones too."""
    for double, single, bare in _STRINGS.findall(value):
        if not double:
            yield single or bare
            continue
        try:
            yield str(parse_json(f'"{double}"'))
        except ValueError:
            yield double


def newly_imported(
    repo: Repository,
    parents: Sequence[str],
    entries: Sequence[Entry],
    wanted: Sequence[BlobPlace] = (),
    commit: str = "",
) -> list[BlobPlace]:
    """The unchanged files of a tree that agents read from now on, because a changed file of the tree names them.

    A file is new when no parent imports it with this text: a merge may take the import of one side and the text of
    another.

    `parents`: the oids of the commits before the change. `entries`: the listing of the tree after the change. `wanted`:
    blobs that are scanned anyway; they are left out. `commit`: the commit of the tree, "" for the staged tree.
    """
    imported_before: set[tuple[str, str]] = set()
    for oid in parents:
        listing = repo.entries(oid)
        imported = imported_files(repo, listing)
        imported_before |= {(entry.path, entry.oid) for entry in listing if entry.path in imported}
    imported_now = imported_files(repo, entries) - {place.path for place in wanted}
    return [
        BlobPlace(entry.path, entry.oid, commit)
        for entry in entries
        if entry.path in imported_now and (entry.path, entry.oid) not in imported_before
    ]
