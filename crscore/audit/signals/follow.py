"""Fate of commented lines, from texts alone: no git, no store.

Lines are followed by content (`align`). A change by the base branch is not the author's: a
three-way comparison with the base of the older and of the newer tree recognises it. A block that
moves as a whole, within its file or to another, is unchanged.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from crscore.audit.signals.align import Alignment, Position, align, file_words, line_key
from crscore.text.content import stems_and_names

Lines = Sequence[str]

MOVED_LINES: Final = 3
"""Minimum lines of a block that moved; a single line that moves is a change."""
NEAR_LINES: Final = 5
"""Maximum lines inserted between two lines of a hunk when only the hunk is known."""
CONTEXT: Final = 3
"""Unchanged lines around the changes of a hunk, as in a diff."""
REACH: Final = 5
"""Lines around commented ones in which words of the comment count."""
MAX_UNITS: Final = 40
"""Maximum units of a base rate: in a hunk with more, they are taken at equal distances."""

MOVED: Final = "moved"
"""Evidence that lines are unchanged, in another place."""


class Span(NamedTuple):
    """Lines, from 0; `end` is the line after the last."""

    start: int
    end: int


class Answer(NamedTuple):
    """Value of a signal."""

    value: bool | None
    """None when it is unknown."""
    evidence: str | None = None
    """Evidence, or the reason why it is unknown."""


@dataclass(frozen=True, kw_only=True)
class Base:
    """File in the base branch, where the older and the newer tree forked from it."""

    old: Lines | None
    """None when there was no such file."""
    new: Lines | None

    @property
    def is_same(self) -> bool:
        """Whether the base branch did not change the file in between."""
        return self.old == self.new

    @cached_property
    def positions(self) -> Alignment:
        """Position of each older line."""
        return align(self.old or (), self.new or ())

    @cached_property
    def keys(self) -> tuple[frozenset[str], frozenset[str]]:
        """Keys of the older and of the newer lines (`line_key`)."""
        return frozenset(_keys(self.old or ())), frozenset(_keys(self.new or ()))


@dataclass(frozen=True, kw_only=True)
class Following:
    """One file in an older and a newer tree of a pull request."""

    old: Lines
    """File, or the hunk of a comment when only that is known."""
    new: Lines | None
    """None when there is no such file any more."""
    base: Base | None
    """None when it is not known."""
    moves: Callable[[], Iterable[tuple[Lines, Lines]]] = tuple
    """Other files that changed, older and newer text; empty for those that are missing."""
    is_whole: bool = True
    """False for a hunk."""
    added: frozenset[int] = frozenset()
    """Lines of a hunk that the pull request itself added."""
    was_removed: bool = False
    """Whether the older text is from before the pull request, which removed the lines."""

    @cached_property
    def positions(self) -> Alignment:
        """Position of each older line."""
        alignment = align(self.old, self.new or ())
        # A hunk's few lines can match equal lines anywhere in the file.
        return alignment if self.is_whole else _near_each_other(alignment)

    @cached_property
    def _base_alignment(self) -> Alignment:
        return align(self.old, self.base.old or () if self.base else ())

    @cached_property
    def is_changed(self) -> bool:
        """Whether the pull request changed the file (`file_changed`)."""
        return file_changed(self.old, self.new, self.base)

    def changed(self, span: Span) -> Answer:
        """Return whether the pull request changed any of the lines, or inserted lines in between.

        Lines without any trace are unknown, and so are lines that the base branch changed at the
        same place as the pull request.
        """
        lines = self._text_lines(span)
        missing = [line for line in lines if self.positions[line] is None]
        if not lines:
            return Answer(None, "the line is blank or missing")
        # Removed lines: they changed if they came back.
        if self.was_removed:
            return Answer(not missing, None if missing else "restored")
        if not self.is_whole and not self._is_found(span, missing):
            return Answer(None, "place not found in the last tree")
        return self._judge(span, lines, missing)

    def _judge(self, span: Span, lines: Sequence[int], missing: Sequence[int]) -> Answer:
        # Moved code is what the author kept, though no line is in its old place.
        if missing and self._has_moved(span):
            return Answer(False, MOVED)
        by_author = [self._is_by_author(line) for line in missing]
        is_inserted = self._has_insertion([line for line in lines if line not in missing])
        # An insertion counts only where all lines stayed; otherwise the missing ones decide.
        if any(by_author) or (is_inserted and not missing):
            return Answer(True, f"line {self.region(span).start + 1}")
        # One certain change decides; without it, one undecided line leaves all undecided.
        return Answer(None, "the base changed there too") if None in by_author else Answer(False)

    def acted_on(self, span: Span, comment: frozenset[str]) -> Answer:
        """Return whether the pull request did what a comment on some lines asks for, as it seems.

        The lines changed, lines came next to them, or within `REACH` lines words of the comment
        came that were not there. So a comment on one line and one on its whole block count alike.

        Args:
            span: The commented lines.
            comment: Stems of the comment's words, with those of suggested code.
        """
        answer = self.changed(span)
        if answer.value or not self.is_whole or self.was_removed or answer.evidence == MOVED:
            return answer
        if self.additions(span):
            return Answer(True, "next to it")
        near = Span(max(0, span.start - REACH), span.end + REACH)
        new = _stems(self.additions(near)) - _stems(self.old[near.start : near.end])
        words = sorted(new & comment)
        return Answer(True, f"near it: {', '.join(words)}") if words else answer

    def additions(self, span: Span) -> list[str]:
        """Return the lines that the author added between the nearest found lines around a span."""
        region = self.region(span)
        old, new = self.base.keys if self.base else (frozenset[str](), frozenset[str]())
        return [
            line
            for at, line in enumerate((self.new or ())[region.start : region.end], region.start)
            if at not in self._unchanged
            and (key := line_key(line))
            and (key in old or key not in new)
        ]

    @cached_property
    def _unchanged(self) -> frozenset[int]:
        """Newer lines that have the words of an older one."""
        places = filter(None, self.positions)
        return frozenset(line for place in places for line in range(place.start, place.end))

    def applied(self, span: Span, suggestion: Lines) -> bool:
        """Return whether a suggestion for some lines is at their place.

        It is when its lines are there together, or all added lines are there in order and no
        removed line. After a suggestion that only removes lines, only the others may be there.
        """
        suggested_keys = [key for line in suggestion if (key := line_key(line))]
        before = [self.old_keys[line] for line in self._text_lines(span)]
        region = self.region(span)
        new = self.new or ()
        added = [key for key in suggested_keys if key not in before]
        region_keys = [key for line in new[region.start : region.end] if (key := line_key(line))]
        # A pure deletion: exactly the remaining lines, and fewer than before.
        if not added:
            return region_keys == suggested_keys and region_keys != before
        if _is_together(suggestion, new, region):
            return True
        # Applied within a larger edit: what it adds came, and what it removes went.
        removed = (
            line for line in self._text_lines(span) if self.old_keys[line] not in suggested_keys
        )
        return _is_in_order(added, region_keys) and all(
            self.positions[line] is None for line in removed
        )

    def base_rate(
        self, span: Span, commented: frozenset[str], judge: Callable[[Span], Answer]
    ) -> tuple[int, int] | None:
        """Return how often lines of the same hunks have a signal that nobody commented on.

        Args:
            span: The commented lines. A unit is as many lines as they are, so that the chance of
                a change is comparable.
            commented: Keys (`line_key`) of all lines of the file that have a comment.
            judge: The signal, as it would be for a comment on other lines.

        Returns:
            Units that have it and all decided units; None without a base to compare.
        """
        if self.base is None:
            return None
        lines = [line for line in self._hunk(span) if self.old_keys[line] not in commented]
        size, at = len(self._text_lines(span)), 0
        units: list[Span] = []
        while size and at + size <= len(lines):
            unit = Span(lines[at], lines[at + size - 1] + 1)
            # A blank or commented line in between: no block of that length starts here.
            if self._text_lines(unit) != lines[at : at + size]:
                at += 1
                continue
            at += size
            units.append(unit)
        # Every n-th unit: a file of thousands of lines is no better known by all of them.
        answers = [judge(unit).value for unit in units[:: len(units) // MAX_UNITS + 1]]
        return answers.count(True), len(answers) - answers.count(None)

    def _hunk(self, span: Span) -> list[int]:
        """Return the changed lines of the hunks that a span is in."""
        hunks: list[list[int]] = []
        # Lines that the base does not have are those that the pull request changed.
        for line in (line for line in self._lines if self._base_alignment[line] is None):
            # Two changes with less than twice the context between them share a hunk in a diff.
            if hunks and line - hunks[-1][-1] <= 2 * CONTEXT + 1:
                hunks[-1].append(line)
            else:
                hunks.append([line])
        return [
            line
            for hunk in hunks
            if hunk[0] - CONTEXT < span.end and span.start <= hunk[-1] + CONTEXT
            for line in hunk
        ]

    def _text_lines(self, span: Span) -> list[int]:
        """Return the lines of a span that are not blank."""
        last = min(span.end, len(self.old))
        return [line for line in range(span.start, last) if self.old_keys[line]]

    def region(self, span: Span) -> Span:
        """Return the newer lines between the nearest found lines before and after a span."""
        before, after = _around(self.positions, span)
        start = before.end if before else 0
        # A bare hunk ends at the comment, so nothing after it limits the region.
        if after is None and not self.is_whole:
            return Span(start, min(start + 2 * (span.end - span.start) + CONTEXT, self._length))
        return Span(start, after.start if after else self._length)

    @property
    def _length(self) -> int:
        return len(self.new or ())

    def _is_found(self, span: Span, missing: Sequence[int]) -> bool:
        """Return whether a hunk's place is certain: it is found once, or lines next to the span."""
        context = [line for line in range(len(self.old)) if not span.start <= line < span.end]
        positions_nearby = [self.positions[line] for line in context if self.old_keys[line]]
        firm = [positions for positions in positions_nearby[-2:] if positions]
        if missing:
            # With missing lines, both neighbours must be found: otherwise the place is a guess.
            return len(firm) == 2
        keys = [self.old_keys[line] for line in self._text_lines(span)]
        everywhere = list(_windows(_keys(self.new or ()), len(keys)))
        return bool(firm) or everywhere.count(tuple(keys)) == 1

    def _has_insertion(self, lines: Sequence[int]) -> bool:
        """Return whether the author inserted lines between unchanged lines."""
        places = [place for line in lines if (place := self.positions[line])]
        between = {
            key
            for first, second in pairwise(places)
            for line in (self.new or ())[first.end : second.start]
            if (key := line_key(line))
        }
        if not between or self.base is None or self.base.is_same:
            return bool(between)
        before, after = self.base.keys
        # Lines that the base branch inserted there are not the author's.
        return bool(between - (after - before))

    def _has_moved(self, span: Span) -> bool:
        """Return whether the span, with lines around it, occurs as often as before."""
        if not self.is_whole:
            return False
        inside = self._text_lines(span)
        first, size = bisect_left(self._lines, inside[0]), max(MOVED_LINES, len(inside))
        last = min(first, len(self._lines) - size)
        windows = (
            tuple(self.old_keys[line] for line in self._lines[start : start + size])
            for start in range(max(0, first + len(inside) - size), last + 1)
        )
        balance = self._balance(size)
        # As often as before, over all changed files: gone from one place, and new in another. A
        # copy that was there already leaves the balance negative.
        return any(balance[window] >= 0 for window in windows)

    def _balance(self, size: int) -> Counter[tuple[str, ...]]:
        """Count of each block of lines in the newer files minus that in the older ones."""
        if size not in self._balances:
            count = self._balances[size] = Counter()
            for old, new in self._files:
                count.update(_windows(new, size))
                count.subtract(_windows(old, size))
        return self._balances[size]

    @cached_property
    def _balances(self) -> dict[int, Counter[tuple[str, ...]]]:
        return {}

    @cached_property
    def _files(self) -> list[tuple[list[str], list[str]]]:
        files = [(self.old, self.new or ()), *self.moves()]
        return [(_keys(old), _keys(new)) for old, new in files]

    @cached_property
    def old_keys(self) -> list[str]:
        """Key of each older line (`line_key`)."""
        return [line_key(line) for line in self.old]

    @cached_property
    def _lines(self) -> list[int]:
        """Older lines that are not blank."""
        return [at for at, key in enumerate(self.old_keys) if key]

    def _is_by_author(self, line: int) -> bool | None:
        """Return whether the author, not the base branch, changed a line; None when both did."""
        if self.base is None:
            # Without a base, only lines that the pull request added are certainly the author's.
            return True if self.is_whole or line in self.added else None
        if self.base.is_same:
            return True
        place = self._base_alignment[line]
        if place is not None:
            # The base has the line and kept it: the author removed it.
            return self.base.positions[place.start] is not None
        return None if self._base_changed_at(self.base, line) else True

    def _base_changed_at(self, base: Base, line: int) -> bool:
        """Return whether the base branch changed the lines that a line replaced."""
        before, after = _around(self._base_alignment, Span(line, line + 1))
        old = base.old or ()
        replaced = range(before.end if before else 0, after.start if after else len(old))
        return any(line_key(old[at]) and base.positions[at] is None for at in replaced)


def file_changed(old: Lines, new: Lines | None, base: Base | None) -> bool:
    """Return whether the pull request changed a file, apart from changes by the base branch.

    Where the base branch changed the file too, the words that the pull request adds and removes are
    compared.
    """
    if new is None:
        return base is None or base.old is None or base.new is not None
    words, later = file_words(old), file_words(new)
    if words == later:
        return False
    if base is None or base.is_same:
        return True
    before, after = Counter(words), Counter(later)
    # What the pull request adds to its base, before and after: equal if only the base changed.
    before.subtract(Counter(file_words(base.old or ())))
    after.subtract(Counter(file_words(base.new or ())))
    return before != after


def _near_each_other(alignment: Alignment) -> Alignment:
    """Exclude lines of a hunk that are far below the others: equal lines of another place."""
    filtered: Alignment = []
    last: Position | None = None
    for place in alignment:
        is_near = place is not None and (last is None or place.start - last.end <= NEAR_LINES)
        filtered.append(place if is_near else None)
        last = place if is_near else last
    return filtered


def _stems(lines: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_stems_of_line, lines))


@lru_cache(maxsize=20_000)  # the base rate of each comment reads the lines of its hunk again
def _stems_of_line(line: str) -> frozenset[str]:
    return stems_and_names(line)[0]


def _keys(lines: Iterable[str]) -> list[str]:
    return [key for line in lines if (key := line_key(line))]


def _windows(keys: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(keys[at : at + size]) for at in range(len(keys) - size + 1))


def _around(alignment: Alignment, span: Span) -> tuple[Position | None, Position | None]:
    """Return the positions of the nearest found lines before and after a span."""
    before = next(filter(None, reversed(alignment[: span.start])), None)
    return before, next(filter(None, alignment[span.end :]), None)


def _is_in_order(expected: Sequence[str], keys: Sequence[str]) -> bool:
    remaining = iter(keys)
    return all(key in remaining for key in expected)


def _is_together(suggestion: Lines, new: Lines, region: Span) -> bool:
    """Return whether whole lines that overlap a region have the words of a suggestion.

    Its first and last lines may repeat lines around the region.
    """
    suggested_words = file_words(suggestion)
    if region.start == region.end:
        return False
    first = max(0, region.start - len(suggestion))
    last = min(len(new), region.end + len(suggestion))
    # A formatter can wrap or join lines, so ranges of any length are compared.
    for start in range(first, min(region.end, last)):
        for end in range(max(start, region.start) + 1, last + 1):
            words = file_words(new[start:end])
            if words == suggested_words:
                return True
            # One word more may be a comma, which is dropped when a closing bracket follows.
            if len(words) > len(suggested_words) + 1:
                break
    return False
