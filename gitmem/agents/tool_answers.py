"""The MCP tools: each function takes the arguments of a call and returns a text in which everything from memory is
quoted as data.

A model reads the text unchanged, so each passage appears once, with its place; a state, withheld lines or a stale index
are mentioned only if there are any. Texts beside a quotation are one line without markup. Writes pass the gate. Only
`confirm_fact` commits. Each function raises GitMemError, such as UsageError for a wrong argument and Refused by the
gate.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.agents import mcp_tools
from gitmem.agents.repository_pool import RepositoryPool
from gitmem.environment import cache_folder, now
from gitmem.errors import GitMemError, MissingFile, UsageError
from gitmem.gate.quoting import block, fence, one_line, passage, shown_name, without_secrets
from gitmem.json_values import json_object
from gitmem.lazy_patterns import lazy
from gitmem.plural import counted, line_range

if TYPE_CHECKING:
    from gitmem.git.opening import Repository
    from gitmem.memory.rivals import Rival
    from gitmem.review.fact_diff import FactChange
    from gitmem.search.hits import Hit, SourceLine
    from gitmem.search.search import Answer

MAX_LINES = 400  # default number of lines of memory_get
MAX_VALUES = 100  # working values in one result
MAX_CHANGES = 200  # facts in one result of memory_changes
LAST_COMMIT = "HEAD~1..HEAD"
AGENT = "mcp"  # who confirms a fact if `mem.agent` is not set
_LINE_MARKS = lazy(r"^[\s#>*+-]*(?:\d+[.)]\s+)?")  # marks before the words of a heading or an item
CEILING = "the session has had what mem.contextCeiling allows"
SUPPORT = {
    "in-source": "checked: its text follows from the source",
    "shares-words": "its numbers, dates and names are in the source, its words differ",
    "not-in-source": "the source does not say it",
    "edited": "changed after its promotion",
    "no-source": "it names no source",
}
RELATIONS = {"same": "repeats", "replaces": "replaces", "ends": "ends", "conflicts": "contradicts"}


class ToolFailed(GitMemError):
    """An error of the tool `memory`. Its message is the answer for the model, in the words that models were trained
    on."""


def search_memory(pool: RepositoryPool, arguments: mcp_tools.Search) -> str:
    """memory_search: the passages that were found, the best first, and remarks on the result as a whole."""
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.search.request import SearchRequest, history_mode, query_of
    from gitmem.search.search import search

    request = SearchRequest(
        arguments.query, arguments.maxResults, arguments.at,
        paths=tuple(filter(None, [arguments.path])), types=tuple(filter(None, [arguments.type])),
        since=arguments.since, until=arguments.until, history=history_mode(arguments.history),
    )  # fmt: skip
    with pool.lend_open() as opened:
        repo, config = opened.repo, opened.config
        moment, began = now(), time.monotonic()
        query = query_of(request, moment, repo, forgotten_texts(repo))
        answer = search(repo, config, query, moment, opened.kept_index)
        _search_receipt(pool, repo, answer, began)
    commit = "" if answer.at == "worktree" else answer.at
    passages = [
        _commit_passage(hit, query.text) if hit.kind else _file_passage(hit, query.text, commit) for hit in answer.hits
    ]
    parts = [block(passages) if passages else "Memory has nothing on that."]
    if passages and not answer.answered:
        parts.append("None of these seems to answer the question.")
    parts += [f"Note: {one_line(note)}." for note in filter(None, (*answer.notes, answer.hint))]
    if answer.withheld:
        parts.append(f"{counted(answer.withheld, 'line')} with a secret left out.")
    if answer.stale:
        parts.append(f"The index is behind: {one_line(answer.reason) or 'it could not be brought up to date'}.")
    return "\n".join(parts)


def _file_passage(hit: Hit, query: str, commit: str) -> str:
    """A passage of a file with its path and lines, and with its topic and day if neither text nor path has them.
    `commit`: the searched commit, "" for the work tree."""
    from gitmem.search.results import shortened

    text = shortened(hit.text, query)
    date = "" if hit.date in hit.path else hit.date
    trust = "" if hit.trust == "committed" else hit.trust
    note = _note(_topic_words(hit.topic, hit.path, text), date, hit.type, hit.note, *map(_source_place, hit.sources))
    return passage(text, hit.path, (hit.start_line, hit.end_line), commit=commit, trust=trust, note=note)


def _topic_words(topic: str, path: str, text: str = "") -> str:
    """`in 'STEP / STEP'` for the mark of a quotation, without the outer steps that the path says; "" if none is left,
    or if each step is a line of the text. A mark would spell `>` out. `topic`: as the command line prints it
    (`Hit.topic`, `Fact.topic`)."""
    steps = [step for step in topic.split(" > ") if step]
    while steps and steps[0].casefold() in path.casefold():
        del steps[0]
    quoted = {_LINE_MARKS.sub("", line).rstrip(" #:：") for line in text.split("\n")}
    if quoted.issuperset(steps):
        return ""
    return f"in '{' / '.join(steps)}'"


def _source_place(source: SourceLine) -> str:
    """The place of the lines that a fact was promoted from. Their text is left out, because the fact repeats it."""
    return f"from {shown_name(source.path)}:{line_range(source.start_line, source.end_line)}"


def _note(*words: str) -> str:
    """The note beside a passage: the words that are not empty, each on one line without markup."""
    return "; ".join(one_line(word) for word in words if word)


def _commit_passage(hit: Hit, query: str) -> str:
    """A passage of the history: a line that a commit wrote, with the commit's author, day and subject."""
    from gitmem.search.results import shortened

    state = f"{hit.state} by {hit.by[:12]}" if hit.by else hit.state
    text = f"{hit.author}, {hit.date}: {hit.subject}\n{shortened(hit.text, query)}"
    return passage(text, "", commit=hit.commit, note=_note("history", state))


def _search_receipt(pool: RepositoryPool, repo: Repository, answer: Answer, began: float) -> None:
    """Record the receipt of a search: its tokens, duration and ids of passages, without text. `began`: seconds of the
    monotonic clock."""
    from gitmem.models.token_count import estimate
    from gitmem.sessions import receipts

    tokens = {receipts.SEARCH: sum(estimate(hit.text) for hit in answer.hits)}
    duration, parts = round(1000 * (time.monotonic() - began)), [hit.id for hit in answer.hits]
    receipts.append(repo.common_dir, receipts.Receipt(now(), pool.session, receipts.SEARCH, duration, tokens, parts))


def read_file(pool: RepositoryPool, arguments: mcp_tools.Get) -> str:
    """memory_get: lines of a file, at most MAX_LINES without `lines`, and the number of lines if there are more. For a
    missing file the text says so. Raises UsageError for a first line after the end, UnknownRevision."""
    from gitmem.git.revision import resolve_at
    from gitmem.memory.show import read
    from gitmem.memory.snapshot import sparse_memory_paths
    from gitmem.provenance.forgotten_texts import forgotten_texts

    path, first_line, revision = arguments.path, arguments.from_ or 1, arguments.at
    with pool.lend() as (repo, config):
        commit = resolve_at(repo, revision, now()) if revision else ""
        try:
            lines = read(repo, config, path, commit, forgotten_texts(repo)).lines
        except MissingFile:
            if not commit and path in sparse_memory_paths(repo, config.memory_paths):
                return f"'{shown_name(path)}' is left out of this sparse checkout; at 'HEAD' has it."
            return f"There is no memory file '{shown_name(path)}'."
    if first_line > max(1, len(lines)):
        raise UsageError(f"'{path}' has {counted(len(lines), 'line')}", "ask from one of these")
    last_line = min(len(lines), first_line + (arguments.lines or MAX_LINES) - 1)
    text = "\n".join(without_secrets(lines)[first_line - 1 : last_line])
    if not text:
        return f"'{shown_name(path)}' is empty there ({counted(len(lines), 'line')})."
    size_note = f"\nThe file has {counted(len(lines), 'line')}." if last_line < len(lines) else ""
    return fence(text, path, (first_line, last_line), commit=commit) + size_note


def add_line(pool: RepositoryPool, arguments: mcp_tools.Add) -> str:
    """memory_add: write a line to today's log. Returns the place of the new line, the masks in it, and the facts that
    it repeats, replaces or contradicts. With `supersedes` the answer says whether the next promotion or a person
    replaces that fact by the line. Raises UsageError for an unknown type and for code that cannot be cited, Refused by
    the gate."""
    from gitmem.claims.anchoring import citation_pairs
    from gitmem.memory import writing
    from gitmem.memory.fact import TYPES
    from gitmem.memory.successor import successor

    text, kind, supersedes = arguments.text, arguments.type or "note", arguments.supersedes
    if kind not in TYPES:
        raise UsageError(f"'{one_line(kind)[:40]}' is no type", f"one of {', '.join(TYPES)}")
    with pool.lend() as (repo, config):
        successor_pairs, reason = successor(repo, text, kind, supersedes, now().date()) if supersedes else ((), "")
        pairs = (*citation_pairs(repo, _cited_places(arguments.cites)), *successor_pairs)
        line = writing.NewLine(text, kind, to="daily", origin="agent", more=pairs)
        added = writing.add(repo, config, line, now=now())
    parts = [f"Written: {shown_name(added.path)}:{added.line}.{_masks_sentence(added.masks)}"]
    if added.ignored:
        parts.append("Git ignores this file: the line is not searched, and a person has to take the rule out.")
    if reason:
        parts.append(f"A person decides whether it replaces fact {one_line(supersedes)}: {one_line(reason)}.")
    elif successor_pairs:
        parts.append(f"The next promotion replaces fact {one_line(successor_pairs[0][1])} by it.")
    if added.differs:
        parts += ["Other facts on this, which all stay:", block([_rival_passage(rival) for rival in added.differs])]
    return "\n".join(parts)


def _cited_places(cites: Sequence[Any]) -> list[str]:
    """The code that a call cites, each as `path:10-24` or `path#symbol`. Objects are accepted too, as in older
    versions."""
    from gitmem.claims.anchoring import places_of

    return [place for cited in cites for place in ([cited] if isinstance(cited, str) else places_of([cited]))]


def _masks_sentence(masks: Sequence[Any]) -> str:
    """A sentence that counts the values that the gate masked, by rule; "" for none."""
    from gitmem.gate.redaction import mask_counts

    counts = mask_counts(masks)
    if not counts:
        return ""
    rules = ", ".join(f"{one_line(rule)} {count}" for rule, count in counts.items())
    return f" {counted(sum(counts.values()), 'value')} masked ({rules})."


def _rival_passage(rival: Rival) -> str:
    """The quotation of a fact that a new line repeats, replaces, ends or contradicts, with its id and the reason."""
    path, fact = rival.old.path, rival.old.fact
    relation = RELATIONS.get(rival.kind, rival.kind)
    about = _topic_words(fact.topic, path, fact.text)
    note = _note(f"id {fact.id}", about, f"the new line {relation} it: {rival.reason}")
    return passage(fact.text, path, (fact.line, fact.end), note=note)


def confirm_fact(pool: RepositoryPool, arguments: mcp_tools.Confirm) -> str:
    """memory_confirm: commit that a fact still holds of the code that it cites, with its citations at the lines to
    which that code has moved; `cites` replaces them. Returns these places and the commit.

    Raises UsageError if cited lines have changed or are gone and `cites` does not name the new ones, if the fact cites
    no code, and if no citation would change; GitMemError if `quote` is not the text of all cited lines (white space may
    differ); else as `confirmation.confirm`."""
    from gitmem.provenance import confirmation

    path, line = arguments.path, arguments.line
    with pool.lend() as (repo, config):
        request = confirmation.ConfirmationRequest(
            tuple(_cited_places(arguments.cites)), arguments.quote, arguments.reason, config.agent or AGENT
        )
        confirmed = confirmation.confirm(repo, config, path, line, request)
    places = ", ".join(one_line(place) for place in confirmed.places)
    return f"Confirmed: {shown_name(confirmed.path)}:{line} cites {places} (commit {confirmed.commit[:12]})."


def explain_line(pool: RepositoryPool, arguments: mcp_tools.Why) -> str:
    """memory_why: a line, its commit and sources, whether the sources support it, and the lines that amend it."""
    from gitmem.provenance.why import why

    path = arguments.path
    with pool.lend() as (repo, config):
        value = json_object(why(repo, config, path, arguments.line, now=now()))
    support = str(value["support"])
    lines = (value["line"], value["end_line"])
    parts = [fence(str(value["text"]), path, lines, note=_note(" / ".join(value["trail"])))]
    words = [value["author"], value["date"], *(f"reviewed by {name}" for name in value["reviewers"])]
    origin = ", ".join(one_line(str(word)) for word in words if word)
    commit = f"commit {one_line(str(value['commit']))[:12]}" if value["commit"] else "not committed yet"
    parts.append(f"Written: {commit}{', ' if origin else ''}{origin}.")
    named = [name for name in ("agent", "model", "reason", "session", "turn") if value.get(name)]
    parts += [f"{name.capitalize()}: {one_line(str(value[name]))}" for name in named]
    parts.append(f"Support: {one_line(support)} ({SUPPORT.get(support, 'see docs')}).")
    if value["problem"]:
        parts.append(f"Problem: {one_line(str(value['problem']))}")
    parts += _edit_lines(value["edited"], path, arguments.line)
    parts += _linked_lines("Source", [{**source, "text": source.get("text") or ""} for source in value["sources"]])
    parts += _linked_lines("Amended by, which holds and not this line", value["amended_by"])
    parts += _linked_lines("It changes", value["supersedes"])
    for code in value.get("code", ()):
        parts.append(f"Code: {one_line(code['cites'])}: {one_line(code['state'])}, {one_line(code['words'])}")
    return "\n".join(parts)


def _edit_lines(edited: dict[str, Any] | None, path: str, line: int) -> list[str]:
    """Who changed a fact after its promotion, and the old and new texts, quoted; [] if it was not changed. `edited`:
    that part of the JSON of `why`."""
    if edited is None:
        return []
    lines = [f"Edited by {one_line(edited['by'])} in commit {one_line(edited['commit'])[:12]}:"]
    quoted = [
        passage(text, path, (line, line), note=_note(change["what"], version))
        for change in edited["changes"]
        for version, text in (("before", change["old"]), ("after", change["new"]))
        if text
    ]
    if quoted:
        return [*lines, block(quoted)]
    return lines


def _linked_lines(title: str, links: Sequence[dict[str, Any]]) -> list[str]:
    """A title and the quoted lines `links` below it: the sources of a line, or lines that amend it; [] if there are
    none."""
    if not links:
        return []
    quoted = [
        passage(
            str(link["text"]), str(link["path"]), (link["start_line"], link["end_line"]), note=_note(*_link_notes(link))
        )
        for link in links
    ]  # fmt: skip
    return [f"{title}:", block(quoted)]


def _link_notes(link: dict[str, Any]) -> list[str]:
    """The notes beside a linked line: day, reason, and whether it is proposed, moved or not checked."""
    notes = [str(link[name]) for name in ("date", "reason") if link.get(name)]
    notes += [name for name in ("proposed", "moved") if link.get(name)]
    if link.get("verified") is False:
        return [*notes, "not checked"]
    return notes


def assemble_context(pool: RepositoryPool, arguments: mcp_tools.Context) -> str:
    """memory_context: the context for a prompt, and remarks on what was left out; a sentence if memory has nothing, or
    if the session has had what `mem.contextCeiling` allows. The context is counted in a receipt."""
    from gitmem.context.request import append_receipt, build_context, request_of
    from gitmem.sessions import receipts

    with pool.lend() as (repo, config):
        began = time.monotonic()
        wanted_tokens = arguments.budget or config.context_budget
        budget = receipts.tokens_left(config.context_ceiling, repo.common_dir, pool.session, wanted_tokens)
        if not budget:
            return f"Nothing more: {CEILING}."
        request = request_of(
            config, arguments.prompt, budget=budget, subjects=tuple(arguments.paths), session=pool.values_session
        )
        context = build_context(repo, config, request, now(), environ=os.environ, cache=cache_folder())
        append_receipt(repo.common_dir, pool.session, "context", context, now(), began)
    lines = [context.text or "Memory has nothing on that."]
    lines += [f"Left out: {one_line(limit)}" for limit in context.limits]
    for scope in context.scopes:
        note = scope.error or scope.note
        if note:
            lines.append(f"Note: {scope.name}: {one_line(note)}.")
    if context.withheld:
        lines.append(f"{counted(context.withheld, 'line')} with a secret left out.")
    return "\n".join(lines)


def list_changes(pool: RepositoryPool, arguments: mcp_tools.Changes) -> str:
    """memory_changes: each fact that was added, changed or removed in a range of commits, quoted, at most MAX_CHANGES
    and the number of the others. Without a range it is the last commit; if that is the first one, all its facts."""
    from gitmem.git.ranges import shallow
    from gitmem.git.revision import CommitRange, split_range
    from gitmem.memory.snapshot import layout_at
    from gitmem.provenance.forgotten_texts import forgotten_texts
    from gitmem.review.commit_diff import fact_changes, without_forgotten

    span = arguments.range or LAST_COMMIT
    with pool.lend() as (repo, config):
        head = repo.head() or ""
        is_first = span == LAST_COMMIT and head and not repo.commit(head).parents and head not in shallow(repo)
        base, tip, _ = CommitRange("", head) if is_first else split_range(repo, span, needs_base=True)
        layout = layout_at(repo, tip, config)
        changes = without_forgotten(fact_changes(repo, base, tip, layout, now().date()), forgotten_texts(repo))
    if not changes:
        return "No fact changed."
    remaining = len(changes) - MAX_CHANGES
    remaining_note = f"\n{counted(remaining, 'more change')}: ask for a shorter range." if remaining > 0 else ""
    return block([quoted for change in changes[:MAX_CHANGES] for quoted in _change_passages(change)]) + remaining_note


def _change_passages(change: FactChange) -> list[str]:
    """The quotations of a changed fact: the new text and the old one, each with its place and topic, as far as there is
    one. A topic that stayed is said once."""
    value, new, old = json_object(change), change.new, change.old
    note_words = [str(value[name]) for name in ("op", "type", "date", "author") if value.get(name)]
    note_words += [f"from {source}" for source in change.sources]
    about, parts = "", []
    if new is not None:
        about = _topic_words(new.topic, change.path)
        note = _note(about, *note_words)
        parts.append(passage(new.text, change.path, (new.line, new.end), commit=change.commit, note=note))
    if old is not None:
        former = _topic_words(old.topic, change.former_path)
        note = _note(former, *note_words)
        if new is not None:
            note = _note(former if former != about else "", "before")
        parts.append(passage(old.text, change.former_path, (old.line, old.line), commit=change.commit, note=note))
    return parts


def use_files(pool: RepositoryPool, arguments: mcp_tools.Files) -> str:
    """memory: run one of the six file commands of the memory tool; returns the answer in the words that models were
    trained on. A command that writes changes the work tree if the gate passes the text, and commits nothing. Raises
    ToolFailed with the answer if it is an error."""
    from gitmem.agents.memory_tool import memory_tool

    with pool.lend() as (repo, config):
        answer = memory_tool(repo, config, arguments)
    if answer.is_error:
        raise ToolFailed(answer.text)
    return answer.text


def set_value(pool: RepositoryPool, arguments: mcp_tools.SetValue) -> str:
    """memory_session_set: keep a value. Returns the key as it was stored, when the value expires, and the masks in it.
    An empty value deletes the key."""
    from gitmem.sessions.automation import store_value

    with pool.lend() as (repo, config), pool.values(repo, config) as store:
        owner = pool.owner(config)
        stored, masks = store_value(store, config, arguments.key, arguments.value, now(), arguments.hours, owner)
    if not stored.text:
        return f"Forgotten: {one_line(stored.key)}."
    return f"Kept until {stored.until.isoformat(timespec='minutes')}: {one_line(stored.key)}.{_masks_sentence(masks)}"


def get_values(pool: RepositoryPool, arguments: mcp_tools.GetValues) -> str:
    """memory_session_get: the working values of a key and of the keys below it, or of all keys without one. Expired
    values are left out. At most MAX_VALUES are given, then the number of the others; a sentence if there is none."""
    with pool.lend() as (repo, config), pool.values(repo, config) as store:
        values = store.list(arguments.key, now(), pool.owner(config))
    if not values:
        return "No working value holds."
    quoted = [
        passage(value.text, f"session:{value.key}", note=f"until {value.until.isoformat(timespec='minutes')}")
        for value in values[:MAX_VALUES]
    ]
    remaining = len(values) - MAX_VALUES
    return block(quoted) + (f"\n{remaining} more: give a key." if remaining > 0 else "")


ANSWERS: dict[str, Callable[[RepositoryPool, Any], str]] = {
    "memory_search": search_memory,
    "memory_get": read_file,
    "memory_add": add_line,
    "memory_confirm": confirm_fact,
    "memory_why": explain_line,
    "memory_context": assemble_context,
    "memory_changes": list_changes,
    "memory_session_set": set_value,
    "memory_session_get": get_values,
    "memory": use_files,
}
