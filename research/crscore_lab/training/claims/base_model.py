"""Base model of a fine-tuning run: its location, identity and precision.

Tried with transformers 5.23, peft 0.21, trl 1.16 and torch 2.13. No code from a model's repository
is run and weights are read from, and written to, safetensors only.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import model_files
from crscore.llm.engines.vllm import PINNED
from crscore_lab.training.claims.settings import Settings

INSTALL: Final = "pip install 'crscore-lab[finetune]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Origin of the base model."""

    name: str
    """Name on the hub, or a folder: absolute, or from `./`, `../` or `~`."""
    revision: str | None = None
    """Commit, branch or tag; None for a folder, or for the engine's default."""
    offline: bool = False
    """Whether to use only local files."""


class BaseModel(NamedTuple):
    """Loaded base model."""

    model: Any
    """A `transformers` causal language model."""
    tokenizer: Any
    identity: str
    """Name and commit, or a folder's name and a hash of its files, as in the identity of claims."""
    revision: str | None
    """Commit that was loaded; None for a folder."""


def require_packages() -> None:
    """Check that the packages for fine-tuning are installed.

    Raises:
        DependencyError: A package is not installed.
    """
    for package in ("torch", "transformers", "peft", "accelerate", "trl"):
        if find_spec(package) is None:
            raise DependencyError(package, INSTALL)


def load_base(source: ModelSource, settings: Settings) -> BaseModel:
    """Load a base model on the CPU.

    Raises:
        ConfigError: A folder has a revision, or the name is neither a name nor a folder.
        ModelNotFoundError: The model is not local and cannot, or may not, be downloaded.
        GenerationError: The model cannot be loaded, or has no safetensors.
    """
    require_packages()
    transformers, torch = import_module("transformers"), import_module("torch")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    location, commit, identity = _locate(source)
    options: dict[str, Any] = {
        "revision": commit,
        "trust_remote_code": False,
        # A local folder: the hub must not be contacted.
        "local_files_only": location != source.name,
    }
    # Trained weights need float32: in bfloat16 most steps are too small to change a weight.
    halve = uses_bfloat16(settings) and (settings.precision == "bfloat16" or not settings.full)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(location, **options)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            location,
            dtype=torch.bfloat16 if halve else torch.float32,
            use_safetensors=True,
            **options,
        )
    except OSError as exc:
        # A folder cannot be downloaded.
        if commit is None:
            raise GenerationError(f"{source.name} cannot be loaded: {one_line(exc)}") from exc
        command = model_files.download_command(source.name, source.revision)
        raise ModelNotFoundError(source.name, command) from exc
    except (ValueError, KeyError, RuntimeError, ImportError) as exc:
        raise GenerationError(f"{source.name} cannot be loaded: {one_line(exc)}") from exc
    return BaseModel(model, tokenizer, identity, commit)


def uses_bfloat16(settings: Settings) -> bool:
    """Return whether to compute in bfloat16."""
    if settings.precision != "auto":
        return settings.precision == "bfloat16"
    cuda = import_module("torch").cuda
    return bool(cuda.is_available() and cuda.is_bf16_supported())


def one_line(error: Exception) -> str:
    """Return the beginning of a library's message on one line."""
    return " ".join(str(error).split())[:300]


def _locate(source: ModelSource) -> tuple[str, str | None, str]:
    """Return a folder or the model's name, its commit, and its identity as in the engines."""
    folder = model_files.folder_of(source.name)
    if folder is not None:
        if source.revision is not None:
            raise ConfigError("--revision", "command line", f"the folder {source.name} has none")
        folder = folder.resolve()
        return str(folder), None, f"{folder.name}@{model_files.fingerprint(folder)}"
    if not model_files.is_name(source.name):
        expected = f"{source.name!r} is no name; a folder begins with ./, ../, ~ or /"
        raise ConfigError("--model", "command line", expected)
    revision = source.revision or PINNED.get(source.name, "main")
    commit = model_files.resolve_commit(source.name, revision, offline=source.offline)
    # The hub's library queries the hub for a name, even when it may only read its cache.
    find_folder = model_files.find_cached if source.offline else model_files.cached_if_shadowed
    folder = find_folder(source.name, commit)
    if folder is None and source.offline:
        command = model_files.download_command(source.name, source.revision)
        raise ModelNotFoundError(source.name, command)
    return str(folder or source.name), commit, f"{source.name}@{commit}"
