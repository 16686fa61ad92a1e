"""Rules about a change as a whole, not about a text: links, submodules, names, protected files, settings, and how many
old lines a commit may remove without a reason. Pure.

`gate/changes/` and the modules that make sources read what these functions take. The findings have no fingerprint yet;
the scan adds it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, reduce
from operator import and_
from posixpath import normpath
from typing import NamedTuple

from gitmem.agent_paths import FILES, FOLDERS
from gitmem.config import TRACKED
from gitmem.config.loading import load
from gitmem.daily_logs import is_daily
from gitmem.errors import BadConfig
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import Policy, canonical
from gitmem.git.objects import GITLINK, SYMLINK, Change
from gitmem.messages import Message
from gitmem.paths import AGENT_ENDINGS, Kind, agents_read, kind, log_date
from gitmem.plural import counted

BULLETS = ("- ", "* ", "+ ")
COMMENT = re.compile(r"<!--.*?-->")
BULK_SHARE = 0.5  # share of its facts that MEMORY.md may lose in one commit without a trailer
BULK_LINES = 4  # facts that it may lose whatever the share
DAYS_WRITTEN = 1  # days before and after a log's own day on which its lines may still change
_STATES_ORIGIN = re.compile(r"<!--|^\s*origin\s*:", re.I)
DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)
LONG_PATH = 1024  # bytes of a path
RULES: dict[str, str] = {
    "symlink": "a symbolic link where memory should be",
    "submodule": "a submodule where memory should be",
    "path-control": "a control or invisible character in a memory file's name",
    "path-windows": "a name that Windows cannot hold",
    "path-long": "a path longer than file systems hold",
    "path-twin": "two paths that some file systems take for one",
    "protected-file": "a protected file is changed",
    "encoding-attribute": "`working-tree-encoding` or `filter` shows other text than the one that is committed",
    "stored-in-clear": "`.gitattributes` has git-crypt encrypt this file, and it would be stored in clear",
    "settings-loosened": "settings no longer name what they kept under the gate",
    "layout-narrowed": "notes are memory no more since a file of memory is there, and the settings do not name them",
    "log-rewritten": "past lines of a daily log are changed without a `Memory-Rewrite` trailer",
    "merge-lost-fact": "a merge leaves out what one side added to MEMORY.md, without a `Memory-Rewrite` trailer",
    "memory-bulk-deletion": "most of MEMORY.md is deleted without a `Memory-Rewrite` trailer",
}


def change_finding(
    rule: str, path: str, message: str, *, line: int = 1, warn: bool = False, commit: str = ""
) -> Finding:
    """A finding about a path as a whole, placed at `line`, without a fingerprint. It blocks unless `warn`."""
    return Finding(rule, Severity.of(blocks=not warn), path, line, 1, line, 1, message, commit=commit)


def check_entry(path: str, mode: int, policy: Policy, commit: str = "") -> Iterator[Finding]:
    """The findings about the path and the file mode of an entry that a change adds or alters. A symbolic link in place
    of instructions has no finding for its mode here: `check_link` judges it."""
    if mode == GITLINK and policy.is_place_of_instructions(path):
        words = "a submodule where agents read instructions: its files are not scanned here"
        yield change_finding("submodule", path, words, warn=True, commit=commit)
    elif mode in (SYMLINK, GITLINK) and policy.is_place_of_memory(path) and not policy.is_place_of_instructions(path):
        rule = "submodule"
        if mode == SYMLINK:
            rule = "symlink"
        yield change_finding(
            rule, path, Message(RULES[rule] + ": it is never followed and may not be memory"), commit=commit
        )
    if not policy.scans(path):
        return
    odd = sorted({c for c in path if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")})
    if odd:
        codes = ", ".join(f"U+{ord(c):04X}" for c in odd[:4])
        yield change_finding("path-control", path, Message(RULES["path-control"] + " ({})", codes), commit=commit)
    if len(path.encode("utf-8", "surrogateescape")) > LONG_PATH:
        yield change_finding("path-long", path, RULES["path-long"], warn=True, commit=commit)
    for part in path.split("/"):
        if part.split(".")[0].lower().rstrip() in DEVICES or part[-1:] in (". ") or set(part) & set('<>:"|?*\\'):
            yield change_finding("path-windows", path, RULES["path-windows"], warn=True, commit=commit)
            break


def check_link(path: str, target: str, policy: Policy, commit: str = "") -> Iterator[Finding]:
    """A finding for a link that takes the place of files that agents read (`Policy.is_place_of_instructions`), unless
    its target is scanned too.

    `path`: the link, which must have such a place; the function does not check that. `target`: the text of the link, ""
    when it cannot be read. The link is not followed.
    """
    steps = target.split("/")
    ups = next((index for index, step in enumerate(steps) if step != ".."), len(steps))
    place = normpath(f"{path.rpartition('/')[0] or '.'}/{target}")
    plain = bool(target) and steps[0] != "" and ".." not in steps[ups:] and not place.startswith("..")
    if not plain or not _scanned_there(path, place, policy):
        words = "a link where agents read instructions leads to what is not scanned"
        yield change_finding("symlink", path, words, commit=commit)


def _scanned_there(path: str, place: str, policy: Policy) -> bool:
    """Whether all files that agents would read through a link at `path` are scanned at its target `place`.

    A link in place of a file stands for that file; any other link may lead to a folder, so every file below it must be
    scanned.
    """
    if policy.scans(place):
        return True
    below = [name for name in _names_below() if agents_read(f"{path.rstrip('/')}/{name}")]
    return not agents_read(path) and bool(below) and all(policy.scans(f"{place}/{name}") for name in below)


@cache
def _names_below() -> tuple[str, ...]:
    """Example paths of files that agents may read below a folder: in it, in a subfolder, and in subfolders that hosts
    use."""
    folders = ["", "d/", *(f"{folder.partition('/')[2]}/" for folder in FOLDERS)]
    names = [f"{folder}{stem}{end}" for folder in folders for stem in ("x", "0") for end in AGENT_ENDINGS]
    return tuple(dict.fromkeys([*names, *(name.partition("/")[2] for name in FILES if "/" in name)]))


def check_protection(changes: Iterable[Change], policy: Policy, commit: str = "") -> Iterator[Finding]:
    """A finding for each changed file that is protected. The message names the new blob, so that an exception covers
    only this version."""
    for change in changes:
        if policy.protects(change.path):
            version = f"blob {change.new_oid[:12]}"
            if change.status == "D":
                version = "deleted"
            yield change_finding(
                "protected-file", change.path, Message(RULES["protected-file"] + " ({})", version), commit=commit
            )


def check_twins(added: Iterable[str], existing: Iterable[str], policy: Policy) -> Iterator[Finding]:
    """A finding for each added path that the gate scans and that differs from another path only in case or Unicode
    normalisation. `existing`: the paths of the tree; they may include the added ones."""
    scanned = [path for path in added if policy.scans(path)]
    if not scanned:
        return
    paths_of: dict[str, set[str]] = {}
    keys = {canonical(path).casefold() for path in scanned}
    for path in [*existing, *scanned]:
        key = canonical(path).casefold()
        if key in keys:
            paths_of.setdefault(key, set()).add(path)
    for path in dict.fromkeys(scanned):
        others = sorted(paths_of[canonical(path).casefold()] - {path})
        if others:
            yield change_finding("path-twin", path, Message(RULES["path-twin"] + ": '{}' is there too", others[0]))


def check_settings(old_settings: Sequence[str], new_text: str, commit: str = "") -> Iterator[Finding]:
    """A finding when settings that .gitmem.toml had are not in its new text. `old_settings`: the old settings in the
    words of `named_settings`. `new_text`: the new text, "" for no file.

    The message names the lost settings, so that an exception covers only this loss.
    """
    now = named_settings(new_text)
    lost = [name for name in old_settings if name not in now]
    if lost:
        words = Message(RULES["settings-loosened"] + ": {}", ", ".join(lost))
        yield change_finding("settings-loosened", TRACKED, words, commit=commit)


def named_settings(text: str) -> list[str]:
    """The settings of a .gitmem.toml that make the gate stricter, each in words: `paths 'notes/*'`, `protected
    'SOUL.md'`, `strict`. [] when the text is not TOML or has a value that is not allowed."""
    try:
        config = load((), text)
    except BadConfig:
        return []
    names = [f"paths '{glob}'" for glob in config.memory_paths] + [f"protected '{glob}'" for glob in config.protected]
    if config.gate == "strict":
        names.append("strict")
    return names


def merged_settings(ours: Sequence[str], theirs: Sequence[str], before: Sequence[str]) -> list[str]:
    """The settings (in the words of `named_settings`) that a merge of two sides must keep: all but those of the merge
    base (`before`) that one side has removed."""
    settings = dict.fromkeys([*ours, *theirs])
    return [name for name in settings if (name in ours and name in theirs) or name not in before]


def lost_lines(olds: Sequence[str], new: str, before: str | None = None) -> list[str]:
    """The non-empty lines that every text of `olds` has and the new one lacks, sorted; a line as often as it is lost.
    White space at the end of a line does not count. [] when `olds` is empty.

    `before`: the text in the merge base of the old versions, None when unknown. With it, a line counts as lost too that
    one old version has added since the merge base and the new one lacks.
    """
    new_lines = _lines(new)
    lost_of_each = [_lines(old) - new_lines for old in olds]
    lost: Counter[str] = Counter()
    if lost_of_each:
        lost = reduce(and_, lost_of_each)
    if before is not None:
        base_lines = _lines(before)
        for old, lines in zip(olds, lost_of_each, strict=True):
            lost |= lines & (_lines(old) - base_lines)
    return sorted(lost.elements())


def _lines(text: str) -> Counter[str]:
    return Counter(line.rstrip() for line in text.split("\n") if line.strip())


class FileVersions(NamedTuple):
    """The versions of one changed file: texts for `check_history`, oids of blobs for `text_rules.history_findings`.

    `olds`: its version in each parent that has it; () for a new file. `new`: the version after the change, "" when the
    file is deleted. `before`: its version in the merge base of the parents, "" when the base lacks it, None when
    unknown.
    """

    path: str
    olds: Sequence[str]
    new: str
    before: str | None = None


def check_history(
    file: FileVersions, *, commit: str = "", daily: Sequence[str] = (), today: date = date.max
) -> Iterator[Finding]:
    """The findings about one changed file: of the append-only rule for a daily log, of the bulk rule and the rule about
    facts that a merge loses for MEMORY.md. A new file and any other file have none.

    `commit`: the commit of the findings, "" for none. `daily`: patterns of daily logs. `today`: the day of the change;
    by default no log is of today. The function sees no message: do not call it for a commit with a `Memory-Rewrite`
    trailer.

    A changed log blocks, with two exceptions that warn. One is a log that only a pattern of `daily` makes a log, since
    another program writes it and may move lines. The other is a log of `today` or of a day next to it (work at night,
    another time zone), since it is still being written; deleting it, or a line that states its origin, blocks all the
    same, because text from the web would then pass as a person's own.
    """
    path, olds, new, before = file
    if not olds:
        return
    file_kind = kind(path)
    if is_daily(path, daily):
        gone_lines = lost_lines(olds, new, before)
        if gone_lines:
            words = Message(RULES["log-rewritten"] + " ({})", counted(len(gone_lines), "line"))
            day = None
            if file_kind is Kind.DAILY:
                day = log_date(path)
            is_current = day is not None and new != "" and abs((today - day).days) <= DAYS_WRITTEN
            warn = day is None or (is_current and not any(map(_STATES_ORIGIN.search, gone_lines)))
            yield change_finding("log-rewritten", path, words, warn=warn, commit=commit)
    elif file_kind is Kind.MEMORY:
        old_facts = min(_bullets(old) for old in olds)
        lost_facts = old_facts - _bullets(new)
        if lost_facts > BULK_LINES and lost_facts > old_facts * BULK_SHARE:
            words = Message(RULES["memory-bulk-deletion"] + " ({} of {} facts)", lost_facts, old_facts)
            yield change_finding("memory-bulk-deletion", path, words, commit=commit)
        lost_in_merge = 0
        if before is not None:
            lost_in_merge = lost_additions(olds, new, before)
        if lost_in_merge:
            words = Message(RULES["merge-lost-fact"] + " ({})", counted(lost_in_merge, "fact"))
            yield change_finding("merge-lost-fact", path, words, commit=commit)


def lost_additions(olds: Sequence[str], new: str, before: str) -> int:
    """The number of facts that the sides of a merge have added since the merge base and that the merge lacks in any
    form.

    `olds`: the texts of the sides. `new`: the text of the merge. `before`: the text of the merge base. A fact does not
    count if it shares half of its words, or half of the other's, with a fact of the base that its side rewrote or with
    another fact of the merge: the person who merged has decided about it.
    """
    base_facts, new_facts = _facts(before), _facts(new)
    lost = 0
    for side in olds:
        side_facts = _facts(side)
        rewritten = [words for fact, words in base_facts.items() if fact not in side_facts]
        others = [words for fact, words in new_facts.items() if fact not in side_facts]
        added = [words for fact, words in side_facts.items() if fact not in base_facts and fact not in new_facts]
        lost += sum(not any(_alike(words, other) for other in (*rewritten, *others)) for words in added)
    return lost


def _facts(text: str) -> dict[str, frozenset[str]]:
    """The bullets of a text without their comments -> the words of each, lower case."""
    lines = (COMMENT.sub("", line).strip() for line in text.split("\n"))
    return {line: frozenset(line.casefold().split()) - {"-", "*", "+"} for line in lines if line.startswith(BULLETS)}


def _alike(words: frozenset[str], other_words: frozenset[str]) -> bool:
    return len(words & other_words) * 2 >= min(len(words), len(other_words))


def _bullets(text: str) -> int:
    return sum(line.lstrip().startswith(BULLETS) for line in text.split("\n"))
