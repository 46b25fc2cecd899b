"""The Python API: from settings to parts, from texts to results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crscore import cache, pipeline, plugins
from crscore import settings as config
from crscore.claims.llm.merged import Merged
from crscore.diff import parse
from crscore.errors import ConfigError
from crscore.records import Comment
from crscore.review import comments, sentences
from crscore.scoring import thresholds
from crscore.static_analysis import suite, tools
from crscore.static_analysis.suite import Suite
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.encoders.base import Encoder
    from crscore.matchers.base import Matcher
    from crscore.pipeline import Analyzers
    from crscore.records import Diff, Result
    from crscore.static_analysis.reports import RawReport

    DiffLike = Diff | str | bytes
    ReviewLike = str | bytes | Comment | Sequence[Comment]


class Scorer:
    r"""Scores reviews of changes; loads its model once, at the first score.

    Args:
        settings: A `Config`; the defaults when None. The environment and `pyproject.toml` are
            read by the command line alone.
        generator: A claim generator to use instead of the one the settings name.
        encoder: An encoder to use instead of the one the settings name.
        matcher: A matcher to use instead of the one the settings name.
        analyzers: Static analysis to use instead of the one the settings name.
        reports: Findings of tools outside of this run, from `crscore.static_analysis.sarif`,
            beside those of the analyzers that the settings name.
        **overrides: Single settings by name: `Scorer(claims="replay:claims.jsonl")`.

    Raises:
        ConfigError: An unknown setting or a wrong value.
        ManifestError: A setting names an analyzer's folder that cannot be used.
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
        settings: config.Config | None = None,
        *,
        generator: ClaimGenerator | None = None,
        encoder: Encoder | None = None,
        matcher: Matcher | None = None,
        analyzers: Analyzers | None = None,
        reports: Sequence[RawReport] = (),
        **overrides: Any,
    ) -> None:
        if isinstance(encoder, str):
            overrides["encoder"], encoder = encoder, None
        if isinstance(matcher, str):
            overrides["matcher"], matcher = matcher, None
        if isinstance(analyzers, str):
            overrides["analyzers"], analyzers = analyzers, None
        base = settings or config.Config()
        self.settings = config.override_settings(base, overrides) if overrides else base
        analyzers = analyzers or make_analyzers(self.settings, reports=tuple(reports))
        self.parts = _parts(self.settings, generator, encoder, matcher, analyzers)

    def score(
        self,
        diff: DiffLike,
        review: ReviewLike,
        *,
        language: str | None = None,
        path: str | None = None,
        sources: Mapping[str, tuple[str | None, str | None]] | None = None,
        originals: Mapping[int, Diff] | None = None,
    ) -> Result:
        """Score one review of one change.

        Args:
            diff: A unified diff's text, or a parsed one.
            review: Markdown text, JSON of comments, or comments.
            language: Language of a bare hunk.
            path: Path of a bare hunk.
            sources: Whole files: path -> (old text, new text), each None when unknown.
            originals: For the index of a comment on an older version of the change: the part of
                that version that it was written on. The comment is scored against it, and its
                sentences count as on topic when they are on the topic of either version.

        Returns:
            The scores and everything that led to them.

        Raises:
            InputError: The diff or the review cannot be used.
            CRScoreError: A part of the run failed.
        """
        parsed = self.read_diff(diff, language=language, path=path, sources=sources)
        pair = pipeline.Pair(parsed, self.read_review(review), originals or {})
        return pipeline.run([pair], self.parts)[0]

    def score_many(self, pairs: Iterable[tuple[DiffLike, ReviewLike]]) -> tuple[Result, ...]:
        """Score many (diff, review) pairs; every distinct diff and text is handled once.

        Args:
            pairs: Any number; equal diff texts share their claims.

        Returns:
            One result a pair, in order.

        Raises:
            InputError: A diff or a review cannot be used; nothing is scored then.
            CRScoreError: A part of the run failed.
        """
        seen: dict[str | bytes, Diff] = {}
        work = []
        for change, review in pairs:
            if isinstance(change, str | bytes):
                if change not in seen:
                    seen[change] = self.read_diff(change)
                parsed = seen[change]
            else:
                parsed = change
            work.append(pipeline.Pair(parsed, self.read_review(review)))
        return pipeline.run(work, self.parts)

    def read_diff(
        self,
        change: DiffLike,
        *,
        source: str = "<diff>",
        language: str | None = None,
        path: str | None = None,
        sources: Mapping[str, tuple[str | None, str | None]] | None = None,
    ) -> Diff:
        """Parse a diff with this scorer's limits.

        Args:
            change: A unified diff's text, or a parsed one.
            source: What to call it in messages.
            language: Language of a bare hunk.
            path: Path of a bare hunk.
            sources: Whole files: path -> (old text, new text).

        Returns:
            The parsed change.

        Raises:
            InputError: It is no diff, or larger than a limit.
        """
        parsed = change
        if isinstance(parsed, str | bytes):
            limits = parse.Limits(
                max_diff_bytes=self.settings.max_diff_bytes,
                max_files=self.settings.max_files,
                max_hunks=self.settings.max_hunks,
                max_line_length=self.settings.max_line_length,
            )
            parsed = parse.parse_diff(
                parsed, source=source, language=language, path=path, limits=limits
            )
        return parse.with_sources(parsed, sources) if sources else parsed

    def read_review(self, review: ReviewLike, *, source: str = "<review>") -> tuple[Comment, ...]:
        """Parse a review with this scorer's limits.

        Args:
            review: Markdown text, JSON of comments, or comments.
            source: What to call it in messages.

        Returns:
            Its comments.

        Raises:
            InputError: It cannot be read, or is larger than a limit.
        """
        if isinstance(review, str | bytes):
            limits = comments.Limits(max_review_bytes=self.settings.max_review_bytes)
            return comments.parse_review(review, source=source, limits=limits)
        return (review,) if isinstance(review, Comment) else tuple(review)


def _parts(
    settings: config.Config,
    generator: ClaimGenerator | None,
    encoder: Encoder | None,
    matcher: Matcher | None,
    analyzers: Analyzers,
) -> pipeline.Parts:
    if encoder is None:
        encoder = make_encoder(settings)
    if generator is None:
        generator = make_generator(settings, encoder)
    threshold = None
    if matcher is None:
        matcher, threshold = _make_matcher(settings, encoder, generator)
    named = {
        "version": __version__,
        "encoder": encoder.identity,
        "claims": generator.identity,
        "analyzers": suite.NONE,
        **({} if settings.issues == "lines" else {"issues": settings.issues}),
        "matcher": matcher.identity,
        **({} if threshold is None else {"tau": str(threshold)}),
        "splitter": sentences.identity(settings.splitter),
        "max_claims": str(settings.max_claims),
        "max_issues": str(settings.max_issues),
    }
    return pipeline.Parts(
        generator=generator,
        analyzers=analyzers,
        encoder=encoder,
        matcher=matcher,
        splitter=settings.splitter,
        max_claims=settings.max_claims,
        max_issues=settings.max_issues,
        threshold=threshold,
        signature=named,
    )


def make_generator(
    settings: config.Config, encoder: Encoder, *, first: ClaimGenerator | None = None
) -> ClaimGenerator:
    """Make the claim generator that the settings name; several are joined by `+`.

    Args:
        settings: `claims`, and what a model needs.
        encoder: Says which claims of several generators mean the same.
        first: A generator whose claims go before those of the settings'.

    Returns:
        The generator; no model is loaded yet.

    Raises:
        ConfigError: A generator needs what is not set.
        UnknownPluginError: There is no generator of that name.
    """
    known = plugins.names("claims")
    parts = settings.claims.split("+")
    if any(part.partition(":")[0] not in known for part in parts[1:]):
        parts = [settings.claims]  # a path with a plus sign in it
    several = len(parts) > 1
    made = tuple(_one_generator(settings, part, several=several) for part in parts)
    made = made if first is None else (first, *made)
    return made[0] if len(made) == 1 else Merged(made, encoder)


def _one_generator(settings: config.Config, part: str, *, several: bool) -> ClaimGenerator:
    name, _, argument = part.partition(":")
    offered: dict[str, object] = {**model_options(settings), "several": several}
    if settings.cache:
        folder = Path(settings.cache_dir) if settings.cache_dir else cache.default_folder()
        offered["cache_dir"] = str(folder)
    given = {"argument": argument} if argument else {}
    made: ClaimGenerator = plugins.create("claims", name, given, offered=offered)
    return made


def model_options(settings: config.Config) -> dict[str, str]:
    """Name what an engine and a prompt need, as plugins take their options."""
    given: dict[str, object] = {
        "model": settings.model,
        "revision": settings.model_revision,
        "lora": settings.lora,
        "max_model_len": settings.max_model_len,
        "tensor_parallel": settings.tensor_parallel,
        "quantization": settings.quantization,
        "dtype": settings.dtype,
        "concurrency": settings.concurrency,
        "timeout_s": settings.model_timeout,
        "temperature": settings.temperature,
        "max_new_tokens": settings.max_new_tokens,
        "prompt": settings.prompt,
        "form": settings.form,
        "few_shots": None if settings.few_shots is None else str(settings.few_shots).lower(),
        "context": settings.context,
        "base_url": config.llm_address(),
        "api_key": config.llm_key(),
        "offline": str(settings.offline).lower(),
    }
    return {key: str(value) for key, value in given.items() if value is not None}


def _make_matcher(
    settings: config.Config, encoder: Encoder, generator: ClaimGenerator
) -> tuple[Matcher, float | None]:
    """Make the matcher that the settings name; with its cosine threshold, if it has one."""
    name, _, weights = settings.matcher.partition(":")
    if name == config.AUTO:
        # Learned weights fit one encoder; a threshold that somebody gave belongs to the rule.
        learned = plugins.load("matchers", "calibrated")
        fits = settings.threshold is None and learned.knows(encoder.identity)
        name = "calibrated" if fits else "published"
    module = plugins.load("matchers", name)
    options = {"encoder": encoder.identity, **({"weights": weights} if weights else {})}
    if weights and module.USES_THRESHOLD:
        raise ConfigError("matcher", "settings", f"{name} takes no file, so not {weights!r}")
    if not module.USES_THRESHOLD:
        if settings.threshold is not None:
            raise ConfigError("threshold", "settings", f"means nothing to the matcher {name}")
        return module.create(options), None
    threshold = settings.threshold
    if threshold is None:
        threshold = _threshold(encoder, generator)
    return module.create(options | {"threshold": str(threshold)}), threshold


def _threshold(encoder: Encoder, generator: ClaimGenerator) -> float:
    """Look up the threshold of an encoder for these claims; that of a model's for joined ones.

    Raises:
        ConfigError: A model may be replaced by `structural`, and the two have other thresholds.
    """
    if isinstance(generator, Merged):
        found = [thresholds.threshold_for(encoder.identity, one) for one in generator.kinds]
        return found[0] if len(set(found)) == 1 else thresholds.threshold_for(encoder.identity, "")
    threshold = thresholds.threshold_for(encoder.identity, generator.identity)
    fallback = getattr(generator, "fallback", None)
    if fallback is not None:
        other = thresholds.threshold_for(encoder.identity, fallback.identity)
        if other != threshold:
            raise ConfigError(
                "claims",
                "settings",
                "auto may write a model's claims or structural ones, whose thresholds differ: "
                "name the claims, or give --threshold",
            )
    return threshold


def make_analyzers(settings: config.Config, *, reports: tuple[RawReport, ...] = ()) -> Suite:
    """Make the static analysis that the settings name.

    Args:
        settings: `analyzers`, `issues`, `tools_dir`, and where to remember findings.
        reports: What tools outside of this run found, from SARIF files.

    Returns:
        The analyzers; no tool has been looked for yet.

    Raises:
        ManifestError: An analyzer's folder cannot be used.
        UnknownPluginError: There is no analyzer of that name.
    """
    return Suite(
        analyzers=suite.select(settings.analyzers),
        tools=Path(settings.tools_dir) if settings.tools_dir else tools.default_folder(),
        path=config.search_path(),
        cache=make_store(settings) if settings.cache else None,
        compat=settings.issues == "paper",
        reports=reports,
    )


def make_store(settings: config.Config) -> cache.Store:
    """Make the store that the settings name; its file is opened when it is first used."""
    folder = Path(settings.cache_dir) if settings.cache_dir else cache.default_folder()
    return cache.Store(folder)


def make_encoder(settings: config.Config) -> Encoder:
    """Make the encoder that the settings name.

    Args:
        settings: `encoder` is NAME[:MODEL].

    Returns:
        The encoder, its model not yet loaded.

    Raises:
        UnknownPluginError: There is no such encoder.
    """
    name, _, model = settings.encoder.partition(":")
    options = {"offline": str(settings.offline).lower()}
    if model:
        options["model"] = model
    if settings.revision:
        options["revision"] = settings.revision
    made: Encoder = plugins.load("encoders", name).create(options)
    return made
