"""The comment of a pull request: what a change does to memory, within two screens for any change. Pure.

It says in this order: one sentence, what to do, the changed facts, the problems that are new in this change, what was
there before in one line; the whole review is folded below. Text of memory stands in it as code. Nothing that the
heights leave out is lost: it is counted, and stands in the fold or where that says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.registry import PERSONAL
from gitmem.gate.policy import MESSAGE
from gitmem.gate.report import code, order, remedy, shell_word
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.signatures import summary
from gitmem.review import comment_height
from gitmem.review.fact_diff import FactChange, Op, archives
from gitmem.review.fact_words import GONE, STAYING, edit_words, edited_after_promotion, weight
from gitmem.review.forges.forge import Forge
from gitmem.review.markup import difference, flat, plain, shown
from gitmem.review.page import Page, fit
from gitmem.review.rendering import View, other_fix, page_of
from gitmem.review.review import Review
from gitmem.review.statement_diff import statement_diff
from gitmem.review.text_changes import TextChange, TextOp

COMMENT = 65_536  # characters of a comment at GitHub, the smallest of the forges
MARGIN = 1_000  # of a comment's characters, for the marker before it
SCREENS = 900  # pixels of the comment while its fold is closed: what two screens of a laptop show of it
TEXT = 160  # characters of one fact or line that the open part shows
PLACE = 60  # characters of a place that the open part shows
ROW = 120  # pixels of one row of the open part, from which it is left to the fold
MARKDOWN = 2_500  # characters of one row of the open part with its links, from which it is left to the fold
ORDERS = 4  # lines of instructions that are shown before the facts
FACTS = 4  # of ten pixels that rows need, those that facts have where problems need the others
STEERING = ("injection", "exfil", "hidden", "invisible", "bidi", "encoded", "terminal")  # beginnings of rules
WORDS = {
    Op.ADDED: "added", Op.PROMOTED: "added", Op.CHANGED: "changed", Op.REMOVED: "taken out", Op.EXPIRED: "over",
    Op.MOVED: "moved", Op.REORDERED: "moved",
}  # fmt: skip


def as_comment(
    review: Review,
    forge: Forge | None = None,
    *,
    limit: int = 0,
    elsewhere: str = "",
    size: Callable[[str], int] = len,
) -> str:
    """The comment within `limit`, by `size` (0: what a comment of the forge holds), and within SCREENS pixels.

    What does not fit is counted by kind, and `elsewhere`, Markdown, says where all of it is ("": the
    command that prints it).
    """
    limit = limit or (forge.body_limit if forge else COMMENT) - MARGIN
    head = open_part(View(review, forge, PLACE))
    view = View(review, forge)
    empty = size(head) + size(_folded(page_of(view, Page("", tuple("x" * 60 for _ in view.sections)), elsewhere)))
    return f"{head}\n{_folded(page_of(view, fit(view.sections, limit - empty, size), elsewhere))}\n"


def _folded(text: str) -> str:
    return f"<details><summary>{FOLD}</summary>\n\n{text}\n</details>"


FOLD = "Everything: what was checked, each change with its source, how to mend it"


@dataclass(frozen=True, slots=True)
class _List:
    """Rows of Markdown under a line of ours; `noun` and `plural` count those that are not shown."""

    title: str
    rows: tuple[str, ...]
    noun: str
    plural: str = ""


def open_part(view: View) -> str:
    """What is seen while the fold is closed, SCREENS pixels high at most with the fold's own line."""
    first = [f"### {_sign(view)} {view.sentence}{_found_words(view)}", "", _what_to_do(view)]
    before = _before_line(view)
    if before:
        last = ["", before]
    else:
        last = []
    facts = _List("", tuple(_fact_rows(view)), "more change")
    problems = _List("**Problems of this change**", tuple(_problem_rows(view)), "more problem")
    space = SCREENS - comment_height.of_blocks([*first, *last]) - comment_height.of_fold(FOLD)
    counts = _shared_out(facts, problems, space)
    lists = [line for each, count in zip((facts, problems), counts, strict=True) for line in _list(each, count)]
    return "\n".join([*first, *lists, *last]) + "\n"


def _shared_out(facts: _List, problems: _List, space: int) -> tuple[int, int]:
    """How many rows of both are shown within `space` pixels: neither takes what the other one needs."""
    needs = [_height(each, len(each.rows)) for each in (facts, problems)]
    if needs[1] < space * (10 - FACTS) // 10:
        of_facts = space - needs[1]
    else:
        of_facts = space * FACTS // 10
    count = _rows_within(facts, of_facts)
    return count, _rows_within(problems, space - _height(facts, count))


def _rows_within(each: _List, space: int) -> int:
    count = len(each.rows)
    while count and _height(each, count) > space:
        count -= 1
    return count


def _height(each: _List, count: int) -> int:
    return comment_height.of_blocks(_list(each, count))


def _list(each: _List, count: int) -> list[str]:
    """The first `count` rows of a list and the number of the others; nothing for an empty list."""
    if not each.rows:
        return []
    lines = [""]
    if each.title:
        lines += [each.title, ""]
    lines += [f"- {row}" for row in each.rows[:count]]
    left = len(each.rows) - count
    if left:
        lines.append(f"- {'and ' if count else ''}{counted(left, each.noun, each.plural)}, folded below")
    return lines


def _small(row: str, instead: str) -> str:
    """A row, or what is said in its place where it is too large for the open part."""
    if len(row) <= MARKDOWN and comment_height.of_row(row) <= ROW:
        return row
    return instead


# -- what happened, and what to do -----------------------------------------------------------------------------


def _sign(view: View) -> str:
    if view.faults:
        return "❌"
    if view.points:
        return "⚠️"
    return "✅"


def _found_words(view: View) -> str:
    """What the gate refuses, as the end of the sentence."""
    blocks = [one for one in view.review.report.findings if one.severity is Severity.BLOCK]
    texts = {(_kind_of(one), one.path, one.fingerprint or str(one.line)) for one in blocks}
    kinds = {kind: sum(row[0] == kind for row in texts) for kind, _, _ in sorted(texts)}
    words = [
        (one if kinds[kind] == 1 else many.format(kinds[kind])) for kind, (one, many) in KINDS.items() if kind in kinds
    ]
    if not words:
        return ""
    return f" — **with {' and '.join(words)}**"


KINDS = {
    "secret": ("a secret", "{} secrets"),
    "personal": ("personal data", "{} places of personal data"),
    "steering": ("a text that gives orders to agents", "{} texts that give orders to agents"),
    "other": ("a change that the gate refuses", "{} changes that the gate refuses"),
}


def _kind_of(finding: Finding) -> str:
    if finding.secret:
        return "secret"
    if finding.rule.startswith(PERSONAL):
        return "personal"
    if finding.rule.startswith(STEERING):
        return "steering"
    return "other"


def _what_to_do(view: View) -> str:
    secret = any(one.secret for one in view.review.report.findings)
    if view.faults:
        first = ""
        if secret:
            first = "change the secret where it is used, then "
        return f"**Do not merge yet:** {first}mend what stands below as *must be mended*."
    if view.points:
        return f"**Before you merge:** look at {counted(view.points, 'point')} below. Nothing is refused."
    if view.review.changes or view.review.other.texts or view.review.other.placements:
        return "**To do:** read what changed; merge it if it is true. No check found a problem."
    return "**To do:** nothing. No check found a problem."


def _before_line(view: View) -> str:
    report = view.review.report
    old = sum(one.severity is Severity.WARN for one in report.before)
    if old:
        parts = [counted(old, "warning of the gate", "warnings of the gate")]
    else:
        parts = []
    blocks = sum(one.severity is Severity.BLOCK for one in report.before)
    if blocks:
        parts += [f"{counted(blocks, 'finding')} that blocks all the same"]
    other = sum(warning.old_points() for warning in view.review.warnings)
    if other:
        parts += [counted(other, "file over its size", "files over their size")]
    if not parts:
        return ""
    return f"There before this change, and not of it: {', '.join(parts)}."


# -- what changed --------------------------------------------------------------------------------------------


def _fact_rows(view: View) -> Iterator[str]:
    """What changed, a row each: what fails first, then lines of instructions, facts and other lines, of each what
    weighs most first. What was archived or only stands elsewhere is counted in the sentence and shown in the fold, and
    so are headings and lines without a word.
    """
    texts = [text for text in view.review.other.texts if not view.passes(text.path) and not text.heading]
    texts = [text for text in texts if any(map(str.isalnum, text.text or text.old_text))]
    order_of = {Op.CHANGED: 0, Op.PROMOTED: 1, Op.ADDED: 1, Op.REMOVED: 2, Op.EXPIRED: 3}
    changes = [change for change in view.facts if change.op not in STAYING and not archives(change)]
    changes.sort(key=lambda one: (order_of[one.op], weight(one)))
    orders = [_fact_row(view, one) for one in changes if holds_instructions(one.path) and not _fails(view, one)]
    orders += [_text_row(view, text) for text in texts if holds_instructions(text.path)]
    yield from (_fact_row(view, one) for one in changes if _fails(view, one))
    yield from orders[:ORDERS]
    for change in changes:
        if not _fails(view, change) and not holds_instructions(change.path):
            yield _fact_row(view, change)
    yield from orders[ORDERS:]
    yield from (_text_row(view, text) for text in texts if not holds_instructions(text.path))


def _fails(view: View, change: FactChange) -> bool:
    line = view.verdict_of(change)
    return line is not None and line.fails


def _fact_row(view: View, change: FactChange) -> str:
    """The row of one fact: the kind of the change, the text, the place and the first source."""
    commit, path, line = view.review.place_of(change)
    place = view.links.line(path, line, commit)
    sources = view.review.cited.get((commit, path, line), ())
    said = ""
    if sources and change.op not in GONE:
        said = f", from {_source(view, sources[0])}"
    if change.fact.origin in ("web", "tool"):
        weighs = [f"**from {plain(change.fact.origin)}**"]
    else:
        weighs = []
    if change.fact.get("pinned"):
        weighs += ["**pinned**"]
    about = "".join(f", {words}" for words in weighs)
    what = f"**{WORDS[change.op]}**{' instruction' if holds_instructions(change.path) else ''}"
    return _small(f"{what} {_body(change)} ({place}{said}{about})", f"{what} a fact that is long ({place})")


def _body(change: FactChange) -> str:
    old, new = change.old, change.new
    if change.op is not Op.CHANGED or old is None or new is None:
        return shown(change.fact.text, TEXT)[0]
    if old.text == new.text:
        edits = [edit for edit in statement_diff(old, new).keys if edit[0] != "src"]
        return f"{shown(new.text, TEXT)[0]}: {edit_words(edits)[0] or 'another source'}"
    return _short_difference(old.text, new.text)


def _short_difference(old: str, new: str) -> str:
    words, _ = difference(old, new)
    if len(words) <= 3 * TEXT:
        return words
    return f"{shown(old, TEXT)[0]} → {shown(new, TEXT)[0]}"


def _source(view: View, source: Source) -> str:
    if source.problem:
        return f"{view.links.named(f'{source.path}:{source.start_line}')}: **{plain(source.problem)}**"
    return view.links.line(source.path, source.start_line, source.commit)


def _text_row(view: View, text: TextChange) -> str:
    if text.op is TextOp.CHANGED:
        body = _short_difference(text.old_text, text.text)
    else:
        body = shown(text.text or text.old_text, TEXT)[0]
    gone = text.op is TextOp.REMOVED
    if gone:
        place = view.links.line(text.old_path or text.path, text.old_line, view.review.base)
    else:
        place = view.links.line(text.path, text.line, "")
    what = f"**{'taken out' if gone else text.op.value}**"
    kind = ""
    if holds_instructions(text.path):
        kind = " instruction"
    return _small(f"{what}{kind} {body} ({place})", f"{what}{kind} a line that is long ({place})")


# -- problems ------------------------------------------------------------------------------------------------


def _problem_rows(view: View) -> Iterator[str]:
    """The problems that are new in this change, those that refuse it first."""
    old = set(view.review.report.before)
    findings = [one for one in order(view.review.report.findings) if one not in old]
    blocks = [one for one in findings if one.severity is Severity.BLOCK]
    yield from _finding_rows(view, blocks)
    for line in view.review.lines:
        if line.fails:
            why = line.message.partition(": ")[2] or "an agent wrote it, and no promotion did"
            place = view.links.line(line.path, line.line)
            row = f"{MUST} {shown(line.text, TEXT // 2)[0]} ({place}): {plain(why)}; {other_fix(line)}"
            yield _small(row, f"{MUST} {place}: where it comes from does not hold")
    for warning in sorted(view.review.warnings, key=lambda one: not one.fails):
        if warning.fails:
            sign = MUST
        else:
            sign = LOOK
        if warning.points():
            for one in warning.section(view.links).rows:
                words = (one.short or one.text).split("\n")[0]
                yield _small(f"{sign} {words}", f"{sign} {warning.title}: see below")
    for line in view.review.lines:
        if edited_after_promotion(line) and not line.fails:
            by = ""
            if line.editor:
                by = f" by {shown(line.editor.partition(' <')[0], PLACE)[0]}"
            place = view.links.line(line.path, line.line)
            yield _small(f"{LOOK} {place} was edited{by} after it came from a log", f"{LOOK} {place} was edited")
    yield from _finding_rows(view, [one for one in findings if one.severity is Severity.WARN])
    yield from _unchecked_rows(view)


MUST = "*must be mended*:"
LOOK = "*look at*:"


def _finding_rows(view: View, findings: Sequence[Finding]) -> Iterator[str]:
    """One row for what one rule says of one file."""
    rows: dict[tuple[str, str, str], list[Finding]] = {}
    for one in findings:
        rows.setdefault((one.rule, one.path, one.message), []).append(one)
    for (_, path, message), ones in rows.items():
        first = ones[0]
        if first.severity is Severity.BLOCK:
            sign = MUST
        else:
            sign = LOOK
        if path == MESSAGE:
            place, mend = f"the message of `{first.commit[:12]}`", "`git rebase -i`, reword the commit"
        else:
            place = view.links.line(path, first.line, first.commit)
            mend = plain(remedy(first)) or code(flat(f"git mem redact {shell_word(path)}"))
        more = ""
        if len(ones) > 1:
            more = f" and {len(ones) - 1} more"
        excerpt = ""
        if first.excerpt:
            excerpt = f" {shown(first.excerpt, TEXT // 2)[0]}"
        if first.fingerprint not in view.review.standing and first.commit and path != MESSAGE:
            mend = f"`git rebase -i`, take it out of `{first.commit[:12]}`"
        yield _small(f"{sign} {place}{more}: {plain(message)}{excerpt}; {mend}", f"{sign} {place}: {plain(first.rule)}")


def _unchecked_rows(view: View) -> Iterator[str]:
    review = view.review
    signed = summary(review.signatures)
    if "BAD" in signed:
        yield _small(f"{LOOK} {plain(signed)}", f"{LOOK} a signature is bad")
    for words in (note for note in review.notes if note != signed):
        yield _small(f"{LOOK} not checked: {plain(words)}", f"{LOOK} something was not checked: see below")
    for path in review.other.unread:
        yield f"{LOOK} {view.links.named(path)} is too large to be shown, or no UTF-8"
    for skip in review.report.skipped:
        row = f"{LOOK} not scanned: {view.links.named(skip.path)}, {plain(skip.reason)}"
        yield _small(row, f"{LOOK} a file was not scanned: see below")
    if view.unsourced:
        yield f"{LOOK} {view.unsourced_words}"
    if view.instructions:
        yield f"{LOOK} what an agent is told to do changes"
