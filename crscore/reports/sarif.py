"""Report for code scanning: SARIF 2.1.0 with remarks and unaddressed points at their lines.

One run a result, because each change has its own scores and signature; a host distinguishes the
runs by `automationDetails.id`. The report keeps within the limits of GitHub's code scanning, which
accepts 20 runs of 25,000 results, shows 5,000 of them, rejects a file with a result that has no
place, and distinguishes alerts by `primaryLocationLineHash` alone.

- A remark that gives the author something to answer is one result, as severe as it is important.
- An unmentioned topic is one result at its lines, however many its pseudo-references.
- A point on removed lines is placed at the line that replaced them, since a host shows the new
version only; one of a deleted file or of the whole change is placed at a file without a line.
- A result that abstained has no results: a note in `invocations` has the reason.
- Text is cleaned as for people. Embedded links are escaped.

Tried with the validator of Sarif.Multitool 5.7, which also checks GitHub's rules.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import Any, Final

from crscore.records import Importance, LineSpan, PseudoReference, ReferenceKind, Result, Severity
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
_REMARK: Final = "remark"
_REMARK_LEVELS: Final = {
    Importance.CRITICAL: "error",
    Importance.MAJOR: "warning",
    Importance.MINOR: "note",
    Importance.NIT: "note",
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
        results = list(_number_digests(chain(_remarks(result), _points(result))))
        entries = list(_limit_size(results[:MAX_RESULTS], MAX_BYTES // of))
        if len(entries) < len(results):
            missing = view.count_noun(len(results) - len(entries), "result")
            text = f"Left out the {missing} of least weight to keep within the limits of a file."
            notices.insert(0, _notice("warning", text))
    else:
        notices.insert(0, _notice("warning", f"No score: {result.scores.reason}."))
    return {
        "tool": {
            "driver": {
                "name": "crscore",
                "semanticVersion": __version__,
                "rules": [*map(_rule, ReferenceKind), _remark_rule()],
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
    about = _ABOUT[kind]
    full = (
        f"{about}, worth a word in a review. The score of the review counts it as not addressed, "
        "because none of its sentences is close enough in meaning."
    )
    advice = "Read these lines and say what you think of them, or dismiss the alert."
    name, short = (
        f"Unaddressed{kind.value.capitalize()}",
        f"{about} that no review comment is about.",
    )
    return _make_rule(_rule_id(kind), name, short, full, advice, _LEVELS[kind])


def _remark_rule() -> dict[str, Any]:
    full = (
        "A review comment gives the author of the change something to answer here. The level is "
        "how bad it would be to merge without heeding it, if it is right."
    )
    advice = "Heed it, answer it, or dismiss the alert."
    return _make_rule(_REMARK, "Remark", "A remark of a review.", full, advice, "note")


def _make_rule(
    rule: str, name: str, short: str, full: str, advice: str, level: str
) -> dict[str, Any]:
    return {
        "id": rule,
        "name": name,
        "shortDescription": {"text": short},
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


def _remarks(result: Result) -> Iterator[dict[str, Any]]:
    for _, _, remark, points in view.rank_remarks(result):
        if not remark.is_valuable:
            continue
        comment = result.comments[remark.comment].comment
        path, end = comment.path, comment.line or 0
        start = comment.start_line or end
        spans = [LineSpan(path=path, side=comment.side, start=start, end=end)] if path else []
        text = _message(view.remark_text(result, remark)) or "A remark without words."
        yield _entry(
            _REMARK,
            _REMARK_LEVELS[remark.level],
            text,
            sarif_locations.make_locations(result.diff, spans),
            key=(path or "", text),
            rank=remark.worth,
            properties={
                "author": escape.one_line(view.author(comment.author), _SENTENCE_CHARS),
                "stance": remark.stance.value,
                "importance": remark.level.value,
                "points": points,
            },
        )


def _points(result: Result) -> Iterator[dict[str, Any]]:
    severities = {
        (finding.path, finding.text): finding.severity for finding in result.analysis.findings
    }
    for index, reference in _ordered(result):
        match, topic = result.reference_matches[index], reference.topic
        text = _message("Nobody mentioned " * (topic is not None) + reference.text)
        text = text or "A point without words."
        path = reference.spans[0].path if reference.spans else ""
        yield _entry(
            _rule_id(reference.kind),
            _level(reference, severities),
            text,
            sarif_locations.make_locations(result.diff, reference.spans),
            key=(path, text if topic is None else f"{topic.noun} {topic.name}"),
            rank=reference.weight,
            properties={
                "source": escape.one_line(reference.source, _SENTENCE_CHARS),
                "similarity": _rounded(match.similarity),
                "degree": _rounded(match.degree),
            },
        )


def _level(reference: PseudoReference, severities: Mapping[tuple[str, str], Severity]) -> str:
    """Return the level of an issue from its tool's severity; a recorded one has no tool."""
    path = reference.spans[0].path if reference.spans else ""
    severity = severities.get((path, reference.text))
    is_issue = reference.kind is ReferenceKind.ISSUE
    return severity.value if is_issue and severity else _LEVELS[reference.kind]


def _entry(
    rule: str,
    level: str,
    text: str,
    locations: list[dict[str, Any]],
    *,
    key: tuple[str, str],
    rank: float,
    properties: dict[str, Any],
) -> dict[str, Any]:
    """Make a result; `key` distinguishes it from others, whatever its lines."""
    rules = [*map(_rule_id, ReferenceKind), _REMARK]
    kind = rule.removeprefix("unaddressed-")
    digest = hashlib.sha256("\0".join((kind, *key)).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": level,
        "message": {"text": text},
        "locations": locations[:1],
        **({"relatedLocations": locations[1:]} if locations[1:] else {}),
        "partialFingerprints": {"primaryLocationLineHash": digest[:16]},
        "rank": round(100 * rank, 1),
        "properties": properties,
    }


def _number_digests(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Number the results that have the same digest."""
    digest_counts: Counter[str] = Counter()
    for entry in entries:
        digest = entry["partialFingerprints"]["primaryLocationLineHash"]
        digest_counts[digest] += 1
        hashes = {"primaryLocationLineHash": f"{digest}:{digest_counts[digest]}"}
        yield {**entry, "partialFingerprints": hashes}


def _limit_size(entries: Iterable[dict[str, Any]], most_bytes: int) -> Iterator[dict[str, Any]]:
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
                "stance": None if reading is None else reading.stance.value,
                "gives": None if reading is None else _rounded(reading.gives),
            }
            for sentence, flag, match, reading in islice(pairs, most_sentences)
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


def create() -> Report:
    """Create the report; it takes no options."""
    return Sarif()
