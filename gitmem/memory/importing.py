"""Import a memory from another folder: an OpenClaw workspace, a Claude memory folder, or notes.

All files pass the gate. No file here is overwritten, except one that is still as `git mem init` wrote it. Every file
that is not imported is reported with the reason. If the folder is a Git repository, its history is imported too: it is
fetched and merged as an unrelated history, in one commit.
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

from gitmem import errors
from gitmem.config import TRACKED, Config
from gitmem.daily_logs import is_daily
from gitmem.gate.commit_files import files_of_commits
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.file_names import ensure_new_name_passes, masked_name
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import Mask, refuse_or_mask
from gitmem.gate.scan import scan
from gitmem.git.commit import ensure_can_commit
from gitmem.git.opening import Repository, discover, open_repository
from gitmem.git.signing import run_commit
from gitmem.git.transaction import Position, ensure_position, position, replaced, writer
from gitmem.git.worktree import read_bytes
from gitmem.git.write import run_git
from gitmem.memory import links
from gitmem.memory.adoption import daily_patterns, daily_settings_text
from gitmem.memory.document import decode
from gitmem.memory.new_repository import settings_now
from gitmem.memory.templates import template_versions
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, Layout, kind
from gitmem.plural import counted

HIDDEN, NO_MEMORY, NO_MARKDOWN = "is a hidden folder", "is no memory file", "is not Markdown"
OTHERS_PACKAGES = "holds what others wrote"  # packages that a project installed
# Files of an OpenClaw workspace that are no memory: why they are not imported, or where they go (docs.openclaw.ai).
ROUTINE, DIARY, SKILL = "tells OpenClaw what to do by itself", "is OpenClaw's own diary, for people", "is a skill"
STAYING = {"BOOT.md": ROUTINE, "BOOTSTRAP.md": ROUTINE, "HEARTBEAT.md": ROUTINE, "DREAMS.md": DIARY}
PERSON = re.compile(r"users/([^/]+)/USER\.md")
# Reasons that need no attention.
EXPECTED = frozenset((HIDDEN, NO_MEMORY, NO_MARKDOWN, OTHERS_PACKAGES, ROUTINE, DIARY, SKILL))
INSTALLED = frozenset(("node_modules", "vendor", "venv", "__pycache__"))
MAX_FILES = 20_000  # a folder with more files is not a memory
PICTURES = {  # file extension -> first bytes of such a file
    ".png": (b"\x89PNG\r\n\x1a\n",), ".jpg": (b"\xff\xd8\xff",), ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"), ".webp": (b"RIFF",), ".pdf": (b"%PDF-",),
}  # fmt: skip
PICTURE_LIMIT = 10 << 20  # bytes
MAX_LINES_PER_RULE = 5  # masked lines that are named for each rule
MAX_NAMED_FINDINGS = 5  # findings in a history that are named


class Shape(StrEnum):
    """The layout of the folder that is imported."""

    WORKSPACE = "workspace"  # the layout of docs/format.md, OpenClaw's too
    CLAUDE = "claude"  # MEMORY.md with topic files beside it
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would write.

    `source`, `shape`: the folder and its layout. `files`: (source path, path here, bytes), with the pictures that
    documents show. `left`: (source path, reason) of files that stay. `masked`: (source path, masked secrets and
    personal data). `history`: whether the folder has a history to import. `daily`: (pattern of paths, number) of the
    daily notes among the files that the settings here do not cover yet. `settings`: the new bytes of .gitmem.toml, None
    if it does not change. `same`: paths here that have these bytes already.
    """

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
    """An import that was done. `written`: the paths that were written, without those that had the same bytes already.
    `commit`: the oid, "" without a history, as a person then commits the files."""

    plan: Plan
    written: tuple[str, ...]
    commit: str


def plan_import(
    source: Path, config: Config, environ: Mapping[str, str], work_tree: Path, into: str = "", *, history: bool = True
) -> Plan:
    """Plan the import of `source` into the work tree `work_tree`; writes nothing.

    `into`: a folder below memory/ that gets all files as notes, also MEMORY.md; "" to keep the layout. `history`:
    whether a history of the source is wanted. Raises UsageError if the source is missing, if one of the two folders
    contains the other, or if the .gitmem.toml here is not TOML, UntrustedRepository if Git does not trust the source
    whose history is wanted, and GitMemError if the source has more than MAX_FILES files.
    """
    ensure_elsewhere(source, work_tree, "notes")
    source = Path(os.path.expanduser(source)).absolute()
    names, left_out = markdown_below(source)
    shape = shape_of(["MEMORY.md" if name == "memory.md" else name for name in names])
    if into:
        shape, targets = Shape.NOTES, {name: f"memory/{into}/{name}" for name in names}
    else:
        places = {name: _place(name, names, shape) for name in names}
        targets = {name: target for name, target in places.items() if target}
    left_out += [(name, _reason_to_stay(name)) for name in names if name not in targets]
    others = {name for name, reason in left_out if reason == NO_MARKDOWN}
    pictures = {} if into else _pictures(source, targets, others, shape)
    left_out = [(name, reason) for name, reason in left_out if name not in pictures]
    targets |= {name: target for name, (target, _) in pictures.items()}
    files: list[tuple[str, str, bytes]] = []
    unchanged: set[str] = set()
    masked: list[tuple[str, tuple[Mask, ...]]] = []
    for name, target in targets.items():
        if name in pictures:
            content, limit = pictures[name][1], PICTURE_LIMIT
        else:
            content, limit = _document(source, name, targets, config), MAX_MEMORY_FILE_BYTES
        existing = _existing(work_tree, target, limit)
        if refusal := _refusal(name, target, content, existing):
            left_out.append(refusal)
            continue
        if existing == content.data:
            unchanged.add(target)
        if content.masks:
            masked.append((name, content.masks))
        files.append((name, target, content.data))
    daily, text = _daily(source, [(name, target) for name, target, _ in files], config, work_tree)
    history = history and _is_root(source, environ)
    return Plan(source, shape, tuple(files), tuple(left_out), tuple(masked), history, daily, text, frozenset(unchanged))


def _refusal(name: str, target: str, content: GateResult, existing: bytes | None) -> tuple[str, str] | None:
    """(source path as it may be shown, reason) of a file that is not written to `target`; None for one that is.
    `existing`: the bytes that are there, None without a file."""
    if content.problem:
        return name, content.problem
    if existing is None:
        if problem := problem_of_new_name(target):
            return masked_name(name), problem
    elif existing != content.data and existing not in template_versions(target):
        return name, f"'{target}' is there already and says something else"
    return None


def _daily(
    source: Path, moved: Sequence[tuple[str, str]], config: Config, work_tree: Path
) -> tuple[tuple[tuple[str, int], ...], bytes | None]:
    """(pattern, number) of the daily notes that no setting here covers, and the new bytes of .gitmem.toml.

    `moved`: (source path, path here). The bytes are None if .gitmem.toml need not change, and there are no patterns if
    the notes go to more than one folder.
    """
    notes = [(name, path) for name, path in moved if path.endswith(".md") and not is_daily(path, config.memory_daily)]
    prefixes = {path.removesuffix(name) for name, path in notes if path.endswith(name)}
    if len(prefixes) != 1:
        return (), None
    (folder,) = prefixes
    counts = [(folder + pattern, number) for pattern, number in daily_patterns(source, [name for name, _ in notes])]
    daily = tuple((pattern, number) for pattern, number in counts if number)
    old_text = settings_now(work_tree) or b""
    text = daily_settings_text(old_text.decode("utf-8", "replace"), [pattern for pattern, _ in daily]).encode()
    if not daily or text == old_text:
        return daily, None
    return daily, text


def without_ignored(repo: Repository, plan: Plan) -> Plan:
    """The plan without the files that Git ignores here, since the commit could not contain them; they are added to
    `left`. A plan without history is returned as it is, since a person then commits the files."""
    if not plan.history or not plan.files:
        return plan
    ignored = repo.ignored([path for _, path, _ in plan.files])
    left_out = tuple((name, f"'{path}' is ignored by Git here") for name, path, _ in plan.files if path in ignored)
    return replace(
        plan,
        files=tuple(file for file in plan.files if file[1] not in ignored),
        left=plan.left + left_out,
        masked=tuple(row for row in plan.masked if row[0] not in dict(left_out)),
    )


def ensure_elsewhere(source: Path, work_tree: Path, subcommand: str) -> None:
    """Raise UsageError if `source` is not a folder, or if one of the folders contains the other. `subcommand`: that
    of `git mem import`, for the hint."""
    top, target = Path(os.path.expanduser(source)), work_tree.resolve()
    if not top.is_dir():
        raise errors.UsageError(f"there is no folder '{source}'", f"git mem import {subcommand} FOLDER --dry-run")
    top = top.resolve()
    if target.is_relative_to(top) or top.is_relative_to(target):
        raise errors.UsageError("a memory is not imported from itself", "name a folder outside of it")


def _place(name: str, names: Collection[str], shape: Shape) -> str:
    """The path here of an imported file, "" if the file is not memory. `names`: all Markdown files of the source."""
    if name == "memory.md" and "MEMORY.md" not in names:
        return "MEMORY.md"
    return target_path(name, shape)


def _document(source: Path, name: str, moved: Mapping[str, str], config: Config) -> GateResult:
    """A Markdown file of the source after the gate, with its links changed to the new paths of `moved`."""
    try:
        data = read_bytes(source, name, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, errors.OutsideRepository):
        return GateResult(b"", "cannot be read")
    text = data.decode("utf-8", "surrogateescape")
    return pass_gate(links.relinked(text, name, moved).encode("utf-8", "surrogateescape"), moved[name], config)


def _pictures(
    source: Path, moved: Mapping[str, str], others: Collection[str], shape: Shape
) -> dict[str, tuple[str, GateResult]]:
    """The pictures among `others` that a file of `moved` shows, sorted: source path -> (path here, content or the
    reason why it is left out)."""
    shown: set[str] = set()
    if not others:
        return {}
    linkable = links.Linkable(others)
    for name in moved:
        with suppress(OSError, errors.OutsideRepository):
            shown |= linkable.linked(read_bytes(source, name, MAX_MEMORY_FILE_BYTES).decode("utf-8", "replace"), name)
    home = "" if shape is Shape.WORKSPACE else "memory/"
    wanted = sorted(name for name in shown if PurePosixPath(name).suffix.lower() in PICTURES)
    return {name: (home + name, _picture(source, name)) for name in wanted}


def _picture(source: Path, name: str) -> GateResult:
    """The bytes of a picture or PDF, or the reason why it is left out: unreadable, over PICTURE_LIMIT, or its first
    bytes do not fit its extension. The gate does not scan it. Raises KeyError for an extension that is not in
    PICTURES."""
    try:
        data = read_bytes(source, name, PICTURE_LIMIT + 1)
    except (OSError, errors.OutsideRepository):
        return GateResult(b"", "cannot be read")
    if len(data) > PICTURE_LIMIT:
        return GateResult(b"", f"is larger than {PICTURE_LIMIT >> 20} MiB")
    begins = PICTURES[PurePosixPath(name).suffix.lower()]
    if not data.startswith(begins):
        return GateResult(b"", "is no picture of the kind that its name says")
    return GateResult(data)


def markdown_below(source: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """(the Markdown files below a folder, sorted; (path, reason) of each skipped file and folder).

    Links and files of other kinds are skipped with a reason; Git's own folder is skipped without one. Raises
    GitMemError for more than MAX_FILES files.
    """
    markdown: list[str] = []
    left_out: list[tuple[str, str]] = []
    for folder, folders, names in os.walk(source):
        for name in sorted(folders):
            inside = Path(folder, name)
            reason = _skipped_folder(name)
            if reason or inside.is_symlink():
                folders.remove(name)
                if name != ".git":
                    left_out.append((f"{inside.relative_to(source).as_posix()}/", reason or "is a link"))
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            relative = path.relative_to(source).as_posix()
            if not stat.S_ISREG(path.lstat().st_mode):
                left_out.append((relative, "is a link or no plain file"))
            elif not name.endswith(".md"):
                left_out.append((relative, NO_MARKDOWN))
            else:
                markdown.append(relative)
            if len(markdown) + len(left_out) > MAX_FILES:
                raise errors.GitMemError(
                    f"'{source}' holds more than {MAX_FILES} files", "name the folder of the memory itself"
                )
    return markdown, left_out


def shape_of(names: list[str]) -> Shape:
    """The layout of a folder with these Markdown files.

    WORKSPACE for a folder with a daily log, a note or an instruction file in its place of docs/format.md, and for one
    whose only top-level file is MEMORY.md. CLAUDE for other files beside a MEMORY.md, NOTES without a MEMORY.md.
    """
    if any(kind(name) not in (Kind.OTHER, Kind.MEMORY) for name in names):
        return Shape.WORKSPACE
    if "MEMORY.md" not in names:
        return Shape.NOTES
    if any("/" not in name and name != "MEMORY.md" for name in names):
        return Shape.CLAUDE
    return Shape.WORKSPACE


def _skipped_folder(name: str) -> str:
    """The reason to skip a folder of this name; "" if it is not skipped."""
    if name.startswith(".") and name != ".claude":
        return HIDDEN
    if name in INSTALLED:
        return OTHERS_PACKAGES
    return ""


def target_path(name: str, shape: Shape) -> str:
    """The path that an imported file `name` gets in this repository: its own path if that is one of memory, else one
    below memory/. "" for a file of a WORKSPACE that is not imported; there only the files about a person and
    IDENTITY.md are moved below memory/."""
    if kind(name) is not Kind.OTHER:
        return name
    if shape is not Shape.WORKSPACE:
        return f"memory/{name}"
    person = PERSON.fullmatch(name)
    if person:
        return f"memory/users/{person[1]}.md"
    if name == "IDENTITY.md":
        return "memory/identity.md"
    return ""


def _reason_to_stay(name: str) -> str:
    """The reason why a file of a workspace is not imported."""
    return SKILL if name.startswith("skills/") else STAYING.get(name, NO_MEMORY)


class GateResult(NamedTuple):
    """The result of the gate for one imported file. `data`: the bytes to write. `problem`: the reason why they must not
    be written, "" if they may. `masks`: the secrets and personal data that were masked."""

    data: bytes
    problem: str = ""
    masks: tuple[Mask, ...] = ()


def pass_gate(data: bytes, path: str, config: Config) -> GateResult:
    """Scan a document that will be the memory file `path`. Secrets refuse the document or are masked (`mem.onSecret`);
    personal data is masked or kept (`mem.onPersonal`).

    A document that is too large, has a fault that `document.decode` reports, or is refused by the gate gives a
    `problem` and no bytes; nothing is raised.
    """
    if len(data) > MAX_MEMORY_FILE_BYTES:
        return GateResult(b"", f"is larger than {MAX_MEMORY_FILE_BYTES} bytes")
    _, problems = decode(data, path)
    if problems:
        return GateResult(b"", problems[0].message)
    text = data.decode("utf-8", "replace")
    try:
        safe = refuse_or_mask(text, path, config)
    except errors.Refused as error:
        return GateResult(b"", error.message)
    if safe.text != text:
        data = safe.text.encode()
    return GateResult(data, "", safe.masks)


def problem_of_new_name(path: str) -> str:
    """Why the gate would block a new file because of its path, as a sentence; "" if it would not."""
    try:
        ensure_new_name_passes(path)
    except errors.Refused as error:
        return error.message
    return ""


def masked_places(masks: Sequence[Mask]) -> str:
    """The masked places for a person: each rule with its lines, without any of the masked text."""
    lines: dict[str, dict[int, None]] = {}
    for mask in masks:
        lines.setdefault(mask.rule, {})[mask.line] = None
    return ", ".join(f"{rule} ({_line_list(list(numbers))})" for rule, numbers in lines.items())


def _line_list(lines: Sequence[int]) -> str:
    """`line 3`, or `lines 3, 5, ...` with at most MAX_LINES_PER_RULE numbers."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    text = "lines " + ", ".join(map(str, lines[:MAX_LINES_PER_RULE]))
    if len(lines) > MAX_LINES_PER_RULE:
        text += ", ..."
    return text


def as_value(plan: Plan, root: Path, commit: str, written: Sequence[str], dry_run: bool) -> dict[str, object]:
    """The value that `git mem import notes --json` prints (docs/json.md, "import notes"). No class lists these keys:
    four of the values are known to the command only, which adds more of its own."""
    return {
        "root": str(root),
        "shape": str(plan.shape),
        "files": [{"from": name, "path": target} for name, target, _ in plan.files],
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


def _existing(work_tree: Path, path: str, limit: int = MAX_MEMORY_FILE_BYTES) -> bytes | None:
    """The bytes of a file here, at most one more than `limit`. None without a file; b"\\0", which no document equals,
    for a path that is not a plain file."""
    try:
        return read_bytes(work_tree, path, limit + 1)
    except FileNotFoundError:
        return None
    except (OSError, errors.OutsideRepository):
        return b"\0"  # equal to no document, so that it is not overwritten


def _is_root(source: Path, environ: Mapping[str, str]) -> bool:
    """Whether the folder is the top of a repository with a commit; only such a history is imported. Raises
    UntrustedRepository if Git does not trust the repository."""
    environ = _without_git_paths(environ)
    try:
        place = discover(source, environ)
        if place.root is None or place.root.resolve() != source.resolve():
            return False
        repo = open_repository(source, environ)
    except errors.UntrustedRepository as error:
        raise errors.UntrustedRepository(error.message, f"{error.hint}\nwithout its history: --no-history") from None
    except (errors.NotARepository, errors.GitFailed):
        return False
    try:
        return repo.head() is not None
    finally:
        repo.close()


def _without_git_paths(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environ.items() if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}


def import_files(repo: Repository, plan: Plan, now: datetime, environ: Mapping[str, str]) -> Imported:
    """Write the files of a plan; with a history, fetch it and commit the files in a merge of both histories.

    Raises GitMemError in a bare repository, Refused if a finding of the gate in the history blocks (unlike a file, a
    commit cannot be left out), Changed if another process writes one of the files meanwhile, Locked, and GitFailed.
    After any failure neither a file nor the merge is left.
    """
    if repo.root is None:
        raise errors.GitMemError("a bare repository holds no memory files", "make it in a clone")
    if plan.history and plan.files:
        ensure_can_commit(repo)
        _scan_history(plan.source, now, environ)
    with writer(repo):
        existing = {path: _existing(repo.root, path) for _, path, _ in plan.files}
        writable = {path for path, data in existing.items() if data is None or data in template_versions(path)}
        contents = {path: data for _, path, data in plan.files if path in writable}
        if plan.settings is not None:
            existing[TRACKED], contents[TRACKED] = settings_now(repo.root), plan.settings
        before = position(repo)
        with replaced(repo, contents, {path: existing[path] for path in contents}, before=before):
            commit = ""
            if plan.history and plan.files:
                commit = _with_history(repo, plan.source, contents, before)
    return Imported(plan, tuple(contents), commit)


def _scan_history(source: Path, now: datetime, environ: Mapping[str, str]) -> None:
    """Scan all commits of the source's HEAD; the source must have a commit. Raises Refused if a finding blocks; the
    message names the first MAX_NAMED_FINDINGS."""
    policy = Policy(layouts=(Layout(notes=True),), today=now.date())
    source_repo = open_repository(source, _without_git_paths(environ))
    try:
        head = source_repo.head()
        assert head is not None
        report = scan(files_of_commits(source_repo, [head], policy), policy)
    finally:
        source_repo.close()
    blocking = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    if blocking:
        named = blocking[:MAX_NAMED_FINDINGS]
        places = "; ".join(f"{f.rule} in {f.path!r} at {f.commit[:12] or 'HEAD'}" for f in named)
        if len(blocking) > len(named):
            places += f" and {len(blocking) - len(named)} more"
        raise errors.Refused(
            f"the history there does not pass the gate: {places}",
            "bring the files alone with --no-history, or clean the history first (docs/leaked-secret.md)",
        )


def _with_history(repo: Repository, source: Path, paths: Collection[str], before: Position) -> str:
    """Commit the files `paths` with both histories as parents, or on top of the imported one if this repository has no
    commit.

    Returns the oid of the commit. Raises Changed if the branch is not that of `before`. After a failure the merge is
    undone.
    """
    fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
    run_git(repo, [*fetch, str(source), "+HEAD:refs/gitmem/import"])
    try:
        if before.head:
            merge = ["merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours", "--allow-unrelated-histories"]
            run_git(repo, [*merge, "refs/gitmem/import"])
        else:
            run_git(repo, ["reset", "--quiet", "--soft", "refs/gitmem/import"])
        begun = repo.head()
        try:
            if before.head:  # Git switches no branch from now on
                ensure_position(repo, before)
            run_git(repo, ["add", "--", *paths])
            message = f"memory: import {counted(len(paths), 'file')} with their history"
            run_commit(repo, ["commit", "--quiet", "--allow-empty", "-F", "-"], stdin=message + "\n")
        except BaseException as error:
            if repo.head() == begun:  # otherwise it was interrupted after the commit, which stays
                if before.head:  # `merge --abort` removes staged files, with the lines that somebody added meanwhile
                    with suppress(errors.GitFailed):
                        run_git(repo, ["reset", "--quiet", "--", *paths])
                _undo(repo, ["merge", "--abort"] if before.head else ["update-ref", "-d", "HEAD"], error)
            raise
    finally:
        with suppress(errors.GitFailed):  # the earlier error is the one to report; the next import overwrites the ref
            run_git(repo, ["update-ref", "-d", "refs/gitmem/import"])
    return repo.head() or ""


def _undo(repo: Repository, command: list[str], error: BaseException) -> None:
    """Run the git command that undoes the import after `error`. If the command fails and `error` is a GitMemError,
    raise one with both messages and with the command in its hint."""
    try:
        run_git(repo, command)
    except errors.GitFailed as problem:
        if isinstance(error, errors.GitMemError):
            hint = "\n".join(filter(None, [f"git {' '.join(command)}", error.hint]))
            raise errors.GitMemError(f"{error.message}; {problem.message}", hint) from error
