"""Write `schemas/*.schema.json` of both packages from the types of the documents.

Run this script after changing a type. Descriptions in the schemas are the docstrings of the types
and of their fields.
"""

import ast
import inspect
import itertools
import json
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "research")]

from crscore.agents import triage  # noqa: E402
from crscore.audit import overview  # noqa: E402
from crscore.bench import results as bench  # noqa: E402
from crscore.code import comparison as code_comparison  # noqa: E402
from crscore.code import scores  # noqa: E402
from crscore.code.execution import report as code_run  # noqa: E402
from crscore.pull_request import overview as pull_overview  # noqa: E402
from crscore.pull_request.documents import json as pull  # noqa: E402
from crscore.reports import json as result  # noqa: E402
from crscore_lab.code import correlation as code_correlation  # noqa: E402
from crscore_lab.study import results  # noqa: E402
from crscore_lab.study.data import saved_runs, study  # noqa: E402
from crscore_lab.study.measures import comparison, readers  # noqa: E402

_SCORES = ("conciseness", "comprehensiveness", "relevance")
NUMBERS_OR_REASON = {
    "if": {"properties": {"reason": {"type": "null"}}},
    "then": {"properties": {key: {"type": "number"} for key in _SCORES}},
    "else": {"properties": {key: {"type": "null"} for key in _SCORES}},
}
"""Condition on scores: they are three numbers, or three nulls with a reason."""


TAG = "Names this schema; a change that breaks readers gets a new number."
"""Description of the field `schema`."""


class Document(NamedTuple):
    """Kind of document with a schema."""

    id: str
    """The `$id` of its schema."""
    title: str
    description: str
    types: tuple[type, ...]
    """Types of the document; it has one of them."""
    is_input: bool = False
    """Whether users write it: fields with a default are then optional, and others are allowed."""


DOCUMENTS = {
    "result": Document(
        result.SCHEMA,
        "crscore result",
        "Output of `--format json`: one result, or several under `results`.",
        (result.Result, result.Results),
    ),
    "pull": Document(
        pull_overview.SCHEMA,
        "crscore pull request",
        "Output of `crscore pr` and the action for one pull request: what people are shown, then "
        "all that it was made of.",
        (pull.PullDocument,),
    ),
    "triage": Document(
        triage.SCHEMA,
        "crscore triage",
        "Output of `crscore triage --format json`: what to do with each remark of a review.",
        (triage.Triage,),
    ),
    "code": Document(
        scores.SCHEMA,
        "crscore code",
        "What `crscore code CANDIDATE REFERENCE --format json` writes: scores of samples.",
        (scores.CodeScores,),
    ),
    "code-run": Document(
        code_run.SCHEMA,
        "crscore code run",
        "What `crscore code run --format json` writes: programs by their tests, and pass@k.",
        (code_run.CodeRun,),
    ),
    "code-comparison": Document(
        code_comparison.SCHEMA,
        "crscore code compare",
        "What `crscore code compare --format json` writes: the comparison of two systems.",
        (code_comparison.CodeComparison,),
    ),
    "code-study": Document(
        code_correlation.SCHEMA,
        "crscore code study",
        "What `crscore code study --format json` writes: how metrics of code agree with grades.",
        (code_correlation.CodeStudy,),
    ),
    "audit": Document(
        overview.SCHEMA,
        "crscore audit",
        "Output of `crscore audit report --format json`: the content of the report's first page.",
        (overview.Overview,),
    ),
    "audit-verdicts": Document(
        overview.VERDICTS_SCHEMA,
        "crscore audit verdicts",
        "Output of `crscore audit compare --format json`: comparisons of reviewers.",
        (overview.PairComparisons,),
    ),
    "bench": Document(
        bench.SCHEMA,
        "crscore bench",
        "Output of `crscore bench --format json`: bots on a golden set.",
        (bench.BenchResult,),
    ),
    "validation": Document(
        saved_runs.SCHEMA,
        "crscore validation",
        "What `crscore validate --format json` writes: one run over a study, the comparison of "
        "two runs, or the agreement of readers with outcomes.",
        (
            results.ValidationResult,
            comparison.Comparison,
            readers.ReadersResult,
        ),
    ),
    "study": Document(
        "urn:crscore:study:1",
        "crscore human study",
        "One line of the JSON Lines file that `crscore validate` reads: a code change, claims "
        "about it, and reviews of it that people rated. The file is UTF-8, plain or gzip; no two "
        "lines have the same `id` or `patch`. Further fields are allowed and ignored.",
        (study.StudyChange,),
        is_input=True,
    ),
}


def field_docs(kind: type) -> dict[str, str]:
    """Return field -> docstring below it, for a type and its bases."""
    docs: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith(("crscore.", "crscore_lab.")):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]
        for field, doc in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(doc, ast.Expr):
                docs[ast.unparse(field.target)] = " ".join(ast.literal_eval(doc.value).split())
    return docs


def types_below(kind: Any, found: dict[str, type]) -> None:
    """Add to `found` the structs and dataclasses that a type consists of, by name."""
    for part in getattr(kind, "__args__", ()):
        types_below(part, found)
    if hasattr(kind, "__struct_fields__") or hasattr(kind, "__dataclass_fields__"):
        if kind not in found.values():
            found.setdefault(kind.__name__, kind)
            for field in inspect.get_annotations(kind, eval_str=True).values():
                types_below(field, found)
        for base in kind.__bases__:
            types_below(base, found)


def schema(document: Document) -> dict[str, Any]:
    """Make the JSON Schema of a document."""
    (*roots,), definitions = msgspec.json.schema_components(
        document.types, ref_template="#/$defs/{name}"
    )
    kinds: dict[str, type] = {}
    for kind in document.types:
        types_below(kind, kinds)
    for name, definition in definitions.items():
        # Python before 3.13, and msgspec before 0.23, keep the indentation of docstrings.
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
        if definition.get("type") != "object":
            continue
        if not document.is_input:
            definition["additionalProperties"] = False
            definition["required"] = list(definition["properties"])
        docs = field_docs(kinds[name])
        for field, value in definition["properties"].items():
            value.pop("default", None)
            if description := docs.get(field, TAG if field == "schema" else None):
                definition["properties"][field] = {"description": description, **value}
        if {"relevance", "reason"} <= docs.keys():
            definition.update(NUMBERS_OR_REASON)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": document.id,
        "title": document.title,
        "description": document.description,
        **(roots[0] if len(roots) == 1 else {"oneOf": roots}),
        "$defs": definitions,
    }


def path_of(name: str) -> Path:
    """Return the file of a schema, in the package of the document's types."""
    package = DOCUMENTS[name].types[0].__module__.partition(".")[0]
    home = ROOT / "research" if package == "crscore_lab" else ROOT
    return home / package / "schemas" / f"{name}.schema.json"


def main() -> None:
    """Write every schema."""
    for name, document in DOCUMENTS.items():
        text = json.dumps(schema(document), indent=2, ensure_ascii=False) + "\n"
        path_of(name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
