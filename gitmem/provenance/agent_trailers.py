"""Adds and checks the trailers of an agent's commits, for the hooks prepare-commit-msg and commit-msg.

The setting `mem.agent` names the agent. Its commits of memory carry `Memory-Agent` (its name) and `Memory-Reason` (why,
one line); commits of people get neither. The commit of a staged promotion gets the trailers that `promote --stage`
saved in the Git directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gitmem.config import Config
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.git.git_index import blob_oids
from gitmem.git.repository import Repository
from gitmem.memory.fact import text_hash
from gitmem.messages import Message
from gitmem.paths import Kind, kind, nfc_name
from gitmem.provenance import trailers

PENDING = "gitmem-promotion"  # file in the work tree's Git directory: trailers that `promote --stage` saved


def add_trailers(repo: Repository, config: Config, message: Path) -> None:
    """Add trailers to the message file of a commit that changes memory other than daily logs.

    These are the trailers that `promote --stage` saved, and `Memory-Agent` if `mem.agent` is set and the message has
    none; with it the subject becomes the `Memory-Reason` if there is no reason yet. A trailer in the message is not
    repeated. Raises OSError if the message file cannot be read or written.
    """
    if not memory_changes(repo):
        return
    text = message.read_text(encoding="utf-8", errors="surrogateescape")
    body, comments = split_comments(text)
    present = trailers.parse(body)
    keys = {key.lower() for key, _ in present}
    rows = [row for row in pending_trailers(repo) if row not in present]
    if config.agent and trailers.AGENT.lower() not in keys:
        rows = [row for row in rows if row[0] != trailers.AGENT] + [(trailers.AGENT, config.agent)]
        has_reason = any(key == trailers.REASON for key, _ in rows) or trailers.REASON.lower() in keys
        subject = next((line for line in body.splitlines() if line.strip() and not line.startswith("#")), "")
        if not has_reason and subject.strip():
            rows.append((trailers.REASON, subject.strip()))
    if rows:
        message.write_text(trailers.append_trailers(body, rows) + comments, encoding="utf-8", errors="surrogateescape")


def split_comments(text: str) -> tuple[str, str]:
    """(the message, the comment lines, blank lines and diff of `git commit --verbose` below it); the second part is ""
    when there are none. Git removes the second part of a message that was edited."""
    diff = trailers.VERBOSE_DIFF.search(text)
    end, sign = len(text), "#"
    if diff is not None:
        end, sign = diff.start(), diff[1]
    lines = text[:end].splitlines(keepends=True)
    message_end = len(lines)
    while message_end and (lines[message_end - 1].startswith(sign) or not lines[message_end - 1].strip()):
        message_end -= 1
    below = "".join([*lines[message_end:], text[end:]])
    if not below:
        return text, ""
    return "".join(lines[:message_end]), f"\n{below}"


def check_trailers(repo: Repository, config: Config, message: str) -> list[Finding]:
    """A blocking finding for a missing or wrong agent name and one for a missing reason, in an agent's commit of
    memory. [] when neither `mem.agent` nor the message names an agent, and when the commit changes no memory other than
    daily logs."""
    rows = trailers.memory_trailers(message)
    names = [nfc_name(name) for name in trailers.values(rows, trailers.AGENT)]
    if not (config.agent or names) or not memory_changes(repo):
        return []
    findings = []
    if not names:
        words = Message("an agent changes memory: say who, '{}: {}'", trailers.AGENT, config.agent)
        findings.append(_finding("agent-unnamed", words))
    elif config.agent and config.agent not in names:
        words = Message("{} is not the agent at work here ({})", trailers.AGENT, config.agent)
        findings.append(_finding("agent-other", words))
    if not any(value.strip() for value in trailers.values(rows, trailers.REASON)):
        words = Message("an agent changes memory: say why, '{}: ...'", trailers.REASON)
        findings.append(_finding("agent-reason", words))
    return findings


def _finding(rule: str, words: str) -> Finding:
    return Finding(rule, Severity.BLOCK, MESSAGE, 1, 1, 1, 1, words)


def memory_changes(repo: Repository) -> list[str]:
    """The paths of the staged memory files in the usual places (`kind`). Daily logs do not count: agents write them all
    day."""
    ignored = (Kind.DAILY, Kind.OTHER)
    return [change.path for change in repo.staged_changes() if kind(change.path) not in ignored]


def pending_trailers(repo: Repository) -> Sequence[trailers.Trailer]:
    """The trailers that `promote --stage` saved, without the sources of facts that are no longer staged.

    [] when nothing was saved or none of its facts is staged. When MEMORY.md is not staged at all, the file of trailers
    is deleted.
    """
    file = repo.git_dir / PENDING
    try:
        rows = trailers.parse("x\n\n" + file.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []
    from gitmem.memory import facts

    staged = next((entry for entry in repo.staged() if entry.path == "MEMORY.md"), None)
    committed = blob_oids(repo, repo.head(), ["MEMORY.md"]).get("MEMORY.md")
    if staged is None or staged.oid == committed:
        file.unlink(missing_ok=True)
        return []
    present = {text_hash(fact.text) for fact in facts.parse(repo.read(staged.oid)).facts}
    promoted = {link.sha256 for link in trailers.links(rows, trailers.SOURCE)}
    if promoted and not promoted & present:
        return []
    return [(key, value) for key, value in rows if key != trailers.SOURCE or any(digest in value for digest in present)]
