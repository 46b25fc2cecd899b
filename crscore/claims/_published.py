"""Parser for a language model's answer in the published two-section format."""

import re
from typing import NamedTuple

from crscore.records import PseudoReference, ReferenceKind

# "### Summary of Changes:", "**Implications:**", "summary of changes", "Implications: the ..."
_HEADER = re.compile(
    r"^[#*\s]{0,12}(summary of (?:the )?changes?|(?:possible |potential )?implications?)"
    r"\s{0,3}(?::|\*\*|$)[:*\s]{0,6}",
    re.IGNORECASE,
)
# "1. ", "12) ", "- ", "* ", "• ", any of them indented.
_MARKER = re.compile(r"^\s{0,20}(?:\d{1,3}[.)]|[-*•])(?:\s{1,8}|$)")
_SENTENCE_END = (".", "!", "?", "`", '"', "'", ")", "]", "”")


class Parsed(NamedTuple):
    """Claims and implications parsed from an answer."""

    references: tuple[PseudoReference, ...]
    """Claims, then implications, in the answer's order."""
    cut_off: bool
    """True when the last line was incomplete and was omitted."""


def parse_published(raw: str, *, source: str) -> Parsed:
    """Read a model's answer.

    Each non-blank line is one claim, or one implication after that section's header. Headers and
    list markers are removed. A last line without sentence-final punctuation was cut by the model's
    token limit and is omitted.

    Args:
        raw: Answer of the model.
        source: Name of the generator, kept in each reference.

    Returns:
        The parsed references; none when the answer has no line of text.

    Source:
        Naik et al., NAACL 2025; `split_claims_and_impl` of the reference code. It stops at the
        first unfinished line of the second section and keeps one in the first; here only the
        answer's last line can be unfinished, in either section.
    """
    kind = ReferenceKind.CLAIM
    references: list[PseudoReference] = []
    for line in raw.splitlines():
        header = _HEADER.match(line)
        if header is not None:
            implies = "implication" in header[1].lower()
            kind = ReferenceKind.IMPLICATION if implies else ReferenceKind.CLAIM
            line = line[header.end() :]  # noqa: PLW2901  (what follows a header is a claim)
        text = _MARKER.sub("", line).strip()
        if any(char.isalnum() for char in text):
            references.append(PseudoReference(text=text, kind=kind, source=source))
    cut_off = bool(references) and not references[-1].text.rstrip("*_ ").endswith(_SENTENCE_END)
    return Parsed(tuple(references[:-1] if cut_off else references), cut_off)
