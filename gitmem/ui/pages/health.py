"""The page Health: the index, the gate, sources, the set-up, each with what was looked at; and what it takes to mend
what is wrong.

A part that would keep the page waiting is a link, which the page follows of itself once it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.gate.quoting import one_line
from gitmem.ui.view import View

if TYPE_CHECKING:
    from gitmem.gate.setup_checks import Check

MAX_BYTES_AT_ONCE = 50_000  # bytes that the gate reads, and
CITATIONS = 300  # of code that are compared with it, and
VERIFIED = 100  # facts with a source that are verified, before the page is shown: about a tenth of a second for each

MOST_GONE = 20  # facts that are named whose code is gone
CITED = "{count} citations of code compared with it; gone: {gone}, changed: {changed}"
GONE = "{place} cites {code}, which is not in the code any more"

State = Literal["good", "quiet", "note", "bad"]  # holds; nothing to judge; to be looked at; wrong


@dataclass(frozen=True, slots=True)
class Health:
    """One line: what was looked at and how it is; `hint` says what to type."""

    name: str
    words: str
    state: State
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the page: `rows` None where it is yet to be asked for by its `key`."""

    key: str
    title: str
    rows: tuple[Health, ...] | None


def page(view: View) -> Response:
    """Everything that can be asked of the present, or the `part` that the address names; a part that cannot answer
    says why. With `whole` no part is left for later; `line` asks for all of it as one line, as Today shows it."""
    if view.fields.get("line"):
        return _line_page(view)
    asked = view.fields.get("part", "")
    whole = asked in PARTS or bool(view.fields.get("whole"))
    chosen = {asked: PARTS[asked]} if asked in PARTS else PARTS
    parts = [Part(key, title, _rows(view, title, part, whole)) for key, (title, part) in chosen.items()]
    return view.render("health.html", parts=parts, only=asked in PARTS)


def _line_page(view: View) -> Response:
    """One line, which opens where something is wrong: all parts, the faults first."""
    rows = [row for title, part in PARTS.values() for row in _rows(view, title, part, True) or ()]
    faults = [row for row in rows if row.state == "bad"]
    notes = [row for row in rows if row.state == "note"]
    return view.render("health_line.html", faults=faults, notes=notes, looked_at=len(rows))


def _rows(view: View, title: str, part: Ask, whole: bool) -> tuple[Health, ...] | None:
    try:
        if (rows := part(view, whole)) is None:
            return None
        return tuple(rows)
    except GitMemError as error:
        return (Health(title, one_line(view.t(error.message)), "note", one_line(view.t(error.hint))),)


def index(view: View, _: bool) -> Iterator[Health]:
    """Whether the index is current, and what is left out of it."""
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
    """The state of a row; `bad` wins."""
    if bad:
        return "bad"
    if note:
        return "note"
    return "good"


def gate(view: View, whole: bool) -> list[Health] | None:
    """The findings of the gate in the work tree, and the last commit that the gate refused."""
    from gitmem.gate import last_refusal
    from gitmem.gate.work_tree_findings import contents
    from gitmem.ui.review_queue import report_of

    if view.repo.root is None:
        return []
    read = contents(view.repo, view.now.date())
    if not whole and not view.site.kept.has("gate", read.key) and view.site.examined.unread(read) > MAX_BYTES_AT_ONCE:
        return None
    found = read.counts(report_of(view, read))
    words = [
        view.t("{count} files of the work tree read", count=found.files),
        view.t(
            "findings that block: {blocking}, that warn: {warnings}", blocking=found.blocking, warnings=found.warnings
        ),
    ]
    words += [] if found.whole else [view.t("more files are not looked at here")]
    if found.accepted:
        words += [view.t("{count} accepted when this memory was adopted", count=found.accepted)]
    state = _state(bad=bool(found.blocking), note=bool(found.warnings or not found.whole))
    row = Health("Gate", "; ".join(words), state, "" if state == "good" else "git mem scan")
    last = last_refusal.read(view.repo.common_dir)
    if last is None:
        return [row]
    words_of_last = view.t(
        "the gate refused a commit or a push at {time}, and none has passed since: {why}",
        time=last.at[:16].replace("T", " "),
        why=one_line(last.why),
    )
    return [row, Health("Last commit", words_of_last, "bad", "git mem scan")]


def sources(view: View, whole: bool) -> list[Health] | None:
    """The result of `git mem verify` for all facts."""
    from gitmem.provenance.grounding import WORDS, Support
    from gitmem.provenance.verify import verify

    if (head := view.snapshot.commit or view.repo.head()) is None:
        return []
    sourced = sum(bool(row.fact.get("src")) for row in view.facts.rows)
    if not whole and not view.site.kept.has("sources", head) and sourced > VERIFIED:
        return None

    def verified() -> tuple[Counter[Support], int]:
        verdict = verify(view.repo, head=head, globs=view.config.memory_paths)
        return Counter(row.attribution.support for row in verdict.facts), len(verdict.flaws)

    kinds, flaws = view.site.kept.of("sources", head, verified)
    if not kinds:
        return [Health("Sources", view.t("no fact was promoted here"), "quiet")]
    counts = ", ".join(f"{view.t(text)}: {kinds[support]}" for support, text in WORDS.items() if kinds[support])
    words = [view.t("{count} promoted facts compared with their sources", count=kinds.total()), counts]
    if flaws:
        words += [view.t("{count} faults", count=flaws)]
    state = _state(bad=bool(flaws), note=set(kinds) != {Support.IN_SOURCE})
    return [Health("Sources", "; ".join(words), state, "" if state == "good" else "git mem verify")]


def cited(view: View, whole: bool) -> list[Health] | None:
    """The facts that cite deleted code, and the number of facts that cite changed code."""
    from gitmem.claims.cited_code import cited_code
    from gitmem.memory.code_state import CodeState, of_code

    values = tuple(value for row in view.facts.rows for key, value in row.fact.meta if key == "code")
    if not values:
        return []
    if not whole and len(values) > CITATIONS:
        return None
    code = cited_code(view.repo, values, view.snapshot.commit, len(values))
    said = [(row, found[0]) for row in view.facts.rows if (found := of_code(row.fact.meta, code))]
    gone = [(row, one) for row, one in said if one.state is CodeState.GONE]
    rows = [
        Health("Code", view.t(GONE, place=f"{one_line(row.path)}:{row.fact.line}", code=one_line(one.place)), "bad",
               f"git mem why {one_line(row.path)}:{row.fact.line}")
        for row, one in gone[:MOST_GONE]
    ]  # fmt: skip
    changed = sum(one.state is CodeState.CHANGED for _, one in said)
    words = view.t(CITED, count=len(values), gone=len(gone), changed=changed)
    state = _state(bad=bool(gone), note=bool(changed))
    return [Health("Code", words, state, "git mem check --suspect" if gone or changed else ""), *rows]


def set_up(view: View, _: bool) -> Iterator[Health]:
    """What `git mem doctor` says of hooks, settings, hosts and runs that were killed."""
    from gitmem.agents import host_checks
    from gitmem.gate import setup_checks
    from gitmem.git.hook_files import hooks_folder
    from gitmem.index import doctor

    checks = doctor.unfinished(view.repo)
    if not checks:
        yield Health("unfinished runs", view.t("No unfinished run"), "good")
    if view.repo.root is not None:
        checks += setup_checks.examine(view.repo, view.config, hooks_folder(view.repo), view.now.date())
    for check in checks:
        words = HOLDS.get(check.name) or check.detail or "nothing is wrong"
        yield _checked(view, check, words, "note" if check.hint else "good")
    of_hosts = host_checks.examine(view.repo, view.now)
    yield from (_checked(view, check, check.detail, "note") for check in of_hosts)
    if not any(check.wrong for check in of_hosts):
        words = view.t("no failure was logged in {count} days", count=host_checks.LOG_DAYS)
        yield Health("hooks of hosts", words, "good")


def _checked(view: View, check: Check, words: str, state: State) -> Health:
    """One check of `git mem doctor`: what is wrong, else `words` in `state`."""
    if check.wrong:
        words, state = (check.wrong, "bad")
    else:
        words, state = (words, state)
    return Health(check.name, one_line(view.t(words)), state, one_line(view.t(check.hint)))


Ask = Callable[[View, bool], "Iterator[Health] | list[Health] | None"]
PARTS: Mapping[str, tuple[str, Ask]] = {  # key -> its title, its rows (None: later)
    "index": ("Index", index),
    "gate": ("Gate", gate),
    "sources": ("Sources", sources),
    "code": ("Code", cited),
    "set-up": ("Set-up", set_up),
}
HOLDS = {  # what a check of the set-up looked at, without the folder of this machine that doctor names
    "modes": "nobody else can read or write what git mem keeps here",
    "settings": "All settings are valid",
}
