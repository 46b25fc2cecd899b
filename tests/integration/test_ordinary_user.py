"""Commands as a user without rights and without a home, as in most containers."""

from __future__ import annotations

import os
import sys

import pytest

from tests.helpers.ordinary_user import run_module

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can become another user"
)

EXAMPLE = ("examples/change.diff", "examples/review.md")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((*EXAMPLE, "--encoder", "hashing", "--analyzers", "none"), 0, "Relevance"),
        (("encoder", "install"), 3, "CRSCORE_ENCODER_DIR=DIR crscore encoder install"),
        (("audit", "sync", "acme/shop"), 3, "unable to open database file"),
        (("bench", "examples/bench/golden.jsonl", "none.jsonl"), 3, "none.jsonl"),
        ((*EXAMPLE, "--encoder", "hashing", "-o", "page.html"), 3, "no permission"),
    ],
)
def test_command_works_or_says_in_one_line_what_it_may_not(
    words: tuple[str, ...], code: int, said: str
) -> None:
    done = run_module("crscore", *words)
    shown = done.stdout + done.stderr
    assert (done.returncode, said in shown) == (code, True), shown
    assert "Traceback" not in done.stderr
    assert code == 0 or len(done.stderr.splitlines()) == 1
