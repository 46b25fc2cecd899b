"""Reading JSON objects that people wrote: each fault names the place and the field."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """One JSON object that knows where it stands."""

    values: dict[str, Any]
    """The object."""
    place: str
    """File and line, as in `study.jsonl:3`."""
    path: str = ""
    """The object's own path in that line, as in `reviews[2].`; "" for the line itself."""

    def fault(self, key: str, expected: str) -> InputError:
        """Make the error of a field.

        Args:
            key: The field.
            expected: What it must be, as in "a string".

        Returns:
            The error, to be raised.
        """
        where = f"{self.place}: {self.path}{key}"
        if key not in self.values:
            return InputError(f"{where} is missing; it must be {expected}")
        return InputError(f"{where} must be {expected}, not {reprlib.repr(self.values[key])}")

    def text(self, key: str) -> str:
        """Read a string.

        Raises:
            InputError: It is none.
        """
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.fault(key, "a string")
        return value

    def optional_text(self, key: str) -> str | None:
        """Read a string, or None where it is null or missing.

        Raises:
            InputError: It is neither.
        """
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.fault(key, "a string or null")
        return value

    def choice(self, key: str, known: Collection[str]) -> str | None:
        """Read one of some words, or None where it is null or missing.

        Raises:
            InputError: It is none of them.
        """
        value = self.optional_text(key)
        if value is not None and value not in known:
            raise self.fault(key, f"{', '.join(known)} or null")
        return value

    def flag(self, key: str) -> bool | None:
        """Read true or false, or None where it is null or missing.

        Raises:
            InputError: It is neither.
        """
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.fault(key, "true, false or null")
        return value

    def number(self, key: str, low: float, high: float) -> float:
        """Read a number from `low` to `high`.

        Raises:
            InputError: It is none.
        """
        value = self.values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise self.fault(key, f"a number from {low} to {high}")

    def items(self, key: str, kind: type, expected: str) -> tuple[Any, ...]:
        """Read a list whose items are all of one type; null or missing is an empty one.

        Raises:
            InputError: It is no list, or an item is of another type.
        """
        value = self.values.get(key)
        if value is None:
            return ()
        # A bool is an int to Python but not to a reader of the file.
        if not isinstance(value, list) or not all(
            isinstance(item, kind) and not isinstance(item, bool) for item in value
        ):
            raise self.fault(key, expected)
        return tuple(value)

    def objects(self, key: str) -> Iterator[Fields]:
        """Read a list of objects; null or missing is an empty one.

        Raises:
            InputError: It is something else.
        """
        for index, item in enumerate(self.items(key, dict, "a list of objects")):
            yield Fields(values=item, place=self.place, path=f"{self.path}{key}[{index}].")
