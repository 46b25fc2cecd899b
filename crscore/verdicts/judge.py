"""Judges statements about a change, by checks of both versions of the code.

The code in a sentence is masked, and patterns read its words. The checks are about the uses of a
name, its tests, and files outside of the change. One line proves that a name is used; only the full
repository proves that it is not.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from crscore.diff.paths import role_of
from crscore.records import Comment, Effect, LineSpan, Receipt, Sentence, Side, Suggestion, Verdict
from crscore.syntax.change import ParsedChange
from crscore.text import CODE_SPAN, quote
from crscore.verdicts.repository import Code, FileText, Repository

# Refuted remarks score 0, so a check that decides differently changes scores.
VERSION: Final = "4"
"""Version of the checks, for the signature."""
# Verdicts take 2 % of the time of an ordinary run, which has far fewer remarks
# (benchmarks/verdicts.py); very many remarks must not take more.
MAX_REMARKS: Final = 500
"""Maximum remarks about a change that are judged."""
# Shorter names, such as `id` or `get`, are also words, or members of most objects.
MIN_NAME: Final = 4
"""Minimum characters of a name that is looked up."""
# Shorter single words are often members of other objects, too.
MIN_WORD: Final = 8
"""Minimum characters of a single-word member."""
MAX_PROOF: Final = 3
"""Maximum number of lines of a receipt."""
_CODE: Final = re.compile(
    CODE_SPAN.pattern
    # obj.method, ns::name, a->b, snake_case, camelCase, name(): not English words.
    + r"|(?<![\w`/.@-])(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*"
    r"(?:\((?:[^\s()]|, (?=\w))*\))?)(?![\w/])"
)
# "max_tries", "maxTries", "a::b", "f(", "os.path"; not "done.", "Retry"
_CODE_LIKE: Final = re.compile(r"_|[a-z0-9][A-Z]|::|->|\(|(?<=\w)\.(?=\w)")
# "e.g.", "example.com", and names of products that have the form of code.
_NO_CODE: Final = re.compile(
    r"(?i:(?:[a-z]\.)+[a-z]\.?|.*\.(?:com|org|io|net))|GitHub|JavaScript|TypeScript|PostgreSQL"
    r"|MySQL|DevTools|OpenAI|OpenTelemetry|MinGW|macOS|iOS|JUnit|PyPI|NaN|JSDoc|JavaDoc|JetBrains"
    r"|GraphQL|[A-Z][a-z]+Rabbit|[A-Z]+s"
)
# "obj.close()" is read as "obj.close", ".get(...)" as "get", "f(x);" as "f(x)".
_ENDS: Final = re.compile(r"^\W*\.(?=\w)|(?:\(\s*(?:\.{3}|…)?\s*\)|[;,])+$")
MASK: Final = "§"
"""Encloses the index of a code mention in the masked text: `§0§` is the first."""
MASKED: Final = r"§\d+§"
"""Matches a code mention in the masked text."""
# Some patterns take quadratic time.
MAX_CHARS: Final = 600
"""Maximum characters of a sentence that is read."""


@dataclass(frozen=True, eq=False)
class Phrase:
    """Sentence with its code masked."""

    masked: str
    """The sentence with `§0§`, `§1§` ... for its code mentions."""
    mentions: tuple[str, ...]
    """Code as written, without an empty call, a leading dot or a trailing comma."""

    def mention(self, mask: str | None) -> str | None:
        """Return the code mention of a mask."""
        return self.mentions[int(mask.strip(MASK))] if mask else None

    def unmask(self, text: str, show: Callable[[str], str] = str) -> str:
        """Return a part of the masked sentence with its code, formatted by `show`."""
        return re.sub(MASKED, lambda mask: show(self.mentions[int(mask[0].strip(MASK))]), text)


def judge_remarks(
    remarks: Sequence[Sequence[Sentence]],
    comments: Sequence[Comment],
    suggestions: Sequence[tuple[Suggestion, ...]],
    change: ParsedChange,
    repository: Repository | None = None,
) -> list[Receipt | None]:
    """Check the remarks of a review against its change.

    Args:
        remarks: The sentences and proposals of each remark, at least one.
        comments: The comments, with the lines that they are on.
        suggestions: Their suggestion blocks, judged against the lines that they replace.
        change: The change, with full files where they are known.
        repository: The rest of the repository; None if it is unknown.

    Returns:
        A receipt for each remark; None if no check decides it, or if it is on an older version of
        the change: the author may have done what it asked for since then.
    """
    code = Code(change, repository)
    counts = Counter(units[0].comment for units in remarks)
    receipts: list[Receipt | None] = [None] * len(remarks)
    for index, units in enumerate(remarks[:MAX_REMARKS]):
        comment = comments[units[0].comment]
        if comment.is_older:
            continue
        # If the comment has several remarks, the blocks belong to the one with the proposal.
        if counts[units[0].comment] == 1 or any(unit.proposal for unit in units):
            receipts[index] = check_suggestions(suggestions[units[0].comment], comment)
        receipts[index] = receipts[index] or _check_uses(units, code)
    return receipts


def check_suggestions(suggestions: Sequence[Suggestion], comment: Comment) -> Receipt | None:
    """Refute a remark if none of its suggestion blocks can be used.

    It is not a fault that the host refuses to apply a block.
    """
    faults = [
        "The suggested code is already there."
        if suggestion.effect is Effect.NOTHING
        else "The file does not parse with the suggested code."
        for suggestion in suggestions
        if suggestion.effect is Effect.NOTHING or suggestion.parses is False
    ]
    if not faults or len(faults) < len(suggestions):
        return None
    lines: tuple[LineSpan, ...] = ()
    if comment.path is not None and comment.line is not None:
        start = comment.start_line or comment.line
        lines = (LineSpan(path=comment.path, side=comment.side, start=start, end=comment.line),)
    claim = "the suggested code is better"
    return Receipt(verdict=Verdict.REFUTED, says=claim, fact=faults[0], lines=lines)


def _check_uses(sentences: Sequence[Sentence], code: Code) -> Receipt | None:
    """Return the first refutation, else the first confirmation."""
    confirmed = None
    # One false clause refutes a remark, even if the rest is true.
    for unit in sentences:
        if unit.proposal or len(unit.text) > MAX_CHARS:
            continue
        phrase = mask(unit.text)
        for check in (check_unused, check_used, check_path):
            receipt = check(phrase, code)
            if receipt and receipt.verdict is Verdict.REFUTED:
                return receipt
            confirmed = confirmed or receipt
    return confirmed


def mask(sentence: str) -> Phrase:
    """Mask the code of a sentence.

    Example:
        >>> mask("Why does `f(x)` call obj.close() twice?").masked
        'Why does §0§ call §1§ twice?'
    """
    mentions: list[str] = []

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name and (not _CODE_LIKE.search(name) or _NO_CODE.fullmatch(name)):
            return name
        mentions.append(_ENDS.sub("", (name or match["code"]).strip()).strip())
        return f"{MASK}{len(mentions) - 1}{MASK}"

    # A mask in the author's text would refer to a mention that does not exist.
    return Phrase(_CODE.sub(replace, sentence.replace(MASK, " ")), tuple(mentions))


_WORDS: Final = {
    name: "|".join(words.split("; "))
    for name, words in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text("utf-8")
    ).items()
}
"""Name of a list of synonyms -> the synonyms, as alternatives of a pattern."""


def pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern in which `<name>` is a list of `words.toml`, and `§` a code mention.

    Example:
        >>> bool(pattern("<uses> §").search("This calls §0§."))
        True
    """
    filled = re.sub(r"(?<![?P(])<(\w+)>", lambda match: f"(?:{_WORDS[match[1]]})", text)
    return re.compile(filled.replace("§", MASKED), re.IGNORECASE)


_BORDER: Final = pattern(
    r"(?:[;:!]|(?<!e\.g)\.|\?(?!$))(?=\s|$)|\s[-–—]\s|,\s(?=<joins>\b)|,?\s(?=<splits>\b)"
)
"""Matches the border between two clauses of a sentence."""
_NAME: Final = re.compile(r"(?:[\w$]+(?:\.|::|->|#))*[A-Za-z_$][\w$]*")
# "a.py", "src/shop/a.test.ts"; not "src/shop", "obj.method()"
_PATH: Final = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)*\.[A-Za-z]\w{0,7}")
# "parse_tree", "parseTree"; not "parse", "_parse"
_MANY_WORDS: Final = re.compile(r"(?<=[^_])_(?=[^_])|[a-z0-9][A-Z]")
_N: Final = r"(?P<name>§|it|them)"
_P: Final = r"(?P<path>§)"
_IS: Final = r"(?: is| are|'s)?(?: <barely>)*"
# "`f` is unused", "`f` isn't called", "no callers of `f`", "nothing else than `a.py` uses `f`"
_NONE: Final = (
    pattern(
        rf"(?<!\bin )(?<!\bof ){_N}{_IS}"
        r" (?:unused|dead\b|untested|(?:never|not|no longer)(?: <barely>)* <used>)"
    ),
    pattern(rf"{_N} (?:is|are)n't(?: <barely>)* <used>"),
    pattern(rf"{_N} is defined but (?:never|not)(?: <barely>)* <used>"),
    pattern(rf"{_N} (?:never|does not|doesn't) (?:appears? in|have)"),
    pattern(rf"{_N} has no(?: <barely>)* <users>\b"),
    pattern(rf"\bno(?: <barely>)* <users> (?:of|to|for|that <uses>) {_N}"),
    pattern(
        rf"\b(?:nobody|nothing|no one|none of the \w+|no [\w-]+(?: \w+)?|tests? never)(?: else)?"
        rf"(?: than {_P})?(?: <barely>)* <uses>(?: an?| the)? {_N}"
    ),
)
# "`f` is only used in `a.py`", "all uses of `f` are in `a.py`"
_ONLY: Final = (
    pattern(rf"{_N} (?:is|are) (?:only|just) <used>(?: only)? (?:in|inside|within|by|from) {_P}"),
    pattern(rf"{_N} (?:is|are) <used> only (?:in|inside|within|by|from) {_P}"),
    pattern(rf"\ball <users> of {_N} are in {_P}"),
)
# "`a.py` still calls `f`", "`f` is used by `a.py`", "other files use `f`"
_USED: Final = (
    pattern(rf"(?<!\bin )(?<!\bof ){_P}(?: <barely>)* <uses>(?: an?| the)? {_N}"),
    pattern(rf"{_N}{_IS} <used>(?: <barely>)* (?:in|inside|within|by|from) {_P}"),
    pattern(rf"{_N} has(?: <barely>)* <users> in {_P}"),
    pattern(rf"(?<!no )\bother \w+(?: <barely>)* <uses> {_N}"),
    pattern(rf"\b<users> of {_N} (?:in|elsewhere|break)"),
)
# "`f` should not be used", "if `f` is unused", "`f` was never called", "perhaps nothing uses `f`":
# these do not assert anything about the new version. In doubt there is no verdict, because a
# refuted remark is worth 0.
_HEDGE: Final = pattern(
    r"\b(?:should|could|would|might|may|can|if|unless|until|please|consider|whether|was|were|used"
    r" to|once|when|why|seems?|looks|probably|perhaps|likely|lines? \d+)\b"
)
# A condition at run time: "`parse` raises, then `save` is never called" may be true on one path.
_CONDITION: Final = pattern(
    r"\b(?:if|when(?:ever)?|unless|once|until|otherwise|else|throw(?:s|n|ing)?|rais(?:es?|ed|ing)"
    r"|return(?:s|ed|ing)?(?: early)?|exit(?:s|ed|ing)?|fail(?:s|ed|ing|ures?)?|crash\w*|abort\w*"
    r"|panic\w*|exceptions?|errors?|timeouts?|times? out|branch|path|case|empty)\b"
)
# "so `save` is never called", "in that case nothing reads `buffer`"
_CONSEQUENCE: Final = re.compile(
    r"\W*(?:(?:and|so|but) )?(?:then|so|hence|thus|therefore|otherwise|leaving|which|and"
    r"|(?:in|on) (?:that|this|which|such an?|the \w+) (?:case|path|branch))\b",
    re.IGNORECASE,
)
# "`save` is never called, because `parse` raises"
_REASON: Final = re.compile(r"\W*(?:as|since|because|for|given|now that)\b", re.IGNORECASE)
# "Is `f` unused?"; not "`f` is unused, right?"
_QUESTION: Final = re.compile(r"^\W*(?:is|are|has|does|do|did|how|what)\b.*\?", re.IGNORECASE)
# "here `f` is unused", "after the loop nothing reads `f`"
_LOCAL: Final = pattern(
    r"^\W*(?:on|upon|for|with|without|after|during|at)\b"
    r"|\b(?:here|in th(?:is|at)|this (?:file|function|method)|locally|inside|within)\b"
)
# "`f` is not called in the error path", but not "... in the repository" or "... in other files"
_PART: Final = pattern(
    r"^(?: \w+)? (?:in|inside|within|by|from|for|on|at|after)\b"
    r"(?! (?:the |any |our )?(?:other|repo\w*|code ?base|project|tests?|this change)\b)"
)
_OUTSIDE: Final = pattern(
    r"\boutside(?: of)? (?P<path>§)?|\bother\b|\belse(?:where)?\b|\b(?:than|besides) (?P<than>§)"
)
# "test", "tests", "untested"; not "latest"
_TESTS: Final = re.compile(r"\b(?:un)?test(?:s|ed)?\b", re.IGNORECASE)
_DENIED: Final = pattern(r"\b<absent>\b|n't\b|\b<gone>\b")
_CHECKS: Final = re.compile(r"\bcheck(?:s|ed)?\b", re.IGNORECASE)
_PROPOSED: Final = pattern(r"\b(?:<hypothetical>|new|add|adds|creates?|moves?|split)\b")
# Types of nodes in the grammars of tree-sitter, by parts of their names: "line_comment",
# "string_literal", "char_literal", "template_substitution", "import_from_statement".
_TEXT_NODE: Final = re.compile(r"comment|string|char|text|content|heredoc|regex")
_CODE_IN_TEXT: Final = re.compile(r"interpolation|substitution|embedded|jsx_expression")
_IMPORT_NODE: Final = re.compile(r"import|use_decl|using|include|package|require")
_NAMING_NODE: Final = re.compile(
    r"declar|defin|function|class|method|struct|interface|enum|alias|constructor|trait|item|param"
)
_ASSIGNING_NODE: Final = re.compile(r"assignment|declarator|short_var")
_MEMBER_NODE: Final = re.compile(r"attribute|member|selector|field_expr|scoped|call_expr|qualified")


Role: TypeAlias = Literal["code", "import", "mention", "definition"]
"""Role of a name on a line; a mention is in a comment, a string, a keyword or a file that is not
code."""


class _Use(NamedTuple):
    """Line of the new version with a name."""

    text: FileText
    number: int
    role: Role
    is_member: bool

    @property
    def is_test(self) -> bool:
        return self.text.language is not None and role_of(self.text.path) == "test"


class _Uses(NamedTuple):
    """Lines of the new version with a name."""

    name: str
    uses: list[_Use]
    defining: frozenset[str]
    """Paths of the files that define it."""
    is_own: bool
    """Whether only files of the change define it, or defined it before."""

    def sure(self) -> list[_Use]:
        """Return the lines that certainly use this name, even if other files define it, too."""
        # Many objects may have a member `run`, but hardly another one has `parse_remote_tree`.
        unique = bool(_MANY_WORDS.search(self.name.strip("_"))) or len(self.name) >= MIN_WORD
        used = [use for use in self.uses if use.role == "code" and (unique or not use.is_member)]
        if len(self.defining) <= 1:
            return used
        at_home = [use for use in used if use.text.path in self.defining]
        is_clear = {use.text.path for use in at_home} == self.defining
        return at_home if is_clear else []


def _uses_of(name: str, code: Code) -> _Uses | None:
    texts = code.repository.texts_with(name, code.change) if code.repository else []
    if texts is None:
        return None
    uses = [
        _Use(text, number, *_read_node(node))
        for text in (*code.texts[Side.NEW], *texts)
        if text.version.is_whole
        for number, node in text.nodes_named(name)
    ]
    defining = frozenset(use.text.path for use in uses if use.role == "definition")
    changed_paths = {text.path for text in code.texts[Side.NEW]}
    before = (pair for text in code.texts[Side.OLD] for pair in text.nodes_named(name))
    is_own = defining <= changed_paths and (
        bool(defining) or any(_read_node(node)[0] == "definition" for _, node in before)
    )
    return _Uses(name, uses, defining, is_own)


def _read_node(node: Any) -> tuple[Role, bool]:
    """Return the role of a name's node, and whether it is a member of an object."""
    parent = node.parent if node is not None else None
    if node is None or parent is None:
        return "mention", False
    is_member = bool(_MEMBER_NODE.search(parent.type)) and parent.children[0] != node
    # `f(name=1)` names a parameter, even if something else has that name.
    if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
        return "mention", False
    outer = node
    while outer is not None and outer.parent is not None and not _CODE_IN_TEXT.search(outer.type):
        if _TEXT_NODE.search(outer.type):
            return "mention", False
        if _IMPORT_NODE.search(outer.type):
            return "import", False
        outer = outer.parent
    fields = [parent.child_by_field_name(field) for field in ("name", "declarator", "left")]
    is_named = fields[0] == node and _NAMING_NODE.search(parent.type)
    is_assigned = node in fields and _ASSIGNING_NODE.search(parent.type)
    is_parameter = "parameter" in parent.type
    return ("definition" if is_named or is_assigned or is_parameter else "code"), is_member


class _Assertion(NamedTuple):
    """Assertion of a clause about the uses of a name."""

    name: str
    path: str | None
    """File that it is about, or that it excludes."""
    is_test: bool
    is_beyond: bool
    """Whether it is about other files than the files that define the name."""
    is_local: bool
    """Whether it is about a part of a file."""
    claim: str

    def denies(self, use: _Use, defining: frozenset[str]) -> bool:
        """Return whether it denies a use; `defining` are the files that define the name."""
        if self.is_test:
            return use.is_test
        paths = [self.path] if self.path else defining
        return not self.is_beyond or not any(_is_at(use.text, path) for path in paths)


def _split_clauses(phrase: Phrase) -> list[str]:
    return [clause for clause in _BORDER.split(phrase.masked) if clause.strip()]


def _read_assertions(phrase: Phrase, patterns: tuple[re.Pattern[str], ...]) -> Iterator[_Assertion]:
    """Yield the assertions of the clauses of a sentence."""
    codes = {code for code in phrase.mentions if _NAME.fullmatch(code)}
    codes -= {code for code in phrase.mentions if _PATH.fullmatch(code)}
    for clause in _split_clauses(phrase):
        matches = (regex.search(clause) for regex in patterns)
        match = next(filter(None, matches), None)
        if (
            match is None
            or _HEDGE.search(clause[: match.end()])
            or _QUESTION.search(clause)
            or _is_conditional(phrase.masked, clause, match.end())
        ):
            continue
        # "Nothing checks `f`" does not say that it is unused.
        if _CHECKS.search(match[0]) and not _TESTS.search(clause):
            continue
        if match["name"].startswith(MASK):
            code = phrase.mention(match["name"]) or ""
        else:
            # "It" means the only name of the sentence, if that comes before it.
            start = phrase.masked.index(clause) + match.start("name")
            earlier = {phrase.mention(mask) for mask in re.findall(MASKED, phrase.masked[:start])}
            code = next((mention for mention in earlier if mention and {mention} == codes), "")
        outside = _OUTSIDE.search(clause)
        masks = [match.groupdict().get("path"), *(outside.groups() if outside else ())]
        file = phrase.mention(next(filter(None, masks), None))
        is_local = _LOCAL.search(clause) or _PART.search(clause[match.end() :])
        name = re.split(r"\W+", code)[-1]
        if code in codes and len(name) >= MIN_NAME and (file is None or _PATH.fullmatch(file)):
            yield _Assertion(
                name=name,
                path=file,
                is_test=bool(_TESTS.search(clause)),
                is_beyond=bool(file or outside),
                is_local=bool(is_local) and not (file or outside),
                claim=phrase.unmask(clause, quote).strip(" *_-"),
            )


def _is_conditional(sentence: str, clause: str, end: int) -> bool:
    """Return whether the assertion of a clause, up to `end`, holds on one path of the code only."""
    before, _, after = sentence.partition(clause)
    if _CONSEQUENCE.match(clause):
        # Without a clause before it, the assertion follows from the previous sentence.
        return not before.strip() or bool(_HEDGE.search(before) or _CONDITION.search(before))
    reason = after if _REASON.match(after.lstrip(" ,;:–—-")) else ""
    earlier = "" if _REASON.match(clause) else before
    return any(map(_CONDITION.search, (earlier, clause[end:], reason)))


def _prove_use(verdict: Verdict, assertion: _Assertion, uses: list[_Use]) -> Receipt:
    """Return the receipt of an assertion that uses of its name decide."""
    fact = f"Line {uses[0].number} of {quote(uses[0].text.path)} uses {quote(assertion.name)}."
    lines = (
        LineSpan(path=use.text.path, side=Side.NEW, start=use.number, end=use.number)
        for use in uses
    )
    spans = tuple(dict.fromkeys(lines))[:MAX_PROOF]
    return Receipt(verdict=verdict, says=assertion.claim, fact=fact, lines=spans)


def _is_at(text: FileText, path: str) -> bool:
    return f"/{text.path}".endswith(f"/{path}")


def check_unused(phrase: Phrase, code: Code) -> Receipt | None:
    """Check a statement that nothing, nothing else or no test uses a name."""
    for assertion in _read_assertions(phrase, (*_NONE, *_ONLY)):
        name_uses = None if assertion.is_local else _uses_of(assertion.name, code)
        if name_uses is None:
            continue
        relevant = [use for use in name_uses.uses if assertion.denies(use, name_uses.defining)]
        # One certain use refutes the statement. To confirm it, the name must not be on any line of
        # code, not even in a string: `assert "LIMIT_OF_STOCK"` may be a use. Files that are not
        # code are ignored.
        if used := [use for use in name_uses.sure() if assertion.denies(use, name_uses.defining)]:
            return _prove_use(Verdict.REFUTED, assertion, used)
        is_nowhere = not any(use.text.language and use.role != "definition" for use in relevant)
        is_own = name_uses.is_own and (assertion.is_beyond or _is_plain(name_uses))
        if is_nowhere and (assertion.is_test or is_own) and code.is_everything:
            beyond = "No other file" if assertion.is_beyond else "Nothing"
            subject = "No test" if assertion.is_test else beyond
            fact = f"{subject} in the repository names {quote(assertion.name)}."
            return Receipt(verdict=Verdict.CONFIRMED, says=assertion.claim, fact=fact)
    return None


def _is_plain(name_uses: _Uses) -> bool:
    """Return whether only code with its name can call it: not a method, not a framework's hook."""
    for use in name_uses.uses:
        if use.role != "definition":
            continue
        text, line = use.text, use.number
        unit = text.unit_at(line)
        line_above = text.version.lines.get(line - 1, "").strip()
        is_indented = text.version.lines[line][:1].isspace()
        is_inner = unit is not None and unit.start < line
        # A method is called through objects of any name, and a framework calls what `@app.route`,
        # `#[test]` or `[Fact]` marks.
        if is_indented or is_inner or line_above.startswith(("@", "#[", "[")):
            return False
    # Python, the operating system or a test runner calls functions with these names.
    return not name_uses.name.startswith("__") and name_uses.name not in {"main", "setup"}


def check_used(phrase: Phrase, code: Code) -> Receipt | None:
    """Check a statement that a file or other files use a name."""
    for assertion in _read_assertions(phrase, _USED):
        name_uses = _uses_of(assertion.name, code)
        path = assertion.path
        if name_uses is None or not assertion.is_beyond:
            continue
        if path and (refutation := _refute_path(path, code)):
            return refutation
        relevant = [
            use
            for use in name_uses.uses
            if (_is_at(use.text, path) if path else use.text.path not in name_uses.defining)
        ]
        # Code is a better proof than an import.
        used = [use for role in ("code", "import") for use in relevant if use.role == role]
        # Two files that both define the name may each use their own definition.
        if used and len(name_uses.defining) <= 1:
            return _prove_use(Verdict.CONFIRMED, assertion, used)
        if not relevant and code.is_everything and (name_uses.is_own or name_uses.uses):
            subject = f"{quote(path)} does not name" if path else "No other file names"
            fact = f"{subject} {quote(assertion.name)}."
            return Receipt(verdict=Verdict.REFUTED, says=assertion.claim, fact=fact)
    return None


def check_path(phrase: Phrase, code: Code) -> Receipt | None:
    """Refute the mention of a file that the repository does not have."""
    if _PROPOSED.search(phrase.masked) or _DENIED.search(phrase.masked) or "?" in phrase.masked:
        return None
    for clause in _split_clauses(phrase):
        for mask in () if _HEDGE.search(clause) else re.finditer(MASKED, clause):
            path = phrase.mentions[int(mask[0].strip(MASK))]
            if "/" in path and (refutation := _refute_path(path, code)):
                return refutation
    return None


def _refute_path(path: str, code: Code) -> Receipt | None:
    """Refute that a file exists; None if either version of the repository may have it."""
    if not code.repository or not code.is_everything or not _PATH.fullmatch(path):
        return None
    changed_paths = [
        path for file in code.change.files for path in (file.path, file.old_path or "")
    ]
    is_changed = any(f"/{changed}".endswith(f"/{path}") for changed in changed_paths)
    if is_changed or code.repository.has_path(path):
        return None
    claim, fact = f"there is {quote(path)}", f"The repository has no {quote(path)}."
    return Receipt(verdict=Verdict.REFUTED, says=claim, fact=fact)
