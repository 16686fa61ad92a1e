"""Renders a context as one block of text in which all parts are quoted as data. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from gitmem.context import layers, packing, pieces
from gitmem.context.code_marks import code_mark as code_mark
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.context.pieces import Piece
from gitmem.gate.quoting import END, LEAD, escaped, passage, passage_mark, shown_name, without_secrets
from gitmem.memory.code_state import CodeState
from gitmem.memory.rivals import OtherSide
from gitmem.plural import counted

SESSION_LAYERS = frozenset(
    (Layer.RECENT, Layer.SUMMARY, Layer.WORKING)
)  # each in a tag of its own, not quoted as a file
MEMORY_TAGS = "<memory>\n</memory>\n"  # the tags around all quotations of memory; their tokens count once
CODE_CHANGED_NOTE = (
    "What begins with [code changed ...] or [not in the code any more ...] may be out of date: read the file that it "
    "names, then confirm it (git mem confirm) or edit it."
)
GAP = "…"  # shown between two passages of one file


def render(
    parts: Sequence[Part], commits: Mapping[str, str], cache: dict[tuple[Part, ...], str] | None = None,
    missing: str = "",
) -> str:  # fmt: skip
    """The text of a context. Parts with one `packing.quotation_key` are one quotation, at the place of the first of
    them.

    `commits`: scope name -> commit. `cache`: a cache of rendered quotations, filled here, because rendering searches a
    quotation for secrets. `missing`: the line about parts without room (`missing_line`), "" for none; without parts the
    result is `missing` alone.
    """
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(packing.quotation_key(part), []).append(part)
    quoted = {} if cache is None else cache
    doubtful = any(cited.state is not CodeState.RENAMED for part in parts for cited in part.cited_code)
    lines = [lead_line(commits)]
    if doubtful:
        lines.append(CODE_CHANGED_NOTE)
    inside = False
    for group in map(tuple, groups.values()):
        if inside is (group[0].layer in SESSION_LAYERS):
            lines.append("</memory>" if inside else "<memory>")
            inside = not inside
        if group not in quoted:
            quoted[group] = render_group(group, commits)
        lines.append(quoted[group])
    if not groups:
        return missing
    if inside:
        lines.append("</memory>")
    if missing:
        lines.append(missing)
    return "\n".join([*lines, END])


MISSING = "Left out for lack of room"
MAX_NAMED_FILES = 4  # files that the line about missing parts names
# Layers whose missing parts are reported, because a person wrote them to be read always. Other layers come from a
# search.
REPORTED_LAYERS = frozenset((Layer.PINNED, Layer.INCLUDED, Layer.RULE, Layer.PROCEDURE, Layer.MEMORY))


class Detail(Enum):
    """How much the line about missing parts says: names, a number, or nothing."""

    NAMES = "names"
    NUMBER = "number"
    NOTHING = "nothing"


def missing_line(fitted: packing.Selection, detail: Detail = Detail.NAMES) -> str:
    """One line about the parts of REPORTED_LAYERS of the selection `fitted` that found no room or were cut; "" if none
    was, and for Detail.NOTHING."""
    missing = [part for part, reason in fitted.dropped if reason in packing.NO_ROOM and part.layer in REPORTED_LAYERS]
    cut_parts = [part for part in fitted.kept if part.layer is Layer.PINNED and not part.pieces and part.cut_to_line]
    if detail is Detail.NOTHING or not (missing or cut_parts):
        return ""
    if detail is Detail.NUMBER:
        return f"Left out: {counted(len(missing) + len(cut_parts), 'part')}."
    facts = sum(1 for part in missing if packing.is_pinned_fact(part))
    fact_count = sum(1 for part in missing if part.layer is Layer.MEMORY)
    files = [shown_name(part.path) for part in missing if part.layer is not Layer.MEMORY and not part.pieces]
    files += [f"{shown_name(part.path)} after line {part.end_line}" for part in cut_parts]
    files = list(dict.fromkeys(files))
    if facts:
        phrases = [f"{facts} of {counted(fitted.pinned_offered, 'pinned fact')}"]
    else:
        phrases = []
    phrases += files[:MAX_NAMED_FILES]
    if len(files) > MAX_NAMED_FILES:
        phrases += [counted(len(files) - MAX_NAMED_FILES, "more file")]
    if fact_count:
        phrases += [f"{counted(fact_count, 'fact')} of MEMORY.md"]
    return f"{MISSING}: {', '.join(phrases)}."


def lead_line(commits: Mapping[str, str]) -> str:
    """The first line of a context; it names the project's commit, if there is one, for all quotations."""
    commit = commits.get("project", "")
    return f"{LEAD} Commit: {commit[:12]}." if commit else LEAD


def render_group(parts: Sequence[Part], commits: Mapping[str, str], bare: bool = False) -> str:
    """The quotation of parts with one `quotation_key`. `bare`: leave out their text, to count the tokens around it.
    `commits`: scope name -> commit."""
    first = parts[0]
    if first.layer in SESSION_LAYERS:
        attribute = "" if first.layer is Layer.WORKING else f' who="{first.label}"'
        content = "\n".join(part.content for part in parts)
        body = "" if bare else escaped("\n".join(without_secrets(content.split("\n"))))
        return f"<{first.layer.value}{attribute}>\n{body}\n</{first.layer.value}>"
    note = ", ".join(filter(None, (_layer_note(first), first.scope if first.scope != "project" else "")))
    shown_pieces = _pieces(parts)
    places = [(piece.first, piece.last, piece.position) for piece in shown_pieces] or _places(parts)
    spans = _spans(places)
    commit = commits.get(first.scope, "") if first.scope != "project" else ""
    if bare:
        return passage_mark(first.path, spans, commit=commit, trust=first.trust, note=note) + "\n"
    text = _statements(parts, shown_pieces) if shown_pieces else _with_gaps(parts)
    return passage(text, first.path, *spans, commit=commit, trust=first.trust, note=note)


def _pieces(parts: Sequence[Part]) -> list[Piece]:
    """The pieces of parts of one file in the order shown; empty if a part has no pieces, such as a whole file."""
    if not all(part.pieces for part in parts):
        return []
    return pieces.by_section((piece, part.relevance) for part in parts for piece in part.pieces)


def _statements(parts: Sequence[Part], shown_pieces: Sequence[Piece]) -> str:
    """The Markdown of `shown_pieces`, the pieces of `parts`, with marks on those that were cut, that a later line
    amends, that another line contradicts, that cite changed code, or that need their origin or day."""
    leading = {line: code_mark(cited) for part in parts for line, cited in part.code}
    for line, other in (pair for part in parts for pair in part.differs):
        leading[line] = _difference_mark(other) + leading.get(line, "")
    for line, mark in (pair for part in parts for pair in part.said):
        leading[line] = f"[{mark}] " + leading.get(line, "")
    for line, day in (pair for part in parts for pair in part.until):
        leading[line] = f"until {day}: " + leading.get(line, "")
    positions = {piece.position for piece in shown_pieces}
    trailing: dict[int, str] = {}
    for part in parts:
        if part.cut_to_line:
            last = part.pieces[-1]
            if last.position + 1 not in positions:
                trailing[last.first] = f"{GAP} (goes on to line {part.cut_to_line})"
    return pieces.as_markdown(shown_pieces, leading, trailing)


def _places(parts: Sequence[Part]) -> list[tuple[int, int, int]]:
    """(first line, last line, first line) of each part with lines, for `_spans`."""
    return [(part.start_line, part.end_line, part.start_line) for part in parts if part.start_line]


def _spans(places: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """(first line, last line) of each run of adjacent places.

    `places`: (first line, last line, position). Two places are adjacent if their positions or their lines are.
    """
    spans: list[tuple[int, int]] = []
    previous_position = -1
    for first, last, position in places:
        if spans and (position == previous_position + 1 or spans[-1][1] + 1 == first):
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
        previous_position = position
    return spans


def _layer_note(part: Part) -> str:
    """The name of a part's layer; "" if the path of the part tells it already."""
    return part.layer.value if layers.layer_of(part.path) is not part.layer else ""


def _with_gaps(parts: Sequence[Part]) -> str:
    """The texts of parts, one below the other, with a GAP between passages that are not adjacent."""
    rows: list[str] = []
    for index, part in enumerate(parts):
        fact = (
            layers.is_fact_file(part.path) and part.layer in (Layer.MEMORY, Layer.PINNED)
        ) or part.layer is Layer.MERGED
        apart = index > 0 and not fact and not part.commit and part.start_line != parts[index - 1].end_line + 1
        if apart:
            rows.append(GAP)
        mark_of_item = "- " if fact else ""
        rows.append(mark_of_item + until_marks(part) + part.content)
    return "\n".join(rows)


def until_marks(part: Part) -> str:
    """The marks `until DAY: ` of a part that later lines replace; "" for none."""
    return "".join(f"until {day}: " for _, day in part.until)


def _difference_mark(other: OtherSide) -> str:
    """The mark before a statement of an open pair: `[a later line says otherwise: MEMORY.md:7, 2026-11-20] `."""
    return f"[{other._replace(path=shown_name(other.path)).words}] "


def marks_before(part: Part) -> str:
    """All marks of a part, joined; their tokens count with its text."""
    differences = "".join(_difference_mark(other) for _, other in part.differs)
    origins = "".join(f"[{mark}] " for _, mark in part.said)
    return until_marks(part) + origins + differences + "".join(code_mark(cited) for _, cited in part.code)
