from __future__ import annotations

import pytest

from crscore.scoring.assembly import render_signature, shorten_signature


def test_parts_keep_their_order() -> None:
    assert render_signature({"b": "1", "a": "2"}) == "crscore|b:1|a:2"


def test_blanks_and_bars_in_values_cannot_split_the_line() -> None:
    assert render_signature({"model": "a|b c\nd"}) == "crscore|model:a_b_c_d"


@pytest.mark.parametrize(
    ("analyzers", "text"),
    [
        ("none", "no analyzers"),
        ("ruff@1", "1 analyzer"),
        ("bandit@1,ruff@1,partial", "2 analyzers, partial"),
        ("sandbox:none", "no analyzers, sandbox:none"),
        ("ruff@1,sandbox:none", "1 analyzer, sandbox:none"),
    ],
)
def test_short_form_counts_the_analyzers(analyzers: str, text: str) -> None:
    whole = render_signature({"version": "1", "analyzers": analyzers})
    assert shorten_signature(whole).startswith(f"crscore 1 · {text} · id ")


def test_short_form_names_what_people_choose() -> None:
    parts = {"version": "1", "encoder": "st:a/b@c", "claims": "openai:m@2", "matcher": "published"}
    short = shorten_signature(render_signature(parts))
    assert short.startswith("crscore 1 · st · openai · published · no analyzers · id ")


def test_short_forms_differ_where_any_part_differs() -> None:
    parts = {"version": "1", "encoder": "minilm:L6@53aa", "max_claims": "12"}
    signatures = [
        shorten_signature(render_signature({**parts, **other}))
        for other in ({}, {"max_claims": "13"}, {"encoder": "minilm:L6@53ab"}, {"tau": "0.5"})
    ]
    assert len(set(signatures)) == 4
    assert signatures[0] == shorten_signature(render_signature(parts))
