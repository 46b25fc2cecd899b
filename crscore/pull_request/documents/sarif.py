"""SARIF of a pull request for code scanning: points that no review addresses, at their lines."""

from typing import Final

from msgspec.structs import replace

from crscore.pull_request.overview import Overview
from crscore.records import Result
from crscore.reports import sarif

CATEGORY: Final = "crscore/pull-request"
"""Category of the alerts: the same for each push, so that a host replaces the earlier ones."""


def render_sarif(overview: Overview, result: Result) -> str:
    """Write the document.

    Args:
        overview: Overview of the pull request; what could not be read becomes a notification.
        result: All comments of all reviewers against the change.

    Returns:
        SARIF 2.1.0 with one run, which has no results when there is no score.
    """
    notes = (*(f"Not all could be read: {text}" for text in overview.missing), *overview.notes)
    return sarif.render([replace(result, notes=notes)], CATEGORY)
