from crscore.static_analysis.pyscent.rules import FileReport, smell, summarize
from crscore.static_analysis.pyscent.source import Span


def summary(*smells):
    (finding,) = summarize(FileReport(path="a.py", smells=smells)).smells
    return finding.text, finding.line, finding.end_line


def test_the_worst_of_several_is_named() -> None:
    assert summary(
        smell("long-method", Span(3, 60), "`f`", 51),
        smell("long-method", Span(70, 200), "`A.g`", 99),
        smell("long-method", Span(300, 400), "`h`", 99),
    ) == ("Long method in 3 functions: the worst is `A.g` on line 70 with 99 statements.", 70, 200)


def test_the_least_cohesive_class_is_the_worst() -> None:
    assert summary(
        smell("low-cohesion", Span(3, 60), "`A`", 29.0),
        smell("low-cohesion", Span(70, 90), "`B`", 12.345),
    ) == (
        "Low cohesion in 2 classes: the worst is `B` on line 70 with a cohesion of 12.3 %.",
        -1,
        -1,
    )


def test_what_has_no_measure_names_the_first() -> None:
    finding = smell("useless-exception", Span(4, 5), "`except KeyError` in `f`", None, harm="")
    text, line, _ = summary(finding)
    assert text == "Useless exception in 1 place: the first is `except KeyError` in `f` on line 4."
    assert line == 4


def test_one_sentence_a_smell_and_no_more() -> None:
    report = FileReport(
        path="a.py",
        smells=(
            smell("low-cohesion", Span(1, 60), "`A`", 29.0),
            smell("long-method", Span(3, 60), "`f`", 51),
        ),
    )
    assert [row.rule.id for row in summarize(report).smells] == ["long-method", "low-cohesion"]


def test_a_file_without_smells_stays_as_it_is() -> None:
    report = FileReport(path="a.py", unparsed="it does not parse")
    assert summarize(report) == report
