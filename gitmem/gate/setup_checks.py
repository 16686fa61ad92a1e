"""Whether the gate is installed as it should be: hooks, pinned revisions, modes, exceptions, settings. Reads only.

`git mem doctor` shows it beside its comparison of the index.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import BadConfig, OutsideRepository
from gitmem.gate import exceptions
from gitmem.git import hook_files
from gitmem.git.protocol import Repository
from gitmem.git.worktree import read_bytes

PINNED = re.compile(r"v?\d+\.\d+\.\d+([.+-][0-9A-Za-z.+-]+)?|[0-9a-f]{40}|[0-9a-f]{64}")
FRAMEWORK = ".pre-commit-config.yaml"


def examine(repo: Repository, config: Config, hooks: Path, today: date) -> list[Check]:
    """The checks of the gate, in the order a person should mend them."""
    framework = _text(repo, FRAMEWORK)
    return [
        _hooks(hooks, "git-mem-scan" in framework),
        *_revisions(framework),
        _modes(repo),
        _exceptions(repo, today),
        Check(
            "settings",
            "; ".join(config.warnings[:3]),
            "docs/config.md says who may set what" if config.warnings else "",
        ),
    ]


def _hooks(folder: Path, framework: bool) -> Check:
    state = hook_files.installed(folder)
    present = [name for name, how in state.items() if how != "missing"]
    if not present:
        detail = "pre-commit runs them" if framework else "none of ours are installed: git mem install"
        return Check("hooks", detail=detail)
    old = [name for name, how in state.items() if how == "old"]
    expected = hook_files.HOOKS if any(name in hook_files.GATES for name in present) else hook_files.REFRESH
    missing = [name for name in expected if state[name] == "missing"]
    wrong = [f"changed or of another version: {', '.join(old)}"] if old else []
    wrong += [f"missing: {', '.join(missing)}"] if missing else []
    return Check("hooks", "; ".join(wrong), "git mem install" if wrong else "", f"{len(present)} in {folder}")


def _revisions(text: str) -> Iterator[Check]:
    """One check for each repository of pre-commit's configuration that gives our hooks."""
    if "git-mem" not in text:
        return
    import yaml

    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        yield Check("hook revision", f"{FRAMEWORK} cannot be read", f"mend {FRAMEWORK}")
        return
    for row in _ours(value):
        rev = str(row.get("rev", ""))
        if row.get("repo") in ("local", "meta"):
            continue
        loose = "" if PINNED.fullmatch(rev) else f"'{rev}' in {FRAMEWORK} can be moved to other code"
        yield Check("hook revision", loose, "pin a full version (vX.Y.Z) or a commit" if loose else "", rev)
        extra = [str(d) for hook in row["hooks"] for d in hook.get("additional_dependencies", []) if "==" not in str(d)]
        if extra:
            yield Check("hook revision", f"additional_dependencies are not pinned: {extra[0]}", "write name==version")


def _ours(value: Any) -> Iterator[dict[str, Any]]:
    rows = value.get("repos", []) if isinstance(value, dict) else []
    for row in rows if isinstance(rows, list) else []:
        hooks = row.get("hooks") if isinstance(row, dict) else None
        hooks = [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
        if any(str(hook.get("id", "")).startswith("git-mem") for hook in hooks):
            yield {**row, "hooks": hooks}


def _modes(repo: Repository) -> Check:
    """State of ours that others on this machine can read or write."""
    folder = repo.common_dir / "gitmem"
    open_ = [path.name for path in _within(folder) if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    wrong = f"others can read or write {', '.join(open_[:3])} in {folder}" if open_ else ""
    return Check("modes", wrong, f"chmod -R go-rwx '{folder}'" if wrong else "")


def _within(folder: Path) -> Sequence[Path]:
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [folder, *(path for path in sorted(folder.iterdir()) if not path.is_symlink())]


def _exceptions(repo: Repository, today: date) -> Check:
    try:
        entries = exceptions.parse(_text(repo, exceptions.FILE)).entries
    except BadConfig as error:
        return Check("exceptions", error.message, error.hint)
    ended = [entry for entry in entries if entry.expired(today)]
    wrong = f"{len(ended)} of {len(entries)} have ended" if ended else ""
    return Check("exceptions", wrong, "git mem scan --audit lists them" if wrong else "", f"{len(entries)} in force")


def _text(repo: Repository, path: str) -> str:
    if repo.root is None:
        return ""
    try:
        return read_bytes(repo.root, path, 1 << 20).decode("utf-8", "replace")
    except (OSError, OutsideRepository):
        return ""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of `doctor`: `wrong` says what does not hold, "" when it does; `hint` what to type."""

    name: str
    wrong: str = ""
    hint: str = ""
    detail: str = ""
