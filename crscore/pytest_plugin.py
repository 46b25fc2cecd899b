"""pytest plugin: `assert_review`, as a function and as a fixture.

pytest loads this module in every project that has crscore installed, so it imports nothing but
pytest until a review is scored. Tested with pytest 8 and 9.
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
        usefulness: Minimum standing among real review comments, 0 to 100.
        relevance: Minimum relevance, 0 to 100 as in the reports.
        conciseness: Minimum conciseness, 0 to 100.
        comprehensiveness: Minimum comprehensiveness, 0 to 100.
        scorer: A scorer with settings of its own; None for the defaults, without static analysis,
            so that the score does not change with the linters that a machine has.

    Returns:
        The result, for further assertions.

    Raises:
        AssertionError: A number is below its limit or unknown. The message names the unaddressed
            pseudo-references.
        ConfigError: No limit is given, or a limit is outside of 0 to 100 or a share (0.5).
        InputError: The diff or the review cannot be used.
        CRScoreError: A part of the run failed.
    """
    # With this variable, pytest shows the line of the test instead of this function.
    # https://docs.pytest.org/en/stable/example/simple.html#writing-well-integrated-assertion-helpers
    __tracebackhide__ = True
    limits = {
        "usefulness": usefulness,
        "relevance": relevance,
        "conciseness": conciseness,
        "comprehensiveness": comprehensiveness,
    }
    thresholds = {name: limit for name, limit in limits.items() if limit is not None}
    from crscore.errors import ConfigError  # noqa: PLC0415

    if not thresholds:
        raise ConfigError("assert_review", "call", "give a limit, such as relevance=50")
    for name, limit in thresholds.items():
        if not 0 <= limit <= 100:
            raise ConfigError(name, "call", f"must be from 0 to 100, not {limit!r}")
        # On a scale from 0 to 1, 0.5 is the middle; here nearly every review would pass with it.
        if 0 < limit <= 1:
            raise ConfigError(name, "call", f"is from 0 to 100: write {100 * limit:g}")
    from crscore.agents.evaluation import default_scorer  # noqa: PLC0415

    result = (scorer or default_scorer()).score(diff, review)
    failed = [line for name, limit in thresholds.items() for line in _compare(result, name, limit)]
    if failed:
        raise AssertionError("\n".join([*failed, *_missed(result)]))
    return result


@pytest.fixture(scope="session")
def crscore_scorer() -> Scorer:
    """Scorer of the fixture `assert_review`; a project overrides it to choose settings."""
    from crscore.agents.evaluation import default_scorer  # noqa: PLC0415

    return default_scorer()


@pytest.fixture(name="assert_review", scope="session")
def _fixture(crscore_scorer: Scorer) -> Callable[..., Result]:
    """Assert that a review of a change is good enough: `crscore.pytest_plugin.assert_review`."""
    return functools.partial(assert_review, scorer=crscore_scorer)


def _compare(result: Result, name: str, limit: float) -> Iterator[str]:
    """Describe how one number of a result fails its threshold, if it does."""
    value: float | None = result.standing
    if name != "usefulness":
        share = getattr(result, name)
        value = None if share is None else round(100 * share, 6)  # 100 * 0.29 is below 29
    if value is None:
        yield f"{name} is not known: {result.scores.reason or 'the encoder has no weights for it'}"
    elif value < limit:
        useful = result.usefulness if name == "usefulness" else None
        yield f"{name} is {useful.interval if useful else f'{value:.4g}'}, below {limit:g}"


def _missed(result: Result) -> Iterator[str]:
    """List the references that the review did not address, highest weight first, and the notes."""
    from crscore.reports import escape, view  # noqa: PLC0415

    missed = [reference for _, reference in view.unaddressed(result)]
    if missed:
        yield f"{view.unaddressed_title(result)} ({len(missed)}):"
    for reference in missed[:_MAX_LISTED]:
        yield "  - " + escape.one_line(f"{view.places(reference)}: {reference.text}")
    if len(missed) > _MAX_LISTED:
        yield f"  ... and {len(missed) - _MAX_LISTED} more"
    yield from (escape.one_line(f"note: {note}") for note in result.notes)
