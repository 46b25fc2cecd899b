"""Settings of a run: flags override the environment, then `[tool.crscore]`, then the defaults.

`Config` is the only table of settings. The annotation of a field has its type, limits, help text
and command-line placeholder, from which `commands/_settings.py` makes the options.

The environment variables of crscore (`CRSCORE_*`), of a model server (`OPENAI_*`) and of code hosts
(`GITHUB_TOKEN`, `GITLAB_TOKEN`, ...) are read only here. The variables of a GitHub Actions runner
are read in `crscore.github.actions.environment`. Code that starts a program also reads the
variables that it passes to the program.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import Meta, inspect

from crscore.errors import COMMAND_LINE, ConfigError

AUTO = "auto"
"""Value of `matcher` for the best matcher of the encoder, and of `claims` for the configured model,
or structural claims without one."""
NETWORK = "network"
"""Value of `reader` for the network alone, without a language model."""
ENVIRONMENT_PREFIX = "CRSCORE_"
ENCODER_DIR = "CRSCORE_ENCODER_DIR"
COMMENT_KEY = "CRSCORE_COMMENT_KEY"
# Every other variable with the prefix must name a setting, so that a misspelled one is an error.
NON_SETTING_VARIABLES = frozenset(
    {"CRSCORE_AUDIT_STORE", "CRSCORE_WEBHOOK", ENCODER_DIR, COMMENT_KEY}
)
"""Variables with the prefix that are not settings: options of `crscore audit`, the folder of the
encoder's files, and the secret that identifies comments.
"""
MAX_LIMIT = 2**40
"""Maximum value of a limit: larger than any practical value, smaller than the largest file
offset."""


def _help(text: str, metavar: str | None = None, *, group: str | None = None) -> Meta:
    """Describe a setting. Without a group, the setting has no option on the command line."""
    extra = {"metavar": metavar, "group": group}
    return Meta(description=text, extra={key: value for key, value in extra.items() if value})


_report = partial(_help, group="Report")
_gate = partial(_help, group="Gate")
_part = partial(_help, group="Parts of the run")
_analysis = partial(_help, group="Static analysis")
_model = partial(_help, group="Language model")
_storage = partial(_help, group="Cache and network")


Name = Annotated[str, Meta(min_length=1, extra={"metavar": "NAME"})]
Folder = Annotated[str, Meta(min_length=1, extra={"metavar": "DIR"})]
Revision = Annotated[str, Meta(min_length=1, extra={"metavar": "REV"})]
Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT, extra={"metavar": "N"})]
Devices = Annotated[int, Meta(ge=1, le=1024, extra={"metavar": "N"})]
Requests = Annotated[int, Meta(ge=1, le=1000, extra={"metavar": "N"})]
Seconds = Annotated[float, Meta(gt=0, le=86_400, extra={"metavar": "S"})]
Cosine = Annotated[float, Meta(gt=-1, lt=1, extra={"metavar": "X"})]
Standing = Annotated[float, Meta(ge=0, le=100, extra={"metavar": "N"})]
Share = Annotated[float, Meta(ge=0, le=1, extra={"metavar": "X"})]
Prices = Annotated[str, Meta(pattern=r"^\d+(\.\d+)?,\d+(\.\d+)?$")]
Form = Literal["json", "sections"]
Splitter = Literal["markdown", "paper"]
OnNothing = Literal["pass", "fail", "skip"]


_CLAIMS = "Claim generator; auto: the configured model, or structural without one."
_MATCHER = "Matcher; auto: calibrated if it has weights for the encoder, else published."
_READER = "Reader of remarks: network, or a language model: openai:MODEL, vllm:MODEL, replay:FILE."
_PRICE = "Prices of a million input and output tokens, to report the cost."
_ANALYZERS = "Analyzers to run: auto, none, or comma-separated names and folders."
_FAIL_UNDER = "Exit with 1 if the usefulness, a percentile among real reviews, is below N."
_ON_NOTHING = "What the gate does with a review without a score; skip: pass without a notice."


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the language model that writes claims or reads remarks."""

    model: Annotated[Name | None, _model("Language model for claims and reader.")] = None
    model_revision: Annotated[Revision | None, _model("Revision of the model.")] = None
    lora: Annotated[Folder | None, _model("LoRA adapter of the model, for claims.")] = None
    max_model_len: Annotated[Limit | None, _model("Maximum tokens of prompt plus answer.")] = None
    tensor_parallel: Annotated[Devices | None, _model("GPUs that share the model.")] = None
    quantization: Annotated[Name | None, _model("Quantization method of the weights.")] = None
    dtype: Annotated[Name | None, _model("Numeric type of the weights: bfloat16, ...")] = None
    concurrency: Annotated[Requests | None, _model("Parallel requests (default: 16).")] = None
    model_timeout: Annotated[Seconds | None, _model("Maximum seconds per answer.")] = None
    temperature: Annotated[float, Meta(ge=0, le=2), _model("Sampling temperature.", "T")] = 0.0
    max_new_tokens: Annotated[Limit, _model("Maximum tokens per answer.")] = 512
    form: Annotated[Form | None, _model("Answer format (default: as in training, or json).")] = None
    few_shots: Annotated[bool | None, _model("Show examples (default: as in training).")] = None
    prompt: Annotated[Name | None, _model("Prompt (default: as in training, or claims.v1).")] = None


class Config(ModelSettings, frozen=True, kw_only=True):
    """Settings of one run with their defaults."""

    preset: Annotated[Literal["default", "paper"], _part("Named set of settings.")] = "default"
    encoder: Annotated[Name, _part("Sentence encoder.", "NAME[:MODEL]")] = "minilm"
    revision: Annotated[Revision | None, _part("Revision of the encoder's model.")] = None
    claims: Annotated[Name, _part(_CLAIMS, "NAME[:ARGUMENT]")] = AUTO
    matcher: Annotated[Name, _part(_MATCHER, "NAME[:FILE]")] = AUTO
    threshold: Annotated[Cosine | None, _part("Cosine threshold (default: the encoder's).")] = None
    reader: Annotated[Name, _part(_READER, "NAME[:ARGUMENT]")] = NETWORK
    reader_limit: Annotated[Limit | None, _model("Maximum requests to the reader in a run.")] = None
    reader_price: Annotated[Prices | None, _model(_PRICE, "READ,WRITTEN")] = None
    splitter: Annotated[Splitter, _part("Sentence splitter.")] = "markdown"
    max_claims: Annotated[Limit | None, _part("Maximum number of claims that count.")] = 12
    analyzers: Annotated[Name, _analysis(_ANALYZERS, "NAMES")] = "auto"
    trust: Annotated[bool, _analysis("Run analyzers even if no sandbox is available.")] = False
    max_issues: Annotated[Limit, _analysis("Maximum issues that count per hunk, worst first.")] = 3
    tools_dir: Annotated[Folder | None, _analysis("Folder of analyzers from npm.")] = None
    cache_dir: Annotated[Folder | None, _storage("Cache folder (default: the system's).")] = None
    cache: Annotated[bool, _storage("Cache findings and answers of models.")] = True
    format: Annotated[Name, _report("Report format.")] = "text"
    signature: Annotated[bool, _report("Show the full signature in a text report.")] = False
    offline: Annotated[bool, _storage("Do not use the network; load models from disk.")] = False
    fail_under: Annotated[Standing | None, _gate(_FAIL_UNDER)] = None
    fail_under_low: Annotated[
        Standing | None, _gate("Exit with 1 if the low end of the usefulness interval is below N.")
    ] = None
    fail_under_relevance: Annotated[
        Share | None, _gate("Exit with 1 if the relevance (0 to 1) is below X.")
    ] = None
    # A review without a score passes, because failing it would mean a score of 0
    # (docs/design/001-rooms.md).
    on_nothing: Annotated[OnNothing, _gate(_ON_NOTHING)] = "pass"
    max_diff_bytes: Annotated[Limit, _help("Maximum size of a diff in bytes.")] = 10_000_000
    # GitHub lists at most this number of files for a pull request:
    # https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
    max_files: Annotated[Limit, _help("Maximum files in a diff.")] = 3_000
    max_hunks: Annotated[Limit, _help("Maximum hunks in a diff.")] = 20_000
    max_line_length: Annotated[Limit, _help("Maximum characters of a line of a diff.")] = 100_000
    max_review_bytes: Annotated[Limit, _help("Maximum bytes of a review file.")] = 10_000_000
    max_sarif_bytes: Annotated[Limit, _help("Maximum bytes of a SARIF file.")] = 20_000_000
    max_source_bytes: Annotated[Limit, _help("Maximum bytes of a source file.")] = 2_000_000

    @property
    def thresholds(self) -> dict[str, float]:
        """Thresholds that are set for the quality gate, by option; empty without a gate."""
        values = msgspec.structs.asdict(self)
        names = [name for name in values if name.startswith("fail_under")]
        return {name.replace("_", "-"): values[name] for name in names if values[name] is not None}


class Setting(NamedTuple):
    """Description of one field of `Config`."""

    kind: inspect.Type
    """Type with its limits; for an optional setting, without None."""
    default: Any
    help: str
    metavar: str | None
    group: str | None
    """Heading above its option in the help of a command; None for a setting without an option."""


def _describe(field: msgspec.structs.FieldInfo) -> Setting:
    kind, extra = inspect.type_info(field.type), dict[str, Any]()
    # Outer metadata override inner metadata: a field's help overrides the help of its type.
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        if isinstance(kind, inspect.Metadata):
            extra = {**(kind.extra or {}), **(kind.extra_json_schema or {}), **extra}
            kind = kind.type
        else:
            kind = kind.types[0]
    if isinstance(kind, inspect.LiteralType):
        extra["metavar"] = "|".join(map(str, kind.values))
    texts = extra["description"], extra.get("metavar"), extra.get("group")
    return Setting(kind, field.default, *texts)


SETTINGS: Mapping[str, Setting] = {
    field.name: _describe(field) for field in msgspec.structs.fields(Config)
}
"""Settings by name."""
_TYPES = get_type_hints(Config, include_extras=True)
_PRESET_SETTINGS = ("encoder", "claims", "matcher", "splitter", "threshold", "revision")
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {name: SETTINGS[name].default for name in _PRESET_SETTINGS},
    "paper": {
        "encoder": "st:mixedbread-ai/mxbai-embed-large-v1",
        "matcher": "published",
        "splitter": "paper",
        "threshold": 0.7314,  # arXiv:2409.19801, for this encoder
        "revision": None,
    },
}
"""Settings of each preset. `paper` does not set `claims`, because the paper's claims need a
model."""

# "owner/model", "model", "model:7b" (with a tag of Ollama); not a path
_MODEL_NAME = r"(?a:[\w-][\w.-]*(?:/[\w-][\w.-]*)?(?::[\w.-]+)?)"
# "structural", "vllm:owner/model", "replay"; not "replay:FILE"
_GENERATOR = rf"(?!\s*replay\s*:.)[\w\s-]*(?::(?:{_MODEL_NAME})?)?"
# matches nothing
_NO_VALUE = r"(?!)"
_MODEL_NAME_SETTINGS = frozenset({"model", "encoder", "claims", "reader"})
# In 2025 a `.rubocop.yml` in a pull request made CodeRabbit run its code:
# https://kudelskisecurity.com/research/how-we-exploited-coderabbit-from-a-simple-pr-to-rce-and-write-access-on-1m-repositories
# A settings file of crscore must not allow the same (docs/design/013-untrusted-code.md).
_NO_OWN_FILE = "may name models but no folder or recording, as a change could contain one"
# The settings file may be part of the change that is scored, and a change must not choose programs
# that run.
FILE_RULES: Mapping[str, tuple[str, str]] = {
    "analyzers": (r"[\w\s,-]*", "may name analyzers but no folder, as its contents are executed"),
    "tools_dir": (_NO_VALUE, "cannot be set in a file, as the folder's contents are executed"),
    "trust": (_NO_VALUE, "cannot be set in a file, as untrusted code could contain one"),
    "cache_dir": (_NO_VALUE, "cannot be set in a file, as the folder's contents are trusted"),
    "lora": (_NO_VALUE, "cannot be set in a file, as the folder's contents are loaded"),
    "model": (_MODEL_NAME, "may name a model but no folder, as its contents are loaded"),
    "claims": (_GENERATOR, _NO_OWN_FILE),
    "reader": (_GENERATOR, _NO_OWN_FILE),
    "encoder": (
        rf"[^:]*(?::(?:{_MODEL_NAME})?)?",
        "may name a model but no folder, as its contents are loaded",
    ),
    "matcher": (r"[^:]*", "may name a matcher but no file, as a change could contain one"),
}
"""Setting -> pattern of the values that a settings file may have, and message for other values."""


def resolve_settings(
    flags: Mapping[str, Any],
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | str | None,
) -> Config:
    """Merge the flags, the environment and the file into one configuration.

    A preset sets its values at the level that names the preset, and higher levels override them.

    Args:
        flags: Settings on the command line, by field name; None means not set.
        environment: Environment variables; None for those of this process. Every variable that
            starts with `CRSCORE_`, except `NON_SETTING_VARIABLES`, must name a setting.
        file: Path of a `pyproject.toml`, or None. A text is the content of the `pyproject.toml` of
            a base branch, which need not have `[tool.crscore]`.

    Returns:
        The merged settings.

    Raises:
        ConfigError: A key is unknown, or a value has a wrong type or is out of range.
    """
    variables = os.environ if environment is None else environment
    # Later levels override earlier ones.
    levels: tuple[tuple[Mapping[str, Any], str], ...] = (
        ({} if file is None else _read_file(file), _origin(file)),
        (
            {
                name.removeprefix(ENVIRONMENT_PREFIX).lower(): value
                for name, value in sorted(variables.items())
                if name.startswith(ENVIRONMENT_PREFIX) and name not in NON_SETTING_VARIABLES
            },
            "environment",
        ),
        ({key: value for key, value in flags.items() if value is not None}, COMMAND_LINE),
    )
    values: dict[str, Any] = {}
    for level, origin in levels:
        values |= _convert(level, origin)
    return Config(**values)


def override_settings(settings: Config, values: Mapping[str, Any]) -> Config:
    """Change single settings.

    Args:
        settings: The settings to start from.
        values: New values by field name; a `preset` is applied before the others.

    Returns:
        The changed settings.

    Raises:
        ConfigError: A key is unknown, or a value has a wrong type or is out of range.
    """
    return msgspec.structs.replace(settings, **_convert(values, "argument"))


def _convert(values: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Check and convert the values of one level, and add those of its preset that are not set."""
    checked = {key: _convert_value(key, value, origin) for key, value in values.items()}
    return {**PRESETS.get(checked.get("preset", ""), {}), **checked}


def _convert_value(key: str, value: Any, origin: str) -> Any:
    displayed_key = f"{ENVIRONMENT_PREFIX}{key.upper()}" if origin == "environment" else key
    if key not in SETTINGS:
        close_names = difflib.get_close_matches(key, SETTINGS, n=3)
        introduction = "did you mean" if close_names else "the settings are"
        raise ConfigError(
            displayed_key,
            origin,
            f"is not a setting; {introduction}: {', '.join(close_names or sorted(SETTINGS))}",
        )
    kind, raw_value = SETTINGS[key].kind, value
    if isinstance(kind, inspect.BoolType) and isinstance(value, str):
        # msgspec converts "true", "false", "1" and "0", but not "yes" and "no".
        raw_value = {"yes": True, "no": False}.get(value.lower(), value)
    try:
        converted = msgspec.convert(raw_value, _TYPES[key], strict=False)
    except msgspec.ValidationError:
        expected = f"must be {_describe_values(kind)}, not {value!r}"
        raise ConfigError(displayed_key, origin, expected) from None
    # Nearly every review would pass a threshold such as 0.3, which is probably a share by mistake.
    if key in ("fail_under", "fail_under_low") and converted is not None and 0 < converted <= 1:
        expected = (
            f"must be from 0 to 100, and {value} looks like a relevance, whose threshold is "
            "--fail-under-relevance (in a file, fail_under_relevance)"
        )
        raise ConfigError(displayed_key, origin, expected)
    return converted


def _describe_values(kind: inspect.Type) -> str:
    """Describe the values that a type allows."""
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(map(str, kind.values))}"
    if not isinstance(kind, inspect.IntType | inspect.FloatType):
        return "like 0.25,2" if getattr(kind, "pattern", None) else "a string"
    number = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
    if kind.ge is not None and kind.le is not None:
        return f"{number} from {kind.ge:,.15g} to {kind.le:,.15g}"
    bounds = {"above": kind.gt, "at least": kind.ge, "below": kind.lt, "at most": kind.le}
    limits = " and ".join(
        f"{word} {bound:,.15g}" for word, bound in bounds.items() if bound is not None
    )
    return f"{number} {limits}"


def _read_file(file: Path | str) -> dict[str, Any]:
    origin = _origin(file)
    table = _read_tools(file).get("crscore", {} if isinstance(file, str) else None)
    if not isinstance(table, dict):
        raise ConfigError("[tool.crscore]", origin, "must be a table in this file")
    # Keys in TOML files usually have hyphens, as options do.
    values = {key.replace("-", "_"): value for key, value in table.items()}
    if len(values) < len(table):
        raise ConfigError("[tool.crscore]", origin, "sets a key twice, once with - and once with _")
    for key, (allowed, message) in FILE_RULES.items():
        if key in values and not re.fullmatch(allowed, str(values[key])):
            flag, variable = f"--{key.replace('_', '-')}", f"{ENVIRONMENT_PREFIX}{key.upper()}"
            raise ConfigError(key, origin, f"{message}; use {flag} or {variable}")
    for key in _MODEL_NAME_SETTINGS & values.keys():
        value = str(values[key])
        name = (value if key == "model" else value.partition(":")[2]).strip()
        # The name of a model on a hub is also a path, and a change could contain that folder.
        if name and Path(name).exists():
            raise ConfigError(key, origin, f"{FILE_RULES[key][1]}, and {name} is a folder here")
    return values


def find_settings_file(start: Path) -> Path | None:
    """Find the nearest `pyproject.toml` that has `[tool.crscore]`.

    Args:
        start: The folder to search first, before its parents.

    Returns:
        The file, or None.

    Raises:
        ConfigError: A file in one of these folders cannot be read as TOML.
    """
    for folder in (start, *start.parents):
        candidate = folder / "pyproject.toml"
        if candidate.is_file() and "crscore" in _read_tools(candidate):
            return candidate
    return None


def _read_tools(file: Path | str) -> dict[str, Any]:
    try:
        # `tomllib` does not skip a byte order mark, which editors on Windows may write.
        text = file if isinstance(file, str) else file.read_text("utf-8-sig")
        tools = tomllib.loads(text).get("tool")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise ConfigError("[tool.crscore]", _origin(file), f"cannot be read: {reason}") from exc
    return tools if isinstance(tools, dict) else {}


def _origin(file: Path | str | None) -> str:
    return "pyproject.toml of the base branch" if isinstance(file, str) else str(file)


def variable(*names: str) -> str | None:
    """Return the first of these environment variables that is not empty; None if there is none."""
    return next(filter(None, map(os.environ.get, names)), None)


def search_path() -> str:
    """Return the folders in which this system searches for programs (`PATH`)."""
    return os.environ.get("PATH", os.defpath)


def color_choice(*, is_terminal: bool) -> bool:
    """Return whether output has colors, by `NO_COLOR`, `FORCE_COLOR` or the kind of terminal."""
    # Any value that is not empty counts: https://no-color.org, https://force-color.org
    if variable("NO_COLOR"):
        return False
    if variable("FORCE_COLOR"):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"
