from __future__ import annotations

import gzip
import json

import pytest

from crscore.code.samples import read_samples
from crscore.errors import InputError


def write_rows(path, *rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_files_give_one_sample_with_the_language_of_the_file_name(tmp_path):
    for name, text in (("a.py", "x = 1\n"), ("b.py", "x = 2\n"), ("c.py", "x = 3\n")):
        (tmp_path / name).write_text(text)
    (sample,) = read_samples(tmp_path / "a.py", [tmp_path / "b.py", tmp_path / "c.py"])
    assert (sample.candidate, sample.references) == ("x = 1\n", ("x = 2\n", "x = 3\n"))
    assert (sample.language, sample.id) == ("python", "a.py")


def test_folders_are_paired_by_path(tmp_path):
    for folder in ("new", "old"):
        (tmp_path / folder / "sub").mkdir(parents=True)
        (tmp_path / folder / "sub" / "a.java").write_text(f"int {folder};")
    (sample,) = read_samples(tmp_path / "new", [tmp_path / "old"])
    assert (sample.id, sample.language) == ("sub/a.java", "java")
    assert (sample.candidate, sample.references) == ("int new;", ("int old;",))


def test_error_names_the_file_that_has_no_reference(tmp_path):
    for folder in ("new", "old"):
        (tmp_path / folder).mkdir()
    (tmp_path / "new" / "a.py").write_text("x")
    with pytest.raises(InputError, match=r"new/a\.py has no reference"):
        read_samples(tmp_path / "new", [tmp_path / "old"])


def test_rows_have_their_references_or_take_those_of_another_file(tmp_path):
    complete = write_rows(
        tmp_path / "a.jsonl.gz",
        {"candidate": "x", "references": ["y", "z"], "language": "go", "id": 7, "more": 1},
        {"candidate": "", "references": [""], "context": "add"},
    )
    first, second = read_samples(complete, context="default", language="python")
    assert (first.references, first.language, first.id, first.context) == (
        ("y", "z"), "go", "7", "default",
    )  # fmt: skip
    assert (second.references, second.language, second.context) == (("",), "python", "add")
    incomplete = write_rows(tmp_path / "b.jsonl", {"candidate": "x", "id": "p"})
    references = write_rows(tmp_path / "c.jsonl", {"candidate": "y", "id": "p"})
    assert read_samples(incomplete, [references])[0].references == ("y",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"references": ["y"]}, r"a\.jsonl:1: `candidate` is missing"),
        ({"candidate": "x"}, r"a\.jsonl:1: `references` is missing"),
        ({"candidate": "x", "references": []}, r"a\.jsonl:1: `references` is missing"),
        ({"candidate": 1, "references": ["y"]}, r"a\.jsonl:1: candidate: expected"),
    ],
)
def test_error_names_the_wrong_row(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_samples(write_rows(tmp_path / "a.jsonl", row))


def test_row_without_a_reference_is_refused(tmp_path):
    candidates = write_rows(tmp_path / "a.jsonl", {"candidate": "x", "id": "p"})
    references = write_rows(tmp_path / "b.jsonl", {"target": "y", "id": "p"})
    with pytest.raises(InputError, match=r"b\.jsonl:1: `references` is missing"):
        read_samples(candidates, [references])


def test_candidate_without_a_reference_is_refused(tmp_path):
    (tmp_path / "a.py").write_text("x")
    with pytest.raises(InputError, match=r"a\.py has no reference"):
        read_samples(tmp_path / "a.py")


def test_empty_file_of_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="contains no code"):
        read_samples(write_rows(tmp_path / "a.jsonl"))


def test_error_names_the_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"no\.py cannot be read"):
        read_samples(tmp_path / "no.py", [tmp_path / "no.py"])


def test_references_of_another_file_need_ids_and_are_added_to_those_of_the_row(tmp_path):
    rows = write_rows(tmp_path / "a.jsonl", {"candidate": "x", "references": ["y"], "id": 1})
    references = write_rows(tmp_path / "b.jsonl", {"candidate": "z", "id": "1"})
    assert read_samples(rows, [references])[0].references == ("y", "z")
    without_ids = write_rows(tmp_path / "c.jsonl", {"candidate": "z"})
    with pytest.raises(InputError, match=r"c\.jsonl:1: `id` is missing"):
        read_samples(rows, [without_ids])


def test_binary_file_is_refused(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x\0")
    with pytest.raises(InputError, match=r"a\.py is not a text file"):
        read_samples(tmp_path / "a.py", [tmp_path / "a.py"])
