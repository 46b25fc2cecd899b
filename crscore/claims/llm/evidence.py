"""What a piece of a change has that a claim can name: names, texts, numbers, words, constructs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.llm import prompt_injection
from crscore.claims.llm.points import sentences
from crscore.claims.llm.words import WORD, dense, parts, stem, words
from crscore.records import LineKind, LineSpan, Side
from crscore.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crscore.claims.llm.chunks import Piece
    from crscore.claims.llm.words import Words

# What people call a construct that code writes in signs or in keywords of its own.
_CONSTRUCTS: Final = {
    stem(word): re.compile(pattern)
    for word, pattern in {
        "import": r"\b(?:import|require|include|using|from)\b|#include",
        "condition": r"\b(?:if|unless|else|elif|when|switch|case)\b|\?|&&|\|\||[<>=!]=",
        "comment": r"//|/\*|\*/|^\s*\*|#|\"\"\"|--|<!--",
        "docstring": r"\"\"\"|'''|/\*\*|^\s*\*",
        "documentation": r"\"\"\"|'''|//|/\*|^\s*\*|#",
        "string": r"[\"'`]",
        "loop": r"\b(?:for|while|until|loop)\b|[eE]ach\b",
        "exception": r"raise|throw|except|catch|Exception|Error|panic|rescue",
        "assertion": r"assert|expect|should",
        "test": r"[tT]est|assert|expect|should|\bit\(|describe",
        "null": r"\b(?:None|null|nil|undefined|NULL|nullptr)\b",
        "boolean": r"\b(?:[tT]rue|[fF]alse)\b",
        "asynchronous": r"\b(?:async|await|Promise|Future|suspend)\b",
        "destructuring": r"[}\]]\s*=(?!=)|\.\.\.",
        "keyword": r"\(.*\b\w+\s?=\s?[^=\s]",
        "parameter": r"\b(?:def|function|func|fn|sub)\b|\)\s*(?:\{|=>|->|:\s*$|throws)",
    }.items()
}
# A change of nothing but blanks, quotes and letter case.
_LAYOUT: Final = frozenset(map(stem, ("formatting", "whitespace", "indentation", "style", "quote")))


# A sentence of few words that tells what became of something.
_BECAME: Final = re.compile(
    r"\b(?:is|are|was|were|been|gets?|being) (?:now |also |no longer |slightly )?(?:add|remov|delet"
    r"|renam|replac|mov|chang|modif|introduc|defin|assign|creat|import|updat|convert|call|return|rais"
    r"|thrown|pass|set|wrap|log|extract|inlin|overrid|enabl|disabl|us|new\b|gone\b|unchanged)\w{0,5}\b"
    r"|\b(?:takes|calls|returns|raises|throws|turns|sets|depends|checks|replaces|becomes)\b"
    r"|^\W*(?:add|remov|delet|renam|replac|mov|chang|creat|import|updat|convert|wrap|log|extract)"
    r"\w{0,4}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a piece."""

    path: str
    """The file on the line's side."""
    side: Side
    """New for an added line, old for a removed one; new for context."""
    number: int
    """1-based."""
    changed: bool
    """False for context."""
    said: Words
    """What it is made of."""
    dense: str
    """Its text as `words.dense` makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What some lines have."""

    dense: str
    """All of them without blanks."""
    names: frozenset[str]
    """Every word of them as it is written, lower-case."""
    numbers: frozenset[str]
    """Every number."""
    stems: frozenset[str]
    """Stems of the words and of the parts of names that tie a sentence to a diff."""
    every: frozenset[str]
    """Stems of all words and parts of names."""

    def quotes(self, said: Words) -> bool:
        """Whether a sentence quotes, names or counts something that is here."""
        return (
            any(len(piece) > 1 and piece in self.dense for piece in map(dense, said.quoted))
            or any(name.lower() in self.names for name in said.names)
            or not said.numbers.isdisjoint(self.numbers)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a piece has."""

    honest: Vocabulary
    """Of the lines that describe or do something, and of the file's name."""
    orders: Vocabulary
    """Of the lines that speak to whoever reads them as if it took orders."""
    constructs: frozenset[str]
    """Stems of the words for constructs that the changed lines hold."""
    lines: tuple[Line, ...]
    """All lines with a number."""

    def grounds(self, text: str) -> bool:
        """Whether a sentence names something of the piece.

        A sentence that has names or quotations needs one of them, or two plain words, that are
        here; any other one plain word, or a construct of the changed lines. Lines that give
        orders count only for a sentence that says that there is such a text.
        """
        said = words(text)
        found = (self.honest, self.orders) if prompt_injection.describes(text) else (self.honest,)
        if any(vocabulary.quotes(said) for vocabulary in found):
            return True
        shared = said.stems & frozenset().union(*(vocabulary.stems for vocabulary in found))
        if said.names or said.quoted:
            return len(shared) >= 2
        return bool(shared) or self._builds(text)

    def tells(self, text: str) -> bool:
        """Whether a sentence says something of the piece, and does not only name a thing in it.

        What a model says that obeys has no end of wordings; a name of the diff ties each to it.
        So where lines give orders, each sentence needs a number of the piece, two of its names,
        a word or construct of it among the words of its own, or to tell what became of a thing.
        """
        if not self.orders.every or prompt_injection.describes(text):
            return True
        return all(map(self._tells, sentences(text)))

    def _tells(self, text: str) -> bool:
        said, plain = words(text), words(prompt_injection.unquoted(text))
        names = {name.lower() for name in said.names} & self.honest.names
        own = plain.stems - {stem(part) for name in said.names for part in parts(name)}
        return (
            len(names) > 1
            or not said.numbers.isdisjoint(self.honest.numbers)
            or not own.isdisjoint(self.honest.stems)
            or self._builds(prompt_injection.unquoted(text))
            or _BECAME.search(prompt_injection.unquoted(text)) is not None
        )

    def _builds(self, text: str) -> bool:
        spoken = {stem(word.lower()) for word in WORD.findall(text)}
        return not self.constructs.isdisjoint(spoken)

    def parrots(self, text: str) -> bool:
        """Whether a sentence says what lines that give orders say, and not that they say it.

        It does when half of its plain words, or more, stand in such lines and in no other.
        """
        if not self.orders.every or prompt_injection.describes(text):
            return False
        plain = words(prompt_injection.unquoted(text))
        said = {
            stem(part)
            for word in plain.every - set(plain.names)
            for part in parts(word)
            if len(part) > 2 and part not in ENGLISH
        }
        return 2 * len(said & (self.orders.every - self.honest.every)) >= max(len(said), 1)

    def named(self, text: str) -> tuple[str, ...]:
        """The names of code in a sentence that the piece has, each once, in order."""
        names = self.honest.names | self.orders.names
        return tuple(name for name in words(text).names if name.lower() in names)

    def places(self, text: str) -> tuple[LineSpan, ...]:
        """The lines a sentence stands on; empty when no single ones tell.

        Changed lines that hold what it names or quotes, else those with most of its words.
        """
        said = words(text)
        names = {name.lower() for name in said.names}
        quoted = [piece for piece in map(dense, said.quoted) if len(piece) > 1]
        changed = [line for line in self.lines if line.changed]
        told = [
            line
            for line in changed
            if any(piece in line.dense for piece in quoted)
            or not names.isdisjoint(name.lower() for name in line.said.every)
        ]
        if not told:
            most = max((len(said.stems & line.said.stems) for line in changed), default=0)
            told = [line for line in changed if most and len(said.stems & line.said.stems) == most]
        return tuple(_joined(told))


def of(piece: Piece) -> Evidence:
    """Collect what a piece has."""
    lines = tuple(_lines(piece))
    heads = [hunk.section for hunk in piece.hunks]
    # What the surroundings are called is part of where the change is; their body is not.
    names = [*piece.paths().values(), *heads, piece.around.split("\n", 1)[0]]
    blocks = [*([name] for name in names), *_blocks(piece)]
    told = [
        (text, order)
        for block in blocks
        for text, order in zip(block, prompt_injection.orders(block), strict=True)
    ]
    return Evidence(
        honest=_vocabulary([text for text, order in told if not order]),
        orders=_vocabulary([text for text, order in told if order]),
        constructs=frozenset(_constructs(piece)),
        lines=lines,
    )


def _blocks(piece: Piece) -> Iterator[list[str]]:
    """The lines of each hunk by what the diff does to them, in order."""
    for hunk in piece.hunks:
        for kind in LineKind:
            yield [line.text for line in hunk.lines if line.kind is kind]


def _constructs(piece: Piece) -> Iterator[str]:
    for word, sign in _CONSTRUCTS.items():
        if any(sign.search(line) for line in (*piece.removed, *piece.added)):
            yield word
    if dense("".join(piece.removed)) == dense("".join(piece.added)):
        yield from _LAYOUT


def _lines(piece: Piece) -> Iterator[Line]:
    paths = piece.paths()
    for hunk in piece.hunks:
        for line in hunk.lines:
            side = Side.OLD if line.kind is LineKind.REMOVED else Side.NEW
            number = line.old if side is Side.OLD else line.new
            if number is not None:
                yield Line(
                    path=paths[side],
                    side=side,
                    number=number,
                    changed=line.kind is not LineKind.CONTEXT,
                    said=words(line.text),
                    dense=dense(line.text),
                )


def _vocabulary(texts: Sequence[str]) -> Vocabulary:
    said = [words(text) for text in texts]
    return Vocabulary(
        # A line end keeps a quotation from running over two lines.
        dense="\n".join(map(dense, texts)),
        names=frozenset(name.lower() for one in said for name in one.every),
        numbers=frozenset().union(*(one.numbers for one in said)),
        stems=frozenset().union(*(one.stems for one in said)),
        every=frozenset(stem(part) for one in said for word in one.every for part in parts(word)),
    )


def _joined(lines: Iterable[Line]) -> Iterator[LineSpan]:
    """Neighbouring lines of one side as one span."""
    ordered = sorted(lines, key=lambda line: (line.path, line.side.value, line.number))
    start = 0
    for at, line in enumerate(ordered):
        after = ordered[at + 1] if at + 1 < len(ordered) else None
        if (
            after is not None
            and (after.path, after.side) == (line.path, line.side)
            and after.number == line.number + 1
        ):
            continue
        yield LineSpan(path=line.path, side=line.side, start=ordered[start].number, end=line.number)
        start = at + 1
