"""`crscore validate`: how well the score agrees with people, and which of two runs does better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from crscore import io, plugins
from crscore.commands._settings import MODEL, PARTS, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.errors import InputError
from crscore.settings import AUTO, Config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from crscore.lab.study import separation
    from crscore.lab.study.results import ValidationResult
    from crscore.lab.study.run import Options, Trainer
    from crscore.lab.study.splits import Split
    from crscore.llm.engines.base import Engine
    from crscore.reports.layout import Report

COMPARISON_OPTIONS: Final = frozenset({"paths", "report", "target", "resamples", "seed"})
"""Parameters of a comparison of two results."""
COMMENT_OPTIONS: Final = frozenset({"kind", "within", "group", "labels", "others", "limit"})
"""Parameters of comments without ratings alone."""
RATED_OPTIONS: Final = frozenset(
    {"baselines", "files", "judges", "attacks", "held_out", "folds", "sources"}
)
"""Parameters of rated reviews alone."""
COMMON_OPTIONS: Final = frozenset({"offline", "verbose"})
"""Parameters of every use of the command."""
LEARNED_MATCHER: Final = "calibrated"
_JUDGE_ENVIRONMENT: Final = {"openai": frozenset({"base_url", "api_key"})}
"""Address and key, `OPENAI_*`, by engine; other engines do not get them."""
_JUDGE_SETTINGS: Final = frozenset(
    {"max_model_len", "tensor_parallel", "quantization", "dtype", "concurrency", "timeout_s"}
)
"""Settings that a judge accepts; prompt, sampling and adapter are those of claims."""
_FILE: Final = click.Path(path_type=Path)


class SplitCommand(GroupedCommand):
    """Command with `--split`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `--split grouped-cv 5` to `--split grouped-cv:5`."""
        joined: list[str] = []
        for word in args:
            is_number = word.isascii() and word.isdigit()
            before = joined[-1] if joined else ""
            follows = joined[-2:-1] == ["--split"] or before.startswith("--split=")
            if is_number and follows and ":" not in before:
                joined[-1] += f":{word}"
            else:
                joined.append(word)
        return super().parse_args(ctx, joined)


@click.command(
    name="validate",
    cls=SplitCommand,
    context_settings={"show_default": True},
    examples=(
        "crscore validate study.jsonl.gz",
        "crscore validate study.jsonl.gz --claims structural --format html -o page.html",
        "crscore validate a.json b.json",
    ),
)
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=_FILE)
@click.option(
    "--claims",
    default="recorded",
    metavar="NAME",
    help="recorded (the data's own claims and findings), or a claim generator; comments without "
    "ratings have the settings' claims.",
)
@setting_options("threshold")
@click.option("--format", "report", type=click.Choice(["text", "json", "html"]), default="text")
@click.option("-o", "--output", "target", metavar="FILE", help="Write here, not to stdout.")
@click.option("--baselines/--no-baselines", default=True, help="Show the published baselines.")
@click.option(
    "--beside",
    "files",
    multiple=True,
    metavar="FILE",
    type=_FILE,
    help="Show the metrics of FILE, such as a judge's, beside the score; may be repeated.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="ENGINE:MODEL",
    help="Let a language model rate the reviews, too, and show it beside the score; changes and "
    "reviews are sent to it. May be repeated.",
)
@click.option("--attacks/--no-attacks", default=True, help="Attack the score with adverse texts.")
@click.option(
    "--split",
    "held_out",
    metavar="grouped-cv K | leave-one-system-out | leave-one-language-out",
    help="Train the matcher anew for each part of the data, on what is not in it.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="K",
    help="Groups of changes (default: 10; 5 where systems are left out).",
)
@click.option(
    "--import-crscore",
    "imported",
    nargs=2,
    metavar="CLONE OUT",
    type=_FILE,
    help="Turn a clone of atharva-naik/CRScore into a file to validate on, and stop.",
)
@click.option(
    "--kind",
    type=click.Choice(["auto", "pairs", "labels"]),
    default="auto",
    help="Comments: own change against another, labels, or both where there are labels.",
)
@click.option(
    "--within",
    metavar="FIELD",
    help="Comments: take other changes with the same FIELD (default: the language), and compare "
    "labels within it, too.",
)
@click.option(
    "--group",
    metavar="FIELD",
    help="Comments: draw whole groups of one FIELD [default: the patch].",
)
@click.option(
    "--label", "labels", metavar="NAMES", help="Comments: labels [default: every boolean field]."
)
@click.option(
    "--others", type=click.IntRange(1), default=1, help="Comments: other changes of each."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Comments: draw N of each value of --within.",
)
@click.option("--resamples", type=click.IntRange(0), default=1000, help="Bootstrap resamples.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed of every part.")
@click.option("--sources/--no-sources", default=True, help="Use the data's whole files.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr which part is done.")
# Findings of tools change the score, and a study has findings of its own: here tools run only when
# the command line requests them, whatever environment and settings file contain.
@setting_options(*MODEL, *PARTS, "offline", "config", analyzers="none")
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    claims: str,
    report: str,
    target: str | None,
    baselines: bool,
    files: tuple[Path, ...],
    judges: tuple[str, ...],
    attacks: bool,
    held_out: str | None,
    folds: int | None,
    imported: tuple[Path, Path] | None,
    kind: str,
    within: str | None,
    group: str | None,
    labels: str | None,
    others: int,
    limit: int | None,
    resamples: int,
    seed: int,
    sources: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Correlate the score with the human ratings in DATA, or compare two such runs.

    DATA is JSON Lines, plain or gzip, with one change and its rated reviews a line. A.json and
    B.json are the output of two runs with --format json: the comparison shows which agrees better
    with people, by how much, and how many changes it takes to detect that.

    DATA may also be comments without ratings, one a line: comment (or subject, or body), patch (or
    diff_hunk, or diff), if known language and path, and any other fields. The report shows how well
    each number tells a comment's own change from another, and comments with a label (a field that
    is true or false) from those without it.

    Analyzers run only if --analyzers names them. Their findings then replace those recorded in
    the data, and the report shows the effect.
    """
    io.check_output(target)
    split = _read_split(held_out, folds)
    if imported is not None:
        if paths or target:
            raise click.UsageError("--import-crscore takes CLONE and OUT alone")
        _refuse_others(frozenset({"imported"}), "an import")
        return _import(*imported)
    if len(paths) == 2:
        _refuse_others(COMPARISON_OPTIONS, "a comparison of two results")
        text = _comparison(*paths, report=report, resamples=resamples, seed=seed)
    elif len(paths) == 1:
        from crscore.lab.study import comments, run, separation  # noqa: PLC0415  (after --help)

        if comments.is_comments(paths[0]):
            _refuse(RATED_OPTIONS, "comments without ratings")
            asked = separation.Options(
                kind=kind,
                others=others,
                within=within,
                group=group,
                labels=_read_labels(labels, kind),
                limit=limit,
                resamples=resamples,
                seed=seed,
            )
            # There are no recorded claims: the settings choose, unless the command line does.
            chosen = {"claims": claims} if _is_given("claims") else {}
            settings = load_settings(config_file, flags | chosen)
            text = _separation(paths[0], settings, asked, report=report, verbose=verbose)
        else:
            _refuse(COMMENT_OPTIONS, "a study of rated reviews")
            options = run.Options(
                claims=claims,
                sources=sources,
                resamples=resamples,
                seed=seed,
                attacks=attacks,
                split=split,
            )
            beside = _Beside(baselines, files, read_judges(judges))
            settings = load_settings(config_file, flags)
            text = _rendered(_run(paths[0], settings, options, beside, verbose=verbose), report)
    else:
        raise click.UsageError(f"give one study or two results of validate, not {len(paths)} files")
    io.write_text(text, target)
    return 0


def _read_split(text: str | None, folds: int | None) -> Split | None:
    if text is None:
        if folds is not None:
            raise click.UsageError("--folds counts the groups of --split, which is not there")
        return None
    from crscore.lab.study import splits  # noqa: PLC0415  (after --help and wrong options)

    try:
        return splits.parse_split(text, folds)
    except ValueError as exc:
        raise click.UsageError(f"--split: {exc}") from exc


def _refuse_others(known: frozenset[str], what: str) -> None:
    """Reject all options but these and the common ones."""
    every = {option.name or "" for option in click.get_current_context().command.params}
    _refuse(every - known - COMMON_OPTIONS, what)


def _refuse(names: AbstractSet[str], what: str) -> None:
    """Reject options that would have no effect."""
    for option in click.get_current_context().command.params:
        if option.name in names and _is_given(option.name):
            raise click.UsageError(f"{option.opts[0]} says nothing about {what}; leave it out")


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _read_labels(text: str | None, kind: str) -> tuple[str, ...]:
    if kind != "auto":
        _refuse({"labels"} if kind == "pairs" else {"others"}, f"--kind {kind}")
    return tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


class JudgeName(NamedTuple):
    """Judge as named by the user."""

    engine: str
    """Name of the engine plugin."""
    model: str
    """Name of the model in the engine."""

    def __str__(self) -> str:
        return f"{self.engine}:{self.model}"


class _Beside(NamedTuple):
    """Metrics to show with the score."""

    baselines: bool
    files: Sequence[Path]
    judges: Sequence[JudgeName]


def read_judges(texts: Sequence[str]) -> tuple[JudgeName, ...]:
    """Read the option `--judge`.

    Args:
        texts: As given, each ENGINE:MODEL; one given twice is one.

    Raises:
        UsageError: One is something else, or there is no such engine.
    """
    found = []
    for text in dict.fromkeys(texts):
        engine, _, model = text.partition(":")
        known = plugins.names("engines")
        if engine not in known or not model:
            engines = " or ".join(f"{name}:MODEL" for name in known)
            raise click.UsageError(f"--judge takes {engines}, not {text!r}")
        found.append(JudgeName(engine, model))
    return tuple(found)


def _run(
    data: Path, settings: Config, options: Options, others: _Beside, *, verbose: bool
) -> ValidationResult:
    from crscore.lab.study import extra_metrics, run, saved, study  # noqa: PLC0415

    if saved.is_run(data):
        raise InputError(f"{data} is a result of validate, no study; give two to compare them")
    trainer = None if options.split is None else _matcher_trainer(settings)
    rated = study.read_study(data)
    extra = [extra_metrics.baselines()] if others.baselines else []
    extra += [extra_metrics.from_files(others.files)] if others.files else []
    progress = _progress(verbose=verbose)
    if others.judges:
        from crscore import scorer  # noqa: PLC0415
        from crscore.lab.study import judge  # noqa: PLC0415

        store = scorer.make_store(settings) if settings.cache else None
        for one in others.judges:
            made = judge.make_judge(str(one), make_judge_engine(one, settings), store)
            extra.append(judge.ask_judge(rated, made, progress=progress))
    return run.run(rated, settings, options, extra=extra, trainer=trainer, progress=progress)


def _separation(
    data: Path, settings: Config, options: separation.Options, *, report: str, verbose: bool
) -> str:
    from crscore import scorer  # noqa: PLC0415
    from crscore.lab.study import comments, results, separation, separation_report  # noqa: PLC0415

    made = scorer.Scorer(settings)
    found = separation.separate(
        comments.read_comments(data, made), made, options, progress=_progress(verbose=verbose)
    )
    if report == "json":
        return results.to_json(found)
    return _laid_out(separation_report.separation_report(found), report)


def _progress(*, verbose: bool) -> Callable[[str], None]:
    def progress(done: str) -> None:
        if verbose:
            click.echo(f"crscore: {done}", err=True)

    return progress


def _laid_out(made: Report, report: str) -> str:
    from crscore.reports import layout  # noqa: PLC0415

    return layout.to_html(made) if report == "html" else layout.to_text(made)


def _matcher_trainer(settings: Config) -> Trainer:
    """Return the trainer of the matcher in the settings.

    Raises:
        UsageError: The matcher cannot be trained.
    """
    # As in a score: an explicit threshold belongs to the published rule.
    is_learned = settings.matcher == LEARNED_MATCHER or (
        settings.matcher == AUTO and settings.threshold is None
    )
    if not is_learned:
        name = "published" if settings.matcher == AUTO else settings.matcher
        raise click.UsageError(
            f"--split is for what is trained; the matcher {name} learns nothing, so nothing can "
            f"be held out from it (take --matcher {LEARNED_MATCHER} without --threshold)"
        )
    from crscore.lab.training import matcher  # noqa: PLC0415  (heavy, needed here only)

    return matcher.train


def make_judge_engine(judge: JudgeName, settings: Config) -> Engine:
    """Make a judge's engine, without loading a model or sending a request.

    Raises:
        ConfigError: A setting means nothing to it, or it lacks one.
    """
    from crscore import scorer  # noqa: PLC0415

    given, unset = scorer.model_options(settings), scorer.model_options(Config())
    taken = _JUDGE_ENVIRONMENT.get(judge.engine, frozenset()) | {"offline"}
    # Unset options are left to the engine, which rejects options without meaning to it.
    taken |= {key for key in _JUDGE_SETTINGS if given.get(key) != unset.get(key)}
    if judge.model == settings.model:  # a revision is one model's
        taken |= {"revision"}
    own = {key: value for key, value in given.items() if key in taken}
    made: Engine = plugins.create("engines", judge.engine, own | {"model": judge.model})
    return made


def _rendered(found: ValidationResult, report: str) -> str:
    from crscore.lab.study import result_report, results  # noqa: PLC0415

    if report == "json":
        return results.to_json(found)
    return _laid_out(result_report.result_report(found), report)


def _comparison(first: Path, second: Path, *, report: str, resamples: int, seed: int) -> str:
    from crscore.lab.study import compare, comparison_report, results, saved  # noqa: PLC0415

    found = compare.compare(
        saved.read_saved_run(first), saved.read_saved_run(second), resamples=resamples, seed=seed
    )
    if report == "json":
        return results.to_json(found)
    return _laid_out(comparison_report.comparison_report(found), report)


def _import(clone: Path, out: Path) -> int:
    from crscore.lab.study import importer  # noqa: PLC0415

    io.check_output(str(out))  # before the work
    made = importer.convert(clone)
    importer.write_study(made.rows, out)
    for note in made.notes:
        click.echo(f"crscore: note: {note}", err=True)
    reviews = sum(len(row["reviews"]) for row in made.rows)
    click.echo(f"{out}: {len(made.rows):,} changes with {reviews:,} reviews")
    return 0
