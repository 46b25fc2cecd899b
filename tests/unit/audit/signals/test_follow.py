from __future__ import annotations

import pytest

from crscore.audit.signals.align import line_key
from crscore.audit.signals.follow import MAX_UNITS, Base, Following, Span, file_changed
from crscore.text.words import stem

BASE = ("def f():", "    a = 1", "    b = 2", "", "def g():", "    c = 3", "    d = 4")
OLD = (
    "def f():",
    "    a = 1",
    "    new = a",
    "    b = 2",
    "",
    "def g():",
    "    c = 3",
    "    d = 4",
)


def edit(lines, **changes):
    """Replace lines by number (`l2="x"`); an empty text removes one."""
    values = {int(key[1:]): value for key, value in changes.items()}
    edited = (values.get(at, line) for at, line in enumerate(lines))
    return tuple(part for line in edited if line or line is None for part in line.split("\n"))


def following(new, *, old=OLD, base=BASE, new_base=None, **more):
    return Following(old=old, new=new, base=Base(old=base, new=new_base or base), **more)


def test_edited_line_changed_and_the_place_is_told():
    assert following(edit(OLD, l2="    new = b")).changed(Span(2, 3)) == (True, "line 3")


def test_removed_line_and_missing_file_changed():
    assert following(edit(OLD, l2="")).changed(Span(2, 3)).value is True
    assert following(None).changed(Span(2, 3)).value is True


def test_edit_of_another_line_leaves_it():
    assert following(edit(OLD, l3="    b = 5")).changed(Span(2, 3)).value is False


def test_line_inserted_within_the_commented_lines_is_a_change():
    new = edit(OLD, l2="    check()\n    new = a")
    assert following(new).changed(Span(1, 3)).value is True
    assert following(new).changed(Span(2, 3)).value is False


def acted(new, comment="Use `total` here", **more):
    words = frozenset(stem(word) for word in comment.replace("`", "").lower().split())
    return following(new, **more).acted_on(Span(2, 3), words)


def test_changed_line_and_line_inserted_next_to_it_are_acted_on():
    assert acted(edit(OLD, l2="    new = b")) == (True, "line 3")
    assert acted(edit(OLD, l1="    a = 1\n    check()")) == (True, "next to it")
    assert acted(edit(OLD, l2="    new = a\n    check()")) == (True, "next to it")
    assert acted(OLD).value is False


def test_words_of_the_comment_that_come_near_it_are_acted_on():
    new = edit(OLD, l6="    c = total")
    assert acted(new) == (True, "near it: total")
    assert acted(new, comment="Why so?").value is False


def test_words_that_were_there_or_come_far_away_do_not_count():
    there = edit(OLD, l3="    b = total")
    assert acted(edit(there, l6="    c = total"), old=there).value is False
    long = (*OLD, *(f"    x{at} = {at}" for at in range(9)))
    assert acted((*long, "    y = total"), old=long).value is False


def test_what_the_base_branch_inserted_or_a_move_brought_is_not_acted_on():
    new_base = edit(BASE, l2="    total = 1\n    b = 2")
    assert acted(edit(OLD, l3="    total = 1\n    b = 2"), new_base=new_base).value is False
    block, rest = OLD[:4], OLD[5:]
    assert acted((*rest, "", *block)).value is False
    assert acted(rest, moves=lambda: [((), block)]) == (False, "moved")


def test_blank_line_is_unknown():
    assert following(OLD).changed(Span(4, 5)).value is None


def test_line_behind_the_end_of_the_file_is_unknown_and_takes_no_suggestion():
    assert following(OLD).changed(Span(90, 91)).value is None
    assert not following(OLD).applied(Span(90, 91), ["x"])


def test_change_of_the_base_branch_is_not_the_authors():
    new_base = edit(BASE, l5="    c = 9")
    new = edit(OLD, l6="    c = 9")
    assert following(new, new_base=new_base).changed(Span(6, 7)).value is False
    assert following(new).changed(Span(6, 7)).value is True


def test_line_that_the_base_branch_inserted_within_is_not_the_authors():
    new_base = edit(BASE, l5="    c = 3\n    log()")
    new = edit(OLD, l6="    c = 3\n    log()")
    assert following(new, new_base=new_base).changed(Span(6, 8)).value is False


def test_line_that_replaced_what_the_base_changed_too_is_unknown():
    old, new_base = edit(BASE, l2="    new = a"), edit(BASE, l2="    b = 7")
    met = following(edit(BASE, l2="    new = z"), old=old, new_base=new_base)
    assert met.changed(Span(2, 3)) == (None, "the base changed there too")


def test_line_that_replaced_nothing_of_the_base_is_the_authors():
    new_base = edit(BASE, l2="    b = 7")
    new = edit(OLD, l2="    new = z", l3="    b = 7")
    assert following(new, new_base=new_base).changed(Span(2, 3)).value is True


def test_block_that_moved_stands_and_a_line_that_moved_alone_changed():
    block, rest = OLD[:4], OLD[5:]
    inside = following((*rest, "", *block)).changed(Span(2, 3))
    outside = following(rest, moves=lambda: [((), block)]).changed(Span(2, 3))
    assert inside.value is outside.value is False
    alone = ("def f():", "    new = a", "    a = 1", *OLD[3:])
    assert following(alone).changed(Span(1, 3)).value is True


def test_copy_that_was_there_before_is_no_move():
    block = OLD[:4]
    assert following(OLD[5:], moves=lambda: [(block, block)]).changed(Span(2, 3)).value is True


def test_removed_line_changes_when_it_comes_back():
    assert following(OLD, was_removed=True).changed(Span(2, 3)).value is True
    assert following(edit(OLD, l2=""), was_removed=True).changed(Span(2, 3)).value is False


@pytest.mark.parametrize(
    ("new", "value"),
    [
        (OLD, False),
        (edit(OLD, l2="    new = b"), True),
        (("something", "else"), None),
        (("def f():", "    a = 1", *["    x()"] * 9, "    new = a"), True),
    ],
)
def test_hunk_alone_is_followed_where_its_place_is_sure(new, value):
    hunk = Following(old=OLD[:3], new=new, base=None, is_whole=False, added=frozenset({2}))
    assert hunk.changed(Span(2, 3)).value is value


def test_hunk_alone_does_not_tell_whether_the_base_changed_a_line():
    new = edit(OLD, l2="    new = b")
    hunk = Following(old=OLD[:3], new=new, base=None, is_whole=False)
    assert hunk.changed(Span(2, 3)).value is None


@pytest.mark.parametrize(
    "new",
    [
        edit(OLD, l2="    new = f(a, 1)"),
        edit(OLD, l2="  new = f(\n    a,\n    1,\n  )"),
        edit(OLD, l2="    log()\n    new = f(a, 1)\n    log()", l3="    b = 9"),
    ],
)
def test_suggestion_stands_also_reformatted_and_in_a_larger_edit(new):
    assert following(new).applied(Span(2, 3), ["    new = f(a, 1)"])


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        edit(OLD, l2="    new = f(a, 2)"),
        edit(OLD, l2="", l7="    new = f(a, 1)"),
        edit(OLD, l2="    x = new = f(a, 1)"),
    ],
)
def test_suggestion_does_not_stand(new):
    assert not following(new).applied(Span(2, 3), ["    new = f(a, 1)"])


def test_suggestion_to_remove_needs_that_nothing_else_came():
    assert following(edit(OLD, l2="")).applied(Span(2, 3), [])
    assert not following(edit(OLD, l2="    other()")).applied(Span(2, 3), [])
    assert not following(OLD).applied(Span(2, 3), [])


def test_suggestion_that_adds_lines_may_be_applied_with_others_between():
    new = edit(OLD, l2="    one()\n    more()\n    two()")
    assert following(new).applied(Span(2, 3), ["    one()", "    two()"])
    kept = edit(OLD, l2="    one()\n    more()\n    two()\n    new = a")
    assert not following(kept).applied(Span(2, 3), ["    one()", "    two()"])


def test_base_rate_counts_changed_lines_of_the_hunk_that_have_no_comment():
    base = ("start", "end", *(f"far {at}" for at in range(9)))
    old = ("start", "one", "two", "three", "end", *base[2:10], "other hunk")
    new = ("start", "1", "2", "three", "end", *base[2:10], "edited hunk")
    followed = following(new, old=old, base=base)
    changed = followed.changed
    assert followed.base_rate(Span(1, 2), frozenset({line_key("one")}), changed) == (1, 2)
    commented = frozenset({line_key("one"), line_key("two")})
    assert followed.base_rate(Span(1, 3), commented, changed) == (0, 0)
    alone = Following(old=old, new=new, base=None)
    assert alone.base_rate(Span(1, 2), frozenset(), alone.changed) is None


def test_base_rate_of_a_long_hunk_is_of_a_sample_of_it():
    old = tuple(f"x{at} = {at}" for at in range(900))
    followed = following(tuple(f"x{at} = {at + at % 2}" for at in range(900)), old=old, base=())
    changed, all_units = followed.base_rate(Span(0, 1), frozenset(), followed.changed)
    assert all_units <= MAX_UNITS
    assert 0.4 <= changed / all_units <= 0.6


def test_file_changed_but_for_format_and_the_base():
    base, new_base = Base(old=BASE, new=BASE), Base(old=BASE, new=edit(BASE, l5="    c = 9"))
    assert not file_changed(OLD, edit(OLD, l2="  new   =  a"), base)
    assert file_changed(OLD, edit(OLD, l6="    c = 9"), base)
    assert not file_changed(OLD, edit(OLD, l6="    c = 9"), new_base)
    assert file_changed(OLD, edit(OLD, l2="    new = b", l6="    c = 9"), new_base)


def test_file_that_the_base_branch_removed_did_not_change():
    assert file_changed(OLD, None, Base(old=BASE, new=BASE))
    assert not file_changed(OLD, None, Base(old=BASE, new=None))
