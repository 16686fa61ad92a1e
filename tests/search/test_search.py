"""Searching real repositories through the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.index.db import open_index
from gitmem.memory.fact import fact_id
from gitmem.search.weights import SHIPPED
from tests.harness import Repo

MONDAY = """# 2026-02-02

## 09:00 - planning

- We chose REST webhooks for phase one: easier to debug than gRPC.
- POSTGRES_URL is read from the vault, never from .env.
- Alice owns the release checklist.

## 14:00 - incident

- ERR_1042 came from a stale DNS cache; restarting the resolver fixed it.
"""
TUESDAY = """# 2026-02-03

## 10:00 - 회의

- 메모리는 30일 뒤에 만료된다.
- 배포는 금요일 오후에 하지 않기로 했다.
- 분산락 구현은 Redis로 한다.
"""


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("logs", {"memory/2026-02-02.md": MONDAY, "memory/2026-02-03.md": TUESDAY}, date="2026-02-03T12:00:00Z")
    return repo


def found(repo: Repo, *args: str) -> list[dict[str, Any]]:
    answer = json.loads(repo.mem("search", "--json", *args).stdout)
    hits: list[dict[str, Any]] = answer["hits"]
    return hits


def cut_of(repo: Repo) -> str:
    index = open_index(repo.path / ".git" / "gitmem")
    assert index is not None
    try:
        return index.meta("cut")
    finally:
        index.close()


def texts(repo: Repo, *args: str) -> str:
    return "\n".join(hit["text"] for hit in found(repo, *args))


def test_a_question_finds_the_line_that_answers_it(memory: Repo) -> None:
    hit = found(memory, "why did we choose webhooks?")[0]
    assert hit["path"] == "memory/2026-02-02.md"
    assert hit["start_line"] <= 5 <= hit["end_line"]
    assert "REST webhooks" in hit["text"]
    assert hit["heading"] == "2026-02-02 > 09:00 - planning"
    assert hit["date"] == "2026-02-02"
    assert hit["trust"] == "committed"
    assert 0 <= hit["score"] <= 1


@pytest.mark.parametrize("query", ["ERR_1042", "err_1042", "POSTGRES_URL", "what is POSTGRES_URL", "postgres url"])
def test_an_identifier_in_one_place_is_the_first_hit(memory: Repo, query: str) -> None:
    wanted = "ERR_1042" if "err" in query.lower() else "POSTGRES_URL"
    assert wanted in found(memory, query)[0]["text"]


@pytest.mark.parametrize(
    "query", ["메모리", "메모리가 언제 만료되지?", "만료", "락", "Redis로 락 구현", "배포를 금요일에"]
)
def test_korean_is_found_with_and_without_particles(memory: Repo, query: str) -> None:
    assert found(memory, query)[0]["path"] == "memory/2026-02-03.md"


def test_the_first_hit_does_not_depend_on_how_many_are_asked_for(memory: Repo) -> None:
    for query in ("who owns the checklist", "메모리", "release", "vault"):
        assert found(memory, query, "-n", "1")[0] == found(memory, query, "-n", "20")[0]


def test_uncommitted_text_is_found_and_called_so(memory: Repo) -> None:
    memory.write("memory/2026-02-04.md", "# 2026-02-04\n\n- The staging cluster moved to Frankfurt.\n")
    hit = found(memory, "where is the staging cluster")[0]
    assert "Frankfurt" in hit["text"] and hit["trust"] == "uncommitted"


def test_another_commit_is_searched_as_it_was(memory: Repo) -> None:
    first = memory.git("rev-parse", "HEAD").strip()
    memory.commit(
        "change",
        {"memory/2026-02-02.md": MONDAY.replace("REST webhooks", "message queues")},
        date="2026-02-10T12:00:00Z",
    )
    assert "queues" in texts(memory, "phase one")
    assert "queues" not in texts(memory, "phase one", "--at", first)
    assert "webhooks" in texts(memory, "phase one", "--at", "2026-02-05")
    answer = json.loads(memory.mem("search", "phase", "--at", first, "--json").stdout)
    assert answer["at"] == first


def test_a_fact_of_an_unmerged_branch_is_seen_there_only(memory: Repo) -> None:
    memory.git("checkout", "-q", "-b", "feature")
    memory.commit("fact", {"memory/topic.md": "# Topic\n\n- The zebra protocol is enabled.\n"})
    assert "zebra" in texts(memory, "zebra protocol")
    memory.git("checkout", "-q", "main")
    assert "zebra" not in texts(memory, "zebra protocol")
    hit = found(memory, "zebra protocol", "--all-branches")[0]
    assert "zebra" in hit["text"] and hit["branch"] == "feature"


def test_a_passage_of_several_branches_is_of_the_current_one(repo: Repo) -> None:
    repo.commit("lamp", {"memory/lamp.md": "# Lamp\n\n- The lamp is cleaned on Mondays.\n"})
    repo.git("checkout", "-q", "-b", "feature")
    repo.commit("crane", {"memory/crane.md": "# Crane\n\n- The crane is blue.\n"})
    for branch in ("main", "feature"):
        repo.git("checkout", "-q", branch)
        (hit, *_) = found(repo, "lamp cleaned", "--all-branches")
        assert (hit["branch"], hit["path"]) == (branch, "memory/lamp.md")


FACTS = """# Memory

## Policies

- Deploys are frozen on Fridays. <!-- mem type=policy tags=release src=memory/2026-02-03.md#L6@1a2b3c4d5e6f -->
- Jeju is exempt from the delivery target. <!-- mem type=exception from=2025-06-01 until=2025-12-31 -->
"""


def test_expired_facts_are_out_unless_asked_for(memory: Repo) -> None:
    memory.commit("facts", {"MEMORY.md": FACTS})
    assert "Jeju" not in texts(memory, "Jeju delivery target")
    assert "Jeju" in texts(memory, "Jeju delivery target", "--expired")


def test_a_question_about_the_past_finds_what_was_true_and_says_that_it_expired(memory: Repo) -> None:
    memory.commit("facts", {"MEMORY.md": FACTS})
    for query in ("was Jeju exempt before?", "작년엔 Jeju 왜 예외였지?"):
        hit = memory.mem("search", query, "--json", env={"GITMEM_NOW": "2026-03-01T00:00:00+00:00"})
        first = json.loads(hit.stdout)["hits"][0]
        assert "Jeju" in first["text"] and first["state"] == "expired"


def test_a_fact_that_expired_since_is_found_where_it_held(memory: Repo) -> None:
    old = memory.commit("facts", {"MEMORY.md": FACTS}, date="2025-08-01T00:00:00Z")
    assert "Jeju" in texts(memory, "Jeju delivery target", "--at", old)


def test_a_folder_narrows_the_answer_to_what_holds_for_it(memory: Repo) -> None:
    facts = "- Lint runs in CI. <!-- mem scope=packages/api -->\n- Lint is slow. <!-- mem scope=패키지/결제 -->\n- Lint all.\n"
    paths = '[memory]\npaths = ["packages/*/memory/*.md"]\n'
    memory.commit(
        "facts", {"MEMORY.md": facts, ".gitmem.toml": paths, "packages/api/memory/a.md": "- Lint rule A is off.\n"}
    )
    for folder, there in (("packages/api", {"CI", "off"}), ("packages/", {"CI", "off"}), ("패키지", {"slow"})):
        said = texts(memory, "lint", "--scope", folder)
        assert {word for word in ("CI", "off", "slow", "all") if f" {word}." in said} == there
    refused = memory.mem("search", "lint", "--scope", "../x", check=False)
    assert refused.returncode == 2 and "--scope names no folder" in refused.stderr


def test_filters_narrow_the_answer(memory: Repo) -> None:
    memory.commit("facts", {"MEMORY.md": FACTS})
    assert {hit["type"] for hit in found(memory, "deploys fridays", "--type", "policy")} == {"policy"}
    assert {tuple(hit["tags"]) for hit in found(memory, "deploys", "--tag", "release")} == {("release",)}
    assert {hit["path"] for hit in found(memory, "webhooks 배포", "--since", "2026-02-03", "--path", "memory")} == {
        "memory/2026-02-03.md"
    }
    assert {hit["path"] for hit in found(memory, "webhooks 배포", "--until", "2026-02-02", "--path", "memory/*")} == {
        "memory/2026-02-02.md"
    }
    assert found(memory, "webhooks", "--path", "nowhere/*") == []


def test_a_promoted_fact_says_so_and_its_comment_is_not_text(memory: Repo) -> None:
    memory.commit("facts", {"MEMORY.md": FACTS})
    hit = found(memory, "deploys are frozen on fridays")[0]
    assert hit["trust"] == "promoted" and "<!--" not in hit["text"] and hit["date"] == "2026-02-03"


def test_a_hit_that_is_one_fact_has_that_facts_id(repo: Repo) -> None:
    repo.commit("m", {"MEMORY.md": "# Memory\n\n## Facts\n\n- The API listens on port 8443. <!-- mem type=fact -->\n"})
    assert found(repo, "API port")[0]["id"] == fact_id("The API listens on port 8443.")


def test_blame_says_who_wrote_a_hit(memory: Repo) -> None:
    hit = found(memory, "webhooks", "--blame")[0]
    assert hit["author"] == "Test <test@example.com>" and hit["commit"] == memory.git("rev-parse", "HEAD").strip()


def test_a_type_that_is_none_is_a_usage_error_that_lists_them(memory: Repo) -> None:
    done = memory.mem("search", "webhooks", "--type", "decison", check=False)
    assert done.returncode == 2 and "'decison' is no type" in done.stderr and "decision, deadline" in done.stderr
    assert memory.mem("search", "webhooks", "--type", "decision").stdout == ""
    assert memory.mem("search", "webhooks", "--type", "typo", "--all-branches", check=False).returncode == 2


def test_a_type_of_a_notes_own_front_matter_is_one(memory: Repo) -> None:
    memory.commit("note", {"memory/n.md": "---\ntype: reference\n---\n\nThe webhooks are documented in the wiki.\n"})
    assert [hit["path"] for hit in found(memory, "webhooks", "--type", "reference")] == ["memory/n.md"]


def test_a_fact_is_found_by_its_meaning_alone_among_many_others(repo: Repo) -> None:
    facts = ["We use PostgreSQL for the billing database.", "Tokens live 15 minutes.", "The phone changes hands on Mondays.",
             "배포 동결은 모든 리전에 적용한다.", "결제 모듈 담당자는 이두리다.", "Alice owns the release checklist."]  # fmt: skip
    repo.commit("facts", {"MEMORY.md": "# Memory\n\n## Facts\n\n" + "".join(f"- {fact}\n" for fact in facts)})
    assert "PostgreSQL" in found(repo, "데이터베이스는 뭐지?")[0]["text"]
    for question in ("unicorn", "recipe for kimchi", "축구 우승팀"):
        assert found(repo, question) == []


def test_facts_of_memory_md_are_hits_by_themselves_with_their_date(repo: Repo) -> None:
    facts = "- Tokens live 15 minutes. <!-- mem type=constraint from=2026-02-01 -->\n- Alice owns releases.\n"
    repo.commit("facts", {"MEMORY.md": f"# Memory\n\n## Facts\n\n{facts}"})
    assert found(repo, "how long do tokens live")[0]["text"] == "- Tokens live 15 minutes."
    assert "Memory > Facts · 2026-02-01" in repo.mem("search", "tokens").stdout


def test_a_person_sees_the_part_of_a_long_passage_that_matches_and_a_program_all_its_lines(repo: Repo) -> None:
    code = "\n".join(f"call_{n}(retries={n})" for n in range(100))
    files = {
        "memory/code.md": f"# Code\n\n```python\n{code}\n```\n",
        "memory/long.md": "# L\n\n" + "zebra " * 9000 + "quokka\n",
    }
    repo.commit("long", files)
    shown = repo.mem("search", "call_57", "-n", "1").stdout
    assert "call_57(retries=57)" in shown and "lines before" in shown and "more lines" in shown
    assert len(shown.splitlines()) == 15 and "call_3(" in texts(repo, "call_57", "-n", "1")
    shown = repo.mem("search", "quokka", "-n", "1").stdout
    assert "... " in shown and "zebra quokka" in shown and len(shown) < 1000


def test_days_the_wrong_way_round_are_a_usage_error(memory: Repo) -> None:
    done = memory.mem("search", "x", "--since", "2026-02-03", "--until", "2026-02-02", check=False)
    assert done.returncode == 2 and "is later than" in done.stderr


def test_a_repository_without_memory_says_how_to_begin(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "empty")
    done = repo.mem("search", "anything")
    assert done.stdout == "" and "git mem add" in done.stderr and "try other words" not in done.stderr


def test_what_is_neither_a_revision_nor_a_day_is_said_with_both_forms(memory: Repo) -> None:
    done = memory.mem("search", "x", "--at", "soon", check=False)
    assert done.returncode == 3 and "'soon'" in done.stderr and "YYYY-MM-DD" in done.stderr


def test_explain_of_an_identifier_names_it(memory: Repo) -> None:
    explained = found(memory, "ERR_1042", "--explain")[0]["explain"]
    assert explained["evidence"]["exact"] == 20
    assert sum(explained["evidence"].values()) == pytest.approx(explained["fused"], abs=0.01)


def test_explain_adds_up(memory: Repo) -> None:
    hit = found(memory, "webhooks debug", "--explain", "--lane", "lexical")[0]
    explained = hit["explain"]
    assert explained["lexical"]["rank"] == 1
    assert abs(sum(explained["evidence"].values()) - explained["fused"]) < 0.01


def test_nothing_found_is_an_answer_with_a_hint(memory: Repo) -> None:
    done = memory.mem("search", "--lane", "lexical", "qwertyuiop")
    assert done.stdout == "" and "nothing found" in done.stderr


OFFICE = "# Office\n\n" + "\n\n".join(
    f"## {name}\n\n- {text}"
    for name, text in {
        "Kitchen": "The coffee machine is cleaned every Monday by the porter.",
        "Garage": "Parking permits are renewed in March at the front desk.",
        "Printer": "Paper for the printer on the second floor is ordered by Alice.",
        "Rooms": "Meeting rooms are booked through the calendar of the office.",
        "Plants": "The plants of the hall are watered by a firm from outside.",
        "Keys": "Spare keys lie with the security guard at the main gate.",
        "Heating": "The heating is turned down at night from October to April.",
    }.items()
)


@pytest.fixture
def office(repo: Repo) -> Repo:
    repo.commit("office", {"memory/office.md": OFFICE}, date="2026-02-03T12:00:00Z")
    return repo


def test_a_question_without_an_answer_says_so_and_shows_five_hits(office: Repo) -> None:
    question = "which vaccine does the clinic recommend to travellers?"
    done = office.mem("search", "-n", "20", question)
    assert "nothing here seems to answer this" in done.stderr and len(done.stdout.split("\n\n")) == 5
    answer = json.loads(office.mem("search", "-n", "20", "--json", question).stdout)
    assert answer["answered"] is False and len(answer["hits"]) == 5
    everything = json.loads(office.mem("search", "-n", "20", "--all", "--json", question).stdout)
    assert everything["answered"] is False and everything["hits"][:5] == answer["hits"] and len(everything["hits"]) > 5


@pytest.mark.parametrize(
    "question",
    ["who waters the plants in the hall?", "keys", "회의실은 어떻게 예약하나요?", "when is the heating turned down?"],
)
def test_a_question_with_an_answer_has_all_hits_and_no_such_note(office: Repo, question: str) -> None:
    answer = json.loads(office.mem("search", "-n", "20", "--json", question).stdout)
    assert answer["answered"] is True
    assert "seems to answer" not in office.mem("search", "-n", "20", question).stderr


def test_a_hit_of_the_days_that_are_asked_about_answers(memory: Repo) -> None:
    answer = json.loads(memory.mem("search", "--json", "what happened on 2026-02-02?").stdout)
    assert answer["answered"] is True


def test_without_a_limit_of_evidence_any_hit_answers(office: Repo) -> None:
    office.git("config", "--global", "mem.contextEvidence", "0")
    answer = json.loads(office.mem("search", "-n", "20", "--json", "which vaccine does the clinic recommend?").stdout)
    assert answer["answered"] is True and len(answer["hits"]) > 5


def test_a_fence_is_never_cut(memory: Repo) -> None:
    memory.commit("note", {"memory/x.md": "# X\n\n```sh\necho one\n\nfrobnicate --all\necho two\n```\n\nafter\n"})
    hit = found(memory, "frobnicate")[0]
    assert hit["text"].startswith("```sh") and hit["text"].count("```") == 2


def test_near_duplicates_are_shown_once(memory: Repo) -> None:
    line = "- The giraffe service restarts nightly at three.\n"
    memory.commit("copies", {f"memory/n{n}.md": f"# Note {n}\n\n{line}" for n in range(4)})
    assert sum("giraffe" in hit["text"] for hit in found(memory, "giraffe service", "-n", "20")) == 1


def test_near_duplicates_about_two_things_are_both_shown(repo: Repo) -> None:
    limit = "the retry limit of all calls to the outside world is 3 in each of our regions"
    lines = [f"- The API port is 8080 <!-- mem type=fact about={name} -->" for name in ("Falcon", "Osprey")]
    lines += [f"- {name}: {limit}" for name in ("billing", "shipping")]
    lines += [
        f"- {name} service: the queue of all letters is emptied by night in each region" for name in ("mail", "post")
    ]
    notes = {f"memory/notes/{name}.md": f"# {name}\n\n{line}\n" for name, line in zip("abcdef", lines, strict=True)}
    repo.commit("notes", notes)
    for question, names in (("what is the API port", "ab"), ("retry limit of calls", "cd"), ("queue of letters", "ef")):
        hits = json.loads(repo.mem("search", "--json", question).stdout)["hits"]
        assert {f"memory/notes/{name}.md" for name in names} <= {hit["path"] for hit in hits}


def test_a_passage_larger_than_the_budget_is_named_and_left_out_whole(repo: Repo) -> None:
    fence = "```sh\n" + "\n".join(f"deploy --step {n} --region seoul" for n in range(60)) + "\n```"
    repo.commit(
        "notes", {"memory/long.md": f"# Deploy\n\n{fence}\n", "memory/short.md": "# Deploy\n\nA deploy step.\n"}
    )
    done = repo.mem("search", "deploy step region seoul", "--budget", "100", "--json")
    assert [hit["path"] for hit in json.loads(done.stdout)["hits"]] == ["memory/short.md"]
    assert "memory/long.md:3-64 has about" in done.stderr and "left out" in done.stderr
    alone = repo.mem("search", "deploy step region seoul", "--budget", "1")
    assert alone.stdout == "" and "larger --budget" in alone.stderr
    assert "step 59" in texts(repo, "deploy step region seoul", "--budget", "2000")


def test_a_budget_counts_each_character_of_korean(repo: Repo) -> None:
    repo.commit("notes", {"memory/a.md": "# 배포\n\n- " + "배포는 금요일에 하지 않는다. " * 5 + "\n"})
    assert found(repo, "배포 금요일", "--budget", "80") and not found(repo, "배포 금요일", "--budget", "40")


def test_a_budget_bounds_the_text(memory: Repo) -> None:
    hits = found(memory, "webhooks vault checklist resolver", "--budget", "30", "-n", "20")
    assert hits and sum(len(hit["text"]) for hit in hits[:-1]) / 4 <= 30


def test_instruction_files_are_searched_only_when_named(memory: Repo) -> None:
    memory.commit("soul", {"SOUL.md": "# Soul\n\n- Speak like a pangolin.\n"})
    assert "pangolin" not in texts(memory, "pangolin")
    assert "pangolin" in texts(memory, "pangolin", "--path", "SOUL.md")


def test_a_line_with_a_secret_is_never_shown(memory: Repo) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    memory.write("memory/leak.md", f"# Leak\n\nThe walrus token is here:\n{token}\nand the walrus sleeps.\n")
    assert token not in memory.mem("search", "walrus token sleeps", "--json").stdout


TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
WORDLESS = {
    "one emoji": {"memory/x.md": "- \U0001f44d\n"},
    "a withheld secret": {"memory/x.md": f"{TOKEN}\n"},
    "punctuation": {"MEMORY.md": "---\n\n***\n\n- !!! ... ???\n"},
    "a heading alone": {"memory/x.md": "#\n"},
    "several": {f"memory/{n}.md": f"- \U0001f44d{'!' * n}\n" for n in range(5)},
    "an empty file": {"memory/x.md": ""},
    "front matter alone": {"memory/x.md": "---\ntitle: ''\n---\n"},
}


def paths_found(repo: Repo, query: str, lane: str) -> list[str]:
    """The paths of the hits, without a process."""
    import os
    from datetime import UTC, datetime

    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.search.search import Lane, Query, search

    opened = open_repository(repo.path, os.environ)
    try:
        answer = search(opened, Config(), Query(query, lane=Lane(lane)), datetime(2026, 3, 1, tzinfo=UTC))
    finally:
        opened.close()
    return [hit.path for hit in answer.hits]


@pytest.mark.parametrize("lane", ["both", "vector", "lexical"])
@pytest.mark.parametrize("notes", WORDLESS.values(), ids=WORDLESS)
def test_a_note_without_a_word_takes_no_other_answer_away(repo: Repo, notes: dict[str, str], lane: str) -> None:
    for path, text in notes.items():
        repo.write(path, text)
    for query in ("anything", "\U0001f44d", "!!!", "\u3131", ""):
        assert paths_found(repo, query, lane) == []
    repo.write("memory/words.md", "- The otter sleeps in the harbour.\n")
    assert paths_found(repo, "where does the otter sleep?", lane) == ["memory/words.md"]


@pytest.mark.parametrize("notes", [WORDLESS["one emoji"], WORDLESS["a withheld secret"]])
def test_commands_that_search_work_beside_a_note_without_a_word(repo: Repo, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        repo.write(path, text)
    assert found(repo, "anything") == []
    assert repo.mem("context", "anything").returncode == 0
    prompt = json.dumps({"session_id": "s", "cwd": str(repo.path), "prompt": "anything at all"})
    assert repo.mem("session", "hook", "UserPromptSubmit", input=prompt).stderr == ""


def test_control_characters_do_not_reach_a_terminal(memory: Repo) -> None:
    memory.write("memory/evil.md", "# Evil\n\n- platypus \x1b[2J\u202e here\n")
    out = memory.mem("search", "platypus").stdout
    assert "\x1b" not in out and "\u202e" not in out and "platypus" in out


def test_an_empty_repository_answers_nothing(repo: Repo) -> None:
    assert found(repo, "anything") == []


def test_show_prints_lines_now_and_then(memory: Repo) -> None:
    first = memory.git("rev-parse", "HEAD").strip()
    memory.commit("change", {"memory/2026-02-02.md": MONDAY.replace("Alice", "Bob")})
    assert "Bob" in memory.mem("show", "memory/2026-02-02.md:7").stdout
    assert "Alice" in memory.mem("show", "memory/2026-02-02.md:7", "--at", first).stdout
    value = json.loads(memory.mem("show", "memory/2026-02-02.md:5-7", "--json").stdout)
    assert (value["start_line"], value["end_line"], value["at"]) == (5, 7, "worktree")


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/passwd", "memory/../../x.md", ".git/config", "memory/none.md", "README"]
)
def test_show_reads_nothing_but_memory(memory: Repo, path: str) -> None:
    (memory.path / "README").write_text("readme")
    done = memory.mem("show", path, check=False)
    assert done.returncode == 3 and done.stdout == "" and "Traceback" not in done.stderr


def test_show_follows_no_link(memory: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside")
    (memory.path / "memory" / "link.md").symlink_to(tmp_path / "outside.md")
    assert memory.mem("show", "memory/link.md", check=False).returncode == 3


def test_eval_reports_and_a_floor_breaks(memory: Repo, tmp_path: Path) -> None:
    qrels = tmp_path / "q.jsonl"
    rows = [
        {
            "query": "why webhooks",
            "category": "en",
            "relevant": [{"path": "memory/2026-02-02.md", "start_line": 5, "end_line": 5}],
        },
        {
            "query": "메모리 만료",
            "category": "ko",
            "relevant": [{"path": "memory/2026-02-03.md", "start_line": 5, "end_line": 5}],
        },
        {
            "query": "unicorn",
            "category": "none",
            "relevant": [{"path": "memory/none.md", "start_line": 1, "end_line": 1}],
        },
    ]
    qrels.write_text("\n".join(json.dumps(row) for row in rows))
    value = json.loads(memory.mem("eval", str(qrels), "--json").stdout)
    groups = {group["category"]: group for group in value["runs"][0]["groups"]}
    assert groups["en"]["hit@1"] == groups["ko"]["recall@5"] == 1.0 and groups["none"]["mrr"] == 0.0
    done = memory.mem("eval", str(qrels), "--floor", "recall@5=0.9", check=False)
    assert done.returncode == 1 and "recall@5 is 0.667" in done.stderr
    assert "never found: memory/none.md" in done.stderr
    assert memory.mem("eval", str(qrels), "--floor", "recall@5=0.5").returncode == 0
    two = json.loads(memory.mem("eval", str(qrels), "--ab", "label=0,3", "--json").stdout)
    assert [run["name"] for run in two["runs"]] == ["label=0", "label=3"]
    shown = memory.mem("eval", str(qrels), "--ab", "label=0,3", "--floor", "recall@5=0.9", check=False)
    assert "recall@5 is 0.667, below 0.9 with label=3" in shown.stderr and shown.returncode == 1
    assert [line.split()[0] for line in shown.stdout.splitlines()[1:4]] == ["all", "label=3", "en"]
    qrels.write_text('{"query": "x"}\n')
    bad = memory.mem("eval", str(qrels), check=False)
    assert bad.returncode == 2 and "q.jsonl, line 1: 'relevant' is missing" in bad.stderr


def test_eval_compares_chunk_sizes_and_leaves_the_index_as_it_was_set(memory: Repo, tmp_path: Path) -> None:
    qrels = tmp_path / "q.jsonl"
    place = {"path": "memory/2026-02-02.md", "start_line": 5, "end_line": 5}
    qrels.write_text(json.dumps({"query": "why webhooks", "relevant": [place]}))
    value = json.loads(memory.mem("eval", str(qrels), "--ab", "chunkSize=20,200", "--json").stdout)
    assert [run["groups"][0]["hit@1"] for run in value["runs"]] == [1.0, 1.0]
    assert cut_of(memory) == "2/200/0"


def test_a_change_of_chunk_size_holds_from_the_next_search(memory: Repo) -> None:
    memory.mem("search", "webhooks")
    memory.git("config", "--global", "mem.chunkSize", "50")
    assert found(memory, "webhooks") and cut_of(memory) == "2/50/0"


def test_explain_shows_the_settings_in_force_and_marks_what_is_not_as_shipped(memory: Repo) -> None:
    memory.git("config", "--global", "mem.searchPool", "9")
    memory.git("config", "--global", "--add", "mem.searchWeight", "label=0")
    settings = json.loads(memory.mem("search", "webhooks", "--explain", "--json").stdout)["settings"]
    assert settings["keys"]["mem.searchPool"] == settings["constants"]["pool"] == 9
    label = SHIPPED.weights["label"]
    assert settings["changed"] == {"mem.searchPool": 28, "mem.searchWeight": [], "label": label, "pool": 28}
    shown = memory.mem("search", "webhooks", "--explain").stdout
    assert "searchPool 9*" in shown and "label 0*" in shown and "searchDecay 0.0077  " in shown
    assert "as shipped: searchPool 28" in shown


def test_a_floor_of_the_settings_cuts_and_min_score_overrides_it(memory: Repo) -> None:
    memory.git("config", "--global", "mem.searchFloor", "1")
    assert not found(memory, "debug something") and found(memory, "debug something", "--min-score", "0")


def test_a_bad_setting_of_search_says_what_to_type(memory: Repo) -> None:
    memory.git("config", "--global", "mem.searchPool", "0")
    done = memory.mem("search", "webhooks", check=False)
    assert done.returncode == 3 and "mem.searchPool must be 1 to 1000" in done.stderr
    assert "git config --global mem.searchPool 28" in done.stderr


def test_eval_compares_two_commits(memory: Repo, tmp_path: Path) -> None:
    old = memory.git("rev-parse", "HEAD").strip()
    memory.commit("lost", {"memory/2026-02-02.md": "# 2026-02-02\n\n- nothing\n"})
    qrels = tmp_path / "q.jsonl"
    qrels.write_text(
        json.dumps(
            {"query": "why webhooks", "relevant": [{"path": "memory/2026-02-02.md", "start_line": 5, "end_line": 5}]}
        )
    )
    value = json.loads(memory.mem("eval", str(qrels), "--compare", old, "--json").stdout)
    assert value["lost"] == ["why webhooks"] and value["gained"] == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=st.text(max_size=40), query=st.text(min_size=1, max_size=20))
def test_any_note_is_safe_to_search(tmp_path_factory: pytest.TempPathFactory, note: str, query: str) -> None:
    place = tmp_path_factory.getbasetemp() / "any-note"
    repo = Repo(place, not place.exists())
    repo.write("memory/x.md", note.encode("utf-8", "surrogatepass"))
    for lane in ("both", "vector"):
        assert set(paths_found(repo, query, lane)) <= {"memory/x.md"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_string_is_a_safe_query(tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    import os
    from datetime import UTC, datetime

    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.search.search import Query, search

    place = tmp_path_factory.getbasetemp() / "any-string"
    if not place.exists():
        Repo(place).commit("logs", {"memory/2026-02-02.md": MONDAY, "memory/2026-02-03.md": TUESDAY})
    repository = open_repository(place, os.environ)
    try:
        answer = search(repository, Config(), Query(query), datetime(2026, 3, 1, tzinfo=UTC))
    finally:
        repository.close()
    assert all(hit.text for hit in answer.hits)


KOREAN = "# 배포\n\n- 운영 서버 배포는 금요일에는 하지 않는다. 문제가 생기면 주말에 고칠 사람이 없다.\n- 회의실 예약은 총무팀에 묻는다.\n"
ENGLISH = (
    "# Office\n\n- The coffee machine is never cleaned on time.\n- Parking permits are renewed every day in March.\n"
)
JAPANESE = "# 認証\n\n- パスワードを忘れた利用者には再設定のメールを送る。\n- 昼食は十二時から。\n"


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("why do we never deploy to production on Fridays", "memory/ko.md"),
        ("how does a user reset a forgotten password", "memory/ja.md"),
        ("주차 허가는 언제 갱신하나", "memory/en.md"),
    ],
)
def test_a_question_finds_a_note_in_another_language_among_others(repo: Repo, question: str, path: str) -> None:
    repo.commit(
        "notes", {"memory/ko.md": KOREAN, "memory/en.md": ENGLISH, "memory/ja.md": JAPANESE, "memory/log.md": MONDAY}
    )
    assert found(repo, question)[0]["path"] == path


def test_a_clone_indexed_from_nothing_answers_the_same(memory: Repo, tmp_path: Path) -> None:
    first = memory.git("rev-parse", "HEAD").strip()
    memory.commit("more", {f"memory/n{n}.md": f"# Note {n}\n\n- webhooks and vaults number {n}\n" for n in range(20)})
    texts(memory, "webhooks")
    memory.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    clone.git("checkout", "-q", first)
    for question in ("webhooks", "vault", "메모리 만료", "who owns what"):
        places = [(hit["path"], hit["start_line"], hit["score"]) for hit in found(memory, question, "--at", first)]
        assert places == [
            (hit["path"], hit["start_line"], hit["score"]) for hit in found(clone, question, "--at", first)
        ]


def test_the_cold_path_imports_nothing_heavy(memory: Repo) -> None:
    import sys

    # Nor what writes, since a search that finds all current only reads; nor what reads command lines.
    heavy = (
        "numpy pygit2 detect_secrets llama_cpp yaml markdown_it sqlite_vec click inspect dataclasses tempfile shutil"
        " random uuid argparse asyncio importlib.resources importlib.metadata"
        " gitmem.index.indexer gitmem.index.search_update gitmem.index.update gitmem.index.parse_workers gitmem.index.db.writer gitmem.git.write gitmem.git.commit gitmem.index.chunks"
        " gitmem.memory.document gitmem.search.evaluation"
        " gitmem.memory.facts gitmem.gate.detectors.finding gitmem.gate.detectors gitmem.cli.main"
    )
    code = (
        "import sys, gitmem.__main__\nfrom gitmem.cli.fast_search import search\ncode = search(['webhooks', '--json'])\n"
        f"print(code, [m for m in '{heavy}'.split() if m in sys.modules], file=sys.stderr)"
    )
    texts(memory, "webhooks")
    assert memory.run(sys.executable, "-c", code).stderr.strip() == "0 []"


def test_answers_do_not_depend_on_the_order_in_which_files_were_indexed(repo: Repo, tmp_path: Path) -> None:
    rng = random.Random(5)
    words = [f"{a}{b}" for a in ("ba", "ce", "di", "fo", "gu", "ha") for b in ("ka", "lo", "mi", "nu", "pe", "ro")]
    files = {
        f"memory/note-{number:03}.md": f"# Note {number}\n\n- {' '.join(rng.choices(words, k=24))}.\n"
        for number in range(600)
    }
    other = Repo(tmp_path / "other")
    day = "2026-03-02T12:00:00Z"  # the same for all lines: of two of no day Git says which is later
    repo.commit("all", files, date=day)
    later = [path for number, path in enumerate(files) if number % 3]
    other.commit("some", {path: files[path] for path in files if path not in later}, date=day)
    other.mem("index")
    other.commit("the rest", {path: files[path] for path in later}, date=day)
    for question in (" ".join(rng.choices(words, k=count)) for count in (1, 1, 2, 2, 3, 4, 5, 6)):
        places = [[(hit["path"], hit["start_line"]) for hit in found(one, question)] for one in (repo, other)]
        assert places[0] == places[1], question


def test_a_row_of_a_table_answers_alone_with_its_header_in_the_trail(repo: Repo) -> None:
    table = "| server | port |\n|---|---|\n| billing | 8080 |\n| search | 9090 |\n"
    repo.commit("ports", {"memory/ports.md": f"Ships\n=====\n\nServers\n-------\n\n{table}"})
    first = found(repo, "billing port")[0]
    assert "8080" in first["text"] and "9090" not in first["text"]
    assert first["trail"] == ["ports", "Ships", "Servers", "server | port"]
    assert "Ships > Servers > server | port" in repo.mem("search", "billing port").stdout


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("りんご", "- リンゴの仕入れは月曜"),
        ("リンゴ", "- りんごジャムは棚の下"),
        ("ゴミの日", "- ごみは火曜に出す"),
        ("らーめん", "- ラーメンは塩だけ"),
        ("マスター", "- マスターの鍵は受付"),
    ],
)
def test_a_word_in_the_other_kana_is_found(repo: Repo, question: str, line: str) -> None:
    others = ["- 傘は玄関に置きます", "- 鍵を返してから帰ります", "- 掃除は毎日します", "- 会議は十時に始めます"]
    repo.commit("notes", {"memory/x.md": "# N\n\n" + "\n".join([*others, line]) + "\n"})
    hits = found(repo, question)
    assert hits and line in hits[0]["text"]


def test_of_a_line_of_many_characters_the_part_that_matches_is_given(repo: Repo) -> None:
    entries = " ".join(f"entry{number} belongs to the blue shelf" for number in range(1500))
    line = f"- {entries} and the marmalade recipe is behind the blue door {entries}"
    repo.commit("long", {"memory/long.md": f"# Long\n\n{line}\n", "memory/short.md": "- the door of the shed\n"})
    hits = found(repo, "marmalade recipe blue door")
    (hit,) = (each for each in hits if each["path"] == "memory/long.md")
    text = hit["text"]
    assert "the marmalade recipe is behind the blue door" in text and text[0] == text[-1] == "…"
    assert text[1:-1] in line and len(text) == 4002 and hit["cut"] == len(line) - 4000
    assert len(hits) == 2 and all("cut" not in each for each in hits if each is not hit)
    alone = repo.mem("search", "--jsonl", "marmalade recipe blue door").stdout.splitlines()
    assert hit in [json.loads(each) for each in alone]
    assert "marmalade recipe is behind the blue door" in repo.mem("search", "marmalade recipe blue door").stdout


def test_what_is_asked_beside_a_few_lines_of_a_log_is_found(repo: Repo) -> None:
    depots = "".join(f"- depot {number} keeps {number * 3} crates of tin\n" for number in range(200))
    repo.commit("depots", {"memory/x.md": f"# N\n\n{depots}- The zinc wharf is locked by Ottilie\n"})
    log = "\n".join(f"2026-02-05 10:{at:02}:{at + 11} worker {at + 60} took {at * 3 + 90} ms" for at in range(8))
    hits = json.loads(repo.mem("search", "--json", f"who locks the zinc wharf?\n\n{log}").stdout)["hits"]
    assert "Ottilie" in hits[0]["text"]


def test_what_is_asked_beside_a_pasted_log_is_found(repo: Repo) -> None:
    depots = "".join(f"- depot {number} keeps {number * 3} crates of tin\n" for number in range(200))
    repo.commit("depots", {"memory/x.md": f"# N\n\n{depots}- The zinc wharf is locked by Ottilie\n"})
    log = " ".join(f"[{at:05}] worker-{at % 31} retried job {at * 7919 % 1003} after timeout" for at in range(400))
    done = repo.mem("search", "--json", f"who locks the zinc wharf? {log}")
    answer = json.loads(done.stdout)
    assert "Ottilie" in answer["hits"][0]["text"] and answer["lanes"] == ["lexical"]
    assert "note: the question has a pasted log in it" in done.stderr


def test_a_file_that_is_one_heading_states_it(memory: Repo) -> None:
    memory.commit("key", {"memory/only.md": "# The sluice key hangs by the door\n"})
    answer = json.loads(memory.mem("search", "--json", "where is the sluice key?").stdout)
    assert answer["answered"] and answer["hits"][0]["text"] == "# The sluice key hangs by the door"


@pytest.mark.parametrize("text", ["# 2026-02-07\n", "# 2026-02-07\n\n## 09:00 - sluice key\n", "## 10:00\n"])
def test_headings_that_only_order_a_file_state_nothing(memory: Repo, text: str) -> None:
    memory.commit("empty", {"memory/2026-02-07.md": text})
    for query in ("what happened on 2026-02-07?", "sluice key", "10:00"):
        assert all(hit["path"] != "memory/2026-02-07.md" for hit in found(memory, query))


def first_on_6_march(repo: Repo, query: str) -> dict[str, Any]:
    env = {"GITMEM_NOW": "2026-03-06T12:00:00+00:00"}
    hit: dict[str, Any] = json.loads(repo.mem("search", "--json", query, env=env).stdout)["hits"][0]
    return hit


@pytest.mark.parametrize("others", [0, 6])
@pytest.mark.parametrize(
    ("query", "day", "other_day"),
    [
        ("what did we repair yesterday?", "waxed the floor", "fixed the kiosk"),
        ("what did we finish yesterday?", "waxed the floor", "fixed the kiosk"),
        ("yesterday's work", "waxed the floor", "fixed the kiosk"),
        ("어제 끝낸 일이 뭐지", "바닥에 왁스를 칠했다", "키오스크 수리를 끝냈다"),
        ("어제 고친 것", "바닥에 왁스를 칠했다", "키오스크 수리를 끝냈다"),
    ],
)
def test_a_named_day_comes_before_a_line_near_to_a_guessed_verb(
    repo: Repo, query: str, day: str, other_day: str, others: int
) -> None:
    logs = {"2026-03-05": day, "2025-12-26": other_day}
    logs |= {f"2026-02-{10 + at}": f"met the neighbours of house {at}" for at in range(others)}
    repo.commit("logs", {f"memory/{name}.md": f"# {name}\n\n- {text}\n" for name, text in logs.items()})
    assert first_on_6_march(repo, query)["date"] == "2026-03-05"


def test_a_line_of_another_day_that_has_words_of_the_question_keeps_its_place(repo: Repo) -> None:
    logs = {"2026-03-05": "waxed the floor", "2025-12-26": "Acme paid the invoice of the kiosk"}
    repo.commit("logs", {f"memory/{name}.md": f"# {name}\n\n- {text}\n" for name, text in logs.items()})
    assert "Acme" in first_on_6_march(repo, "did Acme pay the invoice of the kiosk yesterday?")["text"]


NOISE = {f"memory/n{at}.md": f"# Note {at}\n\n- The tram number {at} leaves depot {at} at dawn.\n" for at in range(8)}
SCHOOL = """# School

## Fees

| who | sum |
|---|---|
| pupils | 12 |

## Lost gloves

| place | shelf |
|---|---|
| cellar | 3 |

## 우산 보관

| 곳 | 칸 |
|---|---|
| 현관 | 2 |

## 햇살

- 정원은 20명이다
- 전화기가 있다

## 倉庫

- メロンの箱は冷暗所
- ギターの弦は棚の上
- りんごは木箱
"""


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("fees", "| pupils | 12 |"),
        ("where are lost gloves?", "| cellar | 3 |"),
        ("우산 보관은 어디?", "| 현관 | 2 |"),
        ("햇살에는 뭐가 있어?", "정원은 20명이다"),
        ("햇살에 전화기가 있니?", "전화기가 있다"),
        ("めろん", "メロンの箱"),
        ("ぎたー 弦", "ギターの弦"),
        ("りんご", "りんごは木箱"),
        ("弦", "ギターの弦"),
    ],
)
def test_a_section_that_is_named_in_the_question_answers_whatever_its_form(repo: Repo, query: str, wanted: str) -> None:
    repo.commit("school", {**NOISE, "memory/school.md": SCHOOL})
    answer = json.loads(repo.mem("search", "--json", query).stdout)
    assert wanted in answer["hits"][0]["text"] and answer["answered"]


@pytest.mark.parametrize(
    "query", ["which vaccine is there?", "백신이 있어?", "있어?", "ありがとう", "どうすればいいですか", "銀"]
)
def test_words_without_a_subject_do_not_answer(repo: Repo, query: str) -> None:
    repo.commit("school", {**NOISE, "memory/school.md": SCHOOL + "- どうすればいいか聞く\n- ありがとうと言う\n"})
    assert not json.loads(repo.mem("search", "--json", query).stdout)["answered"]
