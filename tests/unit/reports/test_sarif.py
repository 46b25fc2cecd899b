import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from crscore.records import Analysis, Comment, Finding, ReferenceKind, Result, Severity, Side
from crscore.reports import sarif
from crscore.static_analysis import sarif as reader
from crscore.version import __version__
from tests.helpers import results

TOOL = Path(__file__).parents[2] / "data" / "sarif"
MAKERS = {
    "small": results.small,
    "review": results.review,
    "topics": results.topics,
    "abstained": results.abstained,
    "hostile": results.hostile,
    "large": results.large,
    "flagged": results.flagged,
    "useful": results.hostile_useful,
    "decided": results.hostile_decided,
    "learned": lambda: results.learned(results.hostile()),
}


def published(name: str) -> Path:
    """Find a file of the makers' package, which `npm ci --ignore-scripts` puts into `TOOL`."""
    actual = sorted(TOOL.glob(f"node_modules/@microsoft/sarif-multitool-*/{name}"))
    assert actual, f"run `npm ci --ignore-scripts` in {TOOL}"
    return actual[0]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    document = json.loads(published("sarif-2.1.0.json").read_text("utf-8"))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def render(*given_: Result) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(sarif.create()(given_), parse_constant=refuse)


def run_of(result: Result) -> Any:
    (run,) = render(result)["runs"]
    return run


def notices(run: Any) -> list[tuple[str, str]]:
    (invocation,) = run["invocations"]
    notes = invocation["toolExecutionNotifications"]
    return [(item["level"], item["message"]["text"]) for item in notes]


def unaddressed(*references: Any, diff: Any = None) -> Result:
    """A review of one sentence that addresses nothing."""
    comments = (results.Said(Comment(body="b"), ("Nice.",)),)
    diff = diff or results.diff_of(results.CLIENT)
    return results.make(diff, references, comments, [[0.1]] * len(references))


def test_properties_have_usefulness_where_it_is_known() -> None:
    properties = run_of(results.useful(results.review()))["properties"]
    assert properties["usefulness"]["standing"] == 83
    assert run_of(results.review())["properties"]["usefulness"] is None


def test_remark_is_a_result_at_its_line_with_its_level() -> None:
    praise = results.make_reading(actionable=0.1)
    first, second, third, *_ = run_of(results.useful(results.review(), praise))["results"]
    assert [item["ruleId"] for item in (first, second, third)] == ["remark"] * 3
    # The first of six is not actionable; the others are major, minor and nit.
    assert [item["level"] for item in (first, second, third)] == ["warning", "note", "note"]
    assert first["message"]["text"] == "Why three retries?"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/shop/client.py"
    assert place["region"] == {"startLine": 13, "endLine": 15}
    assert first["properties"]["importance"] == "major"


def test_refuted_remark_is_a_note_with_the_fact_and_what_proves_it() -> None:
    run = run_of(results.decided())
    first, *others = run["results"]
    assert (first["ruleId"], first["level"], first["rank"]) == ("refuted-remark", "note", 0.0)
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "refuted-remark"
    assert first["message"]["text"] == (
        "Says that `fetch` tries three times; the code says: `fetch` tries `retries` times in "
        "line 13."
    )
    places = [*first["locations"], *first["relatedLocations"]]
    assert [item["physicalLocation"]["region"]["startLine"] for item in places] == [13, 13]
    assert first["properties"]["remark"] == "Why three retries?"
    assert "Why three retries?" not in [item["message"]["text"] for item in others]


def test_confirmed_remark_has_a_fact_and_an_unproven_remark_has_none() -> None:
    _, confirmed, unproven, *_ = run_of(results.decided())["results"]
    assert confirmed["properties"] == {
        "stance": "asks for a change",
        "importance": "critical",
        "verdict": "confirmed",
        "fact": "`fetch` catches `Exception`.",
    }
    assert list(unproven["properties"]) == ["stance", "importance"]


def test_remark_without_a_place_is_at_the_claim_that_it_is_about() -> None:
    first = run_of(results.useful(results.small()))["results"][0]["locations"][0]
    region = {"startLine": 11, "endLine": 16}
    assert first["physicalLocation"]["region"] == region


# Validity


@pytest.mark.parametrize("name", MAKERS)
def test_document_keeps_to_the_published_schema(name: str, schema: Draft202012Validator) -> None:
    schema.validate(render(MAKERS[name]()))


def test_several_results_keep_to_the_published_schema(schema: Draft202012Validator) -> None:
    schema.validate(render(*(make() for make in MAKERS.values())))


def test_published_schema_refuses_what_is_wrong(schema: Draft202012Validator) -> None:
    document = render(results.review())
    document["runs"][0]["results"][0]["level"] = "dreadful"
    assert not schema.is_valid(document)


def complaints(document: Any, folder: Path) -> list[str]:
    """Ask the makers' own validator, with the rules of GitHub's code scanning."""
    program = published("Sarif.Multitool")
    program.chmod(0o755)
    target = folder / "report.sarif"
    target.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run(
        [program, "validate", target, "--rule-kind", "Sarif;Ghas", "--level", "Error"],
        env={"PATH": os.environ["PATH"], "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
        | {"HOME": str(folder), "DOTNET_CLI_TELEMETRY_OPTOUT": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 files scanned" in done.stdout, done.stdout + done.stderr
    return re.findall(r": error (\w+): (.*)", done.stdout)


def test_validator_finds_what_github_rejects_and_nothing_in_our_reports(tmp_path: Path) -> None:
    ours = render(*(make() for make in MAKERS.values()))
    (wrong,) = render(results.review())["runs"]
    first, second, *_ = wrong["results"]
    first["locations"] = []
    second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "a b.py"
    # One start of the validator for both.
    found = complaints(ours | {"runs": [*ours["runs"], wrong]}, tmp_path)
    assert {"GH1015", "SARIF1002"} <= {rule for rule, _ in found}
    assert {text.partition(".")[0] for _, text in found} == {f"runs[{len(ours['runs'])}]"}


# Results


def test_only_unaddressed_points_that_count_are_results() -> None:
    # By hand from the matrix: rows 2, 5 and 6 stay below the threshold; row 7 does not count.
    run = run_of(results.review())
    assert [
        (item["ruleId"], item["level"], item["message"]["text"][:20]) for item in run["results"]
    ] == [
        ("unaddressed-implication", "note", "`fetch` returns `Non"),
        ("unaddressed-claim", "note", "A setting `proxy` is"),
        ("unaddressed-claim", "note", "The file `src/shop/l"),
    ]


def test_result_is_complete() -> None:
    assert run_of(results.review())["results"][0] == {
        "ruleId": "unaddressed-implication",
        "ruleIndex": 1,
        "level": "note",
        "message": {
            "text": "`fetch` returns `None` when all attempts fail, so callers must handle a "
            "missing answer."
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "src/shop/client.py", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 17, "endLine": 17},
                }
            }
        ],
        "partialFingerprints": {
            # sha256 of kind, path and text with NULs between, by the shell's sha256sum.
            "primaryLocationLineHash": "14988b2e8ee5e040:1"
        },
        "rank": 90.0,
        "properties": {"source": "structural"},
    }


def test_unaddressed_topic_is_one_alert_at_its_lines_in_the_new_version() -> None:
    actual = run_of(results.topics())["results"]
    assert [(item["ruleId"], item["message"]["text"]) for item in actual] == [
        (
            "unaddressed-claim",
            "Nobody mentioned `HostAuthorization`, new, 110 lines: `HostAuthorization` is new.",
        ),
        (
            "unaddressed-claim",
            "Nobody mentioned `old_fetch`, removed, 2 lines: `old_fetch` was removed.",
        ),
        ("unaddressed-claim", "The value of `timeout` is 30."),
    ]
    places = [item["locations"][0]["physicalLocation"] for item in actual]
    assert [(item["artifactLocation"]["uri"], item.get("region")) for item in places] == [
        ("src/shop/client.py", {"startLine": 12, "endLine": 122}),
        # The file is gone.
        ("src/shop/legacy.py", None),
        ("config/settings.toml", {"startLine": 2, "endLine": 2}),
    ]
    assert not any("relatedLocations" in item for item in actual)


def test_rule_index_names_the_rule() -> None:
    run = run_of(results.review())
    rules = run["tool"]["driver"]["rules"]
    assert [rules[item["ruleIndex"]]["id"] for item in run["results"]] == [
        item["ruleId"] for item in run["results"]
    ]
    assert [rule["id"] for rule in rules] == [
        "unaddressed-claim",
        "unaddressed-implication",
        "unaddressed-issue",
        "remark",
        "refuted-remark",
    ]


def test_issue_comes_first_and_warns() -> None:
    heavy = results.reference("Heavy claim.", ("src/shop/client.py", 11, 11), weight=1.0)
    issue = results.reference(
        "Light issue.", ("src/shop/client.py", 15, 15), kind=ReferenceKind.ISSUE, weight=0.1
    )
    actual = run_of(unaddressed(heavy, issue))["results"]
    assert [(item["message"]["text"], item["level"]) for item in actual] == [
        ("Light issue.", "warning"),
        ("Heavy claim.", "note"),
    ]


def test_issue_in_several_places_is_an_alert_in_each() -> None:
    path = "src/shop/client.py"
    issue = results.reference("Unsafe.", (path, 11, 11), (path, 15, 16), kind=ReferenceKind.ISSUE)
    actual = run_of(unaddressed(issue))["results"]
    regions = [item["locations"][0]["physicalLocation"]["region"] for item in actual]
    assert [region["startLine"] for region in regions] == [11, 15]
    hashes = [item["partialFingerprints"]["primaryLocationLineHash"] for item in actual]
    assert [text.rpartition(":")[2] for text in hashes] == ["1", "2"]


def test_driver_has_name_and_version() -> None:
    driver = run_of(results.review())["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("crscore", __version__)


def test_abstention_has_no_results_but_says_why() -> None:
    run = run_of(results.abstained())
    assert run["results"] == []
    assert notices(run) == [("warning", "No score: there are no sentences to compare with.")]


def test_notes_are_reported() -> None:
    assert notices(run_of(results.review())) == [
        ("note", "One binary file was left out."),
        ("note", "One code block was kept apart from the sentences."),
    ]


# Fingerprints


def fingerprints(result: Result) -> list[str]:
    actual = run_of(result)["results"]
    return [item["partialFingerprints"]["primaryLocationLineHash"] for item in actual]


def test_fingerprint_stays_when_lines_move() -> None:
    before = results.reference("A claim.", ("a.py", 3, 4))
    after = results.reference("A claim.", ("a.py", 30, 41))
    assert fingerprints(unaddressed(before)) == fingerprints(unaddressed(after))


def test_fingerprint_of_a_topic_stays_when_it_grows() -> None:
    def of(lines: int, **changes: Any) -> list[str]:
        topic = replace(results.topic("A.run", ("a.py", 3, 3 + lines), lines=lines), **changes)
        kind = ReferenceKind.CLAIM if lines < 9 else ReferenceKind.IMPLICATION
        reference = results.reference(f"{lines} lines.", ("a.py", 3, 4), kind=kind, topic=topic)
        assert run_of(unaddressed(reference))["results"][0]["ruleId"] == "unaddressed-claim"
        return fingerprints(unaddressed(reference))

    assert of(5) == of(50)
    assert of(5) != of(5, name="B.run")
    assert of(5) != of(5, noun="test")


def test_fingerprints_tell_file_text_and_kind_apart() -> None:
    created = (
        results.reference("A claim.", ("a.py", 3, 4)),
        results.reference("A claim.", ("b.py", 3, 4)),
        results.reference("B claim.", ("a.py", 3, 4)),
        results.reference("A claim.", ("a.py", 3, 4), kind=ReferenceKind.ISSUE),
        results.reference("A claim."),
    )
    assert len(set(fingerprints(unaddressed(*created)))) == len(created)


def test_fingerprints_of_equal_points_are_numbered() -> None:
    twin = results.reference("A claim.", ("a.py", 3, 4))
    first, second = fingerprints(unaddressed(twin, twin))
    assert first.removesuffix(":1") == second.removesuffix(":2")


# Several results


def test_runs_are_distinguished_by_their_category() -> None:
    item, other = render(results.review(), results.abstained())["runs"]
    assert run_of(results.review())["automationDetails"]["id"].rpartition("/")[0] == "crscore"
    assert item["automationDetails"]["id"].rpartition("/")[0] == "crscore/change-1"
    assert other["automationDetails"]["id"].rpartition("/")[0] == "crscore/change-2"


# Limits


def test_results_over_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    run = run_of(results.large(20))
    # Ten of twenty are not addressed, the heaviest first.
    assert [item["message"]["text"][14:24] for item in run["results"]] == [
        "value_1_3`",
        "value_3_3`",
        "value_5_3`",
    ]
    assert notices(run)[0][1].startswith("Left out the 7 results of least weight")


def test_notes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_NOTES", 1)
    assert len(notices(run_of(results.review()))) == 1


# Hostile text


def test_links_in_texts_are_escaped() -> None:
    text = "See [here](https://evil.example/x) and [0](1), but `table[0]` stays."
    actual = run_of(unaddressed(results.reference(text)))["results"][0]["message"]["text"]
    assert actual == r"See \[here\](https://evil.example/x) and \[0\](1), but `table[0]` stays."


def test_every_hostile_text_is_cleaned() -> None:
    for run in render(results.hostile_useful(), results.learned(results.hostile()))["runs"]:
        shown = [item["message"]["text"] for item in run["results"]]
        shown += [text for _, text in notices(run)]
        assert len(shown) > 3
        assert not any(re.search(r"(?<!\\)\[[^\[\]\\]*\]\(", text) for text in shown)
        shown += [item["properties"].get("source", "") for item in run["results"]]
        for text in shown:
            assert not set(text) & set("\x00\x1b\x9b\u202e\u200b\u2028\ud800\n")


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a.py", "src/a.py"),
        ("a b/c#d?e%20.py", "a%20b/c%23d%3Fe%2520.py"),
        ("c:/x.py", "c%3A/x.py"),
        ("//host/x.py", "host/x.py"),
        ("größe.py", "gr%C3%B6%C3%9Fe.py"),
        ("a\n\u202e\ud800.py", "a%0A%E2%80%AE%ED%A0%80.py"),
    ],
)
def test_path_is_written_as_a_relative_reference(path: str, uri: str) -> None:
    actual = run_of(unaddressed(results.reference("A claim.", (path, 1, 1))))["results"][0]
    assert actual["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_scores_are_kept_for_other_readers() -> None:
    properties = run_of(results.flagged())["properties"]
    assert properties["signature"] == results.LEARNED
    assert properties["scores"]["relevance"] == pytest.approx(results.flagged().relevance)


# Back again


def read_back(*given_: Result) -> tuple[Any, ...]:
    written = sarif.create()(given_)
    return reader.read_sarif(written.encode(), source="crscore.sarif")


def test_written_report_is_read_back() -> None:
    (report,) = read_back(results.review())
    assert (report.tool, report.version, report.unparsed) == ("crscore", __version__, ())
    assert [
        (item.path, item.line, item.end_line, item.rule, item.level) for item in report.findings
    ] == [
        ("src/shop/client.py", 17, 17, "unaddressed-implication", "note"),
        ("config/settings.toml", 3, 3, "unaddressed-claim", "note"),
        ("src/shop/client.py", 0, 0, "unaddressed-claim", "note"),
    ]


TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=40)
TEXT |= st.text(r"[]()\1a", max_size=20)


@given(TEXT, st.text("ab/ #%é[]()", min_size=1, max_size=12), st.integers(0, 99))
def test_text_path_and_line_come_back(text: str, path: str, line: int) -> None:
    if not re.search(r"[ab]", path):
        return
    (report,) = read_back(unaddressed(results.reference(text, (path, line, line))))
    (actual,) = report.findings
    assert actual.message.split() == (text.split() or ["A", "point", "without", "words."])
    assert (actual.line, actual.end_line) == (line, line)
    expected = "/".join(step for step in path.split("/") if step)
    assert actual.path == expected


@pytest.mark.parametrize(
    "text",
    [
        "See [here](https://evil.example/x) and [0](1), but `table[0]` stays.",
        "Nested: [[a](0)](1), [a[b](c](2).",
        r"Escaped: \[x\](3), \\[x\\](https://evil.example/y); the pattern `\[a-z\]`.",
        r"The folder C:\src\[0] has no link.",
    ],
)
def test_links_and_backslashes_come_back_as_they_were(text: str) -> None:
    reference = results.reference(text, ("src/shop/client.py", 17, 17))
    result = unaddressed(reference)
    (report,) = read_back(result)
    (analysis,) = reader.find_runs([report], result.diff)
    assert [(item.message, item.text) for item in analysis.findings] == [(text, text)]


def test_old_side_and_new_side_are_read_back_in_the_new_version() -> None:
    reference = results.reference("Gone.", ("src/shop/client.py", 41, 41), side=Side.OLD)
    (report,) = read_back(unaddressed(reference))
    # Old line 41 is the removed `assert body`; `return json.loads(body)` now stands at 46.
    assert (report.findings[0].path, report.findings[0].line) == ("src/shop/client.py", 46)


def test_empty_text_still_has_a_message() -> None:
    blank = replace(results.reference("x"), text="\x00")
    actual = run_of(unaddressed(blank))["results"][0]
    assert actual["message"]["text"] == "A point without words."


@pytest.mark.parametrize("severity", list(Severity))
def test_issue_has_the_severity_that_its_tool_states(severity: Severity) -> None:
    small = results.small()
    issue = replace(small.references[0], kind=ReferenceKind.ISSUE)
    path = issue.spans[0].path
    finding = Finding(
        tool="ruff", rule="r", path=path, line=1, end_line=1, message="m", text=issue.text,
        severity=severity, counted=True,
    )  # fmt: skip
    changed = replace(unaddressed(issue), analysis=Analysis(findings=(finding,)))
    assert [item["level"] for item in run_of(changed)["results"]] == [severity.value]
