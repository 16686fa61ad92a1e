"""The files that `git mem init` creates, in English or Korean.

The folder `new_files` has their texts: `SOUL.ko.md` becomes SOUL.md, and `SOUL.ko.earlier.md` is its text of an earlier
version. Only this folder is read.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "new_files"
LANGUAGES = ("en", "ko")
FILES = ("MEMORY.md", "SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md")
BLANK = ("USER.md", "TOOLS.md")  # instruction files whose template has only fields to fill in
FOLDER_ROW = "memory/**/*.md -text merge=gitmem\n"
FORMER_ROW = "memory/*.md merge=gitmem\n"  # of an earlier version: the archive below memory/ merged as text
ATTRIBUTES = f"""\
# Memory is UTF-8 text whose line ends stay as they are; facts merge as facts (git mem install sets the driver up).
MEMORY.md -text merge=gitmem
{FOLDER_ROW}"""


def files(language: str) -> dict[str, str]:
    """Path -> text of the files of a new memory repository. `language`: one of LANGUAGES."""
    return {**{path: _text(path, language) for path in FILES}, ".gitattributes": ATTRIBUTES}


def _text(path: str, version: str) -> str:
    """The text of a template. `version`: its language, for an earlier version `en.earlier`."""
    return (FOLDER / path).with_suffix(f".{version}.md").read_bytes().decode()


@cache
def template_versions(path: str) -> frozenset[bytes]:
    """The bytes that the file `path` has when `git mem init` creates it, in every language, and had in earlier
    versions: a file that still has such a text was never filled in. Empty for a path without a template."""
    if path not in FILES:
        return frozenset()
    return frozenset(file.read_bytes() for file in FOLDER.glob(f"{path.removesuffix('.md')}.*.md"))


def is_unfilled(path: str, text: str) -> bool:
    """Whether nobody filled in the file: `path` is in BLANK and `text` is its template; white space around the text
    does not matter."""
    return path in BLANK and text.strip().encode() in {template.strip() for template in template_versions(path)}
