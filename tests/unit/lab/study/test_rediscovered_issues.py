import pytest

from crscore import plugins
from crscore.lab.study.rediscovered_issues import Rediscovered, find_rediscovered
from crscore.lab.study.study import StudyChange
from crscore.records import Analysis, Claims, Finding, PseudoReference, ReferenceKind, Severity

ENCODER = plugins.create("encoders", "hashing")
UNUSED = "line 3, UnusedPrivateField:\tAvoid unused private fields such as 'ID'."


def change(*texts: str, kind: ReferenceKind = ReferenceKind.ISSUE) -> StudyChange:
    references = tuple(
        PseudoReference(text=text, kind=kind, source="recorded") for text in texts
    )  # fmt: skip
    return StudyChange(
        id="java:1",
        language="java",
        patch="@@ -1 +1 @@\n-a\n+b\n",
        old_source=None,
        new_source=None,
        recorded=Claims(references=references),
        reviews=(),
    )


def finding(
    line: int, rule: str, text: str, *, message: str = "", counted: bool = False
) -> Finding:
    return Finding(
        tool="pmd",
        rule=rule,
        path="",
        line=line,
        end_line=line,
        message=message or text,
        text=text,
        severity=Severity.WARNING,
        counted=counted,
    )


def again(text: str, *findings: Finding) -> Rediscovered:
    (found,) = find_rediscovered([(change(text), Analysis(findings=findings))], ENCODER)
    return found


def test_same_rule_on_the_same_line_is_the_same_issue() -> None:
    found = again(UNUSED, finding(3, "UnusedPrivateField", "Nothing reads it.", counted=True))
    assert (found.by_rule, found.by_meaning, found.counted, found.share) == (1, 0, 1, 1.0)
    assert found.misses == ()


@pytest.mark.parametrize("message", ["", "Private fields such as 'ID' are unused, avoid them."])
def test_same_meaning_on_the_same_line_is_the_same_issue(message: str) -> None:
    text = "Avoid the unused private field 'ID'." if not message else "Gone."
    found = again(UNUSED, finding(3, "other", text, message=message))
    assert (found.by_rule, found.by_meaning, found.counted) == (0, 1, 0)


@pytest.mark.parametrize(
    "other",
    [
        finding(4, "UnusedPrivateField", "Avoid unused private fields such as 'ID'."),
        finding(3, "EmptyCatchBlock", "Swallows what goes wrong."),
    ],
)
def test_other_line_or_other_words_are_a_miss(other: Finding) -> None:
    found = again(UNUSED, other)
    (miss,) = found.misses
    assert (found.share, miss.text, miss.nearest, miss.line) == (0, UNUSED, other.text, other.line)


def test_nearest_of_the_line_is_told_before_nearer_ones_elsewhere() -> None:
    there = finding(3, "EmptyCatchBlock", "Swallows what goes wrong.")
    nearer = finding(9, "UnusedPrivateField", "Avoid unused private fields such as 'ID'.")
    assert again(UNUSED, there, nearer).misses[0].nearest == there.text


def test_change_without_a_finding_has_no_nearest() -> None:
    (miss,) = again(UNUSED).misses
    assert (miss.nearest, miss.line, miss.cosine) == (None, None, None)


def test_column_is_no_part_of_the_message() -> None:
    found = again("line 12, col 37, Missing semicolon.", finding(12, "W033", "Missing semicolon."))
    assert found.by_meaning == 1


def test_issue_without_a_line_may_stand_anywhere() -> None:
    text = "Shotgun smell in class `Client`."
    assert again(text, finding(40, "smell", text)).by_meaning == 1


def test_parse_error_of_the_studys_tool_is_no_issue_of_the_code() -> None:
    found = again("ParseException: Parse exception in file 'A.java' at line 3, column 1")
    assert (found.rows, found.unreadable, found.share, found.misses) == (0, 1, None, ())


def test_claims_are_no_issues() -> None:
    claims = change("The limit is 20.", kind=ReferenceKind.CLAIM)
    assert find_rediscovered([(claims, Analysis())], ENCODER) == ()
