from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from crscore import Scorer
from crscore.pull_request import overview
from crscore.pull_request.documents import for_hosts
from tests.helpers import overviews, results
from tests.unit.reports.test_sarif import complaints, published

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.records import Result

BEFORE = "def total(cart):\n    return sum(cart)\n"
AFTER = (
    "def total(cart, discount):\n    return sum(cart) * discount\n\n\n"
    "def clear(cart):\n    cart.pop()\n"
)
HEADER = "import os\n" * 5 + "\n\n"


def document(result: Result, **changes: object) -> Any:
    actual = overview.make_overview(overviews.pull(result), result, overviews.PEOPLE)
    return json.loads(for_hosts.render_sarif(overviews.replace(actual, **changes), result))


def run_of(result: Result, **changes: object) -> Any:
    (run,) = document(result, **changes)["runs"]
    return run


def scored(before: str, after: str) -> Result:
    """Score a review that addresses nothing, with the change as git would show it."""
    sides = (text.splitlines(keepends=True) for text in (before, after))
    text = "".join(difflib.unified_diff(*sides, "a/cart.py", "b/cart.py"))
    return Scorer(encoder="hashing", analyzers="none").score(text, "Have a nice weekend.")


MAKERS = [results.review, results.topics, results.abstained, results.hostile, results.large]


def test_documents_keep_to_schema_and_to_githubs_rules(tmp_path: Path) -> None:
    documents = [document(make(), missing=("2 files could not be read.",)) for make in MAKERS]
    schema = Draft202012Validator(json.loads(published("sarif-2.1.0.json").read_text("utf-8")))
    for actual in documents:
        schema.validate(actual)
    # One start of the validator for all.
    together = documents[0] | {"runs": [run for actual in documents for run in actual["runs"]]}
    assert complaints(together, tmp_path) == []


def test_all_pushes_have_one_category() -> None:
    ids = [run_of(make())["automationDetails"]["id"] for make in (results.review, results.topics)]
    # What follows the last slash is no part of the category.
    assert {item.rpartition("/")[0] for item in ids} == {"crscore/pull-request"}


def test_unaddressed_points_are_listed_with_what_could_not_be_read() -> None:
    run = run_of(results.review(), missing=("2 files could not be read.",))
    assert len(run["results"]) == 3
    (invocation,) = run["invocations"]
    notices = [item["message"]["text"] for item in invocation["toolExecutionNotifications"]]
    assert "Incomplete data: 2 files could not be read." in notices
    assert len(set(notices)) == len(notices)


def test_unreviewed_pull_request_has_no_alert() -> None:
    assert run_of(results.abstained())["results"] == []


def test_fingerprints_hold_when_the_next_push_shifts_the_file() -> None:
    first, second = (
        run_of(scored(head + BEFORE, head + AFTER))["results"] for head in ("", HEADER)
    )

    def find_values(find_values: Any, key: str) -> Any:
        return {
            item["partialFingerprints"]["primaryLocationLineHash"]: item[key]
            for item in find_values
        }

    assert first
    assert find_values(first, "ruleId") == find_values(second, "ruleId")
    starts = [
        {
            mark: places[0]["physicalLocation"]["region"]["startLine"]
            for mark, places in find_values(actual, "locations").items()
        }
        for actual in (first, second)
    ]
    assert {mark: line + 7 for mark, line in starts[0].items()} == starts[1]
