"""Renders the frame that all web pages share, with jinja2 (tested with 3.1).

A page loads nothing and runs no script, because its content security policy allows only the style
sheet in the page, by hash.
"""

import base64
import functools
import hashlib
import importlib.resources
from typing import Any

import jinja2
from markupsafe import Markup

from crscore.reports import escape, score_blocks, view
from crscore.reports.blocks import Line
from crscore.version import __version__


def page(template: str, *, title: str, style: str, **values: Any) -> str:
    """Render a page.

    Args:
        template: Path inside the package of a template that extends
            `reports/templates/frame.html.j2`.
        title: Title of the page.
        style: CSS rules in addition to the frame's. They are trusted, so they must not contain
            input.
        values: Other values for the template, which escapes every text in them.

    Returns:
        One self-contained document.
    """
    rules = read_resource("reports/templates/frame.css") + style
    # https://www.w3.org/TR/CSP3/#grammardef-hash-source: base64 of the bytes of the style element.
    digest = base64.b64encode(hashlib.sha256(rules.encode()).digest()).decode()
    document = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            # Not escaped, because the page must contain exactly the bytes that were hashed.
            style=Markup(rules),  # noqa: S704
            # https://www.w3.org/TR/CSP3/: nothing is loaded, no script runs, no form is sent.
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            version=__version__,
            **values,
        )
    )
    # A CI job may print the page to its log, where the runner executes commands.
    return escape.no_commands_html(document).strip() + "\n"


def read_resource(path: str) -> str:
    """Read a text file of the package, such as a style sheet, by its path inside the package."""
    return importlib.resources.files("crscore").joinpath(*path.split("/")).read_text("utf-8")


@functools.lru_cache(maxsize=1024)  # a claim is shown again with every sentence about it
def prose(text: str, limit: int = escape.MAX_ITEM_CHARS) -> Markup:
    """Clean and escape prose for HTML and mark up its code spans as code."""
    if "`" not in text:
        return Markup.escape(escape.one_line(text, limit))
    parts = (
        # `format` of a Markup escapes its arguments.
        Markup("<code>{}</code>").format(words) if is_code else Markup.escape(words)
        for words, is_code in escape.split_code_spans(text, limit)
    )
    return Markup("").join(parts)


def render_line(line: Line, limit: int = escape.MAX_ITEM_CHARS) -> Markup:
    """Clean and escape a line; its tones become CSS classes."""
    if isinstance(line, str):
        return prose(line, limit)
    parts = []
    for part in line:
        if isinstance(part, str):
            parts.append(prose(part, limit))
            continue
        # Escaped and joined, because `Markup.format` takes ten times as long, and the pages of an
        # audit have 100,000 parts of lines.
        text = Markup.escape(escape.fragment(part.text, limit))
        tone = f' class="{Markup.escape(part.tone)}"' if part.tone else ""
        if part.link:
            link = Markup.escape(part.link)
            text = Markup(f'<a{tone} href="{link}">{text}</a>')  # noqa: S704
        elif tone:
            text = Markup(f"<span{tone}>{text}</span>")  # noqa: S704
        parts.append(text)
    return Markup("").join(parts)


def _clean_value(value: object) -> object:
    """Clean each text that a template shows, in case the template applies no filter to it."""
    # Not `isinstance`, because a `Markup` is also a string, but it is already clean and escaped.
    if type(value) is str and not (value.isascii() and value.isprintable()):
        return escape.clean(value)
    return value


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_resource),
        autoescape=True,
        finalize=_clean_value,
        # A misspelled name raises an error instead of leaving a gap on the page.
        undefined=jinja2.StrictUndefined,
        # Without these two, lines with template statements would become empty lines in the page.
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        prose=prose, line=escape.one_line, code_line=escape.code_line, render=render_line
    )
    environment.globals.update(
        view=view, score_blocks=score_blocks, kind=lambda block: type(block).__name__
    )
    return environment
