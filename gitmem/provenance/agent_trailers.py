"""The trailers of memory changes that no person makes: put in by prepare-commit-msg, checked by commit-msg.

An agent is known by `mem.agent`. What it changes in memory carries `Memory-Agent` (who) and `Memory-Reason` (why, one
line); a person's commits are left alone. A staged promotion gets the trailers that `promote --stage` kept for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gitmem.config import Config
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.git.repository import Repository
from gitmem.memory.fact import text_hash
from gitmem.messages import Message
from gitmem.paths import Kind, kind, spelling
from gitmem.provenance import trailers

PENDING = "gitmem-promotion"  # in the work tree's Git directory: what `promote --stage` left for the next commit


def prepare(repo: Repository, config: Config, message: Path, source: str) -> None:
    """Add the trailers to the message file of a commit that changes memory. `source` is the hook's second word
    (message, template, merge, squash, commit): whichever it is, what is there already is not added again."""
    if not memory_changes(repo):
        return
    text = message.read_text(encoding="utf-8", errors="surrogateescape")
    have = {key.lower() for key, _ in trailers.parse(text)}
    rows = [row for row in pending(repo) if row not in trailers.parse(text)]
    if config.agent and trailers.AGENT.lower() not in have:
        rows = [row for row in rows if row[0] != trailers.AGENT] + [(trailers.AGENT, config.agent)]
        said = any(key == trailers.REASON for key, _ in rows) or trailers.REASON.lower() in have
        subject = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
        if not said and subject.strip():
            rows.append((trailers.REASON, subject.strip()))
    if rows:
        body, comments = _split_comments(text)
        message.write_text(trailers.append(body, rows) + comments, encoding="utf-8", errors="surrogateescape")


def _split_comments(text: str) -> tuple[str, str]:
    """The message, and Git's comments below it."""
    lines = text.splitlines(keepends=True)
    end = len(lines)
    while end and (lines[end - 1].startswith("#") or not lines[end - 1].strip()):
        end -= 1
    return "".join(lines[:end]), "".join(["\n", *lines[end:]]) if end < len(lines) else ""


def check(repo: Repository, config: Config, message: str) -> list[Finding]:
    """What is missing in the message of an agent's commit: its name, and a reason."""
    rows = trailers.memory_trailers(message)
    named = [spelling(name) for name in trailers.values(rows, trailers.AGENT)]
    if not (config.agent or named) or not memory_changes(repo):
        return []
    findings = []
    if not named:
        findings.append(
            _missing(
                "agent-unnamed", Message("an agent changes memory: say who, '{}: {}'", trailers.AGENT, config.agent)
            )
        )
    elif config.agent and config.agent not in named:
        findings.append(
            _missing("agent-other", Message("{} is not the agent at work here ({})", trailers.AGENT, config.agent))
        )
    if not any(value.strip() for value in trailers.values(rows, trailers.REASON)):
        findings.append(
            _missing("agent-reason", Message("an agent changes memory: say why, '{}: ...'", trailers.REASON))
        )
    return findings


def _missing(rule: str, words: str) -> Finding:
    return Finding(rule, Severity.BLOCK, MESSAGE, 1, 1, 1, 1, words)


def memory_changes(repo: Repository) -> list[str]:
    """The memory files (not daily logs: those an agent writes all day) that the next commit changes."""
    log = (Kind.DAILY, Kind.OTHER)
    return [change.path for change in repo.staged_changes() if kind(change.path) not in log]


def pending(repo: Repository) -> Sequence[trailers.Trailer]:
    """The trailers of a staged promotion whose facts are still in what is staged; forgotten once they are not."""
    file = repo.git_dir / PENDING
    try:
        rows = trailers.parse("x\n\n" + file.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []
    from gitmem.memory import facts

    staged = next((entry for entry in repo.staged() if entry.path == "MEMORY.md"), None)
    head = repo.head()
    before = ""
    if head:
        before = next((e.oid for e in repo.entries(head, ["MEMORY.md"])), "")
    if staged is None or staged.oid == before:
        file.unlink(missing_ok=True)
        return []
    there = {text_hash(fact.text) for fact in facts.parse(repo.read(staged.oid)).facts}
    known = {link.sha256 for link in trailers.links(rows, trailers.SOURCE)}
    if known and not known & there:
        return []
    return [(key, value) for key, value in rows if key != trailers.SOURCE or any(digest in value for digest in there)]
