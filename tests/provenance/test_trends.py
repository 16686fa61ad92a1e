"""How memory developed, period by period; what was not looked at is no zero."""

from __future__ import annotations

import os
from datetime import date

from gitmem.git.opening import open_repository
from gitmem.provenance.trends import Findings, count_findings, periods
from tests.harness import Repo

TOKEN = "ghp_R8kQ2mVx7TnB4cWz9LdF3hJp6sYgA1eK5uXo"


def test_periods_beyond_the_limit_are_not_counted_as_clean(repo: Repo) -> None:
    for day in ("2026-02-03", "2026-02-10", "2026-02-17"):
        repo.commit(day, {f"memory/{day}.md": f"- the token is {TOKEN} on {day}\n"}, date=f"{day}T10:00:00Z")
    opened = open_repository(repo.path, os.environ)
    head = opened.head() or ""
    among = periods(opened, head)
    assert len(among) == 3
    found = count_findings(opened, head, among, date(2026, 2, 18))
    assert all(isinstance(one, Findings) and one.blocking for one in found)
    assert count_findings(opened, head, among, date(2026, 2, 18), max_bytes=140) == [None, None, found[2]]
    assert count_findings(opened, head, among, date(2026, 2, 18), max_bytes=1) == [None] * 3
