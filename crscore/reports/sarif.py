"""Report for code scanning: SARIF 2.1.0 with the unaddressed points at their lines.

One run a result, because each change has its own scores and signature; a host distinguishes the
runs by `automationDetails.id`. The report keeps within the limits of GitHub's code scanning, which
accepts 20 runs of 25,000 results, shows 5,000 of them, rejects a file with a result that has no
place, and distinguishes alerts by `primaryLocationLineHash` alone.

- An unmentioned topic is one result at its lines, however many its pseudo-references.
- A point on removed lines is placed at the line that replaced them, since a host shows the new
version only; one of a deleted file or of the whole change is placed at a file without a line.
- A result that abstained has no results: a note in `invocations` has the reason.
- Text is cleaned as for people. Embedded links are escaped.

Tried with the validator of Sarif.Multitool 5.7, which also checks GitHub's rules.
"""

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from crscore.records import PseudoReference, ReferenceKind, Result, Severity
from crscore.reports import escape, sarif_locations, view
from crscore.reports.base import Report
from crscore.version import __version__

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MAX_RUNS: Final = 20
"""Maximum number of runs in a file."""
MAX_RESULTS: Final = 5_000
"""Maximum number of results in a run."""
MAX_BYTES: Final = 8_000_000
"""Maximum bytes of all results together, before compression; GitHub allows 10 MB after it."""
MAX_SENTENCES: Final = 1_000
"""Maximum number of review sentences, in all runs together."""
MAX_NOTES: Final = 100
"""Maximum number of notes in a run."""
MAX_CHARS: Final = 1_000
"""Maximum characters of a message."""
_SENTENCE_CHARS: Final = 300
_DECIMALS: Final = 6
_INDENT: Final = 1
_RESULT_INDENT: Final = 5

_LEVELS: Final = {
    ReferenceKind.ISSUE: "warning",
    ReferenceKind.CLAIM: "note",
    ReferenceKind.IMPLICATION: "note",
}
_ABOUT: Final = {
    ReferenceKind.CLAIM: "Something the change does",
    ReferenceKind.IMPLICATION: "Something that follows from the change",
    ReferenceKind.ISSUE: "A possible defect in the changed lines",
}
# `[text](target)` is a link in a message, but `\[text\](target)` is not.
_LINK: Final = re.compile(r"\[([^\[\]]*)\](?=\()")


@dataclass(frozen=True, slots=True)
class Sarif:
    """Report for code scanning."""

    category: str = "crscore"
    """Category of the alerts; a host replaces what an earlier upload of the same one had."""

    def render(self, results: Sequence[Result]) -> str:
        """Render one run for each result, at most `MAX_RUNS`."""
        included = results[:MAX_RUNS]
        is_several = len(included) > 1
        runs = [
            _run(
                result,
                f"{self.category}/change-{number}" * is_several or self.category,
                len(included),
            )
            for number, result in enumerate(included, start=1)
        ]
        if len(results) > len(included):
            omitted = view.count_noun(len(results) - len(included), "change")
            runs[-1]["invocations"][0]["toolExecutionNotifications"].append(
                _notice("warning", f"Left out {omitted}: a file holds {MAX_RUNS} runs.")
            )
        log = {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
        text = json.dumps(log, ensure_ascii=False, allow_nan=False, indent=_INDENT)
        return escape.json_text(text) + "\n"


def _run(result: Result, category: str, of: int) -> dict[str, Any]:
    """Make the run of one of so many results, within its share of the limits."""
    notices = [_notice("note", note) for note in view.notes(result)[:MAX_NOTES]]
    entries: list[dict[str, Any]] = []
    if result.scores.reason is None:
        points = _ordered(result)
        entries = list(_limit_size(_results(result, points), MAX_BYTES // of))
        if len(entries) < len(points):
            missing = view.count_noun(len(points) - len(entries), "point")
            text = f"Left out the {missing} of least weight to keep within the limits of a file."
            notices.insert(0, _notice("warning", text))
    else:
        notices.insert(0, _notice("warning", f"No score: {result.scores.reason}."))
    return {
        "tool": {
            "driver": {
                "name": "crscore",
                "semanticVersion": __version__,
                "rules": [_rule(kind) for kind in ReferenceKind],
            }
        },
        "automationDetails": {"id": f"{category}/{result.diff.sha256[:16]}"},
        "originalUriBaseIds": {
            sarif_locations.ROOT: {"description": {"text": "The root of the repository."}}
        },
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notices}],
        "results": entries,
        "properties": _properties(result, MAX_SENTENCES // of),
    }


def _notice(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _message(text)}}


def _message(text: str) -> str:
    """Clean a text and escape embedded links."""
    return _LINK.sub(r"\\[\1\\]", escape.one_line(text, MAX_CHARS))


def _rule(kind: ReferenceKind) -> dict[str, Any]:
    level = _LEVELS[kind]
    about = _ABOUT[kind]
    full = (
        f"{about}, worth a word in a review. The score of the review counts it as not addressed, "
        "because none of its sentences is close enough in meaning."
    )
    advice = "Read these lines and say what you think of them, or dismiss the alert."
    return {
        "id": _rule_id(kind),
        "name": f"Unaddressed{kind.value.capitalize()}",
        "shortDescription": {"text": f"{about} that no review comment is about."},
        "fullDescription": {"text": full},
        "help": {"text": f"{full} {advice}", "markdown": f"{full}\n\n{advice}"},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["code-review"],
            "problem.severity": "warning" if level == "warning" else "recommendation",
        },
    }


def _rule_id(kind: ReferenceKind) -> str:
    return f"unaddressed-{kind.value}"


def _ordered(result: Result) -> list[tuple[int, PseudoReference]]:
    """List the unaddressed points: issues first, then by weight."""
    return sorted(view.unaddressed(result), key=lambda point: _LEVELS[point[1].kind] != "warning")


def _results(
    result: Result, points: Sequence[tuple[int, PseudoReference]]
) -> Iterator[dict[str, Any]]:
    kinds = list(ReferenceKind)
    digest_counts: Counter[str] = Counter()
    severities = {
        (finding.path, finding.text): finding.severity for finding in result.analysis.findings
    }
    for index, reference in points[:MAX_RESULTS]:
        match = result.reference_matches[index]
        prefix = "" if reference.topic is None else "Nobody mentioned "
        text = _message(prefix + reference.text) or "A point without words."
        locations = sarif_locations.make_locations(result.diff, reference)
        digest = _digest(reference, text)
        digest_counts[digest] += 1
        yield {
            "ruleId": _rule_id(reference.kind),
            "ruleIndex": kinds.index(reference.kind),
            "level": _level(reference, severities),
            "message": {"text": text},
            "locations": locations[:1],
            **({"relatedLocations": locations[1:]} if locations[1:] else {}),
            "partialFingerprints": {"primaryLocationLineHash": f"{digest}:{digest_counts[digest]}"},
            "rank": round(100 * reference.weight, 1),
            "properties": {
                "source": escape.one_line(reference.source, _SENTENCE_CHARS),
                "similarity": _rounded(match.similarity),
                "degree": _rounded(match.degree),
            },
        }


def _level(reference: PseudoReference, severities: Mapping[tuple[str, str], Severity]) -> str:
    """Return the level of an issue from its tool's severity; a recorded one has no tool."""
    path = reference.spans[0].path if reference.spans else ""
    severity = severities.get((path, reference.text))
    is_issue = reference.kind is ReferenceKind.ISSUE
    return severity.value if is_issue and severity else _LEVELS[reference.kind]


def _digest(reference: PseudoReference, text: str) -> str:
    """Hash a pseudo-reference by its file and its text or topic, independent of its lines."""
    path = reference.spans[0].path if reference.spans else ""
    topic = reference.topic
    text = text if topic is None else f"{topic.noun} {topic.name}"
    key = "\0".join((reference.kind.value, path, text))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _limit_size(entries: Iterator[dict[str, Any]], most_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield results up to the size limit; the first ones matter most."""
    for item in entries:
        text = json.dumps(item, ensure_ascii=False, indent=_INDENT)
        most_bytes -= len(text.encode()) + text.count("\n") * _RESULT_INDENT
        if most_bytes < 0:
            return
        yield item


def _properties(result: Result, most_sentences: int) -> dict[str, Any]:
    """Return properties that code scanning does not show, for other readers."""
    readings = result.readings or (None,) * len(result.sentences)
    flags, matches = result.sentence_flags, result.sentence_matches
    pairs = zip(result.sentences, flags, matches, readings, strict=True)
    return {
        "signature": result.signature,
        "usefulness": None if result.usefulness is None else asdict(result.usefulness),
        "scores": asdict(result.scores),
        "sentences": [
            {
                "text": escape.one_line(sentence.text, _SENTENCE_CHARS),
                "similarity": _rounded(match.similarity),
                "degree": _rounded(match.degree),
                "matched": match.matched,
                "flag": None if flag is None else flag.value,
                "kind": None if reading is None else reading.kind.value,
                "substance": None if reading is None else _rounded(reading.substance),
            }
            for sentence, flag, match, reading in itertools.islice(pairs, most_sentences)
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


def create() -> Report:
    """Create the report; it takes no options."""
    return Sarif()
