"""Judges what remarks say about a change by checking both versions of the code.

The code in a sentence is masked, and patterns are matched against the other words. The checks are
about uses of a name, tests of a name, and whether a file exists. A single line proves that a name
is used, but only the whole repository proves that it is unused.
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
# Verdicts take 2 % of the time of an ordinary run (benchmarks/verdicts.py), which has far fewer
# remarks than this; the limit keeps the share small for very many remarks.
MAX_REMARKS: Final = 500
"""Maximum number of remarks about a change that are judged."""
# Shorter names, such as `id` or `get`, are also words, or members of most objects.
MIN_NAME: Final = 4
"""Minimum number of characters of a name that is looked up."""
# In `a.run`, the member `run` may be another object's; a long word is hardly ever ambiguous.
MIN_WORD: Final = 8
"""Minimum number of characters of a name of one word for `a.name` to prove a use of the name."""
MAX_PROOF: Final = 3
"""Maximum number of lines of code that a receipt cites."""
_CODE: Final = re.compile(
    CODE_SPAN.pattern
    # Or any word, of which `mask` keeps code: obj.method, ns::name, a->b, snake_case, name()
    + r"|(?<![\w`/.@-])(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*"
    r"(?:\((?:[^\s()]|, (?=\w))*\))?)(?![\w/])"
)
# Matches "max_tries", "maxTries", "a::b", "f(" and "os.path", but not "done." or "Retry".
_CODE_LIKE: Final = re.compile(r"_|[a-z0-9][A-Z]|::|->|\(|(?<=\w)\.(?=\w)")
# Matches "e.g.", "example.com", and names of products that look like code.
_NO_CODE: Final = re.compile(
    r"(?i:(?:[a-z]\.)+[a-z]\.?|.*\.(?:com|org|io|net))|GitHub|JavaScript|TypeScript|PostgreSQL"
    r"|MySQL|DevTools|OpenAI|OpenTelemetry|MinGW|macOS|iOS|JUnit|PyPI|NaN|JSDoc|JavaDoc|JetBrains"
    r"|GraphQL|[A-Z][a-z]+Rabbit|[A-Z]+s"
)
# Matches what is cut off: "obj.close()" becomes "obj.close", and ".get(...)" becomes "get".
_ENDS: Final = re.compile(r"^\W*\.(?=\w)|(?:\(\s*(?:\.{3}|…)?\s*\)|[;,])+$")
MASK: Final = "§"
"""Encloses the index of a code mention in the masked text: `§0§` is the first."""
MASKED: Final = r"§\d+§"
"""Matches a code mention in the masked text."""
# The length is limited, because some patterns take quadratic time.
MAX_CHARS: Final = 600
"""Maximum number of characters of a sentence that is checked."""


@dataclass(frozen=True, eq=False)
class Phrase:
    """Sentence with its code masked."""

    masked: str
    """The sentence with `§0§`, `§1§` ... for its code mentions."""
    mentions: tuple[str, ...]
    """Code as written, without an empty call, a leading dot or a trailing comma."""

    def mention(self, mask: str | None) -> str | None:
        """Return the code mention of a mask; None if there is no mask."""
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
        suggestions: Judgements of the suggestion blocks of each comment.
        change: The change, with whole files if they are known.
        repository: The rest of the repository; None if it is unknown.

    Returns:
        For each remark a receipt, or None if no check decides it. A remark on an older version of
        the change has None, because the author may since have done what it asked for.
    """
    code = Code(change, repository)
    counts = Counter(sentences[0].comment for sentences in remarks)
    receipts: list[Receipt | None] = [None] * len(remarks)
    for index, sentences in enumerate(remarks[:MAX_REMARKS]):
        comment = comments[position := sentences[0].comment]
        if comment.is_older:
            continue
        # If the comment has several remarks, its blocks belong to those with a proposal.
        if counts[position] == 1 or any(sentence.proposal for sentence in sentences):
            receipts[index] = check_suggestions(suggestions[position], comment)
        receipts[index] = receipts[index] or _check_sentences(sentences, code)
    return receipts


def check_suggestions(suggestions: Sequence[Suggestion], comment: Comment) -> Receipt | None:
    """Refute a remark if each of its suggestion blocks changes nothing or breaks the file.

    It does not matter whether the host can apply the blocks.

    Returns:
        The receipt; None if the remark is not refuted.
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


def _check_sentences(sentences: Sequence[Sentence], code: Code) -> Receipt | None:
    """Return the first refutation of a sentence, else the first confirmation, else None."""
    confirmed = None
    # One false clause refutes a remark, even if the rest is true.
    for sentence in sentences:
        if sentence.proposal or len(sentence.text) > MAX_CHARS:
            continue
        phrase = mask(sentence.text)
        for check in (check_unused, check_used, check_path):
            receipt = check(phrase, code)
            if receipt and receipt.verdict is Verdict.REFUTED:
                return receipt
            confirmed = confirmed or receipt
    return confirmed


def mask(sentence: str) -> Phrase:
    """Replace each mention of code in a sentence by a mask.

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

    # A mask in the original sentence would refer to a mention that does not exist.
    return Phrase(_CODE.sub(replace, sentence.replace(MASK, " ")), tuple(mentions))


_WORDS: Final = {
    name: "|".join(words.split("; "))
    for name, words in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text("utf-8")
    ).items()
}
"""Lists of synonyms by name, each joined to alternatives of a pattern."""


def pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern in which `<name>` is a list of `words.toml`, and `§` is a code mention.

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
# Matches "a.py" and "src/shop/a.test.ts", but not "src/shop" or "obj.method()".
_PATH: Final = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)*\.[A-Za-z]\w{0,7}")
# Matches "parse_tree" and "parseTree", but not "parse" or "_parse".
_MANY_WORDS: Final = re.compile(r"(?<=[^_])_(?=[^_])|[a-z0-9][A-Z]")
# Parts of the patterns below: a name, a path, and a form of "to be" with adverbs.
_N: Final = r"(?P<name>§|it|them)"
_P: Final = r"(?P<path>§)"
_IS: Final = r"(?: is| are|'s)?(?: <barely>)*"
# These match "`f` is unused", "`f` isn't called", "no callers of `f`", and "nothing else than
# `a.py` uses `f`".
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
# These match "`f` is only used in `a.py`" and "all uses of `f` are in `a.py`".
_ONLY: Final = (
    pattern(rf"{_N} (?:is|are) (?:only|just) <used>(?: only)? (?:in|inside|within|by|from) {_P}"),
    pattern(rf"{_N} (?:is|are) <used> only (?:in|inside|within|by|from) {_P}"),
    pattern(rf"\ball <users> of {_N} are in {_P}"),
)
# These match "`a.py` still calls `f`", "`f` is used by `a.py`" and "other files use `f`".
_USED: Final = (
    pattern(rf"(?<!\bin )(?<!\bof ){_P}(?: <barely>)* <uses>(?: an?| the)? {_N}"),
    pattern(rf"{_N}{_IS} <used>(?: <barely>)* (?:in|inside|within|by|from) {_P}"),
    pattern(rf"{_N} has(?: <barely>)* <users> in {_P}"),
    pattern(rf"(?<!no )\bother \w+(?: <barely>)* <uses> {_N}"),
    pattern(rf"\b<users> of {_N} (?:in|elsewhere|break)"),
)
# Matches clauses that assert nothing about the new version: "`f` should not be used", "if `f` is
# unused", "`f` was never called", "perhaps nothing uses `f`". In doubt there is no verdict, because
# a refuted remark is worth 0.
_HEDGE: Final = pattern(
    r"\b(?:should|could|would|might|may|can|if|unless|until|please|consider|whether|was|were|used"
    r" to|once|when|why|seems?|looks|probably|perhaps|likely|lines? \d+)\b"
)
# Matches a condition at run time: "`parse` raises, then `save` is never called" may be true on only
# one path of the code.
_CONDITION: Final = pattern(
    r"\b(?:if|when(?:ever)?|unless|once|until|otherwise|else|throw(?:s|n|ing)?|rais(?:es?|ed|ing)"
    r"|return(?:s|ed|ing)?(?: early)?|exit(?:s|ed|ing)?|fail(?:s|ed|ing|ures?)?|crash\w*|abort\w*"
    r"|panic\w*|exceptions?|errors?|timeouts?|times? out|branch|path|case|empty)\b"
)
# Matches the start of "so `save` is never called" and "in that case nothing reads `buffer`".
_CONSEQUENCE: Final = re.compile(
    r"\W*(?:(?:and|so|but) )?(?:then|so|hence|thus|therefore|otherwise|leaving|which|and"
    r"|(?:in|on) (?:that|this|which|such an?|the \w+) (?:case|path|branch))\b",
    re.IGNORECASE,
)
# Matches the start of the second clause of "`save` is never called, because `parse` raises".
_REASON: Final = re.compile(r"\W*(?:as|since|because|for|given|now that)\b", re.IGNORECASE)
# Matches "Is `f` unused?", but not "`f` is unused, right?".
_QUESTION: Final = re.compile(r"^\W*(?:is|are|has|does|do|did|how|what)\b.*\?", re.IGNORECASE)
# Matches "here `f` is unused" and "after the loop nothing reads `f`".
_LOCAL: Final = pattern(
    r"^\W*(?:on|upon|for|with|without|after|during|at)\b"
    r"|\b(?:here|in th(?:is|at)|this (?:file|function|method)|locally|inside|within)\b"
)
# Matches the end of "`f` is not called in the error path", but not that of "`f` is not called in
# the repository" or "`f` is not called in other files".
_PART: Final = pattern(
    r"^(?: \w+)? (?:in|inside|within|by|from|for|on|at|after)\b"
    r"(?! (?:the |any |our )?(?:other|repo\w*|code ?base|project|tests?|this change)\b)"
)
_OUTSIDE: Final = pattern(
    r"\boutside(?: of)? (?P<path>§)?|\bother\b|\belse(?:where)?\b|\b(?:than|besides) (?P<than>§)"
)
# Matches "test", "tests" and "untested", but not "latest".
_TESTS: Final = re.compile(r"\b(?:un)?test(?:s|ed)?\b", re.IGNORECASE)
_DENIED: Final = pattern(r"\b<absent>\b|n't\b|\b<gone>\b")
_CHECKS: Final = re.compile(r"\bcheck(?:s|ed)?\b", re.IGNORECASE)
_PROPOSED: Final = pattern(r"\b(?:<hypothetical>|new|add|adds|creates?|moves?|split)\b")
# These match parts of the names of node types in tree-sitter's grammars: "line_comment",
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
"""Role of a name on a line; a mention is in a comment, in a string, before the `=` of a keyword
argument, or in a file whose language has no grammar."""


class _Use(NamedTuple):
    """Line of the new version that contains a name."""

    text: FileText
    number: int
    role: Role
    is_member: bool

    @property
    def is_test(self) -> bool:
        return self.text.language is not None and role_of(self.text.path) == "test"


class _Uses(NamedTuple):
    """Lines of the new version that contain a name."""

    name: str
    uses: list[_Use]
    defining: frozenset[str]
    """Paths of the files that define the name."""
    is_of_change: bool
    """Whether all files that define the name are in the change or, if none defines it any more,
    whether a file in the change defined it before."""

    def proofs(self) -> list[_Use]:
        """Return the lines that certainly use this name, even if other files define it, too."""
        # Many objects may have a member `run`, but probably only one has `parse_remote_tree`.
        unique = bool(_MANY_WORDS.search(self.name.strip("_"))) or len(self.name) >= MIN_WORD
        used = [use for use in self.uses if use.role == "code" and (unique or not use.is_member)]
        if len(self.defining) <= 1:
            return used
        # A file that defines the name uses its own definition. If one of these files does not use
        # the name, its definition may be the unused one.
        own_uses = [use for use in used if use.text.path in self.defining]
        is_clear = {use.text.path for use in own_uses} == self.defining
        return own_uses if is_clear else []


def _find_uses(name: str, code: Code) -> _Uses | None:
    """Find the lines that contain a name; return None if too many files contain it."""
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
    old_nodes = (node for text in code.texts[Side.OLD] for _, node in text.nodes_named(name))
    is_of_change = defining <= changed_paths and (
        bool(defining) or any(_read_node(node)[0] == "definition" for node in old_nodes)
    )
    return _Uses(name, uses, defining, is_of_change)


def _read_node(node: Any) -> tuple[Role, bool]:
    """Return the role of a name's node, and whether it is a member of an object."""
    parent = node.parent if node is not None else None
    if node is None or parent is None:
        return "mention", False
    is_member = bool(_MEMBER_NODE.search(parent.type)) and parent.children[0] != node
    # In `f(name=1)`, `name` is a parameter, even if something else has the same name.
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
    is_declared = fields[0] == node and _NAMING_NODE.search(parent.type)
    is_assigned = node in fields and _ASSIGNING_NODE.search(parent.type)
    is_parameter = "parameter" in parent.type
    return ("definition" if is_declared or is_assigned or is_parameter else "code"), is_member


class _Assertion(NamedTuple):
    """Assertion of a clause about the uses of a name."""

    name: str
    path: str | None
    """File that the assertion is about, or that it excludes; None if it names no file."""
    is_test: bool
    """Whether the assertion is about tests."""
    is_beyond: bool
    """Whether the assertion names a file or says "other", "outside" or the like, so that it is not
    about all files."""
    is_local: bool
    """Whether the assertion is about a part of a file."""
    claim: str
    """The clause that makes the assertion."""

    def denies(self, use: _Use, defining: frozenset[str]) -> bool:
        """Return whether the assertion, taken as a denial, denies that a use exists.

        Args:
            use: The use.
            defining: Paths of the files that define the name.
        """
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
        # "Nothing checks `f`" does not say that `f` is unused.
        if _CHECKS.search(match[0]) and not _TESTS.search(clause):
            continue
        if match["name"].startswith(MASK):
            code = phrase.mention(match["name"]) or ""
        else:
            # "It" and "them" mean the only name of the sentence, if the name comes first.
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
    """Return whether the assertion of a clause, up to `end`, is about only one path of the code."""
    before, _, after = sentence.partition(clause)
    if _CONSEQUENCE.match(clause):
        # If no clause comes before it, the assertion is a consequence of the previous sentence.
        return not before.strip() or bool(_HEDGE.search(before) or _CONDITION.search(before))
    reason = after if _REASON.match(after.lstrip(" ,;:–—-")) else ""
    earlier = "" if _REASON.match(clause) else before
    return any(map(_CONDITION.search, (earlier, clause[end:], reason)))


def _prove_use(verdict: Verdict, assertion: _Assertion, uses: list[_Use]) -> Receipt:
    """Return the receipt of an assertion that uses of its name confirm or refute."""
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
    """Check a sentence that says that nothing, nothing else or no test uses a name.

    Returns:
        The receipt of the first assertion that the code decides; None if it decides none.
    """
    for assertion in _read_assertions(phrase, (*_NONE, *_ONLY)):
        name_uses = None if assertion.is_local else _find_uses(assertion.name, code)
        if name_uses is None:
            continue
        relevant = [use for use in name_uses.uses if assertion.denies(use, name_uses.defining)]
        # One certain use refutes the assertion. To confirm the assertion, the name must not be on
        # any line of code, not even in a string: `assert "LIMIT_OF_STOCK"` may be a use. Files
        # without a grammar are ignored.
        if used := [use for use in name_uses.proofs() if assertion.denies(use, name_uses.defining)]:
            return _prove_use(Verdict.REFUTED, assertion, used)
        is_nowhere = not any(use.text.language and use.role != "definition" for use in relevant)
        is_found = name_uses.is_of_change and (assertion.is_beyond or _is_used_by_name(name_uses))
        if is_nowhere and (assertion.is_test or is_found) and code.is_complete:
            beyond = "No other file" if assertion.is_beyond else "Nothing"
            subject = "No test" if assertion.is_test else beyond
            fact = f"{subject} in the repository names {quote(assertion.name)}."
            return Receipt(verdict=Verdict.CONFIRMED, says=assertion.claim, fact=fact)
    return None


def _is_used_by_name(name_uses: _Uses) -> bool:
    """Return whether only code that contains the name can use what it names.

    This is false for methods and for functions that a framework or Python calls.
    """
    for use in name_uses.uses:
        if use.role != "definition":
            continue
        text, line = use.text, use.number
        unit = text.unit_at(line)
        line_above = text.version.lines.get(line - 1, "").strip()
        is_indented = text.version.lines[line][:1].isspace()
        is_inner = unit is not None and unit.start < line
        # A library may call a method through an interface, and a framework calls what `@app.route`,
        # `#[test]` or `[Fact]` marks.
        if is_indented or is_inner or line_above.startswith(("@", "#[", "[")):
            return False
    # Python, the operating system or a test runner calls functions with these names.
    return not name_uses.name.startswith("__") and name_uses.name not in {"main", "setup"}


def check_used(phrase: Phrase, code: Code) -> Receipt | None:
    """Check a sentence that says that a file or other files use a name.

    Returns:
        The receipt of the first assertion that the code decides; None if it decides none.
    """
    for assertion in _read_assertions(phrase, _USED):
        name_uses = _find_uses(assertion.name, code)
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
        # A use in code is a better proof than an import, so it comes first.
        used = [use for role in ("code", "import") for use in relevant if use.role == role]
        # Two files that both define the name may each use their own definition.
        if used and len(name_uses.defining) <= 1:
            return _prove_use(Verdict.CONFIRMED, assertion, used)
        if not relevant and code.is_complete and (name_uses.is_of_change or name_uses.uses):
            subject = f"{quote(path)} does not name" if path else "No other file names"
            fact = f"{subject} {quote(assertion.name)}."
            return Receipt(verdict=Verdict.REFUTED, says=assertion.claim, fact=fact)
    return None


def check_path(phrase: Phrase, code: Code) -> Receipt | None:
    """Refute a sentence that mentions a file which the repository does not have."""
    if _PROPOSED.search(phrase.masked) or _DENIED.search(phrase.masked) or "?" in phrase.masked:
        return None
    for clause in _split_clauses(phrase):
        for mask in () if _HEDGE.search(clause) else re.finditer(MASKED, clause):
            path = phrase.mentions[int(mask[0].strip(MASK))]
            if "/" in path and (refutation := _refute_path(path, code)):
                return refutation
    return None


def _refute_path(path: str, code: Code) -> Receipt | None:
    """Return the receipt that no such file exists; None if either version may have the file."""
    if not code.repository or not code.is_complete or not _PATH.fullmatch(path):
        return None
    changed_paths = [
        changed for file in code.change.files for changed in (file.path, file.old_path or "")
    ]
    is_changed = any(f"/{changed}".endswith(f"/{path}") for changed in changed_paths)
    if is_changed or code.repository.has_path(path):
        return None
    claim, fact = f"there is {quote(path)}", f"The repository has no {quote(path)}."
    return Receipt(verdict=Verdict.REFUTED, says=claim, fact=fact)
