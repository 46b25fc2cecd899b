"""Readings of a language model, apart from the code that makes them, which few runs need."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from crscore.records import RemarkReading


class ReadRemark(NamedTuple):
    """Remark of a comment, as a model reads it."""

    columns: tuple[int, ...]
    """Its sentences: indices into the sentences of the comment, followed by its proposals."""
    reading: RemarkReading


class ModelReadings(NamedTuple):
    """Readings of the comments of one review."""

    remarks: Mapping[int, Sequence[ReadRemark]] = MappingProxyType({})
    """Index of a comment -> its remarks; without the comments that the model did not read."""
    notes: tuple[str, ...] = ()
    """Sentences about the requests, their cost, and comments that the model did not read."""
    is_whole: bool = True
    """Whether the model answered all requests, even if not all answers can be used."""
