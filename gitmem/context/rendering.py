"""A context as one block of text: parts quoted as data, those of one file and layer together. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.context import layers, packing
from gitmem.context.layer_limits import Layer
from gitmem.context.layers import Part
from gitmem.gate.quoting import END, LEAD, fence, neutral, opening, without_secrets

GAP = "…"  # between two places of one file


def render(parts: Sequence[Part], commits: Mapping[str, str], known: dict[tuple[Part, ...], str] | None = None) -> str:
    """The block: what is of one file and layer in one quotation, where its best part would stand. Empty for nothing.

    `known` keeps quotations for the next time: what is in one is searched for secrets.
    """
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(packing.group(part), []).append(part)
    quoted = {} if known is None else known
    for group in map(tuple, groups.values()):
        if group not in quoted:
            quoted[group] = render_group(group, commits)
    quotations = [quoted[tuple(group)] for group in groups.values()]
    return "\n".join([lead(commits), *quotations, END]) if groups else ""


def lead(commits: Mapping[str, str]) -> str:
    """The first line; it names the project's commit once for all that is quoted from it."""
    commit = commits.get("project", "")
    return f"{LEAD} Commit: {commit[:12]}." if commit else LEAD


def render_group(parts: Sequence[Part], commits: Mapping[str, str], bare: bool = False) -> str:
    """One quotation; with `bare` what stands around the text only."""
    first = parts[0]
    if first.layer in (Layer.RECENT, Layer.SUMMARY, Layer.WORKING):
        who = "" if first.layer is Layer.WORKING else f' who="{first.label}"'
        said = "\n".join(part.content for part in parts)
        body = "" if bare else neutral("\n".join(without_secrets(said.split("\n"))))
        return f"<{first.layer.value}{who}>\n{body}\n</{first.layer.value}>"
    note = ", ".join(filter(None, (_layer(first), first.scope if first.scope != "project" else "")))
    spans = [(part.start_line, part.end_line) for part in parts if part.start_line]
    commit = commits.get(first.scope, "") if first.scope != "project" else ""
    if bare:
        return opening(first.path, spans, commit=commit, trust=first.trust, note=note) + "\n\n</memory>"
    return fence(_joined(parts), first.path, *spans, commit=commit, trust=first.trust, note=note)


def _layer(part: Part) -> str:
    """The layer's name where the path does not tell it: what stands around a text takes tokens from it."""
    return "" if layers.layer_of(part.path) is part.layer else part.layer.value


def _joined(parts: Sequence[Part]) -> str:
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
