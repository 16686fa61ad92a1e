"""What a server answers: REST, MCP over streamable HTTP, and the webhooks of forges."""
