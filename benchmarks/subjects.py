"""Measure how often a topic is reported as not addressed although a sentence names its code.

    python benchmarks/subjects.py DATA [--per 100] [--list]

DATA is a folder with `commits/diffs.jsonl.gz`. Each text is scored as the only text of a review:
a claim about a change, a sentence of its commit message, or a sentence of a review written about
it. A text names a topic if it is a claim about this topic, or if it contains the last part of the
topic's name in backticks or before a parenthesis, and no other topic of the change has this name.

Prints, for each of the three kinds, how many texts name a topic that is reported as not addressed;
texts flagged as no sentence are left out. The same texts are then scored as reviews of another
change of the repository, and the topics that are reported as addressed are counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from crscore import Scorer, plugins
from crscore.diff import parse
from crscore.records import Flag, Result, Topic
from crscore.reports import view
from crscore.review.sentences import split_comment
from crscore.scoring.cells import select_references
from crscore.settings import Config

WRITTEN = Path(__file__).parents[1] / "research" / "crscore_lab" / "training" / "data"
REVIEWS = (
    WRITTEN / "written.jsonl",
    WRITTEN / "reviews.jsonl",
    Path(__file__).with_name("reviews.jsonl"),
)


def read_reviews() -> dict[str, list[str]]:
    """Return hash of a commit -> sentences of the reviews written about it."""
    sentences = defaultdict(list)
    for line in (line for path in REVIEWS for line in path.read_text("utf-8").splitlines()):
        row = json.loads(line)
        body = row.get("senior") or "\n\n".join(row["review"])
        sentences[row["commit"]] += split_comment(body).sentences
    return sentences


def short_name(topic: Topic) -> str:
    return topic.name.rpartition("/" if topic.name == topic.place.path else ".")[2]


def find_named(sentences: list[str], topics: list[Topic]) -> Iterator[tuple[str, Topic]]:
    """Yield each pair of a sentence and a topic that the sentence names."""
    shared = Counter(map(short_name, topics))
    named = {short_name(topic): topic for topic in topics if shared[short_name(topic)] == 1}
    for sentence in sentences:
        for name, topic in named.items():
            code = re.escape(name)
            if len(name) > 2 and re.search(
                rf"`(?:[\w.]*\.)?{code}(?:\(.*?\))?`|\b{code}\(", sentence
            ):
                yield sentence, topic


def sample(data: Path, per: int) -> tuple[dict[str, list[tuple[dict, str, Topic]]], dict[str, str]]:
    """Choose texts that name a topic.

    Returns:
        Kind of text -> up to `per` tuples of a commit, a text, and the topic that the text names;
        and commit -> diff of another commit of its repository.
    """
    with gzip.open(data / "commits" / "diffs.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    random.Random(0).shuffle(rows)
    previous, others = {}, {}
    for row in rows + rows:
        others[row["commit"]] = previous.get(row["repository"], "")
        previous[row["repository"]] = row["diff"]
    reviews = read_reviews()
    rows.sort(key=lambda row: row["commit"] not in reviews)
    generator, limit = plugins.create("claims", "structural"), Config().max_claims
    trials = {"review": [], "message": [], "claim": []}
    for row in rows:
        if all(len(texts) >= per for texts in trials.values()):
            break
        (claims,) = generator.generate([parse.parse_diff(row["diff"])])
        counted = [
            item
            for item in select_references(claims.references, limit=limit)
            if item.counted and item.topic
        ]
        changed = list(dict.fromkeys(item.topic for item in counted))
        message = split_comment(f"{row['subject']}\n\n{row['body']}").sentences
        of_commit = {
            "review": list(find_named(reviews[row["commit"]], changed)),
            "message": list(find_named(message, changed)),
            "claim": [(item.text, item.topic) for item in counted],
        }
        for kind, texts in of_commit.items():
            # At most two texts of each commit, so that large commits do not dominate the result.
            for text, topic in random.Random(0).sample(texts, min(2, len(texts))):
                if len(trials[kind]) < per:
                    trials[kind].append((row, text, topic))
    return trials, others


def topics(result: Result) -> set[Topic]:
    return {item.topic for item in result.references if item.topic and item.counted}


def missed(result: Result) -> set[Topic]:
    return {item.topic for _, item in view.list_unaddressed(result) if item.topic}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--per", type=int, default=100, help="number of texts of each kind")
    parser.add_argument("--list", action="store_true", help="print the texts that are missed")
    options = parser.parse_args()
    scorer = Scorer(Config(claims="structural", analyzers="none"))
    trials, others = sample(options.data, options.per)
    for kind, texts in trials.items():
        own = scorer.score_many([(row["diff"], text) for row, text, _ in texts])
        read = [
            (text, topic, result)
            for (_, text, topic), result in zip(texts, own, strict=True)
            if Flag.NO_SENTENCE not in result.sentence_flags
        ]
        wrong = [(text, topic) for text, topic, result in read if topic in missed(result)]
        foreign = scorer.score_many([(others[row["commit"]], text) for row, text, _ in texts])
        addressed = sum(len(topics(result) - missed(result)) for result in foreign)
        total = sum(len(topics(result)) for result in foreign)
        print(
            f"{kind:8} reported as not addressed: {len(wrong)} of {len(read)}; "
            f"topics of another change reported as addressed: {addressed} of {total}"
        )
        for text, topic in wrong if options.list else ():
            print(f"    {topic.name!r}: {text}")


if __name__ == "__main__":
    main()
