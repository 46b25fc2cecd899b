import json
from pathlib import Path
from typing import Any

import pytest

from crscore.errors import InputError
from crscore_lab.study.baselines import metric_files

ROWS = [("py:1", "gpt"), ("py:1", "knn"), ("js:1", "gpt")]


def line(change: str, system: str, metric: str = "judge", **values: Any) -> dict[str, Any]:
    return {"change": change, "system": system, "metric": metric, **values}


def write(path: Path, *entries: Any) -> Path:
    made = path / "judge.jsonl"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in entries]
    made.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return made


def full(metric: str = "judge", first: float = 1) -> list[dict[str, Any]]:
    return [
        line(*row, metric=metric, relevance=first + number, conciseness=2, comprehensiveness=3.5)
        for number, row in enumerate(ROWS)
    ]


def test_read_of_all_three_dimensions_has_them_in_the_studys_order(tmp_path: Path) -> None:
    [found] = metric_files.read_metrics(write(tmp_path, *full()), ROWS)
    assert found.name == "judge"
    assert found.values.tolist() == [[2, 3.5, 1], [2, 3.5, 2], [2, 3.5, 3]]


def test_read_follows_the_order_of_the_rows_not_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, *full()[::-1])
    [found] = metric_files.read_metrics(path, ROWS)
    assert found.values[:, 2].tolist() == [1, 2, 3]


def test_read_of_relevance_alone_repeats_it(tmp_path: Path) -> None:
    path = write(tmp_path, *(line(*row, relevance=4) for row in ROWS))
    assert metric_files.read_metrics(path, ROWS)[0].values.tolist() == [[4, 4, 4]] * 3


def test_read_takes_null_as_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, *(line(*row, relevance=4, conciseness=None) for row in ROWS))
    assert metric_files.read_metrics(path, ROWS)[0].values.tolist() == [[4, 4, 4]] * 3


def test_read_of_several_metrics_keeps_their_first_appearance(tmp_path: Path) -> None:
    mixed = [one for pair in zip(full("b", 7), full("a"), strict=True) for one in pair]
    found = metric_files.read_metrics(write(tmp_path, *mixed), ROWS)
    assert [metric.name for metric in found] == ["b", "a"]
    assert found[0].values[:, 2].tolist() == [7, 8, 9]


def test_read_passes_over_reviews_that_are_not_compared(tmp_path: Path) -> None:
    extra = line("py:1", "ground_truth", relevance=5)
    [found] = metric_files.read_metrics(write(tmp_path, extra, *full()), ROWS)
    assert found.values.shape == (3, 3)


def test_read_keeps_line_separators_inside_a_text(tmp_path: Path) -> None:
    path = tmp_path / "judge.jsonl"
    entry = json.dumps(line("a\u2028b", "gpt", relevance=1), ensure_ascii=False)
    path.write_text(f"\n{entry}\n\n", encoding="utf-8")
    assert metric_files.read_metrics(path, [("a\u2028b", "gpt")])[0].values.tolist() == [[1, 1, 1]]


def test_read_names_the_first_review_without_a_value(tmp_path: Path) -> None:
    path = write(tmp_path, full()[0])
    with pytest.raises(InputError, match=r"judge: no value for the review of py:1 by knn"):
        metric_files.read_metrics(path, ROWS)


def test_read_refuses_a_second_value_and_names_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, *full(), full()[1])
    with pytest.raises(InputError, match=r"jsonl:4: an earlier line has judge of the .*py:1 by k"):
        metric_files.read_metrics(path, ROWS)


def test_read_refuses_a_dimension_on_some_lines_only(tmp_path: Path) -> None:
    first, *others = full()
    del first["comprehensiveness"]
    with pytest.raises(InputError, match="comprehensiveness is on some lines only"):
        metric_files.read_metrics(write(tmp_path, first, *others), ROWS)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{", ":1: not a line of JSON"),
        ("[" * 100_000, ":1: not a line of JSON"),
        ("[1]", ":1: expected `object`, got `array`"),
        (line("py:1", "gpt"), ":1: object missing required field `relevance`"),
        (line("py:1", "gpt", relevance="5"), ":1: relevance: expected `float`, got `str`"),
        (line("py:1", "gpt", relevance=True), "relevance: expected `float`, got `bool`"),
        (line("py:1", "gpt", relevance=None), "relevance: expected `float`, got `null`"),
        (line("py:1", "gpt", relevance=float("nan")), "NaN is not a JSON number"),
        (line("py:1", "gpt", relevance=10**400), ":1: "),
        (
            line("py:1", "gpt", relevance=1, conciseness="x"),
            r"conciseness: expected `float",
        ),
        ({"change": "py:1", "system": "gpt", "relevance": 1}, "missing required field `metric`"),
        (line("py:1", 3, relevance=1), "system: expected `str`, got `int`"),  # type: ignore[arg-type]
        ("", "has no values"),
    ],
)
def test_read_of_a_wrong_line_says_what_is_wrong(tmp_path: Path, entry: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        metric_files.read_metrics(write(tmp_path, entry), ROWS)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_read_of_another_kind_of_file_is_an_input_error(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "judge.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        metric_files.read_metrics(path, ROWS)
