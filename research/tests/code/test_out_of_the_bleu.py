from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.reports import layout
from crscore_lab.code import out_of_the_bleu
from crscore_lab.code.graded import GradedCode

REFERENCE = "for row in rows: total += row.size"
# From right to wrong, with the grade that people would give.
ANSWERS = [
    ("for row in rows: total += row.size", 4),
    ("for row in rows: total += row.length", 3),
    ("total = rows.size", 1),
    ("print('hello')", 0),
]


def code(count: int, **changes: Any) -> GradedCode:
    """Two systems: one is right on even problems, the other one on none."""
    answers = [
        (f"p{n}", system, *ANSWERS[0 if system == "good" and n % 2 == 0 else 2 + n % 2])
        for n in range(count)
        for system in ("good", "bad")
    ]
    fields: dict[str, Any] = {
        "sha256": "0" * 64,
        "kind": "people",
        "samples": tuple(
            Sample(candidate=text, references=(REFERENCE,)) for *_, text, _ in answers
        ),
        "problems": tuple(problem for problem, *_ in answers),
        "systems": tuple(system for _, system, *_ in answers),
        "grades": np.array([float(grade) for *_, grade in answers]),
        "published": tuple({"ruby": grade / 4, "codebleu": grade / 4} for *_, grade in answers),
    }
    return GradedCode(**(fields | changes))


def test_synthetic_model_takes_the_largest_gains_first() -> None:
    # Ten snippets; the second system is better on three of them, by 2, 4 and 1; 30 % are three.
    grades = np.zeros((2, 10))
    grades[1, [3, 6, 8]] = 2, 4, 1
    texts = [[f"{system}-{n}" for n in range(10)] for system in "ab"]
    models = out_of_the_bleu.synthetic_models(grades, texts)
    written = {"".join(map(str, model)) for model in models}

    # Of 10 snippets 1, 3 and 5 % are none, 10 % is one, 15 % and 20 % two, 25 % two (round half to
    # even), 30 % three; and the second system is made worse in the same way.
    assert written == {
        "0000000000",
        "0000001000",
        "0001001000",
        "0001001010",
        "1111111111",
        "1111110111",
        "1110110111",
        "1110110101",
    }


def test_models_of_equal_snippets_are_one() -> None:
    grades = np.array([[0.0, 0.0], [4.0, 4.0]])

    assert len(out_of_the_bleu.synthetic_models(grades, [["a", "b"], ["a", "b"]])) == 1


def test_tables_of_a_clear_difference() -> None:
    tables = out_of_the_bleu.make_tables(code(40), resamples=200)
    human = {row.system: row.score for row in tables.scores if row.metric == "human"}
    ruby = next(row for row in tables.disagreements if row.metric == "ruby")

    # Half of the answers are right (4 of 4), the others have 0; the bad ones 1 and 0 in turn.
    assert human == {"good": 50, "bad": 12.5}
    # "Published" scores that are the grades themselves never disagree with people.
    assert ruby.origin == "published"
    assert ruby.mismatch == 0
    assert sum(part.significant + part.not_significant for part in ruby.bins) == tables.pairs


def test_report_and_document_have_every_metric() -> None:
    tables = out_of_the_bleu.make_tables(code(10), resamples=20)
    text = layout.to_text(out_of_the_bleu.tables_report(tables))

    assert all(name in text for name in out_of_the_bleu.METRICS)
    assert msgspec.json.decode(msgspec.json.encode(tables), type=out_of_the_bleu.Tables) == tables


def test_metric_without_scores_is_left_out_with_a_note() -> None:
    tables = out_of_the_bleu.make_tables(code(4, published=({},) * 8), resamples=10)
    names = [row.metric for row in tables.disagreements]

    assert all(name in names or name in " ".join(tables.notes) for name in out_of_the_bleu.METRICS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "tests"}, "need people's grades"),
        ({"systems": ("one",) * 8}, "1 systems"),
        ({"problems": tuple("abcdefgh")}, "0 problems in common"),
    ],
)
def test_unfit_data_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        out_of_the_bleu.make_tables(code(4, **changes))
