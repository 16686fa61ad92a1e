"""The tables of rules as files: what is malformed stops the detector, and so the commit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.secrets import decision, features, rule_tables, tokens
from gitmem.gate.detectors.secrets.rule_tables import patterns
from gitmem.gate.detectors.text import Text

FOLDER = Path(rule_tables.__file__).parent
CACHED = (
    rule_tables.tokens, rule_tables.shapes, rule_tables.literals_in_prose, rule_tables.literals_in_runs, rule_tables.service_names, rule_tables.commands, rule_tables._expressions,
    features._distinct_beginnings, tokens._beginnings, tokens._by_two, tokens._opening, tokens._rows_of, tokens._token_pattern, tokens._shape_pattern,
)  # fmt: skip


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the tables in which a line can be added; what was read is forgotten before and after."""
    for file in FOLDER.glob("*.txt"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(rule_tables, "__file__", str(tmp_path / "rule_tables.py"))
    for function in CACHED:
        function.cache_clear()
    yield tmp_path
    for function in CACHED:
        function.cache_clear()


def add(file: Path, line: str) -> None:
    file.write_text(file.read_text("utf-8") + line + "\n", encoding="utf-8")


def test_an_added_row_is_a_rule_and_comments_are_none(table: Path) -> None:
    add(table / "tokens.txt", "# a comment\tof\tfour\tfields\nacme-token\tAcme\tacmetok_\t<A>{20}")
    assert rule_tables.tokens()[-1] == ("acme-token", "Acme", "acmetok_", "<A>{20}")
    (match,) = load("secrets")(Text("use acmetok_" + "a8Zk2Qw9Lm4Xc7Vb1Nt5"))
    assert match.rule == "acme-token"


@pytest.mark.parametrize(
    "row",
    ["acme-token", "acme\tAcme\tacme_", "acme\tAcme\tacme_\t", "acme\tAcme\tacme_ \t<A>{20}", "acme\tAcme\tacme_\t<A>{20}\tx",
     "acme Acme acme_ <A>{20}", " # not a comment", "github-token\tGitHub\tghp_\t<A>{36}"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["tokens.txt", "shapes.txt"])
def test_a_malformed_row_raises_and_the_detector_with_it(table: Path, name: str, row: str) -> None:
    if name == "shapes.txt":
        row = row.replace("github-token\tGitHub", "private-key\ta private key\tany\t-\t-")
    add(table / name, row)
    with pytest.raises(ValueError, match=name):
        (rule_tables.tokens if name == "tokens.txt" else rule_tables.shapes)()
    with pytest.raises(ValueError, match=name):
        list(load("secrets")(Text("the key is ghp_0123456789abcdefghij-0123456789abcdefghij")))


@pytest.mark.parametrize(
    "row",
    ["acme\ta key\trandom\tAcme\t-\t(?P<secret><A>{20})\t<A>{20}", "acme\ta key\trandom\t-\tacme\t<A>{20}\t<A>{20}",
     "acme\ta key\trandom\t-\ta, \t(?P<secret>x)\tx", "acme\ta key\thard\tacme\t-\t(?P<secret>x)\tx"],
)  # fmt: skip
def test_a_shape_that_could_never_be_found_raises(table: Path, row: str) -> None:
    add(table / "shapes.txt", row)
    with pytest.raises(ValueError, match=r"shapes\.txt"):
        rule_tables.shapes()


@pytest.mark.parametrize("name", ["Datadog", "abc", "data-dog", "네이버|카카오", "카카오("])
def test_a_name_that_could_never_be_found_raises(table: Path, name: str) -> None:
    add(table / "service_names.txt", name)
    with pytest.raises(ValueError, match="service_names"):
        rule_tables.service_names()


@pytest.mark.parametrize("name", ["tokens.txt", "shapes.txt", "service_names.txt"])
def test_an_empty_table_a_missing_one_and_bytes_that_are_no_text_raise(table: Path, name: str) -> None:
    read = {"tokens.txt": rule_tables.tokens, "shapes.txt": rule_tables.shapes}.get(name, rule_tables.service_names)
    (table / name).write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(ValueError):
        read()
    (table / name).write_bytes(b"acme\tAcme\tacme_\t\xff\n")
    with pytest.raises(ValueError):
        read()
    (table / name).unlink()
    with pytest.raises(OSError):
        read()


def test_an_added_command_is_one_and_a_place_that_is_none_raises(table: Path) -> None:
    add(table / "commands.txt", "acmectl\toptions\t<args>-p[ =]")
    matches = load("passwords")(Text("acmectl login -p Kestrel_77Harbour"))
    assert [match.rule for match in matches] == ["password-on-command-line"]
    add(table / "commands.txt", "acmectl\tnowhere\t<args>-p[ =]")
    rule_tables.commands.cache_clear()
    with pytest.raises(ValueError, match=r"commands\.txt"):
        rule_tables.commands("options")


def test_every_pattern_and_every_list_of_words_is_used_and_every_used_one_is_there() -> None:
    source = "\n".join([file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py")])
    expressions = rule_tables._expressions()
    kinds = {*decision._NEVER_CHOSEN, *decision._NEVER_ASSIGNED, *decision._NEVER_OF_A_SERVICE, *features.IDS}
    for call in ast.walk(ast.parse(re.sub("from __future__.*", "", source))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "kind_of":
            kinds.update([given.value for given in call.args[1:] if isinstance(given, ast.Constant)])
    used = {*re.findall(r"patterns\.([a-z]\w*)", source), *(kinds - set(features._COMPUTED))} - {"txt"}
    inside = set(re.findall(r"<<(\w+)>>", "".join(expressions.values())))
    assert used | inside == set(expressions)
    assert set(re.findall(r'word_list\("(.+?)"\)', source)) == set(rule_tables._word_lists())
    for name in expressions:
        getattr(patterns, name).search("")  # compiles


def test_a_pattern_that_is_not_there_stops_the_detector(table: Path) -> None:
    (table / "patterns.txt").write_text("digit\t[0-9]\n", encoding="utf-8")
    rule_tables._expressions.cache_clear()
    with pytest.raises(AttributeError):
        rule_tables._Patterns().password_join.match("")
