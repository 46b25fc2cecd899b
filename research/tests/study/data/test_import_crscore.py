import gzip
import importlib.resources
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from crscore.errors import InputError, OutputError
from crscore_lab.study.data import study
from research.scripts import import_crscore as importer
from tests.helpers import sheets

B1 = "phase1/py_claim_acc_annot_marcus.csv"
A1 = "phase1/py_claim_acc_annot_atharva.csv"
B2 = "phase2/py_marcus_review_qual_final.csv"
A2 = "phase2/py_atharva_review_qual_final.csv"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> importer.Imported:
    return importer.convert(sheets.write(tmp_path_factory.mktemp("clone")))


@pytest.fixture(scope="module")
def rows(imported: importer.Imported) -> dict[str, dict]:
    return {row["id"]: row for row in imported.rows}


def after(tmp_path: Path, name: str, row: int, **cells: str) -> importer.Imported:
    """Import with some cells changed; `row` counts as a spreadsheet does."""
    made = sheets.tables()
    names = {"con": "Con (P)", "addressed": "claims addressed"}
    made[name][row - 2] |= {names.get(key, key): value for key, value in cells.items()}
    return importer.convert(sheets.write(tmp_path, made))


def test_changes_come_by_language_and_are_named_by_index(rows: dict[str, dict]) -> None:
    assert list(rows) == ["py:11", "py:12", "py:13", "py:14", "java:21", "js:31"]
    assert [row["language"] for row in rows.values()] == ["python"] * 4 + ["java", "javascript"]


def test_every_line_is_valid_and_reads_back(imported: importer.Imported, tmp_path: Path) -> None:
    schema = importlib.resources.files("crscore_lab") / "schemas" / "study.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8")))
    for row in imported.rows:
        validator.validate(row)
    importer.write_study(imported.rows, tmp_path / "out.jsonl.gz")
    found = study.read_study(tmp_path / "out.jsonl.gz").changes
    assert [len(change.reviews) for change in found] == [3, 1, 1, 1, 3, 3]
    assert found[0].reviews[0].other_ratings[0].ratings == (4.0, 4.0, 4.0)


def test_diff_is_that_of_phase_1_with_its_tabs(rows: dict[str, dict]) -> None:
    assert rows["py:11"]["patch"] == sheets.diff(11)
    assert "\t" in rows["py:11"]["patch"]


def test_sources_keep_their_line_ends(rows: dict[str, dict]) -> None:
    assert rows["py:11"]["old_source"] == "\tkeep = 1\r\n\told = 2\r\n"
    assert rows["py:11"]["new_source"] == "\tkeep = 1\n\tnew = 3 # é\n"


def test_claims_of_the_first_rows_are_as_b_judged_them(rows: dict[str, dict]) -> None:
    # Expected: what `sheets.phase1` writes for b, codes 1, 0 and -1.0.
    assert rows["py:11"]["llm_claims"] == [
        {
            "text": "The value of `new` is 3.",
            "correctness": "correct",
            "annotator": "b",
            "by_annotator": {"a": "incorrect", "b": "correct"},
        },
        {
            "text": "The loop is gone.",
            "correctness": "incorrect",
            "annotator": "b",
            "by_annotator": {"a": "incorrect", "b": "incorrect"},
        },
        {
            "text": "Nobody will notice,\nsays “the” model.",
            "correctness": "unverifiable",
            "annotator": "b",
        },
    ]


def test_annotators_hand_over_at_the_row_of_phase_1(rows: dict[str, dict]) -> None:
    last, first = rows["py:13"]["llm_claims"][0], rows["py:14"]["llm_claims"][0]
    assert (last["annotator"], last["correctness"]) == ("b", "correct")
    assert (first["annotator"], first["correctness"]) == ("a", "incomplete")


def test_annotators_hand_over_at_the_row_of_phase_2(rows: dict[str, dict]) -> None:
    (last,), (first,) = rows["py:13"]["reviews"], rows["py:14"]["reviews"]
    assert (last["annotator"], last["relevance"]) == ("b", 2)
    assert (first["annotator"], first["relevance"]) == ("a", 5)
    assert first["other_ratings"] == [
        {"annotator": "b", "conciseness": 3, "comprehensiveness": 3, "relevance": 3}
    ]


def test_claim_without_a_known_code_is_open(
    imported: importer.Imported, rows: dict[str, dict]
) -> None:
    assert [claim["correctness"] for claim in rows["py:14"]["llm_claims"]] == [
        "incomplete",
        None,
        None,
    ]
    assert any("atharva.csv, row 250: `correctness` is '?'" in note for note in imported.notes)


def test_added_claims_are_the_lines_of_their_cells(rows: dict[str, dict]) -> None:
    assert rows["py:11"]["added_claims"] == ["A line is kept."]
    assert rows["py:13"]["added_claims"] == []
    assert rows["py:14"]["added_claims"] == ["One more.", "Two more."]


def test_edited_list_keeps_the_kind(rows: dict[str, dict]) -> None:
    assert rows["java:21"]["pseudo_references"] == [
        {"text": "The value of `new` is 3.", "kind": "claim"},
        {"text": "A line is kept.", "kind": None},
        {"text": "line 2, Unused:\tAvoid `new`", "kind": "issue"},
    ]


def test_review_keeps_its_text_and_knows_what_it_addresses(rows: dict[str, dict]) -> None:
    assert rows["js:31"]["reviews"][0] == {
        "system": "gpt3.5",
        "text": "Is 3 right?\r\n\r\nIt was 2.",
        "conciseness": 5,
        "comprehensiveness": 4,
        "relevance": 4,
        "addressed": [0, 2],
        "annotator": "b",
        "other_ratings": [
            {"annotator": "a", "conciseness": 4, "comprehensiveness": 4, "relevance": 4}
        ],
    }


def test_blank_review_counts_and_one_with_an_empty_mark_does_not(
    imported: importer.Imported, rows: dict[str, dict]
) -> None:
    assert [review["system"] for review in rows["py:11"]["reviews"]] == [
        "gpt3.5",
        "knn",
        "stable_code",
    ]
    assert any("row 4: `rel` is ''; so the review of msg" in note for note in imported.notes)


def test_human_comment_is_the_ground_truth(tmp_path: Path) -> None:
    found = after(tmp_path, B2, 4, **{"Rel (F)": "2"}).rows[0]["reviews"][2]
    assert (found["system"], found["relevance"]) == ("ground_truth", 2)


def test_odd_numbers_of_claims_are_kept_or_named(
    imported: importer.Imported, rows: dict[str, dict]
) -> None:
    # "2.0,9, x": the second of three, a ninth that is not there, and no number.
    assert rows["py:11"]["reviews"][2]["addressed"] == [1, 8]
    about = [note for note in imported.notes if "py_marcus" in note and "'2.0,9, x'" in note]
    assert [note.partition("; ")[2] for note in about] == [
        "the change has 3 claims",
        "a part is not a number of a claim and is left out",
    ]


def test_unrated_change_is_left_out_with_one_note(
    imported: importer.Imported, rows: dict[str, dict]
) -> None:
    assert "py:15" not in rows
    (note,) = [note for note in imported.notes if "change 15" in note]
    assert "py_atharva_review_qual_final.csv, row 503: change 15 is left out" in note


def test_answers_are_found_by_their_diff(rows: dict[str, dict]) -> None:
    assert rows["py:11"]["gpt4o_claims_raw"] == "1. It is 3."
    assert rows["py:13"]["gpt4o_claims_raw"] is None


def test_clone_without_answers_is_imported(tmp_path: Path) -> None:
    clone = sheets.write(tmp_path)
    (clone / importer.GPT4O).unlink()
    found = importer.convert(clone)
    assert found.rows[0]["gpt4o_claims_raw"] is None
    assert "gpt-4o.jsonl is missing" in found.notes[0]


@pytest.mark.parametrize("line", ["{", "[]", '{"code_change": "a"}', '{"code_change": 1}'])
def test_broken_answer_is_named(tmp_path: Path, line: str) -> None:
    clone = sheets.write(tmp_path)
    (clone / importer.GPT4O).write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=r"gpt-4o\.jsonl:2: "):
        importer.convert(clone)


def test_folder_that_is_not_a_clone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a clone of atharva-naik/CRScore"):
        importer.convert(tmp_path)


@pytest.mark.parametrize("name", [A1, B1, A2, B2, "phase1/java_claim_acc_annot.csv"])
def test_missing_sheet_is_named(tmp_path: Path, name: str) -> None:
    clone = sheets.write(tmp_path)
    (clone / "human_study" / name).unlink()
    with pytest.raises(InputError, match=Path(name).name):
        importer.convert(clone)


def test_single_missing_source_is_null_with_a_note(tmp_path: Path) -> None:
    clone = sheets.write(tmp_path)
    (clone / "human_study" / "phase1" / "context_files" / "test21_old.java").unlink()
    found = importer.convert(clone)
    assert [row["old_source"] is None for row in found.rows] == [False] * 4 + [True, False]
    assert any("test21_old.java cannot be read" in note for note in found.notes)


def test_change_without_judged_claims_takes_the_other_diff(tmp_path: Path) -> None:
    made = sheets.tables()
    for name in ("", "_marcus", "_atharva"):
        made[f"phase1/java_claim_acc_annot{name}.csv"].clear()
    found = importer.convert(sheets.write(tmp_path, made))
    row = next(row for row in found.rows if row["id"] == "java:21")
    assert (row["patch"], row["llm_claims"]) == (sheets.diff(21).expandtabs(4), [])
    assert any("phase 1 has no claims of change 21" in note for note in found.notes)


def test_judged_claims_without_a_review_are_noted(tmp_path: Path) -> None:
    made = sheets.tables()
    for name in ("marcus", "atharva"):
        made[f"phase2/js_{name}_review_qual_final.csv"].clear()
    found = importer.convert(sheets.write(tmp_path, made))
    assert "js:31 is left out; phase 2 has no reviews of it" in found.notes


WRONG = {
    "mark above 5": (
        B2,
        2,
        {"con": "6"},
        r"py_marcus.*, row 2: `con` is '6'; it must be a number from 1",
    ),
    "mark is a word": (B2, 2, {"con": "good"}, r", row 2: `con` is 'good'; it must be a number"),
    "mark is not finite": (B2, 2, {"con": "nan"}, r", row 2: `con` is 'nan'; it must be a number"),
    "index is a word": (
        B2,
        6,
        {"index": "x"},
        r", row 6: `index` is 'x'; it must be a whole",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_cell_is_named_with_its_row(tmp_path: Path, name: str) -> None:
    sheet, row, cells, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        after(tmp_path, sheet, row, **cells)


def test_index_on_every_row_of_a_change_starts_no_other(tmp_path: Path) -> None:
    assert after(tmp_path, B2, 3, index="11.0").rows[0]["reviews"][0]["addressed"] == [0, 2]


def test_wrong_mark_that_does_not_count_is_not_a_second_rating(tmp_path: Path) -> None:
    found = after(tmp_path, A2, 2, con="?")
    assert "other_ratings" not in found.rows[0]["reviews"][0]


def test_unknown_words_are_left_open_and_noted(tmp_path: Path) -> None:
    found = after(tmp_path, B2, 2, type="idea")
    assert found.rows[0]["pseudo_references"][0] == {
        "text": "The value of `new` is 3.",
        "kind": None,
    }
    assert any("row 2: `type` is 'idea'; that is unknown" in note for note in found.notes)


def test_missing_column_is_named(tmp_path: Path) -> None:
    clone = sheets.write(tmp_path)
    path = clone / "human_study" / B2
    path.write_bytes(path.read_bytes().replace(b"Rel (F)", b"Other", 1))
    with pytest.raises(InputError, match=r"marcus.*: no column is headed `rel`"):
        importer.convert(clone)


def test_blank_line_is_not_a_row_but_counts_in_the_place(tmp_path: Path) -> None:
    clone = sheets.write(tmp_path)
    path = clone / "human_study" / B1
    head, _, rest = path.read_bytes().partition(b"\r\n11,")
    path.write_bytes(head + b"\r\n\r\n11," + rest)
    found = importer.convert(clone)
    # b's rows are as many as before, so the hand-over is at the same one.
    assert found.rows[2]["llm_claims"][0]["annotator"] == "b"
    assert found.rows[3]["llm_claims"][0]["annotator"] == "a"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'id,index\n"' + b"x" * 200_000 + b'"'])
def test_file_that_is_not_a_sheet_is_named(tmp_path: Path, content: bytes) -> None:
    clone = sheets.write(tmp_path)
    (clone / "human_study" / A1).write_bytes(content)
    with pytest.raises(InputError, match=r"py_claim_acc_annot_atharva\.csv"):
        importer.convert(clone)


def test_same_rows_make_the_same_bytes(imported: importer.Imported, tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz", "c.jsonl"):
        importer.write_study(imported.rows, tmp_path / name)
    packed = (tmp_path / "a.jsonl.gz").read_bytes()
    assert packed == (tmp_path / "b.jsonl.gz").read_bytes()
    assert packed[4:8] == b"\0\0\0\0"  # the time in the header of gzip
    assert gzip.decompress(packed) == (tmp_path / "c.jsonl").read_bytes()


def test_text_that_utf_8_lacks_is_written_all_the_same(tmp_path: Path) -> None:
    importer.write_study(({"text": "\ud800\u2028"},), tmp_path / "s.jsonl")
    assert json.loads((tmp_path / "s.jsonl").read_text("utf-8")) == {"text": "\ud800\u2028"}


def test_unwritable_target_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="its folder does not exist"):
        importer.write_study((), tmp_path / "no" / "out.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_one_error() -> None:
    with pytest.raises(OutputError, match="No space left"):
        importer.write_study(({"id": "a"},), Path("/dev/full"))


def test_answers_that_are_not_text_are_named(tmp_path: Path) -> None:
    clone = sheets.write(tmp_path)
    (clone / importer.GPT4O).write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"gpt-4o\.jsonl cannot be read as answers"):
        importer.convert(clone)


def test_row_without_content_before_the_first_change_is_nothing(tmp_path: Path) -> None:
    made = sheets.tables()
    for name in ("", "_marcus", "_atharva"):
        made[f"phase1/java_claim_acc_annot{name}.csv"].insert(0, {"correctness": " "})
    rows = importer.convert(sheets.write(tmp_path, made)).rows
    assert len(next(row for row in rows if row["id"] == "java:21")["llm_claims"]) == 3


def test_script_converts_a_clone_that_can_be_read(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "study.jsonl.gz"
    clone = sheets.write(tmp_path / "clone")
    monkeypatch.setattr(sys, "argv", ["import_crscore", str(clone), str(out)])
    importer.main()
    assert capsys.readouterr().out == f"{out}: 6 changes with 12 reviews\n"
    assert len(study.read_study(out).changes) == 6


def test_script_names_a_wrong_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["import_crscore", str(tmp_path), str(tmp_path / "o.jsonl")])
    with pytest.raises(SystemExit, match="is not a clone of atharva-naik/CRScore"):
        importer.main()
