"""Pairs with the same subject or the same place, and what is said there."""

import pytest

from crscore import bench
from crscore.bench.records import Change, Finding, Problem, make_set

OTHER_POINTS = (
    ("`joinPath` throws when the root folder is undefined.", "Typo: `joinPath` in the README."),
    ("`joinPath` throws when the root folder is undefined.", "Add a docstring to `joinPath`."),
    ("`readRows` drops the last row of a file.", "Rename the variable in `readRows`."),
    ("`readRows` drops the last row of a file.", "`readRows` could use a comprehension instead."),
    ("`askAgain` never stops: the counter is reset.", "Please add a unit test for `askAgain`."),
    ("`askAgain` never stops: the counter is reset.", "`askAgain` lacks a return type annotation."),
    ("sumPrices is called twice for a cancelled order.", "Use const instead of let in sumPrices."),
    ("toJSON returns the password of the user.", "toJSON has trailing whitespace."),
    ("`mean` divides by zero for an empty list.", "`mean` can be written in one line with len()."),
    ("`save_order` runs before the payment is confirmed.", "`save_order`: typo in the log."),
)  # fmt: skip
SAME_POINTS = (
    ("`joinPath` throws when the root folder is undefined.", "`joinPath` throws without a root."),
    ("`readRows` drops the last row of a file.", "The last row of a file is lost in `readRows`."),
    ("toJSON returns the password of the user.", "The user's password leaks through toJSON."),
)  # fmt: skip
TERSE = (
    ("The loop starts at 1 and skips the first element.", "off by one"),
    ("The file handle is not closed when parsing fails.", "close this"),
    ("The query is built by concatenation and allows SQL injection.", "use bind params"),
    ("The password is written to the log.", "don't log this"),
    ("The error of Close is ignored.", "check err"),
    ("The lock is never released on the early return.", "unlock missing"),
)
TYPO = ("The message says `supended` instead of suspended.", "typo, it should say suspended")
TERSE_OTHERS = (
    ("The loop starts at 1 and skips the first element.", "nit: spacing"),
    ("The file handle is not closed when parsing fails.", "rename this"),
    ("The query is built by concatenation and allows SQL injection.", "line too long"),
    ("The password is written to the log.", "nice!"),
    ("The error of Close is ignored.", "why a pointer?"),
    ("The lock is never released on the early return.", "indentation"),
)


EMPTY = tuple(
    (problem, text)
    for problem in ("off by one", "Missing test.", "The lock is never released on early return.")
    for text in ("a", "?", "LGTM", "bug", "ok", "nice", "\N{THUMBS UP SIGN}", "`retry`")
)


def count_hits(pairs: tuple[tuple[str, str], ...], line: int | None = None) -> int:
    path = "a.py" if line else None
    changes, findings = [], []
    for number, (problem, text) in enumerate(pairs):
        known = Problem(text=problem, path=path, line=line and 40)
        changes.append(Change(id=str(number), problems=(known,)))
        findings.append(Finding(change=str(number), bot="b", text=text, path=path, line=line))
    return bench.score(make_set("g", "", changes), findings, resamples=0).bots[0].hits


def test_terse_comment_on_a_typo_is_a_hit_on_its_line() -> None:
    assert count_hits((TYPO,), 40) == 1


def test_word_without_a_claim_matches_nothing() -> None:
    assert count_hits(EMPTY) == 0
    assert count_hits(EMPTY, 40) == 0


def test_same_subject_is_not_the_same_point() -> None:
    assert count_hits(OTHER_POINTS) <= 1
    assert count_hits(SAME_POINTS) == len(SAME_POINTS)


@pytest.mark.parametrize("line", [40, 42, 60])
def test_terse_comment_needs_less_evidence_at_the_line_of_the_problem(line: int) -> None:
    assert (count_hits(TERSE, line) == len(TERSE)) == (line < 60)
    assert count_hits(TERSE_OTHERS, line) == 0
