"""Scores bots on golden sets, by the known problems that each bot found and its other findings.

The Python API is `score`: `crscore.bench.score("golden.jsonl", "findings.jsonl")`.
"""

from crscore.bench.formats import read_findings, read_golden
from crscore.bench.score import score

__all__ = ["read_findings", "read_golden", "score"]
