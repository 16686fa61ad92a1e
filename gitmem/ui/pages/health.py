"""The page Health: the state of the index, the gate, the sources and the set-up, with the commands that mend faults.

A part that would take long is left out at first; the page loads it by itself after it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.gate.quoting import one_line
from gitmem.gate.work_tree_findings import read_files_to_scan
from gitmem.memory.fact import values_of
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.gate.setup_checks import Check

# The work of each part before the page is shown, about a tenth of a second; a part with more is loaded later.
MAX_BYTES_AT_ONCE = 50_000  # scanned by the gate
MAX_CITATIONS_AT_ONCE = 300  # of code that are compared with it
MAX_FACTS_AT_ONCE = 100  # with a source that are verified

MAX_GONE = 20  # listed facts whose code is gone
CITED = "{count} citations of code compared with it; gone: {gone}, changed: {changed}"
GONE = "{place} cites {code}, which is not in the code any more"

State = Literal["good", "quiet", "note", "bad"]  # fine; nothing to check; to be looked at; wrong


@dataclass(frozen=True, slots=True)
class Health:
    """One row of the page: what was checked, and the result in words. `state`: "good", "quiet" (nothing to check),
    "note" (to be looked at) or "bad". `hint`: the command to type, "" for none."""

    name: str
    words: str
    state: State
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the page. `rows`: None when the page loads the part later, by its `key`."""

    key: str
    title: str
    rows: tuple[Health, ...] | None


def page(view: View) -> Response:
    """All parts, or the one `part` that the query names. With `whole` no part is left for later. With `line` the
    response is the one line that Today shows."""
    if view.fields.get("line"):
        return _line_page(view)
    key = view.fields.get("part", "")
    chosen, whole = PARTS, bool(view.fields.get("whole"))
    if key in PARTS:
        chosen, whole = {key: PARTS[key]}, True
    parts = [Part(key, title, _rows(view, title, check, whole)) for key, (title, check) in chosen.items()]
    return view.render("health.html", parts=parts, only=key in PARTS)


def _line_page(view: View) -> Response:
    """The one line for Today, with the faults and notes of all parts."""
    rows = [row for title, check in PARTS.values() for row in _rows(view, title, check, True) or ()]
    faults = [row for row in rows if row.state == "bad"]
    notes = [row for row in rows if row.state == "note"]
    return view.render("health_line.html", faults=faults, notes=notes, looked_at=len(rows))


def _rows(view: View, title: str, check: PartCheck, whole: bool) -> tuple[Health, ...] | None:
    """The rows of a part; a part that cannot be checked has one row with the reason. None if the part is to be loaded
    later, which only happens if `whole` is False."""
    try:
        if (rows := check(view, whole)) is None:
            return None
        return tuple(rows)
    except GitMemError as error:
        return (Health(title, one_line(view.t(error.message)), "note", one_line(view.t(error.hint))),)


def index(view: View, _: bool) -> Iterator[Health]:
    """The rows that say whether the index is current, and what it leaves out."""
    from gitmem.index import status as index_status

    status = index_status.status(view.repo, view.config)
    if not status.exists:
        yield Health("Index", view.t("none yet: the first search builds it"), "quiet")
    elif status.stale:
        reason = view.t(status.reason)
        yield Health("Index", view.t("behind, the next search brings it up to date: {reason}", reason=reason), "quiet")
    else:
        yield Health("Index", view.t("holds {count} memory files as they are", count=status.files), "good")
    if status.secret_lines:
        words = view.t("{count} lines with a secret are left out of search", count=status.secret_lines)
        yield Health("Secrets", words, "bad", "docs/leaked-secret.md")
    for odd in status.odd:
        words = f"{one_line(odd.path)}: {one_line(view.t(odd.reason))}"
        yield Health("Left out", words, "bad", one_line(view.t(odd.hint)))


def _state(*, bad: bool, note: bool) -> State:
    """The state of a row: "bad" if `bad`, else "note" if `note`, else "good"."""
    if bad:
        return "bad"
    if note:
        return "note"
    return "good"


def gate(view: View, whole: bool) -> list[Health] | None:
    """The gate's findings in the work tree, and the last commit that the gate refused. None, to be loaded later, with
    more than MAX_BYTES_AT_ONCE to scan, unless `whole`; [] in a bare repository."""
    from gitmem.gate import last_refusal
    from gitmem.ui.review_queue import report_of

    if view.repo.root is None:
        return []
    files = read_files_to_scan(view.repo, view.now.date())
    is_ready = whole or view.site.cache.has("gate", files.key)
    if not is_ready and view.site.file_findings.unread(files) > MAX_BYTES_AT_ONCE:
        return None
    counts = files.summary(report_of(view, files))
    words = [
        view.t("{count} files of the work tree read", count=counts.files),
        view.t(
            "findings that block: {blocking}, that warn: {warnings}", blocking=counts.blocking, warnings=counts.warnings
        ),
    ]
    if not counts.whole:
        words.append(view.t("more files are not looked at here"))
    if counts.accepted:
        words.append(view.t("{count} accepted when this memory was adopted", count=counts.accepted))
    state = _state(bad=bool(counts.blocking), note=bool(counts.warnings or not counts.whole))
    rows = [_row("Gate", words, state, "git mem scan")]
    refusal = last_refusal.read(view.repo.common_dir)
    if refusal:
        refused = view.t(
            "the gate refused a commit or a push at {time}, and none has passed since: {why}",
            time=refusal.at[:16].replace("T", " "),
            why=one_line(refusal.why),
        )
        rows.append(Health("Last commit", refused, "bad", "git mem scan"))
    return rows


def _row(name: str, words: Sequence[str], state: State, hint: str) -> Health:
    """A row with joined words; the hint is left out when the state is good."""
    if state == "good":
        hint = ""
    return Health(name, "; ".join(words), state, hint)


def sources(view: View, whole: bool) -> list[Health] | None:
    """How many facts their sources support, as `git mem verify` tells; [] without a commit. None, to be loaded later,
    with more than MAX_FACTS_AT_ONCE facts that have a source, unless `whole` or the result is cached."""
    from gitmem.provenance.grounding import WORDS, Support
    from gitmem.provenance.verify import verify

    if (head := view.snapshot.commit or view.repo.head()) is None:
        return []
    sourced = sum(bool(row.fact.get("src")) for row in view.facts.rows)
    if not whole and not view.site.cache.has("sources", head) and sourced > MAX_FACTS_AT_ONCE:
        return None

    def verified() -> tuple[Counter[Support], int]:
        verdict = verify(view.repo, head=head, globs=view.config.memory_paths)
        return Counter(row.attribution.support for row in verdict.facts), len(verdict.flaws)

    kinds, flaws = view.site.cache.get("sources", head, verified)
    if not kinds:
        return [Health("Sources", view.t("no fact was promoted here"), "quiet")]
    counts = ", ".join(f"{view.t(text)}: {kinds[support]}" for support, text in WORDS.items() if kinds[support])
    words = [view.t("{count} promoted facts compared with their sources", count=kinds.total()), counts]
    if flaws:
        words.append(view.t("{count} faults", count=flaws))
    state = _state(bad=bool(flaws), note=set(kinds) != {Support.IN_SOURCE})
    return [_row("Sources", words, state, "git mem verify")]


def code(view: View, whole: bool) -> list[Health] | None:
    """A row with the number of citations and of facts whose code is gone or changed, then a row for each of the first
    MAX_GONE gone ones. Decisions and the like, which outlive their code, are not counted.

    [] without citations; None, to be loaded later, with more than MAX_CITATIONS_AT_ONCE citations unless `whole`.
    """
    from gitmem.claims.cited_code import changed_code
    from gitmem.memory.code_state import CodeState, changed_citations

    values = tuple(value for row in view.facts.rows for value in values_of(row.fact.meta, "code"))
    if not values:
        return []
    if not whole and len(values) > MAX_CITATIONS_AT_ONCE:
        return None
    cited = changed_code(view.repo, values, view.snapshot.commit, len(values))
    states = []
    for row in view.facts.rows:
        citations = changed_citations(row.fact.meta, cited)
        if citations:
            states.append((row, citations[0]))
    gone = [(row, citation) for row, citation in states if citation.state is CodeState.GONE]
    changed = sum(citation.state is CodeState.CHANGED for _, citation in states)
    words = view.t(CITED, count=len(values), gone=len(gone), changed=changed)
    rows = [_row("Code", [words], _state(bad=bool(gone), note=bool(changed)), "git mem check --suspect")]
    for row, citation in gone[:MAX_GONE]:
        place = f"{one_line(row.path)}:{row.fact.line}"
        words = view.t(GONE, place=place, code=one_line(citation.place))
        rows.append(Health("Code", words, "bad", f"git mem why {place}"))
    return rows


def set_up(view: View, _: bool) -> Iterator[Health]:
    """A row for each check of `git mem doctor`: hooks, settings, hosts and killed runs."""
    from gitmem.agents import host_checks
    from gitmem.gate import setup_checks
    from gitmem.git.hooks.folder import hooks_folder
    from gitmem.index import doctor

    checks = doctor.unfinished(view.repo)
    if not checks:
        yield Health("unfinished runs", view.t("No unfinished run"), "good")
    if view.repo.root is not None:
        checks += setup_checks.gate_checks(view.repo, view.config, hooks_folder(view.repo), view.now.date())
    for check in checks:
        words = GOOD_WORDS.get(check.name) or check.detail or "nothing is wrong"
        yield _check_row(view, check, words, _state(bad=False, note=bool(check.hint)))
    host_results = host_checks.all_checks(view.repo, view.now)
    yield from (_check_row(view, check, check.detail, "note") for check in host_results)
    if not any(check.wrong for check in host_results):
        words = view.t("no failure was logged in {count} days", count=host_checks.LOG_DAYS)
        yield Health("hooks of hosts", words, "good")


def _check_row(view: View, check: Check, words: str, state: State) -> Health:
    """The row of a check of `git mem doctor`: what is wrong, else `words` in `state`."""
    if check.wrong:
        words, state = check.wrong, "bad"
    return Health(check.name, one_line(view.t(words)), state, one_line(view.t(check.hint)))


PartCheck = Callable[[View, bool], "Iterator[Health] | list[Health] | None"]
PARTS: Mapping[str, tuple[str, PartCheck]] = {  # key -> (title, check, which returns None to be loaded later)
    "index": ("Index", index),
    "gate": ("Gate", gate),
    "sources": ("Sources", sources),
    "code": ("Code", code),
    "set-up": ("Set-up", set_up),
}
GOOD_WORDS = {  # words of a good check, without the local folder that doctor names
    "modes": "nobody else can read or write what git mem keeps here",
    "settings": "All settings are valid",
}
