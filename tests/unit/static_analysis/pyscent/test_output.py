import json
from dataclasses import replace

import pytest

from crscore.static_analysis.pyscent.__main__ import sarif
from crscore.static_analysis.pyscent.rules import RULES, FileReport, smell
from crscore.static_analysis.pyscent.source import Span
from crscore.static_analysis.sarif import read_sarif

SMELL = smell("long-method", Span(3, 60), "`f`", 51)
WHOLE = replace(SMELL, line=-1, end_line=-1)
TEXT = "`f` has 51 statements, more than 50, so it is hard to follow; split it up."


def logged(*reports: FileReport):
    return json.loads(sarif(reports, "1.0"))["runs"][0]


def test_sarif_lists_every_rule_once() -> None:
    rules = logged()["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)


def test_sarif_result_points_at_its_rule_and_lines() -> None:
    (result,) = logged(FileReport(path="a.py", smells=(SMELL,)))["results"]
    assert result == {
        "ruleId": "long-method",
        "ruleIndex": 0,
        "level": "note",
        "message": {"text": TEXT},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "a.py"},
                    "region": {"startLine": 3, "endLine": 60},
                }
            }
        ],
    }


def test_sarif_has_no_region_for_the_whole_file() -> None:
    (result,) = logged(FileReport(path="a.py", smells=(WHOLE,)))["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a.py", "src/a.py"),
        ("a b%20#?.py", "a%20b%2520%23%3F.py"),
        ("c:x.py", "c%3Ax.py"),
        ("ä\udcff.py", "%C3%A4%FF.py"),
    ],
)
def test_sarif_paths_are_percent_encoded(path: str, uri: str) -> None:
    (result,) = logged(FileReport(path=path, smells=(SMELL,)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_sarif_is_read_back_by_our_own_reader() -> None:
    reports = [
        FileReport(path="a.py", smells=(SMELL,)),
        FileReport(path="b.py", unparsed="it does not parse"),
    ]
    (back,) = read_sarif(sarif(reports, "1.0").encode(), source="pyscent")
    assert (back.tool, back.version, back.unparsed) == ("pyscent", "1.0", ("b.py",))
    (finding,) = back.findings
    assert (finding.path, finding.rule, finding.message) == ("a.py", "long-method", TEXT)
    assert (finding.line, finding.end_line, finding.level) == (3, 60, "note")
