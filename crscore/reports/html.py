"""The report as one self-contained web page, made by jinja2 (tried with 3.1).

The page loads nothing and runs no script: its content security policy allows only
its own style sheet, by hash. Jumping from a pseudo-reference to its lines and
marking them is done by links and the `:target` of the style sheet.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from crscore.reports import _escape, _page, _view
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.records import Result
    from crscore.reports.base import Report


@dataclass(frozen=True, slots=True)
class Html:
    """Renders for a browser."""

    def render(self, results: Sequence[Result]) -> str:
        """Render all results as one page, each a section."""
        pages = [
            _page.page(
                result,
                prefix=f"x{index + 1}-" if len(results) > 1 else "",
                heading=f"Change {index + 1} of {len(results)}" if len(results) > 1 else "",
            )
            for index, result in enumerate(results)
        ]
        style = _style(pages)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        document = _template().render(
            pages=pages,
            # Our own text, no input in it: it has to be the very bytes that were hashed.
            style=Markup(style),  # noqa: S704
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            version=__version__,
            view=_view,
        )
        return _escape.no_commands_html(document).strip() + "\n"


def _style(pages: Sequence[_page.Page]) -> str:
    """The style sheet with one rule for each place that can be jumped to.

    Only ids made from positions go in, never a text.
    """
    rules = [_read("report.css")]
    for page in pages:
        for name in sorted(page.diff.anchored):
            place = page.prefix + name
            rules.append(f":root:has(#{page.prefix}at-{name}:target) .on-{place}>td{{")
            rules.append("background:var(--lit)}\n")
    return "".join(rules)


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_read("report.html.j2"))


def _read(name: str) -> str:
    folder = importlib.resources.files("crscore") / "reports" / "templates"
    return (folder / name).read_text("utf-8")


def create(options: Mapping[str, str]) -> Report:  # noqa: ARG001
    """Make the report; it takes no options: the page always shows everything."""
    return Html()
