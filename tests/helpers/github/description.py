"""GitHub's own descriptions of its REST and GraphQL interfaces, from the npm packages."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema
from openapi_schema_validator import OAS30Validator

_MODULES = Path(__file__).parents[2] / "data" / "github" / "node_modules" / "@octokit"
_REST = _MODULES / "openapi" / "generated" / "api.github.com.json"
_GRAPH = _MODULES / "graphql-schema" / "schema.graphql"
# What GitHub really sends against its own description: the places of comments that are out of date
# or on a whole file (github/rest-api-description, issue 1901).
_REALLY_NULL = {"pull-request-review-comment": ("position", "line", "original_line")}


@cache
def graph() -> GraphQLSchema:
    """GitHub's whole GraphQL schema."""
    return build_schema(_read(_GRAPH), assume_valid=True)


def complaints(method: str, path: str, status: int, body: Any) -> list[str]:
    """Say where an answer is not what GitHub's description promises; empty when it is.

    Args:
        method: Of the request.
        path: Of the request, without a query.
        status: Of the answer.
        body: Its decoded JSON; None when it was empty.
    """
    schema = _schema(_template(path), method.lower(), str(status))
    if schema is None:
        return [] if body is None else ["a body where none is described"]
    errors = OAS30Validator(schema).iter_errors(body)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def _template(path: str) -> str:
    """The described path that a path is an instance of; the most literal one."""
    found = [template for template, pattern in _templates().items() if re.fullmatch(pattern, path)]
    if not found:
        raise LookupError(f"GitHub describes no {path}")
    return min(found, key=lambda template: template.count("{"))


@cache
def _templates() -> dict[str, str]:
    schema = {}
    for template in _rest()["paths"]:
        parts = re.split(r"\{(\w+)\}", template)
        schema[template] = "".join(
            # A file's path is the one parameter that may hold slashes.
            (".+" if part == "path" else "[^/]+") if at % 2 else re.escape(part)
            for at, part in enumerate(parts)
        )
    return schema


@cache
def _schema(template: str, method: str, status: str) -> dict[str, Any] | None:
    """The schema of an answer, with all it refers to; None for an answer without a body."""
    described = _rest()["paths"][template][method]["responses"]
    if status not in described:
        # 401 and 429 can meet any request and are listed with none of them.
        return _closed({"$ref": "#/components/schemas/basic-error"})
    answer = described[status]
    if "$ref" in answer:
        answer = _rest()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer.get("content", {}).get("application/json")
    return None if content is None else _closed(content["schema"])


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as a document of its own: the whole description is slow to look things up in."""
    schemas = _rest()["components"]["schemas"]
    needed: dict[str, Any] = {}
    waiting = _references(schema)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = _taking_null(schemas[name])
            for field in _REALLY_NULL.get(name, ()):
                needed[name]["properties"][field]["nullable"] = True
            waiting |= _references(schemas[name])
    return {**schema, "components": {"schemas": needed}}


def _taking_null(schema: Any) -> Any:
    """A copy in which `nullable` also holds beside `enum` and `oneOf`, as GitHub means it."""
    if isinstance(schema, list):
        return [_taking_null(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: _taking_null(value) for key, value in schema.items()}
    if copy.get("nullable") is True:
        if "enum" in copy:
            copy["enum"] = [*copy["enum"], None]
        if "oneOf" in copy:
            copy["oneOf"] = [*copy["oneOf"], {"enum": [None], "nullable": True}]
    return copy


def _references(schema: Any) -> set[str]:
    return set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schema)))


@cache
def _rest() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(_read(_REST))
    return described


def _read(path: Path) -> str:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not here: npm ci --prefix tests/data/github")
    return path.read_text(encoding="utf-8")
