"""The pages of open memory branches: what each would bring, and merging one, its conflicts settled fact by fact."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.exchange.branch_merge import Conflict, branch_merge, merge_branch, open_branches, outcome, settled
from gitmem.gate.quoting import visible
from gitmem.memory import facts as memory_facts
from gitmem.provenance.corrections import gated_text
from gitmem.provenance.preview import FileDiff, diff
from gitmem.ui.view import OID, View

SHOWN = 100  # changes of a branch
OWN = "own"  # the choice of a text that is neither side's


@dataclass(frozen=True, slots=True)
class Sides:
    """A conflict as it is shown: the text of each side; `fact` where both are one fact each."""

    number: int
    path: str
    old_text: str
    text: str
    other_text: str
    fact: bool


def page(view: View) -> Response:
    """The open branches, or the one that the address names."""
    if view.fields.get("branch"):
        return _one(view, view.fields["branch"])
    rows = open_branches(view.repo, view.config, view.today) if not view.snapshot.past else []
    merged = view.fields.get("merged", "")
    return view.render("branches.html", branches=rows, merged=merged if OID.fullmatch(merged) else "")


def _one(
    view: View, name: str, status: int = 200, problem: str = "", form: Mapping[str, str] | None = None
) -> Response:
    shown = branch_merge(view.repo, view.config, name, view.today)
    sides = [_sides(conflict) for conflict in shown.conflicts]
    return view.render(
        "merge.html", status, shown=shown, changes=view.mask(list(shown.changes[:SHOWN])), total=len(shown.changes),
        conflicts=view.mask(sides), problem=problem, form=form or {},
        command=f"git merge {shlex.quote(name)}",
        others=view.mask([FileDiff(path, ()) for path in shown.others[:SHOWN]]),
    )  # fmt: skip


def _sides(conflict: Conflict) -> Sides:
    one = all(len(side) == 1 and memory_facts.parse_lines(side).entries for side in (conflict.ours, conflict.theirs))
    ours, base, theirs = ("".join(lines).rstrip("\n") for lines in (conflict.ours, conflict.base, conflict.theirs))
    return Sides(conflict.number, conflict.path, base, ours, theirs, one)


def merge(view: View, form: dict[str, str]) -> Response:
    """Merge a branch as it was shown: shows what the files become first, then commits that."""
    name = form.get("branch", "")
    shown = branch_merge(view.repo, view.config, name, view.today)
    if (shown.head, shown.tip) != (form.get("head"), form.get("tip")):
        words = view.t("One of the branches moved meanwhile: this is what it is now")
        return _one(view, name, 409, words, form)
    choices = {conflict.number: _choice(view, conflict, form) for conflict in shown.conflicts}
    try:
        contents = settled(shown, choices)
    except UsageError as error:
        return _one(view, name, 400, error.message, form)
    if shown.others:
        words = view.t("The branch changes more than memory: it is not merged here")
        raise GitMemError(words, f"git merge {shlex.quote(name)}")
    if form.get("shown") != "yes":
        fields = {key: visible(value) for key, value in form.items()} | {"shown": "yes"}
        made_of = outcome(view.repo, shown, contents)
        files = [FileDiff(path, tuple(diff(*sides))) for path, sides in made_of.items() if sides[0] != sides[1]]
        return view.render("settled.html", shown=shown, files=view.mask(files), fields=fields)
    try:
        made = merge_branch(view.repo, shown, contents, view.now.date())
    except Changed as error:
        return _one(view, name, 409, error.message, form)
    return view.redirect("branches", merged=made)


def _choice(view: View, conflict: Conflict, form: Mapping[str, str]) -> str | Sequence[str]:
    """What the form says of a conflict: a side, or the line of the text that the person wrote."""
    choice = form.get(f"choice-{conflict.number}", "")
    if choice != OWN:
        return choice
    if not _sides(conflict).fact:
        raise UsageError(view.t("This conflict is not of one fact: choose a side"))
    text = gated_text(visible(form.get(f"text-{conflict.number}", "")), conflict.path, view.config).text
    (entry,) = memory_facts.parse_lines(conflict.ours).entries
    return [memory_facts.bullet(text, entry.fact.meta) + "\n"]
