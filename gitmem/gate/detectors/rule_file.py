"""Reads and applies the token rules of a gitleaks.toml (format of gitleaks 8), given with `--rules`.

Go's regular expressions are translated. A rule that Python cannot run, `extend` and a rule about paths alone are
errors, since a rule must never be left out in silence.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from gitmem.errors import BadConfig
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.text import Match, Text

SECONDS = 2.0  # seconds that a rule may take for one text
MAX_FOUND = 10_000  # matches of a rule in one text
CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7F", "blank": "\\t ", "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9", "graph": "!-~",
    "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a gitleaks.toml: it matches where `pattern` matches, in a text that contains one of the keywords.

    `pattern`, `allowed`: in Python's syntax. `keywords`: in lower case, () for a rule that is applied to every text.
    `group`: the group of the pattern that is the secret, 0 for the first group that is not empty, or without one the
    whole match. `entropy`: least entropy of the secret, in bits a character. `allowed`: a match passes if one of these
    patterns is found in the secret or in the whole match. `stopwords`: in lower case; a secret that contains one, in
    any case, passes.
    """

    name: str
    description: str
    pattern: str
    keywords: tuple[str, ...] = ()
    group: int = 0
    entropy: float = 0.0
    allowed: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()


@contextmanager
def _bounded(rule: Rule) -> Iterator[None]:
    """Limit the time of a rule, whose pattern may backtrack without end.

    In the main thread a rule has SECONDS and then raises TimeoutError, which blocks like any detector that fails:
    Python's patterns check for signals there. In other threads there is no limit.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"the rule '{rule.name}' does not end within {SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def find(text: Text, rules: Iterable[Rule]) -> Iterator[Match]:
    """The matches of the rules in `text.raw`, the first MAX_FOUND of each rule, without those that the rule allows or
    whose entropy is below its own. Raises TimeoutError, in the main thread, for a rule that takes longer than
    SECONDS."""
    from gitmem.gate.detectors.secrets.features import entropy  # only texts with such rules need it

    lowered = text.raw.lower()
    for rule in rules:
        if rule.keywords and not any(word in lowered for word in rule.keywords):
            continue
        with _bounded(rule):
            matches = list(islice(_compiled(rule.pattern).finditer(text.raw), MAX_FOUND))
        for match in matches:
            start, end = _span(rule, match)
            value = text.raw[start:end]
            if end > start and entropy(value) >= rule.entropy and not _is_allowed(rule, value, match.group()):
                yield Match(rule.name, Severity.BLOCK, start, end, rule.description, secret=True)


def _span(rule: Rule, match: re.Match[str]) -> tuple[int, int]:
    """The span of the secret: of the rule's group, otherwise of the first group that is not empty, otherwise of the
    whole match. (-1, -1) if the rule's group took no part."""
    if rule.group:
        return match.span(rule.group)
    group = next((n for n in range(1, (match.re.groups or 0) + 1) if match.group(n)), 0)
    return match.span(group)


def _is_allowed(rule: Rule, value: str, whole: str) -> bool:
    """Whether a match is excepted: the secret has a stop word, or the secret or the whole match fits an allowed
    pattern."""
    if any(word in value.lower() for word in rule.stopwords):
        return True
    return any(_compiled(pattern).search(value) or _compiled(pattern).search(whole) for pattern in rule.allowed)


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def parse_rules(text: str) -> list[Rule]:
    """The rules of a gitleaks.toml, in the order of the file.

    Raises BadConfig for a text that is not TOML, has no rules or extends another file, for a rule without an id, and,
    with the id, for a rule without a regex, with a pattern that cannot be used or with a value of the wrong type.
    """
    import tomllib

    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise BadConfig("the rules file is not valid TOML") from None
    if tables.get("extend"):
        raise BadConfig("the rules file extends another one", "put all its rules into one file")
    allowed, stopwords = _allowances(tables)
    rules = []
    for row in _list(tables, "rules"):
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise BadConfig("a rule of the rules file has no id")
        if not isinstance(row.get("regex"), str):
            raise BadConfig(f"the rule '{row['id']}' has no regex: rules about paths are not supported")
        try:
            rules.append(_rule(row, allowed, stopwords))
        except (TypeError, ValueError):
            raise BadConfig(f"the rule '{row['id']}' has a value of the wrong type") from None
    if not rules:
        raise BadConfig("the rules file has no [[rules]]")
    return rules


def _rule(row: dict[str, Any], allowed: tuple[str, ...], stopwords: tuple[str, ...]) -> Rule:
    """The rule of one table, with the allowances of the file (`allowed`, `stopwords`) and its own. Raises BadConfig for
    a pattern that cannot be used and for a group that it lacks, TypeError or ValueError for a value of the wrong
    type."""
    name = row["id"]
    own_allowed, own_stopwords = _allowances(row)
    rule = Rule(
        name=name,
        description=str(row.get("description") or f"matches the rule {name}"),
        pattern=_checked(name, row["regex"]),
        keywords=tuple(str(word).lower() for word in _list(row, "keywords")),
        group=int(row.get("secretGroup", 0)),
        entropy=float(row.get("entropy", 0)),
        allowed=tuple(_checked(name, pattern) for pattern in (*allowed, *own_allowed)),
        stopwords=(*stopwords, *own_stopwords),
    )
    if not 0 <= rule.group <= _compiled(rule.pattern).groups:
        raise BadConfig(f"the rule '{name}' has no group {rule.group}")
    return rule


def _allowances(row: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(patterns, stop words) of `allowlist` and `allowlists`, without those that are for paths or commits."""
    tables = [row.get("allowlist", {}), *_list(row, "allowlists")]
    tables = [
        table for table in tables if isinstance(table, dict) and not table.get("paths") and not table.get("commits")
    ]
    regexes = tuple(str(pattern) for table in tables for pattern in _list(table, "regexes"))
    return regexes, tuple(str(word).lower() for table in tables for word in _list(table, "stopwords"))


def _list(table: dict[str, Any], key: str) -> list[Any]:
    """The list of a key; [] without the key. Raises BadConfig for a value that is no list."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise BadConfig(f"'{key}' of the rules file is not a list")
    return value


def _checked(name: str, pattern: str) -> str:
    """The pattern in Python's syntax. Raises BadConfig, with the name of the rule, for one that cannot be used."""
    try:
        return _compiled(translate(pattern)).pattern
    except (re.error, OverflowError, RecursionError) as error:
        raise BadConfig(f"the rule '{name}' has a regular expression we cannot use: {error}") from None


def translate(pattern: str) -> str:
    """A pattern in RE2 syntax (Go) as one of Python: flags in the middle, POSIX classes, `\\z`, `\\x{...}`.

    https://github.com/google/re2/wiki/Syntax
    """
    translated: list[str] = []
    closers = [0]  # per open group: flag groups opened inside it that end with it
    offset, in_class = 0, False
    while offset < len(pattern):
        remaining = pattern[offset:]
        if remaining[0] == "\\":
            code = re.match(r"\\x\{([0-9A-Fa-f]+)\}", remaining)
            if code:
                translated.append(re.escape(chr(int(code.group(1), 16))))
                offset += code.end()
                continue
            translated.append({"\\z": "\\Z"}.get(remaining[:2], remaining[:2]))
            offset += 2
        elif in_class:
            posix = re.match(r"\[:(\w+):\]", remaining)
            if posix and posix.group(1) in CLASSES:
                translated.append(CLASSES[posix.group(1)])
                offset += posix.end()
                continue
            translated.append(remaining[0].replace("[", "\\["))
            in_class = remaining[0] != "]"
            offset += 1
        elif remaining[0] == "[":
            head = re.match(r"\[\^?\]?", remaining)
            assert head is not None
            translated.append(head.group())
            offset += head.end()
            in_class = True
        elif flags := re.match(r"\(\?([imsU]*)(?:-([imsU]+))?\)", remaining):
            unset = ""
            if flags.group(2):
                unset = f"-{flags.group(2)}"
            translated.append(f"(?{flags.group(1)}{unset}:")
            closers[-1] += 1
            offset += flags.end()
        elif remaining[0] == "(":
            closers.append(0)
            translated.append("(")
            offset += 1
        elif remaining[0] == ")":
            if len(closers) > 1:
                translated.append(")" * closers.pop())
            translated.append(")")
            offset += 1
        else:
            translated.append(remaining[0])
            offset += 1
    return "".join(translated) + ")" * closers[0]
