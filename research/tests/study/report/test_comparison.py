from pathlib import Path

import msgspec
import numpy as np
import pytest

from crscore.reports import layout
from crscore.reports.layout import Report
from crscore_lab.study.data import saved_runs
from crscore_lab.study.data.saved_runs import ReviewKey, SavedReview, SavedRun
from crscore_lab.study.measures import comparison
from crscore_lab.study.measures.comparison import Comparison
from crscore_lab.study.report import rendering
from crscore_lab.study.report.comparison import comparison_report
from tests.helpers import findings as helper
from tests.helpers.page import HARMLESS, VOID, Reader
from tests.helpers.results import EVIL

RNG = np.random.default_rng(4)
KEYS = [ReviewKey(f"c{i}", system, 0) for i in range(30) for system in ("gpt3.5", "llama3", "lstm")]
HUMAN = RNG.integers(1, 6, (len(KEYS), 3)).astype(float)


def side(noise: float, name: str) -> SavedRun:
    values = HUMAN + RNG.normal(0, noise, HUMAN.shape)
    reviews = {
        key: SavedReview(
            change=key.change, system=key.system, human=tuple(human), scores=tuple(mine)
        )
        for key, human, mine in zip(KEYS, HUMAN, values, strict=True)
    }
    return SavedRun(name=name, metric="m", signature=f"sig {name}", sha256="00", reviews=reviews)


def compared(resamples: int = 100, name: str = "b.json") -> Comparison:
    return comparison.compare(side(6, "a.json"), side(0.5, name), resamples=resamples, seed=0)


def first_row(**fields: object) -> Report:
    found = compared()
    changed = msgspec.structs.replace(found.differences[0], **fields)
    return comparison_report(msgspec.structs.replace(found, differences=(changed,)))


def test_comparison_answers_first() -> None:
    found = compared()
    report = comparison_report(found)
    one = found.differences[0]
    low, high = sorted((one.first, one.second))
    assert report.facts == (
        f"B agrees better with people on relevance: Spearman {high:.3f} against {low:.3f}.",
        f"To detect a difference of {one.difference:.3f} in four of five studies takes "
        f"{one.changes_needed} changes; this comparison has 30.",
        "Compared on 90 reviews of 30 changes in both runs; left out: 0 of A, 0 of B",
    )
    cards = {card.title: (card.value, card.basis) for card in report.cards}
    assert cards["B - A"][0] == f"+{one.difference:.3f}"
    assert cards["B - A"][1].startswith("relevance, Spearman: [")
    assert (cards["A"], cards["B"]) == ((f"{one.first:.3f}", "m"), (f"{one.second:.3f}", "m"))
    assert cards["Changes needed"][0] == f"{one.changes_needed}"
    assert report.signatures == ("sig a.json", "sig b.json")


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"difference": None}, "No answer: the relevance of a run, or of people, is the same"),
        ({"difference": 0.0}, "Both agree with people equally well on relevance."),
        ({"difference": -0.1, "better": "first"}, "A agrees better with people on relevance"),
        ({"better": None, "p": 0.4}, "B seems to agree better with people on relevance"),
        ({"p": None}, "Its significance is unknown: there is no bootstrap, or too few"),
        ({"better": None, "p": 0.4}, "The difference is not significant (p = 0.400)."),
    ],
)
def test_answer_says_how_sure_it_is(fields: dict, answer: str) -> None:
    assert any(answer in fact for fact in first_row(**fields).facts)


def test_comparison_shows_every_difference_in_plot_and_table() -> None:
    found = compared()
    shown = comparison_report(found).sections[0]
    assert len(shown.tables[0].rows) == len(found.differences) == 15
    bars = [bar for plot in shown.plots for bar in plot.bars]
    assert len(bars) == 15
    assert all(bar.low is not None for bar in bars)
    better = [one.better for one in found.differences]
    assert [bar.tone for bar in bars].count("good") == better.count("second") >= 12
    assert [row[-2] for row in shown.tables[0].rows].count("B") == better.count("second")


def test_comparison_without_a_bootstrap_says_so() -> None:
    document = layout.to_html(comparison_report(compared(resamples=0)))
    assert "There is no bootstrap" in document
    assert 'class="interval"' not in document
    assert "no test" in document


def test_runs_stand_side_by_side() -> None:
    table = comparison_report(compared()).sections[1].tables[0]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["file"] == ("a.json", "b.json")
    assert rows["reviews"] == ("90", "90")


def test_hostile_names_of_runs_are_harmless() -> None:
    found = msgspec.structs.replace(compared(name=EVIL), warnings=(EVIL,))
    document = layout.to_html(comparison_report(found))
    assert {tag for tag, _ in Reader(document).elements} <= HARMLESS | VOID


def test_comparison_is_made_from_saved_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(rendering.to_json(helper.made(tmp_path)), "utf-8")
    run = saved_runs.read_saved_run(path)
    report = comparison_report(comparison.compare(run, run, resamples=5, seed=0))
    assert report.facts[0] == "Both agree with people equally well on relevance."
    assert "both runs have the same signature" in report.notes
