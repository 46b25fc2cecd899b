"""Reads recorded claims, for a run without a model: `--claims replay:FILE`.

FILE has JSON Lines and may be compressed with gzip. A row has the `sha256` of a diff, which
`crscore score --format json` prints, and `claims`, a list of texts or of objects with the keys
`text`, `kind`, `spans`, `identifiers` and `weight`, of which only `text` is required.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from crscore import jsonl
from crscore.claims.base import ClaimGenerator
from crscore.errors import ConfigError
from crscore.records import Claims, Diff, LineSpan, PseudoReference, ReferenceKind

SOURCE = "replay"


class _Claim(msgspec.Struct, frozen=True):
    text: str
    kind: ReferenceKind = ReferenceKind.CLAIM
    spans: tuple[dict[str, Any], ...] = ()
    identifiers: tuple[str, ...] = ()
    weight: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0


class _Row(msgspec.Struct, frozen=True):
    sha256: str
    claims: tuple[str | _Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """Claim generator that replays a recording."""

    recorded: Mapping[str, Claims]
    """sha256 of a diff -> the claims about the diff."""
    identity: str
    """`replay@` and a short hash of the recording."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Return the recorded claims of each diff, or a note if there are none."""
        note = "The recording has no claims for the diff with sha256 {}."
        return tuple(
            self.recorded.get(diff.sha256)
            or Claims(references=(), notes=(note.format(diff.sha256),))
            for diff in diffs
        )


def create(*, argument: str = "") -> ClaimGenerator:
    """Load a recording.

    Args:
        argument: Path of the recording.

    Raises:
        ConfigError: No file was given.
        InputError: The recording or one of its rows cannot be read; the message names the row.
    """
    if not argument:
        raise ConfigError("claims", "settings", "replay needs a file: replay:FILE")
    path = Path(argument)
    content = jsonl.read_bytes(path, "a recording of claims")
    rows = jsonl.read_rows(content, _Row, path, "a recording of claims")
    # Claims are found by the hash of the diff's text, because they could be wrong about another
    # version of the change.
    recorded = {row.sha256: _read_row(row, position) for position, row in rows}
    digest = hashlib.sha256(content).hexdigest()
    return Replay(recorded=recorded, identity=f"{SOURCE}@{digest[:8]}")


def _read_row(row: _Row, position: str) -> Claims:
    """Read the claims of one row; errors name the row by `position`."""
    claims = [_Claim(claim) if isinstance(claim, str) else claim for claim in row.claims]
    references = tuple(
        PseudoReference(
            text=claim.text,
            kind=claim.kind,
            source=SOURCE,
            # Spans are in the new version unless they name a side.
            spans=tuple(
                jsonl.convert({"side": "new", **span}, LineSpan, position) for span in claim.spans
            ),
            identifiers=claim.identifiers,
            weight=claim.weight,
        )
        for claim in claims
        if claim.text.strip()
    )
    return Claims(references=references)
