from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.errors import InputError
from tests.helpers.renamed_code import rename

if TYPE_CHECKING:
    from crscore.code.metrics.metric import Metric

pytestmark = pytest.mark.models  # PyTorch

CODE = """def total(values, limit):
    count = 0
    for index in range(len(values)):
        if values[index] > limit:
            continue
        count += values[index] * 2
    return count
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.helpers.tiny_model import save_tiny_model  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("model")
    save_tiny_model(folder)
    return str(folder / "bert")


def score(
    candidate: str, *references: str, language: str = "python", context: str = "", **options: object
) -> float:
    metric: Metric = metrics.make("codescore_r", **options)
    return metric.sentence(candidate, references, language=language, context=context)


def test_it_needs_an_encoder_and_a_grammar(model: str) -> None:
    sample = Sample(candidate="x", references=("x",), language="cobol")
    assert metrics.make("codescore_r").find_obstacle([sample]) == (
        "it needs an encoder: codescore_r:model=NAME"
    )
    assert (
        metrics.make("codescore_r", model=model).find_obstacle([sample]) == "no grammar for cobol"
    )
    with pytest.raises(InputError, match="no grammar for cobol"):
        score("x", "x", language="cobol", model=model)


def test_sketches_are_compared(model: str) -> None:
    renamed = rename(CODE, "python", seed=1)
    assert score(renamed, CODE, model=model) == pytest.approx(1.0, abs=1e-5)
    assert score("the.check(1)", "not_null + 3", model=model) < 1.0


def test_the_best_reference_counts(model: str) -> None:
    assert score(CODE, "x.y()", CODE, model=model) == pytest.approx(1.0, abs=1e-5)


def test_completion_is_parsed_after_its_prompt(model: str) -> None:
    prompt = "def add(left, right):\n"
    reference = "    return left + right"
    assert score("return left + right", reference, context=prompt, model=model) == pytest.approx(
        1.0, abs=1e-5
    )


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("", "", 1.0),
        ("", "x = 1", 0.0),
        ("x = 1", "", 0.0),
        ("def (", "def (", 0.0),
        ("f(a=1, 2)", "f(a=1, 2)", 0.0),  # the grammar reads it, Python does not
    ],
)
def test_empty_code_and_code_that_does_not_parse(
    model: str, candidate: str, reference: str, expected: float
) -> None:
    assert score(candidate, reference, model=model) == expected
