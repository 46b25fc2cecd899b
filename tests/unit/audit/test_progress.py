from __future__ import annotations

import io

from rich.console import Console

from crscore.audit.progress import Bar


def _shown(*, is_terminal: bool) -> str:
    out = io.StringIO()
    with Bar(Console(file=out, force_terminal=is_terminal, width=120)) as bar:
        bar.start(3, "Scoring pull requests")
        bar.text("a/b#1 [red]\x1b[31m")
        bar.advance()
        bar.start(2, "Second part")
        bar.advance()
    return out.getvalue()


def test_a_bar_counts_the_steps_of_each_part() -> None:
    shown = _shown(is_terminal=True)
    assert "Second part" in shown
    assert "1/2" in shown


def test_markup_and_control_characters_of_a_text_have_no_effect() -> None:
    out = io.StringIO()
    with Bar(Console(file=out, force_terminal=True, width=120, color_system=None)) as bar:
        bar.start(3, "Scoring")
        bar.text("a [red]\x1b[31mb")
    assert "[red]" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()


def test_nothing_is_shown_without_a_terminal() -> None:
    assert _shown(is_terminal=False) == ""
