"""Compares the versions of tools that a line names with the versions that configuration files state. Pure."""

from __future__ import annotations

import re

_TOOLS = (
    r"Python|Node(?:\.?js)?|Go(?:lang)?|Rust|Java|JDK|TypeScript|React|Next\.?js|Vue|Nuxt|Svelte|SvelteKit|Angular|"
    r"Vite|Vitest|Tailwind(?: ?CSS)?|"
    r"Express|Electron|Expo|React Native|Prisma|Zod|ESLint|Jest|Playwright|Django|FastAPI|Flask|Pydantic|SQLAlchemy|"
    r"pnpm|npm|yarn|Bun|Deno|Kotlin|Gradle|Swift|Ruby|Rails|PHP|Laravel|\.NET|Elixir|Phoenix|Astro|Storybook|Zustand|"
    r"Three\.js|Phaser"
)
TOOL = re.compile(
    rf"(?<![\w./-])(?P<tool>{_TOOLS})(?:\*\*)?:?[ `]{{1,2}}(?:version |v|>=? ?|\^|~|≥ "
    rf"?)?(?P<version>\d{{1,2}}(?:\.\d{{1,3}}){{0,2}})(?:\.x)?(?P<more>\+)?(?![\w/-]|\.\d)",
    re.IGNORECASE,
)

NAMES = {
    "golang": "go", "node.js": "node", "nodejs": "node", "jdk": "java", "next.js": "next", "nextjs": "next",
    "tailwind": "tailwindcss", "tailwind css": "tailwindcss", "three.js": "three", "react native": "react-native",
    "sveltekit": "@sveltejs/kit", "angular": "@angular/core", "playwright": "@playwright/test",
}  # fmt: skip
_NUMBER = re.compile(r"\d{1,4}(?:\.\d+){0,2}")
_PLAIN_FILES = {".nvmrc": "node", ".node-version": "node", ".python-version": "python", "rust-toolchain": "rust"}
_FORMS = {
    "pyproject.toml": (("python", r"^requires-python\s*=\s*['\"]([^'\"]+)"),
                       ("python", r"^python\s*=\s*['\"]([^'\"]+)")),
    "setup.py": (("python", r"python_requires\s*=\s*['\"]([^'\"]+)"),),
    "setup.cfg": (("python", r"^python_requires\s*=\s*(\S+)"),),
    "go.mod": (("go", r"^go\s+([\d.]+)"),),
    "Cargo.toml": (("rust", r"^rust-version\s*=\s*['\"]([^'\"]+)"),),
    "rust-toolchain.toml": (("rust", r"^channel\s*=\s*['\"]([\d.]+)"),),
    "package.json": (("node", r"\"node\"\s*:\s*\"([^\"]+)\""), ("pnpm", r"\"packageManager\"\s*:\s*\"pnpm@([\d.]+)"),
                     ("yarn", r"\"packageManager\"\s*:\s*\"yarn@([\d.]+)")),
    ".tool-versions": (("node", r"^nodejs\s+(\S+)"), ("python", r"^python\s+(\S+)"), ("go", r"^golang\s+(\S+)"),
                       ("java", r"^java\s+\D*(\d[\d.]*)"),
                       ("rust", r"^rust\s+(\S+)"), ("elixir", r"^elixir\s+([\d.]+)"), ("ruby", r"^ruby\s+(\S+)")),
    "build.gradle": (("java", r"JavaLanguageVersion\.of\((\d+)"), ("java", r"(?:source|target)Compatibility\D*(\d+)")),
    "build.gradle.kts": (("java", r"JavaLanguageVersion\.of\((\d+)"), ("java", r"JavaVersion\.VERSION_(\d+)"),
                         ("java", r"jvmToolchain\((\d+)")),
    "pom.xml": (("java", r"<(?:java\.version|maven\.compiler\.(?:source|target|release))>(\d+)"),),
    "Package.swift": (("swift", r"swift-tools-version:\s*([\d.]+)"),),
}  # fmt: skip
FILES = frozenset((*_PLAIN_FILES, *_FORMS))


def stated_versions(name: str, text: str, packages: tuple[str, ...]) -> list[tuple[str, str]]:
    """(tool, version or range as it is written) for each tool whose version a configuration file states.

    `name`, `text`: of the file. `packages`: further packages to look for in package.json and pyproject.toml.
    """
    if name in _PLAIN_FILES:
        return [(_PLAIN_FILES[name], line) for line in text.strip().splitlines()[:1]]
    stated = [(tool, match) for tool, form in _FORMS.get(name, ()) for match in re.findall(form, text, re.MULTILINE)]
    for package in packages:
        if name == "package.json":
            stated += [(package, spec) for spec in re.findall(rf"\"{re.escape(package)}\"\s*:\s*\"([^\"]+)\"", text)]
        elif name == "pyproject.toml":
            form = rf"^\s*['\"]?{re.escape(package)}(?:\[[^\]]*\])?\s*(?:=\s*['\"])?([=~<>^]=?\s*\d[\w.,<>=~ ]*)"
            stated += [(package, spec) for spec in re.findall(form, text, re.MULTILINE | re.IGNORECASE)]
    return stated


def at_least(claim: str, line: str) -> bool:
    """Whether the line names the version as a minimum (`3.11+`, `3.11 or later`). `claim`: the words of the line that
    name the tool and its version."""
    behind = line[line.find(claim) + len(claim) :][:30]
    return "+" in claim or bool(re.match(r"[`*)\s]*(?:\+|(?:or|and) (?:later|newer|higher|above|up)\b)", behind))


def agrees(claimed: str, spec: str, is_minimum: bool = False) -> bool | None:
    """Whether the version `claimed` by a line agrees with `spec`, the version or range that a file states.

    `is_minimum`: the line claims this version or a later one. Returns None when the two cannot be compared.
    """
    numbers = [tuple(map(int, number.split("."))) for number in _NUMBER.findall(spec)]
    version = tuple(map(int, claimed.split(".")))
    if not numbers or any(word in spec for word in ("workspace", "catalog", "*", "latest", "file:", "link:", "npm:")):
        return None
    if is_minimum and ">" not in spec and numbers[0] >= version:
        return True
    if len(version) == 1:
        return any(number[:1] == version for number in numbers) or (">" in spec and version >= numbers[0][:1])
    if any(number[: len(version)] == version[: len(number)] for number in numbers):
        return True
    fixed = {"^": 1, "~": 2}.get(spec.strip()[:1], 0)
    if fixed and len(numbers) == 1 and numbers[0][:fixed] == version[:fixed] and version >= numbers[0]:
        return None  # the range contains the claimed version
    if ">" in spec and "<" not in spec:
        return version >= numbers[0]
    if "<" in spec and version > numbers[0]:
        return None
    return False
