"""`git mem confirm`: says that a fact is still true of the code that it cites, and anchors its citations anew.

Nothing else moves an anchor. The commit changes the comment of one fact and carries `Memory-Confirmed` with the commit
whose code was read. An agent must quote the code; a person need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.claims import citations
from gitmem.claims.anchoring import ensure_quoted, make_citation
from gitmem.claims.citations import KEY, MAX_CITATIONS_PER_FACT, PROPOSED, Citation, compose
from gitmem.claims.finding import State
from gitmem.claims.history import History
from gitmem.claims.tree import Tree
from gitmem.config import Config
from gitmem.errors import UsageError
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta
from gitmem.memory.percent_encoding import encode
from gitmem.provenance import trailers
from gitmem.provenance.corrections import fact_at


class Confirmation(NamedTuple):
    """The result of `confirm`. `fact`: the fact with its old citations, at `path`. `places`: the code that it cites
    now. `commit`: the oid of the commit that was made."""

    path: str
    fact: Fact
    places: tuple[str, ...]
    commit: str


class ConfirmationRequest(NamedTuple):
    """What `confirm` is given beside the fact.

    `places`: code to cite in place of the old places; () keeps these. `quote`: the code that an agent read; a person
    need not give it. `reason`: why, for the commit. `agent`: "" for a person.
    """

    places: tuple[str, ...] = ()
    quote: str = ""
    reason: str = ""
    agent: str = ""


def confirm(repo: Repository, config: Config, path: str, line: int, request: ConfirmationRequest) -> Confirmation:
    """Commit new anchors for the citations of the fact at `path`:`line`, which says that the fact still holds. Proposed
    citations of the fact are dropped; if it has no others, they become its citations.

    Raises UsageError for too many places, a place that does not exist, a fact that cites no code, cited lines that
    changed, or if no anchor would move; MissingFile or UnknownFact when there is no such fact; GitMemError when an
    agent's quotation is not in the code, the file has uncommitted edits, or a merge or rebase is in progress; Refused
    when the gate refuses the reason; Changed when somebody wrote meanwhile; GitFailed when a hook refuses. Nothing is
    written then.
    """

    def plan(reading: Reading) -> CommitDraft[tuple[Fact, tuple[str, ...]]]:
        memory, entry = fact_at(reading, config, path, line)
        new_citations = _anchored_citations(repo, entry.fact, request.places)
        if request.agent:
            ensure_quoted(repo, new_citations, request.quote)
        other_pairs: Meta = tuple(pair for pair in entry.fact.meta if pair[0] not in (KEY, PROPOSED))
        meta = (*other_pairs, *((KEY, compose(citation)) for citation in new_citations))
        if meta == entry.fact.meta:
            raise UsageError("its citations stand as they are", "nothing is to be confirmed")
        changed = memory_facts.with_comment(memory, entry, meta)
        places = tuple(citation.place for citation in new_citations)
        message = _message(repo, config, path, entry.fact, request)
        return CommitDraft({path: changed.data()}, (entry.fact, places), message)

    (fact, places), oid = commit(repo, plan)
    return Confirmation(path, fact, places, oid)


def _anchored_citations(repo: Repository, fact: Fact, places: Sequence[str]) -> list[Citation]:
    """Citations of `places`, or of the places that the fact cites now, anchored at the present code.

    Raises UsageError for more than MAX_CITATIONS_PER_FACT `places`, for a fact that cites no code, and for a cited
    place that is gone or whose lines changed (a cited symbol may change).
    """
    if places:
        if len(places) > MAX_CITATIONS_PER_FACT:
            raise UsageError(
                f"a fact cites at most {MAX_CITATIONS_PER_FACT} places", "cite the ones that would make it false"
            )
        return [make_citation(repo, place) for place in places]
    old_citations = citations.citations_of(fact) or citations.citations_of(fact, PROPOSED)
    if not old_citations:
        raise UsageError("the fact cites no code", "name it: --cites src/auth.py:10-24")
    tree = Tree(repo, repo.head() or "")
    code = citations.TreeCode(tree, History(repo, tree))
    new_citations = []
    for citation in old_citations:
        verdict = citations.verdict(citation, code)
        if verdict.state is State.GONE or (verdict.state is State.CHANGED and not citation.symbol) or not verdict.path:
            raise UsageError(f"{citation.place}: {verdict.words}", "name the lines that say it now: --cites PATH:LINES")
        if citation.symbol:
            place = f"{verdict.path}#{citation.symbol}"
        else:
            place = f"{verdict.path}:{verdict.start}-{verdict.end}"
        new_citations.append(make_citation(repo, place))
    return new_citations


def _message(repo: Repository, config: Config, path: str, fact: Fact, request: ConfirmationRequest) -> str:
    """The message of the commit. Raises Refused when the gate refuses the reason."""
    from gitmem.gate.policy import MESSAGE
    from gitmem.gate.redaction import refuse_or_mask_text

    reason = ""
    if request.reason:
        reason = refuse_or_mask_text(" ".join(request.reason.split()), MESSAGE, config)
    body = f"memory: confirm 1 fact\n\n- {encode(path)}:{fact.line} {fact.id}"
    stands = f"{fact.id} @ {(repo.head() or '')[:12]}"
    return trailers.with_record(body, trailers.CommitRecord(confirmed=(stands,), agent=request.agent, reason=reason))
