"""pyscent: finds eleven smells of Python code, with pylint, radon and the syntax tree.

`python -m crscore.static_analysis.pyscent FILE...` prints JSON. Exit codes: 0 no smell, 1 smells,
2 wrong usage, 3 a file could not be read (the findings of the others are still printed), 4 pylint
or radon is missing or failed.

The smells and their limits are the published ones, in `pyscent.toml`. The published tool prints one
sentence per smell and file; this one writes like a reviewer:

- One finding per function, class or expression. Statements, branches and paths of one function make
  one finding.
- Records may have many attributes, and enumerations may have low cohesion.
- Complexity counts only functions, at any depth, without `assert`: checks do not make a test
  complex.
- Shotgun surgery counts only calls into other modules, and not in tests, which exist to call them.
- A handler that catches all errors and raises again is acceptable. It is a warning only if it
  catches all errors and does nothing.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801v2, Table 14, and the reference code.
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
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from crscore.errors import CRScoreError, DependencyError, ToolFailedError, ToolOutputError

# The version is increased when findings change, because it is in the key of cached findings.
VERSION: Final = "1.2"
INSTALL: Final = "pip install 'crscore[analyzers]'"
NO_SMELL, SMELLS, NOT_READ, FAILED = 0, 1, 3, 4  # argparse itself exits with 2
NOTE, WARNING = "note", "warning"
# https://radon.readthedocs.io/en/latest/commandline.html#the-cc-command
ALARMING_PATHS: Final = 20
"""Independent paths above which a function is a warning: ranks D to F of radon."""
# pylint's exit code is a sum of bits:
# https://pylint.readthedocs.io/en/stable/user_guide/usage/run.html#exit-codes
_WRONG_USAGE: Final = 32
_MAX_CLAUSE: Final = 67  # characters of an `except` clause in a sentence
_MAX_CALLS_NAMED: Final = 3
# ValueError: a null character; LookupError: an encoding that is not one of text, such as `hex`
_UNREADABLE: Final = (
    *(OSError, SyntaxError, tokenize.TokenError, ValueError, LookupError),
    *(RecursionError, MemoryError),  # code that nests too deeply
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Smell with its limit and texts, a table of `pyscent.toml`."""

    limit: int
    """Largest acceptable measure, for cohesion the smallest; 0 if nothing is measured."""
    extent: str
    """Measure in words; `{n}` is the number."""
    text: str
    """Sentence with `{subject}`, `{extent}` and `{limit}`."""
    pylint: str = ""
    """pylint message that reports it."""
    option: str = ""
    """pylint option that sets its limit."""


_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RULES: Final = {name: Rule(**table) for name, table in _TABLES.items()}
"""Rules by id."""
BY_PYLINT: Final = {rule.pylint: name for name, rule in RULES.items() if rule.pylint}
"""Ids of rules by pylint's message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell:
    """Finding of a smell."""

    rule: str
    """Id of the rule."""
    line: int
    """First line, 1-based, without decorators."""
    end_line: int
    """Last line, inclusive."""
    subject: str
    """Code in words, the subject of the sentence."""
    measure: float
    """Measure in the rule's unit; 0 if nothing is measured."""
    extent: str
    """Measure in words."""
    text: str
    """Finding as one English sentence."""
    level: str
    """`note` or `warning`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """Findings in one file."""

    path: str
    """The path as given."""
    smells: tuple[Smell, ...] = ()
    """Smells by line."""
    unparsed: str | None = None
    """Reason for a missing or partial analysis; None when it is complete."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, by default the process's own.

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
    """Return the version with the versions of pylint and radon, which determine the findings.

    Returns:
        A version with a local part: `1.2+pylint4.1.4.radon6.0.1`.

    Raises:
        DependencyError: One of them is not installed.
    """
    parts = []
    for package in ("pylint", "radon"):
        try:
            parts.append(f"{package}{installed(package)}")
        except PackageNotFoundError as error:
            raise DependencyError(package, INSTALL) from error
    return f"{VERSION}+{'.'.join(parts)}"


def analyze(paths: Sequence[str]) -> tuple[FileReport, ...]:
    """Find the smells in some files.

    Args:
        paths: The files; a file given twice counts once.

    Returns:
        One report per file, in input order.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint failed as a whole, or its output cannot be read.
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
    """Read a file without its comments, so that no pragma is active; no line moves.

    All comments are removed, not only pragmas: pylint searches for its own with a regular
    expression that takes minutes on a comment of 100,000 characters.

    Args:
        path: The file.

    Returns:
        Code that parses; lines end with LF only.

    Raises:
        SyntaxError: It does not parse, or one of `_UNREADABLE` for another reason.
    """
    content = Path(path).read_bytes()
    # The encoding is detected as Python itself does: https://peps.python.org/pep-0263/
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip(" \t")
    code = "\n".join(lines)
    code.encode()  # lone surrogates, of utf-7
    _parse(code)
    return code


def _parse(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a string is not reported here
        return ast.parse(code)


Counts = dict[int, list[tuple[str, int]]]
"""Rules and measures of pylint by the line of the `def` or `class`."""


def run_pylint(codes: Mapping[str, str]) -> dict[str, Counts | None]:
    """Count statements, parameters, branches, attributes and methods.

    pylint (GPL-2.0-or-later) runs as a separate program on copies in an otherwise empty folder.

    Args:
        codes: Code by path.

    Returns:
        The messages above a limit, by path; None for a file that pylint could not read.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint crashed or rejected its arguments.
        ToolOutputError: Its output cannot be read.
    """
    if find_spec("pylint") is None:
        raise DependencyError("pylint", INSTALL)
    # The files get new names, because a path of the change could look like an option.
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
                # pylint is isolated (https://docs.python.org/3/using/cmdline.html#cmdoption-I) and
                # has an empty settings file: it runs the `init-hook` of a settings file that it
                # finds, and the analyzed code must not choose plugins or options.
                *(sys.executable, "-I", "-m", "pylint", f"--rcfile={settings}"),
                *("--output-format=json2", "--persistent=n", "--jobs=1", "--load-plugins="),
                # F and E0001 report a file that pylint cannot read.
                *("--disable=all", f"--enable=F,E0001,{','.join(BY_PYLINT)}"),
                *(f"{rule.option}={rule.limit}" for rule in RULES.values() if rule.option),
                *counts,
            ],
            cwd=work,
            # pylint writes crash reports next to the copies, not to the home folder.
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
                # Too many statements (63/50)
                measure = re.findall(r"\((\d+)/\d+\)", message["message"])[0]
                counts[name].setdefault(message["line"], []).append((rule, int(measure)))
    except (ValueError, LookupError, TypeError) as error:
        raise ToolOutputError("pylint", f"exit code {status}, {error}") from error
    values = (None if name in failed else counts[name] for name in counts)
    return dict(zip(codes, values, strict=True))


def find_smells(path: str, code: str, counts: Counts | None) -> FileReport:
    """Find the smells of one file.

    Args:
        path: The file.
        code: Code of the file, as `read_code` returns it.
        counts: pylint's messages on it; None if pylint could not read it.

    Returns:
        The smells, by line.
    """
    tree = _parse(code)
    lines = code.encode().split(b"\n")
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    aliases = (alias for node in imports for alias in node.names)
    imported = {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    if is_test_module(tree, imports):
        imported.clear()  # tests exist to call other modules
    smells: list[Smell] = []
    unparsed = "pylint cannot read it" if counts is None else None
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    try:
        while waiting:  # without recursion: a tree can be deeper than Python's stack
            node, scope = waiting.pop()
            location = f"in `{scope}`" if scope else "at the top of the module"
            match node:
                case ast.Lambda() | ast.ListComp():
                    smells += long_expression(node, location, lines)
                case ast.ExceptHandler():
                    smells += useless_exception(node, location)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope = f"{scope}.{node.name}".lstrip(".")
                    smells += pylint_smells(node, scope, counts or {})
                    smells += complex_code(node, scope)
                case ast.ClassDef():
                    scope = f"{scope}.{node.name}".lstrip(".")
                    smells += pylint_smells(node, scope, counts or {})
                    smells += low_cohesion(node, scope)
                    smells += shotgun_surgery(node, scope, imported)
            waiting.extend((child, scope) for child in ast.iter_child_nodes(node))
    except RecursionError:
        unparsed = "it nests too deeply"
    smells = merge_sizes(smells)
    smells.sort(key=lambda smell: (smell.line, smell.end_line, smell.rule, smell.text))
    return FileReport(path=path, smells=tuple(smells), unparsed=unparsed)


def pylint_smells(node: Function | ast.ClassDef, name: str, counts: Counts) -> Iterator[Smell]:
    """Make findings of pylint's messages on a function or a class."""
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
    """Make a finding in the rule's words.

    Args:
        rule: Id of the violated rule.
        node: Code that violates it.
        subject: The code in words, the subject of the sentence.
        measure: The measure, in the rule's unit; 0 if nothing is measured.
        level: `note` or `warning`.
        words: Further values for the rule's text.

    Returns:
        The finding, with its sentence.
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


def long_expression(
    node: ast.Lambda | ast.ListComp, location: str, lines: Sequence[bytes]
) -> Iterator[Smell]:
    """Find a lambda or a list comprehension that is long; `lines` are the file's, in UTF-8."""
    is_lambda = isinstance(node, ast.Lambda)
    rule, noun = (
        ("long-lambda", "lambda") if is_lambda else ("long-comprehension", "list comprehension")
    )
    if (characters := length(node, lines)) > RULES[rule].limit:
        yield make_smell(rule, node, f"the {noun} {location}", characters)


def length(node: ast.expr, lines: Sequence[bytes]) -> int:
    """Measure the length of an expression as if it were on one line.

    A line break with its indentation counts as one space. Comments are blank in `lines`.

    Args:
        node: An expression with its positions.
        lines: The file's lines in UTF-8, as indexed by the tree's positions.

    Returns:
        Number of characters of its source text.
    """
    # The columns of a tree count bytes: https://docs.python.org/3/library/ast.html#ast.AST.col_offset
    own_lines = list(lines[node.lineno - 1 : node.end_lineno])
    own_lines[-1] = own_lines[-1][: node.end_col_offset]
    own_lines[0] = own_lines[0][node.col_offset :]
    stripped = (line.decode().strip() for line in own_lines)
    return len(" ".join(line for line in stripped if line))


def useless_exception(handler: ast.ExceptHandler, location: str) -> Iterator[Smell]:
    """Find a handler that catches everything, or that discards the error."""
    is_silent = all(
        isinstance(statement, ast.Pass)
        # "...": of all expressions, only a constant can have this value
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


def complex_code(node: Function, name: str) -> Iterator[Smell]:
    """Find a function of rank C or worse, without the functions inside it.

    Raises:
        RecursionError: The function is too deep for radon.
    """
    from radon.visitors import ComplexityVisitor  # noqa: PLC0415 - `--version` does not need it

    # radon counts each `assert` as a path.
    paths = ComplexityVisitor.from_ast(node, no_assert=True).functions[0].complexity
    if paths > RULES["complex-code"].limit:
        level = WARNING if paths > ALARMING_PATHS else NOTE
        yield make_smell("complex-code", node, f"`{name}`", paths, level=level)


def low_cohesion(node: ast.ClassDef, name: str) -> Iterator[Smell]:
    """Find a class whose methods share few attributes.

    The members of an enumeration are not attributes that methods share.
    """
    percent = None if any(_callee(base) in _ENUMS for base in node.bases) else cohesion(node)
    if percent is not None and 0 < percent < RULES["low-cohesion"].limit:
        yield make_smell("low-cohesion", node, f"`{name}`", percent)


def cohesion(node: ast.ClassDef) -> float | None:
    """Compute the share of the class that each method uses.

    A class with M methods and A attributes has M x A pairs; its cohesion is the share of
    pairs in which the method names the attribute. Attributes are the names that a method reads or
    writes through its first parameter, other than methods, and the plain names that the class body
    assigns. Static and class methods count as methods that use no attribute.

    Args:
        node: The class, without the classes inside it.

    Returns:
        Per cent, in [0, 100]; None for a class without methods or without attributes.

    Source:
        The idea of the `cohesion` package (as commonly understood: the mean share of the attributes
        that a method names). Reimplemented; here `async` methods count, and an attribute
        that is called remains an attribute.

    Example:
        One method uses both attributes, the other one of them: three of four pairs.

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
    # Names that are only called are inherited methods.
    attributes = assigned | {name for read, _ in uses for name in read}
    attributes -= methods.keys() - properties
    if not methods or not attributes:
        return None
    pairs = sum(len((read | called) & attributes) for read, called in uses)
    return 100 * pairs / (len(methods) * len(attributes))


def _attributes_used(method: Function) -> tuple[set[str], set[str]]:
    """Return the attributes of its object that a method reads or writes, and the ones it calls."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    read: set[str] = set()
    called: set[str] = set()
    if not parameters or _decorators(method) & {"staticmethod", "classmethod"}:
        return read, called
    nodes = list(_without_classes(method))
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


def shotgun_surgery(node: ast.ClassDef, name: str, imported: Iterable[str]) -> Iterator[Smell]:
    """Find a class that calls much code of other modules.

    Calls of a name bound by an import count, or of an attribute reached from such a name. Methods
    of builtin types (`append`, `strip`) do not, unless they directly follow the imported name.
    """
    calls = []
    for call in _without_classes(node):
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


def _without_classes(top: ast.AST) -> Iterator[ast.AST]:
    """Walk a block in source order, leaving out the classes inside it."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef) and node is not top:
            continue
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _callee(function: ast.expr) -> str:
    """Return the last name of the callee, `c` of `a.b[0].c`; for `type(self)()`, `type`."""
    while isinstance(function, ast.Call | ast.Subscript):
        function = function.func if isinstance(function, ast.Call) else function.value
    return _last_name(function)


def _origin(expression: ast.expr) -> str:
    """Return the name that starts a chain of attributes, calls and items: `a` of `a.b(1)[0].c`."""
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
        node: A class; another statement is not a record.

    Returns:
        True for data classes, named tuples, typed dictionaries, enumerations and the like of attrs,
        msgspec and pydantic. Records that inherit from a class with another name are not
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
    """Return whether a module holds tests.

    Args:
        tree: The module. Its file name may be generated and is ignored.
        imports: Imports in the module, at any depth.

    Returns:
        True when it imports pytest or unittest, or has a function `test_...` at top level or in a
        top-level class `Test...`.
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


_SIZES: Final = ("long-method", "long-branch", "complex-code")  # in the order of the sentence


def merge_sizes(smells: Iterable[Smell]) -> list[Smell]:
    """Merge the findings on the size of one function, which are one defect.

    The merged finding has the rule of the measure that is furthest over its limit (the
    largest quotient of measure and limit; in a tie, statements before branches before paths), that
    rule's measure, and the worst level. Its sentence names all measures that exceed their limits.

    Args:
        smells: The findings of one file.

    Returns:
        The findings, the merged ones at the end.
    """
    merged: list[Smell] = []
    sizes: dict[tuple[int, str], list[Smell]] = defaultdict(list)
    for smell in smells:
        group = sizes[smell.line, smell.subject] if smell.rule in _SIZES else merged
        group.append(smell)
    for group in sizes.values():
        group.sort(key=lambda smell: _SIZES.index(smell.rule))
        # In a tie, `max` returns the first one.
        worst = max(group, key=lambda smell: smell.measure / RULES[smell.rule].limit)
        if len(group) > 1:
            extent = f"{', '.join(smell.extent for smell in group[:-1])} and {group[-1].extent}"
            text = (
                f"{worst.subject} has {extent}; it is hard to follow and to test, so split it up."
            )
            level = max(smell.level for smell in group)  # "warning" is after "note"
            worst = replace(worst, extent=extent, text=text, level=level)
        merged.append(worst)
    return merged


if __name__ == "__main__":
    raise SystemExit(main())
