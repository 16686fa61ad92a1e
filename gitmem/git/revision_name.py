"""The texts that may name a revision: the name of a ref or an oid, then steps to parents. Pure; asks nothing of Git.

Git's own syntax is too powerful: `:/PATTERN` and `REV^{/PATTERN}` run regular expressions over every commit message,
and libgit2 does so by recursion on the stack, which can end the process. A revision may come from a message, a request
or a page, so both adapters of `git/repository.py` accept only these forms (docs/threats.md, A53).
"""

from gitmem.lazy_patterns import lazy

MAX_NAME = 250  # characters of a revision: file systems take no longer name of a ref
MAX_STEPS = 16  # `~N` or `^N` after the name
_FORBIDDEN = lazy(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|^[-/.]|[/.]$")  # git check-ref-format
_STEPS = lazy(rf"(?:[~^]\d{{0,4}}){{0,{MAX_STEPS}}}")


def is_revision_name(text: str) -> bool:
    """Whether `text` is a name (`main`, `refs/heads/main`, `HEAD`, `@`) or an oid or its first digits.

    `~N` and `^N` may follow: `HEAD~2`, `v1.0^2~3`.
    """
    if len(text) > MAX_NAME:
        return False
    first = min((index for index in (text.find("~"), text.find("^")) if index >= 0), default=len(text))
    name, steps = text[:first], text[first:]
    return bool(name) and not _FORBIDDEN.search(name) and bool(_STEPS.fullmatch(steps))
