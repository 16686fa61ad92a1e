"""Installs and removes our Git hooks: a marked block in each hook file, next to what a person has there.

A shell script keeps every byte and gets our block after its first line. Any other file (a binary, a Python script, a
link, a file that Git would not run) is renamed, called by our hook, and renamed back by `uninstall`. If our command
ends with another code than 0, a hook that gates ends with 1. This module writes only the hook folder that it is given;
the texts of the blocks are in hook_scripts/.

Other programs write hook files too: husky writes its folder again at each installation of packages, lefthook replaces
the files of its configuration, and a folder in the user's own configuration serves all repositories. So the Git
directory holds a list of the installed hooks, and a block in a shared folder acts only for the repositories it names.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem import system
from gitmem.agent_paths import FOLDERS, IMPORTING
from gitmem.errors import GitMemError
from gitmem.messages import Message
from gitmem.paths import AGENT_ENDINGS, LEADING_KEYS, LEADING_SETTINGS, TEXT_ENDINGS

if TYPE_CHECKING:
    from gitmem.git.repository import Repository

# Hooks that may refuse, that change the commit message, and that update the index afterwards.
GATES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push", "pre-applypatch", "applypatch-msg")
WRITING = ("prepare-commit-msg",)
REFRESH = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
HOOKS = (*GATES, *WRITING, *REFRESH)
SERVER = ("pre-receive",)  # hooks of a server's repository
REMEMBERED = "hooks"  # file of the state folder with the names of the installed hooks
SAVED = ".before-git-mem"  # suffix of a renamed hook that cannot hold our block
BEGIN_MARK = "# >>> git mem >>>"
BEGIN = f"{BEGIN_MARK} put here by `git mem install`; `git mem uninstall` takes it out"
END = "# <<< git mem <<<"
OURS = "#!/bin/sh\n# made by `git mem install`\n"
BLOCK = re.compile(rb"^# >>> git mem >>>.*?^# <<< git mem <<<\n", re.MULTILINE | re.DOTALL)
SHELL = re.compile(
    rb"#!\s*(?:/\S*/)?(?:env\s+)?(?:-S\s+)?(?:/\S*/)?(?:sh|bash|dash|ash|ksh|zsh)(?:[ \t]+-\w+)*[ \t]*\n"
)

# `staged.sh` asks Git about these files, patterns of pathspecs.
TOPS = tuple(dict.fromkeys(folder.partition("/")[0] for folder in FOLDERS))  # a link may be anywhere below them
PATHSPECS = (
    ":(icase)memory", ":(icase)*.rules", *(f":(icase)*{end}" for end in AGENT_ENDINGS),
    *(f":(icase)*{top}*" for top in TOPS),
    *(f":(icase,glob)**/skills/**/*{end}" for end in TEXT_ENDINGS if end not in AGENT_ENDINGS),
)  # fmt: skip
LEADING = (*IMPORTING, *(f"{folder}/*" for folder in FOLDERS), *LEADING_SETTINGS)  # files that may import any other
LEADS = rf"(^|[^a-zA-Z0-9.])@[a-zA-Z0-9._/~\"-]|({'|'.join(LEADING_KEYS)})[^a-zA-Z0-9]*[:=]"
# What a detector may find in a commit message: only plain English words and short numbers are not read
# (tests/git/test_message_filter.py). Lines with `#` count, because `git commit -m` keeps them.
MAY_HOLD = (
    "[^ -~[:space:]]", "[[:cntrl:]]", "[a-z0-9_+=-]{16}", "[a-z][0-9]|[0-9][a-z]", "[0-9]([^a-z0-9]?[0-9]){3}",
    r"[@=<>|\\]", "://", " / ",
    "pass|pwd|pw|pin|secret|token|key|cred|auth|login|user|account|admin|root|seed|phrase|mnemonic|wallet|cookie",
    "senha|clave|contras|kenn|wort|woord|geheim|parola|haslo|mot de|answer|maiden|born|mrn|patient|diagnos",
)  # fmt: skip

# In a folder that serves several repositories, the block acts for those where `git mem install` was run.
# `gitmem_only` has their Git directories, a line each: a path may hold a colon.
HERE = 'case "\n$gitmem_only\n" in *"\n$(git rev-parse --path-format=absolute --git-common-dir)\n"*)'
ONLY = re.compile(rb"^gitmem_only='((?:[^']|'\\'')*)'$", re.MULTILINE)

GATE = ("refuse", "staged", "scan_staged")
# Hook -> the scripts of hook_scripts/ that its block is made of, after `run`.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "pre-commit": GATE,
    "pre-merge-commit": GATE,
    "pre-applypatch": GATE,
    "commit-msg": ("refuse", "staged", "scan_message"),
    "applypatch-msg": ("refuse", "scan_applied_message"),
    "pre-push": ("refuse", "scan_refs"),
    "pre-receive": ("refuse", "scan_refs"),
    "prepare-commit-msg": ("staged", "add_trailers"),
    "post-commit": ("report_missing", "index_commit", "report_cited"),
    "post-merge": ("index",),
    "post-checkout": ("index",),
    "post-rewrite": ("index",),
}


def script(name: str, hook: str = "") -> str:
    """A script of hook_scripts/ for a hook, with its placeholders (`@name@`) filled and without its comments."""
    text = resources.files("gitmem.git").joinpath(f"hook_scripts/{name}.sh").read_text(encoding="utf-8")
    values = {
        "name": hook, "begin": BEGIN_MARK, "end": END, "pathspecs": _all_quoted(PATHSPECS), "leads": LEADS,
        "leading": _all_quoted(f":(icase)*{name}" for name in LEADING), "may_hold": "|".join(MAY_HOLD),
    }  # fmt: skip
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _all_quoted(words: Iterable[str]) -> str:
    return " ".join(map(_quoted, words))


def block(name: str, python: str = "", promote: str = "", only: Sequence[str] = ()) -> str:
    """The marked block of the hook `name`.

    `python`: the interpreter to run, "" for `git-mem` on PATH. `promote`: options of a promotion after a commit.
    `only`: the Git directories for which the block acts, empty if the hook folder belongs to one repository.
    """
    body = [f"gitmem_python={_quoted(python)}", *(script(each, name) for each in ("run", *SCRIPTS[name]))]
    if only:
        body = [_only_line(only), HERE, *body, ";; esac"]
    text = "\n".join([BEGIN, *body, END, ""])
    return text.replace("gitmem_promote=''", f"gitmem_promote={_quoted(promote)}")


def shim(name: str, python: str = "", promote: str = "") -> str:
    """The whole file of the hook `name` if there was none, as in `hooks/NAME` of the project."""
    return OURS + block(name, python, promote)


def _only_line(directories: Sequence[str]) -> str:
    """The assignment with the Git directories for which a block acts; `_named_in` reads it."""
    return "gitmem_only=" + _quoted("\n".join(directories))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@dataclass(frozen=True, slots=True)
class Step:
    """One change of install or uninstall. `what`: for the person to read. `path`: the file."""

    what: str
    path: Path


def install(
    folder: Path, python: str, names: Iterable[str] = HOOKS, promote: str = "", *, only: str = "", dry: bool = False
) -> list[Step]:
    """Write our block to each hook of `folder`, or update it. Returns the changes, made or (with `dry`) to be made.

    `only`: the Git directory for which the block acts, beside those that the block names already; "" if the folder
    belongs to one repository. Raises GitMemError.
    """
    steps: list[Step | None] = []
    try:
        if not dry:
            folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = folder / name
            named: tuple[str, ...] = ()
            if only:
                named = tuple(dict.fromkeys([*_named_in(path), only]))
            steps.append(_install(path, block(name, python, promote, named), dry))
    except OSError as error:
        raise GitMemError(
            Message("cannot write hooks in '{}': {}", folder, error.strerror),
            "a sandbox may forbid it: run it in your own shell",
        ) from None
    return list(filter(None, steps))


def _named_in(path: Path) -> tuple[str, ...]:
    """The Git directories that the block of a hook file names; empty if it names none."""
    match = ONLY.search(_read_plain(path))
    if not match:
        return ()
    return tuple(os.fsdecode(match[1]).replace("'\\''", "'").split("\n"))


def _install(path: Path, lines: str, dry: bool) -> Step | None:
    """Write the block `lines` to one hook file; None if the file has it already."""
    whole = OURS + lines
    if not os.path.lexists(path):
        return _write_hook(Step("new", path), os.fsencode(whole), 0o755, dry)
    data = _read_plain(path)
    if BLOCK.search(data):
        new = BLOCK.sub(lambda _: os.fsencode(lines), data, count=1)
        mode = _mode(path)
        if not is_husky(path.parent):
            mode |= 0o100  # Git passes over a hook that cannot be executed
        if new == data and mode == _mode(path):
            return None
        return _write_hook(Step("updated", path), new, mode, dry)
    first = SHELL.match(data)
    if (first and _mode(path) & 0o100) or (_is_plain(path) and is_husky(path.parent)):
        start = 0
        if first:
            start = first.end()
        new = data[:start] + os.fsencode(lines) + data[start:]
        return _write_hook(Step("added to the script that is there", path), new, _mode(path), dry)
    saved = path.with_name(path.name + SAVED)
    if os.path.lexists(saved):
        raise GitMemError(f"'{saved}' is in the way", "an earlier install was cut short: look at both, keep one")
    step = Step("new; what was there is called by it", path)
    if dry:
        return step
    os.rename(path, saved)
    try:
        return _write_hook(step, os.fsencode(whole + _call(saved)), 0o755, dry)
    except BaseException:
        os.replace(saved, path)  # without our hook, the hook that was there must go on running
        raise


def uninstall(folder: Path, *, only: str = "", dry: bool = False) -> list[Step]:
    """Remove our blocks. Every other byte, mode and link is then as it was before `install`. Returns the changes.

    A block that names other repositories beside `only` stays for those. With `dry` nothing is written. Raises
    GitMemError.
    """
    steps = []
    for name in (*HOOKS, *SERVER):
        path = folder / name
        if not os.path.lexists(path) or not _is_plain(path):
            continue
        try:
            others = [named for named in _named_in(path) if named != only]
            if others:
                line = os.fsencode(_only_line(others))
                before = path.read_bytes()
                data = ONLY.sub(lambda _: line, before, count=1)  # noqa: B023 - used at once
                if data == before:
                    continue
                steps.append(_write_hook(Step("goes on for other repositories", path), data, _mode(path), dry))
                continue
            step = _uninstall(path, dry)
        except OSError as error:
            raise GitMemError(
                Message("cannot change '{}': {}", path, error.strerror), "run it in your own shell"
            ) from None
        if step:
            steps += [step]
    return steps


def _uninstall(path: Path, dry: bool) -> Step | None:
    """Remove our block from one hook file; None if it has none."""
    data = path.read_bytes()
    if not BLOCK.search(data):
        return None
    saved = path.with_name(path.name + SAVED)
    rest = BLOCK.sub(b"", data, count=1)
    if os.path.lexists(saved) and rest == os.fsencode(OURS + _call(saved)):
        if not dry:
            os.replace(saved, path)
        return Step("what was there is back", path)
    if rest == OURS.encode():
        if not dry:
            path.unlink()
        return Step("removed", path)
    what = "our lines taken out"
    if os.fsencode(_call(saved)) in rest:
        what += f"; it has lines of yours and still calls {saved.name}"
    return _write_hook(Step(what, path), rest, _mode(path), dry)


def _call(saved: Path) -> str:
    """The lines after our block that run the renamed hook `saved`."""
    return f'gitmem_before="$(dirname -- "$0")/{saved.name}"\n[ ! -x "$gitmem_before" ] || exec "$gitmem_before" "$@"\n'


def _write_hook(step: Step, data: bytes, mode: int, dry: bool) -> Step:
    """Write a hook by a temporary file and a rename, so that Git never runs half of it. Returns `step`."""
    if dry:
        return step
    temporary = step.path.with_name(f".{step.path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.RAW, 0o700)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, step.path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return step


def _read_plain(path: Path) -> bytes:
    """The bytes of a hook file; b"" if there is none or it is not a regular file."""
    if not os.path.lexists(path) or not _is_plain(path):
        return b""
    return path.read_bytes()


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def hooks_folder(repo: Repository) -> Path:
    """The folder for the hooks of a person: Git's hook folder, or `.husky` above it if that is `.husky/_`.

    husky runs the files of `.husky`, and writes `.husky/_` again at each installation of packages.
    """
    folder = Path(_git_path(repo, "--git-path", "hooks"))
    if folder.name == "_" and folder.parent.name == ".husky":
        return folder.parent
    return folder


def is_husky(folder: Path) -> bool:
    """Whether husky (9 and newer) runs the files of `folder`: it runs them by `sh`, whatever mode and first line."""
    return folder.name == ".husky" and (folder / "_" / "h").is_file()


def lefthook_file(repo: Repository) -> Path | None:
    """The configuration file of lefthook, which replaces the hook files that it names; None if there is none."""
    if repo.root is None:
        return None
    names = (f"{dot}lefthook{end}" for dot in ("", ".") for end in (".yml", ".yaml", ".toml", ".json", ".jsonc"))
    return next((repo.root / name for name in names if (repo.root / name).is_file()), None)


def serves_others(repo: Repository, folder: Path) -> bool:
    """Whether a hook folder lies outside this repository (the user's core.hooksPath), so that it serves others too."""
    place = folder.resolve()
    own = filter(None, (repo.common_dir, repo.root))
    return not any(place.is_relative_to(each.resolve()) for each in own)


def git_directory(repo: Repository) -> str:
    """The Git directory in the form in which a block of a shared folder names it."""
    return _git_path(repo, "--git-common-dir")


def _git_path(repo: Repository, *options: str) -> str:
    """The absolute path that `git rev-parse` prints for `options`."""
    from gitmem.git.write import run_git

    return run_git(repo, ["rev-parse", "--path-format=absolute", *options]).rstrip("\n")


def remember(common_dir: Path, names: Iterable[str]) -> None:
    """Write the names of the installed hooks to the state folder, so that missing hooks are noticed.

    Without names the list is removed.
    """
    record = _record_of_hooks(common_dir)
    text = "".join(f"{name}\n" for name in names)
    if text:
        record.write_text(text, "ascii")
        record.chmod(0o600)
    else:
        record.unlink(missing_ok=True)


def remembered(common_dir: Path) -> tuple[str, ...]:
    """The names of the hooks that were installed here; () if none."""
    try:
        words = _record_of_hooks(common_dir).read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(word for word in words if word in HOOKS)


def _record_of_hooks(common_dir: Path) -> Path:
    return Path(common_dir) / "gitmem" / REMEMBERED


def is_shared(repo: Repository, folder: Path) -> bool:
    """Whether a hook folder lies in the work tree (core.hooksPath), so that its files may be tracked and shared."""
    if repo.root is None:
        return False
    place, root, ours = folder.resolve(), repo.root.resolve(), Path(repo.common_dir).resolve()
    return place.is_relative_to(root) and not place.is_relative_to(ours)


def start_of(path: Path) -> bytes:
    """The first 64 KiB of a hook file; b"" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def is_ours(path: Path) -> bool:
    """Whether a hook file has our block."""
    return BLOCK.search(start_of(path)) is not None


def installed(folder: Path) -> dict[str, str]:
    """Name of each hook -> `current`, `old` (the block of another version) or `missing`; for `doctor`."""
    states = {}
    for name in HOOKS:
        path = folder / name
        match = BLOCK.search(_read_plain(path))
        if not match:
            states[name] = "missing"
            continue
        without_options = re.sub(rb"^(gitmem_python|gitmem_promote)=.*$", rb"\1=''", match.group(), flags=re.MULTILINE)
        runs = _mode(path) & 0o100 or is_husky(folder)
        states[name] = "old"
        if without_options == os.fsencode(block(name, only=_named_in(path))) and runs:
            states[name] = "current"
    return states
