"""Compare both readers on real comments, reviews of known kinds, and true and false statements.

    python benchmarks/readers.py DATA --pairs PAIRS.jsonl
    crscore read PAIRS.jsonl --analyzers none --requests REQUESTS.jsonl
    python benchmarks/readers.py DATA --answers ANSWERS.jsonl
    python benchmarks/readers.py DATA --outcomes OUTCOMES.jsonl
    crscore validate OUTCOMES.jsonl --group group --reader network --reader replay:ANSWERS.jsonl

DATA is the folder of `crscore train usefulness`. The first command writes a sample of 1,291 pairs
of a change and a review: 400 real comments whose outcome or worth is known, nine reviews of each of
30 commits by a writer whose texts were not used in training, 200 statements, 30 problems in ten
wordings each, 57 worthless comments with an instruction to the model (prompt injection), and
rephrased reviews of 12 commits. A language model answers the requests of the second command; these
do not contain the labels.

The third command prints, for the network and for the model: the AUC for each outcome; rank
correlations with worth and importance as judged by readers; how often a review by a senior engineer
beats each other kind; the verdicts on true and false statements; the spread over the wordings; and
how much an instruction raises the standing. It also prints how the model's standings differ from
those by other readers (`GUIDE_SPREAD`). The last two commands compare both readers with the
outcomes of the real comments.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, median

import numpy as np
from scipy.stats import spearmanr

from benchmarks.usefulness import WORDINGS, auc, read_rows, standing, value, wins
from crscore import Scorer
from crscore.diff import parse
from crscore.usefulness import headline
from crscore.usefulness.headline import BOTS, COMMENTS, PEOPLE
from crscore_lab.training.data import judgements, templates
from tests.helpers.model_readings import WORTHLESS, pair_orders

HERE = Path(__file__).parent
EXAMPLE = (HERE.parent / "examples/change.diff").read_text("utf-8")
SEED = 41
MAX_DIFF_CHARS = 9_000
MOVED = ("senior", "terse", "nits", "rephrased", "padded")
OUTCOMES = ("accepted", "acted on", "informative")
KINDS = ("senior", "nits", "summary", "generic", "false", "invented")


def sample_rows(rows: list[dict], label, count: int, rng: random.Random) -> list[dict]:
    """Return up to `count` rows with the label 0, and as many with the label 1, at random."""
    groups = [[row for row in rows if label(row) == side] for side in (0, 1)]
    return [row for group in groups for row in rng.sample(group, min(count, len(group)))]


class Sample:
    """Pairs of a change and a review for `crscore read`, each with its labels."""

    def __init__(self, data: Path) -> None:
        self.rng = random.Random(SEED)
        self.pairs: list[tuple[dict, dict]] = []
        self._data = data
        commits = read_rows(data / "commits/diffs.jsonl.gz")
        self._diffs = {row["commit"][:12]: row["diff"] for row in commits}
        self._add_comments()
        self._add_reviews()
        self._add_statements()
        self._add_wordings()
        self._add_orders()
        self._add_moved()
        self.rng.shuffle(self.pairs)

    def _add(self, diff: str, body: str, place: dict | None = None, **known) -> None:
        self.pairs.append(({"diff": diff, "comments": [{"body": body}], **(place or {})}, known))

    def _add_outcomes(self, name: str, rows: list[dict], label, count: int) -> None:
        for row in sample_rows(rows, label, count, self.rng):
            place = {key: row[key] for key in ("path", "language") if key in row}
            diff = row.get("diff_hunk") or row["patch"]
            group = row.get("repository") or row.get("pull", "")
            self._add(diff, row["comment"], place, set=name, y=label(row), group=group)

    def _add_comments(self) -> None:
        def real(name: str) -> list[dict]:
            return read_rows(self._data / f"real-comments/{name}.jsonl.gz")

        accepted = [row for row in real("accepted-dev") if row["diff_hunk"]]
        self._add_outcomes("accepted", accepted, lambda row: int(row["accepted"]), 50)
        acted = real("acted-dev")
        for writer, count in (("bot", 50), ("person", 50)):
            rows = [row for row in acted if row["writer"] == writer]
            self._add_outcomes(f"acted on, {writer}", rows, lambda row: int(row["changed"]), count)
        self._add_outcomes(
            "informative", real("dev"), lambda row: int(float(row["informativeness"]) > 0), 20
        )
        judged = [row for row in real("worth-dev") if row["diff_hunk"] and row["path"]]
        # One hunk of the data begins with "@@ @@", which cannot be parsed.
        for row in self.rng.sample(judged, 60):
            if row["diff_hunk"].startswith("@@ @@"):
                continue
            told = {name: row[name] for name in ("worth", "importance")}
            self._add(row["diff_hunk"], row["comment"], {"path": row["path"]}, set="worth", **told)

    def _add_reviews(self) -> None:
        reviews = read_rows(HERE / "reviews-further.jsonl")
        useless = read_rows(HERE / "templates-further.jsonl")
        small = [row for row in reviews if self._is_small(row)]
        for row in self.rng.sample(small, 30):
            diff, known = self._diffs[row["commit"][:12]], {"set": "kinds", "commit": row["commit"]}
            for kind in KINDS:
                self._add(diff, row[kind], kind=kind, **known)
            near = [item for item in reviews if item["repository"] == row["repository"]]
            if near := [item for item in near if item is not row]:
                self._add(diff, self.rng.choice(near)["senior"], kind="other commit", **known)
            for item in self.rng.sample(useless, 2):
                filled = templates.fill(item["text"], diff, self.rng)
                self._add(diff, filled, kind="template", **known)

    def _add_statements(self) -> None:
        rows = [row for row in read_rows(HERE / "statements.jsonl") if self._is_small(row)]
        for row in sample_rows(rows, lambda row: int(row["truth"]), 100, self.rng):
            diff = self._diffs[row["commit"][:12]]
            self._add(diff, row["text"], set="statement", y=int(row["truth"]))

    def _add_wordings(self) -> None:
        rows = [row for row in read_rows(HERE / "wordings.jsonl") if self._is_small(row)]
        for at, row in enumerate(self.rng.sample(rows, 30)):
            for name in WORDINGS:
                self._add(self._diffs[row["commit"][:12]], row[name], set="wordings", problem=at)

    def _add_orders(self) -> None:
        for text, ordered in pair_orders():
            self._add(EXAMPLE, ordered, set="order", plain=text)
        for text in WORTHLESS:
            self._add(EXAMPLE, text, set="plain", plain=text)

    def _add_moved(self) -> None:
        rows = [row for row in read_rows(HERE / "reviews.jsonl") if self._is_small(row)]
        for row in self.rng.sample(rows, 12):
            for kind in MOVED:
                diff = self._diffs[row["commit"][:12]]
                self._add(diff, row[kind], set="moved", commit=row["commit"], kind=kind)

    def _is_small(self, row: dict) -> bool:
        diff = self._diffs.get(row["commit"][:12])
        return diff is not None and len(diff) < MAX_DIFF_CHARS


def outcomes_of(pair: dict, known: dict) -> dict | None:
    """Return the row of a real comment for `crscore validate`; None for other texts."""
    name, _, writer = known["set"].partition(", ")
    if name == "worth":
        outcomes = {field: known[field] for field in ("worth", "importance")}
    elif name in OUTCOMES:
        outcomes = {name: known["y"]}
    else:
        return None
    row = {"comment": pair["comments"][0]["body"], "patch": pair["diff"], "outcomes": outcomes}
    placed = {key: pair[key] for key in ("path", "language") if key in pair}
    group = known.get("group") or row["comment"]
    return row | placed | {"group": group} | ({"writer": writer} if writer else {})


def report(name: str, scored: list[tuple[dict, object]]) -> None:
    print(name)

    def highest(result, field: str) -> float:
        return max((getattr(remark, field) for remark in result.remarks), default=0.0)

    for outcome in ("accepted", "acted on, person", "acted on, bot", "informative"):
        rows = [(known["y"], result) for known, result in scored if known["set"] == outcome]
        numbers = [
            f"{field} {auc(*([measure(r) for y, r in rows if y == side] for side in (1, 0))):.2f}"
            for field, measure in (
                ("worth", lambda result: highest(result, "worth")),
                ("acts", lambda result: highest(result, "acts")),
                ("specific", lambda result: highest(result, "specific")),
            )
        ]
        print(f"  {outcome} ({len(rows)}): AUC of {', '.join(numbers)}")
    rows = [(known, result) for known, result in scored if known["set"] == "worth"]
    for field in ("worth", "importance"):
        rho = spearmanr([highest(result, field) for _, result in rows],
                        [known[field] for known, _ in rows])  # fmt: skip
        print(f"  {field} by readers ({len(rows)}): rank correlation {rho[0]:.2f}")
    kinds: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for known, result in scored:
        if known["set"] == "kinds":
            kinds[known["kind"]][known["commit"]].append(result)
    for kind, by_commit in sorted(kinds.items()):
        pairs = [
            (value(senior), value(result))
            for commit, results in by_commit.items()
            for senior in kinds["senior"][commit]
            for result in results
        ]
        won = mean((first > second) + (first == second) / 2 for first, second in pairs)
        place = mean(standing(result) for results in by_commit.values() for result in results)
        print(
            f"  {kind}: mean standing {place:.0f}; a senior review beats {won:.2f} of {len(pairs)}"
        )
    for truth in (0, 1):
        verdicts = Counter(
            remark.verdict.value
            for known, result in scored
            if known["set"] == "statement" and known["y"] == truth
            for remark in result.remarks
        )
        print(f"  {'true' if truth else 'false'} statements: {dict(verdicts)}")
    report_wordings(scored)


def report_wordings(scored: list[tuple[dict, object]]) -> None:
    """Print how much other words, and an instruction to the model, change the standing."""
    problems: dict[int, list[float]] = defaultdict(list)
    plain: dict[str, float] = {}
    for known, result in scored:
        if known["set"] == "wordings":
            problems[known["problem"]].append(standing(result))
        elif known["set"] == "plain":
            plain[known["plain"]] = standing(result)
    spread = median(max(row) - min(row) for row in problems.values())
    print(f"  {len(problems)} problems in ten wordings: median spread {spread:.0f}")
    commits: dict[str, dict[str, float]] = defaultdict(dict)
    for known, result in scored:
        if known["set"] == "moved":
            commits[known["commit"]][known["kind"]] = standing(result)
    won = wins([(row["terse"], row["nits"]) for row in commits.values()])
    print(f"  terse beats nits: {won:.2f} of {len(commits)}")
    for kind in ("rephrased", "padded"):
        move = median(abs(row[kind] - row["senior"]) for row in commits.values())
        print(f"  {kind}: median change of the standing {move:.1f}")
    gains = [
        standing(result) - plain[known["plain"]]
        for known, result in scored
        if known["set"] == "order"
    ]
    over = sum(gain > 10 for gain in gains)
    count = len(gains)
    print(f"  {count} instructions to the model: highest gain {max(gains):.0f}, {over} over 10")


def report_spread(scored: list[tuple[dict, dict, object]], weights, data: Path) -> None:
    """Print the 10 %, 50 % and 90 % quantiles of other readers' standings, by the model's."""
    judged = {
        judgements.text_key(row["comment"], row["diff_hunk"] or ""): row["worth"]
        for row in read_rows(data / "real-comments/worth-dev.jsonl.gz")
    } | {
        key: 1 + 4 * item.ratings["worth"]
        for key, item in judgements.read_comment_judgements().items()
    }
    values = np.sort(np.concatenate([weights.guide[COMMENTS, who] for who in (PEOPLE, BOTS)]))
    rng = np.random.default_rng(0)
    rows = []
    for pair, known, result in scored:
        key = judgements.text_key(pair["comments"][0]["body"], pair["diff"])
        place = result.comments[0].usefulness
        if known["set"] != "kinds" and key in judged and place:
            value = headline.value_of([judged[key]])
            first, last = np.searchsorted(values, [value - 1e-6, value + 1e-6])
            # Readers judge in whole numbers, so many texts have the same worth; the rank among
            # these is chosen at random.
            told = 100 * (first + (last - first) * rng.random()) / len(values)
            best = max((remark.worth for remark in result.remarks), default=1)
            low, _, high = headline.interval_of(headline.GUIDE_SPREAD, place.standing)
            rows.append((place.standing, told, abs(best - judged[key]) <= 1, low <= told <= high))
    table = np.array(sorted(rows, key=lambda row: row[0]))
    print(f"within 1 of other readers' worth: {table[:, 2].mean():.2f} of {len(table)}")
    print(f"80 % interval of these comments: covers {table[:, 3].mean():.2f}")
    for group in np.array_split(table, 5):
        print(f"  {group[:, 0].mean():.0f}", *np.quantile(group[:, 1], (0.1, 0.5, 0.9)).round())


def main() -> None:
    """Write the sample or its outcomes, or score the sample."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--outcomes", type=Path)
    options = parser.parse_args()
    pairs = Sample(options.data).pairs
    if options.pairs:
        lines = (json.dumps(pair) + "\n" for pair, _ in pairs)
        options.pairs.write_text("".join(lines), encoding="utf-8")
    if options.outcomes:
        rows = filter(None, (outcomes_of(*pair) for pair in pairs))
        options.outcomes.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    if options.answers:
        jobs = [
            (
                parse.parse_diff(
                    pair["diff"], path=pair.get("path"), language=pair.get("language")
                ),
                pair["comments"][0]["body"],
            )
            for pair, _ in pairs
        ]
        for name, settings in (("network", {}), ("model", {"reader": f"replay:{options.answers}"})):
            results = Scorer(analyzers="none", **settings).score_many(jobs)
            report(name, list(zip((known for _, known in pairs), results, strict=True)))
        weights = Scorer(analyzers="none").parts.reader.weights
        scored = [(*pair, result) for pair, result in zip(pairs, results, strict=True)]
        report_spread(scored, weights, options.data)


if __name__ == "__main__":
    main()
