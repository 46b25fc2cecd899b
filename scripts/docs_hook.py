"""Hooks of mkdocs: links from the documentation into the code, and the list of decisions."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_NESTED = re.compile(r"^ {3}(?=\d+\. )", re.MULTILINE)
_OUTSIDE = re.compile(r"\]\((?P<target>(?:\.\./)+[^)]+)\)")


def on_config(config: MkDocsConfig) -> None:
    """Add the decisions to the navigation, sorted by number."""
    pages = sorted(Path(config.docs_dir, "design").glob("*.md"))
    config.nav.append({"Decisions": [f"design/{page.name}" for page in pages]})


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Point links to files outside of `docs/` to the repository; indent nested lists for mkdocs."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def address(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found["target"]))
        if target.startswith("docs/"):
            return found[0]
        return f"]({config.extra['repository']}/blob/HEAD/{target})"

    return _OUTSIDE.sub(address, _NESTED.sub(" " * 4, markdown))
