"""git mem: memory for AI agents, kept as Markdown in a Git repository."""

__version__ = "0.1.0"
