"""What a runner reads: the parser below does what the runner's documentation says."""

import json
import re
from urllib.parse import unquote

import pytest

from crscore.pull_request.documents import for_hosts
from crscore.pull_request.documents.for_hosts import render_code_quality
from crscore.records import ReferenceKind, Severity, Side
from tests.helpers import overviews


def parse(line: str) -> tuple[str, dict[str, str], str]:
    actual = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert actual, line
    properties = dict(item.split("=", 1) for item in actual[2].split(","))
    return actual[1], {key: unquote(value) for key, value in properties.items()}, unquote(actual[3])


def of(*points: overviews.Point, most: int = 10) -> list[tuple[str, dict[str, str], str]]:
    actual = overviews.replace(overviews.review(), open=points)
    written = for_hosts.render_annotations(actual, max_per_level=most)
    assert written == "" or written.endswith("\n")
    return [parse(line) for line in written.splitlines()]


def test_finding_is_annotated_on_its_lines() -> None:
    assert of(overviews.point(line=3, end_line=5)) == [
        (
            "warning",
            {
                "file": "src/a.py",
                "line": "3",
                "endLine": "5",
                "title": "No review addresses this (ruff)",
            },
            "`os` is imported and not used.",
        )
    ]


@pytest.mark.parametrize(
    ("severity", "command"),
    [
        (Severity.ERROR, "error"),
        (Severity.WARNING, "warning"),
        (Severity.NOTE, "notice"),
        (None, "warning"),
    ],
)
def test_level_is_that_of_the_finding(severity: Severity | None, command: str) -> None:
    assert of(overviews.point(severity=severity))[0][0] == command


def test_claims_are_not_findings() -> None:
    assert of(overviews.point(kind=ReferenceKind.CLAIM, severity=None)) == []


def test_without_unaddressed_issues_nothing_is_written() -> None:
    assert of() == []


def test_omitted_annotations_are_counted_in_one_notice() -> None:
    points = [
        overviews.point(f"Text {index}.", severity=severity)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
        for index in range(12)
    ]
    actual = of(*points)
    commands = [command for command, _, _ in actual]
    assert {name: commands.count(name) for name in set(commands)} == {
        "error": 10,
        "warning": 10,
        "notice": 10,
    }
    assert actual[-1][2] == "7 more findings that no review addresses: see the job summary."


def test_most_important_ones_are_kept() -> None:
    points = [overviews.point(f"Text {index}.") for index in range(12)]
    assert [text for _, _, text in of(*points, most=2)] == [
        "Text 0.",
        "Text 1.",
        "10 more findings that no review addresses: see the job summary.",
    ]


def test_equal_findings_are_annotated_on_each_line() -> None:
    more = (overviews.place(line=9, end_line=9), overviews.place(line=20, end_line=21))
    point = overviews.point(line=3, end_line=3, more=more)
    assert [properties["line"] for _, properties, _ in of(point)] == ["3", "9", "20"]
    assert of(point, most=1)[-1][2].startswith("2 more findings")
    rows = json.loads(render_code_quality(overviews.replace(overviews.review(), open=(point,))))
    assert [row["location"]["lines"]["begin"] for row in rows] == [3, 9, 20]
    assert len({row["fingerprint"] for row in rows}) == 3


def test_finding_on_the_old_side_names_its_place_in_words() -> None:
    _, properties, text = of(overviews.point(side=Side.OLD, line=3, end_line=3))[0]
    assert set(properties) == {"title"}
    assert text.endswith("(src/a.py:3 (before))")


def test_finding_on_a_file_has_no_line() -> None:
    assert set(of(overviews.point())[0][1]) == {"file", "title"}


@pytest.mark.parametrize("path", ["a,b.py", "a:b.py", "a%0Ab.py", "a::b.py", "a=b.py", "ü b.py"])
def test_path_comes_back_as_it_is(path: str) -> None:
    assert of(overviews.point(path=path))[0][1]["file"] == path


@pytest.mark.parametrize("path", ["a\nb.py", "a\rb.py", "a\u202eb.py", "a\x1b[1mb.py"])
def test_path_with_control_characters_is_not_a_property(path: str) -> None:
    assert "file" not in of(overviews.point(listed=path))[0][1]


def test_hostile_texts_make_one_command_a_line() -> None:
    written = for_hosts.render_annotations(overviews.hostile())
    lines = written.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("::warning ") for line in lines)
    assert "##[" not in written
    assert not set(written) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800\x00\r")
    for line in lines:
        assert set(parse(line)[1]) <= {"file", "line", "endLine", "title"}


def test_message_is_short_enough_for_a_runner() -> None:
    assert max(map(len, for_hosts.render_annotations(overviews.hostile()).splitlines())) < 4_096
