"""Compile gitmem/ui/locale/*/LC_MESSAGES/gitmem.po to the gitmem.mo beside it, with Babel.

`--check` only says whether they are current. Babel writes what GNU msgfmt writes, and comes from the package index.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

ROOT = Path(__file__).parent.parent
LOCALE = ROOT / "gitmem" / "ui" / "locale"


class Dateless(Catalog):
    """A catalog whose headers name neither a day nor a version of Babel: the same words are the same bytes."""

    def __iter__(self) -> Iterator[Message]:
        """The headers that `gettext` of the standard library reads, then the sentences."""
        yield Message("", f"Content-Type: text/plain; charset=utf-8\nPlural-Forms: {self.plural_forms}")
        yield from islice(super().__iter__(), 1, None)


def compiled(source: Path) -> bytes:
    """The bytes of gitmem.mo for a catalog. Raises ValueError for a line that is no gettext."""
    with source.open("rb") as file:
        catalog = read_po(file, locale=source.parts[-3], abort_invalid=True)
    catalog.__class__ = Dateless
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def main() -> int:
    """Write every catalog that is not current, or with `--check` name it and return 1."""
    check = "--check" in sys.argv
    late = []
    for source in sorted(LOCALE.glob("*/LC_MESSAGES/gitmem.po")):
        target, data = source.with_suffix(".mo"), compiled(source)
        if not target.is_file() or target.read_bytes() != data:
            late.append(target)
            if not check:
                target.write_bytes(data)
    for target in late:
        print(f"{target.relative_to(ROOT)} {'is not current: make docs' if check else 'written'}")
    return 1 if late and check else 0


if __name__ == "__main__":
    sys.exit(main())
