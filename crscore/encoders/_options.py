"""Reading the options of an encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRUTH = {"true": True, "false": False}


def reject_unknown(encoder: str, options: Mapping[str, str], known: frozenset[str]) -> None:
    """Refuse options that an encoder does not have.

    Args:
        encoder: The plugin's name, for the message.
        options: What was given.
        known: The names there are.

    Raises:
        ConfigError: One is not known; a misspelt option would otherwise go unseen.
    """
    for key in options:
        if key not in known:
            choices = ", ".join(sorted(known))
            raise ConfigError(key, f"encoder {encoder}", f"no such option; there are: {choices}")


def flag(encoder: str, options: Mapping[str, str], key: str) -> bool:
    """Read a yes-or-no option.

    Args:
        encoder: The plugin's name, for the message.
        options: What was given.
        key: The option's name; absent means no.

    Raises:
        ConfigError: The value is neither `true` nor `false`.
    """
    value = options.get(key, "false")
    if value not in _TRUTH:
        raise ConfigError(key, f"encoder {encoder}", f"expected true or false, got {value!r}")
    return _TRUTH[value]
