"""Scoring of code reviews: conciseness, comprehensiveness and relevance."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crscore.errors import CRScoreError
    from crscore.records import Comment, Result
    from crscore.reports.tables import results_frame
    from crscore.scorer import Scorer
    from crscore.settings import Config
    from crscore.version import __version__

__all__ = ["CRScoreError", "Comment", "Config", "Result", "Scorer", "__version__", "results_frame"]

_MODULES = {
    "CRScoreError": "crscore.errors",
    "Comment": "crscore.records",
    "Config": "crscore.settings",
    "Result": "crscore.records",
    "Scorer": "crscore.scorer",
    "__version__": "crscore.version",
    "results_frame": "crscore.reports.tables",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, because most programs need only a few of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
