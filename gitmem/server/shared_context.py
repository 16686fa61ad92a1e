"""A context for a prompt from repositories of the shared index: the layers of `context/`, with files from the mirrors
and hits of the shared search. Sessions and personal memory are on the agent's machine and have no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from gitmem.context import scopes
from gitmem.context.assembly import Context, assemble
from gitmem.context.context_request import Scope
from gitmem.context.layers import Recalled, RecalledHit
from gitmem.context.request import request_of
from gitmem.gate.quoting import without_secrets
from gitmem.memory.document import Document
from gitmem.memory.state import iso_day
from gitmem.models.token_count import BUILT_IN, count_of
from gitmem.search.search import Query
from gitmem.server.mirror_files import Searched
from gitmem.server.shared_search import SharedSearch

MAX_RECALLED_HITS = 20  # hits from which a layer chooses


def context_of(
    shared: SharedSearch, tenant: int, branches: Sequence[Searched], permitted: Sequence[int] | None, prompt: str,
    budget: int, now: datetime,
) -> tuple[Context, list[int]]:  # fmt: skip
    """(the context, numbers of the repositories that it was read from, sorted).

    `branches`: those whose files and hits are used; if empty, the hits of a search over all `permitted` repositories
    are. `budget`: in tokens, 0 for the configured one. Raises UsageError for an invalid budget, NotARepository if one
    of `branches` has no mirror.
    """
    searched = {branch.repository for branch in branches}
    with ExitStack() as stack:
        read_scopes = []
        for branch in branches:
            repo = stack.enter_context(shared.mirrors.lent(tenant, branch.repository))
            scope = scopes.project_scope(repo, shared.config, now, name=branch.name, commit=branch.commit)
            recalled = recall(shared, tenant, [branch.repository], now, searched)
            read_scopes.append(replace(scope, read=without_secret_lines(scope.read), recall=recalled))
        if not branches:
            read_scopes.append(Scope("shared", recall=recall(shared, tenant, permitted, now, searched, whole=True)))
        context_request = replace(
            request_of(shared.config, prompt, budget=budget or None),
            count_tokens=count_of(BUILT_IN),
            tokenizer=BUILT_IN,
        )
        context = assemble(read_scopes, context_request, now)
    return context, sorted(searched)


def recall(
    shared: SharedSearch, tenant: int, permitted: Sequence[int] | None, now: datetime, searched: set[int], *,
    whole: bool = False,
) -> Callable[[str], Recalled]:  # fmt: skip
    """A function that searches for a layer of a context: text -> at most MAX_RECALLED_HITS hits. With `whole` the path
    of a hit begins with its repository's name. Each call adds the numbers of its repositories to `searched`."""

    def recalled(text: str) -> Recalled:
        query = Query(text, limit=MAX_RECALLED_HITS, everything=True, promoted_lines=True)
        answer, numbers = shared.search(tenant, permitted, query, now)
        searched.update(numbers)
        hits = [
            RecalledHit(
                path=f"{hit.repository}/{hit.path}" if whole else hit.path, start_line=hit.start_line,
                end_line=hit.end_line, heading=hit.heading, text=hit.text, score=hit.score,
                day=iso_day(hit.date), until=hit.until, code=hit.code,
                names=hit.names,
            )
            for hit in answer.hits
        ]  # fmt: skip
        return Recalled(hits, answer.chunks)

    return recalled


def without_secret_lines(read_document: Callable[[str], Document | None]) -> Callable[[str], Document | None]:
    """A function like `read_document` whose documents have a mark in place of each line that holds a secret; None where
    `read_document` returns None."""

    def masked(path: str) -> Document | None:
        document = read_document(path)
        if not document:
            return None
        return replace(document, lines=tuple(without_secrets(list(document.lines))))

    return masked
