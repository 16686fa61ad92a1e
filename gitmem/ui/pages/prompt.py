"""The page of a prompt that is tried: the context it would get now, part by part, within a budget one can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from gitmem.ui.charts import stacked
from gitmem.ui.pages.sessions import LAYERS
from gitmem.ui.rendering import fitting
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.context.layers import Part

MAX_BUDGET_TOKENS = 100_000  # tokens of a budget
DROPPED = 40  # parts left out that are listed
TEXT = 24_000  # bytes of the parts that are shown
DROPPED_TEXT = 8_000  # and of those left out


@dataclass(frozen=True, slots=True)
class Given:
    """A part of a context: its place, what it says, what it takes; `problem` why it was left out."""

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
    """The context of `prompt`; without one only the form."""
    prompt, subject = view.fields.get("prompt", "").strip(), view.fields.get("for", "").strip()
    typed = view.fields.get("budget", "")
    if typed.isascii() and typed.isdigit() and len(typed) < 7:
        budget = int(typed)
    else:
        budget = view.config.context_budget
    budget = min(max(1, budget), MAX_BUDGET_TOKENS)
    if not prompt and not subject:
        return view.render("prompt.html", prompt="", subject="", budget=budget, context=None)
    from gitmem.context.request import build, repository_path, request_of
    from gitmem.environment import cache_folder

    request = request_of(
        view.config, prompt, budget=budget, subjects=(repository_path(view.repo, subject),) if subject else ()
    )
    context = build(
        view.repo, view.config, request, view.now, view.snapshot.commit, environ=view.repo.environ, cache=cache_folder()
    )
    tokens: dict[str, float] = {}
    for part in context.parts:
        tokens[part.layer.value] = tokens.get(part.layer.value, 0) + part.tokens
    around = context.tokens - sum(tokens.values())
    if around > 0:
        tokens |= {"quotation": around}
    parts = [given(part) for part in context.parts]
    dropped = [given(part, why) for part, why in context.dropped[:DROPPED]]
    return view.render(
        "prompt.html", prompt=prompt, subject=subject, budget=budget, context=context, count=len(parts),
        pieces=stacked(tokens, max(context.budget, context.tokens), LAYERS),
        parts=fitting(parts, lambda part: part.text, TEXT),
        dropped=fitting(dropped, lambda part: part.text, DROPPED_TEXT),
        scopes=[(scope.name, scope.error or scope.note) for scope in context.scopes if scope.error or scope.note],
    )  # fmt: skip


def given(part: Part, why: str = "") -> Given:
    """A part as it is shown."""
    return Given(
        part.layer.value, " > ".join(part.trail) or part.label, part.content, part.path, part.start_line,
        part.end_line, part.tokens, part.relevance, part.scope, why,
    )  # fmt: skip
