"""The changes of one fact. Each is shown as a diff first, and made only on what was shown: compare and swap by the
blob of its file when the form was written, then by the token of the preview. The flows are those of the commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.gate.exceptions import parse_date
from gitmem.gate.quoting import visible
from gitmem.gate.redaction import Mask
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import fact_id
from gitmem.memory.files import memory_paths
from gitmem.provenance import corrections, erasure, lifetimes
from gitmem.provenance.present_facts import PresentFact
from gitmem.provenance.preview import Plan, Preview, commit_previewed, preview
from gitmem.review.fact_diff import compare
from gitmem.sessions.working_memory import drop_saying
from gitmem.ui.rendering import file_key
from gitmem.ui.view import OID, View

Form = dict[str, str]
TOKEN = "shown"  # the field that says which preview a person saw
MARK = re.compile(r"\[[^\[\]]*\]")  # what may be the mark of a mask


@dataclass(frozen=True, slots=True)
class Action:
    """A change of a fact: its words, its plan for the fact in its file, whether a reason must be given."""

    title: str
    plan: Callable[[View, PresentFact, Form], Plan[Any]]
    needs_reason: bool = True


def _edit(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return corrections.edit_plan(view.config, row.path, row.fact.line, form["text"], form["reason"])


def _supersede(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    day = view.now.date()
    return corrections.supersede_plan(view.config, row.path, row.fact.line, form["text"], form["reason"], day)


def _forget(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return corrections.forget_plan(view.config, row.path, row.fact.line, form["reason"])


def _everywhere(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return erasure.everywhere_plan(view.config, row.path, row.fact.line, form["reason"])


def _pin(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return lifetimes.pin_plan(view.config, row.path, row.fact.line, True, form["reason"])


def _unpin(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return lifetimes.pin_plan(view.config, row.path, row.fact.line, False, form["reason"])


def _until(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    day = None
    if form.get("until"):
        day = parse_date(form["until"])
    return lifetimes.until_plan(view.config, row.path, row.fact.line, day, form["reason"])


def _over(view: View, row: PresentFact, form: Form) -> Plan[Any]:
    return lifetimes.over_plan(view.config, row.path, row.fact.line, view.now.date(), form["reason"])


ACTIONS: Mapping[str, Action] = {  # address below "fact/" -> what it does
    "edit": Action("Edit this fact", _edit),
    "supersede": Action("Replace this fact", _supersede),
    "forget": Action("Forget this fact here", _forget),
    "everywhere": Action("Forget this fact everywhere", _everywhere),
    "pin": Action("Pin this fact", _pin, needs_reason=False),
    "unpin": Action("Take the pin out", _unpin, needs_reason=False),
    "until": Action("Set its last day", _until, needs_reason=False),
    "over": Action("Not true any more", _over),
}


def change_of(name: str) -> Callable[[View, Form], Response]:
    """What answers the form of one action: a preview, then the commit of what it showed."""

    def change(view: View, form: Form) -> Response:
        asked = _with_unseen_fields(form)
        row = _row(view, asked)
        if row is None:
            return _conflict_page(view, name, asked)
        try:
            _ensure_reason(view, ACTIONS[name], asked)
            plan, masks = _plan(view, name, row, asked)
            if not asked.get(TOKEN):
                return _preview_page(view, name, asked, preview(view.repo, plan), masks=masks, path=row.path)
            done, oid = commit_previewed(view.repo, plan, asked[TOKEN])
        except Changed:
            return _conflict_page(view, name, asked)
        except (Refused, GitFailed, UsageError) as error:
            return _refused_page(view, name, asked, row, error)
        if name == "everywhere":
            erasure.drop_kept_texts(view.repo)
            drop_saying(view.repo.common_dir, done.texts)
        if name in ("forget", "everywhere"):
            return view.redirect("facts", done=oid)
        if name in ("edit", "supersede"):
            ident = fact_id(asked["text"])
        else:
            ident = row.fact.id
        return view.redirect("fact", ident, path=row.path, done=oid)

    return change


def _refused_page(view: View, name: str, form: Form, row: PresentFact, error: GitMemError) -> Response:
    """Why a change was not made, in words, with the form as it was filled in: 422, or 400 for words that do not fit."""
    fields = {key: value for key, value in form.items() if key not in (TOKEN, "text", "reason", "until")}
    typed = {key: form[key] for key in ("text", "reason", "until") if key in form}
    by_gate = isinstance(error, Refused) and bool(found := found_in(typed.get("text", ""), row.path))
    return view.render(
        "refused.html", 400 if isinstance(error, UsageError) else 422, title=ACTIONS[name].title, fields=fields,
        address=f"fact/{name}", typed=typed, found=found if by_gate else (), by_hook=isinstance(error, GitFailed),
        problem=view.t(error.message), hint=view.t(error.hint), back=row,
    )  # fmt: skip


def found_in(text: str, path: str) -> Sequence[str]:
    """What the gate finds in a text for a file, in words, each once."""
    from gitmem.gate.policy import Policy
    from gitmem.gate.scan import scan_text

    return tuple(dict.fromkeys(finding.message for finding in scan_text(text, path, Policy())))


def _plan(view: View, name: str, row: PresentFact, asked: Form) -> tuple[Plan[Any], tuple[Mask, ...]]:
    """The plan of an action for a fact, with the text in `asked` as the gate lets it stand, and its masks."""
    masks: tuple[Mask, ...] = ()
    if name in ("edit", "supersede"):
        if not asked.get(TOKEN):  # what was shown already has the marks of the gate's own masks
            _ensure_no_marks(view, row, asked.get("text", ""))
        gated = corrections.gated_text(asked.get("text", ""), row.path, view.config)
        asked["text"], masks = gated.text, gated.masks
    return ACTIONS[name].plan(view, row, asked), masks


def _ensure_no_marks(view: View, row: PresentFact, text: str) -> None:
    """Raise Refused for a text with a mark that stands for something in the fact: it would be written over that."""
    marks = set(MARK.findall(view.mask(row).fact.text)) - set(MARK.findall(row.fact.text))
    if any(mark in text for mark in marks):
        words = view.t("The text holds the mark of what is masked on this page")
        raise Refused(words, view.t("go back and write what it stands for, or edit the file"))


def _with_unseen_fields(form: Form) -> Form:
    """The fields as they are worked with: what nobody sees is spelled out, so that what is shown is what is written."""
    asked = {**form, "reason": " ".join(visible(form.get("reason", "")).split())}
    if "text" in form:
        asked["text"] = visible(" ".join(form["text"].split()))
    return asked


def _ensure_reason(view: View, action: Action, asked: Form) -> None:
    if action.needs_reason and not asked["reason"]:
        raise UsageError(view.t("A reason is missing"), view.t("go back and say why: it goes into the commit"))


def _row(view: View, form: Form) -> PresentFact | None:
    """The fact that the form was written for, None where its file holds other bytes by now."""
    wanted = form.get("id"), form.get("blob"), form.get("line")
    here = _rows_of_file(view, form)
    return next((row for row in here if (row.fact.id, row.blob, str(row.fact.line)) == wanted), None)


def _rows_of_file(view: View, form: Form) -> Sequence[PresentFact]:
    """The facts of the file that a form names, or the statements of a log or a note; none where it went."""
    key = form.get("file")
    listed = [row for row in view.facts.rows if file_key(row.path) == key]
    if any(row.fact.id == form.get("id") for row in listed):
        return listed
    path = next((path for path in memory_paths(view.repo, view.config) if file_key(path) == key), None)
    if path is None:
        return listed
    return view.statements(path)


def _preview_page(view: View, name: str, form: Form, shown: Preview, status: int = 200, **both: object) -> Response:
    fields = {key: value for key, value in form.items() if key != TOKEN} | {TOKEN: shown.token}
    values: dict[str, Any] = {"was": None, "now": None, "gone": False, "masks": (), "path": "", "back": "", **both}
    return view.render(
        "change.html", status, title=ACTIONS[name].title, address=f"fact/{name}", fields=fields,
        shown=view.mask(shown), **values,
    )  # fmt: skip


def _conflict_page(view: View, name: str, form: Form) -> Response:
    """The fact as the person was shown it and as it is now, with the change on that to look at; 409."""
    was = _earlier(view, form)
    now = _later(view, form, was)
    values = {"was": view.mask(was), "now": view.mask(now), "gone": now is None}
    if now is not None:
        fresh = form | {"id": now.fact.id, "line": str(now.fact.line), "blob": now.blob, "file": file_key(now.path)}
        try:
            plan, masks = _plan(view, name, now, fresh)
            return _preview_page(view, name, fresh, preview(view.repo, plan), 409, masks=masks, **values)
        except GitMemError as error:  # it cannot be made on what is there now: both are shown all the same
            values["problem"] = f"{view.t(error.message)}. {view.t(error.hint)}"
    return view.render(
        "change.html", 409, title=ACTIONS[name].title, address="", fields=form, shown=None, back="", **values
    )


def _earlier(view: View, form: Form) -> PresentFact | None:
    """The fact as it stood in the blob of the form, where Git has that blob."""
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


def _later(view: View, form: Form, was: PresentFact | None) -> PresentFact | None:
    """What has become of the fact in its file: the same text, else what it was changed to; None where it went."""
    here = _rows_of_file(view, form)
    same = next((row for row in here if row.fact.id == form.get("id")), None)
    if same is not None or was is None or not here:
        return same
    path, before = here[0].path, memory_facts.parse(view.repo.read(was.blob)).facts
    changes = compare({path: before}, {path: [row.fact for row in here]}, view.today)
    new = next((each.new for each in changes if each.old is not None and each.old.line == was.fact.line), None)
    if new is None:  # another text altogether: the only one that came with its comment
        came = [each.new for each in changes if each.old is None and each.new is not None]
        own = [fact for fact in came if fact.meta == was.fact.meta]
        new = None
        if len(own) == 1:
            new = own[0]
    return next((row for row in here if new is not None and row.fact.line == new.line), None)
