"""Bringing a memory that lies elsewhere into this one: an OpenClaw workspace, a Claude memory folder, notes.

Everything passes the gate, nothing that is there is overwritten, and what does not come along is reported with the
reason. With a Git repository its history comes along: fetched, merged as an unrelated history, in one commit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, NotARepository, OutsideRepository, Refused, UsageError
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import refuse_or_mask_text
from gitmem.gate.scan import scan_source
from gitmem.gate.sources import commits
from gitmem.git.opening import Repository, discover, open_repository
from gitmem.git.transaction import position, replaced, writer
from gitmem.git.worktree import read_bytes
from gitmem.git.write import ensure_can_commit, run_git
from gitmem.memory.document import decode
from gitmem.paths import LIMIT, Kind, Layout, kind
from gitmem.plural import counted

HIDDEN, NO_MEMORY, NO_MARKDOWN = "is a hidden folder", "is no memory file", "is not Markdown"
PARTS = "holds what others wrote"  # packages that a project installed
EXPECTED = frozenset((HIDDEN, NO_MEMORY, NO_MARKDOWN, PARTS))  # reasons that nobody needs to look into
INSTALLED = frozenset(("node_modules", "vendor", "venv", "__pycache__"))
MAX_FILES = 20_000  # files; more is no memory
LINK = re.compile(r"\]\((?!\w+:|/|#)([^)\s]+\.md)((?:#[^)]*)?)\)")


class Shape(StrEnum):
    """What a folder is."""

    WORKSPACE = "workspace"  # the layout of docs/format.md, OpenClaw's too
    CLAUDE = "claude"  # MEMORY.md with topic files beside it
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does. `files` are (path there, path here, bytes); `left` are (path there, reason)."""

    source: Path
    shape: Shape
    files: tuple[tuple[str, str, bytes], ...]
    left: tuple[tuple[str, str], ...]
    masked: tuple[str, ...]
    history: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What was done. `commit` is "" when nothing was committed (files without history are left to the person)."""

    plan: Plan
    written: tuple[str, ...]
    commit: str


def look_at(source: Path, config: Config, environ: Mapping[str, str], here: Path) -> Plan:
    """What importing `source` into the work tree `here` would do; reads only.

    Raises UsageError for a folder that is not there or is the target itself.
    """
    source = Path(os.path.expanduser(source)).absolute()
    if not os.path.isdir(source):
        raise UsageError(f"there is no folder '{source}'", "git mem init --from PATH")
    top, target = source.resolve(), here.resolve()
    if top == target or target.is_relative_to(top) or top.is_relative_to(target):
        raise UsageError("a memory is not imported from itself", "--from names another folder")
    names, left = _names(source)
    shape = shape_of(["MEMORY.md" if name == "memory.md" else name for name in names])
    files: list[tuple[str, str, bytes]] = []
    masked: list[str] = []
    for name in names:
        to = "MEMORY.md" if name == "memory.md" and "MEMORY.md" not in names else target_path(name, shape)
        if not to:
            left.append((name, NO_MEMORY))
            continue
        try:
            data = read_bytes(source, name, LIMIT + 1)
        except (OSError, OutsideRepository):
            left.append((name, "cannot be read"))
            continue
        safe, why = _gated(data, to, shape, config)
        if why:
            left.append((name, why))
            continue
        if safe != relinked(data, name, shape):
            masked.append(name)
        there = _existing(here, to)
        if there is not None and there != safe:
            left.append((name, f"'{to}' is there already and says something else"))
            continue
        files.append((name, to, safe))
    return Plan(source, shape, tuple(files), tuple(left), tuple(masked), _is_root(source, environ))


def _names(source: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """The files below a folder, sorted; links, Git's own folder and what is no Markdown are left, the latter said."""
    kept: list[str] = []
    left: list[tuple[str, str]] = []
    for folder, folders, names in os.walk(source):
        for name in sorted(folders):
            inside = Path(folder, name)
            why = HIDDEN if name.startswith(".") and name != ".claude" else PARTS if name in INSTALLED else ""
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
        return Shape.CLAUDE if any("/" not in name and name != "MEMORY.md" for name in names) else Shape.WORKSPACE
    return Shape.NOTES


def target_path(name: str, shape: Shape) -> str:
    """Where a file goes here, "" when it is no memory."""
    if kind(name) is not Kind.OTHER:
        return name
    return "" if shape is Shape.WORKSPACE else f"memory/{name}"


def relinked(data: bytes, name: str, shape: Shape) -> bytes:
    """MEMORY.md's links to files that move below memory/ follow them; every other byte as it was."""
    if shape is not Shape.CLAUDE or name != "MEMORY.md":
        return data
    text = data.decode("utf-8", "surrogateescape")
    return LINK.sub(lambda m: f"](memory/{PurePosixPath(m[1])}{m[2]})", text).encode("utf-8", "surrogateescape")


def _gated(data: bytes, to: str, shape: Shape, config: Config) -> tuple[bytes, str]:
    """The bytes that may be written, or the reason why none may."""
    if len(data) > LIMIT:
        return b"", f"is larger than {LIMIT} bytes"
    text, problems = decode(data, to)
    if problems:
        return b"", problems[0].message
    data = relinked(data, to, shape)
    text = data.decode("utf-8", "replace")
    try:
        safe = refuse_or_mask_text(text, to, config)
    except Refused as error:
        return b"", error.message
    return (data if safe == text else safe.encode()), ""


def as_value(plan: Plan, root: Path, commit: str, written: Sequence[str], dry_run: bool) -> dict[str, object]:
    """The JSON of docs/json.md, "init --from"."""
    return {
        "root": str(root),
        "shape": str(plan.shape),
        "files": [{"from": name, "path": to} for name, to, _ in plan.files],
        "left": [{"from": name, "reason": reason} for name, reason in plan.left],
        "masked": list(plan.masked),
        "history": plan.history,
        "commit": commit or None,
        "written": list(written),
        "dry_run": dry_run,
    }


def _existing(here: Path, path: str) -> bytes | None:
    try:
        return read_bytes(here, path, LIMIT + 1)
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
        contents = {to: data for _, to, data in plan.files if _existing(repo.root, to) is None}
        with replaced(repo, contents, dict.fromkeys(contents), before=position(repo)):
            commit = _with_history(repo, plan) if plan.history and plan.files else ""
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
        more = f" and {len(blocking) - 5} more" if len(blocking) > 5 else ""
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
            run_git(repo, ["add", "--", *(to for _, to, _ in plan.files)])
            message = f"memory: import {counted(len(plan.files), 'file')} with their history"
            run_git(repo, ["commit", "--quiet", "--allow-empty", "-F", "-"], input=message + "\n")
        except BaseException:
            if repo.head() == begun:  # else it was stopped after the commit, which stays
                run_git(repo, ["merge", "--abort"] if before else ["update-ref", "-d", "HEAD"])
            raise
    finally:
        run_git(repo, ["update-ref", "-d", "refs/gitmem/import"])
    return repo.head() or ""
