from __future__ import annotations

import pytest

from crscore.pipeline import sentences_of, split_comment
from crscore.records import Comment, Diff, Receipt, Verdict
from crscore.verdicts.judge import judge_statements
from crscore.verdicts.statements import Statement
from tests.helpers.changes import change, together

GO = """
package shop

// Load reads the stock.
func Load(path string, stock *Stock) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if stock == nil {
		return nil
	}
	stock.Fill(file, path)
	timer := NewTimer()
	timer.Start()
	stock.total = 0
	return stock.Save()
}

func Sum(items []int) int {
	log.Flush()
	return Add(items, depth)
}
"""
PYTHON = '''
def pay(order, limit):
    """Pay an order."""
    amounts = order.amounts
    amounts.sort()
    return send(amounts, limit)


def send(amounts, limit):
    post(amounts, retries=3)
    print(amounts)
'''


def judge(text: str, diff: Diff) -> Receipt | None:
    comment = Comment(body=text)
    units = sentences_of([split_comment(comment, diff, "markdown")])
    return judge_statements([Statement(sentences=units, comment=comment)], diff, ())[0]


def verdict(text: str, *diffs: Diff) -> Verdict | None:
    both = (change("shop/load.go", "", GO), change("shop/pay.py", "", PYTHON))
    receipt = judge(text, together(*both, *diffs))
    return receipt.verdict if receipt else None


@pytest.mark.parametrize(
    "text",
    [
        "`Load` never calls `NewTimer`.",
        "`send` has no `retries`.",
        "`post(amounts, retries=3)` lacks `retries`.",
        "Nothing in `shop/load.go` calls `Add`.",
    ],
)
def test_what_is_there_is_not_missing(text: str) -> None:
    assert verdict(text) is Verdict.REFUTED


@pytest.mark.parametrize(
    "text",
    [
        "`Sum` does not call `NewTimer`.",
        "`post(amounts, retries=3)` has no `limit`.",
        "There is no `finally` in `Load`.",
        "`send` has neither a `timeout` nor a `backoff`.",
    ],
)
def test_what_is_missing_is_confirmed(text: str) -> None:
    assert verdict(text) is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "text",
    [
        "`file` should never be closed in `Load`.",
        "If `file` is not closed in `Load`, it leaks.",
        "`stock` is not checked for negative totals in `Load`.",
        "`stock` is not checked here.",
        "Skip files that are not closed in `Load`.",
        "There is no need to check `stock` in `Load`.",
        "`Save` is called without `path`.",
        "`Load` has no `null` check.",
        "`Sum` does not handle `None`.",
        "Nothing calls `OldSum` any longer.",
        "`Sum` does not call `missing_everywhere` for `unknown_name`.",
    ],
)
def test_careful_narrow_and_unknown_remarks_stay_open(text: str) -> None:
    assert verdict(text) is None


def test_hunks_alone_prove_no_absence() -> None:
    diff = change("a.go", GO, GO.replace("Flush", "Sync"), sources=False)
    assert judge("`Sum` has no `Flush`.", diff) is None


def test_receipt_names_the_line() -> None:
    receipt = judge("`Load` never calls `NewTimer`.", change("a.go", "", GO))
    assert receipt is not None
    lines = GO.strip().split("\n")
    number = 1 + next(at for at, line in enumerate(lines) if "NewTimer" in line)
    assert receipt.fact == f"`NewTimer` is in line {number}."
    assert [line.start for line in receipt.lines] == [number]
