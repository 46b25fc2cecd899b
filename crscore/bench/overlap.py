"""Finds findings of different reviewers that make the same point, and problems that look alike.

The pair model decides about both, although it was trained to match findings with known problems.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from crscore.bench.pairs import Doubles, TextView, assign, read_model, view_texts
from crscore.bench.records import Change, Finding, Problem
from crscore.encoders.minilm import MiniLM
from crscore.text import shorten
from crscore.usefulness.evidence import Rarity

# With this threshold, precision is 0.93 and recall 0.68 on the golden set of Martian
# (`benchmarks/same_point.py`).
SAME_POINT: Final = 0.8
"""Minimum probability at which two findings count as making the same point."""
# Of the pairs of texts that state one point in different words, half reach this probability; of the
# pairs that make different points about the same code, 11 % do (`benchmarks/points.jsonl`).
ALIKE_PROBABILITY: Final = 0.95
"""Minimum probability at which a note says that two problems of a golden set look alike."""
ALIKE_COSINE: Final = 0.2
"""Minimum cosine of two problems' vectors for which the probability is computed, to save time."""


def find_alike(change: Change, views: Mapping[str, TextView]) -> Iterator[str]:
    """Yield a note for each pair of problems of a change that may be the same problem.

    Args:
        change: The change.
        views: View of each problem's text, keyed by the text.
    """
    rows = [Finding(change="", bot="", text=row.text, path=row.path, line=row.line)
            for row in change.problems]  # fmt: skip
    for (i, first), (j, second) in combinations(enumerate(rows, 1), 2):
        if views[first.text].vector @ views[second.text].vector >= ALIKE_COSINE:
            probability = compare_findings([first], [second], views)[0, 0]
            if probability >= ALIKE_PROBABILITY:
                texts = f"{shorten(first.text, 60)}; {shorten(second.text, 60)}"
                yield f"problems {i} and {j} of {change.id} look alike ({probability:.2f}): {texts}"


def compare_findings(
    first: Sequence[Finding], second: Sequence[Finding], views: Mapping[str, TextView]
) -> Doubles:
    """Return the probability that findings of two reviewers make the same point, shape (F, G).

    Args:
        first: F findings of one reviewer, at least one.
        second: G findings of another reviewer.
        views: View of each finding's text, keyed by the text.
    """
    model = read_model()
    # The model compares a finding with a known problem, and does not treat the two alike. Here,
    # both are findings, so each of them is used as the known problem once, and the two
    # probabilities are averaged.
    forward = model.probabilities(first, _problems(second), views)
    backward = model.probabilities(second, _problems(first), views)
    probabilities: Doubles = (forward + backward.T) / 2
    return probabilities


def _problems(findings: Sequence[Finding]) -> list[Problem]:
    return [Problem(text=row.text, path=row.path, line=row.line) for row in findings]


def same_points(findings: Sequence[Finding], encoder: MiniLM, rarity: Rarity) -> list[int]:
    """Return, for each finding, the index of the first finding that makes the same point.

    If a finding makes the same point as two others, all three make it. But two findings of one
    reviewer (`bot`) never make the same point, not even if both are alike to findings of others.

    Args:
        findings: Findings about one change, oldest first.
        encoder: Encoder that the pair model was trained with.
        rarity: How rare each word stem is in review comments.
    """
    indices: dict[str, list[int]] = {}
    for index, finding in enumerate(findings):
        indices.setdefault(finding.bot, []).append(index)
    firsts = list(range(len(findings)))
    if len(indices) < 2:  # nothing to compare, so nothing to encode
        return firsts
    layers = read_model().layers
    views = view_texts([finding.text for finding in findings], encoder, rarity, layers)
    pairs: list[tuple[float, int, int]] = []
    for rows, columns in combinations(indices.values(), 2):
        first, second = ([findings[index] for index in side] for side in (rows, columns))
        probabilities = compare_findings(first, second, views)
        pairs += [(-probabilities[row, column], rows[row], columns[column])
                  for row, column in assign(probabilities).items()]  # fmt: skip
    # The most probable pair comes first, because a pair is left out if it would join two findings
    # of one reviewer. If none were left out, a chain of pairs would join findings that have little
    # in common (docs/design/031-decisions.md).
    for _, *pair in sorted(pair for pair in pairs if -pair[0] >= SAME_POINT):
        ends = {firsts[index] for index in pair}
        bots = [findings[index].bot for index, first in enumerate(firsts) if first in ends]
        if len(set(bots)) == len(bots):
            firsts = [min(ends) if first in ends else first for first in firsts]
    return firsts
