"""Bringing a memory that lies elsewhere into this one: an OpenClaw workspace, a Claude memory folder, notes.

Everything passes the gate, nothing that is there is overwritten (a file as `git mem init` laid it out is none yet), and
what does not come along is reported with the reason. With a Git repository its history comes along: fetched, merged as
an unrelated history, in one commit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gitmem.config import TRACKED, Config
from gitmem.errors import GitFailed, GitMemError, NotARepository, OutsideRepository, Refused, UsageError
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import Mask, refuse_or_mask
from gitmem.gate.scan import scan_source
from gitmem.gate.sources import commits
from gitmem.git.opening import Repository, discover, open_repository
from gitmem.git.transaction import position, replaced, writer
from gitmem.git.worktree import read_bytes
from gitmem.git.write import ensure_can_commit, run_git
from gitmem.memory import links
from gitmem.memory.adoption import daily_patterns, daily_settings_text
from gitmem.memory.document import decode
from gitmem.memory.new_repository import settings_now
from gitmem.memory.templates import as_laid_out
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, Layout, is_daily, kind
from gitmem.plural import counted

HIDDEN, NO_MEMORY, NO_MARKDOWN = "is a hidden folder", "is no memory file", "is not Markdown"
OTHERS_PACKAGES = "holds what others wrote"  # packages that a project installed
# What OpenClaw has besides memory in its workspace: where it goes here, or why it stays (docs.openclaw.ai).
ROUTINE, DIARY, SKILL = "tells OpenClaw what to do by itself", "is OpenClaw's own diary, for people", "is a skill"
STAYING = {"BOOT.md": ROUTINE, "BOOTSTRAP.md": ROUTINE, "HEARTBEAT.md": ROUTINE, "DREAMS.md": DIARY}
PERSON = re.compile(r"users/([^/]+)/USER\.md")
EXPECTED = frozenset(
    (HIDDEN, NO_MEMORY, NO_MARKDOWN, OTHERS_PACKAGES, ROUTINE, DIARY, SKILL)
)  # nobody needs to look into these
INSTALLED = frozenset(("node_modules", "vendor", "venv", "__pycache__"))
MAX_FILES = 20_000  # files; more is no memory
PICTURES = {  # ending -> how such a file begins
    ".png": (b"\x89PNG\r\n\x1a\n",), ".jpg": (b"\xff\xd8\xff",), ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"), ".webp": (b"RIFF",), ".pdf": (b"%PDF-",),
}  # fmt: skip
PICTURE_LIMIT = 10 << 20  # bytes
MAX_LINES_PER_RULE = 5  # lines of one rule that are named


class Shape(StrEnum):
    """What a folder is."""

    WORKSPACE = "workspace"  # the layout of docs/format.md, OpenClaw's too
    CLAUDE = "claude"  # MEMORY.md with topic files beside it
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does. `files` are (path there, path here, bytes), pictures that documents show among them; `left`
    are (path there, reason), `masked` (path there, what was masked). `daily` are patterns of daily notes among them and
    how many each names, `settings` is the text that .gitmem.toml gets for them, None where it stays. `same` are the
    paths here that have these bytes already."""

    source: Path
    shape: Shape
    files: tuple[tuple[str, str, bytes], ...]
    left: tuple[tuple[str, str], ...]
    masked: tuple[tuple[str, tuple[Mask, ...]], ...]
    history: bool
    daily: tuple[tuple[str, int], ...] = ()
    settings: bytes | None = None
    same: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Imported:
    """What was done. `commit` is "" when nothing was committed (files without history are left to the person)."""

    plan: Plan
    written: tuple[str, ...]
    commit: str


def look_at(source: Path, config: Config, environ: Mapping[str, str], here: Path, into: str = "") -> Plan:
    """What importing `source` into the work tree `here` would do; reads only. `into`: all of it goes below that folder
    of memory/, as notes, its MEMORY.md too.

    Raises UsageError for a folder that is not there or is the target itself.
    """
    ensure_elsewhere(source, here, "notes")
    source = Path(os.path.expanduser(source)).absolute()
    names, left = markdown_below(source)
    shape = shape_of(["MEMORY.md" if name == "memory.md" else name for name in names])
    if into:
        shape, moved = Shape.NOTES, {name: f"memory/{into}/{name}" for name in names}
    else:
        moved = {name: to for name in names if (to := _place(name, names, shape))}
    left += [(name, _reason_to_stay(name)) for name in names if name not in moved]
    others = {name for name, reason in left if reason == NO_MARKDOWN}
    if into:
        pictures = {}
    else:
        pictures = _pictures(source, moved, others, shape)
    left = [(name, reason) for name, reason in left if name not in pictures]
    moved |= {name: to for name, (to, _) in pictures.items()}
    files: list[tuple[str, str, bytes]] = []
    same: set[str] = set()
    masked: list[tuple[str, tuple[Mask, ...]]] = []
    for name, to in moved.items():
        if name in pictures:
            made = pictures[name][1]
        else:
            made = _document(source, name, moved, config)
        if made.problem:
            left.append((name, made.problem))
            continue
        there = _existing(here, to, PICTURE_LIMIT if name in pictures else MAX_MEMORY_FILE_BYTES)
        if there is not None and there != made.data and there not in as_laid_out(to):
            left.append((name, f"'{to}' is there already and says something else"))
            continue
        if there == made.data:
            same.add(to)
        if made.masks:
            masked.append((name, made.masks))
        files.append((name, to, made.data))
    daily, text = _daily(source, [(name, to) for name, to, _ in files], config, here)
    root = _is_root(source, environ)
    return Plan(source, shape, tuple(files), tuple(left), tuple(masked), root, daily, text, frozenset(same))


def _daily(
    source: Path, moved: Sequence[tuple[str, str]], config: Config, here: Path
) -> tuple[tuple[tuple[str, int], ...], bytes | None]:
    """The patterns of daily notes that no setting here names yet, with their numbers, and .gitmem.toml with them."""
    away = [(name, to) for name, to in moved if to.endswith(".md") and not is_daily(to, config.memory_daily)]
    home = {to.removesuffix(name) for name, to in away if to.endswith(name)}
    if len(home) != 1:
        return (), None
    (folder,) = home
    found = [(folder + pattern, number) for pattern, number in daily_patterns(source, [name for name, _ in away])]
    daily = tuple((pattern, number) for pattern, number in found if number)
    old = settings_now(here) or b""
    text = daily_settings_text(old.decode("utf-8", "replace"), [pattern for pattern, _ in daily]).encode()
    return daily, text if daily and text != old else None


def without_ignored(repo: Repository, plan: Plan) -> Plan:
    """A plan with history without the files that Git ignores here: no commit of ours would take them."""
    if plan.history and plan.files:
        ignored = repo.ignored([to for _, to, _ in plan.files])
    else:
        ignored = set()
    left = tuple((name, f"'{to}' is ignored by Git here") for name, to, _ in plan.files if to in ignored)
    return replace(
        plan,
        files=tuple(file for file in plan.files if file[1] not in ignored),
        left=plan.left + left,
        masked=tuple(row for row in plan.masked if row[0] not in dict(left)),
    )


def ensure_elsewhere(source: Path, here: Path, kind: str) -> None:
    """Raises UsageError where one of two folders holds the other: what is imported would be the target itself; and for
    a folder that is not there. `kind` is the source's in `git mem import`."""
    top, target = Path(os.path.expanduser(source)), here.resolve()
    if not top.is_dir():
        raise UsageError(f"there is no folder '{source}'", f"git mem import {kind} FOLDER --dry-run")
    top = top.resolve()
    if target.is_relative_to(top) or top.is_relative_to(target):
        raise UsageError("a memory is not imported from itself", "name a folder outside of it")


def _place(name: str, names: Collection[str], shape: Shape) -> str:
    """Where a file of a folder with these names goes here, "" when it is no memory."""
    if name == "memory.md" and "MEMORY.md" not in names:
        return "MEMORY.md"
    return target_path(name, shape)


def _document(source: Path, name: str, moved: Mapping[str, str], config: Config) -> Gated:
    """A Markdown file as it may be written, its links leading where the files beside it went."""
    try:
        data = read_bytes(source, name, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, OutsideRepository):
        return Gated(b"", "cannot be read")
    text = data.decode("utf-8", "surrogateescape")
    return gated(links.relinked(text, name, moved).encode("utf-8", "surrogateescape"), moved[name], config)


def _pictures(
    source: Path, moved: Mapping[str, str], others: Collection[str], shape: Shape
) -> dict[str, tuple[str, Gated]]:
    """The files among `others` that a file of `moved` shows, each with where it goes and what may be written of it."""
    shown: set[str] = set()
    linkable = links.Linkable(others)
    for name in moved if others else ():
        with suppress(OSError, OutsideRepository):
            shown |= linkable.linked(read_bytes(source, name, MAX_MEMORY_FILE_BYTES).decode("utf-8", "replace"), name)
    home = "memory/"
    if shape is Shape.WORKSPACE:
        home = ""
    wanted = sorted(name for name in shown if PurePosixPath(name).suffix.lower() in PICTURES)
    return {name: (home + name, _picture(source, name)) for name in wanted}


def _picture(source: Path, name: str) -> Gated:
    """A picture or PDF that is what its name says. The gate reads no pixels."""
    try:
        data = read_bytes(source, name, PICTURE_LIMIT + 1)
    except (OSError, OutsideRepository):
        return Gated(b"", "cannot be read")
    if len(data) > PICTURE_LIMIT:
        return Gated(b"", f"is larger than {PICTURE_LIMIT >> 20} MiB")
    begins = PICTURES[PurePosixPath(name).suffix.lower()]
    if not data.startswith(begins):
        return Gated(b"", "is no picture of the kind that its name says")
    return Gated(data)


def markdown_below(source: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The Markdown files below a folder, sorted, and the skipped files and folders with the reason of each.

    Links and files of other kinds are skipped with a reason; Git's own folder is skipped without one.
    """
    kept: list[str] = []
    left: list[tuple[str, str]] = []
    for folder, folders, names in os.walk(source):
        for name in sorted(folders):
            inside = Path(folder, name)
            why = _skipped_folder(name)
            if why or inside.is_symlink():
                folders.remove(name)
                if name != ".git":
                    left.append((f"{inside.relative_to(source).as_posix()}/", why or "is a link"))
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            relative = path.relative_to(source).as_posix()
            if not stat.S_ISREG(path.lstat().st_mode):
                left.append((relative, "is a link or no plain file"))
            elif not name.endswith(".md"):
                left.append((relative, NO_MARKDOWN))
            else:
                kept.append(relative)
            if len(kept) + len(left) > MAX_FILES:
                raise GitMemError(
                    f"'{source}' holds more than {MAX_FILES} files", "name the folder of the memory itself"
                )
    return kept, left


def shape_of(names: list[str]) -> Shape:
    """What the names say a folder is."""
    if any(kind(name) not in (Kind.OTHER, Kind.MEMORY) for name in names):
        return Shape.WORKSPACE
    if "MEMORY.md" in names:
        if any("/" not in name and name != "MEMORY.md" for name in names):
            return Shape.CLAUDE
        return Shape.WORKSPACE
    return Shape.NOTES


def _skipped_folder(name: str) -> str:
    """Why an import skips a folder of this name; "" when it does not."""
    if name.startswith(".") and name != ".claude":
        return HIDDEN
    if name not in INSTALLED:
        return ""
    return OTHERS_PACKAGES


def target_path(name: str, shape: Shape) -> str:
    """The path of an imported file in this repository; "" when the file is no memory."""
    if kind(name) is not Kind.OTHER:
        return name
    if shape is not Shape.WORKSPACE:
        return f"memory/{name}"
    person = PERSON.fullmatch(name)
    if person:
        return f"memory/users/{person[1]}.md"
    if name != "IDENTITY.md":
        return ""
    return "memory/identity.md"


def _reason_to_stay(name: str) -> str:
    """Why a file of a workspace is no memory."""
    if name.startswith("skills/"):
        return SKILL
    return STAYING.get(name, NO_MEMORY)


class Gated(NamedTuple):
    """What may be written of a document and what was masked in it, or the `problem` for which nothing may."""

    data: bytes
    problem: str = ""
    masks: tuple[Mask, ...] = ()


def gated(data: bytes, to: str, config: Config) -> Gated:
    """A document on its way to the memory file `to`, through the gate."""
    if len(data) > MAX_MEMORY_FILE_BYTES:
        return Gated(b"", f"is larger than {MAX_MEMORY_FILE_BYTES} bytes")
    _, problems = decode(data, to)
    if problems:
        return Gated(b"", problems[0].message)
    text = data.decode("utf-8", "replace")
    try:
        safe = refuse_or_mask(text, to, config)
    except Refused as error:
        return Gated(b"", error.message)
    return Gated(data if safe.text == text else safe.text.encode(), "", safe.masks)


def masked_places(masks: Sequence[Mask]) -> str:
    """What was masked and where, as a person reads it: the rules with their lines, nothing of what they cover."""
    lines: dict[str, list[int]] = {}
    for mask in masks:
        if mask.line not in lines.setdefault(mask.rule, []):
            lines[mask.rule].append(mask.line)
    named = {
        rule: ", ".join(map(str, at[:MAX_LINES_PER_RULE])) + (", ..." if len(at) > MAX_LINES_PER_RULE else "")
        for rule, at in lines.items()
    }
    return ", ".join(f"{rule} (line{'s' if len(lines[rule]) > 1 else ''} {at})" for rule, at in named.items())


def as_value(plan: Plan, root: Path, commit: str, written: Sequence[str], dry_run: bool) -> dict[str, object]:
    """The JSON of docs/json.md, "import notes"."""
    return {
        "root": str(root),
        "shape": str(plan.shape),
        "files": [{"from": name, "path": to} for name, to, _ in plan.files],
        "left": [{"from": name, "reason": reason} for name, reason in plan.left],
        "masked": [name for name, _ in plan.masked],
        "masks": [
            {"from": name, "rule": mask.rule, "line": mask.line} for name, masks in plan.masked for mask in masks
        ],
        "daily": [{"pattern": pattern, "notes": number} for pattern, number in plan.daily],
        "history": plan.history,
        "commit": commit or None,
        "written": list(written),
        "dry_run": dry_run,
    }


def _existing(here: Path, path: str, limit: int = MAX_MEMORY_FILE_BYTES) -> bytes | None:
    try:
        return read_bytes(here, path, limit + 1)
    except FileNotFoundError:
        return None
    except (OSError, OutsideRepository):
        return b"\0"  # something is there that is no plain file: it stays


def _is_root(source: Path, environ: Mapping[str, str]) -> bool:
    """Whether the folder is the top of a repository with a commit: only then its history is the memory's."""
    try:
        place = discover(source, _plain(environ))
        if place.root is None or place.root.resolve() != source.resolve():
            return False
        repo = open_repository(source, _plain(environ))
    except (NotARepository, GitFailed):
        return False
    try:
        return repo.head() is not None
    finally:
        repo.close()


def _plain(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}


def bring(repo: Repository, plan: Plan, now: datetime, environ: Mapping[str, str]) -> Imported:
    """Write the files of a plan; with history, fetch it and commit them on top of both.

    Raises Refused when the gate finds something in the history: a file can be left out, a commit cannot; Changed where
    somebody writes one of the files meanwhile. On any failure there is nothing of the import, neither file nor merge.
    """
    if repo.root is None:
        raise GitMemError("a bare repository holds no memory files", "make it in a clone")
    if plan.history and plan.files:
        ensure_can_commit(repo)
        _scan_history(plan.source, now, environ)
    with writer(repo):
        noted = {to: _existing(repo.root, to) for _, to, _ in plan.files}
        free = {to for to, there in noted.items() if there is None or there in as_laid_out(to)}
        contents = {to: data for _, to, data in plan.files if to in free}
        if plan.settings is not None:
            noted[TRACKED], contents[TRACKED] = settings_now(repo.root), plan.settings
        with replaced(repo, contents, {to: noted[to] for to in contents}, before=position(repo)):
            commit = ""
            if plan.history and plan.files:
                commit = _with_history(repo, plan)
    return Imported(plan, tuple(contents), commit)


def _scan_history(source: Path, now: datetime, environ: Mapping[str, str]) -> None:
    policy = Policy(layouts=(Layout(notes=True),), today=now.date())
    other = open_repository(source, _plain(environ))
    try:
        head = other.head()
        assert head is not None
        report = scan_source(commits(other, [head], policy), policy)
    finally:
        other.close()
    blocking = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    if blocking:
        places = "; ".join(f"{f.rule} in {f.path!r} at {f.commit[:12] or 'HEAD'}" for f in blocking[:5])
        more = ""
        if len(blocking) > 5:
            more = f" and {len(blocking) - 5} more"
        raise Refused(
            f"the history there does not pass the gate: {places}{more}",
            "bring the files alone with --no-history, or clean the history first (docs/leaked-secret.md)",
        )


def _with_history(repo: Repository, plan: Plan) -> str:
    """One commit with both histories as parents (or on top of the other one where there is none here yet)."""
    before = repo.head()
    run_git(
        repo, ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(plan.source), "+HEAD:refs/gitmem/import"]
    )
    try:
        if before:
            merge = ["merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours", "--allow-unrelated-histories"]
            run_git(repo, [*merge, "refs/gitmem/import"])
        else:
            run_git(repo, ["reset", "--quiet", "--soft", "refs/gitmem/import"])
        begun = repo.head()
        try:
            run_git(repo, ["add", "--", *(to for _, to, _ in plan.files), *([TRACKED] if plan.settings else [])])
            message = f"memory: import {counted(len(plan.files), 'file')} with their history"
            run_git(repo, ["commit", "--quiet", "--allow-empty", "-F", "-"], input=message + "\n")
        except BaseException as error:
            if repo.head() == begun:  # else it was stopped after the commit, which stays
                _take_back(repo, ["merge", "--abort"] if before else ["update-ref", "-d", "HEAD"], error)
            raise
    finally:
        with suppress(GitFailed):  # what happened before is what to tell; the next import writes the ref anew
            run_git(repo, ["update-ref", "-d", "refs/gitmem/import"])
    return repo.head() or ""


def _take_back(repo: Repository, command: list[str], error: BaseException) -> None:
    """Run the git command that undoes what `error` ended. Where that fails too, an error of ours says both, its own
    words first, and what to type."""
    try:
        run_git(repo, command)
    except GitFailed as problem:
        if isinstance(error, GitMemError):
            hint = "\n".join(filter(None, [f"git {' '.join(command)}", error.hint]))
            raise GitMemError(f"{error.message}; {problem.message}", hint) from error
