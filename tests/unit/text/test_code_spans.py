from collections.abc import Callable

import pytest

from crscore.text.code_spans import CODE_SPAN, code_names, find_code_spans
from tests.helpers.growth import growth


def test_code_spans_are_between_equal_runs_of_backticks() -> None:
    spans = {
        "no code": [],
        "Use `a` and `b.c()`.": ["a", "b.c()"],
        "``a `quoted` name``": ["a `quoted` name"],
        "`a\nb`": [],
        "one ` alone": [],
        "``": [],
        "` `": [" "],
        "```js```": ["js"],
    }
    assert {text: find_code_spans(text) for text in spans} == spans


def test_spans_can_be_replaced() -> None:
    assert CODE_SPAN.sub("x", "`a` or ``b`` or `c") == "x or x or `c"


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["`", "`a", "` ", "``a ", "`a``"])
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = piece * (size // len(piece))
        return lambda: find_code_spans(text)

    assert growth(prepare, 10_000) < 12


def test_names_are_the_identifiers_in_code_spans() -> None:
    names = {
        "Call parse here": set(),
        "`parse(x)` and `Parse.All`": {"parse", "all"},
        "`max_limit` or ``a `second` one``": {"max_limit", "second", "one"},
        "`1e10` `été2`": {"été2"},
        "`a` `ab`": set(),
    }
    assert {text: set(code_names(text)) for text in names} == names
