import gzip
import json
from pathlib import Path

import pytest

from crscore.bench import read_findings, read_golden
from crscore.bench.formats import name_change
from crscore.errors import InputError

GOLDEN = {"id": "a", "problems": [{"text": "It leaks."}]}


def write(folder: Path, content: str, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no problem"),
        ('[{"problems": [{"text": "x"}]}]', "the id of its change is missing"),
        ('{"id": "a", "problems": [{"severity": "low"}]}', "text is missing"),
        ('{"id": "a", "problems": [{"text": "x", "severity": "odd"}]}', "severity is 'odd'"),
        (
            '{"id": "a", "problems": [{"text": "x", "line": "7"}]}',
            "expected a line >= 1",
        ),
        ('{"id": "a", "problems": [7]}', "expected an object"),
        ('{"problems": ["x"]}', "the id of its change is missing"),
        ("{broken", "the line is not valid JSON"),
    ],
)
def test_wrong_golden_set_gets_one_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_golden(write(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_other_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(json.dumps(GOLDEN).encode("utf-16"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_golden(path)


def test_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    content = '{"id": "a", "problems": [{"text": "It leaks \\ud83d", "path": "src\\\\a.py"}]}'
    (problem,) = read_golden(write(tmp_path, content)).changes[0].problems
    assert (problem.text, problem.path) == ("It leaks ?", "src/a.py")


def test_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crscore.bench.formats.MAX_BYTES", 2**20)
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (2**20 + 1), 1))
    with pytest.raises(InputError, match="too large"):
        read_golden(path)


@pytest.mark.parametrize(
    "content",
    [
        '{"id": "o/r#7", "problems": [{"text": "It leaks.", "severity": "major"}]}',
        '[{"url": "https://github.com/o/r/pull/7", '
        '"comments": [{"comment": "It leaks.", "severity": "High"}]}]',
        '{"pull": "https://github.com/o/r/pull/7", "comment": "It leaks.", "severity": "error"}',
    ],
)
def test_layouts_of_golden_sets(tmp_path: Path, content: str) -> None:
    (change,) = read_golden(write(tmp_path, content)).changes
    assert change.id == "o/r#7"
    assert [(row.text, row.severity) for row in change.problems] == [("It leaks.", "high")]


@pytest.mark.parametrize(
    ("written", "severity"),
    [
        ("P0", "critical"), ("p1", "high"), ("P2", "medium"), ("P3", "low"), ("P4", "low"),
        ("S0", "critical"), ("S1", "critical"), ("s2", "high"), ("S3", "medium"), ("S4", "low"),
        ("SEV-1", "critical"), ("sev2", "high"), ("Sev 3", "medium"), (" Highest ", "critical"),
        ("lowest", "low"), (None, ""),
    ],
)  # fmt: skip
def test_severities_of_trackers_are_known(
    tmp_path: Path, written: str | None, severity: str
) -> None:
    row = {"id": "a", "problems": [{"text": "It leaks.", "severity": written}]}
    (change,) = read_golden(write(tmp_path, json.dumps(row))).changes
    assert change.problems[0].severity == severity


def test_problem_listed_twice_is_merged_with_a_note(tmp_path: Path) -> None:
    problem = {"text": "x", "severity": "low", "also_right": True}
    rows = [
        {"id": "a", "problems": [problem, {"text": "y"}, {"text": "x", "severity": "high"}]},
        {"id": "a", "problems": [{"text": "y"}, {"text": "y", "path": "a.py"}]},
    ]
    golden = read_golden(write(tmp_path, "\n".join(map(json.dumps, rows))))
    assert golden.notes == ("merged: 3 problems of a that rows.jsonl lists twice",)
    merged = [
        (row.text, row.path, row.severity, row.also_right) for row in golden.changes[0].problems
    ]
    assert sorted(merged, key=str) == [
        ("x", None, "high", False), ("y", "a.py", "", False),
    ]  # fmt: skip


def test_order_of_a_set_does_not_change_its_hash(tmp_path: Path) -> None:
    rows = [json.dumps({"id": name, "problems": ["x", "y"]}) for name in "ab"]
    turned = [json.dumps({"id": name, "problems": ["y", "x"]}) for name in "ba"]
    first = read_golden(write(tmp_path, "\n".join(rows)))
    assert first.sha256 == read_golden(write(tmp_path, "\n".join(turned))).sha256


def test_layouts_of_findings(tmp_path: Path) -> None:
    github = [
        {
            "id": 1,
            "url": "https://api.github.com/repos/o/r/pulls/comments/1",
            "pull_request_url": "https://api.github.com/repos/o/r/pulls/7",
            "user": {"login": "helper[bot]"},
            "body": "It leaks.",
            "path": "a.py",
            "line": None,
            "original_line": 3,
        }
    ]
    by_change = {"https://github.com/o/r/pull/7": {"helper": [{"text": "It leaks."}]}}
    ghost = [github[0] | {"user": None, "html_url": "https://github.com/o/r/pull/7#discussion_r1"}]
    (finding,) = read_findings(write(tmp_path, json.dumps(ghost), "rows.json"))
    assert (finding.change, finding.bot) == ("o/r#7", "ghost")
    for content, is_raw, line in ((github, True, 3), (by_change, False, None)):
        (finding,) = read_findings(write(tmp_path, json.dumps(content), "rows.json"))
        assert (finding.change, finding.bot, finding.raw) == ("o/r#7", "helper", is_raw)
        assert finding.line == line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"change": "a", "text": "x"}', "the bot is missing"),
        ('{"bot": "b", "text": "x"}', "the id of its change is missing"),
        ('{"change": "a", "bot": "b", "findings": [null]}', "text is missing"),
        (
            '{"change": "a", "bot": "b", "text": "x", "line": NaN}',
            "expected a line >= 1",
        ),
        (
            '{"change": "a", "bot": "b", "text": "x", "cost": "1 EUR"}',
            "cost is '1 EUR'; expected a",
        ),
        ('{"change": "a", "bot": "b", "text": "x", "seconds": -1}', "seconds is -1; expected a"),
        ("7", "expected an object, got int"),
        ('{"a": {"b": [{"text": "x"}], "c": "y"}}', "a: c: expected a list, got str"),
    ],
)
def test_wrong_finding_gets_one_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_findings(write(tmp_path, content))
    assert "\n" not in str(caught.value)


MARTIAN = {
    "https://github.com/o/r/pull/7": {
        "golden_comments": [{"comment": "It leaks.", "severity": "High", "category": "bug"}],
        "reviews": [
            {
                "tool": "helper",
                "pr_url": "https://github.com/copies/r-helper/pull/1",
                "review_comments": [{"path": "a.py", "line": 3, "body": "It leaks."}],
            },
            {
                "tool": "other",
                "review_comments": [{"body": "Two points."}],
                "candidates": ["It leaks.", "It is slow."],
            },
        ],
    }
}
AACR = [
    {
        "githubPrUrl": "https://github.com/o/r/pull/7",
        "project_main_language": "Go",
        "comments": [{"note": "It leaks.", "path": "a.go", "from_line": 2, "to_line": 4}],
    }
]
REVIEWBENCH = {
    "pr": {"repo": "https://github.com/o/r", "pr_number": 7},
    "agent": "helper",
    "findings": [
        {"file": "a.ts", "start_line": 2, "end_line": 4, "message": "It leaks.", "label": "TP"},
        {"file": "a.ts", "start_line": 9, "end_line": 9, "message": "Rename it.", "label": "FP"},
    ],
}
SARIF = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "linter"}},
            "results": [
                {
                    "message": {"text": "It leaks."},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "a.py"},
                                "region": {"startLine": 3},
                            }
                        }
                    ],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("document", "place", "language"),
    [
        (MARTIAN, (None, None), ""),
        (AACR, ("a.go", 4), "go"),
        (REVIEWBENCH, ("a.ts", 4), ""),
    ],
)
def test_published_golden_sets(
    tmp_path: Path, document: object, place: tuple[object, object], language: str
) -> None:
    (change,) = read_golden(write(tmp_path, json.dumps(document), "set.json")).changes
    (problem,) = change.problems
    assert (change.id, change.language, problem.text) == ("o/r#7", language, "It leaks.")
    assert (problem.path, problem.line) == place


def test_published_findings(tmp_path: Path) -> None:
    rows = read_findings(write(tmp_path, json.dumps(MARTIAN), "rows.json"))
    assert [(row.change, row.bot, row.text, row.raw) for row in rows] == [
        ("o/r#7", "helper", "It leaks.", True),
        ("o/r#7", "other", "It leaks.", False),
        ("o/r#7", "other", "It is slow.", False),
    ]
    rows = read_findings(write(tmp_path, json.dumps(REVIEWBENCH), "rows.json"))
    assert {(row.change, row.bot, row.line) for row in rows} == {
        ("o/r#7", "helper", 4),
        ("o/r#7", "helper", 9),
    }


def test_sarif_is_named_after_its_change(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(SARIF), "change-1.sarif")
    (finding,) = read_findings(path)
    assert (finding.change, finding.bot, finding.path) == ("change-1", "linter", "a.py")
    (change,) = read_golden(path).changes
    assert (change.id, change.problems[0].line) == ("change-1", 3)


def test_folder_is_one_set(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, json.dumps({**GOLDEN, "id": name}), f"{name}.json")
    write(tmp_path, "no data", "notes.txt")
    assert [change.id for change in read_golden(tmp_path).changes] == ["a", "b"]
    with pytest.raises(InputError, match="has no file x/"):
        read_golden(tmp_path, pattern="x/*")


def test_merge_requests_have_another_mark() -> None:
    assert name_change("https://gitlab.com/g/s/p/-/merge_requests/3") == "g/s/p!3"


def test_excluded_problems_and_copies_that_differ_in_layout(tmp_path: Path) -> None:
    problems = [
        {"text": "It leaks.", "excluded": True},
        {"text": "it  leaks", "severity": "P1"},
        {"text": "It hangs.", "status": "excluded"},
    ]
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps({"id": "1", "problems": problems}) + "\n")
    golden = read_golden(path)
    found = {(p.text, p.severity, p.excluded) for p in golden.changes[0].problems}
    assert found == {("it  leaks", "high", False), ("It hangs.", "", True)}
    assert "1 problem" in golden.notes[0]


@pytest.mark.parametrize("is_first", [True, False])
def test_same_text_without_a_path_keeps_the_path_and_the_severity(
    tmp_path: Path, is_first: bool
) -> None:
    placed = {"text": "It leaks.", "severity": "low", "path": "a.py", "start_line": 2, "line": 4}
    rows = [placed, {"text": "it leaks", "severity": "P0"}, {**placed, "path": "b.py"}]
    problems = rows if is_first else rows[::-1]
    golden = read_golden(write(tmp_path, json.dumps({"id": "a", "problems": problems})))
    found = {(p.path, p.start_line, p.line, p.severity) for p in golden.changes[0].problems}
    assert found == {("a.py", 2, 4, "critical"), ("b.py", 2, 4, "low")}
    assert golden.notes == ("merged: 1 problem of a that rows.jsonl lists twice",)


def test_time_and_price_of_a_finding_or_of_its_run(tmp_path: Path) -> None:
    row = {"change": "a", "bot": "b"}
    rows = [
        {**row, "text": "It leaks.", "duration_ms": 2500, "price": 0.02},
        {**row, "findings": ["It leaks.", {"text": "It hangs."}], "seconds": 3, "cost": 1},
        {"change": "a", "reviews": [{"bot": "b", "candidates": ["It leaks."], "seconds": 7}]},
        {**row, "text": "It leaks."},
    ]
    found = read_findings(write(tmp_path, "\n".join(map(json.dumps, rows))))
    amounts = [(row.seconds, row.cost) for row in found]
    assert amounts == [(2.5, 0.02), (3, 1), (3, 1), (7, None), (None, None)]


def test_line_of_the_old_file_is_not_used_for_the_new_file(tmp_path: Path) -> None:
    comment = {"html_url": "https://github.com/o/r/pull/7#discussion_r1", "user": {"login": "b"},
               "body": "It leaks.", "path": "a.py", "line": 3}  # fmt: skip
    rows = [json.dumps({**comment, "side": side}) for side in ("LEFT", "RIGHT")]
    found = read_findings(write(tmp_path, "\n".join(rows)))
    assert [(row.path, row.line) for row in found] == [("a.py", None), ("a.py", 3)]
