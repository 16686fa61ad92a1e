"""The operations of the server as MCP tools over streamable HTTP, with the names of the local server's (`agents/`).

Each request carries its own token; no state is kept between requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from typing_extensions import TypedDict

from gitmem import __version__
from gitmem.agents import tool_arguments
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.quoting import MCP_INSTRUCTIONS, fence, one_line, shown_name
from gitmem.memory.writing import NewLine
from gitmem.search.hits import Hit as SearchHit
from gitmem.search.request import SearchRequest, history_mode, query_of
from gitmem.search.results import shortened
from gitmem.server.caller import Caller
from gitmem.server.line_proposals import Change
from gitmem.server.operations import Operations
from gitmem.server.telemetry import ERRORS
from gitmem.server.web.routes import MAX_HITS, STATUS, bearer, failed, record_failure

_caller: ContextVar[Caller] = ContextVar("caller")


class Hit(TypedDict):
    """A passage, quoted."""

    repository: str
    path: str
    start_line: int
    end_line: int
    score: float
    heading: str
    date: str
    type: str
    commit: str
    snippet: str


class Found(TypedDict):
    """What `memory_search` gives."""

    hits: list[Hit]
    lanes: list[str]
    answered: bool
    withheld: int


class Got(TypedDict):
    """What `memory_get` gives."""

    repository: str
    path: str
    start_line: int
    end_line: int
    lines: int
    text: str


class Assembled(TypedDict):
    """What `memory_context` gives."""

    text: str
    tokens: int
    summary: str
    withheld: int


class Opened(TypedDict):
    """What `memory_propose` gives."""

    branch: str
    number: int
    url: str


ACTIONS = {
    "memory_search": "search", "memory_get": "lines", "memory_context": "context", "memory_propose": "propose",
}  # fmt: skip


class CountedTools(MCPServer):
    """An MCP server that counts every call, and audits calls that the SDK refuses: unknown tools or wrong arguments."""

    def __init__(self, operations: Operations) -> None:
        super().__init__("git-mem", version=__version__, instructions=MCP_INSTRUCTIONS)
        self.operations = operations

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> Any:
        """As MCPServer's. Raises ToolError."""
        caller, refused = _caller.get(), UsageError("there is no such tool, or it takes other arguments", "")
        try:
            await run_in_threadpool(self.operations.take_turn, caller)
        except GitMemError as problem:
            raise _tool_error(problem) from None
        tool = next((tool for tool in self._tool_manager.list_tools() if tool.name == name), None)
        try:
            if tool is None:
                read = arguments
            else:
                read = tool_arguments.accepted(name, tool.parameters, arguments)
            return await super().call_tool(name, read, context)
        except (ToolError, UsageError) as problem:
            if tool is None or isinstance(problem, UsageError) or isinstance(problem.__cause__, ValidationError):
                ERRORS.labels(type(refused).__name__).inc()
                action = ACTIONS.get(name, "unknown")
                with suppress(GitMemError):  # the answer is the same if the audit log fails
                    await run_in_threadpool(record_failure, self.operations, caller, action, refused)
            if isinstance(problem, UsageError):
                raise _tool_error(problem) from None
            if isinstance(problem.__cause__, ValidationError):  # its message quotes the arguments
                raise _tool_error(refused) from None
            raise


def tools(operations: Operations) -> MCPServer:
    """The MCP server with a tool for each operation."""
    server = CountedTools(operations)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    writes = ToolAnnotations(read_only_hint=False, open_world_hint=True)
    server.add_tool(searcher(operations), annotations=reads)
    server.add_tool(reader(operations), annotations=reads)
    server.add_tool(assembler(operations), annotations=reads)
    server.add_tool(proposer(operations), annotations=writes)
    for tool in server._tool_manager.list_tools():
        tool.parameters["additionalProperties"] = False
    return server


def searcher(operations: Operations) -> Callable[..., Any]:
    """The tool memory_search over the repositories that the caller may read."""

    def memory_search(
        query: Annotated[str, Field(description="A question or words, in any language.")],
        maxResults: Annotated[int, Field(ge=1, le=MAX_HITS, description="Hits at most.")] = 6,
        repository: Annotated[str | None, Field(description="Only this repository.")] = None,
        ref: Annotated[str | None, Field(description="A branch or tag.")] = None,
        type: Annotated[str | None, Field(description="Only facts of this type, such as decision.")] = None,
        path: Annotated[str | None, Field(description="Only files that match this glob.")] = None,
        history: Annotated[bool, Field(description="Commits of the one repository too: why it is as it is.")] = False,
    ) -> Found:
        """Search the memory of every repository you may see. Returns quoted passages with repository, path, lines."""
        request = SearchRequest(
            query, maxResults, paths=tuple(filter(None, [path])), types=tuple(filter(None, [type])),
            history=history_mode(history),
        )  # fmt: skip
        asked = query_of(request, operations.now())
        answer = _run(
            operations,
            "search",
            lambda caller: operations.search(caller, asked, tuple(filter(None, [repository])), ref or ""),
        )
        hits = [_of_commit(hit, query) if hit.kind else _of_file(hit, query) for hit in answer.hits]
        lanes = [one_line(lane) for lane in answer.lanes]
        return Found(hits=hits, lanes=lanes, answered=answer.answered, withheld=answer.withheld)

    return memory_search


def _of_file(hit: SearchHit, query: str) -> Hit:
    """The hit of a passage of a file; its text is quoted and shortened."""
    snippet = fence(
        shortened(hit.text, query), f"{hit.repository}/{hit.path}", (hit.start_line, hit.end_line),
        commit=hit.commit, trust=hit.trust, note=one_line(hit.note),
    )  # fmt: skip
    return Hit(
        repository=one_line(hit.repository), path=shown_name(hit.path), start_line=hit.start_line,
        end_line=hit.end_line, score=round(hit.score, 4), heading=one_line(hit.where), date=one_line(hit.date),
        type=one_line(hit.type), commit=hit.commit, snippet=snippet,
    )  # fmt: skip


def _of_commit(hit: SearchHit, query: str) -> Hit:
    """The hit of a commit; its author, date, subject and state stand before its text."""
    state = ""
    if hit.state:
        state = f" ({hit.state} by {hit.by})"
    said = f"{hit.author}, {hit.date}: {hit.subject}{state}\n{shortened(hit.text, query)}"
    return Hit(
        repository=one_line(hit.repository), path="", start_line=hit.start_line, end_line=hit.end_line,
        score=round(hit.score, 4), heading=one_line(hit.subject), date=one_line(hit.date), type="", commit=hit.commit,
        snippet=fence(said, hit.repository, commit=hit.commit, trust=hit.trust, note="history"),
    )  # fmt: skip


def reader(operations: Operations) -> Callable[..., Any]:
    """The tool memory_get."""

    def memory_get(
        repository: Annotated[str, Field(description="A repository, as memory_search names it.")],
        path: Annotated[str, Field(description="A memory file, such as MEMORY.md.")],
        first: Annotated[int, Field(ge=1, description="The first line.")] = 1,
        lines: Annotated[int, Field(ge=1, le=200, description="How many lines.")] = 50,
        ref: Annotated[str | None, Field(description="A branch or tag.")] = None,
    ) -> Got:
        """Read lines of a memory file, quoted."""
        shown = _run(
            operations, "lines", lambda caller: operations.lines(caller, repository, path, first, lines, ref or "")
        )
        text = fence(shown.text, f"{repository}/{path}", (shown.first, shown.last), commit=shown.commit)
        return Got(
            repository=one_line(repository), path=shown_name(path), start_line=shown.first, end_line=shown.last,
            lines=shown.count, text=text if shown.text else "",
        )  # fmt: skip

    return memory_get


def assembler(operations: Operations) -> Callable[..., Any]:
    """The tool memory_context."""

    def memory_context(
        prompt: Annotated[str, Field(description="What the person asks now.")] = "",
        budget: Annotated[int, Field(ge=0, le=20_000, description="Tokens of the whole; 0: the usual.")] = 0,
        repositories: Annotated[
            list[str] | None, Field(max_length=5, description="Of these, with their files; else of all you may see.")
        ] = None,
    ) -> Assembled:
        """Assemble what memory says about a prompt, quoted, within a budget of tokens."""
        made = _run(
            operations, "context", lambda caller: operations.context(caller, prompt, tuple(repositories or ()), budget)
        )
        summary = one_line(made.summary)
        return Assembled(text=made.text, tokens=made.tokens, summary=summary, withheld=made.withheld)

    return memory_context


def proposer(operations: Operations) -> Callable[..., Any]:
    """The tool memory_propose."""

    def memory_propose(
        repository: Annotated[str, Field(description="A repository, as memory_search names it.")],
        text: Annotated[str, Field(description="One line: what to remember.")],
        type: Annotated[str, Field(description="Its type, such as decision.")] = "",
        reason: Annotated[str, Field(description="Why, for who reviews it.")] = "",
    ) -> Opened:
        """Propose a line of memory: opens a pull request that a person reviews. Takes a token of scope propose."""
        change = Change(NewLine(text, type), "", reason, _caller.get().name)
        done = _run(operations, "propose", lambda caller: operations.propose(caller, repository, change))
        return Opened(branch=done.branch, number=done.number, url=one_line(done.url))

    return memory_propose


def _run(operations: Operations, name: str, operation: Callable[[Caller], Any]) -> Any:
    """The result of an operation. A refusal is audited, as over REST. Raises ToolError."""
    caller = _caller.get()
    try:
        return operation(caller)
    except GitMemError as problem:
        with suppress(GitMemError):
            record_failure(operations, caller, name, problem)
        raise _tool_error(problem) from None


def _tool_error(problem: GitMemError) -> ToolError:
    """The error for a client. One that is not in STATUS gets a general sentence, as over REST."""
    if not isinstance(problem, tuple(STATUS)):
        return ToolError("the server could not answer")
    return ToolError(one_line(f"{problem.message}: {problem.hint}" if problem.hint else problem.message))


def application(operations: Operations, host: str, allowed: list[str]) -> Starlette:
    """The tools at /mcp. `allowed`: host names with ports under which clients may reach the server, empty for any."""
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(allowed), allowed_hosts=allowed, allowed_origins=[]
    )
    return tools(operations).streamable_http_app(
        stateless_http=True, json_response=True, transport_security=security, host=host
    )


class Authenticated:
    """An ASGI middleware that finds the caller of each request below /mcp."""

    def __init__(self, app: Any, operations: Operations) -> None:
        self.app = app
        self.operations = operations

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/mcp"):
            await self.app(scope, receive, send)
            return
        try:
            caller = await run_in_threadpool(self.operations.caller, bearer(Request(scope)))
        except GitMemError as problem:
            await failed(problem)(scope, receive, send)
            return
        held = _caller.set(caller)
        try:
            await self.app(scope, receive, send)
        finally:
            _caller.reset(held)
