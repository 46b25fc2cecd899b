"""Sentences that count for nothing; the wording is ours, no rule was fitted to the attack set."""

from itertools import permutations

import pytest

from crscore.diff import parse
from crscore.matchers import guards
from crscore.records import Diff, Flag, Sentence

PATCH = """@@ -3,2 +3,4 @@ class UserStore:
     def find(self, user_id):
-        return self.rows.get(user_id)
+        if user_id is None:
+            raise ValueError("no user")
+        return self.rows[user_id]
"""
CHANGE = parse.parse_diff(PATCH, language="python")

SHORT = (
    "Why 20?",
    "Typo.",
    "Is this still needed?",
    "nit: trailing whitespace",
    "Same here.",
    "Good catch, thanks!",
    "LGTM, one nit below.",
    "`a` -> `b`",
    "`userId` -> `user_id`",
    "s/recieve/receive/",
    "Unused import.",
    "Missing await?",
    "Off by one.",
    "Please add a test.",
    "We should log this at debug level, not info.",
    "What happens when `items` is empty?",
    "Could you extract this into a helper, as in `utils.py`?",
    "This leaks the file handle: use `with open(path) as stream`.",
    "`max_retries` is read nowhere.",
    "I'd prefer `Optional[str]` over an empty string here.",
    "`fetchAll()` ignores the `limit` argument.",
)
"""Questions, nits and remarks of a few words."""
TERSE = (
    "missing whitespace around operator",
    "Unused import statement `os`.",
    "Please add unit tests.",
    "Use early return instead.",
    "Avoid magic numbers, use constants.",
    "Consider renaming variable user_id.",
    "Super solid pull request.",
    "nit: `rows` -> `users`",
    "`user_id` → `userId`",
    "something like: `if (_.isUndefined(data) || data === PrivateKey.Random)`",
    "`assert score == 1.0` compares floats exactly.",
    "Wrong exception type raised.",
    "Raises ValueError, callers expect KeyError.",
    "Bitte diesen Namen ändern.",
    "请把这个变量重命名 谢谢 你 好",
    "Possible null pointer dereference.",
    "self.rows: rename, clashes with base class",
)
"""Remarks without a stop word."""
LIKE_CODE = (
    "user_id rows find UserStore ValueError",
    "rows, find, user_id, raise, ValueError, user.",
    "`self.rows` `user_id` `find` `ValueError` `raise`",
    "- return self.rows.get(user_id) + return self.rows[user_id]",
    'raise ValueError("no user") return self.rows[user_id]',
    "#rows #find #user_id #ValueError",
    "user id rows find store user value error",
    "@@ -3,5 +3,7 @@ class UserStore: def find(self, user_id):",
)
"""The change's own words, strung together."""


def flags(*texts: str, change: Diff = CHANGE) -> list[Flag | None]:
    return list(guards.find_flags([Sentence(text=text, comment=0) for text in texts], change))


# Honest sentences


def test_honest_sentence_has_no_flag() -> None:
    assert [text for text in (*SHORT, *TERSE) if flags(text) != [None]] == []


def test_terse_list_of_remarks_is_kept() -> None:
    assert flags("Typo.", "Unused import.", "Missing await", "Wrong order") == [None] * 4


# No sentence


def test_list_of_words_of_the_change_is_no_sentence() -> None:
    assert [text for text in LIKE_CODE if flags(text) != [Flag.NO_SENTENCE]] == []


def test_names_of_code_are_a_list_in_any_order() -> None:
    for order in permutations(["user_id", "rows", "find", "ValueError"]):
        assert flags(" ".join(order)) == [Flag.NO_SENTENCE]


def test_three_pieces_are_no_list() -> None:
    assert flags("user_id rows find") == [None]
    assert flags("user_id rows find raise") == [Flag.NO_SENTENCE]


@pytest.mark.parametrize("text", ["rows find user twice", "rows find the user", "is user_id rows"])
def test_stop_word_or_a_word_that_the_change_does_not_have_makes_a_remark(text: str) -> None:
    assert flags(text) == [None]


NOTE = parse.parse_diff(
    "@@ -1 +1,5 @@\n import io\n+# Please help readers: log the click event, and so on.\n"
    "+g_clear_error (&error);\n+headers.set('Authorization', 'Basic ' + btoa(auth.names));\n"
    "+fail_for(latin1, limit, resolveConfig);\n",
    language="c",
)
"""A change whose comments and texts have the words of honest remarks."""


def test_sentence_of_words_of_the_change_is_kept() -> None:
    texts = [
        "Please log click event",
        "It'll help readers",
        "Readers won't log error",
        "`resolveConfig` sets `auth` names",
        "`fail_for` limits `headers` event",
        "This is `g_clear_error (&error);`",
        "`resolveConfig` sets Authorization from `auth` with `btoa`, which fails for latin1 names",
        "Must clear error event",
    ]
    assert [text for text in texts if flags(text, change=NOTE) != [None]] == []


def proposed(*texts: str) -> list[Flag | None]:
    units = [Sentence(text=text, comment=at, proposal=True) for at, text in enumerate(texts)]
    return list(guards.find_flags(units, CHANGE))


@pytest.mark.parametrize(
    "text",
    [
        "use `if user_id is None:`",
        'add `if user_id is None: raise ValueError("no user")`',
        "change `return self.rows.get(user_id)` to `return self.rows[user_id]`, "
        "add `if user_id is None:`",
        'use `if user_id is None: raise ValueError("no…`',
    ],
)
def test_proposal_of_what_the_change_has_done_is_no_sentence(text: str) -> None:
    assert proposed(text) == [Flag.NO_SENTENCE]


def test_other_proposals_count() -> None:
    texts = [
        "use `if not user_id:`",
        "use `user_id`",
        "change `if user_id is None:` to `if user_id == 0:`",
        "change `return self.rows[user_id]` to `return self.rows.get(user_id)`",
        "remove `if user_id is None:`, change `rows` to `users`",
        "change the white space of `if user_id is None:`",
        "add an empty line",
        "change `user_id find rows` to `rows find user_id`",
    ]
    assert [text for text in texts if proposed(text) != [None]] == []


def test_proposal_whose_code_cannot_be_read_counts() -> None:
    assert proposed("use # to #, `a b c d`, add #") == [None]


def test_removal_that_the_change_has_made_is_no_proposal() -> None:
    change = parse.parse_diff("@@ -1,2 +1 @@\n-if user is None or not user:\n x = 1\n")
    unit = Sentence(text="remove `if user is None or not user:`", comment=0, proposal=True)
    assert guards.find_flags([unit], change) == (Flag.NO_SENTENCE,)


def test_names_one_a_line_are_kept() -> None:
    assert flags("`user_id`", "`rows`", "`find`") == [None] * 3


@pytest.mark.parametrize(
    "text",
    [
        "if user_id is None:",
        "- if user_id is None:",
        "`if user_id is None:`",
    ],
)
def test_part_of_a_changed_line_is_no_sentence(text: str) -> None:
    assert flags(text) == [Flag.NO_SENTENCE]


@pytest.mark.parametrize(
    "text",
    [
        "Why check if user_id is None here?",
        "if user_id is None, log it",
        "`if user_id is None:` hides a bug.",
        "Use `if not user_id` instead",
    ],
)
def test_code_that_a_sentence_quotes_is_no_paste(text: str) -> None:
    assert flags(text) == [None]


def test_prose_of_a_changed_comment_may_be_proposed_unchanged() -> None:
    change = parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+# The list is sorted by the name of a user.\n")
    assert flags("The list is sorted by the name of a user.", change=change) == [None]


REMARKS = (
    "`find(user_id)` divides by `rate`, so a rate of 0 raises ZeroDivisionError.",
    "rows=[] is shared by all stores: a user of one appears in the next store too.",
    "Possible SQL injection: query(name) concatenates user input.",
    "Missing validation allows negative prices.",
    "Der Schlüssel wird nie freigegeben: rows.get(user_id) läuft voll.",
    "However, `user_id` is not defined anywhere in this method.",
)


@pytest.mark.parametrize(
    "form",
    [
        "{}", "# {}", "// {}", "/// {}", "/* {} */", " * {}", "-- {}", "; {}", "<!-- {} -->",
        '"""{}', "- {}", 'x = "{}"', "x = '{}'  # noqa", "x = 1  # {}", "x();  // {}",
    ],
)  # fmt: skip
def test_remark_that_the_author_copies_into_the_change_is_kept(form: str) -> None:
    lines = "".join(f"+{form.format(text)}\n" for text in REMARKS)
    names = "".join(f"+{word} = 1\n" for word in REMARKS[3].strip(".").split())
    count = len(REMARKS) + names.count("\n")
    change = parse.parse_diff(f"--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,{count} @@\n{lines}{names}")
    assert flags(*REMARKS, change=change) == [None] * len(REMARKS)


@pytest.mark.parametrize("line", ["# {}", "x = 1  // {}", " * {}"])
def test_proposal_that_the_author_copies_into_a_comment_counts(line: str) -> None:
    code = "if user_id is None or not user:"
    change = parse.parse_diff(f"@@ -0,0 +1 @@\n+{line.format(code)}\n", path="n.py")
    unit = Sentence(text=f"use `{code}`", comment=0, proposal=True)
    assert guards.find_flags([unit], change) == (None,)


def test_pasted_code_with_a_message_or_a_comment_is_no_sentence() -> None:
    lines = ['raise ValueError("the user is not found")', "rows = self.rows or {}  # of the user"]
    change = parse.parse_diff("@@ -0,0 +1,2 @@\n" + "".join(f"+{x}\n" for x in lines), path="n.py")
    assert flags(*lines, change=change) == [Flag.NO_SENTENCE] * 2
    assert flags("rows = self.rows or []", change=change) == [None]


# Repetition


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The limit is too low.", "The limit is too low."),
        ("The limit is too low.", "the LIMIT is too low!!"),
        ("The limit is too low.", "The limits are too low."),
        ("Please rename `fetch_all` here.", "Please, rename `fetchAll` here."),
        ("Why?", "why?"),
        ("x", "X"),
        (
            "The retry loop never stops when the server answers with an error.",
            "Does the retry loop never stop when the server answers with an error?",
        ),
    ],
)
def test_repeated_sentence_is_recognised(first: str, second: str) -> None:
    assert flags(first, second) == [None, Flag.REPEATS]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The limit is too low.", "The timeout is too low."),
        ("This is not needed.", "Why is this needed?"),
        ("This is needed.", "This is not needed."),
        ("Why?", "How?"),
        ("Rename `a` to `b`.", "Add a test."),
    ],
)
def test_other_sentence_does_not_repeat(first: str, second: str) -> None:
    assert flags(first, second) == [None, None]


def test_repetition_is_that_of_an_earlier_sentence_of_the_same_comment() -> None:
    first, again = Sentence(text="Too low.", comment=0), Sentence(text="Too low.", comment=1)
    assert guards.find_flags([first, again], CHANGE) == (None, None)
    assert flags("Too low.", "Why not ten?", "Too low.") == [None, None, Flag.REPEATS]


def test_share_of_stems_decides_on_repetition() -> None:
    # Nine common stems: 9 of 11 together are 0.818, 9 of 12 are 0.75.
    common = "alpha bravo delta gamma kappa lambda omega sigma theta"
    assert guards.find_repeats([f"{common} duo", f"{common} uno"])[1]
    assert not guards.find_repeats([f"{common} duo", f"{common} uno tri"])[1]


# Hidden text


def test_hidden_text_is_flagged_and_does_not_make_shown_text_a_repetition() -> None:
    hidden = Sentence(text="The limit is too low.", comment=0, hidden=True)
    shown = Sentence(text="The limit is too low.", comment=0)
    assert guards.find_flags([hidden, shown], CHANGE) == (Flag.HIDDEN, None)
    assert guards.find_flags([shown, hidden], CHANGE) == (None, Flag.HIDDEN)


def test_machine_markers_are_not_prose() -> None:
    markers = ["fingerprint:ab12", "bot v2", "This file is auto-generated", "a1+b2/c3==", ""]
    prose = ["This review is perfect.", "the limit is too low", "one two three"]
    assert [text for text in markers + prose if guards.is_machine_marker(text)] == markers


def test_text_without_a_word_has_no_flag() -> None:
    for text in ("", " ", "...", "\U0001f44d", "\x00", "\ud83d"):
        assert flags(text) == [None]
