from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from crscore.code import metrics
from crscore.code.metrics.codebertscore import LAYERS as PUBLISHED
from crscore.code.metrics.codebertscore import MODELS
from crscore.code.samples import Sample
from crscore.errors import ModelNotFoundError
from tests.helpers.tiny_roberta import LAYERS, MAX_TOKENS, save_tiny_roberta

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.models  # PyTorch


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny_roberta(tmp_path_factory.mktemp("roberta")))


def naive_vectors(model: str, text: str) -> tuple[list[int], np.ndarray]:
    """Ids and vectors of a text, straight from transformers, without a batch."""
    import torch  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    ids = AutoTokenizer.from_pretrained(model)(text)["input_ids"]
    with torch.inference_mode():
        read = AutoModel.from_pretrained(model).eval()(
            torch.tensor([ids]), output_hidden_states=True
        )
    return ids, read.hidden_states[LAYERS][0].double().numpy()


def naive_score(model: str, candidate: str, reference: str) -> dict[str, float]:
    """The formulas of the paper, token by token; a byte of ASCII is a token of the tiny model."""
    dropped = set("()[]{},;:.\"'`_@#$\\? \n")
    sides = []
    for code in (candidate, reference):
        text = code.strip()
        ids, vectors = naive_vectors(model, text)
        assert len(ids) == len(text) + 2
        tokens = [(vectors[0], 0)]
        tokens += [(vectors[at + 1], 1) for at in range(len(text)) if text[at] not in dropped]
        sides.append([*tokens, (vectors[-1], 0)])
    means = []
    for side, targets in (sides, sides[::-1]):
        total = count = 0.0
        for vector, weight in side:
            best = -np.inf
            for target, _ in targets:
                cosine = float(
                    vector @ target / (np.sqrt(vector @ vector) * np.sqrt(target @ target))
                )
                best = max(best, cosine)
            total, count = total + weight * best, count + weight
        means.append(total / count)
    p, r = means
    return {
        "precision": p,
        "recall": r,
        "f1": 2 * p * r / (p + r),
        "f3": 10 * p * r / (9 * p + r),
    }


PAIRS = [
    ("os.rmdir(dir)", "rmtree(x)"),
    ("a+b", "a+b"),
    ("x = {1: 2}", "y%2"),
    ("  return 1", "return  0"),
]


@pytest.mark.parametrize("value", ["precision", "recall", "f1", "f3"])
def test_same_values_as_a_naive_implementation(model: str, value: str) -> None:
    # All pairs at once: padding of other lengths must not change a score.
    metric = metrics.make("codebertscore", model=model, value=value)
    samples = [
        Sample(candidate=candidate, references=(reference,)) for candidate, reference in PAIRS
    ]
    expected = [naive_score(model, *pair)[value] for pair in PAIRS]

    scores = metric.sentence_scores(metric.statistics(samples))

    assert np.allclose(scores, expected, rtol=0, atol=1e-6)


def test_long_code_is_read_in_windows(model: str) -> None:
    code = "abcdefghijklmnopqrstuvwxyz" * 2
    metric = metrics.make("codebertscore", model=model, value="precision")
    assert len(code) > 2 * MAX_TOKENS

    assert metric.sentence(code, [code]) == pytest.approx(1)
    # Only the last window holds the change.
    assert 0.9 < metric.sentence(code[:-1] + "+", [code]) < 1


def test_empty_code(model: str) -> None:
    metric = metrics.make("codebertscore", model=model)

    assert metric.sentence("", ["a"]) == 0
    assert metric.sentence("", [" "]) == 1


def test_missing_model_is_an_error(tmp_path: Path) -> None:
    metric = metrics.make("codebertscore", model=str(tmp_path / "none"))
    with pytest.raises(ModelNotFoundError):
        metric.sentence("a", ["b"])


def test_every_published_model_has_a_layer() -> None:
    assert set(MODELS.values()) <= set(PUBLISHED)
    # The paper's layers for HumanEval.
    assert [PUBLISHED[MODELS[name]] for name in ("java", "cpp", "javascript", "python")] == [
        7,
        10,
        11,
        9,
    ]


def test_model_by_language() -> None:
    identity = metrics.make("codebertscore", model="auto").identity

    assert "python=hf:neulab/codebert-python@main#9" in identity
    assert "*=hf:microsoft/codebert-base-mlm@main#7" in identity
