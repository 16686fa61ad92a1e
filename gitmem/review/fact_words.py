"""Phrases of a review about one fact or line: where it moved, its verdict, its edits. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.gate.reports.markdown import code
from gitmem.memory.fact import Fact
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.line_verdicts import LineVerdict, State
from gitmem.review.markup import cut_as_code, difference, escaped_message, printable
from gitmem.review.text_changes import TextChange

MAX_HEADING_CHARS = 60  # of one heading or parent item in a fact's trail
GONE_OPS = (Op.REMOVED, Op.EXPIRED)
MOVED_OPS = (Op.MOVED, Op.REORDERED)
STATES = {
    State.PROMOTED: "promoted, and the source says it",
    State.SHARED: "promoted, and shares words and numbers with its source",
    State.PERSON: "by a person",
    State.AGENT: "**added by an agent, and by no promotion**",
    State.EDITED: "**edited after promotion**",
    State.BROKEN: "**whose provenance does not hold**",
}


def edited_after_promotion(line: LineVerdict) -> bool:
    """Whether the line is a promoted fact that was edited later. A fact that a person wrote may be edited freely."""
    return line.state is State.EDITED and line.promoted


def verdict_words(line: LineVerdict) -> str:
    """The verdict, commit and author of a line as a phrase, with its editor if it was edited. Lines with the same
    phrase are shown in one group."""
    words = STATES[line.state]
    if line.editor:
        words = f"**edited after promotion by {escaped_message(line.editor.partition(' <')[0])}**"
        if line.state is not State.EDITED:
            words += f", {STATES[line.state]}"
    elif line.words and not line.edits:
        words += f", {escaped_message(line.words)}"
    return f"{words} ({code(line.commit[:12])} by {code(printable(line.author.partition(' <')[0]))})"


def count_in_files(texts: Sequence[TextChange], noun: str, plural: str = "") -> str:
    """The number of texts and their files: `4 lines of prose in SOUL.md and 2 more files`. A file of instructions is
    named first. `texts`: at least one."""
    files = list(dict.fromkeys(text.path for text in sorted(texts, key=lambda t: not holds_instructions(t.path))))
    other_files = f" and {counted(len(files) - 1, 'more file')}" if len(files) > 1 else ""
    return f"**{counted(len(texts), noun, plural)}** in {code(printable(files[0]))}{other_files}"


def needs_source(text: str) -> bool:
    """Whether the text of a fact is a claim that needs a source: any text that neither ends with a colon nor begins
    with a code fence."""
    return not text.endswith((":", "：")) and not text.startswith(("```", "~~~"))


def fact_order(change: FactChange) -> tuple[bool, bool, bool, bool]:
    """Sort key of a changed fact: facts from the web or a tool first, then pinned facts, then facts written by an
    agent, then facts without a source."""
    fact = change.fact
    return fact.origin not in ("web", "tool"), not fact.get("pinned"), not change.by_machine, bool(fact.get("src"))


def move_words(change: FactChange) -> str:
    """Where a moved or reordered fact went, as a phrase."""
    assert change.old is not None and change.new is not None
    path = code(printable(change.path))
    if change.op is Op.REORDERED:
        return f"in another order in {path}"
    if change.old_path not in ("", change.path):
        return f"moved from {code(printable(change.old_path))} to {path}"
    return f"moved in {path} from {trail_words(change.old)} to {trail_words(change.new)}"


def former_place_words(change: FactChange) -> str:
    """The old and new heading or file of an edited fact that was also moved; "" for any other fact."""
    if change.op is not Op.CHANGED or not change.old or not change.new:
        return ""
    file = ""
    if change.old_path not in ("", change.path):
        file = f" in {code(printable(change.old_path))},"
    if file or change.old.heading != change.new.heading:
        return f"now below {trail_words(change.new)}, was{file} below {trail_words(change.old)}"
    return ""


def below_words(change: FactChange) -> str:
    """`below HEADING` for a fact that has a heading; "" when it has none or another phrase names it already."""
    if change.op in MOVED_OPS or not change.fact.trail or former_place_words(change):
        return ""
    return f"below {trail_words(change.fact)}"


def trail_words(fact: Fact) -> str:
    """The headings and parent items of a fact as code, each cut to MAX_HEADING_CHARS; `no heading` for none."""
    if not fact.trail:
        return "no heading"
    parts = []
    for part in fact.trail:
        if len(part) > MAX_HEADING_CHARS:
            part = part[:MAX_HEADING_CHARS].rstrip() + "…"
        parts.append(part)
    return code(printable(" > ".join(parts)))


def edit_words(edits: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    """(the edits as Markdown, the folded rest of long texts or ""). Each edit is (key, old value, new value), where the
    key "text" is the text of the fact."""
    parts, rests = [], []
    for key, old, new in edits:
        if key == "text" and old:
            words, folded = difference(old, new)
            rests.append(folded)
        else:
            words = f"{cut_as_code(old or 'nothing')[0]} → {cut_as_code(new or 'nothing')[0]}"
        parts.append(f"{escaped_message(key)} {words}")
    return "; ".join(parts), "\n\n".join(filter(None, rests))
