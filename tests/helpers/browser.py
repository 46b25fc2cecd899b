"""Finds and starts the Chromium that the tests of the web page drive."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str:
    """Find the browser; the error says how to install it."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError(
        f"none of {', '.join(NAMES)} is on the PATH; on Debian: apt-get install chromium"
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start headless Chromium with an empty profile and close it at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
