"""Reads the prompts of crscore: one TOML file for each task and version.

A released prompt is never edited, because its hash is in signatures and models are trained with it.
The code of each task defines the fields of its prompt as a `msgspec.Struct` that forbids unknown
fields. The texts of a prompt may have placeholders, such as `{{change}}`.
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

# "{{change}}"
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prompt(Generic[T]):
    """Prompt that was read from its file."""

    name: str
    """Task and version: `claims.v1`."""
    sha256: str
    """Hash of the file's bytes, 64 hexadecimal digits."""
    content: T

    @property
    def identity(self) -> str:
        """Name and short hash, for signatures and keys of caches: `claims.v1@1a2b3c4d`."""
        return f"{self.name}@{self.sha256[:8]}"


def builtin_folder() -> Path:
    """Return the folder of the prompts that come with crscore.

    The folder is inside an installed package; in a checkout, it is next to the package.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_data" / "prompts"
    return packaged if packaged.is_dir() else package.parent / "prompts"


def prompt_names() -> tuple[str, ...]:
    """Return the names of the prompts, sorted."""
    return tuple(sorted(file.stem for file in builtin_folder().glob("*.toml")))


def read_prompt(name: str, shape: type[T]) -> Prompt[T]:
    """Read a prompt.

    Args:
        name: Task and version: `claims.v1`.
        shape: Type of the content: a `msgspec.Struct` with `forbid_unknown_fields`.

    Raises:
        ConfigError: There is no such prompt.
    """
    folder, names = builtin_folder(), prompt_names()
    if name not in names:
        raise ConfigError(
            "prompt", str(folder), f"expected one of {', '.join(names)}, got {name!r}"
        )
    data = (folder / f"{name}.toml").read_bytes()
    content = msgspec.convert(tomllib.loads(data.decode("utf-8")), shape)
    return Prompt(name=name, sha256=hashlib.sha256(data).hexdigest(), content=content)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a template in one pass; placeholders in the values are kept.

    Args:
        template: Text with placeholders `{{name}}`.
        values: Name -> text, for each placeholder.

    Raises:
        KeyError: A placeholder has no value.

    Example:
        >>> fill("In {{language}}: {{change}}", {"language": "C", "change": "+{{language}}"})
        'In C: +{{language}}'
    """
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
