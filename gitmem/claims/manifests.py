"""Reads the definitions in the configuration files of a tree: scripts, targets, recipes, crates, modules.

The files are parsed, never run. If a file computes or includes definitions (`$(foreach ...)`), its names are not all
known, and a missing name gives an unknown result. Each text is parsed once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from gitmem.claims.claim import Claim
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, NEAR, NOWHERE, Resolution, base_folders, named_folders
from gitmem.claims.tree import Tree, joined
from gitmem.json_values import parse_json

MAX_FILES = 3_000  # files of one tree that are read for a tool
MAX_FILE_BYTES = 1 << 20  # a larger file is not read
NOTHING: frozenset[str] = frozenset()


class Definitions(NamedTuple):
    """The definitions of one file.

    `names`: the defined names. `weak`: names of dependencies and their programs, case-folded, which a command may also
    call. `open`: whether the file may define further names. `package`: the name of the package that it describes, ""
    for none.
    """

    names: frozenset[str] = NOTHING
    weak: frozenset[str] = NOTHING
    open: bool = False
    package: str = ""


# tool -> the paths of the files that define its scripts, targets or packages
FILES: Mapping[str, re.Pattern[str]] = {
    tool: re.compile(form, re.IGNORECASE)
    for tool, form in {
        "node": r"(?:^|/)package\.json$",
        "make": r"(?:^|/)(?:GNUmakefile|makefile(?:\.[\w.-]+)?|[^/]+\.(?:mk|mak|make))$",
        "just": r"(?:^|/)(?:\.?justfile|[^/]+\.just)$",
        "task": r"(?:^|/)[^/]*taskfile[^/]*\.ya?ml$",
        "poe": r"(?:^|/)(?:pyproject\.toml|poe_tasks\.(?:toml|ya?ml|json))$",
        "pdm": r"(?:^|/)pyproject\.toml$",
        "hatch": r"(?:^|/)(?:pyproject|hatch)\.toml$",
        "rake": r"(?:^|/)(?:Rakefile|[^/]+\.rake)$",
        "deno": r"(?:^|/)(?:deno\.jsonc?|package\.json)$",
        "composer": r"(?:^|/)composer\.json$",
        "mise": r"(?:^|/)\.?mise(?:\.[\w]+)?\.toml$",
        "cargo": r"(?:^|/)\.cargo/config(?:\.toml)?$",
        "crate": r"(?:^|/)Cargo\.toml$",
        "binary": r"(?:^|/)Cargo\.toml$",
        "gradle": r"(?:^|/)settings\.gradle(?:\.kts)?$",
    }.items()
}


class Manifests:
    """The scripts, targets, recipes and packages that the configuration files of one tree define. The files for a tool
    are read when it is first looked up."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._read: dict[str, dict[str, Definitions]] = {}

    def of(self, tool: str) -> dict[str, Definitions]:
        """Path -> definitions of each configuration file for a tool, read once. `tool`: a key of FILES, a `?` at its
        end is ignored. At most MAX_FILES; files over MAX_FILE_BYTES and in node_modules are left out."""
        tool = tool.rstrip("?")
        if tool not in self._read:
            form = FILES[tool]
            paths = [path for path in self.tree.oids if form.search(path) and "node_modules/" not in path][:MAX_FILES]
            sizes = self.tree.repo.sizes([self.tree.oids[path] for path in paths])
            paths = [path for path in paths if sizes.get(self.tree.oids[path], MAX_FILE_BYTES + 1) <= MAX_FILE_BYTES]
            blobs = self.tree.repo.read_many([self.tree.oids[path] for path in paths])
            texts = [(data or b"").decode("utf-8", "replace") for _, data in blobs]
            self._read[tool] = {path: _parse(tool, text) for path, text in zip(paths, texts, strict=True)}
        return self._read[tool]

    def resolve(self, claim: Claim, document: str) -> Resolution:
        """Look up the script, target or crate that a command calls. `document`: the file that makes the claim.

        The result is unknown if the tree has no configuration file for the tool, or if the file that would define the
        name may define further names.
        """
        tool = claim.tool
        if folder := _RUST_FOLDERS.get(tool):
            ends = (f"/{folder}/{claim.token}.rs", f"/{folder}/{claim.token}/main.rs")
            if place := next((path for path in self.tree.oids if f"/{path}".endswith(ends)), ""):
                return Resolution(EXACT, place)
            if tool != "binary":
                return Resolution(NOWHERE, unknown=self._declared(claim.token))
        defined = self.of(tool)
        if not defined:
            return Resolution(NOWHERE, unknown=True)
        return self._nearest(claim, document, defined)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The names of the tree's npm packages. Code imports a package by this name."""
        return frozenset(definitions.package for definitions in self.of("node").values() if definitions.package)

    def _declared(self, name: str) -> bool:
        """Whether a Cargo.toml names this example, test or program."""
        return any(name in definitions.names or name in definitions.weak for definitions in self.of("binary").values())

    def _nearest(self, claim: Claim, document: str, defined: Mapping[str, Definitions]) -> Resolution:
        """Look up a name in the files beside the document and above it, then in all others.

        `defined`: path -> definitions. The result is unknown if a file beside or above the document may define further
        names, and if the command runs in a folder that the tree does not have: a submodule, another repository.
        """
        folders = named_folders(claim, document)
        if folders and self.tree.folders.isdisjoint(folders):
            return Resolution(NOWHERE, unknown=True)
        name = claim.token
        by_folder: dict[str, list[tuple[str, Definitions]]] = {}
        for path, definitions in defined.items():
            folder = path.rpartition("/")[0]
            by_folder.setdefault(folder.removesuffix("/.cargo").removesuffix(".cargo"), []).append((path, definitions))
        if claim.folder != "*" and claim.tool not in ("crate", "binary", "gradle"):
            near = [pair for place in base_folders(claim, document) for pair in by_folder.get(joined(place, ""), ())]
            for path, definitions in near:
                if name in definitions.names or name.casefold() in definitions.weak:
                    return Resolution(EXACT, path)
            if any(definitions.open for _, definitions in near):
                return Resolution(NOWHERE, unknown=True)
        for path, definitions in defined.items():
            if name in definitions.names or name.casefold() in definitions.weak:
                return Resolution(NEAR if claim.folder == "*" else ELSEWHERE, path)
        return Resolution(NOWHERE, unknown=any(definitions.open for definitions in defined.values()))


_RUST_FOLDERS = {"example": "examples", "rust-test": "tests", "binary": "bin"}


@lru_cache(maxsize=4096)
def _parse(tool: str, text: str) -> Definitions:
    """The definitions in a file of this tool. A malformed file gives none, marked as open."""
    try:
        return _PARSERS[tool](text)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return Definitions(open=True)


def _node(text: str) -> Definitions:
    """The scripts of a package.json, and as weak names its programs and dependencies, also without their scope. Raises
    ValueError or AttributeError for a malformed file."""
    value = parse_json(text.removeprefix("﻿"))
    scripts = _keys(value.get("scripts"))
    programs = set(_keys(value.get("bin")))
    for group in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        for name in _keys(value.get(group)):
            programs.update((name, name.rpartition("/")[2], name.partition("/")[0].lstrip("@")))
    package = value.get("name")
    if not isinstance(package, str):
        package = ""
    return Definitions(frozenset(scripts), frozenset(name.casefold() for name in programs), package=package)


def _keys(value: object) -> Iterable[str]:
    if not isinstance(value, dict):
        return []
    return [key for key in value if isinstance(key, str)]


_MAKE_TARGET = re.compile(r"^([^\s#:=][^#:=]*?)\s*::?(?!=)(?:[^=]|$)")
_MAKE_OPEN = re.compile(r"\$[({](?:eval|foreach|call|MAKECMDGOALS)|^%:|^\.DEFAULT", re.MULTILINE)


def _make(text: str) -> Definitions:
    """The targets of a makefile. It is open if it has pattern rules, or makes rules with functions such as `eval`."""
    names: set[str] = set()
    patterns = False
    joined_lines = re.sub(r"\\\r?\n", " ", text)
    for row in joined_lines.splitlines():
        if row.startswith(("\t", "#", "export ", "define ")):
            continue
        if match := _MAKE_TARGET.match(row):
            for name in match[1].split():
                patterns = patterns or name == "%" or ("%" in name and not name.startswith("%.")) or "$(" in name
                names.add(name)
        if row.startswith(".PHONY"):
            names.update(row.partition(":")[2].split())
    return Definitions(frozenset(names), open=patterns or bool(_MAKE_OPEN.search(text)))


def _just(text: str) -> Definitions:
    """The recipes, aliases and modules of a justfile."""
    names = set(re.findall(r"^@?([A-Za-z_][\w-]*)(?:[ \t]+[^:=\n]*)?:(?!=)", text, re.MULTILINE))
    names.update(re.findall(r"^alias[ \t]+([\w-]+)", text, re.MULTILINE))
    names.update(re.findall(r"^@?([A-Za-z_][\w-]*)[ \t][^\n]*?:(?!=)", text, re.MULTILINE))
    modules = set(re.findall(r"^mod\??[ \t]+([\w-]+)", text, re.MULTILINE))
    return Definitions(frozenset(names | modules))


def _task(text: str) -> Definitions:
    """The tasks of a Taskfile, all at the indent of the first one, and their aliases. It is open if it includes
    others."""
    _, *tables = re.split(r"^tasks:[^\n]*$", text, maxsplit=1, flags=re.MULTILINE)
    body = "".join(tables)
    first_task = re.search(r"^([ \t]+)[\w'\"-]", body, re.MULTILINE)
    if first_task is None:
        return Definitions(open="includes:" in text)
    names = set(re.findall(rf"^{first_task[1]}['\"]?([\w:.*-]+?)['\"]?:(?:\s|$)", body, re.MULTILINE))
    for block in re.findall(r"aliases:[ \t]*\[([^\]]*)\]", body):
        names.update(word.strip(" '\"") for word in block.split(","))
    return Definitions(frozenset(names), open="includes:" in text)


def _table(text: str, *path: str) -> dict[str, Any]:
    """The table at `path` of a TOML text; {} if there is none. Raises ValueError for text that is not TOML."""
    value: Any = tomllib.loads(text)
    for key in path:
        if not isinstance(value, dict):
            return {}
        value = value.get(key)
    return value if isinstance(value, dict) else {}


def _poe(text: str) -> Definitions:
    return Definitions(frozenset(_table(text, "tool", "poe", "tasks")), open="include" in _table(text, "tool", "poe"))


def _hatch(text: str) -> Definitions:
    """The scripts of Hatch environments, with and without their environment (`docs:build`, `build`), and the built-in
    ones."""
    names = {"test", "fmt", "build"}
    for environments in (_table(text, "tool", "hatch", "envs"), _table(text, "envs")):
        for name, environment in environments.items():
            for script in environment.get("scripts", {}):
                names.update((f"{name}:{script}", script))
    return Definitions(frozenset(names))


def _rake(text: str) -> Definitions:
    return Definitions(
        frozenset(re.findall(r"^\s*(?:task|multitask)\s*\(?:?['\"]?([\w:]+)", text, re.MULTILINE)), open=True
    )


def _deno(text: str) -> Definitions:
    """The tasks and scripts of a deno.json; whole-line comments are allowed. Raises ValueError or AttributeError for a
    malformed file."""
    value = parse_json(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return Definitions(frozenset((*_keys(value.get("tasks")), *_keys(value.get("scripts")))))


def _composer(text: str) -> Definitions:
    return Definitions(frozenset(_keys(parse_json(text).get("scripts"))))


def _crate(text: str) -> Definitions:
    """The name of a Cargo package, "" without one, and its dependencies as weak names. Raises ValueError for text that
    is not TOML."""
    value = tomllib.loads(text)
    names = {value.get("package", {}).get("name", "")}
    dependencies: set[str] = set()
    for group in ("dependencies", "dev-dependencies", "build-dependencies"):
        dependencies.update(value.get(group, {}))
        dependencies.update(value.get("workspace", {}).get(group, {}))
    return Definitions(frozenset(names), frozenset(name.casefold() for name in dependencies))


def _binary(text: str) -> Definitions:
    """The names of a Cargo package and of its programs, examples, tests and benchmarks. Raises ValueError for text that
    is not TOML."""
    value = tomllib.loads(text)
    names = {value.get("package", {}).get("name", "")}
    for group in ("bin", "example", "test", "bench"):
        names.update(target.get("name", "") for target in value.get(group, []))
    return Definitions(frozenset(names))


def _gradle(text: str) -> Definitions:
    """All quoted names of a settings.gradle, without colons at their ends. It is open if it makes names in a loop or
    includes other builds."""
    names = {name.strip(":") for name in re.findall(r"['\"](:?[\w:./-]+)['\"]", text)}
    return Definitions(frozenset(names), open="includeBuild" in text or "fileTree" in text or ".each" in text)


_PARSERS = {
    "node": _node, "make": _make, "just": _just, "task": _task, "poe": _poe, "hatch": _hatch, "rake": _rake,
    "deno": _deno,
    "pdm": lambda text: Definitions(frozenset(_table(text, "tool", "pdm", "scripts"))),
    "composer": _composer,
    "mise": lambda text: Definitions(frozenset(_table(text, "tasks")), open=True),
    "cargo": lambda text: Definitions(frozenset(_table(text, "alias"))),
    "crate": _crate, "binary": _binary, "gradle": _gradle,
}  # fmt: skip
