"""What every report promises, over whatever reports there are."""

import re
from collections.abc import Callable, Mapping

import pytest

from crscore import plugins
from crscore.records import Flag
from tests.helpers import results

NAMES = plugins.names("reports")
MAKERS = (
    results.small,
    results.review,
    results.topics,
    results.abstained,
    results.hostile,
    results.flagged,
    lambda: results.learned(results.abstained()),
    lambda: results.learned(results.hostile(), (Flag.REPEATS, None, *[Flag.HIDDEN] * 3)),
    results.hostile_useful,
    results.decided,
    lambda: results.useful(results.abstained()),
)
"""Results of a matcher with a threshold, then of one with degrees."""
OPTIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"signature": "true", "color": "false", "width": "120"},
)


def report(name: str, options: Mapping[str, str]) -> Callable[..., str]:
    created: Callable[..., str] = plugins.create("reports", name, offered=options)
    return created


@pytest.mark.parametrize("name", NAMES)
def test_document_is_the_same_text_each_time_and_ends_in_one_line_end(name: str) -> None:
    for options in OPTIONS:
        for make in MAKERS:
            shown = report(name, options)([make()])
            assert shown.strip()
            assert shown.endswith("\n")
            assert not shown.endswith("\n\n")
            assert shown.encode("utf-8")
            assert shown == report(name, options)([make()])


@pytest.mark.parametrize("name", NAMES)
def test_several_results_are_one_document(name: str) -> None:
    created = report(name, {})
    both = created([results.review(), results.abstained()])
    assert len(both) > len(created([results.review()]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [results.hostile, results.hostile_useful, results.hostile_decided])
def test_document_holds_nothing_that_commands_a_terminal_or_runner(name: str, make) -> None:
    shown = report(name, {})([make()])
    assert not set(shown) & set("\x00\x07\x08\x1b\x7f\x9b\x9d\u202e\u202c\u2066\u200b")
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [results.abstained, lambda: results.useful(results.abstained())])
def test_document_has_the_reason_of_an_abstention(name: str, make) -> None:
    shown = " ".join(report(name, {})([make()]).split())
    assert "there are no sentences to compare with" in shown


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", OPTIONS)
def test_document_has_the_usefulness_of_reviews_and_sentences(name, options) -> None:
    shown = report(name, options)([results.useful(results.review())])
    assert {"83", "asks for a change", "78"} <= set(re.findall(r"asks for a change|\d+", shown))
    assert "asks for a change" not in report(name, options)([results.review()])


@pytest.mark.parametrize("name", NAMES)
def test_document_carries_the_signature(name: str) -> None:
    whole = report(name, {"width": "120", "signature": "true"})([results.review()])
    assert results.SIGNATURE in whole


@pytest.mark.parametrize("name", sorted({*NAMES} - {"sarif"}))
@pytest.mark.parametrize("options", OPTIONS)
def test_document_has_the_flags_of_a_sentence(name: str, options) -> None:
    shown = " ".join(report(name, options)([results.flagged()]).split())
    odd = {flag for flag in results.flagged().sentence_flags if flag}
    assert all(flag.value in shown for flag in odd)
    assert not any(flag.value in report(name, options)([results.review()]) for flag in Flag)


@pytest.mark.parametrize("name", ["html", "json"])
def test_document_shows_what_decided_about_a_sentence(name: str) -> None:
    # The best cell of the first sentence is 0.8215; the matcher with degrees halves it.
    assert "0.82" in report(name, {})([results.small()])
    shown = report(name, {})([results.learned(results.small())])
    assert re.search(r"\b0\.41" if name == "json" else r"\b41\b", shown)


@pytest.mark.parametrize("name", NAMES)
def test_several_results_may_come_from_different_matchers(name: str) -> None:
    options = {"width": "120", "signature": "true"}
    shown = report(name, options)([results.review(), results.flagged()])
    assert results.SIGNATURE in shown
    assert results.LEARNED in shown


@pytest.mark.parametrize("name", sorted({*NAMES} - {"json"}))
@pytest.mark.parametrize("make", [results.topics, lambda: results.learned(results.topics())])
def test_each_unaddressed_topic_is_listed_once(name: str, make) -> None:
    shown = " ".join(report(name, {"width": "160"})([make()]).replace("<code>", "`").split())
    shown = shown.replace("</code>", "`")
    first = "`HostAuthorization`, new, 110 lines: `HostAuthorization` is new."
    assert shown.count(first) == 1
    assert shown.count("`HostAuthorization`, new, 110 lines: ") == 1
    assert "`old_fetch`, removed, 2 lines: `old_fetch` was removed." in shown
    # One of its claims is addressed.
    assert "`Client.fetch`, changed, 9 lines: " not in shown
    assert "The value of `timeout` is 30." in shown
