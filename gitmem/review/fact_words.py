"""What a review says of one fact or line in words: where it went, where it comes from, what of it was edited. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.gate.report import code
from gitmem.memory.fact import Fact
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.markup import difference, flat, plain, shown
from gitmem.review.review import LineVerdict, State
from gitmem.review.text_changes import TextChange

LONGEST_PART = 60  # characters of one heading or item that a fact stands below
GONE = (Op.REMOVED, Op.EXPIRED)
STAYING = (Op.MOVED, Op.REORDERED)
STATES = {
    State.PROMOTED: "promoted, and the source says it",
    State.SHARED: "promoted, and shares words and numbers with its source",
    State.PERSON: "by a person",
    State.AGENT: "**added by an agent, and by no promotion**",
    State.EDITED: "**edited after promotion**",
    State.BROKEN: "**whose provenance does not hold**",
}


def edited_after_promotion(line: LineVerdict) -> bool:
    """Whether a promoted fact was edited since: the comment of one that a person wrote may change."""
    return line.state is State.EDITED and line.promoted


def verdict_words(line: LineVerdict) -> str:
    """What lines of one verdict, commit and author have in common; of an edited one who edited it."""
    words = STATES[line.state] + (f", {plain(line.words)}" if line.words and not line.edits else "")
    if line.editor:
        by = plain(line.editor.partition(" <")[0])
        words = f"**edited after promotion by {by}**"
        if line.state is not State.EDITED:
            words += f", {STATES[line.state]}"
    return f"{words} ({code(line.commit[:12])} by {code(flat(line.author.partition(' <')[0]))})"


def of_files(texts: Sequence[TextChange], noun: str, plural: str = "") -> str:
    """`4 lines of prose in SOUL.md and 2 more files`."""
    files = list(dict.fromkeys(text.path for text in sorted(texts, key=lambda t: not holds_instructions(t.path))))
    more = ""
    if len(files) > 1:
        more = f" and {counted(len(files) - 1, 'more file')}"
    return f"**{counted(len(texts), noun, plural)}** in {code(flat(files[0]))}{more}"


def claims(text: str) -> bool:
    """Whether a fact says something for which a source may be asked: no line that leads in a list, no fenced block."""
    return not text.endswith((":", "：")) and not text.startswith(("```", "~~~"))


def weight(change: FactChange) -> tuple[bool, bool, bool, bool]:
    """Falsy first: words of the web or a tool, pins, what an agent wrote, facts without a source."""
    fact = change.fact
    outside = fact.origin in ("web", "tool")
    return not outside, not fact.get("pinned"), not change.by_machine, bool(fact.get("src"))


def way_words(change: FactChange) -> str:
    """Where a fact went that says the same as before."""
    assert change.old is not None and change.new is not None
    path = code(flat(change.path))
    if change.op is Op.REORDERED:
        return f"in another order in {path}"
    if change.old_path not in ("", change.path):
        return f"moved from {code(flat(change.old_path))} to {path}"
    return f"moved in {path} from {named(change.old)} to {named(change.new)}"


def former_place(change: FactChange) -> str:
    """Where a fact that changed stood, where its heading or file is another one now, else ""."""
    if change.op is not Op.CHANGED or not change.old or not change.new:
        return ""
    file = ""
    if change.old_path not in ("", change.path):
        file = f" in {code(flat(change.old_path))},"
    if file or change.old.heading != change.new.heading:
        return f"now below {named(change.new)}, was{file} below {named(change.old)}"
    return ""


def below_words(change: FactChange) -> str:
    """What a fact stands below, in words: "" for one that stays where it was, or that stands below nothing."""
    told = change.op not in STAYING and change.fact.trail and not former_place(change)
    if not told:
        return ""
    return f"below {named(change.fact)}"


def named(fact: Fact) -> str:
    """The headings and items that a fact stands below, as a review names them."""
    parts = (part if len(part) <= LONGEST_PART else part[:LONGEST_PART].rstrip() + "…" for part in fact.trail)
    if fact.trail:
        return code(flat(" > ".join(parts)))
    return "no heading"


def edit_words(edits: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    """Each change of a text and its comment: what, before, now."""
    parts, rests = [], []
    for what, old, new in edits:
        if what == "text" and old:
            words, rest = difference(old, new)
            rests.append(rest)
        else:
            words = f"{shown(old or 'nothing')[0]} → {shown(new or 'nothing')[0]}"
        parts.append(f"{plain(what)} {words}")
    return "; ".join(parts), "\n\n".join(rest for rest in rests if rest)
