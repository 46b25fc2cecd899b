from __future__ import annotations

import json
import sys

import pytest

from crscore import Scorer, results_frame
from crscore.errors import DependencyError

PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-limit = 10\n+limit = 20\n+offset = 3\n"


def test_row_for_each_result_in_order() -> None:
    scorer = Scorer(encoder="hashing", threshold=0.1, analyzers="none")
    results = scorer.score_many([(PATCH, "The limit of 20 is too high."), (PATCH, "")])

    actual = results_frame(results)

    assert actual["relevance"][0] == pytest.approx(results[0].relevance)
    assert actual[["added", "removed", "sentences"]].to_numpy().tolist() == [[2, 1, 1], [2, 1, 0]]
    assert actual["diff"].nunique() == 1
    assert actual["relevance"].isna().tolist() == [False, True]
    assert actual["reason"].isna().tolist() == [True, False]


def test_json_lines_keep_what_is_not_known_as_null() -> None:
    results = [Scorer(encoder="hashing", analyzers="none").score(PATCH, "")]

    (line,) = results_frame(results).to_json(orient="records", lines=True).splitlines()

    row = json.loads(line)
    assert row["standing"] is None
    assert row["added"] == 2


def test_standing_is_that_of_the_result() -> None:
    result = Scorer(analyzers="none").score(PATCH, "Why is the limit 20 now? 10 was enough.")
    assert result.usefulness is not None

    useful = result.usefulness
    row = results_frame([result])[["standing", "low", "high"]].to_numpy().tolist()
    assert row == [[useful.standing, useful.low, useful.high]]


def test_kept_error_is_a_row_with_its_text() -> None:
    scorer = Scorer(encoder="hashing", analyzers="none")
    pairs = [("no diff", "Why?"), (PATCH, "The limit of 20 is too high.")]

    actual = results_frame(scorer.score_many(pairs, on_error="keep"))

    assert actual["diff"].isna().tolist() == [True, False]
    assert "<diff>" in actual["reason"][0]


def test_no_results_make_an_empty_table_with_all_columns() -> None:
    actual = results_frame([])
    assert len(actual) == 0
    assert "signature" in actual.columns


def test_missing_pandas_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DependencyError, match=r"crscore\[pandas\]"):
        results_frame([])
