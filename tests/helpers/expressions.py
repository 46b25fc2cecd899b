"""The part of GitHub's expressions that our actions and workflows use; anything else is refused."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\s*(?:(\|\||&&|==|!=|[!(),])|('(?:[^']|'')*')|([A-Za-z_][\w.-]*))")
_ALWAYS = re.compile(r"\b(always|failure|cancelled|success)\(\)")


class Expression:
    """One expression, evaluated from left to right by the usual rules of precedence."""

    def __init__(self, text: str, contexts: Mapping[str, Any], *, failed: bool) -> None:
        self.contexts, self.failed = contexts, failed
        self.tokens: list[str] = []
        at, text = 0, text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"not understood: {text[at:]!r}")
            self.tokens.append(match[0].strip())
            at = match.end()

    def value(self) -> Any:
        value = self._either()
        if self.tokens:
            raise ValueError(f"left over: {self.tokens}")
        return value

    def _either(self) -> Any:
        left = self._both()
        while self._take("||"):
            right = self._both()
            left = left or right
        return left

    def _both(self) -> Any:
        left = self._same()
        while self._take("&&"):
            right = self._same()
            left = left and right
        return left

    def _same(self) -> Any:
        left = self._single()
        for sign in ("==", "!="):
            if self._take(sign):
                right = self._single()
                # GitHub ignores case, and null is the empty text.
                same = str(_plain(left)).lower() == str(_plain(right)).lower()
                return same is (sign == "==")
        return left

    def _single(self) -> Any:
        if self._take("!"):
            return not self._single()
        if self._take("("):
            value = self._either()
            self._need(")")
            return value
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self._take("("):
            arguments = []
            while not self._take(")"):
                arguments.append(self._either())
                self._take(",")
            return self._call(token, arguments)
        return self._look_up(token)

    def _call(self, name: str, arguments: list[Any]) -> Any:
        calls = {
            "always": lambda: True,
            "success": lambda: not self.failed,
            "failure": lambda: self.failed,
            "fromJSON": json.loads,
            "contains": lambda where, what: what in where,
            "startsWith": lambda text, start: str(text).lower().startswith(start.lower()),
        }
        return calls[name](*arguments)

    def _look_up(self, path: str) -> Any:
        first, *rest = path.split(".")
        value = self.contexts[first]  # an unknown context is a mistake, an unknown key is null
        for key in rest:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def _take(self, token: str) -> bool:
        if self.tokens[:1] == [token]:
            del self.tokens[0]
            return True
        return False

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"{token} is missing before {self.tokens}")


def fill(text: str, contexts: Mapping[str, Any]) -> str:
    """Put values in the place of `${{ }}`."""

    def one(match: re.Match[str]) -> str:
        return str(_plain(Expression(match[1], contexts, failed=False).value()))

    return re.sub(r"\$\{\{(.*?)\}\}", one, text)


def holds(condition: str | None, contexts: Mapping[str, Any], *, failed: bool) -> bool:
    """Say whether a step runs: without a function of state, only while nothing has failed."""
    text = re.sub(r"^\s*\$\{\{(.*)\}\}\s*$", r"\1", condition or "success()", flags=re.DOTALL)
    if not _ALWAYS.search(text):
        text = f"success() && ({text})"
    return bool(Expression(text, contexts, failed=failed).value())


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
