"""The changes of one fact, made by the same functions as the commands.

Each change is shown as a diff first. It is only made while memory is as it was shown: the form names the blob of the
file when it was written, then the token of the preview.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.gate.exceptions import parse_date
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import Mask
from gitmem.gate.scan import scan_text
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import fact_id
from gitmem.memory.files import memory_paths
from gitmem.provenance import corrections, erasure, lifetimes
from gitmem.provenance.present_facts import PresentFact
from gitmem.provenance.preview import Plan, Preview, commit_previewed, preview
from gitmem.review.fact_diff import compare_facts
from gitmem.sessions.working_memory import delete_containing
from gitmem.ui.rendering import file_key
from gitmem.ui.view import OID, View, typed_line

Form = dict[str, str]
TOKEN = "shown"  # the field with the token of the preview that a person saw
BRACKETED = re.compile(r"\[[^\[\]]*\]")  # may be the mark of a masked part


class Action(NamedTuple):
    """A change of a fact. `title`: of its page."""

    title: str
    needs_reason: bool = True


ACTIONS: Mapping[str, Action] = {  # path below "fact/" -> action
    "edit": Action("Edit this fact"),
    "supersede": Action("Replace this fact"),
    "forget": Action("Forget this fact here"),
    "everywhere": Action("Forget this fact everywhere"),
    "pin": Action("Pin this fact", needs_reason=False),
    "unpin": Action("Take the pin out", needs_reason=False),
    "until": Action("Set its last day", needs_reason=False),
    "over": Action("Not true any more"),
}


def _plan_of(view: View, name: str, row: PresentFact, form: Form) -> Plan[Any]:
    """The plan of one of ACTIONS for a fact."""
    config, path, line, reason, today = view.config, row.path, row.fact.line, form["reason"], view.now.date()
    match name:
        case "edit":
            return corrections.edit_plan(config, path, line, form["text"], reason)
        case "supersede":
            return corrections.supersede_plan(config, path, line, form["text"], reason, today)
        case "forget":
            return corrections.forget_plan(config, path, line, reason)
        case "everywhere":
            return erasure.everywhere_plan(config, path, line, reason)
        case "pin" | "unpin":
            return lifetimes.pin_plan(config, path, line, name == "pin", reason)
        case "until":
            last_day = parse_date(form["until"]) if form.get("until") else None
            return lifetimes.until_plan(config, path, line, last_day, reason)
        case _:
            return lifetimes.end_plan(config, path, line, today, reason)


def change(view: View, form: Form, name: str) -> Response:
    """Make one of ACTIONS: show the preview, or commit the preview whose token the form has. A refusal, such as for a
    missing reason, is a page with the form as it was filled in; if the fact's file has changed since the form was
    shown, the page shows both versions (status 409)."""
    title, needs_reason = ACTIONS[name]
    form = _with_visible_text(form)
    row = _row(view, form)
    if row is None:
        return _conflict_page(view, name, form)
    try:
        if needs_reason and not form["reason"]:
            raise UsageError(view.t("A reason is missing"), view.t("go back and say why: it goes into the commit"))
        plan, masks = _plan(view, name, row, form)
        if not form.get(TOKEN):
            pending = preview(view.repo, plan)
            return change_page(view, title, f"fact/{name}", form, pending, masks=masks, path=row.path)
        result, oid = commit_previewed(view.repo, plan, form[TOKEN])
    except Changed:
        return _conflict_page(view, name, form)
    except (Refused, GitFailed, UsageError) as error:
        return _refused_page(view, name, form, row, error)
    if name == "everywhere":
        erasure.drop_kept_texts(view.repo)
        delete_containing(view.repo.common_dir, result.texts)
    if name in ("forget", "everywhere"):
        return view.redirect("facts", done=oid)
    ident = fact_id(form["text"]) if name in ("edit", "supersede") else row.fact.id
    return view.redirect("fact", ident, path=row.path, done=oid)


def refusal_status(error: GitMemError) -> int:
    """The HTTP status of the response to a change that was refused: 400 for a UsageError, 422 for any other error."""
    return 400 if isinstance(error, UsageError) else 422


def _refused_page(view: View, name: str, form: Form, row: PresentFact, error: GitMemError) -> Response:
    """The reason of a refusal, with the form as it was filled in."""
    fields = {key: value for key, value in form.items() if key not in (TOKEN, "text", "reason", "until")}
    typed = {key: form[key] for key in ("text", "reason", "until") if key in form}
    messages = found_in(typed.get("text", ""), row.path) if isinstance(error, Refused) else ()
    return view.render(
        "refused.html", refusal_status(error), title=ACTIONS[name].title, fields=fields, address=f"fact/{name}",
        typed=typed, found=messages, by_hook=isinstance(error, GitFailed), problem=view.t(error.message),
        hint=view.t(error.hint), back=row,
    )  # fmt: skip


def found_in(text: str, path: str) -> Sequence[str]:
    """The messages of the gate's findings in a text for the file `path`, each once."""
    return tuple(dict.fromkeys(finding.message for finding in scan_text(text, path, Policy())))


def _plan(view: View, name: str, row: PresentFact, form: Form) -> tuple[Plan[Any], tuple[Mask, ...]]:
    """(the plan of an action for a fact, what the gate masked in its new text). Replaces the text in `form` by the
    masked one. Raises Refused for a text with the mark of a masked part, and as `corrections.gated_text`."""
    masks: tuple[Mask, ...] = ()
    if name in ("edit", "supersede"):
        if not form.get(TOKEN):  # after a preview the text has the marks of its own masked parts
            _ensure_no_marks(view, row, form.get("text", ""))
        gated = corrections.gated_text(form.get("text", ""), row.path, view.config)
        form["text"], masks = gated.text, gated.masks
    return _plan_of(view, name, row, form), masks


def _ensure_no_marks(view: View, row: PresentFact, text: str) -> None:
    """Raise Refused for a text with the mark of a masked part of the fact, since the mark would replace that part."""
    marks = set(BRACKETED.findall(view.mask(row).fact.text)) - set(BRACKETED.findall(row.fact.text))
    if any(mark in text for mark in marks):
        words = view.t("The text holds the mark of what is masked on this page")
        raise Refused(words, view.t("go back and write what it stands for, or edit the file"))


def _with_visible_text(form: Form) -> Form:
    """A copy of the form for the preview and the commit, with visible characters only in its text (if any) and its
    reason ("" without one).

    Invisible characters are spelled out, and each run of white space and line breaks becomes one space.
    """
    fields = {**form, "reason": typed_line(form, "reason")}
    if "text" in form:
        fields["text"] = typed_line(form, "text")
    return fields


def _row(view: View, form: Form) -> PresentFact | None:
    """The fact that the form was written for; None when its file has changed since, or the form names no fact."""
    key = form.get("id"), form.get("blob"), form.get("line")
    rows = _rows_of_file(view, form)
    return next((row for row in rows if (row.fact.id, row.blob, str(row.fact.line)) == key), None)


def _rows_of_file(view: View, form: Form) -> Sequence[PresentFact]:
    """The facts of the file that a form names, or all statements of a log or a note; none when the file is gone."""
    key = form.get("file")
    listed = [row for row in view.facts.rows if file_key(row.path) == key]
    if any(row.fact.id == form.get("id") for row in listed):
        return listed
    path = next((path for path in memory_paths(view.repo, view.config) if file_key(path) == key), None)
    if path is None:
        return listed
    return view.statements(path)


def change_page(
    view: View, title: str, address: str, form: Form, shown: Preview | None, status: int = 200, **extra: Any
) -> Response:
    """The preview of a change with a form that commits it. `address`: of the change, such as "fact/edit". `shown`: None
    if the change cannot be made; then the page has no form. `extra`: other values of the template."""
    values = {"was": None, "now": None, "gone": False, "masks": (), "path": "", "back": "", **extra}
    if shown:
        form = form | {TOKEN: shown.token}
    return view.render(
        "change.html", status, title=title, address=address, fields=form, shown=view.mask(shown), **values
    )


def _conflict_page(view: View, name: str, form: Form) -> Response:
    """The fact as the person saw it and as it is now, with the change applied to the latter; status 409."""
    was = _fact_as_shown(view, form)
    now = _current_version(view, form, was)
    title = ACTIONS[name].title
    values = {"was": view.mask(was), "now": view.mask(now), "gone": now is None}
    if now is not None:
        fresh = form | {"id": now.fact.id, "line": str(now.fact.line), "blob": now.blob, "file": file_key(now.path)}
        try:
            plan, masks = _plan(view, name, now, fresh)
            pending = preview(view.repo, plan)
            return change_page(view, title, f"fact/{name}", fresh, pending, 409, masks=masks, **values)
        except GitMemError as error:  # the change cannot be made now; the page shows both versions without it
            values["problem"] = f"{view.t(error.message)}. {view.t(error.hint)}"
    return change_page(view, title, "", form, None, 409, **values)


def _fact_as_shown(view: View, form: Form) -> PresentFact | None:
    """The fact at the line and blob that the form names; its path, state, trust and date are not filled in. None if the
    form names no line, if Git does not have the blob, or if there is no fact at the line."""
    blob, line = form.get("blob", ""), form.get("line", "")
    if not (OID.fullmatch(blob) and line.isascii() and line.isdigit() and len(line) < 8):
        return None
    try:
        entry = memory_facts.parse(view.repo.read(blob)).at(int(line))
    except GitMemError:
        return None
    if not entry:
        return None
    return PresentFact("", blob, entry.fact, entry.end, "", "", "")


def _current_version(view: View, form: Form, was: PresentFact | None) -> PresentFact | None:
    """The fact as it is in its file now: with the same text, else as it was edited; None when it was removed."""
    rows = _rows_of_file(view, form)
    same = next((row for row in rows if row.fact.id == form.get("id")), None)
    if same is not None or was is None or not rows:
        return same
    path, old_facts = rows[0].path, memory_facts.parse(view.repo.read(was.blob)).facts
    changes = compare_facts({path: old_facts}, {path: [row.fact for row in rows]}, view.today)
    new_fact = next((row.new for row in changes if row.old and row.old.line == was.fact.line), None)
    if new_fact is None:  # an entirely different text: the only added fact with the same comment
        added = [row.new for row in changes if not row.old and row.new]
        same_comment = [fact for fact in added if fact.meta == was.fact.meta]
        if len(same_comment) != 1:
            return None
        new_fact = same_comment[0]
    return next((row for row in rows if row.fact.line == new_fact.line), None)
