from pathlib import Path

import msgspec
import pytest

from crscore.lab.study.issue_section import issue_section
from crscore.lab.study.issues import Issues
from crscore.lab.study.rediscovered_issues import Miss, Rediscovered
from crscore.lab.study.result_report import result_report
from crscore.lab.study.results import ValidationResult
from crscore.reports import layout
from crscore.reports.layout import Section
from crscore.settings import override_settings
from tests.helpers import findings as helper
from tests.helpers import study as studies

replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    folder = tmp_path_factory.mktemp("study")
    settings = override_settings(helper.SETTINGS, {"analyzers": "ruff", "cache_dir": str(folder)})
    return helper.made(folder, studies.analysed_rows(), settings=settings)


@pytest.fixture
def issues(found: ValidationResult) -> Issues:
    assert found.issues is not None
    return found.issues


def shown(issues: Issues) -> Section:
    return issue_section(issues)


def missed(count: int, **fields: object) -> Rediscovered:
    miss = Miss(change="java:1", text="line 1, A:\tB", nearest="C.", line=2, cosine=0.25)
    return Rediscovered(
        language="java",
        rows=count,
        unreadable=1,
        by_rule=0,
        by_meaning=0,
        counted=0,
        share=0.0,
        misses=(replace(miss, **fields),) * count,
    )


def test_report_has_the_section_where_a_tool_was_to_look(found: ValidationResult) -> None:
    report = result_report(found)
    assert "issues" in [section.anchor for section in report.sections]
    assert "--analyzers ruff" in report.sections[-1].code
    without = result_report(replace(found, issues=None))
    assert "issues" not in [section.anchor for section in without.sections]
    assert "--analyzers" not in without.sections[-1].code


def test_tells_what_each_tool_says_of_a_change(issues: Issues) -> None:
    section = shown(issues)
    assert "Analyzers: ruff." in section.intro[0]
    rows = {row[0]: row[1:] for row in section.tables[1].rows}
    # Two changes: four findings, two of them on changed lines, both count.
    assert rows["python: ruff"] == ("2", "0", "2.00", "1.00", "50 %", "0.00", "0.00", "1.00")
    assert "all languages: all tools" in rows
    assert f"at most {issues.max_issues} of a hunk" in section.notes[0]
    assert (
        "counts, what tools have in common once, all of a hunk"
        in (shown(replace(issues, max_issues=None)).notes[0])
    )


def test_tells_the_gain_of_every_part(issues: Issues) -> None:
    table = shown(issues).tables[0]
    assert len(table.rows) == len(issues.effects)
    first = issues.effects[1]
    assert table.rows[1][:3] == (
        f"all reviews, {first.dimension}: the tools' issues",
        "15",
        f"{first.spearman:.3f}",
    )
    labels = [bar.label for bar in shown(issues).plots[0].bars]
    assert "language python: the tools' issues" in labels
    assert not any("no issues" in label for label in labels)


@pytest.mark.parametrize(
    ("difference", "p", "word", "look"),
    [(0.2, 0.01, "better", "good"), (-0.2, 0.01, "worse", "bad"), (0.2, 0.2, "", "")],
)
def test_clear_gain_is_told(issues: Issues, difference, p, word, look) -> None:
    effect = next(one for one in issues.effects if one.dimension == "relevance" and one.p)
    section = shown(replace(issues, effects=(replace(effect, difference=difference, p=p),)))
    assert section.tables[0].rows[0][-1] == word
    assert section.plots[0].bars[0].tone == look


def test_tells_what_is_missed_and_what_is_said_instead(issues: Issues) -> None:
    section = shown(issues)
    assert any(
        text.startswith("python: of 2 issues of the study's own tools, 1 named again (50 %)")
        for text in section.intro
    )
    details = next(one for one in section.details if one.title == "python: 1 missed issue")
    (example,) = details.examples
    assert example.facts.startswith("py:2 · nearest: line 1, Unused import `json`")
    assert example.text.startswith("line 6, LooseCoupling")


def test_long_list_of_misses_is_whole_and_cut_in_the_text(issues: Issues) -> None:
    section = shown(replace(issues, again=(missed(7),)))
    assert len(section.details[1].examples) == 7
    assert section.details[1].in_text == 5
    assert "1 parse error of those tools left out" in section.intro[1]
    nothing = shown(replace(issues, again=(missed(1, nearest=None),)))
    assert nothing.details[1].examples[0].facts == "java:1 · nothing is said of this change"


def test_rules_stand_on_the_page_alone(issues: Issues) -> None:
    rules = shown(issues).details[0]
    assert rules.table is not None
    assert rules.table.rows[0][0] == "ruff: F401"
    assert rules.in_text == 0


def test_hostile_names_are_harmless(found: ValidationResult, issues: Issues) -> None:
    hostile = "\x1b[31m<script>\u202e"
    again = replace(missed(1, change=hostile, text=hostile, nearest=hostile), language=hostile)
    evil = replace(
        issues,
        analyzers=hostile,
        again=(again,),
        rules=(replace(issues.rules[0], rule=hostile, example=hostile),),
        tools=(replace(issues.tools[0], tool=hostile, language=hostile),),
    )
    report = result_report(replace(found, issues=evil))
    text, document = layout.to_text(report), layout.to_html(report)
    for rendered in (text, document):
        assert "\x1b" not in rendered
        assert "\u202e" not in rendered
    assert "<script>" not in document


def test_run_without_analyzers_has_no_section(tmp_path: Path) -> None:
    made = helper.made(tmp_path)
    assert made.issues is None
    assert "issues" not in [section.anchor for section in result_report(made).sections]
