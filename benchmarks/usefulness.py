"""The headline on what it has not seen: learned on one half of the data, measured on the other.

    python benchmarks/usefulness.py DATA

DATA is the folder that `crscore train usefulness` takes. The groups (changes, repositories) are
divided into two halves; weights learned on each are measured on the other, and the answers joined.
Printed are, with real comments and titles beside their own change and another of the same language
or repository, the AUC of *about*; the AUC of substance and of each aspect for what raters said and
for whether the code was changed, within people and within bots; and how often a useful comment of a
person has a higher value than the structural claims of the change given as a review, than a
paraphrase of them and than praise that names the change's names; the share of comments of people of
which at least half is told to restate; and, on the commits of `benchmarks/pairs.jsonl`, how often a
senior review has a higher value than a summary that asks for nothing. The matcher is
learned on the human study, as for the shipped weights. About ten minutes on two cores.
"""

# ruff: noqa: ARG005

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from crscore import pipeline, scorer, settings
from crscore.lab.study.attacks.material import Wording
from crscore.lab.study.attacks.restatements import paraphrase
from crscore.lab.training import usefulness
from crscore.lab.training.data import corpus
from crscore.lab.training.data.judged_sentences import fold_of
from crscore.records import Comment, Flag
from crscore.usefulness.reader import UNMATCHED, Reader

ASPECTS = ("relevant", "informative", "clear", "acted_on", "reviewing")
NUMBERS = ("value", "about", "substance", *ASPECTS)
JOININGS = {
    "as shipped": lambda u, a, p, d: topical(u, (a + 0.05) * d, p) * (u.aspects.reviewing + 0.1),
    "without degrees": lambda u, a, p, d: topical(u, a + 0.05, p) * (u.aspects.reviewing + 0.1),
    "without about": lambda u, a, p, d: np.mean((a + 0.05) * d) * (u.aspects.reviewing + 0.1),
    "without reviewing": lambda u, a, p, d: topical(u, (a + 0.05) * d, p),
    "without floors": lambda u, a, p, d: topical(u, a * d, p) * u.aspects.reviewing,
    "mean and highest sentence": lambda u, a, p, d: (
        (topical(u, (a + 0.05) * d, p) + topical(u, (a + 0.05) * d, p, np.max))
        * (u.aspects.reviewing + 0.1)
    ),
    "sum of the sentences": lambda u, a, p, d: (
        topical(u, (a + 0.05) * d, p, np.sum) * (u.aspects.reviewing + 0.1)
    ),
    "substance times about": lambda u, a, p, d: u.substance * u.about,
    "relevance times substance": None,
}
NAME = re.compile(r"[A-Za-z_]\w{3,}")


class Remembering:
    """Encoder that encodes a text once."""

    def __init__(self, encoder) -> None:
        self.identity, self._encoder, self._known = encoder.identity, encoder, {}

    def encode(self, texts):
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def auc(yes, no) -> float:
    """Return the share of pairs in which `yes` is higher, ties half."""
    ranks = rankdata(np.concatenate([yes, no]))
    count = len(yes)
    return (ranks[:count].sum() - count * (count + 1) / 2) / (count * len(no))


def wins(first, second) -> float:
    """Return the share of pairs in which `first` is higher, ties half."""
    return float(np.mean(first > second) + np.mean(first == second) / 2)


def half(group: str) -> int:
    return fold_of(group) % 2


def topical(u, worth, about, together=np.mean) -> float:
    return together(worth * np.sqrt(about * u.about))


def joined(results):
    """Return the value of each result by each joining, shape (N, len(JOININGS))."""
    rows = []
    for result in results:
        parts = [
            np.array([reading.substance for reading in result.readings]),
            np.array([reading.about for reading in result.readings]),
            np.array([match.degree or UNMATCHED for match in result.sentence_matches]),
        ]
        usefulness = result.usefulness
        row = [
            join(usefulness, *parts) if usefulness else 0.0 for join in JOININGS.values() if join
        ]
        rows.append(
            [*row, (result.relevance or 0.0) * (usefulness.substance if usefulness else 0.0)]
        )
    return np.array(rows)


def measure(pairs, runner):
    """Score pairs; return the results, and shape (N, len(NUMBERS)), 0 for an abstention."""
    results = []
    for start in range(0, len(pairs), 200):
        batch = [pipeline.Pair(*pair) for pair in pairs[start : start + 200]]
        results += pipeline.run(batch, runner)
    usefulness = [result.usefulness for result in results]
    rows = [
        [u.value, u.about, u.substance, *(getattr(u.aspects, name) for name in ASPECTS)]
        if u
        else [0.0] * len(NUMBERS)
        for u in usefulness
    ]
    return results, np.array(rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    whole = corpus.read_corpus(data)
    encoder = Remembering(scorer.make_encoder(settings.Config()))
    base = scorer.Scorer(encoder=encoder, analyzers="none").parts
    with gzip.open(data / "commits/whole.jsonl.gz", "rt", encoding="utf-8") as file:
        commits = {row["commit"]: row for row in map(json.loads, file)}
    texts = Path(__file__).with_name("pairs.jsonl").read_text(encoding="utf-8")
    duels = [json.loads(line) for line in texts.splitlines()]
    parts: dict[str, list] = {}
    for side in (0, 1):
        learned, matcher = usefulness.train(
            replace(whole, posts=tuple(p for p in whole.posts if half(p.group) != side)),
            encoder=encoder,
        )
        runner = replace(base, reader=Reader(learned), matcher=matcher)
        seen = [post for post in whole.posts if half(post.group) == side and post.is_tied]
        for name, values in measure_half(seen, duels, commits, side, runner).items():
            parts.setdefault(name, []).append(values)
    report(parts)


def measure_half(seen, duels, commits, side, runner):
    rng = random.Random(side)
    comments = [p for p in seen if p.labels is not None and p.pool.startswith(("rated", "acted"))]
    titles = [p for p in seen if p.pool.endswith("title") and p.pool.startswith("commits")]
    parts_by_name = {}
    for kind, posts in (("comments", comments), ("titles", titles)):
        pools = {}
        for post in posts:
            pools.setdefault(post.pool, []).append(post)
        kept, others = [], []
        for post in posts:
            choice = [part for part in pools[post.pool] if part.patch != post.patch]
            if choice:
                kept.append(post)
                others.append(rng.choice(choice))
        results, own = measure([(p.diff, (p.comment,)) for p in kept], runner)
        other = measure([(o.diff, (p.comment,)) for p, o in zip(kept, others, strict=True)], runner)
        parts_by_name[f"{kind} own"], parts_by_name[f"{kind} other"] = own, other[1]
        if kind == "comments":
            by_joining = joined(results)
            parts_by_name["joined another change"] = (by_joining, joined(other[0]))
            parts_by_name["posts"] = kept
            parts_by_name["restates"] = [
                2 * sum(flag is Flag.RESTATES for flag in result.sentence_flags)
                >= max(1, len(result.sentences))
                for result in results
            ]
            useful = [
                at
                for at, post in enumerate(kept)
                if post.is_person and all(label != 0 for label in post.labels)
            ]
            useful = rng.sample(useful, 250)
            made = np.random.default_rng(side)
            for name in ("claims", "paraphrase", "praise"):
                pairs, rows = [], []
                for at in useful:
                    refs = [ref for ref in results[at].references if ref.counted]
                    names = [name for ref in refs for name in ref.identifiers]
                    names = (names or NAME.findall(kept[at].patch))[:6]
                    text = {
                        "claims": "\n\n".join(ref.text for ref in refs),
                        "paraphrase": "\n\n".join(
                            paraphrase(ref.text, Wording.TEST, made) for ref in refs
                        ),
                        "praise": " ".join(f"I like how `{n}` is handled here." for n in names),
                    }[name]
                    if text:
                        rows.append(at)
                        pairs.append((kept[at].diff, (Comment(body=text),)))
                made_up, values = measure(pairs, runner)
                parts_by_name[f"against {name}"] = (own[rows], values)
                parts_by_name[f"joined {name}"] = (by_joining[rows], joined(made_up))
    chosen = [duel for duel in duels if half(duel["repository"]) == side]
    diffs = [corpus.parse.parse_diff(commits[duel["commit"]]["diff"]) for duel in chosen]
    fought = [
        measure(
            [(diff, (Comment(body=duel[name]),)) for diff, duel in zip(diffs, chosen, strict=True)],
            runner,
        )
        for name in ("review", "summary")
    ]
    parts_by_name["duels"] = tuple(values for _, values in fought)
    parts_by_name["joined summary"] = tuple(joined(results) for results, _ in fought)
    return parts_by_name


def report(parts) -> None:
    """Print the table."""
    join = {
        name: np.concatenate(values) if name.endswith((" own", " other")) else values
        for name, values in parts.items()
    }
    column = {name: at for at, name in enumerate(NUMBERS)}
    for kind in ("comments", "titles"):
        own, other = join[f"{kind} own"], join[f"{kind} other"]
        for name in ("about", "value"):
            at = column[name]
            print(
                f"{kind}, own against another, {name}: AUC {auc(own[:, at], other[:, at]):.3f}, "
                f"wins {wins(own[:, at], other[:, at]):.3f} of {len(own):,}"
            )
    posts = [post for posts in parts["posts"] for post in posts]
    own = join["comments own"]
    labels = np.array([post.labels for post in posts])
    people = np.array([post.is_person for post in posts])
    for at, name in enumerate(ASPECTS[:4]):
        for who in ("people", "bots") if name == "acted_on" else ("people",):
            chosen = ~np.isnan(labels[:, at]) & (people if who == "people" else ~people)
            yes, no = chosen & (labels[:, at] == 1), chosen & (labels[:, at] == 0)
            text = ", ".join(
                f"{number} {auc(own[yes, column[number]], own[no, column[number]]):.3f}"
                for number in dict.fromkeys((name, "substance", "value"))
            )
            print(f"{name}, comments of {who} ({yes.sum()} and {no.sum()}): AUC of {text}")
    for name in ("claims", "paraphrase", "praise"):
        first, second = (
            np.concatenate([pair[at][:, 0] for pair in parts[f"against {name}"]]) for at in (0, 1)
        )
        print(f"useful comments of people against {name}: wins {wins(first, second):.3f}")
    restates = np.concatenate(parts["restates"])[people]
    print(f"told to restate the change: {restates.mean():.4f} of {len(restates):,} of people")
    first, second = (np.concatenate([pair[at][:, 0] for pair in parts["duels"]]) for at in (0, 1))
    print(f"senior review against summary: wins {wins(first, second):.3f} of {len(first)}")
    against = [name for name in parts if name.startswith("joined ")]
    print("joinings, wins against", ", ".join(name.removeprefix("joined ") for name in against))
    for at, how in enumerate(JOININGS):
        text = []
        for name in against:
            pair = [np.concatenate([part[side][:, at] for part in parts[name]]) for side in (0, 1)]
            text.append(f"{wins(*pair):.3f}")
        print(f"  {how}: {', '.join(text)}")


if __name__ == "__main__":
    main()
