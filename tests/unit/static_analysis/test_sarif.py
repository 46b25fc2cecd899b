import contextlib
import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import ToolOutputError
from crscore.static_analysis import sarif
from crscore.static_analysis.reports import RawFinding, RawReport
from crscore.static_analysis.wording import shorten
from tests.helpers.growth import growth

DATA = Path(__file__).parents[2] / "data" / "sarif"


def read(*results: dict[str, Any], run: dict[str, Any] | None = None) -> RawReport:
    """Read a log of one run with these results."""
    tool = {"driver": {"name": "probe", "version": "1.2"}}
    log = {"version": "2.1.0", "runs": [{"tool": tool, "results": list(results)} | (run or {})]}
    (report,) = sarif.read_sarif(json.dumps(log).encode(), source="probe")
    return report


def one(result: dict[str, Any], run: dict[str, Any] | None = None) -> RawFinding:
    (finding,) = read(result, run=run).findings
    return finding


def at(uri: str, region: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri} | more}
    if region is not None:
        physical["region"] = region
    return [{"physicalLocation": physical}]


# What tools and CI files say


def test_codeql_rules_of_extensions_are_found() -> None:
    (report,) = sarif.read_sarif((DATA / "codeql.sarif").read_bytes(), source="codeql.sarif")
    assert report == RawReport(
        tool="CodeQL",
        version="2.19.3",
        findings=(
            RawFinding(
                path="shop/orders.py",
                rule="py/sql-injection",
                message="This SQL query depends on a user-provided value.",
                line=41,
                end_line=43,
                level="warning",
            ),
            RawFinding(
                path="shop/web shop.py",
                rule="py/unused-local-variable",
                message="The value of 'total' is never used in {close}.",
                line=9,
                end_line=9,
                level="note",
            ),
        ),
    )


def test_eslint_parse_error_is_an_unread_file_and_no_finding() -> None:
    (report,) = sarif.read_sarif((DATA / "eslint.sarif").read_bytes(), source="eslint.sarif")
    assert report.unparsed == ("web/broken.js",)
    assert [(findings.rule, findings.suppressed) for findings in report.findings] == [
        ("eqeqeq", False),
        ("no-console", True),
    ]


def test_ruff_output_is_read(tmp_path: Path) -> None:
    (tmp_path / "s0001.py").write_text("import os\n\n\nprint(f'{1}', undefined)\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=F"),
            *("--output-format=sarif", "s0001.py"),
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    (report,) = sarif.read_sarif(done.stdout, source="ruff")
    assert report.tool == "ruff"
    assert [(findings.rule, findings.line, findings.level) for findings in report.findings] == [
        ("F401", 1, "error"),
        ("F821", 4, "error"),
    ]
    names = {findings.path for findings in report.findings}
    assert names == {f"{tmp_path}/s0001.py"}


def test_runs_are_reports_of_their_own() -> None:
    runs = [{"tool": {"driver": {"name": name}}, "results": []} for name in ("a", "b")]
    reports = sarif.read_sarif(json.dumps({"version": "2.1.0", "runs": runs}).encode(), source="x")
    assert [report.tool for report in reports] == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_unicode_encodings_are_read(encoding: str) -> None:
    log = {"version": "2.1.0", "runs": [{"results": [{"message": {"text": "Größe → 変更"}}]}]}
    content = json.dumps(log, ensure_ascii=False).encode(encoding)
    assert sarif.read_sarif(content, source="x")[0].findings[0].message == "Größe → 変更"


def test_invalid_bytes_are_replaced() -> None:
    content = b'{"version": "2.1.0", "runs": [{"results": [{"message": {"text": "a\xff"}}]}]}'
    assert (
        sarif.read_sarif(content, source="x")[0].findings[0].message == "a\N{REPLACEMENT CHARACTER}"
    )


def test_lone_surrogate_is_replaced() -> None:
    tool = {"driver": {"name": "t\ud800"}}
    report = read({"message": {"text": "Bad \ud800."}, "ruleId": "\udfff"}, run={"tool": tool})
    (findings,) = report.findings
    assert (findings.message, findings.rule, report.tool) == ("Bad ?.", "?", "t?")


# Which results are findings


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        ("fail", "error"),
        ("review", "error"),
        ("pass", None),
        ("open", None),
        ("informational", None),
        ("notApplicable", None),
    ],
)
def test_kind_decides_whether_a_result_is_a_finding(kind: str, level: str | None) -> None:
    findings = read({"kind": kind, "level": "error", "message": {"text": "x"}}).findings
    assert [finding.level for finding in findings] == ([] if level is None else [level])


def test_result_absent_since_the_baseline_is_left_out() -> None:
    states = [None, "new", "unchanged", "updated", "absent"]
    results = [{"message": {"text": "x"}, "baselineState": state} for state in states]
    assert [findings.baseline for findings in read(*results).findings] == states[:4]


@pytest.mark.parametrize(
    ("states", "suppressed"),
    [
        ([], False),
        ([None], True),
        (["accepted"], True),
        (["underReview"], False),
        (["rejected"], False),
        (["accepted", "rejected"], False),
        ([None, "underReview"], False),
        ([None, "accepted"], True),
    ],
)
def test_suppression_counts_without_an_objection(states, suppressed) -> None:
    given_ = [{"kind": "external"} | ({"status": state} if state else {}) for state in states]
    assert one({"message": {"text": "x"}, "suppressions": given_}).suppressed is suppressed


# Level


@pytest.mark.parametrize(
    ("result", "rule", "level"),
    [
        ({}, {}, "warning"),
        ({"level": "error"}, {"defaultConfiguration": {"level": "note"}}, "error"),
        ({}, {"defaultConfiguration": {"level": "note"}}, "note"),
        ({"level": "none"}, {}, "note"),
        ({"level": "Error"}, {}, "error"),
        ({"level": "dreadful"}, {}, "warning"),
    ],
)
def test_level_comes_from_the_result_then_its_rule(result, rule, level) -> None:
    run = {"tool": {"driver": {"rules": [{"id": "R1"} | rule]}}}
    assert one({"ruleId": "R1", "message": {"text": "x"}} | result, run).level == level


# Rules


RULES = {
    "tool": {
        "driver": {
            "rules": [
                {"id": "A", "shortDescription": {"text": "short a"}},
                {"id": "B", "shortDescription": {"text": "short b"}},
            ]
        },
        "extensions": [
            {
                "name": "plugin",
                "rules": [{"id": "C", "shortDescription": {"text": "short c"}}],
            }
        ],
    }
}


@pytest.mark.parametrize(
    ("result", "rule", "message"),
    [
        ({"ruleId": "B"}, "B", "short b"),
        ({"rule": {"id": "B"}}, "B", "short b"),
        ({"ruleId": "B/case", "ruleIndex": 1}, "B/case", "short b"),
        ({"ruleId": "B/case/7"}, "B/case/7", "short b"),
        # If the index and the id name different rules, the id counts.
        ({"ruleId": "B", "ruleIndex": 0}, "B", "short b"),
        ({"ruleId": "C"}, "C", "short c"),
        ({"ruleId": "unknown"}, "unknown", ""),
        ({"kind": "fail"}, "", ""),
    ],
)
def test_rule_is_looked_up(result, rule, message) -> None:
    found = one(result, RULES)
    assert (found.rule, found.message) == (rule, message)


# Messages


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"text": "plain", "markdown": "**bold**", "id": "m"}, "plain"),
        ({"markdown": "**bold**"}, "**bold**"),
        ({"id": "m", "arguments": ["x", "y"]}, "own x and y"),
        ({"id": "m", "arguments": ["x"]}, "own x and {1}"),
        ({"id": "m", "arguments": ["{1}", "y"]}, "own {1} and y"),
        ({"id": "nowhere"}, "the rule's words"),
        ({}, "the rule's words"),
        ({"text": "use {0} or {{x}}"}, "use {0} or {{x}}"),
        ({"text": "{0} in {{a}}", "arguments": ["x"]}, "x in {a}"),
    ],
)
def test_message_is_looked_up_and_filled(message, text) -> None:
    rule = {
        "id": "R",
        "shortDescription": {"text": "the rule's words"},
        "messageStrings": {"m": {"text": "own {0} and {1}"}},
    }
    run = {"tool": {"driver": {"rules": [rule]}}}
    assert one({"ruleId": "R", "message": message}, run).message == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See [here](0) and [there](12).", "See here and there."),
        ("See [a rule](https://x.example/a?b=1#c).", "See a rule."),
        (r"A [name \[0\]](3) is used.", "A name [0] is used."),
        ("Call handlers[0](1) twice.", "Call handlers[0](1) twice."),
        ("Array [0](x) stays.", "Array [0](x) stays."),
        (
            r"The text \[0\](1) is no link, \[a-z\] is a pattern.",
            r"The text [0](1) is no link, \[a-z\] is a pattern.",
        ),
    ],
)
def test_embedded_links_become_their_text(text: str, plain: str) -> None:
    assert one({"message": {"text": text}}).message == plain


# Places


@pytest.mark.parametrize(
    ("region", "lines"),
    [
        ({"startLine": 3, "endLine": 5}, (3, 5)),
        ({"startLine": 3}, (3, 3)),
        ({"startLine": 5, "endLine": 3}, (5, 5)),
        (None, (0, 0)),
        ({}, (0, 0)),
        ({"charOffset": 17, "charLength": 2}, (0, 0)),
        ({"startLine": -3, "endLine": 4}, (0, 0)),
        ({"startLine": 0}, (0, 0)),
        ({"startLine": "7"}, (0, 0)),
        ({"startLine": 7.5}, (0, 0)),
        ({"startLine": True}, (0, 0)),
        ({"startLine": 10**30}, (0, 0)),
        ({"startLine": 7, "endLine": None}, (7, 7)),
        ({"startLine": [7]}, (0, 0)),
    ],
)
def test_lines_are_those_of_the_region(region, lines) -> None:
    found = one({"message": {"text": "x"}, "locations": at("a.py", region)})
    assert (found.line, found.end_line) == lines


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 400])
def test_invalid_line_number_counts_as_absent(number: str) -> None:
    content = json.dumps(
        {"version": "2.1.0", "runs": [{"results": [{"locations": at("a", {"startLine": 0})}]}]}
    ).replace('"startLine": 0', f'"startLine": {number}')
    assert sarif.read_sarif(content.encode(), source="x")[0].findings[0].line == 0


def test_first_location_with_a_file_counts() -> None:
    locations = [{"logicalLocations": [{"name": "f"}]}, *at("a.py", {"startLine": 2}), *at("b.py")]
    assert one({"locations": locations}).path == "a.py"


def test_result_without_a_file_stays_without_one() -> None:
    found = one({"message": {"text": "No license in the repository"}, "locations": []})
    assert (found.path, found.line, found.end_line) == ("", 0, 0)


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ({"uri": "a.py", "uriBaseId": "%SRCROOT%"}, "a.py"),
        ({"uri": "a.py", "uriBaseId": "LIB"}, "src/lib/a.py"),
        ({"uri": "/w/a.py", "uriBaseId": "LIB"}, "/w/a.py"),
        ({"uri": "file:///w/a.py", "uriBaseId": "LIB"}, "/w/a.py"),
        ({"uri": "file:///home/me/shop/a.py"}, "a.py"),
        ({"uri": "a.py", "uriBaseId": "NOWHERE"}, "a.py"),
        ({"index": 1}, "src/b.py"),
        ({"index": 7}, ""),
        ({"index": -1}, ""),
    ],
)
def test_relative_bases_are_part_of_the_path(location, path) -> None:
    run = {
        "originalUriBaseIds": {
            "%SRCROOT%": {"uri": "file:///home/me/shop/"},
            "SRC": {"uri": "src/", "uriBaseId": "%SRCROOT%"},
            "LIB": {"uri": "lib", "uriBaseId": "SRC"},
        },
        "artifacts": [
            {"location": {"uri": "a.py"}},
            {"location": {"uri": "b.py", "uriBaseId": "SRC"}},
        ],
    }
    result = {"locations": [{"physicalLocation": {"artifactLocation": location}}]}
    assert one(result, run).path == path


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("file:///home/runner/work/shop/shop", "src/a.py"),
        ("file:///home/runner/work/shop/shop/app", "app/src/a.py"),
        ("file:///D:/a/shop/shop/app/lib", "app/lib/src/a.py"),
        ("/github/workspace/app", "app/src/a.py"),
        ("file:///builds/team/shop", "src/a.py"),
        ("file:///builds/team/shop/app", "app/src/a.py"),
        ("file:///home/vsts/work/1/s/app", "app/src/a.py"),
        ("file:///var/jenkins_home/workspace/shop/app", "app/src/a.py"),
        ("file:///home/me/shop/app", "src/a.py"),
        ("app", "app/src/a.py"),
    ],
)
def test_root_of_a_module_is_no_root_of_the_checkout(base: str, slash: str, path: str) -> None:
    run = {"originalUriBaseIds": {"%SRCROOT%": {"uri": base + slash}}}
    assert one({"locations": at("src/a.py", uriBaseId="%SRCROOT%")}, run).path == path
    if base.startswith("file:"):
        assert one({"locations": at(f"{base}/src/a.py")}, run).path == path


def test_bases_that_refer_to_each_other_end() -> None:
    bases = {"A": {"uri": "a/", "uriBaseId": "B"}, "B": {"uri": "b/", "uriBaseId": "A"}}
    found = one({"locations": at("x.py", uriBaseId="A")}, {"originalUriBaseIds": bases})
    assert found.path.endswith("a/x.py")
    assert len(found.path) < 100


# Files that the tool could not read, and tools that failed


def invocation(**note: Any) -> dict[str, Any]:
    return {
        "invocations": [
            {
                "executionSuccessful": False,
                "toolExecutionNotifications": [{"message": {"text": "cannot parse"}} | note],
            }
        ]
    }


@pytest.mark.parametrize(
    ("note", "unparsed"),
    [
        ({"level": "error", "locations": at("a.py")}, ("a.py",)),
        # PMD says so without a level.
        ({"exception": {"message": "ParseException"}, "locations": at("a.py")}, ("a.py",)),
        ({"level": "warning", "locations": at("a.py")}, ()),
        ({"level": "error"}, ()),
    ],
)
def test_notification_of_an_error_names_an_unread_file(note, unparsed) -> None:
    report = read({"message": {"text": "x"}}, run=invocation(**note))
    assert report.unparsed == unparsed


def test_failed_run_without_findings_is_never_clean() -> None:
    with pytest.raises(ToolOutputError, match="the tool failed: Cannot parse"):
        read(run=invocation(level="error"))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({}, "the tool failed$"),
        (
            {
                "toolExecutionNotifications": [{"message": {"text": ""}}],
                "toolConfigurationNotifications": [{"message": {"text": "no such rule"}}],
            },
            "the tool failed: No such rule",
        ),
    ],
)
def test_error_of_a_failed_run_has_the_reason(said: dict[str, Any], reason: str) -> None:
    with pytest.raises(ToolOutputError, match=reason):
        read(run={"invocations": [{"executionSuccessful": False} | said]})


def test_run_without_results_that_did_not_fail_is_clean() -> None:
    assert read(run={"results": None}).findings == ()


def test_results_in_another_file_are_never_clean() -> None:
    references = {"results": [{"location": {"uri": "results.json"}, "itemCount": 7}]}
    with pytest.raises(ToolOutputError, match="in another file"):
        read(run={"externalPropertyFileReferences": references})


# Not SARIF


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"Segmentation fault", "not JSON"),
        (b'{"version": "2.1.0", "runs": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"version": "2.1.0", "runs": ' + b'{"a":' * 100_000, "not JSON"),
        (b'{"version": "2.1.0", "x": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b"[]", "no list of runs"),
        (b'"2.1.0"', "no list of runs"),
        (b'{"runs": []}', "no version"),
        (b'{"version": "2.0.0", "runs": []}', "version '2.0.0'"),
        (b'{"version": 2.1, "runs": []}', "version 2.1"),
        (b'{"version": "2.1.0"}', "no list of runs"),
        (b'{"version": "2.1.0", "runs": null}', "no list of runs"),
    ],
)
def test_other_content_than_sarif_is_an_error_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(ToolOutputError, match=reason) as caught:
        sarif.read_sarif(content, source="ci.sarif")
    assert caught.value.tool == "ci.sarif"
    assert len(str(caught.value)) < 300


def test_invalid_results_are_dropped() -> None:
    results = ["x", None, {}, {"message": {"text": "Bad."}}]
    runs = [None, {"results": {}}, {"results": results}, {"results": None}, {"tool": {}}]
    content = json.dumps({"version": "2.1.0", "runs": runs}).encode()
    reports = sarif.read_sarif(content, source="ci.sarif")
    assert [len(report.findings) for report in reports] == [0, 0, 1, 0, 0]


def test_too_many_results_of_all_runs_together_are_refused(monkeypatch) -> None:
    run = {"results": [{"message": {"text": "x"}}] * 3}
    content = json.dumps({"version": "2.1.0", "runs": [run, run]}).encode()
    monkeypatch.setattr(sarif, "MAX_RESULTS", 6)
    assert len(sarif.read_sarif(content, source="x")) == 2
    monkeypatch.setattr(sarif, "MAX_RESULTS", 5)
    with pytest.raises(ToolOutputError, match="6 results and 5 is the maximum"):
        sarif.read_sarif(content, source="x")


def test_last_of_two_keys_with_one_name_counts() -> None:
    content = b'{"version": "1.0.0", "version": "2.1.0", "runs": []}'
    assert sarif.read_sarif(content, source="x") == ()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["error", "2.1.0", "fail", "%SRCROOT%", "a.py", "-1", "m", "{0}", "py/x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
VALID = [json.loads((DATA / name).read_text("utf-8")) for name in ("codeql.sarif", "eslint.sarif")]


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    own = []
    for key, value in items:
        own.append((*path, key))
        if isinstance(value, dict | list):
            own += places(value, (*path, key))
    return own


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    log = copy.deepcopy(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(places(log) or [("version",)]))
        node = log
        for key in path[:-1]:
            node = node[key]
        if draw(st.booleans()) and path[-1] != "version":
            del node[path[-1]]
        else:
            node[path[-1]] = draw(JSON)
    return json.dumps(log).encode()


@given(mutated() | st.binary(max_size=200))
def test_broken_files_raise_nothing_but_their_own_error(content: bytes) -> None:
    try:
        reports = sarif.read_sarif(content, source="x")
    except ToolOutputError:
        return
    for report in reports:
        for findings in report.findings:
            assert 0 <= findings.line <= findings.end_line
            assert isinstance(findings.path, str)
            assert findings.level in ("error", "warning", "note")
            assert len(shorten(findings.message)) <= 300


@given(st.data())
def test_damaged_bytes_raise_nothing_but_their_own_error(data: st.DataObject) -> None:
    content = bytearray((DATA / "codeql.sarif").read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ToolOutputError):
        sarif.read_sarif(bytes(content), source="x")


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["[", "[a", "[a](", "\\[", "\\[a\\]", "{0", "](1)", "[a](b:"])
def test_hostile_message_is_read_in_time(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = piece * (size // len(piece))
        return lambda: one({"message": {"text": text, "arguments": ["x"]}})

    assert growth(prepare, 50_000) < 12


@pytest.mark.growth
def test_large_file_is_read_in_time() -> None:
    result = {"message": {"text": "A [value](1) of 'x' is unused."}, "locations": at("a.py")}

    def prepare(size: int) -> Callable[[], object]:
        rules = [{"id": f"R{i}"} for i in range(size)]
        results = [result | {"ruleId": f"R{i}"} for i in range(size)]
        run = {"tool": {"driver": {"rules": rules}}, "results": results}
        content = json.dumps({"version": "2.1.0", "runs": [run]}).encode()
        return lambda: sarif.read_sarif(content, source="x")

    assert growth(prepare, 500) < 12


def test_placeholders_do_not_multiply() -> None:
    message = {"text": "{0}" * 100_000, "arguments": ["{0}" * 100_000]}
    told = one({"message": message, "locations": at("a.py", {"startLine": 1})}).message
    assert len(told) == 10_001
    assert told.endswith("…")


@pytest.mark.parametrize(
    ("uri", "base"),
    [
        ("a.py", {"uri": "d/" * 1000, "uriBaseId": "B"}),
        ("a.py", {"uri": "d" * 5000}),
        ("file:///w/" + "d" * 5000, {"uri": "file:///w/"}),
    ],
    ids=["base of itself", "base", "uri"],
)
def test_path_longer_than_a_system_allows_is_no_path(uri: str, base: dict[str, Any]) -> None:
    run = {"originalUriBaseIds": {"B": base}}

    assert one({"locations": at(uri, uriBaseId="B")}, run=run).path == ""
