import pytest
from msgspec.structs import replace

from crscore.records import Comment, FileStatus, Side
from crscore.reports.html import CONTEXT_LINES, MAX_LINES, find_comment_lines
from tests.helpers import results

CLIENT = "src/shop/client.py"


def numbers(comment: Comment, *files) -> list[tuple[int | None, int | None]]:
    diff = results.diff_of(*files or (results.CLIENT,))
    return [(line.old, line.new) for line in find_comment_lines(diff, comment)]


def test_comment_shows_its_lines_and_three_above() -> None:
    shown = numbers(Comment(body="", path=CLIENT, line=15, start_line=13))
    assert [new for _, new in shown if new is not None][-3:] == [13, 14, 15]
    assert len(shown) == 3 + CONTEXT_LINES


def test_comment_on_one_line_ends_with_it() -> None:
    assert numbers(Comment(body="", path=CLIENT, line=12))[-1][1] == 12


def test_old_side_of_a_renamed_file_is_found_by_its_old_path() -> None:
    file = replace(results.LEGACY, path="new.py", old_path="old.py", status=FileStatus.RENAMED)
    comment = Comment(body="", path="old.py", line=2, side=Side.OLD)
    assert numbers(comment, file)[-1] == (2, None)


@pytest.mark.parametrize(
    "change",
    [
        {"line": None},
        {"line": 900},
        {"path": None},
        {"path": "other.py"},
        {"outdated": True},
    ],
)
def test_comment_without_a_line_of_the_diff_shows_none(change: dict[str, object]) -> None:
    comment = replace(Comment(body="", path=CLIENT, line=15), **change)
    assert numbers(comment) == []


def test_comment_on_many_lines_shows_its_last_ones() -> None:
    added = "\n".join(f"+line {number}" for number in range(1, 101))
    file = results.changed("a.py", results.hunk(1, 1, added))
    shown = numbers(Comment(body="", path="a.py", line=90, start_line=1), file)
    assert [new for _, new in shown] == list(range(91 - MAX_LINES - CONTEXT_LINES, 91))
