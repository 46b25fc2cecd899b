"""Scores of bots on golden sets: the known problems that each bot found, and its other findings.

`score` is the Python API: `crscore.bench.score("golden.jsonl", "findings.jsonl")`.
"""

from crscore.bench.formats import read_findings, read_golden
from crscore.bench.score import score

__all__ = ["read_findings", "read_golden", "score"]
