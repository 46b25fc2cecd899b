"""Errors of responses, and the budget for waits. Statuses, headers and words as hosts send them."""

import json

import pytest

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from crscore.hosts import http
from crscore.hosts.http import HostClient, TransientError, WaitBudget
from tests.helpers.scripted import Clock

NOW = 1_700_000_000.0
PRIMARY = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 90)}
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
BLOCKED = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content "
    "creation. Please retry your request again later."
)
ABUSE = "You have triggered an abuse detection mechanism. Please wait a few minutes."


class _Client(HostClient):
    name = "GitHub"
    library_errors = ()

    def read_refusal(self, exc: Exception) -> None:
        return None

    def create_comment(self, repository: str, number: int, body: str) -> tuple[int, str]:
        raise NotImplementedError

    def edit_comment(self, repository: str, number: int, comment: int, body: str) -> str:
        raise NotImplementedError

    def delete_comment(self, repository: str, number: int, comment: int) -> None:
        raise NotImplementedError


CLIENT = _Client("https://api.github.com", {}, None, budget=WaitBudget(now=lambda: NOW))


def _check(status: int, message: str = "", headers=None, **more) -> None:
    body = json.dumps({"message": message, **more}).encode()
    CLIENT.check(status, headers or {}, body, "GET /x")


@pytest.mark.parametrize("status", [200, 201, 204])
def test_success_is_accepted(status: int) -> None:
    _check(status)


def test_refusal_is_final_and_quotes_github() -> None:
    for status, message, kind in [
        (401, "Bad credentials", BadTokenError),
        (403, "Resource not accessible by integration", PermissionDeniedError),
        (403, "Must have admin rights to Repository.", PermissionDeniedError),
        (404, "Not Found", NotFoundError),
        (410, "Issues are disabled for this repo", NotFoundError),
        (422, "Validation Failed", HostError),
        (451, "Repository access blocked", HostError),
        (304, "", UnavailableError),
        (301, "Moved Permanently", UnavailableError),
    ]:
        with pytest.raises(HostError) as caught:
            _check(status, message)
        assert type(caught.value) is kind
        assert message in caught.value.reason or status < 400
        assert caught.value.request == "GET /x"


def test_server_error_is_transient() -> None:
    for status in [202, 408, 500, 502, 503, 504]:
        with pytest.raises(TransientError) as caught:
            _check(status, "Server Error")
        assert type(caught.value.error) is UnavailableError
        assert caught.value.wait_s is None


@pytest.mark.parametrize(
    ("headers", "message", "wait_s", "doubles"),
    [
        (PRIMARY, "API rate limit exceeded for user ID 1.", 91.0, False),
        ({**PRIMARY, "retry-after": "7"}, "API rate limit exceeded", 7.0, False),
        ({**PRIMARY, "x-ratelimit-reset": "1"}, "API rate limit exceeded", 1.0, False),
        (PRIMARY, "", 91.0, False),
        ({"x-ratelimit-remaining": "0"}, "API rate limit exceeded", 60.0, True),
        ({"retry-after": "30"}, SECONDARY, 30.0, False),
        ({"retry-after": "30"}, "", 30.0, False),
        ({}, SECONDARY, 60.0, True),
        ({"x-ratelimit-remaining": "4000", "x-ratelimit-reset": "2"}, BLOCKED, 60.0, True),
        ({}, ABUSE, 60.0, True),
        ({"retry-after": "soon"}, SECONDARY, 60.0, True),
        ({"retry-after": "nan"}, SECONDARY, 60.0, True),
        ({"retry-after": "-5"}, SECONDARY, 60.0, True),
        ({"retry-after": "inf"}, SECONDARY, 60.0, True),
        ({"ratelimit-remaining": "0", "ratelimit-reset": str(int(NOW) + 90)}, "", 91.0, False),
    ],
)
def test_limit_asks_to_wait(headers, message: str, wait_s: float, doubles) -> None:
    for status in (403, 429):
        with pytest.raises(TransientError) as caught:
            _check(status, message, headers)
        again = caught.value
        assert (again.wait_s, again.doubles) == (wait_s, doubles)
        assert isinstance(again.error, RateLimitedError)
        assert again.error.retry_after == wait_s


def test_429_is_a_limit_without_any_word() -> None:
    with pytest.raises(TransientError):
        _check(429)


def test_body_that_is_no_json_still_has_a_status() -> None:
    with pytest.raises(PermissionDeniedError):
        CLIENT.check(403, {}, b"<html>Forbidden</html>", "GET /x")


@pytest.mark.parametrize(
    "errors",
    [
        [{"resource": "IssueComment", "field": "data", "message": "Body is too long"}],
        ["Body is too long"],
        "Body is too long",
    ],
)
def test_details_of_a_validation_error_are_quoted(errors) -> None:
    with pytest.raises(HostError, match=r"Validation Failed; .*Body is too long"):
        _check(422, "Validation Failed", errors=errors)


@pytest.mark.parametrize("errors", [{"odd": 1}, [1], 7])
def test_odd_details_do_not_hide_the_message(errors) -> None:
    with pytest.raises(HostError, match="Validation Failed"):
        _check(422, "Validation Failed", errors=errors)


def test_field_and_code_replace_a_missing_message() -> None:
    with pytest.raises(HostError, match=r"body.*missing_field"):
        _check(422, "Validation Failed", errors=[{"field": "body", "code": "missing_field"}])


def test_words_of_the_host_are_one_short_line() -> None:
    with pytest.raises(HostError) as caught:
        _check(400, "a\r\n::error::b\x1b[31m\u202ec\u2028" + "d" * 999)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 350


def test_object_of_a_message_is_quoted() -> None:
    with pytest.raises(HostError, match="can't be blank"):
        CLIENT.check(400, {}, b'{"message": {"note": ["can\'t be blank"]}}', "POST /x")


# Waits


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _retry(clock: Clock, *failures: TransientError, left_s: float = 300.0, report=None) -> float:
    """Fail some times, then succeed; return what is left of the budget."""
    budget = WaitBudget(left_s=left_s, sleep=clock.sleep, now=clock.now)
    waiting = list(failures)

    def attempt() -> None:
        if waiting:
            raise waiting.pop(0)

    _Client("https://h", {}, None, budget=budget, report=report).retry(attempt)
    return budget.left_s


def _limit(wait_s: float, *, doubles: bool = False) -> TransientError:
    error = RateLimitedError("GET /x", "primary rate limit", wait_s)
    return TransientError(error, wait_s=wait_s, doubles=doubles)


BROKEN = UnavailableError("GET /x", "GitHub returned 502")


def test_waits_double_with_some_chance(clock) -> None:
    _retry(clock, *[TransientError(BROKEN)] * 4)
    least = [0, 2, 4, 8]
    assert all(low <= wait <= low + 1 for low, wait in zip(least, clock.slept, strict=True))


def test_fifth_failure_is_raised(clock) -> None:
    with pytest.raises(UnavailableError) as caught:
        _retry(clock, *[TransientError(BROKEN)] * 5)
    assert caught.value is BROKEN


def test_wait_that_the_host_requests_is_kept_to_the_second(clock) -> None:
    assert _retry(clock, _limit(12.0), _limit(7.0)) == 281.0
    assert clock.slept == [12.0, 7.0]


def test_wait_without_a_given_time_doubles(clock) -> None:
    _retry(clock, *[_limit(60.0, doubles=True)] * 2)
    assert clock.slept == [60.0, 120.0]


def test_wait_beyond_the_budget_is_refused_at_once(clock) -> None:
    with pytest.raises(RateLimitedError) as caught:
        _retry(clock, _limit(12.0), left_s=11.9)
    assert (clock.slept, caught.value.retry_after) == ([], 12.0)
    assert _retry(clock, _limit(12.0), left_s=12.0) == 0.0


def test_time_of_a_failed_try_counts(clock) -> None:
    budget = WaitBudget(left_s=59.0, sleep=clock.sleep, now=clock.now)

    def attempt() -> None:
        clock.time += 30
        raise TransientError(BROKEN)

    with pytest.raises(UnavailableError):
        _Client("https://h", {}, None, budget=budget).retry(attempt)
    assert len(clock.slept) == 1


def test_clock_that_is_set_back_adds_nothing_to_the_budget(clock) -> None:
    budget = WaitBudget(left_s=9.0, sleep=clock.sleep, now=clock.now)

    def attempt() -> None:
        clock.time -= 1000
        raise _limit(5.0)

    with pytest.raises(RateLimitedError):
        _Client("https://h", {}, None, budget=budget).retry(attempt)
    assert budget.left_s == 4.0


def test_waits_are_reported_before_they_are_made(clock) -> None:
    messages: list[str] = []
    _retry(clock, _limit(12.0), report=messages.append)
    assert messages == ["the host asks to wait 12 s (primary rate limit)"]


def test_requests_beyond_their_maximum_are_not_sent() -> None:
    client = _Client("https://host.invalid", {}, None, max_requests=0)
    with pytest.raises(RateLimitedError, match="budget of 0 requests is spent"):
        client.get("/x", dict)


def test_message_of_a_host_is_cut() -> None:
    with pytest.raises(HostError) as caught:
        _check(400, "d" * 999)
    assert len(caught.value.reason) < http.MAX_MESSAGE + 60
