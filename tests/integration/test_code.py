"""`crscore code` from the command line to its documents."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from crscore import cli

GOOD = "def total(items):\n    return sum(items)\n"
BAD = "def total(items):\n    return max(items)\n"
LONG = "def total(items):\n    result = 0\n    for item in items:\n        result += item\n"
LONG += "    return result\n"
PROBLEM = {
    "task_id": "total", "prompt": "def total(items):\n    '''Add up.'''\n", "entry_point": "total",
    "test": "def check(f):\n    assert f([1, 2]) == 3\n",
    "canonical_solution": "    return sum(items)\n",
}  # fmt: skip


def validator(name: str) -> Draft202012Validator:
    text = files("crscore").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


@pytest.fixture
def crscore(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run(["code", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def lines(tmp_path):
    def write(name: str, *rows: object) -> str:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text)
        return name

    return write


def samples(*candidates: str) -> list[dict]:
    return [
        {"candidate": code, "references": [GOOD], "language": "python", "id": str(at)}
        for at, code in enumerate(candidates)
    ]


def test_every_metric_that_applies_scores_two_files(crscore, tmp_path) -> None:
    (tmp_path / "a.py").write_text(BAD)
    (tmp_path / "b.py").write_text(GOOD)
    code, out, _ = crscore("a.py", "b.py", "--format", "json")
    document = json.loads(out)
    assert code == 0
    validator("code").validate(document)
    scores = {metric["metric"]: metric["score"] for metric in document["metrics"]}
    assert {"bleu", "chrf", "codebleu", "codebertscore", "edit", "meteor", "ruby"} <= set(scores)
    assert all(0 < scores[name] < 1 for name in ("bleu", "chrf", "codebleu", "edit", "ruby"))


def test_equal_code_has_the_best_score_of_every_metric(crscore, lines) -> None:
    _, out, _ = crscore(lines("a.jsonl", *samples(GOOD)), "--format", "json")
    for metric in json.loads(out)["metrics"]:
        assert metric["score"] == pytest.approx(1.0, abs=0.02), metric["metric"]


@pytest.mark.parametrize(
    "row",
    [
        {"candidate": "", "references": [GOOD]},
        {"candidate": GOOD, "references": [""]},
        {"candidate": "", "references": [""]},
        {"candidate": "}{ def (", "references": [GOOD]},
        {"candidate": "SELECT 1;", "references": ["int main() { return 0; }"]},
        {"candidate": "x = " + "1 + " * 50_000 + "1", "references": ["x = 1"]},
    ],
)
def test_bad_code_has_defined_scores(crscore, lines, row) -> None:
    path = lines("a.jsonl", {**row, "language": "python"})
    code, out, err = crscore(path, "--format", "json")
    assert code == 0, err
    validator("code").validate(json.loads(out))


def test_code_of_an_unknown_language_skips_what_needs_a_grammar(crscore, lines) -> None:
    code, out, _ = crscore(lines("a.jsonl", {"candidate": "a", "references": ["a b"]}))
    assert code == 0
    assert "codebleu: not computed: " in out


def test_named_metric_that_does_not_apply_is_an_error(crscore, lines) -> None:
    path = lines("a.jsonl", {"candidate": "a", "references": ["a b"]})
    code, out, err = crscore(path, "--metrics", "codebleu")
    assert (code, out) == (3, "")
    assert err.count("\n") == 1


def test_options_of_a_metric_are_in_its_name(crscore, lines) -> None:
    path = lines("a.jsonl", *samples(BAD))
    _, out, _ = crscore(path, "--metrics", "chrf,chrf:word_order=2", "--format", "json")
    first, second = json.loads(out)["metrics"]
    assert (first["metric"], second["metric"]) == ("chrf", "chrf:word_order=2")
    assert first["score"] != second["score"]


def test_two_systems_are_compared(crscore, lines) -> None:
    first = lines("a.jsonl", *samples(*[GOOD] * 6))
    second = lines("b.jsonl", *samples(*[BAD] * 6))
    code, out, _ = crscore("compare", first, second, "--metrics", "chrf", "--format", "json")
    document = json.loads(out)
    assert code == 0
    validator("code-comparison").validate(document)
    _, text, _ = crscore("compare", first, second, "--metrics", "chrf")
    assert "a.jsonl" in text


def test_a_language_has_its_usual_names(crscore, lines) -> None:
    row = {"candidate": "let a = 'x';", "references": ['let a = "x";'], "language": "JS"}
    _, out, _ = crscore(lines("a.jsonl", row), "--metrics", "ruby,codebleu", "--format", "json")
    assert [metric["score"] for metric in json.loads(out)["metrics"]] == [1.0, 1.0]


def test_programs_are_run(crscore, lines) -> None:
    tests = lines("p.jsonl", PROBLEM)
    rows = [
        {"task_id": "total", "completion": f"    return {name}(items)\n"} for name in ("sum", "max")
    ]
    path = lines("s.jsonl", *rows)
    command = ("run", path, "--tests", tests, "--k", "1,2", "--allow-code-execution")
    code, out, _ = crscore(*command, "--format", "json")
    document = json.loads(out)
    assert code == 0
    validator("code-run").validate(document)
    assert [(estimate["k"], estimate["value"]) for estimate in document["pass_at_k"]] == [
        (1, 0.5),
        (2, 1.0),
    ]
    assert [result["result"] for result in document["results"]] == [
        "passed",
        "failed: AssertionError",
    ]
    _, text, _ = crscore(*command)
    assert "failed: AssertionError (total, program 1)" in text
    _, text, _ = crscore("run", "--tests", tests, "--canonical", "--allow-code-execution")
    assert "pass@1  100.00 %" in text


def test_problem_without_a_program_counts_as_failed(crscore, lines) -> None:
    tests = lines("p.jsonl", PROBLEM, PROBLEM | {"task_id": "b"}, PROBLEM | {"task_id": "c"})
    path = lines("s.jsonl", {"task_id": "total", "completion": "    return sum(items)\n"})
    command = ("run", path, "--tests", tests, "--k", "1", "--allow-code-execution")
    _, out, _ = crscore(*command, "--format", "json")
    document = json.loads(out)
    validator("code-run").validate(document)
    assert document["pass_at_k"] == [{"k": 1, "value": pytest.approx(1 / 3)}]
    assert [problem["samples"] for problem in document["problems"]] == [1, 0, 0]
    _, text, _ = crscore(*command)
    assert "pass@1  33.33 %" in text
    assert "Of 3 problems, 2 without a program counted as failed." in text


def test_completions_with_fences_are_in_a_note(crscore, lines) -> None:
    bodies = ("    return sum(items)\n", "```python\ndef total(items):\n    return sum(items)\n```")
    lines("s.jsonl", *({"task_id": "total", "completion": body} for body in bodies))
    tests = lines("p.jsonl", PROBLEM)
    _, out, err = crscore("run", "s.jsonl", "--tests", tests, "--allow-code-execution")
    assert "pass@1  50.00 %" in out
    assert "completions with Markdown fences, which are not code: 1 of 2." in err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_mark_is_no_part_of_the_text(crscore, lines, tmp_path, encoding) -> None:
    for name in (
        lines("p.jsonl", PROBLEM),
        lines("s.jsonl", {"task_id": "total", "completion": "    return sum(items)\n"}),
        lines("a.jsonl", *samples(GOOD)),
    ):
        (tmp_path / name).write_text((tmp_path / name).read_text(), encoding)
    (tmp_path / "a.py").write_text(GOOD, encoding)
    (tmp_path / "b.py").write_text(GOOD.replace("\n", "\r\n"))
    for command in (("a.jsonl",), ("a.py", "b.py")):
        code, out, err = crscore(*command, "--metrics", "bleu,codebleu", "--format", "json")
        assert code == 0, err
        assert [metric["score"] for metric in json.loads(out)["metrics"]] == [1, 1]
    code, out, _ = crscore("run", "s.jsonl", "--tests", "p.jsonl", "--allow-code-execution")
    assert "pass@1  100.00 %" in out


def test_programs_are_not_run_without_consent(crscore, lines) -> None:
    code, _, err = crscore("run", "--tests", lines("p.jsonl", PROBLEM), "--canonical")
    assert code == 2
    assert "--allow-code-execution" in err


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("run", "--tests", "no.jsonl", "--allow-code-execution"), 3),
        (("run", "--tests", "a.py", "--k", "0", "--allow-code-execution"), 2),
        (("compare", "no.jsonl", "no.jsonl"), 3),
        (("no.py", "no.py"), 3),
        (("a.py", "a.py", "--metrics", "bleurt"), 2),
        (("a.py", "a.py", "--metrics", "chrf:order=2"), 2),
    ],
)
def test_wrong_call_is_one_clear_line(crscore, tmp_path, arguments, exit_code) -> None:
    (tmp_path / "a.py").write_text(GOOD)
    code, out, err = crscore(*arguments)
    assert (code, out) == (exit_code, "")
    assert err.count("\n") == 1, err
