"""Promotions made by hand, as `git mem promote` makes them: a log, a fact with its source, a commit that says so."""

from __future__ import annotations

from gitmem.git.objects import Span
from gitmem.memory.fact import render_span, text_hash
from gitmem.provenance.trailers import Link, append_trailers, render_link
from tests.harness import Repo

DAY = "memory/2026-02-05.md"
LOG = (
    "# 2026-02-05\n\n## 10:00 - webhooks\n\n- PoC phase 1 uses REST webhooks.\n- They are easier to debug.\n- Lunch.\n"
)
FACT = "PoC phase 1 uses REST webhooks: easier to debug."


def record_log(repo: Repo, path: str = DAY, text: str = LOG, message: str = "log") -> str:
    """Commit a daily log; its blob."""
    repo.commit(message, {path: text})
    return repo.git("rev-parse", f"HEAD:{path}").strip()


def promote(
    repo: Repo,
    text: str = FACT,
    span: Span | None = None,
    *,
    target: str = "MEMORY.md",
    trailers: tuple[tuple[str, str], ...] = (("Memory-Model", "rules/1"), ("Memory-Agent", "codex")),
    meta: str = "type=decision ",
) -> str:
    """One promotion commit that appends the fact to `target`; its oid."""
    if span is None:
        span = Span(DAY, 5, 6, repo.git("rev-parse", f"HEAD:{DAY}").strip())
    old = repo.read(target) if (repo.path / target).exists() else "# Memory\n\n## Decisions\n\n"
    link = Link(span, target, text_hash(text))
    message = append_trailers(
        "memory: promote 1 fact from 2026-02-05\n\n- a fact\n", [("Memory-Source", render_link(link)), *trailers]
    )
    return repo.commit(message, {target: old + f"- {text} <!-- mem {meta}src={render_span(span)} -->\n"})
