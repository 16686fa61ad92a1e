"""The program that rewrites a history to mask a text. `history_rewrite` starts it in the repository.

Its standard input is a `Rewrite` as JSON: a list of processes would show the text if it were an argument. By
git-filter-repo it exports every ref, masks the text in blobs, messages, names and tags, and imports the result. It
prints no masked text.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

CITED = re.compile(rb"(#L\d+(?:-L\d+)?@)([0-9a-f]{12,64})\b")  # lines of a blob, as comments and trailers cite them
PROBED = 8_192  # first bytes of a file; a NUL in them means that it is binary
SHORT = 12  # digits of an oid in a citation of a blob


class Masking:
    """Masks a text in the bytes of a history and updates names and citations.

    `pattern`: a regular expression for the text; case is ignored. `mask`: its replacement. `paths`: (old, new) paths of
    renamed files. `blobs`: old oid -> new oid of blobs that the rewrite changes, for citations of their lines.
    """

    def __init__(
        self, pattern: str, mask: str, paths: Sequence[tuple[str, str]] = (), blobs: Mapping[str, str] | None = None
    ) -> None:
        self.pattern, self.mask, self.paths = pattern, mask, tuple(paths)
        self._pattern = re.compile(pattern, re.IGNORECASE)
        self._names = [(_stem(old), _stem(new)) for old, new in paths]
        self._blobs = {old[:SHORT].encode(): new.encode() for old, new in (blobs or {}).items()}

    def with_blobs(self, blobs: Mapping[str, str]) -> Masking:
        """A copy with other `blobs`."""
        return Masking(self.pattern, self.mask, self.paths, blobs)

    def says(self, data: bytes) -> bool:
        """Whether these bytes contain the text, in UTF-8 or UTF-16, or the name (without folder and ending) of an old
        path of `paths`."""
        if self._pattern.search(data.decode("utf-8", "surrogateescape")):
            return True
        return any(old in data for old, _ in self._names) or self._says_in_utf16(data)

    def _says_in_utf16(self, data: bytes) -> bool:
        """Whether these bytes contain the text in UTF-16, which `masked` does not change."""
        if b"\0" not in data[:PROBED]:
            return False
        wide = (data[first:].decode(f"utf-16-{order}e", "replace") for order in "lb" for first in (0, 1))
        return any(self._pattern.search(text) for text in wide)

    def masked(self, data: bytes) -> bytes:
        """The bytes with the text masked, the names of old paths replaced, and citations of the old oids of `blobs`
        updated. Text in UTF-16 stays. Returns `data` itself if nothing changes."""
        text = data.decode("utf-8", "surrogateescape")
        new_text = self._pattern.sub(self._mask_with_line_breaks, text)
        if new_text != text:
            data = new_text.encode("utf-8", "surrogateescape")
        for old, name in self._names:
            data = data.replace(old, name)
        if self._blobs and b"#L" in data:
            return CITED.sub(self._cited, data)
        return data

    def _mask_with_line_breaks(self, match: re.Match[str]) -> str:
        """The mask and the line breaks of the text: a citation names lines by number, so lines must not move."""
        return self.mask + "\n" * match[0].count("\n")

    def _cited(self, match: re.Match[bytes]) -> bytes:
        new_oid = self._blobs.get(match[2][:SHORT])
        if new_oid is None:
            return match[0]
        return match[1] + new_oid[: len(match[2])]


def _stem(path: str) -> bytes:
    """The name of a file without folder and ending, as links and comments write it; the name itself without ending."""
    name = path.rpartition("/")[2]
    return (name.rpartition(".")[0] or name).encode("utf-8", "surrogateescape")


def without_records(message: bytes, records: re.Pattern[bytes] | None) -> bytes:
    """The message of a commit without what `records` matches; unchanged if `records` is None."""
    return records.sub(b"", message) if records else message


def main() -> None:
    """Rewrite the history of the repository in the current folder. Standard input is a `Rewrite` as JSON."""
    import git_filter_repo as filter_repo

    parameters = json.load(sys.stdin)
    paths = [(old, new) for old, new in parameters["paths"]]
    masking = Masking(parameters["pattern"], parameters["mask"], paths, parameters["blobs"])
    records = None
    if parameters["records"]:
        records = re.compile(parameters["records"].encode(), re.MULTILINE)
    names = {old.encode("utf-8", "surrogateescape"): new.encode("utf-8", "surrogateescape") for old, new in paths}

    def blob(item: Any, _: Any) -> None:
        item.data = masking.masked(item.data)

    callbacks: dict[str, Callable[..., Any]] = {
        "blob_callback": blob,
        "message_callback": lambda message: masking.masked(without_records(message, records)),
        "name_callback": masking.masked,
        "email_callback": masking.masked,
        "filename_callback": lambda name: names.get(name, name),
    }
    options = (
        "--force", "--partial", "--quiet", "--prune-empty", "never", "--prune-degenerate", "never",
        "--replace-refs", "delete-no-add",
    )  # fmt: skip
    filter_repo.setup_gettext()
    filter_repo.RepoFilter(filter_repo.FilteringOptions.parse_args(list(options)), **callbacks).run()


if __name__ == "__main__":
    main()
