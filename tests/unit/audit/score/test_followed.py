"""Whether lines changed after a comment, in a real repository."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from crscore.audit.score.followed import LaterChanges
from tests.helpers import audit_rows as rows
from tests.helpers.github.history import History

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.audit.store.rows import Comment

BASE = "".join(f"line {at}\n" for at in range(1, 41))
OPENED = BASE.replace("line 20\n", "line 20\nnew = 1\ncall(new, 'a')\nlast = 3\n")
"""The file after the pull request, which added lines 21 to 23."""


class World:
    """Repository of a pull request that has comments, and later changes by its author."""

    def __init__(self, folder: Path, opened: str = OPENED) -> None:
        self.folder, self.history = folder, History()
        self.base = self.history.commit({"app.py": BASE})
        self.commit = self.history.commit({"app.py": opened}, parents=[self.base])

    def comment(self, line: int = 22, start: int | None = None, side: str = "new") -> Comment:
        return replace(
            rows.comment(1, "otter", line, body=b""),
            commit_id=self.commit, path="app.py", line=line, start_line=start, side=side,
        )  # fmt: skip

    def later(
        self, files: dict[str, str], *comments: Comment, mended: dict[str, str] | None = None
    ) -> LaterChanges:
        """Commit `files` after the comments, and `mended`, if given, before them."""
        written = int(datetime.fromisoformat(rows.at(0, 10)).timestamp())
        last = self.commit
        if mended is not None:
            last = self.history.commit(mended, parents=[last], at=written - 60)
        head = self.history.commit(files, parents=[last], at=written + 60)
        clone = self.folder / "1.git"
        shutil.copytree(self.history.folder, clone, dirs_exist_ok=True)
        pull = replace(rows.pull(1), base=self.base, head=head, merge_commit=None)
        return LaterChanges(clone, pull, comments)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


MENDED = OPENED.replace("'a'", "'b'")


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        pytest.param({"app.py": MENDED}, (False, (0, 0)), id="nothing"),
        pytest.param({"app.py": MENDED.replace("'b'", "'c'")}, (True, (0, 0)), id="again"),
        pytest.param({"app.py": MENDED.replace("line 40\n", "")}, (False, (0, 0)), id="elsewhere"),
    ],
)
@pytest.mark.parametrize("name", ["app.py", "new name.py"])
def test_fix_made_before_the_comment_is_not_because_of_it(
    world: World, files: dict[str, str], answer: tuple[bool, tuple[int, int]], name: str
) -> None:
    comment, mended = world.comment(), {name: "\n" + MENDED}
    later = world.later({name: "\n" + files["app.py"]}, comment, mended=mended)
    assert later.check_acted_on(comment) == answer


@pytest.mark.parametrize("is_first", [True, False])
def test_signal_of_a_renamed_file_does_not_depend_on_the_order_of_comments(
    world: World, *, is_first: bool
) -> None:
    names = ("app.py", "other.py")
    world.commit = world.history.commit(dict.fromkeys(names, OPENED), parents=[world.commit])
    comments = [replace(world.comment(), path=name) for name in names]
    later = world.later(
        {"app.py": f"x\n{OPENED}", "new.py": f"x\n{MENDED}"},
        *comments,
        mended={"app.py": f"x\n{OPENED}", "new.py": f"x\n{OPENED}"},
    )
    for comment in comments[::-1] if is_first else comments:
        assert later.check_acted_on(comment).value == int(comment.path == "other.py")


def test_commits_of_the_base_branch_are_no_later_state_of_the_comment(world: World) -> None:
    comment = world.comment()
    later = world.later({"app.py": MENDED}, comment)
    onto = world.history.commit({"app.py": BASE, "b.py": "x\n"}, parents=[world.base])
    head = world.history.commit(
        {"app.py": MENDED, "b.py": "x\n"}, parents=[later._pull.head, onto], at=1_900_000_000
    )
    shutil.copytree(world.history.folder, later._clone, dirs_exist_ok=True)
    pull = replace(later._pull, head=head)
    assert LaterChanges(later._clone, pull, [comment]).check_acted_on(comment).value is True


@pytest.mark.parametrize(
    ("files", "is_changed"),
    [
        pytest.param({"app.py": OPENED}, False, id="nothing"),
        pytest.param({"app.py": OPENED.replace("'a'", "'b'")}, True, id="the line"),
        pytest.param({"app.py": OPENED.replace("line 22\n", "line x\n")}, True, id="near it"),
        pytest.param({"app.py": OPENED.replace("line 25\n", "")}, False, id="four lines away"),
        pytest.param({"app.py": OPENED.replace("last", "if x:\n    last")}, True, id="inserted"),
        pytest.param({"app.py": OPENED.replace("(new, ", "( new,  ")}, False, id="white space"),
        pytest.param({"app.py": "a\nb\n" + OPENED}, False, id="lines above"),
        pytest.param({"lib/b.py": OPENED}, False, id="renamed"),
        pytest.param({"lib/b.py": OPENED.replace("'a'", "'b'")}, True, id="renamed and changed"),
        pytest.param({"other.py": "x\n"}, True, id="deleted"),
        pytest.param({"app.py": OPENED, "b.py": "x\n"}, False, id="another file"),
    ],
)
def test_lines_changed(world: World, files: dict[str, str], is_changed: bool) -> None:
    comment = world.comment()
    assert world.later(files, comment).check_acted_on(comment).value is is_changed


def test_base_rate_is_of_other_lines_that_the_pull_request_wrote(tmp_path: Path) -> None:
    opened = BASE.replace("line 5\n", "one = 1\ntwo = 2\n").replace("line 30\n", "three = 3\n")
    world = World(tmp_path, opened)
    comment = world.comment(31)
    later = world.later({"app.py": opened.replace("one = 1", "one = 10")}, comment)
    # Lines 5 and 6 have no comment, and both are near the changed line. Line 31 has a comment.
    assert later.check_acted_on(comment) == (False, (2, 2))


def test_base_rate_is_of_the_same_hunk_if_it_has_other_lines(tmp_path: Path) -> None:
    opened = BASE.replace("line 5\n", "a = 1\nb = 2\nc = 3\nd = 4\n")
    opened = opened.replace("line 20\n", "".join(f"new = {at}\n" for at in range(12)))
    world = World(tmp_path, opened)
    comment = world.comment(23)
    later = world.later({"app.py": opened.replace("a = 1", "a = 10")}, comment)
    # Lines 27 to 34 of the second hunk are not near the comment; only the first hunk changed.
    assert later.check_acted_on(comment) == (False, (0, 8))


def test_comment_on_a_range_is_compared_with_ranges(tmp_path: Path) -> None:
    opened = BASE.replace("line 5\n", "one = 1\ntwo = 2\nthree = 3\n")
    world = World(tmp_path, opened)
    comment = world.comment(40, 39)
    assert world.later({"app.py": opened}, comment).check_acted_on(comment).base == (0, 1)


@pytest.mark.parametrize(
    ("opened", "head", "is_changed"),
    [
        (BASE.replace("line 9\n", ""), BASE, True),
        (BASE.replace("line 9\n", ""), BASE.replace("line 9\n", ""), False),
        (BASE.replace("line 9\n", "line nine\n"), BASE.replace("line 9\n", "line 09\n"), True),
        (BASE.replace("line 9\n", "line nine\n"), BASE.replace("line 9\n", "line nine\n"), False),
    ],
)
def test_removed_line_changes_when_it_or_what_replaced_it_does(
    tmp_path: Path, opened: str, head: str, is_changed: bool
) -> None:
    world = World(tmp_path, opened)
    comment = world.comment(9, side="old")
    assert world.later({"app.py": head}, comment).check_acted_on(comment).value is is_changed


def test_merge_commit_is_used_when_the_head_is_missing(world: World) -> None:
    comment = world.comment()
    later = world.later({"app.py": OPENED.replace("'a'", "'b'")}, comment)
    pull = replace(later._pull, head="0" * 40, merge_commit=later._pull.head)
    assert LaterChanges(later._clone, pull, [comment]).check_acted_on(comment).value is True


@pytest.mark.parametrize("path", ["--output=x", "a\0b", ":(glob)*", "ä\n.py"])
def test_odd_file_names_are_not_read_as_patterns(world: World, path: str) -> None:
    comment = replace(world.comment(), path=path)
    assert world.later({"app.py": OPENED}, comment).check_acted_on(comment).value is False
