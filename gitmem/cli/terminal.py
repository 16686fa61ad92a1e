"""Output of the commands and input from an editor: escaping, colour, pager, JSON, progress, crash logs.

Results go to stdout, everything else to stderr. No text of a repository is printed without `escape`. Every command and
host hook imports this module, so modules that only some of them need are imported inside functions.
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
from typing import TYPE_CHECKING, Any, TextIO

from gitmem.json_values import json_value

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask
    from gitmem.git.opening import Repository
    from gitmem.memory.rivals import Rival

MAX_RIVALS = 10  # facts that a command names after a write because the new statement repeats or contradicts them
MIN_PROGRESS_ITEMS = 200  # items from which on `progress` shows a counter
PROGRESS_STEP = 50  # items between two updates of the counter
STYLES = {  # style -> parameters of the terminal's colour code
    "path": "35",
    "line": "32",
    "match": "1;31",
    "heading": "1",
    "dim": "2",
    "bad": "31",
    "good": "32",
    "warn": "33",
}
# The severity in a line of a scan's report (`gate.reports.text.as_text`).
SEVERITY = re.compile(r"^((?:accepted: )?\S[^\n]*?:\d+:\d+: )(block|warn)(?= )", re.MULTILINE)


def escape(text: str, keep: str = "\n\t") -> str:
    """`text` with control, bidirectional and invisible characters spelled as `\\x1b` or `\\u202e`, and lone surrogates
    as `\\udc80`, so that a terminal or a CI log shows them and does not obey them (docs/threats.md, A32).

    `keep`: characters that are not spelled out.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _is_hostile(c) else _escaped(c) for c in text)


def _is_hostile(c: str) -> bool:
    """Whether a terminal could obey a character or would not show it."""
    code = ord(c)
    return (
        code < 0x20
        or 0x7F <= code < 0xA0
        or code in (0x061C, 0x180E)  # invisible: Arabic letter mark, Mongolian vowel separator
        or 0x200B <= code <= 0x200F
        or 0x2028 <= code <= 0x202E
        or 0x2060 <= code <= 0x206F
        or 0xD800 <= code < 0xE000
        or code == 0xFEFF
        or 0xFFF9 <= code <= 0xFFFB
        or 0xE0000 <= code < 0xE0200
    )


def _escaped(c: str) -> str:
    r"""One character as an escape sequence of Python: `\\x1b`, `\\u202e` or `\\U000e0001`."""
    code = ord(c)
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def printable(text: str) -> bytes:
    """`text` as UTF-8; lone surrogates, which UTF-8 cannot encode, are spelled out."""
    return text.encode("utf-8", "backslashreplace")


def uses_colour(setting: str, stream: TextIO | None = None) -> bool:
    """Whether to print in colour. `setting`: "auto" (on a terminal, without NO_COLOR and TERM=dumb), "always" or
    "never". `stream`: None for stdout."""
    if setting != "auto":
        return setting == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return (stream or sys.stdout).isatty()


def can_ask() -> bool:
    """Whether a person can be asked: standard input and standard error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def paint(text: str, style: str, in_colour: bool) -> str:
    """`text` in a style of STYLES; unchanged if not `in_colour`."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[m" if in_colour else text


def aligned(rows: Iterable[tuple[str, str]], label_columns: int = 0) -> list[str]:
    """Lines of (label, text) each, whose texts begin in one column: one space after the longest label, or after
    `label_columns` columns if no label is longer."""
    rows = list(rows)
    width = max([label_columns, *(len(label) for label, _ in rows)])
    return [f"{label:<{width}} {text}" for label, text in rows]


def paint_severities(report: str) -> str:
    """A scan's report with `block` in red and `warn` in yellow; unchanged if stdout takes no colour."""
    if not uses_colour("auto"):
        return report
    styles = {"block": "bad", "warn": "warn"}
    return SEVERITY.sub(lambda match: match[1] + paint(match[2], styles[match[2]], in_colour=True), report)


def json_text(value: Any, *, lines: bool = False) -> str:
    """A value as JSON, with a newline at the end. `lines`: on one line (JSON Lines); else indented."""
    text = json.dumps(value, ensure_ascii=False, indent=None if lines else 2)
    if not text.isascii() or "\x7f" in text:  # DEL is ASCII and a terminal obeys it
        # JSON can spell hostile characters and lone surrogates in ASCII; the value stays the same.
        text = "".join(c if c == "\n" or not _is_hostile(c) else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def write_json(value: Any, *, lines: bool = False) -> None:
    """Print a value, encoded by `json_value`, as the text of `json_text`; through the pager on a terminal."""
    page(json_text(json_value(value), lines=lines))


def write(text: str) -> None:
    """Print text on stdout as it is, without a line break at its end; only lone surrogates are escaped."""
    sys.stdout.flush()
    sys.stdout.buffer.write(printable(text))
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Print one line on stderr, escaped; a line break in it, as in the name of a file, is spelled as `\\x0a`."""
    sys.stderr.write(printable(escape(text, "\t") + "\n").decode())
    sys.stderr.flush()


def say_lines(text: str) -> None:
    """Print a text of one or more lines on stderr, escaped. A name or path in it must be spelled without line breaks
    (`escape`, `shell_word`), so that it adds no line of its own."""
    for line in text.split("\n"):
        say(line)


def say_progress(words: str) -> None:
    """Print on stderr how far the run of a model is."""
    say(f"git mem: {words}")


def say_warnings(warnings: Sequence[str]) -> None:
    """Print the first three warnings about settings that are unknown or not allowed (`Config.warnings`)."""
    for warning in warnings[:3]:
        say(f"git mem: {warning}")


def say_masked(masks: Sequence[Mask]) -> None:
    """Print what the gate masked in a text, and the option that keeps it. Prints nothing if there are no masks."""
    if masks:
        from gitmem.gate.redaction import masked_words

        say(masked_words(masks))


def say_rivals(rivals: Iterable[Rival], *, each: bool = True) -> None:
    """Print the facts that the new statements repeat, replace, end or contradict, at most MAX_RIVALS. `each`: name the
    place of the new statement too."""
    from gitmem.memory.rivals import placed_sentence, sentence

    listed = list(rivals)
    for rival in listed[:MAX_RIVALS]:
        say(escape(placed_sentence(rival) if each else sentence(rival), ""))
    if len(listed) > MAX_RIVALS:
        say(f"and {len(listed) - MAX_RIVALS} more: git mem settle lists them")


def first_names(names: Sequence[str], limit: int) -> str:
    """The first `limit` names, separated by commas, and the number of the others: "a, b and 3 more"."""
    shown = ", ".join(names[:limit])
    if len(names) > limit:
        return f"{shown} and {len(names) - limit} more"
    return shown


def page(text: str, *, wrap: bool = False) -> None:
    """Print text on stdout: through Git's pager if stdout is a terminal and the text has more lines than fit.

    The pager is GIT_PAGER, the user's own core.pager, PAGER, or `less -FRX`. Git names it outside the repository, so
    that no command of the clone's configuration is run. `wrap`: wrap lines to the width of a terminal.
    """
    if not sys.stdout.isatty():
        write(text)
        return
    if wrap:
        from gitmem.cli.line_wrapping import terminal_width, wrap_text

        text = wrap_text(text, terminal_width())
    if _fits(text):
        write(text)
        return
    import subprocess

    outside = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    result = subprocess.run(["git", "-C", "/", "var", "GIT_PAGER"], capture_output=True, text=True, env=outside)
    command = result.stdout.strip() or "less"
    if command == "cat":
        write(text)
        return
    sys.stdout.flush()
    env = {"LESS": "FRX", "LV": "-c", **os.environ}
    # The command is the user's own. `communicate` does not fail if the pager ends before it has read everything.
    subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=env).communicate(printable(text))  # noqa: S602


def _fits(text: str) -> bool:
    """Whether the terminal has enough lines for all of `text` and a prompt below it."""
    from gitmem.cli.line_wrapping import columns_of

    size = os.get_terminal_size(sys.stdout.fileno())
    return sum(1 + columns_of(line) // (size.columns or 80) for line in text.splitlines()) < (size.lines or 24)


def edit_text(repo: Repository, text: str) -> str | None:
    """Open `text` in Git's editor and return the text that the person saved; None if the person did not save.

    sh runs the editor's command, as for Git, so it may contain arguments and shell syntax. Raises UsageError if the
    text is not UTF-8, before or after, or if the editor fails; GitFailed if Git names no editor.
    """
    import tempfile

    from gitmem.errors import UsageError
    from gitmem.git.write import run_git

    editor_setting = {name: os.environ[name] for name in ("GIT_EDITOR",) if name in os.environ}
    editor = run_git(repo, ["var", "GIT_EDITOR"], env=editor_setting).strip()
    try:
        data = text.encode()
    except UnicodeError:
        raise UsageError("the text is not UTF-8", "save it as UTF-8") from None
    with tempfile.TemporaryDirectory(prefix="git-mem-") as folder:
        file = Path(folder, "text.md")
        file.write_bytes(data)
        os.utime(file, ns=(0, 0))  # tells a text that was saved unchanged from one that was not saved
        _edit(editor, file)
        if not file.stat().st_mtime_ns:
            return None
        try:
            return file.read_bytes().removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
        except UnicodeError:
            raise UsageError("the text is not UTF-8", "save it as UTF-8") from None


def _edit(editor: str, file: Path) -> None:
    """Open a file in an editor and wait until it ends. Raises UsageError if the editor cannot be started or fails."""
    import shutil
    import subprocess

    from gitmem.errors import UsageError

    hint = "git var GIT_EDITOR shows its command"
    shell = shutil.which("sh") or _shell_of_git()
    try:
        status = subprocess.run([shell, "-c", f'{editor} "$@"', editor, str(file)]).returncode
    except (OSError, ValueError):
        raise UsageError("Git's editor cannot be started", hint) from None
    if status or not file.exists():
        raise UsageError(f"Git's editor ended with {status}; nothing was taken from it", hint)


def _shell_of_git() -> str:
    """The path of the sh that Git for Windows ships, which is not on the PATH; "sh" if there is none."""
    import subprocess

    folder = subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()
    places = [parent / "bin/sh.exe" for parent in Path(folder).parents]
    return next((str(place) for place in places if place.is_file()), "sh")


def progress(items: Iterable[Any], total: int, label: str) -> Iterator[Any]:
    """Yield `items`. If `total`, their number, is MIN_PROGRESS_ITEMS or more, show a counter after the word `label` on
    stderr, if that is a terminal."""
    if not sys.stderr.isatty() or total < MIN_PROGRESS_ITEMS:
        yield from items
        return
    for number, item in enumerate(items, 1):
        if number % PROGRESS_STEP == 0 or number == total:
            sys.stderr.write(f"\r{label}: {number}/{total}")
            sys.stderr.flush()
        yield item
    sys.stderr.write("\r\x1b[K")


class ProgressLine:
    """A line on stderr with the progress of a task: only on a terminal, and from one second after its start. `clear`
    must be called before anything else is printed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._shown = False

    def say(self, text: str) -> None:
        """Replace the text of the line."""
        if self._clock() - self._start >= 1.0 and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def write_crash_log(error: BaseException) -> str:
    """Write the traceback and the versions to a private file and return its path.

    The file has no values and not the exception's message, which may quote memory: only the file, line and function of
    each frame, and the exception's type.
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


def open_closed_streams() -> None:
    """Open the null device for each of standard input, output and error that is closed. Otherwise the next opened file
    would get that number, and the output of a library would be written into it."""
    for handle, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            try:
                os.fstat(handle)
            except OSError:
                nothing = os.open(os.devnull, os.O_RDWR)
                if nothing != handle:
                    os.dup2(nothing, handle)
                    os.close(nothing)
                os.set_inheritable(handle, True)  # so that git inherits open ones, too
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end
