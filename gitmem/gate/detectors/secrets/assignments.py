"""Finds random values behind a word for a secret (`TOKEN = ...`, `API key is ...`, `키는 ...`, `令牌是 ...`), behind the
name of a service, and in lines about handling a secret.

How random the value must look depends on what joins it: `=` and quotation marks are strong, a space is weak.
Passwords, which people choose, are for `passwords.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from gitmem.gate.detectors.named_values import settings
from gitmem.gate.detectors.secrets.candidates import Candidates, Found, end_of_secret, lowered
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import (
    column_name,
    is_named_id,
    is_of_other_words,
    is_path_of_ids,
    is_uuid,
    kind_of,
)
from gitmem.gate.detectors.secrets.rule_tables import label_pattern, patterns, service_names, word_list
from gitmem.gate.detectors.spans import Spans, line_around
from gitmem.lazy_patterns import lazy

# On lower-case text: the stem of a word for a secret.
_STEM = lazy(label_pattern("secret"))
_STORES = word_list("store")
_KEYS = frozenset(["key", "키", "キー"])
_WIDE_STEMS = frozenset(word_list("wide word"))
_NOT_SECRET_BEFORE = word_list("not secret before")
_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.$"
_LONG_VALUE = 64
_MAX_LINES_ALONE = 16  # long values whose lines are read one by one


def find(text: str, candidates: Candidates, taken: Spans | None = None) -> Iterator[Found]:
    """The random values behind a word for a secret, near the `candidates` of a text.

    `taken`: spans that the caller has found already; long values there are not judged again.
    """
    taken = taken or Spans()
    for first, last in candidates.near:
        yield from _assigned(text, candidates.low, first, last)
        yield from _behind_services(text, candidates.low, first, last)
    for setting in settings(text, candidates.low):
        for found in _assigned(setting.line, lowered(setting.line), 0, len(setting.line)):
            shift = setting.start - setting.inside
            yield found._replace(start=found.start + shift, end=found.end + shift)
    long = [run for run in candidates.runs if run[1] - run[0] >= 24]
    spoken = None
    if len(long) > _MAX_LINES_ALONE:
        spoken = _spoken(candidates.low)
    for run in long:
        yield from _handled(text, candidates.low, run, spoken, taken)


def _name_start(text: str, at: int) -> int:
    """Where the identifier begins that holds the word for a secret at `at`."""
    head = text[max(0, at - 40) : at]
    return at - len(head) + len(head.rstrip(_NAME_LETTERS))


def _names_no_secret(text: str, low: str, stem: re.Match[str], join: re.Match[str], head: int) -> bool:
    """Whether the identifier around a word for a secret, which begins at `head`, names something else. `stem`: the
    match of the word. `join`: the match of `secret_join` behind it."""
    at, rest = stem.start(), join.group("rest")
    name = text[head : stem.end()] + rest
    before = low[max(0, head - 12) : head]
    if kind_of(name, "public_name", "other_field_name", "negated_name") or patterns.field_word.search(join["words"]):
        return True
    if patterns.data_name.search(name) and not patterns.credential_name.search(name):
        return True
    if before.endswith(_NOT_SECRET_BEFORE) or (stem.group() in _KEYS and before.endswith(_STORES)):
        return True
    if rest and rest[0].islower() and text[stem.end() - 1].islower() and not patterns.name_goes_on.match(rest):
        return True  # the stem is the beginning of a longer word: keyword, authority, tokenizer
    loud = text[stem.end() : stem.end() + 1] == "-" and text[at - 1 : at] == "-"  # vendor-access-0123...
    if loud or text[at : stem.end()].isupper() or patterns.narrow_name.search(name):
        return False
    return stem.group() in _WIDE_STEMS


def _assigned(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    """The random values behind words for a secret in first..last, in order."""
    done = 0
    for stem in _STEM.finditer(low, first, last):
        at = stem.start()
        if at < done:
            continue
        glued = patterns.glued_value.match(text, stem.end())
        if glued and text[at : stem.end()].isupper() and is_secret(Candidate(Place.GLUED, text, *glued.span(1))):
            done = glued.end()
            yield Found("assigned-secret", *glued.span(1))
            continue
        arn = low.rfind("arn:", max(0, at - 100), at)
        if arn >= 0 and arn > max([low.rfind(mark, max(0, at - 100), at) for mark in " \n\"'"]):
            continue  # the name of a secret kept elsewhere
        if patterns.ten_unbroken.search(text, stem.end(), stem.end() + 80) is None:
            continue
        join = patterns.secret_join.match(text, stem.end())
        if join is None or join.end("rest") == join.start("value"):
            continue
        head = _name_start(text, at)
        if _names_no_secret(text, low, stem, join, head):
            continue
        candidate = _joined(Place.ASSIGNMENT, text, join)
        if _is_something_else(low, stem, head, candidate):
            continue
        if is_secret(candidate._replace(label=text[max(0, head - 8) : stem.end()] + join["rest"])):
            done = candidate.end
            yield Found("assigned-secret", candidate.start, candidate.end)
        elif candidate.end - candidate.start > _LONG_VALUE:
            done = candidate.end - _LONG_VALUE  # or each of a thousand words in one long value would read it again


def _joined(place: Place, text: str, join: re.Match[str]) -> Candidate:
    """The value that `join`, a match of `secret_join`, joins to a name, as a candidate at `place` without a label."""
    op, start = join["op"], join.start("value")
    quote = ""
    if op and op[-1] in "\"'`":
        quote = op[-1]
    end = end_of_secret(text, start, join.end("value"), quote)
    return Candidate(place, text, start, end, join=op, words=join["words"], quote=quote)


def _is_something_else(low: str, stem: re.Match[str], head: int, candidate: Candidate) -> bool:
    """Whether the text around a value, behind the word `stem` of a name that begins at `head`, shows that the value is
    no secret but an id, a checksum, a key of a mapping, a part of an address or a sample."""
    text, start, end, op, value = candidate.text, candidate.start, candidate.end, candidate.join, candidate.value
    at, name = stem.start(), text[head : stem.end()]
    if (candidate.quote and text[end + 1 : end + 2] == ":") or low[max(0, at - 5) : at] == "<add ":
        return True  # a key of a mapping, the name of a setting
    if (op in ("", "-") or (op == "?" and patterns.query_parameter.match(value))) and _is_in_path(text, at):
        return True  # words and a number that name a page in its address, and what the address carries has names
    if is_uuid(value) and "alt=media" in low[max(0, start - 80) : start]:
        return True  # of a file that is given to whoever has its address
    if is_named_id(low, start, end) or is_of_other_words(low, stem.end(), start, end):
        return True
    if patterns.map_value_behind.match(text, end) and name == "key":
        return True  # of an entry of a map: `{ key = "0x...", value = ... }`
    if patterns.badge_address_before.search(low, max(0, at - 100), at):
        return True  # a picture's address, made to be shown
    if patterns.hexadecimal.match(value) and patterns.checksum_of_before.search(low, max(0, at - 60), at):
        return True
    if text[max(0, head - 2) : head] == "::" or patterns.filled_string.match(value):
        return True  # the name of a type, or a string that a program fills in
    if patterns.test_vector_before.search(low, max(0, at - 60), at):
        return True
    return patterns.store_key_name.search(name) is not None and not patterns.generated_base64.fullmatch(value)


def _is_in_path(text: str, at: int) -> bool:
    """Whether an offset is in the host or the path of an address, before its query."""
    return patterns.in_address_before.search(text, max(0, at - 300), at) is not None


@cache
def _cjk_name() -> re.Pattern[str]:
    return re.compile(service_names().cjk)


@cache
def _service_name() -> re.Pattern[str]:
    """A pattern for what may be the name of a service: any word of Latin letters, and the known names in Korean,
    Japanese and Chinese."""
    return re.compile(f"[a-z0-9]{{4,16}}|{service_names().cjk}")


def _behind_services(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    """Random values behind the name of a service alone in first..last: `datadog: 0123...`."""
    near = low[first:last]
    latin = service_names().latin
    if latin.isdisjoint(patterns.service_word.findall(near)) and (near.isascii() or _cjk_name().search(near) is None):
        return
    for name in _service_name().finditer(low, first, last):
        if name.group().isascii() and name.group() not in latin:
            continue
        join = patterns.secret_join.match(text, name.end())
        if join is None or join.end("rest") == join.start("value"):
            continue
        if patterns.ascii_letter.match(low, max(0, name.start() - 1), name.start()):
            continue
        candidate = _joined(Place.SERVICE, text, join)
        start, end = candidate.start, candidate.end
        if text[name.end() : name.end() + 1] == "|" or _is_in_path(text, start) or is_named_id(low, start, end):
            continue  # the name of a page or a file in its address; an id
        if join["op"] == "?" and patterns.query_parameter.match(candidate.value):
            continue  # its own names say what the values are
        if is_secret(candidate._replace(words=low[name.start() : start])):
            yield Found("vendor-secret", start, end)


def _spoken(low: str) -> tuple[list[int], list[int]]:
    """(starts, ends) of all phrases in a text about handling a secret."""
    spans = [match.span() for match in patterns.handling_phrase.finditer(low)]
    return [start for start, _ in spans], [end for _, end in spans]


def _is_handled(low: str, first: int, last: int, spoken: tuple[list[int], list[int]] | None) -> bool:
    """Whether first..last holds a phrase about handling a secret; `spoken`: as of `_spoken`, None to search anew."""
    if spoken is None:
        return patterns.handling_phrase.search(low, first, last) is not None
    at = bisect_left(spoken[0], first)
    return at < len(spoken[0]) and spoken[1][at] <= last


def _handled(
    text: str, low: str, run: tuple[int, int], spoken: tuple[list[int], list[int]] | None, taken: Spans
) -> Iterator[Found]:
    """The long random value in the span `run`, if it is in a line about handling a secret, in a table cell, or beside
    the name of a service. `spoken`: as for `_is_handled`. `taken`: spans in which a value is not judged."""
    start, end = run
    match = patterns.long_value.search(text, max(0, start - 1), min(len(text), end + 1))
    if match is None or not taken.is_free(*match.span()):
        return
    value, at = match.group(), match.start()
    named = patterns.leading_name.match(value)  # `tx=0x...`
    if named is not None and is_named_id(low, at + named.end(), match.end()):
        return
    if patterns.vault_item_before.search(low, max(0, at - 60), at) or is_named_id(low, *match.span()):
        return
    if is_path_of_ids(value) or patterns.named_id_before.search(low, max(0, at - 20), at):
        return
    if patterns.query_parameter.match(value) and patterns.in_query_before.search(text, max(0, at - 400), at):
        return  # its own name says what it is
    if not is_secret(Candidate(Place.LINE, text, *match.span())):
        return
    first, last = line_around(low, start, end, 400, 400)
    behind = text[end : end + 2].lstrip(" `")
    cell = low[first:start].lstrip(" \t>").startswith("|") and len(value) >= 32 and behind.startswith("|")
    if cell and patterns.base58_address.match(value) and patterns.hex_address.search(low, first, last):
        cell = patterns.called_secret.search(column_name(low, at)) is not None  # else an address on another chain
    if not (cell or _is_handled(low, first, last, spoken) or _is_handed(low, first, start, low[end:last])):
        if not value.isalnum() or patterns.id_before.search(low, max(first, start - 20), at):
            return
        if not _names_service(low, max(first, start - 60), min(last, end + 60)):
            return
    yield Found("handled-secret", *match.span())


def _is_handed(low: str, first: int, start: int, behind: str) -> bool:
    """Whether a value at the end of its line is handed over there, in the line before, or kept under a heading for
    credentials. `first`, `start`: the offsets of the line and of the value. `behind`: the rest of the line behind
    it."""
    if behind.strip(" \t`\"'|.*="):
        return False
    above = _said_above(low, first, start)
    if patterns.handed_over.search(low, above, start) is not None or (
        above < first and patterns.handling_phrase.search(low, above, first) is not None
    ):
        return True
    return _is_kept(low, first, start)


def _said_above(low: str, first: int, start: int) -> int:
    """The start of the line before a value that begins its line; else `first`, the start of its own line. `start`: the
    offset of the value."""
    if first == 0 or low[first - 1] != "\n" or low[first:start].strip(" \t`\"'>*-"):
        return first
    above = low.rfind("\n", max(0, first - 202), first - 1) + 1
    if above or first <= 201:
        return above
    return first


def _is_kept(low: str, first: int, start: int) -> bool:
    """Whether the value at `start` ends a list item (`- mailer: ...`) below a heading for credentials. `first`: the
    start of its line."""
    if patterns.list_item_before.match(low, first, start) is None:
        return False
    heading = low.rfind("\n#", max(0, first - 1_000), first) + 1
    if not heading and not low.startswith("#"):
        return False
    return patterns.credentials_heading.search(low, heading, low.find("\n", heading)) is not None


def _names_service(low: str, first: int, last: int) -> bool:
    """Whether first..last holds the name of a service whose keys have no beginning of their own."""
    latin, near = service_names().latin, low[first:last]
    if near.isascii():
        return not latin.isdisjoint(patterns.service_word.findall(near))
    names = [match.group() for match in _service_name().finditer(low, first, last)]
    return any([name in latin or not name.isascii() for name in names])
