"""A review as Markdown for a pull request, and as the JSON of docs/json.md. Pure: a review in, text out.

Text of memory stands in the Markdown as code: nothing in it is a link, a mention, a comment or markup.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.report import code, finding_value, order
from gitmem.memory.fact import parse_span
from gitmem.review.fact_diff import FactChange, Op
from gitmem.review.github import Forge
from gitmem.review.publish import flat, source_links
from gitmem.review.review import HOST_BYTES, Review, State

LISTED = 100  # rows of a section; the rest is counted, so that a comment stays within GitHub's limit
LIMIT = 60_000  # characters of the whole
TITLES = {
    Op.PROMOTED: "Promoted", Op.ADDED: "Added", Op.CHANGED: "Changed", Op.REMOVED: "Removed", Op.MOVED: "Moved",
    Op.EXPIRED: "Expired",
}  # fmt: skip
STATES = {
    State.PROMOTED: "promoted, source checked",
    State.PERSON: "written by a person",
    State.AGENT: "**added by an agent, and by no promotion**",
    State.BROKEN: "**provenance does not hold**",
}


def as_markdown(found: Review, forge: Forge | None = None) -> str:
    """The comment: a verdict, then only the sections that have something to say."""
    counts = Counter(change.op for change in found.changes)
    facts = ", ".join(f"{counts[op]} {op.value}" for op in TITLES if counts[op]) or "no fact changes"
    blocks = sum(finding.severity is Severity.BLOCK for finding in found.report.findings)
    verdict = "a check says no" if found.failed else "all checks hold"
    span = f"{found.base[:12] or 'the beginning'}..{found.head[:12]}"
    out = [f"### Memory review: {verdict}", "", f"{facts} in `{span}`", ""]
    out += _findings(found, blocks)
    for op, title in TITLES.items():
        rows = [change for change in found.changes if change.op is op]
        out += _section(title, [_change(change, found, forge) for change in rows])
    out += _section(
        "Contradicts or repeats",
        [
            f"- {code(flat(r.text))} {'contradicts' if r.contradicts else 'repeats'} {code(flat(r.other_text))}"
            f" ({_link(found, forge, r.other_path, r.other_line)})"
            for r in found.rivals
        ],
    )
    out += _section(
        "Provenance of MEMORY.md",
        [
            f"- {_link(found, forge, line.path, line.line)}: {STATES[line.state]}"
            + (f": {_plain(line.message)}" if line.message else "")
            + f" ({code(line.commit[:12])} by {code(flat(line.author.partition(' <')[0]))})"
            for line in sorted(found.lines, key=lambda line: line.state in (State.PROMOTED, State.PERSON))
        ],
    )
    out += _recall(found)
    out += _section(
        "Sizes",
        [
            f"- {code(flat(size.path))}: {size.lines} of {size.budget} lines, {size.bytes} of {HOST_BYTES} bytes"
            + (" **over budget**" if size.over else "")
            for size in found.sizes
        ],
    )
    out += [f"_{_plain(note)}_" for note in found.notes]
    text = "\n".join(out).rstrip() + "\n"
    if len(text) > LIMIT:
        text = text[:LIMIT].rsplit("\n", 1)[0] + "\n\n(cut: `git mem review` shows all of it)\n"
    return text


def _section(title: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    more = [f"- and {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return [f"#### {title}", "", *rows[:LISTED], *more, ""]


def _change(change: FactChange, found: Review, forge: Forge | None) -> str:
    text = code(flat(change.fact.text))
    if change.op is Op.CHANGED and change.old and change.old.text != change.fact.text:
        text = f"{code(flat(change.old.text))} → {text}"
    elif change.op is Op.CHANGED and change.old and change.new:
        text += f" ({_plain(_meta_change(change))})"
    commit = found.head if change.new else found.base
    place = _link(found, forge, change.path, change.fact.line, commit)
    moved = f" from {code(flat(change.old_path))}" if change.old_path not in ("", change.path) else ""
    links = source_links(change, forge, commit)
    return f"- {text}{moved} ({place}" + (f"; source {', '.join(links)}" if links else "") + ")"


def _meta_change(change: FactChange) -> str:
    assert change.old and change.new
    keys = dict.fromkeys(key for key, _ in (*change.old.meta, *change.new.meta))
    named = [
        key
        for key in keys
        if [p for p in change.old.meta if p[0] == key] != [p for p in change.new.meta if p[0] == key]
    ]
    return "changed: " + ", ".join(named)


def _findings(found: Review, blocks: int) -> list[str]:
    rows = []
    for finding in order(found.report.findings)[:LISTED]:
        place = f"{finding.path}:{finding.line}" + (f" at {finding.commit[:12]}" if finding.commit else "")
        excerpt = f" {code(flat(finding.excerpt))}" if finding.excerpt else ""
        what = f"**{finding.severity.value}** {_plain(finding.rule)}"
        rows.append(f"- {what} {code(flat(place))}: {_plain(finding.message)}{excerpt}")
    if blocks:
        rows.append("- A secret that was pushed is known: rotate it first, then remove it from history.")
    return _section("Findings", rows)


def _recall(found: Review) -> list[str]:
    recall = found.recall
    if recall is None:
        return []
    rows = [f"- hit@5 over {recall.questions} questions: {recall.before:.3f} → {recall.after:.3f}"]
    rows += [f"- lost: {code(flat(query))}" for query in recall.lost]
    rows += [f"- gained: {code(flat(query))}" for query in recall.gained]
    return _section("Search", rows)


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
        "findings": [finding_value(finding) for finding in order(found.report.findings)],
        "provenance": [
            {
                "path": line.path,
                "line": line.line,
                "text": line.text,
                "state": line.state.value,
                "message": line.message or None,
                "commit": line.commit,
                "author": line.author,
            }
            for line in found.lines
        ],
        "rivals": [
            {
                "kind": "contradiction" if r.contradicts else "near-duplicate",
                "path": r.path,
                "line": r.line,
                "text": r.text,
                "other": {"path": r.other_path, "line": r.other_line, "text": r.other_text},
            }
            for r in found.rivals
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
    }


def _source(value: str, found: Review, forge: Forge | None) -> dict[str, Any]:
    span = parse_span(value)
    if span is None:
        return {"src": value, "url": None}
    url = forge.lines(found.head, span.path, span.start_line, span.end_line) if forge else None
    return {"src": value, "url": url}
