"""pytest plugin: `assert_review`, as a function and as a fixture.

pytest loads this module in every project that has crscore installed, so the module imports only
pytest until a review is scored. It was tested with pytest 8 and 9.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crscore.records import Result
    from crscore.scorer import DiffLike, ReviewLike, Scorer

_MAX_LISTED: Final = 10
"""Maximum number of unaddressed references listed in a failure."""


def assert_review(
    diff: DiffLike,
    review: ReviewLike,
    *,
    usefulness: float | None = None,
    relevance: float | None = None,
    conciseness: float | None = None,
    comprehensiveness: float | None = None,
    scorer: Scorer | None = None,
) -> Result:
    """Assert that a review of a change is good enough.

    Args:
        diff: A unified diff's text, or a parsed one.
        review: Markdown text, JSON of comments, or comments.
        usefulness: Minimum standing among real reviews, 0 to 100.
        relevance: Minimum relevance, 0 to 100 as in the reports.
        conciseness: Minimum conciseness, 0 to 100.
        comprehensiveness: Minimum comprehensiveness, 0 to 100.
        scorer: A scorer with other settings. None for the default settings without static
            analysis, so that the score does not depend on the linters that a machine has.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: A score is below its minimum or unknown. The message lists the
            pseudo-references that no sentence addresses.
        ConfigError: No minimum is given, or a minimum is not in 0 to 100 or looks like a
            fraction (0.5).
        InputError: The diff or the review cannot be used.
        CRScoreError: A part of the run failed.
    """
    # With this variable, pytest shows the line of the test instead of this function.
    # https://docs.pytest.org/en/stable/example/simple.html#writing-well-integrated-assertion-helpers
    __tracebackhide__ = True
    arguments = {
        "usefulness": usefulness,
        "relevance": relevance,
        "conciseness": conciseness,
        "comprehensiveness": comprehensiveness,
    }
    minimums = {name: minimum for name, minimum in arguments.items() if minimum is not None}
    from crscore.errors import ConfigError  # noqa: PLC0415

    if not minimums:
        raise ConfigError("assert_review", "call", "give a minimum, such as relevance=50")
    for name, minimum in minimums.items():
        if not 0 <= minimum <= 100:
            raise ConfigError(name, "call", f"must be from 0 to 100, not {minimum!r}")
        # Nearly every review would pass a minimum such as 0.5, which is probably meant as a
        # fraction.
        if 0 < minimum <= 1:
            raise ConfigError(name, "call", f"is from 0 to 100: write {100 * minimum:g}")
    from crscore.agents.evaluation import default_scorer  # noqa: PLC0415

    result = (scorer or default_scorer()).score(diff, review)
    failed = [line for item in minimums.items() for line in _compare(result, *item)]
    if failed:
        raise AssertionError("\n".join([*failed, *_list_unaddressed(result)]))
    return result


@pytest.fixture(scope="session")
def crscore_scorer() -> Scorer:
    """Scorer of the fixture `assert_review`; a project can override it to choose settings."""
    from crscore.agents.evaluation import default_scorer  # noqa: PLC0415

    return default_scorer()


@pytest.fixture(name="assert_review", scope="session")
def _fixture(crscore_scorer: Scorer) -> Callable[..., Result]:
    """Assert that a review of a change is good enough: `crscore.pytest_plugin.assert_review`."""
    return functools.partial(assert_review, scorer=crscore_scorer)


def _compare(result: Result, name: str, minimum: float) -> Iterator[str]:
    """Yield a message if a score of a result is below its minimum or unknown."""
    value: float | None = result.standing
    if name != "usefulness":
        share = getattr(result, name)
        value = None if share is None else round(100 * share, 6)  # 100 * 0.29 is below 29
    if value is None:
        reason = result.scores.reason or "the encoder has no usefulness weights"
        yield f"{name} is unknown: {reason}"
    elif value < minimum:
        useful = result.usefulness if name == "usefulness" else None
        yield f"{name} is {useful.interval if useful else f'{value:.4g}'}, below {minimum:g}"


def _list_unaddressed(result: Result) -> Iterator[str]:
    """Yield the references that no sentence addresses, highest weight first, and the notes."""
    from crscore.reports import escape, view  # noqa: PLC0415

    unaddressed = [reference for _, reference in view.list_unaddressed(result)]
    if unaddressed:
        yield f"{view.unaddressed_title(result)} ({len(unaddressed)}):"
    for reference in unaddressed[:_MAX_LISTED]:
        yield "  - " + escape.one_line(f"{view.places(reference)}: {reference.text}")
    if len(unaddressed) > _MAX_LISTED:
        yield f"  ... and {len(unaddressed) - _MAX_LISTED} more"
    yield from (escape.one_line(f"note: {note}") for note in result.notes)
