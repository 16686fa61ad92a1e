"""The page Health: the index, the gate, the set-up, hosts, sources; and what it takes to mend what is wrong.

It reads every memory file, so the page Today asks for it once it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.gate.quoting import one_line
from gitmem.ui.view import View


@dataclass(frozen=True, slots=True)
class Health:
    """One line: `good` None where it is neither well nor wrong; `hint` says what to type."""

    name: str
    words: str
    good: bool | None
    hint: str = ""


def page(view: View) -> Response:
    """Everything that can be asked of the present; a part that cannot answer says why."""
    rows: list[Health] = []
    for title, part in (("Index", index), ("Gate", gate), ("Sources", sources), ("Set-up", set_up)):
        try:
            rows += part(view)
        except GitMemError as error:
            rows.append(Health(title, view.t(one_line(error.message)), None, view.t(one_line(error.hint))))
    return view.render("health.html", rows=rows)


def index(view: View) -> Iterator[Health]:
    """Whether the index is current, and what is left out of it."""
    from gitmem.index import status as index_status

    status = index_status.status(view.repo, view.config)
    if not status.exists:
        yield Health("Index", view.t("none yet: the first search builds it"), None)
    else:
        stale = view.t("behind, the next search brings it up to date: {reason}", reason=view.t(status.reason))
        yield Health("Index", stale if status.stale else view.t("up to date"), not status.stale or None)
    if status.secret_lines:
        words = view.t("{count} lines with a secret are left out of search", count=status.secret_lines)
        yield Health("Secrets", words, False, "docs/leaked-secret.md")
    for odd in status.odd:
        yield Health(
            "Left out", f"{one_line(odd.path)}: {view.t(one_line(odd.reason))}", False, view.t(one_line(odd.hint))
        )


def gate(view: View) -> Iterator[Health]:
    """What the gate finds in the work tree."""
    from gitmem.gate.work_tree import contents

    if view.repo.root is None:
        return
    read = contents(view.repo, view.now.date())
    found = read.counts(view.site.kept.of("gate", read.key, read.scanned))
    words = view.t(
        "findings that block: {blocking}, that warn: {warnings}", blocking=found.blocking, warnings=found.warnings
    )
    rest = "" if found.whole else view.t("more files are not looked at here")
    hint = "git mem scan" if found.blocking or found.warnings or rest else ""
    yield Health("Gate", "; ".join(filter(None, (words, rest))), not found.blocking, hint)


def sources(view: View) -> Iterator[Health]:
    """What `git mem verify` says of all facts."""
    from gitmem.provenance.grounding import WORDS, Support
    from gitmem.provenance.verify import verify

    if (head := view.snapshot.commit or view.repo.head()) is None:
        return

    def verified() -> tuple[Counter[Support], int]:
        verdict = verify(view.repo, head=head)
        return Counter(row.attribution.support for row in verdict.facts), len(verdict.flaws)

    kinds, flaws = view.site.kept.of("sources", head, verified)
    words = [f"{view.t(text)}: {kinds[support]}" for support, text in WORDS.items() if kinds[support]]
    said = ", ".join(words) or view.t("no fact was promoted here")
    yield Health("Sources", said, None if not words else not flaws, "git mem verify" if flaws else "")


def set_up(view: View) -> Iterator[Health]:
    """What `git mem doctor` says of hooks, settings, hosts and runs that were killed: what is wrong of it."""
    from gitmem.agents import host_checks
    from gitmem.gate import setup_checks
    from gitmem.git.hook_files import hooks_folder
    from gitmem.index import doctor

    checks = doctor.unfinished(view.repo) + host_checks.examine(view.repo, view.now)
    if view.repo.root is not None:
        checks += setup_checks.examine(view.repo, view.config, hooks_folder(view.repo), view.now.date())
    wrong = [check for check in checks if check.wrong]
    for check in wrong:
        yield Health(check.name, view.t(one_line(check.wrong)), False, view.t(one_line(check.hint)))
    if not wrong:
        yield Health("Set-up", view.t("hooks, settings and hosts are as they should be"), True)
