"""Gate of one text."""

from types import SimpleNamespace

from crscore.scoring import gate


def test_on_nothing_decides_about_a_text_without_a_score() -> None:
    reason = "no sentence in the review text"
    numbers = {"usefulness": None, "relevance": None, "reason": reason}
    limits = {"fail-under": 30.0}
    line = "a.md could not be judged: no usefulness (no sentence in the review text)"
    passed = gate.check_thresholds("a.md", **numbers, thresholds=limits)
    failed = gate.check_thresholds("a.md", **numbers, thresholds=limits, on_nothing="fail")
    assert (passed.failed, passed.notices) == ((), (line,))
    assert (failed.failed, failed.notices) == ((line,), ())
    skipped = gate.check_thresholds("a.md", **numbers, thresholds=limits, on_nothing="skip")
    assert skipped == gate.GateResult((), ())


def test_threshold_can_be_for_the_low_end_of_the_interval() -> None:
    useful = SimpleNamespace(standing=64, low=35)
    numbers = {"usefulness": useful, "relevance": 0.5, "reason": None}
    limits = {"fail-under": 50.0, "fail-under-low": 40.0}
    failed = gate.check_thresholds("a.md", thresholds=limits, **numbers).failed
    assert failed == ("low end of the usefulness interval of a.md is 35, below fail-under-low 40",)
