"""A context of what repositories of the shared index say: the layers of `context/`, read from the mirrors, with what
the shared search finds. It has no session and no person's memory: those are where the agent is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from gitmem.context import scopes
from gitmem.context.assembly import Context, Scope, assemble
from gitmem.context.layers import Recalled, RecalledHit
from gitmem.context.request import request_of
from gitmem.gate.quoting import without_secrets
from gitmem.memory.document import Document
from gitmem.models.token_count import BUILT_IN, count_of
from gitmem.search import validity
from gitmem.search.search import Query
from gitmem.server.shared_search import Searched, Shared

RECALLED = 20  # hits that a layer chooses from


def context_of(
    shared: Shared, tenant: int, named: Sequence[Searched], permitted: Sequence[int] | None, asked: tuple[str, int],
    now: datetime,
) -> tuple[Context, list[int]]:  # fmt: skip
    """The context for a prompt and its budget (0: the usual one): of the branches that are `named`, each with its
    files; without any, of what a search over all that is permitted finds; and the numbers of the repositories that were
    read. Raises UsageError for a budget that is none.
    """
    prompt, budget = asked
    read = {one.repository for one in named}
    with ExitStack() as stack:
        known = []
        for one in named:
            repo = stack.enter_context(shared.mirrors.lent(tenant, one.repository))
            scope = scopes.project(repo, shared.config, now, name=one.name, commit=one.commit)
            found = recall(shared, tenant, [one.repository], now, read)
            known.append(replace(scope, read=without_secret_lines(scope.read), recall=found))
        if not named:
            known.append(Scope("shared", recall=recall(shared, tenant, permitted, now, read, whole=True)))
        request = request_of(shared.config, prompt, budget=budget or None)
        made = assemble(known, replace(request, count=count_of(BUILT_IN), tokenizer=BUILT_IN), now)
    return made, sorted(read)


def recall(
    shared: Shared, tenant: int, permitted: Sequence[int] | None, now: datetime, read: set[int], *, whole: bool = False
) -> Callable[[str], Recalled]:
    """The hits of the shared search as a layer wants them; with `whole` a path names its repository. Adds to `read`
    the numbers of the repositories that were searched."""

    def found(asked: str) -> Recalled:
        answer, searched = shared.search(
            tenant, permitted, Query(asked, limit=RECALLED, everything=True, promoted_lines=True), now
        )
        read.update(searched)
        hits = [
            RecalledHit(
                path=f"{hit.repository}/{hit.path}" if whole else hit.path, start_line=hit.start_line,
                end_line=hit.end_line, heading=hit.heading, text=hit.text, score=hit.score,
                day=validity.day(hit.date), until=hit.until, code=hit.code,
            )
            for hit in answer.hits
        ]  # fmt: skip
        return Recalled(hits, answer.chunks)

    return found


def without_secret_lines(read: Callable[[str], Document | None]) -> Callable[[str], Document | None]:
    """The documents of `read`, lines with a secret withheld."""

    def masked(path: str) -> Document | None:
        document = read(path)
        if not document:
            return None
        return replace(document, lines=tuple(without_secrets(list(document.lines))))

    return masked
