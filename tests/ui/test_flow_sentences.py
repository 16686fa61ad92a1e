"""What flows say on a page is in the reader's language: found in the code that the pages can reach, and by running it."""

from __future__ import annotations

import ast
import calendar
import inspect
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import gitmem
from gitmem import errors
from gitmem.claims.finding import State
from gitmem.errors import UsageError
from gitmem.gate.changes.rules import RULES
from gitmem.gate.detectors.registry import DETECTORS, load
from gitmem.gate.detectors.text import Text
from gitmem.git.commit import IN_PROGRESS
from gitmem.hosts.registry import all_hosts
from gitmem.memory.fact import ORIGINS
from gitmem.messages import Message, joined
from gitmem.provenance.grounding import CHECKS
from gitmem.ui.translation import translate_message
from tests.detector_examples import examples
from tests.harness import Repo
from tests.ui.conftest import Browse
from tests.ui.korean import FUZZY, WORDS

ROOT = Path(gitmem.__file__).parent
ERRORS = {name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.GitMemError)}
CALLS = {*ERRORS, "Check", "Odd", "_missing"}
SAY = {  # functions whose sentences reach a page by what they return or collect
    "grounding": ("uncounted", "undated", "unnamed", "unsaid", "unreasoned", "denied", "unsupported"),
    "promote": ("_why_nothing",),
    "why": ("why",),
    "sources": ("read",),
    "status": ("_changed_since",),
}
NOT_SHOWN = {  # modules that pages import and whose errors no page can meet, and why
    "environment": "the profile is chosen before the server starts",
    "profiles": "as environment",
    "git/hooks/installation": "pages look at hooks and write none",
    "git/other_memories": "pages fetch nothing",
    "git/git_config": "pages change no setting",
    "memory/show": "the command's",
    "memory/successor": "an agent's tool names the fact",
    "promotion/logs": "pages name no range",
    "regular_file": "an option of commands names the file",
    "review/publish": "pages publish nothing",
    "search/evaluation": "a question file is refused by its command",
    "sessions/working_memory": "pages set no value of a session",
    "gate/detectors/rule_file": "an option of the command names it",
    "models/token_count": "the model's own words",
    "ui/page_export": "the command says it, before there is a page",
    "ui/local_server": "as ui/page_export",
    "gate/new_exception": "the exception of a page is of a finding that it showed",
}
FIELD = re.compile(r"\{([a-z]\w*)\}")
COMMAND = re.compile(r"[<'`]?(?:git|pip|mem\.|--|rm |docs/|chmod|https?:|[A-Z_]+=)|(?:gguf|http):|rules, |YYYY-MM-DD$")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def reached() -> set[Path]:
    """The modules that those of the pages import, directly or not."""
    files = {".".join(["gitmem", *path.relative_to(ROOT).with_suffix("").parts]): path for path in ROOT.rglob("*.py")}
    wanted, found = [name for name in files if name.startswith("gitmem.ui.")], set[str]()
    while wanted:
        name = wanted.pop()
        if name in found or name not in files:
            continue
        found.add(name)
        for node in ast.walk(_tree(files[name])):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return {files[name] for name in found}


def sentence(node: ast.expr) -> str:
    """The id of a text as it is written, its template where it is a Message; "" for what is no text. A `{...}` stands
    for the value of an f-string: such a text has no translation."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
        return sentence(node.args[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{...}" for part in node.values)
    return ""


def said_in(path: Path) -> Iterator[str]:
    """The sentences of a module that can reach a page."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in CALLS:
                least, most = (1, 3) if name in ("Check", "Odd", "_missing") else (0, 2)
                yield from (sentence(each) for each in node.args[least:most])
        elif isinstance(node, ast.FunctionDef) and node.name in SAY.get(path.stem, ()):
            for each in ast.walk(node):
                if isinstance(each, ast.Return) and each.value is not None:
                    yield sentence(each.value)
                elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "append":
                    yield sentence(each.args[0])


def test_every_sentence_of_a_flow_has_its_korean_words() -> None:
    missing = []
    for path in sorted(reached()):
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        if name in NOT_SHOWN:
            continue
        for words in said_in(path):
            plain = words.replace("{...}", "").replace("{}", "")
            is_sentence = " " in words.strip() and re.search("[a-z]{3}", plain) and not COMMAND.match(words)
            if is_sentence and words not in WORDS and any(part not in WORDS for part in words.split("; ")):
                missing.append(f"{name}: {words}")
    assert missing == []


def templates() -> Iterator[tuple[str, str]]:
    """Each `Message("...")` of the modules that pages reach: the module and the template, where it is one text."""
    for path in sorted(reached()):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
                yield path.relative_to(ROOT).with_suffix("").as_posix(), sentence(node)


def test_every_message_has_its_korean_words() -> None:
    wanted = [(name, words) for name, words in templates() if words and "{...}" not in words]
    assert [(name, words) for name, words in wanted if words not in WORDS and name not in NOT_SHOWN] == []


BUILT = re.compile(  # ids whose templates are put together: a count, a service's secret, a code, a rule with its detail
    r"(?:1|\{\}) [\w ]+|an? \{\} (?:token|key|webhook)|[\w ]+: \{\}"
)


def test_no_translation_is_left_over() -> None:
    own: set[object] = {
        node.value for path in ROOT.rglob("*.py") for node in ast.walk(_tree(path)) if isinstance(node, ast.Constant)
    }
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "ui/templates").rglob("*.html"))
    named = {
        *calendar.day_name,
        *calendar.day_abbr,
        *(f"code {value}" for value in State),
        *(f"from {origin}" for origin in ORIGINS),
    }
    begun = (*RULES.values(), "an image whose address ", "an address that ", "in the file's name: ")
    own |= set(re.split("[\t\n]", (ROOT / "gate/detectors/secrets/shapes.txt").read_text(encoding="utf-8")))
    left = [each for each in WORDS if each not in own | named and f'"{each}"' not in pages]
    assert [each for each in left if not BUILT.fullmatch(each) and not each.startswith(begun)] == []


def test_no_module_is_left_out_without_need() -> None:
    names = {path.relative_to(ROOT).with_suffix("").as_posix() for path in reached()}
    assert set(NOT_SHOWN) <= names


@pytest.mark.parametrize("detector", DETECTORS)
def test_every_finding_is_told_in_korean(detector: str) -> None:
    told = {
        match.message
        for rule in examples(detector).values()
        for raw in rule.flag
        for match in load(detector)(Text(raw, "memory/notes.md"))
    }
    assert told and [words for words in told if not re.search("[가-힣]", translate_message("ko", words))] == []


def test_both_languages_have_the_same_values() -> None:
    for key, words in WORDS.items():
        values = key.count("{}")
        numbered = {int(at) for at in re.findall(r"\{(\d)\}", words)}
        if numbered:
            assert numbered == set(range(values)) and "{}" not in words, key
        else:
            assert words.count("{}") == values, key
        assert set(FIELD.findall(key)) == set(FIELD.findall(words)), key
        assert re.search("[가-힣]", words) or key == "mem.contextLayer '{}': {}" or words.startswith("git "), key


def test_no_translation_waits_for_a_person() -> None:
    assert FUZZY == [] and all(WORDS.values())


def test_why_a_source_does_not_say_a_fact_is_told_in_korean() -> None:
    assert all(re.search("[가-힣]", translate_message("ko", words)) for _, words in CHECKS)


def test_what_stands_in_progress_is_named_in_korean() -> None:
    assert all(re.search("[가-힣]", translate_message("ko", what)) for what, _ in IN_PROGRESS.values())


def test_a_message_within_a_message_and_its_values_are_told() -> None:
    inner = Message("there is no commit '{}' here", "x")
    told = "여기에 'x' 커밋이 없습니다. 아무것도 커밋하지 않았습니다"
    assert translate_message("ko", Message("{}; nothing was committed", inner)) == told
    assert translate_message("ko", Message("{}; nothing was committed", UsageError(inner))) == told
    assert str(Message("{}; nothing was committed", inner)) == "there is no commit 'x' here; nothing was committed"
    assert translate_message("en", inner) == inner and translate_message("ko", "git mem scan") == "git mem scan"
    assert translate_message("ko", "run it again\nlook at it as it is now") == "다시 시도하세요\n현재 내용을 확인하세요"
    assert (
        translate_message("ko", "there is no commit 'x' here") == "there is no commit 'x' here"
    )  # a text is no message


def test_braces_of_a_value_stay_as_they_are() -> None:
    odd = Message("there is no commit '{}' here", "{0} {x} {{}}")
    assert odd == "there is no commit '{0} {x} {{}}' here"
    assert translate_message("ko", odd) == "여기에 '{0} {x} {{}}' 커밋이 없습니다"
    assert joined("; ", [odd, "{}"]) == odd + "; {}"
    assert pickle.loads(pickle.dumps(odd)).template == odd.template


def test_an_error_and_a_refusal_are_told_in_the_language_of_the_browser(memory: Repo, browse: Browse) -> None:
    browser = browse(memory)
    korean = {"accept-language": "ko"}
    assert "&#39;no-such-thing&#39; 커밋이 없습니다" in browser.get("facts?at=no-such-thing", 404, **korean)
    assert "날짜가 아닙니다" in browser.get("timeline?day=soon", 400, **korean)
    address = browser.site.keys.base
    refused = browser.client.post(
        f"{address}/fact/pin", data={"csrf": "x"}, headers={**korean, "sec-fetch-site": "cross-site"}
    )
    assert refused.status_code == 403 and "다른 사이트" in refused.text


@pytest.mark.parametrize(
    "sentence",
    [
        Message("hooks of {}", "Codex"), "none of ours are installed, so no commit is scanned here", Message("{} in {}", 4, "/repo/.git/hooks"),
        Message("{} in force", 2), Message("a revision (git log --oneline --all) or a time: {}", "YYYY-MM-DD"),
        Message("pinned: {}; {} tokens are too few", joined(", ", [Message("{} left out", "pinned fact")] * 3), 400),
        *(host.trust for host in all_hosts() if host.trust),
    ],
)  # fmt: skip
def test_what_pages_show_beside_errors_is_told_in_korean(sentence: str) -> None:
    told = translate_message("ko", sentence)
    assert re.search("[가-힣]", told) and not re.search("left out|more|pinned:|force|edited|installed|time:", told)
