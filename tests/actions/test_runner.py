"""The runner itself: what it says of an action can only be trusted if it reads workflow files as GitHub does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.expressions import Expression, condition, expand
from tests.actions.runner import Runner, read_pairs

CONTEXTS = {"github": {"event": {"number": 7}, "ref": "refs/heads/main"}, "inputs": {"a": "", "b": "x"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github.event.number", 7), ("github.event.pull_request.head.sha", None), ("inputs.a || inputs.b", "x"),
        ("inputs.a && 'yes' || 'no'", "no"), ("github.ref == 'REFS/heads/main'", True), ("!inputs.a", True),
        ("'it''s'", "it's"), ("contains('abc', 'B')", True), ("startsWith(github.ref, 'refs/heads')", True),
        ("github['ref'] != ''", True), ("format('{0}-{1}', 'a', 1)", "a-1"), ("(true && false) || 3", 3),
        ("7 == '7'", True), ("true", True),
    ],
)  # fmt: skip
def test_expressions_mean_what_the_documentation_says(text: str, expected: object) -> None:
    assert Expression(text, CONTEXTS).value() == expected


@pytest.mark.parametrize("text", ["unknown.x", "env(", "a b", "hashFiles('x')", "1 +"])
def test_what_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises((SyntaxError, IndexError, AssertionError)):
        Expression(text, CONTEXTS).value()


def test_a_condition_without_a_status_function_stops_after_a_failure() -> None:
    assert condition("inputs.b == 'x'", CONTEXTS, "success") and not condition("inputs.b == 'x'", CONTEXTS, "failure")
    assert condition("${{ always() }}", CONTEXTS, "failure") and expand("a${{ inputs.b }}b", CONTEXTS) == "axb"


def action(folder: Path, steps: str) -> Path:
    folder.mkdir()
    text = "inputs:\n  x:\n    default: d\noutputs:\n  y:\n    value: ${{ steps.s.outputs.y }}\nruns:\n  using: composite\n"
    (folder / "action.yml").write_text(text + "  steps:\n" + steps)
    return folder


def test_outputs_environment_path_summary_and_annotations_are_read(tmp_path: Path) -> None:
    steps = """\
    - id: s
      shell: bash
      env: {X: "${{ inputs.x }}"}
      run: |
        printf 'y<<E\\n%s\\nsecond\\nE\\n' "$X" >> "$GITHUB_OUTPUT"
        echo "Z=1" >> "$GITHUB_ENV"; echo "# hi" >> "$GITHUB_STEP_SUMMARY"
        echo "::error file=a.md,line=3::bad"; test -z "${INPUT_X:-}"
    - shell: bash
      run: test "$Z" = 1 && false
    - if: failure()
      shell: bash
      run: echo cleaned
    - shell: bash
      run: echo never
"""
    runner = Runner(tmp_path, tmp_path / "temp", {}, {})
    done = runner.run_action(action(tmp_path / "a", steps))
    assert done.status == "failure" and done.outputs == {"y": "d\nsecond"} and done.summary == "# hi\n"
    assert done.annotations == [("error", {"file": "a.md", "line": "3"}, "bad")]
    assert "cleaned" in done.log and "never" not in done.log


def test_an_expression_inside_run_is_refused(tmp_path: Path) -> None:
    bad = action(tmp_path / "a", "    - shell: bash\n      run: echo ${{ inputs.x }}\n")
    with pytest.raises(AssertionError, match="no expression"):
        Runner(tmp_path, tmp_path / "temp", {}, {}).run_action(bad)


def test_pairs_may_be_lines_or_blocks(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a=1=2\nb<<X\nl1\nl2\nX\n")
    assert read_pairs(tmp_path / "f") == {"a": "1=2", "b": "l1\nl2"}
