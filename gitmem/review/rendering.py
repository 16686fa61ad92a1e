"""A review as Markdown, whole. Pure: a review in, text out; `comment` has what a pull request shows of it.

It answers in this order: is it safe (a verdict and what was checked), what decides how the next change is checked, what
is wrong, what will the agent believe and where each of it comes from. Text of memory stands in it as code: nothing in
it is a link, a mention, a comment or markup.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.report import code, order, remedy, shell_word
from gitmem.paths import holds_instructions, passes
from gitmem.plural import counted
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.grounding import Support
from gitmem.provenance.signatures import summary
from gitmem.review.change_sentence import sentence
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.fact_words import (
    GONE,
    STATES,
    STAYING,
    below_words,
    claims,
    edit_words,
    edited_after_promotion,
    former_place,
    of_files,
    verdict_words,
    way_words,
    weight,
)
from gitmem.review.forges.forge import Forge
from gitmem.review.markup import (
    Links,
    cell,
    comment_words,
    difference,
    flat,
    place_words,
    plain,
    quoted,
    shown,
    unread_sources,
)
from gitmem.review.page import PLACES, Page, Row, Section, some, unbounded
from gitmem.review.review import LineVerdict, Review, State
from gitmem.review.statement_diff import statement_diff
from gitmem.review.text_changes import TextChange, TextOp
from gitmem.review.warnings.warning import Place

TITLES = {
    Op.CHANGED: "Changed", Op.ADDED: "Added", Op.PROMOTED: "Promoted", Op.REMOVED: "Removed", Op.EXPIRED: "Expired",
    Op.MOVED: "Moved", Op.REORDERED: "Reordered",
}  # fmt: skip
RISK = (State.BROKEN, State.AGENT, State.EDITED, State.PERSON, None, State.SHARED, State.PROMOTED)  # the worst first
CITING = "citing a source that nothing checked"
UNCHECKED = "without a source"  # of notes that cite none: verify has no row of them
ROTATE = "A secret that was pushed is known: rotate it first, then remove it from history."


def as_markdown(review: Review, forge: Forge | None = None) -> str:
    """The whole review: a verdict, what was checked, then only the sections that have something to say."""
    view = View(review, forge)
    return page_of(view, Page(unbounded(view.sections)))


def page_of(view: View, page: Page, elsewhere: str = "") -> str:
    """A page of the review below its verdict and counts; `elsewhere`, Markdown, says where what is missing is."""
    lines = [f"### {view.verdict}", "", f"{view.sentence}.", "", view.counts, ""]
    if page.missing:
        span = f"{view.review.base[:12]}..{view.review.head[:12]}"
        where = elsewhere or f"`git mem review {span}` shows all of it"
        lines += [f"> **Not shown here:** {', '.join(page.missing)}. {where}.", ""]
    lines += [*view.checked, "", page.text]
    return "\n".join(lines).rstrip() + "\n"


def _sign(*, fails: bool, warns: bool) -> str:
    """The sign of a row in the table of the checks."""
    if fails:
        return "❌"
    if warns:
        return "⚠️"
    return "✅"


def other_fix(line: LineVerdict) -> str:
    """What a person may do about a line that fails, besides taking it out."""
    if line.state is not State.BROKEN:
        return "a person who means it commits it without `Memory-Agent`"
    where = shell_word(f"{line.path}:{line.line}")
    return f"{code(f'git mem why {where}')} shows what it cites"


@dataclass(frozen=True)
class View:
    """A review with what its parts say of each other, and where its links lead. `longest`: as in `Links`."""

    review: Review
    forge: Forge | None
    longest: int = 0

    # -- what is looked up -----------------------------------------------------------------------------------

    def passes(self, path: str) -> bool:
        """Whether the lines of a file are told as logs."""
        return passes(path, self.review.daily)

    @cached_property
    def lines(self) -> dict[tuple[str, int], LineVerdict]:
        return {(line.path, line.line): line for line in self.review.lines}

    @cached_property
    def facts(self) -> list[FactChange]:
        """The changed facts, those of logs apart."""
        return [change for change in self.review.changes if not self.passes(change.path)]

    @cached_property
    def changes(self) -> dict[tuple[str, int], FactChange]:
        return {(change.path, change.new.line): change for change in self.facts if change.new}

    def verdict_of(self, change: FactChange) -> LineVerdict | None:
        if not change.new:
            return None
        return self.lines.get((change.path, change.new.line))

    def told_apart(self, change: FactChange) -> bool:
        """Whether a section about its provenance shows the fact already."""
        line = self.verdict_of(change)
        return line is not None and (line.fails or edited_after_promotion(line))

    @cached_property
    def links(self) -> Links:
        return Links(self.forge, self.review.base, self.review.head, self.longest)

    def link(self, path: str, line: int, commit: str = "") -> str:
        return self.links.line(path, line, commit)

    # -- the verdict and the counts --------------------------------------------------------------------------

    @cached_property
    def faults(self) -> int:
        blocks = sum(finding.severity is Severity.BLOCK for finding in self.review.report.findings)
        return blocks + sum(line.fails for line in self.review.lines)

    @cached_property
    def points(self) -> int:
        """What no check refuses and a person should look at."""
        review = self.review
        warns = sum(finding.severity is Severity.WARN for finding in review.report.findings)
        edited = sum(edited_after_promotion(line) and not line.fails for line in review.lines)
        signed = summary(review.signatures)
        notes = sum(note != signed for note in review.notes) + ("BAD" in signed)
        unread = len(review.other.unread) + notes + len(review.report.skipped)
        told_by_warnings = sum(warning.points() for warning in review.warnings)
        return warns + edited + unread + told_by_warnings + self.unsourced + bool(self.instructions)

    @cached_property
    def _uncited(self) -> list[FactChange]:
        """The facts that came and cite nothing; a line that leads in a list and a fenced block claim nothing, and what
        tells an agent what to do needs no source."""
        came = [change for change in self.facts if change.op in (Op.ADDED, Op.CHANGED) and not change.fact.get("src")]
        return [change for change in came if claims(change.fact.text) and not holds_instructions(change.path)]

    @property
    def unsourced(self) -> int:
        """1 where a fact came that cites nothing: one point, however many they are."""
        return int(bool(self._uncited))

    @property
    def unsourced_words(self) -> str:
        return f"{counted(len(self._uncited), 'fact')} without a source"

    @cached_property
    def sentence(self) -> str:
        """What the change does, in plain words."""
        return sentence(self.review, self.facts, self.verdict_of)

    @property
    def verdict(self) -> str:
        if self.faults:
            return f"❌ Memory review: {counted(self.faults, 'fault')}"
        if self.points:
            return f"⚠️ Memory review: no fault in what was checked, {counted(self.points, 'point')} to look at"
        return "✅ Memory review: no fault in what was checked"

    @property
    def counts(self) -> str:
        """What the agent will read, in one paragraph: facts by where they come from first."""
        review = self.review
        come = [change for change in self.facts if change.op not in (*GONE, *STAYING)]
        gone = [change for change in self.facts if change.op in GONE]
        moved = [*review.other.placements, *(change for change in self.facts if change.op in STAYING)]
        parts = []
        if come:
            by_risk = sorted(come, key=lambda change: (RISK.index(self._state(change)), not change.by_machine))
            kinds = Counter(self._origin(change) for change in by_risk)
            by_kind = ", ".join(f"{count} {words}" for words, count in kinds.items())
            parts.append(f"**{counted(len(come), 'fact')} new or changed**: {by_kind}")
        if gone:
            parts.append(f"**{counted(len(gone), 'fact')} gone**")
        if moved:
            parts.append(f"{counted(len(moved), 'fact')} moved or reordered")
        heads = [text for text in review.other.texts if text.heading and not self.passes(text.path)]
        prose = [text for text in review.other.texts if not text.heading and not self.passes(text.path)]
        if heads:
            parts += [of_files(heads, "heading")]
        if prose:
            parts += [of_files(prose, "line of prose", "lines of prose")]
        logs = sum(self.passes(path) for path in self._paths)
        if logs:
            parts += [counted(logs, "line") + " of logs"]
        span = f"`{review.base[:12] or 'the beginning'}..{review.head[:12]}`"
        return f"{'; '.join(parts) or 'no fact changes'}. {span}"

    @property
    def _paths(self) -> Iterator[str]:
        yield from (change.path for change in self.review.changes)
        yield from (text.path for text in self.review.other.texts)

    @cached_property
    def checked(self) -> list[str]:
        """The table of the checks: the sign, the files and facts examined, and the result of each check."""
        review = self.review
        rows = [self._gate_row(), self._provenance_row()]
        rows += self._warning_rows(first=True)
        if self.instructions:
            rows.append(
                ("⚠️", "Instructions: what the agent is told to do", of_files(self.instructions, "line") + " changed")
            )
        rows += self._warning_rows(first=False)
        unread = [f"{code(flat(path))} is too large to be shown, or no UTF-8" for path in review.other.unread]
        unread += [plain(f"{skip.path}: {skip.reason}") for skip in review.report.skipped]
        signed = summary(review.signatures)
        if signed:
            rows.append(("⚠️" if "BAD" in signed else "✅", "Who signed", plain(signed)))
        notes = [plain(note) for note in review.notes if note != signed]
        rows += [("⚠️", "Not checked", words) for words in [*notes, *unread]]
        table = ["| | checked | result |", "|---|---|---|"]
        return table + [f"| {sign} | {cell(what)} | {cell(said)} |" for sign, what, said in rows]

    def _warning_rows(self, *, first: bool) -> Iterator[tuple[str, str, str]]:
        for warning in self.review.warnings:
            if (warning.place is Place.FIRST) is first:
                yield from (("✅" if good else "⚠️", what, words) for good, what, words in warning.checked())

    def _gate_row(self) -> tuple[str, str, str]:
        """The row of the gate: sign, subject and result."""
        report = self.review.report
        kinds = Counter(finding.severity for finding in report.findings)
        if kinds[Severity.BLOCK]:
            words = [f"**{kinds[Severity.BLOCK]} blocking**"]
        else:
            words = []
        if kinds[Severity.WARN]:
            words += [counted(kinds[Severity.WARN], "warning")]
        if report.allowed:
            words += [f"{len(report.allowed)} excepted"]
        if report.before:
            words += [f"{len(report.before)} there before this change"]
        what = f"Secrets, personal data, injection: {counted(report.blobs, 'version')} of files, every commit message"
        sign = _sign(fails=bool(report.blocked), warns=bool(kinds[Severity.WARN]))
        return sign, what, ", ".join(words) or "clean"

    def _provenance_row(self) -> tuple[str, str, str]:
        """The row of the sources and authors: sign, subject and result."""
        lines = self.review.lines
        fails = sum(line.fails for line in lines)
        edited = sum(edited_after_promotion(line) and not line.fails for line in lines)
        facts = [line for line in lines if claims(line.text) and not holds_instructions(line.path)]
        bare = sum(line.support == Support.NO_SOURCE and not line.fails for line in facts)
        words = []
        if fails:
            words.append(f"**{fails} {'fails' if fails == 1 else 'fail'}**")
        if edited:
            words += [f"{edited} edited after promotion"]
        if bare:
            words += [f"{bare} without a source"]
        shared = sum(line.state is State.SHARED for line in lines)
        if shared:
            words += [f"{shared} in other words than their source"]
        result = ", ".join(words) or ("all hold" if lines else "no line changed")
        notes = sum(self.verdict_of(change) is None for change in self._uncited)
        if notes:
            result += f"; {counted(notes, 'fact')} of notes without a source"
        sign = _sign(fails=bool(fails), warns=bool(edited or self.unsourced))
        changed = "changed lines"
        if lines:
            changed = counted(len(lines), "changed line")
        what = f"Sources and authors of {changed} of long-term memory and instructions"
        return sign, what, result

    # -- the sections ----------------------------------------------------------------------------------------

    @cached_property
    def sections(self) -> list[Section]:
        """The whole review, in the order it is shown."""
        return [
            *self._warnings(Place.FIRST),
            Section("Findings", tuple(self._findings()), "finding", risky=True),
            Section(
                "Provenance that does not hold",
                tuple(self._provenance(lambda line: line.fails)), "line that fails", "lines that fail", risky=True,
            ),
            Section(
                "Edited after promotion",
                tuple(self._provenance(lambda line: edited_after_promotion(line) and not line.fails)),
                "edited fact", risky=True,
            ),
            Section("Instructions", tuple(self._texts(instructions=True)), "instruction"),
            *self._warnings(Place.MIDDLE),
            *(
                Section(title, tuple(self._facts(op)), f"{op.value} fact")
                for op, title in TITLES.items()
            ),
            Section("Prose and headings", tuple(self._texts(instructions=False)), "line of prose", "lines of prose"),
            Section("Logs", tuple(self._logs()), "line of logs", "lines of logs", folded=True),
            *self._warnings(Place.LAST),
        ]  # fmt: skip

    def _warnings(self, place: Place) -> list[Section]:
        return [warning.section(self.links) for warning in self.review.warnings if warning.place is place]

    def _findings(self) -> Iterator[Row]:
        joined: dict[tuple[str, Severity, str, str], list[Finding]] = defaultdict(list)
        for finding in order(self.review.report.findings):
            joined[finding.rule, finding.severity, finding.path, finding.message].append(finding)
        for rows in joined.values():
            yield self._finding(rows)
        for finding in order(self.review.report.before):
            if finding.severity is Severity.WARN:
                yield Row(f"{plain(finding.rule)} {self._place_of(finding)}", group="there before this change")
        if any(row.secret for row in self.review.report.findings):
            yield Row(ROTATE)

    def _finding(self, rows: Sequence[Finding]) -> Row:
        """One rule in one file: its places, what mends it, and the lines as they would read."""
        first = rows[0]
        what = f"**{first.severity.value}** {plain(first.rule)}"
        places = some([self._place_of(finding) for finding in rows])
        excerpts = dict.fromkeys(finding.excerpt for finding in rows if finding.excerpt)
        words = " ".join(quoted(text) for text in list(excerpts)[:PLACES])
        parts = [f"{what} {places}: {plain(first.message)} {words}".rstrip(), f"  - fix: {self._fix(rows)}"]
        for mask in self.review.masks:  # of the head: a finding's own line number is true in its commit
            if mask.path == first.path and first.rule in mask.rules:
                parts.append(f"  - line {mask.line}, masked: {shown(mask.text)[0]}")
        return Row("\n".join(parts), short=f"{what} {places}")

    def _fix(self, rows: Sequence[Finding]) -> str:
        """What to type, or to do, about the finds of one rule in one file."""
        finding = next((row for row in rows if row.fingerprint in self.review.standing), rows[0])
        span = "--history"
        if self.review.base:
            span = f"--range {self.review.base[:12]}..{self.review.head[:12]}"
        allow = code(f"git mem allow {finding.fingerprint} {span} --reason WHY")
        others = len({row.fingerprint for row in rows}) - 1
        if others:
            allow += f" (and {others} more: {code(f'git mem scan {span}')} names them)"
        mend = remedy(finding)
        if finding.path == MESSAGE:
            words = "`git rebase -i`, reword the commit"
        elif mend:
            words = plain(mend.partition("; or have it reviewed")[0].partition(", or have it reviewed")[0])
        elif finding.fingerprint in self.review.standing or not finding.commit:
            words = code(f"git mem redact {shell_word(finding.path)}")
        else:
            words = f"`git rebase -i`, take it out of `{finding.commit[:12]}`: later versions do not hold it"
        if finding.fingerprint:
            return f"{words}; let it pass: {allow}, as a change of its own"
        return words

    def _place_of(self, finding: Finding) -> str:
        commit = finding.commit[:12]
        if finding.path == MESSAGE:
            return f"the message of `{commit}`"
        return self.link(finding.path, finding.line, finding.commit) + (f" at `{commit}`" if commit else "")

    def _provenance(self, wanted: Callable[[LineVerdict], bool]) -> Iterator[Row]:
        """Facts and lines with their verdict, those of one verdict, commit and author together."""
        lines = sorted((line for line in self.review.lines if wanted(line)), key=lambda line: line.state is State.AGENT)
        groups = {key: list(rows) for key, rows in groupby(sorted(lines, key=verdict_words), key=verdict_words)}
        for group, rows in sorted(groups.items(), key=lambda item: (item[1][0].state is State.AGENT, item[0])):
            equal: dict[object, list[LineVerdict]] = defaultdict(list)
            for line in rows:
                change = self.changes.get((line.path, line.line))
                meta = None
                if change and change.op is Op.ADDED and not change.fact.get("src"):
                    meta = change.fact.meta
                alone = line.edits or (change and meta is None)
                equal[(line.path, line.line) if alone else (line.text, meta, line.message)].append(line)
            for lines in equal.values():
                yield self._judged(lines, group)

    def _judged(self, lines: Sequence[LineVerdict], group: str) -> Row:
        """A line and its verdict, or equal lines alike."""
        line = lines[-1]
        change = self.changes.get((line.path, line.line))
        place = some([self.link(row.path, row.line) for row in lines])
        if line.edits:
            words, rest = edit_words(line.edits)
            if line.edits[0][0] == "text":
                body = words
            else:
                body = f"{shown(line.text)[0]}: {words}"
        else:
            if change:
                body, rest = self._body(change)
            else:
                body, rest = shown(line.text)
        if change:
            sources = self._sources(change)
        else:
            sources = []
        problem = plain(line.message.partition(": ")[2])  # behind the name of its rule
        said = not line.message or any(problem in row for row in sources)
        parts = [f"{body} ({place})" + ("" if said else f": {plain(line.message)}"), *sources]
        if line.fails:
            where = shell_word(f"{line.path}:{line.line}")
            other = other_fix(line)
            if len(lines) == 1:
                which = "it"
            else:
                which = f"the last of {len(lines)}"
            parts.append(f"  - fix: {code(f'git mem forget {where} --reason WHY')} takes {which} out; {other}")
        return Row("\n".join(parts), rest, f"{place} {STATES[line.state]}", group, len(lines))

    # -- facts -----------------------------------------------------------------------------------------------

    def _facts(self, op: Op) -> Iterator[Row]:
        """The facts one thing happened to, in groups of where they come from and of their heading; what weighs most
        first. Equal facts are one row, and facts that are alone below their heading stand in one group."""
        changes = [*self.facts, *(row for row in self.review.other.placements if row.op in STAYING)]
        groups: dict[str, list[FactChange]] = defaultdict(list)
        for change in changes:
            if change.op is op and not self.told_apart(change):
                groups[self._from(change)].append(change)
        for group, members in sorted(groups.items(), key=lambda item: min(map(weight, item[1]))):
            equal: dict[object, list[FactChange]] = defaultdict(list)
            for change in sorted(members, key=lambda change: (weight(change), change.path, change.fact.line)):
                alone = change.op is Op.CHANGED or bool(change.fact.get("src"))
                equal[(change.path, change.fact.line) if alone else (change.fact.text, change.fact.meta)].append(change)
            yield from self._below_headings(group, list(equal.values()))

    def _below_headings(self, group: str, rows: Sequence[Sequence[FactChange]]) -> Iterator[Row]:
        """Rows of equal facts that come from one place: those of one heading together, below it; first what stands
        below several or is alone below its own."""
        headings = [{below_words(change) for change in row} for row in rows]
        heads = Counter(next(iter(names)) for names in headings if len(names) == 1)
        if len(heads) > 1:
            single = {head for head, count in heads.items() if count == 1}
        else:
            single = set()
        mixed = [len(names) > 1 or names <= single for names in headings]
        for row, names, apart in zip(rows, headings, mixed, strict=True):
            if apart:
                yield self._fact(row, group, "".join(names) if len(names) == 1 else "")
        for head in heads:
            for row, names, apart in zip(rows, headings, mixed, strict=True):
                if not apart and head in names:
                    yield self._fact(row, f"{group}, {head}" if head else group)

    def _from(self, change: FactChange) -> str:
        """What the facts of a group have in common beside their heading: where they come from, or where they went."""
        if change.op in STAYING:
            return way_words(change)
        who = ""
        if change.commit:
            who = f"{code(change.commit[:12])} by {code(flat(change.author.partition(' <')[0]))}"
        if change.new is None:
            if not who:
                return ""
            return f"taken out in {who}"
        return self._origin(change) + (f", in {who}" if who else "")

    def _state(self, change: FactChange) -> State | None:
        line = self.verdict_of(change)
        if not line:
            return None
        return line.state

    def _origin(self, change: FactChange) -> str:
        """Where a fact comes from, for counting and for grouping."""
        line = self.verdict_of(change)
        if line is None:
            if change.fact.get("src"):
                words = CITING
            else:
                words = UNCHECKED
            if change.by_machine:
                return f"**by an agent**, {words}"
            return words
        if line.state is State.PERSON and line.support:
            if change.fact.get("src"):
                bare = CITING
            else:
                bare = UNCHECKED
            if line.support == Support.NO_SOURCE:
                words = bare
            else:
                words = line.words
            return f"by a person, {words}"
        promoted = line.state is not State.EDITED or line.promoted
        if promoted:
            return STATES[line.state]
        return "by a person, with another comment"

    def _fact(self, changes: Sequence[FactChange], group: str, below: str = "") -> Row:
        """What happened to one fact, or to equal ones alike; `below` names its heading where the group does not."""
        change = changes[0]
        body, rest = self._body(change)
        place = some([self._place(row) for row in changes])
        words = ""
        if change.op is not Op.CHANGED:
            words = comment_words(change.fact)
        heading = former_place(change)
        about = ", ".join(part for part in (words, heading, below) if part)
        parts = [f"{body} ({place}" + (f"; {about}" if about else "") + ")", *self._sources(change)]
        return Row("\n".join(parts), rest, f"{place}", group, len(changes))

    def _place(self, change: FactChange) -> str:
        """Where a fact stands, or stood."""
        if change.new:
            path = change.path
        else:
            path = change.old_path or change.path
        return self.link(path, change.fact.line, self.review.head if change.new else self.review.base)

    def _body(self, change: FactChange) -> tuple[str, str]:
        """The text of a fact, or what differs in text and comment; the rest of what was cut."""
        if change.op is not Op.CHANGED or change.old is None or change.new is None:
            return shown(change.fact.text)
        edits = statement_diff(change.old, change.new).keys
        if change.old.text == change.new.text:
            text, rest = shown(change.fact.text)
        else:
            text, rest = difference(change.old.text, change.new.text)
        return (f"{text}: {edit_words(edits)[0]}" if edits else text), rest

    def _sources(self, change: FactChange) -> list[str]:
        """The quoted lines that a fact cites, each with a link to the commit in which its line number is right."""
        rows = [self._source(source) for source in self.review.cited.get(self.review.place_of(change), ())]
        rows += [f"  - source {shown(value)[0]} **names no lines**" for value in unread_sources(change.fact)]
        return rows

    def _source(self, source: Source) -> str:
        words = place_words(source.path, source.start_line, source.end_line)
        if self.forge and source.commit:
            url = self.forge.lines(source.commit, source.path, source.start_line, source.end_line)
            words = f"[{words}]({url})"
        if source.problem:
            return f"  - source {words}: **{plain(source.problem)}**"
        lines = [line.strip() for line in source.text.split("\n") if line.strip()]
        moved = ""
        if source.moved:
            moved = " (found again by its text)"
        return f"  - source {words}{moved}: {shown(' ⏎ '.join(lines))[0]}"

    # -- what is no fact -------------------------------------------------------------------------------------

    @cached_property
    def instructions(self) -> list[TextChange]:
        """The changed lines of what tells an agent what to do: SOUL.md, AGENTS.md, rules, skills."""
        return [text for text in self.review.other.texts if holds_instructions(text.path)]

    def _texts(self, *, instructions: bool) -> Iterator[Row]:
        """Changed lines that are no facts, file by file, what was removed before what came in its place."""
        other = self.review.other
        for row in other.renamed:
            if holds_instructions(row.path) is instructions:
                unchanged = ""
                if row.same:
                    unchanged = ", its text unchanged"
                yield Row(f"{code(flat(row.old_path))} is {self.links.file(row.path)} now{unchanged}")
        texts = [text for text in other.texts if holds_instructions(text.path) is instructions]
        texts.sort(key=lambda text: (text.path, text.line or text.old_line, text.op is not TextOp.REMOVED))
        wanted = []
        for text in texts if instructions else [text for text in texts if not self.passes(text.path)]:
            line = self.lines.get((text.path, text.line))
            if line is None or not line.fails:
                wanted.append((text, line))
        counts = Counter(text.path for text, _ in wanted)
        single = {path for path, count in counts.items() if count == 1}
        together = ""
        if len(single) > 1:
            together = f"in {len(single)} files, one line each"
        if together:
            wanted.sort(key=lambda row: row[0].path in single)
        for text, line in wanted:
            yield self._text(text, line, together if text.path in single else "")

    def _text(self, text: TextChange, line: LineVerdict | None, together: str = "") -> Row:
        if text.op is TextOp.CHANGED:
            body, rest = difference(text.old_text, text.text)
        else:
            body, rest = shown(text.text or text.old_text)
        gone = text.op is TextOp.REMOVED
        if gone:
            place = self.link(text.old_path or text.path, text.old_line, self.review.base)
        else:
            place = self.link(text.path, text.line)
        if text.heading:
            what = f"{text.op.value} heading"
        else:
            what = text.op.value
        who = ""
        if line:
            who = f" by {code(flat(line.author.partition(' <')[0]))}"
        group = together or f"in {code(flat(text.path))}"
        return Row(f"{what}{who}: {body} ({place})", rest, f"{what} {place}", group)

    def _logs(self) -> Iterator[Row]:
        for change in self.review.changes:
            if self.passes(change.path):
                yield self._fact([change], f"{change.op.value} in {code(flat(change.path))}")
        for text in self.review.other.texts:
            if self.passes(text.path):
                yield self._text(text, None)
