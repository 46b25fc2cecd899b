"""Report as one self-contained web page.

The page runs no script. Jumping from a pseudo-reference to its lines and marking them
is done by links and the `:target` of the style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crscore.records import Result
from crscore.reports import frame
from crscore.reports import page as _page
from crscore.reports.base import Report


@dataclass(frozen=True, slots=True)
class Html:
    """Report for a browser."""

    def render(self, results: Sequence[Result]) -> str:
        """Render all results as one page, one section each."""
        pages = [
            _page.page(
                result,
                prefix=f"x{index + 1}-" if len(results) > 1 else "",
                heading=f"Change {index + 1} of {len(results)}" if len(results) > 1 else "",
            )
            for index, result in enumerate(results)
        ]
        return frame.page(
            "reports/templates/report.html.j2",
            title="Review score",
            style=style(pages),
            pages=pages,
        )


def style(pages: Sequence[_page.Page]) -> str:
    """Return the style sheet with one rule for each link target.

    It contains only ids made from positions, never input text.
    """
    rules = [frame.read_resource("reports/templates/report.css")]
    for page in pages:
        for name in sorted(page.diff.anchored):
            anchor = page.prefix + name
            rules.append(f":root:has(#{page.prefix}at-{name}:target) .on-{anchor}>td{{")
            rules.append("background:var(--lit)}\n")
    return "".join(rules)


def create() -> Report:
    """Create the report; it takes no options: the page always shows everything."""
    return Html()
