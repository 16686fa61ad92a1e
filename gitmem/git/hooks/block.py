"""The marked block that `git mem install` puts into a hook file: its text, made from the shell scripts in scripts/.

If our command ends with another code than 0, the block of a hook that gates ends the hook with 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gitmem.git.hooks.filters import IMPORT, IMPORTERS, MAY_HOLD, PATHSPECS
from gitmem.git.marked_block import BEGIN, END

FIRST_LINE = f"{BEGIN} put here by `git mem install`; `git mem uninstall` takes it out"
HEADER = "#!/bin/sh\n# made by `git mem install`\n"  # before the block, in a hook file that had nothing else

FOLDER = Path(__file__).with_name("scripts")
PLACEHOLDER = re.compile(r"@(\w+)@")
GATE = ("refuse", "staged", "scan_staged")
# Hook -> the scripts of its block, after `run`.
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

# In a folder that serves several repositories, the block acts for those whose Git directories it names, a line each:
# a path may hold a colon.
ONLY = re.compile(rb"^gitmem_only='((?:[^']|'\\'')*)'$", re.MULTILINE)
IF_NAMED = 'case "\n$gitmem_only\n" in *"\n$(git rev-parse --path-format=absolute --git-common-dir)\n"*)'


def block(hook: str, python: str = "", promote: str = "", git_dirs: Sequence[str] = ()) -> str:
    """The block of a hook.

    `python`: the interpreter to run, "" for `git-mem` on PATH. `promote`: the mode of a promotion after a commit, ""
    for none. `git_dirs`: the Git directories for which the block acts, empty if the hook folder belongs to one
    repository.
    """
    lines = [script(name, hook, python, promote) for name in ("run", *SCRIPTS[hook])]
    if git_dirs:
        lines = [_only_line(git_dirs), IF_NAMED, *lines, ";; esac"]
    return "\n".join([FIRST_LINE, *lines, END, ""])


def shim(hook: str, python: str = "", promote: str = "") -> str:
    """The whole file of a hook that has only our block, as in `hooks/HOOK` of the project. `python`, `promote`: as for
    `block`."""
    return HEADER + block(hook, python, promote)


def script(name: str, hook: str = "", python: str = "", promote: str = "") -> str:
    """A script of scripts/ with its placeholders (`@hook@`) filled in and without the lines that begin with `#`.

    `name`: the file's name without `.sh`. `hook`: put in as it is. `python`, `promote`: each is quoted here as one word
    of the shell.
    """
    values = {
        "hook": hook, "python": _quoted(python), "promote": _quoted(promote), "begin": BEGIN, "end": END,
        "pathspecs": _all_quoted(PATHSPECS), "importers": _all_quoted(IMPORTERS), "import": IMPORT,
        "may_hold": "|".join(MAY_HOLD),
    }  # fmt: skip
    lines = (FOLDER / f"{name}.sh").read_text(encoding="utf-8").splitlines()
    code = "\n".join(line for line in lines if not line.startswith("#"))
    return PLACEHOLDER.sub(lambda placeholder: values[placeholder[1]], code)


def repositories(data: bytes) -> tuple[str, ...]:
    """The Git directories for which the block in a hook file acts; empty if it names none."""
    line = ONLY.search(data)
    if line is None:
        return ()
    return tuple(os.fsdecode(line[1]).replace("'\\''", "'").split("\n"))


def with_repositories(data: bytes, git_dirs: Sequence[str]) -> bytes:
    """The content of a hook file whose block acts for the Git directories `git_dirs` instead of those that it named;
    unchanged if it named none."""
    return ONLY.sub(lambda _: os.fsencode(_only_line(git_dirs)), data, count=1)


def is_current(text: bytes, hook: str) -> bool:
    """Whether `text` is the block that this version writes for `hook`, whatever the interpreter, promotion and
    repositories."""
    without_options = re.sub(rb"^(gitmem_python|gitmem_promote)=.*$", rb"\1=''", text, flags=re.MULTILINE)
    return without_options == os.fsencode(block(hook, git_dirs=repositories(text)))


def _only_line(directories: Sequence[str]) -> str:
    return "gitmem_only=" + _quoted("\n".join(directories))


def _all_quoted(words: Iterable[str]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
