"""What the configuration files of a tree define: scripts, targets, recipes, crates, modules, versions.

Read from blobs, never run: a definition that a tool would compute (`$(foreach ...)`, an include from elsewhere) is not
seen, and then nothing is said of the file's names. Each file is parsed once, by its blob.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from gitmem.claims.claim import Claim
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, NEAR, NOWHERE, Standing, places
from gitmem.claims.tree import Tree, joined

MOST_FILES = 3_000  # manifests of one tree that are read
LARGEST = 1 << 20  # bytes of one
NOTHING: frozenset[str] = frozenset()


class Defined(NamedTuple):
    """The names that one file defines; `open`: it may define others that are not seen here; `package`: the name of what
    it describes."""

    names: frozenset[str] = NOTHING
    weak: frozenset[str] = NOTHING
    open: bool = False
    package: str = ""


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
    """The definitions of one tree, each kind read when it is first asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._read: dict[str, dict[str, Defined]] = {}

    def of(self, tool: str) -> dict[str, Defined]:
        """The definitions for a tool, by the path of their file."""
        tool = tool.rstrip("?")
        if tool not in self._read:
            form = FILES[tool]
            paths = [path for path in self.tree.oids if form.search(path) and "node_modules/" not in path][:MOST_FILES]
            sizes = self.tree.repo.sizes([self.tree.oids[path] for path in paths])
            paths = [path for path in paths if sizes.get(self.tree.oids[path], LARGEST + 1) <= LARGEST]
            blobs = self.tree.repo.read_many([self.tree.oids[path] for path in paths])
            self._read[tool] = {path: _parsed(tool, data or b"") for path, (_, data) in zip(paths, blobs, strict=True)}
        return self._read[tool]

    def standing(self, claim: Claim, document: str) -> Standing:
        """Where the name that a command asks for is defined."""
        tool = claim.tool
        if tool in ("example", "rust-test"):
            folder = "tests"
            if tool == "example":
                folder = "examples"
            ends = (f"/{folder}/{claim.token}.rs", f"/{folder}/{claim.token}/main.rs")
            at = next((path for path in self.tree.oids if f"/{path}".endswith(ends)), "")
            if at:
                return Standing(EXACT, at)
            return Standing(NOWHERE, unknown=self._declared(claim.token))
        if tool == "binary":
            ends = (f"/bin/{claim.token}.rs", f"/bin/{claim.token}/main.rs")
            if at := next((path for path in self.tree.oids if f"/{path}".endswith(ends)), ""):
                return Standing(EXACT, at)
        defined = self.of(tool)
        if not defined:
            return Standing(NOWHERE, unknown=True)
        return self._nearest(claim, document, defined)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The names of the packages that the tree makes, by which code imports them."""
        return frozenset(one.package for one in self.of("node").values() if one.package)

    def _declared(self, name: str) -> bool:
        return any(name in one.names or name in one.weak for one in self.of("binary").values())

    def _nearest(self, claim: Claim, document: str, defined: Mapping[str, Defined]) -> Standing:
        name = claim.token
        by_folder: dict[str, list[tuple[str, Defined]]] = {}
        for path, one in defined.items():
            folder = path.rpartition("/")[0]
            by_folder.setdefault(folder.removesuffix("/.cargo").removesuffix(".cargo"), []).append((path, one))
        if claim.folder != "*" and claim.tool not in ("crate", "binary", "gradle"):
            asked = places(claim, document)
            asked = [joined(place, "") for place in asked]
            for folder in asked:
                for path, one in by_folder.get(folder, ()):
                    if name in one.names or name.casefold() in one.weak:
                        return Standing(EXACT, path)
            if any(one.open for folder in asked for _, one in by_folder.get(folder, ())):
                return Standing(NOWHERE, unknown=True)
        for path, one in defined.items():
            if name in one.names or name.casefold() in one.weak:
                return Standing(NEAR if claim.folder == "*" else ELSEWHERE, path)
        return Standing(NOWHERE, unknown=any(one.open for one in defined.values()))


def _parsed(tool: str, data: bytes) -> Defined:
    return _parse(tool, data.decode("utf-8", "replace"))


@lru_cache(maxsize=4096)
def _parse(tool: str, text: str) -> Defined:
    try:
        return _PARSERS[tool](text)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return Defined(open=True)


def _node(text: str) -> Defined:
    value = json.loads(text.removeprefix("﻿"))
    scripts = _keys(value.get("scripts"))
    programs = set(_keys(value.get("bin")) if isinstance(value.get("bin"), dict) else ())
    for group in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        for name in _keys(value.get(group)):
            programs.update((name, name.rpartition("/")[2], name.partition("/")[0].lstrip("@")))
    own = value.get("name")
    return Defined(
        frozenset(scripts), frozenset(name.casefold() for name in programs), package=own if isinstance(own, str) else ""
    )


def _keys(value: object) -> Iterable[str]:
    if not isinstance(value, dict):
        return []
    return [key for key in value if isinstance(key, str)]


_MAKE_TARGET = re.compile(r"^([^\s#:=][^#:=]*?)\s*::?(?!=)(?:[^=]|$)")
_MAKE_OPEN = re.compile(r"\$[({](?:eval|foreach|call|MAKECMDGOALS)|^%:|^\.DEFAULT", re.MULTILINE)


def _make(text: str) -> Defined:
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
    return Defined(frozenset(names), open=patterns or bool(_MAKE_OPEN.search(text)))


def _just(text: str) -> Defined:
    names = set(re.findall(r"^@?([A-Za-z_][\w-]*)(?:[ \t]+[^:=\n]*)?:(?!=)", text, re.MULTILINE))
    names.update(re.findall(r"^alias[ \t]+([\w-]+)", text, re.MULTILINE))
    names.update(re.findall(r"^@?([A-Za-z_][\w-]*)[ \t][^\n]*?:(?!=)", text, re.MULTILINE))
    modules = set(re.findall(r"^mod\??[ \t]+([\w-]+)", text, re.MULTILINE))
    return Defined(frozenset(names | modules))


def _task(text: str) -> Defined:
    after = re.split(r"^tasks:[^\n]*$", text, maxsplit=1, flags=re.MULTILINE)
    body = ""
    if len(after) > 1:
        body = after[1]
    first = re.search(r"^([ \t]+)[\w'\"-]", body, re.MULTILINE)
    if first is None:
        return Defined(open="includes:" in text)
    names = set(re.findall(rf"^{first[1]}['\"]?([\w:.*-]+?)['\"]?:(?:\s|$)", body, re.MULTILINE))
    for block in re.findall(r"aliases:[ \t]*\[([^\]]*)\]", body):
        names.update(word.strip(" '\"") for word in block.split(","))
    return Defined(frozenset(names), open="includes:" in text)


def _table(text: str, *path: str) -> dict[str, Any]:
    value: Any = tomllib.loads(text)
    for key in path:
        if isinstance(value, dict):
            value = value.get(key, {})
        else:
            value = {}
    if not isinstance(value, dict):
        return {}
    return value


def _poe(text: str) -> Defined:
    return Defined(frozenset(_table(text, "tool", "poe", "tasks")), open="include" in _table(text, "tool", "poe"))


def _hatch(text: str) -> Defined:
    names = {"test", "fmt", "build"}
    for found in (_table(text, "tool", "hatch", "envs"), _table(text, "envs")):
        for name, environment in found.items():
            for script in environment.get("scripts", {}):
                names.update((f"{name}:{script}", script))
    return Defined(frozenset(names))


def _rake(text: str) -> Defined:
    return Defined(
        frozenset(re.findall(r"^\s*(?:task|multitask)\s*\(?:?['\"]?([\w:]+)", text, re.MULTILINE)), open=True
    )


def _deno(text: str) -> Defined:
    value = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return Defined(frozenset((*_keys(value.get("tasks")), *_keys(value.get("scripts")))))


def _composer(text: str) -> Defined:
    return Defined(frozenset(_keys(json.loads(text).get("scripts"))))


def _crate(text: str) -> Defined:
    value = tomllib.loads(text)
    names = {value.get("package", {}).get("name", "")}
    dependencies: set[str] = set()
    for group in ("dependencies", "dev-dependencies", "build-dependencies"):
        dependencies.update(value.get(group, {}))
        dependencies.update(value.get("workspace", {}).get(group, {}))
    return Defined(frozenset(names), frozenset(name.casefold() for name in dependencies))


def _binary(text: str) -> Defined:
    value = tomllib.loads(text)
    names = {value.get("package", {}).get("name", "")}
    for group in ("bin", "example", "test", "bench"):
        names.update(one.get("name", "") for one in value.get(group, []))
    return Defined(frozenset(names))


def _gradle(text: str) -> Defined:
    names = {name.strip(":") for name in re.findall(r"['\"](:?[\w:./-]+)['\"]", text)}
    return Defined(frozenset(names), open="includeBuild" in text or "fileTree" in text or ".each" in text)


_PARSERS = {
    "node": _node, "make": _make, "just": _just, "task": _task, "poe": _poe, "hatch": _hatch, "rake": _rake,
    "deno": _deno,
    "pdm": lambda text: Defined(frozenset(_table(text, "tool", "pdm", "scripts"))),
    "composer": _composer,
    "mise": lambda text: Defined(frozenset(_table(text, "tasks")), open=True),
    "cargo": lambda text: Defined(frozenset(_table(text, "alias"))),
    "crate": _crate, "binary": _binary, "gradle": _gradle,
}  # fmt: skip
