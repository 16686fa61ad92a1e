"""What a person or a program reads: escaping, colour, pager, editor, JSON, progress, crash logs.

Answers go to stdout, everything else to stderr. Nothing that came from a repository is printed without `escape`.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gitmem.json_values import json_value
from gitmem.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TextIO

    from gitmem.gate.redaction import Mask
    from gitmem.git.opening import Repository
    from gitmem.memory.rivals import Rival

MAX_RIVALS = 10  # pairs of statements that one answer of a writer names
STYLES = {
    "path": "35",
    "line": "32",
    "match": "1;31",
    "heading": "1",
    "dim": "2",
    "bad": "31",
    "good": "32",
    "warn": "33",
}


SEVERITY = re.compile(r"^((?:accepted: )?\S[^\n]*?:\d+:\d+: )(block|warn)(?= )", re.MULTILINE)  # of gate.report's lines


def escape(text: str, keep: str = "\n\t") -> str:
    """Control, bidirectional and other invisible characters as `\\x1b`, `\\u202e`; lone surrogates as `\\udc80`.

    What a terminal or a CI log would obey is shown instead (docs/threats.md, A32).
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _hostile(c) else _spell(c) for c in text)


def _hostile(c: str) -> bool:
    code = ord(c)
    return (
        code < 0x20
        or 0x7F <= code < 0xA0
        or code in (0x061C, 0x180E)  # marks of direction and of vowels that are not seen
        or 0x200B <= code <= 0x200F
        or 0x2028 <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or 0xD800 <= code < 0xE000
        or code == 0xFEFF
        or 0xFFF9 <= code <= 0xFFFB
        or 0xE0000 <= code < 0xE0200
    )


def _spell(c: str) -> str:
    """One character as an escape sequence of Python: `\\x1b`, `\\u202e` or `\\U000e0001`."""
    code = ord(c)
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def printable(text: str) -> bytes:
    """UTF-8 that always encodes: what is not Unicode text is spelled out."""
    return text.encode("utf-8", "backslashreplace")


def colour(when: str, stream: TextIO | None = None) -> bool:
    """Whether to colour: `when` is auto, always or never; NO_COLOR and dumb terminals turn `auto` off."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return (stream or sys.stdout).isatty()


def paint(text: str, style: str, on: bool) -> str:
    """`text` in a style of STYLES when `on`."""
    if on:
        return f"\x1b[{STYLES[style]}m{text}\x1b[m"
    return text


def paint_severities(report: str) -> str:
    """A scan's report with `block` in red and `warn` in yellow, where standard output takes colour."""
    if not colour("auto"):
        return report
    styles = {"block": "bad", "warn": "warn"}
    return SEVERITY.sub(lambda found: found[1] + paint(found[2], styles[found[2]], True), report)


def json_text(value: Any, *, lines: bool = False) -> str:
    """One JSON value and a line end, indented unless `lines` (JSON Lines). Keys in the order given."""
    text = json.dumps(value, ensure_ascii=False, indent=None if lines else 2)
    if not text.isascii() or "\x7f" in text:  # DEL is ASCII and a terminal obeys it
        # What a terminal would obey, and lone surrogates, have an ASCII spelling in JSON: the value is the same.
        text = "".join(c if c == "\n" or not _hostile(c) else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def write_json(value: Any, *, lines: bool = False) -> None:
    """`json_text` of a value on stdout; of our own values as `json_value` has them."""
    page(json_text(json_value(value), lines=lines))


def write(text: str) -> None:
    """Text on stdout, always encodable."""
    sys.stdout.flush()
    sys.stdout.buffer.write(printable(text))
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line for the person on stderr, escaped."""
    sys.stderr.write(printable(escape(text) + "\n").decode())
    sys.stderr.flush()


def say_progress(words: str) -> None:
    """How far a run of a model is, a line on stderr."""
    say(f"git mem: {words}")


def say_warnings(warnings: Sequence[str]) -> None:
    """Say what of the settings is not understood or not allowed (`Config.warnings`), the first three."""
    for warning in warnings[:3]:
        say(f"git mem: {warning}")


def say_masked(masks: Sequence[Mask]) -> None:
    """Say what the gate masked of what was given, and how to keep it; nothing where nothing was."""
    if masks:
        from gitmem.gate.redaction import masked_words

        say(masked_words(masks))


def say_differs(rivals: Iterable[Rival], *, each: bool = True) -> None:
    """Say which facts new statements repeat, replace, end or conflict with; `each` names the statement too."""
    from gitmem.memory.rivals import placed_sentence, sentence

    found = list(rivals)
    for rival in found[:MAX_RIVALS]:
        say(escape(placed_sentence(rival) if each else sentence(rival), ""))
    if len(found) > MAX_RIVALS:
        say(f"and {len(found) - MAX_RIVALS} more: git mem settle lists them")


def page(text: str, *, wrap: bool = False) -> None:
    """`write`, on a terminal that `text` does not fit through Git's pager (GIT_PAGER, the user's own core.pager, PAGER,
    less -FRX). `wrap`: on a terminal, lines are wrapped to its width (what a program or a model reads is not).

    Git is asked outside the repository: a command of the clone's configuration is never run.
    """
    if not sys.stdout.isatty():
        write(text)
        return
    if wrap:
        from gitmem.cli.line_wrapping import terminal_width, wrapped

        text = wrapped(text, terminal_width())
    if _fits(text):
        write(text)
        return
    import subprocess

    outside = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    asked = subprocess.run(["git", "-C", "/", "var", "GIT_PAGER"], capture_output=True, text=True, env=outside)
    command = asked.stdout.strip() or "less"
    if command == "cat":
        write(text)
        return
    sys.stdout.flush()
    env = {"LESS": "FRX", "LV": "-c", **os.environ}
    # The command is a person's own; a pager that ends early has shown enough, and `communicate` takes that as done.
    subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=env).communicate(printable(text))  # noqa: S602


def _fits(text: str) -> bool:
    """Whether the terminal shows all of `text` and a prompt below it."""
    from gitmem.cli.line_wrapping import columns_of

    size = os.get_terminal_size(sys.stdout.fileno())
    return sum(1 + columns_of(line) // (size.columns or 80) for line in text.splitlines()) < (size.lines or 24)


def edited(repo: Repository, text: str) -> str | None:
    """What a person makes of `text` in Git's editor; None where it was not saved.

    The editor is what Git's own settings say, arguments and shell syntax too: sh runs it, as for Git. Raises UsageError
    for a text that is not UTF-8, before or after, and an editor that ends with a failure.
    """
    import tempfile

    from gitmem.errors import UsageError
    from gitmem.git.write import run_git

    named = {name: os.environ[name] for name in ("GIT_EDITOR",) if name in os.environ}
    editor = run_git(repo, ["var", "GIT_EDITOR"], env=named).strip()
    try:
        data = text.encode()
    except UnicodeError:
        raise UsageError("the text is not UTF-8", "save it as UTF-8") from None
    with tempfile.TemporaryDirectory(prefix="git-mem-") as folder:
        file = Path(folder, "text.md")
        file.write_bytes(data)
        os.utime(file, ns=(0, 0))  # so that a text saved unchanged differs from one that was not saved
        _edit(editor, file)
        if not file.stat().st_mtime_ns:
            return None
        try:
            return file.read_bytes().removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
        except UnicodeError:
            raise UsageError("the text is not UTF-8", "save it as UTF-8") from None


def _edit(editor: str, file: Path) -> None:
    """Open a file in an editor and wait for its end. Raises UsageError where that cannot be or fails."""
    import shutil
    import subprocess

    from gitmem.errors import UsageError

    hint = "git var GIT_EDITOR shows its command"
    shell = shutil.which("sh") or _shell_of_git()
    try:
        ended = subprocess.run([shell, "-c", f'{editor} "$@"', editor, str(file)]).returncode
    except (OSError, ValueError):
        raise UsageError("Git's editor cannot be started", hint) from None
    if ended or not file.exists():
        raise UsageError(f"Git's editor ended with {ended}; nothing was taken from it", hint)


def _shell_of_git() -> str:
    """The sh that comes with Git for Windows, which is not on the PATH there."""
    import subprocess

    found = subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()
    places = [parent / "bin/sh.exe" for parent in Path(found).parents]
    return next((str(place) for place in places if place.is_file()), "sh")


def progress(items: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Yield `items`, with a counter on stderr when it is a terminal and the work is long."""
    if not sys.stderr.isatty() or total < 200:
        yield from items
        return
    for number, item in enumerate(items, 1):
        if number % 50 == 0 or number == total:
            sys.stderr.write(f"\r{what}: {number}/{total}")
            sys.stderr.flush()
        yield item
    sys.stderr.write("\r\x1b[K")


class ProgressLine:
    """One line on a terminal's standard error that says how far a work is, from a second after its start on. `clear`
    it before anything else is written."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._shown = False

    def say(self, text: str) -> None:
        """Show a text in place of the one before."""
        if self._clock() - self._start >= 1.0 and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def write_crash_log(error: BaseException) -> str:
    """Write traceback and versions to a private file and return its path.

    Frames carry file, line and function; no values, no source text of memory, and not the exception's message
    (it may quote what was scanned).
    """
    import platform
    import tempfile
    import traceback

    from gitmem import __version__

    frames = traceback.extract_tb(error.__traceback__)
    text = [f"git-mem {__version__}, Python {platform.python_version()}, {platform.platform()}"]
    text += [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    text.append(type(error).__name__)
    handle, path = tempfile.mkstemp(prefix="git-mem-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    return path


def open_missing() -> None:
    """Open on nothing what of standard input, output and error is closed: a file that is opened next would take its
    place, and what a library prints would be written into it."""
    for handle, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            try:
                os.fstat(handle)
            except OSError:
                nothing = os.open(os.devnull, os.O_RDWR)
                if nothing != handle:
                    os.dup2(nothing, handle)
                    os.close(nothing)
                os.set_inheritable(handle, True)  # as the real ones are: git's are not to be taken either
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - as long as we run
