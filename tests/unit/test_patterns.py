"""No regular expression of the package takes more than linear time.

Who writes a change or a comment chooses the text that the patterns read. Each pattern is collected
(`tests/helpers/patterns.py`): what a module holds, also in containers, classes and records; each
call of `re` with a literal or with names of its module; `msgspec.Meta(pattern=...)`; and what the
analyzers' manifests, the settings' rules and the attacks' phrases say. A pattern is used as its
name is used in its module: `match` and `fullmatch` begin at one place, anything else at each.

Each is pumped with texts derived from itself. A text is measured at 128, 1,024 and 8,192
characters, and only one whose time grows faster than its length is measured again, up to 32,768. It
fails if the time more than triples as the length doubles, in the mean of four doublings, in three
rounds of the best of two: linear work doubles, quadratic work quadruples.
"""

from __future__ import annotations

import re

import pytest

import crscore
from crscore.hosts.site import SITES
from crscore.settings import FILE_RULES
from crscore.static_analysis import analyzer
from tests.helpers.patterns import Use, collect, of_manifest, worst_growth

pytestmark = pytest.mark.growth

# Patterns that are made at run time.
_MADE_AT_RUN_TIME = [
    "crscore.claims.structural.consequences",  # of TOML, all of them
    "crscore.claims.structural.consequences",
    "crscore.claims.structural.consequences",
    "crscore.claims.structural.plain_files",  # of TOML, in a dictionary of the module
    "crscore.diff.paths",  # of TOML
    "crscore.llm.openai",  # words of `_REJECTIONS`, with at most one quantifier
    "crscore.llm.prompt_escaping",  # escaped tokens of a model
    "crscore.pull_request.reviewers.wildcards",  # two, of escaped parts in atomic groups
    "crscore.pull_request.reviewers.wildcards",
    "crscore.reports.view",  # an escaped noun
    "crscore.review.sentences",  # of TOML; its own test pumps labels
    "crscore.settings",  # FILE_RULES, below
    "crscore.static_analysis.analyzer",  # the manifests', below
    "crscore.text",
    "crscore.verdicts.judge",  # of word lists, in constants
    "crscore.verdicts.repository",  # of an escaped name
]
# Read sentences of `judge.MAX_CHARS` at most, and quoted code within them; changed lines of
# `consequences.MAX_LINE_CHARS`; names of colors of 40 characters at most.
_BOUNDED = (
    "crscore.review.markdown._LIGHT_COLOR",
    "crscore.verdicts.",
    "crscore.claims.structural.consequences",
)
# Their callers match them whole, through a function or a loop.
_MATCHED_WHOLE = {
    *(f"{site}.target" for site in SITES),
    "crscore.review.read._EDITS[]",
    "crscore.review.read._ONLY_CODE",
}


def everything() -> tuple[list[Use], list[str]]:
    """Return the uses of all patterns, and the calls whose patterns are made at run time."""
    uses, unknown = collect(crscore)
    for name in analyzer.analyzer_names(analyzer.builtin_folder()):
        loaded = analyzer.read_analyzer(analyzer.builtin_folder() / name, shipped=True)
        uses += of_manifest(loaded.manifest, f"analyzers/{name}")
    uses += [Use(re.compile(pattern), "fullmatch", key) for key, (pattern, _) in FILE_RULES.items()]
    distinct = {(use.pattern, use.method): use for use in uses}.values()
    return [
        Use(use.pattern, "fullmatch", use.where) if use.where in _MATCHED_WHOLE else use
        for use in distinct
    ], unknown


def test_no_pattern_takes_more_than_linear_time() -> None:
    uses, unknown = everything()
    assert sorted(unknown) == _MADE_AT_RUN_TIME
    assert len(uses) > 900
    slow = [
        (use, worst)
        for use in uses
        if not use.where.startswith(_BOUNDED) and (worst := worst_growth(use)) is not None
    ]
    assert not slow, "\n".join(
        f"{use.where}: {use.pattern.pattern!r} by {use.method} of {pump}: times {ratio:.1f}"
        for use, (pump, ratio) in slow
    )


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+$",
        r"x*y",
        r"(a+)+b",
        r"(?:a|a)*b",
        r"(?:\w+\s?)*!",
        r'"(?:\\.|[^"\\])*"|\w+',
        r"\[([^\]]*)\]",
        r"""[rbfu$]*(["'`])(.*?)\1""",
        r"key\s*=\s*(.*?)\s*;",
        r"<(\w+)[^>]*>.*?</\1>",
        r"^\s*\d+[.)] (?m:.)",
    ],
)
def test_planted_patterns_are_caught(pattern: str) -> None:
    assert worst_growth(Use(re.compile(pattern, re.MULTILINE), "search", "planted")) is not None


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"x*y", "match"),
        (r"(?<!x)x*+y", "search"),
        (r"(?<!\s)\s+$", "search"),
        (r"\[([^\[\]]*)\]", "search"),
        (r'"(?:\\.|[^"\\])*+"|\\.|\w+', "search"),
        (r"(?:a++)++b", "match"),
    ],
)
def test_linear_patterns_are_not(pattern: str, method: str) -> None:
    assert worst_growth(Use(re.compile(pattern), method, "linear")) is None
