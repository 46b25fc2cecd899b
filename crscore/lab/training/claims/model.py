"""Base model and its adapter.

Tried with transformers 5.23, peft 0.21 and torch 2.13. No code from a model's repository is run and
weights are read from, and written to, safetensors only. trl is not used: it adds prompt masking,
row packing and templates to the trainer of transformers, and these must match the engines token by
token.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.lab.training.claims.settings import ALL_LINEAR, Settings
from crscore.llm import model_files
from crscore.llm.engines.vllm import PINNED

INSTALL: Final = "pip install 'crscore[finetune]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Origin of the base model."""

    name: str
    """Name on the hub, or a folder: absolute, or from `./`, `../` or `~`."""
    revision: str | None = None
    """Commit, branch or tag; None for a folder, or for the engine's default."""
    offline: bool = False
    """Whether to use only local files."""


class Base(NamedTuple):
    """Loaded base model."""

    model: Any
    """A `transformers` causal language model."""
    tokenizer: Any
    """Tokenizer of the model."""
    identity: str
    """Name and commit, or a folder's name and a hash of its files, as in the identity of claims."""
    revision: str | None
    """Commit that was loaded; None for a folder."""


def require() -> None:
    """Check that the packages for fine-tuning are installed.

    Raises:
        DependencyError: A package is not installed.
    """
    import importlib.util  # noqa: PLC0415

    for package in ("torch", "transformers", "peft", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise DependencyError(package, INSTALL)


def library(name: str) -> Any:
    """Import a library lazily, without its types, which depend on its version."""
    return importlib.import_module(name)


def load_base(source: Source, settings: Settings) -> Base:
    """Load a base model.

    Args:
        source: Model to load.
        settings: Precision and attention.

    Returns:
        The model, on the CPU and ready to be wrapped, and its tokenizer.

    Raises:
        ConfigError: A folder is given with a revision.
        ModelNotFoundError: The model is not local and cannot, or may not, be downloaded.
        GenerationError: The model cannot be loaded, or has no safetensors.
    """
    require()
    transformers = library("transformers")
    transformers.logging.disable_progress_bar()
    found = _find(source)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(found.place, **found.options)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            found.place,
            dtype=_weights(settings),
            attn_implementation=attention(),
            use_safetensors=True,
            **found.options,
        )
    except OSError as exc:
        if found.commit is None:
            raise GenerationError(f"{source.name} cannot be loaded: {_line(exc)}") from exc
        command = model_files.download_command(source.name, source.revision)
        raise ModelNotFoundError(source.name, command) from exc
    except (ValueError, KeyError, RuntimeError, ImportError) as exc:
        raise GenerationError(f"{source.name} cannot be loaded: {_line(exc)}") from exc
    return Base(model, tokenizer, found.identity, found.commit)


def add_adapter(model: Any, settings: Settings) -> Any:
    """Add a fresh adapter to a model, unless all weights are trained.

    Args:
        model: Model from `load_base`.
        settings: Shape of the adapter, and the seed of its initial weights.

    Returns:
        The model to train.

    Raises:
        ConfigError: The model has no layer with one of the target names.
    """
    peft = library("peft")
    transformers = library("transformers")
    transformers.set_seed(settings.seed)
    model.config.use_cache = False
    if settings.checkpointing:
        enable = getattr(model, "activation_checkpointing_enable", None)
        # Before transformers 5.2x this step had a different name.
        (enable or model.gradient_checkpointing_enable)({"use_reentrant": False})
    if settings.full:
        return model
    lora = settings.lora
    targets = linear_layers(model) if lora.targets == (ALL_LINEAR,) else lora.targets
    shape = peft.LoraConfig(
        task_type=peft.TaskType.CAUSAL_LM,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=sorted(targets),
    )
    try:
        with quiet():
            return peft.get_peft_model(model, shape)
    except ValueError as exc:
        raise ConfigError("--lora-targets", "command line", _line(exc)) from exc


def linear_layers(model: Any) -> tuple[str, ...]:
    """List the linear layers of a model except the last, each kind once, sorted.

    peft's own `all-linear` names every layer of every block, in no order, so that the file of the
    same adapter differs each time.
    """
    torch = library("torch")
    kinds = (torch.nn.Linear, library("transformers.pytorch_utils").Conv1D)
    last = model.get_output_embeddings()
    found = [
        name
        for name, layer in model.named_modules()
        if isinstance(layer, kinds) and layer is not last
    ]
    return tuple(sorted({name.rpartition(".")[2] for name in found}))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress deprecation warnings between the libraries."""
    with warnings.catch_warnings():
        for category in (FutureWarning, DeprecationWarning):
            warnings.filterwarnings(
                "ignore", category=category, module=r"(transformers|peft|accelerate|torch)\b"
            )
        yield


def attention() -> str:
    """Return the attention implementation: flash attention where installed and usable."""
    usable = library("transformers.utils").is_flash_attn_2_available()
    return "flash_attention_2" if usable else "sdpa"


def half(settings: Settings) -> bool:
    """Return whether to compute in bfloat16."""
    torch = library("torch")
    if settings.precision != "auto":
        return settings.precision == "bfloat16"
    return bool(torch.cuda.is_available() and torch.cuda.is_bf16_supported())


def _weights(settings: Settings) -> Any:
    torch = library("torch")
    # Trained weights need float32: in bfloat16 most steps are too small to change a weight.
    asked = settings.precision == "bfloat16"
    return torch.bfloat16 if half(settings) and (asked or not settings.full) else torch.float32


class _Found(NamedTuple):
    place: str
    options: dict[str, Any]
    identity: str
    commit: str | None


def _find(source: Source) -> _Found:
    """Find the model and its identity as in the engines."""
    local: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    folder = model_files.folder_of(source.name)
    if folder is not None:
        if source.revision is not None:
            raise ConfigError("--revision", "command line", f"the folder {source.name} has none")
        identity = f"{folder.resolve().name}@{model_files.fingerprint(folder)}"
        path = str(folder) if source.name.startswith("~") else source.name
        return _Found(path, local, identity, None)
    if not model_files.is_name(source.name):
        expected = f"{source.name!r} is no name; a folder begins with ./, ../, ~ or /"
        raise ConfigError("--model", "command line", expected)
    revision = source.revision or PINNED.get(source.name, "main")
    commit = model_files.commit(source.name, revision, offline=source.offline)
    identity = f"{source.name}@{commit}"
    # The hub's library queries the hub for a name, even when it may only read its cache.
    find = model_files.cached if source.offline else model_files.cached_if_shadowed
    place = find(source.name, commit)
    if place is not None:
        return _Found(str(place), local, identity, commit)
    if source.offline:
        command = model_files.download_command(source.name, source.revision)
        raise ModelNotFoundError(source.name, command)
    options = {"trust_remote_code": False, "revision": commit}
    return _Found(source.name, options, identity, commit)


def _line(exc: Exception) -> str:
    return " ".join(str(exc).split())[:300]
