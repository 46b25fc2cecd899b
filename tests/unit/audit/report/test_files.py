from __future__ import annotations

from crscore.audit.report.files import file_names


def test_names_are_safe_and_differ_in_more_than_case() -> None:
    given = ["a/b", "a-b", "a b", "A/B", "../../etc/passwd", "", "<b>", "x" * 300, "日本"]
    found = file_names(given)
    assert set(found) == set(given)
    assert len({one.casefold() for one in found.values()}) == len(given)
    assert all(one.replace("-", "").isalnum() and one.isascii() for one in found.values())
    assert max(map(len, found.values())) <= 80


def test_number_of_a_collision_does_not_take_another_name() -> None:
    found = file_names(["a-b", "a/b", "a-b-2"])
    assert len(set(found.values())) == 3


def test_order_of_the_names_does_not_matter() -> None:
    given = ["a/b", "a-b", "a b"]
    assert file_names(given) == file_names(reversed(given))
