from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from crscore.code import metrics
from crscore.code.metrics.codescore_r.head import from_bytes, shipped, to_bytes
from crscore.code.transforms import mutants, transforms
from crscore.errors import ConfigError, InputError
from crscore.suggestions.sketch import rename

if TYPE_CHECKING:
    from pathlib import Path

CODE = """def total(values, limit):
    count = 0
    for index in range(len(values)):
        if values[index] > limit:
            continue
        count += values[index] * 2
    if count == 3:
        return None
    else:
        return count
"""


def score(candidate: str, reference: str, language: str = "python", **options: object) -> float:
    return metrics.make("codescore_r", **options).sentence(
        candidate, [reference], language=language
    )


def test_equal_code_and_renamed_code_has_one() -> None:
    assert score(CODE, CODE) == pytest.approx(1.0, abs=1e-5)
    assert score(rename(CODE, "python", seed=1), CODE) == pytest.approx(1.0, abs=1e-5)


def test_most_equivalent_forms_are_above_all_mutants() -> None:
    same = [score(one.code, CODE) for one in transforms(CODE, "python") if "loop" not in one.rule]
    other = [score(one.code, CODE) for one in mutants(CODE, "python")]
    assert min(same) > 0.5 >= np.median(other)
    assert np.median(same) > max(other)


def test_own_weights(tmp_path: Path) -> None:
    path = tmp_path / "head.npz"
    path.write_bytes(to_bytes(shipped()))
    own, usual = metrics.make("codescore_r", weights=str(path)), metrics.make("codescore_r")
    assert own.identity == usual.identity
    with pytest.raises(InputError, match="cannot be read as a head"):
        metrics.make("codescore_r", weights=str(tmp_path / "none"))


def test_binary_answer() -> None:
    assert score(CODE, CODE, value="binary") == 1.0
    assert score("print(1)", CODE, value="binary") == 0.0
    assert score("print(1)", CODE, value="binary", threshold=0.0) in (0.0, 1.0)
    with pytest.raises(ConfigError, match="threshold"):
        metrics.make("codescore_r", threshold=2)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [("", "", 1.0), ("", "x = 1", 0.0), ("x = 1", "", 0.0), ("def (", "def (", 0.0)],
)
def test_empty_code_and_code_that_does_not_compile(
    candidate: str, reference: str, expected: float
) -> None:
    assert score(candidate, reference) == expected


def test_python_is_compiled_too() -> None:
    assert score("return = 1", "x = 1") == 0.0
    assert score("f(a=1, 2)", "f(a=1, 2)") == 0.0  # the grammar takes it


def test_the_best_reference_counts() -> None:
    metric = metrics.make("codescore_r")
    assert metric.sentence(CODE, ["x = 1", CODE], language="python") == pytest.approx(1.0, abs=1e-5)


def test_a_completion_behind_its_prompt() -> None:
    metric = metrics.make("codescore_r")
    prompt = "def add(left, right):\n"
    found = metric.sentence(
        "return left + right", ["    return left + right"], context=prompt, language="python"
    )
    assert found == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("java", "int f(int a) { return a + 1; }"),
        ("go", "func f(a int) int { return a + 1 }"),
        ("javascript", "function f(a) { return a + 1; }"),
        ("ruby", "def f(a)\n  a + 1\nend"),
        ("cpp", "int f(int a) { return a + 1; }"),
    ],
)
def test_other_languages(language: str, code: str) -> None:
    assert score(code, code, language) == pytest.approx(1.0, abs=1e-5)
    assert score(code.replace("+", "-"), code, language) < 0.999


def test_a_language_without_a_grammar() -> None:
    with pytest.raises(InputError, match="no grammar for cobol"):
        score("x", "x", "cobol")


def test_a_megabyte_on_one_line() -> None:
    assert 0.0 <= score("x = [" + "1 + a, " * 150_000 + "]", "x = []") <= 1.0


def test_the_shipped_head_is_small_and_survives_a_round_trip() -> None:
    head = shipped()
    content = to_bytes(head)
    assert len(content) <= 2_000_000
    assert to_bytes(from_bytes(content)) == content
    with pytest.raises(InputError, match="no weights of a head"):
        from_bytes(b"nothing")


@pytest.mark.parametrize("extraction", ["last-avg", "first-last-avg", "cls", "cls-relu"])
def test_an_encoder_of_hugging_face(tmp_path: Path, extraction: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    from tests.helpers.tiny_model import save_tiny_model  # noqa: PLC0415

    save_tiny_model(tmp_path)
    options = {"model": str(tmp_path / "bert"), "extraction": extraction}
    assert score("x = the", "x = the", **options) == pytest.approx(1.0, abs=1e-5)
    assert score("the.check(1)", "not_null + 3", **options) < 1.0
