"""Python API: `Scorer` parses changes and reviews, and scores them with the pipeline.

Each function `make_*` below it makes one part of a run from the settings.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from crscore import cache, pipeline, plugins
from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions
from crscore.diff import parse
from crscore.encoders.base import Encoder
from crscore.errors import (
    ConfigError,
    CRScoreError,
    DependencyError,
    EngineError,
    ModelNotFoundError,
)
from crscore.matchers.base import Matcher
from crscore.records import Comment, Diff, Result
from crscore.review import comments, sentences
from crscore.review.read import LANGUAGE_IDENTITY
from crscore.scoring import thresholds
from crscore.settings import (
    AUTO,
    NETWORK,
    Config,
    ModelSettings,
    override_settings,
    search_path,
    variable,
)
from crscore.static_analysis import suite, tools
from crscore.static_analysis.reports import RawReport
from crscore.static_analysis.suite import Suite
from crscore.usefulness import reader as usefulness
from crscore.verdicts import judge
from crscore.verdicts.repository import Repository
from crscore.version import __version__

if TYPE_CHECKING:  # most runs have no model
    from crscore.readers.model import ModelReader
    from crscore.readers.requests import Request

DiffLike = Diff | str | bytes
ReviewLike = str | bytes | Comment | Sequence[Comment]
_COMMON_ERRORS: Final = (ModelNotFoundError, DependencyError, EngineError)
"""Errors because of which no pair can be scored, not only the current one."""
_ENGINE_NAMES: Final = {"model_revision": "revision", "model_timeout": "timeout_s"}
"""Setting -> option of an engine, if the two have different names."""


class Scorer:
    r"""Scores reviews of changes. The model of the encoder is loaded once, at the first score.

    Args:
        settings: A `Config`; None for the defaults. Only the command line reads the environment
            and `pyproject.toml`.
        generator: A claim generator to use instead of the one that the settings name.
        encoder: An encoder to use instead of the one that the settings name, or its name.
        matcher: A matcher to use instead of the one that the settings name, or its name.
        analyzers: Static analysis to use instead of the analyzers that the settings name, or their
            names.
        reports: Findings of tools that ran before, read by `crscore.static_analysis.sarif`. They
            are used in addition to the findings of the analyzers.
        untrusted: Whether the changes are untrusted. If so, and if this system cannot confine the
            analyzers, they run only if the setting `trust` is true.
        **overrides: Single settings by name: `Scorer(claims="replay:claims.jsonl")`.

    Raises:
        ConfigError: A setting is unknown or wrong, or the folder of an analyzer cannot be used.
        UnknownPluginError: A setting names a plugin that does not exist.

    Example:
        >>> patch = "@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
        >>> scorer = Scorer(encoder="hashing", threshold=0.1)
        >>> result = scorer.score(patch, "The limit of 20 is too high.", language="python")
        >>> result.conciseness
        1.0
    """

    def __init__(
        self,
        settings: Config | None = None,
        *,
        generator: ClaimGenerator | None = None,
        encoder: Encoder | str | None = None,
        matcher: Matcher | str | None = None,
        analyzers: Suite | str | None = None,
        reports: Sequence[RawReport] = (),
        untrusted: bool = False,
        **overrides: Any,
    ) -> None:
        if isinstance(encoder, str):
            overrides["encoder"], encoder = encoder, None
        if isinstance(matcher, str):
            overrides["matcher"], matcher = matcher, None
        if isinstance(analyzers, str):
            overrides["analyzers"], analyzers = analyzers, None
        settings = self.settings = override_settings(settings or Config(), overrides)
        analyzers = analyzers or make_analyzers(
            settings, reports=tuple(reports), untrusted=untrusted
        )
        encoder = encoder or make_encoder(settings)
        generator = generator or make_generator(settings)
        threshold = None
        if matcher is None:
            matcher, threshold = _make_matcher(settings, encoder, generator)
        reader = usefulness.reader_for(encoder, matcher.identity)
        model = make_model_reader(settings)
        if model and reader is None:
            expected = "a language model works only with the default encoder and matcher"
            raise ConfigError("reader", "settings", expected)
        # MiniLM gives all texts in another language similar vectors: of 30 unrelated pairs in
        # Chinese, Russian or Arabic, 27 or 28 matched (docs/design/005-encoders.md).
        english_only = encoder.identity.startswith("minilm:")
        signature = {
            "version": __version__,
            "encoder": encoder.identity,
            "claims": generator.identity,
            # After a run, the tools that ran replace this value.
            "analyzers": suite.NONE,
            "matcher": matcher.identity,
            **({} if threshold is None else {"tau": str(threshold)}),
            **({} if reader is None else {"reader": reader.identity, "verdicts": judge.VERSION}),
            # After a run, what the model read replaces this value.
            **({} if model is None else {"readings": model.identity}),
            "splitter": sentences.identity(settings.splitter),
            **({"language": LANGUAGE_IDENTITY} if english_only else {}),
            "max_claims": str(settings.max_claims),
            "max_issues": str(settings.max_issues),
        }
        self.parts = pipeline.Parts(
            generator=generator,
            analyzers=analyzers,
            encoder=encoder,
            matcher=matcher,
            reader=reader,
            model=model,
            splitter=settings.splitter,
            english_only=english_only,
            max_claims=settings.max_claims,
            max_issues=settings.max_issues,
            threshold=threshold,
            signature=signature,
        )

    def score(
        self,
        diff: DiffLike,
        review: ReviewLike,
        *,
        language: str | None = None,
        path: str | None = None,
        sources: Mapping[str, tuple[str | None, str | None]] | None = None,
        originals: Mapping[int, Diff] | None = None,
        repository: Repository | None = None,
    ) -> Result:
        """Score one review of one change.

        Args:
            diff: A unified diff's text, or a parsed one.
            review: Markdown text, JSON of comments, or comments.
            language: Language of a bare hunk, which has no path.
            path: Path of a bare hunk.
            sources: Complete files: path -> (old text, new text), each None if unknown.
            originals: Index of a comment on an older version of the change -> the part of that
                version that the comment was written on. The comment is scored against this part.
                In the scores of the review, its sentences may address either version.
            repository: The repository that the change belongs to, in which verdicts look up what
                the diff does not show.

        Returns:
            The scores, and all values from which they were computed.

        Raises:
            InputError: The diff or the review cannot be used.
            CRScoreError: A part of the run failed.
        """
        parsed = self.read_diff(diff, language=language, path=path, sources=sources)
        located = comments.resolve_absolute_paths(self.read_review(review), parsed)
        pair = pipeline.ReviewedChange(parsed, located, originals or {}, repository)
        return pipeline.run([pair], self.parts)[0]

    @overload
    def score_many(self, pairs: Iterable[tuple[DiffLike, ReviewLike]]) -> tuple[Result, ...]: ...

    @overload
    def score_many(
        self, pairs: Iterable[tuple[DiffLike, ReviewLike]], *, on_error: Literal["keep"]
    ) -> tuple[Result | CRScoreError, ...]: ...

    def score_many(
        self,
        pairs: Iterable[tuple[DiffLike, ReviewLike]],
        *,
        on_error: Literal["raise", "keep"] = "raise",
    ) -> tuple[Result | CRScoreError, ...]:
        """Score many pairs of a diff and a review. Equal diffs and equal texts are processed once.

        Args:
            pairs: Any number of pairs.
            on_error: With `raise`, the first error ends the run. With `keep`, the error of a pair
                that cannot be read or scored is its result, and the other pairs are scored. An
                error that concerns all pairs (a model, package or server is missing) is always
                raised.

        Returns:
            One result per pair, in order; with `keep`, an error instead of the result of a pair
            that failed.

        Raises:
            InputError: A diff or a review cannot be used, and `on_error` is `raise`.
            ModelNotFoundError, DependencyError, EngineError: No pair can be scored.
            CRScoreError: A part of the run failed, and `on_error` is `raise`.
        """
        parsed: dict[str | bytes, Diff] = {}
        changes: list[pipeline.ReviewedChange | CRScoreError] = []
        for pair in pairs:
            try:
                changes.append(self._read_pair(*pair, parsed))
            except CRScoreError as exc:
                if on_error != "keep":
                    raise
                changes.append(exc)
        scorable = [change for change in changes if isinstance(change, pipeline.ReviewedChange)]
        results = iter(self._run(scorable, keep=on_error == "keep"))
        return tuple(
            change if isinstance(change, CRScoreError) else next(results) for change in changes
        )

    def requests(self, pairs: Iterable[tuple[DiffLike, ReviewLike]]) -> "list[list[Request]]":
        """Return, for each pair in order, the requests to a language model that reads the comments.

        Args:
            pairs: Changes with their reviews, as for `score_many`.

        Raises:
            InputError: A diff or a review cannot be used.
            CRScoreError: The change cannot be analyzed.
        """
        parsed: dict[str | bytes, Diff] = {}
        changes = [self._read_pair(*pair, parsed) for pair in pairs]
        from crscore.readers.requests import make_requests  # noqa: PLC0415  (most runs have no model)

        return pipeline.list_requests(changes, self.parts, make_requests)

    def _read_pair(
        self, change: DiffLike, review: ReviewLike, parsed: dict[str | bytes, Diff]
    ) -> pipeline.ReviewedChange:
        if isinstance(change, str | bytes):
            if change not in parsed:
                parsed[change] = self.read_diff(change)
            change = parsed[change]
        read = comments.resolve_absolute_paths(self.read_review(review), change)
        return pipeline.ReviewedChange(change, read)

    def _run(
        self, pairs: Sequence[pipeline.ReviewedChange], *, keep: bool
    ) -> list[Result | CRScoreError]:
        """Score pairs together; if that fails, with `keep`, score each alone to keep its error."""
        try:
            return list(pipeline.run(pairs, self.parts))
        except CRScoreError as exc:
            if not keep or isinstance(exc, _COMMON_ERRORS):
                raise
            if len(pairs) == 1:
                return [exc]
        return [self._run([pair], keep=True)[0] for pair in pairs]

    def read_diff(
        self,
        change: DiffLike,
        *,
        source: str = "<diff>",
        language: str | None = None,
        path: str | None = None,
        sources: Mapping[str, tuple[str | None, str | None]] | None = None,
    ) -> Diff:
        """Parse a diff, within the limits of the settings.

        Args:
            change: A unified diff's text, or a parsed one.
            source: Name of the text in messages.
            language: Language of a bare hunk.
            path: Path of a bare hunk.
            sources: Complete files: path -> (old text, new text), each None if unknown.

        Returns:
            The parsed change.

        Raises:
            InputError: The text is not a diff, or is larger than a limit.
        """
        if isinstance(change, str | bytes):
            limits = diff_limits(self.settings)
            change = parse.parse_diff(
                change, source=source, language=language, path=path, limits=limits
            )
        return parse.with_sources(change, sources) if sources else change

    def read_review(self, review: ReviewLike, *, source: str = "<review>") -> tuple[Comment, ...]:
        """Parse a review, within the limits of the settings.

        Args:
            review: Markdown text, JSON of comments, or comments.
            source: Name of the text in messages.

        Returns:
            Its comments.

        Raises:
            InputError: The review cannot be read, or is larger than a limit.
        """
        if isinstance(review, str | bytes):
            max_bytes = self.settings.max_review_bytes
            return comments.parse_review(review, source=source, max_bytes=max_bytes)
        return (review,) if isinstance(review, Comment) else tuple(review)


def diff_limits(settings: Config) -> parse.DiffLimits:
    """Return the limits of the settings for the size of a change."""
    return parse.DiffLimits(
        max_diff_bytes=settings.max_diff_bytes,
        max_files=settings.max_files,
        max_hunks=settings.max_hunks,
        max_line_length=settings.max_line_length,
        max_source_bytes=settings.max_source_bytes,
    )


def make_encoder(settings: Config, *, threads: int | None = None) -> Encoder:
    """Make the encoder that the settings name.

    Args:
        settings: `encoder` is NAME[:MODEL].
        threads: Number of encoding threads, if the encoder supports it; None for its default.

    Returns:
        The encoder, which loads its model at first use.

    Raises:
        ConfigError: The encoder does not take that model or revision.
        UnknownPluginError: No encoder has that name.
    """
    name, _, model = settings.encoder.partition(":")
    model_options = {"model": model, "revision": settings.revision}
    encoder: Encoder = plugins.create(
        "encoders",
        name,
        {key: value for key, value in model_options.items() if value},
        offered={"offline": settings.offline, "threads": threads},
    )
    return encoder


def make_generator(settings: Config) -> ClaimGenerator:
    """Make the claim generator that the settings name.

    Args:
        settings: `claims`, and the settings of a language model.

    Returns:
        The generator, which loads its model at first use.

    Raises:
        ConfigError: The generator lacks a required setting.
        UnknownPluginError: No generator has that name.
    """
    name, _, argument = settings.claims.partition(":")
    offered = model_options(settings)
    if settings.cache:
        offered["cache_dir"] = str(_cache_folder(settings))
    generator: ClaimGenerator = plugins.create(
        "claims", name, {"argument": argument} if argument else {}, offered=offered
    )
    return generator


def make_model_reader(settings: Config) -> "ModelReader | None":
    """Make the language model that reads remarks.

    Args:
        settings: `reader`, and the settings of a language model. `lora` is not used, because it is
            for claims only.

    Returns:
        The reader, which loads its model at first use; None if only the network reads remarks.

    Raises:
        ConfigError: No model or file is named, or an option is invalid.
        InputError: A recording cannot be read.
    """
    name, _, argument = settings.reader.partition(":")
    if name == NETWORK and not argument:
        return None
    from crscore.readers import model, replay, requests  # noqa: PLC0415  (most runs have no model)

    if name == "replay":
        respondent = replay.read_recording(argument)
    elif name in plugins.names("engines"):
        from crscore.claims.model import make_engine  # noqa: PLC0415

        options = model_options(settings)["engine"] | {"lora": None}
        options["model"] = argument or settings.model
        if not options["model"]:
            raise ConfigError("reader", "settings", f"{name} needs a model: {name}:MODEL")
        respondent = model.make_respondent(
            # The same settings are also for the claims, so an option that only the engine of the
            # claims has is not an error.
            make_engine(name, options, is_strict=False),
            # The default of the setting, 512, is for claims; the answers of a reader are longer.
            max_tokens=max(settings.max_new_tokens, requests.MAX_TOKENS),
            temperature=settings.temperature,
        )
    else:
        reader_names = ", ".join([NETWORK, *(f"{name}:MODEL" for name in plugins.names("engines"))])
        expected = f"must be {reader_names} or replay:FILE, not {settings.reader!r}"
        raise ConfigError("reader", "settings", expected)
    return model.ModelReader(
        respondent,
        cache=make_cache(settings) if settings.cache and name != "replay" else None,
        limit=settings.reader_limit,
        prices=model.Prices(*map(float, settings.reader_price.split(",")))
        if settings.reader_price
        else None,
    )


def model_options(settings: Config) -> dict[str, Any]:
    """Return the options of claim generators that are set; those of engines are under `engine`."""
    options = {
        _ENGINE_NAMES.get(key, key): getattr(settings, key)
        for key in (*ModelSettings.__struct_fields__, "offline")
    }
    options |= {"base_url": variable("OPENAI_BASE_URL"), "api_key": variable("OPENAI_API_KEY")}
    options = {key: value for key, value in options.items() if value is not None}
    of_generators = ModelOptions.__struct_fields__
    return options | {"engine": {key: options[key] for key in options if key not in of_generators}}


def _make_matcher(
    settings: Config, encoder: Encoder, generator: ClaimGenerator
) -> tuple[Matcher, float | None]:
    """Return the matcher that the settings name, and its cosine threshold; None without one."""
    name, _, weights = settings.matcher.partition(":")
    if name == AUTO:
        # The weights of `calibrated` are trained for one encoder, and only `published` has a
        # threshold.
        calibrated = plugins.load("matchers", "calibrated")
        fits = settings.threshold is None and calibrated.knows(encoder.identity)
        name = "calibrated" if fits else "published"
    option_names = plugins.options_class(plugins.load("matchers", name)).__struct_fields__
    if weights and "weights" not in option_names:
        raise ConfigError("matcher", "settings", f"{name} takes no file, but {weights!r} is given")
    # Cosines are not comparable across encoders or kinds of claims: 0.7314 was published for one
    # encoder, 0.31 was measured for another (docs/design/002-scores.md).
    threshold = settings.threshold
    if threshold is not None and "threshold" not in option_names:
        raise ConfigError("threshold", "settings", f"has no effect on the matcher {name}")
    if threshold is None and "threshold" in option_names:
        threshold = thresholds.threshold_for(encoder.identity, generator.identity)
        fallback = getattr(generator, "fallback", None)
        if fallback and threshold != thresholds.threshold_for(encoder.identity, fallback.identity):
            expected = (
                "auto may use a model's claims or structural ones, whose thresholds differ: "
                "name the generator, or set --threshold"
            )
            raise ConfigError("claims", "settings", expected)
    values = {"weights": weights} if weights else {}
    offered = {"encoder": encoder.identity, "threshold": threshold}
    return plugins.create("matchers", name, values, offered=offered), threshold


def make_analyzers(
    settings: Config, *, reports: tuple[RawReport, ...] = (), untrusted: bool = False
) -> Suite:
    """Make the static analysis that the settings describe.

    Args:
        settings: `analyzers`, `tools_dir`, `trust`, and the settings of the cache.
        reports: Findings of tools that ran before, from SARIF files.
        untrusted: Whether the changes are untrusted.

    Returns:
        The analyzers, whose tools are searched for at the first analysis.

    Raises:
        ConfigError: An analyzer's folder cannot be used.
        UnknownPluginError: No analyzer has that name.
    """
    return Suite(
        analyzers=suite.select(settings.analyzers),
        tools=Path(settings.tools_dir) if settings.tools_dir else tools.default_folder(),
        path=search_path(),
        cache=make_cache(settings) if settings.cache else None,
        reports=reports,
        untrusted=untrusted and not settings.trust,
    )


def make_cache(settings: Config) -> cache.Cache:
    """Make the cache in the folder that the settings name; its file is opened at first use."""
    return cache.Cache(_cache_folder(settings))


def _cache_folder(settings: Config) -> Path:
    return Path(settings.cache_dir) if settings.cache_dir else cache.default_folder()
