"""Types for a language model's readings of comments.

They are not in the module that asks the model, because few runs need that module.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from crscore.records import RemarkReading


class ReadRemark(NamedTuple):
    """Remark in a comment, with a model's reading of it."""

    indices: tuple[int, ...]
    """Indices of the remark's sentences and proposals of code. The sentences of the comment are
    numbered from 0, and the proposals of the comment follow them."""
    reading: RemarkReading


class ModelReadings(NamedTuple):
    """Readings of the comments of one review."""

    remarks: Mapping[int, Sequence[ReadRemark]] = MappingProxyType({})
    """Index of a comment -> its remarks. Comments that the model did not read are missing."""
    notes: tuple[str, ...] = ()
    """Notes for the report: the number and cost of the requests, and which comments the model did
    not read; one sentence each."""
    is_whole: bool = True
    """Whether the model answered every request. An answer that cannot be used counts, too."""
