"""Parsing the output of tools, which is not trusted."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import ToolOutputError
from crscore.static_analysis import formats
from crscore.static_analysis.analyzer import CsvOutput, JsonOutput, Output
from crscore.static_analysis.reports import RawFinding, RawReport

SHAPE = JsonOutput(
    path="file",
    findings="found",
    rule="rule",
    message="text",
    line="line",
    end_line="end",
    severity="level",
    unparsed="unread",
)
JSON = Output(format="json", json=SHAPE)
CHECKSTYLE = Output(format="checkstyle")
SARIF = Output(format="sarif")
CSV = Output(
    format="csv",
    csv=CsvOutput(path=0, line=1, end_line=2, name=3, measures={"long": (4, 100), "deep": (5, 3)}),
)


def read(content: str | bytes, output: Output) -> RawReport:
    data = content.encode() if isinstance(content, str) else content
    return formats.read_report(data, output, tool="toy")


def finding(**more: object) -> RawFinding:
    return RawFinding(**{"path": "a", "rule": "r", "message": "m", "line": 1, "end_line": 1} | more)


# JSON


def one(**more: object) -> str:
    return json.dumps({"found": [{"file": "a", "rule": "r", "text": "m", "line": 1} | more]})


def test_json_maps_each_value() -> None:
    found = read(one(line="3", end=5, level=2), JSON)
    assert found.findings == (finding(line=3, end_line=5, level="2"),)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"end": None}, {}),
        ({"end": 0}, {}),
        ({"line": None}, {"line": 0, "end_line": 0}),
        ({"line": "", "end": 9}, {"line": 0, "end_line": 9}),
        ({"rule": None, "text": None}, {"rule": "", "message": ""}),
        ({"text": "\ud800\u00e9"}, {"message": "?\u00e9"}),
        ({"text": "See [the rule](https://x.example/r)."}, {"message": "See the rule."}),
        ({"level": "\udfff"}, {"level": "?"}),
    ],
)
def test_json_value_that_is_missing_or_odd_has_a_meaning(given, wanted) -> None:
    assert read(one(**given), JSON).findings == (finding(**wanted),)


def test_json_groups_hold_the_path() -> None:
    shape = msgspec.structs.replace(SHAPE, groups="files", path="name")
    text = json.dumps(
        {"files": [{"name": "b", "found": [{"line": 2}, {"line": 1}]}, {"name": "c", "found": []}]}
    )
    found = read(text, Output(format="json", json=shape))
    assert [(each.path, each.line) for each in found.findings] == [("b", 2), ("b", 1)]


def test_json_names_files_that_were_not_read() -> None:
    assert read('{"found": [], "unread": ["a", "b"]}', JSON).unparsed == ("a", "b")
    assert read('{"found": []}', JSON).unparsed == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "NaN",
        "[" * 100_000,
        '{"found": 1}',
        '{"found": "abc"}',
        '{"found": [1]}',
        '{"found": [{"file": "a", "rule": 42, "line": 1}]}',
        '{"found": [{"line": 1}]}',
        '{"found": [], "unread": {}}',
        '{"found": [], "unread": [[]]}',
        '{"found": [{"file": "a", "line": -1}]}',
        '{"found": [{"file": "a", "line": 1.5}]}',
        '{"found": [{"file": "a", "line": true}]}',
        '{"found": [{"file": "a", "line": NaN}]}',
        '{"found": [{"file": "a", "line": "one"}]}',
        '{"found": [{"file": "a", "line": %s}]}' % ("9" * 5000),
        '{"found": [{"file": "a", "line": "%s"}]}' % ("9" * 5000),
        '{"found": [{"file": "a", "text": [], "line": 1}]}',
    ],
)
def test_json_of_another_shape_is_an_error(text) -> None:
    with pytest.raises(ToolOutputError):
        read(text, JSON)


def test_json_that_is_no_utf8_is_an_error() -> None:
    with pytest.raises(ToolOutputError, match="not JSON"):
        read(b'{"found": "\xff"}', JSON)


@pytest.mark.parametrize("expression", ["max(range)", "file["])
def test_expression_that_does_not_fit_is_an_error(expression: str) -> None:
    shape = msgspec.structs.replace(SHAPE, end_line=expression)
    with pytest.raises(ToolOutputError, match="cannot be applied to it"):
        read(one(), Output(format="json", json=shape))


# Checkstyle


def checkstyle(errors: str, prolog: str = "") -> str:
    return f"<?xml version='1.0'?>{prolog}<checkstyle><file name='a'>{errors}</file></checkstyle>"


def test_checkstyle_has_a_path_for_all_errors_of_a_file() -> None:
    text = checkstyle(
        "<error line='3' column='1' severity='warning' message='m &lt;x&gt;' source='r'/><error/>"
    )
    assert read(text, CHECKSTYLE).findings == (
        finding(line=3, end_line=3, message="m <x>", level="warning"),
        finding(line=0, end_line=0, message="", rule=""),
    )


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {new} '{('&' + old + ';') * 10}'>"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<checkstyle>",
        "no XML",
        checkstyle("<error message='&j;'/>", BOMB + "]>"),
        checkstyle("<error message='&e;'/>", "<!DOCTYPE x [<!ENTITY e SYSTEM '/etc/passwd'>]>"),
        checkstyle("<error/>", "<!DOCTYPE x [<!ENTITY % p SYSTEM 'http://x.example/'> %p;]>"),
        checkstyle("<error line='x'/>"),
        checkstyle("<error line='-3'/>"),
        "<checkstyle><file><error line='1'/></file></checkstyle>",
        "<?xml version='1.0' encoding='klingon'?><checkstyle/>",
        "<checkstyle>\x00</checkstyle>",
    ],
)
def test_checkstyle_that_may_not_be_read_is_an_error(text) -> None:
    with pytest.raises(ToolOutputError):
        read(text, CHECKSTYLE)


def test_xml_with_nested_entities_is_refused_before_they_expand() -> None:
    with pytest.raises(ToolOutputError, match="EntitiesForbidden"):
        read(checkstyle("<error message='&j;'/>", BOMB + "]>"), CHECKSTYLE)


# CSV


def test_csv_row_is_a_finding_for_each_measure_over_its_limit() -> None:
    text = 'a,1,9,"f(x, ""y"")",101,4\n\na,20,30,g,100,3\nb,5,2,h,100,9\n'
    assert read(text, CSV).findings == (
        finding(rule="long", message='f(x, "y"): 101 > 100', end_line=9),
        finding(rule="deep", message='f(x, "y"): 4 > 3', end_line=9),
        finding(path="b", rule="deep", message="h: 9 > 3", line=5, end_line=5),
    )


@pytest.mark.parametrize(
    "text",
    [
        "a,1,2,f,3",
        "a,x,2,f,101,1",
        "a,1,2,f,3,4\nWarning: no such file",
        "a,1,2,f,,1.5",
        "x" * 200_001,
    ],
)
def test_csv_of_another_shape_is_an_error(text) -> None:
    with pytest.raises(ToolOutputError):
        read(text, CSV)


def test_csv_without_rows_has_no_findings() -> None:
    assert read("", CSV) == RawReport()


# SARIF, by its own module


def test_sarif_joins_runs() -> None:
    result = {
        "ruleId": "r",
        "message": {"text": "m"},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {"startLine": 1}}}
        ],
    }
    run = {"tool": {"driver": {"name": "t"}}, "results": [result]}
    text = json.dumps({"version": "2.1.0", "runs": [run, run]})
    assert read(text, SARIF).findings == (finding(level="warning"),) * 2


def test_broken_sarif_is_an_error() -> None:
    with pytest.raises(ToolOutputError):
        read("{", SARIF)


# How much


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (JSON, json.dumps({"found": [{"file": "a", "line": 1}] * 4})),
        (CHECKSTYLE, checkstyle("<error line='1'/>" * 4)),
        (CSV, "a,1,2,f,101,4\n" * 2),
    ],
)
def test_more_findings_than_are_read_are_an_error(monkeypatch, output, text) -> None:
    monkeypatch.setattr(formats, "MAX_FINDINGS", 4)
    assert len(read(text, output).findings) == 4
    monkeypatch.setattr(formats, "MAX_FINDINGS", 3)
    with pytest.raises(ToolOutputError, match="more than 3 findings"):
        read(text, output)


# Anything at all

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["found", "file", "line", "end", "rule", "text", "level", "unread"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_json_is_read_or_refused(value) -> None:
    try:
        found = read(json.dumps(value), JSON)
    except ToolOutputError:
        return
    assert msgspec.json.decode(msgspec.json.encode(found), type=RawReport) == found


@given(
    st.sampled_from([JSON, CHECKSTYLE, CSV, SARIF]),
    st.binary() | st.text().map(lambda text: text.encode("utf-8", "replace")),
)
def test_any_bytes_are_read_or_refused(output, content) -> None:
    try:
        read(content, output)
    except ToolOutputError:
        return
