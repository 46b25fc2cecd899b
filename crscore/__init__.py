"""Scores how good a code review is: conciseness, comprehensiveness and relevance."""

from crscore.config import Config
from crscore.errors import CRScoreError
from crscore.records import Comment, Result
from crscore.scorer import Scorer
from crscore.version import __version__

__all__ = ["CRScoreError", "Comment", "Config", "Result", "Scorer", "__version__"]
