"""Orders and weighs claims by the probability that a reader calls them useful.

A logistic regression computes the probability from features of the topic, the sentence and its
position. `ranking.toml` has the weights.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crscore.claims.structural.change import UnitChange, code_of, role_of_change
from crscore.claims.structural.quoting import Line, Statement
from crscore.syntax.outline import Role
from crscore.text import CODE_SPAN, find_code_spans, split_identifier, stem

Features: TypeAlias = Mapping[str, float]
"""Values of a claim's features by name; a feature that is missing is 0."""

MIN_CHARS: Final = 3
"""Minimum characters of a word that counts when topics are compared."""
MAX_LINE_CHARS: Final = 400
"""Maximum characters of a line that are read for words and names."""
MAX_POSITION: Final = 3
"""Maximum position of a claim in its topic, from 0; later positions count as this one."""
MAX_TEXT_CHARS: Final = 300
"""Maximum characters of a claim; longer claims count as this long."""
_FACTS: Final = {
    "conditions": {Role.CONDITION},
    "errors": {Role.RAISE, Role.CATCH},
    "returns": {Role.RETURN},
    "calls": {Role.CALL},
}
"""Feature of a topic -> roles of facts; the feature is 1 if a changed line has such a fact."""
_NAME: Final = re.compile(r"[\w$]+")
_QUOTATION: Final = re.compile(r"“[^”]{0,300}”")
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
# A weight must be above 0 (`weight` in records.py), but small ones would be rounded to 0.
MIN_WEIGHT: Final = 0.001
"""Minimum weight of a claim."""
WEIGHTS: Final[dict[str, float]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)["weights"]


def describe_claims(topics: Sequence[tuple[UnitChange, list[Statement]]]) -> list[list[Features]]:
    """Return the features of all claims of a change: a list for each topic."""
    quoted: set[str] = set()
    code = {id(file): code_of(file) for file in {id(c.file): c.file for c, _ in topics}.values()}
    return [
        [
            features | _describe_statement(statement, position, quoted)
            for position, statement in enumerate(statements)
        ]
        for features, (_, statements) in zip(
            _describe_topics([_make_topic(change, code[id(change.file)]) for change, _ in topics]),
            topics,
            strict=True,
        )
    ]


class _Topic(NamedTuple):
    """Topic with the properties from which its features are computed."""

    change: UnitChange
    role: str
    size: int
    """Number of changed lines, including those of similar units."""
    names: frozenset[str]
    """Names in the changed lines of the topic."""
    words: frozenset[str]
    """Stems of the words in the changed lines of the topic."""
    name_words: frozenset[str]
    """Stems of the words in the name of the unit or, if it has none, of the file."""


def _make_topic(change: UnitChange, code: Mapping[Line, str]) -> _Topic:
    """Return a topic with its properties, given the changed lines of its file."""
    numbers = [(False, line) for line in change.removed]
    numbers += [(True, line) for line in change.added]
    lines = [code.get(number, "")[:MAX_LINE_CHARS] for number in numbers]
    return _Topic(
        change=change,
        role=role_of_change(change),
        size=change.size + sum(similar.size for similar in change.similar),
        names=frozenset(name for line in lines for name in _NAME.findall(line)),
        words=stems(" ".join(lines)),
        name_words=stems(change.name or change.file.path.rpartition("/")[2]),
    )


def stems(text: str) -> frozenset[str]:
    """Return the stems of all words in a text; names such as `max_size` have several words."""
    words = (word for name in _NAME.findall(text) for word in split_identifier(name))
    return frozenset(stem(word.lower()) for word in words if len(word) >= MIN_CHARS)


def _describe_topics(topics: Sequence[_Topic]) -> list[dict[str, float]]:
    """Return the features of each topic, without those that are 0."""
    total = sum(topic.size for topic in topics) or 1
    # Topics of code rank before larger ones that are not, because the largest file of a change is
    # often a lock file or data.
    by_size = sorted(
        range(len(topics)), key=lambda at: (topics[at].role != "code", -topics[at].size)
    )
    ranks = {index: rank for rank, index in enumerate(by_size)}
    topics_by_word = Counter(word for topic in topics for word in topic.words)
    topics_by_name = Counter(name for topic in topics for name in topic.names)
    rows = []
    for index, topic in enumerate(topics):
        change, other_count = topic.change, max(1, len(topics) - 1)
        # The topic itself is not counted, because its lines may contain its name in the
        # declaration.
        uses = topics_by_name[change.short_name] - (change.short_name in topic.names)
        facts = Counter(
            fact.role
            for part, lines in ((change.new, set(change.added)), (change.old, set(change.removed)))
            for fact in part.facts
            if fact.line in lines
        )
        roles = {fact.role for part in (change.new, change.old) for fact in part.facts}
        mentions = sum(topics_by_word[word] - (word in topic.words) for word in topic.name_words)
        is_name_long = len(change.short_name) >= MIN_CHARS
        features: dict[str, float] = {
            f"role {topic.role}": 1,
            f"state {change.state}": 1,
            f"unit {change.kind}": 1,
            "public": change.unit is not None and change.unit.public,
            "size": math.log2(1 + topic.size),
            "share": topic.size / total,
            "largest": 1 / (1 + ranks[index]),
            "used": math.log2(1 + uses) if is_name_long else 0,
            "named by others": mentions / max(1, other_count * len(topic.name_words)),
            "common words": sum(topics_by_word[word] > 1 for word in topic.words)
            / max(1, len(topic.words)),
            "imports alone": not change.name and roles == {Role.IMPORT},
            "repeated": bool(change.similar),
            "few topics": 1 / len(topics),
        }
        features |= {name: any(facts[role] for role in roles) for name, roles in _FACTS.items()}
        rows.append({name: float(value) for name, value in features.items() if value})
    return rows


def _describe_statement(statement: Statement, position: int, quoted: set[str]) -> dict[str, float]:
    """Return the features of a sentence; add the stems of the code that it quotes to `quoted`."""
    words = stems(" ".join(find_code_spans(statement.text)) or statement.text)
    prose = _QUOTATION.sub(" ", CODE_SPAN.sub(" ", statement.text))
    features = {
        f"kind {statement.kind or 'plain'}": 1.0,
        f"position {min(position, MAX_POSITION)}": 1.0,
        "consequence": float(statement.implies),
        "repeats": len(words & quoted) / max(1, len(words)),
        "length": min(len(statement.text), MAX_TEXT_CHARS) / MAX_TEXT_CHARS,
    }
    quoted |= words
    # The words outside of quoted code raise the AUC from 0.72 to 0.77; sentence vectors and boosted
    # trees did not (docs/design/003-structural-claims.md). The words of a consequence are left out,
    # because they come from its rule and few other claims have them.
    prose_words = () if statement.implies else _WORD.findall(prose)
    features |= {f"word {stem(word.lower())}": 1.0 for word in prose_words}
    return {name: value for name, value in features.items() if value}


RankedTopic: TypeAlias = tuple[UnitChange, list[tuple[Statement, float]]]
"""Topic with its claims and the probability that each is useful; the highest comes first."""


def rank_topics(topics: Sequence[tuple[UnitChange, list[Statement]]]) -> list[RankedTopic]:
    """Return the topics in the same order, each with its claims by descending weight."""
    ranked: list[RankedTopic] = []
    for (change, statements), features in zip(topics, describe_claims(topics), strict=True):
        weighed = zip(statements, map(weigh, features), strict=True)
        ranked.append((change, sorted(weighed, key=lambda pair: -pair[1])))
    return ranked


def weigh(features: Features, weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the probability, from `MIN_WEIGHT` to 1, that a reader calls a claim useful."""
    # Reviewers do not read files that a program wrote.
    if "role machine" in features:
        return MIN_WEIGHT
    logit = weights["bias"] + sum(
        weights.get(name, 0.0) * value for name, value in features.items()
    )
    return max(MIN_WEIGHT, round(1 / (1 + math.exp(-logit)), 4))
