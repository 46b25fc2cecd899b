from __future__ import annotations

import json

import pytest

from crscore.code.execution.programs import read_completions, read_problems, solutions
from crscore.errors import InputError

HUMAN_EVAL = {
    "task_id": "T/0", "prompt": "def f(a):\n", "entry_point": "f",
    "canonical_solution": "    return a\n", "test": "def check(g):\n    assert g(1) == 1\n",
}  # fmt: skip


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_human_eval_checks_its_entry_point(tmp_path):
    problems = read_problems(write(tmp_path / "a.jsonl", HUMAN_EVAL))
    problem = problems["T/0"]
    assert problem.tests.endswith("check(f)\n")
    assert (problem.entry_point, problem.language) == ("f", "python")
    assert solutions(problems)[0].code == "    return a\n"


def test_lone_surrogate_in_a_name_can_be_written(tmp_path):
    problems = read_problems(write(tmp_path / "a.jsonl", {**HUMAN_EVAL, "task_id": "\ud800"}))
    assert list(problems) == [r"\ud800"]


def test_completions_are_numbered_within_their_problem(tmp_path):
    rows = [{"task_id": name, "completion": name} for name in ("a", "b", "a")]
    completions = read_completions(write(tmp_path / "s.jsonl", *rows), ["a", "b"])
    assert [(completion.problem, completion.index) for completion in completions] == [
        ("a", 0),
        ("b", 0),
        ("a", 1),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"prompt": "x", "test": "y"}], r"a\.jsonl:1: object missing required field `task_id`"),
        ([{"task_id": "x"}], r"a\.jsonl:1: object missing required field `test`"),
        ([HUMAN_EVAL, HUMAN_EVAL], r"a\.jsonl:2: an earlier line has the task T/0"),
        ([], "contains no problems"),
    ],
)
def test_error_names_the_wrong_problem(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_problems(write(tmp_path / "a.jsonl", *rows))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"task_id": "c", "completion": ""}], r"s\.jsonl:1: the tests have no task c"),
        ([{"task_id": "a"}], r"s\.jsonl:1: object missing required field `completion`"),
        ([], "contains no samples"),
    ],
)
def test_error_names_the_wrong_sample(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_completions(write(tmp_path / "s.jsonl", *rows), ["a"])


@pytest.mark.parametrize(
    ("name", "language"), [("js", "javascript"), ("C++", "cpp"), ("py", "python")]
)
def test_languages_are_known_by_their_other_names(tmp_path, name, language):
    path = tmp_path / "problems.jsonl"
    path.write_text(f'{{"task_id": "a", "language": "{name}", "test": ""}}\n')
    assert read_problems(path)["a"].language == language


def test_cases_of_unittest_are_run_without_a_check(tmp_path):
    path = tmp_path / "problems.jsonl"
    cases = "import unittest\nclass T(unittest.TestCase): pass"
    for tests, call in ((cases, ""), ("def check(f): pass", "\ncheck(f)\n")):
        row = {"task_id": "a", "test": tests, "entry_point": "f"}
        path.write_text(json.dumps(row) + "\n")
        assert read_problems(path)["a"].tests == tests + call
