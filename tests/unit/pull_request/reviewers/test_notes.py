"""What a reader is told of who was heard."""

from __future__ import annotations

from tests.helpers.posts import hear, line, post, review, who


def test_dismissed_review_counts_and_is_told() -> None:
    found = hear(review(1, "It leaks.", state="DISMISSED"), review(2, "LGTM", state="APPROVED"))
    assert who(found) == ["ada", "ada"]
    assert found.notes == ("1 dismissed review by ada counts.",)


def test_dismissed_reviews_are_counted_together() -> None:
    found = hear(
        review(1, "It leaks.", "bob", state="DISMISSED"),
        review(2, "It hangs.", state="DISMISSED"),
        review(3, "It locks.", state="DISMISSED"),
    )
    assert found.notes == ("3 dismissed reviews by ada, bob count.",)


def test_dismissed_reviews_that_do_not_count_are_not_told() -> None:
    found = hear(
        review(1, "", state="DISMISSED"),
        review(2, "Fixed.", "octo-cat", state="DISMISSED"),
        review(3, "It hangs.", "eve", state="DISMISSED"),
        line(4, "It leaks."),
        post(5, "It locks."),
        authors=["!eve"],
    )
    assert found.notes == ()
