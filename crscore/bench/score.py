"""Computes the scores of bots on a golden set from their findings."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore import progress
from crscore.bench import reasons
from crscore.bench.estimates import Row, compute
from crscore.bench.formats import read_findings, read_golden
from crscore.bench.judge import decide
from crscore.bench.overlap import find_alike
from crscore.bench.pairs import Doubles, assign, read_model, view_texts
from crscore.bench.records import SEVERITY_WEIGHTS, Change, Finding, GoldenSet, Problem, make_set
from crscore.bench.results import BenchResult, BotScore, ChangeResult, Decision, Pair, find_unsure
from crscore.encoders.base import Vectors
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.readers.model import ModelReader
from crscore.records import ACTIONABLE_FROM
from crscore.review.read import LANGUAGE_IDENTITY, is_english, mark_unread, sentences_of
from crscore.review.sentences import split_comment
from crscore.statistics import bootstrap
from crscore.text import count_noun
from crscore.usefulness.reader import FUNCTIONAL_WEIGHT, Reader, name_level, reader_for, sigmoid
from crscore.usefulness.reading import PHRASED
from crscore.version import __version__

Vector = npt.NDArray[np.float32]
Key = tuple[str, str]
"""Change and bot."""
Answers = Mapping[str, tuple[bool, str]]
"""Decisions, keyed by the identifier of the pair: whether the finding is about the problem, and how
that was decided, such as "judged by hand".
"""

SAME_COSINE: Final = 0.8
"""Two unlisted findings make the same point if their vectors have at least this cosine."""
# The vectors of one bot's texts for this many changes take about 10 MB.
CHUNK: Final = 64
"""Number of changes whose texts are encoded at once."""


class _Review(NamedTuple):
    """Findings of one bot for one change, compared with the problems of the change."""

    change: Change
    bot: str
    findings: Sequence[Finding]
    probabilities: Doubles
    """Probability that each of F findings is about each of G problems, shape (F, G)."""
    vectors: Sequence[Vector]
    """Unit vector of each finding."""


def score(
    golden: GoldenSet | str | Path,
    findings: Iterable[Finding] | str | Path,
    *,
    beta: float = 1.0,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = 0,
    encoder: MiniLM | None = None,
    answers: Mapping[str, bool] | None = None,
    judge: ModelReader | None = None,
) -> BenchResult:
    """Score the findings of one or several bots against a golden set.

    Args:
        golden: The set, or its file.
        findings: The findings, or their file. Entire comments (`raw`) are divided into remarks.
        beta: Weight of recall against precision in F, above 0.
        resamples: Number of bootstrap samples of the changes; 0 for no intervals.
        seed: Seed of the bootstrap.
        encoder: Encoder of the vectors that the matcher compares; None for the default one.
        answers: Decisions by hand, keyed by the identifier of the pair: whether the finding is
            about the problem.
        judge: Language model that decides those unsure pairs that nobody decided by hand.

    Returns:
        Scores of each bot, comparisons, and the decision about each finding. A bot's numbers do not
        depend on the order of the input, nor on the other bots.

    Raises:
        InputError: A file cannot be read, no finding is for a change of the set, `beta` is not
            a finite number above 0, or the encoder is not minilm.
    """
    if isinstance(golden, str | Path):
        golden = read_golden(Path(golden))
    golden = make_set(golden.name, golden.version, golden.changes, golden.notes)
    if isinstance(findings, str | Path):
        findings = read_findings(Path(findings))
    if not beta > 0 or not math.isfinite(beta):
        raise InputError(f"beta is {beta:g}; it must be a finite number above 0")
    encoder = encoder or MiniLM()
    reader = reader_for(encoder)
    if reader is None:
        raise InputError("findings can only be matched with the encoder minilm")
    grouped, notes = _group(golden, findings, reader)
    bots = sorted({bot for _, bot in grouped})
    reviews = _compare(golden, bots, grouped, reader, notes)
    levels = _read_levels([f.text for group in grouped.values() for f in group], reader)
    rows = {key: _decide(review, reader, levels, {}) for key, review in reviews.items()}
    before: tuple[BotScore, ...] = ()
    by_hand, by_model, model_identity = answers or {}, dict[str, bool](), ""
    if judge:
        pairs = ((review.change.problems, rows[key].pairs) for key, review in reviews.items())
        unsure = find_unsure(pairs)
        by_model, model_notes, model_identity = decide(
            judge, {id_: unsure[id_] for id_ in unsure if id_ not in by_hand}
        )
        notes += model_notes
    decided = {id_: (is_same, "judged by a language model") for id_, is_same in by_model.items()}
    decided |= {id_: (is_same, "judged by hand") for id_, is_same in by_hand.items()}
    if decided:
        before = compute(golden, bots, rows, beta, resamples=0, seed=0)[0]
        matched = rows
        rows = {key: _decide(review, reader, levels, decided) for key, review in reviews.items()}
        notes += _note_moved(matched, rows)
    if by_hand:
        notes.append(_count_answers(by_hand, reviews.values()))
    scores, comparisons = compute(golden, bots, rows, beta, resamples=resamples, seed=seed)
    notes += _name_bots("changes without a finding count as reviewed", scores, "silent")
    texts = [problem.text for change in golden.changes for problem in change.problems]
    texts += [finding.text for group in grouped.values() for finding in group]
    if foreign := [text for text in texts if not is_english(text)]:
        note = f"not in English, so only code and place count: {count_noun(len(foreign), 'text')}"
        without = "findings without a match, which count neither for nor against a bot"
        notes.append("; ".join([note, *_name_bots(without, scores, "unread")]))
    # Decisions by hand change the numbers, so a result with other decisions has another signature.
    content = "".join(f"{id_}{is_same:d}" for id_, is_same in sorted(by_hand.items()))
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    answers_identity = f"|decisions:{digest}" if by_hand else ""
    return BenchResult(
        golden=f"{golden.name} {golden.version}".strip(),
        changes=tuple(
            ChangeResult(
                id=change.id,
                problems=change.problems,
                decisions=tuple(d for bot in bots for d in rows[change.id, bot].decisions),
                pairs=tuple(
                    rows[change.id, bot].pairs[at]
                    for at in range(len(change.problems))
                    for bot in bots
                ),
            )
            for change in golden.changes
        ),
        beta=beta,
        bots=scores,
        comparisons=comparisons,
        before=before,
        notes=tuple(notes),
        signature=f"crscore@{__version__}|bench|{golden.name}@{golden.version or '-'}"
        f"+{golden.sha256[:12]}|{read_model().identity}|{encoder.identity}"
        f"|language:{LANGUAGE_IDENTITY}|{reader.identity}|beta:{beta:g}"
        f"|resamples:{resamples}|seed:{seed}{model_identity}{answers_identity}",
    )


def _name_bots(lead: str, scores: Iterable[BotScore], field: str) -> list[str]:
    """Return a note with each bot whose `field` is not 0, and its value; empty if all are 0."""
    counts = sorted((row.bot, getattr(row, field)) for row in scores)
    bots = ", ".join(f"{bot} {count:,}" for bot, count in counts if count)
    return [f"{lead}: {bots}"] if bots else []


def _count_answers(answers: Mapping[str, bool], reviews: Iterable[_Review]) -> str:
    """Return a note that counts the answers about pairs of these files, and other answers."""
    names = {
        reasons.name_pair(review.change.id, problem.text, finding.text)
        for review in reviews
        for finding in review.findings
        for problem in review.change.problems
    }
    unknown = len(answers.keys() - names)
    note = f"judged by hand: {count_noun(len(answers) - unknown, 'pair')}"
    return f"{note}; decisions about pairs not in these files: {unknown:,}" if unknown else note


def _note_moved(before: Mapping[Key, Row], after: Mapping[Key, Row]) -> list[str]:
    """Return a note if decisions moved findings to other problems; otherwise an empty list."""
    counts = [sum(reasons.OTHER_PROBLEM in pair.why for row in rows.values() for pair in row.pairs)
              for rows in (before, after)]  # fmt: skip
    return ["decisions moved findings from one problem to another"] * (counts[0] < counts[1])


def _group(
    golden: GoldenSet, findings: Iterable[Finding], reader: Reader
) -> tuple[Mapping[Key, Sequence[Finding]], list[str]]:
    """Group findings by change and bot, and divide entire comments into findings.

    Returns:
        The findings of each group, sorted; notes about the set and about findings not counted.
    """
    names = {change.id for change in golden.changes}
    every = list(findings)
    listed = [finding for finding in every if finding.change in names]
    unknown = [finding.change for finding in every if finding.change not in names]
    if not listed:
        hint = f"; the first one is for {unknown[0]!r}" if unknown else ""
        raise InputError(f"no finding is for a change of the set {golden.name}{hint}")
    notes = list(golden.notes)
    if unknown:
        changes = count_noun(len(set(unknown)), "unknown change")
        notes.append(f"not counted: {count_noun(len(unknown), 'finding')} for {changes}")
    groups = defaultdict[Key, list[Finding]](list)
    for finding in listed:
        # A bot whose comments contain no remark was run but found nothing. Its group stays empty.
        groups[finding.change, finding.bot] += [] if finding.raw else [finding]
    for finding in _divide([row for row in listed if row.raw], reader):
        groups[finding.change, finding.bot].append(finding)
    for group in groups.values():
        group.sort(key=lambda row: (row.text, row.path or "", row.line or 0))
    return groups, notes


def _divide(comments: Sequence[Finding], reader: Reader) -> list[Finding]:
    """Divide entire comments into remarks, each of which becomes a finding.

    Each sentence that asks the author for nothing becomes a finding that remains `raw`.
    """
    units = [mark_unread(sentences_of([split_comment(c.text)])) for c in comments]
    vectors = Vectors(reader.encoder, sorted({unit.text for row in units for unit in row}))
    texts = reader.read_texts([(row, vectors.of([unit.text for unit in row])) for row in units])
    divided = []
    for comment, row, (_, remarks) in zip(comments, units, texts, strict=True):
        # Text that is not in English may make several points or none, but counts as one finding.
        if text := " ".join(unit.text for unit in row if unit.unread and not unit.hidden):
            divided.append(replace(comment, text=text, raw=False))
        for remark in remarks:
            asks = remark.actionable >= ACTIONABLE_FROM
            # Sentences that ask for nothing were joined because they are background, not because
            # they make one point, so each sentence is matched by itself.
            for text in [remark.text] if asks else [row[at].text for at in remark.indices]:
                divided.append(replace(comment, text=text, raw=not asks))
    return divided


def _compare(
    golden: GoldenSet, bots: Sequence[str], grouped: Mapping[Key, Sequence[Finding]],
    reader: Reader, notes: list[str],
) -> dict[Key, _Review]:  # fmt: skip
    """Compare the findings of each bot for each change with the problems of the change.

    Notes about problems that look alike are added to `notes`.

    The vectors of tokens take 50 KB for each text, which is 2.5 GB for 50,000 findings. Therefore
    they are dropped as soon as the pairs are measured.
    """
    reviews: dict[Key, _Review] = {}
    model, rarity = read_model(), reader.weights.rarity
    view = partial(view_texts, encoder=reader.encoder, rarity=rarity, layers=model.layers)
    with progress.track("matching", len(golden.changes)) as advance:
        for start in range(0, len(golden.changes), CHUNK):
            chunk = golden.changes[start : start + CHUNK]
            problems = view(p.text for change in chunk for p in change.problems)
            notes += [note for change in chunk for note in find_alike(change, problems)]
            for bot in bots:
                # The texts of each bot are encoded separately, because the last bits of a vector
                # depend on the batch, and no bot may change the numbers of another bot.
                listed = [grouped.get((change.id, bot), ()) for change in chunk]
                texts = {finding.text for group in listed for finding in group}
                views = problems | view(texts - problems.keys())
                for change, group in zip(chunk, listed, strict=True):
                    probabilities = model.probabilities(group, change.problems, views)
                    vectors = [views[finding.text].vector for finding in group]
                    reviews[change.id, bot] = _Review(change, bot, group, probabilities, vectors)
            advance(len(chunk))
    return reviews


def _decide(review: _Review, reader: Reader, levels: Mapping[str, str], answers: Answers) -> Row:
    """Decide which problem each finding of a bot is about.

    Args:
        review: The findings and the problems.
        reader: Reader of remarks, which knows how rare each word is.
        levels: Importance of each finding if it is right, keyed by the finding's text.
        answers: Decisions about pairs, which replace those of the matcher.
    """
    problems, probabilities = review.change.problems, review.probabilities.copy()
    threshold = read_model().threshold
    for row, column in np.ndindex(*probabilities.shape) if answers else ():
        texts = problems[column].text, review.findings[row].text
        name = reasons.name_pair(review.change.id, *texts)
        if name in answers:
            probabilities[row, column] = answers[name][0]
    matched = {
        row: column
        for row, column in assign(probabilities).items()
        if probabilities[row, column] >= threshold
    }
    decisions = []
    unlisted: list[Vector] = []
    for index, finding in enumerate(review.findings):
        best = int(probabilities[index].argmax()) if problems else None
        probability = 0.0 if best is None else float(probabilities[index, best])
        problem, importance = matched.get(index), ""
        if problem is not None:
            outcome = _name_hit(problems[problem])
        # The best problem is already matched with a more probable finding of this bot.
        elif probability >= threshold and best in matched.values():
            outcome, problem = "duplicate", best
        elif finding.raw:
            # A sentence that asks for nothing, such as praise or a description, counts only if it
            # is about a known problem. When all such sentences were left out, the recall of entire
            # comments was 0.667 instead of 0.771 (`benchmarks/bench_raw.py` prints the present
            # numbers).
            continue
        elif not is_english(finding.text):
            # The encoder cannot tell such texts apart, so the lack of a match says nothing.
            outcome = "unread"
        elif unlisted and (np.stack(unlisted) @ review.vectors[index]).max() >= SAME_COSINE:
            outcome = "duplicate"
        else:
            outcome, importance = "unlisted", levels[finding.text]
            unlisted.append(review.vectors[index])
        decisions.append(Decision(finding=finding, outcome=outcome, problem=problem,
                                  probability=probability, importance=importance))  # fmt: skip
    weights = [SEVERITY_WEIGHTS[p.severity] if p.is_required else 0.0 for p in problems]
    hits = [d.problem for d in decisions if d.outcome == "hit" and d.problem is not None]
    right = sum(d.outcome in ("hit", "also right") for d in decisions)
    return Row(
        decisions,
        _pair(review, reader, answers, probabilities, matched),
        (len(hits), right, right + len(unlisted), sum(weight > 0 for weight in weights),
         sum(weights[problem] for problem in hits), sum(weights)),
    )  # fmt: skip


def _pair(
    review: _Review,
    reader: Reader,
    answers: Answers,
    probabilities: Doubles,
    matched: Mapping[int, int],
) -> list[Pair]:
    """Pair each problem with the finding that is about it or, if none is, with the nearest one."""
    pairs = []
    by_problem = {problem: finding for finding, problem in matched.items()}
    model = read_model()
    for column, problem in enumerate(review.change.problems):
        if not review.findings:
            pairs.append(Pair(id="", bot=review.bot, problem=column, finding=None, outcome="missed",
                              probability=0.0, why="no finding", is_unsure=False))  # fmt: skip
            continue
        row = by_problem.get(column, int(probabilities[:, column].argmax()))
        finding, probability = review.findings[row], float(probabilities[row, column])
        name = reasons.name_pair(review.change.id, problem.text, finding.text)
        is_hit = column in by_problem
        low, high = model.band
        reason = reasons.explain(
            finding,
            problem,
            reader.weights.rarity,
            is_hit=is_hit,
            is_taken=not is_hit and probability >= model.threshold,
            decided_by=answers[name][1] if name in answers else "",
        )
        pairs.append(
            Pair(id=name, bot=review.bot, problem=column, finding=finding,
                 outcome=_name_hit(problem) if is_hit else "missed", probability=probability,
                 why=reason, is_unsure=name not in answers and low <= probability < high)
        )  # fmt: skip
    return pairs


def _name_hit(problem: Problem) -> str:
    if problem.excluded:
        return "excluded"
    return "also right" if problem.also_right else "hit"


def _read_levels(texts: Iterable[str], reader: Reader) -> dict[str, str]:
    """Return each text's importance if the text is right; "" for a text that is not in English."""
    # Only the model of phrases is used, because the network would encode every finding again. The
    # two agree for 88 % of 350 findings on whether a finding is serious
    # (docs/design/029-golden-sets.md).
    distinct = sorted(set(texts))
    ratings = reader.weights.network.phrases.read(distinct)
    importance, functional = (ratings[:, PHRASED.index(n)] for n in ("importance", "functional"))
    return {
        text: name_level(sigmoid(float(logit))).value if is_english(text) else ""
        for text, logit in zip(distinct, importance + FUNCTIONAL_WEIGHT * functional, strict=True)
    }
