"""The pages of open memory branches: what each would bring, and merging one, its conflicts settled fact by fact."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.exchange.branch_lines import Choice, GateLine, allow_line_plan, gate_lines, takeover_plan
from gitmem.exchange.branch_merge import (
    PREFIX,
    BranchMerge,
    Conflict,
    branch_merge,
    merge_branch,
    outcome,
    settled,
)
from gitmem.exchange.taken_over import Takeover, takeovers
from gitmem.exchange.unfinished_merge import BegunMerge, begun_merge, end_merge
from gitmem.gate.exceptions import LIFETIME
from gitmem.gate.quoting import visible
from gitmem.git.branch_worktree import delete_branch
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact
from gitmem.memory.new_statements import between
from gitmem.memory.rivals import MEMORY, placed_sentence
from gitmem.memory.statements import Form
from gitmem.messages import Message
from gitmem.provenance.corrections import gated_text
from gitmem.provenance.preview import FileDiff, commit_previewed, diff, preview
from gitmem.review.word_diff import Piece
from gitmem.ui import review_queue
from gitmem.ui.background_work import Progress
from gitmem.ui.pages import work_in_progress
from gitmem.ui.pages.compare import pieces_of, rows_of
from gitmem.ui.pages.findings import decision_of, without_fingerprints
from gitmem.ui.view import OID, View

RIVALS = 10  # pairs of facts that a merge makes and the page names
MAX_OTHER_FILES = 100  # files of a branch that are no memory
TERMINAL = (  # what ends a merge in a terminal: words, command
    ("What is open", "git status"), ("Take up what a file has now", "git add FILE"), ("End the merge", "git commit"),
    ("Give it up", "git merge --abort"),
)  # fmt: skip
GATE = "gate-"  # how the fields of a choice about a line begin in which the gate finds something
CHOSEN = ("choice-", "text-", GATE)  # how the fields begin that say what was chosen
OWN_TEXT = "own"  # the choice of a text that is neither side's


@dataclass(frozen=True, slots=True)
class Sides:
    """A conflict as it is shown: the text of each side, with its comment where that differs too; `fact` where both are
    one fact each."""

    number: int
    path: str
    old_text: str
    text: str
    other_text: str
    fact: bool


@dataclass(frozen=True, slots=True)
class Allowing:
    """What the form that excepts a line holds besides: the merge it is about, with what was chosen; its last day."""

    fields: Mapping[str, str]
    until: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A merge that a page is about: where its form goes, the fields that say what it was when it was shown, the page
    to come back to, and what does the same in a terminal."""

    shown: BranchMerge
    address: str
    fields: Mapping[str, str]
    back: str
    command: str


def page(view: View) -> Response:
    """The open branches, or the one that the address names, or the merge that was begun in a terminal."""
    if view.fields.get("branch"):
        return _branch(view, view.fields["branch"])
    if view.fields.get("begun"):
        return _unfinished_page(view)
    if not view.snapshot.past:
        rows = review_queue.value(view, "branches")
    else:
        rows = ()
    if isinstance(rows, Progress):
        return work_in_progress.page(view, "branches", rows)
    return view.render("branches.html", branches=rows, closed=_closed(view), tabs=review_queue.tabs(view))


def _closed(view: View) -> tuple[str, str] | None:
    """The branch that was closed before this page, and the command that brings it back."""
    name, tip = view.fields.get("closed", ""), view.fields.get("tip", "")
    if name and OID.fullmatch(tip):
        return (name, restoring(name, tip))
    return None


def restoring(name: str, tip: str) -> str:
    """The command that makes a branch again that was deleted."""
    return f"git branch {shlex.quote(name)} {tip}"


def _branch(view: View, name: str) -> Response:
    """What merging a branch would bring; where a file must be settled in a terminal, why, and what to type."""
    try:
        return _merge_page(view, _of_branch(view, name), form=_choices(view.fields))
    except UsageError:  # there is no such branch
        raise
    except GitMemError as error:
        commands = [("Merge it there", f"git merge {shlex.quote(name)}"), *TERMINAL]
        return view.render(
            "left_to_terminal.html", 409, reason=error.message, commands=commands, tabs=review_queue.tabs(view)
        )


def _unfinished_page(view: View) -> Response:
    """The merge that was begun in a terminal; where it must be ended there, why, and what to type."""
    try:
        begun = begun_merge(view.repo, view.config, view.today)
    except GitMemError as error:
        if not view.merging:
            raise
        return view.render(
            "left_to_terminal.html", 409, reason=error.message, commands=TERMINAL, tabs=review_queue.tabs(view)
        )
    return _merge_page(view, _of_begun(view, begun))


def _of_branch(view: View, name: str) -> Asked:
    shown = branch_merge(view.repo, view.config, name, view.today)
    fields = {"branch": shown.name, "head": shown.head, "tip": shown.tip}
    return Asked(
        shown, "branches/merge", fields, view.url("branches", branch=shown.name), f"git merge {shlex.quote(name)}"
    )


def _of_begun(view: View, begun: BegunMerge) -> Asked:
    return Asked(begun.merge, "branches/end", {"state": begun.token}, view.url("branches", begun="yes"), "git commit")


def _merge_page(
    view: View, asked: Asked, status: int = 200, problem: str = "", form: Mapping[str, str] | None = None
) -> Response:
    shown = asked.shown
    if takeover := _takeover(view, asked):
        return _taken_over_page(view, shown.name, shown.tip, takeover, status, problem)
    sides = view.mask([_sides(conflict) for conflict in shown.conflicts])
    return view.render(
        "merge.html", status, asked=asked, shown=shown, rows=rows_of(view, shown.changes), total=len(shown.changes),
        conflicts=[(side, _words(side, side.text), _words(side, side.other_text)) for side in sides],
        problem=problem, form=form or {}, found=_found(view, outcome(view.repo, shown, {})),
        allowing=_allowing(view, asked, form or {}), tabs=review_queue.tabs(view),
        others=view.mask([FileDiff(path, ()) for path in shown.others[:MAX_OTHER_FILES]]),
    )  # fmt: skip


def _takeover(view: View, asked: Asked) -> Takeover | None:
    """The takeover of a branch as it is now, None where it waits."""
    if asked.address != "branches/merge":
        return None
    return takeovers(view.repo, {asked.shown.tip}).get(asked.shown.tip)


def _taken_over_page(
    view: View, name: str, tip: str, takeover: Takeover, status: int = 200, problem: str = "", *, closing: bool = False
) -> Response:
    """A branch that waits no longer, and closing it; `closing`: the preview of that."""
    fields = {"branch": name, "tip": tip} | ({"shown": "yes"} if closing else {})
    return view.render(
        "taken_over.html", status, name=name, takeover=takeover, closing=closing, fields=fields, problem=problem,
        command=restoring(name, tip), tabs=review_queue.tabs(view),
    )  # fmt: skip


def close(view: View, form: dict[str, str]) -> Response:
    """Delete a local branch that was taken over: shown first, with what brings it back."""
    name = form.get("branch", "")
    tip = dict(view.repo.refs(PREFIX)).get(PREFIX + name)
    if tip is None:
        raise UsageError(Message("there is no branch '{}'", name), "git branch lists them")
    takeover = takeovers(view.repo, {tip}).get(tip)
    if tip != form.get("tip") or takeover is None:
        raise Changed(view.t("One of the branches moved meanwhile: this is what it is now"))
    if not form.get("shown"):
        return _taken_over_page(view, name, tip, takeover, closing=True)
    try:
        delete_branch(view.repo, name, tip)
    except (Changed, GitFailed) as error:
        return _taken_over_page(view, name, tip, takeover, 409, error.message)
    return view.redirect("branches", closed=name, tip=tip)


def _choices(fields: Mapping[str, str]) -> dict[str, str]:
    """What a form or an address says of conflicts, and of lines in which the gate finds something."""
    return {key: visible(value) for key, value in fields.items() if key.startswith(CHOSEN)}


def _allowing(view: View, asked: Asked, form: Mapping[str, str]) -> Allowing | None:
    """None where nothing can be excepted: a merge that was begun in a terminal is ended, or given up, first."""
    if asked.address != "branches/merge" or not view.changes or view.merging:
        return None
    return Allowing({**asked.fields, **_choices(form)}, (view.now.date() + LIFETIME).isoformat())


def _sides(conflict: Conflict) -> Sides:
    sides = (conflict.ours, conflict.base, conflict.theirs)
    one = all(side and _is_one_fact(side) for side in (conflict.ours, conflict.theirs))
    whole = all(not side or _is_one_fact(side) for side in sides)
    if whole and len({fact.meta for lines in sides for fact in _facts(lines)}) == 1:  # its text is all that differs
        ours, base, theirs = ("".join(fact.text for fact in _facts(lines)) for lines in sides)
    else:
        ours, base, theirs = ("".join(lines).rstrip("\n") for lines in sides)
    return Sides(conflict.number, conflict.path, base, ours, theirs, one)


def _words(side: Sides, text: str) -> Sequence[Piece]:
    """The text of one side, masked already, with the words that are another than before."""
    return [piece for piece in pieces_of(side.old_text if text else "", text) if piece.sign != "-"]


def _is_one_fact(lines: Sequence[str]) -> bool:
    """Whether lines are those of one list item with nothing below it: its text can be written anew."""
    found = [(entry.form, entry.start, entry.fact.end) for entry in memory_facts.parse_lines(lines).entries]
    return found == [(Form.ITEM, 1, len(lines))]


def _facts(lines: Sequence[str]) -> Sequence[Fact]:
    return memory_facts.parse_lines(lines).facts


def merge(view: View, form: dict[str, str]) -> Response:
    """Merge a branch as it was shown: shows what the files become first, then commits that."""
    asked = _of_branch(view, form.get("branch", ""))
    return _merged(view, form, asked, lambda contents: merge_branch(view.repo, asked.shown, contents, view.now.date()))


def end(view: View, form: dict[str, str]) -> Response:
    """End the merge that was begun in a terminal, in the same two steps."""
    begun = begun_merge(view.repo, view.config, view.today)
    today = view.now.date()
    asked = _of_begun(view, begun)
    return _merged(view, form, asked, lambda contents: end_merge(view.repo, begun, contents, view.config, today))


def _merged(view: View, form: dict[str, str], asked: Asked, made_of: Callable[[Mapping[str, bytes]], str]) -> Response:
    shown = asked.shown
    if any(form.get(name) != value for name, value in asked.fields.items()):
        words = view.t("One of the branches moved meanwhile: this is what it is now")
        return _merge_page(view, asked, 409, words, form)
    try:
        choices = {conflict.number: _choice(view, conflict, form) for conflict in shown.conflicts}
        contents = settled(shown, choices)
    except (Refused, UsageError) as error:  # what was typed stays in its field
        status = 400
        if isinstance(error, Refused):
            status = 422
        return _merge_page(view, asked, status, view.t(error.message), form)
    if takeover := _takeover(view, asked):
        return _taken_over_page(view, shown.name, shown.tip, takeover, 409)
    if shown.others:
        raise GitMemError(view.t("The branch changes more than memory: it is not merged here"), asked.command)
    after = outcome(view.repo, shown, contents)
    taken = _about_lines(form)
    if not form.get("taken"):  # a conflict may be settled so that a line does not come at all
        taken = {row.key: taken[row.key] for row in _found(view, after) if row.key in taken}
    if taken and asked.address == "branches/merge":
        return _taken_over(view, form, asked, after, taken)
    if form.get("shown") != "yes":
        return _settled_page(view, asked, after, form)
    try:
        made = made_of(contents)
    except Changed as error:
        return _merge_page(view, asked, 409, error.message, form)
    except (Refused, GitFailed) as error:
        return _settled_page(view, asked, after, form, error)
    return view.redirect("branches", done=made)


def _about_lines(form: Mapping[str, str]) -> dict[str, Choice]:
    """What a form says of lines in which the gate finds something, by `GateLine.key`."""
    return {
        key.removeprefix(GATE): Choice(value)
        for key, value in form.items()
        if key.startswith(GATE) and value in list(Choice)
    }


Outcome = Mapping[str, tuple[bytes | None, bytes | None]]  # path -> its bytes before and after a merge


def _settled_page(
    view: View, asked: Asked, after: Outcome, form: Mapping[str, str], refused: GitMemError | None = None
) -> Response:
    """What the merge makes of every file, and what the gate finds in it; 422 where it was refused."""
    fields = {key: visible(value) for key, value in form.items() if not key.startswith(GATE)} | {"shown": "yes"}
    files = [FileDiff(path, tuple(diff(*sides))) for path, sides in after.items() if sides[0] != sides[1]]
    memory = [data or b"" for data in after.get(MEMORY, ())]
    differs = [placed_sentence(rival) for rival in between(memory[0], memory[1], view.today)[:RIVALS]] if memory else ()
    found = _found(view, after)
    return view.render(
        "settled.html", 422 if refused else 200, asked=asked, shown=asked.shown, files=view.mask(files), fields=fields,
        differs=differs, found=found, refused=refused, taken=False, form=form, stopped=_stopped(asked, found, {}),
        allowing=_allowing(view, asked, form),
    )  # fmt: skip


def _stopped(asked: Asked, found: Sequence[GateLine], choices: Mapping[str, Choice]) -> bool:
    """Whether a line is left that the gate stops and that this page has a choice for: the commit would be refused. A
    merge that was begun in a terminal has no such choice, and the gate answers when it is ended."""
    return asked.address == "branches/merge" and any(row.blocks and row.key not in choices for row in found)


def _found(view: View, after: Outcome) -> list[GateLine]:
    return gate_lines(view.repo, after, view.now.date())


def _taken_over(
    view: View, form: Mapping[str, str], asked: Asked, after: Outcome, choices: Mapping[str, Choice]
) -> Response:
    """Bring the files of the branch without the lines chosen, in one commit: shows it first."""
    found = _found(view, after)
    if not set(choices) <= {row.key for row in found}:
        return _merge_page(view, asked, 409, view.t("This finding is not as it was shown any more"), form)
    plan = takeover_plan(asked.shown.name, asked.shown.tip, after, found, choices)
    if not form.get("taken"):
        shown = preview(view.repo, plan)
        fields = {key: visible(value) for key, value in form.items()} | {"taken": shown.token, "shown": ""}
        return view.render(
            "settled.html", asked=asked, shown=asked.shown, files=view.mask(shown.files), fields=fields, differs=(),
            found=found, refused=None, taken=True, form=form, stopped=_stopped(asked, found, choices),
            allowing=_allowing(view, asked, form),
        )  # fmt: skip
    try:
        _, made = commit_previewed(view.repo, plan, form["taken"])
    except Changed as error:
        return _merge_page(view, asked, 409, error.message, form)
    except (Refused, GitFailed) as error:
        return _settled_page(view, asked, after, form, error)
    return view.redirect("branches", done=made)


def allow(view: View, form: dict[str, str]) -> Response:
    """Except what the gate finds in one line that a branch brings, until a day: a commit on the current branch, shown
    first. The exceptions of a branch do not count for itself, so that it is written to the branch that takes it."""
    asked = _of_branch(view, form.get("branch", ""))
    if any(form.get(name) != value for name, value in asked.fields.items()):
        words = view.t("One of the branches moved meanwhile: this is what it is now")
        return _merge_page(view, asked, 409, words, form)
    after = outcome(view.repo, asked.shown, _contents(view, asked.shown, form))
    row = next((row for row in _found(view, after) if row.key == form.get("line")), None)
    if row is None:
        return _merge_page(view, asked, 409, view.t("This finding is not as it was shown any more"), form)
    try:
        decision = decision_of(view, form)
        plan = allow_line_plan(view.repo, view.config, after[row.path][1] or b"", row, decision)
        if not form.get("shown"):
            shown = preview(view.repo, plan)
            fields = {key: visible(value) for key, value in form.items()} | {"salt": decision[3], "shown": shown.token}
            return view.render(
                "decision.html", title="Allow this finding", address="branches/allow", fields=fields, back=asked.back,
                shown=view.mask(without_fingerprints(shown)),
            )  # fmt: skip
        _, made = commit_previewed(view.repo, plan, form["shown"])
    except Changed as error:
        return _merge_page(view, asked, 409, view.t(error.message), form)
    except (Refused, GitFailed, UsageError) as error:
        status = 422
        if isinstance(error, UsageError):
            status = 400
        return _merge_page(view, asked, status, view.t(error.message), form)
    return view.redirect("branches", branch=asked.shown.name, done=made, **_choices(form))


def _contents(view: View, shown: BranchMerge, form: Mapping[str, str]) -> dict[str, bytes]:
    """The files that both sides changed as the form settles them; {} where it does not settle all, as the page of the
    branch has them."""
    try:
        return settled(shown, {conflict.number: _choice(view, conflict, form) for conflict in shown.conflicts})
    except (Refused, UsageError):
        return {}


def _choice(view: View, conflict: Conflict, form: Mapping[str, str]) -> str | Sequence[str]:
    """What the form says of a conflict: a side, or the line of the text that the person wrote."""
    choice = form.get(f"choice-{conflict.number}", "")
    if choice != OWN_TEXT:
        return choice
    if not _sides(conflict).fact:
        raise UsageError(view.t("This conflict is not of one fact: choose a side"))
    text = gated_text(visible(form.get(f"text-{conflict.number}", "")), conflict.path, view.config).text
    memory = memory_facts.parse_lines(conflict.ours)
    (entry,) = memory.entries
    try:
        return memory_facts.update(memory, entry, text, entry.fact.meta).lines
    except ValueError as error:
        raise UsageError(str(error)) from None
