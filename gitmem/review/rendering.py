"""Renders a whole review as Markdown. Pure; `comment.py` renders the short form for a pull request.

The order is: the verdict and the table of checks, changes to the checks themselves, findings and broken provenance,
then the changed facts with their sources. Memory text is always rendered as code, so that nothing in it acts as a link,
a mention, a comment or markup.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from gitmem.daily_logs import records_events
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import remedy
from gitmem.gate.reports.finding_words import order
from gitmem.gate.reports.markdown import code
from gitmem.paths import holds_instructions
from gitmem.plural import counted
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.grounding import Support
from gitmem.provenance.signatures import signature_summary
from gitmem.review.change_sentence import change_sentence
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.fact_words import (
    GONE_OPS,
    MOVED_OPS,
    STATES,
    below_words,
    count_in_files,
    edit_words,
    edited_after_promotion,
    fact_order,
    former_place_words,
    move_words,
    needs_source,
    verdict_words,
)
from gitmem.review.forges.forge import Forge
from gitmem.review.line_verdicts import LineVerdict, State
from gitmem.review.markup import (
    Links,
    cell,
    comment_words,
    cut_as_code,
    difference,
    escaped_message,
    place_words,
    printable,
    text_as_code,
    unread_sources,
)
from gitmem.review.page import MAX_PLACES, Page, Row, Section, place_list, whole_page
from gitmem.review.review import Review
from gitmem.review.statement_diff import statement_diff
from gitmem.review.text_changes import TextChange, TextOp
from gitmem.review.warnings.warning import Place
from gitmem.shell_word import shell_word

SECTION_TITLES = {
    Op.CHANGED: "Changed", Op.ADDED: "Added", Op.PROMOTED: "Promoted", Op.REMOVED: "Removed", Op.EXPIRED: "Expired",
    Op.MOVED: "Moved", Op.REORDERED: "Reordered",
}  # fmt: skip
RISK_ORDER = (
    State.BROKEN,
    State.AGENT,
    State.EDITED,
    State.PERSON,
    None,
    State.SHARED,
    State.PROMOTED,
)  # the worst first
CITES_UNCHECKED_SOURCE = "citing a source that nothing checked"
NO_SOURCE_WORDS = "without a source"  # a fact of a note that cites nothing: `verify` does not check notes
ROTATE_ADVICE = "A secret that was pushed is known: rotate it first, then remove it from history."


def as_markdown(review: Review, forge: Forge | None = None) -> str:
    """The whole review: the verdict, the table of checks, and every section that has rows. `forge`: None for Markdown
    of no forge."""
    view = View(review, forge)
    return page_of(view, Page(whole_page(view.sections)))


def page_of(view: View, page: Page, elsewhere: str = "") -> str:
    """The verdict, the counts and the table of checks, with `page` below. `elsewhere`: Markdown that says where to find
    the rows that `page` lacks; "" names the command that prints them."""
    lines = [f"### {view.verdict}", "", f"{view.sentence}.", "", view.counts, ""]
    if page.missing:
        span = f"{view.review.base[:12]}..{view.review.head[:12]}"
        hint = elsewhere or f"`git mem review {span}` shows all of it"
        lines += [f"> **Not shown here:** {', '.join(page.missing)}. {hint}.", ""]
    lines += [*view.check_table, "", page.text]
    return "\n".join(lines).rstrip() + "\n"


def _sign(*, fails: bool, warns: bool) -> str:
    """The sign of a row in the table of checks."""
    if fails:
        return "❌"
    if warns:
        return "⚠️"
    return "✅"


def accept_words(line: LineVerdict) -> str:
    """What a person can do about a failing line other than removing it."""
    if line.state is not State.BROKEN:
        return "a person who means it commits it without `Memory-Agent`"
    place = shell_word(f"{line.path}:{line.line}")
    return f"{code(f'git mem why {place}')} shows what it cites"


@dataclass(frozen=True)
class View:
    """A review with its cross-references and links: the rows, counts and phrases that a page is made of.

    `forge`: where links lead, None for no links. `max_place_chars`: characters shown of a place, 0 for all.
    """

    review: Review
    forge: Forge | None
    max_place_chars: int = 0

    # -- lookups ---------------------------------------------------------------------------------------------

    def is_log(self, path: str) -> bool:
        """Whether a path is a daily log or an episode; their lines have a section of their own."""
        return records_events(path, self.review.daily)

    @cached_property
    def lines(self) -> dict[tuple[str, int], LineVerdict]:
        return {(line.path, line.line): line for line in self.review.lines}

    @cached_property
    def facts(self) -> list[FactChange]:
        """The changed facts outside daily logs and episodes."""
        return [change for change in self.review.changes if not self.is_log(change.path)]

    @cached_property
    def changes(self) -> dict[tuple[str, int], FactChange]:
        return {(change.path, change.new.line): change for change in self.facts if change.new}

    def verdict_of(self, change: FactChange) -> LineVerdict | None:
        if not change.new:
            return None
        return self.lines.get((change.path, change.new.line))

    def has_provenance_row(self, change: FactChange) -> bool:
        """Whether a section about provenance shows the fact, so that the sections of facts leave it out."""
        line = self.verdict_of(change)
        return line is not None and (line.fails or edited_after_promotion(line))

    @cached_property
    def links(self) -> Links:
        return Links(self.forge, self.review.base, self.review.head, self.max_place_chars)

    def link(self, path: str, line: int, commit: str = "") -> str:
        return self.links.line(path, line, commit)

    # -- the verdict and the counts --------------------------------------------------------------------------

    @cached_property
    def faults(self) -> int:
        """The number of points for which the review fails: the gate's blocking findings, the lines whose provenance
        fails, and the points of the warnings that fail."""
        blocks = sum(finding.severity is Severity.BLOCK for finding in self.review.report.findings)
        from_warnings = sum(warning.points() for warning in self.review.warnings if warning.fails)
        return blocks + sum(line.fails for line in self.review.lines) + from_warnings

    @cached_property
    def points(self) -> int:
        """The number of points that do not fail the review but that a person should look at."""
        review = self.review
        warns = sum(finding.severity is Severity.WARN for finding in review.report.findings)
        edited = sum(edited_after_promotion(line) and not line.fails for line in review.lines)
        signed = signature_summary(review.signatures)
        notes = sum(note != signed for note in review.notes) + ("BAD" in signed)
        unread = len(review.other.unread) + notes + len(review.report.skipped)
        from_warnings = sum(warning.points() for warning in review.warnings if not warning.fails)
        return warns + edited + unread + from_warnings + self.unsourced + bool(self.instructions)

    @cached_property
    def _uncited(self) -> list[FactChange]:
        """The added and edited facts that cite no source, without those that need none: lines that introduce a list,
        fenced blocks and instructions."""
        uncited = [c for c in self.facts if c.op in (Op.ADDED, Op.CHANGED) and not c.fact.get("src")]
        return [change for change in uncited if needs_source(change.fact.text) and not holds_instructions(change.path)]

    @property
    def unsourced(self) -> int:
        """The points for added or edited facts without a source: 1 for any number of them, else 0."""
        return int(bool(self._uncited))

    @property
    def unsourced_words(self) -> str:
        return f"{counted(len(self._uncited), 'fact')} without a source"

    @cached_property
    def sentence(self) -> str:
        """One sentence that says what the change does."""
        return change_sentence(self.review, self.facts, self.verdict_of)

    @property
    def verdict(self) -> str:
        """The title of the review: its sign and its number of faults or points."""
        if self.faults:
            return f"❌ Memory review: {counted(self.faults, 'fault')}"
        if self.points:
            return f"⚠️ Memory review: no fault in what was checked, {counted(self.points, 'point')} to look at"
        return "✅ Memory review: no fault in what was checked"

    @property
    def counts(self) -> str:
        """The counts of changed facts by origin, then of headings, prose and logs, in one paragraph."""
        review = self.review
        added = [change for change in self.facts if change.op not in (*GONE_OPS, *MOVED_OPS)]
        removed = [change for change in self.facts if change.op in GONE_OPS]
        moved = [*review.other.placements, *(change for change in self.facts if change.op in MOVED_OPS)]
        parts = []
        if added:
            by_risk = sorted(added, key=lambda change: (RISK_ORDER.index(self._state(change)), not change.by_machine))
            origins = Counter(self._origin(change) for change in by_risk)
            by_origin = ", ".join(f"{count} {words}" for words, count in origins.items())
            parts.append(f"**{counted(len(added), 'fact')} new or changed**: {by_origin}")
        if removed:
            parts.append(f"**{counted(len(removed), 'fact')} gone**")
        if moved:
            parts.append(f"{counted(len(moved), 'fact')} moved or reordered")
        headings = [text for text in review.other.texts if text.heading and not self.is_log(text.path)]
        prose = [text for text in review.other.texts if not text.heading and not self.is_log(text.path)]
        if headings:
            parts.append(count_in_files(headings, "heading"))
        if prose:
            parts.append(count_in_files(prose, "line of prose", "lines of prose"))
        paths = [*(change.path for change in review.changes), *(text.path for text in review.other.texts)]
        logs = sum(map(self.is_log, paths))
        if logs:
            parts.append(f"{counted(logs, 'line')} of logs")
        span = f"`{review.base[:12] or 'the beginning'}..{review.head[:12]}`"
        return f"{'; '.join(parts) or 'no fact changes'}. {span}"

    @cached_property
    def check_table(self) -> list[str]:
        """The table of checks as lines of Markdown: for each check its sign, what it examined and its result."""
        review = self.review
        rows = [self._gate_row(), self._provenance_row()]
        rows += self._warning_rows(first=True)
        if self.instructions:
            changed = f"{count_in_files(self.instructions, 'line')} changed"
            rows.append(("⚠️", "Instructions: what the agent is told to do", changed))
        rows += self._warning_rows(first=False)
        unread = [f"{code(printable(path))} is too large to be shown, or no UTF-8" for path in review.other.unread]
        unread += [escaped_message(f"{skip.path}: {skip.reason}") for skip in review.report.skipped]
        signed = signature_summary(review.signatures)
        if signed:
            rows.append((_sign(fails=False, warns="BAD" in signed), "Who signed", escaped_message(signed)))
        notes = [escaped_message(note) for note in review.notes if note != signed]
        rows += [("⚠️", "Not checked", words) for words in [*notes, *unread]]
        table = ["| | checked | result |", "|---|---|---|"]
        return table + [f"| {sign} | {cell(label)} | {cell(result)} |" for sign, label, result in rows]

    def _warning_rows(self, *, first: bool) -> Iterator[tuple[str, str, str]]:
        """The rows of the warnings in the table of checks. `first`: those with Place.FIRST, else the others."""
        for warning in self.review.warnings:
            if (warning.place is Place.FIRST) is first:
                for holds, label, result in warning.checked():
                    yield _sign(fails=warning.fails and not holds, warns=not holds), label, result

    def _gate_row(self) -> tuple[str, str, str]:
        """The row of the gate in the table of checks: (sign, what was examined, result)."""
        report = self.review.report
        count_of = Counter(finding.severity for finding in report.findings)
        blocking, warnings = count_of[Severity.BLOCK], count_of[Severity.WARN]
        words = []
        if blocking:
            words.append(f"**{blocking} blocking**")
        if warnings:
            words.append(counted(warnings, "warning"))
        if report.excepted:
            words.append(f"{len(report.excepted)} excepted")
        if report.before:
            words.append(f"{len(report.before)} there before this change")
        label = f"Secrets, personal data, injection: {counted(report.blobs, 'version')} of files, every commit message"
        return _sign(fails=bool(report.blocked), warns=bool(warnings)), label, ", ".join(words) or "clean"

    def _provenance_row(self) -> tuple[str, str, str]:
        """The row of sources and authors in the table of checks: (sign, what was examined, result)."""
        lines = self.review.lines
        fails = sum(line.fails for line in lines)
        edited = sum(edited_after_promotion(line) and not line.fails for line in lines)
        facts = [line for line in lines if needs_source(line.text) and not holds_instructions(line.path)]
        unsourced = sum(line.support == Support.NO_SOURCE and not line.fails for line in facts)
        shared = sum(line.state is State.SHARED for line in lines)
        words = []
        if fails:
            words.append(f"**{fails} {'fails' if fails == 1 else 'fail'}**")
        if edited:
            words.append(f"{edited} edited after promotion")
        if unsourced:
            words.append(f"{unsourced} without a source")
        if shared:
            words.append(f"{shared} in other words than their source")
        changed, no_problem = "changed lines", "no line changed"
        if lines:
            changed, no_problem = counted(len(lines), "changed line"), "all hold"
        result = ", ".join(words) or no_problem
        in_notes = sum(self.verdict_of(change) is None for change in self._uncited)
        if in_notes:
            result += f"; {counted(in_notes, 'fact')} of notes without a source"
        label = f"Sources and authors of {changed} of long-term memory and instructions"
        return _sign(fails=bool(fails), warns=bool(edited or self.unsourced)), label, result

    # -- the sections ----------------------------------------------------------------------------------------

    @cached_property
    def sections(self) -> list[Section]:
        """All sections of the review, in the order of the page."""
        return [
            *self._warnings(Place.FIRST),
            Section("Findings", tuple(self._finding_rows()), "finding", risky=True),
            Section(
                "Provenance that does not hold",
                tuple(self._provenance_rows(lambda line: line.fails)), "line that fails", "lines that fail", risky=True,
            ),
            Section(
                "Edited after promotion",
                tuple(self._provenance_rows(lambda line: edited_after_promotion(line) and not line.fails)),
                "edited fact", risky=True,
            ),
            Section("Instructions", tuple(self._text_rows(instructions=True)), "instruction"),
            *self._warnings(Place.MIDDLE),
            *(
                Section(title, tuple(self._fact_rows(op)), f"{op.value} fact")
                for op, title in SECTION_TITLES.items()
            ),
            Section(
                "Prose and headings", tuple(self._text_rows(instructions=False)), "line of prose", "lines of prose",
            ),
            Section("Logs", tuple(self._log_rows()), "line of logs", "lines of logs", folded=True),
            *self._warnings(Place.LAST),
        ]  # fmt: skip

    def _warnings(self, place: Place) -> list[Section]:
        return [warning.section(self.links) for warning in self.review.warnings if warning.place is place]

    def _finding_rows(self) -> Iterator[Row]:
        """One row for all findings with the same rule, severity, path and message; then one for each warning from
        before this change, and ROTATE_ADVICE if a finding is a secret."""
        alike: dict[tuple[str, Severity, str, str], list[Finding]] = defaultdict(list)
        for finding in order(self.review.report.findings):
            alike[finding.rule, finding.severity, finding.path, finding.message].append(finding)
        for findings in alike.values():
            yield self._finding_row(findings)
        for finding in order(self.review.report.before):
            if finding.severity is Severity.WARN:
                yield Row(
                    f"{escaped_message(finding.rule)} {self._place_of(finding)}", group="there before this change"
                )
        if any(finding.secret for finding in self.review.report.findings):
            yield Row(ROTATE_ADVICE)

    def _finding_row(self, findings: Sequence[Finding]) -> Row:
        """The row for the findings of one rule in one file: their places, the fix, and the masked lines."""
        first = findings[0]
        heading = f"**{first.severity.value}** {escaped_message(first.rule)}"
        places = place_list([self._place_of(finding) for finding in findings])
        excerpts = dict.fromkeys(finding.excerpt for finding in findings if finding.excerpt)
        words = " ".join(text_as_code(text) for text in list(excerpts)[:MAX_PLACES])
        lines = [
            f"{heading} {places}: {escaped_message(first.message)} {words}".rstrip(),
            f"  - fix: {self._fix(findings)}",
        ]
        for mask in self.review.masks:  # line numbers at the head; a finding has the line number of its own commit
            if mask.path == first.path and first.rule in mask.rules:
                lines.append(f"  - line {mask.line}, masked: {cut_as_code(mask.text)[0]}")
        return Row("\n".join(lines), short=f"{heading} {places}")

    def _fix(self, findings: Sequence[Finding]) -> str:
        """How to mend or to accept the findings of one rule in one file."""
        at_head = self.review.head_fingerprints
        finding = next((match for match in findings if match.fingerprint in at_head), findings[0])
        span = "--history"
        if self.review.base:
            span = f"--range {self.review.base[:12]}..{self.review.head[:12]}"
        allow = code(f"git mem allow {finding.fingerprint} {span} --reason WHY")
        other_count = len({match.fingerprint for match in findings}) - 1
        if other_count:
            allow += f" (and {other_count} more: {code(f'git mem scan {span}')} names them)"
        mend = remedy(finding)
        if finding.path == MESSAGE:
            words = "`git rebase -i`, reword the commit"
        elif mend:
            words = escaped_message(mend.partition("; or have it reviewed")[0].partition(", or have it reviewed")[0])
        elif finding.fingerprint in at_head or not finding.commit:
            words = code(f"git mem redact {shell_word(finding.path)}")
        else:
            words = f"`git rebase -i`, take it out of `{finding.commit[:12]}`: later versions do not hold it"
        if finding.fingerprint:
            return f"{words}; let it pass: {allow}, as a change of its own"
        return words

    def _place_of(self, finding: Finding) -> str:
        """The place of a finding in Markdown, with its commit if that is not the head."""
        commit = finding.commit[:12]
        if finding.path == MESSAGE:
            return f"the message of `{commit}`"
        link = self.link(finding.path, finding.line, finding.commit)
        return f"{link} at `{commit}`" if commit else link

    def _provenance_rows(self, is_wanted: Callable[[LineVerdict], bool]) -> Iterator[Row]:
        """The lines that `is_wanted` accepts, grouped by verdict, commit and author; lines added by agents come last.

        Lines of a group with equal text, problem and (of new facts) comment become one row. A line with edits, a fact
        that cites a source, and a changed fact that is not new have a row of their own.
        """
        lines = sorted(filter(is_wanted, self.review.lines), key=lambda line: line.state is State.AGENT)
        groups = {key: list(rows) for key, rows in groupby(sorted(lines, key=verdict_words), key=verdict_words)}
        for group, rows in sorted(groups.items(), key=lambda item: (item[1][0].state is State.AGENT, item[0])):
            equal: dict[object, list[LineVerdict]] = defaultdict(list)
            for line in rows:
                change = self.changes.get((line.path, line.line))
                meta = None
                if change and change.op is Op.ADDED and not change.fact.get("src"):
                    meta = change.fact.meta
                key: object = (line.text, meta, line.message)
                if line.edits or (change and meta is None):
                    key = (line.path, line.line)
                equal[key].append(line)
            for lines in equal.values():
                yield self._verdict_row(lines, group)

    def _verdict_row(self, lines: Sequence[LineVerdict], group: str) -> Row:
        """The row of one line with its verdict, or of lines with equal text."""
        line = lines[-1]
        change = self.changes.get((line.path, line.line))
        place = place_list([self.link(row.path, row.line) for row in lines])
        if line.edits:
            body, folded = edit_words(line.edits)
            if line.edits[0][0] != "text":
                body = f"{cut_as_code(line.text)[0]}: {body}"
        elif change:
            body, folded = self._body(change)
        else:
            body, folded = cut_as_code(line.text)
        sources: list[str] = self._sources(change) if change else []
        text = f"{body} ({place})"
        problem = escaped_message(line.message.partition(": ")[2])  # without the name of its rule
        if line.message and not any(problem in row for row in sources):
            text += f": {escaped_message(line.message)}"
        parts = [text, *sources]
        if line.fails:
            argument = shell_word(f"{line.path}:{line.line}")
            target = f"the last of {len(lines)}" if len(lines) > 1 else "it"
            fix = code(f"git mem forget {argument} --reason WHY")
            parts.append(f"  - fix: {fix} takes {target} out; {accept_words(line)}")
        return Row("\n".join(parts), folded, f"{place} {STATES[line.state]}", group, len(lines))

    # -- facts -----------------------------------------------------------------------------------------------

    def _fact_rows(self, op: Op) -> Iterator[Row]:
        """The facts with the change `op`, grouped by origin and heading, in the order of `fact_order`.

        Facts that have a row under provenance (`has_provenance_row`) are left out. Equal facts become one row, unless
        they were edited or cite a source.
        """
        changes = [*self.facts, *(row for row in self.review.other.placements if row.op in MOVED_OPS)]
        groups: dict[str, list[FactChange]] = defaultdict(list)
        for change in changes:
            if change.op is op and not self.has_provenance_row(change):
                groups[self._group_of(change)].append(change)
        for group, members in sorted(groups.items(), key=lambda item: min(map(fact_order, item[1]))):
            equal: dict[object, list[FactChange]] = defaultdict(list)
            for change in sorted(members, key=lambda change: (fact_order(change), change.path, change.fact.line)):
                key: object = (change.fact.text, change.fact.meta)
                if change.op is Op.CHANGED or change.fact.get("src"):
                    key = (change.path, change.fact.line)
                equal[key].append(change)
            yield from self._rows_below_headings(group, list(equal.values()))

    def _rows_below_headings(self, group: str, rows: Sequence[Sequence[FactChange]]) -> Iterator[Row]:
        """The rows of one group, each a list of equal facts, subdivided by heading.

        First come the facts that stand below several headings and those that are alone below their heading; then one
        subgroup for each heading with several facts.
        """
        headings_of = [{below_words(change) for change in row} for row in rows]
        counts = Counter(next(iter(names)) for names in headings_of if len(names) == 1)
        single: set[str] = set()
        if len(counts) > 1:
            single = {heading for heading, count in counts.items() if count == 1}
        by_heading: dict[str, list[Sequence[FactChange]]] = {heading: [] for heading in counts}
        for row, names in zip(rows, headings_of, strict=True):
            if len(names) > 1:
                yield self._fact_row(row, group)
            elif names <= single:
                yield self._fact_row(row, group, "".join(names))
            else:
                by_heading["".join(names)].append(row)
        for heading, members in by_heading.items():
            subgroup = f"{group}, {heading}" if heading else group
            for row in members:
                yield self._fact_row(row, subgroup)

    def _group_of(self, change: FactChange) -> str:
        """The group of a fact: its origin, commit and author, or where it was moved."""
        if change.op in MOVED_OPS:
            return move_words(change)
        commit_words = ""
        if change.commit:
            commit_words = f"in {code(change.commit[:12])} by {code(printable(change.author.partition(' <')[0]))}"
        if change.new:
            return ", ".join(filter(None, (self._origin(change), commit_words)))
        if commit_words:
            return f"taken out {commit_words}"
        return ""

    def _state(self, change: FactChange) -> State | None:
        """The verdict's state of a changed fact; None without a verdict."""
        line = self.verdict_of(change)
        return line.state if line else None

    def _origin(self, change: FactChange) -> str:
        """The origin of a fact in words, for counting and grouping."""
        line = self.verdict_of(change)
        cites = CITES_UNCHECKED_SOURCE if change.fact.get("src") else NO_SOURCE_WORDS
        if line is None:
            if change.by_machine:
                return f"**by an agent**, {cites}"
            return cites
        if line.state is State.PERSON and line.support:
            if line.support == Support.NO_SOURCE:
                return f"by a person, {cites}"
            return f"by a person, {line.words}"
        if line.state is State.EDITED and not line.promoted:
            return "by a person, with another comment"
        return STATES[line.state]

    def _fact_row(self, changes: Sequence[FactChange], group: str, below: str = "") -> Row:
        """The row of one changed fact, or of equal facts. `below`: its heading in words when the group does not name
        it, else ""."""
        change = changes[0]
        body, folded = self._body(change)
        place = place_list([self._place(row) for row in changes])
        words = comment_words(change.fact) if change.op is not Op.CHANGED else ""
        details = ", ".join(filter(None, (words, former_place_words(change), below)))
        suffix = "; ".join(filter(None, (place, details)))
        return Row("\n".join([f"{body} ({suffix})", *self._sources(change)]), folded, place, group, len(changes))

    def _place(self, change: FactChange) -> str:
        """A link to the fact: at the head, or at the base for a removed fact."""
        commit, path, line = self.review.place_of(change)
        return self.link(path, line, commit)

    def _body(self, change: FactChange) -> tuple[str, str]:
        """(the text of a fact, or its edits; the folded rest of a long text, "" for none)."""
        if change.op is not Op.CHANGED or change.old is None or change.new is None:
            return cut_as_code(change.fact.text)
        if change.old.text == change.new.text:
            text, folded = cut_as_code(change.fact.text)
        else:
            text, folded = difference(change.old.text, change.new.text)
        edits = statement_diff(change.old, change.new).keys
        if edits:
            text += f": {edit_words(edits)[0]}"
        return text, folded

    def _sources(self, change: FactChange) -> list[str]:
        """The quoted source lines of a fact, each with a link to the commit in which its line number is right."""
        rows = [self._source(source) for source in self.review.cited.get(self.review.place_of(change), ())]
        rows += [f"  - source {cut_as_code(value)[0]} **names no lines**" for value in unread_sources(change.fact)]
        return rows

    def _source(self, source: Source) -> str:
        """The list item of one source: a link, and its lines or its problem."""
        words = place_words(source.path, source.start_line, source.end_line)
        if self.forge and source.commit:
            url = self.forge.lines(source.commit, source.path, source.start_line, source.end_line)
            words = f"[{words}]({url})"
        if source.problem:
            return f"  - source {words}: **{escaped_message(source.problem)}**"
        lines = [line.strip() for line in source.text.split("\n") if line.strip()]
        moved = " (found again by its text)" if source.moved else ""
        return f"  - source {words}{moved}: {cut_as_code(' ⏎ '.join(lines))[0]}"

    # -- lines that are not facts -----------------------------------------------------------------------------

    @cached_property
    def instructions(self) -> list[TextChange]:
        """The changed lines of instructions (SOUL.md, AGENTS.md, rules, skills) that are not facts."""
        return [text for text in self.review.other.texts if holds_instructions(text.path)]

    def _text_rows(self, *, instructions: bool) -> Iterator[Row]:
        """Renamed files and changed lines that are not facts, file by file, removed lines before added ones.

        `instructions`: only files of instructions, else only other files without logs. A line whose provenance fails is
        left out. Files with one changed line share a group.
        """
        other_changes = self.review.other
        for row in other_changes.renamed:
            if holds_instructions(row.path) is instructions:
                unchanged = ", its text unchanged" if row.same else ""
                yield Row(f"{code(printable(row.old_path))} is {self.links.file(row.path)} now{unchanged}")
        texts = [text for text in other_changes.texts if holds_instructions(text.path) is instructions]
        texts.sort(key=lambda text: (text.path, text.line or text.old_line, text.op is not TextOp.REMOVED))
        rows = []
        for text in texts:
            line = self.lines.get((text.path, text.line))
            if (instructions or not self.is_log(text.path)) and not (line and line.fails):
                rows.append((text, line))
        counts = Counter(text.path for text, _ in rows)
        single = {path for path, count in counts.items() if count == 1}
        if len(single) < 2:
            single = set()
        rows.sort(key=lambda row: row[0].path in single)
        for text, line in rows:
            group = f"in {code(printable(text.path))}"
            if text.path in single:
                group = f"in {len(single)} files, one line each"
            yield self._text_row(text, line, group)

    def _text_row(self, text: TextChange, line: LineVerdict | None, group: str) -> Row:
        """The row of one changed line that is not a fact. `line`: its provenance verdict."""
        if text.op is TextOp.CHANGED:
            body, folded = difference(text.old_text, text.text)
        else:
            body, folded = cut_as_code(text.text or text.old_text)
        if text.op is TextOp.REMOVED:
            place = self.link(text.old_path or text.path, text.old_line, self.review.base)
        else:
            place = self.link(text.path, text.line)
        label = text.op.value
        if text.heading:
            label += " heading"
        author = f" by {code(printable(line.author.partition(' <')[0]))}" if line else ""
        return Row(f"{label}{author}: {body} ({place})", folded, f"{label} {place}", group)

    def _log_rows(self) -> Iterator[Row]:
        """The rows of what changed in logs: facts, then other lines."""
        for change in self.review.changes:
            if self.is_log(change.path):
                yield self._fact_row([change], f"{change.op.value} in {code(printable(change.path))}")
        for text in self.review.other.texts:
            if self.is_log(text.path):
                yield self._text_row(text, None, f"in {code(printable(text.path))}")
