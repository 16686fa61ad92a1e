"""The Open Knowledge Format: a bundle conforms, says what the history records, and comes back without a loss."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.exchange import okf
from gitmem.memory import facts
from tests.harness import Repo

LOG = "# 2026-02-05\n\n## 14:30 - payment\n\n- We decided that phase 1 uses REST webhooks: easier to debug.\n"
TOPIC = "---\n# mine\n\nuntil: 2026-12-31\ntags: [a]\n---\n# Topic\n\nSee [the log](2026-02-05.md).\n"
OAK = "- Oak [x](y) is *used*.  <!-- mem type=decision importance=0.9 tags=wood,mast until=2026-12-24 -->"
MEMORY = f"# Memory\n\nProse.\n\n## Decisions\n\n{OAK}\n  more about it\n* A second one\n\n```\n- no fact\n```\n"
FILES = {
    "MEMORY.md": MEMORY, "memory/2026-02-05.md": LOG, "memory/topic.md": TOPIC, "memory/index.md": "# Mine\n\nText.\n",
    "memory/plain.md": "", "memory/broken.md": "---\n[no: yaml\n---\n# Broken\n", "memory/open.md": "---\nnever: closed\n",
    "memory/crlf.md": "# Ends\r\n\r\nof lines\r\n", "memory/typed.md": "---\ntype: \ntitle: x\n---\nempty type\n",
    "memory/skills/release.md": "---\ntriggers: [release]\n---\n1. Tag.\n", "SOUL.md": "# Soul\n\n- Be short.\n",
    ".claude/rules/style.md": "Use tabs.\n", "memory/archive/2025.md": "- Old fact <!-- mem type=fact -->\n",
}  # fmt: skip


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"memory/2026-02-05.md": LOG}, date="2026-02-05T15:00:00+00:00")
    repo.mem("promote")
    promoted = repo.read("MEMORY.md")
    repo.commit("more", {path: text for path, text in FILES.items() if path != "MEMORY.md"})
    repo.commit("memory: webhooks\n\nReviewed-by: Bo Lee <bo@example.com>", {"MEMORY.md": promoted + MEMORY})
    return repo


def front(path: Path) -> dict[str, object]:
    """The front matter, parsed by PyYAML as others would."""
    head = path.read_text(encoding="utf-8").split("\n---", 1)[0].removeprefix("---\n")
    value = yaml.safe_load(head)
    assert isinstance(value, dict)
    return value


def fact_with(bundle: Path, words: str) -> Path:
    return next(path for path in (bundle / "facts").iterdir() if words in path.read_text(encoding="utf-8"))


def test_a_bundle_of_memory_comes_back_byte_for_byte(memory: Repo, tmp_path: Path) -> None:
    done = memory.mem("export", "okf", str(tmp_path / "bundle"))
    assert done.stdout.startswith("wrote ") and "4 facts among them" in done.stdout
    other = Repo(tmp_path / "other")
    other.mem("init", "--lang", "en")
    (other.path / "memory/.gitkeep").unlink()
    other.mem("import", "okf", str(tmp_path / "bundle"), "--instructions")
    for path in memory.git("ls-files", "-z").split("\0"):
        if path:
            assert (other.path / path).read_bytes() == (memory.path / path).read_bytes(), path
    again = other.mem("import", "okf", str(tmp_path / "bundle"), "--instructions").stdout
    assert again.startswith("imported 0 files, 13 there already, 0 left out")


def test_every_file_of_a_bundle_conforms(memory: Repo, tmp_path: Path) -> None:
    """Section 11: front matter that can be read with a type in each, and listings of the form of section 8."""
    memory.mem("export", "okf", str(tmp_path / "bundle"))
    paths = sorted((tmp_path / "bundle").rglob("*.md"))
    assert len(paths) == len(FILES) + 4 + 1
    for path in paths:
        if path.name not in okf.RESERVED:
            assert isinstance(front(path)["type"], str) and front(path)["type"], path
    assert front(tmp_path / "bundle/index.md") == {"okf_version": "0.2"}
    listing = (tmp_path / "bundle/index.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    assert all(line.startswith(("# ", "* [")) for line in listing.splitlines() if line)
    assert not any(part.startswith(".") for path in paths for part in path.relative_to(tmp_path / "bundle").parts)


def test_a_fact_says_its_sources_who_made_it_who_verified_it_and_its_end(memory: Repo, tmp_path: Path) -> None:
    memory.mem("export", "okf", str(tmp_path / "bundle"))
    promoted = front(fact_with(tmp_path / "bundle", "REST webhooks"))
    (source,) = promoted["sources"]  # type: ignore[misc]
    assert (source["resource"], source["title"]) == ("/memory/2026-02-05.md", "memory/2026-02-05.md, line 5")
    assert (tmp_path / "bundle/memory/2026-02-05.md").is_file()
    assert promoted["generated"]["by"] == "git-mem/rules-1"  # type: ignore[index]
    assert [event["by"] for event in promoted["verified"]] == ["process:git-mem-verify"]  # type: ignore[attr-defined]
    oak = front(fact_with(tmp_path / "bundle", "Oak"))
    assert (oak["type"], oak["tags"]) == ("decision", ["wood", "mast"])
    assert str(oak["stale_after"]) == "2026-12-25 00:00:00+00:00"
    assert oak["generated"]["by"] == "human:Test"  # type: ignore[index]
    assert [event["by"] for event in oak["verified"]] == ["human:Bo-Lee"]  # type: ignore[attr-defined]
    topic = front(tmp_path / "bundle/memory/topic.md")
    assert str(topic["stale_after"]) == "2027-01-01 00:00:00+00:00"


def test_what_was_changed_in_a_concept_changes_its_line_and_no_record_is_invented(memory: Repo, tmp_path: Path) -> None:
    memory.mem("export", "okf", str(tmp_path / "bundle"))
    oak = fact_with(tmp_path / "bundle", "Oak")
    text = (
        oak.read_text(encoding="utf-8")
        .replace("2026-12-25T", "2027-02-01T")
        .replace("\n\nOak [x](y) is *used*.", "\n\nPine is used.")
    )
    text = text.replace('tags: ["wood", "mast"]', "tags:\n- wood")
    oak.write_text(text.replace("generated: {by:", 'generated: {by: "human:Eve", was:'), encoding="utf-8")
    other = Repo(tmp_path / "other")
    done = other.mem("import", "okf", str(tmp_path / "bundle"), check=False)
    line = next(line for line in other.read("MEMORY.md").split("\n") if "Pine" in line)
    assert line == "- Pine is used. <!-- mem type=decision importance=0.9 tags=wood until=2027-01-31 -->"
    assert "is what the history here records" in done.stderr


def test_what_tells_agents_what_to_do_stays_out_unless_asked_for(memory: Repo, tmp_path: Path) -> None:
    memory.mem("export", "okf", str(tmp_path / "bundle"))
    other = Repo(tmp_path / "other")
    done = other.mem("import", "okf", str(tmp_path / "bundle"), check=False)
    assert done.returncode == 1 and done.stderr.count("tells agents what to do") == 3
    assert not (other.path / "SOUL.md").exists() and not (other.path / ".claude").exists()


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "/tmp/out.md",
        ".git/hooks/x.md",
        "memory/../../x.md",
        "CLAUDE.md",
        ".github/x.md",
        "README.md",
        "docs/x.md",
        "memory/a\\nb.md",
        ".hidden/x.md",
    ],
)
def test_a_bundle_cannot_write_outside_memory(repo: Repo, tmp_path: Path, path: str) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "a.md").write_text(f'---\ntype: Note\ngitmem: {{path: "{path}", added: [type]}}\n---\nwords\n')
    repo.mem("import", "okf", str(bundle), check=False)
    written = [line[3:] for line in repo.git("status", "--porcelain", "-uall").splitlines()]
    assert all(name.startswith("memory/") for name in written), written
    assert not (tmp_path / "out.md").exists()


def test_a_bundle_of_others_goes_below_memory_and_comes_out_as_it_was(repo: Repo, tmp_path: Path) -> None:
    bundle = tmp_path / "acme"
    for name, text in {
        "index.md": '---\nokf_version: "0.2"\n---\n\n# Tables\n\n* [Orders](tables/orders.md) - One row an order.\n',
        "log.md": "# History\n\n## 2026-07-02: orders\n* **Update**: some.\n\n## 2026-07-01\n* **Update**: all.\n",
        "tables/index.md": "# Tables\n\n* [Orders](orders.md)\n",
        "tables/orders.md": "---\ntype: BigQuery Table\ntitle: Orders\ngenerated: { by: a/b-2.5, at: 2026-05-28T14:30:00Z }\n"
        "verified: { by: human:kim, at: 2026-06-25T09:00:00Z }\nstale_after: 2026-12-31T00:00:00Z\nparts:\n  - { name: x }\n---\n\n# Schema\n",
    }.items():  # fmt: skip
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_text(text, encoding="utf-8")
    (bundle / "run.py").write_text("print(1)\n")
    done = repo.mem("import", "okf", str(bundle), "--name", "shop")
    assert (
        "run.py is left out: is not Markdown" in done.stderr and (repo.path / "memory/shop/tables/orders.md").is_file()
    )
    repo.commit("bundle")
    repo.mem("export", "okf", str(tmp_path / "out"), "--root", "memory/shop")
    (bundle / "run.py").unlink()
    names = sorted(path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file())
    assert names == sorted(
        path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert all((bundle / name).read_bytes() == (tmp_path / "out" / name).read_bytes() for name in names)


def test_a_line_that_the_gate_would_block_is_not_exported(memory: Repo, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.commit("past the gate", {"memory/keys.md": f"# Keys\n\n- the token is {secret}\n- the rest stays\n"})
    done = memory.mem("export", "okf", str(tmp_path / "bundle"), check=False)
    assert done.returncode == 1 and "memory/keys.md" in done.stderr
    assert secret not in done.stdout + done.stderr + "".join(p.read_text() for p in (tmp_path / "bundle").rglob("*.md"))
    assert "the rest stays" in (tmp_path / "bundle/memory/keys.md").read_text()


def test_an_import_passes_the_gate(repo: Repo, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/a.md").write_text(f"---\ntype: Note\n---\nthe token is {secret}\n")
    (tmp_path / "bundle/b.md").write_text("---\ntype: Note\n---\nfine\n")
    done = repo.mem("import", "okf", str(tmp_path / "bundle"), check=False)
    assert done.returncode == 1 and secret not in done.stdout + done.stderr
    assert [path.name for path in (repo.path / "memory/bundle").iterdir()] == ["b.md"]


def test_nothing_is_written_over(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/a.md").write_text("---\ntype: Note\n---\nnew\n")
    repo.write("memory/bundle/a.md", "old\n")
    assert repo.mem("import", "okf", str(tmp_path / "bundle"), check=False).returncode == 1
    assert repo.read("memory/bundle/a.md") == "old\n"
    repo.commit("start")
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("mine")
    assert repo.mem("export", "okf", str(full), check=False).returncode == 2
    assert [path.name for path in full.iterdir()] == ["x"]


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.booleans())
def test_any_text_comes_back_from_its_concept(text: str, fenced: bool) -> None:
    whole = f"---\n{text}\n---\n{text}" if fenced else text
    keys = [
        ("type", "Note"),
        ("title", text),
        ("generated", {"by": f"human:{text}", "at": okf.Instant("2026-01-01T00:00:00Z")}),
    ]
    concept = okf.wrapped(whole, keys, {"path": f"memory/{text}.md"})
    assert okf.unwrapped(okf.read(concept)) == whole


@settings(deadline=None)
@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n\r\0"), min_size=1, max_size=100),
    st.sampled_from(["", "wrapped\n  once more"]),
)
def test_any_fact_comes_back_from_its_concept(words: str, more: str) -> None:
    lines = f"- {words} {more}<!-- mem type=decision until=2026-05-01 -->".split("\n")
    for entry in facts.parse_lines(lines).items:
        origin = okf.Origin("human:a", None, (), (("/memory/a.md", "line 1", None),))
        concept = okf.read(okf.fact_concept(lines, entry.fact, "MEMORY.md", origin))
        assert okf.fact_line(concept) == ("\n".join(lines), False)


def test_a_file_with_a_name_that_is_no_text_is_exported_and_named_by_the_import_that_leaves_it_out(
    repo: Repo, tmp_path: Path
) -> None:
    name = b"memory/\xff\xfe [odd](name).md"
    (repo.path / "memory").mkdir()
    with open(bytes(repo.path) + b"/" + name, "wb") as file:
        file.write(b"words\n")
    repo.commit("odd")
    repo.mem("export", "okf", str(tmp_path / "bundle"))
    other = Repo(tmp_path / "other")
    done = other.mem("import", "okf", str(tmp_path / "bundle"), check=False)
    assert done.returncode == 1 and "1 left out" in done.stdout
    assert (
        "memory/\\udcff\\udcfe [odd](name).md is left out: not written: the file's name has path-control" in done.stderr
    )
    assert not (other.path / "memory").exists()


def test_a_bundle_is_not_written_into_memory(memory: Repo) -> None:
    assert memory.mem("export", "okf", "memory/bundle", check=False).returncode == 2
    assert not (memory.path / "memory/bundle").exists()


def test_a_memory_that_is_there_gets_the_facts_it_lacks_and_none_that_was_taken_out(
    memory: Repo, tmp_path: Path
) -> None:
    memory.mem("export", "okf", str(tmp_path / "bundle"))
    at = memory.read("MEMORY.md").split("\n").index("* A second one") + 1
    memory.mem("forget", f"MEMORY.md:{at}", "--reason", "it is over")
    mine = memory.read("MEMORY.md").replace(f"{OAK}\n  more about it\n", "") + "\nMy own words.\n\n- My own fact\n"
    memory.commit("mine", {"MEMORY.md": mine})
    done = memory.mem("import", "okf", str(tmp_path / "bundle"), "--instructions")
    assert "MEMORY.md gets 1 fact, 1 there already, 1 taken out here before stay out" in done.stderr
    text = memory.read("MEMORY.md")
    assert f"{OAK}\n  more about it\n" in text and "A second one" not in text and "REST webhooks" in text
    assert text.replace(f"{OAK}\n  more about it\n", "", 1).split() == mine.split()
    again = memory.mem("import", "okf", str(tmp_path / "bundle"), "--instructions").stdout
    assert again.startswith("imported 0 files")


@pytest.mark.parametrize(
    "rows",
    ['gitmem: {path: "memory/\\ud800.md", added: [type]}', 'gitmem: {fact: "0", file: MEMORY.md, line: "- \\udcff x"}',
     'type: "\\ud800"', 'gitmem: {fact: "0", file: MEMORY.md, line: "- x"}\ntags: ["\\ud83d"]'],
)  # fmt: skip
def test_half_a_character_in_a_front_matter_costs_its_own_file_only(repo: Repo, tmp_path: Path, rows: str) -> None:
    bundle = Repo(tmp_path / "bundle", init=False)
    bundle.write("bad.md", f"---\n{rows}\n---\nwords\n")
    bundle.write("good.md", "---\ntype: Note\ngitmem: {path: memory/good.md, added: [type]}\n---\nfine\n")
    done = repo.mem("import", "okf", str(bundle.path), check=False)
    assert done.returncode in (0, 1) and repo.read("memory/good.md") == "fine\n"
    assert "bad.md is left out" in done.stderr or (repo.path / "memory/bad.md").exists()
    repo.mem("search", "fine", "--json")


def test_a_memory_is_neither_imported_from_nor_exported_into_itself(repo: Repo, tmp_path: Path) -> None:
    repo.commit(
        "start", {"notes/a.md": "# A\n", ".gitmem.toml": '[memory]\npaths = ["**/*.md"]\n', ".gitignore": "out\n"}
    )
    assert repo.mem("import", "okf", ".", check=False).returncode == 2
    assert repo.mem("export", "okf", "bundle", check=False).returncode == 2 and not (repo.path / "bundle").exists()
    repo.mem("export", "okf", "out")
    repo.mem("export", "okf", ".bundle")
    repo.mem("export", "okf", str(tmp_path / "beside"))
    assert repo.git("status", "--porcelain").split() == ["??", ".bundle/"]


def test_a_file_that_no_import_takes_is_named_at_export(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", {"memory/a.md": "\ufeffwords\n", "memory/b.md": "words\n"})
    done = repo.mem("export", "okf", str(tmp_path / "bundle"), check=False)
    assert done.returncode == 1 and "memory/a.md is left out" in done.stderr


def test_facts_that_differ_stay_and_are_said(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Facts\n\n- One <!-- mem type=fact tags=a -->\n- Two\n"})
    repo.mem("export", "okf", str(tmp_path / "bundle"))
    mine = "# Memory\n\n## Facts\n\n- One <!-- mem type=fact tags=b -->\n- Two\n"
    repo.commit("mine", {"MEMORY.md": mine})
    done = repo.mem("import", "okf", str(tmp_path / "bundle"))
    assert "1 fact differs in type, tags or last day and stays as it is here" in done.stderr
    assert repo.read("MEMORY.md") == mine


def test_many_facts_come_in_one_pass_each_by_its_day() -> None:
    memory = facts.parse(
        b"# Memory\n\n## Facts\n\n- May <!-- mem from=2026-05-01 -->\n- Jan <!-- mem from=2026-01-01 -->"
    )
    new = facts.parse("".join(f"- F{n} <!-- mem from=2026-{n % 6 + 1:02}-01 -->\n" for n in range(12)).encode())
    rows = [([f"{line}"], fact) for line, fact in zip(new.lines, new.facts, strict=True)]
    one_by_one = memory
    for block, fact in reversed(rows):
        one_by_one = facts.insert(one_by_one, block, fact, ("Facts",))
    assert facts.insert_all(memory, rows, ("Facts",)) == one_by_one
    empty = facts.insert_all(facts.parse(b""), rows, ("Facts",))
    assert [facts.fact_date(fact) for fact in empty.facts] == sorted(
        (facts.fact_date(f) for _, f in rows), reverse=True
    )
