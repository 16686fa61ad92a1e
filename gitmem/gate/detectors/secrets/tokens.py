"""Finds the tokens of `tokens.txt` and the shapes of `shapes.txt` in a text.

Only unbroken runs of 16 characters or more can hold a token, so beginnings of tokens are searched in these alone; a
pattern is compiled when its literal has been found, and tried only there. A token that is split over two lines is
found by joining the run at the end of one line with the run at the start of the next. Whether a secret stops a commit
is decided elsewhere.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from functools import cache

from gitmem.gate.detectors.prefilter import CJK, DIGIT, UNBROKEN, has_byte, kinds_table, places, plain, runs
from gitmem.gate.detectors.secrets import wallets
from gitmem.gate.detectors.secrets.candidates import Candidates, Found
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import CHECKSUMS, PRINTED_RULES, SHORT_START, entropy, is_varied, is_words
from gitmem.gate.detectors.secrets.rule_tables import literals_in_prose, literals_in_runs, patterns, shapes, tokens
from gitmem.lazy_patterns import lazy

_SHORT = {
    "<a>": "[0-9a-z]", "<A>": "[0-9A-Za-z]", "<w>": "[0-9A-Za-z_-]", "<h>": "[0-9A-Fa-f]", "<H>": "[0-9A-Fa-f]",
    "<U>": "[0-9A-Z]", "<b>": "[0-9A-Za-z+/]", "<s>": "[0-9A-Za-z+/=_-]",
    "<uuid>": "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
}  # fmt: skip
# Classes read in either case, since examples and retyped tokens come in the other case.
_EITHER_CASE = frozenset({"<a>", "<A>"})
# Classes that any letter or digit matches behind a distinct beginning: vendors change alphabets, not beginnings.
_ANY_LETTER = frozenset({"<h>", "<H>", "<U>"})
_PIECES = 6
Piece = tuple[int, str]  # (offset in the text, characters)
# `1`: a digit; `a`: another character of a token; `-`: the rest.
_HEAD = kinds_table({b"1": string.digits.encode(), b"a": string.ascii_letters.encode() + b"_.+/=~-"}, b"-")
_NO_HEAD = 45
_AFTER_HEAD = " \t\r\"'`\\+"
_AROUND_KEY = " \t\r\n>|\"'`"  # characters that quote or indent the lines of a private key
_BEFORE, _AFTER = 400, 24_000  # characters around its literal that a shape may reach
_MAX_OCCURRENCES = 2_000  # occurrences of one literal that are checked


def expand(rest: str, loose: bool = False) -> str:
    """A pattern of a table with its short forms replaced; `loose`: any letter or digit where the row says
    hexadecimal."""
    for short, full in _SHORT.items():
        either = short in _EITHER_CASE or (loose and short in _ANY_LETTER)
        if either:
            full = "[0-9A-Za-z]"
        rest = rest.replace(short, full)
    return rest


def _is_distinct(start: str) -> bool:
    """Whether a beginning is so long, or ends in such a sign, that nothing else begins like it."""
    return len(start) > SHORT_START or (len(start) >= 4 and start[-1] in "_-.")


_LENGTH = lazy(r"(?<=>)\{(\d\d)(?:,(\d{2,3}))?\}\Z")
_SURE_CHARACTERS = 30  # characters behind a beginning from which one more or less may be a slip


def _nearly(length: re.Match[str]) -> str:
    """The length of a token's rest with one character more or less, for a long rest."""
    least, most = int(length[1]), int(length[2] or length[1])
    if least < _SURE_CHARACTERS:
        return length.group()
    return f"{{{least - 1},{most + 1}}}"


@cache
def _token_pattern(row: int, start: str) -> re.Pattern[str]:
    """The pattern of a row's token with this beginning; no character that a token can have may stand behind it."""
    rest = tokens()[row].rest
    if _is_distinct(start):
        rest = _LENGTH.sub(_nearly, rest)  # a token that lost a character is known but for that one
    rest = expand(rest, _is_distinct(start))
    wide = rest.rstrip("}0123456789,{)").endswith(("_-]", "=_-]", "_.-]", "_.=-]"))
    return re.compile(re.escape(start) + rest + (r"(?![\w-])" if wide else r"(?![0-9A-Za-z])"), re.ASCII)


@cache
def _shape_pattern(row: int) -> re.Pattern[str]:
    return re.compile(expand(shapes()[row].pattern), re.ASCII)


@cache
def _beginnings() -> dict[str, list[int]]:
    """Beginning of a token -> the numbers of its rows, in order."""
    rows: dict[str, list[int]] = {}
    for number, (_, _, starts, _) in enumerate(tokens()):
        for start in starts.split():
            rows.setdefault(start, []).append(number)
    return rows


@cache
def _by_two() -> tuple[dict[str, list[str]], dict[str, int]]:
    """The beginnings by their first two characters, and their order."""
    by_two: dict[str, list[str]] = {}
    for start in _beginnings():
        by_two.setdefault(start[:2], []).append(start)
    return by_two, {start: number for number, start in enumerate(_beginnings())}


@cache
def _opening() -> re.Pattern[str]:
    """A pattern for the places where a token may begin: those that `_open_before` may accept, with the first
    character of a beginning."""
    first = "".join(sorted({re.escape(start[0]) for start in _beginnings()}))
    escaped = r"(?<=\\[0abfnrtvu])|(?<=\\x..)|(?<=\\[0-7]{3})|(?<=\\u.{4})|(?<=%..)|(?<=[0-9;]m)"
    return re.compile(rf"(?:(?<![0-9A-Za-z])|{escaped})[{first}]")


def _open_before(text: str, at: int, start: str) -> bool:
    r"""Whether a token that begins with `start` can begin at the offset `at`: after no letter or digit, or after an
    escape such as `\n`, `%3D` or `\x1b[0m`.

    A short beginning (`sk-`, `live_`) is also part of longer names: there `_`, `-` and `.` do not open one.
    """
    if at == 0:
        return True
    before = text[at - 1]
    if before in "_-." and len(start) <= SHORT_START:
        return False
    if before == "/" and start[-1] == "/":
        return False
    if not (before.isascii() and before.isalnum()):
        return True
    return patterns.escape_before.search(text, max(0, at - 12), at) is not None


def _tokens_at(text: str, hot: Iterable[tuple[int, int]]) -> Iterator[Found]:
    """The tokens that begin in the spans `hot` of a text, in the order of the table."""
    yield from _tokens_of(text, _beginnings_in(text, hot))


def _tokens_of(text: str, seen: list[tuple[str, list[int]]]) -> Iterator[Found]:
    """The tokens of a text at these (beginning, offsets of it); of several at one place the longest."""
    for start, places_of in seen:
        rows = _beginnings()[start]
        end = 0
        for at in places_of:
            if at < end or not _open_before(text, at, start):
                continue
            reached = 0
            for row in rows:
                rule, vendor, _, _ = tokens()[row]
                match = _token_pattern(row, start).match(text, at)
                if match is None or match.end() <= reached:
                    continue
                certain = rule in CHECKSUMS and CHECKSUMS[rule](match.group())
                if certain or is_secret(Candidate(Place.TOKEN, text, at, match.end(), start)):
                    reached = match.end()
                    best = Found(rule, at, reached, f"{_article(vendor)} {vendor} token", certain)
            if reached:
                end = reached
                yield best


def _beginnings_in(text: str, hot: Iterable[tuple[int, int]]) -> list[tuple[str, list[int]]]:
    """(beginning, its offsets) for each beginning in the spans `hot`, in the order of the table; at most
    _MAX_OCCURRENCES offsets each."""
    by_two, order = _by_two()
    seen: dict[str, list[int]] = {}
    for first, last in hot:
        for opening in _opening().finditer(text, first, last):
            at = opening.start()
            for start in by_two.get(text[at : at + 2], ()):
                if text.startswith(start, at, last):
                    occurrences = seen.setdefault(start, [])
                    if len(occurrences) < _MAX_OCCURRENCES:
                        occurrences.append(at)
    return sorted(seen.items(), key=lambda item: order[item[0]])


def _article(vendor: str) -> str:
    """The article before the name of a vendor; "" when the name has one."""
    if vendor.startswith("a "):
        return ""
    if vendor[0] in "AEIOaeio":
        return "an"
    return "a"


def _windows(low: str, literals: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a text around the literals, in order, joined where they overlap, since a secret may reach from
    one into the next."""
    occurrences: list[int] = []
    for literal in literals:
        at = low.find(literal)
        while at >= 0 and len(occurrences) < _MAX_OCCURRENCES:
            occurrences.append(at)
            at = low.find(literal, at + len(literal))
    windows: list[tuple[int, int]] = []
    for at in sorted(occurrences):
        first, last = max(0, at - _BEFORE - 1), min(len(low), at + _AFTER)
        if windows and first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return windows


@cache
def _spaced() -> tuple[tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...]]:
    """(the ASCII literals that may stand in prose, grouped by a word that they share, the others)."""
    groups: dict[str, list[str]] = {}
    in_prose = sorted(literals_in_prose())
    for literal in in_prose:
        if literal.isascii():
            groups.setdefault(next((word for word in _SHARED if word in literal), literal), []).append(literal)
    return tuple((word, tuple(some)) for word, some in groups.items()), tuple(
        literal for literal in in_prose if not literal.isascii()
    )


def _around(low: str, word: str) -> str:
    """The parts of a text around a word, which are less to search than all of it; all of it when there are many."""
    starts = places(low, (word,))
    if len(starts) * 64 > len(low):
        return low
    return "\n".join([low[max(0, at - 32) : at + 32] for at in starts])


_SHARED = ("key", "secret", "token", "phrase", "private")


def _present(low: str, hot_low: str) -> set[str]:
    """The literals of the shapes that a text in lower case holds. `hot_low`: the unbroken runs of the text, in which
    the literals of runs are searched."""
    ascii_groups, others = _spaced()
    present = {literal for literal in literals_in_runs() if literal in hot_low}
    for word, literals in ascii_groups:
        if word in low:
            around = low
            if len(literals) > 2:
                around = _around(low, word)
            present.update([literal for literal in literals if literal in around])
    if has_byte(low, CJK):
        present.update([literal for literal in others if literal in low])
    return present


@cache
def _rows_of() -> dict[str, list[int]]:
    """Literal -> the rows of the shapes that have it; "" -> the rows without a literal."""
    rows: dict[str, list[int]] = {}
    for row, shape in enumerate(shapes()):
        for literal in shape.literals or ("",):
            rows.setdefault(literal, []).append(row)
    return rows


def _shapes(text: str, candidates: Candidates) -> Iterator[Found]:
    """The secrets that have a form of `shapes.txt`, by the order of the table. Spans may overlap."""
    low = candidates.low
    present = _present(low, "\n".join([low[first:last] for first, last in candidates.hot]))
    long = [run for run in candidates.runs if run[1] - run[0] >= 32]
    rows = {row for literal in present for row in _rows_of()[literal]}
    if long:
        rows.update(_rows_of()[""])
    for row in sorted(rows):
        shape = shapes()[row]
        rule = shape.rule
        windows = long
        if shape.literals:
            windows = _windows(low, shape.literals)
        pattern = _shape_pattern(row)
        for first, last in windows:
            for match in pattern.finditer(text, first, last):
                start, end = match.span("secret")
                value = match.group("secret")
                line = ""
                if rule in PRINTED_RULES:
                    line = _line(text, start)
                if not is_secret(Candidate(Place.SHAPE, text, start, end, rule, words=line, weak=shape.is_random)):
                    continue
                if not value.strip(_AROUND_KEY):  # a first line without its body
                    start, end = match.start(), match.end()
                elif rule.startswith("private-key"):
                    start += len(value) - len(value.lstrip(_AROUND_KEY))
                    end -= len(value) - len(value.rstrip(_AROUND_KEY))
                yield Found(rule, start, end, shape.what)


def _line(text: str, at: int) -> str:
    """The line around an offset, at most 200 characters on each side."""
    first = text.rfind("\n", max(0, at - 200), at) + 1 or max(0, at - 200)
    last = text.find("\n", at, at + 200)
    if last < 0:
        last = at + 200
    return text[first:last]


def _across(pieces: list[Piece]) -> Iterator[Found]:
    """The tokens that begin in the first of some pieces of one string and end in a later one. There must be a piece."""
    head = len(pieces[0][1])
    for token in _tokens_at("".join([piece for _, piece in pieces]), [(0, head)]):
        if token.end > head:
            places_of = [at for first, piece in pieces for at in range(first, first + len(piece))]
            yield token._replace(start=places_of[token.start], end=places_of[token.end - 1] + 1)


def _folded(text: str) -> Iterator[Found]:
    """The tokens that a line end splits."""
    marks = plain(text).translate(_HEAD)
    at = text.find("\n")
    while at >= 0:
        end = at
        least = max(0, at - 408)
        while end > least and text[end - 1] in _AFTER_HEAD:
            end -= 1
        if text[end - 1 : end] == "=" != text[end - 2 : end - 1]:
            end -= 1  # a soft line break of quoted-printable
        if end - least >= 6 and marks[end - 1] != _NO_HEAD:
            begin = max(least, marks.rfind(b"-", least, end) + 1)
            if end - begin >= 6 and marks.find(b"1", begin, end) >= 0:
                follow = patterns.line_break.match(text, end)
                if follow:
                    yield from _across([(begin, text[begin:end]), (follow.start("tail"), follow["tail"])])
        at = text.find("\n", at + 1)


def _joined(text: str, seen: list[tuple[str, list[int]]]) -> Iterator[Found]:
    """Tokens whose source joins them out of strings on one line: `"..." + "..."`."""
    for start, places_of in seen:
        for at in places_of:
            first = patterns.token_piece.match(text, at)
            if first is None or not _open_before(text, at, start):
                continue
            pieces = [(at, first.group())]
            while len(pieces) < _PIECES:
                follow = patterns.string_seam.match(text, pieces[-1][0] + len(pieces[-1][1]))
                if follow is None:
                    break
                pieces.append((follow.start("tail"), follow.group("tail")))
            if len(pieces) > 1:
                yield from (token for token in _across(pieces) if token.start == at)


_SHORTEST_PIECE = 8  # characters of the first piece of a token, its beginning too
_OF_A_PIECE = 4  # characters behind a token's beginning from which it is a piece of one, and no mention


def _in_cells(text: str) -> Iterator[Found]:
    """Tokens whose pieces stand in one column of the rows of a table, in neighbouring cells of a row, one behind the
    other on a line, or in lines whose labels only count."""
    digits = plain(text).translate(DIGIT)
    hot = [span for span in runs(text, UNBROKEN, _SHORTEST_PIECE) if digits.find(b"1", *span) >= 0]
    for start, places_of in _beginnings_in(text, hot):
        for at in places_of if _is_distinct(start) else ():
            first = patterns.token_piece.match(text, at)
            if first is None or len(first.group()) < len(start) + _OF_A_PIECE or not _open_before(text, at, start):
                continue
            if any(True for _ in _tokens_at(first.group(), [(0, len(start))])):
                continue  # a whole token in a cell
            for pieces in _pieces_after(text, *first.span()):
                end = pieces[-1][0] + len(pieces[-1][1])
                yield from (token for token in _across(pieces) if (token.start, token.end) == (at, end))


def _pieces_after(text: str, at: int, end: int) -> Iterator[list[Piece]]:
    """The pieces (offset, piece) that may go on with the one at `at:end`: those of two cells or lines, of three,
    and so on."""
    begin = text.rfind("\n", max(0, at - 200), at) + 1
    before, last = text[begin:at], text.find("\n", end, end + 500)
    if last < 0:
        last = min(len(text), end + 500)
    rest = text[end:last].lstrip(" \t`\"'*")
    rows = _lines_after(text, last)
    yield from _growing([(at, text[at:end])], list(_inline(text, end)))
    if rest.startswith("|"):
        row = text[begin:last]
        yield from _growing([(at, text[at:end])], _cells(row, begin, before.count("|") + 1))
        column = before.count("|")
        yield from _growing(
            [(at, text[at:end])], [cell for place, line in rows for cell in _cells(line, place, column)[:1]]
        )
    elif not rest.strip() and (label := patterns.piece_label.match(before)):
        counted = patterns.counting_word.sub("#", label["label"].lower())
        if "#" in counted:
            yield from _growing([(at, text[at:end])], list(_labelled(rows, counted)))


def _inline(text: str, end: int) -> Iterator[Piece]:
    """(offset, piece) of what goes on with a piece that ends at `end` on its line: groups with blanks between them,
    `first half ... second half ...`."""
    for _ in range(_PIECES):
        follow = patterns.inline_piece.match(text, end)
        if follow is None:
            return
        piece = follow["tail"].rstrip(".")
        if piece.isdigit() or (patterns.digit.search(piece) is None and (piece[1:].islower() or is_words(piece))):
            return
        end = follow.start("tail") + len(piece)
        yield follow.start("tail"), piece


def _lines_after(text: str, end: int) -> list[Piece]:
    """(offset, line) of the lines after the one that ends at `end`: at most _PIECES of at most 500 characters."""
    found: list[Piece] = []
    while end < len(text) and len(found) < _PIECES:
        start, end = end + 1, text.find("\n", end + 1, end + 502)
        if end < 0:
            end = len(text)
        found.append((start, text[start : min(end, start + 500)]))
    return found


def _cells(row: str, place: int, column: int) -> list[Piece]:
    """(offset, content) of the cells of a row from the cell `column` on, up to one that can be no part of a token;
    `place`: the offset of the row."""
    found: list[Piece] = []
    at = 0
    for number, cell in enumerate(row.split("|")):
        match = None
        if number >= column:
            match = patterns.piece_cell.fullmatch(cell)
        if match is not None:
            found.append((place + at + match.start("tail"), match["tail"]))
        elif number >= column:
            break
        at += len(cell) + 1
    return found


def _labelled(rows: list[Piece], counted: str) -> Iterator[Piece]:
    """(offset, value) of the lines whose labels differ from `counted` only in their number, up to the first other
    line."""
    for place, line in rows:
        value = line.rstrip(" \t`\"'*\r")
        cut = max(value.rfind(sign) for sign in " \t`\"'*") + 1
        label = patterns.piece_label.match(value[:cut])
        if label is None or patterns.counting_word.sub("#", label["label"].lower()) != counted:
            return
        if patterns.token_piece.fullmatch(value[cut:]) is None:
            return
        yield place + cut, value[cut:]


def _growing(pieces: list[Piece], following: list[Piece]) -> Iterator[list[Piece]]:
    for piece in following[: _PIECES - 1]:
        pieces = [*pieces, piece]
        yield pieces


# `a`: a character of a token; a space: a separator; `-`: the rest.
_GROUPS = kinds_table({b"a": (string.digits + string.ascii_letters).encode() + b"_.+/=~-", b" ": b" \t,|:;"}, b"-")
_GROUP = 4  # characters of a group
_WORDS_BEFORE = 4  # groups that may be words in front of the token


def _spelt_out(text: str) -> Iterator[Found]:
    """The tokens with blanks between their characters, or between groups of four. A span covers the blanks."""
    kinds = plain(text).translate(_GROUPS)
    if b"a a a a " not in kinds and b"aaaa aaaa aaaa " not in kinds and b"a  a  a  " not in kinds:
        return
    for match in patterns.spelt_out.finditer(text):
        gap = " \t" + (match["sign"] or "").strip()
        places_of = [at for at in range(*match.span()) if text[at] not in gap]
        size = _GROUP
        if match["sign"]:
            size = 1
        for first in range(0, _WORDS_BEFORE * size, size):  # `the key ghp_ a1B2`: words of four letters before it
            whole = "".join([text[at] for at in places_of[first:]])
            token = next((token for token in _tokens_at(whole, [(0, len(whole))]) if token.start == 0), None)
            if token is not None:
                yield token._replace(start=places_of[first], end=places_of[first + token.end - 1] + 1)
                break


def continued(text: str, end: int) -> tuple[int, int] | None:
    """The span of the rest of a secret that ends at `end`: on the next line, in the next string or behind a `+`;
    None when it does not go on."""
    follow = (
        patterns.next_line_rest.match(text, end)
        or patterns.string_seam.match(text, end)
        or patterns.sum_rest.match(text, end)
    )
    if follow is None:
        return None
    rest = follow.group("tail")
    random = patterns.digit.search(rest) and is_varied(rest) and not is_words(rest) and entropy(rest) > 3.0
    if not random:
        return None
    return follow.span("tail")


def find(text: str, candidates: Candidates) -> Iterator[Found]:
    """Every vendor token, key of a wallet and secret shape of a text, kind after kind; spans may overlap. `candidates`:
    where secrets can stand in the text (`candidates.candidates`)."""
    beginnings = _beginnings_in(text, candidates.hot)
    yield from _joined(text, beginnings)
    yield from _in_cells(text)
    yield from _spelt_out(text)
    yield from _tokens_of(text, beginnings)
    if candidates.low:
        for span in wallets.seed_phrases(text, candidates.low):
            yield Found("seed-phrase", *span, "the seed phrase of a wallet")
        for span in wallets.bitcoin_keys(text, candidates.runs):
            yield Found("bitcoin-key", *span, "a Bitcoin key", certain=True)
        yield from _shapes(text, candidates)
    if "\n" in text:
        yield from _folded(text)
