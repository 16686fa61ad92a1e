"""Which texts may name a revision: a ref's name or an oid, then steps to parents. Pure; Git is not asked.

Git's own language of revisions is a program: `:/PATTERN` and `REV^{/PATTERN}` run regular expressions over every commit
message, and libgit2 does so by recursion on the stack, which ends the process. A revision may come from a message, a
request or a page, so both adapters of `git/repository.py` take these forms alone (docs/threats.md, A53).
"""

from gitmem.lazy_patterns import lazy

MAX_NAME = 250  # characters of a revision: a file system takes no longer name of a ref
MAX_STEPS = 16  # times `~N` or `^N` may follow the name
_FORBIDDEN = lazy(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-/.]|[/.]$")  # git check-ref-format
_STEPS = lazy(rf"(?:[~^]\d{{0,4}}){{0,{MAX_STEPS}}}")


def is_revision_name(text: str) -> bool:
    """Whether `text` is a name (`main`, `refs/heads/main`, `HEAD`, `@`), an oid or the beginning of one, or such a name
    with `~N` and `^N` behind it: `HEAD~2`, `v1.0^2~3`."""
    if len(text) > MAX_NAME:
        return False
    first = min((at for at in (text.find("~"), text.find("^")) if at >= 0), default=len(text))
    name, steps = text[:first], text[first:]
    return bool(name) and not _FORBIDDEN.search(name) and bool(_STEPS.fullmatch(steps))
