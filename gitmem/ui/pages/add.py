"""The page that adds a fact: a form, then a preview, then the commit, as `git mem add --to memory --commit` makes it.

The preview shows the diff and the facts that the new one repeats or may contradict. After a refusal the form still has
what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.gate.exceptions import parse_date
from gitmem.git.transaction import Reading
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import fact_id, parse_span
from gitmem.memory.new_statements import rivals_between
from gitmem.memory.rivals import MEMORY
from gitmem.memory.writing import FACT_TYPES, Added, NewLine, one_line, plan_of_committed_addition
from gitmem.messages import Message
from gitmem.paths import log_date
from gitmem.provenance.grounding import support_problem
from gitmem.provenance.named_source import source_keys
from gitmem.provenance.preview import Plan, commit_previewed, preview
from gitmem.provenance.trailers import message_of_line
from gitmem.ui.pages.fact_changes import found_in, refusal_status
from gitmem.ui.view import View, typed_line

Form = dict[str, str]
FIELDS = ("text", "type", "until", "source", "beside")  # that a person fills in; `beside`: ids separated by commas
TOKEN = "shown"  # the field with the token of the preview that a person saw
MAX_BESIDE = 20  # facts beside which a new one holds
_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class RivalFact:
    """An existing fact that the new one repeats or may contradict. `kind`: the relation (same, replaces, ends or
    conflicts). `line`: its line in MEMORY.md."""

    kind: str
    id: str
    text: str
    line: int


def page(view: View) -> Response:
    """The form, with the `text` of the query filled in; an error page (403) if this page cannot make changes."""
    if not view.changes:
        return view.render("error.html", 403, title=view.t("Nothing can be changed: this is read-only"), hint="")
    return _form_page(view, {"text": view.fields.get("text", "")}, None)


def change(view: View, form: Form) -> Response:
    """Show the preview of the new fact, or commit the preview whose token the form has. A refusal shows the form with
    what was typed; if memory has changed since the preview, the preview is shown anew (409)."""
    typed = {name: form.get(name, "").strip() for name in FIELDS} | {"text": typed_line(form, "text")}
    try:
        plan = _plan(view, typed)
        if not form.get(TOKEN):
            return _preview_page(view, typed, plan)
        (added, _), oid = commit_previewed(view.repo, plan, form[TOKEN])
    except Changed:
        return _conflict_page(view, typed)
    except (Refused, GitFailed, UsageError) as error:
        return _form_page(view, typed, error)
    return view.redirect("fact", fact_id(added.text), path=added.path, done=oid)


def _plan(view: View, typed: Form) -> Plan[tuple[Added, bool]]:
    """The plan of the addition. Raises UsageError for an unknown type, a last day that is none, and as `source_keys`
    and `plan_of_committed_addition`; Refused if the gate refuses the line."""
    kind = typed["type"]
    if kind and kind not in FACT_TYPES:
        raise UsageError(Message("'{}' is no type of fact", kind[:40]), "choose one of the list")
    pairs: list[tuple[str, str]] = []
    if typed["until"]:
        pairs.append(("until", _last_day(typed["until"], view.today).isoformat()))
    pairs += source_keys(view.repo, view.config, typed["source"])
    pairs += [("beside", ident) for ident in _beside(typed)]
    line = NewLine(one_line(typed["text"]), kind, to="memory", more=tuple(pairs))
    agent = view.config.agent
    return plan_of_committed_addition(
        view.repo, view.config, line, lambda text: message_of_line(text, agent), now=view.now
    )


def _last_day(text: str, today: date) -> date:
    """The typed day. Raises UsageError for an invalid day and for one in the past."""
    day = parse_date(text)
    if day < today:
        raise UsageError(Message("{} has passed: the fact would be over already", day), "choose a later day, or none")
    return day


def _beside(typed: Form) -> Sequence[str]:
    """The facts of the field `beside`, at most MAX_BESIDE: ids of facts that the person saw and keeps beside the new
    one. Anything that is no id is left out."""
    idents = [ident for ident in typed["beside"].split(",") if _ID.fullmatch(ident)]
    return list(dict.fromkeys(idents))[:MAX_BESIDE]


def _preview_page(view: View, typed: Form, plan: Plan[tuple[Added, bool]], status: int = 200) -> Response:
    """The preview of the new fact: the diff, what the gate masked, the rival facts, and why the named source does not
    support it, if so. Raises the errors of `plan`."""
    previewed = preview(view.repo, plan)
    reading = Reading(view.repo)
    draft = plan(reading)
    added, has_other_edits = draft.result
    rivals = rivals_between(reading.raw(MEMORY) or b"", draft.contents.get(MEMORY) or b"", view.today)
    rival_facts = [RivalFact(row.kind, row.old.fact.id, row.old.fact.text, row.old.fact.line) for row in rivals]
    problem = _source_problem(view, added.text, typed["source"])
    typed = typed | {"text": added.text}  # the gate may have masked parts of it
    return view.render(
        "add_preview.html", status, shown=view.mask(previewed), fields=typed | {TOKEN: previewed.token}, typed=typed,
        masks=added.masks, others=has_other_edits, unlike=problem, asked=view.mask(rival_facts),
    )  # fmt: skip


def _source_problem(view: View, text: str, source: str) -> str:
    """Why the memory lines named by `source` do not support a text; "" when they do, or when `source` names none."""
    reading = Reading(view.repo)
    for key, value in source_keys(view.repo, view.config, source):
        span = parse_span(value)
        if key == "src" and span:
            lines = blob_lines(reading.read(span.path) or b"")[span.start_line - 1 : span.end_line]
            day = log_date(span.path)
            if problem := support_problem(text, lines, [day] if day else []):
                return problem
    return ""


def _conflict_page(view: View, typed: Form) -> Response:
    """The preview on the current memory, or the form when there is none any more; status 409."""
    try:
        return _preview_page(view, typed, _plan(view, typed), 409)
    except GitMemError as error:
        return _form_page(view, typed, error, 409)


def _form_page(view: View, typed: Form, error: GitMemError | None, status: int = 0) -> Response:
    """The form with what was typed, below the reason of a refusal. `error`: None for the form before a refusal (status
    200). `status`: 0 for 400 after a UsageError and 422 after any other error."""
    if error is None:
        return view.render(
            "add.html", typed=typed, kinds=FACT_TYPES, found=(), by_hook=False, problem="", hint=""
        )  # fmt: skip
    findings: Sequence[str] = found_in(typed.get("text", ""), MEMORY) if isinstance(error, Refused) else ()
    return view.render(
        "add.html", status or refusal_status(error), typed=typed, kinds=FACT_TYPES, found=findings,
        by_hook=isinstance(error, GitFailed), problem=view.t(error.message), hint=view.t(error.hint),
    )  # fmt: skip
