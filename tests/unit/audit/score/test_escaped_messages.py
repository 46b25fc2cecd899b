"""Which messages say that a commit fixes something."""

from __future__ import annotations

import pytest

from crscore.audit.score.escaped import is_fix


@pytest.mark.parametrize(
    "message",
    [
        "Fix crash of an empty cart",
        "fix(parser): quotes",
        "Hotfix: totals",
        "Handle a missing key\n\nCloses #12",
        "Return an error\n\nResolves acme/shop#3",
        'Revert "feat: retry"\n\nThis reverts commit 0123.',
        'Revert "Fix typo"',
        "Merge pull request #4 from acme/retry\n\nFix endless retry",
    ],
)
def test_fixes(message: str) -> None:
    assert is_fix(message)


@pytest.mark.parametrize(
    "message",
    [
        "Add retries",
        "Use the prefix of fixtures",
        "feat: retry (fixes #3)",
        "Add a retry option\n\nCloses #40",
        "Fix typo",
        "Fix the flaky tests",
        "Fix what the review says",
        'Revert "Revert "feat: retry""',
        "Merge pull request #4 from acme/fix-cart\n\nShow the cart",
        "Merge pull request #4 from acme/cart\n\nfeat: show the cart\n\nCloses #3",
        "",
    ],
)
def test_other_commits(message: str) -> None:
    assert not is_fix(message)
