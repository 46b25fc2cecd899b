"""Writes claims without a model: sentences about each topic of a change, from syntax trees.

A topic is a changed unit, such as a function, together with the units that changed in the same way.
`docs/design/003-structural-claims.md` describes the method.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

import msgspec

from crscore.claims.base import ClaimGenerator
from crscore.claims.structural import plain_files
from crscore.claims.structural.change import UnitChange
from crscore.claims.structural.headline import label
from crscore.claims.structural.quoting import Statement, format_count
from crscore.claims.structural.ranking import rank_topics
from crscore.claims.structural.references import claim_spans, write_references
from crscore.claims.structural.sentences import write_statements
from crscore.claims.structural.topics import changes_of, join_moved
from crscore.records import Claims, Diff
from crscore.syntax import grammars
from crscore.syntax.change import ParsedChange

VERSION = 8
"""Version of the claims; a change that may alter the claims of a diff increases it."""


class Structural(msgspec.Struct, frozen=True):
    """Claim generator that compares the outlines of the old and the new version."""

    identity: str
    """Name, version and a hash of the grammars' versions, which together determine the claims."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims and implications of each diff.

        Args:
            diffs: Any number of parsed changes, with or without the full content of the files.

        Returns:
            The claims of each diff, in the order of the diffs; the most informative claim comes
            first. A diff has no claims only if none of its changes is shown.

        Raises:
            DependencyError: The grammar of a changed file's language is not installed.
        """
        return tuple(
            Claims(references=write_references(rank_topics(find_topics(diff)))) for diff in diffs
        )


def create() -> ClaimGenerator:
    """Create the generator."""
    return Structural(identity=f"structural@{VERSION}+{grammars.fingerprint()}")


def find_topics(diff: Diff) -> list[tuple[UnitChange, list[Statement]]]:
    """Find the topics of a change, each with its sentences, in the order of the change."""
    # Sentences are written after all files are read, because only then is it known which units
    # moved to another file; a unit gets no sentences in its former file.
    topics: list[tuple[UnitChange, Callable[[], list[Statement]]]] = []
    for parsed in ParsedChange.of(diff).parsed_files:
        file, language = parsed.file, parsed.language
        if file.is_missing:
            continue
        whole_file = plain_files.find_file_topic(file)
        topics += ((change, partial(list, statements)) for change, statements in whole_file)
        if not file.hunks or file.is_binary or file.is_submodule:
            continue
        if machine_noun := plain_files.find_machine_noun(file):
            # A generated file gets only one sentence, so it is not parsed.
            finished = [plain_files.make_machine_topic(file, machine_noun, parsed.old, parsed.new)]
        elif language is None:
            finished = list(plain_files.find_section_topics(file, *parsed.outlined))
        else:
            old, new = parsed.outlined
            changes = changes_of(file, language, old, new)
            topics += ((change, partial(write_statements, change, old, new)) for change in changes)
            continue
        topics += ((change, partial(list, statements)) for change, statements in finished)
    distinct = {id(change) for change in join_moved([change for change, _ in topics])}
    return _join_similar([(change, write()) for change, write in topics if id(change) in distinct])


def _join_similar(
    topics: Sequence[tuple[UnitChange, list[Statement]]],
) -> list[tuple[UnitChange, list[Statement]]]:
    """Join units with the same sentences into one topic, whose first sentence counts the others."""
    groups: dict[tuple[str, ...], list[tuple[UnitChange, list[Statement]]]] = {}
    for change, statements in topics:
        full, short = label(change, full=True), label(change)
        texts = [text.replace(full, "").replace(short, "") for text, *_ in statements]
        # Units are joined only if their sentences describe the changed code. To keep other units
        # apart, a number that no other unit has is added to their sentences.
        if change.state not in {"changed", "comments"} or any("has changed (" in t for t in texts):
            texts.append(str(len(groups)))
        groups.setdefault((change.kind, *texts), []).append((change, statements))
    for (change, statements), *similar in groups.values():
        change.similar += [twin for twin, _ in similar]
        for index, statement in enumerate(statements):
            spans = (claim_spans(twin, written[index]) for twin, written in similar)
            statements[index] = statement._replace(similar=tuple(chain.from_iterable(spans)))
        if similar:
            suffix = f", and so in {format_count(len(similar), 'more place')}"
            statements[0] = statements[0]._replace(text=statements[0].text + suffix)
    return [topics[0] for topics in groups.values()]
