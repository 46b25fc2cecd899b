"""Wording of numbers, counts and locations, and order of items, which several reports share."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from crscore import records
from crscore.records import Comment, PseudoReference, Result, ReviewResult, Side
from crscore.reports import escape
from crscore.reports.blocks import Measure
from crscore.review.read import NOT_READ
from crscore.scoring.assembly import ChangePoint, list_points
from crscore.text import count_noun as count_noun  # noqa: PLC0414  (other packages import it from here)

# Not 0, which would look like a bad score (docs/design/006-reports.md).
UNDEFINED = "–"
"""Placeholder for an undefined score."""
USEFUL = ("Useful", "About", "Importance")
"""Columns of a table of reviewers or comments, if their usefulness is known."""
PUBLISHED = ("Relevance", "Conciseness", "Comprehensiveness")
"""Columns of a table of reviewers or comments, if their usefulness is unknown."""
# Not a hyphen, because a line may break there.
MINUS = "\N{MINUS SIGN}"
FLAG = "\N{BLACK FLAG}"
"""Mark before the flag of a sentence."""
_SCOPES = {
    records.ScopeKind.FILE: "file",
    records.ScopeKind.DIFF: "whole change",
    records.ScopeKind.ORIGINAL: "older version",
}
_NAME_CHARS = 120
MAX_SMALL = 4
"""Maximum number of small changes that are named."""
# From the fourth remark on, a remark counts 0.216 or less (docs/design/010-usefulness.md).
_NAMED_REMARKS = 3
"""Maximum number of remarks that are named in the sum of a standing; the others are counted."""
_EFFECTS = {
    records.Effect.NOTHING: "changes nothing",
    records.Effect.WHITE_SPACE: "changes white space only",
    records.Effect.COMMENTS: "changes comments only",
    records.Effect.NAMES: "changes names only",
    records.Effect.BEHAVIOUR: "may change behaviour",
}


def hundred(value: float | None) -> str:
    """Format a score or degree in [0, 1] on the scale that people see, 0 to 100; None as a dash.

    Example:
        >>> hundred(0.666), hundred(None)
        ('67', '–')
    """
    # This scale is only for people: JSON, SARIF and the action's outputs keep 0 to 1
    # (docs/design/006-reports.md).
    return UNDEFINED if value is None else f"{100 * value:.0f}"


def number_heading(index: int, count: int) -> str:
    """Return the heading of one of several results; "" if there is only one."""
    return f"Change {index + 1} of {count}" if count > 1 else ""


def percent(value: float | None) -> str:
    """Format a share in [0, 1] as a percentage; None as a dash."""
    return UNDEFINED if value is None else f"{hundred(value)} %"


def has_degrees(result: Result) -> bool:
    """Return whether the scores are means of degrees from 0 to 1.

    With a threshold, each degree is 0 or 1, and the scores are shares.
    """
    return result.threshold is None


def strength(result: Result, match: records.Match) -> str:
    """Format how well a pair matches: its degree (0 to 100), its cosine similarity, or "named"."""
    value = match.degree if has_degrees(result) else match.similarity
    # The sentence only names the topic, which is a wrong match for 1 % of the topics
    # (docs/design/006-reports.md).
    if match.matched and (value or 0.0) < result.decision:
        return "named"
    return hundred(value) if has_degrees(result) or value is None else f"{value:.2f}"


def verdict(value: records.Usefulness) -> str:
    """Describe how useful a text is compared with real reviews; not escaped."""
    if value.word == records.OFF_TOPIC:
        return "Off topic: nothing in it is about this change."
    empty_note = "" if value.importance else " It gives the author nothing to answer."
    return f"{value.word.capitalize()}: {value.interval}, {value.comparison}.{empty_note}"


def standing(value: Any) -> float | None:
    """Return the standing in [0, 1]; None without usefulness or for a text that is off topic.

    A text that is off topic is not compared with reviews of the change, however good it is.

    Args:
        value: Usefulness in a result or in an overview.
    """
    return None if value is None or value.word == records.OFF_TOPIC else value.standing / 100


def rank_remarks(result: Result) -> list[tuple[records.Remark, int]]:
    """List the remarks: refuted ones first, then by value, with those that need no answer last.

    Returns:
        Each remark with the points that it adds to the standing. These points, minus the deduction
        for remarks with nothing to answer, add up to the standing. Empty without usefulness.
    """
    value = result.usefulness
    if value is None:
        return []
    points = _divide_standing(value)
    pairs = [
        (result.remarks[share.remark], amount)
        # The last amount is the deduction, which belongs to no remark.
        for share, amount in zip(value.shares, points, strict=False)
    ]
    pairs.sort(key=lambda pair: (not is_refuted(pair[0]), not pair[0].is_valuable))
    return pairs


def is_refuted(remark: Any) -> bool:
    """Return whether the code refutes a remark.

    Args:
        remark: A remark of a result or of an overview.
    """
    return remark.receipt is not None and remark.receipt.verdict is records.Verdict.REFUTED


def remarks_title(remarks: Iterable[Any]) -> str:
    """Return the title of a list of remarks of a result or of an overview."""
    if any(map(is_refuted, remarks)):
        return "Remarks, refuted ones first, then the most valuable"
    return "Remarks, the most valuable first"


def _divide_standing(value: records.Usefulness) -> list[int]:
    """Return the points of each remark, and the negative deduction last.

    They are integers that add up to the standing.
    """
    scale = value.standing / value.value if value.value else 0.0
    parts = [scale * part for part in (*(share.value for share in value.shares), -value.taken_off)]
    # https://en.wikipedia.org/wiki/Largest_remainder_method
    rounded = [math.floor(part) for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda at: rounded[at] - parts[at])
    for at in by_remainder[: round(math.fsum(parts)) - sum(rounded)]:
        rounded[at] += 1
    return rounded


def sum_of_value(result: Result) -> str:
    """Describe how the remarks' points add up to the standing.

    Returns:
        One line; "" without usefulness or for a text that is off topic.

    Example:
        `62 points = 41 for remark 1 (major) + 21 for 2 others`
    """
    value = result.usefulness
    if value is None or value.word == records.OFF_TOPIC:
        return ""
    ranked = rank_remarks(result)
    valuable = [(number, *pair) for number, pair in enumerate(ranked, 1) if pair[0].is_valuable]
    listed, remaining = valuable[:_NAMED_REMARKS], valuable[_NAMED_REMARKS:]
    terms = {f"remark {number} ({remark.level.value})": points for number, remark, points in listed}
    terms[count_noun(len(remaining), "other")] = sum(points for *_, points in remaining)
    total = value.standing
    kind = "refuted or with" if any(is_refuted(remark) for remark, _ in ranked) else "with"
    other_remarks = count_noun(len(ranked) - len(valuable), "remark")
    terms[f"{other_remarks} {kind} little to answer"] = total - sum(terms.values())
    text = " ".join(
        f"{'+' if points > 0 else MINUS} {abs(points)} for {name}"
        for name, points in terms.items()
        if points
    )
    return f"{count_noun(total, 'point')}{' = ' * bool(text)}{text.removeprefix('+ ')}"


def count_verdicts(result: Result) -> str:
    """Describe how many remarks the code confirms or refutes; "" if there are none.

    Example:
        `The code decides 3 of 7 remarks: 2 confirmed, 1 refuted.`
    """
    counts = Counter(item.receipt.verdict for item in result.remarks if item.receipt)
    listed = ", ".join(f"{counts[kind]:,} {kind.value}" for kind in records.Verdict if counts[kind])
    total = count_noun(len(result.remarks), "remark")
    return f"The code decides {counts.total():,} of {total}: {listed}." if counts else ""


def describe_remark(remark: records.Remark, points: int) -> str:
    """Describe a remark's stance, its importance and the points that it adds to the standing.

    If a language model's reading is doubted or limited, the description says so.
    """
    reading, doubt = remark.reading, ""
    if reading and reading.is_doubt:
        doubt = f" · doubted by a language model: {reading.why}".removesuffix(": ")
    elif reading and remark.is_limited:
        counts = f"{reading.worth:g} of 5 by a language model, counts as {remark.worth:.1f}"
        doubt = f" · {counts}, as the network's reading allows no more"
    if is_refuted(remark):
        return f"refuted · {remark.stance.value} · adds nothing"
    if remark.is_valuable:
        adds = count_noun(points, "point") if points else "less than a point"
        labelled = f" (labelled {remark.labelled})" if remark.labelled else ""
        return f"{remark.level.value}{labelled} · {remark.stance.value} · adds {adds}{doubt}"
    # Its points are counted together with the deduction for such remarks.
    lack = "little to answer" if points else "adds nothing"
    lack = lack if remark.about >= records.ON_TOPIC else "not about this change"
    return f"{remark.stance.value} · {lack}{doubt}"


def remark_text(result: Result, remark: records.Remark) -> str:
    """Return the sentences of a remark as one text; not escaped."""
    return " ".join(result.sentences[sentence].text for sentence in remark.sentences)


def remark_spans(result: Result, remark: records.Remark) -> tuple[records.LineSpan, ...]:
    """Return the lines of a remark's comment or, if the comment has no path, of its subject."""
    comment = result.comments[remark.comment].comment
    if comment.path is None:
        subject_index = find_subject_reading(result, remark).reference
        return () if subject_index is None else result.references[subject_index].spans
    end = comment.line or 0
    start = comment.start_line or end
    return (records.LineSpan(path=comment.path, side=comment.side, start=start, end=end),)


def importance(result: Result) -> str:
    """Describe the level of a review's most important remark."""
    levels = {item.importance: item.level.value for item in result.remarks if item.is_valuable}
    if not levels:
        return "no remark gives the author something to answer"
    return f"{levels[max(levels)]}: its most important remark"


def format_published(scores: Any) -> str:
    """Format the published scores, from 0 to 100, or why there are none; not escaped.

    Args:
        scores: Scores of a result or of an overview.
    """
    if scores.reason is not None:
        return f"none, as {scores.reason.rstrip('.')}"
    names = ("conciseness", "comprehensiveness", "relevance")
    return f"{', '.join(f'{name} {hundred(getattr(scores, name))}' for name in names)} of 100"


def baselines(result: Result) -> str:
    """Describe the baselines: the number of words, and the share of the diff's tokens repeated."""
    words, repeated = result.baselines.words, result.baselines.repeated_tokens
    tokens = "" if repeated is None else f", {percent(repeated)} of the diff's tokens repeated"
    return f"{count_noun(words, 'word')}{tokens}"


def columns(together: Any) -> tuple[str, str, str]:
    """Name the three columns of a table of reviewers or comments.

    Args:
        together: A result, or the scores of all reviewers together in an overview.
    """
    return PUBLISHED if together.usefulness is None else USEFUL


def measures(together: Any, item: Any) -> tuple[float | None, float | None, float | None]:
    """Return the values in the three columns that `columns` names, each in [0, 1].

    Args:
        together: As for `columns`.
        item: A comment or review of the result, or a row of the overview.

    Returns:
        Three values; None for each that is undefined.
    """
    useful, scores = item.usefulness, getattr(item, "scores", item)
    if together.usefulness is None:
        return scores.relevance, scores.conciseness, scores.comprehensiveness
    return standing(useful), getattr(useful, "about", None), getattr(useful, "importance", None)


def score_cells(together: Any, item: Any) -> tuple[str, str, str]:
    """Format the values of `measures`; a standing is followed by its interval and its word."""
    first, second, third = map(hundred, measures(together, item))
    value: Any = None if together.usefulness is None else item.usefulness
    # "42–96" instead of "42 to 96", so that a narrow terminal has space for names.
    ends = "" if standing(value) is None else f" ({value.low}\N{EN DASH}{value.high})"
    return f"{first}{ends} {getattr(value, 'word', '')}".strip(), second, third


def reading(result: Result, sentence: int) -> records.Reading | None:
    """Return the network's reading of a sentence; None if the network did not read it."""
    is_unread = not result.readings or result.sentences[sentence].unread
    return None if is_unread else result.readings[sentence]


def find_subject_reading(result: Result, remark: records.Remark) -> records.Reading:
    """Return the reading that determines a remark's subject.

    It is that of the first sentence about a claim or, if there is none, of the sentence that is
    most likely about the change.
    """
    readings = [result.readings[sentence] for sentence in remark.sentences]
    of_claims = (reading for reading in readings if reading.reference is not None)
    return next(of_claims, max(readings, key=lambda reading: reading.about))


def subject(result: Result, reading: records.Reading) -> str:
    """Describe the subject of a sentence: a topic, a claim or a kind of subject; not escaped.

    Returns:
        The subject; "" where the stance of the sentence implies it.
    """
    if reading.reference is None:
        is_redundant = (
            reading.stance is records.Stance.OTHER and reading.subject is records.Subject.ELSEWHERE
        )
        return "" if is_redundant else reading.subject.value
    item = result.references[reading.reference]
    return item.text if item.topic is None else topic_name(item.topic)


def flag(result: Result, sentence: int) -> str | None:
    """Describe the flag of a sentence, with a mark in front; None if it has no flag."""
    value = result.sentence_flags[sentence]
    return None if value is None else f"{FLAG} {value.value}"


def describe_flags(result: Result) -> tuple[str, ...]:
    """Return a line that counts each flag, the most frequent first; empty if there are no flags."""
    flag_counts = Counter(value.value for value in result.sentence_flags if value is not None)
    kinds = ", ".join(f"{name} ({times:,})" for name, times in flag_counts.most_common())
    total = count_noun(flag_counts.total(), "sentence")
    return (f"{FLAG} {total} flagged: {kinds}.",) if kinds else ()


def suggestion(item: records.Suggestion) -> str:
    """Describe whether a suggestion block applies and parses, and its effect.

    Example:
        >>> from crscore.records import Effect, Suggestion
        >>> suggestion(Suggestion(code="x", applies=True, parses=True, effect=Effect.NAMES))
        'applies, parses, changes names only'
    """
    parts = [
        {True: "applies", False: "does not apply", None: ""}[item.applies],
        {True: "parses", False: "breaks the syntax", None: ""}[item.parses],
        "" if item.effect is None or item.parses is False else _EFFECTS[item.effect],
    ]
    description = ", ".join(filter(None, parts))
    reason = item.reason or ""
    return f"{description} ({reason})" if description and reason else description or reason


def published_measures(result: Result) -> tuple[Measure, Measure, Measure]:
    """Return the three published scores, each with the data that it is based on."""
    scores = result.scores
    of_sentences = f"mean of {count_noun(scores.sentences, 'sentence')}"
    of_references = f"mean of {count_noun(scores.references, 'pseudo-reference')}"
    addressed = [point.addressed for point in points(result)]
    of_points = f"{sum(addressed):,} of {count_noun(len(addressed), 'point')} addressed"
    return (
        Measure("Relevance", scores.relevance, "harmonic mean of the two below"),
        Measure(
            "Conciseness",
            scores.conciseness,
            f"{of_sentences}, {count_on_topic(result):,} on topic",
        ),
        Measure("Comprehensiveness", scores.comprehensiveness, f"{of_references}; {of_points}"),
    )


def points(result: Result) -> tuple[ChangePoint, ...]:
    """List the points that a review of the change should address, the most important first."""
    return list_points(result.references, result.reference_matches)


def count_on_topic(result: Result) -> int:
    """Count the sentences that address a point."""
    return sum(match.matched for match in result.sentence_matches)


def ratio_of_review(result: Result, review: ReviewResult) -> str:
    """Describe how many of a reviewer's sentences are on topic."""
    sentences = [at for index in review.comments for at in result.comments[index].sentences]
    matched = sum(result.sentence_matches[sentence].matched for sentence in sentences)
    return f"{0 if review.scores.reason else matched:,} of {len(sentences):,}"


def legend(result: Result, mark: str) -> str:
    """Explain the numbers and marks next to sentences and pseudo-references.

    Args:
        result: Result whose matcher determines the meaning of the numbers.
        mark: The report's mark for a match.
    """
    number, minimum = "The number, from 0 to 100,", hundred(result.decision)
    if result.threshold is not None:
        number, minimum = "The number, a cosine similarity,", f"{result.threshold:.4g}"
    return (
        f"{number} says how well a sentence addresses a pseudo-reference; each is shown with its "
        f'best match. {mark} marks {minimum} or more; "{mark} named" means that the sentence is '
        "about the pseudo-reference or names its code. Conciseness is the mean of the sentences' "
        "numbers, comprehensiveness the mean of the counted pseudo-references' numbers. A flagged "
        "sentence counts less, usually 0."
    )


def change_size(diff: records.Diff | records.ChangedFile) -> tuple[int, int]:
    """Return the numbers of added and of removed lines of a change, or of one of its files."""
    return len(diff.lines(records.LineKind.ADDED)), len(diff.lines(records.LineKind.REMOVED))


def describe_size(result: Result) -> str:
    """Describe the size of the change: files, lines added, lines removed."""
    added, removed = change_size(result.diff)
    files = count_noun(len(result.diff.files), "file")
    return f"{files} changed, +{added:,} {MINUS}{removed:,}"


def format_place(path: str, start: int | None, end: int | None, side: Side) -> str:
    """Format a path, the lines in it if any, and the side when it is the old one; not escaped.

    Example:
        >>> format_place("a.py", 3, 9, Side.OLD), format_place("a.py", None, 3, Side.NEW)
        ('a.py:3-9 (before)', 'a.py:3')
    """
    before = " (before)" if side is Side.OLD else ""
    if not end:
        return f"{path}{before}"
    return f"{path}:{end if start in (None, end) else f'{start}-{end}'}{before}"


def place(span: records.LineSpan) -> str:
    """Describe a span; not escaped."""
    unnamed = "line" if span.start else "the file"
    return format_place(span.path or unnamed, span.start, span.start and span.end, span.side)


def places(reference: PseudoReference, max_places: int = 1, *, finder: bool = False) -> str:
    """Describe the locations of a pseudo-reference.

    Without lines, the location is the whole change.

    Args:
        reference: Pseudo-reference whose spans are named.
        max_places: Maximum number of spans named individually; the others are counted.
        finder: Whether to name the tool that found an issue.
    """
    spans = reference.spans
    is_issue = reference.kind is records.ReferenceKind.ISSUE
    source = f" ({reference.source})" * (finder and is_issue)
    if not spans:
        return f"whole change{source}"
    # Spans of removed lines are named only if there are no others, because a reader looks at the
    # new version.
    spans = tuple(span for span in spans if span.side is Side.NEW) or spans
    return f"{list_spans(spans, max_places)}{source}"


def list_spans(spans: Sequence[records.LineSpan], max_places: int) -> str:
    """Name the first `max_places` spans and count the others; not escaped."""
    listed = ", ".join(place(span) for span in spans[:max_places])
    hidden = len(spans) - max_places
    return f"{listed} and {hidden} more" if hidden > 0 else listed


def list_unaddressed(result: Result) -> tuple[tuple[int, PseudoReference], ...]:
    """List the points that no sentence addresses: those with an implication first, then by weight.

    Returns:
        For each point, the index of a pseudo-reference and the pseudo-reference. Of a topic, this
        is its implication or, without one, its most important pseudo-reference; its text then
        names the topic first, and its location is that of the topic.
    """

    def implies(index: int) -> bool:
        return result.references[index].kind is records.ReferenceKind.IMPLICATION

    missed = [
        next(filter(implies, point.references), point.references[0])
        for point in points(result)
        if not point.addressed
    ]
    # An implication is a question that a reviewer should ask
    # (docs/design/003-structural-claims.md).
    missed.sort(key=lambda index: not implies(index))
    items = []
    for index in missed:
        item = result.references[index]
        if item.topic is not None:
            lines = count_noun(item.topic.lines, "line")
            statement = shorten_reference(item).replace(f" ({lines})", "", 1)
            more = "." if _SAYS_NO_MORE.search(item.text) else f": {statement}"
            # The kind is always the same, because a host would open a new alert for another kind
            # after a push.
            kind, spans = records.ReferenceKind.CLAIM, (item.topic.place,)
            item = replace(item, text=f"{label(item.topic)}{more}", kind=kind, spans=spans)
        items.append((index, item))
    return tuple(items)


def small_changes(result: Result) -> str:
    """Return a line that names the topics that are not counted; "" if there are none."""
    if not result.small:
        return ""
    names = ", ".join(topic_name(topic) for topic in result.small[:MAX_SMALL])
    left = len(result.small) - MAX_SMALL
    rest = f" and {left:,} more" * (left > 0)
    return f"And {count_noun(len(result.small), 'small change')}, not counted: {names}{rest}."


# "The function `a` (4 lines) has been added.", "`a` has changed (2 lines)."
_SAYS_NO_MORE = re.compile(r"(?:\d lines?\) has been added|has changed \([^()]*\))\.$")
"""Sentences that only repeat a topic's state and lines."""


def topic_name(topic: records.Topic) -> str:
    """Return a topic's name between backticks; not escaped.

    A long name is truncated, and backticks in it are replaced. A topic without a name is described
    by its noun, as in "this method".
    """
    name = escape.one_line(topic.name, _NAME_CHARS).replace("`", "'")
    return f"`{name}`" if name else f"this {topic.noun}"


def label(topic: records.Topic) -> str:
    """Return a topic's name, its state and the number of its changed lines; not escaped."""
    lines = count_noun(topic.lines, "line") * bool(topic.lines)
    return ", ".join(filter(None, (topic_name(topic), topic.state.value, lines)))


def shorten_reference(item: PseudoReference) -> str:
    """Shorten a pseudo-reference for display next to its location.

    The file, the kind of code and the first parts of a qualified name are left out.

    Example:
        "The method `A.run` in `a.py` now calls `go`." becomes "`run` now calls `go`."
    """
    if item.topic is None:
        return item.text
    path = item.topic.place.path
    names = item.topic.name.split("/" if item.topic.name == path else ".")
    text = item.text.replace(f" in `{path}`", "", 1)
    text = re.sub(rf"\b[Tt]he (?:new )?{re.escape(item.topic.noun)} (?=[`“])", "", text)
    for name in (item.topic.name, ".".join(names[-2:])):
        text = text.replace(f"`{name}`", f"`{names[-1]}`")
    return text


def severity(result: Result, item: PseudoReference) -> records.Severity | None:
    """Return the worst severity of the findings behind an issue; None for other points.

    These are the counted findings that have the text of the issue and one of its paths.
    """
    paths = {span.path for span in item.spans}
    severities = [
        finding.severity
        for finding in result.analysis.findings
        if finding.counted and finding.text == item.text and finding.path in paths
    ]
    return min(severities, key=records.SEVERITIES.index, default=None)


def unaddressed_title(result: Result) -> str:
    """Return the title of the unaddressed points, some of which are partly addressed."""
    return "Not or hardly addressed" if has_degrees(result) else "Not addressed"


def author(name: str | None) -> str:
    """Return the name of a reviewer, or "unknown author" for None or ""."""
    return name or "unknown author"


def comment_place(comment: Comment) -> str:
    """Describe the location of a comment; `(unattached)` if it has no path."""
    if comment.path is None:
        return "(unattached)"
    side = comment.side if comment.line else Side.NEW
    return format_place(comment.path, comment.start_line, comment.line, side)


def scope(value: records.Scope) -> str:
    """Describe the part of the change that a comment was scored against, without its path."""
    if value.kind is records.ScopeKind.HUNK:
        return UNDEFINED if value.hunk is None else f"hunk {value.hunk + 1}"
    return _SCOPES[value.kind]


def notes(result: Result) -> tuple[str, ...]:
    """Return all notes of a result, each once: on the diff, on the run, then on the comments.

    Notes on the run also name the tools of static analysis with the number of their findings. Notes
    on comments say why they have no score; they are omitted if the result itself has no score,
    because a report says at its top why.
    """
    comments = result.comments if result.scores.reason is None else ()
    abstained = (
        f"No score for the comment on {comment_place(item.comment)}: {item.scores.reason}."
        for item in comments
        if item.scores.reason not in (None, NOT_READ)  # a note of the run counts those not read
    )
    tools = describe_analysis(result.analysis)
    return tuple(dict.fromkeys((*result.diff.notes, *result.notes, *tools, *abstained)))


def describe_analysis(analysis: records.Analysis) -> tuple[str, ...]:
    """Return a line that names the tools that ran and says how many of their findings count.

    The result is empty if no tool ran. Notes of the run say why other tools did not run.
    """
    completed = (run for run in analysis.tools if run.state is records.ToolState.RAN)
    ran = [f"{run.tool} {run.version or ''}".strip() for run in completed]
    counted = sum(finding.counted for finding in analysis.findings)
    total = count_noun(len(analysis.findings), "finding")
    return (f"Static analysis by {', '.join(ran)}: {counted:,} of {total} counted.",) if ran else ()
