"""Compare a bot's mean usefulness by the network with that by readers of its comments.

    python -m benchmarks.bot_means DATA

DATA is the folder of `crscore train usefulness`. Seven bots have 20 or more comments whose worth
readers judged. Prints for each bot the number of comments; their mean standing by the shipped
network, with the interval of `audit.summary.estimate_mean`; their mean standing by the readers; and
the error, which is the readers' mean minus the mean that the network's standings predict. Then
prints the standard deviation of the error between bots, without the part that is due to single
comments (`BOT_ERROR`), and how many intervals contain the readers' mean, with and without
`BOT_ERROR`. The network was trained on these comments; the spread was measured on others.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.usefulness import read_rows
from crscore import Scorer
from crscore.audit import summary
from crscore.diff import parse
from crscore.errors import DiffParseError
from crscore.records import Comment
from crscore.usefulness import headline
from crscore.usefulness.headline import BOTS, COMMENTS, PEOPLE
from crscore.usefulness.model import read_weights
from crscore.usefulness.reader import SHIPPED
from crscore_lab.training.data import judgements

MIN_COMMENTS = 20


def read_comments(data: Path) -> list[tuple[str, str, str, float]]:
    """Return bot, hunk, text and worth by readers (1 to 5) of each comment of a bot."""
    folder = data / "real-comments"
    judged = {
        key: 1 + 4 * item.ratings["worth"]
        for key, item in judgements.read_comment_judgements().items()
    } | {
        judgements.text_key(row["comment"], row["diff_hunk"] or ""): row["worth"]
        for row in read_rows(folder / "worth-dev.jsonl.gz")
    }
    rows = [(row["bot"], row) for row in read_rows(folder / "acted-dev.jsonl.gz")]
    rows += [(row["writer"], row) for row in read_rows(folder / "accepted-dev.jsonl.gz")]
    comments = {}
    for bot, row in rows:
        hunk, text = row["diff_hunk"] or "", row["comment"]
        if bot and bot != "person":
            for key in (judgements.text_key(text, hunk), judgements.text_key(text)):
                if key in judged:
                    comments[bot, text] = (bot, hunk, text, judged[key])
    return list(comments.values())


def measure(rows: list[tuple[str, str, str, float]], weights) -> dict[str, np.ndarray]:
    """Return the standings of each bot's N comments by the network and by readers, shape (N, 2)."""
    scorer = Scorer(analyzers="none")
    values = np.sort(np.concatenate([weights.guide[COMMENTS, who] for who in (PEOPLE, BOTS)]))
    rng = np.random.default_rng(0)
    places = defaultdict(list)
    for bot, hunk, text, worth in rows:
        patch = f"diff --git a/f.x b/f.x\n--- a/f.x\n+++ b/f.x\n{hunk}\n" if hunk else ""
        try:
            diff = parse.parse_diff(patch)
        except DiffParseError:
            continue
        useful = scorer.score(diff, [Comment(body=text)]).comments[0].usefulness
        if useful is not None:
            value = headline.value_of([worth])
            first, last = np.searchsorted(values, [value - 1e-6, value + 1e-6])
            # Readers judge in whole numbers, so many texts have the same worth; the rank among
            # these is chosen at random.
            told = 100 * (first + (last - first) * rng.random()) / len(values)
            places[bot].append((useful.standing, told))
    return {bot: np.array(row) for bot, row in places.items() if len(row) >= MIN_COMMENTS}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    weights = read_weights(SHIPPED)
    spread = weights.scale.spread[COMMENTS].astype(np.float64)
    errors, noise, inside, inside_without = [], [], 0, 0
    print(f"{'bot':30} comments   network (80 %)   readers   error")
    for bot, row in measure(read_comments(parser.parse_args().data), weights).items():
        standings, told = row.T
        estimate = summary.estimate_mean(standings, spread)
        with mock.patch.object(summary, "BOT_ERROR", 0.0):
            narrow = summary.estimate_mean(standings, spread)
        error = told - np.interp(standings, spread[:, 0], spread[:, 2])
        errors.append(error.mean())
        noise.append(error.var(ddof=1) / len(error))
        inside += estimate.low <= told.mean() <= estimate.high
        inside_without += narrow.low <= told.mean() <= narrow.high
        print(
            f"{bot:30} {len(row):8}   {estimate.value:.0f} ({estimate.low:.0f} to "
            f"{estimate.high:.0f})   {told.mean():7.0f} {error.mean():7.1f}"
        )
    between = np.sqrt(max(0.0, np.mean(np.square(errors)) - np.mean(noise)))
    print(
        f"between bots {between:.1f}; intervals with the readers' mean: {inside} of {len(errors)}"
    )
    print(f"without the error between bots: {inside_without} of {len(errors)}")


if __name__ == "__main__":
    main()
