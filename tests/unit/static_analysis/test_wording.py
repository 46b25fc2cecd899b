"""Writing a sentence about a tool's finding."""

import pytest

from crscore.records import Severity
from crscore.static_analysis.reports import RawFinding
from crscore.static_analysis.wording import MAX_NAME, word_finding
from tests.helpers.toys import toy

SENTENCES = r"""
    [[sentences]]
    rule = 'F4\d\d'
    message = "'(?P<name>[^']*)'(?: as (?P<alias>\\S+))?"
    text = "Unused import `{name}`."
    severity = "note"
    [[sentences]]
    rule = 'F401'
    message = "(?P<alias>star)?"
    text = "The alias `{alias}` is unused."
    [[sentences]]
    rule = 'F401'
    text = "Something is unused."
    [[sentences]]
    rule = 'X'
    text = "A literal {{}} and a backslash \\1 \\g<0> stay."
"""


@pytest.fixture
def manifest(tmp_path):
    return toy(tmp_path, SENTENCES.replace("{{}}", "{}")).manifest


def said(manifest, message: str, rule: str = "F401", level: str | None = None):
    raw = RawFinding(path="a", rule=rule, message=message, line=1, end_line=1, level=level)
    return word_finding(raw, manifest)


def test_first_sentence_that_fits_is_filled(manifest) -> None:
    assert said(manifest, "found 'os.path' here") == ("Unused import `os.path`.", Severity.NOTE)


def test_rule_matches_as_a_whole(manifest) -> None:
    assert said(manifest, "found 'os'", rule="F4011")[0] == "Found `os`."


def test_sentence_whose_name_is_empty_is_passed_over(manifest) -> None:
    assert said(manifest, "found '' there")[0] == "Something is unused."
    assert said(manifest, "star")[0] == "The alias `star` is unused."


def test_message_that_no_sentence_fits_is_tidied(manifest) -> None:
    assert said(manifest, "**bad** thing 'x'.\nMore.", rule="Y") == (
        "Bad thing `x`.",
        Severity.WARNING,
    )


@pytest.mark.parametrize(
    ("rule", "text"),
    [("no-bad", "This breaks the rule `no-bad`."), ("", "Something is wrong here.")],
)
def test_finding_without_a_message_has_a_sentence(manifest, rule, text) -> None:
    assert said(manifest, " \n ", rule=rule)[0] == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (r"C:\new\1\g<0>", r"C:\new\1\g<0>"),
        ("a\n  b\tc", "a b c"),
        ("{alias}", "{alias}"),
        ("(a+)+$", "(a+)+$"),
        ("a`b``c", "a b c"),
        ("x" * 200, "x" * (MAX_NAME - 1) + "…"),
        ("y" * MAX_NAME, "y" * MAX_NAME),
    ],
)
def test_name_is_changed_only_in_white_space_backticks_and_length(manifest, name, shown) -> None:
    assert said(manifest, f"'{name}'")[0] == f"Unused import `{shown}`."


def test_text_without_names_stays_as_it_is(manifest) -> None:
    assert said(manifest, "", rule="X")[0] == r"A literal {} and a backslash \1 \g<0> stay."


def test_message_of_a_megabyte_is_quick(manifest) -> None:
    assert said(manifest, "'" * 1_000_000 + "x")[0] == "Something is unused."


@pytest.mark.parametrize(
    ("level", "severity"),
    [
        ("1", "error"),
        ("2", "note"),
        ("error", "error"),
        ("note", "note"),
        ("fatal", "warning"),
        (None, "warning"),
        ("", "warning"),
    ],
)
def test_severity_is_from_the_table_or_else_from_the_tool(manifest, level, severity) -> None:
    assert said(manifest, "x", rule="Y", level=level)[1] == severity


def test_default_of_the_table_is_for_other_levels(tmp_path) -> None:
    manifest = toy(tmp_path, replaced=("[severity]", '[severity]\ndefault = "note"')).manifest
    assert said(manifest, "x", level="fatal")[1] is Severity.NOTE
    assert said(manifest, "x", level=None)[1] is Severity.NOTE
    assert said(manifest, "x", level="error")[1] is Severity.ERROR
