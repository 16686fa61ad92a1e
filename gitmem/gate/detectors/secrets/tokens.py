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

from gitmem.gate.detectors.prefilter import DIGIT, UNBROKEN, kinds_table, plain, runs
from gitmem.gate.detectors.secrets import wallets
from gitmem.gate.detectors.secrets.candidates import Candidates, Found
from gitmem.gate.detectors.secrets.decision import Candidate, Place, is_secret
from gitmem.gate.detectors.secrets.features import CHECKSUMS, PRINTED_RULES, SHORT_START, entropy, is_varied, is_words
from gitmem.gate.detectors.secrets.rule_tables import literals_in_prose, literals_in_runs, patterns, shapes, tokens
from gitmem.gate.detectors.spans import line_around, merge_spans
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


def expand(pattern: str, loose: bool = False) -> str:
    """A pattern of a table with its short forms replaced; `loose`: any letter or digit where the row says
    hexadecimal."""
    for short, full in _SHORT.items():
        either = short in _EITHER_CASE or (loose and short in _ANY_LETTER)
        if either:
            full = "[0-9A-Za-z]"
        pattern = pattern.replace(short, full)
    return pattern


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
    pattern = tokens()[row].rest
    if _is_distinct(start):
        pattern = _LENGTH.sub(_nearly, pattern)  # a token that lost a character is known but for that one
    pattern = expand(pattern, _is_distinct(start))
    wide = pattern.rstrip("}0123456789,{)").endswith(("_-]", "=_-]", "_.-]", "_.=-]"))
    return re.compile(re.escape(start) + pattern + (r"(?![\w-])" if wide else r"(?![0-9A-Za-z])"), re.ASCII)


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


def _open_before(text: str, offset: int, start: str) -> bool:
    r"""Whether a token that begins with `start` can begin at `offset`: after no letter or digit, or after an
    escape such as `\n`, `%3D` or `\x1b[0m`.

    A short beginning (`sk-`, `live_`) is also part of longer names: there `_`, `-` and `.` do not open one.
    """
    if offset == 0:
        return True
    before = text[offset - 1]
    if before in "_-." and len(start) <= SHORT_START:
        return False
    if before == "/" and start[-1] == "/":
        return False
    if not (before.isascii() and before.isalnum()):
        return True
    return patterns.escape_before.search(text, max(0, offset - 12), offset) is not None


def _tokens_at(text: str, hot: Iterable[tuple[int, int]]) -> Iterator[Found]:
    """The tokens that begin in the spans `hot` of a text, in the order of the table."""
    yield from _tokens_of(text, _beginnings_in(text, hot))


def _tokens_of(text: str, beginnings: list[tuple[str, list[int]]]) -> Iterator[Found]:
    """The tokens of a text at these (beginning, offsets of it); of several at one place the longest."""
    for start, offsets in beginnings:
        rows = _beginnings()[start]
        end = 0
        for offset in offsets:
            if offset < end or not _open_before(text, offset, start):
                continue
            reached = 0
            for row in rows:
                rule, vendor, _, _ = tokens()[row]
                match = _token_pattern(row, start).match(text, offset)
                if match is None or match.end() <= reached:
                    continue
                certain = rule in CHECKSUMS and CHECKSUMS[rule](match.group())
                if certain or is_secret(Candidate(Place.TOKEN, text, offset, match.end(), start)):
                    reached = match.end()
                    best = Found(rule, offset, reached, f"{_article(vendor)} {vendor} token", certain)
            if reached:
                end = reached
                yield best


def _beginnings_in(text: str, hot: Iterable[tuple[int, int]]) -> list[tuple[str, list[int]]]:
    """(beginning, its offsets) for each beginning in the spans `hot`, in the order of the table; at most
    _MAX_OCCURRENCES offsets each."""
    by_two, order = _by_two()
    offsets: dict[str, list[int]] = {}
    for first, last in hot:
        for opening in _opening().finditer(text, first, last):
            offset = opening.start()
            for start in by_two.get(text[offset : offset + 2], ()):
                if text.startswith(start, offset, last):
                    occurrences = offsets.setdefault(start, [])
                    if len(occurrences) < _MAX_OCCURRENCES:
                        occurrences.append(offset)
    return sorted(offsets.items(), key=lambda item: order[item[0]])


def _article(vendor: str) -> str:
    """The article before the name of a vendor; "" when the name has one."""
    if vendor.startswith("a "):
        return ""
    if vendor[0] in "AEIOaeio":
        return "an"
    return "a"


def _windows(lowered: str, literals: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a text around the literals, in order, joined where they overlap, since a secret may reach from
    one into the next."""
    occurrences: list[int] = []
    for literal in literals:
        offset = lowered.find(literal)
        while offset >= 0 and len(occurrences) < _MAX_OCCURRENCES:
            occurrences.append(offset)
            offset = lowered.find(literal, offset + len(literal))
    size = len(lowered)
    return merge_spans([(max(0, offset - _BEFORE - 1), min(size, offset + _AFTER)) for offset in occurrences])


def _literals_present(candidates: Candidates) -> Iterator[str]:
    """The literals of the shapes that a text holds, one twice where it is in prose and in a run. The literals of runs
    are searched in the unbroken runs of the text only."""
    lowered = candidates.low
    lower_runs = "\n".join([lowered[first:last] for first, last in candidates.hot])
    yield from (literal for literal in literals_in_runs() if literal in lower_runs)
    yield from (literal for literal in literals_in_prose() if literal in lowered)


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
    lowered = candidates.low
    long = [run for run in candidates.runs if run[1] - run[0] >= 32]
    rows = {row for literal in _literals_present(candidates) for row in _rows_of()[literal]}
    if long:
        rows.update(_rows_of()[""])
    for row in sorted(rows):
        shape = shapes()[row]
        rule = shape.rule
        windows = long
        if shape.literals:
            windows = _windows(lowered, shape.literals)
        pattern = _shape_pattern(row)
        for first, last in windows:
            for match in pattern.finditer(text, first, last):
                start, end = match.span("secret")
                value = match.group("secret")
                line = ""
                if rule in PRINTED_RULES:
                    line = text[slice(*line_around(text, start, start, 200, 200))]
                if not is_secret(Candidate(Place.SHAPE, text, start, end, rule, words=line, weak=shape.is_random)):
                    continue
                if not value.strip(_AROUND_KEY):  # a first line without its body
                    start, end = match.start(), match.end()
                elif rule.startswith("private-key"):
                    start += len(value) - len(value.lstrip(_AROUND_KEY))
                    end -= len(value) - len(value.rstrip(_AROUND_KEY))
                yield Found(rule, start, end, shape.what)


def _across(pieces: list[Piece]) -> Iterator[Found]:
    """The tokens that begin in the first of some pieces of one string and end in a later one. There must be a piece."""
    head = len(pieces[0][1])
    for token in _tokens_at("".join([piece for _, piece in pieces]), [(0, head)]):
        if token.end > head:
            offsets = [offset for first, piece in pieces for offset in range(first, first + len(piece))]
            yield token._replace(start=offsets[token.start], end=offsets[token.end - 1] + 1)


def _folded(text: str) -> Iterator[Found]:
    """The tokens that a line end splits."""
    marks = plain(text).translate(_HEAD)
    line_end = text.find("\n")
    while line_end >= 0:
        end = line_end
        least = max(0, line_end - 408)
        while end > least and text[end - 1] in _AFTER_HEAD:
            end -= 1
        if text[end - 1 : end] == "=" != text[end - 2 : end - 1]:
            end -= 1  # a soft line break of quoted-printable
        if end - least >= 6 and marks[end - 1] != _NO_HEAD:
            begin = max(least, marks.rfind(b"-", least, end) + 1)
            if end - begin >= 6 and marks.find(b"1", begin, end) >= 0:
                next_line = patterns.line_break.match(text, end)
                if next_line:
                    yield from _across([(begin, text[begin:end]), (next_line.start("tail"), next_line["tail"])])
        line_end = text.find("\n", line_end + 1)


def _joined(text: str, beginnings: list[tuple[str, list[int]]]) -> Iterator[Found]:
    """Tokens whose source joins them out of strings on one line: `"..." + "..."`."""
    for start, offsets in beginnings:
        for offset in offsets:
            piece = patterns.token_piece.match(text, offset)
            if piece is None or not _open_before(text, offset, start):
                continue
            pieces = [(offset, piece.group())]
            while len(pieces) < _PIECES:
                next_piece = patterns.string_seam.match(text, pieces[-1][0] + len(pieces[-1][1]))
                if next_piece is None:
                    break
                pieces.append((next_piece.start("tail"), next_piece.group("tail")))
            if len(pieces) > 1:
                yield from (token for token in _across(pieces) if token.start == offset)


_SHORTEST_PIECE = 8  # characters of the first piece of a token, its beginning too
_OF_A_PIECE = 4  # characters behind a token's beginning from which it is a piece of one, and no mention


def _in_cells(text: str) -> Iterator[Found]:
    """Tokens whose pieces stand in one column of the rows of a table, in neighbouring cells of a row, one behind the
    other on a line, or in lines whose labels only count."""
    digits = plain(text).translate(DIGIT)
    hot = [span for span in runs(text, UNBROKEN, _SHORTEST_PIECE) if digits.find(b"1", *span) >= 0]
    for start, offsets in _beginnings_in(text, hot):
        for offset in offsets if _is_distinct(start) else ():
            piece = patterns.token_piece.match(text, offset)
            if piece is None or len(piece.group()) < len(start) + _OF_A_PIECE or not _open_before(text, offset, start):
                continue
            if any(True for _ in _tokens_at(piece.group(), [(0, len(start))])):
                continue  # a whole token in a cell
            for pieces in _pieces_after(text, *piece.span()):
                end = pieces[-1][0] + len(pieces[-1][1])
                yield from (token for token in _across(pieces) if (token.start, token.end) == (offset, end))


def _pieces_after(text: str, start: int, end: int) -> Iterator[list[Piece]]:
    """The pieces (offset, piece) that may go on with the one at `at:end`: those of two cells or lines, of three,
    and so on."""
    line_start = text.rfind("\n", max(0, start - 200), start) + 1
    before = text[line_start:start]
    _, line_end = line_around(text, start, end, 0, 500)
    line_rest = text[end:line_end].lstrip(" \t`\"'*")
    rows = _lines_after(text, line_end)
    yield from _growing([(start, text[start:end])], list(_inline(text, end)))
    if line_rest.startswith("|"):
        row = text[line_start:line_end]
        yield from _growing([(start, text[start:end])], _cells(row, line_start, before.count("|") + 1))
        column = before.count("|")
        yield from _growing(
            [(start, text[start:end])], [cell for place, line in rows for cell in _cells(line, place, column)[:1]]
        )
    elif not line_rest.strip() and (label := patterns.piece_label.match(before)):
        counted = patterns.counting_word.sub("#", label["label"].lower())
        if "#" in counted:
            yield from _growing([(start, text[start:end])], list(_labelled(rows, counted)))


def _inline(text: str, end: int) -> Iterator[Piece]:
    """(offset, piece) of what goes on with a piece that ends at `end` on its line: groups with blanks between them,
    `first half ... second half ...`."""
    for _ in range(_PIECES):
        match = patterns.inline_piece.match(text, end)
        if match is None:
            return
        piece = match["tail"].rstrip(".")
        if piece.isdigit() or (patterns.digit.search(piece) is None and (piece[1:].islower() or is_words(piece))):
            return
        end = match.start("tail") + len(piece)
        yield match.start("tail"), piece


def _lines_after(text: str, end: int) -> list[Piece]:
    """(offset, line) of the lines after the one that ends at `end`: at most _PIECES of at most 500 characters."""
    lines: list[Piece] = []
    while end < len(text) and len(lines) < _PIECES:
        start, end = end + 1, text.find("\n", end + 1, end + 502)
        if end < 0:
            end = len(text)
        lines.append((start, text[start : min(end, start + 500)]))
    return lines


def _cells(row: str, row_start: int, column: int) -> list[Piece]:
    """(offset, content) of the cells of a row from the cell `column` on, up to one that can be no part of a token;
    `row_start`: the offset of the row."""
    pieces: list[Piece] = []
    cell_start = 0
    for number, cell in enumerate(row.split("|")):
        match = None
        if number >= column:
            match = patterns.piece_cell.fullmatch(cell)
        if match is not None:
            pieces.append((row_start + cell_start + match.start("tail"), match["tail"]))
        elif number >= column:
            break
        cell_start += len(cell) + 1
    return pieces


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
        offsets = [offset for offset in range(*match.span()) if text[offset] not in gap]
        size = _GROUP
        if match["sign"]:
            size = 1
        for first in range(0, _WORDS_BEFORE * size, size):  # `the key ghp_ a1B2`: words of four letters before it
            whole = "".join([text[offset] for offset in offsets[first:]])
            token = next((token for token in _tokens_at(whole, [(0, len(whole))]) if token.start == 0), None)
            if token is not None:
                yield token._replace(start=offsets[first], end=offsets[first + token.end - 1] + 1)
                break


def continued(text: str, end: int) -> tuple[int, int] | None:
    """The span of the rest of a secret that ends at `end`: on the next line, in the next string or behind a `+`;
    None when it does not go on."""
    match = (
        patterns.next_line_rest.match(text, end)
        or patterns.string_seam.match(text, end)
        or patterns.sum_rest.match(text, end)
    )
    if match is None:
        return None
    value = match.group("tail")
    random = patterns.digit.search(value) and is_varied(value) and not is_words(value) and entropy(value) > 3.0
    if not random:
        return None
    return match.span("tail")


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
