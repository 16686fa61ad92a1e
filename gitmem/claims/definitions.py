"""Finds the lines that define a symbol: in Python by parsing, in other languages by a declaring line and its block.

Pure and approximate. `Class.method` is searched for within the lines of `Class`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

_DECLARES = (
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|"
    r"override|open|sealed|"
    r"unsafe|const|virtual|inline|extern|data|suspend|@\w+)\s+)*"
)
_WORDS = (
    r"(?:def|class|func|fn|fun|function\*?|const|let|var|val|type|interface|enum|struct|trait|impl|module|mod|object|record|"
    r"macro_rules!|protocol|extension|namespace|sub)"
)
MAX_DEFINITION_LINES = 2_000
MAX_HEADER_LINES = 8  # lines after the first one in which a block with braces must open


def lines_of(lines: Sequence[str], path: str, symbol: str) -> tuple[int, int] | None:
    """(first, last) line, from 1, of the definition of `symbol`, in Python with its decorators; None if it is not found
    or a Python file cannot be parsed. `lines`: of the whole file. `symbol`: names from the outside in, with `.`, `::`
    or `#` between them (`Session.open`)."""
    names = [name for name in re.split(r"\.|::|#", symbol) if name]
    if not names:
        return None
    if path.endswith((".py", ".pyi")):
        return _python("\n".join(lines), names)
    block = (1, len(lines))
    for name in names:
        inner = _block(lines, block, name)
        if inner is None:
            return None
        block = inner
    return block


def _python(text: str, names: Sequence[str]) -> tuple[int, int] | None:
    """The first and last line (from 1, decorators included) of a nested definition in Python, `names` from the outside
    in. None if it is not there or the text does not parse."""
    try:
        body: list[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    node: ast.stmt | None = None
    for name in names:
        node = next((statement for statement in body if name in _bound(statement)), None)
        if node is None:
            return None
        body = getattr(node, "body", [])
    assert node is not None
    first = min([node.lineno, *(statement.lineno for statement in getattr(node, "decorator_list", []))])
    return first, node.end_lineno or node.lineno


def _bound(node: ast.stmt) -> set[str]:
    """The names that one statement defines: a function, a class, or the plain targets of an assignment."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return set()
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _block(lines: Sequence[str], outer: tuple[int, int], name: str) -> tuple[int, int] | None:
    """(first, last) line of the block within `outer` whose first line declares `name`; None without one."""
    escaped = re.escape(name)
    form = re.compile(
        rf"{_DECLARES}(?:{_WORDS}\b[^=({{;]*?)(?<![\w$]){escaped}(?![\w$])|"
        rf"{_DECLARES}(?:[\w<>\[\],.&*:]+\s+)*{escaped}\s*\([^;]*$"
    )
    for number in range(outer[0], outer[1] + 1):
        if form.search(lines[number - 1]):
            return number, _end(lines, number, outer[1])
    return None


def _end(lines: Sequence[str], first: int, last: int) -> int:
    """The last line of the block that begins on line `first`: by braces, or else by indentation. It is at most
    `last`."""
    depth, opened = 0, False
    for number in range(first, min(last, first + MAX_DEFINITION_LINES) + 1):
        bare = re.sub(r"'(?:[^'\\]|\\.)'|\"(?:[^\"\\]|\\.)*\"|//.*", "", lines[number - 1])
        depth += bare.count("{") - bare.count("}")
        opened = opened or "{" in bare
        if opened and depth <= 0:
            return number
        if not opened and bare.rstrip().endswith(";"):
            return number
        if not opened and number > first + MAX_HEADER_LINES:
            break
    indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    end = first
    for number in range(first + 1, min(last, first + MAX_DEFINITION_LINES) + 1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        if line.strip():
            end = number
    return end
