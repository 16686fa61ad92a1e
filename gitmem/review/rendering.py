"""A review as Markdown for a pull request, and as the JSON of docs/json.md. Pure: a review in, text out.

Text of memory stands in the Markdown as code: nothing in it is a link, a mention, a comment or markup.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.report import code, finding_value, order
from gitmem.memory.fact import parse_span
from gitmem.provenance.attribution import differing
from gitmem.provenance.signatures import UNSIGNED
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.forges.protocol import Forge
from gitmem.review.publish import flat, source_links
from gitmem.review.review import HOST_BYTES, LineVerdict, Review, State

LISTED = 100  # rows of a section; the rest is counted, so that a comment stays within GitHub's limit
LIMIT = 60_000  # characters of the whole
TITLES = {
    Op.PROMOTED: "Promoted", Op.ADDED: "Added", Op.CHANGED: "Changed", Op.REMOVED: "Removed", Op.MOVED: "Moved",
    Op.EXPIRED: "Expired",
}  # fmt: skip
TEXT = 600  # characters of one text that are shown
STATES = {
    State.PROMOTED: "promoted",
    State.PERSON: "written by a person",
    State.AGENT: "**added by an agent, and by no promotion**",
    State.EDITED: "**changed**",
    State.BROKEN: "**provenance does not hold**",
}


def as_markdown(found: Review, forge: Forge | None = None) -> str:
    """The comment: a verdict, then only the sections that have something to say, what fails first.

    It never says that all checks hold about what it does not show: rows and texts that are left out are counted.
    """
    sections = _sections(found, forge)
    hidden = sum(max(0, len(rows) - LISTED) for _, rows in sections)
    hidden += sum(len(text) > TEXT for text in _texts(found))
    body = [part for title, rows in sections for part in _section(title, rows)]
    body += [f"_{_plain(note)}_" for note in found.notes]
    text = "\n".join([*_header(found, hidden), *body]).rstrip() + "\n"
    if len(text) > LIMIT:
        text = "\n".join([*_header(found, max(hidden, 1)), *body])
        text = text[:LIMIT].rsplit("\n", 1)[0] + "\n\n(cut: `git mem review` shows all of it)\n"
    return text


def _header(found: Review, hidden: int) -> list[str]:
    counts = Counter(change.op for change in found.changes)
    facts = ", ".join(f"{counts[op]} {op.value}" for op in TITLES if counts[op]) or "no fact changes"
    verdict = "a check says no" if found.failed else "all checks hold"
    if found.settings and not found.failed:
        verdict = "no check says no, but it changes what memory is checked by"
    elif hidden and not found.failed:
        verdict = "no check says no, but not all of it is shown here"
    span = f"{found.base[:12] or 'the beginning'}..{found.head[:12]}"
    states = Counter(line.words or STATES[line.state].strip("*") for line in found.lines)
    told = [
        _plain(f"{count} lines: {words}" if count > 1 else f"1 line: {words}")
        for words, count in sorted(states.items())
    ]
    return [
        f"### Memory review: {verdict}",
        "",
        f"{facts} in `{span}`",
        "",
        *([f"{'; '.join(told)}", ""] if told else []),
    ]


def _sections(found: Review, forge: Forge | None) -> list[tuple[str, list[str]]]:
    """(title, rows) of the whole review, in the order they are shown."""
    blocks = sum(finding.severity is Severity.BLOCK for finding in found.report.findings)
    order_of = {State.BROKEN: 0, State.AGENT: 1, State.EDITED: 2, State.PERSON: 3, State.PROMOTED: 4}
    lines = sorted(found.lines, key=lambda line: (not line.fails, order_of[line.state]))
    similar_facts = [
        f"- {_shown(r.text)} {'contradicts' if r.contradicts else 'repeats'} {_shown(r.other_text)}"
        f" ({_link(found, forge, r.other_path, r.other_line)})"
        for r in found.similar_facts
    ]
    sizes = [
        f"- {code(flat(size.path))}: {size.lines} of {size.budget} lines, {size.bytes} of {HOST_BYTES} bytes"
        + (" **over budget**" if size.over else "")
        for size in found.sizes
    ]
    changes = [
        (title, [_change(change, found, forge) for change in found.changes if change.op is op])
        for op, title in TITLES.items()
    ]
    settings = [
        f"- {'**loosened**' if change.loosened else change.what} {code(flat(change.path))}"
        + (f": {_plain(change.loosened)}" if change.loosened else "")
        for change in found.settings
    ]
    return [
        ("Changes what memory is checked by", settings),
        ("Findings", _findings(found, blocks)),
        ("Provenance", [_provenance(line, found, forge) for line in lines]),
        *changes,
        ("Contradicts or repeats", similar_facts),
        ("Search", _recall(found)),
        ("Sizes", sizes),
    ]


def _texts(found: Review) -> list[str]:
    return [fact.text for change in found.changes for fact in (change.old, change.new) if fact]


def _shown(text: str) -> str:
    """A text of memory as code; of a long one the beginning, and how long it is."""
    if len(text) <= TEXT:
        return code(flat(text))
    return f"{code(flat(text[:TEXT]))} … ({len(text):,} characters)"


def _provenance(line: LineVerdict, found: Review, forge: Forge | None) -> str:
    """One line: where it comes from, in the words of `why` and `verify`; old and new of what was edited."""
    words = STATES[line.state] + (f", {_plain(line.words)}" if line.words else "")
    edits = [f"{_plain(what)} {_shown(old or 'nothing')} → {_shown(new or 'nothing')}" for what, old, new in line.edits]
    more = [*([_plain(line.message)] if line.message else []), *edits]
    who = f"{code(line.commit[:12])} by {code(flat(line.author.partition(' <')[0]))}"
    return (
        f"- {_link(found, forge, line.path, line.line)}: {words}" + "".join(f": {part}" for part in more) + f" ({who})"
    )


def _section(title: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- and {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return [f"#### {title}", "", *rows[:LISTED], *more, ""]


def _change(change: FactChange, found: Review, forge: Forge | None) -> str:
    text = _shown(change.fact.text)
    if change.op is Op.CHANGED and change.old and change.old.text != change.fact.text:
        text = f"{_shown(change.old.text)} → {text}"
    elif change.op is Op.CHANGED and change.old and change.new:
        text += f" ({_meta_change(change)})"
    commit = found.head if change.new else found.base
    place = _link(found, forge, change.path, change.fact.line, commit)
    moved = f" from {code(flat(change.old_path))}" if change.old_path not in ("", change.path) else ""
    links = source_links(change, forge, commit)
    return f"- {text}{moved} ({place}" + (f"; source {', '.join(links)}" if links else "") + ")"


def _meta_change(change: FactChange) -> str:
    """The keys of a comment that changed, each with its value before and now."""
    assert change.old and change.new
    parts = []
    for key in differing(change.old.meta, change.new.meta):
        old, new = (
            " ".join(value for name, value in side if name == key) for side in (change.old.meta, change.new.meta)
        )
        parts.append(f"{_plain(key)} {_shown(old or 'nothing')} → {_shown(new or 'nothing')}")
    return "changed: " + ", ".join(parts)


def _findings(found: Review, blocks: int) -> list[str]:
    rows = []
    for finding in order(found.report.findings):
        place = f"{finding.path}:{finding.line}" + (f" at {finding.commit[:12]}" if finding.commit else "")
        excerpt = f" {code(flat(finding.excerpt))}" if finding.excerpt else ""
        what = f"**{finding.severity.value}** {_plain(finding.rule)}"
        rows.append(f"- {what} {code(flat(place))}: {_plain(finding.message)}{excerpt}")
    if blocks:
        rows.append("- A secret that was pushed is known: rotate it first, then remove it from history.")
    return rows


def _recall(found: Review) -> list[str]:
    recall = found.recall
    if recall is None:
        return []
    rows = [f"- hit@5 over {recall.questions} questions: {recall.before:.3f} → {recall.after:.3f}"]
    rows += [f"- lost: {code(flat(query))}" for query in recall.lost]
    rows += [f"- gained: {code(flat(query))}" for query in recall.gained]
    return rows


def _link(found: Review, forge: Forge | None, path: str, line: int, commit: str = "") -> str:
    words = code(flat(f"{path}:{line}"))
    return f"[{words}]({forge.lines(commit or found.head, path, line, line)})" if forge else words


def _plain(text: str) -> str:
    """Words of ours around names that are not: nothing in them is markup."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|@!&~" else c for c in flat(text))


def as_value(found: Review, forge: Forge | None = None) -> dict[str, Any]:
    """The JSON of docs/json.md, "review"."""
    return {
        "base": found.base or None,
        "head": found.head,
        "verdict": "failed" if found.failed else "clean",
        "changes": [
            {
                **change.told(),
                "author": change.author or None,
                "commit": change.commit or None,
                "sources": [_source(value, found, forge) for key, value in change.fact.meta if key == "src"],
            }
            for change in found.changes
        ],
        "settings": [
            {"path": change.path, "what": change.what, "loosened": change.loosened or None} for change in found.settings
        ],
        "findings": [finding_value(finding) for finding in order(found.report.findings)],
        "provenance": [_line_value(line) for line in found.lines],
        "rivals": [
            {
                "kind": "contradiction" if r.contradicts else "near-duplicate",
                "path": r.path,
                "line": r.line,
                "text": r.text,
                "other": {"path": r.other_path, "line": r.other_line, "text": r.other_text},
            }
            for r in found.similar_facts
        ],
        "recall": {
            "questions": found.recall.questions,
            "before": found.recall.before,
            "after": found.recall.after,
            "gained": list(found.recall.gained),
            "lost": list(found.recall.lost),
        }
        if found.recall
        else None,
        "sizes": [
            {
                "path": size.path,
                "lines": size.lines,
                "budget": size.budget,
                "bytes": size.bytes,
                "over": size.over,
            }
            for size in found.sizes
        ],
        "notes": list(found.notes),
        "signatures": [one.as_value() for one in found.signatures if one.state != UNSIGNED],
    }


def _line_value(line: LineVerdict) -> dict[str, Any]:
    changes = [{"what": what, "old": old or None, "new": new or None} for what, old, new in line.edits]
    return {
        "path": line.path,
        "line": line.line,
        "text": line.text,
        "state": line.state.value,
        "support": line.support or None,
        "message": line.message or None,
        "edited": {"by": line.editor, "changes": changes} if changes else None,
        "commit": line.commit,
        "author": line.author,
    }


def _source(value: str, found: Review, forge: Forge | None) -> dict[str, Any]:
    span = parse_span(value)
    if span is None:
        return {"src": value, "url": None}
    url = forge.lines(found.head, span.path, span.start_line, span.end_line) if forge else None
    return {"src": value, "url": url}
