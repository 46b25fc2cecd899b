"""Recorded claims, for running the pipeline offline: `--claims replay:PATH`.

PATH is a folder with one file per diff, `<sha256 of the diff>.json` or `.txt`, or a JSON Lines file
whose rows have a `sha256`. A `.txt` file is a model's unparsed answer in two sections. A JSON
object has either `claims`, a list of texts or of objects {text, kind, spans, identifiers, weight}
in which only `text` is required, or `raw`, an unparsed answer. `crscore score --format json` prints
the sha256 of a diff.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from crscore.claims.base import ClaimGenerator
from crscore.claims.llm.answer import read_answer
from crscore.errors import ConfigError, GenerationError
from crscore.records import Claims, Diff, PseudoReference, ReferenceKind

SOURCE = "replay"
_SUFFIXES = (".json", ".jsonl", ".txt")
_INVALID = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
    msgspec.ValidationError,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """Claim generator that replays a recording."""

    recorded: Mapping[str, Claims]
    """Diff sha256 -> claims."""
    identity: str
    """`replay@` and a short hash of the recording."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Look up each diff; a diff that is not recorded gets a note instead of claims."""
        note = "The recording has no claims for the diff with sha256 {}."
        return tuple(
            self.recorded.get(diff.sha256)
            or Claims(references=(), notes=(note.format(diff.sha256),))
            for diff in diffs
        )


class ReplayOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Location of the recording."""

    argument: str = ""
    """The folder or file."""


def create(options: ReplayOptions) -> ClaimGenerator:
    """Load a recording.

    Raises:
        ConfigError: No path was given.
        GenerationError: The recording cannot be read; the message says which part.
    """
    if not options.argument:
        raise ConfigError("claims", "settings", "replay needs a folder or file: replay:PATH")
    path = Path(options.argument)
    digest = hashlib.sha256()
    recorded: dict[str, Claims] = {}
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        files = [file for file in files if file.suffix in _SUFFIXES]
        for file in files:
            content = file.read_bytes()
            # The name says which diff a file belongs to, so it is part of the recording.
            digest.update(file.name.encode() + b"\0" + content + b"\0")
            recorded |= _read(file, content.decode("utf-8-sig"), one_a_file=path.is_dir())
    except (OSError, UnicodeDecodeError) as exc:
        raise GenerationError(f"the recording {path} cannot be read: {exc}") from exc
    if not files:
        raise GenerationError(f"{path} has no recording: no {', '.join(_SUFFIXES)} file")
    return Replay(recorded=recorded, identity=f"{SOURCE}@{digest.hexdigest()[:8]}")


def _read(file: Path, text: str, *, one_a_file: bool) -> dict[str, Claims]:
    if file.suffix == ".txt":
        return {file.stem: _from_raw(text)}
    is_single = one_a_file and file.suffix == ".json"
    # Not `splitlines`: a JSON string may hold other line separators.
    rows = [text] if is_single else text.split("\n")
    claims_by_sha: dict[str, Claims] = {}
    for line_number, row in enumerate(rows, start=1):
        if row.strip():
            try:
                entry = json.loads(row)
                key = entry.get("sha256", file.stem) if is_single else entry["sha256"]
                claims_by_sha[str(key)] = _claims(entry)
            except _INVALID as exc:
                location = f"{file}, entry {line_number}"
                raise GenerationError(f"{location}: not a recording of claims: {exc!r}") from exc
    return claims_by_sha


def _claims(entry: Mapping[str, Any]) -> Claims:
    """Read one recorded entry, which has `claims` or `raw`."""
    if "claims" not in entry:
        return _from_raw(str(entry["raw"]))
    if not isinstance(entry["claims"], list):
        raise TypeError("claims must be a list")
    references = [_reference(claim) for claim in entry["claims"]]
    return Claims(references=tuple(ref for ref in references if ref.text.strip()))


def _from_raw(text: str) -> Claims:
    parsed = read_answer(text)
    kinds = ((ReferenceKind.CLAIM, parsed.claims), (ReferenceKind.IMPLICATION, parsed.implications))
    references = tuple(
        PseudoReference(text=sentence, kind=kind, source=SOURCE)
        for kind, sentences in kinds
        for sentence in sentences
    )
    notes = ("The recorded answer broke off; its last sentence was left out.",) * parsed.cut
    return Claims(references=references, raw=text, notes=notes)


def _reference(claim: Any) -> PseudoReference:
    if isinstance(claim, str):
        claim = {"text": claim}
    spans = [{"side": "new", **span} for span in claim.get("spans", ())]
    values = {key: claim[key] for key in ("text", "kind", "identifiers", "weight") if key in claim}
    values = {"kind": "claim", **values, "spans": spans, "source": SOURCE}
    reference = msgspec.convert(values, PseudoReference, strict=False)
    if not 0 < reference.weight <= 1:
        raise ValueError(f"a weight must be above 0 and at most 1, not {reference.weight}")
    return reference
