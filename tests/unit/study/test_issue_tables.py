from dataclasses import replace
from pathlib import Path

import pytest

from crscore import settings as config
from crscore.study import page, text
from crscore.study.rediscovered_issues import Again, Miss
from crscore.study.results import Findings
from tests.helpers import findings as helper
from tests.helpers import study as studies


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("study")
    settings = config.override_settings(
        helper.SETTINGS, {"analyzers": "ruff", "cache_dir": str(folder)}
    )
    return helper.made(folder, studies.analysed_rows(), settings=settings)


def lines(findings: Findings) -> list[str]:
    whole = text.to_text(findings).splitlines()
    start = next(i for i, line in enumerate(whole) if line.startswith("Static analysis"))
    end = next(i for i, line in enumerate(whole) if line.startswith("The published rule at"))
    return whole[start:end]


def missed(count: int) -> Again:
    miss = Miss(change="java:1", text="line 1, A:\tB", nearest="C.", line=2, cosine=0.25)
    return Again(
        language="java",
        rows=count,
        unreadable=1,
        by_rule=0,
        by_meaning=0,
        counted=0,
        share=0.0,
        misses=(miss,) * count,
    )


def with_again(found: Findings, *again: Again) -> Findings:
    assert found.issues is not None
    return replace(found, issues=replace(found.issues, again=again))


def test_text_tells_what_each_tool_says_of_a_change(found: Findings) -> None:
    shown = lines(found)
    assert shown[0] == "Static analysis (ruff): what it says of a change"
    ruff = next(line for line in shown if line.strip().startswith("ruff"))
    # Two changes: four findings, two of them on changed lines, both count.
    assert ruff.split() == ["ruff", "2", "0", "2.00", "1.00", "50", "%", "0.00", "0.00", "1.00"]


def test_text_tells_the_gain_of_every_part(found: Findings) -> None:
    shown = lines(found)
    assert found.issues is not None
    effect = next(
        one
        for one in found.issues.effects
        if (one.issues, one.dimension, one.slice) == ("tools", "relevance", "pooled")
    )
    start = shown.index(next(line for line in shown if line.startswith("  pooled, 15 reviews")))
    assert shown[start + 2].split()[3] == f"{effect.spearman:.3f}"
    for name in ("pooled", "without-junk", "within-system", "language python"):
        assert any(line.startswith(f"  {name}, ") for line in shown)


def test_text_tells_what_is_missed_and_what_is_said_instead(found: Findings) -> None:
    shown = " ".join(" ".join(lines(found)).split())
    assert "python: of 2 issues of the study's own tools, 1 named again (50 %)" in shown
    assert "missed in py:2: line 6, LooseCoupling: Avoid using implementation types." in shown
    assert "nearest: line 1, Unused import `json`" in shown


def test_text_cuts_a_long_list_of_misses(found: Findings) -> None:
    shown = " ".join(" ".join(lines(with_again(found, missed(7)))).split())
    assert shown.count("missed in java:1") == 5
    assert "… and 2 more in --format json" in shown
    assert "1 parse error of those tools left out" in shown


def test_page_has_a_section_with_the_gains_and_the_rules(found: Findings) -> None:
    document = page.to_html(found)
    start = document.index('<section id="issues">')
    section = document[start : document.index("</section>", start)]
    assert "Does static analysis help?" in section
    assert ">ruff: F401</th>" in section
    assert "python: of 2 issues of the study&#39;s own tools" in section
    assert "1 missed issue" in section
    assert 'href="#issues"' in document


def test_page_cuts_long_lists_and_counts_the_rest(found: Findings) -> None:
    assert found.issues is not None
    rules = tuple(replace(found.issues.rules[0], rule=f"R{n}") for n in range(203))
    many = replace(with_again(found, missed(60)), issues=None)
    issues = replace(found.issues, rules=rules, again=(missed(60),))
    document = page.to_html(replace(many, issues=issues))
    assert "… and 3 more rules in --format json" in document
    assert "… and 10 more in --format json" in document


def test_page_without_analyzers_has_no_section(found: Findings) -> None:
    assert 'id="issues"' not in page.to_html(replace(found, issues=None))


def test_page_says_how_to_make_it_again(found: Findings) -> None:
    assert "--analyzers ruff" in page.to_html(found)
    assert "--analyzers" not in page.to_html(replace(found, issues=None))


def test_hostile_names_are_harmless(found: Findings) -> None:
    assert found.issues is not None
    miss = missed(1).misses[0]
    hostile = "\x1b[31m<script>\u202e"
    again = replace(
        missed(1),
        language=hostile,
        misses=(replace(miss, change=hostile, text=hostile, nearest=hostile),),
    )
    rules = (replace(found.issues.rules[0], rule=hostile, example=hostile),)
    tools = (replace(found.issues.tools[0], tool=hostile, language=hostile),)
    issues = replace(
        found.issues, analyzers=hostile, again=(again,), rules=rules, tools=tools
    )  # fmt: skip
    for shown in (
        text.to_text(replace(found, issues=issues)),
        page.to_html(replace(found, issues=issues)),
    ):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "<script>" not in page.to_html(replace(found, issues=issues))


def test_run_without_analyzers_prints_as_before(tmp_path: Path) -> None:
    assert "Static analysis" not in text.to_text(helper.made(tmp_path))
