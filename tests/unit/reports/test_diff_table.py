from dataclasses import replace

import pytest

from crscore.records import ChangedFile, Comment, FileStatus, PseudoReference, Result, Side
from crscore.reports import diff_table
from tests.helpers import results


def result_on(*files: ChangedFile, references: tuple[PseudoReference, ...] = (), comment=None):
    comments = (results.Said(comment, ()),) if comment else ()
    return results.make(results.diff_of(*files), references, comments, [[] for _ in references])


def lines(result: Result) -> list[diff_table.DiffRow]:
    return [line for file in diff_table.make_diff_table(result).files for line in file.lines]


def numbers(result: Result, name: str) -> list[tuple[int | None, int | None]]:
    return [(line.old, line.new) for line in lines(result) if name in line.marks]


def test_reference_marks_the_lines_of_its_side() -> None:
    assert numbers(results.review(), "r3") == [(41, None)]
    assert numbers(results.review(), "r2") == [(None, 17)]


def test_comment_marks_all_its_lines() -> None:
    assert numbers(results.review(), "c0") == [(None, 13), (None, 14), (None, 15)]


def test_comment_stands_below_its_last_line() -> None:
    actual = [line for line in lines(results.review()) if line.comments]
    assert [(line.old, line.new, line.comments) for line in actual] == [
        (None, 15, (0,)),
        (41, None, (2,)),
        (None, 2, (1,)),
    ]


def test_comment_on_a_whole_file_marks_no_line() -> None:
    comment = Comment(body="", path="src/shop/client.py")
    assert (
        diff_table.make_diff_table(result_on(results.CLIENT, comment=comment)).anchored
        == frozenset()
    )


def test_old_side_of_a_renamed_file_is_found_by_its_old_path() -> None:
    file = replace(results.LEGACY, path="new.py", old_path="old.py", status=FileStatus.RENAMED)
    reference = results.reference("x", ("old.py", 2, 2), side=Side.OLD)
    assert numbers(result_on(file, references=(reference,)), "r0") == [(2, None)]


def test_anchor_stands_on_the_first_line_only() -> None:
    actual = [line.new for line in lines(results.review()) if "r0" in line.anchors]
    assert actual == [11]


def test_badge_returns_where_a_reference_begins_again() -> None:
    reference = results.reference(
        "x", ("src/shop/client.py", 11, 12), ("src/shop/client.py", 15, 15)
    )
    result = result_on(results.CLIENT, references=(reference,))
    assert [line.new for line in lines(result) if "r0" in line.first] == [11, 15]


def test_reference_outside_the_hunks_has_no_anchor() -> None:
    reference = results.reference("x", ("src/shop/client.py", 900, 901))
    assert (
        diff_table.make_diff_table(result_on(results.CLIENT, references=(reference,))).anchored
        == frozenset()
    )


def test_hunk_is_headed_by_its_numbers_and_section() -> None:
    assert lines(results.review())[0].text == "@@ −10,5 +10,10 @@ class Client:"


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        ({"is_binary": True}, "Binary contents, not shown."),
        ({"is_submodule": True}, "A submodule."),
        ({"status": FileStatus.RENAMED}, "No line changes."),
    ],
)
def test_file_without_lines_says_why(change: dict[str, object], remark: str) -> None:
    file = replace(results.changed("logo.png"), **change)
    assert diff_table.make_diff_table(result_on(file)).files[0].remark == remark


def test_file_without_a_path_is_named_unknown() -> None:
    assert (
        diff_table.make_diff_table(result_on(results.changed(""))).files[0].path == "(unknown file)"
    )


def long_file(count: int) -> ChangedFile:
    return results.changed(
        "a.py", results.hunk(1, 1, "\n".join(f"+line {i}" for i in range(1, count + 1)))
    )


def test_diff_at_the_limit_is_shown_whole() -> None:
    view = diff_table.make_diff_table(result_on(long_file(diff_table.MAX_LINES)))
    assert not view.shortened
    assert len(view.files[0].lines) == diff_table.MAX_LINES + 1


def test_longer_diff_shows_marked_lines_and_some_around() -> None:
    reference = results.reference("x", ("a.py", 100, 101))
    result = result_on(long_file(diff_table.MAX_LINES + 1), references=(reference,))
    shown = [line.new if line.new else line.kind for line in lines(result)]
    assert shown == ["hunk", "gap", 97, 98, 99, 100, 101, 102, 103, 104, "gap"]
    assert diff_table.make_diff_table(result).shortened


def test_longer_diff_that_ends_in_a_marked_line_ends_without_a_gap() -> None:
    last = diff_table.MAX_LINES + 1
    reference = results.reference("x", ("a.py", last, last))
    result = result_on(long_file(last), references=(reference,))
    assert lines(result)[-1].new == last


def test_longer_diff_shows_the_beginning_of_a_long_reference() -> None:
    reference = results.reference("x", ("a.py", 1, 1_500))
    result = result_on(long_file(diff_table.MAX_LINES + 1), references=(reference,))
    shown = [line.new for line in lines(result) if line.new]
    assert shown == list(range(1, diff_table.MAX_SPAN_LINES + diff_table.CONTEXT_LINES + 1))


def test_longer_diff_leaves_out_what_nothing_stands_on() -> None:
    reference = results.reference("x", ("config/settings.toml", 2, 2))
    files = (long_file(diff_table.MAX_LINES), results.SETTINGS)
    view = diff_table.make_diff_table(result_on(*files, references=(reference,)))
    assert [file.path for file in view.files] == ["config/settings.toml"]


def test_long_line_is_cut() -> None:
    file = results.changed("a.js", results.hunk(1, 1, "+" + "x" * 5_000))
    assert lines(result_on(file))[1].text.endswith("… (+4,000 characters)")


def test_receipt_marks_its_lines_by_the_number_of_its_remark() -> None:
    actual = lines(results.decided())
    assert [line.new for line in actual if "v1" in line.anchors] == [13]
    assert [line.new for line in actual if "v2" in line.marks] == [15]
    assert not any(name.startswith("v") for line in actual for name in line.first)
