"""The operations of the server as MCP tools over streamable HTTP, with the names of the local server's (`agents/`).

Each request carries its own token; no state is kept between requests.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from typing_extensions import TypedDict

from gitmem import __version__
from gitmem.agents import tool_arguments
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.quoting import MCP_INSTRUCTIONS, fence, one_line, shown_name
from gitmem.json_schema import request_schema
from gitmem.memory.writing import NewLine
from gitmem.request_limits import DEFAULT_HITS, MAX_CONTEXT_TOKENS, MAX_HITS
from gitmem.search.hits import Hit as SearchHit
from gitmem.search.request import SearchRequest, history_mode, query_of
from gitmem.search.results import shortened
from gitmem.server.caller import Caller
from gitmem.server.line_proposals import Change
from gitmem.server.operations import MAX_CONTEXT_REPOSITORIES, MAX_LINES, Operations
from gitmem.server.telemetry import ERRORS
from gitmem.server.web.routes import STATUS, bearer, failed, record_failure

_caller: ContextVar[Caller] = ContextVar("caller")


@dataclass(frozen=True, slots=True)
class Search:
    """Search the memory of every repository you may see. Returns quoted passages with repository, path, lines."""

    query: Annotated[str, "A question or words, in any language."]
    maxResults: Annotated[int, {"minimum": 1, "maximum": MAX_HITS}, "Hits at most."] = DEFAULT_HITS
    repository: Annotated[str, "Only this repository."] = ""
    ref: Annotated[str, "A branch or tag."] = ""
    type: Annotated[str, "Only facts of this type, such as decision."] = ""
    path: Annotated[str, "Only files that match this glob."] = ""
    history: Annotated[bool, "Commits of the one repository too: why it is as it is."] = False


@dataclass(frozen=True, slots=True)
class Get:
    """Read lines of a memory file, quoted."""

    repository: Annotated[str, "A repository, as memory_search names it."]
    path: Annotated[str, "A memory file, such as MEMORY.md."]
    first: Annotated[int, {"minimum": 1}, "The first line."] = 1
    lines: Annotated[int, {"minimum": 1, "maximum": MAX_LINES}, "How many lines."] = 50
    ref: Annotated[str, "A branch or tag."] = ""


@dataclass(frozen=True, slots=True)
class Assemble:
    """Assemble what memory says about a prompt, quoted, within a budget of tokens."""

    prompt: Annotated[str, "What the person asks now."] = ""
    budget: Annotated[int, {"minimum": 0, "maximum": MAX_CONTEXT_TOKENS}, "Tokens of the whole; 0: the usual."] = 0
    repositories: Annotated[
        tuple[str, ...], {"maxItems": MAX_CONTEXT_REPOSITORIES}, "Of these, with their files; else of all you may see."
    ] = ()


@dataclass(frozen=True, slots=True)
class Propose:
    """Propose a line of memory: opens a pull request that a person reviews. Takes a token of scope propose."""

    repository: Annotated[str, "A repository, as memory_search names it."]
    text: Annotated[str, "One line: what to remember."]
    type: Annotated[str, "Its type, such as decision."] = ""
    reason: Annotated[str, "Why, for who reviews it."] = ""


class Hit(TypedDict):
    """A passage, quoted in `snippet`."""

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
    """The answer of memory_search. `lanes`: the searches that ran. `answered`: a hit is likely the answer. `withheld`:
    lines that are not searched, for their secrets."""

    hits: list[Hit]
    lanes: list[str]
    answered: bool
    withheld: int


class Got(TypedDict):
    """The answer of memory_get. `lines`: how many the file has."""

    repository: str
    path: str
    start_line: int
    end_line: int
    lines: int
    text: str


class Assembled(TypedDict):
    """The answer of memory_context. `summary`: one line on its parts. `withheld`: lines hidden for their secrets."""

    text: str
    tokens: int
    summary: str
    withheld: int


class Opened(TypedDict):
    """The answer of memory_propose: the pull request, and its branch."""

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
        """Call a tool for the caller of this request. Raises ToolError if the caller has to wait, if there is no such
        tool, if the arguments do not fit it, and if the tool itself raises it."""
        caller, refused = _caller.get(), UsageError("there is no such tool, or it takes other arguments", "")
        try:
            await run_in_threadpool(self.operations.take_turn, caller)
        except GitMemError as problem:
            raise _tool_error(problem) from None
        tool = next((tool for tool in self._tool_manager.list_tools() if tool.name == name), None)
        try:
            read = arguments if tool is None else tool_arguments.accepted(name, tool.parameters, arguments)
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
    """The MCP server with its four tools: to search, to read lines, to assemble a context and to propose a line."""
    server = CountedTools(operations)
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    writes = ToolAnnotations(read_only_hint=False, open_world_hint=True)
    answers = (
        ("memory_search", Search, search, Found, reads), ("memory_get", Get, get, Got, reads),
        ("memory_context", Assemble, assemble, Assembled, reads), ("memory_propose", Propose, propose, Opened, writes),
    )  # fmt: skip
    requests = {}
    for name, request, answer, result, hints in answers:
        requests[name] = request
        server.add_tool(_function(operations, request, answer, result), name, None, request.__doc__, hints)
    for tool in server._tool_manager.list_tools():
        tool.parameters = {**request_schema(requests[tool.name]), "additionalProperties": False}
    return server


def _function(
    operations: Operations, request: type, answer: Callable[[Operations, Any], Any], result: type
) -> Callable[..., Any]:
    """A function with the fields of `request` as parameters, from which the SDK makes its model of a call."""

    def call(**fields: Any) -> Any:
        return answer(operations, request(**fields))

    returns = inspect.signature(request, eval_str=True).replace(return_annotation=result)
    call.__signature__ = returns  # type: ignore[attr-defined]
    return call


def search(operations: Operations, call: Search) -> Found:
    """The answer of memory_search over the repositories that the caller may read, or the one that is named. Raises
    ToolError if the operation is refused or fails."""
    request = SearchRequest(
        call.query, call.maxResults, paths=tuple(filter(None, [call.path])),
        types=tuple(filter(None, [call.type])), history=history_mode(call.history),
    )  # fmt: skip
    query, names = query_of(request, operations.now()), tuple(filter(None, [call.repository]))
    answer = _run(operations, "search", lambda caller: operations.search(caller, query, names, call.ref))
    hits = [_of_commit(hit, call.query) if hit.kind else _of_file(hit, call.query) for hit in answer.hits]
    lanes = [one_line(lane) for lane in answer.lanes]
    return Found(hits=hits, lanes=lanes, answered=answer.answered, withheld=answer.withheld)


def _of_file(hit: SearchHit, query: str) -> Hit:
    """The hit of a passage of a file; its text is quoted and shortened."""
    snippet = fence(
        shortened(hit.text, query), f"{hit.repository}/{hit.path}", (hit.start_line, hit.end_line),
        commit=hit.commit, trust=hit.trust, note=one_line(hit.note),
    )  # fmt: skip
    return Hit(
        repository=one_line(hit.repository), path=shown_name(hit.path), start_line=hit.start_line,
        end_line=hit.end_line, score=round(hit.score, 4), heading=one_line(hit.topic), date=one_line(hit.date),
        type=one_line(hit.type), commit=hit.commit, snippet=snippet,
    )  # fmt: skip


def _of_commit(hit: SearchHit, query: str) -> Hit:
    """The hit of a commit; its author, date, subject and state stand before its text."""
    state = f" ({hit.state} by {hit.by})" if hit.state else ""
    text = f"{hit.author}, {hit.date}: {hit.subject}{state}\n{shortened(hit.text, query)}"
    return Hit(
        repository=one_line(hit.repository), path="", start_line=hit.start_line, end_line=hit.end_line,
        score=round(hit.score, 4), heading=one_line(hit.subject), date=one_line(hit.date), type="", commit=hit.commit,
        snippet=fence(text, hit.repository, commit=hit.commit, trust=hit.trust, note="history"),
    )  # fmt: skip


def get(operations: Operations, request: Get) -> Got:
    """The answer of memory_get: lines of a memory file, quoted; the text of an empty file is "". Raises ToolError if
    the operation is refused or fails."""
    shown = _run(
        operations, "lines",
        lambda caller: operations.lines(
            caller, request.repository, request.path, request.first, request.lines, request.ref
        ),
    )  # fmt: skip
    text = ""
    if shown.text:
        text = fence(shown.text, f"{request.repository}/{request.path}", (shown.first, shown.last), commit=shown.commit)
    return Got(
        repository=one_line(request.repository), path=shown_name(request.path), start_line=shown.first,
        end_line=shown.last, lines=shown.count, text=text,
    )  # fmt: skip


def assemble(operations: Operations, request: Assemble) -> Assembled:
    """The answer of memory_context: the context for a prompt; its text is "" if memory has nothing. Raises ToolError if
    the operation is refused or fails."""
    context = _run(
        operations, "context",
        lambda caller: operations.context(caller, request.prompt, request.repositories, request.budget),
    )  # fmt: skip
    summary = one_line(context.summary)
    return Assembled(text=context.text, tokens=context.tokens, summary=summary, withheld=context.withheld)


def propose(operations: Operations, request: Propose) -> Opened:
    """The answer of memory_propose: the branch and the pull request that were made for a line. Raises ToolError if the
    operation is refused or fails."""
    change = Change(NewLine(request.text, request.type), "", request.reason, _caller.get().name)
    opened = _run(operations, "propose", lambda caller: operations.propose(caller, request.repository, change))
    return Opened(branch=opened.branch, number=opened.number, url=one_line(opened.url))


def _run(operations: Operations, name: str, operation: Callable[[Caller], Any]) -> Any:
    """The result of an operation. A refusal is audited, as over REST. Raises ToolError if the operation raises a
    GitMemError."""
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
    """An ASGI application with the tools at /mcp. `allowed`: host names with ports under which clients may reach the
    server, empty for any."""
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(allowed), allowed_hosts=allowed, allowed_origins=[]
    )
    return tools(operations).streamable_http_app(
        stateless_http=True, json_response=True, transport_security=security, host=host
    )


class Authenticated:
    """An ASGI middleware that finds the caller of each request below /mcp by its token. Without a valid one it answers
    with an error."""

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
        token = _caller.set(caller)
        try:
            await self.app(scope, receive, send)
        finally:
            _caller.reset(token)
