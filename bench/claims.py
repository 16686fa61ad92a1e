"""How well `git mem check` does on public repositories: what it says of each kind of claim, and what it says of changes
that break one.

    GITMEM_BENCH_REAL=CHECKOUTS python bench/claims.py [OWNER/NAME ... | SET]

`claims/repositories.tsv` names the repositories, the commits that were read by hand (docs/check.md), and their set:
`read` while rules were written, `unseen-1` to `unseen-3` only after their findings had been counted. CHECKOUTS has a
clone OWNER+NAME of each, bare or not; the others are left out. A clone is never written to: changes are made in a
temporary repository that borrows its objects. Whether a finding is right, only a reader can say: they are counted here.
A change renames or takes away what a claim names, for each of a sample of claims of each kind; `said` are the lines
that it makes false and that are said, `more` other findings. Lines that are missed are listed.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import table
from gitmem.claims import documents
from gitmem.claims.check import check
from gitmem.claims.claim import Kind
from gitmem.claims.claim_lookup import NAMED_KINDS, ClaimLookup, FileClaim
from gitmem.claims.code_words import PROSE
from gitmem.claims.documents import Documents
from gitmem.claims.path_resolution import EXACT, GLOB
from gitmem.claims.transition import became_false
from gitmem.git.opening import open_repository
from gitmem.git.repository import Repository

LISTED = Path(__file__).with_suffix("") / "repositories.tsv"
SAMPLE = 2  # claims of a kind and repository that a change breaks
WIDEST = 40  # files that a change of a name may touch
ENVIRON = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
BREAKABLE = (Kind.PATH, Kind.DIRECTORY, Kind.COMMAND, Kind.SYMBOL, Kind.ENVIRONMENT, Kind.PORT)


class Broken(NamedTuple):
    """A change: the files that it takes away (None) or writes, and the claims that it makes false."""

    files: dict[str, bytes | None]
    false: list[FileClaim]


def main() -> int:
    """A row a kind: findings of the full check, then lines that were made false, said, and what else was."""
    checkouts = Path(os.environ.get("GITMEM_BENCH_REAL", ""))
    if not os.environ.get("GITMEM_BENCH_REAL") or not checkouts.is_dir():
        print("GITMEM_BENCH_REAL names no folder: no repository read")
        return 0
    full: dict[str, Counter[str]] = defaultdict(Counter)
    broken: dict[str, Counter[str]] = defaultdict(Counter)
    rows: list[list[object]] = []
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        name, commit, group = line.split("\t")
        folder = checkouts / name.replace("/", "+")
        place = next((path for path in (folder / "repo", folder) if path.is_dir()), None)
        if place is None or (sys.argv[1:] and not {name, group} & set(sys.argv[1:])):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            rows.append([name, *_repository(name, place, commit, Path(scratch), full, broken)])
    print(table(["repository", "claims", "gone", "suspect", "s"], rows))
    kinds = sorted({*full, *broken})
    print(
        table(
            ["kind", "claims", "gone", "suspect"],
            [[kind, *_of(full, kind, "claims", "gone", "suspect")] for kind in kinds],
        )
    )
    made = [[kind, *_of(broken, kind, "changes", "false", "said", "more")] for kind in kinds if broken[kind]]
    print(table(["kind", "changes", "lines made false", "said", "more"], made))
    return 0


def _of(counts: dict[str, Counter[str]], kind: str, *names: str) -> list[int]:
    return [counts[kind][name] for name in names]


def _repository(
    name: str, place: Path, commit: str, scratch: Path, full: dict[str, Counter[str]], broken: dict[str, Counter[str]]
) -> list[object]:
    """The figures of one repository, added to those of all."""
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--shared", str(place), str(scratch / "r")], env=ENVIRON, check=True
    )
    repo = open_repository(scratch / "r", ENVIRON)
    try:
        head = commit if repo.objects_with(commit) else repo.resolve("HEAD")
        began = time.perf_counter()
        read = documents.read(repo, head)
        found = check(repo, head, read).findings
        took = time.perf_counter() - began
        for one in read.claims:
            full[one.claim.kind.value]["claims"] += 1
        for finding in found:
            full[finding.kind]["gone" if finding.sure else "suspect"] += 1
        for kind, change in _changes(repo, head, read):
            after = _committed(scratch / "r", head, change.files)
            said = {(one.path, one.line) for one in became_false(repo, head, after, documents.read(repo, after))[0]}
            false = {(one.path, one.claim.line.number) for one in change.false}
            missed = [one for one in change.false if (one.path, one.claim.line.number) not in said]
            print(
                *(f"missed {kind} {name}: {one.path}:{one.claim.line.number} {one.claim.text}\n" for one in missed),
                end="",
            )
            broken[kind.value].update(changes=1, false=len(false), said=len(false & said), more=len(said - false))
        sure = sum(finding.sure for finding in found)
        return [len(read.claims), sure, len(found) - sure, f"{took:.1f}"]
    finally:
        repo.close()


def _changes(repo: Repository, head: str, read: Documents) -> Iterable[tuple[Kind, Broken]]:
    """For a sample of the claims that stand, of each kind: a change that makes them false."""
    plain = [one for one in read.claims if one.claim.plain]
    judge = ClaimLookup(repo, head, plain, entries=read.entries)
    dice = random.Random(head)
    for kind in BREAKABLE:
        stand = [one for one in plain if one.claim.kind is kind and judge.resolve(one).grade == EXACT]
        stand = [one for one in stand if not GLOB.search(one.claim.token)]  # another file may match
        dice.shuffle(stand)
        seen: set[str] = set()
        for one in stand:
            key = judge.resolve(one).at or one.claim.token
            if len(seen) >= SAMPLE or key in seen:
                continue
            if change := _change(repo, one, key, stand, judge):
                seen.add(key)
                yield kind, change


def _change(repo: Repository, one: FileClaim, at: str, stand: list[FileClaim], judge: ClaimLookup) -> Broken | None:
    kind, token = one.claim.kind, one.claim.token
    oids, judged = judge.tree.oids, {each.path for each in judge.claims}
    if kind in (Kind.PATH, Kind.DIRECTORY):
        moved = [path for path in oids if path == at or path.startswith(f"{at}/")]
        if not moved or judged.intersection(moved) or judge.tree.closed.intersection(moved) or len(moved) > 2_000:
            return None
        files: dict[str, bytes | None] = dict.fromkeys(moved)
        files |= {f"moved-away/{path}": repo.read(oids[path]) for path in moved[:50]}
        return Broken(files, [each for each in stand if judge.resolve(each).at == at])
    if kind is Kind.COMMAND:
        if at not in oids:
            return None
        data = repo.read(oids[at])
        new = re.sub(rb"(?<![\w:-])" + re.escape(token.encode()) + rb"(?![\w-])", token.encode() + b"zz", data)
        same = [each for each in stand if each.claim.token == token and judge.resolve(each).at == at]
        return Broken({at: new}, same) if new != data else None
    word = re.compile(rb"(?<!\w)" + re.escape(token.encode()) + rb"(?!\w)")
    texts = {path: data for path in _files_with(repo, judge, token) if (data := repo.read(oids[path]))}
    if not texts or len(texts) > WIDEST:
        return None
    renamed = (str(int(token) + 30_000) if kind is Kind.PORT else f"{token}_zz").encode()
    return Broken(
        {path: word.sub(renamed, data) for path, data in texts.items()},
        [each for each in stand if each.claim.token == token and kind in NAMED_KINDS],
    )


def _files_with(repo: Repository, judge: ClaimLookup, token: str) -> list[str]:
    """The files of code that have a word."""
    words = ["git", "--git-dir", str(repo.git_dir), "grep", "-lzwF", "-e", token, judge.commit]
    out = subprocess.run(words, env=ENVIRON, capture_output=True, check=False).stdout
    paths = [os.fsdecode(row).partition(":")[2] for row in out.split(b"\0") if row]
    return [path for path in paths if not PROSE.search(path) and path in judge.tree.oids]


def _committed(place: Path, head: str, files: dict[str, bytes | None]) -> str:
    """A commit on top of `head` with these files written or taken away."""
    environ = {
        **ENVIRON, "GIT_DIR": str(place), "GIT_INDEX_FILE": str(place / "index.bench"),
        "GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@example.com",
        "GIT_COMMITTER_NAME": "bench", "GIT_COMMITTER_EMAIL": "bench@example.com",
    }  # fmt: skip

    def git(*words: str, given: bytes = b"") -> str:
        done = subprocess.run(["git", *words], env=environ, input=given, capture_output=True, check=True)
        return os.fsdecode(done.stdout).strip()

    git("read-tree", head)
    rows = []
    for path, data in files.items():
        oid = git("hash-object", "-w", "--stdin", given=data) if data is not None else "0" * 40
        rows.append(f"{'100644' if data is not None else '0'} {oid}\t{path}\0")
    git("update-index", "-z", "--index-info", given="".join(rows).encode("utf-8", "surrogateescape"))
    return git("commit-tree", git("write-tree", "--missing-ok"), "-p", head, "-m", "break")


if __name__ == "__main__":
    raise SystemExit(main())
