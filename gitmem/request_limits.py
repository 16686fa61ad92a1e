"""The limits of requests that both the local MCP server and an organisation's server check."""

MAX_HITS = 50  # hits of one search
DEFAULT_HITS = 6
MAX_CONTEXT_TOKENS = 20_000  # budget of one context
