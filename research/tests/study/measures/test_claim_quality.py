from pathlib import Path

import pytest

from crscore_lab.study.data import study
from crscore_lab.study.measures.claim_quality import ClaimQuality, claim_quality
from tests.helpers import study as helper


def measured(tmp_path: Path, rows: list[dict]) -> tuple[ClaimQuality, ...]:
    return claim_quality(study.read_study(helper.write(tmp_path / "s.jsonl", rows)))


def judged(row: dict, *verdicts: str | None, added: int = 0) -> dict:
    claims = [{"text": f"{n}", "correctness": verdict} for n, verdict in enumerate(verdicts)]
    return row | {"llm_claims": claims, "added_claims": ["More."] * added}


def test_rates_are_shares_of_what_is_right_wrong_or_unverifiable(tmp_path: Path) -> None:
    verdicts = ("correct",) * 5 + ("incorrect",) * 2 + ("unverifiable", "incomplete", None)
    (row, total) = measured(tmp_path, [judged(helper.rows()[0], *verdicts, added=4)])
    # Ten claims, two of which count nowhere: 5, 2 and 1 of 8, and 4 added for 8.
    assert (row.language, row.n) == ("python", 8)
    assert (row.accuracy, row.error, row.unverifiable) == (0.625, 0.25, 0.125)
    assert row.missing == 0.5
    assert (total.language, total.n, total.accuracy) == ("all", 8, 0.625)


def test_row_of_all_languages_is_the_last(tmp_path: Path) -> None:
    rows = measured(tmp_path, helper.full_rows())
    assert [row.language for row in rows] == ["python", "javascript", "all"]
    # Python has one right and one wrong claim (a third is incomplete), JavaScript one right.
    assert [(row.n, row.accuracy) for row in rows] == [
        (2, 0.5),
        (1, 1.0),
        (3, pytest.approx(2 / 3)),
    ]
    assert [row.missing for row in rows] == [0.5, 0.0, pytest.approx(1 / 3)]


def test_language_without_a_judgement_says_so(tmp_path: Path) -> None:
    first, _, last = helper.rows()
    rows = measured(tmp_path, [judged(first, None, "incomplete"), last])
    assert (rows[0].n, rows[0].accuracy, rows[0].missing) == (0, None, None)
    assert rows[2].n == 1


def test_rate_of_missing_claims_can_exceed_1(tmp_path: Path) -> None:
    row, _ = measured(tmp_path, [judged(helper.rows()[0], "correct", added=3)])
    assert row.missing == 3.0


def test_study_without_judgements_has_no_rows(tmp_path: Path) -> None:
    assert measured(tmp_path, [judged(row) for row in helper.rows()]) == ()
