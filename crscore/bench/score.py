"""Scores of bots on a golden set."""

import hashlib
import math
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore import progress
from crscore.bench import reasons
from crscore.bench.estimates import Row, compute
from crscore.bench.matching import assign
from crscore.bench.pairs import PairModel, TextView, read_model, view_texts
from crscore.bench.readers import read_findings, read_golden
from crscore.bench.records import SEVERITY_WEIGHTS, Change, Finding, GoldenSet, Problem, make_set
from crscore.bench.results import BenchResult, BotScore, ChangeResult, Decision, Moved, Pair
from crscore.encoders.base import Vectors
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.records import GIVES_FROM
from crscore.review import language
from crscore.review.read import sentences_of
from crscore.review.sentences import split_comment
from crscore.statistics import bootstrap
from crscore.text import count_noun
from crscore.usefulness import reader
from crscore.usefulness.headline import name_level
from crscore.usefulness.reading import read_text, weigh_importance
from crscore.version import __version__

Floats = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float32]
Grouped = Mapping[tuple[str, str], Sequence[Finding]]
"""(change, bot) -> findings."""

SAME_COSINE: Final = 0.85
"""Minimum cosine of two unlisted findings that make the same point."""
CHUNK: Final = 64
"""Number of changes whose texts are encoded at once: some hundred MB for 50 findings each."""


class _Matcher(NamedTuple):
    """Parts of a run."""

    encoder: MiniLM
    reader: reader.Reader
    model: PairModel

    def view(self, texts: Sequence[str]) -> dict[str, TextView]:
        return view_texts(texts, self.encoder, self.reader.weights.rarity)


def score(
    golden: GoldenSet | str | Path,
    findings: Iterable[Finding] | str | Path,
    *,
    beta: float = 1.0,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = 0,
    encoder: MiniLM | None = None,
    answers: Mapping[str, bool] | None = None,
) -> BenchResult:
    """Score the findings of one or several bots against a golden set.

    Args:
        golden: The set, or its file.
        findings: The findings, or their file. Raw comments are divided into remarks first.
        beta: Weight of recall against precision in F, above 0.
        resamples: Draws of the bootstrap over changes; 0 for no interval.
        seed: Seed of the draws.
        encoder: Encoder of the matcher's vectors; the default one when None.
        answers: Decisions by hand: identifier of a pair -> whether it is the same point.

    Returns:
        Scores of each bot, comparisons, and the decision about each finding. A bot's numbers do not
        depend on the order of the input, nor on the other bots.

    Raises:
        InputError: A file cannot be read, or no finding is for a change of the set.
    """
    if isinstance(golden, str | Path):
        golden = read_golden(Path(golden))
    golden = make_set(golden.name, golden.version, golden.changes, golden.notes)
    if isinstance(findings, str | Path):
        findings = read_findings(Path(findings))
    if not beta > 0 or not math.isfinite(beta):
        raise InputError(f"beta is {beta:g}; it must be above 0")
    encoder = encoder or MiniLM()
    reading = reader.reader_for(encoder)
    if reading is None:
        raise InputError("findings can only be matched with the encoder minilm")
    parts = _Matcher(encoder, reading, read_model())
    grouped, notes = _group(golden, findings, parts)
    bots = sorted({bot for _, bot in grouped})
    rows: dict[tuple[str, str], Row] = {}
    before: dict[tuple[str, str], Row] = {}
    answers = answers or {}
    used: set[str] = set()
    with progress.track("matching", len(golden.changes)) as advance:
        for start in range(0, len(golden.changes), CHUNK):
            chunk = golden.changes[start : start + CHUNK]
            rows |= _judge_changes(chunk, bots, grouped, parts, answers, used, before)
            advance(len(chunk))
    of_changes = [[rows[change.id, bot] for bot in bots] for change in golden.changes]
    scores, comparisons = compute(golden, bots, rows, beta, resamples=resamples, seed=seed)
    if answers:
        changed = sum(
            [d.outcome for d in row.decisions] != [d.outcome for d in before[key].decisions]
            for key, row in rows.items()
        )
        notes.append(
            f"judged by hand: {count_noun(len(used), 'pair')}; changed: the outcome of "
            f"{count_noun(changed, 'review')}"
        )
        if unknown := len(answers.keys() - used):
            notes.append(f"decisions about no pair of these files: {unknown:,}")
    silent = [f"{row.bot} {row.silent:,}" for row in sorted(scores, key=lambda r: r.bot)
              if row.silent]  # fmt: skip
    if silent:
        notes.append("changes without a finding count as silence: " + ", ".join(silent))
    texts = [problem.text for change in golden.changes for problem in change.problems]
    texts += [finding.text for group in grouped.values() for finding in group]
    if unread := [text for text in texts if not language.is_english(text)]:
        notes.append(f"{len(unread):,} texts are not in English: only their code and place count")
    return BenchResult(
        golden=f"{golden.name} {golden.version}".strip(),
        changes=tuple(
            ChangeResult(
                id=change.id,
                problems=change.problems,
                decisions=tuple(d for row in of_change for d in row.decisions),
                pairs=tuple(
                    sorted((p for row in of_change for p in row.pairs), key=lambda p: p.problem)
                ),
            )
            for change, of_change in zip(golden.changes, of_changes, strict=True)
        ),
        beta=beta,
        bots=scores,
        comparisons=comparisons,
        moved=_compare_scores(golden, bots, before, scores, beta) if answers else (),
        distinct_unlisted=sum(map(_count_distinct, of_changes)),
        notes=tuple(notes),
        signature=f"crscore@{__version__}|bench|{golden.name}@{golden.version or '-'}"
        f"+{golden.sha256[:12]}|{parts.model.identity}|{parts.encoder.identity}"
        f"|language:{language.IDENTITY}|{parts.reader.identity}|beta:{beta:g}"
        f"|resamples:{resamples}|seed:{seed}" + _name_answers(answers),
    )


def _name_answers(answers: Mapping[str, bool]) -> str:
    content = "".join(f"{id_}{is_same:d}" for id_, is_same in sorted(answers.items()))
    return f"|decisions:{hashlib.sha256(content.encode()).hexdigest()[:8]}" if answers else ""


def _compare_scores(
    golden: GoldenSet,
    bots: Sequence[str],
    before: Mapping[tuple[str, str], Row],
    scores: Sequence[BotScore],
    beta: float,
) -> tuple[Moved, ...]:
    """Compare scores with those without decisions by hand."""
    earlier = {row.bot: row for row in compute(golden, bots, before, beta, resamples=0, seed=0)[0]}
    return tuple(
        Moved(
            bot=row.bot,
            hits=(earlier[row.bot].hits, row.hits),
            recall=(earlier[row.bot].recall.value, row.recall.value),
            precision=(earlier[row.bot].precision.value, row.precision.value),
            f=(earlier[row.bot].f.value, row.f.value),
        )
        for row in scores
    )


def _group(
    golden: GoldenSet, findings: Iterable[Finding], parts: _Matcher
) -> tuple[Grouped, list[str]]:
    """Group findings by change and bot, in an order that does not depend on the input's."""
    names = {change.id for change in golden.changes}
    every = list(findings)
    listed = [finding for finding in every if finding.change in names]
    foreign = [finding.change for finding in every if finding.change not in names]
    if not listed:
        hint = f"; the first one is for {foreign[0]!r}" if foreign else ""
        raise InputError(f"no finding is for a change of the set {golden.name}{hint}")
    notes = list(golden.notes)
    if foreign:
        changes = count_noun(len(set(foreign)), "unknown change")
        notes.append(f"not counted: {count_noun(len(foreign), 'finding')} for {changes}")
    groups = defaultdict[tuple[str, str], list[Finding]](list)
    for finding in listed:
        # A bot whose comments have no remark was run, but found nothing.
        groups[finding.change, finding.bot] += [] if finding.raw else [finding]
    for finding in _divide([row for row in listed if row.raw], parts):
        groups[finding.change, finding.bot].append(finding)
    for group in groups.values():
        group.sort(key=lambda row: (row.text, row.path or "", row.line or 0))
    return groups, notes


def _divide(comments: Sequence[Finding], parts: _Matcher) -> list[Finding]:
    """Divide comments as posted into remarks; sentences that ask for nothing stay `raw`."""
    units = [language.mark_unread(sentences_of([split_comment(c.text)])) for c in comments]
    vectors = Vectors(parts.encoder, sorted({unit.text for row in units for unit in row}))
    read = parts.reader.read_texts(
        [(row, vectors.of([unit.text for unit in row])) for row in units]
    )
    divided = []
    for comment, row, texts_read in zip(comments, units, read, strict=True):
        # It may make several points or none; it counts as one.
        if text := " ".join(unit.text for unit in row if unit.unread and not unit.hidden):
            divided.append(replace(comment, text=text, raw=False))
        for remark in texts_read.remarks:
            asks = remark.reading.gives >= GIVES_FROM
            # Sentences that ask for nothing were joined as background, so each is tried.
            for text in [remark.text] if asks else [row[at].text for at in remark.columns]:
                divided.append(replace(comment, text=text, raw=not asks))
    return divided


def _judge_changes(
    changes: Sequence[Change],
    bots: Sequence[str],
    grouped: Grouped,
    parts: _Matcher,
    answers: Mapping[str, bool],
    used: set[str],
    before: dict[tuple[str, str], Row],
) -> dict[tuple[str, str], Row]:
    """Judge the findings of each bot; add answers to `used`, and rows without them to `before`."""
    rows = {}
    problems = parts.view([problem.text for change in changes for problem in change.problems])
    for bot in bots:
        # Bot by bot, so that other bots' texts cannot change a batch, and with it a vector's last
        # bits.
        listed = {change.id: grouped.get((change.id, bot), ()) for change in changes}
        views = parts.view([finding.text for row in listed.values() for finding in row])
        decided = []
        for change in changes:
            findings = listed[change.id]
            texts = ChainMap(views, problems)
            probabilities = parts.model.probabilities(findings, change.problems, texts)
            if answers:
                row = _decide(change, bot, findings, texts, probabilities, parts.model, {})
                before[change.id, bot] = row
            for (at, column), name in _name_pairs(change, findings, answers):
                probabilities[at, column] = float(answers[name])
                used.add(name)
            decided.append(
                _decide(change, bot, findings, texts, probabilities, parts.model, answers)
            )
        levels = _read_levels(decided, parts.reader)
        for change, row in zip(changes, decided, strict=True):
            decisions = [
                replace(decision, importance=levels[decision.finding.text])
                if decision.outcome == "unlisted"
                else decision
                for decision in row.decisions
            ]
            rows[change.id, bot] = row._replace(decisions=decisions)
    return rows


def _name_pairs(
    change: Change, findings: Sequence[Finding], answers: Mapping[str, bool]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the positions and names of the pairs that have an answer."""
    if answers:
        for row, finding in enumerate(findings):
            for column, problem in enumerate(change.problems):
                name = reasons.name_pair(change.id, problem.text, finding.text)
                if name in answers:
                    yield (row, column), name


def _decide(
    change: Change,
    bot: str,
    findings: Sequence[Finding],
    views: Mapping[str, TextView],
    probabilities: Floats,
    model: PairModel,
    answers: Mapping[str, bool],
) -> Row:
    """Decide which problem each finding of a bot is about."""
    problems = change.problems
    matched = {
        match.finding: match.problem
        for match in (assign(probabilities) if probabilities.size else ())
        if match.probability >= model.threshold
    }
    decisions = []
    unlisted: list[Vector] = []
    for index, finding in enumerate(findings):
        best = int(probabilities[index].argmax()) if problems else None
        probability = 0.0 if best is None else float(probabilities[index, best])
        problem = matched.get(index)
        outcome = "unlisted"
        if problem is not None:
            outcome = _name_hit(problems[problem])
        elif probability >= model.threshold and best in matched.values():
            outcome, problem = "duplicate", best
        elif finding.raw:
            # Praise or a description counts only if it is about a known problem.
            continue
        elif _repeats(views[finding.text].vector, unlisted):
            outcome = "duplicate"
        else:
            unlisted.append(views[finding.text].vector)
        decisions.append(
            Decision(finding=finding, outcome=outcome, problem=problem, probability=probability)
        )
    weights = [SEVERITY_WEIGHTS[p.severity] if p.is_required else 0.0 for p in problems]
    hits = [d.problem for d in decisions if d.outcome == "hit" and d.problem is not None]
    right = sum(d.outcome in ("hit", "also right") for d in decisions)
    distinct = right + len(unlisted)
    return Row(
        decisions,
        _pair(change, bot, findings, views, probabilities, model, answers, matched),
        (len(hits), right, distinct, sum(weight > 0 for weight in weights),
         sum(weights[problem] for problem in hits), sum(weights)),
        unlisted,
    )  # fmt: skip


def _pair(
    change: Change,
    bot: str,
    findings: Sequence[Finding],
    views: Mapping[str, TextView],
    probabilities: Floats,
    model: PairModel,
    answers: Mapping[str, bool],
    matched: Mapping[int, int],
) -> list[Pair]:
    """Pair each problem with the finding that hits it or is nearest to it."""
    pairs = []
    by_problem = {problem: finding for finding, problem in matched.items()}
    for column, problem in enumerate(change.problems):
        if not findings:
            pairs.append(Pair(id="", bot=bot, problem=column, finding=None, outcome="missed",
                              probability=0.0, why="no finding", is_unsure=False))  # fmt: skip
            continue
        row = by_problem.get(column, int(probabilities[:, column].argmax()))
        finding, probability = findings[row], float(probabilities[row, column])
        name = reasons.name_pair(change.id, problem.text, finding.text)
        answer = answers.get(name)
        if column in by_problem:
            outcome, verdict = _name_hit(problem), "judged by hand" if answer else ""
        else:
            outcome = "missed"
            verdict = reasons.find_obstacle(
                finding, problem, views, is_taken=probability >= model.threshold, answer=answer
            )
        pairs.append(
            Pair(
                id=name,
                bot=bot,
                problem=column,
                finding=finding,
                outcome=outcome,
                probability=probability,
                why=reasons.explain(finding, problem, views, verdict=verdict),
                is_unsure=answer is None and model.band[0] <= probability < model.band[1],
            )
        )
    return pairs


def _name_hit(problem: Problem) -> str:
    if problem.excluded:
        return "excluded"
    return "also right" if problem.also_right else "hit"


def _repeats(vector: Vector, earlier: Sequence[Vector]) -> bool:
    """Return whether a text makes the same point as an earlier one."""
    return bool(earlier) and float((np.stack(earlier) @ vector).max()) >= SAME_COSINE


def _count_distinct(rows: Sequence[Row]) -> int:
    """Count the unlisted points of all bots for one change."""
    distinct: list[Vector] = []
    for vector in (vector for row in rows for vector in row.unlisted):
        distinct += [] if _repeats(vector, distinct) else [vector]
    return len(distinct)


def _read_levels(rows: Sequence[Row], reading: reader.Reader) -> dict[str, str]:
    """Return text -> importance of unlisted findings; "" if one asks for nothing or is unread."""
    unlisted = sorted(
        {d.finding.text for row in rows for d in row.decisions if d.outcome == "unlisted"}
    )
    texts = list(filter(language.is_english, unlisted))
    read = [read_text(outputs) for outputs in reading.network.read(texts)] if texts else []
    return dict.fromkeys(unlisted, "") | {
        text: name_level(weigh_importance(row)).value if row.gives >= GIVES_FROM else ""
        for text, row in zip(texts, read, strict=True)
    }
