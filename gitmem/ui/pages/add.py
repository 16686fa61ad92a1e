"""The page on which a person adds a fact: a form, a preview of the commit with the facts that the new one repeats or
may contradict, and the commit. It writes as `git mem add --to memory --commit` does.

What was typed survives every refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.gate.exceptions import parse_date
from gitmem.gate.quoting import visible
from gitmem.git.transaction import Reading
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Meta, fact_id, parse_span
from gitmem.memory.new_statements import between
from gitmem.memory.rivals import MEMORY
from gitmem.memory.writing import FACT_TYPES, Added, NewLine, committed_addition
from gitmem.messages import Message
from gitmem.paths import log_date
from gitmem.provenance.corrections import one_line
from gitmem.provenance.grounding import unsupported
from gitmem.provenance.named_source import source_keys
from gitmem.provenance.preview import Plan, commit_previewed, preview
from gitmem.provenance.trailers import message_of_line
from gitmem.ui.pages.fact_changes import found_in
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.memory.rivals import Rival

Form = dict[str, str]
FIELDS = ("text", "type", "until", "source", "beside")  # what a person gives; `beside`: ids with a comma between them
TOKEN = "shown"  # the field that says which preview a person saw
MOST_BESIDE = 20  # facts that a new one is said to hold beside
_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact that the new one repeats or may contradict: `kind` is the relation ("same", "replaces", "ends",
    "conflicts"), `text` and `line` are those of the fact in MEMORY.md."""

    kind: str
    id: str
    text: str
    line: int


def page(view: View) -> Response:
    """The empty form, or the one that the address fills in (`text`)."""
    if not view.changes:
        return view.render("error.html", 403, title=view.t("Nothing can be changed: this is read-only"), hint="")
    return _form_page(view, {"text": view.fields.get("text", "")}, None)


def change(view: View, form: Form) -> Response:
    """A preview of what was typed, then the commit of what the preview showed."""
    typed = {name: form.get(name, "").strip() for name in FIELDS}
    typed["text"] = visible(" ".join(typed["text"].split()))
    try:
        plan = _plan(view, typed)
        if not form.get(TOKEN):
            return _preview_page(view, typed, plan)
        (added, _), oid = commit_previewed(view.repo, plan, form[TOKEN])
    except Changed:
        return _after_a_change(view, typed)
    except (Refused, GitFailed, UsageError) as error:
        return _form_page(view, typed, error)
    return view.redirect("fact", fact_id(added.text), path=added.path, done=oid)


def _plan(view: View, typed: Form) -> Plan[tuple[Added, bool]]:
    """The plan of adding what was typed. Raises UsageError, Refused."""
    kind = typed["type"]
    if kind and kind not in FACT_TYPES:
        raise UsageError(Message("'{}' is no type of fact", kind[:40]), "choose one of the list")
    if typed["until"]:
        keys = [("until", _last_day(typed["until"], view.today).isoformat())]
    else:
        keys = []
    beside = [("beside", ident) for ident in _beside(typed)]
    more: Meta = (*keys, *source_keys(view.repo, view.config, typed["source"]), *beside)
    line = NewLine(one_line(typed["text"]), kind, to="memory", more=more)
    agent = view.config.agent
    return committed_addition(
        view.repo, view.config, line, lambda text: message_of_line(text, agent), now=view.now
    )  # fmt: skip


def _last_day(text: str, today: date) -> date:
    """The day that was typed. Raises UsageError for no day and for one that has passed."""
    day = parse_date(text)
    if day < today:
        raise UsageError(Message("{} has passed: the fact would be over already", day), "choose a later day, or none")
    return day


def _beside(typed: Form) -> Sequence[str]:
    idents = [ident for ident in typed["beside"].split(",") if _ID.fullmatch(ident)]
    return list(dict.fromkeys(idents))[:MOST_BESIDE]


def _preview_page(view: View, typed: Form, plan: Plan[tuple[Added, bool]], status: int = 200) -> Response:
    shown = preview(view.repo, plan)
    reading = Reading(view.repo)
    draft = plan(reading)
    added, others = draft.result
    found = between(reading.raw(MEMORY) or b"", draft.contents.get(MEMORY) or b"", view.today)
    unlike = _unlike_its_source(view, added.text, typed["source"])
    typed = typed | {"text": added.text}  # with the gate's own masks
    return view.render(
        "add_preview.html", status, shown=view.mask(shown), fields=typed | {TOKEN: shown.token}, typed=typed,
        masks=added.masks, others=others, unlike=unlike, asked=view.mask([_asked(rival) for rival in found]),
    )  # fmt: skip


def _unlike_its_source(view: View, text: str, place: str) -> str:
    """Why a text does not follow from the lines of memory that are named as its source, "" where it does, and where
    none are named."""
    spans = [span for key, value in source_keys(view.repo, view.config, place) if key == "src"
             and (span := parse_span(value))]  # fmt: skip
    reading = Reading(view.repo)
    for span in spans:
        lines = blob_lines(reading.read(span.path) or b"")[span.start_line - 1 : span.end_line]
        day = log_date(span.path)
        if problem := unsupported(text, lines, [day] if day else []):
            return problem
    return ""


def _asked(rival: Rival) -> Asked:
    return Asked(rival.kind, rival.old.fact.id, rival.old.fact.text, rival.old.fact.line)


def _after_a_change(view: View, typed: Form) -> Response:
    """The preview on what is there now, or where there is none any more the form; 409."""
    try:
        return _preview_page(view, typed, _plan(view, typed), 409)
    except GitMemError as error:
        return _form_page(view, typed, error, 409)


def _form_page(view: View, typed: Form, error: GitMemError | None, status: int = 0) -> Response:
    """The form as it was filled in, below the reason of a refusal: 422, or 400 for what does not fit."""
    if isinstance(error, Refused):
        found = found_in(typed.get("text", ""), MEMORY)
    else:
        found = ()
    refused = 422
    if isinstance(error, UsageError):
        refused = 400
    return view.render(
        "add.html", status or (refused if error else 200), typed=typed, kinds=FACT_TYPES, found=found,
        by_hook=isinstance(error, GitFailed), problem=view.t(error.message) if error else "",
        hint=view.t(error.hint) if error else "",
    )  # fmt: skip
