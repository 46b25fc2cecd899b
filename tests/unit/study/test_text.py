from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crscore import Scorer
from crscore.study import _tables, error_analysis, run, study, text
from crscore.study.attacks.attack_set import make_attacks
from crscore.study.attacks.duels import score_duels, summarize_duels
from crscore.study.measure import Metric
from crscore.study.results import Findings
from tests.helpers import findings as helper
from tests.helpers import study as studies


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return helper.made(tmp_path_factory.mktemp("study"))


def row(findings: Findings, dimension: str = "relevance", name: str = "pooled"):
    return next(
        one
        for one in findings.correlations
        if one.primary and (one.dimension, one.slice) == (dimension, name)
    )


def test_answer_stands_on_the_first_lines(found: Findings) -> None:
    lines = text.to_text(found).splitlines()
    assert lines[0] == "How well published/hashing/recorded agrees with people"
    assert lines[2] == "  15 reviews of 3 changes by 5 systems, 2.3 pseudo-references a change"
    assert lines[3] == "  3 reviews have no sentence and count as 0"
    one = row(found)
    assert lines[5] == (
        f"  Relevance: Spearman {one.spearman:.3f} [{one.low:.3f}, {one.high:.3f}] with the human "
        f"rating, p {'< 0.001' if one.p < 0.001 else f'= {one.p:.3f}'}."
    )
    pairs = next(p for p in found.same_diff if p.primary and p.dimension == "relevance")
    assert lines[6] == (
        f"  It puts the better of two reviews of one change first in {100 * pairs.accuracy:.0f} % "
        f"of {pairs.n} pairs; a coin: 50 %."
    )
    assert lines[7].startswith("  The best trivial measure, ")


def test_every_question_has_its_section_in_order(found: Findings) -> None:
    titles = [line for line in text.to_text(found).splitlines() if line and line[0] != " "]
    starts = [
        "How well",
        "Relevance, every metric",
        "Conciseness and comprehensiveness",
        "The score on parts",
        "Ranking 5 systems",
        "Mean relevance at each human rating",
        "Does a review address",
        "Where score and people",
        "Does length alone pay?",
        "The published rule at other thresholds",
        "What people said of the study's own claims",
        "How far people agree",
        "[low, high]",
        "crscore|",
    ]
    assert [title[: len(start)] for title, start in zip(titles, starts, strict=True)] == starts


def test_every_metric_has_its_row_under_a_short_name(found: Findings) -> None:
    lines = text.to_text(found).splitlines()
    start = lines.index(next(one for one in lines if one.startswith("Relevance, every metric")))
    assert lines[start + 2].startswith("  published/hashing/recorded  ")
    assert lines[start + 3].startswith("    without threshold  ")
    assert f" {row(found).kendall:.3f} " in lines[start + 2]


def test_tables_line_up(found: Findings) -> None:
    lines = text.to_text(found).splitlines()
    start = lines.index("The score on parts of the reviews: Spearman") + 1
    table = lines[start : lines.index("", start)]
    assert len(table) == 1 + len({one.slice for one in found.correlations})
    assert len({len(line) for line in table}) == 1


def test_text_without_draws_promises_no_interval(tmp_path: Path) -> None:
    shown = text.to_text(helper.made(tmp_path, resamples=0))
    assert "[low, high]" not in shown
    assert "p = –" in shown


def test_study_that_says_less_gets_fewer_sections(tmp_path: Path) -> None:
    rows = studies.rows()
    for one in rows:
        for claim in one["llm_claims"]:
            claim["correctness"] = None
    shown = text.to_text(helper.made(tmp_path, rows))
    assert "What people said of the study's own claims" not in shown
    assert "nobody linked reviews to pseudo-references in this study" in shown
    assert "unknown: no review is judged by two annotators" in shown


def test_change_left_out_and_notes_are_told(tmp_path: Path) -> None:
    rows = studies.rows()
    rows[1] |= {"llm_claims": [], "pseudo_references": []}
    made = helper.made(tmp_path, rows, extra=(lambda *_: run.Beside((), ("BLEU is missing",)),))
    shown = text.to_text(replace(made, settings=replace(made.settings, split="grouped-cv 5")))
    assert "  1 change left out for having no pseudo-reference" in shown
    assert "  note: BLEU is missing" in shown
    assert "held out: grouped-cv 5" in shown


def test_variant_of_a_metric_is_told_at_the_end(tmp_path: Path) -> None:
    def lengths(measured, _encoder) -> run.Beside:
        values = np.arange(float(len(measured.rows)))
        return run.Beside((Metric(name="chrF", values=values, variant="nc:6 " * 20),))

    assert f"\nchrF: {' '.join(['nc:6'] * 20)}\n" in text.to_text(
        helper.made(tmp_path, extra=(lengths,))
    )


def test_attacks_have_a_table_where_there_were_some(found: Findings) -> None:
    assert "Attacks on the score" not in text.to_text(found)
    scorer = Scorer(helper.SETTINGS, generator=study.recorded(found.study), analyzers="none")
    duels = score_duels(found.study, make_attacks(found.study, seed=0, drawn=1), scorer)
    report = summarize_duels(duels, resamples=0, seed=0)
    shown = text.to_text(replace(found, attacks=report))
    assert "Attacks on the score" in shown
    assert all(f"\n  {one.kind.value} " in shown for one in report.kinds)


def test_misjudged_reviews_are_shown_on_one_line_each(found: Findings) -> None:
    hostile = "\x1b[31mBad\n::error::x\n" + "and so on " * 30
    cases = tuple(
        error_analysis.Case(
            change="py:1", system="s", human=1.0, score=0.9, references=2, text=hostile
        )
        for _ in range(5)
    )
    shown = text.to_text(replace(found, errors=replace(found.errors, over_cases=cases)))
    lines = [one for one in shown.splitlines() if one.startswith("    0.900 py:1, s: Bad ")]
    assert len(lines) == 3
    assert all(one.endswith(" …") and len(one) <= 100 for one in lines)
    assert "… and 2 more in --format json" in shown
    assert "\x1b" not in shown
    assert "\n::error::" not in shown


def test_study_of_junk_alone_is_shown(tmp_path: Path) -> None:
    rows = studies.rows()
    for one in rows:
        one["reviews"] = [r for r in one["reviews"] if r["system"] in ("lstm", "knn")]
    assert "without-junk" not in text.to_text(helper.made(tmp_path, rows))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (_tables.number(None), "–"),
        (_tables.number(-0.0001), "0.000"),
        (_tables.number(2.917, 2), "2.92"),
        (_tables.signed(0.0), "+0.000"),
        (_tables.signed(-0.0123), "-0.012"),
        (_tables.ranged(0.5, None, None), "0.500"),
        (_tables.ranged(0.5, 0.4, 0.6), "0.500 [0.400, 0.600]"),
        (_tables.percent(0.7634), "76 %"),
        (_tables.percent(0.0043), "0.4 %"),
        (_tables.percent(0.0), "0 %"),
        (_tables.percent(None), "–"),
        (_tables.probability(0.00001), "< 0.001"),
        (_tables.probability(0.0404), "0.040"),
        (_tables.probability(None), "–"),
        (_tables.cut(0.2), "0.20"),
        (_tables.cut(0.4941), "0.4941"),
    ],
)
def test_numbers_are_written_for_people(written: str, expected: str) -> None:
    assert written == expected
