import json
from pathlib import Path

import pytest

from crscore.diff import parse
from crscore.errors import InputError
from crscore.records import ReferenceKind
from crscore_lab.study.data import study
from tests.helpers import study as helper


@pytest.mark.parametrize("name", ["study.jsonl", "study.jsonl.gz"])
def test_plain_and_gzip_files_read_alike(tmp_path: Path, name: str) -> None:
    found = study.read_study(helper.write(tmp_path / name))
    assert [change.id for change in found.changes] == ["py:1", "py:2", "js:1"]
    assert found.changes[0].reviews[0].ratings == (4.0, 4.0, 4.0)


def test_recorded_claims_are_the_models_and_the_findings(tmp_path: Path) -> None:
    found = study.read_study(helper.write(tmp_path / "study.jsonl"))
    made = study.recorded(found).generate([parse.parse_diff(found.changes[0].patch)])[0]
    assert [(ref.text, ref.kind) for ref in made.references] == [
        ("The limit is raised from 10 to 20.", ReferenceKind.CLAIM),
        ("The name of the table changes.", ReferenceKind.CLAIM),
        ("Unused variable `limit`.", ReferenceKind.ISSUE),
    ]


def test_identity_names_the_data(tmp_path: Path) -> None:
    entries = helper.rows()
    first = study.recorded(study.read_study(helper.write(tmp_path / "a.jsonl", entries)))
    second = study.recorded(study.read_study(helper.write(tmp_path / "b.jsonl", entries[:1])))
    assert first.identity != second.identity


def test_change_holds_the_edited_list_the_judgements_and_what_was_added(tmp_path: Path) -> None:
    change = study.read_study(helper.write(tmp_path / "s.jsonl", helper.full_rows())).changes[0]
    assert [ref.kind for ref in change.edited] == [ReferenceKind.CLAIM, ReferenceKind.ISSUE]
    assert [(claim.correctness, claim.annotator) for claim in change.llm_claims] == [
        ("correct", "a"),
        ("incorrect", "a"),
    ]
    assert change.llm_claims[1].by_annotator == {"a": "incorrect", "b": "unverifiable"}
    assert change.added_claims == ("The comment above the limit is kept.",)


def test_review_knows_what_it_addresses_and_who_rated_it(tmp_path: Path) -> None:
    change = study.read_study(helper.write(tmp_path / "s.jsonl", helper.full_rows())).changes[0]
    review = change.reviews[0]
    assert (review.addressed, review.annotator) == ((0,), "a")
    (other,) = review.other_ratings
    assert (other.annotator, other.ratings) == ("b", (4.0, 3.0, 3.0))
    assert not change.reviews[4].other_ratings


def test_old_file_without_the_newer_fields_still_reads(tmp_path: Path) -> None:
    (row, *_) = helper.rows()
    del row["llm_claims"], row["pseudo_references"]
    for review in row["reviews"]:
        del review["addressed"], review["annotator"]
    change = study.read_study(helper.write(tmp_path / "s.jsonl", [row])).changes[0]
    assert (change.edited, change.recorded) == ((), ())
    assert {(review.addressed, review.annotator) for review in change.reviews} == {(None, None)}


def test_reference_of_no_kind_is_a_claim_that_someone_added(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["pseudo_references"][0]["kind"] = None
    change = study.read_study(helper.write(tmp_path / "s.jsonl", entries)).changes[0]
    assert change.edited[0].kind is ReferenceKind.CLAIM


def test_link_to_a_row_that_is_not_there_is_dropped(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["reviews"][0]["addressed"] = [1, 2, -1, 0, 1]
    change = study.read_study(helper.write(tmp_path / "s.jsonl", entries)).changes[0]
    assert change.reviews[0].addressed == (1, 0)


def test_edited_generator_answers_with_the_list_that_links_count_in(tmp_path: Path) -> None:
    found = study.read_study(helper.write(tmp_path / "s.jsonl"))
    generator = study.edited(found)
    (made,) = generator.generate([parse.parse_diff(found.changes[1].patch)])
    assert [ref.text for ref in made.references] == [ref.text for ref in found.changes[1].edited]
    assert generator.identity == f"edited@{found.sha256[:8]}"


BROKEN = [
    (("id",), None, r"s\.jsonl:1: id: expected `int \| str`, got `null`"),
    (("added_claims",), ["a", 1], r"added_claims\[1\]: expected `str`, got `int`"),
    (("llm_claims",), {}, r"llm_claims: expected `array \| null`, got `object`"),
    (
        ("llm_claims", 1, "correctness"),
        "right",
        r"llm_claims\[1\]\.correctness: invalid enum value",
    ),
    (("llm_claims", 0, "by_annotator"), ["a"], r"llm_claims\[0\]\.by_annotator: expected `object"),
    (("llm_claims", 0, "by_annotator"), {"a": 1}, r"\[0\]\.by_annotator\[.*\]: expected `str"),
    (("pseudo_references", 1, "kind"), "smell", r"pseudo_references\[1\]\.kind: invalid enum"),
    (("reviews",), None, r"reviews: expected `array`, got `null`"),
    (("reviews", 2, "text"), None, r"reviews\[2\]\.text: expected `str`, got `null`"),
    (("reviews", 2, "relevance"), 6, r"reviews\[2\]\.relevance: expected `float` <= 5"),
    (("reviews", 1, "addressed"), [True], r"reviews\[1\]\.addressed\[0\]: expected `int`"),
    (("reviews", 1, "annotator"), 1, r"reviews\[1\]\.annotator: expected `str \| null`"),
    (("reviews", 0, "other_ratings", 0, "conciseness"), 0, r"other_ratings\[0\]\.conciseness: exp"),
]


@pytest.mark.parametrize(("path", "value", "message"), BROKEN)
def test_wrong_field_is_named_with_its_line(
    tmp_path: Path, path: tuple, value: object, message: str
) -> None:
    entries = helper.full_rows()
    owner = entries[0]
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    with pytest.raises(InputError, match=message):
        study.read_study(helper.write(tmp_path / "s.jsonl", entries))


@pytest.mark.parametrize("line", ["{", "[]", "5", "[" * 100_000])
def test_line_that_is_not_an_object_is_named(tmp_path: Path, line: str) -> None:
    path = helper.write(tmp_path / "s.jsonl")
    path.write_text(path.read_text("utf-8") + line, encoding="utf-8")
    with pytest.raises(InputError, match=r"s\.jsonl:4: (.* not valid JSON|expected `object`)"):
        study.read_study(path)


@pytest.mark.parametrize("missing", ["id", "patch", "reviews", "language"])
def test_missing_field_names_the_line(tmp_path: Path, missing: str) -> None:
    entries = helper.rows()
    del entries[1][missing]
    with pytest.raises(InputError, match=rf"s\.jsonl:2: .*{missing}"):
        study.read_study(helper.write(tmp_path / "s.jsonl", entries))


@pytest.mark.parametrize("rating", ["high", None, True, float("nan"), 10**400, 0, 6])
def test_wrong_rating_is_refused(tmp_path: Path, rating: object) -> None:
    entries = helper.rows()
    entries[0]["reviews"][0]["relevance"] = rating
    with pytest.raises(InputError, match=r"s\.jsonl:1"):
        study.read_study(helper.write(tmp_path / "s.jsonl", entries))


def test_file_without_changes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no changes"):
        study.read_study(helper.write(tmp_path / "s.jsonl", []))


@pytest.mark.parametrize("content", [b"\x1f\x8bbroken", b"\xff\xfe\xff", b"\x1f\x8b"])
def test_unreadable_bytes_are_one_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a study"):
        study.read_study(path)


@pytest.mark.parametrize("what", ["id", "patch"])
def test_change_that_comes_twice_is_refused(tmp_path: Path, what: str) -> None:
    entries = helper.rows()
    entries[2][what] = entries[0][what]
    with pytest.raises(InputError, match=f"change 3 has the {what} of an earlier change"):
        study.read_study(helper.write(tmp_path / "s.jsonl", entries))


def test_source_that_is_not_a_text_is_refused(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["old_source"] = 5
    with pytest.raises(InputError, match=r"old_source: expected `str \| null`, got `int`"):
        study.read_study(helper.write(tmp_path / "s.jsonl", entries))


def test_line_separator_inside_a_review_ends_no_row(tmp_path: Path) -> None:
    entries = helper.rows()
    entries[0]["reviews"][0]["text"] = "one\u2028two"
    path = tmp_path / "s.jsonl"
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in entries)
    path.write_text(text, encoding="utf-8")
    assert study.read_study(path).changes[0].reviews[0].text == "one\u2028two"


def test_claims_alone_leave_out_what_the_tools_said(tmp_path: Path) -> None:
    found = study.read_study(helper.write(tmp_path / "a.jsonl"))
    both, alone = study.recorded(found), study.recorded(found, issues=False)
    assert [alone.identity[:16], both.identity[:9]] == ["recorded-claims@", "recorded@"]
    parsed = parse.parse_diff(found.changes[0].patch)
    (everything,), (claims,) = both.generate([parsed]), alone.generate([parsed])
    assert [ref.kind.value for ref in everything.references] == ["claim", "claim", "issue"]
    assert claims.references == everything.references[:2]
