"""Programs that solve their tests, in the styles of the usual benchmarks of code.

Plain Python passes each; `tests/data/right_programs.txt` has them, in the form of the hostile ones.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crscore.code.execution.programs import Completion, Problem
from crscore.code.execution.runner import run_programs

FEW = (
    *("deque_equal", "defaultdict_nested", "namedtuple", "dataclass", "enum", "generator"),
    *("async_runs_concurrently", "async_generator", "random_seed_by_tests", "sys_exit_at_end"),
    *("tree_changed_in_place", "class_of_tests_duck", "file_by_tests", "bcb_patch_listdir"),
    *("lcb_sys_stdin_lines", "class_eval_cart", "operators", "enum_as_keys"),
    *("numbers_mixed_operators", "modules_of_the_program", "derived_with_plain_operators"),
)
SILENCES = "failed: Unsupported: a context manager of the program silences an exception"
REFUSED = {"suppress_context": SILENCES, "context_manager_class": SILENCES}
"""Right programs that are refused, with the reason: hostile ones would gain by the same."""


def programs():
    text = Path("tests/data/right_programs.txt").read_text("utf-8")
    parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    for name, content in zip(parts[::2], parts[1::2], strict=True):
        code, *sections = re.split(r"^--- (\w+)\n", content, flags=re.MULTILINE)
        fields = dict(zip(sections[::2], sections[1::2], strict=True))
        entry = fields.pop("entry", "").strip()
        problem = Problem(id=name, entry_point=entry, solution=code, **fields)
        yield problem, Completion(problem=name, code=code, index=0)


def failures(names=()):
    chosen = [(row, code) for row, code in programs() if row.id in names or not names]
    problems = {problem.id: problem for problem, _ in chosen}
    outcomes = run_programs(problems, [code for _, code in chosen], allowed=True, timeout=20)
    return {row.completion.problem: row.result for row in outcomes if not row.passed}


def test_program_of_each_kind_passes():
    assert failures(FEW) == {}


def test_program_that_could_decide_its_own_tests_is_refused_with_a_reason():
    assert failures(REFUSED) == REFUSED


@pytest.mark.hostile
def test_every_other_right_program_passes():
    assert failures() == REFUSED
