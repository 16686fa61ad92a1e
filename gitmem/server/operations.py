"""The server's operations, the same for REST and MCP: authenticate, search, read lines, make a context, propose a line.

Each operation checks the caller's scopes and repositories. A repository that the caller may not see and one that does
not exist give the same error. Each answer but that of `audit` adds a row to the audit log, which has neither the
question nor the answer.
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
from gitmem.search.alerts import parse_alerts
from gitmem.search.hits import Hit
from gitmem.search.incidents import HITS, Incident, find_incidents
from gitmem.search.search import Answer, Query
from gitmem.server.administration import TOKEN_PREFIX, hash_of
from gitmem.server.caller import Caller, Unauthorized
from gitmem.server.ingest import Ingest
from gitmem.server.line_proposals import Change, Proposals, Proposed
from gitmem.server.oidc import Identities, Identity
from gitmem.server.postgres.database import Database, is_storable
from gitmem.server.shared_context import context_of
from gitmem.server.shared_search import SharedSearch, spellings
from gitmem.server.telemetry import TOKENS, stage

MAX_QUESTION_CHARS = 10_000
MAX_PROPOSAL_CHARS = 4_000  # of a proposed line, and of its title and reason together
MAX_CONTEXT_REPOSITORIES = 5  # repositories whose files one context reads
MAX_ALERTS = 3  # alerts of one request; each takes up to two searches
MAX_GLOB_CHARS, MAX_GLOBS = 200, 20
MAX_CACHED_TOKENS = 10_000  # tokens whose tenant is cached
MAX_LINES = 200  # lines of a file in one answer
MAX_AUDIT_ROWS = 1_000  # rows of the audit log in one answer
MAX_PAST_REPOSITORIES = 20  # repositories of one search with `at`: each tree may have to be indexed first


class TooMany(GitMemError):
    """The tenant made more requests than its limit for a minute."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first` to `last` (from 1) of a memory file at a commit, as `text`; a line with a secret is withheld.
    `count`: lines of the whole file."""

    repository: str
    path: str
    commit: str
    first: int
    last: int
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class FetchedRepository:
    """A repository. `fetched`: the time of its last fetch, None if it was never fetched."""

    name: str
    fetched: datetime | None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A request. `token`: the number of its token, None for an identity's. `subject`: the name of the identity, "" for
    a token. `action`: the name of the operation. `repositories`: numbers of those that were read. `hits`: how many
    results it had. `status`: of HTTP."""

    at: datetime
    token: int | None
    subject: str
    action: str
    repositories: list[int]
    hits: int
    status: int


class Operations:
    """The operations of a server. Safe for several threads. A program first gets the `caller` of a token and calls
    `take_turn`, which counts the request; the other methods do neither.

    `identities`: the configured identity providers, None without any. `proposals`: None if the server opens no pull
    requests.
    """

    def __init__(
        self, database: Database, shared: SharedSearch, ingest: Ingest, now: Callable[[], datetime],
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
        """The cached tenant of a token, 0 if it is not cached. Used to order requests only: the token may have expired
        or been revoked since."""
        return self._tenants.get(hash_of(token), 0)

    def caller(self, token: str) -> Caller:
        """The caller with this token, which is one of the server's own or an identity provider's. Raises Unauthorized
        for an unknown, expired or revoked token, IndexUnusable if the database or the identity provider does not
        answer. Notes the tenant of the token, of at most MAX_CACHED_TOKENS tokens."""
        refused = Unauthorized("no token that holds", "send 'Authorization: Bearer TOKEN'")
        with stage("authenticate"):
            caller = self._caller(token, refused)
        if len(self._tenants) >= MAX_CACHED_TOKENS:
            self._tenants = {}
        self._tenants[hash_of(token)] = caller.tenant
        return caller

    def _caller(self, token: str, refused: Unauthorized) -> Caller:
        """As `caller`, without the cache of tenants. Raises `refused` for a token that is not valid."""
        if self.identities is not None and token.count(".") == 2 and not token.startswith(TOKEN_PREFIX):
            return self._caller_of_identity(self.identities.identity(token), refused)
        rows = self.database.call("SELECT * FROM token_of(%s)", hash_of(token))
        if not rows:
            raise refused
        ((number, tenant, name, scope, repositories),) = rows
        if repositories is not None:
            repositories = tuple(repositories)
        return Caller(number, tenant, name, ((scope, repositories),))

    def _caller_of_identity(self, identity: Identity, refused: Unauthorized) -> Caller:
        """The caller of a verified identity. Names of repositories in its grants become numbers; a name that does not
        exist is dropped. Raises `refused` for an unknown tenant."""
        ((tenant,),) = self.database.call("SELECT tenant_named(%s)", identity.tenant)
        if tenant is None:
            raise refused
        names = [name for grant in identity.grants for name in grant.repositories]
        query = "SELECT name, id FROM repository WHERE tenant = %s AND name = ANY(%s)"
        numbers = dict(self.database.rows(tenant, query, names))
        grants: list[tuple[str, tuple[int, ...] | None]] = []
        for grant in identity.grants:
            permitted = None
            if grant.repositories:
                permitted = tuple(numbers[name] for name in grant.repositories if name in numbers)
            grants.append((grant.scope, permitted))
        return Caller(0, tenant, identity.subject, tuple(grants), identity.subject)

    def search(self, caller: Caller, query: Query, names: Sequence[str] = (), ref: str = "", at: str = "") -> Answer:
        """Search the named repositories, or without `names` all that the caller may see.

        `ref`: a branch or tag; without it each repository's own branch is searched. `at`: a revision or a day of that
        own branch. A repository without that ref, or without a fetch yet, has no hits; the answer is `stale` if a first
        fetch is waited for. Raises UsageError for an unknown repository, an unknown `at`, a text over its limit, and
        options that do not go together; Forbidden without the scope `read`; IndexUnusable if a concurrent fetch dropped
        the trees of `at` twice.
        """
        if len(query.text) > MAX_QUESTION_CHARS:
            raise UsageError(f"a question has {MAX_QUESTION_CHARS} characters at most", "ask in fewer words")
        if len(query.paths) > MAX_GLOBS or any(len(glob) > MAX_GLOB_CHARS for glob in query.paths):
            raise UsageError(f"{MAX_GLOBS} globs at most, of {MAX_GLOB_CHARS} characters at most", "")
        ensure_text(query.text, *query.paths, *query.types, *query.tags, *names, ref, at)
        permitted = self._permitted(caller, names)
        if query.history and (permitted is None or len(permitted) != 1):
            raise UsageError("'history' takes the name of one repository", "name it in 'repository'")
        now = self.now()
        past: dict[int, tuple[str, str]] = {}
        for _ in range(2):  # a fetch in between may drop the trees that no branch names
            if at:
                past, now = self._as_of(caller, permitted, at, ref)
            answer, searched = self._searched(caller.tenant, permitted, query, now, ref, past)
            if len(searched) >= len(past):
                break
        else:
            raise IndexUnusable("this is being indexed just now", "try again in a moment")
        if not searched and self._has_unfetched(caller.tenant, permitted):
            answer = answer._replace(stale=True)
        TOKENS.inc(sum(estimate(hit.text) for hit in answer.hits))
        self.record(caller, "search", searched, len(answer.hits))
        return answer

    def _searched(self, *arguments: Any) -> tuple[Answer, list[int]]:
        with stage("search"):
            return self.shared.search(*arguments)

    def _as_of(
        self, caller: Caller, permitted: Sequence[int] | None, at: str, ref: str
    ) -> tuple[dict[int, tuple[str, str]], datetime]:
        """({repository: (commit, snapshot key)} as of `at`, date of the newest of these commits). A repository that was
        not fetched yet is left out; if all are, the date is now. Indexes a tree that is not indexed yet. Raises
        UsageError with `ref`, for more than MAX_PAST_REPOSITORIES or all repositories of the tenant, and for an unknown
        revision or day."""
        if ref:
            raise UsageError("'at' and 'ref' do not go together", "'at' is of each repository's own branch")
        if permitted is None or len(permitted) > MAX_PAST_REPOSITORIES:
            raise UsageError(
                f"'at' takes the names of {MAX_PAST_REPOSITORIES} repositories at most", "name them in 'repository'"
            )
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

    def repositories(self, caller: Caller) -> list[FetchedRepository]:
        """Each repository that the caller may see, by name. Raises Forbidden without the scope `read`."""
        permitted = caller.repositories()
        rows = self.database.rows(
            caller.tenant,
            "SELECT id, name, fetched FROM repository WHERE tenant = %s"
            " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[])) ORDER BY name", permitted, permitted,
        )  # fmt: skip
        self.record(caller, "repositories", [number for number, _, _ in rows], len(rows))
        return [FetchedRepository(name, fetched) for _, name, fetched in rows]

    def lines(
        self, caller: Caller, name: str, path: str, first: int = 1, count: int = MAX_LINES, ref: str = ""
    ) -> Lines:
        """`count` lines, at most MAX_LINES, of a memory file from line `first` at the tip of a branch or tag ("": the
        repository's own branch), with secrets and forgotten texts masked.

        Raises UsageError if `first` is behind the end, the file is too large, or the place does not exist or may not be
        seen (the same message for these two); Forbidden without the scope `read`; NotARepository if there is no mirror.
        """
        permitted, commit, shown = self._lines(caller, name, path, ref)
        self.record(caller, "lines", permitted, 1)
        if first > max(1, len(shown)):
            raise UsageError(f"the file has {counted(len(shown), 'line')}", "ask from one of these")
        last = min(len(shown), first + min(count, MAX_LINES) - 1)
        text = "\n".join(without_secrets(shown)[first - 1 : last])
        return Lines(name, path, commit, first, last, len(shown), text)

    def _lines(self, caller: Caller, name: str, path: str, ref: str = "") -> tuple[list[int], str, list[str]]:
        """([number of the repository], commit, lines) of a memory file; forgotten texts are masked in the lines. Raises
        as `lines`."""
        ensure_text(name, path, ref)
        permitted = self._permitted(caller, [name])
        assert permitted is not None
        names = spellings(ref)
        rows = self.database.rows(
            caller.tenant,
            "SELECT ref.commit_oid FROM repository JOIN ref ON ref.tenant = repository.tenant"
            " AND ref.repository = repository.id WHERE repository.tenant = %s AND repository.id = %s"
            " AND CASE WHEN %s THEN ref.name = ANY(%s) ELSE ref.name = repository.head END"
            " ORDER BY array_position(%s::text[], ref.name) LIMIT 1", permitted[0], bool(ref), names, names,
        )  # fmt: skip
        if not rows:
            raise UsageError("there is no such branch or tag", "leave 'ref' out for the repository's own branch")
        commit = bytes(rows[0][0]).hex()
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
        """The past incidents that resemble an alert (`git mem seen`), for the first MAX_ALERTS alerts of the text.
        Searches the named repositories, or without `names` all that the caller may see. Raises UsageError for an
        unknown repository, Forbidden without the scope `read`."""
        ensure_text(*names)
        permitted = self._permitted(caller, names)
        now, searched_repositories = self.now(), set[int]()

        def ask(question: str) -> Answer:
            query = Query(question[:MAX_QUESTION_CHARS], limit=HITS, everything=True)
            answer, searched = self._searched(caller.tenant, permitted, query, now, "", {})
            searched_repositories.update(searched)
            return answer

        def lines_of(hit: Hit, path: str) -> Sequence[str]:
            return without_secrets(self._lines(caller, hit.repository, path)[2])

        incidents = find_incidents(
            parse_alerts(alert)[:MAX_ALERTS], ask, lines_of, now.date(), self.shared.config.context_evidence
        )
        self.record(caller, "seen", sorted(searched_repositories), len(incidents))
        return incidents

    def audit(self, caller: Caller, limit: int) -> list[AuditRow]:
        """The newest `limit` rows of the tenant's audit log, the newest first; for an administrator of some
        repositories only the rows about at least one of these. This request itself adds no row. Raises Forbidden
        without the scope `admin`."""
        permitted = caller.repositories("admin")
        rows = self.database.rows(
            caller.tenant,
            "SELECT at, token, subject, action, repositories, hits, status FROM audit WHERE tenant = %s"
            " AND (%s::integer[] IS NULL OR repositories && %s::integer[]) ORDER BY id DESC LIMIT %s",
            permitted, permitted, limit,
        )  # fmt: skip
        return [AuditRow(*row) for row in rows]

    def record(self, caller: Caller, action: str, repositories: Sequence[int], hits: int, status: int = 200) -> None:
        """Add a row to the audit log. `action`: the name of the operation. `repositories`: numbers of those that
        were read. `hits`: how many results it had. `status`: of HTTP. Raises IndexUnusable if the database does not
        answer."""
        with stage("audit"), self.database.tenant(caller.tenant) as connection:
            connection.execute(
                "INSERT INTO audit (tenant, token, subject, action, repositories, hits, status)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (caller.tenant, caller.token or None, caller.subject, action, list(repositories), hits, status),
            )

    def context(self, caller: Caller, prompt: str, names: Sequence[str] = (), budget: int = 0) -> Context:
        """A context for a prompt. With `names` it has the files and hits of at most MAX_CONTEXT_REPOSITORIES
        repositories, without them the hits of a search over all that the caller may see. `budget`: tokens, 0 for the
        configured one. Raises UsageError for an unknown repository, too many of them, an invalid budget and a text over
        its limit; Forbidden without the scope `read`; NotARepository if a named one has no mirror."""
        if len(prompt) > MAX_QUESTION_CHARS:
            raise UsageError(f"a prompt has {MAX_QUESTION_CHARS} characters at most", "say it in fewer words")
        if len(names) > MAX_CONTEXT_REPOSITORIES:
            raise UsageError(
                f"a context is of {MAX_CONTEXT_REPOSITORIES} repositories at most", "or name none for all of them"
            )
        ensure_text(prompt, *names)
        permitted = self._permitted(caller, names)
        with stage("context"):
            branches = self.shared.branches(caller.tenant, permitted) if names else []
            now = self.now()
            context, searched = context_of(self.shared, caller.tenant, branches, permitted, prompt, budget, now)
        TOKENS.inc(context.tokens)
        self.record(caller, "context", searched, len(context.parts))
        return context

    def propose(self, caller: Caller, name: str, change: Change) -> Proposed:
        """Open a pull request that adds a line of memory. Raises Forbidden without the scope `propose`; UsageError for
        an unknown repository, a text over its limit, a line that exists, and if no pull requests can be opened here;
        Refused if the gate refuses the line; NotARepository without a mirror; GitMemError if the forge fails or the
        line is proposed already."""
        if len(change.line.text) > MAX_PROPOSAL_CHARS or len(change.title) + len(change.reason) > MAX_PROPOSAL_CHARS:
            raise UsageError(f"a line has {MAX_PROPOSAL_CHARS} characters at most", "")
        ensure_text(name, change.line.text, change.title, change.reason, *change.line.tags, change.line.kind)
        caller.repositories("propose")
        permitted = self._permitted(caller, [name], "propose")
        assert permitted is not None
        if self.proposals is None:
            raise UsageError("this server takes no proposals", "git mem publish")
        query = "SELECT url FROM repository WHERE tenant = %s AND id = %s"
        ((url,),) = self.database.rows(caller.tenant, query, permitted[0])
        with stage("propose"):
            proposed = self.proposals.propose(caller.tenant, permitted[0], url, change, self.now())
        self.record(caller, "propose", permitted, 1)
        return proposed

    def _permitted(self, caller: Caller, names: Sequence[str], scope: str = "read") -> list[int] | None:
        """The numbers of the named repositories for which the caller has the scope; without `names` all of them, None
        for all of the tenant. One SQL statement finds neither a foreign nor an absent repository, so that both raise
        the same UsageError. Raises Forbidden if the caller does not have the scope."""
        allowed = caller.repositories(scope)
        if not names:
            if allowed is None:
                return allowed
            query = "SELECT id FROM repository WHERE tenant = %s AND id = ANY(%s) ORDER BY id"
            rows = self.database.rows(caller.tenant, query, allowed)  # a token may name one that was removed later
            return [number for (number,) in rows]
        distinct_names = list(dict.fromkeys(names))
        rows = self.database.rows(
            caller.tenant,
            "SELECT id FROM repository WHERE tenant = %s AND name = ANY(%s)"
            " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[]))", distinct_names, allowed, allowed,
        )  # fmt: skip
        if len(rows) < len(distinct_names):
            raise UsageError("there is no such repository", "/v1/repositories lists those you may see")
        return [number for (number,) in rows]

    def _has_unfetched(self, tenant: int, permitted: Sequence[int] | None) -> bool:
        """Whether one of these repositories (None: all of the tenant) was not fetched yet and no fetch of it has
        failed."""
        ((has_unfetched,),) = self.database.rows(
            tenant,
            "SELECT EXISTS (SELECT FROM repository WHERE tenant = %s AND fetched IS NULL AND problem = ''"
            " AND (%s::integer[] IS NULL OR id = ANY(%s::integer[])))", permitted, permitted,
        )  # fmt: skip
        return bool(has_unfetched)

    def take_turn(self, caller: Caller) -> None:
        """Count a request of the caller's tenant in the database, for all processes of the server. Raises TooMany over
        the tenant's limit for a minute. Called before the request's fields are checked."""
        ((is_taken, limit),) = self.database.call("SELECT * FROM take_turn(%s)", caller.tenant)
        if not is_taken:
            raise TooMany(f"the tenant may ask {counted(limit, 'time')} a minute", "try again in a minute")


def ensure_text(*texts: str) -> None:
    """Raise UsageError for a text that PostgreSQL cannot store."""
    if not all(map(is_storable, texts)):
        raise UsageError("a text has a character that is none", "")
