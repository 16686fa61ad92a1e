"""Skills of hosts and procedures of memory: in both directions, nothing lost, nothing run."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from gitmem.exchange.agent_skills import DESCRIPTION_LIMIT, NAME_LIMIT
from tests.harness import Repo

PDF = "---\nname: pdf-forms\ndescription: Fill in PDF forms. Use when a form is a PDF.\nlicense: MIT\n---\n\n# Steps\n\n1. See [more](references/more.md).\n"
RELEASE = "---\ntriggers: [release, 배포]\ndescription: How we release\n---\n# Release\n\n1. Tag it.\n"
DEPLOY = "# Deploying to the north\n\n1. Ask first.\n"


def front(text: str) -> dict[str, object]:
    value = yaml.safe_load(text.split("\n---", 1)[0].removeprefix("---\n"))
    assert isinstance(value, dict)
    return value


def test_skills_of_a_project_become_procedures_byte_for_byte(repo: Repo, tmp_path: Path) -> None:
    skill = Repo(tmp_path / "project", init=False)
    skill.write(".agents/skills/pdf-forms/SKILL.md", PDF)
    skill.write(".agents/skills/pdf-forms/references/more.md", "# More\n")
    skill.write(".agents/skills/pdf-forms/scripts/fill.py", "print(1)\n")
    skill.write(".agents/skills/README.md", "# All skills\n")
    done = repo.mem("import", "skills", str(skill.path), check=False)
    assert repo.read("memory/skills/pdf-forms/SKILL.md") == PDF
    assert repo.read("memory/skills/pdf-forms/references/more.md") == "# More\n"
    assert "fill.py is left out: is not Markdown" in done.stderr
    assert "README.md is left out: belongs to no skill" in done.stderr and done.returncode == 1
    assert "imported 0 files, 2 there already" in repo.mem("import", "skills", str(skill.path), check=False).stdout
    repo.commit("skills")
    repo.mem("export", "skills", str(tmp_path / "out"))
    assert (tmp_path / "out/pdf-forms/SKILL.md").read_text() == PDF
    assert (tmp_path / "out/pdf-forms/references/more.md").read_text() == "# More\n"


def test_one_skill_may_be_named_too(repo: Repo, tmp_path: Path) -> None:
    Repo(tmp_path / "pdf-forms", init=False).write("SKILL.md", PDF)
    repo.mem("import", "skills", str(tmp_path / "pdf-forms"))
    assert repo.read("memory/skills/pdf-forms/SKILL.md") == PDF


def test_procedures_become_skills_that_hosts_take_and_come_back(repo: Repo, tmp_path: Path) -> None:
    files = {
        "memory/skills/release.md": RELEASE, "memory/skills/배포.md": DEPLOY, "memory/skills/team/Deploy North.md": DEPLOY,
        "memory/skills/" + "long" * 30 + ".md": DEPLOY * 100,
    }  # fmt: skip
    repo.commit("start", files)
    repo.mem("export", "skills", str(tmp_path / "out"))
    folders = sorted((tmp_path / "out").iterdir())
    assert len(folders) == 4
    for folder in folders:
        head = front((folder / "SKILL.md").read_text(encoding="utf-8"))
        assert head["name"] == folder.name and len(folder.name) <= NAME_LIMIT
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", folder.name)
        assert 0 < len(str(head["description"])) <= DESCRIPTION_LIMIT
        assert set(head) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
        assert all(isinstance(value, str) for value in head["metadata"].values())  # type: ignore[attr-defined]
    assert front((tmp_path / "out/release/SKILL.md").read_text())["description"] == "How we release"
    other = Repo(tmp_path / "other")
    other.mem("import", "skills", str(tmp_path / "out"))
    assert {path: other.read(path) for path in files} == files
    edited = tmp_path / "out/release/SKILL.md"
    edited.write_text(
        edited.read_text()
        .replace('description: "How we release"', "description: Releasing, short")
        .replace("Tag it", "Sign it")
    )
    third = Repo(tmp_path / "third")
    third.mem("import", "skills", str(tmp_path / "out"))
    text = third.read("memory/skills/release.md")
    assert "triggers: [release, 배포]" in text and 'description: "Releasing, short"' in text and "Sign it" in text


def test_a_skill_without_triggers_is_given_where_its_name_is_said(repo: Repo) -> None:
    repo.commit("skill", {"memory/skills/pdf-forms/SKILL.md": PDF})
    assert "# Steps" in repo.mem("context", "fill in these pdf forms").stdout
    assert "# Steps" not in repo.mem("context", "centre a div").stdout


def test_a_skill_passes_the_gate(repo: Repo, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    Repo(tmp_path / "skills", init=False).write("x/SKILL.md", PDF + f"\nUse {secret}\n")
    done = repo.mem("import", "skills", str(tmp_path / "skills"), check=False)
    assert done.returncode == 1 and secret not in done.stdout + done.stderr and not (repo.path / "memory").exists()


def test_half_a_character_in_a_skill_costs_that_file_only(repo: Repo, tmp_path: Path) -> None:
    skills = Repo(tmp_path / "skills", init=False)
    bad = '---\nname: b\ndescription: x\nmetadata: {git-mem-path: memory/skills/b.md, git-mem-front: "a: \\ud800"}\n---\nb\n'
    skills.write("b/SKILL.md", bad)
    skills.write("c/SKILL.md", PDF)
    done = repo.mem("import", "skills", str(skills.path), check=False)
    assert done.returncode == 1 and "b/SKILL.md is left out" in done.stderr
    assert repo.read("memory/skills/c/SKILL.md") == PDF


def test_where_no_folder_of_skills_is_the_hint_is_not_what_was_typed(repo: Repo) -> None:
    done = repo.mem("import", "skills", ".agents/skills", check=False)
    assert done.returncode == 2 and "hint: name a folder of skills: each skill has a SKILL.md" in done.stderr
