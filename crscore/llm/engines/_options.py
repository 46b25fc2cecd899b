"""Reading the options of an engine, which are all texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TRUTH = {"true": True, "false": False}


class Options:
    """One engine's options, refused when they are not known.

    Args:
        engine: The plugin's name, for messages.
        given: What was given.
        known: The names there are.

    Raises:
        ConfigError: One is not known; a misspelt option would otherwise go unseen.
    """

    def __init__(self, engine: str, given: Mapping[str, str], known: frozenset[str]) -> None:
        self._origin = f"engine {engine}"
        self._given = given
        for key in given:
            if key not in known:
                choices = ", ".join(sorted(known))
                raise ConfigError(key, self._origin, f"no such option; there are: {choices}")

    def text(self, key: str) -> str | None:
        """Return the option, or None when it is absent or empty."""
        return self._given.get(key) or None

    def flag(self, key: str) -> bool:
        """Read `true` or `false`; absent means no.

        Raises:
            ConfigError: It is neither.
        """
        value = self._given.get(key, "false")
        if value not in _TRUTH:
            raise ConfigError(key, self._origin, f"expected true or false, got {value!r}")
        return _TRUTH[value]

    def count(self, key: str, *, most: int = 10_000_000) -> int | None:
        """Read a whole number from 1 to `most`; None when it is absent.

        Raises:
            ConfigError: It is no such number.
        """
        value = self.text(key)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
            expected = f"expected a whole number from 1 to {most}, got {value!r}"
            raise ConfigError(key, self._origin, expected)
        return int(value)

    def seconds(self, key: str, default: float) -> float:
        """Read a number of seconds above 0 and at most a day.

        Raises:
            ConfigError: It is no such number.
        """
        value = self.text(key)
        if value is None:
            return default
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 < number <= 86_400:  # false for NaN as well
            raise ConfigError(key, self._origin, f"expected seconds above 0, got {value!r}")
        return number

    def wrong(self, key: str, expected: str) -> ConfigError:
        """Make the error for an option that has a wrong value."""
        return ConfigError(key, self._origin, expected)
