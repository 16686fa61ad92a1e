"""A context as one block of text: parts quoted as data, those of one file and layer together. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.context import layers, packing
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.gate.quoting import END, LEAD, mark, neutral, passage, without_secrets

OWN_TAG = frozenset((Layer.RECENT, Layer.SUMMARY, Layer.WORKING))  # of the session: no file has them
AROUND = "<memory>\n</memory>\n"  # once, or twice where recent turns stand between
GAP = "…"  # between two places of one file


def render(parts: Sequence[Part], commits: Mapping[str, str], known: dict[tuple[Part, ...], str] | None = None) -> str:
    """The block: what is of one file and layer below one mark, where its best part would stand. Empty for nothing.

    `known` keeps quotations for the next time: what is in one is searched for secrets.
    """
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(packing.group(part), []).append(part)
    quoted = {} if known is None else known
    lines = [lead(commits)]
    inside = False
    for group in map(tuple, groups.values()):
        if inside is (group[0].layer in OWN_TAG):
            lines.append("</memory>" if inside else "<memory>")
            inside = not inside
        if group not in quoted:
            quoted[group] = render_group(group, commits)
        lines.append(quoted[group])
    return "\n".join([*lines, *(["</memory>"] if inside else []), END]) if groups else ""


def lead(commits: Mapping[str, str]) -> str:
    """The first line; it names the project's commit once for all that is quoted from it."""
    commit = commits.get("project", "")
    return f"{LEAD} Commit: {commit[:12]}." if commit else LEAD


def render_group(parts: Sequence[Part], commits: Mapping[str, str], bare: bool = False) -> str:
    """One quotation; with `bare` what stands around the text only."""
    first = parts[0]
    if first.layer in OWN_TAG:
        who = "" if first.layer is Layer.WORKING else f' who="{first.label}"'
        said = "\n".join(part.content for part in parts)
        body = "" if bare else neutral("\n".join(without_secrets(said.split("\n"))))
        return f"<{first.layer.value}{who}>\n{body}\n</{first.layer.value}>"
    note = ", ".join(filter(None, (_layer(first), first.scope if first.scope != "project" else "")))
    spans = _spans(parts)
    commit = commits.get(first.scope, "") if first.scope != "project" else ""
    if bare:
        return mark(first.path, spans, commit=commit, trust=first.trust, note=note) + "\n"
    return passage(_with_gaps(parts), first.path, *spans, commit=commit, trust=first.trust, note=note)


def _spans(parts: Sequence[Part]) -> list[tuple[int, int]]:
    """The lines of the parts in their order, those that follow each other as one span."""
    spans: list[tuple[int, int]] = []
    for first, last in ((part.start_line, part.end_line) for part in parts if part.start_line):
        if spans and spans[-1][1] + 1 == first:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


def _layer(part: Part) -> str:
    """The layer's name where the path does not tell it: what stands around a text takes tokens from it."""
    return "" if layers.layer_of(part.path) is part.layer else part.layer.value


def _with_gaps(parts: Sequence[Part]) -> str:
    """Facts as bullets; places that do not follow each other with a gap between them."""
    text = ""
    for at, part in enumerate(parts):
        fact = (part.path in layers.MEMORY and part.layer in (Layer.MEMORY, Layer.PINNED)) or part.layer is Layer.MERGED
        apart = at > 0 and not fact and not part.commit and part.start_line != parts[at - 1].end_line + 1
        text += (
            ("\n" if at else "") + (f"{GAP}\n" if apart else "") + ("- " if fact else "") + until(part) + part.content
        )
    return text


def until(part: Part) -> str:
    """What stands before a part that a later line amends."""
    return f"until {part.until}: " if part.until else ""
