"""Points of a change that a review should address, and sentences that name their code.

A point is a topic, or a pseudo-reference without a topic. All reports count the same points.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.diff.roles import role_of
from crscore.records import (
    ON_TOPIC,
    Diff,
    Flag,
    LineKind,
    Match,
    PseudoReference,
    Reading,
    Subject,
    Topic,
    TopicState,
)
from crscore.scoring.cells import Cells, Judgement
from crscore.text import CODE_SPAN, find_code_spans, stem, words

Bools = npt.NDArray[np.bool_]

MIN_NAME_CHARS: Final = 3
"""Minimum characters of a name that identifies code."""
# Of the topics of a change, reviews of other commits name 1.0 %. With single words of any frequency
# it was 1.5 %, with every changed name 4 % (docs/design/006-reports.md).
MIN_WORD_IDF: Final = 2.5
"""Minimum inverse document frequency of a single word that identifies code if the change introduces
or removes it; 2.5 is a word in 8 % of changes."""
MAX_SHARING_POINTS: Final = 3
"""Maximum number of points that one shared name can identify."""
SAME_COSINE: Final = 0.5
"""Minimum cosine of a sentence and the claim that it is about."""
NEAR_COSINE: Final = 0.3
"""Minimum cosine if the claim shares a name or a rare word with the sentence."""
RARE_IDF: Final = 3.0
"""Minimum inverse document frequency of a rare word: in at most 5 % of changes."""
MAX_PARTS: Final = 8
"""Maximum parts of a qualified name that are read."""
_NAMING: Final = (None, Flag.NOT_ENGLISH)
"""Flags of sentences whose names count."""
_TEST_NOUNS: Final = frozenset({"test", "tests", "test suite"})
_NAME: Final = re.compile(r"[^\W\d][\w$]*")
_SEPARATOR: Final = re.compile(r"\??\.|::|->|#")
# "a", "a.b", "a::b", "self->b", "Server#helpers"
_QUALIFIED: Final = re.compile(rf"{_NAME.pattern}(?:(?:{_SEPARATOR.pattern}){_NAME.pattern})*")
# A name outside of backticks that is not a word: "max_tries", "parseUrl", "res.send", "a::b"
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]|\w(?:\.|::|->|#)\w")
# "close()"; not "file(s)"
_CALL: Final = re.compile(r"\((?!s\))")
# "parse", "Parse", "HTTP"; not "parseTree", "max_tries"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# "README.md", "docs/quick-start/page.md"
_PATH: Final = re.compile(r"(?<![\w@+-])[\w@+-]*(?:[./][\w@+-]+)+")
# The name of a test or a section: “before render”
_TITLE: Final = re.compile(r"[\"“]([^\"“”]{3,200})[\"”]")


class ChangePoint(msgspec.Struct, frozen=True):
    """Topic, or pseudo-reference without a topic, that a review of the change should address."""

    references: tuple[int, ...]
    """Indices of its counted pseudo-references, highest weight first."""
    addressed: bool
    """Whether a sentence addresses one of them."""


def list_points(
    references: Sequence[PseudoReference], matches: Sequence[Match]
) -> tuple[ChangePoint, ...]:
    """List the points of a change, highest weight first.

    New tests are points only if the change has nothing else.

    Args:
        references: The pseudo-references.
        matches: The best sentence for each pseudo-reference.
    """
    groups = _group_rows(references)
    of_code = []
    for rows in groups:
        topic = references[rows[0]].topic
        is_new_test = (
            topic is not None
            and topic.state is TopicState.NEW
            and (topic.noun in _TEST_NOUNS or role_of(topic.place.path) == "test")
        )
        # Whoever reviews the new code need not mention its new test, too.
        if not is_new_test:
            of_code.append(rows)
    return tuple(
        ChangePoint(tuple(rows), any(matches[row].matched for row in rows))
        # Of a change that only adds tests, they are the points.
        for rows in of_code or groups
    )


def _group_rows(references: Sequence[PseudoReference]) -> list[list[int]]:
    """Return the counted rows of each point, highest weight first."""
    points: dict[Topic | int, list[int]] = {}
    for row in sorted(range(len(references)), key=lambda row: -references[row].weight):
        if references[row].counted:
            points.setdefault(references[row].topic or row, []).append(row)
    return list(points.values())


def find_touched(
    cells: Cells,
    judgement: Judgement,
    decision: float,
    readings: Sequence[Reading] = (),
    idf: Callable[[str], float] | None = None,
) -> tuple[Bools, tuple[Reading, ...]]:
    """Decide which sentences address which pseudo-references, for every report.

    Args:
        cells: The cells, of R pseudo-references and S sentences.
        judgement: The matcher's judgement.
        decision: Minimum degree at which a sentence addresses a pseudo-reference.
        readings: Reading of each sentence, without its claim; empty without a reader.
        idf: Returns the inverse document frequency of a stem in changes; needed for readings.

    Returns:
        Shape (R, S): True by the degree, by a name, or as the claim that the sentence is about;
        and the readings with these claims.
    """
    by_name = find_named(cells, judgement.flags, idf)
    touched, with_claims = by_name | (judgement.degrees >= decision), list(readings)
    for column, reading in enumerate(readings):
        cosines = cells.similarity[:, column].tolist()
        rows = np.flatnonzero(by_name[:, column]).tolist()
        row = max(rows, key=cosines.__getitem__, default=None)
        if row is None and reading.about >= ON_TOPIC and idf and cosines:
            # Excluded references may be the subject, too. Of equal cosines, `argmax` takes the
            # first, as the most informative references come first.
            best = int(np.argmax(cosines))
            texts = cells.sentences[column].text, cells.references[best].text
            # In a small change every sentence is similar to some claim, so a low cosine needs a
            # rare word, too.
            if cosines[best] >= SAME_COSINE or (
                cosines[best] >= NEAR_COSINE
                and max(map(idf, words(texts[0]).stems & words(texts[1]).stems), default=0.0)
                >= RARE_IDF
            ):
                row = best
        if row is not None:
            touched[row, column] = True
            with_claims[column] = replace(reading, subject=Subject.CLAIM, reference=row)
    return touched, tuple(with_claims)


def find_named(
    cells: Cells, flags: Sequence[Flag | None], idf: Callable[[str], float] | None = None
) -> Bools:
    """Find the points whose code each sentence names explicitly.

    The code of a point is its unit, and names that its pseudo-references quote and the change
    introduces or removes. A name that more than `MAX_SHARING_POINTS` points share is ignored. So is
    a name that several points share, if the sentence also identifies one of them by another name.

    Args:
        cells: The cells, of R pseudo-references and S sentences.
        flags: The matcher's flags; names in a flagged sentence are ignored, except in text that is
            not in English.
        idf: Returns the inverse document frequency of a stem in changes. Without it, single words
            name units only.

    Returns:
        Shape (R, S): True for the most similar row of each point that a sentence names.
    """
    references, similarity = cells.references, cells.similarity
    # By the matcher's degrees alone, 97 of 298 texts that name a topic's code did not address it.
    by_name = np.zeros(similarity.shape, dtype=np.bool_)
    points = _group_rows(references)
    names = _name_points([[references[row] for row in rows] for rows in points], cells.diff, idf)
    for column, (sentence, flag) in enumerate(zip(cells.sentences, flags, strict=True)):
        candidates: list[frozenset[int]] = []
        for parts in _read_code(sentence.text) if flag in _NAMING else ():
            # Of `a.b.c`, the longest known parts count: `b.c` before `c`.
            for size in range(len(parts), 0, -1):
                pieces = [".".join(parts[at : at + size]) for at in range(len(parts) - size + 1)]
                if owners := [names[piece] for piece in pieces if piece in names]:
                    candidates += owners
                    break
        identified = set(chain.from_iterable(owners for owners in candidates if len(owners) == 1))
        shared = [owners for owners in candidates if len(owners) <= MAX_SHARING_POINTS]
        # A name of two points means both, unless the sentence names one of them alone.
        identified.update(*(owners for owners in shared if owners.isdisjoint(identified)))
        for point in identified:
            by_name[max(points[point], key=lambda row: similarity[row, column]), column] = True
    return by_name


def _read_code(text: str) -> Iterator[list[str]]:
    """Yield the names of code in a text, split into parts; a path or a quotation is one part."""
    prose, spans = CODE_SPAN.sub(" ` ", text), find_code_spans(text)
    for match in _QUALIFIED.finditer(prose):
        if _COMPOUND.search(match[0]) or _CALL.match(prose, match.end()):
            yield _split(match[0])
    for code in spans:
        yield from map(_split, _QUALIFIED.findall(code))
    paths = (path for code in (prose, *spans) for path in _PATH.findall(code))
    for whole in (*spans, *_TITLE.findall(prose), *paths):
        yield [whole.removeprefix("./")]


def _split(name: str) -> list[str]:
    return _SEPARATOR.split(name)[-MAX_PARTS:]


def _name_points(
    points: Sequence[Sequence[PseudoReference]], diff: Diff, idf: Callable[[str], float] | None
) -> dict[str, frozenset[int]]:
    """Return the points of each name: whose unit has that name or, if none, which quote it."""
    added, removed, context = (
        {name for line in diff.lines(kind) for name in _NAME.findall(line.text)}
        for kind in (LineKind.ADDED, LineKind.REMOVED, LineKind.CONTEXT)
    )
    # A name on both sides, or on an unchanged line, was there before and still is.
    changed = {name for name in (added ^ removed) - context if len(name) >= MIN_NAME_CHARS}
    units, details = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for index, references in enumerate(points):
        code = " ".join(chain.from_iterable(find_code_spans(item.text) for item in references))
        quoted = changed.intersection(_NAME.findall(code))
        if topic := references[0].topic:
            mark = "/" if topic.name == topic.place.path else "."
            parts = topic.name.split(mark)
            # A unit is also named by its last part, by its last two parts, and so on.
            for name in (mark.join(parts[at:]) for at in range(len(parts))):
                if len(name) >= MIN_NAME_CHARS:
                    units[name].add(index)
            quoted.difference_update(_NAME.findall(f"{topic.name} {topic.place.path}"))
        # Any review has words such as `value` and `data`, whatever change it is about.
        for name in quoted:
            if not _WORD.fullmatch(name) or (idf and idf(stem(name.lower())) >= MIN_WORD_IDF):
                details[name].add(index)
    return {name: frozenset(owners) for name, owners in (details | units).items()}
