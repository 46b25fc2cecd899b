from __future__ import annotations

from crscore.audit.report.site import file_names


def test_names_are_safe_and_differ_in_more_than_case() -> None:
    names = ["a/b", "a-b", "a b", "A/B", "../../etc/passwd", "", "<b>", "x" * 300, "日本"]
    files = file_names(names)
    assert set(files) == set(names)
    assert len({file.casefold() for file in files.values()}) == len(names)
    assert all(file.replace("-", "").isalnum() and file.isascii() for file in files.values())
    assert max(map(len, files.values())) <= 80


def test_number_of_a_collision_does_not_take_another_name() -> None:
    files = file_names(["a-b", "a/b", "a-b-2"])
    assert len(set(files.values())) == 3


def test_order_of_the_names_does_not_matter() -> None:
    names = ["a/b", "a-b", "a b"]
    assert file_names(names) == file_names(reversed(names))
