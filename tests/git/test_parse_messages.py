"""What `git log -z` says of commits, in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gitmem.git import parse
from gitmem.git.parse import parse_messages

TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30)
PATHS = st.lists(TEXT.filter(bool), max_size=14)
COMMITS = st.lists(
    st.tuples(st.sampled_from("<>"), st.sampled_from(["a" * 40, "b" * 64]), TEXT, TEXT, PATHS), max_size=5
)


def said(commits: list[tuple[str, str, str, str, list[str]]]) -> bytes:
    """As Git prints them."""
    out = b""
    for side, oid, author, message, paths in commits:
        out += f"\0\0{side}{oid}\0{author}\0{message}\0".encode()
        out += "".join(f"{start}{path}\0" for start, path in zip(["\n", *[""] * 20], paths, strict=False)).encode()
    return out


@given(COMMITS, st.lists(st.integers(0, 400), max_size=8))
def test_any_messages_in_any_pieces_are_read_as_they_were_written(
    commits: list[tuple[str, str, str, str, list[str]]], cuts: list[int]
) -> None:
    data = said(commits)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in pairwise(places)]
    kept = [(side, oid, author, message, paths[: parse.MAX_PATHS]) for side, oid, author, message, paths in commits]
    assert list(parse_messages(iter(pieces))) == kept


def test_a_message_without_end_is_cut() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"\0\0>" + b"a" * 40 + b"\0Ann\0"
        for _ in range(40):
            yield b"x" * (1 << 17)
        yield b"\0\nb.py\0"

    ((_, _, author, message, paths),) = parse_messages(pieces())
    assert author == "Ann" and paths == ["b.py"] and len(message) == parse.MAX_MESSAGE_BYTES


def test_a_commit_that_is_cut_off_before_its_message_is_left_out() -> None:
    assert list(parse_messages([b"\0\0>" + b"a" * 40])) == []
    assert list(parse_messages([b"\0\0>" + b"a" * 40 + b"\0An"])) == []
