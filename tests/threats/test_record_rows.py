"""Messages that claim what was not done (docs/threats.md, A49): no record is believed, and a review names the claim."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass, field

import pygit2
import pytest

from gitmem.git.library import open_library
from gitmem.git.objects import Span
from gitmem.memory.fact import render_span, text_hash
from gitmem.promotion.logs import read_cursor
from gitmem.provenance.authorship import by_machine, reviewers
from gitmem.provenance.ledger import read_ledger, refusals
from tests.harness import Repo
from tests.provenance_cases import DAY, FACT, promote, record_log
from tests.samples import GITHUB

OTHER = "We decided: invoices are sent on the first of the month."
AGENTS = ("Memory-Agent: codex", "Co-authored-by: Claude Opus 4.5 <noreply@anthropic.com>")
LOG = f"# 2026-02-07\n\n- {OTHER}\n"


def start(repo: Repo) -> str:
    """A memory with its log and one promotion; the promotion."""
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- We use Git.\n"})
    record_log(repo)
    return promote(repo)


def offered(repo: Repo) -> bool:
    """Whether promotion offers OTHER, which a log says from now on."""
    repo.commit("log 7", {"memory/2026-02-07.md": LOG})
    return promoted(repo)


def promoted(repo: Repo) -> bool:
    """Whether promotion offers what OTHER says."""
    facts = json.loads(repo.mem("promote", "--dry-run", "--json").stdout)["facts"]
    return any("invoices" in fact["text"] for fact in facts)


def claimed(repo: Repo, span: str = "HEAD~1..HEAD") -> list[str]:
    """The trailers that a review says have no effect."""
    done = repo.mem("review", span, "--format", "json", check=False)
    return [claim["trailer"] for claim in json.loads(done.stdout)["unfounded"]]


def sparse(repo: Repo, *lines: str) -> str:
    """A commit that changes nothing and says these lines."""
    return repo.commit("chore: nothing\n\n" + "\n".join(lines))


@pytest.mark.parametrize("value", ["HEAD", "main", "{short}", "{oid}"])
def test_a49_a_cursor_counts_only_in_a_promotion_and_as_a_full_oid(repo: Repo, value: str) -> None:
    oid = start(repo)
    sparse(repo, f"Memory-Cursor: {value.format(short=oid[:12], oid=oid)}")
    assert claimed(repo) == ["Memory-Cursor"]
    assert offered(repo)


@pytest.mark.parametrize(
    ("text", "target"),
    [("Deploys on Friday are encouraged.", "MEMORY.md"), ("Deploys on Friday are forbidden.", "notes.md")],
)
def test_a49_a_cursor_counts_only_where_what_is_promoted_follows_from_its_lines(
    repo: Repo, text: str, target: str
) -> None:
    start(repo)
    repo.commit("log 7", {"memory/2026-02-07.md": LOG})
    blob = record_log(repo, "memory/2026-02-08.md", "# 2026-02-08\n\n- Deploys on Friday are forbidden.\n")
    read_to = ("Memory-Cursor", repo.git("rev-parse", "HEAD").strip())
    given = (("Memory-Model", "rules/1"), ("Memory-Agent", "codex"), read_to)
    promote(repo, text, Span("memory/2026-02-08.md", 3, 3, blob), target=target, trailers=given)
    assert promoted(repo)


def test_a50_a_review_names_the_log_lines_that_an_agents_promotion_passes(repo: Repo) -> None:
    start(repo)
    repo.commit("log 9", {"memory/2026-02-09.md": "# 2026-02-09\n\n- Production deploys happen on Tuesdays only.\n"})
    blob = record_log(repo, "memory/2026-02-10.md", "# 2026-02-10\n\n- Deploys on Friday are forbidden.\n")
    read_to = ("Memory-Cursor", repo.git("rev-parse", "HEAD").strip())
    for agent, told in ((("Memory-Agent", "codex"),), True), ((), False):
        given = (("Memory-Model", "rules/1"), *agent, read_to)
        text = "Deploys on Friday are forbidden."
        promote(repo, text, Span("memory/2026-02-10.md", 3, 3, blob), trailers=given)
        done = repo.mem("review", "HEAD~1..HEAD", check=False)
        assert ("as read that nothing promoted" in done.stdout) is told, done.stdout
        repo.git("reset", "-q", "--hard", "HEAD~1")


def test_a49_a_rejection_of_nothing_silences_no_fact_whoever_says_it(repo: Repo) -> None:
    start(repo)
    claim = f"Memory-Rejected: MEMORY.md sha256:{text_hash(OTHER)}"
    for agent in ("", *AGENTS):
        sparse(repo, claim, *([agent] if agent else []))
        assert claimed(repo) == ["Memory-Rejected"]
    repo.commit(f"Squashed (#3)\n\n* chore\n\n{claim}\n\n* more\n\nwords\n", {"a.txt": "a\n"})
    assert claimed(repo) == ["Memory-Rejected"]
    assert offered(repo)


@pytest.mark.parametrize("agent", ["", *AGENTS])
def test_a49_a_record_that_an_agent_forged_is_a_fault_in_every_form_of_the_review(repo: Repo, agent: str) -> None:
    start(repo)
    sparse(repo, f"Memory-Rejected: MEMORY.md sha256:{text_hash(OTHER)}", *([agent] if agent else []))
    for form, fault, point in (
        ("md", "1 fault", "1 point"),
        ("comment", "Do not merge yet", "Nothing is refused"),
        ("sarif", '"level": "error"', '"level": "warning"'),
        ("github", "::error", "::warning"),
    ):
        done = repo.mem("review", "HEAD~1..HEAD", "--format", form, check=False)
        assert done.returncode == bool(agent)
        assert ((fault if agent else point) in done.stdout) and ((point if agent else fault) not in done.stdout), form


@pytest.mark.parametrize("agent", ["", *AGENTS])
def test_a49_lines_of_a_log_are_declined_by_a_person_alone(repo: Repo, agent: str) -> None:
    start(repo)
    blob = record_log(repo, "memory/2026-02-07.md", LOG)
    span = f"memory/2026-02-07.md#L3@{blob}"
    sparse(repo, f"Memory-Rejected: {span} -> MEMORY.md sha256:{text_hash(OTHER)}", *([agent] if agent else []))
    assert promoted(repo) == bool(agent)
    assert claimed(repo) == (["Memory-Rejected"] if agent else [])


def test_a49_what_an_agent_takes_out_is_not_refused_for_a_person(repo: Repo) -> None:
    start(repo)
    text = repo.read("MEMORY.md")
    line = next(line for line in text.splitlines() if FACT in line)
    repo.commit(
        f"forget\n\nMemory-Rejected: MEMORY.md sha256:{text_hash(FACT)}\nMemory-Agent: codex",
        {"MEMORY.md": text.replace(line + "\n", "")},
    )
    opened = open_library(repo.path, os.environ)
    assert refusals(opened, read_ledger(opened, ["HEAD"])) == {}
    assert claimed(repo) == ["Memory-Rejected"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a49_words_undo_no_revert(repo: Repo, agent: str) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Decisions\n\n"})
    record_log(repo)
    log = repo.git("rev-parse", "HEAD").strip()
    promote(repo)
    repo.git("revert", "--no-edit", log)
    assert repo.mem("verify", "--policy", check=False).returncode == 1
    sparse(repo, f"This reverts commit {repo.git('rev-parse', 'HEAD').strip()}.", "", agent)
    assert repo.mem("verify", "--policy", check=False).returncode == 1
    assert claimed(repo) == ["This reverts commit"]


@pytest.mark.parametrize(
    "body", ["{review}\nMemory-Agent: codex", "* one\n\n{review}\n\nand more words", AGENTS[1] + "\n{review}"]
)
def test_a49_a_review_by_an_agent_or_in_prose_is_nobodys(repo: Repo, body: str) -> None:
    start(repo)
    blob = record_log(repo, "memory/2026-02-07.md", LOG)
    span = Span("memory/2026-02-07.md", 3, 3, blob)
    message = body.format(review="Reviewed-by: Alice <alice@example.com>")
    repo.commit(
        f"memory: promote\n\n{message}\n",
        {"MEMORY.md": repo.read("MEMORY.md") + f"- {OTHER} <!-- mem src={render_span(span)} -->\n"},
    )
    number = next(n for n, line in enumerate(repo.read("MEMORY.md").splitlines(), 1) if OTHER in line)
    assert json.loads(repo.mem("why", f"MEMORY.md:{number}", "--json").stdout)["reviewers"] == []
    repo.mem("export", "okf", str(repo.path.parent / "okf"))
    assert not [f for f in (repo.path.parent / "okf").rglob("*.md") if "human:Alice" in f.read_text(encoding="utf-8")]
    assert claimed(repo) == ["Reviewed-by"]


# -- random histories against a model of who did what --------------------------------------------------------

TEXTS = [f"Fact number {number} holds." for number in range(5)]
PEOPLE = [  # (name, e-mail, line of the message, whether a person)
    ("Alice", "alice@example.com", "", True),
    ("Bob", "bob@example.com", "", True),
    ("Alice", "alice@example.com", "Memory-Agent: codex", False),
    ("renovate[bot]", "r@example.com", "", False),
    ("Carol", "carol@example.com", "Co-authored-by: Claude Opus 4.5 <noreply@anthropic.com>", False),
    ("Cursor Agent", "cursoragent@cursor.com", "", False),
]


@dataclass
class Model:
    """What was really done, by commit."""

    states: list[frozenset[int]] = field(default_factory=list)
    oids: list[str] = field(default_factory=list)
    sources: set[tuple[str, str]] = field(default_factory=set)
    rejected: set[tuple[str, str]] = field(default_factory=set)
    reverts: set[tuple[str, str]] = field(default_factory=set)
    reviews: set[str] = field(default_factory=set)
    cursors: set[tuple[str, str]] = field(default_factory=set)
    people: set[str] = field(default_factory=set)


def write(repo: pygit2.Repository, rng: random.Random) -> Model:
    """One history of a few commits whose messages claim at random, and the model of it."""
    model, state = Model(), frozenset(rng.sample(range(5), 2))
    log = repo.create_blob(LOG.encode())
    for number in range(rng.randint(2, 7)):
        before = state
        if number:
            state = frozenset(
                rng.choice([state, state | {rng.randrange(5)}, state - {rng.randrange(5)}, *model.states])
            )
        name, email, line, person = rng.choice(PEOPLE)
        lines, sources, rejected, cursors, reverts = [line] if line else [], set(), set(), set(), set()
        for _ in range(rng.randint(0, 4)):
            text, old = rng.randrange(5), rng.randrange(len(model.oids)) if model.oids else -1
            digest = text_hash(TEXTS[text])
            match rng.randrange(5):
                case 0:
                    lines.append(f"Memory-Source: {DAY}#L3@{log} -> MEMORY.md sha256:{digest}")
                    sources.add(text)
                case 1:
                    lines.append(f"Memory-Rejected: MEMORY.md sha256:{digest}")
                    rejected.add(text)
                case 2 if old >= 0:
                    value = rng.choice([model.oids[old], "HEAD", "main", model.oids[old][:12]])
                    lines.append(f"Memory-Cursor: {value}")
                    cursors.add(value)
                case 3 if old >= 0:
                    lines.append(f"This reverts commit {model.oids[old]}.")
                    reverts.add(old)
                case _:
                    lines.append("Reviewed-by: Dana <dana@example.com>")
        if rng.random() < 0.5:
            lines.append("Memory-Model: rules/1")
        rng.shuffle(lines)
        blob = repo.create_blob("".join(f"- {TEXTS[n]}\n" for n in sorted(state)).encode())
        folder = repo.TreeBuilder()
        folder.insert(DAY.split("/")[1], log, pygit2.enums.FileMode.BLOB)
        tree = repo.TreeBuilder()
        tree.insert("memory", folder.write(), pygit2.enums.FileMode.TREE)
        tree.insert("MEMORY.md", blob, pygit2.enums.FileMode.BLOB)
        who = pygit2.Signature(name, email, 1_770_000_000 + number, 0)
        parents = model.oids[-1:]
        message = rng.choice(["memory: change\n\n", "Squash (#1)\n\n* one\n\n"]) + "\n".join(lines) + "\n"
        oid = str(repo.create_commit(None, who, who, message, tree.write(), parents))
        came, went = (state - before, before - state) if number else (state, frozenset())
        model.sources |= {(oid, text_hash(TEXTS[n])) for n in sources & came}
        model.rejected |= {(oid, text_hash(TEXTS[n])) for n in rejected & went}
        if sources & came and "Memory-Model: rules/1" in lines:
            model.cursors |= {(oid, value) for value in cursors if value in model.oids}
        for old in reverts:
            gained = model.states[old] - (model.states[old - 1] if old else frozenset())
            lost = (model.states[old - 1] if old else frozenset()) - model.states[old]
            nothing = not (gained or lost) and not (came or went) and old > 0
            undone = bool(gained or lost) and not gained & state and lost <= state
            if nothing or undone:
                model.reverts.add((oid, model.oids[old]))
        if person:
            model.people.add(oid)
        model.oids.append(oid)
        model.states.append(state)
    return model


@pytest.mark.parametrize("histories", [40, pytest.param(10_000, marks=pytest.mark.stress)])
def test_a49_no_random_history_has_a_record_that_was_not_done(repo: Repo, histories: int) -> None:
    rng = random.Random(49)
    written, opened = pygit2.Repository(str(repo.path)), open_library(repo.path, os.environ)
    for _ in range(histories):
        model = write(written, rng)
        known = read_ledger(opened, [model.oids[-1]])
        assert {(r.commit.oid, link.sha256) for r in known.records for link in r.sources} == model.sources
        assert {(r.commit.oid, link.sha256) for r in known.records for link in r.rejected} == model.rejected
        assert set(known.reverts) <= model.reverts
        assert set(known.cursors) == model.cursors
        assert {refusal.commit for refusal in refusals(opened, known).values()} <= model.people
        assert read_cursor(opened, known, model.oids[-1]) in {"", *(oid for _, oid in model.cursors)}
        for oid in model.oids:
            commit = opened.commit(oid)
            assert by_machine(commit) == (oid not in model.people)
            assert not reviewers(commit) or oid in model.people


# -- A50 a promotion made by hand, A51 white space, A52 an old branch ----------------------------------------


def by_hand(repo: Repo, text: str, log: str) -> int:
    """A commit shaped like an agent's promotion of `text` from line 3 of a new log; how `verify --policy` ends."""
    blob = record_log(repo, "memory/2026-02-07.md", f"# 2026-02-07\n\n- {log}\n")
    promote(repo, text, Span("memory/2026-02-07.md", 3, 3, blob))
    return repo.mem("verify", "--policy", "HEAD~1..HEAD", check=False).returncode


@pytest.mark.parametrize(
    ("text", "log", "fails"),
    [
        ("Deploys on Friday are forbidden.", "Deploys on Friday are forbidden.", False),
        ("Deploys on Friday are encouraged.", "Deploys on Friday are forbidden.", True),
        ("The bank has changed.", "The bank has changed. <!-- mem origin=web -->", True),
    ],
)
def test_a50_a_promotion_by_hand_is_held_to_what_promotion_asks(repo: Repo, text: str, log: str, fails: bool) -> None:
    start(repo)
    assert by_hand(repo, text, log) == int(fails)
    number = next(n for n, line in enumerate(repo.read("MEMORY.md").splitlines(), 1) if text in line)
    found = json.loads(repo.mem("why", f"MEMORY.md:{number}", "--json").stdout)
    assert found["sources"][0]["verified"] != fails


def test_a50_what_a_person_deleted_in_an_editor_does_not_come_back_by_an_agent(repo: Repo) -> None:
    start(repo)
    before = repo.read("MEMORY.md")
    line = next(line for line in before.splitlines() if FACT in line)
    repo.commit("that is not true", {"MEMORY.md": before.replace(line + "\n", "")})
    repo.commit("back\n\nMemory-Agent: codex", {"MEMORY.md": before})
    assert "taken out by" in repo.mem("verify", "--policy", "HEAD~1..HEAD", check=False).stdout


def test_a51_white_space_that_an_agent_changed_is_the_agents(repo: Repo) -> None:
    repo.commit("rule", {"MEMORY.md": "# Memory\n\n- Refunds above 1 000 EUR are now here allowed.\n"})
    text = repo.read("MEMORY.md").replace("1 000", "10 00").replace("now here", "nowhere")
    repo.commit("tidy\n\nMemory-Agent: codex", {"MEMORY.md": text})
    assert json.loads(repo.mem("why", "MEMORY.md:3", "--json").stdout)["agent"] == "codex"
    assert repo.mem("verify", "--policy", "HEAD~1..HEAD", check=False).returncode == 1


def test_a52_an_old_branch_is_judged_by_the_settings_of_its_target(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n", "src/a.py": "x\n"})
    repo.git("branch", "old")
    repo.commit("settings", {".gitmem.toml": '[memory]\npaths = ["docs/*.md"]\n[gate]\nprotected = ["SOUL.md"]\n'})
    repo.git("checkout", "-q", "old")
    repo.commit("change", {"SOUL.md": "Be nice.\n", "docs/x.md": f"key {GITHUB}\n"})
    for span in ("main...old", "main..old"):
        found = repo.mem("scan", "--range", span, check=False).stdout
        assert "docs/x.md" in found and "SOUL.md" in found, span
    assert "docs/x.md" in repo.mem("review", "main..old", check=False).stdout


PLACES = "# Memory\n\n## Decided\n\n- Deploys happen on Monday.\n\n## Rejected\n\n- Everybody may read the vault.\n"
ELSEWHERE = {
    "moved": PLACES.replace("- Everybody may read the vault.\n", "").replace(
        "## Rejected", "- Everybody may read the vault.\n\n## Rejected"
    ),
    "heading gone": PLACES.replace("## Rejected\n\n", ""),
    "headings swapped": PLACES.replace("Decided", "X").replace("Rejected", "Decided").replace("X", "Rejected"),
    "below an item": PLACES.replace("## Rejected\n\n- Everybody", "  - Everybody").replace("Monday.\n\n", "Monday.\n"),
}


@pytest.mark.parametrize("agent", [True, False])
@pytest.mark.parametrize("how", ELSEWHERE)
def test_a51_a_fact_that_an_agent_puts_below_another_heading_is_found(repo: Repo, how: str, agent: bool) -> None:
    base = repo.commit("rules", {"MEMORY.md": PLACES})
    repo.commit("tidy" + ("\n\nMemory-Agent: codex" if agent else ""), {"MEMORY.md": ELSEWHERE[how]})
    repo.commit("more", {"memory/notes.md": "- One.\n"})
    done = repo.mem("verify", "--policy", f"{base}..HEAD", "--json", check=False)
    assert done.returncode == int(agent)
    assert {row["rule"] for row in json.loads(done.stdout)["findings"]} == ({"moved"} if agent else set())
    assert repo.mem("review", f"{base}..HEAD", check=False).returncode == int(agent)


def without_fact(repo: Repo) -> tuple[str, str]:
    """MEMORY.md with FACT and without."""
    text = repo.read("MEMORY.md")
    return text, "".join(line for line in text.splitlines(keepends=True) if FACT not in line)


def test_a50_what_a_person_took_out_while_merging_does_not_come_back_by_an_agent(repo: Repo) -> None:
    start(repo)
    before, without = without_fact(repo)
    repo.git("checkout", "-qb", "side")
    repo.commit("side", {"side.txt": "x\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    repo.commit("merge, without what is not true", {"MEMORY.md": without})
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3
    repo.commit("back\n\nMemory-Agent: codex", {"MEMORY.md": before})
    assert "taken out by" in repo.mem("verify", "--policy", "HEAD~1..HEAD", check=False).stdout


@pytest.mark.parametrize("agent", ["Memory-Agent: codex", ""])
def test_a50_what_a_person_took_out_does_not_come_back_by_an_agents_merge(repo: Repo, agent: str) -> None:
    old = start(repo)
    before, without = without_fact(repo)
    taken = repo.commit("that is not true", {"MEMORY.md": without})
    repo.git("checkout", "-qb", "old", old)
    repo.commit("old", {"side.txt": "x\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "old")
    repo.commit(f"merge\n\n{agent}", {"MEMORY.md": before})
    for span in ("HEAD", f"{taken}..HEAD"):
        found = repo.mem("verify", "--policy", span, check=False).stdout
        assert ("an agent's merge" in found) == bool(agent)


@pytest.mark.parametrize("agent", ["Memory-Agent: codex", ""])
def test_a49_an_agent_does_not_undo_a_persons_revert_of_a_log(repo: Repo, agent: str) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Decisions\n\n"})
    record_log(repo)
    log = repo.git("rev-parse", "HEAD").strip()
    promote(repo)
    repo.git("revert", "--no-edit", log)
    revert = repo.git("rev-parse", "HEAD").strip()
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("commit", "-q", "--amend", "-m", f'Revert "Revert"\n\nThis reverts commit {revert}.\n\n{agent}')
    assert repo.mem("verify", check=False).returncode == int(bool(agent))
