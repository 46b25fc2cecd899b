"""The settings of a run: what there is, and which values each may have.

`config.py` reads them from flags, environment and file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AUTO = "auto"
"""A matcher's name: the best one for the encoder. A claim generator's: the configured model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One run's settings, each with its default."""

    preset: str = "default"
    """A named set of settings: `default` or `paper`."""
    encoder: str = "minilm"
    """Encoder plugin, with an optional model: NAME[:MODEL]."""
    revision: str | None = None
    """Revision of the encoder's model; None for the plugin's pinned or newest one."""
    claims: str = AUTO
    """Claim generators, joined by `+`, each with an optional argument: NAME[:ARGUMENT]. `auto` is
    the configured model's, and `structural` where no model is configured."""
    model: str | None = None
    """Language model that writes claims: its name for the engine; None for none."""
    model_revision: str | None = None
    """Revision of that model; None for the engine's pinned or newest one."""
    lora: str | None = None
    """Folder of a LoRA adapter of that model."""
    max_model_len: int | None = None
    """Most tokens of a prompt and its answer together; None for the model's own."""
    tensor_parallel: int | None = None
    """GPUs that share the model; None for one."""
    quantization: str | None = None
    """How the model's weights are quantised, by the engine's name for it."""
    dtype: str | None = None
    """Type of the model's numbers, such as `bfloat16`; None for the model's own."""
    concurrency: int | None = None
    """Requests to a model server at the same time; None for the engine's default."""
    model_timeout: float | None = None
    """Seconds that a model server may take for one answer; None for the engine's default."""
    temperature: float = 0.0
    """Temperature of the model, from 0, which is greedy, to 2."""
    max_new_tokens: int = 512
    """Most tokens of one answer of the model."""
    prompt: str | None = None
    """Prompt for claims, a file in `prompts/`; None for the one that the model was trained with,
    else `claims.v1`."""
    form: str | None = None
    """What the model's answer looks like: `json`, or `sections`, the published two; None for how
    the model was trained, else `json`."""
    few_shots: bool | None = None
    """Show the model the prompt's examples; None for how it was trained, else yes."""
    context: str = "hunk"
    """What the model sees of the code: `hunk`, or `function` for the enclosing function, too."""
    matcher: str = AUTO
    """Matcher plugin; `auto` is `calibrated` for the encoder it knows, else `published`.
    `calibrated:FILE` takes weights of one's own."""
    threshold: float | None = None
    """Cosine cut-off of the published matcher, in (-1, 1); None for the encoder's own."""
    splitter: str = "markdown"
    """How a review becomes sentences: `markdown`, or `paper` for the published rule."""
    max_claims: int = 12
    """Most claims and implications a score counts; issues come on top."""
    analyzers: str = "auto"
    """Static analysis: `auto`, `none`, or names and folders of analyzers, with commas."""
    max_issues: int = 3
    """Most issues of one hunk that a score counts, the worst ones."""
    issues: str = "lines"
    """Issues of the changed lines: `lines`, or `paper` for the published way of finding them."""
    tools_dir: str | None = None
    """Folder of the analyzers' own programs; None for one in the Python environment."""
    cache_dir: str | None = None
    """Folder of the store; None for the system's folder for caches."""
    cache: bool = True
    """Remember findings from run to run."""
    format: str = "text"
    """Report plugin."""
    explain: bool = False
    """Show every cell that decided the score."""
    offline: bool = False
    """Use no network: models come from this disk. The command line then refuses every socket."""
    fail_under: float | None = None
    """Exit with code 1 when relevance is below this, in [0, 1]."""
    max_diff_bytes: int = 10_000_000
    """Largest diff read, in bytes."""
    max_files: int = 3_000
    """Most files in a diff."""
    max_hunks: int = 20_000
    """Most hunks in a diff."""
    max_line_length: int = 100_000
    """Longest line of a diff, in characters."""
    max_review_bytes: int = 10_000_000
    """Largest review file read, in bytes."""
    max_sarif_bytes: int = 20_000_000
    """Largest SARIF file read, in bytes."""
    max_source_bytes: int = 2_000_000
    """Largest whole source file read for context, in bytes; a larger one is left out."""


FORMS = ("json", "sections")
"""What a model's answer looks like."""
CONTEXTS = ("hunk", "function")
"""What a model sees of the code."""
ISSUES = ("lines", "paper")
"""Ways of choosing the findings that count."""
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {
        "encoder": "minilm",
        "claims": AUTO,
        "matcher": AUTO,
        "splitter": "markdown",
        "issues": "lines",
        "threshold": None,
        "revision": None,
    },
    "paper": {
        "encoder": "st:mixedbread-ai/mxbai-embed-large-v1",
        "matcher": "published",
        "splitter": "paper",
        "issues": "paper",
        "threshold": 0.7314,
        "revision": None,
    },
}
"""What each preset stands for. `paper` leaves the claims to the user: they are a model's."""


def _names_a_folder(value: object) -> str | None:
    plain = re.fullmatch(r"[\w\s,-]*", value) if isinstance(value, str) else None
    return None if plain else "may name analyzers but no folder, as what is in one is run"


# "owner/model", "model", "model:7b"; no path.
_MODEL = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?(:[\w.-]+)?", re.ASCII)


def _is_a_folder(value: object) -> str | None:
    plain = isinstance(value, str) and _MODEL.fullmatch(value)
    return None if plain else "may name a model but no folder, as what is in one is loaded"


def _claims_of_a_file(value: object) -> str | None:
    """Refuse arguments but a model's name; what is no text is refused later."""
    parts = value.split("+") if isinstance(value, str) else []
    for name, _, argument in (part.partition(":") for part in parts):
        if argument and name.strip() == "replay":
            return "may not replay claims, as a change would bring its own"
        if argument and (wrong := _is_a_folder(argument)):
            return wrong
    return None


def _encoder_of_a_file(value: object) -> str | None:
    _, _, model = value.partition(":") if isinstance(value, str) else ("", "", "")
    return _is_a_folder(model) if model else None


def _matcher_of_a_file(value: object) -> str | None:
    if isinstance(value, str) and ":" in value:
        return "may name a matcher but no file of weights, as a change would bring its own"
    return None


NOT_FROM_FILE: Mapping[str, Callable[[object], str | None]] = {
    "analyzers": _names_a_folder,
    "tools_dir": lambda _: "may not stand in a file, as what is in the folder is run",
    "cache_dir": lambda _: "may not stand in a file, as what is in the folder is believed",
    "lora": lambda _: "may not stand in a file, as what is in the folder is loaded",
    "model": _is_a_folder,
    "claims": _claims_of_a_file,
    "encoder": _encoder_of_a_file,
    "matcher": _matcher_of_a_file,
}
"""The file may be part of the change that is scored, and a change must not choose programs."""
FIELDS = {field.name: field for field in fields(Config)}
"""The settings by name."""
MAX_LIMIT = 2**40
"""Largest value of a limit; far above any use, far below what a file offset can be."""


def _positive(value: int) -> str | None:
    return None if 0 < value <= MAX_LIMIT else f"above 0 and at most {MAX_LIMIT}"


RANGES: Mapping[str, Callable[[Any], str | None]] = {
    "preset": lambda value: None if value in PRESETS else f"one of {', '.join(PRESETS)}",
    "concurrency": lambda value: None if 1 <= value <= 1000 else "from 1 to 1000",
    "context": lambda value: None if value in CONTEXTS else f"one of {', '.join(CONTEXTS)}",
    "form": lambda value: None if value in FORMS else f"one of {', '.join(FORMS)}",
    "model_timeout": lambda value: None if 0 < value <= 86_400 else "above 0 and at most 86400",
    "temperature": lambda value: None if 0 <= value <= 2 else "from 0 to 2",
    "tensor_parallel": lambda value: None if 1 <= value <= 1024 else "from 1 to 1024",
    "issues": lambda value: None if value in ISSUES else f"one of {', '.join(ISSUES)}",
    "threshold": lambda value: None if -1 < value < 1 else "between -1 and 1",
    "fail_under": lambda value: None if 0 <= value <= 1 else "from 0 to 1",
    **{name: _positive for name in FIELDS if name.startswith("max_")},
}
"""What is wrong with a value: what would have been right, or None when it is fine."""
