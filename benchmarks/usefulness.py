"""Measure the headline on texts that were not used in its training.

    python benchmarks/usefulness.py DATA [--folds]

DATA is the folder of `crscore train usefulness`. The shipped weights score

- reviews of nine kinds on 30 commits of repositories without reviews in the training data
  (`reviews.jsonl`), and of seven kinds on 59 commits by another writer (`reviews-further.jsonl`),
- useless templates by the same writers, filled with names from the change,
- and the same problem in ten wordings (`wordings.jsonl`).

Prints how often the better review has the higher value, and how much the standing changes if only
the words change. With `--folds`, weights are also trained on two thirds of the groups of real
comments and measured on the rest: with ratings, outcomes and golden findings, and by whether a
comment is about its own change. This takes half an hour.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, median

import numpy as np
from scipy.stats import rankdata, spearmanr

from crscore import Comment, Scorer, plugins, scorer, settings
from crscore.diff import parse
from crscore.records import Importance, LineKind, Stance
from crscore.usefulness import evidence, headline
from crscore.usefulness.headline import BOTS, PEOPLE, percentile
from crscore.usefulness.reader import read_text, trust
from crscore.usefulness.reading import OUTPUTS, PHRASED
from crscore_lab.training import usefulness, worth
from crscore_lab.training.data import corpus, templates
from crscore_lab.training.data.judgements import FOLDS

KINDS = ("nits", "summary", "generic", "other", "invented", "false", "template")
RIGHT = ("nits", "summary", "generic", "other", "invented")
PLACED = ("senior", "terse", "nits", "summary", "other", "same", "invented")
"""Kinds that are also scored as comments on a line of the change."""
WORDINGS = (
    "present", "imperative", "question", "shouldnt", "short", "heading", "bot", "consequence",
    "praise_but", "suggestion",
)  # fmt: skip
GIVING = {Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION, Stance.EXPLANATION}
MAX_TEMPLATES = 48
MAX_SWAPPED = 3
SEVERITIES = ("Low", "Medium", "High", "Critical")


def read_rows(path: Path) -> list[dict]:
    """Read JSON Lines, plain or gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def auc(yes, no) -> float:
    """Return the share of pairs in which the value of `yes` is higher; a tie counts one half."""
    ranks = rankdata(np.concatenate([yes, no]))
    count = len(yes)
    return (ranks[:count].sum() - count * (count + 1) / 2) / (count * len(no))


def wins(pairs) -> float:
    """Return the share of pairs in which the first value is higher; a tie counts one half."""
    return mean((first > second) + (first == second) / 2 for first, second in pairs)


class Judge:
    """Scores texts with the shipped weights."""

    def __init__(self, data: Path) -> None:
        self._scorer = Scorer(analyzers="none")
        commits = read_rows(data / "commits/diffs.jsonl.gz")
        self.patches = {row["commit"][:12]: row["diff"] for row in commits}

    def score(self, commit: str, texts: list[str], *, is_placed: bool = False) -> list:
        """Score texts as comments on the change or, if `is_placed`, on its first added line."""
        diff = parse.parse_diff(self.patches[commit[:12]])
        added = (
            {"path": file.path, "line": line.new}
            for file in diff.files
            for hunk in file.hunks
            for line in hunk.lines
            if line.kind is LineKind.ADDED
        )
        place = next(added, {}) if is_placed else {}
        return self._scorer.score_many([(diff, [Comment(body=text, **place)]) for text in texts])


def value(result) -> float:
    return result.usefulness.value if result.usefulness else 0.0


def standing(result) -> float:
    return result.usefulness.standing if result.usefulness else 0.0


def measure_reviews(judge: Judge, suffix: str) -> None:
    here = Path(__file__).parent
    rows = read_rows(here / f"reviews{suffix}.jsonl")
    rng = random.Random(0)
    useless = read_rows(here / f"templates{suffix}.jsonl")
    useless = rng.sample(useless, min(MAX_TEMPLATES, len(useless)))
    print(f"reviews{suffix}")
    sets, placed = [], []
    for row in rows:
        other = rng.choice([item for item in rows if item["repository"] != row["repository"]])
        texts = {kind: row[kind] for kind in row if isinstance(row[kind], str)}
        texts["other"] = other["senior"]
        same = [item for item in rows if item["repository"] == row["repository"] and item != row]
        texts["same"] = rng.choice(same)["senior"]
        patch = judge.patches[row["commit"][:12]]
        filled = [templates.fill(item["text"], patch, rng) for item in useless]
        texts["headed"] = f"## Review\n\nHello, thanks for this!\n\n{row['senior']}"
        names = [name for name in texts if name not in ("repository", "commit")]
        results = judge.score(row["commit"], [*(texts[name] for name in names), *filled])
        scored = dict(zip(names, results, strict=False))
        sets.append((row, scored, results[len(names) :]))
        results = judge.score(row["commit"], [texts[name] for name in PLACED], is_placed=True)
        placed.append(dict(zip(PLACED, results, strict=True)))
    for better in ("senior", "terse"):
        parts = [
            f"{kind} {wins((value(s[better]), value(s[kind])) for _, s, _ in sets):.2f}"
            for kind in KINDS[:-1]
        ]
        filled = wins((value(s[better]), value(t)) for _, s, ts in sets for t in ts)
        print(f"{better} against", ", ".join(parts), f"template {filled:.2f}, of {len(sets)}")
    best = sum(value(s["senior"]) > max(value(s[kind]) for kind in RIGHT) for _, s, _ in sets)
    print(f"senior best of all kinds: {best} of {len(sets)}")
    same = mean(standing(s["same"]) > 25 for _, s, _ in sets)
    print(f"reviews of another change of the same repository with a standing over 25: {same:.2f}")
    same = mean(standing(s["same"]) > 25 for s in placed)
    print(f"  on a line of the change: {same:.2f}")
    for better in ("senior", "terse"):
        parts = [
            f"{kind} {wins((value(s[better]), value(s[kind])) for s in placed):.2f}"
            for kind in PLACED[2:]
        ]
        print(f"  {better} on a line of the change against", ", ".join(parts))
    for name in ("rephrased", "padded", "headed"):
        if name not in sets[0][1]:
            continue
        moved = [abs(standing(s[name]) - standing(s["senior"])) for _, s, _ in sets]
        print(f"{name}: median change of standing {median(moved):.1f}, mean {mean(moved):.1f}")
    for name in ("senior", "terse", "nits", "summary", "generic", "false", "invented", "other"):
        print(f"  median standing of {name}: {median(standing(s[name]) for _, s, _ in sets):.0f}")
    kinds: dict[str, list[float]] = {}
    for _, _, filled in sets:
        for item, result in zip(useless, filled, strict=True):
            kinds.setdefault(item["kind"], []).append(standing(result))
    means = {kind: mean(values) for kind, values in kinds.items()}
    worst = max(means, key=means.__getitem__)
    print(f"templates: mean standing {mean(means.values()):.0f}, worst {worst} {means[worst]:.0f}")
    for name, stances in (("senior", GIVING), ("summary", {Stance.DESCRIPTION})):
        right = [
            reading.stance in stances
            for _, s, _ in sets
            for reading, unit in zip(s[name].readings, s[name].sentences, strict=True)
            if not unit.position.is_heading
        ]
        print(f"stance of sentences in {name}: {mean(right):.2f} of {len(right)}")


def measure_swapped(data: Path) -> None:
    """Print which share of their worth real reviews keep on their own change and on another one."""
    reviews = [row for row in corpus.read_corpus(data).reviews if row.diff and row.comments[1:]]
    rng = random.Random(0)
    pairs = []
    for row in reviews:
        others = [
            other
            for other in reviews
            if other.repository == row.repository and other.diff.sha256 != row.diff.sha256
        ]
        swapped = rng.sample(others, min(MAX_SWAPPED, len(others)))
        pairs += [(row.diff, other.comments, other is row) for other in (row, *swapped)]
    results = Scorer(analyzers="none").score_many([pair[:2] for pair in pairs])
    shares: dict[bool, list[float]] = {True: [], False: []}
    for (_, _, is_own), result in zip(pairs, results, strict=True):
        if result.remarks:
            shares[is_own].append(mean(trust(mark.about) for mark in result.remarks))
    for is_own, name in ((True, "their own change"), (False, "another change of the repository")):
        count = len(shares[is_own])
        share = mean(shares[is_own])
        print(f"share of the worth of real reviews that counts on {name} ({count}): {share:.2f}")


def measure_wordings(judge: Judge) -> None:
    spreads, importances, tops = [], [], []
    empty: dict[str, list[float]] = {}
    for row in read_rows(Path(__file__).with_name("wordings.jsonl")):
        names = [*WORDINGS, "praise_only", "describe", "empty"]
        results = judge.score(row["commit"], [row[name] for name in names])
        scored = dict(zip(names, results, strict=True))
        standings = [standing(scored[name]) for name in WORDINGS]
        spreads.append(max(standings) - min(standings))
        for name in WORDINGS:
            importances.append(row["importance"])
            tops.append(max((r.importance for r in scored[name].remarks), default=0.0))
        for name in names[len(WORDINGS) :]:
            empty.setdefault(name, []).append(standing(scored[name]))
    print(f"ten wordings: median spread of standing {median(spreads):.0f} of {len(spreads)}")
    print(f"ten wordings: importance, rank correlation {spearmanr(tops, importances)[0]:.2f}")
    for name, values in empty.items():
        print(f"  mean standing of {name}: {mean(values):.0f}")


def measure_folds(data: Path) -> None:
    whole = corpus.read_corpus(data)
    encoder = scorer.make_encoder(settings.Config())
    generator = plugins.create("claims", "structural")
    fitted = usefulness.cross_fit(whole, encoder=encoder, generator=generator)
    report_about(fitted)
    report_outcomes(fitted, data)


WITHOUT = {
    "": (),
    " without vectors": ("cosine_lines", "cosine_claims"),
    " without code": ("code_changed", "code_around", "code_foreign", "longest_code"),
}
"""Suffix of the printed name -> features that are left out of the measure "about its change"."""


def report_about(fitted) -> None:
    """Print how well texts about their own change are told from others, on held-out folds."""
    for name, left_out in WITHOUT.items():
        kept = [at for at, feature in enumerate(evidence.FEATURES) if feature not in left_out]
        rows = [row._replace(measures=[row.measures[at] for at in kept]) for row in fitted.about]
        report_about_rows(rows, name)


def report_about_rows(rows, without: str) -> None:
    judged = []
    for fold in range(FOLDS):
        sides = {True: [], False: []}
        for row in rows:
            sides[usefulness.fold_of(row.post.group) == fold].append(row)
        weights = usefulness.fit_about(sides[False])
        judged += [
            (row, float(np.dot(weights[:-1], row.measures) + weights[-1]))
            for row in sides[True]
            if row.is_full_text
        ]
    for name, prefixes in (
        ("comments", ("rated", "acted", "categories")),
        ("titles", ("commits",)),
    ):
        chosen = [
            (row.is_own, logit)
            for row, logit in judged
            if row.post.pool.startswith(prefixes) and not row.post.pool.endswith("body")
        ]
        yes, no = ([logit for is_own, logit in chosen if is_own is side] for side in (True, False))
        print(
            f"{name}, own change or another ({len(yes)}): AUC of about{without} {auc(yes, no):.3f}"
        )


def learning_for(fold: int, fitted) -> list:
    return [item for at, items in enumerate(fitted.candidates) if at != fold for item in items]


def report_outcomes(fitted, data: Path) -> None:
    column = OUTPUTS.index("importance")
    rows = []
    for fold, candidates in enumerate(fitted.candidates):
        weights = worth.fit(learning_for(fold, fitted))
        for item in candidates:
            if item.kind == headline.COMMENTS and item.remarks:
                top = max(float(remark.measures[column]) for remark in item.remarks)
                value = headline.value_of(worth.worths_of(item, weights))
                rows.append((item, value, top))
    counted = mean(trust(mark.about) for row in rows for mark in row[0].remarks)
    print(f"share of the worth of {len(rows)} real comments that counts: {counted:.2f}")
    people = [row for row in rows if row[0].is_person]
    bots = [row for row in rows if not row[0].is_person]
    for rating, at in (("worth", 1), ("importance", 2)):
        for who, chosen in (("all", rows), ("people", people), ("bots", bots)):
            judged = [row for row in chosen if rating in row[0].ratings]
            said = [row[0].ratings[rating] for row in judged]
            rho = spearmanr([row[at] for row in judged], said)
            print(f"{rating}, by readers, {who} ({len(judged)}): rank correlation {rho[0]:.2f}")
    for rating in ("informative", "relevant", "clear", "acted_on", "functional", "accepted"):
        for who, chosen in (("people", people), ("bots", bots)):
            known = [row for row in chosen if row[0].ratings.get(rating) in (0.0, 1.0)]
            yes, no = ([row for row in known if row[0].ratings[rating] == side] for side in (1, 0))
            if len(yes) > 20 and len(no) > 20:
                own = [[best_rating(row[0], rating) for row in side] for side in (yes, no)]
                numbers = ", ".join(
                    f"{name} {auc([row[at] for row in yes], [row[at] for row in no]):.2f}"
                    for name, at in (("headline", 1), ("importance", 2))
                )
                numbers += f", its own output {auc(*own):.2f}"
                print(f"{rating}, {who} ({len(yes)} and {len(no)}): AUC of {numbers}")
    report_without_phrases(fitted)
    report_interval(fitted)
    report_golden(fitted, data)


def report_without_phrases(fitted) -> None:
    """Print the rank correlation of headline and readers' worth, without the input of phrases."""
    candidates = [
        [
            replace(
                item,
                remarks=[
                    remark._replace(measures=remark.measures[: len(OUTPUTS)])
                    for remark in item.remarks
                ],
            )
            for item in items
        ]
        for items in fitted.candidates
    ]
    rows = []
    for fold, items in enumerate(candidates):
        others = [item for at, row in enumerate(candidates) if at != fold for item in row]
        weights = worth.fit(others)
        rows += [
            (item.is_person, headline.value_of(worth.worths_of(item, weights)), item.worths[0])
            for item in items
            if item.kind == headline.COMMENTS and item.remarks and item.worths
        ]
    for who, kept in (("all", (True, False)), ("people", (True,)), ("bots", (False,))):
        values, read = zip(*(row[1:] for row in rows if row[0] in kept), strict=True)
        rho = spearmanr(values, read)[0]
        print(f"worth, by readers, without phrases, {who}: rank correlation {rho:.2f}")


def best_rating(item, name: str) -> float:
    """Return the highest value of an output of the network over the remarks of a text."""
    return max(float(remark.measures[OUTPUTS.index(name)]) for remark in item.remarks)


def report_interval(fitted) -> None:
    """Print how often the interval of a standing contains the standing by readers."""
    for kind in headline.KINDS:
        inside, widths, severe = [], [], []
        for fold, candidates in enumerate(fitted.candidates):
            learning = learning_for(fold, fitted)
            weights = worth.fit(learning)
            scale, told = worth.make_scale(learning, weights), worth.collect_judged_values(learning)
            read, said = (
                np.sort(np.concatenate([sets[kind, writer] for writer in (PEOPLE, BOTS)]))
                for sets in (scale.values, told)
            )
            for item in candidates:
                if item.kind == kind and item.worths:
                    value = headline.value_of(worth.worths_of(item, weights))
                    standing = percentile(read, value)
                    low, _, high = headline.interval_of(scale.spread[kind], standing)
                    low, high = min(low, standing), max(high, standing)
                    judged = headline.value_of([1 + 4 * share for share in item.worths])
                    inside.append(low <= percentile(said, judged) <= high)
                    widths.append(high - low)
                    if is_severe(item):
                        severe.append((inside[-1], max(item.worths) >= LIKELY_WORTH))
        share, width = mean(inside), mean(widths)
        print(f"80 % interval of {len(inside)} {kind}: covers {share:.2f}, {width:.0f} wide")
        covered, likely = np.mean(severe, axis=0)
        print(
            f"  {len(severe)} with a text that sounds severe: covers {covered:.2f}; "
            f"readers gave {likely:.2f} of them a worth of 3 or more"
        )


LIKELY_WORTH = 0.5
"""Worth 3 of 1 to 5 ("an improvement worth making, or a likely problem"), scaled to [0, 1]."""


def is_severe(item) -> bool:
    """Return whether the network rates the most valuable remark as critical or major."""
    outputs, phrased = np.split(worth.best_of(item.remarks).copy(), [len(OUTPUTS)])
    at = [OUTPUTS.index(name) for name in PHRASED]
    outputs[at] = (outputs[at] + phrased) / 2
    return read_text("", outputs).level in (Importance.CRITICAL, Importance.MAJOR)


def report_golden(fitted, data: Path) -> None:
    """Print how networks rate the findings on pull requests that they were not trained on."""
    at = OUTPUTS.index("importance"), OUTPUTS.index("worth")
    importances, severities, yes, no = [], [], [], []
    for row in read_rows(data / "golden/martian-dev.jsonl.gz"):
        reader = fitted.readers[usefulness.fold_of(row["pull"])]
        read = partial(reader.weights.network.read, encoder=reader.encoder)
        importances += list(read([finding["text"] for finding in row["golden"]])[:, at[0]])
        severities += [SEVERITIES.index(finding["severity"]) for finding in row["golden"]]
        listed = {
            finding["text"]: finding["golden"] is not None
            for judges in row["found"].values()
            for findings in judges.values()
            for finding in findings
        }
        worths = read(list(listed))[:, at[1]]
        for is_golden, value in zip(listed.values(), worths, strict=True):
            (yes if is_golden else no).append(value)
    rho = spearmanr(importances, severities)[0]
    print(f"severity of golden findings ({len(severities)}): rank correlation {rho:.2f}")
    print(f"golden findings and others ({len(yes)} and {len(no)}): AUC {auc(yes, no):.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=re.split(r"\n", __doc__)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--folds", action="store_true")
    options = parser.parse_args()
    judge = Judge(options.data)
    measure_reviews(judge, "")
    measure_reviews(judge, "-further")
    measure_wordings(judge)
    measure_swapped(options.data)
    if options.folds:
        measure_folds(options.data)


if __name__ == "__main__":
    main()
