"""The pages of open memory branches: what a merge of each would change, and the merge, with its conflicts settled one
by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.exchange import branch_merge
from gitmem.exchange.branch_lines import Choice, GateLine, allow_line_plan, gate_lines, takeover_plan
from gitmem.exchange.taken_over import Takeover, takeovers
from gitmem.exchange.unfinished_merge import BegunMerge, begun_merge, end_merge
from gitmem.gate.exceptions import EXCEPTION_LIFETIME
from gitmem.gate.quoting import visible
from gitmem.git.branch_worktree import delete_branch
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact
from gitmem.memory.new_statements import rivals_between
from gitmem.memory.rivals import MEMORY, placed_sentence
from gitmem.memory.statements import Form
from gitmem.messages import Message
from gitmem.provenance.corrections import gated_text
from gitmem.provenance.preview import FileDiff, commit_previewed, diff_lines, preview
from gitmem.review.statement_diff import Piece
from gitmem.shell_word import shell_word
from gitmem.ui import review_queue
from gitmem.ui.pages.compare import pieces_of, rows_of
from gitmem.ui.pages.fact_changes import refusal_status
from gitmem.ui.pages.findings import read_decision, without_fingerprints
from gitmem.ui.view import OID, View

MAX_RIVALS = 10  # new pairs of rival facts that the page lists
MAX_OTHER_FILES = 100  # files of a branch outside memory that the page lists
TERMINAL_COMMANDS = (  # (words, command) for a merge that must be ended in a terminal
    ("What is open", "git status"), ("Take up what a file has now", "git add FILE"), ("End the merge", "git commit"),
    ("Give it up", "git merge --abort"),
)  # fmt: skip
GATE_FIELD = "gate-"  # prefix of the fields with the choice for a line with a finding of the gate
CHOICE_FIELDS = ("choice-", "text-", GATE_FIELD)  # prefixes of all fields with choices
OWN_TEXT = "own"  # the choice of a text that a person writes instead of a side's


@dataclass(frozen=True, slots=True)
class Sides:
    """A conflict of a merge, as the page shows it. `number`: of the conflict, which the names of the form's fields end
    in. `text`, `other_text`: of the current branch and of the merged one. `old_text`: of the common base. The three
    texts include the facts' comments only if the comments differ. `fact`: whether both sides are a single fact, so that
    a person may write another text."""

    number: int
    path: str
    old_text: str
    text: str
    other_text: str
    fact: bool


@dataclass(frozen=True, slots=True)
class AllowForm:
    """The form that allows a finding. `fields`: the merge and the choices made so far. `until`: the proposed last day
    of the exception."""

    fields: Mapping[str, str]
    until: str


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """The merge that a page shows. `address`: the path of its form. `fields`: the state of the merge when it was shown;
    the form sends them back. `back`: the URL of the page. `command`: does the same in a terminal."""

    shown: branch_merge.BranchMerge
    address: str
    fields: Mapping[str, str]
    back: str
    command: str


def page(view: View) -> Response:
    """The open branches, or the merge of the branch in the query, or the merge that was begun in a terminal."""
    if view.fields.get("branch"):
        return _branch_page(view, view.fields["branch"])
    if view.fields.get("begun"):
        return _unfinished_page(view)
    rows: Sequence[branch_merge.OpenBranch] = ()
    if not view.snapshot.past:
        rows = review_queue.part_value(view, "branches")
    return view.render("branches.html", branches=rows, closed=_closed(view), tabs=review_queue.tabs(view))


def _closed(view: View) -> tuple[str, str] | None:
    """(name of the branch that was just closed, the command that restores it); None when the query names none."""
    name, tip = view.fields.get("closed", ""), view.fields.get("tip", "")
    if name and OID.fullmatch(tip):
        return name, _restore_command(name, tip)
    return None


def _restore_command(name: str, tip: str) -> str:
    return f"git branch {shell_word(name)} {tip}"


def _branch_page(view: View, name: str) -> Response:
    """The page shows what a merge of the branch `name` would change. If the merge must be settled in a terminal, the
    page shows the reason and the commands instead. Raises UsageError if there is no such branch."""
    try:
        return _merge_page(view, _branch_request(view, name), form=_choices(view.fields))
    except UsageError:  # there is no such branch
        raise
    except GitMemError as error:
        return _terminal_page(view, error, [("Merge it there", f"git merge {shell_word(name)}"), *TERMINAL_COMMANDS])


def _unfinished_page(view: View) -> Response:
    """The page shows the merge that was begun in a terminal. If it must be ended there, the page shows the reason and
    the commands instead. Raises GitMemError if no merge was begun."""
    try:
        begun = begun_merge(view.repo, view.config, view.today)
    except GitMemError as error:
        if not view.merging:
            raise
        return _terminal_page(view, error, TERMINAL_COMMANDS)
    return _merge_page(view, _begun_request(view, begun))


def _terminal_page(view: View, error: GitMemError, commands: Sequence[tuple[str, str]]) -> Response:
    return view.render(
        "left_to_terminal.html", 409, reason=error.message, commands=commands, tabs=review_queue.tabs(view)
    )


def _branch_request(view: View, name: str) -> MergeRequest:
    """The merge of a branch into the current one. Raises UsageError for an unknown branch, GitMemError if it must be
    merged in a terminal."""
    merge = branch_merge.branch_merge(view.repo, view.config, name, view.today)
    fields = {"branch": merge.name, "head": merge.head, "tip": merge.tip}
    url = view.url("branches", branch=merge.name)
    return MergeRequest(merge, "branches/merge", fields, url, f"git merge {shell_word(name)}")


def _begun_request(view: View, begun: BegunMerge) -> MergeRequest:
    url = view.url("branches", begun="yes")
    return MergeRequest(begun.merge, "branches/end", {"state": begun.token}, url, "git commit")


def _merge_page(
    view: View, request: MergeRequest, status: int = 200, problem: str = "", form: Mapping[str, str] | None = None
) -> Response:
    """The page of a merge: its changes, conflicts, findings of the gate and the first MAX_OTHER_FILES of its other
    files; for a branch that was taken over, the page that closes it. `problem`: why the last step was refused. `form`:
    the choices made so far."""
    merge = request.shown
    if takeover := _takeover(view, request):
        return _taken_over_page(view, merge.name, merge.tip, takeover, status, problem)
    sides = view.mask([_sides(conflict) for conflict in merge.conflicts])
    return view.render(
        "merge.html", status, asked=request, shown=merge, rows=rows_of(view, merge.changes), total=len(merge.changes),
        conflicts=[(side, _words(side, side.text), _words(side, side.other_text)) for side in sides],
        problem=problem, form=form or {}, found=_found(view, branch_merge.outcome(view.repo, merge, {})),
        allowing=_allowing(view, request, form or {}), tabs=review_queue.tabs(view),
        others=view.mask([FileDiff(path, ()) for path in merge.others[:MAX_OTHER_FILES]]),
    )  # fmt: skip


def _takeover(view: View, request: MergeRequest) -> Takeover | None:
    """The commit by which a person took over the facts of the branch at its current tip (`exchange/taken_over`). None
    if there is none, or if a merge of the branch has begun."""
    if request.address != "branches/merge":
        return None
    return takeovers(view.repo, {request.shown.tip}).get(request.shown.tip)


def _taken_over_page(
    view: View, name: str, tip: str, takeover: Takeover, status: int = 200, problem: str = "", *, closing: bool = False
) -> Response:
    """A branch that was taken over, with the form that closes it. `closing`: the preview of that."""
    fields = {"branch": name, "tip": tip}
    if closing:
        fields["shown"] = "yes"
    return view.render(
        "taken_over.html", status, name=name, takeover=takeover, closing=closing, fields=fields, problem=problem,
        command=_restore_command(name, tip), tabs=review_queue.tabs(view),
    )  # fmt: skip


def close(view: View, form: dict[str, str]) -> Response:
    """Delete a local branch that was taken over. A preview with the command that restores it comes first. Raises
    UsageError for an unknown branch, Changed if the branch moved or is not taken over."""
    name = form.get("branch", "")
    tip = dict(view.repo.refs(branch_merge.PREFIX)).get(branch_merge.PREFIX + name)
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
    """The choices in a form or a query."""
    return {key: visible(value) for key, value in fields.items() if key.startswith(CHOICE_FIELDS)}


def _allowing(view: View, request: MergeRequest, form: Mapping[str, str]) -> AllowForm | None:
    """The form that allows a finding; None when it cannot be used, as during a merge that was begun in a terminal."""
    if request.address != "branches/merge" or not view.changes or view.merging:
        return None
    return AllowForm({**request.fields, **_choices(form)}, (view.now.date() + EXCEPTION_LIFETIME).isoformat())


def _sides(conflict: branch_merge.Conflict) -> Sides:
    """The texts of a conflict: those of the facts if every side that is not empty is one fact and their comments are
    equal, else the lines."""
    sides = (conflict.ours, conflict.base, conflict.theirs)
    one_fact_each = all(side and _is_one_fact(side) for side in (conflict.ours, conflict.theirs))
    only_facts = all(not side or _is_one_fact(side) for side in sides)
    if only_facts and len({fact.meta for lines in sides for fact in _facts(lines)}) == 1:  # the comments are equal
        ours, base, theirs = ("".join(fact.text for fact in _facts(lines)) for lines in sides)
    else:
        ours, base, theirs = ("".join(lines).rstrip("\n") for lines in sides)
    return Sides(conflict.number, conflict.path, base, ours, theirs, one_fact_each)


def _words(side: Sides, text: str) -> Sequence[Piece]:
    """The words of one side's text, which is masked already; words that the base does not have are marked."""
    if not text:
        return []
    return [piece for piece in pieces_of(side.old_text, text) if piece.sign != "-"]


def _is_one_fact(lines: Sequence[str]) -> bool:
    """Whether the lines are one list item with nothing below it, so that its text can be replaced."""
    entries = [(entry.form, entry.start, entry.fact.end) for entry in memory_facts.parse_lines(lines).entries]
    return entries == [(Form.ITEM, 1, len(lines))]


def _facts(lines: Sequence[str]) -> Sequence[Fact]:
    return memory_facts.parse_lines(lines).facts


def merge(view: View, form: dict[str, str]) -> Response:
    """The next step to merge a branch: the form again if a choice is missing or refused, or, with 409, if a branch has
    moved since the form was shown; then what the files become; then, if the form has `shown`, the commit and a
    redirect. Raises UsageError for an unknown branch, GitMemError if it must be merged in a terminal or changes more
    than memory."""
    request = _branch_request(view, form.get("branch", ""))
    today = view.now.date()
    return _merge(
        view, form, request, lambda contents: branch_merge.merge_branch(view.repo, request.shown, contents, today)
    )


def end(view: View, form: dict[str, str]) -> Response:
    """The next step to end the merge that was begun in a terminal: the form again if a choice is missing or refused,
    or, with 409, if the merge has changed since the form was shown; then what the files become; then, if the form has
    `shown`, the commit and a redirect. Raises GitMemError if there is no such merge, if it must be ended in a terminal
    or if it changes more than memory."""
    begun = begun_merge(view.repo, view.config, view.today)
    request, today = _begun_request(view, begun), view.now.date()
    return _merge(view, form, request, lambda contents: end_merge(view.repo, begun, contents, view.config, today))


def _merge(
    view: View, form: dict[str, str], request: MergeRequest, commit: Callable[[Mapping[str, bytes]], str]
) -> Response:
    """The next step of a merge: the form again if a choice is missing or refused, then what the files become, then the
    commit. `commit`: makes the merge commit with the settled files and returns its oid. Raises GitMemError if the
    branch changes more than memory."""
    merge = request.shown
    if _has_moved(request, form):
        return _moved_page(view, request, form)
    try:
        contents = _settled_contents(view, merge, form)
    except (Refused, UsageError) as error:  # the form keeps what was typed
        return _merge_page(view, request, refusal_status(error), view.t(error.message), form)
    if takeover := _takeover(view, request):
        return _taken_over_page(view, merge.name, merge.tip, takeover, 409)
    if merge.others:
        raise GitMemError(view.t("The branch changes more than memory: it is not merged here"), request.command)
    merged = branch_merge.outcome(view.repo, merge, contents)
    choices = _line_choices(form)
    if not form.get("taken"):  # the settlement of a conflict may have removed a line
        choices = {row.key: choices[row.key] for row in _found(view, merged) if row.key in choices}
    if choices and request.address == "branches/merge":
        return _take_over(view, form, request, merged, choices)
    if form.get("shown") != "yes":
        return _settled_page(view, request, merged, form)
    try:
        oid = commit(contents)
    except Changed as error:
        return _merge_page(view, request, 409, error.message, form)
    except (Refused, GitFailed) as error:
        return _settled_page(view, request, merged, form, error)
    return view.redirect("branches", done=oid)


def _has_moved(request: MergeRequest, form: Mapping[str, str]) -> bool:
    """Whether a branch of the merge has changed since the page with the form was shown."""
    return any(form.get(name) != value for name, value in request.fields.items())


def _moved_page(view: View, request: MergeRequest, form: Mapping[str, str]) -> Response:
    """The page of the merge as it is now, with the reason that it has changed since the form was shown."""
    words = view.t("One of the branches moved meanwhile: this is what it is now")
    return _merge_page(view, request, 409, words, form)


def _line_choices(form: Mapping[str, str]) -> dict[str, Choice]:
    """The choice for each line with a finding of the gate, by `GateLine.key`."""
    return {
        key.removeprefix(GATE_FIELD): Choice(value)
        for key, value in form.items()
        if key.startswith(GATE_FIELD) and value in list(Choice)
    }


Outcome = Mapping[str, tuple[bytes | None, bytes | None]]  # path -> (bytes before the merge, bytes after it)


def _settled_page(
    view: View, request: MergeRequest, merged: Outcome, form: Mapping[str, str], refused: GitMemError | None = None
) -> Response:
    """What the merge makes of every file, the gate's findings in that, and at most MAX_RIVALS new facts that others
    contradict. `refused`: why the commit was refused, with status 422."""
    fields = {key: visible(value) for key, value in form.items() if not key.startswith(GATE_FIELD)} | {"shown": "yes"}
    files = [FileDiff(path, tuple(diff_lines(*sides))) for path, sides in merged.items() if sides[0] != sides[1]]
    differs: list[str] = []
    if MEMORY in merged:
        old_data, new_data = (data or b"" for data in merged[MEMORY])
        differs = [placed_sentence(rival) for rival in rivals_between(old_data, new_data, view.today)[:MAX_RIVALS]]
    gate_rows = _found(view, merged)
    return view.render(
        "settled.html", 422 if refused else 200, asked=request, shown=request.shown, files=view.mask(files),
        fields=fields, differs=differs, found=gate_rows, refused=refused, taken=False, form=form,
        stopped=_is_blocked(request, gate_rows, {}), allowing=_allowing(view, request, form),
    )  # fmt: skip


def _is_blocked(request: MergeRequest, gate_rows: Sequence[GateLine], choices: Mapping[str, Choice]) -> bool:
    """Whether the gate would refuse the commit, because of a line for which the page offers a choice that was not made.
    A merge that was begun in a terminal offers none: the gate runs when it is ended."""
    return request.address == "branches/merge" and any(row.blocks and row.key not in choices for row in gate_rows)


def _found(view: View, merged: Outcome) -> list[GateLine]:
    """The gate's findings in what the merge makes of the files."""
    return gate_lines(view.repo, merged, view.now.date())


def _take_over(
    view: View, form: Mapping[str, str], request: MergeRequest, merged: Outcome, choices: Mapping[str, Choice]
) -> Response:
    """Take over the files of the branch without the chosen lines, in one commit: show the preview, or commit the
    preview whose token the form has."""
    gate_rows = _found(view, merged)
    if not set(choices) <= {row.key for row in gate_rows}:
        return _merge_page(view, request, 409, view.t("This finding is not as it was shown any more"), form)
    plan = takeover_plan(request.shown.name, request.shown.tip, merged, gate_rows, choices)
    if not form.get("taken"):
        pending = preview(view.repo, plan)
        fields = {key: visible(value) for key, value in form.items()} | {"taken": pending.token, "shown": ""}
        return view.render(
            "settled.html", asked=request, shown=request.shown, files=view.mask(pending.files), fields=fields,
            differs=(), found=gate_rows, refused=None, taken=True, form=form,
            stopped=_is_blocked(request, gate_rows, choices), allowing=_allowing(view, request, form),
        )  # fmt: skip
    try:
        _, oid = commit_previewed(view.repo, plan, form["taken"])
    except Changed as error:
        return _merge_page(view, request, 409, error.message, form)
    except (Refused, GitFailed) as error:
        return _settled_page(view, request, merged, form, error)
    return view.redirect("branches", done=oid)


def allow(view: View, form: dict[str, str]) -> Response:
    """Allow the gate's findings in one line of a branch until a day: show the preview, or commit it.

    The commit goes to the current branch, since the exceptions of a branch do not count for the branch itself.
    """
    request = _branch_request(view, form.get("branch", ""))
    if _has_moved(request, form):
        return _moved_page(view, request, form)
    try:
        contents = _settled_contents(view, request.shown, form)
    except (Refused, UsageError):  # some conflicts are not settled yet: the lines of the branch as they are
        contents = {}
    merged = branch_merge.outcome(view.repo, request.shown, contents)
    row = next((row for row in _found(view, merged) if row.key == form.get("line")), None)
    if row is None:
        return _merge_page(view, request, 409, view.t("This finding is not as it was shown any more"), form)
    try:
        decision = read_decision(view, form)
        plan = allow_line_plan(view.repo, view.config, merged[row.path][1] or b"", row, decision)
        if not form.get("shown"):
            pending = preview(view.repo, plan)
            fields = {key: visible(value) for key, value in form.items()} | {
                "salt": decision.salt,
                "shown": pending.token,
            }
            return view.render(
                "decision.html", title="Allow this finding", address="branches/allow", fields=fields, back=request.back,
                shown=view.mask(without_fingerprints(pending)),
            )  # fmt: skip
        _, oid = commit_previewed(view.repo, plan, form["shown"])
    except Changed as error:
        return _merge_page(view, request, 409, view.t(error.message), form)
    except (Refused, GitFailed, UsageError) as error:
        return _merge_page(view, request, refusal_status(error), view.t(error.message), form)
    return view.redirect("branches", branch=request.shown.name, done=oid, **_choices(form))


def _settled_contents(view: View, merge: branch_merge.BranchMerge, form: Mapping[str, str]) -> dict[str, bytes]:
    """The files that both sides changed, as the form settles their conflicts. Raises UsageError if a conflict has no
    choice, Refused if the gate refuses a typed text."""
    return branch_merge.settled(merge, {conflict.number: _choice(view, conflict, form) for conflict in merge.conflicts})


def _choice(view: View, conflict: branch_merge.Conflict, form: Mapping[str, str]) -> str | Sequence[str]:
    """The choice for a conflict: the name of a side, "" if none was made, or the lines of the item with the text that a
    person wrote. Raises UsageError for a written text if the conflict is not of one fact or the text is no item,
    Refused by the gate."""
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
