"""Finds random values behind a word for a secret: `TOKEN = ...`, `API key is ...`, `키는 ...`, `令牌是 ...`.

A word for a secret, a join, and a value that looks random. How random the value must look depends on the join: `=`
and quotation marks are strong, a space is weak. Passwords, which people choose, are for `passwords.py`.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from gitmem.gate.detectors.named_values import settings
from gitmem.gate.detectors.secrets import named_ids, tokens
from gitmem.gate.detectors.secrets.candidates import Candidates, lowered
from gitmem.gate.detectors.secrets.placeholders import (
    entropy,
    is_class_name,
    is_code,
    is_digest,
    is_pattern,
    is_placeholder,
    is_published,
    is_readable_base64,
    is_sequence,
    is_tangled,
    is_uuid,
    is_varied,
    is_words,
)
from gitmem.gate.detectors.secrets.rule_tables import label_pattern, patterns, word_list
from gitmem.gate.detectors.secrets.service_names import service_names
from gitmem.gate.detectors.secrets.tokens import Found
from gitmem.gate.detectors.spans import Spans
from gitmem.lazy_patterns import lazy

# On lower-case text: the stem of a word for a secret.
_STEM = lazy(label_pattern("secret"))
_TRAIL = ".:!?*"
_STORES = word_list("store")
_KEYS = frozenset(["key", "키", "キー"])
# Words that name a secret only together with one that does.
_WIDE_STEMS = frozenset(word_list("wide word"))
_LONG_VALUE = 64
_NOT_SECRET_BEFORE = word_list("not secret before")
# A letter of ASCII is `a`, a digit `1`, all else itself.
_KINDS = str.maketrans({**dict.fromkeys(string.ascii_letters, "a"), **dict.fromkeys(string.digits, "1")})


def _borders(kinds: str) -> int:
    """How often letters and digits meet in a value translated by `_KINDS`."""
    return kinds.count("a1") + kinds.count("1a")


def is_random(value: str, least: int, borders: int = 2) -> bool:
    """Whether a value of at least `least` characters looks made by a machine.

    `borders`: how often letters and digits must meet at least; names have few such places, random values many.
    """
    size = len(value)
    if size < least or not is_varied(value) or is_pattern(value):
        return False
    if not value.isalnum() and len(set(patterns.odd_symbol.findall(value))) >= 5 and sum(map(str.isalpha, value)) >= 6:
        return True
    kinds = value.translate(_KINDS)
    if "a" not in kinds or is_words(value) or is_code(value):
        return False
    digits = kinds.count("1")
    if digits == 0:
        return size >= 16 and value.isalnum() and entropy(value) > 3.0 and not is_class_name(value)
    meet = _borders(kinds)
    if size < 16:
        return meet >= 3 or (meet >= 2 and digits >= 3) or (meet > 0 and patterns.odd_symbol.search(value) is not None)
    return meet >= borders and entropy(value) > 2.9


def _cut(text: str, start: int, limit: int, quote: str) -> int:
    """The end of the value that begins at `start`: its closing quotation mark, or the first character that no bare
    value holds."""
    if quote:
        end = text.find(quote, start, limit)
        if end >= 0:
            return end
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,"))
    stop = patterns.secret_end.search(text, start, limit)
    if stop:
        end = stop.start()
    else:
        end = limit
    while end > start and text[end - 1] in _TRAIL:
        end -= 1
    return end


def _judge(name: str, op: str, words: str, quote: str, value: str) -> bool:
    """Whether a value behind a word for a secret is one.

    `name`: the identifier with the word. `op`: what joins it to the value. `words`: words between. `quote`: the
    opening quotation mark, "" for none.
    """
    if is_placeholder(value) or is_digest(value) or is_readable_base64(value) or is_published(value):
        return False
    if (
        is_sequence(value)
        or patterns.addressed.search(value)
        or patterns.worded_path.fullmatch(value)
        or named_ids.is_resource(value)
    ):
        return False
    if any(
        [
            form.fullmatch(value)
            for form in (patterns.named_path, patterns.model_name, patterns.error_code, patterns.cut_id)
        ]
    ):
        return False
    if not quote and patterns.token_variable.fullmatch(value):
        return False
    if patterns.object_id.fullmatch(value) and not patterns.key_name.search(name):
        return False
    if patterns.openpgp_fingerprint.match(value) and not patterns.secret_name.search(name):
        return False
    tagged = patterns.tagged_digest.match(value)
    if tagged and is_words(tagged.group(1)):
        return False
    strong = bool(patterns.strong_sign.search(op)) or bool(quote) or bool(patterns.strong_words.search(words))
    if words.count(" ") >= 3:  # a sentence, no assignment: it may name what the value is
        if any(
            [
                form.search(words)
                for form in (patterns.digest_word, patterns.public_name, patterns.data_name, patterns.about_something)
            ]
        ):
            return False
        return not is_uuid(value) and is_random(value, 20) and not is_words(value)
    if not quote and is_code(value) and len(set(patterns.odd_symbol.findall(value))) < 5:
        return False
    if patterns.embedded_id.search(value) or (
        is_words(patterns.version_behind.sub("", value)) and not is_tangled(value)
    ):
        return False
    if is_uuid(value):
        if patterns.once_token_name.search(name):
            return False
        named = patterns.key_name.search(name) is not None or patterns.upper_secret_name.search(name) is not None
        sign = op.strip()
        if strong or sign in ("", "("):
            return named
        return sign in ("-", "|", "「", "『", "“") and (named or patterns.loud_name.search(name) is not None)
    if quote or "=" in op or ":" in op:
        return is_random(value, 10, 1)
    if strong:
        return is_random(value, 12, 1)
    if patterns.list_sign.search(op):
        return is_random(value, 16)
    if (
        patterns.hexadecimal.match(value)
        and len(value) in (40, 64)
        and not patterns.secret_word.search(name)
        and not patterns.cjk_key_name.search(name)
    ):
        return False
    loud = patterns.loud_name.search(name) is not None or patterns.cjk_key_name.search(name) is not None
    return is_random(value, 16) and (loud or len(patterns.digit.findall(value)) >= 3)


def find(text: str, candidates: Candidates, taken: Spans | None = None) -> Iterator[Found]:
    """The random values behind a word for a secret, near the `candidates` of a text.

    `taken`: spans that the caller has found already; long values there are not judged again.
    """
    taken = taken or Spans()
    for first, last in candidates.near:
        yield from _assigned(text, candidates.low, first, last)
        yield from _vendored(text, candidates.low, first, last)
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


_MAX_LINES_ALONE = 16  # long values whose lines are read one by one


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


def _name_start(text: str, at: int) -> int:
    """Where the identifier begins that holds the word for a secret at `at`."""
    head = at
    while (
        head > 0
        and at - head < 40
        and text[head - 1].isascii()
        and (text[head - 1].isalnum() or text[head - 1] in "_-.$")
    ):
        head -= 1
    return head


def _names_no_secret(text: str, low: str, stem: re.Match[str], join: re.Match[str], head: int) -> bool:
    """Whether the identifier around a word for a secret, which begins at `head`, names something else."""
    at, rest = stem.start(), join.group("rest")
    name = text[head : stem.end()] + rest
    before = low[max(0, head - 12) : head]
    if (
        patterns.public_name.search(name)
        or (patterns.data_name.search(name) and not patterns.credential_name.search(name))
        or patterns.other_field_name.search(name)
        or patterns.negated_name.search(name)
        or patterns.field_word.search(join.group("words"))
        or before.endswith(_NOT_SECRET_BEFORE)
        or (stem.group() in _KEYS and before.endswith(_STORES))
    ):
        return True
    if rest and rest[0].islower() and text[stem.end() - 1].islower() and not patterns.name_goes_on.match(rest):
        return True  # the stem is the beginning of a longer word: keyword, authority, tokenizer
    loud = text[stem.end() : stem.end() + 1] == "-" and text[at - 1 : at] == "-"  # vendor-access-0123...
    return stem.group() in _WIDE_STEMS and not (
        loud or text[at : stem.end()].isupper() or patterns.narrow_name.search(name) is not None
    )


def _assigned(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    done = 0
    for match in _STEM.finditer(low, first, last):
        at = match.start()
        if at < done:
            continue
        glued = patterns.glued_value.match(text, match.end())
        if glued and text[at : match.end()].isupper() and is_random(glued.group(1), 20) and not is_uuid(glued.group(1)):
            done = glued.end()
            yield Found("assigned-secret", "a random value where a key or token is named", *glued.span(1))
            continue
        arn = low.rfind("arn:", max(0, at - 100), at)
        if arn >= 0 and arn > max([low.rfind(mark, max(0, at - 100), at) for mark in " \n\"'"]):
            continue  # the name of a secret kept elsewhere
        if patterns.ten_unbroken.search(text, match.end(), match.end() + 80) is None:
            continue
        join = patterns.secret_join.match(text, match.end())
        if join is None or join.end("rest") == join.start("value"):
            continue
        head = _name_start(text, at)
        if _names_no_secret(text, low, match, join, head):
            continue
        op, start = join.group("op"), join.start("value")
        quote = ""
        if op and op[-1] in "\"'`":
            quote = op[-1]
        end = _cut(text, start, join.end("value"), quote)
        value = text[start:end]
        if (quote and text[end + 1 : end + 2] == ":") or low[max(0, at - 5) : at] == "<add ":
            continue  # a key of a mapping, the name of a setting
        if (op in ("", "-") or (op == "?" and patterns.query_parameter.match(value))) and _is_in_path(text, at):
            continue  # words and a number that name a page in its address, and what the address carries has names
        if is_uuid(value) and "alt=media" in low[max(0, start - 80) : start]:
            continue  # of a file that is given to whoever has its address
        if named_ids.is_named_id(low, start, end) or named_ids.is_of_other_words(low, match.end(), start, end):
            continue
        if patterns.map_value_behind.match(text, end) and text[head : match.end()] == "key":
            continue  # of an entry of a map: `{ key = "0x...", value = ... }`
        if patterns.badge_address_before.search(low, max(0, at - 100), at) or (
            patterns.hexadecimal.match(value) and patterns.checksum_of_before.search(low, max(0, at - 60), at)
        ):
            continue  # a picture's address, made to be shown; the checksum of what is named
        if text[max(0, head - 2) : head] == "::" or patterns.filled_string.match(value):
            continue  # the name of a type, or a string that a program fills in
        if patterns.test_vector_before.search(low, max(0, at - 60), at):
            continue
        if patterns.store_key_name.search(text[head : match.end()]) and not patterns.generated_base64.fullmatch(value):
            continue
        wide = text[max(0, head - 8) : match.end()] + join.group("rest")
        if value and not tokens.is_stub(value) and _judge(wide, op, join.group("words"), quote, value):
            done = end
            yield Found("assigned-secret", "a random value where a key or token is named", start, end)
        elif end - start > _LONG_VALUE:
            done = end - _LONG_VALUE  # or each of a thousand words in one long value would read it again


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


def _vendored(text: str, low: str, first: int, last: int) -> Iterator[Found]:
    """Random values behind the name of a vendor alone: `datadog: 0123...`."""
    near = low[first:last]
    latin = service_names().latin
    if latin.isdisjoint(patterns.service_word.findall(near)) and (near.isascii() or _cjk_name().search(near) is None):
        return
    for match in _service_name().finditer(low, first, last):
        if match.group().isascii() and match.group() not in latin:
            continue
        join = patterns.secret_join.match(text, match.end())
        if (
            join is None
            or join.end("rest") == join.start("value")
            or patterns.ascii_letter.match(low, max(0, match.start() - 1), match.start())
        ):
            continue
        start = join.start("value")
        op = join.group("op")
        quote = ""
        if op and op[-1] in "\"'`":
            quote = op[-1]
        end = _cut(text, start, join.end("value"), quote)
        value, between = text[start:end], low[match.start() : start]
        if (
            len(value) < 16
            or patterns.public_name.search(between)
            or patterns.data_name.search(between)
            or patterns.digest_word.search(between)
            or patterns.identifier_word.search(between)
            or patterns.other_field_name.search(between.rstrip(" :=\"'`"))
            or text[match.end() : match.end() + 1] == "|"
            or (op == "?" and patterns.query_parameter.match(value))  # its own names say what the values are
            or not patterns.key_letters.fullmatch(value)
            or _is_in_path(text, start)  # the name of a page or a file in its address
            or patterns.model_name.fullmatch(value)
            or patterns.weights_file.search(value)
            or named_ids.is_resource(value)
            or named_ids.is_named_id(low, start, end)
        ):
            continue
        if (
            is_digest(value)
            or is_placeholder(value)
            or is_code(value)
            or is_readable_base64(value)
            or is_sequence(value)
        ):
            continue
        if patterns.addressed.search(value) or patterns.release_file.match(value):
            continue
        if (is_uuid(value) and not patterns.called_secret.search(between)) or patterns.feishu_id.fullmatch(value):
            continue
        least = 20
        if "=" in op or ":" in op:
            least = 16
        if is_random(value, least) and len(patterns.digit.findall(value)) >= 3:
            yield Found("vendor-secret", "a random value behind the name of a vendor", start, end)


def _handled(
    text: str, low: str, run: tuple[int, int], spoken: tuple[list[int], list[int]] | None, taken: Spans
) -> Iterator[Found]:
    """A long random value in a line about handling a secret, in a table cell, or beside the name of a vendor."""
    start, end = run
    match = patterns.long_value.search(text, max(0, start - 1), min(len(text), end + 1))
    if match is None or not taken.is_free(*match.span()):
        return
    value = match.group()
    if (
        patterns.vault_item_before.search(low, max(0, match.start() - 60), match.start())
        or (
            patterns.query_parameter.match(value)
            and patterns.in_query_before.search(text, max(0, match.start() - 400), match.start())
        )
        or patterns.hexadecimal.match(value.removeprefix("0x"))
        or is_uuid(value)
        or is_digest(value)
        or is_published(value)
        or named_ids.is_resource(value)
        or named_ids.is_named_id(low, *match.span())
        or not patterns.long_chunk.search(value)
        or _borders(value.translate(_KINDS)) < 5
    ):
        return
    first = low.rfind("\n", max(0, start - 400), start) + 1 or max(0, start - 400)
    last = low.find("\n", end, end + 400)
    cell = (
        low[first:start].lstrip(" \t>").startswith("|")
        and len(value) >= 32
        and text[end : end + 2].lstrip(" `").startswith("|")
    )
    if last < 0:
        last = min(len(low), end + 400)
    is_secret_line = cell or _is_handled(low, first, last, spoken) or _is_handed(low, first, start, low[end:last])
    if not is_secret_line and (
        not value.isalnum() or not _names_vendor(low, max(first, start - 60), min(last, end + 60))
    ):
        return
    if is_placeholder(value) or not is_random(value, 24) or is_code(value) or is_readable_base64(value):
        return
    if is_secret_line or not patterns.id_before.search(low, max(first, start - 20), match.start()):
        yield Found("handled-secret", "a long random value in a line about a secret", *match.span())


def _is_handed(low: str, first: int, start: int, behind: str) -> bool:
    """Whether a value at the end of its line is handed over there, in the line before, or kept under a heading for
    credentials."""
    if behind.strip(" \t`\"'|.*="):
        return False
    above = _said_above(low, first, start)
    if patterns.handed_over.search(low, above, start) is not None or (
        above < first and patterns.handling_phrase.search(low, above, first) is not None
    ):
        return True
    return _is_kept(low, first, start)


def _said_above(low: str, first: int, start: int) -> int:
    """The start of the line before a value that begins its line; else the start of its own line."""
    if first == 0 or low[first - 1] != "\n" or low[first:start].strip(" \t`\"'>*-"):
        return first
    above = low.rfind("\n", max(0, first - 202), first - 1) + 1
    if above or first <= 201:
        return above
    return first


def _is_kept(low: str, first: int, start: int) -> bool:
    """Whether a value ends a list item (`- mailer: ...`) below a heading for credentials."""
    if patterns.list_item_before.match(low, first, start) is None:
        return False
    heading = low.rfind("\n#", max(0, first - 1_000), first) + 1
    if not heading and not low.startswith("#"):
        return False
    return patterns.credentials_heading.search(low, heading, low.find("\n", heading)) is not None


def _names_vendor(low: str, first: int, last: int) -> bool:
    """Whether first..last holds the name of a service whose keys have no beginning of their own."""
    latin, near = service_names().latin, low[first:last]
    if near.isascii():
        return not latin.isdisjoint(patterns.service_word.findall(near))
    names = [match.group() for match in _service_name().finditer(low, first, last)]
    return any([name in latin or not name.isascii() for name in names])
