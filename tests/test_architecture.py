"""Imports point downwards, and each outside library has one room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gitmem"
MODULES = sorted(PACKAGE.rglob("*.py"))

EDGE = {"cli", "commands", "output", "mcp_server", "api", "__main__"}
LEAVES = {"errors", "types", "objects", "counted"}
ROOMS = {  # library -> the only rooms that may import it
    "apsw": {"db"},
    "pygit2": {"git"},
    "llama_cpp": {"embedders", "models"},
    "click": EDGE,
    "mcp": {"mcp_server"},
    "watchfiles": {"commands", "watch"},
}
HEAVY = {"numpy", "pygit2", "detect_secrets", "llama_cpp", "yaml", "markdown_it", "httpx", "mcp", "watchfiles"}


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> list[tuple[str, bool]]:
    """(module, at the top level of the file) for every import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append((node.module, id(node) in top))
            found += [(f"{node.module}.{alias.name}", id(node) in top) for alias in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_outside_library_is_imported_in_its_own_room_only(path: Path) -> None:
    for module, top in imports(path):
        library = module.split(".")[0]
        assert room(path) in ROOMS.get(library, {room(path)}), f"{path.name} imports {library}"
        if library in HEAVY and path.name not in ("library.py", "mcp_server.py"):
            assert not top, f"{path.name} imports {library} at the top: too heavy for the cold path"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    here = room(path)
    if here in EDGE or (path.name == "__init__.py" and here == "__init__"):
        return
    ours = {module.split(".")[1] for module, _ in imports(path) if module.startswith("gitmem.")}
    assert not ours & EDGE, f"{here} imports the edge: {ours & EDGE}"
    if here in LEAVES:
        assert not ours - LEAVES, f"a leaf imports {ours - LEAVES}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_library_code_neither_prints_nor_reads_the_environment(path: Path) -> None:
    if room(path) in EDGE:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{path.name}:{node.lineno} prints"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            spelled = f"{node.value.id}.{node.attr}"
            assert spelled not in ("os.environ", "sys.exit", "sys.stdout"), f"{path.name}:{node.lineno}: {spelled}"


def test_no_module_is_called_by_a_word_that_says_nothing() -> None:
    banned = {"utils", "helpers", "manager", "service", "base", "common"}
    assert not [path for path in MODULES if path.stem in banned]
