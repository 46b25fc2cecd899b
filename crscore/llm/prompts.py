"""Prompts of crscore: one TOML file per task and version, never edited once released.

The code of each task defines the content as a `msgspec.Struct` that forbids unknown fields. This
module finds, checks and hashes the files. Their texts may have placeholders, `{{change}}`.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from crscore.errors import ConfigError

T = TypeVar("T")

# A released prompt never changes: its hash is in signatures, and models are trained with it.
_SUFFIX = ".toml"
# "claims.v1", "judge.v12"; not "../claims.v1", "claims", "claims.v01".
# A name cannot leave the folder, as it has no slash.
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}\.v[1-9][0-9]{0,3}")
# "{{change}}"
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Generic[T]):
    """Prompt, as read from its file."""

    name: str
    """Task and version: `claims.v1`."""
    sha256: str
    """Hash of the file's bytes, 64 hexadecimal digits."""
    content: T

    @property
    def identity(self) -> str:
        """Name and short hash, for signatures and caches: `claims.v1@1a2b3c4d`."""
        return f"{self.name}@{self.sha256[:8]}"


def builtin_folder() -> Path:
    """Return the folder of the prompts that come with crscore.

    In a wheel, the folder is inside the package; in a checkout, next to it.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_data" / "prompts"
    return packaged if packaged.is_dir() else package.parent / "prompts"


def prompt_names(folder: Path | None = None) -> tuple[str, ...]:
    """Return the names of the prompts in a folder, sorted.

    Args:
        folder: Folder of the prompts; None for crscore's own.
    """
    files = (folder or builtin_folder()).glob(f"*{_SUFFIX}")
    return tuple(sorted(name for file in files if _NAME.fullmatch(name := file.stem)))


def read_prompt(name: str, shape: type[T], *, folder: Path | None = None) -> Prompt[T]:
    """Read a prompt.

    Args:
        name: Task and version: `claims.v1`.
        shape: Type of the content: a `msgspec.Struct` with `forbid_unknown_fields`.
        folder: Folder of the prompts; None for crscore's own.

    Returns:
        The prompt, checked against its shape.

    Raises:
        ConfigError: There is no such prompt, it is not TOML, or it has an unknown, missing or wrong
            key; the error names the file and the key.
    """
    folder = folder or builtin_folder()
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "prompt", str(folder), f"expected TASK.vN ({_list_names(folder)}), got {name!r}"
        )
    file = folder / f"{name}{_SUFFIX}"
    try:
        data = file.read_bytes()
        content = msgspec.convert(tomllib.loads(data.decode("utf-8")), shape)
    except FileNotFoundError:
        raise ConfigError("prompt", str(folder), f"has no {name}: {_list_names(folder)}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError("prompt", str(file), f"cannot be read: {exc}") from exc
    except msgspec.ValidationError as exc:
        expected, _, path = str(exc).partition(" - at `$.")
        raise ConfigError(path.rstrip("`") or "prompt", str(file), expected) from exc
    return Prompt(name=name, sha256=hashlib.sha256(data).hexdigest(), content=content)


def _list_names(folder: Path) -> str:
    return ", ".join(prompt_names(folder)) or "there are none"


def placeholders(template: str) -> frozenset[str]:
    """Return the names of the placeholders in a text.

    Example:
        >>> sorted(placeholders("In {{language}}: {{change}}"))
        ['change', 'language']
    """
    return frozenset(_PLACEHOLDER.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a template in one pass; placeholders in the values are kept.

    Args:
        template: Text with placeholders `{{name}}`.
        values: Name -> text; exactly one for each placeholder.

    Returns:
        The filled text.

    Raises:
        ConfigError: A placeholder has no value, or a value has no placeholder.

    Example:
        >>> fill("In {{language}}: {{change}}", {"language": "C", "change": "+{{language}}"})
        'In C: +{{language}}'
    """
    if placeholders(template) != frozenset(values):
        in_template, names = sorted(placeholders(template)), sorted(values)
        raise ConfigError(
            "prompt", "template", f"has the placeholders {in_template}, but values for {names}"
        )
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
