"""The page that tries a prompt: the context that it would get now, part by part, within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.environment import cache_folder
from gitmem.ui.charts import stacked_bar
from gitmem.ui.pages.sessions import LAYERS
from gitmem.ui.rendering import first_that_fit
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.context.layers import Part

MAX_BUDGET_TOKENS = 100_000
MAX_DROPPED_PARTS = 40  # listed
MAX_TEXT_BYTES = 24_000  # of the parts on the page
MAX_DROPPED_TEXT_BYTES = 8_000  # of the dropped parts on the page


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of a context. `first`, `last`: its lines (1-based) in `path`. `problem`: why it was left out, "" for a
    part of the context."""

    layer: str
    heading: str
    text: str
    path: str
    first: int
    last: int
    tokens: int
    relevance: float
    scope: str
    problem: str = ""


def page(view: View) -> Response:
    """The context of `prompt`, or for the file `for`; without both only the form. `budget` is 1 to MAX_BUDGET_TOKENS.
    Of the parts left out at most MAX_DROPPED_PARTS are shown."""
    prompt, subject = view.fields.get("prompt", "").strip(), view.fields.get("for", "").strip()
    budget = min(max(1, view.number("budget", view.config.context_budget)), MAX_BUDGET_TOKENS)
    if not prompt and not subject:
        return view.render("prompt.html", prompt="", subject="", budget=budget, context=None)
    from gitmem.context.request import build_context, repository_path, request_of

    subjects: tuple[str, ...] = (repository_path(view.repo, subject),) if subject else ()
    request = request_of(view.config, prompt, budget=budget, subjects=subjects)
    context = build_context(
        view.repo, view.config, request, view.now, view.snapshot.commit, environ=view.repo.environ, cache=cache_folder()
    )
    tokens: dict[str, float] = {}
    for part in context.parts:
        tokens[part.layer.value] = tokens.get(part.layer.value, 0) + part.tokens
    quotation = context.tokens - sum(tokens.values())  # the text around the parts
    if quotation > 0:
        tokens["quotation"] = quotation
    parts = [_part_row(part) for part in context.parts]
    dropped = [_part_row(part, reason) for part, reason in context.dropped[:MAX_DROPPED_PARTS]]
    return view.render(
        "prompt.html", prompt=prompt, subject=subject, budget=budget, context=context, count=len(parts),
        pieces=stacked_bar(tokens, max(context.budget, context.tokens), LAYERS),
        parts=first_that_fit(parts, lambda part: part.text, MAX_TEXT_BYTES),
        dropped=first_that_fit(dropped, lambda part: part.text, MAX_DROPPED_TEXT_BYTES),
        scopes=[(scope.name, scope.error or scope.note) for scope in context.scopes if scope.error or scope.note],
    )  # fmt: skip


def _part_row(part: Part, problem: str = "") -> PartRow:
    return PartRow(
        part.layer.value, " > ".join(part.trail) or part.label, part.content, part.path, part.start_line,
        part.end_line, part.tokens, part.relevance, part.scope, problem,
    )  # fmt: skip
