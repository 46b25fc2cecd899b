"""Gate of one text."""

from crscore.scoring import gate


def test_a_text_without_a_number_fails_where_that_is_asked() -> None:
    numbers = {"standing": None, "relevance": None, "reason": "no sentence in the review text"}
    thresholds = {"fail_under": 30.0, "fail_under_relevance": None}
    line = "the gate was not applied to a.md: no usefulness, no sentence in the review text"
    passed = gate.check_thresholds("a.md", **numbers, **thresholds)
    failed = gate.check_thresholds("a.md", **numbers, **thresholds, on_nothing="fail")
    assert (passed.failed, passed.notices) == ((), (line,))
    assert (failed.failed, failed.notices) == ((line,), ())
    skipped = gate.check_thresholds("a.md", **numbers, **thresholds, on_nothing="skip")
    assert skipped == gate.GateResult((), ())
