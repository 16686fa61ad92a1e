"""Renders the review comment of a pull request; its open part fits into two screens. Pure.

The open part has, in this order: one sentence, what to do, the changed facts, the problems that this change adds, and
one line about older problems. The whole review is folded below. Rows that do not fit in the open part are counted there
and shown in the fold. Memory text is rendered as code.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.registry import PERSONAL
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import remedy
from gitmem.gate.reports.finding_words import order
from gitmem.gate.reports.markdown import code
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.signatures import signature_summary
from gitmem.review import comment_height
from gitmem.review.fact_diff import FactChange, Op, is_archiving
from gitmem.review.fact_words import GONE_OPS, MOVED_OPS, edit_words, edited_after_promotion, fact_order
from gitmem.review.forges.forge import Forge
from gitmem.review.markup import cut_as_code, difference, escaped_message, printable
from gitmem.review.page import Page, fit_page
from gitmem.review.rendering import View, accept_words, page_of
from gitmem.review.review import Review
from gitmem.review.statement_diff import statement_diff
from gitmem.review.text_changes import TextChange, TextOp
from gitmem.shell_word import shell_word

MAX_COMMENT_CHARS = 65_536  # GitHub's limit for a comment, the smallest of all forges
MARKER_CHARS = 1_000  # reserved for the marker before the comment
MAX_OPEN_PIXELS = 900  # height of the comment while its fold is closed: two screens of a laptop
MAX_TEXT_CHARS = 160  # of one fact or line in the open part
MAX_PLACE_CHARS = 60  # of one place in the open part
MAX_ROW_PIXELS = 120  # height of one row in the open part; a higher row is shortened
MAX_ROW_CHARS = 2_500  # of one row in the open part, links included; a longer row is shortened
MAX_INSTRUCTIONS_FIRST = 4  # lines of instructions shown before the facts
FACT_TENTHS = 4  # tenths of the row space that facts get when problems could fill the rest
STEERING_RULES = ("injection", "exfil", "hidden", "invisible", "bidi", "encoded", "terminal")  # prefixes of rule names
OP_WORDS = {
    Op.ADDED: "added", Op.PROMOTED: "added", Op.CHANGED: "changed", Op.REMOVED: "taken out", Op.EXPIRED: "over",
    Op.MOVED: "moved", Op.REORDERED: "moved",
}  # fmt: skip


def comment_markdown(
    review: Review,
    forge: Forge | None = None,
    *,
    limit: int = 0,
    elsewhere: str = "",
    size: Callable[[str], int] = len,
) -> str:
    """The comment in Markdown, at most `limit` long as measured by `size`, whose open part is at most MAX_OPEN_PIXELS
    high. `limit`: 0 for the limit of the forge less MARKER_CHARS. `forge`: None for Markdown of no forge, with
    MAX_COMMENT_CHARS as its limit.

    Rows that do not fit are counted by kind. `elsewhere`: Markdown that says where to find them; "" names the command
    that prints them.
    """
    if not limit and forge:
        limit = forge.body_limit - MARKER_CHARS
    limit = limit or MAX_COMMENT_CHARS - MARKER_CHARS
    head = open_part(View(review, forge, MAX_PLACE_CHARS))
    view = View(review, forge)
    empty = size(head) + size(_fold(page_of(view, Page("", tuple("x" * 60 for _ in view.sections)), elsewhere)))
    return f"{head}\n{_fold(page_of(view, fit_page(view.sections, limit - empty, size), elsewhere))}\n"


def _fold(text: str) -> str:
    return f"<details><summary>{FOLD}</summary>\n\n{text}\n</details>"


FOLD = "Everything: what was checked, each change with its source, how to mend it"


@dataclass(frozen=True, slots=True)
class _List:
    """Rows of Markdown under `title`, "" for none. `noun`, `plural`: what the hidden rows are called in a count."""

    title: str
    rows: tuple[str, ...]
    noun: str
    plural: str = ""


def open_part(view: View) -> str:
    """The part of the comment above the fold. With the line of the fold it is at most MAX_OPEN_PIXELS high."""
    head = [f"### {_sign(view)} {view.sentence}{_blocked_words(view)}", "", _what_to_do(view)]
    tail = []
    before = _before_line(view)
    if before:
        tail = ["", before]
    facts = _List("", tuple(_fact_rows(view)), "more change")
    problems = _List("**Problems of this change**", tuple(_problem_rows(view)), "more problem")
    space = MAX_OPEN_PIXELS - comment_height.blocks_height([*head, *tail]) - comment_height.blocks_height([FOLD])
    fact_count, problem_count = _counts_within(facts, problems, space)
    return "\n".join([*head, *_list_lines(facts, fact_count), *_list_lines(problems, problem_count), *tail]) + "\n"


def _counts_within(facts: _List, problems: _List, space: int) -> tuple[int, int]:
    """(number of facts, number of problems) to show within `space` pixels. Facts get the space that problems do not
    need, and at least FACT_TENTHS tenths of the whole."""
    problem_height = _height(problems, len(problems.rows))
    fact_space = space * FACT_TENTHS // 10
    if problem_height < space * (10 - FACT_TENTHS) // 10:
        fact_space = space - problem_height
    count = _rows_within(facts, fact_space)
    return count, _rows_within(problems, space - _height(facts, count))


def _rows_within(rows: _List, space: int) -> int:
    """The number of first rows whose list is at most `space` pixels high."""
    count = len(rows.rows)
    while count and _height(rows, count) > space:
        count -= 1
    return count


def _height(rows: _List, count: int) -> int:
    """The height in pixels of a list with its first `count` rows."""
    return comment_height.blocks_height(_list_lines(rows, count))


def _list_lines(rows: _List, count: int) -> list[str]:
    """The first `count` rows as lines of Markdown, with the number of the others; empty for an empty list."""
    if not rows.rows:
        return []
    lines = [""]
    if rows.title:
        lines += [rows.title, ""]
    lines += [f"- {row}" for row in rows.rows[:count]]
    remaining = len(rows.rows) - count
    if remaining:
        lines.append(f"- {'and ' if count else ''}{counted(remaining, rows.noun, rows.plural)}, folded below")
    return lines


def _row_or_short(row: str, short: str) -> str:
    """`row`, or `short` when `row` is too large for the open part."""
    if len(row) <= MAX_ROW_CHARS and comment_height.row_height(row) <= MAX_ROW_PIXELS:
        return row
    return short


# -- what happened, and what to do -----------------------------------------------------------------------------


def _sign(view: View) -> str:
    """The sign before the first sentence: faults, points to look at, or neither."""
    if view.faults:
        return "❌"
    if view.points:
        return "⚠️"
    return "✅"


KIND_WORDS = {  # kind -> (words for one finding, words for many)
    "secret": ("a secret", "{} secrets"),
    "personal": ("personal data", "{} places of personal data"),
    "steering": ("a text that gives orders to agents", "{} texts that give orders to agents"),
    "other": ("a change that the gate refuses", "{} changes that the gate refuses"),
}


def _blocked_words(view: View) -> str:
    """The end of the sentence that counts the gate's blocking findings by kind; "" when there are none."""
    blocking = [finding for finding in view.review.report.findings if finding.severity is Severity.BLOCK]
    distinct = {(_kind_of(finding), finding.path, finding.fingerprint or str(finding.line)) for finding in blocking}
    counts = Counter(kind for kind, _, _ in distinct)
    words = []
    for kind, (singular, plural) in KIND_WORDS.items():
        if counts[kind] == 1:
            words.append(singular)
        elif counts[kind]:
            words.append(plural.format(counts[kind]))
    return f" — **with {' and '.join(words)}**" if words else ""


def _kind_of(finding: Finding) -> str:
    """The key of KIND_WORDS for a finding."""
    if finding.secret:
        return "secret"
    if finding.rule.startswith(PERSONAL):
        return "personal"
    if finding.rule.startswith(STEERING_RULES):
        return "steering"
    return "other"


def _what_to_do(view: View) -> str:
    """The line that tells the reviewer whether to merge."""
    if view.faults:
        first_step = ""
        if any(finding.secret for finding in view.review.report.findings):
            first_step = "change the secret where it is used, then "
        return f"**Do not merge yet:** {first_step}mend what stands below as *must be mended*."
    if view.points:
        return f"**Before you merge:** look at {counted(view.points, 'point')} below. Nothing is refused."
    if view.review.changes or view.review.other.texts or view.review.other.placements:
        return "**To do:** read what changed; merge it if it is true. No check found a problem."
    return "**To do:** nothing. No check found a problem."


def _before_line(view: View) -> str:
    """One line that counts the problems from before this change; "" when there are none."""
    severities = Counter(finding.severity for finding in view.review.report.before)
    parts = []
    if severities[Severity.WARN]:
        parts.append(counted(severities[Severity.WARN], "warning of the gate", "warnings of the gate"))
    if severities[Severity.BLOCK]:
        parts.append(f"{counted(severities[Severity.BLOCK], 'finding')} that blocks all the same")
    too_large = sum(warning.old_points() for warning in view.review.warnings)
    if too_large:
        parts.append(counted(too_large, "file over its size", "files over their size"))
    if not parts:
        return ""
    return f"There before this change, and not of it: {', '.join(parts)}."


# -- what changed --------------------------------------------------------------------------------------------


def _fact_rows(view: View) -> Iterator[str]:
    """One row for each change: failing facts, the first MAX_INSTRUCTIONS_FIRST instructions, the other facts, the other
    instructions, other lines.

    The facts of a group are sorted by the kind of change (changed, added, removed, expired), then by `fact_order`. Left
    out here, and shown in the fold only: archived and moved facts, lines of logs, headings, and lines without a letter
    or digit.
    """
    texts = [text for text in view.review.other.texts if not view.is_log(text.path) and not text.heading]
    texts = [text for text in texts if any(map(str.isalnum, text.text or text.old_text))]
    order_of = {Op.CHANGED: 0, Op.PROMOTED: 1, Op.ADDED: 1, Op.REMOVED: 2, Op.EXPIRED: 3}
    changes = [change for change in view.facts if change.op not in MOVED_OPS and not is_archiving(change)]
    changes.sort(key=lambda change: (order_of[change.op], fact_order(change)))
    failing, instructions, facts = [], [], []
    for change in changes:
        row = _fact_row(view, change)
        line = view.verdict_of(change)
        if line and line.fails:
            failing.append(row)
        elif holds_instructions(change.path):
            instructions.append(row)
        else:
            facts.append(row)
    instructions += [_text_row(view, text) for text in texts if holds_instructions(text.path)]
    yield from failing
    yield from instructions[:MAX_INSTRUCTIONS_FIRST]
    yield from facts
    yield from instructions[MAX_INSTRUCTIONS_FIRST:]
    yield from (_text_row(view, text) for text in texts if not holds_instructions(text.path))


def _fact_row(view: View, change: FactChange) -> str:
    """The row of one fact: the kind of change, the text, the place, the first source, an outside origin and the pin."""
    commit, path, line = view.review.place_of(change)
    place = view.links.line(path, line, commit)
    details = [place]
    sources = view.review.cited.get((commit, path, line), ())
    if sources and change.op not in GONE_OPS:
        details.append(f"from {_source_link(view, sources[0])}")
    if change.fact.origin in ("web", "tool"):
        details.append(f"**from {escaped_message(change.fact.origin)}**")
    if change.fact.get("pinned"):
        details.append("**pinned**")
    kind = f"**{OP_WORDS[change.op]}**{_instruction_word(change.path)}"
    return _row_or_short(f"{kind} {_fact_text(change)} ({', '.join(details)})", f"{kind} a fact that is long ({place})")


def _instruction_word(path: str) -> str:
    """The word " instruction", with a space before it, for a line of an instruction file; "" for any other file."""
    return " instruction" if holds_instructions(path) else ""


def _fact_text(change: FactChange) -> str:
    """The text of a changed fact as Markdown, cut to MAX_TEXT_CHARS; for an edited one the differences of its text or,
    when the text is the same, of its comment."""
    old, new = change.old, change.new
    if change.op is not Op.CHANGED or old is None or new is None:
        return cut_as_code(change.fact.text, MAX_TEXT_CHARS)[0]
    if old.text == new.text:
        edits = [edit for edit in statement_diff(old, new).keys if edit[0] != "src"]
        return f"{cut_as_code(new.text, MAX_TEXT_CHARS)[0]}: {edit_words(edits)[0] or 'another source'}"
    return _short_difference(old.text, new.text)


def _short_difference(old: str, new: str) -> str:
    """The word-by-word difference of two texts as Markdown; the beginnings of both if it has more than 3 *
    MAX_TEXT_CHARS characters."""
    words, _ = difference(old, new)
    if len(words) <= 3 * MAX_TEXT_CHARS:
        return words
    return f"{cut_as_code(old, MAX_TEXT_CHARS)[0]} → {cut_as_code(new, MAX_TEXT_CHARS)[0]}"


def _source_link(view: View, source: Source) -> str:
    """A link to the first line of a source; for one with a problem its place without a link, and the problem."""
    if source.problem:
        return (
            f"{view.links.place_as_code(f'{source.path}:{source.start_line}')}: **{escaped_message(source.problem)}**"
        )
    return view.links.line(source.path, source.start_line, source.commit)


def _text_row(view: View, text: TextChange) -> str:
    """The row of one changed line that is not a fact."""
    label, place = text.op.value, view.links.line(text.path, text.line)
    if text.op is TextOp.REMOVED:
        label = "taken out"
        place = view.links.line(text.old_path or text.path, text.old_line, view.review.base)
    body = cut_as_code(text.text or text.old_text, MAX_TEXT_CHARS)[0]
    if text.op is TextOp.CHANGED:
        body = _short_difference(text.old_text, text.text)
    label = f"**{label}**{_instruction_word(text.path)}"
    return _row_or_short(f"{label} {body} ({place})", f"{label} a line that is long ({place})")


# -- problems ------------------------------------------------------------------------------------------------


def _problem_rows(view: View) -> Iterator[str]:
    """One row for each problem that this change adds; problems that make the review fail come first."""
    earlier = set(view.review.report.before)
    findings = [finding for finding in order(view.review.report.findings) if finding not in earlier]
    yield from _finding_rows(view, [finding for finding in findings if finding.severity is Severity.BLOCK])
    for line in view.review.lines:
        if line.fails:
            reason = line.message.partition(": ")[2] or "an agent wrote it, and no promotion did"
            place = view.links.line(line.path, line.line)
            text = cut_as_code(line.text, MAX_TEXT_CHARS // 2)[0]
            row = f"{MUST_MEND} {text} ({place}): {escaped_message(reason)}; {accept_words(line)}"
            yield _row_or_short(row, f"{MUST_MEND} {place}: where it comes from does not hold")
    for warning in sorted(view.review.warnings, key=lambda warning: not warning.fails):
        sign = SIGN_OF[warning.fails]
        if warning.points():
            for section_row in warning.section(view.links).rows:
                words = (section_row.short or section_row.text).split("\n")[0]
                yield _row_or_short(f"{sign} {words}", f"{sign} {warning.title}: see below")
    for line in view.review.lines:
        if edited_after_promotion(line) and not line.fails:
            editor = ""
            if line.editor:
                editor = f" by {cut_as_code(line.editor.partition(' <')[0], MAX_PLACE_CHARS)[0]}"
            place = view.links.line(line.path, line.line)
            row = f"{LOOK_AT} {place} was edited{editor} after it came from a log"
            yield _row_or_short(row, f"{LOOK_AT} {place} was edited")
    yield from _finding_rows(view, [finding for finding in findings if finding.severity is Severity.WARN])
    yield from _unchecked_rows(view)


MUST_MEND = "*must be mended*:"
LOOK_AT = "*look at*:"
SIGN_OF = {True: MUST_MEND, False: LOOK_AT}  # by whether the review fails for it


def _finding_rows(view: View, findings: Sequence[Finding]) -> Iterator[str]:
    """One row for all findings that have the same rule, path and message."""
    alike: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        alike[finding.rule, finding.path, finding.message].append(finding)
    for (_, path, message), same in alike.items():
        first = same[0]
        sign = SIGN_OF[first.severity is Severity.BLOCK]
        if path == MESSAGE:
            place, mend = f"the message of `{first.commit[:12]}`", "`git rebase -i`, reword the commit"
        else:
            place = view.links.line(path, first.line, first.commit)
            mend = escaped_message(remedy(first)) or code(printable(f"git mem redact {shell_word(path)}"))
        count_words = f" and {len(same) - 1} more" if len(same) > 1 else ""
        excerpt = ""
        if first.excerpt:
            excerpt = f" {cut_as_code(first.excerpt, MAX_TEXT_CHARS // 2)[0]}"
        if first.fingerprint not in view.review.head_fingerprints and first.commit and path != MESSAGE:
            mend = f"`git rebase -i`, take it out of `{first.commit[:12]}`"
        row = f"{sign} {place}{count_words}: {escaped_message(message)}{excerpt}; {mend}"
        yield _row_or_short(row, f"{sign} {place}: {escaped_message(first.rule)}")


def _unchecked_rows(view: View) -> Iterator[str]:
    """One row for a bad signature, for each thing that was not checked or scanned, for unsourced facts and for changed
    instructions."""
    review = view.review
    signed = signature_summary(review.signatures)
    if "BAD" in signed:
        yield _row_or_short(f"{LOOK_AT} {escaped_message(signed)}", f"{LOOK_AT} a signature is bad")
    for words in (note for note in review.notes if note != signed):
        yield _row_or_short(
            f"{LOOK_AT} not checked: {escaped_message(words)}", f"{LOOK_AT} something was not checked: see below"
        )
    for path in review.other.unread:
        yield f"{LOOK_AT} {view.links.place_as_code(path)} is too large to be shown, or no UTF-8"
    for skip in review.report.skipped:
        row = f"{LOOK_AT} not scanned: {view.links.place_as_code(skip.path)}, {escaped_message(skip.reason)}"
        yield _row_or_short(row, f"{LOOK_AT} a file was not scanned: see below")
    if view.unsourced:
        yield f"{LOOK_AT} {view.unsourced_words}"
    if view.instructions:
        yield f"{LOOK_AT} what an agent is told to do changes"
