"""Recognises words that may be paths of a repository, and normalises their spelling. Pure; no tree is read."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXTENSIONS = _words(
    "py pyi ipynb js jsx ts tsx mjs cjs mts cts vue svelte astro go rs java kt kts scala c h cc cpp cxx hpp hh m mm "
    "swift rb php cs fs fsx fsproj csproj sln slnx ex exs erl hs ml mli clj cljs lua pl pm r jl dart zig nim sh bash "
    "zsh fish ps1 bat cmd sql prisma graphql gql proto thrift json json5 jsonc jsonl yaml yml toml ini cfg conf env "
    "xml html htm css scss sass less md mdx mdc rst txt csv tsv lock tf tfvars hcl nix cmake gradle properties plist "
    "xcodeproj xcworkspace pbxproj entitlements svg png jpg jpeg gif ico webp pdf wasm snap tmpl tpl j2 jinja ejs hbs "
    "liquid service socket timer mod sum work bzl bazel star mk make dockerfile template sample dist d po pot ftl "
    "strings xcstrings storyboard xib metal glsl frag vert wgsl hlsl sol move cairo vy cu cuh ipp inl S s asm pro pri "
    "qml qrc ui ts"
)  # fmt: skip
WHOLE_NAMES = _words(
    "Makefile GNUmakefile makefile Dockerfile Containerfile Justfile justfile Procfile Gemfile Rakefile Vagrantfile "
    "Jenkinsfile Brewfile Podfile Fastfile Taskfile LICENSE CODEOWNERS Earthfile Tiltfile BUILD WORKSPACE Cargo.lock"
)  # fmt: skip
DOTTED_NAMES = re.compile(
    r"^\.(?:env[\w.-]*|gitignore|gitattributes|gitmodules|dockerignore|npmrc|nvmrc|node-version|python-version|"
    r"tool-versions|"
    r"editorconfig|prettierrc[\w.]*|eslintrc[\w.]*|babelrc|pre-commit-config\.ya?ml|golangci\.ya?ml|flake8|pylintrc|"
    r"rubocop\.yml|cursorrules|windsurfrules|mcp\.json|github|gitlab-ci\.yml|vscode|cursor|claude|husky|changeset|"
    r"swiftlint\.yml|swiftformat|clang-format|clang-tidy|bazelrc|stylelintrc[\w.]*|travis\.yml|releaserc[\w.]*)$"
)
_LOCATION = re.compile(r"(?::\d+(?:[-:,]\d+)*|#L?\d+(?:-L?\d+)?|::[\w\[\]:.-]+|#[\w-]+|\?[\w=&]+)$")
_PART = re.compile(r"^[\w.@+~()\[\]{},*?!-]+$")
_MIME = re.compile(r"^(?:application|text|image|audio|video|multipart|font|model)/[\w.+*-]+$")
_LIBRARY = re.compile(r"^[A-Z][a-z]*\d?\.js$|^[A-Z]\w*\.(?:io|net|ai|dev)$|^(?:socket\.io|ASP\.NET)$")
_DOMAIN = re.compile(r"^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app|co|sh|cloud|so)(?:/|$)", re.IGNORECASE)
_MODULE = re.compile(
    r"^(?:github|gitlab|bitbucket|golang|gopkg|k8s|google)\.[\w.]+/|^@[\w-]+/[\w.-]+$|^(?:origin|upstream)/"
)
_HOST = re.compile(  # `example.cc/module/v2`
    r"^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app|co|sh|cc|cloud|so|me|in|xyz|tech)/"
)
MAX_PATH_CHARS = 240
_CALL = re.compile(r"\(.*\)$")


def as_path(word: str) -> str:
    """A word as a path: with `/` between its parts, and without a line number, an anchor or a leading `./`. "" if the
    word cannot be a path."""
    text = word.strip().strip("'\"`").rstrip(",;:!?").replace("\\", "/")
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    while (cut := _LOCATION.sub("", text)) != text:
        text = cut
    if not text or "://" in text or text.startswith(("~", "$", "-", "#", "%", "//")) or len(text) > MAX_PATH_CHARS:
        return ""
    is_package = re.match(r"^@[\w-]+/[\w.-]+$", text)
    if text.startswith("@") and not is_package and (text.startswith(("@/", "@.")) or "." in text):
        text = text[1:].removeprefix("/")
    text = text.removeprefix("./")
    if any(form.match(text) for form in (_HOST, _MIME, _DOMAIN, _MODULE)) or not text.strip("./"):
        return ""
    parts = text.strip("/").split("/")
    if any(not part or not _PART.match(part) for part in parts) or _CALL.search(parts[-1]):
        return ""
    if len(parts) == 1 and not text.endswith("/") and not is_file_name(parts[0]):
        return ""
    return text


def is_file_name(name: str) -> bool:
    """Whether a word looks like the name of a file: it is a known whole name (`Makefile`) or has a known extension."""
    if name in WHOLE_NAMES or DOTTED_NAMES.match(name):
        return True
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip("._*-") or ending not in EXTENSIONS or _LIBRARY.match(name):
        return False
    return not stem.startswith(("_", ".")) or name.count(".") == 1 or stem[1:2].isalnum()


def parts_of(path: str) -> list[str]:
    """The parts of a path, without empty ones and `.`."""
    return [part for part in path.split("/") if part and part != "."]
