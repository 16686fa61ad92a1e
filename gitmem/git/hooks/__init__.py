"""The names of the Git hooks that git mem installs."""

from __future__ import annotations

GATES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push", "pre-applypatch", "applypatch-msg")  # may refuse
WRITING = ("prepare-commit-msg",)  # changes the commit message
REFRESH = ("post-commit", "post-merge", "post-checkout", "post-rewrite")  # update the search index
HOOKS = (*GATES, *WRITING, *REFRESH)
SERVER = ("pre-receive",)  # in the repository that people push to
