import re
import shlex
from pathlib import Path

import msgspec
import numpy as np
import pytest

from crscore.reports import layout
from crscore.reports.blocks import Table
from crscore.reports.layout import Report, Section
from crscore_lab.study.measures.agreement import Agreement
from crscore_lab.study.measures.measurements import ExtraMetrics, Metric
from crscore_lab.study.report.validation import validation_report
from crscore_lab.study.results import ValidationResult
from tests.helpers import findings as helper
from tests.helpers import study as studies

replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    return helper.made(tmp_path_factory.mktemp("study"), attacks=True)


def section(result: ValidationResult, anchor: str) -> Section:
    return next(one for one in validation_report(result).sections if one.anchor == anchor)


def table(result: ValidationResult, anchor: str, index: int = 0) -> Table:
    return section(result, anchor).tables[index]


def words(report: Report) -> str:
    return " ".join(layout.to_text(report).split())


def pooled(result: ValidationResult):
    return next(one for one in result.correlations if one.primary and one.dimension == "relevance")


def test_every_question_has_its_section_in_order(found: ValidationResult) -> None:
    anchors = [one.anchor for one in validation_report(found).sections]
    expected = "metrics parts systems addressed attacks length claims people"
    assert anchors == [*expected.split(), "how"]
    assert len(set(anchors)) == len(anchors)


def test_what_was_not_measured_has_no_section(found: ValidationResult) -> None:
    bare = replace(found, attacks=None, claims=())
    anchors = {one.anchor for one in validation_report(bare).sections}
    assert not anchors & {"attacks", "claims", "issues"}


def test_study_that_says_less_gets_a_sentence(tmp_path: Path) -> None:
    rows = studies.rows()
    for one in rows:
        for claim in one["llm_claims"]:
            claim["correctness"] = None
    shown = words(validation_report(helper.made(tmp_path, rows)))
    assert "Human judgements of the study's own claims" not in shown
    assert "No review of this study is linked to pseudo-references." in shown
    assert "Undefined: no review is judged by two annotators." in shown


def test_answer_stands_on_the_cards(found: ValidationResult) -> None:
    report = validation_report(found)
    row = pooled(found)
    cards = {card.title: (card.value, card.basis) for card in report.cards}
    assert report.heading == "How well published/hashing/recorded agrees with people"
    assert report.facts == (
        "15 reviews of 3 changes by 5 systems, 2.3 pseudo-references per change",
        "3 reviews have no sentence and count as 0",
    )
    value, basis = cards["Spearman"]
    assert value == f"{row.spearman:.3f}"
    assert basis.startswith(f"relevance, 95 % interval {row.low:.3f} to {row.high:.3f}, p ")
    assert cards["Kendall tau-b"] == (f"{row.kendall:.3f}", "relevance")
    pairs = next(p for p in found.pairs.same_diff if p.primary and p.dimension == "relevance")
    assert cards["Pairs in order"] == (
        f"{100 * pairs.accuracy:.0f} %",
        f"of {pairs.n} pairs of reviews of one change; chance: 50 %",
    )
    assert cards["Ranking of systems"][1] == "Spearman of 5 systems"
    assert cards["Best trivial measure"][1] in ("words", "repeated tokens")


def test_change_left_out_and_notes_are_told(tmp_path: Path) -> None:
    rows = studies.rows()
    rows[1] |= {"llm_claims": [], "pseudo_references": []}
    made = helper.made(tmp_path, rows, extra=(lambda *_: ExtraMetrics((), ("BLEU is missing",)),))
    report = validation_report(replace(made, split="grouped-cv:5"))
    assert "1 change without a pseudo-reference left out" in report.facts
    assert report.notes == ("BLEU is missing",)
    shown = words(report)
    assert "held out grouped-cv:5" in shown
    assert "--split grouped-cv:5 --resamples" in shown


def test_every_metric_has_a_row_in_plot_and_table(found: ValidationResult) -> None:
    names = ["published/hashing/recorded", "score without threshold", "words", "repeated tokens"]
    shown = section(found, "metrics")
    (plot,) = shown.plots
    assert [bar.label for bar in plot.bars] == names
    assert [bar.tone for bar in plot.bars] == ["main", "", "trivial", "trivial"]
    for each in shown.tables:
        assert [row[0] for row in each.rows] == names
    assert [row[1].split()[0] for row in shown.tables[0].rows] == [b.written for b in plot.bars]
    assert shown.tables[0].rows[0][2] == f"{pooled(found).kendall:.3f}"


def test_junk_systems_are_named(found: ValidationResult) -> None:
    assert "worthless by people (knn, lstm)" in section(found, "metrics").notes[0]
    good = tuple(one for one in found.reviews if one.system == "gpt3.5")
    assert "worthless by people (none)" in section(replace(found, reviews=good), "metrics").notes[0]


def test_two_people_are_a_value_to_compare_with(found: ValidationResult) -> None:
    assert [mark.label for mark in section(found, "metrics").plots[0].marks] == ["two people"]
    unknown = (Agreement(subject="relevance", measure="Spearman", n=0, value=None, reason="none"),)
    assert section(replace(found, agreement=unknown), "metrics").plots[0].marks == ()


def test_variant_of_a_metric_is_told(tmp_path: Path) -> None:
    def lengths(measured, _encoder) -> ExtraMetrics:
        values = np.arange(float(len(measured.rows)))
        return ExtraMetrics((Metric(name="chrF", values=values, variant="nc:6"),))

    assert section(helper.made(tmp_path), "metrics").details == ()
    (details,) = section(helper.made(tmp_path, extra=(lengths,)), "metrics").details
    assert details.table is not None
    assert details.table.rows == (("chrF", "nc:6"),)


def test_parts_have_names_that_people_say(found: ValidationResult) -> None:
    names = [row[0] for row in table(found, "parts").rows]
    assert names[:3] == ["all reviews", "without junk systems", "within a system, mean"]
    assert {"language python", "annotator a"} <= set(names)
    assert section(found, "parts").plots[0].bars[0].label == "all reviews (15)"


def test_study_of_junk_alone_is_shown(tmp_path: Path) -> None:
    rows = studies.rows()
    for one in rows:
        one["reviews"] = [r for r in one["reviews"] if r["system"] in ("lstm", "knn")]
    made = helper.made(tmp_path, rows)
    assert "without junk systems" not in words(validation_report(made))
    assert table(made, "metrics").rows[0][4] == "–"


def test_systems_stand_in_the_order_of_people(found: ValidationResult) -> None:
    # By hand: 4, 4, 2, 1 and 1; equal ones by name.
    names = [row[0] for row in table(found, "systems").rows]
    assert names == ["gpt3.5", "llama3", "codereviewer", "knn", "lstm"]
    assert "5 systems by mean relevance: Spearman " in section(found, "systems").intro[0]


def test_matcher_is_shown_as_a_classifier(found: ValidationResult) -> None:
    one = found.pairs.addressed
    assert one is not None
    rows = {row[0]: row[1:] for row in table(found, "addressed").rows}
    assert rows["precision"] == (f"{one.precision:.3f}", f"{one.positive / one.n:.3f}")
    assert rows["AUC"] == (f"{one.auc:.3f}", "0.500")
    assert "a cosine above 0.30" in section(found, "addressed").intro[0]
    degrees = replace(found, pairs=replace(found.pairs, addressed=replace(one, score="degree")))
    assert "a degree of at least 0.30" in section(degrees, "addressed").intro[0]


def test_threshold_of_the_run_is_shown(found: ValidationResult) -> None:
    tau = f"{found.tau_by_procedure:.4f}"
    rows = table(found, "how").rows
    assert {("threshold", "0.30"), ("threshold by the paper's procedure", tau)} <= set(rows)
    assert ("threshold", "–") in table(replace(found, threshold=None), "how").rows


def test_attacks_say_whether_each_goal_is_reached(found: ValidationResult) -> None:
    report = found.attacks
    assert report is not None
    from dataclasses import replace as changed  # noqa: PLC0415

    row = report.kinds[0]
    kinds = tuple(changed(row, reached=one) for one in (True, False, None))
    shown = section(replace(found, attacks=replace(report, kinds=kinds)), "attacks")
    assert [one[-1] for one in shown.tables[0].rows] == ["✓ reached", "✗ missed", "none"]
    assert [bar.tone for bar in shown.plots[0].bars] == ["good", "bad", ""]
    assert f"Goals missed: {row.kind.value}." in shown.intro[0]
    good = section(replace(found, attacks=replace(report, kinds=kinds[:1])), "attacks")
    assert "Every goal is reached." in good.intro[0]
    honest = changed(report.honest, flagged=0.2, reached=False)
    bad = section(replace(found, attacks=replace(report, honest=honest)), "attacks")
    assert "20 % of 9 honest reviews are wrongly flagged" in bad.intro[1]
    assert "that is too many" in bad.intro[1]


def test_variants_of_attacks_stand_on_the_page_alone(found: ValidationResult) -> None:
    (details,) = section(found, "attacks").details
    assert found.attacks is not None
    assert details.table is not None
    assert len(details.table.rows) == sum(len(row.variants) for row in found.attacks.kinds)
    assert details.in_text == 0


def test_run_without_a_bootstrap_shows_no_interval(tmp_path: Path) -> None:
    report = validation_report(helper.made(tmp_path, resamples=0))
    shown = layout.to_text(report) + layout.to_html(report)
    assert "95 % interval" not in shown
    assert 'class="interval"' not in shown
    assert "no bootstrap" in shown


def test_run_can_be_made_again_from_the_report(found: ValidationResult) -> None:
    report = validation_report(found)
    assert ("data, SHA-256", found.data.sha256) in table(found, "how").rows
    assert report.signatures == (found.signature,)
    command = shlex.split(section(found, "how").code)
    assert command[:3] == ["crscore", "validate", "DATA"]
    options = dict(zip(command[3::2], command[4::2], strict=False))
    assert options.items() >= {
        ("--matcher", "published"), ("--encoder", "hashing"), ("--claims", "recorded"),
        ("--resamples", "20"), ("--seed", "0"),
    }  # fmt: skip
    assert "--split" not in options


def test_both_renderings_hold_every_number_of_the_tables(found: ValidationResult) -> None:
    report = validation_report(found)
    shown, document = layout.to_text(report), layout.to_html(report)
    cells = {
        cell for one in report.sections for table in one.tables for r in table.rows for cell in r
    }
    assert len(cells) > 100
    for cell in cells:
        assert cell[:60] in shown
        assert cell[:60].replace("'", "&#39;") in document
    assert re.findall(r'<section id="(\w+)">', document) == [one.anchor for one in report.sections]
