"""Finds eleven smells of Python code, with pylint, radon and the syntax tree.

`python -m crscore.static_analysis.pyscent FILE...` prints JSON. The exit code is 0 if there is no
smell, 1 if there are smells, 2 for wrong usage, 3 if a file could not be read (the findings in
other files are still printed), and 4 if pylint or radon is missing or failed.

The smells and their limits are those of the paper; `pyscent.toml` has them. The paper's tool prints
one sentence for each smell and file. This one writes like a reviewer:

- There is a finding for each function, class or expression. Too many statements, branches and paths
  of one function are one finding.
- Records may have many attributes, and enumerations may have low cohesion.
- Complexity is computed for functions only, also for nested ones, and `assert` does not count,
  because checks do not make a test complex.
- Shotgun surgery counts only calls of code in other modules. It is not reported in tests, which
  exist to call other modules.
- A handler that catches all errors and raises one is acceptable. A handler is a warning only if it
  catches all errors and does nothing.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801v2, Table 14, and the code of the paper.
"""

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from crscore.errors import CRScoreError, DependencyError, ToolFailedError, ToolOutputError

# The key of cached findings contains this version, so it must change when the findings change.
VERSION: Final = "1.2"
INSTALL: Final = "pip install 'crscore[analyzers]'"
NO_SMELL, SMELLS, NOT_READ, FAILED = 0, 1, 3, 4  # argparse itself exits with 2
NOTE, WARNING = "note", "warning"
# https://radon.readthedocs.io/en/latest/commandline.html#the-cc-command
ALARMING_PATHS: Final = 20
"""Number of independent paths above which a function is a warning: radon's ranks D to F."""
# pylint's exit code is a sum of bits:
# https://pylint.readthedocs.io/en/stable/user_guide/usage/run.html#exit-codes
_WRONG_USAGE: Final = 32
_MAX_CLAUSE: Final = 67  # maximum characters of an `except` clause in a sentence
_MAX_CALLS_NAMED: Final = 3
# Errors of a file that cannot be read. ValueError is for a null character, LookupError for an
# encoding such as `hex`, which is not one of text.
_UNREADABLE: Final = (
    *(OSError, SyntaxError, tokenize.TokenError, ValueError, LookupError),
    *(RecursionError, MemoryError),  # code that nests too deeply
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Kind of smell with its limit and texts: a table of `pyscent.toml`."""

    limit: int
    """Largest acceptable measure, but the smallest for cohesion; 0 if nothing is measured."""
    extent: str
    """Text for the measure, in which `{n}` is the number."""
    text: str
    """Sentence with `{subject}`, `{extent}` and `{limit}`."""
    pylint: str = ""
    """Id of the pylint message that reports the smell; "" if pylint does not."""
    option: str = ""
    """pylint's option for the limit; "" if pylint does not report the smell."""


_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RULES: Final = {name: Rule(**table) for name, table in _TABLES.items()}
"""Id -> rule."""
BY_PYLINT: Final = {rule.pylint: name for name, rule in RULES.items() if rule.pylint}
"""Id of a pylint message -> id of the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell:
    """Smell that was found."""

    rule: str
    """Id of the rule."""
    line: int
    """Number of the first line, from 1, without decorators."""
    end_line: int
    """Number of the last line."""
    subject: str
    """Code that smells, as the subject of the sentence, such as "`Client.charge`"."""
    measure: float
    """Measure in the unit of the rule; 0 if nothing is measured."""
    extent: str
    """Measure in words, such as "63 statements"."""
    text: str
    """English sentence about the smell."""
    level: str
    """`note` or `warning`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """Smells in one file."""

    path: str
    """Path of the file, as given."""
    smells: tuple[Smell, ...] = ()
    """Smells, sorted by line."""
    unparsed: str | None = None
    """Why the file was not analyzed completely; None if it was."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with some arguments, by default those of the process.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="pyscent", description="Find smells of Python code.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a Python file")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    options = parser.parse_args(arguments)
    if not (options.files or options.version):
        parser.error("no file is given")
    try:
        version = full_version()
        if options.version:
            sys.stdout.write(f"pyscent {version}\n")
            return NO_SMELL
        reports = analyze(options.files)
    except CRScoreError as error:
        sys.stderr.write(f"pyscent: {error}\n")
        return FAILED
    document = {"files": [asdict(report) for report in reports]}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    if any(report.unparsed is not None for report in reports):
        return NOT_READ
    return SMELLS if any(report.smells for report in reports) else NO_SMELL


def full_version() -> str:
    """Return the version of this program with those of pylint and radon.

    All three determine the findings.

    Returns:
        A version with a local part, such as `1.2+pylint4.1.4.radon6.0.1`.

    Raises:
        DependencyError: pylint or radon is not installed.
    """
    parts = []
    for package in ("pylint", "radon"):
        try:
            parts.append(f"{package}{installed_version(package)}")
        except PackageNotFoundError as error:
            raise DependencyError(package, INSTALL) from error
    return f"{VERSION}+{'.'.join(parts)}"


def analyze(paths: Sequence[str]) -> tuple[FileReport, ...]:
    """Find the smells in some files.

    Args:
        paths: Paths of the files; a path that occurs twice counts once.

    Returns:
        A report on each file, in the order of the paths.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint crashed or rejected its arguments.
        ToolOutputError: The output of pylint cannot be read.
    """
    codes: dict[str, str] = {}
    reports: dict[str, FileReport] = {}
    for path in dict.fromkeys(paths):
        reports[path] = FileReport(path=path)
        try:
            codes[path] = read_code(path)
        except _UNREADABLE as error:
            reports[path] = FileReport(path=path, unparsed=type(error).__name__)
    counts_by_path = run_pylint(codes) if codes else {}
    for path, counts in counts_by_path.items():
        reports[path] = find_smells(path, codes[path], counts)
    return tuple(reports.values())


def read_code(path: str) -> str:
    """Read a file without its comments, so that no pragma silences pylint.

    All comments are removed and not only pragmas, because pylint looks for pragmas with a regular
    expression that takes minutes for a comment of 100,000 characters.

    Args:
        path: Path of the file.

    Returns:
        Code that parses, with the same lines as the file; they end with LF.

    Raises:
        SyntaxError: The file does not parse. Other errors of `_UNREADABLE` are raised if it cannot
            be read for another reason.
    """
    content = Path(path).read_bytes()
    # The encoding is detected as Python does: https://peps.python.org/pep-0263/
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip(" \t")
    code = "\n".join(lines)
    code.encode()  # raises an error for lone surrogates, which UTF-7 may have
    _parse(code)
    return code


def _parse(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as those about invalid escapes in strings
        return ast.parse(code)


Counts = dict[int, list[tuple[str, int]]]
"""Line of a `def` or `class` -> the rules and measures that pylint reports for it."""


def run_pylint(codes: Mapping[str, str]) -> dict[str, Counts | None]:
    """Let pylint count statements, parameters, branches, attributes and methods.

    pylint, whose license is GPL-2.0-or-later, runs as a separate program. It reads copies of the
    files in an otherwise empty folder.

    Args:
        codes: Path -> code of the file.

    Returns:
        Path -> the counts that exceed a limit in the file, or None if pylint could not read it.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint crashed or rejected its arguments.
        ToolOutputError: The output of pylint cannot be read.
    """
    if find_spec("pylint") is None:
        raise DependencyError("pylint", INSTALL)
    # The copies get new names, because an original path could look like an option.
    counts: dict[str, Counts] = {f"p{index:05}.py": {} for index in range(len(codes))}
    failed: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="pyscent-") as folder:
        work, settings = Path(folder) / "work", Path(folder) / "settings.toml"
        work.mkdir()
        settings.touch()
        for name, code in zip(counts, codes.values(), strict=True):
            (work / name).write_bytes(code.encode())
        process = subprocess.run(  # noqa: S603
            [
                # Python is isolated (https://docs.python.org/3/using/cmdline.html#cmdoption-I) and
                # the settings file is empty, because pylint would run the `init-hook` of a settings
                # file that it finds, and analyzed code must not choose plugins or options.
                *(sys.executable, "-I", "-m", "pylint", f"--rcfile={settings}"),
                *("--output-format=json2", "--persistent=n", "--jobs=1", "--load-plugins="),
                # Messages of the class F and E0001 report a file that pylint cannot read.
                *("--disable=all", f"--enable=F,E0001,{','.join(BY_PYLINT)}"),
                *(f"{rule.option}={rule.limit}" for rule in RULES.values() if rule.option),
                *counts,
            ],
            cwd=work,
            # With PYLINTHOME, pylint writes crash reports to this folder and not to the user's
            # home.
            env={**os.environ, "PYLINTHOME": folder},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    status = process.returncode
    if status < 0 or status & _WRONG_USAGE:
        raise ToolFailedError("pylint", f"failed with exit code {status}")
    try:
        for message in json.loads(process.stdout)["messages"]:
            name = Path(message["path"]).name
            rule = BY_PYLINT.get(message["messageId"])
            if rule is None:
                failed.add(name)
            else:
                # The message is, for example, "Too many statements (63/50)".
                measure = re.findall(r"\((\d+)/\d+\)", message["message"])[0]
                counts[name].setdefault(message["line"], []).append((rule, int(measure)))
    except (ValueError, LookupError, TypeError) as error:
        raise ToolOutputError("pylint", f"exit code {status}, {error}") from error
    values = (None if name in failed else counts[name] for name in counts)
    return dict(zip(codes, values, strict=True))


def find_smells(path: str, code: str, counts: Counts | None) -> FileReport:
    """Find the smells of one file.

    Args:
        path: Path of the file, for the report.
        code: Code of the file, as `read_code` returns it.
        counts: Counts of pylint; None if pylint could not read the file.

    Returns:
        The report on the file.
    """
    tree = _parse(code)
    lines = code.encode().split(b"\n")
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    aliases = (alias for node in imports for alias in node.names)
    imported = {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    if is_test_module(tree, imports):
        imported.clear()  # so that no class is reported for calling other modules
    smells: list[Smell] = []
    unparsed = "pylint cannot read it" if counts is None else None
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    try:
        while pending:  # no recursion, as a tree can be deeper than the stack
            node, scope = pending.pop()
            location = f"in `{scope}`" if scope else "at the top of the module"
            match node:
                case ast.Lambda() | ast.ListComp():
                    smells += find_long_expression(node, location, lines)
                case ast.ExceptHandler():
                    smells += find_useless_exception(node, location)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope = f"{scope}.{node.name}".lstrip(".")
                    smells += find_pylint_smells(node, scope, counts or {})
                    smells += find_complex_code(node, scope)
                case ast.ClassDef():
                    scope = f"{scope}.{node.name}".lstrip(".")
                    smells += find_pylint_smells(node, scope, counts or {})
                    smells += find_low_cohesion(node, scope)
                    smells += find_shotgun_surgery(node, scope, imported)
            pending.extend((child, scope) for child in ast.iter_child_nodes(node))
    except RecursionError:
        unparsed = "it nests too deeply"
    smells = merge_sizes(smells)
    smells.sort(key=lambda smell: (smell.line, smell.end_line, smell.rule, smell.text))
    return FileReport(path=path, smells=tuple(smells), unparsed=unparsed)


def find_pylint_smells(node: Function | ast.ClassDef, name: str, counts: Counts) -> Iterator[Smell]:
    """Yield the smells of a function or a class that pylint reported."""
    for rule, measure in counts.get(node.lineno, ()):
        if not (rule == "many-attributes" and is_record(node)):
            yield make_smell(rule, node, f"`{name}`", measure)


def make_smell(
    rule: str,
    node: ast.stmt | ast.expr | ast.excepthandler,
    subject: str,
    measure: float,
    *,
    level: str = NOTE,
    **words: str,
) -> Smell:
    """Return a smell with the sentence of its rule.

    Args:
        rule: Id of the rule.
        node: Code that smells.
        subject: Subject of the sentence.
        measure: Measure in the unit of the rule; 0 if nothing is measured.
        level: `note` or `warning`.
        words: Values of further placeholders in the rule's text.
    """
    texts = RULES[rule]
    extent = texts.extent.format(n=f"{measure:.3g}" if measure % 1 else f"{measure:.0f}")
    text = texts.text.format(subject=subject, extent=extent, limit=texts.limit, **words)
    return Smell(
        rule=rule,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        subject=subject,
        measure=measure,
        extent=extent,
        text=text[0].upper() + text[1:],
        level=level,
    )


def find_long_expression(
    node: ast.Lambda | ast.ListComp, location: str, lines: Sequence[bytes]
) -> Iterator[Smell]:
    """Yield a smell if a lambda or list comprehension is long.

    Args:
        node: The expression.
        location: Where the expression is, in words.
        lines: Lines of the file in UTF-8.
    """
    is_lambda = isinstance(node, ast.Lambda)
    rule, noun = (
        ("long-lambda", "lambda") if is_lambda else ("long-comprehension", "list comprehension")
    )
    if (characters := measure_length(node, lines)) > RULES[rule].limit:
        yield make_smell(rule, node, f"the {noun} {location}", characters)


def measure_length(node: ast.expr, lines: Sequence[bytes]) -> int:
    """Return the number of characters of an expression's code as if it were on one line.

    A line break with the indentation after it counts as one space.

    Args:
        node: Expression with positions.
        lines: Lines of the file in UTF-8, without comments.
    """
    # Columns in a syntax tree are counted in bytes:
    # https://docs.python.org/3/library/ast.html#ast.AST.col_offset
    own_lines = list(lines[node.lineno - 1 : node.end_lineno])
    own_lines[-1] = own_lines[-1][: node.end_col_offset]
    own_lines[0] = own_lines[0][node.col_offset :]
    stripped = (line.decode().strip() for line in own_lines)
    return len(" ".join(line for line in stripped if line))


def find_useless_exception(handler: ast.ExceptHandler, location: str) -> Iterator[Smell]:
    """Yield a smell if an error handler catches all errors, or does nothing about an error."""
    is_silent = all(
        isinstance(statement, ast.Pass)
        # The statement is `...`, a constant: the `value` of other expressions is no ellipsis.
        or (isinstance(statement, ast.Expr) and getattr(statement.value, "value", None) is ...)
        for statement in handler.body
    )
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {_last_name(error) if error else "BaseException" for error in caught}
    catches_all = bool(names & {"Exception", "BaseException"})
    if catches_all and any(isinstance(statement, ast.Raise) for statement in handler.body):
        return
    errors = "every error" if handler.type else "every error and even Ctrl-C"
    if catches_all and is_silent:
        harm = f"swallows {errors} without a trace; catch only what is expected and handle it"
    elif catches_all:
        harm = f"catches {errors}, so it hides bugs; catch only what is expected"
    elif is_silent:
        harm = "drops the error without a trace, so a failure goes unnoticed"
    else:
        return
    text = f"except {ast.unparse(handler.type)}" if handler.type else "except:"
    subject = f"the bare `{text}`" if not handler.type else f"`{text}`"
    if len(text) > _MAX_CLAUSE or "`" in text:
        subject = "the `except`"
    level = WARNING if catches_all and is_silent else NOTE
    subject = f"{subject} {location}"
    yield make_smell("useless-exception", handler, subject, 0, level=level, harm=harm)


def _last_name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def find_complex_code(node: Function, name: str) -> Iterator[Smell]:
    """Yield a smell if a function, without those inside it, has too many independent paths.

    Raises:
        RecursionError: The code nests too deeply for radon.
    """
    from radon.visitors import ComplexityVisitor  # noqa: PLC0415 - `--version` does not need it

    # Without `no_assert`, radon would count each `assert` as a path.
    paths = ComplexityVisitor.from_ast(node, no_assert=True).functions[0].complexity
    if paths > RULES["complex-code"].limit:
        level = WARNING if paths > ALARMING_PATHS else NOTE
        yield make_smell("complex-code", node, f"`{name}`", paths, level=level)


def find_low_cohesion(node: ast.ClassDef, name: str) -> Iterator[Smell]:
    """Yield a smell if the methods of a class share few attributes.

    Enumerations are left out, because methods need not use their members.
    """
    percent = None if any(_callee(base) in _ENUMS for base in node.bases) else cohesion(node)
    if percent is not None and 0 < percent < RULES["low-cohesion"].limit:
        yield make_smell("low-cohesion", node, f"`{name}`", percent)


def cohesion(node: ast.ClassDef) -> float | None:
    """Compute the cohesion of a class: the mean share of its attributes that a method uses.

    A class with M methods and A attributes has M x A pairs, and cohesion is the share of the pairs
    in which the method uses the attribute. Attributes are the names that methods read or write
    through their first parameter, except names of methods, and the names that the body of the class
    assigns. Static methods and class methods count as methods that use no attribute.

    Args:
        node: The class; classes inside it are ignored.

    Returns:
        Per cent, from 0 to 100; None for a class without methods or without attributes.

    Source:
        The measure of the package `cohesion`, computed by other code. Here, `async` methods count,
        and an attribute that is also called counts as an attribute.

    Example:
        One method uses both attributes and the other method uses one: three of four pairs.

        >>> code = '''
        ... class Point:
        ...     def __init__(self): self.x = self.y = 0
        ...     def left(self): return self.x
        ... '''
        >>> cohesion(ast.parse(code).body[0])
        75.0
    """
    methods = {item.name: item for item in node.body if isinstance(item, Function)}
    uses = [_attributes_used(method) for method in methods.values()]
    assigned = {
        target.id
        for item in node.body
        if isinstance(item, ast.Assign)
        for target in item.targets
        if isinstance(target, ast.Name) and not _is_special(target.id)
    }
    properties = {
        name
        for name, method in methods.items()
        for decorator in _decorators(method)
        if "property" in decorator or decorator in {"setter", "getter", "deleter"}
    }
    # A name that is only called is an inherited method and no attribute.
    attributes = assigned | {name for read, _ in uses for name in read}
    attributes -= methods.keys() - properties
    if not methods or not attributes:
        return None
    pairs = sum(len((read | called) & attributes) for read, called in uses)
    return 100 * pairs / (len(methods) * len(attributes))


def _attributes_used(method: Function) -> tuple[set[str], set[str]]:
    """Return the names that a method reads or writes on its object, and those that it calls."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    read: set[str] = set()
    called: set[str] = set()
    if not parameters or _decorators(method) & {"staticmethod", "classmethod"}:
        return read, called
    nodes = list(_walk_without_classes(method))
    callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == parameters[0].arg
            and not _is_special(node.attr)
        ):
            (called if id(node) in callees else read).add(node.attr)
    return read, called


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _decorators(method: Function) -> set[str]:
    return {_callee(decorator) for decorator in method.decorator_list}


_BUILTIN_METHODS: Final = frozenset(
    name
    for kind in (str, bytes, bytearray, list, tuple, dict, set, int, float, complex, memoryview)
    for name in dir(kind)
)


def find_shotgun_surgery(node: ast.ClassDef, name: str, imported: Iterable[str]) -> Iterator[Smell]:
    """Yield a smell if a class has many calls of code in other modules.

    Calls of imported names count, and calls of attributes that are reached from them. Methods of
    built-in types, such as `append`, count only directly after the imported name.
    """
    calls = []
    for call in _walk_without_classes(node):
        if not isinstance(call, ast.Call) or _origin(call.func) not in imported:
            continue
        is_deep = not isinstance(getattr(call.func, "value", None), ast.Name)
        is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _BUILTIN_METHODS
        if not (is_method and is_deep):
            calls.append(_callee(call.func))
    if len(calls) > RULES["shotgun-surgery"].limit:
        names = list(dict.fromkeys(calls))
        listed = ", ".join(f"`{callee}`" for callee in names[:_MAX_CALLS_NAMED])
        hidden = len(names) - _MAX_CALLS_NAMED
        listed += f" and {hidden} more" if hidden > 0 else ""
        yield make_smell("shotgun-surgery", node, f"`{name}`", len(calls), calls=listed)


def _walk_without_classes(top: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a block in the order of the code, without the classes inside it."""
    pending = [top]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ClassDef) and node is not top:
            continue
        yield node
        pending.extend(reversed(list(ast.iter_child_nodes(node))))


def _callee(function: ast.expr) -> str:
    """Return the last name of what is called: `c` of `a.b[0].c`, `type` of `type(self)()`."""
    while isinstance(function, ast.Call | ast.Subscript):
        function = function.func if isinstance(function, ast.Call) else function.value
    return _last_name(function)


def _origin(expression: ast.expr) -> str:
    """Return the first name in a chain of attributes, calls and items: `a` of `a.b(1)[0].c`."""
    while isinstance(expression, ast.Attribute | ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


_ENUMS: Final = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_RECORDS: Final = _ENUMS | {
    *("NamedTuple", "namedtuple", "TypedDict", "Struct", "BaseModel", "BaseSettings", "RootModel")
}
_RECORD_DECORATORS: Final = frozenset({"define", "frozen", "mutable", "attrs"})


def is_record(node: ast.stmt) -> bool:
    r"""Return whether the purpose of a class is to hold fields.

    Args:
        node: A class; for other statements, the result is False.

    Returns:
        True for data classes, named tuples, typed dictionaries, enumerations and similar classes of
        attrs, msgspec and pydantic. A class that inherits from such a class of the user is not
        recognized.

    Example:
        >>> is_record(ast.parse("@dataclass(frozen=True)\nclass A: ...").body[0])
        True
    """
    return isinstance(node, ast.ClassDef) and (
        any(_callee(base) in _RECORDS for base in node.bases)
        or any(
            _callee(decorator).endswith("dataclass")
            or _callee(decorator) in _RECORD_DECORATORS
            or _origin(decorator) in {"attr", "attrs"}  # `@attr.s`
            for decorator in node.decorator_list
        )
    )


def is_test_module(tree: ast.Module, imports: Iterable[ast.Import | ast.ImportFrom]) -> bool:
    """Return whether a module contains tests.

    The name of the file is not used, because it may be generated.

    Args:
        tree: The module.
        imports: All imports in the module, also those inside functions.

    Returns:
        True if the module imports pytest or unittest, or has a function `test_...` at the top level
        or in a class `Test...` at the top level.
    """
    statements = list(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            statements.extend(node.body)
    modules: set[str] = set()
    for node in imports:
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif not node.level:
            modules.add(node.module or "")
    packages = {module.partition(".")[0] for module in modules}
    return bool(packages & {"pytest", "unittest"}) or any(
        isinstance(node, Function) and node.name.startswith("test_") for node in statements
    )


_SIZES: Final = ("long-method", "long-branch", "complex-code")  # in their order in a sentence


def merge_sizes(smells: Iterable[Smell]) -> list[Smell]:
    """Merge the smells about the size of one function, which are one defect.

    The merged smell has the rule and measure with the largest quotient of measure and limit; if two
    are equal, statements come before branches and branches before paths. It has the highest level,
    and its sentence names all measures that exceed their limits.

    Args:
        smells: Smells of one file.

    Returns:
        The smells; those about the size of functions come last.
    """
    merged: list[Smell] = []
    sizes: dict[tuple[int, str], list[Smell]] = defaultdict(list)
    for smell in smells:
        group = sizes[smell.line, smell.subject] if smell.rule in _SIZES else merged
        group.append(smell)
    for group in sizes.values():
        group.sort(key=lambda smell: _SIZES.index(smell.rule))
        # If several are equal, `max` returns the first.
        worst = max(group, key=lambda smell: smell.measure / RULES[smell.rule].limit)
        if len(group) > 1:
            extent = f"{', '.join(smell.extent for smell in group[:-1])} and {group[-1].extent}"
            text = (
                f"{worst.subject} has {extent}; it is hard to follow and to test, so split it up."
            )
            level = max(smell.level for smell in group)  # "warning" sorts after "note"
            worst = replace(worst, extent=extent, text=text, level=level)
        merged.append(worst)
    return merged


if __name__ == "__main__":
    raise SystemExit(main())
