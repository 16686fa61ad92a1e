"""What a caller may ask of the server, whether over REST or MCP: who they are, which repositories, what it says.

Foreign and absent repositories are the same to it: both are looked up among the permitted ones and not found. Every
answer leaves a row in the audit log, which has neither the question nor the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitmem.context.assembly import Context
from gitmem.errors import GitMemError, IndexUnusable, MissingFile, NotARepository, UnknownRevision, UsageError
from gitmem.gate.quoting import without_secrets
from gitmem.memory.show import read as read_file
from gitmem.models.token_count import estimate
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.alerts import alerts
from gitmem.search.hits import Hit
from gitmem.search.incidents import HITS, Incident, incidents
from gitmem.search.search import Answer, Query
from gitmem.server.administration import PREFIX, hash_of
from gitmem.server.caller import Caller, Unauthorized
from gitmem.server.ingest import Ingest
from gitmem.server.line_proposals import Change, Proposals, Proposed
from gitmem.server.oidc import Identities, Identity
from gitmem.server.postgres.database import Database
from gitmem.server.shared_context import context_of
from gitmem.server.shared_search import Shared, spellings
from gitmem.server.telemetry import TOKENS, stage

LONGEST_QUESTION = 10_000  # characters
LONGEST_LINE = 4_000  # of what is proposed
MOST_NAMED = 5  # repositories whose files a context has
MAX_ALERTS_ASKED = 3  # alerts of one request: each is up to two searches
LONGEST_GLOB, MOST_GLOBS = 200, 20
REMEMBERED = 10_000  # tokens of which it is remembered whose they are
LINES = 200  # of a file in one answer
MOST_PAST = 20  # repositories of a search as of a day: each tree may have to be indexed first


class TooMany(GitMemError):
    """More searches in a minute than the tenant may make."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a memory file, those with a secret withheld."""

    repository: str
    path: str
    commit: str
    first: int
    last: int
    count: int
    text: str


class Operations:
    """The operations. Safe for several threads."""

    def __init__(
        self, database: Database, shared: Shared, ingest: Ingest, now: Callable[[], datetime],
        identities: Identities | None = None, proposals: Proposals | None = None,
    ) -> None:  # fmt: skip
        self.database = database
        self.identities = identities
        self.proposals = proposals
        self.ingest = ingest
        self.shared = shared
        self.now = now
        self._tenants: dict[bytes, int] = {}

    def tenant_of(self, token: str) -> int:
        """Whose a token was when it was last looked at, 0 where it was not: for the order of requests, and no more."""
        return self._tenants.get(hash_of(token), 0)

    def caller(self, token: str) -> Caller:
        """Who holds a token: one of ours, or of an identity provider. Raises Unauthorized for one that is unknown,
        expired or revoked."""
        refused = Unauthorized("no token that holds", "send 'Authorization: Bearer TOKEN'")
        with stage("authenticate"):
            caller = self._caller(token, refused)
        if len(self._tenants) >= REMEMBERED:
            self._tenants = {}
        self._tenants[hash_of(token)] = caller.tenant
        return caller

    def _caller(self, token: str, refused: Unauthorized) -> Caller:
        if self.identities is not None and token.count(".") == 2 and not token.startswith(PREFIX):
            return self._caller_of(self.identities.identity(token), refused)
        rows = self.database.call("SELECT * FROM token_of(%s)", hash_of(token))
        if not rows:
            raise refused
        ((number, tenant, name, scope, repositories),) = rows
        return Caller(number, tenant, name, ((scope, tuple(repositories) if repositories is not None else None),))

    def _caller_of(self, identity: Identity, refused: Unauthorized) -> Caller:
        """Whom an identity provider vouches for, with the numbers of the repositories that the claims permit."""
        ((tenant,),) = self.database.call("SELECT tenant_named(%s)", identity.tenant)
        if tenant is None:
            raise refused
        names = [name for grant in identity.grants for name in grant.repositories]
        with self.database.tenant(tenant) as connection:
            numbers = dict(
                connection.execute(
                    "SELECT name, id FROM repository WHERE tenant = %s AND name = ANY(%s)", (tenant, names)
                ).fetchall()
            )
        grants = tuple(
            (
                grant.scope,
                tuple(numbers[name] for name in grant.repositories if name in numbers) if grant.repositories else None,
            )
            for grant in identity.grants
        )
        return Caller(0, tenant, identity.subject, grants, identity.subject)

    def search(self, caller: Caller, query: Query, names: Sequence[str] = (), ref: str = "", at: str = "") -> Answer:
        """Search the repositories of these names, or all that the caller may see; of branch or tag `ref`, or each
        one's own branch, as of a revision or day `at`. Raises UsageError for a name that is none of them."""
        if len(query.text) > LONGEST_QUESTION:
            raise UsageError(f"a question has {LONGEST_QUESTION} characters at most", "ask in fewer words")
        if len(query.paths) > MOST_GLOBS or any(len(glob) > LONGEST_GLOB for glob in query.paths):
            raise UsageError(f"{MOST_GLOBS} globs at most, of {LONGEST_GLOB} characters at most", "")
        ensure_text(query.text, *query.paths, *query.types, *query.tags, *names, ref, at)
        permitted = self._permitted(caller, names)
        if query.history and (permitted is None or len(permitted) != 1):
            raise UsageError("'history' takes the name of one repository", "name it in 'repository'")
        now = self.now()
        past: dict[int, tuple[str, str]] = {}
        if at:
            past, now = self._as_of(caller, permitted, at, ref)
        answer, asked = self._searched(caller.tenant, permitted, query, now, ref, past)
        if len(asked) < len(past):  # a fetch came between and dropped what no branch names
            past, now = self._as_of(caller, permitted, at, ref)
            answer, asked = self._searched(caller.tenant, permitted, query, now, ref, past)
            if len(asked) < len(past):
                raise IndexUnusable("this is being indexed just now", "try again in a moment")
        if not asked and self._is_awaited(caller.tenant, permitted):
            answer = answer._replace(stale=True)
        TOKENS.inc(sum(estimate(hit.text) for hit in answer.hits))
        self.record(caller, "search", asked, len(answer.hits))
        return answer

    def _searched(self, *given: Any) -> tuple[Answer, list[int]]:
        with stage("search"):
            return self.shared.search(*given)

    def _as_of(
        self, caller: Caller, permitted: Sequence[int] | None, at: str, ref: str
    ) -> tuple[dict[int, tuple[str, str]], datetime]:
        """Repository id -> (commit, snapshot) as of the time `at`, and the time of the newest of these commits.

        Raises UsageError for an `at` with a `ref`, or for more than MOST_PAST repositories.
        """
        if ref:
            raise UsageError("'at' and 'ref' do not go together", "'at' is of each repository's own branch")
        if permitted is None or len(permitted) > MOST_PAST:
            raise UsageError(f"'at' takes the names of {MOST_PAST} repositories at most", "name them in 'repository'")
        past, dates = {}, []
        try:
            for repository in permitted:
                try:
                    commit, key, date = self.ingest.as_of(caller.tenant, repository, at, self.now())
                except NotARepository:  # not fetched yet: without `at` it has no hits either
                    continue
                past[repository] = (commit, key)
                dates.append(date)
        except UnknownRevision as error:
            raise UsageError("there is no such revision or day", error.hint) from None
        return past, max(dates, default=self.now())

    def repositories(self, caller: Caller) -> list[dict[str, Any]]:
        """The repositories a caller may see, with when they were fetched."""
        with self.database.tenant(caller.tenant) as connection:
            rows = connection.execute(
                "SELECT id, name, fetched FROM repository WHERE tenant = %s"
                " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[])) ORDER BY name",
                (caller.tenant, caller.repositories(), caller.repositories()),
            ).fetchall()
        self.record(caller, "repositories", [number for number, _, _ in rows], len(rows))
        return [{"name": name, "fetched": fetched.isoformat() if fetched else None} for _, name, fetched in rows]

    def lines(self, caller: Caller, name: str, path: str, first: int = 1, count: int = LINES, ref: str = "") -> Lines:
        """Lines of a memory file at the tip of a branch or tag. Raises UsageError for a repository, a ref or a file
        that is not there: one sentence for each, whether it is foreign or absent."""
        permitted, commit, shown = self._lines(caller, name, path, ref)
        self.record(caller, "lines", permitted, 1)
        if first > max(1, len(shown)):
            raise UsageError(f"the file has {counted(len(shown), 'line')}", "ask from one of these")
        last = min(len(shown), first + min(count, LINES) - 1)
        text = "\n".join(without_secrets(shown)[first - 1 : last])
        return Lines(name, path, commit, first, last, len(shown), text)

    def _lines(self, caller: Caller, name: str, path: str, ref: str = "") -> tuple[list[int], str, list[str]]:
        """(the repository's number in a list, the commit, the lines without what was forgotten) of a memory file.
        Raises as `lines`."""
        ensure_text(name, path, ref)
        permitted = self._permitted(caller, [name])
        assert permitted is not None
        names = spellings(ref)
        with self.database.tenant(caller.tenant) as connection:
            row = connection.execute(
                "SELECT ref.commit_oid FROM repository JOIN ref ON ref.tenant = repository.tenant"
                " AND ref.repository = repository.id WHERE repository.tenant = %s AND repository.id = %s"
                " AND CASE WHEN %s THEN ref.name = ANY(%s) ELSE ref.name = repository.head END"
                " ORDER BY array_position(%s::text[], ref.name) LIMIT 1",
                (caller.tenant, permitted[0], bool(ref), names, names),
            ).fetchone()
        if row is None:
            raise UsageError("there is no such branch or tag", "leave 'ref' out for the repository's own branch")
        commit = bytes(row[0]).hex()
        try:
            with self.shared.mirrors.lent(caller.tenant, permitted[0]) as repo:
                oid = repo.blobs(commit, [path]).get(path)
                if oid is not None and repo.sizes([oid]).get(oid, 0) > MAX_MEMORY_FILE_BYTES:
                    raise UsageError("the file is larger than 1 MiB", "it is not indexed either")
                shown = read_file(repo, self.shared.config, path, commit, forgotten_texts(repo)).lines
        except MissingFile:
            raise UsageError("there is no such memory file", "search names the files") from None
        except NotARepository:
            self.shared.doubt(caller.tenant, permitted[0])
            raise
        return list(permitted), commit, list(shown)

    def seen(self, caller: Caller, alert: bytes, names: Sequence[str] = ()) -> list[Incident]:
        """The past incidents like an alert, in the repositories of these names, or all that the caller may see: what
        `git mem seen` says, of the first MAX_ALERTS_ASKED alerts. Raises UsageError for a name that is none of them."""
        ensure_text(*names)
        permitted = self._permitted(caller, names)
        now, read = self.now(), set[int]()

        def ask(question: str) -> Answer:
            query = Query(question[:LONGEST_QUESTION], limit=HITS, everything=True)
            answer, asked = self._searched(caller.tenant, permitted, query, now, "", {})
            read.update(asked)
            return answer

        def lines_of(hit: Hit, path: str) -> Sequence[str]:
            return without_secrets(self._lines(caller, hit.repository, path)[2])

        found = incidents(
            alerts(alert)[:MAX_ALERTS_ASKED], ask, lines_of, now.date(), self.shared.config.context_evidence
        )
        self.record(caller, "seen", sorted(read), len(found))
        return found

    def audit(self, caller: Caller, most: int = 100) -> list[dict[str, Any]]:
        """The newest rows of the tenant's audit log. Raises Forbidden without the scope `admin`."""
        permitted = caller.repositories("admin")
        with self.database.tenant(caller.tenant) as connection:
            rows = connection.execute(
                "SELECT at, token, subject, action, repositories, hits, status FROM audit WHERE tenant = %s"
                " AND (%s::integer[] IS NULL OR repositories && %s::integer[]) ORDER BY id DESC LIMIT %s",
                (caller.tenant, permitted, permitted, most),
            ).fetchall()
        names = ("token", "subject", "action", "repositories", "hits", "status")
        return [{"at": row[0].isoformat(), **dict(zip(names, row[1:], strict=True))} for row in rows]

    def record(self, caller: Caller, action: str, repositories: Sequence[int], hits: int, status: int = 200) -> None:
        """Add a row to the audit log."""
        with stage("audit"), self.database.tenant(caller.tenant) as connection:
            connection.execute(
                "INSERT INTO audit (tenant, token, subject, action, repositories, hits, status)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (caller.tenant, caller.token or None, caller.subject, action, list(repositories), hits, status),
            )

    def context(self, caller: Caller, prompt: str, names: Sequence[str] = (), budget: int = 0) -> Context:
        """A context for a prompt: of what a search over all permitted repositories finds, or of a few that are named,
        with their files. Raises UsageError for a name that is none of them."""
        if len(prompt) > LONGEST_QUESTION:
            raise UsageError(f"a prompt has {LONGEST_QUESTION} characters at most", "say it in fewer words")
        if len(names) > MOST_NAMED:
            raise UsageError(f"a context is of {MOST_NAMED} repositories at most", "or name none for all of them")
        ensure_text(prompt, *names)
        permitted = self._permitted(caller, names)
        with stage("context"):
            if names:
                named = self.shared.branches(caller.tenant, permitted)
            else:
                named = []
            made, read = context_of(self.shared, caller.tenant, named, permitted, (prompt, budget), self.now())
        TOKENS.inc(made.tokens)
        self.record(caller, "context", read, len(made.parts))
        return made

    def propose(self, caller: Caller, name: str, change: Change) -> Proposed:
        """Propose a line of memory as a pull request. Raises Forbidden without the scope `propose` for the repository,
        UsageError for one that is none or takes no proposals, Refused by the gate."""
        if len(change.line.text) > LONGEST_LINE or len(change.title) + len(change.reason) > LONGEST_LINE:
            raise UsageError(f"a line has {LONGEST_LINE} characters at most", "")
        ensure_text(name, change.line.text, change.title, change.reason, *change.line.tags, change.line.kind)
        caller.repositories("propose")
        permitted = self._permitted(caller, [name], "propose")
        assert permitted is not None
        if self.proposals is None:
            raise UsageError("this server takes no proposals", "git mem publish")
        with self.database.tenant(caller.tenant) as connection:
            row = connection.execute(
                "SELECT url FROM repository WHERE tenant = %s AND id = %s", (caller.tenant, permitted[0])
            ).fetchone()
        assert row is not None
        with stage("propose"):
            done = self.proposals.propose(caller.tenant, permitted[0], row[0], change, self.now())
        self.record(caller, "propose", permitted, 1)
        return done

    def _permitted(self, caller: Caller, names: Sequence[str], scope: str = "read") -> list[int] | None:
        """The numbers of the repositories of these names for which the caller has a scope, None for all. A foreign one
        is not there: one statement for both, and one sentence."""
        allowed = caller.repositories(scope)
        if not names:
            if allowed is None:
                return allowed
            return self._there(caller.tenant, allowed)
        wanted = list(dict.fromkeys(names))
        with self.database.tenant(caller.tenant) as connection:
            rows = connection.execute(
                "SELECT id FROM repository WHERE tenant = %s AND name = ANY(%s)"
                " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[]))",
                (caller.tenant, wanted, allowed, allowed),
            ).fetchall()
        if len(rows) < len(wanted):
            raise UsageError("there is no such repository", "/v1/repositories lists those you may see")
        return [number for (number,) in rows]

    def _is_awaited(self, tenant: int, permitted: Sequence[int] | None) -> bool:
        """Whether one of these repositories is still to be fetched for the first time."""
        with self.database.tenant(tenant) as connection:
            row = connection.execute(
                "SELECT EXISTS (SELECT FROM repository WHERE tenant = %s AND fetched IS NULL AND problem = ''"
                " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[])))",
                (tenant, permitted, permitted),
            ).fetchone()
        return row == (True,)

    def _there(self, tenant: int, numbers: Sequence[int]) -> list[int]:
        """Those of these repositories that were not taken out since a token was made for them."""
        with self.database.tenant(tenant) as connection:
            rows = connection.execute(
                "SELECT id FROM repository WHERE tenant = %s AND id = ANY(%s) ORDER BY id", (tenant, list(numbers))
            ).fetchall()
        return [number for (number,) in rows]

    def take_turn(self, caller: Caller) -> None:
        """Count a request of the tenant's, whichever process of the server it came to, before its fields are looked at.
        Raises TooMany."""
        ((taken, most),) = self.database.call("SELECT * FROM take_turn(%s)", caller.tenant)
        if not taken:
            raise TooMany(f"the tenant may ask {counted(most, 'time')} a minute", "try again in a minute")


def ensure_text(*texts: str) -> None:
    """Raises UsageError for a text that the database cannot hold: with a NUL, or with half of a character."""
    for text in texts:
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError("a text has a character that is none", "")
