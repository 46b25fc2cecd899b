"""Reads the few settings that reports take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGIN = "report options"
"""Named in errors as the place of the setting."""


def flag(options: Mapping[str, str], key: str) -> bool:
    """Read a switch; absent means off.

    Raises:
        ConfigError: The value is neither `true` nor `false`.
    """
    value = options.get(key, "false")
    if value not in ("true", "false"):
        raise ConfigError(key, ORIGIN, f"true or false, not {value!r}")
    return value == "true"


def columns(options: Mapping[str, str], default: int, smallest: int, largest: int) -> int:
    """Read the width in columns, kept between the smallest and the largest that can be laid out.

    Raises:
        ConfigError: The value is no whole number above 0.
    """
    value = options.get("width", str(default))
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise ConfigError("width", ORIGIN, f"a number of columns above 0, not {value!r}")
    return min(max(int(value), smallest), largest)
