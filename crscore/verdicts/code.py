"""Both versions of a change as searchable code: where a piece of it is, and in which unit."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from crscore.claims.structural.evidence import last_name
from crscore.claims.structural.versions import Version, versions_of
from crscore.diff.ranges import join_ranges
from crscore.records import Diff, LineSpan, Side
from crscore.syntax.grammars import Language, language_of
from crscore.syntax.outline import Unit
from crscore.syntax.reader import parse_text, read

LINES_BELOW: Final = 2
"""Lines below one that are read with it."""
MAX_FILES: Final = 200
"""Maximum files of a change that are read."""
MIN_NEAR: Final = 0.5
"""Share of its tokens from which code is near to a line."""
MAX_PLACES: Final = 50
"""Maximum places of one piece of code that are looked at."""
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_ENDS: Final = re.compile(r"^\W*\.(?=\w)|(?:\(\s*(?:\.{3}|…)?\s*\)|[;,])+$")


def tokens_of(code: str) -> list[str]:
    """Return the tokens of a piece of code, whatever its white space and its kind of quotes.

    Example:
        >>> tokens_of("f(x, 'a')")
        ['f', '(', 'x', ',', '"', 'a', '"', ')']
    """
    return _TOKEN.findall(code.replace("'", '"').replace("`", '"'))


class Place(NamedTuple):
    """Line of one version of a file."""

    text: "FileText"
    line: int

    @property
    def code(self) -> str:
        """Text of the line."""
        return self.text.lines[self.line].removesuffix("\r")

    @property
    def is_changed(self) -> bool:
        """Whether the line is added, or removed from the old version."""
        return self.line in self.text.changed

    @property
    def span(self) -> LineSpan:
        """The line as the proof of a receipt."""
        return LineSpan(path=self.text.path, side=self.text.side, start=self.line, end=self.line)


class Region(NamedTuple):
    """Lines of one version of a file: mostly those of a unit."""

    text: "FileText"
    start: int
    end: int
    unit: Unit | None = None

    def places(self) -> list[Place]:
        """Return the lines, as far as they are known."""
        numbers = range(self.start, self.end + 1)
        return [Place(self.text, number) for number in numbers if number in self.text.lines]

    def find(self, code: str) -> list[Place]:
        """Return the lines on which a piece of code starts."""
        return self.text.find(code, range(self.start, self.end + 1))

    def has(self, place: Place) -> bool:
        """Return whether a line is one of them."""
        return self.text is place.text and self.start <= place.line <= self.end


@dataclass(eq=False)
class FileText:
    """One version of a file."""

    version: Version
    language: Language | None

    @property
    def path(self) -> str:
        """Path of the file in this version."""
        file = self.version.file
        return (file.old_path or file.path) if self.side is Side.OLD else file.path

    @property
    def side(self) -> Side:
        """The version."""
        return self.version.side

    @property
    def lines(self) -> dict[int, str]:
        """Text by line number, as far as it is known."""
        return self.version.lines

    @property
    def whole(self) -> "Region":
        """All lines."""
        return Region(self, 1, max(self.lines, default=0))

    @cached_property
    def changed(self) -> frozenset[int]:
        """Changed lines: added in the new version, removed in the old one."""
        return frozenset(self.version.changed)

    @cached_property
    def _source(self) -> str:
        return "\n".join(self.lines.values())

    def nodes_named(self, name: str) -> Iterator[tuple[Place, Any]]:
        """Yield the lines of the whole file that have a name, with its node in the syntax tree.

        Without a grammar the node is None.
        """
        if name not in self.version.words:
            return
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        for row, (number, line) in enumerate(self.lines.items()):
            for match in word.finditer(line):
                columns = (len(line[:end].encode("utf-8", "replace")) for end in match.span())
                start, end = ((row, column) for column in columns)
                root = self._root
                node = root.descendant_for_point_range(start, end) if root is not None else None
                yield Place(self, number), node

    @cached_property
    def _root(self) -> Any:
        return parse_text(self.language, self._source) if self.language else None

    def _regions_on(self, lines: Iterable[int]) -> list[Region]:
        """Return the declarations around some lines of the whole file, outer before inner.

        None without a grammar, or where only hunks are known. Only these lines are read, as most of
        a file is of no interest.
        """
        if self.language is None or not self.version.is_whole:
            return []
        # A decorator, a comment or a name may be above the declaration itself.
        ranges = join_ranges(((line, line + LINES_BELOW) for line in sorted(lines)), gap=1)
        units = read(self.language, self._source, lines=ranges, root=self._root).units[1:]
        return [Region(self, unit.start, unit.end, unit) for unit in units if unit.real]

    @cached_property
    def _tokens(self) -> tuple[str, list[int], list[int]]:
        """Return all tokens as one text, with the starts of the lines in it and their numbers."""
        parts: list[str] = []
        starts, numbers, length = [], [], 1
        for number, line in self.lines.items():
            if tokens := tokens_of(line):
                starts.append(length)
                numbers.append(number)
                parts.append(" ".join(tokens) + " ")
                length += len(parts[-1])
        return " " + "".join(parts), starts, numbers

    def find(self, code: str, among: Container[int] | None = None) -> list[Place]:
        """Return the lines, all or `among` some, on which code starts: at most `MAX_PLACES`."""
        needle = " ".join(tokens_of(code))
        text, starts, numbers = self._tokens
        places: list[Place] = []
        at = text.find(f" {needle} ") if needle else -1
        while at >= 0 and len(places) < MAX_PLACES:
            line = numbers[bisect_right(starts, at + 1) - 1]
            if among is None or line in among:
                places.append(Place(self, line))
            at = text.find(f" {needle} ", at + 1)
        return places

    def region_at(self, line: int) -> Region | None:
        """Return the innermost function or type around a line."""
        regions = [region for region in self._regions_on([line]) if region.has(Place(self, line))]
        return regions[-1] if regions else None

    def regions_named(self, name: str) -> list[Region]:
        """Return the units of a name, without the names around it."""
        if name not in self._regions_by_name:
            lines = [number for number, line in self.lines.items() if name in line]
            is_absent = name.isidentifier() and name not in self.version.words
            regions = [] if is_absent else self._regions_on(lines)
            self._regions_by_name[name] = [
                region for region in regions if region.unit and last_name(region.unit.name) == name
            ]
        return self._regions_by_name[name]

    @cached_property
    def _regions_by_name(self) -> dict[str, list[Region]]:
        return {}


class RestOfRepository(Protocol):
    """Files of the repository that a change does not touch."""

    @property
    def is_whole(self) -> bool:
        """Whether all of them are known."""
        ...

    def has_path(self, path: str) -> bool:
        """Return whether a file or a folder has a path."""
        ...

    def texts_with(self, words: Sequence[str], diff: Diff) -> list[FileText] | None:
        """Return the files that have all of some words; None where they are too many."""
        ...


class Code:
    """Both versions of all files of a change, and the rest of its repository where it is known."""

    def __init__(self, diff: Diff, repository: "RestOfRepository | None" = None) -> None:
        self.diff = diff
        self.repository = repository
        self.files: list[tuple[FileText, FileText]] = []
        for file in diff.files[:MAX_FILES]:
            if file.hunks:
                language = language_of(file.language)
                # Units are read later, and only of files that mention a name.
                old, new = versions_of(file, None)
                self.files.append((FileText(old, language), FileText(new, language)))
        # Without the text of each file, what is not shown may be anywhere.
        self.is_whole = len(self.files) == len(diff.files) and all(
            new.version.is_whole for _, new in self.files
        )

    @property
    def is_everything(self) -> bool:
        """Whether the new version of the whole repository is known."""
        is_known = all(new.version.is_whole for _, new in self.files)
        is_complete = is_known and len(self.diff.files) <= MAX_FILES
        return is_complete and self.repository is not None and self.repository.is_whole

    def is_elsewhere(self, code: str) -> bool:
        """Return whether a file that the change does not touch has a piece of code, or may have."""
        words = [token for token in tokens_of(code) if token[0].isalnum() or token[0] == "_"]
        texts = self.repository.texts_with(words, self.diff) if self.repository and words else []
        return texts is None or any(text.find(code) for text in texts)

    def texts(self, side: Side | None = None) -> Iterator[FileText]:
        """Yield the texts of one side, or of both, the new one first."""
        if side is not Side.OLD:
            yield from (new for _, new in self.files)
        if side is not Side.NEW:
            yield from (old for old, _ in self.files)

    def find(self, code: str, side: Side | None = None) -> list[Place]:
        """Return the lines on which a piece of code starts."""
        return [place for text in self.texts(side) for place in text.find(code)]

    def find_changed(self, code: str, side: Side) -> list[Place]:
        """Return the changed lines of a side on which a piece of code starts."""
        return [place for text in self.texts(side) for place in text.find(code, text.changed)]

    def find_shifted(self, code: str, side: Side) -> list[Place]:
        """Return the changed lines with a piece of code that their block gives up or gains.

        An edited line that keeps the piece is not among them.
        """
        return [place for place in self.find_changed(code, side) if _is_shifted(place, code)]

    def regions_named(self, name: str, side: Side = Side.NEW) -> list[Region]:
        """Return the units of a name."""
        return [region for text in self.texts(side) for region in text.regions_named(name)]

    def texts_at(self, path: str, side: Side = Side.NEW) -> list[FileText]:
        """Return the texts whose path ends in a path."""
        return [text for text in self.texts(side) if f"/{text.path}".endswith(f"/{path}")]

    def nearest(self, code: str, min_share: float = MIN_NEAR) -> Place | None:
        """Return the line of the new version that is nearest to a piece of code, if any is near."""
        tokens = tokens_of(code)
        words = {token for token in tokens if token[0].isalnum() or token[0] == "_"}
        ranked = [
            (share, Place(text, number))
            for text in self.texts(Side.NEW)
            for number, line in text.lines.items()
            if (share := _share(tokens, words, line)) >= min_share
        ]
        if any(_is_shortened(tokens, place) for _, place in ranked):
            return None
        return max(ranked, key=lambda pair: pair[0])[1] if ranked else None

    @cached_property
    def _names(self) -> frozenset[str]:
        texts = list(self.texts())
        words = (text.version.words.union(_TOKEN.findall(text.path)) for text in texts)
        return frozenset(word.lower() for names in words for word in names)

    def knows(self, word: str) -> bool:
        """Return whether either version has a word, in any case."""
        return word.lower() in self._names


def _is_shifted(place: Place, code: str) -> bool:
    block = place.text.version.blocks[place.line]
    removed, added = (
        count_code(" ".join(text for _, text in lines), code)
        for lines in (block.removed, block.added)
    )
    return removed > added if place.text.side is Side.OLD else added > removed


def count_code(text: str, code: str) -> int:
    """Count a piece of code in a text.

    Example:
        >>> count_code("f(a, a)", "a"), count_code("f(a, a)", "b")
        (2, 0)
    """
    # Neighbours share the blank between them.
    words, needle = ("  ".join(tokens_of(part)) for part in (text, code))
    return f" {words} ".count(f" {needle} ") if needle else 0


def _share(tokens: Sequence[str], words: set[str], line: str) -> float:
    """Return the share of a piece of code that a line has, in order."""
    own_tokens = tokens_of(line) if any(word in line for word in words) else []
    if not own_tokens or 2 * len(words.intersection(own_tokens)) < len(words):
        return 0
    blocks = SequenceMatcher(None, tokens, own_tokens, autojunk=False).get_matching_blocks()
    size = sum(block.size for block in blocks)
    last = blocks[-2] if size else blocks[0]
    return size / max(len(tokens), last.b + last.size - blocks[0].b)


def _is_shortened(tokens: Sequence[str], place: Place) -> bool:
    """Return whether code that starts on a line has all tokens in order, and others between."""
    lines = (place.text.lines.get(number, "") for number in range(place.line, place.line + 4))
    rest = iter(tokens_of(" ".join(lines)))
    return all(token in rest for token in tokens)


def clean(code: str) -> str:
    """Return a quoted piece of code without an empty call, a leading dot and a trailing comma.

    Example:
        >>> clean("obj.close()"), clean(".get(...)"), clean("f(x);")
        ('obj.close', 'get', 'f(x)')
    """
    return _ENDS.sub("", code.strip()).strip()
